/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json_scan.h"

#include <string.h>

static void
skip_blanks(json_scan *s)
{
    while (s->at < s->end &&
           (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool
fail(json_scan *s)
{
    s->is_bad = true;
    return false;
}

static bool
take_byte(json_scan *s, char c)
{
    skip_blanks(s);
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static json_scan
open_with(seine_view text, char bracket)
{
    json_scan s = {text.ptr, text.ptr + text.len, false, false};

    s.is_bad = text.len == 0 || !take_byte(&s, bracket);
    return s;
}

json_scan
json_scan_object(seine_view text)
{
    return open_with(text, '{');
}

json_scan
json_scan_array(seine_view text)
{
    return open_with(text, '[');
}

/* Reads a string behind its first quote. A quote that was found stays the end until an
 * escape covers it, so that no byte is looked at for each escape. */
static bool
take_string(json_scan *s, json_value *out)
{
    const char *from = s->at, *quote = NULL;

    out->kind = JSON_STRING;
    out->has_escapes = false;
    for (;;) {
        if (!quote || quote < s->at)
            quote = memchr(s->at, '"', (size_t)(s->end - s->at));
        if (!quote)
            return fail(s);
        const char *slash = memchr(s->at, '\\', (size_t)(quote - s->at));
        if (!slash) {
            out->text = (seine_view){from, (size_t)(quote - from)};
            s->at = quote + 1;
            return true;
        }
        out->has_escapes = true;
        if (s->end - slash < 2)
            return fail(s);
        s->at = slash + 2;
    }
}

/* Passes over an object or an array, whose first bracket is at hand. */
static bool
take_nested(json_scan *s, json_value *out)
{
    const char *from = s->at;
    size_t depth = 0;
    json_value inner;

    out->kind = *from == '{' ? JSON_OBJECT : JSON_ARRAY;
    while (s->at < s->end) {
        char c = *s->at++;

        if (c == '"' && !take_string(s, &inner))
            return false;
        depth += c == '{' || c == '[';
        depth -= c == '}' || c == ']';
        if (depth == 0) {
            out->text = (seine_view){from, (size_t)(s->at - from)};
            return true;
        }
    }
    return fail(s);
}

static bool
take_plain(json_scan *s, json_value *out)
{
    const char *from = s->at;
    char c = *from;

    while (s->at < s->end && *s->at != ',' && *s->at != '}' && *s->at != ']' &&
           *s->at != ' ' && *s->at != '\n' && *s->at != '\r' && *s->at != '\t')
        s->at++;
    out->kind = (c >= '0' && c <= '9') || c == '-' ? JSON_NUMBER : JSON_WORD;
    out->text = (seine_view){from, (size_t)(s->at - from)};
    return out->text.len > 0 || fail(s);
}

static bool
take_value(json_scan *s, json_value *out)
{
    out->has_escapes = false;
    skip_blanks(s);
    if (s->at == s->end)
        return fail(s);
    if (*s->at == '"') {
        s->at++;
        return take_string(s, out);
    }
    return *s->at == '{' || *s->at == '[' ? take_nested(s, out) : take_plain(s, out);
}

/* Passes over the comma behind a value, or ends the scan at the bracket. */
static bool
go_on(json_scan *s, char bracket)
{
    if (take_byte(s, ','))
        return true;
    if (!take_byte(s, bracket))
        return fail(s);
    s->is_done = true;
    return true;
}

bool
json_scan_next(json_scan *s, seine_view *out_name, json_value *out_value)
{
    json_value name;

    if (s->is_bad || s->is_done)
        return false;
    if (take_byte(s, '}')) {
        s->is_done = true;
        return false;
    }
    if (!take_byte(s, '"') || !take_string(s, &name) || !take_byte(s, ':') ||
        !take_value(s, out_value))
        return fail(s);
    *out_name = name.text;
    return go_on(s, '}');
}

bool
json_scan_item(json_scan *s, json_value *out_value)
{
    if (s->is_bad || s->is_done)
        return false;
    if (take_byte(s, ']')) {
        s->is_done = true;
        return false;
    }
    return take_value(s, out_value) && go_on(s, ']');
}

bool
json_scan_is_whole(const json_scan *s)
{
    const char *at = s->at;

    while (at < s->end && (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r'))
        at++;
    return s->is_done && !s->is_bad && at == s->end;
}

/* Strings */

static uint32_t
hex4(const char *at)
{
    uint32_t n = 0;

    for (int i = 0; i < 4; i++) {
        char c = at[i];
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a') + 10
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A') + 10
                                                : 0;

        n = n * 16 + digit;
    }
    return n;
}

static char *
put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        *to++ = (char)c;
    } else if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
        *to++ = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        *to++ = (char)(0xe0 | c >> 12);
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    } else {
        *to++ = (char)(0xf0 | c >> 18);
        *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
        *to++ = (char)(0x80 | (c & 0x3f));
    }
    return to;
}

/* Reads the digits behind \u; *at moves behind them, and behind a second half. */
static uint32_t
take_unicode(const char **at, const char *end)
{
    if (end - *at < 4) { /* one byte: the text must not grow */
        *at = end;
        return '?';
    }
    uint32_t c = hex4(*at);
    *at += 4;
    if (c < 0xd800 || c > 0xdfff)
        return c;
    if (c < 0xdc00 && end - *at >= 6 && (*at)[0] == '\\' && (*at)[1] == 'u') {
        uint32_t low = hex4(*at + 2);

        if (low >= 0xdc00 && low <= 0xdfff) {
            *at += 6;
            return 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
        }
    }
    return 0xfffd;
}

seine_view
json_text(const json_value *v, char **room)
{
    static const char names[] = "bfnrt", bytes[] = "\b\f\n\r\t";
    const char *at = v->text.ptr, *end = at + v->text.len;
    char *from = *room, *to = from;

    if (v->kind != JSON_STRING)
        return (seine_view){NULL, 0};
    if (!v->has_escapes)
        return v->text;
    while (at < end) {
        char c = *at++;
        const char *name;

        if (c != '\\' || at == end) {
            *to++ = c;
            continue;
        }
        c = *at++;
        if (c == 'u')
            to = put_utf8(to, take_unicode(&at, end));
        else
            *to++ = c && (name = strchr(names, c)) ? bytes[name - names] : c;
    }
    *room = to;
    return (seine_view){from, (size_t)(to - from)};
}

/* Numbers */

/* Reads digits, at most so many that nothing overflows. */
static uint64_t
take_digits(const char **at, const char *end)
{
    uint64_t n = 0;

    while (*at < end && **at >= '0' && **at <= '9') {
        uint64_t digit = (uint64_t)(**at - '0');

        if (n <= (UINT64_MAX - digit) / 10)
            n = n * 10 + digit;
        (*at)++;
    }
    return n;
}

uint64_t
json_count(const json_value *v)
{
    const char *at = v->text.ptr;

    return v->kind == JSON_NUMBER ? take_digits(&at, at + v->text.len) : 0;
}

/* seine writes at most three decimals and no exponent. */
seine_span
json_ms(const json_value *v)
{
    const uint64_t most = 1000ull * 86400 * 36500;
    const char *at = v->text.ptr, *end = at + v->text.len;
    seine_span scale = SEINE_MS(1), span;

    if (v->kind != JSON_NUMBER)
        return 0;
    uint64_t whole = take_digits(&at, end);
    span = SEINE_MS((seine_span)(whole < most ? whole : most));
    if (at == end || *at != '.')
        return span;
    for (at++; at < end && *at >= '0' && *at <= '9' && scale >= 10; at++) {
        scale /= 10;
        span += (*at - '0') * scale;
    }
    return span;
}

bool
json_is(seine_view text, const char *word)
{
    return strlen(word) == text.len && memcmp(text.ptr, word, text.len) == 0;
}
