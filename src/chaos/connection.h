/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connection.h - one connection, from accept to its end.
 *
 * A connection is always in one of eight states; the client and the alarm move it on:
 *
 *     GREET    in the middle of a TLS handshake
 *     READ     waits for a request, or for the rest of one
 *     WAIT     has a request, and waits before the first byte
 *     SEND     sends, as fast as the socket or the drip allows
 *     HOLD     sends nothing any more: mute, stalled
 *     DRAIN    waits until all bytes have arrived, then sends RST
 *     CLOSE    must send close_notify, and the socket has no room
 *     LINGER   FIN is out; reads what still comes, so that no RST destroys the end
 *
 * A connection responds to a request before it looks at the next one, however many have
 * arrived. A client that closes its side while it waits for a response has gone away.
 *
 * Time    alarms, for delays, drips, idle connections.
 * Memory  an idle connection is this struct. An incomplete head is kept, up to 64 KiB; a
 *         response that has to wait is copied, and unsent bytes of it, up to 32 KiB.
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
    snc_tls_line *tls, *outer; /* NULL: plain; `outer`: to us as a proxy */
    snc_socks *socks;          /* NULL: the client speaks HTTP */
    sn_buf early;              /* bytes for `tls` that came before it */
    snc_passage to;            /* where the tunnel leads after the response */
    bool tunnelled;
    snc_connection_state state;
    bool readable, writable;
    bool half;       /* the client has closed its sending side */
    bool gone;       /* the client does not read either */
    bool dead;       /* closed, and to be freed */
    bool said_hello; /* its TLS hello is noted */

    uint64_t id, nth, epoch;
    snc_host *address, *host; /* records of this epoch */
    char peer[24], own[16];

    sn_buf in;                 /* not parsed yet, or incomplete */
    bool need_more;            /* the head in `in` is incomplete */
    sn_buf head;               /* of a request whose body is arriving */
    snc_request_body incoming; /* parser of that body */
    bool in_body;
    sn_buf body; /* the first bytes of that body */
    uint64_t body_len;
    seine_time arrived;

    snc_response *response; /* the server's, or a copy */
    snc_trace trace;
    char *left; /* generated, and not sent */
    size_t left_at, left_len;
    uint64_t sent, allowance; /* bytes of this response; bytes that may go now */
    seine_time drain_until;
    snc_idle idle_end;
    bool unclean; /* FIN without a close_notify */
} snc_connection;

/* Takes over the descriptor, and closes it when there is no memory. */
void snc_connection_new(const snc_door *door, int fd, const struct sockaddr_in *peer);

/* Ends the connection at once, in any state. */
void snc_connection_free(snc_connection *c);

/* The files connection*.c share the rest. None of these functions frees the connection; a
 * closed one is `dead`. */

/* Like recv and send, through TLS if there is any. */
ssize_t snc_connection_receive(snc_connection *c, char *out, size_t room);
ssize_t snc_connection_write(snc_connection *c, const char *bytes, size_t n);

/* Begins with a TLS handshake. */
void snc_connection_greet(snc_connection *c);

/* Continues the handshake. True: the state has changed. */
bool snc_connection_greeted(snc_connection *c);

/* Finds the records of this epoch: those of an earlier one may be gone. */
void snc_connection_register(snc_connection *c);

/* The connection as world.h describes a client. */
snc_visitor snc_connection_visitor(const snc_connection *c);

/* Handles a request to us as a proxy: CONNECT, or a message of SOCKS. */
void snc_connection_connect(snc_connection *c, const snc_request *req);
sn_str snc_connection_socks(snc_connection *c, sn_str bytes);

/* Begins the tunnel, once the response is out. */
void snc_connection_tunnel(snc_connection *c);

/* Begins to send the server's response. */
void snc_connection_respond(snc_connection *c);

/* Sends what may be sent now. True: the response has ended, or the state has changed. */
bool snc_connection_send(snc_connection *c);

/* Notes the end of the response. */
void snc_connection_end(snc_connection *c, bool whole, bool reset, bool aborted);

/* Sends RST as soon as the client has everything. */
void snc_connection_drain(snc_connection *c);

/* Closes with RST; with FIN, and lingers; or as the plan says for an idle connection. */
void snc_connection_reset(snc_connection *c);
void snc_connection_fin(snc_connection *c);
void snc_connection_idled(snc_connection *c);

/* Sets the alarm; without memory for it the connection is reset. */
void snc_connection_alarm(snc_connection *c, seine_time due);

#endif
