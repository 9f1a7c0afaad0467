/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/snapshot.h"

#include <string.h>

enum { LOWEST = 16, LOOKS = 8 }; /* 2^16 ns; tries of a reader that meets a write */

void
sn_snapshot_publish(sn_snapshot_slot *slot, const sn_snapshot *s)
{
    const unsigned char *from = (const unsigned char *)s;
    uint64_t version = atomic_load_explicit(&slot->version, memory_order_relaxed);

    atomic_store_explicit(&slot->version, version + 1, memory_order_relaxed);
    for (size_t i = 0; i < SN_SNAPSHOT_WORDS; i++) {
        uint64_t word;

        memcpy(&word, from + i * sizeof word, sizeof word);
        /* None is seen before the odd version. */
        atomic_store_explicit(&slot->words[i], word, memory_order_release);
    }
    atomic_store_explicit(&slot->version, version + 2, memory_order_release);
}

bool
sn_snapshot_read(const sn_snapshot_slot *slot, uint64_t seq, sn_snapshot *out)
{
    sn_snapshot got;
    unsigned char *to = (unsigned char *)&got;

    for (int look = 0; look < LOOKS; look++) {
        uint64_t before = atomic_load_explicit(&slot->version, memory_order_acquire);

        if (before == 0)
            return false;
        if (before % 2 == 1)
            continue;
        for (size_t i = 0; i < SN_SNAPSHOT_WORDS; i++) {
            uint64_t word = atomic_load_explicit(&slot->words[i], memory_order_acquire);

            memcpy(to + i * sizeof word, &word, sizeof word);
        }
        if (atomic_load_explicit(&slot->version, memory_order_relaxed) != before)
            continue;
        if (got.seq <= seq)
            return false;
        *out = got;
        return true;
    }
    return false;
}

unsigned
sn_snapshot_bin(seine_span took)
{
    uint64_t ns = took > 0 ? (uint64_t)took : 0;

    if (ns >> LOWEST == 0)
        return 0;
    unsigned power = 63 - (unsigned)__builtin_clzll(ns);
    unsigned step = (unsigned)(ns >> (power - 5)) & (SN_SNAPSHOT_STEPS - 1);
    unsigned bin = (power - LOWEST) * SN_SNAPSHOT_STEPS + step;
    return bin < SN_SNAPSHOT_BINS ? bin : SN_SNAPSHOT_BINS - 1;
}

seine_span
sn_snapshot_bin_end(unsigned bin)
{
    unsigned power = LOWEST + bin / SN_SNAPSHOT_STEPS;
    uint64_t step = bin % SN_SNAPSHOT_STEPS + 1;

    return (seine_span)((UINT64_C(1) << power) + (step << (power - 5)) - 1);
}

seine_span
sn_snapshot_percentile(const uint64_t before[SN_SNAPSHOT_BINS],
                       const uint64_t after[SN_SNAPSHOT_BINS], unsigned percent)
{
    uint64_t all = 0, below = 0;

    for (unsigned i = 0; i < SN_SNAPSHOT_BINS; i++)
        all += after[i] - before[i];
    if (all == 0)
        return 0;
    uint64_t rank = (all * percent + 99) / 100;
    for (unsigned i = 0; i < SN_SNAPSHOT_BINS; i++) {
        below += after[i] - before[i];
        if (below >= rank && below > 0)
            return sn_snapshot_bin_end(i);
    }
    return sn_snapshot_bin_end(SN_SNAPSHOT_BINS - 1);
}
