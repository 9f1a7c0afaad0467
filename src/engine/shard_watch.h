/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_watch.h - what a shard shows to one who watches it, and nothing while nobody
 * does.
 *
 * Who watches a fetch (fetch_watch.h) gets a snapshot of each shard every 250 ms and the
 * events of each shard in a ring. A shard that nobody watches reads one pointer per
 * request for it; the memory comes with the first who watches, and stays.
 *
 *     sn_shard_watch *w = sn_shard_watch_of(&place);          NULL: nobody looks
 *     if (w)
 *         sn_shard_watch_request(w, &end);
 *
 * Time    is passed in.
 * Memory  1.8 MB a shard, from the first watch on.
 * Threads the shard.
 */
#ifndef SN_SHARD_WATCH_H
#define SN_SHARD_WATCH_H

#include "engine/event_ring.h"
#include "engine/feed.h"
#include "engine/snapshot.h"
#include "seine/fetch.h"

#define SN_SHARD_WATCH_EVERY SEINE_MS(250)

typedef struct sn_shard_watch {
    _Atomic bool is_on;
    sn_snapshot own; /* the shard's */
    seine_time due;  /* of the next snapshot */
    seine_time last; /* turn */
    sn_feed_hold hold;
    sn_snapshot_slot slot;
    sn_event_ring ring;
} sn_shard_watch;

/* Where a shard has its watch; NULL: nobody ever watched it. */
typedef _Atomic(sn_shard_watch *) sn_shard_watch_place;

/* The watch if somebody looks, else NULL. */
static inline sn_shard_watch *
sn_shard_watch_of(sn_shard_watch_place *place)
{
    sn_shard_watch *w = atomic_load_explicit(place, memory_order_acquire);

    return w && atomic_load_explicit(&w->is_on, memory_order_relaxed) ? w : NULL;
}

/* What a turn tells beside the counts of the shard. */
typedef struct sn_shard_watch_facts {
    const seine_fetch_stats *stats;
    uint64_t slots, memory_used, memory_cap;
    uint64_t breakers_open, breakers_probed;
    sn_feed_hold hold;
    seine_span (*cpu)(void *arg); /* asked when a snapshot is made; NULL: not known */
    void *arg;
} sn_shard_watch_facts;

void sn_shard_watch_request(sn_shard_watch *w, const sn_end *end);
void sn_shard_watch_record(sn_shard_watch *w, const seine_record *r);
void sn_shard_watch_event(sn_shard_watch *w, const seine_event *e, int64_t wall);
void sn_shard_watch_turn(sn_shard_watch *w, seine_time now,
                         const sn_shard_watch_facts *facts);

/* When the shard has to wake to publish; NEVER: nobody looks. */
seine_time sn_shard_watch_due(sn_shard_watch_place *place);

#endif
