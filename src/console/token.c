/* SPDX-License-Identifier: Apache-2.0 */
#include "console/token.h"

#include <string.h>

#include "base/base64.h"
#include "base/hash.h"
#include "base/rng.h"

_Static_assert(SN_TOKEN_TEXT == 3 + 43 + 1, "sn_, 256 bits in base64 without padding");

void
sn_token_draw_key(char out_key[44])
{
    uint8_t bits[32];
    char text[SN_BASE64_ROOM(32)];

    sn_rng_secret(bits, sizeof bits);
    sn_base64(bits, sizeof bits, text);
    for (size_t i = 0; i < 43; i++)
        out_key[i] = (char)(text[i] == '+' ? '-' : text[i] == '/' ? '_' : text[i]);
    out_key[43] = '\0';
}

seine_err
sn_token_draw(char out_text[SN_TOKEN_TEXT], uint8_t out_hash[32])
{
    memcpy(out_text, "sn_", 3);
    sn_token_draw_key(out_text + 3);
    return sn_sha256(out_text, SN_TOKEN_TEXT - 1, out_hash);
}

bool
sn_token_hash(sn_str text, uint8_t out_hash[32])
{
    if (text.len != SN_TOKEN_TEXT - 1 || !sn_str_starts(text, SN_STR("sn_")))
        return false;
    for (size_t i = 3; i < text.len; i++)
        if (!sn_is_alpha(text.ptr[i]) && !sn_is_digit(text.ptr[i]) &&
            text.ptr[i] != '-' && text.ptr[i] != '_')
            return false;
    return sn_sha256(text.ptr, text.len, out_hash) == SEINE_OK;
}

bool
sn_token_equal(const uint8_t a[32], const uint8_t b[32])
{
    volatile uint8_t differs = 0;

    for (size_t i = 0; i < 32; i++)
        differs = (uint8_t)(differs | (a[i] ^ b[i]));
    return differs == 0;
}
