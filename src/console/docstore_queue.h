/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docstore_queue.h - the threads that wait for the disk: one writes, some read.
 *
 * Jobs that write go to one thread in order. It takes what waits, at most 64 jobs, runs
 * them in one transaction and commits once: an idle writer commits at once, a busy one
 * shares the cost of a sync. A job that fails is taken back alone; if the commit fails
 * all of them have failed. Jobs that read go to other threads with connections of their
 * own, so that they are never in the way of a commit.
 *
 *     typedef struct change { sn_store_job job; } change;        job first
 *     static change r;
 *     r.job = (sn_store_job){.run = run_rename};   on the thread of the store
 *     if (!sn_docqueue_write(q, &r.job))
 *         unavailable();
 *     …                                      opts.post(&r.job) when it is durable
 *
 * Time    a job waits for those before it; each statement ends by itself.
 * Memory  the jobs', which are the callers'; at most 1,024 writes and 64 reads wait.
 * Threads any thread, but reads come from one; `run` and `post` are called on the threads
 *         of the queue.
 */
#ifndef SN_DOCSTORE_QUEUE_H
#define SN_DOCSTORE_QUEUE_H

#include "console/docstore.h"
#include "seine/metrics.h"

enum { SN_DOCQUEUE_WRITES = 1024, SN_DOCQUEUE_READS = 64, SN_DOCQUEUE_GROUP = 64 };

typedef struct sn_docqueue sn_docqueue;

typedef struct sn_store_job {
    struct sn_store_job *next;
    seine_err (*run)(sn_docstore *s, struct sn_store_job *job);
    seine_err err; /* of run, or of the commit */
} sn_store_job;

typedef struct sn_docqueue_opts {
    const char *path;
    uint32_t readers;      /* threads from the start, 1 to 64 */
    uint32_t readers_most; /* and when all of them are busy; 0: no more */
    /* The job is done, with its error in it; it is the poster's again. */
    void (*post)(sn_store_job *job, void *arg);
    void *arg;
    seine_histogram *commits; /* observes each commit; NULL: nothing does */
} sn_docqueue_opts;

/* Opens the file for all threads. Errors of sn_docstore_open; NOMEM. */
SEINE_MUST_CHECK seine_err sn_docqueue_new(const sn_docqueue_opts *opts,
                                           sn_docqueue **out_queue, seine_diag *diag);
/* Takes no more jobs, does all that wait, and returns when the threads have ended. NULL
 * is fine. */
void sn_docqueue_end(sn_docqueue *q);
void sn_docqueue_free(sn_docqueue *q); /* ends it first; NULL is fine */

/* False: too many wait, or the queue ends. */
bool sn_docqueue_write(sn_docqueue *q, sn_store_job *job);
bool sn_docqueue_read(sn_docqueue *q, sn_store_job *job);
/* Would a write be taken? True stays true until this thread writes. */
bool sn_docqueue_has_room(sn_docqueue *q);
size_t sn_docqueue_waiting(sn_docqueue *q); /* writes */
size_t sn_docqueue_readers(sn_docqueue *q); /* threads that read now */

#endif
