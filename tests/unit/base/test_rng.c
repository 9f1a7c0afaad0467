/* SPDX-License-Identifier: Apache-2.0 */
#include "base/rng.h"

#include <string.h>

#include "check.h"

/* First outputs for the state 1 2 3 4, as the authors' program prints them. */
TEST(rng_is_xoshiro256_starstar)
{
    static const uint64_t want[] = {
        11520u,
        0u,
        1509978240u,
        1215971899390074240u,
        1216172134540287360u,
        607988272756665600u,
        16172922978634559625u,
        8476171486693032832u,
        10595114339597558777u,
        2904607092377533576u,
    };
    sn_rng r = {{1, 2, 3, 4}};

    EACH_ROW(i, want)
        CHECK(sn_rng_next(&r) == want[i]);
}

/* First outputs of splitmix64 for 1234567, as published with the generator. */
TEST(rng_seed_is_spread_by_splitmix64)
{
    static const uint64_t want[] = {6457827717110365317u, 3203168211198807973u,
                                    9817491932198370423u, 4593380528125082431u};
    sn_rng r = sn_rng_seed(1234567);

    EACH_ROW(i, want)
        CHECK(r.s[i] == want[i]);
    r = sn_rng_seed(0); /* a state of zeros would stay there */
    CHECK((r.s[0] | r.s[1] | r.s[2] | r.s[3]) != 0);
}

TEST(rng_repeats_itself_for_the_same_seed_only)
{
    sn_rng a = sn_rng_seed(42), b = sn_rng_seed(42), c = sn_rng_seed(43);
    int same = 0;

    for (int i = 0; i < 100; i++) {
        uint64_t x = sn_rng_next(&a);

        CHECK(x == sn_rng_next(&b));
        same += x == sn_rng_next(&c);
    }
    CHECK_EQ(same, 0);
}

TEST(rng_below_stays_below_and_reaches_everything)
{
    sn_rng r = sn_rng_seed(check_seed());

    CHECK_EQ(sn_rng_below(&r, 0), 0);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(sn_rng_below(&r, 1), 0);
    for (uint64_t n = 2; n < 20; n++) {
        uint64_t seen = 0;

        for (int i = 0; i < 1000; i++) {
            uint64_t x = sn_rng_below(&r, n);

            CHECK(x < n);
            seen |= (uint64_t)1 << x;
        }
        CHECK(seen == ((uint64_t)1 << n) - 1); /* missed with chance 19 (18/19)^1000 */
    }
}

/* The product maps four draws to three values of [0, 3 * 2^62): without drawing
 * again, multiples of 3 would come twice as often. */
TEST(rng_below_is_even_where_a_product_is_not)
{
    const uint64_t n = (uint64_t)3 << 62;
    sn_rng r = sn_rng_seed(7);
    int thirds[3] = {0}, by_rest[3] = {0};

    for (int i = 0; i < 30000; i++) {
        uint64_t x = sn_rng_below(&r, n);

        thirds[x >> 62]++;
        by_rest[x % 3]++;
    }
    for (int i = 0; i < 3; i++) {
        CHECK(thirds[i] > 9600 && thirds[i] < 10400); /* 5 standard deviations */
        CHECK(by_rest[i] > 9600 && by_rest[i] < 10400);
    }
}

TEST(rng_secrets_differ_and_fill_all_of_the_room)
{
    unsigned char a[1000] = {0}, b[1000] = {0};
    int zeros = 0;

    sn_rng_secret(a, sizeof a);
    sn_rng_secret(b, sizeof b - 1);
    sn_rng_secret(b, 0);
    CHECK(memcmp(a, b, sizeof a - 1) != 0);
    CHECK_EQ(b[999], 0);
    for (size_t i = 990; i < sizeof a; i++)
        zeros += a[i] == 0;
    CHECK(zeros < 10);
}
