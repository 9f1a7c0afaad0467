/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/clock.h"

#include <pthread.h>

#include "check.h"
#include "failing.h"

#define T0 SEINE_SECS(50)

typedef struct nap {
    seine_clock *clock;
    pthread_t thread;
    seine_span every;
    int times;
    uint32_t word;
    seine_time woke[8];
    bool in_time; /* the last result of wait */
} nap;

static void *
nap_run(void *arg)
{
    nap *n = arg;
    seine_time start = n->clock->now(n->clock);

    for (int i = 0; i < n->times; i++) {
        n->in_time = n->clock->wait(n->clock, &n->word, 0, start + (i + 1) * n->every);
        n->woke[i] = n->clock->now(n->clock) - start;
    }
    seine_clock_fake_leave(n->clock);
    return NULL;
}

static void *
nap_enter(void *arg)
{
    nap *n = arg;

    seine_clock_fake_enter(n->clock);
    return nap_run(arg);
}

static void
nap_start(nap *n)
{
    CHECK_EQ(pthread_create(&n->thread, NULL, nap_enter, n), 0);
    seine_clock_fake_await(n->clock, 1);
}

static seine_clock *
fake(void)
{
    seine_clock *c = NULL;

    CHECK_EQ(seine_clock_fake_new(T0, 7, 42, &c), SEINE_OK);
    return c;
}

TEST_THREADS(clock_fake_wakes_each_thread_at_exactly_its_deadline)
{
    seine_clock *c = fake();
    nap slow = {.clock = c, .every = 300, .times = 3};
    nap fast = {.clock = c, .every = 100, .times = 8};

    CHECK_EQ(pthread_create(&slow.thread, NULL, nap_enter, &slow), 0);
    CHECK_EQ(pthread_create(&fast.thread, NULL, nap_enter, &fast), 0);
    seine_clock_fake_await(c, 2);
    CHECK_EQ(seine_clock_fake_parked(c), 2);
    seine_clock_fake_advance(c, 10000);
    pthread_join(slow.thread, NULL);
    pthread_join(fast.thread, NULL);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(slow.woke[i], (i + 1) * 300);
    for (int i = 0; i < 8; i++)
        CHECK_EQ(fast.woke[i], (i + 1) * 100);
    CHECK(!fast.in_time);
    CHECK_EQ(c->now(c), T0 + 10000);
    CHECK_EQ(seine_clock_fake_parked(c), 0);
    seine_clock_fake_free(c);
}

TEST_THREADS(clock_fake_wait_ends_when_the_word_changes)
{
    seine_clock *c = fake();
    nap n = {.clock = c, .every = SEINE_SECS(1), .times = 1};

    nap_start(&n);
    __atomic_store_n(&n.word, 1, __ATOMIC_SEQ_CST);
    c->wake(c, &n.word, 1);
    pthread_join(n.thread, NULL);
    CHECK(n.in_time);
    CHECK_EQ(n.woke[0], 0);
    seine_clock_fake_free(c);
}

TEST(clock_fake_does_not_wait_for_a_word_that_has_changed_or_a_time_that_has_come)
{
    seine_clock *c = fake();
    uint32_t word = 3;

    CHECK(c->wait(c, &word, 2, SEINE_NEVER));
    CHECK(c->wait(c, &word, 2, T0));
    CHECK(!c->wait(c, &word, 3, T0));
    CHECK(!c->wait(c, &word, 3, T0 - 1));
    seine_clock_fake_free(c);
}

TEST(clock_fake_keeps_wall_and_monotonic_time_apart)
{
    seine_clock *c = fake();

    seine_clock_fake_advance(c, 100);
    CHECK_EQ(c->wall(c), 107);
    seine_clock_fake_step_wall(c, -1000);
    CHECK_EQ(c->wall(c), -893);
    CHECK_EQ(c->now(c), T0 + 100);
    seine_clock_fake_advance(c, SEINE_NEVER);
    CHECK_EQ(c->now(c), SEINE_NEVER);
    seine_clock_fake_free(c);
}

TEST(clock_fake_goes_from_before_zero_to_the_end_of_time)
{
    seine_clock *c = NULL;

    CHECK_EQ(seine_clock_fake_new(-5, -5, 1, &c), SEINE_OK);
    seine_clock_fake_advance(c, SEINE_NEVER);
    CHECK_EQ(c->now(c), SEINE_NEVER);
    CHECK_EQ(c->wall(c), SEINE_NEVER);
    seine_clock_fake_free(c);
}

TEST(clock_fake_that_is_left_by_a_stranger_keeps_its_own)
{
    seine_clock *a = fake(), *b = fake();

    seine_clock_fake_enter(a);
    seine_clock_fake_leave(b);
    seine_clock_fake_advance(a, 1); /* does not wait for its own thread */
    CHECK_EQ(a->now(a), T0 + 1);
    seine_clock_fake_leave(a);
    seine_clock_fake_free(a);
    seine_clock_fake_free(b);
}

TEST(clock_fake_dice_follow_from_the_seed)
{
    seine_clock *a = fake(), *b = fake();

    for (int i = 0; i < 100; i++)
        CHECK(a->dice(a) == b->dice(b));
    seine_clock_fake_free(a);
    seine_clock_fake_free(b);
}

TEST(clock_fake_survives_failing_memory)
{
    FAIL_EACH(r)
    {
        seine_clock *c = NULL;
        seine_err e = seine_clock_fake_new(0, 0, 1, &c);

        CHECK(e == (c ? SEINE_OK : SEINE_E_NOMEM));
        seine_clock_fake_free(c);
    }
}

TEST(clock_system_runs_and_throws_dice)
{
    seine_clock *c = seine_clock_system();
    seine_time then = c->now(c);
    uint64_t a = c->dice(c), b = c->dice(c);

    CHECK(c->now(c) >= then);
    CHECK(c->wall(c) > SEINE_SECS(1500000000)); /* after 2017 */
    CHECK(a != b);
}

TEST(clock_system_wait_returns_late_or_when_the_word_differs)
{
    seine_clock *c = seine_clock_system();
    uint32_t word = 1;

    CHECK(c->wait(c, &word, 0, SEINE_NEVER));
    CHECK(!c->wait(c, &word, 1, c->now(c)));
    CHECK(!c->wait(c, &word, 1, -5));
}

static void *
system_waiter(void *arg)
{
    seine_clock *c = seine_clock_system();
    uint32_t *word = arg;

    while (__atomic_load_n(word, __ATOMIC_SEQ_CST) == 0)
        c->wait(c, word, 0, SEINE_NEVER);
    return NULL;
}

TEST_THREADS(clock_system_wakes_a_parked_thread)
{
    seine_clock *c = seine_clock_system();
    uint32_t word = 0;
    pthread_t thread;

    CHECK_EQ(pthread_create(&thread, NULL, system_waiter, &word), 0);
    __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST);
    c->wake(c, &word, 1);
    CHECK_EQ(pthread_join(thread, NULL), 0);
}
