/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttle.h - how many may be at it at the same time?
 *
 * Whoever wants to begin takes a slot and gives it back when done. A semaphore
 * has a fixed number of slots; the null throttle has no end of them and only
 * counts; an adaptive one finds the number by itself: starting at 2, one more
 * after each full round of successes, a tenth less when a call fails or is slow.
 * Three at once:
 *
 *     seine_throttle t;
 *     seine_slot slot;
 *     if (seine_throttle_init_semaphore(&t, 3) != SEINE_OK)
 *         return usage();
 *     if (seine_throttle_try(&t, now, &slot)) {
 *         work();
 *         seine_err e = seine_throttle_release(&slot, SEINE_SUCCESS, now);
 *     }
 *
 * Who cannot begin may wait: first come, first served. A slot that comes free is
 * handed to the head of the queue, and as long as anybody waits seine_throttle_try
 * takes nothing. A limit that shrinks revokes nothing: no slot is granted until
 * fewer are out than it now allows. A NULL throttle is off: it admits.
 *
 * Time    is passed in; seine_throttle_wait reads the clock of its ctx.
 * Memory  32 bytes, the caller's. Null and semaphore allocate nothing, an adaptive
 *         one its state; the queue is allocated by the first who waits.
 * Threads any thread; init and fini belong to one. Without waiters try and release
 *         are one atomic exchange each. A slot has one owner.
 */
#ifndef SEINE_THROTTLE_H
#define SEINE_THROTTLE_H

#include <stdbool.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/ctx.h"
#include "seine/err.h"
#include "seine/outcome.h"
#include "seine/time.h"

typedef struct seine_throttle seine_throttle;

typedef struct seine_slot {
    seine_throttle *of; /* NULL: not held */
    seine_time start;
} seine_slot;

/* A strategy of your own. All are called without a lock and from any thread;
 * sample and fini may be NULL. */
typedef struct seine_throttle_ops {
    /* How many at once now. Asked before every grant; when it rises by itself,
     * those who wait notice at the next release or wait. */
    uint32_t (*limit)(void *self);
    /* A slot comes back; `in_flight` still counts it. */
    void (*sample)(void *self, seine_outcome how, seine_time start, seine_time now,
                   uint32_t in_flight);
    void (*fini)(void *self);
} seine_throttle_ops;

struct seine_throttle { /* private */
    const seine_throttle_ops *ops;
    void *self, *queue;
    uint32_t in_flight, peak;
};

typedef struct seine_adapt_opts {
    uint32_t initial, min, max; /* 2, 1, 16; 1 <= min <= initial <= max */
    bool gradient;              /* false: AIMD; true: follows the latency */
    seine_span slow;            /* NEVER; > 0: a longer call counts as a failure */
} seine_adapt_opts;

#define SEINE_ADAPT_OPTS             \
    {                                \
        2, 1, 16, false, SEINE_NEVER \
    }

typedef struct seine_pace_opts {
    seine_span min, max;
    uint32_t target; /* calls that may be under way at once; 0: keeps the delay */
} seine_pace_opts;

SEINE_BEGIN

/* Unlimited; still counts. */
void seine_throttle_init_null(seine_throttle *t);

/* INVAL for 0, and `t` untouched. More than 2^31 - 1 is 2^31 - 1, here and in any
 * other limit. */
SEINE_MUST_CHECK seine_err seine_throttle_init_semaphore(seine_throttle *t,
                                                         uint32_t permits);

/* AIMD: a failure, or longer than `slow`, lowers the limit to nine tenths, rounded
 * down, if its slot was taken after the last time that happened; `limit` successes
 * while at least half of it was in use raise it by one. With `gradient` successes
 * set it by how much longer they take than usual. INVAL, NOMEM. */
SEINE_MUST_CHECK seine_err seine_throttle_init_adaptive(seine_throttle *t,
                                                        const seine_adapt_opts *opts);

void seine_throttle_init_custom(seine_throttle *t, const seine_throttle_ops *ops,
                                void *self);

/* Nobody waits and no slot is out; NULL and zeroed memory are fine. */
void seine_throttle_fini(seine_throttle *t);

/* True: the slot is held. False: as many as allowed are out, or somebody waits. */
bool seine_throttle_try(seine_throttle *t, seine_time now, seine_slot *out_slot);

/* Waits for a slot until the ctx is done: its cause, DEADLINE, or NOMEM. Whoever
 * gives up has taken nothing and loses only its own place. */
SEINE_MUST_CHECK seine_err seine_throttle_wait(seine_throttle *t, seine_ctx *ctx,
                                               seine_slot *out_slot);

/* Gives the slot back and tells the strategy how it went: IGNORED never moves a
 * limit, FAILURE never raises one. ALREADY if not held, INVAL for no outcome. */
SEINE_MUST_CHECK seine_err seine_throttle_release(seine_slot *slot, seine_outcome how,
                                                  seine_time now);

/* A semaphore: that many from now on, waking as many as now fit. Adaptive: the
 * ceiling. INVAL for 0, for less than `min`, and for the other kinds. */
SEINE_MUST_CHECK seine_err seine_throttle_set(seine_throttle *t, uint32_t permits);

uint32_t seine_throttle_limit(const seine_throttle *t); /* UINT32_MAX: no limit */
uint32_t seine_throttle_in_flight(const seine_throttle *t);

/* The next delay between calls to a server that took `latency` for the last one:
 * t = latency / target; max(t, (delay + t) / 2), within [min, max]. An answer that
 * is not ok may raise the delay, never lower it. */
seine_span seine_pace(const seine_pace_opts *opts, seine_span delay, seine_span latency,
                      bool ok);

SEINE_END

#endif
