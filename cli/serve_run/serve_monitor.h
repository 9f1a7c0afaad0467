/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve_monitor.h - the metrics of `seine serve` and its second listener.
 *
 *     serve_monitor m;
 *     int code = serve_monitor_open(&m, log);
 *     code = serve_monitor_listen(&m, &set, console);  monitoring.prometheus_port
 *     serve_monitor_close(&m);
 */
#ifndef CLI_SERVE_MONITOR_H
#define CLI_SERVE_MONITOR_H

#include <seine/console.h>
#include <seine/metrics.h>
#include <seine/process_metrics.h>

#include "config/service_config.h"
#include "verbs/metrics_http.h"

typedef struct serve_monitor {
    seine_metrics *metrics;
    seine_process_metrics *process;
    metrics_http *http; /* NULL: there is no second listener */
    const seine_console *console;
} serve_monitor;

/* SAY_DONE, or the exit code after an error message. `log` outlives it; NULL: none. */
int serve_monitor_open(serve_monitor *m, seine_log *log);

/* The second listener, if the configuration asks for one: metrics and health, without a
 * token. */
int serve_monitor_listen(serve_monitor *m, const service_config *set,
                         const seine_console *console);

/* Ends the listener, before the console ends; and the rest, after it. */
void serve_monitor_shut(serve_monitor *m);
void serve_monitor_close(serve_monitor *m);

/* Brings the metrics of the process up to date; `arg` is the serve_monitor. */
void serve_monitor_refresh(void *arg);

#endif
