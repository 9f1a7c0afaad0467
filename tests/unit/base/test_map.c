/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

TEST(map_finds_what_was_added)
{
    sn_map m;
    int one = 1, two = 2, zero = 0;

    sn_map_init(&m, 10);
    CHECK(!sn_map_get(&m, SN_STR("one"))); /* empty, nothing allocated */
    CHECK(!sn_map_take(&m, SN_STR("one")));
    CHECK_EQ(sn_map_add(&m, SN_STR("one"), &one), SEINE_OK);
    CHECK_EQ(sn_map_add(&m, SN_STR("two"), &two), SEINE_OK);
    CHECK_EQ(sn_map_add(&m, SN_STR(""), &zero), SEINE_OK); /* no bytes are a key */
    CHECK(sn_map_get(&m, SN_STR("one")) == &one);
    CHECK(sn_map_get(&m, SN_STR("two")) == &two);
    CHECK(sn_map_get(&m, (sn_str){0}) == &zero);
    CHECK(!sn_map_get(&m, SN_STR("three")));
    CHECK(!sn_map_get(&m, SN_STR("one\0")));
    CHECK_EQ(m.count, 3);
    sn_map_fini(&m);
    sn_map_fini(&m); /* empty is fine */
}

TEST(map_says_what_it_cannot_do)
{
    sn_map m;
    int one = 1, other = 2;

    sn_map_init(&m, 2);
    CHECK_EQ(sn_map_add(&m, SN_STR("null"), NULL), SEINE_E_INVAL);
    CHECK_EQ(sn_map_add(&m, SN_STR("one"), &one), SEINE_OK);
    CHECK_EQ(sn_map_add(&m, SN_STR("one"), &other), SEINE_E_ALREADY);
    CHECK(sn_map_get(&m, SN_STR("one")) == &one);
    CHECK_EQ(sn_map_add(&m, SN_STR("two"), &other), SEINE_OK);
    CHECK_EQ(sn_map_add(&m, SN_STR("three"), &other), SEINE_E_FULL);
    CHECK_EQ(sn_map_add(&m, SN_STR("one"), &other), SEINE_E_ALREADY); /* even when full */
    CHECK(sn_map_take(&m, SN_STR("one")) == &one);
    CHECK(!sn_map_get(&m, SN_STR("one")));
    CHECK_EQ(sn_map_add(&m, SN_STR("three"), &other), SEINE_OK);
    sn_map_fini(&m);

    sn_map_init(&m, 0);
    CHECK_EQ(sn_map_add(&m, SN_STR("one"), &one), SEINE_E_FULL);
    CHECK(!m.slots);
    sn_map_fini(&m);
}

TEST(map_walks_every_entry_once)
{
    sn_map m;
    char keys[100][4];
    int seen[100] = {0}, steps = 0;

    sn_map_init(&m, 1000);
    SN_MAP_EACH(entry, &m)
        steps++;
    CHECK_EQ(steps, 0);
    for (int i = 0; i < 100; i++) {
        snprintf(keys[i], sizeof keys[i], "%d", i);
        CHECK_EQ(sn_map_add(&m, sn_str_of(keys[i]), &seen[i]), SEINE_OK);
    }
    SN_MAP_EACH(entry, &m) {
        ++*(int *)entry->value;
        CHECK(entry->key.ptr == keys[(int *)entry->value - seen]);
    }
    for (int i = 0; i < 100; i++)
        CHECK_EQ(seen[i], 1);
    sn_map_fini(&m);
}

TEST(map_reset_forgets_and_keeps_its_slots)
{
    sn_map m;
    int one = 1;

    count_begin();
    sn_map_init(&m, 10);
    sn_map_reset(&m); /* before the first entry */
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(sn_map_add(&m, SN_STR("one"), &one), SEINE_OK);
        sn_map_reset(&m);
        CHECK_EQ(m.count, 0);
        CHECK(!sn_map_get(&m, SN_STR("one")));
    }
    CHECK_EQ(count_calls(), 1);
    sn_map_fini(&m);
    count_end();
}

TEST(map_secrets_differ)
{
    sn_map a, b;

    sn_map_init(&a, 1);
    sn_map_init(&b, 1);
    CHECK(memcmp(a.secret, b.secret, sizeof a.secret) != 0);
}

TEST(map_without_memory_stays_as_it_was)
{
    char keys[40][4];

    for (int i = 0; i < 40; i++)
        snprintf(keys[i], sizeof keys[i], "%d", i);
    FAIL_EACH(r)
    {
        sn_map m;
        size_t added = 0;

        sn_map_init(&m, 100);
        for (int i = 0; i < 40; i++) {
            seine_err e = sn_map_add(&m, sn_str_of(keys[i]), keys[i]);

            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            added += e == SEINE_OK;
            CHECK((sn_map_get(&m, sn_str_of(keys[i])) != NULL) == (e == SEINE_OK));
        }
        CHECK_EQ(m.count, added);
        sn_map_fini(&m);
    }
}

/* No empty slot stands between an entry and its home slot. */
static void
check_reach(const sn_map *m)
{
    SN_MAP_EACH(entry, m) {
        size_t at = entry->hash & (m->room - 1), end = (size_t)(entry - m->slots);

        for (; at != end; at = (at + 1) & (m->room - 1))
            CHECK(m->slots[at].value != NULL);
    }
}

/* Compares with an array indexed by the key's number. Few slots and many removals make
 * runs wrap around the end of the table. */
TEST(map_agrees_with_an_array)
{
    sn_rng r = sn_rng_seed(check_seed());
    char keys[300][8];
    int values[300];
    bool has[300] = {0};

    for (int i = 0; i < 300; i++)
        snprintf(keys[i], sizeof keys[i], "key%d", i);
    for (int round = 0; round < 30; round++) {
        size_t count = 0, max = 1 + sn_rng_below(&r, 250), space = round < 15 ? 12 : 300;
        sn_map m;

        memset(has, 0, sizeof has);
        sn_map_init(&m, max);
        for (int step = 0; step < 600; step++) {
            size_t i = sn_rng_below(&r, space);
            sn_str key = sn_str_of(keys[i]);

            CHECK(sn_map_get(&m, key) == (has[i] ? &values[i] : NULL));
            if (sn_rng_below(&r, 5) < 2) {
                CHECK(sn_map_take(&m, key) == (has[i] ? &values[i] : NULL));
                count -= has[i];
                has[i] = false;
            } else {
                seine_err want = has[i]         ? SEINE_E_ALREADY
                                 : count == max ? SEINE_E_FULL
                                                : SEINE_OK;
                CHECK_EQ(sn_map_add(&m, key, &values[i]), want);
                count += want == SEINE_OK;
                has[i] = has[i] || want == SEINE_OK;
            }
            CHECK_EQ(m.count, count);
            CHECK(m.count <= m.room / 4 * 3);
        }
        check_reach(&m);
        sn_map_fini(&m);
    }
}
