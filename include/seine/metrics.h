/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics.h - counters, gauges and histograms in the format of Prometheus.
 *
 * A family has a name, a help text and labels. Every label comes with the closed list of
 * its values. So all series exist from the start, at 0, and a name from outside (a URL,
 * a host, a user) can never become one. A series is a number: row by row over the
 * values, the last label changes fastest. With method (GET, POST) and class (2xx, 4xx,
 * 5xx), POST 4xx is 1 * 3 + 1 = 4:
 *
 *     static const char *const methods[] = {"GET", "POST"}, *const classes[] = {…};
 *     seine_label labels[] = {{"method", methods, 2}, {"class", classes, 3}};
 *     if (seine_metrics_counter(m, "app_requests_total", "Requests answered.",
 *                               labels, 2, &requests) != SEINE_OK)
 *         return failure();
 *     seine_counter_add(requests, 4, 1);
 *
 * Names follow the rules of Prometheus: lower case, `_total` on counters and on nothing
 * else, base units, the unit last. A program passes durations in nanoseconds, as
 * everywhere in this library, and the output shows seconds.
 *
 * Time    is what you observe; no clock is read.
 * Memory  fixed at registration. At most 2,000 series in all, counted as lines of
 *         output; a histogram of 14 buckets is 17 of them.
 * Threads any thread. Adding, setting and observing never allocate, lock or look
 *         up a string: threads count in cells of their own, and a read adds them up.
 */
#ifndef SEINE_METRICS_H
#define SEINE_METRICS_H

#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/alloc.h"
#include "seine/err.h"
#include "seine/time.h"

typedef struct seine_metrics seine_metrics;
typedef struct seine_counter seine_counter;
typedef struct seine_gauge seine_gauge;
typedef struct seine_histogram seine_histogram;
typedef struct seine_http_metrics seine_http_metrics;

typedef struct seine_label {
    const char *name;
    const char *const *values;
    size_t n;
} seine_label;

/* Upper bounds, ascending; a larger value goes to +Inf. */
typedef struct seine_buckets {
    const seine_span *bounds;
    size_t n; /* 1 to 32 */
} seine_buckets;

typedef enum seine_metrics_format {
    SEINE_METRICS_PROMETHEUS, /* text/plain; version=0.0.4 */
    SEINE_METRICS_OPENMETRICS /* application/openmetrics-text; version=1.0.0 */
} seine_metrics_format;

typedef enum seine_http_method {
    SEINE_HTTP_GET,
    SEINE_HTTP_HEAD,
    SEINE_HTTP_POST,
    SEINE_HTTP_PUT,
    SEINE_HTTP_PATCH,
    SEINE_HTTP_DELETE,
    SEINE_HTTP_OPTIONS,
    SEINE_HTTP_OTHER
} seine_http_method;

typedef struct seine_http_route {
    const char *route; /* as a label: "/api/runs/{id}", never a path with values */
    unsigned methods;  /* bits: 1 << SEINE_HTTP_GET … */
} seine_http_route;

typedef enum seine_http_kind { SEINE_HTTP_PLAIN, SEINE_HTTP_WEBSOCKET } seine_http_kind;

/* Writes whole families whose labels nobody knows before, such as a few busiest hosts. */
typedef void (*seine_metrics_put)(const char *bytes, size_t n, void *to);
typedef void (*seine_metrics_more_fn)(seine_metrics_format f, seine_metrics_put put,
                                      void *to, void *arg);

SEINE_BEGIN

/* 0.005 … 10 s; the same with 30 and 60 s; the same from 0.0005 s on. */
seine_buckets seine_buckets_default(void);
seine_buckets seine_buckets_long(void);
seine_buckets seine_buckets_fine(void);

SEINE_MUST_CHECK seine_err seine_metrics_new(seine_metrics **out_m);

/* The handles of a registry end with it. */
void seine_metrics_free(seine_metrics *m);

/* Registration copies its arguments. INVAL: a name, label or bound that the rules forbid.
 * ALREADY: the family exists. RANGE: too many series. NOMEM. */
SEINE_MUST_CHECK seine_err seine_metrics_counter(seine_metrics *m, const char *name,
                                                 const char *help,
                                                 const seine_label *labels, size_t n,
                                                 seine_counter **out_c);
SEINE_MUST_CHECK seine_err seine_metrics_gauge(seine_metrics *m, const char *name,
                                               const char *help,
                                               const seine_label *labels, size_t n,
                                               seine_gauge **out_g);

/* The name ends in _seconds; `buckets` NULL are the default ones. */
SEINE_MUST_CHECK seine_err seine_metrics_histogram(seine_metrics *m, const char *name,
                                                   const char *help,
                                                   const seine_label *labels, size_t n,
                                                   const seine_buckets *buckets,
                                                   seine_histogram **out_h);

/* A NULL handle and an unknown series count nothing. */
void seine_counter_add(seine_counter *c, unsigned series, uint64_t n);
void seine_gauge_set(seine_gauge *g, unsigned series, int64_t v);
void seine_gauge_add(seine_gauge *g, unsigned series, int64_t by);
void seine_histogram_observe(seine_histogram *h, unsigned series, seine_span d);

/* The value now; 0 for a NULL handle or an unknown series. */
uint64_t seine_counter_get(const seine_counter *c, unsigned series);
int64_t seine_gauge_get(const seine_gauge *g, unsigned series);
uint64_t seine_histogram_count(const seine_histogram *h, unsigned series);

/* Writes all families, in the order of their registration. Buckets, sum and count of one
 * histogram series are of one moment. */
SEINE_MUST_CHECK seine_err seine_metrics_text(const seine_metrics *m,
                                              seine_metrics_format f,
                                              seine_text *out_text);

/* `fn` is called at the end of each text, on the thread that asks for it; one for all,
 * NULL: none. It must not use the registry. */
void seine_metrics_more(seine_metrics *m, seine_metrics_more_fn fn, void *arg);

/* Registers the four families of an HTTP server: http_requests_total,
 * http_request_duration_seconds, http_errors_total (status 400 and above) and
 * active_connections. Call once per server ("console", "gate"); there are series for the
 * routes and methods of the table and one more, `other`. Errors as above; ALREADY: the
 * server is registered. */
SEINE_MUST_CHECK seine_err seine_http_metrics_new(seine_metrics *m, const char *server,
                                                  const seine_http_route *routes,
                                                  size_t n, seine_http_metrics **out_h);

/* Counts a finished request. `route` is an index into the table; a route or a method that
 * is not in it counts as `other`. */
void seine_http_record(seine_http_metrics *m, unsigned method, unsigned route, int status,
                       seine_span took);
void seine_http_opened(seine_http_metrics *m, seine_http_kind kind);
void seine_http_closed(seine_http_metrics *m, seine_http_kind kind);

SEINE_END

#endif
