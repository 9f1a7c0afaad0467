/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/plumbing.h"
#include "store/text_writer.h"

/*
 * Foreign JSON is parsed by RFC 8259 and copied token by token, without blanks between
 * them. Characters that are legal in a string but unsafe on a terminal or in JavaScript
 * (DEL, C1, U+2028) are escaped. It takes one pass and a bit per level.
 */

enum { DEPTH = SEINE_JSON_DEPTH - 1 }; /* it is one level deeper inside a record */

typedef struct reader {
    const char *at, *end;
    sn_text_writer *pen;
    uint64_t arrays[2]; /* bit d: level d is an array */
    unsigned depth;
} reader;

static void
skip(reader *r)
{
    while (r->at < r->end &&
           (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

/* Returns the byte at the reader; 0 at the end. */
static char
look(const reader *r)
{
    return r->at < r->end ? *r->at : '\0';
}

static bool
copy_byte(reader *r, char c)
{
    if (r->at == r->end || *r->at != c)
        return false;
    sn_text_writer_add(r->pen, r->at++, 1);
    return true;
}

static bool
take_word(reader *r, sn_str word)
{
    if (!sn_str_starts((sn_str){r->at, (size_t)(r->end - r->at)}, word))
        return false;
    sn_text_writer_str(r->pen, word);
    r->at += word.len;
    return true;
}

static bool
take_digits(reader *r)
{
    const char *from = r->at;

    while (sn_is_digit(look(r)))
        r->at++;
    sn_text_writer_add(r->pen, from, (size_t)(r->at - from));
    return r->at > from;
}

static bool
take_number(reader *r)
{
    copy_byte(r, '-');
    if (!copy_byte(r, '0') && !take_digits(r))
        return false;
    if (copy_byte(r, '.') && !take_digits(r))
        return false;
    if (!copy_byte(r, 'e') && !copy_byte(r, 'E'))
        return true;
    if (!copy_byte(r, '+'))
        copy_byte(r, '-');
    return take_digits(r);
}

static bool
take_hex(reader *r, unsigned *out)
{
    *out = 0;
    for (int i = 0; i < 4; i++) {
        int digit = sn_hex_digit(look(r));

        if (digit < 0)
            return false;
        *out = *out << 4 | (unsigned)digit;
        sn_text_writer_add(r->pen, r->at++, 1);
    }
    return true;
}

/* Reads an escape after its backslash. Surrogates must come in pairs. */
static bool
take_escape(reader *r)
{
    unsigned c, low;

    if (look(r) != 'u')
        return look(r) != '\0' && strchr("\"\\/bfnrt", look(r)) && copy_byte(r, look(r));
    if (!copy_byte(r, 'u') || !take_hex(r, &c))
        return false;
    if (c < 0xd800 || c > 0xdfff)
        return true;
    return c < 0xdc00 && copy_byte(r, '\\') && copy_byte(r, 'u') && take_hex(r, &low) &&
           low >= 0xdc00 && low <= 0xdfff;
}

/* Reads a multi-byte character of a string; writes its escape if it is unsafe. */
static bool
take_character(reader *r)
{
    static const char hex[] = "0123456789abcdef";
    uint32_t c;
    size_t n = sn_utf8_decode((sn_str){r->at, (size_t)(r->end - r->at)}, &c);

    if (n == 0 || c < 0x20)
        return false;
    if ((c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029)
        sn_text_writer_add(r->pen,
                           (char[]){'\\', 'u', hex[c >> 12], hex[c >> 8 & 15],
                                    hex[c >> 4 & 15], hex[c & 15]},
                           6);
    else
        sn_text_writer_add(r->pen, r->at, n);
    r->at += n;
    return true;
}

static bool
take_string(reader *r)
{
    if (!copy_byte(r, '"'))
        return false;
    for (;;) {
        size_t plain = sn_text_writer_plain(r->at, (size_t)(r->end - r->at));

        sn_text_writer_add(r->pen, r->at, plain);
        r->at += plain;
        if (copy_byte(r, '"'))
            return true;
        if (copy_byte(r, '\\') ? !take_escape(r) : !take_character(r))
            return false;
    }
}

static bool
is_array(const reader *r)
{
    unsigned level = r->depth - 1;

    return r->arrays[level / 64] >> level % 64 & 1;
}

/* Reads "name": of a member. */
static bool
take_name(reader *r)
{
    skip(r);
    if (!take_string(r))
        return false;
    skip(r);
    return copy_byte(r, ':');
}

static bool
take_scalar(reader *r)
{
    if (look(r) == '"')
        return take_string(r);
    return take_word(r, SN_STR("true")) || take_word(r, SN_STR("false")) ||
           take_word(r, SN_STR("null")) || take_number(r);
}

/* After a value: closes what ends here, then reads the comma. */
static bool
close_levels(reader *r)
{
    skip(r);
    while (r->depth > 0 && copy_byte(r, is_array(r) ? ']' : '}')) {
        r->depth--;
        skip(r);
    }
    if (r->depth == 0)
        return true;
    return copy_byte(r, ',') && (is_array(r) || take_name(r));
}

/* Reads a scalar, or enters a level: up to where the next value begins. */
static bool
take_value(reader *r)
{
    skip(r);
    bool array = look(r) == '[';

    if (!array && look(r) != '{')
        return take_scalar(r) && close_levels(r);
    if (r->depth == DEPTH)
        return false;
    uint64_t bit = UINT64_C(1) << r->depth % 64, *word = &r->arrays[r->depth / 64];
    *word = array ? *word | bit : *word & ~bit;
    r->depth++;
    copy_byte(r, array ? '[' : '{');
    skip(r);
    if (look(r) == (array ? ']' : '}'))
        return close_levels(r);
    return array || take_name(r);
}

bool
sn_text_writer_object(sn_text_writer *p, sn_str json)
{
    sn_text_writer before = *p;
    reader r = {json.ptr, json.ptr + json.len, p, {0, 0}, 0};

    skip(&r);
    bool good = look(&r) == '{' && take_value(&r);
    while (good && r.depth > 0)
        good = take_value(&r);
    if (good && r.at == r.end)
        return true;
    *p = before;
    return false;
}
