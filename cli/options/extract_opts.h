/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract_opts.h - --css, --json-pointer, --meta, --jsonld and --text: what `extract`,
 * `fetch` and `crawl` take out of pages.
 */
#ifndef CLI_EXTRACT_OPTS_H
#define CLI_EXTRACT_OPTS_H

#include <seine/extract.h>

#include "options/fetch_settings.h"

/* Adds a field that an option asks for. SAY_USAGE: after an error message. */
int extract_opts_add(seine_extract *x, seine_extract_what what, const char *text);

/* Makes the fields of the settings; *out_fields is NULL if there are none. */
int extract_opts_read(const fetch_settings *set, seine_extract **out_fields);

/* Their names, ended by NULL, for free(); NULL: there are none. */
const char **extract_opts_names(const seine_extract *x);

#endif
