/* SPDX-License-Identifier: Apache-2.0 */
#include "net/address_guard.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "check.h"
#include "failing.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

typedef union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
} address;

/* As a resolver or a URL parser would hand it over: old notations of IPv4, too. */
static address
address_of(const char *text)
{
    address a = {.v4 = {.sin_family = AF_INET, .sin_port = htons(8080)}};

    if (strchr(text, ':')) {
        a.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_scope_id = 7};
        CHECK_EQ(inet_pton(AF_INET6, text, &a.v6.sin6_addr), 1);
    } else {
        CHECK_EQ(inet_aton(text, &a.v4.sin_addr), 1);
    }
    return a;
}

static sn_cidr
net_of(const char *text)
{
    sn_cidr net = {0};

    CHECK_EQ(sn_cidr_parse(sn_str_of(text), &net), SEINE_OK);
    return net;
}

static sn_address_guard
zones_of(sn_address_guard_opts opts)
{
    sn_address_guard z = {0};

    CHECK_EQ(sn_address_guard_init(&z, &opts), SEINE_OK);
    return z;
}

typedef struct place {
    const char *text;
    sn_address_zone zone;
} place;

static void
check_zone(const sn_address_guard *z, const char *text, sn_address_zone want)
{
    address a = address_of(text);
    sn_address_zone got = sn_address_guard_zone(z, &a.any);

    if (got != want)
        check_fail(__FILE__, __LINE__, "%s: got %s, want %s", text,
                   sn_address_zone_name(got), sn_address_zone_name(want));
}

#define PUBLIC    SN_ADDRESS_PUBLIC
#define PRIVATE   SN_ADDRESS_PRIVATE
#define LOCAL     SN_ADDRESS_LOCAL
#define FORBIDDEN SN_ADDRESS_FORBIDDEN

/* The first and the last address of every row, and their neighbours. */
static const place places[] = {
    {"0.0.0.0", LOCAL},
    {"0.255.255.255", LOCAL},
    {"1.0.0.0", PUBLIC},
    {"9.255.255.255", PUBLIC},
    {"10.0.0.0", PRIVATE},
    {"10.255.255.255", PRIVATE},
    {"11.0.0.0", PUBLIC},
    {"100.63.255.255", PUBLIC},
    {"100.64.0.0", PRIVATE},
    {"100.100.100.199", PRIVATE},
    {"100.100.100.200", FORBIDDEN}, /* metadata inside a private net */
    {"100.100.100.201", PRIVATE},
    {"100.127.255.255", PRIVATE},
    {"100.128.0.0", PUBLIC},
    {"126.255.255.255", PUBLIC},
    {"127.0.0.0", LOCAL},
    {"127.0.0.1", LOCAL},
    {"127.255.255.255", LOCAL},
    {"128.0.0.0", PUBLIC},
    {"169.253.255.255", PUBLIC},
    {"168.63.129.15", PUBLIC},
    {"168.63.129.16", FORBIDDEN}, /* Azure's agent, inside a public net */
    {"168.63.129.17", PUBLIC},
    {"169.254.0.0", LOCAL},
    {"169.254.0.22", LOCAL},
    {"169.254.0.23", FORBIDDEN},
    {"169.254.42.41", LOCAL},
    {"169.254.42.42", FORBIDDEN},
    {"169.254.169.253", LOCAL},
    {"169.254.169.254", FORBIDDEN},
    {"169.254.169.255", LOCAL},
    {"169.254.170.1", LOCAL},
    {"169.254.170.2", FORBIDDEN},
    {"169.254.170.3", LOCAL},
    {"169.254.170.22", LOCAL},
    {"169.254.170.23", FORBIDDEN}, /* credentials of pods */
    {"169.254.170.24", LOCAL},
    {"169.254.255.255", LOCAL},
    {"169.255.0.0", PUBLIC},
    {"172.15.255.255", PUBLIC},
    {"172.16.0.0", PRIVATE},
    {"172.31.255.255", PRIVATE},
    {"172.32.0.0", PUBLIC},
    {"191.255.255.255", PUBLIC},
    {"192.0.0.0", PRIVATE},
    {"192.0.0.191", PRIVATE},
    {"192.0.0.192", FORBIDDEN},
    {"192.0.0.193", PRIVATE},
    {"192.0.0.255", PRIVATE},
    {"192.0.1.0", PUBLIC},
    {"192.0.1.255", PUBLIC},
    {"192.0.2.0", PRIVATE},
    {"192.0.2.255", PRIVATE},
    {"192.0.3.0", PUBLIC},
    {"192.88.98.255", PUBLIC},
    {"192.88.99.0", PRIVATE},
    {"192.88.99.255", PRIVATE},
    {"192.88.100.0", PUBLIC},
    {"192.167.255.255", PUBLIC},
    {"192.168.0.0", PRIVATE},
    {"192.168.255.255", PRIVATE},
    {"192.169.0.0", PUBLIC},
    {"198.17.255.255", PUBLIC},
    {"198.18.0.0", PRIVATE},
    {"198.19.255.255", PRIVATE},
    {"198.20.0.0", PUBLIC},
    {"198.51.99.255", PUBLIC},
    {"198.51.100.0", PRIVATE},
    {"198.51.100.255", PRIVATE},
    {"198.51.101.0", PUBLIC},
    {"203.0.112.255", PUBLIC},
    {"203.0.113.0", PRIVATE},
    {"203.0.113.255", PRIVATE},
    {"203.0.114.0", PUBLIC},
    {"223.255.255.255", PUBLIC},
    {"224.0.0.0", FORBIDDEN},
    {"239.255.255.255", FORBIDDEN},
    {"240.0.0.0", FORBIDDEN},
    {"255.255.255.255", FORBIDDEN},
    /* old notations, once they are addresses */
    {"127.1", LOCAL},
    {"0x7f.0.0.1", LOCAL},
    {"0177.0.0.1", LOCAL},
    {"2130706433", LOCAL},
    {"0x7f000001", LOCAL},
    {"10.65535", PRIVATE},
    {"0xa9fea9fe", FORBIDDEN},
    {"2852039166", FORBIDDEN}, /* 169.254.169.254 */
    {"0", LOCAL},
    /* IPv6 */
    {"::", LOCAL},
    {"::1", LOCAL},
    {"0:0:0:0:0:0:0:1", LOCAL},
    {"::2", LOCAL}, /* carries 0.0.0.2 */
    {"100::", FORBIDDEN},
    {"100::ffff:ffff:ffff:ffff", FORBIDDEN},
    {"100:0:0:1::", FORBIDDEN}, /* outside 2000::/3 */
    {"1fff:ffff::", FORBIDDEN},
    {"2000::", PUBLIC},
    {"2001:1:ffff::", PUBLIC},
    {"2001:2::", PRIVATE}, /* benchmarks */
    {"2001:2:0:ffff:ffff:ffff:ffff:ffff", PRIVATE},
    {"2001:2:1::", PUBLIC},
    {"2001:200::1", PUBLIC},
    {"2001:db7:ffff::", PUBLIC},
    {"2001:db8::", PRIVATE},
    {"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", PRIVATE},
    {"2001:db9::", PUBLIC},
    {"2606:4700::1111", PUBLIC},
    {"3ffe:ffff::", PUBLIC},
    {"3fff::", PRIVATE},
    {"3fff:fff:ffff::", PRIVATE},
    {"3fff:1000::", PUBLIC},
    {"3fff:ffff:ffff::", PUBLIC},
    {"4000::", FORBIDDEN},
    {"fbff:ffff::", FORBIDDEN},
    {"fc00::", PRIVATE},
    {"fd00:42::41", PRIVATE},
    {"fd00:42::42", FORBIDDEN},
    {"fd00:ec2::22", PRIVATE},
    {"fd00:ec2::23", FORBIDDEN}, /* credentials of pods */
    {"fd00:ec2::24", PRIVATE},
    {"fd00:ec2::253", PRIVATE},
    {"fd00:ec2::254", FORBIDDEN}, /* metadata inside a private net */
    {"fd00:ec2::255", PRIVATE},
    {"fd20:ce::253", PRIVATE},
    {"fd20:ce::254", FORBIDDEN},
    {"fd20:ce::255", PRIVATE},
    {"fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", PRIVATE},
    {"fe00::", FORBIDDEN},
    {"fe7f:ffff::", FORBIDDEN},
    {"fe80::", LOCAL},
    {"fe80::1", LOCAL},
    {"fe80::a9fe:a9fd", LOCAL},
    {"fe80::a9fe:a9fe", FORBIDDEN},
    {"febf:ffff::", LOCAL},
    {"fec0::", PRIVATE},
    {"feff:ffff::", PRIVATE},
    {"ff00::", FORBIDDEN},
    {"ff02::1", FORBIDDEN},
    {"ffff:ffff::", FORBIDDEN},
    {"64:ff9b:1::7f00:1", FORBIDDEN}, /* a NAT64 prefix nobody configured */
    {"::ffff:0:127.0.0.1", FORBIDDEN},
};

TEST(address_guard_of_the_first_and_last_of_every_net_and_their_neighbours)
{
    sn_address_guard z = zones_of(SN_ADDRESS_GUARD_OPTS);

    EACH_ROW(i, places)
        check_zone(&z, places[i].text, places[i].zone);
    sn_address_guard_fini(&z);
    sn_address_guard_fini(&z); /* empty is fine */
}

/* By octets, in another order than the table's. */
static sn_address_zone
model(unsigned a, unsigned b, unsigned c, unsigned d)
{
    unsigned abc = a << 16 | b << 8 | c;

    if (a == 127 || a == 0)
        return LOCAL;
    if (a >= 224)
        return FORBIDDEN;
    if (a == 169 && b == 254)
        return (c == 169 && d == 254) || (c == 170 && (d == 2 || d == 23)) ||
                       (c == 0 && d == 23) || (c == 42 && d == 42)
                   ? FORBIDDEN
                   : LOCAL;
    if ((abc == 0xa83f81 && d == 16) || (abc == 0xc00000 && d == 192))
        return FORBIDDEN;
    if (a == 100 && b / 64 == 1)
        return b == 100 && c == 100 && d == 200 ? FORBIDDEN : PRIVATE;
    if (a == 10 || (a == 172 && b / 16 == 1) || (a == 192 && b == 168) ||
        (a == 198 && b / 2 == 9) || abc == 0xc00000 || abc == 0xc05863 ||
        abc == 0xc00002 || abc == 0xc63364 || abc == 0xcb0071)
        return PRIVATE;
    return PUBLIC;
}

static bool
differs(const sn_address_guard *z, unsigned ab, unsigned c, unsigned d)
{
    address a = {.v4 = {.sin_family = AF_INET}};

    a.v4.sin_addr.s_addr = htonl(ab << 16 | c << 8 | d);
    return sn_address_guard_zone(z, &a.any) != model(ab >> 8, ab & 255, c, d);
}

/* Every /16, and in each of them the third octets that any net ends at. */
TEST(address_guard_agrees_with_octets_over_all_of_ipv4)
{
    static const unsigned thirds[] = {0, 1, 2, 42, 99, 100, 113, 129, 169, 170, 255};
    static const unsigned fourths[] = {0, 2, 16, 23, 42, 192, 200, 254, 255};
    sn_address_guard z = zones_of(SN_ADDRESS_GUARD_OPTS);
    unsigned wrong = 0;

    for (unsigned ab = 0; ab < 65536; ab++)
        for (unsigned i = 0; i < COUNT(thirds); i++) {
            unsigned c = thirds[i], d = fourths[(ab + i) % COUNT(fourths)];

            wrong += differs(&z, ab, c, d);
        }
    for (unsigned i = 0; i < COUNT(thirds) * 256; i++) { /* nets that hold a service */
        wrong += differs(&z, 168 << 8 | 63, thirds[i / 256], i % 256);
        wrong += differs(&z, 169 << 8 | 254, thirds[i / 256], i % 256);
        wrong += differs(&z, 192 << 8, thirds[i / 256], i % 256);
        wrong += differs(&z, 100 << 8 | 100, thirds[i / 256], i % 256);
    }
    CHECK_EQ(wrong, 0);
    sn_address_guard_fini(&z);
}

/* Every IPv4 row again, in every form in which IPv6 carries it. */
TEST(address_guard_of_ipv6_is_that_of_the_ipv4_it_carries)
{
    sn_cidr nat64[] = {
        net_of("2a00:64::/32"),           net_of("2a00:6400:4000::/40"),
        net_of("2a00:6400:4800::/48"),    net_of("2a00:6400:5600:aa00::/56"),
        net_of("2a00:6400:6400:bb::/64"), net_of("fd00:64::/96")};
    sn_address_guard z =
        zones_of((sn_address_guard_opts){.nat64 = nat64, .n_nat64 = COUNT(nat64)});

    EACH_ROW(i, places) {
        if (strchr(places[i].text, ':'))
            continue;
        address v4 = address_of(places[i].text);
        uint8_t b[4];
        char text[64], hex[16], not [16];

        memcpy(b, &v4.v4.sin_addr, 4);
        snprintf(hex, sizeof hex, "%02x%02x:%02x%02x", b[0], b[1], b[2], b[3]);
        snprintf(not, sizeof not, "%02x%02x:%02x%02x", b[0] ^ 255, b[1] ^ 255, b[2] ^ 255,
                 b[3] ^ 255);
#define FORM(...) \
    (snprintf(text, sizeof text, __VA_ARGS__), check_zone(&z, text, places[i].zone))
        FORM("::ffff:%s", hex); /* mapped */
        FORM("::ffff:%u.%u.%u.%u", b[0], b[1], b[2], b[3]);
        if (b[0] | b[1] | b[2])
            FORM("::%s", hex);                   /* compatible */
        FORM("64:ff9b::%s", hex);                /* NAT64 */
        FORM("2002:%s::1", hex);                 /* 6to4 */
        FORM("2001:0:808:808:0:ffff:%s", not );  /* Teredo: client */
        FORM("2001:0:%s:0:ffff:f7f7:f7f7", hex); /* Teredo: server */
        FORM("2a00:64:%s:0:1:2:3", hex);         /* RFC 6052, /32 */
        FORM("2a00:6400:40%02x:%02x%02x:%02x:1:2:3", b[0], b[1], b[2], b[3]);    /* /40 */
        FORM("2a00:6400:4800:%02x%02x:%02x:%02x00:1:2", b[0], b[1], b[2], b[3]); /* /48 */
        FORM("2a00:6400:5600:aa%02x:%02x:%02x%02x:1:2", b[0], b[1], b[2], b[3]); /* /56 */
        FORM("2a00:6400:6400:bb:%02x:%02x%02x:%02x00:1", b[0], b[1], b[2],
             b[3]);               /* /64 */
        FORM("fd00:64::%s", hex); /* /96 */
    }
    sn_address_guard_fini(&z);
}

TEST(address_guard_check_lets_nothing_step_up)
{
    static const char *const texts[] = {"8.8.8.8", "10.0.0.5", "127.0.0.1", "224.0.0.1"};
    sn_address_guard z = zones_of(SN_ADDRESS_GUARD_OPTS);

    for (int zone = PUBLIC; zone <= FORBIDDEN; zone++)
        for (int ceiling = PUBLIC; ceiling <= LOCAL; ceiling++)
            for (int pin = PUBLIC; pin <= LOCAL; pin++) {
                address a = address_of(texts[zone]);
                bool fine = zone != FORBIDDEN && zone <= ceiling && zone <= pin;

                CHECK_EQ(sn_address_guard_check(&z, &a.any, (sn_address_zone)ceiling,
                                                (sn_address_zone)pin),
                         fine ? SEINE_OK : SEINE_E_BLOCKED_ADDRESS);
            }
    /* An address that is not IPv4 or IPv6 is forbidden. */
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    CHECK_EQ(sn_address_guard_zone(&z, (struct sockaddr *)&un), FORBIDDEN);
    CHECK_EQ(sn_address_guard_check(&z, (struct sockaddr *)&un, LOCAL, SN_ADDRESS_NO_PIN),
             SEINE_E_BLOCKED_ADDRESS);
    sn_address_guard_fini(&z);
}

/* A name that resolved to a public address first is blocked when it later resolves to a
 * private one (DNS rebinding). */
TEST(address_guard_pin_keeps_the_lowest_zone)
{
    CHECK_EQ(sn_address_zone_pin(SN_ADDRESS_NO_PIN, LOCAL), LOCAL);
    CHECK_EQ(sn_address_zone_pin(SN_ADDRESS_NO_PIN, PUBLIC), PUBLIC);
    CHECK_EQ(sn_address_zone_pin(PUBLIC, PRIVATE), PUBLIC);
    CHECK_EQ(sn_address_zone_pin(PRIVATE, PUBLIC), PUBLIC);
    CHECK_EQ(sn_address_zone_pin(PRIVATE, FORBIDDEN), PRIVATE); /* allowed by a switch */
    CHECK_EQ(sn_address_zone_pin(LOCAL, FORBIDDEN), LOCAL);
}

TEST(address_guard_ceiling_is_the_peers_zone)
{
    CHECK_EQ(sn_address_zone_ceiling(PUBLIC), PUBLIC);
    CHECK_EQ(sn_address_zone_ceiling(PRIVATE), PRIVATE);
    CHECK_EQ(sn_address_zone_ceiling(LOCAL), LOCAL);
    CHECK_EQ(sn_address_zone_ceiling(FORBIDDEN), PUBLIC);
}

TEST(address_guard_switches_allow_deny_and_rename)
{
    sn_cidr allow[] = {net_of("10.0.0.0/8"), net_of("169.254.169.254"),
                       net_of("64:ff9b::c0a8:0/112")};
    sn_cidr deny[] = {net_of("10.66.0.0/16"), net_of("2600::/16")};
    sn_address_zone_rule rules[] = {
        {net_of("127.1.0.0/16"), PUBLIC}, {net_of("127.1.2.0/24"), PRIVATE},
        {net_of("127.1.2.0/24"), LOCAL},  {net_of("8.8.0.0/16"), FORBIDDEN},
        {net_of("2002::/16"), PRIVATE},   {net_of("fe80::/10"), PUBLIC},
    };
    sn_address_guard_opts opts = {allow,        COUNT(allow), deny, COUNT(deny), rules,
                                  COUNT(rules), NULL,         0,    NULL,        0};
    static const struct {
        const char *text;
        bool passes; /* as found on a public page */
        sn_address_zone zone;
    } rows[] = {
        {"10.1.2.3", true, PRIVATE},        /* allowed */
        {"::ffff:10.1.2.3", true, PRIVATE}, /* and in another form */
        {"169.254.169.254", true, FORBIDDEN},
        {"169.254.169.253", false, LOCAL},
        {"10.66.0.1", false, PRIVATE}, /* denied wins */
        {"::ffff:10.66.0.1", false, PRIVATE},
        {"2002:a42:1::", false, PRIVATE},
        {"2600::1", false, PUBLIC},
        {"64:ff9b::c0a8:101", true, PRIVATE}, /* the carrier was named */
        {"64:ff9b::c0a9:101", true, PUBLIC},  /* 192.169.1.1 */
        {"192.168.1.1", false, PRIVATE},
        {"127.1.0.1", true, PUBLIC}, /* declared public, for tests */
        {"::ffff:127.1.0.1", true, PUBLIC},
        {"127.1.2.1", false, LOCAL}, /* the narrower rule, of equals the last */
        {"127.2.0.1", false, LOCAL},
        {"8.8.8.8", false, FORBIDDEN},
        {"8.9.8.8", true, PUBLIC},
        {"2002:808:808::", false, FORBIDDEN}, /* the worse of carrier and carried */
        {"2002:909:909::", false, PRIVATE},
        {"fe80::1", true, PUBLIC},
        /* Teredo: both of what it carries must be allowed. */
        {"2001:0:a00:1:0:0:f5ff:fffe", true, PRIVATE},
        {"2001:0:a00:1:0:0:80ff:fffe", false, LOCAL},
    };
    sn_address_guard z = zones_of(opts);

    memset(allow, 0, sizeof allow); /* init has copied them */
    memset(rules, 0, sizeof rules);
    EACH_ROW(i, rows) {
        address a = address_of(rows[i].text);

        check_zone(&z, rows[i].text, rows[i].zone);
        CHECK_EQ(sn_address_guard_check(&z, &a.any, PUBLIC, PUBLIC),
                 rows[i].passes ? SEINE_OK : SEINE_E_BLOCKED_ADDRESS);
    }
    sn_address_guard_fini(&z);
}

TEST(address_guard_denies_ports_of_this_machine_in_every_form)
{
    sn_cidr allow[] = {net_of("0.0.0.0/0"), net_of("::/0")};
    sn_address_zone_rule rules[] = {{net_of("127.0.0.0/8"), PUBLIC}};
    uint16_t ports[] = {8787, 9090};
    sn_address_guard_opts opts = {.allow = allow,
                                  .n_allow = COUNT(allow),
                                  .rules = rules,
                                  .n_rules = COUNT(rules),
                                  .own_ports = ports,
                                  .n_own_ports = COUNT(ports)};
    static const struct {
        const char *text;
        bool is_here;
    } rows[] = {
        {"127.0.0.1", true},     {"127.9.9.9", true},    {"0.0.0.0", true},
        {"::1", true},           {"::", true},           {"::ffff:127.0.0.1", true},
        {"192.0.2.7", true},     {"2001:db8::7", true},  {"192.0.2.8", false},
        {"10.0.0.1", false},     {"93.184.1.1", false},  {"64:ff9b::7f00:1", true},
        {"2002:7f00:1::", true}, {"2001:db8::8", false},
    };
    sn_address_guard z = zones_of(opts);
    sn_ip own[2];

    ports[0] = ports[1] = 1; /* init has copied them */
    CHECK_EQ(sn_ip_parse(SN_STR("192.0.2.7"), &own[0]), SEINE_OK);
    CHECK_EQ(sn_ip_parse(SN_STR("2001:db8::7"), &own[1]), SEINE_OK);
    CHECK_EQ(sn_address_guard_set_own(&z, own, 2), SEINE_OK);
    EACH_ROW(i, rows) {
        static const uint16_t tried[] = {8787, 9090, 8786, 80};

        for (size_t k = 0; k < COUNT(tried); k++) {
            address a = address_of(rows[i].text);

            a.v4.sin_port = htons(tried[k]); /* at the same place in both families */
            CHECK_EQ(sn_address_guard_check(&z, &a.any, LOCAL, LOCAL),
                     rows[i].is_here && k < 2 ? SEINE_E_BLOCKED_ADDRESS : SEINE_OK);
        }
    }
    sn_address_guard_fini(&z);
}

TEST(address_guard_own_addresses_are_local)
{
    sn_address_guard z = zones_of((sn_address_guard_opts){
        .rules = &(sn_address_zone_rule){net_of("44.0.0.0/8"), PUBLIC}, .n_rules = 1});
    sn_ip own[4];

    check_zone(&z, "5.6.7.8", PUBLIC);
    CHECK_EQ(sn_ip_parse(SN_STR("5.6.7.8"), &own[0]), SEINE_OK);
    CHECK_EQ(sn_ip_parse(SN_STR("2a00::5"), &own[1]), SEINE_OK);
    CHECK_EQ(sn_ip_parse(SN_STR("44.1.1.1"), &own[2]), SEINE_OK);
    CHECK_EQ(sn_ip_parse(SN_STR("2002:101:101::1"), &own[3]), SEINE_OK);
    CHECK_EQ(sn_address_guard_set_own(&z, own, 4), SEINE_OK);
    check_zone(&z, "5.6.7.8", LOCAL);
    check_zone(&z, "5.6.7.9", PUBLIC);
    check_zone(&z, "::ffff:5.6.7.8", LOCAL);
    check_zone(&z, "64:ff9b::506:708", LOCAL);
    check_zone(&z, "2a00::5", LOCAL);
    check_zone(&z, "2a00::6", PUBLIC);
    check_zone(&z, "44.1.1.1", PUBLIC); /* a rule is somebody's word */
    check_zone(&z, "2002:101:101::1", LOCAL);
    check_zone(&z, "2002:101:101::2", PUBLIC);
    CHECK_EQ(sn_address_guard_set_own(&z, NULL, 0),
             SEINE_OK); /* refreshed: all are gone */
    check_zone(&z, "5.6.7.8", PUBLIC);
    sn_address_guard_fini(&z);
}

/* Interfaces of a made-up machine: one without address, one of another family. */
static struct ifaddrs ifaces[4];
static address iface_v4, iface_v6;
static struct sockaddr_un iface_un;
static int given, taken, answer;

static int
get_ifaces(struct ifaddrs **out_list)
{
    if (answer != 0)
        return answer;
    iface_v4 = address_of("5.6.7.8");
    iface_v6 = address_of("fe80::77");
    iface_un.sun_family = AF_UNIX;
    ifaces[0] = (struct ifaddrs){.ifa_next = &ifaces[1], .ifa_addr = NULL};
    ifaces[1] = (struct ifaddrs){.ifa_next = &ifaces[2],
                                 .ifa_addr = (struct sockaddr *)&iface_un};
    ifaces[2] = (struct ifaddrs){.ifa_next = &ifaces[3], .ifa_addr = &iface_v4.any};
    ifaces[3] = (struct ifaddrs){.ifa_addr = &iface_v6.any};
    *out_list = ifaces;
    given++;
    return 0;
}

static void
put_ifaces(struct ifaddrs *list)
{
    CHECK(list == ifaces);
    taken++;
}

TEST(address_guard_reads_the_interfaces)
{
    sn_iface_source source = {get_ifaces, put_ifaces};
    sn_address_guard z = zones_of(SN_ADDRESS_GUARD_OPTS);

    given = taken = answer = 0;
    CHECK_EQ(sn_address_guard_read_own(&z, &source), SEINE_OK);
    CHECK_EQ(z.n_own, 2);
    check_zone(&z, "5.6.7.8", LOCAL);
    check_zone(&z, "fe80::77", LOCAL);
    answer = -1;
    CHECK_EQ(sn_address_guard_read_own(&z, &source), SEINE_E_IO);
    check_zone(&z, "5.6.7.8", LOCAL); /* what was known stays */
    CHECK(given == 1 && taken == 1);
    CHECK_EQ(sn_address_guard_read_own(&z, NULL), SEINE_OK); /* this machine's */
    sn_address_guard_fini(&z);
}

TEST(address_guard_without_memory_keeps_what_it_knows)
{
    sn_iface_source source = {get_ifaces, put_ifaces};
    sn_cidr net = net_of("10.0.0.0/8");

    answer = 0;
    FAIL_EACH(r)
    {
        sn_address_guard z;
        seine_err e = sn_address_guard_init(
            &z, &(sn_address_guard_opts){.deny = &net, .n_deny = 1});

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e != SEINE_OK)
            continue;
        given = taken = 0;
        e = sn_address_guard_read_own(&z, &source);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK_EQ(given, taken);
        CHECK_EQ(z.n_own, e == SEINE_OK ? 2 : 0);
        sn_address_guard_fini(&z);
    }
}

TEST(address_guard_refuses_options_without_sense)
{
    static const char *const prefixes[] = {"64:ff9b::/95", "2a00::/24",  "2a00::/44",
                                           "2a00::/72",    "2a00::/128", "10.0.0.0/8"};
    sn_address_guard z;

    EACH_ROW(i, prefixes) {
        sn_cidr net = net_of(prefixes[i]);

        CHECK_EQ(sn_address_guard_init(
                     &z, &(sn_address_guard_opts){.nat64 = &net, .n_nat64 = 1}),
                 SEINE_E_INVAL);
    }
    sn_address_zone_rule rule = {net_of("::/0"), (sn_address_zone)4};
    CHECK_EQ(
        sn_address_guard_init(&z, &(sn_address_guard_opts){.rules = &rule, .n_rules = 1}),
        SEINE_E_INVAL);
}

TEST(address_guard_rules_are_read_from_text)
{
    static const struct {
        const char *text;
        int zone; /* -1: refused */
    } rows[] = {
        {"127.1.0.0/16=public", PUBLIC},
        {"10.0.0.1=private", PRIVATE},
        {"fd00::/8=local", LOCAL},
        {"8.8.8.8=forbidden", FORBIDDEN},
        {"127.1.0.0/16", -1},
        {"127.1.0.0/16=", -1},
        {"127.1.0.0/16=Public", -1},
        {"127.1.0.0/16=any", -1},
        {"127.1.2.0/16=public", -1},
        {"=public", -1},
        {"", -1},
    };

    EACH_ROW(i, rows) {
        sn_address_zone_rule rule = {.zone = LOCAL};
        seine_err e = sn_address_zone_rule_parse(sn_str_of(rows[i].text), &rule);

        CHECK_EQ(e, rows[i].zone >= 0 ? SEINE_OK : SEINE_E_INVAL);
        if (e == SEINE_OK)
            CHECK_EQ(rule.zone, rows[i].zone);
    }
}

TEST(address_guard_names_the_net_one_would_have_to_allow)
{
    static const struct {
        const char *text, *net;
    } rows[] = {
        {"10.0.0.5", "10.0.0.0/8"},
        {"::ffff:10.0.0.5", "10.0.0.0/8"},
        {"169.254.169.254", "169.254.169.254/32"},
        {"8.8.8.8", "8.8.8.8/32"},
        {"fd12::1", "fc00::/7"},
        {"2606::1", "2606::1/128"},
        {"5000::1", "5000::1/128"},
        {"127.1.2.3", "127.1.0.0/16"}, /* a rule */
        {"5.6.7.8", "5.6.7.8/32"},     /* own */
        {"2001:0:a00:1:0:0:f5ff:fffe", "2001:0:a00:1::f5ff:fffe/128"},
    };
    sn_address_guard z = zones_of((sn_address_guard_opts){
        .rules = &(sn_address_zone_rule){net_of("127.1.0.0/16"), PRIVATE}, .n_rules = 1});
    sn_ip own;

    CHECK_EQ(sn_ip_parse(SN_STR("5.6.7.8"), &own), SEINE_OK);
    CHECK_EQ(sn_address_guard_set_own(&z, &own, 1), SEINE_OK);
    EACH_ROW(i, rows) {
        address a = address_of(rows[i].text);
        sn_cidr net = sn_address_guard_net(&z, &a.any);
        char text[SN_CIDR_TEXT];

        sn_cidr_text(&net, text);
        CHECK_STR(text, rows[i].net);
    }
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    CHECK_EQ(sn_address_guard_net(&z, (struct sockaddr *)&un).bits, 32);
    sn_address_guard_fini(&z);
}

/* The list of the Fetch standard, once more and by hand: 83 ports with 0. */
TEST(address_guard_blocks_the_ports_of_the_fetch_standard)
{
    static const uint16_t blocked[] = {
        0,    1,    7,    9,    11,   13,   15,   17,   19,   20,   21,   22,
        23,   25,   37,   42,   43,   53,   69,   77,   79,   87,   95,   101,
        102,  103,  104,  109,  110,  111,  113,  115,  117,  119,  123,  135,
        137,  139,  143,  161,  179,  389,  427,  465,  512,  513,  514,  515,
        526,  530,  531,  532,  540,  548,  554,  556,  563,  587,  601,  636,
        989,  990,  993,  995,  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060,
        5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080};
    static const uint16_t open[] = {80, 443, 8080, 8443, 3000, 8000, 2, 10081, 65535};
    int n = 0;

    EACH_ROW(i, blocked)
        CHECK(sn_address_guard_blocks_port(blocked[i]));
    EACH_ROW(i, open)
        CHECK(!sn_address_guard_blocks_port(open[i]));
    for (unsigned port = 0; port < 65536; port++)
        n += sn_address_guard_blocks_port((uint16_t)port);
    CHECK_EQ(n, COUNT(blocked));
}
