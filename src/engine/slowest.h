/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slowest.h - which host of a shard keeps the run longest? The ETA asks.
 *
 * Hosts belong to their shard, and another thread asks. The question leaves a wish; the
 * shard looks at a few thousand hosts a turn and leaves an answer. When nobody asks, the
 * shard does nothing.
 *
 *     sn_slowest_turn(&s, scheduler, now);        the shard, each turn
 *     sn_slowest_get(&s, &slowest);               anybody: the answer to earlier wishes
 *
 * Time    is passed in.
 * Memory  a plain value.
 * Threads turn: one owner; get: any thread.
 */
#ifndef SN_SLOWEST_H
#define SN_SLOWEST_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/scheduler.h"

enum { SN_SLOWEST_LOOK = 4096 }; /* hosts a turn */

typedef struct sn_slowest {
    _Atomic bool is_wanted;
    seine_time next;          /* no look before */
    uint32_t at;              /* host the next look begins at */
    seine_fetch_slowest best; /* of those before it */
    pthread_mutex_t lock;
    seine_fetch_slowest shown; /* guarded: of all, a while ago */
} sn_slowest;

void sn_slowest_init(sn_slowest *s);
void sn_slowest_fini(sn_slowest *s);

void sn_slowest_turn(sn_slowest *s, const sn_scheduler *scheduler, seine_time now);

/* Writes the answer if it is longer than io_slowest->left, and wishes for a new one. */
void sn_slowest_get(sn_slowest *s, seine_fetch_slowest *io_slowest);

#endif
