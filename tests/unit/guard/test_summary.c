/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/summary.h"

#include <stdio.h>

#include "check.h"

TEST(t24_s0_22_two_of_three_are_66_66666666666666_percent)
{
    seine_summary s = SEINE_SUMMARY;
    char text[32];

    CHECK(seine_summary_rate(&s) == 0.0);
    CHECK_EQ(seine_summary_avg_ms(&s), 0);
    seine_summary_add(&s, true, SEINE_MS(1));
    seine_summary_add(&s, false, SEINE_MS(1));
    seine_summary_add(&s, true, SEINE_MS(1));
    snprintf(text, sizeof text, "%.16g", seine_summary_rate(&s));
    CHECK_STR(text, "66.66666666666666");
    CHECK_EQ(s.total, 3);
    CHECK_EQ(s.success, 2);
    CHECK_EQ(s.failed, 1);
}

TEST(x_32_summary_sums_durations_and_averages_in_integers)
{
    seine_summary s = SEINE_SUMMARY;

    seine_summary_add(&s, true, SEINE_MS(100));
    seine_summary_add(&s, false, SEINE_MS(200));
    CHECK_EQ(s.total_duration_ms, 300);
    CHECK_EQ(seine_summary_avg_ms(&s), 150);
    CHECK(seine_summary_rate(&s) == 50.0);
    CHECK_EQ(s.wall_ms, 0); /* the caller's to set */
    seine_summary_add(&s, true, SEINE_MS(2));
    CHECK_EQ(seine_summary_avg_ms(&s), 100); /* 302 / 3 */
}

TEST(summary_loses_no_fraction_of_a_millisecond)
{
    seine_summary s = SEINE_SUMMARY;

    for (int i = 0; i < 1000; i++)
        seine_summary_add(&s, true, SEINE_US(1500));
    CHECK_EQ(s.total_duration_ms, 1500);
    seine_summary_add(&s, true, -5);
    CHECK_EQ(s.total_duration_ms, 1500);
}
