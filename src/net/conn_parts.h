/* SPDX-License-Identifier: Apache-2.0 */
/* conn_parts.h - what the files of a connection know of each other: conn.c opens, asks,
 * keeps and closes it, conn_greet.c says what has to be said before the first request,
 * conn_hear.c reads. */
#ifndef SN_CONN_PARTS_H
#define SN_CONN_PARTS_H

#include <errno.h>
#include <sys/socket.h>

#include "net/conn.h"
#include "net/wired_parts.h"

/* The two functions through which all bytes pass. -1 is an error, errno says which. */
static inline ssize_t
sn_conn_pull(sn_conn *c, char *into, size_t room)
{
    ssize_t n = recv(c->fd, into, room, 0);

    if (n > 0)
        c->of->stats.bytes_in += (uint64_t)n;
    return n;
}

static inline ssize_t
sn_conn_put(sn_conn *c, const char *bytes, size_t n)
{
    ssize_t sent = send(c->fd, bytes, n, MSG_NOSIGNAL);

    if (sent > 0)
        c->of->stats.bytes_out += (uint64_t)sent;
    return sent;
}

static inline bool
sn_conn_is_later(int why)
{
    return why == EAGAIN || why == EINTR;
}

/* conn.c: there is more to read or to send, in the next turn; it is idle from now on,
 * or closed. */
void sn_conn_later(sn_conn *c);
void sn_conn_rest(sn_conn *c);

/* conn_greet.c: something happened while it is GREETING. */
void sn_conn_greet(sn_conn *c);

/* conn_hear.c: reads what there is. */
void sn_conn_hear(sn_conn *c);
/* The head is there and the request is sent: the phase of the body. */
void sn_conn_begin_body(sn_conn *c);
/* Gives back what was needed to read a response. */
void sn_conn_unread(sn_conn *c);

#endif
