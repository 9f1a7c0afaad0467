/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

static const char digits[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void
sn_base64(const void *bytes, size_t n, char *out)
{
    const unsigned char *b = bytes;

    for (; n >= 3; n -= 3, b += 3, out += 4) {
        out[0] = digits[b[0] >> 2];
        out[1] = digits[(b[0] & 3) << 4 | b[1] >> 4];
        out[2] = digits[(b[1] & 15) << 2 | b[2] >> 6];
        out[3] = digits[b[2] & 63];
    }
    if (n == 0)
        return;
    out[0] = digits[b[0] >> 2];
    out[1] = digits[(b[0] & 3) << 4 | (n > 1 ? b[1] >> 4 : 0)];
    out[2] = n > 1 ? digits[(b[1] & 15) << 2] : '=';
    out[3] = '=';
}

/* The value of a base64 digit; 64 for any other character. */
static unsigned
value(char c)
{
    if (sn_is_alpha(c))
        return c >= 'a' ? (unsigned)(c - 'a') + 26 : (unsigned)(c - 'A');
    if (sn_is_digit(c))
        return (unsigned)(c - '0') + 52;
    return c == '+' ? 62 : c == '/' ? 63 : 64;
}

seine_err
sn_base64_read(sn_str s, char *out, size_t *out_n)
{
    size_t n = 0, padding = 0;

    if (s.len % 4 != 0)
        return SEINE_E_INVAL;
    while (padding < 2 && padding < s.len && s.ptr[s.len - 1 - padding] == '=')
        padding++;
    for (size_t i = 0; i < s.len; i += 4) {
        size_t pads = i + 4 == s.len ? padding : 0;
        unsigned bits = 0, bad = 0;

        for (size_t k = 0; k < 4; k++) {
            unsigned v = k < 4 - pads ? value(s.ptr[i + k]) : 0;

            bad |= v & 64;
            bits = bits << 6 | v;
        }
        if (bad || (bits & ((1u << 8 * pads) - 1)) != 0)
            return SEINE_E_INVAL;
        for (size_t k = 0; k < 3 - pads; k++)
            out[n++] = (char)(bits >> (16 - 8 * k));
    }
    *out_n = n;
    return SEINE_OK;
}
