/* SPDX-License-Identifier: Apache-2.0 */
#include "base/gzip.h"

#include <string.h>

#include "base/codec.h"
#include "base/rng.h"
#include "check.h"

/* Another library decompresses it. */
static void
unpack(sn_str in, sn_buf *out)
{
    sn_codec codec;
    sn_codec_event event;

    sn_codec_init(&codec, &(sn_codec_opts){.way = SN_CODEC_DECODE});
    CHECK_EQ(sn_codec_begin(&codec, SN_CODEC_GZIP), SEINE_OK);
    do {
        sn_codec_room room = {sn_buf_reserve(out, 4096), 4096};

        event = sn_codec_step(&codec, &in, &room, false);
        sn_buf_commit(out, 4096 - room.len);
    } while (event == SN_CODEC_ROOM);
    CHECK_EQ(event, SN_CODEC_END);
    CHECK_EQ(in.len, 0);
    sn_codec_fini(&codec);
}

TEST(gzip_members_are_read_back_by_another_library)
{
    static const size_t sizes[] = {0, 1, 2, 100, 2500, 65535, 65536, 300000};
    static char text[300000];
    sn_rng rng = sn_rng_seed(check_seed());
    sn_gzip g = {0};

    EACH_ROW(i, sizes)
        for (int noise = 0; noise < 2; noise++) {
            sn_buf member, back;

            for (size_t k = 0; k < sizes[i]; k++)
                text[k] = (char)(noise ? sn_rng_next(&rng) : 'a' + k * k % 7);
            sn_buf_init(&member, 1 << 20);
            sn_buf_init(&back, 1 << 20);
            CHECK_EQ(sn_gzip_member(&g, (sn_str){text, sizes[i]}, &member), SEINE_OK);
            unpack(sn_buf_view(&member), &back);
            CHECK_EQ(back.len, sizes[i]);
            CHECK(sizes[i] == 0 || memcmp(back.ptr, text, sizes[i]) == 0);
            CHECK(noise || sizes[i] < 1000 || member.len < sizes[i] / 2);
            sn_buf_fini(&member);
            sn_buf_fini(&back);
        }
    sn_gzip_fini(&g);
    sn_gzip_fini(&g);
}

TEST(gzip_without_room_adds_nothing)
{
    sn_gzip g = {0};
    sn_buf out;

    sn_buf_init(&out, 10);
    sn_buf_str(&out, SN_STR("abc"));
    CHECK_EQ(sn_gzip_member(&g, SN_STR("a text of some length"), &out), SEINE_E_FULL);
    CHECK_EQ(out.len, 3);
    sn_buf_fini(&out);
    sn_gzip_fini(&g);
}
