/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "net/socket_transport_parts.h"

#define SPARE    1024
#define NS_OF_MS 1000000

static void expire(sn_timer *t, seine_time now);

static sn_exchange *
of_timer(sn_timer *t)
{
    return (sn_exchange *)(void *)((char *)t - offsetof(sn_exchange, timer));
}

static sn_exchange *
make_exchange(sn_socket_transport *w)
{
    sn_exchange *x = w->spare.exchanges;

    if (x) {
        w->spare.exchanges = x->next;
        w->spare.n_exchanges--;
        return x;
    }
    x = sn_zalloc(sizeof *x);
    if (!x)
        return NULL;
    if (sn_timer_reserve(&w->loop) != SEINE_OK) {
        sn_free(x);
        return NULL;
    }
    x->timer.fire = expire;
    return x;
}

seine_err
sn_exchange_new(sn_socket_transport *w, const sn_request *request,
                const sn_handler *handler, sn_exchange **out_exchange)
{
    sn_exchange *x = make_exchange(w);

    if (!x)
        return SEINE_E_NOMEM;
    /* Resets everything but the timer, which keeps its slot on the wheel. */
    sn_timer timer = x->timer;
    *x = (sn_exchange){.of = w, .request = request, .handler = *handler, .timer = timer};
    w->live++;
    *out_exchange = x;
    return SEINE_OK;
}

void
sn_exchange_free(sn_exchange *x)
{
    sn_timer_forget(&x->of->loop, &x->timer);
    sn_free(x);
}

void
sn_exchange_spare(sn_exchange *x)
{
    sn_socket_transport *w = x->of;

    w->live--;
    if (w->spare.n_exchanges == SPARE) {
        sn_exchange_free(x);
        return;
    }
    x->next = w->spare.exchanges;
    w->spare.exchanges = x;
    w->spare.n_exchanges++;
}

static seine_err
write(const sn_request *request, sn_str body, sn_buf *out)
{
    seine_view host = seine_url_host_port(request->url);
    seine_view target = seine_url_target(request->url);
    bool forward = sn_request_is_forward(request);

    return sn_h1_write(
        &(sn_h1_request){
            .method = request->method,
            .form = forward ? SN_H1_ABSOLUTE : SN_H1_ORIGIN,
            .host = host,
            .target = target,
            .fields = request->fields,
            .n_fields = request->n_fields,
            .written = request->written,
            .authorization = forward ? request->proxy->authorization : (sn_str){0},
            .body = body,
        },
        out);
}

/* Writes the head with a body of one byte, then corrects Content-Length, which is the
 * last field. */
static seine_err
write_apart(const sn_request *request, sn_buf *out)
{
    size_t before = out->len;
    seine_err e = write(request, SN_STR("x"), out);

    if (e != SEINE_OK)
        return e;
    assert(sn_str_ends(sn_buf_view(out), SN_STR("Content-Length: 1\r\n\r\nx")));
    sn_buf_truncate(out, out->len - (sizeof "1\r\n\r\nx" - 1));
    sn_buf_u64(out, request->body.len);
    sn_buf_str(out, SN_STR("\r\n\r\n"));
    e = sn_buf_done(out);
    if (e != SEINE_OK)
        sn_buf_truncate(out, before);
    return e;
}

seine_err
sn_exchange_write(const sn_request *request, sn_buf *out)
{
    if (sn_request_is_apart(request))
        return write_apart(request, out);
    return write(request, request->body, out);
}

seine_err
sn_exchange_text(sn_exchange *x, sn_str *out_text)
{
    sn_socket_transport *w = x->of;

    if (x->text_len > 0) {
        *out_text = (sn_str){w->batch.ptr + x->text_at, x->text_len};
        x->text_len = 0;
        return SEINE_OK;
    }
    if (w->text.room > SN_SOCKET_TRANSPORT_ROOM) {
        sn_buf_fini(&w->text);
        sn_buf_init_secret(&w->text, SIZE_MAX / 2);
    }
    sn_buf_reset(&w->text);
    seine_err e = sn_exchange_write(x->request, &w->text);
    *out_text = sn_buf_view(&w->text);
    return e;
}

bool
sn_request_is_idempotent(const sn_request *request)
{
    static const char *const words[] = {"GET", "HEAD",   "OPTIONS",
                                        "PUT", "DELETE", "TRACE"};

    if (request->idempotent)
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (sn_str_eq(request->method, sn_str_of(words[i])))
            return true;
    return false;
}

void
sn_exchange_doom(sn_exchange *x, seine_err why)
{
    sn_socket_transport *w = x->of;

    x->why = why;
    if (x->is_started)
        return; /* launch will end it */
    x->next = w->doomed;
    x->prev = &w->doomed;
    if (x->next)
        x->next->prev = &x->next;
    w->doomed = x;
}

static void
leave_phase(sn_exchange *x)
{
    seine_time now = x->of->loop.now;

    if (x->phase != SEINE_PHASE_NONE)
        x->spent[x->phase] += now - x->since;
    x->since = now;
}

void
sn_exchange_pause(sn_exchange *x)
{
    leave_phase(x);
}

void
sn_exchange_resume(sn_exchange *x)
{
    x->since = x->of->loop.now;
}

static seine_time
deadline_of(const sn_exchange *x)
{
    return sn_time_add(x->request->deadline, x->held_for);
}

void
sn_exchange_limit(sn_exchange *x, seine_time at)
{
    x->limit_at = at;
    sn_timer_set(&x->of->loop, &x->timer, sn_time_min(at, deadline_of(x)));
}

void
sn_exchange_hold(sn_exchange *x)
{
    if (x->held_since != 0)
        return;
    x->held_since = x->of->loop.now;
    sn_timer_clear(&x->timer);
}

void
sn_exchange_go_on(sn_exchange *x)
{
    seine_span held = x->of->loop.now - x->held_since;

    if (x->held_since == 0)
        return;
    x->held_since = 0;
    x->held_for = sn_time_add(x->held_for, held);
    if (x->phase == SEINE_PHASE_HEAD) /* the server was not slow */
        x->since += held;
    sn_exchange_limit(x, sn_time_add(x->limit_at, held));
}

void
sn_exchange_enter(sn_exchange *x, seine_phase phase, seine_span limit)
{
    leave_phase(x);
    x->phase = phase;
    x->limit = limit;

    seine_time at = sn_time_add(x->since, limit);
    if (phase <= SEINE_PHASE_TLS && x->connect_by < at) {
        at = x->connect_by;
        x->limit = x->request->limits->time.connect;
    }
    sn_exchange_limit(x, at);
}

/* Returns the timeout error of the current phase. */
static seine_err
too_long(sn_exchange *x)
{
    switch (x->phase) {
    case SEINE_PHASE_DNS:
        return sn_dial_why(x->dial);
    case SEINE_PHASE_CONNECT:
        return x->dial ? sn_dial_why(x->dial) : SEINE_E_CONNECT_TIMEOUT;
    case SEINE_PHASE_PROXY:
        return SEINE_E_PROXY_ERROR;
    case SEINE_PHASE_TLS:
        return SEINE_E_TLS_TIMEOUT;
    case SEINE_PHASE_SEND:
        return SEINE_E_SEND_TIMEOUT;
    case SEINE_PHASE_HEAD:
        return SEINE_E_HEADER_TIMEOUT;
    case SEINE_PHASE_BODY:
        return SEINE_E_STALLED;
    case SEINE_PHASE_NONE:
        break;
    }
    return SEINE_E_TIMEOUT;
}

static void
expire(sn_timer *t, seine_time now)
{
    sn_exchange *x = of_timer(t);

    if (x->why != SEINE_OK)
        sn_exchange_end(x, x->why);
    else if (x->conn && x->conn->state == SN_CONN_TRIAL)
        sn_conn_end_trial(x->conn, sn_conn_probe(x->conn));
    else if (now >= deadline_of(x))
        sn_exchange_end(x, SEINE_E_TIMEOUT);
    else
        sn_exchange_end(x, too_long(x));
}

static int64_t
timeout_ms(const sn_exchange *x, seine_err e)
{
    seine_span span = e == SEINE_E_TIMEOUT ? x->request->limits->time.attempt : x->limit;

    return seine_err_group(e) == SEINE_E_TIMEOUT && span < SEINE_NEVER ? span / NS_OF_MS
                                                                       : 0;
}

/* Writes only members that differ from the last exchange. */
static void
describe(sn_exchange *x, seine_err e, sn_end *out)
{
    sn_read read = x->conn ? sn_conn_has_read(x->conn) : (sn_read){0};
    sn_fault *f = &out->fault;

    f->code = e;
    f->phase = e == SEINE_OK ? SEINE_PHASE_NONE
               : x->at_proxy ? SEINE_PHASE_PROXY
                             : x->phase;
    f->status = read.has_head ? read.status : 0;
    if (e == SEINE_E_UNEXPECTED_304 || e == SEINE_E_UNEXPECTED_206)
        f->status = e == SEINE_E_UNEXPECTED_304 ? 304 : 206;
    f->sent = x->sent;
    f->timeout_ms = e == SEINE_OK ? 0 : timeout_ms(x, e);
    f->retry_after = -1;
    f->text = x->of->why[0] ? memcpy(x->of->told, x->of->why, sizeof x->of->told) : NULL;
    out->partial = read.has_head && e != SEINE_OK;
    out->reused = x->reused;
    out->replayable = e == SEINE_E_CONN_STALE && x->replayable;
    memcpy(out->spent, x->spent, sizeof out->spent);
    out->peer = x->peer;
    if (x->at_proxy) /* the site was never reached */
        out->peer.v = 0;
    out->zone = x->zone;
    out->via = x->via;
    out->http = read.has_head ? read.minor : UINT8_MAX;
    out->wire_bytes = read.wire;
    out->body_bytes = read.body;
    out->notes = read.notes;
    out->refused_net.net.v = 0;
    if (e == SEINE_E_BLOCKED_ADDRESS && x->refused.v) {
        union sn_sockaddr at;

        sn_sockaddr_of(&x->refused, 0, &at);
        out->refused = sn_address_guard_zone(&x->of->zones, &at.any);
        out->refused_net = sn_address_guard_net(&x->of->zones, &at.any);
    }
    out->secure = x->conn && x->conn->secure ? *sn_tls_facts_of(x->conn->tls)
                                             : (seine_tls_facts){0, false, INT64_MIN};
}

/* An error on the way to the proxy, or in its replies, is not the site's fault. */
static seine_err
blame_proxy(sn_exchange *x, seine_err e)
{
    sn_socket_transport *w = x->of;
    char what[sizeof w->why];

    if (e == SEINE_OK || seine_err_class(e) == SEINE_LOCAL)
        return e;
    if (x->via == SN_PROXY_NONE)
        x->via = SN_PROXY_BAD;
    if (e == SEINE_E_TIMEOUT || e == SEINE_E_PROXY_REFUSED || e == SEINE_E_PROXY_AUTH)
        return e;
    if (e == SEINE_E_PROXY_ERROR && !w->why[0]) /* it timed out */
        snprintf(what, sizeof what, "no answer in time");
    else if (e == SEINE_E_PROXY_ERROR)
        return e;
    else
        snprintf(what, sizeof what, "%s", w->why[0] ? w->why : seine_err_text(e));
    sn_proxy_tell(x->request->proxy, what, w->why);
    return SEINE_E_PROXY_ERROR;
}

void
sn_exchange_end(sn_exchange *x, seine_err e)
{
    sn_socket_transport *w = x->of;

    if (x->at_proxy)
        e = blame_proxy(x, e);
    leave_phase(x);
    sn_timer_clear(&x->timer);
    if (x->prev) {
        *x->prev = x->next;
        if (x->next)
            x->next->prev = x->prev;
        x->prev = NULL;
    }
    describe(x, e, &w->end);
    w->why[0] = '\0';
    if (x->conn)
        sn_conn_leave(x->conn, e);
    x->conn = NULL;
    if (x->dial)
        sn_dial_drop(x->dial);
    if (x->origin)
        sn_conn_pool_leave(&w->idle, x->origin);
    x->is_ended = true;
    w->n_ended++;
    if (x->handler.ops->end)
        x->handler.ops->end(&w->end, x->handler.arg);
    sn_exchange_spare(x);
}

void
sn_exchange_fail(sn_exchange *x, seine_err e, const char *text)
{
    snprintf(x->of->why, sizeof x->of->why, "%s", text);
    sn_exchange_end(x, e);
}
