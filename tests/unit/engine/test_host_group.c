/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host_group.h"

#include "check.h"

static sn_group_rule
rule_of(sn_host_groups *all, uint32_t count, uint32_t burst, uint32_t most)
{
    sn_group_rule r = {.group = sn_host_groups_get(all, "g"), .most = most};
    seine_rate rate = {count, SEINE_SECS(1), burst};

    CHECK(r.group != NULL);
    if (count > 0)
        CHECK_EQ(seine_limiter_init_rate(&r.limit, &rate, SEINE_FULL, 0), SEINE_OK);
    return r;
}

TEST(host_group_lets_one_start_per_interval_pass)
{
    sn_host_groups all;
    seine_time mark, when = 0, now = SEINE_SECS(100);

    sn_host_groups_init(&all);
    sn_group_rule r = rule_of(&all, 2, 1, 0);
    CHECK_EQ(sn_group_rule_take(&r, now, &mark, &when), SEINE_OK);
    CHECK_EQ(sn_group_rule_take(&r, now, &mark, &when), SEINE_E_LIMITED);
    CHECK_EQ(when, now + SEINE_MS(500));
    CHECK_EQ(sn_group_rule_take(&r, when - 1, &mark, &when), SEINE_E_LIMITED);
    CHECK_EQ(sn_group_rule_take(&r, when, &mark, &when), SEINE_OK);
    CHECK_EQ(atomic_load(&r.group->in_flight), 2); /* a refusal takes nothing */
    sn_host_groups_fini(&all);
}

TEST(host_group_lets_so_many_be_in_flight)
{
    sn_host_groups all;
    seine_time mark, when = 0;

    sn_host_groups_init(&all);
    sn_group_rule r = rule_of(&all, 0, 1, 2);
    CHECK_EQ(sn_group_rule_take(&r, 5, &mark, &when), SEINE_OK);
    CHECK_EQ(sn_group_rule_take(&r, 5, &mark, &when), SEINE_OK);
    CHECK_EQ(sn_group_rule_take(&r, 5, &mark, &when), SEINE_E_BUSY);
    CHECK(when > 5);
    sn_group_rule_end(&r);
    CHECK_EQ(sn_group_rule_take(&r, 5, &mark, &when), SEINE_OK);
    sn_host_groups_fini(&all);
}

TEST(host_group_gets_back_what_was_not_used)
{
    sn_host_groups all;
    seine_time mark, when = 0, now = SEINE_SECS(9);

    sn_host_groups_init(&all);
    sn_group_rule r = rule_of(&all, 1, 1, 1);
    CHECK_EQ(sn_group_rule_take(&r, now, &mark, &when), SEINE_OK);
    sn_group_rule_undo(&r, mark, now);
    CHECK_EQ(sn_group_rule_take(&r, now, &mark, &when), SEINE_OK);
    CHECK_EQ(sn_group_rule_take(&r, now, &mark, &when), SEINE_E_BUSY);
    sn_host_groups_fini(&all);
}

TEST(host_group_keeps_its_debt_when_its_rule_changes)
{
    sn_host_groups all;
    seine_time mark, when = 0, now = SEINE_SECS(50);

    sn_host_groups_init(&all);
    sn_group_rule slow = rule_of(&all, 1, 1, 0);
    CHECK_EQ(sn_group_rule_take(&slow, now, &mark, &when), SEINE_OK);
    sn_group_rule same = rule_of(&all, 1, 1, 0); /* the file was loaded again */
    CHECK_EQ(same.group == slow.group, true);
    CHECK_EQ(sn_group_rule_take(&same, now, &mark, &when), SEINE_E_LIMITED);
    CHECK_EQ(when, now + SEINE_SECS(1));
    CHECK_EQ(atomic_load(&same.group->in_flight), 1);
    sn_host_groups_fini(&all);
}
