/* SPDX-License-Identifier: Apache-2.0 */
#include "console/token.h"

#include <string.h>

#include "base/hash.h"
#include "check.h"

TEST(token_is_drawn_with_its_hash)
{
    char a[SN_TOKEN_TEXT], b[SN_TOKEN_TEXT];
    uint8_t hash[32], again[32], plain[32];

    CHECK_EQ(sn_token_draw(a, hash), SEINE_OK);
    CHECK_EQ(sn_token_draw(b, again), SEINE_OK);
    CHECK(strcmp(a, b) != 0);
    CHECK_EQ(strlen(a), 46);
    CHECK(sn_token_hash(sn_str_of(a), again));
    CHECK(sn_token_equal(hash, again));
    CHECK_EQ(sn_sha256(a, 46, plain), SEINE_OK);
    CHECK(memcmp(plain, hash, 32) == 0);
    again[31] ^= 1;
    CHECK(!sn_token_equal(hash, again));
    again[31] ^= 1;
    again[0] ^= 0x80;
    CHECK(!sn_token_equal(hash, again));
}

TEST(token_has_one_shape)
{
    uint8_t hash[32];

    CHECK(!sn_token_hash(SN_STR(""), hash));
    CHECK(!sn_token_hash(SN_STR("sn_"), hash));
    CHECK(!sn_token_hash(SN_STR("sn_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), hash));
    CHECK(sn_token_hash(SN_STR("sn_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), hash));
    CHECK(!sn_token_hash(SN_STR("xx_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"), hash));
    CHECK(
        !sn_token_hash(SN_STR("sn_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\""), hash));
}
