/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/gate.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "check.h"
#include "failing.h"
#include "gate/gate.h"
#include "seine/clock.h"

#define T0 SEINE_SECS(1000)

/* A request in words: from whom, what, and up to four fields. */
typedef struct asked {
    const char *peer, *method, *target;
    const char *fields[8]; /* name, value … */
} asked;

static bool
find_field(void *arg, const char *name, unsigned nth, seine_view *out_value)
{
    const asked *a = arg;

    for (int i = 0; i + 1 < 8 && a->fields[i]; i += 2)
        if (strcasecmp(a->fields[i], name) == 0 && nth-- == 0) {
            *out_value = seine_key_str(a->fields[i + 1]);
            return true;
        }
    return false;
}

static seine_gate_answer
ask(seine_gate *g, asked a, seine_time now)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6};
    seine_gate_request req = SEINE_GATE_REQUEST;
    seine_gate_answer answer;

    req.peer = (struct sockaddr *)&in;
    if (strchr(a.peer, ':')) {
        inet_pton(AF_INET6, a.peer, &in6.sin6_addr);
        req.peer = (struct sockaddr *)&in6;
    } else {
        inet_pton(AF_INET, a.peer, &in.sin_addr);
    }
    req.method = seine_key_str(a.method ? a.method : "GET");
    req.target = seine_key_str(a.target ? a.target : "/");
    req.field = find_field;
    req.arg = &a;
    seine_gate_check(g, &req, now, &answer);
    return answer;
}

static seine_gate *
make(const seine_gate_opts *opts)
{
    seine_gate *g = NULL;
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(seine_gate_new(opts, &g, &diag), SEINE_OK);
    CHECK_STR(diag.text, "");
    return g;
}

/* One policy of 10/s, 20 at once. */
static seine_gate_policy one[] = {SEINE_GATE_POLICY};

static seine_gate_opts
plain(void)
{
    seine_gate_opts o = SEINE_GATE_OPTS;

    o.policies = one;
    o.n_policies = 1;
    return o;
}

TEST(gate_admits_the_burst_and_then_the_rate)
{
    seine_gate_opts o = plain();
    seine_gate *g = make(&o);
    seine_gate_answer a;

    for (unsigned i = 0; i < 20; i++) {
        a = ask(g, (asked){.peer = "192.0.2.1"}, T0);
        CHECK(a.allowed && a.reason == SEINE_GATE_COUNTED);
        CHECK_EQ(a.left, 19 - i);
    }
    CHECK_EQ(a.reset_after, SEINE_MS(100)); /* nothing left: until the next token */
    a = ask(g, (asked){.peer = "192.0.2.1"}, T0);
    CHECK(!a.allowed && a.reason == SEINE_GATE_LIMITED);
    CHECK_EQ(a.retry_after, SEINE_MS(100));
    CHECK(!ask(g, (asked){.peer = "192.0.2.1"}, T0 + SEINE_MS(100) - 1).allowed);
    CHECK(ask(g, (asked){.peer = "192.0.2.1"}, T0 + SEINE_MS(100)).allowed);
    CHECK(!ask(g, (asked){.peer = "192.0.2.1"}, T0 + SEINE_MS(100)).allowed);
    CHECK(ask(g, (asked){.peer = "192.0.2.2"}, T0).allowed); /* another client */
    seine_gate_free(g);
}

TEST(gate_counts_clients_by_their_prefixes)
{
    static const struct {
        uint32_t v4, v6;
        const char *a, *b;
        bool is_one;
    } rows[] = {
        {32, 64, "2001:db8::1", "2001:db8::ffff:1", true},
        {32, 64, "2001:db8::1", "2001:db8:0:1::1", false},
        {32, 128, "2001:db8::1", "2001:db8::2", false},
        {32, 64, "192.0.2.1", "192.0.2.2", false},
        {24, 64, "192.0.2.1", "192.0.2.2", true},
        {24, 64, "192.0.2.1", "192.0.3.1", false},
        {32, 64, "192.0.2.1", "::ffff:192.0.2.1", true},
        {32, 64, "192.0.2.1", "::192.0.2.1", false},
    };

    EACH_ROW(i, rows) {
        seine_gate_policy p = SEINE_GATE_POLICY;
        seine_gate_opts o = plain();
        seine_gate *g;

        p.rate.burst = 1;
        o.policies = &p;
        o.v4_prefix = rows[i].v4;
        o.v6_prefix = rows[i].v6;
        g = make(&o);
        CHECK(ask(g, (asked){.peer = rows[i].a}, T0).allowed);
        CHECK_EQ(ask(g, (asked){.peer = rows[i].b}, T0).allowed, !rows[i].is_one);
        seine_gate_free(g);
    }
}

TEST(gate_lets_the_first_policy_that_fits_decide)
{
    static const char *const post[] = {"POST", "PUT", NULL};
    seine_gate_policy p[] = {SEINE_GATE_POLICY, SEINE_GATE_POLICY, SEINE_GATE_POLICY};
    static const struct {
        const char *method, *target, *policy;
    } rows[] = {
        {"POST", "/login", "login"},       {"PUT", "/login/x", "login"},
        {"GET", "/login", "default"},      {"post", "/login", "default"},
        {"POST", "/%6Cogin?x", "login"},   {"GET", "/api/1", "api"},
        {"GET", "/apix", "default"},       {"GET", "/", "default"},
        {"POST", "/a/..//login", "login"},
    };
    seine_gate_opts o = plain();

    p[0].name = "login";
    p[0].path = "/login";
    p[0].methods = post;
    p[1].name = "api";
    p[1].path = "/api/";
    o.policies = p;
    o.n_policies = 3;
    seine_gate *g = make(&o);
    EACH_ROW(i, rows) {
        seine_gate_answer a =
            ask(g, (asked){"192.0.2.1", rows[i].method, rows[i].target, {NULL}}, T0);

        CHECK_STR(a.policy, rows[i].policy);
    }
    seine_gate_free(g);
}

TEST(gate_passes_what_no_policy_fits)
{
    seine_gate_policy p = SEINE_GATE_POLICY;
    seine_gate_opts o = plain();
    seine_gate_fields f;
    seine_gate_stats t;

    p.path = "/api";
    o.policies = &p;
    seine_gate *g = make(&o);
    seine_gate_answer a = ask(g, (asked){"192.0.2.1", "GET", "/x", {NULL}}, T0);
    CHECK(a.allowed && a.reason == SEINE_GATE_NO_POLICY);
    seine_gate_write(&a, &f);
    CHECK_STR(f.policy, "");
    CHECK_STR(f.limit, "");
    seine_gate_stats_get(g, &t);
    CHECK_EQ(t.passed, 1);
    seine_gate_free(g);
}

TEST(gate_refuses_who_is_denied_and_passes_who_is_allowed_uncounted)
{
    static const char *const allow[] = {"10.0.0.0/8", "203.0.113.0/24", NULL};
    static const char *const deny[] = {"203.0.113.128/25", "2001:db8::/32", NULL};
    static const struct {
        const char *peer;
        bool allowed;
        seine_gate_reason reason;
    } rows[] = {
        {"10.1.1.1", true, SEINE_GATE_ALLOWED},
        {"203.0.113.1", true, SEINE_GATE_ALLOWED},
        {"203.0.113.200", false, SEINE_GATE_DENIED}, /* deny wins */
        {"2001:db8::5", false, SEINE_GATE_DENIED},
        {"192.0.2.1", true, SEINE_GATE_COUNTED},
    };
    seine_gate_opts o = plain();
    seine_gate_fields f;

    o.allow = allow;
    o.deny = deny;
    seine_gate *g = make(&o);
    EACH_ROW(i, rows) {
        seine_gate_answer a = {0};

        for (int n = 0; n < 15; n++)
            a = ask(g, (asked){.peer = rows[i].peer}, T0);
        CHECK_EQ(a.allowed, rows[i].allowed);
        CHECK_EQ(a.reason, rows[i].reason);
        CHECK_EQ(a.left, a.reason == SEINE_GATE_ALLOWED   ? 20
                         : a.reason == SEINE_GATE_COUNTED ? 5
                                                          : 0);
    }
    seine_gate_answer denied = ask(g, (asked){.peer = "203.0.113.200"}, T0);
    seine_gate_write(&denied, &f);
    CHECK_STR(f.limit, "\"default\";r=0;t=2");
    CHECK_STR(f.retry_after, "2");
    seine_gate_free(g);
}

TEST(gate_takes_the_client_from_trusted_proxies_alone)
{
    static const char *const trust[] = {"127.0.0.1", NULL};
    seine_gate_opts o = plain();
    char client[46];

    o.trust = trust;
    seine_gate *g = make(&o);
    seine_gate_answer a = ask(
        g,
        (asked){"127.0.0.1",
                NULL,
                NULL,
                {"x-forwarded-for", "9.9.9.9", "X-Forwarded-For", "1.1.1.1, 192.0.2.7"}},
        T0);
    seine_gate_client(&a, client);
    CHECK_STR(client, "192.0.2.7");
    CHECK(!g->is_ignoring);
    a = ask(g, (asked){"192.0.2.9", NULL, NULL, {"X-Forwarded-For", "192.0.2.7"}}, T0);
    seine_gate_client(&a, client);
    CHECK_STR(client, "192.0.2.9");
    CHECK(g->is_ignoring); /* to be warned about */
    seine_gate_free(g);
}

static bool
endless(void *arg, const char *name, unsigned nth, seine_view *out_value)
{
    unsigned *most = arg;

    if (strcasecmp(name, "X-Forwarded-For") != 0 || nth >= *most)
        return false;
    *out_value = seine_key_str("192.0.2.7");
    return true;
}

/* More fields than anybody sends: the ones at the end are not seen, so none counts. */
TEST(gate_counts_a_proxy_itself_when_it_sends_fields_without_end)
{
    static const char *const trust[] = {"127.0.0.1", NULL};
    struct sockaddr_in in = {.sin_family = AF_INET};
    seine_gate_request req = SEINE_GATE_REQUEST;
    seine_gate_opts o = plain();
    seine_gate_answer a;
    unsigned most = UINT32_MAX;
    char client[46];

    o.trust = trust;
    seine_gate *g = make(&o);
    inet_pton(AF_INET, "127.0.0.1", &in.sin_addr);
    req.peer = (struct sockaddr *)&in;
    req.field = endless;
    req.arg = &most;
    seine_gate_check(g, &req, T0, &a);
    seine_gate_client(&a, client);
    CHECK_STR(client, "127.0.0.1");
    most = 63;
    seine_gate_check(g, &req, T0, &a);
    seine_gate_client(&a, client);
    CHECK_STR(client, "192.0.2.7");
    seine_gate_free(g);
}

TEST(gate_counts_by_a_header_or_else_by_the_address)
{
    seine_gate_policy p = SEINE_GATE_POLICY;
    seine_gate_opts o = plain();

    p.header = "X-Api-Key";
    p.rate.burst = 1;
    o.policies = &p;
    seine_gate *g = make(&o);
    asked with_a = {"192.0.2.1", NULL, NULL, {"x-api-key", "alpha"}};
    asked with_a_elsewhere = {"192.0.2.2", NULL, NULL, {"X-API-KEY", " alpha "}};
    asked with_b = {"192.0.2.1", NULL, NULL, {"X-Api-Key", "beta"}};
    asked empty = {"192.0.2.1", NULL, NULL, {"X-Api-Key", ""}};

    CHECK(ask(g, with_a, T0).allowed);
    CHECK(!ask(g, with_a_elsewhere, T0).allowed);
    CHECK(ask(g, with_b, T0).allowed);
    CHECK(ask(g, (asked){.peer = "192.0.2.1"}, T0).allowed);
    CHECK(!ask(g, (asked){.peer = "192.0.2.1"}, T0).allowed);
    CHECK(!ask(g, empty, T0).allowed); /* no key: the address */
    seine_gate_free(g);
}

TEST(gate_refuses_a_peer_without_an_address)
{
    struct sockaddr_un un = {.sun_family = AF_UNIX};
    seine_gate_request req = SEINE_GATE_REQUEST;
    seine_gate_opts o = plain();
    seine_gate *g = make(&o);
    seine_gate_answer a;

    req.peer = (struct sockaddr *)&un;
    seine_gate_check(g, &req, T0, &a);
    CHECK(!a.allowed && a.reason == SEINE_GATE_NO_CLIENT);
    seine_gate_check(NULL, &req, T0, &a);
    CHECK(a.allowed); /* switched off */
    seine_gate_free(g);
}

/* Seconds are rounded up: who comes a moment too early is refused again. */
TEST(gate_writes_the_fields_of_the_draft)
{
    static const struct {
        uint64_t count;
        seine_span per;
        uint32_t burst;
        unsigned takes;
        const char *policy, *limit, *retry;
    } rows[] = {
        {10, SEINE_SECS(1), 20, 1, "\"default\";q=20;w=2", "\"default\";r=19;t=1", ""},
        {10, SEINE_SECS(1), 20, 15, "\"default\";q=20;w=2", "\"default\";r=5;t=2", ""},
        {10, SEINE_SECS(1), 20, 20, "\"default\";q=20;w=2", "\"default\";r=0;t=1", ""},
        {10, SEINE_SECS(1), 20, 21, "\"default\";q=20;w=2", "\"default\";r=0;t=1", "1"},
        {5, SEINE_SECS(60), 5, 5, "\"default\";q=5;w=60", "\"default\";r=0;t=12", ""},
        {5, SEINE_SECS(60), 5, 6, "\"default\";q=5;w=60", "\"default\";r=0;t=12", "12"},
        {1000, SEINE_SECS(1), 10, 11, "\"default\";q=10;w=1", "\"default\";r=0;t=1", "1"},
        {3, SEINE_SECS(10), 1, 2, "\"default\";q=1;w=4", "\"default\";r=0;t=4", "4"},
    };

    EACH_ROW(i, rows) {
        seine_gate_policy p = SEINE_GATE_POLICY;
        seine_gate_opts o = plain();
        seine_gate_answer a = {0};
        seine_gate_fields f;

        p.rate = (seine_rate){rows[i].count, rows[i].per, rows[i].burst};
        o.policies = &p;
        seine_gate *g = make(&o);
        for (unsigned n = 0; n < rows[i].takes; n++)
            a = ask(g, (asked){.peer = "192.0.2.1"}, T0);
        seine_gate_write(&a, &f);
        CHECK_STR(f.policy, rows[i].policy);
        CHECK_STR(f.limit, rows[i].limit);
        CHECK_STR(f.retry_after, rows[i].retry);
        CHECK_STR(f.problem,
                  rows[i].retry[0]
                      ? "{\"type\":\"https://iana.org/assignments/"
                        "http-problem-types#quota-exceeded\",\"title\":\"Too Many "
                        "Requests\",\"status\":429,\"violated-policies\":[\"default\"]}"
                      : "");
        seine_gate_free(g);
    }
}

TEST(gate_says_which_option_is_wrong)
{
    static const char *const bad_nets[] = {"10.0.0.0/33", NULL};
    static const char *const bad_methods[] = {"GET", "a b", NULL};
    seine_gate_policy good = SEINE_GATE_POLICY, p;
    seine_gate_policy twins[] = {SEINE_GATE_POLICY, SEINE_GATE_POLICY};
    seine_diag d = SEINE_DIAG;
    seine_gate *g = NULL;
    seine_gate_opts o;

#define REFUSES(name, member_, change)                        \
    do {                                                      \
        o = plain();                                          \
        p = good;                                             \
        o.policies = &p;                                      \
        change;                                               \
        CHECK_EQ(seine_gate_new(&o, &g, &d), SEINE_E_CONFIG); \
        CHECK_STR(d.member, member_);                         \
        CHECK(!g);                                            \
    } while (0)
    REFUSES(prefix, "v4_prefix", o.v4_prefix = 33);
    REFUSES(prefix, "v4_prefix", o.v4_prefix = 0);
    REFUSES(prefix, "v6_prefix", o.v6_prefix = 129);
    REFUSES(keys, "max_keys", o.max_keys = 0);
    REFUSES(keys, "max_keys", o.max_keys = (1u << 26) + 1);
    REFUSES(overflow, "overflow", o.overflow = (seine_overflow)7);
    REFUSES(nets, "trust", o.trust = bad_nets);
    REFUSES(nets, "allow", o.allow = bad_nets);
    REFUSES(nets, "deny", o.deny = bad_nets);
    REFUSES(name, "name", p.name = "");
    REFUSES(name, "name", p.name = NULL);
    REFUSES(name, "name", p.name = "a\"b");
    REFUSES(name, "name", p.name = "a\r\nX: y");
    REFUSES(name, "name",
            p.name = "0123456789012345678901234567890123456789012345678901234567890123");
    REFUSES(name, "name", (o.policies = twins, o.n_policies = 2));
    REFUSES(path, "path", p.path = "login");
    REFUSES(path, "path", p.path = "/login?x=1");
    REFUSES(methods, "methods", p.methods = bad_methods);
    REFUSES(header, "header", p.header = "X Api Key");
    REFUSES(rate, "rate", p.rate.count = 0);
    REFUSES(rate, "rate", p.rate.burst = 0);
    o = plain();
    o.size = 8;
    CHECK_EQ(seine_gate_new(&o, &g, &d), SEINE_E_INVAL);
}

TEST(gate_keeps_tokens_when_policies_change)
{
    seine_gate_policy p[] = {SEINE_GATE_POLICY, SEINE_GATE_POLICY};
    seine_gate_opts o = plain();
    seine_diag d;
    seine_gate_stats t;

    o.policies = p;
    p[1].name = "second";
    seine_gate *g = make(&o);
    for (int i = 0; i < 20; i++)
        CHECK(ask(g, (asked){.peer = "192.0.2.1"}, T0).allowed);

    /* The same rate: the same buckets. */
    o.n_policies = 2;
    CHECK_EQ(seine_gate_set(g, &o, T0, &d), SEINE_OK);
    CHECK(!ask(g, (asked){.peer = "192.0.2.1"}, T0).allowed);

    /* Another rate and burst: the tokens stay, none; the next comes at the new rate. */
    p[0].rate = (seine_rate){1, SEINE_SECS(1), 40};
    CHECK_EQ(seine_gate_set(g, &o, T0, &d), SEINE_OK);
    CHECK(!ask(g, (asked){.peer = "192.0.2.1"}, T0 + SEINE_SECS(1) - 1).allowed);
    CHECK(ask(g, (asked){.peer = "192.0.2.1"}, T0 + SEINE_SECS(1)).allowed);
    CHECK_EQ(ask(g, (asked){.peer = "192.0.2.2"}, T0).left,
             39); /* who owes nothing is full */
    CHECK_EQ(seine_gate_policy_stats(g, 0, (char[SEINE_GATE_NAME]){0}, &t), true);
    CHECK_EQ(t.limited, 2); /* counts go on as well */

    /* Bad ones change nothing. */
    p[0].rate.count = 0;
    CHECK_EQ(seine_gate_set(g, &o, T0, &d), SEINE_E_CONFIG);
    CHECK(!ask(g, (asked){.peer = "192.0.2.1"}, T0 + SEINE_SECS(1)).allowed);

    /* Another key is another kind of client: everybody starts anew. */
    p[0].rate.count = 1;
    p[0].header = "X-Api-Key";
    CHECK_EQ(seine_gate_set(g, &o, T0 + SEINE_SECS(1), &d), SEINE_OK);
    CHECK(ask(g, (asked){.peer = "192.0.2.1"}, T0 + SEINE_SECS(1)).allowed);
    seine_gate_free(g);
}

/* A case that waits for a remote answer outlives the rules that it was sorted by. */
TEST(gate_settles_a_case_after_a_reload)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    seine_gate_request req = SEINE_GATE_REQUEST;
    seine_gate_opts o = plain();
    seine_gate *g = make(&o);
    seine_grant grant = {20, 7, 0, SEINE_SECS(1), 0};
    seine_gate_answer a;
    sn_gate_case c;

    req.peer = (struct sockaddr *)&in;
    CHECK(sn_gate_sort(g, &req, &c));
    o.n_policies = 0;
    CHECK_EQ(seine_gate_set(g, &o, T0, NULL), SEINE_OK);
    sn_gate_settle(&c, SEINE_OK, &grant, &a);
    sn_gate_case_end(&c);
    CHECK(a.allowed);
    CHECK_EQ(a.left, 7);
    CHECK_STR(a.policy, "default");
    seine_gate_free(g);
}

/* The table is full of clients that owe; a flood of new ones changes no debt. */
TEST(gate_forgets_no_debt_in_a_flood_of_new_clients)
{
    static const struct {
        seine_overflow overflow;
        bool first, second; /* of the flood's answers, when the table is full */
    } rows[] = {
        {SEINE_OVERFLOW_SHARED, true, false},
        {SEINE_OVERFLOW_DENY, false, false},
        {SEINE_OVERFLOW_ALLOW, true, true},
    };

    EACH_ROW(i, rows) {
        seine_gate_policy p = SEINE_GATE_POLICY;
        seine_gate_opts o = plain();
        seine_gate_stats t;
        char peer[32];

        p.rate = (seine_rate){1, SEINE_SECS(60), 1};
        o.policies = &p;
        o.max_keys = 16;
        o.overflow = rows[i].overflow;
        seine_gate *g = make(&o);
        for (int n = 0; n < 16; n++) {
            snprintf(peer, sizeof peer, "192.0.2.%d", n);
            CHECK(ask(g, (asked){.peer = peer}, T0).allowed);
        }
        CHECK_EQ(ask(g, (asked){.peer = "198.51.100.1"}, T0).allowed, rows[i].first);
        CHECK_EQ(ask(g, (asked){.peer = "198.51.100.2"}, T0).allowed, rows[i].second);
        for (int n = 0; n < 5000; n++) {
            snprintf(peer, sizeof peer, "10.0.%d.%d", n >> 8, n & 255);
            ask(g, (asked){.peer = peer}, T0 + SEINE_SECS(1));
        }
        for (int n = 0; n < 16; n++) {
            snprintf(peer, sizeof peer, "192.0.2.%d", n);
            CHECK(!ask(g, (asked){.peer = peer}, T0 + SEINE_SECS(60) - 1).allowed);
        }
        seine_gate_stats_get(g, &t);
        CHECK_EQ(t.keys, 16);
        CHECK_EQ(t.overflowed, 5002);
        seine_gate_free(g);
    }
}

/* So many clients ask once; how many got in. */
static uint32_t
flood(seine_gate *g, uint32_t first, uint32_t count, seine_time now)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    seine_gate_request req = SEINE_GATE_REQUEST;
    seine_gate_answer answer;
    uint32_t allowed = 0;

    req.peer = (struct sockaddr *)&in;
    req.method = seine_key_str("GET");
    req.target = seine_key_str("/");
    for (uint32_t n = 0; n < count; n++) {
        in.sin_addr.s_addr = htonl(first + n);
        seine_gate_check(g, &req, now, &answer);
        allowed += answer.allowed;
    }
    return allowed;
}

/* A thousand clients owe. A million others find no place, take no memory, and get in as
 * one client together; nobody of the thousand is forgiven. */
TEST(gate_keeps_debts_and_memory_in_a_flood_of_a_million_clients)
{
    enum { TEN = 10 << 24, OTHERS = 11 << 24 };
    seine_gate_policy p = SEINE_GATE_POLICY;
    seine_gate_opts o = plain();
    seine_gate_stats t;

    p.rate = (seine_rate){1, SEINE_SECS(3600), 1};
    o.policies = &p;
    o.max_keys = 1000;
    seine_gate *g = make(&o);
    CHECK_EQ(flood(g, TEN, 1000, T0), 1000);
    count_begin();
    CHECK_EQ(flood(g, OTHERS, 1000000, T0 + SEINE_SECS(1)), 1);
    CHECK(count_peak() <= 4096);
    count_end();
    CHECK_EQ(flood(g, TEN, 1000, T0 + SEINE_SECS(3600) - 1), 0);
    seine_gate_stats_get(g, &t);
    CHECK_EQ(t.keys, 1000);
    CHECK_EQ(t.overflowed, 1000000);
    CHECK(t.bytes <= 96 * 1000);
    CHECK_EQ(flood(g, TEN, 1000, T0 + SEINE_SECS(3600)), 1000);
    seine_gate_free(g);
}

/* Those who have no place owe as before when the rate or the room changes. */
TEST(gate_keeps_the_debts_of_clients_without_a_place_when_policies_change)
{
    enum { FIRST = 10 << 24 };
    seine_gate_policy p = SEINE_GATE_POLICY;
    seine_gate_opts o = plain();
    seine_diag d;

    p.rate = (seine_rate){1, SEINE_SECS(3600), 4};
    o.policies = &p;
    o.max_keys = 16;
    seine_gate *g = make(&o);
    CHECK_EQ(flood(g, FIRST, 16 + 9, T0), 16 + 4); /* the shared bucket is empty */

    p.rate.burst = 8;
    CHECK_EQ(seine_gate_set(g, &o, T0, &d), SEINE_OK);
    CHECK_EQ(flood(g, FIRST + 100, 9, T0), 0);
    CHECK_EQ(flood(g, FIRST, 16, T0), 16); /* they have three tokens, as before */

    /* Less room: who loses the place shares the bucket, which owes as much. */
    seine_gate_free(g);
    g = make(&o);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(flood(g, FIRST, 16, T0), 16);
    o.max_keys = 4;
    CHECK_EQ(seine_gate_set(g, &o, T0, &d), SEINE_OK);
    CHECK_EQ(flood(g, FIRST, 16, T0), 0);
    CHECK_EQ(flood(g, FIRST, 16, T0 + SEINE_SECS(3600)), 4 + 1);
    seine_gate_free(g);
}

TEST(gate_survives_every_failing_allocation)
{
    static const char *const nets[] = {"10.0.0.0/8", NULL}, *const get[] = {"GET", NULL};
    seine_gate_policy p[] = {SEINE_GATE_POLICY, SEINE_GATE_POLICY};
    seine_gate_opts o = plain();

    p[0].name = "api";
    p[0].path = "/api";
    p[0].methods = get;
    p[0].header = "X-Key";
    o.policies = p;
    o.n_policies = 2;
    o.trust = o.allow = o.deny = nets;
    FAIL_EACH(n)
    {
        seine_gate *g = NULL;
        seine_err e = seine_gate_new(&o, &g, NULL);

        if (e == SEINE_OK)
            e = seine_gate_set(g, &o, T0, NULL);
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        seine_gate_free(g);
    }
}
