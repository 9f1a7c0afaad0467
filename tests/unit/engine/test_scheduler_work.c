/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "engine/host.h"
#include "shard.h"

#define MAX_HOSTS 8

/* URLs as numbers: so many wait for each host. */
typedef struct well {
    shard *t;
    uint32_t n[MAX_HOSTS];
    uint32_t junk[MAX_HOSTS]; /* of those, not to be asked: gone with the next question */
    bool later[MAX_HOSTS];    /* nothing of it before an end */
    bool empty;               /* there is no memory for visits */
    uint32_t asked, tried;    /* questions; visits that were to be made */
    char names[MAX_HOSTS][32]; /* "http://a.example/" */
} well;

static sn_offer
offer(uint32_t host, void *arg)
{
    well *w = arg;
    sn_offer out = {0};

    w->asked++;
    w->n[host] -= w->junk[host];
    w->junk[host] = 0;
    if (w->n[host] > 0 && !w->later[host]) {
        w->tried++;
        out.is_no_memory =
            w->empty || sn_visits_out(w->t->shared.visits) == w->t->shared.opts.queue;
        if (!out.is_no_memory) {
            w->n[host]--;
            out.visit = visit(w->t, w->names[host]);
        }
    }
    out.left = w->n[host];
    return out;
}

static void
open_well(well *w, shard *t, const seine_fetch_opts *o)
{
    *w = (well){.t = t};
    open_shard(t, o);
    t->offer = offer;
    t->arg = w;
}

/* What the frontier says of a host. */
static void
say(well *w, uint32_t host, seine_time now)
{
    sn_work work = {.host = host, .n = w->n[host], .delay = SN_SAME_DELAY};

    sn_scheduler_work(w->t->s, &work, now);
}

static void
set_delay(shard *t, uint32_t host, uint32_t n, seine_span delay, seine_time now)
{
    sn_scheduler_work(t->s, &(sn_work){.host = host, .n = n, .delay = delay}, now);
}

static uint32_t
busy(shard *t, uint32_t host)
{
    return sn_hosts_busy(sn_scheduler_host_table(t->s), host);
}

/* A host, and n URLs for it. */
static uint32_t
dig(well *w, char letter, uint32_t n, seine_time now)
{
    char text[32] = "http://?.example/", mem[64];
    seine_url url;
    uint32_t host;

    text[7] = letter;
    seine_url_init(&url, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&url, text, strlen(text), NULL), SEINE_OK);
    CHECK_EQ(sn_hosts_find(sn_scheduler_host_table(w->t->s), &url, now, &host), SEINE_OK);
    CHECK(host < MAX_HOSTS);
    memcpy(w->names[host], text, sizeof text);
    w->n[host] += n;
    if (n > 0)
        say(w, host, now);
    return host;
}

static void
close_well(well *w, shard *t)
{
    for (uint32_t i = 0; i < MAX_HOSTS; i++)
        if (w->n[i] > 0) {
            w->n[i] = 0;
            say(w, i, 0);
        }
    uint32_t by[SEINE_WAIT_ROOM];
    uint32_t left = sn_scheduler_waiting(t->s, by);
    for (sn_visit *v; (v = sn_scheduler_drain(t->s)); left--)
        sn_visits_give(t->shared.visits, v);
    CHECK_EQ(left, 0);
    close_shard(t);
}

static uint32_t
waiting(shard *t)
{
    uint32_t by[SEINE_WAIT_ROOM];

    return sn_scheduler_waiting(t->s, by);
}

static uint32_t
waiting_for(shard *t, seine_wait why)
{
    uint32_t by[SEINE_WAIT_ROOM];

    sn_scheduler_waiting(t->s, by);
    return by[why];
}

/* A robots.txt of that host. */
static sn_visit *
add_robots(shard *t, const char *url, seine_time now)
{
    sn_visit *v = visit(t, url);

    v->kind = SN_KIND_ROBOTS;
    CHECK_EQ(sn_scheduler_add(t->s, v, now), SEINE_OK);
    return v;
}

/* It fails and is tried again at `at`. */
static void
again(shard *t, sn_visit *v, seine_time at, seine_time now)
{
    v->state = SN_IN_FLIGHT;
    v->end.fault.code = SEINE_E_CONN_RESET;
    v->end.fault.sent = true;
    sn_scheduler_end(t->s, v, now);
    CHECK_EQ(sn_scheduler_again(t->s, v, at, SEINE_WAIT_BACKOFF, now), SEINE_OK);
}

TEST(urls_of_the_frontier_start_no_closer_than_the_rate_allows)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();

    open_well(&w, &t, &o);
    dig(&w, 'a', 5, 0);
    CHECK_EQ(waiting(&t), 5);
    for (int i = 0; i < 5; i++) {
        seine_time due = SEINE_MS(200) * i;
        if (i > 0)
            CHECK(!next(&t, due - 1));
        sn_visit *v = next(&t, due);
        CHECK(v && v->state == SN_READY);
        CHECK_EQ(v->waited[SEINE_WAIT_HOST_RATE], i > 0 ? SEINE_MS(200) : 0);
        end(&t, v, SEINE_OK, 200, due);
    }
    CHECK_EQ(waiting(&t), 0);
    CHECK_EQ(w.tried, 5);
    CHECK_EQ(w.asked, 5);
    CHECK_EQ(sn_scheduler_when(t.s, SEINE_SECS(1)), SEINE_NEVER);
    close_well(&w, &t);
}

TEST(visits_that_were_added_go_before_urls_of_the_frontier)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();

    o.mine = true;
    open_well(&w, &t, &o);
    dig(&w, 'a', 1, 0);
    sn_visit *own = add(&t, "http://a.example/own", 0);
    CHECK(next(&t, 0) == own);
    CHECK_EQ(w.asked, 0);
    sn_visit *v = next(&t, 0);
    CHECK(v && v != own);
    end(&t, own, SEINE_OK, 200, 0);
    end(&t, v, SEINE_OK, 200, 0);
    close_well(&w, &t);
}

TEST(a_host_with_many_urls_costs_the_others_nothing)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();
    int a = 0, b = 0;

    o.mine = true;
    open_well(&w, &t, &o);
    uint32_t host = dig(&w, 'a', 100000, 0);
    dig(&w, 'b', 20, 0);
    for (int i = 0; i < 40; i++) {
        sn_visit *v = next(&t, 0);
        if (v->host == host)
            a++;
        else
            b++;
        CHECK(a - b <= 1 && b - a <= 1);
        end(&t, v, SEINE_OK, 200, 0);
    }
    close_well(&w, &t);
}

TEST(what_is_not_to_be_asked_is_gone_and_takes_no_token)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();

    open_well(&w, &t, &o);
    uint32_t host = dig(&w, 'a', 7, 0);
    w.junk[host] = 7;
    CHECK(!next(&t, 0));
    CHECK_EQ(waiting(&t), 0);
    CHECK_EQ(w.tried, 0);
    CHECK_EQ(sn_scheduler_when(t.s, 0), SEINE_NEVER);
    dig(&w, 'a', 1, 0);
    sn_visit *v = next(&t, 0);
    CHECK(v != NULL);
    end(&t, v, SEINE_OK, 200, 0);
    close_well(&w, &t);
}

TEST(what_comes_later_waits_for_an_end_of_its_host)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();

    o.mine = true;
    open_well(&w, &t, &o);
    uint32_t host = dig(&w, 'a', 2, 0);
    sn_visit *v = next(&t, 0);
    CHECK_EQ(busy(&t, host), 1);
    w.later[host] = true;
    CHECK(!next(&t, 0));
    uint32_t asked = w.asked;
    CHECK(!next(&t, 1));
    CHECK_EQ(w.asked, asked); /* nobody asks in vain */
    CHECK_EQ(sn_scheduler_when(t.s, 1), SEINE_NEVER);
    w.later[host] = false;
    CHECK(!next(&t, 2));
    end(&t, v, SEINE_OK, 200, 3);
    CHECK_EQ(busy(&t, host), 0);
    v = next(&t, 3);
    CHECK(v != NULL);
    end(&t, v, SEINE_OK, 200, 3);
    close_well(&w, &t);
}

TEST(what_comes_later_is_asked_for_again_when_there_is_more_work)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();

    o.mine = true;
    open_well(&w, &t, &o);
    uint32_t host = dig(&w, 'a', 2, 0);
    sn_visit *v = next(&t, 0);
    w.later[host] = true;
    CHECK(!next(&t, 0));
    w.later[host] = false;
    dig(&w, 'a', 1, 1);
    sn_visit *second = next(&t, 1);
    CHECK(second != NULL);
    end(&t, v, SEINE_OK, 200, 1);
    end(&t, second, SEINE_OK, 200, 1);
    close_well(&w, &t);
}

TEST(a_retry_wakes_a_host_whose_urls_come_later)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();

    o.mine = true;
    open_well(&w, &t, &o);
    uint32_t host = dig(&w, 'a', 2, 0);
    sn_visit *v = next(&t, 0);
    w.later[host] = true;
    again(&t, v, SEINE_SECS(1), 0);
    CHECK_EQ(busy(&t, host), 1);
    CHECK(!next(&t, 0));
    CHECK_EQ(sn_scheduler_when(t.s, 0), SEINE_SECS(1));
    CHECK(!next(&t, SEINE_SECS(1) - 1));
    CHECK(next(&t, SEINE_SECS(1)) == v);
    w.later[host] = false;
    end(&t, v, SEINE_OK, 200, SEINE_SECS(1));
    v = next(&t, SEINE_SECS(1));
    CHECK(v != NULL);
    end(&t, v, SEINE_OK, 200, SEINE_SECS(1));
    close_well(&w, &t);
}

TEST(robots_txt_goes_before_retries_whatever_came_first)
{
    shard t;
    seine_fetch_opts o = polite();
    sn_visit *order[5];

    o.mine = true;
    open_shard(&t, &o);
    sn_visit *page = add(&t, "http://a.example/page", 0);
    CHECK(next(&t, 0) == page);
    again(&t, page, 0, 0);
    sn_visit *first = add_robots(&t, "http://a.example/robots.txt", 0);
    sn_visit *second = add_robots(&t, "http://a.example/robots.txt", 0);
    sn_visit *redirect = visit(&t, "http://a.example/there");
    redirect->lane = SN_HIGH;
    CHECK_EQ(sn_scheduler_add(t.s, redirect, 0), SEINE_OK);
    sn_visit *third = add_robots(&t, "http://a.example/robots.txt", 0);
    sn_visit *const want[] = {first, second, third, page, redirect};
    for (int i = 0; i < 5; i++) {
        order[i] = next(&t, 0);
        CHECK(order[i] == want[i]);
    }
    for (int i = 0; i < 5; i++)
        end(&t, order[i], SEINE_OK, 200, 0);
    close_shard(&t);
}

TEST(a_crawl_delay_is_the_floor_from_the_last_start_on)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();

    open_well(&w, &t, &o);
    uint32_t host = dig(&w, 'a', 4, 0);
    sn_visit *v = next(&t, 0);
    set_delay(&t, host, w.n[host], SEINE_SECS(2), SEINE_MS(150));
    end(&t, v, SEINE_OK, 200, SEINE_MS(150));
    for (int i = 1; i < 4; i++) {
        CHECK(!next(&t, SEINE_SECS(2) * i - 1));
        CHECK_EQ(waiting_for(&t, SEINE_WAIT_CRAWL_DELAY), (uint32_t)(4 - i));
        v = next(&t, SEINE_SECS(2) * i);
        CHECK(v != NULL);
        CHECK_EQ(v->waited[SEINE_WAIT_CRAWL_DELAY], SEINE_SECS(2));
        end(&t, v, SEINE_OK, 200, SEINE_SECS(2) * i);
    }
    close_well(&w, &t);
}

TEST(a_crawl_delay_makes_it_one_at_a_time)
{
    static const struct {
        bool adaptive, late; /* the host was asked before */
    } rows[] = {{false, false}, {true, false}, {false, true}, {true, true}};

    EACH_ROW(i, rows) {
        shard t;
        well w;
        seine_fetch_opts o = polite();

        o.adaptive = rows[i].adaptive;
        o.host_rate.count = 0;
        open_well(&w, &t, &o);
        uint32_t host = dig(&w, 'a', rows[i].late ? 5 : 3, 0);
        if (rows[i].late) { /* two at once are fine then */
            sn_visit *first = next(&t, 0);
            sn_scheduler_sent(t.s, first, 0);
            sn_visit *second = next(&t, SEINE_SECS(1));
            CHECK(second != NULL);
            end(&t, first, SEINE_OK, 200, SEINE_SECS(1));
            end(&t, second, SEINE_OK, 200, SEINE_SECS(1));
        }
        set_delay(&t, host, w.n[host], SEINE_SECS(1), SEINE_SECS(1));
        sn_visit *v = next(&t, SEINE_SECS(2));
        sn_scheduler_sent(t.s, v, SEINE_SECS(2));
        CHECK(!next(&t, SEINE_SECS(9)));
        CHECK_EQ(waiting_for(&t, SEINE_WAIT_CONCURRENCY), 2);
        end(&t, v, SEINE_OK, 200, SEINE_SECS(9));
        v = next(&t, SEINE_SECS(9));
        CHECK(v != NULL);
        end(&t, v, SEINE_OK, 200, SEINE_SECS(9));
        close_well(&w, &t);
    }
}

TEST(a_crawl_delay_below_the_rate_is_no_brake_and_one_taken_back_neither)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();

    open_well(&w, &t, &o);
    uint32_t host = dig(&w, 'a', 3, 0);
    set_delay(&t, host, w.n[host], SEINE_MS(10), 0);
    end(&t, next(&t, 0), SEINE_OK, 200, 0);
    CHECK(!next(&t, SEINE_MS(200) - 1));
    CHECK_EQ(waiting_for(&t, SEINE_WAIT_HOST_RATE), 2);
    end(&t, next(&t, SEINE_MS(200)), SEINE_OK, 200, SEINE_MS(200));
    set_delay(&t, host, w.n[host], SEINE_SECS(100), SEINE_MS(400));
    CHECK(!next(&t, SEINE_SECS(100) + SEINE_MS(200) - 1));
    sn_visit *v = next(&t, SEINE_SECS(100) + SEINE_MS(200));
    CHECK(v != NULL);
    set_delay(&t, host, w.n[host], 0, SEINE_SECS(101));
    end(&t, v, SEINE_OK, 200, SEINE_SECS(101));
    close_well(&w, &t);
}

TEST(a_crawl_delay_survives_the_folding_of_the_guards)
{
    shard t;
    seine_fetch_opts o = polite();
    char url[64], mem[64];
    seine_url slow;
    uint32_t host;

    open_shard(&t, &o);
    seine_url_init(&slow, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&slow, "http://slow.example/", 20, NULL), SEINE_OK);
    CHECK_EQ(sn_hosts_find(sn_scheduler_host_table(t.s), &slow, 0, &host), SEINE_OK);
    set_delay(&t, host, 0, SEINE_SECS(3), 0);
    for (int i = 0; i < 5000; i++) { /* so many that idle ones fold */
        snprintf(url, sizeof url, "http://h%d.example/", i);
        add(&t, url, 0);
        sn_visit *v = next(&t, 0);
        if (i < 4500) {
            end(&t, v, SEINE_E_HTTP_BUSY, 500, 0); /* something to remember */
            continue;
        }
        end(&t, v, SEINE_OK, 200, 0);
    }
    for (int i = 0; i < 3; i++) {
        add(&t, "http://slow.example/", SEINE_SECS(3) * i);
        if (i > 0)
            CHECK(!next(&t, SEINE_SECS(3) * i - 1));
        sn_visit *v = next(&t, SEINE_SECS(3) * i);
        CHECK(v != NULL);
        end(&t, v, SEINE_OK, 200, SEINE_SECS(3) * i);
        add(&t, "http://slow.example/", SEINE_SECS(3) * i + 1);
        CHECK(!next(&t, SEINE_SECS(3) * (i + 1) - 1));
        v = sn_scheduler_drain(t.s);
        sn_visits_give(t.shared.visits, v);
    }
    close_shard(&t);
}

TEST(urls_of_a_parked_host_are_told_once_and_again_when_more_come)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();
    seine_err why;
    uint32_t host, which;

    open_well(&w, &t, &o);
    host = dig(&w, 'a', 4, 0);
    CHECK(!sn_scheduler_parked_host(t.s, &which, &why));
    sn_visit *v = next(&t, 0);
    v->end.fault.retry_after = SEINE_SECS(301);
    end(&t, v, SEINE_E_HTTP_BUSY, 503, 0);
    CHECK_EQ(sn_scheduler_when(t.s, 0), 0);
    CHECK(sn_scheduler_parked_host(t.s, &which, &why));
    CHECK_EQ(which, host);
    CHECK_EQ(why, SEINE_E_RETRY_AFTER_TOO_LONG);
    CHECK(!sn_scheduler_parked_host(t.s, &which, &why));
    CHECK_EQ(waiting(&t), 3);
    say(&w, host, 0); /* as many as before: nothing is new */
    CHECK(!sn_scheduler_parked_host(t.s, &which, &why));
    w.n[host] = 0;
    say(&w, host, 0);
    CHECK_EQ(waiting(&t), 0);
    CHECK(!next(&t, SEINE_SECS(1000)));
    CHECK_EQ(sn_scheduler_when(t.s, SEINE_SECS(1000)), SEINE_NEVER);
    dig(&w, 'a', 1, SEINE_SECS(1000));
    dig(&w, 'a', 1, SEINE_SECS(1000));
    CHECK(sn_scheduler_parked_host(t.s, &which, &why));
    CHECK(!sn_scheduler_parked_host(t.s, &which, &why));
    close_well(&w, &t);
}

TEST(a_host_parked_without_urls_at_the_frontier_is_not_told)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();
    seine_err why;
    uint32_t which;

    open_well(&w, &t, &o);
    dig(&w, 'a', 1, 0);
    sn_visit *v = next(&t, 0);
    v->end.fault.retry_after = SEINE_SECS(301);
    end(&t, v, SEINE_E_HTTP_BUSY, 503, 0);
    CHECK(!sn_scheduler_parked_host(t.s, &which, &why));
    close_well(&w, &t);
}

TEST(without_a_free_visit_nothing_is_taken_and_nobody_spins)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();

    open_well(&w, &t, &o);
    dig(&w, 'a', 2, 0);
    dig(&w, 'b', 2, 0);
    w.empty = true;
    CHECK(!next(&t, 0));
    CHECK_EQ(w.tried, 1); /* what one was refused the other need not ask for */
    CHECK(sn_scheduler_is_starved(t.s));
    CHECK_EQ(t.shared.starving, 1);
    CHECK_EQ(seine_throttle_in_flight(&t.shared.in_flight), 0);
    CHECK_EQ(sn_scheduler_when(t.s, 0), SEINE_MS(100)); /* it may be for want of memory */
    CHECK_EQ(waiting(&t), 4);
    sn_visit *other = add(&t, "http://c.example/", 0); /* who brings one is not held */
    CHECK(next(&t, 0) == other);
    w.empty = false;
    end(&t, other, SEINE_OK, 200, 1);
    sn_visit *a = next(&t, 1), *b = next(&t, 1);
    CHECK(a && b && a->host != b->host); /* at once: no token had been taken */
    CHECK(!sn_scheduler_is_starved(t.s));
    CHECK_EQ(t.shared.starving, 0);
    CHECK(!next(&t, SEINE_MS(200)));
    end(&t, a, SEINE_OK, 200, SEINE_MS(200));
    end(&t, b, SEINE_OK, 200, SEINE_MS(200));
    close_well(&w, &t);
}

TEST(a_retry_of_a_host_without_a_free_visit_is_not_held)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();

    o.mine = true;
    open_well(&w, &t, &o);
    for (int c = 'a'; c < 'e'; c++)
        dig(&w, (char)c, 2, 0);
    sn_visit *v = next(&t, 0);
    w.empty = true;
    again(&t, v, SEINE_SECS(1), 0);
    CHECK(!next(&t, 0));
    CHECK_EQ(sn_scheduler_when(t.s, 0), SEINE_MS(100));
    CHECK(next(&t, SEINE_SECS(1)) == v);
    end(&t, v, SEINE_OK, 200, SEINE_SECS(1));
    close_well(&w, &t);
}

TEST(a_visit_that_comes_to_a_host_without_a_free_one_is_not_held)
{
    for (int c = 'a'; c < 'd'; c++) {
        shard t;
        well w;
        seine_fetch_opts o = polite();
        char url[] = "http://?.example/own";

        o.mine = true;
        open_well(&w, &t, &o);
        for (int each = 'a'; each < 'd'; each++)
            dig(&w, (char)each, 2, 0);
        w.empty = true;
        CHECK(!next(&t, 0));
        url[7] = (char)c;
        sn_visit *own = add(&t, url, 0);
        CHECK(next(&t, 0) == own);
        end(&t, own, SEINE_OK, 200, 0);
        close_well(&w, &t);
    }
}

TEST(no_visit_for_a_probe_is_no_failure_of_the_host)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();
    seine_err why;

    o.mine = true;
    open_well(&w, &t, &o);
    dig(&w, 'a', 10, 0);
    for (int i = 0; i < 5; i++)
        end(&t, next(&t, 0), SEINE_E_CONN_RESET, 0, 0);
    CHECK(!next(&t, SEINE_SECS(60) - 1));
    w.empty = true;
    CHECK(!next(&t, SEINE_SECS(60)));
    w.empty = false;
    sn_visit *probe = next(&t, SEINE_SECS(61));
    CHECK(probe != NULL);
    CHECK(!sn_scheduler_parked(t.s, &why));
    end(&t, probe, SEINE_OK, 200, SEINE_SECS(61));
    sn_visit *v = next(&t, SEINE_SECS(61));
    CHECK(v != NULL);
    end(&t, v, SEINE_OK, 200, SEINE_SECS(61));
    close_well(&w, &t);
}

TEST(in_a_crawl_only_given_hosts_are_mine)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();
    seine_crawl_opts crawl = SEINE_CRAWL_OPTS;

    o.mine = true;
    o.crawl = &crawl;
    open_well(&w, &t, &o);
    uint32_t found = dig(&w, 'a', 2, 0);
    sn_visit *v = next(&t, 0);
    sn_scheduler_sent(t.s, v, 0);
    CHECK(!next(&t, SEINE_MS(200) - 1));
    sn_hosts_set_given(sn_scheduler_host_table(t.s), found, SEINE_MS(1));
    CHECK(!next(&t, SEINE_MS(200) - 1)); /* what was agreed on stays */
    sn_visit *second = next(&t, SEINE_MS(200));
    CHECK(second != NULL);
    dig(&w, 'a', 8, SEINE_MS(200));
    for (int i = 0; i < 8; i++) { /* from here on as fast as it goes */
        sn_visit *fast = next(&t, SEINE_MS(200));
        CHECK(fast != NULL);
        end(&t, fast, SEINE_OK, 200, SEINE_MS(200));
    }
    end(&t, v, SEINE_OK, 200, SEINE_MS(200));
    end(&t, second, SEINE_OK, 200, SEINE_MS(200));
    close_well(&w, &t);
}

/* The wheel does not notice a time that is lowered: it said "now" for a whole second, and
 * gave nothing. */
TEST(a_host_that_waits_when_it_is_given_has_a_moment_to_wait_for)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();
    seine_crawl_opts crawl = SEINE_CRAWL_OPTS;

    o.mine = true;
    o.crawl = &crawl;
    open_well(&w, &t, &o);
    atomic_store(&t.shared.earliest, SEINE_SECS(1)); /* the run goes on with a job */
    uint32_t found = dig(&w, 'a', 1, 0);
    CHECK(!next(&t, 0));
    sn_hosts_set_given(sn_scheduler_host_table(t.s), found, SEINE_MS(1));
    CHECK(!next(&t, SEINE_MS(1)));
    CHECK_EQ(sn_scheduler_when(t.s, SEINE_MS(1)), SEINE_SECS(1));
    sn_visit *v = next(&t, SEINE_SECS(1));
    CHECK(v != NULL);
    end(&t, v, SEINE_OK, 200, SEINE_SECS(1));
    close_well(&w, &t);
}

TEST(a_host_found_by_a_crawl_begins_with_one_request_a_second)
{
    shard t;
    well w;
    seine_fetch_opts o = polite();
    seine_crawl_opts crawl = SEINE_CRAWL_OPTS;

    o.adaptive = true;
    o.crawl = &crawl;
    open_well(&w, &t, &o);
    dig(&w, 'a', 2, 0);
    end(&t, next(&t, 0), SEINE_OK, 200, 0);
    CHECK(!next(&t, SEINE_SECS(1) - 1));
    sn_visit *v = next(&t, SEINE_MS(1126)); /* an eighth of jitter */
    CHECK(v != NULL);
    end(&t, v, SEINE_OK, 200, SEINE_MS(1126));
    close_well(&w, &t);
}

TEST(counts_balance_with_a_frontier_whatever_happens)
{
    sn_rng r = sn_rng_seed(check_seed());
    shard t;
    well w;
    seine_fetch_opts o = polite();
    sn_visit *out[8];
    int n_out = 0;
    uint32_t n_in = 0;
    seine_time now = 0;

    o.adaptive = true;
    o.concurrency = 8;
    o.queue = 9;
    open_well(&w, &t, &o);
    for (int i = 0; i < 20000; i++) {
        uint32_t host = dig(&w, (char)('a' + sn_rng_below(&r, 5)), 0, now);
        uint64_t dice = sn_rng_below(&r, 10);
        sn_visit *v = NULL;
        if (dice < 2 && n_in < 100) {
            uint32_t n = 1 + (uint32_t)sn_rng_below(&r, 3);
            w.n[host] += n;
            n_in += n;
            say(&w, host, now);
        } else if (dice < 5 && n_out < 8) {
            v = next(&t, now);
            if (v) {
                out[n_out++] = v;
                n_in--;
            }
        } else if (dice < 7 && n_out > 0) {
            v = out[--n_out];
            v->state = SN_IN_FLIGHT;
            v->end.fault.sent = true;
            bool bad = sn_rng_below(&r, 3) == 0;
            v->end.fault.code = bad ? SEINE_E_CONN_RESET : SEINE_OK;
            v->end.fault.status = bad ? 0 : 200;
            w.later[v->host] = false;
            sn_scheduler_end(t.s, v, now);
            if (bad && sn_rng_below(&r, 2)) {
                seine_time at = now + (seine_time)sn_rng_below(&r, 3000000000u);
                CHECK_EQ(sn_scheduler_again(t.s, v, at, SEINE_WAIT_BACKOFF, now),
                         SEINE_OK);
                n_in++;
            } else {
                sn_visits_give(t.shared.visits, v);
            }
        } else if (dice == 7) {
            w.later[host] = busy(&t, host) > 0 && sn_rng_below(&r, 2);
        } else {
            now += (seine_time)sn_rng_below(&r, SEINE_MS(300));
        }
        seine_err why;
        while ((v = sn_scheduler_parked(t.s, &why))) {
            n_in--;
            sn_visits_give(t.shared.visits, v);
        }
        while (sn_scheduler_parked_host(t.s, &host, &why)) {
            n_in -= w.n[host];
            w.n[host] = 0;
            say(&w, host, now);
        }
        uint32_t by[SEINE_WAIT_ROOM], sum = 0;
        CHECK_EQ(sn_scheduler_waiting(t.s, by), n_in);
        for (int k = 0; k < SEINE_WAIT_ROOM; k++)
            sum += by[k];
        CHECK_EQ(sum, n_in);
    }
    while (n_out > 0)
        end(&t, out[--n_out], SEINE_OK, 200, now);
    close_well(&w, &t);
}
