/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/scheduler.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "diag_line.h"
#include "engine/host.h"
#include "failing.h"
#include "shard.h"

static bool
is_host(const sn_visit *v, char letter)
{
    return seine_url_host(&v->url).ptr[0] == letter;
}

static void
keep_host(const seine_fetch_host *host, void *arg)
{
    *(seine_fetch_host *)arg = *host;
}

TEST(starts_at_one_host_are_never_closer_than_its_rate_allows)
{
    shard t;
    seine_fetch_opts o = polite();

    open_shard(&t, &o);
    for (int i = 0; i < 10; i++)
        add(&t, "http://a.example/", 0);
    for (int i = 0; i < 10; i++) {
        seine_time due = SEINE_MS(200) * i;
        if (i > 0) {
            CHECK(!next(&t, due - 1));
            CHECK(sn_scheduler_when(t.s, due - 1) <= due);
        }
        sn_visit *v = next(&t, due);
        CHECK(v != NULL);
        CHECK_EQ(v->waited[SEINE_WAIT_HOST_RATE], due);
        CHECK_EQ(v->waited[SEINE_WAIT_QUEUE], 0);
        end(&t, v, SEINE_OK, 200, due);
    }
    CHECK_EQ(sn_scheduler_when(t.s, SEINE_SECS(2)), SEINE_NEVER);
    close_shard(&t);
}

TEST(the_next_start_keeps_its_distance_from_when_the_last_one_left)
{
    shard t;
    seine_fetch_opts o = polite();

    open_shard(&t, &o);
    for (int i = 0; i < 3; i++)
        add(&t, "http://a.example/", 0);
    sn_visit *first = next(&t, 0);
    CHECK(first->is_leaving);
    sn_scheduler_sent(t.s, first, SEINE_MS(30)); /* a name, a connection, TLS */
    CHECK(!first->is_leaving);
    CHECK(!next(&t, SEINE_MS(230) - 1));
    CHECK(sn_scheduler_when(t.s, SEINE_MS(230) - 1) <= SEINE_MS(230));
    sn_visit *second = next(&t, SEINE_MS(230));
    CHECK(second != NULL);
    sn_scheduler_sent(t.s, second, SEINE_MS(230)); /* on the same connection */
    sn_scheduler_sent(t.s, second, SEINE_MS(300)); /* said twice is said once */
    CHECK(!next(&t, SEINE_MS(430) - 1));
    sn_visit *third = next(&t, SEINE_MS(430));
    CHECK(third != NULL);
    end(&t, first, SEINE_OK, 200, SEINE_MS(500));
    end(&t, second, SEINE_OK, 200, SEINE_MS(500));
    end(&t, third, SEINE_OK, 200, SEINE_MS(500));
    close_shard(&t);
}

TEST(nothing_starts_while_a_request_has_not_left)
{
    shard t;
    seine_fetch_opts o = polite();

    open_shard(&t, &o);
    for (int i = 0; i < 3; i++)
        add(&t, "http://a.example/", 0);
    sn_visit *first = next(&t, 0);
    CHECK(!next(&t, SEINE_SECS(3)));
    CHECK_EQ(sn_scheduler_when(t.s, SEINE_SECS(3)), SEINE_NEVER);
    sn_scheduler_sent(t.s, first, SEINE_SECS(3));
    CHECK(!next(&t, SEINE_MS(3200) - 1));
    sn_visit *second = next(&t, SEINE_MS(3200));
    CHECK(second != NULL);
    CHECK_EQ(second->waited[SEINE_WAIT_HOST_RATE], SEINE_MS(3200));
    end(&t, first, SEINE_OK, 200, SEINE_MS(3300));
    CHECK(!next(&t, SEINE_SECS(8)));
    end(&t, second, SEINE_E_CONNECT_TIMEOUT, 0, SEINE_SECS(9)); /* it never left */
    sn_visit *third = next(&t, SEINE_SECS(9));
    CHECK(third != NULL);
    end(&t, third, SEINE_OK, 200, SEINE_SECS(9));
    close_shard(&t);
}

TEST(below_20_ms_apart_it_does_not_matter_when_a_request_leaves)
{
    static const seine_span around[] = {-1, 0, 1};

    EACH_ROW(i, around) {
        shard t;
        seine_fetch_opts o = polite();

        o.host_rate = (seine_rate){1, SEINE_MS(20) + around[i], 1};
        open_shard(&t, &o);
        add(&t, "http://a.example/", 0);
        add(&t, "http://a.example/", 0);
        sn_visit *first = next(&t, 0);
        CHECK_EQ(first->is_leaving, around[i] >= 0);
        sn_visit *second = next(&t, SEINE_SECS(1));
        CHECK_EQ(second == NULL, around[i] >= 0);
        end(&t, first, SEINE_OK, 200, SEINE_SECS(1));
        if (second)
            end(&t, second, SEINE_OK, 200, SEINE_SECS(1));
        close_shard(&t);
    }
}

TEST(host_stats_tell_the_gaps_a_server_sees)
{
    shard t;
    seine_fetch_opts o = polite();
    seine_fetch_host got = {0};

    open_shard(&t, &o);
    add(&t, "http://a.example/", 0);
    add(&t, "http://a.example/", 0);
    sn_visit *v = next(&t, 0);
    sn_scheduler_sent(t.s, v, SEINE_MS(30));
    end(&t, v, SEINE_OK, 200, SEINE_MS(40));
    v = next(&t, SEINE_MS(230));
    sn_scheduler_sent(t.s, v, SEINE_MS(235));
    end(&t, v, SEINE_OK, 200, SEINE_MS(240));
    sn_scheduler_hosts(t.s, SEINE_MS(240), keep_host, &got);
    CHECK_EQ(got.min_gap, SEINE_MS(205));
    CHECK_EQ(got.requests, 2);
    CHECK_EQ(got.max_in_1s, 2);
    close_shard(&t);
}

TEST(a_host_with_many_urls_costs_the_others_nothing)
{
    shard t;
    seine_fetch_opts o = polite();
    int a = 0, b = 0;

    o.mine = true;
    open_shard(&t, &o);
    for (int i = 0; i < 500; i++)
        add(&t, "http://a.example/", 0);
    for (int i = 0; i < 20; i++)
        add(&t, "http://b.example/", 0);
    for (int i = 0; i < 40; i++) {
        sn_visit *v = next(&t, 0);
        if (is_host(v, 'a'))
            a++;
        else
            b++;
        CHECK(a - b <= 1 && b - a <= 1);
        end(&t, v, SEINE_OK, 200, 0);
    }
    close_shard(&t);
}

TEST(no_more_than_concurrency_in_flight_and_an_end_lets_the_next_start)
{
    shard t;
    seine_fetch_opts o = polite();
    sn_visit *out[3];

    o.mine = true;
    o.concurrency = 3;
    open_shard(&t, &o);
    for (int i = 0; i < 4; i++)
        add(&t, "http://a.example/", 0);
    for (int i = 0; i < 3; i++)
        out[i] = next(&t, 0);
    CHECK(!next(&t, 0));
    CHECK(sn_scheduler_is_starved(t.s));
    CHECK_EQ(t.shared.starving, 1);
    CHECK_EQ(sn_scheduler_when(t.s, 0), SEINE_NEVER);
    end(&t, out[0], SEINE_OK, 200, 5);
    sn_visit *v = next(&t, 5);
    CHECK(v != NULL);
    CHECK_EQ(v->waited[SEINE_WAIT_QUEUE], 5);
    CHECK_EQ(t.shared.starving, 0);
    end(&t, v, SEINE_OK, 200, 6);
    end(&t, out[1], SEINE_OK, 200, 6);
    end(&t, out[2], SEINE_OK, 200, 6);
    close_shard(&t);
}

TEST(per_host_holds_one_host_and_not_the_other)
{
    shard t;
    seine_fetch_opts o = polite();

    o.host_rate.count = 0;
    o.per_host = 2;
    open_shard(&t, &o);
    for (int i = 0; i < 3; i++)
        add(&t, "http://a.example/", 0);
    sn_visit *one = next(&t, 0), *two = next(&t, 0);
    CHECK(!next(&t, 0));
    add(&t, "http://b.example/", 0);
    sn_visit *other = next(&t, 0);
    CHECK(other && is_host(other, 'b'));
    CHECK(!next(&t, 0));
    end(&t, one, SEINE_OK, 200, 1);
    sn_visit *three = next(&t, 1);
    CHECK(three && is_host(three, 'a'));
    end(&t, two, SEINE_OK, 200, 1);
    end(&t, three, SEINE_OK, 200, 1);
    end(&t, other, SEINE_OK, 200, 1);
    close_shard(&t);
}

TEST(the_rate_over_all_hosts_holds_them_all)
{
    shard t;
    seine_fetch_opts o = polite();

    o.mine = true;
    o.rate = (seine_rate){100, SEINE_SECS(1), 1};
    open_shard(&t, &o);
    add(&t, "http://a.example/", 0);
    sn_visit *b = add(&t, "http://b.example/", 0);
    end(&t, next(&t, 0), SEINE_OK, 200, 0);
    CHECK(!next(&t, 0));
    CHECK_EQ(sn_scheduler_when(t.s, 0), SEINE_MS(10));
    CHECK(!next(&t, SEINE_MS(10) - 1));
    CHECK(next(&t, SEINE_MS(10)) == b);
    CHECK_EQ(b->waited[SEINE_WAIT_RATE], SEINE_MS(10));
    end(&t, b, SEINE_OK, 200, SEINE_MS(10));
    close_shard(&t);
}

static void
take_row(const seine_fetch_host *h, void *arg)
{
    *(seine_fetch_host *)arg = *h;
}

/* A start each half a second for all, of which the host itself forbids a fifth. */
TEST(a_host_is_limited_by_what_it_waited_for_longest)
{
    shard t;
    seine_fetch_opts o = polite();
    seine_fetch_host row;

    o.rate = (seine_rate){2, SEINE_SECS(1), 1};
    open_shard(&t, &o);
    for (int i = 0; i < 4; i++)
        add(&t, "http://a.example/", 0);
    for (int i = 0; i < 4; i++)
        for (int ms = 0; ms < 500; ms += 100) {
            seine_time now = SEINE_MS(500 * i + ms);
            sn_visit *v = next(&t, now);

            CHECK(!v == (ms > 0));
            if (v)
                end(&t, v, SEINE_OK, 200, now);
        }
    sn_scheduler_hosts(t.s, SEINE_SECS(2), take_row, &row);
    CHECK_EQ(row.limited_by, SEINE_WAIT_RATE);
    close_shard(&t);
}

/* As its twin may do in between. */
TEST(a_host_whose_bucket_was_emptied_holds_nobody_else)
{
    shard t;
    seine_fetch_opts o = polite();

    open_shard(&t, &o);
    sn_visit *a = add(&t, "http://a.example/", 0);
    add(&t, "http://b.example/", 0);
    sn_guards *g = sn_hosts_guards(&t.s->hosts, a->host);
    CHECK(seine_limiter_allow(&g->limiter, 0, 1));
    sn_visit *b = next(&t, 0);
    CHECK(b && is_host(b, 'b'));
    CHECK(!next(&t, SEINE_MS(200) - 1));
    CHECK(next(&t, SEINE_MS(200)) == a);
    CHECK_EQ(a->waited[SEINE_WAIT_HOST_RATE], SEINE_MS(200));
    CHECK_EQ(a->waited[SEINE_WAIT_RATE], 0);
    end(&t, a, SEINE_OK, 200, SEINE_MS(200));
    if (b)
        end(&t, b, SEINE_OK, 200, SEINE_MS(200));
    close_shard(&t);
}

/* The wish is longer than the pause of the breaker. */
TEST(a_breaker_that_opens_on_503_stays_open_as_long_as_the_server_wishes)
{
    static const struct {
        uint16_t status;
        seine_span wish;
        bool is_held;
    } rows[] = {{503, SEINE_SECS(250), true}, {500, SEINE_SECS(250), false}};

    EACH_ROW(i, rows) {
        shard t;
        seine_fetch_opts o = polite();
        seine_breaker_stats stats;
        sn_visit *out[5];

        o.mine = true;
        open_shard(&t, &o);
        for (int n = 0; n < 6; n++)
            add(&t, "http://a.example/", 0);
        for (int n = 0; n < 5; n++)
            out[n] = next(&t, 0);
        const sn_guards *g = sn_hosts_guards(&t.s->hosts, out[0]->host);
        for (int n = 0; n < 5; n++) {
            out[n]->end.fault.retry_after = rows[i].wish;
            end(&t, out[n], SEINE_E_HTTP_BUSY, rows[i].status, 1);
        }
        seine_breaker_stats_get(&g->breaker, &stats);
        CHECK_EQ(stats.state, SEINE_BREAKER_OPEN);
        CHECK_EQ(stats.open_until >= 1 + rows[i].wish, rows[i].is_held);
        close_shard(&t);
    }
}

TEST(every_2xx_is_a_sign_that_asking_is_not_in_vain)
{
    static const uint16_t statuses[] = {200, 204, 299};

    EACH_ROW(i, statuses) {
        shard t;
        seine_fetch_opts o = polite();

        open_shard(&t, &o);
        add(&t, "http://a.example/", 0);
        sn_visit *v = next(&t, 0);
        sn_guards *g = sn_hosts_guards(&t.s->hosts, v->host);
        g->is_vain = true;
        end(&t, v, SEINE_OK, statuses[i], 1);
        CHECK(!g->is_vain);
        close_shard(&t);
    }
}

TEST(host_stats_count_requests_that_never_left_as_failed)
{
    shard t;
    seine_fetch_opts o = polite();
    seine_fetch_host got = {0};

    open_shard(&t, &o);
    add(&t, "http://a.example/", 0);
    sn_visit *v = next(&t, 0);
    v->state = SN_IN_FLIGHT;
    v->end.fault.code = SEINE_E_CONNECT_REFUSED;
    v->is_asked = true;
    sn_scheduler_end(t.s, v, 1);
    sn_visits_give(t.shared.visits, v);
    sn_scheduler_hosts(t.s, 1, keep_host, &got);
    CHECK_EQ(got.requests, 1);
    CHECK_EQ(got.failed, 1);
    close_shard(&t);
}

TEST(t19_a_dead_host_sees_threshold_and_concurrency_minus_one_and_a_probe)
{
    shard t;
    seine_fetch_opts o = polite();
    sn_visit *out[5];
    seine_err why;
    int starts = 0, parked = 0;

    o.mine = true;
    o.concurrency = 5;
    open_shard(&t, &o);
    for (int i = 0; i < 900; i++)
        add(&t, "http://a.example/", 0);
    for (seine_time now = 0; now < SEINE_SECS(1); now += SEINE_MS(1)) {
        int n = 0;
        while (n < 5 && (out[n] = next(&t, now)))
            n++;
        starts += n;
        while (n > 0)
            end(&t, out[--n], SEINE_E_CONNECT_REFUSED, 0, now);
    }
    CHECK(starts <= 9);
    CHECK(!sn_scheduler_parked(t.s, &why));
    CHECK(!next(&t, SEINE_SECS(60) - 1));
    sn_visit *probe = next(&t, SEINE_SECS(61));
    CHECK(probe != NULL);
    CHECK(!next(&t, SEINE_SECS(61)));
    end(&t, probe, SEINE_E_CONNECT_REFUSED, 0, SEINE_SECS(61));
    for (sn_visit *v; (v = sn_scheduler_parked(t.s, &why)); parked++) {
        CHECK_EQ(why, SEINE_E_BREAKER);
        sn_visits_give(t.shared.visits, v);
    }
    CHECK_EQ(parked + starts + 1, 900);
    close_shard(&t);
}

TEST(the_end_of_a_probe_lets_the_host_go_on_at_once)
{
    shard t;
    seine_fetch_opts o = polite();
    seine_event event;
    int half = 0, closed = 0;

    o.mine = true;
    open_shard(&t, &o);
    for (int i = 0; i < 8; i++)
        add(&t, "http://a.example/", 0);
    for (int i = 0; i < 5; i++)
        end(&t, next(&t, 0), SEINE_E_CONN_RESET, 0, 0);
    CHECK(!next(&t, 0));
    sn_visit *probe = next(&t, SEINE_SECS(60));
    CHECK(!next(&t, SEINE_SECS(60)));
    end(&t, probe, SEINE_OK, 200, SEINE_SECS(60) + 7);
    sn_visit *v = next(&t, SEINE_SECS(60) + 7);
    CHECK(v != NULL);
    CHECK(v->waited[SEINE_WAIT_BREAKER] > SEINE_SECS(59));
    end(&t, v, SEINE_OK, 200, SEINE_SECS(60) + 7);
    while (sn_scheduler_event(t.s, &event)) {
        half += strcmp(event.name, "breaker.half_open") == 0;
        closed += strcmp(event.name, "breaker.closed") == 0;
    }
    CHECK_EQ(half, 1);
    CHECK_EQ(closed, 1);
    close_shard(&t);
}

TEST(a_retry_waits_for_its_moment_and_then_goes_first)
{
    shard t;
    seine_fetch_opts o = polite();

    o.mine = true;
    open_shard(&t, &o);
    sn_visit *v = add(&t, "http://a.example/retry", 0);
    CHECK(next(&t, 0) == v);
    v->state = SN_IN_FLIGHT;
    v->end.fault.code = SEINE_E_CONN_RESET;
    v->end.fault.sent = true;
    sn_scheduler_end(t.s, v, 0);
    CHECK_EQ(sn_scheduler_again(t.s, v, SEINE_SECS(1), SEINE_WAIT_BACKOFF, 0), SEINE_OK);
    CHECK(!next(&t, SEINE_SECS(1) - 1));
    CHECK_EQ(sn_scheduler_when(t.s, 0), SEINE_SECS(1));
    add(&t, "http://a.example/later", SEINE_SECS(1) - 1);
    CHECK(next(&t, SEINE_SECS(1)) == v);
    CHECK_EQ(v->waited[SEINE_WAIT_BACKOFF], SEINE_SECS(1));
    end(&t, v, SEINE_OK, 200, SEINE_SECS(1));
    close_shard(&t);
}

TEST(retry_after_pauses_the_whole_host_and_a_longer_one_parks_it)
{
    shard t;
    seine_fetch_opts o = polite();
    seine_err why;

    o.mine = true;
    open_shard(&t, &o);
    for (int i = 0; i < 4; i++)
        add(&t, "http://a.example/", 0);
    sn_visit *v = next(&t, 0);
    v->end.fault.retry_after = SEINE_SECS(10);
    end(&t, v, SEINE_E_HTTP_BUSY, 429, 0);
    CHECK(!next(&t, 0));
    CHECK(!next(&t, SEINE_SECS(10) - 1));
    seine_time now = sn_scheduler_when(t.s, SEINE_SECS(10));
    CHECK(now <= SEINE_SECS(11));
    v = next(&t, SEINE_SECS(11));
    CHECK(v != NULL);
    CHECK(v->waited[SEINE_WAIT_RETRY_AFTER] >= SEINE_SECS(10));
    v->end.fault.retry_after = SEINE_SECS(301);
    end(&t, v, SEINE_E_HTTP_BUSY, 503, SEINE_SECS(11));
    CHECK(!next(&t, SEINE_SECS(10000)));
    for (int i = 0; i < 2; i++) {
        v = sn_scheduler_parked(t.s, &why);
        CHECK(v != NULL);
        CHECK_EQ(why, SEINE_E_RETRY_AFTER_TOO_LONG);
        sn_visits_give(t.shared.visits, v);
    }
    v = add(&t, "http://a.example/", SEINE_SECS(20)); /* one more comes later */
    CHECK(sn_scheduler_parked(t.s, &why) == v);
    sn_visits_give(t.shared.visits, v);
    close_shard(&t);
}

/* What a host was held before a URL came is no wait of that URL. */
TEST(a_url_waits_for_its_own_part_of_a_pause)
{
    shard t;
    seine_fetch_opts o = polite();

    o.mine = true;
    open_shard(&t, &o);
    sn_visit *v = add(&t, "http://a.example/", 0);
    sn_visit *early = add(&t, "http://a.example/early", 0);
    CHECK(next(&t, 0) == v);
    v->end.fault.retry_after = SEINE_SECS(10);
    end(&t, v, SEINE_E_HTTP_BUSY, 429, 0);
    CHECK(!next(&t, 0));
    sn_visit *late = add(&t, "http://a.example/late", SEINE_SECS(4));
    seine_time due = sn_scheduler_when(t.s, SEINE_SECS(4));
    CHECK(due >= SEINE_SECS(10));
    CHECK(next(&t, due) == early);
    CHECK_EQ(early->waited[SEINE_WAIT_RETRY_AFTER], due);
    end(&t, early, SEINE_OK, 200, due);
    CHECK(next(&t, due + SEINE_SECS(2)) == late);
    CHECK_EQ(late->waited[SEINE_WAIT_RETRY_AFTER], due - SEINE_SECS(4));
    end(&t, late, SEINE_OK, 200, due + SEINE_SECS(2));
    v = add(&t, "http://a.example/last", due + SEINE_SECS(4));
    CHECK(next(&t, due + SEINE_SECS(8)) == v);
    CHECK_EQ(v->waited[SEINE_WAIT_RETRY_AFTER], 0);
    end(&t, v, SEINE_OK, 200, due + SEINE_SECS(8));
    close_shard(&t);
}

TEST(hosts_on_one_address_share_its_limit)
{
    shard t;
    seine_fetch_opts o = polite();
    sn_ip ip = {4, {127, 1, 2, 3}};
    char url[] = "http://a.example/";
    sn_visit *out[2];

    o.per_ip = 2;
    o.host_rate.count = 0;
    open_shard(&t, &o);
    for (int c = 'a'; c < 'e'; c++) {
        url[7] = (char)c;
        add(&t, url, 0);
    }
    out[0] = next(&t, 0);
    out[1] = next(&t, 0);
    CHECK_EQ(sn_scheduler_admit(t.s, out[0], &ip, 0), SEINE_OK);
    CHECK_EQ(sn_scheduler_admit(t.s, out[1], &ip, 0), SEINE_OK);
    sn_visit *third = next(&t, 0);
    CHECK_EQ(sn_scheduler_admit(t.s, third, &ip, 0), SEINE_E_BUSY);
    third->state = SN_IN_FLIGHT;
    third->end.fault.code = SEINE_E_BUSY;
    sn_scheduler_end(t.s, third, 0);
    CHECK_EQ(sn_scheduler_again(t.s, third, 0, SEINE_WAIT_ADDRESS, 0), SEINE_OK);
    end(&t, out[0], SEINE_OK, 200, 1);
    seine_time now = SEINE_MS(11);
    bool came = false;
    for (sn_visit *v; (v = next(&t, now));) {
        came |= v == third;
        if (v == third)
            CHECK_EQ(sn_scheduler_admit(t.s, v, &ip, now), SEINE_OK);
        end(&t, v, SEINE_OK, 200, now);
    }
    CHECK(came);
    end(&t, out[1], SEINE_OK, 200, now);
    close_shard(&t);
}

TEST(low_priority_gets_one_start_in_eight)
{
    shard t;
    seine_fetch_opts o = polite();
    int low = 0;

    o.mine = true;
    open_shard(&t, &o);
    for (int i = 0; i < 100; i++) {
        add(&t, "http://a.example/", 0);
        sn_visit *v = visit(&t, "http://b.example/");
        v->lane = SN_LOW;
        CHECK_EQ(sn_scheduler_add(t.s, v, 0), SEINE_OK);
    }
    for (int i = 0; i < 80; i++) {
        sn_visit *v = next(&t, 0);
        low += is_host(v, 'b');
        end(&t, v, SEINE_OK, 200, 0);
    }
    CHECK_EQ(low, 10);
    close_shard(&t);
}

TEST(counts_of_what_waits_balance_whatever_happens)
{
    sn_rng r = sn_rng_seed(check_seed());
    shard t;
    seine_fetch_opts o = polite();
    sn_visit *out[8];
    int n_out = 0, n_in = 0;

    o.adaptive = true;
    o.concurrency = 8;
    open_shard(&t, &o);
    seine_time now = 0;
    for (int i = 0; i < 20000; i++) {
        uint64_t dice = sn_rng_below(&r, 4);
        char url[] = "http://a.example/";
        url[7] = (char)('a' + sn_rng_below(&r, 5));
        if (dice == 0 && n_in + n_out < 200) {
            add(&t, url, now);
            n_in++;
        } else if (dice == 1 && n_out < 8) {
            sn_visit *v = next(&t, now);
            if (v) {
                out[n_out++] = v;
                n_in--;
            }
        } else if (dice == 2 && n_out > 0) {
            sn_visit *v = out[--n_out];
            v->state = SN_IN_FLIGHT;
            v->end.fault.sent = true;
            bool bad = sn_rng_below(&r, 3) == 0;
            v->end.fault.code = bad ? SEINE_E_CONN_RESET : SEINE_OK;
            v->end.fault.status = bad ? 0 : 200;
            sn_scheduler_end(t.s, v, now);
            if (bad && sn_rng_below(&r, 2)) {
                CHECK_EQ(sn_scheduler_again(
                             t.s, v, now + (seine_time)sn_rng_below(&r, 3000000000u),
                             SEINE_WAIT_BACKOFF, now),
                         SEINE_OK);
                n_in++;
            } else {
                sn_visits_give(t.shared.visits, v);
            }
        } else {
            now += (seine_time)sn_rng_below(&r, SEINE_MS(300));
        }
        seine_err why;
        for (sn_visit *v; (v = sn_scheduler_parked(t.s, &why)); n_in--)
            sn_visits_give(t.shared.visits, v);
        uint32_t by[SEINE_WAIT_ROOM], sum = 0;
        uint32_t all = sn_scheduler_waiting(t.s, by);
        for (int w = 0; w < SEINE_WAIT_ROOM; w++)
            sum += by[w];
        CHECK_EQ(all, (uint32_t)n_in);
        CHECK_EQ(sum, (uint32_t)n_in);
    }
    while (n_out > 0)
        end(&t, out[--n_out], SEINE_OK, 200, now);
    close_shard(&t);
}

TEST(a_hundred_thousand_idle_hosts_fold_their_guards_and_stay_polite)
{
    shard t;
    seine_fetch_opts o = polite();
    char url[64];

    open_shard(&t, &o);
    for (int i = 0; i < 20000; i++) {
        snprintf(url, sizeof url, "http://h%d.example/", i);
        add(&t, url, 0);
        end(&t, next(&t, 0), SEINE_OK, 200, 0);
    }
    for (int i = 0; i < 20000; i += 999) {
        snprintf(url, sizeof url, "http://h%d.example/", i);
        add(&t, url, 1);
        CHECK(!next(&t, SEINE_MS(200) - 1));
        sn_visit *v = sn_scheduler_drain(t.s);
        sn_visits_give(t.shared.visits, v);
    }
    close_shard(&t);
}

TEST(a_retry_finds_its_host_also_when_its_guards_were_folded)
{
    shard t;
    seine_fetch_opts o = polite();
    char url[64];

    o.mine = true;
    open_shard(&t, &o);
    for (int i = 0; i < 4200; i++) { /* so many that idle ones fold */
        snprintf(url, sizeof url, "http://h%d.example/", i);
        add(&t, url, 0);
        end(&t, next(&t, 0), SEINE_E_HTTP_BUSY, 500, 0);
    }
    static const seine_span after[] = {0, SEINE_MS(5)};
    EACH_ROW(i, after) {
        sn_visit *v = add(&t, "http://late.example/", 0);
        CHECK(next(&t, 0) == v);
        v->state = SN_IN_FLIGHT;
        v->end.fault.code = SEINE_E_NO_FILES; /* nothing that is remembered of a host */
        sn_scheduler_end(t.s, v, 0);
        CHECK_EQ(sn_scheduler_again(t.s, v, after[i], SEINE_WAIT_CONCURRENCY, 0),
                 SEINE_OK);
        CHECK(next(&t, after[i]) == v);
        end(&t, v, SEINE_OK, 200, after[i]);
    }
    close_shard(&t);
}

TEST(every_allocation_of_a_scheduler_may_fail)
{
    FAIL_EACH(n)
    {
        sn_shared_state c;
        sn_scheduler *s;
        seine_fetch_opts o = polite();

        o.per_ip = 8;
        o.dedup = true;
        o.rate = (seine_rate){100, SEINE_SECS(1), 1};
        seine_err e = sn_shared_state_init(&c, &o, NULL);
        if (e != SEINE_OK) {
            CHECK_EQ(e, SEINE_E_NOMEM);
            continue;
        }
        e = sn_scheduler_new(&c, 0, &s);
        if (e == SEINE_OK) {
            sn_visit *v = sn_visits_take(c.visits, &e);
            char mem[64];
            if (v) {
                seine_url_init(&v->url, mem, sizeof mem);
                CHECK_EQ(seine_url_parse(&v->url, "http://a.example/", 17, NULL),
                         SEINE_OK);
                v->state = SN_ADMITTED;
                e = sn_scheduler_add(s, v, 0);
                CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
                sn_visit *back = sn_scheduler_drain(s);
                CHECK(back == (e == SEINE_OK ? v : NULL));
                sn_visits_give(c.visits, v);
            }
            sn_scheduler_free(s);
        }
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        sn_shared_state_fini(&c);
    }
}

TEST(options_that_contradict_themselves_are_told_by_name)
{
    sn_shared_state c;
    seine_diag diag = SEINE_DIAG;
    seine_fetch_opts o = polite();

    o.concurrency = 0;
    CHECK_EQ(sn_shared_state_init(&c, &o, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag_line(&diag), "concurrency: at least 1");
    o = polite();
    o.host_rate.burst = 0;
    CHECK_EQ(sn_shared_state_init(&c, &o, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag_line(&diag), "host_rate: contradicts itself");
    o = polite();
    o.timeout = SEINE_NEVER;
    CHECK_EQ(sn_shared_state_init(&c, &o, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag_line(&diag), "timeout: above 0 and not for ever");
}
