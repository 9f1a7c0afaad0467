/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h - how the engine sends a request and gets its response.
 *
 * An exchange is one request with its response. It calls its handler with the head and
 * the pieces of the body, and ends exactly once: by itself, at its deadline, or
 * cancelled. The transport never retries, redirects or waits for a limiter:
 * engine/verdict.c decides what follows an end.
 *
 *     sn_request request = {.url = url, .deadline = SEINE_NEVER};
 *     sn_handler_ops ops = {.head = on_head, .body = on_body, .end = on_end};
 *     sn_handler handler = {.ops = &ops, .arg = arg};
 *     sn_exchange *x;
 *     sn_transport *t = make_transport();
 *     e = t->ops->start(t, &request, &handler, &x);     nothing was called back yet
 *     now = t->ops->turn(t, SEINE_NEVER);               head, body, end
 *
 * The engine knows this table and nothing below it. The real transport
 * (net/socket_transport.h) uses sockets; that of tests/sim simulates a network, and its
 * `turn` jumps in virtual time.
 *
 * Time    deadlines are absolute; turn returns the time at its end, which is `now` until
 *         the next turn.
 * Memory  a request and the functions of a handler are borrowed until the end; an
 *         exchange belongs to the transport and is gone after its end.
 * Threads one owner: the shard's loop. `wake` from any thread.
 */
#ifndef SN_TRANSPORT_H
#define SN_TRANSPORT_H

#include "net/address_guard.h"
#include "net/cidr.h"
#include "net/head.h"
#include "net/note.h"
#include "seine/err.h"
#include "seine/secure.h"
#include "seine/url.h"

typedef struct sn_transport sn_transport;
typedef struct sn_exchange sn_exchange;

/* Limits of the phases; SEINE_NEVER: no limit. */
typedef struct sn_timeouts {
    seine_span dns, tcp, tls; /* 5 s each */
    seine_span connect;       /* 10 s: dns to tls together */
    seine_span send;          /* 10 s */
    seine_span head;          /* 20 s: from the sent request to the final head */
    seine_span attempt;       /* 30 s; for the error's text, the limit is `deadline` */
    uint64_t speed_bytes;     /* 100 bytes in any … ; 0: off */
    seine_span speed_span;    /* … 20 s of the body */
} sn_timeouts;

#define SN_TIMEOUTS                                                             \
    ((sn_timeouts){SEINE_SECS(5), SEINE_SECS(5), SEINE_SECS(5), SEINE_SECS(10), \
                   SEINE_SECS(10), SEINE_SECS(20), SEINE_SECS(30), 100, SEINE_SECS(20)})

typedef struct sn_limits {
    sn_timeouts time;
    uint64_t max_wire;              /* bytes of the body on the wire, 16 MiB */
    uint64_t max_body;              /* decoded, 16 MiB */
    uint64_t max_ratio, ratio_from; /* decoded : received, of bodies above; 0: any */
} sn_limits;

struct sn_proxy;   /* net/proxy.h */
struct sn_tls_ctx; /* net/tls.h */

typedef struct sn_request {
    sn_str method;
    const seine_url *url;   /* http or https; as requested, never the key */
    const sn_field *fields; /* already scoped to this origin */
    size_t n_fields;
    sn_str written;          /* the fields as h1.h wrote them once; empty: not written */
    sn_str body;             /* whole and replayable, or empty */
    seine_time deadline;     /* of the attempt; SEINE_NEVER is INVAL */
    const sn_limits *limits; /* borrowed until the end */
    sn_address_zone ceiling; /* highest zone it may reach */
    sn_address_zone pin;     /* lowest zone the name was ever connected in */
    bool fresh;              /* use no idle connection */
    bool idempotent;         /* although the method is not: may be sent twice */
    bool conditional, range; /* 304, 206 may come */
    bool insecure;           /* the certificate of this host is not checked */
    bool identify;           /* the client certificate may be sent to it */
    bool raw_encoding;       /* an unknown or broken coding: give the raw bytes */
    bool judge; /* if a proxy resolves names too: all our answers must be allowed */
    const struct sn_proxy *proxy; /* NULL: direct */
    struct sn_tls_ctx *trust;     /* whom to trust there; NULL: as everywhere */
} sn_request;

/* What an attempt tells about its proxy. */
typedef enum sn_proxy_part {
    SN_PROXY_NONE, /* nothing, or there was no proxy */
    SN_PROXY_GOOD, /* it worked, or refused by its own decision */
    SN_PROXY_BAD,  /* not reached, invalid reply, wrong login */
} sn_proxy_part;

/* How an attempt ended: a seine_fault without room for texts, which failures alone
 * have. A transport sets all but retry_after. */
typedef struct sn_fault {
    seine_err code;
    seine_phase phase;
    uint16_t status;
    bool sent;
    int64_t timeout_ms;
    seine_span retry_after; /* -1: none */
    const char *text;       /* borrowed, for people; NULL: the kind says all */
} sn_fault;

#define SN_FAULT                                          \
    {                                                     \
        SEINE_OK, SEINE_PHASE_NONE, 0, false, 0, -1, NULL \
    }

enum { SN_FAULT_TEXT = sizeof((seine_fault *)0)->text }; /* longest, with terminator */

/* The fault for functions that ask for one and read no text. */
static inline void
sn_fault_open(const sn_fault *f, seine_fault *out)
{
    out->code = f->code;
    out->phase = f->phase;
    out->status = f->status;
    out->sent = f->sent;
    out->timeout_ms = f->timeout_ms;
    out->retry_after = f->retry_after;
    out->url[0] = out->text[0] = '\0';
}

typedef struct sn_end {
    sn_fault fault;                         /* its text is valid during the call */
    seine_span spent[SEINE_PHASE_BODY + 1]; /* per phase; 0 for one not entered */
    uint64_t wire_bytes, body_bytes;
    uint32_t notes;       /* SN_NOTE_… */
    sn_address_zone zone; /* of the peer; public if not known */
    sn_proxy_part via;
    sn_address_zone refused; /* BLOCKED_ADDRESS: zone of the first refused address, … */
    sn_cidr refused_net; /* … and the network a user could allow; net.v = 0: not known */
    sn_ip peer;          /* v = 0: no connection was tried, or only the proxy knows */
    uint8_t http;        /* minor version of the response: 0, 1; 255: none */
    bool partial;        /* a head came, but the body is incomplete */
    bool reused;         /* on a connection that was used before */
    bool replayable;     /* CONN_STALE: may be sent again as the same attempt */
    seine_tls_facts secure;
} sn_end;

/* That of an attempt that never began. */
#define SN_END                               \
    {                                        \
        .fault = SN_FAULT, .http = UINT8_MAX \
    }

/* Called in this order: sent? head? body* end. `end` is called exactly once, and never
 * from inside start or cancel. All callbacks may start and cancel other exchanges. */
typedef struct sn_handler_ops {
    /* An address is about to be connected to, or an idle connection to it reused. Not OK
     * (BUSY, LIMITED) ends the exchange with that error and nothing sent. Called once per
     * exchange; NULL: all are fine. */
    seine_err (*admit)(const sn_ip *peer, void *arg);
    /* A connection was opened for the request, which is about to be sent. Not OK (BUSY,
     * LIMITED) ends the exchange with that error and nothing sent; the connection is kept
     * for another one. NULL: all may be sent. */
    seine_err (*may_send)(void *arg);
    /* Something to tell people: "resolve", "connect", "tls"; the text has lines. NULL:
     * nobody listens. */
    void (*trace)(const char *what, sn_str text, void *arg);
    /* The first bytes of the request were sent: DNS, connect, proxy and TLS are done.
     * Called at most once; may be NULL. */
    void (*sent)(void *arg);
    /* The final head, after its blank line. */
    void (*head)(const sn_head *head, void *arg);
    /* Bytes of the response as received, with interim heads, framing and coding, before
     * the callback that they cause. NULL: no archive. */
    void (*wire)(sn_str bytes, void *arg);
    /* How many bytes of the response may be read now; asked before each read. 0: none;
     * the connection stops reading, and no limit of time counts, until `resume`. Decoded
     * pieces keep to it, too. NULL: any number. */
    size_t (*room)(void *arg);
    /* A piece of the decoded body. Return false to stop; the exchange then ends as
     * CANCELED, partial. */
    bool (*body)(sn_str piece, void *arg);
    void (*end)(const sn_end *end, void *arg);
} sn_handler_ops;

/* Many exchanges share the functions; each has its own `arg`. */
typedef struct sn_handler {
    const sn_handler_ops *ops;
    void *arg;
} sn_handler;

/* What a transport has done so far; `open` is now. */
typedef struct sn_transport_counts {
    uint64_t bytes_in, bytes_out; /* on the wire */
    uint64_t opened, reused;      /* connections; requests on a kept one */
    uint64_t open;
    uint64_t names[5]; /* looked up: known, ok, nxdomain, error, timeout */
} sn_transport_counts;

typedef struct sn_transport_ops {
    /* INVAL: no deadline, a scheme that is not http or https, or a field that may not be
     * sent. NOMEM. On failure nothing is called back. */
    SEINE_MUST_CHECK seine_err (*start)(sn_transport *t, const sn_request *request,
                                        const sn_handler *handler,
                                        sn_exchange **out_exchange);
    /* Ends the exchange with `why` in a later turn, unless it ends by itself before. */
    void (*cancel)(sn_transport *t, sn_exchange *x, seine_err why);
    /* Waits for events until `until` at most (not at all if that is past), and handles
     * them. */
    seine_time (*turn)(sn_transport *t, seine_time until);
    /* Ends the current wait, or the next one. Any thread. */
    void (*wake)(sn_transport *t);
    /* A descriptor that is readable if a turn has something to do before its `until`; -1:
     * none. */
    int (*fd)(sn_transport *t);
    /* Asks the `room` of an exchange that was told 0 again, in the next turn. */
    void (*resume)(sn_transport *t, sn_exchange *x);
    /* The time that the owner's thread was on a processor. NULL: nobody knows. */
    seine_span (*cpu)(sn_transport *t);
    /* NULL: nobody counts. */
    void (*counts)(const sn_transport *t, sn_transport_counts *out_counts);
} sn_transport_ops;

/* Must be the first member of every transport. */
struct sn_transport {
    const sn_transport_ops *ops;
};

#endif
