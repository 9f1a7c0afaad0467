/* SPDX-License-Identifier: Apache-2.0 */
#include "gate/client_address.h"

#include <arpa/inet.h>
#include <string.h>

#include "base/alloc.h"
#include "check.h"

static const char *const proxies[] = {"127.0.0.1", "10.0.0.0/8", "2001:db8:1::/48", NULL};

/* The client of a request from `peer` with up to two fields, the first of them first. */
static const char *
client(const char *peer, const char *first, const char *second)
{
    static char text[INET6_ADDRSTRLEN];
    sn_net_set trusted;
    sn_forwarded f;
    sn_ip ip;

    CHECK_EQ(sn_ip_parse(sn_str_of(peer), &ip), SEINE_OK);
    CHECK_EQ(sn_net_set_read(&trusted, "trust", proxies, NULL), SEINE_OK);
    sn_forwarded_begin(&f, &ip, &trusted);
    if (second)
        sn_forwarded_add(&f, sn_str_of(second));
    if (first)
        sn_forwarded_add(&f, sn_str_of(first));
    inet_ntop(f.client.v == 4 ? AF_INET : AF_INET6, f.client.bytes, text, sizeof text);
    sn_net_set_fini(&trusted);
    return text;
}

TEST(client_address_is_read_from_the_right_up_to_the_first_that_is_not_trusted)
{
    static const struct {
        const char *peer, *first, *second, *client;
    } rows[] = {
        {"192.0.2.1", NULL, NULL, "192.0.2.1"},
        {"192.0.2.1", "198.51.100.9", NULL, "192.0.2.1"}, /* not trusted: forged */
        {"127.0.0.1", NULL, NULL, "127.0.0.1"},
        {"127.0.0.1", "198.51.100.9", NULL, "198.51.100.9"},
        {"127.0.0.1", "1.1.1.1, 198.51.100.9", NULL, "198.51.100.9"}, /* forged left */
        {"127.0.0.1", "1.1.1.1, 198.51.100.9, 10.0.0.3", NULL, "198.51.100.9"},
        {"127.0.0.1", "10.0.0.9, 10.0.0.3", NULL, "10.0.0.9"}, /* all of them trusted */
        {"127.0.0.1", "1.1.1.1", "198.51.100.9", "198.51.100.9"}, /* fields in order */
        {"127.0.0.1", "198.51.100.9", "10.0.0.1", "198.51.100.9"},
        {"127.0.0.1", "1.1.1.1,198.51.100.9:4711", NULL, "198.51.100.9"}, /* a port */
        {"127.0.0.1", "[2001:db8::7]:443", NULL, "2001:db8::7"},
        {"127.0.0.1", "[2001:db8::7]", NULL, "2001:db8::7"},
        {"127.0.0.1", "2001:db8::7", NULL, "2001:db8::7"},
        {"127.0.0.1", "fe80::1%eth0", NULL, "fe80::1"},
        {"127.0.0.1", "::ffff:198.51.100.9", NULL, "198.51.100.9"},
        {"::ffff:127.0.0.1", "198.51.100.9", NULL, "198.51.100.9"},
        {"2001:db8:1::5", "198.51.100.9", NULL, "198.51.100.9"},
        {"127.0.0.1", " 198.51.100.9\t,, ", NULL, "198.51.100.9"}, /* empty elements */
        {"127.0.0.1", "", NULL, "127.0.0.1"},
        {"127.0.0.1", "1.1.1.1, unknown", NULL, "127.0.0.1"}, /* nobody vouches */
        {"127.0.0.1", "1.1.1.1, unknown, 10.0.0.3", NULL, "10.0.0.3"},
        {"127.0.0.1", "1.1.1.1, _hidden", NULL, "127.0.0.1"},
        {"127.0.0.1", "1.1.1.1, 198.51.100", NULL, "127.0.0.1"},
        {"127.0.0.1", "1.1.1.1, 198.51.100.9:", NULL, "127.0.0.1"},
        {"127.0.0.1", "1.1.1.1, 198.51.100.9:99999", NULL, "127.0.0.1"},
        {"127.0.0.1", "1.1.1.1, [2001:db8::7", NULL, "127.0.0.1"},
        {"127.0.0.1", "1.1.1.1, [2001:db8::7]x", NULL, "127.0.0.1"},
        {"127.0.0.1", "1.1.1.1, [198.51.100.9]", NULL, "127.0.0.1"},
        {"127.0.0.1", "1.1.1.1, 0x7f.1", NULL, "127.0.0.1"},
        {"127.0.0.1", "1.1.1.1, \"198.51.100.9\"", NULL, "127.0.0.1"},
        {"127.0.0.1", "unknown", "198.51.100.9", "198.51.100.9"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(client(rows[i].peer, rows[i].first, rows[i].second), rows[i].client);
}

/* A field of 8 KB of trusted addresses is walked once, to its left end. */
TEST(client_address_walks_a_long_field_to_its_end)
{
    enum { TIMES = 800 };
    char *text = sn_zalloc(TIMES * 10 + 32);
    size_t n = 0;

    memcpy(text, "192.0.2.55", 10);
    n = 10;
    for (int i = 0; i < TIMES; i++, n += 10)
        memcpy(text + n, ",10.10.0.1", 10);
    CHECK_STR(client("127.0.0.1", text, NULL), "192.0.2.55");
    sn_free(text);
}
