/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timer_wheel.h - a timer wheel: which of a million items is due?
 *
 * An item is the index of a record in the caller's array; two fields of the record, a
 * link and a time, belong to the wheel while the item waits. Level 0 has 65,536 slots of
 * 1 ms, level 1 has 4,096 slots of 1.024 s, and one list holds items more than 70 minutes
 * away. A slot is the head of a list; a bitmap with two summaries finds the next filled
 * slot in three steps. Due times are exact: when a slot of level 0 becomes the current
 * millisecond, its items move to a small heap and leave it in order of nanoseconds.
 *
 *     struct { uint32_t link; seine_time next; } all[1000], *hosts = all;
 *     sn_timer_wheel w;
 *     e = sn_timer_wheel_init(&w, &SN_TIMER_WHEEL_ITEMS(hosts, link, next, 1000), now);
 *     sn_timer_wheel_put(&w, 7, now + SEINE_MS(200));
 *     while ((i = sn_timer_wheel_take(&w, now)) != SN_NONE)
 *         start(&hosts[i]);
 *     sleep_until(sn_timer_wheel_when(&w));
 *
 * No item leaves early, not by a nanosecond. The wheel removes nothing from the middle.
 * The caller may raise the time of a waiting record: the wheel then puts it back when its
 * old time comes. The wheel does not notice a time that is lowered.
 *
 * Time    is passed in; a clock that stops or steps back delays items.
 * Memory  282 KiB, and 16 bytes an item, touched only as far as items share one
 *         millisecond. Init takes all of it: put cannot fail.
 * Threads one owner.
 */
#ifndef SN_TIMER_WHEEL_H
#define SN_TIMER_WHEEL_H

#include "base/heap.h"

#define SN_NONE UINT32_MAX /* no item */

/* Where the wheel finds the link and the time of item i: in records[i]. */
typedef struct sn_timer_wheel_items {
    void *records;
    size_t stride;
    size_t link; /* offset of a uint32_t */
    size_t time; /* offset of a seine_time */
    uint32_t max;
} sn_timer_wheel_items;

#define SN_TIMER_WHEEL_ITEMS(array, link_field, time_field, n)                        \
    ((sn_timer_wheel_items){(array), sizeof *(array),                                 \
                            (size_t)((char *)&(array)->link_field - (char *)(array)), \
                            (size_t)((char *)&(array)->time_field - (char *)(array)), \
                            (n)})

typedef struct sn_timer_wheel_level {
    uint32_t *heads;
    uint64_t *bits, *summary; /* a bit per slot; a bit per word of bits */
    uint64_t top;             /* a bit per word of summary */
    uint32_t mask;            /* slots - 1 */
} sn_timer_wheel_level;

typedef struct sn_timer_wheel {
    sn_timer_wheel_items items;
    uint32_t n;     /* items waiting */
    uint32_t far;   /* list of items beyond level 1 */
    int64_t far_ms; /* no item of the far list is earlier */
    int64_t ms;     /* the current millisecond; `due` holds all items up to here */
    sn_timer_wheel_level level[2];
    sn_heap due;
    uint32_t walk[4]; /* positions in the lists of the next four slots */
    uint32_t step;    /* the walk that advances next */
    bool walking;
    void *slots; /* the levels' memory */
} sn_timer_wheel;

/* Items are 0 … max - 1. NOMEM; INVAL: max is SN_NONE. */
SEINE_MUST_CHECK seine_err sn_timer_wheel_init(sn_timer_wheel *w,
                                               const sn_timer_wheel_items *items,
                                               seine_time now);
void sn_timer_wheel_fini(sn_timer_wheel *w);

/* As just initialised at `now`; forgets all waiting items. */
void sn_timer_wheel_reset(sn_timer_wheel *w, seine_time now);

/* The array has moved or grown: `max` must not shrink. On NOMEM the old bounds hold. The
 * old array is not needed any more in either case. */
SEINE_MUST_CHECK seine_err sn_timer_wheel_grow(sn_timer_wheel *w, void *records,
                                               uint32_t max);

/* The item waits until `at`. The item must not be waiting already. */
void sn_timer_wheel_put(sn_timer_wheel *w, uint32_t item, seine_time at);

/* Removes and returns the earliest item with at <= now, or SN_NONE. */
uint32_t sn_timer_wheel_take(sn_timer_wheel *w, seine_time now);

/* A hint for prefetching: 0 gives the next item to leave, 1 to 4 give items among the
 * next few; SN_NONE when fewer are near. */
static inline uint32_t
sn_timer_wheel_peek(const sn_timer_wheel *w, uint32_t i)
{
    return w->due.n > i ? (uint32_t)w->due.entries[i].item : SN_NONE;
}

/* When to call take again, never later than the next item is due; SEINE_NEVER when empty.
 * This is the exact time of an item that is near and almost alone in its millisecond,
 * else the start of its slot. */
seine_time sn_timer_wheel_when(const sn_timer_wheel *w);

#endif
