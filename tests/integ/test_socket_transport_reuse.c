/* SPDX-License-Identifier: Apache-2.0 */
/* Which connection serves which request, and which never serves another one. */
#include "socket_transport.h"

/* Connections that are idle have been so for longer than any response takes. */
static void
rest(void)
{
    transport_pass(SEINE_SECS(10));
}

/* Asks until the response came and the connection was idle after it: a machine that has
 * other things to do reads them so late that the server has ended it. */
static void
get_and_keep(sn_transport *t, const char *base, const char *path)
{
    for (int i = 0; i < 100; i++) {
        visit *v = visit_of(base, path);

        v->q.fresh = true;
        visit_run(t, v);
        CHECK_END(v, SEINE_OK);
        free(v);
        if (transport_stats(t).idle == 1)
            return;
    }
    CHECK_EQ(transport_stats(t).idle, 1);
}

static visit *
post(const char *base, const char *path)
{
    visit *v = visit_of(base, path);

    v->q.method = SN_STR("POST");
    v->q.body = SN_STR("hello");
    return v;
}

TEST(a_body_is_sent_with_its_length)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v = visit_run(t, post(seine_chaos_url(c), "/echo"));

    CHECK_END(v, SEINE_OK);
    CHECK(strstr(v->body, "\"body\":\"hello\""));
    CHECK(strstr(v->body, "\"method\":\"POST\""));
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_large_body_is_sent_whole_and_the_connection_kept)
{
    enum { SIZE = 5 << 20 };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v = post(seine_chaos_url(c), "/ok");
    char *bytes = malloc(SIZE);

    memset(bytes, 'x', SIZE);
    v->q.body = (sn_str){bytes, SIZE};
    visit_run(t, v);
    CHECK_END(v, SEINE_OK);
    CHECK_STR(v->body, "ok\n");
    CHECK(transport_stats(t).bytes_out > SIZE);
    CHECK_EQ(transport_stats(t).idle, 1);
    free(v);
    v = get(t, seine_chaos_url(c), "/ok");
    CHECK_END(v, SEINE_OK);
    CHECK(v->end.reused);
    free(v);
    free(bytes);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_kept_connection_that_dies_before_a_byte_is_stale)
{
    static const struct {
        const char *path, *method;
        seine_err want;
        bool replayable;
    } rows[] = {
        {"/stale/ok", "GET", SEINE_E_CONN_STALE, true},
        {"/stale/ok", "HEAD", SEINE_E_CONN_STALE, true},
        {"/stale/ok", "PUT", SEINE_E_CONN_STALE, true},
        {"/stale/ok", "DELETE", SEINE_E_CONN_STALE, true},
        {"/fin:0/ok", "GET", SEINE_E_CONN_STALE, true},
        {"/reset:0/ok", "DELETE", SEINE_E_CONN_STALE, true},
        {"/fin:1/ok", "GET", SEINE_E_HEADER_TRUNCATED, false}, /* a byte was there */
    };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, rows) {
        visit *v = get(t, seine_chaos_url(c), "/ok");

        CHECK_END(v, SEINE_OK);
        CHECK(!v->end.reused);
        free(v);
        v = visit_of(seine_chaos_url(c), rows[i].path);
        v->q.method = sn_str_of(rows[i].method);
        visit_run(t, v);
        CHECK_END(v, rows[i].want);
        CHECK_EQ(v->end.replayable, rows[i].replayable);
        CHECK(v->end.reused && v->end.fault.sent);
        free(v);
        CHECK_EQ(transport_stats(t).open, 0);
    }
    CHECK_EQ(transport_stats(t).stale, 6);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* Nobody knows whether a request arrived on a connection that dies under it. */
TEST(a_request_that_is_not_idempotent_uses_no_kept_connection)
{
    static const struct {
        const char *method;
        bool idempotent, reused;
    } rows[] = {
        {"POST", false, false},
        {"PATCH", false, false},
        {"POST", true, true}, /* the caller knows better */
        {"PUT", false, true},
    };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    free(get(t, seine_chaos_url(c), "/ok"));
    EACH_ROW(i, rows) {
        visit *v = visit_of(seine_chaos_url(c), "/ok");

        v->q.method = sn_str_of(rows[i].method);
        v->q.idempotent = rows[i].idempotent;
        visit_run(t, v);
        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->end.reused, rows[i].reused);
        free(v);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* Whatever was found once: from then on every request has a connection of its own. */
TEST(an_origin_that_sent_bytes_for_no_request_gets_no_reuse)
{
    static const struct {
        const char *first,
            *second; /* the second goes out on the connection of the first */
        seine_err want;
        bool trusted;
    } rows[] = {
        {"/ok", "/extra:3/ok", SEINE_E_CONN_STALE, false}, /* whose response is it? */
        {"/extra:3/ok", NULL, SEINE_OK, false},
        {"/ok", "/badstatus:letters", SEINE_E_CONN_STALE, false},
        {"/ok", "/badstatus:blank", SEINE_E_CONN_STALE, false},
        {"/ok", "/head:X:HTTP%2f1.1%20200%20OK/ok", SEINE_E_CONN_STALE, false},
        {"/ok", "/close/ok", SEINE_OK, true},                        /* it says so */
        {"/extra:3/head:Connection:close/ok", NULL, SEINE_OK, true}, /* nothing follows */
        {"/idle:1ms/ok", NULL, SEINE_OK, true},
        {"/idle:1ms:rst/ok", NULL, SEINE_OK, true},
        {"/idle:1ms:bytes/ok", NULL, SEINE_OK, true}, /* a 408 */
        {"/ok", "/fin:0/ok", SEINE_E_CONN_STALE, true},
        {"/ok", "/fin:1/ok", SEINE_E_HEADER_TRUNCATED, true},
    };

    EACH_ROW(i, rows) {
        seine_chaos *c = chaos(NULL);
        sn_transport *t = transport();
        visit *v = get(t, seine_chaos_url(c), rows[i].first);

        CHECK_END(v, SEINE_OK);
        free(v);
        if (strstr(rows[i].first, "idle"))
            TURN_WHILE(t, transport_stats(t).open > 0);
        if (rows[i].second) {
            v = get(t, seine_chaos_url(c), rows[i].second);
            CHECK(v->end.reused);
            CHECK_END(v, rows[i].want);
            CHECK_EQ(v->end.replayable, rows[i].want == SEINE_E_CONN_STALE);
            free(v);
        }
        for (int k = 0; k < 3; k++) {
            rest();
            v = get(t, seine_chaos_url(c), "/ok");
            CHECK_END(v, SEINE_OK);
            CHECK_EQ(v->end.reused, rows[i].trusted && k > 0);
            free(v);
        }
        CHECK_EQ(transport_stats(t).desynced, !rows[i].trusted);
        sn_socket_transport_free(t);
        seine_chaos_free(c);
    }
}

/* They wait on connections of the same origin for what may be as foreign. */
TEST(requests_under_way_on_used_connections_are_stale_once_the_origin_is_found_out)
{
    enum { MANY = 4 };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v[MANY];

    for (int i = 0; i < MANY; i++) {
        v[i] = visit_of(seine_chaos_url(c), "/delay:10ms/ok");
        CHECK_EQ(visit_start(t, v[i]), SEINE_OK);
    }
    for (int i = 0; i < MANY; i++) {
        visit_wait(v[i]);
        free(v[i]);
    }
    CHECK_EQ(transport_stats(t).idle, MANY);
    for (int i = 0; i < MANY; i++) {
        v[i] = visit_of(seine_chaos_url(c), i == 1 ? "/extra:3/ok" : "/delay:5s/ok");
        v[i]->q.fresh = i == 2;
        CHECK_EQ(visit_start(t, v[i]), SEINE_OK);
    }
    visit_wait(v[0]);
    visit_wait(v[3]);
    CHECK_EQ(v[2]->ends, 0); /* it has a connection of its own */
    t->ops->cancel(t, v[2]->x, SEINE_E_CANCELED);
    visit_wait(v[2]);
    for (int i = 0; i < MANY; i++) {
        CHECK_END(v[i], i == 2 ? SEINE_E_CANCELED : SEINE_E_CONN_STALE);
        CHECK_EQ(v[i]->end.replayable, i != 2);
        free(v[i]);
    }
    CHECK_EQ(transport_stats(t).open, 0);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* The response that it took may belong to an earlier request; the right one is then seen
 * before the next request leaves. */
TEST(a_used_connection_rests_for_as_long_as_its_last_response_took)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    transport_stop_clock();
    free(get(t, seine_chaos_url(c), "/ok"));
    for (int i = 0; i < 20; i++) {
        visit *v = visit_of(seine_chaos_url(c), "/ok");

        v->passes = SEINE_MS(2);
        visit_run(t, v);
        CHECK_EQ(v->end.reused, i != 1); /* one rests while the other works */
        free(v);
    }
    CHECK_EQ(transport_stats(t).opened, 2);
    sn_socket_transport_free(t);

    /* A lone one has rested for as long as it took, or gets a second one beside it. */
    for (int early = 0; early < 2; early++) {
        t = transport();
        free(get(t, seine_chaos_url(c), "/ok"));
        visit *v = visit_of(seine_chaos_url(c), "/ok");
        v->passes = SEINE_MS(30);
        visit_run(t, v);
        CHECK(v->end.reused);
        free(v);
        transport_pass(SEINE_MS(30) - early);
        v = get(t, seine_chaos_url(c), "/ok");
        CHECK_EQ(v->end.reused, !early);
        free(v);
        sn_socket_transport_free(t);
    }

    /* Where no second one may be opened there is no rest. */
    sn_socket_transport_opts o = transport_opts();
    o.max_connections = 1;
    t = transport_of(&o);
    for (int i = 0; i < 5; i++)
        free(get(t, seine_chaos_url(c), "/ok"));
    CHECK_EQ(transport_stats(t).opened, 1);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
    transport_go_clock();
}

enum { AT_ONCE = 4 };

/* Starts so many requests at once, and turns until all responses are here. */
static void
ask_at_once(sn_transport *t, const char *base, visit **v, int n)
{
    for (int i = 0; i < n; i++) {
        v[i] = visit_of(base, "/ok");
        CHECK_EQ(visit_start(t, v[i]), SEINE_OK);
    }
    for (int i = 0; i < n; i++)
        TURN_WHILE(t, v[i]->bytes < 2 && v[i]->ends == 0);
}

static int
count_ends(visit **v, int n)
{
    int ends = 0;

    for (int i = 0; i < n; i++)
        ends += v[i]->ends;
    return ends;
}

static void
end_all(visit **v, int n)
{
    for (int i = 0; i < n; i++) {
        visit_wait(v[i]);
        CHECK_END(v[i], SEINE_OK);
        free(v[i]);
    }
}

/* If they were foreign, the right ones would follow; all of them would be found out. */
TEST(responses_on_many_used_connections_end_when_none_followed_until_some_were_in_step)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v[AT_ONCE];

    transport_stop_clock();
    ask_at_once(t, seine_chaos_url(c), v, AT_ONCE);
    CHECK_EQ(count_ends(v, AT_ONCE), AT_ONCE); /* new connections */
    end_all(v, AT_ONCE);
    for (int round = 1; round <= 6; round++) {
        bool is_proven = round > AT_ONCE; /* four in step for each that is busy */

        rest();
        ask_at_once(t, seine_chaos_url(c), v, AT_ONCE);
        CHECK_EQ(count_ends(v, AT_ONCE), is_proven ? AT_ONCE : 0);
        transport_pass(SEINE_MS(1) - 1);
        t->ops->turn(t, transport_now());
        CHECK_EQ(count_ends(v, AT_ONCE), is_proven ? AT_ONCE : 0);
        transport_pass(1);
        end_all(v, AT_ONCE);
    }
    CHECK_EQ(transport_stats(t).opened, AT_ONCE);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
    transport_go_clock();
}

/* New connections were slow, as they are when a crawl opens many at once. The first
 * responses on used ones may all be foreign, and say nothing about how long the right
 * ones take; later ones are held no longer than used connections take. */
TEST(a_trial_is_as_long_as_used_connections_take_once_each_was_in_step)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    const sn_socket_transport *w = (const sn_socket_transport *)(const void *)t;
    visit *v[AT_ONCE];

    transport_stop_clock();
    ask_at_once(t, seine_chaos_url(c), v, AT_ONCE);
    end_all(v, AT_ONCE);
    w->conns->origin->first_byte_us = 30000;
    for (int round = 1; round <= AT_ONCE; round++) {
        seine_span span = round == 1 ? SEINE_MS(30) : SEINE_MS(round);

        rest();
        if (round > 1) /* on a used one */
            w->conns->origin->used_byte_us = (uint32_t)round * 1000;
        ask_at_once(t, seine_chaos_url(c), v, AT_ONCE);
        transport_pass(span - 1);
        t->ops->turn(t, transport_now());
        CHECK_EQ(count_ends(v, AT_ONCE), 0);
        transport_pass(1);
        t->ops->turn(t, transport_now());
        CHECK_EQ(count_ends(v, AT_ONCE), AT_ONCE);
        end_all(v, AT_ONCE);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
    transport_go_clock();
}

static int
count_readers(const sn_transport *t)
{
    const sn_socket_transport *w = (const sn_socket_transport *)(const void *)t;
    int n = 0;

    for (const sn_conn *c = w->conns; c; c = c->next)
        n += c->reader != NULL;
    return n;
}

/* Where 10,000 are on trial at once, their heads would take 20 MB. */
TEST(a_response_on_trial_holds_no_reader_and_ends_with_all_that_was_read)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v[AT_ONCE];

    transport_stop_clock();
    ask_at_once(t, seine_chaos_url(c), v, AT_ONCE);
    sn_end first = v[0]->end;
    end_all(v, AT_ONCE);
    rest();
    ask_at_once(t, seine_chaos_url(c), v, AT_ONCE);
    CHECK_EQ(count_ends(v, AT_ONCE), 0);
    CHECK_EQ(count_readers(t), 0);
    transport_pass(SEINE_MS(1));
    for (int i = 0; i < AT_ONCE; i++) {
        visit_wait(v[i]);
        CHECK_EQ(v[i]->end.fault.status, 200);
        CHECK_EQ(v[i]->end.http, 1);
        CHECK_EQ(v[i]->end.body_bytes, v[i]->bytes);
        CHECK_EQ(v[i]->end.wire_bytes, first.wire_bytes);
        CHECK_EQ(v[i]->end.notes, first.notes);
        CHECK(v[i]->end.reused && !v[i]->end.partial);
    }
    end_all(v, AT_ONCE);
    CHECK_EQ(transport_stats(t).opened, AT_ONCE); /* they were kept, as was promised */
    sn_socket_transport_free(t);
    seine_chaos_free(c);
    transport_go_clock();
}

/* One after the other is what a rest is for; whoever cancels need not wait. */
TEST(a_lone_response_ends_at_once_and_one_that_is_cancelled_too)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v[AT_ONCE];

    transport_stop_clock();
    ask_at_once(t, seine_chaos_url(c), v, 2);
    end_all(v, 2);
    transport_pass(SEINE_MS(1));
    ask_at_once(t, seine_chaos_url(c), v, 1);
    CHECK_EQ(count_ends(v, 1), 1);
    end_all(v, 1);
    transport_pass(SEINE_MS(1));
    ask_at_once(t, seine_chaos_url(c), v, 2);
    t->ops->cancel(t, v[0]->x, SEINE_E_CANCELED);
    visit_wait(v[0]);
    CHECK_END(v[0], SEINE_E_CANCELED);
    CHECK_EQ(transport_stats(t).open, 1); /* nobody knows what follows there */
    free(v[0]);
    transport_pass(SEINE_MS(1));
    end_all(v + 1, 1);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
    transport_go_clock();
}

TEST(a_connection_that_was_opened_in_vain_is_kept)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v = visit_of(seine_chaos_url(c), "/ok");

    v->may_send = SEINE_E_LIMITED;
    visit_run(t, v);
    CHECK_END(v, SEINE_E_LIMITED);
    CHECK(!v->end.fault.sent && v->asks == 1);
    CHECK_EQ(transport_stats(t).idle, 1);
    CHECK_EQ(chaos_number(c, "totals", NULL, "requests"), 0);
    free(v);
    v = visit_of(seine_chaos_url(c), "/ok");
    v->may_send = SEINE_E_LIMITED; /* what is open is not asked about again */
    visit_run(t, v);
    CHECK_END(v, SEINE_OK);
    CHECK(v->end.reused && v->asks == 0);
    CHECK_EQ(transport_stats(t).opened, 1);
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_fresh_request_uses_no_kept_connection)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    free(get(t, seine_chaos_url(c), "/ok"));
    visit *v = visit_of(seine_chaos_url(c), "/stale/ok");
    v->q.fresh = true;
    visit_run(t, v);
    CHECK_END(v, SEINE_OK);
    CHECK(!v->end.reused);
    free(v);
    CHECK_EQ(transport_stats(t).idle, 2);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_connection_is_kept_only_when_nothing_speaks_against_it)
{
    static const struct {
        const char *path;
        bool kept;
    } rows[] = {
        {"/ok", true},
        {"/empty", true},
        {"/chunked/ok", true},
        {"/status:404", true},
        {"/head:Keep-Alive:timeout=5/ok", true},
        {"/interim:2/ok", true},
        {"/close/ok", false},
        {"/head:Connection:close/ok", false},
        {"/http10/ok", false},
        {"/head:Keep-Alive:timeout=1/ok", false}, /* less a second is none */
        {"/head:Keep-Alive:timeout=0/ok", false},
        {"/both/ok", false},
        {"/chunked/http10/ok", false},
        {"/extra:3/ok", false},
        {"/nul/ok", false},
    };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, rows) {
        visit *v = visit_of(seine_chaos_url(c), rows[i].path);

        v->q.fresh = true;
        visit_run(t, v);
        transport_idle(t, SEINE_MS(20)); /* a FIN may be on its way */
        if (transport_stats(t).idle != rows[i].kept)
            printf("  %s\n", rows[i].path);
        CHECK_EQ(transport_stats(t).idle, rows[i].kept);
        CHECK_EQ(transport_stats(t).open, rows[i].kept);
        free(v);
        /* what is kept serves once more, and is gone */
        v = get(t, seine_chaos_url(c), "/head:Connection:close/ok");
        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->end.reused, rows[i].kept);
        free(v);
        CHECK_EQ(transport_stats(t).open, 0);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(any_event_on_an_idle_connection_closes_it)
{
    static const char *const paths[] = {"/idle:30ms/ok", "/idle:30ms:rst/ok",
                                        "/idle:30ms:bytes/ok"};
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, paths) {
        get_and_keep(t, seine_chaos_url(c), paths[i]);
        TURN_WHILE(t, transport_stats(t).idle > 0);
        CHECK_EQ(transport_stats(t).idle, 0);
        CHECK_EQ(transport_stats(t).open, 0);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* The loop did not look in between, so the event is still to come. */
TEST(a_connection_is_looked_at_before_it_is_used_again)
{
    static const char *const paths[] = {"/idle:1ms/ok", "/idle:1ms:rst/ok",
                                        "/idle:1ms:bytes/ok"};
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, paths) {
        get_and_keep(t, seine_chaos_url(c), paths[i]);
        transport_await(t);
        visit *v = get(t, seine_chaos_url(c), "/head:Connection:close/ok");
        CHECK_END(v, SEINE_OK);
        CHECK(!v->end.reused);
        free(v);
    }
    CHECK_EQ(transport_stats(t).stale, 0);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(an_idle_connection_has_its_time)
{
    seine_chaos *c = chaos(NULL);
    sn_socket_transport_opts o = transport_opts();

    o.idle_time = SEINE_MS(60);
    sn_transport *t = transport_of(&o);
    transport_stop_clock();
    free(get(t, seine_chaos_url(c), "/ok"));
    CHECK_EQ(transport_stats(t).idle, 1);
    transport_pass(SEINE_MS(60) - 1);
    t->ops->turn(t, 0);
    CHECK_EQ(transport_stats(t).idle, 1);
    transport_pass(1);
    t->ops->turn(t, 0);
    CHECK_EQ(transport_stats(t).open, 0);

    /* Nor is one that is too old used before its timer was heard. */
    free(get(t, seine_chaos_url(c), "/ok"));
    transport_pass(SEINE_MS(60));
    visit *v = get(t, seine_chaos_url(c), "/ok");
    CHECK(!v->end.reused);
    free(v);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
    transport_go_clock();
}

TEST(a_connection_grows_old_by_requests_and_by_time)
{
    seine_chaos *c = chaos(NULL);
    sn_socket_transport_opts o = transport_opts();

    o.max_requests = 3;
    sn_transport *t = transport_of(&o);
    for (int i = 0; i < 7; i++) {
        rest();
        visit *v = get(t, seine_chaos_url(c), "/ok");

        CHECK_EQ(v->end.reused, i % 3 != 0);
        free(v);
    }
    sn_socket_transport_free(t);

    o = transport_opts();
    o.max_age = SEINE_MS(50);
    t = transport_of(&o);
    transport_stop_clock();
    for (int old = 0; old < 2; old++) {
        free(get(t, seine_chaos_url(c), "/ok"));
        visit *v = visit_of(seine_chaos_url(c), "/ok");
        v->passes = SEINE_MS(50) - !old;
        visit_run(t, v);
        CHECK(v->end.reused);
        CHECK_EQ(transport_stats(t).open, !old);
        free(v);
        sn_socket_transport_free(t);
        t = transport_of(&o);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
    transport_go_clock();
}

TEST(the_rest_of_a_small_body_is_read_so_that_the_connection_is_kept)
{
    static const struct {
        const char *path;
        bool kept;
    } rows[] = {
        {"/bytes:60000", true},
        {"/drip:1000x1ms:body/bytes:20000", true}, /* most of it is yet to come */
        {"/bytes:2M", false},
        {"/drip:1000x1ms:body/chunked/bytes:20000", false}, /* who knows how much */
    };
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();

    EACH_ROW(i, rows) {
        visit *v = visit_of(seine_chaos_url(c), rows[i].path);

        v->enough = true;
        visit_run(t, v);
        CHECK_END(v, SEINE_E_CANCELED);
        CHECK(v->end.partial);
        CHECK_EQ(v->pieces, 1);
        free(v);
        TURN_WHILE(t, transport_stats(t).idle != transport_stats(t).open);
        CHECK_EQ(transport_stats(t).idle, rows[i].kept);
        CHECK_EQ(transport_stats(t).open, rows[i].kept);
        v = get(t, seine_chaos_url(c), "/head:Connection:close/ok");
        CHECK_END(v, SEINE_OK);
        CHECK_EQ(v->end.reused, rows[i].kept);
        free(v);
    }
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(a_rest_that_does_not_come_is_waited_for_a_second)
{
    seine_chaos *c = chaos(NULL);
    sn_transport *t = transport();
    visit *v = visit_of(seine_chaos_url(c), "/stall:10:body/bytes:1000");

    v->enough = true;
    visit_run(t, v);
    CHECK_END(v, SEINE_E_CANCELED);
    CHECK_EQ(transport_stats(t).open, 1);
    CHECK_EQ(transport_stats(t).idle, 0);
    free(v);
    transport_pass(SEINE_SECS(1));
    t->ops->turn(t, 0);
    CHECK_EQ(transport_stats(t).open, 0);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

TEST(idle_connections_are_bounded_by_origin_and_in_all)
{
    seine_chaos *c = chaos(NULL);
    sn_socket_transport_opts o = transport_opts();
    char other[64];
    visit *v[8];

    o.max_idle = 3;
    o.max_idle_origin = 2;
    sn_transport *t = transport_of(&o);
    snprintf(other, sizeof other, "http://127.0.0.2:%s",
             strrchr(seine_chaos_url(c), ':') + 1);
    for (int i = 0; i < 8; i++) {
        v[i] = visit_of(i < 4 ? seine_chaos_url(c) : other, "/delay:30ms/ok");
        CHECK_EQ(visit_start(t, v[i]), SEINE_OK);
    }
    for (int i = 0; i < 8; i++) {
        visit_wait(v[i]);
        CHECK_END(v[i], SEINE_OK);
        free(v[i]);
    }
    CHECK_EQ(transport_stats(t).opened, 8);
    CHECK_EQ(transport_stats(t).idle, 3);
    CHECK_EQ(transport_stats(t).open, 3);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}

/* The witness counts a request on a connection that still answers another. */
TEST(there_is_never_more_than_one_request_on_a_connection)
{
    enum { MANY = 300 };
    seine_chaos *c = chaos(NULL);
    sn_socket_transport_opts o = transport_opts();

    o.max_connections = 1000;
    sn_transport *t = transport_of(&o);
    visit *v[MANY];
    for (int i = 0; i < MANY; i++) {
        v[i] =
            visit_of(seine_chaos_url(c), i % 3 ? "/delay:5ms/bytes:300" : "/chunked/ok");
        CHECK_EQ(visit_start(t, v[i]), SEINE_OK);
        if (i % 10 == 0)
            t->ops->turn(t, 0);
    }
    for (int i = 0; i < MANY; i++) {
        visit_wait(v[i]);
        CHECK_END(v[i], SEINE_OK);
        free(v[i]);
    }
    CHECK(chaos_number(c, "hosts", "127.0.0.1", "peak_in_flight") <=
          chaos_number(c, "hosts", "127.0.0.1", "peak_connections"));
    CHECK_EQ(chaos_number(c, "hosts", "127.0.0.1", "requests"), MANY);
    sn_socket_transport_free(t);
    seine_chaos_free(c);
}
