/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breaker_window.h - how many of the latest calls failed or were slow?
 *
 * A window by count holds the last n calls, two bits each, in a ring. A window by time t
 * holds ten slices of t/10, aligned to the epoch of the clock, so it covers between 0.9 t
 * and t. Either way adding a call takes constant time, and idle time costs at most ten
 * slices.
 *
 * Time    is an argument; by time, a call that claims to be older than the newest
 *         slice is counted in the newest slice.
 * Memory  sn_window_size bytes of the caller's.
 * Threads one owner.
 */
#ifndef SN_BREAKER_WINDOW_H
#define SN_BREAKER_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/time.h"

typedef struct sn_window {
    uint64_t calls, failed, slow; /* in the window now */
    uint32_t size;                /* in calls; 0: a window by time */
    uint32_t at;                  /* the next place in the ring, or the newest slice */
    seine_span slice;
    int64_t number; /* of the newest slice, since the clock's epoch */
    uint64_t cell[];
} sn_window;

/* Bytes for a window of `calls` or of `time`, one of them 0. */
size_t sn_window_size(uint32_t calls, seine_span time);
void sn_window_init(sn_window *w, uint32_t calls, seine_span time);

void sn_window_clear(sn_window *w);
void sn_window_add(sn_window *w, seine_time now, bool failed, bool slow);

/* Forgets calls that are too old at `now`; add does this too. */
void sn_window_roll(sn_window *w, seine_time now);

#endif
