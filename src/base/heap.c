/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"

_Static_assert(sizeof(sn_heap_entry) == 16, "heap.h says so");

#define SMALLEST 13 /* entries: with the three unused ones, four cache lines */
#define SHIFT    3  /* index of entry 0, so that 1..4, 5..8 … each fill a cache line */

void
sn_heap_init(sn_heap *h, size_t max)
{
    *h = (sn_heap){.max = max};
}

void
sn_heap_init_in(sn_heap *h, void *memory, size_t max)
{
    *h = (sn_heap){
        .entries = (sn_heap_entry *)memory + SHIFT,
        .room = max,
        .max = max,
        .borrowed = true,
    };
}

void
sn_heap_fini(sn_heap *h)
{
    if (h->entries && !h->borrowed)
        sn_free_line(h->entries - SHIFT);
    *h = (sn_heap){0};
}

void
sn_heap_reset(sn_heap *h)
{
    h->n = 0;
}

static seine_err
grow_heap(sn_heap *h)
{
    size_t room = h->room > 0 ? 2 * h->room + SHIFT : SMALLEST;

    if (room > h->max)
        room = h->max;
    sn_heap_entry *memory = sn_zalloc_line(SN_HEAP_BYTES(room));
    if (!memory)
        return SEINE_E_NOMEM;
    if (h->entries) {
        memcpy(memory + SHIFT, h->entries, h->n * sizeof *memory);
        sn_free_line(h->entries - SHIFT);
    }
    h->entries = memory + SHIFT;
    h->room = room;
    return SEINE_OK;
}

seine_err
sn_heap_put(sn_heap *h, seine_time at, uint64_t item)
{
    if (h->n >= h->max)
        return SEINE_E_FULL;
    if (h->n >= h->room) {
        seine_err e = grow_heap(h);

        if (e != SEINE_OK)
            return e;
    }

    sn_heap_entry *e = h->entries;
    size_t i = h->n++;
    while (i > 0 && e[(i - 1) / 4].at > at) {
        e[i] = e[(i - 1) / 4];
        i = (i - 1) / 4;
    }
    e[i] = (sn_heap_entry){at, item};
    return SEINE_OK;
}

/* The earliest of one to four entries from `first` on. Four are compared as two pairs and
 * without branches, since a branch would be mispredicted half of the time. */
static size_t
earliest(const sn_heap_entry *e, size_t first, size_t n)
{
    size_t a = first, b = first + 2;

    if (n >= 4) {
        a += e[first + 1].at < e[first].at;
        b += e[first + 3].at < e[first + 2].at;
        return e[b].at < e[a].at ? b : a;
    }
    for (size_t i = first + 1; i < first + n; i++)
        a = e[i].at < e[a].at ? i : a;
    return a;
}

/* The hole that the first entry leaves sinks to the bottom, and the last entry rises from
 * there. The last entry is almost always late, so this compares less than sinking it. */
sn_heap_entry
sn_heap_take(sn_heap *h)
{
    assert(h->n > 0);
    sn_heap_entry *e = h->entries, first = e[0], last = e[--h->n];
    size_t hole = 0, n = h->n;

    for (size_t child = 1; child < n; child = 4 * hole + 1) {
        child = earliest(e, child, n - child);
        e[hole] = e[child];
        hole = child;
    }
    while (hole > 0 && e[(hole - 1) / 4].at > last.at) {
        e[hole] = e[(hole - 1) / 4];
        hole = (hole - 1) / 4;
    }
    e[hole] = last;
    return first;
}
