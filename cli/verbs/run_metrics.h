/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_metrics.h - the metrics of a run: the library's, those of the process, the port
 * they are served on and the file they are written to.
 */
#ifndef CLI_RUN_METRICS_H
#define CLI_RUN_METRICS_H

#include <pthread.h>
#include <stdatomic.h>

#include <seine/metrics.h>

#include "options/fetch_settings.h"
#include "verbs/metrics_http.h"

typedef struct run_metrics {
    seine_metrics *metrics; /* NULL: nobody wants them */
    metrics_http *http;
    const char *file;
    seine_time next_write;
    seine_gauge *memory, *open_files, *most_files, *started;
    seine_counter *cpu;
    pthread_mutex_t lock; /* of refreshing */
    uint64_t cpu_told;    /* ns */
    _Atomic seine_time ticked;
    atomic_bool ready;
} run_metrics;

/* SAY_DONE, or it was said what is wrong and there is nothing to free. */
int run_metrics_open(run_metrics *o, const args *a);
void run_metrics_close(run_metrics *o);

/* The main loop goes round: writes the file when it is time. */
void run_metrics_tick(run_metrics *o, seine_time now);
void run_metrics_set_ready(run_metrics *o, bool ready);

/* The file, now. False: it could not be written, errno says why. */
bool run_metrics_write(run_metrics *o);

/* The next tick that matters. */
seine_time run_metrics_when(const run_metrics *o);

#endif
