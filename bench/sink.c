/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sink - what each format of output costs.
 *
 * 100,000 records of 500 hosts, all URLs different, through one lane and the sink thread
 * to a file in the current directory: CPU time of that thread for each of them, less
 * what nothing but the lane costs; that as a share of one core at 10,000 pages a second;
 * and records a second when nothing else limits them. Three runs, the median.
 * Prints a table for people, and one JSON object per line with -j.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <seine/sink.h>

#include "bench.h"

enum { RUNS = BENCH_RUNS(3), MANY = BENCH_ROUNDS(100000), HOSTS = 500, PAGE = 4096 };

static bool as_json, archives;

static double
read_s(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* On the sink thread, behind the output. */
static seine_err
look(const seine_record *r, uint64_t seq, void *arg)
{
    (void)r;
    if (seq == MANY)
        *(double *)arg = read_s(CLOCK_THREAD_CPUTIME_ID);
    return SEINE_OK;
}

/* An answer of 2 KiB of text, of which no two are the same. */
static size_t
answer(unsigned i, char *out, size_t cap)
{
    static const char *const words[] = {
        "the",  "page ", "of ",  "all ", "days ", "<p>",  "</p>\n", "net ",
        "sea ", "haul ", "fish", "-",    "under", "2026", ". ",     "quickly "};
    size_t n = (size_t)snprintf(out, cap,
                                "HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: "
                                "text/html\r\nETag: \"%08x\"\r\n"
                                "Content-Length: 2048\r\n\r\n",
                                i);
    uint64_t state = i * UINT64_C(0x9e3779b97f4a7c15) + 1;

    for (size_t end = n + 2048; n < end;) {
        const char *word = words[state >> 60];

        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        for (; *word && n < end; word++)
            out[n++] = *word;
        if ((state >> 20 & 3) == 0 && n < end)
            out[n++] = (char)('a' + (state >> 30) % 26);
    }
    return n;
}

static void
put(seine_sinks *s, unsigned i, const char *page)
{
    static const char asked[] = "GET /articles/page-of-the-day HTTP/1.1\r\nHost: "
                                "www.example.org\r\nUser-Agent: seine/1\r\nAccept: "
                                "*/*\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n\r\n";
    char wire[4096];

    static const seine_fault none = SEINE_FAULT;
    char url[128], host[64];
    seine_view u = {url, 0}, h = {host, 0};

    /* as a run meets them: in no order that an index would like */
    h.len =
        (size_t)snprintf(host, sizeof host, "www%u.example.org", i * 2654435761u % HOSTS);
    u.len = (size_t)snprintf(url, sizeof url, "https://%s/articles/%08x/page-of-the-day",
                             host, i * 2246822519u);
    seine_record r = {
        .wall = INT64_C(1794770401123456789) + (int64_t)i * 100000,
        .input = u,
        .line = i,
        .url = u,
        .key = u,
        .final_url = u,
        .method = {"GET", 3},
        .host = h,
        .ip = {"203.0.113.5", 11},
        .http = 11,
        .fault = &none,
        .status = 200,
        .attempts = 1,
        .content_type = {"text/html", 9},
        .charset = {"utf-8", 5},
        .content_length = PAGE,
        .bytes_in = PAGE,
        .bytes_body = PAGE,
        .queue = 3112345 + i,
        .ttfb = 38251000 + i,
        .body_time = 4400123,
        .total = 42651123 + i,
        .title = {"A page of the day: how things are", 33},
        .body = {page, page ? PAGE : 0},
    };
    seine_capture capture = {.url = u,
                             .wall = r.wall,
                             .ip = r.ip,
                             .request = {asked, sizeof asked - 1},
                             .response = {wire, 0}};
    if (archives) {
        capture.response.len = answer(i, wire, sizeof wire);
        r.captures = &capture;
        r.n_captures = 1;
    }
    while (!seine_sinks_poll(s, 0))
        nanosleep(&(struct timespec){0, 20000}, NULL);
    bench_ok(seine_sinks_put(s, 0, &r));
}

/* Microseconds of CPU a record. */
static double
measure(const char *name, seine_sink_opts opts, const char *page, double less)
{
    seine_sink_opts looking = {
        .size = sizeof(seine_sink_opts), .format = SEINE_SINK_CALL, .call = look};
    double cpu[RUNS], rate[RUNS], size = 0;

    for (int run = 0; run < RUNS; run++) {
        seine_sinks *s;
        seine_diag diag = SEINE_DIAG;
        struct stat st;

        bench_ok(seine_sinks_new(NULL, &s));
        opts.overwrite = true;
        if (opts.path && seine_sinks_open(s, &opts, &diag) != SEINE_OK) {
            fprintf(stderr, "bench: %s\n", diag.text);
            exit(1);
        }
        looking.arg = &cpu[run];
        bench_ok(seine_sinks_open(s, &looking, NULL));
        bench_ok(seine_sinks_start(s, 1));
        double from = read_s(CLOCK_MONOTONIC);
        for (unsigned i = 0; i < MANY; i++)
            put(s, i, page);
        bench_ok(seine_sinks_close(s));
        rate[run] = MANY / (read_s(CLOCK_MONOTONIC) - from);
        cpu[run] *= 1e6 / MANY;
        seine_sinks_free(s);
        if (opts.path && stat(opts.path, &st) == 0) {
            size = (double)st.st_size / MANY;
            unlink(opts.path);
        }
    }
    qsort(cpu, RUNS, sizeof *cpu, bench_by_value);
    qsort(rate, RUNS, sizeof *rate, bench_by_value);
    double us = cpu[RUNS / 2] - less;
    if (as_json)
        printf("{\"name\":\"%s\",\"value\":%.2f,\"unit\":\"us\",\"core_at_10k\":%.1f,"
               "\"rate\":%.0f,\"bytes\":%.0f}\n",
               name, us, us, rate[RUNS / 2], size);
    else
        printf("%-28s %8.2f us  %5.1f %%  %9.0f /s  %6.0f bytes\n", name, us, us,
               rate[RUNS / 2], size);
    return us;
}

int
main(int argc, char **argv)
{
    static char page[PAGE];

    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    setvbuf(stdout, NULL, _IOLBF, 0); /* each line when it is known */
    for (size_t i = 0; i < sizeof page; i++)
        page[i] = (char)('a' + i * 2654435761u % 26);
    if (!as_json)
        printf("%-28s %11s  %7s  %11s  %12s\n", "output", "CPU each", "at 10k", "at most",
               "in the file");
    double lane = measure(
        "lane alone", (seine_sink_opts){.size = sizeof(seine_sink_opts), .path = NULL},
        NULL, 0);
    static const char *const files[] = {
        "bench-sink.jsonl", "bench-sink.jsonl.gz", "bench-sink.jsonl.zst",
        "bench-sink.csv",   "bench-sink.csv.gz",   "bench-sink.sqlite",
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        measure(files[i] + strlen("bench-sink."),
                (seine_sink_opts){.size = sizeof(seine_sink_opts), .path = files[i]},
                NULL, lane);
    double bodies = measure(
        "lane with bodies of 4 KiB",
        (seine_sink_opts){.size = sizeof(seine_sink_opts), .path = NULL}, page, 0);
    measure("sqlite with bodies",
            (seine_sink_opts){.size = sizeof(seine_sink_opts),
                              .path = "bench-sink.sqlite",
                              .body = SEINE_BODY_TEXT},
            page, bodies);
    archives = true;
    double wires = measure(
        "lane with answers of 2 KiB",
        (seine_sink_opts){.size = sizeof(seine_sink_opts), .path = NULL}, NULL, 0);
    static const char *const archived[] = {"bench-sink.warc", "bench-sink.warc.gz",
                                           "bench-sink.warc.zst"};
    for (size_t i = 0; i < sizeof archived / sizeof *archived; i++)
        measure(archived[i] + strlen("bench-sink."),
                (seine_sink_opts){.size = sizeof(seine_sink_opts), .path = archived[i]},
                NULL, wires);
    unlink("bench-sink.cdxj");
    return 0;
}
