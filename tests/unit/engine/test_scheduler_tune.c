/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that change while hosts wait. */
#include <stdio.h>

#include "engine/host_waits.h"
#include "engine/scheduler.h"
#include "shard.h"

static sn_tune
host_rate(const char *host, uint64_t count, seine_span per)
{
    sn_tune t = {.has_host_rate = true, .host_rate = {count, per, 1}};

    snprintf(t.host, sizeof t.host, "%s", host);
    return t;
}

static void
tune(shard *t, sn_tune how, seine_time now)
{
    CHECK_EQ(sn_scheduler_tune(t->s, &how, now), SEINE_OK);
}

/* Starts the next visit of the shard at `at` and not a nanosecond before; it ends at
 * once. */
static void
starts_at(shard *t, seine_time at)
{
    CHECK(!next(t, at - 1));
    CHECK(sn_scheduler_when(t->s, at - 1) <= at);
    sn_visit *v = next(t, at);
    CHECK(v != NULL);
    if (v)
        end(t, v, SEINE_OK, 200, at);
}

TEST(a_faster_rate_holds_for_what_waits_already)
{
    shard t;
    seine_fetch_opts o = polite();

    o.host_rate = (seine_rate){1, SEINE_SECS(60), 1};
    open_shard(&t, &o);
    for (int i = 0; i < 4; i++)
        add(&t, "http://a.example/", 0);
    end(&t, next(&t, 0), SEINE_OK, 200, 0);
    CHECK(!next(&t, SEINE_SECS(5)));
    tune(&t, host_rate("", 10, SEINE_SECS(1)), SEINE_SECS(5));
    sn_visit *v = next(&t, SEINE_MS(5100)); /* what was saved up becomes a tenth */
    CHECK(v != NULL);
    end(&t, v, SEINE_OK, 200, SEINE_MS(5100));
    starts_at(&t, SEINE_MS(5200));
    starts_at(&t, SEINE_MS(5300));
    close_shard(&t);
}

TEST(a_slower_rate_holds_from_the_last_start_on)
{
    shard t;
    seine_fetch_opts o = polite();

    open_shard(&t, &o);
    for (int i = 0; i < 3; i++)
        add(&t, "http://a.example/", 0);
    end(&t, next(&t, 0), SEINE_OK, 200, 0);
    tune(&t, host_rate("", 1, SEINE_SECS(10)), SEINE_MS(100));
    CHECK(!next(&t, SEINE_SECS(5)));
    CHECK(!next(&t, SEINE_SECS(10) - 1));
    sn_visit *v = next(&t, SEINE_SECS(10) + SEINE_MS(100));
    CHECK(v != NULL);
    end(&t, v, SEINE_OK, 200, SEINE_MS(10100));
    starts_at(&t, SEINE_MS(20100));
    close_shard(&t);
}

TEST(a_rate_of_one_host_is_its_own_and_waits_for_hosts_that_come_later)
{
    shard t;
    seine_fetch_opts o = polite(); /* 200 ms */

    open_shard(&t, &o);
    tune(&t, host_rate("b.example", 1, SEINE_SECS(1)), 0);
    add(&t, "http://b.example:8080/", 0);
    add(&t, "http://b.example:8080/", 0);
    end(&t, next(&t, 0), SEINE_OK, 200, 0);
    add(&t, "http://a.example/", SEINE_MS(1));
    add(&t, "http://a.example/", SEINE_MS(1));
    end(&t, next(&t, SEINE_MS(1)), SEINE_OK, 200, SEINE_MS(1));
    starts_at(&t, SEINE_MS(201)); /* a */
    starts_at(&t, SEINE_SECS(1)); /* b */
    close_shard(&t);
}

TEST(more_at_once_are_let_in_at_once)
{
    shard t;
    seine_fetch_opts o = polite();
    sn_visit *v[4];

    o.host_rate.count = 0;
    o.per_host = 1;
    open_shard(&t, &o);
    for (int i = 0; i < 4; i++)
        add(&t, "http://a.example/", 0);
    v[0] = next(&t, 0);
    CHECK(v[0] && !next(&t, 0));
    tune(&t, (sn_tune){.per_host = 3}, SEINE_MS(1));
    v[1] = next(&t, SEINE_MS(1));
    v[2] = next(&t, SEINE_MS(1));
    CHECK(v[1] && v[2] && !next(&t, SEINE_MS(1)));
    for (int i = 0; i < 3; i++)
        end(&t, v[i], SEINE_OK, 200, SEINE_MS(2));
    v[3] = next(&t, SEINE_MS(2));
    end(&t, v[3], SEINE_OK, 200, SEINE_MS(2));
    close_shard(&t);
}

TEST(a_breaker_and_a_pause_outlast_a_new_rate)
{
    shard t;
    seine_fetch_opts o = polite();

    open_shard(&t, &o);
    for (int i = 0; i < 2; i++)
        add(&t, "http://a.example/", 0);
    sn_visit *v = next(&t, 0);
    sn_pace_pause(&sn_hosts_guards(&t.s->hosts, v->host)->pace, SEINE_SECS(9));
    end(&t, v, SEINE_OK, 200, 0);
    CHECK(!next(&t, SEINE_SECS(1)));
    tune(&t, host_rate("", 1000, SEINE_SECS(1)), SEINE_SECS(1));
    CHECK(!next(&t, SEINE_SECS(9) - 1));
    v = next(&t, SEINE_SECS(9));
    CHECK(v != NULL);
    end(&t, v, SEINE_OK, 200, SEINE_SECS(9));
    close_shard(&t);
}

TEST(tune_fits_a_name_with_all_its_ports_or_one)
{
    static const struct {
        const char *host, *name;
        bool fits;
    } rows[] = {{"e.example", "http://e.example:80", true},
                {"E.Example", "https://e.example:8443", true},
                {"e.example:80", "http://e.example:80", true},
                {"e.example:8", "http://e.example:80", false},
                {"example", "http://e.example:80", false},
                {"e.exam", "http://e.example:80", false},
                {"[::1]", "http://[::1]:80", true},
                {"[::1]:80", "http://[::1]:80", true},
                {"[", "http://[::1]:80", false},
                {"127.0.0.1", "http://127.0.0.1:34151", true},
                {"e.example", "e.example", false}};

    EACH_ROW(i, rows)
        CHECK_EQ(sn_tune_fits(rows[i].host, sn_str_of(rows[i].name)), rows[i].fits);
}

static size_t
look(sn_host_waits *w, shard *t, seine_time now, seine_fetch_wait out[SN_HOST_WAITS])
{
    static uint64_t ticket;
    size_t n = 0;

    sn_host_waits_ask(w, ++ticket, NULL);
    CHECK(!sn_host_waits_get(w, ticket, out, &n));
    while (sn_host_waits_turn(w, t->s, NULL, now))
        continue;
    CHECK(sn_host_waits_get(w, ticket, out, &n));
    return n;
}

TEST(waits_say_what_holds_each_host_and_until_when)
{
    static seine_fetch_wait got[SN_HOST_WAITS];
    shard t;
    sn_host_waits w;
    seine_fetch_opts o = polite();

    sn_host_waits_init(&w);
    open_shard(&t, &o);
    for (int i = 0; i < 3; i++)
        add(&t, "http://a.example/", 0);
    sn_visit *v = next(&t, 0);
    CHECK(!next(&t, 0)); /* nothing more until it has left */
    CHECK_EQ(look(&w, &t, 0, got), 1);
    CHECK_EQ(got[0].in_flight, 1);
    CHECK_EQ(got[0].waiting, 2);
    end(&t, v, SEINE_OK, 200, SEINE_MS(10));
    CHECK(!next(&t, SEINE_MS(20)));
    CHECK_EQ(look(&w, &t, SEINE_MS(20), got), 1);
    CHECK_STR(got[0].host, "a.example");
    CHECK(got[0].is_held);
    CHECK_EQ(got[0].why, SEINE_WAIT_HOST_RATE);
    CHECK_EQ(got[0].until, SEINE_MS(200));
    CHECK_EQ(got[0].every, SEINE_MS(200));
    CHECK_EQ(got[0].cause, SEINE_OK);
    close_shard(&t);
    sn_host_waits_fini(&w);
}

TEST(waits_keep_the_hosts_with_most_urls)
{
    static seine_fetch_wait got[SN_HOST_WAITS];
    shard t;
    sn_host_waits w;
    seine_fetch_opts o = polite();
    char url[64];

    sn_host_waits_init(&w);
    open_shard(&t, &o);
    for (int i = 0; i < SN_HOST_WAITS + 40; i++)
        for (int k = 0; k < (i % 100 == 7 ? 3 : 1); k++) {
            snprintf(url, sizeof url, "http://h%d.example/", i);
            add(&t, url, 0);
        }
    size_t n = look(&w, &t, 0, got), big = 0;
    CHECK_EQ(n, SN_HOST_WAITS);
    for (size_t i = 0; i < n; i++)
        big += got[i].waiting == 3;
    CHECK_EQ(big, 3); /* 7, 107, 207 */
    close_shard(&t);
    sn_host_waits_fini(&w);
}
