/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bins.h - time cut into equal pieces whose edges are round numbers.
 *
 *     bins b = bins_make(&trace, end, 0, 20);       at most 20 pieces
 *     rows[bins_place(&b, event.at)].offered++;
 *     out_print("%s", bins_label(&b, i).text);
 */
#ifndef CLI_BINS_H
#define CLI_BINS_H

#include <stddef.h>

#include <seine/time.h>

#include "sim/log_date.h"
#include "sim/trace.h"

typedef struct bins {
    const trace *trace;
    seine_time start; /* edge of the first piece */
    seine_span width;
    size_t count;
} bins;

/* Pieces of `width`, or of the first round width that needs at most `most`. They
 * cover the trace's first request to `end`. */
bins bins_make(const trace *t, seine_time end, seine_span width, size_t most);

/* Exactly `count` pieces, or fewer where they would be finer than the trace is;
 * their edges are where they happen to be. */
bins bins_fill(const trace *t, seine_time end, size_t count);

size_t bins_place(const bins *b, seine_time at);
seine_time bins_edge(const bins *b, size_t i);

/* Round moments for an axis under the pieces: the width of the steps that are at
 * least `room` pieces apart, and the first of them. */
seine_span bins_ticks(const bins *b, size_t room, seine_time *out_first);
clock_text bins_tick(const bins *b, seine_time at, seine_span step);

/* Where piece `i` begins, as short as the width allows: 1.5 s, 2:05, 13:55:36. */
clock_text bins_label(const bins *b, size_t i);

/* A moment of the trace to the millisecond, in the same manner. */
clock_text bins_moment(const bins *b, seine_time at);

#endif
