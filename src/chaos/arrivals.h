/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrivals.h - the closest two arrivals, and the most in any second and ten seconds.
 *
 * The figures are exact, for windows that begin at any moment: [t, t + 1 s) for every t.
 * The ring keeps the moments of the last ten seconds. When it is too small for them, the
 * oldest go, the figure for ten seconds is a lower bound, and `capped` says so.
 *
 *     snc_arrivals w = {0};
 *     snc_arrivals_add(&w, now, &budget);
 *     tell(w.min_gap, w.max_1s, w.max_10s);
 *
 * Time    is passed in. Moments may come a little out of order, as when two connections
 *         are read one after the other; each goes to its place.
 * Memory  8 bytes per arrival of the last ten seconds, doubling, at most 8 MiB and
 *         never more than what is left in the budget.
 * Threads one owner.
 */
#ifndef SNC_ARRIVALS_H
#define SNC_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/time.h"

typedef struct snc_arrivals {
    seine_time *ring; /* moments, by the number of the arrival */
    size_t room;
    uint64_t next, from_1s,
        from_10s; /* numbers: the next arrival, the first in each window */
    seine_time last;
    seine_span min_gap; /* SEINE_NEVER before the second arrival */
    uint64_t max_1s, max_10s;
    bool capped;
} snc_arrivals;

void snc_arrivals_init(snc_arrivals *w);

/* Gives its memory back to the budget. */
void snc_arrivals_fini(snc_arrivals *w, size_t *budget);

void snc_arrivals_add(snc_arrivals *w, seine_time now, size_t *budget);

#endif
