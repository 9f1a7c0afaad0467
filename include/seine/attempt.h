/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attempt.h - all guards around one attempt, in the right order, in one step.
 *
 * Asking before taking, concurrency before rate, the breaker's probe last; and
 * one exit that tells every guard how it went. Nothing blocks: a refusal says
 * when to ask again, and has taken nothing.
 *
 *     seine_attempt a;
 *     seine_attempt_verdict ok = seine_attempt_begin(&a, &host->guards, ctx, now);
 *     if (ok.err != SEINE_OK)
 *         return come_back_at(ok.when);
 *     seine_fault f = send_it();
 *     seine_err e = seine_attempt_end(&a, &f, later);
 *
 * The order: ctx, breaker (asked), host limiter (asked), budget, global throttle,
 * host throttle, global limiter, then host limiter and breaker, which can no
 * longer refuse. So an open breaker burns no token, and no probe is held while
 * something else refuses. What an end means to each guard is in outcome.h.
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
    seine_breaker *breaker; /* these three: of the host */
    seine_limiter *limiter;
    seine_throttle *throttle;
    seine_shared *global_limiter; /* these: of the process */
    seine_throttle *global_throttle;
    seine_budget *budget;
    seine_want want;
} seine_guards;

/* Refused: ask again at `when`; SEINE_NEVER: after somebody's release. */
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

/* OK, or refused with everything as it was: the ctx's cause, BREAKER, LIMITED,
 * BUSY, BUDGET, RANGE (the budget could never give so much). */
seine_attempt_verdict seine_attempt_begin(seine_attempt *a, const seine_guards *g,
                                          const seine_ctx *ctx, seine_time now);

/* The only exit, also for what was cancelled. ALREADY the second time, without
 * effect. */
SEINE_MUST_CHECK seine_err seine_attempt_end(seine_attempt *a, const seine_fault *f,
                                             seine_time now);

SEINE_END

#endif
