/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_metrics.h - what this process takes of the machine, and which build it is.
 *
 *     seine_build build = {"0.1.0", "4f2a91c", "GNU 12.2.0"};
 *     seine_process_metrics *p;
 *     seine_err e = seine_process_metrics_new(metrics, &build, log, &p);
 *     seine_process_metrics_refresh(p);               before each scrape
 *     seine_process_metrics_free(p);
 *
 * The families are seine_build_info, process_cpu_seconds_total,
 * process_resident_memory_bytes, process_open_fds, process_max_fds and
 * process_start_time_seconds; with a log, seine_log_records_total by level, and in
 * seine_queue_depth, seine_queue_capacity and seine_queue_rejected_total the lines that
 * wait in its ring, that it has room for, and that it had no room for.
 *
 * Time    the system's; /proc is read by `refresh` alone.
 * Memory  a few handles.
 * Threads any thread.
 */
#ifndef SEINE_PROCESS_METRICS_H
#define SEINE_PROCESS_METRICS_H

#include "seine/abi.h"
#include "seine/err.h"
#include "seine/log.h"
#include "seine/metrics.h"

typedef struct seine_process_metrics seine_process_metrics;

typedef struct seine_build {
    const char *version, *revision, *compiler; /* labels; none is empty */
} seine_build;

SEINE_BEGIN

/* `log` NULL: none; it outlives the metrics. What registering says; NOMEM. */
SEINE_MUST_CHECK seine_err seine_process_metrics_new(seine_metrics *metrics,
                                                     const seine_build *build,
                                                     seine_log *log,
                                                     seine_process_metrics **out_metrics);

/* Before the registry ends; NULL is fine for both. */
void seine_process_metrics_free(seine_process_metrics *p);
void seine_process_metrics_refresh(seine_process_metrics *p);

SEINE_END

#endif
