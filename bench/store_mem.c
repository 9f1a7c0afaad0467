/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_mem - what a URL that waits costs: bytes in memory, time to put it and to take
 * it.
 *
 *     bench-store_mem [-j] [urls]      1,000,000 when none are given
 *
 * URLs come as a crawl finds them: six new ones of a host at a time, all from one page,
 * whose address is 60 bytes long and stands with each of them; then another host. They
 * are taken one from each host in turn, which is the worst a cache can meet. Paths are
 * words in one of 8 directories of the host, 20 to 60 bytes, or 40 where the name says
 * so. "bytes" is what the store counts, "resident" what the kernel does, both per URL
 * with all of them waiting; the second has the lists too, 12 bytes each. One thread,
 * its CPU time; medians of 5. "spilled" stores may have an eighth of the memory the
 * others took. What the machine can do is measured in the same run: a read whose place is
 * known from the read before, in 64 MiB. To take from one of very many lists is two of
 * these. The exit code is 1 when a bar is missed.
 */
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "bench.h"
#include "store/store_mem.h"

enum { RUNS = BENCH_RUNS(5), PAGE = 6, DIRS = 8, LONGEST = 96 };

static bool as_json;
static int missed;
static volatile uint64_t sink;

static void
report(const char *name, uint32_t lists, double value, const char *unit, double bar)
{
    bool ok = bar == 0 || value <= bar;

    missed += !ok;
    if (as_json) {
        printf("{\"name\":\"store_mem_%s\",\"lists\":%u,\"value\":%.4g,\"unit\":\"%s\"",
               name, lists, value, unit);
        if (bar > 0)
            printf(",\"bar\":%g,\"ok\":%s", bar, ok ? "true" : "false");
        printf("}\n");
    } else {
        printf("%-18s %8u lists  %8.1f %s", name, lists, value, unit);
        if (bar > 0)
            printf("  (<= %g: %s)", bar, ok ? "ok" : "MISSED");
        printf("\n");
    }
    fflush(stdout);
}

static double
median(double *values)
{
    qsort(values, RUNS, sizeof *values, bench_by_value);
    return values[RUNS / 2];
}

static size_t
add(char *out, size_t at, const char *word)
{
    while (*word && at < LONGEST - 1)
        out[at++] = *word++;
    return at;
}

/* A path of n bytes: the directory is one of the host's, the words and their numbers are
 * anything. */
static void
make_path(sn_rng *r, uint64_t host, char *out, size_t n)
{
    static const char *const words[] = {
        "news",  "river",  "2024",   "nets",  "and", "of",    "report", "index",
        "boats", "market", "winter", "photo", "the", "coast", "guide",  "a"};
    uint64_t dir = (host * 31 + sn_rng_below(r, DIRS)) * 0x9e3779b97f4a7c15u;
    size_t at = add(out, 0, "/");

    at = add(out, at, words[dir >> 60]);
    at = add(out, at, "/");
    at = add(out, at, words[dir >> 56 & 15]);
    at = add(out, at, "/");
    while (at < n) {
        uint64_t draw = sn_rng_next(r);
        char number[] = {'-', (char)('0' + (draw >> 8) % 10),
                         (char)('0' + (draw >> 16) % 10), (char)('0' + (draw >> 24) % 10),
                         0};

        at = add(out, at, words[draw >> 60]);
        at = add(out, at, number);
    }
    out[n] = 0;
}

/* Nanoseconds for a line of memory that nobody could foresee. */
static double
chase(void)
{
    enum { LINES = 1 << 20, STEPS = 1 << 20 };
    uint64_t(*lines)[8] = calloc(LINES, sizeof *lines), at = 0;

    bench_must(lines, "no memory");
    for (uint64_t i = 0; i < LINES; i++) /* one round through all of them */
        lines[i][0] = (i * 1664525 + 1013904223) % LINES;
    double t = bench_cpu_seconds();
    for (uint32_t i = 0; i < STEPS; i++)
        at = lines[at][0];
    t = bench_cpu_seconds() - t;
    sink += at;
    free(lines);
    return t / STEPS * 1e9;
}

typedef struct shape {
    const char *name;
    uint32_t lists;
    size_t path; /* bytes; 0: 20 to 60 */
    bool spilled;
} shape;

typedef struct figure {
    double bytes, resident, put, take, spilled;
} figure;

typedef struct lead {
    char path[LONGEST];
    sn_waiting_url u;
    uint32_t list;
} lead;

/* The links of many pages, made outside of the measured time. */
static uint32_t
make_links(sn_rng *r, const shape *s, uint64_t number, lead *links, uint32_t n)
{
    static char parents[256][LONGEST];

    for (uint32_t i = 0, page = 0; i < n; i += PAGE, page++) {
        uint32_t list = (uint32_t)sn_rng_below(r, s->lists);
        char *parent = parents[page % 256];
        int len = snprintf(parent, LONGEST, "https://www.host-%u.example", list);

        make_path(r, list, parent + len, (size_t)(60 - len));
        for (uint32_t k = i; k < i + PAGE && k < n; k++) {
            size_t path = s->path ? s->path : 20 + sn_rng_below(r, 41);

            make_path(r, list, links[k].path, path);
            links[k].list = list;
            links[k].u = (sn_waiting_url){.target = {links[k].path, path},
                                          .parent = {parent, 60},
                                          .number = number + k,
                                          .line = 100 + 7 * (k - i),
                                          .depth = 3,
                                          .tag = 2,
                                          .attr = 1};
        }
    }
    return n;
}

static double
fill(sn_store *store, sn_url_list *chains, const shape *s, uint32_t urls)
{
    enum { BATCH = 256 * PAGE };
    static lead links[BATCH];
    sn_rng r = sn_rng_seed(1);
    double spent = 0;

    for (uint32_t done = 0; done < urls;) {
        uint32_t left = urls - done;
        uint32_t n = make_links(&r, s, done, links, left < BATCH ? left : BATCH);
        double t = bench_cpu_seconds();

        for (uint32_t i = 0; i < n; i++)
            bench_must(sn_store_enqueue(store, &chains[links[i].list], &links[i].u) ==
                           SEINE_OK,
                       "put");
        spent += bench_cpu_seconds() - t;
        done += n;
    }
    return spent / urls * 1e9;
}

/* One from each list in turn, as long as it has any. */
static double
empty(sn_store *store, sn_url_list *chains, const shape *s, uint32_t urls)
{
    uint32_t *full = calloc(s->lists, sizeof *full), n = 0;

    bench_must(full, "no memory");
    for (uint32_t i = 0; i < s->lists; i++)
        if (chains[i].n > 0)
            full[n++] = i;
    double t = bench_cpu_seconds();
    while (n > 0) {
        uint32_t left = 0;

        for (uint32_t i = 0; i < n; i++) {
            sn_url_list *c = &chains[full[i]];
            sn_waiting_url u;

            bench_must(sn_store_take(store, c, UINT32_MAX, &u) == SEINE_OK, "take");
            sink += u.number + (uint8_t)u.target.ptr[u.target.len - 1];
            if (c->n > 0)
                full[left++] = full[i];
        }
        n = left;
    }
    free(full);
    return (bench_cpu_seconds() - t) / urls * 1e9;
}

static figure
run(const shape *s, uint32_t urls, size_t max_bytes)
{
    sn_url_list *chains = calloc(s->lists, sizeof *chains);
    sn_store *store = NULL;
    sn_store_figures f;
    figure got;

    malloc_trim(0);
    double before = bench_resident();

    bench_must(chains &&
                   sn_store_open(&sn_store_mem, &(sn_store_opts){.max_bytes = max_bytes},
                                 &store) == SEINE_OK,
               "no store");
    got.put = fill(store, chains, s, urls);
    f = store->figures;
    got.bytes = (double)f.bytes / urls;
    got.spilled = (double)f.spilled / urls;
    got.resident = (bench_resident() - before) / urls;
    got.take = empty(store, chains, s, urls);
    (void)!sn_store_close(store, true);
    free(chains);
    return got;
}

static void
measure(const shape *s, uint32_t urls)
{
    double put[RUNS], take[RUNS];
    figure first = run(s, urls, 0);
    size_t max = s->spilled ? (size_t)(first.bytes * urls / 8) : 0;
    char name[64];

    for (int i = 0; i < RUNS; i++) {
        figure f = run(s, urls, max);

        put[i] = f.put;
        take[i] = f.take;
        if (s->spilled)
            first.bytes = f.bytes, first.spilled = f.spilled;
    }
    double both = median(put) + median(take);
    bool is_near = s->lists <= 1000 && !s->spilled;
    snprintf(name, sizeof name, "%s_bytes", s->name);
    report(name, s->lists, first.bytes, "bytes/url", 64);
    snprintf(name, sizeof name, "%s_%s", s->name, s->spilled ? "in_file" : "resident");
    report(name, s->lists, s->spilled ? first.spilled : first.resident, "bytes/url", 0);
    snprintf(name, sizeof name, "%s_put", s->name);
    report(name, s->lists, median(put), "ns", 0);
    snprintf(name, sizeof name, "%s_take", s->name);
    report(name, s->lists, median(take), "ns", 0);
    snprintf(name, sizeof name, "%s_both", s->name);
    report(name, s->lists, both, "ns", is_near ? 250 : 0);
}

int
main(int argc, char **argv)
{
    int at = 1;

    setvbuf(stdout, NULL, _IOLBF, 0); /* a figure is seen when it is there */
    as_json = argc > at && strcmp(argv[at], "-j") == 0;
    at += as_json;
    uint32_t urls =
        argc > at ? (uint32_t)strtoul(argv[at], NULL, 10) : BENCH_ROUNDS(1000000);
    bench_must(urls >= 1000, "at least 1000 URLs");
    const shape shapes[] = {
        {"1k", 1000, 0, false},
        {"20k", 20000, 0, false},
        {"path40", urls / 53 + 1, 40, false},
        {"100k", 100000, 0, false},
        {"1m", 1000000, 0, false},
        {"1k_spilled", 1000, 0, true},
        {"20k_spilled", 20000, 0, true},
    };

    report("limit_read", 0, chase(), "ns", 0);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        measure(&shapes[i], urls);
    return missed > 0;
}
