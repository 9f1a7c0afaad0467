/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "net/cookie.h"
#include "seine/calendar.h"

static bool
is_delimiter(char c)
{
    return c == '\t' || (c >= ' ' && c <= '/') || (c >= ';' && c <= '@') ||
           (c >= '[' && c <= '`') || (c >= '{' && c <= '~');
}

/* Reads `min` to `max` digits; false if another digit follows. */
static bool
read_digits(sn_str *s, size_t min, size_t max, int *out_n)
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

/* Reads 8:04:19; anything but a digit may follow. */
static bool
clock_face(sn_str s, seine_date *f)
{
    int hour, minute, second;

    if (!read_digits(&s, 1, 2, &hour) || !colon(&s) || !read_digits(&s, 1, 2, &minute) ||
        !colon(&s) || !read_digits(&s, 1, 2, &second))
        return false;
    f->hour = hour;
    f->minute = minute;
    f->second = second;
    return true;
}

static bool
month(sn_str s, int *out_month)
{
    for (int i = 1; s.len >= 3 && i <= 12; i++)
        if (sn_str_eq_nocase((sn_str){s.ptr, 3},
                             (sn_str){seine_calendar_month_name(i), 3})) {
            *out_month = i;
            return true;
        }
    return false;
}

/* Reads the word as the first part of a date that fits and is still missing. */
static void
take_word(sn_str word, seine_date *f)
{
    sn_str s = word;

    if (f->hour < 0 && clock_face(word, f))
        return;
    if (f->day < 0 && read_digits(&s, 1, 2, &f->day))
        return;
    if (f->month < 0 && month(word, &f->month))
        return;
    s = word;
    if (f->year < 0)
        read_digits(&s, 2, 4, &f->year);
}

bool
sn_cookie_date(sn_str text, int64_t *out_epoch)
{
    seine_date f = {-1, -1, -1, -1, -1, -1}; /* -1: not found yet */

    for (size_t i = 0, from; i < text.len;) {
        while (i < text.len && is_delimiter(text.ptr[i]))
            i++;
        for (from = i; i < text.len && !is_delimiter(text.ptr[i]);)
            i++;
        if (i > from)
            take_word(sn_str_slice(text, from, i), &f);
    }
    if (f.year >= 70 && f.year <= 99)
        f.year += 1900;
    else if (f.year >= 0 && f.year <= 69)
        f.year += 2000;
    if (f.hour < 0 || f.day < 1 || f.month < 0 || f.year < 1601 || f.hour > 23 ||
        f.minute > 59 || f.second > 59 ||
        f.day > seine_calendar_month_days(f.year, f.month))
        return false;
    *out_epoch = seine_calendar_seconds(&f);
    return true;
}
