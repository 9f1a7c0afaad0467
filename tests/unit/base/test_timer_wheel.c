/* SPDX-License-Identifier: Apache-2.0 */
#include "base/timer_wheel.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

#define HOUR SEINE_SECS(3600)
#define DAY  (24 * HOUR)

/* Like a host: the wheel's fields stand between others. */
typedef struct record {
    seine_time at;
    uint32_t kept, link;
    seine_time due; /* the model's */
} record;

static sn_timer_wheel
wheel_of(record *records, uint32_t n, seine_time now)
{
    sn_timer_wheel w;

    CHECK_EQ(sn_timer_wheel_init(&w, &SN_TIMER_WHEEL_ITEMS(records, link, at, n), now),
             SEINE_OK);
    return w;
}

static int
by_time(const void *a, const void *b)
{
    seine_time x = *(const seine_time *)a, y = *(const seine_time *)b;

    return (x > y) - (x < y);
}

TEST(timer_wheel_orders_a_millisecond_by_nanoseconds)
{
    record r[4] = {0};
    seine_time now = SEINE_SECS(5) + 17;
    sn_timer_wheel w = wheel_of(r, 4, now);

    CHECK_EQ(sn_timer_wheel_when(&w), SEINE_NEVER);
    CHECK_EQ(sn_timer_wheel_take(&w, now), SN_NONE);
    sn_timer_wheel_put(&w, 0, now + 300);
    sn_timer_wheel_put(&w, 1, now + 299);
    sn_timer_wheel_put(&w, 2, now + SEINE_MS(3) + 1);
    sn_timer_wheel_put(&w, 3, now + SEINE_MS(3));
    CHECK_EQ(w.n, 4);
    CHECK_EQ(r[1].at, now + 299);
    CHECK_EQ(sn_timer_wheel_when(&w), now + 299);
    CHECK_EQ(sn_timer_wheel_take(&w, now + 298), SN_NONE);
    CHECK_EQ(sn_timer_wheel_take(&w, now + 299), 1);
    CHECK_EQ(sn_timer_wheel_take(&w, now + 299), SN_NONE);
    CHECK_EQ(sn_timer_wheel_take(&w, now + SEINE_MS(3)), 0);
    CHECK_EQ(sn_timer_wheel_take(&w, now + SEINE_MS(3)), 3);
    CHECK_EQ(sn_timer_wheel_take(&w, now + SEINE_MS(3)), SN_NONE);
    CHECK_EQ(sn_timer_wheel_when(&w), now + SEINE_MS(3) + 1);
    CHECK_EQ(sn_timer_wheel_take(&w, now + SEINE_MS(3) + 1), 2);
    CHECK_EQ(sn_timer_wheel_when(&w), SEINE_NEVER);
    CHECK_EQ(w.n, 0);
    sn_timer_wheel_fini(&w);
    sn_timer_wheel_fini(&w); /* empty is fine */
}

/* Around every edge of slots, blocks and turns, from both sides of other edges. */
TEST(timer_wheel_is_exact_at_every_edge)
{
    static const int64_t starts[] = {0,       1,       1022,    1023,      1024,
                                     65535,   65536,   4194303, 4194304,   4194305,
                                     4193280, 4193279, 8388607, 400000000, 65535 * 64};
    static const int64_t waits[] = {0,       1,       1023,    1024,    1025,    64511,
                                    65535,   65536,   65537,   66560,   4193279, 4193280,
                                    4194303, 4194304, 4194305, 4195328, 4259840, 8388608,
                                    8388607, 8388609, 99999999};

    EACH_ROW(i, starts) {
        for (size_t j = 0; j < sizeof waits / sizeof *waits; j++)
            for (seine_span off = -1; off <= 1; off++) {
                record r = {0};
                seine_time now = starts[i] * SEINE_MS(1) + 5;
                seine_time at = (starts[i] + waits[j]) * SEINE_MS(1) + off;
                sn_timer_wheel w = wheel_of(&r, 1, now);

                sn_timer_wheel_put(&w, 0, at);
                CHECK(sn_timer_wheel_when(&w) <= at);
                CHECK_EQ(sn_timer_wheel_take(&w, at - 1), SN_NONE);
                CHECK_EQ(sn_timer_wheel_when(&w), at);
                CHECK_EQ(sn_timer_wheel_take(&w, at), 0);
                sn_timer_wheel_fini(&w);
            }
    }
}

TEST(timer_wheel_takes_what_is_overdue_at_once_and_in_order)
{
    record r[4] = {0};
    sn_timer_wheel w = wheel_of(r, 4, SEINE_SECS(100));

    sn_timer_wheel_put(&w, 0, SEINE_SECS(100));
    sn_timer_wheel_put(&w, 1, 0);
    sn_timer_wheel_put(&w, 2, SEINE_SECS(99));
    sn_timer_wheel_put(&w, 3, INT64_MIN);
    CHECK_EQ(sn_timer_wheel_when(&w), INT64_MIN);
    CHECK_EQ(sn_timer_wheel_take(&w, SEINE_SECS(100)), 3);
    CHECK_EQ(sn_timer_wheel_take(&w, SEINE_SECS(100)), 1);
    CHECK_EQ(sn_timer_wheel_take(&w, SEINE_SECS(100)), 2);
    CHECK_EQ(sn_timer_wheel_take(&w, SEINE_SECS(100) - 1), SN_NONE);
    CHECK_EQ(sn_timer_wheel_take(&w, SEINE_SECS(100)), 0);
    sn_timer_wheel_fini(&w);
}

TEST(timer_wheel_keeps_what_is_never_due)
{
    record r[2] = {0};
    sn_timer_wheel w = wheel_of(r, 2, 0);

    sn_timer_wheel_put(&w, 0, SEINE_NEVER);
    sn_timer_wheel_put(&w, 1, SEINE_NEVER - 1);
    CHECK_EQ(sn_timer_wheel_take(&w, 150 * 365 * DAY), SN_NONE);
    CHECK(sn_timer_wheel_when(&w) > 150 * 365 * DAY);
    CHECK_EQ(sn_timer_wheel_take(&w, SEINE_NEVER - 2), SN_NONE);
    CHECK_EQ(sn_timer_wheel_take(&w, SEINE_NEVER - 1), 1);
    CHECK_EQ(sn_timer_wheel_take(&w, SEINE_NEVER - 1), SN_NONE);
    CHECK_EQ(sn_timer_wheel_when(&w), SEINE_NEVER);
    CHECK_EQ(w.n, 1);
    sn_timer_wheel_fini(&w);
}

TEST(timer_wheel_starts_before_zero_and_waits_when_time_steps_back)
{
    record r[2] = {0};
    sn_timer_wheel w = wheel_of(r, 2, -SEINE_SECS(50));

    sn_timer_wheel_put(&w, 0, -SEINE_SECS(2));
    sn_timer_wheel_put(&w, 1, SEINE_SECS(2));
    CHECK_EQ(sn_timer_wheel_take(&w, -SEINE_SECS(2) - 1), SN_NONE);
    CHECK_EQ(sn_timer_wheel_take(&w, -SEINE_SECS(2)), 0);
    CHECK_EQ(sn_timer_wheel_take(&w, SEINE_SECS(2) - 1), SN_NONE);
    CHECK_EQ(sn_timer_wheel_take(&w, -SEINE_SECS(40)), SN_NONE);
    sn_timer_wheel_put(&w, 0, -SEINE_SECS(30));
    CHECK_EQ(sn_timer_wheel_take(&w, -SEINE_SECS(30)), 0);
    CHECK_EQ(sn_timer_wheel_take(&w, SEINE_SECS(2)), 1);
    sn_timer_wheel_fini(&w);
}

TEST(timer_wheel_puts_back_what_was_raised_while_it_waited)
{
    static const seine_span raised[] = {
        1, SEINE_MS(1), SEINE_MS(999), SEINE_MS(70000), 2 * HOUR, 3 * DAY};

    EACH_ROW(i, raised) {
        record r[2] = {0};
        sn_timer_wheel w = wheel_of(r, 2, 0);

        sn_timer_wheel_put(&w, 0, SEINE_MS(10)); /* raised in its slot */
        sn_timer_wheel_put(&w, 1, SEINE_MS(10) + 5);
        r[0].at = SEINE_MS(10) + raised[i];
        CHECK(sn_timer_wheel_when(&w) <= SEINE_MS(10) + 5);
        CHECK_EQ(sn_timer_wheel_take(&w, SEINE_MS(10)), raised[i] > 0 ? SN_NONE : 0);
        r[1].at = SEINE_MS(10) + 5 + raised[i]; /* raised in the heap */
        CHECK_EQ(sn_timer_wheel_take(&w, SEINE_MS(10) + raised[i] - 1), SN_NONE);
        CHECK_EQ(sn_timer_wheel_take(&w, SEINE_MS(10) + raised[i]), 0);
        CHECK_EQ(sn_timer_wheel_take(&w, SEINE_MS(10) + 4 + raised[i]), SN_NONE);
        CHECK_EQ(sn_timer_wheel_take(&w, SEINE_MS(10) + 5 + raised[i]), 1);
        CHECK_EQ(w.n, 0);
        sn_timer_wheel_fini(&w);
    }
}

/* A raised item is alone in its slot; `when` must not skip the next slot. */
TEST(timer_wheel_when_sees_past_a_raised_item)
{
    record r[2] = {0};
    sn_timer_wheel w = wheel_of(r, 2, 0);

    sn_timer_wheel_put(&w, 0, SEINE_MS(10));
    sn_timer_wheel_put(&w, 1, SEINE_MS(11) + 3);
    r[0].at = DAY;
    CHECK(sn_timer_wheel_when(&w) <= SEINE_MS(11) + 3);
    CHECK_EQ(sn_timer_wheel_take(&w, SEINE_MS(11) + 3), 1);
    CHECK_EQ(sn_timer_wheel_take(&w, DAY), 0);
    sn_timer_wheel_fini(&w);
}

/* Spans of every size, from one nanosecond to days. */
static seine_span
some_span(sn_rng *r)
{
    static const seine_span most[] = {1,
                                      100,
                                      SEINE_US(1),
                                      SEINE_MS(1),
                                      SEINE_MS(20),
                                      SEINE_SECS(1),
                                      SEINE_SECS(2),
                                      SEINE_SECS(70),
                                      HOUR,
                                      2 * HOUR,
                                      DAY,
                                      9 * DAY};

    return (seine_span)sn_rng_below(
        r, 1 + (uint64_t)most[sn_rng_below(r, sizeof most / sizeof *most)]);
}

/* Compares random puts, raises, jumps and steps with "the smallest of an array". Equal
 * moments may leave in any order, so moments are compared. */
TEST(timer_wheel_agrees_with_an_array)
{
    enum { N = 150 };
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 15; round++) {
        static record r[N];
        seine_time now = (seine_time)sn_rng_below(&rng, 40 * DAY);
        sn_timer_wheel w = wheel_of(r, N, now);

        for (uint32_t i = 0; i < N; i++)
            r[i] = (record){.due = -1, .kept = ~i};
        for (int step = 0; step < 600; step++) {
            uint32_t i = (uint32_t)sn_rng_below(&rng, N);

            if (r[i].due < 0) {
                seine_span back = sn_rng_below(&rng, 10) == 0 ? some_span(&rng) : 0;

                r[i].due = sn_rng_below(&rng, 2) ? now + some_span(&rng) : now;
                r[i].due = r[i].due > back ? r[i].due - back : 0;
                sn_timer_wheel_put(&w, i, r[i].due);
            } else if (sn_rng_below(&rng, 4) == 0) {
                r[i].due += some_span(&rng);
                r[i].at = r[i].due;
            }
            if (sn_rng_below(&rng, 3) > 0)
                continue;
            now += some_span(&rng);
            for (;;) {
                uint32_t got, n = 0;
                seine_time first = SEINE_NEVER;

                for (uint32_t k = 0; k < N; k++) {
                    n += r[k].due >= 0;
                    if (r[k].due >= 0 && r[k].due < first)
                        first = r[k].due;
                }
                CHECK_EQ(w.n, n);
                CHECK(sn_timer_wheel_when(&w) <= first);
                got = sn_timer_wheel_take(&w, now);
                CHECK((got == SN_NONE) == (first > now));
                if (got == SN_NONE)
                    break;
                CHECK_EQ(r[got].due, first);
                CHECK_EQ(r[got].kept, ~got);
                r[got].due = -1;
            }
            CHECK(sn_timer_wheel_when(&w) > now);
        }
        sn_timer_wheel_fini(&w);
    }
}

/* A caller that sleeps until `when` takes every item at its nanosecond. */
TEST(timer_wheel_when_leads_to_every_item_exactly)
{
    enum { N = 400 };
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 10; round++) {
        static record r[N];
        seine_time now = (seine_time)sn_rng_below(&rng, DAY);
        sn_timer_wheel w = wheel_of(r, N, now);
        int looks = 0, taken = 0;

        for (uint32_t i = 0; i < N; i++)
            sn_timer_wheel_put(&w, i, now + 1 + some_span(&rng));
        for (seine_time at; (at = sn_timer_wheel_when(&w)) != SEINE_NEVER; looks++) {
            CHECK(at > now);
            now = at;
            for (uint32_t i; (i = sn_timer_wheel_take(&w, now)) != SN_NONE; taken++)
                CHECK_EQ(r[i].at, now);
        }
        CHECK_EQ(taken, N);
        CHECK(looks <= 3 * N); /* its moment, and at most a block and a turn before */
        sn_timer_wheel_fini(&w);
    }
}

/* Compares with sorting: 100,000 items over a week and in one millisecond, taken in one
 * jump and in many. */
TEST(timer_wheel_sorts_a_hundred_thousand)
{
    enum { N = 100000 };
    static const struct {
        seine_span spread, step;
    } rows[] = {
        {7 * DAY, 8 * DAY},
        {7 * DAY, HOUR},
        {SEINE_SECS(60), SEINE_MS(700)},
        {SEINE_MS(1), SEINE_US(10)}, /* all in the heap */
        {0, SEINE_MS(1)},            /* all at one moment */
    };
    sn_rng rng = sn_rng_seed(check_seed());
    record *r = calloc(N, sizeof *r);
    seine_time *want = calloc(N, sizeof *want);

    EACH_ROW(row, rows) {
        seine_time now = SEINE_SECS(1234), start = now;
        sn_timer_wheel w = wheel_of(r, N, now);
        uint32_t taken = 0, wrong = 0;

        for (uint32_t i = 0; i < N; i++) {
            want[i] =
                start + (seine_time)sn_rng_below(&rng, (uint64_t)rows[row].spread + 1);
            sn_timer_wheel_put(&w, i, want[i]);
        }
        qsort(want, N, sizeof *want, by_time);
        while (taken < N && now <= start + 2 * rows[row].spread + rows[row].step) {
            for (uint32_t i; (i = sn_timer_wheel_take(&w, now)) != SN_NONE; taken++)
                wrong += r[i].at != want[taken] || r[i].at > now;
            wrong += taken < N && want[taken] <= now;
            now += rows[row].step;
        }
        CHECK_EQ(taken, N);
        CHECK_EQ(wrong, 0);
        sn_timer_wheel_fini(&w);
    }
    free(r);
    free(want);
}

TEST(timer_wheel_follows_an_array_that_grows)
{
    record *r = calloc(3, sizeof *r);
    sn_timer_wheel w = wheel_of(r, 3, 0);

    sn_timer_wheel_put(&w, 0, 10);
    sn_timer_wheel_put(&w, 1, SEINE_SECS(1));
    sn_timer_wheel_put(&w, 2, 2 * HOUR);
    r = realloc(r, 100000 * sizeof *r);
    CHECK_EQ(sn_timer_wheel_grow(&w, r, 100000), SEINE_OK);
    for (uint32_t i = 3; i < 100000; i++)
        sn_timer_wheel_put(&w, i, 20);
    r = realloc(r, 100001 * sizeof *r);
    CHECK_EQ(sn_timer_wheel_grow(&w, r, 100000), SEINE_OK); /* the array has only moved */
    CHECK_EQ(sn_timer_wheel_grow(&w, r, SN_NONE), SEINE_E_INVAL);
    CHECK_EQ(sn_timer_wheel_take(&w, 10), 0);
    for (uint32_t i = 3; i < 100000; i++)
        CHECK(sn_timer_wheel_take(&w, 20) != SN_NONE);
    CHECK_EQ(sn_timer_wheel_take(&w, SEINE_SECS(1) - 1), SN_NONE);
    CHECK_EQ(sn_timer_wheel_take(&w, SEINE_SECS(1)), 1);
    CHECK_EQ(sn_timer_wheel_take(&w, 2 * HOUR), 2);
    sn_timer_wheel_fini(&w);
    free(r);
}

TEST(timer_wheel_forgets_all_of_its_items_when_it_is_reset)
{
    record r[40] = {0};
    sn_timer_wheel w = wheel_of(r, 40, DAY);

    for (uint32_t i = 0; i < 40; i++) /* the heap, both levels, the far list */
        sn_timer_wheel_put(&w, i, DAY + (seine_time)(i % 4) * (i % 4) * HOUR / 4 + i);
    CHECK_EQ(sn_timer_wheel_take(&w, DAY), 0);
    sn_timer_wheel_reset(&w, HOUR); /* back in time as well */
    CHECK_EQ(w.n, 0);
    CHECK_EQ(sn_timer_wheel_when(&w), SEINE_NEVER);
    CHECK_EQ(sn_timer_wheel_take(&w, HOUR), SN_NONE);
    for (uint32_t i = 0; i < 40; i++)
        sn_timer_wheel_put(&w, i, 2 * HOUR + 40 - i);
    CHECK_EQ(sn_timer_wheel_take(&w, 2 * HOUR), SN_NONE);
    for (uint32_t i = 40; i-- > 0;)
        CHECK_EQ(sn_timer_wheel_take(&w, 2 * HOUR + 40 - i), i);
    CHECK_EQ(sn_timer_wheel_take(&w, SEINE_NEVER), SN_NONE);
    sn_timer_wheel_fini(&w);
}

TEST(timer_wheel_takes_282_kib_and_nothing_per_put)
{
    static record r[1000];
    sn_timer_wheel w;

    count_begin();
    CHECK_EQ(sn_timer_wheel_init(&w, &SN_TIMER_WHEEL_ITEMS(r, link, at, 1000), 0),
             SEINE_OK);
    CHECK(count_bytes() <= 282 * 1024 + (1000 + 3) * 16);
    long calls = count_calls();
    for (uint32_t i = 0; i < 1000; i++)
        sn_timer_wheel_put(&w, i, i % 2 ? 5 : i * SEINE_SECS(10));
    while (sn_timer_wheel_take(&w, DAY) != SN_NONE)
        ;
    CHECK_EQ(count_calls(), calls);
    sn_timer_wheel_fini(&w);
    CHECK_EQ(count_out(), 0);
    count_end();
}

TEST(timer_wheel_without_memory_is_not_made_and_does_not_grow)
{
    static record r[20];

    FAIL_EACH(round)
    {
        sn_timer_wheel w;
        seine_err e = sn_timer_wheel_init(&w, &SN_TIMER_WHEEL_ITEMS(r, link, at, 10), 0);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e != SEINE_OK)
            continue;
        sn_timer_wheel_put(&w, 3, 1);
        e = sn_timer_wheel_grow(&w, r, 20);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK_EQ(w.items.max, e == SEINE_OK ? 20 : 10);
        CHECK_EQ(sn_timer_wheel_take(&w, 1), 3);
        sn_timer_wheel_fini(&w);
    }
    sn_timer_wheel w;
    CHECK_EQ(sn_timer_wheel_init(&w, &SN_TIMER_WHEEL_ITEMS(r, link, at, SN_NONE), 0),
             SEINE_E_INVAL);
}
