/* SPDX-License-Identifier: Apache-2.0 */
/* conn_parts.h - what the files of a connection know of each other: conn.c opens, asks,
 * keeps and closes it, conn_greet.c says what has to be said before the first request,
 * conn_tunnel.c what of it is said to a proxy, conn_hear.c reads, conn_body.c unpacks. */
#ifndef SN_CONN_PARTS_H
#define SN_CONN_PARTS_H

#include <errno.h>
#include <sys/socket.h>

#include "net/conn.h"
#include "net/socket_transport_parts.h"
#include "net/tunnel.h"

/* The two functions through which all bytes pass. -1 is an error, errno says which. */
ssize_t sn_conn_pull_tls(sn_conn *c, char *into, size_t room);

static inline ssize_t
sn_conn_pull(sn_conn *c, char *into, size_t room)
{
    if (c->tls)
        return sn_conn_pull_tls(c, into, room);
    ssize_t n = recv(c->fd, into, room, 0);

    if (n > 0)
        c->of->stats.bytes_in += (uint64_t)n;
    return n;
}

static inline ssize_t
sn_conn_put(sn_conn *c, const char *bytes, size_t n)
{
    if (c->tls)
        return sn_tls_write(c->tls, bytes, n);
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
/* What TLS there is goes, with a word to the peer if it ends in order. */
void sn_conn_drop_tls(sn_conn *c);
/* Reads what TLS has. True: nothing of which anybody must know: silence, or a ticket. */
bool sn_conn_probe_tls(sn_conn *c);

/* conn_tunnel.c: talks to the proxy as far as that goes. OPEN: the way is; FAIL: the
 * exchange has ended, the connection is gone. */
sn_tunnel_event sn_conn_tunnel(sn_conn *c);
void sn_conn_untunnel(sn_conn *c); /* there may be none */

/* conn_hear.c: reads what there is. */
void sn_conn_hear(sn_conn *c);
/* The head is there and the request is sent: the phase of the body. */
void sn_conn_begin_body(sn_conn *c);
/* Gives back what was needed to read a response. */
void sn_conn_unread(sn_conn *c);

/* conn_body.c: the body, from its framing to whoever asked. The head is there: it is
 * packed or not. BAD_ENCODING, BUDGET, NOMEM. */
SEINE_MUST_CHECK seine_err sn_conn_begin_unpack(sn_conn *c);
/* A piece of it; `piece` moves past what was taken, all of it unless it is stuck. Also
 * BODY_TOO_LARGE, CANCELED. */
SEINE_MUST_CHECK seine_err sn_conn_body(sn_conn *c, sn_str *piece);
/* The framing says that it is whole: is it? Also BODY_TRUNCATED. */
SEINE_MUST_CHECK seine_err sn_conn_end_body(sn_conn *c);
void sn_conn_drop_body(sn_conn *c);
void sn_body_decoder_free(sn_body_decoder *u);

/* It has made its share of this turn, and keeps the rest of the input; the next turn
 * begins with that. */
bool sn_conn_is_stuck(const sn_conn *c);
SEINE_MUST_CHECK seine_err sn_conn_keep(sn_conn *c, sn_str piece, sn_str in);
void sn_conn_lend(sn_conn *c, sn_str *out_piece, sn_str *out_in);
void sn_socket_transport_take_back(
    sn_socket_transport *w); /* what was lent, if nobody kept it again */
void sn_conn_next_share(sn_conn *c);

#endif
