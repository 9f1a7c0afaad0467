/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"
#include "base/time.h"
#include "net/conn_parts.h"

typedef enum told {
    TOLD_NEXT, /* this step is complete, or not needed */
    TOLD_WAIT, /* waits for an event from the peer */
    TOLD_END   /* the exchange has ended, the connection is freed */
} told;

/* A step is called when it begins and with every event until it is complete; the phase of
 * the exchange says which step is next. All bytes pass through sn_conn_pull and
 * sn_conn_put. */

/* Until the proxy has opened the tunnel: SEINE_PHASE_PROXY, limit time.tcp. */
static told
tunnel(sn_conn *c)
{
    switch (sn_conn_tunnel(c)) {
    case SN_TUNNEL_MORE:
        return TOLD_WAIT;
    case SN_TUNNEL_FAIL:
        return TOLD_END;
    case SN_TUNNEL_OPEN:
    default:
        return TOLD_NEXT;
    }
}

static ssize_t
receive(void *self, char *into, size_t room, bool *out_dry)
{
    sn_conn *c = self;
    ssize_t n = recv(c->fd, into, room, 0);

    if (n > 0)
        c->of->stats.bytes_in += (uint64_t)n;
    *out_dry = n > 0 && (size_t)n < room;
    return n;
}

static ssize_t
transmit(void *self, const char *bytes, size_t n)
{
    sn_conn *c = self;
    ssize_t sent = send(c->fd, bytes, n, MSG_NOSIGNAL);

    if (sent > 0)
        c->of->stats.bytes_out += (uint64_t)sent;
    return sent;
}

static const sn_tls_ends ends = {receive, transmit};

/* Starts TLS with `host`, on the socket or inside the TLS with the proxy. Tickets do not
 * say whose authorities have judged their host: one that has its own gets none. */
static seine_err
put_tls_on(sn_conn *c, sn_str host, uint16_t port, const sn_request *q)
{
    sn_socket_transport *w = c->of;
    sn_tls_ctx *trust = q && q->trust ? q->trust : w->opts.tls;
    sn_tls *tls;

    if (!trust)
        return SEINE_E_TLS_ERROR;
    seine_err e =
        sn_tls_new(trust,
                   &(sn_tls_want){.host = host,
                                  .port = port,
                                  .insecure = q && q->insecure,
                                  .identify = q && q->identify,
                                  .ends = &ends,
                                  .self = c,
                                  .below = c->tls,
                                  .tickets = trust == w->opts.tls ? &w->tickets : NULL,
                                  .now = &w->loop.now},
                   &tls);
    if (e != SEINE_OK)
        return e;
    c->outer = c->tls;
    c->tls = tls;
    return SEINE_OK;
}

static void
trace_tls(const sn_conn *c)
{
    char text[1024];
    size_t n = sn_tls_describe(c->tls, text, sizeof text);

    c->x->handler.ops->trace("tls", (sn_str){text, n}, c->x->handler.arg);
}

/* Does one step of the TLS handshake. */
static told
shake_hands(sn_conn *c)
{
    sn_socket_transport *w = c->of;
    sn_tls_got got = sn_tls_handshake(c->tls);

    if (got != SN_TLS_WAIT && c->x->handler.ops->trace)
        trace_tls(c);
    if (got == SN_TLS_FAILED) {
        sn_exchange_fail(c->x, sn_tls_err(c->tls), sn_tls_text(c->tls));
        return TOLD_END;
    }
    if (got == SN_TLS_WAIT) {
        if (sn_tls_has_more(c->tls))
            sn_conn_later(c);
        return TOLD_WAIT;
    }
    w->stats.handshakes++;
    w->stats.resumed += sn_tls_is_resumed(c->tls);
    return TOLD_NEXT;
}

/* TLS with an https:// proxy; its certificate is always verified. */
static told
secure_proxy(sn_conn *c)
{
    sn_exchange *x = c->x;
    const sn_proxy *proxy = x->request->proxy;

    if (!proxy || proxy->kind != SN_PROXY_HTTPS)
        return TOLD_NEXT;
    if (!c->tls) {
        sn_exchange_enter(x, SEINE_PHASE_PROXY, x->request->limits->time.tcp);
        seine_err e = put_tls_on(c, proxy->host, proxy->port, NULL);
        if (e != SEINE_OK) {
            sn_exchange_end(x, e);
            return TOLD_END;
        }
    }
    return shake_hands(c);
}

/* TLS with the host. */
static told
secure(sn_conn *c)
{
    sn_exchange *x = c->x;
    const sn_request *q = x->request;
    seine_view name;

    if (!sn_request_is_https(q))
        return TOLD_NEXT;
    if (x->phase != SEINE_PHASE_TLS) {
        sn_exchange_enter(x, SEINE_PHASE_TLS, q->limits->time.tls);
        seine_err e = seine_url_name(q->url, &name);
        if (e == SEINE_OK)
            e = put_tls_on(c, sn_url_bare(name), (uint16_t)seine_url_port(q->url), q);
        if (e != SEINE_OK) {
            sn_exchange_end(x, e);
            return TOLD_END;
        }
    }
    told t = shake_hands(c);
    if (t == TOLD_NEXT)
        c->secure = true;
    return t;
}

static told (*const steps[SN_CONN_STEPS])(sn_conn *c) = {secure_proxy, tunnel, secure};

static void
ask(sn_conn *c)
{
    sn_exchange *x = c->x;
    sn_str text;
    seine_err e =
        x->handler.ops->may_send ? x->handler.ops->may_send(x->handler.arg) : SEINE_OK;

    if (e == SEINE_OK)
        e = sn_exchange_text(x, &text);
    if (e == SEINE_OK)
        sn_conn_ask(c, x, text);
    else
        sn_exchange_end(x, e);
}

void
sn_conn_handshake(sn_conn *c)
{
    for (; c->step < SN_CONN_STEPS; c->step++)
        if (steps[c->step](c) != TOLD_NEXT)
            return;
    ask(c);
}

void
sn_conn_meet(sn_conn *c, sn_exchange *x)
{
    x->conn = c;
    c->x = x;
    c->state = SN_CONN_HANDSHAKE;
    c->step = 0;
    if (c->of->loop.now >= x->request->deadline) /* else its timer fires in this turn */
        sn_exchange_end(x, SEINE_E_TIMEOUT);
    else
        sn_conn_handshake(c);
}

void
sn_conn_drop_tls(sn_conn *c)
{
    bool in_order = !c->broken && !c->unsent;

    sn_tls_free(SN_STEAL(c->tls), in_order);
    sn_tls_free(SN_STEAL(c->outer), in_order);
    c->secure = false;
}

ssize_t
sn_conn_pull_tls(sn_conn *c, char *into, size_t room)
{
    ssize_t n = sn_tls_read(c->tls, into, room);

    if (sn_tls_has_ended(c->tls))
        c->hung_up = true;
    return n;
}
