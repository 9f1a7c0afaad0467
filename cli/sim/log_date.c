/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/log_date.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef struct civil {
    int year, month, day, hour, minute, second;
    long nanos;
} civil;

/* Days since 1970 of a date of the Gregorian calendar; years begin in March so
 * that the odd day comes last. */
static int64_t
days_of(int year, int month, int day)
{
    int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400;
    int64_t of_era = y - era * 400;
    int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;

    return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static int
month_length(int year, int month)
{
    static const int lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;

    return lengths[month - 1] + (month == 2 && leap);
}

/* Exactly `n` digits. */
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
clock_time(const char *p, civil *c)
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

/* +01:00, +0100 */
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

/* Years of four digits that int64 nanoseconds can hold. */
static bool
settle(const civil *c, log_date *out)
{
    if (c->year < 1970 || c->year > 2261 || c->month < 1 || c->month > 12 || c->day < 1 ||
        c->day > month_length(c->year, c->month) || c->hour > 23 || c->minute > 59 ||
        c->second > 60)
        return false;
    int64_t seconds = days_of(c->year, c->month, c->day) * 86400 +
                      c->hour * INT64_C(3600) + (c->minute - out->zone) * INT64_C(60) +
                      c->second;
    out->at = SEINE_SECS(seconds) + c->nanos;
    return true;
}

const char *
log_date_rfc3339(const char *text, log_date *out)
{
    civil c = {0, 0, 0, 0, 0, 0, 0};
    log_date m = {0, 0, false};
    const char *p = number(text, 4, &c.year);

    p = number(sign(p, '-'), 2, &c.month);
    p = number(sign(p, '-'), 2, &c.day);
    if (!p || !strchr("Tt ", *p) || !*p)
        return NULL;
    p = fraction(clock_time(p + 1, &c), &m, &c.nanos);
    if (!p)
        return NULL;
    if (*p == 'Z' || *p == 'z')
        p++;
    else if (*p == '+' || *p == '-')
        p = offset(p, &m.zone);
    if (!p || !settle(&c, &m))
        return NULL;
    *out = m;
    return p;
}

const char *
log_date_access_log(const char *text, log_date *out)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    civil c = {0, 0, 0, 0, 0, 0, 0};
    log_date m = {0, 0, false};
    const char *p = sign(number(text, 2, &c.day), '/');

    if (!p || strnlen(p, 4) < 4 || p[3] != '/')
        return NULL;
    for (size_t i = 0; i < 12; i++)
        if (strncmp(p, months + 3 * i, 3) == 0)
            c.month = (int)i + 1;
    p = number(p + 4, 4, &c.year);
    p = fraction(clock_time(sign(p, ':'), &c), &m, &c.nanos);
    p = offset(sign(p, ' '), &m.zone);
    if (!p || !settle(&c, &m))
        return NULL;
    *out = m;
    return p;
}

static civil
civil_of(seine_time at, int zone)
{
    int64_t seconds = at / SEINE_SECS(1) + INT64_C(60) * zone;
    int64_t days = seconds / 86400 - (seconds % 86400 < 0);
    int64_t rest = seconds - days * 86400, z = days + 719468;
    int64_t era = (z >= 0 ? z : z - 146096) / 146097, of_era = z - era * 146097;
    int64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    int64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    int64_t month = (5 * of_year + 2) / 153;
    civil c = {.day = (int)(of_year - (153 * month + 2) / 5 + 1),
               .month = (int)(month < 10 ? month + 3 : month - 9),
               .hour = (int)(rest / 3600),
               .minute = (int)(rest / 60 % 60),
               .second = (int)(rest % 60),
               .nanos = (long)(at % SEINE_SECS(1))};

    c.year = (int)(year + era * 400 + (c.month <= 2));
    return c;
}

clock_text
log_date_date(seine_time at, int zone)
{
    civil c = civil_of(at, zone);
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
    civil c = civil_of(at, zone);
    clock_text out;
    int n =
        snprintf(out.text, sizeof out.text, "%02d:%02d:%02d", c.hour, c.minute, c.second);
    long unit = 100000000;

    for (int i = 1; i < digits; i++)
        unit /= 10;
    if (digits > 0)
        snprintf(out.text + n, sizeof out.text - (size_t)n, ".%0*ld", digits,
                 c.nanos / unit);
    return out;
}
