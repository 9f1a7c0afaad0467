/* SPDX-License-Identifier: Apache-2.0 */
#include "net/happy_eyeballs.h"

#include "check.h"

#define T0 SEINE_SECS(100)

/* Address i of a family ends in i. */
static sn_dns_answer
answer(uint8_t n4, uint8_t n6)
{
    sn_dns_answer a = {.n4 = n4, .n6 = n6};

    for (uint8_t i = 0; i < SN_DNS_ADDRESSES; i++) {
        a.v4[i] = (sn_ip){4, {10, 0, 0, i}};
        a.v6[i] = (sn_ip){6, {0x20, 1, [15] = i}};
    }
    return a;
}

/* "6:0 4:0 6:1": the order in which all of them are tried when each fails at once. */
static const char *
order(const sn_dns_answer *a, uint8_t first)
{
    static char text[64];
    const sn_ip *ip;
    size_t n = 0;
    sn_happy_eyeballs r;

    sn_happy_eyeballs_begin(&r, a, first);
    while ((ip = sn_happy_eyeballs_next(&r, T0))) {
        if (n > 0)
            text[n++] = ' ';
        text[n++] = (char)('0' + ip->v);
        text[n++] = ':';
        text[n++] = (char)('0' + ip->bytes[ip->v == 4 ? 3 : 15]);
        sn_happy_eyeballs_lost(&r, SEINE_E_CONNECT_REFUSED, T0);
    }
    text[n] = '\0';
    CHECK(sn_happy_eyeballs_is_over(&r));
    return text;
}

TEST(happy_eyeballs_families_take_turns_three_of_each_at_most)
{
    static const struct {
        uint8_t n4, n6, first;
        const char *want;
    } rows[] = {
        {1, 0, 0, "4:0"},
        {16, 0, 0, "4:0 4:1 4:2"},
        {0, 16, 0, "6:0 6:1 6:2"},
        {16, 16, 0, "6:0 4:0 6:1 4:1 6:2 4:2"},
        {16, 16, 6, "6:0 4:0 6:1 4:1 6:2 4:2"},
        {16, 16, 4, "4:0 6:0 4:1 6:1 4:2 6:2"}, /* IPv4 won the last time */
        {3, 1, 0, "6:0 4:0 4:1 4:2"},
        {1, 3, 4, "4:0 6:0 6:1 6:2"},
        {0, 2, 4, "6:0 6:1"}, /* the family that won is gone */
    };

    EACH_ROW(i, rows) {
        sn_dns_answer a = answer(rows[i].n4, rows[i].n6);

        CHECK_STR(order(&a, rows[i].first), rows[i].want);
    }
}

TEST(happy_eyeballs_next_address_is_tried_after_250_ms)
{
    sn_dns_answer a = answer(2, 1);
    sn_happy_eyeballs r;

    sn_happy_eyeballs_begin(&r, &a, 0);
    CHECK(sn_happy_eyeballs_when(&r) <= T0);
    CHECK_EQ(sn_happy_eyeballs_next(&r, T0)->v, 6);
    CHECK(!sn_happy_eyeballs_next(&r, T0));
    CHECK_EQ(sn_happy_eyeballs_when(&r), T0 + SEINE_MS(250));
    CHECK(!sn_happy_eyeballs_next(&r, T0 + SEINE_MS(250) - 1));
    CHECK_EQ(sn_happy_eyeballs_next(&r, T0 + SEINE_MS(250))->v, 4);
    CHECK_EQ(sn_happy_eyeballs_when(&r), T0 + SEINE_MS(500));
    CHECK_EQ(sn_happy_eyeballs_next(&r, T0 + SEINE_MS(700))->v, 4);
    CHECK_EQ(sn_happy_eyeballs_when(&r), SEINE_NEVER);
    CHECK(!sn_happy_eyeballs_next(&r, T0 + SEINE_SECS(9)));
    CHECK(!sn_happy_eyeballs_is_over(&r)); /* three run */
}

TEST(happy_eyeballs_next_address_is_tried_at_once_when_one_fails)
{
    sn_dns_answer a = answer(3, 0);
    sn_happy_eyeballs r;

    sn_happy_eyeballs_begin(&r, &a, 0);
    CHECK(sn_happy_eyeballs_next(&r, T0));
    sn_happy_eyeballs_lost(&r, SEINE_E_CONNECT_REFUSED, T0 + SEINE_MS(3));
    CHECK_EQ(sn_happy_eyeballs_when(&r), T0 + SEINE_MS(3));
    CHECK(sn_happy_eyeballs_next(&r, T0 + SEINE_MS(3)));
    CHECK_EQ(sn_happy_eyeballs_when(&r), T0 + SEINE_MS(253));
    CHECK(!sn_happy_eyeballs_is_over(&r));
}

TEST(happy_eyeballs_returns_the_most_specific_error)
{
    static const seine_err by_rank[] = {
        SEINE_E_BLOCKED_ADDRESS,     SEINE_E_NO_PORTS,        SEINE_E_CONNECT_TIMEOUT,
        SEINE_E_CONNECT_UNREACHABLE, SEINE_E_CONNECT_REFUSED,
    };
    sn_dns_answer a = answer(2, 0);

    EACH_ROW(i, by_rank)
        for (size_t j = 0; j < sizeof by_rank / sizeof *by_rank; j++) {
            sn_happy_eyeballs r;

            sn_happy_eyeballs_begin(&r, &a, 0);
            CHECK(sn_happy_eyeballs_next(&r, T0));
            sn_happy_eyeballs_lost(&r, by_rank[i], T0);
            CHECK_EQ(sn_happy_eyeballs_why(&r), by_rank[i]);
            CHECK(!sn_happy_eyeballs_is_over(&r));
            CHECK(sn_happy_eyeballs_next(&r, T0));
            sn_happy_eyeballs_lost(&r, by_rank[j], T0);
            CHECK_EQ(sn_happy_eyeballs_why(&r), by_rank[i > j ? i : j]);
            CHECK(sn_happy_eyeballs_is_over(&r));
        }
}

TEST(happy_eyeballs_without_addresses_is_over_before_it_begins)
{
    sn_dns_answer a = answer(0, 0);
    sn_happy_eyeballs r;

    sn_happy_eyeballs_begin(&r, &a, 0);
    CHECK(!sn_happy_eyeballs_next(&r, T0));
    CHECK(sn_happy_eyeballs_is_over(&r));
    CHECK_EQ(sn_happy_eyeballs_why(&r), SEINE_E_DNS_NXDOMAIN);
}
