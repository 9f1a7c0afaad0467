/* SPDX-License-Identifier: Apache-2.0 */
#include "text/time_zone.h"

#include <string.h>

#include "seine/calendar.h"

enum { HEAD = 44, OFFSET = 6, DAY = SEINE_DAY_SECONDS, MOST_OFFSET = 26 * 3600 };

/* Big-endian numbers */

static int64_t
number_at(sn_str s, size_t at, size_t width)
{
    uint64_t n = (unsigned char)s.ptr[at] & 0x80 ? UINT64_MAX : 0;

    for (size_t i = 0; i < width; i++)
        n = n << 8 | (unsigned char)s.ptr[at + i];
    return (int64_t)n;
}

/* The six counts of a header, in the order of the file. */
typedef struct counts {
    uint64_t is_utc, is_std, leaps, times, kinds, chars;
} counts;

static bool
read_head(sn_str s, counts *out)
{
    uint64_t n[6];

    if (s.len < HEAD || memcmp(s.ptr, "TZif", 4) != 0)
        return false;
    for (size_t i = 0; i < 6; i++)
        n[i] = (uint64_t)number_at(s, 20 + 4 * i, 4) & UINT32_MAX;
    *out = (counts){n[0], n[1], n[2], n[3], n[4], n[5]};
    return true;
}

/* The bytes that follow a header. */
static uint64_t
size_of(const counts *c, uint64_t width)
{
    return c->times * (width + 1) + c->kinds * OFFSET + c->chars +
           c->leaps * (width + 4) + c->is_std + c->is_utc;
}

static bool
is_sound(const sn_time_zone *z)
{
    size_t kinds = z->offsets.len / OFFSET;

    for (size_t i = 0; i < z->kinds.len; i++)
        if ((unsigned char)z->kinds.ptr[i] >= kinds)
            return false;
    for (size_t i = 0; i < kinds; i++) {
        int64_t offset = number_at(z->offsets, i * OFFSET, 4);

        if (offset < -MOST_OFFSET || offset > MOST_OFFSET)
            return false;
    }
    for (uint32_t i = 1; i < z->count; i++)
        if (number_at(z->times, (size_t)i * z->width, z->width) <=
            number_at(z->times, (size_t)(i - 1) * z->width, z->width))
            return false;
    return kinds > 0;
}

/* Reads what follows the header; *out_rest is behind it. */
static bool
read_data(sn_time_zone *z, sn_str s, const counts *c, uint8_t width, sn_str *out_rest)
{
    uint64_t size = size_of(c, width), times = c->times * width;

    if (s.len < HEAD || s.len - HEAD < size || c->leaps > 0)
        return false;
    s = sn_str_slice(s, HEAD, s.len);
    *z = (sn_time_zone){.count = (uint32_t)c->times, .width = width};
    z->times = sn_str_slice(s, 0, times);
    z->kinds = sn_str_slice(s, times, times + c->times);
    z->offsets = sn_str_slice(s, times + c->times, times + c->times + c->kinds * OFFSET);
    *out_rest = sn_str_slice(s, size, s.len);
    return is_sound(z);
}

bool
sn_time_zone_read(sn_time_zone *z, sn_str bytes)
{
    counts c;
    sn_str rest;

    if (!read_head(bytes, &c))
        return false;
    if (bytes.ptr[4] < '2') /* version 1: times of four bytes, and no rule */
        return read_data(z, bytes, &c, 4, &rest);
    uint64_t first = HEAD + size_of(&c, 4);
    if (first > bytes.len)
        return false;
    bytes = sn_str_slice(bytes, first, bytes.len);
    if (!read_head(bytes, &c) || !read_data(z, bytes, &c, 8, &rest))
        return false;
    if (rest.len < 2 || rest.ptr[0] != '\n')
        return false;
    rest = sn_str_slice(rest, 1, rest.len);
    size_t end = sn_str_find(rest, '\n');
    if (end == rest.len)
        return false;
    if (end > 0 && !sn_zone_rule_read(&z->rule, sn_str_slice(rest, 0, end)))
        return false;
    z->has_rule = end > 0;
    return true;
}

/* Rules of POSIX */

/* A name: letters, or anything between < and >. */
static bool
skip_name(sn_str *s)
{
    size_t n = 0;

    if (s->len > 0 && s->ptr[0] == '<') {
        n = sn_str_find(*s, '>') + 1;
        if (n > s->len)
            return false;
    } else {
        while (n < s->len && sn_is_alpha(s->ptr[n]))
            n++;
        if (n < 3)
            return false;
    }
    *s = sn_str_slice(*s, n, s->len);
    return true;
}

static bool
take_char(sn_str *s, char c)
{
    if (s->len == 0 || s->ptr[0] != c)
        return false;
    *s = sn_str_slice(*s, 1, s->len);
    return true;
}

static bool
take_number(sn_str *s, int most, int *out)
{
    size_t n = 0;
    int value = 0;

    while (n < s->len && n < 4 && sn_is_digit(s->ptr[n]))
        value = value * 10 + (s->ptr[n++] - '0');
    if (n == 0 || value > most)
        return false;
    *s = sn_str_slice(*s, n, s->len);
    *out = value;
    return true;
}

/* [+-]hh[:mm[:ss]] in seconds. */
static bool
take_time(sn_str *s, int most_hours, int32_t *out)
{
    bool is_negative = take_char(s, '-');
    int hours, minutes = 0, seconds = 0;

    if (!is_negative)
        (void)take_char(s, '+');
    if (!take_number(s, most_hours, &hours))
        return false;
    if (take_char(s, ':') && !take_number(s, 59, &minutes))
        return false;
    if (take_char(s, ':') && !take_number(s, 59, &seconds))
        return false;
    int32_t all = hours * 3600 + minutes * 60 + seconds;
    *out = is_negative ? -all : all;
    return true;
}

/* Mm.w.d, Jn or n, and /time behind it. */
static bool
take_change(sn_str *s, sn_zone_change *out)
{
    int month = 0, week = 0, day;

    *out = (sn_zone_change){.form = 'N', .time = 2 * 3600};
    if (take_char(s, 'M')) {
        out->form = 'M';
        if (!take_number(s, 12, &month) || month < 1 || !take_char(s, '.') ||
            !take_number(s, 5, &week) || week < 1 || !take_char(s, '.') ||
            !take_number(s, 6, &day))
            return false;
    } else if (take_char(s, 'J')) {
        out->form = 'J';
        if (!take_number(s, 365, &day) || day < 1)
            return false;
    } else if (!take_number(s, 365, &day)) {
        return false;
    }
    out->month = (int8_t)month;
    out->week = (int8_t)week;
    out->day = (int16_t)day;
    return !take_char(s, '/') || take_time(s, 167, &out->time);
}

bool
sn_zone_rule_read(sn_zone_rule *rule, sn_str text)
{
    int32_t west;

    *rule = (sn_zone_rule){.standard = 0};
    if (!skip_name(&text) || !take_time(&text, 24, &west))
        return false;
    rule->standard = -west;
    if (text.len == 0)
        return true;
    rule->has_summer = true;
    rule->summer = rule->standard + 3600;
    if (!skip_name(&text))
        return false;
    if (text.len > 0 && text.ptr[0] != ',') {
        if (!take_time(&text, 24, &west))
            return false;
        rule->summer = -west;
    }
    return take_char(&text, ',') && take_change(&text, &rule->begin) &&
           take_char(&text, ',') && take_change(&text, &rule->end) && text.len == 0;
}

static bool
is_leap_year(int year)
{
    return seine_calendar_month_days(year, 2) == 29;
}

/* The local moment of the change in that year, by the clock before it. */
static int64_t
moment_in(const sn_zone_change *c, int year)
{
    int64_t first = seine_calendar_days(year, c->form == 'M' ? c->month : 1, 1);
    int64_t day = first + c->day;

    if (c->form == 'M') {
        int ahead = (c->day - seine_calendar_weekday(first) + 7) % 7 + 7 * (c->week - 1);

        if (ahead >= seine_calendar_month_days(year, c->month))
            ahead -= 7; /* week 5 is the last one */
        day = first + ahead;
    } else if (c->form == 'J') {
        day -= !(is_leap_year(year) && c->day >= 60);
    }
    return day * DAY + c->time;
}

/* Finding */

/* The local time from which on the later offset holds: where the gap or the hour that
 * comes twice begins. */
static int64_t
begin_of(int64_t moment, int64_t before, int64_t after)
{
    return moment + (before < after ? before : after);
}

/* The calendar and its weekdays come again after 400 years: any moment has a year that
 * can be counted with. */
static int64_t
in_first_400_years(int64_t local)
{
    const int64_t span = 146097 * (int64_t)DAY;

    return local % span + (local < 0 ? span : 0);
}

static int32_t
offset_by_rule(const sn_zone_rule *r, int64_t local)
{
    local = in_first_400_years(local);
    int year = seine_calendar_date(local).year;
    int32_t offset = r->standard;
    int64_t latest = INT64_MIN;

    if (!r->has_summer)
        return offset;
    for (int y = year - 1; y <= year + 1; y++) {
        int64_t moments[] = {moment_in(&r->begin, y) - r->standard,
                             moment_in(&r->end, y) - r->summer};

        for (int i = 0; i < 2; i++) {
            int64_t begin = begin_of(moments[i], r->standard, r->summer);

            if (begin > local || begin < latest)
                continue;
            latest = begin;
            offset = i == 0 ? r->summer : r->standard;
        }
    }
    return offset;
}

/* The offset after change `i`; -1: before the first one. */
static int32_t
offset_after(const sn_time_zone *z, int64_t i)
{
    size_t kind = i < 0 ? 0 : (unsigned char)z->kinds.ptr[i];

    return (int32_t)number_at(z->offsets, kind * OFFSET, 4);
}

static int64_t
begin_of_change(const sn_time_zone *z, int64_t i)
{
    int64_t moment = number_at(z->times, (size_t)i * z->width, z->width);

    if (moment < INT64_MIN + MOST_OFFSET)
        return INT64_MIN; /* "always" */
    if (moment > INT64_MAX - MOST_OFFSET)
        return INT64_MAX;
    return begin_of(moment, offset_after(z, i - 1), offset_after(z, i));
}

int32_t
sn_time_zone_offset(const sn_time_zone *z, int64_t local)
{
    int64_t from = -1, to = z->count; /* the last change that is not after `local` */

    while (to - from > 1) {
        int64_t mid = (from + to) / 2;

        if (begin_of_change(z, mid) <= local)
            from = mid;
        else
            to = mid;
    }
    if (z->has_rule && from == (int64_t)z->count - 1)
        return offset_by_rule(&z->rule, local);
    return offset_after(z, from);
}
