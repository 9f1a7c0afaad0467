/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/screen.h"

#include <stdlib.h>
#include <time.h>

#include "check.h"

TEST(figure_of_a_count_has_commas_every_three_digits)
{
    CHECK_STR(figure_count(0).text, "0");
    CHECK_STR(figure_count(999).text, "999");
    CHECK_STR(figure_count(1000).text, "1,000");
    CHECK_STR(figure_count(1234567).text, "1,234,567");
    CHECK_STR(figure_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
}

TEST(figure_of_a_share_is_exact_at_nothing_and_at_all)
{
    CHECK_STR(figure_share(0, 7).text, "0.0 %");
    CHECK_STR(figure_share(7, 7).text, "100 %");
    CHECK_STR(figure_share(86, 1000).text, "8.6 %");
    CHECK_STR(figure_share(1, 1000000).text, "0.1 %");       /* more than nothing */
    CHECK_STR(figure_share(999999, 1000000).text, "99.9 %"); /* less than all */
    CHECK_STR(figure_share(0, 0).text, "0.0 %");
}

TEST(figure_of_a_span_has_two_or_three_digits_or_two_units)
{
    static const struct {
        seine_span span;
        const char *want;
    } rows[] = {
        {0, "0 s"},
        {1, "1 ns"},
        {1500, "1.5 us"},
        {SEINE_MS(43), "43 ms"},
        {SEINE_US(1230), "1.2 ms"},
        {SEINE_MS(1030), "1.03 s"},
        {SEINE_MS(12340), "12.3 s"},
        {SEINE_MS(59960), "1 min"}, /* 60.0 s would be a minute */
        {SEINE_SECS(294), "4 min 54 s"},
        {SEINE_SECS(7260), "2 h 1 min"},
        {SEINE_SECS(90000), "1 d 1 h"},
        {SEINE_NEVER, "for ever"},
        {-1, "–"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(figure_span(rows[i].span).text, rows[i].want);
}

TEST(figure_of_a_moment_has_its_date_from_a_day_on)
{
    const seine_time midnight = SEINE_SECS(INT64_C(20000) * 86400); /* of 2024-10-04 */

    setenv("TZ", "UTC", 1);
    tzset();
    CHECK_STR(figure_moment(midnight, SEINE_SECS(3723)).text, "01:02:03");
    CHECK_STR(figure_moment(midnight, SEINE_SECS(86399)).text, "23:59:59");
    CHECK_STR(figure_moment(midnight, SEINE_SECS(86400)).text, "2024-10-05 00:00:00");
}

TEST(figure_of_a_rate_takes_the_unit_in_which_it_is_one_or_more)
{
    static const struct {
        double per_second;
        const char *want;
    } rows[] = {
        {9.8, "9.80/s"}, {98, "98/s"},        {12.34, "12.3/s"},    {1204, "1,204/s"},
        {0.5, "30/m"},   {1.0 / 3600, "1/h"}, {1.0 / 86400, "1/d"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(figure_rate(rows[i].per_second).text, rows[i].want);
}

TEST(screen_level_is_a_blank_for_nothing_alone)
{
    screen s = {.blocks = true};

    CHECK_STR(screen_level(&s, 0, 100), " ");
    CHECK_STR(screen_level(&s, 1, 1000000), "▁");
    CHECK_STR(screen_level(&s, 100, 100), "█");
    CHECK_STR(screen_level(&s, 200, 100), "█");
    s.blocks = false;
    CHECK_STR(screen_level(&s, 100, 100), "#");
}
