/* SPDX-License-Identifier: Apache-2.0 */
#include "store/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "seine/sink.h"
#include "store/sqlite.h"

#define DAY SEINE_SECS(1763337600) /* a full minute of wall time */

static seine_slice
slice_at(int64_t seconds, int64_t width)
{
    return (seine_slice){.wall = DAY + SEINE_SECS(seconds),
                         .width = SEINE_SECS(width),
                         .lived = SEINE_SECS(width),
                         .shards = 1};
}

static seine_timeline *
make_timeline(void)
{
    seine_timeline *t = NULL;

    CHECK_EQ(seine_timeline_new(&t), SEINE_OK);
    return t;
}

TEST(timeline_joins_the_slices_of_shards_in_any_order)
{
    seine_timeline *t = make_timeline();
    size_t n = 0;

    for (int i = 4; i >= 0; i--)
        for (int shard = 0; shard < 2; shard++) {
            seine_slice s = slice_at(i, 1);
            s.ok = 3;
            s.in_flight = 2000000;
            s.slots = 64;
            s.lived = SEINE_MS(shard ? 500 : 1000);
            CHECK_EQ(seine_timeline_add(t, &s), SEINE_OK);
        }
    const seine_slice *all = seine_timeline_slices(t, &n);
    CHECK_EQ(n, 5);
    for (size_t i = 0; i < n; i++) {
        CHECK_EQ(all[i].wall, DAY + SEINE_SECS((int64_t)i));
        CHECK_EQ(all[i].ok, 6);
        CHECK_EQ(all[i].shards, 2);
        CHECK_EQ(all[i].slots, 64);
        CHECK_EQ(all[i].lived, SEINE_SECS(1));
        CHECK_EQ((int)seine_slice_mean(&all[i], all[i].in_flight), 4);
    }
    seine_timeline_free(t);
}

TEST(timeline_shows_seconds_up_to_ten_minutes_and_minutes_of_longer_runs)
{
    static const struct {
        int64_t last, n, width;
    } rows[] = {
        {59, 60, 1},       /* within a minute */
        {599, 600, 1},     /* the last second that was not overwritten */
        {600, 11, 60},     /* one more, and the first second is gone */
        {86399, 1440, 60}, /* a day */
    };

    EACH_ROW(k, rows) {
        seine_timeline *t = make_timeline();
        size_t n = 0;

        for (int64_t i = rows[k].last < 600 ? 0 : rows[k].last - 599; i <= rows[k].last;
             i++)
            CHECK_EQ(seine_timeline_add(t, &(seine_slice){.wall = DAY + SEINE_SECS(i),
                                                          .width = SEINE_SECS(1)}),
                     SEINE_OK);
        for (int64_t i = 0; i <= rows[k].last; i += 60)
            CHECK_EQ(seine_timeline_add(t, &(seine_slice){.wall = DAY + SEINE_SECS(i),
                                                          .width = SEINE_SECS(60)}),
                     SEINE_OK);
        const seine_slice *all = seine_timeline_slices(t, &n);
        CHECK_EQ(n, rows[k].n);
        CHECK_EQ(all[0].width, SEINE_SECS(rows[k].width));
        seine_timeline_free(t);
    }
}

TEST(timeline_shows_minutes_if_the_seconds_of_an_earlier_run_are_gone)
{
    seine_timeline *t = make_timeline();
    seine_slice early = slice_at(0, 60), late = slice_at(86400, 60),
                second = slice_at(86400, 1);
    size_t n = 0;

    CHECK_EQ(seine_timeline_add(t, &early), SEINE_OK);
    CHECK_EQ(seine_timeline_add(t, &late), SEINE_OK);
    CHECK_EQ(seine_timeline_add(t, &second), SEINE_OK);
    const seine_slice *all = seine_timeline_slices(t, &n);
    CHECK_EQ(n, 2);
    CHECK_EQ(all[0].width, SEINE_SECS(60));
    seine_timeline_free(t);
}

TEST(timeline_takes_no_slice_that_is_no_second_or_minute)
{
    seine_timeline *t = make_timeline();
    seine_slice odd = slice_at(0, 7), late = slice_at(1, 60);

    CHECK_EQ(seine_timeline_add(t, &odd), SEINE_E_INVAL);
    CHECK_EQ(seine_timeline_add(t, &late), SEINE_E_INVAL);
    CHECK_EQ(seine_timeline_add(NULL, &late), SEINE_E_INVAL);
    seine_timeline_free(t);
}

TEST(timeline_is_bounded)
{
    seine_timeline *t = make_timeline();
    seine_err e = SEINE_OK;
    int64_t n = 0;

    while (e == SEINE_OK && n < 10000) {
        seine_slice s = slice_at(n++, 1);
        e = seine_timeline_add(t, &s);
    }
    CHECK_EQ(e, SEINE_E_FULL);
    CHECK_EQ(n, 8193);
    seine_timeline_free(t);
}

TEST(slice_percentiles_are_at_most_six_percent_off)
{
    for (seine_span took = SEINE_US(64); took < SEINE_SECS(130); took += took / 37) {
        seine_slice s = slice_at(0, 1);

        sn_slice_time(&s, took);
        sn_slice_time(&s, SEINE_SECS(133));
        seine_span p50 = seine_slice_latency(&s, 50);
        CHECK(p50 > took - took * 7 / 100 && p50 < took + took * 7 / 100);
    }
}

TEST(slice_percentiles_never_pass_the_slowest)
{
    seine_slice s = slice_at(0, 1);

    CHECK_EQ(seine_slice_latency(&s, 50), 0);
    sn_slice_time(&s, SEINE_MS(40));
    CHECK(seine_slice_latency(&s, 99) <= SEINE_MS(40));
    sn_slice_time(&s, SEINE_SECS(4000)); /* beyond the last bin */
    CHECK(seine_slice_latency(&s, 100) <= SEINE_SECS(4000));
    CHECK(seine_slice_latency(&s, 100) > SEINE_SECS(100));
}

TEST(slice_counts_kinds_of_errors_and_sums_up_those_without_a_place)
{
    seine_slice s = slice_at(0, 1);
    uint64_t sum = 0;

    for (uint32_t kind = 1; kind <= 20; kind++)
        for (int i = 0; i < 3; i++)
            sn_slice_fail(&s, kind, 1);
    for (int i = 0; i < SEINE_SLICE_KINDS; i++)
        sum += s.errors[i].n;
    CHECK_EQ(sum, 60);
    CHECK_EQ(s.errors[0].err, 1);
    CHECK_EQ(s.errors[0].n, 3);
    CHECK_EQ(s.errors[SEINE_SLICE_KINDS - 1].err, 0);
    CHECK_EQ(s.errors[SEINE_SLICE_KINDS - 1].n, 15); /* kinds 16 to 20 */
}

static seine_slice
full_slice(void)
{
    seine_slice s = slice_at(7, 1);

    s.ok = s.failed = s.blocked = s.skipped = INT64_MAX;
    for (int i = 0; i < 6; i++)
        s.requests[i] = INT64_MAX;
    s.retries = s.bytes_in = s.bytes_body = s.in_flight = s.slots = INT64_MAX;
    s.cpu_us = s.output_us = s.memory_us = s.paused_us = INT64_MAX;
    s.slowest = SEINE_US(INT64_MAX / 1000);
    for (int i = 0; i <= SEINE_WAIT_OUTPUT; i++)
        s.waiting[i] = INT64_MAX;
    for (uint32_t i = 0; i < SEINE_SLICE_KINDS; i++)
        s.errors[i] =
            (seine_slice_error){i + 1 < SEINE_SLICE_KINDS ? 200 + i : 0, UINT32_MAX};
    for (int i = 0; i < SEINE_SLICE_BINS; i++)
        s.latency[i] = UINT32_MAX;
    return s;
}

TEST(slice_comes_back_from_its_text_and_the_largest_fits)
{
    seine_slice some = slice_at(60, 60), rows[3] = {full_slice(), slice_at(1, 1)};
    char text[SN_SLICE_TEXT];

    some.ok = 4;
    some.waiting[SEINE_WAIT_PACE] = 17;
    some.latency[3] = 2;
    some.requests[2] = 4;
    some.lived = SEINE_MS(12345);
    rows[2] = some;
    for (int i = 0; i < 3; i++) {
        seine_slice back = {0};
        size_t n = sn_slice_write(&rows[i], text);

        CHECK(n > 0);
        CHECK(sn_slice_read((sn_str){text, n}, &back));
        CHECK_EQ(memcmp(&back, &rows[i], sizeof back), 0);
    }
}

TEST(slice_of_a_stranger_is_refused_or_made_harmless)
{
    static const char *const bad[] = {
        "",
        "[]",
        "{}",
        "{\"at\":1,\"seconds\":2}",
        "{\"at\":61,\"seconds\":60}",
        "{\"at\":99999999999,\"seconds\":1}",
    };
    seine_slice s = {0};

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!sn_slice_read(sn_str_of(bad[i]), &s));
    sn_str odd = SN_STR("{\"at\":60,\"seconds\":60,\"lived_us\":99999999999999,"
                        "\"ok\":-1,\"requests\":[7,1,2],\"latency\":[168,1,167,-4],"
                        "\"errors\":[300,1,1],\"waiting\":[1]}");
    CHECK(sn_slice_read(odd, &s));
    CHECK_EQ(s.lived, SEINE_SECS(60));
    CHECK_EQ(s.ok, 0);
    CHECK_EQ(s.latency[167], 0);
    CHECK_EQ(s.errors[0].n, 0);
}

/* In a database */

static void
write_database(const char *path, const seine_timeline *t, bool append)
{
    seine_sinks_opts all = SEINE_SINKS_OPTS;
    seine_sink_opts o = SEINE_SINK_OPTS;
    seine_sinks *s = NULL;
    seine_diag diag;

    o.path = path;
    o.format = SEINE_SINK_SQLITE;
    o.append = append;
    CHECK_EQ(seine_sinks_new(&all, &s), SEINE_OK);
    CHECK_EQ(seine_sinks_open(s, &o, &diag), SEINE_OK);
    CHECK_EQ(seine_sinks_start(s, 1), SEINE_OK);
    CHECK_EQ(seine_sinks_timeline(s, t), SEINE_OK);
    CHECK_EQ(seine_sinks_line(s, "summary", "\"total\":0", 9), SEINE_OK);
    CHECK_EQ(seine_sinks_close(s), SEINE_OK);
    seine_sinks_free(s);
}

static seine_timeline *
read_database(const char *path)
{
    seine_timeline *t = make_timeline();
    seine_diag diag;

    CHECK_EQ(seine_timeline_read(t, path, &diag), SEINE_OK);
    return t;
}

static void
run_sql(const char *path, const char *sql)
{
    sn_sqlite *db = NULL;

    CHECK_EQ(sn_sqlite_open(path, SN_SQLITE_WRITE, &db), SEINE_OK);
    CHECK_EQ(sn_sqlite_exec(db, sql), SEINE_OK);
    sn_sqlite_close(db);
}

TEST(timeline_comes_back_from_a_database_and_its_moments_are_replaced)
{
    char dir[] = "/tmp/seine-timeline-XXXXXX", path[64];
    seine_timeline *t = make_timeline();
    size_t n = 0;

    CHECK(mkdtemp(dir) != NULL);
    snprintf(path, sizeof path, "%s/a.sqlite", dir);
    for (int run = 0; run < 2; run++) {
        for (int i = 0; i < 70; i++) {
            seine_slice s = slice_at(i, 1);
            s.ok = (uint64_t)i;
            CHECK_EQ(seine_timeline_add(t, &s), SEINE_OK);
        }
        write_database(path, t, run > 0);
    }
    seine_timeline *back = read_database(path);
    const seine_slice *all = seine_timeline_slices(back, &n);
    CHECK_EQ(n, 70);
    CHECK_EQ(all[69].ok, 138); /* the timeline had both, and wrote them once */
    seine_timeline_free(back);

    /* A table of that name that somebody else has made is left as it is. */
    run_sql(path, "DROP TABLE timeline; CREATE TABLE timeline(x); INSERT INTO timeline "
                  "VALUES ('mine')");
    write_database(path, t, true);
    back = read_database(path);
    (void)seine_timeline_slices(back, &n);
    CHECK_EQ(n, 0);
    seine_timeline_free(back);
    seine_timeline_free(t);
    (void)unlink(path);
    CHECK_EQ(rmdir(dir), 0);
}

TEST(timeline_of_any_other_file_is_empty)
{
    char path[] = "/tmp/seine-timeline-XXXXXX";
    int fd = mkstemp(path);
    size_t n = 1;

    CHECK(write(fd, "{}\n", 3) == 3);
    (void)close(fd);
    seine_timeline *t = read_database(path);
    (void)seine_timeline_slices(t, &n);
    CHECK_EQ(n, 0);
    (void)unlink(path);
    CHECK_EQ(seine_timeline_read(t, path, NULL), SEINE_OK); /* the records are missed */
    seine_timeline_free(t);
}

/* What held a slice back */

typedef struct limit_row {
    const char *name;
    seine_slice s;
    seine_limit want;
} limit_row;

TEST(slice_limit_is_the_first_rule_that_fits)
{
    static const uint64_t second = 1000000;
    const limit_row rows[] = {
        {"nothing to do", {.lived = SEINE_SECS(1)}, SEINE_LIMIT_NOTHING},
        {"all in flight", {.in_flight = second}, SEINE_LIMIT_SERVER},
        {"paused", {.paused_us = second, .output_us = second}, SEINE_LIMIT_PAUSED},
        {"outputs for a twentieth", {.output_us = 50000}, SEINE_LIMIT_OUTPUT},
        {"outputs for less", {.output_us = 49999}, SEINE_LIMIT_NOTHING},
        {"memory", {.memory_us = 60000, .cpu_us = 950000}, SEINE_LIMIT_MEMORY},
        {"a busy thread", {.cpu_us = 900000, .in_flight = second}, SEINE_LIMIT_CPU},
        {"one of two threads",
         {.cpu_us = 950000, .in_flight = second, .shards = 2},
         SEINE_LIMIT_SERVER},
        {"all slots are taken, and more would go",
         {.in_flight = 64 * second, .slots = 64, .waiting = {[SEINE_WAIT_QUEUE] = 1}},
         SEINE_LIMIT_CONCURRENCY},
        {"all slots are taken, and nothing waits",
         {.in_flight = 64 * second, .slots = 64},
         SEINE_LIMIT_SERVER},
        {"a queue behind one that keeps the host's rate",
         {.waiting =
              {[SEINE_WAIT_QUEUE] = 900 * second, [SEINE_WAIT_HOST_RATE] = second}},
         SEINE_LIMIT_POLITENESS},
        {"rates and delays of hosts are one",
         {.waiting = {[SEINE_WAIT_PACE] = 3,
                      [SEINE_WAIT_CRAWL_DELAY] = 3,
                      [SEINE_WAIT_BREAKER] = 5}},
         SEINE_LIMIT_POLITENESS},
        {"a queue alone", {.waiting = {[SEINE_WAIT_QUEUE] = 5}}, SEINE_LIMIT_PER_HOST},
        {"the rate over all", {.waiting = {[SEINE_WAIT_RATE] = 5}}, SEINE_LIMIT_RATE},
        {"the rate over all, though most wait for their host",
         {.waiting = {[SEINE_WAIT_RATE] = second, [SEINE_WAIT_HOST_RATE] = 9 * second}},
         SEINE_LIMIT_RATE},
        {"no half",
         {.waiting = {[SEINE_WAIT_RATE] = 4,
                      [SEINE_WAIT_BREAKER] = 3,
                      [SEINE_WAIT_BACKOFF] = 3}},
         SEINE_LIMIT_MIXED},
    };

    EACH_ROW(k, rows) {
        seine_slice s = rows[k].s;

        s.lived = SEINE_SECS(1);
        s.shards = s.shards ? s.shards : 1;
        CHECK_EQ(seine_slice_limit(&s), rows[k].want);
    }
    CHECK_STR(seine_limit_name(SEINE_LIMIT_POLITENESS), "politeness");
    CHECK_STR(seine_limit_name((seine_limit)99), "");
}
