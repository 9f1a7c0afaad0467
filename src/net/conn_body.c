/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "net/conn_parts.h"

#define SPARE_UNPACKS 16
#define SHARE         (256 << 10) /* decoded bytes of a connection per turn */

/* Decodes the body. */
static sn_body_decoder *
make_decoder(sn_socket_transport *w)
{
    sn_body_decoder *u = w->spare.unpacks;

    if (u) {
        w->spare.unpacks = u->next;
        w->spare.n_unpacks--;
        return u;
    }
    if (!w->scratch)
        w->scratch = sn_alloc(SN_DECODE_STEP);
    u = w->scratch ? sn_zalloc(sizeof *u) : NULL;
    if (u)
        sn_decode_init(&u->decode, w->scratch, w->opts.budget ? &w->held : NULL);
    return u;
}

void
sn_body_decoder_free(sn_body_decoder *u)
{
    sn_decode_fini(&u->decode);
    sn_free(u);
}

static void
give_back(sn_socket_transport *w, sn_kept *k)
{
    if (!k->ptr)
        return;
    sn_free(SN_STEAL(k->ptr));
    if (w->opts.budget)
        seine_budget_shrink(&w->held, SEINE_RES_MEMORY, k->room);
}

void
sn_conn_drop_body(sn_conn *c)
{
    sn_socket_transport *w = c->of;
    sn_body_decoder *u = c->reader ? SN_STEAL(c->reader->unpack) : NULL;

    if (!u)
        return;
    c->reader->notes |= u->decode.notes;
    give_back(w, &u->kept);
    if (w->spare.n_unpacks == SPARE_UNPACKS) {
        sn_body_decoder_free(u);
        return;
    }
    u->next = w->spare.unpacks;
    w->spare.unpacks = u;
    w->spare.n_unpacks++;
}

/* Gives bytes to the caller; not OK if the caller wants no more. */
static seine_err
hand_on(sn_conn *c, sn_str piece)
{
    sn_exchange *x = c->x;

    c->reader->body += piece.len;
    if (piece.len > 0 && x->handler.ops->body &&
        !x->handler.ops->body(piece, x->handler.arg))
        return SEINE_E_CANCELED;
    return SEINE_OK;
}

/* Passes on a body without coding. */
static seine_err
pass(sn_conn *c, sn_str piece)
{
    const sn_reader *r = c->reader;
    uint64_t most = c->x->request->limits->max_body, room = most - r->body;
    bool is_more = piece.len > room;

    if (is_more)
        piece.len = (size_t)room;
    seine_err e = hand_on(c, piece);
    if (e != SEINE_OK)
        return e;
    if (is_more || (r->body == most && r->h1.framing == SN_H1_LENGTH && r->h1.left > 0))
        return SEINE_E_BODY_TOO_LARGE;
    return SEINE_OK;
}

/* Decoding failed. An archive still gets the rest of the body. */
static seine_err
spoil(sn_conn *c, seine_err e)
{
    if (e != SEINE_E_BAD_ENCODING || !c->x->handler.ops->wire)
        return e;
    c->reader->spoiled = e;
    sn_conn_drop_body(c);
    return SEINE_OK;
}

/* The first bytes show that the body is not coded as its head says: passes it on as it
 * is. */
static seine_err
take_as_it_is(sn_conn *c)
{
    sn_body_decoder *u = SN_STEAL(c->reader->unpack);
    seine_err e = pass(c, (sn_str){u->first, u->n_first});

    c->reader->unpack = u;
    sn_conn_drop_body(c);
    return e;
}

static bool
may_be_raw(const sn_conn *c)
{
    const sn_body_decoder *u = c->reader->unpack;

    return c->x->request->raw_encoding && c->reader->body == 0 &&
           u->n_first <= sizeof u->first;
}

static seine_err
failed(sn_conn *c, seine_err e)
{
    if (e == SEINE_E_BODY_TOO_LARGE && c->reader->unpack->decode.is_bomb)
        snprintf(c->of->why, sizeof c->of->why,
                 "decodes to more than %" PRIu64 " times its size",
                 c->x->request->limits->max_ratio);
    if (e == SEINE_E_BAD_ENCODING && may_be_raw(c))
        return take_as_it_is(c);
    return spoil(c, e);
}

static void
remember_first(sn_body_decoder *u, sn_str piece)
{
    if (u->n_first > sizeof u->first || piece.len > sizeof u->first - u->n_first) {
        u->n_first = sizeof u->first + 1; /* too late to pass it on undecoded */
        return;
    }
    memcpy(u->first + u->n_first, piece.ptr, piece.len);
    u->n_first += piece.len;
}

static seine_err
unpack(sn_conn *c, sn_str *piece)
{
    sn_body_decoder *u = c->reader->unpack;
    sn_str out;

    if (!u->stuck && c->x->request->raw_encoding && c->reader->body == 0)
        remember_first(u, *piece);
    for (u->stuck = false; u->room > 0;) {
        sn_decode_event event = sn_decode_next(&u->decode, piece, &out);

        if (event == SN_DECODE_MORE)
            return SEINE_OK;
        if (event == SN_DECODE_FAIL)
            return failed(c, u->decode.err);
        size_t cost = out.len > u->decode.work ? out.len : u->decode.work;
        u->room -= cost < u->room ? cost : u->room;
        seine_err e = hand_on(c, out);
        if (e != SEINE_OK || c->x->why != SEINE_OK)
            return e;
    }
    u->stuck = true;
    return SEINE_OK;
}

seine_err
sn_conn_body(sn_conn *c, sn_str *piece)
{
    if (c->reader->spoiled != SEINE_OK)
        return SEINE_OK;
    return c->reader->unpack ? unpack(c, piece) : pass(c, *piece);
}

seine_err
sn_conn_begin_unpack(sn_conn *c)
{
    sn_reader *r = c->reader;
    const sn_request *q = c->x->request;
    sn_codings codings = {0};
    seine_err e = SEINE_OK;
    sn_str value;

    if (r->h1.framing == SN_H1_NO_BODY)
        return SEINE_OK;
    for (uint32_t i = 0;
         e == SEINE_OK && sn_head_next(&r->head, SN_STR("content-encoding"), &i, &value);)
        e = sn_codings_add(&codings, value);
    if (e != SEINE_OK)
        return q->raw_encoding ? SEINE_OK : spoil(c, e);
    if (codings.is_odd)
        r->notes |= SN_NOTE_ODD_CODING;
    if (codings.n == 0)
        return SEINE_OK;
    sn_body_decoder *u = make_decoder(c->of);
    if (!u)
        return SEINE_E_NOMEM;
    r->unpack = u;
    u->stuck = false;
    u->n_first = 0;
    sn_conn_next_share(c, c->of->room);
    sn_decode_limits limits = {q->limits->max_body, q->limits->max_ratio,
                               q->limits->ratio_from};
    return sn_decode_begin(&u->decode, &codings, &limits);
}

seine_err
sn_conn_end_body(sn_conn *c)
{
    sn_reader *r = c->reader;

    if (r->unpack) {
        seine_err e = sn_decode_end(&r->unpack->decode);
        e = e == SEINE_OK ? e : failed(c, e);
        if (e != SEINE_OK)
            return e;
    }
    return r->spoiled;
}

bool
sn_conn_is_stuck(const sn_conn *c)
{
    return c->reader && c->reader->unpack && c->reader->unpack->stuck;
}

static seine_err
take_memory(sn_socket_transport *w, size_t n, sn_kept *out)
{
    if (w->opts.budget) {
        seine_err e = seine_budget_grow(&w->held, SEINE_RES_MEMORY, n);
        if (e != SEINE_OK)
            return e;
    }
    *out = (sn_kept){sn_alloc(n), n};
    if (out->ptr)
        return SEINE_OK;
    if (w->opts.budget)
        seine_budget_shrink(&w->held, SEINE_RES_MEMORY, n);
    return SEINE_E_NOMEM;
}

seine_err
sn_conn_keep(sn_conn *c, sn_str piece, sn_str in)
{
    sn_socket_transport *w = c->of;
    sn_body_decoder *u = c->reader->unpack;
    size_t n = piece.len + in.len;

    assert(piece.len == 0 || in.len == 0 || piece.ptr + piece.len == in.ptr);
    u->n_piece = piece.len;
    u->n_kept = n;
    if (n == 0)
        return SEINE_OK;
    if (w->lent.ptr) { /* it belongs to what was kept before */
        u->kept = w->lent;
        w->lent.ptr = NULL;
        return SEINE_OK;
    }
    seine_err e = take_memory(w, n, &u->kept);
    if (e == SEINE_OK)
        memcpy(u->kept.ptr, piece.len > 0 ? piece.ptr : in.ptr, n);
    return e;
}

void
sn_conn_lend(sn_conn *c, sn_str *out_piece, sn_str *out_in)
{
    sn_body_decoder *u = c->reader->unpack;
    sn_kept *k = &c->of->lent;

    *k = u->kept;
    u->kept.ptr = NULL;
    const char *from = k->ptr ? k->ptr + k->room - u->n_kept : "";
    *out_piece = (sn_str){from, u->n_piece};
    *out_in = (sn_str){from + u->n_piece, u->n_kept - u->n_piece};
}

void
sn_socket_transport_take_back(sn_socket_transport *w)
{
    give_back(w, &w->lent);
}

void
sn_conn_next_share(sn_conn *c, size_t room)
{
    if (c->reader && c->reader->unpack)
        c->reader->unpack->room = room < SN_SOCKET_TRANSPORT_ROOM ? room : (size_t)SHARE;
}
