/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree - how fast pages become trees, how fast selectors find, what bombs cost.
 *
 * CPU time of the thread, best of three, since a tree touches much fresh memory and the
 * neighbours of a busy machine show. The page is dense markup, 1 MB: lists, tables,
 * links, attributes. A bomb is 1 MB made to be expensive; its cost is that of links and
 * tree together, refused or not. With -v each bomb has its line. Prints a table for
 * people, and one JSON object per line with -j.
 */
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seine/links.h>
#include <seine/select.h>
#include <seine/tree.h>

#include "tree_bombs.h"

enum { MB = 1000 * 1000, RUNS = 3 };

static bool as_json, verbose;
static int missed;

static double
cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void
need(seine_err e)
{
    if (e != SEINE_OK) {
        fprintf(stderr, "bench: %s\n", seine_err_text(e));
        exit(1);
    }
}

/* bar > 0: at least; < 0: at most. */
static void
report(const char *name, double value, const char *unit, double bar)
{
    bool ok = bar == 0 || (bar > 0 ? value >= bar : value <= -bar);

    missed += !ok;
    if (as_json) {
        printf("{\"name\":\"%s\",\"value\":%.2f,\"unit\":\"%s\"", name, value, unit);
        if (bar != 0)
            printf(",\"bar\":%g,\"ok\":%s", bar > 0 ? bar : -bar, ok ? "true" : "false");
        printf("}\n");
        return;
    }
    printf("%-46s %10.2f  %-8s ", name, value, unit);
    if (bar != 0)
        printf("%s %-6g %s", bar > 0 ? ">=" : "<=", bar > 0 ? bar : -bar,
               ok ? "met" : "MISSED");
    printf("\n");
}

typedef struct page {
    char *ptr; /* 2 MB */
    size_t len;
} page;

static void
add(page *p, const char *text)
{
    size_t n = strlen(text);

    memcpy(p->ptr + p->len, text, n);
    p->len += n;
}

static void
fill(page *p, const char *head, const char *body)
{
    p->len = 0;
    add(p, head);
    while (p->len < MB)
        add(p, body);
}

static page
page_new(void)
{
    page p = {malloc(2 * (size_t)MB), 0};

    if (!p.ptr)
        need(SEINE_E_NOMEM);
    return p;
}

static double
tree_ms(const page *b, seine_err *out_err)
{
    double best = 1e9;

    for (int i = 0; i < RUNS; i++) {
        double start = cpu_ms();
        seine_tree *t = NULL;

        need(seine_tree_new(&t));
        *out_err = seine_tree_parse(t, b->ptr, b->len, NULL);
        seine_tree_free(t);
        double ms = cpu_ms() - start;
        best = ms < best ? ms : best;
    }
    return best;
}

static double
links_ms(const page *b)
{
    double best = 1e9;

    for (int i = 0; i < RUNS; i++) {
        double start = cpu_ms();
        seine_links *l = NULL;

        need(seine_links_new(NULL, &l));
        need(seine_links_feed(l, b->ptr, b->len));
        need(seine_links_end(l));
        seine_links_free(l);
        double ms = cpu_ms() - start;
        best = ms < best ? ms : best;
    }
    return best;
}

static const char row[] = "<li class=\"item odd\" data-id=17><a "
                          "href=\"/2024/a-story?ref=home&amp;pos=1\" class=\"t x\">"
                          "A story of <b>fish</b> and nets</a> <span class=meta>by "
                          "somebody</span>\n<table><tr><td>1<td "
                          "class=n>2</table></li>\n";

static const char *const selectors[] = {
    "li",
    ".meta",
    "li.item > a[href]",
    "ul li:nth-child(odd) td.n",
    "li:has(td.n) ~ li a",
};

static void
select_all(const seine_tree *t)
{
    for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
        double best = 1e9;
        char name[96];

        for (int run = 0; run < RUNS; run++) {
            seine_select *s = NULL;
            seine_finder *f = NULL;
            seine_node n = 0;
            double start = cpu_ms();

            need(seine_select_new(selectors[i], strlen(selectors[i]), &s, NULL));
            need(seine_finder_new(t, &f));
            do
                need(seine_finder_next(f, s, 0, &n));
            while (n != 0);
            seine_finder_free(f);
            seine_select_free(s);
            double ms = cpu_ms() - start;
            best = ms < best ? ms : best;
        }
        snprintf(name, sizeof name, "select %s", selectors[i]);
        report(name, best * 1e6 / seine_tree_size(t), "ns/node", 0);
    }
}

static void
honest(void)
{
    page p = page_new();
    seine_tree *t = NULL;
    seine_err e;

    fill(&p, "<!DOCTYPE html><title>t</title><body><ul>", row);
    report("links of dense markup", (double)p.len / 1e3 / links_ms(&p), "MB/s", 0);
    report("tree of dense markup", tree_ms(&p, &e) * MB / (double)p.len, "ms/MB", -100);
    need(e);
    need(seine_tree_new(&t));
    need(seine_tree_parse(t, p.ptr, p.len, NULL));
    select_all(t);
    seine_tree_free(t);
    free(p.ptr);
}

/* Bytes that are allocated, and the most that were. */
static size_t held, peak;

static void *
get(size_t n, void *arg)
{
    void *p = malloc(n);

    (void)arg;
    held += p ? malloc_usable_size(p) : 0;
    peak = held > peak ? held : peak;
    return p;
}

static void *
resize(void *p, size_t n, void *arg)
{
    size_t before = p ? malloc_usable_size(p) : 0;
    void *q = realloc(p, n);

    (void)arg;
    if (q)
        held += malloc_usable_size(q) - before;
    peak = held > peak ? held : peak;
    return q;
}

static void
put(void *p, void *arg)
{
    (void)arg;
    held -= p ? malloc_usable_size(p) : 0;
    free(p);
}

/* Returns the bytes that a tree takes at most while it is made, for each of the page. */
static double
tree_memory(const page *b)
{
    static const seine_alloc counting = {get, resize, put, NULL, NULL, NULL};
    seine_tree *t = NULL;

    need(seine_set_alloc(&counting));
    held = peak = 0;
    need(seine_tree_new(&t));
    (void)(seine_tree_parse(t, b->ptr, b->len, NULL) == SEINE_OK);
    seine_tree_free(t);
    need(seine_set_alloc(NULL));
    return (double)peak / (double)b->len;
}

static void
explode(void)
{
    double worst = 0, most = 0;
    const tree_bomb *which = tree_bombs, *large = tree_bombs;
    page p = page_new();
    char name[128];

    for (size_t i = 0; i < TREE_BOMBS; i++) {
        seine_err e;

        p.len = tree_bomb_fill(&tree_bombs[i], p.ptr, MB);
        double ms = (links_ms(&p) + tree_ms(&p, &e)) * MB / (double)p.len;
        double memory = tree_memory(&p);
        if (verbose)
            printf("%-32.32s %-20.20s %8.2f ms/MB %6.1f x %s\n", tree_bombs[i].head,
                   tree_bombs[i].body, ms, memory,
                   e == SEINE_OK ? "" : seine_err_name(e));
        if (ms > worst) {
            worst = ms;
            which = &tree_bombs[i];
        }
        if (memory > most) {
            most = memory;
            large = &tree_bombs[i];
        }
    }
    snprintf(name, sizeof name, "time of the worst of %d bombs", TREE_BOMBS);
    report(name, worst, "ms/MB", -100);
    snprintf(name, sizeof name, "memory of the worst of %d bombs", TREE_BOMBS);
    report(name, most, "x page", -33);
    if (!as_json)
        printf("they are %.40s %s and %.40s %s\n", which->head, which->body, large->head,
               large->body);
    free(p.ptr);
}

int
main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* a figure is seen when it is there */
    for (int i = 1; i < argc; i++) {
        as_json = as_json || strcmp(argv[i], "-j") == 0;
        verbose = verbose || strcmp(argv[i], "-v") == 0;
    }
    honest();
    explode();
    if (!as_json)
        printf("%d bars missed\n", missed);
    return 0;
}
