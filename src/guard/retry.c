/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/retry.h"

#include "base/opts.h"
#include "base/time.h"
#include "guard/retry_budget.h"
#include "seine/ctx.h"

/*
 * Draws from U[0, n] and leaves unused random bits in *dice. The upper half of the
 * product is the draw. The lower half is the fraction that was cut off, which is uniform
 * and independent of the draw, so one random number serves two draws.
 */
static uint64_t
draw(uint64_t *dice, uint64_t n)
{
    sn_u128 product = *dice * ((sn_u128)n + 1);

    *dice = (uint64_t)product;
    return (uint64_t)(product >> 64);
}

seine_err
seine_retry_check(const seine_retry_opts *opts)
{
    if (!sn_opts_fit(opts, sizeof *opts) || opts->max_attempts == 0 || opts->base < 0 ||
        opts->max < opts->base || opts->jitter_pct > 100 ||
        (unsigned)opts->jitter > SEINE_JITTER_MINUS || opts->retry_after_max < 0 ||
        opts->max_elapsed < 0 || opts->min_attempt < 0 ||
        (opts->factor_pct > 0 && opts->factor_pct < 100))
        return SEINE_E_INVAL;
    return SEINE_OK;
}

/* base * factor^k. Rounding up makes every step longer, so the loop ends at `max` after
 * a few thousand steps at most, whatever k. */
static seine_span
grow(const seine_retry_opts *opts, uint32_t k)
{
    seine_span d = opts->base;

    if (opts->factor_pct == 100)
        return d;
    while (k-- > 0 && d < opts->max) {
        sn_u128 longer = ((sn_u128)(uint64_t)d * opts->factor_pct + 99) / 100;

        d = longer < (uint64_t)opts->max ? (seine_span)longer : opts->max;
    }
    return d;
}

seine_span
seine_retry_backoff(const seine_retry_opts *opts, uint32_t k)
{
    if (!opts)
        return 0;
    if (opts->backoff) {
        seine_span d = opts->backoff(k, opts->backoff_arg);

        return sn_time_min(sn_time_max(d, 0), opts->max);
    }
    if (opts->base == 0)
        return 0;
    if (opts->factor_pct != 0 && opts->factor_pct != 200)
        return grow(opts, k);
    if (k >= 63 || opts->base > opts->max >> k)
        return opts->max;
    return opts->base << k;
}

/* pct percent of d, rounded down, without a product that could overflow. */
static seine_span
percent(seine_span d, uint32_t pct)
{
    return d / 100 * pct + d % 100 * pct / 100;
}

static seine_span
spread(const seine_retry_opts *opts, uint32_t k, seine_span prev, uint64_t *dice)
{
    seine_span d = seine_retry_backoff(opts, k), part, low;

    switch (opts->jitter) {
    case SEINE_JITTER_NONE:
        return d;
    case SEINE_JITTER_FULL:
        return (seine_span)draw(dice, (uint64_t)d);
    case SEINE_JITTER_EQUAL:
        return d / 2 + (seine_span)draw(dice, (uint64_t)(d / 2));
    case SEINE_JITTER_MINUS:
        part = percent(d, opts->jitter_pct);
        return d - part + (seine_span)draw(dice, (uint64_t)part);
    case SEINE_JITTER_DECORRELATED:
        low = opts->base;
        part = sn_time_mul(sn_time_max(prev, low), 3) - low;
        d = low + (seine_span)draw(dice, (uint64_t)part);
        break;
    case SEINE_JITTER_PLUSMINUS:
    default:
        part = percent(d, opts->jitter_pct);
        low = d - part;
        /* 2p may not fit a span; a result beyond `max` is cut off anyway. */
        uint64_t more = draw(dice, 2 * (uint64_t)part);
        d = more < (uint64_t)(opts->max - low) ? low + (seine_span)more : opts->max;
    }
    return sn_time_min(d, opts->max);
}

seine_span
seine_retry_delay(const seine_retry_opts *opts, uint32_t k, seine_span prev,
                  uint64_t dice)
{
    return opts ? spread(opts, k, prev, &dice) : 0;
}

seine_err
seine_retry_classify(const seine_retry_opts *opts, unsigned status)
{
    if (!opts)
        return SEINE_E_INVAL;
    if (status < 400)
        return SEINE_OK;
    return seine_status_set_has(&opts->status, status) ? SEINE_E_HTTP_BUSY : SEINE_E_HTTP;
}

void
seine_retry_begin(seine_retry *r, seine_time now)
{
    if (!r || !r->opts)
        return;
    if (r->attempts == 0) {
        r->first_at = now;
        r->prev = r->opts->base;
        seine_retry_budget_deposit(r->host);
        seine_retry_budget_deposit(r->global);
    }
    if (r->attempts < UINT32_MAX)
        r->attempts++;
}

/* Kinds with a status of their own (redirects, proxies) are judged by their class: the
 * set of statuses is about the server's response to the request itself. */
static bool
may_pass(const seine_retry_opts *opts, const seine_fault *f)
{
    if (f->status != 0 && (f->code == SEINE_E_HTTP || f->code == SEINE_E_HTTP_BUSY))
        return seine_status_set_has(&opts->status, f->status);
    if (f->code == SEINE_E_NOMEM)
        return true;
    if (seine_err_group(f->code) == SEINE_E_TIMEOUT ? opts->not_timeout : opts->not_net)
        return false;
    return seine_err_class(f->code) == SEINE_TRANSIENT;
}

/* The server's Retry-After, where it concerns this request; -1: none. */
static seine_span
wish(const seine_retry_opts *opts, const seine_fault *f)
{
    if (f->retry_after < 0 || (f->status != 429 && f->status != 503))
        return -1;
    return sn_time_min(f->retry_after, opts->retry_after_max);
}

static bool
pay(seine_retry *r, seine_time now)
{
    sn_retry_unit unit;

    if (!sn_retry_budget_take(r->host, now, &unit))
        return false;
    if (seine_retry_budget_withdraw(r->global, now))
        return true;
    sn_retry_budget_give(r->host, unit);
    return false;
}

static seine_verdict
stop(seine_stop why)
{
    return (seine_verdict){why, SEINE_NEVER};
}

seine_verdict
seine_retry_next(seine_retry *r, const seine_fault *f, seine_time now, uint64_t dice)
{
    if (!r || !r->opts || !f)
        return stop(SEINE_STOP_FINAL);
    const seine_retry_opts *opts = r->opts;

    if (f->code == SEINE_OK)
        return stop(SEINE_STOP_OK);
    if (f->code == SEINE_E_CANCELED)
        return stop(SEINE_STOP_CANCELED);
    if (!may_pass(opts, f))
        return stop(SEINE_STOP_FINAL);
    if (r->attempts >= opts->max_attempts)
        return stop(SEINE_STOP_ATTEMPTS);
    if (f->sent && !r->idempotent)
        return stop(SEINE_STOP_METHOD);

    uint32_t k = r->attempts > 0 ? r->attempts - 1 : 0;
    seine_span backoff = spread(opts, k, r->prev, &dice), delay = backoff;
    seine_span asked = wish(opts, f);
    if (asked >= 0) {
        delay = sn_time_max(backoff, asked);
        delay = sn_time_add(delay, (seine_span)draw(&dice, (uint64_t)delay / 10));
    }

    seine_time at = sn_time_add(now, delay);
    if (sn_time_sub(at, r->first_at) > opts->max_elapsed)
        return stop(SEINE_STOP_ELAPSED);
    if (sn_time_add(at, opts->min_attempt) >= r->deadline)
        return stop(SEINE_STOP_DEADLINE);
    if (!pay(r, now))
        return stop(SEINE_STOP_BUDGET);
    r->prev = backoff;
    return (seine_verdict){SEINE_STOP_NO, at};
}

/* One attempt under a ctx of its own. When there is no memory for the ctx, the attempt
 * has failed with NOMEM and may be retried. */
static seine_fault
attempt(seine_ctx *ctx, seine_attempt_fn fn, uint32_t number, void *arg)
{
    seine_fault f = SEINE_FAULT;
    seine_ctx *own;

    f.code = seine_ctx_new(ctx, SEINE_NEVER, &own);
    if (f.code != SEINE_OK)
        return f;
    f = fn(own, number, arg);
    seine_ctx_unref(own);
    return f;
}

seine_err
seine_retry_run(const seine_retry_opts *opts, seine_ctx *ctx, seine_attempt_fn fn,
                void *arg, uint32_t *out_attempts)
{
    static const seine_retry_opts once = {.size = sizeof(seine_retry_opts),
                                          .max_attempts = 1};
    if (!ctx || !fn)
        return SEINE_E_INVAL;
    seine_clock *clock = seine_ctx_clock(ctx);
    seine_retry r = {.opts = opts ? opts : &once,
                     .deadline = seine_ctx_deadline(ctx),
                     .idempotent = true};
    seine_fault f = SEINE_FAULT;

    seine_err e = seine_retry_check(r.opts);
    if (e != SEINE_OK)
        return e;

    for (seine_verdict v = {SEINE_STOP_NO, INT64_MIN}; v.stop == SEINE_STOP_NO;) {
        e = seine_ctx_sleep(ctx, v.at);
        seine_time now = clock->now(clock);
        if (e == SEINE_OK)
            e = seine_ctx_err(ctx, now); /* the sleep may end late */
        if (e != SEINE_OK)
            break;

        seine_retry_begin(&r, now);
        f = attempt(ctx, fn, r.attempts, arg);
        v = seine_retry_next(&r, &f, clock->now(clock), clock->dice(clock));
        if (v.stop == SEINE_STOP_NO && r.opts->on_retry)
            r.opts->on_retry(r.attempts, &f, v.at, arg);
    }
    if (out_attempts)
        *out_attempts = r.attempts;
    /* A cancellation is returned as the error; after the deadline the last failure stays
     * the error. */
    if (e == SEINE_OK || (e == SEINE_E_DEADLINE && r.attempts > 0))
        return f.code;
    return e;
}
