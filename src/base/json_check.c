/* SPDX-License-Identifier: Apache-2.0 */
#include "base/json_check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "seine/plumbing.h"

typedef struct scan {
    const char *start, *at, *end;
    uint64_t arrays[SEINE_JSON_DEPTH / 64]; /* bit d: level d is an array */
    uint32_t objects[SEINE_JSON_DEPTH];     /* a number per open object, by level */
    unsigned depth;
    uint32_t values;
    sn_json_names *names;
    sn_json_flaw *flaw, *note;
    seine_err err;
    bool has_nul; /* an escape of the last string is U+0000 */
} scan;

static bool
fail_at(scan *s, const char *at, const char *text)
{
    s->err = SEINE_E_BAD_JSON;
    *s->flaw = (sn_json_flaw){(size_t)(at - s->start), text, false};
    return false;
}

/* Reports what was expected here. */
static bool
want(scan *s, const char *text)
{
    fail_at(s, s->at, text);
    s->flaw->wants = true;
    return false;
}

/* Notes a text that is JSON but that seine's readers refuse. */
static void
remark(scan *s, const char *at, const char *text)
{
    if (!s->note->text)
        *s->note = (sn_json_flaw){(size_t)(at - s->start), text, false};
}

/* The next byte; 0 at the end. */
static char
look(const scan *s)
{
    return s->at < s->end ? *s->at : '\0';
}

static bool
take_byte(scan *s, char c)
{
    if (s->at == s->end || *s->at != c)
        return false;
    s->at++;
    return true;
}

static void
skip(scan *s)
{
    while (s->at < s->end &&
           (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static bool
take_digits(scan *s)
{
    const char *from = s->at;

    while (sn_is_digit(look(s)))
        s->at++;
    return s->at > from;
}

double
sn_json_double(sn_str number)
{
    char text[SN_JSON_DIGITS + 32], *to = text;
    size_t i = 0, behind = 0;
    long exponent = 0;
    bool point = false;

    for (; i < number.len && sn_lower(number.ptr[i]) != 'e'; i++) {
        if (number.ptr[i] == '.') {
            point = true;
            continue;
        }
        behind += point;
        *to++ = number.ptr[i];
    }
    bool minus = ++i < number.len && number.ptr[i] == '-';
    i += minus || (i < number.len && number.ptr[i] == '+');
    for (; i < number.len && exponent < 100000; i++)
        exponent = exponent * 10 + (number.ptr[i] - '0');
    snprintf(to, (size_t)(text + sizeof text - to), "e%ld",
             (minus ? -exponent : exponent) - (long)behind);
    return strtod(text, NULL);
}

/* Does a double hold the number? One of 64 characters whose exponent has two digits is
 * far below the largest, and so is one with a negative exponent. Of most others the
 * digits before the point and the exponent tell. */
static bool
fits_double(sn_str number)
{
    size_t e = sn_str_find(number, 'e'), point = sn_str_find(number, '.');
    uint64_t exponent;

    if (e == number.len)
        e = sn_str_find(number, 'E');
    if (number.len - e <= 3 || number.ptr[e + 1] == '-')
        return true;
    sn_str digits = sn_str_slice(number, e + 1 + (number.ptr[e + 1] == '+'), number.len);
    if (sn_str_u64(digits, &exponent) == SEINE_OK && exponent <= 308 &&
        exponent + (point < e ? point : e) <= 308)
        return true;
    return isfinite(sn_json_double(number));
}

static void
judge_number(scan *s, const char *from, bool whole)
{
    sn_str number = {from, (size_t)(s->at - from)};
    int64_t n;

    if (number.len > SN_JSON_DIGITS)
        remark(s, from, "a number of more than 64 characters");
    else if (whole && number.len > 18 && sn_str_i64(number, &n) != SEINE_OK)
        remark(s, from, "an integer beyond 64 bits");
    else if (!whole && !fits_double(number))
        remark(s, from, "a number beyond a double");
}

static bool
take_number(scan *s)
{
    const char *from = s->at;
    bool whole = true;

    take_byte(s, '-');
    if (!take_byte(s, '0') && !take_digits(s))
        return want(s, s->at > from ? "a digit" : "a value");
    if (sn_is_digit(look(s)))
        return fail_at(s, from, "a number with a zero in front");
    if (take_byte(s, '.')) {
        whole = false;
        if (!take_digits(s))
            return want(s, "a digit");
    }
    if (take_byte(s, 'e') || take_byte(s, 'E')) {
        whole = false;
        if (!take_byte(s, '+'))
            take_byte(s, '-');
        if (!take_digits(s))
            return want(s, "a digit");
    }
    judge_number(s, from, whole);
    return true;
}

static bool
take_hex(scan *s, unsigned *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++, s->at++) {
        int digit = sn_hex_digit(look(s));

        if (digit < 0)
            return want(s, "a hexadecimal digit");
        *out = *out << 4 | (unsigned)digit;
    }
    return true;
}

/* Reads an escape behind its backslash. A surrogate must be half of a pair. */
static bool
take_escape(scan *s)
{
    const char *from = s->at - 1;
    unsigned c, low;

    if (look(s) != 'u') {
        if (look(s) == '\0' || !strchr("\"\\/bfnrt", look(s)))
            return want(s, "one of \" \\ / b f n r t u");
        s->at++;
        return true;
    }
    s->at++;
    if (!take_hex(s, &c))
        return false;
    s->has_nul |= c == 0;
    if (c < 0xd800 || c > 0xdfff)
        return true;
    if (c >= 0xdc00 || !take_byte(s, '\\') || !take_byte(s, 'u'))
        return fail_at(s, from, "half of a surrogate pair");
    if (!take_hex(s, &low))
        return false;
    return (low >= 0xdc00 && low <= 0xdfff) ||
           fail_at(s, from, "half of a surrogate pair");
}

static bool
take_character(scan *s)
{
    uint32_t c;
    size_t n = sn_utf8_decode((sn_str){s->at, (size_t)(s->end - s->at)}, &c);

    if (s->at == s->end)
        return want(s, "a \" that ends the string");
    if (n == 0)
        return fail_at(s, s->at, "bytes that are not UTF-8");
    if (c < 0x20)
        return fail_at(s, s->at, "a control character in a string");
    s->at += n;
    return true;
}

static bool
is_plain(char c)
{
    return (signed char)c >= ' ' && c != '"' && c != '\\';
}

/* Reads a string behind its first quote; *out_raw is the text between the quotes. */
static bool
take_string(scan *s, sn_str *out_raw)
{
    const char *from = s->at;

    for (;;) {
        while (s->at < s->end && is_plain(*s->at))
            s->at++;
        if (take_byte(s, '"')) {
            *out_raw = (sn_str){from, (size_t)(s->at - 1 - from)};
            return true;
        }
        if (take_byte(s, '\\') ? !take_escape(s) : !take_character(s))
            return false;
    }
}

static bool
is_array(const scan *s)
{
    unsigned level = s->depth - 1;

    return s->arrays[level / 64] >> level % 64 & 1;
}

/* Reads a member's name and the colon. */
static bool
take_name(scan *s, const char *wanted)
{
    sn_str raw;

    skip(s);
    const char *from = s->at;
    if (!take_byte(s, '"'))
        return want(s, wanted);
    s->has_nul = false;
    if (!take_string(s, &raw))
        return false;
    if (s->has_nul)
        remark(s, from, "a name with U+0000 in it");
    if (s->names) {
        seine_err e = sn_json_names_add(s->names, s->objects[s->depth - 1], raw);

        if (e == SEINE_E_ALREADY)
            remark(s, from, "a name that the object has already");
        else if (e != SEINE_OK) {
            s->err = e;
            return false;
        }
    }
    skip(s);
    return take_byte(s, ':') || want(s, "':'");
}

static bool
take_word(scan *s, sn_str word)
{
    for (size_t i = 0; i < word.len; i++)
        if (!take_byte(s, word.ptr[i]))
            return want(s, word.ptr);
    return true;
}

static bool
take_scalar(scan *s)
{
    sn_str raw;

    switch (look(s)) {
    case '"':
        s->at++;
        return take_string(s, &raw);
    case 't':
        return take_word(s, SN_STR("true"));
    case 'f':
        return take_word(s, SN_STR("false"));
    case 'n':
        return take_word(s, SN_STR("null"));
    default:
        return take_number(s);
    }
}

static void
leave(scan *s)
{
    if (s->names && !is_array(s))
        sn_json_names_close(s->names, s->objects[s->depth - 1]);
    s->depth--;
}

/* Behind a value: closes the levels that end here and reads the comma before the next
 * value. */
static bool
close_levels(scan *s)
{
    skip(s);
    while (s->depth > 0 && take_byte(s, is_array(s) ? ']' : '}')) {
        leave(s);
        skip(s);
    }
    if (s->depth == 0)
        return true;
    if (!take_byte(s, ','))
        return want(s, is_array(s) ? "',' or ']'" : "',' or '}'");
    return is_array(s) || take_name(s, "a name in quotes");
}

static bool
enter(scan *s, bool array)
{
    if (s->depth == SEINE_JSON_DEPTH) {
        fail_at(s, s->at, "nested too deep");
        s->err = SEINE_E_JSON_TOO_DEEP;
        return false;
    }
    uint64_t bit = UINT64_C(1) << s->depth % 64, *word = &s->arrays[s->depth / 64];

    *word = array ? *word | bit : *word & ~bit;
    s->objects[s->depth++] = s->values;
    s->at++;
    return true;
}

/* Reads a scalar, or opens a level, up to where the next value begins. */
static bool
take_value(scan *s)
{
    skip(s);
    bool array = look(s) == '[';

    if (s->values++ == SN_JSON_VALUES)
        return fail_at(s, s->at, "more than 1,000,000 values");
    if (!array && look(s) != '{')
        return take_scalar(s) && close_levels(s);
    if (!enter(s, array))
        return false;
    skip(s);
    if (look(s) == (array ? ']' : '}'))
        return close_levels(s);
    return array || take_name(s, "a name in quotes or '}'");
}

seine_err
sn_json_scan(sn_str text, sn_json_names *names, sn_json_flaw *out_flaw,
             sn_json_flaw *out_note)
{
    const char *at = text.ptr ? text.ptr : "";
    scan s = {.start = at,
              .at = at,
              .end = at + text.len,
              .names = names,
              .flaw = out_flaw,
              .note = out_note};
    bool good;

    *out_flaw = *out_note = (sn_json_flaw){0, NULL, false};
    if (sn_str_starts(text, SN_STR("\xef\xbb\xbf")))
        good = fail_at(&s, at, "a byte order mark before the value");
    else
        good = take_value(&s);
    while (good && s.depth > 0)
        good = take_value(&s);
    if (good && s.at < s.end)
        want(&s, "the end of the text");
    return s.err;
}
