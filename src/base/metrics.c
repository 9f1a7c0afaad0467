/* SPDX-License-Identifier: Apache-2.0 */
#include "base/metrics.h"

#include <sched.h>
#include <string.h>

#include "base/alloc.h"

#define LINE    8                   /* cells of a cache line */
#define SIDE    ((uint64_t)1 << 63) /* top bit: the side of a histogram that is written */
#define LONGEST ((seine_span)1 << 56) /* an observation counts as at most 2.3 years */

/*
 * Counters: there are 16 stripes of cells, and a thread always adds to the cells of its
 * own stripe, so threads seldom touch the same cache line.
 *
 * Histograms: an observation changes three numbers. A reader wants all three from one
 * moment and must not make a writer wait. So every series of a stripe has two sides. The
 * first cell counts begun observations, and its top bit names the side they go to. A
 * reader flips that bit, waits until the old side holds as many observations as were
 * begun on it, and moves them to `past`. A writer that is interrupted halfway delays the
 * reader, never another writer.
 */

static const seine_span usual[] = {
    SEINE_MS(5),    SEINE_MS(10),   SEINE_MS(25),   SEINE_MS(50),
    SEINE_MS(75),   SEINE_MS(100),  SEINE_MS(250),  SEINE_MS(500),
    SEINE_MS(750),  SEINE_SECS(1),  SEINE_MS(2500), SEINE_SECS(5),
    SEINE_MS(7500), SEINE_SECS(10), SEINE_SECS(30), SEINE_SECS(60)};

static const seine_span fine[] = {
    SEINE_US(500),  SEINE_MS(1),   SEINE_US(2500), SEINE_MS(5),    SEINE_MS(10),
    SEINE_MS(25),   SEINE_MS(50),  SEINE_MS(75),   SEINE_MS(100),  SEINE_MS(250),
    SEINE_MS(500),  SEINE_MS(750), SEINE_SECS(1),  SEINE_MS(2500), SEINE_SECS(5),
    SEINE_MS(7500), SEINE_SECS(10)};

seine_buckets
seine_buckets_default(void)
{
    return (seine_buckets){usual, sizeof usual / sizeof *usual - 2};
}

seine_buckets
seine_buckets_long(void)
{
    return (seine_buckets){usual, sizeof usual / sizeof *usual};
}

seine_buckets
seine_buckets_fine(void)
{
    return (seine_buckets){fine, sizeof fine / sizeof *fine};
}

/* The stripe of the calling thread, computed from the address of its stack. Stacks of
 * equal size lie one guard page apart, so threads that start together get different
 * stripes. Two threads that share a stripe are slower and still right. */
static size_t
stripe(void)
{
    return (uintptr_t)__builtin_thread_pointer() >> 12 & (SN_STRIPES - 1);
}

void
seine_counter_add(seine_counter *c, unsigned series, uint64_t n)
{
    if (c && series < c->n)
        atomic_fetch_add_explicit(&c->cells[stripe() * c->stride + series], n,
                                  memory_order_relaxed);
}

uint64_t
seine_counter_get(const seine_counter *c, unsigned series)
{
    uint64_t sum = 0;

    if (!c || series >= c->n)
        return 0;
    for (size_t i = 0; i < SN_STRIPES; i++)
        sum +=
            atomic_load_explicit(&c->cells[i * c->stride + series], memory_order_relaxed);
    return sum;
}

void
seine_gauge_set(seine_gauge *g, unsigned series, int64_t v)
{
    if (g && series < g->n)
        atomic_store_explicit(&g->cells[series], v, memory_order_relaxed);
}

void
seine_gauge_add(seine_gauge *g, unsigned series, int64_t by)
{
    if (g && series < g->n)
        atomic_fetch_add_explicit(&g->cells[series], by, memory_order_relaxed);
}

int64_t
seine_gauge_get(const seine_gauge *g, unsigned series)
{
    if (!g || series >= g->n)
        return 0;
    return atomic_load_explicit(&g->cells[series], memory_order_relaxed);
}

/* Cells of one side: the sum, the buckets, +Inf. */
static size_t
side_size(const seine_histogram *h)
{
    return 2 + (size_t)h->n_bounds;
}

/* Without branches: the compiler compares several bounds at once. */
static size_t
bucket_of(const seine_histogram *h, seine_span d)
{
    size_t at = 0;

    for (size_t i = 0; i < h->n_bounds; i++)
        at += d > h->bounds[i];
    return at;
}

void
seine_histogram_observe(seine_histogram *h, unsigned series, seine_span d)
{
    if (!h || series >= h->n)
        return;
    d = d < 0 ? 0 : d < LONGEST ? d : LONGEST;

    sn_cell *cell = &h->cells[(stripe() * h->n + series) * h->stride];
    uint64_t begun = atomic_fetch_add_explicit(cell, 1, memory_order_acquire);
    sn_cell *side = cell + 1 + (begun & SIDE ? side_size(h) : 0);
    atomic_fetch_add_explicit(side, (uint64_t)d, memory_order_relaxed);
    /* Comes last, with release order: a reader that sees the count sees the sum, too. */
    atomic_fetch_add_explicit(side + 1 + bucket_of(h, d), 1, memory_order_release);
}

/* Waits until `n` observations are complete on a side that gets no new ones. */
static void
await_writers(const seine_histogram *h, const sn_cell *side, uint64_t n)
{
    for (;;) {
        uint64_t done = 0;

        for (size_t i = 0; i <= h->n_bounds; i++)
            done += atomic_load_explicit(side + 1 + i, memory_order_acquire);
        if (done == n)
            return;
        sched_yield();
    }
}

/* Moves the written side to `past`; writers use the other side from then on. */
static void
take_side(const seine_histogram *h, size_t at, sn_histogram_values *past)
{
    sn_cell *cell = &h->cells[at * h->stride];
    uint64_t begun = atomic_fetch_add_explicit(cell, SIDE, memory_order_acq_rel);
    sn_cell *side = cell + 1 + (begun & SIDE ? side_size(h) : 0);
    uint64_t n = (begun & ~SIDE) - h->taken[at];

    await_writers(h, side, n);
    h->taken[at] += n;
    past->count += n;
    past->sum += atomic_exchange_explicit(side, 0, memory_order_relaxed);
    for (size_t i = 0; i <= h->n_bounds; i++)
        past->bucket[i] +=
            atomic_exchange_explicit(side + 1 + i, 0, memory_order_relaxed);
}

void
sn_histogram_read(const seine_histogram *h, unsigned series, sn_histogram_values *out_s)
{
    sn_histogram_values *past = &h->past[series];

    pthread_mutex_lock(h->lock);
    for (size_t i = 0; i < SN_STRIPES; i++)
        take_side(h, i * h->n + series, past);
    *out_s = *past;
    pthread_mutex_unlock(h->lock);
}

uint64_t
seine_histogram_count(const seine_histogram *h, unsigned series)
{
    sn_histogram_values s;

    if (!h || series >= h->n)
        return 0;
    sn_histogram_read(h, series, &s);
    return s.count;
}

seine_span
sn_histogram_quantile(const seine_histogram *h, unsigned series, double share)
{
    sn_histogram_values s;
    uint64_t n = 0;

    if (!h || series >= h->n)
        return 0;
    sn_histogram_read(h, series, &s);
    if (s.count == 0)
        return 0;
    for (unsigned i = 0; i < h->n_bounds; i++) {
        n += s.bucket[i];
        if ((double)n >= share * (double)s.count)
            return h->bounds[i];
    }
    return SEINE_NEVER;
}
