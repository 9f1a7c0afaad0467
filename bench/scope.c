/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scope - what it costs to judge a link.
 *
 * Twenty links of a page, half of them on the site, judged again and again in each scope:
 * with one seed, with 5,000, with named hosts and with patterns. Thread CPU time, five
 * runs, median and best, ns a link. A table, JSON lines with -j.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "engine/scope.h"

enum { RUNS = BENCH_RUNS(5), MANY = BENCH_ROUNDS(1000000), SEEDS = 5000 };

static const char *const links[] = {
    "https://docs.example.org/",
    "https://docs.example.org/guide/",
    "https://docs.example.org/guide/install.html",
    "https://docs.example.org/guide/first-steps.html?print=1",
    "https://docs.example.org/guide/api/reference/functions.html",
    "https://docs.example.org/guide/api/reference/types.html",
    "https://docs.example.org/blog/2026/11/16/a-long-headline-of-the-day.html",
    "http://docs.example.org/guide/legacy/index.php?id=17&lang=en",
    "https://docs.example.org/search?q=limiter",
    "https://docs.example.org/guide/img/figure-1.png",
    "https://www.example.org/",
    "https://github.com/example/seine/blob/main/README.md",
    "https://en.wikipedia.org/wiki/Seine_fishing",
    "https://cdn.jsdelivr.net/npm/preact@10.19.2/dist/preact.min.js",
    "https://fonts.googleapis.com/css2?family=Roboto:wght@400;700&display=swap",
    "https://example.co.uk/a/b/c/d/e/f/g/h/i/j/k.html",
    "http://192.168.0.1:8080/status",
    "https://news.ycombinator.com/item?id=38109876",
    "https://shop.example.com/p/shoes/running/42?color=red&size=44",
    "https://a.b.c.d.e.f.example.net/deep/name",
};

enum { COUNT = sizeof links / sizeof *links };

static bool as_json;
static int missed;
static volatile size_t sink;
static char mem[COUNT][SEINE_URL_ROOM];
static seine_url urls[COUNT];

static void
report(const char *name, const double *runs, double bar)
{
    double median = runs[RUNS / 2];
    bool ok = bar == 0 || median <= bar;

    missed += !ok;
    if (as_json) {
        printf("{\"name\":\"%s\",\"value\":%.2f,\"best\":%.2f,\"unit\":\"ns\"", name,
               median, runs[0]);
        if (bar > 0)
            printf(",\"bar\":%g,\"ratio\":%.3f,\"ok\":%s", bar, median / bar,
                   ok ? "true" : "false");
        printf("}\n");
        return;
    }
    printf("%-42s %11.2f %11.2f  %-4s ", name, median, runs[0], "ns");
    if (bar > 0)
        printf("<= %-7g %s", bar, ok ? "met" : "MISSED");
    printf("\n");
}

static void
judge(const sn_scope *s, long n)
{
    sn_scope_verdict got;

    for (long i = 0; i < n; i++) {
        sn_scope_judge(s, &urls[(size_t)i % COUNT], false, &got);
        sink += got.in;
    }
}

static void
seed(sn_scope *s, const char *text)
{
    char room[SEINE_URL_ROOM];
    seine_url u;

    seine_url_init(&u, room, sizeof room);
    bench_ok(seine_url_parse(&u, text, strlen(text), NULL));
    bench_ok(sn_scope_seed(s, &u));
}

static void
measure(const char *name, double bar, const seine_fetch_opts *o, int seeds)
{
    double runs[RUNS];
    char text[64];
    sn_scope *s = NULL;

    bench_ok(sn_scope_new(o, &s, NULL));
    seed(s, "https://docs.example.org/guide/");
    for (int i = 1; i < seeds; i++) {
        snprintf(text, sizeof text, "https://s%d.example.test/dir%d/", i, i % 7);
        seed(s, text);
    }
    judge(s, MANY / 10);
    for (int i = 0; i < RUNS; i++) {
        double start = bench_cpu_ns();

        judge(s, MANY);
        runs[i] = (bench_cpu_ns() - start) / MANY;
    }
    qsort(runs, RUNS, sizeof *runs, bench_by_value);
    report(name, runs, bar);
    sn_scope_free(s);
}

int
main(int argc, char **argv)
{
    static const char *const exclude[] = {"\\.pdf$", "/search\\?", "[?&]print=1", NULL};
    static const char *const include[] = {"/guide/", NULL};
    static const char *const named[] = {"github.com", "img*.example.net", NULL};
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    seine_crawl_opts c = SEINE_CRAWL_OPTS;

    setvbuf(stdout, NULL, _IOLBF, 0);
    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    o.crawl = &c;
    for (size_t i = 0; i < COUNT; i++) {
        seine_url_init(&urls[i], mem[i], sizeof mem[i]);
        bench_ok(seine_url_parse(&urls[i], links[i], strlen(links[i]), NULL));
    }
    if (!as_json)
        printf("%-42s %11s %11s  %-4s %-10s\n", "", "median", "best", "unit", "bar");
    measure("scope host, one seed", 100, &o, 1);
    measure("scope host, 5,000 seeds", 100, &o, SEEDS);
    c.scope = SEINE_SCOPE_DOMAIN;
    measure("scope domain, one seed", 100, &o, 1);
    measure("scope domain, 5,000 seeds", 100, &o, SEEDS);
    c.scope = SEINE_SCOPE_PREFIX;
    measure("scope prefix, one seed", 100, &o, 1);
    measure("scope prefix, 5,000 seeds", 100, &o, SEEDS);
    c.scope = SEINE_SCOPE_HOST;
    c.domains = named;
    measure("scope host, two named hosts", 0, &o, 1);
    c.domains = NULL;
    o.exclude = exclude;
    o.include = include;
    measure("scope host, four patterns", 0, &o, 1);
    if (!as_json)
        printf("%d bar%s missed\n", missed, missed == 1 ? "" : "s");
    return 0;
}
