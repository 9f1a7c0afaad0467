/* SPDX-License-Identifier: Apache-2.0 */
#include "base/timer_wheel.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"

#define MS         SEINE_MS(1)
#define SLOTS      65536 /* of level 0, a millisecond each */
#define BLOCKS     4096  /* of level 1 */
#define BLOCK_BITS 10    /* a block is 1,024 ms */
#define TURN_BITS  22    /* a turn of level 1: 4,096 blocks */
#define GLANCE     8     /* items of a slot that `when` examines */
#define WALKS      4     /* lists prefetched ahead */
#define CROWD      16    /* items in a slot that make prefetching worth it */
#define NEVER_MS   INT64_MAX

/*
 * These hold between two calls, with `ms` the current millisecond:
 * - the heap holds everything due in `ms` or before;
 * - level 0 holds milliseconds ms + 1 … ms + 65,535, each at its number mod 65,536;
 * - level 1 holds blocks that have not begun, each at its number mod 4,096;
 * - the far list holds items of later turns of level 1.
 * A list moves down a level as late as possible: a block in the millisecond before it
 * begins, the far list in the millisecond before its first turn begins.
 */

typedef struct slots {
    uint32_t heads0[SLOTS], heads1[BLOCKS];
    uint64_t bits0[SLOTS / 64], summary0[SLOTS / 64 / 64];
    uint64_t bits1[BLOCKS / 64], summary1[1];
} slots;

/* Times before 0 share one millisecond: they are in the past of any clock. */
static int64_t
ms_of(seine_time at)
{
    return at >= 0 ? at / MS : -1;
}

static uint32_t *
link_of(const sn_timer_wheel *w, uint32_t item)
{
    char *record = (char *)w->items.records + item * w->items.stride;

    return (uint32_t *)(void *)(record + w->items.link);
}

static seine_time *
time_of(const sn_timer_wheel *w, uint32_t item)
{
    char *record = (char *)w->items.records + item * w->items.stride;

    return (seine_time *)(void *)(record + w->items.time);
}

static void
push_item(const sn_timer_wheel *w, sn_timer_wheel_level *l, uint32_t slot, uint32_t item)
{
    uint32_t word = slot >> 6;
    uint64_t bit = UINT64_C(1) << (slot & 63);

    *link_of(w, item) = l->bits[word] & bit ? l->heads[slot] : SN_NONE;
    l->heads[slot] = item;
    l->bits[word] |= bit;
    l->summary[word >> 6] |= UINT64_C(1) << (word & 63);
    l->top |= UINT64_C(1) << (word >> 6);
}

/* Empties a filled slot and returns its list. */
static uint32_t
lift(sn_timer_wheel_level *l, uint32_t slot)
{
    uint32_t word = slot >> 6;

    l->bits[word] &= ~(UINT64_C(1) << (slot & 63));
    if (l->bits[word] == 0) {
        l->summary[word >> 6] &= ~(UINT64_C(1) << (word & 63));
        if (l->summary[word >> 6] == 0)
            l->top &= ~(UINT64_C(1) << (word >> 6));
    }
    return l->heads[slot];
}

/* The first filled slot from `from` to the end of the level, or SN_NONE. */
static uint32_t
find_filled(const sn_timer_wheel_level *l, uint32_t from)
{
    uint32_t word = from >> 6, group;
    uint64_t left = l->bits[word] >> (from & 63);

    if (left)
        return from + (uint32_t)__builtin_ctzll(left);
    if (++word > l->mask >> 6)
        return SN_NONE;
    group = word >> 6;
    left = l->summary[group] >> (word & 63);
    if (left) {
        word += (uint32_t)__builtin_ctzll(left);
    } else {
        left = l->top >> group >> 1;
        if (!left)
            return SN_NONE;
        group += 1 + (uint32_t)__builtin_ctzll(left);
        word = group << 6 | (uint32_t)__builtin_ctzll(l->summary[group]);
    }
    return word << 6 | (uint32_t)__builtin_ctzll(l->bits[word]);
}

/* The first filled slot after number `now`, as a number that does not wrap. */
static int64_t
next_filled(const sn_timer_wheel_level *l, int64_t now)
{
    if (l->top == 0)
        return NEVER_MS;

    uint32_t from = (uint32_t)(now + 1) & l->mask, slot = find_filled(l, from);
    if (slot == SN_NONE)
        slot = find_filled(l, 0);
    return now + 1 + ((slot - from) & l->mask);
}

static void
place_item(sn_timer_wheel *w, uint32_t item, seine_time at)
{
    int64_t ms = ms_of(at), block = ms >> BLOCK_BITS;

    if (ms <= w->ms) {
        seine_err e = sn_heap_put(&w->due, at, item);

        assert(e == SEINE_OK); /* the heap has room for every item */
        (void)e;
    } else if (ms - w->ms < SLOTS) {
        push_item(w, &w->level[0], (uint32_t)ms & (SLOTS - 1), item);
    } else if (block - (w->ms >> BLOCK_BITS) <= BLOCKS) {
        push_item(w, &w->level[1], (uint32_t)block & (BLOCKS - 1), item);
    } else {
        *link_of(w, item) = w->far;
        w->far = item;
        w->far_ms = sn_time_min(w->far_ms, ms);
    }
}

static void
scatter(sn_timer_wheel *w, uint32_t list)
{
    while (list != SN_NONE) {
        uint32_t item = list;

        list = *link_of(w, item);
        place_item(w, item, *time_of(w, item));
    }
}

/*
 * Records lie scattered in memory, so walking a list costs a cache miss per item. While
 * slots are crowded, the wheel prefetches: each item that leaves advances the walk
 * through one of the next four lists by a step. Four misses are then in flight and
 * nothing waits for them. A list only grows at its head until its slot is lifted, and
 * then its walk ends.
 */
static void
fetch(sn_timer_wheel *w, uint32_t walk, uint32_t item)
{
    w->walk[walk] = item;
    if (item != SN_NONE) {
        __builtin_prefetch(link_of(w, item));
        __builtin_prefetch(time_of(w, item)); /* mostly on the same cache line */
    }
}

static void
fetch_slot(sn_timer_wheel *w, int64_t ms)
{
    uint32_t slot = (uint32_t)ms & (SLOTS - 1);
    bool filled = w->level[0].bits[slot >> 6] >> (slot & 63) & 1;

    fetch(w, slot % WALKS, filled ? w->level[0].heads[slot] : SN_NONE);
}

static void
fetch_step(sn_timer_wheel *w)
{
    uint32_t walk = w->step++ % WALKS, item = w->walk[walk];

    if (item != SN_NONE)
        fetch(w, walk, *link_of(w, item));
}

/* A slot was lifted; `on`: the slot before it was the last one lifted. */
static void
fetch_on(sn_timer_wheel *w, bool on)
{
    on = on && w->walking;
    w->walking = w->due.n >= CROWD;
    for (int i = on ? WALKS : 1; w->walking && i <= WALKS; i++)
        fetch_slot(w, w->ms + i);
}

/* The milliseconds at which the next slot, block and turn begin. */
typedef struct edges {
    int64_t slot, block, turn;
} edges;

static edges
ahead(const sn_timer_wheel *w)
{
    edges e = {next_filled(&w->level[0], w->ms),
               next_filled(&w->level[1], w->ms >> BLOCK_BITS), NEVER_MS};

    if (e.block != NEVER_MS)
        e.block <<= BLOCK_BITS;
    if (w->far != SN_NONE)
        e.turn = w->far_ms >> TURN_BITS << TURN_BITS;
    return e;
}

/* Moves the earliest list down. False when none begins up to `upto`, which then becomes
 * the current millisecond. */
static bool
advance(sn_timer_wheel *w, int64_t upto)
{
    if (upto <= w->ms)
        return false;

    edges e = ahead(w);
    if (sn_time_min(e.slot, sn_time_min(e.block, e.turn)) > upto) {
        w->ms = upto;
        return false;
    }
    if (e.turn <= e.block && e.turn <= e.slot) {
        uint32_t list = w->far;

        w->ms = e.turn - 1;
        w->far = SN_NONE;
        w->far_ms = NEVER_MS;
        scatter(w, list);
    } else if (e.block <= e.slot) {
        w->ms = e.block - 1;
        scatter(w, lift(&w->level[1], (uint32_t)(e.block >> BLOCK_BITS) & (BLOCKS - 1)));
    } else {
        bool on = e.slot == w->ms + 1;

        w->ms = e.slot;
        scatter(w, lift(&w->level[0], (uint32_t)e.slot & (SLOTS - 1)));
        fetch_on(w, on);
    }
    return true;
}

seine_err
sn_timer_wheel_init(sn_timer_wheel *w, const sn_timer_wheel_items *items, seine_time now)
{
    if (items->max == SN_NONE)
        return SEINE_E_INVAL;
    slots *s = sn_pages(sizeof *s);
    void *heap = s ? sn_pages(SN_HEAP_BYTES(items->max)) : NULL;
    if (!heap) {
        if (s)
            sn_pages_free(s, sizeof *s);
        return SEINE_E_NOMEM;
    }
    *w = (sn_timer_wheel){
        .items = *items,
        .far = SN_NONE,
        .far_ms = NEVER_MS,
        .ms = ms_of(now),
        .level = {{s->heads0, s->bits0, s->summary0, 0, SLOTS - 1},
                  {s->heads1, s->bits1, s->summary1, 0, BLOCKS - 1}},
        .slots = s,
    };
    sn_heap_init_in(&w->due, heap, items->max);
    return SEINE_OK;
}

static void *
heap_memory(const sn_timer_wheel *w)
{
    return (char *)w->due.entries - SN_HEAP_BYTES(0);
}

void
sn_timer_wheel_fini(sn_timer_wheel *w)
{
    if (w->slots) {
        sn_pages_free(heap_memory(w), SN_HEAP_BYTES(w->items.max));
        sn_pages_free(w->slots, sizeof(slots));
    }
    *w = (sn_timer_wheel){0};
}

/* Heads whose bit is clear are never read. */
void
sn_timer_wheel_reset(sn_timer_wheel *w, seine_time now)
{
    slots *s = w->slots;

    memset(s->bits0, 0, sizeof *s - offsetof(slots, bits0));
    w->level[0].top = w->level[1].top = 0;
    sn_heap_reset(&w->due);
    w->n = 0;
    w->far = SN_NONE;
    w->far_ms = NEVER_MS;
    w->ms = ms_of(now);
    w->walking = false;
}

seine_err
sn_timer_wheel_grow(sn_timer_wheel *w, void *records, uint32_t max)
{
    assert(max >= w->items.max);
    w->items.records = records;
    if (max == w->items.max)
        return SEINE_OK;
    if (max == SN_NONE)
        return SEINE_E_INVAL;

    void *heap = sn_pages(SN_HEAP_BYTES(max)), *old = heap_memory(w);
    if (!heap)
        return SEINE_E_NOMEM;
    size_t n = w->due.n;
    memcpy(heap, old, SN_HEAP_BYTES(n));
    sn_pages_free(old, SN_HEAP_BYTES(w->items.max));
    sn_heap_init_in(&w->due, heap, max);
    w->due.n = n;
    w->items.max = max;
    return SEINE_OK;
}

void
sn_timer_wheel_put(sn_timer_wheel *w, uint32_t item, seine_time at)
{
    assert(item < w->items.max && w->n < w->items.max);
    *time_of(w, item) = at;
    w->n++;
    place_item(w, item, at);
}

uint32_t
sn_timer_wheel_take(sn_timer_wheel *w, seine_time now)
{
    do {
        while (w->due.n > 0) {
            if (sn_heap_when(&w->due) > now)
                return SN_NONE;
            sn_heap_entry first = sn_heap_take(&w->due);
            uint32_t item = (uint32_t)first.item;
            seine_time at = *time_of(w, item);

            if (at <= first.at) {
                w->n--;
                if (w->walking)
                    fetch_step(w);
                return item;
            }
            place_item(w, item, at); /* its time was raised while it waited */
        }
    } while (advance(w, ms_of(now)));
    return SN_NONE;
}

/* The earliest item of a slot, among the first few. An item whose time was raised must
 * not hide the next slot. */
static seine_time
first_of(const sn_timer_wheel *w, int64_t slot)
{
    uint32_t item = w->level[0].heads[slot & (SLOTS - 1)];
    seine_time first = sn_time_add(slot * MS, MS);

    for (int i = 0; item != SN_NONE; i++) {
        if (i == GLANCE)
            return slot * MS;
        first = sn_time_min(first, *time_of(w, item));
        item = *link_of(w, item);
    }
    return first;
}

seine_time
sn_timer_wheel_when(const sn_timer_wheel *w)
{
    if (w->due.n > 0 || w->n == 0)
        return sn_heap_when(&w->due);

    edges e = ahead(w);
    int64_t list = sn_time_min(e.block, e.turn);
    if (list <= e.slot)
        return list * MS;
    return first_of(w, e.slot);
}
