/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fetch_metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing.h"
#include "gather.h"
#include "script.h"

static void
add(seine_fetch *f, const char *url)
{
    seine_ask a = SEINE_ASK;

    a.url = (seine_view){url, strlen(url)};
    CHECK_EQ(seine_fetch_add(f, &a, NULL), SEINE_OK);
}

TEST(fetch_metrics_count_what_happened)
{
    static const char *const want[] = {
        "seine_urls_seen_total 5\n",
        "seine_urls_refused_total 1\n",
        "seine_urls_admitted_total 4\n",
        "seine_urls_emitted_total{outcome=\"ok\"} 2\n",
        "seine_urls_emitted_total{outcome=\"failed\"} 2\n",
        "seine_urls_emitted_total{outcome=\"skipped\"} 1\n",
        "seine_urls_emitted_total{outcome=\"blocked\"} 0\n",
        "seine_urls_in_flight 0\n",
        "seine_urls_waiting{reason=\"queue\"} 0\n",
        "seine_urls_waiting{reason=\"backoff\"} 0\n",
        "seine_fetch_requests_total{method=\"GET\",class=\"2xx\"} 2\n",
        "seine_fetch_requests_total{method=\"GET\",class=\"3xx\"} 1\n",
        "seine_fetch_requests_total{method=\"GET\",class=\"5xx\"} 2\n",
        "seine_fetch_requests_total{method=\"GET\",class=\"none\"} 2\n",
        "seine_fetch_requests_total{method=\"other\",class=\"2xx\"} 0\n",
        "seine_fetch_errors_total{error=\"connect_refused\"} 2\n",
        "seine_fetch_errors_total{error=\"http_busy\"} 0\n",
        "seine_fetch_request_duration_seconds_count 7\n",
        "seine_fetch_phase_duration_seconds_count{phase=\"ttfb\"} 7\n",
        "seine_fetch_received_bytes_total 5\n",
        "seine_fetch_decoded_bytes_total 5\n",
        "seine_connections_opened_total{version=\"1.1\"} 7\n",
        "seine_connections_reused_total 0\n",
        "seine_dns_lookups_total{result=\"hit\"} 7\n",
        "seine_retries_total{error=\"http_busy\"} 1\n",
        "seine_retries_total{error=\"connect_refused\"} 1\n",
        "seine_retry_exhausted_total 2\n",
        "seine_retry_backoff_seconds_count 2\n",
        "seine_breaker_transitions_total{from=\"closed\",to=\"open\"} 2\n",
        "seine_breaker_transitions_total{from=\"open\",to=\"half_open\"} 2\n",
        "seine_breaker_transitions_total{from=\"half_open\",to=\"open\"} 2\n",
        "seine_breaker_hosts{state=\"open\"} 2\n",
        "seine_breaker_hosts{state=\"half_open\"} 0\n",
    };
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    gather *g = calloc(1, sizeof *g);
    seine_text text = {0};
    seine_fetch *f;

    CHECK_EQ(seine_metrics_new(&o.metrics), SEINE_OK);
    o.on_record = gather_record;
    o.arg = g;
    o.retry.max_attempts = 2;
    o.breaker.failure_threshold = 0;
    o.breaker.window_calls = o.breaker.min_calls = 1;
    o.breaker.failure_pct = 100;
    o.park = 9;
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    script_on(s, "http://a.test/", &(answer){.body = "hello"});
    script_on(s, "http://b.test/",
              &(answer){.status = 302, .fields = "Location: http://c.test/"});
    script_on(s, "http://d.test/", &(answer){.status = 500});
    script_on(s, "http://e.test/", &(answer){.err = SEINE_E_CONNECT_REFUSED});
    add(f, "http://a.test/");
    add(f, "http://b.test/");
    add(f, "ftp://x.test/");
    add(f, "http://e.test/");
    while (!script_in_flight(s))
        sn_fetch_turn(f, SEINE_NEVER);
    add(f, "http://d.test/");
    CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
    CHECK_EQ(seine_metrics_text(o.metrics, SEINE_METRICS_PROMETHEUS, &text), SEINE_OK);
    EACH_ROW(i, want) {
        bool has = text.bytes && strstr(text.bytes, want[i]) != NULL;
        if (!has)
            check_fail(__FILE__, __LINE__, "no %s", want[i]);
    }
    seine_text_free(&text);
    seine_fetch_free(f);
    seine_metrics_free(o.metrics);
    free(g);
    script_free(s);
}

/* The value of a series, -1 if there is none. */
static double
value_of(const char *text, const char *series)
{
    size_t n = strlen(series);

    for (const char *line = text; line && *line; line = strchr(line, '\n') + 1)
        if (strncmp(line, series, n) == 0 && line[n] == ' ')
            return strtod(line + n, NULL);
    return -1;
}

static char *
text_of(seine_metrics *m)
{
    seine_text text = {0};

    CHECK_EQ(seine_metrics_text(m, SEINE_METRICS_PROMETHEUS, &text), SEINE_OK);
    char *copy = strdup(text.bytes ? text.bytes : "");
    seine_text_free(&text);
    return copy;
}

static void
check_values(seine_metrics *m, const double want[5])
{
    static const char *const series[5] = {
        "seine_jobs{state=\"running\"}", "seine_jobs{state=\"stopping\"}",
        "seine_jobs{state=\"done\"}", "seine_queue_depth{queue=\"urls\"}",
        "seine_urls_in_flight"};
    char *text = text_of(m);

    EACH_ROW(i, series)
        CHECK(value_of(text, series[i]) == want[i]);
    free(text);
}

/* One of five at a time: what is under way can be read from the gauges at any moment. */
TEST(s1_20_x_49_jobs_and_queues_are_gauges_of_the_moment)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    gather *g = calloc(1, sizeof *g);
    seine_fetch *f;

    CHECK_EQ(seine_metrics_new(&o.metrics), SEINE_OK);
    o.on_record = gather_record;
    o.arg = g;
    o.concurrency = 1;
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    check_values(o.metrics, (double[]){1, 0, 0, 0, 0});
    for (int i = 0; i < 5; i++) {
        char url[] = "http://a.test/0";

        url[sizeof url - 2] = (char)('0' + i);
        add(f, url);
    }
    while (script_in_flight(s) == 0)
        sn_fetch_turn(f, SEINE_NEVER);
    check_values(o.metrics, (double[]){1, 0, 0, 4, 1});
    while (g->n < 2 || script_in_flight(s) == 0)
        sn_fetch_turn(f, SEINE_NEVER);
    check_values(o.metrics, (double[]){1, 0, 0, 2, 1});
    seine_fetch_stop(f, SEINE_E_CANCELED);
    check_values(o.metrics, (double[]){0, 1, 0, 2, 1});
    CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
    check_values(o.metrics, (double[]){0, 0, 1, 0, 0});

    char *text = text_of(o.metrics);
    static const char *const types[] = {
        "# TYPE seine_jobs gauge\n", "# TYPE seine_queue_depth gauge\n",
        "# TYPE seine_urls_in_flight gauge\n",
        "# TYPE seine_fetch_request_duration_seconds histogram\n",
        "# TYPE seine_fetch_errors_total counter\n"};
    EACH_ROW(i, types)
        CHECK(strstr(text, types[i]) != NULL);
    free(text);
    seine_fetch_free(f);
    seine_metrics_free(o.metrics);
    free(g);
    script_free(s);
}

static char *
text_after(int hosts)
{
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    seine_fetch *f;

    CHECK_EQ(seine_metrics_new(&o.metrics), SEINE_OK);
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    for (int i = 0; i < hosts; i++) {
        char url[64];

        snprintf(url, sizeof url, "http://host%d.test/page%d", i, i);
        script_on(s, url, &(answer){.status = i % 2 ? 200 : 500});
        add(f, url);
    }
    CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
    char *text = text_of(o.metrics);
    seine_fetch_free(f);
    seine_metrics_free(o.metrics);
    script_free(s);
    return text;
}

static int
count_lines(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

TEST(x_49_no_url_and_no_host_becomes_a_label)
{
    char *one = text_after(1), *many = text_after(40);

    CHECK(strstr(many, "host0") == NULL && strstr(many, ".test") == NULL);
    CHECK(strstr(many, "page") == NULL && strstr(many, "http:") == NULL);
    CHECK_EQ(count_lines(many), count_lines(one));
    CHECK(value_of(many, "seine_urls_seen_total") == 40);
    free(one);
    free(many);
}

/* The answer of a host that the script does not know is the same for all. */
TEST(metrics_of_100000_hosts_have_no_more_than_2000_series)
{
    enum { HOSTS = 100000 };
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    seine_fetch *f;
    seine_err e;
    char url[64];

    CHECK_EQ(seine_metrics_new(&o.metrics), SEINE_OK);
    o.retry.max_attempts = 1;
    CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
    for (int i = 0; i < HOSTS; i++) {
        snprintf(url, sizeof url, "http://host%d.test/", i);
        seine_ask a = SEINE_ASK;

        a.url = (seine_view){url, strlen(url)};
        while ((e = seine_fetch_add(f, &a, NULL)) == SEINE_E_FULL)
            sn_fetch_turn(f, SEINE_NEVER);
        CHECK_EQ(e, SEINE_OK);
    }
    CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
    char *text = text_of(o.metrics);
    CHECK(value_of(text, "seine_urls_admitted_total") == HOSTS);
    CHECK(count_lines(text) <= 2000);
    free(text);
    seine_fetch_free(f);
    seine_metrics_free(o.metrics);
    script_free(s);
}

TEST(fetch_metrics_are_whole_or_not_made)
{
    FAIL_EACH(n)
    {
        seine_metrics *metrics = NULL;
        sn_fetch_metrics *m = NULL;
        seine_err e = seine_metrics_new(&metrics);

        if (e == SEINE_OK)
            e = sn_fetch_metrics_new(metrics, &m);
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        CHECK_EQ(m != NULL, e == SEINE_OK);
        seine_metrics_free(metrics);
    }
}

TEST(fetch_metrics_that_are_off_count_nothing)
{
    sn_visit v = {.end.fault = SN_FAULT};
    sn_fetch_counts a = {.rejected = 0}, b = {.rejected = 5};
    seine_record r = {0};
    seine_event e = {.name = "breaker.open"};

    sn_fetch_metrics_job(NULL, NULL, SN_JOB_DONE);
    sn_fetch_metrics_attempt(NULL, &v);
    sn_fetch_metrics_retry(NULL, SEINE_E_TIMEOUT);
    sn_fetch_metrics_backoff(NULL, 1);
    sn_fetch_metrics_exhausted(NULL);
    sn_fetch_metrics_breaker(NULL, &e);
    sn_fetch_metrics_emitted(NULL, &r);
    sn_fetch_metrics_turn(NULL, &a, &b);
    sn_fetch_metrics_leave(NULL, &b, (uint64_t[3]){1, 1, 1});
    sn_fetch_metrics_given(NULL, 1, 1);
}

TEST(one_fetch_after_the_other_counts_in_one_registry)
{
    seine_metrics *reg;
    sn_fetch_metrics *m, *second;
    seine_text text = {NULL, 0};

    CHECK_EQ(seine_metrics_new(&reg), SEINE_OK);
    CHECK_EQ(sn_fetch_metrics_new(reg, &m), SEINE_OK);
    sn_fetch_metrics_given(m, 3, 1);
    CHECK_EQ(sn_fetch_metrics_new(reg, &second), SEINE_OK);
    sn_fetch_metrics_given(second, 4, 0);
    CHECK_EQ(seine_metrics_text(reg, SEINE_METRICS_PROMETHEUS, &text), SEINE_OK);
    CHECK(strstr(text.bytes, "\nseine_urls_seen_total 7\n") != NULL);
    seine_text_free(&text);
    seine_metrics_free(reg);
}

/* A server that lives on has many fetches one after the other. */
TEST(gauges_of_a_fetch_fall_when_it_is_freed)
{
    static const char *const series[] = {"seine_limiter_keys{scope=\"host\"}",
                                         "seine_breaker_hosts{state=\"open\"}"};
    script *s = script_new(NULL);
    seine_fetch_opts o = script_opts(s);
    gather *g = calloc(1, sizeof *g);
    seine_fetch *f;

    CHECK_EQ(seine_metrics_new(&o.metrics), SEINE_OK);
    o.on_record = gather_record;
    o.arg = g;
    o.retry.max_attempts = 2;
    o.breaker.failure_threshold = 0;
    o.breaker.window_calls = o.breaker.min_calls = 1;
    o.breaker.failure_pct = 100;
    o.park = 9;
    script_on(s, "http://b.test/", &(answer){.status = 500});
    for (int round = 0; round < 2; round++) {
        CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
        add(f, "http://a.test/");
        add(f, "http://b.test/");
        CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
        char *text = text_of(o.metrics);
        CHECK(value_of(text, series[0]) == 2);
        CHECK(value_of(text, series[1]) == 1);
        free(text);
        seine_fetch_free(f);
        text = text_of(o.metrics);
        EACH_ROW(i, series)
            CHECK(value_of(text, series[i]) == 0);
        free(text);
    }
    seine_metrics_free(o.metrics);
    free(g);
    script_free(s);
}

TEST(fetch_metrics_leave_with_what_a_shard_had)
{
    static const struct {
        const char *series;
        double want; /* of two shards, when the first has left */
    } rows[] = {{"seine_limiter_keys{scope=\"host\"}", 5},
                {"seine_limiter_keys{scope=\"ip\"}", 7},
                {"seine_limiter_keys{scope=\"source\"}", 9},
                {"seine_connections_open{version=\"1.1\"}", 11}};
    const sn_fetch_counts none = {.has_wire = true},
                          one = {.stats.hosts = 1,
                                 .ips = 2,
                                 .sources = 3,
                                 .has_wire = true,
                                 .wire.open = 4},
                          two = {.stats.hosts = 5,
                                 .ips = 7,
                                 .sources = 9,
                                 .has_wire = true,
                                 .wire.open = 11};
    const uint64_t breakers[3] = {0};
    seine_metrics *reg;
    sn_fetch_metrics *m;

    CHECK_EQ(seine_metrics_new(&reg), SEINE_OK);
    CHECK_EQ(sn_fetch_metrics_new(reg, &m), SEINE_OK);
    sn_fetch_metrics_turn(m, &none, &one);
    sn_fetch_metrics_turn(m, &none, &two);
    sn_fetch_metrics_leave(m, &one, breakers);
    char *text = text_of(reg);
    EACH_ROW(i, rows)
        CHECK(value_of(text, rows[i].series) == rows[i].want);
    free(text);
    seine_metrics_free(reg);
}

TEST(names_that_were_looked_up_are_counted_by_what_came_of_it)
{
    static const struct {
        seine_err code;
        seine_span dns;
        bool reused;
        const char *want;
    } rows[] = {
        {SEINE_E_DNS_NXDOMAIN, 1, false, "{result=\"nxdomain\"} 1\n"},
        {SEINE_E_DNS_TIMEOUT, 1, false, "{result=\"timeout\"} 1\n"},
        {SEINE_E_DNS_SERVFAIL, 1, false, "{result=\"error\"} 1\n"},
        {SEINE_OK, 1, false, "{result=\"ok\"} 1\n"},
        {SEINE_OK, 0, false, "{result=\"hit\"} 1\n"},
        {SEINE_OK, 0, true, "{result=\"hit\"} 0\n"},
    };

    EACH_ROW(i, rows) {
        sn_visit v = {.method = SN_STR("POST"), .end = {.fault = SN_FAULT}};
        seine_metrics *reg;
        seine_text text;
        sn_fetch_metrics *m;
        CHECK_EQ(seine_metrics_new(&reg), SEINE_OK);
        CHECK_EQ(sn_fetch_metrics_new(reg, &m), SEINE_OK);
        v.end.fault.code = rows[i].code;
        v.end.spent[SEINE_PHASE_DNS] = rows[i].dns;
        v.end.reused = rows[i].reused;
        v.end.peer.v = 4;
        sn_fetch_metrics_lookup(m, &v.end);
        CHECK_EQ(seine_metrics_text(reg, SEINE_METRICS_PROMETHEUS, &text), SEINE_OK);
        const char *at = strstr(text.bytes, "seine_dns_lookups_total{");
        CHECK(at && strstr(at, rows[i].want) != NULL);
        seine_text_free(&text);
        seine_metrics_free(reg);
    }
}

TEST(fetch_metrics_count_a_status_in_the_class_of_its_first_digit)
{
    static const struct {
        uint16_t status;
        const char *series;
    } rows[] = {
        {200, "2xx"}, {299, "2xx"}, {400, "4xx"},
        {499, "4xx"}, {500, "5xx"}, {599, "5xx"},
    };

    EACH_ROW(i, rows) {
        script *s = script_new(NULL);
        seine_fetch_opts o = script_opts(s);
        char series[96];
        seine_fetch *f;

        CHECK_EQ(seine_metrics_new(&o.metrics), SEINE_OK);
        o.retry.max_attempts = 1;
        CHECK_EQ(sn_fetch_open(&o, script_net(s), &f, NULL), SEINE_OK);
        script_on(s, "http://a.test/", &(answer){.status = rows[i].status});
        add(f, "http://a.test/");
        CHECK_EQ(seine_fetch_finish(f, NULL), SEINE_OK);
        snprintf(series, sizeof series,
                 "seine_fetch_requests_total{method=\"GET\",class=\"%s\"}",
                 rows[i].series);
        char *text = text_of(o.metrics);
        CHECK(value_of(text, series) == 1);
        free(text);
        seine_fetch_free(f);
        seine_metrics_free(o.metrics);
        script_free(s);
    }
}

TEST(the_duration_of_a_request_is_the_sum_of_its_phases)
{
    static const seine_span head[] = {0, SEINE_SECS(2)};

    EACH_ROW(i, head) {
        sn_visit v = {.method = SN_STR("GET"), .end = {.fault = SN_FAULT}};
        seine_metrics *reg;
        sn_fetch_metrics *m;

        CHECK_EQ(seine_metrics_new(&reg), SEINE_OK);
        CHECK_EQ(sn_fetch_metrics_new(reg, &m), SEINE_OK);
        seine_span dns = head[i] / 2;
        v.end.spent[SEINE_PHASE_DNS] = dns;
        v.end.spent[SEINE_PHASE_HEAD] = head[i];
        sn_fetch_metrics_attempt(m, &v);
        char *text = text_of(reg);
        CHECK(value_of(text, "seine_fetch_request_duration_seconds_sum") ==
              (double)(head[i] + dns) / 1e9);
        free(text);
        seine_metrics_free(reg);
    }
}
