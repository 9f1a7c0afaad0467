/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/key.h"

#include <string.h>

#include "check.h"

TEST(key_of_a_string_is_its_bytes)
{
    CHECK_EQ(seine_key_str("abc").len, 3);
    CHECK_EQ(seine_key_str("").len, 0);
    CHECK_EQ(seine_key_str(NULL).len, 0);
}

TEST(key_of_an_address_is_its_network)
{
    static const struct {
        uint8_t addr[16];
        size_t len;
        unsigned prefix;
        uint8_t want[17];
        size_t want_len;
    } rows[] = {
        {{203, 0, 113, 9}, 4, 32, {4, 203, 0, 113, 9}, 5},
        {{203, 0, 113, 9}, 4, 24, {4, 203, 0, 113, 0}, 5},
        {{203, 0, 113, 255}, 4, 28, {4, 203, 0, 113, 240}, 5},
        {{203, 0, 113, 9}, 4, 0, {4, 0, 0, 0, 0}, 5},
        {{203, 0, 113, 9}, 4, 99, {4, 203, 0, 113, 9}, 5}, /* all of it */
        {{0x20, 1, 0xd, 0xb8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 9},
         16,
         64,
         {6, 0x20, 1, 0xd, 0xb8, 1, 2, 3, 4},
         17},
        {{0x20, 1, 0xd, 0xb8, 1, 2, 0xff},
         16,
         52,
         {6, 0x20, 1, 0xd, 0xb8, 1, 2, 0xf0},
         17},
        /* IPv4-mapped is IPv4 */
        {{[10] = 0xff, [11] = 0xff, 203, 0, 113, 9}, 16, 64, {4, 203, 0, 113, 9}, 5},
        {{1, 2, 3}, 3, 32, {0}, 0}, /* no address */
    };

    EACH_ROW(i, rows) {
        char key[17] = {0};

        CHECK_EQ(seine_key_ip(rows[i].addr, rows[i].len, rows[i].prefix, key),
                 rows[i].want_len);
        CHECK(memcmp(key, rows[i].want, sizeof key) == 0);
    }
}
