/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>

#include "seine/attempt.h"
#include "seine/breaker.h"
#include "seine/breaker_spec.h"
#include "seine/breakers.h"
#include "seine/budget.h"
#include "seine/call.h"
#include "seine/ctx.h"
#include "seine/eta.h"
#include "seine/keyed.h"
#include "seine/limiter.h"
#include "seine/outcome.h"
#include "seine/pool.h"
#include "seine/retry.h"
#include "seine/retry_budget.h"
#include "seine/seen.h"
#include "seine/shared.h"
#include "seine/summary.h"
#include "seine/throttle.h"
#include "seine/throttles.h"

#include "check.h"
#include "crew.h"

/* What a call says that lacks what it needs: a guard may be NULL, what it is asked about
 * may not. */

#define T0 SEINE_SECS(10)
static const seine_view KEY = {"k", 1};

TEST(breaker_without_an_answer_or_a_permit_is_invalid)
{
    seine_breaker_opts o = SEINE_BREAKER_OPTS;
    seine_breaker b;

    CHECK_EQ(seine_breaker_init(NULL, &o), SEINE_E_INVAL);
    CHECK_EQ(seine_breaker_init(&b, &o), SEINE_OK);
    CHECK_EQ(seine_breaker_acquire(&b, T0, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_breaker_settle(&b, NULL, SEINE_SUCCESS, T0), SEINE_E_INVAL);
    CHECK_EQ(seine_breaker_spec(NULL, &o, NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_breaker_spec("fail=3", NULL, NULL, NULL), SEINE_E_INVAL);
}

TEST(breakers_without_an_answer_a_permit_or_a_ctx_are_invalid)
{
    seine_breaker_opts o = SEINE_BREAKER_OPTS;
    seine_breakers *r = NULL;

    CHECK_EQ(seine_breakers_new(&o, 10, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_breakers_new(&o, 10, &r), SEINE_OK);
    CHECK_EQ(seine_breakers_acquire(r, KEY, T0, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_breakers_settle(r, KEY, NULL, SEINE_SUCCESS, T0), SEINE_E_INVAL);
    CHECK_EQ(seine_breakers_wait(r, NULL, KEY), SEINE_E_INVAL);
    CHECK_EQ(seine_breakers_stats_get(r, KEY, NULL), SEINE_E_INVAL);
    seine_breakers_free(r);
}

TEST(budget_without_a_want_a_ctx_or_an_answer_is_invalid)
{
    seine_want limits = {{100, 10, 10, 100}}, want = {{10, 1, 1, 1}};
    crew c = crew_new(T0);
    seine_budget *b = NULL;
    seine_held held = {0};

    CHECK_EQ(seine_budget_new(&limits, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_budget_new(&limits, &b), SEINE_OK);
    CHECK_EQ(seine_budget_try(b, NULL, &held), SEINE_E_INVAL);
    CHECK_EQ(seine_budget_try(b, &want, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_budget_wait(b, NULL, &want, &held), SEINE_E_INVAL);
    CHECK_EQ(seine_budget_wait(b, c.ctx, NULL, &held), SEINE_E_INVAL);
    CHECK_EQ(seine_budget_wait(b, c.ctx, &want, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_budget_grow(NULL, SEINE_RES_MEMORY, 1), SEINE_E_INVAL);
    CHECK_EQ(seine_budget_try(b, &limits, &held), SEINE_OK); /* nothing was taken */
    seine_budget_release(&held);
    seine_budget_free(b);
    crew_end(&c);
}

TEST(ctx_of_nothing_is_nothing)
{
    seine_ctx_hook hook = {0};
    crew c = crew_new(T0);

    CHECK_EQ(seine_ctx_new(c.ctx, SEINE_NEVER, NULL), SEINE_E_INVAL);
    CHECK(!seine_ctx_ref(NULL));
    CHECK_EQ(seine_ctx_err(NULL, T0), SEINE_E_INVAL);
    CHECK_EQ(seine_ctx_deadline(NULL), SEINE_NEVER);
    CHECK(!seine_ctx_clock(NULL));
    CHECK(!seine_ctx_off_done(NULL, &hook));
    CHECK(!seine_ctx_off_done(c.ctx, NULL));
    CHECK_EQ(seine_ctx_sleep(NULL, T0), SEINE_E_INVAL);
    crew_end(&c);
}

TEST(eta_of_nothing_knows_nothing)
{
    seine_span low = 7, high = 7;

    CHECK(seine_eta_rate(NULL, T0) == 0);
    CHECK(seine_eta_growth(NULL) == 0);
    CHECK_EQ(seine_eta_grown(NULL, 5), 0);
    CHECK(!seine_eta_interval(NULL, T0, 5, &low, &high));
    CHECK_EQ(low, 7);
    CHECK_EQ(high, 7);
}

TEST(keyed_without_an_answer_is_invalid)
{
    seine_keyed_opts o = SEINE_KEYED_OPTS;
    seine_keyed *k = NULL;

    CHECK_EQ(seine_keyed_new(&o, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_keyed_new(&o, &k), SEINE_OK);
    CHECK_EQ(seine_keyed_stats_get(k, KEY, T0, NULL), SEINE_E_INVAL);
    seine_keyed_free(k);
}

TEST(limiter_without_a_place_for_the_time_reserves_nothing)
{
    seine_limiter lim;

    CHECK_EQ(seine_limiter_init(&lim, SEINE_SECS(1), 1), SEINE_OK);
    CHECK(!seine_limiter_reserve(&lim, T0, 1, SEINE_NEVER, NULL));
    CHECK(seine_limiter_allow(&lim, T0, 1));
}

TEST(limiter_that_is_off_takes_back_whatever_it_is_given)
{
    CHECK(seine_limiter_undo(NULL, T0, 1));
}

TEST(outcome_of_no_fault_says_nothing)
{
    CHECK_EQ(seine_outcome_breaker(NULL), SEINE_IGNORED);
    CHECK_EQ(seine_outcome_throttle(NULL), SEINE_IGNORED);
    CHECK_EQ(seine_outcome_pause(NULL), -1);
    CHECK(!seine_outcome_undo(NULL));
}

static seine_err
no_job(seine_ctx *ctx, void *arg)
{
    (void)ctx;
    (void)arg;
    return SEINE_OK;
}

TEST(pool_without_a_ctx_or_an_answer_is_invalid)
{
    seine_pool_opts o = SEINE_POOL_OPTS;
    crew c = crew_new(T0);
    seine_pool *p = NULL;

    CHECK_EQ(seine_pool_new(&o, c.ctx, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_pool_new(&o, c.ctx, &p), SEINE_OK);
    CHECK_EQ(seine_pool_submit(p, NULL, no_job, NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_pool_wait(p, NULL), SEINE_E_INVAL);
    seine_pool_free(p);
    crew_end(&c);
}

static seine_fault
no_attempt(seine_ctx *ctx, uint32_t number, void *arg)
{
    (void)ctx;
    (void)number;
    (void)arg;
    return (seine_fault)SEINE_FAULT;
}

TEST(retry_without_opts_a_fault_a_ctx_or_an_attempt_ends)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;
    seine_retry r = {.opts = &o}, none = {0};
    seine_fault f = SEINE_FAULT;
    crew c = crew_new(T0);

    CHECK_EQ(seine_retry_backoff(NULL, 3), 0);
    CHECK_EQ(seine_retry_classify(NULL, 503), SEINE_E_INVAL);
    f.code = SEINE_E_TIMEOUT;
    seine_retry_begin(&r, T0);
    CHECK_EQ(seine_retry_next(NULL, &f, T0, 0).stop, SEINE_STOP_FINAL);
    CHECK_EQ(seine_retry_next(&none, &f, T0, 0).stop, SEINE_STOP_FINAL);
    CHECK_EQ(seine_retry_next(&r, NULL, T0, 0).stop, SEINE_STOP_FINAL);
    CHECK_EQ(seine_retry_next(&r, NULL, T0, 0).at, SEINE_NEVER);
    CHECK_EQ(seine_retry_run(&o, NULL, no_attempt, NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_retry_run(&o, c.ctx, NULL, NULL, NULL), SEINE_E_INVAL);
    crew_end(&c);
}

TEST(retry_budget_without_an_answer_is_invalid)
{
    seine_retry_budget_opts o = SEINE_RETRY_BUDGET_OPTS;

    CHECK_EQ(seine_retry_budget_new(&o, NULL), SEINE_E_INVAL);
}

TEST(seen_without_a_key_or_an_answer_is_invalid)
{
    seine_seen_opts o = SEINE_SEEN_OPTS;
    seine_seen *s = NULL;
    uint64_t print = 1;
    uint8_t news = 7;
    bool is_new = false;

    CHECK_EQ(seine_seen_new(&o, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_seen_new(&o, &s), SEINE_OK);
    CHECK_EQ(seine_seen_add_many(s, NULL, 1, &news), SEINE_E_INVAL);
    CHECK_EQ(seine_seen_add_many(s, &print, 1, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_seen_add(s, "k", 1, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_seen_add(s, NULL, 1, &is_new), SEINE_E_INVAL);
    CHECK_EQ(seine_seen_add(s, NULL, 0, &is_new), SEINE_OK); /* no bytes are a key, too */
    CHECK(is_new);
    CHECK_EQ(news, 7);
    seine_seen_free(s);
}

TEST(summary_of_nothing_is_zero)
{
    CHECK_EQ(seine_summary_avg_ms(NULL), 0);
    CHECK(seine_summary_rate(NULL) == 0);
}

TEST(throttle_without_a_ctx_a_slot_or_opts_is_invalid)
{
    crew c = crew_new(T0);
    seine_throttle t;
    seine_slot slot = {0};

    CHECK_EQ(seine_throttle_init_semaphore(&t, 1), SEINE_OK);
    CHECK_EQ(seine_throttle_wait(&t, NULL, &slot), SEINE_E_INVAL);
    CHECK_EQ(seine_throttle_wait(&t, c.ctx, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_pace(NULL, SEINE_MS(7), SEINE_MS(1), true), SEINE_MS(7));
    seine_throttle_fini(&t);
    crew_end(&c);
}

TEST(attempt_without_its_guards_is_invalid)
{
    seine_guards g = {0};
    seine_attempt a = {0};
    seine_fault f = SEINE_FAULT;
    crew c = crew_new(T0);

    CHECK_EQ(seine_attempt_begin(NULL, &g, c.ctx, T0).err, SEINE_E_INVAL);
    seine_attempt_verdict v = seine_attempt_begin(&a, NULL, c.ctx, T0);
    CHECK_EQ(v.err, SEINE_E_INVAL);
    CHECK_EQ(v.when, SEINE_NEVER); /* waiting does not help */
    CHECK_EQ(seine_attempt_end(NULL, &f, T0), SEINE_E_INVAL);
    crew_end(&c);
}

TEST(call_without_a_ctx_is_invalid_and_says_so_in_its_result)
{
    seine_call_opts o = SEINE_CALL_OPTS;
    seine_call_result res = {0};

    CHECK_EQ(seine_call(&o, NULL, KEY, no_attempt, NULL, &res), SEINE_E_INVAL);
    CHECK_EQ(res.fault.code, SEINE_E_INVAL);
    CHECK_EQ(res.stop, SEINE_STOP_FINAL);
    CHECK_EQ(res.attempts, 0);
    CHECK_EQ(seine_call(&o, NULL, KEY, no_attempt, NULL, NULL), SEINE_E_INVAL);
}
