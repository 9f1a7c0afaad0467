/* SPDX-License-Identifier: Apache-2.0 */
/*
 * revisit_opts.h - the options of an incremental crawl.
 *
 *     int code = revisit_opts_read(a, &revisit);
 *     char *list = revisit_opts_fields(set);        what --fields is with --incremental
 */
#ifndef CLI_REVISIT_OPTS_H
#define CLI_REVISIT_OPTS_H

#include <seine/revisit.h>

#include "options/fetch_settings.h"
#include "options/options.h"

/* Checks the options against each other. SAY_DONE, or the exit code after an error
 * message. */
int revisit_opts_read(const args *a, seine_revisit_opts *out);

/* The list of --fields: an incremental crawl writes `change` unless members are named one
 * by one. NULL: the standard set. The caller frees it. */
char *revisit_opts_fields(const fetch_settings *set);

#endif
