/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h1_scan.h - finds the places in a head where something happens, eight bytes at a
 * time: a name ends where a token does, a value at the next control byte.
 */
#ifndef SN_H1_SCAN_H
#define SN_H1_SCAN_H

#include <string.h>

#include "base/str.h"

/* Which bytes a token may have (RFC 9110, 5.6.2). */
extern const uint8_t sn_h1_token[256];

static inline bool
sn_h1_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Without blanks at the ends; other white space of text is none of HTTP's. */
static inline sn_str
sn_h1_trim(sn_str s)
{
    while (s.len > 0 && sn_h1_is_blank(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len > 0 && sn_h1_is_blank(s.ptr[s.len - 1]))
        s.len--;
    return s;
}

/* Eight bytes as one number, the first lowest; a byte repeated eight times. */
static inline uint64_t
sn_h1_eight(const char *s)
{
    uint64_t bytes;

    memcpy(&bytes, s, 8);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? bytes : __builtin_bswap64(bytes);
}

#define SN_H1_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* The first byte below the blank from `at` on: line ends, NUL, tabs and the like.
 * Bytes from 0x80 on are not looked for. */
static inline uint32_t
sn_h1_control(const char *text, uint32_t at, uint32_t len)
{
    for (; len - at >= 8; at += 8) {
        uint64_t bytes = sn_h1_eight(text + at);
        uint64_t hit = (bytes - SN_H1_EACH(0x20)) & ~bytes & SN_H1_EACH(0x80);

        if (hit)
            return at + (uint32_t)__builtin_ctzll(hit) / 8;
    }
    while (at < len && (unsigned char)text[at] >= 0x20)
        at++;
    return at;
}

/* The top bit of every byte that is a letter or a hyphen: most of all names. */
static inline uint64_t
sn_h1_letters(uint64_t bytes)
{
    uint64_t low = (bytes | SN_H1_EACH(0x20)) & SN_H1_EACH(0x7f),
             hyphen = bytes ^ SN_H1_EACH('-');
    uint64_t from_a = low + SN_H1_EACH(0x80 - 'a'),
             above_z = low + SN_H1_EACH(0x7f - 'z');
    uint64_t other = (hyphen & SN_H1_EACH(0x7f)) + SN_H1_EACH(0x7f);

    return ((from_a & ~above_z) | ~other) & ~bytes & SN_H1_EACH(0x80);
}

/* The first byte from `at` on that a token cannot have. */
static inline uint32_t
sn_h1_token_end(const char *text, uint32_t at, uint32_t len)
{
    while (len - at >= 8) {
        uint64_t rest = ~sn_h1_letters(sn_h1_eight(text + at)) & SN_H1_EACH(0x80);

        if (rest == 0) {
            at += 8;
            continue;
        }
        at += (uint32_t)__builtin_ctzll(rest) / 8;
        if (!sn_h1_token[(unsigned char)text[at]])
            return at;
        at++;
    }
    while (at < len && sn_h1_token[(unsigned char)text[at]])
        at++;
    return at;
}

/* Compares a name, which is a token, with a word of letters and hyphens in lower
 * case, at least eight of them: in a token only a letter differs from itself in
 * lower case by this bit. */
static inline bool
sn_h1_is_word(sn_str name, const char *word, size_t len)
{
    if (name.len != len)
        return false;
    for (size_t i = 0; i + 8 < len; i += 8)
        if ((sn_h1_eight(name.ptr + i) | SN_H1_EACH(0x20)) != sn_h1_eight(word + i))
            return false;
    return (sn_h1_eight(name.ptr + len - 8) | SN_H1_EACH(0x20)) ==
           sn_h1_eight(word + len - 8);
}

#define SN_H1_IS_WORD(name, literal) sn_h1_is_word(name, literal, sizeof(literal) - 1)

static inline bool
sn_h1_is_framing(sn_str name)
{
    return SN_H1_IS_WORD(name, "content-length") ||
           SN_H1_IS_WORD(name, "transfer-encoding");
}

#endif
