/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode - what it costs to unpack a body, beside zlib alone.
 *
 * Pages made of words and tags, packed by gzip at its usual level, arrive in pieces of
 * 16 KiB, as from a socket, and are decoded with all counters and limits on; zlib alone
 * gets the same pieces and the same room of 64 KiB, and once the whole body with room
 * for all of it. Every run begins a body and ends it. Thread CPU time, seven runs in
 * turn, median; MB/s are of what comes out. Prints a table for people, and one JSON
 * object per line with -j.
 */
#define ZLIB_CONST
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zlib.h>

#include "base/buf.h"
#include "base/rng.h"
#include "bench.h"
#include "net/decode.h"

enum { RUNS = BENCH_RUNS(7), PIECE = 16 << 10 };

static bool as_json;
static int missed;
static char scratch[SN_DECODE_STEP];
static char *whole; /* room for a whole body */

static double
median(double runs[RUNS])
{
    qsort(runs, RUNS, sizeof *runs, bench_by_value);
    return runs[RUNS / 2];
}

/* Tags and words, none of them quite like the last. */
static void
fill(sn_buf *b, size_t n)
{
    static const char *const words[] = {"<p class=\"text\">",
                                        "</p>\n",
                                        "<a href=\"/page/",
                                        "\">",
                                        "</a>",
                                        " the ",
                                        " net ",
                                        " sea ",
                                        "page",
                                        "crawl",
                                        "<div id=\"",
                                        "<li>",
                                        "</li>\n",
                                        "fish",
                                        "polite",
                                        "0x"};
    sn_rng r = sn_rng_seed(1);

    while (b->len < n) {
        sn_buf_text(b, words[sn_rng_below(&r, 16)]);
        if (sn_rng_below(&r, 3) == 0)
            sn_buf_printf(b, "%u", (unsigned)sn_rng_below(&r, 100000));
    }
    sn_buf_truncate(b, n);
}

static void
pack(sn_codec_kind kind, sn_str in, sn_buf *out)
{
    sn_codec_event event;
    sn_codec c;

    sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_ENCODE});
    if (sn_codec_begin(&c, kind) != SEINE_OK)
        exit(1);
    do {
        sn_codec_room room = {sn_buf_reserve(out, 65536), 65536};

        event = sn_codec_step(&c, &in, &room, true);
        sn_buf_commit(out, 65536 - room.len);
    } while (event == SN_CODEC_ROOM);
    if (event != SN_CODEC_END)
        exit(1);
    sn_codec_fini(&c);
}

static size_t
ours(sn_decode *d, const sn_codings *codings, sn_str body)
{
    sn_str piece;
    size_t made = 0;

    if (sn_decode_begin(d, codings, &SN_DECODE_LIMITS) != SEINE_OK)
        exit(1);
    for (size_t at = 0; at < body.len; at += PIECE) {
        sn_str in = sn_str_slice(body, at, at + PIECE);

        while (sn_decode_next(d, &in, &piece) == SN_DECODE_BODY)
            made += piece.len;
    }
    if (sn_decode_end(d) != SEINE_OK)
        exit(1);
    return made;
}

static size_t
alone(z_stream *z, sn_str body, size_t step, char *room, size_t room_len)
{
    size_t made = 0;
    int said = Z_OK;

    inflateReset(z);
    for (size_t at = 0; at < body.len; at += step) {
        sn_str in = sn_str_slice(body, at, at + step);

        z->next_in = (const unsigned char *)in.ptr;
        z->avail_in = (unsigned)in.len;
        do {
            z->next_out = (unsigned char *)room;
            z->avail_out = (unsigned)room_len;
            said = inflate(z, Z_NO_FLUSH);
            made += room_len - z->avail_out;
        } while (z->avail_out == 0 && said == Z_OK);
    }
    if (said != Z_STREAM_END)
        exit(1);
    return made;
}

static void
report(const char *name, double mb_per_s, double beside)
{
    bool ok = beside == 0 || mb_per_s >= 0.9 * beside;

    missed += !ok;
    if (as_json) {
        printf("{\"name\":\"%s\",\"value\":%.1f,\"unit\":\"MB/s\"", name, mb_per_s);
        if (beside > 0)
            printf(",\"ratio\":%.3f,\"bar\":0.9,\"ok\":%s", mb_per_s / beside,
                   ok ? "true" : "false");
        printf("}\n");
        return;
    }
    printf("%-42s %9.1f  MB/s ", name, mb_per_s);
    if (beside > 0)
        printf(" %.3f >= 0.9 %s", mb_per_s / beside, ok ? "met" : "MISSED");
    printf("\n");
}

/* All three in turn, so that a busy machine is busy for all of them. */
static void
bench_gzip(size_t size)
{
    double mine[RUNS], pieces[RUNS], once[RUNS];
    sn_codings codings = {.n = 1, .list = {SN_CODING_GZIP}};
    size_t times = BENCH_ROUNDS(128u << 20) / size;
    double mb = (double)size * (double)times / 1e6;
    z_stream z = {0};
    char name[64];
    sn_buf text, packed;
    sn_decode d;

    sn_buf_init(&text, 64 << 20);
    sn_buf_init(&packed, 64 << 20);
    fill(&text, size);
    pack(SN_CODEC_GZIP, sn_buf_view(&text), &packed);
    sn_decode_init(&d, scratch, NULL);
    if (inflateInit2(&z, 31) != Z_OK)
        exit(1);
    for (int run = 0; run < RUNS; run++) {
        size_t made = 0;
        double t[4];

        t[0] = bench_cpu_seconds();
        for (size_t i = 0; i < times; i++)
            made += ours(&d, &codings, sn_buf_view(&packed));
        t[1] = bench_cpu_seconds();
        for (size_t i = 0; i < times; i++)
            made += alone(&z, sn_buf_view(&packed), PIECE, scratch, sizeof scratch);
        t[2] = bench_cpu_seconds();
        for (size_t i = 0; i < times; i++)
            made += alone(&z, sn_buf_view(&packed), packed.len, whole, size + 64);
        t[3] = bench_cpu_seconds();
        if (made != 3 * size * times)
            exit(1);
        mine[run] = mb / (t[1] - t[0]);
        pieces[run] = mb / (t[2] - t[1]);
        once[run] = mb / (t[3] - t[2]);
    }
    double peer = median(pieces);
    snprintf(name, sizeof name, "gzip %zu KiB (%.1f : 1)", size >> 10,
             (double)size / (double)packed.len);
    report(name, median(mine), peer);
    report("  zlib alone, the same pieces", peer, 0);
    report("  zlib alone, in one call", median(once), 0);
    inflateEnd(&z);
    sn_decode_fini(&d);
    sn_buf_fini(&text);
    sn_buf_fini(&packed);
}

static void
bench_other(const char *name, sn_codings codings, const sn_codec_kind *kinds)
{
    size_t size = 100 << 10, times = 500;
    double runs[RUNS];
    sn_buf text, packed[2];
    sn_decode d;

    sn_buf_init(&text, 64 << 20);
    fill(&text, size);
    sn_str now = sn_buf_view(&text);
    for (int i = 0; i < 2; i++) {
        sn_buf_init(&packed[i], 64 << 20);
        if (i < codings.n) {
            pack(kinds[i], now, &packed[i]);
            now = sn_buf_view(&packed[i]);
        }
    }
    sn_decode_init(&d, scratch, NULL);
    for (int run = 0; run < RUNS; run++) {
        double start = bench_cpu_seconds();

        for (size_t i = 0; i < times; i++)
            if (ours(&d, &codings, now) != size)
                exit(1);
        runs[run] = (double)size * (double)times / 1e6 / (bench_cpu_seconds() - start);
    }
    report(name, median(runs), 0);
    sn_decode_fini(&d);
    sn_buf_fini(&text);
    for (int i = 0; i < 2; i++)
        sn_buf_fini(&packed[i]);
}

int
main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0); /* a figure is seen when it is there */
    as_json = argc > 1 && strcmp(argv[1], "-j") == 0;
    whole = malloc(8 << 20);
    if (!whole)
        return 1;
    bench_gzip(2 << 10);
    bench_gzip(10 << 10);
    bench_gzip(100 << 10);
    bench_gzip(4 << 20);
    bench_other("deflate 100 KiB", (sn_codings){.n = 1, .list = {SN_CODING_DEFLATE}},
                (sn_codec_kind[]){SN_CODEC_ZLIB});
    bench_other("br 100 KiB", (sn_codings){.n = 1, .list = {SN_CODING_BR}},
                (sn_codec_kind[]){SN_CODEC_BR});
    bench_other("zstd 100 KiB", (sn_codings){.n = 1, .list = {SN_CODING_ZSTD}},
                (sn_codec_kind[]){SN_CODEC_ZSTD});
    bench_other("gzip in br 100 KiB",
                (sn_codings){.n = 2, .list = {SN_CODING_GZIP, SN_CODING_BR}},
                (sn_codec_kind[]){SN_CODEC_GZIP, SN_CODEC_BR});
    free(whole);
    if (!as_json)
        printf("%d bar%s missed\n", missed, missed == 1 ? "" : "s");
    return 0;
}
