/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "net/conn_parts.h"

void
sn_conn_untunnel(sn_conn *c)
{
    sn_tunnel *t = SN_STEAL(c->tunnel);

    if (!t)
        return;
    sn_tunnel_fini(t);
    sn_free(t);
}

static seine_err
begin_tunnel(sn_conn *c)
{
    sn_exchange *x = c->x;
    const sn_request *q = x->request;
    sn_socket_transport *w = c->of;
    sn_tunnel_to to = {.ip = x->peer, .port = (uint16_t)seine_url_port(q->url)};
    sn_tunnel *t = sn_alloc(sizeof *t);
    seine_view name = {0};

    if (!t)
        return SEINE_E_NOMEM;
    seine_err e = seine_url_name(q->url, &name);
    to.name = sn_url_bare(name);
    if (e == SEINE_OK)
        e = sn_tunnel_init(t, q->proxy, &to, w->opts.budget ? &w->held : NULL);
    if (e != SEINE_OK) {
        sn_free(t);
        return e;
    }
    c->tunnel = t;
    if (x->phase != SEINE_PHASE_PROXY) /* TLS with the proxy may have entered it */
        sn_exchange_enter(x, SEINE_PHASE_PROXY, q->limits->time.tcp);
    return SEINE_OK;
}

static sn_tunnel_event
end_tunnel(sn_conn *c, seine_err e)
{
    sn_exchange_end(c->x, e);
    return SN_TUNNEL_FAIL;
}

static sn_tunnel_event
fail_tunnel(sn_conn *c)
{
    const sn_tunnel *t = c->tunnel;

    memcpy(c->of->why, t->text, sizeof t->text);
    if (t->answered)
        c->x->via = SN_PROXY_GOOD;
    return end_tunnel(c, t->err);
}

/* Sends what the tunnel has to send. False: the connection broke. */
static bool
say(sn_conn *c)
{
    for (sn_str s; (s = sn_tunnel_output(c->tunnel)).len > 0;) {
        ssize_t n = sn_conn_put(c, s.ptr, s.len);

        if (n < 0)
            return sn_conn_is_later(errno);
        sn_tunnel_sent(c->tunnel, (size_t)n);
    }
    return true;
}

/* Reads until nothing is left: bytes that are already there cause no event. */
static sn_tunnel_event
hear(sn_conn *c)
{
    sn_socket_transport *w = c->of;
    sn_tunnel_event event = SN_TUNNEL_MORE;

    while (event == SN_TUNNEL_MORE) {
        ssize_t n = sn_conn_pull(c, w->in, SN_SOCKET_TRANSPORT_ROOM);

        if (n < 0 && sn_conn_is_later(errno)) {
            if (c->tls && sn_tls_has_more(c->tls))
                sn_conn_later(c);
            return SN_TUNNEL_MORE;
        }
        event = n > 0 ? sn_tunnel_receive(c->tunnel, (sn_str){w->in, (size_t)n})
                      : sn_tunnel_lost(c->tunnel);
        if (event == SN_TUNNEL_MORE && !say(c))
            event = sn_tunnel_lost(c->tunnel);
    }
    /* The proxy opened the tunnel and closed the connection at once. */
    if (event == SN_TUNNEL_OPEN && c->hung_up)
        event = sn_tunnel_lost(c->tunnel);
    return event;
}

sn_tunnel_event
sn_conn_tunnel(sn_conn *c)
{
    sn_exchange *x = c->x;
    const sn_proxy *proxy = x->request->proxy;

    if (proxy && sn_proxy_needs_tunnel(proxy, x->request->url)) {
        seine_err e = c->tunnel ? SEINE_OK : begin_tunnel(c);

        if (e != SEINE_OK)
            return end_tunnel(c, e);
        sn_tunnel_event event = say(c) ? hear(c) : sn_tunnel_lost(c->tunnel);
        if (event != SN_TUNNEL_OPEN)
            return event == SN_TUNNEL_FAIL ? fail_tunnel(c) : SN_TUNNEL_MORE;
        sn_conn_untunnel(c);
        x->via = SN_PROXY_GOOD;
    }
    x->at_proxy = false;
    return SN_TUNNEL_OPEN;
}
