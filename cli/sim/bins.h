/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bins.h - cuts time into equal bins whose edges are round numbers.
 *
 *     bins b = bins_make(&t, end, 0, 20);          at most 20 bins
 *     count_one(bins_place(&b, at));
 *     puts(bins_label(&b, i).text);
 */
#ifndef CLI_BINS_H
#define CLI_BINS_H

#include <stddef.h>

#include <seine/time.h>

#include "sim/log_date.h"
#include "sim/trace.h"

typedef struct bins {
    const trace *trace;
    seine_time start; /* edge of the first bin */
    seine_span width;
    size_t count;
} bins;

/* Bins of `width`; 0: of the smallest round width that needs at most `most` bins. They
 * cover the time from the first request of the trace to `end`. */
bins bins_make(const trace *t, seine_time end, seine_span width, size_t most);

/* `count` bins, or fewer where bins would be finer than the trace; their edges are not
 * rounded. */
bins bins_fill(const trace *t, seine_time end, size_t count);

size_t bins_place(const bins *b, seine_time at);
seine_time bins_edge(const bins *b, size_t i);

/* Round moments for an axis below the bins: returns the width of steps that are at least
 * `room` bins apart; *out_first is the first moment. */
seine_span bins_ticks(const bins *b, size_t room, seine_time *out_first);
clock_text bins_tick(const bins *b, seine_time at, seine_span step);

/* The beginning of bin `i`, as short as the width allows: 1.5 s, 2:05, 13:55:36. */
clock_text bins_label(const bins *b, size_t i);

/* A moment of the trace in the same form, to the millisecond. */
clock_text bins_moment(const bins *b, seine_time at);

#endif
