/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/lastmod_table.h"

#include "check.h"

TEST(lastmod_table_knows_the_latest_date_of_each_url)
{
    sn_lastmod_table t;

    sn_lastmod_table_init(&t);
    CHECK_EQ(sn_lastmod_table_get(&t, 7), 0);
    CHECK_EQ(sn_lastmod_table_put(&t, 7, 100), SEINE_OK);
    CHECK_EQ(sn_lastmod_table_put(&t, 7, 300), SEINE_OK);
    CHECK_EQ(sn_lastmod_table_put(&t, 7, 200), SEINE_OK);
    CHECK_EQ(sn_lastmod_table_put(&t, 8, -5), SEINE_OK);
    CHECK_EQ(sn_lastmod_table_get(&t, 7), 300);
    CHECK_EQ(sn_lastmod_table_get(&t, 8), 0);
    sn_lastmod_table_fini(&t);
}

TEST(lastmod_table_keeps_many_and_those_that_fall_together)
{
    sn_lastmod_table t;

    sn_lastmod_table_init(&t);
    for (uint64_t i = 1; i <= 5000; i++)
        CHECK_EQ(sn_lastmod_table_put(&t, i << 40, (int64_t)i), SEINE_OK);
    for (uint64_t i = 1; i <= 5000; i++)
        CHECK_EQ(sn_lastmod_table_get(&t, i << 40), (int64_t)i);
    CHECK_EQ(sn_lastmod_table_get(&t, UINT64_C(5001) << 40), 0);
    CHECK_EQ(t.n, 5000);
    CHECK(4 * t.n <= 3 * t.room);
    sn_lastmod_table_fini(&t);
}
