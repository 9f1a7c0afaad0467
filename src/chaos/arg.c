/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/arg.h"

#include <string.h>

#include "base/hash.h"
#include "base/time.h"

#define LONGEST (SEINE_SECS(3600) * 24 * 3653)

bool
snc_arg_count(sn_str s, uint64_t most, uint64_t *out_n)
{
    uint64_t n;

    if (sn_str_u64(s, &n) != SEINE_OK || n > most)
        return false;
    *out_n = n;
    return true;
}

bool
snc_arg_size(sn_str s, uint64_t *out_bytes)
{
    static const char units[] = {'k', 'M', 'G'};
    const char *unit = s.len > 0 ? memchr(units, s.ptr[s.len - 1], sizeof units) : NULL;
    unsigned shift = unit ? 10 * (unsigned)(unit - units + 1) : 0;
    uint64_t n;

    if (unit)
        s.len--;
    if (!snc_arg_count(s, SNC_ARG_MOST >> shift, &n))
        return false;
    *out_bytes = n << shift;
    return true;
}

bool
snc_arg_span(sn_str s, seine_span *out_span)
{
    static const struct {
        sn_str name;
        seine_span worth;
    } units[] = {
        {{"ms", 2}, SEINE_MS(1)},
        {{"us", 2}, SEINE_US(1)},
        {{"ns", 2}, 1},
        {{"s", 1}, SEINE_SECS(1)},
        {{"m", 1}, SEINE_SECS(60)},
        {{"h", 1}, SEINE_SECS(3600)},
    };
    int64_t micros; /* of the unit */

    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (!sn_str_ends(s, units[i].name))
            continue;
        s.len -= units[i].name.len;
        if (sn_str_decimal(s, 6, &micros) != SEINE_OK || micros < 0)
            return false;
        sn_u128 span = (sn_u128)(uint64_t)micros * (uint64_t)units[i].worth / 1000000;
        if (span > (sn_u128)LONGEST)
            return false;
        *out_span = (seine_span)span;
        return true;
    }
    if (!sn_str_eq(s, SN_STR("0")))
        return false;
    *out_span = 0;
    return true;
}

bool
snc_arg_share(sn_str s, uint64_t *out_ppb)
{
    int64_t n;

    if (sn_str_decimal(s, 9, &n) != SEINE_OK || n < 0 || n > 1000000000)
        return false;
    *out_ppb = (uint64_t)n;
    return true;
}

sn_str
snc_arg_decode(sn_str s, sn_arena *arena)
{
    if (sn_str_find(s, '%') == s.len)
        return s;

    char *out = sn_arena_get(arena, s.len + 1, 1, 1);
    size_t n = 0;

    if (!out)
        return (sn_str){NULL, 0};
    for (size_t i = 0; i < s.len; i++) {
        int high = i + 2 < s.len ? sn_hex_digit(s.ptr[i + 1]) : -1;
        int low = i + 2 < s.len ? sn_hex_digit(s.ptr[i + 2]) : -1;

        if (s.ptr[i] == '%' && high >= 0 && low >= 0) {
            out[n++] = (char)(high * 16 + low);
            i += 2;
        } else {
            out[n++] = s.ptr[i];
        }
    }
    return (sn_str){out, n};
}

static int
six_bits(char c)
{
    if (c >= 'A' && c <= 'Z')
        return c - 'A';
    if (c >= 'a' && c <= 'z')
        return c - 'a' + 26;
    if (sn_is_digit(c))
        return c - '0' + 52;
    return c == '-' ? 62 : c == '_' ? 63 : -1;
}

bool
snc_arg_base64(sn_str s, sn_arena *arena, sn_str *out_bytes)
{
    char *out = sn_arena_get(arena, s.len + 1, 1, 1);
    uint32_t bits = 0;
    size_t n = 0;

    if (!out || s.len % 4 == 1)
        return false;
    for (size_t i = 0; i < s.len; i++) {
        int six = six_bits(s.ptr[i]);

        if (six < 0)
            return false;
        bits = bits << 6 | (uint32_t)six;
        if (i % 4 > 0)
            out[n++] = (char)(bits >> (6 - 2 * (i % 4)));
    }
    *out_bytes = (sn_str){out, n};
    return true;
}

size_t
snc_arg_to_base64(sn_str s, char *out)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=";
    enum { PAD = 64 };
    size_t n = 0;

    for (size_t i = 0; i < s.len; i += 3) {
        size_t left = s.len - i;
        uint32_t bits = (uint32_t)(unsigned char)s.ptr[i] << 16;

        bits |= left > 1 ? (uint32_t)(unsigned char)s.ptr[i + 1] << 8 : 0;
        bits |= left > 2 ? (uint32_t)(unsigned char)s.ptr[i + 2] : 0;
        out[n++] = letters[bits >> 18];
        out[n++] = letters[bits >> 12 & 63];
        out[n++] = letters[left > 1 ? bits >> 6 & 63 : PAD];
        out[n++] = letters[left > 2 ? bits & 63 : PAD];
    }
    return n;
}

uint64_t
snc_dice(uint64_t seed, sn_str key, uint64_t hit, uint64_t what)
{
    const uint64_t secret[2] = {seed, what};

    return snc_mix(sn_siphash(secret, key.ptr, key.len), hit, what);
}

uint64_t
snc_below(uint64_t bits, uint64_t n)
{
    return (uint64_t)((sn_u128)bits * n >> 64);
}
