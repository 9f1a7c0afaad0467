/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/wave.h"

#include "base/rng.h"
#include "check.h"

#define FAIL 5

/* So many requests in flight, of which each end is reported by its ticket. */
typedef struct host {
    sn_wave wave;
    uint32_t in_flight;
} host;

static uint32_t
begin(host *h)
{
    h->in_flight++;
    return sn_wave_start(&h->wave);
}

static void
end(host *h, uint32_t ticket, seine_outcome how)
{
    h->in_flight--;
    sn_wave_end(&h->wave, ticket, how, h->in_flight, FAIL);
}

static void
one_by_one(host *h, uint32_t n, seine_outcome how)
{
    for (uint32_t i = 0; i < n; i++)
        end(h, begin(h), how);
}

TEST(wave_alone_a_row_is_over_at_the_threshold)
{
    host h = {0};

    one_by_one(&h, FAIL - 1, SEINE_FAILURE);
    CHECK(!sn_wave_is_over(&h.wave, FAIL));
    one_by_one(&h, 1, SEINE_FAILURE);
    CHECK(sn_wave_is_over(&h.wave, FAIL));
    CHECK(!sn_wave_is_pending(&h.wave, FAIL));
    CHECK(!sn_wave_is_over(&h.wave, 0));
}

TEST(wave_waits_for_those_in_flight_at_the_threshold)
{
    host h = {0};
    uint32_t first[10], later;

    for (int i = 0; i < 10; i++)
        first[i] = begin(&h);
    for (int i = 0; i < 4; i++)
        end(&h, first[i], SEINE_FAILURE);
    CHECK(!sn_wave_is_pending(&h.wave, FAIL));
    later = begin(&h); /* below the threshold others may start */
    end(&h, first[4], SEINE_FAILURE);
    for (int i = 5; i < 9; i++) {
        CHECK(sn_wave_is_pending(&h.wave, FAIL));
        end(&h, first[i], i == 7 ? SEINE_IGNORED : SEINE_FAILURE);
        CHECK(!sn_wave_is_over(&h.wave, FAIL));
    }
    end(&h, first[9], SEINE_FAILURE);
    CHECK(!sn_wave_is_over(&h.wave, FAIL));
    end(&h, later, SEINE_FAILURE);
    CHECK(sn_wave_is_over(&h.wave, FAIL));
}

TEST(wave_one_success_ends_the_row)
{
    host h = {0};
    uint32_t t[8];

    for (int i = 0; i < 8; i++)
        t[i] = begin(&h);
    for (int i = 0; i < 7; i++)
        end(&h, t[i], SEINE_FAILURE);
    CHECK(sn_wave_is_pending(&h.wave, FAIL));
    end(&h, t[7], SEINE_SUCCESS);
    CHECK(!sn_wave_is_pending(&h.wave, FAIL));
    CHECK(!sn_wave_is_over(&h.wave, FAIL));
    CHECK(h.wave.has_answered);
}

TEST(wave_last_one_of_a_wave_may_say_nothing)
{
    host h = {0};
    uint32_t silent = begin(&h);

    one_by_one(&h, FAIL, SEINE_FAILURE);
    CHECK(sn_wave_is_pending(&h.wave, FAIL));
    end(&h, silent, SEINE_IGNORED);
    CHECK(sn_wave_is_over(&h.wave, FAIL));
}

/* What was in flight when the breaker opened is the past. */
TEST(wave_cleared_forgets_what_is_in_flight)
{
    host h = {0};
    uint32_t old[FAIL];

    for (int i = 0; i < FAIL; i++)
        old[i] = begin(&h);
    sn_wave_clear(&h.wave);
    for (int i = 0; i < FAIL; i++)
        end(&h, old[i], SEINE_FAILURE);
    CHECK(!sn_wave_is_over(&h.wave, FAIL));
    CHECK_EQ(h.wave.row, 0);
    one_by_one(&h, FAIL, SEINE_FAILURE);
    CHECK(sn_wave_is_over(&h.wave, FAIL));
}

/* One that is in flight since before the breaker changed says nothing, but the wave waits
 * for it as for the others. */
TEST(wave_has_those_of_before_a_change_too)
{
    host h = {0};
    uint32_t old = begin(&h);

    sn_wave_clear(&h.wave);
    one_by_one(&h, FAIL, SEINE_FAILURE);
    CHECK(sn_wave_is_pending(&h.wave, FAIL));
    end(&h, old, SEINE_SUCCESS);
    CHECK_EQ(h.wave.row, FAIL);
    CHECK(!sn_wave_is_pending(&h.wave, FAIL));
    CHECK(sn_wave_is_over(&h.wave, FAIL));
}

/* The chance of the row, at the share before it, is below one in a million. */
TEST(wave_is_longer_where_failures_are_usual)
{
    static const struct {
        uint32_t of, row; /* each of-th fails; so long must a row be */
    } rows[] = {{1000, 5}, {32, 5}, {10, 7}, {4, 10}, {2, 20}};

    EACH_ROW(i, rows) {
        host h = {0};

        for (uint32_t k = 1; k <= 64; k++)
            one_by_one(&h, 1, k % rows[i].of == 1 ? SEINE_FAILURE : SEINE_SUCCESS);
        CHECK_EQ(h.wave.row, 0);
        one_by_one(&h, rows[i].row - 1, SEINE_FAILURE);
        CHECK(!sn_wave_is_over(&h.wave, FAIL));
        one_by_one(&h, 1, SEINE_FAILURE);
        CHECK(sn_wave_is_over(&h.wave, FAIL));
        sn_wave_clear(&h.wave); /* the row is not what the host is usually like */
        one_by_one(&h, rows[i].row, SEINE_FAILURE);
        CHECK(sn_wave_is_over(&h.wave, FAIL));
    }
}

/* Half of 100,000 requests fail, at any number in flight: rarely does a row say that the
 * host is down. With five in a row it would be thousands of times. */
TEST(wave_of_a_host_of_which_little_is_known_is_longer)
{
    static const struct {
        uint32_t good, row;
    } rows[] = {{0, 5}, {1, 10}, {2, 10}, {10, 6}, {20, 5}};

    EACH_ROW(i, rows) {
        host h = {0};

        one_by_one(&h, rows[i].good, SEINE_SUCCESS);
        one_by_one(&h, rows[i].row - 1, SEINE_FAILURE);
        CHECK(!sn_wave_is_over(&h.wave, FAIL));
        one_by_one(&h, 1, SEINE_FAILURE);
        CHECK(sn_wave_is_over(&h.wave, FAIL));
    }
}

TEST(wave_of_a_flaky_host_is_rarely_over)
{
    sn_rng r = sn_rng_seed(check_seed());

    for (uint32_t most = 1; most <= 64; most *= 4) {
        host h = {0};
        uint32_t t[64], n = 0, over = 0;

        for (int i = 0; i < 100000; i++) {
            while (n < most && !sn_wave_is_pending(&h.wave, FAIL))
                t[n++] = begin(&h);
            uint32_t k = (uint32_t)sn_rng_below(&r, n), ticket = t[k];
            t[k] = t[--n];
            end(&h, ticket, sn_rng_below(&r, 2) ? SEINE_FAILURE : SEINE_SUCCESS);
            if (sn_wave_is_over(&h.wave, FAIL)) {
                over++;
                sn_wave_clear(&h.wave);
            }
        }
        CHECK(over <= 20);
    }
}

/* From the start, and after any number of good responses: threshold and wave. */
TEST(wave_a_dead_host_costs_threshold_and_wave)
{
    for (uint32_t most = 1; most <= 64; most++)
        for (uint32_t good = 0; good <= 100; good += 20) {
            host h = {0};
            uint32_t t[64] = {0}, n = 0, started = 0;

            one_by_one(&h, good, SEINE_SUCCESS);
            while (!sn_wave_is_over(&h.wave, FAIL)) {
                for (; n < most && !sn_wave_is_pending(&h.wave, FAIL); started++)
                    t[n++] = begin(&h);
                end(&h, t[0], SEINE_FAILURE);
                for (uint32_t i = 1; i < n; i++)
                    t[i - 1] = t[i];
                n--;
            }
            CHECK_EQ(started, FAIL + most - 1);
        }
}
