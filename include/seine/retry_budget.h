/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry_budget.h - may a failed request be tried again, or would retries become a storm?
 *
 * A retry budget keeps retries from multiplying the load on a host that is down: every
 * first attempt pays in 20 % of a retry, every retry costs one, and a reserve of ten, one
 * more each 100 ms, lets a lone job always try again. 1,000 requests that all fail make
 * 1,210 attempts instead of 3,000.
 *
 *     static const seine_retry_budget_opts opts = SEINE_RETRY_BUDGET_OPTS;
 *     e = seine_retry_budget_new(&opts, &budget);
 *     seine_retry_budget_deposit(budget);                  a first attempt begins
 *     if (seine_retry_budget_withdraw(budget, now))        it failed
 *         try_again();
 *
 * seine_retry does both by itself with a budget in `host` or `global`.
 *
 * Time    is passed in.
 * Memory  a budget is one allocation.
 * Threads any thread, lock-free.
 */
#ifndef SEINE_RETRY_BUDGET_H
#define SEINE_RETRY_BUDGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/limiter.h"
#include "seine/time.h"

typedef struct seine_retry_budget seine_retry_budget;

typedef struct seine_retry_budget_opts {
    size_t size;          /* of this struct: SEINE_RETRY_BUDGET_OPTS sets it */
    uint32_t ratio_milli; /* 200: what a first attempt pays in, 1000 being a retry */
    uint32_t cap;         /* 100 retries can be saved up */
    seine_rate reserve;   /* 10 a second, 10 at once: used when nothing is saved */
} seine_retry_budget_opts;

/* clang-format off */
#define SEINE_RETRY_BUDGET_OPTS {sizeof(seine_retry_budget_opts), 200, 100, {10, SEINE_SECS(1), 10}}
/* clang-format on */

SEINE_BEGIN

/* Starts with nothing saved and a full reserve. INVAL: cap 0, a reserve that
 * seine_limiter_init_rate refuses. A ratio of 0 leaves the reserve alone. */
SEINE_MUST_CHECK seine_err seine_retry_budget_new(const seine_retry_budget_opts *opts,
                                                  seine_retry_budget **out_budget);
void seine_retry_budget_free(seine_retry_budget *b);

/* Call once per first attempt; savings beyond the cap are lost. NULL is fine. */
void seine_retry_budget_deposit(seine_retry_budget *b);

/* Takes one retry, from the savings or else from the reserve, or nothing and
 * returns false. NULL always grants. */
bool seine_retry_budget_withdraw(seine_retry_budget *b, seine_time now);

SEINE_END

#endif
