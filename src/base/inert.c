/* SPDX-License-Identifier: Apache-2.0 */
#include "base/inert.h"

#include <stdio.h>
#include <string.h>

#include "seine/plumbing.h"

/* Format characters and line separators (categories Cf, Zl, Zp of Unicode 15), except the
 * two joiners, which many languages need; and what may not stand in XML at all. */
static const struct range {
    uint32_t from, to;
} hidden[] = {
    {0xad, 0xad},       {0x600, 0x605},     {0x61c, 0x61c},     {0x6dd, 0x6dd},
    {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x180e, 0x180e},
    {0x200b, 0x200b},   {0x200e, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x2064},
    {0x2066, 0x206f},   {0xfeff, 0xfeff},   {0xfff9, 0xfffb},   {0xfffe, 0xffff},
    {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f}, {0x1bca0, 0x1bca3},
    {0x1d173, 0x1d17a}, {0xe0001, 0xe0001}, {0xe0020, 0xe007f},
};

bool
sn_inert_is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

bool
sn_inert_is_hidden(uint32_t c)
{
    for (size_t i = 0; i < sizeof hidden / sizeof *hidden; i++)
        if (c >= hidden[i].from && c <= hidden[i].to)
            return true;
    return false;
}

size_t
sn_inert_char(sn_str bytes, uint32_t *out_char)
{
    uint32_t c = 0;
    size_t len = bytes.len > 0 ? sn_utf8_decode(bytes, &c) : 0;

    if (len == 0 || sn_inert_is_control(c) || sn_inert_is_hidden(c))
        return 0;
    *out_char = c;
    return len;
}

static bool
may_stay(uint32_t c, sn_inert_how how)
{
    if (c == '\t' || (c == '\n' && how == SN_INERT_SCREEN))
        return true;
    if (sn_inert_is_control(c) || c == 0x2028 || c == 0x2029)
        return false;
    return how == SN_INERT_LINE || !sn_inert_is_hidden(c);
}

static size_t
escape_char(uint32_t c, char out[16])
{
    if (c < 0x80)
        return (size_t)snprintf(out, 16, "\\x%02x", c);
    if (c < 0x10000)
        return (size_t)snprintf(out, 16, "\\u%04x", c);
    c -= 0x10000;
    return (size_t)snprintf(out, 16, "\\u%04x\\u%04x", 0xd800 + (c >> 10),
                            0xdc00 + (c & 0x3ff));
}

/* Length of the printable ASCII at the beginning. */
static size_t
plain_len(sn_str s)
{
    size_t n = 0;

    while (n < s.len && s.ptr[n] >= ' ' && s.ptr[n] < 0x7f)
        n++;
    return n;
}

/* The next piece as it is written; *out_len is how long it was. */
static sn_str
next_piece(sn_str s, sn_inert_how how, char room[16], size_t *out_len)
{
    size_t plain = plain_len(s), len;
    uint32_t c = 0;

    *out_len = plain;
    if (plain > 0)
        return (sn_str){s.ptr, plain};
    len = sn_utf8_decode(s, &c);
    *out_len = len > 0 ? len : 1;
    if (len == 0)
        return (sn_str){room, (size_t)snprintf(room, 16, "\\x%02x", (uint8_t)*s.ptr)};
    if (how == SN_INERT_SCREEN && sn_str_starts(s, SN_STR("\r\n")))
        return (sn_str){s.ptr, 0};
    return may_stay(c, how) ? (sn_str){s.ptr, len} : (sn_str){room, escape_char(c, room)};
}

size_t
sn_inert(sn_str bytes, sn_inert_how how, char *out, size_t cap)
{
    size_t total = 0, len;
    char room[16];

    for (; bytes.len > 0; bytes = sn_str_slice(bytes, len, bytes.len)) {
        sn_str piece = next_piece(bytes, how, room, &len);

        if (total < cap && piece.len > 0)
            memcpy(out + total, piece.ptr,
                   piece.len < cap - total ? piece.len : cap - total);
        total += piece.len;
    }
    return total;
}

size_t
seine_inert(const char *bytes, size_t n, seine_inert_how how, char *out, size_t cap)
{
    return sn_inert((sn_str){bytes, n}, (sn_inert_how)how, out, cap);
}

size_t
seine_inert_char(const char *bytes, size_t n, uint32_t *out_char)
{
    uint32_t ignored;

    return sn_inert_char((sn_str){bytes, n}, out_char ? out_char : &ignored);
}
