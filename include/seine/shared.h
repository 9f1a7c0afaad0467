/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shared.h - one token bucket for many threads: decide at once, or wait in a queue.
 *
 * The same bucket as limiter.h in one atomic word: a decision is one
 * compare-and-swap. Fifty a second, a hundred at once, from any thread:
 *
 *     seine_shared *lim;
 *     seine_shared_opts opts = SEINE_SHARED_OPTS;
 *     if (seine_shared_new(&opts, now, &lim) != SEINE_OK)
 *         return usage();
 *     seine_err e = SEINE_OK;
 *     if (!seine_shared_allow(lim, now, 1))                 too fast now
 *         e = seine_shared_wait(lim, ctx, 1, SEINE_SECS(2));
 *     if (e != SEINE_OK)
 *         return e;
 *
 * Waiters queue, first come first served, and hold no reservation: a waiter that leaves
 * gives up only its own place, and all behind it move up. While a thread waits, no other
 * overtakes it: allow returns false and reserve LIMITED. Only the head of the queue has a
 * timer, so a grant wakes one thread. A wait that would end at or after the deadline
 * fails at once and takes nothing.
 *
 * A NULL limiter is switched off: it admits everything.
 *
 * Time    is passed in; seine_shared_wait reads the clock of its ctx.
 * Memory  one object of three cache lines; waiters live on their own stacks.
 * Threads any thread. Free it after the last call has returned; close it to make
 *         waiting calls return.
 */
#ifndef SEINE_SHARED_H
#define SEINE_SHARED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/ctx.h"
#include "seine/err.h"
#include "seine/limiter.h"
#include "seine/time.h"

typedef struct seine_shared seine_shared;

typedef struct seine_shared_opts {
    size_t size; /* of this struct: SEINE_SHARED_OPTS sets it */
    seine_rate rate;
    int64_t initial; /* tokens at the `now` of new: SEINE_FULL, 0 is empty */
    uint32_t max_waiters;
} seine_shared_opts;

#define SEINE_SHARED_OPTS                                                      \
    {                                                                          \
        sizeof(seine_shared_opts), {50, SEINE_SECS(1), 100}, SEINE_FULL, 65536 \
    }

/* What a client may want to know about its limit, e.g. for RateLimit headers. */
typedef struct seine_grant {
    uint32_t limit;         /* the burst */
    uint32_t left;          /* whole tokens left now */
    seine_span retry_after; /* granted: until the tokens may be used, 0 = now;
                             * refused: until a retry can help */
    seine_span reset_after; /* until the bucket is full */
    seine_time mark;        /* for undo */
} seine_grant;

typedef struct seine_limiter_stats {
    uint32_t capacity, waiters;
    double refill_rate, tokens; /* per second; now, with fractions */
    uint64_t allowed, denied, waited, canceled;
    seine_span waited_total;
} seine_limiter_stats;

SEINE_BEGIN

/* INVAL: a rate that seine_limiter_init_rate refuses. */
SEINE_MUST_CHECK seine_err seine_shared_new(const seine_shared_opts *opts, seine_time now,
                                            seine_shared **out_lim);
void seine_shared_free(seine_shared *lim);

/* Refuses every later call; waiters return CLOSED. */
void seine_shared_close(seine_shared *lim);

/* Takes `n` tokens, or nothing. n = 0 changes and counts nothing; it is true unless the
 * bucket is paused, closed or has waiters. Lock-free. */
bool seine_shared_allow(seine_shared *lim, seine_time now, uint32_t n);

/* The same, with the reason of a refusal: OK, LIMITED, RANGE (more than the burst), INVAL
 * (n < 1), CLOSED. OK, LIMITED and RANGE write *out_grant, which may be NULL. */
SEINE_MUST_CHECK seine_err seine_shared_try(seine_shared *lim, seine_time now, int64_t n,
                                            seine_grant *out_grant);

/* Takes tokens that may be used retry_after from now, unless that is after
 * `latest`: LIMITED, nothing taken. Otherwise as try. */
SEINE_MUST_CHECK seine_err seine_shared_reserve(seine_shared *lim, seine_time now,
                                                int64_t n, seine_time latest,
                                                seine_grant *out_grant);

/* Gives `n` tokens back while the grant with that mark is still the newest. */
bool seine_shared_undo(seine_shared *lim, seine_time mark, uint32_t n);

/* Waits for `n` tokens. Fails at once and takes nothing: INVAL, RANGE, the ctx's cause,
 * CLOSED, DEADLINE (the wait would end at or after the deadline), LIMITED (it would take
 * longer than max_wait; SEINE_NEVER: no bound), FULL (max_waiters). */
SEINE_MUST_CHECK seine_err seine_shared_wait(seine_shared *lim, seine_ctx *ctx, int64_t n,
                                             seine_span max_wait);

/* Keeps the tokens and a pause. Waiters see the new rate at once. */
SEINE_MUST_CHECK seine_err seine_shared_set_rate(seine_shared *lim, seine_time now,
                                                 const seine_rate *rate);

/* Grants nothing before `until`, at most one token at `until`, then one per interval. */
void seine_shared_pause(seine_shared *lim, seine_time until);

/* Fills the bucket and lifts a pause. */
void seine_shared_reset(seine_shared *lim, seine_time now);

void seine_shared_stats_get(const seine_shared *lim, seine_time now,
                            seine_limiter_stats *out_stats);

SEINE_END

#endif
