/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/net_set.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"

static sn_ip
ip_of(const char *text)
{
    sn_ip ip = {0};

    CHECK_EQ(sn_ip_parse(sn_str_of(text), &ip), SEINE_OK);
    sn_ip_plain(&ip);
    return ip;
}

TEST(net_set_has_the_addresses_of_its_networks_and_no_others)
{
    static const char *const texts[] = {
        "10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "::1", "::ffff:198.51.100.0/120",
        NULL};
    static const struct {
        const char *ip;
        bool is_in;
    } rows[] = {
        {"10.255.255.255", true},
        {"11.0.0.0", false},
        {"9.255.255.255", false},
        {"192.0.2.7", true},
        {"192.0.2.6", false},
        {"192.0.2.8", false},
        {"2001:db8:ffff::1", true},
        {"2001:db9::", false},
        {"::1", true},
        {"::2", false},
        {"::ffff:10.1.2.3", true}, /* an IPv4 address in IPv6 clothes */
        {"198.51.100.255", true},  /* and a network in them */
        {"198.51.101.0", false},
        {"0.0.0.1", false}, /* ::1 is no IPv4 address */
    };
    sn_net_set set;

    CHECK_EQ(sn_net_set_read(&set, "trust", texts, NULL), SEINE_OK);
    EACH_ROW(i, rows) {
        sn_ip ip = ip_of(rows[i].ip);

        CHECK_EQ(sn_net_set_has(&set, &ip), rows[i].is_in);
    }
    sn_net_set_fini(&set);
}

TEST(net_set_without_networks_has_nobody)
{
    sn_net_set set = {0};
    sn_ip ip = ip_of("127.0.0.1");

    CHECK_EQ(sn_net_set_read(&set, "trust", NULL, NULL), SEINE_OK);
    CHECK(!sn_net_set_has(&set, &ip));
    sn_net_set_fini(&set);
}

TEST(net_set_names_the_text_that_is_no_network)
{
    static const char *const texts[] = {"10.0.0.0/8", "10.0.0.1/8", NULL};
    sn_net_set set;
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(sn_net_set_read(&set, "allow", texts, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "allow");
    CHECK(strncmp(diag.text, "'10.0.0.1/8': ", 14) == 0);
}

/* The sorted set says the same as a walk over the list. */
TEST(net_set_agrees_with_a_list)
{
    enum { NETS = 200 };
    sn_rng rng = sn_rng_seed(check_seed());
    static char text[NETS][SN_CIDR_TEXT];
    const char *texts[NETS + 1] = {NULL};
    sn_cidr nets[NETS];
    sn_net_set set;

    for (int i = 0; i < NETS; i++) {
        uint8_t bits = (uint8_t)(8 + sn_rng_below(&rng, 25));
        uint32_t ip = (uint32_t)sn_rng_next(&rng) & 0x0fffffff & ~0u << (32 - bits);

        snprintf(text[i], sizeof text[i], "%u.%u.%u.%u/%u", ip >> 24, ip >> 16 & 255,
                 ip >> 8 & 255, ip & 255, bits);
        texts[i] = text[i];
        CHECK_EQ(sn_cidr_parse(sn_str_of(text[i]), &nets[i]), SEINE_OK);
    }
    CHECK_EQ(sn_net_set_read(&set, "deny", texts, NULL), SEINE_OK);
    for (int i = 0; i < 5000; i++) {
        uint32_t n = (uint32_t)sn_rng_next(&rng) & 0x0fffffff;
        sn_ip ip = {
            4, {(uint8_t)(n >> 24), (uint8_t)(n >> 16), (uint8_t)(n >> 8), (uint8_t)n}};
        bool is_in = false;

        for (int j = 0; j < NETS; j++)
            is_in |= sn_cidr_has(&nets[j], &ip);
        CHECK_EQ(sn_net_set_has(&set, &ip), is_in);
    }
    sn_net_set_fini(&set);
}
