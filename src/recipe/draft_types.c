/* SPDX-License-Identifier: Apache-2.0 */
/* Of what type are these values? The readers of the recipe language decide. */
#include <string.h>

#include "recipe/draft_try.h"

enum { MOST_VALUE = 64 }; /* a longer text is neither a number nor a date */

typedef struct trial {
    sn_type type;
    const char *format;
    char decimal;
} trial;

static const trial trials[] = {
    {SN_TYPE_INT, NULL, 0},
    {SN_TYPE_NUMBER, NULL, 0},
    {SN_TYPE_NUMBER, NULL, ','},
    {SN_TYPE_MONEY, NULL, 0},
    {SN_TYPE_MONEY, NULL, ','},
    {SN_TYPE_BOOL, NULL, 0},
    {SN_TYPE_DATE, NULL, 0},
    {SN_TYPE_DATETIME, NULL, 0},
    {SN_TYPE_DATE, "%d %B %Y", 0},
    {SN_TYPE_DATE, "%e %B %Y", 0},
    {SN_TYPE_DATE, "%B %e, %Y", 0},
    {SN_TYPE_DATE, "%B %d, %Y", 0},
    {SN_TYPE_DATE, "%A %d %B %Y", 0},
    {SN_TYPE_DATE, "%A, %B %e, %Y", 0},
    {SN_TYPE_DATE, "%a %e %B %Y", 0},
    {SN_TYPE_DATE, "%d-%b-%Y", 0},
    {SN_TYPE_DATE, "%d.%m.%Y", 0},
    {SN_TYPE_DATE, "%Y/%m/%d", 0},
    {SN_TYPE_DATE, "%d/%m/%Y", 0},
    {SN_TYPE_DATE, "%m/%d/%Y", 0},
    {SN_TYPE_DATETIME, "%a, %d %b %Y %H:%M:%S %z", 0},
    {SN_TYPE_DATETIME, "%a, %d %b %Y %H:%M:%S GMT", 0},
    {SN_TYPE_DATETIME, "%Y-%m-%d %H:%M:%S", 0},
    {SN_TYPE_DATETIME, "%Y-%m-%d %H:%M", 0},
    {SN_TYPE_MONTH, NULL, 0},
    {SN_TYPE_MONTH, "%B %Y", 0},
    {SN_TYPE_TIME, NULL, 0},
    {SN_TYPE_TIME, "%I:%M %p", 0},
    {SN_TYPE_EMAIL, NULL, 0},
};

static bool
is_zero_led(sn_str s)
{
    return s.len > 1 && s.ptr[0] == '0' && sn_is_digit(s.ptr[1]);
}

static bool
has_digit(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (sn_is_digit(s.ptr[i]))
            return true;
    return false;
}

/* Texts that a type would read, but that mean something else. */
static bool
is_meant(const trial *t, sn_str s, const seine_json *value)
{
    const char *text;
    size_t n;

    switch (t->type) {
    case SN_TYPE_INT:
        return !is_zero_led(s) && s.len <= 15 && s.ptr[0] != '+';
    case SN_TYPE_NUMBER:
        return !(is_zero_led(s)) && s.ptr[0] != '+';
    case SN_TYPE_MONEY:
        return seine_json_string(seine_json_get(value, "currency"), &text, &n) &&
               sn_str_is_among((sn_str){text, n},
                               "EUR USD GBP CHF JPY CNY INR KRW RUB PLN CZK HUF SEK NOK "
                               "DKK CAD AUD NZD BRL MXN ZAR TRY ILS THB SGD HKD UAH RON "
                               "BGN ISK VND PHP NGN");
    case SN_TYPE_BOOL:
        return sn_str_is_among(s, "true false yes no");
    case SN_TYPE_TIME:
        return memchr(s.ptr, ':', s.len) != NULL;
    case SN_TYPE_DATE:
    case SN_TYPE_MONTH:
    case SN_TYPE_DATETIME:
        return has_digit(s) && s.len >= 7;
    default:
        return true;
    }
}

static bool
is_of(sn_draft *d, const trial *t, sn_str s)
{
    sn_meaning m = {.type = t->type,
                    .format = sn_str_of(t->format),
                    .decimal = t->decimal ? t->decimal : '.'};
    sn_typed_error why;
    seine_json *value = NULL;
    seine_err e = sn_typed(d->page->r, &m, s, &d->page->base, &value, &why);

    if (e == SEINE_E_NOMEM)
        sn_draft_no_memory(d);
    bool is = e == SEINE_OK && is_meant(t, s, value);
    seine_json_free(value);
    return is;
}

static bool
are_of(sn_draft *d, const trial *t, const sn_draft_field *f, size_t rows)
{
    size_t seen = 0;

    for (size_t i = 0; i < rows; i++) {
        if (!f->values[i].ptr)
            continue;
        if (f->values[i].len == 0 || f->values[i].len > MOST_VALUE ||
            !is_of(d, t, f->values[i]))
            return false;
        seen++;
    }
    return seen > 0 && d->err == SEINE_OK;
}

static size_t
places_of(sn_str s)
{
    size_t dot = sn_str_find(s, '.');

    return dot < s.len ? s.len - dot - 1 : 0;
}

/* 3.9 and 3.10 are versions: as numbers the second would be 3.1. */
static bool
are_versions(const sn_draft_field *f, size_t rows)
{
    size_t places = SIZE_MAX;
    bool differ = false, has_zero = false;

    for (size_t i = 0; i < rows; i++) {
        sn_str s = f->values[i];
        size_t n = s.ptr ? places_of(s) : 0;
        if (n == 0)
            continue;
        differ |= places != SIZE_MAX && places != n;
        has_zero |= n > 1 && s.ptr[s.len - 1] == '0';
        places = n;
    }
    return differ && has_zero;
}

/* 03/04/2026 is two days, and a page of such days does not tell which. */
static bool
is_ambiguous(sn_draft *d, const trial *t, const sn_draft_field *f, size_t rows)
{
    trial other = *t;

    if (!t->format || strcmp(t->format, "%d/%m/%Y") != 0)
        return false;
    other.format = "%m/%d/%Y";
    return are_of(d, &other, f, rows);
}

/* Are there three digits behind the only dot of every amount that has one? Then the dot
 * separates thousands: €30.000. */
static bool
are_thousands(const sn_draft_field *f, size_t rows)
{
    size_t seen = 0;

    for (size_t i = 0; i < rows; i++) {
        sn_str s = f->values[i];
        size_t dot = s.ptr ? sn_str_find(s, '.') : 0, digits = 0;

        if (!s.ptr || dot == s.len)
            continue;
        while (dot + 1 + digits < s.len && sn_is_digit(s.ptr[dot + 1 + digits]))
            digits++;
        if (digits != 3 || sn_str_find(s, ',') < s.len)
            return false;
        seen++;
    }
    return seen > 0;
}

void
sn_draft_type(sn_draft *d, sn_draft_field *f, size_t rows)
{
    trial url = {SN_TYPE_URL, NULL, 0};

    if (f->type == SN_TYPE_URL) {
        for (size_t i = 0; i < rows && f->type == SN_TYPE_URL; i++)
            if (f->values[i].ptr && !is_of(d, &url, f->values[i]))
                f->type = SN_TYPE_STRING;
        return;
    }
    for (size_t i = 0; i < sizeof trials / sizeof *trials && !f->all; i++) {
        if (!are_of(d, &trials[i], f, rows) ||
            (trials[i].type == SN_TYPE_MONEY && trials[i].decimal == 0 &&
             are_thousands(f, rows)))
            continue;
        if (is_ambiguous(d, &trials[i], f, rows) ||
            (trials[i].type == SN_TYPE_NUMBER && are_versions(f, rows)))
            return;
        f->type = trials[i].type;
        f->format = trials[i].format;
        f->decimal = trials[i].decimal;
        return;
    }
}
