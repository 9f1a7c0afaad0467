/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/breaker_window.h"

#include <string.h>

#include "base/time.h"

#define SLICES   10
#define PER_CELL 32 /* two bits: failed, slow */

enum { CALLS, FAILED, SLOW, COUNTS };

static size_t
cells(uint32_t calls)
{
    return calls > 0 ? (calls + PER_CELL - 1) / PER_CELL : SLICES * COUNTS;
}

size_t
sn_window_size(uint32_t calls, seine_span time)
{
    if (calls == 0 && time == 0)
        return 0;
    return sizeof(sn_window) + cells(calls) * sizeof(uint64_t);
}

void
sn_window_init(sn_window *w, uint32_t calls, seine_span time)
{
    memset(w, 0, sn_window_size(calls, time));
    w->size = calls;
    w->slice = time / SLICES + (time % SLICES > 0);
}

void
sn_window_clear(sn_window *w)
{
    w->calls = w->failed = w->slow = 0;
    memset(w->cell, 0, cells(w->size) * sizeof *w->cell);
}

static int64_t
number_of(const sn_window *w, seine_time now)
{
    return now / w->slice - (now % w->slice < 0);
}

void
sn_window_roll(sn_window *w, seine_time now)
{
    if (w->size > 0)
        return;

    int64_t number = number_of(w, now);
    int64_t steps = sn_time_sub(number, w->number);
    if (w->calls == 0) { /* an empty window begins here, even in the past */
        w->number = number;
        return;
    }
    if (steps <= 0)
        return;
    w->number = number;
    for (int64_t i = 0; i < steps && i < SLICES; i++) {
        w->at = (w->at + 1) % SLICES;
        uint64_t *oldest = &w->cell[w->at * (size_t)COUNTS];

        w->calls -= oldest[CALLS];
        w->failed -= oldest[FAILED];
        w->slow -= oldest[SLOW];
        memset(oldest, 0, COUNTS * sizeof *oldest);
    }
}

static void
add_to_slice(sn_window *w, seine_time now, bool failed, bool slow)
{
    sn_window_roll(w, now);
    uint64_t *newest = &w->cell[w->at * (size_t)COUNTS];

    newest[CALLS]++;
    newest[FAILED] += failed;
    newest[SLOW] += slow;
    w->calls++;
}

static void
add_to_ring(sn_window *w, bool failed, bool slow)
{
    uint64_t *cell = &w->cell[w->at / PER_CELL];
    unsigned shift = w->at % PER_CELL * 2;
    uint64_t old = *cell >> shift & 3, code = (uint64_t)failed | (uint64_t)slow << 1;

    /* A place that was never written holds 0: neither failed nor slow. */
    w->failed -= old & 1;
    w->slow -= old >> 1;
    *cell ^= (old ^ code) << shift;
    w->at = w->at + 1 == w->size ? 0 : w->at + 1;
    w->calls += w->calls < w->size;
}

void
sn_window_add(sn_window *w, seine_time now, bool failed, bool slow)
{
    if (w->size > 0)
        add_to_ring(w, failed, slow);
    else
        add_to_slice(w, now, failed, slow);
    w->failed += failed;
    w->slow += slow;
}
