/* SPDX-License-Identifier: Apache-2.0 */
/*
 * heap.h - a priority queue: which item is due first?
 *
 * A 4-ary heap: the parent of entry i is (i - 1) / 4, and its four children share a
 * cache line. A million entries are ten cache lines deep instead of twenty.
 *
 *     sn_heap retries;
 *     sn_heap_init(&retries, 100000);
 *     seine_err e = sn_heap_put(&retries, now + backoff, visit);   OK, FULL, NOMEM
 *     while (sn_heap_when(&retries) <= now)
 *         start(sn_heap_take(&retries).item);
 *     sn_heap_fini(&retries);
 *
 * Entries with the same moment leave in no particular order, but the same calls give
 * the same order. The heap removes nothing from the middle: the caller puts an item
 * that is no longer due back, or drops it, when it comes out.
 *
 * Time    is a value here; no clock is read.
 * Memory  16 bytes an entry. Either the heap's own, which doubles up to `max` entries
 *         and never shrinks, or the caller's: then put cannot fail before `max`.
 * Threads one owner.
 */
#ifndef SN_HEAP_H
#define SN_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#include "seine/err.h"
#include "seine/time.h"

typedef struct sn_heap_entry {
    seine_time at;
    uint64_t item;
} sn_heap_entry;

/* Bytes for `max` entries, and for three unused ones that align the children of an entry
 * to a cache line. */
#define SN_HEAP_BYTES(max) (((size_t)(max) + 3) * sizeof(sn_heap_entry))

typedef struct sn_heap {
    sn_heap_entry *entries; /* [0] is the earliest; NULL until the first one */
    size_t n, room, max;
    bool borrowed; /* the memory is the caller's */
} sn_heap;

void sn_heap_init(sn_heap *h, size_t max);

/* The same, in memory of SN_HEAP_BYTES(max) that starts on a cache line. */
void sn_heap_init_in(sn_heap *h, void *memory, size_t max);
void sn_heap_fini(sn_heap *h);

/* Forgets all entries, keeps the memory. */
void sn_heap_reset(sn_heap *h);

/* FULL: the heap holds `max` entries. NOMEM. */
SEINE_MUST_CHECK seine_err sn_heap_put(sn_heap *h, seine_time at, uint64_t item);

/* Removes and returns the earliest entry. The heap must not be empty: ask sn_heap_when or
 * look at n. */
sn_heap_entry sn_heap_take(sn_heap *h);

/* When the earliest is due; SEINE_NEVER when there is none. */
static inline seine_time
sn_heap_when(const sn_heap *h)
{
    return h->n > 0 ? h->entries[0].at : SEINE_NEVER;
}

#endif
