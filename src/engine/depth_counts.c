/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/depth_counts.h"

enum { ENOUGH = 20 }; /* pages of a depth that tell what the others bring */

static uint32_t
place_of(uint32_t depth)
{
    return depth < SN_DEPTH_COUNTS ? depth : SN_DEPTH_COUNTS - 1;
}

void
sn_depth_counts_add(sn_depth_counts *c, uint32_t depth)
{
    atomic_fetch_add_explicit(&c->found[place_of(depth)], 1, memory_order_relaxed);
}

void
sn_depth_counts_end(sn_depth_counts *c, uint32_t depth)
{
    atomic_fetch_add_explicit(&c->ended[place_of(depth)], 1, memory_order_relaxed);
}

uint64_t
sn_depth_counts_unread(const sn_depth_counts *c)
{
    uint64_t unread = 0;

    for (uint32_t i = 0; i < SN_DEPTH_COUNTS; i++) {
        uint64_t ended = atomic_load_explicit(&c->ended[i], memory_order_relaxed);
        uint64_t found = atomic_load_explicit(&c->found[i], memory_order_relaxed);

        if (ended < ENOUGH && found > ended)
            unread += found - ended;
    }
    return unread;
}
