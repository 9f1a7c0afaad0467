/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/shared_state.h"

#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing.h"
#include "net/tls.h"
#include "shard.h"

static void
open_state(sn_shared_state *c, const seine_fetch_opts *o)
{
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(sn_shared_state_init(c, o, &diag), SEINE_OK);
    CHECK_STR(diag.text, "");
}

/* No text and no list of the caller is used after the state is made. */
TEST(no_pointer_of_the_caller_stays_in_the_options)
{
    static const size_t texts[] = {
        offsetof(seine_fetch_opts, method),       offsetof(seine_fetch_opts, user_agent),
        offsetof(seine_fetch_opts, from),         offsetof(seine_fetch_opts, dns),
        offsetof(seine_fetch_opts, strip_params), offsetof(seine_fetch_opts, accept_type),
    };
    static const size_t lists[] = {
        offsetof(seine_fetch_opts, resolve),        offsetof(seine_fetch_opts, allow_net),
        offsetof(seine_fetch_opts, deny_net),       offsetof(seine_fetch_opts, zones),
        offsetof(seine_fetch_opts, insecure_hosts), offsetof(seine_fetch_opts, include),
        offsetof(seine_fetch_opts, exclude),
    };
    static const char *const none[] = {NULL};
    static const char *const values[] = {"GET",          "seine/1 (x)", "a@e.example",
                                         "127.0.0.1:53", "utm_*",       "text/html"};
    seine_fetch_opts o = polite();
    sn_shared_state c;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        memcpy((char *)&o + texts[i], &values[i], sizeof values[i]);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        memcpy((char *)&o + lists[i], &(const char *const *){none}, sizeof(void *));
    open_state(&c, &o);
    EACH_ROW(i, texts) {
        const char *copy;

        memcpy(&copy, (const char *)&c.opts + texts[i], sizeof copy);
        CHECK(copy != values[i]);
        CHECK_STR(copy, values[i]);
    }
    EACH_ROW(i, lists) {
        const char *const *copy;

        memcpy(&copy, (const char *)&c.opts + lists[i], sizeof copy);
        CHECK(copy != none);
    }
    sn_shared_state_fini(&c);
}

/* The caller may forget what was given. */
TEST(options_are_copied_with_all_their_texts)
{
    char method[] = "GET", agent[] = "seine/1 (x)", net[] = "10.0.0.0/8", value[] = "v";
    char domain[] = "e.example", body[] = "body";
    const char *nets[] = {net, NULL}, *domains[] = {domain, NULL};
    seine_field field = {{"X-Key", 5}, {value, 1}};
    seine_crawl_opts crawl = SEINE_CRAWL_OPTS;
    seine_fetch_opts o = polite();
    sn_shared_state c;

    crawl.domains = domains;
    o.crawl = &crawl;
    o.method = method;
    o.user_agent = agent;
    o.allow_net = nets;
    o.fields = &field;
    o.n_fields = 1;
    o.body = (seine_view){body, 4};
    open_state(&c, &o);
    memset(method, 'x', 3);
    memset(agent, 'x', 5);
    net[0] = value[0] = domain[0] = body[0] = 'x';
    nets[0] = domains[0] = NULL;
    field.name.ptr = "Y";
    crawl.depth = 77;
    CHECK_STR(c.opts.method, "GET");
    CHECK_STR(c.opts.user_agent, "seine/1 (x)");
    CHECK_STR(c.opts.allow_net[0], "10.0.0.0/8");
    CHECK(!c.opts.allow_net[1]);
    CHECK_STR(c.opts.crawl->domains[0], "e.example");
    CHECK(c.opts.crawl->depth != 77);
    CHECK(sn_str_eq(c.opts.fields[0].name, SN_STR("X-Key")));
    CHECK(sn_str_eq(c.opts.fields[0].value, SN_STR("v")));
    CHECK(sn_str_eq(c.opts.body, SN_STR("body")));
    CHECK_STR(c.agent, "seine"); /* to robots.txt */
    sn_shared_state_fini(&c);
}

TEST(options_without_sense_are_named)
{
    static const struct {
        size_t at, size;
        int64_t value;
        const char *member;
    } rows[] = {
#define ROW(m, v) {offsetof(seine_fetch_opts, m), sizeof((seine_fetch_opts){0}.m), v, #m}
        ROW(concurrency, 0),      ROW(per_host, 0),
        ROW(threads, 257),        ROW(per_ip, 65536),
        ROW(max_redirects, 1001), ROW(method, 0),
        ROW(user_agent, 0),       ROW(timeout, 0),
        ROW(timeout, INT64_MAX), /* a request ends */
        ROW(connect_timeout, 0),  ROW(dns_timeout, 0),
        ROW(tcp_timeout, -1),     ROW(tls_timeout, 0),
        ROW(head_timeout, 0),     ROW(grace, -1),
        ROW(max_retry_after, -1), ROW(size, 0),
        ROW(speed_span, 0),
#undef ROW
    };

    EACH_ROW(i, rows) {
        seine_fetch_opts o = polite();
        seine_diag diag = SEINE_DIAG;
        sn_shared_state c;

        o.speed_bytes = 100;
        o.speed_span = SEINE_SECS(20);
        memcpy((char *)&o + rows[i].at, &rows[i].value, rows[i].size);
        CHECK_EQ(sn_shared_state_init(&c, &o, &diag), SEINE_E_CONFIG);
        CHECK_STR(diag.member, rows[i].member);
        CHECK(diag.text[0]);
    }
}

TEST(options_at_the_edge_of_sense_are_taken)
{
    seine_fetch_opts o = polite();
    sn_shared_state c;

    o.concurrency = o.per_host = 1;
    o.threads = 256;
    o.per_ip = 65535;
    o.max_redirects = 1000;
    o.timeout = o.connect_timeout = o.dns_timeout = o.tcp_timeout = o.tls_timeout = 1;
    o.head_timeout = 1;
    o.grace = o.max_retry_after = 0;
    o.speed_bytes = 0;
    o.speed_span = 0;
    CHECK_EQ(sn_shared_state_init(&c, &o, NULL), SEINE_OK);
    sn_shared_state_fini(&c);
    o.speed_bytes = 1;
    o.speed_span = 1;
    CHECK_EQ(sn_shared_state_init(&c, &o, NULL), SEINE_OK);
    sn_shared_state_fini(&c);
}

TEST(whom_robots_txt_is_read_for_is_a_product_token)
{
    static const struct {
        const char *agent;
        bool is_fine;
    } rows[] = {{NULL, true},       {"seine", true}, {"a", true},
                {"My-Bot_2", true}, {"", false},     {"*", false},
                {"a b", false},     {"a/1", false},  {"bot*", false}};

    EACH_ROW(i, rows) {
        seine_fetch_opts o = polite();
        seine_diag diag = SEINE_DIAG;
        sn_shared_state c;

        o.robots_agent = rows[i].agent;
        seine_err e = sn_shared_state_init(&c, &o, &diag);
        CHECK_EQ(e, rows[i].is_fine ? SEINE_OK : SEINE_E_CONFIG);
        if (e == SEINE_OK)
            sn_shared_state_fini(&c);
        else
            CHECK_STR(diag.member, "robots_agent");
    }
}

TEST(guards_that_contradict_themselves_are_named)
{
    seine_fetch_opts o = polite();
    seine_diag diag = SEINE_DIAG;
    sn_shared_state c;

    o.retry.max_attempts = 0;
    CHECK_EQ(sn_shared_state_init(&c, &o, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "retry");
    o = polite();
    o.host_rate.per = 0;
    CHECK_EQ(sn_shared_state_init(&c, &o, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "host_rate");
    o = polite();
    o.rate = (seine_rate){1, 0, 1};
    CHECK_EQ(sn_shared_state_init(&c, &o, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "rate");
    o = polite();
    o.breaker.failure_pct = 101;
    CHECK_EQ(sn_shared_state_init(&c, &o, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "breaker");
    o = polite();
    o.speed_bytes = 1;
    CHECK_EQ(sn_shared_state_init(&c, &o, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "speed_span");
}

/* An eighth more than are in flight, so that a few are ready when others end. */
TEST(there_are_more_visits_than_requests_in_flight)
{
    seine_fetch_opts o = polite();
    sn_shared_state c;
    sn_visit *all[74];
    seine_err e;

    o.concurrency = 64;
    o.queue = 1;
    open_state(&c, &o);
    for (int i = 0; i < 74; i++)
        all[i] = sn_visits_take(c.visits, &e);
    CHECK(all[72] && !all[73]);
    CHECK_EQ(e, SEINE_E_FULL);
    for (int i = 0; i < 74; i++)
        if (all[i])
            sn_visits_give(c.visits, all[i]);
    sn_shared_state_fini(&c);
}

TEST(a_shard_that_wakes_late_may_catch_up_for_a_millisecond)
{
    static const struct {
        seine_rate rate;
        uint32_t burst;
    } rows[] = {
        {{5, SEINE_SECS(1), 1}, 1},           /* slower than one in a millisecond */
        {{1000, SEINE_SECS(1), 1}, 2},        /* one more */
        {{10000, SEINE_SECS(1), 7}, 17},      /* ten more */
        {{1, 1, UINT32_MAX - 5}, UINT32_MAX}, /* no more than there are */
    };

    EACH_ROW(i, rows) {
        seine_rate r = sn_shared_state_rate(rows[i].rate);
        CHECK_EQ(r.burst, rows[i].burst);
        CHECK_EQ(r.count, rows[i].rate.count);
        CHECK_EQ(r.per, rows[i].rate.per);
    }
}

TEST(a_crawl_is_quiet_stuck_or_done_by_what_is_left)
{
    static const struct {
        bool closed;
        uint32_t adding, work, stuck, late;
        bool is_closed, is_quiet, is_stuck, is_done;
    } rows[] = {
        {false, 0, 0, 0, 0, false, false, false, false},
        {true, 1, 0, 0, 0, false, false, false, false}, /* a call still adds */
        {true, 0, 2, 1, 0, true, false, false, false},
        {true, 0, 2, 2, 0, true, false, true, false}, /* only those that wait in vain */
        {false, 0, 2, 2, 0, false, false, false, false},
        {true, 0, 0, 0, 1, true, true, false, false}, /* something is told at the end */
        {true, 0, 0, 0, 0, true, true, false, true},
    };

    EACH_ROW(i, rows) {
        sn_shared_state c = {0};

        c.closed = rows[i].closed;
        c.adding = rows[i].adding;
        c.late = rows[i].late;
        sn_shared_state_add_work(&c, rows[i].work + 3);
        sn_shared_state_add_stuck(&c, rows[i].stuck + 2);
        sn_shared_state_end_work(&c, 3);
        sn_shared_state_end_stuck(&c, 2);
        sn_load load = sn_shared_state_load(&c);
        CHECK_EQ(load.work, rows[i].work);
        CHECK_EQ(load.stuck, rows[i].stuck);
        CHECK_EQ(sn_shared_state_is_closed(&c), rows[i].is_closed);
        CHECK_EQ(sn_shared_state_is_quiet(&c), rows[i].is_quiet);
        CHECK_EQ(sn_shared_state_is_stuck(&c), rows[i].is_stuck);
        CHECK_EQ(sn_shared_state_is_done(&c), rows[i].is_done);
    }
}

TEST(no_more_than_max_pages_are_admitted)
{
    sn_shared_state c = {0};

    for (int i = 0; i < 5; i++)
        CHECK(sn_shared_state_admit(&c)); /* 0: no limit */
    c.admitted = 0;
    c.opts.max_pages = 3;
    for (int i = 0; i < 3; i++)
        CHECK(sn_shared_state_admit(&c));
    CHECK(!sn_shared_state_admit(&c));
    CHECK_EQ(c.admitted, 3); /* a refused one is not counted */
    c.admitted = 2;          /* one of them was refused by its type, … */
    c.unwanted = 1;
    CHECK(!sn_shared_state_admit(&c)); /* … and was asked for all the same */
}

static uint32_t
shard_of(const sn_shared_state *c, const char *text, uint32_t n)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&url, text, strlen(text), NULL), SEINE_OK);
    return sn_shared_state_shard(c, &url, n);
}

/* Among 64 shards two names that are split by the rule meet in few rounds of 40. */
TEST(a_host_belongs_to_one_shard_and_a_crawled_domain_too)
{
    seine_crawl_opts crawl = SEINE_CRAWL_OPTS;
    static const struct {
        const char *a, *b;
        bool fetch, crawl; /* always the same shard? */
    } rows[] = {
        {"http://a.example.com/", "https://a.example.com:81/x", true, true},
        {"http://a.example.com/", "http://b.example.com/", false, true},
        {"http://a.co.uk/", "http://b.co.uk/", false, false}, /* a public suffix */
        {"http://10.0.0.1/", "http://11.0.0.1/", false, false},
    };

    for (int crawls = 0; crawls < 2; crawls++) {
        seine_fetch_opts o = polite();
        sn_shared_state c;

        o.crawl = crawls ? &crawl : NULL;
        open_state(&c, &o);
        CHECK_EQ(shard_of(&c, rows[0].a, 1), 0);
        EACH_ROW(i, rows) {
            int same = 0;
            for (uint64_t k = 0; k < 40; k++) {
                c.secret[0] = k;
                CHECK(shard_of(&c, rows[i].a, 64) < 64);
                same += shard_of(&c, rows[i].a, 64) == shard_of(&c, rows[i].b, 64);
            }
            CHECK_EQ(same == 40, crawls ? rows[i].crawl : rows[i].fetch);
        }
        sn_shared_state_fini(&c);
    }
}

TEST(shared_state_has_only_what_the_options_ask_for)
{
    seine_fetch_opts o = polite();
    sn_shared_state c;

    open_state(&c, &o);
    CHECK(!c.seen && !c.rate && c.budget && !c.scope && !c.psl && !c.late_seen);
    CHECK(!c.has_address_limits);
    CHECK_EQ(c.narrowed, 100);
    sn_shared_state_fini(&c);
    seine_crawl_opts crawl = SEINE_CRAWL_OPTS;
    o.crawl = &crawl;
    o.rate = (seine_rate){100, SEINE_SECS(1), 1};
    o.max_memory = 0;
    o.per_ip = 8;
    open_state(&c, &o);
    CHECK(c.seen && c.rate && !c.budget && c.scope && c.psl && c.late_seen);
    CHECK(c.has_address_limits);
    sn_shared_state_fini(&c);
}

TEST(shared_state_without_memory_is_not_made)
{
    seine_crawl_opts crawl = SEINE_CRAWL_OPTS;
    static const char *const nets[] = {"10.0.0.0/8", NULL};
    static const seine_field field = {{"Referer", 7}, {"http://a.example/#x", 19}};
    seine_fetch_opts o = polite();

    o.crawl = &crawl;
    o.allow_net = nets;
    o.fields = &field;
    o.n_fields = 1;
    o.rate = (seine_rate){100, SEINE_SECS(1), 1};
    o.per_ip = 8;
    FAIL_EACH(n)
    {
        sn_shared_state c;
        seine_err e = sn_shared_state_init(&c, &o, NULL);

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        if (e == SEINE_OK)
            sn_shared_state_fini(&c);
    }
}

/* Each of them needs memory of its own, and may be the only one that gets none. */
TEST(large_options_without_memory_are_not_half_copied)
{
    enum { MANY = 50000 };
    static const char *list[MANY + 1];
    static seine_field fields[MANY];
    static char body[1 << 20];

    for (int i = 0; i < MANY; i++) {
        list[i] = "a.example";
        fields[i] = (seine_field){{"X", 1}, {NULL, 0}};
    }
    for (int which = 0; which < 3; which++) {
        seine_fetch_opts o = polite();

        if (which == 0)
            o.body = (seine_view){body, sizeof body};
        else if (which == 1)
            o.insecure_hosts = list;
        else
            o.fields = fields, o.n_fields = MANY;
        FAIL_EACH(n)
        {
            sn_shared_state c;
            seine_err e = sn_shared_state_init(&c, &o, NULL);

            CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
            if (e == SEINE_OK)
                sn_shared_state_fini(&c);
        }
    }
}

/* Options fill memory in steps; at some of them the copy of the crawl's needs more. */
TEST(options_of_a_crawl_without_memory_are_not_half_copied)
{
    seine_crawl_opts crawl = SEINE_CRAWL_OPTS;
    static char value[100];
    seine_field fields[40];
    seine_fetch_opts o = polite();

    memset(value, 'v', sizeof value);
    for (size_t i = 0; i < 40; i++)
        fields[i] = (seine_field){{"X", 1}, {value, sizeof value}};
    o.crawl = &crawl;
    o.fields = fields;
    for (o.n_fields = 20; o.n_fields < 40; o.n_fields++) {
        FAIL_EACH(n)
        {
            sn_shared_state c;
            seine_err e = sn_shared_state_init(&c, &o, NULL);

            CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
            CHECK(e != SEINE_OK || c.opts.crawl->domains == NULL);
            if (e == SEINE_OK)
                sn_shared_state_fini(&c);
        }
    }
}

/* Memory that is looked at when it is given back. */
typedef struct watched {
    const char *secret;
    unsigned found;
} watched;

static void *
get(size_t n, void *arg)
{
    (void)arg;
    return calloc(1, n);
}

static void *
resize(void *p, size_t n, void *arg)
{
    (void)arg;
    return realloc(p, n);
}

static void
put(void *p, void *arg)
{
    watched *w = arg;

    w->found += p && memmem(p, malloc_usable_size(p), w->secret, strlen(w->secret));
    free(p);
}

TEST(secrets_of_the_options_are_wiped_with_the_state)
{
    watched w = {.secret = "hush-hush"};
    seine_alloc table = {.get = get, .resize = resize, .put = put, .arg = &w};
    seine_field field = {{"X-Key", 5}, {w.secret, 9}};
    seine_fetch_opts o = polite();
    sn_shared_state c;

    o.fields = &field;
    o.n_fields = 1;
    o.body = (seine_view){w.secret, 9};
    CHECK_EQ(seine_set_alloc(&table), SEINE_OK);
    open_state(&c, &o);
    CHECK(sn_str_eq(c.opts.fields[0].value, SN_STR("hush-hush")));
    sn_shared_state_fini(&c);
    CHECK_EQ(seine_set_alloc(NULL), SEINE_OK);
    CHECK_EQ(w.found, 0);
}

/* What a connection says first. */
typedef struct hello {
    char bytes[4096];
    size_t n;
} hello;

static ssize_t
keep_bytes(void *self, const char *bytes, size_t n)
{
    hello *h = self;
    size_t more = n < sizeof h->bytes - h->n ? n : sizeof h->bytes - h->n;

    memcpy(h->bytes + h->n, bytes, more);
    h->n += more;
    return (ssize_t)n;
}

static ssize_t
receive_nothing(void *self, char *into, size_t room, bool *out_dry)
{
    (void)self, (void)into, (void)room;
    *out_dry = true;
    errno = EAGAIN;
    return -1;
}

/* The versions that a client supports are extension 43 of its hello (RFC 8446, 4.2.1). */
TEST(tls_begins_with_1_2_unless_the_options_say_otherwise)
{
    static const sn_tls_ends ends = {receive_nothing, keep_bytes};
    static const char both[] = {0, 43, 0, 5, 4, 3, 4, 3, 3},
                      last[] = {0, 43, 0, 3, 2, 3, 4};
    static const struct {
        uint8_t tls_min;
        bool has_1_2;
    } rows[] = {{0, true}, {12, true}, {13, false}};

    EACH_ROW(i, rows) {
        seine_fetch_opts o = polite();
        sn_shared_state c;
        hello h = {.n = 0};
        sn_tls *t;

        o.tls_min = rows[i].tls_min;
        open_state(&c, &o);
        CHECK_EQ(sn_tls_new(c.tls,
                            &(sn_tls_want){.host = SN_STR("a.example"),
                                           .port = 443,
                                           .ends = &ends,
                                           .self = &h},
                            &t),
                 SEINE_OK);
        CHECK_EQ(sn_tls_handshake(t), SN_TLS_WAIT);
        CHECK_EQ(memmem(h.bytes, h.n, both, sizeof both) != NULL, rows[i].has_1_2);
        CHECK_EQ(memmem(h.bytes, h.n, last, sizeof last) != NULL, !rows[i].has_1_2);
        sn_tls_free(t, false);
        sn_shared_state_fini(&c);
    }
}
