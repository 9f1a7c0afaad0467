/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/call.h"

#include <string.h>

#include "check.h"
#include "crew.h"
#include "failing.h"

#define T0 SEINE_SECS(1000)

/* A list of results, and what the function saw. */
typedef struct script {
    const seine_err *codes; /* the last one repeats */
    int n, ran;
    uint16_t status;
    seine_span retry_after, takes;
    seine_time at[16];
    seine_time deadline;
    uint32_t in_flight_while_backing_off;
    seine_throttle *throttle;
    seine_ctx *cancel; /* cancelled inside the first attempt */
    bool unsent;
    int fallbacks, retries;
    seine_err fallback; /* what the fallback returns */
    seine_time retry_at[8];
} script;

static seine_fault
play(seine_ctx *attempt, uint32_t number, void *arg)
{
    script *s = arg;
    seine_clock *clock = seine_ctx_clock(attempt);
    seine_fault f = SEINE_FAULT;
    int i = s->ran < s->n ? s->ran : s->n - 1;

    CHECK(number > (uint32_t)s->ran);
    if (s->ran < 16)
        s->at[s->ran] = clock->now(clock) - T0;
    s->ran++;
    s->deadline = seine_ctx_deadline(attempt);
    f.code = s->codes[i];
    f.status = s->status;
    f.retry_after = s->retry_after;
    f.sent = !s->unsent;
    if (s->cancel)
        seine_ctx_cancel(s->cancel, SEINE_OK);
    if (s->takes) {
        seine_err e = seine_ctx_sleep(attempt, clock->now(clock) + s->takes);

        if (e != SEINE_OK)
            f.code = e;
    }
    return f;
}

typedef struct job {
    seine_call_opts opts;
    seine_ctx *ctx;
    script script;
    seine_err result;
    seine_call_result res;
} job;

static void
job_run(void *arg)
{
    job *j = arg;

    j->result = seine_call(&j->opts, j->ctx, seine_key_str("https://e.example:443"), play,
                           &j->script, &j->res);
}

static const seine_retry_opts steady = {
    .size = sizeof(seine_retry_opts),
    .max_attempts = 3,
    .jitter = SEINE_JITTER_NONE,
    .base = SEINE_MS(100),
    .max = SEINE_SECS(10),
    .retry_after_max = SEINE_SECS(3600),
    .max_elapsed = SEINE_NEVER,
    .status = {{0, 0, 0, 0, 0, 0, 0x0000220001000000u, 0xfdd0000000000000u,
                0xffffffffffffffffu, 0xffffffu}}};

static const seine_err always_busy[] = {SEINE_E_HTTP_BUSY};
static const seine_err always_dead[] = {SEINE_E_CONNECT};
static const seine_err always_ok[] = {SEINE_OK};

static job
job_of(crew *c, const seine_err *codes, int n, uint16_t status)
{
    return (job){
        .opts = {.size = sizeof(seine_call_opts), .retry = &steady, .idempotent = true},
        .ctx = c->ctx,
        .script = {.codes = codes, .n = n, .status = status, .retry_after = -1}};
}

/* Runs blocking calls to their end, however long they wait. */
static void
run_jobs(crew *c, job *jobs, int n)
{
    for (int i = 0; i < n; i++)
        crew_add(c, job_run, &jobs[i]);
    crew_advance(c, SEINE_SECS(100000));
    crew_join(c);
}

TEST(call_without_guards_runs_the_function_once)
{
    crew c = crew_new(T0);
    job j = job_of(&c, always_ok, 1, 200);

    j.opts.retry = NULL;
    run_jobs(&c, &j, 1);
    CHECK_EQ(j.result, SEINE_OK);
    CHECK_EQ(j.res.attempts, 1);
    CHECK_EQ(j.res.stop, SEINE_STOP_OK);
    CHECK_EQ(j.script.deadline, T0 + SEINE_SECS(30));
    crew_end(&c);
}

TEST(call_tries_again_and_stops_when_it_succeeds)
{
    static const seine_err codes[] = {SEINE_E_HTTP_BUSY, SEINE_E_HTTP_BUSY, SEINE_OK};
    crew c = crew_new(T0);
    job j = job_of(&c, codes, 3, 500);

    run_jobs(&c, &j, 1);
    CHECK_EQ(j.result, SEINE_OK);
    CHECK_EQ(j.res.attempts, 3);
    CHECK_EQ(j.script.at[1], SEINE_MS(100));
    CHECK_EQ(j.script.at[2], SEINE_MS(300));
    CHECK_EQ(j.res.took, SEINE_MS(300));
    crew_end(&c);
}

TEST(call_returns_the_last_failure_unchanged)
{
    crew c = crew_new(T0);
    job j = job_of(&c, always_busy, 1, 500);

    run_jobs(&c, &j, 1);
    CHECK_EQ(j.result, SEINE_E_HTTP_BUSY);
    CHECK_EQ(j.res.fault.status, 500);
    CHECK_EQ(j.res.attempts, 3);
    CHECK_EQ(j.res.stop, SEINE_STOP_ATTEMPTS);
    CHECK_EQ(j.res.took, SEINE_MS(300)); /* no sleep after the last */
    crew_end(&c);
}

static seine_breakers *
registry(uint32_t threshold)
{
    static seine_breaker_opts opts = SEINE_BREAKER_OPTS;
    seine_breakers *r = NULL;

    opts.failure_threshold = threshold;
    CHECK_EQ(seine_breakers_new(&opts, 100, &r), SEINE_OK);
    return r;
}

TEST(x_23_breaker_counts_every_attempt_not_the_whole_sequence)
{
    static const seine_err codes[] = {SEINE_E_CONNECT, SEINE_E_CONNECT, SEINE_OK};
    crew c = crew_new(T0);
    job j = job_of(&c, codes, 3, 0);
    seine_breaker_stats s;

    j.opts.breakers = registry(5);
    run_jobs(&c, &j, 1);
    CHECK_EQ(j.result, SEINE_OK);
    CHECK_EQ(seine_breakers_stats_get(j.opts.breakers,
                                      seine_key_str("https://e.example:443"), &s),
             SEINE_OK);
    CHECK_EQ(s.failed, 2);
    CHECK_EQ(s.succeeded, 1);
    CHECK_EQ(s.why, SEINE_E_CONNECT);
    seine_breakers_free(j.opts.breakers);
    crew_end(&c);
}

TEST(s0_28_call_refused_by_the_breaker_makes_no_attempt)
{
    crew c = crew_new(T0);
    job j = job_of(&c, always_dead, 1, 0);

    j.opts.breakers = registry(2);
    run_jobs(&c, &j, 1); /* opens in its second attempt: the failure stays */
    CHECK_EQ(j.result, SEINE_E_CONNECT);
    CHECK_EQ(j.res.attempts, 2);
    CHECK_EQ(j.res.stop, SEINE_STOP_BREAKER);

    seine_breakers *r = j.opts.breakers;
    seine_breakers_reset_all(r);
    job first = job_of(&c, always_dead, 1, 0), second = job_of(&c, always_ok, 1, 200);
    first.opts.breakers = second.opts.breakers = r;
    crew_add(&c, job_run, &first);
    crew_advance(&c, SEINE_MS(500));
    crew_add(&c, job_run, &second);
    crew_join(&c);
    CHECK_EQ(second.result, SEINE_E_BREAKER);
    CHECK_EQ(second.res.attempts, 0);
    CHECK_EQ(second.res.took, 0);
    CHECK_EQ(second.script.ran, 0);
    CHECK_EQ(second.res.stop, SEINE_STOP_BREAKER);
    seine_breakers_free(r);
    crew_end(&c);
}

TEST(call_that_waits_for_an_open_breaker_goes_on_when_it_may)
{
    static const seine_err codes[] = {SEINE_E_CONNECT, SEINE_E_CONNECT, SEINE_OK};
    crew c = crew_new(T0);
    job j = job_of(&c, codes, 3, 0);

    j.opts.breakers = registry(2);
    j.opts.wait_open = true;
    run_jobs(&c, &j, 1);
    CHECK_EQ(j.result, SEINE_OK);
    CHECK_EQ(j.script.at[2], SEINE_MS(100) + SEINE_SECS(60));
    seine_breakers_free(j.opts.breakers);
    crew_end(&c);
}

TEST(call_that_would_wait_past_its_deadline_ends_at_once_with_the_failure)
{
    crew c = crew_new(T0);
    job j = job_of(&c, always_dead, 1, 0);

    CHECK_EQ(seine_ctx_new(c.ctx, T0 + SEINE_SECS(10), &j.ctx), SEINE_OK);
    j.opts.breakers = registry(2);
    j.opts.wait_open = true;
    run_jobs(&c, &j, 1);
    CHECK_EQ(j.result, SEINE_E_CONNECT);
    CHECK_EQ(j.res.stop, SEINE_STOP_DEADLINE);
    CHECK_EQ(j.res.took, SEINE_MS(300)); /* the backoff, and not a moment more */
    seine_breakers_free(j.opts.breakers);
    seine_ctx_unref(j.ctx);
    crew_end(&c);
}

TEST(call_that_is_cancelled_says_so)
{
    crew c = crew_new(T0);
    job before = job_of(&c, always_ok, 1, 200), during = job_of(&c, always_dead, 1, 0);
    job asleep = job_of(&c, always_busy, 1, 500);

    CHECK_EQ(seine_ctx_new(c.ctx, SEINE_NEVER, &before.ctx), SEINE_OK);
    CHECK_EQ(seine_ctx_new(c.ctx, SEINE_NEVER, &during.ctx), SEINE_OK);
    CHECK_EQ(seine_ctx_new(c.ctx, SEINE_NEVER, &asleep.ctx), SEINE_OK);
    seine_ctx_cancel(before.ctx, SEINE_E_CLOSED);
    crew_add(&c, job_run, &before);
    during.script.cancel = during.ctx; /* finds the cancellation while it backs off */
    crew_add(&c, job_run, &during);
    crew_add(&c, job_run, &asleep);
    crew_advance(&c, SEINE_MS(50));
    seine_ctx_cancel(asleep.ctx, SEINE_OK);
    crew_advance(&c, SEINE_SECS(9));
    crew_join(&c);

    CHECK_EQ(before.result, SEINE_E_CLOSED);
    CHECK_EQ(before.res.attempts, 0);
    CHECK_EQ(during.result, SEINE_E_CANCELED);
    CHECK_EQ(during.res.attempts, 1);
    CHECK_EQ(asleep.result, SEINE_E_CANCELED);
    CHECK_EQ(asleep.res.stop, SEINE_STOP_CANCELED);
    CHECK_EQ(asleep.res.attempts, 1);
    CHECK_EQ(asleep.res.took, SEINE_MS(50));
    seine_ctx_unref(before.ctx);
    seine_ctx_unref(during.ctx);
    seine_ctx_unref(asleep.ctx);
    crew_end(&c);
}

static seine_fault
count_in_flight(seine_ctx *attempt, uint32_t number, void *arg)
{
    script *s = arg;
    seine_fault f = SEINE_FAULT;

    (void)attempt;
    CHECK_EQ(seine_throttle_in_flight(s->throttle), 1);
    s->ran = (int)number;
    f.code = SEINE_E_CONNECT;
    return f;
}

typedef struct lone {
    seine_call_opts opts;
    seine_ctx *ctx;
    script script;
    seine_err result;
} lone;

static void
lone_run(void *arg)
{
    lone *l = arg;

    l->result = seine_call(&l->opts, l->ctx, seine_key_str("k"), count_in_flight,
                           &l->script, NULL);
}

TEST(x_24_call_takes_tokens_per_attempt_and_holds_nothing_while_backing_off)
{
    crew c = crew_new(T0);
    seine_throttle throttle;
    seine_keyed *rates;
    seine_keyed_opts keyed = SEINE_KEYED_OPTS;
    seine_limiter_stats s;
    seine_want limits = {{1000, 10, 10, UINT64_MAX}}, used;
    lone l = {.opts = {.size = sizeof(seine_call_opts),
                       .retry = &steady,
                       .want = {{500, 1, 1, 0}}},
              .ctx = c.ctx};

    CHECK_EQ(seine_throttle_init_semaphore(&throttle, 1), SEINE_OK);
    CHECK_EQ(seine_keyed_new(&keyed, &rates), SEINE_OK);
    CHECK_EQ(seine_budget_new(&limits, &l.opts.budget), SEINE_OK);
    l.opts.rates = rates;
    l.opts.throttle = l.script.throttle = &throttle;
    crew_add(&c, lone_run, &l);
    CHECK_EQ(l.script.ran, 1);
    CHECK_EQ(seine_throttle_in_flight(&throttle), 0); /* asleep between attempts */
    seine_budget_used_get(l.opts.budget, &used);
    CHECK_EQ(used.n[SEINE_RES_MEMORY], 0);
    crew_advance(&c, SEINE_SECS(1));
    crew_join(&c);
    CHECK_EQ(l.script.ran, 3);
    CHECK_EQ(l.result, SEINE_E_CONNECT);
    CHECK_EQ(seine_keyed_stats_get(rates, seine_key_str("k"), T0, &s), SEINE_OK);
    CHECK_EQ(s.allowed, 3);
    seine_budget_free(l.opts.budget);
    seine_keyed_free(rates);
    seine_throttle_fini(&throttle);
    crew_end(&c);
}

TEST_THREADS(x_25_call_limits_and_breaks_per_key_under_one_throttle)
{
    crew c = crew_new(T0);
    seine_throttle throttle;
    seine_keyed_opts keyed = SEINE_KEYED_OPTS;
    seine_keyed *rates;
    seine_shared *rate;
    seine_shared_opts shared = {
        sizeof(seine_shared_opts), {10, SEINE_SECS(1), 1}, SEINE_FULL, 100};
    job jobs[6];

    keyed.each = (seine_rate){1, SEINE_SECS(1), 1};
    CHECK_EQ(seine_keyed_new(&keyed, &rates), SEINE_OK);
    CHECK_EQ(seine_shared_new(&shared, T0, &rate), SEINE_OK);
    CHECK_EQ(seine_throttle_init_semaphore(&throttle, 2), SEINE_OK);
    for (int i = 0; i < 6; i++) {
        jobs[i] = job_of(&c, always_ok, 1, 200);
        jobs[i].opts.rates = rates;
        jobs[i].opts.rate = rate;
        jobs[i].opts.throttle = &throttle;
        jobs[i].script.takes = SEINE_MS(10);
    }
    run_jobs(&c, jobs, 6);
    for (int i = 0; i < 6; i++) {
        CHECK_EQ(jobs[i].result, SEINE_OK);
        CHECK_EQ(jobs[i].script.at[0], SEINE_SECS(i)); /* the key's one a second */
    }
    CHECK_EQ(seine_throttle_in_flight(&throttle), 0);
    seine_keyed_free(rates);
    seine_shared_free(rate);
    seine_throttle_fini(&throttle);
    crew_end(&c);
}

TEST(x_28_attempt_that_outlives_its_time_is_a_timeout_with_the_configured_ms)
{
    crew c = crew_new(T0);
    job j = job_of(&c, always_ok, 1, 200), tight = j;

    j.opts.retry = NULL;
    j.opts.attempt_timeout = SEINE_MS(250);
    j.script.takes = SEINE_SECS(2);
    run_jobs(&c, &j, 1);
    CHECK_EQ(j.result, SEINE_E_TIMEOUT);
    CHECK_EQ(j.res.fault.timeout_ms, 250);

    /* The caller's own deadline is DEADLINE, and no failure of the host. */
    tight.script.takes = SEINE_SECS(2);
    seine_time now = crew_now(&c);
    CHECK_EQ(seine_ctx_new(c.ctx, now + SEINE_MS(100), &tight.ctx), SEINE_OK);
    tight.opts.breakers = registry(1);
    run_jobs(&c, &tight, 1);
    CHECK_EQ(tight.result, SEINE_E_DEADLINE);
    CHECK_EQ(seine_breakers_state_get(tight.opts.breakers,
                                      seine_key_str("https://e.example:443")),
             SEINE_BREAKER_CLOSED);
    seine_breakers_free(tight.opts.breakers);
    seine_ctx_unref(tight.ctx);
    crew_end(&c);
}

TEST(call_lets_the_servers_wish_hold_back_everybody)
{
    static const seine_err codes[] = {SEINE_E_HTTP_BUSY, SEINE_OK};
    crew c = crew_new(T0);
    seine_keyed_opts keyed = SEINE_KEYED_OPTS;
    job a = job_of(&c, codes, 2, 429), b = job_of(&c, always_ok, 1, 200);

    CHECK_EQ(seine_keyed_new(&keyed, &a.opts.rates), SEINE_OK);
    b.opts.rates = a.opts.rates;
    a.script.retry_after = SEINE_SECS(5);
    crew_add(&c, job_run, &a);
    crew_add(&c, job_run, &b);
    crew_advance(&c, SEINE_SECS(100));
    crew_join(&c);
    CHECK_EQ(a.result, SEINE_OK);
    CHECK(a.script.at[1] >= SEINE_SECS(5));
    CHECK_EQ(b.script.at[0], SEINE_SECS(5));
    seine_keyed_free(a.opts.rates);
    crew_end(&c);
}

TEST(s0_27_call_over_the_budget_says_which_limit)
{
    crew c = crew_new(T0);
    seine_want limits = {{UINT64_MAX, UINT64_MAX, UINT64_MAX, 1000}};
    job j = job_of(&c, always_ok, 1, 200);
    char text[128];

    CHECK_EQ(seine_budget_new(&limits, &j.opts.budget), SEINE_OK);
    seine_budget_start(j.opts.budget);
    seine_budget_end(j.opts.budget, 1001);
    run_jobs(&c, &j, 1);
    CHECK_EQ(j.result, SEINE_E_BUDGET);
    CHECK_EQ(j.res.attempts, 0);
    CHECK_EQ(j.res.took, 0);
    seine_fault_text(&j.res.fault, text, sizeof text);
    CHECK_STR(text, "Resource limit exceeded: download limit reached");
    seine_budget_free(j.opts.budget);
    crew_end(&c);
}

TEST(call_spends_the_retry_budget)
{
    crew c = crew_new(T0);
    seine_retry_budget_opts opts = {
        sizeof(seine_retry_budget_opts), 0, 1, {1, SEINE_SECS(3600), 1}};
    job j = job_of(&c, always_busy, 1, 500);

    CHECK_EQ(seine_retry_budget_new(&opts, &j.opts.retry_budget), SEINE_OK);
    run_jobs(&c, &j, 1);
    CHECK_EQ(j.res.attempts, 2); /* one of the reserve */
    CHECK_EQ(j.res.stop, SEINE_STOP_BUDGET);
    CHECK_EQ(j.result, SEINE_E_HTTP_BUSY);
    seine_retry_budget_free(j.opts.retry_budget);
    crew_end(&c);
}

TEST(call_refuses_options_that_make_no_sense_and_still_writes_its_result)
{
    crew c = crew_new(T0);
    seine_retry_opts none = steady;
    job j = job_of(&c, always_ok, 1, 200);

    none.max_attempts = 0;
    j.opts.retry = &none;
    j.res.attempts = 99;
    run_jobs(&c, &j, 1);
    CHECK_EQ(j.result, SEINE_E_INVAL);
    CHECK_EQ(j.res.attempts, 0);
    CHECK_EQ(j.res.fault.code, SEINE_E_INVAL);
    CHECK_EQ(j.script.ran, 0);
    j.opts.retry = NULL;
    j.opts.attempt_timeout = -1;
    run_jobs(&c, &j, 1);
    CHECK_EQ(j.result, SEINE_E_INVAL);
    crew_end(&c);
}

/* Two failures of the usual key at T0 open its breaker. */
static void
open_breaker(seine_breakers *r)
{
    seine_view key = seine_key_str("https://e.example:443");
    seine_permit p;

    for (int i = 0; i < 2; i++) {
        CHECK_EQ(seine_breakers_acquire(r, key, T0, &p), SEINE_OK);
        CHECK_EQ(seine_breakers_settle(r, key, &p, SEINE_FAILURE, T0), SEINE_OK);
    }
    CHECK_EQ(seine_breakers_when(r, key, T0), T0 + SEINE_SECS(60));
}

static seine_breakers *
opened(void)
{
    seine_breakers *r = registry(2);

    open_breaker(r);
    CHECK_EQ(seine_breakers_state_get(r, seine_key_str("https://e.example:443")),
             SEINE_BREAKER_OPEN);
    return r;
}

/* Four calls wait for an open breaker: one probes, and the others follow as soon as it
 * has ended. */
static void
check_one_probe_frees_four_calls(seine_breakers *r)
{
    crew c = crew_new(T0);
    job jobs[4];

    for (int i = 0; i < 4; i++) {
        jobs[i] = job_of(&c, always_ok, 1, 200);
        jobs[i].opts.breakers = r;
        jobs[i].opts.wait_open = true;
        jobs[i].script.takes = SEINE_SECS(2);
    }
    run_jobs(&c, jobs, 4);
    int probes = 0;
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(jobs[i].result, SEINE_OK);
        CHECK_EQ(jobs[i].res.attempts, 1);
        probes += jobs[i].script.at[0] == SEINE_SECS(60);
        CHECK(jobs[i].script.at[0] == SEINE_SECS(60) ||
              jobs[i].script.at[0] == SEINE_SECS(62));
    }
    CHECK_EQ(probes, 1);
    crew_end(&c);
}

TEST_THREADS(calls_that_wait_for_a_breaker_go_on_when_a_probe_closes_it)
{
    seine_breakers *r = opened();

    check_one_probe_frees_four_calls(r);
    seine_breakers_free(r);
}

TEST_THREADS(calls_that_wait_for_the_breaker_of_keys_without_a_place_go_on_alike)
{
    static seine_breaker_opts opts = SEINE_BREAKER_OPTS;
    seine_view other = seine_key_str("https://other.example:443");
    seine_permit under_way;
    seine_breakers *r;

    opts.failure_threshold = 2;
    CHECK_EQ(seine_breakers_new(&opts, 1, &r), SEINE_OK);
    CHECK_EQ(seine_breakers_acquire(r, other, T0, &under_way), SEINE_OK);
    open_breaker(r);
    CHECK_EQ(seine_breakers_overflowed(r), 2);
    check_one_probe_frees_four_calls(r);
    CHECK_EQ(seine_breakers_settle(r, other, &under_way, SEINE_SUCCESS, T0), SEINE_OK);
    seine_breakers_free(r);
}

TEST_THREADS(calls_that_wait_for_a_breaker_try_again_when_a_probe_fails_or_says_nothing)
{
    static const seine_err fails[] = {SEINE_E_CONNECT};
    static const seine_err nothing[] = {SEINE_E_TLS_UNTRUSTED};
    crew c = crew_new(T0);
    seine_breakers *r = opened();
    job jobs[3];

    for (int i = 0; i < 3; i++) {
        jobs[i] = job_of(&c, i == 0 ? fails : i == 1 ? nothing : always_ok, 1, 0);
        jobs[i].opts.breakers = r;
        jobs[i].opts.wait_open = true;
        jobs[i].opts.retry = NULL;
        jobs[i].script.takes = SEINE_SECS(2);
        crew_add(&c, job_run, &jobs[i]);
    }
    crew_advance(&c, SEINE_SECS(100000));
    crew_join(&c);
    /* One probe at a time; a failed one costs 60 s more. */
    seine_span last = 0;
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(jobs[i].script.ran, 1);
        if (jobs[i].script.at[0] > last)
            last = jobs[i].script.at[0];
    }
    CHECK(last <= SEINE_SECS(60 + 2 + 60 + 2));
    seine_breakers_free(r);
    crew_end(&c);
}

TEST_THREADS(call_that_waits_for_a_breaker_hears_a_reset_and_its_own_cancellation)
{
    crew c = crew_new(T0);
    seine_breakers *r = opened();
    job reset = job_of(&c, always_ok, 1, 200), gone = reset;

    CHECK_EQ(seine_ctx_new(c.ctx, SEINE_NEVER, &gone.ctx), SEINE_OK);
    reset.opts.breakers = gone.opts.breakers = r;
    reset.opts.wait_open = gone.opts.wait_open = true;
    crew_add(&c, job_run, &reset);
    crew_add(&c, job_run, &gone);
    crew_advance(&c, SEINE_SECS(5));
    seine_ctx_cancel(gone.ctx, SEINE_OK);
    crew_advance(&c, SEINE_SECS(5));
    seine_breakers_reset_all(r);
    crew_advance(&c, SEINE_SECS(100));
    crew_join(&c);
    CHECK_EQ(gone.result, SEINE_E_CANCELED);
    CHECK_EQ(gone.res.took, SEINE_SECS(5));
    CHECK_EQ(reset.result, SEINE_OK);
    CHECK_EQ(reset.script.at[0], SEINE_SECS(10));
    seine_ctx_unref(gone.ctx);
    seine_breakers_free(r);
    crew_end(&c);
}

TEST_THREADS(calls_that_a_breaker_refuses_give_every_token_back)
{
    crew c = crew_new(T0);
    seine_breakers *r = registry(1);
    seine_keyed_opts keyed = SEINE_KEYED_OPTS;
    seine_shared_opts shared = {
        sizeof(seine_shared_opts), {1, SEINE_SECS(3600), 10}, SEINE_FULL, 100};
    seine_keyed *rates;
    seine_shared *rate;
    seine_throttle throttle;
    seine_limiter_stats s;
    job jobs[6];

    keyed.each = (seine_rate){1, SEINE_SECS(3600), 10};
    CHECK_EQ(seine_keyed_new(&keyed, &rates), SEINE_OK);
    CHECK_EQ(seine_shared_new(&shared, T0, &rate), SEINE_OK);
    CHECK_EQ(seine_throttle_init_semaphore(&throttle, 1), SEINE_OK);
    for (int i = 0; i < 6; i++) { /* the first fails; the others queue behind it */
        jobs[i] = job_of(&c, always_dead, 1, 0);
        jobs[i].opts.retry = NULL;
        jobs[i].opts.breakers = r;
        jobs[i].opts.rates = rates;
        jobs[i].opts.rate = rate;
        jobs[i].opts.throttle = &throttle;
        jobs[i].script.takes = SEINE_MS(10);
    }
    run_jobs(&c, jobs, 6);
    for (int i = 1; i < 6; i++) {
        CHECK_EQ(jobs[i].result, SEINE_E_BREAKER);
        CHECK_EQ(jobs[i].res.attempts, 0);
    }
    seine_time then = T0 + SEINE_MS(10);
    CHECK_EQ(
        seine_keyed_stats_get(rates, seine_key_str("https://e.example:443"), then, &s),
        SEINE_OK);
    CHECK_EQ((int)s.tokens, 9);
    seine_shared_stats_get(rate, then, &s);
    CHECK_EQ((int)s.tokens, 9);
    CHECK_EQ(seine_throttle_in_flight(&throttle), 0);
    seine_keyed_free(rates);
    seine_shared_free(rate);
    seine_throttle_fini(&throttle);
    seine_breakers_free(r);
    crew_end(&c);
}

typedef struct keyed_job {
    job job;
    const char *key;
} keyed_job;

static void
keyed_job_run(void *arg)
{
    keyed_job *k = arg;

    k->job.result = seine_call(&k->job.opts, k->job.ctx, seine_key_str(k->key), play,
                               &k->job.script, &k->job.res);
}

TEST_THREADS(call_to_an_idle_key_does_not_wait_behind_calls_to_a_busy_one)
{
    crew c = crew_new(T0);
    seine_keyed_opts keyed = SEINE_KEYED_OPTS;
    seine_keyed *rates;
    seine_throttle throttle;
    seine_want limits = {{UINT64_MAX, 2, UINT64_MAX, UINT64_MAX}};
    seine_budget *budget;
    keyed_job jobs[7];

    keyed.each = (seine_rate){1, SEINE_SECS(1), 1};
    CHECK_EQ(seine_keyed_new(&keyed, &rates), SEINE_OK);
    CHECK_EQ(seine_throttle_init_semaphore(&throttle, 2), SEINE_OK);
    CHECK_EQ(seine_budget_new(&limits, &budget), SEINE_OK);
    for (int i = 0; i < 7; i++) {
        jobs[i] =
            (keyed_job){job_of(&c, always_ok, 1, 200), i < 6 ? "busy.example" : "idle"};
        jobs[i].job.opts.rates = rates;
        jobs[i].job.opts.throttle = &throttle;
        jobs[i].job.opts.budget = budget;
        jobs[i].job.opts.want.n[SEINE_RES_FDS] = 1;
        jobs[i].job.script.takes = SEINE_MS(10);
        crew_add(&c, keyed_job_run, &jobs[i]);
    }
    crew_advance(&c, SEINE_SECS(100));
    crew_join(&c);
    CHECK_EQ(jobs[6].job.script.at[0], 0);
    for (int i = 0; i < 6; i++) {
        CHECK_EQ(jobs[i].job.result, SEINE_OK);
        CHECK_EQ(jobs[i].job.script.at[0], SEINE_SECS(i)); /* in order, one a second */
    }
    CHECK_EQ(seine_throttle_in_flight(&throttle), 0);
    seine_keyed_free(rates);
    seine_throttle_fini(&throttle);
    seine_budget_free(budget);
    crew_end(&c);
}

TEST(call_that_is_not_idempotent_repeats_only_what_was_not_sent)
{
    crew c = crew_new(T0);
    job sent = job_of(&c, always_dead, 1, 0), unsent = sent;

    sent.opts.idempotent = unsent.opts.idempotent = false;
    unsent.script.unsent = true;
    run_jobs(&c, &sent, 1);
    CHECK_EQ(sent.result, SEINE_E_CONNECT);
    CHECK_EQ(sent.res.attempts, 1);
    CHECK_EQ(sent.res.stop, SEINE_STOP_METHOD);
    run_jobs(&c, &unsent, 1);
    CHECK_EQ(unsent.res.attempts, 3);
    seine_call_opts standard = SEINE_CALL_OPTS;
    CHECK(!standard.idempotent);
    crew_end(&c);
}

TEST_THREADS(call_waits_for_a_slot_of_its_key_before_anything_of_the_process)
{
    crew c = crew_new(T0);
    seine_throttles_opts opts = SEINE_THROTTLES_OPTS;
    seine_throttles *throttles;
    seine_throttle throttle;
    keyed_job jobs[4];

    opts.permits = 1;
    CHECK_EQ(seine_throttles_new(&opts, &throttles), SEINE_OK);
    CHECK_EQ(seine_throttle_init_semaphore(&throttle, 2), SEINE_OK);
    for (int i = 0; i < 4; i++) {
        jobs[i] = (keyed_job){job_of(&c, always_ok, 1, 200), i < 3 ? "slow" : "fast"};
        jobs[i].job.opts.throttles = throttles;
        jobs[i].job.opts.throttle = &throttle;
        jobs[i].job.script.takes = SEINE_SECS(1);
        crew_add(&c, keyed_job_run, &jobs[i]);
    }
    CHECK_EQ(seine_throttle_in_flight(&throttle), 2); /* one slow, one fast */
    CHECK_EQ(seine_throttles_in_flight(throttles, seine_key_str("slow")), 1);
    crew_advance(&c, SEINE_SECS(100));
    crew_join(&c);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(jobs[i].job.script.at[0], SEINE_SECS(i));
    CHECK_EQ(jobs[3].job.script.at[0], 0);
    CHECK_EQ(seine_throttles_in_flight(throttles, seine_key_str("slow")), 0);
    seine_throttles_free(throttles);
    seine_throttle_fini(&throttle);
    crew_end(&c);
}

/* The breaker opens while they wait for their key; the token of the process is there at
 * once. */
TEST_THREADS(calls_whose_key_came_too_late_give_every_token_back)
{
    crew c = crew_new(T0);
    seine_breakers *r = registry(1);
    seine_keyed_opts keyed = SEINE_KEYED_OPTS;
    seine_shared_opts shared = {
        sizeof(seine_shared_opts), {1, SEINE_SECS(3600), 10}, SEINE_FULL, 100};
    seine_keyed *rates;
    seine_shared *rate;
    seine_limiter_stats s;
    job jobs[3];

    keyed.each = (seine_rate){1, SEINE_SECS(1), 1};
    CHECK_EQ(seine_keyed_new(&keyed, &rates), SEINE_OK);
    CHECK_EQ(seine_shared_new(&shared, T0, &rate), SEINE_OK);
    for (int i = 0; i < 3; i++) {
        jobs[i] = job_of(&c, always_dead, 1, 0);
        jobs[i].opts.retry = NULL;
        jobs[i].opts.breakers = r;
        jobs[i].opts.rates = rates;
        jobs[i].opts.rate = rate;
        jobs[i].script.takes = SEINE_MS(10);
    }
    run_jobs(&c, jobs, 3);
    for (int i = 1; i < 3; i++)
        CHECK_EQ(jobs[i].result, SEINE_E_BREAKER);
    seine_shared_stats_get(rate, T0 + SEINE_SECS(3), &s);
    CHECK_EQ((int)s.tokens, 9);
    seine_keyed_free(rates);
    seine_shared_free(rate);
    seine_breakers_free(r);
    crew_end(&c);
}

TEST(call_takes_as_many_tokens_per_attempt_as_it_says)
{
    crew c = crew_new(T0);
    seine_keyed_opts keyed = SEINE_KEYED_OPTS;
    seine_shared_opts shared = {
        sizeof(seine_shared_opts), {1, SEINE_SECS(3600), 10}, SEINE_FULL, 100};
    job j = job_of(&c, always_ok, 1, 200);
    seine_limiter_stats s;

    keyed.each = (seine_rate){1, SEINE_SECS(3600), 10};
    CHECK_EQ(seine_keyed_new(&keyed, &j.opts.rates), SEINE_OK);
    CHECK_EQ(seine_shared_new(&shared, T0, &j.opts.rate), SEINE_OK);
    j.opts.tokens = 4;
    run_jobs(&c, &j, 1);
    CHECK_EQ(j.result, SEINE_OK);
    CHECK_EQ(seine_keyed_stats_get(j.opts.rates, seine_key_str("https://e.example:443"),
                                   T0, &s),
             SEINE_OK);
    CHECK(s.tokens == 6.0);
    seine_shared_stats_get(j.opts.rate, T0, &s);
    CHECK(s.tokens == 6.0);
    j.opts.tokens = 11;
    run_jobs(&c, &j, 1);
    CHECK_EQ(j.result, SEINE_E_RANGE);
    CHECK_EQ(j.res.attempts, 0);
    seine_keyed_free(j.opts.rates);
    seine_shared_free(j.opts.rate);
    crew_end(&c);
}

static bool
is_not_teapot(const seine_fault *f, void *arg)
{
    script *s = arg;

    CHECK(s->ran > 0);
    return f->status == 404 || (f->code == SEINE_OK && f->status != 218);
}

TEST(call_asks_the_predicate_what_a_success_is)
{
    static const seine_err missing[] = {SEINE_E_HTTP}, gone[] = {SEINE_E_CANCELED};
    crew c = crew_new(T0);
    seine_view key = seine_key_str("https://e.example:443");
    job found = job_of(&c, missing, 1, 404), bad = job_of(&c, always_ok, 1, 218);
    job ours = job_of(&c, gone, 1, 0);
    seine_breaker_stats s;

    found.opts.is_success = bad.opts.is_success = ours.opts.is_success = is_not_teapot;
    found.opts.breakers = bad.opts.breakers = ours.opts.breakers = registry(100);
    run_jobs(&c, &found, 1);
    CHECK_EQ(found.result, SEINE_OK);
    CHECK_EQ(found.res.stop, SEINE_STOP_OK);
    CHECK_EQ(found.res.fault.status, 404);

    run_jobs(&c, &bad, 1);
    CHECK_EQ(bad.result, SEINE_E_HTTP_BUSY);
    CHECK_EQ(bad.res.fault.status, 218);
    CHECK_EQ(bad.res.attempts, 3);
    CHECK_EQ(seine_breakers_stats_get(bad.opts.breakers, key, &s), SEINE_OK);
    CHECK_EQ(s.succeeded, 1);
    CHECK_EQ(s.failed, 3);

    run_jobs(&c, &ours, 1); /* our own cancellation is nobody's success */
    CHECK_EQ(ours.result, SEINE_E_CANCELED);
    CHECK_EQ(seine_breakers_stats_get(bad.opts.breakers, key, &s), SEINE_OK);
    CHECK_EQ(s.ignored, 1);
    seine_breakers_free(bad.opts.breakers);
    crew_end(&c);
}

static seine_err
give_old(const seine_call_result *res, void *arg)
{
    script *s = arg;

    CHECK(res->fault.code != SEINE_OK);
    s->fallbacks++;
    return s->fallback;
}

TEST(call_that_failed_asks_the_fallback_once)
{
    crew c = crew_new(T0);
    job ok = job_of(&c, always_ok, 1, 200), old = job_of(&c, always_dead, 1, 0);
    job none = old, wrong = old, gone = old, open = old;

    ok.opts.fallback = old.opts.fallback = none.opts.fallback = give_old;
    wrong.opts.fallback = gone.opts.fallback = open.opts.fallback = give_old;
    none.script.fallback = SEINE_E_UNKNOWN;
    wrong.opts.attempt_timeout = -1;
    open.opts.breakers = opened();
    CHECK_EQ(seine_ctx_new(c.ctx, SEINE_NEVER, &gone.ctx), SEINE_OK);
    seine_ctx_cancel(gone.ctx, SEINE_OK);
    run_jobs(&c, &open, 1);
    run_jobs(&c, &ok, 1);
    run_jobs(&c, &old, 1);
    run_jobs(&c, &none, 1);
    run_jobs(&c, &wrong, 1);
    run_jobs(&c, &gone, 1);

    CHECK_EQ(ok.script.fallbacks, 0);
    CHECK(!ok.res.fell_back);
    CHECK_EQ(old.result, SEINE_OK);
    CHECK_EQ(old.script.fallbacks, 1);
    CHECK(old.res.fell_back);
    CHECK_EQ(old.res.fault.code, SEINE_E_CONNECT);
    CHECK_EQ(old.res.stop, SEINE_STOP_ATTEMPTS);
    CHECK_EQ(none.result, SEINE_E_CONNECT); /* the fallback has nothing either */
    CHECK(!none.res.fell_back);
    CHECK_EQ(open.result, SEINE_OK);
    CHECK_EQ(open.res.fault.code, SEINE_E_BREAKER);
    CHECK_EQ(wrong.result, SEINE_E_INVAL);
    CHECK_EQ(wrong.script.fallbacks, 0);
    CHECK_EQ(gone.result, SEINE_E_CANCELED);
    CHECK_EQ(gone.script.fallbacks, 0);
    seine_breakers_free(open.opts.breakers);
    seine_ctx_unref(gone.ctx);
    crew_end(&c);
}

static void
note_retry(uint32_t attempts, const seine_fault *f, seine_time at, void *arg)
{
    script *s = arg;

    CHECK_EQ(attempts, s->ran);
    CHECK_EQ(f->code, SEINE_E_CONNECT);
    s->retry_at[s->retries++] = at - T0;
    if (s->throttle)
        CHECK_EQ(seine_throttle_in_flight(s->throttle), 0); /* nothing is held */
}

TEST(call_tells_each_retry_before_it_sleeps)
{
    crew c = crew_new(T0);
    seine_retry_opts told = steady;
    seine_throttle throttle;
    job j = job_of(&c, always_dead, 1, 0);

    CHECK_EQ(seine_throttle_init_semaphore(&throttle, 1), SEINE_OK);
    told.on_retry = note_retry;
    told.factor_pct = 300;
    j.opts.retry = &told;
    j.opts.throttle = j.script.throttle = &throttle;
    run_jobs(&c, &j, 1);
    CHECK_EQ(j.script.retries, 2); /* the last failure is not followed by one */
    CHECK_EQ(j.script.retry_at[0], SEINE_MS(100));
    CHECK_EQ(j.script.retry_at[1], SEINE_MS(400));
    CHECK_EQ(j.script.at[2], SEINE_MS(400));
    seine_throttle_fini(&throttle);
    crew_end(&c);
}

/* The whole call with the n-th allocation failing, on the system's clock but without any
 * wait. */
TEST(call_survives_failing_memory)
{
    FAIL_EACH(r)
    {
        seine_breaker_opts breaker = SEINE_BREAKER_OPTS;
        seine_keyed_opts keyed = SEINE_KEYED_OPTS;
        seine_shared_opts shared = SEINE_SHARED_OPTS;
        seine_retry_budget_opts retry_budget = SEINE_RETRY_BUDGET_OPTS;
        seine_retry_opts retry = {.size = sizeof(seine_retry_opts),
                                  .max_attempts = 2,
                                  .jitter = SEINE_JITTER_NONE,
                                  .max_elapsed = SEINE_NEVER};
        seine_want limits = {{1000, 10, 10, UINT64_MAX}}, used;
        seine_throttle throttle;
        seine_ctx *ctx = NULL;
        seine_call_opts o = {.size = sizeof(seine_call_opts),
                             .retry = &retry,
                             .want = {{10, 1, 1, 0}},
                             .idempotent = true};
        script s = {.codes = (const seine_err[]){SEINE_E_CONNECT, SEINE_OK},
                    .n = 2,
                    .retry_after = -1};

        breaker.half_open_max = 2;
        breaker.window_calls = 10;
        breaker.failure_pct = 100;
        if (seine_breakers_new(&breaker, 8, &o.breakers) == SEINE_OK &&
            seine_keyed_new(&keyed, &o.rates) == SEINE_OK &&
            seine_shared_new(&shared, 0, &o.rate) == SEINE_OK &&
            seine_retry_budget_new(&retry_budget, &o.retry_budget) == SEINE_OK &&
            seine_budget_new(&limits, &o.budget) == SEINE_OK &&
            seine_throttle_init_semaphore(&throttle, 1) == SEINE_OK) {
            o.throttle = &throttle;
            if (seine_ctx_root(seine_clock_system(), &ctx) == SEINE_OK) {
                seine_view key = seine_key_str("https://a-rather-long-name.example:443");
                seine_call_result res;
                seine_err e = seine_call(&o, ctx, key, play, &s, &res);

                CHECK(e == SEINE_OK || e == SEINE_E_NOMEM || e == SEINE_E_CONNECT);
                CHECK_EQ(res.fault.code, e);
                CHECK_EQ(seine_throttle_in_flight(&throttle), 0);
                seine_budget_used_get(o.budget, &used);
                CHECK_EQ(used.n[SEINE_RES_MEMORY], 0);
            }
            seine_throttle_fini(&throttle);
        }
        seine_ctx_unref(ctx);
        seine_breakers_free(o.breakers);
        seine_keyed_free(o.rates);
        seine_shared_free(o.rate);
        seine_retry_budget_free(o.retry_budget);
        seine_budget_free(o.budget);
    }
}

/* Between two looks at the clock of the process's line, others may take the key's token.
 */
typedef struct thief {
    seine_keyed *rates;
    seine_ctx *ctx;
    seine_time at;
    seine_err slept;
} thief;

static void
steal_tokens(void *arg)
{
    thief *t = arg;

    t->slept = seine_ctx_sleep(t->ctx, t->at);
    while (seine_keyed_allow(t->rates, seine_key_str("https://e.example:443"), t->at, 1))
        ;
}

TEST(call_without_a_rate_of_its_key_waits_for_the_process_alone)
{
    crew c = crew_new(T0);
    seine_shared_opts shared = {
        sizeof(seine_shared_opts), {1, SEINE_SECS(1), 1}, SEINE_FULL, 100};
    seine_shared *rate;
    job jobs[3];

    CHECK_EQ(seine_shared_new(&shared, T0, &rate), SEINE_OK);
    for (int i = 0; i < 3; i++) {
        jobs[i] = job_of(&c, always_ok, 1, 200);
        jobs[i].opts.rate = rate;
        crew_add(&c, job_run, &jobs[i]);
    }
    crew_advance(&c, SEINE_SECS(9));
    crew_join(&c);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(jobs[i].result, SEINE_OK);
        CHECK_EQ(jobs[i].script.at[0], SEINE_SECS(i));
    }
    seine_shared_free(rate);
    crew_end(&c);
}

TEST(call_whose_key_lost_its_token_while_it_waited_for_the_process_gives_all_back)
{
    crew c = crew_new(T0);
    seine_keyed_opts keyed = SEINE_KEYED_OPTS;
    seine_keyed *rates;
    seine_throttle throttle;
    seine_slot slot = {0};
    job j = job_of(&c, always_ok, 1, 200);

    keyed.each = (seine_rate){1, SEINE_SECS(10), 1};
    CHECK_EQ(seine_keyed_new(&keyed, &rates), SEINE_OK);
    CHECK_EQ(seine_throttle_init_semaphore(&throttle, 1), SEINE_OK);
    CHECK(seine_throttle_try(&throttle, T0, &slot));
    j.opts.rates = rates;
    j.opts.throttle = &throttle;
    crew_add(&c, job_run,
             &j); /* has the key's token, gives it back, and waits for the slot */
    thief t = {rates, c.ctx, T0 + SEINE_SECS(1), SEINE_OK};
    crew_add(&c, steal_tokens, &t);
    crew_advance(&c, SEINE_SECS(2));
    CHECK_EQ(seine_throttle_release(&slot, SEINE_SUCCESS, crew_now(&c)), SEINE_OK);
    crew_advance(&c, SEINE_SECS(1));
    CHECK_EQ(j.script.ran, 0);
    CHECK_EQ(seine_throttle_in_flight(&throttle),
             0); /* it waits for the key, and holds nothing */
    crew_advance(&c, SEINE_SECS(30));
    crew_join(&c);
    CHECK_EQ(j.result, SEINE_OK);
    CHECK_EQ(j.script.at[0], SEINE_SECS(11)); /* ten after the thief */
    CHECK_EQ(seine_throttle_in_flight(&throttle), 0);
    seine_keyed_free(rates);
    seine_throttle_fini(&throttle);
    crew_end(&c);
}
