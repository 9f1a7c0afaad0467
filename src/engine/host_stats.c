/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host_stats.h"

#include "base/time.h"

_Static_assert(sizeof(sn_host_stats) == 1680, "host_stats.h says so");

void
sn_host_stats_init(sn_host_stats *f)
{
    *f = (sn_host_stats){.last = SEINE_NEVER, .min_gap = SEINE_NEVER};
}

void
sn_host_stats_sent(sn_host_stats *f, seine_time now)
{
    if (f->last != SEINE_NEVER)
        f->min_gap = sn_time_min(f->min_gap, sn_time_max(now - f->last, 0));
    f->last = f->last == SEINE_NEVER ? now : sn_time_max(f->last, now);
    sn_busiest_second_add(&f->second, now);
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
