/* SPDX-License-Identifier: Apache-2.0 */
/* recipe_extract.h - `seine extract --recipe`: the rows of files. */
#ifndef CLI_RECIPE_EXTRACT_H
#define CLI_RECIPE_EXTRACT_H

#include "options/options.h"

typedef struct recipe_extract_opts {
    const char *recipe, *base, *kind;
    const texts *vars;
    bool flat; /* data of good rows alone */
} recipe_extract_opts;

/* The exit code: 1 if a page cannot be read. */
int recipe_extract(const recipe_extract_opts *o, char *const *files, size_t count);

#endif
