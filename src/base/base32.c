/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base32.h"

void
sn_base32(const void *bytes, size_t n, char *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
    const unsigned char *from = bytes;

    for (size_t i = 0; i < n; i += 5, out += 8) {
        uint64_t group = 0;
        size_t here = n - i < 5 ? n - i : 5, used = (here * 8 + 4) / 5;

        for (size_t k = 0; k < 5; k++)
            group = group << 8 | (k < here ? from[i + k] : 0u);
        for (size_t k = 0; k < 8; k++)
            out[k] = k < used ? digits[group >> (35 - 5 * k) & 31] : '=';
    }
}

static int
value(char c)
{
    c = sn_lower(c);
    if (c >= 'a' && c <= 'z')
        return c - 'a';
    return c >= '2' && c <= '7' ? c - '2' + 26 : -1;
}

seine_err
sn_base32_read(sn_str s, char *out, size_t *out_n)
{
    unsigned held = 0, bits = 0;
    size_t n = 0, padded = s.len;

    while (s.len > 0 && s.ptr[s.len - 1] == '=')
        s.len--;
    if (padded != s.len && (padded % 8 != 0 || padded - s.len >= 8))
        return SEINE_E_INVAL;
    if (s.len % 8 == 1 || s.len % 8 == 3 || s.len % 8 == 6)
        return SEINE_E_INVAL;
    for (size_t i = 0; i < s.len; i++)
        if (value(s.ptr[i]) < 0)
            return SEINE_E_INVAL;
    for (size_t i = 0; i < s.len; i++) {
        held = (held << 5 | (unsigned)value(s.ptr[i])) & 0xfff;
        bits += 5;
        if (bits >= 8) {
            bits -= 8;
            out[n++] = (char)(held >> bits);
        }
    }
    if (held & ((1u << bits) - 1))
        return SEINE_E_INVAL;
    *out_n = n;
    return SEINE_OK;
}
