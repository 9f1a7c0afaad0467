/* SPDX-License-Identifier: Apache-2.0 */
#include "base/scan.h"

const char *
sn_scan_byte_plain(const char *p, const char *end, char c)
{
    while (p < end && *p != c)
        p++;
    return p;
}

size_t
sn_scan_ascii_plain(const char *p, size_t n)
{
    size_t i = 0;

    while (i < n && (unsigned char)p[i] < 0x80)
        i++;
    return i;
}

size_t
sn_scan_count_plain(const char *p, size_t n, char c)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += p[i] == c;
    return count;
}

bool
sn_scan_is_literal_plain(const char *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)p[i] >= 0x80 || p[i] == '&' || p[i] == '\r' || p[i] == '\0')
            return false;
    return true;
}

#ifdef __SSE2__

static __m128i
block_at(const char *p)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}

size_t
sn_scan_ascii(const char *p, size_t n)
{
    size_t i = 0;

    for (; n - i >= 64; i += 64) {
        __m128i a = _mm_or_si128(block_at(p + i), block_at(p + i + 16));
        __m128i b = _mm_or_si128(block_at(p + i + 32), block_at(p + i + 48));

        if (_mm_movemask_epi8(_mm_or_si128(a, b)))
            break;
    }
    for (; n - i >= 16; i += 16) {
        unsigned high = (unsigned)_mm_movemask_epi8(block_at(p + i));

        if (high)
            return i + (size_t)__builtin_ctz(high);
    }
    return i < n ? i + sn_scan_ascii_plain(p + i, n - i) : n; /* p may be NULL then */
}

/* The hits of 64 bytes are added bytewise, which holds at most 4 each, and then summed.
 */
size_t
sn_scan_count(const char *p, size_t n, char c)
{
    const __m128i all = _mm_set1_epi8(c), zero = _mm_setzero_si128();
    __m128i sums = zero;
    size_t i = 0;

    for (; n - i >= 64; i += 64) {
        __m128i a = _mm_add_epi8(_mm_cmpeq_epi8(block_at(p + i), all),
                                 _mm_cmpeq_epi8(block_at(p + i + 16), all));
        __m128i b = _mm_add_epi8(_mm_cmpeq_epi8(block_at(p + i + 32), all),
                                 _mm_cmpeq_epi8(block_at(p + i + 48), all));
        __m128i hits = _mm_sub_epi8(zero, _mm_add_epi8(a, b)); /* a hit is -1 */

        sums = _mm_add_epi64(sums, _mm_sad_epu8(hits, zero));
    }
    for (; n - i >= 16; i += 16) {
        __m128i hits = _mm_sub_epi8(zero, _mm_cmpeq_epi8(block_at(p + i), all));

        sums = _mm_add_epi64(sums, _mm_sad_epu8(hits, zero));
    }
    sums = _mm_add_epi64(sums, _mm_unpackhi_epi64(sums, sums));
    return (size_t)_mm_cvtsi128_si64(sums) +
           (i < n ? sn_scan_count_plain(p + i, n - i, c) : 0); /* p may be NULL then */
}

/* Sets the top bit of each byte that is not literal. */
static __m128i
not_literal(__m128i block)
{
    __m128i amp = _mm_cmpeq_epi8(block, _mm_set1_epi8('&'));
    __m128i cr = _mm_cmpeq_epi8(block, _mm_set1_epi8('\r'));
    __m128i nul = _mm_cmpeq_epi8(block, _mm_setzero_si128());

    return _mm_or_si128(_mm_or_si128(block, amp), _mm_or_si128(cr, nul));
}

/* Eight bytes, twice. */
static __m128i
half_at(const char *p)
{
    __m128i half = _mm_loadl_epi64((const __m128i *)(const void *)p);

    return _mm_unpacklo_epi64(half, half);
}

/* The last block overlaps the one before it, so that no byte is looked at alone. */
bool
sn_scan_is_literal(const char *p, size_t n)
{
    size_t i = 0;

    if (n < 8)
        return sn_scan_is_literal_plain(p, n);
    if (n < 16)
        return !_mm_movemask_epi8(
            _mm_or_si128(not_literal(half_at(p)), not_literal(half_at(p + n - 8))));
    for (; n - i > 16; i += 16)
        if (_mm_movemask_epi8(not_literal(block_at(p + i))))
            return false;
    return !_mm_movemask_epi8(not_literal(block_at(p + n - 16)));
}

#else

size_t
sn_scan_ascii(const char *p, size_t n)
{
    return sn_scan_ascii_plain(p, n);
}

size_t
sn_scan_count(const char *p, size_t n, char c)
{
    return sn_scan_count_plain(p, n, c);
}

bool
sn_scan_is_literal(const char *p, size_t n)
{
    return sn_scan_is_literal_plain(p, n);
}

#endif
