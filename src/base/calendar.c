/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/calendar.h"

#include <stdbool.h>

/*
 * The Gregorian calendar repeats every 400 years, which this file calls an era. Eras and
 * years begin on 1 March here, so the leap day is the last day of its year. Month lengths
 * from March on repeat as 31, 30, 31, 30, 31, so month m begins on day (153 * m + 2) / 5
 * of its year. Day 0 of era 0 is 0000-03-01, 719,468 days before 1970-01-01.
 */
#define ERA_YEARS  400
#define ERA_DAYS   146097
#define FIRST_DAYS 719468

/* The first and the last second of the years that an int holds. */
#define FIRST_SECOND INT64_C(-67768100567971200)
#define LAST_SECOND  INT64_C(67767976233532799)

static bool
is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int
seine_calendar_month_days(int year, int month)
{
    static const signed char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

    if (month < 1 || month > 12)
        return 0;
    return days[month - 1] + (month == 2 && is_leap(year));
}

const char *
seine_calendar_month_name(int month)
{
    static const char names[][4] = {"",    "Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                    "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

    return names[month >= 1 && month <= 12 ? month : 0];
}

/* Divides and rounds down; the rest is 0 to divisor - 1. */
static int64_t
floor_div(int64_t n, int divisor, unsigned *out_rest)
{
    int64_t quotient = n / divisor, rest = n % divisor;

    if (rest < 0) {
        quotient--;
        rest += divisor;
    }
    *out_rest = (unsigned)rest;
    return quotient;
}

int64_t
seine_calendar_days(int year, int month, int day)
{
    unsigned of_era;
    int64_t era = floor_div((int64_t)year - (month <= 2), ERA_YEARS, &of_era);
    int of_year = (153 * ((month + 9) % 12) + 2) / 5;

    return era * ERA_DAYS + (of_era * 365 + of_era / 4 - of_era / 100) + of_year + day -
           1 - FIRST_DAYS;
}

int
seine_calendar_weekday(int64_t days)
{
    return (int)((days % 7 + 7 + 4) % 7); /* day 0 was a Thursday */
}

int64_t
seine_calendar_seconds(const seine_date *d)
{
    if (!d)
        return 0;
    return seine_calendar_days(d->year, d->month, d->day) * SEINE_DAY_SECONDS +
           d->hour * INT64_C(3600) + d->minute * INT64_C(60) + d->second;
}

/* First takes the leap days out, so that every year has 365 days: minus one day for every
 * 4 years (1,460 days), plus one for every 100 (36,524), minus the last day of the era.
 */
static void
find_day(int64_t days, seine_date *d)
{
    unsigned day;
    int64_t era = floor_div(days + FIRST_DAYS, ERA_DAYS, &day);
    unsigned year = (day - day / 1460 + day / 36524 - day / (ERA_DAYS - 1)) / 365;
    unsigned of_year = day - (365 * year + year / 4 - year / 100);
    unsigned month = (5 * of_year + 2) / 153;

    d->day = (int)(of_year - (153 * month + 2) / 5 + 1);
    d->month = (int)(month < 10 ? month + 3 : month - 9);
    d->year = (int)(era * ERA_YEARS + year + (d->month <= 2));
}

seine_date
seine_calendar_date(int64_t seconds)
{
    seine_date d;
    unsigned rest;

    if (seconds < FIRST_SECOND)
        seconds = FIRST_SECOND;
    if (seconds > LAST_SECOND)
        seconds = LAST_SECOND;
    find_day(floor_div(seconds, SEINE_DAY_SECONDS, &rest), &d);
    d.hour = (int)(rest / 3600);
    d.minute = (int)(rest / 60 % 60);
    d.second = (int)(rest % 60);
    return d;
}
