/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/keyed.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "crew.h"
#include "failing.h"
#include "guard/keyed.h"

#define T0 SEINE_SECS(1000)

static seine_keyed *
table(uint64_t per_second, uint32_t burst, uint32_t max_keys, seine_overflow overflow)
{
    seine_keyed_opts opts = SEINE_KEYED_OPTS;
    seine_keyed *k = NULL;

    opts.each = (seine_rate){per_second, SEINE_SECS(1), burst};
    opts.max_keys = max_keys;
    opts.overflow = overflow;
    CHECK_EQ(seine_keyed_new(&opts, &k), SEINE_OK);
    return k;
}

static seine_view
numbered(unsigned i, char buf[32])
{
    snprintf(buf, 32, "source-%u", i);
    return seine_key_str(buf);
}

static int
greedy(seine_keyed *k, const char *key, seine_time now)
{
    int n = 0;

    while (n < 10000 && seine_keyed_allow(k, seine_key_str(key), now, 1))
        n++;
    return n;
}

static seine_keyed_totals
totals(const seine_keyed *k)
{
    seine_keyed_totals t;

    seine_keyed_totals_get(k, &t);
    return t;
}

static bool
count_one(seine_view key, const seine_limiter_stats *stats, void *arg)
{
    CHECK(key.len > 0 && stats->capacity > 0);
    ++*(int *)arg;
    return true;
}

TEST(s4_20_sources_are_isolated_and_made_when_first_used)
{
    seine_keyed *k = table(10, 10, 65536, SEINE_OVERFLOW_SHARED);
    seine_limiter_stats s;
    int seen = 0;

    CHECK_EQ(totals(k).keys, 0);
    CHECK_EQ(seine_keyed_stats_get(k, seine_key_str("a"), T0, &s), SEINE_E_UNKNOWN);
    CHECK_EQ(greedy(k, "a", T0), 10);
    CHECK_EQ(totals(k).keys, 1);
    CHECK_EQ(greedy(k, "b", T0), 10);
    CHECK(seine_keyed_allow(k, seine_key_str("c"), T0, 4));
    CHECK(!seine_keyed_allow(k, seine_key_str("c"), T0, 7));
    CHECK(seine_keyed_allow(k, seine_key_str("c"), T0, 6));

    CHECK_EQ(seine_keyed_stats_get(k, seine_key_str("a"), T0, &s), SEINE_OK);
    CHECK_EQ(s.capacity, 10);
    CHECK(s.refill_rate == 10.0);
    CHECK(s.tokens == 0.0);
    CHECK_EQ(s.allowed, 10);
    CHECK_EQ(s.denied, 1);
    CHECK_EQ(seine_keyed_each(k, T0, count_one, &seen), 3);
    CHECK_EQ(seen, 3);
    CHECK_EQ(totals(k).created, 3);
    seine_keyed_free(k);
}

TEST(keyed_try_tells_the_same_as_a_bucket_of_its_own)
{
    seine_keyed *k = table(10, 5, 100, SEINE_OVERFLOW_SHARED);
    seine_view a = seine_key_str("a");
    seine_grant g;

    CHECK_EQ(seine_keyed_try(k, a, T0, 2, &g), SEINE_OK);
    CHECK_EQ(g.limit, 5);
    CHECK_EQ(g.left, 3);
    CHECK_EQ(g.reset_after, SEINE_MS(200));
    CHECK_EQ(g.retry_after, 0);
    CHECK_EQ(seine_keyed_try(k, a, T0, 4, &g), SEINE_E_LIMITED);
    CHECK_EQ(g.retry_after, SEINE_MS(100));
    CHECK_EQ(seine_keyed_try(k, a, T0, 6, &g), SEINE_E_RANGE);
    CHECK_EQ(g.retry_after, SEINE_NEVER);
    CHECK_EQ(g.left, 3);
    CHECK_EQ(seine_keyed_try(k, a, T0, 0, &g), SEINE_E_INVAL);
    CHECK_EQ(seine_keyed_try(k, a, T0, -1, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_keyed_try(k, a, T0, 3, NULL), SEINE_OK);
    seine_keyed_free(k);
}

/* A day of clients that come once: a sweep every minute leaves those that still owe
 * something, and the memory of the busiest minute. */
TEST(keyed_try_says_the_same_to_a_caller_who_wants_no_grant)
{
    static const struct {
        int64_t n;
        seine_err want;
    } rows[] = {
        {11, SEINE_E_RANGE},  /* never: the bucket holds 10 */
        {10, SEINE_OK},       /* all of it */
        {1, SEINE_E_LIMITED}, /* nothing is left */
        {0, SEINE_E_INVAL},
    };
    seine_keyed *k = table(1, 10, 100, SEINE_OVERFLOW_DENY);

    EACH_ROW(i, rows)
        CHECK_EQ(seine_keyed_try(k, seine_key_str("a"), T0, rows[i].n, NULL),
                 rows[i].want);
    seine_keyed_free(k);
}

TEST(s3_02_a_sweep_every_minute_keeps_a_table_small)
{
    enum { MINUTES = 24 * 60, EACH = 200, DEBTORS = 7 };
    seine_keyed *k = table(1, 30, 65536, SEINE_OVERFLOW_SHARED);
    size_t most = 0;
    char buf[32];

    for (unsigned m = 0; m < MINUTES; m++) {
        seine_time minute = T0 + SEINE_SECS(60 * (seine_span)m);

        for (unsigned i = 0; i < EACH; i++) {
            /* The last ones of a minute owe 30 s when the sweep comes 29 s later. */
            seine_time at = minute + (i < EACH - DEBTORS ? 0 : SEINE_SECS(31));

            CHECK(seine_keyed_allow(k, numbered(m * EACH + i, buf), at, 30));
        }
        seine_keyed_sweep(k, minute + SEINE_SECS(60), SIZE_MAX);
        CHECK_EQ(totals(k).keys, DEBTORS);
        most = totals(k).bytes > most ? totals(k).bytes : most;
    }
    CHECK_EQ(totals(k).created, MINUTES * EACH);
    CHECK_EQ(totals(k).expired, MINUTES * EACH - DEBTORS);
    CHECK_EQ(totals(k).overflowed, 0); /* 288,000 keys went through room for 65,536 */
    CHECK_EQ(totals(k).bytes, most);
    seine_keyed_free(k);
}

TEST(x_41_idle_buckets_are_dropped_and_debts_are_kept)
{
    seine_keyed *k = table(10, 10, 65536, SEINE_OVERFLOW_SHARED);
    char buf[32];

    for (unsigned i = 0; i < 1000; i++)
        CHECK(seine_keyed_allow(k, numbered(i, buf), T0, 10)); /* full again at 1 s */
    CHECK_EQ(seine_keyed_sweep(k, T0 + SEINE_SECS(1) - 1, SIZE_MAX), 0);
    CHECK(seine_keyed_allow(k, numbered(7, buf), T0 + SEINE_SECS(1), 1));
    CHECK_EQ(seine_keyed_sweep(k, T0 + SEINE_SECS(1), SIZE_MAX), 999);
    CHECK_EQ(totals(k).keys, 1);
    CHECK_EQ(totals(k).expired, 999);
    seine_keyed_free(k);
}

TEST(keyed_sweep_in_small_steps_reaches_every_shard)
{
    seine_keyed *k = table(10, 10, 1000, SEINE_OVERFLOW_SHARED);
    char buf[32];
    size_t dropped = 0;

    for (unsigned i = 0; i < 500; i++)
        CHECK(seine_keyed_allow(k, numbered(i, buf), T0, 1));
    for (int i = 0; i < 1000 && dropped < 500; i++)
        dropped += seine_keyed_sweep(k, T0 + SEINE_SECS(60), 20);
    CHECK_EQ(dropped, 500);
    seine_keyed_free(k);
}

TEST(keyed_holds_exactly_max_keys_that_owe_something)
{
    static const uint32_t sizes[] = {1, 3, 100, 1000, 5000};

    EACH_ROW(r, sizes) {
        seine_keyed *k = table(10, 10, sizes[r], SEINE_OVERFLOW_DENY);
        char buf[32];

        for (unsigned i = 0; i < sizes[r]; i++)
            CHECK(seine_keyed_allow(k, numbered(i, buf), T0, 10));
        CHECK_EQ(totals(k).keys, sizes[r]);
        CHECK_EQ(totals(k).overflowed, 0);
        CHECK(!seine_keyed_allow(k, seine_key_str("one more"), T0, 1));
        CHECK_EQ(totals(k).overflowed, 1);
        for (unsigned i = 0; i < sizes[r]; i++) /* nobody's debt is forgotten */
            CHECK(!seine_keyed_allow(k, numbered(i, buf), T0 + SEINE_MS(99), 1));
        /* An idle entry makes room, whichever shard it is in. */
        CHECK(seine_keyed_allow(k, seine_key_str("one more"), T0 + SEINE_SECS(1), 1));
        CHECK(totals(k).keys <= sizes[r]);
        seine_keyed_free(k);
    }
}

TEST(keyed_overflow_shares_denies_or_allows)
{
    static const struct {
        seine_overflow how;
        int first, second;
    } rows[] = {
        {SEINE_OVERFLOW_SHARED, 3, 0}, /* one bucket for all of them */
        {SEINE_OVERFLOW_DENY, 0, 0},
        {SEINE_OVERFLOW_ALLOW, 10000, 10000},
    };

    EACH_ROW(i, rows) {
        crew c = crew_new(T0);
        seine_keyed *k = table(10, 3, 1, rows[i].how);
        seine_grant g;
        seine_rate rate = {1, SEINE_SECS(1), 1};

        CHECK_EQ(greedy(k, "tracked", T0), 3);
        CHECK_EQ(greedy(k, "x", T0), rows[i].first);
        CHECK_EQ(greedy(k, "y", T0), rows[i].second);
        seine_err want = rows[i].how == SEINE_OVERFLOW_ALLOW ? SEINE_OK : SEINE_E_LIMITED;
        CHECK_EQ(seine_keyed_try(k, seine_key_str("z"), T0, 1, &g), want);
        CHECK_EQ(seine_keyed_wait(k, c.ctx, seine_key_str("z"), 1, 0), want);
        CHECK_EQ(seine_keyed_set_rate(k, seine_key_str("z"), T0, &rate), SEINE_E_FULL);
        CHECK_EQ(seine_keyed_pause(k, seine_key_str("z"), T0 + 5), SEINE_E_FULL);
        CHECK(totals(k).overflowed > 0);
        CHECK_EQ(totals(k).keys, 1);
        seine_keyed_free(k);
        crew_end(&c);
    }
}

TEST(keyed_finds_no_fresh_burst_when_the_clock_steps_back_after_a_drop)
{
    seine_keyed *k = table(10, 10, 100, SEINE_OVERFLOW_SHARED);

    CHECK_EQ(greedy(k, "a", T0), 10);
    CHECK_EQ(seine_keyed_sweep(k, T0 + SEINE_SECS(5), SIZE_MAX), 1);
    CHECK_EQ(greedy(k, "a", T0), 0);
    CHECK_EQ(greedy(k, "a", T0 + SEINE_SECS(5)), 10);
    seine_keyed_free(k);
}

TEST(keyed_keys_of_any_length_are_told_apart)
{
    seine_keyed *k = table(10, 1, 1000, SEINE_OVERFLOW_DENY);
    char bytes[300];

    memset(bytes, 'x', sizeof bytes);
    for (size_t len = 0; len < sizeof bytes; len++)
        CHECK(seine_keyed_allow(k, (seine_view){bytes, len}, T0, 1));
    for (size_t len = 0; len < sizeof bytes; len++)
        CHECK(!seine_keyed_allow(k, (seine_view){bytes, len}, T0, 1));
    CHECK_EQ(totals(k).keys, sizeof bytes);
    bytes[299] = 'y'; /* the same length, another last byte */
    CHECK(seine_keyed_allow(k, (seine_view){bytes, 300}, T0, 1));
    bytes[299] = 0; /* NUL is a byte like any other */
    CHECK(seine_keyed_allow(k, (seine_view){bytes, 300}, T0, 1));
    CHECK_EQ(seine_keyed_sweep(k, T0 + SEINE_SECS(9), SIZE_MAX), sizeof bytes + 2);
    CHECK_EQ(totals(k).bytes, 0);
    seine_keyed_free(k);
}

TEST(keyed_long_keys_are_bounded_by_bytes)
{
    seine_keyed_opts opts = SEINE_KEYED_OPTS;
    seine_keyed *k;
    char bytes[1000] = {1};

    opts.max_bytes = 2500;
    opts.overflow = SEINE_OVERFLOW_DENY;
    CHECK_EQ(seine_keyed_new(&opts, &k), SEINE_OK);
    for (char i = 0; i < 2; i++) {
        bytes[0] = i;
        CHECK(seine_keyed_allow(k, (seine_view){bytes, sizeof bytes}, T0, 100));
    }
    bytes[0] = 9;
    CHECK(!seine_keyed_allow(k, (seine_view){bytes, sizeof bytes}, T0, 1));
    CHECK(seine_keyed_allow(k, seine_key_str("short"), T0, 1));
    CHECK(totals(k).bytes <= 2500 + 3 * 64);
    seine_keyed_free(k);
}

TEST(x_42_keyed_uses_the_key_it_is_given)
{
    seine_keyed *k = table(10, 1, 10, SEINE_OVERFLOW_DENY);

    CHECK(seine_keyed_allow(k, seine_key_str("https://e.example:443"), T0, 1));
    CHECK(!seine_keyed_allow(k, seine_key_str("https://e.example:443"), T0, 1));
    CHECK(seine_keyed_allow(k, seine_key_str("http://e.example:80"), T0, 1));
    seine_keyed_free(k);
}

TEST(keyed_key_with_its_own_rate_keeps_it)
{
    seine_keyed *k = table(10, 10, 100, SEINE_OVERFLOW_SHARED);
    seine_view vip = seine_key_str("vip");
    seine_rate rate = {1000, SEINE_SECS(1), 50}, bad = {1, 0, 1};
    seine_limiter_stats s;
    seine_grant g;

    CHECK(seine_keyed_allow(k, vip, T0, 6)); /* 4 left */
    CHECK_EQ(seine_keyed_set_rate(k, vip, T0, &bad), SEINE_E_INVAL);
    CHECK_EQ(seine_keyed_set_rate(k, vip, T0, &rate), SEINE_OK);
    CHECK_EQ(greedy(k, "vip", T0), 4); /* tokens are kept, not refilled */
    CHECK_EQ(seine_keyed_stats_get(k, vip, T0, &s), SEINE_OK);
    CHECK_EQ(s.capacity, 50);
    CHECK_EQ(s.allowed, 5);
    CHECK_EQ(greedy(k, "vip", T0 + SEINE_SECS(1)), 50);
    CHECK_EQ(seine_keyed_sweep(k, T0 + SEINE_SECS(9), SIZE_MAX), 0); /* pinned */
    CHECK_EQ(seine_keyed_try(k, vip, T0 + SEINE_SECS(9), 20, &g), SEINE_OK);
    CHECK_EQ(seine_keyed_try(k, vip, T0 + SEINE_SECS(9), 40, &g), SEINE_E_LIMITED);
    CHECK_EQ(g.limit, 50);

    seine_keyed_forget(k, vip);
    CHECK_EQ(totals(k).keys, 0);
    CHECK_EQ(greedy(k, "vip", T0 + SEINE_SECS(9)), 10);
    seine_keyed_forget(k, seine_key_str("nobody"));
    seine_keyed_free(k);
}

TEST(keyed_pause_holds_one_key_back)
{
    seine_keyed *k = table(10, 10, 100, SEINE_OVERFLOW_SHARED);

    CHECK_EQ(seine_keyed_pause(k, seine_key_str("a"), T0 + SEINE_SECS(2)), SEINE_OK);
    CHECK_EQ(greedy(k, "a", T0), 0);
    CHECK_EQ(greedy(k, "b", T0), 10);
    CHECK_EQ(seine_keyed_sweep(k, T0 + SEINE_SECS(2) - 1, SIZE_MAX), 1); /* b */
    CHECK_EQ(greedy(k, "a", T0 + SEINE_SECS(2)), 1);
    CHECK_EQ(seine_keyed_sweep(k, T0 + SEINE_SECS(60), SIZE_MAX), 1);
    CHECK_EQ(totals(k).keys, 0);
    CHECK_EQ(totals(k).bytes, 0);
    seine_keyed_free(k);
}

typedef struct job {
    seine_keyed *k;
    seine_ctx *ctx;
    const char *key;
    int64_t n;
    seine_err result;
    seine_time at;
} job;

static void
wait_run(void *arg)
{
    job *j = arg;
    seine_clock *clock = seine_ctx_clock(j->ctx);

    j->result = seine_keyed_wait(j->k, j->ctx, seine_key_str(j->key), j->n, SEINE_NEVER);
    j->at = clock->now(clock) - T0;
}

TEST_THREADS(keyed_waiters_of_a_key_stand_in_line_apart_from_other_keys)
{
    crew c = crew_new(T0);
    seine_keyed *k = table(10, 1, 100, SEINE_OVERFLOW_SHARED);
    job jobs[] = {
        {k, c.ctx, "a", 1, 0, -1}, /* at once */
        {k, c.ctx, "a", 1, 0, -1}, {k, c.ctx, "a", 1, 0, -1},
        {k, c.ctx, "b", 1, 0, -1}, /* at once */
        {k, c.ctx, "b", 1, 0, -1},
    };
    static const seine_span at[] = {0, SEINE_MS(100), SEINE_MS(200), 0, SEINE_MS(100)};

    EACH_ROW(i, jobs)
        crew_add(&c, wait_run, &jobs[i]);
    CHECK(!seine_keyed_allow(k, seine_key_str("a"), T0 + SEINE_SECS(1), 1));
    CHECK_EQ(seine_keyed_sweep(k, T0 + SEINE_SECS(9), SIZE_MAX), 0);
    crew_advance(&c, SEINE_SECS(1));
    crew_join(&c);
    EACH_ROW(i, jobs) {
        CHECK_EQ(jobs[i].result, SEINE_OK);
        CHECK_EQ(jobs[i].at, at[i]);
    }
    CHECK_EQ(seine_keyed_sweep(k, T0 + SEINE_SECS(9), SIZE_MAX), 2);
    seine_keyed_free(k);
    crew_end(&c);
}

TEST_THREADS(keyed_forgotten_under_waiters_serves_them_afresh)
{
    crew c = crew_new(T0);
    seine_keyed *k = table(1, 1, 100, SEINE_OVERFLOW_SHARED);
    job first = {k, c.ctx, "a", 1, 0, -1}, second = {k, c.ctx, "a", 1, 0, -1};

    CHECK(seine_keyed_allow(k, seine_key_str("a"), T0, 1));
    crew_add(&c, wait_run, &first);
    crew_add(&c, wait_run, &second);
    crew_advance(&c, SEINE_MS(300));
    seine_keyed_forget(k, seine_key_str("a"));
    crew_advance(&c, SEINE_SECS(9));
    crew_join(&c);
    CHECK_EQ(first.at, SEINE_MS(300));
    CHECK_EQ(second.at, SEINE_MS(1300));
    seine_limiter_stats s;
    CHECK_EQ(seine_keyed_stats_get(k, seine_key_str("a"), T0 + SEINE_SECS(9), &s),
             SEINE_OK);
    CHECK_EQ(s.allowed, 2); /* it counts from anew */
    seine_keyed_free(k);
    crew_end(&c);
}

TEST(keyed_wait_names_what_is_wrong_and_takes_nothing)
{
    crew c = crew_new(T0);
    seine_keyed *k = table(1, 2, 100, SEINE_OVERFLOW_SHARED);
    seine_view a = seine_key_str("a");
    seine_ctx *ctx;

    CHECK_EQ(seine_keyed_wait(k, c.ctx, a, 0, SEINE_NEVER), SEINE_E_INVAL);
    CHECK_EQ(seine_keyed_wait(k, c.ctx, a, 1, -1), SEINE_E_INVAL);
    CHECK_EQ(seine_keyed_wait(k, c.ctx, a, 3, SEINE_NEVER), SEINE_E_RANGE);
    CHECK_EQ(seine_keyed_wait(k, c.ctx, a, 2, 0), SEINE_OK);
    CHECK_EQ(seine_keyed_wait(k, c.ctx, a, 1, SEINE_MS(999)), SEINE_E_LIMITED);
    CHECK_EQ(seine_ctx_new(c.ctx, T0 + SEINE_SECS(1), &ctx), SEINE_OK);
    CHECK_EQ(seine_keyed_wait(k, ctx, a, 1, SEINE_NEVER), SEINE_E_DEADLINE);
    seine_ctx_cancel(ctx, SEINE_OK);
    CHECK_EQ(seine_keyed_wait(k, ctx, a, 1, SEINE_NEVER), SEINE_E_CANCELED);
    CHECK_EQ(crew_now(&c), T0);
    CHECK_EQ(greedy(k, "a", T0 + SEINE_SECS(2)), 2);
    seine_ctx_unref(ctx);
    seine_keyed_free(k);
    crew_end(&c);
}

TEST(keyed_refuses_settings_that_make_no_sense)
{
    static const struct {
        seine_rate each;
        uint32_t max_keys;
        seine_overflow overflow;
    } rows[] = {
        {{0, SEINE_SECS(1), 1}, 10, SEINE_OVERFLOW_SHARED},
        {{1, SEINE_SECS(1), 0}, 10, SEINE_OVERFLOW_SHARED},
        {{1, SEINE_SECS(1), 1}, 0, SEINE_OVERFLOW_SHARED},
        {{1, SEINE_SECS(1), 1}, UINT32_MAX, SEINE_OVERFLOW_SHARED},
        {{1, SEINE_SECS(1), 1}, 10, (seine_overflow)7},
    };

    EACH_ROW(i, rows) {
        seine_keyed_opts opts = SEINE_KEYED_OPTS;
        seine_keyed *k = NULL;

        opts.each = rows[i].each;
        opts.max_keys = rows[i].max_keys;
        opts.overflow = rows[i].overflow;
        CHECK_EQ(seine_keyed_new(&opts, &k), SEINE_E_INVAL);
        CHECK(!k);
    }
}

TEST(keyed_that_is_null_is_switched_off)
{
    crew c = crew_new(T0);
    seine_view a = seine_key_str("a");
    seine_rate rate = {1, 1, 1};
    seine_limiter_stats s;
    int seen = 0;

    CHECK(seine_keyed_allow(NULL, a, T0, 99));
    CHECK_EQ(seine_keyed_try(NULL, a, T0, 99, NULL), SEINE_OK);
    CHECK_EQ(seine_keyed_wait(NULL, c.ctx, a, 1, 0), SEINE_OK);
    CHECK_EQ(seine_keyed_set_rate(NULL, a, T0, &rate), SEINE_OK);
    CHECK_EQ(seine_keyed_pause(NULL, a, T0), SEINE_OK);
    seine_keyed_forget(NULL, a);
    CHECK_EQ(seine_keyed_stats_get(NULL, a, T0, &s), SEINE_E_UNKNOWN);
    CHECK_EQ(seine_keyed_each(NULL, T0, count_one, &seen), 0);
    CHECK_EQ(seine_keyed_sweep(NULL, T0, 9), 0);
    CHECK_EQ(totals(NULL).keys, 0);
    seine_keyed_free(NULL);
    crew_end(&c);
}

/* What needs memory either happens, or says that it did not. */
static void
use_without_memory(seine_keyed *k, seine_ctx *ctx)
{
    static const char long_key[] = "a key that is longer than twenty-four bytes";
    seine_view key = seine_key_str(long_key), other = seine_key_str("other");
    seine_rate slow = {1, SEINE_SECS(1000), 7};
    seine_limiter_stats s;
    int seen = 0;

    seine_keyed_allow(k, key, T0, 1); /* without memory: the overflow */
    seine_err e = seine_keyed_pause(k, key, SEINE_NEVER);
    CHECK(e == SEINE_OK || e == SEINE_E_NOMEM || e == SEINE_E_FULL);
    CHECK(e != SEINE_OK || !seine_keyed_allow(k, key, T0, 1));
    e = seine_keyed_set_rate(k, other, T0, &slow);
    CHECK(e == SEINE_OK || e == SEINE_E_NOMEM || e == SEINE_E_FULL);
    CHECK(e != SEINE_OK ||
          (seine_keyed_stats_get(k, other, T0, &s) == SEINE_OK && s.capacity == 7));
    seine_keyed_each(k, T0, count_one, &seen);
    while (seine_keyed_allow(k, seine_key_str("third"), T0, 1))
        ;
    e = seine_keyed_wait(k, ctx, seine_key_str("third"), 1, 0);
    CHECK(e == SEINE_E_LIMITED || (e == SEINE_E_NOMEM && fail_hit()));
}

TEST(keyed_survives_failing_memory)
{
    FAIL_EACH(r)
    {
        seine_keyed_opts opts = SEINE_KEYED_OPTS;
        seine_clock *clock = NULL;
        seine_ctx *ctx = NULL;
        seine_keyed *k = NULL;

        seine_err e = seine_keyed_new(&opts, &k);
        CHECK(e == (k ? SEINE_OK : SEINE_E_NOMEM));
        if (k && seine_clock_fake_new(T0, 0, 1, &clock) == SEINE_OK &&
            seine_ctx_root(clock, &ctx) == SEINE_OK)
            use_without_memory(k, ctx);
        seine_ctx_unref(ctx);
        seine_clock_fake_free(clock);
        seine_keyed_free(k);
    }
}

typedef struct rush {
    seine_keyed *k;
    atomic_int granted[16];
} rush;

static void *
rush_run(void *arg)
{
    rush *r = arg;
    char buf[32];

    for (unsigned i = 0; i < 320; i++)
        r->granted[i % 16] += seine_keyed_allow(r->k, numbered(i % 16, buf), T0, 1);
    return NULL;
}

static void *
churn_run(void *arg)
{
    rush *r = arg;
    int seen = 0;

    for (unsigned i = 0; i < 20; i++) {
        char buf[64];

        snprintf(buf, sizeof buf, "a passing key that is rather long %u", i % 5);
        CHECK_EQ(seine_keyed_pause(r->k, seine_key_str(buf), T0 - 1), SEINE_OK);
        seine_keyed_sweep(r->k, T0, SIZE_MAX);
        seine_keyed_each(r->k, T0, count_one, &seen);
        seine_keyed_forget(r->k, seine_key_str(buf));
    }
    return NULL;
}

TEST_THREADS(keyed_by_threads_at_one_moment_never_exceeds_any_burst)
{
    rush r = {.k = table(1, 13, 100, SEINE_OVERFLOW_DENY)};
    pthread_t threads[4];

    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, i ? rush_run : churn_run, &r), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 16; i++)
        CHECK_EQ(r.granted[i], 13);
    seine_keyed_free(r.k);
}

/* A second, obvious table: one limiter per key, for ever. */
TEST(keyed_agrees_with_one_limiter_per_key)
{
    sn_rng r = sn_rng_seed(check_seed());
    enum { KEYS = 200 };
    seine_keyed *k = table(100, 5, KEYS, SEINE_OVERFLOW_DENY);
    seine_limiter model[KEYS];
    seine_rate rate = {100, SEINE_SECS(1), 5};
    seine_time now = T0;
    char buf[32];

    for (int i = 0; i < KEYS; i++)
        CHECK_EQ(seine_limiter_init_rate(&model[i], &rate, SEINE_FULL, T0), SEINE_OK);
    for (int i = 0; i < 20000; i++) {
        unsigned key = (unsigned)sn_rng_below(&r, KEYS);
        uint32_t n = 1 + (uint32_t)sn_rng_below(&r, 5);

        now += (seine_span)sn_rng_below(&r, SEINE_US(100));
        CHECK_EQ(seine_keyed_allow(k, numbered(key, buf), now, n),
                 seine_limiter_allow(&model[key], now, n));
        if (i % 1000 == 0)
            seine_keyed_sweep(k, now, 50);
    }
    CHECK_EQ(totals(k).overflowed, 0);
    CHECK(totals(k).expired > 0);
    seine_keyed_free(k);
}

TEST(keyed_asked_for_no_token_changes_nothing_and_makes_no_key)
{
    seine_keyed *k = table(10, 5, 100, SEINE_OVERFLOW_SHARED);
    seine_view a = seine_key_str("a"), b = seine_key_str("b");
    seine_limiter_stats s;

    CHECK(seine_keyed_allow(k, a, T0, 0));
    CHECK_EQ(totals(k).keys, 0);
    CHECK(seine_keyed_allow(k, a, T0, 1));
    CHECK(seine_keyed_allow(k, a, T0 + SEINE_SECS(9), 0));
    CHECK_EQ(seine_keyed_stats_get(k, a, T0, &s), SEINE_OK);
    CHECK_EQ(s.allowed, 1);
    CHECK(s.tokens == 4.0);
    CHECK_EQ(seine_keyed_pause(k, b, T0 + SEINE_SECS(1)), SEINE_OK);
    CHECK(!seine_keyed_allow(k, b, T0, 0)); /* paused, as a shared bucket */
    CHECK_EQ(seine_keyed_stats_get(k, b, T0, &s), SEINE_OK);
    CHECK_EQ(s.denied, 0);
    seine_keyed_free(k);
}

TEST(keyed_reserves_gives_back_and_resets_as_a_shared_bucket)
{
    for (int own = 0; own < 2; own++) { /* an entry of the common rate; one with more */
        seine_keyed *k = table(10, 2, 100, SEINE_OVERFLOW_SHARED);
        seine_view a = seine_key_str("a");
        seine_grant g, later, none = {.limit = 77};

        if (own)
            CHECK_EQ(seine_keyed_set_rate(k, a, T0, &(seine_rate){10, SEINE_SECS(1), 2}),
                     SEINE_OK);
        CHECK_EQ(seine_keyed_try(k, a, T0, 2, &g), SEINE_OK);
        CHECK_EQ(seine_keyed_reserve(k, a, T0, 1, T0 + SEINE_MS(99), &none),
                 SEINE_E_LIMITED);
        CHECK_EQ(none.retry_after, SEINE_MS(100));
        CHECK_EQ(seine_keyed_reserve(k, a, T0, 1, T0 + SEINE_MS(100), &later), SEINE_OK);
        CHECK_EQ(later.retry_after, SEINE_MS(100));
        CHECK_EQ(seine_keyed_reserve(k, a, T0, 3, SEINE_NEVER, &none), SEINE_E_RANGE);
        CHECK_EQ(seine_keyed_reserve(k, a, T0, 0, SEINE_NEVER, NULL), SEINE_E_INVAL);

        CHECK(!seine_keyed_undo(k, a, g.mark, 2)); /* no longer the newest */
        CHECK(seine_keyed_undo(k, a, later.mark, 1));
        CHECK(!seine_keyed_undo(k, a, later.mark, 1));
        CHECK(seine_keyed_undo(k, a, g.mark, 2));
        CHECK_EQ(greedy(k, "a", T0), 2);

        CHECK_EQ(seine_keyed_pause(k, a, T0 + SEINE_SECS(9)), SEINE_OK);
        seine_keyed_reset(k, a, T0 + 1);
        CHECK_EQ(greedy(k, "a", T0 + 1), 2);
        seine_keyed_reset(k, seine_key_str("b"), T0);
        CHECK(!seine_keyed_undo(k, seine_key_str("b"), T0, 1));
        CHECK_EQ(totals(k).keys, 1); /* neither adds a key */
        seine_keyed_forget(k, a);
        CHECK_EQ(totals(k).keys, 0); /* none of them holds it */
        seine_keyed_free(k);
    }
}

TEST(keyed_without_room_reserves_and_gives_back_in_the_overflow)
{
    seine_keyed *k = table(10, 2, 1, SEINE_OVERFLOW_SHARED);
    seine_view b = seine_key_str("b");
    seine_grant g;

    CHECK_EQ(greedy(k, "a", T0), 2);
    CHECK_EQ(seine_keyed_try(k, b, T0, 2, &g), SEINE_OK);
    CHECK_EQ(greedy(k, "b", T0), 0);
    CHECK(seine_keyed_undo(k, b, g.mark, 2));
    CHECK_EQ(greedy(k, "b", T0), 2);
    seine_keyed_free(k);

    k = table(10, 2, 1, SEINE_OVERFLOW_DENY);
    CHECK_EQ(greedy(k, "a", T0), 2);
    CHECK_EQ(seine_keyed_reserve(k, b, T0, 1, SEINE_NEVER, &g), SEINE_E_LIMITED);
    CHECK(!seine_keyed_undo(k, b, g.mark, 1));
    seine_keyed_free(k);
    CHECK_EQ(seine_keyed_reserve(NULL, b, T0, 1, T0, &g), SEINE_OK);
    CHECK(seine_keyed_undo(NULL, b, g.mark, 1));
    seine_keyed_reset(NULL, b, T0);
}

TEST(keyed_key_without_bytes_is_the_empty_key_whatever_its_length)
{
    seine_keyed *k = table(10, 2, 100, SEINE_OVERFLOW_SHARED);

    CHECK(seine_keyed_allow(k, (seine_view){NULL, 99}, T0, 1));
    CHECK(seine_keyed_allow(k, seine_key_str(""), T0, 1));
    CHECK(!seine_keyed_allow(k, (seine_view){NULL, 5}, T0, 1));
    CHECK_EQ(totals(k).keys, 1);
    seine_keyed_free(k);
}

TEST(keyed_reset_fills_one_bucket_and_makes_no_key)
{
    seine_keyed *k = table(10, 10, 100, SEINE_OVERFLOW_SHARED);

    CHECK_EQ(greedy(k, "a", T0), 10);
    CHECK_EQ(greedy(k, "b", T0), 10);
    seine_keyed_reset(k, seine_key_str("a"), T0);
    seine_keyed_reset(k, seine_key_str("nobody"), T0);
    CHECK_EQ(greedy(k, "a", T0), 10);
    CHECK_EQ(greedy(k, "b", T0), 0);
    seine_keyed_reset(k, seine_key_str("a"), T0 + SEINE_SECS(9)); /* full since long */
    CHECK_EQ(greedy(k, "a", T0 + SEINE_SECS(9)), 10);
    CHECK_EQ(totals(k).keys, 2);
    seine_keyed_free(k);
}

TEST(keyed_takes_back_what_a_key_with_its_own_rate_did_not_use)
{
    seine_keyed *k = table(10, 10, 100, SEINE_OVERFLOW_SHARED);
    seine_view vip = seine_key_str("vip");
    seine_rate rate = {1, SEINE_SECS(1), 2};
    seine_grant g;

    CHECK_EQ(seine_keyed_set_rate(k, vip, T0, &rate), SEINE_OK);
    CHECK_EQ(seine_keyed_try(k, vip, T0, 2, &g), SEINE_OK);
    CHECK(!seine_keyed_allow(k, vip, T0, 1));
    sn_keyed_give_back(k, vip, T0, g.mark, 2);
    CHECK_EQ(greedy(k, "vip", T0), 2);
    seine_keyed_forget(k, vip); /* nobody holds its bucket any more */
    CHECK_EQ(totals(k).keys, 0);
    sn_keyed_give_back(NULL, vip, T0, g.mark, 2);
    seine_keyed_free(k);
}

TEST(keyed_sweep_takes_no_more_steps_than_it_is_given)
{
    seine_keyed *k = table(10, 10, 10000, SEINE_OVERFLOW_SHARED);
    char buf[32];

    for (unsigned i = 0; i < 5000; i++)
        CHECK(seine_keyed_allow(k, numbered(i, buf), T0, 1));
    CHECK_EQ(seine_keyed_sweep(k, T0 + SEINE_SECS(60), 10), 10);
    CHECK_EQ(seine_keyed_sweep(k, T0 + SEINE_SECS(60), 1), 1);
    CHECK_EQ(seine_keyed_sweep(k, T0 + SEINE_SECS(60), 0), 0);
    CHECK_EQ(totals(k).keys, 4989);
    seine_keyed_free(k);
}

TEST(keyed_full_of_idle_keys_has_room_for_every_new_one)
{
    seine_keyed *k = table(10, 1, 1, SEINE_OVERFLOW_DENY);
    char buf[32];

    for (unsigned i = 0; i < 64; i++) /* of whatever shard */
        CHECK(seine_keyed_allow(k, numbered(i, buf), T0 + i * SEINE_SECS(1), 1));
    CHECK_EQ(totals(k).keys, 1);
    CHECK_EQ(totals(k).overflowed, 0);
    CHECK_EQ(totals(k).expired, 63);
    seine_keyed_free(k);
}

TEST(keyed_without_bytes_for_a_line_of_waiters_waits_in_the_overflow)
{
    static const struct {
        seine_overflow overflow;
        seine_err want, then;
    } rows[] = {
        {SEINE_OVERFLOW_SHARED, SEINE_OK,
         SEINE_E_LIMITED}, /* one token for all of them */
        {SEINE_OVERFLOW_DENY, SEINE_E_LIMITED, SEINE_E_LIMITED},
    };

    EACH_ROW(i, rows) {
        crew c = crew_new(T0);
        seine_keyed_opts opts = SEINE_KEYED_OPTS;
        seine_rate rate = {1, SEINE_SECS(1), 5};
        seine_keyed *k;

        opts.each = (seine_rate){1, SEINE_SECS(1), 1};
        opts.max_bytes = 0;
        opts.overflow = rows[i].overflow;
        CHECK_EQ(seine_keyed_new(&opts, &k), SEINE_OK);
        CHECK(seine_keyed_allow(k, seine_key_str("a"), T0, 1));
        CHECK_EQ(seine_keyed_wait(k, c.ctx, seine_key_str("a"), 1, 0), rows[i].want);
        CHECK_EQ(seine_keyed_wait(k, c.ctx, seine_key_str("a"), 1, 0), rows[i].then);
        CHECK_EQ(seine_keyed_set_rate(k, seine_key_str("a"), T0, &rate), SEINE_E_FULL);
        CHECK_EQ(seine_keyed_pause(k, seine_key_str("a"), T0 + 9), SEINE_E_FULL);
        seine_keyed_free(k);
        crew_end(&c);
    }
}

TEST_THREADS(keyed_forgotten_under_one_waiter_serves_it_afresh)
{
    crew c = crew_new(T0);
    seine_keyed *k = table(1, 1, 100, SEINE_OVERFLOW_SHARED);
    job only = {k, c.ctx, "a", 1, 0, -1};

    CHECK(seine_keyed_allow(k, seine_key_str("a"), T0, 1));
    crew_add(&c, wait_run, &only);
    crew_advance(&c, SEINE_MS(300));
    seine_keyed_forget(k, seine_key_str("a"));
    crew_advance(&c, SEINE_SECS(9));
    crew_join(&c);
    CHECK_EQ(only.result, SEINE_OK);
    CHECK_EQ(only.at, SEINE_MS(300));
    seine_keyed_free(k);
    crew_end(&c);
}

TEST_THREADS(keyed_forgotten_under_a_waiter_keeps_neither_its_rate_nor_its_place)
{
    crew c = crew_new(T0);
    seine_keyed *k = table(1, 1, 100, SEINE_OVERFLOW_SHARED);
    seine_rate slow = {1, SEINE_SECS(60), 1};
    seine_keyed_totals totals;
    job jobs[2] = {{k, c.ctx, "a", 1, 0, -1}, {k, c.ctx, "a", 1, 0, -1}};

    CHECK_EQ(seine_keyed_set_rate(k, seine_key_str("a"), T0, &slow), SEINE_OK);
    CHECK(seine_keyed_allow(k, seine_key_str("a"), T0, 1));
    crew_add(&c, wait_run, &jobs[0]);
    crew_add(&c, wait_run, &jobs[1]);
    crew_advance(&c, SEINE_MS(300));
    seine_keyed_forget(k, seine_key_str("a"));
    crew_advance(&c, SEINE_SECS(9));
    crew_join(&c);
    CHECK_EQ(jobs[0].at, SEINE_MS(300));
    CHECK_EQ(jobs[1].at, SEINE_MS(1300)); /* at the rate of all keys */
    (void)seine_keyed_sweep(k, T0 + SEINE_SECS(90), 1000);
    seine_keyed_totals_get(k, &totals);
    CHECK_EQ(totals.keys, 0);
    seine_keyed_free(k);
    crew_end(&c);
}

/* The debts of a table, one after another into another table. */
static bool
pass_on(seine_view key, seine_time full, void *arg)
{
    CHECK_EQ(sn_keyed_owe(arg, key, T0, full), SEINE_OK);
    return true;
}

static bool
stop_at_once(seine_view key, seine_time full, void *arg)
{
    unsigned *calls = arg;

    (void)key;
    (void)full;
    return ++*calls == 0;
}

TEST(keyed_debts_are_all_keys_that_owe_and_can_be_owed_elsewhere)
{
    enum { KEYS = 500 };
    seine_keyed *from = table(1, 4, KEYS, SEINE_OVERFLOW_DENY);
    seine_keyed *to = table(1, 4, KEYS, SEINE_OVERFLOW_DENY);
    char buf[32];
    unsigned calls = 0;

    for (unsigned i = 0; i < KEYS; i++) /* 0 to 3 tokens taken */
        CHECK(i % 4 == 0 || seine_keyed_allow(from, numbered(i, buf), T0, i % 4));
    CHECK(sn_keyed_debts(from, T0, pass_on, to));
    CHECK_EQ(totals(to).keys, KEYS * 3 / 4);
    for (unsigned i = 0; i < KEYS; i++) {
        seine_grant a, b;

        CHECK_EQ(seine_keyed_try(from, numbered(i, buf), T0, 1, &a), SEINE_OK);
        CHECK_EQ(seine_keyed_try(to, numbered(i, buf), T0, 1, &b), SEINE_OK);
        CHECK_EQ(b.left, a.left);
        CHECK_EQ(b.reset_after, a.reset_after);
    }
    CHECK(!sn_keyed_debts(from, T0, stop_at_once, &calls));
    CHECK_EQ(calls, 1);
    CHECK(sn_keyed_debts(from, T0 + SEINE_SECS(4), stop_at_once, &calls)); /* all paid */
    CHECK_EQ(calls, 1);
    seine_keyed_free(from);
    seine_keyed_free(to);
}

TEST(keyed_owe_never_shortens_a_debt_and_needs_a_place)
{
    seine_keyed *k = table(1, 4, 1, SEINE_OVERFLOW_DENY);
    seine_grant g;

    CHECK_EQ(sn_keyed_owe(k, seine_key_str("a"), T0, T0), SEINE_OK);
    CHECK_EQ(totals(k).keys, 0); /* nothing owed is nothing kept */
    CHECK_EQ(sn_keyed_owe(k, seine_key_str("a"), T0, T0 + SEINE_SECS(3)), SEINE_OK);
    CHECK_EQ(sn_keyed_owe(k, seine_key_str("a"), T0, T0 + SEINE_SECS(1)), SEINE_OK);
    CHECK_EQ(seine_keyed_try(k, seine_key_str("a"), T0, 1, &g), SEINE_OK);
    CHECK_EQ(g.left, 0);
    CHECK_EQ(sn_keyed_owe(k, seine_key_str("b"), T0, T0 + 1), SEINE_E_FULL);
    CHECK_EQ(sn_keyed_owe(NULL, seine_key_str("b"), T0, T0 + 1), SEINE_OK);
    seine_keyed_free(k);
}
