/* SPDX-License-Identifier: Apache-2.0 */
/* Each function against its twin, on random bytes of every length up to a few blocks that
 * end where their memory ends, so that a sanitizer sees a byte too many. */
#include "base/scan.h"

#include <stdlib.h>

#include "base/rng.h"
#include "check.h"

enum { MOST = 200, ROUNDS = 20000 };

/* Fills with bytes of which about one in `rare` is special. */
static void
fill(sn_rng *rng, char *p, size_t n)
{
    static const char special[] = {'<', '\n', '&', '\r', '\0', (char)0x80, (char)0xff};
    size_t rare = 1 + sn_rng_below(rng, 300);

    for (size_t i = 0; i < n; i++)
        p[i] = sn_rng_below(rng, rare) == 0 ? special[sn_rng_below(rng, sizeof special)]
                                            : (char)(' ' + sn_rng_below(rng, 95));
}

TEST(scan_finds_and_counts_what_one_byte_after_the_other_finds_and_counts)
{
    static const char wanted[] = {'<', '\n', '&', '\0', (char)0x80};
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < ROUNDS; round++) {
        size_t n = (size_t)round % MOST;
        char *p = malloc(n ? n : 1);
        char c = wanted[sn_rng_below(&rng, sizeof wanted)];

        fill(&rng, p, n);
        CHECK(sn_scan_byte(p, p + n, c) == sn_scan_byte_plain(p, p + n, c));
        CHECK_EQ(sn_scan_count(p, n, c), sn_scan_count_plain(p, n, c));
        CHECK_EQ(sn_scan_ascii(p, n), sn_scan_ascii_plain(p, n));
        CHECK_EQ(sn_scan_is_literal(p, n), sn_scan_is_literal_plain(p, n));
        free(p);
    }
}

/* One special byte at each place of each length. */
TEST(scan_sees_a_byte_at_every_place)
{
    char p[MOST];

    for (size_t n = 1; n < 150; n++)
        for (size_t at = 0; at < n; at++) {
            memset(p, 'x', sizeof p);
            p[at] = '&';
            CHECK(sn_scan_byte(p, p + n, '&') == p + at);
            CHECK(sn_scan_byte(p, p + at, '&') == p + at);
            CHECK_EQ(sn_scan_count(p, n, '&'), 1);
            CHECK(!sn_scan_is_literal(p, n) && sn_scan_is_literal(p, at));
            p[at] = (char)0x80;
            CHECK_EQ(sn_scan_ascii(p, n), at);
            CHECK(!sn_scan_is_literal(p, n));
        }
}

TEST(scan_counts_more_than_a_byte_holds)
{
    enum { ALL = 100000 };
    char *p = malloc(ALL);

    memset(p, '\n', ALL);
    CHECK_EQ(sn_scan_count(p, ALL, '\n'), ALL);
    CHECK_EQ(sn_scan_count(p, ALL, 'x'), 0);
    CHECK_EQ(sn_scan_ascii(p, ALL), ALL);
    free(p);
}

TEST(scan_of_nothing_needs_no_place)
{
    CHECK_EQ(sn_scan_ascii(NULL, 0), 0);
    CHECK_EQ(sn_scan_count(NULL, 0, 'x'), 0);
    CHECK(sn_scan_is_literal(NULL, 0));
}
