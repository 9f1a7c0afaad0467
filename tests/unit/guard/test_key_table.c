/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/key_table.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

typedef struct thing {
    sn_key_head head;
    uint64_t value;
} thing;

static const uint64_t seed[2] = {1, 2};

static sn_key_table
table(uint32_t max, size_t max_extra)
{
    sn_key_table tab = {0};

    CHECK_EQ(sn_key_table_init(&tab, max, max_extra, sizeof(thing), seed), SEINE_OK);
    return tab;
}

static thing *
put(sn_key_table *tab, seine_view key)
{
    sn_key_lookup q = sn_key_table_seek(tab, key);
    thing *t = NULL;

    CHECK(sn_key_lookup_prepare(&q));
    if (!sn_key_table_find(tab, &q) && sn_key_table_place(tab, &q))
        t = sn_key_table_insert(tab, &q);
    sn_key_lookup_end(&q);
    return t;
}

static thing *
look(const sn_key_table *tab, seine_view key)
{
    sn_key_lookup q = sn_key_table_seek(tab, key);

    return sn_key_table_find(tab, &q);
}

static void
drop(sn_key_table *tab, seine_view key)
{
    sn_key_lookup q = sn_key_table_seek(tab, key);
    thing *t = sn_key_table_find(tab, &q);

    CHECK(t != NULL);
    sn_key_table_remove(tab, q.shard, t, &q);
    sn_key_lookup_end(&q);
}

static seine_view
numbered(unsigned i, char buf[64])
{
    /* Every third key is too long for the entry. */
    snprintf(buf, 64, i % 3 ? "k%u" : "a key that takes memory of its own %u", i);
    return seine_key_str(buf);
}

TEST(key_table_entries_stay_where_they_are_while_others_come_and_go)
{
    enum { KEYS = 300 };
    sn_rng r = sn_rng_seed(check_seed());
    sn_key_table tab = table(KEYS, 1 << 20);
    thing *model[KEYS] = {0};
    uint32_t n = 0;
    char buf[64];

    for (int i = 0; i < 20000; i++) {
        unsigned at = (unsigned)sn_rng_below(&r, KEYS);
        seine_view key = numbered(at, buf);

        CHECK(look(&tab, key) == model[at]);
        if (!model[at]) {
            model[at] = put(&tab, key);
            CHECK(model[at] != NULL);
            CHECK_EQ(model[at]->value, 0); /* zeroed, also when used before */
            model[at]->value = at + 1;
            n++;
        } else if (sn_rng_below(&r, 2)) {
            CHECK_EQ(model[at]->value, at + 1);
            drop(&tab, key);
            model[at] = NULL;
            n--;
        }
        CHECK_EQ(tab.count, n);
    }
    for (unsigned i = 0; i < KEYS; i++)
        CHECK(look(&tab, numbered(i, buf)) == model[i]);
    sn_key_table_fini(&tab);
}

TEST(key_table_is_bounded_in_keys_and_bytes)
{
    sn_key_table tab = table(10, 100);
    char buf[64];

    for (unsigned i = 1; i <= 10; i++)
        CHECK(put(&tab, numbered(3 * i + 1, buf)) != NULL);
    CHECK(put(&tab, seine_key_str("eleven")) == NULL);
    drop(&tab, numbered(4, buf));
    CHECK(put(&tab, numbered(0, buf)) != NULL); /* 36 bytes of 100 */
    drop(&tab, numbered(7, buf));
    drop(&tab, numbered(10, buf));
    CHECK(put(&tab, numbered(3, buf)) != NULL);
    CHECK(put(&tab, numbered(6, buf)) == NULL); /* would be 108 */
    CHECK_EQ(tab.count, 9);
    drop(&tab, numbered(0, buf));
    CHECK(put(&tab, numbered(6, buf)) != NULL);
    sn_key_table_fini(&tab);
}

TEST(key_table_shows_every_entry_by_its_number)
{
    sn_key_table tab = table(100, 10000);
    char buf[64];
    int seen = 0;

    for (unsigned i = 0; i < 100; i++)
        CHECK(put(&tab, numbered(i, buf)) != NULL);
    drop(&tab, numbered(7, buf));
    for (unsigned i = 0; i < sn_key_table_shards(&tab); i++)
        for (uint32_t j = 0; j < tab.shards[i].high; j++) {
            thing *t = sn_key_table_at(&tab, &tab.shards[i], j);

            if (t) {
                CHECK(look(&tab, sn_key_table_key(t)) == t);
                seen++;
            }
        }
    CHECK_EQ(seen, 99);
    sn_key_table_fini(&tab);
}

TEST(key_table_draws_a_secret_of_its_own_unless_given_one)
{
    static const uint64_t zeros[2];
    sn_key_table a = {0}, b = {0};

    CHECK_EQ(sn_key_table_init(&a, 1, 0, sizeof(thing), zeros), SEINE_OK);
    CHECK_EQ(sn_key_table_init(&b, 1, 0, sizeof(thing), zeros), SEINE_OK);
    CHECK(memcmp(a.seed, b.seed, sizeof a.seed) != 0);
    sn_key_table_fini(&a);
    sn_key_table_fini(&b);
    CHECK_EQ(sn_key_table_init(&a, 0, 0, sizeof(thing), zeros), SEINE_E_INVAL);
}

TEST(key_table_survives_failing_memory)
{
    FAIL_EACH(r)
    {
        sn_key_table tab = {0};

        if (sn_key_table_init(&tab, 10, 100, sizeof(thing), seed) != SEINE_OK)
            continue;
        sn_key_lookup q =
            sn_key_table_seek(&tab, seine_key_str("longer than twenty-four bytes"));
        CHECK(!sn_key_lookup_is_ready(&q));
        bool ready = sn_key_lookup_prepare(&q);
        CHECK_EQ(ready, sn_key_lookup_is_ready(&q));
        sn_key_lookup_end(&q);
        sn_key_table_fini(&tab);
    }
}

TEST(key_table_hashes_with_its_seed_or_with_a_secret_of_its_own)
{
    static const uint64_t none[2] = {0, 0};
    sn_key_table one = table(10, 0), two = {0}, three = {0};

    CHECK(memcmp(one.seed, seed, sizeof seed) == 0);
    CHECK_EQ(sn_key_table_init(&two, 10, 0, sizeof(thing), none), SEINE_OK);
    CHECK_EQ(sn_key_table_init(&three, 10, 0, sizeof(thing), none), SEINE_OK);
    CHECK(memcmp(two.seed, none, sizeof none) != 0);
    CHECK(memcmp(two.seed, three.seed, sizeof none) != 0);
    sn_key_table_fini(&one);
    sn_key_table_fini(&two);
    sn_key_table_fini(&three);
}
