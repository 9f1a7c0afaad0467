/* SPDX-License-Identifier: Apache-2.0 */
/*
 * latency.h - percentiles of any number of durations, in 2.7 KB.
 *
 * Bins are 32 steps per power of two from 64 us to 134 s, so that a percentile is at most
 * 1.6 % off. What is shorter or longer counts in the first or the last bin; the shortest
 * and the longest duration are kept exactly.
 *
 *     latency l = {0};
 *     latency_add(&l, SEINE_MS(40));
 *     seine_span p95 = latency_at(&l, 95, 100);
 */
#ifndef CLI_LATENCY_H
#define CLI_LATENCY_H

#include <stddef.h>
#include <stdint.h>

#include <seine/time.h>

enum { LATENCY_STEPS = 32, LATENCY_OCTAVES = 21 };
enum { LATENCY_BINS = LATENCY_STEPS * LATENCY_OCTAVES };

typedef struct latency {
    uint64_t n;
    seine_span min, max;
    uint32_t bins[LATENCY_BINS];
} latency;

void latency_add(latency *l, seine_span took);
void latency_merge(latency *to, const latency *from);

/* The duration below or at which part/whole of all lie; 0: there are none. */
seine_span latency_at(const latency *l, unsigned part, unsigned whole);

/* The lower edge of a bin; of LATENCY_BINS the upper edge of the last. */
seine_span latency_edge(size_t bin);

#endif
