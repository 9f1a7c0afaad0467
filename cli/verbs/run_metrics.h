/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_metrics.h - the metrics of a run: those of the library and of the process, served
 * on a port and written to a file.
 */
#ifndef CLI_RUN_METRICS_H
#define CLI_RUN_METRICS_H

#include <stdatomic.h>

#include <seine/metrics.h>
#include <seine/process_metrics.h>

#include "options/fetch_settings.h"
#include "verbs/host_metrics.h"
#include "verbs/metrics_http.h"

typedef struct run_metrics {
    seine_metrics *metrics; /* NULL: off */
    bool is_borrowed;       /* they belong to the host of the run */
    metrics_http *http;
    const char *file;
    seine_time next_write;
    seine_process_metrics *process;
    host_metrics hosts;
    _Atomic seine_time ticked;
    atomic_bool ready;
} run_metrics;

/* SAY_DONE; or the exit code after an error message, with nothing to free. `log` outlives
 * it; NULL: none. */
int run_metrics_open(run_metrics *o, const args *a, seine_log *log);
void run_metrics_close(run_metrics *o);

/* Writes the file when it is time; the main loop calls it every turn. */
void run_metrics_tick(run_metrics *o, seine_fetch *fetch, seine_time now);
void run_metrics_set_ready(run_metrics *o, bool ready);

/* Writes the file now. False: errno says why not. */
bool run_metrics_write(run_metrics *o);

/* When the next tick has something to do. */
seine_time run_metrics_when(const run_metrics *o);

#endif
