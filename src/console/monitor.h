/* SPDX-License-Identifier: Apache-2.0 */
/*
 * monitor.h - how the console itself is: health checks, the lag of its loop, metrics.
 *
 * A part of the console (console.h). Checks run on threads of their own, so a request
 * for /readyz never waits for one.
 *
 * Time    the loop's; a timer of 100 ms measures how late it is.
 * Memory  fixed.
 * Threads the console's; `health` may be asked by any.
 */
#ifndef SN_MONITOR_H
#define SN_MONITOR_H

#include "console/console.h"
#include "console/redis_check.h"
#include "seine/health.h"
#include "seine/process_metrics.h"

typedef struct sn_monitor {
    seine_console *console;
    seine_health *health;
    seine_process_metrics *process; /* NULL: the owner of the registry has them */
    sn_redis_check *redis;          /* NULL: none is configured */
    seine_histogram *lag;
    sn_timer tick;
    bool has_timer;
    seine_time due;            /* of the tick */
    _Atomic seine_time ticked; /* when the loop turned last */
    _Atomic seine_time asked;  /* since when a shard has not answered; 0: all have */
    char database[SN_CONSOLE_PATH];
} sn_monitor;

/* A shard of a run has been asked then and has not answered; 0: there is none. */
void sn_monitor_shards(seine_console *c, seine_time asked);

/* The loops of the console and of all shards have turned within five seconds. Any thread.
 */
bool sn_monitor_is_alive(const sn_monitor *m);

/* "loops":[…]: how late timers of the console and of all shards were, since the start. */
void sn_monitor_put_loops(const seine_console *c, sn_buf *b);

#endif
