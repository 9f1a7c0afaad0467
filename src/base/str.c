/* SPDX-License-Identifier: Apache-2.0 */
#include "base/str.h"

#include <string.h>

sn_str
sn_str_of(const char *terminated)
{
    return (sn_str){terminated, terminated ? strlen(terminated) : 0};
}

/* memcmp must not get NULL, not even for 0 bytes. */
static bool
same(const char *a, const char *b, size_t n)
{
    return n == 0 || memcmp(a, b, n) == 0;
}

/* Makes the letters of eight bytes small: a byte that is a capital gets bit 5 set. The
 * sums do not carry into the next byte, since bit 7 of each is taken out before. */
static uint64_t
lower_eight(const char *bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), high = ones << 7;
    uint64_t x, low;

    memcpy(&x, bytes, sizeof x);
    low = x & ~high;
    uint64_t from_a = low + ones * (0x80 - 'A'), behind_z = low + ones * (0x7f - 'Z');
    return x | (from_a & ~behind_z & ~x & high) >> 2;
}

static bool
same_nocase(const char *a, const char *b, size_t n)
{
    size_t i = 0;

    for (; i + 8 <= n; i += 8)
        if (lower_eight(a + i) != lower_eight(b + i))
            return false;
    if (i < n && n >= 8) /* overlaps bytes that are equal */
        return lower_eight(a + n - 8) == lower_eight(b + n - 8);
    for (; i < n; i++)
        if (sn_lower(a[i]) != sn_lower(b[i]))
            return false;
    return true;
}

bool
sn_str_eq(sn_str a, sn_str b)
{
    return a.len == b.len && same(a.ptr, b.ptr, a.len);
}

bool
sn_str_eq_nocase(sn_str a, sn_str b)
{
    return a.len == b.len && same_nocase(a.ptr, b.ptr, a.len);
}

int
sn_str_cmp(sn_str a, sn_str b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n == 0 ? 0 : memcmp(a.ptr, b.ptr, n);

    return order != 0 ? order : (a.len > b.len) - (a.len < b.len);
}

bool
sn_str_starts(sn_str s, sn_str prefix)
{
    return s.len >= prefix.len && same(s.ptr, prefix.ptr, prefix.len);
}

bool
sn_str_starts_nocase(sn_str s, sn_str prefix)
{
    return s.len >= prefix.len && same_nocase(s.ptr, prefix.ptr, prefix.len);
}

bool
sn_str_ends(sn_str s, sn_str suffix)
{
    return s.len >= suffix.len &&
           sn_str_eq(sn_str_slice(s, s.len - suffix.len, s.len), suffix);
}

size_t
sn_str_find(sn_str s, char c)
{
    const char *at = s.len == 0 ? NULL : memchr(s.ptr, c, s.len);

    return at ? (size_t)(at - s.ptr) : s.len;
}

sn_str
sn_str_trim(sn_str s)
{
    while (s.len > 0 && sn_is_space(s.ptr[s.len - 1]))
        s.len--;
    while (s.len > 0 && sn_is_space(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    return s;
}

sn_str
sn_str_slice(sn_str s, size_t from, size_t to)
{
    if (to > s.len)
        to = s.len;
    if (from >= to)
        return (sn_str){0};
    return (sn_str){s.ptr + from, to - from};
}

bool
sn_str_cut(sn_str s, char at, sn_str *out_head, sn_str *out_tail)
{
    size_t n = sn_str_find(s, at);

    *out_head = sn_str_slice(s, 0, n);
    *out_tail = sn_str_slice(s, n + 1, s.len);
    return n < s.len;
}

bool
sn_str_next(sn_str *rest, char at, sn_str *out_part)
{
    if (rest->len == 0)
        return false;
    sn_str_cut(*rest, at, out_part, rest);
    return true;
}

bool
sn_str_is_among(sn_str s, const char *words)
{
    sn_str rest = sn_str_of(words), word;

    while (sn_str_next(&rest, ' ', &word))
        if (sn_str_eq_nocase(s, word))
            return true;
    return false;
}

/* Each star takes as few bytes as possible; only the last star seen is ever extended. */
bool
sn_str_glob(sn_str pattern, sn_str text)
{
    size_t p = 0, n = 0, star = SIZE_MAX, from = 0;

    while (n < text.len) {
        if (p < pattern.len && pattern.ptr[p] == '*') {
            star = p++;
            from = n;
        } else if (p < pattern.len &&
                   (pattern.ptr[p] == '?' || pattern.ptr[p] == text.ptr[n])) {
            p++;
            n++;
        } else if (star != SIZE_MAX) {
            p = star + 1;
            n = ++from;
        } else {
            return false;
        }
    }
    while (p < pattern.len && pattern.ptr[p] == '*')
        p++;
    return p == pattern.len;
}

seine_err
sn_str_u64(sn_str s, uint64_t *out_n)
{
    uint64_t n = 0;
    bool fits = true;

    if (s.len == 0)
        return SEINE_E_INVAL;
    for (size_t i = 0; i < s.len; i++) {
        if (!sn_is_digit(s.ptr[i]))
            return SEINE_E_INVAL;
        fits = fits && !__builtin_mul_overflow(n, 10u, &n) &&
               !__builtin_add_overflow(n, (uint64_t)(s.ptr[i] - '0'), &n);
    }
    if (!fits)
        return SEINE_E_RANGE;
    *out_n = n;
    return SEINE_OK;
}

/* Applies the sign; INT64_MIN has no positive counterpart. */
static seine_err
negate(bool minus, uint64_t n, int64_t *out_n)
{
    if (n > (uint64_t)INT64_MAX + minus)
        return SEINE_E_RANGE;
    *out_n = minus ? (int64_t)-n : (int64_t)n;
    return SEINE_OK;
}

static bool
minus_sign(sn_str *s)
{
    if (s->len == 0 || s->ptr[0] != '-')
        return false;
    *s = (sn_str){s->ptr + 1, s->len - 1};
    return true;
}

seine_err
sn_str_i64(sn_str s, int64_t *out_n)
{
    bool minus = minus_sign(&s);
    uint64_t n = 0;
    seine_err e = sn_str_u64(s, &n);

    return e != SEINE_OK ? e : negate(minus, n, out_n);
}

seine_err
sn_str_decimal(sn_str s, unsigned places, int64_t *out_n)
{
    bool minus = minus_sign(&s);
    sn_str whole, part;
    bool has_point = sn_str_cut(s, '.', &whole, &part);
    uint64_t n = 0, rest = 0;
    seine_err e = sn_str_u64(whole, &n);

    if (e == SEINE_E_INVAL)
        return e;
    if (has_point && sn_str_u64(part, &rest) == SEINE_E_INVAL)
        return SEINE_E_INVAL;

    while (part.len > places && part.ptr[part.len - 1] == '0')
        part.len--;
    if (e != SEINE_OK || part.len > places)
        return SEINE_E_RANGE;
    for (size_t i = 0; i < places; i++) {
        uint64_t digit = i < part.len ? (uint64_t)(part.ptr[i] - '0') : 0;

        if (__builtin_mul_overflow(n, 10u, &n) || __builtin_add_overflow(n, digit, &n))
            return SEINE_E_RANGE;
    }
    return negate(minus, n, out_n);
}

/* Emits the digits right to left and drops trailing zeros. */
size_t
sn_decimal_text(int64_t n, unsigned places, char out_text[24])
{
    uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;
    char text[24];
    size_t at = sizeof text;

    text[--at] = '\0';
    for (unsigned i = 0; i < places; i++, left /= 10)
        if (left % 10 != 0 || text[at] != '\0')
            text[--at] = (char)('0' + left % 10);
    if (text[at] != '\0')
        text[--at] = '.';
    do
        text[--at] = (char)('0' + left % 10);
    while ((left /= 10) > 0);
    if (n < 0)
        text[--at] = '-';
    memcpy(out_text, text + at, sizeof text - at);
    return sizeof text - at - 1;
}

size_t
sn_utf8_decode(sn_str s, uint32_t *out_char)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = s.len > 0 ? (unsigned char)s.ptr[0] : 0x80;
    size_t len = first < 0x80   ? 1
                 : first < 0xc0 ? 0
                 : first < 0xe0 ? 2
                 : first < 0xf0 ? 3
                 : first < 0xf8 ? 4
                                : 0;
    uint32_t c = len == 1 ? first : first & (0x7fu >> len);

    if (len == 0 || len > s.len)
        return 0;
    for (size_t i = 1; i < len; i++) {
        if ((s.ptr[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s.ptr[i] & 0x3f);
    }
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        return 0;
    *out_char = c;
    return len;
}

bool
sn_utf8_valid(sn_str s)
{
    uint32_t c;

    for (size_t n; s.len > 0; s = (sn_str){s.ptr + n, s.len - n})
        if ((n = sn_utf8_decode(s, &c)) == 0)
            return false;
    return true;
}
