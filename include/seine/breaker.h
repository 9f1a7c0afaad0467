/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breaker.h - a circuit breaker: is it worth asking this host at all?
 *
 * A breaker counts how calls end, and refuses calls to a host that is down. A CLOSED
 * breaker admits every call. Five failures in a row (or a share of a window of calls)
 * make it OPEN: for 60 s it refuses every call at once. The first call after that is
 * admitted as a probe and makes the breaker HALF_OPEN, with one probe at a time: a
 * success closes the breaker, a failure opens it again.
 *
 *     static const seine_breaker_opts opts = SEINE_BREAKER_OPTS;
 *     seine_breaker host;
 *     if (seine_breaker_init(&host, &opts) != SEINE_OK)
 *         return usage();
 *     seine_permit p;
 *     if (seine_breaker_acquire(&host, now, &p) != SEINE_OK)
 *         return come_back_at(seine_breaker_when(&host, now));
 *     bool ok = ask();
 *     seine_err e =
 *         seine_breaker_settle(&host, &p, ok ? SEINE_SUCCESS : SEINE_FAILURE, later);
 *     seine_breaker_fini(&host);
 *
 * The caller settles every granted permit exactly once; IGNORED is for a call that says
 * nothing about the host (cancelled, our own limits). A permit remembers the generation
 * it was granted in: a permit that is settled after a change of state counts as `late`
 * and decides nothing. A probe that is not settled within `probe_lease` has failed.
 *
 * Time    is an argument; a clock that steps back only keeps the breaker open longer.
 * Memory  128 bytes, the caller's; `extra` is allocated for a window or for more
 *         than one probe. The options are borrowed and outlive the breaker.
 * Threads one owner; breakers.h is for many. A NULL breaker is off: it admits.
 */
#ifndef SEINE_BREAKER_H
#define SEINE_BREAKER_H

#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/outcome.h"
#include "seine/time.h"
#include "seine/view.h"

typedef enum seine_breaker_state {
    SEINE_BREAKER_CLOSED,
    SEINE_BREAKER_OPEN,
    SEINE_BREAKER_HALF_OPEN,
    SEINE_BREAKER_FORCED_OPEN, /* refuses until reset, and counts */
    SEINE_BREAKER_DISABLED     /* admits until reset, and counts */
} seine_breaker_state;

/* Called after each change of state, when the change is complete, so it may call any
 * function of the breaker. `key` is the key in a registry (breakers.h), valid during the
 * call; a breaker of its own has an empty one. `seq` grows with every change. */
typedef void (*seine_breaker_fn)(seine_view key, seine_breaker_state from,
                                 seine_breaker_state to, uint64_t seq, void *arg);

typedef struct seine_breaker_opts {
    size_t size;                /* of this struct: SEINE_BREAKER_OPTS sets it */
    uint32_t failure_threshold; /* 5 failures in a row open it; 0: trigger off */
    uint32_t half_open_max;     /* 1; probes at once, 1..64 */
    uint32_t success_threshold; /* 1; successful probes that close it */
    uint32_t open_growth_pct;   /* 100; 200 doubles the open time at each reopening */
    uint32_t window_calls;      /* 0; the last n <= 1024 calls */
    seine_span window_time;     /* 0; or the last t, in 10 slices; not both */
    uint32_t min_calls;         /* 10; below so many calls no share is judged */
    uint32_t failure_pct;       /* 0: off; share of failures in the window */
    uint32_t slow_pct;          /* 0: off; share of slow calls */
    seine_span slow;            /* 0: off; a call longer than this is slow */
    seine_span open_for;        /* 60 s */
    seine_span open_max;        /* 300 s, >= open_for; ceiling of growth and hold */
    seine_span probe_lease;     /* 0 is open_for; a probe older than this has failed */
    seine_breaker_fn on_change; /* may be NULL */
    void *arg;
} seine_breaker_opts;

/* clang-format off */
#define SEINE_BREAKER_OPTS \
    {sizeof(seine_breaker_opts), 5, 1, 1, 100, 0, 0, 10, 0, 0, 0, SEINE_SECS(60), SEINE_SECS(300), 0, 0, 0}
/* clang-format on */

typedef struct seine_permit {
    uint64_t generation;
    seine_time start;
    uint32_t id;  /* which probe */
    uint16_t why; /* a seine_err; set before settling a failure */
    uint8_t held; /* 1 until settled */
} seine_permit;

/* The counters of a state start at 0 with every change of state; totals only grow. The
 * rates are percentages of the window after the last settled call. */
typedef struct seine_breaker_stats {
    seine_breaker_state state;
    seine_err why;     /* of the last counted failure; TIMEOUT: a lease ended */
    uint32_t failures; /* CLOSED: in a row */
    uint32_t half_open_successes;
    uint32_t half_open_failures; /* 0: the first one reopens */
    uint32_t half_open_active;   /* probes that are not settled */
    uint32_t streak;             /* failed probes since it was last CLOSED */
    seine_time last_failure_at;  /* 0 before the first */
    seine_time open_until;       /* OPEN: no probe before it; 0 in other states */
    uint64_t generation;
    uint64_t succeeded, failed, ignored, slow, rejected, late, opened;
    double failure_rate, slow_rate;
} seine_breaker_stats;

/* Private; public only for its size. */
typedef struct seine_breaker {
    const seine_breaker_opts *opts;
    void *extra;
    uint64_t word[14];
} seine_breaker;

SEINE_BEGIN

/* Starts CLOSED. INVAL for options that contradict themselves, NOMEM: `b` is untouched.
 * Invalid: every trigger off, or one that could never trip (a share without a window,
 * without min_calls or with more of them than window_calls, slow_pct without slow);
 * counts outside of the bounds above; a negative span. */
SEINE_MUST_CHECK seine_err seine_breaker_init(seine_breaker *b,
                                              const seine_breaker_opts *opts);
void seine_breaker_fini(seine_breaker *b);

/* OK, or BREAKER and no permit. From open_until on, the first caller is a probe. */
SEINE_MUST_CHECK seine_err seine_breaker_acquire(seine_breaker *b, seine_time now,
                                                 seine_permit *out_permit);

/* Says how the call ended. ALREADY, without effect, for a permit that is not held or a
 * probe that was settled through a copy; INVAL for an unknown outcome. */
SEINE_MUST_CHECK seine_err seine_breaker_settle(seine_breaker *b, seine_permit *permit,
                                                seine_outcome how, seine_time now);

/* When acquire would be granted: at most `now` means now, NEVER means forced open.
 * Changes nothing, except that a probe whose lease ended is failed. */
seine_time seine_breaker_when(seine_breaker *b, seine_time now);

/* While OPEN: no probe before min(until, now + open_max). Never shortens it. */
void seine_breaker_hold(seine_breaker *b, seine_time until, seine_time now);

/* The state; OPEN stays OPEN until a call acquires. */
seine_breaker_state seine_breaker_state_get(const seine_breaker *b);

/* "Closed", "Open", "HalfOpen", "ForcedOpen", "Disabled", else "Unknown". */
const char *seine_breaker_state_name(int state);

/* The pair without permits: in HALF_OPEN can_execute takes a probe's slot, and record
 * settles the oldest such slot. A record without a slot, or while OPEN, only adds to
 * `late`. */
SEINE_MUST_CHECK seine_err seine_breaker_can_execute(seine_breaker *b, seine_time now);
void seine_breaker_record(seine_breaker *b, seine_outcome how, seine_time now);

/* Closes the breaker from any state; permits that are out become late. Totals stay. */
void seine_breaker_reset(seine_breaker *b);

/* Enters a state, even the current one; an unknown state changes nothing. */
void seine_breaker_force(seine_breaker *b, seine_breaker_state state, seine_time now);

/* Copies one consistent snapshot. */
void seine_breaker_stats_get(const seine_breaker *b, seine_breaker_stats *out_stats);

SEINE_END

#endif
