/* SPDX-License-Identifier: Apache-2.0 */
#include "net/conn_pool.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

#define T0 SEINE_SECS(100)

static sn_origin *
origin(sn_conn_pool *s, const char *key)
{
    sn_origin *o = NULL;

    CHECK_EQ(sn_conn_pool_origin(s, sn_str_of(key), &o), SEINE_OK);
    return o;
}

TEST(conn_pool_last_in_is_first_out)
{
    sn_conn_pool s;
    sn_pooled_conn items[3] = {0};

    sn_conn_pool_init(&s, 10, 10);
    sn_origin *o = origin(&s, "http://a"), *p = origin(&s, "http://b");
    CHECK(o != p);
    CHECK(!sn_conn_pool_put(&s, o, &items[0]));
    CHECK(!sn_conn_pool_put(&s, p, &items[1]));
    CHECK(!sn_conn_pool_put(&s, o, &items[2]));
    CHECK(sn_conn_pool_newest(o) == &items[2]);
    CHECK(sn_conn_pool_below(&items[2]) == &items[0]);
    CHECK(!sn_conn_pool_below(&items[0]));
    CHECK(sn_conn_pool_newest(p) == &items[1]);
    CHECK(sn_conn_pool_oldest(&s) == &items[0]);
    sn_conn_pool_drop(&s, &items[0]);
    CHECK(sn_conn_pool_oldest(&s) == &items[1]);
    CHECK(!items[0].origin);
    sn_conn_pool_drop(&s, &items[2]);
    sn_conn_pool_drop(&s, &items[1]);
    CHECK(!sn_conn_pool_oldest(&s));
    sn_conn_pool_leave(&s, o);
    sn_conn_pool_leave(&s, p);
    CHECK_EQ(s.origins.count, 0);
    sn_conn_pool_fini(&s);
}

TEST(conn_pool_at_the_bound_the_longest_idle_goes)
{
    sn_conn_pool s;
    sn_pooled_conn items[6] = {0};

    sn_conn_pool_init(&s, 4, 2);
    sn_origin *o = origin(&s, "a"), *p = origin(&s, "b"), *q = origin(&s, "c");
    CHECK(!sn_conn_pool_put(&s, o, &items[0]));
    CHECK(!sn_conn_pool_put(&s, p, &items[1]));
    CHECK(!sn_conn_pool_put(&s, p, &items[2]));
    CHECK(sn_conn_pool_put(&s, p, &items[3]) == &items[1]); /* the origin's bound */
    CHECK(!sn_conn_pool_put(&s, q, &items[4]));
    CHECK_EQ(s.n, 4);
    CHECK(sn_conn_pool_put(&s, q, &items[5]) == &items[0]); /* the bound of all */
    CHECK_EQ(s.n, 4);
    for (int i = 2; i < 6; i++)
        sn_conn_pool_drop(&s, &items[i]);
    sn_conn_pool_leave(&s, o);
    sn_conn_pool_leave(&s, p);
    sn_conn_pool_leave(&s, q);
    sn_conn_pool_fini(&s);
}

TEST(conn_pool_with_room_for_none_gives_it_back)
{
    sn_conn_pool s;
    sn_pooled_conn item = {0};

    sn_conn_pool_init(&s, 0, 5);
    sn_origin *o = origin(&s, "a");
    CHECK(sn_conn_pool_put(&s, o, &item) == &item);
    s.max = 5;
    s.max_origin = 0;
    CHECK(sn_conn_pool_put(&s, o, &item) == &item);
    CHECK_EQ(s.n, 0);
    sn_conn_pool_leave(&s, o);
    sn_conn_pool_fini(&s);
}

TEST(conn_pool_origin_lives_while_it_is_used)
{
    sn_conn_pool s;

    sn_conn_pool_init(&s, 4, 4);
    sn_origin *o = origin(&s, "http://e.example");
    CHECK(origin(&s, "http://e.example") == o);
    sn_origin_use(o);
    sn_conn_pool_leave(&s, o);
    sn_conn_pool_leave(&s, o);
    CHECK_EQ(s.origins.count, 1);
    sn_conn_pool_leave(&s, o);
    CHECK_EQ(s.origins.count, 0);
    sn_conn_pool_fini(&s);
}

TEST(conn_pool_family_that_won_is_remembered_for_ten_minutes)
{
    sn_conn_pool s;

    sn_conn_pool_init(&s, 4, 4);
    sn_origin *o = origin(&s, "a");
    CHECK_EQ(sn_origin_family(o, T0), 0);
    sn_origin_won(o, 4, T0);
    sn_conn_pool_leave(&s, o); /* nobody uses it, and it is still there */
    CHECK(origin(&s, "a") == o);
    CHECK_EQ(sn_origin_family(o, T0 + SEINE_SECS(600) - 1), 4);
    CHECK_EQ(sn_origin_family(o, T0 + SEINE_SECS(600)), 0);
    sn_conn_pool_leave(&s, o);
    sn_conn_pool_fini(&s);
}

TEST(conn_pool_remembers_4096_origins_nobody_uses)
{
    sn_conn_pool s;
    char key[32];

    sn_conn_pool_init(&s, 4, 4);
    for (int i = 0; i < SN_ORIGINS_KEPT + 10; i++) {
        snprintf(key, sizeof key, "o%d", i);
        sn_origin *o = origin(&s, key);
        sn_origin_won(o, 6, T0);
        sn_conn_pool_leave(&s, o);
    }
    CHECK_EQ(s.origins.count, SN_ORIGINS_KEPT);
    sn_origin *o = origin(&s, "o9"); /* forgotten, and new */
    CHECK_EQ(sn_origin_family(o, T0), 0);
    sn_conn_pool_leave(&s, o);
    o = origin(&s, "o10");
    CHECK_EQ(sn_origin_family(o, T0), 6);
    sn_conn_pool_leave(&s, o);
    sn_conn_pool_fini(&s);
    sn_conn_pool_fini(&(sn_conn_pool){0});
}

/* Beside arrays in which the newest stands last. */
TEST(conn_pool_does_what_two_plain_lists_would_do)
{
    enum { ITEMS = 24, ORIGINS = 4, MOST = 9, MOST_ORIGIN = 4 };
    sn_rng dice = sn_rng_seed(check_seed());
    sn_conn_pool s;
    sn_pooled_conn items[ITEMS] = {0};
    sn_origin *origins[ORIGINS];
    int list[ITEMS], whose[ITEMS], n = 0;

    sn_conn_pool_init(&s, MOST, MOST_ORIGIN);
    for (int i = 0; i < ORIGINS; i++)
        origins[i] = origin(&s, (char[]){(char)('a' + i), 0});
    for (int step = 0; step < 20000; step++) {
        int i = (int)sn_rng_below(&dice, ITEMS), at = 0, gone = -1;

        while (at < n && list[at] != i)
            at++;
        if (at < n) { /* is idle */
            sn_conn_pool_drop(&s, &items[i]);
            gone = at;
        } else {
            int o = (int)sn_rng_below(&dice, ORIGINS), same = 0;

            whose[i] = o;
            list[n++] = i;
            for (int k = 0; k < n; k++)
                same += whose[list[k]] == o;
            for (int k = n; k-- > 0;)
                if (same > MOST_ORIGIN ? whose[list[k]] == o : n > MOST)
                    gone = k;
            CHECK(sn_conn_pool_put(&s, origins[o], &items[i]) ==
                  (gone < 0 ? NULL : &items[list[gone]]));
        }
        if (gone >= 0) {
            memmove(&list[gone], &list[gone + 1], (size_t)(n - gone - 1) * sizeof *list);
            n--;
        }
        CHECK_EQ(s.n, n);
        CHECK(sn_conn_pool_oldest(&s) == (n > 0 ? &items[list[0]] : NULL));
        for (int o = 0; o < ORIGINS; o++) {
            const sn_pooled_conn *next = sn_conn_pool_newest(origins[o]);

            for (int k = n; k-- > 0;)
                if (whose[list[k]] == o) {
                    CHECK(next == &items[list[k]]);
                    next = next ? sn_conn_pool_below(next) : NULL;
                }
            CHECK(!next);
        }
    }
    while (sn_conn_pool_oldest(&s))
        sn_conn_pool_drop(&s, sn_conn_pool_oldest(&s));
    for (int i = 0; i < ORIGINS; i++)
        sn_conn_pool_leave(&s, origins[i]);
    sn_conn_pool_fini(&s);
}

TEST(conn_pool_origin_survives_failing_allocations)
{
    FAIL_EACH(n)
    {
        sn_conn_pool s;
        sn_origin *o = NULL;

        sn_conn_pool_init(&s, 4, 4);
        seine_err e = sn_conn_pool_origin(&s, SN_STR("a"), &o);
        CHECK(e == SEINE_OK ? o != NULL : e == SEINE_E_NOMEM && !o);
        if (o)
            sn_conn_pool_leave(&s, o);
        sn_conn_pool_fini(&s);
    }
}

TEST(conn_pool_an_origin_without_reuse_is_remembered)
{
    sn_conn_pool s;

    sn_conn_pool_init(&s, 10, 10);
    sn_origin *o = origin(&s, "http://a");
    CHECK(!o->no_reuse);
    o->no_reuse = true;
    sn_conn_pool_leave(&s, o);
    CHECK_EQ(s.bad.n, 1);
    /* Others that only know their family do not drive it out. */
    for (int i = 0; i < SN_ORIGINS_KEPT + 10; i++) {
        char key[32];

        snprintf(key, sizeof key, "http://%d", i);
        sn_origin *other = origin(&s, key);
        sn_origin_won(other, 4, T0);
        sn_conn_pool_leave(&s, other);
    }
    CHECK_EQ(s.kept.n, SN_ORIGINS_KEPT);
    o = origin(&s, "http://a");
    CHECK(o->no_reuse);
    CHECK_EQ(s.bad.n, 0);
    sn_conn_pool_leave(&s, o);
    /* They are bounded, too. */
    s.bad.max = 2;
    for (int i = 0; i < 3; i++) {
        sn_origin *bad = origin(&s, (char[]){'b', (char)('0' + i), '\0'});

        bad->no_reuse = true;
        sn_conn_pool_leave(&s, bad);
    }
    CHECK_EQ(s.bad.n, 2);
    o = origin(&s, "http://a");
    CHECK(!o->no_reuse);
    sn_conn_pool_leave(&s, o);
    sn_conn_pool_fini(&s);
}
