/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http_server.h - an HTTP/1.1 server on the library's loop.
 *
 *     static void handle(sn_http_call *call, void *arg)
 *     {
 *         sn_http_reply reply = {.status = 200, .body = SN_STR("hello\n")};
 *
 *         sn_http_answer(call, &reply);                     now, or in a later turn
 *     }
 *
 *     sn_http_opts opts = SN_HTTP_OPTS;
 *     opts.handle = handle;
 *     e = sn_http_server_new(&loop, &opts, &server);
 *     e = sn_http_server_listen(server, "127.0.0.1:8080", 0, diag);
 *     while (!stopped)
 *         sn_loop_turn(&loop, SEINE_NEVER);
 *     sn_http_server_free(server);
 *
 * Each call is answered once. Until then its request stays valid, and the connection
 * reads no further: requests that a client sends ahead wait their turn and are answered
 * in order. A client that goes away meanwhile changes nothing for the handler.
 *
 * A request must be whole within `request_timeout` of its first byte (408), a connection
 * without a request is closed after `idle_timeout`, and a client that does not read its
 * answers after `write_timeout`. When all connections are taken, the one that has been
 * idle longest makes room; if none is idle, the new one is closed.
 *
 * Time    the loop's.
 * Memory  per connection about 3 KiB while it is small, at most limits.head +
 *         limits.body and its answers.
 * Threads one owner: that of the loop.
 */
#ifndef SN_HTTP_SERVER_H
#define SN_HTTP_SERVER_H

#include "net/loop.h"
#include "seine/diag.h"
#include "serve/http_request.h"

struct sockaddr;

typedef struct sn_http_server sn_http_server;

/* A request that waits for its answer. */
typedef struct sn_http_call {
    sn_http_request request;
    const struct sockaddr *peer;
    int door;        /* the number given to listen */
    seine_time came; /* the turn in which the request was whole */
    void *own;       /* the handler's, NULL at first */
} sn_http_call;

/* Lengths, dates and the fields about the connection are the server's to write. */
typedef struct sn_http_reply {
    int status;
    sn_str fields;    /* "Name: value\r\n" each */
    const char *type; /* NULL: no Content-Type */
    sn_str body;
    bool close;
} sn_http_reply;

typedef struct sn_http_opts {
    sn_http_limits limits;
    seine_span request_timeout, idle_timeout, write_timeout;
    uint32_t max_connections; /* 0: as many as there are descriptors, up to 65,536 */
    void (*handle)(sn_http_call *call, void *arg);
    void *arg;
} sn_http_opts;

#define SN_HTTP_OPTS                                                                  \
    {                                                                                 \
        SN_HTTP_LIMITS, SEINE_SECS(10), SEINE_SECS(75), SEINE_SECS(10), 0, NULL, NULL \
    }

typedef struct sn_http_stats {
    uint64_t accepted, evicted, turned_away; /* evicted: idle, for another one */
    uint64_t requests, bad, timed_out;       /* bad: refused by the reader */
    uint32_t open;
} sn_http_stats;

SEINE_MUST_CHECK seine_err sn_http_server_new(sn_loop *loop, const sn_http_opts *opts,
                                              sn_http_server **out_server);
/* Closes everything. Calls that were not answered end here: do not answer them. */
void sn_http_server_free(sn_http_server *s);

/* "127.0.0.1:8989", "[::1]:0", "localhost:80", or a port alone, on 127.0.0.1; port 0 is
 * one that the kernel chooses. `door` tells calls apart. CONFIG: the diag says what is
 * wrong with the text; IO: the port cannot be had; NOMEM. At most 4. */
SEINE_MUST_CHECK seine_err sn_http_server_listen(sn_http_server *s, const char *where,
                                                 int door, seine_diag *diag);

/* Where a door is: "127.0.0.1:8989"; NULL: nowhere. */
const char *sn_http_server_where(const sn_http_server *s, int door);

/* Takes no more connections, and closes those without a request. */
void sn_http_server_stop(sn_http_server *s);

/* Requests in hand and answers that are not sent yet. */
bool sn_http_server_is_busy(const sn_http_server *s);

void sn_http_answer(sn_http_call *call, const sn_http_reply *reply);

void sn_http_server_stats(const sn_http_server *s, sn_http_stats *out_stats);

const char *sn_http_reason(int status);

#endif
