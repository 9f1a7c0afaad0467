/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns_local.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing.h"

#define L63  "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffggg"
#define L61  "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffffg"
#define N253 L63 "." L63 "." L63 "." L61

/* "10.0.0.1 10.0.0.2 ::1", IPv4 first. */
static void
text_of(const sn_dns_answer *a, char out[1000])
{
    size_t n = 0;

    out[0] = '\0';
    for (int i = 0; i < a->n4 + a->n6; i++) {
        const sn_ip *ip = i < a->n4 ? &a->v4[i] : &a->v6[i - a->n4];
        sn_cidr c = {*ip, 0};
        char text[SN_CIDR_TEXT];

        sn_cidr_text(&c, text);
        *strchr(text, '/') = '\0';
        n += (size_t)snprintf(out + n, 1000 - n, "%s%s", n > 0 ? " " : "", text);
    }
}

/* What is known of the name: addresses, or the name of the error; "" for a server. */
static const char *
ask(const sn_dns_local *k, const char *name, uint16_t port)
{
    static char text[1000];
    sn_dns_answer a;
    seine_err e = sn_dns_local_ask(k, sn_str_of(name), port, &a);

    if (e == SEINE_E_BUSY)
        return "";
    if (e != SEINE_OK)
        return seine_err_name(e);
    text_of(&a, text);
    return text;
}

TEST(dns_names_are_lower_case_letters_digits_hyphens_and_underscores)
{
    static const struct {
        const char *name;
        bool is;
    } rows[] = {
        {"a", true},
        {"e.example", true},
        {"xn--bcher-kva.example", true},
        {"_dmarc.e.example", true},
        {"-a-.b", true}, /* odd, and asked for all the same */
        {"1.2.3.4.5", true},
        {L63 ".a", true},
        {L63 "x.a", false}, /* 64 */
        {N253, true},
        {N253 "x", false}, /* 254 */
        {"", false},
        {".", false},
        {"a.", false}, /* the dot at the end is gone by now */
        {".a", false},
        {"a..b", false},
        {"A.example", false}, /* one form everywhere */
        {"a b", false},
        {"a/b", false},
        {"b\xc3\xbc"
         "cher.example",
         false},
        {"a:80", false},
        {"a\n", false},
        {"*.a", false},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(sn_dns_is_name(sn_str_of(rows[i].name)), rows[i].is);
    CHECK(!sn_dns_is_name((sn_str){"a\0b", 3}));
    CHECK(!sn_dns_is_name((sn_str){NULL, 0}));
}

TEST(dns_addresses_and_this_machine_need_no_server)
{
    static const struct {
        const char *name, *any, *four, *six;
    } rows[] = {
        {"10.1.2.3", "10.1.2.3", "10.1.2.3", "dns_nxdomain"},
        {"2001:db8::1", "2001:db8::1", "dns_nxdomain", "2001:db8::1"},
        {"::ffff:1.2.3.4", "::ffff:1.2.3.4", "dns_nxdomain", "::ffff:1.2.3.4"},
        {"localhost", "127.0.0.1 ::1", "127.0.0.1", "::1"},
        {"a.localhost", "127.0.0.1 ::1", "127.0.0.1", "::1"},
        {"a.b.localhost", "127.0.0.1 ::1", "127.0.0.1", "::1"},
        {"notlocalhost", "", "", ""},
        {"localhost.example", "", "", ""},
        {"e.example", "", "", ""},
        {"a..localhost", "dns_bad_name", "dns_bad_name", "dns_bad_name"},
        {"[::1]", "dns_bad_name", "dns_bad_name", "dns_bad_name"},
        {"A", "dns_bad_name", "dns_bad_name", "dns_bad_name"},
        {"", "dns_bad_name", "dns_bad_name", "dns_bad_name"},
        {N253 "x", "dns_bad_name", "dns_bad_name", "dns_bad_name"},
    };

    EACH_ROW(i, rows) {
        sn_dns_local k;

        sn_dns_local_init(&k, SEINE_FAMILY_ANY);
        CHECK_STR(ask(&k, rows[i].name, 80), rows[i].any);
        sn_dns_local_fini(&k);
        sn_dns_local_init(&k, SEINE_FAMILY_4);
        CHECK_STR(ask(&k, rows[i].name, 80), rows[i].four);
        sn_dns_local_fini(&k);
        sn_dns_local_init(&k, SEINE_FAMILY_6);
        CHECK_STR(ask(&k, rows[i].name, 80), rows[i].six);
        sn_dns_local_fini(&k);
    }
}

TEST(dns_typed_addresses_hold_for_their_port)
{
    sn_dns_local k;

    sn_dns_local_init(&k, SEINE_FAMILY_ANY);
    CHECK_EQ(sn_dns_local_resolve(&k, SN_STR("e.example:443:10.0.0.1")), SEINE_OK);
    CHECK_EQ(sn_dns_local_resolve(&k, SN_STR("E.example:443:[::1],10.0.0.2")), SEINE_OK);
    CHECK_EQ(sn_dns_local_resolve(&k, SN_STR("e.example:1:10.0.0.9")), SEINE_OK);
    CHECK_EQ(sn_dns_local_resolve(&k, SN_STR("e.example:65535:2001:db8::1")), SEINE_OK);
    CHECK_EQ(sn_dns_local_resolve(&k, SN_STR("localhost:80:10.0.0.3")), SEINE_OK);
    CHECK_EQ(sn_dns_local_resolve(&k, SN_STR("127.0.0.1:80:10.0.0.4")), SEINE_OK);
    CHECK_EQ(sn_dns_local_resolve(&k, SN_STR("[::1]:80:10.0.0.5")), SEINE_OK);
    CHECK_EQ(sn_dns_local_resolve(&k, SN_STR(N253 ":65535:10.0.0.6")), SEINE_OK);
    CHECK_STR(ask(&k, "e.example", 443), "10.0.0.1 10.0.0.2 ::1");
    CHECK_STR(ask(&k, "e.example", 1), "10.0.0.9");
    CHECK_STR(ask(&k, "e.example", 65535), "2001:db8::1");
    CHECK_STR(ask(&k, "e.example", 44), "");
    CHECK_STR(ask(&k, "e.example", 4430), "");
    CHECK_STR(ask(&k, "sub.e.example", 443), "");
    CHECK_STR(ask(&k, "localhost", 80), "10.0.0.3"); /* somebody insists */
    CHECK_STR(ask(&k, "localhost", 81), "127.0.0.1 ::1");
    CHECK_STR(ask(&k, "127.0.0.1", 80), "10.0.0.4");
    CHECK_STR(ask(&k, "::1", 80), "10.0.0.5");
    CHECK_STR(ask(&k, N253, 65535), "10.0.0.6");
    CHECK_STR(ask(&k, "e.example:443", 0), "dns_bad_name"); /* a key is no name */
    sn_dns_local_fini(&k);
}

TEST(dns_refuses_what_is_no_resolve_entry)
{
    static const char *const rows[] = {
        "",
        "e.example",
        "e.example:80",
        "e.example:80:",
        "e.example:80:x",
        "e.example:80:10.0.0.1,",
        "e.example:80:10.0.0.1,,10.0.0.2",
        "e.example:80:10.0.0.1,x",
        "e.example:80:[10.0.0.1]",
        "e.example:80:[::1",
        "e.example:0:10.0.0.1",
        "e.example:65536:10.0.0.1",
        "e.example:http:10.0.0.1",
        "e.example::10.0.0.1",
        "e.example:+80:10.0.0.1",
        ":80:10.0.0.1",
        "*:80:10.0.0.1",
        "a b:80:10.0.0.1",
        "[::1]80:10.0.0.1",
        "[::1:80:10.0.0.1",
        "[]:80:10.0.0.1",
        "[",
        N253 "x:80:10.0.0.1",
    };
    sn_dns_local k;

    sn_dns_local_init(&k, SEINE_FAMILY_ANY);
    EACH_ROW(i, rows)
        CHECK_EQ(sn_dns_local_resolve(&k, sn_str_of(rows[i])), SEINE_E_INVAL);
    CHECK_EQ(k.names.count, 0);
    sn_dns_local_fini(&k);
}

TEST(dns_reads_a_hosts_file)
{
    static const char text[] = "# comment\n"
                               "127.0.0.1 localhost\n"
                               "10.0.0.1\tone One.Example # one.not\r\n"
                               "  10.0.0.2   two.example one\n"
                               "::5 one\n"
                               "10.0.0.1 one\n" /* twice is once */
                               "\n"
                               "10.0.0.3\n"           /* no name */
                               "fe80::1%lo0 scoped\n" /* no address of ours */
                               "10.0.0.300 wrong\n"   /* none at all */
                               "10.0.0.4 b\xfc"
                               "cher good..bad fine\n"
                               "10.0.0.5 localhost\n"
                               "10.0.0.6 last";
    sn_dns_local k;

    sn_dns_local_init(&k, SEINE_FAMILY_ANY);
    CHECK_EQ(sn_dns_local_hosts(&k, (sn_str){text, sizeof text - 1}), SEINE_OK);
    CHECK_STR(ask(&k, "one", 80), "10.0.0.1 10.0.0.2 ::5");
    CHECK_STR(ask(&k, "one", 443), "10.0.0.1 10.0.0.2 ::5"); /* any port */
    CHECK_STR(ask(&k, "one.example", 80), "10.0.0.1");
    CHECK_STR(ask(&k, "two.example", 80), "10.0.0.2");
    CHECK_STR(ask(&k, "one.not", 80), "");
    CHECK_STR(ask(&k, "scoped", 80), "");
    CHECK_STR(ask(&k, "wrong", 80), "");
    CHECK_STR(ask(&k, "fine", 80), "10.0.0.4");
    CHECK_STR(ask(&k, "last", 80), "10.0.0.6");
    CHECK_STR(ask(&k, "localhost", 80), "127.0.0.1 ::1"); /* whatever files say */
    CHECK_EQ(sn_dns_local_resolve(&k, SN_STR("one:80:10.9.9.9")), SEINE_OK);
    CHECK_STR(ask(&k, "one", 80), "10.9.9.9"); /* typed comes first */
    CHECK_STR(ask(&k, "one", 81), "10.0.0.1 10.0.0.2 ::5");
    sn_dns_local_fini(&k);
}

TEST(dns_keeps_sixteen_addresses_per_family)
{
    sn_dns_local k;
    sn_dns_answer a;
    char line[64];

    sn_dns_local_init(&k, SEINE_FAMILY_ANY);
    for (int i = 1; i <= 40; i++) {
        snprintf(line, sizeof line, "10.0.0.%d many\n", i);
        CHECK_EQ(sn_dns_local_hosts(&k, sn_str_of(line)), SEINE_OK);
    }
    CHECK_EQ(sn_dns_local_ask(&k, SN_STR("many"), 80, &a), SEINE_OK);
    CHECK_EQ(a.n4, 16);
    CHECK_EQ(a.v4[15].bytes[3], 16);
    sn_dns_local_fini(&k);
}

TEST(dns_takes_65536_names_of_a_hosts_file)
{
    sn_dns_local k;
    char line[64];

    sn_dns_local_init(&k, SEINE_FAMILY_ANY);
    for (int i = 0; i < 65540; i++) {
        snprintf(line, sizeof line, "0.0.0.0 n%d", i);
        if (sn_dns_local_hosts(&k, sn_str_of(line)) != SEINE_OK)
            CHECK(false);
    }
    CHECK_EQ(k.names.count, 65536);
    CHECK_EQ(sn_dns_local_resolve(&k, SN_STR("a:80:10.0.0.1")), SEINE_E_FULL);
    CHECK_STR(ask(&k, "n65535", 80), "0.0.0.0");
    CHECK_STR(ask(&k, "n65536", 80), "");
    sn_dns_local_fini(&k);
}

TEST(dns_servers_are_addresses_with_a_port_or_without)
{
    static const struct {
        const char *text, *ip; /* NULL: none */
        uint16_t port;
    } rows[] = {
        {"127.0.0.1", "127.0.0.1/32", 53},
        {"127.0.0.1:5353", "127.0.0.1/32", 5353},
        {"::1", "::1/128", 53},
        {"[::1]", "::1/128", 53},
        {"[::1]:65535", "::1/128", 65535},
        {"", NULL, 0},
        {":53", NULL, 0},
        {"127.0.0.1:", NULL, 0},
        {"127.0.0.1:0", NULL, 0},
        {"127.0.0.1:65536", NULL, 0},
        {"127.0.0.1:53 ", NULL, 0},
        {"[127.0.0.1]:53", NULL, 0},
        {"dns.example", NULL, 0},
        {"dns.example:53", NULL, 0},
        {"[::1", NULL, 0},
        {"::1]:53", NULL, 0},
        {"1:2:3:4:5:6:7:8:53", NULL, 0}, /* whose port is it? */
    };

    EACH_ROW(i, rows) {
        sn_cidr c = {.bits = 0};
        uint16_t port = 0;
        char text[SN_CIDR_TEXT];
        seine_err e = sn_dns_server(sn_str_of(rows[i].text), &c.net, &port);

        CHECK_EQ(e, rows[i].ip ? SEINE_OK : SEINE_E_INVAL);
        CHECK_EQ(port, rows[i].port);
        c.bits = c.net.v == 4 ? 32 : 128;
        sn_cidr_text(&c, text);
        if (rows[i].ip)
            CHECK_STR(text, rows[i].ip);
    }
}

TEST(dns_local_without_memory_says_so)
{
    FAIL_EACH(round)
    {
        sn_dns_local k;
        seine_err e;

        sn_dns_local_init(&k, SEINE_FAMILY_ANY);
        e = sn_dns_local_resolve(&k, SN_STR("a:80:10.0.0.1,10.0.0.2"));
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        e = sn_dns_local_hosts(&k, SN_STR("10.0.0.1 a b\n10.0.0.2 a\n"));
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        sn_dns_local_fini(&k);
    }
}
