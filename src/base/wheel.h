/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wheel.h - a million appointments, and which of them is due.
 *
 * An item is the number of a record in an array of the caller; two fields of the
 * record, a link and a time, are the wheel's while the item waits. Level 0 has
 * 65,536 slots of 1 ms, level 1 has 4,096 slots of 1.024 s, and what is more than
 * 70 minutes away waits in one list. A slot is the head of a list; a bitmap with
 * two summaries finds the next filled one in three steps. Due times are exact all
 * the same: when a slot of level 0 becomes the current millisecond its items move
 * to a small heap, and from there they leave ordered by nanoseconds.
 *
 *     sn_wheel w;
 *     e = sn_wheel_init(&w, &SN_WHEEL_ITEMS(hosts, link, next, max), now);
 *     sn_wheel_put(&w, 7, now + SEINE_MS(200));
 *     while ((i = sn_wheel_take(&w, now)) != SN_NONE)
 *         start(&hosts[i]);
 *     sleep_until(sn_wheel_when(&w));
 *
 * Nothing leaves early, not by a nanosecond. Nothing is removed from the middle:
 * whoever raises the time of a waiting record finds it put back, not taken, when
 * its first moment comes. A time that is lowered is not noticed.
 *
 * Time    is passed in; one that stands or steps back delays.
 * Memory  282 KiB, and 16 bytes an item, touched only as far as items share one
 *         millisecond. All of it is there after init: put cannot fail.
 * Threads one owner.
 */
#ifndef SN_WHEEL_H
#define SN_WHEEL_H

#include "base/heap.h"

#define SN_NONE UINT32_MAX /* no item */

/* Where the wheel finds the link and the time of item i: in records[i]. */
typedef struct sn_wheel_items {
    void *records;
    size_t stride;
    size_t link; /* offset of a uint32_t */
    size_t time; /* offset of a seine_time */
    uint32_t max;
} sn_wheel_items;

#define SN_WHEEL_ITEMS(array, link_field, time_field, n)                        \
    ((sn_wheel_items){(array), sizeof *(array),                                 \
                      (size_t)((char *)&(array)->link_field - (char *)(array)), \
                      (size_t)((char *)&(array)->time_field - (char *)(array)), (n)})

typedef struct sn_wheel_level {
    uint32_t *heads;
    uint64_t *bits, *summary; /* a bit per slot; a bit per word of bits */
    uint64_t top;             /* a bit per word of summary */
    uint32_t mask;            /* slots - 1 */
} sn_wheel_level;

typedef struct sn_wheel {
    sn_wheel_items items;
    uint32_t n;     /* items waiting */
    uint32_t far;   /* list of what is beyond level 1 */
    int64_t far_ms; /* no item of it is earlier */
    int64_t ms;     /* the current millisecond; up to here all is in `due` */
    sn_wheel_level level[2];
    sn_heap due;
    uint32_t walk[4]; /* where the walks through the next four slots are */
    uint32_t step;    /* which of them goes on next */
    bool walking;
    void *slots; /* the levels' memory */
} sn_wheel;

/* Items are 0 … max - 1. NOMEM; INVAL: max is SN_NONE. */
SEINE_MUST_CHECK seine_err sn_wheel_init(sn_wheel *w, const sn_wheel_items *items,
                                         seine_time now);
void sn_wheel_fini(sn_wheel *w);

/* As just initialised at `now`: what waited is forgotten. */
void sn_wheel_reset(sn_wheel *w, seine_time now);

/* The array has moved or may hold more: `max` is not less than before. NOMEM, and
 * the old bounds hold; the old array is needed no more in either case. */
SEINE_MUST_CHECK seine_err sn_wheel_grow(sn_wheel *w, void *records, uint32_t max);

/* The item waits until `at`. It does not wait already. */
void sn_wheel_put(sn_wheel *w, uint32_t item, seine_time at);

/* An item with at <= now, the earliest first, or SN_NONE. */
uint32_t sn_wheel_take(sn_wheel *w, seine_time now);

/* For whoever wants to prepare: item 0 is the next to leave, 1 to 4 are among the next
 * few; SN_NONE: so many are not near. */
static inline uint32_t
sn_wheel_peek(const sn_wheel *w, uint32_t i)
{
    return w->due.n > i ? (uint32_t)w->due.entries[i].item : SN_NONE;
}

/* The next moment to look again, never after the next item is due; SEINE_NEVER
 * when empty. It is that item's own moment when it is near and almost alone in its
 * millisecond, or else when the slot begins. */
seine_time sn_wheel_when(const sn_wheel *w);

#endif
