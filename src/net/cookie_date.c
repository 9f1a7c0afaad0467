/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "net/cookie.h"

/* What was found so far; -1: not yet. */
typedef struct found {
    int hour, minute, second, day, month, year;
} found;

static bool
is_delimiter(char c)
{
    return c == '\t' || (c >= ' ' && c <= '/') || (c >= ';' && c <= '@') ||
           (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/* `min` to `max` digits and no more of them behind. */
static bool
digits(sn_str *s, size_t min, size_t max, int *out_n)
{
    size_t n = 0;
    int value = 0;

    while (n < s->len && sn_is_digit(s->ptr[n])) {
        if (n == max)
            return false;
        value = value * 10 + (s->ptr[n++] - '0');
    }
    if (n < min)
        return false;
    *s = sn_str_slice(*s, n, s->len);
    *out_n = value;
    return true;
}

static bool
colon(sn_str *s)
{
    if (s->len == 0 || s->ptr[0] != ':')
        return false;
    *s = sn_str_slice(*s, 1, s->len);
    return true;
}

/* 8:04:19, and anything behind it but a digit. */
static bool
clock_face(sn_str s, found *f)
{
    int hour, minute, second;

    if (!digits(&s, 1, 2, &hour) || !colon(&s) || !digits(&s, 1, 2, &minute) ||
        !colon(&s) || !digits(&s, 1, 2, &second))
        return false;
    f->hour = hour;
    f->minute = minute;
    f->second = second;
    return true;
}

static bool
month(sn_str s, int *out_month)
{
    static const char names[] = "janfebmaraprmayjunjulaugsepoctnovdec";

    for (int i = 0; s.len >= 3 && i < 12; i++)
        if (sn_str_eq_nocase((sn_str){s.ptr, 3}, (sn_str){names + 3 * i, 3})) {
            *out_month = i + 1;
            return true;
        }
    return false;
}

/* The first rule that a word fits and that nothing has fitted before. */
static void
take(sn_str word, found *f)
{
    sn_str s = word;

    if (f->hour < 0 && clock_face(word, f))
        return;
    if (f->day < 0 && digits(&s, 1, 2, &f->day))
        return;
    if (f->month < 0 && month(word, &f->month))
        return;
    s = word;
    if (f->year < 0)
        digits(&s, 2, 4, &f->year);
}

static int
days_of(int month_, int year)
{
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);

    return days[month_ - 1] + (month_ == 2 && leap);
}

/* Days from 1970-01-01; the year begins in March here, its leap day is the last. */
static int64_t
days_since_1970(int year, int month_, int day)
{
    int64_t y = year - (month_ <= 2);
    int64_t m = (month_ + 9) % 12;

    return y * 365 + y / 4 - y / 100 + y / 400 + (m * 306 + 5) / 10 + day - 1 - 719468;
}

bool
sn_cookie_date(sn_str text, int64_t *out_epoch)
{
    found f = {-1, -1, -1, -1, -1, -1};

    for (size_t i = 0, from; i < text.len;) {
        while (i < text.len && is_delimiter(text.ptr[i]))
            i++;
        for (from = i; i < text.len && !is_delimiter(text.ptr[i]);)
            i++;
        if (i > from)
            take(sn_str_slice(text, from, i), &f);
    }
    if (f.year >= 70 && f.year <= 99)
        f.year += 1900;
    else if (f.year >= 0 && f.year <= 69)
        f.year += 2000;
    if (f.hour < 0 || f.day < 1 || f.month < 0 || f.year < 1601 || f.hour > 23 ||
        f.minute > 59 || f.second > 59 || f.day > days_of(f.month, f.year))
        return false;
    *out_epoch = days_since_1970(f.year, f.month, f.day) * 86400 + f.hour * 3600 +
                 f.minute * 60 + f.second;
    return true;
}
