/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/segment_counts.h"

#include <stdio.h>

#include "check.h"
#include "failing.h"

static bool
recur(const sn_segment_counts *c, const char *path)
{
    return sn_segment_counts_recur(c, sn_str_of(path));
}

/* Pages of names out of so many, and of a number of their own. */
static void
add(sn_segment_counts *c, unsigned pages, unsigned names, unsigned from)
{
    char path[64];

    for (unsigned i = 0; i < pages; i++) {
        int n = snprintf(path, sizeof path, "/shop/a%u/b%u/%u", i % names, i / 7 % names,
                         from + i);
        sn_segment_counts_add(c, (sn_str){path, (size_t)n});
    }
}

TEST(segment_counts_find_names_that_recur)
{
    sn_segment_counts c = {0};

    CHECK(!recur(&c, "/shop/a1/b1"));
    add(&c, 63, 4, 0);
    CHECK(!recur(&c, "/shop/a3/b1")); /* a3 stands on 15 pages */
    add(&c, 1000, 4, 63);
    CHECK(recur(&c, "/shop/a1/b1"));
    CHECK(recur(&c, "/b1/a1/a2/b3/shop/"));
    CHECK(!recur(&c, "/shop/a1/17")); /* a number of one page */
    CHECK(!recur(&c, "/shop/a1/b9"));
    CHECK(!recur(&c, "/shop")); /* one name cannot be combined */
    CHECK(!recur(&c, "/"));
    sn_segment_counts_fini(&c);
}

TEST(segment_counts_ask_for_one_page_of_64)
{
    sn_segment_counts c = {0};

    add(&c, 2000, 40, 0);
    CHECK(recur(&c, "/shop/a1/b1"));
    sn_segment_counts_fini(&c);
    add(&c, 2000, 100, 0);
    CHECK(!recur(&c, "/shop/a1/b1"));
    sn_segment_counts_fini(&c);
}

TEST(segment_counts_forget_what_was_long_ago)
{
    sn_segment_counts c = {0};

    add(&c, 2000, 4, 0);
    for (unsigned i = 0; i < 20000; i++)
        sn_segment_counts_add(&c, SN_STR("/other/name"));
    CHECK(!recur(&c, "/shop/a1/b1"));
    CHECK(recur(&c, "/other/name"));
    sn_segment_counts_fini(&c);
}

TEST(segment_counts_survive_many_names)
{
    sn_segment_counts c = {0};
    char path[64];

    for (unsigned i = 0; i < 200000; i++) {
        int n = snprintf(path, sizeof path, "/%s/x%u/y%u/z%u", i % 3 ? "a" : "b", i,
                         i * 7, i * 11);
        sn_segment_counts_add(&c, (sn_str){path, (size_t)n});
        CHECK(c.used <= SN_SEGMENTS_COUNTED);
    }
    CHECK(recur(&c, "/a/b"));
    CHECK(!recur(&c, "/a/x199999"));
    sn_segment_counts_fini(&c);
}

TEST(segment_counts_count_nothing_without_memory)
{
    FAIL_EACH(r)
    {
        sn_segment_counts c = {0};

        for (unsigned i = 0; i < 20; i++)
            sn_segment_counts_add(&c, SN_STR("/a/b"));
        CHECK(recur(&c, "/a/b") || fail_hit());
        sn_segment_counts_fini(&c);
    }
}
