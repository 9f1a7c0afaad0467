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

/* Also the way to close: everything is noted, the descriptor is gone, and whoever
 * runs the connection frees it. */
static void
close_now(snc_connection *g)
{
    if (g->dead)
        return;
    snc_connection_end(g, false, false, g->half || g->gone);
    snc_alarm_stop(&g->server->alarms, &g->alarm);
    close(g->fd);
    g->dead = true;
}

void
snc_connection_reset(snc_connection *g)
{
    struct linger now = {.l_onoff = 1, .l_linger = 0};

    if (g->dead)
        return;
    setsockopt(g->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    snc_connection_end(g, false, true, false);
    close_now(g);
}

void
snc_connection_alarm(snc_connection *g, seine_time due)
{
    if (snc_alarm_set(&g->server->alarms, &g->alarm, due) != SEINE_OK)
        snc_connection_reset(g);
}

/* False: it has to wait until the socket takes it. */
static bool
say_goodbye(snc_connection *g)
{
    return snc_tls_close(g->tls) && (!g->outer || snc_tls_close(g->outer));
}

void
snc_connection_fin(snc_connection *g)
{
    if (g->tls && !g->unclean && !say_goodbye(g)) {
        g->state = SNC_CONNECTION_CLOSE;
        g->writable = false;
        return;
    }
    shutdown(g->fd, SHUT_WR);
    g->state = SNC_CONNECTION_LINGER;
    g->readable = true;
    snc_connection_alarm(g, sn_time_add(g->server->now, LINGER));
}

void
snc_connection_idled(snc_connection *g)
{
    static const char late[] = "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n"
                               "Content-Length: 0\r\n\r\n";
    snc_idle end = g->idle_end;

    g->idle_end = SNC_IDLE_KEEP;
    if (end == SNC_IDLE_RST) {
        snc_connection_reset(g);
        return;
    }
    if (end == SNC_IDLE_BYTES && snc_connection_write(g, late, sizeof late - 1) < 0)
        g->gone = true;
    snc_connection_fin(g);
}

void
snc_connection_register(snc_connection *g)
{
    snc_world *w = &g->server->world;

    if (g->epoch == w->epoch && g->address)
        return;
    g->epoch = w->epoch;
    g->host = NULL;
    g->address = snc_witness_address(&w->witness, sn_str_of(g->own));
    snc_host_open(g->address);
}

static void
at_host(snc_connection *g, snc_host *host)
{
    if (!host || host == g->host)
        return;
    snc_host_close(g->host);
    snc_host_open(host);
    g->host = host;
}

snc_visitor
snc_connection_visitor(const snc_connection *g)
{
    return (snc_visitor){.connection = g->id,
                         .nth = g->nth,
                         .address = g->address,
                         .peer = sn_str_of(g->peer),
                         .own = sn_str_of(g->own),
                         .tunnelled = g->tunnelled,
                         .tls = g->tls ? snc_tls_facts_of(g->tls) : NULL,
                         .body = sn_buf_view(&g->body),
                         .body_len = g->body_len,
                         .wall = g->server->wall};
}

/* A whole request is there. */
static void
dispatch(snc_connection *g, const snc_request *req)
{
    snc_server *s = g->server;

    snc_connection_register(g);
    g->nth++;
    snc_visitor visitor = snc_connection_visitor(g);
    if (snc_world_request(&s->world, &visitor, req, g->arrived, &s->response,
                          &g->trace) != SEINE_OK) {
        snc_connection_reset(g);
        return;
    }
    if (g->epoch == s->world.epoch)
        at_host(g, g->trace.seen.host);
    snc_connection_respond(g);
}

static void
refuse(snc_connection *g, const char *why)
{
    g->in_body = false;
    g->trace = (snc_trace){.epoch = 0};
    snc_world_bad(&g->server->world, why, &g->server->response);
    snc_connection_respond(g);
}

/* Bytes of the body, from the front of `rest`. */
static void
feed(snc_connection *g, sn_str *rest)
{
    sn_str piece;
    snc_parsed got = SNC_PARSED_MORE;

    while (got == SNC_PARSED_MORE && rest->len > 0) {
        got = snc_request_body_feed(&g->incoming, rest, &piece);
        size_t room = BODY - g->body.len;
        sn_buf_str(&g->body, sn_str_slice(piece, 0, room));
        g->body_len += piece.len;
    }
    if (got == SNC_PARSED_MORE)
        return;
    g->in_body = false;
    if (got == SNC_PARSED_BAD)
        refuse(g, g->incoming.why);
    else if (snc_request_head(&g->server->req, sn_buf_view(&g->head)) == SNC_PARSED_OK)
        dispatch(g, &g->server->req);
    sn_buf_fini(&g->head);
    sn_buf_fini(&g->body);
}

static void
begin_body(snc_connection *g, const snc_request *req, sn_str bytes, sn_str *rest)
{
    static const char go_on[] = "HTTP/1.1 100 Continue\r\n\r\n";

    g->incoming = snc_request_body_of(req);
    g->in_body = true;
    g->body_len = 0;
    sn_buf_init(&g->body, BODY);
    sn_buf_init(&g->head, SNC_REQUEST_HEAD);
    sn_buf_add(&g->head, bytes.ptr, req->head_len);
    if (sn_buf_done(&g->head) != SEINE_OK) {
        snc_connection_reset(g);
        return;
    }
    if (req->continues && rest->len == 0 &&
        snc_connection_write(g, go_on, sizeof go_on - 1) < 0)
        g->gone = true;
    feed(g, rest);
}

/* One request, or a piece of one, from the front of `bytes`; what is left. */
static sn_str
eat(snc_connection *g, sn_str bytes)
{
    snc_request *req = &g->server->req;
    sn_str rest = bytes;

    if (g->in_body) {
        feed(g, &rest);
        return rest;
    }
    if (g->socks)
        return snc_connection_socks(g, bytes);
    switch (snc_request_head(req, bytes)) {
    case SNC_PARSED_MORE:
        g->need_more = true;
        return bytes;
    case SNC_PARSED_BAD:
        refuse(g, req->why);
        return (sn_str){NULL, 0};
    default:
        break;
    }
    rest = sn_str_slice(bytes, req->head_len, bytes.len);
    g->body_len = 0;
    if (req->connect)
        snc_connection_connect(g, req);
    else if ((!req->chunked && req->length == 0) ||
             snc_url_words_hold(req->path, SN_STR("noread")))
        dispatch(g, req);
    else
        begin_body(g, req, bytes, &rest);
    return rest;
}

/* What was read earlier. */
static void
eat_kept(snc_connection *g)
{
    sn_str rest;

    g->need_more = false;
    rest = eat(g, sn_buf_view(&g->in));
    if (g->dead)
        return;
    if (rest.len == 0)
        sn_buf_fini(&g->in);
    else
        sn_buf_drop(&g->in, g->in.len - rest.len);
}

static void
eat_new(snc_connection *g, sn_str bytes)
{
    if (g->in.len == 0) {
        sn_str rest = eat(g, bytes);

        if (g->dead || rest.len == 0)
            return;
        sn_buf_init(&g->in, (size_t)2 * SNC_REQUEST_HEAD);
        sn_buf_str(&g->in, rest);
    } else {
        sn_buf_str(&g->in, bytes);
        if (sn_buf_done(&g->in) == SEINE_OK)
            eat_kept(g);
    }
    if (!g->dead && sn_buf_done(&g->in) != SEINE_OK)
        snc_connection_reset(g);
}

/* True: something was read. */
static bool
step_read(snc_connection *g)
{
    snc_server *s = g->server;

    if (g->state == SNC_CONNECTION_READ && g->in.len > 0 && !g->need_more) {
        eat_kept(g);
        return true;
    }
    if (!g->readable)
        return false;

    ssize_t n = snc_connection_receive(g, s->in, sizeof s->in);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
        g->readable = errno == EINTR;
        return g->readable;
    }
    if (n <= 0) {
        close_now(g);
        return false;
    }
    if (g->state == SNC_CONNECTION_LINGER)
        return true;
    g->readable = (size_t)n == sizeof s->in || g->half || g->tls;
    if (g->idle_end != SNC_IDLE_KEEP) {
        snc_alarm_stop(&s->alarms, &g->alarm);
        g->idle_end = SNC_IDLE_KEEP;
    }
    eat_new(g, (sn_str){s->in, (size_t)n});
    return true;
}

static void
run(snc_connection *g)
{
    bool more = true;

    while (more && !g->dead) {
        more = g->state == SNC_CONNECTION_GREET && snc_connection_greeted(g);
        if (!g->dead && g->state == SNC_CONNECTION_CLOSE && g->writable)
            snc_connection_fin(g);
        if (!g->dead && g->state == SNC_CONNECTION_CLOSE && g->gone)
            close_now(g);
        if (g->dead)
            break;
        if (g->state == SNC_CONNECTION_READ || g->state == SNC_CONNECTION_LINGER)
            more |= step_read(g);
        if (!g->dead && g->state == SNC_CONNECTION_SEND)
            more |= snc_connection_send(g);
        if (!g->dead && (g->response || g->state == SNC_CONNECTION_HOLD) &&
            (g->gone || g->half))
            close_now(g);
    }
    if (g->dead)
        snc_connection_free(g);
}

static void
on_ready(snc_watch *watch, uint32_t events)
{
    snc_connection *g = GUEST_OF(watch, watch);

    g->readable |= (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0;
    g->writable |= (events & EPOLLOUT) != 0;
    g->half |= (events & (EPOLLRDHUP | EPOLLHUP)) != 0;
    g->gone |= (events & (EPOLLHUP | EPOLLERR)) != 0;
    run(g);
}

static void
on_alarm(snc_alarm *alarm)
{
    snc_connection *g = GUEST_OF(alarm, alarm);

    switch (g->state) {
    case SNC_CONNECTION_WAIT:
        if (g->sent == 0)
            snc_world_begin(&g->server->world, &g->trace, g->server->now);
        g->state = SNC_CONNECTION_SEND;
        break;
    case SNC_CONNECTION_DRAIN:
        snc_connection_drain(g);
        break;
    case SNC_CONNECTION_LINGER:
        close_now(g);
        break;
    case SNC_CONNECTION_READ:
        if (g->idle_end != SNC_IDLE_KEEP)
            snc_connection_idled(g);
        break;
    default:
        break;
    }
    run(g);
}

static void
name(char *out, size_t room, const struct sockaddr_in *a, bool port)
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
    snc_connection *g = sn_zalloc(sizeof *g);
    struct sockaddr_in own = {.sin_family = AF_INET};
    socklen_t len = sizeof own;

    if (!g) {
        close(fd);
        return;
    }
    getsockname(fd, (struct sockaddr *)&own, &len);
    g->watch.ready = on_ready;
    g->alarm.ring = on_alarm;
    g->server = s;
    g->fd = fd;
    g->id = ++s->next_id;
    g->state = SNC_CONNECTION_READ;
    name(g->peer, sizeof g->peer, peer, true);
    name(g->own, sizeof g->own, &own, false);
    if (snc_server_watch(s, fd, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, &g->watch) !=
        SEINE_OK) {
        close(fd);
        sn_free(g);
        return;
    }
    g->next = s->connections;
    if (g->next)
        g->next->prev = g;
    s->connections = g;
    s->open++;
    s->world.witness.connections++;
    if (++s->world.witness.open > s->world.witness.peak_open)
        s->world.witness.peak_open = s->world.witness.open;
    snc_connection_register(g);
    if (door->kind == SNC_DOOR_HTTPS)
        snc_connection_greet(g);
    if (door->kind == SNC_DOOR_SOCKS && !(g->socks = sn_zalloc(sizeof *g->socks)))
        snc_connection_reset(g);
    if (g->dead)
        snc_connection_free(g);
}

void
snc_connection_free(snc_connection *g)
{
    snc_server *s = g->server;

    close_now(g);
    if (g->epoch == s->world.epoch) {
        snc_host_close(g->host);
        snc_host_close(g->address);
    }
    s->world.witness.open--;
    s->open--;
    if (g->next)
        g->next->prev = g->prev;
    *(g->prev ? &g->prev->next : &s->connections) = g->next;
    sn_buf_fini(&g->in);
    sn_buf_fini(&g->head);
    sn_buf_fini(&g->body);
    sn_buf_fini(&g->early);
    snc_tls_line_free(g->tls);
    snc_tls_line_free(g->outer);
    sn_free(g->socks);
    sn_free(g);
}
