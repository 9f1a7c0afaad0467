/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fetch_metrics.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/metrics.h"
#include "base/time.h"

/* clang-format off */
static const char *const methods[] = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "other"};
static const char *const classes[] = {"none", "1xx", "2xx", "3xx", "4xx", "5xx"};
static const char *const outcomes[] = {"ok", "failed", "skipped", "blocked"};
static const char *const phases[] = {"dns", "connect", "proxy", "tls", "send", "ttfb", "body"};
static const char *const versions[] = {"1.1"};
static const char *const lookups[] = {"hit", "ok", "nxdomain", "error", "timeout"};
static const char *const jobs[] = {"running", "stopping", "done"};
static const char *const queues[] = {"urls"};
static const char *const scopes[] = {"global", "host", "ip", "source"};
static const char *const keyed[] = {"host", "ip", "source"};
static const char *const robots[] = {"allowed", "denied", "unreachable"};
static const char *const found[] = {"new", "duplicate", "scope", "depth", "trap", "scheme", "budget"};
static const char *const loops[] = {"engine"};
static const char *const states[] = {"closed", "open", "half_open"};
static const char *const errors[] = {
    "ok",
#define X(number, id, name, class_, group, text) name,
    SEINE_ERRORS(X)
#undef X
};
static const char *const waits[] = {
#define X(id, name) name,
    SEINE_WAITS(X)
#undef X
};

#define COUNT(list) ((unsigned)(sizeof(list) / sizeof *(list)))
#define LABEL(name, list) {name, list, COUNT(list)}

/* member, family, help, labels */
#define COUNTERS(X) \
    X(seen,       "seine_urls_seen_total",             "URLs given.",                          NONE) \
    X(refused,    "seine_urls_refused_total",          "URLs refused; each is a skip record.", NONE) \
    X(admitted,   "seine_urls_admitted_total",         "URLs taken in.",                       NONE) \
    X(emitted,    "seine_urls_emitted_total",          "Final records.",                       OUTCOME) \
    X(requests,   "seine_fetch_requests_total",        "Attempts ended.",                      REQUEST) \
    X(failed,     "seine_fetch_errors_total",          "Attempts without a whole response.",   ERROR) \
    X(received,   "seine_fetch_received_bytes_total",  "Bytes received on the wire.",          NONE) \
    X(sent,       "seine_fetch_sent_bytes_total",      "Bytes of requests on the wire.",       NONE) \
    X(decoded,    "seine_fetch_decoded_bytes_total",   "Bytes of bodies after decoding.",      NONE) \
    X(opened,     "seine_connections_opened_total",    "Connections opened to origins.",       VERSION) \
    X(reused,     "seine_connections_reused_total",    "Requests on a kept connection.",       NONE) \
    X(lookups,    "seine_dns_lookups_total",           "Names needed for a connection.",       LOOKUP) \
    X(retries,    "seine_retries_total",               "Attempts made again, by the failure.", ERROR) \
    X(exhausted,  "seine_retry_exhausted_total",       "URLs given up after their retries.",   NONE) \
    X(transitions,"seine_breaker_transitions_total",   "Changes of state of breakers.",        CHANGE) \
    X(rejected,   "seine_breaker_rejected_total",      "Starts that a breaker has put off.",   NONE) \
    X(limited,    "seine_limiter_rejected_total",      "URLs given up: too long a wait.",      SCOPE) \
    X(robots,     "seine_robots_decisions_total",      "What robots.txt said of URLs.",        ROBOTS) \
    X(found,      "seine_frontier_discovered_total",   "Links found, by what became of them.", FOUND) \
    X(rows,       "seine_extract_records_total",       "Rows taken out of documents.",             NONE) \
    X(unread,     "seine_extract_errors_total",        "Documents that could not be read.",ERROR)
/* clang-format on */

struct sn_fetch_metrics {
#define X(member, name, help, labels) seine_counter *member;
    COUNTERS(X)
#undef X
    seine_gauge *waiting, *in_flight, *breakers, *jobs, *depth, *open, *keys;
    seine_gauge *memory_used, *memory_limit;
    seine_histogram *duration, *phase, *backoff, *waited, *lag, *extract;
};

static seine_err
make_gauges(seine_metrics *reg, sn_fetch_metrics *m)
{
    const seine_label wait[] = {LABEL("reason", waits)},
                      state[] = {LABEL("state", states)}, job[] = {LABEL("state", jobs)},
                      queue[] = {LABEL("queue", queues)};
    seine_err e = seine_metrics_gauge(reg, "seine_urls_waiting",
                                      "URLs admitted that wait, by what for.", wait, 1,
                                      &m->waiting);

    if (e == SEINE_OK)
        e = seine_metrics_gauge(reg, "seine_urls_in_flight", "URLs being asked.", NULL, 0,
                                &m->in_flight);
    if (e == SEINE_OK)
        e = seine_metrics_gauge(reg, "seine_breaker_hosts",
                                "Hosts whose breaker is not closed, by its state.", state,
                                COUNT(state), &m->breakers);
    if (e == SEINE_OK)
        e = seine_metrics_gauge(reg, "seine_jobs", "Fetches and crawls, by their state.",
                                job, COUNT(job), &m->jobs);
    if (e == SEINE_OK)
        e = seine_metrics_gauge(reg, "seine_queue_depth", "What waits in a queue.", queue,
                                COUNT(queue), &m->depth);
    return e;
}

static seine_err
make_sizes(seine_metrics *reg, sn_fetch_metrics *m)
{
    const seine_label version[] = {LABEL("version", versions)},
                      scope[] = {LABEL("scope", keyed)};
    seine_err e = seine_metrics_gauge(reg, "seine_connections_open",
                                      "Connections to origins that are open.", version, 1,
                                      &m->open);

    if (e == SEINE_OK)
        e = seine_metrics_gauge(reg, "seine_limiter_keys", "Keys that a limiter knows.",
                                scope, 1, &m->keys);
    if (e == SEINE_OK)
        e = seine_metrics_gauge(reg, "seine_memory_budget_bytes",
                                "Memory that bodies and buffers may take; 0: any.", NULL,
                                0, &m->memory_limit);
    if (e == SEINE_OK)
        e = seine_metrics_gauge(reg, "seine_memory_used_bytes",
                                "Memory that bodies and buffers take.", NULL, 0,
                                &m->memory_used);
    return e;
}

static seine_err
make_histograms(seine_metrics *reg, sn_fetch_metrics *m)
{
    const seine_label phase[] = {LABEL("phase", phases)};
    seine_buckets spans = seine_buckets_long();
    seine_err e = seine_metrics_histogram(reg, "seine_fetch_request_duration_seconds",
                                          "One attempt.", NULL, 0, &spans, &m->duration);

    if (e == SEINE_OK)
        e = seine_metrics_histogram(reg, "seine_fetch_phase_duration_seconds",
                                    "The phases of an attempt.", phase, 1, &spans,
                                    &m->phase);
    if (e == SEINE_OK)
        e = seine_metrics_histogram(reg, "seine_retry_backoff_seconds",
                                    "Waits chosen before a retry.", NULL, 0, &spans,
                                    &m->backoff);
    return e;
}

static seine_err
make_waits(seine_metrics *reg, sn_fetch_metrics *m)
{
    const seine_label scope[] = {LABEL("scope", scopes)}, loop[] = {LABEL("loop", loops)};
    seine_buckets spans = seine_buckets_long(), fine = seine_buckets_fine();
    seine_err e = seine_metrics_histogram(reg, "seine_limiter_wait_seconds",
                                          "Waits of URLs for a limiter, by whose it is.",
                                          scope, 1, &spans, &m->waited);

    if (e == SEINE_OK)
        e = seine_metrics_histogram(reg, "seine_loop_lag_seconds",
                                    "How late a timer of 100 ms fired.", loop, 1, &fine,
                                    &m->lag);
    if (e == SEINE_OK)
        e = seine_metrics_histogram(reg, "seine_extract_duration_seconds",
                                    "Reading a document for its values.", NULL, 0, &fine,
                                    &m->extract);
    return e;
}

static seine_err
make_counters(seine_metrics *reg, sn_fetch_metrics *m)
{
    typedef struct labels {
        seine_label list[2];
        size_t n;
    } labels;
    const labels NONE = {.n = 0}, OUTCOME = {{LABEL("outcome", outcomes)}, 1},
                 REQUEST = {{LABEL("method", methods), LABEL("class", classes)}, 2},
                 ERROR = {{LABEL("error", errors)}, 1},
                 VERSION = {{LABEL("version", versions)}, 1},
                 LOOKUP = {{LABEL("result", lookups)}, 1},
                 CHANGE = {{LABEL("from", states), LABEL("to", states)}, 2},
                 SCOPE = {{LABEL("scope", scopes)}, 1},
                 ROBOTS = {{LABEL("result", robots)}, 1},
                 FOUND = {{LABEL("result", found)}, 1};
    seine_err e = SEINE_OK;

#define X(member, name, help, labels)                                                 \
    if (e == SEINE_OK)                                                                \
        e = seine_metrics_counter(reg, name, help, labels.n > 0 ? labels.list : NULL, \
                                  labels.n, &m->member);
    COUNTERS(X)
#undef X
    return e;
}

seine_err
sn_fetch_metrics_new(seine_metrics *metrics, sn_fetch_metrics **out_metrics)
{
    sn_fetch_metrics *m = sn_metrics_kept(metrics, SN_METRICS_FETCH);

    if (m) { /* a fetch before counted here, and this one goes on */
        *out_metrics = m;
        return SEINE_OK;
    }
    m = sn_zalloc(sizeof *m);
    if (!m)
        return SEINE_E_NOMEM;
    seine_err e = make_counters(metrics, m);
    if (e == SEINE_OK)
        e = make_gauges(metrics, m);
    if (e == SEINE_OK)
        e = make_sizes(metrics, m);
    if (e == SEINE_OK)
        e = make_histograms(metrics, m);
    if (e == SEINE_OK)
        e = make_waits(metrics, m);
    if (e != SEINE_OK) {
        sn_free(m);
        return e;
    }
    sn_metrics_keep(metrics, SN_METRICS_FETCH, m);
    *out_metrics = m;
    return SEINE_OK;
}

void
sn_fetch_metrics_job(sn_fetch_metrics *m, _Atomic int *told, sn_job_state state)
{
    if (!m)
        return;
    int was = atomic_exchange(told, (int)state + 1);
    if (was > 0)
        seine_gauge_add(m->jobs, (unsigned)was - 1, -1);
    seine_gauge_add(m->jobs, state, 1);
}

static unsigned
method_of(sn_str method)
{
    unsigned i = 0;

    while (i < COUNT(methods) - 1 && !sn_str_eq(method, sn_str_of(methods[i])))
        i++;
    return i;
}

static unsigned
class_of(unsigned status)
{
    return status >= 100 && status < 600 ? status / 100 : 0;
}

void
sn_fetch_metrics_lookup(sn_fetch_metrics *m, const sn_end *end)
{
    enum { HIT, OK, NXDOMAIN, ERROR, TIMEOUT };

    if (!m)
        return;
    switch (end->fault.code) {
    case SEINE_E_DNS_NXDOMAIN:
        seine_counter_add(m->lookups, NXDOMAIN, 1);
        return;
    case SEINE_E_DNS_TIMEOUT:
        seine_counter_add(m->lookups, TIMEOUT, 1);
        return;
    case SEINE_E_DNS_SERVFAIL:
    case SEINE_E_DNS_ERROR:
    case SEINE_E_DNS_BAD_NAME:
        seine_counter_add(m->lookups, ERROR, 1);
        return;
    default:
        if (!end->reused && (end->peer.v != 0 || end->via == SN_PROXY_GOOD))
            seine_counter_add(m->lookups, end->spent[SEINE_PHASE_DNS] > 0 ? OK : HIT, 1);
    }
}

void
sn_fetch_metrics_attempt(sn_fetch_metrics *m, const sn_visit *v)
{
    const sn_end *end;
    seine_span all = 0;

    if (!m)
        return;
    end = &v->end;
    seine_counter_add(m->requests,
                      method_of(v->method) * COUNT(classes) + class_of(end->fault.status),
                      1);
    if (end->fault.code != SEINE_OK && (end->fault.status == 0 || end->partial))
        seine_counter_add(m->failed, end->fault.code, 1);
    for (unsigned p = SEINE_PHASE_DNS; p <= SEINE_PHASE_BODY; p++) {
        if (end->spent[p] > 0)
            seine_histogram_observe(m->phase, p - SEINE_PHASE_DNS, end->spent[p]);
        all += end->spent[p];
    }
    seine_histogram_observe(m->duration, 0, all);
}

void
sn_fetch_metrics_retry(sn_fetch_metrics *m, seine_err why)
{
    if (m)
        seine_counter_add(m->retries, why, 1);
}

void
sn_fetch_metrics_backoff(sn_fetch_metrics *m, seine_span wait)
{
    if (m)
        seine_histogram_observe(m->backoff, 0, wait);
}

void
sn_fetch_metrics_exhausted(sn_fetch_metrics *m)
{
    if (m)
        seine_counter_add(m->exhausted, 0, 1);
}

void
sn_fetch_metrics_breaker(sn_fetch_metrics *m, const seine_event *e)
{
    int64_t from = e->from, to = e->to;

    if (!m || strncmp(e->name, "breaker.", 8) != 0 || from < 0 || to < 0 ||
        from >= (int64_t)COUNT(states) || to >= (int64_t)COUNT(states))
        return;
    seine_counter_add(m->transitions, (unsigned)from * COUNT(states) + (unsigned)to, 1);
    if (from != SEINE_BREAKER_CLOSED)
        seine_gauge_add(m->breakers, (unsigned)from, -1);
    if (to != SEINE_BREAKER_CLOSED)
        seine_gauge_add(m->breakers, (unsigned)to, 1);
}

/* What became of a link that is not followed; given URLs have no such rule against them
 * but these. */
static void
count_skip(sn_fetch_metrics *m, seine_skip why)
{
    enum { NEW, DUPLICATE, SCOPE, DEPTH, TRAP, SCHEME, BUDGET, DENIED = 1, UNREACHABLE };
    static const uint8_t results[SEINE_SKIP_ROOM] = {
        [SEINE_SKIP_OFFSITE] = SCOPE,         [SEINE_SKIP_PATTERN] = SCOPE,
        [SEINE_SKIP_PRIVATE_ADDRESS] = SCOPE, [SEINE_SKIP_DEPTH] = DEPTH,
        [SEINE_SKIP_NOFOLLOW] = DEPTH,        [SEINE_SKIP_TRAP] = TRAP,
        [SEINE_SKIP_SCHEME] = SCHEME,         [SEINE_SKIP_PORT] = SCHEME,
        [SEINE_SKIP_TOO_LONG] = SCHEME,       [SEINE_SKIP_BAD_URL] = SCHEME,
        [SEINE_SKIP_BUDGET] = BUDGET,
    };

    if (why == SEINE_SKIP_ROBOTS)
        seine_counter_add(m->robots, DENIED, 1);
    else if (why == SEINE_SKIP_ROBOTS_UNREACHABLE)
        seine_counter_add(m->robots, UNREACHABLE, 1);
    else if (results[why] != NEW)
        seine_counter_add(m->found, results[why], 1);
}

void
sn_fetch_metrics_emitted(sn_fetch_metrics *m, const seine_record *r)
{
    enum { OK, FAILED, SKIPPED, BLOCKED };

    if (!m)
        return;
    unsigned which = r->type == SEINE_RECORD_SKIP    ? SKIPPED
                     : r->fate == SEINE_FATE_OK      ? OK
                     : r->fate == SEINE_FATE_BLOCKED ? BLOCKED
                                                     : FAILED;
    seine_counter_add(m->emitted, which, 1);
    if (r->type == SEINE_RECORD_SKIP)
        count_skip(m, r->reason);
}

static seine_span
sum_of(const sn_visit *v, const seine_wait *reasons, size_t n)
{
    seine_span sum = 0;

    for (size_t i = 0; i < n; i++)
        sum = sn_time_add(sum, v->waited[reasons[i]]);
    return sum;
}

void
sn_fetch_metrics_waits(sn_fetch_metrics *m, const sn_visit *v, bool by_source)
{
    enum { GLOBAL, HOST, IP, SOURCE };
    static const seine_wait host[] = {SEINE_WAIT_HOST_RATE, SEINE_WAIT_PACE,
                                      SEINE_WAIT_RATE_LIMIT, SEINE_WAIT_CRAWL_DELAY};

    if (!m)
        return;
    const seine_span waited[] = {[GLOBAL] = v->waited[SEINE_WAIT_RATE],
                                 [HOST] = sum_of(v, host, COUNT(host)),
                                 [IP] = v->waited[SEINE_WAIT_ADDRESS]};
    for (unsigned i = GLOBAL; i <= IP; i++)
        if (waited[i] > 0)
            seine_histogram_observe(m->waited, i == GLOBAL && by_source ? SOURCE : i,
                                    waited[i]);
    if (v->fault.code == SEINE_E_LIMITED)
        seine_counter_add(m->limited, by_source ? SOURCE : GLOBAL, 1);
}

void
sn_fetch_metrics_extract(sn_fetch_metrics *m, uint64_t rows, seine_span took, seine_err e)
{
    if (!m)
        return;
    seine_counter_add(m->rows, 0, rows);
    seine_histogram_observe(m->extract, 0, took);
    if (e != SEINE_OK)
        seine_counter_add(m->unread, e, 1);
}

void
sn_fetch_metrics_lag(sn_fetch_metrics *m, seine_span late)
{
    if (m)
        seine_histogram_observe(m->lag, 0, late);
}

const seine_histogram *
sn_fetch_metrics_lags(seine_metrics *metrics)
{
    const sn_fetch_metrics *m = sn_metrics_kept(metrics, SN_METRICS_FETCH);

    return m ? m->lag : NULL;
}

void
sn_fetch_metrics_memory(sn_fetch_metrics *m, uint64_t used, uint64_t limit)
{
    if (!m)
        return;
    seine_gauge_set(m->memory_used, 0, (int64_t)used);
    seine_gauge_set(m->memory_limit, 0, (int64_t)limit);
}

static void
count_wire(sn_fetch_metrics *m, const sn_transport_counts *before,
           const sn_transport_counts *after)
{
    seine_counter_add(m->received, 0, after->bytes_in - before->bytes_in);
    seine_counter_add(m->sent, 0, after->bytes_out - before->bytes_out);
    seine_counter_add(m->opened, 0, after->opened - before->opened);
    seine_counter_add(m->reused, 0, after->reused - before->reused);
    seine_gauge_add(m->open, 0, (int64_t)after->open - (int64_t)before->open);
    for (unsigned i = 0; i < COUNT(lookups); i++)
        if (after->names[i] != before->names[i])
            seine_counter_add(m->lookups, i, after->names[i] - before->names[i]);
}

/* A transport that does not count: what its ends have said. */
static void
count_ends(sn_fetch_metrics *m, const seine_fetch_stats *before,
           const seine_fetch_stats *after)
{
    seine_counter_add(m->received, 0, after->bytes_in - before->bytes_in);
    seine_counter_add(m->opened, 0, after->connections - before->connections);
    seine_counter_add(m->reused, 0, after->reused - before->reused);
}

void
sn_fetch_metrics_turn(sn_fetch_metrics *m, const sn_fetch_counts *before,
                      const sn_fetch_counts *after)
{
    const seine_fetch_stats *was = &before->stats, *is = &after->stats;

    if (!m)
        return;
    if (after->has_wire)
        count_wire(m, &before->wire, &after->wire);
    else
        count_ends(m, was, is);
    seine_counter_add(m->decoded, 0, is->bytes_body - was->bytes_body);
    seine_counter_add(m->rejected, 0, after->rejected - before->rejected);
    seine_counter_add(m->robots, 0, after->allowed - before->allowed);
    seine_counter_add(m->found, 0, after->found - before->found);
    seine_counter_add(m->found, 1, after->duplicates - before->duplicates);
    seine_gauge_add(m->keys, 0, (int64_t)is->hosts - (int64_t)was->hosts);
    seine_gauge_add(m->keys, 1, (int64_t)after->ips - (int64_t)before->ips);
    seine_gauge_add(m->keys, 2, (int64_t)after->sources - (int64_t)before->sources);
    seine_gauge_add(m->depth, 0, (int64_t)is->waiting - (int64_t)was->waiting);
    seine_gauge_add(m->in_flight, 0, (int64_t)is->in_flight - (int64_t)was->in_flight);
    for (unsigned w = 0; w < SEINE_WAIT_ROOM; w++)
        if (is->waiting_for[w] != was->waiting_for[w])
            seine_gauge_add(m->waiting, w,
                            (int64_t)is->waiting_for[w] - (int64_t)was->waiting_for[w]);
}

void
sn_fetch_metrics_leave(sn_fetch_metrics *m, const sn_fetch_counts *last,
                       const uint64_t breakers[3])
{
    if (!m)
        return;
    seine_gauge_add(m->keys, 0, -(int64_t)last->stats.hosts);
    seine_gauge_add(m->keys, 1, -(int64_t)last->ips);
    seine_gauge_add(m->keys, 2, -(int64_t)last->sources);
    if (last->has_wire)
        seine_gauge_add(m->open, 0, -(int64_t)last->wire.open);
    for (unsigned i = 0; i < COUNT(states); i++)
        if (i != SEINE_BREAKER_CLOSED)
            seine_gauge_add(m->breakers, i, -(int64_t)breakers[i]);
}

void
sn_fetch_metrics_given(sn_fetch_metrics *m, uint64_t given, uint64_t refused)
{
    if (!m)
        return;
    seine_counter_add(m->seen, 0, given);
    seine_counter_add(m->refused, 0, refused);
    seine_counter_add(m->admitted, 0, given - refused);
}
