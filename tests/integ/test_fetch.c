/* SPDX-License-Identifier: Apache-2.0 */
/* What the seeds ask of a fetcher, on real sockets, judged by the evil server. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <seine/chaos.h>
#include <seine/fetch.h>
#include <seine/plumbing.h>

#include "check.h"

TESTS_AT_ONCE(8)

#define MANY 1000

static seine_time
now(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

/* A server, and the options to ask it quickly: it is ours. */
typedef struct fixture {
    seine_chaos *chaos;
    seine_fetch_opts opts;
    seine_ctx *ctx;
    char url[MANY][160];
    const char *urls[MANY];
    size_t n;
    seine_fetched got[MANY];
    seine_summary sum;
    seine_span took;
} fixture;

static fixture *
set_up(bool dns)
{
    fixture *f = calloc(1, sizeof *f);
    seine_chaos_opts o = SEINE_CHAOS_OPTS;

    o.dns = dns;
    CHECK_EQ(seine_chaos_new(&o, &f->chaos), SEINE_OK);
    CHECK_EQ(seine_ctx_root(seine_clock_system(), &f->ctx), SEINE_OK);
    f->opts = SEINE_FETCH_OPTS;
    f->opts.mine = true;
    f->opts.timeout = SEINE_SECS(10);
    f->opts.retry.base = SEINE_MS(10);
    f->opts.retry.max = SEINE_MS(100);
    if (dns)
        f->opts.dns = seine_chaos_where(f->chaos, "dns");
    return f;
}

static void
tear_down(fixture *f)
{
    seine_fetched_free(f->got, f->n);
    seine_ctx_unref(f->ctx);
    seine_chaos_free(f->chaos);
    free(f);
}

static void
ask_at(fixture *f, const char *base, const char *path)
{
    snprintf(f->url[f->n], sizeof f->url[0], "%s%s", base, path);
    f->urls[f->n] = f->url[f->n];
    f->n++;
}

static void
ask(fixture *f, const char *path)
{
    ask_at(f, seine_chaos_url(f->chaos), path);
}

static void
fetch(fixture *f)
{
    seine_time start = now();

    CHECK_EQ(seine_fetch_all(&f->opts, f->ctx, f->urls, f->n, f->got, &f->sum), SEINE_OK);
    f->took = now() - start;
}

/* A number of the witness's report, found behind `"key":`; the first one after `from`. */
static long long
witness(fixture *f, const char *from, const char *key)
{
    char *json = NULL, name[64];

    CHECK_EQ(seine_chaos_report(f->chaos, &json), SEINE_OK);
    snprintf(name, sizeof name, "\"%s\":", key);
    const char *at = json ? strstr(json, from) : NULL;
    at = at ? strstr(at, name) : NULL;
    long long n = at ? strtoll(at + strlen(name), NULL, 10) : -1;
    seine_chaos_text_free(json);
    return n;
}

/* A request as it arrived. */
typedef struct arrival {
    long long at_us;
    int connection;
} arrival;

/* All requests of the run, in the order of their arrival; the server is asked for its
 * log. Returns their number. */
static size_t
arrivals(fixture *f, arrival out[MANY])
{
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    char url[160];
    const char *urls[] = {url};
    seine_fetched log;
    size_t n = 0;

    o.mine = true;
    snprintf(url, sizeof url, "%s/_chaos/log", seine_chaos_url(f->chaos));
    CHECK_EQ(seine_fetch_all(&o, f->ctx, urls, 1, &log, NULL), SEINE_OK);
    CHECK(seine_fetched_is_ok(&log));
    for (const char *line = log.body.bytes; line && *line;
         line = strchr(line, '\n') + 1) {
        const char *t = strstr(line, "\"t_us\":"), *c = strstr(line, "\"connection\":");

        if (n < MANY && t && c && !strstr(line, "\"path\":\"/_chaos"))
            out[n++] = (arrival){strtoll(t + 7, NULL, 10), (int)strtol(c + 13, NULL, 10)};
        if (!strchr(line, '\n'))
            break;
    }
    seine_fetched_free(&log, 1);
    return n;
}

TEST(s0_03_a_page_is_its_body_and_any_other_status_a_failure)
{
    fixture *f = set_up(true);

    ask(f, "/text");
    ask(f, "/status:404");
    ask(f, "/status:500");
    ask_at(f, "http://nx.test:80", "/");
    f->opts.retry.max_attempts = 1;
    fetch(f);
    CHECK(seine_fetched_is_ok(&f->got[0]));
    CHECK(f->got[0].body.len > 0);
    CHECK_EQ(f->got[0].body.len, strlen(f->got[0].body.bytes));
    CHECK_EQ(f->got[1].status, 404);
    CHECK_EQ(f->got[1].fault.code, SEINE_E_HTTP);
    CHECK_EQ(f->got[1].body.len, 0);
    CHECK_EQ(f->got[2].status, 500);
    CHECK_EQ(f->got[2].fault.code, SEINE_E_HTTP_BUSY);
    CHECK_EQ(f->got[3].fault.code, SEINE_E_DNS_NXDOMAIN);
    CHECK_EQ(f->got[3].fate, SEINE_FATE_NETWORK_ERROR);
    tear_down(f);
}

TEST(s0_01_s0_02_failures_have_their_exact_sentence_and_can_be_copied)
{
    fixture *f = set_up(true);
    char want[200];

    ask(f, "/status:500");
    ask_at(f, "http://nx.test:80", "/");
    f->opts.retry.max_attempts = 1;
    fetch(f);
    seine_fault copy = f->got[0].fault;
    char text[200];
    seine_fault_text(&copy, text, sizeof text);
    snprintf(want, sizeof want, "HTTP 500 error for %s", f->url[0]);
    CHECK_STR(text, want);
    CHECK_STR(f->got[0].error, want);
    CHECK(strncmp(f->got[1].error, "Network error: ", 15) == 0);
    tear_down(f);

    f = set_up(false);
    ask(f, "/mute");
    f->opts.retry.max_attempts = 1;
    f->opts.timeout = SEINE_MS(100);
    fetch(f);
    CHECK_STR(f->got[0].error, "Request timed out after 100ms");
    tear_down(f);
}

TEST(s0_04_a_timeout_carries_exactly_the_configured_milliseconds)
{
    static const int limits[] = {100, 50};

    EACH_ROW(i, limits) {
        fixture *f = set_up(false);
        ask(f, "/delay:10m/ok");
        f->opts.timeout = SEINE_MS(limits[i]);
        f->opts.retry.max_attempts = 1;
        fetch(f);
        CHECK_EQ(f->got[0].fate, SEINE_FATE_TIMEOUT);
        CHECK_EQ(f->got[0].fault.timeout_ms, limits[i]);
        CHECK(f->took >= SEINE_MS(limits[i]) && f->took < CHECK_PATIENCE);
        tear_down(f);
    }
    fixture *f = set_up(false);
    ask(f, "/ok");
    f->opts.timeout = SEINE_SECS(5);
    fetch(f);
    CHECK(seine_fetched_is_ok(&f->got[0]));
    tear_down(f);
}

TEST(s0_05_limits_on_three_levels_connect_request_and_with_retries)
{
    fixture *f = set_up(false);

    /* connecting */
    ask_at(f, seine_chaos_where(f->chaos, "hole"), "/");
    f->opts.tcp_timeout = SEINE_MS(80);
    f->opts.retry.max_attempts = 1;
    fetch(f);
    CHECK_EQ(f->got[0].fault.code, SEINE_E_CONNECT_TIMEOUT);
    CHECK_EQ(f->got[0].fault.timeout_ms, 80);
    CHECK(f->took >= SEINE_MS(80));
    tear_down(f);

    /* a request, of which every byte comes in time */
    f = set_up(false);
    ask(f, "/drip:1x20ms:body/bytes:5000");
    f->opts.timeout = SEINE_SECS(1);
    f->opts.retry.max_attempts = 1;
    fetch(f);
    CHECK_EQ(f->got[0].fault.code, SEINE_E_TIMEOUT);
    CHECK_EQ(f->got[0].fault.phase, SEINE_PHASE_BODY);
    CHECK(f->took >= SEINE_SECS(1) && f->took < CHECK_PATIENCE);
    tear_down(f);

    /* all attempts together */
    f = set_up(false);
    ask(f, "/status:500");
    f->opts.retry.max_attempts = 100;
    f->opts.retry_budget.ratio_milli = UINT32_MAX;
    f->opts.breaker.failure_threshold = 0;
    f->opts.breaker.failure_pct = 0;
    f->opts.retry.base = SEINE_MS(50);
    f->opts.retry.max = SEINE_MS(500);
    f->opts.retry.max_elapsed = SEINE_SECS(1);
    fetch(f);
    CHECK_EQ(f->got[0].status, 500);
    /* Waits of 45, 90, 180, 360 and 450 ms at least: a sixth would begin too late. */
    CHECK(f->got[0].attempts > 1 && f->got[0].attempts <= 6);
    tear_down(f);
}

TEST(s0_06_every_request_of_a_client_with_a_limit_ends_by_it)
{
    fixture *f = set_up(false);

    ask(f, "/mute");
    ask(f, "/stall:10/bytes:100");
    ask(f, "/drip:1x100ms/bytes:100");
    ask(f, "/delay:10m/ok");
    ask_at(f, seine_chaos_where(f->chaos, "hole"), "/");
    f->opts.timeout = SEINE_MS(400);
    f->opts.retry.max_attempts = 1;
    fetch(f);
    for (size_t i = 0; i < f->n; i++) {
        CHECK_EQ(f->got[i].fate, SEINE_FATE_TIMEOUT);
        CHECK_EQ(f->got[i].fault.timeout_ms, 400);
    }
    CHECK(f->took < CHECK_PATIENCE);
    tear_down(f);
}

TEST(s0_07_s0_10_s0_11_what_may_pass_is_tried_three_times_and_no_more)
{
    fixture *f = set_up(false);

    ask(f, "/ok?fail=2&with=status:500&key=two");
    ask(f, "/status:500?key=always");
    ask(f, "/status:404?key=gone");
    ask(f, "/reset:0/ok?key=cut");
    ask(f, "/ok?fail=1&with=fin:20&key=short");
    f->opts.retry.max_attempts = 3;
    f->opts.breaker.failure_threshold = 0;
    f->opts.breaker.failure_pct = 0;
    fetch(f);
    CHECK(seine_fetched_is_ok(&f->got[0]));
    CHECK_EQ(f->got[0].attempts, 3);
    CHECK_EQ(f->got[1].status, 500);
    CHECK_EQ(f->got[1].attempts, 3);
    CHECK_EQ(f->got[2].attempts, 1);
    CHECK_EQ(f->got[3].fault.code, SEINE_E_CONN_RESET);
    CHECK_EQ(f->got[3].attempts, 3);
    CHECK(seine_fetched_is_ok(&f->got[4]));
    CHECK_EQ(f->got[4].attempts, 2);
    tear_down(f);
}

TEST(s0_08_s0_09_backoff_doubles_on_the_wire)
{
    fixture *f = set_up(false);

    ask(f, "/status:500");
    f->opts.retry.max_attempts = 4;
    f->opts.retry.base = SEINE_MS(50);
    f->opts.retry.max = SEINE_MS(1000);
    f->opts.breaker.failure_threshold = 0;
    f->opts.breaker.failure_pct = 0;
    fetch(f);
    CHECK_EQ(f->got[0].attempts, 4);
    /* 50 + 100 + 200, ten percent either way; test_retry.c has the upper bound */
    CHECK(f->took >= SEINE_MS(315));
    tear_down(f);
}

TEST(s0_12_s0_13_s0_14_s0_19_a_breaker_opens_and_the_rest_fails_fast)
{
    fixture *f = set_up(false);

    for (int i = 0; i < 20; i++)
        ask(f, "/status:500");
    f->opts.concurrency = 1;
    f->opts.retry.max_attempts = 1;
    f->opts.breaker.failure_threshold = 3;
    f->opts.breaker.open_for = SEINE_MS(100);
    f->opts.park = 1;
    fetch(f);
    /* three, then one probe that fails: given up */
    CHECK_EQ(witness(f, "\"totals\"", "requests"), 4);
    CHECK_EQ(f->got[19].fault.code, SEINE_E_BREAKER);
    CHECK_STR(f->got[19].error, "Circuit breaker is open");
    CHECK_EQ(f->got[19].attempts, 0);
    tear_down(f);
}

static int
count_ok(const fixture *f)
{
    int ok = 0;

    for (size_t i = 0; i < f->n; i++)
        ok += seine_fetched_is_ok(&f->got[i]);
    return ok;
}

/* Seven failures, then health, as the server sees it: those that are under way when the
 * third one fails are the last for the open time (19); then one probe comes alone (15,
 * 20); a failed one is followed by another open time (17); two that succeed, one behind
 * the other, close the breaker (16), and the rest comes side by side. */
TEST(s0_15_s0_16_s0_17_s0_19_s0_20_one_probe_at_a_time_decides)
{
    enum { FAILURES = 7, OPEN_US = 300000, TAKES_US = 50000, SLACK_US = 2000 };
    static arrival a[MANY];
    fixture *f = set_up(false);
    int i = 1;

    for (int k = 0; k < 20; k++)
        ask(f, "/delay:50ms/ok?fail=7&with=delay:50ms/status:500&key=sick");
    f->opts.concurrency = 4;
    f->opts.retry.max_attempts = 1;
    f->opts.breaker.failure_threshold = 3;
    f->opts.breaker.success_threshold = 2;
    f->opts.breaker.open_for = SEINE_MS(300);
    f->opts.park = 9;
    fetch(f);
    CHECK_EQ(count_ok(f), 20 - FAILURES);
    CHECK_EQ(arrivals(f, a), 20);
    while (i < FAILURES && a[i].at_us - a[i - 1].at_us < OPEN_US - SLACK_US)
        i++;
    CHECK(i >= 4 && i <= 3 + 4 - 1); /* the threshold, and what was under way */
    for (; i < FAILURES; i++)
        CHECK(a[i + 1].at_us - a[i].at_us >= TAKES_US + OPEN_US - SLACK_US);
    for (; i < FAILURES + 2; i++)
        CHECK(a[i + 1].at_us - a[i].at_us >= TAKES_US - SLACK_US);
    bool side_by_side = false;
    for (; i < 20; i++)
        side_by_side |= a[i].connection != a[FAILURES + 1].connection;
    CHECK(side_by_side);
    tear_down(f);
}

/* Two failures and a success, again and again, never make three in a row; three do, and
 * the open time shows between two arrivals. */
TEST(s0_18_a_success_resets_the_count)
{
    static arrival a[MANY];

    for (int failures = 2; failures <= 3; failures++) {
        fixture *f = set_up(false);
        long long longest = 0;

        for (int i = 0; i < (failures == 2 ? 12 : 4); i++)
            ask(f, i % (failures + 1) < failures ? "/status:500" : "/ok");
        f->opts.concurrency = 1;
        f->opts.retry.max_attempts = 1;
        f->opts.breaker.failure_threshold = 3;
        f->opts.breaker.open_for = SEINE_SECS(1);
        fetch(f);
        size_t n = arrivals(f, a);
        CHECK_EQ(n, f->n);
        for (size_t i = 1; i < n; i++)
            if (a[i].at_us - a[i - 1].at_us > longest)
                longest = a[i].at_us - a[i - 1].at_us;
        CHECK_EQ(longest >= 998000, failures == 3);
        tear_down(f);
    }
}

TEST(s0_21_s0_22_a_result_and_a_summary_say_what_happened)
{
    fixture *f = set_up(false);

    ask(f, "/text");
    ask(f, "/text");
    ask(f, "/status:404");
    fetch(f);
    CHECK(f->got[0].url == f->urls[0]);
    CHECK_EQ(f->got[0].attempts, 1);
    CHECK(f->got[2].body.bytes == NULL || f->got[2].body.len == 0);
    CHECK_EQ(f->sum.total, 3);
    CHECK_EQ(f->sum.success, 2);
    CHECK_EQ(f->sum.failed, 1);
    char rate[32];
    snprintf(rate, sizeof rate, "%.16g", seine_summary_rate(&f->sum));
    CHECK_STR(rate, "66.66666666666666");
    tear_down(f);
}

TEST(s0_23_results_are_in_the_order_of_the_urls_and_one_bad_spoils_nothing)
{
    fixture *f = set_up(false);

    ask(f, "/delay:300ms/text");
    ask_at(f, seine_chaos_where(f->chaos, "dead"), "/");
    ask(f, "/delay:100ms/text");
    ask_at(f, "not a url", "");
    ask_at(f, "ftp://x.test", "/");
    f->opts.retry.max_attempts = 1;
    fetch(f);
    CHECK(seine_fetched_is_ok(&f->got[0]));
    CHECK_EQ(f->got[1].fault.code, SEINE_E_CONNECT_REFUSED);
    CHECK(seine_fetched_is_ok(&f->got[2]));
    CHECK_EQ(f->got[3].fault.code, SEINE_E_BAD_URL);
    CHECK(!seine_fetched_is_ok(&f->got[4]));
    tear_down(f);
}

TEST(s0_24_no_more_at_once_than_allowed)
{
    fixture *f = set_up(false);

    for (int i = 0; i < 10; i++)
        ask(f, "/delay:100ms/ok");
    f->opts.concurrency = 3;
    fetch(f);
    CHECK(f->took >= SEINE_MS(400));
    CHECK_EQ(f->sum.success, 10);
    CHECK_EQ(witness(f, "\"hosts\"", "peak_in_flight"), 3);
    tear_down(f);

    f = set_up(false);
    for (int i = 0; i < 6; i++)
        ask(f, "/delay:100ms/ok");
    f->opts.concurrency = 2;
    fetch(f);
    CHECK(f->took >= SEINE_MS(300));
    tear_down(f);
}

TEST(s0_25_a_rate_of_a_host_holds)
{
    fixture *f = set_up(false);

    for (int i = 0; i < 10; i++)
        ask(f, "/ok");
    f->opts.mine = false;
    f->opts.adaptive = false;
    f->opts.per_ip = 0;
    f->opts.per_host = 10;
    f->opts.host_rate = (seine_rate){20, SEINE_SECS(1), 1};
    fetch(f);
    CHECK(f->took >= SEINE_MS(450));
    CHECK(witness(f, "\"hosts\"", "min_gap_us") >= 38000);
    tear_down(f);
}

/* Quick pages, of which the rate is the limit, then slow ones, of which five at once
 * are: without the one the run is too short, without the other the server is too busy. */
TEST(s0_30_a_rate_and_a_number_at_once_hold_together)
{
    fixture *f = set_up(false);

    for (int i = 0; i < 60; i++)
        ask(f, i < 40 ? "/ok" : "/delay:100ms/ok");
    f->opts.rate = (seine_rate){100, SEINE_SECS(1), 1};
    f->opts.concurrency = 5;
    fetch(f);
    CHECK_EQ(count_ok(f), 60);
    CHECK(f->took >= SEINE_MS(590)); /* 59 intervals and the last page */
    CHECK_EQ(witness(f, "\"hosts\"", "peak_in_flight"), 5);
    tear_down(f);
}

TEST(s0_10_s0_26_s0_27_what_does_not_fit_into_memory_is_said_so)
{
    fixture *f = set_up(false);

    for (int i = 0; i < 5; i++)
        ask(f, "/ok");
    f->opts.rate = (seine_rate){100, SEINE_SECS(1), 10};
    f->opts.concurrency = 2;
    fetch(f);
    CHECK_EQ(f->sum.success, 5);
    tear_down(f);

    f = set_up(false);
    ask(f, "/bytes:1M");
    f->opts.max_memory = 100 << 10;
    f->opts.retry.max_attempts = 5;
    fetch(f);
    CHECK_EQ(f->got[0].fault.code, SEINE_E_BUDGET);
    CHECK_STR(f->got[0].error, "Resource limit exceeded: memory limit reached");
    CHECK_EQ(f->got[0].attempts, 0);
    CHECK_EQ(f->got[0].body.len, 0);
    CHECK_EQ(witness(f, "\"totals\"", "requests"), 1);
    tear_down(f);

    /* What fits alone comes home, once, however many want the same memory. */
    f = set_up(false);
    for (int i = 0; i < 20; i++)
        ask(f, "/bytes:1M");
    f->opts.max_memory = 3 << 20;
    f->opts.max_body = 1 << 20;
    f->opts.concurrency = 20;
    fetch(f);
    CHECK_EQ(f->sum.success, 20);
    CHECK_EQ(witness(f, "\"totals\"", "requests"), 20);
    tear_down(f);
}

TEST(s0_28_s4_12_s4_13_hosts_do_not_suffer_for_each_other)
{
    fixture *f = set_up(true);
    const char *port = strrchr(seine_chaos_url(f->chaos), ':');
    char bad[64], good[64];

    snprintf(bad, sizeof bad, "http://bad.test%s", port);
    snprintf(good, sizeof good, "http://good.test%s", port);
    for (int i = 0; i < 6; i++) {
        ask_at(f, bad, "/status:500");
        ask_at(f, good, "/ok");
    }
    f->opts.concurrency = 1;
    f->opts.retry.max_attempts = 1;
    f->opts.breaker.failure_threshold = 2;
    f->opts.breaker.open_for = SEINE_MS(50);
    f->opts.park = 1;
    fetch(f);
    for (int i = 0; i < 6; i++)
        CHECK(seine_fetched_is_ok(&f->got[2 * i + 1]));
    CHECK_EQ(f->got[10].fault.code, SEINE_E_BREAKER);
    CHECK_EQ(f->got[10].attempts, 0);
    tear_down(f);
}

static void
ignore(const seine_record *r, unsigned shard, void *arg)
{
    (void)r;
    (void)shard;
    if (arg)
        atomic_fetch_add((_Atomic int *)arg, 1);
}

static void
give(seine_fetch *f, const char *base, const char *path, seine_ctx *ctx)
{
    char url[200];
    seine_ask a = SEINE_ASK;

    a.url = (seine_view){url, (size_t)snprintf(url, sizeof url, "%s%s", base, path)};
    CHECK_EQ(seine_fetch_add(f, &a, ctx), SEINE_OK);
}

typedef struct host_figures {
    char name[3][64];
    seine_fetch_host of[3];
    int n;
} host_figures;

static void
keep_host(const seine_fetch_host *h, void *arg)
{
    host_figures *all = arg;

    if (all->n == 3)
        return;
    snprintf(all->name[all->n], sizeof all->name[0], "%.*s", (int)h->host.len,
             h->host.ptr);
    all->of[all->n++] = *h;
}

/* The figures of a host that fails, of one that is well and of one that is refused. */
TEST(s4_11_every_host_has_a_breaker_and_figures_of_its_own)
{
    static const struct {
        const char *path;
        uint64_t requests, ok, failed;
        seine_breaker_state breaker;
        uint32_t opens;
    } rows[] = {
        {"/status:500", 3, 0, 3, SEINE_BREAKER_OPEN, 1}, /* the rest was not asked */
        {"/ok", 9, 9, 0, SEINE_BREAKER_CLOSED, 0},
        {"/status:404", 9, 0, 9, SEINE_BREAKER_CLOSED, 0},
    };
    fixture *t = set_up(true);
    const char *port = strrchr(seine_chaos_url(t->chaos), ':');
    host_figures all = {.n = 0};
    seine_fetch *f;
    char base[64], path[64];

    t->opts.on_record = ignore;
    t->opts.per_host = t->opts.concurrency = 1;
    t->opts.retry.max_attempts = 1;
    t->opts.breaker.failure_threshold = 3;
    t->opts.breaker.open_for = SEINE_SECS(60);
    CHECK_EQ(seine_fetch_new(&t->opts, &f, NULL), SEINE_OK);
    for (int i = 0; i < 27; i++) {
        snprintf(base, sizeof base, "http://%c.test%s", "abc"[i % 3], port);
        snprintf(path, sizeof path, "%s?%d", rows[i % 3].path, i);
        give(f, base, path, t->ctx);
    }
    seine_fetch_close(f);
    seine_fetch_stats s;
    do
        seine_fetch_stats_get(f, &s);
    while (s.done < 3 + 9 + 9);
    seine_fetch_stop(f, SEINE_E_CANCELED);
    CHECK_EQ(seine_fetch_finish(f, t->ctx), SEINE_OK);
    seine_fetch_hosts_each(f, keep_host, &all);
    CHECK_EQ(all.n, 3);
    for (int i = 0; i < all.n; i++) {
        int row = all.name[i][0] - 'a';

        CHECK(row >= 0 && row < 3 && strstr(all.name[i], ".test:"));
        if (row < 0 || row > 2)
            continue;
        CHECK_EQ(all.of[i].requests, rows[row].requests);
        CHECK_EQ(all.of[i].ok, rows[row].ok);
        CHECK_EQ(all.of[i].failed, rows[row].failed);
        CHECK_EQ(all.of[i].breaker, rows[row].breaker);
        CHECK_EQ(all.of[i].breaker_opens, rows[row].opens);
    }
    seine_fetch_free(f);
    tear_down(t);
}

/* Returns how long it took. */
static seine_span
fetch_with_every_second_answer_failing(void)
{
    fixture *f = set_up(false);
    char path[64];

    for (int i = 0; i < MANY; i++) {
        snprintf(path, sizeof path, "/text?p=0.5&key=k%d", i);
        ask(f, path);
    }
    f->opts.retry.max_attempts = 7;
    f->opts.retry.base = SEINE_MS(50);
    f->opts.retry.max = SEINE_SECS(30);
    f->opts.retry_budget.ratio_milli = 20000;
    f->opts.retry_budget.cap = 10000;
    f->opts.breaker.failure_threshold = 0;
    f->opts.breaker.window_calls = 100;
    f->opts.breaker.failure_pct = 90;
    fetch(f);
    CHECK(f->sum.success >= 990);
    CHECK_EQ(f->sum.total, MANY);
    seine_span took = f->took;
    tear_down(f);
    return took;
}

/* Returns what as many answers cost on this machine now, if none fails. */
static seine_span
cost_of_good_answers(void)
{
    fixture *f = set_up(false);
    char path[64];

    for (int i = 0; i < MANY; i++) {
        snprintf(path, sizeof path, "/text?key=k%d", i);
        ask(f, path);
    }
    fetch(f);
    CHECK_EQ(f->sum.success, MANY);
    seine_span took = 2 * f->took;
    tear_down(f);
    return took;
}

/* The ten seconds are for the waits. A machine that has other things to do gets three
 * chances to be on time. */
TEST(s0_29_a_thousand_urls_of_which_half_the_answers_fail)
{
    seine_span took = SEINE_NEVER;

    for (int i = 0; i < 3 && took > SEINE_SECS(10); i++)
        took = fetch_with_every_second_answer_failing() - cost_of_good_answers();
    CHECK(took <= SEINE_SECS(10));
}

TEST(x_34_a_dead_host_costs_threshold_and_concurrency_and_probes)
{
    fixture *f = set_up(false);
    seine_fetch_stats stats;
    seine_fetch *engine;

    f->opts.concurrency = 8;
    f->opts.retry.max_attempts = 1;
    f->opts.breaker.open_for = SEINE_MS(50);
    f->opts.on_record = ignore;
    CHECK_EQ(seine_fetch_new(&f->opts, &engine, NULL), SEINE_OK);
    for (int i = 0; i < MANY; i++) {
        char path[32];
        snprintf(path, sizeof path, "/%d", i);
        give(engine, seine_chaos_where(f->chaos, "dead"), path, f->ctx);
    }
    CHECK_EQ(seine_fetch_finish(engine, f->ctx), SEINE_OK);
    seine_fetch_stats_get(engine, &stats);
    CHECK_EQ(stats.done, MANY);
    CHECK(stats.requests <= 5 + 8 - 1 + 1);
    seine_fetch_free(engine);
    tear_down(f);
}

/* Waits until so many requests are under way. */
static void
until_in_flight(seine_fetch *f, uint64_t n)
{
    seine_time late = now() + CHECK_PATIENCE;
    seine_fetch_stats stats = {0};

    while (stats.in_flight != n && now() < late) {
        seine_fetch_stats_get(f, &stats);
        usleep(1000);
    }
    CHECK_EQ(stats.in_flight, n);
}

TEST(s1_19_s2_07_a_stop_lets_what_is_in_flight_end_and_cancels_the_rest)
{
    fixture *t = set_up(false);
    _Atomic int records = 0;
    seine_fetch_stats stats;
    seine_fetch *f;

    t->opts.concurrency = 4;
    t->opts.on_record = ignore;
    t->opts.arg = &records;
    CHECK_EQ(seine_fetch_new(&t->opts, &f, NULL), SEINE_OK);
    for (int i = 0; i < 50; i++) {
        char path[64];
        snprintf(path, sizeof path, "/delay:1s/ok?n=%d", i);
        give(f, seine_chaos_url(t->chaos), path, t->ctx);
    }
    until_in_flight(f, 4);
    seine_fetch_stop(f, SEINE_E_CANCELED);
    CHECK_EQ(seine_fetch_finish(f, t->ctx), SEINE_OK);
    seine_fetch_stats_get(f, &stats);
    CHECK_EQ(stats.ok, 4);
    CHECK_EQ(stats.done, 50);
    CHECK_EQ(atomic_load(&records), 50);
    CHECK_EQ(witness(t, "\"totals\"", "requests"), 4);
    seine_ask a = SEINE_ASK;
    a.url = (seine_view){"http://a.test/", 14};
    CHECK_EQ(seine_fetch_add(f, &a, NULL), SEINE_E_CLOSED);
    seine_fetch_free(f);
    tear_down(t);
}

TEST(a_second_stop_drops_what_is_in_flight)
{
    fixture *t = set_up(false);
    _Atomic int records = 0;
    seine_fetch *f;

    t->opts.timeout = t->opts.grace = SEINE_SECS(600);
    t->opts.head_timeout = SEINE_SECS(600);
    t->opts.on_record = ignore;
    t->opts.arg = &records;
    CHECK_EQ(seine_fetch_new(&t->opts, &f, NULL), SEINE_OK);
    give(f, seine_chaos_url(t->chaos), "/mute", t->ctx);
    until_in_flight(f, 1);
    seine_time start = now();
    seine_fetch_stop(f, SEINE_E_CANCELED);
    seine_fetch_stop(f, SEINE_E_CANCELED);
    CHECK_EQ(seine_fetch_finish(f, t->ctx), SEINE_OK);
    CHECK(now() - start < CHECK_PATIENCE);
    CHECK_EQ(atomic_load(&records), 1);
    seine_fetch_free(f);
    tear_down(t);
}

TEST(s2_04_the_time_of_the_whole_run_ends_it_and_the_rest_is_canceled)
{
    fixture *f = set_up(false);
    seine_ctx *short_one;

    for (int i = 0; i < 20; i++)
        ask(f, i == 0 ? "/ok" : "/delay:10m/ok");
    f->opts.concurrency = 1;
    f->opts.grace = 0;
    f->opts.timeout = f->opts.head_timeout = SEINE_SECS(600);
    CHECK_EQ(seine_ctx_new(f->ctx, now() + SEINE_SECS(1), &short_one), SEINE_OK);
    CHECK_EQ(seine_fetch_all(&f->opts, short_one, f->urls, f->n, f->got, &f->sum),
             SEINE_OK);
    CHECK(seine_fetched_is_ok(&f->got[0]));
    CHECK_EQ(f->got[19].fate, SEINE_FATE_CANCELED);
    CHECK_EQ(f->got[19].fault.code, SEINE_E_DEADLINE);
    CHECK_EQ(f->sum.total, 20);
    seine_ctx_unref(short_one);
    tear_down(f);
}

TEST(s2_05_a_url_given_twice_is_fetched_once)
{
    fixture *t = set_up(false);
    _Atomic int records = 0;
    seine_fetch_stats stats;
    seine_fetch *f;

    t->opts.on_record = ignore;
    t->opts.arg = &records;
    CHECK_EQ(seine_fetch_new(&t->opts, &f, NULL), SEINE_OK);
    for (int i = 0; i < 10; i++)
        give(f, seine_chaos_url(t->chaos), i % 2 ? "/ok" : "/%6fk#x", t->ctx);
    CHECK_EQ(seine_fetch_finish(f, t->ctx), SEINE_OK);
    seine_fetch_stats_get(f, &stats);
    CHECK_EQ(stats.duplicates, 9);
    CHECK_EQ(stats.done, 1);
    CHECK_EQ(atomic_load(&records), 1);
    CHECK_EQ(witness(t, "\"totals\"", "requests"), 1);
    seine_fetch_free(f);
    tear_down(t);
}

typedef struct feeder {
    fixture *t;
    seine_fetch *f;
    int from;
} feeder;

static void *
feed(void *arg)
{
    feeder *it = arg;

    for (int i = 0; i < 100; i++) {
        char path[64];
        snprintf(path, sizeof path, "/ok?n=%d", (it->from + i) % 150);
        give(it->f, seine_chaos_url(it->t->chaos), path, it->t->ctx);
    }
    return NULL;
}

TEST(s2_06_many_threads_may_give_urls_and_none_is_lost_or_doubled)
{
    for (int round = 0; round < 10; round++) {
        fixture *t = set_up(false);
        _Atomic int records = 0;
        pthread_t threads[4];
        feeder feeders[4];
        seine_fetch_stats stats;
        seine_fetch *f;

        t->opts.threads = 2;
        t->opts.concurrency = 16;
        t->opts.queue = 32;
        t->opts.on_record = ignore;
        t->opts.arg = &records;
        CHECK_EQ(seine_fetch_new(&t->opts, &f, NULL), SEINE_OK);
        for (int i = 0; i < 4; i++) {
            feeders[i] = (feeder){t, f, i * 37};
            CHECK_EQ(pthread_create(&threads[i], NULL, feed, &feeders[i]), 0);
        }
        for (int i = 0; i < 4; i++)
            pthread_join(threads[i], NULL);
        CHECK_EQ(seine_fetch_finish(f, t->ctx), SEINE_OK);
        seine_fetch_stats_get(f, &stats);
        CHECK_EQ(stats.given + stats.duplicates, 400);
        CHECK_EQ(stats.given, stats.admitted + stats.refused);
        CHECK_EQ(stats.done, stats.admitted);
        CHECK_EQ(atomic_load(&records), (int)stats.done);
        CHECK_EQ(witness(t, "\"totals\"", "requests"), (long long)stats.requests);
        seine_fetch_free(f);
        tear_down(t);
    }
}

TEST(it_runs_inside_the_callers_own_loop)
{
    fixture *t = set_up(false);
    _Atomic int records = 0;
    seine_fetch *f;
    int ep = epoll_create1(EPOLL_CLOEXEC);

    t->opts.threads = 0;
    t->opts.on_record = ignore;
    t->opts.arg = &records;
    CHECK_EQ(seine_fetch_new(&t->opts, &f, NULL), SEINE_OK);
    struct epoll_event ev = {.events = EPOLLIN};
    CHECK_EQ(epoll_ctl(ep, EPOLL_CTL_ADD, seine_fetch_fd(f), &ev), 0);
    for (int i = 0; i < 20; i++) {
        char path[64];
        snprintf(path, sizeof path, i % 5 ? "/delay:20ms/ok?n=%d" : "/ok?fail=1&key=%d",
                 i);
        give(f, seine_chaos_url(t->chaos), path, NULL);
    }
    seine_fetch_close(f);
    seine_time start = now();
    int turns = 0;
    while (!seine_fetch_is_done(f) && now() - start < CHECK_PATIENCE) {
        seine_fetch_step(f, NULL);
        if (!seine_fetch_is_done(f))
            epoll_wait(ep, &ev, 1, 2000);
        turns++;
    }
    CHECK_EQ(atomic_load(&records), 20);
    CHECK(turns < 1000);
    seine_fetch_free(f);
    close(ep);
    tear_down(t);
}

TEST(the_rate_of_a_host_holds_for_retries_and_redirects_too)
{
    fixture *f = set_up(false);

    ask(f, "/redir:3/ok");
    ask(f, "/ok?fail=2&with=status:503&key=r");
    ask(f, "/ok");
    f->opts.mine = false;
    f->opts.adaptive = false;
    f->opts.per_ip = 0;
    f->opts.host_rate = (seine_rate){5, SEINE_SECS(1), 1};
    fetch(f);
    CHECK_EQ(f->sum.success, 3);
    CHECK_EQ(witness(f, "\"totals\"", "requests"), 8);
    CHECK(witness(f, "\"hosts\"", "min_gap_us") >= 150000);
    tear_down(f);
}

TEST(a_retry_after_holds_the_whole_host)
{
    fixture *f = set_up(false);

    ask(f, "/ok?fail=1&with=head:Retry-After:1%2Fstatus:429&key=busy");
    for (int i = 0; i < 5; i++)
        ask(f, "/ok");
    f->opts.concurrency = 1;
    fetch(f);
    CHECK_EQ(witness(f, "\"hosts\"", "early_after_retry"), 0);
    CHECK_EQ(f->sum.success, 6);
    CHECK(f->took >= SEINE_SECS(1));
    tear_down(f);
}

TEST(what_options_say_of_nets_is_obeyed)
{
    static const struct {
        const char *allow, *deny, *zone;
        bool is_untrusted, is_fetched;
    } rows[] = {
        {NULL, NULL, NULL, false, true},
        {NULL, "127.0.0.0/8", NULL, false, false},
        {NULL, "127.0.0.2/32", NULL, false, true},
        {NULL, NULL, NULL, true, false},
        {"127.0.0.0/8", NULL, NULL, true, true},
        {"127.0.0.0/8", "127.0.0.1/32", NULL, true, false},
        {NULL, NULL, "127.0.0.0/8=public", true, true},
    };

    EACH_ROW(i, rows) {
        const char *allow[] = {rows[i].allow, NULL}, *deny[] = {rows[i].deny, NULL};
        const char *zones[] = {rows[i].zone, NULL};
        fixture *f = set_up(false);

        ask(f, "/ok");
        f->opts.allow_net = allow;
        f->opts.deny_net = deny;
        f->opts.zones = zones;
        f->opts.untrusted = rows[i].is_untrusted;
        fetch(f);
        CHECK_EQ(f->got[0].fault.code,
                 rows[i].is_fetched ? SEINE_OK : SEINE_E_BLOCKED_ADDRESS);
        tear_down(f);
    }
}
