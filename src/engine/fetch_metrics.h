/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_metrics.h - what a fetch counts, as metrics.
 *
 * Families are registered once, with all their series at 0; counts go in as differences
 * once per turn, and per attempt only what a histogram needs. NULL metrics count nothing.
 *
 *     e = sn_fetch_metrics_new(metrics, &m);
 *     sn_fetch_metrics_attempt(m, visit);             it has been judged
 *     sn_fetch_metrics_turn(m, &before, &now);        counts of this shard
 *
 * Time    spans come with the attempts.
 * Memory  the registry's, and one table of handles.
 * Threads any thread.
 */
#ifndef SN_FETCH_METRICS_H
#define SN_FETCH_METRICS_H

#include "engine/visit.h"
#include "seine/fetch.h"

typedef struct sn_fetch_metrics sn_fetch_metrics;

/* The registry owns it and has one: fetches that share a registry add to the same
 * counters, and its gauges are those of the last. INVAL, RANGE, NOMEM; ALREADY: somebody
 * else has registered one of the names. */
SEINE_MUST_CHECK seine_err sn_fetch_metrics_new(seine_metrics *metrics,
                                                sn_fetch_metrics **out_metrics);

/* Where the fetch stands; seine_jobs counts fetches by it. *told is the fetch's own, 0 at
 * first. */
typedef enum sn_job_state { SN_JOB_RUNNING, SN_JOB_STOPPING, SN_JOB_DONE } sn_job_state;
void sn_fetch_metrics_job(sn_fetch_metrics *m, _Atomic int *told, sn_job_state state);

void sn_fetch_metrics_attempt(sn_fetch_metrics *m, const sn_visit *v);
/* Of a transport that does not count: what its end says of a name. */
void sn_fetch_metrics_lookup(sn_fetch_metrics *m, const sn_end *end);
void sn_fetch_metrics_retry(sn_fetch_metrics *m, seine_err why);
void sn_fetch_metrics_backoff(sn_fetch_metrics *m, seine_span wait);
void sn_fetch_metrics_exhausted(sn_fetch_metrics *m);
void sn_fetch_metrics_breaker(sn_fetch_metrics *m,
                              const seine_event *e); /* others are fine */
void sn_fetch_metrics_emitted(sn_fetch_metrics *m, const seine_record *r);
/* Its waits for limiters, when its record is written. */
void sn_fetch_metrics_waits(sn_fetch_metrics *m, const sn_visit *v, bool by_source);
/* A page was read for values: how many rows, how long it took, what was wrong. */
void sn_fetch_metrics_extract(sn_fetch_metrics *m, uint64_t rows, seine_span took,
                              seine_err e);
/* How late a timer of the shard's loop fired. */
void sn_fetch_metrics_lag(sn_fetch_metrics *m, seine_span late);
/* Of all shards that have counted into the registry; NULL: none has. */
const seine_histogram *sn_fetch_metrics_lags(seine_metrics *metrics);

/* What a shard knows of itself. Numbers grow, but for `stats` and `wire.open`. */
typedef struct sn_fetch_counts {
    seine_fetch_stats stats;
    sn_transport_counts wire;
    bool has_wire; /* its transport counts */
    uint64_t rejected, allowed, found, duplicates;
    uint64_t ips, sources; /* keys of the limiters that all shards share */
} sn_fetch_counts;

/* What a shard did in a turn: the difference of two states of its counts. */
void sn_fetch_metrics_turn(sn_fetch_metrics *m, const sn_fetch_counts *before,
                           const sn_fetch_counts *after);

/* The shard goes, and with it its limiters, its connections and its breakers, of which so
 * many are in each state: gauges of the registry no longer have them. */
void sn_fetch_metrics_leave(sn_fetch_metrics *m, const sn_fetch_counts *last,
                            const uint64_t breakers[3]);

/* Memory of all shards. */
void sn_fetch_metrics_memory(sn_fetch_metrics *m, uint64_t used, uint64_t limit);

/* URLs that were given since the last call; refused ones among them. */
void sn_fetch_metrics_given(sn_fetch_metrics *m, uint64_t given, uint64_t refused);

#endif
