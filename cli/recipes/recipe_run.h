/* SPDX-License-Identifier: Apache-2.0 */
/*
 * recipe_run.h - runs a recipe: fetches its start pages and what they lead to, and writes
 * the rows.
 *
 * The main thread gives URLs to the fetch and hears of signals; the thread of the fetch
 * applies the recipe to each page, writes its rows and leaves its leads in a list for the
 * main thread. A lead to a host that no start page is on is not followed.
 */
#ifndef CLI_RECIPE_RUN_H
#define CLI_RECIPE_RUN_H

#include "recipes/expectations.h"
#include "recipes/item_out.h"
#include "recipes/run_options.h"

typedef struct recipe_run_opts {
    const recipe_file *recipe;
    const char *vars; /* JSON */
    run_options *options;
    item_out *out;
    expectations *expect;
    char *const *urls; /* instead of `start`; 0: none */
    size_t n_urls;
    seine_secrets *secrets;
} recipe_run_opts;

typedef struct recipe_run_end {
    uint64_t ok, failed; /* pages */
    uint64_t skipped;    /* not asked for: robots.txt, --max-pages */
    uint64_t off_site;   /* leads that were not followed */
    int signal;          /* 0: none */
    bool is_late;        /* max-time is over */
    char first_failure[240];
} recipe_run_end;

/* SAY_DONE, or the exit code after an error message. */
int recipe_run(const recipe_run_opts *o, recipe_run_end *out_end);

#endif
