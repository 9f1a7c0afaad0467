/* SPDX-License-Identifier: Apache-2.0 */
#include "store/redis_socket.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void
sn_redis_socket_init(sn_redis_socket *s, const sn_redis_url *url, seine_clock *clock)
{
    *s = (sn_redis_socket){.url = url, .clock = clock, .fd = -1};
}

static void
close_socket(void *self)
{
    sn_redis_socket *s = self;

    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
}

/* TIMEOUT: the moment has passed. */
static seine_err
wait_for(const sn_redis_socket *s, short events, seine_time until)
{
    for (;;) {
        seine_span left = until - s->clock->now(s->clock);
        struct pollfd p = {.fd = s->fd, .events = events};

        if (left <= 0)
            return SEINE_E_TIMEOUT;
        int64_t ms = left / SEINE_MS(1) + 1;
        int n = poll(&p, 1, ms < 60000 ? (int)ms : 60000);
        if (n > 0)
            return SEINE_OK;
        if (n < 0 && errno != EINTR)
            return SEINE_E_STORE_UNAVAILABLE;
    }
}

static seine_err
connect_to(sn_redis_socket *s, const struct sockaddr *to, socklen_t len, seine_time until)
{
    int one = 1, error = 0;
    socklen_t size = sizeof error;

    s->fd = socket(to->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (s->fd < 0)
        return SEINE_E_STORE_UNAVAILABLE;
    if (to->sa_family != AF_UNIX)
        (void)setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(s->fd, to, len) == 0)
        return SEINE_OK;
    seine_err e = errno == EINPROGRESS || errno == EAGAIN ? wait_for(s, POLLOUT, until)
                                                          : SEINE_E_STORE_UNAVAILABLE;
    if (e == SEINE_OK &&
        (getsockopt(s->fd, SOL_SOCKET, SO_ERROR, &error, &size) != 0 || error != 0))
        e = SEINE_E_STORE_UNAVAILABLE;
    if (e != SEINE_OK)
        close_socket(s);
    return e;
}

static seine_err
open_path(sn_redis_socket *s, seine_time until)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};

    if (s->url->path.len >= sizeof to.sun_path)
        return SEINE_E_STORE_UNAVAILABLE;
    memcpy(to.sun_path, s->url->path.ptr, s->url->path.len);
    return connect_to(s, (const struct sockaddr *)&to, sizeof to, until);
}

/* The name is looked up by the system, which may take as long as the system likes. */
static seine_err
open_name(sn_redis_socket *s, seine_time until)
{
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *found = NULL;
    char host[256], port[8];
    seine_err e = SEINE_E_STORE_UNAVAILABLE;

    if (s->url->host.len >= sizeof host)
        return e;
    snprintf(host, sizeof host, "%.*s", SN_FMT(s->url->host));
    snprintf(port, sizeof port, "%u", s->url->port);
    if (getaddrinfo(host, port, &hints, &found) != 0)
        return e;
    for (const struct addrinfo *a = found; a && e != SEINE_OK; a = a->ai_next)
        e = connect_to(s, a->ai_addr, a->ai_addrlen, until);
    freeaddrinfo(found);
    return e;
}

static seine_err
open_socket(void *self, seine_time until)
{
    sn_redis_socket *s = self;

    close_socket(s);
    return s->url->host.len == 0 ? open_path(s, until) : open_name(s, until);
}

static seine_err
send_bytes(void *self, sn_str bytes, seine_time until)
{
    sn_redis_socket *s = self;

    while (bytes.len > 0) {
        ssize_t n = send(s->fd, bytes.ptr, bytes.len, MSG_NOSIGNAL);

        if (n > 0) {
            bytes = sn_str_slice(bytes, (size_t)n, bytes.len);
            continue;
        }
        if (n < 0 && errno != EAGAIN && errno != EINTR)
            return SEINE_E_STORE_UNAVAILABLE;
        seine_err e = wait_for(s, POLLOUT, until);
        if (e != SEINE_OK)
            return e;
    }
    return SEINE_OK;
}

static seine_err
receive_bytes(void *self, char *into, size_t room, seine_time until, size_t *out_n)
{
    sn_redis_socket *s = self;

    for (;;) {
        ssize_t n = recv(s->fd, into, room, 0);

        if (n > 0) {
            *out_n = (size_t)n;
            return SEINE_OK;
        }
        if (n == 0 || (errno != EAGAIN && errno != EINTR))
            return SEINE_E_STORE_UNAVAILABLE;
        seine_err e = wait_for(s, POLLIN, until);
        if (e != SEINE_OK)
            return e;
    }
}

sn_redis_wire
sn_redis_socket_wire(sn_redis_socket *s)
{
    return (sn_redis_wire){.open = open_socket,
                           .send = send_bytes,
                           .receive = receive_bytes,
                           .close = close_socket,
                           .self = s};
}
