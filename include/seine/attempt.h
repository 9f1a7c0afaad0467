/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt.h - all guards around one attempt, in the right order, in one step.
 *
 * seine_attempt_begin asks every guard before it takes from any; it takes concurrency
 * before rate, and the breaker's probe last. seine_attempt_end tells every guard how the
 * attempt ended. Nothing blocks: a refusal says when to ask again, and has taken nothing.
 *
 *     seine_attempt a;
 *     seine_attempt_verdict ok = seine_attempt_begin(&a, &guards, ctx, now);
 *     if (ok.err != SEINE_OK)
 *         return come_back_at(ok.when);
 *     seine_fault f = send_it();
 *     seine_err e = seine_attempt_end(&a, &f, later);
 *
 * The order: ctx, breaker (asked), host limiter (asked), budget, global throttle,
 * host throttle, global limiter, then host limiter and breaker, which can no
 * longer refuse. So an open breaker costs no token, and no probe is held while
 * another guard refuses. outcome.h says what the end of an attempt means to each guard.
 *
 * Time    is passed in.
 * Memory  an attempt is a plain value and holds what it took; the guards outlive
 *         it.
 * Threads one owner, as its limiter and breaker. The blocking form for many
 *         threads is call.h.
 */
#ifndef SEINE_ATTEMPT_H
#define SEINE_ATTEMPT_H

#include <stdbool.h>

#include "seine/abi.h"
#include "seine/breaker.h"
#include "seine/budget.h"
#include "seine/ctx.h"
#include "seine/err.h"
#include "seine/limiter.h"
#include "seine/shared.h"
#include "seine/throttle.h"
#include "seine/time.h"

/* NULL: that guard is off. */
typedef struct seine_guards {
    seine_breaker *breaker; /* of the host, as the next two */
    seine_limiter *limiter;
    seine_throttle *throttle;
    seine_shared *global_limiter; /* of the process, as the next two */
    seine_throttle *global_throttle;
    seine_budget *budget;
    seine_want want;
} seine_guards;

/* Refused: ask again at `when`; SEINE_NEVER: after a slot or a budget was released. */
typedef struct seine_attempt_verdict {
    seine_err err;
    seine_time when;
} seine_attempt_verdict;

typedef struct seine_attempt {
    const seine_guards *guards;
    seine_permit permit;
    seine_slot slot, global_slot;
    seine_held held;
    seine_time start, mark, global_mark;
    bool open; /* begun and not ended */
} seine_attempt;

SEINE_BEGIN

/* OK, or a refusal that changed nothing: the ctx's cause, BREAKER, LIMITED, BUSY, BUDGET,
 * RANGE (the budget could never grant so much). */
seine_attempt_verdict seine_attempt_begin(seine_attempt *a, const seine_guards *g,
                                          const seine_ctx *ctx, seine_time now);

/* Ends every attempt, a cancelled one too. ALREADY the second time, without effect. */
SEINE_MUST_CHECK seine_err seine_attempt_end(seine_attempt *a, const seine_fault *f,
                                             seine_time now);

SEINE_END

#endif
