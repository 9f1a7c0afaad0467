/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_metrics.h - metrics of the busiest hosts, for who asks for them by
 * monitoring.metrics_per_host: at most 100, and `other` for the rest.
 *
 *     host_metrics_open(&h, 10, metrics);
 *     host_metrics_tick(&h, fetch, now);              the main loop, every turn
 *     host_metrics_end(&h, fetch);                    the fetch has finished
 *     host_metrics_close(&h);
 *
 * The families are seine_host_requests_total, seine_host_duration_seconds (a summary) and
 * seine_host_breaker_state. Their labels are not known before, so they are written when
 * somebody reads and count for nothing in the registry.
 */
#ifndef CLI_HOST_METRICS_H
#define CLI_HOST_METRICS_H

#include <pthread.h>

#include <seine/fetch.h>
#include <seine/fetch_control.h>
#include <seine/metrics.h>

enum { HOST_METRICS_MOST = 100 };

typedef struct host_metrics {
    seine_metrics *metrics; /* NULL: off */
    pthread_mutex_t lock;   /* of list and total: scrapes come from another thread */
    seine_fetch_wait list[HOST_METRICS_MOST];
    size_t n, most;
    uint64_t total;  /* requests of all hosts */
    uint64_t ticket; /* of the question that is asked; 0: none */
    seine_time next;
} host_metrics;

/* `most` 0: off. */
void host_metrics_open(host_metrics *h, uint64_t most, seine_metrics *metrics);
void host_metrics_tick(host_metrics *h, seine_fetch *fetch, seine_time now);
void host_metrics_end(host_metrics *h, const seine_fetch *fetch);
void host_metrics_close(host_metrics *h); /* before the registry ends; zero is fine */

#endif
