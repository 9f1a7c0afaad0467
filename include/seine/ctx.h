/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctx.h - should this work go on? Cancellation and deadlines, from job to request.
 *
 * Contexts form a tree. Cancelling one cancels everything below it, at once and
 * with a cause; a child's deadline is never later than its parent's.
 *
 *     seine_ctx *job, *request;
 *     if (seine_ctx_background(&job) != SEINE_OK ||
 *         seine_ctx_after(job, SEINE_SECS(30), &request) != SEINE_OK)
 *         return SEINE_E_NOMEM;
 *     seine_err e = seine_shared_wait(limiter, request, 1, SEINE_NEVER);
 *     seine_ctx_cancel(job, SEINE_OK);       everybody below wakes: CANCELED
 *     seine_ctx_unref(request);
 *     seine_ctx_unref(job);
 *
 * There is no timer thread: a deadline is compared, not fired. From now == deadline on,
 * seine_ctx_err returns DEADLINE to a caller with that `now`; the hooks run when somebody
 * cancels or expires the context.
 *
 * Time    is passed in; seine_ctx_after, now and sleep read the clock of the tree.
 * Memory  counted references; a child keeps its parent. Hooks are the caller's.
 * Threads any thread. A signal handler must not cancel: it sets a flag and wakes
 *         the loop, and the loop cancels.
 */
#ifndef SEINE_CTX_H
#define SEINE_CTX_H

#include <stdbool.h>

#include "seine/abi.h"
#include "seine/clock.h"
#include "seine/err.h"
#include "seine/time.h"

typedef struct seine_ctx seine_ctx;

/* Called when a context is done. Set fn and arg; the rest is the library's. The memory is
 * the caller's and must stay until the hook has run or was taken off. */
typedef struct seine_ctx_hook {
    void (*fn)(void *arg);
    void *arg;
    struct seine_ctx_hook *next, **prev;
} seine_ctx_hook;

SEINE_BEGIN

/* Makes a tree without a deadline; the clock outlives the tree. */
SEINE_MUST_CHECK seine_err seine_ctx_root(seine_clock *clock, seine_ctx **out_ctx);

/* The same on the system's clock: for a program that has no other context, and that
 * nobody cancels. */
SEINE_MUST_CHECK seine_err seine_ctx_background(seine_ctx **out_ctx);

/* Makes a child; SEINE_NEVER: no deadline of its own. A child of a context that is done
 * is done with the same cause. */
SEINE_MUST_CHECK seine_err seine_ctx_new(seine_ctx *parent, seine_time deadline,
                                         seine_ctx **out_ctx);

/* The same with a deadline `span` from now, by the clock of the tree. INVAL: span < 0;
 * SEINE_NEVER: none. */
SEINE_MUST_CHECK seine_err seine_ctx_after(seine_ctx *parent, seine_span span,
                                           seine_ctx **out_ctx);

seine_ctx *seine_ctx_ref(seine_ctx *c);
void seine_ctx_unref(seine_ctx *c); /* cancels nothing; NULL is fine */

/* Ends this context and all below it. Idempotent: the first cause stays; SEINE_OK as
 * cause means CANCELED. Returns when the hooks it found have run, except hooks that
 * another cancellation is running. */
void seine_ctx_cancel(seine_ctx *c, seine_err cause);

/* Cancels with DEADLINE if now >= deadline: for a loop's timer. */
void seine_ctx_expire(seine_ctx *c, seine_time now);

/* SEINE_OK, the cause, or DEADLINE from now == deadline on. */
seine_err seine_ctx_err(const seine_ctx *c, seine_time now);

/* The effective deadline: the earliest of this context and its ancestors. */
seine_time seine_ctx_deadline(const seine_ctx *c);
seine_clock *seine_ctx_clock(const seine_ctx *c);

/* The time of the tree's clock; of the system's for NULL. */
seine_time seine_ctx_now(const seine_ctx *c);

/* Runs the hook once, outside of all locks, when the context is cancelled; at once if it
 * is cancelled already. */
void seine_ctx_on_done(seine_ctx *c, seine_ctx_hook *hook);

/* True: the hook never runs. False: it has run. Waits for a hook that is running on
 * another thread; inside its own callback returns false at once. A hook keeps no
 * reference: the caller keeps the context until here. Two hooks that take each other off
 * on two threads wait for each other for ever. */
bool seine_ctx_off_done(seine_ctx *c, seine_ctx_hook *hook);

/* Returns at `until` with SEINE_OK; earlier with the cause; at once with DEADLINE
 * when `until` is at or after the deadline. */
SEINE_MUST_CHECK seine_err seine_ctx_sleep(seine_ctx *c, seine_time until);

SEINE_END

#endif
