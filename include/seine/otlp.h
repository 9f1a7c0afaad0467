/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp.h - traces of requests for a collector: OTLP over HTTP in JSON.
 *
 *     seine_otlp *traces;
 *     seine_otlp_opts opts = SEINE_OTLP_OPTS;
 *     opts.endpoint = "http://127.0.0.1:4318";
 *     if (seine_otlp_new(&opts, &traces, &diag) != SEINE_OK)
 *         return failure();
 *     seine_otlp_free(traces);                        after the fetch
 *
 * `traces` of seine_fetch_opts takes it.
 *
 * A span per fetch, and for one URL of a hundred (`ratio`) a span with one more for each
 * of its attempts; besides up to ten URLs a second that failed. Spans are made when a
 * record is written, from times that the URL carries anyway.
 *
 * A thread of its own sends batches of 512 spans, or what there is after 5 s, packed with
 * gzip. What may pass (429, 502, 503, 504, no connection) is tried again up to five times
 * or for a minute, with full jitter from 1 s to 30 s, or when Retry-After says. A
 * collector that is slow or away never slows a fetch: at most one batch waits, and the
 * ring of 4,096 spans overwrites its oldest.
 *
 * Time    the system's.
 * Memory  at most 4 MiB, taken as it is used.
 * Threads any thread; `free` by one owner, when no fetch uses it any more.
 */
#ifndef SEINE_OTLP_H
#define SEINE_OTLP_H

#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/diag.h"
#include "seine/err.h"
#include "seine/log.h"
#include "seine/metrics.h"
#include "seine/time.h"

typedef struct seine_otlp seine_otlp;

typedef struct seine_otlp_opts {
    size_t size;          /* of this struct: SEINE_OTLP_OPTS sets it */
    const char *endpoint; /* "http://127.0.0.1:4318"; /v1/traces is added to its path */
    const char *traces_endpoint; /* the whole URL; wins over `endpoint`; NULL */
    const char *headers;         /* "key=value,key=value", percent-encoded; NULL */
    const char *service;         /* "seine" */
    const char *resource;        /* more attributes, "key=value,…"; NULL */
    uint32_t ratio_ppm;          /* 10,000: URLs of a million that are traced */
    uint32_t failed_rate;        /* 10 a second that failed, besides */
    const char *cacert;          /* PEM; NULL: the system's */
    seine_log *log;              /* outlives it; NULL */
    seine_metrics *metrics;      /* seine_trace_spans_total; outlives it; NULL */
} seine_otlp_opts;

#define SEINE_OTLP_OPTS                                                                  \
    {                                                                                    \
        sizeof(seine_otlp_opts), NULL, NULL, NULL, "seine", NULL, 10000, 10, NULL, NULL, \
            NULL                                                                         \
    }

typedef struct seine_otlp_stats {
    uint64_t exported, failed; /* spans that a collector took, or did not */
    uint64_t dropped;          /* overwritten before they were sent */
    uint64_t requests;
} seine_otlp_stats;

SEINE_BEGIN

/* CONFIG: the diag says which member and how. NOMEM; what metrics say. */
SEINE_MUST_CHECK seine_err seine_otlp_new(const seine_otlp_opts *opts,
                                          seine_otlp **out_otlp, seine_diag *diag);

/* Sends what is left, for at most two seconds. NULL is fine. */
void seine_otlp_free(seine_otlp *o);
void seine_otlp_stats_get(seine_otlp *o, seine_otlp_stats *out_stats);

SEINE_END

#endif
