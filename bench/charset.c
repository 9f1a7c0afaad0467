/* SPDX-License-Identifier: Apache-2.0 */
/*
 * charset - how fast bytes of other encodings become UTF-8, and an encoding is found.
 *
 * Thread CPU time over 1 MB of text in each of some encodings, five runs, median and
 * best, MB (10^6) per second; a plain copy of the bytes stands beside it, and the same
 * by the C library's iconv. The scan for a meta is in ns for a page that has none.
 * Prints a table for people, and one JSON object per line with -j.
 */
#include <iconv.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <seine/charset.h>

#include "bench.h"

enum { RUNS = BENCH_RUNS(5), ROOM = 1000000 };

static bool as_json;
static char text[ROOM], out[4 * ROOM];
static volatile uint64_t sink;

typedef void (*work)(const void *arg);

static void
measure(const char *name, work fn, const void *arg)
{
    double took[RUNS];

    fn(arg);
    for (int i = 0; i < RUNS; i++) {
        double from = bench_cpu_ns();

        fn(arg);
        took[i] = bench_cpu_ns() - from;
    }
    qsort(took, RUNS, sizeof *took, bench_by_value);
    double median = ROOM * 1e3 / took[RUNS / 2], best = ROOM * 1e3 / took[0];
    if (as_json)
        printf(
            "{\"name\":\"charset: %s\",\"value\":%.0f,\"best\":%.0f,\"unit\":\"MB/s\"}\n",
            name, median, best);
    else
        printf("%-34s %8.0f MB/s  %8.0f best\n", name, median, best);
}

static void
decode(const void *arg)
{
    seine_text made;
    uint64_t errors;

    if (seine_charset_decode(*(const seine_charset *)arg, text, ROOM, &made, &errors) !=
        SEINE_OK)
        return;
    sink = errors + made.len;
    seine_text_free(&made);
}

static void
validate(const void *arg)
{
    seine_charset_choice c;

    (void)arg;
    seine_charset_decide(text, ROOM, NULL, 0, &c);
    sink = c.charset;
}

static void
by_libc(const void *arg)
{
    iconv_t cd = iconv_open("UTF-8", arg);
    char *from = text, *to = out;
    size_t left = ROOM, room = sizeof out;

    if ((intptr_t)cd == -1)
        return;
    sink = iconv(cd, &from, &left, &to, &room);
    iconv_close(cd);
}

static void
copy(const void *arg)
{
    (void)arg;
    memcpy(out, text, ROOM);
    sink = (uint64_t)out[ROOM - 1];
}

/* As many repetitions as there is room for, the rest blanks. */
static void
fill(const char *words, size_t n)
{
    size_t at = 0;

    for (; at + n <= ROOM; at += n)
        memcpy(text + at, words, n);
    memset(text + at, ' ', ROOM - at);
}

static void
scan(void)
{
    enum { MANY = BENCH_ROUNDS(100000) };
    seine_charset_choice c;
    char page[1024];
    size_t n = 0;

    while (n + 64 < sizeof page)
        n += (size_t)snprintf(page + n, sizeof page - n,
                              "<link rel=\"stylesheet\" href=\"/a/b.css\">\n");
    double from = bench_cpu_ns();
    for (int i = 0; i < MANY; i++) {
        seine_charset_decide(page, n, NULL, 0, &c);
        sink = c.charset;
    }
    double ns = (bench_cpu_ns() - from) / MANY;
    if (as_json)
        printf("{\"name\":\"charset: scan\",\"value\":%.0f,\"unit\":\"ns\"}\n", ns);
    else
        printf("%-34s %8.0f ns\n", "scan of 1,024 bytes without a meta", ns);
}

int
main(int argc, char **argv)
{
    static const struct {
        const char *name, *libc, *words;
        seine_charset c;
    } rows[] = {
        {"ascii", "UTF-8", "Nets and boats, an example of a text. ", SEINE_CHARSET_UTF_8},
        {"utf-8, german", "UTF-8",
         "Netze f\xc3\xbcr B\xc3\xb6ote, sch\xc3\xb6n gekn\xc3\xbcpft. ",
         SEINE_CHARSET_UTF_8},
        {"utf-8, japanese", "UTF-8", "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xae",
         SEINE_CHARSET_UTF_8},
        {"windows-1252, german", "CP1252",
         "Netze f\xfcr B\xf6ote, sch\xf6n gekn\xfcpft. ", SEINE_CHARSET_WINDOWS_1252},
        {"windows-1251, russian", "CP1251", "\xd1\xe5\xf2\xfc \xe8 \xeb\xee\xe4\xea\xe0 ",
         SEINE_CHARSET_WINDOWS_1251},
        {"shift_jis", "CP932", "\x93\xfa\x96\x7b\x8c\xea\x82\xcc",
         SEINE_CHARSET_SHIFT_JIS},
        {"gbk", "GB18030", "\xd6\xd0\xce\xc4\xcd\xf8\xd2\xb3", SEINE_CHARSET_GBK},
        {"big5", "BIG5-HKSCS", "\xa4\xa4\xa4\xe5\xba\xf4\xad\xb6", SEINE_CHARSET_BIG5},
        {"euc-kr", "UHC", "\xc7\xd1\xb1\xdb\xb9\xae\xbc\xad", SEINE_CHARSET_EUC_KR},
    };
    char name[64];

    setvbuf(stdout, NULL, _IOLBF, 0); /* a figure is seen when it is there */
    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    measure("copy", copy, NULL);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        fill(rows[i].words, strlen(rows[i].words));
        measure(rows[i].name, decode, &rows[i].c);
        snprintf(name, sizeof name, "%s, iconv", rows[i].name);
        measure(name, by_libc, rows[i].libc);
        if (rows[i].c == SEINE_CHARSET_UTF_8) {
            snprintf(name, sizeof name, "%s, guessed", rows[i].name);
            measure(name, validate, NULL);
        }
    }
    scan();
    return 0;
}
