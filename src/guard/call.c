/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/call.h"

#include <stdio.h>

#include "base/opts.h"
#include "base/time.h"
#include "guard/keyed.h"
#include "guard/shared.h"
#include "seine/outcome.h"

#define ATTEMPT_TIMEOUT SEINE_SECS(30)

/* A call, and what its current attempt holds. */
typedef struct work {
    const seine_call_opts *o;
    seine_ctx *ctx;
    seine_clock *clock;
    seine_view key;
    seine_span timeout;
    uint32_t tokens;
    seine_permit permit;
    seine_slot key_slot, slot;
    seine_held held;
    seine_time key_mark, mark; /* of the tokens taken */
    bool has_key_tokens, has_tokens;
} work;

static seine_time
now_of(const work *w)
{
    return w->clock->now(w->clock);
}

/* Gives back tokens that no attempt has used. Those of the key go last, since they let
 * the next call of the key take newer ones of the process. */
static void
return_tokens(work *w)
{
    seine_time now = now_of(w);

    if (w->has_tokens)
        sn_shared_give_back(w->o->rate, now, w->mark, w->tokens);
    if (w->has_key_tokens)
        sn_keyed_give_back(w->o->rates, w->key, now, w->key_mark, w->tokens);
    w->has_key_tokens = w->has_tokens = false;
}

/* Gives back what belongs to the process. */
static void
release_process(work *w, seine_outcome how)
{
    if (w->slot.of)
        (void)!seine_throttle_release(&w->slot, how, now_of(w));
    seine_budget_release(&w->held);
}

/* Gives everything back except the breaker's permit and the tokens. */
static void
release(work *w, seine_outcome how)
{
    release_process(w, how);
    if (w->key_slot.of)
        (void)!seine_throttle_release(&w->key_slot, how, now_of(w));
}

/* Asks the breaker without taking a permit. */
static seine_err
ask_breaker(const work *w)
{
    seine_time now = now_of(w);
    bool refuses =
        w->o->breakers && seine_breakers_when(w->o->breakers, w->key, now) > now;

    return refuses ? SEINE_E_BREAKER : SEINE_OK;
}

/* Waits until the breaker would let an attempt through, or returns BREAKER. */
static seine_err
pass_breaker(work *w)
{
    seine_err e = seine_ctx_err(w->ctx, now_of(w));

    if (e != SEINE_OK)
        return e;
    if (w->o->breakers && w->o->wait_open)
        return seine_breakers_wait(w->o->breakers, w->ctx, w->key);
    return ask_breaker(w);
}

/* Waits for the slot and the tokens of the key. */
static seine_err
wait_for_key(work *w)
{
    seine_err e = SEINE_OK;

    if (w->o->throttles && !w->key_slot.of)
        e = seine_throttles_wait(w->o->throttles, w->ctx, w->key, &w->key_slot);
    if (e == SEINE_OK && w->o->rates) {
        e = sn_keyed_wait(w->o->rates, w->ctx, w->key, w->tokens, SEINE_NEVER,
                          &w->key_mark);
        w->has_key_tokens = e == SEINE_OK;
    }
    return e;
}

/* Takes what is missing of the process without waiting; false: not everything is there.
 */
static bool
try_process(work *w)
{
    const seine_call_opts *o = w->o;
    seine_grant grant;

    if (o->budget && !w->held.of &&
        seine_budget_try(o->budget, &o->want, &w->held) != SEINE_OK)
        return false;
    if (o->throttle && !w->slot.of &&
        !seine_throttle_try(o->throttle, now_of(w), &w->slot))
        return false;
    if (o->rate && !w->has_tokens) {
        if (seine_shared_try(o->rate, now_of(w), w->tokens, &grant) != SEINE_OK)
            return false;
        w->mark = grant.mark;
        w->has_tokens = true;
    }
    return true;
}

/* Waits for what is missing of the process. */
static seine_err
wait_for_process(work *w)
{
    const seine_call_opts *o = w->o;
    seine_err e = SEINE_OK;

    if (o->budget && !w->held.of)
        e = seine_budget_wait(o->budget, w->ctx, &o->want, &w->held);
    if (e == SEINE_OK && o->throttle && !w->slot.of)
        e = seine_throttle_wait(o->throttle, w->ctx, &w->slot);
    if (e == SEINE_OK && o->rate && !w->has_tokens) {
        e = sn_shared_wait(o->rate, w->ctx, w->tokens, SEINE_NEVER, &w->mark);
        w->has_tokens = e == SEINE_OK;
    }
    return e;
}

/* Takes the key's tokens again after a wait for the process; LIMITED: others were
 * faster. */
static seine_err
retake_key_tokens(work *w)
{
    seine_grant grant;

    if (!w->o->rates)
        return SEINE_OK;
    seine_err e = seine_keyed_try(w->o->rates, w->key, now_of(w), w->tokens, &grant);
    w->key_mark = grant.mark;
    w->has_key_tokens = e == SEINE_OK;
    return e;
}

/* Waits for everything in front of the breaker, which is asked after the wait for the
 * key: what it refuses takes nothing of the process. Nothing of the process is held
 * during a wait for the key, and no token of the key during a wait for the process: a
 * token that lies idle would let two attempts follow each other faster than the rate. */
static seine_err
wait_for_guards(work *w)
{
    for (;;) {
        seine_err e = wait_for_key(w);

        if (e == SEINE_OK)
            e = ask_breaker(w);
        if (e != SEINE_OK || try_process(w))
            return e;
        return_tokens(w);
        e = wait_for_process(w);
        if (e == SEINE_OK)
            e = retake_key_tokens(w);
        if (e != SEINE_E_LIMITED)
            return e;
        return_tokens(w);
        release_process(w, SEINE_IGNORED);
    }
}

/* Waits for everything an attempt needs, in order. On failure nothing is held. BREAKER:
 * the breaker opened meanwhile, or another probe was faster. */
static seine_err
acquire(work *w)
{
    seine_err e = pass_breaker(w);

    if (e == SEINE_OK)
        e = wait_for_guards(w);
    if (e == SEINE_OK && w->o->breakers)
        e = seine_breakers_acquire(w->o->breakers, w->key, now_of(w), &w->permit);
    if (e != SEINE_OK) {
        return_tokens(w);
        release(w, SEINE_IGNORED);
    }
    w->has_key_tokens = w->has_tokens = false; /* the attempt uses them */
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

/* What the end of an attempt means to the guards. */
typedef struct ending {
    seine_outcome breaker, throttle;
    bool is_refused; /* by the success predicate, which decides instead of the status */
} ending;

/* Asks the success predicate, which may turn a failure into a success and back. */
static ending
judge(const work *w, seine_fault *f, void *arg)
{
    bool has_opinion = w->o->is_success &&
                       (f->code == SEINE_OK || seine_err_class(f->code) != SEINE_LOCAL);

    if (has_opinion && w->o->is_success(f, arg)) {
        f->code = SEINE_OK;
        return (ending){SEINE_SUCCESS, SEINE_SUCCESS, false};
    }
    if (has_opinion && f->code == SEINE_OK) {
        f->code = SEINE_E_HTTP_BUSY;
        return (ending){SEINE_FAILURE, SEINE_SUCCESS, true};
    }
    return (ending){seine_outcome_breaker(f), seine_outcome_throttle(f), false};
}

/* Every attempt ends here. A server's Retry-After counts up to the policy's limit. */
static void
finish_attempt(work *w, const seine_fault *f, ending how)
{
    const seine_call_opts *o = w->o;
    seine_time now = now_of(w);
    seine_span wish = seine_outcome_pause(f);

    if (o->breakers) {
        w->permit.why = (uint16_t)f->code;
        (void)!seine_breakers_settle(o->breakers, w->key, &w->permit, how.breaker, now);
    }
    release(w, how.throttle);
    if (o->rates && wish >= 0) {
        seine_span most = o->retry ? o->retry->retry_after_max : SEINE_SECS(3600);

        /* When the table has no place, Retry-After is lost for other calls; this retry
         * still waits. */
        (void)!seine_keyed_pause(o->rates, w->key,
                                 sn_time_add(now, sn_time_min(wish, most)));
    }
}

/* A response that the predicate has refused is judged by its code alone: a status of 200
 * is never one that is retried. */
static seine_verdict
decide_retry(work *w, seine_retry *r, const seine_fault *f, ending how)
{
    seine_fault judged = *f;

    if (how.is_refused)
        judged.status = 0;
    return seine_retry_next(r, &judged, now_of(w), w->clock->dice(w->clock));
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
        ending how = judge(w, &res->fault, arg);
        finish_attempt(w, &res->fault, how);

        seine_verdict v = decide_retry(w, r, &res->fault, how);
        res->stop = v.stop;
        if (v.stop != SEINE_STOP_NO)
            return;
        if (r->opts->on_retry)
            r->opts->on_retry(r->attempts, &res->fault, v.at, arg);
        e = seine_ctx_sleep(w->ctx, v.at);
        if (e != SEINE_OK) {
            refuse_call(w, e, res);
            return;
        }
    }
}

/* Returns what the call returns. */
static seine_err
fall_back(const work *w, seine_call_result *res, void *arg)
{
    seine_err e = res->fault.code;

    if (e != SEINE_OK && e != SEINE_E_INVAL && w->o->fallback &&
        res->stop != SEINE_STOP_CANCELED && w->o->fallback(res, arg) == SEINE_OK) {
        res->fell_back = true;
        return SEINE_OK;
    }
    return e;
}

static seine_err
check(const seine_call_opts *o, const seine_retry_opts *retry, seine_attempt_fn fn)
{
    if (!fn || o->attempt_timeout < 0)
        return SEINE_E_INVAL;
    return seine_retry_check(retry);
}

seine_err
seine_call(const seine_call_opts *o, seine_ctx *ctx, seine_view key, seine_attempt_fn fn,
           void *arg, seine_call_result *out_result)
{
    static const seine_retry_opts once = {.size = sizeof(seine_retry_opts),
                                          .max_attempts = 1};
    seine_call_result res = {.fault = SEINE_FAULT};

    if (!sn_opts_fit(o, sizeof *o) || !ctx) {
        res.fault.code = SEINE_E_INVAL;
        res.stop = SEINE_STOP_FINAL;
        if (out_result)
            *out_result = res;
        return SEINE_E_INVAL;
    }
    work w = {.o = o,
              .ctx = ctx,
              .clock = seine_ctx_clock(ctx),
              .key = key,
              .tokens = o->tokens ? o->tokens : 1,
              .timeout = o->attempt_timeout ? o->attempt_timeout : ATTEMPT_TIMEOUT};
    seine_retry r = {.opts = o->retry ? o->retry : &once,
                     .host = o->retry_budget,
                     .deadline = seine_ctx_deadline(ctx),
                     .idempotent = o->idempotent};
    seine_time start = now_of(&w);

    seine_err e = check(o, r.opts, fn);
    if (e != SEINE_OK)
        refuse_call(&w, e, &res);
    else
        try_until_stopped(&w, &r, fn, arg, &res);
    res.took = sn_time_sub(now_of(&w), start);
    e = fall_back(&w, &res, arg);
    if (out_result)
        *out_result = res;
    return e;
}
