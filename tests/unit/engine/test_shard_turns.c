/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/shard_turns.h"

#include <pthread.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

TEST(shard_turns_give_every_shard_as_many_of_the_first_hosts)
{
    for (uint32_t n = 1; n <= 256; n += 5) {
        sn_rng rng = sn_rng_seed(n);
        uint32_t of[256] = {0};
        sn_shard_turns *t;

        CHECK_EQ(sn_shard_turns_new(&t), SEINE_OK);
        for (uint32_t i = 0; i < SN_SHARD_TURNS; i++) {
            uint32_t shard = sn_shard_turns_of(t, sn_rng_next(&rng), n);

            CHECK(shard < n);
            of[shard]++;
        }
        for (uint32_t i = 0; i < n; i++)
            CHECK(of[i] == SN_SHARD_TURNS / n || of[i] == SN_SHARD_TURNS / n + 1);
        sn_shard_turns_free(t);
    }
}

TEST(shard_turns_never_change_and_the_hash_decides_about_later_hosts)
{
    enum { MANY = 2000 };
    uint32_t first[MANY];
    sn_rng rng = sn_rng_seed(1);
    sn_shard_turns *t;

    CHECK_EQ(sn_shard_turns_new(&t), SEINE_OK);
    for (int i = 0; i < MANY; i++)
        first[i] = sn_shard_turns_of(t, sn_rng_next(&rng), 7);
    rng = sn_rng_seed(1);
    for (int i = 0; i < MANY; i++) {
        uint64_t hash = sn_rng_next(&rng);

        CHECK_EQ(sn_shard_turns_of(t, hash, 7), first[i]);
        if (i >= SN_SHARD_TURNS)
            CHECK_EQ(first[i], hash % 7);
    }
    sn_shard_turns_free(t);
}

/* Hashes that all want the same slot, the last one. */
TEST(shard_turns_find_hosts_whose_hashes_begin_alike)
{
    sn_shard_turns *t;

    CHECK_EQ(sn_shard_turns_new(&t), SEINE_OK);
    for (int round = 0; round < 2; round++)
        for (uint64_t i = 0; i < SN_SHARD_TURNS; i++)
            CHECK_EQ(sn_shard_turns_of(t, (i + 1) << 9 | 511, 4), i % 4);
    sn_shard_turns_free(t);
}

typedef struct asker {
    sn_shard_turns *t;
    uint64_t seed;
    uint32_t got[600];
} asker;

static void *
ask(void *arg)
{
    asker *a = arg;
    sn_rng rng = sn_rng_seed(a->seed);

    for (int i = 0; i < 600; i++)
        a->got[i] = sn_shard_turns_of(a->t, sn_rng_next(&rng), 5);
    return NULL;
}

TEST_THREADS(shard_turns_tell_all_threads_the_same)
{
    asker a[3];
    pthread_t threads[3];
    sn_shard_turns *t;

    CHECK_EQ(sn_shard_turns_new(&t), SEINE_OK);
    for (int i = 0; i < 3; i++) {
        a[i] = (asker){.t = t, .seed = 9};
        CHECK_EQ(pthread_create(&threads[i], NULL, ask, &a[i]), 0);
    }
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 600; i++)
        CHECK(a[0].got[i] == a[1].got[i] && a[1].got[i] == a[2].got[i]);
    sn_shard_turns_free(t);
}

TEST(shard_turns_need_memory)
{
    FAIL_EACH(n)
    {
        sn_shard_turns *t = NULL;

        seine_err e = sn_shard_turns_new(&t);
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        sn_shard_turns_free(t);
    }
}
