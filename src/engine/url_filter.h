/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url_filter.h - `include` and `exclude`: does the text of this URL pass?
 *
 * Both are lists of regular expressions (text/pattern), which may match anywhere in the
 * whole URL. A URL that an exclude matches does not pass; if there are includes, a URL
 * that none of them matches does not pass either. A match that hits its limits, or for
 * which there is no memory, is a refusal that says so.
 *
 *     e = sn_url_filter_new(include, exclude, NULL, &s, &diag);
 *     rule = sn_url_filter_exclude(s, url);               NULL, or "exclude '\.pdf$'"
 *     rule = sn_url_filter_include(s, url);               NULL, or "include none of 2"
 *
 * Time    plays no part; a match is bounded as pattern.h says.
 * Memory  the patterns, their rules, and a matcher for each of up to 16 threads that
 *         ask at once; one more thread allocates its matcher for the call.
 * Threads any thread.
 */
#ifndef SN_URL_FILTER_H
#define SN_URL_FILTER_H

#include "base/str.h"
#include "seine/diag.h"
#include "seine/err.h"

enum { SN_URL_FILTER_RULE = 160, SN_URL_FILTER_MOST = 1000 /* patterns of a list */ };

typedef struct sn_url_filter sn_url_filter;

/* Lists end with NULL, or are NULL. Rules call the two options as `names` says. CONFIG:
 * the diag says which pattern and what is wrong with it. NOMEM. */
SEINE_MUST_CHECK seine_err sn_url_filter_new(const char *const *include,
                                             const char *const *exclude,
                                             const seine_diag_name *names,
                                             sn_url_filter **out_filter,
                                             seine_diag *diag);
void sn_url_filter_free(sn_url_filter *s); /* NULL is fine */

/* NULL: it passes. Else the rule that refuses, at most 159 bytes; the filter's. */
const char *sn_url_filter_exclude(const sn_url_filter *s, sn_str url);
const char *sn_url_filter_include(const sn_url_filter *s, sn_str url);

#endif
