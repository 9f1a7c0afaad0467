/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pattern_table.h"

#include "check.h"
#include "failing.h"

/* Keys like those of a hash. */
static uint64_t
key(uint64_t i)
{
    return (i + 1) * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

static uint32_t
count(sn_pattern_table *t, uint64_t i)
{
    sn_pattern *row = sn_pattern_table_get(t, key(i));

    return row ? ++row->count : 0;
}

TEST(pattern_table_counts_each_pattern_apart)
{
    sn_pattern_table t = {.n = 0};

    CHECK(!sn_pattern_table_find(&t, key(0)));
    for (uint64_t i = 0; i < SN_PATTERN_ROWS; i++)
        CHECK_EQ(count(&t, i), 1);
    for (uint64_t i = 0; i < SN_PATTERN_ROWS; i++)
        CHECK_EQ(count(&t, i), 2);
    CHECK_EQ(t.n, SN_PATTERN_ROWS);
    CHECK(sn_pattern_table_memory(&t) <= 256u << 10);
    sn_pattern_table_fini(&t);
}

TEST(pattern_table_knows_what_memory_it_has)
{
    sn_pattern_table t = {.n = 0};

    count_begin();
    for (uint64_t i = 0; i < 100; i++)
        count(&t, i);
    for (int looked = 0; looked < 2; looked++) {
        size_t says = sn_pattern_table_memory(&t), has = (size_t)count_bytes();

        CHECK(says <= has && says > has - has / 16);
        if (!looked)
            sn_pattern_table_get(&t, key(7))->novelty =
                sn_novelty_new(SN_NOVELTY_PATTERN);
        t.n_looked = 1;
    }
    sn_pattern_table_fini(&t);
    count_end();
}

TEST(pattern_table_that_is_full_forgets_the_small_and_old_and_merges_nothing)
{
    sn_pattern_table t = {.n = 0};

    for (uint64_t i = 0; i < 500; i++) /* large ones, and old */
        for (int k = 0; k < 3; k++)
            count(&t, i);
    sn_pattern_table_get(&t, key(499))->novelty = sn_novelty_new(SN_NOVELTY_PATTERN);
    t.n_looked = 1;
    for (uint64_t i = 500; i < 100000; i++) {
        CHECK_EQ(count(&t, i), 1); /* never the count of another one */
        CHECK(t.n <= SN_PATTERN_ROWS && t.room <= 2 * SN_PATTERN_ROWS);
    }
    for (uint64_t i = 0; i < 500; i++)
        CHECK_EQ(sn_pattern_table_find(&t, key(i))->count, 3);
    CHECK(sn_pattern_table_find(&t, key(499))->novelty != NULL);
    CHECK(sn_pattern_table_find(&t, key(99999)) != NULL); /* the youngest */
    CHECK(!sn_pattern_table_find(&t, key(500)));          /* the oldest */
    sn_pattern_table_fini(&t);
}

TEST(pattern_table_survives_every_allocation_that_fails)
{
    FAIL_EACH(r)
    {
        sn_pattern_table t = {.n = 0};

        for (uint64_t i = 0; i < 5000; i++)
            (void)count(&t, i);
        sn_pattern_table_fini(&t);
    }
}
