/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "serve/gate_server_parts.h"

static sn_str
path_of(const sn_http_request *req)
{
    return sn_str_slice(req->target, 0, sn_str_find(req->target, '?'));
}

static bool
is_loopback(const struct sockaddr *peer)
{
    sn_ip ip;

    if (!sn_ip_of(peer, &ip))
        return false;
    sn_ip_plain(&ip);
    static const uint8_t one[16] = {[15] = 1};
    return ip.v == 4 ? ip.bytes[0] == 127 : memcmp(ip.bytes, one, sizeof one) == 0;
}

static sn_gate_route
admin_route(sn_str path)
{
    if (sn_str_eq(path, SN_STR("/livez")))
        return SN_GATE_LIVEZ;
    if (sn_str_eq(path, SN_STR("/readyz")))
        return SN_GATE_READYZ;
    return sn_str_eq(path, SN_STR("/metrics")) ? SN_GATE_METRICS : SN_GATE_NOWHERE;
}

static sn_gate_route
route_of(const seine_gate_server *s, const sn_http_call *call)
{
    sn_str path = path_of(&call->request);

    if (call->door == SN_GATE_ADMIN_DOOR)
        return admin_route(path);
    if (sn_str_eq(path, SN_STR("/nginx")))
        return SN_GATE_NGINX;
    if (sn_str_eq(path, SN_STR("/check")) || sn_str_starts(path, SN_STR("/check/")))
        return SN_GATE_CHECK;
    sn_gate_route r = SN_GATE_NOWHERE;
    if (!s->opts.admin && is_loopback(call->peer))
        r = admin_route(path);
    return r == SN_GATE_NOWHERE && s->opts.demo ? SN_GATE_DEMO : r;
}

static bool
find_field(void *arg, const char *name, unsigned nth, seine_view *out_value)
{
    const sn_http_call *call = arg;

    return sn_http_field(&call->request, sn_str_of(name), nth, out_value);
}

static sn_str
field_or(const sn_http_request *req, const char *name, sn_str other)
{
    sn_str value;

    return sn_http_field(req, sn_str_of(name), 0, &value) ? value : other;
}

/* Which request does the proxy ask about? Only a trusted one may say. */
static void
find_subject(seine_gate_server *s, const sn_http_call *call, sn_gate_route route,
             seine_gate_request *out)
{
    const sn_http_request *req = &call->request;
    sn_str prefix = SN_STR("/check");

    out->method = req->method;
    out->target = req->target;
    if (route == SN_GATE_DEMO || !sn_gate_trusts(s->opts.gate, call->peer))
        return;
    if (route == SN_GATE_NGINX) {
        out->method = field_or(req, "X-Original-Method", req->method);
        out->target = field_or(req, "X-Original-URI", SN_STR("/"));
    } else if (path_of(req).len == prefix.len) {
        out->method = field_or(req, "X-Forwarded-Method", req->method);
        out->target = field_or(req, "X-Forwarded-Uri", SN_STR("/"));
    } else {
        out->target = sn_str_slice(req->target, prefix.len, req->target.len);
    }
}

static void
answer(seine_gate_server *s, sn_http_call *call, sn_gate_route route,
       const sn_http_reply *reply)
{
    sn_gate_metrics_count(s, call, route, reply->status);
    sn_http_answer(call, reply);
}

static void
answer_text(seine_gate_server *s, sn_http_call *call, sn_gate_route route, int status,
            const char *text)
{
    sn_http_reply reply = {status, SN_STR("Cache-Control: no-store\r\n"),
                           "text/plain; charset=utf-8", sn_str_of(text), false};

    answer(s, call, route, &reply);
}

static void
answer_metrics(seine_gate_server *s, sn_http_call *call)
{
    sn_buf text;

    sn_buf_init(&text, 4 << 20);
    sn_gate_metrics_text(s, &text);
    if (sn_buf_done(&text) != SEINE_OK) {
        answer_text(s, call, SN_GATE_METRICS, 503, "out of memory\n");
    } else {
        sn_http_reply reply = {200, SN_STR("Cache-Control: no-store\r\n"),
                               "text/plain; version=0.0.4; charset=utf-8",
                               sn_buf_view(&text), false};

        answer(s, call, SN_GATE_METRICS, &reply);
    }
    sn_buf_fini(&text);
}

static size_t
add_line(char *out, size_t at, const char *name, const char *value)
{
    size_t n = strlen(name), v = strlen(value);

    if (v == 0)
        return at;
    memcpy(out + at, name, n);
    memcpy(out + at + n, value, v);
    memcpy(out + at + n + v, "\r\n", 2);
    return at + n + v + 2;
}

static sn_str
write_fields(const seine_gate_fields *f, char out[512])
{
    size_t n = add_line(out, 0, "RateLimit-Policy: ", f->policy);

    n = add_line(out, n, "RateLimit: ", f->limit);
    n = add_line(out, n, "Retry-After: ", f->retry_after);
    return (sn_str){out, n};
}

static sn_str
demo_body(const seine_gate_answer *a, char out[128])
{
    char client[46];

    seine_gate_client(a, client);
    int n = snprintf(out, 128, "{\"ok\":true,\"client\":\"%s\",\"remaining\":%u}\n",
                     client, a->left);
    return (sn_str){out, (size_t)n};
}

static void
answer_decision(seine_gate_server *s, sn_http_call *call, sn_gate_route route,
                const seine_gate_answer *a)
{
    seine_gate_fields f;
    char lines[512], body[128];
    sn_http_reply reply = {.status = 200};

    seine_gate_write(a, &f);
    reply.fields = write_fields(&f, lines);
    if (route == SN_GATE_NGINX) {
        reply.status = a->allowed ? 204 : 403;
    } else if (!a->allowed) {
        reply.status = 429;
        reply.type = "application/problem+json";
        reply.body = sn_str_of(f.problem);
    } else if (route == SN_GATE_DEMO) {
        reply.type = "application/json";
        reply.body = demo_body(a, body);
    }
    answer(s, call, route, &reply);
}

/* Somebody sends X-Forwarded-For and may expect that it counts. */
static void
warn_once(seine_gate_server *s, const sn_http_call *call)
{
    char peer[INET6_ADDRSTRLEN] = "";
    sn_ip ip;

    if (s->has_warned || !s->opts.gate->is_ignoring)
        return;
    s->has_warned = true;
    if (sn_ip_of(call->peer, &ip))
        inet_ntop(ip.v == 4 ? AF_INET : AF_INET6, ip.bytes, peer, sizeof peer);
    seine_log_field f[] = {seine_log_str("peer", peer)};
    seine_log_write(s->opts.log, SEINE_LOG_WARN, "gate.forwarded",
                    "X-Forwarded-For of a peer that is not trusted does not count", f, 1);
}

/* A decision that Redis makes. */
typedef struct sn_gate_waiting {
    sn_budget_call budget;
    sn_gate_case c;
    seine_gate_server *s;
    sn_http_call *call;
    sn_gate_route route;
    struct sn_gate_waiting *next; /* spare */
} waiting;

void
sn_gate_spare_free(seine_gate_server *s)
{
    while (s->spare) {
        waiting *w = s->spare;

        s->spare = w->next;
        sn_free(w);
    }
}

static void
on_decided(sn_budget_call *budget, seine_err e, const seine_grant *grant)
{
    waiting *w = (waiting *)(void *)budget;
    seine_gate_server *s = w->s;
    seine_gate_answer a;

    sn_gate_settle(&w->c, e, grant, &a);
    sn_gate_case_end(&w->c);
    answer_decision(s, w->call, w->route, &a);
    w->next = s->spare;
    s->spare = w;
}

/* Lets the members of the shared budget decide, who answer later. */
static void
ask_redis(seine_gate_server *s, sn_http_call *call, sn_gate_route route,
          const sn_gate_case *c)
{
    waiting *w = s->spare;
    seine_grant none = {.limit = c->rule->buckets->rate.burst,
                        .retry_after = SEINE_SECS(1)};

    if (w) {
        s->spare = w->next;
    } else if (!(w = sn_zalloc(sizeof *w))) {
        waiting refused = {.c = *c, .s = s, .call = call, .route = route};
        seine_gate_answer a;

        sn_gate_settle(&refused.c, SEINE_E_LIMITED, &none, &a);
        sn_gate_case_end(&refused.c);
        answer_decision(s, call, route, &a);
        return;
    }
    *w = (waiting){.c = *c, .s = s, .call = call, .route = route};
    w->c.key.ptr = w->c.key_bytes; /* the case has moved */
    w->budget.policy =
        (sn_budget_policy){c->rule->name, c->rule->buckets->rate,
                           c->rule->buckets->max_keys, c->rule->buckets->overflow};
    w->budget.key = w->c.key;
    w->budget.done = on_decided;
    sn_gate_redis_try(s->redis, &w->budget);
}

static void
check(seine_gate_server *s, sn_http_call *call, sn_gate_route route)
{
    seine_gate_request req = SEINE_GATE_REQUEST;
    seine_gate_answer a;
    seine_grant grant = {0};
    sn_gate_case c;
    seine_err e = SEINE_OK;

    req.peer = call->peer;
    req.field = find_field;
    req.arg = call;
    find_subject(s, call, route, &req);
    bool is_counted = sn_gate_sort(s->opts.gate, &req, &c);
    warn_once(s, call);
    if (is_counted && s->redis) {
        ask_redis(s, call, route, &c);
        return;
    }
    if (is_counted)
        e = seine_keyed_try(c.rule->buckets->keyed, c.key, s->loop.now, 1, &grant);
    sn_gate_settle(&c, e, &grant, &a);
    sn_gate_case_end(&c);
    answer_decision(s, call, route, &a);
}

void
sn_gate_handle(sn_http_call *call, void *arg)
{
    seine_gate_server *s = arg;
    sn_gate_route route = route_of(s, call);

    switch (route) {
    case SN_GATE_CHECK:
    case SN_GATE_NGINX:
    case SN_GATE_DEMO:
        check(s, call, route);
        break;
    case SN_GATE_LIVEZ:
        answer_text(s, call, route, 200, "ok\n");
        break;
    case SN_GATE_READYZ:
        answer_text(s, call, route, s->is_ending ? 503 : 200,
                    s->is_ending ? "ending\n" : "ok\n");
        break;
    case SN_GATE_METRICS:
        answer_metrics(s, call);
        break;
    default:
        answer_text(s, call, route, 404, "404 Not Found\n");
        break;
    }
}
