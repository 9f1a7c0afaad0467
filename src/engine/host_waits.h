/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_waits.h - what do the hosts of a shard wait for? Whoever watches a run asks.
 *
 * As with slowest.h: the question leaves a wish, the shard looks at a few thousand hosts
 * a turn and leaves an answer, of the hosts with most URLs. When nobody asks, the shard
 * does nothing.
 *
 *     sn_host_waits_ask(&w, ticket);                   anybody
 *     sn_host_waits_turn(&w, scheduler, frontier, now);         the shard, each turn
 *     is_answered = sn_host_waits_get(&w, ticket, list, &n);   anybody
 *
 * Time    is passed in.
 * Memory  SN_HOST_WAITS hosts, from the first question on.
 * Threads turn: one owner; ask, get: any thread.
 */
#ifndef SN_HOST_WAITS_H
#define SN_HOST_WAITS_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/frontier.h"
#include "engine/scheduler.h"
#include "seine/fetch_control.h"

enum { SN_HOST_WAITS = 256, SN_HOST_WAITS_LOOK = 4096 };

typedef struct sn_host_waits {
    _Atomic uint64_t wanted; /* the newest ticket */
    uint64_t looking;        /* the one that is being answered; 0: none */
    uint32_t at;             /* host the next look begins at */
    seine_fetch_wait *best;  /* of those before it */
    size_t n;
    pthread_mutex_t lock;
    uint64_t answered; /* guarded, and … */
    seine_fetch_wait *shown;
    size_t n_shown;
} sn_host_waits;

void sn_host_waits_init(sn_host_waits *w);
void sn_host_waits_fini(sn_host_waits *w);

void sn_host_waits_ask(sn_host_waits *w, uint64_t ticket);
/* True: there is more to look at, in the next turn. */
bool sn_host_waits_turn(sn_host_waits *w, const sn_scheduler *s, const sn_frontier *f,
                        seine_time now);
/* False: not answered yet. `out` has room for SN_HOST_WAITS. */
bool sn_host_waits_get(sn_host_waits *w, uint64_t ticket, seine_fetch_wait *out,
                       size_t *out_n);

#endif
