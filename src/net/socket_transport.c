/* SPDX-License-Identifier: Apache-2.0 */
#include "net/socket_transport.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/time.h"
#include "net/conn_key.h"
#include "net/conn_parts.h"
#include "seine/secret.h"

_Static_assert(sizeof(struct sn_exchange) == 280, "docs/internals/conn.md says so");
_Static_assert(sizeof(sn_dial) == 296, "docs/internals/conn.md says so");

#define OWN_EVERY  SEINE_SECS(60) /* how often the machine's own addresses are read */
#define BATCH_MOST (128 << 10)

static sn_socket_transport *
of(sn_transport *t)
{
    return (sn_socket_transport *)(void *)t;
}

static void
shrink(sn_buf *b)
{
    sn_buf_fini(b);
    sn_buf_init_secret(b, SIZE_MAX / 2);
}

static void
read_own(sn_socket_transport *w)
{
    if (sn_time_sub(w->loop.now, w->own_read) < OWN_EVERY)
        return;
    w->own_read = w->loop.now;
    if (sn_address_guard_read_own(&w->zones, NULL) == SEINE_OK)
        w->guard_version++;
}

static void
take_idle_conn(sn_exchange *x, sn_conn *c, sn_str text)
{
    sn_socket_transport *w = x->of;

    sn_conn_pool_drop(&w->idle, &c->idle);
    sn_timer_clear(&c->timer);
    w->stats.reused++;
    if (c->served > 1 && c->origin->clean < UINT32_MAX)
        c->origin->clean++;
    x->peer = c->peer;
    x->zone = c->zone;
    sn_conn_ask(c, x, text);
}

static sn_conn *
conn_of(sn_pooled_conn *i)
{
    return (sn_conn *)(void *)((char *)i - offsetof(sn_conn, idle));
}

/* True if the request may use the idle connection; one that nobody may use is closed. */
static bool
may_use(const sn_exchange *x, sn_conn *c)
{
    if (c->timer.at <= x->of->loop.now || !sn_conn_probe(c)) {
        sn_conn_close(c);
        return false;
    }
    return sn_conn_judge(c, x->request) == SEINE_OK;
}

/*
 * True if the connection should rest until its last response is as long ago as it took.
 * If that response belonged to an earlier request, the right one comes meanwhile, and
 * the next look finds it; otherwise every later response would be off by one. The first
 * reuse need not wait: there is no earlier request.
 */
static bool
should_rest(const sn_conn *c)
{
    return c->served > 1 && !sn_conn_is_settled(c);
}

/* Returns an idle connection of the origin that may be used, or NULL. The newest is used
 * so that surplus ones grow old. While it should rest the oldest is used, and a lone one
 * gets a second one beside it. */
static sn_conn *
find_idle(sn_exchange *x)
{
    sn_origin *o = x->origin;
    sn_pooled_conn *newest = sn_conn_pool_newest(o), *oldest = o->oldest;

    if (newest && should_rest(conn_of(newest))) {
        bool is_alone = newest == oldest;

        if (is_alone && x->of->stats.open < x->of->opts.max_connections)
            return NULL;
        if (!is_alone && may_use(x, conn_of(oldest)))
            return conn_of(oldest);
    }
    for (sn_pooled_conn *i = sn_conn_pool_newest(o), *below; i && !o->no_reuse;
         i = below) {
        below = sn_conn_pool_below(i);
        if (may_use(x, conn_of(i)))
            return conn_of(i);
    }
    return NULL;
}

/* True: an idle connection took the request, or the exchange has ended. */
static bool
reuse(sn_exchange *x)
{
    sn_conn *c = find_idle(x);
    seine_err e = SEINE_OK;
    sn_str text;

    if (!c)
        return false;
    if (x->handler.ops->admit && c->peer.v != 0)
        e = x->handler.ops->admit(&c->peer, x->handler.arg);
    x->admitted = true;
    if (e == SEINE_OK)
        e = sn_exchange_text(x, &text);
    if (e != SEINE_OK)
        sn_exchange_end(x, e);
    else
        take_idle_conn(x, c, text);
    return true;
}

/* Finds the origin of the request. A name that DNS cannot know is refused here, before a
 * connection could be reused; an origin is looked at once. */
static seine_err
find_origin(sn_exchange *x)
{
    sn_socket_transport *w = x->of;
    seine_view name;
    seine_err e =
        sn_conn_pool_origin(&w->idle, sn_conn_key(x->request, w->key), &x->origin);

    if (e != SEINE_OK || x->origin->is_named)
        return e;
    e = seine_url_name(x->request->url, &name);
    x->origin->is_named = e == SEINE_OK;
    if (e != SEINE_OK)
        x->phase = SEINE_PHASE_DNS;
    return e;
}

static void
launch(sn_exchange *x)
{
    sn_socket_transport *w = x->of;
    const sn_request *q = x->request;
    seine_err e = x->why;

    x->since = w->loop.now;
    if (e == SEINE_OK && q->deadline <= w->loop.now)
        e = SEINE_E_TIMEOUT;
    if (e == SEINE_OK && !w->opts.tls && sn_request_is_https(q)) {
        x->phase = SEINE_PHASE_TLS;
        sn_exchange_fail(x, SEINE_E_TLS_ERROR, "no TLS here");
        return;
    }
    if (e == SEINE_OK)
        e = find_origin(x);
    if (e != SEINE_OK) {
        sn_exchange_end(x, e);
        return;
    }
    read_own(w);
    if (!q->fresh && sn_request_is_idempotent(q) && reuse(x))
        return;
    x->text_len = 0; /* the batch will have changed when it is sent */
    sn_dial_begin(x);
}

/* Launches all exchanges started so far; those started meanwhile wait for the next
 * call. */
static void
launch_all(sn_socket_transport *w)
{
    sn_exchange *list = w->started;

    if (!list)
        return;
    w->started = NULL;
    w->started_end = &w->started;
    for (sn_exchange *x; (x = list);) {
        list = x->next;
        x->is_started = false;
        launch(x);
    }
    if (w->started)
        return;
    if (w->batch.room > 2 * BATCH_MOST)
        shrink(&w->batch);
    sn_buf_reset(&w->batch);
}

static void
doom(sn_socket_transport *w)
{
    sn_exchange *x;
    uint64_t most = w->live;

    while ((x = w->doomed) && most-- > 0)
        sn_exchange_end(x, x->why);
}

static void
resume(sn_socket_transport *w)
{
    sn_conn *first = w->ready;

    /* Connections added at the front meanwhile belong to the next turn. */
    if (!first)
        return;
    w->ready = NULL;
    sn_conn *list = first;
    first->ready_prev = &list;
    while (list)
        sn_conn_resume(list);
}

static bool
is_pending(const sn_socket_transport *w)
{
    return w->started || w->doomed || w->ready;
}

static void
wake_owner(sn_socket_transport *w)
{
    if (w->watched && is_pending(w))
        sn_loop_wake(&w->loop);
}

static seine_time
turn(sn_transport *t, seine_time until)
{
    sn_socket_transport *w = of(t);
    uint64_t before = w->n_ended;

    w->turning = true;
    if (w->started || w->doomed) {
        w->loop.now = sn_time_max(w->loop.now, w->opts.clock->now(w->opts.clock));
        doom(w);
        launch_all(w);
    }
    sn_loop_turn(&w->loop, is_pending(w) || w->n_ended != before ? INT64_MIN : until);
    resume(w);
    launch_all(w);
    sn_buf_reset(&w->text); /* requests may hold secrets: none outlives its turn */
    w->turning = false;
    wake_owner(w);
    return w->loop.now;
}

static bool
is_http(const seine_url *u)
{
    seine_view s = seine_url_scheme(u);

    return (s.len == 4 && memcmp(s.ptr, "http", 4) == 0) ||
           (s.len == 5 && memcmp(s.ptr, "https", 5) == 0);
}

static seine_err
start(sn_transport *t, const sn_request *request, const sn_handler *handler,
      sn_exchange **out_exchange)
{
    sn_socket_transport *w = of(t);
    sn_exchange *x;
    size_t at = w->batch.len;

    if (request->deadline == SEINE_NEVER || !is_http(request->url))
        return SEINE_E_INVAL;
    seine_err e = sn_exchange_write(request, &w->batch);
    if (e == SEINE_OK)
        e = sn_exchange_new(w, request, handler, &x);
    if (e != SEINE_OK) {
        sn_buf_truncate(&w->batch, at);
        w->batch.err = SEINE_OK;
        return e;
    }
    if (w->batch.len <= BATCH_MOST) {
        x->text_at = (uint32_t)at;
        x->text_len = (uint32_t)(w->batch.len - at);
    } else {
        sn_buf_truncate(&w->batch, at);
    }
    x->is_started = true;
    *w->started_end = x;
    w->started_end = &x->next;
    *out_exchange = x;
    if (!w->turning)
        wake_owner(w);
    return SEINE_OK;
}

static void
cancel(sn_transport *t, sn_exchange *x, seine_err why)
{
    sn_socket_transport *w = of(t);

    if (x->is_ended || x->why != SEINE_OK)
        return;
    sn_exchange_doom(x, why);
    if (!w->turning)
        wake_owner(w);
}

static void
wake(sn_transport *t)
{
    sn_loop_wake(&of(t)->loop);
}

static int
fd(sn_transport *t)
{
    sn_socket_transport *w = of(t);
    int n = sn_loop_fd(&w->loop);

    w->watched = n >= 0;
    wake_owner(w);
    return n;
}

static void
resume_exchange(sn_transport *t, sn_exchange *x)
{
    sn_socket_transport *w = of(t);

    if (x->is_ended || x->held_since == 0)
        return;
    sn_conn_later(x->conn);
    if (!w->turning)
        wake_owner(w);
}

static seine_span
cpu_time(sn_transport *t)
{
    (void)t;
    return sn_clock_cpu();
}

static void
get_counts(const sn_transport *t, sn_transport_counts *out_counts)
{
    const sn_socket_transport *w = (const sn_socket_transport *)(const void *)t;
    sn_dns_stats dns = {0};

    if (w->dns)
        sn_dns_stats_get(w->dns, &dns);
    *out_counts = (sn_transport_counts){
        .bytes_in = w->stats.bytes_in,
        .bytes_out = w->stats.bytes_out,
        .opened = w->stats.opened,
        .reused = w->stats.reused,
        .open = w->stats.open,
        .names = {dns.hits, dns.ok, dns.nxdomain, dns.errors, dns.timeouts}};
}

static const sn_transport_ops ops = {start, cancel,          turn,     wake,
                                     fd,    resume_exchange, cpu_time, get_counts};

static seine_err
check(const sn_socket_transport_opts *o, seine_diag *diag)
{
    if (o->max_connections == 0)
        return sn_diag_option(diag, "max_connections", "at least 1");
    if (o->idle_time < 0)
        return sn_diag_option(diag, "idle_time", "not below 0");
    if (o->max_age < 0)
        return sn_diag_option(diag, "max_age", "not below 0");
    return SEINE_OK;
}

/* Builds all parts, in the order in which sn_socket_transport_free frees them. */
static seine_err
build(sn_socket_transport *w, seine_diag *diag)
{
    seine_err e = seine_budget_try(w->opts.budget, &(seine_want){{0}}, &w->held);

    w->in = sn_alloc(SN_SOCKET_TRANSPORT_ROOM);
    if (e == SEINE_OK && !w->in)
        e = SEINE_E_NOMEM;
    if (e == SEINE_OK)
        e = sn_address_guard_init(&w->zones, &w->opts.zones);
    if (e == SEINE_E_INVAL)
        e = sn_diag_option(diag, "zones", "a prefix or a rule that is none");
    if (e == SEINE_OK)
        e = sn_address_guard_read_own(&w->zones, NULL);
    if (e == SEINE_OK)
        e = sn_conn_slow_init(w);
    if (e == SEINE_OK)
        e = sn_dns_new(&w->loop, &w->opts.dns, &w->dns, diag);
    return e;
}

seine_err
sn_socket_transport_new(const sn_socket_transport_opts *opts,
                        sn_transport **out_transport, seine_diag *diag)
{
    seine_err e = check(opts, diag);

    if (e != SEINE_OK)
        return e;
    sn_socket_transport *w = sn_zalloc(sizeof *w);
    if (!w)
        return SEINE_E_NOMEM;
    e = sn_loop_init(&w->loop, opts->clock);
    if (e != SEINE_OK) {
        sn_free(w);
        return e;
    }
    w->base.ops = &ops;
    w->opts = *opts;
    w->started_end = &w->started;
    w->own_read = w->loop.now;
    w->end.fault = (sn_fault)SN_FAULT;
    sn_buf_init_secret(&w->batch, SIZE_MAX / 2);
    sn_buf_init_secret(&w->text, SIZE_MAX / 2);
    sn_conn_pool_init(&w->idle, opts->max_idle, opts->max_idle_origin);
    sn_tickets_init(&w->tickets, opts->budget ? &w->held : NULL);
    e = build(w, diag);
    if (e != SEINE_OK) {
        sn_socket_transport_free(&w->base);
        return e;
    }
    *out_transport = &w->base;
    return SEINE_OK;
}

static void
free_spare(sn_socket_transport *w)
{
    for (sn_exchange *x; (x = w->spare.exchanges);) {
        w->spare.exchanges = x->next;
        sn_exchange_free(x);
    }
    for (sn_dial *d; (d = w->spare.dials);) {
        w->spare.dials = d->next;
        sn_dial_free(d);
    }
    for (sn_reader *r; (r = w->spare.readers);) {
        w->spare.readers = r->next;
        sn_reader_free(r);
    }
    for (sn_body_decoder *u; (u = w->spare.unpacks);) {
        w->spare.unpacks = u->next;
        sn_body_decoder_free(u);
    }
    for (sn_conn *c; (c = w->spare.conns);) {
        w->spare.conns = c->next;
        sn_timer_forget(&w->loop, &c->timer);
        sn_free(c);
    }
}

void
sn_socket_transport_free(sn_transport *t)
{
    if (!t)
        return;
    sn_socket_transport *w = of(t);

    assert(w->live == 0);
    while (w->conns)
        sn_conn_close(w->conns);
    if (w->dns)
        sn_dns_free(w->dns);
    free_spare(w);
    sn_conn_slow_fini(w);
    sn_conn_pool_fini(&w->idle);
    sn_tickets_fini(&w->tickets);
    sn_address_guard_fini(&w->zones);
    sn_buf_fini(&w->batch);
    sn_buf_fini(&w->text);
    sn_free(w->in);
    sn_free(w->scratch);
    sn_loop_fini(&w->loop);
    seine_budget_release(&w->held);
    seine_wipe(w->key, sizeof w->key);
    sn_free(w);
}

void
sn_socket_transport_stats_get(const sn_transport *t, sn_socket_transport_stats *out_stats)
{
    const sn_socket_transport *w = (const sn_socket_transport *)(const void *)t;

    *out_stats = w->stats;
    out_stats->idle = w->idle.n;
    out_stats->longest_turn = w->loop.longest;
}
