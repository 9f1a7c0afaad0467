/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_metrics.h - metrics of a worker of a fleet: what it holds of the job in Redis,
 * and what it has committed there.
 *
 *     fleet_metrics_open(&m, metrics, fleet);
 *     fleet_metrics_tick(&m);                         the main loop, every turn
 *
 * Gauges are seine_fleet_partitions, _held, _workers, _waiting, _away and _full; counters
 * seine_fleet_commits_total, _records_total, _links_total, _blocks_total, _fenced_total.
 */
#ifndef CLI_FLEET_METRICS_H
#define CLI_FLEET_METRICS_H

#include <seine/fleet.h>
#include <seine/metrics.h>

enum { FLEET_GAUGES = 6, FLEET_COUNTERS = 5 };

typedef struct fleet_metrics {
    const seine_fleet *fleet; /* NULL: off */
    seine_gauge *gauges[FLEET_GAUGES];
    seine_counter *counters[FLEET_COUNTERS];
    uint64_t told[FLEET_COUNTERS];
} fleet_metrics;

/* `metrics` or `fleet` NULL: off, and so are families for which there is no memory. Both
 * are borrowed. */
void fleet_metrics_open(fleet_metrics *m, seine_metrics *metrics,
                        const seine_fleet *fleet);
void fleet_metrics_tick(fleet_metrics *m);

#endif
