/* SPDX-License-Identifier: Apache-2.0 */
/* P4: every phase ends at its moment, in real time; never before it. */
#include "socket_transport.h"

TESTS_AT_ONCE(8)

#define OFF     SEINE_NEVER
#define CHANCES 30

typedef struct row {
    const char *place, *path; /* NULL: the server itself */
    seine_err want;
    seine_phase phase;
    int ms;                                  /* after which it ends */
    int dns, tcp, connect, send, head, body; /* limits in ms; 0: far away */
    bool attempt;                            /* the deadline is what ends it */
    bool upload;
} row;

#define DNS     SEINE_PHASE_DNS
#define CONNECT SEINE_PHASE_CONNECT
#define SEND    SEINE_PHASE_SEND
#define HEAD    SEINE_PHASE_HEAD
#define BODY    SEINE_PHASE_BODY

static seine_span
span(int ms)
{
    return ms > 0 ? SEINE_MS(ms) : SEINE_SECS(25);
}

static visit *
prepare(const seine_chaos *c, const row *r)
{
    char base[64];
    const char *port = strrchr(seine_chaos_url(c), ':') + 1;

    if (r->place && strchr(r->place, '.'))
        snprintf(base, sizeof base, "http://%s:%s", r->place, port);
    else
        snprintf(base, sizeof base, "%s",
                 r->place ? seine_chaos_where(c, r->place) : seine_chaos_url(c));
    visit *v = visit_of(base, r->path);
    v->limits.time = (sn_timeouts){.dns = span(r->dns),
                                   .tcp = span(r->tcp),
                                   .tls = span(0),
                                   .connect = span(r->connect),
                                   .send = span(r->send),
                                   .head = span(r->head),
                                   .attempt = r->attempt ? span(r->ms) : SEINE_SECS(30),
                                   .speed_bytes = r->body > 0 ? 1000 : 0,
                                   .speed_span = span(r->body)};
    v->q.fresh = true;
    return v;
}

static void
judge(const visit *v, const row *r)
{
    CHECK_END(v, r->want);
    CHECK_STR(seine_phase_name(v->end.fault.phase), seine_phase_name(r->phase));
    CHECK_EQ(v->end.fault.timeout_ms, r->ms);
    CHECK_EQ(v->end.partial, r->phase == BODY);
    CHECK_EQ(v->end.fault.sent, r->phase >= SEND);
    CHECK(v->end.spent[r->phase] > 0);
    CHECK(v->end.spent[r->phase] <= v->ended - v->begun);
}

/* Never early; a machine that has other things to do gets many chances to be on time, and
 * so does its server to be as far as that by then. */
static void
on_time(sn_transport *t, const seine_chaos *c, const row *r)
{
    static char body[32 << 20]; /* more than kernels buffer */
    seine_span late = SEINE_NEVER;

    for (int i = 0; i < CHANCES && late > SEINE_MS(100); i++) {
        visit *v = prepare(c, r);

        if (r->upload) {
            v->q.method = SN_STR("POST");
            v->q.body = (sn_str){body, sizeof body};
        }
        if (r->attempt)
            v->q.deadline = transport_now() + SEINE_MS(r->ms);
        visit_run(t, v);
        late = v->ended - v->begun - SEINE_MS(r->ms);
        CHECK(late >= 0);
        if (v->end.fault.phase != r->phase)
            late = SEINE_NEVER;
        if (late <= SEINE_MS(100) || i == CHANCES - 1)
            judge(v, r);
        free(v);
    }
    CHECK(late <= SEINE_MS(100));
}

static sn_transport *
with_names(const seine_chaos *c)
{
    sn_socket_transport_opts o = transport_opts();

    o.dns.server = seine_chaos_where(c, "dns");
    return transport_of(&o);
}

TEST(p4_a_phase_ends_at_its_limit_and_names_it)
{
    static const row rows[] = {
        {"slow-3000.a.test", "/ok", SEINE_E_DNS_TIMEOUT, DNS, 120, .dns = 120},
        {"slow-3000.b.test", "/ok", SEINE_E_DNS_TIMEOUT, DNS, 110, .connect = 110},
        {"drop.c.test", "/ok", SEINE_E_DNS_TIMEOUT, DNS, 90, .dns = 90},
        {"hole", "/ok", SEINE_E_CONNECT_TIMEOUT, CONNECT, 100, .tcp = 100},
        {"hole", "/ok", SEINE_E_CONNECT_TIMEOUT, CONNECT, 80, .connect = 80},
        {NULL, "/noread/ok", SEINE_E_SEND_TIMEOUT, SEND, 150, .send = 150,
         .upload = true},
        {NULL, "/mute", SEINE_E_HEADER_TIMEOUT, HEAD, 100, .head = 100},
        {NULL, "/stall:10/ok", SEINE_E_HEADER_TIMEOUT, HEAD, 100, .head = 100},
        {NULL, "/drip:1x10ms/ok", SEINE_E_HEADER_TIMEOUT, HEAD, 150, .head = 150},
        {NULL, "/interim:5/stall:80/ok", SEINE_E_HEADER_TIMEOUT, HEAD, 90, .head = 90},
        {NULL, "/stall:0:body/bytes:9", SEINE_E_STALLED, BODY, 100, .body = 100},
        {NULL, "/stall:5:body/bytes:9", SEINE_E_STALLED, BODY, 120, .body = 120},
        {NULL, "/drip:1x5ms:body/bytes:9k", SEINE_E_STALLED, BODY, 200, .body = 200},
        {NULL, "/stall:5:body/chunked/bytes:9", SEINE_E_STALLED, BODY, 90, .body = 90},
        {NULL, "/stall:5:body/close/bytes:9", SEINE_E_STALLED, BODY, 90, .body = 90},
    };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = with_names(c);

    EACH_ROW(i, rows)
        on_time(t, c, &rows[i]);
    CHECK_EQ(transport_stats(t).open, 0);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(p4_an_attempt_ends_at_its_deadline_in_every_phase)
{
    static const row rows[] = {
        {"slow-3000.d.test", "/ok", SEINE_E_TIMEOUT, DNS, 90, .attempt = true},
        {"hole", "/ok", SEINE_E_TIMEOUT, CONNECT, 90, .attempt = true},
        {NULL, "/noread/ok", SEINE_E_TIMEOUT, SEND, 150, .attempt = true, .upload = true},
        {NULL, "/mute", SEINE_E_TIMEOUT, HEAD, 90, .attempt = true},
        {NULL, "/drip:1x5ms/ok", SEINE_E_TIMEOUT, HEAD, 150, .attempt = true},
        /* however steadily bytes drip */
        {NULL, "/drip:100x10ms:body/bytes:9k", SEINE_E_TIMEOUT, BODY, 150, .body = 100,
         .attempt = true},
        {NULL, "/bw:2M/bytes:9M", SEINE_E_TIMEOUT, BODY, 200, .attempt = true},
    };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = with_names(c);

    EACH_ROW(i, rows)
        on_time(t, c, &rows[i]);
    CHECK_EQ(transport_stats(t).open, 0);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_deadline_that_is_past_ends_it_before_anything_is_done)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v = visit_of(seine_chaos_url(c), "/ok");

    v->q.deadline = transport_now();
    visit_run(t, v);
    CHECK_END(v, SEINE_E_TIMEOUT);
    CHECK_EQ(v->end.fault.timeout_ms, 30000);
    CHECK(!v->end.fault.sent);
    CHECK_EQ(v->admits, 0);
    free(v);
    CHECK_EQ(transport_stats(t).opened, 0);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* 2,000 bytes a second where 200 are asked for, for longer than the window: a server that
 * the machine forgets for half a second is no slow one. */
TEST(a_body_that_is_fast_enough_may_take_its_time)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v = visit_of(seine_chaos_url(c), "/drip:20x10ms:body/bytes:3000");

    v->limits.time.speed_bytes = 200;
    v->limits.time.speed_span = SEINE_SECS(1);
    visit_run(t, v);
    CHECK_END(v, SEINE_OK);
    CHECK(v->ended - v->begun > SEINE_MS(1200));
    CHECK(v->end.spent[BODY] > SEINE_MS(1200));
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(spans_of_phases_add_up)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = with_names(c);
    row r = {"slow-50.test", "/delay:60ms/drip:10x10ms:body/bytes:50", .dns = 0};
    visit *v = visit_run(t, prepare(c, &r));
    seine_span sum = 0;

    CHECK_END(v, SEINE_OK);
    CHECK(v->end.spent[DNS] >= SEINE_MS(50));
    CHECK(v->end.spent[HEAD] >= SEINE_MS(59));
    CHECK(v->end.spent[BODY] >= SEINE_MS(30));
    CHECK_EQ(v->end.spent[SEINE_PHASE_TLS], 0);
    for (int i = 0; i <= SEINE_PHASE_BODY; i++)
        sum += v->end.spent[i];
    CHECK(sum <= v->ended - v->begun);
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* 250 ms later the next address would be tried anyway. A machine that has other things to
 * do gets many chances to be quicker. */
TEST(when_one_address_refuses_the_next_is_tried_at_once)
{
    seine_chaos *c = chaos("{\"dns\":\"two.test\",\"answers\":[\"127.0.0.2\","
                           "\"127.0.0.3\"],\"ttl\":60}\n");
    sn_socket_transport_opts o = transport_opts();
    char base[64];

    o.dns.server = seine_chaos_where(c, "dns");
    sn_transport *t = transport_of(&o);
    snprintf(base, sizeof base, "http://two.test:%s",
             strrchr(seine_chaos_where(c, "dead"), ':') + 1);
    seine_span took = SEINE_NEVER;
    for (int i = 0; i < CHANCES && took >= SEINE_MS(240); i++) {
        visit *v = get(t, base, "/ok");

        CHECK_END(v, SEINE_E_CONNECT_REFUSED);
        CHECK_EQ(v->end.peer.bytes[3], 3);
        CHECK_EQ(v->admits, 1);
        took = v->ended - v->begun;
        free(v);
    }
    CHECK(took < SEINE_MS(240));
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}
