/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - what time it is, how to wait, and how the dice fall.
 *
 * Decisions take `now` as an argument; only what blocks looks at a clock, through
 * this table of functions. There is the system's, a fake one for tests, and a
 * program may bring its own. With the fake clock a test of hours runs in
 * microseconds and to the nanosecond:
 *
 *     seine_clock *c;
 *     if (seine_clock_fake_new(0, 0, 42, &c) != SEINE_OK)
 *         return;
 *     start_thread(worker, c);      (calls seine_clock_fake_enter(c))
 *     seine_clock_fake_advance(c, SEINE_SECS(3600));
 *
 * Advancing goes from deadline to deadline: at each it wakes the threads due, in
 * the order in which they parked, and goes on only when every entered thread is
 * parked again or has left. So a woken thread reads exactly its own deadline as
 * `now`, and no test sleeps.
 *
 * Time    this is where it comes from.
 * Memory  the system clock is static; a fake clock is freed by its maker, after
 *         the last thread has left it.
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
    /* Unix time in ns, for HTTP dates, logs and archives; decides no wait except
     * that of a Retry-After date, once. */
    int64_t (*wall)(seine_clock *c);
    /* 64 uniform random bits. */
    uint64_t (*dice)(seine_clock *c);
    /* Parks while *word == seen, until woken or `until`; false: too late. May
     * return true for no reason. */
    bool (*wait)(seine_clock *c, const uint32_t *word, uint32_t seen, seine_time until);
    /* Wakes up to `n` threads that are parked on `word`, first come first. */
    void (*wake)(seine_clock *c, const uint32_t *word, int n);
    /* Threads the library starts itself call these, where not NULL, first and
     * last; a fake clock then waits for them like for the test's own. */
    void (*enter)(seine_clock *c);
    void (*leave)(seine_clock *c);
};

SEINE_BEGIN

/* CLOCK_MONOTONIC and CLOCK_REALTIME, futexes, the kernel's dice; borrowed. */
seine_clock *seine_clock_system(void);

/* A clock that stands at `now` and `wall` until it is advanced; its dice follow
 * from `seed`. */
SEINE_MUST_CHECK seine_err seine_clock_fake_new(seine_time now, int64_t wall,
                                                uint64_t seed, seine_clock **out_clock);
void seine_clock_fake_free(seine_clock *c);

/* The calling thread joins, leaves: from here on advance waits for it to park. A
 * thread is in at most one fake clock at a time. */
void seine_clock_fake_enter(seine_clock *c);
void seine_clock_fake_leave(seine_clock *c);

/* Moves on by `d`, as described above. With d = 0 it only waits until every
 * entered thread is parked. */
void seine_clock_fake_advance(seine_clock *c, seine_span d);

/* The wall jumps, the monotonic time does not. */
void seine_clock_fake_step_wall(seine_clock *c, int64_t by);

/* How many threads are parked now, entered or not. */
uint32_t seine_clock_fake_parked(seine_clock *c);

/* Returns when at least `n` threads are parked, entered or not. */
void seine_clock_fake_await(seine_clock *c, uint32_t n);

SEINE_END

#endif
