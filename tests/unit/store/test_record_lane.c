/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record_lane.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

static char filler[1 << 16];

static seine_record
sized(uint64_t number, size_t n)
{
    return (seine_record){.number = number, .title = {filler, n}};
}

/* Takes one and checks its number. */
static void
take(sn_record_lane *l, uint64_t number)
{
    sn_record_block *block;
    seine_record *r = sn_record_lane_next(l, &block);

    CHECK(r != NULL);
    if (!r)
        return;
    CHECK_EQ(r->number, number);
    sn_record_lane_done(l, block);
    if (block)
        atomic_fetch_sub(&l->held, block->size);
    sn_record_block_free(block);
    sn_record_lane_release(l);
}

TEST(record_lane_keeps_the_order_of_small_and_large_records)
{
    sn_rng rng = sn_rng_seed(check_seed());
    sn_record_lane *l = aligned_alloc(64, sizeof *l);
    uint64_t in = 0, out = 0;

    CHECK_EQ(sn_record_lane_init(l, 16384), SEINE_OK);
    while (out < 3000) {
        if (in < 3000 && sn_rng_below(&rng, 5) > 1) {
            seine_record r = sized(in++, sn_rng_below(&rng, 8) ? 10 : 5000);

            CHECK_EQ(sn_record_lane_put(l, &r),
                     SEINE_OK); /* also when the ring is full */
        } else if (out < in) {
            take(l, out++);
        }
        CHECK_EQ(sn_record_lane_waiting(l), in - out);
    }
    CHECK_EQ(atomic_load(&l->held), 0);
    CHECK_EQ(sn_ring_used(&l->ring), 0);
    sn_record_lane_fini(l);
    free(l);
}

TEST(record_lane_is_ready_while_less_than_half_of_it_is_used)
{
    sn_record_lane *l = aligned_alloc(64, sizeof *l);
    seine_record r = sized(0, 0), large = sized(0, 30000);
    bool quarter = false;
    int n = 0;

    CHECK_EQ(sn_record_lane_init(l, 16384), SEINE_OK);
    for (; sn_record_lane_is_ready(l); n++) {
        CHECK_EQ(sn_record_lane_put(l, &r), SEINE_OK);
        quarter |= sn_record_lane_is_quarter(l);
    }
    CHECK(quarter);
    CHECK(sn_ring_used(&l->ring) >= 8192 - 16 && sn_ring_used(&l->ring) < 8192 + 1024);
    while (n-- > 0)
        take(l, 0);
    CHECK(sn_record_lane_is_ready(l));
    CHECK_EQ(sn_record_lane_put(l, &large), SEINE_OK); /* more than the ring is wide */
    CHECK(!sn_record_lane_is_ready(l));
    take(l, 0);
    CHECK(sn_record_lane_is_ready(l));
    sn_record_lane_fini(l);
    free(l);
}

TEST(record_lane_frees_what_was_never_taken)
{
    FAIL_EACH(n)
    {
        sn_record_lane *l = aligned_alloc(64, sizeof *l);
        seine_record small = sized(1, 1), large = sized(2, 5000);
        sn_record_block *block;

        if (sn_record_lane_init(l, 4096) == SEINE_OK) {
            for (int i = 0; i < 5; i++) {
                seine_err e = sn_record_lane_put(l, &large);

                CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
                e = sn_record_lane_put(l, &small);
                CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            }
            if (sn_record_lane_waiting(l) > 0 && sn_record_lane_next(l, &block)) {
                sn_record_lane_done(l, block);
                sn_record_block_free(block);
            }
            sn_record_lane_fini(l);
        }
        free(l);
    }
}

enum { RECORDS = 1000 };

static void *
put_many(void *arg)
{
    for (uint64_t i = 0; i < RECORDS; i++) {
        seine_record r = sized(i, i % 13 == 0 ? 3000 : i % 50);

        CHECK_EQ(sn_record_lane_put(arg, &r), SEINE_OK);
    }
    return NULL;
}

TEST_THREADS(record_lane_carries_from_thread_to_thread_in_order)
{
    sn_record_lane *l = aligned_alloc(64, sizeof *l);
    pthread_t thread;

    CHECK_EQ(sn_record_lane_init(l, 16384), SEINE_OK);
    pthread_create(&thread, NULL, put_many, l);
    for (uint64_t i = 0; i < RECORDS;)
        if (sn_record_lane_waiting(l) > 0)
            take(l, i++);
        else
            sched_yield();
    pthread_join(thread, NULL);
    sn_record_lane_fini(l);
    free(l);
}
