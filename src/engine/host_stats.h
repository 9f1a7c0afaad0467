/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_stats.h - what does the summary say of a host: how many requests, how close, how
 * slow?
 *
 * The closest two requests and the most in any second are the proof of politeness, so
 * they are counted as the server sees them: when a request leaves. Up to 64 a second they
 * are exact; above, seconds are counted in twentieths. Latencies fall into quarter
 * octaves.
 *
 *     sn_host_stats_start(f);
 *     sn_host_stats_sent(f, now);
 *     sn_host_stats_end(f, true, took);
 *     p95 = sn_host_stats_quantile(f, 95);
 *
 * Time    is passed in.
 * Memory  1.3 KiB, the caller's.
 * Threads one owner.
 */
#ifndef SN_HOST_STATS_H
#define SN_HOST_STATS_H

#include <stdbool.h>

#include "seine/record.h"

#define SN_HOST_STATS_BINS   112 /* from 1 us on */
#define SN_HOST_STATS_STARTS 64
#define SN_HOST_STATS_SLICES 20 /* of a second */

typedef struct sn_host_stats {
    uint64_t requests, ok, failed, retries;
    seine_time last; /* the newest that left; NEVER: none */
    seine_span min_gap;
    uint32_t opens, max_in_1s;
    uint32_t head, tail; /* of `starts`: the next one, the oldest of the last second */
    seine_time starts[SN_HOST_STATS_STARTS]; /* a ring */
    seine_span held[SEINE_WAIT_ROOM];
    uint32_t bins[SN_HOST_STATS_BINS];
    int64_t slice;                         /* the newest of `slices` */
    uint32_t slices[SN_HOST_STATS_SLICES]; /* starts in each … */
    uint32_t in_slices;                    /* … and in all; 0: the ring is enough */
} sn_host_stats;

void sn_host_stats_init(sn_host_stats *f);
void sn_host_stats_start(sn_host_stats *f);
void sn_host_stats_sent(sn_host_stats *f, seine_time now); /* as the server sees it */
void sn_host_stats_end(sn_host_stats *f, bool ok, seine_span took);
seine_span sn_host_stats_quantile(const sn_host_stats *f, unsigned percent);

#endif
