/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_http.h - an HTTP server for /metrics, /livez, /readyz and /healthz.
 *
 * One thread serves at most 32 connections, with 4 KiB and 5 s for each request and one
 * response per connection. Slow clients are dropped, and so is the 33rd: a scraper cannot
 * slow down a run.
 */
#ifndef CLI_METRICS_HTTP_H
#define CLI_METRICS_HTTP_H

#include <stdbool.h>

#include <seine/metrics.h>

typedef struct metrics_http metrics_http;

typedef struct metrics_http_opts {
    seine_metrics *metrics;
    void (*refresh)(void *arg); /* before a scrape; NULL */
    bool (*is_alive)(void *arg);
    bool (*is_ready)(void *arg);
    void *arg;
} metrics_http_opts;

/* Addresses: "9464", ":9464", "127.0.0.1:9464", "[::1]:9464", "localhost:0". SAY_DONE, or
 * the exit code after an error message. */
int metrics_http_new(const char *address, const metrics_http_opts *opts,
                     metrics_http **out);
void metrics_http_free(metrics_http *m); /* NULL is fine */

/* "127.0.0.1:41234" */
const char *metrics_http_where(const metrics_http *m);

#endif
