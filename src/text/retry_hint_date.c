/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/retry_hint.h"

#include "seine/calendar.h"
#include "text/cursor.h"

#define SECOND INT64_C(1000000000)

/* Reads exactly `n` digits. */
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
    for (*out_month = 1; *out_month <= 12; ++*out_month)
        if (sn_skip_word(t, seine_calendar_month_name(*out_month)))
            return true;
    return false;
}

static bool
clock_face(sn_cursor *t, seine_date *d)
{
    return figure(t, 2, &d->hour) && sn_skip(t, ':') && figure(t, 2, &d->minute) &&
           sn_skip(t, ':') && figure(t, 2, &d->second);
}

/* After "Sun": ", 06 Nov 1994 08:49:37 GMT". */
static bool
imf_fixdate(sn_cursor *t, seine_date *d)
{
    return sn_skip_word(t, ", ") && figure(t, 2, &d->day) && sn_skip(t, ' ') &&
           month(t, &d->month) && sn_skip(t, ' ') && figure(t, 4, &d->year) &&
           sn_skip(t, ' ') && clock_face(t, d) && sn_skip_word(t, " GMT");
}

/* After "Sun": " Nov  6 08:49:37 1994". */
static bool
asctime_date(sn_cursor *t, seine_date *d)
{
    return sn_skip(t, ' ') && month(t, &d->month) && sn_skip(t, ' ') &&
           figure(t, sn_skip(t, ' ') ? 1 : 2, &d->day) && sn_skip(t, ' ') &&
           clock_face(t, d) && sn_skip(t, ' ') && figure(t, 4, &d->year);
}

/* True if the date would be within 50 years of now even a century later. */
static bool
is_a_century_too_old(seine_date d, int64_t now)
{
    d.year += 100 - 50;
    return seine_calendar_seconds(&d) <= now;
}

/* After "Sun": "day, 06-Nov-94 08:49:37 GMT". A two-digit year is the latest one that is
 * not more than 50 years ahead (RFC 9110, 5.6.7). */
static bool
rfc850_date(sn_cursor *t, int weekday, int64_t wall, seine_date *d)
{
    static const char *const rest[] = {"day",   "day", "sday", "nesday",
                                       "rsday", "day", "urday"};

    if (!sn_skip_word(t, rest[weekday]) || !sn_skip_word(t, ", ") ||
        !figure(t, 2, &d->day) || !sn_skip(t, '-') || !month(t, &d->month) ||
        !sn_skip(t, '-') || !figure(t, 2, &d->year) || !sn_skip(t, ' ') ||
        !clock_face(t, d) || !sn_skip_word(t, " GMT"))
        return false;
    d->year += 1900;
    while (is_a_century_too_old(*d, wall / SECOND))
        d->year += 100;
    return true;
}

static bool
exists(const seine_date *d, int weekday)
{
    bool leap_second = d->hour == 23 && d->minute == 59 && d->second == 60;

    return d->year >= 1970 && d->day >= 1 &&
           d->day <= seine_calendar_month_days(d->year, d->month) && d->hour < 24 &&
           d->minute < 60 && (d->second < 60 || leap_second) &&
           seine_calendar_weekday(seine_calendar_days(d->year, d->month, d->day)) ==
               weekday;
}

seine_err
seine_retry_hint_date(const char *text, size_t len, int64_t wall, int64_t *out_epoch)
{
    static const char *const days[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    seine_date d = {0};
    int weekday;
    bool read;

    if (len == 0)
        return SEINE_E_PARSE;
    sn_cursor t = {text, text + len};
    if (!sn_choice(&t, days, 7, &weekday))
        return SEINE_E_PARSE;
    if (sn_peek(&t) == ',')
        read = imf_fixdate(&t, &d);
    else if (sn_peek(&t) == ' ')
        read = asctime_date(&t, &d);
    else
        read = rfc850_date(&t, weekday, wall, &d);
    if (!read || !sn_ended(&t) || !exists(&d, weekday))
        return SEINE_E_PARSE;
    if (!out_epoch)
        return SEINE_E_INVAL;
    *out_epoch = seine_calendar_seconds(&d);
    return SEINE_OK;
}
