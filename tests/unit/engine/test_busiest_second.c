/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/busiest_second.h"

#include "base/rng.h"
#include "check.h"

enum { MOST = 20000 };
static seine_time at[MOST];

/* The most in any such span that ends at an event, counted one by one. */
static uint32_t
count_in(seine_span span, const seine_time *when, int n)
{
    uint32_t most = 0;

    for (int i = 0, from = 0; i < n; i++) {
        while (when[i] - when[from] >= span)
            from++;
        if ((uint32_t)(i - from + 1) > most)
            most = (uint32_t)(i - from + 1);
    }
    return most;
}

static uint32_t
count_all(const seine_time *when, int n)
{
    return count_in(SEINE_SECS(1), when, n);
}

static uint32_t
told_of(const seine_time *when, int n)
{
    sn_busiest_second b = {0};

    for (int i = 0; i < n; i++)
        sn_busiest_second_add(&b, when[i]);
    return b.most;
}

TEST(a_second_is_a_second_to_the_nanosecond)
{
    static const struct {
        seine_span apart;
        uint32_t most;
    } rows[] = {
        {SEINE_SECS(1) - 1, 2},
        {SEINE_SECS(1), 1},
        {SEINE_SECS(1) + 1, 1},
    };

    EACH_ROW(i, rows) {
        at[0] = SEINE_SECS(7);
        at[1] = at[0] + rows[i].apart;
        CHECK_EQ(told_of(at, 2), rows[i].most);
    }
}

TEST(up_to_64_in_a_second_are_counted_exactly)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 2000; i++) {
            seine_span gap = (seine_span)sn_rng_below(&r, SEINE_MS(60)) + SEINE_MS(16);

            if (sn_rng_below(&r, 40) == 0)
                gap = SEINE_SECS(3);
            at[i] = (i > 0 ? at[i - 1] : SEINE_SECS(1)) + gap;
        }
        CHECK_EQ(told_of(at, 2000), count_all(at, 2000));
    }
}

/* A run of close events straddles the edge of the second: its share is an estimate. */
TEST(above_64_in_a_second_the_count_is_right_to_a_fiftieth)
{
    static const uint32_t rates[] = {65, 100, 101, 640, 5000};

    EACH_ROW(i, rates) {
        int n = (int)(3 * rates[i]);

        for (int k = 0; k < n; k++)
            at[k] = SEINE_SECS(1) * k / rates[i];
        uint32_t told = told_of(at, n), all = count_all(at, n);
        CHECK(told + all / 50 + 1 >= all && told <= all + all / 50 + 1);
    }
}

/* Bursts of any size, steady rates and silences, one after the other: no more is in doubt
 * than the run at the edge of the second. */
TEST(the_count_is_right_to_one_run_whatever_came_before)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (int round = 0; round < 200; round++) {
        seine_span gap = 0;
        int n = 0;

        at[0] = SEINE_SECS(1);
        for (int left = 0; ++n < MOST / 10; left--) {
            if (left == 0) { /* another pace for a while */
                left = 1 + (int)sn_rng_below(&r, 300);
                gap =
                    (seine_span)(sn_rng_below(&r, SEINE_SECS(1)) >> sn_rng_below(&r, 20));
            }
            at[n] = at[n - 1] + (seine_span)sn_rng_below(&r, (uint64_t)gap + 1);
        }
        uint32_t told = told_of(at, n), all = count_all(at, n);
        uint32_t run = count_in(SEINE_MS(40), at, n);
        CHECK(told + run >= all && told <= all + run);
        CHECK(all > 64 || told == all);
    }
}

/* A count that outlived its second grew for as long as the later rate lasted. */
TEST(a_rate_that_falls_and_comes_back_is_told_once)
{
    static const struct {
        seine_span every;
        int n;
    } rows[] = {{SEINE_US(128), 83}, {SEINE_MS(65), 26}, {SEINE_MS(8), 1537}};
    seine_time t = SEINE_SECS(1);
    int n = 0;

    EACH_ROW(i, rows)
        for (int k = 0; k < rows[i].n; k++)
            at[n++] = t += rows[i].every;
    CHECK_EQ(count_all(at, n), 125);
    uint32_t told = told_of(at, n);
    CHECK(told >= 122 && told <= 128);
}

TEST(a_step_back_of_the_clock_is_no_step)
{
    sn_busiest_second b = {0};

    for (int i = 0; i < 100; i++)
        sn_busiest_second_add(&b, SEINE_SECS(5) - SEINE_SECS(i));
    CHECK_EQ(b.most, 100);
    sn_busiest_second_add(&b, SEINE_SECS(6));
    CHECK_EQ(b.n, 1);
}
