/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/log_date.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <seine/calendar.h>

/* Reads exactly `n` digits. Returns the end of them, or NULL. */
static const char *
number(const char *p, int n, int *out)
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
sign(const char *p, char wanted)
{
    return p && *p == wanted ? p + 1 : NULL;
}

static const char *
clock_time(const char *p, seine_date *c)
{
    p = number(p, 2, &c->hour);
    p = number(sign(p, ':'), 2, &c->minute);
    return number(sign(p, ':'), 2, &c->second);
}

static const char *
fraction(const char *p, log_date *out, long *nanos)
{
    long unit = 100000000;

    if (!p || *p != '.' || !isdigit((unsigned char)p[1]))
        return p;
    out->fine = true;
    for (p++; isdigit((unsigned char)*p); p++, unit /= 10)
        *nanos += (*p - '0') * unit;
    return p;
}

/* Reads +01:00 or +0100. */
static const char *
offset(const char *p, int *out_minutes)
{
    int hours, minutes, minus = p && *p == '-';

    if (!p || (*p != '+' && *p != '-'))
        return NULL;
    p = number(p + 1, 2, &hours);
    if (p && *p == ':')
        p++;
    p = number(p, 2, &minutes);
    if (!p || hours > 23 || minutes > 59)
        return NULL;
    *out_minutes = (minus ? -1 : 1) * (60 * hours + minutes);
    return p;
}

/* Accepts years of four digits that int64 nanoseconds can hold. */
static bool
settle(const seine_date *c, long nanos, log_date *out)
{
    if (c->year < 1970 || c->year > 2261 || c->month < 1 || c->month > 12 || c->day < 1 ||
        c->day > seine_calendar_month_days(c->year, c->month) || c->hour > 23 ||
        c->minute > 59 || c->second > 60)
        return false;
    out->at = SEINE_SECS(seine_calendar_seconds(c) - INT64_C(60) * out->zone) + nanos;
    return true;
}

const char *
log_date_rfc3339(const char *text, log_date *out)
{
    seine_date c = {0, 0, 0, 0, 0, 0};
    long nanos = 0;
    log_date m = {0, 0, false};
    const char *p = number(text, 4, &c.year);

    p = number(sign(p, '-'), 2, &c.month);
    p = number(sign(p, '-'), 2, &c.day);
    if (!p || !strchr("Tt ", *p) || !*p)
        return NULL;
    p = fraction(clock_time(p + 1, &c), &m, &nanos);
    if (!p)
        return NULL;
    if (*p == 'Z' || *p == 'z')
        p++;
    else if (*p == '+' || *p == '-')
        p = offset(p, &m.zone);
    if (!p || !settle(&c, nanos, &m))
        return NULL;
    *out = m;
    return p;
}

const char *
log_date_access_log(const char *text, log_date *out)
{
    seine_date c = {0, 0, 0, 0, 0, 0};
    long nanos = 0;
    log_date m = {0, 0, false};
    const char *p = sign(number(text, 2, &c.day), '/');

    if (!p || strnlen(p, 4) < 4 || p[3] != '/')
        return NULL;
    for (int i = 1; i <= 12; i++)
        if (strncmp(p, seine_calendar_month_name(i), 3) == 0)
            c.month = i;
    p = number(p + 4, 4, &c.year);
    p = fraction(clock_time(sign(p, ':'), &c), &m, &nanos);
    p = offset(sign(p, ' '), &m.zone);
    if (!p || !settle(&c, nanos, &m))
        return NULL;
    *out = m;
    return p;
}

static seine_date
date_in_zone(seine_time at, int zone)
{
    return seine_calendar_date(at / SEINE_SECS(1) + INT64_C(60) * zone);
}

clock_text
log_date_date(seine_time at, int zone)
{
    seine_date c = date_in_zone(at, zone);
    clock_text out;
    int n = snprintf(out.text, sizeof out.text, "%04d-%02d-%02d %02d:%02d:%02d", c.year,
                     c.month, c.day, c.hour, c.minute, c.second);

    if (zone == 0)
        snprintf(out.text + n, sizeof out.text - (size_t)n, "Z");
    else
        snprintf(out.text + n, sizeof out.text - (size_t)n, "%+03d:%02d", zone / 60,
                 (zone < 0 ? -zone : zone) % 60);
    return out;
}

clock_text
log_date_clock(seine_time at, int zone, int digits)
{
    seine_date c = date_in_zone(at, zone);
    clock_text out;
    char nanos[24];
    int n =
        snprintf(out.text, sizeof out.text, "%02d:%02d:%02d", c.hour, c.minute, c.second);

    snprintf(nanos, sizeof nanos, ".%09ld", (long)(at % SEINE_SECS(1)));
    if (digits > 0)
        snprintf(out.text + n, sizeof out.text - (size_t)n, "%.*s", 1 + digits, nanos);
    return out;
}
