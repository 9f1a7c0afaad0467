/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crawl_opts.h - the crawl options of the library, made from the settings of `seine
 * crawl`.
 *
 *     crawl_plan plan;
 *     seine_fetch_opts o = SEINE_FETCH_OPTS;
 *     int code = crawl_plan_make(a, &o, &plan);
 */
#ifndef CLI_CRAWL_OPTS_H
#define CLI_CRAWL_OPTS_H

#include <seine/fetch.h>

#include "options/fetch_settings.h"

typedef struct crawl_plan {
    seine_crawl_opts opts;
    char *text;           /* of --domains, cut at its commas … */
    const char **domains; /* … and where they begin */
    char **patterns;      /* of --include and --glob together; NULL: no --glob */
    const char **include; /* of --follow and --keep together; NULL: no such expression */
    const char **urls;    /* the expressions of --keep; NULL: none */
    char *types;          /* for accept_type; NULL: as given */
} crawl_plan;

/* Whether the command is `seine crawl`, or `seine explain`, which asks about a crawl. */
bool crawl_is_asked(const args *a);

/* Fills in the crawl part of `o`, which then points into `out_plan`. SAY_DONE; or the
 * exit code after an error message, with nothing to free. */
int crawl_plan_make(const args *a, seine_fetch_opts *o, crawl_plan *out_plan);
void crawl_plan_free(crawl_plan *p);

#endif
