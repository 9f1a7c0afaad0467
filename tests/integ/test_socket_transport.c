/* SPDX-License-Identifier: Apache-2.0 */
/* The real transport: what a request brings home, and on which connection. */
#include "socket_transport.h"

TEST(a_request_brings_a_head_a_body_and_an_end)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v = get(t, seine_chaos_url(c), "/ok");

    CHECK_END(v, SEINE_OK);
    CHECK_EQ(v->heads, 1);
    CHECK_EQ(v->status, 200);
    CHECK_STR(v->type, "text/plain");
    CHECK_STR(v->body, "ok\n");
    CHECK_EQ(v->end.body_bytes, 3);
    CHECK_EQ(v->end.wire_bytes, 3);
    CHECK_EQ(v->end.http, 1);
    CHECK_EQ(v->end.notes, 0);
    CHECK_EQ(v->end.fault.status, 200);
    CHECK(v->end.fault.sent && !v->end.partial && !v->end.reused);
    CHECK_EQ(v->end.fault.retry_after, -1);
    CHECK_EQ(v->end.peer.v, 4);
    CHECK_EQ(v->end.peer.bytes[0], 127);
    CHECK_EQ(v->end.zone, SN_ADDRESS_LOCAL);
    CHECK_EQ(v->admits, 1);
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* They take turns: one rests, in case that a response is still to come, see
 * a_used_connection_rests_for_as_long_as_its_last_response_took. */
TEST(requests_one_after_the_other_share_two_connections)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    transport_stop_clock();
    for (int i = 0; i < 200; i++) {
        visit *v = get(t, seine_chaos_url(c), i % 2 ? "/chunked/bytes:5000" : "/ok");

        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->end.reused, i > 0 && i != 2);
        CHECK_EQ(v->bytes, i % 2 ? 5000 : 3);
        CHECK_EQ(v->admits, 1);
        free(v);
    }
    CHECK_EQ(chaos_number(c, "hosts", "127.0.0.1", "connections"), 2);
    CHECK_EQ(chaos_number(c, "hosts", "127.0.0.1", "requests"), 200);
    CHECK_EQ(transport_stats(t).opened, 2);
    CHECK_EQ(transport_stats(t).reused, 198);
    CHECK_EQ(transport_stats(t).idle, 2);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
    transport_go_clock();
}
