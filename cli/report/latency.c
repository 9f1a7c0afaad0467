/* SPDX-License-Identifier: Apache-2.0 */
#include "report/latency.h"

#define LEAST SEINE_US(64)

seine_span
latency_edge(size_t bin)
{
    seine_span base = LEAST << bin / LATENCY_STEPS;

    return base + base / LATENCY_STEPS * (seine_span)(bin % LATENCY_STEPS);
}

static size_t
bin_of(seine_span took)
{
    unsigned octave = 0;

    if (took < LEAST)
        return 0;
    octave = 63 - (unsigned)__builtin_clzll((uint64_t)(took / LEAST));
    if (octave >= LATENCY_OCTAVES)
        return LATENCY_BINS - 1;
    seine_span base = LEAST << octave;
    return octave * LATENCY_STEPS + (size_t)((took - base) / (base / LATENCY_STEPS));
}

void
latency_add(latency *l, seine_span took)
{
    took = took < 0 ? 0 : took;
    l->min = l->n == 0 || took < l->min ? took : l->min;
    l->max = took > l->max ? took : l->max;
    l->n++;
    l->bins[bin_of(took)]++;
}

void
latency_merge(latency *to, const latency *from)
{
    if (from->n == 0)
        return;
    to->min = to->n == 0 || from->min < to->min ? from->min : to->min;
    to->max = from->max > to->max ? from->max : to->max;
    to->n += from->n;
    for (size_t i = 0; i < LATENCY_BINS; i++)
        to->bins[i] += from->bins[i];
}

/* The middle of the bin that has the one of that rank; the ends are known exactly. */
seine_span
latency_at(const latency *l, unsigned part, unsigned whole)
{
    uint64_t rank = (l->n * part + whole - 1) / whole, seen = 0;
    seine_span middle = l->max;

    if (l->n == 0)
        return 0;
    rank = rank == 0 ? 1 : rank;
    if (rank == 1)
        return l->min;
    if (rank >= l->n)
        return l->max;
    for (size_t i = 0; i < LATENCY_BINS; i++) {
        seen += l->bins[i];
        if (seen >= rank) {
            middle = latency_edge(i) + (latency_edge(i + 1) - latency_edge(i)) / 2;
            break;
        }
    }
    return middle < l->min ? l->min : middle > l->max ? l->max : middle;
}
