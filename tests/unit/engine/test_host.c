/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"
#include "shard.h"

#define T0 SEINE_SECS(1000)

typedef struct world {
    sn_shared_state shared;
    sn_hosts hosts;
    sn_timer_wheel wheel;
} world;

static void
open_world(world *w, const seine_fetch_opts *o)
{
    CHECK_EQ(sn_shared_state_init(&w->shared, o, NULL), SEINE_OK);
    CHECK_EQ(sn_hosts_init(&w->hosts, &w->shared, &w->wheel, T0), SEINE_OK);
}

static void
close_world(world *w)
{
    sn_hosts_fini(&w->hosts);
    sn_timer_wheel_fini(&w->wheel);
    sn_shared_state_fini(&w->shared);
}

static seine_err
find(world *w, const char *text, uint32_t *out_host)
{
    char mem[SEINE_URL_ROOM];
    seine_url url;

    seine_url_init(&url, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&url, text, strlen(text), NULL), SEINE_OK);
    return sn_hosts_find(&w->hosts, &url, T0, out_host);
}

static uint32_t
host_of(world *w, const char *text)
{
    uint32_t host = SN_NO_HOST;

    CHECK_EQ(find(w, text, &host), SEINE_OK);
    return host;
}

TEST(a_host_is_a_scheme_a_name_and_a_port)
{
    static const struct {
        const char *url;
        uint32_t host;
        const char *name;
    } rows[] = {
        {"http://a.example/", 0, "http://a.example:80"},
        {"http://a.example/x?y", 0, "http://a.example:80"},
        {"http://A.EXAMPLE:80/", 0, "http://a.example:80"},
        {"https://a.example/", 1, "https://a.example:443"},
        {"http://a.example:81/", 2, "http://a.example:81"},
        {"http://b.example/", 3, "http://b.example:80"},
        {"http://[::1]/", 4, "http://[::1]:80"},
        {"http://a.example/", 0, "http://a.example:80"},
    };
    seine_fetch_opts o = polite();
    world w;

    open_world(&w, &o);
    EACH_ROW(i, rows) {
        uint32_t host = host_of(&w, rows[i].url);
        CHECK_EQ(host, rows[i].host);
        CHECK_STR(w.hosts.cards[host].name, rows[i].name);
    }
    CHECK_EQ(w.hosts.n, 5);
    CHECK_EQ(w.hosts.all[0].next, T0); /* it may be asked from now on */
    CHECK_EQ(w.hosts.all[0].place, SN_HOST_IDLE);
    close_world(&w);
}

TEST(hosts_keep_their_numbers_while_the_table_grows)
{
    enum { HOSTS = 1000 };
    seine_fetch_opts o = polite();
    char url[64];
    world w;

    open_world(&w, &o);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < HOSTS; i++) {
            snprintf(url, sizeof url, "http://h%u.example/", i);
            CHECK_EQ(host_of(&w, url), i);
            w.hosts.all[i].in_flight = i;
        }
    for (uint32_t i = 0; i < HOSTS; i++)
        CHECK_EQ(w.hosts.all[i].in_flight, i);
    CHECK_EQ(w.hosts.n, HOSTS);
    close_world(&w);
}

/* A model: a list for each lane, and one before them for robots.txt. */
TEST(visits_of_a_host_leave_by_lane_and_in_order)
{
    enum { VISITS = 40 };
    sn_rng r = sn_rng_seed(check_seed());
    static sn_visit all[VISITS];

    for (int round = 0; round < 300; round++) {
        sn_host h = {0};
        const sn_visit *model[VISITS];
        unsigned rank[VISITS], n = 0;

        for (int i = 0; i < VISITS; i++) {
            if (sn_rng_below(&r, 3) == 0) {
                CHECK(sn_host_pop(&h) == (n > 0 ? model[0] : NULL));
                if (n > 0) {
                    n--;
                    memmove(model, model + 1, n * sizeof *model);
                    memmove(rank, rank + 1, n * sizeof *rank);
                }
                continue;
            }
            sn_visit *v = &all[i];
            bool robots = sn_rng_below(&r, 5) == 0, first = sn_rng_below(&r, 4) == 0;
            unsigned lane = (unsigned)sn_rng_below(&r, SN_LANES);
            unsigned own = robots ? 0 : 1 + lane, at = 0;

            *v = (sn_visit){.kind = robots ? SN_KIND_ROBOTS : SN_KIND_PAGE};
            sn_host_push(&h, v, lane, first);
            while (at < n && (first && !robots ? rank[at] < own : rank[at] <= own))
                at++;
            memmove(model + at + 1, model + at, (n - at) * sizeof *model);
            memmove(rank + at + 1, rank + at, (n - at) * sizeof *rank);
            model[at] = v;
            rank[at] = own;
            n++;
            CHECK_EQ(h.n_waiting, n);
            CHECK(sn_host_has_visit(&h));
            CHECK_EQ(sn_host_lane(&h), rank[0] < 1 ? 0 : rank[0] - 1);
        }
        while (n > 0) {
            CHECK(sn_host_pop(&h) == model[0]);
            n--;
            memmove(model, model + 1, n * sizeof *model);
        }
        CHECK(!sn_host_pop(&h) && !sn_host_has_visit(&h) && h.n_waiting == 0);
    }
}

/* 5 a second by the options. */
TEST(a_host_is_asked_as_often_as_options_and_crawl_delay_allow)
{
    static const struct {
        bool mine, crawl, given;
        uint32_t delay_ms;
        seine_span every;
    } rows[] = {
        {false, false, false, 0, SEINE_MS(200)},
        {false, false, false, 100, SEINE_MS(200)}, /* the longer of the two */
        {false, false, false, 900, SEINE_MS(900)},
        {true, false, false, 900, 0},            /* mine: any time */
        {true, true, false, 900, SEINE_MS(900)}, /* found in a crawl: not mine */
        {true, true, true, 900, 0},
    };

    EACH_ROW(i, rows) {
        seine_fetch_opts o = polite();
        seine_crawl_opts crawl = SEINE_CRAWL_OPTS;
        world w;

        o.mine = rows[i].mine;
        o.crawl = rows[i].crawl ? &crawl : NULL;
        open_world(&w, &o);
        uint32_t host = host_of(&w, "http://a.example/");
        w.hosts.cards[host].delay_ms = rows[i].delay_ms;
        if (rows[i].given)
            sn_hosts_set_given(&w.hosts, host, T0);
        CHECK_EQ(sn_hosts_every(&w.hosts, host), rows[i].every);
        CHECK_EQ(sn_hosts_is_mine(&w.hosts, &w.hosts.all[host]), rows[i].every == 0);
        close_world(&w);
    }
}

TEST(guards_belong_to_one_host_until_they_are_folded)
{
    seine_fetch_opts o = polite();
    sn_guards *a, *b, *again;
    world w;

    open_world(&w, &o);
    uint32_t one = host_of(&w, "http://a.example/");
    uint32_t two = host_of(&w, "http://b.example/");
    CHECK_EQ(sn_hosts_guard(&w.hosts, one, T0, &a), SEINE_OK);
    CHECK_EQ(sn_hosts_guard(&w.hosts, two, T0, &b), SEINE_OK);
    CHECK(a != b);
    CHECK_EQ(sn_hosts_guard(&w.hosts, one, T0, &again), SEINE_OK);
    CHECK(a == again && a == sn_hosts_guards(&w.hosts, one));
    CHECK_EQ(w.hosts.guards_used, 2);
    sn_hosts_fold(&w.hosts, one, T0); /* few are used: it keeps them */
    CHECK(w.hosts.all[one].guards != SN_NONE);
    close_world(&w);
}

/* The user names a host that was found before. */
TEST(a_host_that_turns_out_to_be_ours_is_free_and_keeps_what_it_asked_for)
{
    seine_fetch_opts o = polite();
    seine_crawl_opts crawl = SEINE_CRAWL_OPTS;
    sn_guards *g;
    world w;

    o.mine = o.adaptive = true;
    o.crawl = &crawl;
    open_world(&w, &o);
    uint32_t host = host_of(&w, "http://a.example/");
    CHECK_EQ(sn_hosts_guard(&w.hosts, host, T0, &g), SEINE_OK);
    CHECK(g->pace.ivl_us > 0 && g->set.throttle);
    g->pace.last = T0 + 1;
    sn_pace_pause(&g->pace, T0 + SEINE_SECS(9));
    sn_hosts_set_given(&w.hosts, host, T0 + 2);
    sn_hosts_retune(&w.hosts, host, T0 + 2);
    CHECK_EQ(g->pace.ivl_us, 0);
    CHECK_EQ(g->pace.last, T0 + 1);
    CHECK_EQ(g->pace.pause, T0 + SEINE_SECS(9));
    CHECK(!g->set.throttle);
    CHECK_EQ(g->limiter.every, 0);
    close_world(&w);
}

/* A Crawl-delay becomes known when the guards are there already. */
TEST(a_host_with_a_crawl_delay_has_saved_up_nothing)
{
    seine_fetch_opts o = polite();
    sn_guards *g;
    world w;

    o.host_rate = (seine_rate){5, SEINE_SECS(1), 3};
    open_world(&w, &o);
    for (int delayed = 0; delayed < 2; delayed++) {
        uint32_t host = host_of(&w, delayed ? "http://a.example/" : "http://b.example/");

        CHECK_EQ(sn_hosts_guard(&w.hosts, host, T0, &g), SEINE_OK);
        w.hosts.cards[host].delay_ms = 900;
        w.hosts.all[host].is_delayed = delayed;
        sn_hosts_retune(&w.hosts, host, T0 + SEINE_SECS(60));
        for (int i = 0; i < 4; i++)
            CHECK_EQ(seine_limiter_allow(&g->limiter, T0 + SEINE_SECS(120), 1),
                     i < (delayed ? 1 : 3));
    }
    close_world(&w);
}

/* Beyond 4,096 guards idle hosts lose theirs; what they owe stays in `next`. */
TEST(folded_guards_leave_their_debt_behind)
{
    enum { HOSTS = 4100 };
    seine_fetch_opts o = polite();
    char url[64];
    sn_guards *g;
    world w;

    open_world(&w, &o);
    for (uint32_t i = 0; i < HOSTS; i++) {
        snprintf(url, sizeof url, "http://h%u.example/", i);
        CHECK_EQ(sn_hosts_guard(&w.hosts, host_of(&w, url), T0, &g), SEINE_OK);
    }
    static const struct {
        uint32_t in_flight, n_waiting;
        uint8_t place;
        bool folds;
    } rows[] = {
        {1, 0, SN_HOST_IDLE, false},
        {0, 1, SN_HOST_IDLE, false},
        {0, 0, SN_HOST_PARKED, false},
        {0, 0, SN_HOST_IDLE, true},
    };
    EACH_ROW(i, rows) {
        uint32_t host = (uint32_t)i;
        sn_host *h = &w.hosts.all[host];

        g = sn_hosts_guards(&w.hosts, host);
        CHECK(seine_limiter_allow(&g->limiter, T0, 1));
        seine_time full = g->limiter.full;
        CHECK(full > T0);
        h->in_flight = rows[i].in_flight;
        h->n_waiting = rows[i].n_waiting;
        h->place = rows[i].place;
        sn_hosts_fold(&w.hosts, host, T0);
        CHECK_EQ(h->guards == SN_NONE, rows[i].folds);
        if (rows[i].folds)
            CHECK_EQ(h->next, full);
        h->in_flight = h->n_waiting = 0;
    }
    CHECK_EQ(w.hosts.guards_used, HOSTS - 1);

    /* So do pauses that a server asked for. */
    sn_hosts_guards(&w.hosts, 10)->limiter.shut = T0 + SEINE_SECS(5);
    sn_hosts_guards(&w.hosts, 11)->pace.pause = T0 + SEINE_SECS(7);
    sn_hosts_fold(&w.hosts, 10, T0);
    sn_hosts_fold(&w.hosts, 11, T0);
    CHECK_EQ(w.hosts.all[10].next, T0 + SEINE_SECS(5));
    CHECK_EQ(w.hosts.all[11].next, T0 + SEINE_SECS(7));

    /* A host that a new one would not behave like keeps its guards. */
    sn_hosts_guards(&w.hosts, 12)->pace.knee_us = 1;
    sn_hosts_guards(&w.hosts, 13)->pace.quota_until = T0 + 1;
    w.hosts.all[14].n_unpaid = 1;
    w.hosts.cards[15].n_again = 1;
    sn_hosts_guards(&w.hosts, 16)->pace.ivl_us = UINT32_MAX;
    seine_breaker_record(&sn_hosts_guards(&w.hosts, 17)->breaker, SEINE_FAILURE, T0);
    for (uint32_t i = 12; i < 18; i++) {
        sn_hosts_fold(&w.hosts, i, T0);
        CHECK(w.hosts.all[i].guards != SN_NONE);
    }
    sn_hosts_guards(&w.hosts, 13)->pace.quota_until = T0;
    sn_hosts_fold(&w.hosts, 13, T0);
    CHECK_EQ(w.hosts.all[13].guards, SN_NONE);
    w.hosts.all[14].n_unpaid = 0;
    w.hosts.cards[15].n_again = 0;
    close_world(&w);
}

/* http and https of a name are one server. */
TEST(new_guards_begin_where_those_of_their_twin_are)
{
    seine_fetch_opts o = polite();
    sn_guards *first, *second;
    world w;

    open_world(&w, &o);
    uint32_t plain = host_of(&w, "http://a.example/");
    CHECK_EQ(sn_hosts_guard(&w.hosts, plain, T0, &first), SEINE_OK);
    CHECK(seine_limiter_allow(&first->limiter, T0, 1));
    first->pace.last = T0;
    uint32_t safe = host_of(&w, "https://a.example/");
    CHECK_EQ(sn_hosts_guard(&w.hosts, safe, T0, &second), SEINE_OK);
    CHECK_EQ(second->limiter.full, first->limiter.full);
    CHECK_EQ(w.hosts.all[safe].next, T0 + SEINE_MS(200));
    close_world(&w);
}

TEST(statistics_are_kept_of_the_first_4096_hosts_that_have_some)
{
    enum { KEPT = 4096 };
    seine_fetch_opts o = polite();
    char url[64];
    world w;

    open_world(&w, &o);
    for (uint32_t i = 0; i <= KEPT; i++) {
        snprintf(url, sizeof url, "http://h%u.example/", i);
        uint32_t host = host_of(&w, url);
        sn_host_stats *s = sn_hosts_stats(&w.hosts, host);
        CHECK_EQ(s != NULL, i < KEPT);
        if (s)
            s->requests = i;
    }
    CHECK_EQ(sn_hosts_stats(&w.hosts, 0)->requests, 0);
    CHECK_EQ(sn_hosts_stats(&w.hosts, KEPT - 1)->requests, KEPT - 1);
    close_world(&w);
}

TEST(hosts_without_memory_stay_as_they_were)
{
    seine_fetch_opts o = polite();
    world w;

    CHECK_EQ(sn_shared_state_init(&w.shared, &o, NULL), SEINE_OK);
    FAIL_EACH(n)
    {
        uint32_t host = SN_NO_HOST, made = 0;
        seine_err e = sn_hosts_init(&w.hosts, &w.shared, &w.wheel, T0);
        char url[64];

        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        if (e != SEINE_OK)
            continue;
        for (; made < 70 && e == SEINE_OK; made += e == SEINE_OK) {
            sn_guards *g;

            snprintf(url, sizeof url, "http://h%u.example/", made);
            e = find(&w, url, &host);
            if (e == SEINE_OK)
                (void)!sn_hosts_guard(&w.hosts, host, T0, &g);
            if (e == SEINE_OK)
                (void)sn_hosts_stats(&w.hosts, host);
        }
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK_EQ(w.hosts.n, made);
        sn_hosts_fini(&w.hosts);
        sn_timer_wheel_fini(&w.wheel);
    }
    sn_shared_state_fini(&w.shared);
}
