/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry.h - an attempt has failed: try again, and when?
 *
 * The k-th wait is base * factor^k, at most `max`, with random jitter so that many
 * clients do not come back together: 1 s, 2 s, 4 s …, each ±10 %. Only transient failures
 * are retried, and only while attempts, time and the retry budget last:
 *
 *     static const seine_retry_opts opts = SEINE_RETRY_OPTS;
 *     seine_retry r = {.opts = &opts, .deadline = SEINE_NEVER, .idempotent = true};
 *     seine_retry_begin(&r, now);
 *     seine_fault f = fetch();
 *     seine_verdict v = seine_retry_next(&r, &f, now, dice);
 *     if (v.stop == SEINE_STOP_NO)
 *         try_again_at(v.at);
 *
 * The retry budget (retry_budget.h) keeps retries from multiplying the load on a host
 * that is down.
 *
 * Time    is passed in; only seine_retry_run reads the clock of its ctx.
 * Memory  seine_retry is the caller's.
 * Threads one owner.
 */
#ifndef SEINE_RETRY_H
#define SEINE_RETRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/retry_budget.h"
#include "seine/status_set.h"
#include "seine/time.h"

struct seine_ctx;

/* The jitter of a wait of d; U[a, b] is uniform. */
typedef enum seine_jitter {
    SEINE_JITTER_PLUSMINUS,    /* d - p + U[0, 2p] with p = d * pct / 100, at most max */
    SEINE_JITTER_NONE,         /* d */
    SEINE_JITTER_FULL,         /* U[0, d] */
    SEINE_JITTER_EQUAL,        /* d/2 + U[0, d/2] */
    SEINE_JITTER_DECORRELATED, /* base + U[0, 3 * prev - base], at most max */
    SEINE_JITTER_MINUS         /* d - p + U[0, p] */
} seine_jitter;

/* The wait after attempt k + 1; less than 0 counts as 0. */
typedef seine_span (*seine_backoff_fn)(uint32_t k, void *arg);

/* `attempts` have been made, the last ended in `f`, the next starts at `at`. Called
 * before the sleep, with nothing held; `arg` is that of the attempts. */
typedef void (*seine_on_retry_fn)(uint32_t attempts, const seine_fault *f, seine_time at,
                                  void *arg);

typedef struct seine_retry_opts {
    size_t size;                /* of this struct: SEINE_RETRY_OPTS sets it */
    uint32_t max_attempts;      /* 3, the first included */
    seine_jitter jitter;        /* PLUSMINUS */
    uint32_t jitter_pct;        /* 10, for PLUSMINUS and MINUS */
    seine_span base, max;       /* 1 s, 30 s */
    seine_span retry_after_max; /* 1 h; a longer Retry-After is cut to it */
    seine_span max_elapsed; /* NEVER; no attempt starts later than this after the first */
    seine_span min_attempt; /* 0; time an attempt needs to be worth starting */
    seine_status_set status;   /* statuses that are retried */
    bool not_net, not_timeout; /* false; true: network faults, or timeouts, are final */
    uint32_t
        factor_pct; /* 200, as 0: each wait is twice the one before; 100: all alike */
    seine_backoff_fn backoff; /* NULL; else the wait without jitter, instead of base and
                               * factor; `max` and jitter hold for it too */
    void *backoff_arg;
    seine_on_retry_fn on_retry; /* NULL; run and seine_call tell it each retry */
} seine_retry_opts;

/* The statuses are 408, 425, 429 and 5xx except 501 and 505. */
/* clang-format off */
#define SEINE_RETRY_OPTS \
    {sizeof(seine_retry_opts), 3, SEINE_JITTER_PLUSMINUS, 10, SEINE_SECS(1), SEINE_SECS(30), SEINE_SECS(3600), \
     SEINE_NEVER, 0, \
     {{0, 0, 0, 0, 0, 0, UINT64_C(0x0000220001000000), UINT64_C(0xfdd0000000000000), \
       UINT64_C(0xffffffffffffffff), UINT64_C(0xffffff)}}, false, false, 200, NULL, NULL, NULL}
/* clang-format on */

/* The attempts of one request. The caller sets opts, the budgets (NULL: off), deadline
 * and idempotent; the rest starts as zero and belongs to begin and next. */
typedef struct seine_retry {
    const seine_retry_opts *opts; /* outlive it; accepted by seine_retry_check */
    seine_retry_budget *host, *global;
    seine_time deadline, first_at;
    seine_span prev; /* the last backoff, for DECORRELATED */
    uint32_t attempts;
    bool idempotent; /* GET HEAD PUT DELETE OPTIONS TRACE, or the caller vouches */
} seine_retry;

typedef enum seine_stop {
    SEINE_STOP_NO, /* go on */
    SEINE_STOP_OK,
    SEINE_STOP_CANCELED,
    SEINE_STOP_FINAL,    /* trying again cannot help */
    SEINE_STOP_ATTEMPTS, /* all are used */
    SEINE_STOP_METHOD,   /* the request may have had an effect already */
    SEINE_STOP_ELAPSED,  /* max_elapsed has passed */
    SEINE_STOP_DEADLINE,
    SEINE_STOP_BUDGET,
    SEINE_STOP_BREAKER /* only seine_call sets it */
} seine_stop;

/* STOP_NO: try again at `at`. Otherwise `at` is SEINE_NEVER. */
typedef struct seine_verdict {
    seine_stop stop;
    seine_time at;
} seine_verdict;

/* One attempt of seine_retry_run, numbered from 1. `attempt` ends no later than
 * the ctx of the run; it is borrowed. */
typedef seine_fault (*seine_attempt_fn)(struct seine_ctx *attempt, uint32_t number,
                                        void *arg);

SEINE_BEGIN

/* INVAL: max_attempts 0, base < 0, max < base, jitter_pct > 100, an unknown
 * jitter, a factor_pct of 1 to 99, or a negative retry_after_max, max_elapsed or
 * min_attempt. */
SEINE_MUST_CHECK seine_err seine_retry_check(const seine_retry_opts *opts);

/* Counts an attempt that starts; the first pays into the budgets. */
void seine_retry_begin(seine_retry *r, seine_time now);

/* Decides what follows the attempt that ended in `f`. It checks in this order: success,
 * canceled, transient (TRANSIENT, unless opts->not_net or not_timeout says no, or NOMEM;
 * a code HTTP or HTTP_BUSY with a status is judged by opts->status), attempts, method,
 * max_elapsed, deadline, and the budgets last, so that a refused retry costs nothing. On
 * 429 and 503 the wait is at least the server's Retry-After, and up to 10 % more. `dice`
 * are 64 uniform random bits. */
seine_verdict seine_retry_next(seine_retry *r, const seine_fault *f, seine_time now,
                               uint64_t dice);

/* min(max, base * factor^k), saturating, each step rounded up: the wait after attempt
 * k + 1, without jitter; or what opts->backoff says, at most max. */
seine_span seine_retry_backoff(const seine_retry_opts *opts, uint32_t k);

/* The same with jitter. Only DECORRELATED uses `prev`, the wait before this one; a value
 * below base counts as base. */
seine_span seine_retry_delay(const seine_retry_opts *opts, uint32_t k, seine_span prev,
                             uint64_t dice);

/* SEINE_OK below 400; HTTP_BUSY for a status of the set; else HTTP. */
seine_err seine_retry_classify(const seine_retry_opts *opts, unsigned status);

/* Calls `fn` until it succeeds or the policy says stop, and sleeps in between. Returns
 * the last fault's code unchanged, also when the next attempt would start at or after the
 * deadline. Returns the ctx's cause when it is cancelled during a sleep, or done before
 * the first attempt. The caller vouches that `fn` may be repeated. *out_attempts (NULL is
 * fine) is written unless the result is INVAL for the opts; opts NULL: one attempt. */
SEINE_MUST_CHECK seine_err seine_retry_run(const seine_retry_opts *opts,
                                           struct seine_ctx *ctx, seine_attempt_fn fn,
                                           void *arg, uint32_t *out_attempts);

SEINE_END

#endif
