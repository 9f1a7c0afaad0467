/* SPDX-License-Identifier: Apache-2.0 */
/*
 * revisit.h - what does an incremental crawl know of a page, and what became of it?
 *
 *     e = sn_revisit_recall(c, reader, v);       before its first request
 *     …                                          request_fields.c sends its validators
 *     sn_revisit_head(v, head);                  response.c keeps those of the response
 *     change = sn_revisit_judge(c, v, wall, &row, &has_row);      for the record
 *
 * A page is compared with its last copy by the hash of its body, or of its visible words
 * (`by_content`). 304 to our validators is the same copy. 404 and 410 are the end of a
 * page that was there; every other failure says nothing about it.
 *
 * Time    wall time is passed in.
 * Memory  of the visit.
 * Threads one owner, but for pure functions.
 */
#ifndef SN_REVISIT_H
#define SN_REVISIT_H

#include "engine/shared_state.h"
#include "net/head.h"
#include "store/job_page.h"

/* Is the crawl incremental? */
static inline bool
sn_revisit_is_on(const sn_shared_state *c)
{
    return c->opts.revisit != NULL;
}

/* Looks up what is known of the page; once for a visit. NOMEM, IO, STATE_CORRUPT. */
SEINE_MUST_CHECK seine_err sn_revisit_recall(const sn_shared_state *c, sn_job_reader *r,
                                             sn_visit *v);

/* May the validators of the last copy be sent? */
bool sn_revisit_asks(const sn_shared_state *c, const sn_visit *v);

/* Reads what the response says of itself, and begins to hash the body of a page. */
void sn_revisit_head(sn_visit *v, const sn_head *head);

/* How often the page is asked for from now on, in seconds; `every` is the interval so
 * far, -1 for none. */
int64_t sn_revisit_every(const seine_revisit_opts *o, int64_t every, seine_change change);

/* When it is due: not before `max_age` seconds, -1 for none, have passed. */
int64_t sn_revisit_due(const seine_revisit_opts *o, int64_t now_ms, int64_t every,
                       int64_t max_age);

/* What became of the page, which has ended. *out_row is what the job keeps of it, if
 * *out_has_row; its texts live as long as the visit. */
seine_change sn_revisit_judge(const sn_shared_state *c, sn_visit *v, int64_t wall,
                              sn_job_page *out_row, bool *out_has_row);

#endif
