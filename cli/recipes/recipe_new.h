/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_new.h - a page becomes the folder of a recipe: NAME.yaml, the saved page, and
 * the rows that must come out of it.
 */
#ifndef CLI_RECIPE_NEW_H
#define CLI_RECIPE_NEW_H

#include <stdbool.h>

#include "recipes/one_page.h"

typedef struct recipe_new_opts {
    const char *name;   /* of the recipe; NULL: after the page */
    const char *folder; /* NULL: the name */
    bool force;         /* files that exist are replaced */
    bool quiet;
} recipe_new_opts;

/* Where it will be written, before anything is fetched: SAY_DONE, or the exit code after
 * the message that it is there already. `name` is freed by the caller. */
int recipe_new_name(const recipe_new_opts *o, const char *word, char **out_name);

/* Drafts the recipe of the page, proves it and writes it. SAY_DONE, or the exit code
 * after an error message. */
int recipe_new(const recipe_new_opts *o, const char *name, const one_page *page);

#endif
