/* SPDX-License-Identifier: Apache-2.0 */
/* crawl_opts.h - which URLs and which links, from what was typed. */
#ifndef CLI_CRAWL_OPTS_H
#define CLI_CRAWL_OPTS_H

#include <seine/fetch.h>

#include "options/fetch_settings.h"

typedef struct crawl_plan {
    seine_crawl_opts opts;
    char *text;           /* of --domains, cut at its commas … */
    const char **domains; /* … and where they begin */
} crawl_plan;

/* Whether these are the words of `seine crawl`, or of `explain`, which asks about one. */
bool crawl_is_asked(const args *a);

/* Into `o`, which then points into `out_plan`. SAY_DONE, or it was said what is wrong and
 * there is nothing to free. */
int crawl_plan_make(const args *a, seine_fetch_opts *o, crawl_plan *out_plan);
void crawl_plan_free(crawl_plan *p);

#endif
