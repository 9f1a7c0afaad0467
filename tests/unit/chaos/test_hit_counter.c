/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/hit_counter.h"

#include <stdio.h>

#include "check.h"
#include "failing.h"

#define T0 SEINE_SECS(1000)

TEST(keys_are_counted_apart)
{
    snc_hit_counter t;

    snc_hit_counter_init(&t);
    CHECK_EQ(snc_hit_counter_hit(&t, SN_STR("a"))->hits, 1);
    CHECK_EQ(snc_hit_counter_hit(&t, SN_STR("b"))->hits, 1);
    CHECK_EQ(snc_hit_counter_hit(&t, SN_STR("a"))->hits, 2);
    snc_hit_counter_reset(&t);
    CHECK_EQ(snc_hit_counter_hit(&t, SN_STR("a"))->hits, 1);
    snc_hit_counter_fini(&t);
}

TEST(a_rate_lets_so_many_in_during_any_window_to_the_nanosecond)
{
    snc_hit_counter t;

    snc_hit_counter_init(&t);
    snc_key *k = snc_hit_counter_hit(&t, SN_STR("a"));
    CHECK(!snc_key_limit(k, T0, 2, SEINE_SECS(1)));
    CHECK(!snc_key_limit(k, T0 + 10, 2, SEINE_SECS(1)));
    CHECK(snc_key_limit(k, T0 + 20, 2, SEINE_SECS(1)));
    CHECK(snc_key_limit(k, T0 + SEINE_SECS(1) - 1, 2, SEINE_SECS(1)));
    CHECK(!snc_key_limit(k, T0 + SEINE_SECS(1), 2, SEINE_SECS(1)));    /* T0 has left */
    CHECK(snc_key_limit(k, T0 + SEINE_SECS(1) + 9, 2, SEINE_SECS(1))); /* T0 + 10 not */
    CHECK(!snc_key_limit(k, T0 + SEINE_SECS(1) + 10, 2, SEINE_SECS(1)));
    snc_hit_counter_fini(&t);
}

TEST(keys_that_find_no_room_are_counted)
{
    snc_hit_counter t;
    char name[16];

    snc_hit_counter_init(&t);
    t.keys.max = 3;
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "%d", i);
        CHECK_EQ(snc_hit_counter_hit(&t, sn_str_of(name)) != NULL, i < 3);
    }
    CHECK_EQ(t.dropped, 2);
    CHECK_EQ(snc_hit_counter_hit(&t, SN_STR("0"))->hits, 2);
    snc_hit_counter_fini(&t);
}

TEST(without_memory_nobody_is_counted_and_nobody_is_too_fast)
{
    FAIL_EACH(r)
    {
        snc_hit_counter t;

        snc_hit_counter_init(&t);
        snc_key *k = snc_hit_counter_hit(&t, SN_STR("a"));
        CHECK_EQ(t.dropped, k ? 0 : 1);
        if (k)
            CHECK(!snc_key_limit(k, T0, 1, SEINE_SECS(1)));
        snc_hit_counter_fini(&t);
    }
}
