/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttle.h - a concurrency limit: how many calls may run at the same time?
 *
 * A call takes a slot when it begins and gives it back when it ends. A semaphore has a
 * fixed number of slots. The null throttle has no limit and only counts. An adaptive
 * throttle finds the number by itself: it starts at 2, adds one after each full round of
 * successes, and takes a tenth away when a call fails or is slow. Three at once:
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
 * A call that gets no slot may wait, first come, first served. A released slot goes to
 * the head of the queue, and while any thread waits, seine_throttle_try takes nothing. A
 * limit that shrinks revokes no slot: it grants none until fewer are out than it allows.
 * A NULL throttle is off: it admits.
 *
 * Time    is passed in; seine_throttle_wait reads the clock of its ctx.
 * Memory  32 bytes, the caller's. Null and semaphore allocate nothing, an adaptive one
 *         allocates its state; the first thread that waits allocates the queue.
 * Threads any thread; init and fini belong to one. Without waiters try and release
 *         are one atomic exchange each. A slot has one owner.
 */
#ifndef SEINE_THROTTLE_H
#define SEINE_THROTTLE_H

#include <stdbool.h>
#include <stddef.h>
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

/* A custom strategy. All functions are called without a lock and from any thread; sample
 * and fini may be NULL. */
typedef struct seine_throttle_ops {
    /* How many at once now. Asked before every grant; when it rises by itself, waiters
     * notice at the next release or wait. */
    uint32_t (*limit)(void *self);
    /* A slot was released; `in_flight` still counts it. */
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
    size_t size;                /* of this struct: SEINE_ADAPT_OPTS sets it */
    uint32_t initial, min, max; /* 2, 1, 16; 1 <= min <= initial <= max */
    bool gradient;              /* false: AIMD; true: follows the latency */
    seine_span slow;            /* NEVER; > 0: a longer call counts as a failure */
} seine_adapt_opts;

#define SEINE_ADAPT_OPTS                                       \
    {                                                          \
        sizeof(seine_adapt_opts), 2, 1, 16, false, SEINE_NEVER \
    }

typedef struct seine_pace_opts {
    size_t size; /* of this struct: SEINE_PACE_OPTS sets it */
    seine_span min, max;
    uint32_t target; /* calls in flight to aim at; 0: keeps the delay */
} seine_pace_opts;

/* clang-format off */
#define SEINE_PACE_OPTS {sizeof(seine_pace_opts), 0, 0, 0}
/* clang-format on */

SEINE_BEGIN

/* Has no limit, but counts. */
void seine_throttle_init_null(seine_throttle *t);

/* INVAL for 0, and `t` untouched. Every limit is at most 2^31 - 1. */
SEINE_MUST_CHECK seine_err seine_throttle_init_semaphore(seine_throttle *t,
                                                         uint32_t permits);

/* AIMD: a call that fails, or takes longer than `slow`, lowers the limit to nine tenths,
 * rounded down, if its slot was taken after the limit was last lowered. `limit` successes
 * while at least half of it was in use raise it by one. With `gradient` the limit follows
 * how much longer successes take than usual. INVAL, NOMEM. */
SEINE_MUST_CHECK seine_err seine_throttle_init_adaptive(seine_throttle *t,
                                                        const seine_adapt_opts *opts);

void seine_throttle_init_custom(seine_throttle *t, const seine_throttle_ops *ops,
                                void *self);

/* Call when no thread waits and no slot is out; NULL and zeroed memory are fine. */
void seine_throttle_fini(seine_throttle *t);

/* True: the slot is held. False: the limit is reached, or others wait. */
bool seine_throttle_try(seine_throttle *t, seine_time now, seine_slot *out_slot);

/* Waits for a slot until the ctx is done: its cause, DEADLINE, or NOMEM. A waiter that
 * gives up has taken nothing and loses only its own place. */
SEINE_MUST_CHECK seine_err seine_throttle_wait(seine_throttle *t, seine_ctx *ctx,
                                               seine_slot *out_slot);

/* Gives the slot back and tells the strategy how the call ended: IGNORED never moves a
 * limit, FAILURE never raises one. ALREADY if not held, INVAL for an unknown outcome. */
SEINE_MUST_CHECK seine_err seine_throttle_release(seine_slot *slot, seine_outcome how,
                                                  seine_time now);

/* Sets the limit of a semaphore and wakes as many waiters as now fit; sets the ceiling of
 * an adaptive throttle. INVAL for 0, for less than `min`, and for the other kinds. */
SEINE_MUST_CHECK seine_err seine_throttle_set(seine_throttle *t, uint32_t permits);

uint32_t seine_throttle_limit(const seine_throttle *t); /* UINT32_MAX: no limit */
uint32_t seine_throttle_in_flight(const seine_throttle *t);

/* The next delay between calls to a server that took `latency` for the last one: t =
 * latency / target; max(t, (delay + t) / 2), within [min, max]. A response that is not ok
 * may raise the delay, never lower it. */
seine_span seine_pace(const seine_pace_opts *opts, seine_span delay, seine_span latency,
                      bool ok);

SEINE_END

#endif
