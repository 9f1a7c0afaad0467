/* SPDX-License-Identifier: Apache-2.0 */
/*
 * meters.h - the counts of a fetch as metrics.
 *
 * Families are registered once, with all their series at 0; counts go in as differences
 * once per turn, and per attempt only what a histogram needs. NULL meters count nothing.
 *
 *     e = sn_meters_new(opts.metrics, &m);
 *     sn_meters_attempt(m, visit);             it has been judged
 *     sn_meters_turn(m, &before, &now);        counts of this shard
 *
 * Time    spans come with the attempts.
 * Memory  the registry's, and one table of handles.
 * Threads any thread.
 */
#ifndef SN_METERS_H
#define SN_METERS_H

#include "engine/visit.h"
#include "seine/fetch.h"

typedef struct sn_meters sn_meters;

/* INVAL, RANGE, NOMEM; ALREADY: another fetch counts in this registry. */
SEINE_MUST_CHECK seine_err sn_meters_new(seine_metrics *metrics, sn_meters **out_meters);
void sn_meters_free(sn_meters *m);

void sn_meters_attempt(sn_meters *m, const sn_visit *v);
void sn_meters_retry(sn_meters *m, seine_err why, seine_span wait);
void sn_meters_exhausted(sn_meters *m);
void sn_meters_breaker(sn_meters *m, const seine_event *e); /* others are fine */
void sn_meters_emitted(sn_meters *m, const seine_record *r);

/* What a shard did in a turn: the difference of two states of its counts. */
void sn_meters_turn(sn_meters *m, const seine_fetch_stats *before,
                    const seine_fetch_stats *after);

/* URLs that were given since the last call; refused ones among them. */
void sn_meters_given(sn_meters *m, uint64_t given, uint64_t refused);

#endif
