/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/connection.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/time.h"

#define BODY   65536         /* bytes of a request's body that are kept */
#define LINGER SEINE_SECS(2) /* how long we wait for the client's FIN */

#define GUEST_OF(member, p) \
    ((snc_connection *)(void *)((char *)(p)-offsetof(snc_connection, member)))

/* Notes the end and closes the descriptor; run_connection frees the connection. */
static void
close_now(snc_connection *c)
{
    if (c->dead)
        return;
    snc_connection_end(c, false, false, c->half || c->gone);
    snc_alarm_stop(&c->server->alarms, &c->alarm);
    close(c->fd);
    c->dead = true;
}

void
snc_connection_reset(snc_connection *c)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};

    if (c->dead)
        return;
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    snc_connection_end(c, false, true, false);
    close_now(c);
}

void
snc_connection_alarm(snc_connection *c, seine_time due)
{
    if (snc_alarm_set(&c->server->alarms, &c->alarm, due) != SEINE_OK)
        snc_connection_reset(c);
}

/* False: the close_notify must wait until the socket is writable. */
static bool
say_goodbye(snc_connection *c)
{
    return snc_tls_close(c->tls) && (!c->outer || snc_tls_close(c->outer));
}

void
snc_connection_fin(snc_connection *c)
{
    if (c->tls && !c->unclean && !say_goodbye(c)) {
        c->state = SNC_CONNECTION_CLOSE;
        c->writable = false;
        return;
    }
    shutdown(c->fd, SHUT_WR);
    c->state = SNC_CONNECTION_LINGER;
    c->readable = true;
    snc_connection_alarm(c, sn_time_add(c->server->now, LINGER));
}

void
snc_connection_idled(snc_connection *c)
{
    static const char late[] = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"
                               "Content-Length: 0\r\n\r\n";
    snc_idle end = c->idle_end;

    c->idle_end = SNC_IDLE_KEEP;
    if (end == SNC_IDLE_RST) {
        snc_connection_reset(c);
        return;
    }
    if (end == SNC_IDLE_BYTES && snc_connection_write(c, late, sizeof late - 1) < 0)
        c->gone = true;
    snc_connection_fin(c);
}

void
snc_connection_register(snc_connection *c)
{
    snc_world *w = &c->server->world;

    if (c->epoch == w->epoch && c->address)
        return;
    c->epoch = w->epoch;
    c->host = NULL;
    c->address = snc_witness_address(&w->witness, sn_str_of(c->own));
    snc_host_open(c->address);
}

static void
at_host(snc_connection *c, snc_host *host)
{
    if (!host || host == c->host)
        return;
    snc_host_close(c->host);
    snc_host_open(host);
    c->host = host;
}

snc_visitor
snc_connection_visitor(const snc_connection *c)
{
    return (snc_visitor){.connection = c->id,
                         .nth = c->nth,
                         .address = c->address,
                         .peer = sn_str_of(c->peer),
                         .own = sn_str_of(c->own),
                         .tunnelled = c->tunnelled,
                         .tls = c->tls ? snc_tls_facts_of(c->tls) : NULL,
                         .body = sn_buf_view(&c->body),
                         .body_len = c->body_len,
                         .wall = c->server->wall};
}

/* A whole request has arrived. */
static void
dispatch(snc_connection *c, const snc_request *req)
{
    snc_server *s = c->server;

    snc_connection_register(c);
    c->nth++;
    snc_visitor visitor = snc_connection_visitor(c);
    if (snc_world_request(&s->world, &visitor, req, c->arrived, &s->response,
                          &c->trace) != SEINE_OK) {
        snc_connection_reset(c);
        return;
    }
    if (c->epoch == s->world.epoch)
        at_host(c, c->trace.seen.host);
    snc_connection_respond(c);
}

static void
refuse_request(snc_connection *c, const char *why)
{
    c->in_body = false;
    c->trace = (snc_trace){.epoch = 0};
    snc_world_bad(&c->server->world, why, &c->server->response);
    snc_connection_respond(c);
}

/* Takes bytes of the body from the front of `rest`. */
static void
feed(snc_connection *c, sn_str *rest)
{
    sn_str piece;
    snc_parsed got = SNC_PARSED_MORE;

    while (got == SNC_PARSED_MORE && rest->len > 0) {
        got = snc_request_body_feed(&c->incoming, rest, &piece);
        size_t room = BODY - c->body.len;
        sn_buf_str(&c->body, sn_str_slice(piece, 0, room));
        c->body_len += piece.len;
    }
    if (got == SNC_PARSED_MORE)
        return;
    c->in_body = false;
    if (got == SNC_PARSED_BAD)
        refuse_request(c, c->incoming.why);
    else if (snc_request_head(&c->server->req, sn_buf_view(&c->head)) == SNC_PARSED_OK)
        dispatch(c, &c->server->req);
    sn_buf_fini(&c->head);
    sn_buf_fini(&c->body);
}

static void
begin_body(snc_connection *c, const snc_request *req, sn_str bytes, sn_str *rest)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

    c->incoming = snc_request_body_of(req);
    c->in_body = true;
    c->body_len = 0;
    sn_buf_init(&c->body, BODY);
    sn_buf_init(&c->head, SNC_REQUEST_HEAD);
    sn_buf_add(&c->head, bytes.ptr, req->head_len);
    if (sn_buf_done(&c->head) != SEINE_OK) {
        snc_connection_reset(c);
        return;
    }
    if (req->continues && rest->len == 0 &&
        snc_connection_write(c, go_on, sizeof go_on - 1) < 0)
        c->gone = true;
    feed(c, rest);
}

/* Takes one request, or a part of one, from the front of `bytes`; returns the rest. */
static sn_str
eat_request(snc_connection *c, sn_str bytes)
{
    snc_request *req = &c->server->req;
    sn_str rest = bytes;

    if (c->in_body) {
        feed(c, &rest);
        return rest;
    }
    if (c->socks)
        return snc_connection_socks(c, bytes);
    switch (snc_request_head(req, bytes)) {
    case SNC_PARSED_MORE:
        c->need_more = true;
        return bytes;
    case SNC_PARSED_BAD:
        refuse_request(c, req->why);
        return (sn_str){NULL, 0};
    default:
        break;
    }
    rest = sn_str_slice(bytes, req->head_len, bytes.len);
    c->body_len = 0;
    if (req->connect)
        snc_connection_connect(c, req);
    else if ((!req->chunked && req->length == 0) ||
             snc_url_words_hold(req->path, SN_STR("noread")))
        dispatch(c, req);
    else
        begin_body(c, req, bytes, &rest);
    return rest;
}

/* Takes requests from the bytes that were read earlier. */
static void
eat_kept(snc_connection *c)
{
    sn_str rest;

    c->need_more = false;
    rest = eat_request(c, sn_buf_view(&c->in));
    if (c->dead)
        return;
    if (rest.len == 0)
        sn_buf_fini(&c->in);
    else
        sn_buf_drop(&c->in, c->in.len - rest.len);
}

static void
eat_new(snc_connection *c, sn_str bytes)
{
    if (c->in.len == 0) {
        sn_str rest = eat_request(c, bytes);

        if (c->dead || rest.len == 0)
            return;
        sn_buf_init(&c->in, (size_t)2 * SNC_REQUEST_HEAD);
        sn_buf_str(&c->in, rest);
    } else {
        sn_buf_str(&c->in, bytes);
        if (sn_buf_done(&c->in) == SEINE_OK)
            eat_kept(c);
    }
    if (!c->dead && sn_buf_done(&c->in) != SEINE_OK)
        snc_connection_reset(c);
}

/* True: bytes were read. */
static bool
step_read(snc_connection *c)
{
    snc_server *s = c->server;

    if (c->state == SNC_CONNECTION_READ && c->in.len > 0 && !c->need_more) {
        eat_kept(c);
        return true;
    }
    if (!c->readable)
        return false;

    ssize_t n = snc_connection_receive(c, s->in, sizeof s->in);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        c->readable = errno == EINTR;
        return c->readable;
    }
    if (n <= 0) {
        close_now(c);
        return false;
    }
    if (c->state == SNC_CONNECTION_LINGER)
        return true;
    c->readable = (size_t)n == sizeof s->in || c->half || c->tls;
    if (c->idle_end != SNC_IDLE_KEEP) {
        snc_alarm_stop(&s->alarms, &c->alarm);
        c->idle_end = SNC_IDLE_KEEP;
    }
    eat_new(c, (sn_str){s->in, (size_t)n});
    return true;
}

static void
run_connection(snc_connection *c)
{
    bool more = true;

    while (more && !c->dead) {
        more = c->state == SNC_CONNECTION_GREET && snc_connection_greeted(c);
        if (!c->dead && c->state == SNC_CONNECTION_CLOSE && c->writable)
            snc_connection_fin(c);
        if (!c->dead && c->state == SNC_CONNECTION_CLOSE && c->gone)
            close_now(c);
        if (c->dead)
            break;
        if (c->state == SNC_CONNECTION_READ || c->state == SNC_CONNECTION_LINGER)
            more |= step_read(c);
        if (!c->dead && c->state == SNC_CONNECTION_SEND)
            more |= snc_connection_send(c);
        if (!c->dead && (c->response || c->state == SNC_CONNECTION_HOLD) &&
            (c->gone || c->half))
            close_now(c);
    }
    if (c->dead)
        snc_connection_free(c);
}

static void
on_ready(snc_watch *watch, uint32_t events)
{
    snc_connection *c = GUEST_OF(watch, watch);

    c->readable |= (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    c->writable |= (events & EPOLLOUT) != 0;
    c->half |= (events & (EPOLLRDHUP | EPOLLHUP)) != 0;
    c->gone |= (events & (EPOLLHUP | EPOLLERR)) != 0;
    run_connection(c);
}

static void
on_alarm(snc_alarm *alarm)
{
    snc_connection *c = GUEST_OF(alarm, alarm);

    switch (c->state) {
    case SNC_CONNECTION_WAIT:
        if (c->sent == 0)
            snc_world_begin(&c->server->world, &c->trace, c->server->now);
        c->state = SNC_CONNECTION_SEND;
        break;
    case SNC_CONNECTION_DRAIN:
        snc_connection_drain(c);
        break;
    case SNC_CONNECTION_LINGER:
        close_now(c);
        break;
    case SNC_CONNECTION_READ:
        if (c->idle_end != SNC_IDLE_KEEP)
            snc_connection_idled(c);
        break;
    default:
        break;
    }
    run_connection(c);
}

static void
name_address(char *out, size_t room, const struct sockaddr_in *a, bool port)
{
    uint32_t ip = ntohl(a->sin_addr.s_addr);
    int n = snprintf(out, room, "%u.%u.%u.%u", ip >> 24, ip >> 16 & 255, ip >> 8 & 255,
                     ip & 255);

    if (port)
        snprintf(out + n, room - (size_t)n, ":%u", ntohs(a->sin_port));
}

void
snc_connection_new(const snc_door *door, int fd, const struct sockaddr_in *peer)
{
    snc_server *s = door->server;
    snc_connection *c = sn_zalloc(sizeof *c);
    struct sockaddr_in own = {.sin_family = AF_INET};
    socklen_t len = sizeof own;

    if (!c) {
        close(fd);
        return;
    }
    getsockname(fd, (struct sockaddr *)&own, &len);
    c->watch.ready = on_ready;
    c->alarm.ring = on_alarm;
    c->server = s;
    c->fd = fd;
    c->id = ++s->next_id;
    c->state = SNC_CONNECTION_READ;
    name_address(c->peer, sizeof c->peer, peer, true);
    name_address(c->own, sizeof c->own, &own, false);
    if (snc_server_watch(s, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, &c->watch) !=
        SEINE_OK) {
        close(fd);
        sn_free(c);
        return;
    }
    c->next = s->connections;
    if (c->next)
        c->next->prev = c;
    s->connections = c;
    s->open++;
    s->world.witness.connections++;
    if (++s->world.witness.open > s->world.witness.peak_open)
        s->world.witness.peak_open = s->world.witness.open;
    snc_connection_register(c);
    if (door->kind == SNC_DOOR_HTTPS)
        snc_connection_greet(c);
    if (door->kind == SNC_DOOR_SOCKS && !(c->socks = sn_zalloc(sizeof *c->socks)))
        snc_connection_reset(c);
    if (c->dead)
        snc_connection_free(c);
}

void
snc_connection_free(snc_connection *c)
{
    snc_server *s = c->server;

    close_now(c);
    if (c->epoch == s->world.epoch) {
        snc_host_close(c->host);
        snc_host_close(c->address);
    }
    s->world.witness.open--;
    s->open--;
    if (c->next)
        c->next->prev = c->prev;
    *(c->prev ? &c->prev->next : &s->connections) = c->next;
    sn_buf_fini(&c->in);
    sn_buf_fini(&c->head);
    sn_buf_fini(&c->body);
    sn_buf_fini(&c->early);
    snc_tls_line_free(c->tls);
    snc_tls_line_free(c->outer);
    sn_free(c->socks);
    sn_free(c);
}
