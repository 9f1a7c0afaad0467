/* SPDX-License-Identifier: Apache-2.0 */
#include "base/bloom.h"

#include "base/rng.h"
#include "check.h"
#include "failing.h"

TEST(bloom_knows_every_hash_it_was_given)
{
    sn_bloom b = {.n = 0};
    sn_rng rng = sn_rng_seed(check_seed()), again = rng;

    for (int i = 0; i < 100000; i++)
        sn_bloom_add(&b, sn_rng_next(&rng));
    for (int i = 0; i < 100000; i++)
        CHECK(sn_bloom_has(&b, sn_rng_next(&again)));
    sn_bloom_fini(&b);
}

TEST(bloom_takes_few_new_hashes_for_known_ones)
{
    sn_bloom b = {.n = 0};
    sn_rng rng = sn_rng_seed(check_seed());
    int fresh = 0;

    CHECK_EQ(sn_bloom_add(&b, 7), true); /* it is empty: nothing is taken for it */
    for (int i = 0; i < 300000; i++)
        fresh += sn_bloom_add(&b, sn_rng_next(&rng));
    CHECK(fresh > 300000 - 300000 / 30);
    CHECK_EQ(sn_bloom_add(&b, 7), false);
    sn_bloom_fini(&b);
}

TEST(bloom_never_grows_beyond_760_kib)
{
    sn_bloom b = {.n = 0};
    sn_rng rng = sn_rng_seed(check_seed());
    uint64_t last = 0;

    CHECK_EQ(sn_bloom_memory(&b), 0);
    CHECK(!sn_bloom_has(&b, 1));
    for (int i = 0; i < 2000000; i++) {
        last = sn_rng_next(&rng);
        sn_bloom_add(&b, last);
        if (i % 1000 == 0)
            CHECK(sn_bloom_memory(&b) <= 760u << 10);
    }
    CHECK(sn_bloom_has(&b, last));
    sn_bloom_fini(&b);
}

TEST(bloom_without_memory_says_new)
{
    FAIL_EACH(r)
    {
        sn_bloom b = {.n = 0};

        for (uint64_t i = 1; i < 20000; i++)
            (void)sn_bloom_add(&b, i * UINT64_C(0x9e3779b97f4a7c15));
        sn_bloom_fini(&b);
    }
}
