/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/adaptive_limit.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "base/rng.h"
#include "check.h"

#define T0 SEINE_SECS(1000) /* any moment will do */

static seine_throttle
adaptive(seine_adapt_opts opts)
{
    seine_throttle t = {0};

    CHECK_EQ(seine_throttle_init_adaptive(&t, &opts), SEINE_OK);
    return t;
}

static void
give(seine_slot *slot, seine_outcome how, seine_time now)
{
    CHECK_EQ(seine_throttle_release(slot, how, now), SEINE_OK);
}

/* One call of the given length while `busy` slots, its own included, are out. */
static void
sample(seine_throttle *t, uint32_t busy, seine_time at, seine_span length,
       seine_outcome how)
{
    seine_slot slots[64];
    uint32_t n = 0;

    while (n < busy && seine_throttle_try(t, at, &slots[n]))
        n++;
    CHECK_EQ(n, busy);
    give(&slots[0], how, at + length);
    for (uint32_t i = 1; i < n; i++)
        give(&slots[i], SEINE_IGNORED, at + length);
}

TEST(adaptive_limit_aimd_moves_exactly_as_written)
{
    static const struct {
        uint32_t limit, busy;
        int calls;
        seine_outcome how;
        seine_span length;
        uint32_t after;
    } rows[] = {
        {2, 2, 1, SEINE_SUCCESS, 1, 2},      /* one of two */
        {2, 2, 2, SEINE_SUCCESS, 1, 3},      /* two of two */
        {2, 1, 2, SEINE_SUCCESS, 1, 3},      /* half in use is enough */
        {4, 1, 100, SEINE_SUCCESS, 1, 4},    /* less than half is not */
        {5, 2, 100, SEINE_SUCCESS, 1, 5},    /* 2 * 2 < 5 */
        {5, 3, 5, SEINE_SUCCESS, 1, 6},      /* 2 * 3 >= 5 */
        {2, 2, 5, SEINE_SUCCESS, 1, 4},      /* 2 for the third, 3 for the fourth */
        {8, 8, 100, SEINE_SUCCESS, 1, 8},    /* the maximum */
        {1, 1, 5, SEINE_FAILURE, 1, 1},      /* the minimum */
        {2, 1, 1, SEINE_FAILURE, 1, 1},      /* 9/10 of 2 */
        {8, 1, 1, SEINE_FAILURE, 1, 7},      /* 7.2 */
        {8, 1, 2, SEINE_FAILURE, 1, 6},      /* 7, 6.3 */
        {8, 8, 100, SEINE_IGNORED, 1, 8},    /* never moves */
        {8, 8, 100, SEINE_IGNORED, 2000, 8}, /* however slow */
        {8, 8, 1, SEINE_SUCCESS, 1000, 8},   /* as long as `slow` is not slow */
        {8, 8, 1, SEINE_SUCCESS, 1001, 7},   /* longer is */
    };

    EACH_ROW(i, rows) {
        seine_throttle t = adaptive((seine_adapt_opts){sizeof(seine_adapt_opts),
                                                       rows[i].limit, 1, 8, false, 1000});

        for (int k = 0; k < rows[i].calls; k++)
            sample(&t, rows[i].busy, T0 + SEINE_SECS(k), rows[i].length, rows[i].how);
        CHECK_EQ(seine_throttle_limit(&t), rows[i].after);
        seine_throttle_fini(&t);
    }
}

TEST(adaptive_limit_aimd_lowers_once_per_round_trip)
{
    static const struct {
        seine_time start;
        uint32_t limit;
    } rows[] = {
        {T0 + 99, 9},  /* taken before the decrease at T0 + 100 */
        {T0 + 100, 9}, /* at the same moment */
        {T0 + 101, 8}, /* after it */
    };

    EACH_ROW(i, rows) {
        seine_throttle t = adaptive(
            (seine_adapt_opts){sizeof(seine_adapt_opts), 10, 1, 16, false, SEINE_NEVER});

        sample(&t, 1, T0, 100, SEINE_FAILURE);
        CHECK_EQ(seine_throttle_limit(&t), 9);
        sample(&t, 1, rows[i].start, SEINE_SECS(1), SEINE_FAILURE);
        CHECK_EQ(seine_throttle_limit(&t), rows[i].limit);
        seine_throttle_fini(&t);
    }
}

TEST(adaptive_limit_ceiling_can_be_lowered_and_raised)
{
    seine_throttle t = adaptive(
        (seine_adapt_opts){sizeof(seine_adapt_opts), 8, 1, 8, false, SEINE_NEVER});

    CHECK_EQ(seine_throttle_set(&t, 4), SEINE_OK);
    CHECK_EQ(seine_throttle_limit(&t), 4);
    for (int i = 0; i < 20; i++)
        sample(&t, 4, T0, 1, SEINE_SUCCESS);
    CHECK_EQ(seine_throttle_limit(&t), 4);
    CHECK_EQ(seine_throttle_set(&t, 6), SEINE_OK);
    CHECK_EQ(seine_throttle_limit(&t), 4); /* room to grow, no more */
    for (int i = 0; i < 9; i++)
        sample(&t, 4, T0, 1, SEINE_SUCCESS);
    CHECK_EQ(seine_throttle_limit(&t), 6);
    seine_throttle_fini(&t);
}

/* The same rules, written as plainly as possible. */
typedef struct model {
    uint32_t limit, min, max, successes;
    seine_time lowered_at;
} model;

static void
expect(model *m, seine_outcome how, seine_time start, seine_time now, uint32_t busy)
{
    if (how == SEINE_FAILURE && start > m->lowered_at) {
        m->limit = m->limit * 9 / 10 < m->min ? m->min : m->limit * 9 / 10;
        m->successes = 0;
        m->lowered_at = now;
    }
    if (how == SEINE_SUCCESS && 2 * busy >= m->limit && ++m->successes == m->limit) {
        m->limit += m->limit < m->max;
        m->successes = 0;
    }
}

TEST(adaptive_limit_aimd_agrees_with_its_model_on_random_traces)
{
    sn_rng rng = sn_rng_seed(check_seed());

    for (int trace = 0; trace < 50; trace++) {
        uint32_t min = 1 + (uint32_t)sn_rng_below(&rng, 3);
        uint32_t max = min + (uint32_t)sn_rng_below(&rng, 30);
        uint32_t initial = min + (uint32_t)sn_rng_below(&rng, max - min + 1);
        seine_throttle t = adaptive((seine_adapt_opts){sizeof(seine_adapt_opts), initial,
                                                       min, max, false, SEINE_NEVER});
        model m = {initial, min, max, 0, 0};
        seine_slot slots[64];
        uint32_t n = 0;

        for (int i = 0; i < 400; i++) {
            seine_time now = T0 + i;

            if (sn_rng_below(&rng, 2)) {
                bool got = seine_throttle_try(&t, now, &slots[n]);

                CHECK_EQ(got, n < m.limit);
                n += got;
            } else if (n > 0) {
                uint32_t k = (uint32_t)sn_rng_below(&rng, n);
                uint64_t dice = sn_rng_below(&rng, 20);
                seine_outcome how = dice == 0   ? SEINE_FAILURE
                                    : dice == 1 ? SEINE_IGNORED
                                                : SEINE_SUCCESS;

                expect(&m, how, slots[k].start, now, n);
                give(&slots[k], how, now);
                slots[k] = slots[--n];
                CHECK_EQ(seine_throttle_limit(&t), m.limit);
            }
        }
        while (n > 0)
            give(&slots[--n], SEINE_IGNORED, T0);
        seine_throttle_fini(&t);
    }
}

TEST(adaptive_limit_gradient_moves_as_written)
{
    seine_throttle t = adaptive(
        (seine_adapt_opts){sizeof(seine_adapt_opts), 4, 1, 32, true, SEINE_NEVER});
    double usual = 0, limit = 4;
    sn_rng rng = sn_rng_seed(check_seed());

    for (int i = 1; i <= 400; i++) {
        /* Around 1000, then four times slower, then forty times faster, and back. */
        double base = i <= 100 ? 1000 : i <= 200 ? 4000 : i <= 300 ? 100 : 1000;
        double now = base + (double)sn_rng_below(&rng, 100);
        double weight = i <= 10 ? 1.0 / i : 2.0 / 601;

        usual = usual * (1 - weight) + now * weight;
        double g = 1.5 * usual / now;
        g = g > 1 ? 1 : g < 0.5 ? 0.5 : g;
        limit = limit * 0.8 + (limit * g + sqrt(limit)) * 0.2;
        limit = limit > 32 ? 32 : limit < 1 ? 1 : limit;
        if (usual > 2 * now)
            usual *= 0.95;
        sample(&t, seine_throttle_limit(&t), T0, (seine_span)now, SEINE_SUCCESS);
        /* A sum may be rounded differently just at an integer. */
        CHECK(fabs(seine_throttle_limit(&t) + 0.5 - limit) < 0.5 + 1e-6);
        if (i == 100)
            CHECK_EQ(seine_throttle_limit(&t), 32);
        if (i == 130)
            CHECK(seine_throttle_limit(&t) < 16);
    }
    seine_throttle_fini(&t);
}

TEST(adaptive_limit_gradient_grows_only_in_use_and_never_by_an_error)
{
    static const struct {
        uint32_t busy;
        seine_outcome how;
        seine_span length;
        uint32_t after; /* fifty of them */
    } rows[] = {
        {8, SEINE_SUCCESS, 100, 17},   /* until 8 are less than half of it */
        {3, SEINE_SUCCESS, 100, 8},    /* 2 * 3 < 8: stays */
        {8, SEINE_IGNORED, 100, 8},    /* says nothing */
        {8, SEINE_SUCCESS, 0, 8},      /* a clock that stands still gives no latency */
        {8, SEINE_SUCCESS, -5, 8},     /* nor does one that steps back */
        {1, SEINE_FAILURE, 1, 1},      /* a quick error is an error */
        {1, SEINE_SUCCESS, 100001, 1}, /* as is a slow success */
    };

    EACH_ROW(i, rows) {
        seine_throttle t = adaptive(
            (seine_adapt_opts){sizeof(seine_adapt_opts), 8, 1, 32, true, 100000});

        for (int k = 0; k < 50; k++)
            sample(&t, rows[i].busy, T0 + SEINE_SECS(k), rows[i].length, rows[i].how);
        CHECK_EQ(seine_throttle_limit(&t), rows[i].after);
        seine_throttle_fini(&t);
    }
}

TEST(adaptive_limit_gradient_goes_on_from_where_an_error_has_put_it)
{
    seine_throttle t = adaptive(
        (seine_adapt_opts){sizeof(seine_adapt_opts), 20, 1, 32, true, SEINE_NEVER});

    sample(&t, 20, T0, 100, SEINE_FAILURE);
    CHECK_EQ(seine_throttle_limit(&t), 18);
    sample(&t, 18, T0 + SEINE_SECS(1), 100, SEINE_SUCCESS);
    CHECK_EQ(seine_throttle_limit(&t), 18); /* 18 + sqrt(18) / 5 = 18.85 */
    sample(&t, 18, T0 + SEINE_SECS(2), 100, SEINE_SUCCESS);
    CHECK_EQ(seine_throttle_limit(&t), 19); /* 19.72 */
    CHECK_EQ(seine_throttle_set(&t, 10), SEINE_OK);
    sample(&t, 10, T0 + SEINE_SECS(3), 100, SEINE_SUCCESS);
    CHECK_EQ(seine_throttle_limit(&t), 10);
    seine_throttle_fini(&t);
}

typedef struct scene {
    seine_throttle *t;
    atomic_int inside;
} scene;

static void *
sample_many(void *arg)
{
    scene *s = arg;

    for (int i = 0; i < 50; i++) {
        seine_slot slot;

        if (!seine_throttle_try(s->t, T0 + i, &slot))
            continue;
        CHECK(++s->inside <= 8);
        s->inside--;
        give(&slot, i % 7 == 0 ? SEINE_FAILURE : SEINE_SUCCESS, T0 + i + 1);
        uint32_t limit = seine_throttle_limit(s->t);
        CHECK(limit >= 1 && limit <= 8);
    }
    return NULL;
}

TEST_THREADS(adaptive_limit_stays_in_its_bounds_under_threads)
{
    for (int gradient = 0; gradient < 2; gradient++) {
        seine_throttle t = adaptive(
            (seine_adapt_opts){sizeof(seine_adapt_opts), 4, 1, 8, gradient, SEINE_NEVER});
        scene s = {.t = &t};
        pthread_t threads[3];

        for (int i = 0; i < 3; i++)
            CHECK_EQ(pthread_create(&threads[i], NULL, sample_many, &s), 0);
        for (int i = 0; i < 3; i++)
            pthread_join(threads[i], NULL);
        CHECK_EQ(seine_throttle_in_flight(&t), 0);
        seine_throttle_fini(&t);
    }
}

TEST(a_throttle_of_one_owner_does_what_the_shared_one_does)
{
    enum { MOST = 12 };
    sn_rng r = sn_rng_seed(check_seed());
    seine_throttle shared, owned;
    sn_aimd mine = SN_AIMD(2, 1, 9);
    seine_slot a[MOST], b[MOST];
    int n = 0;
    seine_time now = SEINE_SECS(1);

    CHECK_EQ(seine_throttle_init_adaptive(&shared,
                                          &(seine_adapt_opts){sizeof(seine_adapt_opts), 2,
                                                              1, 9, false, SEINE_NEVER}),
             SEINE_OK);
    seine_throttle_init_custom(&owned, &sn_aimd_ops, &mine);
    for (int i = 0; i < 20000; i++) {
        now += (seine_time)sn_rng_below(&r, SEINE_MS(10));
        if (sn_rng_below(&r, 2) && n < MOST) {
            bool got = seine_throttle_try(&shared, now, &a[n]);
            CHECK_EQ(seine_throttle_try(&owned, now, &b[n]), got);
            n += got;
        } else if (n > 0) {
            int at = (int)sn_rng_below(&r, (uint64_t)n);
            seine_outcome how =
                (seine_outcome)(sn_rng_below(&r, 8) > 1 ? SEINE_SUCCESS
                                                        : sn_rng_below(&r, 2) + 1);
            CHECK_EQ(seine_throttle_release(&a[at], how, now), SEINE_OK);
            CHECK_EQ(seine_throttle_release(&b[at], how, now), SEINE_OK);
            CHECK_EQ(seine_throttle_release(&b[at], how, now), SEINE_E_ALREADY);
            a[at] = a[--n];
            b[at] = b[n];
        }
        if (i % 5000 == 4999) {
            uint32_t most = i % 10000 == 9999 ? 9 : 3;
            CHECK_EQ(seine_throttle_set(&shared, most), SEINE_OK);
            sn_aimd_ceiling(&mine, most);
        }
        CHECK_EQ(seine_throttle_limit(&owned), seine_throttle_limit(&shared));
        CHECK_EQ(seine_throttle_in_flight(&owned), seine_throttle_in_flight(&shared));
    }
    for (int i = 0; i < n; i++)
        CHECK_EQ(seine_throttle_release(&a[i], SEINE_IGNORED, now), SEINE_OK);
    seine_throttle_fini(&shared);
    seine_throttle_fini(&owned);
}
