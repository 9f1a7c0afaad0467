/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "text/url.h"

/* Reads a decimal, octal (0) or hexadecimal (0x) number in lower case; "0x" is 0 and ""
 * is no number. Values above 32 bits become 2^32, which is invalid for every part. */
static bool
read_number(sn_str s, uint64_t *out_n)
{
    const uint64_t most = UINT64_C(1) << 32;
    unsigned base = 10;
    uint64_t n = 0;

    if (s.len == 0)
        return false;
    if (s.len > 1 && s.ptr[0] == '0') {
        bool is_hex = s.ptr[1] == 'x';

        base = is_hex ? 16 : 8;
        s = sn_str_slice(s, is_hex ? 2 : 1, s.len);
    }
    for (size_t i = 0; i < s.len; i++) {
        int digit = sn_hex_digit(s.ptr[i]);

        if (digit < 0 || (unsigned)digit >= base)
            return false;
        n = n * base + (unsigned)digit;
        n = n < most ? n : most;
    }
    *out_n = n;
    return true;
}

static bool
is_digits(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!sn_is_digit(s.ptr[i]))
            return false;
    return s.len > 0;
}

/* URL Standard, 3.5: a host whose last label is a number is an IPv4 address or
 * invalid. */
static bool
ends_in_number(sn_str name)
{
    size_t dot = name.len;
    uint64_t n;

    while (dot > 0 && name.ptr[dot - 1] != '.')
        dot--;
    sn_str last = sn_str_slice(name, dot, name.len);
    if (last.len == 0 || !sn_is_digit(last.ptr[0]))
        return false;
    return is_digits(last) || read_number(last, &n);
}

/* Reads one to four numbers; the last one fills the remaining bytes. */
static bool
read_ipv4(sn_str name, uint32_t *out_address)
{
    uint64_t n[4], address = 0;
    size_t count = 0;
    bool more;

    do {
        sn_str part;

        more = sn_str_cut(name, '.', &part, &name);
        if (count == 4 || !read_number(part, &n[count++]))
            return false;
    } while (more);
    for (size_t i = 0; i + 1 < count; i++) {
        if (n[i] > 255)
            return false;
        address |= n[i] << (24 - 8 * i);
    }
    if (n[count - 1] >> (8 * (5 - count)))
        return false;
    *out_address = (uint32_t)(address | n[count - 1]);
    return true;
}

bool
sn_url_rewrite_ipv4(sn_url_build *b, size_t start, bool *out_is)
{
    sn_str name = {b->out + start, b->len - start};
    uint32_t a;

    if (name.len > 1 && name.ptr[name.len - 1] == '.')
        name.len--;
    *out_is = ends_in_number(name);
    if (!*out_is)
        return true;
    b->steps += 3 * name.len;
    if (!read_ipv4(name, &a))
        return false;
    b->len = start;
    for (int shift = 24; shift >= 0; shift -= 8) {
        sn_url_put_number(b, a >> shift & 255);
        if (shift > 0)
            sn_url_put(b, '.');
    }
    return true;
}

/* Reads the IPv4 part at the end of an IPv6 address, its last two pieces: four decimal
 * numbers up to 255 without leading zeros. */
static bool
read_tail(sn_str s, uint16_t *pieces)
{
    unsigned bytes[4];

    for (int i = 0; i < 4; i++) {
        sn_str part;
        uint64_t n = 0;
        bool dotted = sn_str_cut(s, '.', &part, &s);

        if (dotted != (i < 3) || part.len > 3 || !is_digits(part) ||
            (part.len > 1 && part.ptr[0] == '0') || !read_number(part, &n) || n > 255)
            return false;
        bytes[i] = (unsigned)n;
    }
    pieces[0] = (uint16_t)(bytes[0] << 8 | bytes[1]);
    pieces[1] = (uint16_t)(bytes[2] << 8 | bytes[3]);
    return true;
}

/* Reads up to four hexadecimal digits. */
static size_t
read_piece(sn_str s, uint16_t *out_piece)
{
    unsigned n = 0;
    size_t i = 0;

    for (; i < s.len && i < 4 && sn_hex_digit(s.ptr[i]) >= 0; i++)
        n = n << 4 | (unsigned)sn_hex_digit(s.ptr[i]);
    *out_piece = (uint16_t)n;
    return i;
}

/* URL Standard, 3.5, IPv6 parser. */
static bool
read_ipv6(sn_str s, uint16_t pieces[8])
{
    int count = 0, gap = -1;

    if (s.len > 0 && s.ptr[0] == ':') {
        if (s.len < 2 || s.ptr[1] != ':')
            return false;
        s = sn_str_slice(s, 2, s.len);
        gap = 0;
    }
    while (s.len > 0) {
        if (count == 8)
            return false;
        if (s.ptr[0] == ':') {
            if (gap >= 0)
                return false;
            s = sn_str_slice(s, 1, s.len);
            gap = count;
            continue;
        }
        size_t n = read_piece(s, &pieces[count]);
        if (n < s.len && s.ptr[n] == '.') {
            if (n == 0 || count > 6 || !read_tail(s, &pieces[count]))
                return false;
            count += 2;
            break;
        }
        s = sn_str_slice(s, n, s.len);
        count++;
        if (s.len == 0)
            break;
        if (s.ptr[0] != ':' || s.len == 1)
            return false;
        s = sn_str_slice(s, 1, s.len);
    }
    if (gap < 0)
        return count == 8;
    if (count == 8)
        return false;
    for (int i = 7, j = count - 1; i >= gap; i--, j--)
        pieces[i] = j >= gap ? pieces[j] : 0;
    return true;
}

/* Finds the first of the longest runs of two or more zeros. */
static int
zeros(const uint16_t pieces[8], int *out_len)
{
    int best = -1;

    *out_len = 1;
    for (int i = 0; i < 8; i++) {
        int n = 0;

        while (i + n < 8 && pieces[i + n] == 0)
            n++;
        if (n > *out_len) {
            *out_len = n;
            best = i;
        }
        i += n;
    }
    return best;
}

bool
sn_url_write_ipv6(sn_url_build *b, sn_str text)
{
    uint16_t pieces[8] = {0};
    char digits[8];
    int len, gap;

    b->steps += text.len;
    if (text.ptr[text.len - 1] != ']' ||
        !read_ipv6(sn_str_slice(text, 1, text.len - 1), pieces))
        return sn_url_flawed(b, SEINE_URL_BAD_IPV6, text.ptr);

    gap = zeros(pieces, &len);
    sn_url_put(b, '[');
    for (int i = 0; i < 8; i++) {
        if (i == gap) {
            sn_url_add(b, "::", i == 0 ? 2 : 1);
            i += len - 1;
            continue;
        }
        int n = snprintf(digits, sizeof digits, i < 7 ? "%x:" : "%x", pieces[i]);
        sn_url_add(b, digits, (size_t)n);
    }
    sn_url_put(b, ']');
    return true;
}
