/* SPDX-License-Identifier: Apache-2.0 */
#include "net/cidr.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "base/rng.h"
#include "check.h"

TEST(cidr_reads_addresses_and_nets)
{
    static const struct {
        const char *text, *out; /* NULL: refused */
    } rows[] = {
        {"10.0.0.0/8", "10.0.0.0/8"},
        {"10.1.2.3", "10.1.2.3/32"},
        {"0.0.0.0/0", "0.0.0.0/0"},
        {"192.168.1.128/25", "192.168.1.128/25"},
        {"fc00::/7", "fc00::/7"},
        {"::/0", "::/0"},
        {"::1", "::1/128"},
        {"2001:DB8::/32", "2001:db8::/32"},
        {"::ffff:10.0.0.0/104", "::ffff:10.0.0.0/104"},
        {"ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255/128",
         "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff/128"},
        {"10.1.2.3/8", NULL}, /* bits that do not count */
        {"192.168.1.128/24", NULL},
        {"fd00::1/8", NULL},
        {"10.0.0.0/33", NULL},
        {"::/129", NULL},
        {"10.0.0.0/", NULL},
        {"10.0.0.0/-1", NULL},
        {"10.0.0.0/+8", NULL},
        {"10.0.0.0/0008", NULL},
        {"10.0.0.0/8/8", NULL},
        {"10.0.0/8", NULL},
        {"127.1", NULL}, /* old notations belong to URLs */
        {"0x7f.0.0.1", NULL},
        {"010.0.0.1", NULL},
        {"10.0.0.256", NULL},
        {"fe80::1%eth0", NULL},
        {"", NULL},
        {"/8", NULL},
        {" 10.0.0.0/8", NULL},
        {"example.org", NULL},
    };

    EACH_ROW(i, rows) {
        sn_cidr net = {{9, {9}}, 9};
        char text[SN_CIDR_TEXT];
        seine_err e = sn_cidr_parse(sn_str_of(rows[i].text), &net);

        CHECK_EQ(e, rows[i].out ? SEINE_OK : SEINE_E_INVAL);
        if (e == SEINE_OK) {
            sn_cidr_text(&net, text);
            CHECK_STR(text, rows[i].out);
        } else {
            CHECK(net.net.v == 9 && net.bits == 9); /* untouched */
        }
    }
    sn_ip ip;
    CHECK_EQ(sn_ip_parse(SN_STR("1.2.3.4\0"), &ip), SEINE_E_INVAL);
    CHECK_EQ(sn_ip_parse((sn_str){0}, &ip), SEINE_E_INVAL);
}

TEST(cidr_takes_addresses_out_of_sockaddrs)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(80)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_scope_id = 3};
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    sn_ip ip, want;

    CHECK_EQ(sn_ip_parse(SN_STR("1.2.3.4"), &want), SEINE_OK);
    inet_pton(AF_INET, "1.2.3.4", &in.sin_addr);
    CHECK(sn_ip_of((struct sockaddr *)&in, &ip) && sn_ip_eq(&ip, &want));
    CHECK_EQ(sn_ip_parse(SN_STR("fe80::1"), &want), SEINE_OK);
    CHECK(!sn_ip_eq(&ip, &want));
    inet_pton(AF_INET6, "fe80::1", &in6.sin6_addr);
    CHECK(sn_ip_of((struct sockaddr *)&in6, &ip) && sn_ip_eq(&ip, &want));
    CHECK(!sn_ip_of((struct sockaddr *)&un, &ip));
}

/* Against comparing bit by bit. */
TEST(cidr_has_what_agrees_in_its_bits)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int i = 0; i < 20000; i++) {
        unsigned width = sn_rng_below(&r, 2) ? 32 : 128;
        sn_ip ip = {.v = width == 32 ? 4 : 6};
        sn_cidr net;
        bool same = true;

        for (unsigned k = 0; k < width / 8; k++)
            ip.bytes[k] = (uint8_t)sn_rng_next(&r);
        net = (sn_cidr){ip, (uint8_t)sn_rng_below(&r, width + 1)};
        if (sn_rng_below(&r, 8) > 0) { /* one bit is different */
            unsigned bit = (unsigned)sn_rng_below(&r, width);

            ip.bytes[bit / 8] ^= (uint8_t)(0x80 >> bit % 8);
            same = bit >= net.bits;
        }
        CHECK_EQ(sn_cidr_has(&net, &ip), same);
        ip.v = ip.v == 4 ? 6 : 4;
        CHECK(!sn_cidr_has(&net, &ip));
    }
}
