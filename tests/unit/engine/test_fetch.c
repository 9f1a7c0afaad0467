/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fetch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "diag_line.h"
#include "failing.h"
#include "gather.h"
#include "script.h"

static seine_ask
ask_of(const char *url)
{
    seine_ask a = SEINE_ASK;

    a.url = (seine_view){url, strlen(url)};
    return a;
}

static seine_err
add(seine_fetch *f, const char *url, seine_ctx *ctx)
{
    seine_ask a = ask_of(url);

    return seine_fetch_add(f, &a, ctx);
}

TEST(defaults_are_those_of_a_good_guest)
{
    seine_fetch_opts o = SEINE_FETCH_OPTS;

    CHECK(o.concurrency == 64 && o.per_host == 4 && o.per_ip == 8 && o.threads == 1);
    CHECK(o.queue == 1000 && o.rate.count == 0 && o.adaptive && !o.mine);
    CHECK(o.host_rate.count == 5 && o.host_rate.per == SEINE_SECS(1) &&
          o.host_rate.burst == 1);
    CHECK_EQ(o.timeout, SEINE_SECS(30));
    CHECK_EQ(o.connect_timeout, SEINE_SECS(10));
    CHECK(o.dns_timeout == SEINE_SECS(5) && o.tcp_timeout == SEINE_SECS(5) &&
          o.tls_timeout == SEINE_SECS(5) && o.head_timeout == SEINE_SECS(20));
    CHECK(o.grace == SEINE_SECS(10) && o.max_retry_after == SEINE_SECS(300));
    CHECK(o.retry.max_attempts == 6 && o.park == SEINE_PARK_AUTO &&
          o.breaker.failure_threshold == 5);
    CHECK_STR(o.method, "GET");
    CHECK(strncmp(o.user_agent, "seine/", 6) == 0);
    for (unsigned status = 0; status < 640; status++)
        CHECK_EQ(seine_status_set_has(&o.accept, status), status >= 200 && status < 300);
    CHECK(o.max_redirects == 10 && o.keep == SEINE_KEEP_TITLE && o.dedup);
    CHECK(o.max_body == 16 << 20 && o.max_wire == 16 << 20);
}

/* clang-format off */
/* A change that makes no sense, and what is said about it. */
#define WRONG(X)                                                                          \
    X(o->concurrency = 0, "concurrency", "at least 1")                                    \
    X(o->per_host = 0, "per_host", "at least 1")                                          \
    X(o->per_ip = 65536, "per_ip", "at most 65535")                                       \
    X(o->threads = 257, "threads", "at most 256")                                         \
    X(o->rate = ((seine_rate){1, 0, 1}), "rate", "contradicts itself")                    \
    X(o->host_rate.burst = 0, "host_rate", "contradicts itself")                          \
    X(o->timeout = 0, "timeout", "above 0 and not for ever")                              \
    X(o->timeout = SEINE_NEVER, "timeout", "above 0 and not for ever")                    \
    X(o->connect_timeout = 0, "connect_timeout", "above 0")                               \
    X(o->dns_timeout = 0, "dns_timeout", "above 0")                                       \
    X(o->tcp_timeout = -1, "tcp_timeout", "above 0")                                      \
    X(o->tls_timeout = 0, "tls_timeout", "above 0")                                       \
    X(o->head_timeout = 0, "head_timeout", "above 0")                                     \
    X(o->grace = -1, "grace", "not below 0")                                              \
    X(o->max_retry_after = -1, "max_retry_after", "not below 0")                          \
    X(o->speed_span = 0, "speed_span", "above 0")                                         \
    X(o->retry.base = -1, "retry", "contradicts itself")                                  \
    X(o->breaker.open_max = -1, "breaker", "contradicts itself")                         \
    X(o->method = "", "method", "not empty")                                              \
    X(o->method = "G T", "method", "'G T': cannot be sent")                               \
    X(o->method = "CONNECT", "method", "'CONNECT': cannot be sent")                       \
    X(o->user_agent = NULL, "user_agent", "not empty")                                    \
    X(o->user_agent = "a\nb", "user_agent", "'a?b': cannot be sent")                      \
    X(o->from = "a\nb", "from", "'a?b': cannot be sent")                                  \
    X(o->fields = &two_lines, "fields", "'X-A': cannot be sent")                          \
    X(o->fields = &host, "fields", "'Host': cannot be sent")                              \
    X(o->max_redirects = 1001, "max_redirects", "at most 1000")                           \
    X(o->include = bad_patterns, "include", "'(': missing closing parenthesis (at byte 1)") \
    X(o->exclude = bad_patterns, "exclude", "'(': missing closing parenthesis (at byte 1)") \
    X(o->crawl = &bad_scope, "scope", "host, domain, prefix or any")                      \
    X(o->crawl = &bad_domains, "domains", "'a..b': not the name of a host")               \
    X(o->cacert = "/no/ca", "cacert", "'/no/ca': No such file or directory")              \
    X(o->cert = "/no/cert", "cert", "'/no/cert': No such file or directory")              \
    X(o->cert_key = "/no/key", "cert_key", "without cert")                                \
    X(o->tls_min = 11, "tls_min", "12 or 13")                                             \
    X(o->proxy = "ftp://p", "proxy", "ftp: the scheme is http, https, socks5 or socks5h") \
    X(o->no_proxy = "10.1.2.3/8", "no_proxy", "neither a name, an address nor a net: 10.1.2.3/8") \
    X(o->proxy_env = bad_env, "http_proxy", "no host")                                    \
    X(o->dns = "dns.example", "dns", "'dns.example': no name server: it needs ADDR or ADDR:PORT") \
    X(o->resolve = bad_nets, "resolve", "'10.1.2.3/8': not HOST:PORT:ADDR")               \
    X(o->allow_net = bad_nets, "allow_net", "'10.1.2.3/8': not understood")               \
    X(o->deny_net = bad_nets, "deny_net", "'10.1.2.3/8': not understood")                 \
    X(o->zones = bad_nets, "zones", "'10.1.2.3/8': not understood")
/* clang-format on */

static char *
bad_env(const char *name)
{
    static char text[] = "http://";

    return strcmp(name, "http_proxy") == 0 ? text : NULL;
}

static void
spoil(seine_fetch_opts *o, size_t row)
{
    static const char *const bad_patterns[] = {"(", NULL};
    static const char *const bad_nets[] = {"10.1.2.3/8", NULL};
    static const char *const bad_hosts[] = {"a..b", NULL};
    static const seine_field two_lines = {{"X-A", 3}, {"a\r\nB: c", 7}};
    static const seine_field host = {{"Host", 4}, {"b.test", 6}};
    static seine_crawl_opts bad_scope, bad_domains;
    size_t at = 0;

    bad_scope = bad_domains = SEINE_CRAWL_OPTS;
    bad_scope.scope = (seine_scope)4;
    bad_domains.domains = bad_hosts;
#define X(change, member, text) \
    if (at++ == row)            \
        change;
    WRONG(X)
#undef X
    o->n_fields = o->fields ? 1 : 0;
}

TEST(a_wrong_option_is_told_before_the_first_request)
{
    static const struct {
        const char *member, *text;
    } rows[] = {
#define X(change, member, text) {member, text},
        WRONG(X)
#undef X
    };

    EACH_ROW(i, rows) {
        seine_fetch_opts o = SEINE_FETCH_OPTS;
        seine_diag diag = {.file = "old", .line = 7};
        seine_fetch *f = NULL;

        o.threads = 0;
        spoil(&o, i);
        CHECK_EQ(seine_fetch_new(&o, &f, &diag), SEINE_E_CONFIG);
        CHECK(f == NULL);
        CHECK_STR(diag.member, rows[i].member);
        CHECK_STR(diag.text, rows[i].text);
        CHECK_STR(diag.file, "");
        CHECK_EQ(diag.line, 0);
        CHECK_EQ(seine_fetch_new(&o, &f, NULL), SEINE_E_CONFIG);
    }
}

TEST(s0_23_s0_21_results_are_in_the_order_of_the_urls)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    const char *urls[] = {"http://a.test/slow", "http://a.test/404",  "nonsense here",
                          "http://a.test/slow", "http://a.test/dead", "ftp://x.test/"};
    seine_fetched got[6];
    seine_summary sum;

    o.retry.max_attempts = 1;
    script_on(s, "http://a.test/slow",
              &(answer){.takes = SEINE_SECS(2), .body = "content"});
    script_on(s, "http://a.test/404", &(answer){.status = 404, .body = "gone"});
    script_on(s, "http://a.test/dead", &(answer){.err = SEINE_E_CONNECT_REFUSED});
    CHECK_EQ(sn_fetch_all(&o, script_net(s), NULL, urls, 6, got, &sum), SEINE_OK);
    for (int i = 0; i < 6; i++)
        CHECK(got[i].url == urls[i]);
    for (int i = 0; i < 4; i += 3) { /* a repeated one is fetched again */
        CHECK(seine_fetched_is_ok(&got[i]));
        CHECK_STR(got[i].body.bytes, "content");
        CHECK_EQ(got[i].body.len, 7);
        CHECK_EQ(got[i].duration_ms, 2000);
        CHECK_EQ(got[i].attempts, 1);
        CHECK_STR(got[i].error, "");
    }
    CHECK(!seine_fetched_is_ok(&got[1]) && got[1].body.bytes == NULL);
    CHECK_STR(got[1].error, "HTTP 404 error for http://a.test/404");
    CHECK_EQ(got[2].fault.code, SEINE_E_BAD_URL);
    CHECK(got[2].attempts == 0 && got[2].fate == SEINE_FATE_BLOCKED);
    CHECK_EQ(got[4].fate, SEINE_FATE_NETWORK_ERROR);
    CHECK_EQ(got[5].fault.code, SEINE_E_BLOCKED_SCHEME);
    CHECK(sum.total == 6 && sum.success == 2 && sum.failed == 4);
    CHECK_EQ(sum.total_duration_ms, 2000 + 2000 + 10 + 10);
    CHECK_EQ(sum.wall_ms, 2000);
    seine_fetched_free(got, 6);
    script_free(s);
}

TEST(fetch_all_says_why_a_url_was_not_asked_for)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    const char *urls[] = {"http://a.test:25/", "http://a.test/"};
    seine_fetched got[2];

    o.untrusted = true;
    CHECK_EQ(sn_fetch_all(&o, script_net(s), NULL, urls, 2, got, NULL), SEINE_OK);
    CHECK_EQ(got[0].fault.code, SEINE_E_BLOCKED_PORT);
    CHECK_EQ(got[0].fate, SEINE_FATE_BLOCKED);
    CHECK(seine_fetched_is_ok(&got[1]) && !seine_fetched_is_ok(&got[0]));
    CHECK(!seine_fetched_is_ok(NULL));
    CHECK_EQ(seine_fetch_all(NULL, NULL, urls, 2, got, NULL), SEINE_E_INVAL);
    seine_fetched_free(got, 2);
    script_free(s);
}

TEST(more_urls_than_the_queue_holds_are_fetched_all_the_same)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    const char *urls[100];
    static seine_fetched got[100];
    seine_summary sum;

    for (int i = 0; i < 100; i++)
        urls[i] = i % 2 ? "http://a.test/" : "http://b.test/";
    o.concurrency = 2;
    o.queue = 4;
    CHECK_EQ(sn_fetch_all(&o, script_net(s), NULL, urls, 100, got, &sum), SEINE_OK);
    CHECK_EQ(sum.success, 100);
    CHECK_EQ(script_peak(s), 2);
    seine_fetched_free(got, 100);
    script_free(s);
}

TEST(s2_04_a_ctx_that_ends_makes_the_rest_canceled)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    const char *urls[10];
    seine_fetched got[10];
    seine_summary sum;
    seine_ctx *root, *ctx;

    for (int i = 0; i < 10; i++)
        urls[i] = "http://a.test/";
    script_on(s, "http://a.test/", &(answer){.takes = SEINE_SECS(1)});
    o.concurrency = 1;
    o.queue = 2;
    o.grace = SEINE_MS(400);
    CHECK_EQ(seine_ctx_root(script_clock(s), &root), SEINE_OK);
    CHECK_EQ(seine_ctx_new(root, T0 + SEINE_MS(2500), &ctx), SEINE_OK);
    CHECK_EQ(sn_fetch_all(&o, script_net(s), ctx, urls, 10, got, &sum), SEINE_OK);
    CHECK(seine_fetched_is_ok(&got[0]) && seine_fetched_is_ok(&got[1]));
    for (int i = 2; i < 10; i++) {
        CHECK_EQ(got[i].fate, SEINE_FATE_CANCELED);
        CHECK_EQ(got[i].fault.code, SEINE_E_DEADLINE);
    }
    CHECK(sum.total == 10 && sum.success == 2);
    CHECK_EQ(script_now(s), T0 + SEINE_MS(2900));
    seine_fetched_free(got, 10);
    seine_ctx_unref(ctx);
    seine_ctx_unref(root);
    script_free(s);
}

TEST(callbacks_of_the_options_are_called_beside_the_results)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    gather *g = calloc(1, sizeof *g);
    const char *urls[] = {"http://a.test/", "http://a.test/"};
    seine_fetched got[2];

    o.on_record = gather_record;
    o.ready = gather_ready;
    o.on_event = gather_event;
    o.arg = g;
    o.breaker.failure_threshold = 1;
    o.concurrency = 1;
    o.retry.max_attempts = 1;
    script_on(s, "http://a.test/", &(answer){.status = 500});
    CHECK_EQ(sn_fetch_all(&o, script_net(s), NULL, urls, 2, got, NULL), SEINE_OK);
    CHECK_EQ(g->n, 2);
    CHECK(g->asked_ready > 0 && g->events > 0);
    seine_fetched_free(got, 2);
    free(g);
    script_free(s);
}

TEST(s2_05_urls_given_again_are_counted_and_not_recorded)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    gather *g = calloc(1, sizeof *g);
    seine_fetch_stats stats;
    seine_fetch *f;

    o.on_record = gather_record;
    o.arg = g;
    o.max_pages = 2;
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    CHECK(!seine_fetch_is_done(f));
    for (int i = 0; i < 3; i++)
        CHECK_EQ(add(f, "http://a.test/", NULL), SEINE_OK);
    CHECK_EQ(add(f, "http://a.test/2", NULL), SEINE_OK);
    CHECK_EQ(add(f, "http://a.test/3", NULL), SEINE_OK); /* more than max_pages */
    CHECK_EQ(add(f, "mailto:x", NULL), SEINE_OK);
    seine_fetch_stats_get(f, &stats);
    CHECK(stats.given == 4 && stats.admitted == 2 && stats.refused == 2);
    CHECK(stats.duplicates == 2 && stats.waiting == 2 && stats.done == 0);
    CHECK_EQ(stats.waiting_for[SEINE_WAIT_QUEUE], 2);
    CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
    seine_fetch_stats_get(f, &stats);
    CHECK(stats.done == 2 && stats.ok == 2 && stats.waiting == 0 && stats.requests == 2);
    CHECK_EQ(stats.parked_until, SEINE_NEVER);
    CHECK_EQ(g->n, 4);
    int budget = 0;
    for (unsigned i = 0; i < 4; i++)
        budget +=
            g->all[i].type == SEINE_RECORD_SKIP && g->all[i].reason == SEINE_SKIP_BUDGET;
    CHECK_EQ(budget, 1);
    CHECK(seine_fetch_is_done(f));
    CHECK_EQ(add(f, "http://a.test/4", NULL), SEINE_E_CLOSED);
    CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK); /* again is fine */
    seine_fetch_free(f);
    seine_fetch_free(NULL);
    free(g);
    script_free(s);
}

TEST(a_full_queue_says_so_to_whoever_does_not_wait)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    seine_fetch *f;

    o.concurrency = 1;
    o.queue = 2;
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    CHECK_EQ(add(f, "http://a.test/1", NULL), SEINE_OK);
    CHECK_EQ(add(f, "http://a.test/2", NULL), SEINE_OK);
    CHECK_EQ(add(f, "http://a.test/3", NULL), SEINE_E_FULL);
    sn_fetch_turn(f, SEINE_NEVER);
    sn_fetch_turn(f, SEINE_NEVER);
    sn_fetch_turn(f, SEINE_NEVER);
    CHECK_EQ(add(f, "http://a.test/3", NULL), SEINE_OK);
    seine_fetch_free(f); /* what still runs is canceled, and has its record */
    script_free(s);
}

TEST(free_stops_at_once_and_every_url_has_its_record)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    gather *g = calloc(1, sizeof *g);
    seine_fetch *f;

    o.on_record = gather_record;
    o.arg = g;
    o.concurrency = 2;
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    for (int i = 0; i < 5; i++) {
        char url[32];
        snprintf(url, sizeof url, "http://a.test/%d", i);
        script_on(s, url, &(answer){.takes = SEINE_SECS(20)});
        CHECK_EQ(add(f, url, NULL), SEINE_OK);
    }
    sn_fetch_turn(f, INT64_MIN);
    CHECK_EQ(script_in_flight(s), 2);
    seine_fetch_free(f);
    CHECK_EQ(g->n, 5);
    for (unsigned i = 0; i < 5; i++)
        CHECK_EQ(g->all[i].fate, SEINE_FATE_CANCELED);
    CHECK_EQ(script_now(s), T0);
    free(g);
    script_free(s);
}

TEST(s0_28_steps_do_what_is_due_and_say_when_to_come_back)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    seine_time again = 0;
    seine_fetch *f;

    o.mine = false;
    o.adaptive = false;
    o.per_ip = 0;
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    CHECK(seine_fetch_fd(f) >= 0);
    CHECK_EQ(add(f, "http://a.test/1", NULL), SEINE_OK);
    CHECK_EQ(add(f, "http://a.test/2", NULL), SEINE_OK);
    seine_fetch_close(f);
    seine_fetch_step(f, &again);
    CHECK_EQ(script_requests(s), 1);
    CHECK_EQ(again, T0 + SEINE_MS(200)); /* five a second */
    script_jump(s, SEINE_MS(199));
    seine_fetch_step(f, NULL);
    CHECK_EQ(script_requests(s), 1);
    script_jump(s, SEINE_MS(1));
    seine_fetch_step(f, &again);
    CHECK_EQ(script_requests(s), 2);
    script_jump(s, SEINE_MS(10));
    seine_fetch_step(f, NULL);
    seine_fetch_step(f, &again);
    CHECK(seine_fetch_is_done(f));
    CHECK_EQ(again, SEINE_NEVER);
    seine_fetch_free(f);
    script_free(s);
}

/* The ctx lives on: whoever cancels it later meets nobody who waits. */
TEST(a_finish_that_is_over_has_left_its_ctx)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    seine_ctx *ctx;
    seine_fetch *f;

    CHECK_EQ(seine_ctx_root(script_clock(s), &ctx), SEINE_OK);
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    CHECK_EQ(add(f, "http://a.test/", NULL), SEINE_OK);
    CHECK_EQ(seine_fetch_finish(f, ctx), SEINE_OK);
    seine_fetch_free(f);
    seine_ctx_cancel(ctx, SEINE_OK);
    seine_ctx_unref(ctx);
    script_free(s);
}

static void
count_host(const seine_fetch_host *h, void *arg)
{
    unsigned *n = arg;

    (*n)++;
    CHECK_EQ(h->requests, 1);
    CHECK_EQ(h->ok, 1);
}

static void
check_tries(const seine_fetch_host *h, void *arg)
{
    ++*(unsigned *)arg;
    CHECK_EQ(h->requests, 3);
    CHECK_EQ(h->retries, 2);
    CHECK_EQ(h->ok, 1);
    CHECK_EQ(h->failed, 2);
}

TEST(hosts_tell_how_often_they_were_asked_again)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    unsigned hosts = 0;
    seine_fetch *f;

    o.retry.max_attempts = 5;
    script_on(s, "http://a.test/", &(answer){.status = 503}, &(answer){.status = 503},
              &(answer){.status = 200});
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    CHECK_EQ(add(f, "http://a.test/", NULL), SEINE_OK);
    CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
    seine_fetch_hosts_each(f, check_tries, &hosts);
    CHECK_EQ(hosts, 1);
    seine_fetch_free(f);
    script_free(s);
}

TEST(s4_11_hosts_tell_their_figures)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    unsigned hosts = 0;
    seine_fetch *f;

    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    CHECK_EQ(add(f, "http://a.test/", NULL), SEINE_OK);
    CHECK_EQ(add(f, "http://b.test/", NULL), SEINE_OK);
    CHECK_EQ(add(f, "http://b.test:81/", NULL), SEINE_OK);
    CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
    seine_fetch_hosts_each(f, count_host, &hosts);
    CHECK_EQ(hosts, 3);
    seine_fetch_free(f);
    script_free(s);
}

TEST(after_warming_up_a_url_allocates_nothing)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    seine_fetch *f;

    o.dedup = false;
    count_begin();
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    for (int i = 0; i < 11; i++) {
        script_on(s, "http://a.test/", &(answer){.status = 200});
        CHECK_EQ(add(f, "http://a.test/", NULL), SEINE_OK);
        while (!script_in_flight(s))
            sn_fetch_turn(f, SEINE_NEVER);
        while (script_in_flight(s))
            sn_fetch_turn(f, SEINE_NEVER);
    }
    long before = count_calls();
    for (int i = 0; i < 100; i++) {
        CHECK_EQ(add(f, "http://a.test/", NULL), SEINE_OK);
        while (!script_in_flight(s))
            sn_fetch_turn(f, SEINE_NEVER);
        while (script_in_flight(s))
            sn_fetch_turn(f, SEINE_NEVER);
    }
    CHECK_EQ(count_calls(), before);
    seine_fetch_free(f);
    CHECK_EQ(count_out(), 0);
    count_end();
    script_free(s);
}

/* More URLs than may be out at once, twice the same one, and one beyond max_pages. */
TEST(fetch_all_has_a_result_for_every_url_whatever_the_limits)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    const char *urls[40];
    seine_fetched got[40];
    seine_summary sum;
    gather *g = calloc(1, sizeof *g);

    for (int i = 0; i < 40; i++)
        urls[i] = i % 2 ? "http://a.test/" : "http://b.test/";
    script_on(s, "http://b.test/", &(answer){.body = "b", .takes = SEINE_SECS(2)});
    o.concurrency = 3;
    o.queue = 4;
    o.max_pages = 39;
    o.on_record = gather_record; /* the caller's own are called, too */
    o.ready = gather_ready;
    o.arg = g;
    CHECK_EQ(sn_fetch_all(&o, script_net(s), NULL, urls, 40, got, &sum), SEINE_OK);
    for (int i = 0; i < 39; i++) {
        CHECK(got[i].url == urls[i]);
        CHECK(seine_fetched_is_ok(&got[i]));
        CHECK_STR(got[i].body.bytes, i % 2 ? "" : "b");
        CHECK_EQ(got[i].attempts, 1);
        CHECK(got[i].duration_ms >= (i % 2 ? 10 : 2000));
    }
    CHECK_EQ(got[39].fault.code, SEINE_E_BUDGET);
    CHECK(got[39].fate != SEINE_FATE_BLOCKED);
    CHECK_STR(got[39].fault.url, "http://a.test/");
    CHECK(got[39].error[0]);
    CHECK_EQ(sum.total, 40);
    CHECK_EQ(sum.success, 39);
    CHECK(sum.wall_ms >= 14 * 1000 && sum.wall_ms < 60 * 1000);
    CHECK_EQ(g->n, 40);
    CHECK(g->asked_ready > 0);
    seine_fetched_free(got, 40);
    free(g);
    script_free(s);
}

/* Every allocation of a whole fetch fails in turn: with retries, a redirect, fields,
 * a kept body, a title, metrics. */
TEST(fetch_all_without_memory_says_so_or_has_a_named_result)
{
    const char *url = "http://a.test/";

    FAIL_EACH(round)
    {
        script *s = script_new(NULL);
        seine_fetch_opts o = script_opts(s);
        seine_summary sum = {.total = 77};
        seine_fetched got;

        o.retry.max_attempts = 1;
        script_on(s, url, &(answer){.body = "hello"});
        seine_err e = sn_fetch_all(&o, script_net(s), NULL, &url, 1, &got, &sum);
        CHECK(e == SEINE_OK || (e == SEINE_E_NOMEM && fail_hit()));
        CHECK_EQ(sum.total, e == SEINE_OK ? 1 : 77);
        if (e == SEINE_OK)
            CHECK(seine_fetched_is_ok(&got) ? strcmp(got.body.bytes, "hello") == 0
                                            : got.fault.code == SEINE_E_NOMEM);
        seine_fetched_free(&got, 1);
        script_free(s);
    }
}

TEST(whatever_allocation_fails_every_url_has_one_record_or_a_named_error)
{
    static const seine_field field = {{"X-A", 3}, {"1", 1}};

    FAIL_EACH(round)
    {
        script *s = script_new(NULL);
        seine_fetch_opts o = script_opts(s);
        gather *g = calloc(1, sizeof *g);
        seine_metrics *metrics = NULL;
        seine_fetch *f = NULL;
        unsigned given = 0;

        o.on_record = gather_record;
        o.arg = g;
        o.keep = SEINE_KEEP_BODY | SEINE_KEEP_FIELDS | SEINE_KEEP_TITLE | SEINE_KEEP_WIRE;
        o.mine = false;
        o.host_rate.count = 0;
        o.adaptive = false;
        if (seine_metrics_new(&metrics) == SEINE_OK)
            o.metrics = metrics;
        if (seine_cookie_jar_new(&o.jar) != SEINE_OK)
            o.jar = NULL;
        script_on(s, "http://a.test/1",
                  &(answer){.status = 302, .fields = "Location: http://b.test/2"});
        script_on(s, "http://b.test/2",
                  &(answer){.status = 500, .fields = "Set-Cookie: k=v"},
                  &(answer){.fields = "Content-Type: text/html; charset=utf-8\nX: y",
                            .body = "<title>T</title>",
                            .fill = 10000});
        seine_err e = sn_fetch_open(&o, script_net(s), &f, NULL);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e == SEINE_OK) {
            static const char *const urls[] = {"http://a.test/1", "http://c.test/",
                                               "bad url"};
            for (int i = 0; i < 3; i++) {
                seine_ask ask = ask_of(urls[i]);
                ask.fields = &field;
                ask.n_fields = 1;
                e = seine_fetch_add(f, &ask, NULL);
                CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
                given += e == SEINE_OK;
            }
            CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
            CHECK_EQ(g->n, given);
            for (unsigned i = 0; i < g->n; i++) {
                CHECK_EQ(g->of[i], 1);
                CHECK(g->all[i].type == SEINE_RECORD_SKIP || g->all[i].code == SEINE_OK ||
                      g->all[i].code == SEINE_E_NOMEM ||
                      g->all[i].code == SEINE_E_HTTP_BUSY);
            }
            seine_fetch_free(f);
        }
        seine_metrics_free(metrics);
        seine_cookie_jar_free(o.jar);
        free(g);
        script_free(s);
    }
}

/* Threads, on a clock that the test advances. */

typedef struct feeder {
    seine_fetch *f;
    seine_clock *clock;
    seine_ctx *ctx;
    int from;
    _Atomic int failed;
} feeder;

static void *
feed(void *arg)
{
    feeder *it = arg;

    seine_clock_fake_enter(it->clock); /* time waits for it */
    for (int i = 0; i < 20; i++) {
        char url[64];
        snprintf(url, sizeof url, "http://h%d.test/%d", (it->from + i) % 5,
                 it->from * 20 + i);
        if (add(it->f, url, it->ctx) != SEINE_OK)
            atomic_fetch_add(&it->failed, 1);
    }
    seine_clock_fake_leave(it->clock);
    return NULL;
}

static void *
finish(void *arg)
{
    feeder *it = arg;

    if (seine_fetch_finish(it->f, it->ctx) != SEINE_OK)
        atomic_fetch_add(&it->failed, 1);
    return NULL;
}

TEST_THREADS(s2_06_several_shards_and_feeders_lose_nothing)
{
    seine_clock *clock;
    CHECK_EQ(seine_clock_fake_new(T0, 0, 1, &clock), SEINE_OK);
    script *s = script_new(clock);
    seine_fetch_opts o = script_opts(s);
    gather *g = calloc(1, sizeof *g);
    feeder feeders[3];
    pthread_t threads[3], finisher;
    seine_fetch_stats stats;
    seine_fetch *f;
    seine_ctx *ctx;

    o.on_record = gather_record;
    o.arg = g;
    o.threads = 3;
    o.concurrency = 4;
    o.queue = 8;
    script_on(s, "http://h1.test/1", &(answer){.status = 500},
              &(answer){.status = 302, .fields = "Location: http://h9.test/"});
    CHECK_EQ(seine_ctx_root(clock, &ctx), SEINE_OK);
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    for (int i = 0; i < 3; i++) {
        feeders[i] = (feeder){.f = f, .clock = clock, .ctx = ctx, .from = i};
        CHECK_EQ(pthread_create(&threads[i], NULL, feed, &feeders[i]), 0);
    }
    while (g->n < 60) {
        seine_clock_fake_advance(clock, SEINE_MS(10));
        seine_fetch_stats_get(f, &stats);
        CHECK_EQ(stats.given, stats.admitted + stats.refused);
        CHECK_EQ(stats.admitted, stats.done + stats.waiting + stats.in_flight);
    }
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
        CHECK_EQ(feeders[i].failed, 0);
    }
    feeder last = {.f = f, .clock = clock, .ctx = ctx};
    CHECK_EQ(pthread_create(&finisher, NULL, finish, &last), 0);
    pthread_join(finisher, NULL);
    CHECK_EQ(last.failed, 0);
    seine_fetch_stats_get(f, &stats);
    CHECK(stats.done == 60 && stats.ok == 60 && stats.waiting == 0);
    CHECK_EQ(g->n, 60);
    for (int i = 0; i < 60; i++)
        CHECK_EQ(g->of[i], 1);
    CHECK(script_peak(s) <= 4);
    seine_fetch_free(f);
    seine_ctx_unref(ctx);
    free(g);
    script_free(s);
    seine_clock_fake_free(clock);
}

TEST_THREADS(s2_07_a_ctx_that_is_canceled_ends_a_finish_in_order)
{
    seine_clock *clock;
    CHECK_EQ(seine_clock_fake_new(T0, 0, 1, &clock), SEINE_OK);
    script *s = script_new(clock);
    seine_fetch_opts o = script_opts(s);
    gather *g = calloc(1, sizeof *g);
    pthread_t finisher;
    seine_fetch *f;
    seine_ctx *ctx;

    o.on_record = gather_record;
    o.arg = g;
    o.threads = 2;
    o.grace = 0;
    script_on(s, "http://a.test/", &(answer){.takes = SEINE_SECS(20)});
    CHECK_EQ(seine_ctx_root(clock, &ctx), SEINE_OK);
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    CHECK_EQ(add(f, "http://a.test/", ctx), SEINE_OK);
    feeder last = {.f = f, .clock = clock, .ctx = ctx};
    CHECK_EQ(pthread_create(&finisher, NULL, finish, &last), 0);
    while (script_requests(s) == 0)
        seine_clock_fake_advance(clock, 0);
    seine_ctx_cancel(ctx, SEINE_OK);
    pthread_join(finisher, NULL);
    CHECK_EQ(last.failed, 1); /* it says so */
    CHECK_EQ(g->n, 1);
    CHECK_EQ(g->all[0].code, SEINE_E_CANCELED);
    CHECK(seine_fetch_is_done(f));
    seine_fetch_free(f);
    seine_ctx_unref(ctx);
    free(g);
    script_free(s);
    seine_clock_fake_free(clock);
}

static void
check_thread_name(const seine_record *r, unsigned shard, void *arg)
{
    char name[16] = "", want[16];

    (void)r;
    pthread_getname_np(pthread_self(), name, sizeof name);
    snprintf(want, sizeof want, "sn-shard-%u", shard);
    CHECK_STR(name, want);
    atomic_fetch_add((atomic_uint *)arg, 1);
}

static struct {
    void (*enter)(seine_clock *c), (*leave)(seine_clock *c);
    atomic_uint entered, left;
} door;

static void
count_enter(seine_clock *c)
{
    door.enter(c);
    door.entered++;
}

static void
count_leave(seine_clock *c)
{
    door.left++;
    door.leave(c);
}

static void
watch_door(seine_clock *c)
{
    door.entered = door.left = 0;
    door.enter = c->enter;
    door.leave = c->leave;
    c->enter = count_enter;
    c->leave = count_leave;
}

/* As a debugger or `top -H` shows it; and a fake clock waits for it while it works. */
TEST(the_thread_of_a_shard_has_its_name_and_enters_the_clock)
{
    seine_clock *clock;
    CHECK_EQ(seine_clock_fake_new(T0, 0, 1, &clock), SEINE_OK);
    script *s = script_new(clock);
    seine_fetch_opts o = script_opts(s);
    atomic_uint n = 0;
    seine_fetch *f;

    watch_door(clock);
    o.on_record = check_thread_name;
    o.arg = &n;
    o.threads = 3;
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    for (int i = 0; i < 9; i++) {
        char url[64];
        snprintf(url, sizeof url, "http://h%d.test/", i);
        CHECK_EQ(add(f, url, NULL), SEINE_OK);
    }
    while (n < 9)
        seine_clock_fake_advance(clock, SEINE_MS(10));
    CHECK_EQ(door.entered, 3);
    seine_fetch_free(f);
    CHECK_EQ(door.left, 3);
    script_free(s);
    seine_clock_fake_free(clock);
}

/* Links that are too deep are refused when nothing else is left, since another link might
 * have led there. The shards that hold them have long been asleep by then. */
TEST(the_shard_that_ends_a_crawl_wakes_those_that_have_something_to_refuse)
{
    enum { MANY = 8 };
    seine_clock *clock;
    CHECK_EQ(seine_clock_fake_new(T0, 0, 1, &clock), SEINE_OK);
    script *s = script_new(clock);
    seine_crawl_opts crawl = seine_crawl_defaults();
    seine_fetch_opts o = script_opts(s);
    gather *g = calloc(1, sizeof *g);
    seine_fetch *f;

    watch_door(clock);
    script_on(s, "http://slow.test/", &(answer){.takes = SEINE_SECS(10)});
    crawl.sitemaps = SEINE_SITEMAPS_OFF;
    crawl.depth = 0;
    o.crawl = &crawl;
    o.robots = SEINE_OBEY_OFF;
    o.on_record = gather_record;
    o.arg = g;
    o.threads = 3;
    char url[MANY][64];
    for (int i = 0; i < MANY; i++) {
        snprintf(url[i], sizeof url[i], "http://h%d.test/", i);
        script_on(s, url[i],
                  &(answer){.fields = "Content-Type: text/html",
                            .body = "<a href=/deep>x</a>"});
    }
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    for (int i = 0; i < MANY; i++)
        CHECK_EQ(add(f, url[i], NULL), SEINE_OK);
    CHECK_EQ(add(f, "http://slow.test/", NULL), SEINE_OK);
    seine_fetch_close(f);
    while (door.entered < 3)
        seine_clock_fake_advance(clock, 0);
    for (int turns = 0; turns < 1000 && g->n < 2 * MANY + 1; turns++)
        seine_clock_fake_advance(clock, SEINE_MS(100));
    CHECK_EQ(g->n, 2 * MANY + 1);
    seine_fetch_free(f);
    free(g);
    script_free(s);
    seine_clock_fake_free(clock);
}

/* Wakes of all that wait for a fetch, and those before which its word had not changed. */
static struct {
    void (*wake)(seine_clock *c, const uint32_t *word, int n);
    _Atomic uint32_t wakes, vain;
} bell;

static void
watch_wake(seine_clock *c, const uint32_t *word, int n)
{
    uint32_t wakes = n == INT32_MAX ? atomic_fetch_add(&bell.wakes, 1) + 1 : 0;

    if (__atomic_load_n(word, __ATOMIC_SEQ_CST) < wakes)
        atomic_fetch_add(&bell.vain, 1);
    bell.wake(c, word, n);
}

/* Who looks and then waits would sleep through a wake that left the word alone. */
TEST_THREADS(whoever_wakes_has_changed_the_word_before)
{
    seine_clock *clock;
    CHECK_EQ(seine_clock_fake_new(T0, 0, 1, &clock), SEINE_OK);
    script *s = script_new(clock);
    seine_fetch_opts o = script_opts(s);
    pthread_t thread;
    seine_fetch *f;
    seine_ctx *ctx;

    bell.wakes = bell.vain = 0;
    bell.wake = clock->wake;
    clock->wake = watch_wake;
    o.concurrency = 1;
    o.queue = 2;
    o.threads = 1;
    for (int i = 0; i < 20; i++) {
        char url[64];
        snprintf(url, sizeof url, "http://h%d.test/%d", i % 5, i);
        script_on(s, url, &(answer){.takes = SEINE_SECS(20)});
    }
    /* the ctx has its own clock, and wakes nobody on this one */
    CHECK_EQ(seine_ctx_root(seine_clock_system(), &ctx), SEINE_OK);
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    feeder it = {.f = f, .clock = clock, .ctx = ctx};
    CHECK_EQ(pthread_create(&thread, NULL, feed, &it), 0);
    seine_clock_fake_await(clock, 2);                /* the shard and the feeder */
    seine_clock_fake_advance(clock, SEINE_SECS(20)); /* there is room again */
    seine_clock_fake_await(clock, 2);
    seine_fetch_stop(f, SEINE_E_CANCELED);
    seine_fetch_stop(f, SEINE_E_CANCELED);
    pthread_join(thread, NULL);
    CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
    seine_fetch_free(f);
    seine_ctx_unref(ctx);
    CHECK(bell.wakes > 0);
    CHECK_EQ(bell.vain, 0);
    script_free(s);
    clock->wake = bell.wake;
    seine_clock_fake_free(clock);
}

TEST_THREADS(a_stop_lets_who_waits_for_room_go)
{
    seine_clock *clock;
    CHECK_EQ(seine_clock_fake_new(T0, 0, 1, &clock), SEINE_OK);
    script *s = script_new(clock);
    seine_fetch_opts o = script_opts(s);
    gather *g = calloc(1, sizeof *g);
    pthread_t thread;
    seine_fetch *f;
    seine_ctx *ctx;

    o.on_record = gather_record;
    o.arg = g;
    o.concurrency = 1;
    o.queue = 2;
    o.threads = 1;
    for (int i = 0; i < 20; i++) {
        char url[64];
        snprintf(url, sizeof url, "http://h%d.test/%d", i % 5, i);
        script_on(s, url, &(answer){.takes = SEINE_SECS(20)});
    }
    CHECK_EQ(seine_ctx_root(clock, &ctx), SEINE_OK);
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    feeder it = {.f = f, .clock = clock, .ctx = ctx};
    CHECK_EQ(pthread_create(&thread, NULL, feed, &it), 0);
    seine_clock_fake_await(clock, 2); /* the shard and the feeder */
    seine_fetch_stop(f, SEINE_E_CANCELED);
    seine_fetch_stop(f, SEINE_E_CANCELED);
    pthread_join(thread, NULL);
    CHECK_EQ(it.failed, 18); /* CLOSED */
    CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
    CHECK_EQ(g->n, 2);
    seine_fetch_free(f);
    seine_ctx_unref(ctx);
    free(g);
    script_free(s);
    seine_clock_fake_free(clock);
}
