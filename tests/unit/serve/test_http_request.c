/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/http_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { ROOM = 200000 };

/* Feeds the text in pieces of `piece` bytes. Returns 0 while more is needed, 1 when the
 * request is whole, or the status that refuses it. */
static int
feed(const char *text, size_t n, size_t piece, sn_http_reader *r, sn_http_request *req,
     char *room)
{
    *r = (sn_http_reader){.limits = SN_HTTP_LIMITS};
    for (size_t at = 0; at < n;) {
        size_t more = n - at < piece ? n - at : piece;

        memcpy(room + at, text + at, more);
        at += more;
        sn_http_event e = sn_http_read(r, room, at, req);
        if (e == SN_HTTP_WHOLE)
            return 1;
        if (e == SN_HTTP_BAD)
            return r->status;
    }
    return 0;
}

static int
outcome(const char *text)
{
    static char room[ROOM];
    sn_http_reader r;
    sn_http_request req;
    int whole = feed(text, strlen(text), strlen(text), &r, &req, room);

    for (size_t piece = 1; piece < 4; piece++)
        CHECK_EQ(feed(text, strlen(text), piece, &r, &req, room), whole);
    return whole;
}

TEST(http_request_takes_what_the_standard_allows_and_refuses_the_rest)
{
    static const struct {
        const char *text;
        int outcome;
    } rows[] = {
        {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 1},
        {"GET / HTTP/1.0\r\n\r\n", 1},
        {"\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", 1},
        {"GET / HTTP/1.1\r\nHost:a\r\n\r\n", 1},
        {"GET / HTTP/1.1\r\nHost: \t a \t\r\n\r\n", 1},
        {"GET http://a/x HTTP/1.1\r\nHost: a\r\n\r\n", 1},
        {"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", 1},
        {"PURGE-2 /x HTTP/1.1\r\nHost: a\r\n\r\n", 1},
        {"GET / HTTP/1.9\r\nHost: a\r\n\r\n", 1},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: \xff\xc3\r\n\r\n", 1}, /* obs-text */
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nabc", 1},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\nab", 0},
        {"GET / HTTP/1.1\r\nHost: a\r\n", 0},
        {"GET / HTTP/1.1", 0},
        /* lines */
        {"GET / HTTP/1.1\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\n\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n", 400}, /* a bare CR */
        {"GET / HTTP/1.1\r\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\n X: y\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\n: b\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nnothing\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nX\x80: b\r\n\r\n", 400},
        /* the request line */
        {"GET  / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.1 \r\nHost: a\r\n\r\n", 400},
        {" GET / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET /\r\n\r\n", 400},
        {"GET / a HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET / http/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/1.10\r\nHost: a\r\n\r\n", 400},
        {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
        {"\x16\x03\x01\x02", 400}, /* TLS: no line end ever comes */
        {"{\"a\":", 400},
        /* Host */
        {"GET / HTTP/1.1\r\n\r\n", 400},
        {"GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", 400},
        {"GET / HTTP/1.0\r\nHost: a\r\nhost: b\r\n\r\n", 400},
        /* whatever two readers could frame differently */
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: "
         "chunked\r\n\r\n0\r\n\r\n",
         400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: "
         "3\r\n\r\nabc",
         400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: "
         "4\r\n\r\nabc",
         400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3, 3\r\n\r\nabc", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +3\r\n\r\nabc", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 0x3\r\n\r\nabc", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length:\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3 3\r\n\r\nabc", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65537\r\n\r\n", 413},
        {"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: "
         "99999999999999999999999\r\n\r\n",
         413},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked, "
         "identity\r\n\r\n0\r\n\r\n",
         501},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
         "chunked\r\n\r\n0\r\n\r\n",
         400},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: \x0b"
         "chunked\r\n\r\n0\r\n\r\n",
         400},
        {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\n\r\n", 417},
        /* chunks */
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
         "chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
         1},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
         "chunked\r\n\r\n3;x=\"y\"\r\nabc\r\n00\r\nA: b\r\n\r\n",
         1},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
         "chunked\r\n\r\n3\r\nabc\r\n0\r\n",
         0},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
         "chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n",
         400},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
         "chunked\r\n\r\n3\nabc\r\n0\r\n\r\n",
         400},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
         "chunked\r\n\r\n3 \r\nabc\r\n0\r\n\r\n",
         400},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0x3\r\n", 400},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n10001\r\n",
         413},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
         "chunked\r\n\r\nfffffffff\r\n",
         413},
        {"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
         "chunked\r\n\r\n0\r\nA b\r\n\r\n",
         400},
    };

    EACH_ROW(i, rows)
        CHECK_EQ(outcome(rows[i].text), rows[i].outcome);
}

/* `n` times the letter, in front of and behind the rest. */
static int
padded(const char *before, size_t n, const char *after)
{
    static char text[ROOM], room[ROOM];
    sn_http_reader r;
    sn_http_request req;
    size_t at = strlen(before);

    memcpy(text, before, at);
    memset(text + at, 'a', n);
    memcpy(text + at + n, after, strlen(after));
    return feed(text, at + n + strlen(after), 1000, &r, &req, room);
}

TEST(http_request_has_limits_at_the_byte)
{
    const char *end = "\r\nHost: a\r\n\r\n";

    /* "GET /" "a…" " HTTP/1.1\r\n" is 5 + n + 11 bytes. */
    CHECK_EQ(padded("GET /", 8192 - 16, " HTTP/1.1\r\nHost: a\r\n\r\n"), 1);
    CHECK_EQ(padded("GET /", 8192 - 15, " HTTP/1.1\r\nHost: a\r\n\r\n"), 414);
    CHECK_EQ(padded("GET /", 100000, ""), 414);
    /* 16 + 3 + n + 2 + 9 + 2 bytes. */
    CHECK_EQ(padded("GET / HTTP/1.1\r\nX: ", 16384 - 32, end), 1);
    CHECK_EQ(padded("GET / HTTP/1.1\r\nX: ", 16384 - 31, end), 431);
    CHECK_EQ(padded("GET / HTTP/1.1\r\nX: ", 100000, ""), 431);
    CHECK_EQ(
        padded("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n", 65536, ""),
        1);
    CHECK_EQ(padded("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n10000\r\n",
                    65536, "\r\n1\r\n"),
             413);
    CHECK_EQ(padded("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n3;",
                    300, ""),
             400);
    CHECK_EQ(padded("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: "
                    "chunked\r\n\r\n0\r\nX: ",
                    16500, ""),
             431);
}

TEST(http_request_has_at_most_64_fields)
{
    for (int n = 64; n <= 65; n++) {
        char text[2048] = "GET / HTTP/1.1\r\nHost: a\r\n";
        size_t at = strlen(text);

        for (int i = 1; i < n; i++, at += 6)
            memcpy(text + at, "X: y\r\n", 6);
        memcpy(text + at, "\r\n", 3);
        CHECK_EQ(outcome(text), n == 64 ? 1 : 431);
    }
}

static bool
is_text(sn_str s, const char *want)
{
    return sn_str_eq(s, sn_str_of(want));
}

TEST(http_request_gives_line_fields_and_body)
{
    static const char text[] =
        "POST /a?b HTTP/1.1\r\nHost: h\r\nX-F:  1, 2 \r\nx-f: 3\r\n"
        "Transfer-Encoding: Chunked\r\n\r\n"
        "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\nGET /next";

    for (size_t piece = 1; piece < sizeof text; piece++) {
        char room[sizeof text];
        sn_http_reader r;
        sn_http_request q;
        sn_str value;

        CHECK_EQ(feed(text, sizeof text - 1, piece, &r, &q, room), 1);
        CHECK_EQ(r.used, strstr(text, "GET") - text);
        CHECK(is_text(q.method, "POST") && is_text(q.target, "/a?b"));
        CHECK(is_text(q.body, "abcde"));
        CHECK(sn_http_field(&q, SN_STR("X-f"), 0, &value) && is_text(value, "1, 2"));
        CHECK(sn_http_field(&q, SN_STR("X-f"), 1, &value) && is_text(value, "3"));
        CHECK(!sn_http_field(&q, SN_STR("X-f"), 2, &value));
        CHECK(q.keeps && q.minor == 1);
    }
}

TEST(http_request_follows_a_buffer_that_moves)
{
    static const char head[] = "POST /a HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\n";
    char *first = strdup(head), *second = strdup("POST /a HTTP/1.1\r\nHost: "
                                                 "h\r\nContent-Length: 2\r\n\r\nok");
    sn_http_reader r = {.limits = SN_HTTP_LIMITS};
    sn_http_request q;

    CHECK_EQ(sn_http_read(&r, first, strlen(first), &q), SN_HTTP_MORE);
    free(first);
    CHECK_EQ(sn_http_read(&r, second, strlen(second), &q), SN_HTTP_WHOLE);
    CHECK(q.target.ptr > second && is_text(q.target, "/a") && is_text(q.body, "ok"));
    free(second);
}

TEST(http_request_knows_whether_the_connection_stays)
{
    static const struct {
        const char *version, *connection;
        bool keeps;
    } rows[] = {
        {"1.1", "", true},
        {"1.1", "Connection: close\r\n", false},
        {"1.1", "Connection: upgrade, Close\r\n", false},
        {"1.1", "Connection: keep-alive\r\nConnection: close\r\n", false},
        {"1.0", "", false},
        {"1.0", "Connection: Keep-Alive\r\n", true},
    };

    EACH_ROW(i, rows) {
        char text[128], room[128];
        sn_http_reader r;
        sn_http_request q;

        snprintf(text, sizeof text, "GET / HTTP/%s\r\nHost: a\r\n%s\r\n", rows[i].version,
                 rows[i].connection);
        CHECK_EQ(feed(text, strlen(text), 1000, &r, &q, room), 1);
        CHECK_EQ(q.keeps, rows[i].keeps);
    }
}

TEST(http_request_says_when_a_client_waits_for_100)
{
    char text[] = "PUT / HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: "
                  "2\r\n\r\nab";
    sn_http_reader r = {.limits = SN_HTTP_LIMITS};
    sn_http_request q;

    CHECK_EQ(sn_http_read(&r, text, sizeof text - 3, &q), SN_HTTP_MORE);
    CHECK(r.wants_continue);
    CHECK_EQ(sn_http_read(&r, text, sizeof text - 1, &q), SN_HTTP_WHOLE);
    CHECK(!r.wants_continue);
}
