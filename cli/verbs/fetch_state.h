/* SPDX-License-Identifier: Apache-2.0 */
/* fetch_state.h - the state of a run, which fetch.c and fetch_close.c share. */
#ifndef CLI_FETCH_STATE_H
#define CLI_FETCH_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "config/config_reload.h"
#include "jobs/control.h"
#include "options/fetch_opts.h"
#include "screen/failures.h"
#include "screen/progress.h"
#include "screen/terminal.h"
#include "verbs/feed.h"
#include "verbs/fleet_metrics.h"
#include "verbs/limits.h"
#include "verbs/outputs.h"
#include "verbs/run_job.h"
#include "verbs/run_log.h"
#include "verbs/run_metrics.h"
#include "verbs/run_source.h"
#include "verbs/strays.h"
#include "verbs/watchdog.h"
#include "verbs/wire_trace.h"

/* The first host that was given up, for the message. */
typedef struct parked {
    char host[128];
    seine_err cause;
    seine_time until;
    bool is_set;
} parked;

typedef struct run {
    const args *args;
    const fetch_settings *set;
    const run_source *source; /* NULL: the command line and its inputs */
    fetch_plan plan;
    terminal terminal;
    run_log run_log;
    run_metrics run_metrics;
    fleet_metrics fleet_metrics;
    wire_trace wire_trace;
    struct seine_otlp *traces; /* NULL: none */
    outputs outputs;
    feed feed;
    run_job job;
    control *control; /* the socket of the job; NULL: there is none */
    seine_fetch *fetch;
    config_reload reload; /* HUP */
    char name[128];       /* of a crawl: the host it started at; "" */
    screen screen;        /* of standard error */
    progress_kind progress;
    watchdog watchdog;
    int wake;

    seine_time start, deadline, next_line;
    seine_time looked_at; /* for the progress, … */
    seine_span rate_wait; /* … and seine_fetch_rate_wait then */
    seine_eta eta;
    seine_fetch_slowest slowest;
    int signal; /* the signal that ended the run; 0: none */
    unsigned stops;
    bool is_late;     /* --max-time is over */
    bool is_finished; /* nothing is left to do: known at the end */
    int judged;       /* the exit code that the source has found */

    /* other threads write these */
    atomic_int failed;     /* a seine_err of the outputs, or NOMEM */
    atomic_bool too_many;  /* --max-errors is reached */
    atomic_bool is_told;   /* to stop, through the socket */
    uint64_t results, bad; /* the sink thread counts these */
    limits limits;         /* and these */
    failure_list failures; /* and keeps these */
    strays strays;         /* and these */
    char unreachable[128]; /* the sink thread: the first host without robots.txt; "" */
    pthread_mutex_t lock;
    seine_sinks *sinks; /* for the watchdog; NULL: there are none */
    parked parked;
} run;

/* Why the run ended, as in the summary: "done", "signal" … */
const char *run_stopped_by(const run *r, const seine_tally_sums *t,
                           const seine_fetch_stats *s);

/* The first that applies in the order 2, 3, signal, 5, 6, 4, 1. */
int run_exit_code(const run *r, const closing *c);

/* Whether the job has nothing left to do. */
bool run_is_finished(const run *r);

/* Writes the summary, the messages and the closing report. Returns the exit code. */
int run_close(run *r);

/* "2026-11-15T19:20:01.123456Z" */
typedef struct stamp {
    char text[40];
} stamp;
stamp stamp_of(int64_t wall);

#endif
