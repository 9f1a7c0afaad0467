/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/shared.h"

#include <stdatomic.h>

#include "base/rng.h"
#include "check.h"
#include "crew.h"
#include "failing.h"
#include "guard/shared.h"

#define T0 SEINE_SECS(1000)

static seine_shared *
bucket(uint64_t per_second, uint32_t burst, int64_t initial)
{
    seine_shared *lim = NULL;
    seine_shared_opts opts = SEINE_SHARED_OPTS;

    opts.rate = (seine_rate){per_second, SEINE_SECS(1), burst};
    opts.initial = initial;
    CHECK_EQ(seine_shared_new(&opts, T0, &lim), SEINE_OK);
    return lim;
}

static seine_limiter_stats
stats_at(const seine_shared *lim, seine_time now)
{
    seine_limiter_stats s;

    seine_shared_stats_get(lim, now, &s);
    return s;
}

static int
greedy(seine_shared *lim, seine_time now)
{
    int n = 0;

    while (n < 100000 && seine_shared_allow(lim, now, 1))
        n++;
    return n;
}

TEST(s4_14_shared_defaults_are_a_hundred_at_fifty_a_second)
{
    seine_shared *lim;
    seine_shared_opts opts = SEINE_SHARED_OPTS;

    CHECK_EQ(seine_shared_new(&opts, T0, &lim), SEINE_OK);
    seine_limiter_stats s = stats_at(lim, T0);
    CHECK_EQ(s.capacity, 100);
    CHECK(s.refill_rate == 50.0);
    CHECK(s.tokens == 100.0);
    seine_shared_free(lim);
}

TEST(s4_15_shared_allows_what_it_holds_and_counts)
{
    seine_shared *lim = bucket(10, 10, SEINE_FULL);

    CHECK_EQ(greedy(lim, T0), 10);
    seine_limiter_stats s = stats_at(lim, T0);
    CHECK_EQ(s.allowed, 10);
    CHECK_EQ(s.denied, 1);
    seine_shared_reset(lim, T0);
    CHECK(seine_shared_allow(lim, T0, 5));
    CHECK(seine_shared_allow(lim, T0, 5));
    CHECK(!seine_shared_allow(lim, T0, 5));
    CHECK_STR(seine_err_text(SEINE_E_LIMITED), "rate limit exceeded");
    seine_shared_free(lim);

    lim = bucket(50, 100, SEINE_FULL);
    CHECK(seine_shared_allow(lim, T0, 50));
    CHECK(stats_at(lim, T0).tokens == 50.0);
    seine_shared_free(lim);

    lim = bucket(50, 100, 75);
    s = stats_at(lim, T0);
    CHECK_EQ(s.capacity, 100);
    CHECK(s.refill_rate == 50.0);
    CHECK(s.tokens == 75.0);
    seine_shared_free(lim);
}

TEST(s4_16_s4_17_shared_initial_is_clamped_to_the_capacity_and_zero_is_empty)
{
    seine_shared *lim = bucket(10, 10, 1000);

    CHECK_EQ(greedy(lim, T0), 10);
    seine_shared_free(lim);

    lim = bucket(10, 10, 0);
    CHECK(!seine_shared_allow(lim, T0, 1));
    CHECK_EQ(greedy(lim, T0 + SEINE_MS(1100)), 10);
    seine_shared_free(lim);
}

typedef struct job {
    seine_shared *lim;
    seine_ctx *ctx;
    int64_t n;
    seine_span max_wait;
    seine_err result;
    seine_time at;
    int times;
    atomic_int *order;
    int rank;
} job;

static void
wait_run(void *arg)
{
    job *j = arg;
    seine_clock *clock = seine_ctx_clock(j->ctx);

    for (int i = 0; i < (j->times ? j->times : 1); i++) {
        j->result = seine_shared_wait(j->lim, j->ctx, j->n, j->max_wait);
        j->at = clock->now(clock) - T0;
        if (j->order)
            j->rank = (*j->order)++;
    }
}

static job
waiter(seine_shared *lim, seine_ctx *ctx, int64_t n)
{
    return (job){.lim = lim, .ctx = ctx, .n = n, .max_wait = SEINE_NEVER};
}

TEST_THREADS(s4_18_wait_on_an_empty_bucket_takes_exactly_one_interval)
{
    crew c = crew_new(T0);
    seine_shared *lim = bucket(100, 10, 0);
    job j = waiter(lim, c.ctx, 1);

    crew_add(&c, wait_run, &j);
    crew_advance(&c, SEINE_SECS(1));
    CHECK_EQ(j.result, SEINE_OK);
    CHECK_EQ(j.at, SEINE_MS(10));
    seine_limiter_stats s = stats_at(lim, T0);
    CHECK_EQ(s.waited, 1);
    CHECK_EQ(s.waited_total, SEINE_MS(10));
    crew_end(&c);
    seine_shared_free(lim);
}

TEST(s4_18_wait_longer_than_the_deadline_fails_at_once)
{
    crew c = crew_new(T0);
    seine_shared *lim = bucket(1, 1, 0);
    seine_ctx *ctx;

    CHECK_EQ(seine_ctx_new(c.ctx, T0 + SEINE_MS(100), &ctx), SEINE_OK);
    CHECK_EQ(seine_shared_wait(lim, ctx, 1, SEINE_NEVER), SEINE_E_DEADLINE);
    CHECK_EQ(crew_now(&c), T0);
    seine_ctx_unref(ctx);
    crew_end(&c);
    seine_shared_free(lim);
}

TEST(s4_19_burst_then_rate)
{
    seine_shared *lim = bucket(10, 100, SEINE_FULL);

    CHECK_EQ(greedy(lim, T0), 100);
    CHECK_EQ(greedy(lim, T0 + SEINE_MS(110)), 1);
    seine_shared_free(lim);
}

TEST_THREADS(s1_04_ten_threads_of_three_waits_are_thirty_grants_and_the_last_at_290_ms)
{
    crew c = crew_new(T0);
    seine_shared *lim = bucket(100, 1, SEINE_FULL);
    job jobs[10];
    seine_time last = 0;

    for (int i = 0; i < 10; i++) {
        jobs[i] = waiter(lim, c.ctx, 1);
        jobs[i].times = 3;
        crew_add(&c, wait_run, &jobs[i]);
    }
    crew_advance(&c, SEINE_SECS(1));
    crew_join(&c);
    for (int i = 0; i < 10; i++) {
        CHECK_EQ(jobs[i].result, SEINE_OK);
        last = jobs[i].at > last ? jobs[i].at : last;
    }
    CHECK_EQ(last, SEINE_MS(290));
    CHECK_EQ(stats_at(lim, T0).allowed, 30);
    crew_end(&c);
    seine_shared_free(lim);
}

TEST_THREADS(x_35_waiters_are_served_in_order_and_one_grant_wakes_one)
{
    crew c = crew_new(T0);
    seine_shared *lim = bucket(10, 2, 0);
    atomic_int order = 0;
    job jobs[8];

    for (int i = 0; i < 8; i++) {
        jobs[i] = waiter(lim, c.ctx, i == 2 ? 2 : 1); /* one wants two tokens */
        jobs[i].order = &order;
        crew_add(&c, wait_run, &jobs[i]);
    }
    CHECK_EQ(stats_at(lim, T0).waiters, 8);
    CHECK(!seine_shared_allow(lim, T0 + SEINE_SECS(9), 1)); /* nobody overtakes */
    for (int i = 0; i < 8; i++) {
        seine_span due = SEINE_MS(100) * (i < 2 ? i + 1 : i + 2);

        crew_advance(&c, due - (crew_now(&c) - T0) - 1);
        CHECK_EQ(stats_at(lim, T0).waiters, (uint32_t)(8 - i));
        crew_advance(&c, 1);
        CHECK_EQ(stats_at(lim, T0).waiters, (uint32_t)(7 - i));
        CHECK_EQ(jobs[i].at, due);
        CHECK_EQ(jobs[i].rank, i);
    }
    crew_end(&c);
    seine_shared_free(lim);
}

TEST_THREADS(shared_waiter_that_is_cancelled_gives_up_only_its_own_place)
{
    static const int leaver[] = {0, 1, 2}; /* head, middle, tail */

    EACH_ROW(r, leaver) {
        crew c = crew_new(T0);
        seine_shared *lim = bucket(10, 1, 0);
        seine_ctx *ctx[3];
        job jobs[3];

        for (int i = 0; i < 3; i++) {
            CHECK_EQ(seine_ctx_new(c.ctx, SEINE_NEVER, &ctx[i]), SEINE_OK);
            jobs[i] = waiter(lim, ctx[i], 1);
            crew_add(&c, wait_run, &jobs[i]);
        }
        crew_advance(&c, SEINE_MS(50));
        seine_ctx_cancel(ctx[leaver[r]], SEINE_OK);
        crew_advance(&c, SEINE_SECS(1));
        crew_join(&c);
        int served = 0;
        for (int i = 0; i < 3; i++) {
            bool left = i == leaver[r];

            CHECK_EQ(jobs[i].result, left ? SEINE_E_CANCELED : SEINE_OK);
            CHECK_EQ(jobs[i].at, left ? SEINE_MS(50) : SEINE_MS(100) * ++served);
            seine_ctx_unref(ctx[i]);
        }
        CHECK_EQ(stats_at(lim, T0).canceled, 1);
        CHECK_EQ(stats_at(lim, T0).allowed, 2);
        crew_end(&c);
        seine_shared_free(lim);
    }
}

TEST_THREADS(shared_wait_counts_the_line_before_it)
{
    crew c = crew_new(T0);
    seine_shared *lim = bucket(10, 5, 0);
    job first = waiter(lim, c.ctx, 3);
    seine_ctx *tight, *roomy;

    crew_add(&c, wait_run, &first); /* served at 300 ms */
    CHECK_EQ(seine_ctx_new(c.ctx, T0 + SEINE_MS(500), &tight), SEINE_OK);
    CHECK_EQ(seine_ctx_new(c.ctx, T0 + SEINE_MS(500) + 1, &roomy), SEINE_OK);
    CHECK_EQ(seine_shared_wait(lim, tight, 2, SEINE_NEVER), SEINE_E_DEADLINE);
    CHECK_EQ(seine_shared_wait(lim, c.ctx, 2, SEINE_MS(500) - 1), SEINE_E_LIMITED);

    job second = waiter(lim, roomy, 2);
    second.max_wait = SEINE_MS(500);
    crew_add(&c, wait_run, &second);
    crew_advance(&c, SEINE_SECS(1));
    CHECK_EQ(first.at, SEINE_MS(300));
    CHECK_EQ(second.result, SEINE_OK);
    CHECK_EQ(second.at, SEINE_MS(500));
    crew_join(&c);
    seine_ctx_unref(tight);
    seine_ctx_unref(roomy);
    crew_end(&c);
    seine_shared_free(lim);
}

TEST_THREADS(shared_line_forgets_who_was_served_or_has_left)
{
    crew c = crew_new(T0);
    seine_shared *lim = bucket(10, 5, 0);
    seine_ctx *ctx;

    CHECK_EQ(seine_ctx_new(c.ctx, SEINE_NEVER, &ctx), SEINE_OK);
    job served = waiter(lim, c.ctx, 3), left = waiter(lim, ctx, 5);
    crew_add(&c, wait_run, &served);
    crew_add(&c, wait_run, &left);
    crew_advance(&c, SEINE_MS(300));
    seine_ctx_cancel(ctx, SEINE_OK);
    crew_join(&c);
    CHECK_EQ(served.at, SEINE_MS(300));
    CHECK_EQ(left.result, SEINE_E_CANCELED);

    job next = waiter(lim, c.ctx, 1); /* nobody is before it: one interval */
    next.max_wait = SEINE_MS(100);
    crew_add(&c, wait_run, &next);
    crew_advance(&c, SEINE_SECS(1));
    CHECK_EQ(next.result, SEINE_OK);
    CHECK_EQ(next.at, SEINE_MS(400));
    crew_join(&c);
    seine_ctx_unref(ctx);
    crew_end(&c);
    seine_shared_free(lim);
}

TEST(x_46_wait_longer_than_max_wait_is_limited_at_once)
{
    crew c = crew_new(T0);
    seine_shared *lim = bucket(1, 1, 0);

    CHECK_EQ(seine_shared_wait(lim, c.ctx, 1, SEINE_SECS(1) - 1), SEINE_E_LIMITED);
    CHECK_EQ(seine_shared_wait(lim, c.ctx, 1, 0), SEINE_E_LIMITED);
    CHECK_EQ(crew_now(&c), T0);
    CHECK(seine_shared_allow(lim, T0 + SEINE_SECS(1), 1)); /* nothing was taken */
    crew_end(&c);
    seine_shared_free(lim);
}

TEST(t05_x_37_x_38_x_40_shared_names_what_is_wrong_before_anything_is_taken)
{
    static const struct {
        int64_t n;
        seine_err want;
    } rows[] = {
        {11, SEINE_E_RANGE}, {0, SEINE_E_INVAL},         {-5, SEINE_E_INVAL},
        {10, SEINE_OK},      {INT64_MAX, SEINE_E_RANGE}, {INT64_MIN, SEINE_E_INVAL},
    };

    EACH_ROW(i, rows) {
        crew c = crew_new(T0);
        seine_shared *lim = bucket(10, 10, SEINE_FULL);
        seine_grant g = {.retry_after = 5};

        CHECK_EQ(seine_shared_try(lim, T0, rows[i].n, &g), rows[i].want);
        if (rows[i].want == SEINE_E_RANGE) {
            CHECK_EQ(g.retry_after, SEINE_NEVER);
            CHECK_EQ(g.limit, 10);
            CHECK_EQ(g.left, 10);
        }
        if (rows[i].want == SEINE_E_INVAL)
            CHECK_EQ(g.retry_after, 5); /* untouched */
        if (rows[i].want != SEINE_OK) {
            CHECK(stats_at(lim, T0).tokens == 10.0);
            CHECK_EQ(seine_shared_wait(lim, c.ctx, rows[i].n, SEINE_NEVER), rows[i].want);
            CHECK_EQ(seine_shared_reserve(lim, T0, rows[i].n, SEINE_NEVER, NULL),
                     rows[i].want);
            CHECK(stats_at(lim, T0).tokens == 10.0);
        }
        seine_ctx_cancel(c.ctx, SEINE_E_BUDGET);
        if (rows[i].want == SEINE_OK) {
            seine_shared_reset(lim, T0);
            CHECK_EQ(seine_shared_wait(lim, c.ctx, 1, SEINE_NEVER), SEINE_E_BUDGET);
            CHECK(stats_at(lim, T0).tokens == 10.0);
        }
        crew_end(&c);
        seine_shared_free(lim);
    }
}

TEST(shared_grant_tells_limit_left_retry_and_reset)
{
    seine_shared *lim = bucket(10, 5, SEINE_FULL);
    seine_grant g;

    CHECK_EQ(seine_shared_try(lim, T0, 2, &g), SEINE_OK);
    CHECK_EQ(g.limit, 5);
    CHECK_EQ(g.left, 3);
    CHECK_EQ(g.retry_after, 0);
    CHECK_EQ(g.reset_after, SEINE_MS(200));

    CHECK_EQ(seine_shared_try(lim, T0, 4, &g), SEINE_E_LIMITED);
    CHECK_EQ(g.left, 3);
    CHECK_EQ(g.retry_after, SEINE_MS(100));

    CHECK_EQ(seine_shared_reserve(lim, T0, 5, T0 + SEINE_MS(200), &g), SEINE_OK);
    CHECK_EQ(g.retry_after, SEINE_MS(200));
    CHECK_EQ(g.left, 0);
    CHECK(!seine_shared_undo(lim, g.mark - 1, 5));
    CHECK(seine_shared_undo(lim, g.mark, 5));
    CHECK(!seine_shared_undo(lim, g.mark, 5));
    CHECK(stats_at(lim, T0).tokens == 3.0);

    CHECK_EQ(seine_shared_reserve(lim, T0, 5, T0 + SEINE_MS(200) - 1, &g),
             SEINE_E_LIMITED);
    CHECK(stats_at(lim, T0).tokens == 3.0);
    seine_shared_free(lim);
}

TEST_THREADS(shared_reserve_and_try_are_limited_while_somebody_waits)
{
    crew c = crew_new(T0);
    seine_shared *lim = bucket(10, 5, 0);
    job j = waiter(lim, c.ctx, 5);
    seine_grant g;

    crew_add(&c, wait_run, &j); /* until 500 ms */
    CHECK_EQ(seine_shared_reserve(lim, T0, 1, SEINE_NEVER, &g), SEINE_E_LIMITED);
    CHECK_EQ(g.retry_after, SEINE_MS(600));
    CHECK_EQ(seine_shared_try(lim, T0 + SEINE_MS(450), 1, NULL), SEINE_E_LIMITED);
    crew_advance(&c, SEINE_SECS(1));
    CHECK_EQ(j.at, SEINE_MS(500));
    crew_end(&c);
    seine_shared_free(lim);
}

TEST_THREADS(shared_line_has_an_end)
{
    crew c = crew_new(T0);
    seine_shared *lim;
    seine_shared_opts opts = {sizeof(seine_shared_opts), {10, SEINE_SECS(1), 1}, 0, 2};
    job a, b;

    CHECK_EQ(seine_shared_new(&opts, T0, &lim), SEINE_OK);
    a = waiter(lim, c.ctx, 1);
    b = waiter(lim, c.ctx, 1);
    crew_add(&c, wait_run, &a);
    crew_add(&c, wait_run, &b);
    CHECK_EQ(seine_shared_wait(lim, c.ctx, 1, SEINE_NEVER), SEINE_E_FULL);
    crew_advance(&c, SEINE_SECS(1));
    CHECK_EQ(b.at, SEINE_MS(200));
    crew_end(&c);
    seine_shared_free(lim);
}

TEST_THREADS(shared_head_looks_again_when_rate_pause_or_content_change)
{
    static const struct {
        int what; /* 0 faster, 1 slower, 2 pause, 3 reset, 4 undo of a grant */
        seine_span at;
    } rows[] = {
        {0, SEINE_MS(100) + SEINE_MS(90)}, /* 0.1 of a token, 0.9 more at 10 a second */
        {1, SEINE_MS(100) + SEINE_MS(9000)},
        {2, SEINE_MS(1700)},
        {3, SEINE_MS(100)},
        {4, SEINE_MS(100)},
    };

    EACH_ROW(i, rows) {
        crew c = crew_new(T0);
        seine_shared *lim = bucket(1, 2, rows[i].what == 4 ? 1 : 0);
        job j = waiter(lim, c.ctx, 1);
        seine_grant g;

        if (rows[i].what == 4)
            CHECK_EQ(seine_shared_try(lim, T0, 1, &g), SEINE_OK);
        crew_add(&c, wait_run, &j);
        crew_advance(&c, SEINE_MS(100));
        if (rows[i].what <= 1) {
            seine_rate rate = {1, rows[i].what ? SEINE_SECS(10) : SEINE_MS(100), 2};

            CHECK_EQ(seine_shared_set_rate(lim, crew_now(&c), &rate), SEINE_OK);
        } else if (rows[i].what == 2) {
            seine_shared_pause(lim, T0 + SEINE_MS(1700));
        } else if (rows[i].what == 3) {
            seine_shared_reset(lim, crew_now(&c));
        } else {
            CHECK(seine_shared_undo(lim, g.mark, 1));
        }
        crew_advance(&c, SEINE_SECS(60));
        CHECK_EQ(j.result, SEINE_OK);
        CHECK_EQ(j.at, rows[i].at);
        crew_end(&c);
        seine_shared_free(lim);
    }
}

TEST_THREADS(shared_waiters_hear_when_a_new_rate_makes_their_wait_senseless)
{
    crew c = crew_new(T0);
    seine_shared *lim = bucket(1, 2, 0);
    seine_rate slow = {1, SEINE_SECS(100), 1};
    seine_ctx *ctx;

    CHECK_EQ(seine_ctx_new(c.ctx, T0 + SEINE_SECS(50), &ctx), SEINE_OK);
    job late = waiter(lim, ctx, 1), limited = waiter(lim, c.ctx, 1);
    job big = waiter(lim, c.ctx, 2);
    limited.max_wait = SEINE_SECS(20);
    crew_add(&c, wait_run, &late);
    crew_add(&c, wait_run, &limited);
    crew_add(&c, wait_run, &big);
    CHECK_EQ(seine_shared_set_rate(lim, T0, &slow), SEINE_OK);
    crew_advance(&c, 0);
    crew_join(&c);
    CHECK_EQ(late.result, SEINE_E_DEADLINE);
    CHECK_EQ(late.at, 0);
    CHECK_EQ(limited.result, SEINE_E_LIMITED);
    CHECK_EQ(limited.at, 0);
    CHECK_EQ(big.result, SEINE_E_RANGE); /* two do not fit in any more */
    CHECK_EQ(big.at, 0);
    seine_ctx_unref(ctx);
    crew_end(&c);
    seine_shared_free(lim);
}

TEST_THREADS(shared_waiter_behind_others_leaves_at_its_own_deadline)
{
    crew c = crew_new(T0);
    seine_shared *lim = bucket(1, 1, 0);
    seine_ctx *ctx;

    CHECK_EQ(seine_ctx_new(c.ctx, T0 + SEINE_SECS(5), &ctx), SEINE_OK);
    job head = waiter(lim, c.ctx, 1), tail = waiter(lim, ctx, 1);
    job polite = waiter(lim, c.ctx, 1);
    polite.max_wait = SEINE_SECS(4);
    crew_add(&c, wait_run, &head);
    crew_add(&c, wait_run, &tail);
    crew_add(&c, wait_run, &polite);
    seine_shared_pause(lim, T0 + SEINE_SECS(100)); /* only the head looks */
    crew_advance(&c, SEINE_SECS(200));
    crew_join(&c);
    CHECK_EQ(tail.result, SEINE_E_DEADLINE);
    CHECK_EQ(tail.at, SEINE_SECS(5));
    CHECK_EQ(polite.result, SEINE_E_LIMITED);
    CHECK_EQ(polite.at, SEINE_SECS(4) + 1);
    CHECK_EQ(head.at, SEINE_SECS(100));
    seine_ctx_unref(ctx);
    crew_end(&c);
    seine_shared_free(lim);
}

TEST(shared_pause_and_set_rate_are_those_of_the_limiter)
{
    seine_shared *lim = bucket(10, 5, SEINE_FULL);
    seine_rate bad = {0, SEINE_SECS(1), 1}, same = {10, SEINE_SECS(1), 5};
    seine_rate wide = {1000, SEINE_SECS(1), 50};

    seine_shared_pause(lim, T0 + SEINE_SECS(1));
    seine_shared_pause(lim, T0 + SEINE_SECS(1)); /* twice is once */
    CHECK_EQ(greedy(lim, T0 + SEINE_SECS(1) - 1), 0);
    CHECK(stats_at(lim, T0).tokens == 0.0);
    CHECK_EQ(greedy(lim, T0 + SEINE_SECS(1)), 1);
    CHECK_EQ(greedy(lim, T0 + SEINE_MS(1100)), 1);

    seine_shared_reset(lim, T0 + SEINE_SECS(2));
    CHECK_EQ(seine_shared_set_rate(lim, T0, &bad), SEINE_E_INVAL);
    CHECK_EQ(seine_shared_set_rate(lim, T0 + SEINE_SECS(2), &same), SEINE_OK);
    CHECK(stats_at(lim, T0 + SEINE_SECS(2)).tokens == 5.0);
    CHECK_EQ(seine_shared_set_rate(lim, T0 + SEINE_SECS(2), &wide), SEINE_OK);
    CHECK_EQ(stats_at(lim, T0).capacity, 50);
    CHECK(stats_at(lim, T0).refill_rate == 1000.0);
    CHECK_EQ(greedy(lim, T0 + SEINE_SECS(2)), 5); /* never refilled */
    seine_shared_free(lim);
}

TEST_THREADS(shared_closed_refuses_and_lets_every_waiter_go)
{
    crew c = crew_new(T0);
    seine_shared *lim = bucket(10, 5, 0);
    job jobs[5];

    for (int i = 0; i < 5; i++) {
        jobs[i] = waiter(lim, c.ctx, 1);
        crew_add(&c, wait_run, &jobs[i]);
    }
    seine_shared_close(lim);
    seine_shared_close(lim);
    crew_join(&c);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(jobs[i].result, SEINE_E_CLOSED);
    CHECK(!seine_shared_allow(lim, T0 + SEINE_SECS(10), 1));
    CHECK_EQ(seine_shared_try(lim, T0, 1, NULL), SEINE_E_CLOSED);
    CHECK_EQ(seine_shared_wait(lim, c.ctx, 1, SEINE_NEVER), SEINE_E_CLOSED);
    crew_end(&c);
    seine_shared_free(lim);
}

TEST(shared_that_is_null_is_switched_off)
{
    crew c = crew_new(T0);
    seine_grant g;

    CHECK(seine_shared_allow(NULL, T0, 1000));
    CHECK_EQ(seine_shared_try(NULL, T0, 1, &g), SEINE_OK);
    CHECK_EQ(g.left, UINT32_MAX);
    CHECK_EQ(seine_shared_try(NULL, T0, 0, &g), SEINE_E_INVAL);
    CHECK(seine_shared_undo(NULL, 0, 1));
    CHECK_EQ(seine_shared_wait(NULL, c.ctx, 1, SEINE_NEVER), SEINE_OK);
    CHECK_EQ(seine_shared_wait(NULL, c.ctx, 0, SEINE_NEVER), SEINE_E_INVAL);
    seine_shared_pause(NULL, T0);
    seine_shared_reset(NULL, T0);
    seine_shared_close(NULL);
    seine_shared_free(NULL);
    CHECK_EQ(stats_at(NULL, T0).allowed, 0);
    seine_ctx_cancel(c.ctx, SEINE_OK);
    CHECK_EQ(seine_shared_wait(NULL, c.ctx, 1, SEINE_NEVER), SEINE_E_CANCELED);
    crew_end(&c);
}

TEST(shared_survives_failing_memory)
{
    FAIL_EACH(r)
    {
        seine_shared_opts opts = SEINE_SHARED_OPTS;
        seine_shared *lim = NULL;

        CHECK(seine_shared_new(&opts, T0, &lim) == (lim ? SEINE_OK : SEINE_E_NOMEM));
        seine_shared_free(lim);
    }
    seine_shared_opts bad = SEINE_SHARED_OPTS;
    seine_shared *lim = NULL;
    bad.rate.burst = 0;
    CHECK_EQ(seine_shared_new(&bad, T0, &lim), SEINE_E_INVAL);
    CHECK(!lim);
}

typedef struct rush {
    seine_shared *lim;
    atomic_int granted, ready;
    int threads;
} rush;

static void *
rush_run(void *arg)
{
    rush *r = arg;

    r->ready++;
    while (r->ready < r->threads) {
    }
    for (int i = 0; i < 50; i++)
        r->granted += seine_shared_allow(r->lim, T0, 1);
    return NULL;
}

TEST_THREADS(shared_by_threads_at_one_moment_never_exceeds_the_burst)
{
    rush r = {.lim = bucket(1, 77, SEINE_FULL), .threads = 3};
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, rush_run, &r), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(r.granted, 77);
    CHECK_EQ(stats_at(r.lim, T0).allowed, 77);
    CHECK_EQ(stats_at(r.lim, T0).denied, 150 - 77);
    seine_shared_free(r.lim);
}

static void *
reserve_run(void *arg)
{
    rush *r = arg;

    r->ready++;
    while (r->ready < r->threads) {
    }
    for (int i = 0; i < 50; i++)
        r->granted += seine_shared_reserve(r->lim, T0, 1, SEINE_NEVER, NULL) == SEINE_OK;
    return NULL;
}

/* One a second: the 150th of a burst of 1 has its turn after 149 s, and the next after
 * 150, whoever was first. */
TEST_THREADS(shared_reservations_of_threads_stand_one_behind_the_other)
{
    rush r = {.lim = bucket(1, 1, SEINE_FULL), .threads = 3};
    pthread_t threads[3];
    seine_grant g;

    for (int i = 0; i < 3; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, reserve_run, &r), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(r.granted, 150);
    CHECK_EQ(seine_shared_reserve(r.lim, T0, 1, SEINE_NEVER, &g), SEINE_OK);
    CHECK_EQ(g.retry_after, SEINE_SECS(150));
    CHECK_EQ(stats_at(r.lim, T0).allowed, 151);
    seine_shared_free(r.lim);
}

static void *
retune(void *arg)
{
    rush *r = arg;

    r->ready++;
    while (r->ready < r->threads) {
    }
    for (uint64_t i = 1; i <= 100; i++) {
        seine_rate rate = {i, SEINE_SECS(1), 77};

        CHECK_EQ(seine_shared_set_rate(r->lim, T0, &rate), SEINE_OK);
    }
    return NULL;
}

TEST_THREADS(shared_mints_nothing_while_its_rate_changes)
{
    rush r = {.lim = bucket(1, 77, SEINE_FULL), .threads = 3};
    pthread_t threads[3];

    for (int i = 0; i < 3; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, i ? rush_run : retune, &r), 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK(r.granted <= 77);
    CHECK(r.granted + greedy(r.lim, T0) <= 77);
    seine_shared_free(r.lim);
}

/* Any mix of operations has the same results as the limiter with one owner. */
TEST(shared_agrees_with_the_limiter_on_random_traces)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int round = 0; round < 50; round++) {
        seine_rate rate = {1 + sn_rng_below(&r, 1000), SEINE_SECS(1),
                           1 + (uint32_t)sn_rng_below(&r, 20)};
        seine_shared *lim = bucket(rate.count, rate.burst, SEINE_FULL);
        seine_limiter core;
        seine_time now = T0;

        CHECK_EQ(seine_limiter_init_rate(&core, &rate, SEINE_FULL, T0), SEINE_OK);
        for (int i = 0; i < 200; i++) {
            uint32_t n = 1 + (uint32_t)sn_rng_below(&r, rate.burst);
            seine_time at, latest = now + (seine_span)sn_rng_below(&r, SEINE_SECS(1));
            seine_grant g;

            now += (seine_span)sn_rng_below(&r, SEINE_MS(20)) - SEINE_MS(1);
            switch (sn_rng_below(&r, 12)) {
            case 0:
                seine_shared_pause(lim, now + SEINE_MS(50));
                seine_limiter_pause(&core, now + SEINE_MS(50));
                break;
            case 1:
                CHECK_EQ(seine_shared_reserve(lim, now, n, latest, &g) == SEINE_OK,
                         seine_limiter_reserve(&core, now, n, latest, &at));
                break;
            default:
                CHECK_EQ(seine_shared_allow(lim, now, n),
                         seine_limiter_allow(&core, now, n));
            }
        }
        seine_shared_free(lim);
    }
}

TEST(shared_that_is_full_stays_full_at_another_rate)
{
    static const seine_rate rates[] = {
        {20, SEINE_SECS(1), 5}, {1, SEINE_SECS(1), 5}, {7, SEINE_SECS(3), 2}};

    EACH_ROW(i, rates) {
        seine_shared *lim = bucket(10, 5, SEINE_FULL);

        for (int again = 0; again < 3; again++) { /* full exactly now, or just before */
            seine_time now = T0 + again % 2;

            seine_shared_reset(lim, T0);
            CHECK_EQ(seine_shared_set_rate(lim, now, &rates[i]), SEINE_OK);
            CHECK_EQ(greedy(lim, now), rates[i].burst);
            CHECK_EQ(seine_shared_set_rate(lim, T0, &(seine_rate){10, SEINE_SECS(1), 5}),
                     SEINE_OK);
        }
        seine_shared_free(lim);
    }
}

TEST(shared_asked_for_no_token_changes_nothing)
{
    seine_shared *lim = bucket(10, 5, SEINE_FULL);
    seine_grant grant;

    CHECK_EQ(seine_shared_try(lim, T0, 1, &grant), SEINE_OK);
    CHECK(seine_shared_allow(lim, T0 + SEINE_SECS(9), 0));
    CHECK_EQ(stats_at(lim, T0).allowed, 1);
    CHECK(seine_shared_undo(lim, grant.mark, 1)); /* its grant is still the newest */
    seine_shared_pause(lim, T0 + SEINE_SECS(1));
    CHECK(!seine_shared_allow(lim, T0, 0));
    CHECK_EQ(stats_at(lim, T0).denied, 0);
    seine_shared_free(lim);
}

/* A table of many drops those that a new one could stand for. */
TEST(shared_is_idle_when_it_is_full_and_not_paused)
{
    seine_shared *lim = bucket(1, 1, SEINE_FULL);

    CHECK(sn_shared_idle(lim, T0));
    CHECK(seine_shared_allow(lim, T0, 1));
    CHECK(!sn_shared_idle(lim, T0 + SEINE_SECS(1) - 1));
    CHECK(sn_shared_idle(lim, T0 + SEINE_SECS(1)));
    seine_shared_pause(lim, T0 + SEINE_SECS(9));
    CHECK(!sn_shared_idle(lim, T0 + SEINE_SECS(9) - 1));
    CHECK(sn_shared_idle(lim, T0 + SEINE_SECS(9)));
    seine_shared_free(lim);
}
