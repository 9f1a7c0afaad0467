/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/host_stats.h"

#include "base/rng.h"
#include "check.h"

TEST(host_stats_are_exact_for_small_rates_and_close_for_latencies)
{
    sn_host_stats f;

    sn_host_stats_init(&f);
    for (int i = 0; i < 100; i++)
        sn_host_stats_sent(&f, SEINE_MS(200) * i);
    CHECK_EQ(f.max_in_1s, 5);
    CHECK_EQ(f.min_gap, SEINE_MS(200));
    for (int i = 0; i < 1000; i++)
        sn_host_stats_sent(&f, SEINE_SECS(100) + SEINE_MS(1) * i);
    CHECK(f.max_in_1s >= 950 && f.max_in_1s <= 1000);
    for (int i = 1; i <= 100; i++)
        sn_host_stats_end(&f, true, SEINE_MS(i));
    seine_span p50 = sn_host_stats_quantile(&f, 50), p95 = sn_host_stats_quantile(&f, 95);
    CHECK(p50 >= SEINE_MS(50) && p50 <= SEINE_MS(63));
    CHECK(p95 >= SEINE_MS(95) && p95 <= SEINE_MS(119));
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
        sn_host_stats f;

        sn_host_stats_init(&f);
        sn_host_stats_sent(&f, SEINE_SECS(7));
        sn_host_stats_sent(&f, SEINE_SECS(7) + rows[i].apart);
        CHECK_EQ(f.max_in_1s, rows[i].most);
        CHECK_EQ(f.min_gap, rows[i].apart);
    }
}

TEST(the_most_in_any_second_agrees_with_counting_them_all)
{
    enum { N = 2000 };
    sn_rng r = sn_rng_seed(check_seed());
    static seine_time at[N];
    sn_host_stats f;
    uint32_t most = 0;
    seine_span least = SEINE_NEVER;

    sn_host_stats_init(&f);
    for (int i = 0; i < N; i++) {
        seine_span gap = (seine_span)sn_rng_below(&r, SEINE_MS(60)) + SEINE_MS(16);
        if (sn_rng_below(&r, 40) == 0)
            gap = SEINE_SECS(3);
        at[i] = (i > 0 ? at[i - 1] : SEINE_SECS(1)) + gap;
        uint32_t n = 0;
        for (int j = i; j >= 0 && at[i] - at[j] < SEINE_SECS(1); j--)
            n++;
        most = n > most ? n : most;
        if (i > 0 && gap < least)
            least = gap;
        sn_host_stats_sent(&f, at[i]);
        CHECK_EQ(f.max_in_1s, most);
    }
    CHECK_EQ(f.min_gap, least);
}

TEST(above_64_a_second_the_count_is_a_twentieth_short_at_most)
{
    static const uint32_t rates[] = {65, 100, 640, 5000};

    EACH_ROW(i, rates) {
        sn_host_stats f;

        sn_host_stats_init(&f);
        for (uint32_t n = 0; n < 3 * rates[i]; n++)
            sn_host_stats_sent(&f, SEINE_SECS(1) * n / rates[i]);
        CHECK(f.max_in_1s <= rates[i] && f.max_in_1s >= rates[i] - rates[i] / 20 - 1);
        uint32_t before = f.max_in_1s;
        for (uint32_t n = 0; n < 30; n++) /* and back: the ring is enough again */
            sn_host_stats_sent(&f, SEINE_SECS(10) + SEINE_MS(100) * n);
        CHECK_EQ(f.max_in_1s, before);
        CHECK_EQ(f.in_slices, 0);
        CHECK_EQ(f.head - f.tail, 10);
    }
}
