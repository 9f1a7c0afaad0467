/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_job.h - the durable job of a run: its name, what makes two commands the same one,
 * and the messages about it.
 *
 *     int code = run_job_open(a, &job);              SAY_DONE: job.job may be NULL
 *     …
 *     code = run_job_close(&job, is_finished);
 */
#ifndef CLI_RUN_JOB_H
#define CLI_RUN_JOB_H

#include <seine/fleet.h>
#include <seine/job.h>

#include "options/fetch_opts.h"
#include "verbs/run_log.h"

typedef struct run_job {
    seine_durable_job *job;          /* NULL: the run is held in memory */
    seine_fleet *fleet;              /* the job is in Redis; NULL: it is not */
    const struct run_source *source; /* set before it is opened; NULL: none */
    char name[132];                  /* "" */
    bool has_secret; /* the command line had one; set before it is opened */
    bool is_resumed; /* an earlier run has left something */
    seine_job_figures before;
} run_job;

/* Opens the job that the options ask for, if they do: a crawl has one unless told
 * otherwise, a fetch with --job. SAY_DONE, or the exit code after an error message. */
int run_job_open(const args *a, run_job *out);

/* The name of the job that the options ask for. */
void run_job_name(const args *a, char *out, size_t cap);

/* Says that the run goes on, from where, and which input has changed meanwhile. */
void run_job_say(const run_job *j, const args *a, run_log *log);

/* Says of an incremental crawl how many pages it leaves alone. */
void run_job_say_round(const run_job *j, uint64_t not_due, run_log *log);

/* SAY_DONE, or the exit code after an error message. */
int run_job_close(run_job *j, bool is_finished);

/* Removes the closed job of a command that was refused, if it was made for it: the right
 * command is not to find a job that was started with another one. */
void run_job_undo(const run_job *j, const args *a);

#endif
