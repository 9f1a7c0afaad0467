/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gcra.h - the arithmetic of a token bucket, shared by limiter, shared and keyed.
 *
 * The bucket is kept as one moment instead of a count and a timestamp (this is the
 * "generic cell rate algorithm"): a token is worth `every`, and taking one pushes `full`
 * that much further away. Nothing accumulates, so nothing drifts. A clock that stands
 * still or steps back can delay tokens but never create them.
 *
 * The functions are inline, because a decision takes 2 ns, less than three calls.
 */
#ifndef SN_GCRA_H
#define SN_GCRA_H

#include "base/time.h"
#include "seine/limiter.h"

#define SN_LONG_AGO INT64_MIN

/* The cost of `n` tokens; SEINE_NEVER when the bucket cannot hold so many. */
static inline seine_span
sn_gcra_cost(const seine_limiter *lim, uint32_t n)
{
    seine_span cost;

    if (__builtin_mul_overflow(lim->every, (seine_span)n, &cost) || cost > lim->depth)
        return SEINE_NEVER;
    return cost;
}

/* The first moment at which a bucket that pays `cost` is at most `depth` short. */
static inline seine_time
sn_gcra_ready(const seine_limiter *lim, seine_time now, seine_span cost)
{
    seine_time at = sn_time_max(now, lim->shut), ready;

    if (lim->every == 0 || __builtin_sub_overflow(lim->full, lim->depth - cost, &ready))
        return at; /* no limit, or full since long ago */
    if (lim->full == SEINE_NEVER)
        return SEINE_NEVER; /* the debt reaches beyond the end of time */
    return sn_time_max(at, ready);
}

static inline void
sn_gcra_pay(seine_limiter *lim, seine_time now, seine_span cost)
{
    if (cost > 0 && /* no token, or no limit: nothing changes */
        __builtin_add_overflow(sn_time_max(lim->full, now), cost, &lim->full))
        lim->full = SEINE_NEVER;
}

static inline bool
sn_gcra_allow(seine_limiter *lim, seine_time now, uint32_t n)
{
    seine_span cost = sn_gcra_cost(lim, n);

    if (cost == SEINE_NEVER || sn_gcra_ready(lim, now, cost) > now)
        return false;
    sn_gcra_pay(lim, now, cost);
    return true;
}

/* The bucket after the grant with this mark gives `cost` back at `now`, though later
 * grants may stand on it. Without that grant the later ones, worth full - mark, could not
 * stand before `now`: the result never admits more than if the grant had not been. */
static inline seine_time
sn_gcra_returned(seine_time full, seine_time mark, seine_span cost, seine_time now)
{
    if (full < mark) /* reset since then */
        return full;
    seine_time later = sn_time_add(now, sn_time_sub(full, mark));
    return sn_time_min(full, sn_time_max(sn_time_sub(full, cost), later));
}

#endif
