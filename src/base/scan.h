/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - search and count bytes, sixteen at a time.
 *
 *     const char *less = sn_scan_byte(p, end, '<');       `end` if there is none
 *     size_t plain = sn_scan_ascii(p, n);                 bytes before the first above
 * 0x7f size_t lines = sn_scan_count(p, n, '\n'); bool as_it_is = sn_scan_is_literal(p,
 * n);           needs no decoding in HTML
 *
 * x86-64 always has SSE2, so the vector form needs no question about the CPU. Every
 * function has a twin that looks at one byte after the other: other machines run it, and
 * tests hold both to the same answers. No function reads a byte outside of its range.
 *
 * sn_scan_byte is made for runs of a few dozen bytes, where a call of memchr costs more
 * than its search; behind 64 bytes it calls memchr.
 *
 * Time    plays no part; work is linear in the bytes.
 * Memory  none.
 * Threads any thread.
 */
#ifndef SN_SCAN_H
#define SN_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* The twins. */
const char *sn_scan_byte_plain(const char *p, const char *end, char c);
size_t sn_scan_ascii_plain(const char *p, size_t n);
size_t sn_scan_count_plain(const char *p, size_t n, char c);
bool sn_scan_is_literal_plain(const char *p, size_t n);

/* Returns how many bytes before the first one above 0x7f; n if there is none. */
size_t sn_scan_ascii(const char *p, size_t n);

/* Returns how many bytes are c. */
size_t sn_scan_count(const char *p, size_t n, char c);

/* True if the bytes mean themselves in HTML: ASCII without &, CR and NUL. */
bool sn_scan_is_literal(const char *p, size_t n);

/* Returns where the first c is, or `end`. */
static inline const char *
sn_scan_byte(const char *p, const char *end, char c)
{
#ifdef __SSE2__
    const __m128i all = _mm_set1_epi8(c);

    for (int i = 0; i < 4 && end - p >= 16; i++, p += 16) {
        __m128i block = _mm_loadu_si128((const __m128i *)(const void *)p);
        unsigned hits = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(block, all));

        if (hits)
            return p + __builtin_ctz(hits);
    }
    if (end - p >= 16) {
        const char *found = memchr(p, c, (size_t)(end - p));

        return found ? found : end;
    }
#endif
    while (p < end && *p != c)
        p++;
    return p;
}

#endif
