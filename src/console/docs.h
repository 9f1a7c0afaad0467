/* SPDX-License-Identifier: Apache-2.0 */
/*
 * docs.h - the documents of a console: hub, store and the worker of previews, wired.
 *
 * The part owns the hub (doc_hub.h), the threads of the store (docstore_queue.h) and a
 * pool of one worker that reads recipes (preview.h). Whoever needs the store makes a job:
 *
 *     typedef struct change { sn_doc_job job; sn_call *call; } change;       job first
 *     static change r;
 *     if (!sn_docs_write(docs, &r.job, run_rename, done_rename))
 *         unavailable();
 *
 * `run` is called on the thread of the store, `done` on the console's when the commit is
 * durable, with job->job.err.
 *
 * Time    the loop's; the wall's for what is stored.
 * Memory  bounded by the hub and the queue.
 * Threads the console's alone, but for `run`.
 */
#ifndef SN_DOCS_H
#define SN_DOCS_H

#include "console/console.h"
#include "console/doc_hub.h"
#include "console/docstore_queue.h"
#include "seine/pool.h"

typedef struct sn_docs {
    seine_console *console;
    sn_hub *hub;
    sn_docqueue *queue;
    seine_ctx *ctx;
    seine_pool *pool;    /* checks and previews: one worker */
    seine_pool *fetches; /* of pages: two */
    sn_timer sweep, check;
    seine_time retain_at;
    seine_gauge *documents, *sessions;
    seine_counter *updates; /* by result */
    seine_histogram *broadcast, *commits;
    seine_gauge *depth;        /* by queue */
    seine_counter *rejected;   /* likewise */
    seine_counter *busy;       /* of the worker of previews */
    uint64_t previews_refused; /* that were counted */
    bool is_stopped;
    size_t jobs; /* that were taken and are not done */
} sn_docs;

typedef struct sn_doc_job {
    sn_store_job job;
    sn_mail mail;
    sn_docs *docs;
    void (*done)(struct sn_doc_job *j);
} sn_doc_job;

/* Tells how much waits, for metrics. */
void sn_docs_note_queues(sn_docs *d);

/* NULL: the console keeps nothing. */
sn_docs *sn_docs_of(const seine_console *c);

/* False: the queue is full, and nothing is called. */
bool sn_docs_write(sn_docs *d, sn_doc_job *j,
                   seine_err (*run)(sn_docstore *s, sn_store_job *job),
                   void (*done)(sn_doc_job *j));
bool sn_docs_read(sn_docs *d, sn_doc_job *j,
                  seine_err (*run)(sn_docstore *s, sn_store_job *job),
                  void (*done)(sn_doc_job *j));

/* Names what the call does in its audit row, which every call that changes something
 * leaves (access.h). `action` is constant; `target` may be NULL. */
void sn_docs_audit(sn_call *call, const char *action, const char *target);

#endif
