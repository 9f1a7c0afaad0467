/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_ping.h - do the shards of a fetch still turn?
 *
 * A ping is an errand for each shard (engine/run.h). A shard that turns does it at once,
 * an idle one wakes for it; one that hangs, in an output that blocks or in a bug, does
 * not. The ping goes with the last of its owners, so the fetch may end meanwhile.
 *
 *     e = sn_shard_ping_send(f, &ping);
 *     bool all = sn_shard_ping_missing(ping) == 0;            a moment later
 *     sn_shard_ping_drop(ping);
 *
 * Time    plays no part: the caller knows when it has sent it.
 * Memory  some bytes a shard.
 * Threads send while the fetch lives; missing and drop: one owner.
 */
#ifndef SN_SHARD_PING_H
#define SN_SHARD_PING_H

#include "seine/fetch.h"

typedef struct sn_shard_ping sn_shard_ping;

SEINE_MUST_CHECK seine_err sn_shard_ping_send(seine_fetch *f, sn_shard_ping **out_ping);
uint32_t sn_shard_ping_missing(const sn_shard_ping *p); /* shards that did not answer */
void sn_shard_ping_drop(sn_shard_ping *p);              /* NULL is fine */

#endif
