/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - what time it is, how to wait, and random numbers.
 *
 * Decisions take `now` as an argument. Only code that blocks reads a clock, through this
 * table of functions. There are the system's clock and a fake one for tests, and a
 * program may bring its own. With the fake clock a test of hours runs in microseconds
 * and is exact to the nanosecond:
 *
 *     seine_clock *c;
 *     if (seine_clock_fake_new(0, 0, 42, &c) != SEINE_OK)
 *         return;
 *     start_thread(worker, c);      (calls seine_clock_fake_enter(c))
 *     seine_clock_fake_advance(c, SEINE_SECS(3600));
 *
 * Advancing goes from deadline to deadline. At each it wakes the threads that are due, in
 * the order in which they parked, and continues only when every entered thread is parked
 * again or has left. So a woken thread reads exactly its own deadline as `now`, and no
 * test sleeps.
 *
 * Time    comes from here.
 * Memory  the system clock is static; its maker frees a fake clock, after the last
 *         thread has left it.
 * Threads any thread. One thread at a time advances a fake clock.
 */
#ifndef SEINE_CLOCK_H
#define SEINE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/time.h"

typedef struct seine_clock seine_clock;

struct seine_clock {
    /* Monotonic. */
    seine_time (*now)(seine_clock *c);
    /* Unix time in ns, for HTTP dates, logs and archives. No wait depends on it, except
     * one for a Retry-After date. */
    int64_t (*wall)(seine_clock *c);
    /* 64 uniform random bits. */
    uint64_t (*dice)(seine_clock *c);
    /* Parks while *word == seen, until woken or `until`; false: the time is up. May
     * return true for no reason. */
    bool (*wait)(seine_clock *c, const uint32_t *word, uint32_t seen, seine_time until);
    /* Wakes up to `n` threads that are parked on `word`, in the order they parked. */
    void (*wake)(seine_clock *c, const uint32_t *word, int n);
    /* A thread that the library starts calls these first and last, where not NULL; a fake
     * clock then waits for it as for the test's own threads. */
    void (*enter)(seine_clock *c);
    void (*leave)(seine_clock *c);
};

SEINE_BEGIN

/* CLOCK_MONOTONIC and CLOCK_REALTIME, futexes, random numbers of the kernel; borrowed. */
seine_clock *seine_clock_system(void);

/* The system's monotonic time: the `now` of a program that has no clock of its own. */
seine_time seine_now(void);

/* A clock that stands at `now` and `wall` until it is advanced; its random numbers follow
 * from `seed`. */
SEINE_MUST_CHECK seine_err seine_clock_fake_new(seine_time now, int64_t wall,
                                                uint64_t seed, seine_clock **out_clock);
void seine_clock_fake_free(seine_clock *c);

/* The calling thread enters or leaves: advance waits for entered threads to park. A
 * thread is in at most one fake clock at a time. */
void seine_clock_fake_enter(seine_clock *c);
void seine_clock_fake_leave(seine_clock *c);

/* Moves on by `d`, as described above. With d = 0 it only waits until every entered
 * thread is parked. */
void seine_clock_fake_advance(seine_clock *c, seine_span d);

/* Moves the wall time, not the monotonic time. */
void seine_clock_fake_step_wall(seine_clock *c, int64_t by);

/* How many threads are parked now, entered or not. */
uint32_t seine_clock_fake_parked(seine_clock *c);

/* Returns when at least `n` threads are parked, entered or not. */
void seine_clock_fake_await(seine_clock *c, uint32_t n);

SEINE_END

#endif
