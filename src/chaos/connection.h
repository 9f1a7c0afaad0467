/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection.h - one connection, from accept to its end.
 *
 * A connection is always in one of eight states; what the client does and what the alarm
 * says move it on:
 *
 *     GREET    in the middle of a TLS handshake
 *     READ     waits for a request, or for the rest of one
 *     WAIT     has one, and lets time pass before the first byte
 *     SEND     bytes are going out, as fast as the socket or the drip allows
 *     HOLD     says nothing any more: mute, stalled
 *     DRAIN    all bytes must have arrived before RST follows
 *     CLOSE    TLS has a last word to say, and no room for it
 *     LINGER   FIN is out; reads what still comes, so that no RST destroys the end
 *
 * A request is answered before the next one is looked at, however many are there. A
 * client that closes its side while it waits for an answer has gone away.
 *
 * Time    alarms, for delays, drips, idle connections.
 * Memory  an idle connection is this struct. Input that is not a whole head is kept, up
 *         to 64 KiB; an answer that has to wait is copied, and what was made and not
 *         sent, up to 32 KiB.
 * Threads the server's.
 */
#ifndef SNC_CONNECTION_H
#define SNC_CONNECTION_H

#include <netinet/in.h>

#include "chaos/proxy.h"
#include "chaos/request_body.h"
#include "chaos/server.h"

typedef enum snc_connection_state {
    SNC_CONNECTION_GREET,
    SNC_CONNECTION_READ,
    SNC_CONNECTION_WAIT,
    SNC_CONNECTION_SEND,
    SNC_CONNECTION_HOLD,
    SNC_CONNECTION_DRAIN,
    SNC_CONNECTION_CLOSE,
    SNC_CONNECTION_LINGER
} snc_connection_state;

typedef struct snc_connection {
    snc_watch watch;
    snc_alarm alarm;
    snc_server *server;
    struct snc_connection *prev, *next;
    int fd;
    snc_tls_line *tls, *outer; /* NULL: plain; around `tls`, of one to us as a proxy */
    snc_socks *socks;          /* NULL: it speaks HTTP */
    sn_buf early;              /* bytes for `tls` that came before it */
    snc_passage to;            /* where it goes when the answer is out */
    bool tunnelled;
    snc_connection_state state;
    bool readable, writable;
    bool half;       /* the client sends no more */
    bool gone;       /* and does not read either */
    bool dead;       /* closed, and to be freed */
    bool said_hello; /* in TLS, and it is noted */

    uint64_t id, nth, epoch;
    snc_host *address, *host; /* of this epoch */
    char peer[24], own[16];

    sn_buf in;                 /* not looked at, or not whole */
    bool need_more;            /* the head in `in` is not whole */
    sn_buf head;               /* of a request whose body is coming */
    snc_request_body incoming; /* and the body */
    bool in_body;
    sn_buf body; /* its first bytes */
    uint64_t body_len;
    seine_time arrived;

    snc_response *response; /* the server's, or an own copy */
    snc_trace trace;
    char *left; /* made, and not sent */
    size_t left_at, left_len;
    uint64_t sent, allowance; /* bytes of this answer; bytes that may go now */
    seine_time drain_until;
    snc_idle idle_end;
    bool unclean; /* FIN comes without a close_notify */
} snc_connection;

/* Takes over the descriptor; it is closed when there is no memory. */
void snc_connection_new(const snc_door *door, int fd, const struct sockaddr_in *peer);

/* Ends it at once, whatever it does. */
void snc_connection_free(snc_connection *c);

/* Below: connection.c and connection_send.c for each other. None of them frees the
 * connection; one that is closed is `dead`. */

/* Like recv and send, through TLS if there is any. */
ssize_t snc_connection_receive(snc_connection *c, char *out, size_t room);
ssize_t snc_connection_write(snc_connection *c, const char *bytes, size_t n);

/* A TLS handshake has to come first. */
void snc_connection_greet(snc_connection *c);

/* Goes on with it. True: the state is another. */
bool snc_connection_greeted(snc_connection *c);

/* Finds the records of this epoch: the old ones may be gone. */
void snc_connection_register(snc_connection *c);

/* As the world sees it. */
snc_visitor snc_connection_visitor(const snc_connection *c);

/* It asks us as a proxy: a request with CONNECT, a message of SOCKS. */
void snc_connection_connect(snc_connection *c, const snc_request *req);
sn_str snc_connection_socks(snc_connection *c, sn_str bytes);

/* The answer is out: the tunnel begins. */
void snc_connection_tunnel(snc_connection *c);

/* Begins with the server's answer. */
void snc_connection_respond(snc_connection *c);

/* Sends what may be sent now. True: the answer is over, or the state is another. */
bool snc_connection_send(snc_connection *c);

/* The answer is over, whole or not, and noted. */
void snc_connection_end(snc_connection *c, bool whole, bool reset, bool aborted);

/* Ends it with RST as soon as the client has got everything. */
void snc_connection_drain(snc_connection *c);

/* Closes: with RST; with FIN, after which it lingers; as its idling ends. */
void snc_connection_reset(snc_connection *c);
void snc_connection_fin(snc_connection *c);
void snc_connection_idled(snc_connection *c);

/* Without memory for its alarm a connection is reset. */
void snc_connection_alarm(snc_connection *c, seine_time due);

#endif
