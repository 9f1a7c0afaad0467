/* SPDX-License-Identifier: Apache-2.0 */
#include "report/latency.h"

#include <stdlib.h>

#include "check.h"

TEST(latency_bins_begin_where_their_edges_say)
{
    static const struct {
        size_t bin;
        seine_span edge;
    } rows[] = {
        {0, SEINE_US(64)},
        {1, SEINE_US(66)}, /* 1/32 of 64 us */
        {32, SEINE_US(128)},
        {LATENCY_BINS, SEINE_US(64) << 21}, /* 134 s */
    };

    EACH_ROW(i, rows)
        CHECK_EQ(latency_edge(rows[i].bin), rows[i].edge);
}

TEST(latency_of_each_edge_counts_in_its_own_bin)
{
    for (size_t i = 0; i < LATENCY_BINS; i++) {
        latency l = {.n = 0};

        latency_add(&l, latency_edge(i));
        latency_add(&l, latency_edge(i + 1) - 1);
        CHECK_EQ(l.bins[i], 2u);
    }
}

TEST(latency_keeps_what_is_outside_of_its_bins)
{
    latency l = {.n = 0};

    latency_add(&l, -5);
    latency_add(&l, SEINE_SECS(1000));
    CHECK_EQ(l.min, 0);
    CHECK_EQ(l.max, SEINE_SECS(1000));
    CHECK_EQ(latency_at(&l, 50, 100), 0);
    CHECK_EQ(latency_at(&l, 51, 100), SEINE_SECS(1000));
}

/* Of 1, 2, … 1,000 ms the value of rank ceil(p × n) is p × 1,000 ms. */
TEST(latency_percentiles_are_within_one_part_in_64)
{
    latency l = {.n = 0};

    for (int i = 1000; i > 0; i--)
        latency_add(&l, SEINE_MS(i));
    for (unsigned p = 1; p <= 100; p++) {
        seine_span want = SEINE_MS(10 * (seine_span)p), got = latency_at(&l, p, 100);

        CHECK(llabs(got - want) * 64 <= want + 64);
    }
    CHECK_EQ(latency_at(&l, 100, 100), SEINE_SECS(1));
}

TEST(latency_of_nothing_is_0)
{
    latency l = {.n = 0}, other = {.n = 0};

    CHECK_EQ(latency_at(&l, 99, 100), 0);
    latency_merge(&l, &other);
    CHECK_EQ(l.n, 0u);
}

TEST(latency_merges_to_what_one_would_have_counted)
{
    latency a = {.n = 0}, b = {.n = 0}, all = {.n = 0};

    for (int i = 1; i < 400; i++) {
        latency_add(i % 3 ? &a : &b, SEINE_US(i * i));
        latency_add(&all, SEINE_US(i * i));
    }
    latency_merge(&a, &b);
    CHECK_EQ(a.n, all.n);
    CHECK_EQ(a.min, all.min);
    CHECK_EQ(a.max, all.max);
    CHECK_EQ(latency_at(&a, 95, 100), latency_at(&all, 95, 100));
}
