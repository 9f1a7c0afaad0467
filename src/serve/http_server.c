/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/http_server.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/time.h"
#include "serve/http_server_parts.h"

enum { BACKLOG = 4096, BATCH = 64, MOST = 65536, SPARED = 64 };
#define PAUSE SEINE_MS(100) /* after a shortage of descriptors */

/* As many connections as descriptors allow, some left to the program. */
static uint32_t
most_connections(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= MOST + SPARED)
        return MOST;
    return files.rlim_cur > 2 * SPARED ? (uint32_t)files.rlim_cur - SPARED : SPARED;
}

seine_err
sn_http_server_new(sn_loop *loop, const sn_http_opts *opts, sn_http_server **out_server)
{
    if (!opts->handle || opts->limits.fields > SN_HTTP_FIELDS)
        return SEINE_E_INVAL;
    sn_http_server *s = sn_zalloc(sizeof *s);
    if (!s)
        return SEINE_E_NOMEM;
    s->loop = loop;
    s->opts = *opts;
    if (s->opts.max_connections == 0)
        s->opts.max_connections = most_connections();
    s->date_until = INT64_MIN;
    *out_server = s;
    return SEINE_OK;
}

static void
close_doors(sn_http_server *s)
{
    for (size_t i = 0; i < s->n_doors; i++) {
        sn_http_door *d = &s->doors[i];

        if (d->fd < 0)
            continue;
        sn_loop_del(s->loop, d->fd, &d->watch);
        sn_timer_forget(s->loop, &d->timer);
        close(d->fd);
        d->fd = -1;
    }
}

void
sn_http_server_free(sn_http_server *s)
{
    if (!s)
        return;
    close_doors(s);
    while (s->all)
        sn_http_connection_free(s->all);
    sn_free(s);
}

void
sn_http_server_stop(sn_http_server *s)
{
    s->is_stopped = true;
    close_doors(s);
    while (s->oldest)
        sn_http_connection_close(s->oldest);
}

bool
sn_http_server_is_busy(const sn_http_server *s)
{
    return s->busy > 0 || s->all;
}

void
sn_http_server_stats(const sn_http_server *s, sn_http_stats *out_stats)
{
    *out_stats = s->stats;
}

const char *
sn_http_server_where(const sn_http_server *s, int door)
{
    for (size_t i = 0; i < s->n_doors; i++)
        if (s->doors[i].door == door)
            return s->doors[i].where;
    return NULL;
}

static void
turn_away(sn_http_server *s, int fd)
{
    s->stats.turned_away++;
    close(fd);
}

static void
take_in(sn_http_door *d, int fd, const struct sockaddr *peer, socklen_t len)
{
    sn_http_server *s = d->server;

    if (s->stats.open >= s->opts.max_connections && s->oldest) {
        s->stats.evicted++;
        sn_http_connection_close(s->oldest);
    }
    if (s->stats.open >= s->opts.max_connections)
        turn_away(s, fd);
    else
        sn_http_connection_new(d, fd, peer, len);
}

/* Without descriptors the door would wake the loop for ever: it rests for a moment, and
 * the idle connections make room. */
static void
rest_door(sn_http_door *d)
{
    sn_http_server *s = d->server;

    if (s->oldest) {
        s->stats.evicted++;
        sn_http_connection_close(s->oldest);
    }
    if (sn_loop_set_level(s->loop, d->fd, &d->watch, 0) == SEINE_OK)
        sn_timer_set(s->loop, &d->timer, s->loop->now + PAUSE);
}

static void
on_rested(sn_timer *t, seine_time now)
{
    sn_http_door *d = (sn_http_door *)(void *)((char *)t - offsetof(sn_http_door, timer));

    (void)now;
    if (sn_loop_set_level(d->server->loop, d->fd, &d->watch, EPOLLIN) != SEINE_OK)
        sn_timer_set(d->server->loop, t, d->server->loop->now + PAUSE);
}

static void
on_knock(sn_watch *w, uint32_t events)
{
    sn_http_door *d = (sn_http_door *)(void *)((char *)w - offsetof(sn_http_door, watch));

    (void)events;
    for (int i = 0; i < BATCH; i++) {
        struct sockaddr_storage peer = {.ss_family = AF_UNSPEC};
        socklen_t len = sizeof peer;
        int fd =
            accept4(d->fd, (struct sockaddr *)&peer, &len, SOCK_NONBLOCK | SOCK_CLOEXEC);

        if (fd >= 0)
            take_in(d, fd, (struct sockaddr *)&peer, len);
        else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM ||
                 errno == ENOBUFS) {
            rest_door(d);
            return;
        } else if (errno != EINTR && errno != ECONNABORTED)
            return;
    }
}

static seine_err
watch_door(sn_http_server *s, sn_http_door *d)
{
    seine_err e = sn_timer_reserve(s->loop);

    if (e != SEINE_OK)
        return e;
    e = sn_loop_add_level(s->loop, d->fd, &d->watch, EPOLLIN);
    if (e != SEINE_OK)
        sn_timer_forget(s->loop, &d->timer);
    return e;
}

seine_err
sn_http_server_listen(sn_http_server *s, const char *where, int door, seine_diag *diag)
{
    char why[SN_DIAG_ERRNO];

    if (s->n_doors == SN_HTTP_DOORS)
        return SEINE_E_FULL;
    struct addrinfo *at = sn_listen_resolve(sn_str_of(where));
    if (!at)
        return sn_diag_value(diag, "listen", sn_str_of(where),
                             "not an address and a port like 127.0.0.1:8989");
    sn_http_door *d = &s->doors[s->n_doors];
    *d = (sn_http_door){.watch = {on_knock}, .timer = {.fire = on_rested}, .server = s};
    d->door = door;
    d->fd = sn_listen_tcp(at, BACKLOG, false);
    freeaddrinfo(at);
    if (d->fd < 0) {
        sn_diag_errno(errno, why);
        sn_diag_value(diag, "listen", sn_str_of(where), why);
        return SEINE_E_IO;
    }
    seine_err e = watch_door(s, d);
    if (e != SEINE_OK) {
        close(d->fd);
        return e;
    }
    sn_listen_name(d->fd, d->where);
    s->n_doors++;
    return SEINE_OK;
}
