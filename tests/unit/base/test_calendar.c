/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/calendar.h"

#include <limits.h>
#include <stdint.h>
#include <time.h>

#include "check.h"

/* A second method: counts day by day, by the rule as it is taught, without eras. */
typedef struct leaf {
    int year, month, day, weekday;
} leaf;

static int
taught_month_days(int year, int month)
{
    if (month == 4 || month == 6 || month == 9 || month == 11)
        return 30;
    if (month != 2)
        return 31;
    if (year % 400 == 0)
        return 29;
    if (year % 100 == 0)
        return 28;
    return year % 4 == 0 ? 29 : 28;
}

static void
turn(leaf *l)
{
    l->weekday = l->weekday == 6 ? 0 : l->weekday + 1;
    if (l->day++ < taught_month_days(l->year, l->month))
        return;
    l->day = 1;
    if (l->month++ < 12)
        return;
    l->month = 1;
    l->year++;
}

/* The counted day at noon, a second before it and its last second. */
static void
check_day(int64_t days, const leaf *l)
{
    int64_t noon = days * 86400 + 43200;
    seine_date d = seine_calendar_date(noon), last = seine_calendar_date(noon + 43199),
               before = seine_calendar_date(noon - 43201);

    CHECK_EQ(seine_calendar_days(l->year, l->month, l->day), days);
    CHECK_EQ(seine_calendar_weekday(days), l->weekday);
    CHECK_EQ(seine_calendar_month_days(l->year, l->month),
             taught_month_days(l->year, l->month));
    CHECK(d.year == l->year && d.month == l->month && d.day == l->day);
    CHECK(d.hour == 12 && d.minute == 0 && d.second == 0);
    CHECK(last.day == l->day && last.hour == 23 && last.minute == 59);
    CHECK(before.day != l->day && before.hour == 23 && before.second == 59);
    CHECK_EQ(seine_calendar_seconds(&d), noon);
    CHECK_EQ(seine_calendar_seconds(&before), noon - 43201);
}

TEST(calendar_agrees_with_800_years_counted_day_by_day)
{
    leaf l = {1970, 1, 1, 4}; /* a Thursday */

    for (int64_t days = 0; l.year < 2770; days++, turn(&l))
        check_day(days, &l);
}

/* 146,097 days before 1970-01-01 was 1570-01-01, and so on, each of them a Thursday. */
TEST(calendar_agrees_with_the_days_counted_before_1970)
{
    leaf l = {-30, 1, 1, 4};

    for (int64_t days = -5 * INT64_C(146097); days < 0; days++, turn(&l))
        check_day(days, &l);
    CHECK(l.year == 1970 && l.month == 1 && l.day == 1);
}

TEST(calendar_knows_dates_that_everybody_can_look_up)
{
    static const struct {
        int64_t seconds;
        seine_date date;
        int weekday;
    } rows[] = {
        {0, {1970, 1, 1, 0, 0, 0}, 4},
        {-1, {1969, 12, 31, 23, 59, 59}, 3},
        {784111777, {1994, 11, 6, 8, 49, 37}, 0}, /* the example of RFC 9110 */
        {951782400, {2000, 2, 29, 0, 0, 0}, 2},
        {1234567890, {2009, 2, 13, 23, 31, 30}, 5},
        {2147483647, {2038, 1, 19, 3, 14, 7}, 2}, /* the last of 32 bits */
        {4107542400, {2100, 3, 1, 0, 0, 0}, 1},   /* behind a February of 28 days */
        {-2208988800, {1900, 1, 1, 0, 0, 0}, 1},  /* where NTP begins */
        {-11644473600, {1601, 1, 1, 0, 0, 0}, 1}, /* where the clocks of Windows begin */
        {-62135596800, {1, 1, 1, 0, 0, 0}, 1}, /* RFC 3339 begins here and ends below */
        {253402300799, {9999, 12, 31, 23, 59, 59}, 5},
        {-62167219200, {0, 1, 1, 0, 0, 0}, 6},
    };

    EACH_ROW(i, rows) {
        const seine_date *want = &rows[i].date;
        seine_date got = seine_calendar_date(rows[i].seconds);

        CHECK(got.year == want->year && got.month == want->month && got.day == want->day);
        CHECK(got.hour == want->hour && got.minute == want->minute &&
              got.second == want->second);
        CHECK_EQ(seine_calendar_seconds(want), rows[i].seconds);
        CHECK_EQ(seine_calendar_weekday(
                     seine_calendar_days(want->year, want->month, want->day)),
                 rows[i].weekday);
    }
}

/* The C library is a third method, for seconds all over the range. */
TEST(calendar_agrees_with_the_c_library)
{
    const int64_t step = INT64_C(67767976233532799) / 20011;

    for (int64_t at = -20000 * step; at < 20000 * step; at += step) {
        seine_date d = seine_calendar_date(at);
        time_t seconds = (time_t)at;
        struct tm tm = {0};

        CHECK(gmtime_r(&seconds, &tm) != NULL);
        CHECK_EQ(d.year, (int64_t)tm.tm_year + 1900);
        CHECK(d.month == tm.tm_mon + 1 && d.day == tm.tm_mday && d.hour == tm.tm_hour);
        CHECK(d.minute == tm.tm_min && d.second == tm.tm_sec);
        CHECK_EQ(seine_calendar_seconds(&d), at);
    }
}

TEST(calendar_stops_at_the_years_an_int_can_hold)
{
    static const seine_date ends[] = {{INT_MIN, 1, 1, 0, 0, 0},
                                      {INT_MAX, 12, 31, 23, 59, 59}};
    static const int64_t beyond[] = {-1, 1}, extreme[] = {INT64_MIN, INT64_MAX};

    EACH_ROW(i, ends) {
        int64_t end = seine_calendar_seconds(&ends[i]);
        seine_date at = seine_calendar_date(end),
                   behind = seine_calendar_date(end + beyond[i]),
                   far = seine_calendar_date(extreme[i]);

        CHECK_EQ(at.year, ends[i].year);
        CHECK_EQ(seine_calendar_seconds(&at), end);
        CHECK_EQ(seine_calendar_seconds(&behind), end);
        CHECK_EQ(seine_calendar_seconds(&far), end);
    }
}

TEST(calendar_counts_on_from_a_leap_second_and_past_the_end_of_a_month)
{
    static const seine_date leap = {2016, 12, 31, 23, 59, 60};

    CHECK_EQ(seine_calendar_seconds(&leap), 1483228800);
    CHECK_EQ(seine_calendar_days(2023, 2, 29), seine_calendar_days(2023, 3, 1));
    CHECK_EQ(seine_calendar_days(2023, 12, 32), seine_calendar_days(2024, 1, 1));
}

TEST(calendar_has_no_month_0_and_no_month_13)
{
    CHECK_EQ(seine_calendar_month_days(2024, 0), 0);
    CHECK_EQ(seine_calendar_month_days(2024, 13), 0);
    CHECK_EQ(seine_calendar_month_days(2024, INT_MIN), 0);
    CHECK_STR(seine_calendar_month_name(0), "");
    CHECK_STR(seine_calendar_month_name(13), "");
}

TEST(calendar_names_the_months_as_HTTP_does)
{
    CHECK_STR(seine_calendar_month_name(1), "Jan");
    CHECK_STR(seine_calendar_month_name(5), "May");
    CHECK_STR(seine_calendar_month_name(12), "Dec");
}
