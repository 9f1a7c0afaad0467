/* SPDX-License-Identifier: Apache-2.0 */
#include "text/unicode.h"

#include <stdlib.h>

typedef struct range {
    uint32_t first, last;
} range;

typedef struct pair {
    uint32_t from, to;
} pair;

typedef struct plain {
    uint32_t from;
    char text[8];
} plain;

#define NOTHING(...)

static const range words[] = {
#define WORD(first, last) {first, last},
#define LOWER             NOTHING
#define ASCII             NOTHING
#include "unicode.inc"
#undef WORD
#undef LOWER
#undef ASCII
};

static const pair lowers[] = {
#define WORD            NOTHING
#define LOWER(from, to) {from, to},
#define ASCII           NOTHING
#include "unicode.inc"
#undef WORD
#undef LOWER
#undef ASCII
};

static const plain plains[] = {
#define WORD              NOTHING
#define LOWER             NOTHING
#define ASCII(from, text) {from, text},
#include "unicode.inc"
#undef WORD
#undef LOWER
#undef ASCII
};

static int
by_range(const void *key, const void *row)
{
    uint32_t c = *(const uint32_t *)key;
    const range *r = row;

    return c < r->first ? -1 : c > r->last;
}

/* Rows of both other tables begin with the character. */
static int
by_first(const void *key, const void *row)
{
    uint32_t c = *(const uint32_t *)key, from = *(const uint32_t *)row;

    return c < from ? -1 : c > from;
}

bool
sn_unicode_is_word(uint32_t c)
{
    if (c < 0x80)
        return (c | 0x20) - 'a' < 26 || c - '0' < 10 || c == '_';
    return bsearch(&c, words, sizeof words / sizeof *words, sizeof *words, by_range);
}

uint32_t
sn_unicode_lower(uint32_t c)
{
    if (c < 0x80)
        return c - 'A' < 26 ? c | 0x20 : c;
    const pair *p =
        bsearch(&c, lowers, sizeof lowers / sizeof *lowers, sizeof *lowers, by_first);
    return p ? p->to : c;
}

const char *
sn_unicode_ascii(uint32_t c)
{
    const plain *p =
        bsearch(&c, plains, sizeof plains / sizeof *plains, sizeof *plains, by_first);

    return p ? p->text : "";
}

void
sn_unicode_add(sn_buf *out, uint32_t c)
{
    char s[4];
    size_t n = 0;

    if (c < 0x80) {
        s[n++] = (char)c;
    } else if (c < 0x800) {
        s[n++] = (char)(0xc0 | c >> 6);
    } else if (c < 0x10000) {
        s[n++] = (char)(0xe0 | c >> 12);
        s[n++] = (char)(0x80 | (c >> 6 & 0x3f));
    } else {
        s[n++] = (char)(0xf0 | c >> 18);
        s[n++] = (char)(0x80 | (c >> 12 & 0x3f));
        s[n++] = (char)(0x80 | (c >> 6 & 0x3f));
    }
    if (c >= 0x80)
        s[n++] = (char)(0x80 | (c & 0x3f));
    sn_buf_add(out, s, n);
}
