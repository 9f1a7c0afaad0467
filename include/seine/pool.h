/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - a fixed number of threads, a bounded queue, and what to do when full.
 *
 * Jobs run in the order in which they were accepted. A job goes to an idle worker
 * in the same step in which it is submitted, else into the queue, else it is
 * refused: with 5 workers and a queue of 100, exactly 105 are accepted before the
 * first is done, and the 106th is FULL.
 *
 *     seine_pool_opts opts = SEINE_POOL_OPTS;
 *     seine_pool *p;
 *     if (seine_pool_new(&opts, ctx, &p) != SEINE_OK)
 *         return SEINE_E_NOMEM;
 *     if (seine_pool_try_submit(p, fetch, url, free) == SEINE_E_FULL)
 *         come_back_later(url);
 *     seine_err e = seine_pool_close(p, SEINE_CLOSE_DRAIN, ctx);
 *     seine_pool_free(p);
 *
 * An accepted job runs or is dropped, exactly once, so its `arg` has one owner at
 * any time: the caller until SEINE_OK, then the pool. Jobs get the pool's ctx, a
 * child of `parent`: when that is canceled queued jobs still run, and see it.
 * A job that fails is counted and stops nobody.
 *
 * Time    the clock of `parent`; it measures how long jobs were queued.
 * Memory  a pool takes under 500 bytes and 32 per place in the queue, all at new;
 *         submitting allocates nothing.
 * Threads any thread. One of the pool's own workers may try_submit, pause, resume,
 *         resize and ask for stats; what would wait for itself is DEADLOCK.
 */
#ifndef SEINE_POOL_H
#define SEINE_POOL_H

#include <stdbool.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/ctx.h"
#include "seine/err.h"
#include "seine/time.h"

typedef struct seine_pool seine_pool;

typedef seine_err (*seine_job)(seine_ctx *ctx, void *arg);
typedef void (*seine_drop)(void *arg); /* the job will not run: end its arg */

typedef struct seine_pool_opts {
    uint32_t workers;   /* 5 */
    uint32_t queue_cap; /* 100; jobs that wait for a worker; 0: none may */
    bool paused;        /* false; true: queues until resumed */
} seine_pool_opts;

#define SEINE_POOL_OPTS \
    {                   \
        5, 100, false   \
    }

typedef enum seine_close {
    SEINE_CLOSE_DRAIN, /* runs what was accepted */
    SEINE_CLOSE_ABORT  /* cancels the jobs' ctx and drops the queue */
} seine_close;

typedef struct seine_pool_stats {
    uint32_t workers;        /* as many as it was told to have */
    uint32_t active, queued; /* now */
    uint32_t peak;           /* most that were active */
    uint64_t submitted;      /* accepted = completed + dropped + active + queued */
    uint64_t completed;      /* ran to their end, failed ones included */
    uint64_t failed;         /* did not return SEINE_OK */
    uint64_t rejected;       /* FULL, CLOSED, or gave up waiting */
    uint64_t dropped;        /* by an ABORT */
    seine_err first_error;   /* of a job */
    seine_span queue_wait_max;
} seine_pool_stats;

SEINE_BEGIN

/* Returns when all workers stand by. INVAL: no worker, no parent. NOMEM also when
 * the system gives no more threads. Workers block all signals. */
SEINE_MUST_CHECK seine_err seine_pool_new(const seine_pool_opts *opts, seine_ctx *parent,
                                          seine_pool **out_pool);

/* ABORTs first if still open, waits for what is under way and for all threads.
 * Nobody else uses the pool any more; from its own worker it does nothing. */
void seine_pool_free(seine_pool *p);

/* OK, FULL, CLOSED; never waits. `drop` may be NULL. */
SEINE_MUST_CHECK seine_err seine_pool_try_submit(seine_pool *p, seine_job job, void *arg,
                                                 seine_drop drop);

/* Waits for a place, first come first served. CLOSED, or the ctx's error: not
 * accepted. From its own worker: DEADLOCK, even with room. */
SEINE_MUST_CHECK seine_err seine_pool_submit(seine_pool *p, seine_ctx *ctx, seine_job job,
                                             void *arg, seine_drop drop);

/* Returns when all accepted jobs are finished, or with the ctx's error, which ends
 * the waiting and cancels no job. From its own worker: DEADLOCK. */
SEINE_MUST_CHECK seine_err seine_pool_wait(seine_pool *p, seine_ctx *ctx);

/* Accepts nothing any more, lifts a pause, and waits like seine_pool_wait: the ctx
 * bounds the waiting, not the closing. Idempotent; DRAIN may be followed by ABORT,
 * while it waits too. Running jobs end by themselves. Dropped ones are dropped by
 * this thread; a `drop` may not wait for the pool. */
SEINE_MUST_CHECK seine_err seine_pool_close(seine_pool *p, seine_close how,
                                            seine_ctx *ctx);

/* Nothing that is queued starts until resume; what runs goes on. */
void seine_pool_pause(seine_pool *p);
void seine_pool_resume(seine_pool *p);

/* More workers stand by when it returns; workers too many end after their job.
 * INVAL for 0; CLOSED; NOMEM, and as many as before. */
SEINE_MUST_CHECK seine_err seine_pool_resize(seine_pool *p, uint32_t workers);

/* One consistent snapshot. */
void seine_pool_stats_get(const seine_pool *p, seine_pool_stats *out_stats);

SEINE_END

#endif
