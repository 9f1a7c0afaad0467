/* SPDX-License-Identifier: Apache-2.0 */
/* socket_transport_parts.h - what the files of the real transport know of each other:
 * socket_transport.c starts and turns, exchange.c has phases, moments and ends, dial.c
 * finds an address that answers, conn.c moves bytes. */
#ifndef SN_SOCKET_TRANSPORT_PARTS_H
#define SN_SOCKET_TRANSPORT_PARTS_H

#include <netinet/in.h>

#include "base/buf.h"
#include "net/conn.h"
#include "net/proxy.h"
#include "net/race.h"
#include "net/socket_transport.h"

#define SN_SOCKET_TRANSPORT_KEY (SEINE_URL_ROOM + 1024)
#define SN_SOCKET_TRANSPORT_ROOM                          \
    (256 << 10) /* bytes read of one connection in a turn \
                 */

union sn_sockaddr {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

typedef struct sn_socket_transport sn_socket_transport;
typedef struct sn_dial sn_dial;

struct sn_exchange {
    sn_exchange *next, **prev; /* started, doomed, or nobody's */
    sn_socket_transport *of;
    const sn_request *request;
    sn_handler handler;
    sn_timer timer; /* the earlier of limit_at and the deadline */
    sn_origin *origin;
    sn_conn *conn;
    sn_dial *dial;
    seine_time since;      /* the phase began */
    seine_time connect_by; /* dns to tls */
    seine_time limit_at;   /* the phase's moment, and … */
    seine_span limit;      /* … the configured span behind it */
    seine_span spent[SEINE_PHASE_BODY + 1];
    uint32_t text_at, text_len; /* in sn_socket_transport.batch; 0: to be written again */
    seine_phase phase;
    seine_err why; /* cancelled */
    bool is_started, is_ended;
    bool admitted, sent, reused, replayable;
    bool at_proxy; /* whatever fails now is the proxy's fault, not the site's */
    sn_proxy_part via;
    sn_ip peer;    /* the site's; v = 0: not known (yet) */
    sn_ip refused; /* the first that the zones refused; v = 0: none */
    sn_address_zone zone;
};

/* A name on its way to a connection: its own, or that of a proxy. */
struct sn_dial {
    sn_lookup lookup;
    sn_race race;
    sn_timer timer; /* of the next address */
    sn_exchange *x;
    sn_conn *tries[SN_RACE_MOST];
    uint8_t n_tries;
    bool both;     /* families */
    sn_dial *next; /* of those nobody uses */
};

struct sn_socket_transport {
    sn_transport base;
    sn_socket_transport_opts opts;
    sn_loop loop;
    sn_dns *dns;
    sn_address_guard zones;
    uint32_t guard_version;
    seine_time own_read; /* when the own addresses were */
    seine_held held;     /* heads */
    sn_conn_pool idle;
    sn_tickets tickets;
    char *in;      /* SN_SOCKET_TRANSPORT_ROOM bytes that were just received */
    char *scratch; /* SN_DECODE_STEP bytes that were just unpacked; NULL: never yet */
    sn_buf batch;  /* requests started and not launched, as bytes */
    sn_buf text;   /* one request */
    sn_exchange *started, **started_end;
    sn_exchange *doomed;
    sn_conn *ready; /* go on in the next turn */
    sn_conn *conns; /* all that are open */
    sn_kept lent;   /* what `fed` kept, while it is looked at */
    sn_conn *fed;   /* whose bytes are looked at now; NULL: it was closed */
    struct {
        sn_exchange *exchanges;
        sn_conn *conns;
        sn_dial *dials;
        sn_reader *readers;
        sn_body_decoder *unpacks;
        uint32_t n_exchanges, n_conns, n_dials, n_readers, n_unpacks;
    } spare; /* used again, a bounded number of each */
    sn_end end;
    char why[96]; /* of the end that comes next, for people; "": nothing to say */
    sn_socket_transport_stats stats;
    uint64_t n_ended;
    uint32_t live; /* exchanges */
    bool watched;  /* somebody has the descriptor */
    bool turning;
    char key[SN_SOCKET_TRANSPORT_KEY]; /* of an origin */
};

/* exchange.c */
SEINE_MUST_CHECK seine_err sn_exchange_new(sn_socket_transport *w,
                                           const sn_request *request,
                                           const sn_handler *handler,
                                           sn_exchange **out_exchange);
void sn_exchange_spare(sn_exchange *x); /* gives it back, nothing is called */
void sn_exchange_free(sn_exchange *x);

/* The next phase begins, with its limit. */
void sn_exchange_enter(sn_exchange *x, seine_phase phase, seine_span limit);
/* The moment of the phase has moved. */
void sn_exchange_limit(sn_exchange *x, seine_time at);

/* Ends it: what it holds is given back, `end` is called, it is gone. */
void sn_exchange_end(sn_exchange *x, seine_err e);
/* The same, and `text` says more than the kind. */
void sn_exchange_fail(sn_exchange *x, seine_err e, const char *text);

/* The request as bytes, valid until the next; without its body if that stays apart. */
SEINE_MUST_CHECK seine_err sn_exchange_text(sn_exchange *x, sn_str *out_text);
SEINE_MUST_CHECK seine_err sn_exchange_write(const sn_request *request, sn_buf *out);

/* Through a proxy that is asked as if it were the site: http without a tunnel. */
static inline bool
sn_request_is_forward(const sn_request *request)
{
    return request->proxy && !sn_proxy_needs_tunnel(request->proxy, request->url);
}

/* The body is too large to be copied: it is sent from where it is. */
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

/* Without the brackets of an IPv6 address. */
static inline sn_str
sn_url_bare(seine_view name)
{
    if (name.len > 2 && name.ptr[0] == '[')
        return (sn_str){name.ptr + 1, name.len - 2};
    return name;
}

/* dial.c */
void sn_dial_begin(sn_exchange *x);
void sn_dial_heard(sn_conn *c, seine_err e); /* a socket is connected, or not */
seine_err sn_dial_why(sn_dial *d);           /* when its time is over */
void sn_dial_drop(sn_dial *d);
void sn_dial_free(sn_dial *d);

#endif
