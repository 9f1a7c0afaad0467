/* SPDX-License-Identifier: Apache-2.0 */
/* sockets.h - waits for what happens on a socket of this process, instead of for a time
 * within which it should have happened. */
#ifndef SOCKETS_H
#define SOCKETS_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <seine/clock.h>

#include "check.h"

/* The port at one end of a connection; 0: it has none. */
static inline uint16_t
socket_port(int fd, int (*name)(int, struct sockaddr *, socklen_t *))
{
    struct sockaddr_in at = {.sin_family = AF_UNSPEC};
    socklen_t n = sizeof at;

    return name(fd, (struct sockaddr *)&at, &n) == 0 && at.sin_family == AF_INET
               ? ntohs(at.sin_port)
               : 0;
}

/* The descriptor of this process that is connected to `port`, from its own port `from`,
 * or from any if that is 0; -1: none. */
static inline int
socket_to(uint16_t port, uint16_t from)
{
    for (int fd = 0; fd < 1024; fd++)
        if (socket_port(fd, getpeername) == port &&
            (from == 0 || socket_port(fd, getsockname) == from))
            return fd;
    return -1;
}

/* Bytes that have arrived and that nobody has read. */
static inline int
socket_unread(int fd)
{
    int n = 0;

    return ioctl(fd, FIONREAD, &n) == 0 ? n : 0;
}

static inline bool
socket_patience(seine_time begun)
{
    seine_clock *c = seine_clock_system();

    poll(NULL, 0, 1);
    return c->now(c) < begun + CHECK_PATIENCE;
}

/* Until `n` bytes have arrived that nobody has read. */
static inline void
socket_wait_unread(int fd, int n)
{
    seine_clock *c = seine_clock_system();
    seine_time begun = c->now(c);

    while (socket_unread(fd) < n && socket_patience(begun))
        ;
    CHECK(socket_unread(fd) >= n);
}

/* Until the other end, which is in this process, too, has read all that was sent, or has
 * closed. */
static inline void
socket_wait_read(int fd)
{
    seine_clock *c = seine_clock_system();
    seine_time begun = c->now(c);
    int other = socket_to(socket_port(fd, getsockname), socket_port(fd, getpeername));

    while (other >= 0 && socket_unread(other) > 0 && socket_patience(begun))
        ;
    CHECK(other < 0 || socket_unread(other) == 0);
}

#endif
