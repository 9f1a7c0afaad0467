/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_ring.h - what happened in a shard, for one who watches: failures, skips, events
 * of hosts.
 *
 * The shard writes each event into the next of 4,096 places and never waits; it
 * overwrites what nobody has read. Each event has a number, so a reader that was too slow
 * sees the gap and counts it.
 *
 *     sn_event_ring_put(&ring, &event);                       the shard
 *     while (sn_event_ring_next(&ring, &at, &event, &lost))   the console, from its place
 *         show(&event);
 *
 * Time    is passed in.
 * Memory  1.7 MB; the texts of an event are cut to their places.
 * Threads put: one owner; next: any thread, each with a place of its own.
 */
#ifndef SN_EVENT_RING_H
#define SN_EVENT_RING_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/str.h"
#include "seine/err.h"

enum { SN_EVENT_RING_SLOTS = 4096 };

typedef enum sn_watched_kind {
    SN_WATCHED_HOST = 1, /* something happened to a host: its name says what */
    SN_WATCHED_FAILURE,  /* a URL has ended without success */
    SN_WATCHED_SKIP      /* a URL was not asked for */
} sn_watched_kind;

typedef struct sn_watched {
    uint64_t number; /* 1 is the first */
    int64_t wall;
    uint32_t kind; /* sn_watched_kind */
    uint32_t code; /* a seine_err, of a skip a seine_skip */
    uint32_t attempts;
    uint32_t status;
    char name[24];  /* of an event of a host: "breaker.open" */
    char host[104]; /* "e.example:8080" */
    char text[248]; /* the URL, of a skip its rule behind it after a space */
} sn_watched;

#define SN_WATCHED_WORDS (sizeof(sn_watched) / sizeof(uint64_t))
_Static_assert(sizeof(sn_watched) % sizeof(uint64_t) == 0, "whole words");

typedef struct sn_event_slot {
    _Atomic uint64_t version; /* twice the number of what it holds; odd: it changes */
    _Atomic uint64_t words[SN_WATCHED_WORDS];
} sn_event_slot;

typedef struct sn_event_ring {
    _Atomic uint64_t written; /* the number of the newest */
    sn_event_slot slots[SN_EVENT_RING_SLOTS];
} sn_event_ring;

_Static_assert(sizeof(sn_event_ring) <= 1740 * 1024, "1.7 MB");

/* Gives it its number. */
void sn_event_ring_put(sn_event_ring *r, sn_watched *io_event);

/* The event behind number *at, which moves on. False: there is none. *io_lost grows by
 * those that were overwritten before they were read. */
bool sn_event_ring_next(const sn_event_ring *r, uint64_t *at, sn_watched *out_event,
                        uint64_t *io_lost);

/* Writes a text into a place of that size, whole UTF-8 characters only. */
void sn_watched_text(char *to, size_t cap, sn_str text);

#endif
