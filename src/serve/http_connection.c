/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/time.h"
#include "serve/http_server_parts.h"

/*
 * A connection works in steps until none makes progress: it parses what is buffered,
 * hands a whole request to the handler, and reads more only when nothing is left to
 * parse. What was answered is sent at the end, with one call of the system for all of
 * it. A handler may answer inside of a step or in a later turn.
 *
 * Whoever closes the connection leaves the struct to whoever still needs it: the steps
 * that are under way, and the call that is not answered yet.
 */
enum {
    PIECE = 2048,       /* bytes that are read at least */
    OUT_CAP = 4 << 20,  /* of answers that a client did not read yet */
    OUT_ENOUGH = 65536, /* with so many, no further request is handled */
    KEPT = 8192,        /* of a buffer that a connection keeps between requests */
    STEPS = 512,        /* in one turn */
    DROPPED = 1 << 20,  /* while lingering */
};
#define LINGER SEINE_SECS(1)

static void
set_timer(sn_http_connection *c, seine_span span)
{
    sn_timer_set(c->server->loop, &c->timer, sn_time_add(c->server->loop->now, span));
}

static void
leave_idle(sn_http_connection *c)
{
    sn_http_server *s = c->server;

    *(c->older ? &c->older->newer : &s->oldest) = c->newer;
    *(c->newer ? &c->newer->older : &s->newest) = c->older;
    c->older = c->newer = NULL;
}

static void
join_idle(sn_http_connection *c)
{
    sn_http_server *s = c->server;

    c->older = s->newest;
    *(s->newest ? &s->newest->newer : &s->oldest) = c;
    s->newest = c;
}

static seine_span
patience(const sn_http_connection *c)
{
    const sn_http_opts *o = &c->server->opts;

    switch (c->state) {
    case SN_HTTP_IDLE:
        return o->idle_timeout;
    case SN_HTTP_READING:
        return o->request_timeout;
    case SN_HTTP_HANDLING:
        return SEINE_NEVER;
    case SN_HTTP_ENDING:
        return o->write_timeout;
    default:
        return LINGER;
    }
}

/* The one place that changes the state. */
static void
enter(sn_http_connection *c, sn_http_state next)
{
    if (c->state == SN_HTTP_IDLE)
        leave_idle(c);
    if (c->state == SN_HTTP_HANDLING)
        c->server->busy--;
    c->state = next;
    if (next == SN_HTTP_IDLE)
        join_idle(c);
    if (next == SN_HTTP_HANDLING)
        c->server->busy++;
    set_timer(c, patience(c));
}

static void
release(sn_http_connection *c)
{
    *(c->prev ? &c->prev->next : &c->server->all) = c->next;
    if (c->next)
        c->next->prev = c->prev;
    sn_buf_fini(&c->in);
    sn_buf_fini(&c->out);
    sn_free(c);
}

static void
detach(sn_http_connection *c)
{
    sn_http_server *s = c->server;

    if (c->state == SN_HTTP_IDLE)
        leave_idle(c);
    if (c->state != SN_HTTP_HANDLING)
        c->state = SN_HTTP_LINGERING; /* in no list any more */
    sn_loop_del(s->loop, c->fd, &c->watch);
    sn_timer_forget(s->loop, &c->timer);
    close(c->fd);
    c->fd = -1;
    s->stats.open--;
}

void
sn_http_connection_close(sn_http_connection *c)
{
    detach(c);
    if (!c->is_working && c->state != SN_HTTP_HANDLING)
        release(c);
}

void
sn_http_connection_free(sn_http_connection *c)
{
    if (c->fd >= 0)
        detach(c);
    if (c->state == SN_HTTP_HANDLING)
        c->server->busy--;
    release(c);
}

/* True: all is away. */
static bool
flush(sn_http_connection *c)
{
    while (c->sent < c->out.len && !c->is_blocked) {
        ssize_t n = send(c->fd, c->out.ptr + c->sent, c->out.len - c->sent, MSG_NOSIGNAL);

        if (n >= 0) {
            c->sent += (size_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            c->is_blocked = true;
        } else if (errno != EINTR) {
            sn_http_connection_close(c);
            return false;
        }
    }
    if (c->sent < c->out.len)
        return false;
    c->sent = 0;
    sn_buf_reset(&c->out);
    if (c->out.room > KEPT) {
        sn_buf_fini(&c->out);
        sn_buf_init(&c->out, OUT_CAP);
    }
    return true;
}

/* Drops the requests that were answered. */
static void
compact(sn_http_connection *c)
{
    sn_buf_drop(&c->in, c->in_at);
    c->in_at = 0;
    if (c->in.len == 0 && c->in.room > KEPT) {
        size_t cap = c->in.cap;

        sn_buf_fini(&c->in);
        sn_buf_init(&c->in, cap);
    }
}

static void
took_bytes(sn_http_connection *c, size_t n, size_t asked)
{
    sn_buf_commit(&c->in, n);
    if (n < asked && !c->is_hung) /* no more was there; more is another event */
        c->is_readable = false;
}

/* Reads once. True: there is news. */
static bool
receive(sn_http_connection *c)
{
    if (!c->is_readable)
        return false;
    compact(c);
    size_t room = c->in.room > c->in.len + PIECE ? c->in.room - c->in.len - 1 : PIECE;
    char *at = sn_buf_reserve(&c->in, room);
    if (!at) {
        sn_http_connection_close(c);
        return false;
    }
    ssize_t n = recv(c->fd, at, room, 0);
    if (n > 0) {
        took_bytes(c, (size_t)n, room);
    } else if (n == 0) {
        c->is_at_end = true;
        c->is_readable = false;
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        c->is_readable = false;
        return false;
    } else if (errno != EINTR) {
        sn_http_connection_close(c);
    }
    return true;
}

/* Answers what is no request, and closes when the answer is away. */
static void
refuse(sn_http_connection *c, int status)
{
    sn_http_reply reply = {.status = status, .type = "text/plain", .close = true};
    char text[64];

    c->call.request.method = SN_STR(""); /* it may be half read */
    c->call.request.minor = 1;
    reply.body = sn_http_reason_line(status, text);
    sn_http_write_reply(c, &reply, false);
    enter(c, SN_HTTP_ENDING);
}

static void
begin_call(sn_http_connection *c)
{
    c->call.came = c->server->loop->now;
    c->call.own = NULL;
    c->server->stats.requests++;
    enter(c, SN_HTTP_HANDLING);
    c->server->opts.handle(&c->call, c->server->opts.arg);
}

static bool
wait_for_more(sn_http_connection *c)
{
    if (c->is_at_end) {
        enter(c, SN_HTTP_ENDING);
        return true;
    }
    if (c->state == SN_HTTP_IDLE &&
        !sn_http_reader_is_idle(&c->reader, c->in.len - c->in_at))
        enter(c, SN_HTTP_READING);
    if (c->reader.wants_continue && !c->is_half_told) {
        sn_buf_str(&c->out, SN_STR("HTTP/1.1 100 Continue\r\n\r\n"));
        c->is_half_told = true;
    }
    return receive(c);
}

static bool
step_request(sn_http_connection *c)
{
    size_t n = c->in.len - c->in_at;
    sn_http_event e = SN_HTTP_MORE;

    if (c->out.len - c->sent > OUT_ENOUGH && !flush(c))
        return false;
    if (n > 0)
        e = sn_http_read(&c->reader, c->in.ptr + c->in_at, n, &c->call.request);
    if (e == SN_HTTP_MORE)
        return wait_for_more(c);
    if (e == SN_HTTP_WHOLE) {
        begin_call(c);
    } else {
        c->server->stats.bad++;
        refuse(c, c->reader.status);
    }
    return true;
}

static bool
step_ending(sn_http_connection *c)
{
    if (!flush(c))
        return false;
    shutdown(c->fd, SHUT_WR);
    enter(c, SN_HTTP_LINGERING);
    return true;
}

/* What the client still sends is dropped, so that it reads the answer and no RST. */
static bool
step_lingering(sn_http_connection *c)
{
    char unread[4096];

    if (c->is_at_end || c->dropped > DROPPED) {
        sn_http_connection_close(c);
        return false;
    }
    if (!c->is_readable)
        return false;
    ssize_t n = recv(c->fd, unread, sizeof unread, 0);
    if (n > 0)
        c->dropped += (size_t)n;
    else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        c->is_readable = false;
    else if (n == 0 || errno != EINTR)
        c->is_at_end = true;
    return true;
}

/* True: progress was made. */
static bool
step(sn_http_connection *c)
{
    switch (c->state) {
    case SN_HTTP_IDLE:
    case SN_HTTP_READING:
        return step_request(c);
    case SN_HTTP_HANDLING:
        return false;
    case SN_HTTP_ENDING:
        return step_ending(c);
    default:
        return step_lingering(c);
    }
}

static void
work(sn_http_connection *c)
{
    unsigned steps = 0;

    if (c->is_yielding) {
        c->is_yielding = false;
        set_timer(c, patience(c));
    }
    c->is_working = true;
    while (c->fd >= 0 && steps < STEPS && step(c))
        steps++;
    if (c->fd >= 0)
        flush(c);
    c->is_working = false;
    if (c->fd < 0) {
        if (c->state != SN_HTTP_HANDLING)
            release(c);
    } else if (steps == STEPS && c->state != SN_HTTP_HANDLING) {
        c->is_yielding = true; /* the others have their turn first */
        sn_timer_set(c->server->loop, &c->timer, c->server->loop->now);
    }
}

void
sn_http_answer(sn_http_call *call, const sn_http_reply *reply)
{
    sn_http_connection *c =
        (sn_http_connection *)(void *)((char *)call - offsetof(sn_http_connection, call));

    if (c->fd < 0) { /* nobody waits for it */
        c->server->busy--;
        c->state = SN_HTTP_LINGERING;
        if (!c->is_working)
            release(c);
        return;
    }
    bool is_last = reply->close || !call->request.keeps || c->server->is_stopped;
    sn_http_write_reply(c, reply, !is_last);
    c->in_at += c->reader.used;
    sn_http_reader_next(&c->reader);
    c->is_half_told = false;
    enter(c, is_last ? SN_HTTP_ENDING : SN_HTTP_IDLE);
    if (sn_buf_done(&c->out) != SEINE_OK)
        sn_http_connection_close(c);
    else if (!c->is_working)
        work(c);
}

static void
on_event(sn_watch *w, uint32_t events)
{
    sn_http_connection *c =
        (sn_http_connection *)(void *)((char *)w - offsetof(sn_http_connection, watch));

    if (events & (EPOLLHUP | EPOLLERR)) {
        sn_http_connection_close(c);
        return;
    }
    c->is_hung |= (events & EPOLLRDHUP) != 0;
    c->is_readable |= (events & (EPOLLIN | EPOLLRDHUP)) != 0;
    if (events & EPOLLOUT)
        c->is_blocked = false;
    work(c);
}

static void
on_time(sn_timer *t, seine_time now)
{
    sn_http_connection *c =
        (sn_http_connection *)(void *)((char *)t - offsetof(sn_http_connection, timer));

    (void)now;
    if (c->is_yielding) {
        work(c);
    } else if (c->state == SN_HTTP_READING) {
        c->server->stats.timed_out++;
        refuse(c, 408);
        work(c);
    } else {
        sn_http_connection_close(c);
    }
}

void
sn_http_connection_new(sn_http_door *door, int fd, const struct sockaddr *peer,
                       socklen_t len)
{
    sn_http_server *s = door->server;
    sn_http_connection *c = sn_zalloc(sizeof *c);

    if (!c || sn_timer_reserve(s->loop) != SEINE_OK) {
        sn_free(c);
        close(fd);
        return;
    }
    c->server = s;
    c->fd = fd;
    c->watch.ready = on_event;
    c->timer.fire = on_time;
    memcpy(&c->peer, peer, len < sizeof c->peer ? len : sizeof c->peer);
    c->call.peer = (struct sockaddr *)&c->peer;
    c->call.door = door->door;
    c->reader.limits = s->opts.limits;
    sn_buf_init(&c->in, (size_t)s->opts.limits.head + s->opts.limits.body + 4 * PIECE);
    sn_buf_init(&c->out, OUT_CAP);
    c->next = s->all;
    if (s->all)
        s->all->prev = c;
    s->all = c;
    s->stats.accepted++;
    s->stats.open++;
    join_idle(c);
    set_timer(c, s->opts.idle_timeout);
    if (sn_loop_add(s->loop, fd, &c->watch) != SEINE_OK)
        sn_http_connection_close(c);
}
