/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "net/socket_transport_parts.h"

#define SPARE 64

static void step_race(sn_dial *d);

static sn_dial *
of_timer(sn_timer *t)
{
    return (sn_dial *)(void *)((char *)t - offsetof(sn_dial, timer));
}

static void
stagger(sn_timer *t, seine_time now)
{
    (void)now;
    step_race(of_timer(t));
}

static sn_dial *
make_dial(sn_socket_transport *w)
{
    sn_dial *d = w->spare.dials;

    if (d) {
        w->spare.dials = d->next;
        w->spare.n_dials--;
        return d;
    }
    d = sn_zalloc(sizeof *d);
    if (!d)
        return NULL;
    if (sn_timer_reserve(&w->loop) != SEINE_OK) {
        sn_free(d);
        return NULL;
    }
    d->timer.fire = stagger;
    return d;
}

void
sn_dial_free(sn_dial *d)
{
    sn_socket_transport *w = d->lookup.of;

    sn_timer_forget(&w->loop, &d->timer);
    sn_free(d);
}

void
sn_dial_drop(sn_dial *d)
{
    sn_socket_transport *w = d->lookup.of;

    sn_dns_cancel(w->dns, &d->lookup);
    sn_timer_clear(&d->timer);
    for (uint8_t i = 0; i < d->n_tries; i++)
        sn_conn_close(d->tries[i]);
    d->n_tries = 0;
    d->x->dial = NULL;
    if (w->spare.n_dials == SPARE) {
        sn_dial_free(d);
        return;
    }
    d->next = w->spare.dials;
    w->spare.dials = d;
    w->spare.n_dials++;
}

/* Removes a socket from the race; the socket stays open. */
static void
remove_try(sn_dial *d, const sn_conn *c)
{
    for (uint8_t i = 0; i < d->n_tries; i++)
        if (d->tries[i] == c) {
            d->tries[i] = d->tries[--d->n_tries];
            return;
        }
}

/* A connect to a local port on which nobody listens can connect to itself, if the kernel
 * chooses the same port for our side. */
static bool
met_itself(const sn_conn *c)
{
    union sn_sockaddr own = {0}, peer = {0};
    socklen_t n = sizeof own, m = sizeof peer;
    sn_ip ip;

    if (c->zone != SN_ADDRESS_LOCAL || getsockname(c->fd, &own.any, &n) != 0 ||
        getpeername(c->fd, &peer.any, &m) != 0)
        return false;
    return own.v4.sin_port == peer.v4.sin_port && sn_ip_of(&own.any, &ip) &&
           sn_ip_eq(&ip, &c->peer);
}

static void
win(sn_dial *d, sn_conn *c)
{
    sn_exchange *x = d->x;

    remove_try(d, c);
    if (d->both)
        sn_origin_won(x->origin, c->peer.v, x->of->loop.now);
    sn_dial_drop(d);
    c->dial = NULL;
    c->origin = x->origin;
    sn_origin_use(c->origin);
    if (x->request->proxy) { /* the connection leads to the site */
        c->peer = x->peer;
        c->zone = x->zone;
        if (x->request->judge)
            sn_conn_judged(c, x->request);
    }
    x->peer = c->peer;
    x->zone = c->zone;
    sn_conn_meet(c, x);
}

void
sn_dial_heard(sn_conn *c, seine_err e)
{
    sn_dial *d = c->dial;

    if (e == SEINE_OK && met_itself(c))
        e = SEINE_E_CONNECT_REFUSED;
    if (e == SEINE_OK) {
        win(d, c);
        return;
    }
    remove_try(d, c);
    sn_conn_close(c);
    sn_happy_eyeballs_lost(&d->race, e, d->x->of->loop.now);
    step_race(d);
}

/* Asks the handler whether the address may be used, once per exchange. */
static seine_err
admit(sn_exchange *x, const sn_ip *ip)
{
    seine_err e = SEINE_OK;

    if (!x->admitted && x->handler.ops->admit)
        e = x->handler.ops->admit(ip, x->handler.arg);
    x->admitted = true;
    return e;
}

/* Checks an address of the site with the address guard. */
static seine_err
judge(sn_exchange *x, const sn_ip *ip)
{
    union sn_sockaddr at;

    sn_sockaddr_of(ip, (uint16_t)seine_url_port(x->request->url), &at);
    seine_err e = sn_address_guard_check(&x->of->zones, &at.any, x->request->ceiling,
                                         x->request->pin);
    if (e != SEINE_OK && !x->refused.v)
        x->refused = *ip;
    return e;
}

static sn_address_zone
find_zone(const sn_exchange *x, const sn_ip *ip)
{
    union sn_sockaddr at;

    sn_sockaddr_of(ip, 0, &at);
    return sn_address_guard_zone(&x->of->zones, &at.any);
}

/* Remembers the address of the site. */
static void
settle_peer(sn_exchange *x, const sn_ip *ip)
{
    x->peer = *ip;
    x->zone = find_zone(x, ip);
}

static uint16_t
port_of(const sn_request *r)
{
    return r->proxy ? r->proxy->port : (uint16_t)seine_url_port(r->url);
}

/* Writes the address without the length of a net. */
static void
write_address(const sn_ip *ip, char out[SN_CIDR_TEXT])
{
    sn_cidr_text(&(sn_cidr){*ip, ip->v == 4 ? 32 : 128}, out);
    out[strcspn(out, "/")] = '\0';
}

static void
trace_connect(const sn_exchange *x, const sn_ip *ip, uint16_t port)
{
    char text[96], name[SN_CIDR_TEXT];

    write_address(ip, name);
    int n = snprintf(text, sizeof text, "trying %s port %u%s\n", name, port,
                     x->request->proxy ? ", the proxy" : "");
    x->handler.ops->trace("connect", (sn_str){text, (size_t)n}, x->handler.arg);
}

static void
trace_names(const sn_exchange *x, const sn_dns_answer *a)
{
    char text[(SN_CIDR_TEXT + 2) * 2 * SN_DNS_ADDRESSES + 16] = "";
    size_t n = 0;

    for (uint8_t i = 0; i < a->n4 + a->n6; i++) {
        char name[SN_CIDR_TEXT];

        write_address(i < a->n4 ? &a->v4[i] : &a->v6[i - a->n4], name);
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s",
                              i ? ", " : "addresses: ", name);
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "\n");
    x->handler.ops->trace("resolve", (sn_str){text, n}, x->handler.arg);
}

/* Starts one more connect. *out_done: the exchange needs no other. */
static seine_err
try_one(sn_dial *d, const sn_ip *ip, bool *out_done)
{
    sn_exchange *x = d->x;
    sn_socket_transport *w = x->of;
    const sn_request *r = x->request;
    sn_conn *c;
    bool now;

    if (!r->proxy) { /* the user named the proxy, so its address is trusted */
        seine_err e = judge(x, ip);

        if (e != SEINE_OK)
            return e;
        e = admit(x, ip);
        if (e != SEINE_OK) {
            *out_done = true;
            sn_exchange_end(x, e);
            return e;
        }
        settle_peer(x, ip);
    }
    if (x->handler.ops->trace)
        trace_connect(x, ip, port_of(r));
    seine_err e =
        sn_conn_open(w, ip, port_of(r), sn_time_sub(r->deadline, w->loop.now), &c, &now);
    if (e != SEINE_OK)
        return e;
    c->dial = d;
    c->zone = find_zone(x, ip);
    d->tries[d->n_tries++] = c;
    if (now && !met_itself(c)) {
        *out_done = true;
        win(d, c);
    } else if (now) {
        remove_try(d, c);
        sn_conn_close(c);
        return SEINE_E_CONNECT_REFUSED;
    }
    return SEINE_OK;
}

static void
step_race(sn_dial *d)
{
    sn_exchange *x = d->x;
    sn_socket_transport *w = x->of;
    const sn_ip *ip;
    bool done = false;

    while ((ip = sn_happy_eyeballs_next(&d->race, w->loop.now))) {
        seine_err e = try_one(d, ip, &done);

        if (done)
            return;
        if (e != SEINE_OK)
            sn_happy_eyeballs_lost(&d->race, e, w->loop.now);
    }
    if (sn_happy_eyeballs_is_over(&d->race))
        sn_exchange_end(x, sn_happy_eyeballs_why(&d->race));
    else
        sn_timer_set(&w->loop, &d->timer, sn_happy_eyeballs_when(&d->race));
}

seine_err
sn_dial_why(sn_dial *d)
{
    seine_time now = d->x->of->loop.now;

    if (d->x->phase == SEINE_PHASE_DNS)
        return sn_dns_why(&d->lookup);
    while (d->race.running > 0)
        sn_happy_eyeballs_lost(&d->race, SEINE_E_CONNECT_TIMEOUT, now);
    return sn_happy_eyeballs_why(&d->race);
}

static void
race(sn_dial *d, const sn_dns_answer *answer)
{
    sn_exchange *x = d->x;

    d->both = answer->n4 > 0 && answer->n6 > 0;
    if (x->handler.ops->trace)
        trace_names(x, answer);
    sn_happy_eyeballs_begin(&d->race, answer,
                            sn_origin_family(x->origin, x->of->loop.now));
    sn_exchange_enter(x, SEINE_PHASE_CONNECT, x->request->limits->time.tcp);
    step_race(d);
}

static void
fail_dial(sn_exchange *x, seine_err e)
{
    bool late = e == SEINE_E_DNS_TIMEOUT && x->of->loop.now >= x->request->deadline;

    sn_exchange_end(x, late ? SEINE_E_TIMEOUT : e);
}

static void
named(sn_lookup *l, seine_err e, const sn_dns_answer *answer)
{
    sn_dial *d = (sn_dial *)(void *)((char *)l - offsetof(sn_dial, lookup));

    if (e == SEINE_OK)
        race(d, answer);
    else
        fail_dial(d->x, e);
}

static seine_err
look_up(sn_dial *d, sn_str name, uint16_t port,
        void (*done)(sn_lookup *l, seine_err e, const sn_dns_answer *answer))
{
    sn_exchange *x = d->x;
    sn_socket_transport *w = x->of;

    d->lookup = (sn_lookup){.done = done, .of = w};
    return sn_dns_ask(w->dns, name, port, w->loop.now,
                      sn_time_min(x->limit_at, x->request->deadline), &d->lookup);
}

/* The site is checked as far as it is known: looks up the proxy. */
static void
seek_proxy(sn_dial *d)
{
    sn_exchange *x = d->x;
    const sn_proxy *proxy = x->request->proxy;
    seine_err e = x->peer.v != 0 ? admit(x, &x->peer) : SEINE_OK;

    x->at_proxy = e == SEINE_OK;
    if (e != SEINE_OK)
        x->peer.v = 0; /* no connection was tried */
    if (e == SEINE_OK)
        e = look_up(d, proxy->host, proxy->port, named);
    if (e == SEINE_OK)
        race(d, d->lookup.answer);
    else if (e != SEINE_E_BUSY || !x->at_proxy)
        fail_dial(x, e);
}

/* Chooses the address of the site behind a proxy, without a race: the first that is
 * allowed, IPv4 first, since fewer proxies know IPv6. If the proxy resolves the name
 * itself, it may use any address: then all must be allowed, and the peer stays
 * unknown. */
static seine_err
choose_site(sn_exchange *x, const sn_dns_answer *answer)
{
    bool is_ours = !sn_proxy_resolves(x->request->proxy);
    seine_err e = SEINE_E_DNS_NXDOMAIN;

    for (unsigned i = 0; i < (unsigned)answer->n4 + answer->n6; i++) {
        const sn_ip *ip = i < answer->n4 ? &answer->v4[i] : &answer->v6[i - answer->n4];

        e = judge(x, ip);
        if (e == SEINE_OK && is_ours)
            settle_peer(x, ip);
        if ((e == SEINE_OK) == is_ours)
            return e;
    }
    return e;
}

static void
site_named(sn_lookup *l, seine_err e, const sn_dns_answer *answer)
{
    sn_dial *d = (sn_dial *)(void *)((char *)l - offsetof(sn_dial, lookup));

    if (e == SEINE_OK)
        e = choose_site(d->x, answer);
    if (e == SEINE_OK)
        seek_proxy(d);
    else
        fail_dial(d->x, e);
}

/* Whoever resolves the name of the site checks its addresses; an address in the URL is
 * always checked here. */
static void
seek_site(sn_dial *d, sn_str name)
{
    sn_exchange *x = d->x;
    const sn_request *r = x->request;
    seine_err e = SEINE_OK;
    sn_ip ip;

    if (seine_url_host_is(r->url) != SEINE_HOST_NAME) {
        e = sn_ip_parse(name, &ip);
        if (e == SEINE_OK)
            e = judge(x, &ip);
        if (e == SEINE_OK)
            settle_peer(x, &ip);
    } else if (!sn_proxy_resolves(r->proxy) || r->judge) {
        e = look_up(d, name, (uint16_t)seine_url_port(r->url), site_named);
        if (e == SEINE_E_BUSY)
            return;
        if (e == SEINE_OK)
            e = choose_site(x, d->lookup.answer);
    }
    if (e == SEINE_OK)
        seek_proxy(d);
    else
        fail_dial(x, e);
}

void
sn_dial_begin(sn_exchange *x)
{
    sn_socket_transport *w = x->of;
    const sn_timeouts *limits = &x->request->limits->time;
    sn_dial *d = make_dial(w);
    seine_view name;

    x->connect_by = sn_time_add(w->loop.now, limits->connect);
    sn_exchange_enter(x, SEINE_PHASE_DNS, limits->dns);
    if (!d) {
        sn_exchange_end(x, SEINE_E_NOMEM);
        return;
    }
    d->lookup = (sn_lookup){.of = w};
    d->x = x;
    d->n_tries = 0;
    x->dial = d;
    seine_err e = seine_url_name(x->request->url, &name);
    if (e == SEINE_OK && x->request->proxy) {
        seek_site(d, sn_url_bare(name));
        return;
    }
    if (e == SEINE_OK)
        e = look_up(d, sn_url_bare(name), port_of(x->request), named);
    if (e == SEINE_OK)
        race(d, d->lookup.answer);
    else if (e != SEINE_E_BUSY)
        fail_dial(x, e);
}
