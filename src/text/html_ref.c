/* SPDX-License-Identifier: Apache-2.0 */
/* Character references: &amp; &#38; &#x26; (HTML standard, 13.2.5.72 to .80). */
#include <stdlib.h>
#include <string.h>

#include "text/html.h"

enum { NAME = 31, LEGACY = 6 }; /* the longest name, with and without semicolon */

typedef struct entity {
    char name[NAME + 1];
    char text[7];
    bool legacy; /* valid without its semicolon too */
} entity;

static const entity entities[] = {
#define ENTITY(name, legacy, text) {name, text, legacy},
#include "html_entities.inc"
#undef ENTITY
};

static int
by_name(const void *key, const void *row)
{
    const sn_str *name = key;
    const entity *e = row;
    int order = memcmp(name->ptr, e->name, name->len);

    return order ? order : -(e->name[name->len] != '\0');
}

static const entity *
find_entity(sn_str name)
{
    if (name.len == 0 || name.len > NAME)
        return NULL;
    return bsearch(&name, entities, sizeof entities / sizeof *entities, sizeof *entities,
                   by_name);
}

static bool
is_alnum(char c)
{
    return sn_is_alpha(c) || sn_is_digit(c);
}

/* Maps a number to its character; 0x80 to 0x9f are those of windows-1252. */
static uint32_t
meant(uint32_t n)
{
    static const uint16_t windows[32] = {
        0x20ac, 0x81,   0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021,
        0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8d,   0x017d, 0x8f,
        0x90,   0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014,
        0x02dc, 0x2122, 0x0161, 0x203a, 0x0153, 0x9d,   0x017e, 0x0178,
    };

    if (n >= 0x80 && n <= 0x9f)
        return windows[n - 0x80];
    if (n == 0 || n > 0x10ffff || (n >= 0xd800 && n <= 0xdfff))
        return 0xfffd;
    return n;
}

static size_t
utf8(uint32_t c, char out[4])
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((0xf00 >> n) | c);
    return n;
}

/* The characters of a reference, and the bytes it takes in the text; 0: no reference. */
typedef struct meaning {
    char text[8];
    size_t len, used;
} meaning;

static meaning
read_number(sn_str s) /* starts at the '#' */
{
    meaning m = {.used = 0};
    bool hex = s.len > 1 && (s.ptr[1] == 'x' || s.ptr[1] == 'X');
    size_t at = hex ? 2 : 1, first = at;
    uint32_t n = 0;

    for (; at < s.len; at++) {
        int digit = sn_hex_digit(s.ptr[at]);

        if (digit < 0 || (!hex && digit > 9))
            break;
        n = n > 0x10ffff ? n : n * (hex ? 16 : 10) + (uint32_t)digit;
    }
    if (at == first)
        return m;
    m.len = utf8(meant(n), m.text);
    m.used = at + (at < s.len && s.ptr[at] == ';');
    return m;
}

static meaning
called(const entity *e, size_t used)
{
    meaning m = {.len = strlen(e->text), .used = used};

    memcpy(m.text, e->text, sizeof e->text);
    return m;
}

static meaning
name(sn_str s, bool attribute)
{
    size_t len = 0;
    const entity *e;

    while (len < s.len && len <= NAME && is_alnum(s.ptr[len]))
        len++;
    if (len < s.len && s.ptr[len] == ';' && (e = find_entity((sn_str){s.ptr, len})))
        return called(e, len + 1);
    for (size_t n = len < LEGACY ? len : LEGACY; n > 1; n--) {
        char next = n < s.len ? s.ptr[n] : '\0';

        e = find_entity((sn_str){s.ptr, n});
        if (!e || !e->legacy)
            continue;
        /* In ?a=1&copy=2 the author meant no copyright sign. */
        if (attribute && (next == '=' || is_alnum(next)))
            break;
        return called(e, n);
    }
    return (meaning){.used = 0};
}

/* Returns the replacement of the byte or reference at the start of `s`. */
static meaning
special(sn_str s, bool attribute)
{
    sn_str rest = {s.ptr + 1, s.len - 1};
    meaning m = {.used = 0};

    if (s.ptr[0] == '\0')
        return (meaning){"\357\277\275", 3, 1};
    if (s.ptr[0] == '\r')
        return (meaning){"\n", 1, rest.len > 0 && rest.ptr[0] == '\n' ? 2 : 1};
    if (rest.len > 0)
        m = rest.ptr[0] == '#' ? read_number(rest) : name(rest, attribute);
    return m.used > 0 ? (m.used++, m) : (meaning){"&", 1, 1};
}

/* Sets the top bit of every byte of x that is c; bytes above the first hit may be set
 * wrongly. */
static uint64_t
hits(uint64_t x, char c)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t v = x ^ ones * (unsigned char)c;

    return (v - ones) & ~v & ones << 7;
}

/* Counts the bytes that need no replacement, eight at a time. */
static size_t
plain(sn_str s)
{
    static const bool taken[256] = {['&'] = true, ['\r'] = true, ['\0'] = true};
    size_t n = 0;

    for (uint64_t x; n + sizeof x <= s.len; n += sizeof x) {
        memcpy(&x, s.ptr + n, sizeof x);
        if (hits(x, '&') | hits(x, '\r') | hits(x, '\0'))
            break;
    }
    while (n < s.len && !taken[(unsigned char)s.ptr[n]])
        n++;
    return n;
}

bool
sn_html_decode(sn_buf *out, sn_str raw, bool attribute, size_t max)
{
    while (raw.len > 0) {
        size_t n = plain(raw), fits = n < max ? n : max;

        sn_buf_add(out, raw.ptr, fits);
        if (fits < n)
            return false;
        raw = sn_str_slice(raw, n, raw.len);
        max -= n;
        if (raw.len == 0)
            break;
        meaning m = special(raw, attribute);
        if (m.len > max)
            return false;
        sn_buf_add(out, m.text, m.len);
        raw = sn_str_slice(raw, m.used, raw.len);
        max -= m.len;
    }
    return true;
}
