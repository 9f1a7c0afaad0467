/* SPDX-License-Identifier: Apache-2.0 */
/* What servers do wrong on plain HTTP, and the kind it ends with: the rows of TCP and of
 * HTTP framing, each asked for by its chaos word. */
#include "diag_line.h"
#include "socket_transport.h"

typedef struct row {
    const char *path;
    seine_err want;
    seine_phase phase;
    uint32_t notes;
    uint64_t bytes; /* of the body */
    uint16_t status;
} row;

#define HEAD SEINE_PHASE_HEAD
#define BODY SEINE_PHASE_BODY
#define NONE SEINE_PHASE_NONE

static void
expect(sn_transport *t, const char *base, const row *r, visit *v)
{
    visit_run(t, v);
    if (v->end.fault.code != r->want || v->end.notes != r->notes)
        printf("  %s\n", r->path);
    CHECK_END(v, r->want);
    CHECK_STR(seine_phase_name(v->end.fault.phase), seine_phase_name(r->phase));
    CHECK_EQ(v->end.notes, r->notes);
    CHECK_EQ(v->bytes, r->bytes);
    CHECK_EQ(v->end.body_bytes, r->bytes);
    CHECK_EQ(v->end.fault.status, r->status);
    CHECK_EQ(v->end.partial, v->heads > 0 && r->want != SEINE_OK);
    CHECK(v->end.fault.sent);
    CHECK_EQ(v->end.fault.timeout_ms, 0);
    CHECK(v->ended - v->begun < CHECK_PATIENCE);
    free(v);

    /* Whatever happened, the next request is not touched by it. */
    v = get(t, base, "/ok");
    CHECK_END(v, SEINE_OK);
    CHECK_STR(v->body, "ok\n");
    free(v);
}

TEST(what_is_not_a_response_has_its_named_error)
{
    static const row rows[] = {
        /* not HTTP, HTTP/0.9 bytes, impossible status */
        {"/badstatus:letters", SEINE_E_BAD_STATUS_LINE, HEAD, 0, 0, 0},
        {"/badstatus:two", SEINE_E_BAD_STATUS_LINE, HEAD, 0, 0, 0},
        {"/badstatus:four", SEINE_E_BAD_STATUS_LINE, HEAD, 0, 0, 0},
        {"/badstatus:low", SEINE_E_BAD_STATUS_LINE, HEAD, 0, 0, 0},
        {"/badstatus:version", SEINE_E_BAD_STATUS_LINE, HEAD, 0, 0, 0},
        {"/badstatus:lower", SEINE_E_BAD_STATUS_LINE, HEAD, 0, 0, 0},
        {"/badstatus:space", SEINE_E_BAD_STATUS_LINE, HEAD, 0, 0, 0},
        {"/badstatus:blank", SEINE_E_BAD_STATUS_LINE, HEAD, 0, 0, 0},
        {"/badstatus:ssh", SEINE_E_BAD_STATUS_LINE, HEAD, 0, 0, 0},
        {"/badstatus:tab", SEINE_E_BAD_STATUS_LINE, HEAD, 0, 0, 0},
        {"/http09", SEINE_E_BAD_STATUS_LINE, HEAD, 0, 0, 0},
        /* too large */
        {"/bighead:65k/ok", SEINE_E_HEADER_TOO_LARGE, HEAD, 0, 0, 0},
        {"/manyhead:1001/ok", SEINE_E_HEADER_TOO_LARGE, HEAD, 0, 0, 0},
        {"/interim:40/ok", SEINE_E_TOO_MANY_INTERIM, HEAD, 0, 0, 0},
        {"/interim:3/ok", SEINE_OK, NONE, 0, 3, 200},
        /* framing */
        {"/length:=-1/ok", SEINE_E_BAD_FRAMING, HEAD, 0, 0, 0},
        {"/length:=1e3/ok", SEINE_E_BAD_FRAMING, HEAD, 0, 0, 0},
        {"/length:=9223372036854775808/ok", SEINE_E_BAD_FRAMING, HEAD, 0, 0, 0},
        {"/length:two/ok", SEINE_E_BAD_FRAMING, HEAD, 0, 0, 0},
        {"/length:odd/ok", SEINE_E_BAD_FRAMING, HEAD, 0, 0, 0},
        {"/length:fold/ok", SEINE_E_BAD_FRAMING, HEAD, 0, 0, 0},
        {"/length:space/ok", SEINE_E_BAD_FRAMING, HEAD, 0, 0, 0},
        {"/length:same/ok", SEINE_OK, NONE, 0, 3, 200},
        {"/length:list/ok", SEINE_OK, NONE, 0, 3, 200},
        {"/te:gzip/ok", SEINE_E_BAD_FRAMING, HEAD, 0, 0, 0},
        {"/te:chunked,%20chunked/ok", SEINE_E_BAD_FRAMING, HEAD, 0, 0, 0},
        {"/interim:1:101/ok", SEINE_E_BAD_FRAMING, HEAD, 0, 0, 0},
        {"/badchunk:size/bytes:10", SEINE_E_BAD_FRAMING, BODY, 0, 0, 200},
        {"/badchunk:huge/bytes:10", SEINE_E_BAD_FRAMING, BODY, 0, 0, 200},
        {"/both/bytes:10", SEINE_OK, NONE, SN_NOTE_FRAMING_CONFLICT, 10, 200},
        {"/chunked/http10/bytes:10", SEINE_OK, NONE, 0, 10, 200},
        {"/chunked/chunkext:100/bytes:10", SEINE_OK, NONE, 0, 10, 200},
        {"/chunked/chunkext:5k/bytes:10", SEINE_E_BAD_FRAMING, BODY, 0, 0, 200},
        {"/chunked/trailer:3/bytes:10", SEINE_OK, NONE, 0, 10, 200},
        {"/chunked/trailer:5000/bytes:10", SEINE_E_HEADER_TOO_LARGE, BODY, 0, 10, 200},
        /* odd headers */
        {"/nul/ok", SEINE_E_BAD_HEADER, HEAD, 0, 0, 0},
        {"/lf/ok", SEINE_OK, NONE, SN_NOTE_LF, 3, 200},
        {"/cr/ok", SEINE_OK, NONE, SN_NOTE_CR, 3, 200},
        {"/fold/ok", SEINE_OK, NONE, 0, 3, 200},
        {"/odd/ok", SEINE_OK, NONE, SN_NOTE_ODD_HEADERS, 3, 200},
        {"/head:X:%E9/ok", SEINE_OK, NONE, 0, 3, 200},
        /* more bytes than the response has, a body where none may be */
        {"/extra:10/ok", SEINE_OK, NONE, SN_NOTE_EXTRA_BYTES, 3, 200},
        {"/smuggle/ok", SEINE_OK, NONE, SN_NOTE_EXTRA_BYTES, 3, 200},
        {"/length:-5/bytes:10", SEINE_OK, NONE, SN_NOTE_EXTRA_BYTES, 5, 200},
        {"/withbody/status:204", SEINE_OK, NONE, SN_NOTE_EXTRA_BYTES, 0, 204},
        /* questions not asked; statuses are not the transport's business */
        {"/status:304", SEINE_E_UNEXPECTED_304, HEAD, 0, 0, 304},
        {"/status:206/bytes:10", SEINE_E_UNEXPECTED_206, HEAD, 0, 0, 206},
        {"/status:999/empty", SEINE_OK, NONE, 0, 0, 999},
        {"/status:503/ok", SEINE_OK, NONE, 0, 3, 503},
        /* cut */
        {"/length:+5/ok", SEINE_E_BODY_TRUNCATED, BODY, 0, 3, 200},
        {"/short:1/bytes:10", SEINE_E_BODY_TRUNCATED, BODY, 0, 9, 200},
        {"/fin:5:body/close/bytes:10", SEINE_OK, NONE, 0, 5, 200}, /* by rule 13 */
        {"/reset:5:body/close/bytes:10", SEINE_E_BODY_TRUNCATED, BODY, 0, 5, 200},
        {"/badchunk:last/bytes:10", SEINE_E_BODY_TRUNCATED, BODY, 0, 10, 200},
        {"/badchunk:none/bytes:10", SEINE_E_BODY_TRUNCATED, BODY, 0, 10, 200},
    };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, rows) {
        visit *v = visit_of(seine_chaos_url(c), rows[i].path);

        v->q.fresh = true;
        expect(t, seine_chaos_url(c), &rows[i], v);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_response_that_a_condition_or_a_range_asked_for_is_taken)
{
    static const row rows[] = {{"/status:304", SEINE_OK, NONE, 0, 0, 304},
                               {"/status:206/bytes:10", SEINE_OK, NONE, 0, 10, 206}};
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, rows) {
        visit *v = visit_of(seine_chaos_url(c), rows[i].path);

        v->q.conditional = i == 0;
        v->q.range = i == 1;
        expect(t, seine_chaos_url(c), &rows[i], v);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_response_to_head_has_no_body)
{
    static const row rows[] = {
        {"/bytes:5000", SEINE_OK, NONE, 0, 0, 200},
        {"/withbody/ok", SEINE_OK, NONE, SN_NOTE_EXTRA_BYTES, 0, 200}};
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, rows) {
        visit *v = visit_of(seine_chaos_url(c), rows[i].path);

        v->q.method = SN_STR("HEAD");
        v->q.fresh = true;
        expect(t, seine_chaos_url(c), &rows[i], v);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* All heads of an exchange are at most 256 KiB: 300,000 bytes of fields below 64 KiB
 * and fewer than 1,000 of them. */
TEST(a_head_is_stopped_at_the_limit_of_all_its_bytes)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v = get(t, seine_chaos_url(c), "/manyhead:300000/ok");

    CHECK_END(v, SEINE_E_HEADER_TOO_LARGE);
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_body_over_the_cap_is_cut_there_and_marked)
{
    static const struct {
        const char *path;
        uint64_t max_body, max_wire, bytes;
        seine_err want;
    } rows[] = {
        {"/bytes:1000", 1000, 1000, 1000, SEINE_OK}, /* just fits */
        {"/bytes:1001", 1000, 1 << 20, 1000, SEINE_E_BODY_TOO_LARGE},
        {"/chunked/bytes:1001", 1000, 1 << 20, 1000, SEINE_E_BODY_TOO_LARGE},
        {"/chunked/bytes:1000", 1000, 1 << 20, 1000, SEINE_OK},
        {"/close/bytes:1001", 1000, 1 << 20, 1000, SEINE_E_BODY_TOO_LARGE},
        {"/close/bytes:1000", 1000, 1 << 20, 1000, SEINE_OK},
        {"/bytes:5", 0, 1 << 20, 0, SEINE_E_BODY_TOO_LARGE},
        {"/empty", 0, 0, 0, SEINE_OK},
        {"/close/bytes:1G", 1 << 20, 1 << 30, 1 << 20, SEINE_E_BODY_TOO_LARGE},
        {"/bytes:17M", 16 << 20, 16 << 20, 16 << 20, SEINE_E_BODY_TOO_LARGE},
    };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, rows) {
        visit *v = visit_of(seine_chaos_url(c), rows[i].path);

        v->limits.max_body = rows[i].max_body;
        v->limits.max_wire = rows[i].max_wire;
        visit_run(t, v);
        CHECK_END(v, rows[i].want);
        CHECK_EQ(v->bytes, rows[i].bytes);
        CHECK_EQ(v->end.partial, rows[i].want != SEINE_OK);
        CHECK_EQ(transport_stats(t).idle,
                 rows[i].want == SEINE_OK && !strstr(rows[i].path, "close"));
        free(v);
        transport_idle(t, 0);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(bytes_on_the_wire_have_a_cap_of_their_own)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v = visit_of(seine_chaos_url(c), "/chunked/chunksize:1/bytes:1000");

    v->limits.max_wire = 3000; /* a byte is six on the wire */
    visit_run(t, v);
    CHECK_END(v, SEINE_E_BODY_TOO_LARGE);
    CHECK(v->bytes >= 499 && v->bytes <= 502);
    CHECK(v->end.wire_bytes > 3000 && v->end.wire_bytes < 3010);
    CHECK(v->end.partial);
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_connection_that_cannot_be_made_has_its_named_error)
{
    seine_chaos *c = chaos(NULL);
    sn_socket_transport_opts o = transport_opts();
    sn_cidr all = {{4, {255, 255, 255, 255}}, 32};

    o.zones.allow = &all;
    o.zones.n_allow = 1;
    sn_transport *t = transport_of(&o);
    visit *v = get(t, seine_chaos_where(c, "dead"), "/");

    CHECK_END(v, SEINE_E_CONNECT_REFUSED);
    CHECK_EQ(v->end.fault.phase, SEINE_PHASE_CONNECT);
    CHECK(!v->end.fault.sent && !v->end.partial);
    CHECK_EQ(v->end.http, 255);
    CHECK_EQ(v->end.peer.v, 4);
    CHECK_EQ(v->admits, 1);
    free(v);

    v = get(t, "http://255.255.255.255:9", "/"); /* nobody is reached by TCP there */
    CHECK_END(v, SEINE_E_CONNECT_UNREACHABLE);
    free(v);
    CHECK_EQ(transport_stats(t).open, 0);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(names_that_cannot_be_found_have_their_named_error)
{
    static const struct {
        const char *host;
        seine_err want;
    } rows[] = {
        {"http://nx.test/", SEINE_E_DNS_NXDOMAIN},
        {"http://empty.test/", SEINE_E_DNS_NXDOMAIN},
        {"http://servfail.test/", SEINE_E_DNS_SERVFAIL},
        {"http://a..b.test/", SEINE_E_DNS_BAD_NAME},
        {"http://a-1-2-3-4.test.example!/", SEINE_E_DNS_BAD_NAME},
    };
    seine_chaos *c = chaos(NULL);
    sn_socket_transport_opts o = transport_opts();

    o.dns.server = seine_chaos_where(c, "dns");
    sn_transport *t = transport_of(&o);
    EACH_ROW(i, rows) {
        visit *v = get(t, rows[i].host, "");

        CHECK_END(v, rows[i].want);
        CHECK_EQ(v->end.fault.phase, SEINE_PHASE_DNS);
        CHECK(!v->end.fault.sent);
        CHECK_EQ(v->end.peer.v, 0);
        CHECK_EQ(v->admits, 0);
        free(v);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_name_is_looked_up_and_its_host_is_asked)
{
    seine_chaos *c = chaos(NULL);
    sn_socket_transport_opts o = transport_opts();
    char base[64];

    o.dns.server = seine_chaos_where(c, "dns");
    sn_transport *t = transport_of(&o);
    snprintf(base, sizeof base, "http://user:pw@Www.Test.:%s",
             strrchr(seine_chaos_url(c), ':') + 1);
    visit *v = get(t, base, "/ok");
    CHECK_END(v, SEINE_OK);
    CHECK_EQ(v->end.peer.bytes[1], 1); /* 127.1.x.y */
    CHECK(!v->end.reused);
    free(v);

    /* The same origin without user information and dot. */
    snprintf(base, sizeof base, "http://www.test:%s",
             strrchr(seine_chaos_url(c), ':') + 1);
    v = get(t, base, "/ok");
    CHECK_END(v, SEINE_OK);
    CHECK(v->end.reused);
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(https_ends_in_a_named_error_where_there_is_no_tls)
{
    sn_transport *t = transport();
    visit *v = get(t, "https://127.0.0.1:1", "/");

    CHECK_END(v, SEINE_E_TLS_ERROR);
    CHECK_STR(v->end.fault.text, "no TLS here");
    CHECK_EQ(v->end.fault.phase, SEINE_PHASE_TLS);
    CHECK(!v->end.fault.sent);
    free(v);
    sn_socket_transport_free(t);
}

TEST(what_may_not_be_asked_is_refused_at_once)
{
    static const sn_field bad[] = {{{"Host", 4}, {"x", 1}}, {{"A", 1}, {"a\r\nB: c", 7}}};
    sn_transport *t = transport();
    visit *v = visit_of("http://127.0.0.1:1", "/");

    v->q.deadline = SEINE_NEVER;
    CHECK_EQ(visit_start(t, v), SEINE_E_INVAL);
    v->q.deadline = transport_now() + SEINE_SECS(1);
    v->q.n_fields = 1;
    EACH_ROW(i, bad) {
        v->q.fields = &bad[i];
        CHECK_EQ(visit_start(t, v), SEINE_E_INVAL);
    }
    free(v);
    v = visit_of("ftp://127.0.0.1", "/");
    CHECK_EQ(visit_start(t, v), SEINE_E_INVAL);
    t->ops->turn(t, 0);
    CHECK_EQ(v->ends, 0);
    free(v);
    sn_socket_transport_free(t);
}

TEST(options_that_make_no_sense_are_refused)
{
    sn_transport *t = NULL;
    seine_diag diag = SEINE_DIAG;
    sn_socket_transport_opts o = transport_opts();

    o.max_connections = 0;
    CHECK_EQ(sn_socket_transport_new(&o, &t, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag_line(&diag), "max_connections: at least 1");
    o = transport_opts();
    o.idle_time = -1;
    CHECK_EQ(sn_socket_transport_new(&o, &t, NULL), SEINE_E_CONFIG);
    o = transport_opts();
    o.dns.server = "nonsense";
    CHECK_EQ(sn_socket_transport_new(&o, &t, &diag), SEINE_E_CONFIG);
    o = transport_opts();
    o.zones.nat64 = &(sn_cidr){{6, {0}}, 7};
    o.zones.n_nat64 = 1;
    CHECK_EQ(sn_socket_transport_new(&o, &t, &diag), SEINE_E_CONFIG);
    CHECK(!t);
    sn_socket_transport_free(NULL);
}
