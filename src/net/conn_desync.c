/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes that belong to no request. A server that sends more than its response says puts
 * them where the next response of the connection is expected. From then on requests and
 * responses are out of step (desync): a response may answer another request.
 *
 * Such bytes are found before the next request (sn_conn_probe), with the response that
 * they follow, or in the place of the next response. Wherever they are found, the origin
 * gets no reuse from there on, and a request whose response is in doubt is stale: the
 * engine sends it again on a new connection.
 *
 * A whole response that came too early looks like the right one until the right one
 * follows. While several used connections of an origin are busy, and few of them were in
 * step so far, a response on one of them is on trial: its exchange ends when the right
 * one would have followed.
 */
#include <string.h>

#include "base/time.h"
#include "net/conn_parts.h"

#define STATUS_LEN   12 /* HTTP/1.1 408 */
#define CLEAN_FACTOR 4  /* this many in step for each busy one are proof */
#define TRIAL_LEAST  SEINE_MS(1)
#define TRIAL_MOST   SEINE_MS(250)

bool
sn_is_request_timeout(sn_str bytes)
{
    return bytes.len >= STATUS_LEN && memcmp(bytes.ptr, "HTTP/1.", 7) == 0 &&
           memcmp(bytes.ptr + 8, " 408", 4) == 0;
}

/* Reads at most `room` bytes that an idle connection received, like recv. Of TLS, which
 * may have received no more than a ticket, the socket alone is asked first. */
static ssize_t
peek(sn_conn *c, char *into, size_t room)
{
    ssize_t n = recv(c->fd, into, room, MSG_PEEK);

    if (!c->tls || (n < 0 && sn_conn_is_later(errno) && !sn_tls_has_more(c->tls)))
        return n;
    sn_tls_event(c->tls, false);
    n = sn_tls_read(c->tls, into, room);
    if (n < 0 && errno == EAGAIN && sn_tls_has_more(c->tls))
        errno = EPROTO; /* it says a lot, and none of it is a response */
    return n;
}

bool
sn_conn_is_settled(const sn_conn *c)
{
    seine_span idle = c->of->loop.now - c->since;

    return idle > 0 && idle >= (seine_span)c->took_us * SEINE_US(1);
}

bool
sn_conn_probe(sn_conn *c)
{
    char bytes[16];
    ssize_t n = peek(c, bytes, sizeof bytes);

    if (n < 0 && sn_conn_is_later(errno))
        return true;
    if (n > 0 && !sn_is_request_timeout((sn_str){bytes, (size_t)n}))
        sn_conn_desync(c);
    return false;
}

static void
close_idle(sn_origin *o, const sn_conn *but)
{
    for (sn_pooled_conn *i = sn_conn_pool_newest(o), *below; i; i = below) {
        sn_conn *c = (sn_conn *)(void *)((char *)i - offsetof(sn_conn, idle));

        below = sn_conn_pool_below(i);
        if (c != but)
            sn_conn_close(c);
    }
}

/* Ends the exchanges on connections that were used before, even in the midst of their
 * response: what comes there is as doubtful. */
static void
doom_others(sn_socket_transport *w, const sn_origin *o, const sn_conn *but)
{
    for (sn_conn *c = w->conns; c; c = c->next) {
        sn_exchange *x = c->x;

        if (c == but || c->origin != o || !x || !x->reused || x->why != SEINE_OK)
            continue;
        x->replayable = sn_request_is_idempotent(x->request);
        if (x->replayable)
            sn_exchange_doom(x, SEINE_E_CONN_STALE);
    }
}

void
sn_conn_desync(sn_conn *c)
{
    sn_origin *o = c->origin;

    if (o->no_reuse)
        return;
    o->no_reuse = true;
    c->of->stats.desynced++;
    close_idle(o, c);
    doom_others(c->of, o, c);
}

/* True if a status line follows the one with which the head begins: the head was cut, and
 * a response follows the cut. */
static bool
has_second_status_line(const sn_head *head)
{
    const char *end = head->text + head->len, *at = head->text;

    if (head->len < STATUS_LEN)
        return false;
    while ((at = memchr(at + 1, 'H', (size_t)(end - at - 1))))
        if (end - at >= STATUS_LEN && memcmp(at, "HTTP/1.", 7) == 0 && at[8] == ' ' &&
            sn_is_digit(at[9]))
            return true;
    return false;
}

bool
sn_conn_doubts_head(sn_conn *c)
{
    const sn_h1 *h = &c->reader->h1;

    if (!c->x || !c->x->reused || c->reader->has_head)
        return false;
    if (h->err == SEINE_E_BAD_STATUS_LINE || has_second_status_line(h->head) ||
        sn_h1_never_ends(h)) {
        sn_conn_desync(c);
        return true;
    }
    return h->err == SEINE_OK && h->head->status == 408 && h->says_close;
}

bool
sn_conn_doubts_end(sn_conn *c)
{
    if (!sn_h1_has_extra(&c->reader->h1) || c->reader->is_408_behind)
        return false;
    sn_conn_desync(c);
    return c->x && c->x->reused;
}

static bool
needs_trial(const sn_conn *c)
{
    const sn_origin *o = c->origin;

    return c->x->reused && o->on_used > 1 && o->clean / CLEAN_FACTOR < o->on_used &&
           !o->no_reuse && !c->unsent && !c->broken && !c->hung_up &&
           sn_request_is_idempotent(c->x->request);
}

/* When would the right response have followed? A new connection, and a crowd of them,
 * lets wait for longer than one that was used. How long these wait is known when each of
 * those that are busy was in step once; before, the response may have come too early. */
static seine_span
trial_span(const sn_origin *o)
{
    uint32_t us = o->clean < o->on_used ? o->first_byte_us : o->used_byte_us;

    return sn_time_min(sn_time_max((seine_span)us * SEINE_US(1), TRIAL_LEAST),
                       TRIAL_MOST);
}

bool
sn_conn_begin_trial(sn_conn *c)
{
    if (!needs_trial(c))
        return false;
    sn_exchange_pause(c->x);
    sn_conn_note_wait(c);
    seine_span span = trial_span(c->origin);
    c->read = sn_conn_has_read(c);
    sn_conn_unread(c); /* thousands may be on trial at once */
    c->state = SN_CONN_TRIAL;
    c->since = c->of->loop.now;
    sn_exchange_limit(c->x, sn_time_add(c->since, span));
    return true;
}

void
sn_conn_end_trial(sn_conn *c, bool is_clean)
{
    c->hung_up = c->hung_up || !is_clean;
    sn_exchange_resume(c->x);
    sn_exchange_end(c->x, c->origin->no_reuse ? sn_conn_stale(c) : SEINE_OK);
}

seine_err
sn_conn_stale(sn_conn *c)
{
    sn_exchange *x = c->x;

    x->replayable = x->reused && sn_request_is_idempotent(x->request);
    c->of->stats.stale += x->reused;
    return x->replayable ? SEINE_E_CONN_STALE : SEINE_E_CONN_RESET;
}
