/* SPDX-License-Identifier: Apache-2.0 */
#include "console/run_hosts.h"

#include <stdio.h>

#include "check.h"

TEST(run_hosts_equal_looks_are_one_and_others_are_not)
{
    sn_run_hosts h = {.n = 0};
    seine_fetch_look a = {.is_all = true, .match = "a.test"}, b = a;

    b.sort = SEINE_SORT_SLOW;
    sn_run_look *usual = sn_run_hosts_want(&h, NULL, SEINE_SECS(1));
    sn_run_look *of_a = sn_run_hosts_want(&h, &a, SEINE_SECS(1));
    sn_run_look *of_b = sn_run_hosts_want(&h, &b, SEINE_SECS(1));

    CHECK(usual && of_a && of_b && usual != of_a && of_a != of_b);
    CHECK_EQ(h.n, 3);
    CHECK(sn_run_hosts_want(&h, &a, SEINE_SECS(2)) == of_a);
    CHECK_EQ(of_a->wanted, SEINE_SECS(7));
    CHECK(sn_run_hosts_find(&h, &a) == NULL); /* nothing has come yet */
    of_a->at = SEINE_SECS(2);
    CHECK(sn_run_hosts_find(&h, &a) == of_a);
    CHECK(sn_run_hosts_find(&h, NULL) == NULL);
    sn_run_hosts_fini(&h);
    CHECK_EQ(h.n, 0);
}

TEST(run_hosts_sixteen_looks_and_no_more)
{
    sn_run_hosts h = {.n = 0};
    seine_fetch_look how = {.is_all = true};

    for (int i = 0; i < SN_RUN_LOOKS + 1; i++) {
        snprintf(how.match, sizeof how.match, "%d.test", i);
        CHECK_EQ(sn_run_hosts_want(&h, &how, SEINE_SECS(1)) != NULL, i < SN_RUN_LOOKS);
    }
    CHECK_EQ(h.n, SN_RUN_LOOKS);
    sn_run_hosts_fini(&h);
}
