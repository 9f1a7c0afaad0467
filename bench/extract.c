/* SPDX-License-Identifier: Apache-2.0 */
/*
 * extract - how fast ten fields are taken out of pages.
 *
 * The pages are those of html-links among the conformance vectors (SEINE_VECTORS), or one
 * of our own. CPU time of the thread, best of five rounds over all pages. tools/bench
 * runs bench/peers/parsel_fields.py beside it: the same fields of the same pages by
 * parsel, and the ratio.
 */
#include <dirent.h>

#include <seine/extract.h>

#include "bench.h"

enum { MOST_PAGES = 4096, MOST_BYTES = 4 << 20, LEAST_BYTES = 20000000, BAR = 40 };

static const char *const fields[] = {
    "title", "h1",      "h2",       "a@href",         "img@src",
    "p",     "ul > li", "table tr", "td:first-child", "div[class] a",
};

static seine_view pages[MOST_PAGES];
static size_t n_pages, all_bytes;

static void
read_page(const char *path)
{
    FILE *f = n_pages < MOST_PAGES ? fopen(path, "rb") : NULL;
    char *bytes = malloc(MOST_BYTES);

    bench_must(bytes != NULL, "no memory");
    if (!f) {
        free(bytes);
        return;
    }
    size_t len = fread(bytes, 1, MOST_BYTES, f);
    fclose(f);
    pages[n_pages++] = (seine_view){bytes, len};
    all_bytes += len;
}

/* Reads the files of the folder and of the folders in it that end in .html. */
static void
read_folder(const char *folder)
{
    DIR *d = opendir(folder);
    struct dirent *one;
    char path[4096];

    while (d && (one = readdir(d))) {
        size_t n = strlen(one->d_name);

        snprintf(path, sizeof path, "%s/%s", folder, one->d_name);
        if (one->d_type == DT_DIR && one->d_name[0] != '.')
            read_folder(path);
        else if (n > 5 && strcmp(one->d_name + n - 5, ".html") == 0)
            read_page(path);
    }
    if (d)
        closedir(d);
}

/* Reads all pages once. */
static void
read_all(seine_extractor *r)
{
    seine_extract_page page = SEINE_EXTRACT_PAGE;
    seine_view data;

    page.content_type = (seine_view){"text/html", 9};
    page.url = (seine_view){"http://crawl.example/dir/page.html", 34};
    for (size_t i = 0; i < n_pages; i++) {
        page.body = pages[i];
        bench_ok(seine_extractor_read(r, &page, &data));
    }
}

/* A page of our own, where no vectors are: lists, tables and links. */
static void
make_page(void)
{
    static const char row[] =
        "<h2>Part</h2><p>Words and <a href=/x/y?z=1>a link</a> and words.<ul><li>one<li>"
        "two</ul><table><tr><td>1<td>2</table><div class=c><a href=b>c</a><img "
        "src=d></div>";
    size_t n = sizeof row - 1, times = 5000;
    char *bytes = malloc(n * times);

    bench_must(bytes != NULL, "no memory");
    for (size_t i = 0; i < times; i++)
        memcpy(bytes + i * n, row, n);
    pages[n_pages++] = (seine_view){bytes, n * times};
    all_bytes += n * times;
}

/* The best speed of some rounds, in MB/s. */
static double
measure(seine_extractor *r)
{
    size_t times = BENCH_ROUNDS(LEAST_BYTES) / all_bytes + 1;
    double best = 1e9;

    for (int round = 0; round < BENCH_RUNS(5); round++) {
        double start = bench_cpu_seconds();

        for (size_t i = 0; i < times; i++)
            read_all(r);
        double took = bench_cpu_seconds() - start;
        best = took < best ? took : best;
    }
    return (double)all_bytes * (double)times / 1e6 / best;
}

int
main(int argc, char **argv)
{
    const char *vectors = getenv("SEINE_VECTORS");
    bool as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    seine_extractor *r = NULL;
    seine_extract *x = NULL;
    char folder[4096];

    if (vectors) {
        snprintf(folder, sizeof folder, "%s/html-links/fixtures", vectors);
        read_folder(folder);
    }
    if (n_pages == 0)
        make_page();
    bench_ok(seine_extract_new(&x));
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        bench_ok(seine_extract_add(x, SEINE_EXTRACT_CSS, fields[i], NULL));
    bench_ok(seine_extractor_new(x, &r));
    double speed = measure(r);
    bool ok = speed >= BAR;
    printf(
        as_json
            ? "{\"name\":\"%s\",\"value\":%.2f,\"unit\":\"MB/s\",\"bar\":%d,\"ok\":%s}\n"
            : "%-46s %10.2f  MB/s     >= %d     %s\n",
        "ten fields of a page", speed, BAR,
        as_json ? (ok ? "true" : "false") : (ok ? "met" : "MISSED"));
    seine_extractor_free(r);
    seine_extract_free(x);
    for (size_t i = 0; i < n_pages; i++)
        free((char *)pages[i].ptr);
#ifdef __OPTIMIZE__
    return ok ? 0 : 1;
#else
    return 0; /* without optimisation it is no figure */
#endif
}
