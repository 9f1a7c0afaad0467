/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/clock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/time.h"

static int64_t
read_clock(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return SEINE_SECS(t.tv_sec) + t.tv_nsec;
}

seine_span
sn_clock_cpu(void)
{
    return read_clock(CLOCK_THREAD_CPUTIME_ID);
}

static seine_time
system_now(seine_clock *c)
{
    (void)c;
    return read_clock(CLOCK_MONOTONIC);
}

static int64_t
system_wall(seine_clock *c)
{
    (void)c;
    return read_clock(CLOCK_REALTIME);
}

/* A retry draws once, so the kernel's random numbers are fast enough, and threads share
 * no state. */
static uint64_t
system_dice(seine_clock *c)
{
    uint64_t bits;

    (void)c;
    sn_rng_secret(&bits, sizeof bits);
    return bits;
}

/* FUTEX_WAIT_BITSET takes an absolute time of CLOCK_MONOTONIC, so a wait that was
 * interrupted and resumed still ends on time. */
static bool
system_wait(seine_clock *c, const uint32_t *word, uint32_t seen, seine_time until)
{
    struct timespec at, *limit = NULL;

    (void)c;
    if (until != SEINE_NEVER) {
        seine_time t = until > 0 ? until : 0;

        at = (struct timespec){t / SEINE_SECS(1), t % SEINE_SECS(1)};
        limit = &at;
    }
    long rc = syscall(SYS_futex, word, FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG, seen,
                      limit, NULL, FUTEX_BITSET_MATCH_ANY);
    return rc == 0 || errno != ETIMEDOUT;
}

static void
system_wake(seine_clock *c, const uint32_t *word, int n)
{
    (void)c;
    syscall(SYS_futex, word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, n);
}

seine_clock *
seine_clock_system(void)
{
    static seine_clock clock = {system_now,  system_wall, system_dice, system_wait,
                                system_wake, NULL,        NULL};

    return &clock;
}

seine_time
seine_now(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

seine_time
sn_time_up(seine_clock *c)
{
    return c == seine_clock_system() ? read_clock(CLOCK_BOOTTIME) : c->now(c);
}
