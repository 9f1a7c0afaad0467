/* SPDX-License-Identifier: Apache-2.0 */
/*
 * h1 - what it costs to read a response and to write a request.
 *
 * Whole responses, from begin to DONE, with heads as servers send them and a body of
 * 2 KB that is looked at but not copied, in one piece and in two. Thread CPU time,
 * five runs, median and best. A plain copy of nginx' head stands beside them: figures
 * of two machines are compared through it. Prints a table for people, and one JSON
 * object per line with -j.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "net/h1.h"

enum { RUNS = BENCH_RUNS(5), OPS = BENCH_ROUNDS(200000) };

static bool as_json;
static int missed;
static volatile char sink;

/* clang-format off */
/* A file, as nginx sends it without further settings. */
static const char nginx[] =
    "HTTP/1.1 200 OK\r\n"
    "Server: nginx/1.22.1\r\n"
    "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
    "Content-Type: text/html\r\n"
    "Content-Length: 2048\r\n"
    "Last-Modified: Sat, 05 Nov 1994 08:49:37 GMT\r\n"
    "Connection: keep-alive\r\n"
    "ETag: \"2eb9a461-800\"\r\n"
    "Accept-Ranges: bytes\r\n"
    "\r\n";

static const char ten[] =
    "HTTP/1.1 200 OK\r\n"
    "Server: nginx/1.22.1\r\n"
    "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
    "Content-Type: text/html; charset=utf-8\r\n"
    "Content-Length: 2048\r\n"
    "Last-Modified: Sat, 05 Nov 1994 08:49:37 GMT\r\n"
    "Connection: keep-alive\r\n"
    "ETag: \"2eb9a461-800\"\r\n"
    "Cache-Control: max-age=600\r\n"
    "Vary: Accept-Encoding\r\n"
    "Accept-Ranges: bytes\r\n"
    "\r\n";

static const char thirty[] =
    "HTTP/1.1 200 OK\r\n"
    "date: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
    "content-type: text/html; charset=utf-8\r\n"
    "content-length: 2048\r\n"
    "server: cloud\r\n"
    "cf-ray: 7d5b2e1c9b2a1b2c-FRA\r\n"
    "cf-cache-status: DYNAMIC\r\n"
    "cache-control: private, max-age=0, must-revalidate\r\n"
    "set-cookie: __session=eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0; path=/; secure; HttpOnly; SameSite=Lax\r\n"
    "set-cookie: preferences=theme%3Ddark%26language%3Den; path=/; expires=Mon, 06 Nov 1995 08:49:37 GMT; domain=.example.org\r\n"
    "strict-transport-security: max-age=31536000; includeSubDomains; preload\r\n"
    "x-content-type-options: nosniff\r\n"
    "x-frame-options: SAMEORIGIN\r\n"
    "x-xss-protection: 1; mode=block\r\n"
    "referrer-policy: strict-origin-when-cross-origin\r\n"
    "permissions-policy: camera=(), microphone=(), geolocation=(), interest-cohort=()\r\n"
    "content-security-policy: default-src 'self'; img-src 'self' data: https://images.example.org; script-src 'self' 'nonce-r4nd0m' https://cdn.example.org; style-src 'self' 'unsafe-inline'; frame-ancestors 'none'; report-uri /csp\r\n"
    "x-request-id: 4b1c9f6e-2f0e-4a53-9a5e-6f5f0f5b8b2e\r\n"
    "x-runtime: 0.042137\r\n"
    "x-powered-by: Express\r\n"
    "etag: W/\"5c3-18d5f0a2b40\"\r\n"
    "vary: Accept-Encoding, Cookie, Origin\r\n"
    "alt-svc: h3=\":443\"; ma=86400\r\n"
    "nel: {\"success_fraction\":0,\"report_to\":\"default\",\"max_age\":604800}\r\n"
    "report-to: {\"endpoints\":[{\"url\":\"https://a.example.org/report\"}],\"group\":\"default\",\"max_age\":604800}\r\n"
    "link: <https://cdn.example.org/app.css>; rel=preload; as=style, <https://cdn.example.org/app.js>; rel=preload; as=script\r\n"
    "access-control-allow-origin: *\r\n"
    "access-control-allow-methods: GET, HEAD, OPTIONS\r\n"
    "timing-allow-origin: *\r\n"
    "accept-ranges: bytes\r\n"
    "connection: keep-alive\r\n"
    "\r\n";
/* clang-format on */

/* 0: no bar. */
static void
report(const char *name, double runs[RUNS], double bar)
{
    qsort(runs, RUNS, sizeof *runs, bench_by_value);
    double median = runs[RUNS / 2], best = runs[0];
    bool ok = bar == 0 || median <= bar;

    missed += !ok;
    if (as_json) {
        printf("{\"name\":\"%s\",\"value\":%.1f,\"best\":%.1f,\"unit\":\"ns\"", name,
               median, best);
        if (bar > 0)
            printf(",\"bar\":%g,\"ratio\":%.3f,\"ok\":%s", bar, median / bar,
                   ok ? "true" : "false");
        printf("}\n");
        return;
    }
    printf("%-42s %11.1f %11.1f  %-4s ", name, median, best, "ns");
    if (bar > 0)
        printf("<= %-7g %s", bar, ok ? "met" : "MISSED");
    printf("\n");
}

static void
bench_copy(void)
{
    char to[sizeof nginx];
    double runs[RUNS];

    for (int run = 0; run < RUNS; run++) {
        double start = bench_cpu_ns();

        for (int i = 0; i < OPS; i++) {
            memcpy(to, nginx, sizeof to - (size_t)(i & 1));
            sink = to[i % 64];
        }
        runs[run] = (bench_cpu_ns() - start) / OPS;
    }
    report("copy of nginx' head", runs, 0);
}

/* Reads one response that arrives in two pieces; returns the bytes of its body. */
static size_t
read_one(sn_h1 *h, sn_head *head, sn_str first, sn_str second)
{
    size_t body = 0;

    sn_h1_begin(h, head, &(sn_h1_ask){0});
    for (sn_str in = first, piece;;)
        switch (sn_h1_next(h, &in, &piece)) {
        case SN_H1_HEAD:
            break;
        case SN_H1_BODY:
            body += piece.len;
            break;
        case SN_H1_MORE:
            in = second;
            second.len = 0;
            break;
        case SN_H1_DONE:
            return sn_h1_is_reusable(h) ? body : 0;
        default:
            return 0;
        }
}

static void
bench_read(const char *what, const char *head_text, size_t cut, size_t want, double bar)
{
    static char bytes[16384];
    size_t n = strlen(head_text);
    double runs[RUNS];
    sn_head head;
    sn_h1 h;

    memcpy(bytes, head_text, n + 1);
    if (want == 2048) {
        memset(bytes + n, 'x', 2048);
        n += 2048;
    }
    cut = cut ? cut : n;
    sn_head_init(&head, NULL);
    for (int run = 0; run < RUNS; run++) {
        double start = bench_cpu_ns();

        for (int i = 0; i < OPS; i++)
            if (read_one(&h, &head, (sn_str){bytes, cut},
                         (sn_str){bytes + cut, n - cut}) != want)
                exit(1);
        runs[run] = (bench_cpu_ns() - start) / OPS;
    }
    sn_head_fini(&head);
    report(what, runs, bar);
}

static void
bench_write(void)
{
    sn_field fields[] = {
        {SN_STR("User-Agent"), SN_STR("seine/1.0 (+https://example.org)")},
        {SN_STR("Accept"), SN_STR("text/html,*/*;q=0.8")},
        {SN_STR("Accept-Language"), SN_STR("en")}};
    sn_h1_request r = {.method = SN_STR("GET"),
                       .host = SN_STR("www.example.org"),
                       .target = SN_STR("/a/path/of/some/length?and=a&query=string"),
                       .fields = fields,
                       .n_fields = 3};
    double runs[RUNS];
    sn_buf b;

    sn_buf_init(&b, 4096);
    for (int run = 0; run < RUNS; run++) {
        double start = bench_cpu_ns();

        for (int i = 0; i < OPS; i++) {
            sn_buf_reset(&b);
            if (sn_h1_write(&r, &b) != SEINE_OK)
                exit(1);
        }
        runs[run] = (bench_cpu_ns() - start) / OPS;
    }
    sn_buf_fini(&b);
    report("write a request of 3 fields", runs, 0);
}

int
main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* a figure is seen when it is there */
    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    if (!as_json)
        printf("%-42s %11s %11s  %-4s %-10s\n", "", "median", "best", "unit", "bar");
    bench_copy();
    bench_read("read nginx' head (8 fields), 2 KB", nginx, 0, 2048, 250);
    bench_read("read 10 fields, 2 KB", ten, 0, 2048, 0);
    bench_read("read 10 fields, 2 KB, cut in the head", ten, 200, 2048, 0);
    bench_read("read 30 fields (2.4 KB), 2 KB", thirty, 0, 2048, 0);
    bench_read("read 5 chunks of 16 bytes",
               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
               "10\r\n0123456789abcdef\r\n10\r\n0123456789abcdef\r\n"
               "10\r\n0123456789abcdef\r\n10\r\n0123456789abcdef\r\n"
               "10\r\n0123456789abcdef\r\n0\r\n\r\n",
               0, 80, 0);
    bench_write();
    if (!as_json)
        printf("%d bar%s missed\n", missed, missed == 1 ? "" : "s");
    return 0;
}
