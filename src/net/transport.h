/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h - one request out, one response in: what the engine may ask of a net.
 *
 * An exchange is one request and what came of it. It is started, tells its handler
 * of the head and the pieces of the body, and ends exactly once, by itself, by its
 * deadline or by being cancelled. The transport never retries, redirects, waits for
 * a limiter or decides anything: it ends, and engine/verdict.c decides.
 *
 *     e = t->ops->start(t, &request, &handler, &x);     nothing was called back yet
 *     now = t->ops->turn(t, until);                     head, body …, end
 *
 * The engine knows this table and nothing below it: the real one (net/socket_transport.h)
 * works on sockets, the one of tests/sim on numbers, where `turn` lets virtual time jump.
 *
 * Time    deadlines are absolute; turn returns the moment at which it ended, which
 *         is the `now` of everything until the next turn.
 * Memory  a request is borrowed until its end; an exchange belongs to the transport
 *         and is gone after its end.
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

/* Spans of the phases; SEINE_NEVER: no limit of its own. */
typedef struct sn_timeouts {
    seine_span dns, tcp, tls; /* 5 s each */
    seine_span connect;       /* 10 s: dns to tls together */
    seine_span send;          /* 10 s */
    seine_span head;          /* 20 s: request sent until the final head is there */
    seine_span attempt;       /* 30 s; told in the error, the moment is `deadline` */
    uint64_t speed_bytes;     /* 100 in any … ; 0: off */
    seine_span speed_span;    /* … 20 s of the body */
} sn_timeouts;

#define SN_TIMEOUTS                                                             \
    ((sn_timeouts){SEINE_SECS(5), SEINE_SECS(5), SEINE_SECS(5), SEINE_SECS(10), \
                   SEINE_SECS(10), SEINE_SECS(20), SEINE_SECS(30), 100, SEINE_SECS(20)})

typedef struct sn_limits {
    sn_timeouts time;
    uint64_t max_wire; /* bytes of the body on the wire, 16 MiB */
    uint64_t max_body; /* decoded, 16 MiB */
} sn_limits;

struct sn_proxy; /* net/proxy.h */

typedef struct sn_request {
    sn_str method;
    const seine_url *url;   /* http or https; what goes on the wire, never the key */
    const sn_field *fields; /* already scoped to this origin */
    size_t n_fields;
    sn_str body;             /* whole and replayable, or empty */
    seine_time deadline;     /* of the attempt; SEINE_NEVER is INVAL */
    const sn_limits *limits; /* borrowed until the end, too */
    sn_address_zone ceiling; /* highest zone it may reach */
    sn_address_zone pin;     /* lowest zone the name was ever connected in */
    bool fresh;              /* use no idle connection */
    bool conditional, range; /* 304, 206 may come */
    bool insecure;           /* nobody looks at the certificate of this host */
    bool identify;           /* this client's certificate may be shown to it */
    bool raw_encoding; /* a coding that is unknown or broken: the bytes as they are */
    bool judge; /* also names that a proxy resolves: all answers we get must be allowed */
    const struct sn_proxy *proxy; /* NULL: straight to the host */
} sn_request;

/* What an attempt says about the proxy it went through. */
typedef enum sn_proxy_part {
    SN_PROXY_NONE, /* nothing, or there was none */
    SN_PROXY_GOOD, /* it did its part, or answered that it will not */
    SN_PROXY_BAD,  /* not reached, no sense, no login */
} sn_proxy_part;

typedef struct sn_end {
    seine_fault fault; /* code, phase, status, sent, timeout_ms; retry_after is -1 */
    bool partial;      /* a head came and the body is not whole */
    bool reused;       /* on a connection that had served before */
    bool replayable;   /* CONN_STALE: may be sent again without being counted */
    seine_span spent[SEINE_PHASE_BODY + 1]; /* per phase; 0 for one not entered */
    sn_ip peer;           /* v = 0: no connection was tried, or a proxy alone knows */
    sn_address_zone zone; /* of the peer; public when nobody knows */
    sn_proxy_part via;
    uint8_t http; /* minor version of the answer: 0, 1; 255: none */
    uint64_t wire_bytes, body_bytes;
    uint32_t notes;          /* SN_NOTE_… */
    sn_address_zone refused; /* BLOCKED_ADDRESS: where the first address refused is, … */
    sn_cidr refused_net;     /* … and the net one could allow; net.v = 0: not known */
    seine_tls_facts secure;
} sn_end;

/* sent? head? body* end. `end` exactly once, and never from inside start or cancel.
 * Inside of any of them other exchanges may be started and cancelled. */
typedef struct sn_handler {
    /* An address is about to be connected to, or an idle connection to it is about
     * to be used: OK, or the exchange ends with this error (BUSY, LIMITED), nothing
     * sent. Asked once per exchange; NULL: all are fine. */
    seine_err (*admit)(const sn_ip *peer, void *arg);
    /* The first bytes of the request were handed over: names, connections, proxies and
     * TLS are behind it, and the server is about to see it. At most once; NULL: nobody
     * wants to know. */
    void (*sent)(void *arg);
    /* The final head, after its blank line. */
    void (*head)(const sn_head *head, void *arg);
    /* Bytes of the answer as they were received, interim heads, framing and coding
     * included, each before what is made of them is told. NULL: nobody archives. */
    void (*wire)(sn_str bytes, void *arg);
    /* A piece of the decoded body. False: the caller has enough; the exchange ends
     * as CANCELED, partial. */
    bool (*body)(sn_str piece, void *arg);
    void (*end)(const sn_end *end, void *arg);
    void *arg;
} sn_handler;

typedef struct sn_transport_ops {
    /* INVAL: no deadline, a scheme that is not http or https, a field that may not be
     * sent. NOMEM. Then nothing is called back. */
    SEINE_MUST_CHECK seine_err (*start)(sn_transport *t, const sn_request *request,
                                        const sn_handler *handler,
                                        sn_exchange **out_exchange);
    /* Ends it with `why` in a later turn, unless it ends by itself before. */
    void (*cancel)(sn_transport *t, sn_exchange *x, seine_err why);
    /* Waits for something to happen until `until` at most (a moment that is past: does
     * not wait), and lets it happen. */
    seine_time (*turn)(sn_transport *t, seine_time until);
    /* Ends a wait, now or the next one. Any thread. */
    void (*wake)(sn_transport *t);
    /* Readable when a turn would do something before its `until`; -1: none. */
    int (*fd)(sn_transport *t);
} sn_transport_ops;

/* The first member of every transport. */
struct sn_transport {
    const sn_transport_ops *ops;
};

#endif
