/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/attempt.h"

#include "base/time.h"
#include "guard/breaker.h"
#include "guard/gcra.h"
#include "seine/outcome.h"

static seine_attempt_verdict
refused(seine_err err, seine_time when)
{
    return (seine_attempt_verdict){err, when};
}

static seine_time
ready(const seine_limiter *lim, seine_time now)
{
    seine_span cost = sn_gcra_cost(lim, 1);

    return cost == SEINE_NEVER ? SEINE_NEVER : sn_gcra_ready(lim, now, cost);
}

/* Asks the guards that can refuse without taking anything. */
static seine_attempt_verdict
ask(const seine_guards *g, const seine_ctx *ctx, seine_time now)
{
    seine_err e = ctx ? seine_ctx_err(ctx, now) : SEINE_OK;
    seine_time when;

    if (e != SEINE_OK)
        return refused(e, SEINE_NEVER);
    if (g->breaker && sn_breaker_state(g->breaker) != SEINE_BREAKER_CLOSED &&
        (when = seine_breaker_when(g->breaker, now)) > now)
        return refused(SEINE_E_BREAKER, when);
    if (g->limiter && (when = ready(g->limiter, now)) > now)
        return refused(SEINE_E_LIMITED, when);
    return refused(SEINE_OK, now);
}

/* Gives back what was taken before a refusal, as if nothing had been asked. The slots and
 * the reservation are ours, so their release cannot fail. */
static void
give_back(seine_attempt *a, seine_time now)
{
    (void)!seine_throttle_release(&a->slot, SEINE_IGNORED, now);
    (void)!seine_throttle_release(&a->global_slot, SEINE_IGNORED, now);
    seine_budget_release(&a->held);
}

/* Takes from the guards that may still refuse, in this order. */
static seine_attempt_verdict
take_permits(seine_attempt *a, const seine_guards *g, seine_time now)
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

seine_attempt_verdict
seine_attempt_begin(seine_attempt *a, const seine_guards *g, const seine_ctx *ctx,
                    seine_time now)
{
    if (!a || !g)
        return (seine_attempt_verdict){SEINE_E_INVAL, SEINE_NEVER};
    /* Sets single members: most of an attempt is room for a budget's grant. */
    a->guards = g;
    a->permit.held = 0;
    a->slot.of = a->global_slot.of = NULL;
    a->held.of = NULL;
    a->start = now;
    a->mark = a->global_mark = 0;
    a->open = false;

    seine_attempt_verdict verdict = ask(g, ctx, now);
    if (verdict.err != SEINE_OK)
        return verdict;
    verdict = take_permits(a, g, now);
    if (verdict.err != SEINE_OK) {
        give_back(a, now);
        return verdict;
    }
    /* Both guards agreed at this same moment and have one owner, so they cannot refuse
     * now. */
    if (g->limiter) {
        sn_gcra_pay(g->limiter, now, g->limiter->every);
        a->mark = g->limiter->full;
    }
    if (g->breaker && sn_breaker_state(g->breaker) == SEINE_BREAKER_CLOSED)
        a->permit = sn_breaker_pass(g->breaker, now);
    else if (g->breaker)
        (void)!seine_breaker_acquire(g->breaker, now, &a->permit);
    a->open = true;
    return verdict;
}

static void
settle_breaker(seine_attempt *a, const seine_fault *f, seine_time now)
{
    seine_breaker *b = a->guards->breaker;
    seine_span wish = seine_outcome_pause(f);

    if (!b)
        return;
    bool was_open = seine_breaker_state_get(b) == SEINE_BREAKER_OPEN;
    a->permit.why = (uint16_t)f->code;
    (void)!seine_breaker_settle(b, &a->permit, seine_outcome_breaker(f), now);
    if (f->status == 503 && wish >= 0 && !was_open &&
        seine_breaker_state_get(b) == SEINE_BREAKER_OPEN)
        seine_breaker_hold(b, sn_time_add(now, wish), now);
}

static void
release(seine_slot *slot, seine_outcome how, seine_time now)
{
    if (slot->of)
        (void)!seine_throttle_release(slot, how, now);
}

/* A success without a Retry-After, as most attempts end. */
static bool
is_fine(const seine_fault *f)
{
    return f->code == SEINE_OK && f->status >= 200 && f->status < 300;
}

static seine_err
end_well(seine_attempt *a, const seine_fault *f, seine_time now)
{
    seine_breaker *b = a->guards->breaker;

    if (b && !sn_breaker_succeed(b, &a->permit))
        settle_breaker(a, f, now);
    release(&a->slot, SEINE_SUCCESS, now);
    release(&a->global_slot, SEINE_SUCCESS, now);
    seine_budget_release(&a->held);
    return SEINE_OK;
}

seine_err
seine_attempt_end(seine_attempt *a, const seine_fault *f, seine_time now)
{
    if (!a)
        return SEINE_E_INVAL;
    const seine_guards *g = a->guards;

    if (!a->open)
        return SEINE_E_ALREADY;
    a->open = false;
    if (is_fine(f))
        return end_well(a, f, now);

    settle_breaker(a, f, now);
    release(&a->slot, seine_outcome_throttle(f), now);
    release(&a->global_slot, seine_outcome_throttle(f), now);

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
