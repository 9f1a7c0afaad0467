/* SPDX-License-Identifier: Apache-2.0 */
/* socket_transport_parts.h - shared by the files of the real transport.
 * socket_transport.c starts exchanges and runs turns; exchange.c handles phases, timeouts
 * and ends; dial.c connects; conn.c moves bytes. */
#ifndef SN_SOCKET_TRANSPORT_PARTS_H
#define SN_SOCKET_TRANSPORT_PARTS_H

#include <netinet/in.h>

#include "base/buf.h"
#include "net/conn.h"
#include "net/conn_key.h"
#include "net/happy_eyeballs.h"
#include "net/proxy.h"
#include "net/socket_transport.h"

#define SN_SOCKET_TRANSPORT_ROOM                         \
    (256 << 10) /* bytes read from a connection per turn \
                   \ */

union sn_sockaddr {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

typedef struct sn_socket_transport sn_socket_transport;
typedef struct sn_dial sn_dial;

struct sn_exchange {
    sn_exchange *next, **prev; /* list of started, ended, or unused ones */
    sn_socket_transport *of;
    const sn_request *request;
    sn_handler handler;
    sn_timer timer; /* the earlier of limit_at and the deadline */
    sn_origin *origin;
    sn_conn *conn;
    sn_dial *dial;
    seine_time since;      /* start of the phase */
    seine_time connect_by; /* limit of dns to tls */
    seine_time limit_at;   /* timeout of the phase, and … */
    seine_span limit;      /* … the configured span it comes from */
    seine_time held_since; /* its handler has no room since then; 0: it has */
    seine_span held_for;   /* how long it had none before: no limit counts that */
    seine_span spent[SEINE_PHASE_BODY + 1];
    uint32_t text_at, text_len; /* in sn_socket_transport.batch; 0: write it again */
    seine_phase phase;
    seine_err why; /* cancelled */
    bool is_started, is_ended;
    bool admitted, sent, reused, replayable;
    bool at_proxy; /* failures now are the proxy's, not the site's */
    sn_proxy_part via;
    sn_ip peer;    /* the site's; v = 0: not known (yet) */
    sn_ip refused; /* first address the guard refused; v = 0: none */
    sn_address_zone zone;
};

/* Connects to a host: resolves its name, or its proxy's, and tries the addresses. */
struct sn_dial {
    sn_lookup lookup;
    sn_happy_eyeballs race;
    sn_timer timer; /* when to try the next address */
    sn_exchange *x;
    sn_conn *tries[SN_HAPPY_EYEBALLS_MOST];
    uint8_t n_tries;
    bool both;     /* the name has both families */
    sn_dial *next; /* list of unused ones */
};

struct sn_socket_transport {
    sn_transport base;
    sn_socket_transport_opts opts;
    sn_loop loop;
    sn_dns *dns;
    sn_address_guard zones;
    uint32_t guard_version;
    seine_time own_read; /* when the own addresses were read */
    seine_held held;     /* memory of heads */
    sn_conn_pool idle;
    sn_tickets tickets;
    char *in;      /* SN_SOCKET_TRANSPORT_ROOM bytes just received */
    size_t room;   /* how many of them were asked for */
    char *scratch; /* SN_DECODE_STEP bytes just decoded; NULL: never yet */
    sn_buf batch;  /* requests started but not launched, as bytes */
    sn_buf text;   /* one request */
    sn_exchange *started, **started_end;
    sn_exchange *doomed;
    sn_conn *ready; /* these go on in the next turn */
    struct {
        sn_conn *first, **end; /* these have bytes to read, the longest waiting first */
        uint64_t paid;         /* bytes that may be read, as bytes_in counts them */
        seine_time since;      /* some wait since then … */
        seine_span waited;     /* … and have waited that long before */
        sn_timer timer;        /* when more may be read */
        bool is_due;           /* the first one reads now */
    } slowed;                  /* by opts.read_rate */
    sn_conn *conns;            /* all open ones */
    sn_kept lent;              /* what `fed` kept, while it is read */
    sn_conn *fed;              /* whose bytes are being read; NULL: it was closed */
    struct {
        sn_exchange *exchanges;
        sn_conn *conns;
        sn_dial *dials;
        sn_reader *readers;
        sn_body_decoder *unpacks;
        uint32_t n_exchanges, n_conns, n_dials, n_readers, n_unpacks;
    } spare; /* for reuse, a bounded number of each */
    sn_end end;
    char why[SN_FAULT_TEXT];  /* text of the next end, for people; may be "" */
    char told[SN_FAULT_TEXT]; /* text of the last one, which `end` points to */
    sn_socket_transport_stats stats;
    uint64_t n_ended;
    uint32_t live; /* exchanges */
    bool watched;  /* somebody uses the descriptor */
    bool turning;
    char key[SN_CONN_KEY_ROOM]; /* of an origin */
};

/* exchange.c */

/* Ends the exchange with `why` in the next turn. */
void sn_exchange_doom(sn_exchange *x, seine_err why);
SEINE_MUST_CHECK seine_err sn_exchange_new(sn_socket_transport *w,
                                           const sn_request *request,
                                           const sn_handler *handler,
                                           sn_exchange **out_exchange);
void sn_exchange_spare(sn_exchange *x); /* frees it without calling back */
void sn_exchange_free(sn_exchange *x);

/* Enters the next phase with its timeout. */
void sn_exchange_enter(sn_exchange *x, seine_phase phase, seine_span limit);
/* Changes the timeout of the phase. */
void sn_exchange_limit(sn_exchange *x, seine_time at);

/* Time from here to the next call counts for no phase. */
void sn_exchange_pause(sn_exchange *x);
void sn_exchange_resume(sn_exchange *x);

/* The handler has no room: no limit of time counts. It has room again: they do. */
void sn_exchange_hold(sn_exchange *x);
void sn_exchange_go_on(sn_exchange *x);

/* Ends the exchange: frees what it holds and calls `end`. */
void sn_exchange_end(sn_exchange *x, seine_err e);
/* The same, with a text that says more than the error kind. */
void sn_exchange_fail(sn_exchange *x, seine_err e, const char *text);

/* Writes the request as bytes, valid until the next one; without its body if that is sent
 * apart. */
SEINE_MUST_CHECK seine_err sn_exchange_text(sn_exchange *x, sn_str *out_text);
SEINE_MUST_CHECK seine_err sn_exchange_write(const sn_request *request, sn_buf *out);

/* True for http through an HTTP proxy: sent to the proxy in absolute form, without a
 * tunnel. */
static inline bool
sn_request_is_forward(const sn_request *request)
{
    return request->proxy && !sn_proxy_needs_tunnel(request->proxy, request->url);
}

/* True if the request may be sent again when nobody knows whether it arrived. Any other
 * uses a new connection. */
bool sn_request_is_idempotent(const sn_request *request);

/* True if the body is too large to copy: it is sent from the caller's memory. */
static inline bool
sn_request_is_apart(const sn_request *request)
{
    return request->body.len > 16 << 10;
}

static inline bool
sn_request_is_https(const sn_request *request)
{
    return seine_url_scheme(request->url).len == 5;
}

/* Strips the brackets of an IPv6 address. */
static inline sn_str
sn_url_bare(seine_view name)
{
    if (name.len > 2 && name.ptr[0] == '[')
        return (sn_str){name.ptr + 1, name.len - 2};
    return name;
}

/* dial.c */
void sn_dial_begin(sn_exchange *x);
void sn_dial_heard(sn_conn *c, seine_err e); /* a connect succeeded or failed */
seine_err sn_dial_why(sn_dial *d);           /* its error at a timeout */
void sn_dial_drop(sn_dial *d);
void sn_dial_free(sn_dial *d);

#endif
