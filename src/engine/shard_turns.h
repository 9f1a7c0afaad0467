/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shard_turns.h - which shard does a host belong to?
 *
 * A hash spreads many hosts well and few of them badly: of eight hosts and two shards one
 * shard gets five or more in three runs of four, and the other one waits for it. So the
 * first 256 hosts take turns, and the hash decides about the others. What was decided
 * once holds for the whole run.
 *
 *     shard = sn_shard_turns_of(t, hash, n);
 *
 * Time    plays no part.
 * Memory  4 KiB.
 * Threads any thread; who meets a new host among the first takes a lock.
 */
#ifndef SN_SHARD_TURNS_H
#define SN_SHARD_TURNS_H

#include "seine/err.h"

enum { SN_SHARD_TURNS = 256 }; /* hosts that take turns */

typedef struct sn_shard_turns sn_shard_turns;

/* NOMEM. */
SEINE_MUST_CHECK seine_err sn_shard_turns_new(sn_shard_turns **out_turns);
void sn_shard_turns_free(sn_shard_turns *t); /* NULL is fine */

/* The shard of the host with that hash, of `n`, at most 256. */
uint32_t sn_shard_turns_of(sn_shard_turns *t, uint64_t hash, uint32_t n);

#endif
