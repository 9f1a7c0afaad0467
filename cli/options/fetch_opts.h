/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_opts.h - the options of the library, made from the settings of `seine fetch`.
 *
 *     fetch_plan plan;
 *     int code = fetch_plan_make(a, &plan);
 *     fetch_plan_free(&plan);
 */
#ifndef CLI_FETCH_OPTS_H
#define CLI_FETCH_OPTS_H

#include <seine/extract.h>
#include <seine/fetch.h>

#include "config/host_config.h"
#include "options/crawl_opts.h"
#include "options/option_names.h"
#include "options/option_specs.h"
#include "options/request.h"

typedef struct fetch_plan {
    seine_fetch_opts opts; /* without callbacks, log and metrics */
    crawl_plan crawl;      /* what opts.crawl points to */
    request request;
    char *hosts;            /* of --insecure, cut at its commas … */
    const char **host_list; /* … and where they begin */
    quota fail_on, max_errors;
    seine_members fields;
    seine_revisit_opts revisit; /* of --incremental */
    seine_diag_name *names;     /* what opts.names points to */
    seine_extract *extract;     /* what opts.extract points to; NULL: no values */
    const char **data;          /* the names of its values, ended by NULL; NULL: none */
    host_config single;         /* what opts.hosts and opts.groups point to */
} fetch_plan;

/* Reads and checks every setting before the first request. SAY_DONE; or the exit code
 * after an error message, with nothing to free. */
int fetch_plan_make(const args *a, fetch_plan *out_plan);
void fetch_plan_free(fetch_plan *p);

#endif
