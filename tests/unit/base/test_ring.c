/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ring.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

TEST(ring_has_a_size_that_is_a_power_of_two)
{
    static const size_t bad[] = {0, 1, 32, 63, 65, 100, 4097};
    sn_ring r;

    EACH_ROW(i, bad)
        CHECK_EQ(sn_ring_init(&r, bad[i]), SEINE_E_INVAL);
    CHECK_EQ(sn_ring_init(&r, 64), SEINE_OK);
    CHECK_EQ(sn_ring_longest(&r), 16);
    sn_ring_fini(&r);
}

TEST(ring_without_memory_says_so)
{
    FAIL_EACH(n)
    {
        sn_ring r = {0};
        seine_err e = sn_ring_init(&r, 4096);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e == SEINE_OK)
            sn_ring_fini(&r);
    }
}

TEST(ring_message_is_seen_when_published_and_not_before)
{
    sn_ring r;
    size_t n;

    CHECK_EQ(sn_ring_init(&r, 1024), SEINE_OK);
    CHECK(!sn_ring_peek(&r, &n));
    memcpy(sn_ring_reserve(&r, 5), "hello", 5);
    sn_ring_put(&r);
    memcpy(sn_ring_reserve(&r, 0), "", 0);
    sn_ring_put(&r);
    CHECK(!sn_ring_peek(&r, &n));
    CHECK_EQ(sn_ring_used(&r), 0);
    sn_ring_publish(&r);
    CHECK_EQ(sn_ring_used(&r), 32 + 16); /* five bytes and none, heads included */
    CHECK(memcmp(sn_ring_peek(&r, &n), "hello", 5) == 0);
    CHECK_EQ(n, 5);
    CHECK(sn_ring_peek(&r, &n) == sn_ring_peek(&r, &n));
    sn_ring_pop(&r);
    CHECK(sn_ring_peek(&r, &n));
    CHECK_EQ(n, 0);
    sn_ring_pop(&r);
    CHECK(!sn_ring_peek(&r, &n));
    CHECK_EQ(sn_ring_used(&r), 48);
    sn_ring_release(&r);
    CHECK_EQ(sn_ring_used(&r), 0);
    sn_ring_fini(&r);
}

TEST(ring_reserved_and_not_put_is_not_there)
{
    sn_ring r;
    size_t n;

    CHECK_EQ(sn_ring_init(&r, 256), SEINE_OK);
    CHECK(sn_ring_reserve(&r, 20));
    CHECK(sn_ring_reserve(&r, 3));
    sn_ring_put(&r);
    sn_ring_publish(&r);
    CHECK(sn_ring_peek(&r, &n));
    CHECK_EQ(n, 3);
    CHECK_EQ(sn_ring_used(&r), 32);
    sn_ring_fini(&r);
}

TEST(ring_longest_message_fits_wherever_an_empty_ring_begins)
{
    sn_ring r;
    size_t n;

    CHECK_EQ(sn_ring_init(&r, 256), SEINE_OK);
    CHECK_EQ(sn_ring_longest(&r), 112);
    CHECK(!sn_ring_reserve(&r, 113));
    for (int i = 0; i < 40; i++) {
        CHECK(sn_ring_reserve(&r, (size_t)i));
        sn_ring_put(&r);
        sn_ring_publish(&r);
        CHECK(sn_ring_peek(&r, &n));
        sn_ring_pop(&r);
        sn_ring_release(&r);

        CHECK(sn_ring_reserve(&r, 112));
        sn_ring_put(&r);
        sn_ring_publish(&r);
        CHECK(sn_ring_peek(&r, &n));
        CHECK_EQ(n, 112);
        sn_ring_pop(&r);
        sn_ring_release(&r);
    }
    sn_ring_fini(&r);
}

/* Compares with a queue in an array. */
TEST(ring_gives_what_was_put_in_that_order)
{
    enum { MOST = 4096 };
    static unsigned char sizes[MOST], marks[MOST];
    sn_rng rng;
    sn_ring r;

    rng = sn_rng_seed(check_seed());
    CHECK_EQ(sn_ring_init(&r, 1024), SEINE_OK);
    for (size_t in = 0, out = 0, n; out < MOST;) {
        if (in < MOST && sn_rng_below(&rng, 2)) {
            size_t size = sn_rng_below(&rng, 200);
            unsigned char *m = sn_ring_reserve(&r, size);

            if (m) {
                CHECK_EQ((uintptr_t)m % 16, 0);
                sizes[in] = (unsigned char)size;
                marks[in] = (unsigned char)sn_rng_next(&rng);
                memset(m, marks[in], size);
                sn_ring_put(&r);
                sn_ring_publish(&r);
                in++;
            } else {
                CHECK(in > out);
            }
        } else {
            unsigned char *m = sn_ring_peek(&r, &n);

            CHECK_EQ(m != NULL, in > out);
            if (!m)
                continue;
            CHECK_EQ(n, sizes[out]);
            for (size_t i = 0; i < n; i++)
                CHECK_EQ(m[i], marks[out]);
            out++;
            sn_ring_pop(&r);
            if (sn_rng_below(&rng, 3) == 0 || in == out)
                sn_ring_release(&r);
        }
    }
    sn_ring_fini(&r);
}

enum { MESSAGES = 3000 };

static void *
produce(void *arg)
{
    sn_ring *r = arg;

    for (uint32_t i = 0; i < MESSAGES;) {
        size_t n = 4 + i * 7 % 90;
        unsigned char *m = sn_ring_reserve(r, n);

        if (!m) {
            sn_ring_publish(r);
            sched_yield();
            continue;
        }
        memset(m, (int)(i & 255), n);
        memcpy(m, &i, 4);
        sn_ring_put(r);
        if (++i % 5 == 0 || i == MESSAGES)
            sn_ring_publish(r);
    }
    return NULL;
}

TEST_THREADS(ring_carries_from_thread_to_thread)
{
    pthread_t thread;
    sn_ring r;
    size_t n;

    CHECK_EQ(sn_ring_init(&r, 2048), SEINE_OK);
    pthread_create(&thread, NULL, produce, &r);
    for (uint32_t i = 0, got; i < MESSAGES;) {
        unsigned char *m = sn_ring_peek(&r, &n);

        if (!m) {
            sn_ring_release(&r);
            sched_yield();
            continue;
        }
        memcpy(&got, m, 4);
        CHECK_EQ(got, i);
        CHECK_EQ(n, 4 + i * 7 % 90);
        for (size_t k = 4; k < n; k++)
            CHECK_EQ(m[k], i & 255);
        sn_ring_pop(&r);
        i++;
    }
    pthread_join(thread, NULL);
    sn_ring_fini(&r);
}
