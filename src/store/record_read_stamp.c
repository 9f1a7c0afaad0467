/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/time.h"
#include "store/record_read.h"

/* Reads exactly `n` digits and moves on. */
static bool
digits(sn_str *s, size_t n, int64_t *out)
{
    *out = 0;
    if (s->len < n)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (!sn_is_digit(s->ptr[i]))
            return false;
        *out = *out * 10 + (s->ptr[i] - '0');
    }
    *s = sn_str_slice(*s, n, s->len);
    return true;
}

static bool
mark(sn_str *s, char c)
{
    if (s->len == 0 || (s->ptr[0] != c && !(c == 'T' && s->ptr[0] == ' ')))
        return false;
    *s = sn_str_slice(*s, 1, s->len);
    return true;
}

/* Days since 1970-01-01; years begin on the first of March, so that the leap day is the
 * last of one. */
static int64_t
days_of(int64_t year, int64_t month, int64_t day)
{
    int64_t y = year - (month <= 2), era = y / 400, yoe = y - era * 400;
    int64_t doy = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + yoe * 365 + yoe / 4 - yoe / 100 + doy - 719468;
}

static bool
is_day(int64_t year, int64_t month, int64_t day)
{
    static const int64_t lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return month >= 1 && month <= 12 && day >= 1 &&
           day <= lengths[month - 1] + (leap && month == 2);
}

/* Behind the seconds: ns, and nothing when there is no point. */
static bool
fraction(sn_str *s, int64_t *out_ns)
{
    int64_t digit, unit = 100000000;

    *out_ns = 0;
    if (!mark(s, '.'))
        return true;
    if (s->len == 0 || !sn_is_digit(s->ptr[0]))
        return false;
    for (; digits(s, 1, &digit); unit /= 10) {
        if (unit == 0)
            return false;
        *out_ns += digit * unit;
    }
    return true;
}

/* Z, or hours and minutes before or behind it. */
static bool
offset(sn_str *s, int64_t *out_seconds)
{
    int64_t hour, minute;
    bool minus = s->len > 0 && s->ptr[0] == '-';

    *out_seconds = 0;
    if (mark(s, 'Z'))
        return true;
    if (!(mark(s, '+') || mark(s, '-')) || !digits(s, 2, &hour) || !mark(s, ':') ||
        !digits(s, 2, &minute) || hour > 23 || minute > 59)
        return false;
    *out_seconds = (hour * 3600 + minute * 60) * (minus ? -1 : 1);
    return true;
}

seine_err
sn_stamp_read(sn_str text, int64_t *out_wall)
{
    int64_t year, month, day, hour, minute, second, ns, away;

    if (!digits(&text, 4, &year) || !mark(&text, '-') || !digits(&text, 2, &month) ||
        !mark(&text, '-') || !digits(&text, 2, &day) || !mark(&text, 'T') ||
        !digits(&text, 2, &hour) || !mark(&text, ':') || !digits(&text, 2, &minute) ||
        !mark(&text, ':') || !digits(&text, 2, &second) || !fraction(&text, &ns) ||
        !offset(&text, &away) || text.len > 0)
        return SEINE_E_INVAL;
    if (!is_day(year, month, day) || hour > 23 || minute > 59 || second > 59)
        return SEINE_E_INVAL;
    if (year < 1678 || year > 2261) /* what 64 bits of ns hold, in whole years */
        return SEINE_E_RANGE;
    int64_t seconds = days_of(year, month, day) * 86400 + hour * 3600 + minute * 60;
    *out_wall = SEINE_SECS(seconds + second - away) + ns;
    return SEINE_OK;
}
