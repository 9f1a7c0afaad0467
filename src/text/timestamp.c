/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/timestamp.h"

#include <ctype.h>
#include <string.h>

#include "seine/calendar.h"
#include "seine/time.h"

/* Reads exactly `n` digits. Returns the end of them, or NULL. */
static const char *
read_digits(const char *p, int n, int *out)
{
    int value = 0;

    for (int i = 0; p && i < n; i++) {
        if (!isdigit((unsigned char)p[i]))
            return NULL;
        value = 10 * value + (p[i] - '0');
    }
    *out = value;
    return p ? p + n : NULL;
}

static const char *
skip_char(const char *p, char wanted)
{
    return p && *p == wanted ? p + 1 : NULL;
}

static const char *
read_clock(const char *p, seine_date *c)
{
    p = read_digits(p, 2, &c->hour);
    p = read_digits(skip_char(p, ':'), 2, &c->minute);
    return read_digits(skip_char(p, ':'), 2, &c->second);
}

static const char *
read_fraction(const char *p, seine_timestamp *out, long *nanos)
{
    long unit = 100000000;

    if (!p || *p != '.' || !isdigit((unsigned char)p[1]))
        return p;
    out->is_fine = true;
    for (p++; isdigit((unsigned char)*p); p++, unit /= 10)
        *nanos += (*p - '0') * unit;
    return p;
}

/* Reads +01:00 or +0100. */
static const char *
read_offset(const char *p, int *out_minutes)
{
    int hours, minutes, minus = p && *p == '-';

    if (!p || (*p != '+' && *p != '-'))
        return NULL;
    p = read_digits(p + 1, 2, &hours);
    if (p && *p == ':')
        p++;
    p = read_digits(p, 2, &minutes);
    if (!p || hours > 23 || minutes > 59)
        return NULL;
    *out_minutes = (minus ? -1 : 1) * (60 * hours + minutes);
    return p;
}

/* Accepts the years that int64 nanoseconds can hold. */
static bool
set_wall(const seine_date *c, long nanos, seine_timestamp *out)
{
    if (c->year < 1970 || c->year > 2261 || c->month < 1 || c->month > 12 || c->day < 1 ||
        c->day > seine_calendar_month_days(c->year, c->month) || c->hour > 23 ||
        c->minute > 59 || c->second > 60)
        return false;
    out->wall = SEINE_SECS(seine_calendar_seconds(c) - INT64_C(60) * out->zone) + nanos;
    return true;
}

const char *
seine_timestamp_rfc3339(const char *text, seine_timestamp *out)
{
    seine_date c = {0, 0, 0, 0, 0, 0};
    long nanos = 0;
    seine_timestamp m = {0, 0, false};
    const char *p = read_digits(text, 4, &c.year);

    p = read_digits(skip_char(p, '-'), 2, &c.month);
    p = read_digits(skip_char(p, '-'), 2, &c.day);
    if (!p || !strchr("Tt ", *p) || !*p)
        return NULL;
    p = read_fraction(read_clock(p + 1, &c), &m, &nanos);
    if (!p)
        return NULL;
    if (*p == 'Z' || *p == 'z')
        p++;
    else if (*p == '+' || *p == '-')
        p = read_offset(p, &m.zone);
    if (!p || !set_wall(&c, nanos, &m))
        return NULL;
    *out = m;
    return p;
}

const char *
seine_timestamp_access_log(const char *text, seine_timestamp *out)
{
    seine_date c = {0, 0, 0, 0, 0, 0};
    long nanos = 0;
    seine_timestamp m = {0, 0, false};
    const char *p = skip_char(read_digits(text, 2, &c.day), '/');

    if (!p || strnlen(p, 4) < 4 || p[3] != '/')
        return NULL;
    for (int i = 1; i <= 12; i++)
        if (strncmp(p, seine_calendar_month_name(i), 3) == 0)
            c.month = i;
    p = read_digits(p + 4, 4, &c.year);
    p = read_fraction(read_clock(skip_char(p, ':'), &c), &m, &nanos);
    p = read_offset(skip_char(p, ' '), &m.zone);
    if (!p || !set_wall(&c, nanos, &m))
        return NULL;
    *out = m;
    return p;
}
