/* SPDX-License-Identifier: Apache-2.0 */
/* The figures of a fetch, of its hosts and of its log are what has happened. */
#include <stdio.h>

#include "one_url.h"

typedef struct hosts {
    unsigned n;
    seine_fetch_host all[16];
    char names[16][32];
} hosts;

static void
on_host(const seine_fetch_host *h, void *arg)
{
    hosts *to = arg;

    gather_view(to->names[to->n], sizeof to->names[0], h->host);
    to->all[to->n++] = *h;
}

static const seine_fetch_host *
host_of(const hosts *all, const char *name)
{
    static const seine_fetch_host none = {.requests = 777};

    for (unsigned i = 0; i < all->n; i++)
        if (strcmp(all->names[i], name) == 0)
            return &all->all[i];
    return &none;
}

static void
open_fetch(fixture *t)
{
    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &t->f, NULL), SEINE_OK);
}

static void
give(fixture *t, const char *url)
{
    seine_ask ask = SEINE_ASK;

    ask.url = (seine_view){url, strlen(url)};
    CHECK_EQ(seine_fetch_add(t->f, &ask, NULL), SEINE_OK);
}

/* One of each end. */
TEST(figures_of_a_fetch_are_what_happened)
{
    fixture *t = set_up();
    seine_fetch_stats s;
    hosts all = {0};

    t->opts.concurrency = 1;
    script_on(t->s, "http://a.test/1", &(answer){.fill = 100});
    script_on(t->s, "http://a.test:8080/2", &(answer){.fill = 50, .reused = true});
    script_on(t->s, "https://b.test/", &(answer){.status = 503, .fill = 7},
              &(answer){.err = SEINE_E_CONN_RESET, .phase = SEINE_PHASE_HEAD},
              &(answer){.fill = 20});
    script_on(t->s, "http://c.test/",
              &(answer){.err = SEINE_E_BLOCKED_ADDRESS, .unsent = true});
    script_on(t->s, "http://d.test/1",
              &(answer){.status = 429, .fields = "Retry-After: 7200"});
    script_on(t->s, "http://e.test/", &(answer){.status = 404, .fill = 3});
    open_fetch(t);
    for (int i = 0; i < 2; i++)
        give(t, "http://a.test/1");
    give(t, "http://a.test:8080/2");
    give(t, "https://b.test/");
    give(t, "http://c.test/");
    give(t, "http://d.test/1");
    give(t, "http://e.test/");
    give(t, "ftp://no.test/");
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    seine_fetch_stats_get(t->f, &s);
    CHECK_EQ(s.given, 7);
    CHECK_EQ(s.duplicates, 1);
    CHECK_EQ(s.admitted, 6);
    CHECK_EQ(s.refused, 1);
    CHECK_EQ(s.done, 6);
    CHECK_EQ(s.ok, 3);
    CHECK_EQ(s.blocked, 1);
    CHECK_EQ(s.failed, 2);
    CHECK_EQ(s.waiting, 0);
    CHECK_EQ(s.in_flight, 0);
    CHECK_EQ(s.requests, script_requests(t->s) - 1); /* the blocked one never left */
    CHECK_EQ(s.retries, 2);
    CHECK_EQ(s.bytes_body, 100 + 50 + 7 + 20 + 3);
    CHECK_EQ(s.bytes_in, s.bytes_body);
    CHECK_EQ(s.reused, 1);
    CHECK_EQ(s.connections, 6);
    CHECK_EQ(s.hosts, 6);
    CHECK_EQ(s.parked, 1);
    CHECK_EQ(s.breaker_opens, 0);
    CHECK(s.parked_until >= T0 + SEINE_SECS(7200) && s.parked_until < SEINE_NEVER);

    seine_fetch_hosts_each(t->f, on_host, &all);
    CHECK_EQ(all.n, 6);
    CHECK_EQ(host_of(&all, "a.test")->requests, 1);
    CHECK_EQ(host_of(&all, "a.test:8080")->requests, 1);
    CHECK_EQ(host_of(&all, "b.test")->requests, 3);
    CHECK_EQ(host_of(&all, "b.test")->ok, 1);
    CHECK_EQ(host_of(&all, "b.test")->failed, 2);
    CHECK_EQ(host_of(&all, "b.test")->retries, 2);
    CHECK_EQ(host_of(&all, "c.test")->requests, 0);
    CHECK(host_of(&all, "d.test")->parked);
    CHECK(!host_of(&all, "e.test")->parked);
    CHECK_EQ(host_of(&all, "e.test")->in_flight, 0);
    CHECK_EQ(host_of(&all, "e.test")->waiting, 0);
    seine_fetch_free(t->f);
    tear_down(t);
}

/* Two hosts of five URLs each, a second apart; one of them has told to wait. */
TEST(figures_of_hosts_say_what_they_wait_for)
{
    fixture *t = set_up();
    seine_fetch_slowest slow = {.left = 0};
    seine_fetch_stats s;
    hosts all = {0};

    t->opts.mine = t->opts.adaptive = false;
    t->opts.host_rate = (seine_rate){1, SEINE_SECS(1), 1};
    t->opts.per_host = 1;
    script_on(t->s, "http://w.test/0",
              &(answer){.status = 503, .fields = "Retry-After: 60"},
              &(answer){.status = 200});
    open_fetch(t);
    for (int i = 0; i < 5; i++) {
        char url[32];

        snprintf(url, sizeof url, "http://h.test/%d", i);
        give(t, url);
        snprintf(url, sizeof url, "http://w.test/%d", i);
        give(t, url);
    }
    CHECK(!seine_fetch_slowest_get(t->f, &slow)); /* nobody has looked yet */
    while (script_requests(t->s) < 3)
        sn_fetch_turn(t->f, SEINE_NEVER);
    seine_fetch_stats_get(t->f, &s);
    CHECK_EQ(s.given, 10);
    CHECK_EQ(s.done, 1);
    CHECK_EQ(s.in_flight, 1);
    CHECK_EQ(s.waiting, 8);
    uint64_t sum = 0;
    for (unsigned w = 0; w < SEINE_WAIT_ROOM; w++)
        sum += s.waiting_for[w];
    CHECK_EQ(sum, 8);
    CHECK_EQ(s.waiting_for[SEINE_WAIT_RETRY_AFTER], 5);
    seine_fetch_hosts_each(t->f, on_host, &all);
    CHECK_EQ(host_of(&all, "h.test")->waiting, 3);
    CHECK_EQ(host_of(&all, "h.test")->in_flight, 1);
    CHECK_EQ(host_of(&all, "w.test")->waiting, 5);
    CHECK_EQ(host_of(&all, "w.test")->in_flight, 0);
    CHECK_EQ(host_of(&all, "w.test")->min_gap, SEINE_NEVER);
    (void)seine_fetch_slowest_get(t->f, &slow); /* the wish */
    while (script_requests(t->s) < 4)
        sn_fetch_turn(t->f, SEINE_NEVER);
    CHECK(seine_fetch_slowest_get(t->f, &slow));
    CHECK_STR(slow.host, "w.test");
    CHECK_EQ(slow.waiting, 5);
    CHECK_EQ(slow.every, SEINE_SECS(1));
    CHECK(slow.left > SEINE_SECS(60) && slow.left < SEINE_SECS(72));
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    all.n = 0;
    seine_fetch_hosts_each(t->f, on_host, &all);
    CHECK_EQ(host_of(&all, "h.test")->min_gap, SEINE_SECS(1));
    CHECK_EQ(host_of(&all, "h.test")->max_in_1s, 1);
    CHECK(host_of(&all, "h.test")->p50 / SEINE_MS(1) == 10); /* of a histogram */
    CHECK_EQ(host_of(&all, "w.test")->limited_by, SEINE_WAIT_RETRY_AFTER);
    CHECK_EQ(host_of(&all, "h.test")->limited_by, SEINE_WAIT_HOST_RATE);
    seine_fetch_stats_get(t->f, &s);
    CHECK_EQ(s.ok, 10);
    CHECK_EQ(s.parked_until, SEINE_NEVER);
    seine_fetch_free(t->f);
    tear_down(t);
}

TEST(figures_of_a_host_that_was_never_asked_are_blank)
{
    fixture *t = set_up();
    hosts all = {0};

    t->opts.concurrency = 1;
    open_fetch(t);
    give(t, "http://a.test/");
    give(t, "http://b.test/");
    while (script_requests(t->s) < 1)
        sn_fetch_turn(t->f, SEINE_NEVER);
    seine_fetch_hosts_each(t->f, on_host, &all);
    CHECK_EQ(all.n, 2);
    CHECK_EQ(host_of(&all, "a.test")->in_flight, 1);
    CHECK_EQ(host_of(&all, "b.test")->in_flight, 0);
    CHECK_EQ(host_of(&all, "b.test")->waiting, 1);
    CHECK_EQ(host_of(&all, "b.test")->requests, 0);
    CHECK_EQ(host_of(&all, "b.test")->breaker, SEINE_BREAKER_CLOSED);
    CHECK_EQ(host_of(&all, "b.test")->min_gap, SEINE_NEVER);
    CHECK_EQ(host_of(&all, "b.test")->every, 0);
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    seine_fetch_free(t->f);
    tear_down(t);
}
