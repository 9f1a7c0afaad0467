/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of expressions on dates, which are texts: 2026-11, 2026-11-17 or a moment
 * of RFC 3339; and `format`, which knows numbers, too. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "seine/calendar.h"
#include "seine/timestamp.h"
#include "seine/units.h"
#include "text/expr_parts.h"

#define SECOND INT64_C(1000000000)
#define DAY    (SEINE_DAY_SECONDS * SECOND)

enum { DATE_MOST = 48, FORMAT_MOST = 256, WIDTH_MOST = 32 };

static const sn_expr_value null_value;

typedef struct moment {
    int64_t local;  /* seconds, as if the local time were UTC */
    int64_t nanos;  /* of the second */
    int64_t offset; /* seconds east of UTC */
    bool is_date;   /* without a time of day */
} moment;

/* `n` digits at `at`; -1: something else. */
static int
digits(sn_str s, size_t at, size_t n)
{
    int value = 0;

    if (at + n > s.len)
        return -1;
    for (size_t i = at; i < at + n; i++) {
        if (!sn_is_digit(s.ptr[i]))
            return -1;
        value = value * 10 + (s.ptr[i] - '0');
    }
    return value;
}

/* YYYY-MM, YYYY-MM-DD. */
static bool
read_date(sn_str s, moment *out)
{
    int year = digits(s, 0, 4), month = digits(s, 5, 2);
    int day = s.len == 7 ? 1 : digits(s, 8, 2);

    if ((s.len != 7 && s.len != 10) || year < 0 || s.ptr[4] != '-' || month < 1 ||
        month > 12 || (s.len == 10 && s.ptr[7] != '-') || day < 1 ||
        day > seine_calendar_month_days(year, month))
        return false;
    *out = (moment){.local = seine_calendar_days(year, month, day) * SEINE_DAY_SECONDS,
                    .is_date = true};
    return true;
}

static bool
read_moment(sn_str s, moment *out)
{
    char text[DATE_MOST];
    seine_timestamp t;

    if (read_date(s, out))
        return true;
    if (s.len == 0 || s.len >= sizeof text)
        return false;
    memcpy(text, s.ptr, s.len);
    text[s.len] = '\0';
    const char *end = seine_timestamp_rfc3339(text, &t);
    if (!end || *end != '\0' || end != text + s.len)
        return false;
    int64_t nanos = (t.wall % SECOND + SECOND) % SECOND;
    *out = (moment){(t.wall - nanos) / SECOND + t.zone * 60, nanos, t.zone * 60, false};
    return true;
}

static sn_expr_value
keep(sn_expr_runner *r, const char *text, size_t n)
{
    char *to = sn_expr_room(r, n);

    if (!to)
        return null_value;
    memcpy(to, text, n);
    return sn_expr_text((sn_str){to, n});
}

static bool
is_year(int year)
{
    return year >= 0 && year <= 9999;
}

static size_t
print_date(const seine_date *d, char out[DATE_MOST])
{
    return (size_t)snprintf(out, DATE_MOST, "%04d-%02d-%02d", d->year, d->month, d->day);
}

/* "Z" or "+01:00". */
static size_t
print_offset(int64_t offset, char *out, size_t cap)
{
    int64_t minutes = (offset < 0 ? -offset : offset) / 60;

    if (offset == 0)
        return (size_t)snprintf(out, cap, "Z");
    return (size_t)snprintf(out, cap, "%c%02" PRId64 ":%02" PRId64,
                            offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

static size_t
print_fraction(int64_t nanos, char *out, size_t cap)
{
    if (nanos == 0)
        return 0;
    size_t n = (size_t)snprintf(out, cap, ".%09" PRId64, nanos);
    while (out[n - 1] == '0')
        n--;
    return n;
}

static sn_expr_value
date_value(sn_expr_runner *r, const moment *m)
{
    seine_date d = seine_calendar_date(m->local);
    char text[DATE_MOST];

    if (!is_year(d.year))
        return null_value;
    size_t n = print_date(&d, text);
    if (m->is_date)
        return keep(r, text, n);
    n += (size_t)snprintf(text + n, sizeof text - n, "T%02d:%02d:%02d", d.hour, d.minute,
                          d.second);
    n += print_fraction(m->nanos, text + n, sizeof text - n);
    n += print_offset(m->offset, text + n, sizeof text - n);
    return keep(r, text, n);
}

/* A date stays a date: it takes whole days only. */
static sn_expr_value
add(sn_expr_runner *r, moment m, sn_str amount)
{
    bool is_back = sn_str_starts(amount, SN_STR("-"));
    char text[DATE_MOST];
    seine_span span;

    amount = sn_str_slice(amount, is_back, amount.len);
    if (amount.len == 0 || amount.len >= sizeof text)
        return null_value;
    memcpy(text, amount.ptr, amount.len);
    text[amount.len] = '\0';
    if (strlen(text) != amount.len || seine_units_span(text, &span) ||
        (m.is_date && span % DAY != 0))
        return null_value;
    int64_t nanos = m.nanos + (is_back ? -span : span);
    m.local += nanos / SECOND - (nanos % SECOND < 0);
    m.nanos = nanos % SECOND + (nanos % SECOND < 0 ? SECOND : 0);
    return date_value(r, &m);
}

static sn_expr_value
difference(const moment *a, const moment *b, double unit)
{
    double seconds = (double)((b->local - b->offset) - (a->local - a->offset));

    return sn_expr_number((seconds + (double)(b->nanos - a->nanos) / 1e9) / unit);
}

/* HH:MM or HH:MM:SS; -1: not a time. */
static int
time_of_day(sn_str s)
{
    int hour = digits(s, 0, 2), minute = digits(s, 3, 2);
    int second = s.len == 5 ? 0 : digits(s, 6, 2);

    if ((s.len != 5 && s.len != 8) || hour < 0 || hour > 23 || s.ptr[2] != ':' ||
        minute < 0 || minute > 59 || (s.len == 8 && s.ptr[5] != ':') || second < 0 ||
        second > 59)
        return -1;
    return hour * 3600 + minute * 60 + second;
}

/* UTC, Z, +01:00. */
static bool
read_offset(sn_str zone, int64_t *out_offset)
{
    int hours = digits(zone, 1, 2), minutes = digits(zone, 4, 2);

    *out_offset = 0;
    if (sn_str_eq(zone, SN_STR("UTC")) || sn_str_eq(zone, SN_STR("Z")))
        return true;
    if (zone.len == 6 && (zone.ptr[0] == '+' || zone.ptr[0] == '-') && hours >= 0 &&
        hours < 24 && zone.ptr[3] == ':' && minutes >= 0 && minutes < 60) {
        *out_offset = (hours * 3600 + minutes * 60) * (zone.ptr[0] == '-' ? -1 : 1);
        return true;
    }
    return false;
}

bool
sn_expr_is_offset(sn_str zone)
{
    int64_t offset;

    return read_offset(zone, &offset);
}

/* What is written, or what the source knows of a name. */
static bool
find_offset(const sn_expr_runner *r, sn_str zone, int64_t local, int64_t *out_offset)
{
    return read_offset(zone, out_offset) ||
           (r->source && r->source->zone &&
            r->source->zone(r->source->arg, zone, local, out_offset));
}

static sn_expr_value
at(sn_expr_runner *r, moment m, sn_str time, sn_str zone)
{
    int seconds = time_of_day(time);
    int64_t day =
        m.local - ((m.local % SEINE_DAY_SECONDS) + SEINE_DAY_SECONDS) % SEINE_DAY_SECONDS;

    m = (moment){.local = day + seconds};
    if (seconds < 0 || !find_offset(r, zone, m.local, &m.offset) || m.offset <= -360000 ||
        m.offset >= 360000)
        return null_value;
    int64_t odd = m.offset % 60; /* before 1972 offsets had seconds, RFC 3339 has none */
    m.offset -= odd;
    m.local -= odd;
    return date_value(r, &m);
}

static const char *const weekdays[] = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                       "Thursday", "Friday", "Saturday"};
static const char *const months[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};

/* One letter of strftime; 0: there is no such. */
static size_t
print_letter(const moment *m, char letter, char *out, size_t cap)
{
    seine_date d = seine_calendar_date(m->local);
    int64_t days = seine_calendar_days(d.year, d.month, d.day);
    const char *weekday = weekdays[seine_calendar_weekday(days)];
    const char *month = months[d.month - 1];
    int64_t of_year = days - seine_calendar_days(d.year, 1, 1) + 1;

    switch (letter) {
    case 'Y':
        return (size_t)snprintf(out, cap, "%04d", d.year);
    case 'y':
        return (size_t)snprintf(out, cap, "%02d", d.year % 100);
    case 'm':
        return (size_t)snprintf(out, cap, "%02d", d.month);
    case 'd':
        return (size_t)snprintf(out, cap, "%02d", d.day);
    case 'e':
        return (size_t)snprintf(out, cap, "%2d", d.day);
    case 'b':
        return (size_t)snprintf(out, cap, "%.3s", month);
    case 'B':
        return (size_t)snprintf(out, cap, "%s", month);
    case 'a':
        return (size_t)snprintf(out, cap, "%.3s", weekday);
    case 'A':
        return (size_t)snprintf(out, cap, "%s", weekday);
    case 'H':
        return (size_t)snprintf(out, cap, "%02d", d.hour);
    case 'I':
        return (size_t)snprintf(out, cap, "%02d", (d.hour + 11) % 12 + 1);
    case 'M':
        return (size_t)snprintf(out, cap, "%02d", d.minute);
    case 'S':
        return (size_t)snprintf(out, cap, "%02d", d.second);
    case 'p':
        return (size_t)snprintf(out, cap, "%s", d.hour < 12 ? "AM" : "PM");
    case 'j':
        return (size_t)snprintf(out, cap, "%03" PRId64, of_year);
    case 'z':
        return (size_t)snprintf(out, cap, "%c%02" PRId64 "%02" PRId64,
                                m->offset < 0 ? '-' : '+',
                                (m->offset < 0 ? -m->offset : m->offset) / 3600,
                                (m->offset < 0 ? -m->offset : m->offset) / 60 % 60);
    default:
        return 0;
    }
}

typedef struct number_format {
    unsigned width, places;
    bool zeros, is_fixed; /* 005; 1.50 rather than 2 */
    size_t len;           /* bytes of the format */
} number_format;

/* What follows a %: [0][WIDTH]d or [0][WIDTH][.PLACES]f. */
static bool
read_number_format(sn_str s, number_format *out)
{
    size_t i = 0;

    *out = (number_format){.zeros = s.len > 0 && s.ptr[0] == '0'};
    for (; i < s.len && i < 4 && sn_is_digit(s.ptr[i]); i++)
        out->width = out->width * 10 + (unsigned)(s.ptr[i] - '0');
    if (i + 1 < s.len && s.ptr[i] == '.' && sn_is_digit(s.ptr[i + 1])) {
        out->places = (unsigned)(s.ptr[i + 1] - '0');
        i += 2;
    }
    if (i == s.len || (s.ptr[i] != 'd' && s.ptr[i] != 'f') || out->width > WIDTH_MOST)
        return false;
    out->is_fixed = s.ptr[i] == 'f';
    out->len = i + 1;
    return out->is_fixed || out->places == 0;
}

/* Goes over whole numbers, so that no locale plays a part. False: too large. */
static bool
print_number(double n, const number_format *f, char *out, size_t cap, size_t *out_len)
{
    char text[DATE_MOST];
    double scaled = fabs(n);

    for (unsigned i = 0; i < f->places; i++)
        scaled *= 10;
    if (scaled >= 9007199254740992.0)
        return false;
    size_t len = sn_decimal_text((int64_t)llround(scaled), f->places, text);
    size_t point = sn_str_find((sn_str){text, len}, '.');
    if (f->places > 0) { /* brings back the zeros that the shortest form leaves out */
        if (point == len)
            text[len++] = '.';
        while (len - point - 1 < f->places)
            text[len++] = '0';
    }
    bool is_negative = n < 0 && llround(scaled) != 0;
    size_t whole = len + is_negative, pad = f->width > whole ? f->width - whole : 0;
    *out_len = (size_t)snprintf(out, cap, "%*s%s%.*s%.*s", f->zeros ? 0 : (int)pad, "",
                                is_negative ? "-" : "", f->zeros ? (int)pad : 0,
                                "00000000000000000000000000000000", (int)len, text);
    return true;
}

/* Writes one %-part at the beginning of `s` for `v`; 0: there is none such for this
 * value. Returns the bytes of the format. */
static size_t
print_part(sn_str s, const sn_expr_value *v, const moment *m, char *out, size_t cap,
           size_t *out_len)
{
    number_format f;

    if (s.ptr[0] == '%') {
        *out_len = (size_t)snprintf(out, cap, "%%");
        return 1;
    }
    if (m) {
        *out_len = print_letter(m, s.ptr[0], out, cap);
        return *out_len > 0;
    }
    if (!v || !read_number_format(s, &f) ||
        !print_number(v->number, &f, out, cap, out_len))
        return 0;
    return f.len;
}

/* Writes `format` for a date or a number; false: one of its parts is wrong. */
static bool
print_format(sn_str format, const sn_expr_value *v, const moment *m, sn_buf *out)
{
    char part[64];

    for (size_t i = 0; i < format.len; i++) {
        if (format.ptr[i] != '%') {
            sn_buf_char(out, format.ptr[i]);
            continue;
        }
        sn_str rest = sn_str_slice(format, i + 1, format.len);
        size_t len = 0;
        size_t n = rest.len > 0 ? print_part(rest, v, m, part, sizeof part, &len) : 0;
        if (n == 0 || len >= sizeof part)
            return false;
        sn_buf_add(out, part, len);
        i += n;
    }
    return true;
}

bool
sn_expr_is_format(sn_str format)
{
    sn_expr_value one = sn_expr_number(1);
    moment m = {0};
    sn_buf out;

    if (format.len > FORMAT_MOST)
        return false;
    sn_buf_init(&out, 64 * FORMAT_MOST);
    bool is =
        print_format(format, NULL, &m, &out) || print_format(format, &one, NULL, &out);
    sn_buf_fini(&out);
    return is;
}

static sn_expr_value
format_value(sn_expr_runner *r, const sn_expr_value *v, sn_str format)
{
    bool is_number = v->type == SN_EXPR_NUMBER;
    sn_expr_value made = null_value;
    moment m;
    sn_buf out;

    if (format.len > FORMAT_MOST || (!is_number && !read_moment(v->text, &m)))
        return null_value;
    sn_buf_init(&out, 64 * FORMAT_MOST);
    if (print_format(format, v, is_number ? NULL : &m, &out)) {
        if (sn_buf_done(&out) == SEINE_OK)
            made = keep(r, out.len > 0 ? out.ptr : "", out.len);
        else
            r->err = SEINE_E_NOMEM;
    }
    sn_buf_fini(&out);
    return made;
}

sn_expr_value
sn_expr_call_date(sn_expr_runner *r, sn_expr_fn fn, const sn_expr_value *arg,
                  size_t count)
{
    moment a, b;

    if (fn == SN_EXPR_FN_FORMAT)
        return format_value(r, &arg[0], arg[1].text);
    if (!read_moment(arg[0].text, &a))
        return null_value;
    switch (fn) {
    case SN_EXPR_FN_DATE:
        a.is_date = true;
        return date_value(r, &a);
    case SN_EXPR_FN_ADD:
        return add(r, a, arg[1].text);
    case SN_EXPR_FN_AT:
        return at(r, a, arg[1].text, count > 2 ? arg[2].text : SN_STR("UTC"));
    default:
        if (!read_moment(arg[1].text, &b))
            return null_value;
        return difference(&a, &b, fn == SN_EXPR_FN_DAYS ? SEINE_DAY_SECONDS : 3600);
    }
}
