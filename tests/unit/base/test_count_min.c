/* SPDX-License-Identifier: Apache-2.0 */
#include "base/count_min.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "check.h"

TEST(count_min_is_never_too_small_and_rarely_too_large)
{
    sn_count_min *c = sn_zalloc(sizeof *c);
    sn_rng rng = sn_rng_seed(check_seed());
    unsigned high = 0;

    for (uint32_t i = 1; i <= 100; i++)
        CHECK(sn_count_min_add(c, 12345) >= i);
    for (int i = 0; i < 20000; i++)
        sn_count_min_add(c, sn_rng_next(&rng));
    CHECK(sn_count_min_add(c, 12345) >= 101);
    for (int i = 0; i < 1000; i++)
        high += sn_count_min_add(c, sn_rng_next(&rng)) > 8;
    CHECK_EQ(high, 0);
    sn_free(c);
}

TEST(count_min_halves_and_does_not_wrap)
{
    sn_count_min *c = sn_zalloc(sizeof *c);

    for (int i = 0; i < 40; i++)
        sn_count_min_add(c, 99);
    sn_count_min_halve(c);
    CHECK_EQ(sn_count_min_add(c, 99), 21);
    for (int i = 0; i < 70000; i++)
        sn_count_min_add(c, 99);
    CHECK_EQ(sn_count_min_add(c, 99), UINT16_MAX);
    sn_free(c);
}
