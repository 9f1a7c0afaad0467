/* SPDX-License-Identifier: Apache-2.0 */
/* conn_parts.h - shared by the files of a connection. conn.c opens, keeps and closes a
 * connection and sends requests; conn_handshake.c makes the handshakes before the first
 * request; conn_tunnel.c makes the one with a proxy; conn_read.c reads responses;
 * conn_desync.c finds bytes that belong to no request; conn_body.c decodes bodies;
 * conn_slow.c keeps to a rate of bytes. */
#ifndef SN_CONN_PARTS_H
#define SN_CONN_PARTS_H

#include <errno.h>
#include <sys/socket.h>

#include "net/conn.h"
#include "net/socket_transport_parts.h"
#include "net/tunnel.h"

/* All bytes pass through these two functions. They return -1 and set errno on errors. */
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

/* conn.c: there is more to read or to send, in the next turn; keep the connection as
 * idle, or close it. */
void sn_conn_later(sn_conn *c);
void sn_conn_unready(sn_conn *c); /* it is in no list any more */
void sn_conn_rest(sn_conn *c);

#define SN_CONN_STEPS 3 /* handshakes before the first request */

/* conn_handshake.c: an event came during the handshakes. */
void sn_conn_handshake(sn_conn *c);
/* Frees all TLS, with close_notify to the peer if it ends in order. */
void sn_conn_drop_tls(sn_conn *c);

/* conn_tunnel.c: continues the handshake with the proxy. OPEN: the tunnel is open. FAIL:
 * the exchange has ended and the connection is freed. */
sn_tunnel_event sn_conn_tunnel(sn_conn *c);
void sn_conn_untunnel(sn_conn *c); /* there may be no tunnel */

/* conn_slow.c, with opts.read_rate. Reserves the timer; NOMEM. */
SEINE_MUST_CHECK seine_err sn_conn_slow_init(sn_socket_transport *w);
void sn_conn_slow_fini(sn_socket_transport *w);
/* How many of `room` bytes may be read. 0: none; the connection waits for its turn, and
 * reads on then. */
size_t sn_conn_slow(sn_conn *c, size_t room);

/* Remembers how long the origin let wait for the first byte of this response. */
void sn_conn_note_wait(sn_conn *c);

/* conn_read.c: reads all that the socket holds. */
void sn_conn_read(sn_conn *c);
/* The head is complete and the request sent: enters the body phase. */
void sn_conn_begin_body(sn_conn *c);
/* Frees what was needed to read a response. */
void sn_conn_unread(sn_conn *c);

/* conn_desync.c: bytes came that belong to no request. Its origin gets no reuse: idle
 * connections are closed, and requests that wait on used ones are stale. */
void sn_conn_desync(sn_conn *c);
/* True if the head, complete or wrong, is perhaps no response to the request; if the
 * response has ended and is perhaps none, because more bytes follow. Call before
 * `has_head` is set, and at the end. */
bool sn_conn_doubts_head(sn_conn *c);
bool sn_conn_doubts_end(sn_conn *c);
/* The response is whole, on a used connection: true if its exchange should end no sooner
 * than a response that follows could be here, and will. */
bool sn_conn_begin_trial(sn_conn *c);
/* True for the response of a server that has waited too long for a request (RFC 9110,
 * 15.5.9). It may come at any time. */
bool sn_is_request_timeout(sn_str bytes);
/* Returns the error of an exchange whose connection failed it before a response: STALE if
 * the request may be sent again, else CONN_RESET. */
seine_err sn_conn_stale(sn_conn *c);

/* conn_body.c: decodes the body. Call begin after the head. BAD_ENCODING, BUDGET,
 * NOMEM. */
SEINE_MUST_CHECK seine_err sn_conn_begin_unpack(sn_conn *c);
/* Handles a piece of the body and moves `piece` past what was taken; all of it unless the
 * connection is stuck. Also BODY_TOO_LARGE, CANCELED. */
SEINE_MUST_CHECK seine_err sn_conn_body(sn_conn *c, sn_str *piece);
/* The framing says that the body is complete; checks that the coding is too. Also
 * BODY_TRUNCATED. */
SEINE_MUST_CHECK seine_err sn_conn_end_body(sn_conn *c);
void sn_conn_drop_body(sn_conn *c);
void sn_body_decoder_free(sn_body_decoder *u);

/* True if the connection used up its share of this turn; the next turn starts with the
 * input that was kept. */
bool sn_conn_is_stuck(const sn_conn *c);
SEINE_MUST_CHECK seine_err sn_conn_keep(sn_conn *c, sn_str piece, sn_str in);
void sn_conn_lend(sn_conn *c, sn_str *out_piece, sn_str *out_in);
void sn_socket_transport_take_back(
    sn_socket_transport *w); /* frees the lent buffer unless it was kept again */
void sn_conn_next_share(sn_conn *c, size_t room);

#endif
