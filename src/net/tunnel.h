/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tunnel.h - what is said to a proxy until the way to the site is open.
 *
 * CONNECT (RFC 9110, 9.3.6) or SOCKS5 (RFC 1928, login by RFC 1929), as bytes: it knows
 * no socket and no clock. Whatever the pieces the bytes arrive in, the result is the
 * same, and nothing of what a proxy says is ever taken for an answer of the site: the
 * site speaks only when asked, so a byte behind the proxy's last word is an error.
 *
 *     e = sn_tunnel_init(&t, proxy, &(sn_tunnel_to){.name = name, .port = 443}, NULL);
 *     for (;;) {
 *         for (sn_str s; (s = sn_tunnel_says(&t)).len > 0;)
 *             sn_tunnel_said(&t, send(s));
 *         switch (sn_tunnel_hear(&t, received())) {
 *         case SN_TUNNEL_MORE: continue;
 *         case SN_TUNNEL_OPEN: …                       from here on it is the site
 *         case SN_TUNNEL_FAIL: …                       t.err, t.text
 *         }
 *     }
 *     sn_tunnel_fini(&t);
 *
 * | the proxy says                                     | kind          | answered |
 * | another status than 2xx; SOCKS replies 2, 7, 8     | proxy_refused | yes      |
 * | 407; no method of ours; the login is wrong         | proxy_auth    | no       |
 * | SOCKS replies 1, 3, 4, 5, 6: the site is not there | proxy_error   | yes      |
 * | anything else, too much, too little, nothing       | proxy_error   | no       |
 *
 * `answered` is for the proxy's own breaker: it works, whatever it thinks of the site.
 *
 * Time    plays no part.
 * Memory  the question; what the head of an answer needs, as net/h1.h.
 * Threads one owner.
 */
#ifndef SN_TUNNEL_H
#define SN_TUNNEL_H

#include "net/h1.h"
#include "net/proxy.h"

/* Where to. */
typedef struct sn_tunnel_to {
    sn_str name; /* as it is looked up, of an address without brackets … */
    sn_ip ip;    /* … or this, for v != 0 */
    uint16_t port;
} sn_tunnel_to;

typedef enum sn_tunnel_event {
    SN_TUNNEL_MORE, /* say what is to be said, then hear on */
    SN_TUNNEL_OPEN,
    SN_TUNNEL_FAIL,
} sn_tunnel_event;

typedef struct sn_tunnel {
    const sn_proxy *proxy;
    seine_err err;            /* of FAIL */
    bool answered;            /* of FAIL and OPEN */
    uint16_t status;          /* of CONNECT, or the reply of SOCKS; 0: none */
    char text[SN_PROXY_TELL]; /* of FAIL: for people; "" when the kind says it all */
    /* its own */
    uint8_t state;
    sn_tunnel_to to;
    sn_buf out;
    size_t said; /* of `out` */
    uint8_t in[4 + 1 + 255 + 2];
    size_t n_in;
    sn_h1 h1;
    sn_head head;
} sn_tunnel;

/* `proxy` and the name are borrowed; `held` is that of the head, and may be NULL. INVAL:
 * a name that cannot be sent: empty, or over 255 bytes. NOMEM. */
SEINE_MUST_CHECK seine_err sn_tunnel_init(sn_tunnel *t, const sn_proxy *proxy,
                                          const sn_tunnel_to *to, seine_held *held);
void sn_tunnel_fini(sn_tunnel *t);

/* What is to be sent now; empty: nothing. */
sn_str sn_tunnel_says(const sn_tunnel *t);
void sn_tunnel_said(sn_tunnel *t, size_t n);

/* All that came. After OPEN and FAIL the same one again. */
sn_tunnel_event sn_tunnel_hear(sn_tunnel *t, sn_str in);

/* The connection has ended: never OPEN any more. */
sn_tunnel_event sn_tunnel_lost(sn_tunnel *t);

#endif
