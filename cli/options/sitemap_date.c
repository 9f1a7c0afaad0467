/* SPDX-License-Identifier: Apache-2.0 */
#include "options/sitemap_date.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <seine/calendar.h>

#include "sim/log_date.h"

enum { LONGEST = 64 };

/* 2026-11-03T18:00:15 and a zone; all of it. */
static bool
whole(const char *text, seine_time *out)
{
    log_date m = {0};
    const char *end = log_date_rfc3339(text, &m);

    if (!end || *end)
        return false;
    *out = m.at;
    return true;
}

static bool
month_at(int year, int month, seine_time *out)
{
    char text[LONGEST];

    snprintf(text, sizeof text, "%04d-%02d-01T00:00:00Z", year + (month > 12),
             month > 12 ? month - 12 : month);
    return whole(text, out);
}

/* Blanks, then one to `most` digits; NULL: there are none, or p is NULL. */
static const char *
number(const char *p, int most, int *out)
{
    *out = 0;
    if (!p)
        return NULL;
    p += strspn(p, " ");
    const char *first = p;
    for (; p - first < most && isdigit((unsigned char)*p); p++)
        *out = 10 * *out + (*p - '0');
    return p > first ? p : NULL;
}

/* "2026", "2026-11", "2026-11-03" */
static bool
date(const char *text, size_t n, seine_time *from, seine_time *until)
{
    char day[LONGEST + 16];
    int year = 0, month = 0;

    number(text, 4, &year);
    number(n > 4 ? text + 5 : NULL, 2, &month);
    if (n == 4)
        return month_at(year, 1, from) && month_at(year, 13, until);
    if (n == 7)
        return month_at(year, month, from) && month_at(year, month + 1, until);
    snprintf(day, sizeof day, "%sT00:00:00Z", text);
    if (!whole(day, from))
        return false;
    *until = *from + SEINE_SECS(SEINE_DAY_SECONDS);
    return true;
}

/* Digits where the pattern has 0, and its own marks. */
static bool
looks_like(const char *text, size_t n, const char *pattern)
{
    for (size_t i = 0; i < n; i++)
        if (pattern[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != pattern[i])
            return false;
    return true;
}

static bool
iso(const char *text, size_t n, seine_time *from, seine_time *until)
{
    char full[LONGEST + 8];

    if ((n == 4 || n == 7 || n == 10) && looks_like(text, n, "0000-00-00"))
        return date(text, n, from, until);
    if (n < 16 || n >= LONGEST || !looks_like(text, 10, "0000-00-00"))
        return false;
    if (text[16] == ':') {
        *until = text[19] == '.' ? 1 : SEINE_SECS(1);
        snprintf(full, sizeof full, "%s", text);
    } else { /* the W3C lets one leave out the seconds */
        *until = SEINE_SECS(60);
        snprintf(full, sizeof full, "%.16s:00%s", text, text + 16);
    }
    if (!whole(full, from))
        return false;
    *until += *from;
    return true;
}

/* "EST" and its kind (RFC 822, 5.1); an offset stands for itself. */
static const char *
find_zone(const char *word)
{
    static const char *const zones[][2] = {
        {"GMT", "Z"},      {"UT", "Z"},       {"UTC", "Z"},      {"Z", "Z"},
        {"EST", "-05:00"}, {"EDT", "-04:00"}, {"CST", "-06:00"}, {"CDT", "-05:00"},
        {"MST", "-07:00"}, {"MDT", "-06:00"}, {"PST", "-08:00"}, {"PDT", "-07:00"},
    };

    for (size_t i = 0; i < sizeof zones / sizeof *zones; i++)
        if (strcmp(word, zones[i][0]) == 0)
            return zones[i][1];
    return *word ? word : "Z";
}

/* Blanks and a month, "Nov"; NULL: there is none, or p is NULL. */
static const char *
month_name(const char *p, int *out)
{
    if (!p)
        return NULL;
    p += strspn(p, " ");
    for (*out = 1; *out <= 12; ++*out)
        if (strncmp(p, seine_calendar_month_name(*out), 3) == 0)
            return p + 3;
    return NULL;
}

/* "Mon, 03 Nov 2026 18:00:15 +0100"; the day of the week and the seconds may be missing.
 */
static bool
mail(const char *text, seine_time *from, seine_time *until)
{
    int day = 0, month = 0, year = 0, hour = 0, minute = 0, second = 0;
    const char *comma = strchr(text, ',');
    char full[LONGEST + 32];

    text = number(comma ? comma + 1 : text, 2, &day);
    text = number(month_name(text, &month), 4, &year);
    text = number(text, 2, &hour);
    text = number(text && *text == ':' ? text + 1 : NULL, 2, &minute);
    if (text && *text == ':')
        text = number(text + 1, 2, &second);
    if (!text)
        return false;
    snprintf(full, sizeof full, "%04d-%02d-%02dT%02d:%02d:%02d%s", year, month, day, hour,
             minute, second, find_zone(text + strspn(text, " ")));
    if (!whole(full, from))
        return false;
    *until = *from + SEINE_SECS(1);
    return true;
}

bool
sitemap_date_read(const char *text, size_t n, seine_time *out_from, seine_time *out_until)
{
    char copy[LONGEST] = "";
    seine_time from, until;

    if (n >= sizeof copy || (n > 0 && memchr(text, '\0', n)))
        return false;
    memcpy(copy, text, n);
    if (!iso(copy, n, &from, &until) && !mail(copy, &from, &until))
        return false;
    *out_from = from;
    *out_until = until;
    return true;
}
