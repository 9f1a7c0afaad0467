/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_table - how fast a job commits what is found and ended, and how fast it is resumed.
 *
 *     bench-job_table [-j] [urls]      1,000,000 when none are given; 20,000,000 for F4
 *     bench-job_table -a state job origin urls done
 *                                      adds URLs of that origin to a job that is there,
 *                                      of which so many have ended; for bench/durable
 *
 * Groups of 1,000 rows: two URLs are found for each that ends; synchronous=FULL, in a
 * directory under TMPDIR or /tmp. "rows" is rows a second over all and in the last
 * quarter against the first; "bytes" is the file per URL that was found, half of them
 * finished; "resume" opens the job as after a kill, checks it and reads everything. Wall
 * time: the disk is part of it. The exit code is 1 when a bar is missed.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "store/job_parts.h"

enum { GROUP = 333 }; /* results; with twice as many URLs a thousand rows */

static bool as_json;
static int missed;

static double
wall(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void
report(const char *name, double value, const char *unit, double bar, bool is_least)
{
    bool ok = bar == 0 || (is_least ? value >= bar : value <= bar);

    missed += !ok;
    if (as_json) {
        printf("{\"name\":\"job_%s\",\"value\":%.6g,\"unit\":\"%s\"", name, value, unit);
        if (bar > 0)
            printf(",\"bar\":%g,\"ok\":%s", bar, ok ? "true" : "false");
        printf("}\n");
    } else {
        printf("%-16s %12.1f %s", name, value, unit);
        if (bar > 0)
            printf("  (%s %g: %s)", is_least ? ">=" : "<=", bar, ok ? "ok" : "MISSED");
        printf("\n");
    }
    fflush(stdout);
}

static const char *origin; /* of all URLs; NULL: a thousand hosts */

static void
put_url(sn_job_lane *l, uint64_t n)
{
    char target[96], host[64];
    int len =
        snprintf(target, sizeof target, "/archive/2026/%04llu/an-article-of-today-%llu",
                 (unsigned long long)(n % 1000), (unsigned long long)n);
    int host_len = origin ? snprintf(host, sizeof host, "%s", origin)
                          : snprintf(host, sizeof host, "https://www%llu.example:443",
                                     (unsigned long long)(n / 64 % 1000));
    sn_job_url u = {.url = {.host = {host, (size_t)host_len},
                            .target = {target, (size_t)len},
                            .number = n,
                            .line = 100,
                            .depth = 3,
                            .ceiling = origin ? 2 : 0, /* loopback is allowed */
                            .tag = 1,
                            .attr = 1},
                    .print = n * UINT64_C(0x9E3779B97F4A7C15) + 1,
                    .parent_number = n > 0 ? n / 2 : SN_JOB_NONE};

    bench_ok(sn_job_found(l, &u));
}

static void
fill(seine_durable_job *j, uint64_t urls)
{
    seine_fault fault = SEINE_FAULT;
    double begun = wall(), first = 0, last = 0, at = begun;
    uint64_t ended = 0, quarter = urls / 4;

    for (uint64_t n = 0; n < urls;) {
        for (int i = 0; i < GROUP && n < urls; i++) {
            seine_record r = {.number = ended++,
                              .wall = INT64_C(1789000000000000000),
                              .fault = &fault,
                              .status = 200,
                              .attempts = 1,
                              .bytes_in = 9000,
                              .bytes_body = 30000,
                              .total = SEINE_MS(80)};

            put_url(sn_job_lane_at(j, 0), n++);
            put_url(sn_job_lane_at(j, 0), n++);
            bench_ok(sn_job_result(j, &r, ended));
        }
        bench_ok(sn_job_commit(j, NULL));
        if (first == 0 && n >= quarter) {
            first = wall() - begun;
        } else if (n >= 3 * quarter && last == 0) {
            at = wall();
            last = -1;
        }
    }
    double all = wall() - begun;
    last = begun + all - at;
    report("rows", (double)(urls + ended) / all, "rows/s", 200000, true);
    report("last_quarter", first / last, "x the first", 0.85, true);
}

/* Adds to a job that a run has left: its next run finds them all. */
static int
add(char **argv)
{
    seine_job_opts o = SEINE_JOB_OPTS;
    seine_durable_job *j;
    seine_diag diag;
    seine_fault fault = SEINE_FAULT;
    uint64_t urls = strtoull(argv[3], NULL, 10), done = strtoull(argv[4], NULL, 10);

    o.state = argv[0];
    o.name = argv[1];
    o.any_spec = o.must_exist = true;
    origin = argv[2];
    bench_ok(seine_job_open(&o, &j, &diag));
    bench_ok(sn_job_start(j, 1));
    uint64_t first = sn_job_next_number(j), seq = sn_job_last_seq(j);
    for (uint64_t n = 0; n < urls; n++) {
        seine_record r = {.number = first + n, .fault = &fault, .status = 200};

        put_url(sn_job_lane_at(j, 0), first + n);
        if (n < done)
            bench_ok(sn_job_result(j, &r, ++seq));
        if (n % 1000 == 999)
            bench_ok(sn_job_commit(j, NULL));
    }
    bench_ok(seine_job_close(j, false));
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc == 7 && strcmp(argv[1], "-a") == 0)
        return add(argv + 2);

    seine_job_opts o = SEINE_JOB_OPTS;
    seine_durable_job *j;
    seine_diag diag;
    char dir[96], path[160];
    const char *tmp = getenv("TMPDIR");
    static const sn_job_scan nothing;

    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    uint64_t urls = argc > 1 + as_json ? strtoull(argv[1 + as_json], NULL, 10)
                                       : BENCH_ROUNDS(1000000);
    snprintf(dir, sizeof dir, "%.60s/seine-bench-XXXXXX", tmp ? tmp : "/tmp");
    bench_must(mkdtemp(dir) != NULL, "no directory");
    o.state = dir;
    o.name = "j";
    bench_ok(seine_job_open(&o, &j, &diag));
    bench_ok(sn_job_start(j, 1));
    fill(j, urls);
    j->err = SEINE_E_CANCELED; /* as kill -9 does */
    (void)seine_job_close(j, false);
    snprintf(path, sizeof path, "%s/j/job.db", dir);
    struct stat st;
    bench_must(stat(path, &st) == 0, "no job.db");
    report("bytes", (double)st.st_size / (double)urls, "bytes a URL found", 0, false);

    double started = wall();
    bench_ok(seine_job_open(&o, &j, &diag));
    bench_ok(sn_job_scan_all(j, &nothing, &diag));
    report("resume", wall() - started, "s",
           urls >= 5000000   ? 4
           : urls >= 1000000 ? 1.5
                             : 0,
           false);
    bench_ok(seine_job_close(j, true));
    static const char *const names[] = {"job.db", "job.db-wal", "job.db-shm", "lock",
                                        "ballast"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/j/%s", dir, names[i]);
        (void)unlink(path);
    }
    snprintf(path, sizeof path, "%s/j", dir);
    (void)rmdir(path);
    (void)rmdir(dir);
    return missed > 0;
}
