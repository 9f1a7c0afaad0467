/* SPDX-License-Identifier: Apache-2.0 */
#include "base/heap.h"

#include <stdlib.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

static int
by_time(const void *a, const void *b)
{
    const sn_heap_entry *x = a, *y = b;

    if (x->at != y->at)
        return x->at < y->at ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

TEST(heap_gives_the_earliest_first)
{
    sn_heap h;

    sn_heap_init(&h, 10);
    CHECK_EQ(sn_heap_when(&h), SEINE_NEVER);
    CHECK_EQ(sn_heap_put(&h, 30, 3), SEINE_OK);
    CHECK_EQ(sn_heap_put(&h, -5, UINT64_MAX), SEINE_OK);
    CHECK_EQ(sn_heap_put(&h, 20, 2), SEINE_OK);
    CHECK_EQ(sn_heap_when(&h), -5);
    CHECK(sn_heap_take(&h).item == UINT64_MAX);
    CHECK_EQ(sn_heap_take(&h).item, 2);
    CHECK_EQ(sn_heap_put(&h, SEINE_NEVER, 9), SEINE_OK);
    CHECK_EQ(sn_heap_put(&h, INT64_MIN, 8), SEINE_OK);
    CHECK_EQ(sn_heap_take(&h).item, 8);
    CHECK_EQ(sn_heap_take(&h).item, 3);
    CHECK_EQ(sn_heap_take(&h).item, 9);
    CHECK_EQ(h.n, 0);
    CHECK_EQ(sn_heap_when(&h), SEINE_NEVER);
    sn_heap_fini(&h);
    sn_heap_fini(&h); /* empty is fine */
}

/* Entries come out sorted: every size up to 200, and equal moments. */
TEST(heap_sorts)
{
    sn_rng r = sn_rng_seed(check_seed());
    sn_heap_entry in[200], out[200];

    for (size_t n = 1; n <= 200; n++) {
        sn_heap h;

        sn_heap_init(&h, n);
        for (size_t i = 0; i < n; i++) {
            in[i] = (sn_heap_entry){(seine_time)sn_rng_below(&r, n), i};
            CHECK_EQ(sn_heap_put(&h, in[i].at, i), SEINE_OK);
        }
        for (size_t i = 0; i < n; i++) {
            out[i] = sn_heap_take(&h);
            CHECK(i == 0 || out[i - 1].at <= out[i].at);
        }
        qsort(in, n, sizeof *in, by_time);
        qsort(out, n, sizeof *out, by_time);
        for (size_t i = 0; i < n; i++)
            CHECK(in[i].at == out[i].at && in[i].item == out[i].item);
        sn_heap_fini(&h);
    }
}

/* Compares mixed puts and takes with a sorted array. */
TEST(heap_agrees_with_a_sorted_array)
{
    sn_rng r = sn_rng_seed(check_seed());
    sn_heap_entry model[300];
    size_t n = 0;
    sn_heap h;

    sn_heap_init(&h, 300);
    for (int step = 0; step < 20000; step++) {
        bool fill = (step / 500) % 2 == 0;

        if (n < 300 && sn_rng_below(&r, 10) < (fill ? 8 : 2)) {
            sn_heap_entry e = {(seine_time)sn_rng_below(&r, 1000000), (uint64_t)step};
            size_t i = n++;

            for (; i > 0 && model[i - 1].at > e.at; i--)
                model[i] = model[i - 1];
            model[i] = e;
            CHECK_EQ(sn_heap_put(&h, e.at, e.item), SEINE_OK);
        } else if (n > 0) {
            CHECK_EQ(sn_heap_when(&h), model[0].at);
            CHECK_EQ(sn_heap_take(&h).at, model[0].at);
            n--;
            for (size_t i = 0; i < n; i++)
                model[i] = model[i + 1];
        }
        CHECK_EQ(h.n, n);
    }
    sn_heap_fini(&h);
}

TEST(heap_holds_no_more_than_its_max)
{
    sn_heap h;

    sn_heap_init(&h, 20);
    for (uint64_t i = 0; i < 20; i++)
        CHECK_EQ(sn_heap_put(&h, (seine_time)(20 - i), i), SEINE_OK);
    CHECK_EQ(sn_heap_put(&h, 0, 99), SEINE_E_FULL);
    CHECK_EQ(h.room, 20);
    CHECK_EQ(sn_heap_take(&h).item, 19);
    CHECK_EQ(sn_heap_put(&h, 0, 99), SEINE_OK);
    CHECK_EQ(sn_heap_take(&h).item, 99);
    sn_heap_fini(&h);

    sn_heap_init(&h, 0);
    CHECK_EQ(sn_heap_put(&h, 0, 0), SEINE_E_FULL);
    CHECK(!h.entries);
    sn_heap_fini(&h);
}

TEST(heap_reset_forgets_and_keeps_its_memory)
{
    sn_heap h;

    count_begin();
    sn_heap_init(&h, 100);
    for (int round = 0; round < 3; round++) {
        for (uint64_t i = 0; i < 13; i++)
            CHECK_EQ(sn_heap_put(&h, 1, i), SEINE_OK);
        sn_heap_reset(&h);
        CHECK_EQ(h.n, 0);
    }
    CHECK_EQ(count_calls(), 1);
    sn_heap_fini(&h);
    CHECK_EQ(count_out(), 0);
    count_end();
}

TEST(heap_lives_in_memory_of_the_caller)
{
    _Alignas(64) char memory[SN_HEAP_BYTES(5)];
    sn_heap h;

    count_begin();
    sn_heap_init_in(&h, memory, 5);
    for (uint64_t i = 0; i < 5; i++)
        CHECK_EQ(sn_heap_put(&h, -(seine_time)i, i), SEINE_OK);
    CHECK_EQ(sn_heap_put(&h, 0, 5), SEINE_E_FULL);
    for (uint64_t i = 5; i-- > 0;)
        CHECK_EQ(sn_heap_take(&h).item, i);
    CHECK((uintptr_t)&h.entries[1] % 64 == 0); /* the four children: one line */
    sn_heap_fini(&h);
    CHECK_EQ(count_calls(), 0);
    count_end();
}

TEST(heap_without_memory_stays_as_it_was)
{
    FAIL_EACH(r)
    {
        size_t added = 0;
        sn_heap h;

        sn_heap_init(&h, 100);
        for (uint64_t i = 0; i < 40; i++) {
            seine_err e = sn_heap_put(&h, (seine_time)(40 - i), i);

            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            added += e == SEINE_OK;
            CHECK_EQ(h.n, added);
        }
        for (seine_time last = 0; h.n > 0;) {
            sn_heap_entry e = sn_heap_take(&h);

            CHECK(e.at > last && e.at == (seine_time)(40 - e.item));
            last = e.at;
        }
        sn_heap_fini(&h);
    }
}
