/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/ready_queue.h"

#include "check.h"

/* Hosts with nothing but URLs of one lane. */
static void
fill(sn_host *hosts, sn_visit *v, const char *lanes)
{
    for (size_t i = 0; lanes[i]; i++) {
        hosts[i] = (sn_host){0};
        hosts[i].last[lanes[i] - '0'] = v;
    }
}

TEST(hosts_of_a_lane_have_their_turns_in_the_order_they_came)
{
    sn_host hosts[4];
    sn_visit v = {.next = &v};
    sn_ready_queue r;

    fill(hosts, &v, "1111");
    sn_ready_queue_init(&r);
    CHECK(sn_ready_queue_is_empty(&r));
    for (uint32_t i = 0; i < 3; i++)
        sn_ready_queue_put(&r, hosts, i, false);
    sn_ready_queue_put(&r, hosts, 3, true); /* but who could not go on stays first */
    CHECK(!sn_ready_queue_is_empty(&r));
    CHECK_EQ(sn_ready_queue_take(&r, hosts), 3);
    for (uint32_t i = 0; i < 3; i++)
        CHECK_EQ(sn_ready_queue_take(&r, hosts), i);
    CHECK_EQ(sn_ready_queue_take(&r, hosts), SN_NONE);
    CHECK(sn_ready_queue_is_empty(&r));
}

TEST(high_goes_before_normal_and_urls_of_the_frontier_are_normal)
{
    sn_host hosts[3];
    sn_visit v = {.next = &v};
    sn_ready_queue r;

    fill(hosts, &v, "210");
    hosts[0].last[SN_LOW] = NULL;
    hosts[0].n_offered = 1;
    sn_ready_queue_init(&r);
    for (uint32_t i = 0; i < 3; i++)
        sn_ready_queue_put(&r, hosts, i, false);
    CHECK_EQ(sn_ready_queue_take(&r, hosts), 2);
    CHECK_EQ(sn_ready_queue_take(&r, hosts), 0);
    CHECK_EQ(sn_ready_queue_take(&r, hosts), 1);
}

TEST(the_low_lane_has_one_turn_in_eight_while_it_waits)
{
    sn_host hosts[2];
    sn_visit v = {.next = &v};
    sn_ready_queue r;
    uint32_t low = 0;

    fill(hosts, &v, "12");
    sn_ready_queue_init(&r);
    sn_ready_queue_put(&r, hosts, 0, false);
    sn_ready_queue_put(&r, hosts, 1, false);
    for (int i = 0; i < 80; i++) {
        uint32_t host = sn_ready_queue_take(&r, hosts);
        low += host == 1;
        sn_ready_queue_put(&r, hosts, host, false);
    }
    CHECK_EQ(low, 10);
}
