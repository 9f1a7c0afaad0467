/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record - what it costs to write down how a URL ended.
 *
 * A typical ok record (two KB page, title) and a failed one, rendered as JSON and as
 * CSV: thread CPU time. Then records through one lane and the sink thread to /dev/null:
 * CPU time of that thread and of the one that puts, and records a second.
 * Five runs, median and best. A plain copy of the same bytes stands beside them. Prints
 * a table for people, and one JSON object per line with -j.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seine/sink.h>

#include "bench.h"

enum { RUNS = BENCH_RUNS(5), MANY = BENCH_ROUNDS(200000) };

#define VIEW(text)             \
    {                          \
        text, sizeof(text) - 1 \
    }

static bool as_json;
static int missed;
static volatile size_t sink;
static char line[65536], copied[65536];
static size_t line_len;

static const seine_fault none = SEINE_FAULT;
static seine_fault refused = SEINE_FAULT;

static seine_record ok = {
    .type = SEINE_RECORD_RESULT,
    .wall = INT64_C(1794770401123456789),
    .input = VIEW("https://www.example.org/articles/2026/11/15/a-page-of-the-day"),
    .line = 4711,
    .url = VIEW("https://www.example.org/articles/2026/11/15/a-page-of-the-day"),
    .key = VIEW("https://www.example.org/articles/2026/11/15/a-page-of-the-day"),
    .final_url = VIEW("https://www.example.org/articles/2026/11/15/a-page-of-the-day"),
    .method = VIEW("GET"),
    .host = VIEW("www.example.org"),
    .ip = VIEW("203.0.113.5"),
    .http = 11,
    .fate = SEINE_FATE_OK,
    .fault = &none,
    .status = 200,
    .attempts = 1,
    .content_type = VIEW("text/html"),
    .charset = VIEW("utf-8"),
    .content_length = 2048,
    .bytes_in = 2048,
    .bytes_body = 2048,
    .queue = 3112345,
    .ttfb = 38251000,
    .body_time = 4400123,
    .total = 42651123,
    .title = VIEW("A page of the day: how things are \342\200\224 example"),
};

static seine_record failed = {
    .type = SEINE_RECORD_RESULT,
    .wall = INT64_C(1794770401123456789),
    .input = VIEW("https://slow.example/"),
    .line = 7,
    .url = VIEW("https://slow.example/"),
    .key = VIEW("https://slow.example/"),
    .method = VIEW("GET"),
    .host = VIEW("slow.example"),
    .fate = SEINE_FATE_NETWORK_ERROR,
    .fault = &refused,
    .message = VIEW("connection refused"),
    .hint = VIEW("is the server running?"),
    .retryable = true,
    .attempts = 3,
    .content_length = -1,
    .queue = 211000,
    .backoff = 3100000000,
    .connect = 400123,
    .total = 401123,
};

static double
read_ns(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* bar > 0: at most; bar < 0: at least. */
static void
report(const char *name, double *runs, const char *unit, double bar)
{
    qsort(runs, RUNS, sizeof *runs, bench_by_value);
    double median = runs[RUNS / 2], best = bar < 0 ? runs[RUNS - 1] : runs[0];
    bool is_ok = bar < 0 ? median >= -bar : bar == 0 || median <= bar;

    missed += !is_ok;
    if (as_json) {
        printf("{\"name\":\"%s\",\"value\":%.2f,\"best\":%.2f,\"unit\":\"%s\"", name,
               median, best, unit);
        if (bar != 0)
            printf(",\"bar\":%g,\"ok\":%s", bar < 0 ? -bar : bar,
                   is_ok ? "true" : "false");
        printf("}\n");
        return;
    }
    printf("%-42s %11.2f %11.2f  %-4s ", name, median, best, unit);
    if (bar != 0)
        printf("%s %-7g %s", bar < 0 ? ">=" : "<=", bar < 0 ? -bar : bar,
               is_ok ? "met" : "MISSED");
    printf("\n");
}

static void
measure(const char *name, double bar, void (*fn)(long n), long n)
{
    double runs[RUNS];

    fn(n / 10);
    for (int i = 0; i < RUNS; i++) {
        double start = read_ns(CLOCK_THREAD_CPUTIME_ID);

        fn(n);
        runs[i] = (read_ns(CLOCK_THREAD_CPUTIME_ID) - start) / (double)n;
    }
    report(name, runs, "ns", bar);
}

static void
copy(long n)
{
    for (long i = 0; i < n; i++) {
        memcpy(copied, line, line_len);
        sink += (size_t)copied[i % 64];
    }
}

static void
json(long n)
{
    for (long i = 0; i < n; i++)
        sink +=
            seine_record_json(&ok, (uint64_t)i, NULL, SEINE_BODY_NONE, line, sizeof line);
}

static void
json_failed(long n)
{
    for (long i = 0; i < n; i++)
        sink += seine_record_json(&failed, (uint64_t)i, NULL, SEINE_BODY_NONE, line,
                                  sizeof line);
}

static void
csv(long n)
{
    for (long i = 0; i < n; i++)
        sink += seine_record_csv(&ok, (uint64_t)i, NULL, 0, line, sizeof line);
}

/* Puts as fast as the lane takes it. */
static void
through(seine_sinks *s, long n)
{
    for (long i = 0; i < n; i++) {
        while (!seine_sinks_poll(s, 0)) {
            struct timespec pause = {0, 20000};

            nanosleep(&pause, NULL);
        }
        bench_ok(seine_sinks_put(s, 0, &ok));
    }
    bench_ok(seine_sinks_drain(s));
}

static void
measure_lane(const char *format, seine_sink_format f, double bar)
{
    double thread[RUNS], put[RUNS], rate[RUNS];
    char name[64];
    seine_sinks *s;

    bench_ok(seine_sinks_new(NULL, &s));
    bench_ok(seine_sinks_open(s,
                              &(seine_sink_opts){.size = sizeof(seine_sink_opts),
                                                 .format = f,
                                                 .path = "/dev/null"},
                              NULL));
    bench_ok(seine_sinks_start(s, 1));
    through(s, MANY / 10);
    for (int i = 0; i < RUNS; i++) {
        double c = read_ns(CLOCK_PROCESS_CPUTIME_ID), t = read_ns(CLOCK_MONOTONIC);
        double p = read_ns(CLOCK_THREAD_CPUTIME_ID);

        through(s, MANY);
        put[i] = (read_ns(CLOCK_THREAD_CPUTIME_ID) - p) / MANY;
        thread[i] = (read_ns(CLOCK_PROCESS_CPUTIME_ID) - c) / MANY - put[i];
        rate[i] = MANY / ((read_ns(CLOCK_MONOTONIC) - t) / 1e9) / 1000;
    }
    bench_ok(seine_sinks_close(s));
    seine_sinks_free(s);
    snprintf(name, sizeof name, "%s taken, rendered and written", format);
    report(name, thread, "ns", bar);
    snprintf(name, sizeof name, "%s put into the lane", format);
    report(name, put, "ns", 0);
    snprintf(name, sizeof name, "%s, records a second", format);
    report(name, rate, "k/s", 0);
}

int
main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* a figure is seen when it is there */
    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    refused.code = SEINE_E_CONNECT_REFUSED;
    refused.phase = SEINE_PHASE_CONNECT;
    line_len = seine_record_json(&ok, 1, NULL, SEINE_BODY_NONE, line, sizeof line);
    if (!as_json)
        printf("%-42s %11s %11s  %-4s %-10s\n", "", "median", "best", "unit", "bar");
    measure("copy of the line", 0, copy, MANY);
    measure("JSON line", 700, json, MANY);
    measure("JSON line, failed", 700, json_failed, MANY);
    measure("CSV row", 700, csv, MANY);
    measure_lane("JSON", SEINE_SINK_JSONL, 700);
    measure_lane("CSV", SEINE_SINK_CSV, 700);
    if (!as_json)
        printf("%d bar%s missed\n", missed, missed == 1 ? "" : "s");
    return 0;
}
