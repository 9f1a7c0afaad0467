/* SPDX-License-Identifier: Apache-2.0 */
#include "net/decode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/rng.h"
#include "check.h"
#include "failing.h"

static char scratch[SN_DECODE_STEP];

static sn_codings
codings_of(const char *value)
{
    sn_codings c = {0};

    CHECK_EQ(sn_codings_add(&c, sn_str_of(value)), SEINE_OK);
    return c;
}

/* Packs as `kind`, behind what is in `out` already. */
static void
pack(sn_codec_kind kind, sn_str in, sn_buf *out)
{
    sn_codec_event event = SN_CODEC_FAIL;
    sn_codec c;

    sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_ENCODE});
    CHECK_EQ(sn_codec_begin(&c, kind), SEINE_OK);
    do {
        char *to = sn_buf_reserve(out, 4096);
        CHECK(to != NULL);
        if (!to)
            break;
        sn_codec_room room = {to, 4096};
        event = sn_codec_step(&c, &in, &room, true);
        sn_buf_commit(out, 4096 - room.len);
    } while (event == SN_CODEC_ROOM);
    CHECK_EQ(event, SN_CODEC_END);
    sn_codec_fini(&c);
}

/* The codings of the header, each with how it is made; two for deflate. */
static const struct coded {
    const char *value;
    int n;
    sn_codec_kind kinds[2]; /* in the order in which they are applied */
} all[] = {
    {"gzip", 1, {SN_CODEC_GZIP}},
    {"deflate", 1, {SN_CODEC_ZLIB}},
    {"deflate", 1, {SN_CODEC_DEFLATE}},
    {"br", 1, {SN_CODEC_BR}},
    {"zstd", 1, {SN_CODEC_ZSTD}},
    {"gzip, br", 2, {SN_CODEC_GZIP, SN_CODEC_BR}},
    {"zstd, gzip", 2, {SN_CODEC_ZSTD, SN_CODEC_GZIP}},
    {"deflate, zstd", 2, {SN_CODEC_DEFLATE, SN_CODEC_ZSTD}},
    {"br, deflate", 2, {SN_CODEC_BR, SN_CODEC_ZLIB}},
};

static void
pack_all(const struct coded *how, sn_str in, sn_buf *out)
{
    sn_buf once;

    if (how->n == 1) {
        pack(how->kinds[0], in, out);
        return;
    }
    sn_buf_init(&once, 64 << 20);
    pack(how->kinds[0], in, &once);
    pack(how->kinds[1], sn_buf_view(&once), out);
    sn_buf_fini(&once);
}

static bool
keep(sn_str piece, void *out)
{
    CHECK(piece.len > 0 && piece.len <= SN_DECODE_STEP);
    sn_buf_str(out, piece);
    return true;
}

/* A whole body in pieces of `step`; what came out is in `out`. */
static seine_err
decode(sn_decode *d, const sn_codings *codings, const sn_decode_limits *limits, sn_str in,
       size_t step, sn_buf *out)
{
    seine_err e = sn_decode_begin(d, codings, limits);

    for (size_t at = 0; e == SEINE_OK && at < in.len; at += step) {
        size_t to = step < in.len - at ? at + step : in.len;

        e = sn_decode_feed(d, sn_str_slice(in, at, to), keep, out);
        if (to == in.len)
            break;
    }
    seine_err end = sn_decode_end(d);
    CHECK(e == SEINE_OK || e == end);
    return end;
}

/* The same with a decoder of its own. */
static seine_err
decode_once(const char *value, const sn_decode_limits *limits, sn_str in, size_t step,
            sn_buf *out)
{
    sn_codings codings = codings_of(value);
    sn_decode d;

    sn_decode_init(&d, scratch, NULL);
    sn_buf_reset(out);
    seine_err e = decode(&d, &codings, limits, in, step, out);
    sn_decode_fini(&d);
    return e;
}

/* ---- the field ---- */

TEST(decode_reads_the_field_and_refuses_what_it_does_not_know)
{
    enum {
        G = SN_CODING_GZIP,
        D = SN_CODING_DEFLATE,
        B = SN_CODING_BR,
        Z = SN_CODING_ZSTD,
        ODD
    };
    static const struct {
        const char *value;
        seine_err want;
        int n, first, second;
    } rows[] = {
        {"gzip", SEINE_OK, 1, G, 0},
        {"x-gzip", SEINE_OK, 1, G, 0},
        {"GZip", SEINE_OK, 1, G, 0},
        {"deflate", SEINE_OK, 1, D, 0},
        {"br", SEINE_OK, 1, B, 0},
        {"zstd", SEINE_OK, 1, Z, 0},
        {"", SEINE_OK, 0, 0, 0},
        {" ", SEINE_OK, 0, 0, 0},
        {"identity", SEINE_OK, 0, 0, 0},
        {"Identity, gzip , identity", SEINE_OK, 1, G, 0},
        {"gzip,\tbr", SEINE_OK, 2, G, B}, /* in the order in which they were applied */
        {", ,gzip,", SEINE_OK, 1, G, 0},  /* empty elements */
        {"gzip, gzip", SEINE_OK, 2, G, G},
        {"gzip, br, zstd", SEINE_E_BAD_ENCODING, 0, 0, 0}, /* one too many */
        {"gzip, br, identity", SEINE_OK, 2, G, B},
        {"compress", SEINE_E_BAD_ENCODING, 0, 0, 0},
        {"gzip;q=1", SEINE_E_BAD_ENCODING, 0, 0, 0},
        {"gzip br", SEINE_E_BAD_ENCODING, 0, 0, 0},
        {"gzi", SEINE_E_BAD_ENCODING, 0, 0, 0},
        {"utf-16", SEINE_E_BAD_ENCODING, 0, 0, 0},
        {"none none", SEINE_E_BAD_ENCODING, 0, 0, 0},
        /* no codings, and sent nevertheless */
        {"none", SEINE_OK, 0, ODD, 0},
        {"UTF-8", SEINE_OK, 0, ODD, 0},
        {"utf8", SEINE_OK, 0, ODD, 0},
        {"Binary", SEINE_OK, 0, ODD, 0},
        {"8bit", SEINE_OK, 0, ODD, 0},
        {"7bit", SEINE_OK, 0, ODD, 0},
        {"none, utf-8", SEINE_OK, 0, ODD, 0},
    };

    EACH_ROW(i, rows) {
        sn_codings c = {0};

        CHECK_EQ(sn_codings_add(&c, sn_str_of(rows[i].value)), rows[i].want);
        CHECK_EQ(c.n, rows[i].n); /* untouched on failure */
        CHECK_EQ(c.is_odd, rows[i].first == ODD);
        CHECK(c.n < 1 || c.list[0] == rows[i].first);
        CHECK(c.n < 2 || c.list[1] == rows[i].second);
    }
}

TEST(decode_reads_several_fields_as_one_list)
{
    sn_codings c = {0};

    CHECK_EQ(sn_codings_add(&c, SN_STR("br")), SEINE_OK);
    CHECK_EQ(sn_codings_add(&c, SN_STR("gzip")), SEINE_OK);
    CHECK_EQ(sn_codings_add(&c, SN_STR("gzip")), SEINE_E_BAD_ENCODING);
    CHECK_EQ(sn_codings_add(&c, SN_STR("identity")), SEINE_OK);
    CHECK(c.n == 2 && c.list[0] == SN_CODING_BR && c.list[1] == SN_CODING_GZIP);
}

/* ---- whole bodies ---- */

/* Words, noise and repetition: packs to about a half. */
static void
fill(char *bytes, size_t n, uint64_t seed)
{
    sn_rng r = sn_rng_seed(seed);

    for (size_t i = 0; i < n; i++)
        bytes[i] = i % 40 < 20 ? "<a href=/some/page> "[i % 20] : (char)sn_rng_next(&r);
}

TEST(decode_gives_the_same_body_in_pieces_of_any_size)
{
    static const size_t steps[] = {1, 2, 3, 5, 17, 1000, 16384, SIZE_MAX};
    static char bytes[100000];
    sn_buf packed, out;

    fill(bytes, sizeof bytes, check_seed());
    sn_buf_init(&packed, 1 << 20);
    sn_buf_init(&out, 1 << 20);
    EACH_ROW(i, all) {
        sn_buf_reset(&packed);
        pack_all(&all[i], (sn_str){bytes, sizeof bytes}, &packed);
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            CHECK_EQ(decode_once(all[i].value, &SN_DECODE_LIMITS, sn_buf_view(&packed),
                                 steps[k], &out),
                     SEINE_OK);
            CHECK(sn_str_eq(sn_buf_view(&out), (sn_str){bytes, sizeof bytes}));
        }
    }
    sn_buf_fini(&packed);
    sn_buf_fini(&out);
}

TEST(decode_passes_a_body_without_a_coding_as_it_is)
{
    sn_codings none = {0};
    sn_str body = SN_STR("as it is"), in = body, piece;
    sn_decode_limits limits = SN_DECODE_LIMITS;
    sn_decode d;

    count_begin();
    sn_decode_init(&d, scratch, NULL);
    CHECK_EQ(sn_decode_begin(&d, &none, &limits), SEINE_OK);
    CHECK_EQ(sn_decode_next(&d, &in, &piece), SN_DECODE_BODY);
    CHECK(piece.ptr == body.ptr && piece.len == body.len); /* not copied */
    CHECK_EQ(sn_decode_next(&d, &in, &piece), SN_DECODE_MORE);
    CHECK_EQ(sn_decode_end(&d), SEINE_OK);

    limits.max_body = 7;
    in = body;
    CHECK_EQ(sn_decode_begin(&d, &none, &limits), SEINE_OK);
    CHECK_EQ(sn_decode_next(&d, &in, &piece), SN_DECODE_BODY);
    CHECK_EQ(piece.len, 7);
    CHECK_EQ(sn_decode_next(&d, &in, &piece), SN_DECODE_FAIL);
    CHECK_EQ(d.err, SEINE_E_BODY_TOO_LARGE);
    CHECK_EQ(sn_decode_end(&d), SEINE_E_BODY_TOO_LARGE);
    sn_decode_fini(&d);
    CHECK_EQ(count_calls(), 0);
    count_end();
}

TEST(decode_takes_no_bytes_for_a_whole_body_under_any_coding)
{
    sn_buf out, packed;

    sn_buf_init(&out, 1 << 20);
    sn_buf_init(&packed, 1 << 20);
    EACH_ROW(i, all) {
        CHECK_EQ(decode_once(all[i].value, &SN_DECODE_LIMITS, (sn_str){0}, 1, &out),
                 SEINE_OK);
        /* nothing, packed: a stream that is empty */
        sn_buf_reset(&packed);
        pack_all(&all[i], (sn_str){0}, &packed);
        CHECK_EQ(
            decode_once(all[i].value, &SN_DECODE_LIMITS, sn_buf_view(&packed), 1, &out),
            SEINE_OK);
        CHECK_EQ(out.len, 0);
    }
    /* the inner one never had a byte to say */
    sn_buf_reset(&packed);
    pack(SN_CODEC_GZIP, (sn_str){0}, &packed);
    CHECK_EQ(decode_once("br, gzip", &SN_DECODE_LIMITS, sn_buf_view(&packed), 1, &out),
             SEINE_OK);
    sn_buf_fini(&packed);
    sn_buf_fini(&out);
}

/* RFC 1951 by hand: a stored block. Its first byte cannot be zlib's, but a block of
 * an odd writer that leaves the padding set can begin like it: the second byte tells. */
TEST(decode_reads_deflate_with_the_head_of_zlib_or_without)
{
    const struct {
        sn_str body;
        seine_err want;
        const char *text;
    } rows[] = {
        {SN_STR("\x01\x02\0\xfd\xffhi"), SEINE_OK, "hi"},
        {SN_STR("\x78\x01\x01\x02\0\xfd\xffhi\x01\x3b\0\xd2"), SEINE_OK, "hi"},
        {SN_STR("\x78\x02\0\xfd\xffhi\x03\0"), SEINE_OK, "hi"}, /* 0x7802 % 31 = 1 */
        {SN_STR("\x4b\x04\0"), SEINE_OK, "a"},                  /* 'a' with fixed codes */
        {SN_STR("\x03\0"), SEINE_OK, ""},
        {SN_STR("\x78"), SEINE_E_BODY_TRUNCATED, ""},
        {SN_STR("\x78\x01"), SEINE_E_BODY_TRUNCATED, ""},
        {SN_STR("\x78\x01\x01\x02\0\xfd\xffhi\x01\x3b\0\xd3"), SEINE_E_BAD_ENCODING,
         "hi"},
        {SN_STR("<html>"), SEINE_E_BAD_ENCODING, NULL},
    };
    sn_buf out;

    sn_buf_init(&out, 1 << 20);
    EACH_ROW(i, rows)
        for (size_t step = 1; step < 20; step++) {
            CHECK_EQ(decode_once("deflate", &SN_DECODE_LIMITS, rows[i].body, step, &out),
                     rows[i].want);
            CHECK(!rows[i].text || sn_str_eq(sn_buf_view(&out), sn_str_of(rows[i].text)));
        }
    sn_buf_fini(&out);
}

TEST(decode_undoes_the_last_coding_first)
{
    sn_buf packed, out;

    sn_buf_init(&packed, 1 << 20);
    sn_buf_init(&out, 1 << 20);
    pack_all(&all[5], SN_STR("a page"), &packed);
    CHECK_EQ(decode_once("gzip, br", &SN_DECODE_LIMITS, sn_buf_view(&packed), 9, &out),
             SEINE_OK);
    CHECK(sn_str_eq(sn_buf_view(&out), SN_STR("a page")));
    CHECK(decode_once("br, gzip", &SN_DECODE_LIMITS, sn_buf_view(&packed), 9, &out) !=
          SEINE_OK);
    sn_buf_fini(&packed);
    sn_buf_fini(&out);
}

TEST(decode_tells_what_is_not_coded_at_all)
{
    static const char *const values[] = {"gzip", "deflate", "br", "zstd", "gzip, zstd"};
    static const char *const bodies[] = {
        "<!DOCTYPE html><html><head><title>A page that was never packed</title>",
        "{\"json\": true, \"packed\": false, \"padding\": \"                    \"}",
    };
    sn_buf out;

    sn_buf_init(&out, 1 << 20);
    EACH_ROW(i, values)
        for (size_t k = 0; k < 2; k++)
            CHECK_EQ(
                decode_once(values[i], &SN_DECODE_LIMITS, sn_str_of(bodies[k]), 7, &out),
                SEINE_E_BAD_ENCODING);
    sn_buf_fini(&out);
}

/* ---- damage ---- */

TEST(decode_never_takes_a_body_that_was_cut_for_a_whole_one)
{
    static char bytes[300];
    sn_buf packed, out;

    fill(bytes, sizeof bytes, 1);
    sn_buf_init(&packed, 1 << 20);
    sn_buf_init(&out, 1 << 20);
    EACH_ROW(i, all) {
        sn_buf_reset(&packed);
        pack_all(&all[i], (sn_str){bytes, sizeof bytes}, &packed);
        for (size_t n = 1; n < packed.len; n++)
            for (size_t step = 1; step < 1000; step += 998) {
                sn_str cut = {packed.ptr, n};

                CHECK_EQ(decode_once(all[i].value, &SN_DECODE_LIMITS, cut, step, &out),
                         SEINE_E_BODY_TRUNCATED);
                CHECK(out.len <= sizeof bytes &&
                      memcmp(out.ptr ? out.ptr : "", bytes, out.len) == 0);
            }
    }
    sn_buf_fini(&packed);
    sn_buf_fini(&out);
}

/* With a checksum a flipped bit is an error, or it stands where it means nothing, as
 * in the time of a gzip head. Without one the format cannot know. */
TEST(decode_finds_every_flipped_bit_that_matters_where_there_is_a_checksum)
{
    static const size_t checked[] = {0, 1, 4, 6}; /* gzip, zlib, zstd, zstd + gzip */
    static char bytes[200];
    sn_buf packed, out;

    fill(bytes, sizeof bytes, 2);
    sn_buf_init(&packed, 1 << 20);
    sn_buf_init(&out, 1 << 20);
    EACH_ROW(i, all) {
        bool is_checked = false;

        for (size_t k = 0; k < sizeof checked / sizeof *checked; k++)
            is_checked |= checked[k] == i;
        sn_buf_reset(&packed);
        pack_all(&all[i], (sn_str){bytes, sizeof bytes}, &packed);
        for (size_t bit = 0; bit < 8 * packed.len; bit++) {
            packed.ptr[bit / 8] ^= (char)(1 << bit % 8);
            seine_err e = decode_once(all[i].value, &SN_DECODE_LIMITS,
                                      sn_buf_view(&packed), 64, &out);
            packed.ptr[bit / 8] ^= (char)(1 << bit % 8);
            CHECK(e == SEINE_OK || e == SEINE_E_BAD_ENCODING ||
                  e == SEINE_E_BODY_TRUNCATED || e == SEINE_E_BODY_TOO_LARGE);
            CHECK(e != SEINE_OK || !is_checked ||
                  sn_str_eq(sn_buf_view(&out), (sn_str){bytes, sizeof bytes}));
        }
    }
    sn_buf_fini(&packed);
    sn_buf_fini(&out);
}

/* ---- further streams, and what is behind them ---- */

TEST(decode_reads_further_members_and_notes_other_bytes)
{
    const struct {
        const char *value;
        sn_codec_kind kind;
        int members;
        sn_str behind;
        seine_err want;
        bool noted;
    } rows[] = {
        {"gzip", SN_CODEC_GZIP, 3, {0}, SEINE_OK, false},
        {"zstd", SN_CODEC_ZSTD, 3, {0}, SEINE_OK, false},
        {"gzip", SN_CODEC_GZIP, 1, SN_STR("\0\0\0\0"), SEINE_OK, true}, /* padded */
        {"gzip", SN_CODEC_GZIP, 2, SN_STR("\r\n"), SEINE_OK, true},
        {"zstd", SN_CODEC_ZSTD, 2, SN_STR("\r\n"), SEINE_OK, true},
        {"br", SN_CODEC_BR, 1, SN_STR("x"), SEINE_OK, true},
        {"deflate", SN_CODEC_ZLIB, 1, SN_STR("x"), SEINE_OK, true},
        {"deflate", SN_CODEC_DEFLATE, 1, SN_STR("\x03\0"), SEINE_OK, true},
        /* the beginning of another member means that it was cut */
        {"gzip", SN_CODEC_GZIP, 1, SN_STR("\x1f"), SEINE_E_BODY_TRUNCATED, false},
        {"gzip", SN_CODEC_GZIP, 1, SN_STR("\x1f\x8b"), SEINE_E_BODY_TRUNCATED, false},
        {"zstd", SN_CODEC_ZSTD, 1, SN_STR("\x28\xb5\x2f"), SEINE_E_BODY_TRUNCATED, false},
        {"gzip", SN_CODEC_GZIP, 1, SN_STR("\x1f\x8c"), SEINE_OK, true},
        {"gzip", SN_CODEC_GZIP, 1, SN_STR("\x1f\x8b\x07\0"), SEINE_E_BAD_ENCODING, false},
        /* a frame to be skipped, whole and cut */
        {"zstd", SN_CODEC_ZSTD, 1, SN_STR("\x50\x2a\x4d\x18\1\0\0\0!"), SEINE_OK, false},
        {"zstd", SN_CODEC_ZSTD, 1, SN_STR("\x50\x2a\x4d\x18\2\0\0\0!"),
         SEINE_E_BODY_TRUNCATED, false},
        /* after the note nothing more is read */
        {"gzip", SN_CODEC_GZIP, 1, SN_STR("\n\x1f\x8b\x07\0"), SEINE_OK, true},
    };
    sn_buf body, want, out;

    sn_buf_init(&body, 1 << 20);
    sn_buf_init(&want, 1 << 20);
    sn_buf_init(&out, 1 << 20);
    EACH_ROW(i, rows) {
        sn_codings codings = codings_of(rows[i].value);

        sn_buf_reset(&body);
        sn_buf_reset(&want);
        for (int k = 0; k < rows[i].members; k++) {
            sn_str text = k == 1 ? (sn_str){0} : SN_STR("a part ");

            pack(rows[i].kind, text, &body);
            sn_buf_str(&want, text);
        }
        sn_buf_str(&body, rows[i].behind);
        for (size_t step = 1; step < 100; step += 7) {
            sn_decode d;

            sn_decode_init(&d, scratch, NULL);
            sn_buf_reset(&out);
            CHECK_EQ(
                decode(&d, &codings, &SN_DECODE_LIMITS, sn_buf_view(&body), step, &out),
                rows[i].want);
            CHECK(sn_str_eq(sn_buf_view(&out), sn_buf_view(&want)));
            CHECK_EQ(d.notes, rows[i].noted ? SN_NOTE_TRAILING_BYTES : 0);
            sn_decode_fini(&d);
        }
    }
    sn_buf_fini(&body);
    sn_buf_fini(&want);
    sn_buf_fini(&out);
}

TEST(decode_notes_bytes_behind_the_inner_coding_too)
{
    sn_buf inner, body, out;
    sn_codings codings = codings_of("br, gzip");
    sn_decode d;

    sn_buf_init(&inner, 1 << 20);
    sn_buf_init(&body, 1 << 20);
    sn_buf_init(&out, 1 << 20);
    pack(SN_CODEC_BR, SN_STR("inside"), &inner);
    sn_buf_str(&inner, SN_STR("behind"));
    pack(SN_CODEC_GZIP, sn_buf_view(&inner), &body);
    sn_decode_init(&d, scratch, NULL);
    CHECK_EQ(decode(&d, &codings, &SN_DECODE_LIMITS, sn_buf_view(&body), 5, &out),
             SEINE_OK);
    CHECK(sn_str_eq(sn_buf_view(&out), SN_STR("inside")));
    CHECK_EQ(d.notes, SN_NOTE_TRAILING_BYTES);
    /* and the outer one must still be right */
    body.ptr[body.len - 1] ^= 1;
    CHECK_EQ(decode(&d, &codings, &SN_DECODE_LIMITS, sn_buf_view(&body), 5, &out),
             SEINE_E_BAD_ENCODING);
    sn_decode_fini(&d);
    sn_buf_fini(&inner);
    sn_buf_fini(&body);
    sn_buf_fini(&out);
}

TEST(decode_reads_1024_further_members_and_no_more)
{
    static const struct {
        const char *value;
        sn_codec_kind kind;
    } rows[] = {{"gzip", SN_CODEC_GZIP}, {"zstd", SN_CODEC_ZSTD}};

    EACH_ROW(i, rows) {
        sn_buf one, body, out;

        sn_buf_init(&one, 1 << 20);
        sn_buf_init(&body, 1 << 20);
        sn_buf_init(&out, 1 << 20);
        pack(rows[i].kind, SN_STR("x"), &one);
        for (int k = 0; k < 1 + SN_DECODE_FURTHER; k++)
            sn_buf_str(&body, sn_buf_view(&one));
        CHECK_EQ(
            decode_once(rows[i].value, &SN_DECODE_LIMITS, sn_buf_view(&body), 1000, &out),
            SEINE_OK);
        CHECK_EQ(out.len, 1025);
        sn_buf_str(&body, sn_buf_view(&one));
        CHECK_EQ(
            decode_once(rows[i].value, &SN_DECODE_LIMITS, sn_buf_view(&body), 1000, &out),
            SEINE_E_BAD_ENCODING);
        CHECK_EQ(out.len, 1025);
        sn_buf_fini(&one);
        sn_buf_fini(&body);
        sn_buf_fini(&out);
    }
}

/* ---- limits ---- */

TEST(decode_lets_exactly_max_body_bytes_out)
{
    static char bytes[70000];
    static const size_t steps[] = {1, 100, SIZE_MAX};
    sn_buf packed, out;

    fill(bytes, sizeof bytes, 3);
    sn_buf_init(&packed, 1 << 20);
    sn_buf_init(&out, 1 << 20);
    EACH_ROW(i, all) {
        sn_buf_reset(&packed);
        pack_all(&all[i], (sn_str){bytes, sizeof bytes}, &packed);
        for (int more = -1; more <= 1; more++)
            for (size_t k = 0; k < 3; k++) {
                sn_decode_limits limits = SN_DECODE_LIMITS;
                limits.max_body = sizeof bytes - 1 + (unsigned)(more + 1);
                seine_err want = more < 0 ? SEINE_E_BODY_TOO_LARGE : SEINE_OK;

                CHECK_EQ(decode_once(all[i].value, &limits, sn_buf_view(&packed),
                                     steps[k], &out),
                         want);
                CHECK_EQ(out.len, sizeof bytes - (more < 0));
                CHECK(memcmp(out.ptr, bytes, out.len) == 0);
            }
    }
    sn_decode_limits none = SN_DECODE_LIMITS;
    none.max_body = 0;
    EACH_ROW(i, all) {
        sn_buf_reset(&packed);
        pack_all(&all[i], SN_STR("x"), &packed);
        CHECK_EQ(decode_once(all[i].value, &none, sn_buf_view(&packed), 1, &out),
                 SEINE_E_BODY_TOO_LARGE);
    }
    sn_buf_fini(&packed);
    sn_buf_fini(&out);
}

/* The outer coding alone makes more than max_body of an inner one that never ends. */
TEST(decode_holds_max_body_for_each_coding)
{
    static char bytes[50000];
    sn_decode_limits limits = SN_DECODE_LIMITS;
    sn_buf inner, body, out;

    fill(bytes, sizeof bytes, 4);
    limits.max_body = 20000;
    sn_buf_init(&inner, 1 << 20);
    sn_buf_init(&body, 1 << 20);
    sn_buf_init(&out, 1 << 20);
    pack(SN_CODEC_BR, SN_STR("short"), &inner);
    sn_buf_add(&inner, bytes, sizeof bytes); /* behind its end */
    pack(SN_CODEC_GZIP, sn_buf_view(&inner), &body);
    CHECK_EQ(decode_once("br, gzip", &limits, sn_buf_view(&body), 100, &out),
             SEINE_E_BODY_TOO_LARGE);
    CHECK(sn_str_eq(sn_buf_view(&out), SN_STR("short")));
    sn_buf_fini(&inner);
    sn_buf_fini(&body);
    sn_buf_fini(&out);
}

/* Noise compresses 1:1 and zeros 1,030:1, so a mixture reaches any ratio. */
TEST(decode_stops_at_200_to_1_above_1_mib_and_not_below)
{
    static char bytes[3 << 20];
    sn_rng r = sn_rng_seed(5);
    const struct {
        size_t noise, zeros;
        seine_err want;
    } rows[] = {
        {0, 1 << 20, SEINE_OK},                           /* 1024:1, exactly 1 MiB */
        {0, (1 << 20) + 1, SEINE_E_BODY_TOO_LARGE},       /* and one byte more */
        {20000, (2 << 20) - 20000, SEINE_OK},             /* 2 MiB : 22 KB = 95:1 */
        {4000, (3 << 20) - 4000, SEINE_E_BODY_TOO_LARGE}, /* 3 MiB : 7 KB = 446:1 */
        {15000, (3 << 20) - 15000, SEINE_OK},             /* 3 MiB : 18 KB = 175:1 */
    };
    sn_buf packed, out;

    sn_buf_init(&packed, 1 << 20);
    sn_buf_init(&out, 4 << 20);
    EACH_ROW(i, rows)
        for (size_t step = 100; step < 20000; step += 19000) {
            memset(bytes, 0, sizeof bytes);
            for (size_t k = 0; k < rows[i].noise; k++)
                bytes[k] = (char)sn_rng_next(&r);
            sn_buf_reset(&packed);
            pack(SN_CODEC_GZIP, (sn_str){bytes, rows[i].noise + rows[i].zeros}, &packed);
            CHECK_EQ(
                decode_once("gzip", &SN_DECODE_LIMITS, sn_buf_view(&packed), step, &out),
                rows[i].want);
        }
    sn_buf_fini(&packed);
    sn_buf_fini(&out);
}

/* RFC 8878 by hand: eleven bytes that say "n times this byte", 2,200 = 200 * 11. */
TEST(decode_allows_a_ratio_of_exactly_200_to_1)
{
    static const struct {
        unsigned n;
        uint64_t from;
        seine_err want;
    } rows[] = {
        {2199, 1000, SEINE_OK},
        {2200, 1000, SEINE_OK},
        {2201, 1000, SEINE_E_BODY_TOO_LARGE},
        {2201, 2200, SEINE_E_BODY_TOO_LARGE},
        {2201, 2201, SEINE_OK}, /* not yet looked at */
    };
    sn_buf out;

    sn_buf_init(&out, 1 << 20);
    EACH_ROW(i, rows)
        for (size_t step = 1; step < 12; step += 5) {
            unsigned n = rows[i].n, size = n - 256, block = n << 3 | 1 << 1 | 1;
            char frame[11] = {0x28, (char)0xb5, 0x2f, (char)0xfd, 0x60};
            sn_decode_limits limits = SN_DECODE_LIMITS;

            frame[5] = (char)size;
            frame[6] = (char)(size >> 8);
            frame[7] = (char)block;
            frame[8] = (char)(block >> 8);
            frame[9] = (char)(block >> 16);
            frame[10] = 'x';
            limits.ratio_from = rows[i].from;
            CHECK_EQ(decode_once("zstd", &limits, (sn_str){frame, 11}, step, &out),
                     rows[i].want);
            CHECK_EQ(out.len, n);
        }
    sn_buf_fini(&out);
}

/* `mib` MiB of zeros, packed as a stream. */
static void
pack_zeros(sn_codec_kind kind, int mib, sn_buf *out)
{
    static char zeros[1 << 20];
    sn_codec_event event;
    sn_codec c;

    sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_ENCODE, .level = 1});
    CHECK_EQ(sn_codec_begin(&c, kind), SEINE_OK);
    for (int i = 0; i < mib; i++) {
        sn_str in = {zeros, sizeof zeros};

        do {
            sn_codec_room room = {sn_buf_reserve(out, 4096), 4096};

            event = sn_codec_step(&c, &in, &room, i == mib - 1);
            sn_buf_commit(out, 4096 - room.len);
        } while (event == SN_CODEC_ROOM);
    }
    CHECK_EQ(event, SN_CODEC_END);
    sn_codec_fini(&c);
}

/* The input of one body does not raise the limit of the next. */
TEST(decode_counts_each_body_from_nothing)
{
    static char bytes[100000];
    sn_codings codings = codings_of("gzip");
    sn_buf body, bomb, out;
    sn_decode d;

    fill(bytes, sizeof bytes, 11);
    sn_buf_init(&body, 1 << 20);
    sn_buf_init(&bomb, 1 << 20);
    sn_buf_init(&out, 4 << 20);
    pack(SN_CODEC_GZIP, (sn_str){bytes, sizeof bytes}, &body);
    pack_zeros(SN_CODEC_GZIP, 2, &bomb);
    sn_decode_init(&d, scratch, NULL);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(decode(&d, &codings, &SN_DECODE_LIMITS, sn_buf_view(&body), 1000, &out),
                 SEINE_OK);
        CHECK_EQ(decode(&d, &codings, &SN_DECODE_LIMITS, sn_buf_view(&bomb), 1000, &out),
                 SEINE_E_BODY_TOO_LARGE);
        sn_buf_reset(&out);
    }
    sn_decode_fini(&d);
    sn_buf_fini(&body);
    sn_buf_fini(&bomb);
    sn_buf_fini(&out);
}

/* Alone, packed again, and packed again in itself; with the ratio and without it. */
TEST(decode_stops_bombs_within_its_limits_and_its_memory)
{
    static const struct {
        const char *value;
        int n;
        sn_codec_kind kinds[2];
    } rows[] = {
        {"gzip", 1, {SN_CODEC_GZIP}},
        {"deflate", 1, {SN_CODEC_ZLIB}},
        {"deflate", 1, {SN_CODEC_DEFLATE}},
        {"br", 1, {SN_CODEC_BR}},
        {"zstd", 1, {SN_CODEC_ZSTD}},
        {"gzip, gzip", 2, {SN_CODEC_GZIP, SN_CODEC_GZIP}},
        {"gzip, br", 2, {SN_CODEC_GZIP, SN_CODEC_BR}},
        {"br, br", 2, {SN_CODEC_BR, SN_CODEC_BR}},
        {"zstd, zstd", 2, {SN_CODEC_ZSTD, SN_CODEC_ZSTD}},
        {"deflate, zstd", 2, {SN_CODEC_ZLIB, SN_CODEC_ZSTD}},
    };
    seine_want limit = {{40 << 20, UINT64_MAX, UINT64_MAX, UINT64_MAX}};
    seine_budget *budget = NULL;
    sn_buf once, bomb;

    CHECK_EQ(seine_budget_new(&limit, &budget), SEINE_OK);
    sn_buf_init(&once, 16 << 20);
    sn_buf_init(&bomb, 16 << 20);
    EACH_ROW(i, rows)
        for (int with_ratio = 0; with_ratio < 2; with_ratio++) {
            sn_decode_limits limits = SN_DECODE_LIMITS;
            uint64_t most = with_ratio ? (1 << 20) + SN_DECODE_STEP : limits.max_body;
            sn_codings codings = codings_of(rows[i].value);
            sn_decode_event event = SN_DECODE_MORE;
            uint64_t made = 0;
            seine_want used;
            seine_held held;
            sn_decode d;

            if (!with_ratio)
                limits.ratio_from = UINT64_MAX;
            sn_buf_reset(&once);
            sn_buf_reset(&bomb);
            pack_zeros(rows[i].kinds[0], 20, &once);
            if (rows[i].n == 2)
                pack(rows[i].kinds[1], sn_buf_view(&once), &bomb);
            else
                sn_buf_str(&bomb, sn_buf_view(&once));
            CHECK(bomb.len < 100000);

            CHECK_EQ(seine_budget_try(budget, &(seine_want){{0}}, &held), SEINE_OK);
            sn_decode_init(&d, scratch, &held);
            CHECK_EQ(sn_decode_begin(&d, &codings, &limits), SEINE_OK);
            sn_str in = sn_buf_view(&bomb), piece;
            while ((event = sn_decode_next(&d, &in, &piece)) == SN_DECODE_BODY)
                made += piece.len;
            CHECK_EQ(event, SN_DECODE_FAIL);
            CHECK_EQ(d.err, SEINE_E_BODY_TOO_LARGE);
            CHECK(made <= most);
            CHECK(with_ratio || made == most);
            CHECK_EQ(sn_decode_end(&d), SEINE_E_BODY_TOO_LARGE);
            seine_budget_used_get(budget, &used); /* large windows do not stay */
            CHECK(used.n[SEINE_RES_MEMORY] <= 2 * (256 << 10) + SN_DECODE_BETWEEN);
            sn_decode_fini(&d);
            seine_budget_used_get(budget, &used);
            CHECK_EQ(used.n[SEINE_RES_MEMORY], 0);
            seine_budget_release(&held);
        }
    seine_budget_free(budget);
    sn_buf_fini(&once);
    sn_buf_fini(&bomb);
}

/* ---- memory ---- */

TEST(decode_reserves_before_it_allocates_and_gives_all_back)
{
    static char bytes[70000];
    sn_buf packed, out;

    fill(bytes, sizeof bytes, 6);
    sn_buf_init(&packed, 1 << 20);
    sn_buf_init(&out, 1 << 20);
    EACH_ROW(i, all) {
        sn_codings codings = codings_of(all[i].value);
        bool has_fit = false;

        sn_buf_reset(&packed);
        pack_all(&all[i], (sn_str){bytes, sizeof bytes}, &packed);
        CHECK(sn_buf_reserve(&out, sizeof bytes) != NULL);
        for (uint64_t room = 1024; !has_fit && room < 64 << 20; room *= 2) {
            seine_want limit = {{room, UINT64_MAX, UINT64_MAX, UINT64_MAX}}, used;
            seine_budget *budget = NULL;
            seine_held held;
            sn_decode d;

            CHECK_EQ(seine_budget_new(&limit, &budget), SEINE_OK);
            CHECK_EQ(seine_budget_try(budget, &(seine_want){{0}}, &held), SEINE_OK);
            count_begin();
            sn_decode_init(&d, scratch, &held);
            sn_buf_reset(&out);
            seine_err e =
                decode(&d, &codings, &SN_DECODE_LIMITS, sn_buf_view(&packed), 999, &out);
            CHECK(e == SEINE_OK || e == SEINE_E_BUDGET);
            CHECK(e == SEINE_OK || room <= 1 << 20);
            has_fit = e == SEINE_OK;
            seine_budget_used_get(budget, &used);
            /* the allocator rounds up a little */
            CHECK((uint64_t)count_bytes() <= used.n[SEINE_RES_MEMORY] + 1024);
            CHECK(has_fit == (count_bytes() > 0) || !has_fit);
            sn_decode_fini(&d);
            seine_budget_used_get(budget, &used);
            CHECK_EQ(used.n[SEINE_RES_MEMORY], 0);
            count_end();
            seine_budget_release(&held);
            seine_budget_free(budget);
        }
        CHECK(has_fit);
    }
    sn_buf_fini(&packed);
    sn_buf_fini(&out);
}

TEST(decode_survives_every_allocation_that_fails)
{
    static char bytes[30000];
    sn_buf packed;

    fill(bytes, sizeof bytes, 7);
    sn_buf_init(&packed, 1 << 20);
    EACH_ROW(i, all) {
        sn_codings codings = codings_of(all[i].value);

        sn_buf_reset(&packed);
        pack_all(&all[i], (sn_str){bytes, sizeof bytes}, &packed);
        FAIL_EACH(n)
        {
            sn_str in = sn_buf_view(&packed), piece;
            sn_decode d;

            sn_decode_init(&d, scratch, NULL);
            seine_err e = sn_decode_begin(&d, &codings, &SN_DECODE_LIMITS);
            while (e == SEINE_OK && sn_decode_next(&d, &in, &piece) == SN_DECODE_BODY)
                continue;
            e = sn_decode_end(&d);
            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            sn_decode_fini(&d);
        }
    }
    sn_buf_fini(&packed);
}

TEST(decode_reads_the_next_body_without_allocating)
{
    static char bytes[20000];
    sn_buf packed, out;

    fill(bytes, sizeof bytes, 8);
    sn_buf_init(&packed, 1 << 20);
    sn_buf_init(&out, 1 << 20);
    CHECK(sn_buf_reserve(&out, sizeof bytes) != NULL);
    EACH_ROW(i, all) {
        sn_codings codings = codings_of(all[i].value);
        long calls = 0;
        sn_decode d;

        sn_buf_reset(&packed);
        pack_all(&all[i], (sn_str){bytes, sizeof bytes}, &packed);
        count_begin();
        sn_decode_init(&d, scratch, NULL);
        for (int body = 0; body < 5; body++) {
            sn_buf_reset(&out);
            CHECK_EQ(
                decode(&d, &codings, &SN_DECODE_LIMITS, sn_buf_view(&packed), 1000, &out),
                SEINE_OK);
            if (body == 0)
                calls = count_calls();
        }
        CHECK_EQ(count_calls(), calls);
        CHECK(calls > 0);
        sn_decode_fini(&d);
        count_end();
    }
    sn_buf_fini(&packed);
    sn_buf_fini(&out);
}

/* Any coding behind any other, some left in the middle, some broken. */
TEST(decode_begins_anew_wherever_the_last_body_stood)
{
    sn_rng r = sn_rng_seed(check_seed());
    static char bytes[3000];
    sn_buf packed, out;
    sn_decode d;

    sn_buf_init(&packed, 1 << 20);
    sn_buf_init(&out, 1 << 20);
    sn_decode_init(&d, scratch, NULL);
    for (int i = 0; i < 300; i++) {
        const struct coded *how = &all[sn_rng_below(&r, sizeof all / sizeof *all)];
        sn_codings codings = codings_of(how->value);
        size_t n = sn_rng_below(&r, sizeof bytes);

        fill(bytes, n, sn_rng_next(&r));
        sn_buf_reset(&packed);
        sn_buf_reset(&out);
        pack_all(how, (sn_str){bytes, n}, &packed);
        sn_str in = sn_buf_view(&packed);
        switch (sn_rng_below(&r, 4)) {
        case 0: /* no end was asked for */
            CHECK_EQ(sn_decode_begin(&d, &codings, &SN_DECODE_LIMITS), SEINE_OK);
            CHECK_EQ(sn_decode_feed(&d, sn_str_slice(in, 0, in.len / 2), keep, &out),
                     SEINE_OK);
            break;
        case 1:
            CHECK(decode(&d, &codings, &SN_DECODE_LIMITS, SN_STR("\x1f\x8b\x08\xff????"),
                         3, &out) != SEINE_OK);
            break;
        default:
            CHECK_EQ(decode(&d, &codings, &SN_DECODE_LIMITS, in,
                            1 + sn_rng_below(&r, 500), &out),
                     SEINE_OK);
            CHECK(sn_str_eq(sn_buf_view(&out), (sn_str){bytes, n}));
            CHECK_EQ(d.notes, 0);
        }
    }
    sn_decode_fini(&d);
    sn_buf_fini(&packed);
    sn_buf_fini(&out);
}

/* ---- steps ---- */

static bool
refuse(sn_str piece, void *arg)
{
    *(size_t *)arg += piece.len;
    return false;
}

TEST(decode_stops_when_the_caller_has_enough)
{
    static char bytes[200000];
    sn_codings codings = codings_of("gzip");
    size_t had = 0;
    sn_buf packed;
    sn_decode d;

    fill(bytes, sizeof bytes, 9);
    sn_buf_init(&packed, 1 << 20);
    pack(SN_CODEC_GZIP, (sn_str){bytes, sizeof bytes}, &packed);
    sn_decode_init(&d, scratch, NULL);
    CHECK_EQ(sn_decode_begin(&d, &codings, &SN_DECODE_LIMITS), SEINE_OK);
    CHECK_EQ(sn_decode_feed(&d, sn_buf_view(&packed), refuse, &had), SEINE_E_CANCELED);
    CHECK_EQ(had, SN_DECODE_STEP);
    sn_decode_fini(&d);
    sn_buf_fini(&packed);
}

/* A turn of the loop may end between any two steps. What was not taken is missing. */
TEST(decode_goes_on_after_a_pause_and_is_not_whole_before)
{
    static char bytes[400000];
    sn_buf packed, out;

    fill(bytes, sizeof bytes, 10);
    sn_buf_init(&packed, 1 << 20);
    sn_buf_init(&out, 1 << 20);
    EACH_ROW(i, all) {
        sn_codings codings = codings_of(all[i].value);
        sn_decode_event event;
        sn_decode d, early;
        size_t steps = 0;

        sn_buf_reset(&packed);
        sn_buf_reset(&out);
        pack_all(&all[i], (sn_str){bytes, sizeof bytes}, &packed);
        sn_str in = sn_buf_view(&packed), piece;
        sn_decode_init(&d, scratch, NULL);
        CHECK_EQ(sn_decode_begin(&d, &codings, &SN_DECODE_LIMITS), SEINE_OK);
        while ((event = sn_decode_next(&d, &in, &piece)) == SN_DECODE_BODY) {
            CHECK(piece.len <= SN_DECODE_STEP);
            sn_buf_str(&out, piece);
            steps++;
        }
        CHECK_EQ(event, SN_DECODE_MORE);
        CHECK_EQ(in.len, 0);
        CHECK(steps >= 7);
        CHECK_EQ(sn_decode_end(&d), SEINE_OK);
        CHECK(sn_str_eq(sn_buf_view(&out), (sn_str){bytes, sizeof bytes}));
        sn_decode_fini(&d);

        in = sn_buf_view(&packed);
        sn_decode_init(&early, scratch, NULL);
        CHECK_EQ(sn_decode_begin(&early, &codings, &SN_DECODE_LIMITS), SEINE_OK);
        for (size_t k = 1; k < steps; k++)
            CHECK_EQ(sn_decode_next(&early, &in, &piece), SN_DECODE_BODY);
        CHECK_EQ(sn_decode_end(&early), SEINE_E_BODY_TRUNCATED);
        sn_decode_fini(&early);
    }
    sn_buf_fini(&packed);
    sn_buf_fini(&out);
}

/* ---- bodies of the web platform tests ---- */

static char *
load(const char *home, const char *name, size_t *out_len)
{
    static char bytes[1 << 20];
    char path[1024];

    snprintf(path, sizeof path, "%s/content-encoding/%s", home, name);
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    if (!f)
        return NULL;
    *out_len = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    return bytes;
}

/* The value of Content-Encoding in NAME.headers. */
static sn_codings
told(const char *home, const char *name)
{
    char path[256];
    size_t len = 0;
    sn_codings codings = {0};

    snprintf(path, sizeof path, "%s.headers", name);
    const char *text = load(home, path, &len);
    sn_str rest = {text, len}, line, value;
    while (text && sn_str_next(&rest, '\n', &line))
        if (sn_str_starts_nocase(line, SN_STR("content-encoding:"))) {
            sn_str_cut(line, ':', &line, &value);
            CHECK_EQ(sn_codings_add(&codings, value), SEINE_OK);
        }
    CHECK_EQ(codings.n, 1);
    return codings;
}

/* One line again and again: "foo", a greeting, or the alphabet. */
static bool
is_as_published(sn_str out, size_t len)
{
    const char *line = len == 10500 ? "foo"
                       : len == 11  ? "Hello world"
                                    : "abcdefghijklmnopqrstuvwxyz\n";
    size_t n = strlen(line);

    for (size_t i = 0; i < out.len; i++)
        if (out.ptr[i] != line[i % n])
            return false;
    return out.len == len;
}

TEST(decode_agrees_with_the_bodies_of_the_web_platform_tests)
{
    static const struct {
        const char *name;
        size_t len; /* decoded by gzip and zstd themselves */
        seine_err want;
    } rows[] = {
        {"gzip/resources/foo.text.gz", 10500, SEINE_OK},
        {"gzip/resources/foo.octetstream.gz", 10500, SEINE_OK},
        {"gzip/resources/hello.html.gz", 11, SEINE_OK},
        {"gzip/resources/big.text.gz", 27000000, SEINE_E_BODY_TOO_LARGE},
        {"br/resources/foo.text.br", 10500, SEINE_OK},
        {"br/resources/foo.octetstream.br", 10500, SEINE_OK},
        {"br/resources/hello.html.br", 11, SEINE_OK},
        {"br/resources/big.text.br", 27000000, SEINE_E_BODY_TOO_LARGE},
        {"zstd/resources/foo.text.zst", 10500, SEINE_OK},
        {"zstd/resources/foo.octetstream.zst", 10500, SEINE_OK},
        {"zstd/resources/hello.html.zst", 11, SEINE_OK},
        {"zstd/resources/big.text.zst", 27000000, SEINE_E_BODY_TOO_LARGE},
        /* a window of 16 MiB, which RFC 9659 forbids */
        {"zstd/resources/big.window.zst", 0, SEINE_E_BAD_ENCODING},
    };
    static const size_t steps[] = {1, 100, SIZE_MAX};
    const sn_decode_limits open = {64 << 20, 1, UINT64_MAX};
    const char *home = check_vectors();
    sn_buf out;
    sn_decode d;

    if (!home)
        return;
    sn_buf_init(&out, 64 << 20);
    sn_decode_init(&d, scratch, NULL);
    EACH_ROW(i, rows) {
        sn_codings codings = told(home, rows[i].name);
        sn_str in = {0};

        in.ptr = load(home, rows[i].name, &in.len);
        for (size_t k = 0; k < 3; k++) {
            sn_buf_reset(&out);
            CHECK_EQ(decode(&d, &codings, &SN_DECODE_LIMITS, in, steps[k], &out),
                     rows[i].want);
            CHECK(rows[i].want != SEINE_OK ||
                  is_as_published(sn_buf_view(&out), rows[i].len));
            CHECK(out.len <= 16 << 20);
        }
        if (rows[i].want == SEINE_E_BODY_TOO_LARGE) { /* whole, where that is allowed */
            sn_buf_reset(&out);
            CHECK_EQ(decode(&d, &codings, &open, in, 1000, &out), SEINE_OK);
            CHECK(is_as_published(sn_buf_view(&out), rows[i].len));
        }
    }
    sn_decode_fini(&d);
    sn_buf_fini(&out);
}

/* A small body and much behind it, packed once more: the second coding makes nothing of
 * what the first has to unpack. */
TEST(decode_does_not_unpack_much_in_one_step_that_yields_nothing)
{
    sn_buf inner, packed;
    sn_codings codings = {0};
    sn_decode_limits limits = {16 << 20, 0, 0};
    sn_decode d;
    sn_str piece;
    size_t made = 0, steps = 0;
    uint64_t before = 0, most = 0;
    sn_decode_event event;

    sn_buf_init(&inner, 64 << 20);
    sn_buf_init(&packed, 64 << 20);
    pack(SN_CODEC_GZIP, SN_STR("a body"), &inner);
    while (inner.len < 8 << 20)
        sn_buf_str(&inner, SN_STR("that belongs to no stream "));
    pack(SN_CODEC_GZIP, sn_buf_view(&inner), &packed);
    CHECK_EQ(sn_codings_add(&codings, SN_STR("gzip, gzip")), SEINE_OK);
    sn_decode_init(&d, scratch, NULL);
    CHECK_EQ(sn_decode_begin(&d, &codings, &limits), SEINE_OK);
    sn_str in = sn_buf_view(&packed);
    while ((event = sn_decode_next(&d, &in, &piece)) == SN_DECODE_BODY) {
        made += piece.len;
        most = d.stages[0].out - before > most ? d.stages[0].out - before : most;
        before = d.stages[0].out;
        steps++;
    }
    CHECK_EQ(event, SN_DECODE_MORE);
    CHECK_EQ(made, 6);
    CHECK(most <= SN_DECODE_STEP + SN_DECODE_BETWEEN);
    CHECK(steps > 100);
    CHECK_EQ(sn_decode_end(&d), SEINE_OK);
    CHECK_EQ(d.notes, SN_NOTE_TRAILING_BYTES);
    sn_decode_fini(&d);
    sn_buf_fini(&inner);
    sn_buf_fini(&packed);
}
