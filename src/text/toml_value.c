/* SPDX-License-Identifier: Apache-2.0 */
/* The values of TOML: strings, numbers, dates, arrays and inline tables. */
#include <string.h>

#include "text/toml_parts.h"

enum { MOST_VALUES = 1000000, LONGEST_NUMBER = 64 };

static bool
is_next(const sn_toml *t, const char *text)
{
    size_t n = strlen(text);

    return (size_t)(t->end - t->at) >= n && memcmp(t->at, text, n) == 0;
}

static void
put_utf8(sn_buf *b, uint32_t c)
{
    if (c < 0x80) {
        sn_buf_char(b, (char)c);
        return;
    }
    if (c < 0x800) {
        sn_buf_char(b, (char)(0xc0 | c >> 6));
    } else {
        if (c < 0x10000) {
            sn_buf_char(b, (char)(0xe0 | c >> 12));
        } else {
            sn_buf_char(b, (char)(0xf0 | c >> 18));
            sn_buf_char(b, (char)(0x80 | (c >> 12 & 63)));
        }
        sn_buf_char(b, (char)(0x80 | (c >> 6 & 63)));
    }
    sn_buf_char(b, (char)(0x80 | (c & 63)));
}

/* \u00e9 or \U0001f600: `digits` of them. */
static bool
take_unicode(sn_toml *t, int digits)
{
    uint32_t c = 0;

    for (int i = 0; i < digits; i++) {
        int d = t->at < t->end ? sn_hex_digit(*t->at) : -1;

        if (d < 0)
            return sn_toml_fail(t, t->at, "a digit of the escape is missing");
        c = c << 4 | (uint32_t)d;
        t->at++;
    }
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return sn_toml_fail(t, t->at, "the escape is no character");
    put_utf8(&t->text, c);
    return true;
}

/* Behind a backslash at the end of a line: all blanks and line ends up to the next
 * character. False: something else follows on the line. */
static bool
skip_continuation(sn_toml *t)
{
    const char *p = t->at;

    while (p < t->end && (*p == ' ' || *p == '\t' || *p == '\r'))
        p++;
    if (p == t->end || *p != '\n')
        return false;
    while (p < t->end && sn_is_space(*p) && *p != '\f')
        p++;
    t->at = p;
    return true;
}

static bool
take_escape(sn_toml *t, bool has_lines)
{
    static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";

    if (has_lines && skip_continuation(t))
        return true;
    if (t->at == t->end)
        return sn_toml_fail(t, t->at, "the string does not end");
    char c = *t->at++;
    if (c == 'u' || c == 'U')
        return take_unicode(t, c == 'u' ? 4 : 8);
    const char *known = c ? strchr(from, c) : NULL;
    if (!known)
        return sn_toml_fail(t, t->at - 1, "an unknown escape");
    sn_buf_char(&t->text, to[known - from]);
    return true;
}

/* Up to two quotes may stand right before the three that end a string of lines. */
static bool
take_end(sn_toml *t, char quote, bool has_lines)
{
    size_t n = 0;

    while (n < 5 && (size_t)(t->end - t->at) > n && t->at[n] == quote)
        n++;
    if (!has_lines) {
        t->at += n > 0;
        return n > 0;
    }
    if (n < 3)
        return false;
    sn_buf_add(&t->text, t->at, n - 3);
    t->at += n;
    return true;
}

static bool
take_char(sn_toml *t, bool has_lines)
{
    unsigned char c = (unsigned char)*t->at;

    if (has_lines && (c == '\n' || is_next(t, "\r\n"))) {
        sn_buf_char(&t->text, '\n');
        t->at += c == '\n' ? 1 : 2;
        return true;
    }
    if ((c < ' ' && c != '\t') || c == 0x7f)
        return sn_toml_fail(t, t->at,
                            c == '\n' || c == '\r' ? "the string does not end"
                                                   : "a control character in a string");
    sn_buf_char(&t->text, (char)c);
    t->at++;
    return true;
}

bool
sn_toml_string(sn_toml *t)
{
    char quote = *t->at;
    bool has_lines = is_next(t, quote == '"' ? "\"\"\"" : "'''");
    const char *where = t->at;

    sn_buf_reset(&t->text);
    t->at += has_lines ? 3 : 1;
    if (has_lines && (is_next(t, "\n") || is_next(t, "\r\n")))
        t->at += *t->at == '\n' ? 1 : 2;
    while (t->at < t->end) {
        if (*t->at == quote && take_end(t, quote, has_lines)) {
            seine_err e = sn_buf_done(&t->text);
            return e == SEINE_OK || sn_toml_stop(t, e);
        }
        bool is_escape = quote == '"' && *t->at == '\\';
        t->at += is_escape;
        if (!(is_escape ? take_escape(t, has_lines) : take_char(t, has_lines)))
            return false;
    }
    return sn_toml_fail(t, where, "the string does not end");
}

static bool
take_string(sn_toml *t, seine_json **out)
{
    if (!sn_toml_string(t))
        return false;
    *out = seine_json_new_string(t->text.ptr ? t->text.ptr : "", t->text.len);
    return *out || sn_toml_stop(t, SEINE_E_NOMEM);
}

/* Does the word have this shape? 0 stands for a digit, others for themselves. */
static bool
has_shape(sn_str word, const char *shape)
{
    size_t n = strlen(shape);

    if (word.len < n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (shape[i] == '0' ? !sn_is_digit(word.ptr[i]) : word.ptr[i] != shape[i])
            return false;
    return true;
}

static int
two_digits(const char *at)
{
    return (at[0] - '0') * 10 + at[1] - '0';
}

/* 07:32:00.999 at the front; *out_len: so many bytes. */
static bool
is_time(sn_str word, size_t *out_len)
{
    size_t n = 8;

    if (!has_shape(word, "00:00:00") || two_digits(word.ptr) > 23 ||
        two_digits(word.ptr + 3) > 59 || two_digits(word.ptr + 6) > 60)
        return false;
    if (n + 1 < word.len && word.ptr[n] == '.' && sn_is_digit(word.ptr[n + 1]))
        for (n++; n < word.len && sn_is_digit(word.ptr[n]);)
            n++;
    *out_len = n;
    return true;
}

static bool
is_zone(sn_str s)
{
    if (s.len == 1)
        return sn_lower(s.ptr[0]) == 'z';
    return s.len == 6 && (has_shape(s, "+00:00") || has_shape(s, "-00:00")) &&
           two_digits(s.ptr + 1) < 24 && two_digits(s.ptr + 4) < 60;
}

/* A date, a time, or both with T or a blank between them. */
static bool
is_moment(sn_str word)
{
    size_t n = 0;
    bool has_date = has_shape(word, "0000-00-00");

    if (has_date) {
        int month = two_digits(word.ptr + 5), day = two_digits(word.ptr + 8);

        if (month < 1 || month > 12 || day < 1 || day > 31)
            return false;
        if (word.len == 10)
            return true;
        if (sn_lower(word.ptr[10]) != 't' && word.ptr[10] != ' ')
            return false;
        word = sn_str_slice(word, 11, word.len);
    }
    if (!is_time(word, &n))
        return false;
    sn_str zone = sn_str_slice(word, n, word.len);
    return zone.len == 0 || (has_date && is_zone(zone));
}

/* 0xff, 0o17 and 0b11 without their underscores. False: no such number. */
static bool
read_based(sn_str digits, unsigned base, int64_t *out_n)
{
    uint64_t n = 0;

    for (size_t i = 0; i < digits.len; i++) {
        int d = sn_hex_digit(digits.ptr[i]);

        if (d < 0 || (unsigned)d >= base || n > (INT64_MAX - (uint64_t)d) / base)
            return false;
        n = n * base + (uint64_t)d;
    }
    *out_n = (int64_t)n;
    return digits.len > 0;
}

/* Copies the word without underscores, each of which stands between two digits. */
static bool
copy_number(sn_str word, char out[LONGEST_NUMBER + 1], size_t *out_len)
{
    size_t n = 0;

    for (size_t i = 0; i < word.len; i++) {
        if (word.ptr[i] == '_') {
            if (i == 0 || i + 1 == word.len || sn_hex_digit(word.ptr[i - 1]) < 0 ||
                sn_hex_digit(word.ptr[i + 1]) < 0)
                return false;
            continue;
        }
        if (n == LONGEST_NUMBER)
            return false;
        out[n++] = word.ptr[i];
    }
    out[n] = '\0';
    *out_len = n;
    return true;
}

/* The grammar of JSON says whether a decimal is well-formed. */
static seine_json *
read_number(sn_str word)
{
    char text[LONGEST_NUMBER + 1] = "";
    size_t n, from = word.len > 1 && word.ptr[0] == '+' && sn_is_digit(word.ptr[1]);
    seine_json *json = NULL;
    int64_t value;

    if (!copy_number(word, text, &n) || (from == 0 && text[0] == '+'))
        return NULL;
    if (n > 2 && text[0] == '0' && strchr("xob", text[1])) {
        unsigned base = text[1] == 'x' ? 16 : text[1] == 'o' ? 8 : 2;

        return read_based((sn_str){text + 2, n - 2}, base, &value)
                   ? seine_json_new_int(value)
                   : NULL;
    }
    if (!sn_is_digit(text[from]) && text[from] != '-')
        return NULL;
    return seine_json_parse(text + from, n - from, &json, NULL) == SEINE_OK ? json : NULL;
}

static bool
is_inf_or_nan(sn_str word)
{
    if (word.len > 0 && (word.ptr[0] == '+' || word.ptr[0] == '-'))
        word = sn_str_slice(word, 1, word.len);
    return sn_str_eq(word, SN_STR("inf")) || sn_str_eq(word, SN_STR("nan"));
}

/* The bytes up to whatever ends a word; a blank between date and time belongs to it. */
static sn_str
take_word(sn_toml *t)
{
    const char *from = t->at;
    sn_str word;

    while (t->at < t->end && !strchr(" \t\r\n,]}#=\"'[{", *t->at))
        t->at++;
    word = (sn_str){from, (size_t)(t->at - from)};
    if (word.len == 10 && has_shape(word, "0000-00-00") && is_next(t, " ") &&
        t->end - t->at > 2 && sn_is_digit(t->at[1])) {
        t->at++;
        while (t->at < t->end && !strchr(" \t\r\n,]}#", *t->at))
            t->at++;
        word.len = (size_t)(t->at - from);
    }
    return word;
}

static bool
take_scalar(sn_toml *t, seine_json **out)
{
    const char *where = t->at;
    sn_str word = take_word(t);

    if (word.len == 0)
        return sn_toml_fail(t, where, "a value is missing");
    if (sn_str_eq(word, SN_STR("true")) || sn_str_eq(word, SN_STR("false")))
        *out = seine_json_new_bool(word.ptr[0] == 't');
    else if (is_moment(word) || is_inf_or_nan(word))
        *out = seine_json_new_string(word.ptr, word.len);
    else if (!(*out = read_number(word)))
        return sn_toml_fail(t, where, "not a value of TOML");
    return *out || sn_toml_stop(t, SEINE_E_NOMEM);
}

static bool
fill_array(sn_toml *t, seine_json *array)
{
    seine_json *one = NULL;

    for (;;) {
        if (!sn_toml_skip_lines(t))
            return false;
        if (sn_toml_take(t, ']'))
            return true;
        if (!sn_toml_value(t, &one))
            return false;
        seine_err e = seine_json_append(array, one);
        if (e != SEINE_OK)
            return sn_toml_stop(t, e);
        if (!sn_toml_skip_lines(t))
            return false;
        if (sn_toml_take(t, ']'))
            return true;
        if (!sn_toml_take(t, ','))
            return sn_toml_fail(t, t->at, ", or ] is missing");
    }
}

/* On one line, and no comma behind the last pair. */
static bool
fill_table(sn_toml *t, seine_json *table)
{
    sn_toml_skip_blanks(t);
    if (sn_toml_take(t, '}'))
        return true;
    for (;;) {
        sn_toml_skip_blanks(t);
        if (!sn_toml_pair(t, table))
            return false;
        sn_toml_skip_blanks(t);
        if (sn_toml_take(t, '}'))
            return true;
        if (!sn_toml_take(t, ','))
            return sn_toml_fail(t, t->at, ", or } is missing");
    }
}

static bool
take_nested(sn_toml *t, seine_json **out)
{
    bool is_array = *t->at++ == '[';
    seine_json *json = is_array ? seine_json_new_array() : seine_json_new_object();

    if (!json)
        return sn_toml_stop(t, SEINE_E_NOMEM);
    if (++t->depth > SEINE_TOML_DEPTH)
        sn_toml_too_much(t, SN_TOML_TOO_DEEP);
    else if (is_array)
        fill_array(t, json);
    else
        fill_table(t, json);
    t->depth--;
    if (t->err != SEINE_OK) {
        seine_json_free(json);
        return false;
    }
    *out = json;
    return true;
}

bool
sn_toml_value(sn_toml *t, seine_json **out_value)
{
    if (++t->values > MOST_VALUES)
        return sn_toml_too_much(t, SN_TOML_TOO_MANY);
    if (t->at == t->end)
        return sn_toml_fail(t, t->at, "a value is missing");
    switch (*t->at) {
    case '"':
    case '\'':
        return take_string(t, out_value);
    case '[':
    case '{':
        return take_nested(t, out_value);
    default:
        return take_scalar(t, out_value);
    }
}
