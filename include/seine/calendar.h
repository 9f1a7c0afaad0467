/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calendar.h - which date is a number of seconds, and how many seconds are a date?
 *
 * Unix time counts the seconds since 1970-01-01 00:00:00 UTC; every day has 86,400 of
 * them, leap seconds are not counted. Dates are those of the Gregorian calendar, also
 * before it was introduced (1582). The year before year 1 is year 0.
 *
 *     seine_date d = seine_calendar_date(784111777);    1994-11-06 08:49:37
 *     int64_t seconds = seine_calendar_seconds(&d);     784111777 again
 *     int64_t days = seine_calendar_days(1994, 11, 6);  9075
 *     int weekday = seine_calendar_weekday(days);       0, a Sunday
 *     int last = seine_calendar_month_days(2024, 2);    29
 *
 * Local time is not known here: a caller who has an offset subtracts it from the seconds.
 *
 * Time    all is Unix time in UTC, in seconds or in days; no clock is read.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SEINE_CALENDAR_H
#define SEINE_CALENDAR_H

#include <stdint.h>

#include "seine/abi.h"

#define SEINE_DAY_SECONDS 86400

/* A date and the time of its day. */
typedef struct seine_date {
    int year;
    int month;  /* 1 to 12 */
    int day;    /* 1 to 31 */
    int hour;   /* 0 to 23 */
    int minute; /* 0 to 59 */
    int second; /* 0 to 59 */
} seine_date;

SEINE_BEGIN

/* The days of a month: 28 to 31; 0 if `month` is not 1 to 12. */
int seine_calendar_month_days(int year, int month);

/* "Jan" for 1 to "Dec" for 12; "" for any other number. */
const char *seine_calendar_month_name(int month);

/* Days from 1970-01-01 to this day, negative before it. `month` is 1 to 12; a `day`
 * beyond the month counts on into the next one, as do all members of a date below. */
int64_t seine_calendar_days(int year, int month, int day);

/* The weekday of that day: 0 is Sunday, 6 is Saturday. */
int seine_calendar_weekday(int64_t days);

/* Seconds from 1970-01-01 00:00:00 to this date, negative before it. A leap second
 * (second 60) is the first second of the next minute. */
int64_t seine_calendar_seconds(const seine_date *d);

/* The date of these seconds. Outside the years that an int holds, it is the first or the
 * last second of those years. */
seine_date seine_calendar_date(int64_t seconds);

SEINE_END

#endif
