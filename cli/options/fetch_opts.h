/* SPDX-License-Identifier: Apache-2.0 */
/* fetch_opts.h - from what was typed to the options of the library. */
#ifndef CLI_FETCH_OPTS_H
#define CLI_FETCH_OPTS_H

#include <seine/fetch.h>

#include "options/crawl_opts.h"
#include "options/option_specs.h"
#include "options/request.h"

typedef struct fetch_plan {
    seine_fetch_opts opts; /* without callbacks, log and metrics */
    crawl_plan crawl;      /* what opts.crawl points to */
    request request;
    char *hosts;            /* of --insecure, cut at its commas … */
    const char **host_list; /* … and where they begin */
    quota fail_on, max_errors;
    seine_fields fields;
} fetch_plan;

/* Reads and checks everything before anything is sent. SAY_DONE, or it was said what
 * is wrong and there is nothing to free. */
int fetch_plan_make(const args *a, fetch_plan *out_plan);
void fetch_plan_free(fetch_plan *p);

#endif
