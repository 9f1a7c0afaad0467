/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/redis_link.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "net/dns.h"

#define PIECE 16384

struct sn_redis_link {
    sn_watch watch;
    sn_timer tick, flush;
    sn_loop *loop;
    sn_redis *client;
    const sn_redis_url *url;
    sn_redis_hooks hooks; /* the caller's */
    sn_dns *dns;          /* NULL: a socket of this machine */
    sn_lookup lookup;
    sn_dns_answer names;
    unsigned next_name;
    int fd; /* -1: none */
    bool is_open, is_looking_up;
    char piece[PIECE];
};

typedef union any_address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
    struct sockaddr_un path;
} any_address;

/* The time of the next tick may have changed. */
static void
set_tick(sn_redis_link *l)
{
    sn_timer_set(l->loop, &l->tick, sn_redis_when(l->client));
}

static void
close_socket(sn_redis_link *l)
{
    if (l->fd >= 0) {
        sn_loop_del(l->loop, l->fd, &l->watch);
        close(l->fd);
    }
    l->fd = -1;
    l->is_open = false;
}

/* Tells the client in the words of the system. */
static void
lose(sn_redis_link *l, const char *doing, int error)
{
    char words[SN_DIAG_ERRNO], why[SN_REDIS_WHY];

    sn_diag_errno(error, words);
    snprintf(why, sizeof why, "%s: %s", doing, words);
    sn_redis_lost(l->client, l->loop->now, why);
}

static void
opened(sn_redis_link *l)
{
    l->is_open = true;
    sn_redis_opened(l->client, l->loop->now);
}

/* True: a connect runs or is done. False with errno. */
static bool
connect_to(sn_redis_link *l, const any_address *to, socklen_t n)
{
    int yes = 1;

    l->fd = socket(to->any.sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (l->fd < 0)
        return false;
    if (to->any.sa_family != AF_UNIX)
        setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if ((connect(l->fd, &to->any, n) == 0 || errno == EINPROGRESS) &&
        sn_loop_add(l->loop, l->fd, &l->watch) == SEINE_OK)
        return true; /* writable, or an error, is an event */
    int error = errno;
    close(l->fd);
    l->fd = -1;
    errno = error;
    return false;
}

static socklen_t
write_address(const sn_ip *ip, uint16_t port, any_address *out)
{
    memset(out, 0, sizeof *out);
    if (ip->v == 4) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons(port);
        memcpy(&out->v4.sin_addr, ip->bytes, 4);
        return sizeof out->v4;
    }
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons(port);
    memcpy(&out->v6.sin6_addr, ip->bytes, 16);
    return sizeof out->v6;
}

/* Tries the addresses that are left, IPv4 first. */
static void
connect_next(sn_redis_link *l, int error)
{
    while (l->next_name < (unsigned)l->names.n4 + l->names.n6) {
        unsigned i = l->next_name++;
        any_address to;
        socklen_t n = write_address(i < l->names.n4 ? &l->names.v4[i]
                                                    : &l->names.v6[i - l->names.n4],
                                    l->url->port, &to);

        if (connect_to(l, &to, n))
            return;
        error = errno;
    }
    lose(l, "cannot be reached", error);
}

static void
connect_unix(sn_redis_link *l)
{
    any_address to;
    sn_str path = l->url->path;

    memset(&to, 0, sizeof to);
    to.path.sun_family = AF_UNIX;
    memcpy(to.path.sun_path, path.ptr, path.len); /* at most SN_REDIS_PATH */
    if (!connect_to(l, &to, sizeof to.path))
        lose(l, "cannot be reached", errno);
}

static void
named(sn_lookup *lookup, seine_err e, const sn_dns_answer *answer)
{
    sn_redis_link *l = lookup->of;

    l->is_looking_up = false;
    if (e != SEINE_OK) {
        char why[SN_REDIS_WHY];

        snprintf(why, sizeof why, "cannot be found: %s", seine_err_text(e));
        sn_redis_lost(l->client, l->loop->now, why);
    } else {
        l->names = *answer;
        l->next_name = 0;
        connect_next(l, EHOSTUNREACH);
    }
    set_tick(l);
}

/* In a turn of its own: the client's hook must not call the client back. */
static void
begin(sn_redis_link *l)
{
    if (!l->dns) {
        connect_unix(l);
        return;
    }
    l->lookup = (sn_lookup){.done = named, .of = l};
    seine_err e = sn_dns_ask(l->dns, l->url->host, l->url->port, l->loop->now,
                             sn_redis_when(l->client), &l->lookup);
    l->is_looking_up = e == SEINE_E_BUSY;
    if (e != SEINE_E_BUSY)
        named(&l->lookup, e, e == SEINE_OK ? l->lookup.answer : NULL);
}

static void
flush(sn_redis_link *l)
{
    while (l->is_open) {
        sn_str out = sn_redis_output(l->client);

        if (out.len == 0)
            return;
        ssize_t n = send(l->fd, out.ptr, out.len, MSG_NOSIGNAL);
        if (n > 0)
            sn_redis_sent(l->client, (size_t)n);
        else if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return; /* EPOLLOUT comes */
        else if (n < 0 && errno != EINTR)
            lose(l, "is gone", errno);
    }
}

static void
read_all(sn_redis_link *l)
{
    while (l->is_open) {
        ssize_t n = recv(l->fd, l->piece, sizeof l->piece, 0);

        if (n > 0)
            sn_redis_received(l->client, l->loop->now, (sn_str){l->piece, (size_t)n});
        else if (n == 0)
            sn_redis_lost(l->client, l->loop->now, "closed the connection");
        else if (errno == EAGAIN || errno == EWOULDBLOCK)
            return;
        else if (errno != EINTR)
            lose(l, "is gone", errno);
    }
}

static void
on_event(sn_watch *w, uint32_t events)
{
    sn_redis_link *l =
        (sn_redis_link *)(void *)((char *)w - offsetof(sn_redis_link, watch));
    int error = 0;
    socklen_t n = sizeof error;

    (void)events;
    if (!l->is_open) {
        if (getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &error, &n) != 0)
            error = errno;
        if (error) {
            close_socket(l);
            connect_next(l, error);
            set_tick(l);
            return;
        }
        if (!(events & EPOLLOUT))
            return;
        opened(l);
    }
    read_all(l);
    flush(l);
    set_tick(l);
}

static void
on_tick(sn_timer *t, seine_time now)
{
    sn_redis_link *l =
        (sn_redis_link *)(void *)((char *)t - offsetof(sn_redis_link, tick));

    sn_redis_tick(l->client, now);
    set_tick(l);
}

static void
on_flush(sn_timer *t, seine_time now)
{
    sn_redis_link *l =
        (sn_redis_link *)(void *)((char *)t - offsetof(sn_redis_link, flush));

    (void)now;
    if (l->fd < 0 && !l->is_looking_up)
        begin(l);
    else
        flush(l);
    set_tick(l);
}

static void
hook_soon(void *arg)
{
    sn_redis_link *l = arg;

    sn_timer_set(l->loop, &l->flush, l->loop->now);
}

static void
hook_close(void *arg)
{
    sn_redis_link *l = arg;

    if (l->is_looking_up)
        sn_dns_cancel(l->dns, &l->lookup);
    l->is_looking_up = false;
    sn_timer_clear(&l->flush);
    close_socket(l);
}

static void
hook_up(void *arg)
{
    sn_redis_link *l = arg;

    if (l->hooks.up)
        l->hooks.up(l->hooks.arg);
}

static void
hook_down(void *arg)
{
    sn_redis_link *l = arg;

    if (l->hooks.down)
        l->hooks.down(l->hooks.arg);
}

seine_err
sn_redis_link_new(sn_loop *loop, const sn_redis_opts *opts, sn_redis_link **out_link,
                  seine_diag *diag)
{
    sn_redis_link *l = sn_zalloc(sizeof *l);
    sn_redis_opts own = *opts;
    seine_err e = l ? SEINE_OK : SEINE_E_NOMEM;

    if (e == SEINE_OK)
        e = sn_timer_reserve(loop);
    if (e != SEINE_OK) {
        sn_free(l);
        return e;
    }
    e = sn_timer_reserve(loop);
    if (e != SEINE_OK) {
        sn_timer_forget(loop, &l->tick);
        sn_free(l);
        return e;
    }
    l->watch.ready = on_event;
    l->tick.fire = on_tick;
    l->flush.fire = on_flush;
    l->loop = loop;
    l->url = opts->url;
    l->hooks = opts->hooks;
    l->fd = -1;
    own.hooks = (sn_redis_hooks){.open = hook_soon,
                                 .close = hook_close,
                                 .more = hook_soon,
                                 .up = hook_up,
                                 .down = hook_down,
                                 .arg = l};
    if (opts->url->host.len > 0)
        e = sn_dns_new(loop, &(sn_dns_opts){0}, &l->dns, diag);
    if (e == SEINE_OK)
        e = sn_redis_new(&own, loop->now, &l->client);
    if (e != SEINE_OK) {
        sn_redis_link_free(l);
        return e;
    }
    set_tick(l);
    *out_link = l;
    return SEINE_OK;
}

void
sn_redis_link_free(sn_redis_link *l)
{
    if (!l)
        return;
    if (l->client)
        flush(l);
    hook_close(l);
    sn_redis_free(l->client);
    sn_timer_forget(l->loop, &l->tick);
    sn_timer_forget(l->loop, &l->flush);
    sn_dns_free(l->dns);
    sn_free(l);
}

sn_redis *
sn_redis_link_client(sn_redis_link *l)
{
    return l->client;
}
