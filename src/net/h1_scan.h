/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h1_scan.h - find the end of a name or a value in a head, eight bytes at a time: a name
 * ends at the first byte that is no token character, a value at the next control byte.
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

/* Strips blanks and tabs only: HTTP knows no other white space. */
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

/* Loads eight bytes as one number, the first lowest; repeats a byte eight times. */
static inline uint64_t
sn_h1_eight(const char *s)
{
    uint64_t bytes;

    memcpy(&bytes, s, 8);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? bytes : __builtin_bswap64(bytes);
}

#define SN_H1_EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/*
 * A step looks at SN_H1_STEP bytes at once. Its result is a number whose lowest set bit
 * marks the first byte found; higher bits may be wrong. SN_H1_BITS bits belong to each
 * byte.
 *
 * Controls are bytes below the blank: line ends, NUL, tabs and so on. Others are neither
 * letters nor hyphens; most names have none.
 */
#ifdef __SSE2__

#define SN_H1_STEP     16
#define SN_H1_BITS     1
#define SN_H1_CONTROLS sn_h1_controls_16
#define SN_H1_OTHERS   sn_h1_others_16

typedef uint8_t sn_h1_bytes __attribute__((vector_size(16)));
typedef char sn_h1_chars __attribute__((vector_size(16)));

static inline sn_h1_bytes
sn_h1_sixteen(const char *s)
{
    sn_h1_bytes bytes;

    memcpy(&bytes, s, 16);
    return bytes;
}

static inline uint64_t
sn_h1_controls_16(const char *s)
{
    sn_h1_chars hits = (sn_h1_chars)(sn_h1_sixteen(s) < 0x20);

    return (uint64_t)__builtin_ia32_pmovmskb128(hits);
}

static inline uint64_t
sn_h1_others_16(const char *s)
{
    sn_h1_bytes bytes = sn_h1_sixteen(s), letter = (bytes | 0x20) - 'a';
    sn_h1_chars hits = (sn_h1_chars)((letter > 25) & (bytes != '-'));

    return (uint64_t)__builtin_ia32_pmovmskb128(hits);
}

#else

#define SN_H1_STEP     8
#define SN_H1_BITS     8
#define SN_H1_CONTROLS sn_h1_controls_8
#define SN_H1_OTHERS   sn_h1_others_8

static inline uint64_t
sn_h1_controls_8(const char *s)
{
    uint64_t bytes = sn_h1_eight(s);

    return (bytes - SN_H1_EACH(0x20)) & ~bytes & SN_H1_EACH(0x80);
}

static inline uint64_t
sn_h1_others_8(const char *s)
{
    uint64_t bytes = sn_h1_eight(s), hyphen = bytes ^ SN_H1_EACH('-');
    uint64_t low = (bytes | SN_H1_EACH(0x20)) & SN_H1_EACH(0x7f);
    uint64_t from_a = low + SN_H1_EACH(0x80 - 'a'),
             above_z = low + SN_H1_EACH(0x7f - 'z');
    uint64_t other = (hyphen & SN_H1_EACH(0x7f)) + SN_H1_EACH(0x7f);

    return ~(((from_a & ~above_z) | ~other) & ~bytes) & SN_H1_EACH(0x80);
}

#endif

static inline uint32_t
sn_h1_first(uint64_t hits)
{
    return (uint32_t)__builtin_ctzll(hits) / SN_H1_BITS;
}

/* Returns the index of the first control byte at or after `at`. */
static inline uint32_t
sn_h1_control(const char *text, uint32_t at, uint32_t len)
{
    for (; len - at >= SN_H1_STEP; at += SN_H1_STEP) {
        uint64_t hits = SN_H1_CONTROLS(text + at);

        if (hits)
            return at + sn_h1_first(hits);
    }
    while (at < len && (unsigned char)text[at] >= 0x20)
        at++;
    return at;
}

/* Returns the index of the first byte at or after `at` that is no token character. */
static inline uint32_t
sn_h1_token_end(const char *text, uint32_t at, uint32_t len)
{
    while (len - at >= SN_H1_STEP) {
        uint64_t hits = SN_H1_OTHERS(text + at);

        if (!hits) {
            at += SN_H1_STEP;
            continue;
        }
        at += sn_h1_first(hits);
        if (text[at] == ':' || !sn_h1_token[(unsigned char)text[at]])
            return at;
        at++;
    }
    while (at < len && sn_h1_token[(unsigned char)text[at]])
        at++;
    return at;
}

/* Compares a name or a value, without case, to a word of at least eight lower-case
 * letters and hyphens. Ignoring bit 5 is safe: only a letter differs by it from its other
 * case, and CR from a hyphen, and no name or value holds CR. */
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
