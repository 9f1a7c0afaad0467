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

static sn_flight *
take_flight(sn_requests *r, sn_visit *v)
{
    sn_flight *f = r->spare;

    if (f)
        r->spare = f->next;
    else if (!(f = sn_zalloc(sizeof *f)))
        return NULL;
    f->requests = r;
    f->visit = v;
    f->prev = NULL;
    f->next = r->flying;
    if (r->flying)
        r->flying->prev = f;
    r->flying = f;
    r->n++;
    return f;
}

static void
release_flight(sn_flight *f)
{
    sn_requests *r = f->requests;

    sn_request_wipe_cookies(f);
    if (f->prev)
        f->prev->next = f->next;
    else
        r->flying = f->next;
    if (f->next)
        f->next->prev = f->prev;
    r->n--;
    f->visit = NULL;
    f->next = r->spare;
    r->spare = f;
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
    sn_flight *f = arg;

    return f->requests->ops.admit(f->visit, peer, f->requests->ops.arg);
}

static seine_err
on_may_send(void *arg)
{
    sn_flight *f = arg;

    return f->requests->ops.may_send(f->visit, f->requests->ops.arg);
}

static void
on_sent(void *arg)
{
    sn_flight *f = arg;

    if (sn_trace_is_on(f->requests->shared))
        sn_trace_request(f->requests->shared, f->visit, &f->request);
    f->requests->ops.sent(f->visit, f->requests->ops.arg);
}

static void
on_head(const sn_head *head, void *arg)
{
    const sn_flight *f = arg;

    const sn_host_policy *p = f->visit->policy;
    if (f->requests->shared->opts.jar && (!p || p->cookies))
        sn_request_take_cookies(f->requests, f->visit, head);
    sn_response_head(f->requests, f->visit, head);
}

static bool
on_body(sn_str piece, void *arg)
{
    const sn_flight *f = arg;

    return sn_response_body(f->requests, f->visit, piece);
}

static void
on_wire(sn_str bytes, void *arg)
{
    sn_flight *f = arg;

    sn_response_wire(f->requests, f->visit, bytes);
}

static size_t
on_room(void *arg)
{
    sn_flight *f = arg;

    return sn_response_room(f->requests, f->visit);
}

static void
on_trace(const char *what, sn_str text, void *arg)
{
    sn_flight *f = arg;

    sn_trace_text(f->requests->shared, f->visit, what, text);
}

static void
on_end(const sn_end *end, void *arg)
{
    sn_flight *f = arg;
    sn_visit *v = f->visit;

    v->end = *end;
    v->end.fault.text = sn_visit_say(v, end->fault.text);
    if (f->request.proxy)
        sn_proxy_breakers_end(&f->requests->proxy_breakers, f->request.proxy, &f->via,
                              end, f->requests->env->clock->now(f->requests->env->clock));
    v->ttfb = sn_time_add(end->spent[SEINE_PHASE_SEND], end->spent[SEINE_PHASE_HEAD]);
    sn_response_end(f->requests, v);
    sn_capture_end(v);
    release_flight(f);
    push_ended(f->requests, v);
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
    for (sn_flight *f = r->spare, *next; f; f = next) {
        next = f->next;
        sn_free(f->cookie);
        sn_free(f);
    }
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
choose_proxy(sn_requests *r, sn_flight *f, seine_time now, const sn_proxy **out_proxy)
{
    sn_visit *v = f->visit;
    bool is_own = v->policy && v->policy->set & SEINE_HOST_PROXY;
    const sn_proxy *proxy =
        is_own ? v->policy->proxy : sn_proxies_choose(&r->shared->proxies, &v->url);

    f->via = (seine_permit){0};
    v->proxy_at = INT64_MIN;
    *out_proxy = proxy;
    if (!proxy || is_own) /* the breaker of its host is enough for one of its own */
        return SEINE_OK;
    seine_time at = SEINE_NEVER;
    seine_err e = sn_proxy_breakers_begin(&r->proxy_breakers, proxy, now, &f->via, &at);
    if (e != SEINE_OK) {
        char text[SN_FAULT_TEXT];

        sn_proxy_tell(proxy,
                      e == SEINE_E_BREAKER ? "left alone after failures"
                                           : "given up after failures",
                      text);
        v->proxy_at = at;
        v->end.fault.phase = SEINE_PHASE_PROXY;
        v->end.fault.text = sn_visit_say(v, text);
    }
    return e;
}

static seine_err
begin_exchange(sn_requests *r, sn_flight *f, sn_address_zone pin, seine_time now)
{
    sn_visit *v = f->visit;
    const sn_limits *limits = v->policy ? &v->policy->limits : &r->shared->limits;
    const sn_proxy *proxy;
    seine_err e = choose_proxy(r, f, now, &proxy);

    if (e != SEINE_OK)
        return e;
    if (v->timeout != limits->time.attempt) {
        sn_limits *own = SN_ARENA_NEW(&v->arena, sn_limits);

        if (!own)
            return SEINE_E_NOMEM;
        *own = *limits;
        own->time.attempt = v->timeout;
        limits = own;
    }
    f->request =
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
    set_trust(&r->shared->opts, v, &f->request);
    if (!sn_requests_fields(r, v, &f->request) || !sn_request_add_cookies(r, f))
        return SEINE_E_NOMEM;
    if (r->handler.wire) {
        e = sn_capture_begin(v, &f->request, v->started_wall);
        if (e != SEINE_OK)
            return e;
    }
    sn_transport *t = r->env->transport;
    return t->ops->start(t, &f->request, &(sn_handler){&r->handler, f}, &v->exchange);
}

void
sn_requests_start(sn_requests *r, sn_visit *v, sn_address_zone pin, seine_time now,
                  int64_t wall)
{
    sn_flight *f = take_flight(r, v);

    sn_visit_clear_response(v);
    uint64_t most = v->policy ? v->policy->limits.max_body : r->shared->opts.max_body;
    v->kept.cap = most < SIZE_MAX - 1 ? (size_t)most : SIZE_MAX - 1;
    v->started_at = now;
    v->started_wall = wall;
    sn_visit_step(v, SN_IN_FLIGHT);
    seine_err e = f ? begin_exchange(r, f, pin, now) : SEINE_E_NOMEM;
    if (e == SEINE_OK)
        return;
    /* Whatever the transport refuses for good was let in by mistake. */
    v->end.fault.code = e == SEINE_E_INVAL ? SEINE_E_BAD_URL : e;
    v->end.http = 255;
    if (f) {
        sn_proxy_breakers_end(&r->proxy_breakers, f->request.proxy, &f->via, NULL, now);
        release_flight(f);
    }
    push_ended(r, v);
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
    for (sn_flight *f = r->flying; f; f = f->next) {
        const sn_charge *c = &f->visit->charge;

        if (!c->waits)
            continue;
        if ((evicts || one) && !c->is_first)
            t->ops->cancel(t, f->visit->exchange, SEINE_E_BUDGET);
        else
            t->ops->resume(t, f->visit->exchange);
        one = false;
    }
}

void
sn_requests_cancel_some(sn_requests *r, seine_err why,
                        bool (*is)(const sn_visit *v, void *arg), void *arg)
{
    sn_transport *t = r->env->transport;

    for (sn_flight *f = r->flying; f; f = f->next)
        if (!is || is(f->visit, arg))
            t->ops->cancel(t, f->visit->exchange, why);
}

void
sn_requests_cancel(sn_requests *r, seine_err why)
{
    sn_requests_cancel_some(r, why, NULL, NULL);
}
