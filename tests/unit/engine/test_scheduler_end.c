/* SPDX-License-Identifier: Apache-2.0 */
/* What the end of an attempt tells about its host. */
#include <stdio.h>

#include "one_url.h"

static void
open_fetch(fixture *t)
{
    CHECK_EQ(sn_fetch_open(&t->opts, script_net(t->s), &t->f, NULL), SEINE_OK);
}

static void
give_many(fixture *t, int n)
{
    for (int i = 0; i < n; i++) {
        seine_ask ask = SEINE_ASK;
        char url[32];

        ask.url =
            (seine_view){url, (size_t)snprintf(url, sizeof url, "http://h.test/%d", i)};
        CHECK_EQ(seine_fetch_add(t->f, &ask, NULL), SEINE_OK);
    }
}

/* Requests of a host that answers well `good` times and then fails for ever, until it is
 * given up; or until there have been `most`. */
static unsigned
requests_until_given_up(uint32_t park, bool is_silent, int good, unsigned most)
{
    fixture *t = set_up();
    static const answer bad[] = {{.status = 500}, {.err = SEINE_E_CONNECT_REFUSED}};

    t->opts.park = park;
    t->opts.concurrency = 1;
    t->opts.retry.max_attempts = 1;
    t->opts.breaker.failure_threshold = 3;
    t->opts.on_event = gather_event;
    for (int i = good; i < 60; i++) {
        char url[32];

        snprintf(url, sizeof url, "http://h.test/%d", i);
        script_add(t->s, url, &bad[is_silent]);
    }
    open_fetch(t);
    give_many(t, 60);
    while (strcmp(t->g.last_event, "host.parked") != 0 && script_requests(t->s) < most)
        sn_fetch_turn(t->f, SEINE_NEVER);
    unsigned n = script_requests(t->s);
    seine_fetch_free(t->f);
    tear_down(t);
    return n;
}

/* Three failures open the breaker, and every one behind them is a probe. */
TEST(a_host_is_given_up_after_as_many_probes_as_it_has_earned)
{
    static const struct {
        uint32_t park;
        bool is_silent;
        int good;
        unsigned requests;
    } rows[] = {
        {SEINE_PARK_AUTO, true, 0, 3 + 1},      /* never heard of */
        {SEINE_PARK_AUTO, false, 0, 3 + 7},     /* responds: ten failures in all */
        {SEINE_PARK_AUTO, true, 1, 1 + 10 + 5}, /* has answered well: a longer row */
        {1, true, 0, 3 + 1},
        {2, true, 0, 3 + 2},
        {2, false, 0, 3 + 2},
        {4, false, 0, 3 + 4},
        {0, true, 0, 40}, /* never */
    };

    EACH_ROW(i, rows) {
        CHECK_EQ(
            requests_until_given_up(rows[i].park, rows[i].is_silent, rows[i].good, 40),
            rows[i].requests);
    }
}

/* A server that counts: so many are left until its window ends. */
TEST(what_is_left_of_a_quota_is_spread_over_its_time)
{
    fixture *t = set_up();

    t->opts.mine = false;
    t->opts.adaptive = true;
    t->opts.host_rate = (seine_rate){10, SEINE_SECS(1), 1};
    for (int i = 0; i < 4; i++) {
        char url[32];

        snprintf(url, sizeof url, "http://h.test/%d", i);
        script_on(t->s, url, &(answer){.fields = "RateLimit: \"a\";r=3;t=30"});
    }
    open_fetch(t);
    give_many(t, 4);
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    for (unsigned i = 1; i < 4; i++)
        CHECK(script_request(t->s, i)->at - script_request(t->s, i - 1)->at >=
              SEINE_SECS(30) / 3);
    seine_fetch_free(t->f);
    tear_down(t);
}

TEST(a_quota_that_is_spent_holds_the_host_and_is_named)
{
    fixture *t = set_up();
    seine_fetch_stats s;

    t->opts.mine = false;
    t->opts.adaptive = true;
    t->opts.per_host = 1;
    script_on(t->s, "http://h.test/0", &(answer){.fields = "RateLimit: \"a\";r=0;t=40"});
    open_fetch(t);
    give_many(t, 2);
    while (script_now(t->s) < T0 + SEINE_SECS(1)) /* until its rate has let it go */
        sn_fetch_turn(t->f, T0 + SEINE_SECS(1));
    seine_fetch_stats_get(t->f, &s);
    CHECK_EQ(s.waiting_for[SEINE_WAIT_RATE_LIMIT], 1);
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    seine_span apart = script_request(t->s, 1)->at - script_request(t->s, 0)->at;
    CHECK(apart >= SEINE_SECS(40) && apart < SEINE_SECS(45));
    seine_fetch_free(t->f);
    tear_down(t);
}

/* The reason of the wait before it does not stick to it. */
TEST(a_quota_that_is_spent_after_a_retry_after_is_named_too)
{
    fixture *t = set_up();
    seine_fetch_stats s;

    t->opts.mine = false;
    t->opts.adaptive = true;
    t->opts.per_host = 1;
    t->opts.retry.max_attempts = 1;
    script_add(t->s, "http://h.test/0",
               &(answer){.status = 503, .fields = "Retry-After: 5"});
    script_on(t->s, "http://h.test/1", &(answer){.fields = "RateLimit: \"a\";r=0;t=40"});
    open_fetch(t);
    give_many(t, 3);
    while (script_now(t->s) < T0 + SEINE_SECS(2))
        sn_fetch_turn(t->f, T0 + SEINE_SECS(2));
    seine_fetch_stats_get(t->f, &s);
    CHECK_EQ(s.waiting_for[SEINE_WAIT_RETRY_AFTER], 2);
    while (script_now(t->s) < T0 + SEINE_SECS(12))
        sn_fetch_turn(t->f, T0 + SEINE_SECS(12));
    seine_fetch_stats_get(t->f, &s);
    CHECK_EQ(script_requests(t->s), 2);
    CHECK_EQ(s.waiting_for[SEINE_WAIT_RETRY_AFTER], 0);
    CHECK_EQ(s.waiting_for[SEINE_WAIT_RATE_LIMIT], 1);
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    seine_fetch_free(t->f);
    tear_down(t);
}

/* A host that has come back is asked once a second at first. */
TEST(a_breaker_that_closes_lets_the_host_begin_slowly)
{
    fixture *t = set_up();

    t->opts.mine = false;
    t->opts.adaptive = true;
    t->opts.per_host = 1;
    t->opts.host_rate = (seine_rate){10, SEINE_SECS(1), 1};
    t->opts.retry.max_attempts = 1;
    t->opts.breaker.failure_threshold = 3;
    t->opts.on_event = gather_event;
    for (int i = 0; i < 3; i++) {
        char url[32];

        snprintf(url, sizeof url, "http://h.test/%d", i);
        script_on(t->s, url, &(answer){.err = SEINE_E_CONNECT_REFUSED});
    }
    open_fetch(t);
    give_many(t, 8);
    while (strcmp(t->g.last_event, "breaker.closed") != 0)
        sn_fetch_turn(t->f, SEINE_NEVER);
    unsigned probe = script_requests(t->s) - 1;
    CHECK_EQ(seine_fetch_finish(t->f, NULL), SEINE_OK);
    CHECK(script_request(t->s, probe + 1)->at - script_request(t->s, probe)->at >=
          SEINE_SECS(1));
    seine_fetch_free(t->f);
    tear_down(t);
}
