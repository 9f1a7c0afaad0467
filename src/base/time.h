/* SPDX-License-Identifier: Apache-2.0 */
/*
 * time.h - arithmetic on moments and spans that saturates instead of wrapping.
 *
 * SEINE_NEVER stays SEINE_NEVER whatever is added to it.
 */
#ifndef SN_TIME_H
#define SN_TIME_H

#include "seine/clock.h"
#include "seine/time.h"

__extension__ typedef unsigned __int128 sn_u128; /* products of two 64-bit numbers */

static inline int64_t
sn_time_add(int64_t a, int64_t b)
{
    int64_t sum;

    if (a == SEINE_NEVER || b == SEINE_NEVER)
        return SEINE_NEVER;
    if (__builtin_add_overflow(a, b, &sum))
        return b > 0 ? SEINE_NEVER : INT64_MIN;
    return sum;
}

static inline int64_t
sn_time_sub(int64_t a, int64_t b)
{
    int64_t difference;

    if (a == SEINE_NEVER)
        return SEINE_NEVER;
    if (__builtin_sub_overflow(a, b, &difference))
        return b < 0 ? SEINE_NEVER : INT64_MIN;
    return difference;
}

static inline int64_t
sn_time_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static inline int64_t
sn_time_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* n * each, saturating at SEINE_NEVER; both at least 0. */
static inline int64_t
sn_time_mul(int64_t each, uint64_t n)
{
    sn_u128 product = (sn_u128)(uint64_t)each * n;

    return product > INT64_MAX ? SEINE_NEVER : (int64_t)product;
}

/* Wall time in nanoseconds as whole seconds, rounded down, and the nanoseconds that are
 * left, 0 to 999,999,999. */
static inline int64_t
sn_time_seconds(int64_t wall, int64_t *out_ns)
{
    int64_t ns = wall % SEINE_SECS(1);

    *out_ns = ns < 0 ? ns + SEINE_SECS(1) : ns;
    return wall / SEINE_SECS(1) - (ns < 0);
}

/* Since the machine was started, also while it was suspended; of a clock that is not the
 * system's, its own time. */
seine_time sn_time_up(seine_clock *c);

/* How long the calling thread was on a processor. */
seine_span sn_clock_cpu(void);

#endif
