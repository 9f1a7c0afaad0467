/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_runs.h - runs of `seine serve`: each is `seine run`, `crawl` or `fetch` with the
 * options of a server, on a thread of this process.
 *
 * Such a run reaches public addresses alone, start URLs included; networks that the
 * configuration allows are the only exception. It keeps a job, so that the next process
 * goes on with it.
 */
#ifndef CLI_SERVE_RUNS_H
#define CLI_SERVE_RUNS_H

#include <seine/console_run.h>
#include <seine/metrics.h>
#include <seine/otlp.h>

/* What all runs share; outlives the console. */
typedef struct serve_shared {
    seine_metrics *metrics;
    seine_otlp *traces; /* NULL: nobody asks for traces */
} serve_shared;

/* The runner of the console; its `arg` is a serve_shared. */
extern const seine_console_runner serve_runner;

#endif
