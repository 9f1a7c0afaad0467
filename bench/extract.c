/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract - how fast ten fields are taken out of pages.
 *
 * The pages are the HTML files below the folder of the first argument, else those of
 * html-links among the conformance vectors (SEINE_VECTORS). CPU time of the thread, best
 * of five rounds over all pages. tools/bench runs bench/peers/parsel_fields.py beside
 * it: the same fields of the same pages by parsel, and the ratio.
 */
#include <ftw.h>

#include <seine/extract.h>

#include "bench.h"

enum { MOST_PAGES = 4096, LEAST_BYTES = 20000000 };

static const char *const fields[] = {
    "title", "h1",      "h2",       "a@href",         "img@src",
    "p",     "ul > li", "table tr", "td:first-child", "div[class] a",
};

static seine_view pages[MOST_PAGES];
static size_t n_pages, all_bytes;

static int
read_page(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    size_t n = strlen(path), len = (size_t)st->st_size;
    FILE *f;

    (void)at;
    if (kind != FTW_F || n < 5 || strcmp(path + n - 5, ".html") != 0 ||
        n_pages == MOST_PAGES || !(f = fopen(path, "rb")))
        return 0;
    char *bytes = malloc(len + 1);
    bench_must(bytes != NULL, "no memory");
    len = fread(bytes, 1, len, f);
    fclose(f);
    pages[n_pages++] = (seine_view){bytes, len};
    all_bytes += len;
    return 0;
}

/* Reads all pages once; returns the bytes of their data. */
static size_t
read_all(seine_extractor *r)
{
    seine_extract_page page = SEINE_EXTRACT_PAGE;
    seine_view data;
    size_t n = 0;

    page.content_type = (seine_view){"text/html", 9};
    page.url = (seine_view){"http://crawl.example/dir/page.html", 34};
    for (size_t i = 0; i < n_pages; i++) {
        page.body = pages[i];
        bench_ok(seine_extractor_read(r, &page, &data));
        n += data.len;
    }
    return n;
}

int
main(int argc, char **argv)
{
    const char *vectors = getenv("SEINE_VECTORS");
    seine_extractor *r = NULL;
    seine_extract *x = NULL;
    char folder[4096] = "";
    double best = 1e9;
    size_t data = 0;

    if (argc > 1)
        snprintf(folder, sizeof folder, "%s", argv[1]);
    else if (vectors)
        snprintf(folder, sizeof folder, "%s/html-links/fixtures", vectors);
    if (!*folder || nftw(folder, read_page, 16, FTW_PHYS) != 0 || n_pages == 0) {
        printf("extract skipped: SEINE_VECTORS, the folder of conformance vectors, is "
               "not set\n");
        return 0;
    }
    bench_ok(seine_extract_new(&x));
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        bench_ok(seine_extract_add(x, SEINE_EXTRACT_CSS, fields[i], NULL));
    bench_ok(seine_extractor_new(x, &r));
    size_t times = BENCH_ROUNDS(LEAST_BYTES) / all_bytes + 1;
    for (int round = 0; round < BENCH_RUNS(5); round++) {
        double start = bench_cpu_seconds();

        for (size_t i = 0; i < times; i++)
            data = read_all(r);
        double took = bench_cpu_seconds() - start;
        best = took < best ? took : best;
    }
    double speed = (double)all_bytes * (double)times / 1e6 / best;
    printf("%zu pages of %zu bytes, %zu of data\n", n_pages, all_bytes, data);
    printf("%-46s %10.2f  MB/s     >= 40     %s\n", "ten fields of a page", speed,
           speed >= 40 ? "met" : "MISSED");
    seine_extractor_free(r);
    seine_extract_free(x);
    for (size_t i = 0; i < n_pages; i++)
        free((char *)pages[i].ptr);
    return speed >= 40 ? 0 : 1;
}
