/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "chaos/connection.h"

static void
begin_response(snc_connection *c, seine_err e)
{
    c->trace = (snc_trace){.epoch = 0};
    if (e == SEINE_OK)
        snc_connection_respond(c);
    else
        snc_connection_reset(c);
}

void
snc_connection_connect(snc_connection *c, const snc_request *req)
{
    snc_server *s = c->server;
    snc_visitor v = snc_connection_visitor(c);

    begin_response(
        c, snc_proxy_connect(&s->world, &v, req, c->arrived, &s->response, &c->to));
}

/* Takes one message from the front of `bytes`; returns the rest. */
sn_str
snc_connection_socks(snc_connection *c, sn_str bytes)
{
    snc_server *s = c->server;
    size_t used = 0;

    switch (snc_socks_read(c->socks, bytes, &used)) {
    case SNC_PARSED_MORE:
        c->need_more = true;
        return bytes;
    case SNC_PARSED_BAD:
        snc_world_count_bad(&s->world, c->socks->why);
        snc_connection_reset(c);
        return (sn_str){NULL, 0};
    default:
        break;
    }
    snc_visitor v = snc_connection_visitor(c);
    begin_response(
        c, snc_proxy_socks(&s->world, &v, c->socks, c->arrived, &s->response, &c->to));
    return sn_str_slice(bytes, used, bytes.len);
}

/* From here on the connection behaves as if it had come through another door. Bytes that
 * the client sent ahead are read first. */
void
snc_connection_tunnel(snc_connection *c)
{
    snc_passage to = c->to;

    c->to.way = SNC_WAY_NONE;
    c->tunnelled = true;
    c->nth = 0;
    sn_free(c->socks);
    c->socks = NULL;
    if (to.address[0])
        memcpy(c->own, to.address, sizeof c->own);
    if (to.way == SNC_WAY_HTTP)
        return;
    sn_buf_fini(&c->early);
    c->early = c->in;
    sn_buf_init(&c->in, (size_t)2 * SNC_REQUEST_HEAD);
    c->need_more = false;
    snc_connection_greet(c);
}
