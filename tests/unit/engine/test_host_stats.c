/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host_stats.h"

#include "base/rng.h"
#include "check.h"

TEST(host_stats_are_exact_for_small_rates_and_close_for_latencies)
{
    sn_host_stats f;

    sn_host_stats_init(&f);
    for (int i = 0; i < 100; i++)
        sn_host_stats_sent(&f, SEINE_MS(200) * i);
    CHECK_EQ(f.second.most, 5);
    CHECK_EQ(f.min_gap, SEINE_MS(200));
    for (int i = 0; i < 1000; i++)
        sn_host_stats_sent(&f, SEINE_SECS(100) + SEINE_MS(1) * i);
    CHECK(f.second.most >= 980 && f.second.most <= 1020);
    for (int i = 1; i <= 100; i++)
        sn_host_stats_end(&f, true, SEINE_MS(i));
    seine_span p50 = sn_host_stats_quantile(&f, 50), p95 = sn_host_stats_quantile(&f, 95);
    CHECK(p50 >= SEINE_MS(50) && p50 <= SEINE_MS(63));
    CHECK(p95 >= SEINE_MS(95) && p95 <= SEINE_MS(119));
}

TEST(the_closest_two_are_told_to_the_nanosecond)
{
    sn_host_stats f;
    sn_rng r = sn_rng_seed(check_seed());
    seine_time at = SEINE_SECS(1);
    seine_span least = SEINE_NEVER;

    sn_host_stats_init(&f);
    sn_host_stats_sent(&f, at);
    CHECK_EQ(f.min_gap, SEINE_NEVER);
    for (int i = 0; i < 2000; i++) {
        seine_span gap = (seine_span)sn_rng_below(&r, SEINE_MS(60)) + SEINE_MS(16);

        at += gap;
        least = gap < least ? gap : least;
        sn_host_stats_sent(&f, at);
        CHECK_EQ(f.min_gap, least);
    }
    sn_host_stats_sent(&f, at - SEINE_SECS(1)); /* a step back is no gap below zero */
    CHECK_EQ(f.min_gap, 0);
}
