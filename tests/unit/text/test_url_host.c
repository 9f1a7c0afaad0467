/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "seine/url.h"

static char mem[SEINE_URL_ROOM];
static seine_url u;

static seine_url_flaw_kind
parse(const char *text)
{
    seine_url_flaw flaw = {SEINE_URL_NONE, 0};

    seine_url_init(&u, mem, sizeof mem);
    if (seine_url_parse(&u, text, strlen(text), &flaw) != SEINE_OK)
        CHECK(flaw.kind != SEINE_URL_NONE);
    return flaw.kind;
}

/* The host of "http://" and this, or what is wrong. */
static const char *
host_in(const char *scheme, const char *text)
{
    static char got[1024];
    char url[1024];

    snprintf(url, sizeof url, "%s://%s/", scheme, text);
    seine_url_flaw_kind flaw = parse(url);
    if (flaw != SEINE_URL_NONE)
        return seine_url_flaw_text(flaw);
    snprintf(got, sizeof got, "%.*s", (int)seine_url_host(&u).len,
             seine_url_host(&u).ptr);
    return got;
}

static const char *
host(const char *text)
{
    return host_in("http", text);
}

static const char *
flaw(seine_url_flaw_kind kind)
{
    return seine_url_flaw_text(kind);
}

typedef struct pair {
    const char *text, *want;
} pair;

TEST(url_host_is_lower_case_and_its_escapes_are_undone)
{
    static const pair rows[] = {
        {"EXAMPLE.Org", "example.org"},
        {"ex%61mple.org", "example.org"},
        {"%45X.org", "ex.org"},
        {"a_b-c.d--e", "a_b-c.d--e"}, /* hyphens anywhere */
        {"-a-.b", "-a-.b"},
        {"a..b", "a..b"},
        {"a.", "a."},
        {".", "."},
        {"!$&'()*+,;=~`{}\"", "!$&'()*+,;=~`{}\""},
        {"xn--", "xn--"},                 /* ASCII is taken as it is */
        {"XN--Zn7c.com", "xn--zn7c.com"}, /* also where it decodes to nothing good */
        {"a%2eb%2E", "a.b."},
    };

    EACH_ROW(i, rows)
        CHECK_STR(host(rows[i].text), rows[i].want);
}

TEST(url_host_refuses_the_forbidden_characters)
{
    /* By the standard, 3.1; those that end a host are only seen as escapes. */
    static const char host_bad[] = "\t\n\r #/:<>?@[\\]^|";

    for (int c = 0; c < 0x80; c++) {
        bool bad = c == 0 || strchr(host_bad, c);
        bool name_bad = bad || c < 0x20 || c == 0x7f || c == '%';
        char text[16];

        snprintf(text, sizeof text, "a%%%02xb", (unsigned)c);
        if (name_bad)
            CHECK_STR(host(text), flaw(SEINE_URL_BAD_CHAR));
        else
            CHECK(strlen(host(text)) == 3);
        CHECK_STR(host_in("foo", text), text); /* an escape is fine elsewhere */
    }
    CHECK_STR(host("a b"), flaw(SEINE_URL_BAD_CHAR));
    CHECK_STR(host("a^b"), flaw(SEINE_URL_BAD_CHAR));
    CHECK_STR(host("a|b"), flaw(SEINE_URL_BAD_CHAR));
    CHECK_STR(host("a<b"), flaw(SEINE_URL_BAD_CHAR));
    CHECK_STR(host("a%"), flaw(SEINE_URL_BAD_CHAR));
    CHECK_STR(host("a%4"), flaw(SEINE_URL_BAD_CHAR));
    CHECK_STR(host("a%zz"), flaw(SEINE_URL_BAD_CHAR));
    CHECK_STR(host_in("foo", "a b"), flaw(SEINE_URL_BAD_CHAR));
    CHECK_STR(host_in("foo", "a]b"), flaw(SEINE_URL_BAD_CHAR));
}

TEST(url_opaque_host_is_kept_and_escaped)
{
    static const pair rows[] = {
        {"EXAMPLE.Org", "EXAMPLE.Org"},
        {"ex%61mple", "ex%61mple"},
        {"127.1", "127.1"},
        {"%", "%"},
        {"a\x01z", "a%01z"},
        {"\xc3\xa9", "%C3%A9"},
        {"", ""},
    };

    EACH_ROW(i, rows)
        CHECK_STR(host_in("foo", rows[i].text), rows[i].want);
}

TEST(url_host_that_ends_in_a_number_is_an_address)
{
    static const pair rows[] = {
        {"1.2.3.4", "1.2.3.4"},
        {"1.2.3.4.", "1.2.3.4"},
        {"1", "0.0.0.1"},
        {"256", "0.0.1.0"},
        {"4294967295", "255.255.255.255"},
        {"4294967296", "not an IPv4 address"},
        {"1.2", "1.0.0.2"},
        {"1.65536", "1.1.0.0"},
        {"1.16777215", "1.255.255.255"},
        {"1.16777216", "not an IPv4 address"},
        {"1.2.65535", "1.2.255.255"},
        {"1.2.65536", "not an IPv4 address"},
        {"1.2.3.255", "1.2.3.255"},
        {"1.2.3.256", "not an IPv4 address"},
        {"256.2.3.4", "not an IPv4 address"},
        {"1.256.1", "not an IPv4 address"},
        {"1.2.3.4.5", "not an IPv4 address"},
        {"0x7F.1", "127.0.0.1"},
        {"0X7f000001", "127.0.0.1"},
        {"0xffffffff", "255.255.255.255"},
        {"0x100000000", "not an IPv4 address"},
        {"0x99999999999999999999", "not an IPv4 address"},
        {"0177.0.0.01", "127.0.0.1"},
        {"017700000001", "127.0.0.1"},
        {"08", "not an IPv4 address"},
        {"1.09", "not an IPv4 address"},
        {"0x", "0.0.0.0"}, /* no digits are zero */
        {"1.0x", "1.0.0.0"},
        {"00", "0.0.0.0"},
        {"a.1", "not an IPv4 address"},
        {"a.0x1", "not an IPv4 address"},
        {"1..2", "not an IPv4 address"},
        {".1", "not an IPv4 address"},
        {"1.2.3.0xg", "1.2.3.0xg"}, /* no number, hence a name */
        {"1.2.3.4a", "1.2.3.4a"},
        {"1.2.3.", "1.2.0.3"},
        {"1..", "1.."},
        {"1.a", "1.a"},
        {"%31%2e%30x2", "1.0.0.2"},
        {"999999999999999999999999999999999.", "not an IPv4 address"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(host(rows[i].text), rows[i].want);
}

TEST(url_host_in_brackets_is_an_ipv6_address)
{
    static const pair rows[] = {
        {"[::]", "[::]"},
        {"[::1]", "[::1]"},
        {"[1::]", "[1::]"},
        {"[0:0:0:0:0:0:0:0]", "[::]"},
        {"[1:2:3:4:5:6:7:8]", "[1:2:3:4:5:6:7:8]"},
        {"[00AB:0:0:1:0:0:0:1]", "[ab:0:0:1::1]"},  /* the longest run */
        {"[1:0:0:2:0:0:3:4]", "[1::2:0:0:3:4]"},    /* the first of two */
        {"[1:0:2:3:4:5:6:7]", "[1:0:2:3:4:5:6:7]"}, /* not for one zero */
        {"[1:2:3:4:5:6:7::]", "[1:2:3:4:5:6:7:0]"},
        {"[::2:3:4:5:6:7:8]", "[0:2:3:4:5:6:7:8]"},
        {"[::1.2.3.4]", "[::102:304]"},
        {"[1:2:3:4:5:6:1.2.3.4]", "[1:2:3:4:5:6:102:304]"},
        {"[::1:2:3:4:5:1.2.3.4]", "[0:1:2:3:4:5:102:304]"},
        {"[::0.0.0.255]", "[::ff]"},
        {"[1:2::3:4]", "[1:2::3:4]"},
    };
    static const char *const bad[] = {"[]",
                                      "[1]",
                                      "[:]",
                                      "[:1]",
                                      "[1:]",
                                      "[:::]",
                                      "[1:::2]",
                                      "[1::2::3]",
                                      "[1:2:3:4:5:6:7]",
                                      "[1:2:3:4:5:6:7:8:9]",
                                      "[1:2:3:4:5:6:7:8::]",
                                      "[::1:2:3:4:5:6:7:8]",
                                      "[12345::]",
                                      "[g::]",
                                      "[::%31]",
                                      "[::1%eth0]",
                                      "[::1",
                                      "[",
                                      "[::1]x",
                                      "[::1]]",
                                      "[::1.2.3]",
                                      "[::1.2.3.4.5]",
                                      "[::1.2.3.]",
                                      "[::1.2.3.256]",
                                      "[::01.2.3.4]",
                                      "[::1.2.3.4:5]",
                                      "[::.1.2.3]",
                                      "[::1.2..4]",
                                      "[::1.2.3.1234]",
                                      "[1:2:3:4:5:6:7:1.2.3.4]",
                                      "[::1:2:3:4:5:6:1.2.3.4]",
                                      "[::1.2.3.a]",
                                      "[1.2.3.4]",
                                      "[::00.2.3.4]",
                                      "[1:2:3:4:5:6:7:8.]",
                                      "[1 ::]"};

    EACH_ROW(i, rows) {
        CHECK_STR(host(rows[i].text), rows[i].want);
        CHECK_STR(host_in("foo", rows[i].text), rows[i].want);
    }
    EACH_ROW(i, bad)
        CHECK_STR(host(bad[i]), flaw(SEINE_URL_BAD_IPV6));
    CHECK_STR(host("a[::1]"), flaw(SEINE_URL_BAD_CHAR));
}

/* The C library as the second reader of addresses. */
TEST(url_ipv6_address_survives_every_spelling)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int i = 0; i < 2000; i++) {
        unsigned char bytes[16], back[16];
        char text[INET6_ADDRSTRLEN], url[80];

        for (size_t k = 0; k < 16; k += 2) {
            unsigned piece = (unsigned)(sn_rng_below(&r, 3) ? 0 : sn_rng_next(&r) >> 48);

            bytes[k] = (unsigned char)(piece >> 8);
            bytes[k + 1] = (unsigned char)piece;
        }
        CHECK(inet_ntop(AF_INET6, bytes, text, sizeof text));
        snprintf(url, sizeof url, "[%s]", text);
        snprintf(text, sizeof text, "%s", host(url));
        text[strlen(text) - 1] = '\0';
        CHECK_EQ(inet_pton(AF_INET6, text + 1, back), 1);
        CHECK(memcmp(bytes, back, 16) == 0);
    }
}

TEST(url_ipv4_address_survives_every_spelling)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int i = 0; i < 2000; i++) {
        uint32_t address = (uint32_t)sn_rng_next(&r), left = address;
        size_t parts = 1 + sn_rng_below(&r, 4), len = 0;
        char text[64], want[16];

        for (size_t k = 1; k <= parts; k++) {
            uint32_t n = k < parts ? left >> 24 : left >> 8 * (parts - 1);
            char part[16];

            switch (sn_rng_below(&r, 4)) {
            case 0:
                snprintf(part, sizeof part, "%u", n);
                break;
            case 1:
                snprintf(part, sizeof part, "0%o", n);
                break;
            case 2:
                snprintf(part, sizeof part, "0x%x", n);
                break;
            default:
                snprintf(part, sizeof part, "0X%X", n);
            }
            len += (size_t)snprintf(text + len, sizeof text - len, "%s%s",
                                    k > 1 ? "." : "", part);
            left <<= 8;
        }
        snprintf(want, sizeof want, "%u.%u.%u.%u", address >> 24, address >> 16 & 255,
                 address >> 8 & 255, address & 255);
        CHECK_STR(host(text), want);
    }
}

TEST(url_host_not_ascii_becomes_a_labels)
{
    static const pair rows[] = {
        {"b\303\274cher.example", "xn--bcher-kva.example"},
        {"B\303\234CHER.Example", "xn--bcher-kva.example"},
        {"b%C3%BCcher.example", "xn--bcher-kva.example"},
        {"www.\xe4\xbd\xa0\xe5\xa5\xbd", "www.xn--6qq79v"},
        {"a\343\200\202b", "a.b"},                               /* U+3002 */
        {"\xef\xbc\x91\xef\xbc\x92\xef\xbc\x97.1", "127.0.0.1"}, /* wide digits */
        {"a\302\255b", "ab"},               /* a soft hyphen vanishes */
        {"fa\xc3\x9f.de", "xn--fa-hia.de"}, /* not transitional */
    };

    EACH_ROW(i, rows)
        CHECK_STR(host(rows[i].text), rows[i].want);
    CHECK_STR(host("\xc2\xad"), flaw(SEINE_URL_NO_HOST));
    CHECK_STR(host("\xc2\xad."), ".");
    CHECK_STR(host("\357\274\20541"), flaw(SEINE_URL_BAD_CHAR)); /* a percent sign */
    CHECK_STR(host("a\343\200\200b"), flaw(SEINE_URL_BAD_CHAR)); /* a blank */
    CHECK_STR(host("a\xef\xbf\xbd"), flaw(SEINE_URL_BAD_NAME));
    CHECK_STR(host("a%ff"), flaw(SEINE_URL_BAD_NAME));
    CHECK_STR(host("\303\274%00"), flaw(SEINE_URL_BAD_CHAR));
    CHECK_STR(host("\xc3\xbc.1"), flaw(SEINE_URL_BAD_IPV4));
}

/* Names for lookups and keys. */

static const char *
name(const char *text)
{
    static char got[1024];
    seine_view part = {NULL, 77};

    CHECK_EQ(parse(text), SEINE_URL_NONE);
    seine_err e = seine_url_name(&u, &part);
    if (e != SEINE_OK) {
        CHECK_EQ(part.len, 77); /* untouched */
        return seine_err_name(e);
    }
    snprintf(got, sizeof got, "%.*s", (int)part.len, part.ptr);
    return got;
}

TEST(url_name_is_the_host_without_a_dot_at_its_end)
{
    static const pair rows[] = {
        {"http://Example.ORG./", "example.org"},
        {"http://a_b.c-d/", "a_b.c-d"},
        {"http://-a/", "-a"},
        {"http://1.2.3.4./", "1.2.3.4"},
        {"http://[::1]/", "[::1]"},
        {"foo://Host./", "Host"},
        {"http://a../", "dns_bad_name"},
        {"http://./", "dns_bad_name"},
        {"http://../", "dns_bad_name"},
        {"http://.a/", "dns_bad_name"},
        {"http://a..b/", "dns_bad_name"},
        {"http://a!b/", "dns_bad_name"},
        {"http://a~b/", "dns_bad_name"},
        {"foo://a%41/", "dns_bad_name"},
        {"file:///x", "dns_bad_name"},
        {"mailto:x", "dns_bad_name"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(name(rows[i].text), rows[i].want);
}

TEST(url_name_has_labels_of_63_and_253_in_all)
{
    static const struct {
        int a, b, c, d; /* lengths of labels */
        bool good;
    } rows[] = {
        {63, 1, 1, 1, true},  {64, 1, 1, 1, false},   {1, 1, 1, 63, true},
        {1, 1, 1, 64, false}, {63, 63, 63, 61, true}, {63, 63, 63, 62, false},
    };
    char label[65], text[400];

    memset(label, 'a', sizeof label - 1);
    label[64] = '\0';
    EACH_ROW(i, rows)
        for (int dot = 0; dot < 2; dot++) { /* one at the end does not count */
            snprintf(text, sizeof text, "http://%.*s.%.*s.%.*s.%.*s%s/", rows[i].a, label,
                     rows[i].b, label, rows[i].c, label, rows[i].d, label,
                     dot ? "." : "");
            CHECK_EQ(strcmp(name(text), "dns_bad_name") != 0, rows[i].good);
        }
}

TEST(x_42_url_authority_is_scheme_name_and_port)
{
    static const pair rows[] = {
        {"https://Example.org/a?b#c", "https://example.org:443"},
        {"https://u:p@example.org.:443/", "https://example.org:443"},
        {"http://example.org", "http://example.org:80"},
        {"http://example.org:8080", "http://example.org:8080"},
        {"http://[::1]", "http://[::1]:80"},
        {"http://0x7f.1", "http://127.0.0.1:80"},
        {"http://b\303\274cher.de/", "http://xn--bcher-kva.de:80"},
        {"wss://h", "wss://h:443"},
        {"ftp://h", "ftp://h:21"},
        {"foo://h/", "foo://h"},
        {"foo://h:7/", "foo://h:7"},
        {"http://./", "http://.:80"},
        {"file:///x", ""},
        {"mailto:x", ""},
    };
    char got[64];

    EACH_ROW(i, rows) {
        CHECK_EQ(parse(rows[i].text), SEINE_URL_NONE);
        CHECK_EQ(seine_url_authority(&u, got, sizeof got), strlen(rows[i].want));
        CHECK_STR(got, rows[i].want);
    }
}

TEST(url_origin_is_that_of_the_standard)
{
    static const pair rows[] = {
        {"https://u:p@h:443/a", "https://h"},
        {"http://h:81/a", "http://h:81"},
        {"ftp://h/", "ftp://h"},
        {"ws://h./", "ws://h."},
        {"file:///x", "null"},
        {"foo://h/", "null"},
        {"data:,x", "null"},
        {"blob:https://h:8443/id", "https://h:8443"},
        {"blob:ftp://h/", "null"},
        {"blob:x", "null"},
        {"blob:blob:http://h/", "null"},
    };
    char got[64];

    EACH_ROW(i, rows) {
        CHECK_EQ(parse(rows[i].text), SEINE_URL_NONE);
        CHECK_EQ(seine_url_origin(&u, got, sizeof got), strlen(rows[i].want));
        CHECK_STR(got, rows[i].want);
    }
}

TEST(url_authority_and_origin_write_no_more_than_they_may)
{
    char got[8];

    CHECK_EQ(parse("https://ex.org/"), SEINE_URL_NONE);
    for (size_t cap = 0; cap <= sizeof got; cap++) {
        memset(got, '!', sizeof got);
        CHECK_EQ(seine_url_authority(&u, got, cap), 18);
        for (size_t i = 0; i < sizeof got; i++)
            CHECK_EQ(got[i], i >= cap ? '!' : i == cap - 1 ? '\0' : "https://"[i]);
    }
    CHECK_EQ(seine_url_origin(&u, NULL, 0), 14);
    CHECK_EQ(parse("data:,x"), SEINE_URL_NONE);
    CHECK_EQ(seine_url_authority(&u, NULL, 0), 0);
    CHECK_EQ(seine_url_origin(&u, NULL, 0), 4);
}
