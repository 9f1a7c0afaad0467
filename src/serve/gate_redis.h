/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate_redis.h - the shared budget of a gate, on the loop of its server.
 *
 *     e = sn_gate_redis_new(&loop, &opts, &redis, &diag);
 *     sn_gate_redis_wait(redis, SEINE_SECS(1));       before the first request
 *     sn_gate_redis_try(redis, &call);                call.done: now or in a later turn
 *
 * Time    the loop's.
 * Threads one owner: the loop's.
 */
#ifndef SN_GATE_REDIS_H
#define SN_GATE_REDIS_H

#include "net/loop.h"
#include "serve/shared_budget.h"

typedef struct sn_gate_redis sn_gate_redis;

typedef struct sn_gate_redis_opts {
    const char *url;
    seine_span timeout; /* of one decision */
    seine_log *log;
} sn_gate_redis_opts;

/* CONFIG: the diag says what is wrong with the URL; NOMEM, NO_FILES. */
SEINE_MUST_CHECK seine_err sn_gate_redis_new(sn_loop *loop,
                                             const sn_gate_redis_opts *opts,
                                             sn_gate_redis **out_redis, seine_diag *diag);
/* Takes leave of the others; calls that wait are done. */
void sn_gate_redis_free(sn_gate_redis *g);

/* Turns the loop until the server has answered or refused, or `patience` is over. */
void sn_gate_redis_wait(sn_gate_redis *g, seine_span patience);

void sn_gate_redis_try(sn_gate_redis *g, sn_budget_call *call);

void sn_gate_redis_stats(const sn_gate_redis *g, sn_shared_budget_stats *out_stats);

#endif
