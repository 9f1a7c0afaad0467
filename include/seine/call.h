/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - one guarded call: limited, throttled, behind a breaker, retried.
 *
 * This is the blocking form for services. It waits where attempt.h refuses, makes
 * attempts until one succeeds or the policy says stop, and always writes a result.
 *
 *     seine_call_opts o = SEINE_CALL_OPTS;
 *     o.breakers = hosts, o.rates = per_host, o.retry = &retry;
 *     o.idempotent = true;
 *     seine_call_result res;
 *     seine_err e = seine_call(&o, ctx, seine_key_str("https://api.example:443"),
 *                              get_page, &page, &res);
 *     printf("%u attempts, %s\n", res.attempts, seine_err_name(e));
 *
 * An attempt that may have reached the server is repeated only if the call is
 * `idempotent`: say so for GET, HEAD, PUT, DELETE, OPTIONS and TRACE, or when the server
 * recognises a repetition.
 *
 * The order, outermost first: retry; breaker, asked (an open one costs no token); slot of
 * the key; rate of the key; budget, slot and rate of the process; breaker, asked again
 * and acquired; the attempt with its own deadline. A call that waits for its key holds
 * nothing of the process, so calls to other keys go on. A call that waits for the process
 * holds no token of its key. A refused call gives everything back. A call holds nothing
 * while it backs off, and every attempt takes its tokens again.
 *
 * Time    the clock of the ctx.
 * Memory  one context per attempt; the guards outlive the call.
 * Threads any thread, all guards may be shared.
 */
#ifndef SEINE_CALL_H
#define SEINE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/breakers.h"
#include "seine/budget.h"
#include "seine/ctx.h"
#include "seine/err.h"
#include "seine/key.h"
#include "seine/keyed.h"
#include "seine/retry.h"
#include "seine/shared.h"
#include "seine/throttle.h"
#include "seine/throttles.h"
#include "seine/time.h"

typedef struct seine_call_result {
    seine_fault fault; /* of the last attempt, or of the guard that refused the first */
    uint32_t attempts; /* attempts made; a refusal by a guard is none */
    seine_stop stop;
    seine_span took;
    bool fell_back; /* the fallback succeeded; `fault` still says what failed */
    uint64_t reserved[4];
} seine_call_result;

/* Was this attempt a success? Asked for every attempt that got an answer or a failure of
 * the network, not for those that ended for our own reasons (LOCAL). True: the guards
 * count a success, and the call returns OK whatever the code. False for a code of OK: the
 * breaker counts a failure, the code becomes HTTP_BUSY, and the attempt may be repeated.
 * `arg` is that of the call. */
typedef bool (*seine_success_fn)(const seine_fault *f, void *arg);

/* The call has failed as `res` says: OK when there is another answer, e.g. an old one.
 * `arg` is that of the call. */
typedef seine_err (*seine_fallback_fn)(const seine_call_result *res, void *arg);

/* NULL: that guard is off. */
typedef struct seine_call_opts {
    size_t size;              /* of this struct: SEINE_CALL_OPTS sets it */
    seine_breakers *breakers; /* by the key of the call */
    seine_keyed *rates;       /* by the key of the call */
    seine_shared *rate;
    seine_throttle *throttle;
    seine_budget *budget;
    seine_want want;
    const seine_retry_opts *retry; /* NULL: one attempt */
    seine_retry_budget *retry_budget;
    seine_span attempt_timeout; /* 0: 30 s */
    bool wait_open;  /* false: an open breaker ends the call; true: waits for it */
    bool idempotent; /* false: an attempt that may have been sent is not repeated */
    uint32_t tokens; /* of `rates` and `rate` per attempt; 0: 1 */
    seine_throttles *throttles;  /* by the key of the call */
    seine_success_fn is_success; /* NULL: a code of OK is a success */
    seine_fallback_fn fallback;  /* NULL: none */
} seine_call_opts;

/* clang-format off */
#define SEINE_CALL_OPTS \
    {sizeof(seine_call_opts), NULL, NULL, NULL, NULL, NULL, {{0}}, NULL, NULL, 0, false, false, 1, NULL, NULL, NULL}
/* clang-format on */

SEINE_BEGIN

/* Runs `fn` as above. Each attempt gets a ctx with the attempt's timeout; a DEADLINE
 * that comes from this timeout alone is reported as TIMEOUT. Returns the code of
 * result.fault. When a guard refuses after a real failure, that failure stays the error
 * and `stop` names the guard. A cancellation is the ctx's cause. INVAL: options that
 * seine_retry_check refuses, a negative timeout, a NULL ctx or fn. RANGE: more tokens
 * than a burst. The fallback is not asked when the result is INVAL or the ctx was
 * cancelled. *out_result may be NULL. */
SEINE_MUST_CHECK seine_err seine_call(const seine_call_opts *o, seine_ctx *ctx,
                                      seine_view key, seine_attempt_fn fn, void *arg,
                                      seine_call_result *out_result);

SEINE_END

#endif
