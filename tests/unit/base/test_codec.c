/* SPDX-License-Identifier: Apache-2.0 */
#include "base/codec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/rng.h"
#include "check.h"
#include "failing.h"

static const char *const names[] = {"gzip", "zlib", "deflate", "br", "zstd"};

/* Runs a stream in pieces of `step` bytes and rooms of `room`; leaves the bytes behind
 * its end in `in`. */
static seine_err
run(sn_codec *c, sn_codec_kind kind, sn_str *in, size_t step, size_t room, sn_buf *out)
{
    bool packs = c->opts.way == SN_CODEC_ENCODE;
    seine_err e = sn_codec_begin(c, kind);

    while (e == SEINE_OK) {
        sn_str piece = sn_str_slice(*in, 0, step);
        bool is_last = piece.len == in->len;
        char *to = sn_buf_reserve(out, room);
        CHECK(to != NULL);
        if (!to)
            return SEINE_E_NOMEM;
        sn_codec_room r = {to, room};
        size_t had = piece.len;

        sn_codec_event event = sn_codec_step(c, &piece, &r, packs && is_last);
        CHECK(piece.len <= had && r.len <= room && r.ptr + r.len == to + room);
        CHECK(event != SN_CODEC_MORE || piece.len == 0);
        sn_buf_commit(out, room - r.len);
        *in = (sn_str){in->ptr + (had - piece.len), in->len - (had - piece.len)};
        if (event == SN_CODEC_END)
            return SEINE_OK;
        if (event == SN_CODEC_FAIL)
            return c->err;
        if (event == SN_CODEC_MORE && in->len == 0 && !packs)
            return SEINE_E_BODY_TRUNCATED; /* stands for "not ended" here */
    }
    return e;
}

static void
pack(sn_codec_kind kind, int level, sn_str in, sn_buf *out)
{
    sn_codec c;

    sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_ENCODE, .level = level});
    CHECK_EQ(run(&c, kind, &in, SIZE_MAX, 4096, out), SEINE_OK);
    CHECK_EQ(in.len, 0);
    sn_codec_fini(&c);
}

static seine_err
unpack(sn_codec_kind kind, sn_str in, sn_buf *out)
{
    sn_codec c;

    sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_DECODE});
    seine_err e = run(&c, kind, &in, SIZE_MAX, 4096, out);
    sn_codec_fini(&c);
    return e;
}

/* ---- streams written down from their RFCs, without a compressor ---- */

static void
little(sn_buf *b, uint64_t n, int bytes)
{
    for (int i = 0; i < bytes; i++)
        sn_buf_char(b, (char)(n >> (8 * i)));
}

/* RFC 1951, 3.2.4: stored blocks. */
static void
stored(sn_buf *b, sn_str text)
{
    size_t n = text.len;

    little(b, 1, 1); /* the last block, not compressed */
    little(b, n, 2);
    little(b, ~n, 2);
    sn_buf_str(b, text);
}

static uint32_t
adler(sn_str text)
{
    uint32_t low = 1, high = 0;

    for (size_t i = 0; i < text.len; i++) {
        low = (low + (unsigned char)text.ptr[i]) % 65521;
        high = (high + low) % 65521;
    }
    return high << 16 | low;
}

static void
by_hand(sn_codec_kind kind, sn_str text, sn_buf *b)
{
    switch (kind) {
    case SN_CODEC_GZIP: /* RFC 1952, 2.3 */
        sn_buf_add(b, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
        stored(b, text);
        little(b, sn_crc32(0, text.ptr, text.len), 4);
        little(b, text.len, 4);
        break;
    case SN_CODEC_ZLIB: /* RFC 1950, 2.2; the checksum is big endian */
        sn_buf_add(b, "\x78\x01", 2);
        stored(b, text);
        little(b, __builtin_bswap32(adler(text)), 4);
        break;
    case SN_CODEC_DEFLATE:
        stored(b, text);
        break;
    case SN_CODEC_BR: /* RFC 7932, 9: WBITS 0, ISLAST 0, MNIBBLES 00, MLEN - 1, 1 */
        little(b, (text.len - 1) << 4 | 1u << 20, 3);
        sn_buf_str(b, text);
        little(b, 3, 1); /* ISLAST, ISLASTEMPTY */
        break;
    default: /* RFC 8878, 3.1.1: one segment, its size in a byte, a raw last block */
        sn_buf_add(b, "\x28\xb5\x2f\xfd\x20", 5);
        little(b, text.len, 1);
        little(b, text.len << 3 | 1, 3);
        sn_buf_str(b, text);
        break;
    }
}

TEST(codec_reads_streams_that_were_written_by_hand)
{
    sn_str text = SN_STR("neither packed nor by a library of theirs");

    for (int kind = 0; kind < SN_CODEC_KINDS && check_row((size_t)kind); kind++) {
        sn_buf b, out;

        sn_buf_init(&b, 1 << 20);
        sn_buf_init(&out, 1 << 20);
        by_hand((sn_codec_kind)kind, text, &b);
        CHECK_EQ(unpack((sn_codec_kind)kind, sn_buf_view(&b), &out), SEINE_OK);
        CHECK(sn_str_eq(sn_buf_view(&out), text));
        sn_buf_fini(&b);
        sn_buf_fini(&out);
    }
}

/* ---- both ways ---- */

/* Half text, half noise, with repetitions far back. Not inlined: gcc 12 then takes the
 * long case for a short array. */
static __attribute__((noinline)) void
fill(char *bytes, size_t n, uint64_t seed)
{
    sn_rng r = sn_rng_seed(seed);

    for (size_t i = 0; i < n; i++)
        bytes[i] =
            i % 1000 < 500 ? "the quick brown fox "[i % 20] : (char)sn_rng_next(&r);
    if (n > 60000)
        memcpy(bytes + 40000, bytes, 20000);
}

TEST(codec_gives_back_what_it_packed_in_pieces_of_any_size)
{
    static const size_t steps[] = {1, 2, 3, 7, 64, 1000, 65536, SIZE_MAX};
    static char bytes[70000];

    fill(bytes, sizeof bytes, check_seed());
    for (int kind = 0; kind < SN_CODEC_KINDS && check_row((size_t)kind); kind++) {
        sn_buf packed, again, out;
        sn_codec c, d;

        sn_buf_init(&packed, 1 << 20);
        sn_buf_init(&again, 1 << 20);
        sn_buf_init(&out, 1 << 20);
        sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_ENCODE});
        sn_codec_init(&d, &(sn_codec_opts){.way = SN_CODEC_DECODE});
        pack((sn_codec_kind)kind, 0, (sn_str){bytes, sizeof bytes}, &packed);
        CHECK(packed.len < sizeof bytes * 3 / 4);
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            size_t room = steps[sizeof steps / sizeof *steps - 1 - i];
            sn_str in = {bytes, sizeof bytes};

            sn_buf_reset(&again);
            sn_buf_reset(&out);
            room = room < 65536 ? room : 65536;
            CHECK_EQ(run(&c, (sn_codec_kind)kind, &in, steps[i], room, &again), SEINE_OK);
            in = sn_buf_view(&again);
            CHECK_EQ(run(&d, (sn_codec_kind)kind, &in, steps[i], room, &out), SEINE_OK);
            CHECK_EQ(in.len, 0);
            CHECK(sn_str_eq(sn_buf_view(&out), (sn_str){bytes, sizeof bytes}));
        }
        sn_codec_fini(&c);
        sn_codec_fini(&d);
        sn_buf_fini(&packed);
        sn_buf_fini(&again);
        sn_buf_fini(&out);
    }
}

TEST(codec_packs_smaller_at_a_higher_level_and_nothing_at_all_too)
{
    static char bytes[70000];

    fill(bytes, sizeof bytes, 7);
    for (int kind = 0; kind < SN_CODEC_KINDS && check_row((size_t)kind); kind++) {
        sn_str none = {0}, text = {bytes, sizeof bytes};
        size_t sizes[2];

        for (int i = 0; i < 2; i++) {
            sn_buf packed, out;

            sn_buf_init(&packed, 1 << 20);
            sn_buf_init(&out, 1 << 20);
            pack((sn_codec_kind)kind, i ? 9 : 1, text, &packed);
            sizes[i] = packed.len;
            CHECK_EQ(unpack((sn_codec_kind)kind, sn_buf_view(&packed), &out), SEINE_OK);
            CHECK(sn_str_eq(sn_buf_view(&out), text));
            sn_buf_reset(&packed);
            sn_buf_reset(&out);
            pack((sn_codec_kind)kind, i ? 9 : 1, none, &packed);
            CHECK(packed.len > 0);
            CHECK_EQ(unpack((sn_codec_kind)kind, sn_buf_view(&packed), &out), SEINE_OK);
            CHECK_EQ(out.len, 0);
            sn_buf_fini(&packed);
            sn_buf_fini(&out);
        }
        CHECK(sizes[1] < sizes[0]);
    }
}

TEST(codec_stops_behind_the_end_and_stays_there)
{
    for (int kind = 0; kind < SN_CODEC_KINDS && check_row((size_t)kind); kind++) {
        sn_buf b, out;
        sn_codec c;
        char byte;

        sn_buf_init(&b, 1 << 20);
        sn_buf_init(&out, 1 << 20);
        by_hand((sn_codec_kind)kind, SN_STR("first"), &b);
        sn_buf_str(&b, SN_STR("behind"));
        sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_DECODE});
        sn_str in = sn_buf_view(&b);
        CHECK_EQ(run(&c, (sn_codec_kind)kind, &in, SIZE_MAX, 100, &out), SEINE_OK);
        CHECK(sn_str_eq(in, SN_STR("behind")));
        CHECK_EQ(sn_codec_step(&c, &in, &(sn_codec_room){&byte, 1}, false), SN_CODEC_END);
        CHECK_EQ(in.len, 6);
        CHECK_EQ(sn_codec_begin(&c, (sn_codec_kind)kind), SEINE_OK);
        CHECK_EQ(sn_codec_step(&c, &in, &(sn_codec_room){&byte, 0}, false),
                 SN_CODEC_ROOM);
        CHECK_EQ(in.len, 6);
        sn_codec_fini(&c);
        sn_buf_fini(&b);
        sn_buf_fini(&out);
    }
}

TEST(codec_refuses_no_such_kind_or_level_and_steps_before_a_beginning)
{
    sn_str in = SN_STR("x");
    sn_codec c = {0};
    char byte;

    sn_codec_fini(&c); /* all zero */
    sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_DECODE});
    CHECK_EQ(sn_codec_step(&c, &in, &(sn_codec_room){&byte, 1}, false), SN_CODEC_FAIL);
    CHECK_EQ(c.err, SEINE_E_INVAL);
    CHECK_EQ(sn_codec_begin(&c, SN_CODEC_KINDS), SEINE_E_INVAL);
    CHECK_EQ(sn_codec_step(&c, &in, &(sn_codec_room){&byte, 1}, false), SN_CODEC_FAIL);
    sn_codec_fini(&c);
    sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_ENCODE, .level = 10});
    CHECK_EQ(sn_codec_begin(&c, SN_CODEC_GZIP), SEINE_E_INVAL);
    sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_ENCODE, .level = -1});
    CHECK_EQ(sn_codec_begin(&c, SN_CODEC_GZIP), SEINE_E_INVAL);
}

/* ---- what is refused ---- */

TEST(codec_refuses_what_is_damaged_or_was_not_agreed)
{
#define HELLO "\x28\0\0hello" /* a raw block of zstd, not the last */
#define LAST  "\x29\0\0hello"
    const struct {
        sn_codec_kind kind;
        sn_str bytes;
        seine_err want;
    } rows[] = {
        {SN_CODEC_GZIP, SN_STR("<html>"), SEINE_E_BAD_ENCODING},
        {SN_CODEC_ZLIB, SN_STR("<html>"), SEINE_E_BAD_ENCODING},
        {SN_CODEC_DEFLATE, SN_STR("\x07"), SEINE_E_BAD_ENCODING}, /* block type 3 */
        {SN_CODEC_BR, SN_STR("\x86"),
         SEINE_E_BAD_ENCODING}, /* padding that is not zero */
        {SN_CODEC_ZSTD, SN_STR("<html>"), SEINE_E_BAD_ENCODING},
        /* method 7; a reserved flag; an unknown dictionary */
        {SN_CODEC_GZIP, SN_STR("\x1f\x8b\x07\0\0\0\0\0\0\xff"), SEINE_E_BAD_ENCODING},
        {SN_CODEC_GZIP, SN_STR("\x1f\x8b\x08\x80\0\0\0\0\0\xff"), SEINE_E_BAD_ENCODING},
        {SN_CODEC_ZLIB, SN_STR("\x78\x20\0\0\0\1"), SEINE_E_BAD_ENCODING},
        {SN_CODEC_ZSTD, SN_STR("\x28\xb5\x2f\xfd\x21\x07\x05" LAST),
         SEINE_E_BAD_ENCODING},
        /* windows: 8 MiB, an eighth more, 16 MiB, and brotli's large ones */
        {SN_CODEC_ZSTD, SN_STR("\x28\xb5\x2f\xfd\0\x68" LAST), SEINE_OK},
        {SN_CODEC_ZSTD, SN_STR("\x28\xb5\x2f\xfd\0\x69" LAST), SEINE_E_BAD_ENCODING},
        {SN_CODEC_ZSTD, SN_STR("\x28\xb5\x2f\xfd\0\x70" LAST), SEINE_E_BAD_ENCODING},
        {SN_CODEC_BR, SN_STR("\x11\x18\x03"), SEINE_E_BAD_ENCODING},
        /* the formats of 0.1 and 0.7, the latter a whole frame of "hello" */
        {SN_CODEC_ZSTD, SN_STR("\xfd\x2f\xb5\x1e" LAST), SEINE_E_BAD_ENCODING},
        {SN_CODEC_ZSTD, SN_STR("\x27\xb5\x2f\xfd\x20\x05\x40\0\x05hello\xc0\0\0"),
         SEINE_E_BAD_ENCODING},
        /* says six bytes and has five; the reserved bit */
        {SN_CODEC_ZSTD, SN_STR("\x28\xb5\x2f\xfd\x20\x06" LAST), SEINE_E_BAD_ENCODING},
        {SN_CODEC_ZSTD, SN_STR("\x28\xb5\x2f\xfd\x28\x05" LAST), SEINE_E_BAD_ENCODING},
        /* no last block; only the magic number; a skippable frame */
        {SN_CODEC_ZSTD, SN_STR("\x28\xb5\x2f\xfd\x20\x05" HELLO), SEINE_E_BODY_TRUNCATED},
        {SN_CODEC_ZSTD, SN_STR("\x28\xb5\x2f\xfd"), SEINE_E_BODY_TRUNCATED},
        {SN_CODEC_ZSTD, SN_STR("\x5a\x2a\x4d\x18\x02\0\0\0xy"), SEINE_OK},
    };

    EACH_ROW(i, rows) {
        static const size_t steps[] = {1, 3, SIZE_MAX};

        for (size_t k = 0; k < 3; k++) {
            sn_str in = rows[i].bytes;
            sn_codec c;
            sn_buf out;

            sn_buf_init(&out, 1 << 20);
            sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_DECODE});
            CHECK_EQ(run(&c, rows[i].kind, &in, steps[k], 16, &out), rows[i].want);
            if (rows[i].want == SEINE_E_BAD_ENCODING) { /* and it stays so */
                char byte;

                CHECK_EQ(sn_codec_step(&c, &in, &(sn_codec_room){&byte, 1}, false),
                         SN_CODEC_FAIL);
                CHECK_EQ(c.err, SEINE_E_BAD_ENCODING);
            }
            sn_codec_fini(&c);
            sn_buf_fini(&out);
        }
    }
}

TEST(codec_finds_a_wrong_checksum_or_length)
{
    static const struct {
        sn_codec_kind kind;
        size_t from_end;
    } rows[] = {
        {SN_CODEC_GZIP, 8}, {SN_CODEC_GZIP, 5}, {SN_CODEC_GZIP, 4}, {SN_CODEC_GZIP, 1},
        {SN_CODEC_ZLIB, 4}, {SN_CODEC_ZLIB, 1}, {SN_CODEC_ZSTD, 4}, {SN_CODEC_ZSTD, 1},
    };

    EACH_ROW(i, rows) {
        sn_buf b, out;

        sn_buf_init(&b, 1 << 20);
        sn_buf_init(&out, 1 << 20);
        pack(rows[i].kind, 0, SN_STR("a page"), &b);
        b.ptr[b.len - rows[i].from_end] ^= 1;
        CHECK_EQ(unpack(rows[i].kind, sn_buf_view(&b), &out), SEINE_E_BAD_ENCODING);
        sn_buf_fini(&b);
        sn_buf_fini(&out);
    }
}

TEST(codec_knows_the_first_bytes_of_each_kind)
{
    const struct {
        sn_codec_kind kind;
        sn_str first;
        sn_codec_match want;
    } rows[] = {
        {SN_CODEC_GZIP, {NULL, 0}, SN_CODEC_MAYBE},
        {SN_CODEC_GZIP, SN_STR("\x1f"), SN_CODEC_MAYBE},
        {SN_CODEC_GZIP, SN_STR("\x1f\x8b"), SN_CODEC_YES},
        {SN_CODEC_GZIP, SN_STR("\x1f\x8c"), SN_CODEC_NO},
        {SN_CODEC_GZIP, SN_STR("\x1e"), SN_CODEC_NO},
        {SN_CODEC_ZLIB, {NULL, 0}, SN_CODEC_MAYBE},
        {SN_CODEC_ZLIB, SN_STR("\x78"), SN_CODEC_MAYBE},
        {SN_CODEC_ZLIB, SN_STR("\x78\x9c"), SN_CODEC_YES}, /* 0x789c = 31 * 996 */
        {SN_CODEC_ZLIB, SN_STR("\x78\x9d"), SN_CODEC_NO},
        {SN_CODEC_ZLIB, SN_STR("\x08\x1d"), SN_CODEC_YES}, /* a window of 256 bytes */
        {SN_CODEC_ZLIB, SN_STR("\x88"), SN_CODEC_NO},      /* of 64 KiB */
        {SN_CODEC_ZLIB, SN_STR("\x79"), SN_CODEC_NO},
        {SN_CODEC_DEFLATE, SN_STR("?"), SN_CODEC_YES},
        {SN_CODEC_BR, SN_STR("?"), SN_CODEC_YES},
        {SN_CODEC_ZSTD, {NULL, 0}, SN_CODEC_MAYBE},
        {SN_CODEC_ZSTD, SN_STR("\x28\xb5\x2f"), SN_CODEC_MAYBE},
        {SN_CODEC_ZSTD, SN_STR("\x28\xb5\x2f\xfd"), SN_CODEC_YES},
        {SN_CODEC_ZSTD, SN_STR("\x28\xb5\x2f\xfc"), SN_CODEC_NO},
        {SN_CODEC_ZSTD, SN_STR("\x50"), SN_CODEC_MAYBE},
        {SN_CODEC_ZSTD, SN_STR("\x5f\x2a\x4d\x18"), SN_CODEC_YES},
        {SN_CODEC_ZSTD, SN_STR("\x60"), SN_CODEC_NO},
        {SN_CODEC_ZSTD, SN_STR("\x4f\x2a"), SN_CODEC_NO},
        {SN_CODEC_ZSTD, SN_STR("\x50\x2a\x4d\x19"), SN_CODEC_NO},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(sn_codec_match_of(rows[i].kind, rows[i].first), rows[i].want);
}

/* ---- memory ---- */

typedef struct purse {
    size_t out, most, calls;
    size_t refuse_at; /* the n-th call and all behind it; 0: none */
} purse;

static seine_err
take(size_t n, void *arg)
{
    purse *p = arg;

    p->calls++;
    if (p->refuse_at > 0 && p->calls >= p->refuse_at)
        return SEINE_E_BUDGET;
    p->out += n;
    p->most = p->out > p->most ? p->out : p->most;
    return SEINE_OK;
}

static void
give(size_t n, void *arg)
{
    purse *p = arg;

    CHECK(p->out >= n);
    p->out -= n;
}

TEST(codec_asks_the_gate_for_every_byte_and_gives_all_back)
{
    static char bytes[70000];

    fill(bytes, sizeof bytes, 3);
    for (int kind = 0; kind < SN_CODEC_KINDS && check_row((size_t)kind); kind++) {
        sn_buf packed, out;

        sn_buf_init(&packed, 1 << 20);
        pack((sn_codec_kind)kind, 0, (sn_str){bytes, sizeof bytes}, &packed);
        for (int way = 0; way < 2; way++) {
            purse p = {0};
            sn_codec_gate gate = {take, give, &p};
            sn_codec c;

            for (size_t refuse = 0; refuse == 0 || p.calls >= p.refuse_at; refuse++) {
                sn_str in = way ? (sn_str){bytes, sizeof bytes} : sn_buf_view(&packed);

                p = (purse){.refuse_at = refuse};
                sn_buf_init(&out, 1 << 20);
                count_begin();
                sn_codec_init(&c,
                              &(sn_codec_opts){.way = (sn_codec_way)way, .gate = &gate});
                seine_err e = run(&c, (sn_codec_kind)kind, &in, 5000, 5000, &out);
                bool was_refused = refuse > 0 && p.calls >= refuse;
                CHECK_EQ(e, was_refused ? SEINE_E_BUDGET : SEINE_OK);
                CHECK_EQ(c.bytes, p.out);
                CHECK(p.out <= (size_t)count_bytes());
                sn_codec_fini(&c);
                CHECK_EQ(p.out, 0);
                sn_buf_fini(&out);
                count_end();
            }
        }
        sn_buf_fini(&packed);
    }
}

TEST(codec_survives_every_allocation_that_fails)
{
    static char bytes[70000];

    fill(bytes, sizeof bytes, 4);
    for (int kind = 0; kind < SN_CODEC_KINDS && check_row((size_t)kind); kind++) {
        static char store[200000];
        sn_buf packed;

        sn_buf_init(&packed, 1 << 20);
        pack((sn_codec_kind)kind, 0, (sn_str){bytes, sizeof bytes}, &packed);
        for (int way = 0; way < 2; way++)
            FAIL_EACH(n)
            {
                sn_str in = way ? (sn_str){bytes, sizeof bytes} : sn_buf_view(&packed);
                sn_codec_room room = {store, sizeof store};
                sn_codec_event event = SN_CODEC_FAIL;
                purse p = {0};
                sn_codec_gate gate = {take, give, &p};
                sn_codec c;

                sn_codec_init(&c,
                              &(sn_codec_opts){.way = (sn_codec_way)way, .gate = &gate});
                if (sn_codec_begin(&c, (sn_codec_kind)kind) == SEINE_OK)
                    event = sn_codec_step(&c, &in, &room, true);
                CHECK(event == SN_CODEC_END ||
                      (event == SN_CODEC_FAIL && c.err == SEINE_E_NOMEM));
                CHECK_EQ(p.out, c.bytes);
                sn_codec_fini(&c);
                CHECK_EQ(p.out, 0);
            }
        sn_buf_fini(&packed);
    }
}

/* Pages of one kind, one after another, with another kind in between. */
TEST(codec_reads_the_next_stream_without_allocating)
{
    static char bytes[30000], out[30000];

    fill(bytes, sizeof bytes, 5);
    for (int kind = 0; kind < SN_CODEC_KINDS && check_row((size_t)kind); kind++) {
        sn_str text = {bytes, sizeof bytes};
        sn_buf packed;
        sn_codec c;
        long calls = 0;

        sn_buf_init(&packed, 1 << 20);
        pack((sn_codec_kind)kind, 0, text, &packed);
        count_begin();
        sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_DECODE});
        for (int i = 0; i < 10; i++) {
            sn_codec_event event = SN_CODEC_MORE;
            sn_codec_room room = {out, sizeof out};

            CHECK_EQ(sn_codec_begin(&c, (sn_codec_kind)kind), SEINE_OK);
            for (size_t at = 0; at < packed.len && event == SN_CODEC_MORE; at += 100) {
                sn_str in = sn_str_slice(sn_buf_view(&packed), at, at + 100);

                event = sn_codec_step(&c, &in, &room, false);
            }
            CHECK_EQ(event == SN_CODEC_ROOM ? SN_CODEC_END : event, SN_CODEC_END);
            CHECK(memcmp(out, bytes, sizeof out) == 0);
            if (i == 0)
                calls = count_calls();
        }
        if (count_calls() != calls)
            printf("     %s: %ld calls, then %ld\n", names[kind], calls, count_calls());
        CHECK_EQ(count_calls(), calls);
        sn_codec_fini(&c);
        count_end();
        sn_buf_fini(&packed);
    }
}

TEST(codec_packs_the_next_member_without_allocating)
{
    static const sn_codec_kind kinds[] = {SN_CODEC_GZIP, SN_CODEC_ZSTD};
    static char bytes[30000], out[60000];

    fill(bytes, sizeof bytes, 6);
    EACH_ROW(k, kinds) {
        sn_codec c;
        long calls = 0;

        count_begin();
        sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_ENCODE});
        for (int i = 0; i < 5; i++) {
            sn_codec_room room = {out, sizeof out};
            sn_str in = {bytes, sizeof bytes};

            CHECK_EQ(sn_codec_begin(&c, kinds[k]), SEINE_OK);
            CHECK_EQ(sn_codec_step(&c, &in, &room, true), SN_CODEC_END);
            if (i == 0)
                calls = count_calls();
        }
        CHECK_EQ(count_calls(), calls);
        sn_codec_fini(&c);
        count_end();
    }
}

TEST(codec_serves_streams_of_all_kinds_in_turn)
{
    sn_rng r = sn_rng_seed(check_seed());
    sn_codec c[2];
    sn_buf packed, out;
    char bytes[300];

    sn_buf_init(&packed, 1 << 20);
    sn_buf_init(&out, 1 << 20);
    for (int way = 0; way < 2; way++)
        sn_codec_init(&c[way], &(sn_codec_opts){.way = (sn_codec_way)way});
    for (int i = 0; i < 200; i++) {
        sn_codec_kind kind = (sn_codec_kind)sn_rng_below(&r, SN_CODEC_KINDS);
        size_t n = sn_rng_below(&r, sizeof bytes);
        sn_str in = {bytes, n};

        fill(bytes, n, sn_rng_next(&r));
        sn_buf_reset(&packed);
        sn_buf_reset(&out);
        CHECK_EQ(run(&c[SN_CODEC_ENCODE], kind, &in, SIZE_MAX, 100, &packed), SEINE_OK);
        in = sn_buf_view(&packed);
        if (sn_rng_below(&r, 4) == 0) { /* and leaves one in the middle */
            sn_str part = sn_str_slice(in, 0, in.len / 2);

            CHECK(run(&c[SN_CODEC_DECODE], kind, &part, SIZE_MAX, 100, &out) != SEINE_OK);
            sn_buf_reset(&out);
        }
        CHECK_EQ(run(&c[SN_CODEC_DECODE], kind, &in, SIZE_MAX, 100, &out), SEINE_OK);
        CHECK(sn_str_eq(sn_buf_view(&out), (sn_str){bytes, n}));
    }
    for (int way = 0; way < 2; way++)
        sn_codec_fini(&c[way]);
    sn_buf_fini(&packed);
    sn_buf_fini(&out);
}

/* 32 MiB of zeros need no more than the window and the tables. */
TEST(codec_decodes_with_bounded_memory)
{
    static const struct {
        sn_codec_kind kind;
        size_t most;
    } rows[] = {
        {SN_CODEC_GZIP, 41 << 10},
        {SN_CODEC_DEFLATE, 41 << 10},
        {SN_CODEC_BR, 17 << 20},
        {SN_CODEC_ZSTD, 9 << 20},
    };
    static char zeros[1 << 20], out[1 << 16];

    EACH_ROW(i, rows) {
        purse p = {0};
        sn_codec_gate gate = {take, give, &p};
        sn_codec c, d;
        uint64_t made = 0;
        sn_codec_event event;

        sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_ENCODE, .level = 1});
        sn_codec_init(&d, &(sn_codec_opts){.way = SN_CODEC_DECODE, .gate = &gate});
        CHECK_EQ(sn_codec_begin(&c, rows[i].kind), SEINE_OK);
        CHECK_EQ(sn_codec_begin(&d, rows[i].kind), SEINE_OK);
        for (int mib = 0; mib < 32; mib++) {
            sn_str in = {zeros, sizeof zeros};

            do {
                static char wire[4096];
                sn_codec_room room = {wire, sizeof wire};

                event = sn_codec_step(&c, &in, &room, mib == 31);
                sn_str packed = {wire, sizeof wire - room.len};
                sn_codec_event said;
                do {
                    sn_codec_room to = {out, sizeof out};

                    said = sn_codec_step(&d, &packed, &to, false);
                    made += sizeof out - to.len;
                } while (said == SN_CODEC_ROOM);
                CHECK(said != SN_CODEC_FAIL);
            } while (event == SN_CODEC_ROOM || in.len > 0);
        }
        CHECK_EQ(event, SN_CODEC_END);
        CHECK_EQ(made, 32 << 20);
        CHECK(p.most <= rows[i].most);
        sn_codec_fini(&c);
        sn_codec_fini(&d);
    }
}
