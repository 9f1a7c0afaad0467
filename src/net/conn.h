/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn.h - one connection: opened, used for one request at a time, kept or closed.
 *
 * A connection is registered with the loop once. An exchange uses it for one request;
 * then the connection is idle until its next use, or closed. All bytes pass through two
 * functions of conn_parts.h, so that TLS fits between.
 *
 *     CONNECTING → HANDSHAKE → BUSY ⇄ IDLE   DRAINING: the rest of an unwanted body,
 *                              ↓  ↗         64 KiB at most, is read so that the
 *                     DRAINING, TRIAL       connection can be kept. TRIAL: the response
 *                                           is whole, and may be a foreign one
 *
 *     e = sn_conn_open(w, &ip, port, patience, &c, &is_open);
 *     sn_conn_meet(c, x);         once it is open: the proxy and TLS
 *     sn_conn_ask(c, x, text);    sends, reads, ends the exchange
 *
 * Time    the loop's.
 * Memory  304 bytes; plus the head of a response while it is read, and the unsent rest of
 *         a request's head.
 * Threads one owner.
 */
#ifndef SN_CONN_H
#define SN_CONN_H

#include "net/address_guard.h"
#include "net/conn_pool.h"
#include "net/decode.h"
#include "net/h1.h"
#include "net/loop.h"
#include "net/transport.h"

#define SN_PACE_MARKS 8

struct sn_socket_transport;
struct sn_dial;
struct sn_tunnel;
struct sn_tls;

typedef struct sn_kept {
    char *ptr; /* NULL: nothing */
    size_t room;
} sn_kept;

/* Decodes a compressed body. A connection decodes at most 256 KiB per turn; received
 * bytes beyond that are kept for the next turn. */
typedef struct sn_body_decoder {
    struct sn_body_decoder *next; /* list of unused ones */
    sn_decode decode;
    size_t room;  /* bytes that may still be decoded in this turn */
    bool stuck;   /* the room is used up … */
    bool unread;  /* … and the socket has more */
    sn_kept kept; /* its last n_kept bytes are input … */
    size_t n_kept;
    size_t n_piece; /* … of which so many belong to the body */
    size_t n_first; /* for raw_encoding: bytes before the first output */
    char first[2048];
} sn_body_decoder;

/* A response while it is read; made at its first byte. */
typedef struct sn_reader {
    struct sn_reader *next; /* list of unused ones */
    sn_h1 h1;
    sn_head head;
    bool has_head;           /* the final head is complete */
    bool is_408_behind;      /* a 408 follows the response */
    sn_body_decoder *unpack; /* NULL: no coding to decode */
    seine_err spoiled;       /* decoding failed; the rest is read for the archive */
    uint32_t notes;          /* of the decoder */
    uint64_t wire, body;     /* bytes of the body, with and without its framing */
    /* Measures the speed of the body: marks[k % n_marks] is the time at which it had k *
     * step bytes, for the last n_marks values of k; k = mark is the newest. n_marks 0: no
     * limit. */
    uint64_t step, mark;
    uint32_t n_marks;
    seine_time marks[SN_PACE_MARKS];
} sn_reader;

/* What the end of an exchange tells of its response. A connection on trial keeps this
 * alone, and its reader goes to another one. */
typedef struct sn_read {
    uint64_t wire, body;   /* bytes, as in sn_reader */
    uint32_t notes;        /* SN_NOTE_… */
    uint32_t keep_alive_s; /* as in sn_h1 */
    uint16_t status;
    uint8_t minor;
    bool has_head;
    bool is_reusable; /* as far as the response says */
} sn_read;

typedef enum sn_conn_state {
    SN_CONN_CONNECTING,
    SN_CONN_HANDSHAKE, /* before the first request: a proxy, TLS */
    SN_CONN_BUSY,
    SN_CONN_IDLE,
    SN_CONN_DRAINING,
    SN_CONN_TRIAL, /* the exchange ends when nothing has followed its response */
} sn_conn_state;

typedef struct sn_conn {
    sn_watch watch; /* must be first: the loop casts it */
    sn_timer timer; /* idle or draining: closes the connection */
    sn_pooled_conn idle;
    struct sn_conn *next, **prev;             /* list of all, or of unused ones */
    struct sn_conn *ready_next, **ready_prev; /* there is more to read or to send */
    struct sn_socket_transport *of;
    sn_exchange *x;           /* HANDSHAKE, BUSY, TRIAL */
    struct sn_dial *dial;     /* CONNECTING */
    struct sn_tunnel *tunnel; /* HANDSHAKE with a proxy */
    sn_reader *reader;        /* NULL before the first byte, and in TRIAL */
    sn_read read;             /* TRIAL: what the reader had read */
    struct sn_tls *tls;       /* through which all bytes pass; NULL: none */
    struct sn_tls *outer;     /* below it, with a proxy; NULL: none */
    sn_origin *origin;        /* in use */
    char *rest;               /* unsent rest of the request's head … */
    size_t rest_at, rest_len;
    size_t body_at;         /* … and where its unsent body starts */
    seine_time born, since; /* since: when it became idle, or its trial began */
    uint32_t served;        /* requests, the current one included */
    uint32_t patience_s;    /* TCP_USER_TIMEOUT */
    uint32_t took_us;       /* by its last response */
    int fd;
    uint8_t state;
    uint8_t step;                       /* of the handshakes */
    bool secure;                        /* `tls` is with the host itself, and complete */
    bool unsent;                        /* the request is not completely sent */
    bool broken;                        /* sending failed: do not close in order */
    bool hung_up;                       /* the peer closed it, or an error is pending */
    bool unread;                        /* the socket may hold more */
    bool missed;                        /* an event came while it waited for its turn */
    uint8_t judged_ceiling, judged_pin; /* when its zone was last checked … */
    uint32_t judged;                    /* … with that version of the guard + 1 */
    sn_address_zone zone;
    sn_ip peer; /* the site; v = 0: only the proxy knows */
} sn_conn;

/* Opens a socket to `ip`. OK: `out_now` says whether it is connected already; if not,
 * sn_dial_heard will be called. NO_FILES, NO_PORTS, NOMEM, CONNECT_…. */
SEINE_MUST_CHECK seine_err sn_conn_open(struct sn_socket_transport *w, const sn_ip *ip,
                                        uint16_t port, seine_span patience,
                                        sn_conn **out_conn, bool *out_now);
void sn_conn_close(sn_conn *c);

/* True if the connection has been idle for as long as its last response took. A response
 * that is still to come, because another was taken for it, is here by then. */
bool sn_conn_is_settled(const sn_conn *c);

/* Looks at an idle connection, with one system call. True: nothing came, so that it may
 * be used again. If bytes came, its origin gets no reuse; an end and a 408 are fine. */
bool sn_conn_probe(sn_conn *c);

/* Checks the peer of an idle connection for another request. Where only a proxy knows the
 * peer and the request wants it judged, the connection must have been judged as strictly
 * when it was made. OK or BLOCKED_ADDRESS. */
SEINE_MUST_CHECK seine_err sn_conn_judge(sn_conn *c, const sn_request *q);

/* The addresses of its host were judged for this request. */
void sn_conn_judged(sn_conn *c, const sn_request *q);

/* Gives a new connection to the exchange, which sends its request after all handshakes.
 * The exchange may have ended on return. */
void sn_conn_meet(sn_conn *c, sn_exchange *x);

/* Sends `text`, the request of the exchange. The exchange may have ended on return. */
void sn_conn_ask(sn_conn *c, sn_exchange *x, sn_str text);

/* Ends the exchange of a connection in TRIAL, with what sn_conn_probe said: OK, or
 * CONN_STALE if bytes came. */
void sn_conn_end_trial(sn_conn *c, bool is_clean);

/* What has been read of the response so far. */
sn_read sn_conn_has_read(const sn_conn *c);

/* The exchange has ended: keeps, drains or closes the connection. */
void sn_conn_leave(sn_conn *c, seine_err e);

/* Continues what an earlier turn left. */
void sn_conn_resume(sn_conn *c);

/* The body begins; more of the body came; the time at which the body will be too slow if
 * nothing more comes. A body that counts as too slow is below the limit; any body below
 * 7/8 of the limit is found. */
void sn_reader_pace(sn_reader *r, const sn_timeouts *limits, seine_time now);
void sn_reader_more(sn_reader *r, seine_time now);
seine_time sn_reader_stalls(const sn_reader *r, seine_span span);

void sn_reader_free(sn_reader *r);

/* Writes the address for the kernel; returns its length. */
union sn_sockaddr;
size_t sn_sockaddr_of(const sn_ip *ip, uint16_t port, union sn_sockaddr *out_address);

#endif
