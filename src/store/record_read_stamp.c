/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/calendar.h"
#include "seine/time.h"
#include "store/record_read.h"

/* Reads exactly `n` digits and moves on. */
static bool
read_digits(sn_str *s, size_t n, int *out)
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

/* Reads the fraction after the seconds, in ns; 0 if there is no point. */
static bool
fraction(sn_str *s, int64_t *out_ns)
{
    int digit, unit = 100000000;

    *out_ns = 0;
    if (!mark(s, '.'))
        return true;
    if (s->len == 0 || !sn_is_digit(s->ptr[0]))
        return false;
    for (; read_digits(s, 1, &digit); unit /= 10) {
        if (unit == 0)
            return false;
        *out_ns += digit * unit;
    }
    return true;
}

/* Reads Z, or an offset such as +01:00. */
static bool
offset(sn_str *s, int *out_seconds)
{
    int hour, minute;
    bool minus = s->len > 0 && s->ptr[0] == '-';

    *out_seconds = 0;
    if (mark(s, 'Z'))
        return true;
    if (!(mark(s, '+') || mark(s, '-')) || !read_digits(s, 2, &hour) || !mark(s, ':') ||
        !read_digits(s, 2, &minute) || hour > 23 || minute > 59)
        return false;
    *out_seconds = (hour * 3600 + minute * 60) * (minus ? -1 : 1);
    return true;
}

seine_err
sn_stamp_read(sn_str text, int64_t *out_wall)
{
    seine_date d;
    int64_t ns;
    int away;

    if (!read_digits(&text, 4, &d.year) || !mark(&text, '-') ||
        !read_digits(&text, 2, &d.month) || !mark(&text, '-') ||
        !read_digits(&text, 2, &d.day) || !mark(&text, 'T') ||
        !read_digits(&text, 2, &d.hour) || !mark(&text, ':') ||
        !read_digits(&text, 2, &d.minute) || !mark(&text, ':') ||
        !read_digits(&text, 2, &d.second) || !fraction(&text, &ns) ||
        !offset(&text, &away) || text.len > 0)
        return SEINE_E_INVAL;
    if (d.day < 1 || d.day > seine_calendar_month_days(d.year, d.month) || d.hour > 23 ||
        d.minute > 59 || d.second > 59)
        return SEINE_E_INVAL;
    if (d.year < 1678 || d.year > 2261) /* the whole years that 64-bit ns can hold */
        return SEINE_E_RANGE;
    *out_wall = SEINE_SECS(seine_calendar_seconds(&d) - away) + ns;
    return SEINE_OK;
}
