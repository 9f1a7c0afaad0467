/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host_policy.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

typedef struct world {
    seine_fetch_opts run;
    sn_host_groups groups;
    sn_host_policies *table;
} world;

static seine_err
begin(world *w, const seine_host_opts *hosts, size_t n, const seine_group_opts *groups,
      size_t n_groups, seine_diag *diag)
{
    sn_host_list list = {hosts, n, groups, n_groups};

    w->run = SEINE_FETCH_OPTS;
    w->table = NULL;
    sn_host_groups_init(&w->groups);
    return sn_host_policies_new(&w->run, &list, &w->groups, &w->table, diag);
}

static void
end(world *w)
{
    sn_host_policies_free(w->table);
    sn_host_groups_fini(&w->groups);
}

static const sn_host_policy *
find(world *w, const char *host)
{
    const sn_host_policy *p = NULL;

    CHECK_EQ(sn_host_policies_find(w->table, sn_str_of(host), &p), SEINE_OK);
    return p;
}

static seine_host_opts
with_timeout(const char *match, int64_t secs)
{
    seine_host_opts o = SEINE_HOST_OPTS;

    o.match = match;
    o.set = SEINE_HOST_TIMEOUT;
    o.timeout = SEINE_SECS(secs);
    return o;
}

TEST(host_policy_takes_the_most_specific_entry_key_by_key)
{
    world w;
    seine_host_opts all[6] = {with_timeout("*", 1),
                              with_timeout("*.example", 2),
                              with_timeout("*.b.example", 3),
                              with_timeout("b.example", 4),
                              with_timeout("b.example:81", 5),
                              with_timeout("B.EXAMPLE", 9)};

    all[1].set |= SEINE_HOST_RETRIES; /* nobody more specific says it */
    all[1].retries = 7;
    all[5].is_weak = true; /* weaker than all, though it is exact */
    CHECK_EQ(begin(&w, all, 6, NULL, 0, NULL), SEINE_OK);
    const struct {
        const char *host;
        int64_t secs;
        uint32_t attempts;
    } rows[] = {
        {"http://other:80", 1, 6},       {"https://a.example:443", 2, 8},
        {"http://x.b.example:80", 3, 8}, {"http://b.example:80", 4, 8},
        {"http://b.example:81", 5, 8},
    };
    EACH_ROW(i, rows) {
        const sn_host_policy *p = find(&w, rows[i].host);

        CHECK_EQ(p->limits.time.attempt, SEINE_SECS(rows[i].secs));
        CHECK_EQ(p->retry.max_attempts, rows[i].attempts);
        CHECK_EQ(p->per_host, w.run.per_host); /* as for all */
    }
    end(&w);
}

/* An entry in which each key differs from what the run says. */
static seine_host_opts
with_all(void)
{
    static const seine_field key = {{"X", 1}, {"y", 1}};
    static const seine_breaker_opts breaker = SEINE_BREAKER_OPTS;
    const seine_fetch_opts run = SEINE_FETCH_OPTS;
    seine_host_opts o = SEINE_HOST_OPTS;

    o.match = "e.example";
    o.rate = (seine_rate){7, SEINE_SECS(3), 5};
    o.per_host = 9;
    o.adaptive = !run.adaptive;
    o.timeout = SEINE_MS(4321);
    o.connect_timeout = SEINE_MS(1234);
    o.speed_bytes = 77;
    o.speed_span = SEINE_MS(777);
    o.retries = 11;
    o.retry_status = (seine_status_set){{1 << 10}};
    o.retry_not_net = o.retry_not_timeout = true;
    o.backoff_first = SEINE_MS(3);
    o.backoff_last = SEINE_MS(33);
    o.max_retry_after = SEINE_MS(55);
    o.breaker = breaker;
    o.breaker.open_for = SEINE_MS(66);
    o.park = 13;
    o.max_crawl_delay = SEINE_MS(88);
    o.robots = run.robots == SEINE_OBEY_ON ? SEINE_OBEY_OFF : SEINE_OBEY_ON;
    o.fields = &key;
    o.n_fields = 1;
    o.user_agent = "another";
    o.cookies = false;
    o.proxy = "http://p.example:3128";
    o.insecure = true;
    o.max_body = 999;
    o.accept = (seine_status_set){{1 << 11}};
    return o;
}

/* The bits of `set` whose keys are those of the entry, and not those of the run. */
static uint32_t
keys_of(const sn_host_policy *p, const seine_host_opts *o)
{
    const sn_timeouts *t = &p->limits.time;
    const struct {
        uint32_t bit;
        bool is_there;
    } rows[] = {
        {SEINE_HOST_RATE, p->rate.count == 7 && p->rate.per == SEINE_SECS(3)},
        {SEINE_HOST_BURST, p->rate.burst == 5},
        {SEINE_HOST_PER_HOST, p->per_host == 9},
        {SEINE_HOST_ADAPTIVE, p->adaptive == o->adaptive},
        {SEINE_HOST_TIMEOUT, t->attempt == o->timeout},
        {SEINE_HOST_CONNECT_TIMEOUT, t->connect == o->connect_timeout},
        {SEINE_HOST_SPEED, t->speed_bytes == 77 && t->speed_span == SEINE_MS(777)},
        {SEINE_HOST_RETRIES, p->retry.max_attempts == 12},
        {SEINE_HOST_RETRY_ON,
         memcmp(&p->retry.status, &o->retry_status, sizeof o->retry_status) == 0 &&
             p->retry.not_net && p->retry.not_timeout},
        {SEINE_HOST_BACKOFF,
         p->retry.base == SEINE_MS(3) && p->retry.max == SEINE_MS(33)},
        {SEINE_HOST_MAX_RETRY_AFTER, p->max_retry_after == SEINE_MS(55)},
        {SEINE_HOST_BREAKER, p->breaker.open_for == SEINE_MS(66) && p->park == 13},
        {SEINE_HOST_MAX_CRAWL_DELAY, p->max_crawl_delay == SEINE_MS(88)},
        {SEINE_HOST_ROBOTS, p->robots == o->robots},
        {SEINE_HOST_FIELDS, p->n_fields == 1 && p->fields[0].value.len == 1},
        {SEINE_HOST_USER_AGENT, p->user_agent && strcmp(p->user_agent, "another") == 0},
        {SEINE_HOST_COOKIES, !p->cookies},
        {SEINE_HOST_PROXY, p->proxy != NULL},
        {SEINE_HOST_INSECURE, p->insecure},
        {SEINE_HOST_MAX_BODY, p->limits.max_body == 999},
        {SEINE_HOST_ACCEPT, memcmp(&p->accept, &o->accept, sizeof o->accept) == 0},
    };
    uint32_t keys = 0;

    EACH_ROW(i, rows)
        keys |= rows[i].is_there ? rows[i].bit : 0;
    return keys;
}

TEST(host_policy_has_those_keys_of_an_entry_that_are_set)
{
    for (uint32_t bit = SEINE_HOST_RATE; bit <= SEINE_HOST_ACCEPT; bit <<= 1) {
        seine_host_opts o = with_all();
        char agent[] = "another";
        world w;

        o.set = bit;
        o.user_agent = agent;
        CHECK_EQ(begin(&w, &o, 1, NULL, 0, NULL), SEINE_OK);
        agent[0] = 'x'; /* the table has texts of its own */
        const sn_host_policy *p = find(&w, "http://e.example:80");
        CHECK_EQ(keys_of(p, &o), bit);
        CHECK_EQ(p->set, bit);
        end(&w);
    }
}

TEST(host_policy_is_none_for_a_host_that_nobody_names)
{
    world w;
    seine_host_opts one = with_timeout("e.example", 1);

    CHECK_EQ(begin(&w, &one, 1, NULL, 0, NULL), SEINE_OK);
    CHECK(find(&w, "http://other.example:80") == NULL);
    CHECK(find(&w, "http://e.example:80") == find(&w, "https://e.example:443"));
    end(&w);
}

TEST(host_policy_finds_each_of_many_exact_names)
{
    enum { N = 300 };
    static char names[N][16];
    static seine_host_opts all[N];
    world w;

    for (int i = 0; i < N; i++) {
        snprintf(names[i], sizeof names[i], "h%d.example", (i * 7919) % N);
        all[i] = with_timeout(names[i], 1 + i);
    }
    CHECK_EQ(begin(&w, all, N, NULL, 0, NULL), SEINE_OK);
    for (int i = 0; i < N; i++) {
        char host[40];

        snprintf(host, sizeof host, "http://%.15s:80", names[i]);
        CHECK_EQ(find(&w, host)->limits.time.attempt, SEINE_SECS(1 + i));
    }
    end(&w);
}

TEST(host_policy_has_the_groups_of_names_and_knows_those_of_networks)
{
    world w;
    const char *const names[] = {"*.shop.example", NULL};
    const char *const nets[] = {"10.0.0.0/8", "2001:db8::/32", NULL};
    seine_group_opts g[2] = {SEINE_GROUP_OPTS, SEINE_GROUP_OPTS};
    sn_ip ip;

    g[0].name = "shop";
    g[0].match = names;
    g[0].per_host = 2;
    g[1].name = "net";
    g[1].match = nets;
    g[1].rate = (seine_rate){1, SEINE_SECS(1), 1};
    CHECK_EQ(begin(&w, NULL, 0, g, 2, NULL), SEINE_OK);
    const sn_host_policy *p = find(&w, "http://a.shop.example:80");
    CHECK_EQ(p->n_groups, 1);
    CHECK_EQ(p->groups[0]->most, 2);
    CHECK(find(&w, "http://shop.example:80") == NULL);
    CHECK_EQ(sn_ip_parse(SN_STR("10.1.2.3"), &ip), SEINE_OK);
    CHECK_STR(sn_host_policies_net(w.table, &ip)->group->name, "net");
    CHECK_EQ(sn_ip_parse(SN_STR("192.0.2.1"), &ip), SEINE_OK);
    CHECK(sn_host_policies_net(w.table, &ip) == NULL);
    end(&w);
}

TEST(host_policy_of_a_faster_host_is_not_held_by_its_address)
{
    world w;
    seine_host_opts o[2] = {SEINE_HOST_OPTS, SEINE_HOST_OPTS};

    o[0].match = "fast";
    o[0].set = SEINE_HOST_RATE; /* off */
    o[1].match = "slow";
    o[1].set = SEINE_HOST_RATE;
    o[1].rate = (seine_rate){1, SEINE_SECS(1), 0};
    CHECK_EQ(begin(&w, o, 2, NULL, 0, NULL), SEINE_OK);
    CHECK_EQ(find(&w, "http://fast:80")->is_free, true);
    CHECK_EQ(find(&w, "http://slow:80")->is_free, false);
    end(&w);
}

TEST(host_policy_refuses_what_cannot_be)
{
    seine_field bad = {SN_STR("X"), SN_STR("a\nb")};
    seine_host_opts o[5] = {SEINE_HOST_OPTS, SEINE_HOST_OPTS, SEINE_HOST_OPTS,
                            SEINE_HOST_OPTS, SEINE_HOST_OPTS};
    seine_group_opts g = SEINE_GROUP_OPTS;
    seine_diag diag;
    world w;

    o[1].match = o[2].match = o[3].match = o[4].match = "e.example";
    o[1].set = SEINE_HOST_PER_HOST;
    o[2].set = SEINE_HOST_TIMEOUT;
    o[3].set = SEINE_HOST_FIELDS;
    o[3].fields = &bad;
    o[3].n_fields = 1;
    o[4].set = SEINE_HOST_PROXY;
    o[4].proxy = "ftp://e.example";
    for (size_t i = 0; i < 5; i++) {
        CHECK_EQ(begin(&w, &o[i], 1, NULL, 0, &diag), SEINE_E_CONFIG);
        CHECK_STR(diag.member, "hosts");
        end(&w);
    }
    CHECK_EQ(begin(&w, NULL, 0, &g, 1, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "groups");
    end(&w);
    g.name = "g";
    g.match = (const char *const[]){"10.1.2.3/8", NULL};
    CHECK_EQ(begin(&w, NULL, 0, &g, 1, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.text, "'10.1.2.3/8': not a network, or host bits are set");
    end(&w);
}

/* Each entry is right but for one value, and right again one step further. */
TEST(host_policy_refuses_each_value_that_is_out_of_range)
{
    static const struct {
        seine_host_opts o;
        const char *why; /* NULL: it is taken */
    } rows[] = {
#define ENTRY(...) \
    .o = {.size = sizeof(seine_host_opts), .match = "e.example", __VA_ARGS__}
        {ENTRY(.set = SEINE_HOST_RATE, .rate = {5, SEINE_SECS(1), 1}), NULL},
        {ENTRY(.set = SEINE_HOST_RATE, .rate = {5, 0, 1}), "contradicts itself"},
        {ENTRY(.set = SEINE_HOST_RATE, .rate = {0, 0, 0}), NULL}, /* off */
        {ENTRY(.rate = {5, 0, 1}), NULL},                         /* it does not count */
        {ENTRY(.set = SEINE_HOST_PER_HOST, .per_host = UINT16_MAX + 1), NULL},
        {ENTRY(.set = SEINE_HOST_PER_HOST, .per_host = UINT16_MAX + 2), "per_host"},
        {ENTRY(.set = SEINE_HOST_TIMEOUT, .timeout = 1), NULL},
        {ENTRY(.set = SEINE_HOST_TIMEOUT, .timeout = 0), "duration"},
        {ENTRY(.set = SEINE_HOST_TIMEOUT, .timeout = SEINE_NEVER), "duration"},
        {ENTRY(.set = SEINE_HOST_CONNECT_TIMEOUT, .connect_timeout = 1), NULL},
        {ENTRY(.set = SEINE_HOST_CONNECT_TIMEOUT, .connect_timeout = 0), "duration"},
        {ENTRY(.set = SEINE_HOST_MAX_RETRY_AFTER, .max_retry_after = 0), NULL},
        {ENTRY(.set = SEINE_HOST_MAX_RETRY_AFTER, .max_retry_after = -1), "duration"},
        {ENTRY(.set = SEINE_HOST_MAX_CRAWL_DELAY, .max_crawl_delay = 0), NULL},
        {ENTRY(.set = SEINE_HOST_MAX_CRAWL_DELAY, .max_crawl_delay = -1), "duration"},
        {ENTRY(.set = SEINE_HOST_SPEED, .speed_bytes = 1, .speed_span = 1), NULL},
        {ENTRY(.set = SEINE_HOST_SPEED, .speed_bytes = 1, .speed_span = 0), "duration"},
        {ENTRY(.set = SEINE_HOST_SPEED, .speed_bytes = 0, .speed_span = 0), NULL},
        {ENTRY(.set = SEINE_HOST_BACKOFF, .backoff_first = 2, .backoff_last = 2), NULL},
        {ENTRY(.set = SEINE_HOST_BACKOFF, .backoff_first = 2, .backoff_last = 1),
         "duration"},
        {ENTRY(.set = SEINE_HOST_BACKOFF, .backoff_first = -1, .backoff_last = 1),
         "duration"},
        {ENTRY(.set = SEINE_HOST_USER_AGENT, .user_agent = "mine/1.0"), NULL},
        {ENTRY(.set = SEINE_HOST_USER_AGENT, .user_agent = "a\nb"), "user_agent"},
        {ENTRY(.set = SEINE_HOST_USER_AGENT), "user_agent"},
        {ENTRY(.set = SEINE_HOST_BREAKER), NULL}, /* off */
        {ENTRY(.set = SEINE_HOST_BREAKER, .breaker = {.failure_threshold = 5}),
         "breaker"},
        {ENTRY(.set = SEINE_HOST_CACERT), "cacert"},
        {ENTRY(.set = SEINE_HOST_CACERT, .cacert = "/nowhere/at/all.pem"), "cacert"},
#undef ENTRY
    };

    EACH_ROW(i, rows) {
        seine_diag diag = SEINE_DIAG;
        world w;
        seine_err e = begin(&w, &rows[i].o, 1, NULL, 0, &diag);

        CHECK_EQ(e, rows[i].why ? SEINE_E_CONFIG : SEINE_OK);
        if (rows[i].why)
            CHECK_STR(diag.member, "hosts");
        if (rows[i].why && !strstr(diag.text, rows[i].why))
            CHECK_STR(diag.text, rows[i].why);
        end(&w);
    }
}

TEST(host_policy_has_so_many_entries_and_groups_at_most)
{
    static seine_host_opts hosts[SN_HOST_ENTRIES + 1];
    static const char *const match[] = {"e.example", NULL};
    seine_group_opts groups[SN_GROUPS_MOST + 1], fresh = SEINE_GROUP_OPTS;
    char names[SN_GROUPS_MOST + 1][8];
    seine_diag diag = SEINE_DIAG;
    world w;

    for (size_t i = 0; i <= SN_HOST_ENTRIES; i++) {
        hosts[i] = seine_host_defaults();
        hosts[i].match = "e.example";
    }
    for (size_t i = 0; i <= SN_GROUPS_MOST; i++) {
        snprintf(names[i], sizeof names[i], "g%zu", i);
        groups[i] = fresh;
        groups[i].name = names[i];
        groups[i].match = match;
        groups[i].per_host = 1;
    }
    CHECK_EQ(begin(&w, hosts, SN_HOST_ENTRIES, groups, SN_GROUPS_MOST, &diag), SEINE_OK);
    end(&w);
    CHECK_EQ(begin(&w, hosts, SN_HOST_ENTRIES + 1, NULL, 0, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "hosts");
    end(&w);
    CHECK_EQ(begin(&w, NULL, 0, groups, SN_GROUPS_MOST + 1, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "groups");
    end(&w);
    hosts[0].size = 1; /* not set at all */
    CHECK_EQ(begin(&w, hosts, 1, NULL, 0, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "hosts");
    end(&w);
    groups[0].size = 1;
    CHECK_EQ(begin(&w, NULL, 0, groups, 1, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "groups");
    end(&w);
}

TEST(host_policy_survives_every_failing_allocation)
{
    seine_field key = {SN_STR("X"), SN_STR("y")};
    const char *const names[] = {"e.example", NULL};

    FAIL_EACH(n)
    {
        seine_host_opts o = with_timeout("*.example", 1);
        seine_group_opts g = SEINE_GROUP_OPTS;
        const sn_host_policy *p = NULL;
        world w;

        o.set |= SEINE_HOST_FIELDS | SEINE_HOST_PROXY;
        o.fields = &key;
        o.n_fields = 1;
        o.proxy = "http://p.example:3128";
        g.name = "g";
        g.match = names;
        seine_err e = begin(&w, &o, 1, &g, 1, NULL);
        if (e == SEINE_OK)
            e = sn_host_policies_find(w.table, SN_STR("http://e.example:80"), &p);
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        end(&w);
    }
}
