/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/time.h"
#include "check.h"
#include "engine/admit.h"
#include "gather.h"
#include "script.h"

enum { MAX_SHARDS = 3 };

/* Shards without threads: the test takes their turns. */
typedef struct fixture {
    script *s;
    seine_fetch_opts opts;
    sn_shared_state shared;
    sn_env env[MAX_SHARDS];
    sn_run *runs[MAX_SHARDS];
    uint32_t n;
    uint64_t given;
    gather g;
} fixture;

static fixture *
prepare(void)
{
    fixture *t = calloc(1, sizeof *t);

    t->s = script_new(NULL);
    t->opts = script_opts(t->s);
    t->opts.on_record = gather_record;
    t->opts.on_event = gather_event;
    t->opts.ready = gather_ready;
    t->opts.arg = &t->g;
    t->n = 1;
    return t;
}

static fixture *
open(fixture *t)
{
    const sn_net *net = script_net(t->s);

    CHECK_EQ(sn_shared_state_init(&t->shared, &t->opts, NULL), SEINE_OK);
    for (uint32_t i = 0; i < t->n; i++) {
        t->env[i].clock = script_clock(t->s);
        CHECK_EQ(net->open(net->self, &t->shared, i, t->n, &t->env[i].transport, NULL),
                 SEINE_OK);
        CHECK_EQ(sn_run_new(&t->shared, &t->env[i], t->runs, i, t->n, &t->runs[i]),
                 SEINE_OK);
    }
    return t;
}

static void
give_at(fixture *t, const char *url, seine_time now)
{
    seine_ask ask = SEINE_ASK;
    sn_visit *v;

    ask.url = (seine_view){url, strlen(url)};
    CHECK_EQ(sn_admit(&t->shared, &ask, now, &v), SEINE_OK);
    t->given++;
    sn_run_give(t->runs[sn_shared_state_shard(&t->shared, &v->url, t->n)], v);
}

static void
give(fixture *t, const char *url)
{
    give_at(t, url, script_now(t->s));
}

static void
check_balance(fixture *t)
{
    seine_fetch_stats sum = {0};

    for (uint32_t i = 0; i < t->n; i++)
        sn_run_stats(t->runs[i], &sum);
    CHECK_EQ(t->given, t->g.n + sn_visits_out(t->shared.visits));
    CHECK_EQ(sum.in_flight, script_in_flight(t->s));
    CHECK_EQ(sum.done, sum.ok + sum.failed + sum.blocked);
}

static bool
is_idle(fixture *t)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (!sn_run_is_idle(t->runs[i]))
            return false;
    return true;
}

/* Turns until `until`, or until nothing is left; time goes from moment to moment. Where a
 * turn is a millisecond they last five minutes: a host that fails again and again is
 * asked every few seconds at last, and sixty URLs have taken it 48. */
static void
live(fixture *t, seine_time until)
{
    for (int turns = 0; turns < 300000 && !is_idle(t); turns++) {
        seine_time at = until;
        for (uint32_t i = 0; i < t->n; i++)
            at = sn_time_min(at, sn_run_when(t->runs[i]));
        for (uint32_t i = 0; i < t->n; i++) /* the last one may sleep */
            sn_run_turn(t->runs[i], i == t->n - 1 && t->n == 1 ? at : INT64_MIN);
        if (t->n > 1) /* nobody sleeps: a millisecond is a turn */
            script_jump(t->s, SEINE_MS(1));
        check_balance(t);
        if (script_now(t->s) >= until)
            return;
    }
    CHECK(is_idle(t));
}

static void
tear_down(fixture *t)
{
    CHECK_EQ(sn_visits_out(t->shared.visits), 0);
    CHECK_EQ(seine_throttle_in_flight(&t->shared.in_flight), 0);
    for (uint32_t i = 0; i < t->n; i++) {
        sn_run_free(t->runs[i]);
        script_net(t->s)->close(script_net(t->s)->self, t->env[i].transport);
    }
    sn_shared_state_fini(&t->shared);
    script_free(t->s);
    free(t);
}

static void
stop(fixture *t, int how, seine_err why)
{
    atomic_store(&t->shared.stop_why, (int)why);
    atomic_store(&t->shared.stop, how);
}

static const gathered *
record_of(const fixture *t, uint64_t number)
{
    for (unsigned i = 0; i < t->g.n && i < GATHER_MAX; i++)
        if (t->g.all[i].number == number)
            return &t->g.all[i];
    return NULL;
}

TEST(one_url_from_its_text_to_its_record)
{
    fixture *t = open(prepare());

    script_on(t->s, "http://a.test/", &(answer){.takes = SEINE_MS(43), .body = "hello"});
    CHECK(sn_run_is_idle(t->runs[0]));
    give(t, "http://a.test/");
    CHECK(!sn_run_is_idle(t->runs[0]));
    live(t, SEINE_NEVER);
    CHECK_EQ(t->g.n, 1);
    CHECK_EQ(t->g.all[0].fate, SEINE_FATE_OK);
    CHECK_EQ(t->g.all[0].status, 200);
    CHECK_EQ(t->g.all[0].attempts, 1);
    CHECK_EQ(t->g.all[0].total, SEINE_MS(43));
    CHECK_EQ(script_now(t->s), T0 + SEINE_MS(43));
    tear_down(t);
}

TEST(a_failure_is_tried_again_after_its_backoff)
{
    fixture *t = open(prepare());

    script_on(t->s, "http://a.test/", &(answer){.status = 500},
              &(answer){.err = SEINE_E_CONN_RESET}, &(answer){0});
    give(t, "http://a.test/");
    live(t, SEINE_NEVER);
    const gathered *r = &t->g.all[0];
    CHECK_EQ(r->fate, SEINE_FATE_OK);
    CHECK_EQ(r->attempts, 3);
    CHECK_EQ(r->n_tries, 3);
    CHECK_EQ(r->backoff, SEINE_SECS(3)); /* 1 + 2 */
    CHECK_EQ(r->total, SEINE_SECS(3) + SEINE_MS(30));
    CHECK_EQ(script_now(t->s), T0 + SEINE_SECS(3) + SEINE_MS(30));
    CHECK_EQ(script_request(t->s, 1)->at, T0 + SEINE_MS(10) + SEINE_SECS(1));
    seine_fetch_stats stats = {0};
    sn_run_stats(t->runs[0], &stats);
    CHECK(stats.requests == 3 && stats.retries == 2 && stats.replays == 0);
    CHECK(stats.done == 1 && stats.ok == 1 && stats.hosts == 1);
    tear_down(t);
}

/* A turn reads its clock once; a URL that comes in later is older than that turn says. */
TEST(the_life_of_a_url_covers_the_turn_that_took_it_in)
{
    fixture *t = open(prepare());

    script_on(t->s, "http://a.test/", &(answer){.status = 500}, &(answer){0});
    give_at(t, "http://a.test/", T0 + SEINE_MS(2));
    live(t, SEINE_NEVER);
    CHECK_EQ(t->g.all[0].attempts, 2);
    CHECK_EQ(t->g.all[0].total, SEINE_SECS(1) + SEINE_MS(20));
    tear_down(t);
}

/* A server that is refused is asked, too; a retry counts when it has been made. */
TEST(requests_and_retries_are_those_that_were_made)
{
    fixture *t = prepare();
    seine_fetch_stats stats = {0};

    t->opts.retry.max_attempts = 3;
    open(t);
    script_on(t->s, "http://a.test/",
              &(answer){.err = SEINE_E_CONNECT_REFUSED, .unsent = true},
              &(answer){.status = 302, .fields = "Location: /2"});
    script_on(t->s, "http://b.test/",
              &(answer){.err = SEINE_E_CONNECT_REFUSED, .unsent = true});
    give(t, "http://a.test/");
    give(t, "http://b.test/");
    live(t, T0 + SEINE_MS(500)); /* both wait for a second attempt */
    sn_run_stats(t->runs[0], &stats);
    CHECK(stats.requests == 2 && stats.retries == 0);
    live(t, SEINE_NEVER);
    stats = (seine_fetch_stats){0};
    sn_run_stats(t->runs[0], &stats);
    CHECK_EQ(stats.requests, 3 + 3);
    CHECK_EQ(stats.retries, 1 + 2);
    tear_down(t);
}

TEST(a_failure_of_a_hop_is_tried_again_at_that_hop)
{
    fixture *t = open(prepare());

    script_on(t->s, "http://a.test/", &(answer){.status = 302, .fields = "Location: /2"});
    script_on(t->s, "http://a.test/2",
              &(answer){.status = 302, .fields = "Location: http://b.test/3"});
    script_on(t->s, "http://b.test/3", &(answer){.status = 503},
              &(answer){.status = 302, .fields = "Location: /4"});
    give(t, "http://a.test/");
    live(t, SEINE_NEVER);
    CHECK_EQ(script_asked(t->s, "http://a.test/"), 1);
    CHECK_EQ(script_asked(t->s, "http://a.test/2"), 1);
    CHECK_EQ(script_asked(t->s, "http://b.test/3"), 2);
    CHECK_EQ(script_asked(t->s, "http://b.test/4"), 1);
    const gathered *r = &t->g.all[0];
    CHECK_EQ(r->attempts, 2); /* hops are none */
    CHECK_EQ(r->n_hops, 3);
    CHECK_STR(r->url, "http://a.test/");
    CHECK_STR(r->final_url, "http://b.test/4");
    tear_down(t);
}

TEST(a_loop_of_redirects_ends)
{
    fixture *t = open(prepare());

    script_on(t->s, "http://a.test/", &(answer){.status = 301, .fields = "Location: /"});
    give(t, "http://a.test/");
    live(t, SEINE_NEVER);
    CHECK_EQ(t->g.all[0].code, SEINE_E_TOO_MANY_REDIRECTS);
    CHECK_EQ(t->g.all[0].n_hops, 10);
    CHECK_EQ(script_requests(t->s), 11);
    tear_down(t);
}

TEST(a_redirect_to_a_host_of_another_shard_goes_there)
{
    fixture *t = prepare();
    char url[64], location[96];

    t->n = 3;
    open(t);
    give(t, "http://first.test/");
    script_on(t->s, "http://first.test/", &(answer){.status = 302, .fields = location});
    /* a host that lives elsewhere */
    for (int i = 0;; i++) {
        char mem[64];
        seine_url u;
        snprintf(url, sizeof url, "http://h%d.test/", i);
        seine_url_init(&u, mem, sizeof mem);
        CHECK_EQ(seine_url_parse(&u, url, strlen(url), NULL), SEINE_OK);
        char first_mem[64];
        seine_url first;
        seine_url_init(&first, first_mem, sizeof first_mem);
        CHECK_EQ(seine_url_parse(&first, "http://first.test/", 18, NULL), SEINE_OK);
        if (sn_shared_state_shard(&t->shared, &u, 3) !=
            sn_shared_state_shard(&t->shared, &first, 3))
            break;
    }
    snprintf(location, sizeof location, "Location: %s", url);
    live(t, SEINE_NEVER);
    CHECK_EQ(t->g.n, 1);
    CHECK_STR(t->g.all[0].final_url, url);
    CHECK_EQ(script_requests(t->s), 2);
    CHECK(script_request(t->s, 0)->shard != script_request(t->s, 1)->shard);
    CHECK_EQ(t->g.all[0].shard, script_request(t->s, 1)->shard);
    tear_down(t);
}

TEST(all_ports_and_schemes_of_a_name_are_on_one_shard)
{
    static const char *const urls[] = {"http://e.test/", "https://e.test:8443/x",
                                       "http://E.TEST.:81/"};
    sn_shared_state shared = {.secret = {1, 2}};
    uint32_t shard = 0;

    EACH_ROW(i, urls) {
        char mem[64];
        seine_url u;
        seine_url_init(&u, mem, sizeof mem);
        CHECK_EQ(seine_url_parse(&u, urls[i], strlen(urls[i]), NULL), SEINE_OK);
        uint32_t got = sn_shared_state_shard(&shared, &u, 64);
        if (i > 0)
            CHECK_EQ(got, shard);
        shard = got;
        CHECK_EQ(sn_shared_state_shard(&shared, &u, 1), 0);
    }
}

TEST(a_skip_is_a_record_and_nothing_else)
{
    fixture *t = open(prepare());
    seine_fetch_stats stats = {0};

    give(t, "ftp://a.test/");
    sn_run_turn(t->runs[0], INT64_MIN);
    CHECK_EQ(t->g.n, 1);
    CHECK_EQ(t->g.all[0].type, SEINE_RECORD_SKIP);
    CHECK_EQ(t->g.all[0].reason, SEINE_SKIP_SCHEME);
    sn_run_stats(t->runs[0], &stats);
    CHECK(stats.done == 0 && stats.requests == 0);
    tear_down(t);
}

/* Gives `n` URLs of a host that refuses every connection. */
static void
give_dead(fixture *t, int n)
{
    for (int i = 0; i < n; i++) {
        char url[64];
        snprintf(url, sizeof url, "http://dead.test/%d", i);
        script_on(t->s, url,
                  &(answer){.err = SEINE_E_CONNECT_REFUSED,
                            .phase = SEINE_PHASE_CONNECT,
                            .unsent = true});
        give(t, url);
    }
}

TEST(a_record_has_the_wall_time_of_its_end)
{
    fixture *t = prepare();

    script_on(t->s, "http://a.test/0", &(answer){.takes = SEINE_SECS(3)});
    script_on(t->s, "http://b.test/1", &(answer){.takes = SEINE_SECS(7)});
    open(t);
    int64_t begun = script_clock(t->s)->wall(script_clock(t->s));
    give(t, "http://a.test/0");
    give(t, "http://b.test/1");
    live(t, SEINE_NEVER);
    CHECK_EQ(record_of(t, 0)->wall - begun, SEINE_SECS(3));
    CHECK_EQ(record_of(t, 1)->wall - begun, SEINE_SECS(7));
    tear_down(t);
}

TEST(x_34_a_host_that_keeps_failing_is_given_up)
{
    fixture *t = prepare();

    t->opts.concurrency = 2;
    t->opts.retry.max_attempts = 1;
    open(t);
    give_dead(t, 20);
    give(t, "http://good.test/");
    live(t, SEINE_NEVER);
    /* five open it, one more was under way, one probe after a minute */
    CHECK(script_requests(t->s) <= 5 + 2 - 1 + 1 + 1);
    CHECK_EQ(t->g.n, 21);
    CHECK_EQ(record_of(t, 0)->code, SEINE_E_CONNECT_REFUSED);
    CHECK_EQ(record_of(t, 19)->code, SEINE_E_BREAKER);
    CHECK_EQ(record_of(t, 19)->attempts, 0);
    CHECK_STR(record_of(t, 19)->message, "circuit breaker is open (connection refused)");
    CHECK_EQ(record_of(t, 20)->fate, SEINE_FATE_OK);
    CHECK_STR(t->g.last_event, "host.parked");
    seine_fetch_stats stats = {0};
    sn_run_stats(t->runs[0], &stats);
    CHECK(stats.parked == 1 && stats.breaker_opens == 2);
    tear_down(t);
}

/* The n-th event of that name; it is of the one host. */
static const gathered_event *
event_of(const fixture *t, const char *name, int n)
{
    for (unsigned i = 0; i < t->g.events && i < 32; i++)
        if (strcmp(t->g.told[i].name, name) == 0 && n-- == 0) {
            CHECK_STR(t->g.told[i].host, "dead.test");
            return &t->g.told[i];
        }
    CHECK(!name);
    return NULL;
}

TEST(events_say_what_a_breaker_was_and_is_why_and_until_when)
{
    fixture *t = prepare();

    t->opts.concurrency = 1;
    t->opts.retry.max_attempts = 1;
    open(t);
    give_dead(t, 8);
    live(t, SEINE_NEVER);
    const gathered_event *e = event_of(t, "breaker.open", 0);
    seine_time opened = script_request(t->s, 4)->at + SEINE_MS(10); /* the fifth ends */
    CHECK(e->from == SEINE_BREAKER_CLOSED && e->to == SEINE_BREAKER_OPEN);
    CHECK_EQ(e->cause, SEINE_E_CONNECT_REFUSED);
    CHECK_EQ(e->until, opened + SEINE_SECS(60));
    e = event_of(t, "breaker.half_open", 0);
    CHECK(e->from == SEINE_BREAKER_OPEN && e->to == SEINE_BREAKER_HALF_OPEN);
    CHECK(e->cause == SEINE_OK && e->until == SEINE_NEVER);
    e = event_of(t, "breaker.open", 1);
    CHECK(e->from == SEINE_BREAKER_HALF_OPEN && e->to == SEINE_BREAKER_OPEN);
    CHECK_EQ(e->until, opened + SEINE_SECS(120) + SEINE_MS(10));
    const gathered_event *parked = event_of(t, "host.parked", 0);
    CHECK(parked->cause == SEINE_E_BREAKER && parked->until == e->until);
    tear_down(t);
}

TEST(events_say_that_a_breaker_has_closed)
{
    fixture *t = prepare();

    t->opts.concurrency = 1;
    t->opts.retry.max_attempts = 10;
    open(t);
    for (int i = 0; i < 5; i++) {
        char url[64];
        snprintf(url, sizeof url, "http://dead.test/%d", i);
        script_on(t->s, url,
                  &(answer){.err = SEINE_E_CONNECT_REFUSED,
                            .phase = SEINE_PHASE_CONNECT,
                            .unsent = true},
                  &(answer){.status = 200});
        give(t, url);
    }
    live(t, SEINE_NEVER);
    seine_fetch_stats stats = {0};
    sn_run_stats(t->runs[0], &stats);
    CHECK_EQ(stats.breaker_opens, 1);
    const gathered_event *e = event_of(t, "breaker.closed", 0);
    CHECK(e->from == SEINE_BREAKER_HALF_OPEN && e->to == SEINE_BREAKER_CLOSED);
    CHECK(e->cause == SEINE_OK && e->until == SEINE_NEVER);
    tear_down(t);
}

static int
by_time(const void *a, const void *b)
{
    seine_time x = *(const seine_time *)a, y = *(const seine_time *)b;

    return (x > y) - (x < y);
}

static void
count_captures(const seine_record *r, uint32_t shard, void *arg)
{
    size_t *n = arg;

    (void)shard;
    CHECK_EQ(r->n_captures, 2); /* the redirect and where it led */
    ++*n;
}

TEST(a_record_has_the_captures_of_its_own_url_alone)
{
    fixture *t = prepare();
    size_t n = 0;

    t->opts.keep = SEINE_KEEP_WIRE;
    t->opts.concurrency = 1;
    t->opts.on_record = count_captures;
    t->opts.arg = &n;
    t->opts.on_event = NULL;
    t->opts.ready = NULL;
    open(t);
    for (int i = 0; i < 3; i++) { /* one after the other, in the same visit */
        char url[64];
        snprintf(url, sizeof url, "http://a.test/%d", i);
        script_on(t->s, url, &(answer){.status = 302, .fields = "Location: /end"});
        give(t, url);
        for (int turns = 0; turns < 100 && (int)n <= i; turns++)
            sn_run_turn(t->runs[0], script_now(t->s) + SEINE_SECS(1));
    }
    CHECK_EQ(n, 3);
    tear_down(t);
}

static void
keep_line(const char *line, size_t len, void *arg)
{
    char *all = arg;
    size_t n = strlen(all);

    if (n + len < 16384) {
        memcpy(all + n, line, len);
        all[n + len] = '\0';
    }
}

TEST(a_log_names_each_fetch_each_opening_and_each_host_that_is_given_up)
{
    fixture *t = prepare();
    char all[16384] = "";
    seine_log_opts lo = SEINE_LOG_OPTS;
    seine_log *log;

    lo.level = SEINE_LOG_DEBUG;
    lo.sink = keep_line;
    lo.arg = all;
    lo.ring = 0; /* every line is there when the call returns */
    CHECK_EQ(seine_log_new(&lo, &log), SEINE_OK);
    t->opts.log = log;
    t->opts.concurrency = 1;
    t->opts.retry.max_attempts = 1;
    open(t);
    give_dead(t, 8);
    give(t, "http://good.test/");
    live(t, SEINE_NEVER);
    CHECK(strstr(all, "http://good.test/"));
    CHECK(strstr(all, "http://dead.test/0"));
    CHECK(strstr(all, "breaker opened"));
    const char *given_up = strstr(all, "host given up for this run");
    CHECK(given_up && strstr(given_up, "dead.test"));
    CHECK(given_up &&
          !strstr(given_up + 1, "host given up")); /* once, and no other event */
    tear_down(t);
    seine_log_free(log);
}

TEST(a_wish_that_is_too_long_parks_the_host)
{
    fixture *t = prepare();

    t->opts.concurrency = 1;
    open(t);
    script_on(t->s, "http://a.test/0",
              &(answer){.status = 429, .fields = "Retry-After: 7200"});
    give(t, "http://a.test/0");
    give(t, "http://a.test/1");
    live(t, SEINE_NEVER);
    CHECK_EQ(script_requests(t->s), 1);
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(record_of(t, (uint64_t)i)->code, SEINE_E_RETRY_AFTER_TOO_LONG);
        CHECK_EQ(record_of(t, (uint64_t)i)->fate, SEINE_FATE_GAVE_UP);
    }
    CHECK_EQ(record_of(t, 0)->attempts, 1);
    CHECK_EQ(script_now(t->s), T0 + SEINE_MS(10)); /* nobody waited */
    tear_down(t);
}

/* A server whose clock is an hour ahead, and words that a cache has kept for a while. */
TEST(a_wish_for_a_date_counts_from_the_servers_own_clock)
{
    static const struct {
        const char *fields;
        seine_span least;
    } rows[] = {
        {"Retry-After: Tue, 14 Nov 2023 23:30:20 GMT\nDate: Tue, 14 Nov 2023 23:30:00 "
         "GMT",
         SEINE_SECS(20)},
        {"Retry-After: 50\nAge: 20", SEINE_SECS(1)}, /* a cache said so: not the server */
        {"Retry-After: 50", SEINE_SECS(50)},
    };

    EACH_ROW(i, rows) {
        fixture *t = prepare();

        t->opts.concurrency = 1;
        open(t);
        script_on(t->s, "http://a.test/",
                  &(answer){.status = 503, .fields = rows[i].fields},
                  &(answer){.status = 200});
        give(t, "http://a.test/");
        live(t, SEINE_NEVER);
        seine_span waited =
            script_request(t->s, 1)->at - script_request(t->s, 0)->at - SEINE_MS(10);
        CHECK(waited >= rows[i].least - SEINE_SECS(1));
        CHECK(waited <= rows[i].least + rows[i].least / 4);
        CHECK_EQ(record_of(t, 0)->fate, SEINE_FATE_OK);
        tear_down(t);
    }
}

TEST(a_wish_holds_the_host_from_the_head_on)
{
    fixture *t = prepare();

    t->opts.concurrency = 1;
    open(t);
    script_on(t->s, "http://a.test/0",
              &(answer){.status = 429, .fields = "Retry-After: 5"}, &(answer){0});
    give(t, "http://a.test/0");
    give(t, "http://a.test/1");
    live(t, SEINE_NEVER);
    CHECK_EQ(script_requests(t->s), 3);
    CHECK(script_request(t->s, 1)->at >= T0 + SEINE_MS(10) + SEINE_SECS(5));
    CHECK_EQ(record_of(t, 0)->tries[0].wait_reason, SEINE_WAIT_RETRY_AFTER);
    tear_down(t);
}

TEST(a_wish_holds_requests_whose_connections_are_still_opening)
{
    fixture *t = prepare();
    seine_time held = T0 + SEINE_MS(10);
    char url[64];

    t->opts.concurrency = 20;
    open(t);
    script_on(t->s, "http://a.test/0",
              &(answer){.status = 429, .fields = "Retry-After: 5"}, &(answer){0});
    give(t, "http://a.test/0");
    for (int i = 1; i < 20; i++) {
        snprintf(url, sizeof url, "http://a.test/%d", i);
        script_on(t->s, url,
                  &(answer){.connects = SEINE_MS(i * 3), .takes = SEINE_MS(100)});
        give(t, url);
    }
    live(t, SEINE_NEVER);
    unsigned early = 0, kept = 0;
    for (unsigned i = 0; i < script_requests(t->s); i++) {
        seine_time at = script_request(t->s, i)->sent_at;

        kept += at == SEINE_NEVER;
        early += at > held && at < held + SEINE_SECS(5);
    }
    CHECK_EQ(early, 0);
    CHECK_EQ(kept, 16); /* of 19, three had left by then */
    CHECK_EQ(t->g.n, 20);
    for (unsigned i = 0; i < 20; i++) {
        CHECK_EQ(record_of(t, i)->fate, SEINE_FATE_OK);
        CHECK_EQ(record_of(t, i)->attempts, i == 0 ? 2 : 1);
    }
    tear_down(t);
}

/* Connections that are open by then go on first, and few are being opened at once. */
TEST(a_turn_starts_512_requests_and_the_next_one_goes_on)
{
    fixture *t = prepare();
    char url[64];

    t->opts.concurrency = t->opts.per_host = 1200;
    open(t);
    for (int i = 0; i < 1100; i++) {
        snprintf(url, sizeof url, "http://a.test/%d", i);
        give(t, url);
    }
    for (unsigned turn = 0; turn < 3; turn++) {
        sn_run_turn(t->runs[0], INT64_MIN);
        CHECK_EQ(script_requests(t->s), turn < 2 ? (turn + 1) * 512 : 1100);
        CHECK_EQ(sn_run_when(t->runs[0]) <= script_now(t->s), turn < 2); /* it is due */
    }
    live(t, SEINE_NEVER);
    CHECK_EQ(t->g.n, 1100);
    tear_down(t);
}

/* A row of failures opens the breaker while others are still connecting. */
TEST(an_open_breaker_holds_requests_whose_connections_are_still_opening)
{
    fixture *t = prepare();
    char url[64];

    t->opts.concurrency = 20;
    t->opts.retry.max_attempts = 1;
    open(t);
    for (int i = 0; i < 20; i++) {
        answer bad = {.status = 503, .takes = SEINE_MS(5)};
        answer late = {.connects = SEINE_MS(50), .takes = SEINE_MS(60)};

        snprintf(url, sizeof url, "http://a.test/%d", i);
        script_on(t->s, url, i < 10 ? &bad : &late);
        give(t, url);
    }
    live(t, T0 + SEINE_MS(100));
    unsigned sent = 0;
    for (unsigned i = 0; i < script_requests(t->s); i++)
        sent += script_request(t->s, i)->sent_at != SEINE_NEVER;
    CHECK_EQ(sent, 10);
    live(t, SEINE_NEVER);
    for (unsigned i = 10; i < 20; i++)
        CHECK_EQ(record_of(t, i)->attempts <= 1, true);
    tear_down(t);
}

/* Its first 429 asks everybody to wait; those that were under way say nothing new. */
TEST(a_429_to_a_request_that_left_before_the_wish_costs_no_attempt)
{
    fixture *t = prepare();
    char url[64];

    t->opts.concurrency = 10;
    t->opts.retry.max_attempts = 2;
    open(t);
    for (int i = 0; i < 10; i++) {
        answer busy = {.status = 429, .fields = "Retry-After: 5"}, good = {0};

        busy.takes = i == 0 ? SEINE_MS(10) : SEINE_MS(20);
        snprintf(url, sizeof url, "http://a.test/%d", i);
        if (i == 0)
            script_on(t->s, url, &busy, &good);
        else
            script_on(t->s, url, &busy, &busy, &good);
        give(t, url);
    }
    live(t, SEINE_NEVER);
    for (unsigned i = 0; i < 10; i++) {
        CHECK_EQ(record_of(t, i)->fate, SEINE_FATE_OK);
        CHECK(record_of(t, i)->attempts <= 2);
        CHECK_EQ(record_of(t, i)->n_tries, i == 0 ? 2 : 3);
        CHECK_EQ(record_of(t, i)->tries[0].status, 429);
    }
    CHECK_EQ(script_requests(t->s), 29);
    tear_down(t);
}

/* Where nothing comes back between two wishes, all attempts count. */
TEST(a_host_that_says_429_to_everything_is_not_asked_for_ever)
{
    enum { N = 40, ATTEMPTS = 3, AT_ONCE = 10 };
    fixture *t = prepare();
    char url[64];

    t->opts.concurrency = AT_ONCE;
    t->opts.retry.max_attempts = ATTEMPTS;
    open(t);
    for (int i = 0; i < N; i++) {
        snprintf(url, sizeof url, "http://a.test/%d", i);
        script_on(t->s, url, &(answer){.status = 429, .fields = "Retry-After: 1"});
        give(t, url);
    }
    live(t, SEINE_NEVER);
    for (unsigned i = 0; i < N; i++)
        CHECK_EQ(record_of(t, i)->status, 429);
    CHECK(script_requests(t->s) <= N * ATTEMPTS + AT_ONCE);
    tear_down(t);
}

TEST(requests_arrive_as_far_apart_as_was_promised_however_long_they_connect)
{
    static const bool adaptive[] = {false, true};

    EACH_ROW(i, adaptive) {
        sn_rng r = sn_rng_seed(check_seed());
        fixture *t = prepare();
        char url[64];
        seine_time last = INT64_MIN;

        t->opts.mine = false;
        t->opts.adaptive = adaptive[i];
        t->opts.per_host = 4;
        t->opts.host_rate = (seine_rate){20, SEINE_SECS(1), 1};
        open(t);
        for (int n = 0; n < 60; n++) {
            seine_span connects = (seine_span)sn_rng_below(&r, SEINE_MS(200));
            answer a = {.connects = connects, .takes = connects + SEINE_MS(30)};
            a.status = n % 7 == 3 ? 302 : 200; /* a hop is a request like any other */
            a.fields = n % 7 == 3 ? "Location: /p1" : NULL;
            snprintf(url, sizeof url, "http://a.test/p%d", n);
            script_on(t->s, url, n % 9 == 4 ? &(answer){.status = 500} : &a, &a);
            give(t, url);
        }
        live(t, SEINE_NEVER);
        CHECK(script_requests(t->s) > 60);
        for (unsigned n = 0; n < script_requests(t->s); n++) {
            const asked *a = script_request(t->s, n);

            CHECK(a->sent_at != SEINE_NEVER);
            CHECK(last == INT64_MIN || a->sent_at - last >= SEINE_MS(50));
            last = a->sent_at;
        }
        tear_down(t);
    }
}

/* One server answers on both ports, most likely. Others are hosts of their own. */
TEST(ports_80_and_443_of_one_name_share_one_host_rate)
{
    static const struct {
        const char *a, *b;
        uint32_t burst;
        bool adaptive, shared;
    } rows[] = {
        {"http://a.test", "https://a.test", 1, true, true},
        {"http://a.test", "https://a.test", 1, false, true},
        {"https://a.test", "http://a.test", 5, false, true},
        {"http://a.test", "https://b.test", 1, false, false},
        {"http://a.test", "http://a.test:8080", 1, false, false},
        {"http://a.test", "https://a.test:80", 1, false, false},
    };

    EACH_ROW(i, rows) {
        sn_rng r = sn_rng_seed(check_seed());
        fixture *t = prepare();
        char url[64], to[60][96];
        unsigned n_sent = 0;
        seine_time sent[128];

        t->opts.mine = false;
        t->opts.adaptive = rows[i].adaptive;
        t->opts.per_host = 4;
        t->opts.host_rate = (seine_rate){20, SEINE_SECS(1), rows[i].burst};
        open(t);
        for (int n = 0; n < 60; n++) {
            /* Within a burst connections would open in any order. */
            seine_span most = rows[i].burst > 1 ? 1 : SEINE_MS(120);
            seine_span connects = (seine_span)sn_rng_below(&r, (uint64_t)most);
            answer a = {.connects = connects, .takes = connects + SEINE_MS(30)};

            snprintf(url, sizeof url, "%s/%d", n % 2 ? rows[i].a : rows[i].b, n);
            a.status = n % 7 == 3 ? 302 : 200;
            snprintf(to[n], sizeof to[n], "Location: %s/moved/%d",
                     n % 2 ? rows[i].b : rows[i].a, n);
            a.fields = a.status == 302 ? to[n] : NULL;
            script_on(t->s, url, &a);
            give(t, url);
            if (n == 20)
                live(t, T0 + SEINE_SECS(1));
        }
        live(t, SEINE_NEVER);
        for (unsigned n = 0; n < script_requests(t->s); n++)
            if (script_request(t->s, n)->sent_at != SEINE_NEVER) /* the address is busy */
                sent[n_sent++] = script_request(t->s, n)->sent_at;
        qsort(sent, n_sent, sizeof *sent, by_time);
        unsigned early = 0;
        for (unsigned n = rows[i].burst; n < n_sent; n++)
            early += sent[n] - sent[n - rows[i].burst] < SEINE_MS(50);
        CHECK_EQ(n_sent, 69); /* nine move to the other port */
        CHECK_EQ(early == 0, rows[i].shared);
        tear_down(t);
    }
}

TEST(no_more_descriptors_means_fewer_at_once_for_ten_seconds)
{
    fixture *t = prepare();

    t->opts.concurrency = 8;
    open(t);
    for (int i = 0; i < 8; i++) {
        char url[64];
        snprintf(url, sizeof url, "http://a.test/%d", i);
        script_on(
            t->s, url,
            &(answer){.err = SEINE_E_NO_FILES, .unsent = true, .takes = SEINE_MS(1)},
            &(answer){.takes = SEINE_SECS(1)});
        give(t, url);
    }
    live(t, T0 + SEINE_MS(50));
    CHECK_EQ(atomic_load(&t->shared.narrowed), 75);
    CHECK_EQ(script_in_flight(t->s), 0); /* none spins */
    CHECK_EQ(script_requests(t->s), 8);
    live(t, T0 + SEINE_MS(500));
    CHECK_EQ(script_in_flight(t->s), 6); /* three quarters of eight */
    live(t, SEINE_NEVER);
    CHECK_EQ(t->g.n, 8);
    for (unsigned i = 0; i < 8; i++) {
        CHECK_EQ(t->g.all[i].fate, SEINE_FATE_OK);
        CHECK_EQ(t->g.all[i].attempts, 1);
    }
    script_jump(t->s, SEINE_SECS(11));
    sn_run_turn(t->runs[0], INT64_MIN);
    CHECK_EQ(atomic_load(&t->shared.narrowed), 100);
    tear_down(t);
}

static unsigned wakes;

static void
count_wake(sn_transport *t)
{
    (void)t;
    wakes++;
}

/* Two shards share one slot: who has it tells the other when it is free. */
TEST(a_shard_that_frees_a_slot_wakes_those_that_wait_for_one)
{
    fixture *t = prepare();
    bool has[2] = {false, false};
    char url[64];

    t->n = 2;
    t->opts.concurrency = 1;
    open(t);
    for (int i = 0; !has[0] || !has[1]; i++) { /* a host of each */
        char mem[64];
        seine_url u;

        snprintf(url, sizeof url, "http://h%d.test/", i);
        seine_url_init(&u, mem, sizeof mem);
        CHECK_EQ(seine_url_parse(&u, url, strlen(url), NULL), SEINE_OK);
        uint32_t shard = sn_shared_state_shard(&t->shared, &u, 2);
        if (!has[shard])
            give(t, url);
        has[shard] = true;
    }
    sn_run_turn(t->runs[0], INT64_MIN);
    sn_run_turn(t->runs[1], INT64_MIN);
    CHECK_EQ(script_in_flight(t->s), 1);
    sn_transport_ops counted = *t->env[1].transport->ops;
    const sn_transport_ops *whole = t->env[1].transport->ops;
    counted.wake = count_wake;
    t->env[1].transport->ops = &counted;
    wakes = 0;
    for (int turns = 0; turns < 10 && t->g.n == 0; turns++)
        sn_run_turn(t->runs[0], script_now(t->s) + SEINE_SECS(1));
    CHECK_EQ(t->g.n, 1);
    CHECK_EQ(wakes, 1);
    t->env[1].transport->ops = whole;
    live(t, SEINE_NEVER);
    CHECK_EQ(t->g.n, 2);
    tear_down(t);
}

/* Makes a URL whose host belongs to that shard. */
static void
url_of_shard(fixture *t, uint32_t shard, int from, char url[64])
{
    for (int i = from;; i++) {
        char mem[64];
        seine_url u;

        snprintf(url, 64, "http://h%d.test/", i);
        seine_url_init(&u, mem, sizeof mem);
        CHECK_EQ(seine_url_parse(&u, url, strlen(url), NULL), SEINE_OK);
        if (sn_shared_state_shard(&t->shared, &u, t->n) == shard)
            return;
    }
}

/* Descriptors ran out at one shard, and the other may start nothing. It has no timer for
 * that: who makes room tells it. */
TEST(a_shard_that_is_held_by_another_is_woken)
{
    static const struct {
        seine_span takes; /* of what is in flight */
        seine_span woken;
    } rows[] = {
        {SEINE_SECS(5), SEINE_SECS(5)},   /* a slot is free again */
        {SEINE_SECS(60), SEINE_SECS(10)}, /* the ten seconds are over */
    };

    EACH_ROW(i, rows) {
        fixture *t = prepare();
        char url[64];

        t->n = 2;
        t->opts.concurrency = 4;
        t->opts.timeout = SEINE_SECS(90);
        open(t);
        for (int n = 0; n < 4; n++) {
            url_of_shard(t, 0, 1000 * n, url);
            script_on(t->s, url,
                      &(answer){.err = n == 0 ? SEINE_E_NO_FILES : SEINE_OK,
                                .unsent = n == 0,
                                .takes = n == 0 ? SEINE_MS(1) : rows[i].takes},
                      &(answer){.takes = SEINE_SECS(1)});
            give(t, url);
        }
        for (int turns = 0; turns < 50; turns++) {
            sn_run_turn(t->runs[0], INT64_MIN);
            script_jump(t->s, SEINE_MS(1));
        }
        CHECK_EQ(atomic_load(&t->shared.narrowed), 75);
        CHECK_EQ(script_in_flight(t->s), 3);
        url_of_shard(t, 1, 0, url);
        script_on(t->s, url, &(answer){.takes = SEINE_MS(1)});
        give(t, url);
        sn_run_turn(t->runs[1], INT64_MIN);
        CHECK_EQ(script_in_flight(t->s), 3);
        CHECK_EQ(sn_run_when(t->runs[1]), SEINE_NEVER);

        sn_transport_ops counted = *t->env[1].transport->ops;
        const sn_transport_ops *whole = t->env[1].transport->ops;
        seine_time began = script_now(t->s);
        counted.wake = count_wake;
        t->env[1].transport->ops = &counted;
        wakes = 0;
        while (wakes == 0 && script_now(t->s) < began + SEINE_SECS(30)) {
            sn_run_turn(t->runs[0], INT64_MIN);
            script_jump(t->s, SEINE_MS(10));
        }
        t->env[1].transport->ops = whole;
        CHECK(wakes > 0);
        CHECK(script_now(t->s) - began >= rows[i].woken - SEINE_MS(200));
        CHECK(script_now(t->s) - began <= rows[i].woken + SEINE_MS(200));
        sn_run_turn(t->runs[1], INT64_MIN);
        CHECK(sn_run_when(t->runs[1]) > script_now(t->s));
        CHECK_EQ(atomic_load(&t->shared.held), 0);
        live(t, SEINE_NEVER);
        CHECK_EQ(t->g.n, 5);
        tear_down(t);
    }
}

TEST(while_outputs_are_full_nothing_starts)
{
    fixture *t = open(prepare());

    t->g.full = true;
    give(t, "http://a.test/");
    sn_run_turn(t->runs[0], INT64_MIN);
    CHECK_EQ(script_requests(t->s), 0);
    CHECK_EQ(sn_run_when(t->runs[0]), SEINE_NEVER); /* it does not spin */
    t->g.full = false;
    sn_run_wake(t->runs[0]);
    live(t, SEINE_NEVER);
    CHECK_EQ(t->g.n, 1);
    tear_down(t);
}

TEST(s0_05_no_attempt_begins_after_the_time_of_its_url)
{
    fixture *t = prepare();

    t->opts.retry.max_elapsed = SEINE_SECS(2);
    t->opts.retry.max_attempts = 100;
    open(t);
    script_on(t->s, "http://a.test/", &(answer){.status = 500});
    script_on(t->s, "http://b.test/", &(answer){.takes = SEINE_SECS(20)});
    give(t, "http://a.test/");
    give(t, "http://b.test/");
    live(t, SEINE_NEVER);
    CHECK_EQ(record_of(t, 0)->status, 500); /* the failure stays the error */
    CHECK_EQ(record_of(t, 0)->attempts, 2);
    CHECK(record_of(t, 0)->total < SEINE_SECS(2)); /* no wait for what comes too late */
    CHECK_EQ(record_of(t, 1)->code, SEINE_E_DEADLINE);
    CHECK_EQ(record_of(t, 1)->fate, SEINE_FATE_CANCELED);
    CHECK_EQ(script_now(t->s), T0 + SEINE_SECS(2));
    tear_down(t);
}

/* The second attempt would begin in time, and could not last long enough. */
TEST(s0_05_no_attempt_begins_that_has_too_little_time)
{
    for (int i = 0; i < 2; i++) {
        fixture *t = prepare();

        t->opts.retry.max_elapsed = SEINE_SECS(2);
        t->opts.retry.min_attempt = i ? SEINE_MS(1700) : SEINE_MS(500);
        open(t);
        script_on(t->s, "http://a.test/", &(answer){.status = 500});
        give(t, "http://a.test/");
        live(t, SEINE_NEVER);
        CHECK_EQ(record_of(t, 0)->attempts, i ? 1 : 2);
        tear_down(t);
    }
}

/* One URL in each state: on its way in, waiting for its host, for its moment, in
 * flight. */
static fixture *
every_state(void)
{
    fixture *t = prepare();

    t->opts.concurrency = 1;
    t->opts.grace = SEINE_SECS(5);
    open(t);
    script_on(t->s, "http://a.test/0", &(answer){.status = 500}); /* 0: backs off */
    give(t, "http://a.test/0");
    live(t, T0 + SEINE_MS(10));
    script_on(t->s, "http://a.test/1", &(answer){.takes = SEINE_SECS(2)});
    give(t, "http://a.test/1"); /* in flight */
    give(t, "http://a.test/2"); /* waits for a slot */
    sn_run_turn(t->runs[0], INT64_MIN);
    CHECK_EQ(script_in_flight(t->s), 1);
    CHECK_EQ(t->g.n, 0);
    give(t, "http://a.test/3"); /* in the inbox */
    give(t, "ftp://a.test/4");
    return t;
}

TEST(s1_19_a_stop_drains_what_flies_and_cancels_what_waits)
{
    fixture *t = every_state();

    stop(t, SN_DRAINING, SEINE_E_CANCELED);
    sn_run_turn(t->runs[0], INT64_MIN);
    CHECK_EQ(t->g.n, 4); /* at once: all but the one in flight */
    for (uint64_t i = 0; i < 4; i++)
        if (i != 1)
            CHECK_EQ(record_of(t, i)->fate, SEINE_FATE_CANCELED);
    CHECK_EQ(record_of(t, 0)->attempts, 1);
    CHECK_EQ(record_of(t, 4)->type, SEINE_RECORD_SKIP);
    live(t, SEINE_NEVER);
    CHECK_EQ(record_of(t, 1)->fate, SEINE_FATE_OK); /* it had two seconds, and five */
    CHECK_EQ(script_requests(t->s), 2);
    tear_down(t);
}

TEST(a_stop_waits_no_longer_than_its_grace)
{
    fixture *t = every_state();
    seine_time stopped = script_now(t->s);

    t->shared.opts.grace = SEINE_MS(700);
    stop(t, SN_DRAINING, SEINE_E_DEADLINE);
    live(t, SEINE_NEVER);
    CHECK_EQ(record_of(t, 1)->code, SEINE_E_DEADLINE);
    CHECK_EQ(record_of(t, 1)->attempts, 1);
    CHECK_EQ(script_now(t->s), stopped + SEINE_MS(700));
    tear_down(t);
}

TEST(a_second_stop_waits_for_nobody)
{
    fixture *t = every_state();
    seine_time stopped = script_now(t->s);

    stop(t, SN_DRAINING, SEINE_E_CANCELED);
    sn_run_turn(t->runs[0], INT64_MIN);
    stop(t, SN_STOPPING, SEINE_E_CANCELED);
    live(t, SEINE_NEVER);
    CHECK_EQ(record_of(t, 1)->code, SEINE_E_CANCELED);
    CHECK_EQ(script_now(t->s), stopped);
    tear_down(t);
}

TEST(a_failure_in_the_grace_is_not_tried_again)
{
    fixture *t = open(prepare());

    script_on(t->s, "http://a.test/", &(answer){.status = 503});
    script_on(t->s, "http://b.test/",
              &(answer){.status = 302, .fields = "Location: http://c.test/"});
    give(t, "http://a.test/");
    give(t, "http://b.test/");
    sn_run_turn(t->runs[0], INT64_MIN);
    stop(t, SN_DRAINING, SEINE_E_CANCELED);
    live(t, SEINE_NEVER);
    CHECK_EQ(script_requests(t->s), 2);
    CHECK_EQ(record_of(t, 0)->fate, SEINE_FATE_CANCELED);
    CHECK_EQ(record_of(t, 0)->n_tries, 1);
    CHECK_EQ(record_of(t, 1)->fate, SEINE_FATE_CANCELED);
    tear_down(t);
}

/* More than a turn ends at once. */
TEST(a_stop_ends_all_that_waits_however_many)
{
    enum { MANY = 5000 };
    fixture *t = prepare();

    t->opts.concurrency = 1;
    t->opts.queue = 2 * MANY;
    open(t);
    script_on(t->s, "http://a.test/0", &(answer){.takes = SEINE_SECS(1)});
    for (int i = 0; i < MANY; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://a.test/%d", i);
        give(t, url);
    }
    sn_run_turn(t->runs[0], INT64_MIN);
    stop(t, SN_DRAINING, SEINE_E_CANCELED);
    live(t, SEINE_NEVER);
    CHECK_EQ(t->g.n, MANY);
    CHECK_EQ(script_requests(t->s), 1);
    CHECK_EQ(script_now(t->s), T0 + SEINE_SECS(1));
    CHECK_EQ(record_of(t, 1)->fate, SEINE_FATE_CANCELED);
    seine_fetch_stats sum = {0};
    sn_run_stats(t->runs[0], &sum);
    CHECK_EQ(sum.ok, 1);
    CHECK_EQ(sum.failed, MANY - 1);
    tear_down(t);
}

/* One has failed and waits for its retry, one brings the bytes, one was never asked. */
TEST(when_the_bytes_are_used_up_what_waits_is_skipped_or_given_up)
{
    fixture *t = prepare();

    t->opts.concurrency = 1;
    t->opts.max_bytes = 100;
    open(t);
    script_on(t->s, "http://a.test/0", &(answer){.status = 503});
    script_on(t->s, "http://b.test/1", &(answer){.fill = 100});
    give(t, "http://a.test/0");
    live(t, T0 + SEINE_MS(10));
    give(t, "http://b.test/1");
    give(t, "http://b.test/2");
    live(t, SEINE_NEVER);
    CHECK_EQ(record_of(t, 0)->type, SEINE_RECORD_RESULT);
    CHECK_EQ(record_of(t, 0)->code, SEINE_E_BUDGET);
    CHECK_EQ(record_of(t, 0)->attempts, 1);
    CHECK_EQ(record_of(t, 1)->fate, SEINE_FATE_OK);
    CHECK_EQ(record_of(t, 2)->type, SEINE_RECORD_SKIP);
    CHECK_EQ(record_of(t, 2)->reason, SEINE_SKIP_BUDGET);
    CHECK(strstr(record_of(t, 2)->rule, "max_bytes"));
    CHECK_EQ(script_requests(t->s), 2);
    tear_down(t);
}

TEST(bytes_below_the_limit_end_nothing)
{
    fixture *t = prepare();

    t->opts.concurrency = 1;
    t->opts.max_bytes = 101;
    open(t);
    script_on(t->s, "http://b.test/0", &(answer){.fill = 100});
    give(t, "http://b.test/0");
    give(t, "http://b.test/1");
    live(t, SEINE_NEVER);
    CHECK_EQ(record_of(t, 1)->fate, SEINE_FATE_OK);
    tear_down(t);
}

TEST(counts_balance_after_every_turn_whatever_happens)
{
    uint64_t seed = check_seed();
    sn_rng rng = sn_rng_seed(seed);

    for (int round = 0; round < 60; round++) {
        fixture *t = prepare();
        unsigned urls = 1 + (unsigned)sn_rng_below(&rng, 60);

        script_random(t->s, sn_rng_next(&rng));
        t->n = 1 + (uint32_t)sn_rng_below(&rng, MAX_SHARDS);
        t->opts.concurrency = 1 + (uint32_t)sn_rng_below(&rng, 8);
        t->opts.mine = sn_rng_below(&rng, 2);
        t->opts.adaptive = sn_rng_below(&rng, 2);
        t->opts.host_rate.count = 50;
        t->opts.retry.base = SEINE_MS(20);
        t->opts.breaker.open_for = SEINE_SECS(1);
        t->opts.breaker.open_max = SEINE_SECS(2);
        t->opts.keep = (uint32_t)sn_rng_below(&rng, 16);
        t->opts.max_redirects = (uint32_t)sn_rng_below(&rng, 4);
        open(t);
        for (unsigned i = 0; i < urls; i++) {
            char url[64];
            snprintf(url, sizeof url, "http://h%d.test/%u", (int)sn_rng_below(&rng, 4),
                     i);
            give(t, url);
        }
        if (sn_rng_below(&rng, 3) == 0) {
            live(t, T0 + (seine_span)sn_rng_below(&rng, SEINE_SECS(1)));
            stop(t, sn_rng_below(&rng, 2) ? SN_DRAINING : SN_STOPPING, SEINE_E_CANCELED);
        }
        live(t, SEINE_NEVER);
        CHECK_EQ(t->g.n, urls);
        for (unsigned i = 0; i < urls; i++)
            CHECK_EQ(t->g.of[i], 1);
        CHECK(script_peak(t->s) <= t->opts.concurrency);
        tear_down(t);
    }
}
