/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - one guarded call: limited, throttled, behind a breaker, retried.
 *
 * The blocking composition for services: it waits where attempt.h refuses, makes
 * attempts until one succeeds or the policy says stop, and always writes what
 * happened.
 *
 *     seine_call_opts o = {.breakers = hosts, .rates = per_host, .retry = &retry};
 *     seine_call_result res;
 *     seine_err e = seine_call(&o, ctx, seine_key_str("https://api.example:443"),
 *                              get_page, &page, &res);
 *     log("%u attempts, %s", res.attempts, seine_err_name(e));
 *
 * The order, outermost first: retry; breaker, asked (open: no token is burnt);
 * budget; throttle; per-key rate; rate; breaker, acquired; the attempt with its
 * own deadline. Nothing is held while it backs off, and every attempt takes its
 * tokens anew.
 *
 * Time    the clock of the ctx.
 * Memory  one context per attempt; the guards outlive the call.
 * Threads any thread, all guards may be shared.
 */
#ifndef SEINE_CALL_H
#define SEINE_CALL_H

#include <stdbool.h>
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
    seine_breakers *breakers; /* by the key of the call */
    seine_keyed *rates;       /* by the key of the call */
    seine_shared *rate;
    seine_throttle *throttle;
    seine_budget *budget;
    seine_want want;
    const seine_retry_opts *retry; /* NULL: one attempt */
    seine_retry_budget *retry_budget;
    seine_span attempt_timeout; /* 0: 30 s */
    bool wait_open; /* an open breaker ends the call; true: waits for it in the ctx */
} seine_call_opts;

typedef struct seine_call_result {
    seine_fault fault; /* of the last attempt; of the guard that refused the first */
    uint32_t attempts; /* made; what a guard refused is none */
    seine_stop stop;
    seine_span took;
} seine_call_result;

SEINE_BEGIN

/* Runs `fn` as above; its attempt's ctx ends with the attempt's timeout, and a
 * DEADLINE that comes from that alone is reported as TIMEOUT. Returns the code of
 * result.fault: a guard that refuses after a real failure leaves that failure the
 * error and says so in `stop`. A cancellation is the ctx's cause. INVAL: options
 * that seine_retry_check refuses, a negative timeout. *out_result may be NULL. */
SEINE_MUST_CHECK seine_err seine_call(const seine_call_opts *o, seine_ctx *ctx,
                                      seine_view key, seine_attempt_fn fn, void *arg,
                                      seine_call_result *out_result);

SEINE_END

#endif
