/* SPDX-License-Identifier: Apache-2.0 */
/*
 * robots_cache - what a judgement by robots.txt costs.
 *
 * Thread CPU time of one URL: against a file as sites have them (60 rules, a third of
 * them with stars), against a long one (2,000 rules), and against files that are made to
 * be slow (512 KiB of `disallow:*aaaab`, of stars, of short rules, and URLs of 8 KB).
 * Files named on the command line are measured, too. Median and worst of the URLs, in µs.
 * Prints a table for people, and one JSON object per line with -j.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "engine/robots_cache.h"

enum { URLS = 200, ROOM = 512 << 10 };

static bool as_json;
static char *text;
static char urls[URLS][8192];

static void
make_urls(size_t len)
{
    for (int i = 0; i < URLS; i++) {
        int n = snprintf(urls[i], sizeof urls[i], "/shop/%d/item-%d.html?id=%d&lang=en",
                         i % 17, i, 7 * i);
        size_t at = (size_t)n;

        for (; at < len; at++)
            urls[i][at] = 'a';
        urls[i][at] = '\0';
    }
}

static void
measure(const char *name, size_t len)
{
    double runs[URLS];
    sn_robots_cache r = {0};
    seine_robots_verdict v;
    seine_fault end = SEINE_FAULT;
    uint64_t steps = 0;
    size_t over = 0;

    end.status = 200;
    sn_robots_cache_settle(&r, &end, (sn_str){text, len}, "seine", 0);
    for (int i = 0; i < URLS; i++) {
        sn_str target = sn_str_of(urls[i]);
        int again = target.len > 1000 ? 1 : 20;

        sn_robots_cache_allow(&r, NULL, target, &v, &steps);
        over += v.is_over;
        double start = bench_cpu_ns();
        for (int k = 0; k < again; k++)
            sn_robots_cache_allow(&r, NULL, target, &v, &steps);
        runs[i] = (bench_cpu_ns() - start) / again / 1e3;
    }
    qsort(runs, URLS, sizeof *runs, bench_by_value);
    if (as_json)
        printf("{\"name\":\"%s\",\"value\":%.2f,\"worst\":%.2f,\"unit\":\"us\"}\n", name,
               runs[URLS / 2], runs[URLS - 1]);
    else
        printf("%-36s %10.2f %10.2f  us, %zu KiB kept, %zu of %d refused for steps\n",
               name, runs[URLS / 2], runs[URLS - 1], sn_robots_cache_bytes(&r) >> 10,
               over, URLS);
    sn_robots_cache_fini(&r);
}

static size_t
write_rules(int n)
{
    size_t at = (size_t)snprintf(text, ROOM, "User-agent: *\n");

    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(
            text + at, ROOM - at,
            i % 3 ? "Disallow: /shop/%d/private/\n" : "Disallow: /*?*sort%d=\n", i);
    return at;
}

static size_t
fill(const char *line)
{
    size_t at = (size_t)snprintf(text, ROOM, "User-agent: *\n"), n = strlen(line);

    for (; at + n <= ROOM; at += n)
        memcpy(text + at, line, n);
    return at;
}

static size_t
load(const char *path)
{
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, ROOM, f) : 0;

    if (f)
        fclose(f);
    return n;
}

int
main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* a figure is seen when it is there */
    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    text = malloc(ROOM);
    if (!text)
        return 1;
    make_urls(0);
    for (int i = 1 + as_json; i < argc; i++)
        measure(argv[i], load(argv[i]));
    measure("ordinary: 60 rules", write_rules(60));
    measure("long: 2,000 rules", write_rules(2000));
    measure("512 KiB of short rules", fill("allow:/x\n"));
    make_urls(8000);
    measure("512 KiB of disallow:*aaaab, 8 KB", fill("disallow:*aaaab\n"));
    measure("512 KiB of *a*a*a*b, 8 KB", fill("allow:*a*a*a*a*a*a*a*a*a*b\n"));
    measure("512 KiB of stars, 8 KB", fill("allow:******************************b\n"));
    free(text);
    return 0;
}
