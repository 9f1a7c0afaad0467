/* SPDX-License-Identifier: Apache-2.0 */
#include "sim/traffic.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "screen/say.h"

static trace
make(const char *spec, seine_span length, uint64_t seed)
{
    trace t = {0};

    CHECK_EQ(traffic_make(&t, spec, length, seed), SAY_DONE);
    return t;
}

TEST(traffic_that_is_steady_has_equal_gaps)
{
    trace t = make("steady:50/s", SEINE_SECS(10), 1);

    CHECK_EQ(t.count, 500);
    for (size_t i = 1; i < t.count; i++)
        CHECK_EQ(t.events[i].at - t.events[i - 1].at, SEINE_MS(20));
    trace_free(&t);
}

/* A Poisson number of mean 5,000 has a deviation of 71: 5 of them are 355. */
TEST(traffic_at_random_keeps_its_average)
{
    static const char *const specs[] = {"poisson:50/s", "50/s", "bursty:50/s"};

    EACH_ROW(i, specs) {
        trace t = make(specs[i], SEINE_SECS(100), 42);

        CHECK(t.count > 5000 - 450 && t.count < 5000 + 450);
        for (size_t k = 1; k < t.count; k++)
            CHECK(t.events[k].at >= t.events[k - 1].at);
        trace_free(&t);
    }
}

/* One second in five has three fifths of the requests. */
TEST(traffic_in_bursts_comes_in_every_fifth_second)
{
    trace t = make("bursty:100/s", SEINE_SECS(100), 7);
    size_t by_phase[5] = {0}, most = 0;

    for (size_t i = 0; i < t.count; i++)
        by_phase[t.events[i].at / SEINE_SECS(1) % 5]++;
    for (size_t i = 0; i < 5; i++)
        most = by_phase[i] > most ? by_phase[i] : most;
    CHECK(most * 100 > t.count * 55 && most * 100 < t.count * 65);
    trace_free(&t);
}

TEST(traffic_of_the_same_seed_is_the_same)
{
    trace a = make("50/s", SEINE_SECS(10), 42), b = make("50/s", SEINE_SECS(10), 42);
    trace c = make("50/s", SEINE_SECS(10), 43);
    bool differs = a.count != c.count;

    CHECK_EQ(a.count, b.count);
    for (size_t i = 0; i < a.count && i < b.count; i++)
        CHECK_EQ(a.events[i].at, b.events[i].at);
    for (size_t i = 0; !differs && i < a.count; i++)
        differs = a.events[i].at != c.events[i].at;
    CHECK(differs);
    trace_free(&a);
    trace_free(&b);
    trace_free(&c);
}

/* The first numbers of splitmix64 with the seed 0, as its author publishes them. */
TEST(traffic_dice_are_splitmix64)
{
    uint64_t state = 0;

    CHECK(traffic_dice(&state) == UINT64_C(0xe220a8397b1dcdaf));
    CHECK(traffic_dice(&state) == UINT64_C(0x6e789e6aa1b965f4));
    CHECK(traffic_dice(&state) == UINT64_C(0x06c45d188009454f));
}
