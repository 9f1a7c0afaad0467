/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_source.h - where the URLs of a run come from, if not from its command line: a
 * recipe.
 *
 * Everything else of a run is that of `seine fetch`: its job, limits, signals, progress,
 * log and metrics.
 *
 *     code = fetch_run_from(a, &source);        a: arguments of fetch
 */
#ifndef CLI_RUN_SOURCE_H
#define CLI_RUN_SOURCE_H

#include <seine/fetch.h>
#include <seine/fleet.h>
#include <seine/job.h>
#include <seine/sink.h>

#include "options/fetch_opts.h"
#include "verbs/run_log.h"

struct feed;

/* How a run has ended. */
typedef struct run_end {
    seine_span wall;
    int code;               /* as of a fetch, without --fail-on */
    bool is_stopped;        /* before all was done */
    const char *stopped_by; /* as in the summary: "done", "signal" … */
} run_end;

typedef struct run_source {
    const char *name; /* of the job, if none is typed, and of the progress */
    const char *spec; /* JSON: what shapes the results beside the options */
    bool keeps_known; /* what came with records of earlier runs stays in the job */
    bool has_secret;  /* on the command line */
    void *arg;

    /* The main thread, in this order. `plan` checks what there is to check, and sets the
     * members above. SAY_DONE, or the exit code after an error message. */
    int (*plan)(fetch_plan *p, void *arg);
    /* The job is finished, and its next run would begin; nothing of it was touched. */
    int (*next_run)(void *arg);
    /* The job is in Redis: URLs and leads are given to it. */
    void (*join)(seine_fleet *fleet, void *arg);
    int (*open)(seine_sinks *sinks, const char *name, const seine_sink_opts *base,
                void *arg); /* one output; NULL name: standard output */
    void (*begin)(seine_fetch_opts *io_opts, const seine_job_figures *job, void *arg);
    void (*kept)(seine_view key, seine_view bytes, void *arg);
    void (*earlier)(const seine_record *r, void *arg);
    /* Gives URLs until there are none, or f->stopped. The thread of the feed. */
    void (*give)(struct feed *f, void *arg);
    void (*again)(seine_ask *io_ask, void *arg); /* likewise: one of an earlier run */
    /* Gives a record to the sinks. NOMEM. The thread of the fetch. */
    seine_err (*record)(seine_sinks *sinks, unsigned shard, const seine_record *r,
                        void *arg);
    /* Nothing is under way any more. The exit code; may change the members of the
     * summary. */
    int (*judge)(const run_end *end, seine_text *io_members, void *arg);
    void (*say)(const run_end *end, run_log *log, void *arg); /* "done: …" */
    void (*finish)(seine_durable_job *job, void *arg); /* the job has nothing to do */
} run_source;

/* Runs with the URLs of the source. Returns the exit code. */
int fetch_run_from(const args *a, const run_source *source);

#endif
