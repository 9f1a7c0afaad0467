/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/limiter.h"

#include "base/time.h"
#include "guard/gcra.h"
#include "seine/ctx.h"

#define DEEPEST ((seine_span)1 << 62)

seine_span
seine_every(uint64_t count, seine_span per)
{
    return per < 0 ? per : seine_price(1, count, per);
}

seine_span
seine_price(uint64_t n, uint64_t count, seine_span per)
{
    if (n == 0 || per <= 0)
        return 0;
    if (count == 0)
        return SEINE_NEVER;

    sn_u128 price = ((sn_u128)n * (uint64_t)per + count - 1) / count;
    return price > INT64_MAX ? SEINE_NEVER : (seine_span)price;
}

seine_err
seine_limiter_init(seine_limiter *lim, seine_span every, uint32_t burst)
{
    seine_span depth;

    if (!lim || every < 0 || burst == 0 ||
        __builtin_mul_overflow(every, (seine_span)burst, &depth) || depth == SEINE_NEVER)
        return SEINE_E_INVAL;

    *lim = (seine_limiter){every, depth, SN_LONG_AGO, SN_LONG_AGO};
    return SEINE_OK;
}

seine_err
seine_limiter_init_rate(seine_limiter *lim, const seine_rate *rate, int64_t initial,
                        seine_time now)
{
    if (!lim || !rate || rate->count == 0 || rate->per <= 0 || initial < SEINE_FULL)
        return SEINE_E_INVAL;

    seine_limiter fresh;
    seine_err e =
        seine_limiter_init(&fresh, seine_every(rate->count, rate->per), rate->burst);
    if (e != SEINE_OK || fresh.depth > DEEPEST)
        return SEINE_E_INVAL;

    if (initial != SEINE_FULL)
        seine_limiter_fill(&fresh, now,
                           initial < rate->burst ? (uint32_t)initial : rate->burst);
    *lim = fresh;
    return SEINE_OK;
}

/* A limiter that is NULL is switched off and behaves like this one. */
static const seine_limiter off = {0, 0, SN_LONG_AGO, SN_LONG_AGO};

seine_time
seine_limiter_when(const seine_limiter *lim, seine_time now, uint32_t n)
{
    lim = lim ? lim : &off;
    seine_span cost = sn_gcra_cost(lim, n);

    return cost == SEINE_NEVER ? SEINE_NEVER : sn_gcra_ready(lim, now, cost);
}

bool
seine_limiter_allow(seine_limiter *lim, seine_time now, uint32_t n)
{
    return !lim || sn_gcra_allow(lim, now, n);
}

bool
seine_limiter_reserve(seine_limiter *lim, seine_time now, uint32_t n, seine_time latest,
                      seine_time *out_at)
{
    if (!out_at)
        return false;
    if (!lim) {
        *out_at = now;
        return true;
    }
    seine_span cost = sn_gcra_cost(lim, n);
    if (cost == SEINE_NEVER)
        return false;
    seine_time at = sn_gcra_ready(lim, now, cost);
    if (at > latest || at == SEINE_NEVER)
        return false;
    sn_gcra_pay(lim, now, cost);
    *out_at = at;
    return true;
}

uint32_t
seine_limiter_left(const seine_limiter *lim, seine_time now)
{
    lim = lim ? lim : &off;
    if (lim->shut > now)
        return 0;
    if (lim->every == 0)
        return UINT32_MAX;

    seine_span missing = lim->full > now ? sn_time_sub(lim->full, now) : 0;
    if (missing >= lim->depth)
        return 0;
    return (uint32_t)((lim->depth - missing) / lim->every);
}

bool
seine_limiter_undo(seine_limiter *lim, seine_time mark, uint32_t n)
{
    if (!lim)
        return true;
    if (lim->full != mark)
        return false;
    if (lim->every > 0)
        lim->full = sn_time_sub(mark, sn_time_mul(lim->every, n));
    return true;
}

void
seine_limiter_fill(seine_limiter *lim, seine_time now, uint32_t tokens)
{
    if (!lim)
        return;
    seine_span have = sn_time_min(sn_time_mul(lim->every, tokens), lim->depth);

    lim->shut = SN_LONG_AGO;
    lim->full = sn_time_add(now, lim->depth - have);
}

void
seine_limiter_pause(seine_limiter *lim, seine_time until)
{
    if (!lim)
        return;
    lim->shut = sn_time_max(lim->shut, until);
    lim->full = sn_time_max(lim->full, sn_time_add(until, lim->depth - lim->every));
}

/* `have` of the old bucket as time of the new one: the same tokens, rounded down. */
static seine_span
convert(seine_span have, seine_span every, seine_span new_every)
{
    sn_u128 time = (sn_u128)(uint64_t)have * (uint64_t)new_every / (uint64_t)every;

    return time > INT64_MAX ? SEINE_NEVER : (seine_span)time;
}

void
seine_limiter_set_rate(seine_limiter *lim, seine_time now, seine_span every,
                       uint32_t burst)
{
    seine_limiter next;

    if (!lim || seine_limiter_init(&next, every, burst) != SEINE_OK)
        return;
    seine_time at = sn_time_max(now, lim->shut);
    next.shut = lim->shut;

    if (lim->every == 0) {
        /* Starts full; during a pause it holds one token at the end, as in pause. */
        next.full = lim->shut > now ? sn_time_add(at, next.depth - every) : at;
    } else {
        seine_span missing = sn_time_sub(sn_time_max(lim->full, at), at);

        if (missing > lim->depth) /* reservations: the debt stays the same time */
            next.full = sn_time_add(at, sn_time_add(next.depth, missing - lim->depth));
        else
            next.full = sn_time_add(
                at, next.depth - sn_time_min(next.depth, convert(lim->depth - missing,
                                                                 lim->every, every)));
    }
    *lim = next;
}

seine_err
seine_limiter_wait(seine_limiter *lim, struct seine_ctx *ctx, uint32_t n)
{
    if (!ctx || n == 0)
        return SEINE_E_INVAL;
    seine_clock *clock = seine_ctx_clock(ctx);
    if (lim && sn_gcra_cost(lim, n) == SEINE_NEVER)
        return SEINE_E_RANGE;
    for (;;) {
        seine_time now = clock->now(clock);
        seine_err e = seine_ctx_err(ctx, now);

        if (e != SEINE_OK || seine_limiter_allow(lim, now, n))
            return e;
        e = seine_ctx_sleep(ctx, seine_limiter_when(lim, now, n));
        if (e != SEINE_OK)
            return e;
    }
}
