/* SPDX-License-Identifier: Apache-2.0 */
/*
 * visit_spans.h - what became of a URL, as spans of a trace.
 *
 * Called when the record of a URL is written. Nothing is allocated, and nothing is done
 * for a URL that is not traced.
 *
 *     sn_visit_tracer_init(&t, otlp, job, seed);
 *     sn_visit_tracer_tell(&t, v, &read, secrets, now, wall);
 *
 * Time    is passed in.
 * Memory  the caller's.
 * Threads one owner: a shard.
 */
#ifndef SN_VISIT_SPANS_H
#define SN_VISIT_SPANS_H

#include "base/rng.h"
#include "engine/otlp.h"
#include "engine/visit.h"
#include "seine/secret.h"
#include "seine/tally.h"

/* How a page was read for its values. */
typedef struct sn_visit_extract {
    int64_t wall; /* its beginning; 0: it was not read */
    seine_span took;
    uint64_t records, fields;
    seine_err err;
} sn_visit_extract;

typedef struct sn_visit_tracer {
    seine_otlp *otlp; /* NULL: off */
    uint8_t job[24];  /* trace and span of the job */
    sn_rng rng;
    seine_time second; /* failed URLs that were traced since then … */
    uint32_t failed;   /* … are so many */
} sn_visit_tracer;

void sn_visit_tracer_init(sn_visit_tracer *t, seine_otlp *otlp, const uint8_t job[24],
                          uint64_t seed);

/* `read` NULL: no page was. */
void sn_visit_tracer_tell(sn_visit_tracer *t, const sn_visit *v,
                          const sn_visit_extract *read, const seine_secrets *secrets,
                          seine_time now, int64_t wall);

/* The span of a whole fetch. */
void sn_visit_tracer_job(seine_otlp *otlp, const uint8_t job[24], int64_t start,
                         int64_t end, const seine_fetch_stats *stats, sn_str name);

/* Random bytes for ids, none of which is all zero. */
void sn_visit_tracer_ids(uint64_t seed, uint8_t *out, size_t n);

#endif
