/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_run.h - runs a recipe: fetches its start pages and what they lead to, and writes
 * the rows.
 *
 * The run is one of `seine fetch` (run_source.h) with its job. The thread of the feed
 * gives start pages and leads; the thread of the fetch applies the recipe to each page,
 * gives its rows to the sinks together with its record, and leaves its leads in a list
 * for the feed. A lead to a host that no start page is on is not followed.
 *
 * With a job the record of a page carries what the next run has to know of it: its leads,
 * the keys of its rows and its counts. They are committed with the record. A run that
 * goes on gives all leads again, and the job knows which of them it has.
 */
#ifndef CLI_RECIPE_RUN_H
#define CLI_RECIPE_RUN_H

#include "recipes/run_options.h"

typedef struct recipe_run_opts {
    const recipe_file *recipe;
    const texts *vars;       /* NAME=V, as typed */
    const seine_json *known; /* values of a job in Redis; NULL: none */
    const char *run_date;    /* of that job; NULL or "": today */
    run_options *options;
    char *const *urls; /* instead of `start`; 0: none */
    size_t n_urls;
    bool flat;
} recipe_run_opts;

/* The exit code. */
int recipe_run(const recipe_run_opts *o);

#endif
