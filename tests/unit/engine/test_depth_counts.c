/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/depth_counts.h"

#include "check.h"

static void
times(void (*fn)(sn_depth_counts *c, uint32_t depth), sn_depth_counts *c, uint32_t depth,
      int n)
{
    while (n-- > 0)
        fn(c, depth);
}

TEST(a_depth_is_unread_until_twenty_of_its_pages_have_ended)
{
    static sn_depth_counts c;

    CHECK_EQ(sn_depth_counts_unread(&c), 0);
    times(sn_depth_counts_add, &c, 3, 100);
    CHECK_EQ(sn_depth_counts_unread(&c), 100);
    times(sn_depth_counts_end, &c, 3, 19);
    CHECK_EQ(sn_depth_counts_unread(&c), 81);
    times(sn_depth_counts_end, &c, 3, 1);
    CHECK_EQ(sn_depth_counts_unread(&c), 0); /* the other 80 are as these were */
    times(sn_depth_counts_add, &c, 4, 7);
    CHECK_EQ(sn_depth_counts_unread(&c), 7);
    times(sn_depth_counts_end, &c, 4, 7); /* few, and all of them read */
    CHECK_EQ(sn_depth_counts_unread(&c), 0);
}

TEST(depths_beyond_the_last_place_share_it)
{
    static sn_depth_counts c;

    times(sn_depth_counts_add, &c, 63, 5);
    times(sn_depth_counts_add, &c, UINT32_MAX, 6);
    CHECK_EQ(sn_depth_counts_unread(&c), 11);
    times(sn_depth_counts_end, &c, 1000, 11);
    CHECK_EQ(sn_depth_counts_unread(&c), 0);
}
