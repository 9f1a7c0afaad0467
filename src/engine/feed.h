/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed.h - what a shard shows of itself: a slice per second and a slice per minute.
 *
 * The shard counts each request as it ends and tells once a turn what is in flight and
 * what URLs wait for; between two turns nothing of that changes, so the sums of time are
 * exact, also over hours of sleep. A second that has ended joins its minute, and both are
 * published: 600 seconds and 1,440 minutes, each in the place that its moment gives it.
 * Whoever looks copies them; a copy that the shard wrote into meanwhile is made again.
 *
 *     sn_feed_request(f, &end);                        the shard, for each request …
 *     if (sn_feed_turn(f, now, &gauges))               … and each turn: a second ended
 *         save(f);
 *     e = sn_feed_copy(f, timeline);                   any thread
 *
 * Time    is passed in; wall time is read once, at the beginning.
 * Memory  2.4 MB, of which a page is touched when its first second has ended.
 * Threads one owner; sn_feed_copy from any thread, without a lock.
 */
#ifndef SN_FEED_H
#define SN_FEED_H

#include <stdatomic.h>

#include "net/transport.h"
#include "store/timeline.h"

#define SN_FEED_WORDS (sizeof(seine_slice) / sizeof(uint64_t))
_Static_assert(sizeof(seine_slice) % sizeof(uint64_t) == 0, "whole words");

/* A slice that one thread writes and others copy: `version` is odd while it changes. */
typedef struct sn_feed_slot {
    _Atomic uint64_t version;
    _Atomic uint64_t words[SN_FEED_WORDS];
} sn_feed_slot;

/* Why nothing starts. */
typedef enum sn_feed_hold {
    SN_HOLD_NONE,
    SN_HOLD_OUTPUT,
    SN_HOLD_MEMORY,
    SN_HOLD_PAUSED
} sn_feed_hold;

/* How the shard stands from the end of this turn to that of the next. */
typedef struct sn_feed_gauges {
    uint64_t in_flight, slots;
    uint64_t waiting[SEINE_WAIT_ROOM];
    sn_feed_hold hold;
    seine_span cpu; /* of its thread, if it was wanted */
} sn_feed_gauges;

typedef struct sn_feed {
    sn_feed_slot *seconds, *minutes; /* NULL: the feed is off */
    seine_slice second, minute;      /* that are under way … */
    seine_slice before; /* … and what another run has done in that second */
    uint64_t sums[SEINE_WAIT_ROOM + 1]; /* of the second, in ns: waits, in flight */
    sn_feed_gauges gauges;
    int64_t offset; /* wall - now */
    seine_time at;  /* up to which all is counted */
    seine_time ends;
    int64_t saved; /* wall time of the first second that is not saved */
} sn_feed;

/* NOMEM. */
SEINE_MUST_CHECK seine_err sn_feed_init(sn_feed *f, seine_time now, int64_t wall);
void sn_feed_fini(sn_feed *f); /* zero is fine */

static inline bool
sn_feed_is_on(const sn_feed *f)
{
    return f->seconds != NULL;
}

/* A request has ended, a record was written; nothing if the feed is off. */
void sn_feed_request(sn_feed *f, const sn_end *end);
void sn_feed_record(sn_feed *f, const seine_record *r);

static inline void
sn_feed_retry(sn_feed *f)
{
    f->second.retries++;
}

/* Does this turn need the time that the thread has had? */
static inline bool
sn_feed_wants_cpu(const sn_feed *f, seine_time now)
{
    return sn_feed_is_on(f) && (now >= f->ends || f->gauges.cpu == 0);
}

/* True: at least one second has ended. */
bool sn_feed_turn(sn_feed *f, seine_time now, const sn_feed_gauges *g);

/* The run is over: what has not ended yet is published as well. */
void sn_feed_end(sn_feed *f, seine_time now);

/* Calls `fn` with the seconds that ended since the last call, and with each minute that
 * they belong to. An error of `fn` ends it. The owner. */
typedef seine_err (*sn_feed_fn)(const seine_slice *s, void *arg);
SEINE_MUST_CHECK seine_err sn_feed_save(sn_feed *f, sn_feed_fn fn, void *arg);

/* A slice that an earlier run has saved, of this shard or of one that there is no more.
 * The owner, before the first turn. */
void sn_feed_restore(sn_feed *f, const seine_slice *s, bool is_own);

/* NOMEM, FULL. Any thread. */
SEINE_MUST_CHECK seine_err sn_feed_copy(const sn_feed *f, seine_timeline *into);

#endif
