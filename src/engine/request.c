/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/request.h"

#include "base/alloc.h"
#include "base/time.h"
#include "engine/capture.h"
#include "engine/redirect.h"
#include "engine/request_parts.h"
#include "engine/response.h"
#include "engine/trace.h"

/* Flights. */

static void
take_off(sn_requests *r, sn_visit *v)
{
    v->flight = (sn_flight){.requests = r};
    v->next = r->flying;
    if (r->flying)
        r->flying->flight.prev = v;
    r->flying = v;
    r->n++;
}

/* The end of the visit may be written now. */
static void
land(sn_visit *v)
{
    sn_flight *f = &v->flight;
    sn_requests *r = f->requests;

    sn_request_drop_cookies(f);
    if (f->prev)
        f->prev->next = v->next;
    else
        r->flying = v->next;
    if (v->next)
        v->next->flight.prev = f->prev;
    r->n--;
}

static void
push_ended(sn_requests *r, sn_visit *v)
{
    v->next = NULL;
    v->exchange = NULL;
    if (r->ended)
        r->last_ended->next = v;
    else
        r->ended = v;
    r->last_ended = v;
}

sn_visit *
sn_requests_ended(sn_requests *r)
{
    sn_visit *v = r->ended;

    if (v)
        r->ended = v->next;
    return v;
}

#define ASK_EVERY   SEINE_MS(50)
#define EVICT_AFTER SEINE_SECS(1)

/* What the transport calls in the middle of its turn. */

static seine_err
on_admit(const sn_ip *peer, void *arg)
{
    sn_visit *v = arg;
    const sn_requests_ops *ops = &v->flight.requests->ops;

    return ops->admit(v, peer, ops->arg);
}

static seine_err
on_may_send(void *arg)
{
    sn_visit *v = arg;
    const sn_requests_ops *ops = &v->flight.requests->ops;

    return ops->may_send(v, ops->arg);
}

static void
on_sent(void *arg)
{
    sn_visit *v = arg;
    const sn_requests *r = v->flight.requests;

    if (sn_trace_is_on(r->shared))
        sn_trace_request(r->shared, v, &v->flight.request);
    r->ops.sent(v, r->ops.arg);
}

static void
on_head(const sn_head *head, void *arg)
{
    sn_visit *v = arg;
    sn_requests *r = v->flight.requests;

    if (r->shared->opts.jar && (!v->policy || v->policy->cookies))
        sn_request_take_cookies(r, v, head);
    sn_response_head(r, v, head);
}

static bool
on_body(sn_str piece, void *arg)
{
    sn_visit *v = arg;

    return sn_response_body(v->flight.requests, v, piece);
}

static void
on_wire(sn_str bytes, void *arg)
{
    sn_visit *v = arg;

    sn_response_wire(v->flight.requests, v, bytes);
}

static size_t
on_room(void *arg)
{
    sn_visit *v = arg;

    return sn_response_room(v->flight.requests, v);
}

static void
on_trace(const char *what, sn_str text, void *arg)
{
    sn_visit *v = arg;

    sn_trace_text(v->flight.requests->shared, v, what, text);
}

static void
on_end(const sn_end *end, void *arg)
{
    sn_visit *v = arg;
    sn_flight *f = &v->flight;
    sn_requests *r = f->requests;

    if (f->request.proxy)
        sn_proxy_breakers_end(&r->proxy_breakers, f->request.proxy, &f->via, end,
                              r->env->clock->now(r->env->clock));
    land(v);
    v->end = *end;
    v->end.fault.text = sn_visit_say(v, end->fault.text);
    v->ttfb = sn_time_add(end->spent[SEINE_PHASE_SEND], end->spent[SEINE_PHASE_HEAD]);
    sn_response_end(r, v);
    sn_capture_end(v);
    push_ended(r, v);
}

static sn_handler_ops
choose_handler(const sn_shared_state *c)
{
    return (sn_handler_ops){.admit = on_admit,
                            .may_send = on_may_send,
                            .trace = sn_trace_is_on(c) ? on_trace : NULL,
                            .sent = on_sent,
                            .head = on_head,
                            .wire = c->opts.keep & SEINE_KEEP_WIRE ? on_wire : NULL,
                            .room = on_room,
                            .body = on_body,
                            .end = on_end};
}

seine_err
sn_requests_init(sn_requests *r, sn_shared_state *shared, const sn_env *env,
                 const sn_requests_ops *ops)
{
    *r = (sn_requests){.shared = shared,
                       .env = env,
                       .ops = *ops,
                       .handler = choose_handler(shared),
                       .ask_at = SEINE_NEVER,
                       .evict_at = SEINE_NEVER};
    if (!sn_requests_init_fields(r) ||
        sn_proxy_breakers_init(&r->proxy_breakers, &shared->opts) != SEINE_OK) {
        sn_requests_fini(r);
        return SEINE_E_NOMEM;
    }
    return SEINE_OK;
}

void
sn_requests_fini(sn_requests *r)
{
    sn_page_pool_fini(&r->pages);
    sn_proxy_breakers_fini(&r->proxy_breakers);
    sn_free(r->plain);
    sn_free(r->home);
    sn_buf_fini(&r->home_written);
    *r = (sn_requests){0};
}

/* Starting. */

bool
sn_request_is_at_home(const sn_visit *v)
{
    return v->at_home &&
           (v->n_hops == 0 || sn_redirect_is_same_origin(v->first, &v->url));
}

static bool
is_same_host(seine_view a, sn_str b)
{
    return sn_str_eq_nocase(a, b);
}

/* Does the certificate of this host go unchecked? Only hosts that the user named do. */
static bool
is_insecure(const seine_fetch_opts *o, const sn_visit *v)
{
    seine_view host = seine_url_host(&v->url), first = seine_url_host(v->first);

    for (const char *const *h = o->insecure_hosts; h && *h; h++)
        if (is_same_host(host, sn_str_of(*h)))
            return true;
    return o->insecure && v->at_home && (v->n_hops == 0 || is_same_host(host, first));
}

static void
set_trust(const seine_fetch_opts *o, const sn_visit *v, sn_request *request)
{
    request->insecure = (v->policy && v->policy->insecure) ||
                        ((o->insecure || o->insecure_hosts) && is_insecure(o, v));
    request->trust = v->policy ? v->policy->trust : NULL;
    request->identify = o->cert && sn_request_is_at_home(v);
    request->raw_encoding = o->raw_encoding;
}

/* Chooses the proxy of this hop and asks its breaker. */
static seine_err
choose_proxy(sn_requests *r, sn_visit *v, seine_time now, const sn_proxy **out_proxy)
{
    bool is_own = v->policy && v->policy->set & SEINE_HOST_PROXY;
    const sn_proxy *proxy =
        is_own ? v->policy->proxy : sn_proxies_choose(&r->shared->proxies, &v->url);

    *out_proxy = proxy;
    if (!proxy || is_own) /* the breaker of its host is enough for one of its own */
        return SEINE_OK;
    seine_time at = SEINE_NEVER;
    seine_err e =
        sn_proxy_breakers_begin(&r->proxy_breakers, proxy, now, &v->flight.via, &at);
    if (e != SEINE_OK) {
        char text[SN_FAULT_TEXT];

        sn_proxy_tell(proxy,
                      e == SEINE_E_BREAKER ? "left alone after failures"
                                           : "given up after failures",
                      text);
        v->proxy_at = at;
        sn_visit_say(v, text);
    }
    return e;
}

static seine_err
begin_exchange(sn_requests *r, sn_visit *v, sn_address_zone pin, seine_time now)
{
    sn_request *request = &v->flight.request;
    const sn_limits *limits = v->policy ? &v->policy->limits : &r->shared->limits;

    if (v->timeout != limits->time.attempt) {
        sn_limits *own = SN_ARENA_NEW(&v->arena, sn_limits);

        if (!own)
            return SEINE_E_NOMEM;
        *own = *limits;
        own->time.attempt = v->timeout;
        limits = own;
    }
    const sn_proxy *proxy;
    seine_err e = choose_proxy(r, v, now, &proxy);
    if (e != SEINE_OK)
        return e;
    *request =
        (sn_request){.method = v->method,
                     .url = &v->url,
                     .body = v->body,
                     .deadline = sn_time_min(sn_time_add(now, v->timeout), v->deadline),
                     .limits = limits,
                     .ceiling = v->ceiling,
                     .pin = pin,
                     .fresh = v->fresh || !v->retry.idempotent,
                     .idempotent = v->retry.idempotent,
                     .judge = r->shared->opts.untrusted,
                     .proxy = proxy};
    set_trust(&r->shared->opts, v, request);
    if (!sn_requests_fields(r, v, request) || !sn_request_add_cookies(r, v))
        return SEINE_E_NOMEM;
    if (r->handler.wire) {
        e = sn_capture_begin(v, request, v->started_wall);
        if (e != SEINE_OK)
            return e;
    }
    sn_transport *t = r->env->transport;
    return t->ops->start(t, request, &(sn_handler){&r->handler, v}, &v->exchange);
}

/* Whatever the transport refuses for good was let in by mistake. */
static void
end_unbegun(sn_requests *r, sn_visit *v, seine_err why, seine_time now)
{
    sn_flight *f = &v->flight;

    sn_proxy_breakers_end(&r->proxy_breakers, f->request.proxy, &f->via, NULL, now);
    land(v);
    v->end = (sn_end)SN_END;
    v->end.fault.code = why == SEINE_E_INVAL ? SEINE_E_BAD_URL : why;
    if (v->proxy_at != INT64_MIN) { /* its breaker refused */
        v->end.fault.phase = SEINE_PHASE_PROXY;
        v->end.fault.text = v->why;
    }
    push_ended(r, v);
}

void
sn_requests_start(sn_requests *r, sn_visit *v, sn_address_zone pin, seine_time now,
                  int64_t wall)
{
    uint64_t most = v->policy ? v->policy->limits.max_body : r->shared->opts.max_body;

    sn_visit_clear_response(v);
    v->proxy_at = INT64_MIN;
    v->kept.cap = most < SIZE_MAX - 1 ? (size_t)most : SIZE_MAX - 1;
    v->started_at = now;
    v->started_wall = wall;
    sn_visit_step(v, SN_IN_FLIGHT);
    take_off(r, v);
    seine_err e = begin_exchange(r, v, pin, now);
    if (e != SEINE_OK)
        end_unbegun(r, v, e, now);
}

/* Where records are written in order nobody tells that another one is due. And if the
 * due one has no place among those in flight, one of them has to go. */
static bool
is_time_to_ask(sn_requests *r, seine_time now, bool *out_evict)
{
    const sn_memory_brake *b = r->shared->brake;

    *out_evict = false;
    if (!b->due || atomic_load(&b->waiting) == 0) {
        r->ask_at = r->evict_at = SEINE_NEVER;
        return false;
    }
    if (atomic_load(&b->has_first) || r->evict_at == SEINE_NEVER)
        r->evict_at = sn_time_add(now, EVICT_AFTER);
    *out_evict = now >= r->evict_at;
    if (*out_evict)
        r->evict_at = sn_time_add(now, EVICT_AFTER);
    bool is_time = r->ask_at == SEINE_NEVER || now >= r->ask_at;
    if (is_time)
        r->ask_at = sn_time_add(now, ASK_EVERY);
    return is_time;
}

bool
sn_requests_may_resume(const sn_requests *r)
{
    const sn_memory_brake *b = r->shared->brake;

    return atomic_load(&b->waiting) > 0 && (atomic_load(&b->releases) != r->releases ||
                                            atomic_load(&b->evictions) != r->evictions);
}

/* The newest come first here, and last in the transport. */
void
sn_requests_resume(sn_requests *r, seine_time now)
{
    const sn_memory_brake *b = r->shared->brake;
    sn_transport *t = r->env->transport;
    uint32_t releases = atomic_load(&b->releases), evictions = atomic_load(&b->evictions);
    bool one, evicts = evictions != r->evictions;

    if (!is_time_to_ask(r, now, &one) && releases == r->releases && !evicts)
        return;
    r->releases = releases;
    r->evictions = evictions;
    for (sn_visit *v = r->flying; v; v = v->next) {
        const sn_charge *c = &v->charge;

        if (!c->waits)
            continue;
        if ((evicts || one) && !c->is_first)
            t->ops->cancel(t, v->exchange, SEINE_E_BUDGET);
        else
            t->ops->resume(t, v->exchange);
        one = false;
    }
}

void
sn_requests_cancel_some(sn_requests *r, seine_err why,
                        bool (*is)(const sn_visit *v, void *arg), void *arg)
{
    sn_transport *t = r->env->transport;

    for (sn_visit *v = r->flying; v; v = v->next)
        if (!is || is(v, arg))
            t->ops->cancel(t, v->exchange, why);
}

void
sn_requests_cancel(sn_requests *r, seine_err why)
{
    sn_requests_cancel_some(r, why, NULL, NULL);
}
