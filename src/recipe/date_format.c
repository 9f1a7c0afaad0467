/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/date_format.h"

#include <string.h>

#include "seine/calendar.h"

static const char *const months[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};
static const char *const weekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};

/* The text, how far it is read, and what was found. */
typedef struct reader {
    sn_str text;
    size_t at;
    int year, month, day, of_year, hour, half, minute, second; /* -1: not yet */
    sn_moment *out;
} reader;

static void
skip_blanks(reader *r)
{
    while (r->at < r->text.len && sn_is_space(r->text.ptr[r->at]))
        r->at++;
}

/* One to `most` digits of a number from `least` to `highest`. */
static bool
read_digits(reader *r, unsigned most, int least, int highest, int *out)
{
    unsigned n = 0;
    int value = 0;

    for (; n < most && r->at < r->text.len && sn_is_digit(r->text.ptr[r->at]); n++)
        value = value * 10 + (r->text.ptr[r->at++] - '0');
    *out = value;
    return n > 0 && value >= least && value <= highest;
}

/* A name of a list, whole or its first three letters; the index, or -1. */
static int
read_name(reader *r, const char *const *names, int count)
{
    sn_str rest = sn_str_slice(r->text, r->at, r->text.len);

    for (int i = 0; i < count; i++) {
        sn_str whole = sn_str_of(names[i]), few = sn_str_slice(whole, 0, 3);
        size_t n = sn_str_starts_nocase(rest, whole) ? whole.len
                   : sn_str_starts_nocase(rest, few) ? few.len
                                                     : 0;
        if (n == 0)
            continue;
        r->at += n;
        if (n == 3 && r->at < r->text.len && r->text.ptr[r->at] == '.')
            r->at++; /* Nov. */
        return i;
    }
    return -1;
}

static bool
read_half(reader *r)
{
    sn_str rest = sn_str_slice(r->text, r->at, r->text.len);
    static const char *const words[] = {"AM", "A.M.", "PM", "P.M."};

    for (int i = 0; i < 4; i++)
        if (sn_str_starts_nocase(rest, sn_str_of(words[i]))) {
            r->half = i / 2;
            r->at += strlen(words[i]);
            return true;
        }
    return false;
}

/* Z, +0100, +01:00, +01. */
static bool
read_offset(reader *r)
{
    int hours, minutes = 0;

    r->out->has_offset = true;
    if (r->at < r->text.len && sn_lower(r->text.ptr[r->at]) == 'z') {
        r->at++;
        return true;
    }
    if (r->at >= r->text.len || !strchr("+-", r->text.ptr[r->at]))
        return false;
    int sign = r->text.ptr[r->at++] == '-' ? -1 : 1;
    if (!read_digits(r, 2, 0, 23, &hours))
        return false;
    if (r->at < r->text.len && r->text.ptr[r->at] == ':')
        r->at++;
    if (r->at < r->text.len && sn_is_digit(r->text.ptr[r->at]) &&
        !read_digits(r, 2, 0, 59, &minutes))
        return false;
    r->out->offset = sign * (hours * 3600 + minutes * 60);
    return true;
}

static bool
read_short_year(reader *r)
{
    if (!read_digits(r, 2, 0, 99, &r->year))
        return false;
    r->year += r->year < 70 ? 2000 : 1900;
    return true;
}

static bool
read_letter(reader *r, char letter)
{
    switch (letter) {
    case 'Y':
        return read_digits(r, 4, 0, 9999, &r->year);
    case 'y':
        return read_short_year(r);
    case 'm':
        return read_digits(r, 2, 1, 12, &r->month);
    case 'e':
        skip_blanks(r);
        return read_digits(r, 2, 1, 31, &r->day);
    case 'd':
        return read_digits(r, 2, 1, 31, &r->day);
    case 'b':
    case 'B':
        r->month = read_name(r, months, 12) + 1;
        return r->month > 0;
    case 'a':
    case 'A':
        return read_name(r, weekdays, 7) >= 0;
    case 'H':
        return read_digits(r, 2, 0, 23, &r->hour);
    case 'I':
        return read_digits(r, 2, 1, 12, &r->hour);
    case 'M':
        return read_digits(r, 2, 0, 59, &r->minute);
    case 'S':
        return read_digits(r, 2, 0, 59, &r->second);
    case 'p':
        return read_half(r);
    case 'j':
        return read_digits(r, 3, 1, 366, &r->of_year);
    case 'z':
        return read_offset(r);
    default:
        return r->at < r->text.len && r->text.ptr[r->at++] == '%';
    }
}

static bool
follow_format(reader *r, sn_str format)
{
    for (size_t i = 0; i < format.len; i++) {
        char c = format.ptr[i];
        if (sn_is_space(c))
            skip_blanks(r);
        else if (c == '%' && i + 1 < format.len) {
            if (!read_letter(r, format.ptr[++i]))
                return false;
        } else if (r->at >= r->text.len ||
                   sn_lower(r->text.ptr[r->at++]) != sn_lower(c)) {
            return false;
        }
    }
    skip_blanks(r);
    return r->at == r->text.len;
}

/* Puts together what was read; false: there is no such day. */
static bool
settle(const reader *r)
{
    sn_moment *m = r->out;

    m->year = r->year >= 0 ? r->year : 1970;
    m->month = r->month > 0 ? r->month : 1;
    m->day = r->day > 0 ? r->day : 1;
    if (r->of_year > 0) {
        int64_t days = seine_calendar_days(m->year, 1, r->of_year);
        seine_date d = seine_calendar_date(days * SEINE_DAY_SECONDS);
        if (d.year != m->year)
            return false;
        m->month = d.month;
        m->day = d.day;
    }
    m->hour = r->hour >= 0 ? r->hour : 0;
    if (r->half >= 0)
        m->hour = m->hour % 12 + 12 * r->half;
    m->minute = r->minute >= 0 ? r->minute : 0;
    m->second = r->second >= 0 ? r->second : 0;
    return m->day <= seine_calendar_month_days(m->year, m->month) &&
           (r->half < 0 || r->hour <= 12);
}

bool
sn_date_format_read(sn_str format, sn_str text, sn_moment *out)
{
    reader r = {text, 0, -1, -1, -1, -1, -1, -1, -1, -1, out};

    *out = (sn_moment){0};
    return follow_format(&r, format) && settle(&r);
}

static bool
has_letter(sn_str format, const char *letters)
{
    for (size_t i = 0; i + 1 < format.len; i++)
        if (format.ptr[i] == '%') {
            if (strchr(letters, format.ptr[i + 1]))
                return true;
            i++;
        }
    return false;
}

const char *
sn_date_format_check(sn_str format, sn_type type)
{
    bool day = has_letter(format, "j") ||
               (has_letter(format, "mbB") && has_letter(format, "de"));

    for (size_t i = 0; i < format.len; i++)
        if (format.ptr[i] == '%' && (++i == format.len || format.ptr[i] == '\0' ||
                                     !strchr("YymdebBaAHIMSpjz%", format.ptr[i])))
            return "it has a letter that is none of %Y %y %m %d %e %b %B %a %A %H %I %M "
                   "%S %p %j %z %%";
    if (type != SN_TYPE_TIME && !has_letter(format, "Yy"))
        return "it has no year; try %Y";
    if (type == SN_TYPE_MONTH && !has_letter(format, "mbB"))
        return "it has no month; try %m";
    if ((type == SN_TYPE_DATE || type == SN_TYPE_DATETIME) && !day)
        return "it has no month and day; try %m and %d";
    if ((type == SN_TYPE_TIME || type == SN_TYPE_DATETIME) && !has_letter(format, "HI"))
        return "it has no hour; try %H";
    if (has_letter(format, "I") && !has_letter(format, "p"))
        return "%I is an hour of twelve and needs %p; try %I:%M %p or %H:%M";
    return NULL;
}

/* Copies the text without the fraction of a second, of which ISO texts have at most one.
 */
static size_t
copy_whole_seconds(sn_str text, char *out)
{
    size_t n = 0;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != '.' || i + 1 == text.len || !sn_is_digit(text.ptr[i + 1])) {
            out[n++] = text.ptr[i];
            continue;
        }
        while (i + 1 < text.len && sn_is_digit(text.ptr[i + 1]))
            i++;
    }
    return n;
}

bool
sn_date_iso_read(sn_type type, sn_str text, sn_moment *out)
{
    static const char *const forms[][9] = {
        [SN_TYPE_DATE] = {"%Y-%m-%d", "%Y%m%d"},
        [SN_TYPE_MONTH] = {"%Y-%m"},
        [SN_TYPE_TIME] = {"%H:%M:%S", "%H:%M"},
        [SN_TYPE_DATETIME] = {"%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d %H:%M:%S%z",
                              "%Y-%m-%dT%H:%M%z", "%Y-%m-%d %H:%M%z", "%Y-%m-%dT%H:%M:%S",
                              "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M"},
    };
    char copy[64];

    if (text.len >= sizeof copy)
        return false;
    size_t n = type == SN_TYPE_DATETIME ? copy_whole_seconds(text, copy) : text.len;
    if (type != SN_TYPE_DATETIME)
        memcpy(copy, text.ptr, n);
    for (unsigned i = 0; i < 9 && forms[type][i]; i++)
        if (sn_date_format_read(sn_str_of(forms[type][i]), (sn_str){copy, n}, out))
            return true;
    return false;
}
