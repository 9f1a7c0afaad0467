/* SPDX-License-Identifier: Apache-2.0 */
#include "net/conn.h"

#include <netinet/tcp.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/time.h"
#include "net/conn_parts.h"
#include "seine/secret.h"

_Static_assert(sizeof(sn_conn) == 304, "conn.h says so");
_Static_assert(sizeof(sn_reader) == 296, "docs/internals/conn.md says so");

#define SPARE      1024
#define DRAIN_MOST 65536         /* most bytes of an unwanted body that are read … */
#define DRAIN_TIME SEINE_SECS(1) /* … and the longest time */
#define GONE       (EPOLLRDHUP | EPOLLHUP | EPOLLERR)

static void ready(sn_watch *watch, uint32_t events);
static void on_idle_timeout(sn_timer *t, seine_time now);

size_t
sn_sockaddr_of(const sn_ip *ip, uint16_t port, union sn_sockaddr *out_address)
{
    if (ip->v == 4) {
        out_address->v4 =
            (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
        memcpy(&out_address->v4.sin_addr, ip->bytes, 4);
        return sizeof out_address->v4;
    }
    out_address->v6 =
        (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(port)};
    memcpy(&out_address->v6.sin6_addr, ip->bytes, 16);
    return sizeof out_address->v6;
}

/* Maps the errno of a failed connect. */
static seine_err
error_of(int why)
{
    switch (why) {
    case ECONNREFUSED:
    case ECONNRESET:
        return SEINE_E_CONNECT_REFUSED;
    case ETIMEDOUT:
        return SEINE_E_CONNECT_TIMEOUT;
    case EMFILE:
    case ENFILE:
        return SEINE_E_NO_FILES;
    case EAGAIN:
        return SEINE_E_NO_PORTS;
    case ENOMEM:
    case ENOBUFS:
        return SEINE_E_NOMEM;
    default:
        return SEINE_E_CONNECT_UNREACHABLE;
    }
}

static sn_conn *
make_conn(sn_socket_transport *w)
{
    sn_conn *c = w->spare.conns;

    if (c) {
        w->spare.conns = c->next;
        w->spare.n_conns--;
    } else {
        c = sn_zalloc(sizeof *c);
        if (!c)
            return NULL;
        if (sn_timer_reserve(&w->loop) != SEINE_OK) {
            sn_free(c);
            return NULL;
        }
    }
    sn_timer timer = c->timer;
    *c = (sn_conn){.watch = {ready}, .timer = timer, .of = w, .fd = -1};
    c->timer.fire = on_idle_timeout;
    return c;
}

static void
spare(sn_conn *c)
{
    sn_socket_transport *w = c->of;

    if (w->spare.n_conns == SPARE) {
        sn_timer_forget(&w->loop, &c->timer);
        sn_free(c);
        return;
    }
    c->next = w->spare.conns;
    w->spare.conns = c;
    w->spare.n_conns++;
}

static bool
close_longest_idle(sn_socket_transport *w)
{
    sn_pooled_conn *i = sn_conn_pool_oldest(&w->idle);

    if (!i)
        return false;
    sn_conn_close((sn_conn *)(void *)((char *)i - offsetof(sn_conn, idle)));
    return true;
}

/* Sets TCP_USER_TIMEOUT, rounded up to whole seconds. */
static void
be_patient(sn_conn *c, seine_span left)
{
    seine_span s = left / SEINE_SECS(1) + 1;
    unsigned ms;

    if (left <= (seine_span)c->patience_s * SEINE_SECS(1))
        return;
    c->patience_s = s < 86400 ? (uint32_t)s : 86400;
    ms = c->patience_s * 1000;
    setsockopt(c->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &ms, sizeof ms);
}

static seine_err
open_socket(sn_conn *c, int family)
{
    int kind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, yes = 1;

    c->fd = socket(family, kind, 0);
    if (c->fd < 0 && (errno == EMFILE || errno == ENFILE) && close_longest_idle(c->of))
        c->fd = socket(family, kind, 0);
    if (c->fd < 0)
        return error_of(errno);
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return SEINE_OK;
}

/* EADDRNOTAVAIL has two causes: no port is free, or, mostly with IPv6, no own address can
 * reach the peer. Connecting a UDP socket fails only for the second cause. */
static bool
has_source(const union sn_sockaddr *at, size_t n)
{
    int fd = socket(at->any.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    bool has = fd < 0 || connect(fd, &at->any, (socklen_t)n) == 0;

    if (fd >= 0)
        close(fd);
    return has;
}

static seine_err
reach(sn_conn *c, uint16_t port, seine_span patience, bool *out_now)
{
    union sn_sockaddr at;
    size_t n = sn_sockaddr_of(&c->peer, port, &at);
    seine_err e = open_socket(c, at.any.sa_family);

    if (e != SEINE_OK)
        return e;
    be_patient(c, patience);
    *out_now = connect(c->fd, &at.any, (socklen_t)n) == 0;
    if (!*out_now && errno == EADDRNOTAVAIL)
        return has_source(&at, n) ? SEINE_E_NO_PORTS : SEINE_E_CONNECT_UNREACHABLE;
    if (!*out_now && errno != EINPROGRESS)
        return error_of(errno);
    return sn_loop_add(&c->of->loop, c->fd, &c->watch);
}

seine_err
sn_conn_open(sn_socket_transport *w, const sn_ip *ip, uint16_t port, seine_span patience,
             sn_conn **out_conn, bool *out_now)
{
    if (w->stats.open >= w->opts.max_connections && !close_longest_idle(w))
        return SEINE_E_NO_FILES;
    sn_conn *c = make_conn(w);
    if (!c)
        return SEINE_E_NOMEM;
    c->peer = *ip;
    c->born = w->loop.now;
    seine_err e = reach(c, port, patience, out_now);
    if (e != SEINE_OK) {
        if (c->fd >= 0)
            close(c->fd);
        spare(c);
        return e;
    }
    w->stats.opened++;
    w->stats.open++;
    c->next = w->conns;
    c->prev = &w->conns;
    if (c->next)
        c->next->prev = &c->next;
    w->conns = c;
    *out_conn = c;
    return SEINE_OK;
}

void
sn_conn_unready(sn_conn *c)
{
    sn_socket_transport *w = c->of;

    if (!c->ready_prev)
        return;
    *c->ready_prev = c->ready_next;
    if (c->ready_next)
        c->ready_next->ready_prev = c->ready_prev;
    else if (w->slowed.end == &c->ready_next)
        w->slowed.end = c->ready_prev;
    c->ready_prev = NULL;
}

/* There is more to read or to send, in the next turn. */
void
sn_conn_later(sn_conn *c)
{
    sn_socket_transport *w = c->of;

    if (c->ready_prev)
        return;
    c->ready_next = w->ready;
    c->ready_prev = &w->ready;
    if (c->ready_next)
        c->ready_next->ready_prev = &c->ready_next;
    w->ready = c;
}

static void
drop_rest(sn_conn *c)
{
    if (c->rest)
        seine_wipe(c->rest, c->rest_len);
    sn_free(SN_STEAL(c->rest));
    c->rest_at = c->rest_len = 0;
    c->unsent = false;
}

void
sn_conn_close(sn_conn *c)
{
    sn_socket_transport *w = c->of;

    if (c->idle.origin)
        sn_conn_pool_drop(&w->idle, &c->idle);
    sn_conn_unready(c);
    sn_conn_unread(c);
    sn_conn_untunnel(c);
    sn_conn_drop_tls(c);
    drop_rest(c);
    sn_timer_clear(&c->timer);
    sn_loop_del(&w->loop, c->fd, &c->watch);
    close(c->fd);
    *c->prev = c->next;
    if (c->next)
        c->next->prev = c->prev;
    if (c->origin)
        sn_conn_pool_leave(&w->idle, c->origin);
    if (w->fed == c)
        w->fed = NULL;
    w->stats.closed++;
    w->stats.open--;
    spare(c);
}

static void
on_idle_timeout(sn_timer *t, seine_time now)
{
    (void)now;
    sn_conn_close((sn_conn *)(void *)((char *)t - offsetof(sn_conn, timer)));
}

void
sn_conn_judged(sn_conn *c, const sn_request *q)
{
    c->judged = c->of->guard_version + 1;
    c->judged_ceiling = (uint8_t)q->ceiling;
    c->judged_pin = (uint8_t)q->pin;
}

/* Only the proxy knows the peer, which stays the one it was when it was judged. */
static bool
was_judged_for(const sn_conn *c, const sn_request *q)
{
    return !q->judge ||
           (c->judged > 0 && c->judged_ceiling <= q->ceiling && c->judged_pin <= q->pin);
}

seine_err
sn_conn_judge(sn_conn *c, const sn_request *q)
{
    const sn_socket_transport *w = c->of;
    union sn_sockaddr at;

    if (c->peer.v == 0)
        return was_judged_for(c, q) ? SEINE_OK : SEINE_E_BLOCKED_ADDRESS;
    if (c->judged == w->guard_version + 1 && c->judged_ceiling == q->ceiling &&
        c->judged_pin == q->pin)
        return SEINE_OK;
    sn_sockaddr_of(&c->peer, (uint16_t)seine_url_port(q->url), &at);
    seine_err e = sn_address_guard_check(&w->zones, &at.any, q->ceiling, q->pin);
    if (e != SEINE_OK)
        return e;
    c->zone = sn_address_guard_zone(&w->zones, &at.any);
    sn_conn_judged(c, q);
    return SEINE_OK;
}

static bool
may_stay(const sn_conn *c)
{
    return !c->unsent && !c->broken && !c->hung_up && !c->unread;
}

/* Returns how long the connection may be idle; 0: close it now. */
static seine_span
idle_for(const sn_conn *c)
{
    const sn_socket_transport *w = c->of;
    sn_read read = sn_conn_has_read(c);
    seine_span span = w->opts.idle_time;

    if (!may_stay(c) || !read.is_reusable || c->origin->no_reuse ||
        c->served >= w->opts.max_requests)
        return 0;
    if (read.keep_alive_s != UINT32_MAX)
        span =
            sn_time_min(span, SEINE_SECS((seine_span)read.keep_alive_s) - SEINE_SECS(1));
    span = sn_time_min(span, sn_time_add(c->born, w->opts.max_age) - w->loop.now);
    return sn_time_max(span, 0);
}

/* Keeps the connection as idle for `span`; 0: closes it. */
static void
make_idle(sn_conn *c, seine_span span)
{
    sn_socket_transport *w = c->of;

    if (span == 0) {
        sn_conn_close(c);
        return;
    }
    sn_conn_unread(c);
    if (c->state != SN_CONN_TRIAL)
        c->since = w->loop.now;
    c->state = SN_CONN_IDLE;
    sn_timer_set(&w->loop, &c->timer, sn_time_add(w->loop.now, span));
    sn_pooled_conn *gone = sn_conn_pool_put(&w->idle, c->origin, &c->idle);
    if (gone)
        sn_conn_close((sn_conn *)(void *)((char *)gone - offsetof(sn_conn, idle)));
}

void
sn_conn_rest(sn_conn *c)
{
    make_idle(c, idle_for(c));
}

/* The connection is open, and its request was not sent. That counts as a use: the peer
 * may have closed it before the next one. */
static void
keep_unused(sn_conn *c)
{
    c->served = 1;
    make_idle(c, may_stay(c) && !c->origin->no_reuse ? c->of->opts.idle_time : 0);
}

/* True if the caller wants no more and only a little of the body is left. */
static bool
may_drain(const sn_conn *c, seine_err e)
{
    const sn_reader *r = c->reader;

    return seine_err_class(e) == SEINE_LOCAL && r && r->has_head &&
           r->h1.err == SEINE_OK && r->h1.framing == SN_H1_LENGTH &&
           r->h1.left <= DRAIN_MOST && may_stay(c);
}

static uint32_t
whole_us(seine_span span)
{
    return (uint32_t)sn_time_min(span / SEINE_US(1), UINT32_MAX);
}

void
sn_conn_note_wait(sn_conn *c)
{
    const seine_span *spent = c->x->spent;
    uint32_t us = whole_us(spent[SEINE_PHASE_SEND] + spent[SEINE_PHASE_HEAD]);

    if (us > c->origin->first_byte_us)
        c->origin->first_byte_us = us;
    if (c->x->reused && us > c->origin->used_byte_us)
        c->origin->used_byte_us = us;
}

/* Notes how long it took from the first byte of the request to the end of the response.
 */
static void
note_times(sn_conn *c)
{
    const seine_span *spent = c->x->spent;

    c->took_us = whole_us(spent[SEINE_PHASE_SEND] + spent[SEINE_PHASE_HEAD] +
                          spent[SEINE_PHASE_BODY]);
    sn_conn_note_wait(c);
}

void
sn_conn_leave(sn_conn *c, seine_err e)
{
    note_times(c);
    c->origin->on_used -= c->x->reused;
    c->x = NULL;
    if (e == SEINE_OK) {
        sn_conn_rest(c);
    } else if (c->state == SN_CONN_HANDSHAKE && c->step == SN_CONN_STEPS) {
        keep_unused(c);
    } else if (c->state == SN_CONN_BUSY && may_drain(c, e)) {
        sn_conn_drop_body(c);
        c->state = SN_CONN_DRAINING;
        sn_timer_set(&c->of->loop, &c->timer, c->of->loop.now + DRAIN_TIME);
    } else {
        sn_conn_close(c);
    }
}

static void
sent_whole(sn_conn *c)
{
    drop_rest(c);
    if (c->reader && c->reader->has_head)
        sn_conn_begin_body(c);
    else
        sn_exchange_enter(c->x, SEINE_PHASE_HEAD, c->x->request->limits->time.head);
}

/* Tells the handler, once, that a part of the request was sent. */
static void
note_sent(sn_exchange *x)
{
    if (x->sent)
        return;
    x->sent = true;
    if (x->handler.ops->sent)
        x->handler.ops->sent(x->handler.arg);
}

/* Sends the rest of the request. After a failure there may still be a response to
 * read. */
static void
say(sn_conn *c)
{
    sn_str body = c->x->request->body;
    size_t room = SN_SOCKET_TRANSPORT_ROOM;

    while (c->rest_at < c->rest_len || c->body_at < body.len) {
        bool in_head = c->rest_at < c->rest_len;
        sn_str next = in_head ? (sn_str){c->rest + c->rest_at, c->rest_len - c->rest_at}
                              : (sn_str){body.ptr + c->body_at, body.len - c->body_at};

        if (room == 0) {
            sn_conn_later(c);
            return;
        }
        ssize_t n = sn_conn_put(c, next.ptr, next.len < room ? next.len : room);
        if (n < 0) {
            c->broken = !sn_conn_is_later(errno);
            return;
        }
        note_sent(c->x);
        room -= (size_t)n;
        *(in_head ? &c->rest_at : &c->body_at) += (size_t)n;
    }
    sent_whole(c);
}

void
sn_conn_resume(sn_conn *c)
{
    sn_conn_unready(c);
    if (c->x && c->x->why != SEINE_OK)
        return;
    if (c->state == SN_CONN_HANDSHAKE) {
        sn_conn_handshake(c);
        return;
    }
    if (c->unsent && !c->broken)
        say(c);
    if (c->unread || c->broken)
        sn_conn_read(c);
}

/* Copies the part that is not sent yet, because TLS must be given the same bytes again. A
 * body that is sent from the caller's memory is not copied. */
static seine_err
keep_rest(sn_conn *c, sn_str text, size_t n)
{
    const sn_request *q = c->x->request;
    c->body_at = sn_request_is_apart(q) ? 0 : q->body.len;
    c->rest_at = 0;
    c->rest_len = text.len - n;
    if (c->rest_len == 0)
        return SEINE_OK;
    c->rest = sn_alloc(c->rest_len);
    if (!c->rest)
        return SEINE_E_NOMEM;
    memcpy(c->rest, text.ptr + n, c->rest_len);
    return SEINE_OK;
}

void
sn_conn_ask(sn_conn *c, sn_exchange *x, sn_str text)
{
    seine_err e;

    x->reused = c->served++ > 0;
    c->origin->on_used += x->reused;
    x->conn = c;
    c->x = x;
    c->state = SN_CONN_BUSY;
    be_patient(c, sn_time_sub(x->request->deadline, c->of->loop.now));
    ssize_t n = sn_conn_put(c, text.ptr, text.len);
    if (n > 0 || c->tls) /* TLS may have sent a part of it */
        note_sent(x);
    if (n == (ssize_t)text.len && !sn_request_is_apart(x->request)) {
        sn_exchange_enter(x, SEINE_PHASE_HEAD, x->request->limits->time.head);
        return;
    }
    c->unsent = true;
    sn_exchange_enter(x, SEINE_PHASE_SEND, x->request->limits->time.send);
    c->broken = n < 0 && !sn_conn_is_later(errno);
    if (!c->broken) {
        e = keep_rest(c, text, n > 0 ? (size_t)n : 0);
        if (e != SEINE_OK) {
            sn_exchange_end(x, e);
            return;
        }
        say(c); /* until the kernel takes no more: an event follows */
    }
    if (c->broken)
        sn_conn_read(c);
}

static void
connected(sn_conn *c, uint32_t events)
{
    socklen_t n = sizeof(int);
    int why = 0;

    if (events & (EPOLLERR | EPOLLHUP))
        getsockopt(c->fd, SOL_SOCKET, SO_ERROR, &why, &n);
    if (why != 0)
        sn_dial_heard(c, error_of(why));
    else if (events & EPOLLOUT)
        sn_dial_heard(c, SEINE_OK);
}

static void
ready(sn_watch *watch, uint32_t events)
{
    sn_conn *c = (sn_conn *)(void *)watch;
    bool speaks = events & (EPOLLIN | GONE);

    if (c->tls) {
        sn_tls_event(c->tls, events & GONE);
        speaks = speaks || sn_tls_wants_out(c->tls);
    }
    if (c->state == SN_CONN_CONNECTING) {
        connected(c, events);
        return;
    }
    if (c->state == SN_CONN_IDLE) {
        if (speaks && !sn_conn_probe(c))
            sn_conn_close(c);
        return;
    }
    c->hung_up = c->hung_up || (events & GONE);
    if (c->x && c->x->why != SEINE_OK)
        return;
    if (c->state == SN_CONN_TRIAL) {
        if (speaks && !sn_conn_probe(c))
            sn_conn_end_trial(c, false);
        return;
    }
    if (c->state == SN_CONN_HANDSHAKE) {
        sn_conn_handshake(c);
        return;
    }
    if (c->unsent && !c->broken && (events & (EPOLLOUT | EPOLLERR | EPOLLHUP)))
        say(c);
    if (!speaks && !c->broken)
        return;
    if (c->ready_prev && c->unread)
        c->missed = true;
    else
        sn_conn_read(c);
}
