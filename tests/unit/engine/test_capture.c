/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/capture.h"

#include <string.h>

#include "check.h"
#include "failing.h"

#define HEAD "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"

/* A visit and what it asks. */
typedef struct desk {
    sn_visits *visits;
    sn_visit *v;
    char mem[256];
    seine_url url;
    sn_request request;
} desk;

static void
aim(desk *d, const char *url)
{
    seine_url_init(&d->url, d->mem, sizeof d->mem);
    CHECK_EQ(seine_url_parse(&d->url, url, strlen(url), NULL), SEINE_OK);
}

static void
open_desk(desk *d)
{
    seine_err e;

    *d = (desk){.request = {.method = SN_STR("GET"), .url = &d->url}};
    aim(d, "http://e.example/a?b#c");
    CHECK_EQ(sn_visits_new(4, SN_VISIT_FOUND, &d->visits), SEINE_OK);
    d->v = sn_visits_take(d->visits, &e);
}

static void
close_desk(desk *d)
{
    sn_capture_drop(d->v);
    CHECK_EQ(sn_capture_memory(d->v), 0);
    sn_visits_give(d->visits, d->v);
    sn_visits_free(d->visits);
}

static void
begin(desk *d, int64_t wall)
{
    sn_visit_clear_response(d->v);
    CHECK_EQ(sn_capture_begin(d->v, &d->request, wall), SEINE_OK);
}

static void
hear(desk *d, const char *bytes)
{
    sn_capture_wire(d->v, sn_str_of(bytes));
}

static void
end(desk *d, seine_err e)
{
    d->v->end.fault.code = e;
    d->v->end.peer = (sn_ip){.v = 4, .bytes = {203, 0, 113, 5}};
    sn_capture_end(d->v);
}

static bool
is(seine_view v, const char *text)
{
    return v.ptr && sn_str_eq(v, sn_str_of(text));
}

TEST(capture_has_the_request_and_the_bytes_of_the_answer)
{
    desk d;
    size_t n;

    open_desk(&d);
    begin(&d, 7);
    hear(&d, HEAD "he");
    hear(&d, "llo");
    end(&d, SEINE_OK);
    const seine_capture *c = sn_capture_list(d.v, &n);
    CHECK_EQ(n, 1);
    CHECK(is(c->url, "http://e.example/a?b"));
    CHECK(is(c->request, "GET /a?b HTTP/1.1\r\nHost: e.example\r\n\r\n"));
    CHECK(is(c->response, HEAD "hello"));
    CHECK(is(c->ip, "203.0.113.5"));
    CHECK_EQ(c->wall, 7);
    CHECK_EQ(c->head_len, strlen(HEAD));
    CHECK_EQ(c->cut, SEINE_CUT_NONE);
    close_desk(&d);
}

/* P10: who we are and what we read is no secret, all else is. */
TEST(capture_redacts_all_that_a_user_adds)
{
    const sn_field fields[] = {
        {SN_STR("User-Agent"), SN_STR("a")},
        {SN_STR("From"), SN_STR("b@c")},
        {SN_STR("accept"), SN_STR("d")},
        {SN_STR("Accept-Language"), SN_STR("e")},
        {SN_STR("Accept-Encoding"), SN_STR("f")},
        {SN_STR("Authorization"), SN_STR("hush")},
        {SN_STR("Cookie"), SN_STR("hush=1")},
        {SN_STR("X-Key"), SN_STR("hush")},
        {SN_STR("Content-Type"), SN_STR("text/plain")}, /* what describes is none */
    };
    desk d;
    size_t n;

    open_desk(&d);
    d.request.method = SN_STR("POST");
    d.request.fields = fields;
    d.request.n_fields = sizeof fields / sizeof *fields;
    d.request.body = SN_STR("body");
    begin(&d, 7);
    end(&d, SEINE_E_CONN_RESET);
    const seine_capture *c = sn_capture_list(d.v, &n);
    CHECK_EQ(n, 1);
    CHECK(is(c->request, "POST /a?b HTTP/1.1\r\nHost: e.example\r\nUser-Agent: a\r\n"
                         "From: b@c\r\naccept: d\r\nAccept-Language: e\r\n"
                         "Accept-Encoding: f\r\nAuthorization: REDACTED\r\n"
                         "Cookie: REDACTED\r\nX-Key: REDACTED\r\n"
                         "Content-Type: text/plain\r\nContent-Length: 4\r\n\r\n"
                         "body"));
    CHECK(!c->response.ptr);
    close_desk(&d);
}

TEST(capture_of_every_hop_is_kept_and_of_a_retry_the_last)
{
    desk d;
    size_t n;

    open_desk(&d);
    begin(&d, 1);
    hear(&d, "HTTP/1.1 503 Busy\r\n\r\n");
    end(&d, SEINE_OK);
    sn_capture_back(d.v); /* tried again */
    CHECK(!sn_capture_list(d.v, &n));
    begin(&d, 2);
    hear(&d, "HTTP/1.1 302 Found\r\n\r\n");
    end(&d, SEINE_OK);
    sn_capture_keep(d.v);
    aim(&d, "http://f.example/");
    begin(&d, 3);
    hear(&d, "HTTP/1.1 500 No\r\n\r\n");
    end(&d, SEINE_OK);
    sn_capture_back(d.v);
    sn_capture_list(d.v, &n);
    CHECK_EQ(n, 1);
    begin(&d, 4);
    hear(&d, HEAD "hello");
    end(&d, SEINE_OK);
    const seine_capture *c = sn_capture_list(d.v, &n);
    CHECK_EQ(n, 2);
    CHECK(is(c[0].url, "http://e.example/a?b"));
    CHECK(is(c[0].response, "HTTP/1.1 302 Found\r\n\r\n"));
    CHECK_EQ(c[0].wall, 2);
    CHECK(is(c[1].url, "http://f.example/"));
    CHECK(is(c[1].response, HEAD "hello"));
    CHECK_EQ(c[1].wall, 4);
    close_desk(&d);
}

TEST(capture_says_why_it_was_cut)
{
    static const struct {
        seine_err code, lack;
        seine_cut cut;
    } rows[] = {
        {SEINE_OK, SEINE_OK, SEINE_CUT_NONE},
        {SEINE_OK, SEINE_E_BUDGET, SEINE_CUT_LENGTH},
        {SEINE_E_BODY_TOO_LARGE, SEINE_OK, SEINE_CUT_LENGTH},
        {SEINE_E_HEADER_TOO_LARGE, SEINE_OK, SEINE_CUT_LENGTH},
        {SEINE_E_CANCELED, SEINE_E_BUDGET, SEINE_CUT_LENGTH},
        {SEINE_E_CANCELED, SEINE_OK, SEINE_CUT_OTHER},
        {SEINE_E_TIMEOUT, SEINE_OK, SEINE_CUT_TIME},
        {SEINE_E_STALLED, SEINE_OK, SEINE_CUT_TIME},
        {SEINE_E_HEADER_TIMEOUT, SEINE_OK, SEINE_CUT_TIME},
        {SEINE_E_DEADLINE, SEINE_OK, SEINE_CUT_TIME},
        {SEINE_E_CONN_RESET, SEINE_OK, SEINE_CUT_DISCONNECT},
        {SEINE_E_BODY_TRUNCATED, SEINE_OK, SEINE_CUT_DISCONNECT},
        {SEINE_E_HEADER_TRUNCATED, SEINE_OK, SEINE_CUT_DISCONNECT},
        {SEINE_E_BAD_FRAMING, SEINE_OK, SEINE_CUT_OTHER},
        {SEINE_E_BAD_ENCODING, SEINE_OK, SEINE_CUT_OTHER},
    };

    EACH_ROW(i, rows) {
        sn_end e = {.fault.code = rows[i].code};

        CHECK_EQ(sn_capture_cut(&e, rows[i].lack), rows[i].cut);
    }
}

/* The bytes are all there, only nobody can read them. */
TEST(capture_of_a_body_that_cannot_be_decoded_is_whole_if_its_framing_is)
{
    static const struct {
        const char *answer;
        seine_cut cut;
    } rows[] = {
        {HEAD "hello", SEINE_CUT_NONE},
        {HEAD "hell", SEINE_CUT_OTHER},
        {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
         SEINE_CUT_NONE},
        {"HTTP/1.1 200 OK\r\n\r\nhello", SEINE_CUT_OTHER}, /* who knows */
    };

    EACH_ROW(i, rows) {
        desk d;
        size_t n;

        open_desk(&d);
        begin(&d, 1);
        hear(&d, rows[i].answer);
        end(&d, SEINE_E_BAD_ENCODING);
        CHECK_EQ(sn_capture_list(d.v, &n)->cut, rows[i].cut);
        close_desk(&d);
    }
}

TEST(capture_tells_its_memory_and_gives_it_away)
{
    static char large[30000];
    desk d;
    sn_buf taken;
    size_t n;

    memset(large, 'x', sizeof large - 1);
    open_desk(&d);
    begin(&d, 1);
    hear(&d, HEAD);
    CHECK_EQ(sn_capture_memory(d.v), 0); /* a small buffer stays with the visit */
    hear(&d, large);
    CHECK(sn_capture_memory(d.v) + 4096 >= sizeof large);
    end(&d, SEINE_OK);
    const seine_capture *c = sn_capture_list(d.v, &n);
    CHECK_EQ(c->response.len, strlen(HEAD) + sizeof large - 1);
    sn_capture_take(d.v, &taken);
    CHECK_EQ(sn_capture_memory(d.v), 0);
    CHECK(memcmp(c->response.ptr, HEAD, strlen(HEAD)) == 0); /* and points to it */
    sn_buf_fini(&taken);
    close_desk(&d);
}

TEST(capture_without_memory_begins_nothing)
{
    FAIL_EACH(round)
    {
        desk d = {.request = {.method = SN_STR("GET"), .url = &d.url}};
        seine_err e;
        size_t n;

        aim(&d, "http://e.example/");
        if (sn_visits_new(4, SN_VISIT_FOUND, &d.visits) != SEINE_OK)
            continue;
        d.v = sn_visits_take(d.visits, &e);
        if (d.v) {
            e = sn_capture_begin(d.v, &d.request, 1);
            CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
            hear(&d, HEAD "hello");
            if (e == SEINE_OK)
                end(&d, SEINE_OK);
            sn_capture_list(d.v, &n);
            CHECK_EQ(n, e == SEINE_OK);
            sn_capture_drop(d.v);
            sn_visits_give(d.visits, d.v);
        }
        sn_visits_free(d.visits);
    }
}
