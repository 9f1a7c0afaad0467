/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/attempt.h"

#include "base/time.h"
#include "seine/outcome.h"

static seine_answer
refused(seine_err err, seine_time when)
{
    return (seine_answer){err, when};
}

/* What can be asked without taking anything. */
static seine_answer
ask(const seine_guards *g, const seine_ctx *ctx, seine_time now)
{
    seine_err e = ctx ? seine_ctx_err(ctx, now) : SEINE_OK;
    seine_time when;

    if (e != SEINE_OK)
        return refused(e, SEINE_NEVER);
    if (g->breaker && (when = seine_breaker_when(g->breaker, now)) > now)
        return refused(SEINE_E_BREAKER, when);
    if ((when = seine_limiter_when(g->limiter, now, 1)) > now)
        return refused(SEINE_E_LIMITED, when);
    return refused(SEINE_OK, now);
}

/* Gives back what was taken before a refusal: as if nothing had been asked. The
 * slots and the reservation are ours, so their release cannot fail. */
static void
give_back(seine_attempt *a, seine_time now)
{
    (void)!seine_throttle_release(&a->slot, SEINE_IGNORED, now);
    (void)!seine_throttle_release(&a->global_slot, SEINE_IGNORED, now);
    seine_budget_release(&a->held);
}

/* What may still refuse, in this order. */
static seine_answer
take(seine_attempt *a, const seine_guards *g, seine_time now)
{
    seine_grant grant = {.mark = 0};
    seine_err e = g->budget ? seine_budget_try(g->budget, &g->want, &a->held) : SEINE_OK;

    if (e != SEINE_OK)
        return refused(e, SEINE_NEVER);
    if (g->global_throttle &&
        !seine_throttle_try(g->global_throttle, now, &a->global_slot))
        return refused(SEINE_E_BUSY, SEINE_NEVER);
    if (g->throttle && !seine_throttle_try(g->throttle, now, &a->slot))
        return refused(SEINE_E_BUSY, SEINE_NEVER);
    if (g->global_limiter) {
        e = seine_shared_try(g->global_limiter, now, 1, &grant);
        if (e != SEINE_OK)
            return refused(e, e == SEINE_E_LIMITED ? sn_time_add(now, grant.retry_after)
                                                   : SEINE_NEVER);
    }
    a->global_mark = grant.mark;
    return refused(SEINE_OK, now);
}

seine_answer
seine_attempt_begin(seine_attempt *a, const seine_guards *g, const seine_ctx *ctx,
                    seine_time now)
{
    *a = (seine_attempt){.guards = g, .start = now};

    seine_answer answer = ask(g, ctx, now);
    if (answer.err != SEINE_OK)
        return answer;
    answer = take(a, g, now);
    if (answer.err != SEINE_OK) {
        give_back(a, now);
        return answer;
    }
    /* Both were asked at this very moment and have one owner: they cannot refuse. */
    if (g->limiter) {
        seine_limiter_allow(g->limiter, now, 1);
        a->mark = g->limiter->full;
    }
    if (g->breaker)
        (void)!seine_breaker_acquire(g->breaker, now, &a->permit);
    a->open = true;
    return answer;
}

static void
settle(seine_attempt *a, const seine_fault *f, seine_time now)
{
    seine_breaker *b = a->guards->breaker;
    seine_span wish = seine_outcome_pause(f);

    if (!b)
        return;
    bool was_open = seine_breaker_get(b) == SEINE_BREAKER_OPEN;
    a->permit.why = (uint16_t)f->code;
    (void)!seine_breaker_settle(b, &a->permit, seine_outcome_breaker(f), now);
    if (f->status == 503 && wish >= 0 && !was_open &&
        seine_breaker_get(b) == SEINE_BREAKER_OPEN)
        seine_breaker_hold(b, sn_time_add(now, wish), now);
}

seine_err
seine_attempt_end(seine_attempt *a, const seine_fault *f, seine_time now)
{
    const seine_guards *g = a->guards;

    if (!a->open)
        return SEINE_E_ALREADY;
    a->open = false;

    settle(a, f, now);
    if (a->slot.of)
        (void)!seine_throttle_release(&a->slot, seine_outcome_throttle(f), now);
    if (a->global_slot.of)
        (void)!seine_throttle_release(&a->global_slot, seine_outcome_throttle(f), now);

    if (seine_outcome_undo(f)) {
        if (g->limiter)
            seine_limiter_undo(g->limiter, a->mark, 1);
        if (g->global_limiter)
            seine_shared_undo(g->global_limiter, a->global_mark, 1);
    }
    if (g->limiter && seine_outcome_pause(f) >= 0)
        seine_limiter_pause(g->limiter, sn_time_add(now, seine_outcome_pause(f)));
    seine_budget_release(&a->held);
    return SEINE_OK;
}
