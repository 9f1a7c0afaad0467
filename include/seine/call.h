/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - one guarded call: limited, throttled, behind a breaker, retried.
 *
 * This is the blocking form for services. It waits where attempt.h refuses, makes
 * attempts until one succeeds or the policy says stop, and always writes a result.
 *
 *     seine_call_opts o = SEINE_CALL_OPTS;
 *     o.breakers = hosts, o.rates = per_host, o.retry = &retry;
 *     seine_call_result res;
 *     seine_err e = seine_call(&o, ctx, seine_key_str("https://api.example:443"),
 *                              get_page, &page, &res);
 *     printf("%u attempts, %s\n", res.attempts, seine_err_name(e));
 *
 * The order, outermost first: retry; breaker, asked (an open one costs no token);
 * budget; throttle; per-key rate; rate; breaker, acquired; the attempt with its
 * own deadline. A call holds nothing while it backs off, and every attempt takes its
 * tokens again.
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
#include "seine/time.h"

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
    bool wait_open; /* false: an open breaker ends the call; true: waits for it */
} seine_call_opts;

/* clang-format off */
#define SEINE_CALL_OPTS {sizeof(seine_call_opts), NULL, NULL, NULL, NULL, NULL, {{0}}, NULL, NULL, 0, false}
/* clang-format on */

typedef struct seine_call_result {
    seine_fault fault; /* of the last attempt, or of the guard that refused the first */
    uint32_t attempts; /* attempts made; a refusal by a guard is none */
    seine_stop stop;
    seine_span took;
} seine_call_result;

SEINE_BEGIN

/* Runs `fn` as above. Each attempt gets a ctx with the attempt's timeout; a DEADLINE
 * that comes from this timeout alone is reported as TIMEOUT. Returns the code of
 * result.fault. When a guard refuses after a real failure, that failure stays the error
 * and `stop` names the guard. A cancellation is the ctx's cause. INVAL: options that
 * seine_retry_check refuses, a negative timeout. *out_result may be NULL. */
SEINE_MUST_CHECK seine_err seine_call(const seine_call_opts *o, seine_ctx *ctx,
                                      seine_view key, seine_attempt_fn fn, void *arg,
                                      seine_call_result *out_result);

SEINE_END

#endif
