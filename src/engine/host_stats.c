/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host_stats.h"

#include <string.h>

#include "base/time.h"

#define SECOND SEINE_SECS(1)
#define SLICE  (SECOND / SN_HOST_STATS_SLICES)
#define FEW    (SN_HOST_STATS_STARTS / 2) /* in a second: the ring is enough again */

void
sn_host_stats_init(sn_host_stats *f)
{
    *f = (sn_host_stats){.last = SEINE_NEVER, .min_gap = SEINE_NEVER};
}

void
sn_host_stats_start(sn_host_stats *f)
{
    f->requests++;
}

static uint32_t *
slice_of(sn_host_stats *f, int64_t slice)
{
    return &f->slices[slice % SN_HOST_STATS_SLICES];
}

/* Those of the ring, by slice. */
static void
begin_slices(sn_host_stats *f, seine_time now)
{
    memset(f->slices, 0, sizeof f->slices);
    f->slice = now / SLICE;
    f->in_slices = 0;
    for (uint32_t i = 0; i < SN_HOST_STATS_STARTS; i++) {
        int64_t slice = f->starts[i] / SLICE;

        if (f->slice - slice < SN_HOST_STATS_SLICES) {
            ++*slice_of(f, slice);
            f->in_slices++;
        }
    }
}

/* Counts the starts of this slice and of the nineteen before it. */
static uint32_t
count_slices(sn_host_stats *f, seine_time now)
{
    int64_t slice = now / SLICE;

    for (int64_t s = sn_time_max(f->slice, slice - SN_HOST_STATS_SLICES) + 1; s <= slice;
         s++) {
        f->in_slices -= *slice_of(f, s);
        *slice_of(f, s) = 0;
    }
    f->slice = sn_time_max(f->slice, slice);
    ++*slice_of(f, f->slice);
    return ++f->in_slices;
}

/* Starts in the last second, this one included. */
static uint32_t
in_last_second(sn_host_stats *f, seine_time now)
{
    bool sliced = f->in_slices > 0;
    uint32_t n = sliced ? count_slices(f, now) : 0;

    if (sliced && n > FEW)
        f->tail = f->head - SN_HOST_STATS_STARTS;
    while (f->tail != f->head &&
           now - f->starts[f->tail % SN_HOST_STATS_STARTS] >= SECOND)
        f->tail++;
    bool full = f->head - f->tail == SN_HOST_STATS_STARTS;
    f->starts[f->head++ % SN_HOST_STATS_STARTS] = now;
    if (sliced && n > FEW)
        return n;
    f->in_slices = 0;
    if (full) {
        f->tail++;
        begin_slices(f, now);
        return SN_HOST_STATS_STARTS + 1;
    }
    return f->head - f->tail;
}

void
sn_host_stats_sent(sn_host_stats *f, seine_time now)
{
    if (f->last != SEINE_NEVER && now - f->last < f->min_gap)
        f->min_gap = now - f->last;
    f->last = now;
    uint32_t n = in_last_second(f, now);
    if (n > f->max_in_1s)
        f->max_in_1s = n;
}

static unsigned
bin_of(seine_span took)
{
    uint64_t us = took > 0 ? (uint64_t)took / 1000 : 0;

    if (us < 4)
        return (unsigned)us;
    unsigned octave = 63 - (unsigned)__builtin_clzll(us);
    unsigned bin = (octave - 1) * 4 + (unsigned)(us >> (octave - 2) & 3);
    return bin < SN_HOST_STATS_BINS ? bin : SN_HOST_STATS_BINS - 1;
}

/* The upper edge, in us. */
static seine_span
edge_of(unsigned bin)
{
    if (bin < 4)
        return SEINE_US(bin + 1);
    unsigned octave = bin / 4 + 1;
    return SEINE_US((int64_t)(bin % 4 + 5) << (octave - 2));
}

void
sn_host_stats_end(sn_host_stats *f, bool ok, seine_span took)
{
    if (ok)
        f->ok++;
    else
        f->failed++;
    f->bins[bin_of(took)]++;
}

seine_span
sn_host_stats_quantile(const sn_host_stats *f, unsigned percent)
{
    uint64_t all = 0, seen = 0;

    for (unsigned i = 0; i < SN_HOST_STATS_BINS; i++)
        all += f->bins[i];
    for (unsigned i = 0; i < SN_HOST_STATS_BINS; i++) {
        seen += f->bins[i];
        if (seen > 0 && seen * 100 >= all * percent)
            return edge_of(i);
    }
    return 0;
}
