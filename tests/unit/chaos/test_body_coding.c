/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/body_coding.h"

#include "base/alloc.h"
#include "check.h"
#include "failing.h"
#include "unpack.h"

/* Encodes a body of `n` bytes that follow from a seed, and reads it to its end. */
typedef struct result {
    char bytes[4 << 20];
    size_t len;
    uint64_t length; /* the length that was announced */
    seine_err e;
} result;

static result *
recoded(uint64_t size, const snc_body_coding *how)
{
    static result r;
    const snc_chunks none = {.on = false};
    snc_wire w;
    sn_buf text, lines;
    size_t n;

    sn_buf_init(&text, 1 << 24);
    sn_buf_init(&lines, 65536);
    snc_wire_init(&w, &text);
    snc_wire_body(&w, &none);
    snc_wire_bytes(&w, 7, size);
    snc_wire_body_end(&w);
    r.len = 0;
    r.e = snc_body_code(&w, how, &text);
    r.length = snc_wire_length(&w);
    while (r.e == SEINE_OK && r.len + 32768 < sizeof r.bytes &&
           (n = snc_wire_read(&w, &lines, r.bytes + r.len, 32768)) > 0)
        r.len += n;
    snc_wire_fini(&w);
    sn_buf_fini(&text);
    sn_buf_fini(&lines);
    return &r;
}

static uint32_t
crc_of(uint64_t size)
{
    static char bytes[4 << 20];

    snc_wire_fill(7, 0, bytes, (size_t)size);
    return (uint32_t)crc32(0, (unsigned char *)bytes, (unsigned)size);
}

/* Short bodies are encoded before the head, long ones while they are sent; the bytes are
 * the same. */
TEST(a_body_goes_through_every_coding)
{
    static const snc_coding all[] = {SNC_CODING_GZIP, SNC_CODING_DEFLATE, SNC_CODING_RAW,
                                     SNC_CODING_BR, SNC_CODING_ZSTD};
    static const uint64_t sizes[] = {0, 1, 1000, 262144, 262145, 400000};

    EACH_ROW(i, all)
        EACH_ROW(k, sizes) {
            const snc_body_coding how = {.codings = {all[i]}, .count = 1};
            const result *r = recoded(sizes[k], &how);
            unpacked u = unpack(all[i], r->bytes, r->len, NULL, 0);

            CHECK_EQ(u.end, UNPACKED_WHOLE);
            CHECK_EQ(u.sum, sizes[k]);
            CHECK_EQ(u.crc, crc_of(sizes[k]));
            CHECK_EQ(u.behind, 0);
            CHECK_EQ(r->length == r->len, sizes[k] <= 262144);
            CHECK_EQ(r->length == SNC_WIRE_ENDLESS, sizes[k] > 262144);
        }
}

TEST(codings_lie_around_each_other_the_last_one_outermost)
{
    static char middle[2 << 20];
    static const uint64_t sizes[] = {1000, 300000};

    EACH_ROW(i, sizes) {
        const snc_body_coding how = {.codings = {SNC_CODING_GZIP, SNC_CODING_BR},
                                     .count = 2};
        const result *r = recoded(sizes[i], &how);
        unpacked u = unpack(SNC_CODING_BR, r->bytes, r->len, middle, sizeof middle);

        CHECK_EQ(u.end, UNPACKED_WHOLE);
        u = unpack(SNC_CODING_GZIP, middle, (size_t)u.sum, NULL, 0);
        CHECK_EQ(u.end, UNPACKED_WHOLE);
        CHECK_EQ(u.sum, sizes[i]);
        CHECK_EQ(u.crc, crc_of(sizes[i]));
    }
}

/* One byte may stand for all of it, and nobody else is served meanwhile. */
TEST(a_body_of_more_than_64_mib_has_one_coding_and_an_unharmed_end)
{
    snc_body_coding how = {.codings = {SNC_CODING_GZIP, SNC_CODING_BR}, .count = 2};

    CHECK_EQ(recoded(64 << 20, &how)->e, SEINE_OK);
    CHECK_EQ(recoded((64 << 20) + 1, &how)->e, SEINE_E_FULL);
    how.count = 1;
    CHECK_EQ(recoded((64 << 20) + 1, &how)->e, SEINE_OK);
    how.cut = 1;
    CHECK_EQ(recoded((64 << 20) + 1, &how)->e, SEINE_E_FULL);
    how.cut = 0;
    how.flips_end = true;
    CHECK_EQ(recoded((64 << 20) + 1, &how)->e, SEINE_E_FULL);
}

TEST(a_cut_takes_exactly_so_many_bytes_from_the_end)
{
    static char whole[2 << 20];
    static const uint64_t sizes[] = {1000, 300000}, cuts[] = {1, 8, 500, 65536};

    EACH_ROW(i, sizes) {
        snc_body_coding how = {.codings = {SNC_CODING_GZIP}, .count = 1};
        size_t len = recoded(sizes[i], &how)->len;

        memcpy(whole, recoded(sizes[i], &how)->bytes, len);
        EACH_ROW(k, cuts) {
            how.cut = cuts[k];
            const result *r = recoded(sizes[i], &how);
            CHECK_EQ(r->len, len > cuts[k] ? len - cuts[k] : 0);
            CHECK(memcmp(r->bytes, whole, r->len) == 0);
            CHECK_EQ(unpack(SNC_CODING_GZIP, r->bytes, r->len, NULL, 0).end,
                     UNPACKED_SHORT);
        }
    }
}

TEST(one_byte_is_wrong_from_the_start_or_from_the_end)
{
    static char whole[2 << 20];
    static const uint64_t sizes[] = {1000, 300000}, flips[] = {1, 10, 900};

    EACH_ROW(i, sizes) {
        snc_body_coding how = {.codings = {SNC_CODING_GZIP}, .count = 1};
        size_t len = recoded(sizes[i], &how)->len;

        memcpy(whole, recoded(sizes[i], &how)->bytes, len);
        EACH_ROW(k, flips)
            for (int end = 0; end < 2; end++) {
                how.flips = !end;
                how.flips_end = end;
                how.flip = flips[k];
                const result *r = recoded(sizes[i], &how);
                size_t at = end ? len - flips[k] : flips[k];
                CHECK_EQ(r->len, len);
                CHECK_EQ(r->bytes[at], (char)~whole[at]);
                CHECK(memcmp(r->bytes, whole, at) == 0);
                CHECK(memcmp(r->bytes + at + 1, whole + at + 1, len - at - 1) == 0);
            }
    }
}

TEST(more_may_follow_the_end)
{
    static const uint64_t sizes[] = {1000, 300000};

    EACH_ROW(i, sizes) {
        const snc_body_coding how = {.codings = {SNC_CODING_GZIP},
                                     .count = 1,
                                     .member = SNC_CODING_GZIP,
                                     .members = 1500,
                                     .extra = 5};
        const result *r = recoded(sizes[i], &how);
        unpacked u = unpack(SNC_CODING_GZIP, r->bytes, r->len, NULL, 0);

        CHECK_EQ(u.sum, sizes[i]);
        CHECK_EQ(u.behind, 1500 * 20 + 5);
        CHECK(memcmp(r->bytes + r->len - 5, "ttttt", 5) == 0);
        u = unpack(SNC_CODING_GZIP, r->bytes + r->len - 25, 25, NULL, 0);
        CHECK_EQ(u.end, UNPACKED_WHOLE);
        CHECK_EQ(u.behind, 5);
    }
}

TEST(codings_without_an_empty_text_have_no_members_however_many_are_asked_for)
{
    static const snc_coding without[] = {SNC_CODING_NONE, SNC_CODING_DEFLATE,
                                         SNC_CODING_RAW, SNC_CODING_BR};

    EACH_ROW(i, without) {
        snc_body_coding how = {.codings = {without[i]},
                               .count = without[i] != SNC_CODING_NONE,
                               .member = without[i]};
        size_t len = recoded(1000, &how)->len;

        how.members = (uint64_t)1 << 40;
        CHECK_EQ(recoded(1000, &how)->len, len);
    }
}

TEST(without_memory_there_is_no_coded_body)
{
    FAIL_EACH(r)
    {
        const snc_body_coding how = {.codings = {SNC_CODING_GZIP, SNC_CODING_BR},
                                     .count = 2};
        seine_err e = recoded(100, &how)->e;

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        e = recoded(300000, &how)->e;
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
    }
}
