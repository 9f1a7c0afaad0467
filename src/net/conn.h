/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn.h - one connection: opened, asked one thing at a time, kept or closed.
 *
 * A connection is registered with the loop once. An exchange uses it for one request;
 * then it is idle and used again, or closed. All system calls on a stream of bytes are
 * in conn.c, behind two functions, so that another layer fits between.
 *
 *     CONNECTING → GREETING → BUSY ⇄ IDLE    DRAINING: the rest of a body nobody
 *                              ↓  ↗          wants, 64 KiB at most, is read so that
 *                           DRAINING         the connection can be kept
 *
 *     e = sn_conn_open(w, &ip, port, span, &c);    in progress, or there already
 *     sn_conn_meet(c, x);                          proxy, TLS, then …
 *     sn_conn_ask(c, x, text);                     … sends, reads, ends the exchange
 *
 * Time    the loop's.
 * Memory  240 bytes; while a response is read, what its head needs; while a request is
 *         not sent whole, the rest of its head.
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

/* A packed body while it is unpacked. Of one connection at most 256 KiB are made in a
 * turn; what was received and not looked at by then is kept. */
typedef struct sn_body_decoder {
    struct sn_body_decoder *next; /* of those nobody uses */
    sn_decode decode;
    size_t room;  /* bytes that may be made in this turn */
    bool stuck;   /* there was no more room … */
    bool unread;  /* … and more in the socket */
    sn_kept kept; /* the last n_kept bytes of it are input … */
    size_t n_kept;
    size_t n_piece; /* … of which so many are of the body, the rest is to be read */
    size_t n_first; /* for raw_encoding: bytes before anything was made of them */
    char first[2048];
} sn_body_decoder;

/* A response while it is read; there is one only from its first byte on. */
typedef struct sn_reader {
    struct sn_reader *next; /* of those nobody uses */
    sn_h1 h1;
    sn_head head;
    bool has_head;           /* the final one is complete */
    sn_body_decoder *unpack; /* NULL: the body is not packed */
    seine_err spoiled;   /* it cannot be unpacked, and is read for the archive alone */
    uint32_t notes;      /* of unpacking */
    uint64_t wire, body; /* bytes of the body, with and without its framing */
    /* How slowly the body comes: marks[k % n_marks] is when it had k * step bytes, for
     * the last n_marks of them; k = mark is the newest. n_marks 0: it does not matter. */
    uint64_t step, mark;
    uint32_t n_marks;
    seine_time marks[SN_PACE_MARKS];
} sn_reader;

typedef enum sn_conn_state {
    SN_CONN_CONNECTING,
    SN_CONN_GREETING, /* before the first request: a proxy, TLS */
    SN_CONN_BUSY,
    SN_CONN_IDLE,
    SN_CONN_DRAINING,
} sn_conn_state;

typedef struct sn_conn {
    sn_watch watch; /* first, as the loop knows it */
    sn_timer timer; /* while idle or draining: then it is closed */
    sn_pooled_conn idle;
    struct sn_conn *next, **prev;             /* of all; or of those nobody uses */
    struct sn_conn *ready_next, **ready_prev; /* there is more to read or to send */
    struct sn_socket_transport *of;
    sn_exchange *x;           /* GREETING, BUSY */
    struct sn_dial *dial;     /* CONNECTING */
    struct sn_tunnel *tunnel; /* GREETING a proxy */
    sn_reader *reader;        /* NULL before the first byte */
    struct sn_tls *tls;       /* through which all bytes pass; NULL: none */
    struct sn_tls *outer;     /* below it, with a proxy; NULL: none */
    sn_origin *origin;        /* in use */
    char *rest;               /* of the head of the request, not sent yet … */
    size_t rest_at, rest_len;
    size_t body_at;         /* … and of its body from here on */
    seine_time born, since; /* since: idle */
    uint32_t served;        /* requests, the current one included */
    uint32_t patience_s;    /* TCP_USER_TIMEOUT */
    int fd;
    uint8_t state;
    uint8_t step; /* of the greeting */
    bool secure;  /* `tls` is with the host itself, and agreed */
    bool unsent;  /* the request is not sent whole */
    bool broken;  /* sending failed: its end is not an orderly one */
    bool hung_up; /* the peer has ended it, or an error is pending */
    bool unread;  /* more may be there than was read */
    bool missed;  /* something came while it had to wait */
    uint8_t judged_ceiling, judged_pin; /* when its zone was last looked at … */
    uint32_t judged;                    /* … with that version of the zones + 1 */
    sn_address_zone zone;
    sn_ip peer; /* whom it leads to; v = 0: a proxy alone knows */
} sn_conn;

/* A socket on its way to `ip`. OK: `out_now` says whether it is there already,
 * otherwise sn_dial_heard will be told. NO_FILES, NO_PORTS, NOMEM, CONNECT_…. */
SEINE_MUST_CHECK seine_err sn_conn_open(struct sn_socket_transport *w, const sn_ip *ip,
                                        uint16_t port, seine_span patience,
                                        sn_conn **out_conn, bool *out_now);
void sn_conn_close(sn_conn *c);

/* Reads whether anything came that nobody asked for. True: nothing did, and the
 * connection may be used again. */
bool sn_conn_probe(sn_conn *c);

/* OK or BLOCKED_ADDRESS for the peer of an idle connection. */
SEINE_MUST_CHECK seine_err sn_conn_judge(sn_conn *c, sn_address_zone ceiling,
                                         sn_address_zone pin);

/* It is connected and belongs to the exchange, which is asked when everything that comes
 * before is agreed. The exchange may have ended when it returns. */
void sn_conn_meet(sn_conn *c, sn_exchange *x);

/* Puts the exchange on it and sends `text`, the request as bytes. The exchange may have
 * ended when it returns. */
void sn_conn_ask(sn_conn *c, sn_exchange *x, sn_str text);

/* The exchange is over: keeps, drains or closes. */
void sn_conn_leave(sn_conn *c, seine_err e);

/* Goes on with what was left in a turn before. */
void sn_conn_resume(sn_conn *c);

/* The body begins; more of it is there; when it will have been too slow if nothing
 * more comes. What is called too slow is below the limit, and below 7/8 of it nothing
 * is missed. */
void sn_reader_pace(sn_reader *r, const sn_timeouts *limits, seine_time now);
void sn_reader_more(sn_reader *r, seine_time now);
seine_time sn_reader_stalls(const sn_reader *r, seine_span span);

void sn_reader_free(sn_reader *r);

/* The address as the kernel wants it; its length. */
union sn_sockaddr;
size_t sn_sockaddr_of(const sn_ip *ip, uint16_t port, union sn_sockaddr *out_address);

#endif
