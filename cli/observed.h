/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observed.h - the metrics of a run: the library's, those of the process, the port they
 * are served on and the file they are written to.
 */
#ifndef CLI_OBSERVED_H
#define CLI_OBSERVED_H

#include <pthread.h>
#include <stdatomic.h>

#include <seine/metrics.h>

#include "fetch_settings.h"
#include "metrics_http.h"

typedef struct observed {
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
} observed;

/* SAY_DONE, or it was said what is wrong and there is nothing to free. */
int observed_open(observed *o, const args *a);
void observed_close(observed *o);

/* The main loop goes round: writes the file when it is time. */
void observed_tick(observed *o, seine_time now);
void observed_set_ready(observed *o, bool ready);

/* The file, now. False: it could not be written, errno says why. */
bool observed_write(observed *o);

/* The next tick that matters. */
seine_time observed_when(const observed *o);

#endif
