/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_options.h - the options of `seine run`: those of the recipe and those that are
 * typed, read by the table of `seine fetch`. What is typed wins.
 */
#ifndef CLI_RUN_OPTIONS_H
#define CLI_RUN_OPTIONS_H

#include "options/fetch_settings.h"
#include "recipes/recipe_file.h"

/* Options of `seine fetch` that `seine run` takes over by their names. */
typedef struct run_options {
    args args;       /* of fetch, under the name of run */
    command command; /* of these */
    fetch_settings *set;
    char **words;
    size_t count, cap;
    bool keeps_known; /* `dedup: job`: pages of earlier runs are not fetched again */
} run_options;

/* Collects one typed option; a flag has a NULL value. */
void run_options_add(run_options *o, const char *name, const char *value);

/* Adds the options of the recipe that were not typed, and reads all; `as` is the command
 * that was typed. SAY_DONE, or the exit code after an error message. Free in any case. */
int run_options_make(run_options *o, const recipe_file *recipe, const args *as);
void run_options_free(run_options *o);

#endif
