/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/retry_budget.h"

#include <pthread.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"
#include "seine/retry.h"

#define T0 SEINE_SECS(1000) /* any moment will do */

static seine_fault
fault(seine_err code, unsigned status)
{
    seine_fault f = SEINE_FAULT;

    f.code = code;
    f.status = (uint16_t)status;
    return f;
}

static seine_retry_budget *
purse(uint32_t ratio_milli, uint32_t cap, uint32_t reserve)
{
    seine_retry_budget_opts o = {sizeof(seine_retry_budget_opts),
                                 ratio_milli,
                                 cap,
                                 {reserve, SEINE_SECS(1), reserve}};
    seine_retry_budget *b = NULL;

    CHECK_EQ(seine_retry_budget_new(&o, &b), SEINE_OK);
    return b;
}

/* How many retries it still grants at `now`. */
static int
drain(seine_retry_budget *b, seine_time now)
{
    int n = 0;

    while (seine_retry_budget_withdraw(b, now))
        n++;
    return n;
}

TEST(retry_budget_defaults_are_20_percent_100_saved_and_10_a_second)
{
    seine_retry_budget_opts o = SEINE_RETRY_BUDGET_OPTS;
    seine_retry_budget *b = NULL;

    CHECK_EQ(seine_retry_budget_new(&o, &b), SEINE_OK);
    CHECK_EQ(drain(b, T0), 10); /* nothing saved: the reserve */
    for (int i = 0; i < 5; i++)
        seine_retry_budget_deposit(b);
    CHECK_EQ(drain(b, T0), 1);
    for (int i = 0; i < 10000; i++)
        seine_retry_budget_deposit(b);
    CHECK_EQ(drain(b, T0), 100);
    seine_retry_budget_free(b);
}

TEST(retry_budget_refuses_settings_without_sense)
{
    static const seine_retry_budget_opts rows[] = {
        {sizeof(seine_retry_budget_opts),
         200,
         0,
         {10, SEINE_SECS(1), 10}}, /* could never save one */
        {sizeof(seine_retry_budget_opts), 200, 100, {0, SEINE_SECS(1), 10}}, /* no rate */
        {sizeof(seine_retry_budget_opts), 200, 100, {10, 0, 10}},
        {sizeof(seine_retry_budget_opts), 200, 100, {10, -1, 10}},
        {sizeof(seine_retry_budget_opts), 200, 100, {10, SEINE_SECS(1), 0}},
        {sizeof(seine_retry_budget_opts),
         200,
         100,
         {1, SEINE_NEVER, 10}}, /* deeper than time */
    };

    EACH_ROW(i, rows) {
        seine_retry_budget *b = (seine_retry_budget *)&b;

        CHECK_EQ(seine_retry_budget_new(&rows[i], &b), SEINE_E_INVAL);
        CHECK(b == (seine_retry_budget *)&b);
    }
}

TEST(retry_budget_of_null_is_off)
{
    seine_retry_budget_deposit(NULL);
    CHECK(seine_retry_budget_withdraw(NULL, T0));
    sn_retry_budget_give(NULL, (sn_retry_unit){0});
    seine_retry_budget_free(NULL);
}

TEST(retry_budget_reports_that_memory_ran_out)
{
    seine_retry_budget_opts o = SEINE_RETRY_BUDGET_OPTS;

    FAIL_EACH(n)
    {
        seine_retry_budget *b = NULL;
        seine_err e = seine_retry_budget_new(&o, &b);

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        CHECK((e == SEINE_OK) == (b != NULL));
        seine_retry_budget_free(b);
    }
}

TEST(retry_budget_keeps_every_ratio_exactly)
{
    static const uint32_t ratios[] = {0, 1, 3, 199, 200, 333, 667, 999, 1000, 1001, 2000};

    EACH_ROW(i, ratios) {
        seine_retry_budget *b = purse(ratios[i], 10000, 1);

        CHECK_EQ(drain(b, T0), 1);
        for (int k = 0; k < 1000; k++)
            seine_retry_budget_deposit(b);
        CHECK_EQ(drain(b, T0), ratios[i]);
        seine_retry_budget_free(b);
    }
}

TEST(retry_budget_saves_up_to_its_cap_exactly)
{
    seine_retry_budget *b = purse(999, 2, 1);

    CHECK_EQ(drain(b, T0), 1);
    for (int k = 0; k < 3; k++)
        seine_retry_budget_deposit(b); /* 2997, cut to 2000 */
    CHECK_EQ(drain(b, T0), 2);
    seine_retry_budget_deposit(b);
    CHECK_EQ(drain(b, T0), 0); /* 999 */
    seine_retry_budget_free(b);

    b = purse(UINT32_MAX, UINT32_MAX, 1);
    for (int k = 0; k < 2000; k++)
        seine_retry_budget_deposit(b);
    CHECK(seine_retry_budget_withdraw(b, T0));
    seine_retry_budget_free(b);
}

TEST(retry_budget_reserve_comes_back_with_time_and_never_beyond_its_burst)
{
    seine_retry_budget *b = purse(200, 100, 10);

    CHECK_EQ(drain(b, T0), 10);
    CHECK_EQ(drain(b, T0 + SEINE_MS(100) - 1), 0);
    CHECK_EQ(drain(b, T0 + SEINE_MS(100)), 1);
    CHECK_EQ(drain(b, T0 + SEINE_MS(350)), 2);
    CHECK_EQ(drain(b, T0 + SEINE_SECS(3600)), 10);
    /* A clock that stands still or steps back creates nothing. */
    CHECK_EQ(drain(b, T0), 0);
    CHECK_EQ(drain(b, INT64_MIN), 0);
    CHECK_EQ(drain(b, T0 + SEINE_SECS(3600)), 0);
    seine_retry_budget_free(b);
}

TEST(t18_retry_budget_of_1000_failures_one_after_another_is_1210_attempts)
{
    seine_retry_budget_opts bo = SEINE_RETRY_BUDGET_OPTS;
    seine_retry_opts o = SEINE_RETRY_OPTS;
    seine_retry_budget *b = NULL;
    seine_fault f = fault(SEINE_E_HTTP_BUSY, 500);
    int attempts = 0;

    CHECK_EQ(seine_retry_budget_new(&bo, &b), SEINE_OK);
    for (int i = 0; i < 1000; i++) {
        seine_retry r = {
            .opts = &o, .host = b, .deadline = SEINE_NEVER, .idempotent = true};

        do {
            seine_retry_begin(&r, T0);
            attempts++;
        } while (seine_retry_next(&r, &f, T0, 0).stop == SEINE_STOP_NO);
    }
    CHECK_EQ(attempts, 1210);
    seine_retry_budget_free(b);
}

TEST(t18_retry_budget_of_1000_failures_begun_together_is_1110_attempts)
{
    static seine_retry all[1000];
    seine_retry_budget_opts bo = SEINE_RETRY_BUDGET_OPTS;
    seine_retry_opts o = SEINE_RETRY_OPTS;
    seine_retry_budget *b = NULL;
    seine_fault f = fault(SEINE_E_HTTP_BUSY, 500);
    int attempts = 0;

    CHECK_EQ(seine_retry_budget_new(&bo, &b), SEINE_OK);
    for (int i = 0; i < 1000; i++) {
        all[i] = (seine_retry){
            .opts = &o, .host = b, .deadline = SEINE_NEVER, .idempotent = true};
        seine_retry_begin(&all[i], T0);
        attempts++;
    }
    for (int i = 0; i < 1000; i++)
        while (seine_retry_next(&all[i], &f, T0, 0).stop == SEINE_STOP_NO) {
            seine_retry_begin(&all[i], T0);
            attempts++;
        }
    CHECK_EQ(attempts, 1110);
    seine_retry_budget_free(b);
}

TEST(retry_is_paid_once_by_the_first_attempt_to_both_budgets)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;
    seine_retry_budget *host = purse(1000, 100, 1), *global = purse(1000, 100, 1);
    seine_retry r = {.opts = &o, .host = host, .global = global};

    for (int i = 0; i < 3; i++)
        seine_retry_begin(&r, T0);
    CHECK_EQ(drain(host, T0), 1 + 1);
    CHECK_EQ(drain(global, T0), 1 + 1);
    seine_retry_budget_free(host);
    seine_retry_budget_free(global);
}

TEST(retry_that_is_refused_costs_neither_budget_anything)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;
    seine_fault f = fault(SEINE_E_TIMEOUT, 0);

    for (int saved = 0; saved < 3; saved++) {
        seine_retry_budget *host = purse(1000, 100, 3), *global = purse(0, 1, 1);
        seine_retry r = {.opts = &o,
                         .host = host,
                         .global = global,
                         .deadline = SEINE_NEVER,
                         .idempotent = true};

        CHECK_EQ(drain(global, T0), 1);
        for (int i = 0; i < saved; i++)
            seine_retry_budget_deposit(host);
        r.attempts = 1; /* its first attempt has paid elsewhere */
        r.prev = SEINE_MS(7);
        CHECK_EQ(seine_retry_next(&r, &f, T0, 0).stop, SEINE_STOP_BUDGET);
        CHECK_EQ(r.prev, SEINE_MS(7));
        CHECK_EQ(r.attempts, 1);
        CHECK_EQ(drain(host, T0), saved + 3);

        /* And the other way round: the host refuses first. */
        r.host = global;
        r.global = host;
        seine_retry_budget_deposit(host);
        CHECK_EQ(seine_retry_next(&r, &f, T0, 0).stop, SEINE_STOP_BUDGET);
        CHECK_EQ(drain(host, T0), 1);

        /* No reason before the budget costs a unit either. */
        seine_retry_budget_deposit(host);
        r = (seine_retry){.opts = &o, .host = host, .deadline = T0, .attempts = 1};
        CHECK_EQ(seine_retry_next(&r, &f, T0, 0).stop, SEINE_STOP_DEADLINE);
        CHECK_EQ(drain(host, T0), 1);
        seine_retry_budget_free(host);
        seine_retry_budget_free(global);
    }
}

TEST(retry_budget_takes_back_a_token_in_the_form_it_had)
{
    seine_retry_budget *b = purse(1000, 100, 2);
    sn_retry_unit first, second;

    /* The newest token returns to the reserve: nothing is saved from it, and time cannot
     * add to a full reserve. */
    CHECK(sn_retry_budget_take(b, T0, &first));
    CHECK(first.reserve);
    sn_retry_budget_give(b, first);
    CHECK_EQ(drain(b, T0 + SEINE_SECS(10)), 2);

    /* Time may have replaced an older token, so it goes to the savings. */
    seine_time t1 = T0 + SEINE_SECS(20);
    CHECK(sn_retry_budget_take(b, t1, &first));
    CHECK(sn_retry_budget_take(b, t1, &second));
    sn_retry_budget_give(b, first);
    CHECK_EQ(drain(b, t1), 1);
    CHECK_EQ(drain(b, t1 + SEINE_SECS(10)), 2);

    /* What was saved goes back to the savings. */
    seine_retry_budget_deposit(b);
    CHECK(sn_retry_budget_take(b, t1 + SEINE_SECS(10), &first));
    CHECK(!first.reserve);
    sn_retry_budget_give(b, first);
    CHECK_EQ(drain(b, t1 + SEINE_SECS(10)), 1);
    seine_retry_budget_free(b);
}

/* A second, obvious budget: a count of milli-units and a bucket in nanoseconds. */
struct model {
    int64_t saved, most, ratio, every, depth, have, at;
};

static bool
model_withdraw(struct model *m, seine_time now)
{
    if (now > m->at) {
        m->have = now - m->at < m->depth - m->have ? m->have + now - m->at : m->depth;
        m->at = now;
    }
    if (m->saved >= 1000) {
        m->saved -= 1000;
        return true;
    }
    if (m->have < m->every)
        return false;
    m->have -= m->every;
    return true;
}

TEST(retry_budget_grants_what_an_obvious_one_grants)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int round = 0; round < 100; round++) {
        uint32_t ratio = (uint32_t)sn_rng_below(&r, 1500),
                 cap = 1 + (uint32_t)sn_rng_below(&r, 5);
        uint32_t burst = 1 + (uint32_t)sn_rng_below(&r, 5);
        seine_span every = 1 + (seine_span)sn_rng_below(&r, 20);
        seine_retry_budget_opts o = {
            sizeof(seine_retry_budget_opts), ratio, cap, {1, every, burst}};
        struct model m = {
            0, (int64_t)cap * 1000, ratio, every, every * burst, every * burst, T0};
        seine_retry_budget *b = NULL;
        seine_time now = T0;

        CHECK_EQ(seine_retry_budget_new(&o, &b), SEINE_OK);
        for (int i = 0; i < 200; i++) {
            now += (seine_span)sn_rng_below(&r, 8);
            if (sn_rng_below(&r, 3) == 0) {
                seine_retry_budget_deposit(b);
                m.saved = m.saved + m.ratio < m.most ? m.saved + m.ratio : m.most;
            } else
                CHECK_EQ(seine_retry_budget_withdraw(b, now), model_withdraw(&m, now));
        }
        seine_retry_budget_free(b);
    }
}

struct crowd {
    seine_retry_budget *host, *global;
    int granted[4];
};

struct member {
    struct crowd *of;
    int me;
};

static void
crowd_run(struct crowd *c, void *(*body)(void *))
{
    pthread_t thread[4];
    struct member member[4];

    for (int i = 0; i < 4; i++) {
        member[i] = (struct member){c, i};
        CHECK_EQ(pthread_create(&thread[i], NULL, body, &member[i]), 0);
    }
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
}

static void *
pay_and_ask(void *arg)
{
    struct member *m = arg;

    for (int i = 0; i < 250; i++) {
        seine_retry_budget_deposit(m->of->host);
        for (int k = 0; k < 2; k++)
            m->of->granted[m->me] += seine_retry_budget_withdraw(m->of->host, T0);
    }
    return NULL;
}

TEST_THREADS(retry_budget_grants_threads_exactly_what_was_paid_in)
{
    struct crowd c = {.host = purse(200, 1000, 10)};

    crowd_run(&c, pay_and_ask);
    int granted = c.granted[0] + c.granted[1] + c.granted[2] + c.granted[3];
    CHECK(granted <= 210);
    CHECK_EQ(granted + drain(c.host, T0), 210);
    seine_retry_budget_free(c.host);
}

static void *
be_refused(void *arg)
{
    struct member *m = arg;
    seine_retry_opts o = SEINE_RETRY_OPTS;
    seine_fault f = fault(SEINE_E_TIMEOUT, 0);
    seine_retry r = {.opts = &o,
                     .host = m->of->host,
                     .global = m->of->global,
                     .deadline = SEINE_NEVER,
                     .attempts = 1,
                     .idempotent = true};

    for (int i = 0; i < 100; i++)
        m->of->granted[m->me] += seine_retry_next(&r, &f, T0, 0).stop == SEINE_STOP_NO;
    return NULL;
}

TEST_THREADS(retry_gives_the_host_back_what_the_process_refuses_to_threads)
{
    struct crowd c = {.host = purse(1000, 100, 10), .global = purse(0, 1, 3)};

    seine_retry_budget_deposit(c.host);
    crowd_run(&c, be_refused);
    CHECK_EQ(c.granted[0] + c.granted[1] + c.granted[2] + c.granted[3], 3);
    CHECK_EQ(drain(c.host, T0), 1 + 10 - 3);
    seine_retry_budget_free(c.host);
    seine_retry_budget_free(c.global);
}
