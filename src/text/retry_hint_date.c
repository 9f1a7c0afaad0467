/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/retry_hint.h"

#include "text/cursor.h"

#define SECOND INT64_C(1000000000)
#define DAY    INT64_C(86400)

struct date {
    int64_t year;
    int month, day, hour, minute, second, weekday; /* January and Sunday are 0 */
};

/* Exactly `n` digits. */
static bool
figure(sn_cursor *t, int n, int *out_value)
{
    *out_value = 0;
    for (int i = 0; i < n; i++, t->at++) {
        if (!sn_is_digit(sn_peek(t)))
            return false;
        *out_value = *out_value * 10 + (*t->at - '0');
    }
    return true;
}

static bool
month(sn_cursor *t, int *out_month)
{
    static const char *const names[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                        "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};

    return sn_choice(t, names, 12, out_month);
}

static bool
clock_face(sn_cursor *t, struct date *d)
{
    return figure(t, 2, &d->hour) && sn_skip(t, ':') && figure(t, 2, &d->minute) &&
           sn_skip(t, ':') && figure(t, 2, &d->second);
}

/* After "Sun": ", 06 Nov 1994 08:49:37 GMT". */
static bool
imf_fixdate(sn_cursor *t, struct date *d)
{
    int year;

    if (!sn_skip_word(t, ", ") || !figure(t, 2, &d->day) || !sn_skip(t, ' ') ||
        !month(t, &d->month) || !sn_skip(t, ' ') || !figure(t, 4, &year) ||
        !sn_skip(t, ' '))
        return false;
    d->year = year;
    return clock_face(t, d) && sn_skip_word(t, " GMT");
}

/* After "Sun": " Nov  6 08:49:37 1994". */
static bool
asctime_date(sn_cursor *t, struct date *d)
{
    int year;

    if (!sn_skip(t, ' ') || !month(t, &d->month) || !sn_skip(t, ' ') ||
        !figure(t, sn_skip(t, ' ') ? 1 : 2, &d->day) || !sn_skip(t, ' ') ||
        !clock_face(t, d) || !sn_skip(t, ' ') || !figure(t, 4, &year))
        return false;
    d->year = year;
    return true;
}

/* Days from 1970-01-01 to the first of `month`, in the calendar of today. */
static int64_t
days_before(int64_t year, int month)
{
    static const int passed[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    int64_t last = month < 2 ? year - 1 : year; /* whose leap day may have been */

    return (year - 1970) * 365 + passed[month] + (last / 4 - last / 100 + last / 400) -
           (1969 / 4 - 1969 / 100 + 1969 / 400);
}

static int64_t
epoch(const struct date *d, int64_t year)
{
    return (days_before(year, d->month) + d->day - 1) * DAY + d->hour * 3600 +
           d->minute * 60 + d->second;
}

/* After "Sun": "day, 06-Nov-94 08:49:37 GMT". A century later is right while that
 * is not more than 50 years from now (RFC 9110, 5.6.7). */
static bool
rfc850_date(sn_cursor *t, struct date *d, int64_t wall)
{
    static const char *const rest[] = {"day",   "day", "sday", "nesday",
                                       "rsday", "day", "urday"};
    int64_t now = wall / SECOND;
    int year;

    if (!sn_skip_word(t, rest[d->weekday]) || !sn_skip_word(t, ", ") ||
        !figure(t, 2, &d->day) || !sn_skip(t, '-') || !month(t, &d->month) ||
        !sn_skip(t, '-') || !figure(t, 2, &year) || !sn_skip(t, ' ') ||
        !clock_face(t, d) || !sn_skip_word(t, " GMT"))
        return false;
    d->year = 1900 + year;
    while (epoch(d, d->year + 100 - 50) <= now)
        d->year += 100;
    return true;
}

static bool
exists(const struct date *d)
{
    int64_t next =
        d->month == 11 ? days_before(d->year + 1, 0) : days_before(d->year, d->month + 1);
    int64_t today = days_before(d->year, d->month) + d->day - 1;
    bool leap_second = d->hour == 23 && d->minute == 59 && d->second == 60;

    return d->year >= 1970 && d->day >= 1 && today < next && d->hour < 24 &&
           d->minute < 60 && (d->second < 60 || leap_second) &&
           (today + 4) % 7 == d->weekday; /* the first of all was a Thursday */
}

seine_err
seine_retry_hint_date(const char *text, size_t len, int64_t wall, int64_t *out_epoch)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    struct date d = {0};
    bool read;

    if (len == 0)
        return SEINE_E_PARSE;
    sn_cursor t = {text, text + len};
    if (!sn_choice(&t, days, 7, &d.weekday))
        return SEINE_E_PARSE;
    if (sn_peek(&t) == ',')
        read = imf_fixdate(&t, &d);
    else if (sn_peek(&t) == ' ')
        read = asctime_date(&t, &d);
    else
        read = rfc850_date(&t, &d, wall);
    if (!read || !sn_ended(&t) || !exists(&d))
        return SEINE_E_PARSE;
    *out_epoch = epoch(&d, d.year);
    return SEINE_OK;
}
