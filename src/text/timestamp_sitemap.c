/* SPDX-License-Identifier: Apache-2.0 */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "seine/calendar.h"
#include "seine/time.h"
#include "seine/timestamp.h"

enum { LONGEST = 64 };

/* Reads 2026-11-03T18:00:15 and a zone, and nothing behind it. */
static bool
read_whole(const char *text, int64_t *out)
{
    seine_timestamp t;
    const char *end = seine_timestamp_rfc3339(text, &t);

    if (!end || *end)
        return false;
    *out = t.wall;
    return true;
}

/* The first moment of a month and the first behind it, `months` later. */
static bool
read_months(int year, int month, int months, int64_t *from, int64_t *until)
{
    seine_date first = {year, month, 1, 0, 0, 0};
    seine_date next = {year, month + months, 1, 0, 0, 0};

    if (year < 1970 || year > 2261 || month < 1 || month > 12)
        return false;
    next.year += next.month > 12;
    next.month -= next.month > 12 ? 12 : 0;
    *from = SEINE_SECS(seine_calendar_seconds(&first));
    *until = SEINE_SECS(seine_calendar_seconds(&next));
    return true;
}

/* Reads blanks, then one to `most` digits. NULL: there are none, or p is NULL. */
static const char *
read_number(const char *p, int most, int *out)
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

/* Reads "2026", "2026-11" or "2026-11-03". */
static bool
read_date(const char *text, size_t n, int64_t *from, int64_t *until)
{
    char day[LONGEST + 16];
    int year = 0, month = 0;

    read_number(text, 4, &year);
    read_number(n > 4 ? text + 5 : NULL, 2, &month);
    if (n == 4)
        return read_months(year, 1, 12, from, until);
    if (n == 7)
        return read_months(year, month, 1, from, until);
    snprintf(day, sizeof day, "%sT00:00:00Z", text);
    if (!read_whole(day, from))
        return false;
    *until = *from + SEINE_SECS(SEINE_DAY_SECONDS);
    return true;
}

/* Whether the text has a digit where the pattern has 0, and else the same bytes. */
static bool
looks_like(const char *text, size_t n, const char *pattern)
{
    for (size_t i = 0; i < n; i++)
        if (pattern[i] == '0' ? !isdigit((unsigned char)text[i]) : text[i] != pattern[i])
            return false;
    return true;
}

static bool
read_iso(const char *text, size_t n, int64_t *from, int64_t *until)
{
    char full[LONGEST + 8];

    if ((n == 4 || n == 7 || n == 10) && looks_like(text, n, "0000-00-00"))
        return read_date(text, n, from, until);
    if (n < 16 || n >= LONGEST || !looks_like(text, 10, "0000-00-00"))
        return false;
    if (text[16] == ':') {
        *until = text[19] == '.' ? 1 : SEINE_SECS(1);
        snprintf(full, sizeof full, "%s", text);
    } else { /* the profile of the W3C allows dates without seconds */
        *until = SEINE_SECS(60);
        snprintf(full, sizeof full, "%.16s:00%s", text, text + 16);
    }
    if (!read_whole(full, from))
        return false;
    *until += *from;
    return true;
}

/* The offset of "EST" and the other zones of RFC 822, 5.1; an offset is returned as it
 * is. */
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

/* Reads blanks and a month, "Nov". NULL: there is none, or p is NULL. */
static const char *
read_month(const char *p, int *out)
{
    if (!p)
        return NULL;
    p += strspn(p, " ");
    for (*out = 1; *out <= 12; ++*out)
        if (strncmp(p, seine_calendar_month_name(*out), 3) == 0)
            return p + 3;
    return NULL;
}

/* Reads "Mon, 03 Nov 2026 18:00:15 +0100"; the weekday and the seconds may be missing. */
static bool
read_rfc822(const char *text, int64_t *from, int64_t *until)
{
    int day = 0, month = 0, year = 0, hour = 0, minute = 0, second = 0;
    const char *comma = strchr(text, ',');
    char full[LONGEST + 32];

    text = read_number(comma ? comma + 1 : text, 2, &day);
    text = read_number(read_month(text, &month), 4, &year);
    text = read_number(text, 2, &hour);
    text = read_number(text && *text == ':' ? text + 1 : NULL, 2, &minute);
    if (text && *text == ':')
        text = read_number(text + 1, 2, &second);
    if (!text)
        return false;
    snprintf(full, sizeof full, "%04d-%02d-%02dT%02d:%02d:%02d%s", year, month, day, hour,
             minute, second, find_zone(text + strspn(text, " ")));
    if (!read_whole(full, from))
        return false;
    *until = *from + SEINE_SECS(1);
    return true;
}

bool
seine_timestamp_sitemap(const char *text, size_t n, int64_t *out_from, int64_t *out_until)
{
    char copy[LONGEST] = "";
    int64_t from, until;

    if (n >= sizeof copy || (n > 0 && memchr(text, '\0', n)))
        return false;
    if (n > 0)
        memcpy(copy, text, n);
    if (!read_iso(copy, n, &from, &until) && !read_rfc822(copy, &from, &until))
        return false;
    *out_from = from;
    *out_until = until;
    return true;
}
