/* SPDX-License-Identifier: Apache-2.0 */
#include "store/reorder.h"

#include "base/alloc.h"
#include "base/rng.h"
#include "check.h"
#include "failing.h"

static sn_record_block *
numbered(uint64_t n)
{
    return sn_record_block_new(&(seine_record){.number = n});
}

TEST(reorder_gives_back_by_number)
{
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 50; round++) {
        enum { MANY = 300 };
        uint64_t numbers[MANY], next = 0;
        sn_reorder o = {0};

        for (uint64_t i = 0; i < MANY; i++)
            numbers[i] = i;
        for (size_t i = MANY - 1; i > 0; i--) {
            size_t k = sn_rng_below(&rng, i + 1);
            uint64_t swap = numbers[i];

            numbers[i] = numbers[k];
            numbers[k] = swap;
        }
        for (size_t i = 0; i < MANY; i++) {
            if (numbers[i] == o.due) {
                CHECK_EQ(numbers[i], next++);
                sn_reorder_pass(&o);
            } else {
                CHECK_EQ(sn_reorder_hold(&o, numbered(numbers[i])), SEINE_OK);
            }
            for (sn_record_block *b; (b = sn_reorder_take(&o)); sn_record_block_free(b))
                CHECK_EQ(b->record->number, next++);
            CHECK_EQ(o.waiting, i + 1 - next);
        }
        CHECK_EQ(next, MANY);
        sn_reorder_fini(&o);
    }
}

TEST(reorder_skips_to_the_lowest_when_nobody_comes)
{
    sn_reorder o = {0};

    CHECK(!sn_reorder_take(&o));
    sn_reorder_skip(&o);
    CHECK_EQ(o.due, 0);
    CHECK_EQ(sn_reorder_hold(&o, numbered(100000)), SEINE_OK);
    CHECK_EQ(sn_reorder_hold(&o, numbered(70)), SEINE_OK);
    CHECK_EQ(sn_reorder_hold(&o, numbered(70)), SEINE_OK); /* given twice, kept twice */
    CHECK(!sn_reorder_take(&o));
    sn_reorder_skip(&o);
    for (int i = 0; i < 2; i++) {
        sn_record_block *b = sn_reorder_take(&o);

        CHECK_EQ(b->record->number, 70);
        sn_record_block_free(b);
    }
    CHECK(!sn_reorder_take(&o));
    CHECK_EQ(o.due, 71);
    CHECK_EQ(o.waiting, 1);
    sn_reorder_fini(&o); /* frees what waits */
}

TEST(reorder_without_memory_leaves_the_block)
{
    FAIL_EACH(n)
    {
        sn_reorder o = {0};

        for (uint64_t i = 1; i < 200; i += 60) {
            sn_record_block *b = numbered(i);

            if (b && sn_reorder_hold(&o, b) != SEINE_OK)
                sn_record_block_free(b);
        }
        CHECK_EQ(
            sn_reorder_hold(
                &o, &(sn_record_block){.record = &(seine_record){.number = UINT64_MAX}}),
            SEINE_E_NOMEM);
        sn_reorder_fini(&o);
    }
}
