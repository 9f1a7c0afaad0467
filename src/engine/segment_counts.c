/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/segment_counts.h"

#include <string.h>

#include "base/alloc.h"
#include "text/trap.h"

enum {
    FEWEST = 16,     /* pages on which a segment stands that recurs */
    SHARE = 64,      /* and one of so many pages */
    HALVE_AT = 2048, /* pages */
    TWO = 2          /* segments of a path that can be combined */
};

typedef struct sn_segment_slots {
    uint64_t hash[SN_SEGMENT_SLOTS]; /* where n is 0: free */
    uint16_t n[SN_SEGMENT_SLOTS];
} sn_segment_slots;

_Static_assert(sizeof(sn_segment_slots) == 5 << 10, "as segment_counts.h says");

void
sn_segment_counts_fini(sn_segment_counts *c)
{
    sn_free(c->slots);
    *c = (sn_segment_counts){0};
}

/* The slot of a segment, or the free one that it may take. */
static uint32_t
slot_of(const sn_segment_slots *s, uint64_t hash)
{
    uint32_t i = (uint32_t)(hash >> 32) % SN_SEGMENT_SLOTS;

    while (s->n[i] > 0 && s->hash[i] != hash)
        i = (i + 1) % SN_SEGMENT_SLOTS;
    return i;
}

/* Gives every count its new value, and room to those that come to zero. */
static void
shrink(sn_segment_counts *c, unsigned minus, unsigned divisor)
{
    sn_segment_slots old = *c->slots;

    memset(c->slots, 0, sizeof *c->slots);
    c->used = 0;
    for (uint32_t i = 0; i < SN_SEGMENT_SLOTS; i++) {
        unsigned n = old.n[i] > minus ? (old.n[i] - minus) / divisor : 0;
        if (n == 0)
            continue;
        uint32_t at = slot_of(c->slots, old.hash[i]);
        c->slots->hash[at] = old.hash[i];
        c->slots->n[at] = (uint16_t)n;
        c->used++;
    }
}

static void
count(sn_segment_counts *c, uint64_t hash)
{
    uint32_t at = slot_of(c->slots, hash);

    if (c->slots->n[at] == 0 && c->used == SN_SEGMENTS_COUNTED) {
        shrink(c, 1, 1);
        return;
    }
    c->used += c->slots->n[at] == 0;
    c->slots->hash[at] = hash;
    c->slots->n[at]++;
}

void
sn_segment_counts_add(sn_segment_counts *c, sn_str path)
{
    uint64_t hash[SN_TRAP_SEGMENTS];
    unsigned n = sn_trap_names(path, hash);

    if (!c->slots && !(c->slots = sn_zalloc(sizeof *c->slots)))
        return;
    if (++c->pages > HALVE_AT) {
        shrink(c, 0, 2);
        c->pages /= 2;
    }
    for (unsigned i = 0; i < n; i++)
        count(c, hash[i]);
}

bool
sn_segment_counts_recur(const sn_segment_counts *c, sn_str path)
{
    uint64_t hash[SN_TRAP_SEGMENTS];

    if (!c->slots)
        return false;
    unsigned n = sn_trap_names(path, hash);
    for (unsigned i = 0; i < n; i++) {
        uint32_t times = c->slots->n[slot_of(c->slots, hash[i])];
        if (times < FEWEST || times * SHARE < c->pages)
            return false;
    }
    return n >= TWO;
}
