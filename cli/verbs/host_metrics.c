/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/host_metrics.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define EVERY SEINE_SECS(5)

typedef struct writer {
    seine_metrics_put put;
    void *to;
    bool is_open; /* OpenMetrics: the name of a counter has no _total in its head */
} writer;

__attribute__((format(printf, 2, 3))) static void
say(const writer *w, const char *fmt, ...)
{
    char line[512];
    va_list list;

    va_start(list, fmt);
    int n = vsnprintf(line, sizeof line, fmt, list);
    va_end(list);
    if (n > 0 && (size_t)n < sizeof line)
        w->put(line, (size_t)n, w->to);
}

/* A host is a name of URLs: letters, digits, dots, brackets and colons. Others are not
 * written as they are. */
static const char *
clean(const char *host, char out[160])
{
    size_t n = 0;

    for (; *host && n + 1 < 160; host++)
        out[n++] =
            *host == '"' || *host == '\\' || (unsigned char)*host < ' ' ? '_' : *host;
    out[n] = '\0';
    return out;
}

/* Under the lock. */
static void
write_all(const host_metrics *h, const writer *w)
{
    uint64_t rest = h->total;
    char host[160];

    say(w, "# HELP seine_host_requests%s Requests to the busiest hosts.\n",
        w->is_open ? "" : "_total");
    say(w, "# TYPE seine_host_requests%s counter\n", w->is_open ? "" : "_total");
    for (size_t i = 0; i < h->n; i++) {
        say(w, "seine_host_requests_total{host=\"%s\"} %" PRIu64 "\n",
            clean(h->list[i].host, host), h->list[i].requests);
        rest -= rest < h->list[i].requests ? rest : h->list[i].requests;
    }
    say(w, "seine_host_requests_total{host=\"other\"} %" PRIu64 "\n", rest);
    say(w, "# HELP seine_host_duration_seconds Attempts at the busiest hosts.\n");
    say(w, "# TYPE seine_host_duration_seconds summary\n");
    for (size_t i = 0; i < h->n; i++) {
        clean(h->list[i].host, host);
        say(w, "seine_host_duration_seconds{host=\"%s\",quantile=\"0.95\"} %.6f\n", host,
            (double)h->list[i].p95 / 1e9);
        say(w, "seine_host_duration_seconds_count{host=\"%s\"} %" PRIu64 "\n", host,
            h->list[i].requests);
    }
    say(w, "# HELP seine_host_breaker_state 0 closed, 1 open, 2 half-open.\n");
    say(w, "# TYPE seine_host_breaker_state gauge\n");
    for (size_t i = 0; i < h->n; i++)
        say(w, "seine_host_breaker_state{host=\"%s\"} %d\n", clean(h->list[i].host, host),
            (int)h->list[i].breaker);
}

static void
write_hosts(seine_metrics_format f, seine_metrics_put put, void *to, void *arg)
{
    host_metrics *h = arg;
    const writer w = {put, to, f == SEINE_METRICS_OPENMETRICS};

    pthread_mutex_lock(&h->lock);
    write_all(h, &w);
    pthread_mutex_unlock(&h->lock);
}

void
host_metrics_open(host_metrics *h, uint64_t most, seine_metrics *metrics)
{
    memset(h, 0, sizeof *h);
    if (most == 0 || !metrics)
        return;
    h->most = most < HOST_METRICS_MOST ? (size_t)most : HOST_METRICS_MOST;
    h->metrics = metrics;
    pthread_mutex_init(&h->lock, NULL);
    seine_metrics_more(metrics, write_hosts, h);
}

void
host_metrics_close(host_metrics *h)
{
    if (!h->metrics)
        return;
    seine_metrics_more(h->metrics, NULL, NULL);
    pthread_mutex_destroy(&h->lock);
    h->metrics = NULL;
}

static void
count_all(host_metrics *h, const seine_fetch *fetch)
{
    seine_fetch_stats stats = {0};

    seine_fetch_stats_get(fetch, &stats);
    h->total = stats.requests;
}

void
host_metrics_tick(host_metrics *h, seine_fetch *fetch, seine_time now)
{
    static const seine_fetch_look busiest = {.sort = SEINE_SORT_REQUESTS, .is_all = true};
    seine_fetch_wait list[HOST_METRICS_MOST];
    size_t n = 0;

    if (!h->metrics || !fetch)
        return;
    if (h->ticket == 0 && now >= h->next) {
        h->ticket = seine_fetch_waits_look(fetch, &busiest);
        h->next = now + EVERY;
        return;
    }
    if (h->ticket == 0 || !seine_fetch_waits_get(fetch, h->ticket, list, h->most, &n))
        return;
    h->ticket = 0;
    pthread_mutex_lock(&h->lock);
    memcpy(h->list, list, n * sizeof *list);
    h->n = n;
    count_all(h, fetch);
    pthread_mutex_unlock(&h->lock);
}

/* Keeps the busiest, the first of equals. */
static void
take_host(const seine_fetch_host *from, void *arg)
{
    host_metrics *h = arg;
    seine_fetch_wait w = {
        .requests = from->requests, .p95 = from->p95, .breaker = from->breaker};
    size_t at = h->n;

    snprintf(w.host, sizeof w.host, "%.*s", (int)from->host.len, from->host.ptr);
    while (at > 0 && h->list[at - 1].requests < w.requests)
        at--;
    if (at == h->most)
        return;
    size_t moved = h->n - at - (h->n == h->most);
    memmove(&h->list[at + 1], &h->list[at], moved * sizeof *h->list);
    h->list[at] = w;
    h->n += h->n < h->most;
}

void
host_metrics_end(host_metrics *h, const seine_fetch *fetch)
{
    if (!h->metrics || !fetch)
        return;
    pthread_mutex_lock(&h->lock);
    h->n = 0;
    seine_fetch_hosts_each(fetch, take_host, h);
    count_all(h, fetch);
    pthread_mutex_unlock(&h->lock);
}
