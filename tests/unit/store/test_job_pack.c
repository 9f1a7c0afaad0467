/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_pack.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

static const sn_job_pack_shape two = {2, 0}, four = {4, 2};

static void
add(sn_buf *to, const sn_job_pack_shape *shape, int64_t key, int64_t value)
{
    sn_job_row row = {.ints = {key, value}};

    CHECK_EQ(sn_job_pack_add(to, shape, &row), SEINE_OK);
}

TEST(job_pack_gives_back_what_was_added)
{
    static const int64_t values[] = {0,
                                     -1,
                                     1,
                                     63,
                                     64,
                                     -128,
                                     INT64_C(1) << 31,
                                     INT64_C(1) << 55,
                                     -(INT64_C(1) << 55),
                                     INT64_MAX,
                                     INT64_MIN};
    static const size_t lens[] = {0, 1, 127, 128, 16383, 16384};
    static char text[16384];
    sn_buf b;

    memset(text, 'x', sizeof text);
    sn_buf_init(&b, 1 << 20);
    EACH_ROW(i, values) {
        EACH_ROW(k, lens) {
            sn_job_row row = {.ints = {7 * 16 + 5, values[i], -values[i] / 2, 9},
                              .texts = {{text, lens[k]}, SN_STR("end")}};
            sn_job_row got = {.ints = {0}};

            sn_buf_reset(&b);
            CHECK_EQ(sn_job_pack_add(&b, &four, &row), SEINE_OK);
            sn_str rest = sn_buf_view(&b);
            CHECK_EQ(sn_job_pack_next(&rest, &four, 7, &got), SEINE_OK);
            CHECK_EQ(rest.len, 0);
            for (int n = 0; n < 4; n++)
                CHECK_EQ(got.ints[n], row.ints[n]);
            CHECK(sn_str_eq(got.texts[0], row.texts[0]));
            CHECK(sn_str_eq(got.texts[1], row.texts[1]));
        }
    }
    sn_buf_fini(&b);
}

TEST(job_pack_a_small_row_is_small)
{
    sn_job_row row = {.ints = {3, 0, -1, 127}, .texts = {SN_STR("/a"), SN_STR("")}};
    sn_buf b;

    sn_buf_init(&b, 1 << 20);
    CHECK_EQ(sn_job_pack_add(&b, &four, &row), SEINE_OK);
    /* The place, three widths, no byte for 0 and one each for -1 and 127; two lengths. */
    CHECK_EQ(b.len, 1 + 3 + 0 + 1 + 1 + 1 + 2 + 1);
    sn_buf_fini(&b);
}

TEST(job_pack_refuses_rows_that_are_cut)
{
    sn_job_row row = {.ints = {3, 300, -70000, 1}, .texts = {SN_STR("/a"), SN_STR("b")}};
    sn_job_row got;
    sn_buf b;

    sn_buf_init(&b, 1 << 20);
    CHECK_EQ(sn_job_pack_add(&b, &four, &row), SEINE_OK);
    for (size_t n = 0; n < b.len; n++) {
        char *part = malloc(n + 1); /* so that a byte too many is noticed */
        CHECK(part != NULL);
        memcpy(part, b.ptr, n);
        sn_str rest = {part, n};
        CHECK_EQ(sn_job_pack_next(&rest, &four, 0, &got), SEINE_E_STATE_CORRUPT);
        free(part);
    }
    sn_buf_fini(&b);
}

TEST(job_pack_refuses_what_nobody_writes)
{
    static const struct {
        const char *bytes;
        size_t len;
        int64_t pack;
    } rows[] = {
        {"\x10\x00", 2, 0},                                      /* a place too high */
        {"\x00\x09\x01\x01\x01\x01\x01\x01\x01\x01\x01", 11, 0}, /* a width too high */
        {"\x00\x02\x01\x00", 4, 0},                              /* a width too large */
        {"\x00\x00", 2, -1},
        {"\x00\x00", 2, INT64_MAX},
    };

    EACH_ROW(i, rows) {
        sn_str rest = {rows[i].bytes, rows[i].len};
        sn_job_row got;

        CHECK_EQ(sn_job_pack_next(&rest, &two, rows[i].pack, &got),
                 SEINE_E_STATE_CORRUPT);
    }
}

/* Every set of old places against every set of new ones, of four. */
TEST(job_pack_merges_in_order_and_the_new_row_stays)
{
    sn_buf old, more, both;

    sn_buf_init(&old, 1 << 20);
    sn_buf_init(&more, 1 << 20);
    sn_buf_init(&both, 1 << 20);
    for (unsigned a = 0; a < 16; a++)
        for (unsigned b = 0; b < 16; b++) {
            sn_buf_reset(&old);
            sn_buf_reset(&more);
            sn_buf_reset(&both);
            for (unsigned i = 0; i < 4; i++) {
                if (a >> i & 1)
                    add(&old, &two, 4 * i, 1);
                if (b >> i & 1)
                    add(&more, &two, 4 * i, 2);
            }
            CHECK_EQ(
                sn_job_pack_merge(&both, &two, sn_buf_view(&old), sn_buf_view(&more)),
                SEINE_OK);
            sn_str rest = sn_buf_view(&both);
            for (unsigned i = 0; i < 4; i++) {
                sn_job_row got;

                if (!((a | b) >> i & 1))
                    continue;
                CHECK_EQ(sn_job_pack_next(&rest, &two, 0, &got), SEINE_OK);
                CHECK_EQ(got.ints[0], 4 * i);
                CHECK_EQ(got.ints[1], b >> i & 1 ? 2 : 1);
            }
            CHECK_EQ(rest.len, 0);
        }
    sn_buf_fini(&old);
    sn_buf_fini(&more);
    sn_buf_fini(&both);
}
