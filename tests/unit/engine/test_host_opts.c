/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/host_opts.h"

#include "check.h"
#include "seine/fetch.h"

TEST(host_opts_rank_by_how_specific_they_are)
{
    static const char *const rising[] = {"*", "*.example", "*.b.example", "b.example",
                                         "b.example:81"};
    uint32_t last = 0;

    for (size_t i = 0; i < 5; i++) {
        seine_host_opts o = SEINE_HOST_OPTS;

        o.match = rising[i];
        uint32_t rank = seine_host_opts_rank(&o, i == 2 ? "x.b.example" : "b.example:81");

        CHECK(rank > last);
        o.is_weak = true;
        CHECK(seine_host_opts_rank(&o, i == 2 ? "x.b.example" : "b.example:81") < 100000);
        CHECK_EQ(seine_host_opts_rank(&o, "other.test"), i == 0 ? 1 : 0);
        last = rank;
    }
}

TEST(host_opts_begin_with_nothing_said)
{
    seine_host_opts o = SEINE_HOST_OPTS;
    seine_group_opts g = SEINE_GROUP_OPTS;

    CHECK_EQ(o.size, sizeof o);
    CHECK_EQ(o.set, 0);
    CHECK_EQ(o.park, SEINE_PARK_AUTO);
    CHECK_EQ(g.size, sizeof g);
    CHECK_EQ(g.per_host, 0);
    CHECK_EQ(seine_host_opts_rank(&o, "e.example"), 0);
}
