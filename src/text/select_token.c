/* SPDX-License-Identifier: Apache-2.0 */
/* The tokens of a selector (CSS Syntax, 4.3): names, strings, escapes, an+b. */
#include <stdio.h>
#include <string.h>

#include "text/select.h"

bool
sn_select_fail(sn_select_in *in, size_t at, const char *fmt, ...)
{
    va_list args;

    if (in->diag && in->diag->text[0] == '\0') {
        in->diag->column = at + 1;
        va_start(args, fmt);
        vsnprintf(in->diag->text, sizeof in->diag->text, fmt, args);
        va_end(args);
    }
    return false;
}

char
sn_select_peek(const sn_select_in *in)
{
    return in->at < in->len ? in->text[in->at] : '\0';
}

char
sn_select_peek2(const sn_select_in *in)
{
    return in->at + 1 < in->len ? in->text[in->at + 1] : '\0';
}

bool
sn_select_skip(sn_select_in *in, char c)
{
    if (in->at == in->len || in->text[in->at] != c)
        return false;
    in->at++;
    return true;
}

bool
sn_select_blanks(sn_select_in *in)
{
    size_t from = in->at;

    for (;;) {
        if (in->at < in->len && sn_is_space(in->text[in->at])) {
            in->at++;
        } else if (sn_select_peek(in) == '/' && sn_select_peek2(in) == '*') {
            sn_str rest = {in->text + in->at + 2, in->len - in->at - 2};
            const char *end = memmem(rest.ptr, rest.len, "*/", 2);

            in->at = end ? (size_t)(end + 2 - in->text) : in->len;
        } else {
            return in->at > from;
        }
    }
}

static bool
begins_name(char c)
{
    return sn_is_alpha(c) || c == '_' || (unsigned char)c >= 0x80;
}

static bool
is_escape(const sn_select_in *in, size_t at)
{
    return at + 1 < in->len && in->text[at] == '\\' && in->text[at + 1] != '\n' &&
           in->text[at + 1] != '\r' && in->text[at + 1] != '\f';
}

/* NUL counts as U+FFFD, by the standard. */
static bool
begins_at(const sn_select_in *in, size_t at)
{
    return at < in->len &&
           (begins_name(in->text[at]) || in->text[at] == '\0' || is_escape(in, at));
}

bool
sn_select_at_name(const sn_select_in *in)
{
    if (sn_select_peek(in) != '-' || in->at == in->len)
        return begins_at(in, in->at);
    return sn_select_peek2(in) == '-' || begins_at(in, in->at + 1);
}

static void
put_char(sn_buf *out, uint32_t c)
{
    if (c == 0 || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = 0xfffd;
    if (c < 0x80) {
        sn_buf_char(out, (char)c);
    } else if (c < 0x800) {
        sn_buf_char(out, (char)(0xc0 | c >> 6));
        sn_buf_char(out, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        sn_buf_char(out, (char)(0xe0 | c >> 12));
        sn_buf_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        sn_buf_char(out, (char)(0x80 | (c & 0x3f)));
    } else {
        sn_buf_char(out, (char)(0xf0 | c >> 18));
        sn_buf_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
        sn_buf_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        sn_buf_char(out, (char)(0x80 | (c & 0x3f)));
    }
}

/* Reads an escape; the backslash is read. */
static void
read_escape(sn_select_in *in)
{
    sn_buf *out = &in->out->text;
    uint32_t c = 0;
    int digits = 0;

    for (; digits < 6 && in->at < in->len && sn_hex_digit(in->text[in->at]) >= 0;
         digits++)
        c = c * 16 + (uint32_t)sn_hex_digit(in->text[in->at++]);
    if (digits > 0) {
        if (sn_select_peek(in) == '\r' && sn_select_peek2(in) == '\n')
            in->at++;
        if (in->at < in->len && sn_is_space(in->text[in->at]))
            in->at++;
        put_char(out, c);
    } else if (in->at == in->len || in->text[in->at] == '\0') {
        in->at += in->at < in->len;
        put_char(out, 0);
    } else {
        sn_buf_char(out, in->text[in->at++]);
    }
}

static sn_select_span
spanned(const sn_select_in *in, size_t from)
{
    return (sn_select_span){(uint16_t)from, (uint16_t)(in->out->text.len - from)};
}

bool
sn_select_name(sn_select_in *in, sn_select_span *out)
{
    size_t from = in->out->text.len;

    if (!sn_select_at_name(in))
        return false;
    while (in->at < in->len) {
        char c = in->text[in->at];

        if (begins_name(c) || sn_is_digit(c) || c == '-') {
            sn_buf_char(&in->out->text, c);
            in->at++;
        } else if (c == '\0') {
            put_char(&in->out->text, 0);
            in->at++;
        } else if (is_escape(in, in->at)) {
            in->at++;
            read_escape(in);
        } else {
            break;
        }
    }
    *out = spanned(in, from);
    return true;
}

/* A string may end with the text, but not with a line feed. */
bool
sn_select_string(sn_select_in *in, sn_select_span *out)
{
    size_t from = in->out->text.len;
    char quote = sn_select_peek(in);

    if (quote != '"' && quote != '\'')
        return false;
    for (in->at++; in->at < in->len && in->text[in->at] != quote;) {
        char c = in->text[in->at];

        if (c == '\n' || c == '\r' || c == '\f')
            return false;
        if (c != '\\') {
            if (c == '\0')
                put_char(&in->out->text, 0);
            else
                sn_buf_char(&in->out->text, c);
            in->at++;
        } else if (is_escape(in, in->at)) {
            in->at++;
            read_escape(in);
        } else { /* an escaped line feed continues the string */
            in->at++;
            if (sn_select_peek(in) == '\r' && sn_select_peek2(in) == '\n')
                in->at++;
            in->at += in->at < in->len;
        }
    }
    in->at += in->at < in->len;
    *out = spanned(in, from);
    return true;
}

sn_select_span
sn_select_lower(sn_select_in *in, sn_select_span s)
{
    size_t from = in->out->text.len;

    for (uint16_t i = 0; i < s.len && in->out->text.ptr; i++)
        sn_buf_char(&in->out->text, sn_lower(in->out->text.ptr[s.at + i]));
    return spanned(in, from);
}

static bool
read_digits(sn_select_in *in, int32_t *out)
{
    int64_t n = 0;

    if (!sn_is_digit(sn_select_peek(in)))
        return false;
    for (; sn_is_digit(sn_select_peek(in)); in->at++)
        if (n < INT32_MAX)
            n = n * 10 + (in->text[in->at] - '0');
    *out = (int32_t)(n < INT32_MAX ? n : INT32_MAX);
    return true;
}

static bool
word(sn_select_in *in, const char *what)
{
    sn_str rest = {in->text + in->at, in->len - in->at};
    size_t n = strlen(what);

    if (!sn_str_starts_nocase(rest, sn_str_of(what)))
        return false;
    in->at += n;
    return true;
}

bool
sn_select_nth(sn_select_in *in, int32_t *out_a, int32_t *out_b)
{
    size_t from = in->at;
    int32_t sign = 1, a = 1, b = 0;

    *out_a = *out_b = 0;
    if (word(in, "odd") || word(in, "even")) {
        *out_a = 2;
        *out_b = sn_lower(in->text[from]) == 'o';
        return true;
    }
    if (sn_select_skip(in, '-'))
        sign = -1;
    else
        sn_select_skip(in, '+');
    bool counted = read_digits(in, &a);
    if (!sn_select_skip(in, 'n') && !sn_select_skip(in, 'N')) {
        *out_b = sign * a;
        return counted;
    }
    *out_a = sign * a;
    from = in->at;
    sn_select_blanks(in);
    char c = sn_select_peek(in);
    if (c != '+' && c != '-') {
        in->at = from;
        return true;
    }
    in->at++;
    sn_select_blanks(in);
    if (!read_digits(in, &b))
        return false;
    *out_b = c == '-' ? -b : b;
    return true;
}
