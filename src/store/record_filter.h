/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_filter.h - is this one of the pages that the user wants to keep?
 *
 * The list has media types (application/pdf, image/…) and regular expressions for whole
 * URLs; one of them is enough. A word is a media type if it has one slash, and nothing
 * else that a type cannot have.
 *
 *     e = sn_record_filter_new(list, "keep", &f, &diag);
 *     if (sn_record_filter_has(f, url, type))
 *         write_it();
 *     sn_record_filter_free(f);
 *
 * Time    plays no part; a match is bounded as pattern.h says, and one that is not
 * decided counts as a match. Memory  the patterns; a question allocates a matcher.
 * Threads any thread, once made.
 */
#ifndef SN_RECORD_FILTER_H
#define SN_RECORD_FILTER_H

#include "base/str.h"
#include "seine/diag.h"
#include "seine/err.h"

typedef struct sn_record_filter sn_record_filter;

/* The list ends with NULL. CONFIG with a diag about `member`; NOMEM. */
SEINE_MUST_CHECK seine_err sn_record_filter_new(const char *const *list,
                                                const char *member,
                                                sn_record_filter **out_filter,
                                                seine_diag *diag);
void sn_record_filter_free(sn_record_filter *f); /* NULL is fine */

/* Whether the URL or the media type of the page is in the list. */
bool sn_record_filter_has(const sn_record_filter *f, sn_str url, sn_str type);

#endif
