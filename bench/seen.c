/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seen - how fast a set of seen URLs takes them in, and how much memory each costs.
 *
 *     bench-seen [-j] [keys]…      1,000,000 and 50,000,000 when none are given
 *
 * One thread, its CPU time, batches of 1024 unless the name says otherwise; medians
 * of 5 runs, of 3 from 10 million keys on; peaks are the highest of all. "urls" are 60
 * bytes long and made outside of the measured time, printing them is inside; "prints" are
 * given. "sized" sets were told the number of keys, "growing" ones start from nothing.
 * The limit is what the machine can do in the same run: random lines of 64 bytes in a
 * table of the same size, fetched ahead 32 at a time, read and written. One JSON object
 * per line; the exit code is 1 when a bar is missed.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <seine/seen.h>

#include "bench.h"

enum { BATCH = 1024, CHUNK = 8192, URL = 60, MOST_RUNS = 5 };

static char urls[CHUNK][URL];
static uint64_t prints[CHUNK];
static uint8_t is_new[CHUNK];
static volatile uint64_t sink;
static int missed;

typedef struct bar {
    double at; /* 0: none */
    bool at_most;
} bar;

static const bar none;

static void
report(const char *name, uint64_t keys, double value, const char *unit, bar want,
       double limit)
{
    bool ok = want.at_most ? value <= want.at : value >= want.at;

    printf("{\"name\":\"seen_%s\",\"keys\":%llu,\"value\":%.4g,\"unit\":\"%s\"", name,
           (unsigned long long)keys, value, unit);
    if (limit > 0)
        printf(",\"limit\":%.4g,\"ratio\":%.3f", limit, value / limit);
    if (want.at > 0)
        printf(",\"bar\":%g,\"ok\":%s", want.at, ok ? "true" : "false");
    printf("}\n");
    fflush(stdout);
    missed += want.at > 0 && !ok;
}

/* A bijection: different numbers give different prints, spread evenly. */
static uint64_t
scatter(uint64_t i)
{
    i += 0x9e3779b97f4a7c15u;
    i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9u;
    i = (i ^ i >> 27) * 0x94d049bb133111ebu;
    return i ^ i >> 31;
}

static void
make_urls(uint64_t first, size_t n)
{
    static const char shape[] =
        "https://www.example.org/articles/2024/item-000000000000.html";

    _Static_assert(sizeof shape == URL + 1, "60 bytes");
    for (size_t i = 0; i < n; i++) {
        memcpy(urls[i], shape, URL);
        uint64_t number = first + i;
        for (char *at = urls[i] + 54; number > 0; number >>= 4)
            *at-- = "0123456789abcdef"[number & 15];
    }
}

static seine_seen *
set_for(uint64_t expect)
{
    seine_seen_opts opts = SEINE_SEEN_OPTS;
    seine_seen *s = NULL;

    opts.expect = expect;
    bench_must(seine_seen_new(&opts, &s) == SEINE_OK, "no set");
    return s;
}

typedef struct plan {
    uint64_t keys;
    size_t batch;
    bool sized, urls;
    double *most; /* NULL, or: is raised to the most bytes per key */
} plan;

enum { FROM = 1000000 }; /* keys from which on memory is looked at */

/* Adds the keys and returns the seconds it took. */
static double
add_all(seine_seen *s, const plan *p)
{
    double took = 0, before = bench_resident();
    uint64_t fresh = 0;

    for (uint64_t first = 0; first < p->keys; first += CHUNK) {
        size_t n = p->keys - first < CHUNK ? (size_t)(p->keys - first) : CHUNK;

        if (p->urls)
            make_urls(first, n);
        else
            for (size_t i = 0; i < n; i++)
                prints[i] = scatter(first + i);

        double start = bench_cpu_seconds();
        for (size_t at = 0; at < n; at += p->batch) {
            size_t some = n - at < p->batch ? n - at : p->batch;

            for (size_t i = at; p->urls && i < at + some; i++)
                prints[i] = seine_seen_print(s, urls[i], URL);
            bench_must(seine_seen_add_many(s, prints + at, some, is_new + at) == SEINE_OK,
                       "not added");
        }
        took += bench_cpu_seconds() - start;
        for (size_t i = 0; i < n; i++)
            fresh += is_new[i];
        if (p->most && first + n >= FROM) {
            double each = (bench_resident() - before) / (double)(first + n);

            *p->most = each > *p->most ? each : *p->most;
        }
    }
    bench_must(fresh == 0 || fresh == p->keys, "a key was lost");
    return took;
}

static double
median(double *values, int n)
{
    qsort(values, (size_t)n, sizeof *values, bench_by_value);
    return values[n / 2];
}

static int
runs_for(uint64_t keys)
{
    return keys >= 10000000 ? 3 : MOST_RUNS;
}

/* Millions of inserts per second, and for sized sets bytes per key. */
static void
measure_add(const char *name, plan p, bar want, double limit)
{
    double rate[MOST_RUNS], bytes[MOST_RUNS];
    int runs = runs_for(p.keys);
    char text[80];

    for (int i = 0; i < runs; i++) {
        double before = bench_resident();
        seine_seen *s = set_for(p.sized ? p.keys : 0);

        rate[i] = (double)p.keys / add_all(s, &p) / 1e6;
        bytes[i] = (bench_resident() - before) / (double)p.keys;
        seine_seen_free(s);
    }
    report(name, p.keys, median(rate, runs), "M/s", want, limit);
    if (p.sized && p.urls && p.batch == BATCH) {
        snprintf(text, sizeof text, "%s_resident", name);
        report(text, p.keys, median(bytes, runs), "B/key", (bar){10, true}, 0);
    }
}

/* From nothing on, in batches of 32: the longest that any took. */
static void
measure_worst(uint64_t keys)
{
    enum { FEW = 32 };
    seine_seen *s = set_for(0);
    double worst = 0;

    for (uint64_t first = 0; first < keys; first += FEW) {
        for (size_t i = 0; i < FEW; i++)
            prints[i] = scatter(first + i);
        double start = bench_cpu_seconds();
        bench_must(seine_seen_add_many(s, prints, FEW, is_new) == SEINE_OK, "not added");
        double took = bench_cpu_seconds() - start;
        worst = took > worst ? took : worst;
    }
    seine_seen_free(s);
    report("add_growing_worst_batch_of_32", keys, worst * 1e3, "ms", (bar){10, true}, 0);
}

/* Known keys: added again in batches, and asked for one by one. */
static void
measure_lookup(uint64_t keys)
{
    plan p = {keys, BATCH, true, false, NULL};
    seine_seen *s = set_for(keys);
    uint64_t found = 0, asked = keys < 4000000 ? keys : 4000000;
    double took = 0;

    (void)add_all(s, &p);
    report("add_known_prints", keys, (double)keys / add_all(s, &p) / 1e6, "M/s", none, 0);
    bench_must(seine_seen_count(s) == keys, "a known key was added");
    for (uint64_t first = 0; first < asked; first += CHUNK) {
        make_urls(first, CHUNK);
        double start = bench_cpu_seconds();
        for (size_t i = 0; i < CHUNK; i++)
            found += seine_seen_has(s, urls[i], URL);
        took += bench_cpu_seconds() - start;
    }
    bench_must(found == 0, "an unknown key was known");
    report("has_url_one_by_one", keys, (double)asked / took / 1e6, "M/s", none, 0);
    seine_seen_free(s);
}

/* Random lines a second, in a table of 9 bytes per key on the pages a set has. */
static double
line_updates(uint64_t keys)
{
    enum { AHEAD = 32 };
    size_t lines = (size_t)keys * 9 / 64, bytes = lines * 64;
    unsigned char *table = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint64_t *at[AHEAD];

    bench_must(table != MAP_FAILED, "no memory");
    if (bytes / 64 >= (size_t)4 << 20) /* a 64th: as large as a shard's table */
        (void)madvise(table, bytes, MADV_HUGEPAGE);
    memset(table, 1, bytes);
    double start = bench_cpu_seconds();
    for (uint64_t i = 0; i < keys; i += AHEAD) {
        for (uint64_t j = 0; j < AHEAD; j++) {
            at[j] = (uint64_t *)(void *)(table + scatter(i + j) % lines * 64);
            __builtin_prefetch(at[j], 1);
        }
        for (int j = 0; j < AHEAD; j++)
            ++*at[j];
    }
    double took = bench_cpu_seconds() - start;
    sink += *at[0];
    munmap(table, bytes);
    return (double)keys / took / 1e6;
}

static void
measure(uint64_t keys)
{
    double each[MOST_RUNS];
    int runs = runs_for(keys);

    for (int i = 0; i < runs; i++)
        each[i] = line_updates(keys);
    double limit = median(each, runs);
    report("limit_line_updates", keys, limit, "M/s", none, 0);

    measure_add("add_sized_urls", (plan){keys, BATCH, true, true, NULL}, (bar){10, false},
                limit);
    measure_add("add_sized_prints", (plan){keys, BATCH, true, false, NULL},
                (bar){0.12 * limit, false}, limit);
    measure_add("add_growing_urls", (plan){keys, BATCH, false, true, NULL},
                (bar){5, false}, limit);
    double most = 0;
    measure_add("add_growing_prints", (plan){keys, BATCH, false, false, &most}, none,
                limit);
    if (keys < 4 * FROM) { /* where a set is small its tables weigh most */
        seine_seen *s = set_for(0);
        (void)add_all(s, &(plan){4 * FROM, BATCH, false, false, &most});
        seine_seen_free(s);
    }
    report("add_growing_peak_resident", keys < 4 * FROM ? 4 * FROM : keys, most, "B/key",
           (bar){11, true}, 0);
    if (runs == MOST_RUNS) {
        measure_add("add_sized_urls_by_64", (plan){keys, 64, true, true, NULL}, none,
                    limit);
        measure_add("add_growing_urls_by_64", (plan){keys, 64, false, true, NULL}, none,
                    limit);
        measure_add("add_sized_urls_by_1", (plan){keys, 1, true, true, NULL}, none,
                    limit);
    }
    measure_worst(keys);
    measure_lookup(keys);
}

int
main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc > 1 && strcmp(argv[1], "-j") == 0) { /* as the other benches; it is always */
        argc--;
        argv++;
    }
    make_urls(0, CHUNK); /* its pages are not the set's */
    memset(prints, 1, sizeof prints);
    memset(is_new, 1, sizeof is_new);
    (void)bench_resident();
    for (int i = 1; i < argc; i++) {
        uint64_t keys = strtoull(argv[i], NULL, 10);

        bench_must(keys >= CHUNK, "usage: bench-seen [keys, at least 8192]...");
        measure(keys);
    }
    if (argc == 1) {
        measure(BENCH_ROUNDS(1000000));
        measure(50000000);
    }
    return missed > 0;
}
