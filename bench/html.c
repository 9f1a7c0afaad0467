/* SPDX-License-Identifier: Apache-2.0 */
/*
 * html - how fast title, base and links are found in pages.
 *
 * Thread CPU time over a page of 10 KB with 30 links as sites have them: a head,
 * a menu, paragraphs, a list of articles, a footer. It is fed whole, in pieces of
 * 1,460 bytes and byte by byte; five runs, median and best, MB (10^6) per second.
 * Plain searches of the same bytes stand beside it: memchr for each '<', and a
 * copy. With SEINE_VECTORS a long page of the web is read too. Prints a table for
 * people, and one JSON object per line with -j.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "text/html.h"

enum { RUNS = BENCH_RUNS(5), MANY = BENCH_ROUNDS(8000), ROOM = 64 * 1024 };

static bool as_json;
static int missed;
static volatile size_t sink;
static char page[ROOM], copied[ROOM];
static const char *text = page;
static size_t len;
static size_t found;
static sn_html all, first, facts;

static void
add(const char *s)
{
    size_t n = strlen(s);

    if (len + n >= ROOM) {
        fprintf(stderr, "bench: the page is too long\n");
        exit(1);
    }
    memcpy(page + len, s, n + 1);
    len += n;
}

__attribute__((format(printf, 1, 2))) static void
add_with(const char *fmt, ...)
{
    char line[512];
    va_list list;

    va_start(list, fmt);
    vsnprintf(line, sizeof line, fmt, list);
    va_end(list);
    add(line);
}

static void
add_head(void)
{
    add("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
        "<title>Nets &amp; boats - an example of a page</title>\n"
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
        "<link rel=\"stylesheet\" href=\"/static/css/main.css?v=20240511\">\n"
        "<link rel=\"icon\" href=\"/favicon.ico\">\n"
        "<script src=\"/static/js/app.min.js\" defer></script>\n"
        "<script>if (window.top < 1 && a > b) { go(\"<b>\"); }</script>\n"
        "<style>body { margin: 0; font: 16px/1.5 sans-serif }</style>\n</head>\n"
        "<body class=\"page\">\n<!-- the menu -->\n<nav><ul class=\"menu\">\n");
}

/* 10,000 bytes and 30 links. */
static void
make_page(void)
{
    static const char words[] =
        "A seine is a net that hangs in the water with its lower edge held down by "
        "weights and its upper edge by floats; it encloses a school of fish and leaves "
        "the bed of the sea alone. Boats &mdash; two, or one and the shore &mdash; draw "
        "it in, and <em>nothing</em> is lost. ";

    add_head();
    for (int i = 0; i < 7; i++)
        add_with(
            "<li class=\"item\"><a href=\"/section/%d\" class=\"nav\">Part %d</a></li>\n",
            i, i);
    add("</ul></nav>\n<main id=\"content\">\n");
    for (int i = 0; i < 15; i++) {
        add_with(
            "<div class=\"card\" data-id=\"%d\">\n<h2><a href=\"/2024/11/%d/a-story-of-"
            "fish-and-nets?ref=home&amp;pos=1\">A story of fish and nets</a></h2>\n",
            i, i);
        add("<p>");
        add(words);
        if (i % 3 == 0 || i % 4 == 0)
            add(words);
        add("</p>\n</div>\n");
    }
    add("</main>\n<footer>");
    for (int i = 0; i < 5; i++)
        add_with("<a href='https://other%d.example/about/%d'>About us</a> |\n", i, i);
    add("</footer>\n</body>\n</html>\n");
}

static void
report(const char *name, double median, double best, double bar)
{
    bool ok = bar == 0 || median >= bar;

    missed += !ok;
    if (as_json) {
        printf("{\"name\":\"%s\",\"value\":%.1f,\"best\":%.1f,\"unit\":\"MB/s\"", name,
               median, best);
        if (bar > 0)
            printf(",\"bar\":%g,\"ratio\":%.3f,\"ok\":%s", bar, median / bar,
                   ok ? "true" : "false");
        printf("}\n");
        return;
    }
    printf("%-42s %11.1f %11.1f  %-4s ", name, median, best, "MB/s");
    if (bar > 0)
        printf(">= %-7g %s", bar, ok ? "met" : "MISSED");
    printf("\n");
}

static void
measure(const char *name, double bar, void (*fn)(void), int n)
{
    double runs[RUNS];

    for (int i = 0; i < n / 10 + 1; i++)
        fn();
    for (int i = 0; i < RUNS; i++) {
        double start = bench_cpu_ns();

        for (int k = 0; k < n; k++)
            fn();
        runs[i] = (double)len * n / (bench_cpu_ns() - start) * 1e3;
    }
    qsort(runs, RUNS, sizeof *runs, bench_by_value);
    report(name, runs[RUNS / 2], runs[RUNS - 1], bar);
}

static bool
count(void *user, const sn_html_event *e)
{
    (void)user;
    found++;
    sink += e->value.len + e->text.len;
    return true;
}

static void
read_with(sn_html *t, size_t piece)
{
    seine_err e = SEINE_OK;

    found = 0;
    sn_html_reset(t);
    for (size_t at = 0; at < len && e == SEINE_OK && !sn_html_enough(t); at += piece)
        e = sn_html_feed(t, text + at, len - at < piece ? len - at : piece);
    if (e == SEINE_OK)
        e = sn_html_end(t);
    if (e != SEINE_OK) {
        fprintf(stderr, "bench: %s\n", seine_err_text(e));
        exit(1);
    }
}

static void
whole(void)
{
    read_with(&all, SIZE_MAX / 2);
}

static void
crawled(void)
{
    read_with(&facts, SIZE_MAX / 2);
}

static void
packets(void)
{
    read_with(&all, 1460);
}

static void
bytes(void)
{
    read_with(&all, 1);
}

static void
title(void)
{
    read_with(&first, SIZE_MAX / 2);
}

static void
copy(void)
{
    memcpy(copied, text, len < ROOM ? len : ROOM);
    sink += (size_t)copied[len / 2];
}

static void
search(void)
{
    const char *p = text, *end = text + len;

    for (; p && p < end; p = memchr(p, '<', (size_t)(end - p)))
        sink += (size_t)*p++;
}

/* The whole file, or NULL. */
static char *
load(const char *dir, const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", dir ? dir : "", name);
    FILE *f = dir ? fopen(path, "rb") : NULL;
    char *mem = f ? malloc(4 << 20) : NULL;
    if (mem)
        len = fread(mem, 1, 4 << 20, f);
    if (f)
        fclose(f);
    return mem;
}

int
main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* a figure is seen when it is there */
    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    sn_html_init(&all,
                 &(sn_html_options){.want = SN_HTML_TITLE | SN_HTML_BASE | SN_HTML_LINK},
                 count, NULL);
    sn_html_init(&first, &(sn_html_options){.want = SN_HTML_TITLE, .until_title = true},
                 count, NULL);
    sn_html_init(&facts,
                 &(sn_html_options){.want = SN_HTML_TITLE | SN_HTML_BASE | SN_HTML_LINK |
                                            SN_HTML_META | SN_HTML_LANG,
                                    .lines = true,
                                    .no_text = true,
                                    .no_parts = true},
                 count, NULL);
    make_page();
    whole();
    if (!as_json)
        printf("%zu bytes, %zu found\n%-42s %11s %11s  %-4s %-10s\n", len, found, "",
               "median", "best", "unit", "bar");
    measure("copy", 0, copy, MANY);
    measure("memchr for each <", 0, search, MANY);
    measure("title, base, links: 10 KB page", 500, whole, MANY);
    measure("and metas, lines, no texts: as a crawl does", 700, crawled, MANY);
    measure("title, base, links: in packets", 0, packets, MANY);
    measure("title, base, links: byte by byte", 0, bytes, MANY / 10);
    measure("until the title (of the whole page)", 0, title, MANY);
    char *mem = load(getenv("SEINE_VECTORS"), "html-links/fixtures/bench/elvis.html");
    if (mem) {
        text = mem;
        measure("title, base, links: 886 KB, 4,300 links", 0, whole, 20);
    }
    free(mem);
    sn_html_fini(&all);
    sn_html_fini(&first);
    sn_html_fini(&facts);
    if (!as_json)
        printf("%d bar%s missed\n", missed, missed == 1 ? "" : "s");
    return 0;
}
