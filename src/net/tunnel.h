/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tunnel.h - open a tunnel through a proxy: CONNECT and SOCKS5.
 *
 * CONNECT (RFC 9110, 9.3.6) or SOCKS5 (RFC 1928, login by RFC 1929), as bytes, without
 * socket and clock. The result does not depend on how the bytes are cut into pieces. A
 * site sends nothing before its first request, so a byte after the proxy's reply is an
 * error: no bytes of a proxy are ever taken for a response of the site.
 *
 *     e = sn_tunnel_init(&t, proxy, &(sn_tunnel_to){.name = name, .port = 443}, NULL);
 *     for (;;) {
 *         for (sn_str s; (s = sn_tunnel_output(&t)).len > 0;)
 *             sn_tunnel_sent(&t, send(s));
 *         switch (sn_tunnel_receive(&t, received())) {
 *         case SN_TUNNEL_MORE: continue;
 *         case SN_TUNNEL_OPEN: …                       from here on it is the site
 *         case SN_TUNNEL_FAIL: …                       t.err, t.text
 *         }
 *     }
 *     sn_tunnel_fini(&t);
 *
 * The proxy says                                        kind            answered
 *
 *     another status than 2xx; SOCKS replies 2, 7, 8    proxy_refused   yes
 *     407; no method of ours; the login is wrong        proxy_auth      no
 *     SOCKS replies 1, 3, 4, 5, 6: no site there        proxy_error     yes
 *     anything else, too much, too little, nothing      proxy_error     no
 *
 * `answered` is for the proxy's own breaker: the proxy works, even if the site does not.
 *
 * Time    plays no part.
 * Memory  the request; and the head of a reply, as in net/h1.h.
 * Threads one owner.
 */
#ifndef SN_TUNNEL_H
#define SN_TUNNEL_H

#include "net/h1.h"
#include "net/proxy.h"

/* The destination. */
typedef struct sn_tunnel_to {
    sn_str name; /* for a resolver; an address without brackets … */
    sn_ip ip;    /* … or this, if v != 0 */
    uint16_t port;
} sn_tunnel_to;

typedef enum sn_tunnel_event {
    SN_TUNNEL_MORE, /* send what is to be sent, then go on */
    SN_TUNNEL_OPEN,
    SN_TUNNEL_FAIL,
} sn_tunnel_event;

typedef struct sn_tunnel {
    const sn_proxy *proxy;
    seine_err err;            /* of FAIL */
    bool answered;            /* of FAIL and OPEN */
    uint16_t status;          /* of CONNECT, or the reply of SOCKS; 0: none */
    char text[SN_PROXY_TELL]; /* of FAIL, for people; may be "" */
    /* private */
    uint8_t state;
    sn_tunnel_to to;
    sn_buf out;
    size_t said; /* of `out` */
    uint8_t in[4 + 1 + 255 + 2];
    size_t n_in;
    sn_h1 h1;
    sn_head head;
} sn_tunnel;

/* Borrows `proxy` and the name; `held` is for the head, and may be NULL. INVAL: a name
 * that cannot be sent: empty, or over 255 bytes. NOMEM. */
SEINE_MUST_CHECK seine_err sn_tunnel_init(sn_tunnel *t, const sn_proxy *proxy,
                                          const sn_tunnel_to *to, seine_held *held);
void sn_tunnel_fini(sn_tunnel *t);

/* The bytes to send now, or empty; and how many of them were sent. */
sn_str sn_tunnel_output(const sn_tunnel *t);
void sn_tunnel_sent(sn_tunnel *t, size_t n);

/* Reads all received bytes. After OPEN and FAIL it returns the same event again. */
sn_tunnel_event sn_tunnel_receive(sn_tunnel *t, sn_str in);

/* The connection has ended; never returns OPEN. */
sn_tunnel_event sn_tunnel_lost(sn_tunnel *t);

#endif
