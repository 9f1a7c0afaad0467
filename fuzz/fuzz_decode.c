/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One byte of which codings, one of limits and of what the rest is, two of a seed for
 * the pieces, then the body, or a text to be packed and read again. The same bytes in
 * one piece, in two random splits and byte by byte give the same body and the same
 * end; no more than the limits comes out; work is linear; what is whole is not whole
 * one byte before; everything reserved is given back.
 */
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/rng.h"
#include "net/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

/* How the bytes are cut. */
enum { WHOLE, SINGLE, SMALL, LARGE, CUTS };

typedef struct reading {
    seine_err err;
    uint32_t notes;
    sn_buf out;
} reading;

static char scratch[SN_DECODE_STEP];

static size_t
next_piece(sn_rng *rng, int cut, size_t left)
{
    size_t n = cut == WHOLE    ? left
               : cut == SINGLE ? 1
                               : sn_rng_below(rng, cut == SMALL ? 9 : 700);

    return n < left ? n : left;
}

/* From memory that ends where the piece does; returns the number of steps. */
static size_t
feed(sn_decode *d, reading *r, const uint8_t *bytes, size_t n)
{
    char *copy = malloc(n ? n : 1);
    sn_str in = {copy, n}, piece = {0};
    sn_decode_event event;
    size_t steps = 0;

    REQUIRE(copy);
    if (n > 0)
        memcpy(copy, bytes, n);
    while ((event = sn_decode_next(d, &in, &piece)) == SN_DECODE_BODY) {
        REQUIRE((piece.len > 0 || d->n == 2) &&
                (d->n == 0 || piece.len <= SN_DECODE_STEP));
        sn_buf_str(&r->out, piece);
        steps++;
    }
    REQUIRE(event == SN_DECODE_FAIL || in.len == 0);
    free(copy);
    return steps + 1;
}

static void
read_all(sn_decode *d, const sn_codings *codings, const sn_decode_limits *limits, int cut,
         uint64_t seed, sn_str in, reading *r)
{
    sn_rng rng = sn_rng_seed(seed);
    size_t steps = 0, pieces = 0;

    sn_buf_init(&r->out, 64 << 20);
    REQUIRE(sn_decode_begin(d, codings, limits) == SEINE_OK);
    for (size_t at = 0; at < in.len && d->err == SEINE_OK; pieces++) {
        size_t n = next_piece(&rng, cut, in.len - at);

        steps += feed(d, r, (const uint8_t *)in.ptr + at, n);
        at += n;
    }
    r->err = sn_decode_end(d);
    r->notes = d->notes;
    REQUIRE(sn_buf_done(&r->out) == SEINE_OK && r->out.len <= limits->max_body);
    size_t hidden = d->n == 2 ? (size_t)d->stages[0].out / SN_DECODE_STEP : 0;
    REQUIRE(steps <= 3 * pieces + 2 + r->out.len / 1024 + hidden);
    REQUIRE(r->err == SEINE_OK || r->err == SEINE_E_BAD_ENCODING ||
            r->err == SEINE_E_BODY_TRUNCATED || r->err == SEINE_E_BODY_TOO_LARGE);
}

/* Before an error one may have said more than the other, but nothing else. What is
 * wrong in two ways, damaged and too large, or in both its codings, may be refused for
 * either. */
static bool
is_same(const reading *a, const reading *b, bool is_single)
{
    sn_str x = sn_buf_view(&a->out), y = sn_buf_view(&b->out);

    if (a->err == SEINE_OK || b->err == SEINE_OK)
        return a->err == b->err && a->notes == b->notes && sn_str_eq(x, y);
    if (a->err != b->err && is_single && a->err != SEINE_E_BODY_TOO_LARGE &&
        b->err != SEINE_E_BODY_TOO_LARGE)
        return false;
    return sn_str_starts(x, y) || sn_str_starts(y, x);
}

static void
pack(sn_codec *c, sn_codec_kind kind, sn_str in, sn_buf *out)
{
    sn_codec_event event;

    REQUIRE(sn_codec_begin(c, kind) == SEINE_OK);
    do {
        sn_codec_room room = {sn_buf_reserve(out, 512), 512};

        REQUIRE(room.ptr);
        event = sn_codec_step(c, &in, &room, true);
        sn_buf_commit(out, 512 - room.len);
    } while (event == SN_CODEC_ROOM);
    REQUIRE(event == SN_CODEC_END && in.len == 0);
}

/* Text packed as the codings say comes back. */
static void
check_round(sn_decode *d, const sn_codings *codings, bool raw, uint64_t seed, sn_str text)
{
    static const sn_decode_limits open = {64 << 20, 1, UINT64_MAX};
    const sn_codec_kind kinds[] = {SN_CODEC_GZIP, raw ? SN_CODEC_DEFLATE : SN_CODEC_ZLIB,
                                   SN_CODEC_BR, SN_CODEC_ZSTD};
    sn_buf packed[2];
    sn_str now = text;
    reading r;
    sn_codec c;

    sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_ENCODE, .level = 1});
    for (int i = 0; i < 2; i++)
        sn_buf_init(&packed[i], 64 << 20);
    for (int i = 0; i < codings->n; i++) {
        pack(&c, kinds[codings->list[i]], now, &packed[i]);
        now = sn_buf_view(&packed[i]);
    }
    for (int cut = WHOLE; cut < CUTS; cut++) {
        read_all(d, codings, &open, cut, seed, now, &r);
        REQUIRE(r.err == SEINE_OK && r.notes == 0);
        REQUIRE(sn_str_eq(sn_buf_view(&r.out), text));
        sn_buf_fini(&r.out);
    }
    for (int i = 0; i < 2; i++)
        sn_buf_fini(&packed[i]);
    sn_codec_fini(&c);
}

/* Any bytes: the same in all pieces. How far a library reads ahead of what it says
 * depends on the pieces, and with it the moment at which a ratio is too high. */
static void
check_any(sn_decode *d, const sn_codings *codings, const sn_decode_limits *limits,
          uint64_t seed, sn_str in)
{
    reading whole, r;

    read_all(d, codings, limits, WHOLE, seed, in, &whole);
    for (int cut = SINGLE; cut < CUTS; cut++) {
        read_all(d, codings, limits, cut, seed, in, &r);
        REQUIRE(
            is_same(&whole, &r, codings->n < 2) ||
            (limits->ratio_from < limits->max_body &&
             (whole.err == SEINE_E_BODY_TOO_LARGE || r.err == SEINE_E_BODY_TOO_LARGE)));
        sn_buf_fini(&r.out);
    }
    if (whole.err == SEINE_OK && whole.notes == 0 && codings->n > 0 && in.len > 1) {
        in.len--;
        read_all(d, codings, limits, LARGE, seed, in, &r);
        REQUIRE(r.err != SEINE_OK);
        sn_buf_fini(&r.out);
    }
    sn_buf_fini(&whole.out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const sn_decode_limits limits[] = {{16 << 20, 200, 1 << 20},
                                              {1000, 200, UINT64_MAX},
                                              {100000, 5, 3000},
                                              {1 << 20, 1, UINT64_MAX}};
    static const char *const fields[] = {
        "gzip",        "deflate",       "br",       "zstd",       "gzip, gzip",
        "br, br",      "deflate, gzip", "gzip, br", "zstd, gzip", "zstd, zstd",
        "br, deflate", "identity",
    };
    seine_want limit = {{64 << 20, 0, 0, 0}}, used;
    seine_budget *budget = NULL;
    sn_codings codings = {0};
    seine_held held;
    sn_decode d;

    if (n < 4)
        return 0;
    uint64_t seed = (uint64_t)bytes[2] << 8 | bytes[3];
    sn_str rest = {(const char *)bytes + 4, n - 4};
    REQUIRE(
        sn_codings_add(&codings,
                       sn_str_of(fields[bytes[0] % (sizeof fields / sizeof *fields)])) ==
        SEINE_OK);
    REQUIRE(seine_budget_new(&limit, &budget) == SEINE_OK);
    REQUIRE(seine_budget_try(budget, &(seine_want){{0}}, &held) == SEINE_OK);
    sn_decode_init(&d, scratch, &held);
    if ((bytes[1] & 0xe0) == 0xe0)
        check_round(&d, &codings, bytes[1] & 1, seed, rest);
    else
        check_any(&d, &codings, &limits[bytes[1] & 3], seed, rest);
    sn_decode_fini(&d);
    seine_budget_used_get(budget, &used);
    REQUIRE(used.n[SEINE_RES_MEMORY] == 0);
    seine_budget_release(&held);
    seine_budget_free(budget);
    return 0;
}
