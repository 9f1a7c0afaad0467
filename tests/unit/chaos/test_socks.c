/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/socks.h"

#include <string.h>

#include "check.h"

#define BYTES(text) ((sn_str){text, sizeof(text) - 1})

/* Every message, piece by piece: nothing is taken before all of it is there. */
TEST(a_message_is_read_when_it_is_whole)
{
    static const struct {
        snc_socks_at at;
        sn_str bytes;
    } rows[] = {
        {SNC_SOCKS_HELLO, {"\5\1\0", 3}},
        {SNC_SOCKS_HELLO, {"\5\3\0\1\2", 5}},
        {SNC_SOCKS_LOGIN, {"\1\4user\4pass", 11}},
        {SNC_SOCKS_REQUEST, {"\5\1\0\1\x7f\1\0\3\0\x50", 10}},
        {SNC_SOCKS_REQUEST, {"\5\1\0\3\6a.test\1\xbb", 13}},
        {SNC_SOCKS_REQUEST, {"\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\x50", 22}},
    };

    EACH_ROW(i, rows) {
        size_t used = 99;

        for (size_t n = 0; n < rows[i].bytes.len; n++) {
            snc_socks s = {.at = rows[i].at};

            CHECK_EQ(snc_socks_read(&s, sn_str_slice(rows[i].bytes, 0, n), &used),
                     SNC_PARSED_MORE);
        }
        snc_socks s = {.at = rows[i].at};
        CHECK_EQ(snc_socks_read(&s, rows[i].bytes, &used), SNC_PARSED_OK);
        CHECK_EQ(used, rows[i].bytes.len);
    }
}

TEST(what_is_said_is_understood)
{
    snc_socks s = {.at = SNC_SOCKS_HELLO};
    size_t used;

    CHECK_EQ(snc_socks_read(&s, BYTES("\5\2\0\1rest"), &used), SNC_PARSED_OK);
    CHECK(s.offers_none && !s.offers_login && used == 4);
    CHECK_EQ(snc_socks_read(&s, BYTES("\5\1\2"), &used), SNC_PARSED_OK);
    CHECK(!s.offers_none && s.offers_login);
    s.at = SNC_SOCKS_LOGIN;
    CHECK_EQ(snc_socks_read(&s, BYTES("\1\2me\3a:b"), &used), SNC_PARSED_OK);
    CHECK(s.login_len == 6 && memcmp(s.login, "me:a:b", 6) == 0);
    s.at = SNC_SOCKS_REQUEST;
    CHECK_EQ(snc_socks_read(&s, BYTES("\5\1\0\3\6a.test\1\xbb"), &used), SNC_PARSED_OK);
    CHECK(s.command == 1 && s.type == 3 && s.port == 443);
    CHECK_STR(s.host, "a.test");
    CHECK_EQ(snc_socks_read(&s, BYTES("\5\2\0\1\x7f\1\0\3\0\x50"), &used), SNC_PARSED_OK);
    CHECK(s.command == 2 && s.type == 1 && s.port == 80);
    CHECK_STR(s.host, "127.1.0.3");
    CHECK_EQ(snc_socks_read(&s, BYTES("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\x50"),
                            &used),
             SNC_PARSED_OK);
    CHECK_STR(s.host, "::1");
}

TEST(what_rfc_1928_does_not_allow_is_refused_by_name)
{
    static const struct {
        snc_socks_at at;
        sn_str bytes;
        const char *why;
    } rows[] = {
        {SNC_SOCKS_HELLO, {"\4\1\0", 3}, "SOCKS version is not 5"},
        {SNC_SOCKS_HELLO, {"GET / HTTP/1.1\r\n", 16}, "SOCKS version is not 5"},
        {SNC_SOCKS_HELLO, {"\5\0", 2}, "SOCKS hello without a method"},
        {SNC_SOCKS_LOGIN, {"\5\1a\1b", 5}, "SOCKS login is not version 1"},
        {SNC_SOCKS_LOGIN, {"\1\0\1b", 4}, "SOCKS login without a name or a password"},
        {SNC_SOCKS_LOGIN, {"\1\1a\0", 4}, "SOCKS login without a name or a password"},
        {SNC_SOCKS_REQUEST, {"\4\1\0\1", 4}, "SOCKS version is not 5"},
        {SNC_SOCKS_REQUEST, {"\5\1\1\1", 4}, "SOCKS request with a reserved byte"},
        {SNC_SOCKS_REQUEST, {"\5\1\0\2", 4}, "SOCKS address of no type"},
        {SNC_SOCKS_REQUEST, {"\5\1\0\3\0\0\x50", 7}, "SOCKS request for no name"},
    };

    EACH_ROW(i, rows) {
        snc_socks s = {.at = rows[i].at};
        size_t used;

        CHECK_EQ(snc_socks_read(&s, rows[i].bytes, &used), SNC_PARSED_BAD);
        CHECK_STR(s.why, rows[i].why);
    }
}

TEST(the_longest_texts_fit)
{
    static char login[515], request[262];
    snc_socks s = {.at = SNC_SOCKS_LOGIN};
    size_t used;

    memset(login, 'x', sizeof login);
    login[0] = 1;
    login[1] = login[2 + 255] = (char)255;
    CHECK_EQ(snc_socks_read(&s, (sn_str){login, 513}, &used), SNC_PARSED_OK);
    CHECK_EQ(s.login_len, 511);
    memset(request, 'y', sizeof request);
    memcpy(request, "\5\1\0\3\xff", 5);
    s.at = SNC_SOCKS_REQUEST;
    CHECK_EQ(snc_socks_read(&s, (sn_str){request, 262}, &used), SNC_PARSED_OK);
    CHECK_EQ(strlen(s.host), 255);
}
