/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy.h - the server as a hostile proxy: CONNECT and SOCKS5.
 *
 * The proxy never connects anywhere. A tunnel ends in the server itself: the client goes
 * on as if it had come through the HTTP or the HTTPS door. The port it asked for selects
 * the door: our own ports, 80 and 443. The `dead` port is refused, the `hole` gets no
 * response, all others are forbidden.
 *
 *     e = snc_proxy_connect(&world, &visitor, &req, now, &response, &to);
 *     …                                    send the response
 *     if (to.way == SNC_WAY_HTTPS)
 *         begin_tls();
 *
 * Faults come from the script: {"proxy":"a.test","fault":"status:502"}, `*` for all
 * hosts. Words that name a body replace the right response; other words are applied to
 * it. For SOCKS the words are applied to each message of the server; before the client
 * has said where it wants to go, those for `*`.
 *
 * Requests in absolute form get the response of the target (world_request.c).
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

/* Where a tunnel leads once the response is out. */
typedef struct snc_passage {
    snc_way way;
    char address[16]; /* IPv4, when the client gave an address; else empty */
} snc_passage;

/* NOMEM: there is no response. */
SEINE_MUST_CHECK seine_err snc_proxy_connect(snc_world *w, const snc_visitor *v,
                                             const snc_request *req, seine_time now,
                                             snc_response *out_response,
                                             snc_passage *out_to);

/* Replies to the message that was read, and moves `socks` on to the next. */
SEINE_MUST_CHECK seine_err snc_proxy_socks(snc_world *w, const snc_visitor *v,
                                           snc_socks *socks, seine_time now,
                                           snc_response *out_response,
                                           snc_passage *out_to);

/* The origin of the door that the client came through, "http://127.0.0.1:8080": a secret
 * for the proxy belongs there. From the arena. */
sn_str snc_proxy_origin(snc_world *w, const snc_visitor *v, const char *scheme,
                        uint16_t port);

#endif
