/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "chaos/connection.h"

static void
begin(snc_connection *g, seine_err e)
{
    g->trace = (snc_trace){.epoch = 0};
    if (e == SEINE_OK)
        snc_connection_respond(g);
    else
        snc_connection_reset(g);
}

void
snc_connection_connect(snc_connection *g, const snc_request *req)
{
    snc_server *s = g->server;
    snc_visitor v = snc_connection_visitor(g);

    begin(g, snc_proxy_connect(&s->world, &v, req, g->arrived, &s->response, &g->to));
}

/* One message from the front of `bytes`; what is left. */
sn_str
snc_connection_socks(snc_connection *g, sn_str bytes)
{
    snc_server *s = g->server;
    size_t used = 0;

    switch (snc_socks_read(g->socks, bytes, &used)) {
    case SNC_PARSED_MORE:
        g->need_more = true;
        return bytes;
    case SNC_PARSED_BAD:
        snc_world_count_bad(&s->world, g->socks->why);
        snc_connection_reset(g);
        return (sn_str){NULL, 0};
    default:
        break;
    }
    snc_visitor v = snc_connection_visitor(g);
    begin(g, snc_proxy_socks(&s->world, &v, g->socks, g->arrived, &s->response, &g->to));
    return sn_str_slice(bytes, used, bytes.len);
}

/* From here on it is somebody who came through another door. What it has sent ahead is
 * read first. */
void
snc_connection_tunnel(snc_connection *g)
{
    snc_passage to = g->to;

    g->to.way = SNC_WAY_NONE;
    g->tunnelled = true;
    g->nth = 0;
    sn_free(g->socks);
    g->socks = NULL;
    if (to.address[0])
        memcpy(g->own, to.address, sizeof g->own);
    if (to.way == SNC_WAY_HTTP)
        return;
    sn_buf_fini(&g->early);
    g->early = g->in;
    sn_buf_init(&g->in, (size_t)2 * SNC_REQUEST_HEAD);
    g->need_more = false;
    snc_connection_greet(g);
}
