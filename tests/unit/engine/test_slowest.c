/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/slowest.h"

#include <stdio.h>

#include "shard.h"

static seine_fetch_slowest
look(sn_slowest *s, shard *t, seine_time now)
{
    seine_fetch_slowest out = {.left = 0};

    sn_slowest_get(s, &out); /* the wish */
    sn_slowest_turn(s, t->s, now);
    out = (seine_fetch_slowest){.left = 0};
    sn_slowest_get(s, &out);
    return out;
}

TEST(slowest_is_the_host_with_the_most_to_do_at_its_pace)
{
    shard t;
    sn_slowest s;
    seine_fetch_opts o = polite(); /* five a second */

    sn_slowest_init(&s);
    open_shard(&t, &o);
    for (int i = 0; i < 3; i++)
        add(&t, "http://a.example/", 0);
    for (int i = 0; i < 11; i++)
        add(&t, "http://b.example:8080/", 0);
    seine_fetch_slowest got = look(&s, &t, 0);
    CHECK_STR(got.host, "b.example:8080");
    CHECK_EQ(got.waiting, 11);
    CHECK_EQ(got.every, SEINE_MS(200));
    CHECK_EQ(got.left, SEINE_MS(2000)); /* the first may start now, ten more follow */
    close_shard(&t);
    sn_slowest_fini(&s);
}

TEST(slowest_is_nobody_where_nothing_waits)
{
    shard t;
    sn_slowest s;
    seine_fetch_opts o = polite();

    sn_slowest_init(&s);
    open_shard(&t, &o);
    CHECK_EQ(look(&s, &t, 0).left, 0);
    close_shard(&t);
    sn_slowest_fini(&s);
}

TEST(slowest_is_not_looked_for_where_nobody_asks)
{
    shard t;
    sn_slowest s;
    seine_fetch_opts o = polite();

    sn_slowest_init(&s);
    open_shard(&t, &o);
    for (int i = 0; i < 3; i++)
        add(&t, "http://a.example/", 0);
    sn_slowest_turn(&s, t.s, SEINE_SECS(1));
    CHECK_EQ(s.shown.left, 0);
    close_shard(&t);
    sn_slowest_fini(&s);
}

TEST(slowest_looks_at_many_hosts_a_few_thousand_a_turn)
{
    enum { HOSTS = SN_SLOWEST_LOOK + 1 };
    shard t;
    sn_slowest s;
    seine_fetch_opts o = polite();
    seine_fetch_slowest got = {.left = 0};
    char url[64];

    o.queue = HOSTS + 1;
    sn_slowest_init(&s);
    open_shard(&t, &o);
    for (int i = 0; i < HOSTS; i++) {
        snprintf(url, sizeof url, "http://h%d.example/", i);
        add(&t, url, 0);
    }
    add(&t, url, 0); /* the last has two */
    got = look(&s, &t, 0);
    CHECK_EQ(got.left, 0); /* not all were looked at */
    sn_slowest_turn(&s, t.s, SEINE_MS(100) - 1);
    CHECK_EQ(s.at, SN_SLOWEST_LOOK);
    sn_slowest_turn(&s, t.s, SEINE_MS(100));
    sn_slowest_get(&s, &got);
    CHECK_STR(got.host, "h4096.example");
    CHECK_EQ(got.left, SEINE_MS(200));
    close_shard(&t);
    sn_slowest_fini(&s);
}
