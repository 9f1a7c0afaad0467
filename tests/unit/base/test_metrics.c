/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/metrics.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/metrics.h"
#include "base/rng.h"
#include "check.h"
#include "failing.h"

static const char *const methods[] = {"GET", "POST"};
static const char *const classes[] = {"2xx", "4xx", "5xx"};
static const seine_label labels[] = {{"method", methods, 2}, {"class", classes, 3}};

static seine_metrics *
registry(void)
{
    seine_metrics *m = NULL;

    CHECK_EQ(seine_metrics_new(&m), SEINE_OK);
    return m;
}

/* The text, kept until the next call. */
static const char *
text_of(const seine_metrics *m, seine_metrics_format f)
{
    static seine_text text;

    seine_text_free(&text);
    CHECK_EQ(seine_metrics_text(m, f, &text), SEINE_OK);
    CHECK_EQ(strlen(text.bytes), text.len);
    return text.bytes;
}

static void
forget_text(void)
{
    seine_metrics *m = registry();

    CHECK_STR(text_of(m, SEINE_METRICS_PROMETHEUS), "");
    seine_metrics_free(m);
}

/* The text behind `series` and a blank at the start of a line; -1: no such line. */
static long long
value(const char *text, const char *series)
{
    size_t n = strlen(series);

    for (const char *p = text; p && *p; p = strchr(p, '\n') ? strchr(p, '\n') + 1 : NULL)
        if (strncmp(p, series, n) == 0 && p[n] == ' ')
            return strtoll(p + n + 1, NULL, 10);
    return -1;
}

TEST(metrics_series_exist_from_the_start_and_count_row_by_row)
{
    seine_metrics *m = registry();
    seine_counter *c = NULL;

    CHECK_EQ(seine_metrics_counter(m, "app_requests_total", "Requests.", labels, 2, &c),
             SEINE_OK);
    CHECK_STR(text_of(m, SEINE_METRICS_PROMETHEUS),
              "# HELP app_requests_total Requests.\n"
              "# TYPE app_requests_total counter\n"
              "app_requests_total{method=\"GET\",class=\"2xx\"} 0\n"
              "app_requests_total{method=\"GET\",class=\"4xx\"} 0\n"
              "app_requests_total{method=\"GET\",class=\"5xx\"} 0\n"
              "app_requests_total{method=\"POST\",class=\"2xx\"} 0\n"
              "app_requests_total{method=\"POST\",class=\"4xx\"} 0\n"
              "app_requests_total{method=\"POST\",class=\"5xx\"} 0\n");
    seine_counter_add(c, 4, 1); /* POST 4xx is 1 * 3 + 1 */
    seine_counter_add(c, 4, 41);
    CHECK_EQ(value(text_of(m, SEINE_METRICS_PROMETHEUS),
                   "app_requests_total{method=\"POST\",class=\"4xx\"}"),
             42);
    CHECK_EQ(seine_counter_get(c, 4), 42);
    CHECK_EQ(seine_counter_get(c, 3), 0);
    forget_text();
    seine_metrics_free(m);
}

TEST(metrics_gauges_go_up_and_down)
{
    seine_metrics *m = registry();
    seine_gauge *g = NULL;

    CHECK_EQ(seine_metrics_gauge(m, "app_depth", "Depth.", NULL, 0, &g), SEINE_OK);
    seine_gauge_set(g, 0, 7);
    seine_gauge_add(g, 0, -9);
    CHECK_EQ(seine_gauge_get(g, 0), -2);
    CHECK_STR(text_of(m, SEINE_METRICS_PROMETHEUS), "# HELP app_depth Depth.\n"
                                                    "# TYPE app_depth gauge\n"
                                                    "app_depth -2\n");
    seine_gauge_set(g, 0, INT64_MIN);
    CHECK(strstr(text_of(m, SEINE_METRICS_PROMETHEUS), " -9223372036854775808\n") !=
          NULL);
    forget_text();
    seine_metrics_free(m);
}

TEST(metrics_histogram_bounds_are_inclusive)
{
    static const seine_span bounds[] = {SEINE_MS(5), SEINE_SECS(1), SEINE_MS(2500)};
    static const seine_buckets buckets = {bounds, 3};
    seine_metrics *m = registry();
    seine_histogram *h = NULL;

    CHECK_EQ(
        seine_metrics_histogram(m, "app_wait_seconds", "Wait.", NULL, 0, &buckets, &h),
        SEINE_OK);
    seine_histogram_observe(h, 0, SEINE_MS(5) - 1);
    seine_histogram_observe(h, 0, SEINE_MS(5));
    seine_histogram_observe(h, 0, SEINE_MS(5) + 1);
    seine_histogram_observe(h, 0, SEINE_SECS(2));
    seine_histogram_observe(h, 0, SEINE_MS(2500) + 1);
    seine_histogram_observe(h, 0, -5); /* a clock that steps back: no time passed */
    CHECK_EQ(seine_histogram_count(h, 0), 6);
    CHECK_STR(text_of(m, SEINE_METRICS_PROMETHEUS),
              "# HELP app_wait_seconds Wait.\n"
              "# TYPE app_wait_seconds histogram\n"
              "app_wait_seconds_bucket{le=\"0.005\"} 3\n"
              "app_wait_seconds_bucket{le=\"1\"} 4\n"
              "app_wait_seconds_bucket{le=\"2.5\"} 5\n"
              "app_wait_seconds_bucket{le=\"+Inf\"} 6\n"
              "app_wait_seconds_sum 4.515000001\n"
              "app_wait_seconds_count 6\n");
    forget_text();
    seine_metrics_free(m);
}

TEST(metrics_default_buckets_are_those_of_the_table)
{
    const struct {
        seine_buckets buckets;
        const char *les;
    } rows[] = {
        {{NULL, 0}, "0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 +Inf "},
        {seine_buckets_long(),
         "0.005 0.01 0.025 0.05 0.075 0.1 0.25 0.5 0.75 1 2.5 5 7.5 10 30 60 +Inf "},
        {seine_buckets_fine(), "0.0005 0.001 0.0025 0.005 0.01 0.025 0.05 0.075 0.1 0.25 "
                               "0.5 0.75 1 2.5 5 7.5 10 +Inf "},
    };

    EACH_ROW(i, rows) {
        seine_metrics *m = registry();
        seine_histogram *h = NULL;
        char les[200] = "";
        size_t n = 0;

        CHECK_EQ(seine_metrics_histogram(m, "app_wait_seconds", "Wait.", NULL, 0,
                                         rows[i].buckets.n ? &rows[i].buckets : NULL, &h),
                 SEINE_OK);
        const char *p = text_of(m, SEINE_METRICS_PROMETHEUS);
        while ((p = strstr(p, "le=\""))) {
            p += 4;
            n += (size_t)snprintf(les + n, sizeof les - n, "%.*s ", (int)strcspn(p, "\""),
                                  p);
        }
        CHECK_STR(les, rows[i].les);
        seine_metrics_free(m);
    }
    forget_text();
}

TEST(metrics_in_seconds_count_nanoseconds)
{
    seine_metrics *m = registry();
    seine_counter *c = NULL;
    seine_gauge *g = NULL;

    CHECK_EQ(seine_metrics_counter(m, "app_busy_seconds_total", "Busy.", NULL, 0, &c),
             SEINE_OK);
    CHECK_EQ(
        seine_metrics_gauge(m, "app_success_timestamp_seconds", "When.", NULL, 0, &g),
        SEINE_OK);
    seine_counter_add(c, 0, 1500000000);
    seine_gauge_set(g, 0, SEINE_SECS(1763234401LL) + SEINE_US(123456));
    const char *text = text_of(m, SEINE_METRICS_PROMETHEUS);
    CHECK(strstr(text, "\napp_busy_seconds_total 1.5\n") != NULL);
    CHECK(strstr(text, "\napp_success_timestamp_seconds 1763234401.123456\n") != NULL);
    seine_counter_add(c, 0, UINT64_MAX / 2); /* absurd, but counted */
    CHECK(strstr(text_of(m, SEINE_METRICS_PROMETHEUS), " 9223372036.854775807\n") !=
          NULL);
    forget_text();
    seine_metrics_free(m);
}

TEST(metrics_observations_are_bounded)
{
    seine_metrics *m = registry();
    seine_histogram *h = NULL;

    CHECK_EQ(seine_metrics_histogram(m, "app_wait_seconds", "Wait.", NULL, 0, NULL, &h),
             SEINE_OK);
    for (int i = 0; i < 100; i++)
        seine_histogram_observe(h, 0, SEINE_NEVER);
    /* 100 * 2^56 ns */
    CHECK(strstr(text_of(m, SEINE_METRICS_PROMETHEUS), "_sum 7205759403.7927936\n") !=
          NULL);
    forget_text();
    seine_metrics_free(m);
}

TEST(metrics_in_openmetrics_have_units_points_and_an_end)
{
    static const seine_span bounds[] = {SEINE_MS(500), SEINE_SECS(1)};
    static const seine_buckets buckets = {bounds, 2};
    seine_metrics *m = registry();
    seine_counter *c = NULL;
    seine_gauge *g = NULL;
    seine_histogram *h = NULL;

    CHECK_EQ(seine_metrics_counter(m, "app_received_bytes_total", "In \"bytes\".", NULL,
                                   0, &c),
             SEINE_OK);
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", "Depth.", labels, 1, &g), SEINE_OK);
    CHECK_EQ(
        seine_metrics_histogram(m, "app_wait_seconds", "Wait.", NULL, 0, &buckets, &h),
        SEINE_OK);
    seine_counter_add(c, 0, 5);
    seine_histogram_observe(h, 0, SEINE_SECS(1));
    CHECK_STR(text_of(m, SEINE_METRICS_OPENMETRICS),
              "# HELP app_received_bytes In \\\"bytes\\\".\n"
              "# TYPE app_received_bytes counter\n"
              "# UNIT app_received_bytes bytes\n"
              "app_received_bytes_total 5\n"
              "# HELP app_depth Depth.\n"
              "# TYPE app_depth gauge\n"
              "app_depth{method=\"GET\"} 0\n"
              "app_depth{method=\"POST\"} 0\n"
              "# HELP app_wait_seconds Wait.\n"
              "# TYPE app_wait_seconds histogram\n"
              "# UNIT app_wait_seconds seconds\n"
              "app_wait_seconds_bucket{le=\"0.5\"} 0\n"
              "app_wait_seconds_bucket{le=\"1.0\"} 1\n"
              "app_wait_seconds_bucket{le=\"+Inf\"} 1\n"
              "app_wait_seconds_sum 1\n"
              "app_wait_seconds_count 1\n"
              "# EOF\n");
    CHECK(strstr(text_of(m, SEINE_METRICS_PROMETHEUS), "In \"bytes\".\n") != NULL);
    forget_text();
    seine_metrics_free(m);
}

TEST(metrics_escape_help_and_label_values)
{
    static const char *const values[] = {"a\"b", "a\\b", "a\nb", "\xc3\xa4"};
    static const seine_label odd = {"odd", values, 4};
    seine_metrics *m = registry();
    seine_gauge *g = NULL;

    CHECK_EQ(seine_metrics_gauge(m, "app_odd", "One\ntwo \\ three.", &odd, 1, &g),
             SEINE_OK);
    CHECK_STR(text_of(m, SEINE_METRICS_PROMETHEUS),
              "# HELP app_odd One\\ntwo \\\\ three.\n"
              "# TYPE app_odd gauge\n"
              "app_odd{odd=\"a\\\"b\"} 0\n"
              "app_odd{odd=\"a\\\\b\"} 0\n"
              "app_odd{odd=\"a\\nb\"} 0\n"
              "app_odd{odd=\"\xc3\xa4\"} 0\n");
    forget_text();
    seine_metrics_free(m);
}

TEST(metrics_names_follow_the_rules)
{
    static const struct {
        const char *name;
        seine_err counter, gauge, histogram;
    } rows[] = {
        /* of its kind */
        {"app_requests_total", SEINE_OK, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app_depth", SEINE_E_INVAL, SEINE_OK, SEINE_E_INVAL},
        {"app_wait_seconds", SEINE_E_INVAL, SEINE_OK, SEINE_OK},
        {"app_busy_seconds_total", SEINE_OK, SEINE_E_INVAL, SEINE_E_INVAL},
        {"active", SEINE_E_INVAL, SEINE_OK, SEINE_E_INVAL},
        {"app_v2_things", SEINE_E_INVAL, SEINE_OK, SEINE_E_INVAL},
        {"app_build_info", SEINE_E_INVAL, SEINE_OK, SEINE_E_INVAL},
        /* of no kind */
        {NULL, SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"_total", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"_seconds", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"appWait_seconds", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"9lives", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app__depth", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app_depth_", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"_depth", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app:depth", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app-depth", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app_d\xc3\xa4pth", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app_wait_ms", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app_wait_milliseconds", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app_minutes_total", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app_used_percent", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app_request_counter_total", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app_wait_seconds_count", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app_wait_seconds_sum", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app_wait_bucket", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app_created", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
        {"app_count_total", SEINE_E_INVAL, SEINE_E_INVAL, SEINE_E_INVAL},
    };

    EACH_ROW(i, rows) {
        seine_metrics *a = registry(), *b = registry(), *c = registry();
        seine_counter *counter = NULL;
        seine_gauge *gauge = NULL;
        seine_histogram *histogram = NULL;

        CHECK_EQ(seine_metrics_counter(a, rows[i].name, "H.", NULL, 0, &counter),
                 rows[i].counter);
        CHECK_EQ(seine_metrics_gauge(b, rows[i].name, "H.", NULL, 0, &gauge),
                 rows[i].gauge);
        CHECK_EQ(
            seine_metrics_histogram(c, rows[i].name, "H.", NULL, 0, NULL, &histogram),
            rows[i].histogram);
        CHECK_EQ(counter != NULL, rows[i].counter == SEINE_OK);
        CHECK_EQ(gauge != NULL, rows[i].gauge == SEINE_OK);
        CHECK_EQ(histogram != NULL, rows[i].histogram == SEINE_OK);
        seine_metrics_free(a);
        seine_metrics_free(b);
        seine_metrics_free(c);
    }
}

TEST(metrics_help_labels_and_buckets_follow_the_rules)
{
    static const char *const none[] = {NULL}, *const empty[] = {"a", ""},
                             *const twice[] = {"a", "b", "a"}, *const bad[] = {"\xff"};
    static const seine_label rows[] = {
        {"Method", methods, 2}, /* upper case */
        {"le", methods, 2},     /* the histograms' own */
        {"quantile", methods, 2}, {"__name", methods, 2}, {"", methods, 2},
        {NULL, methods, 2},       {"a-b", methods, 2},    {"method", NULL, 2},
        {"method", methods, 0},   {"method", none, 1},    {"method", empty, 2},
        {"method", twice, 3},     {"method", bad, 1},
    };
    static const seine_label same[] = {{"a", methods, 2}, {"a", classes, 3}};
    static const seine_label many[9] = {
        {"a", methods, 1}, {"b", methods, 1}, {"c", methods, 1},
        {"d", methods, 1}, {"e", methods, 1}, {"f", methods, 1},
        {"g", methods, 1}, {"h", methods, 1}, {"i", methods, 1},
    };
    static const seine_span down[] = {2, 1}, flat[] = {1, 1}, zero[] = {0, 1},
                            up[33] = {1};
    static const seine_buckets buckets[] = {
        {down, 2}, {flat, 2}, {zero, 2}, {up, 0}, {up, 33}};
    seine_metrics *m = registry();
    seine_gauge *g = NULL;
    seine_histogram *h = NULL;
    char longest[600];

    EACH_ROW(i, rows)
        CHECK_EQ(seine_metrics_gauge(m, "app_depth", "H.", &rows[i], 1, &g),
                 SEINE_E_INVAL);
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", "H.", same, 2, &g), SEINE_E_INVAL);
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", "H.", many, 9, &g), SEINE_E_INVAL);
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", "", NULL, 0, &g), SEINE_E_INVAL);
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", NULL, NULL, 0, &g), SEINE_E_INVAL);
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", "\xff", NULL, 0, &g), SEINE_E_INVAL);
    memset(longest, 'a', sizeof longest);
    longest[513] = '\0';
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", longest, NULL, 0, &g), SEINE_E_INVAL);
    longest[129] = '\0';
    CHECK_EQ(seine_metrics_gauge(m, longest, "H.", NULL, 0, &g), SEINE_E_INVAL);
    EACH_ROW(i, buckets)
        CHECK_EQ(seine_metrics_histogram(m, "app_wait_seconds", "H.", NULL, 0,
                                         &buckets[i], &h),
                 SEINE_E_INVAL);
    CHECK_STR(text_of(m, SEINE_METRICS_PROMETHEUS), "");
    CHECK(!g && !h);
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", "H.", many, 8, &g), SEINE_OK);
    longest[128] = '\0';
    CHECK_EQ(seine_metrics_gauge(m, longest, "H.", NULL, 0, &g), SEINE_OK);
    forget_text();
    seine_metrics_free(m);
}

TEST(metrics_families_are_unique_in_both_formats)
{
    seine_metrics *m = registry();
    seine_counter *c = NULL, *other = NULL;
    seine_gauge *g = NULL;

    CHECK_EQ(seine_metrics_counter(m, "app_jobs_total", "H.", NULL, 0, &c), SEINE_OK);
    CHECK_EQ(seine_metrics_counter(m, "app_jobs_total", "H.", labels, 2, &other),
             SEINE_E_ALREADY);
    /* In OpenMetrics the counter's family is called app_jobs, too. */
    CHECK_EQ(seine_metrics_gauge(m, "app_jobs", "H.", NULL, 0, &g), SEINE_E_ALREADY);
    CHECK(!other && !g);
    seine_metrics_free(m);
}

TEST(metrics_have_at_most_two_thousand_series)
{
    static const char *values[2001];
    static char texts[2001][8];
    static const seine_span bound[] = {1};
    static const seine_buckets one = {bound, 1};
    seine_metrics *m = registry();
    seine_gauge *g = NULL;
    seine_counter *c = NULL;
    seine_histogram *h = NULL;

    for (int i = 0; i < 2001; i++) {
        snprintf(texts[i], sizeof texts[i], "%d", i);
        values[i] = texts[i];
    }
    seine_label all = {"v", values, 2001},
                half[] = {{"v", values, 50}, {"w", values, 41}};
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", "H.", &all, 1, &g), SEINE_E_RANGE);
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", "H.", half, 2, &g), SEINE_E_RANGE);
    all.n = SIZE_MAX; /* the values are not even looked at */
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", "H.", &all, 1, &g), SEINE_E_RANGE);
    all.n = 501; /* 4 lines each */
    CHECK_EQ(seine_metrics_histogram(m, "app_wait_seconds", "H.", &all, 1, &one, &h),
             SEINE_E_RANGE);

    all.n = 1995;
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", "H.", &all, 1, &g), SEINE_OK);
    CHECK_EQ(seine_metrics_histogram(m, "app_wait_seconds", "H.", NULL, 0, &one, &h),
             SEINE_OK);
    all.n = 2;
    CHECK_EQ(seine_metrics_counter(m, "app_more_total", "H.", &all, 1, &c),
             SEINE_E_RANGE);
    CHECK_EQ(seine_metrics_counter(m, "app_more_total", "H.", NULL, 0, &c), SEINE_OK);
    CHECK_EQ(seine_metrics_counter(m, "app_most_total", "H.", NULL, 0, &c),
             SEINE_E_RANGE);

    int lines = 0;
    for (const char *p = text_of(m, SEINE_METRICS_PROMETHEUS); *p;
         p = strchr(p, '\n') + 1)
        lines += *p != '#';
    CHECK_EQ(lines, 2000);
    forget_text();
    seine_metrics_free(m);
}

TEST(metrics_nothing_is_counted_where_nothing_is)
{
    seine_metrics *m = registry();
    seine_counter *c = NULL;
    seine_gauge *g = NULL;
    seine_histogram *h = NULL;

    seine_counter_add(NULL, 0, 1);
    seine_gauge_set(NULL, 0, 1);
    seine_gauge_add(NULL, 0, 1);
    seine_histogram_observe(NULL, 0, 1);
    seine_http_record(NULL, 0, 0, 200, 1);
    seine_http_opened(NULL, SEINE_HTTP_PLAIN);
    seine_http_closed(NULL, SEINE_HTTP_PLAIN);
    CHECK_EQ(seine_counter_get(NULL, 0), 0);
    CHECK_EQ(seine_gauge_get(NULL, 0), 0);
    CHECK_EQ(seine_histogram_count(NULL, 0), 0);

    CHECK_EQ(seine_metrics_counter(m, "app_total", "H.", labels, 2, &c), SEINE_OK);
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", "H.", labels, 2, &g), SEINE_OK);
    CHECK_EQ(seine_metrics_histogram(m, "app_wait_seconds", "H.", labels, 2, NULL, &h),
             SEINE_OK);
    const char *before = strdup(text_of(m, SEINE_METRICS_PROMETHEUS));
    static const unsigned beyond[] = {6, 7, UINT32_MAX};
    EACH_ROW(i, beyond) {
        seine_counter_add(c, beyond[i], 1);
        seine_gauge_set(g, beyond[i], 1);
        seine_gauge_add(g, beyond[i], 1);
        seine_histogram_observe(h, beyond[i], 1);
        CHECK_EQ(seine_counter_get(c, beyond[i]), 0);
        CHECK_EQ(seine_gauge_get(g, beyond[i]), 0);
        CHECK_EQ(seine_histogram_count(h, beyond[i]), 0);
    }
    CHECK_STR(text_of(m, SEINE_METRICS_PROMETHEUS), before);
    free((void *)before);
    forget_text();
    seine_metrics_free(m);
    seine_metrics_free(NULL);
}

TEST(s3_03_metrics_count_in_fixed_cells_and_never_allocate)
{
    static const seine_http_route routes[] = {{"/", 1u << SEINE_HTTP_GET}};
    seine_metrics *m = registry();
    seine_counter *c = NULL;
    seine_gauge *g = NULL;
    seine_histogram *h = NULL;
    seine_http_metrics *http = NULL;

    CHECK_EQ(seine_metrics_counter(m, "app_total", "H.", labels, 2, &c), SEINE_OK);
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", "H.", NULL, 0, &g), SEINE_OK);
    CHECK_EQ(seine_metrics_histogram(m, "app_wait_seconds", "H.", NULL, 0, NULL, &h),
             SEINE_OK);
    CHECK_EQ(seine_http_metrics_new(m, "console", routes, 1, &http), SEINE_OK);
    count_begin();
    for (int i = 0; i < 1000; i++) {
        seine_counter_add(c, (unsigned)i % 6, 1);
        seine_gauge_set(g, 0, i);
        seine_histogram_observe(h, 0, i);
        seine_http_record(http, SEINE_HTTP_GET, (unsigned)i, i, i);
    }
    CHECK_EQ(count_calls(), 0);
    count_end();
    seine_metrics_free(m);
}

/* Sums over all series of a family whose line begins with `name{`. */
static long long
sum(const char *text, const char *name)
{
    long long total = 0;
    size_t n = strlen(name);

    for (const char *p = text; *p; p = strchr(p, '\n') + 1)
        if (strncmp(p, name, n) == 0 && p[n] == '{')
            total += strtoll(strstr(p, "} ") + 2, NULL, 10);
    return total;
}

TEST(s3_05_http_metrics_count_three_requests_and_one_error)
{
    static const seine_http_route routes[] = {
        {"/api/users", 1u << SEINE_HTTP_GET | 1u << SEINE_HTTP_POST},
        {"/metrics", 1u << SEINE_HTTP_GET},
    };
    seine_metrics *m = registry();
    seine_http_metrics *http = NULL;

    CHECK_EQ(seine_http_metrics_new(m, "console", routes, 2, &http), SEINE_OK);
    seine_http_record(http, SEINE_HTTP_GET, 0, 200, SEINE_MS(100));
    seine_http_record(http, SEINE_HTTP_POST, 0, 201, SEINE_MS(200));
    seine_http_record(http, SEINE_HTTP_GET, 0, 404, SEINE_MS(50));
    seine_http_opened(http, SEINE_HTTP_PLAIN);
    CHECK_EQ(sum(text_of(m, SEINE_METRICS_PROMETHEUS), "active_connections"), 1);
    seine_http_closed(http, SEINE_HTTP_PLAIN);

    const char *text = text_of(m, SEINE_METRICS_PROMETHEUS);
    CHECK_EQ(sum(text, "http_requests_total"), 3);
    CHECK_EQ(sum(text, "http_errors_total"), 1);
    CHECK_EQ(sum(text, "http_request_duration_seconds_count"), 3);
    CHECK_EQ(sum(text, "active_connections"), 0);
    CHECK(strstr(text, "# TYPE active_connections gauge\n") != NULL);
    CHECK_EQ(value(text, "http_requests_total{server=\"console\",method=\"POST\","
                         "route=\"/api/users\",class=\"2xx\"}"),
             1);
    CHECK_EQ(value(text, "http_errors_total{server=\"console\",method=\"GET\","
                         "route=\"/api/users\",class=\"4xx\"}"),
             1);
    CHECK(strstr(text, "http_request_duration_seconds_sum{server=\"console\","
                       "route=\"/api/users\"} 0.35\n") != NULL);
    forget_text();
    seine_metrics_free(m);
}

TEST(http_metrics_have_the_pairs_of_the_table_and_other)
{
    static const seine_http_route routes[] = {
        {"/a", 1u << SEINE_HTTP_GET},
        {"/b", 1u << SEINE_HTTP_PUT | 1u << SEINE_HTTP_DELETE},
    };
    static const struct {
        unsigned method, route;
        int status;
        const char *series;
    } rows[] = {
        {SEINE_HTTP_GET, 0, 200, "method=\"GET\",route=\"/a\",class=\"2xx\""},
        {SEINE_HTTP_PUT, 1, 302, "method=\"PUT\",route=\"/b\",class=\"3xx\""},
        {SEINE_HTTP_DELETE, 1, 599, "method=\"DELETE\",route=\"/b\",class=\"5xx\""},
        {SEINE_HTTP_GET, 0, 101, "method=\"GET\",route=\"/a\",class=\"2xx\""},
        {SEINE_HTTP_GET, 0, 399, "method=\"GET\",route=\"/a\",class=\"3xx\""},
        {SEINE_HTTP_GET, 0, 400, "method=\"GET\",route=\"/a\",class=\"4xx\""},
        {SEINE_HTTP_GET, 0, 0, "method=\"GET\",route=\"/a\",class=\"5xx\""},
        {SEINE_HTTP_GET, 0, 600, "method=\"GET\",route=\"/a\",class=\"5xx\""},
        {SEINE_HTTP_GET, 1, 405, "method=\"other\",route=\"other\",class=\"4xx\""},
        {SEINE_HTTP_OTHER, 0, 405, "method=\"other\",route=\"other\",class=\"4xx\""},
        {99, 0, 405, "method=\"other\",route=\"other\",class=\"4xx\""},
        {SEINE_HTTP_GET, 2, 404, "method=\"other\",route=\"other\",class=\"4xx\""},
        {SEINE_HTTP_GET, UINT32_MAX, 404,
         "method=\"other\",route=\"other\",class=\"4xx\""},
    };

    EACH_ROW(i, rows) {
        seine_metrics *m = registry();
        seine_http_metrics *http = NULL;
        char name[160];
        bool is_error = strstr(rows[i].series, "4xx") || strstr(rows[i].series, "5xx");

        CHECK_EQ(seine_http_metrics_new(m, "gate", routes, 2, &http), SEINE_OK);
        seine_http_record(http, rows[i].method, rows[i].route, rows[i].status,
                          SEINE_MS(1));
        const char *text = text_of(m, SEINE_METRICS_PROMETHEUS);
        snprintf(name, sizeof name, "http_requests_total{server=\"gate\",%s}",
                 rows[i].series);
        CHECK_EQ(value(text, name), 1);
        CHECK_EQ(sum(text, "http_requests_total"), 1);
        CHECK_EQ(sum(text, "http_errors_total"), is_error);
        snprintf(name, sizeof name, "http_errors_total{server=\"gate\",%s}",
                 rows[i].series);
        CHECK_EQ(value(text, name), is_error ? 1 : -1);
        /* The route of the request is the route of its duration. */
        const char *route = strstr(rows[i].series, "route=");
        snprintf(name, sizeof name,
                 "http_request_duration_seconds_count{server=\"gate\",%.*s}",
                 (int)strcspn(route, ","), route);
        CHECK_EQ(value(text, name), 1);
        CHECK_EQ(sum(text, "http_request_duration_seconds_count"), 1);
        seine_metrics_free(m);
    }
    forget_text();
}

TEST(http_metrics_of_several_servers_share_their_families)
{
    static const seine_http_route routes[] = {{"/", 1u << SEINE_HTTP_GET}};
    seine_metrics *m = registry();
    seine_http_metrics *console = NULL, *gate = NULL, *again = NULL;
    seine_counter *c = NULL;

    CHECK_EQ(seine_http_metrics_new(m, "console", routes, 1, &console), SEINE_OK);
    CHECK_EQ(seine_http_metrics_new(m, "gate", routes, 1, &gate), SEINE_OK);
    CHECK_EQ(seine_http_metrics_new(m, "gate", NULL, 0, &again), SEINE_E_ALREADY);
    CHECK_EQ(seine_metrics_counter(m, "http_requests_total", "H.", NULL, 0, &c),
             SEINE_E_ALREADY);
    CHECK(!again && !c);
    seine_http_opened(console, SEINE_HTTP_PLAIN);
    seine_http_opened(gate, SEINE_HTTP_WEBSOCKET);
    seine_http_record(gate, SEINE_HTTP_GET, 0, 200, 1);

    const char *text = text_of(m, SEINE_METRICS_PROMETHEUS);
    CHECK_EQ(value(text, "active_connections{server=\"console\",kind=\"http\"}"), 1);
    CHECK_EQ(value(text, "active_connections{server=\"console\",kind=\"ws\"}"), 0);
    CHECK_EQ(value(text, "active_connections{server=\"gate\",kind=\"ws\"}"), 1);
    CHECK_EQ(sum(text, "http_requests_total"), 1);
    const char *type = strstr(text, "# TYPE http_requests_total");
    CHECK(type && !strstr(type + 1, "# TYPE http_requests_total")); /* told once */
    forget_text();
    seine_metrics_free(m);

    /* The program's own family is not joined, and nothing is added. */
    m = registry();
    CHECK_EQ(seine_metrics_counter(m, "http_errors_total", "H.", NULL, 0, &c), SEINE_OK);
    CHECK_EQ(seine_http_metrics_new(m, "gate", routes, 1, &gate), SEINE_E_ALREADY);
    CHECK_STR(text_of(m, SEINE_METRICS_PROMETHEUS), "# HELP http_errors_total H.\n"
                                                    "# TYPE http_errors_total counter\n"
                                                    "http_errors_total 0\n");
    forget_text();
    seine_metrics_free(m);
}

TEST(http_metrics_refuse_tables_without_sense)
{
    static const seine_http_route get = {"/", 1u << SEINE_HTTP_GET};
    static const struct {
        const char *server;
        seine_http_route routes[2];
        size_t n;
        seine_err err;
    } rows[] = {
        {NULL, {{"/", 1}}, 1, SEINE_E_INVAL},
        {"", {{"/", 1}}, 1, SEINE_E_INVAL},
        {"gate", {{NULL, 1}}, 1, SEINE_E_INVAL},
        {"gate", {{"", 1}}, 1, SEINE_E_INVAL},
        {"gate", {{"other", 1}}, 1, SEINE_E_INVAL}, /* would be there twice */
        {"gate", {{"/", 0}}, 1, SEINE_E_INVAL},
        {"gate", {{"/", 1u << SEINE_HTTP_OTHER}}, 1, SEINE_E_INVAL},
        {"gate", {{"/", 1}, {"/", 2}}, 2, SEINE_E_INVAL},
        {"gate", {{"/", 1}}, 257, SEINE_E_RANGE},
    };
    static seine_http_route many[220];
    static char names[220][8];
    seine_metrics *m = registry();
    seine_http_metrics *http = NULL;

    EACH_ROW(i, rows)
        CHECK_EQ(
            seine_http_metrics_new(m, rows[i].server, rows[i].routes, rows[i].n, &http),
            rows[i].err);
    for (size_t i = 0; i < 220; i++) { /* 220 durations have over 2,000 lines */
        snprintf(names[i], sizeof names[i], "/%zu", i);
        many[i] = (seine_http_route){names[i], get.methods};
    }
    CHECK_EQ(seine_http_metrics_new(m, "gate", many, 220, &http), SEINE_E_RANGE);
    CHECK(!http);
    CHECK_STR(text_of(m, SEINE_METRICS_PROMETHEUS), "");
    seine_metrics_free(m);
}

/* The engine's families, without an engine, for promtool. */
static seine_metrics *
engine_families(void)
{
    static const char *const queues[] = {"extract", "sink", "command", "log"};
    static const char *const states[] = {"running", "paused", "done"};
    static const char *const errors[] = {"timeout", "connect", "dns"};
    static const char *const levels[] = {"debug", "info", "warn", "error"};
    static const seine_http_route routes[] = {
        {"/api/runs/{id}", 1u << SEINE_HTTP_GET | 1u << SEINE_HTTP_DELETE},
        {"/metrics", 1u << SEINE_HTTP_GET},
    };
    const seine_label queue = {"queue", queues, 4}, state = {"state", states, 3},
                      error = {"error", errors, 3}, level = {"level", levels, 4};
    seine_metrics *m = registry();
    seine_gauge *jobs = NULL, *depth = NULL, *when = NULL;
    seine_histogram *duration = NULL, *lag = NULL;
    seine_counter *failed = NULL, *records = NULL, *busy = NULL;
    seine_http_metrics *http = NULL;
    const seine_buckets wide = seine_buckets_long(), fine = seine_buckets_fine();

    CHECK_EQ(seine_metrics_gauge(m, "seine_jobs", "Jobs by state.", &state, 1, &jobs),
             SEINE_OK);
    CHECK_EQ(seine_metrics_gauge(m, "seine_queue_depth", "Waiting.", &queue, 1, &depth),
             SEINE_OK);
    CHECK_EQ(seine_metrics_histogram(m, "seine_fetch_request_duration_seconds",
                                     "One attempt.", NULL, 0, &wide, &duration),
             SEINE_OK);
    CHECK_EQ(seine_metrics_counter(m, "seine_fetch_errors_total",
                                   "Attempts without a whole response.", &error, 1,
                                   &failed),
             SEINE_OK);
    CHECK_EQ(seine_metrics_histogram(m, "seine_loop_lag_seconds",
                                     "How late a timer fired.", NULL, 0, &fine, &lag),
             SEINE_OK);
    CHECK_EQ(seine_metrics_counter(m, "seine_log_records_total", "Log \\ records.",
                                   &level, 1, &records),
             SEINE_OK);
    CHECK_EQ(seine_metrics_counter(m, "seine_worker_busy_seconds_total", "Work.", NULL, 0,
                                   &busy),
             SEINE_OK);
    CHECK_EQ(seine_metrics_gauge(m, "seine_job_last_success_timestamp_seconds", "When.",
                                 NULL, 0, &when),
             SEINE_OK);
    CHECK_EQ(seine_http_metrics_new(m, "console", routes, 2, &http), SEINE_OK);
    CHECK_EQ(seine_http_metrics_new(m, "gate", NULL, 0, &http), SEINE_OK);

    seine_gauge_add(jobs, 0, 1);
    seine_gauge_set(depth, 1, 12);
    for (int i = 0; i < 100; i++)
        seine_histogram_observe(duration, 0, SEINE_MS((seine_span)i * i));
    seine_counter_add(failed, 2, 3);
    seine_counter_add(busy, 0, 1234567890);
    seine_http_record(http, SEINE_HTTP_GET, 0, 200, SEINE_MS(7));
    return m;
}

TEST(metrics_of_gauges_histograms_and_counters_stand_in_one_text)
{
    seine_metrics *m = engine_families();
    const char *text = text_of(m, SEINE_METRICS_PROMETHEUS);

    CHECK(strstr(text, "# TYPE seine_jobs gauge\n") != NULL);
    CHECK(strstr(text, "# TYPE seine_queue_depth gauge\n") != NULL);
    CHECK(strstr(text, "# TYPE seine_fetch_request_duration_seconds histogram\n") !=
          NULL);
    CHECK(strstr(text, "# TYPE seine_fetch_errors_total counter\n") != NULL);
    CHECK_EQ(value(text, "seine_jobs{state=\"running\"}"), 1);
    CHECK_EQ(value(text, "seine_queue_depth{queue=\"sink\"}"), 12);
    CHECK_EQ(value(text, "seine_fetch_request_duration_seconds_count"), 100);
    CHECK_EQ(value(text, "seine_fetch_errors_total{error=\"dns\"}"), 3);
    forget_text();
    seine_metrics_free(m);
}

/* Registration lists every value of a label, so no later host, URL or user can become
 * one. Open connections are a gauge. */
TEST(metrics_have_the_labels_of_their_registration_alone)
{
    seine_metrics *m = engine_families();
    const char *text = text_of(m, SEINE_METRICS_PROMETHEUS);
    int lines = 0;

    CHECK(strstr(text, "# TYPE active_connections gauge\n") != NULL);
    CHECK(!strstr(text, "host=") && !strstr(text, "url=") && !strstr(text, "user="));
    for (const char *p = text; *p; p = strchr(p, '\n') + 1)
        lines += *p != '#';
    CHECK(lines <= 2000);
    forget_text();
    seine_metrics_free(m);
}

/* tests/e2e/test_promtool lets an independent parser read the output. */
TEST(metrics_exposition_for_other_readers)
{
    static const char *const files[] = {"metrics.prom", "metrics.om"};
    const char *directory = getenv("SEINE_EXPOSITION");
    seine_metrics *m = engine_families();

    for (int i = 0; i < 2; i++) {
        const char *text = text_of(m, (seine_metrics_format)i);
        char path[512];

        CHECK(strlen(text) > 1000);
        if (!directory)
            continue;
        snprintf(path, sizeof path, "%s/%s", directory, files[i]);
        FILE *f = fopen(path, "w");
        CHECK(f && fputs(text, f) >= 0);
        if (f)
            fclose(f);
    }
    forget_text();
    seine_metrics_free(m);
}

TEST(metrics_without_memory_are_not_made)
{
    static const seine_http_route routes[] = {{"/", 1u << SEINE_HTTP_GET}};

    FAIL_EACH(r)
    {
        seine_metrics *m = NULL;
        seine_counter *c = NULL;
        seine_histogram *h = NULL;
        seine_http_metrics *http = NULL;
        seine_text text = {0};
        seine_err e = seine_metrics_new(&m);

        if (e == SEINE_OK)
            e = seine_metrics_counter(m, "app_total", "H.", labels, 2, &c);
        if (e == SEINE_OK)
            e = seine_metrics_histogram(m, "app_wait_seconds", "H.", labels, 2, NULL, &h);
        if (e == SEINE_OK)
            e = seine_http_metrics_new(m, "console", routes, 1, &http);
        if (e == SEINE_OK)
            e = seine_metrics_text(m, SEINE_METRICS_PROMETHEUS, &text);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK_EQ(e == SEINE_OK, text.bytes != NULL);
        seine_text_free(&text);
        seine_metrics_free(m);
    }
}

/* Compares with plain arrays, at random moments so that both sides of a histogram are
 * used. */
TEST(metrics_agree_with_plain_arrays)
{
    static const seine_span bounds[] = {10, 100, 1000};
    static const seine_buckets buckets = {bounds, 3};
    sn_rng r = sn_rng_seed(check_seed());
    seine_metrics *m = registry();
    seine_counter *c = NULL;
    seine_gauge *g = NULL;
    seine_histogram *h = NULL;
    uint64_t counts[6] = {0}, seen[6][4] = {{0}}, sums[6] = {0};
    int64_t levels[6] = {0};

    CHECK_EQ(seine_metrics_counter(m, "c_total", "H.", labels, 2, &c), SEINE_OK);
    CHECK_EQ(seine_metrics_gauge(m, "g", "H.", labels, 2, &g), SEINE_OK);
    CHECK_EQ(seine_metrics_histogram(m, "w_seconds", "H.", labels, 2, &buckets, &h),
             SEINE_OK);
    for (int step = 0; step < 3000; step++) {
        unsigned s = (unsigned)sn_rng_below(&r, 6);
        uint64_t n = sn_rng_below(&r, 2000);

        seine_counter_add(c, s, n);
        counts[s] += n;
        if (n % 2)
            seine_gauge_set(g, s, levels[s] = -(int64_t)n);
        else
            seine_gauge_add(g, s, (int64_t)n), levels[s] += (int64_t)n;
        seine_histogram_observe(h, s, (seine_span)n);
        seen[s][n <= 10 ? 0 : n <= 100 ? 1 : n <= 1000 ? 2 : 3]++;
        sums[s] += n;
        if (sn_rng_below(&r, 100) > 0)
            continue;

        sn_buf want;
        sn_buf_init(&want, 1 << 16);
        for (unsigned i = 0; i < 6; i++)
            sn_buf_printf(&want, "%sc_total{method=\"%s\",class=\"%s\"} %" PRIu64 "\n",
                          i ? "" : "# HELP c_total H.\n# TYPE c_total counter\n",
                          methods[i / 3], classes[i % 3], counts[i]);
        for (unsigned i = 0; i < 6; i++)
            sn_buf_printf(&want, "%sg{method=\"%s\",class=\"%s\"} %" PRId64 "\n",
                          i ? "" : "# HELP g H.\n# TYPE g gauge\n", methods[i / 3],
                          classes[i % 3], levels[i]);
        for (unsigned i = 0; i < 6; i++) {
            char sum_text[24];
            uint64_t below = 0;
            static const char *const les[] = {"0.00000001", "0.0000001", "0.000001",
                                              "+Inf"};

            if (i == 0)
                sn_buf_text(&want, "# HELP w_seconds H.\n# TYPE w_seconds histogram\n");
            for (int b = 0; b < 4; b++)
                sn_buf_printf(
                    &want,
                    "w_seconds_bucket{method=\"%s\",class=\"%s\",le=\"%s\"} %" PRIu64
                    "\n",
                    methods[i / 3], classes[i % 3], les[b], below += seen[i][b]);
            sn_decimal_text((int64_t)sums[i], 9, sum_text);
            sn_buf_printf(&want, "w_seconds_sum{method=\"%s\",class=\"%s\"} %s\n",
                          methods[i / 3], classes[i % 3], sum_text);
            sn_buf_printf(&want,
                          "w_seconds_count{method=\"%s\",class=\"%s\"} %" PRIu64 "\n",
                          methods[i / 3], classes[i % 3], below);
        }
        CHECK_STR(text_of(m, SEINE_METRICS_PROMETHEUS), want.ptr);
        sn_buf_fini(&want);
    }
    forget_text();
    seine_metrics_free(m);
}

#define EACH 300

typedef struct crowd {
    seine_counter *c;
    seine_gauge *g;
    seine_histogram *h;
    atomic_int left; /* writers at work */
} crowd;

static void *
write_metrics(void *arg)
{
    crowd *all = arg;

    for (int i = 0; i < EACH; i++) {
        seine_counter_add(all->c, 1, 2);
        seine_gauge_add(all->g, 0, i % 2 ? -1 : 1);
        seine_histogram_observe(all->h, 1, SEINE_MS(i % 2 ? 1 : 3)); /* 2 ms on average */
    }
    all->left--;
    return NULL;
}

/* True of every snapshot: the buckets add up to the count, and the sum belongs to exactly
 * these observations. */
static long long
check_snapshot(const char *text)
{
    long long small = value(text, "w_seconds_bucket{method=\"POST\",le=\"0.001\"}");
    long long middle = value(text, "w_seconds_bucket{method=\"POST\",le=\"0.002\"}");
    long long all = value(text, "w_seconds_bucket{method=\"POST\",le=\"+Inf\"}");
    const char *sum_line = strstr(text, "w_seconds_sum{method=\"POST\"} ");
    int64_t us = -1;

    CHECK(sum_line != NULL);
    if (sum_line) {
        sn_str number = sn_str_of(strchr(sum_line, ' ') + 1);

        number.len = sn_str_find(number, '\n');
        CHECK_EQ(sn_str_decimal(number, 6, &us), SEINE_OK);
    }
    CHECK_EQ(small, middle);
    CHECK_EQ(value(text, "w_seconds_count{method=\"POST\"}"), all);
    CHECK_EQ(us, small * 1000 + (all - small) * 3000);
    return all;
}

TEST_THREADS(metrics_of_many_threads_add_up_and_every_reading_is_of_one_moment)
{
    static const seine_span bounds[] = {SEINE_MS(1), SEINE_MS(2)};
    static const seine_buckets buckets = {bounds, 2};
    seine_metrics *m = registry();
    crowd all = {.left = 3};
    pthread_t threads[3];
    long long before = 0;

    CHECK_EQ(seine_metrics_counter(m, "c_total", "H.", labels, 1, &all.c), SEINE_OK);
    CHECK_EQ(seine_metrics_gauge(m, "g", "H.", NULL, 0, &all.g), SEINE_OK);
    CHECK_EQ(seine_metrics_histogram(m, "w_seconds", "H.", labels, 1, &buckets, &all.h),
             SEINE_OK);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, write_metrics, &all), 0);
    while (all.left > 0) {
        long long now = check_snapshot(text_of(m, SEINE_METRICS_PROMETHEUS));

        CHECK(now >= before);
        before = now;
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(check_snapshot(text_of(m, SEINE_METRICS_PROMETHEUS)), 3 * EACH);
    CHECK_EQ(seine_counter_get(all.c, 1), 3 * EACH * 2);
    CHECK_EQ(seine_gauge_get(all.g, 0), 0);
    forget_text();
    seine_metrics_free(m);
}

typedef struct registrar {
    seine_metrics *m;
    int made;
} registrar;

static void *
register_all(void *arg)
{
    static const char *const names[] = {"app_one", "app_two", "app_three"};
    registrar *r = arg;
    seine_gauge *g = NULL;

    for (int i = 0; i < 3; i++)
        r->made += seine_metrics_gauge(r->m, names[i], "H.", NULL, 0, &g) == SEINE_OK;
    return NULL;
}

TEST_THREADS(metrics_are_registered_once_whoever_comes_first)
{
    seine_metrics *m = registry();
    registrar two[2] = {{m, 0}, {m, 0}};
    pthread_t threads[2];

    for (int i = 0; i < 2; i++)
        CHECK_EQ(pthread_create(&threads[i], NULL, register_all, &two[i]), 0);
    (void)text_of(m, SEINE_METRICS_PROMETHEUS); /* while the list grows */
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(two[0].made + two[1].made, 3);
    forget_text();
    seine_metrics_free(m);
}

static void
write_more(seine_metrics_format f, seine_metrics_put put, void *to, void *arg)
{
    (void)f;
    put(arg, strlen(arg), to);
}

TEST(metrics_of_others_stand_at_the_end_until_they_are_taken_away)
{
    static char line[] = "more{host=\"a\"} 1\n";
    seine_metrics *m;
    seine_text text = {NULL, 0};

    CHECK_EQ(seine_metrics_new(&m), SEINE_OK);
    seine_metrics_more(m, write_more, line);
    CHECK_EQ(seine_metrics_text(m, SEINE_METRICS_OPENMETRICS, &text), SEINE_OK);
    CHECK_STR(text.bytes, "more{host=\"a\"} 1\n# EOF\n");
    seine_text_free(&text);
    seine_metrics_more(m, NULL, NULL);
    CHECK_EQ(seine_metrics_text(m, SEINE_METRICS_OPENMETRICS, &text), SEINE_OK);
    CHECK_STR(text.bytes, "# EOF\n");
    seine_text_free(&text);
    seine_metrics_free(m);
}

TEST(metrics_parts_of_a_program_share_a_family_and_no_series)
{
    static const char *const urls[] = {"urls"}, *const logs[] = {"log", "trace"},
                             *const again[] = {"sink", "log"};
    const seine_label first = {"queue", urls, 1}, second = {"queue", logs, 2},
                      third = {"queue", again, 2};
    seine_metrics *m;
    seine_gauge *a, *b, *c;
    seine_text text = {NULL, 0};

    CHECK_EQ(seine_metrics_new(&m), SEINE_OK);
    CHECK_EQ(seine_metrics_gauge(m, "seine_queue_depth", "x", &first, 1, &a), SEINE_OK);
    CHECK_EQ(seine_metrics_gauge(m, "seine_queue_depth", "x", &second, 1, &b), SEINE_OK);
    CHECK_EQ(seine_metrics_gauge(m, "seine_queue_depth", "x", &third, 1, &c),
             SEINE_E_ALREADY); /* one of its series is there */
    seine_gauge_set(a, 0, 7);
    seine_gauge_set(b, 1, 8);
    CHECK_EQ(seine_metrics_text(m, SEINE_METRICS_PROMETHEUS, &text), SEINE_OK);
    CHECK_STR(text.bytes, "# HELP seine_queue_depth x\n# TYPE seine_queue_depth gauge\n"
                          "seine_queue_depth{queue=\"urls\"} 7\n"
                          "seine_queue_depth{queue=\"log\"} 0\n"
                          "seine_queue_depth{queue=\"trace\"} 8\n");
    seine_text_free(&text);
    /* other families belong to one */
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", "x", &first, 1, &a), SEINE_OK);
    CHECK_EQ(seine_metrics_gauge(m, "app_depth", "x", &second, 1, &b), SEINE_E_ALREADY);
    seine_metrics_free(m);
}

TEST(metrics_a_quantile_is_the_bound_that_a_share_of_the_values_keeps)
{
    const seine_buckets fine = seine_buckets_fine();
    seine_metrics *m = registry();
    seine_histogram *h = NULL;

    CHECK_EQ(seine_metrics_histogram(m, "app_lag_seconds", "x", NULL, 0, &fine, &h),
             SEINE_OK);
    CHECK_EQ(sn_histogram_quantile(h, 0, 0.99), 0); /* there is none yet */
    for (int i = 0; i < 99; i++)
        seine_histogram_observe(h, 0, SEINE_MS(7));
    seine_histogram_observe(h, 0, SEINE_SECS(4));
    CHECK_EQ(sn_histogram_quantile(h, 0, 0.99), SEINE_MS(10));
    CHECK_EQ(sn_histogram_quantile(h, 0, 1), SEINE_SECS(5)); /* and not the longest */
    seine_histogram_observe(h, 0, SEINE_SECS(11));
    CHECK_EQ(sn_histogram_quantile(h, 0, 1), SEINE_NEVER);
    CHECK_EQ(sn_histogram_quantile(h, 1, 0.5), 0); /* no such series */
    seine_metrics_free(m);
}
