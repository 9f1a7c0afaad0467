/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "base/alloc.h"
#include "base/time.h"
#include "net/conn_parts.h"

#define SPARE_READERS 64
#define SPARE_HEAD    8192 /* a head buffer up to this size is kept */

void
sn_conn_unread(sn_conn *c)
{
    sn_socket_transport *w = c->of;

    sn_conn_drop_body(c);
    sn_reader *r = SN_STEAL(c->reader);
    if (!r)
        return;
    if (w->spare.n_readers == SPARE_READERS || r->head.room > SPARE_HEAD) {
        sn_reader_free(r);
        return;
    }
    r->next = w->spare.readers;
    w->spare.readers = r;
    w->spare.n_readers++;
}

static bool
take_reader(sn_conn *c)
{
    sn_socket_transport *w = c->of;
    const sn_request *q = c->x->request;
    sn_reader *r = w->spare.readers;

    if (r) {
        w->spare.readers = r->next;
        w->spare.n_readers--;
    } else {
        r = sn_zalloc(sizeof *r);
        if (!r)
            return false;
        sn_head_init(&r->head, w->opts.budget ? &w->held : NULL);
    }
    sn_h1_begin(&r->h1, &r->head,
                &(sn_h1_ask){.head_only = sn_str_eq(q->method, SN_STR("HEAD")),
                             .conditional = q->conditional,
                             .range = q->range});
    r->has_head = r->is_408_behind = false;
    r->wire = r->body = 0;
    r->spoiled = SEINE_OK;
    r->notes = 0;
    r->n_marks = 0;
    c->reader = r;
    return true;
}

sn_read
sn_conn_has_read(const sn_conn *c)
{
    const sn_reader *r = c->reader;

    if (!r)
        return c->state == SN_CONN_TRIAL ? c->read : (sn_read){0};
    return (sn_read){.wire = r->wire,
                     .body = r->body,
                     .notes = r->h1.notes | r->notes |
                              (r->unpack ? r->unpack->decode.notes : 0),
                     .keep_alive_s = r->h1.keep_alive_s,
                     .status = r->head.status,
                     .minor = r->head.minor,
                     .has_head = r->has_head,
                     .is_reusable = sn_h1_is_reusable(&r->h1)};
}

/* The connection ended before the first byte of a response. */
static seine_err
died(sn_conn *c)
{
    seine_err e = sn_conn_stale(c);

    if (!c->x->reused && c->tls && sn_tls_err(c->tls) != SEINE_OK) {
        snprintf(c->of->why, sizeof c->of->why, "%s", sn_tls_text(c->tls));
        return sn_tls_err(c->tls); /* a TLS alert says why */
    }
    return e;
}

/* The response has ended, complete or with a framing error. */
static void
on_end(sn_conn *c, seine_err e)
{
    bool in_doubt = e == SEINE_OK ? sn_conn_doubts_end(c) : sn_conn_doubts_head(c);

    if (!c->x) {
        sn_conn_rest(c);
        return;
    }
    if (in_doubt && sn_request_is_idempotent(c->x->request))
        e = sn_conn_stale(c);
    else if (c->reader->spoiled != SEINE_OK)
        e = c->reader->spoiled;
    else if (e == SEINE_OK)
        e = sn_conn_end_body(c);
    if (e != SEINE_OK || !sn_conn_begin_trial(c))
        sn_exchange_end(c->x, e);
}

/* The peer closed the connection. */
static void
over(sn_conn *c, bool in_order)
{
    seine_err e;

    c->hung_up = true;
    if (c->state == SN_CONN_DRAINING) {
        sn_conn_close(c);
        return;
    }
    if (!c->reader) {
        sn_exchange_end(c->x, died(c));
        return;
    }
    if (in_order && (c->tls || !c->broken))
        e = sn_h1_eof(&c->reader->h1);
    else
        e = sn_h1_lost(&c->reader->h1);
    on_end(c, e);
}

void
sn_conn_begin_body(sn_conn *c)
{
    const sn_timeouts *limits = &c->x->request->limits->time;

    sn_reader_pace(c->reader, limits, c->of->loop.now);
    sn_exchange_enter(c->x, SEINE_PHASE_BODY,
                      c->reader->n_marks > 0 ? limits->speed_span : SEINE_NEVER);
}

/* A 407 comes from the proxy, never from a site. True: the proxy refused. */
static bool
judge_proxy(sn_conn *c)
{
    sn_exchange *x = c->x;

    if (!sn_request_is_forward(x->request))
        return false;
    x->via = c->reader->head.status == 407 ? SN_PROXY_BAD : SN_PROXY_GOOD;
    if (x->via == SN_PROXY_GOOD)
        return false;
    x->at_proxy = true;
    sn_proxy_tell(x->request->proxy,
                  x->request->proxy->authorization.len > 0 ? "refuses the login (407)"
                                                           : "wants a login (407)",
                  c->of->why);
    return true;
}

static seine_err
on_head(sn_conn *c)
{
    sn_exchange *x = c->x;

    if (sn_conn_doubts_head(c) && sn_request_is_idempotent(x->request))
        return sn_conn_stale(c);
    if (judge_proxy(c))
        return SEINE_E_PROXY_AUTH;
    c->reader->has_head = true;
    if (!c->unsent)
        sn_conn_begin_body(c);
    if (x->handler.ops->head)
        x->handler.ops->head(&c->reader->head, x->handler.arg);
    return sn_conn_begin_unpack(c);
}

/* Handles one event of the reader. False: the rest of the input is not wanted. */
static bool
on_event(sn_conn *c, sn_h1_event event, sn_str *piece)
{
    sn_socket_transport *w = c->of;
    sn_reader *r = c->reader;
    seine_err e = SEINE_OK;

    if (event == SN_H1_HEAD) {
        e = on_head(c);
    } else if (event == SN_H1_DONE || event == SN_H1_FAIL) {
        on_end(c, event == SN_H1_DONE ? SEINE_OK : r->h1.err);
        return false;
    } else if (event == SN_H1_BODY && c->x) {
        e = sn_conn_body(c, piece);
    }
    if (e == SEINE_OK && c->x && r->wire > c->x->request->limits->max_wire)
        e = SEINE_E_BODY_TOO_LARGE;
    if (c->x && c->x->why != SEINE_OK) {
        c->broken = true; /* the rest of the received bytes is ignored */
        return false;
    }
    if (e != SEINE_OK)
        sn_exchange_end(c->x, e);
    return event != SN_H1_MORE && w->fed == c && !(r->unpack && r->unpack->stuck);
}

/* Gives the archive the received bytes, before their event is handled. If the response
 * cannot be read, the archive gets all of the input. */
static void
archive(const sn_conn *c, sn_h1_event event, const char *from, const sn_str *in)
{
    size_t n = (size_t)(in->ptr - from) + (event == SN_H1_FAIL ? in->len : 0);

    if (n > 0)
        c->x->handler.ops->wire((sn_str){from, n}, c->x->handler.arg);
}

static bool
read_on(sn_conn *c, sn_h1_event *out_event, sn_str *in, sn_str *out_piece)
{
    sn_reader *r = c->reader;
    bool in_body = r->has_head;
    const char *from = in->ptr;

    *out_event = sn_h1_next(&r->h1, in, out_piece);
    if (in_body)
        r->wire += (uint64_t)(in->ptr - from);
    if (*out_event == SN_H1_DONE && in->len > 0)
        r->is_408_behind = sn_is_request_timeout(*in);
    if (c->x && c->x->handler.ops->wire)
        archive(c, *out_event, from, in);
    return on_event(c, *out_event, out_piece);
}

/* The connection used up its share of this turn: keeps the rest for the next. */
static void
wait_for_turn(sn_conn *c, sn_str piece, sn_str in)
{
    c->reader->unpack->unread = c->unread;
    seine_err e = sn_conn_keep(c, piece, in);
    if (e != SEINE_OK) {
        sn_exchange_end(c->x, e);
        return;
    }
    c->unread = true;
    sn_conn_later(c);
}

/* Feeds received bytes to the reader; `piece` is already known to be body. False: do not
 * read on. */
static bool
feed(sn_conn *c, sn_str piece, sn_str in)
{
    sn_socket_transport *w = c->of;
    sn_h1_event event = SN_H1_BODY;

    if (!c->reader && !take_reader(c)) {
        sn_exchange_end(c->x, SEINE_E_NOMEM);
        return false;
    }
    w->fed = c;
    bool goes_on =
        piece.len > 0 || sn_conn_is_stuck(c) ? on_event(c, event, &piece) : true;
    while (goes_on)
        goes_on = read_on(c, &event, &in, &piece);
    bool is_here = w->fed == c;
    w->fed = NULL;
    if (is_here && sn_conn_is_stuck(c) && !c->broken) {
        wait_for_turn(c, piece, in);
        return false;
    }
    if (event != SN_H1_MORE || !is_here)
        return false;
    if (c->x && c->x->phase == SEINE_PHASE_BODY && c->reader->n_marks > 0) {
        sn_reader_more(c->reader, w->loop.now);
        sn_exchange_limit(c->x, sn_reader_stalls(c->reader, c->x->limit));
    }
    return true;
}

/* Feeds what an earlier turn kept. */
static bool
feed_kept(sn_conn *c)
{
    sn_str piece, in;

    sn_socket_transport *w = c->of;

    c->unread = c->reader->unpack->unread || c->missed;
    sn_conn_lend(c, &piece, &in);
    bool goes_on = feed(c, piece, in);
    sn_socket_transport_take_back(w);
    return goes_on;
}

/* How many bytes may be read now. */
static size_t
room_of(const sn_conn *c)
{
    const sn_exchange *x = c->x;
    size_t room =
        x && x->handler.ops->room ? x->handler.ops->room(x->handler.arg) : SIZE_MAX;

    return room < SN_SOCKET_TRANSPORT_ROOM ? room : SN_SOCKET_TRANSPORT_ROOM;
}

/* Stops reading until the handler has room again. */
static void
hold(sn_conn *c)
{
    c->unread = true;
    sn_exchange_hold(c->x);
}

/* Reads on after a hold: the body is as fast as from now on. */
static void
go_on(sn_conn *c)
{
    if (!c->x || c->x->held_since == 0)
        return;
    sn_exchange_go_on(c->x);
    if (c->x->phase == SEINE_PHASE_BODY && !c->unsent)
        sn_conn_begin_body(c);
}

static bool
has_more(const sn_conn *c)
{
    return c->tls && sn_tls_has_more(c->tls);
}

/*
 * Edge-triggered: if recv returns less than asked for, there is no more for now, and the
 * next byte is an event. After the peer closed no event follows, so everything is read up
 * to the end.
 */
void
sn_conn_read(sn_conn *c)
{
    sn_socket_transport *w = c->of;

    for (bool is_next = true;; is_next = false) {
        size_t room = w->room = room_of(c);

        if (room == 0) {
            hold(c);
            return;
        }
        go_on(c);
        if (is_next || room < SN_SOCKET_TRANSPORT_ROOM)
            sn_conn_next_share(c, room);
        if (sn_conn_is_stuck(c)) {
            if (!feed_kept(c))
                return;
            continue;
        }
        if (w->opts.read_rate && c->x && (room = sn_conn_slow(c, room)) == 0) {
            hold(c);
            return;
        }
        c->missed = false;
        ssize_t n = sn_conn_pull(c, w->in, room);

        if (n > 0) {
            c->unread = n == (ssize_t)room || has_more(c);
            if (!feed(c, (sn_str){0}, (sn_str){w->in, (size_t)n}))
                return;
            if (c->unread) {
                sn_conn_later(c);
                return;
            }
            if (c->hung_up)
                continue;
            return;
        }
        if (n == 0)
            over(c, true);
        else if (!sn_conn_is_later(errno))
            over(c, false);
        else if ((c->unread = has_more(c)))
            sn_conn_later(c);
        return;
    }
}
