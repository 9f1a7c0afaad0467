/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pack.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

static const seine_sink_pack kinds[] = {SEINE_PACK_GZIP, SEINE_PACK_ZSTD};

static sn_outfile
file_of(const char *bytes, size_t n)
{
    sn_outfile f = {.fd = memfd_create("packed", MFD_CLOEXEC), .size = n};

    CHECK_EQ(write(f.fd, bytes, n), (ssize_t)n);
    return f;
}

/* Members of random lines, cut at any byte, compared with a plain sum. */
TEST(pack_scan_finds_the_last_whole_member)
{
    static char packed[1 << 20], text[200000];
    sn_rng rng = sn_rng_seed(check_seed());

    EACH_ROW(i, kinds) {
        size_t ends[9] = {0}, texts[9] = {0}, n = 0;
        sn_pack p;

        sn_pack_init(&p, kinds[i]);
        for (size_t m = 1; m < 9; m++) {
            size_t len = 1 + sn_rng_below(&rng, m % 3 ? 300 : sizeof text - 1);
            sn_str member;

            for (size_t k = 0; k < len; k++)
                text[k] = (char)('a' + sn_rng_below(&rng, 26));
            text[len - 1] = '\n';
            CHECK_EQ(sn_pack_text(&p, (sn_str){text, len}, &member), SEINE_OK);
            memcpy(packed + n, member.ptr, member.len);
            n += member.len;
            ends[m] = n;
            texts[m] = texts[m - 1] + len;
        }
        sn_pack_fini(&p);
        for (int round = 0; round < 60; round++) {
            size_t at = round < 9 ? ends[round] : sn_rng_below(&rng, n), m = 0;
            sn_outfile f = file_of(packed, at);
            sn_packed there;

            while (m < 8 && ends[m + 1] <= at)
                m++;
            CHECK_EQ(sn_pack_scan(&f, kinds[i], &there), SEINE_OK);
            CHECK_EQ(there.whole, ends[m]);
            CHECK_EQ(there.text, texts[m]);
            CHECK(m == 0 || there.last == '\n');
            CHECK(!there.torn_lines);
            CHECK_EQ(there.n_head, texts[m] < 512 ? texts[m] : 512);
            close(f.fd);
        }
    }
}

TEST(pack_scan_tells_torn_lines_and_damage)
{
    static char text[1000], bytes[2000];
    sn_packed there;
    sn_pack p;
    sn_str member;
    sn_rng rng = sn_rng_seed(1);

    for (size_t k = 0; k < sizeof text; k++)
        text[k] = k % 10 ? (char)sn_rng_below(&rng, 256) : '\n';
    EACH_ROW(i, kinds) {
        sn_pack_init(&p, kinds[i]);
        CHECK_EQ(sn_pack_text(&p, (sn_str){text, sizeof text}, &member), SEINE_OK);
        memcpy(bytes, member.ptr, member.len);
        sn_outfile f = file_of(bytes, member.len - 1);
        CHECK_EQ(sn_pack_scan(&f, kinds[i], &there), SEINE_OK);
        CHECK_EQ(there.whole, 0);
        CHECK_EQ(there.text, 0);
        CHECK_EQ(there.n_head, 0);
        CHECK(there.torn == 0 || there.torn_lines);
        close(f.fd);

        memcpy(bytes + member.len, "what is that?", 13); /* behind a member */
        f = file_of(bytes, member.len + 13);
        CHECK_EQ(sn_pack_scan(&f, kinds[i], &there), SEINE_E_BAD_ENCODING);
        CHECK_EQ(there.whole, member.len);
        f.size++; /* of a file that became shorter meanwhile */
        CHECK_EQ(sn_pack_scan(&f, kinds[i], &there), SEINE_E_IO);
        close(f.fd);
        sn_pack_fini(&p);
    }
}

TEST(pack_without_memory_says_so)
{
    static char text[300000];
    sn_rng rng = sn_rng_seed(2);

    for (size_t k = 0; k < sizeof text; k++) /* what does not shrink makes it grow */
        text[k] = (char)sn_rng_below(&rng, 256);
    EACH_ROW(i, kinds)
        FAIL_EACH(n)
        {
            sn_pack p;
            sn_str member;
            sn_packed there;

            sn_pack_init(&p, kinds[i]);
            seine_err e = sn_pack_text(&p, (sn_str){text, sizeof text}, &member);
            if (e == SEINE_OK) {
                sn_outfile f = file_of(member.ptr, member.len);

                e = sn_pack_scan(&f, kinds[i], &there);
                CHECK(e != SEINE_OK || there.text == sizeof text);
                close(f.fd);
            }
            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            sn_pack_fini(&p);
        }
}
