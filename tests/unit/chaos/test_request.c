/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/request.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "check.h"

static bool
is(sn_str got, const char *want)
{
    return sn_str_eq(got, sn_str_of(want));
}

TEST(a_head_becomes_its_parts)
{
    snc_request a;
    sn_str bytes =
        SN_STR("GET /a/b?x=1&y HTTP/1.1\r\nHost: E.org:8080\r\nX-A: 1\r\nx-b:\t2 \r\n"
               "Cookie: a=1; bb=2\r\nCookie: c=3\r\n\r\nbehind");

    CHECK_EQ(snc_request_head(&a, bytes), SNC_PARSED_OK);
    CHECK(is(a.method, "GET"));
    CHECK(is(a.target, "/a/b?x=1&y"));
    CHECK(is(a.path, "/a/b"));
    CHECK(is(a.query, "x=1&y"));
    CHECK(is(a.host, "E.org:8080"));
    CHECK(is(snc_request_host_name(&a), "E.org"));
    CHECK_EQ(a.minor, 1);
    CHECK(a.keep_alive && !a.chunked && a.length == 0);
    CHECK_EQ(a.head_len, bytes.len - 6);
    CHECK(is(snc_request_field_of(&a, SN_STR("x-B")), "2"));
    CHECK(!snc_request_field_of(&a, SN_STR("x-c")).ptr);
    CHECK(is(snc_request_cookie(&a, SN_STR("bb")), "2"));
    CHECK(is(snc_request_cookie(&a, SN_STR("c")), "3"));
    CHECK(!snc_request_cookie(&a, SN_STR("b")).ptr);
}

TEST(an_absolute_target_names_the_host_itself)
{
    snc_request a;

    CHECK_EQ(snc_request_head(
                 &a, SN_STR("GET http://e.org/p?q HTTP/1.1\r\nHost: other\r\n\r\n")),
             SNC_PARSED_OK);
    CHECK(is(a.host, "e.org") && is(a.path, "/p") && is(a.query, "q"));
    CHECK_EQ(snc_request_head(
                 &a, SN_STR("GET http://e.org?q HTTP/1.1\r\nHost: other\r\n\r\n")),
             SNC_PARSED_OK);
    CHECK(is(a.host, "e.org") && is(a.path, "/") && is(a.query, "q"));
}

TEST(a_connect_names_a_host_and_a_port_and_nothing_else)
{
    static const struct {
        const char *target;
        bool fine;
    } rows[] = {{"e.org:443", true},    {"127.0.0.1:1", true},
                {"[::1]:443", true},    {"e.org", false},
                {"e.org:", false},      {":443", false},
                {"e.org:443/a", false}, {"/", false},
                {"u@e.org:443", false}, {"http://e.org:443", false},
                {"e.org:123456", false}};

    EACH_ROW(i, rows) {
        char head[128];
        snc_request a;

        snprintf(head, sizeof head, "CONNECT %s HTTP/1.1\r\nHost: other\r\n\r\n",
                 rows[i].target);
        CHECK_EQ(snc_request_head(&a, sn_str_of(head)),
                 rows[i].fine ? SNC_PARSED_OK : SNC_PARSED_BAD);
        CHECK(!rows[i].fine || (a.connect && is(a.host, rows[i].target)));
    }
}

TEST(connections_live_on_as_the_version_and_the_field_say)
{
    static const struct {
        const char *head;
        bool keep;
    } rows[] = {
        {"GET / HTTP/1.1\r\nHost: a\r\n\r\n", true},
        {"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", false},
        {"GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n", false},
        {"GET / HTTP/1.0\r\n\r\n", false},
        {"GET / HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\n", true},
    };

    EACH_ROW(i, rows) {
        snc_request a;

        CHECK_EQ(snc_request_head(&a, sn_str_of(rows[i].head)), SNC_PARSED_OK);
        CHECK_EQ(a.keep_alive, rows[i].keep);
    }
}

TEST(whatever_rfc_9112_does_not_allow_is_refused_by_name)
{
    static const struct {
        sn_str head;
        const char *why;
    } rows[] = {
#define ROW(text, why) {{text, sizeof(text) - 1}, why}
        ROW("GET /\r\n\r\n", "request line is not METHOD TARGET VERSION"),
        ROW("\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n",
            "request line is not METHOD TARGET VERSION"),
        ROW("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", "version is not HTTP/1.0 or HTTP/1.1"),
        ROW("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", "method is no token"),
        ROW(" / HTTP/1.1\r\nHost: a\r\n\r\n", "method is no token"),
        ROW("GET /#a HTTP/1.1\r\nHost: a\r\n\r\n", "target holds a byte it may not hold"),
        ROW("GET /\xc3\xa9 HTTP/1.1\r\nHost: a\r\n\r\n",
            "target holds a byte it may not hold"),
        ROW("GET /\x7f HTTP/1.1\r\nHost: a\r\n\r\n",
            "target holds a byte it may not hold"),
        ROW("GET a HTTP/1.1\r\nHost: a\r\n\r\n", "target is neither a path nor a URL"),
        ROW("GET * HTTP/1.1\r\nHost: a\r\n\r\n", "target is neither a path nor a URL"),
        ROW("GET http:/// HTTP/1.1\r\nHost: a\r\n\r\n",
            "target is neither a path nor a URL"),
        ROW("GET / HTTP/2.0\r\nHost: a\r\n\r\n", "version is not HTTP/1.0 or HTTP/1.1"),
        ROW("GET / HTTP/1.2\r\nHost: a\r\n\r\n", "version is not HTTP/1.0 or HTTP/1.1"),
        ROW("GET / http/1.1\r\nHost: a\r\n\r\n", "version is not HTTP/1.0 or HTTP/1.1"),
        ROW("GET / HTTP/1.1\nHost: a\r\n\r\n", "line does not end in CRLF"),
        ROW("GET / HTTP/1.1\r\nHost: a\n\r\n", "line does not end in CRLF"),
        ROW("GET / HTTP/1.1\r\nHost: a\r\n\n", "line does not end in CRLF"),
        ROW("GET / HTTP/1.1\r\nHo\rst: a\r\n\r\n", "carriage return inside of a line"),
        ROW("GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n", "folded line"),
        ROW("GET / HTTP/1.1\r\nHost a\r\n\r\n", "field without a colon"),
        ROW("GET / HTTP/1.1\r\nHost : a\r\n\r\n", "field name is no token"),
        ROW("GET / HTTP/1.1\r\n: a\r\n\r\n", "field name is no token"),
        ROW("GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n", "control byte in a field"),
        ROW("GET / HTTP/1.1\r\nHost: a\r\nX: \x1b\r\n\r\n", "control byte in a field"),
        ROW("GET / HTTP/1.1\r\n\r\n", "no Host field"),
        ROW("GET / HTTP/1.1\r\nHost: a\r\nhost: a\r\n\r\n", "two Host fields"),
        ROW("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", "Host holds a byte it may not hold"),
        ROW("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: +1\r\n\r\n",
            "Content-Length is no number"),
        ROW("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n",
            "Content-Length is no number"),
        ROW("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 9223372036854775808\r\n\r\n",
            "Content-Length is no number"),
        ROW("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
            "two Content-Length fields differ"),
        ROW("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n",
            "Transfer-Encoding is not chunked"),
        ROW("GET / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n"
            "Transfer-Encoding: chunked\r\n\r\n",
            "Transfer-Encoding is not chunked"),
        ROW("GET / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: "
            "chunked\r\n\r\n",
            "Content-Length and Transfer-Encoding together"),
        ROW("GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n",
            "Transfer-Encoding in HTTP/1.0"),
#undef ROW
    };

    EACH_ROW(i, rows) {
        snc_request a;

        CHECK_EQ(snc_request_head(&a, rows[i].head), SNC_PARSED_BAD);
        CHECK_STR(a.why ? a.why : "", rows[i].why);
    }
}

TEST(a_head_is_whole_with_its_last_byte_and_not_before)
{
    sn_str head = SN_STR("POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n");
    snc_request a;

    for (size_t n = 0; n < head.len; n++)
        CHECK_EQ(snc_request_head(&a, sn_str_slice(head, 0, n)), SNC_PARSED_MORE);
    CHECK_EQ(snc_request_head(&a, head), SNC_PARSED_OK);
    CHECK_EQ(a.length, 3);
}

TEST(heads_have_a_largest_size_and_a_largest_number_of_fields)
{
    sn_buf head;
    snc_request a;

    sn_buf_init(&head, (size_t)2 * SNC_REQUEST_HEAD);
    sn_buf_text(&head, "GET /");
    while (head.len < SNC_REQUEST_HEAD)
        sn_buf_char(&head, 'a');
    CHECK_EQ(snc_request_head(&a, (sn_str){head.ptr, SNC_REQUEST_HEAD - 1}),
             SNC_PARSED_MORE);
    CHECK_EQ(snc_request_head(&a, (sn_str){head.ptr, SNC_REQUEST_HEAD}), SNC_PARSED_BAD);
    CHECK_STR(a.why, "head is too large");

    sn_buf_reset(&head);
    sn_buf_text(&head, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    for (size_t fields = 1; fields <= SNC_REQUEST_FIELDS; fields++) {
        CHECK_EQ(snc_request_head(&a, sn_buf_view(&head)), SNC_PARSED_OK);
        CHECK_EQ(a.count, fields);
        sn_buf_truncate(&head, head.len - 2);
        sn_buf_text(&head, "a: b\r\n\r\n");
    }
    CHECK_EQ(snc_request_head(&a, sn_buf_view(&head)), SNC_PARSED_BAD);
    CHECK_STR(a.why, "too many fields");
    sn_buf_fini(&head);
}
