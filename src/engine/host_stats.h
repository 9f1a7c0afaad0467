/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_stats.h - what does the summary say of a host: how many requests, how close, how
 * slow?
 *
 * The closest two requests and the most in any second are the proof of politeness, so
 * they are counted as the server sees them: when a request leaves. `requests` also has
 * those that did not get so far, because nothing listens there. Latencies fall into
 * quarter octaves.
 *
 *     sn_host_stats_sent(f, now);
 *     sn_host_stats_end(f, true, took);
 *     p95 = sn_host_stats_quantile(f, 95);
 *
 * Time    is passed in.
 * Memory  1680 bytes, the caller's.
 * Threads one owner.
 */
#ifndef SN_HOST_STATS_H
#define SN_HOST_STATS_H

#include <stdbool.h>

#include "engine/busiest_second.h"
#include "seine/record.h"

#define SN_HOST_STATS_BINS 112 /* from 1 us on */

typedef struct sn_host_stats {
    uint64_t requests, ok, failed, retries;
    seine_time last; /* the newest that left; NEVER: none */
    seine_span min_gap;
    uint32_t opens;
    sn_busiest_second second; /* of those that left */
    seine_span held[SEINE_WAIT_ROOM];
    uint32_t bins[SN_HOST_STATS_BINS];
} sn_host_stats;

void sn_host_stats_init(sn_host_stats *f);
void sn_host_stats_sent(sn_host_stats *f, seine_time now); /* as the server sees it */
void sn_host_stats_end(sn_host_stats *f, bool ok, seine_span took);
seine_span sn_host_stats_quantile(const sn_host_stats *f, unsigned percent);

#endif
