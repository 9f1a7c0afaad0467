/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sitemap - how fast entries are found in sitemaps and feeds.
 *
 * Thread CPU time over a urlset of 20,000 entries with all members, 4 MB, as sites have
 * them: whole, in packets of 1,460 bytes and byte by byte; a feed whose texts nobody
 * wants; a list of URLs. Five runs, median and best, MB (10^6) per second. A plain
 * search of the same bytes stands beside it. Prints a table for people, and one JSON
 * object per line with -j.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seine/sitemap.h>

#include "bench.h"

enum { RUNS = BENCH_RUNS(5), ENTRIES = 20000, ROOM = 8 << 20 };

static bool as_json;
static volatile size_t sink;
static char *urlset, *feed, *list;
static size_t n_urlset, n_feed, n_list;
static seine_sitemap *reader;

__attribute__((format(printf, 3, 4))) static void
add(char *to, size_t *n, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    *n += (size_t)vsnprintf(to + *n, ROOM - *n, fmt, args);
    va_end(args);
}

static void
make_files(void)
{
    urlset = malloc(ROOM), feed = malloc(ROOM), list = malloc(ROOM);
    if (!urlset || !feed || !list)
        exit(1);
    add(urlset, &n_urlset,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<urlset "
        "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n");
    add(feed, &n_feed, "<rss version=\"2.0\"><channel>\n");
    for (int i = 0; i < ENTRIES; i++) {
        add(urlset, &n_urlset,
            "  <url>\n    "
            "<loc>https://www.e.example/shop/%d/item?id=%d&amp;lang=en</loc>\n"
            "    <lastmod>2026-11-%02dT12:00:00+00:00</lastmod>\n"
            "    <changefreq>daily</changefreq>\n    <priority>0.8</priority>\n  "
            "</url>\n",
            i % 97, i * 7, 1 + i % 28);
        add(list, &n_list, "https://www.e.example/shop/%d/item?id=%d&lang=en\n", i % 97,
            i * 7);
    }
    for (int i = 0; i < ENTRIES / 20; i++)
        add(feed, &n_feed,
            "<item><title>Number %d</title><link>https://e.example/%d</link>"
            "<description><![CDATA[%*s]]></description></item>\n",
            i, i, 4000, "and so on");
    add(urlset, &n_urlset, "</urlset>\n");
    add(feed, &n_feed, "</channel></rss>\n");
}

static bool
count(const seine_sitemap_entry *e, void *arg)
{
    (void)arg;
    sink += e->loc.len + e->lastmod.len;
    return true;
}

static void
read_with(const char *text, size_t len, size_t piece)
{
    seine_err e = SEINE_OK;

    seine_sitemap_reset(reader);
    for (size_t at = 0; at < len && e == SEINE_OK; at += piece)
        e = seine_sitemap_feed(reader, text + at, len - at < piece ? len - at : piece);
    if (e == SEINE_OK)
        e = seine_sitemap_end(reader);
    if (e != SEINE_OK) {
        fprintf(stderr, "bench: %s\n", seine_err_text(e));
        exit(1);
    }
}

static void
whole(void)
{
    read_with(urlset, n_urlset, n_urlset);
}

static void
packets(void)
{
    read_with(urlset, n_urlset, 1460);
}

static void
bytes(void)
{
    read_with(urlset, n_urlset, 1);
}

static void
texts(void)
{
    read_with(feed, n_feed, n_feed);
}

static void
lines(void)
{
    read_with(list, n_list, n_list);
}

static void
search(void)
{
    const char *p = urlset, *end = urlset + n_urlset;

    for (; p && p < end; p = memchr(p, '<', (size_t)(end - p)))
        sink += (size_t)*p++;
}

static void
measure(const char *name, void (*fn)(void), size_t len, int n)
{
    double runs[RUNS];

    fn();
    for (int i = 0; i < RUNS; i++) {
        double start = bench_cpu_ns();

        for (int k = 0; k < n; k++)
            fn();
        runs[i] = (double)len * n / (bench_cpu_ns() - start) * 1e3;
    }
    qsort(runs, RUNS, sizeof *runs, bench_by_value);
    if (as_json)
        printf("{\"name\":\"%s\",\"value\":%.1f,\"best\":%.1f,\"unit\":\"MB/s\"}\n", name,
               runs[RUNS / 2], runs[RUNS - 1]);
    else
        printf("%-36s %11.1f %11.1f  MB/s\n", name, runs[RUNS / 2], runs[RUNS - 1]);
}

int
main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* a figure is seen when it is there */
    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    make_files();
    if (seine_sitemap_new(NULL, count, NULL, &reader) != SEINE_OK)
        return 1;
    whole();
    if (!as_json)
        printf("%zu bytes, %llu entries\n%-36s %11s %11s\n", n_urlset,
               (unsigned long long)seine_sitemap_count(reader), "", "median", "best");
    measure("memchr for each <", search, n_urlset, 20);
    measure("urlset: whole", whole, n_urlset, 10);
    measure("urlset: in packets", packets, n_urlset, 10);
    measure("urlset: byte by byte", bytes, n_urlset, 3);
    measure("RSS with long descriptions", texts, n_feed, 10);
    measure("list of URLs", lines, n_list, 20);
    seine_sitemap_free(reader);
    free(urlset), free(feed), free(list);
    return 0;
}
