/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_transport.h - the transport on real sockets: DNS, connections, keep-alive,
 * timeouts.
 *
 * The transport owns an event loop, a resolver and a pool of connections. A request on an
 * idle connection takes one send and one recv, and allocates nothing. New connections use
 * Happy Eyeballs (RFC 8305); the address guard checks every address before a packet is
 * sent. Every phase has a timeout on the loop's wheel.
 *
 *     e = sn_socket_transport_new(&(sn_socket_transport_opts){…}, &t, &diag);
 *     sn_request request = {.url = url, .deadline = SEINE_NEVER};
 *     sn_handler_ops ops = {.end = on_end};
 *     sn_handler handler = {.ops = &ops, .arg = arg};
 *     sn_exchange *x;
 *     e = t->ops->start(t, &request, &handler, &x);
 *     now = t->ops->turn(t, SEINE_NEVER);
 *
 * Time    through the loop's clock, read once per turn.
 * Memory  4 KiB per connection; heads are reserved from the budget.
 * Threads one owner; wake from any thread.
 */
#ifndef SN_SOCKET_TRANSPORT_H
#define SN_SOCKET_TRANSPORT_H

#include "net/dns.h"
#include "net/tls.h"
#include "net/transport.h"
#include "seine/budget.h"

typedef struct sn_socket_transport_opts {
    seine_clock *clock;
    sn_dns_opts dns;
    sn_address_guard_opts zones;
    seine_budget *budget;     /* NULL: unlimited */
    sn_tls_ctx *tls;          /* borrowed; NULL: https ends as TLS_ERROR */
    uint32_t max_connections; /* open at once; at the limit the longest idle is closed */
    uint32_t max_idle;        /* in all */
    uint32_t
        max_idle_origin;   /* of one origin: the host's in-flight limit, and one more */
    seine_span idle_time;  /* 15 s */
    seine_span max_age;    /* 10 min */
    uint32_t max_requests; /* 10,000 on one connection */
    struct sn_read_rate *read_rate; /* shared, borrowed; NULL: as fast as it comes */
} sn_socket_transport_opts;

typedef struct sn_socket_transport_stats {
    uint64_t opened, reused, stale, closed;
    uint64_t desynced; /* origins that sent bytes which belong to no request */
    uint32_t open, idle;
    uint64_t bytes_in, bytes_out; /* on the wire, TLS included */
    uint64_t handshakes, resumed; /* completed TLS handshakes; of those, resumed ones */
    seine_span longest_turn;
} sn_socket_transport_stats;

/* CONFIG with a diag, NOMEM, NO_FILES; IO: the addresses of this machine cannot be
 * read. */
SEINE_MUST_CHECK seine_err sn_socket_transport_new(const sn_socket_transport_opts *opts,
                                                   sn_transport **out_transport,
                                                   seine_diag *diag);
void sn_socket_transport_free(sn_transport *t); /* requires: no exchange is left */
void sn_socket_transport_stats_get(const sn_transport *t,
                                   sn_socket_transport_stats *out_stats);

#endif
