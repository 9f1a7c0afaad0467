/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.h - how does a shard stand right now? A value that one thread writes and one
 * reads.
 *
 * A shard that is watched publishes one snapshot every 250 ms: plain numbers, no
 * pointers. The writer never waits and never allocates; a reader that meets a write looks
 * again, a few times, and otherwise keeps what it has.
 *
 *     sn_snapshot_publish(&slot, &snapshot);             the shard
 *     if (sn_snapshot_read(&slot, last.seq, &last))      the console: it is a newer one
 *         show(&last);
 *
 * Latencies are cumulative counts in 672 bins, 32 for each power of two from 64 us to
 * 134 s, so that a percentile of the difference of two snapshots is at most 3.2 % off.
 *
 * Time    is passed in.
 * Memory  a plain value of 6 KiB, and the same for the slot.
 * Threads publish: one owner; read: any thread.
 */
#ifndef SN_SNAPSHOT_H
#define SN_SNAPSHOT_H

#include <stdatomic.h>
#include <stdbool.h>

#include "seine/breaker.h"
#include "seine/tally.h"
#include "seine/time.h"

enum {
    SN_SNAPSHOT_STEPS = 32, /* bins per power of two … */
    SN_SNAPSHOT_BINS = 672  /* … from 2^16 ns on */
};

typedef struct sn_snapshot {
    uint64_t seq; /* 1 is the first */
    seine_time at;
    seine_fetch_stats stats; /* of the shard: of URLs that are given it knows nothing */
    uint64_t slots;          /* requests that may be in flight, of all shards */
    uint64_t attempts[6];    /* that ended, by status: none, 1xx … 5xx */
    uint64_t busy_ns;        /* time that the thread has worked; 0: not known */
    uint64_t sink_full_ns;   /* time in which outputs were full, so nothing started */
    uint64_t memory_used, memory_cap;        /* of all shards */
    uint64_t breakers_open, breakers_probed; /* hosts; probed: half open */
    uint64_t latency[SN_SNAPSHOT_BINS];      /* attempts by how long they took */
} sn_snapshot;

#define SN_SNAPSHOT_WORDS (sizeof(sn_snapshot) / sizeof(uint64_t))
_Static_assert(sizeof(sn_snapshot) % sizeof(uint64_t) == 0, "whole words");
_Static_assert(sizeof(sn_snapshot) <= 6 * 1024, "6 KiB");

typedef struct sn_snapshot_slot {
    _Atomic uint64_t version; /* odd while it changes; 0: nothing was ever written */
    _Atomic uint64_t words[SN_SNAPSHOT_WORDS];
} sn_snapshot_slot;

void sn_snapshot_publish(sn_snapshot_slot *slot, const sn_snapshot *s);

/* False: there is nothing newer than `seq`, or it is being written. */
bool sn_snapshot_read(const sn_snapshot_slot *slot, uint64_t seq, sn_snapshot *out);

/* Which bin counts a request that took so long. */
unsigned sn_snapshot_bin(seine_span took);
/* The longest span that the bin counts. */
seine_span sn_snapshot_bin_end(unsigned bin);

/* The span at or below which so many percent of the requests lie that ended between two
 * snapshots, or two sums of snapshots; 0: there was none. */
seine_span sn_snapshot_percentile(const uint64_t before[SN_SNAPSHOT_BINS],
                                  const uint64_t after[SN_SNAPSHOT_BINS],
                                  unsigned percent);

#endif
