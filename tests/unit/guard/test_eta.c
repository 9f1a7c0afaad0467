/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/eta.h"

#include "check.h"

#define T0 SEINE_SECS(1000) /* any moment will do */

/* Tells `seconds` seconds of `per_second` results each, once a second. */
static void
run_steadily(seine_eta *e, seine_time *now, uint64_t *done, unsigned seconds,
             uint64_t per_second)
{
    for (unsigned i = 0; i < seconds; i++) {
        *now += SEINE_SECS(1);
        *done += per_second;
        seine_eta_add(e, *now, *done, 1000000);
    }
}

static bool
is_near(double got, double want)
{
    return got > want * 0.999 && got < want * 1.001;
}

TEST(eta_of_a_steady_run_holds_the_truth_between_whole_seconds)
{
    seine_time now = T0;
    uint64_t done = 0;
    seine_span low = -1, high = -1;
    seine_eta e;

    seine_eta_init(&e, now);
    run_steadily(&e, &now, &done, 10, 10);
    CHECK(seine_eta_interval(&e, now, 95, &low, &high));
    CHECK_EQ(low, SEINE_SECS(9)); /* 95 at 10/s are 9.5 s */
    CHECK_EQ(high, SEINE_SECS(10));
}

TEST(eta_says_nothing_in_its_first_five_seconds)
{
    seine_time now = T0;
    uint64_t done = 0;
    seine_span low = -1, high = -1;
    seine_eta e;

    seine_eta_init(&e, now);
    run_steadily(&e, &now, &done, 4, 100);
    CHECK(!seine_eta_interval(&e, T0 + SEINE_SECS(5) - 1, 100, &low, &high));
    CHECK_EQ(low, -1);
    CHECK_EQ(high, -1);
    run_steadily(&e, &now, &done, 1, 100);
    CHECK(seine_eta_interval(&e, T0 + SEINE_SECS(5), 100, &low, &high));
}

TEST(eta_says_nothing_before_twenty_results)
{
    seine_time now = T0;
    uint64_t done = 0;
    seine_span low, high;
    seine_eta e;

    seine_eta_init(&e, now);
    run_steadily(&e, &now, &done, 19, 1);
    CHECK(!seine_eta_interval(&e, now, 100, &low, &high));
    run_steadily(&e, &now, &done, 1, 1);
    CHECK(seine_eta_interval(&e, now, 100, &low, &high));
}

/* 20 seconds each at 10, 20 and 40 a second: the quartiles are 10 and 40. */
TEST(eta_interval_lies_between_the_quartiles_of_the_last_minute)
{
    seine_time now = T0;
    uint64_t done = 0;
    seine_span low, high;
    seine_eta e;

    seine_eta_init(&e, now);
    for (int i = 0; i < 20; i++) {
        run_steadily(&e, &now, &done, 1, 10);
        run_steadily(&e, &now, &done, 1, 20);
        run_steadily(&e, &now, &done, 1, 40);
    }
    CHECK(seine_eta_interval(&e, now, 1000, &low, &high));
    CHECK_EQ(low, SEINE_SECS(25));
    CHECK_EQ(high, SEINE_SECS(101)); /* rounded outwards */
}

TEST(eta_takes_the_last_five_seconds_for_the_fast_end_where_they_are_faster)
{
    seine_time now = T0;
    uint64_t done = 0;
    seine_span low, high;
    seine_eta e;

    seine_eta_init(&e, now);
    run_steadily(&e, &now, &done, 55, 10);
    run_steadily(&e, &now, &done, 5, 100);
    CHECK(seine_eta_interval(&e, now, 1000, &low, &high));
    CHECK_EQ(low, SEINE_SECS(10)); /* though three quarters of the minute had 10 */
    CHECK_EQ(high, SEINE_SECS(101));
}

TEST(eta_forgets_what_is_older_than_a_minute)
{
    seine_time now = T0;
    uint64_t done = 0;
    seine_span low, high;
    seine_eta e;

    seine_eta_init(&e, now);
    run_steadily(&e, &now, &done, 500, 1000);
    run_steadily(&e, &now, &done, 60, 10);
    CHECK(seine_eta_interval(&e, now, 100, &low, &high));
    CHECK_EQ(low, SEINE_SECS(10));
    CHECK_EQ(high, SEINE_SECS(11));
}

/* Every second slot is empty, so the lower quartile of single slots would be 0. */
TEST(eta_calls_one_result_in_two_seconds_a_steady_rate)
{
    seine_time now = T0;
    uint64_t done = 0;
    seine_span low, high;
    seine_eta e;

    seine_eta_init(&e, now);
    for (int i = 0; i < 30; i++) {
        run_steadily(&e, &now, &done, 1, 0);
        run_steadily(&e, &now, &done, 1, 1);
    }
    CHECK(seine_eta_interval(&e, now, 100, &low, &high));
    CHECK(low >= SEINE_SECS(150) && low <= SEINE_SECS(200));
    CHECK(high >= SEINE_SECS(200) && high <= SEINE_SECS(270));
}

TEST(eta_is_never_above_99_hours)
{
    seine_time now = T0;
    uint64_t done = 0;
    seine_span low, high;
    seine_eta e;

    seine_eta_init(&e, now);
    run_steadily(&e, &now, &done, 60, 1);
    CHECK(seine_eta_interval(&e, now, UINT64_MAX, &low, &high));
    CHECK_EQ(low, SEINE_SECS(INT64_C(99) * 3600));
    CHECK_EQ(high, SEINE_SECS(INT64_C(99) * 3600 + 1));
}

TEST(eta_says_nothing_while_nothing_moves)
{
    seine_time now = T0;
    uint64_t done = 0;
    seine_span low, high;
    seine_eta e;

    seine_eta_init(&e, now);
    run_steadily(&e, &now, &done, 10, 10);
    run_steadily(&e, &now, &done, 60, 0);
    CHECK(!seine_eta_interval(&e, now, 100, &low, &high));
    CHECK(seine_eta_rate(&e, now) <= 0);
}

/* The last URLs of a list wait for their retries: nobody knows when results come. */
TEST(eta_says_nothing_while_a_quarter_of_the_time_brings_nothing)
{
    seine_time now = T0;
    uint64_t done = 0;
    seine_span low, high;
    seine_eta e;

    seine_eta_init(&e, now);
    run_steadily(&e, &now, &done, 10, 400);
    CHECK(seine_eta_interval(&e, now, 100, &low, &high));
    run_steadily(&e, &now, &done, 10, 0);
    CHECK(!seine_eta_interval(&e, now, 1, &low, &high));
}

TEST(eta_fills_in_one_minute_after_a_pause_of_days)
{
    seine_time now = T0;
    uint64_t done = 0;
    seine_eta e;

    seine_eta_init(&e, now);
    run_steadily(&e, &now, &done, 10, 10);
    now += SEINE_SECS(INT64_C(30) * 86400);
    seine_eta_add(&e, now, done, 1000000);
    CHECK(seine_eta_rate(&e, now) <= 0);
    run_steadily(&e, &now, &done, 5, 10);
    CHECK(is_near(seine_eta_rate(&e, now), 10));
}

TEST(eta_rate_is_that_of_the_last_five_seconds)
{
    seine_time now = T0;
    uint64_t done = 0;
    seine_eta e;

    seine_eta_init(&e, now);
    CHECK(seine_eta_rate(&e, now) <= 0);
    run_steadily(&e, &now, &done, 20, 3);
    CHECK(is_near(seine_eta_rate(&e, now), 3));
    run_steadily(&e, &now, &done, 5, 8);
    CHECK(is_near(seine_eta_rate(&e, now), 8));
    /* Half a second later the half second counts too: 40 in 5.5 s. */
    CHECK(is_near(seine_eta_rate(&e, now + SEINE_MS(500)), 40 / 5.5));
}

/* Each result brings half a new one. */
TEST(eta_growth_is_the_new_work_per_result)
{
    seine_eta e;

    seine_eta_init(&e, T0);
    for (uint64_t done = 0; done <= 4000; done++)
        seine_eta_add(&e, T0, done, 100 + done / 2 * 3);
    CHECK(seine_eta_growth(&e) > 1.49 && seine_eta_growth(&e) < 1.51);
    CHECK(seine_eta_grown(&e, 10) == UINT64_MAX);

    seine_eta_init(&e, T0);
    for (uint64_t done = 0; done <= 4000; done++)
        seine_eta_add(&e, T0, done, 5000 + done / 2);
    CHECK(seine_eta_growth(&e) > 0.49 && seine_eta_growth(&e) < 0.51);
    /* 300 + 150 + 75 + … = 600 */
    CHECK(seine_eta_grown(&e, 300) > 580 && seine_eta_grown(&e, 300) < 620);
}

TEST(eta_growth_is_zero_before_twenty_results)
{
    seine_eta e;

    seine_eta_init(&e, T0);
    for (uint64_t done = 0; done < 20; done++)
        seine_eta_add(&e, T0, done, 10 + 9 * done);
    CHECK(seine_eta_growth(&e) <= 0);
    CHECK_EQ(seine_eta_grown(&e, 7), 7);
    for (uint64_t done = 20; done < 100; done++)
        seine_eta_add(&e, T0, done, 10 + 9 * done);
    CHECK(is_near(seine_eta_growth(&e), 9));
}

/* 50,000 URLs come with the first results, none later. */
TEST(eta_growth_forgets_what_a_sitemap_told_at_the_beginning)
{
    seine_eta e;

    seine_eta_init(&e, T0);
    for (uint64_t done = 0; done <= 200; done++)
        seine_eta_add(&e, T0, done, done < 10 ? 1 + done : 50000);
    CHECK(seine_eta_growth(&e) <= 0);
}
