/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.h - the server as a proxy that lies: CONNECT and SOCKS5.
 *
 * It never connects to anybody. A tunnel ends in the server itself: its client goes on
 * as if it had come through the HTTP or the HTTPS door. Which door follows from the
 * port it asked for: our own ones, 80 and 443. The `dead` port is refused, the `hole`
 * never answered, all others are forbidden.
 *
 *     e = snc_proxy_connect(&world, &visitor, &ask, now, &answer, &to);
 *     …                                    send the answer
 *     if (to.way == SNC_WAY_HTTPS)
 *         begin_tls();
 *
 * Lies come from the script: {"proxy":"a.test","fault":"status:502"}, `*` for all
 * hosts. With words that say what is served, that is the answer; others are done to
 * the right one. For SOCKS the words are done to each message of the server; before the
 * client has said where it wants to go, those for `*`.
 *
 * Requests in absolute form are answered as if they had been passed on (world_request.c).
 *
 * Time    is passed in.
 * Memory  the world's.
 * Threads one owner.
 */
#ifndef SNC_PROXY_H
#define SNC_PROXY_H

#include "chaos/socks.h"
#include "chaos/world.h"

typedef enum snc_way { SNC_WAY_NONE, SNC_WAY_HTTP, SNC_WAY_HTTPS } snc_way;

/* Where a tunnel leads once the answer is out. */
typedef struct snc_passage {
    snc_way way;
    char address[16]; /* IPv4, when it was asked for by address; else empty */
} snc_passage;

/* NOMEM: there is no answer. */
SEINE_MUST_CHECK seine_err snc_proxy_connect(snc_world *w, const snc_visitor *v,
                                             const snc_request *req, seine_time now,
                                             snc_response *out_response,
                                             snc_passage *out_to);

/* Answers the message that was read, and moves `socks` on to the next. */
SEINE_MUST_CHECK seine_err snc_proxy_socks(snc_world *w, const snc_visitor *v,
                                           snc_socks *socks, seine_time now,
                                           snc_response *out_response,
                                           snc_passage *out_to);

/* The origin of the door the visitor came through, "http://127.0.0.1:8080": what is
 * meant for the proxy belongs there. From the arena. */
sn_str snc_proxy_origin(snc_world *w, const snc_visitor *v, const char *scheme,
                        uint16_t port);

#endif
