/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pool.h - a thread pool: a fixed number of threads and a bounded queue.
 *
 * Jobs run in the order in which they were accepted. Submitting a job gives it to an
 * idle worker, or else puts it into the queue, or else refuses it: with 5 workers and a
 * queue of 100, exactly 105 are accepted before the first is done, and the 106th is FULL.
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
 * An accepted job runs or is dropped, exactly once, so its `arg` has one owner at any
 * time: the caller until SEINE_OK, then the pool. Jobs get the pool's ctx, a child of
 * `parent`. When `parent` is canceled, queued jobs still run, and see it in their ctx.
 * A job that fails is counted and stops no other job.
 *
 * Time    the clock of `parent`; it measures how long jobs were queued.
 * Memory  a pool takes under 500 bytes and 32 per place in the queue, all at new;
 *         submitting allocates nothing.
 * Threads any thread. A worker of the pool may try_submit, pause, resume, resize and
 *         ask for stats; a call that would wait for itself returns DEADLOCK.
 */
#ifndef SEINE_POOL_H
#define SEINE_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/ctx.h"
#include "seine/err.h"
#include "seine/time.h"

typedef struct seine_pool seine_pool;

typedef seine_err (*seine_job)(seine_ctx *ctx, void *arg);
typedef void (*seine_drop)(void *arg); /* the job will not run: free its arg */

typedef struct seine_pool_opts {
    size_t size;        /* of this struct: SEINE_POOL_OPTS sets it */
    uint32_t workers;   /* 5 */
    uint32_t queue_cap; /* 100; jobs that wait for a worker; 0: none may */
    bool paused;        /* false; true: queues until resumed */
} seine_pool_opts;

#define SEINE_POOL_OPTS                        \
    {                                          \
        sizeof(seine_pool_opts), 5, 100, false \
    }

typedef enum seine_close {
    SEINE_CLOSE_DRAIN, /* runs all accepted jobs */
    SEINE_CLOSE_ABORT  /* cancels the jobs' ctx and drops the queue */
} seine_close;

typedef struct seine_pool_stats {
    uint32_t workers;        /* the wanted number */
    uint32_t active, queued; /* now */
    uint32_t peak;           /* the most that were active at once */
    uint64_t submitted;      /* accepted = completed + dropped + active + queued */
    uint64_t completed;      /* ran to their end, failed ones included */
    uint64_t failed;         /* did not return SEINE_OK */
    uint64_t rejected;       /* FULL, CLOSED, or gave up waiting */
    uint64_t dropped;        /* by an ABORT */
    seine_err first_error;   /* of a job */
    seine_span queue_wait_max;
} seine_pool_stats;

SEINE_BEGIN

/* Returns when all workers are ready. INVAL: no worker, no parent. NOMEM also when the
 * system gives no more threads. Workers block all signals. */
SEINE_MUST_CHECK seine_err seine_pool_new(const seine_pool_opts *opts, seine_ctx *parent,
                                          seine_pool **out_pool);

/* ABORTs first if the pool is open, then waits for running jobs and for all threads. No
 * other thread may use the pool any more. Does nothing when a worker of the pool calls
 * it. */
void seine_pool_free(seine_pool *p);

/* OK, FULL, CLOSED; never waits. `drop` may be NULL. */
SEINE_MUST_CHECK seine_err seine_pool_try_submit(seine_pool *p, seine_job job, void *arg,
                                                 seine_drop drop);

/* Waits for a place, first come first served. CLOSED, or the ctx's error: not accepted.
 * From a worker of the pool: DEADLOCK, even with room. */
SEINE_MUST_CHECK seine_err seine_pool_submit(seine_pool *p, seine_ctx *ctx, seine_job job,
                                             void *arg, seine_drop drop);

/* Returns when all accepted jobs are finished, or with the ctx's error, which ends the
 * waiting and cancels no job. From a worker of the pool: DEADLOCK. */
SEINE_MUST_CHECK seine_err seine_pool_wait(seine_pool *p, seine_ctx *ctx);

/* Stops accepting, lifts a pause, and waits like seine_pool_wait: the ctx bounds the
 * waiting, not the closing. Idempotent; ABORT may follow DRAIN, also while DRAIN waits.
 * Running jobs end by themselves. This thread calls `drop` for dropped jobs; `drop` must
 * not wait for the pool. */
SEINE_MUST_CHECK seine_err seine_pool_close(seine_pool *p, seine_close how,
                                            seine_ctx *ctx);

/* No queued job starts until resume; running jobs go on. */
void seine_pool_pause(seine_pool *p);
void seine_pool_resume(seine_pool *p);

/* New workers are ready when it returns; surplus workers end after their job. INVAL for
 * 0; CLOSED; NOMEM, and the number stays. */
SEINE_MUST_CHECK seine_err seine_pool_resize(seine_pool *p, uint32_t workers);

/* One consistent snapshot. */
void seine_pool_stats_get(const seine_pool *p, seine_pool_stats *out_stats);

SEINE_END

#endif
