/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/fleet_metrics.h"

static const char *const gauges[FLEET_GAUGES][2] = {
    {"seine_fleet_partitions", "Partitions of the job."},
    {"seine_fleet_held", "Partitions that this worker holds."},
    {"seine_fleet_workers", "Workers of the job that live."},
    {"seine_fleet_waiting", "URLs of own partitions that wait in memory."},
    {"seine_fleet_away", "1: a Redis cannot be reached."},
    {"seine_fleet_full", "1: a Redis has no memory."},
};
static const char *const counters[FLEET_COUNTERS][2] = {
    {"seine_fleet_commits_total", "Commits of partitions."},
    {"seine_fleet_records_total", "Records written to segments."},
    {"seine_fleet_links_total", "Links sent to inboxes."},
    {"seine_fleet_blocks_total", "Blocks of links sent to inboxes."},
    {"seine_fleet_fenced_total", "Commits that came after the lease was lost."},
};

void
fleet_metrics_open(fleet_metrics *m, seine_metrics *metrics, const seine_fleet *fleet)
{
    *m = (fleet_metrics){.fleet = metrics ? fleet : NULL};
    for (size_t i = 0; i < FLEET_GAUGES && m->fleet; i++)
        (void)!seine_metrics_gauge(metrics, gauges[i][0], gauges[i][1], NULL, 0,
                                   &m->gauges[i]);
    for (size_t i = 0; i < FLEET_COUNTERS && m->fleet; i++)
        (void)!seine_metrics_counter(metrics, counters[i][0], counters[i][1], NULL, 0,
                                     &m->counters[i]);
}

void
fleet_metrics_tick(fleet_metrics *m)
{
    seine_fleet_figures n;

    if (!m->fleet)
        return;
    seine_fleet_figures_get(m->fleet, &n);
    const int64_t now[FLEET_GAUGES] = {n.partitions,       n.held,    n.workers,
                                       (int64_t)n.waiting, n.is_away, n.is_full};
    const uint64_t all[FLEET_COUNTERS] = {n.commits, n.records, n.links, n.blocks,
                                          n.fenced};
    for (size_t i = 0; i < FLEET_GAUGES; i++)
        seine_gauge_set(m->gauges[i], 0, now[i]);
    for (size_t i = 0; i < FLEET_COUNTERS; i++) {
        seine_counter_add(m->counters[i], 0, all[i] - m->told[i]);
        m->told[i] = all[i];
    }
}
