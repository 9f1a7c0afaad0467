/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/figures.h"

#include <string.h>

#include "base/time.h"

#define SECOND SEINE_SECS(1)
#define SLICE  (SECOND / SN_FIGURE_SLICES)
#define FEW    (SN_FIGURE_STARTS / 2) /* in a second: the ring is enough again */

void
sn_figures_init(sn_figures *f)
{
    *f = (sn_figures){.last = SEINE_NEVER, .min_gap = SEINE_NEVER};
}

void
sn_figures_start(sn_figures *f)
{
    f->requests++;
}

static uint32_t *
slice_of(sn_figures *f, int64_t slice)
{
    return &f->slices[slice % SN_FIGURE_SLICES];
}

/* Those of the ring, by slice. */
static void
begin_slices(sn_figures *f, seine_time now)
{
    memset(f->slices, 0, sizeof f->slices);
    f->slice = now / SLICE;
    f->in_slices = 0;
    for (uint32_t i = 0; i < SN_FIGURE_STARTS; i++) {
        int64_t slice = f->starts[i] / SLICE;

        if (f->slice - slice < SN_FIGURE_SLICES) {
            ++*slice_of(f, slice);
            f->in_slices++;
        }
    }
}

/* This one and those of the nineteen slices before its own. */
static uint32_t
count_slices(sn_figures *f, seine_time now)
{
    int64_t slice = now / SLICE;

    for (int64_t s = sn_time_max(f->slice, slice - SN_FIGURE_SLICES) + 1; s <= slice;
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
in_last_second(sn_figures *f, seine_time now)
{
    bool sliced = f->in_slices > 0;
    uint32_t n = sliced ? count_slices(f, now) : 0;

    if (sliced && n > FEW)
        f->tail = f->head - SN_FIGURE_STARTS;
    while (f->tail != f->head && now - f->starts[f->tail % SN_FIGURE_STARTS] >= SECOND)
        f->tail++;
    bool full = f->head - f->tail == SN_FIGURE_STARTS;
    f->starts[f->head++ % SN_FIGURE_STARTS] = now;
    if (sliced && n > FEW)
        return n;
    f->in_slices = 0;
    if (full) {
        f->tail++;
        begin_slices(f, now);
        return SN_FIGURE_STARTS + 1;
    }
    return f->head - f->tail;
}

void
sn_figures_sent(sn_figures *f, seine_time now)
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
    return bin < SN_FIGURE_BINS ? bin : SN_FIGURE_BINS - 1;
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
sn_figures_end(sn_figures *f, bool ok, seine_span took)
{
    if (ok)
        f->ok++;
    else
        f->failed++;
    f->bins[bin_of(took)]++;
}

seine_span
sn_figures_quantile(const sn_figures *f, unsigned percent)
{
    uint64_t all = 0, seen = 0;

    for (unsigned i = 0; i < SN_FIGURE_BINS; i++)
        all += f->bins[i];
    for (unsigned i = 0; i < SN_FIGURE_BINS; i++) {
        seen += f->bins[i];
        if (seen > 0 && seen * 100 >= all * percent)
            return edge_of(i);
    }
    return 0;
}
