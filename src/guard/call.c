/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/call.h"

#include <stdio.h>

#include "base/opts.h"
#include "base/time.h"
#include "seine/outcome.h"

#define ATTEMPT_TIMEOUT SEINE_SECS(30)

/* A call, and what its current attempt holds. */
typedef struct work {
    const seine_call_opts *o;
    seine_ctx *ctx;
    seine_clock *clock;
    seine_view key;
    seine_span timeout;
    seine_permit permit;
    seine_slot slot;
    seine_held held;
} work;

static seine_time
now_of(const work *w)
{
    return w->clock->now(w->clock);
}

/* Gives everything back except the breaker's permit. */
static void
release(work *w, seine_outcome how)
{
    if (w->slot.of)
        (void)!seine_throttle_release(&w->slot, how, now_of(w));
    seine_budget_release(&w->held);
}

/* Waits until the breaker would let an attempt through, or returns BREAKER. */
static seine_err
pass_breaker(work *w)
{
    for (;;) {
        seine_time now = now_of(w), when = now;
        seine_err done = seine_ctx_err(w->ctx, now);

        if (done != SEINE_OK)
            return done;
        if (w->o->breakers)
            when = seine_breakers_when(w->o->breakers, w->key, now);
        if (when <= now)
            return SEINE_OK;
        if (!w->o->wait_open)
            return SEINE_E_BREAKER;
        seine_err e = seine_ctx_sleep(w->ctx, when);
        if (e != SEINE_OK)
            return e;
    }
}

/* Waits for everything an attempt needs, in order. On failure nothing is held. BREAKER:
 * the breaker opened meanwhile, or another probe was faster. */
static seine_err
acquire(work *w)
{
    const seine_call_opts *o = w->o;
    seine_err e = pass_breaker(w);

    if (e == SEINE_OK && o->budget)
        e = seine_budget_wait(o->budget, w->ctx, &o->want, &w->held);
    if (e == SEINE_OK && o->throttle)
        e = seine_throttle_wait(o->throttle, w->ctx, &w->slot);
    if (e == SEINE_OK)
        e = seine_keyed_wait(o->rates, w->ctx, w->key, 1, SEINE_NEVER);
    if (e == SEINE_OK)
        e = seine_shared_wait(o->rate, w->ctx, 1, SEINE_NEVER);
    if (e == SEINE_OK && o->breakers)
        e = seine_breakers_acquire(o->breakers, w->key, now_of(w), &w->permit);
    if (e != SEINE_OK)
        release(w, SEINE_IGNORED);
    return e;
}

/* When the breaker refuses as the last guard, a caller that waits for the breaker starts
 * again. */
static seine_err
acquire_patiently(work *w)
{
    seine_err e;

    do
        e = acquire(w);
    while (e == SEINE_E_BREAKER && w->o->wait_open);
    return e;
}

/* An attempt that used up its own time timed out; the caller's deadline has not passed.
 */
static void
name_timeout(const work *w, const seine_ctx *attempt, seine_fault *f)
{
    if (f->code == SEINE_E_DEADLINE &&
        seine_ctx_deadline(attempt) < seine_ctx_deadline(w->ctx)) {
        f->code = SEINE_E_TIMEOUT;
        f->timeout_ms = w->timeout / SEINE_MS(1);
    }
}

static seine_fault
run_attempt(work *w, seine_attempt_fn fn, uint32_t number, void *arg)
{
    seine_fault f = SEINE_FAULT;
    seine_ctx *attempt;

    f.code = seine_ctx_new(w->ctx, sn_time_add(now_of(w), w->timeout), &attempt);
    if (f.code != SEINE_OK)
        return f;
    f = fn(attempt, number, arg);
    name_timeout(w, attempt, &f);
    seine_ctx_unref(attempt);
    return f;
}

/* Every attempt ends here. A server's Retry-After counts up to the policy's limit. */
static void
finish_attempt(work *w, const seine_fault *f)
{
    const seine_call_opts *o = w->o;
    seine_time now = now_of(w);
    seine_span wish = seine_outcome_pause(f);

    if (o->breakers) {
        w->permit.why = (uint16_t)f->code;
        (void)!seine_breakers_settle(o->breakers, w->key, &w->permit,
                                     seine_outcome_breaker(f), now);
    }
    release(w, seine_outcome_throttle(f));
    if (o->rates && wish >= 0) {
        seine_span most = o->retry ? o->retry->retry_after_max : SEINE_SECS(3600);

        /* When the table has no place, Retry-After is lost for other calls; this retry
         * still waits. */
        (void)!seine_keyed_pause(o->rates, w->key,
                                 sn_time_add(now, sn_time_min(wish, most)));
    }
}

static seine_stop
stop_of(seine_err e)
{
    switch (e) {
    case SEINE_E_BREAKER:
        return SEINE_STOP_BREAKER;
    case SEINE_E_BUDGET:
        return SEINE_STOP_BUDGET;
    case SEINE_E_DEADLINE:
        return SEINE_STOP_DEADLINE;
    case SEINE_E_INVAL:
    case SEINE_E_RANGE:
    case SEINE_E_NOMEM:
    case SEINE_E_FULL:
    case SEINE_E_CLOSED:
    case SEINE_E_LIMITED:
        return SEINE_STOP_FINAL;
    default:
        return SEINE_STOP_CANCELED;
    }
}

/* Ends the call: a guard refused, or the ctx is done. */
static void
refuse_call(const work *w, seine_err e, seine_call_result *res)
{
    static const char *const what[] = {"memory", "descriptor", "request", "download"};
    seine_stop stop = stop_of(e);

    res->stop = stop;
    if (res->attempts > 0 && stop != SEINE_STOP_CANCELED)
        return; /* the failure of the attempt stays the error */
    res->fault = (seine_fault)SEINE_FAULT;
    res->fault.code = e;
    if (e == SEINE_E_BUDGET && w->o->budget) {
        seine_res which = seine_budget_short(w->o->budget);

        if (which != SEINE_RES_NONE)
            snprintf(res->fault.text, sizeof res->fault.text, "%s limit reached",
                     what[which]);
    }
}

static void
try_until_stopped(work *w, seine_retry *r, seine_attempt_fn fn, void *arg,
                  seine_call_result *res)
{
    for (;;) {
        seine_err e = acquire_patiently(w);

        if (e != SEINE_OK) {
            refuse_call(w, e, res);
            return;
        }
        seine_retry_begin(r, now_of(w));
        res->attempts = r->attempts;
        res->fault = run_attempt(w, fn, r->attempts, arg);
        finish_attempt(w, &res->fault);

        seine_verdict v =
            seine_retry_next(r, &res->fault, now_of(w), w->clock->dice(w->clock));
        res->stop = v.stop;
        if (v.stop != SEINE_STOP_NO)
            return;
        e = seine_ctx_sleep(w->ctx, v.at);
        if (e != SEINE_OK) {
            refuse_call(w, e, res);
            return;
        }
    }
}

seine_err
seine_call(const seine_call_opts *o, seine_ctx *ctx, seine_view key, seine_attempt_fn fn,
           void *arg, seine_call_result *out_result)
{
    static const seine_retry_opts once = {.size = sizeof(seine_retry_opts),
                                          .max_attempts = 1};
    seine_call_result res = {.fault = SEINE_FAULT};
    work w = {.o = o,
              .ctx = ctx,
              .clock = seine_ctx_clock(ctx),
              .key = key,
              .timeout = o->attempt_timeout ? o->attempt_timeout : ATTEMPT_TIMEOUT};
    seine_retry r = {.opts = o->retry ? o->retry : &once,
                     .host = o->retry_budget,
                     .deadline = seine_ctx_deadline(ctx),
                     .idempotent = true}; /* the caller vouches for it */
    seine_time start = now_of(&w);

    seine_err e = !sn_opts_fit(o, sizeof *o) || w.timeout < 0 ? SEINE_E_INVAL
                                                              : seine_retry_check(r.opts);
    if (e != SEINE_OK)
        refuse_call(&w, e, &res);
    else
        try_until_stopped(&w, &r, fn, arg, &res);
    res.took = sn_time_sub(now_of(&w), start);
    if (out_result)
        *out_result = res;
    return res.fault.code;
}
