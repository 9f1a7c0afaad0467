/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/retry.h"

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/rng.h"
#include "base/time.h"
#include "check.h"
#include "failing.h"
#include "seine/ctx.h"

#define T0 SEINE_SECS(1000) /* any moment will do */

static seine_retry_opts
policy(seine_span base, seine_span max, seine_jitter jitter)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;

    o.base = base;
    o.max = max;
    o.jitter = jitter;
    CHECK_EQ(seine_retry_check(&o), SEINE_OK);
    return o;
}

static seine_fault
fault(seine_err code, unsigned status)
{
    seine_fault f = SEINE_FAULT;

    f.code = code;
    f.status = (uint16_t)status;
    return f;
}

/* The verdict of a first attempt that began and ended at T0. */
static seine_stop
judge(const seine_retry_opts *o, seine_err code, unsigned status)
{
    seine_retry r = {.opts = o, .deadline = SEINE_NEVER, .idempotent = true};
    seine_fault f = fault(code, status);

    seine_retry_begin(&r, T0);
    return seine_retry_next(&r, &f, T0, 0).stop;
}

TEST(s0_07_retry_defaults_are_3_attempts_1_s_30_s_and_jitter)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;

    CHECK_EQ(o.max_attempts, 3);
    CHECK_EQ(o.base, 1000000000);
    CHECK_EQ(o.max, 30000000000);
    CHECK_EQ(o.jitter, SEINE_JITTER_PLUSMINUS);
    CHECK_EQ(o.jitter_pct, 10);
    CHECK_EQ(o.retry_after_max, 3600000000000);
    CHECK_EQ(o.max_elapsed, SEINE_NEVER);
    CHECK_EQ(o.min_attempt, 0);
    CHECK_EQ(seine_retry_check(&o), SEINE_OK);
}

TEST(x_50_retry_defaults_to_3_attempts_1_s_30_s)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;

    CHECK_EQ(o.max_attempts, 3);
    CHECK_EQ(seine_retry_backoff(&o, 0), SEINE_SECS(1));
    CHECK_EQ(seine_retry_backoff(&o, 4), SEINE_SECS(16));
    CHECK_EQ(seine_retry_backoff(&o, 5), SEINE_SECS(30));
}

TEST(retry_refuses_settings_without_sense)
{
    const seine_retry_opts good = SEINE_RETRY_OPTS;
    seine_retry_opts rows[9];

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        rows[i] = good;
    rows[0].max_attempts = 0;
    rows[1].base = -1;
    rows[2].max = rows[2].base - 1;
    rows[3].jitter_pct = 101;
    rows[4].jitter = (seine_jitter)6;
    rows[5].retry_after_max = -1;
    rows[6].max_elapsed = -1;
    rows[7].min_attempt = -1;
    rows[8].base = INT64_MIN;
    EACH_ROW(i, rows)
        CHECK_EQ(seine_retry_check(&rows[i]), SEINE_E_INVAL);
}

TEST(retry_accepts_the_extremes_of_its_settings)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;

    o.max_attempts = UINT32_MAX;
    o.base = o.max = SEINE_NEVER;
    o.jitter_pct = 100;
    o.max_elapsed = 0;
    CHECK_EQ(seine_retry_check(&o), SEINE_OK);
    o.base = 0;
    o.max = 0;
    o.jitter_pct = 0;
    CHECK_EQ(seine_retry_check(&o), SEINE_OK);
}

TEST(s0_08_backoff_doubles_up_to_the_maximum)
{
    static const struct {
        int base, max;
        uint32_t k;
        int want;
    } rows[] = {
        {100, 10000, 0, 100},  {100, 10000, 1, 200}, {100, 10000, 2, 400},
        {100, 10000, 3, 800},  {100, 500, 0, 100},   {100, 500, 1, 200},
        {100, 500, 2, 400},    {100, 500, 3, 500}, /* 800 cut to the maximum */
        {100, 1000, 10, 1000},                     /* 102400 cut to the maximum */
    };

    EACH_ROW(i, rows) {
        seine_retry_opts o =
            policy(SEINE_MS(rows[i].base), SEINE_MS(rows[i].max), SEINE_JITTER_PLUSMINUS);

        CHECK_EQ(seine_retry_backoff(&o, rows[i].k), SEINE_MS(rows[i].want));
    }
}

TEST(t15_backoff_saturates_at_the_maximum)
{
    static const int want[] = {100, 200, 400, 500, 500};
    seine_retry_opts o = policy(SEINE_MS(100), SEINE_MS(500), SEINE_JITTER_NONE);

    EACH_ROW(k, want)
        CHECK_EQ(seine_retry_backoff(&o, (uint32_t)k), SEINE_MS(want[k]));
    o = policy(SEINE_MS(1000), SEINE_MS(30000), SEINE_JITTER_NONE);
    CHECK_EQ(seine_retry_backoff(&o, 64), SEINE_MS(30000));
    CHECK_EQ(seine_retry_backoff(&o, UINT32_MAX), SEINE_MS(30000));
}

TEST(x_30_backoff_never_wraps_or_falls)
{
    static const seine_span bases[] = {1,        3, 1000, SEINE_SECS(1), INT64_MAX / 2,
                                       INT64_MAX};

    EACH_ROW(i, bases) {
        seine_retry_opts o = policy(bases[i], SEINE_NEVER, SEINE_JITTER_NONE);
        sn_u128 want = (sn_u128)bases[i];

        for (uint32_t k = 0; k < 200; k++) {
            CHECK_EQ(seine_retry_backoff(&o, k),
                     want > INT64_MAX ? INT64_MAX : (int64_t)want);
            if (want <= INT64_MAX)
                want *= 2;
        }
    }
    seine_retry_opts zero = policy(0, SEINE_SECS(1), SEINE_JITTER_NONE);
    CHECK_EQ(seine_retry_backoff(&zero, 70), 0);
}

/* U[0, n] by its definition, on 32-bit halves instead of 128 bits. */
static uint64_t
uniform(uint64_t dice, uint64_t n)
{
    if (n == UINT64_MAX)
        return dice;

    uint64_t m = n + 1, lo = UINT32_MAX;
    uint64_t ll = (dice & lo) * (m & lo), lh = (dice & lo) * (m >> 32);
    uint64_t hl = (dice >> 32) * (m & lo), hh = (dice >> 32) * (m >> 32);
    uint64_t carry = ((ll >> 32) + (lh & lo) + (hl & lo)) >> 32;

    return hh + (lh >> 32) + (hl >> 32) + carry;
}

/* The table of jitters, word by word. */
static seine_span
obvious_delay(const seine_retry_opts *o, uint32_t k, seine_span prev, uint64_t dice)
{
    sn_u128 d = (sn_u128)o->base, max = (sn_u128)o->max;

    for (uint32_t i = 0; i < k && d < max; i++)
        d *= 2;
    if (d > max)
        d = max;
    sn_u128 p = d * o->jitter_pct / 100;
    if (prev < o->base)
        prev = o->base;
    uint64_t three = (uint64_t)(prev > INT64_MAX / 3 ? INT64_MAX : 3 * prev);

    switch (o->jitter) {
    case SEINE_JITTER_PLUSMINUS:
        d = d - p + uniform(dice, (uint64_t)(2 * p));
        break;
    case SEINE_JITTER_NONE:
        break;
    case SEINE_JITTER_FULL:
        d = uniform(dice, (uint64_t)d);
        break;
    case SEINE_JITTER_EQUAL:
        d = d / 2 + uniform(dice, (uint64_t)(d / 2));
        break;
    case SEINE_JITTER_DECORRELATED:
        d = (uint64_t)o->base + (sn_u128)uniform(dice, three - (uint64_t)o->base);
        break;
    case SEINE_JITTER_MINUS:
        d = d - p + uniform(dice, (uint64_t)p);
    }
    return (seine_span)(d > max ? max : d);
}

/* Every number of bits is equally likely. */
static seine_span
any_span(sn_rng *r)
{
    return (seine_span)(sn_rng_next(r) >> (1 + sn_rng_below(r, 63)));
}

static uint64_t
any_dice(sn_rng *r)
{
    switch (sn_rng_below(r, 8)) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX;
    default:
        return sn_rng_next(r);
    }
}

TEST(retry_delay_is_the_table_of_jitters)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int i = 0; i < 50000; i++) {
        seine_retry_opts o = SEINE_RETRY_OPTS;

        o.base = any_span(&r);
        o.max = sn_time_add(o.base, any_span(&r));
        o.jitter = (seine_jitter)sn_rng_below(&r, 6);
        o.jitter_pct = (uint32_t)sn_rng_below(&r, 101);
        uint32_t k = (uint32_t)sn_rng_below(&r, 70);
        seine_span prev = any_span(&r);
        uint64_t dice = any_dice(&r);

        seine_span got = seine_retry_delay(&o, k, prev, dice);
        CHECK_EQ(got, obvious_delay(&o, k, prev, dice));
        CHECK(got >= 0 && got <= o.max);
    }
}

TEST(retry_delay_reaches_both_ends_of_each_jitter)
{
    static const struct {
        seine_jitter jitter;
        uint32_t k;
        int prev, low, high; /* ms, base 100, max 1000 */
    } rows[] = {
        {SEINE_JITTER_PLUSMINUS, 0, 0, 90, 110},
        {SEINE_JITTER_PLUSMINUS, 9, 0, 900, 1000}, /* cut off after the jitter */
        {SEINE_JITTER_MINUS, 0, 0, 90, 100},
        {SEINE_JITTER_MINUS, 9, 0, 900, 1000},
        {SEINE_JITTER_NONE, 2, 0, 400, 400},
        {SEINE_JITTER_FULL, 2, 0, 0, 400},
        {SEINE_JITTER_EQUAL, 2, 0, 200, 400},
        {SEINE_JITTER_DECORRELATED, 0, 100, 100, 300},
        {SEINE_JITTER_DECORRELATED, 5, 200, 100, 600},  /* k plays no part */
        {SEINE_JITTER_DECORRELATED, 0, 900, 100, 1000}, /* 2700 cut off */
        {SEINE_JITTER_DECORRELATED, 0, 0, 100, 300},    /* starts at base */
    };

    EACH_ROW(i, rows) {
        seine_retry_opts o = policy(SEINE_MS(100), SEINE_MS(1000), rows[i].jitter);

        CHECK_EQ(seine_retry_delay(&o, rows[i].k, SEINE_MS(rows[i].prev), 0),
                 SEINE_MS(rows[i].low));
        CHECK_EQ(seine_retry_delay(&o, rows[i].k, SEINE_MS(rows[i].prev), UINT64_MAX),
                 SEINE_MS(rows[i].high));
    }
}

TEST(retry_delay_of_the_longest_spans_does_not_overflow)
{
    for (int jitter = 0; jitter < 6; jitter++) {
        seine_retry_opts o = policy(SEINE_NEVER, SEINE_NEVER, (seine_jitter)jitter);

        o.jitter_pct = 100;
        CHECK_EQ(seine_retry_delay(&o, UINT32_MAX, SEINE_NEVER, UINT64_MAX),
                 jitter == SEINE_JITTER_EQUAL ? SEINE_NEVER - 1 : SEINE_NEVER);
        CHECK(seine_retry_delay(&o, UINT32_MAX, SEINE_NEVER, 0) >= 0);
    }
}

TEST(s0_09_jitter_spreads_by_ten_percent)
{
    seine_retry_opts o = policy(SEINE_MS(1000), SEINE_MS(30000), SEINE_JITTER_PLUSMINUS);
    sn_rng r = sn_rng_seed(check_seed());
    int upper = 0;

    for (int i = 0; i < 20000; i++) {
        seine_span d = seine_retry_delay(&o, 0, 0, sn_rng_next(&r));

        CHECK(d >= SEINE_MS(900) && d <= SEINE_MS(1100));
        upper += d > SEINE_MS(1000);
    }
    CHECK(upper > 9500 && upper < 10500); /* seven standard deviations */
}

TEST(t17_jitter_stays_below_the_maximum)
{
    seine_retry_opts o = policy(SEINE_MS(1000), SEINE_MS(1000), SEINE_JITTER_PLUSMINUS);
    sn_rng r = sn_rng_seed(check_seed());

    for (int i = 0; i < 100000; i++) {
        seine_span d = seine_retry_delay(&o, 3, 0, sn_rng_next(&r));

        CHECK(d >= SEINE_MS(900) && d <= SEINE_MS(1000));
    }
}

TEST(x_29_no_jitter_makes_33_s_of_30_s)
{
    for (int jitter = 0; jitter < 6; jitter++) {
        seine_retry_opts o = SEINE_RETRY_OPTS;

        o.jitter = (seine_jitter)jitter;
        for (uint32_t k = 0; k < 40; k++)
            CHECK(seine_retry_delay(&o, k, SEINE_SECS(30), UINT64_MAX) <= SEINE_SECS(30));
    }
}

TEST(s0_10_retry_repeats_network_timeout_and_5xx)
{
    static const struct {
        seine_err code;
        unsigned status;
        seine_stop want;
    } rows[] = {
        {SEINE_E_CONNECT, 0, SEINE_STOP_NO},      {SEINE_E_RESET, 0, SEINE_STOP_NO},
        {SEINE_E_DNS_AGAIN, 0, SEINE_STOP_NO},    {SEINE_E_TIMEOUT, 0, SEINE_STOP_NO},
        {SEINE_E_HTTP_BUSY, 500, SEINE_STOP_NO},  {SEINE_E_HTTP_BUSY, 503, SEINE_STOP_NO},
        {SEINE_E_HTTP, 404, SEINE_STOP_FINAL},    {SEINE_E_HTTP, 403, SEINE_STOP_FINAL},
        {SEINE_E_PARSE, 200, SEINE_STOP_FINAL},   {SEINE_E_BREAKER, 0, SEINE_STOP_FINAL},
        {SEINE_E_TOO_BIG, 200, SEINE_STOP_FINAL}, {SEINE_E_NOMEM, 0, SEINE_STOP_NO},
        {SEINE_E_BUDGET, 0, SEINE_STOP_FINAL}, /* the seed's resource failure */
    };
    seine_retry_opts o = SEINE_RETRY_OPTS;

    EACH_ROW(i, rows)
        CHECK_EQ(judge(&o, rows[i].code, rows[i].status), rows[i].want);
}

TEST(x_27_retry_set_is_408_425_429_and_5xx_but_501_505)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;

    for (unsigned s = 0; s < 1000; s++) {
        bool in = s == 408 || s == 425 || s == 429 ||
                  (s >= 500 && s <= 599 && s != 501 && s != 505);

        CHECK_EQ(seine_retry_classify(&o, s), s < 400 ? SEINE_OK
                                              : in    ? SEINE_E_HTTP_BUSY
                                                      : SEINE_E_HTTP);
        /* Whatever the transport called it, the set decides. */
        if (s > 0) {
            CHECK_EQ(judge(&o, SEINE_E_HTTP, s), in ? SEINE_STOP_NO : SEINE_STOP_FINAL);
            CHECK_EQ(judge(&o, SEINE_E_HTTP_BUSY, s),
                     in ? SEINE_STOP_NO : SEINE_STOP_FINAL);
        }
    }
    CHECK_EQ(seine_retry_classify(&o, UINT32_MAX), SEINE_E_HTTP);
}

TEST(x_27_retry_set_is_configurable)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;

    seine_status_set_add(&o.status, 404, 404);
    seine_status_set_remove(&o.status, 500, 500);
    CHECK_EQ(seine_retry_classify(&o, 404), SEINE_E_HTTP_BUSY);
    CHECK_EQ(seine_retry_classify(&o, 500), SEINE_E_HTTP);
    CHECK_EQ(judge(&o, SEINE_E_HTTP, 404), SEINE_STOP_NO);
    CHECK_EQ(judge(&o, SEINE_E_HTTP_BUSY, 500), SEINE_STOP_FINAL);
    /* Without a status the class of the code decides. */
    CHECK_EQ(judge(&o, SEINE_E_HTTP_BUSY, 0), SEINE_STOP_NO);
    CHECK_EQ(judge(&o, SEINE_E_HTTP, 0), SEINE_STOP_FINAL);
    /* A kind with a status of its own is no response to the request. */
    CHECK_EQ(judge(&o, SEINE_E_PROXY_REFUSED, 503), SEINE_STOP_FINAL);
    CHECK_EQ(judge(&o, SEINE_E_BODY_TRUNCATED, 200), SEINE_STOP_NO);
}

TEST(x_28_retry_repeats_a_body_that_ended_early)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;

    CHECK_EQ(judge(&o, SEINE_E_SHORT, 200), SEINE_STOP_NO);
    CHECK_EQ(judge(&o, SEINE_E_BODY_TRUNCATED, 200), SEINE_STOP_NO);
    CHECK_EQ(judge(&o, SEINE_E_CONN_RESET, 200), SEINE_STOP_NO);
    CHECK_EQ(judge(&o, SEINE_E_STALLED, 200), SEINE_STOP_NO);
    CHECK_EQ(judge(&o, SEINE_E_BAD_ENCODING, 200), SEINE_STOP_FINAL);
}

TEST(retry_repeats_what_is_transient_or_our_own_memory_and_nothing_else)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;

    for (int e = 0; e < SN_ERR_COUNT; e++) {
        bool again =
            seine_err_class((seine_err)e) == SEINE_TRANSIENT || e == SEINE_E_NOMEM;

        CHECK_EQ(judge(&o, (seine_err)e, 0), e == SEINE_OK           ? SEINE_STOP_OK
                                             : e == SEINE_E_CANCELED ? SEINE_STOP_CANCELED
                                             : again                 ? SEINE_STOP_NO
                                                                     : SEINE_STOP_FINAL);
    }
}

/* The ends of an attempt in the engine, each with the verdict for a request that may be
 * repeated, and for one that may not and was sent. */
TEST(retry_says_for_every_end_of_an_attempt_whether_it_is_tried_again)
{
    static const struct {
        seine_err code;
        unsigned status;
        seine_stop again, once;
    } rows[] = {
        {SEINE_OK, 200, SEINE_STOP_OK, SEINE_STOP_OK},
        {SEINE_E_HTTP, 404, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_HTTP, 413, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_HTTP_BUSY, 429, SEINE_STOP_NO, SEINE_STOP_METHOD},
        {SEINE_E_HTTP_BUSY, 408, SEINE_STOP_NO, SEINE_STOP_METHOD},
        {SEINE_E_HTTP_BUSY, 425, SEINE_STOP_NO, SEINE_STOP_METHOD},
        {SEINE_E_HTTP_BUSY, 503, SEINE_STOP_NO, SEINE_STOP_METHOD},
        {SEINE_E_HTTP_BUSY, 502, SEINE_STOP_NO, SEINE_STOP_METHOD},
        {SEINE_E_HTTP, 501, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_HTTP, 505, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_CONNECT_REFUSED, 0, SEINE_STOP_NO, SEINE_STOP_METHOD},
        {SEINE_E_HEADER_TRUNCATED, 0, SEINE_STOP_NO, SEINE_STOP_METHOD},
        {SEINE_E_H2_STREAM, 0, SEINE_STOP_NO, SEINE_STOP_METHOD},
        {SEINE_E_BODY_TRUNCATED, 200, SEINE_STOP_NO, SEINE_STOP_METHOD},
        {SEINE_E_TLS_ERROR, 0, SEINE_STOP_NO, SEINE_STOP_METHOD},
        {SEINE_E_HEADER_TIMEOUT, 0, SEINE_STOP_NO, SEINE_STOP_METHOD},
        {SEINE_E_DNS_SERVFAIL, 0, SEINE_STOP_NO, SEINE_STOP_METHOD},
        {SEINE_E_DNS_NXDOMAIN, 0, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_TLS_UNTRUSTED, 0, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_UNEXPECTED_206, 206, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_TOO_MANY_REDIRECTS, 302, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_BAD_JSON, 200, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_BODY_TOO_LARGE, 200, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_PROXY_ERROR, 502, SEINE_STOP_NO, SEINE_STOP_METHOD},
        {SEINE_E_PROXY_AUTH, 407, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_BLOCKED_ADDRESS, 0, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_ROBOTS, 0, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_NOMEM, 0, SEINE_STOP_NO, SEINE_STOP_METHOD},
        {SEINE_E_BUDGET, 0, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_NOMEM, 0, SEINE_STOP_NO, SEINE_STOP_METHOD},
        {SEINE_E_CANCELED, 0, SEINE_STOP_CANCELED, SEINE_STOP_CANCELED},
        {SEINE_E_DEADLINE, 0, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_DISK_FULL, 0, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
        {SEINE_E_LIMITED, 0, SEINE_STOP_FINAL, SEINE_STOP_FINAL}, /* no attempt at all */
        {SEINE_E_RETRY_AFTER_TOO_LONG, 0, SEINE_STOP_FINAL, SEINE_STOP_FINAL},
    };
    seine_retry_opts o = SEINE_RETRY_OPTS;

    EACH_ROW(i, rows) {
        seine_retry r = {.opts = &o, .deadline = SEINE_NEVER};
        seine_fault f = fault(rows[i].code, rows[i].status);

        seine_retry_begin(&r, T0);
        CHECK_EQ(judge(&o, rows[i].code, rows[i].status), rows[i].again);
        CHECK_EQ(seine_retry_next(&r, &f, T0, 0).stop, rows[i].again); /* unsent */
        f.sent = true;
        CHECK_EQ(seine_retry_next(&r, &f, T0, 0).stop, rows[i].once);
    }
}

TEST(retry_stops_for_the_first_reason_of_the_list)
{
    /* Each row removes one reason to stop, so the next reason counts. */
    static const seine_stop want[] = {
        SEINE_STOP_OK,       SEINE_STOP_CANCELED, SEINE_STOP_FINAL,
        SEINE_STOP_ATTEMPTS, SEINE_STOP_METHOD,   SEINE_STOP_ELAPSED,
        SEINE_STOP_DEADLINE, SEINE_STOP_BUDGET,   SEINE_STOP_NO,
    };
    static const seine_retry_budget_opts one = {
        sizeof(seine_retry_budget_opts), 0, 1, {1, SEINE_SECS(1), 1}};
    seine_retry_opts o = policy(SEINE_MS(100), SEINE_MS(100), SEINE_JITTER_NONE);
    seine_retry_budget *b = NULL;
    CHECK_EQ(seine_retry_budget_new(&one, &b), SEINE_OK);
    CHECK(seine_retry_budget_withdraw(b, T0)); /* from here on it refuses */

    EACH_ROW(i, want) {
        seine_fault f = fault(i < 1   ? SEINE_OK
                              : i < 2 ? SEINE_E_CANCELED
                              : i < 3 ? SEINE_E_PARSE
                                      : SEINE_E_RESET,
                              0);
        seine_retry r = {.opts = &o, .host = i < 8 ? b : NULL};

        f.sent = true;
        o.max_attempts = i < 4 ? 1 : 2;
        r.idempotent = i >= 5;
        o.max_elapsed = i < 6 ? SEINE_MS(100) - 1 : SEINE_MS(100);
        r.deadline = i < 7 ? T0 + SEINE_MS(100) : T0 + SEINE_MS(100) + 1;
        seine_retry_begin(&r, T0);
        seine_verdict v = seine_retry_next(&r, &f, T0, 0);
        CHECK_EQ(v.stop, want[i]);
        CHECK_EQ(v.at, v.stop == SEINE_STOP_NO ? T0 + SEINE_MS(100) : SEINE_NEVER);
    }
    seine_retry_budget_free(b);
}

TEST(retry_of_a_request_with_an_effect_needs_that_nothing_was_sent)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;

    for (int idempotent = 0; idempotent < 2; idempotent++)
        for (int sent = 0; sent < 2; sent++) {
            seine_retry r = {
                .opts = &o, .deadline = SEINE_NEVER, .idempotent = idempotent != 0};
            seine_fault f = fault(SEINE_E_RESET, 0);

            f.sent = sent != 0;
            seine_retry_begin(&r, T0);
            CHECK_EQ(seine_retry_next(&r, &f, T0, 0).stop,
                     sent && !idempotent ? SEINE_STOP_METHOD : SEINE_STOP_NO);
        }
}

TEST(retry_stops_at_once_when_the_next_attempt_would_miss_the_deadline)
{
    static const struct {
        seine_span min_attempt, left; /* wait is 100 ms */
        seine_stop want;
    } rows[] = {
        {0, SEINE_MS(100) - 1, SEINE_STOP_DEADLINE},
        {0, SEINE_MS(100), SEINE_STOP_DEADLINE}, /* at the deadline is too late */
        {0, SEINE_MS(100) + 1, SEINE_STOP_NO},
        {SEINE_MS(50), SEINE_MS(150) - 1, SEINE_STOP_DEADLINE},
        {SEINE_MS(50), SEINE_MS(150), SEINE_STOP_DEADLINE},
        {SEINE_MS(50), SEINE_MS(150) + 1, SEINE_STOP_NO},
        {SEINE_NEVER, SEINE_NEVER - T0, SEINE_STOP_DEADLINE}, /* sums saturate */
        {0, -1, SEINE_STOP_DEADLINE},                         /* long past */
    };

    EACH_ROW(i, rows) {
        seine_retry_opts o = policy(SEINE_MS(100), SEINE_MS(100), SEINE_JITTER_NONE);
        seine_retry r = {.opts = &o, .deadline = T0 + rows[i].left, .idempotent = true};
        seine_fault f = fault(SEINE_E_TIMEOUT, 0);

        o.min_attempt = rows[i].min_attempt;
        seine_retry_begin(&r, T0);
        CHECK_EQ(seine_retry_next(&r, &f, T0, 0).stop, rows[i].want);
    }
}

TEST(retry_starts_no_attempt_later_than_max_elapsed)
{
    static const struct {
        seine_span after; /* when the first attempt failed */
        seine_stop want;  /* wait 100 ms, max_elapsed 1 s */
    } rows[] = {
        {SEINE_MS(900) - 1, SEINE_STOP_NO},
        {SEINE_MS(900), SEINE_STOP_NO}, /* exactly at the end */
        {SEINE_MS(900) + 1, SEINE_STOP_ELAPSED},
        {SEINE_SECS(10000), SEINE_STOP_ELAPSED},
        {-SEINE_SECS(5), SEINE_STOP_NO}, /* the clock stepped back */
    };

    EACH_ROW(i, rows) {
        seine_retry_opts o = policy(SEINE_MS(100), SEINE_MS(100), SEINE_JITTER_NONE);
        seine_retry r = {.opts = &o, .deadline = SEINE_NEVER, .idempotent = true};
        seine_fault f = fault(SEINE_E_TIMEOUT, 0);

        o.max_elapsed = SEINE_SECS(1);
        seine_retry_begin(&r, T0);
        CHECK_EQ(seine_retry_next(&r, &f, T0 + rows[i].after, 0).stop, rows[i].want);
    }
}

TEST(retry_waits_longer_after_each_attempt)
{
    static const int want[] = {100, 200, 400, 500, 500};
    seine_retry_opts o = policy(SEINE_MS(100), SEINE_MS(500), SEINE_JITTER_NONE);
    seine_retry r = {.opts = &o, .deadline = SEINE_NEVER, .idempotent = true};
    seine_fault f = fault(SEINE_E_TIMEOUT, 0);
    seine_time now = T0;

    o.max_attempts = 6;
    EACH_ROW(i, want) {
        seine_retry_begin(&r, now);
        CHECK_EQ(r.attempts, i + 1);
        seine_verdict v = seine_retry_next(&r, &f, now, 0);
        CHECK_EQ(v.stop, SEINE_STOP_NO);
        CHECK_EQ(v.at, now + SEINE_MS(want[i]));
        now = v.at;
    }
    seine_retry_begin(&r, now);
    CHECK_EQ(seine_retry_next(&r, &f, now, 0).stop, SEINE_STOP_ATTEMPTS);
    CHECK_EQ(r.first_at, T0);
}

TEST(retry_asked_without_an_attempt_waits_like_after_the_first)
{
    seine_retry_opts o = policy(SEINE_MS(100), SEINE_MS(500), SEINE_JITTER_NONE);
    seine_retry r = {.opts = &o, .deadline = SEINE_NEVER, .idempotent = true};
    seine_fault f = fault(SEINE_E_TIMEOUT, 0);

    CHECK_EQ(seine_retry_next(&r, &f, T0, 0).at, T0 + SEINE_MS(100));
}

TEST(retry_counts_attempts_without_wrapping)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;
    seine_retry r = {.opts = &o, .deadline = SEINE_NEVER, .attempts = UINT32_MAX - 1};

    seine_retry_begin(&r, T0);
    seine_retry_begin(&r, T0);
    CHECK_EQ(r.attempts, UINT32_MAX);
}

TEST(retry_decorrelated_waits_grow_from_the_last_wait)
{
    seine_retry_opts o =
        policy(SEINE_MS(100), SEINE_MS(10000), SEINE_JITTER_DECORRELATED);
    seine_retry r = {.opts = &o, .deadline = SEINE_NEVER, .idempotent = true};
    seine_fault f = fault(SEINE_E_HTTP_BUSY, 429);
    static const int want[] = {300, 900, 2700, 8100, 10000, 10000};

    o.max_attempts = 100;
    EACH_ROW(i, want) {
        seine_retry_begin(&r, T0);
        CHECK_EQ(r.prev, SEINE_MS(i == 0 ? 100 : want[i - 1]));
        CHECK_EQ(seine_retry_next(&r, &f, T0, UINT64_MAX).at, T0 + SEINE_MS(want[i]));
    }
    /* A Retry-After lengthens this wait, not the next backoff. */
    f.retry_after = SEINE_SECS(60);
    seine_retry_begin(&r, T0);
    CHECK_EQ(seine_retry_next(&r, &f, T0, 0).at, T0 + SEINE_SECS(60));
    CHECK_EQ(r.prev, SEINE_MS(100));
}

TEST(retry_after_lengthens_the_wait_on_429_and_503)
{
    static const struct {
        unsigned status;
        seine_span asked, low, high; /* backoff 1 s */
    } rows[] = {
        {429, SEINE_SECS(120), SEINE_SECS(120), SEINE_SECS(132)},
        {503, SEINE_SECS(120), SEINE_SECS(120), SEINE_SECS(132)},
        {500, SEINE_SECS(120), SEINE_SECS(1), SEINE_SECS(1)}, /* not for this request */
        {408, SEINE_SECS(120), SEINE_SECS(1), SEINE_SECS(1)},
        {429, -1, SEINE_SECS(1), SEINE_SECS(1)}, /* no Retry-After */
        {429, 0, SEINE_SECS(1), SEINE_MS(1100)}, /* never below the backoff */
        {429, SEINE_MS(999), SEINE_SECS(1), SEINE_MS(1100)},
        {429, SEINE_MS(1001), SEINE_MS(1001), SEINE_US(1101100)},
        {503, SEINE_SECS(7200), SEINE_SECS(3600), SEINE_SECS(3960)}, /* clamped */
        {503, SEINE_NEVER, SEINE_SECS(3600), SEINE_SECS(3960)},
    };

    EACH_ROW(i, rows) {
        seine_retry_opts o = policy(SEINE_SECS(1), SEINE_SECS(30), SEINE_JITTER_NONE);
        seine_fault f = fault(SEINE_E_HTTP_BUSY, rows[i].status);
        seine_retry r = {.opts = &o, .deadline = SEINE_NEVER, .idempotent = true};

        f.retry_after = rows[i].asked;
        seine_retry_begin(&r, T0);
        CHECK_EQ(seine_retry_next(&r, &f, T0, 0).at, T0 + rows[i].low);
        CHECK_EQ(seine_retry_next(&r, &f, T0, UINT64_MAX).at, T0 + rows[i].high);
    }
}

TEST(retry_after_of_an_unbounded_policy_saturates)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;
    seine_retry r = {.opts = &o, .deadline = SEINE_NEVER, .idempotent = true};
    seine_fault f = fault(SEINE_E_HTTP_BUSY, 429);

    o.retry_after_max = SEINE_NEVER;
    f.retry_after = SEINE_NEVER;
    seine_retry_begin(&r, T0);
    CHECK_EQ(seine_retry_next(&r, &f, T0, UINT64_MAX).stop, SEINE_STOP_DEADLINE);
}

/* One random number serves both draws: the second must not follow the first. */
TEST(retry_after_is_spread_independently_of_the_backoff)
{
    seine_retry_opts o = policy(SEINE_SECS(10), SEINE_SECS(30), SEINE_JITTER_PLUSMINUS);
    seine_fault f = fault(SEINE_E_HTTP_BUSY, 429);
    sn_rng rng = sn_rng_seed(check_seed());
    int quarter[2][2] = {{0}};

    f.retry_after = 0;
    for (int i = 0; i < 20000; i++) {
        seine_retry r = {.opts = &o, .deadline = SEINE_NEVER, .idempotent = true};
        uint64_t dice = sn_rng_next(&rng);
        seine_span first = seine_retry_delay(&o, 0, 0, dice);

        seine_retry_begin(&r, T0);
        seine_span more = seine_retry_next(&r, &f, T0, dice).at - T0 - first;
        CHECK(more >= 0 && more <= first / 10);
        quarter[first > SEINE_SECS(10)][more > first / 20]++;
    }
    for (int i = 0; i < 4; i++) /* 5000 expected, standard deviation 61 */
        CHECK(quarter[i / 2][i % 2] > 4570 && quarter[i / 2][i % 2] < 5430);
}

static seine_stop
obvious_stop(const seine_retry *r, const seine_fault *f, seine_span delay, seine_time now)
{
    const seine_retry_opts *o = r->opts;
    int64_t at = now + delay; /* small numbers: nothing to saturate */

    if (f->code == SEINE_OK)
        return SEINE_STOP_OK;
    if (f->code == SEINE_E_CANCELED)
        return SEINE_STOP_CANCELED;
    if (f->code != SEINE_E_TIMEOUT && f->code != SEINE_E_NOMEM &&
        !(f->code == SEINE_E_HTTP_BUSY && f->status != 404))
        return SEINE_STOP_FINAL;
    if (r->attempts >= o->max_attempts)
        return SEINE_STOP_ATTEMPTS;
    if (!r->idempotent && f->sent)
        return SEINE_STOP_METHOD;
    if (at - r->first_at > o->max_elapsed)
        return SEINE_STOP_ELAPSED;
    if (at + o->min_attempt >= r->deadline)
        return SEINE_STOP_DEADLINE;
    return SEINE_STOP_NO;
}

TEST(retry_verdict_is_that_of_an_obvious_judge)
{
    static const seine_err codes[] = {
        SEINE_OK,      SEINE_E_CANCELED, SEINE_E_TIMEOUT,   SEINE_E_TIMEOUT,
        SEINE_E_NOMEM, SEINE_E_PARSE,    SEINE_E_HTTP_BUSY, SEINE_E_HTTP_BUSY};
    static const uint16_t statuses[] = {429, 503, 500, 404};
    sn_rng rng = sn_rng_seed(check_seed());
    int seen[SEINE_STOP_BREAKER] = {0};

    for (int i = 0; i < 20000; i++) {
        seine_retry_opts o = policy(SEINE_MS(100), SEINE_SECS(30), SEINE_JITTER_NONE);
        seine_retry r = {.opts = &o,
                         .first_at = T0 - (seine_span)sn_rng_below(&rng, SEINE_SECS(60)),
                         .deadline = T0 + (seine_span)sn_rng_below(&rng, SEINE_SECS(20)),
                         .attempts = 1 + (uint32_t)sn_rng_below(&rng, 5),
                         .idempotent = sn_rng_below(&rng, 2) == 0};
        seine_fault f =
            fault(codes[sn_rng_below(&rng, 8)], statuses[sn_rng_below(&rng, 4)]);
        uint64_t dice = sn_rng_next(&rng);

        o.max_attempts = 4;
        o.max_elapsed = SEINE_SECS(50);
        o.min_attempt = (seine_span)sn_rng_below(&rng, SEINE_SECS(2));
        f.sent = sn_rng_below(&rng, 3) == 0;
        if (sn_rng_below(&rng, 2) == 0)
            f.retry_after = (seine_span)sn_rng_below(&rng, SEINE_SECS(10));

        seine_span delay = SEINE_MS(100) << (r.attempts - 1);
        if (f.retry_after >= 0 && (f.status == 429 || f.status == 503)) {
            delay = sn_time_max(delay, f.retry_after);
            delay += (seine_span)uniform(dice, (uint64_t)delay / 10);
        }
        seine_stop want = obvious_stop(&r, &f, delay, T0);
        seine_verdict v = seine_retry_next(&r, &f, T0, dice);
        CHECK_EQ(v.stop, want);
        CHECK_EQ(v.at, want == SEINE_STOP_NO ? T0 + delay : SEINE_NEVER);
        seen[want]++;
    }
    for (int i = 0; i < SEINE_STOP_BREAKER; i++)
        CHECK(i == SEINE_STOP_BUDGET || seen[i] > 0);
}

/* A clock for one thread: parking jumps, and adds up the time slept. */
struct jumping {
    seine_clock clock;
    seine_time now;
    seine_span slept, late; /* it wakes so much too late */
};

static seine_time
jumping_now(seine_clock *c)
{
    return ((struct jumping *)c)->now;
}

static uint64_t
jumping_dice(seine_clock *c)
{
    (void)c;
    return UINT64_MAX / 2;
}

static bool
jumping_wait(seine_clock *c, const uint32_t *word, uint32_t seen, seine_time until)
{
    struct jumping *j = (struct jumping *)c;

    (void)word;
    (void)seen;
    j->slept += until + j->late - j->now;
    j->now = until + j->late;
    return false;
}

static void
jumping_wake(seine_clock *c, const uint32_t *word, int n)
{
    (void)c;
    (void)word;
    (void)n;
}

static struct jumping
jumping_from(seine_time now)
{
    return (struct jumping){.clock = {.now = jumping_now,
                                      .dice = jumping_dice,
                                      .wait = jumping_wait,
                                      .wake = jumping_wake},
                            .now = now};
}

/* A server that responds from a list and repeats the last response. */
struct server {
    struct jumping *j;
    seine_ctx *ctx;
    const unsigned *answers;
    uint32_t count, saw;
    seine_span takes, late;
    bool cancels;
};

static seine_fault
answer(seine_ctx *attempt, uint32_t number, void *arg)
{
    static const seine_retry_opts policy_of_statuses = SEINE_RETRY_OPTS;
    struct server *s = arg;
    unsigned status = s->answers[s->saw < s->count ? s->saw : s->count - 1];

    CHECK(attempt != s->ctx);
    CHECK_EQ(seine_ctx_deadline(attempt), seine_ctx_deadline(s->ctx));
    s->saw++;
    CHECK_EQ(number, s->saw);
    s->j->now += s->takes;
    if (s->cancels)
        seine_ctx_cancel(s->ctx, SEINE_OK);
    seine_fault f = fault(seine_retry_classify(&policy_of_statuses, status), status);
    f.sent = true;
    return f;
}

struct run {
    seine_err e;
    uint32_t attempts, saw;
    seine_span slept;
};

static struct run
run_for(const seine_retry_opts *o, struct server s, seine_span timeout)
{
    struct jumping j = jumping_from(T0);
    struct run out = {.attempts = 99};
    seine_ctx *root = NULL, *ctx = NULL;

    CHECK_EQ(seine_ctx_root(&j.clock, &root), SEINE_OK);
    CHECK_EQ(seine_ctx_new(root, sn_time_add(T0, timeout), &ctx), SEINE_OK);
    j.late = s.late;
    s.j = &j;
    s.ctx = ctx;
    out.e = seine_retry_run(o, ctx, answer, &s, &out.attempts);
    out.saw = s.saw;
    out.slept = j.slept;
    seine_ctx_unref(ctx);
    seine_ctx_unref(root);
    return out;
}

TEST(s0_11_retry_run_counts_all_attempts_and_returns_the_last_failure)
{
    static const unsigned recovers[] = {500, 500, 200}, dead[] = {500}, gone[] = {404},
                          changes[] = {503, 404};
    static const struct {
        const unsigned *answers;
        uint32_t count;
        seine_err want;
        uint32_t saw;
        seine_span slept;
    } rows[] = {
        {recovers, 3, SEINE_OK, 3, SEINE_MS(300)},
        {dead, 1, SEINE_E_HTTP_BUSY, 3, SEINE_MS(300)},
        {gone, 1, SEINE_E_HTTP, 1, 0},
        {changes, 2, SEINE_E_HTTP, 2, SEINE_MS(100)}, /* the last one counts */
        {recovers + 2, 1, SEINE_OK, 1, 0},
    };
    seine_retry_opts o = policy(SEINE_MS(100), SEINE_MS(10000), SEINE_JITTER_NONE);

    EACH_ROW(i, rows) {
        struct server s = {.answers = rows[i].answers, .count = rows[i].count};
        struct run r = run_for(&o, s, SEINE_NEVER);

        CHECK_EQ(r.e, rows[i].want);
        CHECK_EQ(r.saw, rows[i].saw);
        CHECK_EQ(r.attempts, rows[i].saw);
        CHECK_EQ(r.slept, rows[i].slept);
    }
}

TEST(t16_retry_run_of_3_attempts_sleeps_300_ms_exactly)
{
    static const unsigned dead[] = {500};
    seine_retry_opts o = policy(SEINE_MS(100), SEINE_MS(30000), SEINE_JITTER_NONE);
    struct run r = run_for(&o, (struct server){.answers = dead, .count = 1}, SEINE_NEVER);

    CHECK_EQ(r.saw, 3);
    CHECK_EQ(r.slept, SEINE_MS(300));
    CHECK_EQ(r.e, SEINE_E_HTTP_BUSY);
}

TEST(x_31_retry_run_does_not_sleep_after_the_last_attempt)
{
    static const unsigned dead[] = {500};
    seine_retry_opts o = policy(SEINE_MS(100), SEINE_MS(100), SEINE_JITTER_NONE);

    for (uint32_t n = 1; n < 6; n++) {
        o.max_attempts = n;
        struct run r =
            run_for(&o, (struct server){.answers = dead, .count = 1}, SEINE_NEVER);

        CHECK_EQ(r.attempts, n);
        CHECK_EQ(r.slept, SEINE_MS(100) * (n - 1));
        CHECK_EQ(r.e, SEINE_E_HTTP_BUSY);
    }
}

/* Every sequence of coin tosses once: 3 tosses succeed in 7 of 8 cases, and it takes 7
 * tosses, with 127 of 128, to exceed 99 %. */
TEST(x_32_retry_run_of_3_attempts_at_one_half_succeeds_in_875_of_1000)
{
    seine_retry_opts o = policy(SEINE_MS(50), SEINE_SECS(1), SEINE_JITTER_NONE);

    for (uint32_t n = 1; n <= 7; n++) {
        uint32_t ok = 0, cases = UINT32_C(1) << n;

        o.max_attempts = n;
        for (uint32_t coins = 0; coins < cases; coins++) {
            unsigned answers[7];

            for (uint32_t i = 0; i < n; i++)
                answers[i] = coins >> i & 1 ? 200 : 500;
            struct run r =
                run_for(&o, (struct server){.answers = answers, .count = n}, SEINE_NEVER);
            ok += r.e == SEINE_OK;
        }
        CHECK_EQ(ok, cases - 1);
        if (n == 3)
            CHECK_EQ(ok * 1000 / cases, 875);
        CHECK((ok * 100 > cases * 99) == (n == 7));
    }
}

TEST(retry_run_stops_at_once_when_the_next_attempt_would_miss_the_deadline)
{
    static const unsigned dead[] = {503};
    static const struct {
        seine_span timeout, takes, slept;
        uint32_t attempts;
    } rows[] = {
        {SEINE_MS(300), 0, SEINE_MS(100), 2},     /* the third would start at 300 ms */
        {SEINE_MS(300) + 1, 0, SEINE_MS(300), 3}, /* and now before the end */
        {SEINE_MS(100), 0, 0, 1},
        {SEINE_MS(150), SEINE_MS(60), 0, 1},  /* 60 + 100 ms */
        {SEINE_MS(150), SEINE_MS(500), 0, 1}, /* it ended after the deadline */
    };
    seine_retry_opts o = policy(SEINE_MS(100), SEINE_MS(30000), SEINE_JITTER_NONE);

    EACH_ROW(i, rows) {
        struct server s = {.answers = dead, .count = 1, .takes = rows[i].takes};
        struct run r = run_for(&o, s, rows[i].timeout);

        CHECK_EQ(r.e, SEINE_E_HTTP_BUSY);
        CHECK_EQ(r.slept, rows[i].slept);
        CHECK_EQ(r.attempts, rows[i].attempts);
    }
}

TEST(retry_run_that_wakes_after_the_deadline_keeps_the_failure)
{
    static const unsigned dead[] = {503};
    seine_retry_opts o = policy(SEINE_MS(100), SEINE_MS(30000), SEINE_JITTER_NONE);
    struct server s = {.answers = dead, .count = 1, .late = SEINE_MS(50)};

    CHECK_EQ(run_for(&o, s, SEINE_MS(151)).attempts, 2);
    struct run r = run_for(&o, s, SEINE_MS(150));
    CHECK_EQ(r.e, SEINE_E_HTTP_BUSY);
    CHECK_EQ(r.attempts, 1);
}

TEST(retry_run_makes_no_attempt_with_a_ctx_that_is_done)
{
    static const unsigned fine[] = {200};
    seine_retry_opts o = SEINE_RETRY_OPTS;
    struct run r = run_for(&o, (struct server){.answers = fine, .count = 1}, 0);

    CHECK_EQ(r.e, SEINE_E_DEADLINE);
    CHECK_EQ(r.attempts, 0);
    CHECK_EQ(r.saw, 0);
}

TEST(retry_run_ends_with_the_cause_when_it_is_cancelled_between_attempts)
{
    static const unsigned dead[] = {503}, fine[] = {200};
    seine_retry_opts o = SEINE_RETRY_OPTS;
    struct server s = {.answers = dead, .count = 1, .cancels = true};
    struct run r = run_for(&o, s, SEINE_NEVER);

    CHECK_EQ(r.e, SEINE_E_CANCELED);
    CHECK_EQ(r.attempts, 1);
    CHECK_EQ(r.slept, 0);

    /* What has succeeded has succeeded. */
    s.answers = fine;
    CHECK_EQ(run_for(&o, s, SEINE_NEVER).e, SEINE_OK);
}

TEST(retry_run_without_a_policy_is_one_attempt)
{
    static const unsigned dead[] = {503};
    struct run r =
        run_for(NULL, (struct server){.answers = dead, .count = 1}, SEINE_NEVER);

    CHECK_EQ(r.e, SEINE_E_HTTP_BUSY);
    CHECK_EQ(r.attempts, 1);
}

TEST(retry_run_refuses_a_policy_without_sense)
{
    static const unsigned fine[] = {200};
    seine_retry_opts o = SEINE_RETRY_OPTS;

    o.max_attempts = 0;
    struct run r = run_for(&o, (struct server){.answers = fine, .count = 1}, SEINE_NEVER);
    CHECK_EQ(r.e, SEINE_E_INVAL);
    CHECK_EQ(r.attempts, 99);
    CHECK_EQ(r.saw, 0);
}

static seine_fault
succeed(seine_ctx *attempt, uint32_t number, void *arg)
{
    (void)attempt;
    (void)number;
    (void)arg;
    return fault(SEINE_OK, 200);
}

TEST(retry_run_survives_that_memory_runs_out)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;

    FAIL_EACH(n)
    {
        struct jumping j = jumping_from(T0);
        seine_ctx *ctx = NULL;

        if (seine_ctx_root(&j.clock, &ctx) != SEINE_OK)
            continue;
        seine_err e = seine_retry_run(&o, ctx, succeed, NULL, NULL);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        seine_ctx_unref(ctx);
    }
}

struct sleeper {
    seine_clock *clock;
    seine_ctx *ctx;
    seine_err e;
    uint32_t attempts;
};

static seine_fault
fail_at_once(seine_ctx *attempt, uint32_t number, void *arg)
{
    (void)attempt;
    (void)number;
    (void)arg;
    return fault(SEINE_E_CONNECT, 0);
}

static void *
sleep_between(void *arg)
{
    struct sleeper *s = arg;
    seine_retry_opts o = policy(SEINE_SECS(10), SEINE_SECS(10), SEINE_JITTER_NONE);

    s->e = seine_retry_run(&o, s->ctx, fail_at_once, NULL, &s->attempts);
    return NULL;
}

TEST_THREADS(retry_run_wakes_from_its_backoff_when_it_is_cancelled)
{
    struct sleeper s = {0};
    seine_ctx *root = NULL;
    pthread_t thread;

    CHECK_EQ(seine_clock_fake_new(T0, 0, 1, &s.clock), SEINE_OK);
    CHECK_EQ(seine_ctx_root(s.clock, &root), SEINE_OK);
    s.ctx = root;
    CHECK_EQ(pthread_create(&thread, NULL, sleep_between, &s), 0);
    seine_clock_fake_await(s.clock, 1);
    seine_ctx_cancel(root, SEINE_OK);
    pthread_join(thread, NULL);

    CHECK_EQ(s.e, SEINE_E_CANCELED);
    CHECK_EQ(s.attempts, 1);
    seine_ctx_unref(root);
    seine_clock_fake_free(s.clock);
}

static seine_span
ms_of(const json_t *row, const char *key)
{
    return sn_time_mul(json_integer_value(json_object_get(row, key)), 1000000);
}

TEST(retry_agrees_with_the_vectors_of_cenkalti)
{
    const char *home = check_vectors();
    char path[1024];
    size_t i, k;
    json_t *row, *base;

    if (!home)
        return;
    snprintf(path, sizeof path, "%s/backoff/cenkalti.json", home);
    json_t *rows = json_load_file(path, 0, NULL);
    CHECK(json_array_size(rows) >= 3);

    json_array_foreach(rows, i, row)
    {
        seine_retry_opts o = SEINE_RETRY_OPTS;

        if (json_object_get(row, "elapsed_ms")) { /* expect: stop */
            seine_retry r = {.opts = &o, .deadline = SEINE_NEVER, .idempotent = true};
            seine_fault f = fault(SEINE_E_TIMEOUT, 0);

            o.max_elapsed = ms_of(row, "max_elapsed_ms");
            seine_retry_begin(&r, T0);
            CHECK_EQ(seine_retry_next(&r, &f, T0 + ms_of(row, "elapsed_ms"), 0).stop,
                     SEINE_STOP_ELAPSED);
            continue;
        }
        o.base = ms_of(row, "initial_ms");
        o.max = ms_of(row, "max_ms");
        o.jitter_pct =
            (uint32_t)(json_number_value(json_object_get(row, "jitter")) * 100 + 0.5);
        CHECK_EQ(seine_retry_check(&o), SEINE_OK);
        json_array_foreach(json_object_get(row, "expect_base_ms"), k, base)
        {
            seine_span want = json_integer_value(base) * SEINE_MS(1);
            seine_span part = want / 100 * o.jitter_pct;

            CHECK_EQ(seine_retry_backoff(&o, (uint32_t)k), want);
            CHECK_EQ(seine_retry_delay(&o, (uint32_t)k, 0, 0), want - part);
            CHECK(seine_retry_delay(&o, (uint32_t)k, 0, UINT64_MAX) <= want + part);
        }
        /* The row about overflow: the second interval is the maximum. */
        if (!json_object_get(row, "expect_base_ms"))
            CHECK_EQ(seine_retry_backoff(&o, 1), o.max);
    }
    json_decref(rows);
}

/* net and timeout of --retry-on: each can be left out, a status has its own list. */
TEST(retry_of_time_outs_and_of_other_faults_can_be_left_out)
{
    static const struct {
        seine_err code;
        bool is_timeout;
    } rows[] = {
        {SEINE_E_TIMEOUT, true},         {SEINE_E_HEADER_TIMEOUT, true},
        {SEINE_E_CONNECT_TIMEOUT, true}, {SEINE_E_CONN_RESET, false},
        {SEINE_E_BODY_TRUNCATED, false}, {SEINE_E_CONNECT_REFUSED, false},
    };

    EACH_ROW(i, rows)
        for (int bits = 0; bits < 4; bits++) {
            seine_retry_opts o = SEINE_RETRY_OPTS;
            o.not_net = bits & 1;
            o.not_timeout = bits & 2;
            seine_retry r = {.opts = &o, .deadline = SEINE_NEVER, .idempotent = true};
            seine_fault f = SEINE_FAULT;
            f.code = rows[i].code;
            seine_retry_begin(&r, 0);
            seine_verdict got = seine_retry_next(&r, &f, 0, 0);
            bool off = rows[i].is_timeout ? o.not_timeout : o.not_net;
            CHECK_EQ(got.stop == SEINE_STOP_FINAL, off);
            f.code = SEINE_E_HTTP_BUSY;
            f.status = 503;
            CHECK(seine_retry_next(&r, &f, 0, 0).stop != SEINE_STOP_FINAL);
        }
}

TEST(backoff_grows_by_its_factor)
{
    static const struct {
        uint32_t pct, k;
        seine_span base, max, want;
    } rows[] = {
        {0, 3, 100, 100000, 800},               /* 0 is 200 */
        {200, 3, 100, 100000, 800},             /* doubles */
        {100, 1000000000, 100, 100000, 100},    /* constant, and at once */
        {150, 3, 1000, 100000, 3375},           /* exact */
        {300, 4, 10, 100000, 810},              /* triples */
        {150, 1, 1, 100, 2},                    /* rounded up, so that it grows */
        {101, UINT32_MAX, 1, 1000000, 1000000}, /* ends at max, and soon */
        {UINT32_MAX, UINT32_MAX, INT64_MAX / 2, SEINE_NEVER, SEINE_NEVER}, /* saturates */
        {300, 9, 0, 100, 0}, /* no base, no wait */
    };

    EACH_ROW(i, rows) {
        seine_retry_opts o = SEINE_RETRY_OPTS;

        o.factor_pct = rows[i].pct;
        o.base = rows[i].base;
        o.max = rows[i].max;
        CHECK_EQ(seine_retry_check(&o), SEINE_OK);
        CHECK_EQ(seine_retry_backoff(&o, rows[i].k), rows[i].want);
    }
    seine_retry_opts o = SEINE_RETRY_OPTS;
    CHECK_EQ(o.factor_pct, 200);
    o.factor_pct = 99; /* waits that shrink */
    CHECK_EQ(seine_retry_check(&o), SEINE_E_INVAL);
}

static seine_span
fibonacci(uint32_t k, void *arg)
{
    seine_span a = *(seine_span *)arg, b = a;

    while (k-- > 0) {
        seine_span sum = a + b;

        a = b;
        b = sum;
    }
    return a;
}

static seine_span
below_zero(uint32_t k, void *arg)
{
    (void)k;
    (void)arg;
    return -5;
}

TEST(backoff_of_ones_own_takes_the_place_of_base_and_factor)
{
    static const seine_span want[] = {10, 10, 20, 30, 50, 80, 100, 100};
    seine_retry_opts o = SEINE_RETRY_OPTS;
    seine_span unit = 10;

    o.backoff = fibonacci;
    o.backoff_arg = &unit;
    o.base = 1;
    o.max = 100;
    for (uint32_t k = 0; k < 8; k++)
        CHECK_EQ(seine_retry_backoff(&o, k), want[k]);
    o.jitter = SEINE_JITTER_FULL; /* jitter holds for it too */
    CHECK_EQ(seine_retry_delay(&o, 4, 0, 0), 0);
    CHECK_EQ(seine_retry_delay(&o, 4, 0, UINT64_MAX), 50);
    o.backoff = below_zero;
    CHECK_EQ(seine_retry_backoff(&o, 0), 0);
}

typedef struct told_retries {
    int attempts, told;
} told_retries;

static seine_fault
refuse_always(seine_ctx *attempt, uint32_t number, void *arg)
{
    seine_fault f = SEINE_FAULT;

    (void)attempt;
    ((told_retries *)arg)->attempts = (int)number;
    f.code = SEINE_E_CONNECT;
    return f;
}

static void
count_retry(uint32_t attempts, const seine_fault *f, seine_time at, void *arg)
{
    told_retries *t = arg;

    CHECK_EQ(attempts, t->attempts);
    CHECK_EQ(f->code, SEINE_E_CONNECT);
    CHECK(at > 0);
    t->told++;
}

TEST(retry_run_tells_each_retry)
{
    seine_retry_opts o = SEINE_RETRY_OPTS;
    told_retries t = {0, 0};
    seine_ctx *ctx;

    o.base = 0;
    o.jitter = SEINE_JITTER_NONE;
    o.max_attempts = 4;
    o.on_retry = count_retry;
    CHECK_EQ(seine_ctx_root(seine_clock_system(), &ctx), SEINE_OK);
    CHECK_EQ(seine_retry_run(&o, ctx, refuse_always, &t, NULL), SEINE_E_CONNECT);
    CHECK_EQ(t.attempts, 4);
    CHECK_EQ(t.told, 3);
    seine_ctx_unref(ctx);
}
