/* SPDX-License-Identifier: Apache-2.0 */
/*
 * url - what it costs to read, resolve and normalise the links of the web.
 *
 * Thread CPU time over 20 absolute and 20 relative references as pages have them,
 * again and again; five runs, median and best, ns per reference. A plain copy of
 * the same bytes stands beside them: figures of two machines are compared through
 * it. Prints a table for people, and one JSON object per line with -j.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seine/url.h>

#include "bench.h"

enum { RUNS = BENCH_RUNS(5), MANY = BENCH_ROUNDS(300000) };

static const char *const absolute[] = {
    "https://www.example.org/",
    "https://en.wikipedia.org/wiki/Seine_fishing",
    "https://en.wikipedia.org/w/index.php?title=Seine_fishing&action=edit&section=3",
    "https://de.wikipedia.org/wiki/F%C3%BCnf",
    "https://github.com/torvalds/linux/blob/master/Documentation/process/howto.rst#top",
    "https://www.nytimes.com/2024/11/05/world/europe/a-long-headline-of-the-day.html",
    "https://news.ycombinator.com/item?id=38109876",
    "http://archive.org/details/texts?and%5B%5D=mediatype%3A%22texts%22&page=2",
    "https://shop.example.com/p/shoes/running/42?color=red&size=44&utm_source=mail",
    "https://docs.python.org/3/library/urllib.parse.html#urllib.parse.urljoin",
    "https://cdn.jsdelivr.net/npm/preact@10.19.2/dist/preact.min.js",
    "https://fonts.googleapis.com/css2?family=Roboto:wght@400;700&display=swap",
    "HTTP://WWW.Example.COM:80/Index.HTML",
    "https://user@example.com:8443/private/area/",
    "https://maps.example.net/?q=48.8584,2.2945&z=17&hl=fr",
    "https://api.crates.io/api/v1/crates?page=1&per_page=100&sort=downloads",
    "https://example.co.uk/a/b/c/d/e/f/g/h/i/j/k.html",
    "http://192.168.0.1:8080/status",
    "https://forum.example.org/viewtopic.php?f=12&t=48213&sid=0a1b2c3d4e5f&start=40",
    "https://static.example.org/img/2024/05/photo%20of%20the%20day%20(1).jpg",
};

static const char *const relative[] = {
    "/",
    "/about",
    "/wiki/Main_Page",
    "index.html",
    "../",
    "../images/logo.png",
    "../../style/main.css?v=20240511",
    "#content",
    "?page=2",
    "?sort=price&order=asc&page=3",
    "//cdn.example.org/lib/jquery-3.7.1.min.js",
    "/w/load.php?lang=en&modules=ext.cite.styles&only=styles&skin=vector",
    "./chapter-02/section-05.html",
    "article/12345/a-headline-with-many-words-in-it",
    "mailto:info@example.org",
    "javascript:void(0)",
    "/de/produkte/sch%C3%B6ne-dinge/",
    "https://other.example.net/path/page?x=1",
    "/search?q=rate+limiter&hl=en",
    "images/thumb/a/ab/Seine.jpg/220px-Seine.jpg",
};

enum { COUNT = sizeof absolute / sizeof *absolute };

static bool as_json;
static int missed;
static volatile size_t sink;
static size_t lengths[2][COUNT];
static char base_mem[SEINE_URL_ROOM], mem[SEINE_URL_ROOM], key[SEINE_URL_ROOM];
static seine_url base, u;

static void
report(const char *name, double median, double best, double bar)
{
    bool ok = bar == 0 || median <= bar;

    missed += !ok;
    if (as_json) {
        printf("{\"name\":\"%s\",\"value\":%.2f,\"best\":%.2f,\"unit\":\"ns\"", name,
               median, best);
        if (bar > 0)
            printf(",\"bar\":%g,\"ratio\":%.3f,\"ok\":%s", bar, median / bar,
                   ok ? "true" : "false");
        printf("}\n");
        return;
    }
    printf("%-42s %11.2f %11.2f  %-4s ", name, median, best, "ns");
    if (bar > 0)
        printf("<= %-7g %s", bar, ok ? "met" : "MISSED");
    printf("\n");
}

static void
measure(const char *name, double bar, void (*fn)(long n), long n)
{
    double runs[RUNS];

    fn(n / 10);
    for (int i = 0; i < RUNS; i++) {
        double start = bench_cpu_ns();

        fn(n);
        runs[i] = (bench_cpu_ns() - start) / (double)n;
    }
    qsort(runs, RUNS, sizeof *runs, bench_by_value);
    report(name, runs[RUNS / 2], runs[0], bar);
}

static void
copy(long n)
{
    for (long i = 0; i < n; i++) {
        size_t k = (size_t)i % COUNT;

        memcpy(mem, absolute[k], lengths[0][k]);
        sink += (size_t)mem[i % 8];
    }
}

static void
parse_one(long i)
{
    size_t k = (size_t)i % COUNT;

    bench_ok(seine_url_parse(&u, absolute[k], lengths[0][k], NULL));
    sink += u.len;
}

static void
resolve_one(long i)
{
    size_t k = (size_t)i % COUNT;

    bench_ok(seine_url_resolve(&u, &base, relative[k], lengths[1][k], NULL));
    sink += u.len;
}

static void
make_key(const char *strip)
{
    size_t len;

    bench_ok(seine_url_key(&u, strip, key, sizeof key, &len));
    sink += len;
}

static void
parse(long n)
{
    for (long i = 0; i < n; i++)
        parse_one(i);
}

static void
resolve(long n)
{
    for (long i = 0; i < n; i++)
        resolve_one(i);
}

static void
normalise(long n)
{
    for (long i = 0; i < n; i++) {
        parse_one(i);
        make_key(NULL);
    }
}

static void
normalise_relative(long n)
{
    for (long i = 0; i < n; i++) {
        resolve_one(i);
        make_key(NULL);
    }
}

static void
normalise_stripped(long n)
{
    for (long i = 0; i < n; i++) {
        parse_one(i);
        make_key("utm_*,fbclid,gclid,sid");
    }
}

static void
authority(long n)
{
    parse_one(1);
    for (long i = 0; i < n; i++)
        sink += seine_url_authority(&u, key, sizeof key);
}

static void
foreign(long n)
{
    static const char name[] = "https://b\303\274cher.example/";

    for (long i = 0; i < n; i++)
        bench_ok(seine_url_parse(&u, name, sizeof name - 1, NULL));
}

int
main(int argc, char **argv)
{
    static const char page[] = "https://en.wikipedia.org/wiki/Fishing/Nets/Seine?x=y#z";

    setvbuf(stdout, NULL, _IOLBF, 0); /* a figure is seen when it is there */
    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    seine_url_init(&base, base_mem, sizeof base_mem);
    seine_url_init(&u, mem, sizeof mem);
    bench_ok(seine_url_parse(&base, page, sizeof page - 1, NULL));
    for (size_t i = 0; i < COUNT; i++) {
        lengths[0][i] = strlen(absolute[i]);
        lengths[1][i] = strlen(relative[i]);
    }
    if (!as_json)
        printf("%-42s %11s %11s  %-4s %-10s\n", "", "median", "best", "unit", "bar");
    measure("copy", 0, copy, MANY);
    measure("parse", 0, parse, MANY);
    measure("resolve", 0, resolve, MANY);
    measure("normalise: parse and key", 300, normalise, MANY);
    measure("normalise: resolve and key", 300, normalise_relative, MANY);
    measure("normalise, four patterns stripped", 0, normalise_stripped, MANY);
    measure("authority", 0, authority, MANY);
    measure("parse, host not ASCII (libidn2)", 0, foreign, MANY / 10);
    if (!as_json)
        printf("%d bar%s missed\n", missed, missed == 1 ? "" : "s");
    return 0;
}
