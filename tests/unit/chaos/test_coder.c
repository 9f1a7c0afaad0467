/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/coder.h"

#include "base/alloc.h"
#include "check.h"
#include "failing.h"
#include "unpack.h"

static const snc_coding all[] = {SNC_CODING_GZIP, SNC_CODING_DEFLATE, SNC_CODING_RAW,
                                 SNC_CODING_BR, SNC_CODING_ZSTD};

/* Encodes the whole text, in steps with so much room. */
static void
code(snc_coding coding, sn_str in, size_t room, sn_buf *out)
{
    snc_coder *c = NULL;
    char piece[4096];
    bool done = false;

    CHECK_EQ(snc_coder_new(coding, &c), SEINE_OK);
    while (!done)
        sn_buf_add(out, piece, c->step(c, &in, true, piece, room, &done));
    CHECK(!c->failed && in.len == 0);
    c->free(c);
}

TEST(what_is_coded_becomes_itself_again)
{
    static const size_t rooms[] = {1, 7, 4096};
    static char text[100000], back[100000];
    sn_buf out;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i * i >> 7);
    sn_buf_init(&out, 1 << 20);
    EACH_ROW(i, all)
        EACH_ROW(k, rooms)
            for (size_t n = 0; n <= sizeof text; n = n * 10 + 1) {
                sn_buf_reset(&out);
                code(all[i], (sn_str){text, n}, rooms[k], &out);
                unpacked u = unpack(all[i], out.ptr, out.len, back, sizeof back);
                CHECK_EQ(u.end, UNPACKED_WHOLE);
                CHECK_EQ(u.sum, n);
                CHECK_EQ(u.behind, 0);
                CHECK(memcmp(text, back, n) == 0);
            }
    sn_buf_fini(&out);
}

/* Zeros, counted and summed up by the libraries' own decoders. */
TEST(a_bomb_becomes_exactly_so_many_zeros)
{
    static const uint64_t sizes[] = {0,       1,       4095,    131071,
                                     131072,  131073,  1048576, 1048577,
                                     4194303, 4194304, 5242881, 12000000};
    static const unsigned char zeros[1 << 16];
    sn_buf text, flat;

    sn_buf_init(&text, 1 << 20);
    sn_buf_init(&flat, 1 << 24);
    EACH_ROW(i, all)
        EACH_ROW(k, sizes) {
            snc_bomb b;
            uint32_t crc = 0;

            sn_buf_reset(&text);
            sn_buf_reset(&flat);
            sn_buf_text(&text, "before"); /* the bomb comes behind it */
            CHECK_EQ(snc_coder_bomb(all[i], sizes[k], &text, &b), SEINE_OK);
            sn_buf_add(&flat, text.ptr + 6, b.unit_at - 6);
            for (uint64_t n = 0; n < b.count; n++)
                sn_buf_add(&flat, text.ptr + b.unit_at, b.tail_at - b.unit_at);
            sn_buf_add(&flat, text.ptr + b.tail_at, text.len - b.tail_at);
            for (uint64_t n = 0; n < sizes[k]; n += sizeof zeros)
                crc =
                    (uint32_t)crc32(crc, zeros,
                                    sizes[k] - n < sizeof zeros ? (unsigned)(sizes[k] - n)
                                                                : (unsigned)sizeof zeros);
            unpacked u = unpack(all[i], flat.ptr, flat.len, NULL, 0);
            CHECK_EQ(u.end, UNPACKED_WHOLE);
            CHECK_EQ(u.sum, sizes[k]);
            CHECK_EQ(u.crc, crc);
            CHECK_EQ(u.behind, 0);
            CHECK(sizes[k] < 10000000 || flat.len < sizes[k] / 900);
        }
    sn_buf_fini(&text);
    sn_buf_fini(&flat);
}

TEST(a_bomb_of_any_size_is_a_short_text)
{
    sn_buf text;

    sn_buf_init(&text, 1 << 20);
    EACH_ROW(i, all) {
        snc_bomb b;

        sn_buf_reset(&text);
        CHECK_EQ(snc_coder_bomb(all[i], (uint64_t)1 << 50, &text, &b), SEINE_OK);
        CHECK(text.len < 4096);
        CHECK(b.count >= ((uint64_t)1 << 50) / (1 << 20) - 2);
    }
    sn_buf_fini(&text);
}

TEST(a_text_of_nothing_is_whole)
{
    static const snc_coding some[] = {SNC_CODING_GZIP, SNC_CODING_ZSTD};

    EACH_ROW(i, some) {
        sn_str nothing = snc_coder_nothing(some[i]);
        unpacked u = unpack(some[i], nothing.ptr, nothing.len, NULL, 0);

        CHECK_EQ(u.end, UNPACKED_WHOLE);
        CHECK_EQ(u.sum + u.behind, 0);
    }
    CHECK_EQ(snc_coder_nothing(SNC_CODING_BR).len, 0);
}

TEST(codings_have_names_and_labels)
{
    static const struct {
        const char *name, *label;
        snc_coding coding;
    } rows[] = {{"gzip", "gzip", SNC_CODING_GZIP},
                {"deflate", "deflate", SNC_CODING_DEFLATE},
                {"rawdeflate", "deflate", SNC_CODING_RAW},
                {"br", "br", SNC_CODING_BR},
                {"zstd", "zstd", SNC_CODING_ZSTD},
                {"", "", SNC_CODING_NONE},
                {"x-gzip", "", SNC_CODING_NONE}};

    EACH_ROW(i, rows) {
        CHECK_EQ(snc_coder_named(sn_str_of(rows[i].name)), rows[i].coding);
        CHECK(sn_str_eq(snc_coder_label(rows[i].coding), sn_str_of(rows[i].label)));
    }
}

TEST(without_memory_a_coder_says_so)
{
    EACH_ROW(i, all) {
        FAIL_EACH(r)
        {
            snc_coder *c = NULL;
            sn_str in = SN_STR("some text");
            char out[256];
            bool done = false;
            seine_err e = snc_coder_new(all[i], &c);

            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            while (c && !done)
                c->step(c, &in, true, out, sizeof out, &done);
            if (c)
                c->free(c);
        }
        FAIL_EACH(r)
        {
            sn_buf text;
            snc_bomb b;

            sn_buf_init(&text, 1 << 16);
            seine_err e = snc_coder_bomb(all[i], 5000000, &text, &b);
            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            sn_buf_fini(&text);
        }
    }
}
