/* SPDX-License-Identifier: Apache-2.0 */
/* The metric families that every HTTP server of this project has. */
#include <string.h>

#include "base/alloc.h"
#include "base/metrics.h"

#define ROUTES  256
#define METHODS (SEINE_HTTP_OTHER + 1)
#define CLASSES 4 /* 2xx to 5xx; errors are the last two */

static const char *const methods[] = {"GET",   "HEAD",   "POST",    "PUT",
                                      "PATCH", "DELETE", "OPTIONS", "other"};
static const char *const classes[] = {"2xx", "3xx", "4xx", "5xx"};

struct seine_http_metrics {
    seine_http_metrics *next; /* next in the registry's list */
    seine_counter *requests, *errors;
    seine_histogram *duration;
    seine_gauge *active;
    unsigned n;      /* routes; the n-th is `other` */
    unsigned other;  /* the pair for any route or method outside the table */
    uint16_t pair[]; /* route * METHODS + method → its row in the tables */
};

static bool
has_method(const seine_http_route *r, unsigned method)
{
    return method < SEINE_HTTP_OTHER && r->methods >> method & 1;
}

/* Writes one row for each class from `first` on. */
static void
put_pair(sn_buf *b, const char *server, const char *method, const char *route,
         size_t first)
{
    for (size_t i = first; i < CLASSES; i++) {
        sn_labels_add(b, "server", server);
        sn_labels_add(b, "method", method);
        sn_labels_add(b, "route", route);
        sn_labels_add(b, "class", classes[i]);
        sn_labels_end(b);
    }
}

/* Writes the pairs of the table, then (other, other); returns the number of pairs. */
static size_t
put_pairs(sn_buf *b, const char *server, const seine_http_route *routes, size_t n,
          size_t first)
{
    size_t pairs = 0;

    for (size_t r = 0; r < n; r++)
        for (unsigned k = 0; k < METHODS; k++)
            if (has_method(&routes[r], k)) {
                put_pair(b, server, methods[k], routes[r].route, first);
                pairs++;
            }
    put_pair(b, server, "other", "other", first);
    return pairs + 1;
}

static void
put_routes(sn_buf *b, const char *server, const seine_http_route *routes, size_t n)
{
    for (size_t r = 0; r <= n; r++) {
        sn_labels_add(b, "server", server);
        sn_labels_add(b, "route", r < n ? routes[r].route : "other");
        sn_labels_end(b);
    }
}

static void
put_kinds(sn_buf *b, const char *server)
{
    static const char *const kinds[] = {"http", "ws"};

    for (size_t i = 0; i < 2; i++) {
        sn_labels_add(b, "server", server);
        sn_labels_add(b, "kind", kinds[i]);
        sn_labels_end(b);
    }
}

static bool
are_routes(const seine_http_route *routes, size_t n)
{
    for (size_t r = 0; r < n; r++) {
        if (!sn_label_value_ok(routes[r].route) || routes[r].methods == 0 ||
            routes[r].methods >> SEINE_HTTP_OTHER ||
            strcmp(routes[r].route, "other") == 0)
            return false;
        for (size_t k = 0; k < r; k++)
            if (strcmp(routes[r].route, routes[k].route) == 0)
                return false;
    }
    return true;
}

static seine_err
draft_all(sn_draft drafts[4], const char *server, const seine_http_route *routes,
          size_t n)
{
    /* Half of the usual bounds: there are as many histograms as routes, and a console has
     * to leave room for the metrics of its runs. */
    static const seine_span bounds[] = {SEINE_MS(5),    SEINE_MS(25),   SEINE_MS(100),
                                        SEINE_MS(250),  SEINE_MS(1000), SEINE_MS(2500),
                                        SEINE_MS(10000)};
    const seine_buckets buckets = {bounds, sizeof bounds / sizeof *bounds};
    sn_buf b;
    size_t pairs;
    seine_err e;

    sn_buf_init(&b, SN_LABELS_CAP);
    pairs = put_pairs(&b, server, routes, n, 0);
    e = sn_draft_init(&drafts[0], SN_COUNTER, "http_requests_total",
                      "Requests answered by our own servers.", &b, pairs * CLASSES, NULL);
    if (e == SEINE_OK) {
        put_routes(&b, server, routes, n);
        e = sn_draft_init(&drafts[1], SN_HISTOGRAM, "http_request_duration_seconds",
                          "First byte read to last byte written.", &b, n + 1, &buckets);
    }
    if (e == SEINE_OK) {
        put_pairs(&b, server, routes, n, 2);
        e = sn_draft_init(&drafts[2], SN_COUNTER, "http_errors_total",
                          "Requests answered with status 400 or above.", &b,
                          pairs * (CLASSES - 2), NULL);
    }
    if (e == SEINE_OK) {
        put_kinds(&b, server);
        e = sn_draft_init(&drafts[3], SN_GAUGE, "active_connections",
                          "Connections open now.", &b, 2, NULL);
    }
    sn_buf_fini(&b);
    for (int i = 0; i < 4 && e == SEINE_OK; i++)
        drafts[i].family->is_shared = true;
    return e;
}

static seine_http_metrics *
table(const seine_http_route *routes, size_t n)
{
    seine_http_metrics *h = sn_zalloc(sizeof *h + n * METHODS * sizeof h->pair[0]);
    uint16_t pairs = 0;

    if (!h)
        return NULL;
    h->n = (unsigned)n;
    for (size_t r = 0; r < n; r++)
        for (unsigned k = 0; k < METHODS; k++)
            if (has_method(&routes[r], k))
                h->pair[r * METHODS + k] = (uint16_t)(1 + pairs++);
    h->other = pairs;
    for (size_t i = 0; i < n * METHODS; i++) /* 0 means: not in the table */
        h->pair[i] = (uint16_t)(h->pair[i] > 0 ? h->pair[i] - 1 : pairs);
    return h;
}

static void
link_http(seine_metrics *m, seine_http_metrics *h)
{
    pthread_mutex_lock(&m->lock);
    h->next = m->https;
    m->https = h;
    pthread_mutex_unlock(&m->lock);
}

seine_err
seine_http_metrics_new(seine_metrics *m, const char *server,
                       const seine_http_route *routes, size_t n,
                       seine_http_metrics **out_h)
{
    if (!m || !out_h || (n > 0 && !routes))
        return SEINE_E_INVAL;
    sn_draft drafts[4] = {{0}};
    sn_metric_block *blocks[4];

    if (n > ROUTES)
        return SEINE_E_RANGE;
    if (!sn_label_value_ok(server) || !are_routes(routes, n))
        return SEINE_E_INVAL;
    seine_http_metrics *h SN_AUTOFREE = table(routes, n);
    seine_err e = h ? draft_all(drafts, server, routes, n) : SEINE_E_NOMEM;

    for (int i = 0; i < 4 && e == SEINE_OK; i++)
        blocks[i] = drafts[i].family->blocks;
    if (e == SEINE_OK)
        e = sn_drafts_link(m, drafts, 4);
    for (int i = 0; i < 4; i++)
        sn_draft_fini(&drafts[i]);
    if (e != SEINE_OK)
        return e;

    h->requests = &blocks[0]->as.counter;
    h->duration = &blocks[1]->as.histogram;
    h->errors = &blocks[2]->as.counter;
    h->active = &blocks[3]->as.gauge;
    link_http(m, h);
    *out_h = SN_STEAL(h);
    return SEINE_OK;
}

void
sn_http_free_all(seine_http_metrics *first)
{
    for (seine_http_metrics *h = first, *next; h; h = next) {
        next = h->next;
        sn_free(h);
    }
}

void
seine_http_record(seine_http_metrics *m, unsigned method, unsigned route, int status,
                  seine_span took)
{
    if (!m)
        return;
    unsigned pair =
        route < m->n && method < METHODS ? m->pair[route * METHODS + method] : m->other;
    /* 101 counts as success; an impossible status counts as 5xx: it is our fault. */
    unsigned class_ = status < 100 || status >= 600 ? 3
                      : status < 300                ? 0
                                                    : (unsigned)status / 100 - 2;

    seine_counter_add(m->requests, pair * CLASSES + class_, 1);
    if (class_ >= 2)
        seine_counter_add(m->errors, pair * (CLASSES - 2) + class_ - 2, 1);
    seine_histogram_observe(m->duration, pair == m->other ? m->n : route, took);
}

void
seine_http_opened(seine_http_metrics *m, seine_http_kind kind)
{
    if (m)
        seine_gauge_add(m->active, (unsigned)kind, 1);
}

void
seine_http_closed(seine_http_metrics *m, seine_http_kind kind)
{
    if (m)
        seine_gauge_add(m->active, (unsigned)kind, -1);
}
