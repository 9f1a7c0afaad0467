/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/tally.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"
#include "seine/plumbing.h"

static seine_tally *
fresh(void)
{
    seine_tally *t = NULL;

    CHECK_EQ(seine_tally_new(&t), SEINE_OK);
    return t;
}

static void
add(seine_tally *t, seine_fate fate, seine_err kind, uint16_t status, seine_span took)
{
    seine_fault fault = SEINE_FAULT;

    fault.code = kind;
    seine_tally_add(t, &(seine_record){.fate = fate,
                                       .fault = &fault,
                                       .status = status,
                                       .attempts = 1,
                                       .ttfb = took,
                                       .total = took,
                                       .bytes_in = 10,
                                       .bytes_body = 20,
                                       .queue = SEINE_MS(1),
                                       .throttle = SEINE_MS(2),
                                       .backoff = SEINE_MS(3),
                                       .retry_budget = SEINE_MS(5)});
}

static void
skip(seine_tally *t, seine_skip reason)
{
    seine_tally_add(t, &(seine_record){.type = SEINE_RECORD_SKIP, .reason = reason});
}

TEST(tally_counts_balance)
{
    static seine_tally_sums s;
    seine_tally *t = fresh();

    seine_tally_sums_get(t, &s);
    CHECK_EQ(s.total, 0);
    CHECK(s.success_rate == 0);
    CHECK_EQ(s.p50, 0);
    CHECK_EQ(s.avg_duration_ms, 0);

    add(t, SEINE_FATE_OK, SEINE_OK, 200, SEINE_US(1700));
    add(t, SEINE_FATE_OK, SEINE_OK, 204, SEINE_US(1700));
    add(t, SEINE_FATE_HTTP_ERROR, SEINE_E_HTTP, 404, SEINE_US(1700));
    add(t, SEINE_FATE_BLOCKED, SEINE_E_ROBOTS, 0, 0);
    skip(t, SEINE_SKIP_BAD_URL);
    skip(t, SEINE_SKIP_BAD_URL);
    seine_tally_sums_get(t, &s);
    CHECK_EQ(s.total, 6);
    CHECK_EQ(s.ok, 2);
    CHECK_EQ(s.failed, 1);
    CHECK_EQ(s.blocked, 1);
    CHECK_EQ(s.skipped, 2);
    CHECK_EQ(s.skips[SEINE_SKIP_BAD_URL], 2);
    CHECK_EQ(s.errors[SEINE_E_HTTP], 1);
    CHECK_EQ(s.errors[SEINE_E_ROBOTS], 1);
    CHECK_EQ(s.statuses[200] + s.statuses[204] + s.statuses[404], 3);
    CHECK(s.success_rate == 2.0 / 3.0 * 100.0);
    CHECK_EQ(s.attempts, 4);
    CHECK_EQ(s.retries, 0);
    CHECK_EQ(s.bytes_in, 40);
    CHECK_EQ(s.bytes_body, 80);
    CHECK_EQ(s.total_duration_ms, 5); /* 3 * 1.7 */
    CHECK_EQ(s.avg_duration_ms, 1);   /* 5 / 4 */
    CHECK_EQ(s.queue, SEINE_MS(4));
    CHECK_EQ(s.throttle, SEINE_MS(8));
    CHECK_EQ(s.backoff, SEINE_MS(12));
    CHECK_EQ(s.retry_budget, SEINE_MS(20));
    seine_tally_free(t);
    seine_tally_free(NULL);
}

TEST(durations_cover_the_whole_life_and_latencies_the_last_attempt)
{
    static seine_tally_sums s;
    seine_tally *t = fresh();

    for (int i = 1; i <= 2; i++) /* 50 ms of 715 ms, and the same once more as long */
        seine_tally_add(t, &(seine_record){.attempts = 3,
                                           .backoff = SEINE_MS(600) * i,
                                           .connect = SEINE_MS(20) * i,
                                           .ttfb = SEINE_MS(30) * i,
                                           .total = SEINE_MS(715) * i});
    seine_tally_sums_get(t, &s);
    CHECK_EQ(s.total_duration_ms, 715 + 1430);
    CHECK_EQ(s.avg_duration_ms, 1072);
    CHECK_EQ(s.max, SEINE_MS(100));
    CHECK(s.p50 >= SEINE_MS(48) && s.p50 <= SEINE_MS(52));
    seine_tally_free(t);
}

TEST(tally_takes_records_that_are_odd)
{
    static seine_tally_sums s;
    seine_tally *t = fresh();

    seine_tally_add(t, &(seine_record){.fate = SEINE_FATE_GAVE_UP, .total = -5});
    seine_tally_add(t, &(seine_record){.status = 65535, .attempts = 4, .queue = -1});
    for (int i = 0; i < 2; i++)
        seine_tally_add(t, &(seine_record){.attempts = 1,
                                           .dns = INT64_MAX,
                                           .body_time = INT64_MAX,
                                           .total = INT64_MAX});
    seine_tally_sums_get(t, &s);
    CHECK_EQ(s.total, 4);
    CHECK_EQ(s.retries, 3);
    CHECK_EQ(s.max, INT64_MAX);
    CHECK_EQ(s.queue, 0);
    seine_tally_free(t);
}

static int
by_value(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

    return (x > y) - (x < y);
}

/* Against the sorted list. */
TEST(tally_percentiles_are_right_to_three_percent)
{
    enum { MOST = 2000 };
    static int64_t all[MOST];
    static seine_tally_sums s;
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 20; round++) {
        size_t n = 1 + sn_rng_below(&rng, MOST);
        seine_tally *t = fresh();

        for (size_t i = 0; i < n; i++) {
            all[i] = (int64_t)(sn_rng_next(&rng) >> (1 + sn_rng_below(&rng, 62)));
            add(t, SEINE_FATE_OK, SEINE_OK, 200, all[i]);
        }
        /* never sent: says nothing about latency */
        seine_tally_add(t, &(seine_record){.total = SEINE_SECS(1000000)});
        qsort(all, n, sizeof *all, by_value);
        seine_tally_sums_get(t, &s);

        const struct {
            unsigned percent;
            seine_span got;
        } rows[] = {{50, s.p50}, {90, s.p90}, {95, s.p95}, {99, s.p99}};

        EACH_ROW(i, rows) {
            int64_t want = all[(n * rows[i].percent + 99) / 100 - 1];

            CHECK(fabs((double)(rows[i].got - want)) <= 0.0321 * (double)want);
        }
        CHECK_EQ(s.max, all[n - 1]);
        seine_tally_free(t);
    }
}

/* The summary of the specification, with figures that lead to it. */
TEST(tally_members_are_those_of_the_specification)
{
    static const char want[] =
        "\"command\":\"crawl\",\"total\":1522,\"ok\":1304,\"success\":1304,\"failed\":6,"
        "\"blocked\":0,"
        "\"skipped\":212,\"pending\":0,\"success_rate\":99.54198473282443,\"outcomes\":{"
        "\"ok\":1304,\"http_error\":6},\"statuses\":{\"200\":1304,\"404\":6},\"errors\":{"
        "\"http\":6},\"skips\":{\"offsite\":198,\"robots\":14},\"duplicates\":40112,"
        "\"requests\":1318,\"retries\":5,\"bytes_in\":13100,\"bytes_body\":26200,"
        "\"wall_ms\":294000,\"total_duration_ms\":2620,\"avg_duration_ms\":2,"
        "\"latency_ms\":{\"p50\":2.0,\"p90\":2.0,\"p95\":2.0,\"p99\":2.0,\"max\":2.0},"
        "\"waits_ms\":{\"queue\":1310.0,\"throttle\":2620.0,\"backoff\":3930.0,\"retry_"
        "budget\":6550.0},"
        "\"hosts\":1,"
        "\"top_hosts\":[{\"host\":\"e.example\",\"requests\":1318,\"ok\":1304,"
        "\"max_rps_1s\":5,\"min_gap_ms\":200.0,\"p95\":80.2,\"breaker_opens\":0,"
        "\"limited_by\":\"host-rate\"}],\"items\":{\"good\":0,\"bad\":0},\"expect\":[],"
        "\"stopped_by\":\"done\",\"exit_code\":0,\"resumable\":false";
    seine_fetch_stats stats = {.requests = 1318,
                               .retries = 5,
                               .bytes_in = 13100,
                               .bytes_body = 26200,
                               .hosts = 1};
    seine_fetch_host host = {.host = {"e.example", 9},
                             .requests = 1318,
                             .ok = 1304,
                             .max_in_1s = 5,
                             .min_gap = SEINE_MS(200),
                             .p95 = SEINE_US(80200),
                             .limited_by = SEINE_WAIT_HOST_RATE};
    seine_tally_run run = {.command = "crawl",
                           .stopped_by = "done",
                           .duplicates = 40112,
                           .wall = SEINE_SECS(294),
                           .stats = &stats,
                           .top = &host,
                           .n_top = 1};
    seine_text text = {0};
    seine_tally *t = fresh();

    for (int i = 0; i < 1310; i++)
        add(t, i < 6 ? SEINE_FATE_HTTP_ERROR : SEINE_FATE_OK,
            i < 6 ? SEINE_E_HTTP : SEINE_OK, i < 6 ? 404 : 200, SEINE_MS(2));
    for (int i = 0; i < 212; i++)
        skip(t, i < 14 ? SEINE_SKIP_ROBOTS : SEINE_SKIP_OFFSITE);
    CHECK_EQ(seine_tally_members(t, &run, &text), SEINE_OK);
    CHECK_STR(text.bytes, want);
    CHECK_EQ(text.len, strlen(want));
    seine_text_free(&text);
    seine_tally_free(t);
}

TEST(tally_members_name_the_limits_that_have_bitten_and_where_reading_stopped)
{
    const seine_tally_limit limits[] = {{"max_bytes", 12}, {"max_links", 3}};
    seine_tally_run run = {.command = "fetch",
                           .stopped_by = "signal",
                           .limits = limits,
                           .n_limits = 2,
                           .unread = "a \"b\".txt",
                           .unread_line = 41};
    seine_text text = {0};
    seine_tally *t = fresh();

    CHECK_EQ(seine_tally_members(t, &run, &text), SEINE_OK);
    CHECK(
        strstr(text.bytes,
               ",\"limits\":{\"max_bytes\":12,\"max_links\":3},\"stopped_at\":{\"input\":"
               "\"a \\\"b\\\".txt\",\"line\":41},\"duplicates\""));
    seine_text_free(&text);
    seine_tally_free(t);
}

/* Seed 000 prints it like this. */
TEST(tally_two_of_three_are_66_point_many_sixes)
{
    seine_text text = {0};
    seine_tally_run run = {.command = "fetch",
                           .stopped_by = "signal",
                           .pending = 4,
                           .exit_code = 130,
                           .resumable = true};
    seine_fetch_host hosts[] = {{.host = {"a\"b", 3}, .min_gap = SEINE_NEVER},
                                {.host = {"c", 1}, .min_gap = 0}};
    seine_tally *t = fresh();
    seine_json *json = NULL;

    add(t, SEINE_FATE_OK, SEINE_OK, 200, 0);
    add(t, SEINE_FATE_OK, SEINE_OK, 200, 0);
    add(t, SEINE_FATE_TIMEOUT, SEINE_E_STALLED, 0, 0);
    run.top = hosts;
    run.n_top = 2;
    CHECK_EQ(seine_tally_members(t, &run, &text), SEINE_OK);
    CHECK(strstr(
        text.bytes,
        "\"total\":7,\"ok\":2,\"success\":2,\"failed\":1,\"blocked\":0,\"skipped\":0,"
        "\"pending\":4,\"success_rate\":66.66666666666666,"));
    CHECK(strstr(text.bytes, "\"requests\":3,\"retries\":0,"));
    CHECK(strstr(text.bytes,
                 "{\"host\":\"a\\\"b\",\"requests\":0,\"ok\":0,\"max_rps_1s\":0,"
                 "\"p95\":0,"));
    CHECK(strstr(text.bytes, "\"exit_code\":130,\"resumable\":true"));

    char *line = malloc(text.len + 3);
    line[0] = '{';
    memcpy(line + 1, text.bytes, text.len);
    line[text.len + 1] = '}';
    CHECK_EQ(seine_json_parse(line, text.len + 2, &json, NULL), SEINE_OK);
    seine_json_free(json);
    free(line);
    seine_text_free(&text);
    seine_tally_free(t);
}

TEST(tally_without_memory_says_so)
{
    seine_tally_run run = {.command = "fetch", .stopped_by = "done"};

    FAIL_EACH(n)
    {
        seine_tally *t = NULL;
        seine_text text = {0};
        seine_err e = seine_tally_new(&t);

        if (e == SEINE_OK)
            e = seine_tally_members(t, &run, &text);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        seine_text_free(&text);
        seine_tally_free(t);
    }
}

static void *
add_many(void *arg)
{
    for (int i = 0; i < 500; i++) {
        add(arg, SEINE_FATE_OK, SEINE_OK, 200, SEINE_MS(1));
        skip(arg, SEINE_SKIP_DEPTH);
    }
    return NULL;
}

TEST_THREADS(tally_is_read_while_it_is_written)
{
    static seine_tally_sums s;
    seine_tally *t = fresh();
    pthread_t thread;

    pthread_create(&thread, NULL, add_many, t);
    do {
        seine_tally_sums_get(t, &s);
        CHECK_EQ(s.total, s.ok + s.failed + s.blocked + s.skipped);
    } while (s.total < 100);
    pthread_join(thread, NULL);
    seine_tally_sums_get(t, &s);
    CHECK_EQ(s.total, 1000);
    seine_tally_free(t);
}
