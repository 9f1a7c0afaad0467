/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>

#include "base/metrics.h"
#include "serve/gate_server_parts.h"

/* By sn_gate_route; the rest counts as `other`. */
static const seine_http_route routes[] = {
    {"/check", 1 << SEINE_HTTP_GET | 1 << SEINE_HTTP_POST},
    {"/nginx", 1 << SEINE_HTTP_GET},
    {"/{demo}", 1 << SEINE_HTTP_GET},
    {"/livez", 1 << SEINE_HTTP_GET},
    {"/readyz", 1 << SEINE_HTTP_GET},
    {"/metrics", 1 << SEINE_HTTP_GET},
};

seine_err
sn_gate_metrics_new(seine_gate_server *s)
{
    seine_err e = seine_metrics_new(&s->metrics);

    if (e != SEINE_OK)
        return e;
    return seine_http_metrics_new(s->metrics, "gate", routes,
                                  sizeof routes / sizeof *routes, &s->http_metrics);
}

static unsigned
method_of(sn_str method)
{
    static const char *const names[] = {"GET",   "HEAD",   "POST",   "PUT",
                                        "PATCH", "DELETE", "OPTIONS"};

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (sn_str_eq(method, sn_str_of(names[i])))
            return i;
    return SEINE_HTTP_OTHER;
}

void
sn_gate_metrics_count(seine_gate_server *s, const sn_http_call *call, sn_gate_route route,
                      int status)
{
    seine_http_record(s->http_metrics, method_of(call->request.method), route, status,
                      s->loop.now - call->came);
}

/* The policies change with a reload, so their series are written here and not
 * registered. One family: its head, then a line per policy and outcome. */
static void
head(sn_buf *out, const char *name, const char *kind, const char *help)
{
    sn_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind);
}

static void
line(sn_buf *out, const char *name, const char *policy, const char *outcome, uint64_t n)
{
    sn_buf_printf(out, "%s{policy=\"%s\"", name, policy);
    if (outcome)
        sn_buf_printf(out, ",outcome=\"%s\"", outcome);
    sn_buf_printf(out, "} %" PRIu64 "\n", n);
}

static void
decisions(const seine_gate *g, sn_buf *out)
{
    const char *name = "seine_gate_decisions_total";
    char policy[SEINE_GATE_NAME];
    seine_gate_stats t;

    head(out, name, "counter", "Requests decided, by policy and outcome.");
    for (size_t i = 0; seine_gate_policy_stats(g, i, policy, &t); i++) {
        line(out, name, policy, "allowed", t.allowed);
        line(out, name, policy, "limited", t.limited);
        line(out, name, policy, "denied", t.denied);
        line(out, name, policy, "uncounted", t.passed);
    }
}

static void
clients(const seine_gate *g, sn_buf *out)
{
    char policy[SEINE_GATE_NAME];
    seine_gate_stats t;

    head(out, "seine_gate_clients", "gauge", "Clients that have a bucket.");
    for (size_t i = 0; seine_gate_policy_stats(g, i, policy, &t); i++)
        line(out, "seine_gate_clients", policy, NULL, t.keys);
    head(out, "seine_gate_overflowed_total", "counter",
         "Decisions on clients that found no place.");
    for (size_t i = 0; seine_gate_policy_stats(g, i, policy, &t); i++)
        line(out, "seine_gate_overflowed_total", policy, NULL, t.overflowed);
}

static void
count(sn_buf *out, const char *name, const char *kind, const char *help, uint64_t n)
{
    head(out, name, kind, help);
    sn_buf_printf(out, "%s %" PRIu64 "\n", name, n);
}

static void
connections(const sn_http_server *http, sn_buf *out)
{
    sn_http_stats t;

    sn_http_server_stats(http, &t);
    count(out, "seine_gate_connections_total", "counter", "Connections accepted.",
          t.accepted);
    count(out, "seine_gate_connections_evicted_total", "counter",
          "Idle connections closed to make room.", t.evicted);
    count(out, "seine_gate_connections_turned_away_total", "counter",
          "Connections closed at once for want of room.", t.turned_away);
    count(out, "seine_gate_requests_bad_total", "counter",
          "Requests that are not HTTP or exceed a limit.", t.bad);
    count(out, "seine_gate_requests_timed_out_total", "counter",
          "Requests that did not become whole in time.", t.timed_out);
}

static void
members(const sn_gate_redis *redis, sn_buf *out)
{
    sn_shared_budget_stats t;

    sn_gate_redis_stats(redis, &t);
    count(out, "seine_gate_redis_up", "gauge", "1 while the budget is shared in Redis.",
          t.is_together);
    count(out, "seine_gate_redis_gates", "gauge", "Gates that share it, last known.",
          t.members);
    count(out, "seine_gate_redis_decisions_total", "counter", "Decisions made in Redis.",
          t.asked);
    count(out, "seine_gate_redis_alone_total", "counter",
          "Decisions made from the share of this gate.", t.shared_out);
    count(out, "seine_gate_redis_lost_total", "counter", "Times that Redis was lost.",
          t.failed);
}

/* The gauge is brought up to date when somebody looks. */
static void
show_open(seine_gate_server *s)
{
    sn_http_stats t;

    sn_http_server_stats(s->http, &t);
    for (; s->shown_open < t.open; s->shown_open++)
        seine_http_opened(s->http_metrics, SEINE_HTTP_PLAIN);
    for (; s->shown_open > t.open; s->shown_open--)
        seine_http_closed(s->http_metrics, SEINE_HTTP_PLAIN);
}

void
sn_gate_metrics_text(seine_gate_server *s, sn_buf *out)
{
    seine_text text = {NULL, 0};

    show_open(s);
    if (seine_metrics_text(s->metrics, SEINE_METRICS_PROMETHEUS, &text) != SEINE_OK) {
        out->err = SEINE_E_NOMEM;
        return;
    }
    sn_buf_add(out, text.bytes, text.len);
    seine_text_free(&text);
    decisions(s->opts.gate, out);
    clients(s->opts.gate, out);
    connections(s->http, out);
    if (s->redis)
        members(s->redis, out);
}
