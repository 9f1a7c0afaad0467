/* SPDX-License-Identifier: Apache-2.0 */
#include "text/structured_field.h"

#include "base/str.h"

/* Reads at most `most` digits; false if there are none, or more. */
static bool
read_digits(sn_cursor *t, size_t most, int64_t *out_n, size_t *out_count)
{
    int64_t n = 0;
    size_t count = 0;

    for (; sn_is_digit(sn_peek(t)); t->at++) {
        if (++count > most)
            return false;
        n = n * 10 + (*t->at - '0');
    }
    *out_n = n;
    *out_count = count;
    return count > 0;
}

static bool
read_integer(sn_cursor *t, int64_t *out_n)
{
    bool negative = sn_skip(t, '-');
    size_t count;

    if (!read_digits(t, 15, out_n, &count))
        return false;
    *out_n = negative ? -*out_n : *out_n;
    return true;
}

static bool
read_number(sn_cursor *t, sn_field_item *out)
{
    bool negative = sn_skip(t, '-');
    int64_t whole, part;
    size_t digits, places;

    if (!read_digits(t, 15, &whole, &digits))
        return false;
    out->kind = SN_FIELD_INTEGER;
    out->n = negative ? -whole : whole;
    if (!sn_skip(t, '.'))
        return true;
    if (digits > 12 || !read_digits(t, 3, &part, &places))
        return false;
    for (; places < 3; places++)
        part *= 10;
    out->kind = SN_FIELD_DECIMAL;
    out->n = negative ? -(whole * 1000 + part) : whole * 1000 + part;
    return true;
}

static bool
read_string(sn_cursor *t, sn_field_item *out)
{
    out->kind = SN_FIELD_STRING;
    out->text.at = t->at;
    for (; !sn_ended(t); t->at++) {
        out->text.end = t->at;
        if (sn_skip(t, '"'))
            return true;
        if (sn_skip(t, '\\') && !sn_one_of(sn_peek(t), "\"\\"))
            return false;
        if (sn_ended(t) || *t->at < ' ' || *t->at > '~')
            return false;
    }
    return false;
}

static bool
read_token(sn_cursor *t, sn_field_item *out)
{
    out->kind = SN_FIELD_TOKEN;
    out->text.at = t->at;
    while (sn_is_alpha(sn_peek(t)) || sn_is_digit(sn_peek(t)) ||
           sn_one_of(sn_peek(t), "!#$%&'*+-.^_`|~:/"))
        t->at++;
    out->text.end = t->at;
    return true;
}

/* Base64, whose padding may be missing and whose last bits may be anything (4.2.7). */
static bool
read_bytes(sn_cursor *t, sn_field_item *out)
{
    size_t letters = 0, padding = 0;

    out->kind = SN_FIELD_BYTES;
    out->text.at = t->at;
    for (; sn_is_alpha(sn_peek(t)) || sn_is_digit(sn_peek(t)) ||
           sn_one_of(sn_peek(t), "+/");
         t->at++)
        letters++;
    for (; sn_skip(t, '=');)
        padding++;
    out->text.end = t->at;
    return sn_skip(t, ':') && letters % 4 != 1 &&
           (padding == 0 || (padding < 3 && (letters + padding) % 4 == 0));
}

static int
hex_of(char c)
{
    return sn_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads one byte of a display string; -1: none, or a bad escape. */
static int
display_byte(sn_cursor *t)
{
    int high, low;

    if (sn_ended(t) || *t->at < ' ' || *t->at > '~')
        return -1;
    if (!sn_skip(t, '%'))
        return *t->at++;
    if (t->end - t->at < 2)
        return -1;
    high = hex_of(t->at[0]);
    low = hex_of(t->at[1]);
    t->at += 2;
    return high < 0 || low < 0 ? -1 : high << 4 | low;
}

/* The bytes must be UTF-8 once they are decoded; a character has at most four. */
static bool
read_display(sn_cursor *t, sn_field_item *out)
{
    char bytes[4];
    size_t n = 0;

    out->kind = SN_FIELD_DISPLAY;
    out->text.at = t->at;
    for (;;) {
        uint32_t c;
        int byte;

        out->text.end = t->at;
        if (n == 0 && sn_skip(t, '"'))
            return true;
        if (sn_peek(t) == '"' || (byte = display_byte(t)) < 0)
            return false;
        bytes[n++] = (char)byte;
        if (sn_utf8_decode((sn_str){bytes, n}, &c) == n)
            n = 0;
        else if (n == sizeof bytes)
            return false;
    }
}

static bool
read_boolean(sn_cursor *t, sn_field_item *out)
{
    out->kind = SN_FIELD_BOOLEAN;
    out->n = sn_peek(t) == '1';
    return sn_skip(t, '0') || sn_skip(t, '1');
}

bool
sn_field_item_read(sn_cursor *t, sn_field_item *out)
{
    char c = sn_peek(t);

    *out = (sn_field_item){.kind = SN_FIELD_DATE};
    if (sn_is_digit(c) || c == '-')
        return read_number(t, out);
    if (sn_skip(t, '"'))
        return read_string(t, out);
    if (sn_is_alpha(c) || c == '*')
        return read_token(t, out);
    if (sn_skip(t, ':'))
        return read_bytes(t, out);
    if (sn_skip(t, '?'))
        return read_boolean(t, out);
    if (sn_skip(t, '@'))
        return read_integer(t, &out->n) && sn_peek(t) != '.';
    return sn_skip_word(t, "%\"") && read_display(t, out);
}

static bool
skip_parameters(sn_cursor *t)
{
    sn_cursor key;
    sn_field_item value;
    sn_field_more more;

    do
        more = sn_field_parameter(t, &key, &value);
    while (more == SN_FIELD_MORE);
    return more == SN_FIELD_NONE;
}

/* "(1 2;a)": items with parameters and blanks between them. */
static bool
read_inner(sn_cursor *t)
{
    sn_field_item item;

    for (;;) {
        const char *from = t->at;

        sn_skip_all(t, " ");
        if (sn_skip(t, ')'))
            return true;
        if (from == t->at && from[-1] != '(') /* no blank between two items */
            return false;
        if (!sn_field_item_read(t, &item) || !skip_parameters(t))
            return false;
    }
}

bool
sn_field_member(sn_cursor *t, sn_field_item *out)
{
    if (!sn_skip(t, '('))
        return sn_field_item_read(t, out);
    *out = (sn_field_item){.kind = SN_FIELD_INNER};
    return read_inner(t);
}

sn_field_more
sn_field_parameter(sn_cursor *t, sn_cursor *out_key, sn_field_item *out_value)
{
    if (!sn_skip(t, ';'))
        return SN_FIELD_NONE;
    sn_skip_all(t, " ");
    *out_key = (sn_cursor){t->at, NULL};
    *out_value = (sn_field_item){.kind = SN_FIELD_BOOLEAN, .n = 1};
    if (!(sn_peek(t) >= 'a' && sn_peek(t) <= 'z') && sn_peek(t) != '*')
        return SN_FIELD_BAD;
    while ((sn_peek(t) >= 'a' && sn_peek(t) <= 'z') || sn_is_digit(sn_peek(t)) ||
           sn_one_of(sn_peek(t), "_-.*"))
        t->at++;
    out_key->end = t->at;
    if (sn_skip(t, '=') && !sn_field_item_read(t, out_value))
        return SN_FIELD_BAD;
    return SN_FIELD_MORE;
}

bool
sn_field_comma(sn_cursor *t)
{
    sn_skip_all(t, " \t");
    if (sn_ended(t))
        return true;
    if (!sn_skip(t, ','))
        return false;
    sn_skip_all(t, " \t");
    return !sn_ended(t); /* a trailing comma is an error */
}
