/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figures.h - what the summary tells of a host: how many, how close, how slow.
 *
 * The closest two requests and the most in any second are the proof of politeness, so
 * they are counted as the server sees them: when a request leaves. Up to 64 a second they
 * are exact; above, seconds are counted in twentieths. Latencies fall into quarter
 * octaves.
 *
 *     sn_figures_start(f);
 *     sn_figures_sent(f, now);
 *     sn_figures_end(f, true, took);
 *     p95 = sn_figures_quantile(f, 95);
 *
 * Time    is passed in.
 * Memory  1.3 KiB, the caller's.
 * Threads one owner.
 */
#ifndef SN_FIGURES_H
#define SN_FIGURES_H

#include <stdbool.h>

#include "seine/record.h"

#define SN_FIGURE_BINS   112 /* from 1 us on */
#define SN_FIGURE_STARTS 64
#define SN_FIGURE_SLICES 20 /* of a second */

typedef struct sn_figures {
    uint64_t requests, ok, failed, retries;
    seine_time last; /* the newest that left; NEVER: none */
    seine_span min_gap;
    uint32_t opens, max_in_1s;
    uint32_t head, tail; /* of `starts`: the next one, the oldest of the last second */
    seine_time starts[SN_FIGURE_STARTS]; /* a ring */
    seine_span held[SEINE_WAIT_ROOM];
    uint32_t bins[SN_FIGURE_BINS];
    int64_t slice;                     /* the newest of `slices` */
    uint32_t slices[SN_FIGURE_SLICES]; /* starts in each … */
    uint32_t in_slices;                /* … and in all; 0: the ring is enough */
} sn_figures;

void sn_figures_init(sn_figures *f);
void sn_figures_start(sn_figures *f);
void sn_figures_sent(sn_figures *f, seine_time now); /* as the server sees it */
void sn_figures_end(sn_figures *f, bool ok, seine_span took);
seine_span sn_figures_quantile(const sn_figures *f, unsigned percent);

#endif
