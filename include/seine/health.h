/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.h - is every part of this program well? Checks with an enforced time limit.
 *
 * A check is a function with a name. Two workers call it at the start and then every
 * `period` (30 s, ± 10 %), so nobody who asks for a result ever runs a check. A check
 * that has not returned after `timeout` (5 s) is Unknown, whether or not it ever returns:
 * its ctx is cancelled, what it says later is dropped, it is not called again before it
 * has returned, and another worker takes the place of the one that it holds. That happens
 * for at most four workers at a time; then the other checks are Unknown, "no worker".
 *
 *     seine_health *h;
 *     seine_health_check c = SEINE_HEALTH_CHECK("disk", NULL, NULL);
 *     c.fn = ask_disk;
 *     if (seine_health_new(clock, &h) != SEINE_OK || seine_health_add(h, &c) != SEINE_OK)
 *         return failure();
 *     e = seine_health_start(h, log, metrics);
 *     bool ready = seine_health_is_ready(h);          all critical checks are healthy
 *     seine_health_free(h);
 *
 * A result that is older than 2 * period + timeout is Unknown, and Unknown is not ready.
 * A change is logged once: healthy as info, unhealthy as error, unknown as warn; what
 * stays bad is logged again every five minutes.
 *
 * Time    through the clock of `new`.
 * Memory  fixed: 32 checks. A check that hangs at seine_health_free keeps its thread and
 *         what it needs until it returns; its `arg` must live as long.
 * Threads get, is_ready, text: any thread. new, add, start, free: one owner.
 */
#ifndef SEINE_HEALTH_H
#define SEINE_HEALTH_H

#include <stdbool.h>
#include <stddef.h>

#include "seine/abi.h"
#include "seine/alloc.h"
#include "seine/clock.h"
#include "seine/ctx.h"
#include "seine/err.h"
#include "seine/log.h"
#include "seine/metrics.h"
#include "seine/time.h"

typedef struct seine_health seine_health;

#define SEINE_HEALTH_MAX    32  /* checks */
#define SEINE_HEALTH_REASON 160 /* bytes of a reason, its terminator included */

typedef enum seine_health_status {
    SEINE_HEALTH_UNKNOWN,
    SEINE_HEALTH_HEALTHY,
    SEINE_HEALTH_UNHEALTHY
} seine_health_status;

typedef struct seine_health_result {
    seine_health_status status;
    char reason[SEINE_HEALTH_REASON]; /* "" if it is healthy */
    seine_time at;                    /* when the check ended; 0: never yet */
    seine_span took;
} seine_health_result;

/* Runs on a worker; should end when its ctx does. Writes a reason if it is not healthy.
 */
typedef seine_health_status (*seine_health_fn)(void *arg, seine_ctx *ctx,
                                               char out_reason[SEINE_HEALTH_REASON]);

typedef struct seine_health_check {
    const char *name; /* [a-z0-9_]{1,32}, unique; copied */
    seine_health_fn fn;
    void *arg;
    seine_span period, timeout; /* 30 s, 5 s */
    bool critical;              /* true: not ready unless it is healthy */
} seine_health_check;

#define SEINE_HEALTH_CHECK(name, fn, arg)                        \
    {                                                            \
        (name), (fn), (arg), SEINE_SECS(30), SEINE_SECS(5), true \
    }

SEINE_BEGIN

/* NULL: the system's clock. NOMEM. */
SEINE_MUST_CHECK seine_err seine_health_new(seine_clock *clock, seine_health **out_h);

/* Before the start. INVAL: a name or a span that the rules forbid; ALREADY: the name is
 * there; FULL; CLOSED: it has been started. */
SEINE_MUST_CHECK seine_err seine_health_add(seine_health *h, const seine_health_check *c);

/* Starts the workers and the first round. `log` and `metrics` may be NULL; the families
 * are seine_health_check_up and seine_health_check_duration_seconds. NOMEM: no memory or
 * no thread; ALREADY: it runs; what metrics say. */
SEINE_MUST_CHECK seine_err seine_health_start(seine_health *h, seine_log *log,
                                              seine_metrics *metrics);

/* Waits for checks that end within a second of being cancelled. NULL is fine. */
void seine_health_free(seine_health *h);

/* The result as of now, never a call of the check. UNKNOWN: no such check. */
SEINE_MUST_CHECK seine_err seine_health_get(const seine_health *h, const char *name,
                                            seine_health_result *out_r);

/* The i-th check in the order of `add`; NULL behind the last. */
const char *seine_health_name(const seine_health *h, size_t i);

/* All critical checks are healthy, and nobody has said that the program stops. */
bool seine_health_is_ready(const seine_health *h);

/* From here on it is not ready, whatever the checks say. */
void seine_health_stopping(seine_health *h);

/* What /readyz shows. */
typedef struct seine_health_view {
    bool verbose;               /* a line per check */
    const char *only;           /* this check alone; NULL: all */
    const char *const *exclude; /* these do not count; NULL ends; NULL: none */
} seine_health_view;

/* "ok", or the names of what fails, a line each; with `verbose` lines like
 *
 *     [+]database ok (1.2 ms, 4 s ago)
 *     [-]redis unhealthy: connection refused
 *
 * *out_ready: is that status 200? UNKNOWN: no such check; NOMEM. `view` NULL: all, short.
 */
SEINE_MUST_CHECK seine_err seine_health_text(const seine_health *h,
                                             const seine_health_view *view,
                                             bool *out_ready, seine_text *out_text);

/* "healthy", "unhealthy", "unknown" */
const char *seine_health_status_name(seine_health_status s);

SEINE_END

#endif
