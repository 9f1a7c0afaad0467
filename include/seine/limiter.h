/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limiter.h - a token bucket: may this happen now, and if not, when?
 *
 * A bucket starts with `burst` tokens, never holds more, and regains one
 * token every `every`. Ten a second, five at once:
 *
 *     seine_limiter lim;
 *     if (seine_limiter_init(&lim, seine_every(10, SEINE_SECS(1)), 5) != SEINE_OK)
 *         return usage();
 *     if (!seine_limiter_allow(&lim, now, 1))
 *         sleep_until(seine_limiter_when(&lim, now, 1));
 *
 * In any window of length t the bucket grants at most burst + t / every tokens. A rate is
 * rounded by less than 1 ns per token, to the slow side. A clock that stands still or
 * steps back delays tokens and never creates one. For bytes let a token be a nanosecond:
 * init(lim, 1, depth), allow(lim, now, seine_price(bytes, per_second, SEINE_SECS(1))). A
 * NULL limiter is off: it admits.
 *
 * Time    is passed in; only seine_limiter_wait reads the clock of its ctx.
 * Memory  nothing is allocated, so there is nothing to free.
 * Threads one owner. For a bucket that many threads share, see shared.h.
 */
#ifndef SEINE_LIMITER_H
#define SEINE_LIMITER_H

#include <stdbool.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/time.h"

struct seine_ctx;

#define SEINE_FULL (-1) /* as `initial`: the bucket starts full */

/* 50 a second, 100 at once: {50, SEINE_SECS(1), 100}. */
typedef struct seine_rate {
    uint64_t count;
    seine_span per;
    uint32_t burst;
} seine_rate;

typedef struct seine_limiter {
    seine_span every; /* time that buys one token; 0 means no limit */
    seine_span depth; /* time that buys a full bucket */
    seine_time full;  /* moment at which the bucket is full again */
    seine_time shut;  /* nothing is granted before this moment */
} seine_limiter;

SEINE_BEGIN

/* Starts with a full bucket. SEINE_E_INVAL, and `lim` untouched, when `every`
 * is negative, `burst` is 0, or a full bucket would be worth over 292 years. */
SEINE_MUST_CHECK seine_err seine_limiter_init(seine_limiter *lim, seine_span every,
                                              uint32_t burst);

/* The same from a rate, with `initial` tokens at the moment `now`, or SEINE_FULL, which
 * is full at any moment; an `initial` above the burst counts as the burst, and a rate
 * above 10^9 a second as 10^9. INVAL: count 0, per <= 0, burst 0, initial < -1, a full
 * bucket worth more than 2^62 ns. */
SEINE_MUST_CHECK seine_err seine_limiter_init_rate(seine_limiter *lim,
                                                   const seine_rate *rate,
                                                   int64_t initial, seine_time now);

/* Takes `n` tokens and returns true, or takes none and returns false. n = 0 changes
 * nothing and is true unless the bucket is paused. */
bool seine_limiter_allow(seine_limiter *lim, seine_time now, uint32_t n);

/* First moment, `now` or later, at which `n` tokens could be taken;
 * SEINE_NEVER when `n` is more than the bucket can hold. Takes nothing. */
seine_time seine_limiter_when(const seine_limiter *lim, seine_time now, uint32_t n);

/* Whole tokens available at `now`; UINT32_MAX without a limit. */
uint32_t seine_limiter_left(const seine_limiter *lim, seine_time now);

/* Takes `n` tokens that may be used from *out_at on, unless that is later than
 * `latest`: then takes nothing and returns false. */
bool seine_limiter_reserve(seine_limiter *lim, seine_time now, uint32_t n,
                           seine_time latest, seine_time *out_at);

/* Gives `n` tokens back. `mark` is lim->full right after the grant; true only
 * while that grant is the newest, since giving back an older one would admit
 * more than the rate. */
bool seine_limiter_undo(seine_limiter *lim, seine_time mark, uint32_t n);

/* Sets the content (at most the burst) and lifts a pause. */
void seine_limiter_fill(seine_limiter *lim, seine_time now, uint32_t tokens);

/* Grants nothing before `until`, at most one token at `until`, then one per `every`.
 * Never shortens an earlier pause. */
void seine_limiter_pause(seine_limiter *lim, seine_time until);

/* Sets rate and burst; keeps the tokens (and a pause) and never refills. Settings that
 * init would refuse change nothing. */
void seine_limiter_set_rate(seine_limiter *lim, seine_time now, seine_span every,
                            uint32_t burst);

/* ceil(per / count), so that `count` tokens never take less than `per`; SEINE_NEVER for a
 * count of 0; a negative span stays negative. */
seine_span seine_every(uint64_t count, seine_span per);

/* ceil(n * per / count) in 128 bits, saturating at SEINE_NEVER. */
seine_span seine_price(uint64_t n, uint64_t count, seine_span per);

/* Blocks until `n` tokens are taken. INVAL: n = 0; RANGE: more than the burst; DEADLINE
 * at once when they come at or after the ctx's deadline; or the ctx's cause. Takes
 * nothing unless it returns SEINE_OK. Only the owner may call it, and no other call
 * meanwhile. */
SEINE_MUST_CHECK seine_err seine_limiter_wait(seine_limiter *lim, struct seine_ctx *ctx,
                                              uint32_t n);

SEINE_END

#endif
