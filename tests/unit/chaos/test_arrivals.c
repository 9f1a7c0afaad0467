/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/arrivals.h"

#include <string.h>

#include "base/rng.h"
#include "check.h"

#define T0 SEINE_SECS(1000)

TEST(one_arrival_has_no_gap)
{
    snc_arrivals w;
    size_t budget = 1 << 20;

    snc_arrivals_init(&w);
    snc_arrivals_add(&w, T0, &budget);
    CHECK_EQ(w.min_gap, SEINE_NEVER);
    CHECK_EQ(w.max_1s, 1);
    CHECK_EQ(w.max_10s, 1);
    snc_arrivals_fini(&w, &budget);
    CHECK_EQ(budget, 1 << 20);
}

TEST(a_window_has_its_start_and_not_its_end)
{
    for (seine_span d = -1; d <= 1; d++) {
        snc_arrivals w;
        size_t budget = 1 << 20;

        snc_arrivals_init(&w);
        snc_arrivals_add(&w, T0, &budget);
        snc_arrivals_add(&w, T0 + SEINE_SECS(1) + d, &budget);
        CHECK_EQ(w.max_1s, d < 0 ? 2 : 1);
        CHECK_EQ(w.max_10s, 2);
        CHECK_EQ(w.min_gap, SEINE_SECS(1) + d);
        snc_arrivals_add(&w, T0 + SEINE_SECS(10) + d, &budget);
        CHECK_EQ(w.max_10s, d < 0 ? 3 : 2);
        snc_arrivals_fini(&w, &budget);
    }
}

/* Every window that could be the fullest starts with an arrival. */
static uint64_t
most(const seine_time *at, int n, seine_span span)
{
    uint64_t best = 0;

    for (int i = 0; i < n; i++) {
        uint64_t inside = 0;

        for (int k = i; k < n && at[k] - at[i] < span; k++)
            inside++;
        best = inside > best ? inside : best;
    }
    return best;
}

TEST(figures_are_those_of_counting_every_window)
{
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 40; round++) {
        enum { N = 400 };
        static seine_time at[N];
        seine_time now = T0;
        seine_span gap = SEINE_NEVER;
        size_t budget = 1 << 20;
        snc_arrivals w;

        snc_arrivals_init(&w);
        for (int i = 0; i < N; i++) {
            at[i] = now;
            snc_arrivals_add(&w, now, &budget);
            if (i > 0 && at[i] - at[i - 1] < gap)
                gap = at[i] - at[i - 1];
            now +=
                (seine_time)sn_rng_below(&rng, (uint64_t)SEINE_MS(1 << (round % 8)) * 2);
        }
        CHECK_EQ(w.max_1s, most(at, N, SEINE_SECS(1)));
        CHECK_EQ(w.max_10s, most(at, N, SEINE_SECS(10)));
        CHECK_EQ(w.min_gap, gap);
        CHECK(!w.capped);
        snc_arrivals_fini(&w, &budget);
    }
}

TEST(moments_out_of_order_take_their_right_place)
{
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 40; round++) {
        enum { N = 300 };
        static seine_time at[N], mixed[N];
        seine_span gap = SEINE_NEVER;
        size_t budget = 1 << 20;
        snc_arrivals w;

        at[0] = mixed[0] = T0;
        for (int i = 1; i < N; i++) {
            at[i] = at[i - 1] + (seine_time)sn_rng_below(&rng, (uint64_t)SEINE_MS(20));
            mixed[i] = at[i];
            gap = at[i] - at[i - 1] < gap ? at[i] - at[i - 1] : gap;
        }
        for (int i = 1; i < N - 4; i += 4) { /* the first one stays the first */
            int k = i + (int)sn_rng_below(&rng, 4);
            seine_time t = mixed[i];

            mixed[i] = mixed[k];
            mixed[k] = t;
        }
        snc_arrivals_init(&w);
        for (int i = 0; i < N; i++)
            snc_arrivals_add(&w, mixed[i], &budget);
        CHECK_EQ(w.max_1s, most(at, N, SEINE_SECS(1)));
        CHECK_EQ(w.max_10s, most(at, N, SEINE_SECS(10)));
        CHECK_EQ(w.min_gap, gap);
        CHECK_EQ(w.last, at[N - 1]);
        snc_arrivals_fini(&w, &budget);
    }
}

TEST(without_a_budget_figures_are_lower_bounds_and_say_so)
{
    snc_arrivals w;
    size_t budget = 16 * sizeof(seine_time); /* the smallest ring */

    snc_arrivals_init(&w);
    for (int i = 0; i < 100; i++)
        snc_arrivals_add(&w, T0 + i, &budget);
    CHECK(w.capped);
    CHECK_EQ(w.max_1s, 16);
    CHECK_EQ(w.max_10s, 16);
    CHECK_EQ(w.min_gap, 1);
    snc_arrivals_fini(&w, &budget);

    budget = 0;
    snc_arrivals_init(&w);
    for (int i = 0; i < 3; i++)
        snc_arrivals_add(&w, T0 + i, &budget);
    CHECK(w.capped);
    CHECK_EQ(w.min_gap, 1);
    snc_arrivals_fini(&w, &budget);
}
