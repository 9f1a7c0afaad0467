/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_compact.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/json_check.h"

enum {
    EXACT_DIGITS = 15, /* a double brings so many decimal digits back … */
    SMALLEST = -307,   /* … from 1e-307 to the largest */
    TINY = 1000,       /* numbers below that a text may have, and one for … */
    TINY_EVERY = 256,  /* … so many bytes: each costs thousands of steps */
    LARGEST = 308,     /* of numbers that the scan has let pass */
    BEYOND = 100000    /* an exponent that is told apart from larger ones */
};

typedef struct compact {
    const char *at, *end;
    sn_buf *out;
    sn_buf scratch; /* a string with its escapes decoded */
    size_t tiny;    /* numbers below the smallest that may still come */
} compact;

/* Is the string written as it stands between its quotes? Escapes are decoded and made
 * anew; U+007F to U+009F, U+2028 and U+2029 become escapes. */
static bool
is_as_printed(sn_str raw)
{
    const unsigned char *p = (const unsigned char *)raw.ptr, *end = p + raw.len;

    for (; p < end; p++)
        if (*p == '\\' || *p == 0x7f || (*p == 0xc2 && end - p > 1 && p[1] <= 0x9f) ||
            (*p == 0xe2 && end - p > 2 && p[1] == 0x80 && (p[2] & 0xfe) == 0xa8))
            return false;
    return true;
}

/* Behind the first quote. */
static sn_str
take_raw(compact *c)
{
    const char *from = c->at;

    while (c->at < c->end && *c->at != '"')
        c->at += *c->at == '\\' && c->end - c->at > 1 ? 2 : 1;
    sn_str raw = {from, (size_t)(c->at - from)};
    c->at += c->at < c->end;
    return raw;
}

static void
put_string(compact *c)
{
    sn_str raw = take_raw(c);

    if (is_as_printed(raw)) {
        sn_buf_add(c->out, raw.ptr - 1, raw.len + 2);
        return;
    }
    sn_str meant = sn_json_unescape(raw, &c->scratch);
    size_t n = sn_json_quote(meant.ptr, meant.len, NULL, 0);
    char *to = sn_buf_reserve(c->out, n + 1);
    if (!to)
        return;
    sn_json_quote(meant.ptr, meant.len, to, n + 1);
    sn_buf_commit(c->out, n);
}

/* Is it what a printer of doubles would write? Few digits come back as they were. */
static bool
is_decimal_as_printed(sn_str number)
{
    size_t point = sn_str_find(number, '.'), i = number.ptr[0] == '-', zeros, digits;

    while (i < number.len && (number.ptr[i] == '0' || number.ptr[i] == '.'))
        i++; /* to the first digit that counts */
    zeros = i > point ? i - point - 1 : 0;
    digits = number.len - i - (point > i);
    if (i == number.len)
        return number.len - point == 2; /* 0.0 */
    if (number.ptr[number.len - 1] == '0' && number.len - point > 2)
        return false;
    return digits <= EXACT_DIGITS && zeros < 4;
}

/* A number as its digits, without zeros at either end. */
typedef struct digits {
    char text[EXACT_DIGITS];
    int n;
    int first; /* the power of ten of the first one */
    bool minus;
} digits;

/* The exponent behind "e"; far beyond a double it is BEYOND. */
static int
read_exponent(sn_str text)
{
    bool minus = text.len > 0 && text.ptr[0] == '-';
    int value = 0;

    for (size_t i = text.len > 0 && !sn_is_digit(text.ptr[0]); i < text.len; i++)
        value = value < BEYOND ? value * 10 + (text.ptr[i] - '0') : BEYOND;
    return minus ? -value : value;
}

/* False: there are more digits than a double brings back, or it is out of the range in
 * which a double brings all of these back. */
static bool
read_digits(sn_str number, digits *out)
{
    int zeros = 0, power = -1;
    bool point = false, is_exact = true;
    size_t i = number.ptr[0] == '-';

    *out = (digits){.n = 0, .minus = i > 0};
    for (; i < number.len && sn_lower(number.ptr[i]) != 'e'; i++) {
        char b = number.ptr[i];

        if (b == '.') {
            point = true;
            continue;
        }
        power +=
            point ? (out->n == 0 && b == '0' ? -1 : 0) : out->n + zeros > 0 || b != '0';
        if (b == '0') {
            zeros += out->n > 0;
            continue;
        }
        if (out->n + zeros >= EXACT_DIGITS) {
            is_exact = false;
            continue;
        }
        for (; zeros > 0; zeros--)
            out->text[out->n++] = '0';
        out->text[out->n++] = b;
    }
    out->first =
        power +
        (i < number.len ? read_exponent(sn_str_slice(number, i + 1, number.len)) : 0);
    return is_exact && (out->n == 0 || (out->first >= SMALLEST && out->first <= LARGEST));
}

/* As printf writes it with "%.15g", and with a point or an exponent in any case. */
static size_t
write_digits(const digits *d, char out[32])
{
    char *to = out;
    int first = d->n > 0 ? d->first : 0, n = d->n > 0 ? d->n : 1;
    const char *text = d->n > 0 ? d->text : "0";

    if (d->minus)
        *to++ = '-';
    if (first < -4 || first >= EXACT_DIGITS) {
        *to++ = text[0];
        if (n > 1) {
            *to++ = '.';
            memcpy(to, text + 1, (size_t)n - 1);
            to += n - 1;
        }
        return (size_t)(to - out) + (size_t)snprintf(to, 8, "e%+03d", first);
    }
    if (first < 0) {
        memcpy(to, "0.0000", 6);
        to += 1 - first;
        memcpy(to, text, (size_t)n);
        return (size_t)(to - out) + (size_t)n;
    }
    for (int i = 0; i <= first || i < n; i++) {
        if (i == first + 1)
            *to++ = '.';
        *to++ = i < n ? text[i] : '0';
    }
    if (n <= first + 1) {
        *to++ = '.';
        *to++ = '0';
    }
    return (size_t)(to - out);
}

static void
put_decimal(compact *c, sn_str number)
{
    char decimal[32];
    digits d;

    if (sn_str_find(number, '.') < number.len && sn_str_find(number, 'e') == number.len &&
        sn_str_find(number, 'E') == number.len && is_decimal_as_printed(number)) {
        sn_buf_str(c->out, number);
        return;
    }
    if (number.len > SN_JSON_DIGITS)
        return;
    if (read_digits(number, &d)) {
        sn_buf_add(c->out, decimal, write_digits(&d, decimal));
        return;
    }
    if (d.first < SMALLEST && c->tiny-- == 0) {
        c->out->err = c->out->err == SEINE_OK ? SEINE_E_BUDGET : c->out->err;
        c->at = c->end;
        return;
    }
    sn_buf_add(c->out, decimal, sn_json_decimal(sn_json_double(number), decimal));
}

static bool
is_of_number(char b)
{
    return sn_is_digit(b) || b == '.' || b == 'e' || b == 'E' || b == '+' || b == '-';
}

static void
put_number(compact *c)
{
    const char *from = c->at;
    bool whole = true;

    while (c->at < c->end && is_of_number(*c->at)) {
        whole &= sn_is_digit(*c->at) || *c->at == '-';
        c->at++;
    }
    sn_str number = {from, (size_t)(c->at - from)};
    if (!whole)
        put_decimal(c, number);
    else if (sn_str_eq(number, SN_STR("-0")))
        sn_buf_char(c->out, '0');
    else
        sn_buf_str(c->out, number);
}

void
sn_json_compact(sn_str text, sn_buf *out)
{
    compact c = {.at = text.ptr, .end = text.ptr + text.len, .out = out};

    c.tiny = TINY + text.len / TINY_EVERY;

    sn_buf_init(&c.scratch, SIZE_MAX / 2);
    while (text.len > 0 && c.at < c.end) {
        char b = *c.at;

        if (b == '"') {
            c.at++;
            put_string(&c);
        } else if (b == '-' || sn_is_digit(b)) {
            put_number(&c);
        } else {
            if (b != ' ' && b != '\t' && b != '\n' && b != '\r')
                sn_buf_char(out, b);
            c.at++;
        }
    }
    if (c.scratch.err != SEINE_OK && out->err == SEINE_OK)
        out->err = c.scratch.err;
    sn_buf_fini(&c.scratch);
}
