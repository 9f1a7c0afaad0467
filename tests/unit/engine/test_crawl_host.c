/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/crawl_host.h"

#include <stdio.h>
#include <string.h>

#include "base/timer_wheel.h"
#include "check.h"
#include "failing.h"

TEST(a_site_is_28_bytes)
{
    CHECK(sizeof(sn_crawl_host) <= 28);
}

TEST(crawl_hosts_are_made_up_to_the_host_that_is_asked_for)
{
    sn_crawl_hosts s;
    sn_crawl_host *site;

    sn_crawl_hosts_init(&s);
    CHECK_EQ(sn_crawl_hosts_at(&s, 1000, &site), SEINE_OK);
    CHECK_EQ(s.n, 1001);
    CHECK_EQ(site->state, SN_NONE);
    CHECK(!sn_crawl_hosts_state(&s, 1000));
    CHECK(!sn_crawl_hosts_state(&s, 5000));
    sn_crawl_hosts_fini(&s);
}

TEST(an_extra_stays_where_it_is_while_others_come)
{
    sn_crawl_hosts s;
    sn_crawl_state *first, *x;

    sn_crawl_hosts_init(&s);
    CHECK_EQ(sn_crawl_hosts_make_state(&s, 0, &first), SEINE_OK);
    first->n_maps = 7;
    for (uint32_t i = 1; i < 500; i++)
        CHECK_EQ(sn_crawl_hosts_make_state(&s, i, &x), SEINE_OK);
    CHECK(sn_crawl_hosts_state(&s, 0) == first);
    CHECK_EQ(first->n_maps, 7);
    CHECK_EQ(first->host, 0);
    sn_crawl_hosts_fini(&s);
}

static void
give_rules(sn_crawl_hosts *s, uint32_t host, int n)
{
    char text[4096] = "User-agent: *\n";
    sn_crawl_state *x;
    seine_fault end = SEINE_FAULT;

    end.status = 200;
    for (size_t at = strlen(text); n > 0; n--)
        at += (size_t)snprintf(text + at, sizeof text - at, "Disallow: /x\n");
    CHECK_EQ(sn_crawl_hosts_make_state(s, host, &x), SEINE_OK);
    size_t before = sn_robots_cache_bytes(&x->robots);
    sn_robots_cache_settle(&x->robots, &end, sn_str_of(text), "seine", 0);
    sn_crawl_hosts_count_robots(s, x, before);
}

static bool
is_odd(uint32_t host, void *arg)
{
    (void)arg;
    return host % 2 == 1;
}

TEST(crawl_hosts_give_up_rules_by_bytes_and_of_quiet_hosts_alone)
{
    sn_crawl_hosts s;

    sn_crawl_hosts_init(&s);
    for (uint32_t i = 0; i < 100; i++)
        give_rules(&s, i, 50);
    give_rules(&s, 7, 10); /* read anew: the old ones do not count any more */
    size_t one = sn_robots_cache_bytes(&sn_crawl_hosts_state(&s, 0)->robots);
    size_t few = sn_robots_cache_bytes(&sn_crawl_hosts_state(&s, 7)->robots);
    CHECK(few < one / 2);
    CHECK_EQ(s.robots_bytes, 99 * one + few);
    CHECK(sn_crawl_hosts_shrink_robots(&s, 60 * one, is_odd, NULL));
    CHECK(s.robots_bytes <= 60 * one && s.robots_bytes > 58 * one);
    CHECK(!sn_crawl_hosts_shrink_robots(&s, 10 * one, is_odd, NULL));
    CHECK_EQ(s.robots_bytes, 50 * one);
    CHECK_EQ(sn_crawl_hosts_state(&s, 1)->robots.state, SN_ROBOTS_UNKNOWN);
    CHECK_EQ(sn_crawl_hosts_state(&s, 2)->robots.state, SN_ROBOTS_PARSED);
    give_rules(&s, 8, 90);
    CHECK_EQ(sn_crawl_hosts_largest_robots(&s, one), 8);
    sn_crawl_hosts_drop_robots(&s, sn_crawl_hosts_state(&s, 8));
    CHECK_EQ(sn_crawl_hosts_largest_robots(&s, one), SN_NONE);
    CHECK_EQ(s.robots_bytes, 49 * one);
    sn_crawl_hosts_fini(&s);
    CHECK_EQ(s.robots_bytes, 0);
}

static bool
is_even(uint32_t host, void *arg)
{
    (void)arg;
    return host % 2 == 0;
}

TEST(extras_of_idle_hosts_go_when_there_are_many_and_of_no_others)
{
    enum { HOSTS = 40001 }; /* the last block of states is not full */
    sn_crawl_hosts s;
    sn_crawl_state *x;

    sn_crawl_hosts_init(&s);
    for (uint32_t i = 0; i < 100; i++)
        CHECK_EQ(sn_crawl_hosts_make_state(&s, i, &x), SEINE_OK);
    sn_crawl_hosts_evict(&s, is_even, NULL);
    CHECK_EQ(s.used, 100); /* that is not many */
    for (uint32_t i = 100; i < HOSTS; i++)
        CHECK_EQ(sn_crawl_hosts_make_state(&s, i, &x), SEINE_OK);
    for (int i = 0; i < HOSTS; i++)
        sn_crawl_hosts_evict(&s, is_even, NULL);
    CHECK_EQ(s.used, HOSTS / 2);
    for (uint32_t i = 0; i < HOSTS; i++)
        CHECK_EQ(sn_crawl_hosts_state(&s, i) != NULL, i % 2 == 1);
    uint32_t made = s.n_states;
    CHECK_EQ(sn_crawl_hosts_make_state(&s, 0, &x), SEINE_OK);
    CHECK_EQ(s.n_states, made); /* in the place of one that went */
    CHECK(x->robots.state == SN_ROBOTS_UNKNOWN && x->patterns.n == 0);
    sn_crawl_hosts_fini(&s);
}

TEST(hosts_of_a_domain_are_counted)
{
    sn_crawl_hosts s;
    uint32_t n;

    sn_crawl_hosts_init(&s);
    for (uint32_t i = 1; i <= 3; i++) {
        CHECK_EQ(sn_crawl_hosts_domain(&s, SN_STR("e.example"), &n), SEINE_OK);
        CHECK_EQ(n, i);
    }
    CHECK_EQ(sn_crawl_hosts_domain(&s, SN_STR("f.example"), &n), SEINE_OK);
    CHECK_EQ(n, 1);
    sn_crawl_hosts_fini(&s);
}

TEST(crawl_hosts_stand_a_lack_of_memory)
{
    FAIL_EACH(r)
    {
        sn_crawl_hosts s;
        sn_crawl_state *x;
        uint32_t n;

        sn_crawl_hosts_init(&s);
        for (uint32_t i = 0; i < 70; i++) {
            seine_err e = sn_crawl_hosts_make_state(&s, i, &x);
            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        }
        seine_err e = sn_crawl_hosts_domain(&s, SN_STR("e.example"), &n);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        sn_crawl_hosts_fini(&s);
    }
}
