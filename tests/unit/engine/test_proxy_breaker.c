/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/proxy_breaker.h"

#include <stdlib.h>
#include <string.h>

#include "base/time.h"
#include "check.h"
#include "diag_line.h"
#include "failing.h"
#include "gather.h"
#include "script.h"

static const sn_proxy one = {.index = 0}, other = {.index = 1};
static const sn_end good = {.via = SN_PROXY_GOOD}, none = {.via = SN_PROXY_NONE},
                    bad = {.via = SN_PROXY_BAD, .fault = {.code = SEINE_E_PROXY_ERROR}};

static seine_fetch_opts
opts(void)
{
    seine_fetch_opts o = SEINE_FETCH_OPTS;

    o.breaker.failure_threshold = 3;
    o.breaker.open_for = SEINE_SECS(10);
    o.park = 2;
    return o;
}

/* One attempt that ends so at `now`; or why it may not be made. */
static seine_err
attempt(sn_proxy_breakers *v, const sn_proxy *p, const sn_end *end, seine_time now,
        seine_time *out_at)
{
    seine_permit permit;
    seine_err e = sn_proxy_breakers_begin(v, p, now, &permit, out_at);

    if (e == SEINE_OK)
        sn_proxy_breakers_end(v, p, &permit, end, now);
    return e;
}

TEST(proxy_a_proxy_that_keeps_failing_is_left_alone_and_no_other)
{
    seine_fetch_opts o = opts();
    seine_time at = 0;
    sn_proxy_breakers v;

    CHECK_EQ(sn_proxy_breakers_init(&v, &o), SEINE_OK);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(attempt(&v, &one, &bad, T0, &at), SEINE_OK);
    CHECK_EQ(attempt(&v, &one, &good, T0, &at), SEINE_E_BREAKER);
    CHECK_EQ(at, T0 + SEINE_SECS(10));
    CHECK_EQ(attempt(&v, &one, &good, T0 + SEINE_SECS(10) - 1, &at), SEINE_E_BREAKER);
    CHECK_EQ(attempt(&v, &other, &good, T0, &at), SEINE_OK);
    CHECK_EQ(attempt(&v, &one, &good, T0 + SEINE_SECS(10), &at), SEINE_OK); /* a probe */
    CHECK_EQ(attempt(&v, &one, &good, T0 + SEINE_SECS(10), &at), SEINE_OK);
    sn_proxy_breakers_fini(&v);
}

TEST(proxy_what_says_nothing_and_what_was_not_asked_counts_for_nothing)
{
    seine_fetch_opts o = opts();
    seine_time at = 0;
    sn_proxy_breakers v;

    CHECK_EQ(sn_proxy_breakers_init(&v, &o), SEINE_OK);
    for (int i = 0; i < 10; i++) {
        CHECK_EQ(attempt(&v, &one, &none, T0, &at), SEINE_OK);
        CHECK_EQ(attempt(&v, &one, NULL, T0, &at), SEINE_OK);
        CHECK_EQ(attempt(&v, &one, &bad, T0, &at), SEINE_OK);
        CHECK_EQ(attempt(&v, &one, &good, T0, &at), SEINE_OK); /* it said no, say */
    }
    sn_proxy_breakers_end(&v, NULL, &(seine_permit){0}, NULL, T0);
    sn_proxy_breakers_fini(&v);
}

TEST(proxy_while_a_probe_is_under_way_others_come_back_in_a_second)
{
    seine_fetch_opts o = opts();
    seine_time at = 0, later = T0 + SEINE_SECS(10);
    seine_permit probe;
    sn_proxy_breakers v;

    CHECK_EQ(sn_proxy_breakers_init(&v, &o), SEINE_OK);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(attempt(&v, &one, &bad, T0, &at), SEINE_OK);
    CHECK_EQ(sn_proxy_breakers_begin(&v, &one, later, &probe, &at), SEINE_OK);
    CHECK_EQ(attempt(&v, &one, &good, later, &at), SEINE_E_BREAKER);
    CHECK_EQ(at, later + SEINE_SECS(1));
    sn_proxy_breakers_end(&v, &one, &probe, &good, later);
    CHECK_EQ(attempt(&v, &one, &good, later, &at), SEINE_OK);
    sn_proxy_breakers_fini(&v);
}

TEST(proxy_after_park_failed_probes_a_proxy_is_given_up)
{
    seine_fetch_opts o = opts();
    seine_time at = 0, now = T0;
    sn_proxy_breakers v;

    CHECK_EQ(sn_proxy_breakers_init(&v, &o), SEINE_OK);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(attempt(&v, &one, &bad, now, &at), SEINE_OK);
    for (uint32_t i = 0; i < o.park; i++) {
        CHECK_EQ(attempt(&v, &one, &bad, now, &at), SEINE_E_BREAKER);
        now = at;
        CHECK_EQ(attempt(&v, &one, &bad, now, &at), SEINE_OK);
    }
    CHECK_EQ(attempt(&v, &one, &good, now + SEINE_SECS(1000), &at), SEINE_E_PROXY_ERROR);
    CHECK_EQ(attempt(&v, &other, &good, now, &at), SEINE_OK);
    sn_proxy_breakers_fini(&v);
}

TEST(proxy_without_breakers_everything_goes)
{
    seine_fetch_opts o = opts();
    seine_time at = 0;
    sn_proxy_breakers v;

    o.breaker.failure_threshold = 0;
    CHECK_EQ(sn_proxy_breakers_init(&v, &o), SEINE_OK);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(attempt(&v, &one, &bad, T0, &at), SEINE_OK);
    sn_proxy_breakers_fini(&v);
}

TEST(proxy_without_memory)
{
    FAIL_EACH(n)
    {
        seine_fetch_opts o = opts();
        sn_proxy_breakers v;

        o.breaker.half_open_max = 2; /* needs some */
        seine_err e = sn_proxy_breakers_init(&v, &o);
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        if (e == SEINE_OK)
            sn_proxy_breakers_fini(&v);
    }
}

/* In the engine. */

typedef struct fixture {
    script *s;
    seine_fetch_opts opts;
    seine_fetch *f;
    gather g;
} fixture;

static fixture *
set_up(void)
{
    fixture *t = calloc(1, sizeof *t);

    t->s = script_new(NULL);
    t->opts = script_opts(t->s);
    t->opts.on_record = gather_record;
    t->opts.arg = &t->g;
    t->opts.proxy = "http://joe:S3cret@p.test:8080";
    return t;
}

static void
run(fixture *t, const char *const *urls)
{
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &t->f, &diag), SEINE_OK);
    CHECK_STR(diag_line(&diag), "");
    for (size_t i = 0; urls[i]; i++) {
        seine_ask ask = SEINE_ASK;

        ask.url = (seine_view){urls[i], strlen(urls[i])};
        CHECK_EQ(seine_fetch_add(t->f, &ask, NULL), SEINE_OK);
    }
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    seine_fetch_free(t->f);
}

static void
tear_down(fixture *t)
{
    script_free(t->s);
    free(t);
}

TEST(proxy_a_proxy_is_chosen_anew_on_every_hop)
{
    static const char *const urls[] = {"http://a.test/", NULL};
    fixture *t = set_up();

    t->opts.no_proxy = "b.test, 10.0.0.0/8";
    script_on(t->s, "http://a.test/",
              &(answer){.status = 302, .fields = "Location: http://b.test/"});
    script_on(t->s, "http://b.test/",
              &(answer){.status = 302, .fields = "Location: https://a.test/c"});
    run(t, urls);
    CHECK_EQ(script_requests(t->s), 3);
    CHECK_STR(script_request(t->s, 0)->proxy, "http://p.test:8080");
    CHECK_STR(script_request(t->s, 1)->proxy, "");
    CHECK_STR(script_request(t->s, 2)->proxy, "http://p.test:8080");
    for (unsigned i = 0; i < 3; i++)
        CHECK(!strstr(script_request(t->s, i)->fields, "Proxy"));
    CHECK_EQ(t->g.all[0].code, SEINE_OK);
    tear_down(t);
}

static char *
env(const char *name)
{
    static char http[] = "h.test:1", all[] = "socks5://s.test:2", no[] = "c.test";

    return strcmp(name, "http_proxy") == 0  ? http
           : strcmp(name, "ALL_PROXY") == 0 ? all
           : strcmp(name, "no_proxy") == 0  ? no
                                            : NULL;
}

TEST(proxy_the_environment_counts_if_it_is_handed_in_and_urls_are_trusted)
{
    static const char *const urls[] = {"http://a.test/", "https://b.test/",
                                       "http://c.test/", NULL};
    static const struct {
        bool env, untrusted;
        const char *a, *b, *shown;
    } rows[] = {
        {true, false, "http://h.test:1", "socks5://s.test:2",
         "for http http://h.test:1 (resolves names), for https socks5://s.test:2"},
        {false, false, "", "", ""},
        {true, true, "", "", ""},
    };

    EACH_ROW(i, rows) {
        fixture *t = set_up();
        char shown[128];

        t->opts.proxy = NULL;
        t->opts.proxy_env = rows[i].env ? env : NULL;
        t->opts.untrusted = rows[i].untrusted;
        run(t, urls);
        CHECK_STR(script_request(t->s, 0)->proxy, rows[i].a);
        CHECK_STR(script_request(t->s, 1)->proxy, rows[i].b);
        CHECK_STR(script_request(t->s, 2)->proxy, "");
        CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &t->f, NULL), SEINE_OK);
        CHECK_EQ(seine_fetch_proxies(t->f, shown, sizeof shown), strlen(rows[i].shown));
        CHECK_STR(shown, rows[i].shown);
        seine_fetch_free(t->f);
        tear_down(t);
    }
}

TEST(proxy_proxies_are_shown_without_their_login)
{
    static const struct {
        const char *proxy, *no_proxy, *shown;
    } rows[] = {
        {"http://joe:S3cret@p.test:8080", NULL, "http://p.test:8080 (resolves names)"},
        {"socks5://joe:S3cret@[::1]", NULL, "socks5://[::1]:1080"},
        {"socks5h://p.test", "a.test", "socks5h://p.test:1080 (resolves names)"},
        {"socks5h://p.test", "*", ""},
        {"off", NULL, ""},
    };

    EACH_ROW(i, rows) {
        fixture *t = set_up();
        char shown[128] = "?", cut[8] = "?";

        t->opts.proxy = rows[i].proxy;
        t->opts.no_proxy = rows[i].no_proxy;
        CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &t->f, NULL), SEINE_OK);
        CHECK_EQ(seine_fetch_proxies(t->f, shown, sizeof shown), strlen(rows[i].shown));
        CHECK_STR(shown, rows[i].shown);
        CHECK_EQ(seine_fetch_proxies(t->f, cut, sizeof cut), strlen(rows[i].shown));
        CHECK(strncmp(cut, rows[i].shown, 7) == 0);
        for (size_t cap = 1; cap < sizeof cut; cap++) { /* as snprintf does */
            char want[8];

            snprintf(want, cap, "%s", rows[i].shown);
            memset(cut, '?', sizeof cut);
            seine_fetch_proxies(t->f, cut, cap);
            CHECK_STR(cut, want);
        }
        CHECK_EQ(seine_fetch_proxies(t->f, NULL, 0), strlen(rows[i].shown));
        seine_fetch_free(t->f);
        tear_down(t);
    }
}

TEST(proxy_a_bad_proxy_is_a_bad_option)
{
    fixture *t = set_up();
    seine_diag diag = SEINE_DIAG;

    t->opts.proxy = "gopher://joe:S3cret@p.test";
    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &t->f, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag_line(&diag),
              "proxy: gopher: the scheme is http, https, socks5 or socks5h");
    t->opts.proxy = NULL;
    t->opts.no_proxy = "10.1.2.3/8";
    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &t->f, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag_line(&diag),
              "no_proxy: neither a name, an address nor a net: 10.1.2.3/8");
    tear_down(t);
}

/* Ten hosts, all of them behind a proxy that is down for a while. */
TEST(proxy_hosts_behind_a_proxy_that_was_down_are_fetched_and_none_is_blamed)
{
    const char *urls[11] = {0};
    char text[10][32];
    fixture *t = set_up();

    t->opts.breaker.failure_threshold = 3;
    t->opts.breaker.open_for = SEINE_SECS(20);
    t->opts.retry.max_attempts = 3;
    t->opts.on_event = NULL;
    for (int i = 0; i < 10; i++) {
        snprintf(text[i], sizeof text[i], "http://h%d.test/", i);
        urls[i] = text[i];
        /* The first three find out; the next is a probe, 20 s later. */
        script_on(t->s, text[i],
                  &(answer){.err = SEINE_E_PROXY_ERROR,
                            .phase = SEINE_PHASE_PROXY,
                            .via = SN_PROXY_BAD,
                            .unsent = true},
                  &(answer){.status = 200, .via = SN_PROXY_GOOD});
    }
    t->opts.concurrency = 3;
    t->opts.park = 100;
    run(t, urls);
    CHECK_EQ(t->g.n, 10);
    for (int i = 0; i < 10; i++)
        CHECK_EQ(t->g.all[i].code, SEINE_OK);
    CHECK(script_now(t->s) >= T0 + SEINE_SECS(20));
    tear_down(t);
}

TEST(proxy_a_proxy_that_stays_down_ends_everything_as_its_error)
{
    const char *urls[41] = {0};
    char text[40][32];
    fixture *t = set_up();

    t->opts.breaker.failure_threshold = 3;
    t->opts.breaker.open_for = SEINE_SECS(5);
    t->opts.park = 1;
    t->opts.concurrency = 2;
    for (int i = 0; i < 40; i++) {
        snprintf(text[i], sizeof text[i], "http://h%d.test/", i);
        urls[i] = text[i];
        script_on(t->s, text[i],
                  &(answer){.err = SEINE_E_PROXY_ERROR,
                            .phase = SEINE_PHASE_PROXY,
                            .via = SN_PROXY_BAD,
                            .unsent = true});
    }
    run(t, urls);
    CHECK_EQ(t->g.n, 40);
    for (int i = 0; i < 40; i++) {
        CHECK_EQ(t->g.all[i].code, SEINE_E_PROXY_ERROR);
        CHECK_EQ(t->g.all[i].fate, SEINE_FATE_NETWORK_ERROR);
        CHECK(!strstr(t->g.all[i].message, "S3cret"));
    }
    /* Three failures, one more that was under way, one probe. */
    CHECK(script_requests(t->s) <= 5);
    CHECK(script_now(t->s) >= T0 + SEINE_SECS(5));
    CHECK(script_now(t->s) < T0 + SEINE_SECS(30));
    tear_down(t);
}

TEST(proxy_a_wait_for_a_proxy_ends_with_the_time_of_the_url)
{
    static const char *const urls[] = {"http://a.test/", "http://b.test/",
                                       "http://c.test/", "http://d.test/", NULL};
    fixture *t = set_up();

    t->opts.breaker.failure_threshold = 1;
    t->opts.breaker.open_for = SEINE_SECS(200);
    t->opts.breaker.open_max = SEINE_SECS(300);
    t->opts.retry.max_elapsed = SEINE_SECS(30);
    t->opts.concurrency = 1;
    for (size_t i = 0; urls[i]; i++)
        script_on(t->s, urls[i],
                  &(answer){.err = SEINE_E_PROXY_ERROR,
                            .phase = SEINE_PHASE_PROXY,
                            .via = SN_PROXY_BAD,
                            .unsent = true});
    run(t, urls);
    CHECK_EQ(t->g.n, 4);
    for (int i = 0; i < 4; i++)
        CHECK_EQ(t->g.all[i].code, SEINE_E_PROXY_ERROR);
    CHECK(strstr(t->g.all[3].message, "left alone after failures") ||
          strstr(t->g.all[2].message, "left alone after failures"));
    CHECK_EQ(script_requests(t->s), 1);
    CHECK(script_now(t->s) < T0 + SEINE_SECS(60));
    tear_down(t);
}

TEST(proxy_what_a_proxy_refuses_is_final_and_does_not_stop_the_others)
{
    const char *urls[31] = {0};
    char text[30][32];
    fixture *t = set_up();

    t->opts.breaker.failure_threshold = 3;
    for (int i = 0; i < 30; i++) {
        snprintf(text[i], sizeof text[i], "https://h%d.test/", i);
        urls[i] = text[i];
        if (i != 29)
            script_on(t->s, text[i],
                      &(answer){.err = SEINE_E_PROXY_REFUSED,
                                .phase = SEINE_PHASE_PROXY,
                                .via = SN_PROXY_GOOD,
                                .unsent = true});
    }
    run(t, urls);
    CHECK_EQ(t->g.n, 30);
    CHECK_EQ(script_requests(t->s), 30); /* no retries, no breaker */
    int ok = 0;
    for (int i = 0; i < 30; i++)
        ok += t->g.all[i].code == SEINE_OK;
    CHECK_EQ(ok, 1);
    tear_down(t);
}
