/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fetch_watch.h - watch a fetch while it runs: values, never pointers.
 *
 *     e = sn_fetch_watch(f);                                  a console begins to look
 *     if (sn_fetch_snapshot(f, shard, last.seq, &last)) …     four times a second
 *     while (sn_fetch_event(f, shard, &at, &event, &lost)) …
 *     sn_fetch_unwatch(f);
 *
 * Time    of the shards.
 * Memory  1.8 MB a shard, from the first watch on until the fetch is freed.
 * Threads any thread.
 */
#ifndef SN_FETCH_WATCH_H
#define SN_FETCH_WATCH_H

#include "engine/event_ring.h"
#include "engine/host_waits.h"
#include "engine/snapshot.h"
#include "seine/fetch.h"

/* Of a whole fetch. NOMEM. */
SEINE_MUST_CHECK seine_err sn_fetch_watch(seine_fetch *f);
void sn_fetch_unwatch(seine_fetch *f);
uint32_t sn_fetch_shards(const seine_fetch *f);
/* False: nothing newer. */
bool sn_fetch_snapshot(const seine_fetch *f, uint32_t shard, uint64_t seq,
                       sn_snapshot *out);
bool sn_fetch_event(const seine_fetch *f, uint32_t shard, uint64_t *at,
                    sn_watched *out_event, uint64_t *io_lost);

/* As seine_fetch_waits_get, with all that is known of a host. */
bool sn_fetch_rows(const seine_fetch *f, uint64_t ticket, sn_host_row *out, size_t room,
                   size_t *out_n);

#endif
