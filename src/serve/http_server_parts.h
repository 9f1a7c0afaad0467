/* SPDX-License-Identifier: Apache-2.0 */
/* http_server_parts.h - the structs that http_server.c and http_connection.c share. */
#ifndef SN_HTTP_SERVER_PARTS_H
#define SN_HTTP_SERVER_PARTS_H

#include <netinet/in.h>

#include "base/buf.h"
#include "net/listen.h"
#include "serve/http_server.h"

enum { SN_HTTP_DOORS = 4 };

typedef enum sn_http_state {
    SN_HTTP_IDLE,      /* waits for the first byte of a request */
    SN_HTTP_READING,   /* a request has begun */
    SN_HTTP_HANDLING,  /* a call waits for its answer */
    SN_HTTP_ENDING,    /* sends what is left, then lingers */
    SN_HTTP_LINGERING, /* has sent FIN and drops what comes, so that no RST overtakes
                          the answer */
} sn_http_state;

typedef struct sn_http_connection {
    sn_http_call call;
    struct sn_http_server *server;
    sn_watch watch;
    sn_timer timer;
    int fd; /* -1: the client is gone while its call waits */
    sn_http_state state;
    bool is_readable;  /* the socket may hold bytes that were not read */
    bool is_at_end;    /* the client sends no more */
    bool is_blocked;   /* the socket takes no more now */
    bool is_working;   /* in a loop over its requests */
    bool is_yielding;  /* goes on in the next turn */
    bool is_half_told; /* 100 Continue was sent for this request */
    bool is_hung;      /* the end of what the client sends is near */
    size_t dropped;    /* bytes while lingering */
    sn_http_reader reader;
    sn_buf in, out;
    size_t in_at, sent; /* where the request begins; how much of `out` is away */
    struct sockaddr_storage peer;
    struct sn_http_connection *prev, *next;   /* all of the server */
    struct sn_http_connection *older, *newer; /* idle ones */
} sn_http_connection;

typedef struct sn_http_door {
    sn_watch watch;
    sn_timer timer; /* accepts again after a shortage of descriptors */
    struct sn_http_server *server;
    int fd, door;
    char where[SN_LISTEN_NAME];
} sn_http_door;

struct sn_http_server {
    sn_loop *loop;
    sn_http_opts opts;
    sn_http_door doors[SN_HTTP_DOORS];
    size_t n_doors;
    sn_http_connection *all;
    sn_http_connection *oldest, *newest; /* idle ones */
    sn_http_stats stats;
    uint32_t busy;
    bool is_stopped;
    char date[40]; /* "Date: …\r\n", valid until: */
    seine_time date_until;
};

/* Appends the answer to `out`. */
void sn_http_write_reply(sn_http_connection *c, const sn_http_reply *reply, bool keeps);
/* "400 Bad Request" and a newline. */
sn_str sn_http_reason_line(int status, char out[64]);

/* Takes the descriptor over. */
void sn_http_connection_new(sn_http_door *door, int fd, const struct sockaddr *peer,
                            socklen_t len);
/* Closes it; it is freed now or, while its call waits, with the answer. */
void sn_http_connection_close(sn_http_connection *c);
/* Frees it at once, though its call waits. */
void sn_http_connection_free(sn_http_connection *c);

#endif
