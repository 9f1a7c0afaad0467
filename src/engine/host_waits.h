/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_waits.h - what do the hosts of a shard wait for? Whoever watches a run asks.
 *
 * As with slowest.h: the question leaves a wish, the shard looks at a few thousand hosts
 * a turn and leaves an answer, of the hosts with most URLs or by another number. When
 * nobody asks, the shard does nothing.
 *
 *     sn_host_waits_ask(&w, ticket, NULL);             anybody
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

/* A host as pages show it. */
typedef struct sn_host_row {
    seine_fetch_wait wait;
    uint32_t host;          /* its number in the shard */
    uint32_t tokens, burst; /* of its limiter; burst 0: it has no limit */
    uint8_t robots;         /* sn_robots_says: about its front page */
} sn_host_row;

typedef struct sn_host_waits {
    _Atomic uint64_t wanted; /* the newest ticket */
    seine_fetch_look wish;   /* guarded */
    seine_fetch_look how;    /* the one that is being answered looks so */
    uint64_t looking;        /* the one that is being answered; 0: none */
    uint32_t at;             /* host the next look begins at */
    sn_host_row *best;       /* of those before it */
    size_t n;
    pthread_mutex_t lock;
    uint64_t answered; /* guarded, and … */
    sn_host_row *shown;
    size_t n_shown;
    seine_fetch_sort sort_shown;
} sn_host_waits;

void sn_host_waits_init(sn_host_waits *w);
void sn_host_waits_fini(sn_host_waits *w);

/* `look` NULL: hosts with work, those with most URLs first. */
void sn_host_waits_ask(sn_host_waits *w, uint64_t ticket, const seine_fetch_look *look);
/* True: there is more to look at, in the next turn. */
bool sn_host_waits_turn(sn_host_waits *w, const sn_scheduler *s, const sn_frontier *f,
                        seine_time now);
/* False: not answered yet. `out` has room for SN_HOST_WAITS. */
bool sn_host_waits_get(sn_host_waits *w, uint64_t ticket, seine_fetch_wait *out,
                       size_t *out_n);

/* The same with all that is known. */
bool sn_host_waits_rows(sn_host_waits *w, uint64_t ticket, sn_host_row *out,
                        size_t *out_n);

/* What is known of one host. False: there is no such host. */
bool sn_host_row_of(const sn_scheduler *s, const sn_frontier *f, uint32_t host,
                    seine_time now, sn_host_row *out);

/* By that number, the greatest first; equal ones by name. */
int sn_host_waits_compare(const seine_fetch_wait *a, const seine_fetch_wait *b,
                          seine_fetch_sort sort);
seine_fetch_sort sn_host_waits_sort(sn_host_waits *w); /* of the newest answer */

#endif
