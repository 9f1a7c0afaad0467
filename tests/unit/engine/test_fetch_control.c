/* SPDX-License-Identifier: Apache-2.0 */
/* A fetch that is held and tuned while it runs. */
#include "seine/fetch_control.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "engine/fetch.h"
#include "gather.h"
#include "script.h"

typedef struct place {
    script *script;
    seine_fetch *fetch;
    gather got;
} place;

static void
open_fetch(place *p, seine_fetch_opts *o)
{
    seine_diag diag = SEINE_DIAG;

    o->threads = 0;
    o->on_record = gather_record;
    o->arg = &p->got;
    CHECK_EQ(sn_fetch_open(o, script_net(p->script), &p->fetch, &diag), SEINE_OK);
}

static void
add(place *p, const char *url)
{
    seine_ask a = SEINE_ASK;

    a.url = (seine_view){url, strlen(url)};
    CHECK_EQ(seine_fetch_add(p->fetch, &a, NULL), SEINE_OK);
}

/* Time passes for the fetch. */
static void
pass(place *p, seine_span span)
{
    seine_time until = script_now(p->script) + span;

    while (script_now(p->script) < until)
        sn_fetch_turn(p->fetch, until);
}

static void
close_fetch(place *p)
{
    seine_fetch_free(p->fetch);
    script_free(p->script);
}

TEST(fetch_control_a_pause_holds_what_has_not_started)
{
    static place p;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);
    o.dedup = false;
    o.mine = o.adaptive = false;
    o.host_rate = (seine_rate){10, SEINE_SECS(1), 1};
    open_fetch(&p, &o);
    for (int i = 0; i < 20; i++)
        add(&p, "http://a.test/");
    pass(&p, SEINE_MS(450));
    unsigned before = script_requests(p.script);
    CHECK_EQ(before, 5);
    seine_fetch_pause(p.fetch, true);
    CHECK(seine_fetch_is_paused(p.fetch));
    pass(&p, SEINE_SECS(5));
    CHECK_EQ(script_requests(p.script), before);
    seine_fetch_pause(p.fetch, false);
    CHECK(!seine_fetch_is_paused(p.fetch));
    pass(&p, SEINE_MS(450)); /* and nothing was saved up */
    CHECK(script_requests(p.script) >= before + 4);
    CHECK(script_requests(p.script) <= before + 6);
    close_fetch(&p);
}

TEST(fetch_control_a_rate_over_all_hosts_comes_and_goes)
{
    static place p;
    seine_fetch_tune t = SEINE_FETCH_TUNE;
    seine_diag diag = SEINE_DIAG;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);
    o.dedup = false;
    o.host_rate.count = 0;
    o.concurrency = o.per_host = 1;
    o.queue = 400;
    open_fetch(&p, &o);
    for (int i = 0; i < 300; i++)
        add(&p, "http://a.test/");
    t.has_rate = true;
    t.rate = (seine_rate){5, SEINE_SECS(1), 0};
    CHECK_EQ(seine_fetch_tune_set(p.fetch, &t, &diag), SEINE_OK);
    pass(&p, SEINE_SECS(2));
    CHECK(script_requests(p.script) >= 8 && script_requests(p.script) <= 12);
    t.rate.count = 0;
    CHECK_EQ(seine_fetch_tune_set(p.fetch, &t, &diag), SEINE_OK);
    pass(&p, SEINE_SECS(2));
    CHECK(script_requests(p.script) > 100);
    close_fetch(&p);
}

TEST(fetch_control_a_cap_per_address_holds_from_the_next_request_on)
{
    static place p;
    seine_fetch_tune t = SEINE_FETCH_TUNE;
    seine_diag diag = SEINE_DIAG;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);
    o.dedup = o.mine = false;
    o.adaptive = false;
    o.host_rate.count = 0;
    o.concurrency = o.per_host = 40;
    o.per_ip = 3;
    o.queue = 90;
    script_on(p.script, "http://a.test/", &(answer){.takes = SEINE_SECS(9)});
    open_fetch(&p, &o);
    for (int i = 0; i < 50; i++)
        add(&p, "http://a.test/");
    pass(&p, SEINE_MS(500));
    CHECK_EQ(script_in_flight(p.script), 3);
    t.per_ip = 12;
    CHECK_EQ(seine_fetch_tune_set(p.fetch, &t, &diag), SEINE_OK);
    pass(&p, SEINE_MS(500));
    CHECK_EQ(script_in_flight(p.script), 12);
    t.host = "a.test";
    CHECK_EQ(seine_fetch_tune_set(p.fetch, &t, &diag), SEINE_E_INVAL);
    CHECK_STR(diag.text, "is that of all hosts together");
    t = (seine_fetch_tune)SEINE_FETCH_TUNE; /* of a program that knew less */
    t.size = offsetof(seine_fetch_tune, per_ip);
    t.per_ip = 1;
    t.per_host = 40;
    CHECK_EQ(seine_fetch_tune_set(p.fetch, &t, &diag), SEINE_OK);
    pass(&p, SEINE_SECS(20));
    CHECK_EQ(script_in_flight(p.script), 12);
    close_fetch(&p);
}

/* What was started keeps its settings, so the first second may differ. */
TEST(fetch_control_settings_of_single_hosts_come_and_go)
{
    static place p;
    seine_host_opts slow[] = {SEINE_HOST_OPTS, SEINE_HOST_OPTS};
    static const char *const members[] = {"a.test", "b.test", NULL};
    seine_group_opts group = SEINE_GROUP_OPTS;
    seine_diag diag = SEINE_DIAG;
    unsigned a, b;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);
    o.dedup = o.mine = o.adaptive = false;
    o.per_ip = 0;
    o.host_rate.count = 0;
    o.concurrency = 2;
    o.per_host = 1;
    o.queue = 4000;
    open_fetch(&p, &o);
    for (int i = 0; i < 1500; i++) {
        add(&p, "http://a.test/");
        add(&p, "http://b.test/");
    }
    slow[0].match = "a.test";
    slow[0].set = SEINE_HOST_RATE;
    slow[0].rate = (seine_rate){2, SEINE_SECS(1), 1};
    slow[1].match = "b.test";
    CHECK_EQ(seine_fetch_hosts_set(p.fetch, slow, 2, NULL, 0, &diag), SEINE_OK);
    pass(&p, SEINE_SECS(1));
    a = script_asked(p.script, "http://a.test/");
    b = script_asked(p.script, "http://b.test/");
    pass(&p, SEINE_SECS(3));
    CHECK_EQ(script_asked(p.script, "http://a.test/") - a, 6);
    CHECK(script_asked(p.script, "http://b.test/") - b > 200);

    slow[1].set = SEINE_HOST_PER_HOST; /* 0: it cannot be, and nothing changes */
    CHECK_EQ(seine_fetch_hosts_set(p.fetch, slow, 2, NULL, 0, &diag), SEINE_E_INVAL);
    CHECK_STR(diag.member, "hosts");
    a = script_asked(p.script, "http://a.test/");
    pass(&p, SEINE_SECS(3));
    CHECK_EQ(script_asked(p.script, "http://a.test/") - a, 6);

    group.name = "both";
    group.match = members;
    group.rate = (seine_rate){4, SEINE_SECS(1), 1};
    CHECK_EQ(seine_fetch_hosts_set(p.fetch, NULL, 0, &group, 1, &diag), SEINE_OK);
    pass(&p, SEINE_SECS(1));
    a = script_asked(p.script, "http://a.test/");
    b = script_asked(p.script, "http://b.test/");
    pass(&p, SEINE_SECS(5));
    CHECK_EQ(script_asked(p.script, "http://a.test/") - a +
                 (script_asked(p.script, "http://b.test/") - b),
             20);

    CHECK_EQ(seine_fetch_hosts_set(p.fetch, NULL, 0, NULL, 0, &diag), SEINE_OK);
    pass(&p, SEINE_SECS(1));
    a = script_asked(p.script, "http://a.test/");
    pass(&p, SEINE_SECS(3));
    CHECK(script_asked(p.script, "http://a.test/") - a > 200);
    CHECK_EQ(seine_fetch_hosts_set(NULL, slow, 1, NULL, 0, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fetch_hosts_set(p.fetch, NULL, 1, NULL, 0, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_fetch_hosts_set(p.fetch, NULL, 0, NULL, 1, NULL), SEINE_E_INVAL);
    close_fetch(&p);
}

TEST(fetch_control_concurrency_grows_up_to_the_queue)
{
    static place p;
    seine_fetch_tune t = SEINE_FETCH_TUNE;
    seine_diag diag = SEINE_DIAG;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);
    o.dedup = false;
    o.host_rate.count = 0;
    o.concurrency = 2;
    o.per_host = o.per_ip = 100;
    o.queue = 90;
    script_on(p.script, "http://a.test/", &(answer){.takes = SEINE_SECS(9)});
    open_fetch(&p, &o);
    for (int i = 0; i < 50; i++)
        add(&p, "http://a.test/");
    pass(&p, SEINE_MS(100));
    CHECK_EQ(script_in_flight(p.script), 2);
    t.concurrency = 20;
    CHECK_EQ(seine_fetch_tune_set(p.fetch, &t, &diag), SEINE_OK);
    pass(&p, SEINE_MS(100));
    CHECK_EQ(script_in_flight(p.script), 20);
    t.concurrency = 81;
    CHECK_EQ(seine_fetch_tune_set(p.fetch, &t, &diag), SEINE_E_INVAL);
    CHECK_STR(diag.text, "at most 80 with this queue");
    close_fetch(&p);
}

/* clang-format off */
#define WRONG(X)                                                                            \
    X(t.host = "", "host", "a host, or a host and a port")                                  \
    X((t.host = "e.example", t.has_rate = true), "rate", "is that of all hosts together")   \
    X((t.host = "e.example", t.concurrency = 2), "concurrency", "is that of all hosts together") \
    X((t.has_host_rate = true, t.host_rate = (seine_rate){1, 0, 1}), "host_rate", "contradicts itself") \
    X(t.per_host = 65537, "per_host", "at most 65536")
/* clang-format on */

TEST(fetch_control_what_cannot_be_is_refused_with_its_member)
{
    static place p;
    seine_diag diag = SEINE_DIAG;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);
    o.mine = false;
    open_fetch(&p, &o);
#define X(change, of, why)                                                 \
    {                                                                      \
        seine_fetch_tune t = SEINE_FETCH_TUNE;                             \
        change;                                                            \
        CHECK_EQ(seine_fetch_tune_set(p.fetch, &t, &diag), SEINE_E_INVAL); \
        CHECK_STR(diag.member, of);                                        \
        CHECK_STR(diag.text, why);                                         \
    }
    WRONG(X)
#undef X
    close_fetch(&p);
}

TEST(fetch_control_tells_what_hosts_wait_for_busiest_first)
{
    static place p;
    static seine_fetch_wait got[8];
    size_t n = 0;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);
    o.dedup = false;
    o.mine = o.adaptive = false;
    o.host_rate = (seine_rate){1, SEINE_SECS(60), 1};
    open_fetch(&p, &o);
    add(&p, "http://b.test/");
    add(&p, "http://b.test/");
    for (int i = 0; i < 4; i++)
        add(&p, "http://a.test/");
    pass(&p, SEINE_SECS(1));
    seine_time now = script_now(p.script);
    uint64_t ticket = seine_fetch_waits_ask(p.fetch);
    CHECK(!seine_fetch_waits_get(p.fetch, ticket, got, 8, &n));
    pass(&p, SEINE_MS(1));
    CHECK(seine_fetch_waits_get(p.fetch, ticket, got, 8, &n));
    CHECK_EQ(n, 2);
    CHECK_STR(got[0].host, "a.test");
    CHECK_EQ(got[0].waiting, 3);
    CHECK_EQ(got[0].why, SEINE_WAIT_HOST_RATE);
    CHECK(got[0].until > now + SEINE_SECS(50));
    CHECK_STR(got[1].host, "b.test");
    CHECK_EQ(got[1].waiting, 1);
    CHECK(seine_fetch_waits_get(p.fetch, ticket, got, 1, &n));
    CHECK_EQ(n, 1);
    close_fetch(&p);
}

TEST(fetch_control_lists_hosts_by_the_number_that_is_asked_for)
{
    static place p;
    static seine_fetch_wait got[8];
    seine_fetch_look look = {.sort = SEINE_SORT_REQUESTS, .is_all = true};
    size_t n = 0;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);
    o.dedup = false;
    open_fetch(&p, &o);
    add(&p, "http://a.test/");
    add(&p, "http://b.test/");
    add(&p, "http://b.test/");
    pass(&p, SEINE_SECS(5));
    uint64_t ticket = seine_fetch_waits_ask(p.fetch); /* nothing has work any more */
    pass(&p, SEINE_MS(1));
    CHECK(seine_fetch_waits_get(p.fetch, ticket, got, 8, &n));
    CHECK_EQ(n, 0);
    ticket = seine_fetch_waits_look(p.fetch, &look);
    pass(&p, SEINE_MS(1));
    CHECK(seine_fetch_waits_get(p.fetch, ticket, got, 8, &n));
    CHECK_EQ(n, 2);
    CHECK_STR(got[0].host, "b.test");
    CHECK_EQ(got[0].requests, 2);
    CHECK_EQ(got[0].ok, 2);
    CHECK(got[0].p95 > 0);
    CHECK_EQ(got[1].requests, 1);
    look.sort = SEINE_SORT_SLOW;
    ticket = seine_fetch_waits_look(p.fetch, &look);
    pass(&p, SEINE_MS(1));
    CHECK(seine_fetch_waits_get(p.fetch, ticket, got, 8, &n));
    CHECK_EQ(n, 2);
    CHECK(got[0].p95 >= got[1].p95);
    snprintf(look.match, sizeof look.match, "a.te");
    ticket = seine_fetch_waits_look(p.fetch, &look);
    pass(&p, SEINE_MS(1));
    CHECK(seine_fetch_waits_get(p.fetch, ticket, got, 8, &n));
    CHECK_EQ(n, 1);
    CHECK_STR(got[0].host, "a.test");
    close_fetch(&p);
}

TEST(fetch_control_a_breaker_that_is_reset_lets_its_host_go_on)
{
    static place p;
    static seine_fetch_wait got[8];
    size_t n = 0;

    p = (place){.script = script_new(NULL)};
    seine_fetch_opts o = script_opts(p.script);
    o.dedup = false;
    o.queue = 100;
    o.breaker.open_for = o.breaker.open_max = SEINE_SECS(600);
    o.park = 0;
    o.mine = true;
    script_add(p.script, "http://a.test/", &(answer){.status = 503});
    open_fetch(&p, &o);
    for (int i = 0; i < 20; i++)
        add(&p, "http://a.test/");
    pass(&p, SEINE_SECS(30));
    uint64_t ticket = seine_fetch_waits_ask(p.fetch);
    pass(&p, SEINE_MS(1));
    CHECK(seine_fetch_waits_get(p.fetch, ticket, got, 8, &n));
    CHECK_EQ(n, 1);
    CHECK_EQ(got[0].breaker, SEINE_BREAKER_OPEN);
    unsigned before = script_requests(p.script);
    pass(&p, SEINE_SECS(10));
    CHECK_EQ(script_requests(p.script), before);
    CHECK_EQ(seine_fetch_breaker_reset(p.fetch, "other.test"), SEINE_OK);
    pass(&p, SEINE_SECS(5));
    CHECK_EQ(script_requests(p.script), before);
    CHECK_EQ(seine_fetch_breaker_reset(p.fetch, "a.test"), SEINE_OK);
    pass(&p, SEINE_SECS(5));
    CHECK(script_requests(p.script) > before);
    CHECK_EQ(seine_fetch_breaker_reset(p.fetch, ""), SEINE_E_INVAL);
    close_fetch(&p);
}
