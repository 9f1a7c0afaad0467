/* SPDX-License-Identifier: Apache-2.0 */
/* A request to the hostile server, served as on a socket; behind a byte 0xff, a query to
 * its name server; behind 0xfe, messages of a client to its SOCKS proxy. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "chaos/name_server.h"
#include "chaos/proxy.h"
#include "chaos/request_body.h"
#include "chaos/world.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())
#define MOST       300000 /* bytes of a response that are read */
#define MOST_CODED 8      /* reads of one that is made meanwhile, each the work of MiB */

static void
ask_for_name(const uint8_t *query, size_t n)
{
    static uint8_t out[SNC_NAME_SERVER_ROOM];
    snc_script none;

    snc_script_init(&none);
    for (int tcp = 0; tcp < 2; tcp++) {
        snc_dns_query in = {
            .query = query, .len = n, .tcp = tcp, .script = &none, .hit = 1};
        snc_dns_answer named = {.bytes = out, .room = sizeof out};

        snc_name_server_answer(&in, &named);
        REQUIRE(named.len <= (tcp ? sizeof out : SNC_NAME_SERVER_UDP));
        REQUIRE(named.len == 0 || (named.len >= 12 && out[2] & 0x80));
        REQUIRE(named.delay >= 0);
    }
    snc_script_fini(&none);
}

/* The whole body of a request; false: it is malformed or incomplete. */
static bool
take_in(const snc_request *req, sn_str rest, sn_buf *body)
{
    snc_request_body in = snc_request_body_of(req);
    snc_parsed got = in.state == SNC_BODY_DONE ? SNC_PARSED_OK : SNC_PARSED_MORE;
    sn_str piece;

    while (got == SNC_PARSED_MORE && rest.len > 0) {
        got = snc_request_body_feed(&in, &rest, &piece);
        sn_buf_str(body, piece);
    }
    REQUIRE(got != SNC_PARSED_BAD || in.why);
    return got == SNC_PARSED_OK;
}

/* The response is exactly as long as it was announced. */
static void
read_response(snc_world *w, snc_response *a)
{
    static char out[32768];
    uint64_t length = snc_wire_length(&a->wire), sum = 0;
    size_t n;

    REQUIRE(a->status >= 100 && a->status <= 999);
    REQUIRE(a->delay >= 0 && a->every >= 0 && (a->every == 0 || a->drip > 0));
    unsigned reads = length == SNC_WIRE_ENDLESS ? MOST_CODED : UINT_MAX;
    while ((n = snc_wire_read(&a->wire, &w->lines, out, sizeof out)) > 0 && sum < MOST &&
           --reads > 0)
        sum += n;
    bool odd = a->wire.chunks.on && a->wire.chunks.fault != SNC_CHUNK_FINE;
    REQUIRE(n > 0 || odd || length == SNC_WIRE_ENDLESS || sum == length);
}

static void
serve_twice(snc_world *w, const snc_request *req, sn_str body)
{
    snc_visitor v = {.connection = 1, .nth = 1, .body = body, .body_len = body.len};
    snc_ending e = {.whole = true};
    snc_response response;
    snc_trace trace;

    if (req->connect) {
        snc_passage to;

        REQUIRE(snc_proxy_connect(w, &v, req, 1, &response, &to) == SEINE_OK);
        read_response(w, &response);
        snc_response_fini(&response);
        return;
    }
    for (seine_time now = 1; now < 4; now++) { /* hits 1, 2 and 3 */
        seine_err err = snc_world_request(w, &v, req, SEINE_SECS(now), &response, &trace);

        REQUIRE(err == SEINE_OK || err == SEINE_E_FULL);
        if (err != SEINE_OK)
            continue;
        snc_world_begin(w, &trace, SEINE_SECS(now));
        read_response(w, &response);
        snc_response_fini(&response);
        snc_world_end(w, &trace, &e);
        REQUIRE(w->witness.in_flight == 0);
    }
}

/* Reads messages until one is bad, incomplete or the last. */
static void
ask_socks(snc_world *w, sn_str bytes)
{
    snc_visitor v = {.connection = 1, .nth = 1};
    snc_socks socks = {.at = SNC_SOCKS_HELLO};
    snc_response response;
    snc_passage to = {.way = SNC_WAY_NONE};
    size_t used = 0;
    snc_parsed got;

    while ((got = snc_socks_read(&socks, bytes, &used)) == SNC_PARSED_OK) {
        REQUIRE(used > 0 && used <= bytes.len);
        bytes = sn_str_slice(bytes, used, bytes.len);
        REQUIRE(snc_proxy_socks(w, &v, &socks, 1, &response, &to) == SEINE_OK);
        read_response(w, &response);
        bool over = !response.keep || to.way != SNC_WAY_NONE;
        snc_response_fini(&response);
        if (over)
            break;
    }
    REQUIRE(got != SNC_PARSED_BAD || socks.why);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static snc_world world;
    static snc_request req;
    sn_str text = {(const char *)bytes, n};
    sn_buf body;

    if (n > 0 && bytes[0] == 0xff) {
        ask_for_name(bytes + 1, n - 1);
        return 0;
    }
    if (n > 0 && bytes[0] == 0xfe) {
        REQUIRE(snc_world_init(&world, 1) == SEINE_OK);
        ask_socks(&world, sn_str_slice(text, 1, n));
        snc_world_fini(&world);
        return 0;
    }
    snc_parsed got = snc_request_head(&req, text);
    REQUIRE(got != SNC_PARSED_BAD || req.why);
    if (got != SNC_PARSED_OK)
        return 0;
    REQUIRE(req.head_len <= n);
    sn_buf_init(&body, 65536);
    REQUIRE(snc_world_init(&world, 1) == SEINE_OK);
    if (take_in(&req, sn_str_slice(text, req.head_len, n), &body))
        serve_twice(&world, &req, sn_buf_view(&body));
    snc_world_fini(&world);
    sn_buf_fini(&body);
    return 0;
}
