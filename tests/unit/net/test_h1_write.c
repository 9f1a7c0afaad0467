/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "check.h"
#include "failing.h"
#include "net/h1.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

static const sn_h1_request plain = {
    .method = {"GET", 3}, .host = {"e.org", 5}, .target = {"/", 1}};

static void
check_text(const sn_h1_request *r, const char *want)
{
    sn_buf b;

    sn_buf_init(&b, 4096);
    CHECK_EQ(sn_h1_write(r, &b), SEINE_OK);
    CHECK_STR(b.ptr ? b.ptr : "", want);
    sn_buf_fini(&b);
}

TEST(h1_writes_requests_with_host_first)
{
    sn_field fields[] = {
        {SN_STR("User-Agent"), SN_STR("seine/1")},
        {SN_STR("X"), SN_STR("")},
        {SN_STR("y!#$%&'*+-.^_`|~9"), SN_STR("tab\there, gr\xc3\xbc\xc3\x9f")}};
    sn_h1_request r = plain;

    check_text(&r, "GET / HTTP/1.1\r\nHost: e.org\r\n\r\n");
    r.fields = fields;
    r.n_fields = 3;
    r.target = SN_STR("/a%20b;c?d=%00&&e");
    r.host = SN_STR("[::1]:8080");
    check_text(&r, "GET /a%20b;c?d=%00&&e HTTP/1.1\r\nHost: [::1]:8080\r\n"
                   "User-Agent: seine/1\r\nX: \r\n"
                   "y!#$%&'*+-.^_`|~9: tab\there, gr\xc3\xbc\xc3\x9f\r\n\r\n");
}

/* Fields that were written once stand in every request as if they were written for it. */
TEST(h1_writes_fields_once_for_many_requests)
{
    sn_field fields[] = {{SN_STR("A"), SN_STR("1")}, {SN_STR("B"), SN_STR("")}};
    sn_field bad[] = {{SN_STR("A"), SN_STR("1")}, {SN_STR("B"), SN_STR("\r\nC: 3")}};
    sn_h1_request r = plain;
    sn_buf b;

    sn_buf_init(&b, 4096);
    CHECK_EQ(sn_h1_write_fields(fields, 0, &b), SEINE_OK);
    CHECK_EQ(sn_h1_write_fields(bad, 2, &b), SEINE_E_INVAL);
    CHECK_EQ(b.len, 0);
    CHECK_EQ(sn_h1_write_fields(fields, 2, &b), SEINE_OK);
    r.fields = fields;
    r.n_fields = 2;
    r.written = sn_buf_view(&b);
    for (int i = 0; i < 2; i++)
        check_text(&r, "GET / HTTP/1.1\r\nHost: e.org\r\nA: 1\r\nB: \r\n\r\n");
    sn_buf_fini(&b);
    sn_buf_init(&b, 5);
    CHECK_EQ(sn_h1_write_fields(fields, 2, &b), SEINE_E_FULL);
    CHECK_EQ(b.len, 0);
    sn_buf_fini(&b);
}

TEST(h1_writes_the_forms_of_a_target)
{
    sn_h1_request r = plain;

    r.target = SN_STR("/p?q");
    r.form = SN_H1_ABSOLUTE;
    check_text(&r, "GET http://e.org/p?q HTTP/1.1\r\nHost: e.org\r\n\r\n");
    r.form = SN_H1_AUTHORITY;
    r.method = SN_STR("CONNECT");
    r.host = SN_STR("e.org:443");
    r.target = (sn_str){0};
    check_text(&r, "CONNECT e.org:443 HTTP/1.1\r\nHost: e.org:443\r\n\r\n");
    r = plain;
    r.method = SN_STR("OPTIONS");
    r.target = SN_STR("*");
    check_text(&r, "OPTIONS * HTTP/1.1\r\nHost: e.org\r\n\r\n");
}

TEST(h1_writes_bodies_with_their_length)
{
    static const struct {
        const char *method, *body, *want;
    } rows[] = {
        {"POST", "a=b", "POST / HTTP/1.1\r\nHost: e.org\r\nContent-Length: 3\r\n\r\na=b"},
        {"POST", "", "POST / HTTP/1.1\r\nHost: e.org\r\nContent-Length: 0\r\n\r\n"},
        {"PUT", "", "PUT / HTTP/1.1\r\nHost: e.org\r\nContent-Length: 0\r\n\r\n"},
        {"PATCH", "", "PATCH / HTTP/1.1\r\nHost: e.org\r\nContent-Length: 0\r\n\r\n"},
        {"DELETE", "", "DELETE / HTTP/1.1\r\nHost: e.org\r\n\r\n"},
        {"GET", "x", "GET / HTTP/1.1\r\nHost: e.org\r\nContent-Length: 1\r\n\r\nx"},
        {"HEAD", "", "HEAD / HTTP/1.1\r\nHost: e.org\r\n\r\n"},
    };

    EACH_ROW(i, rows) {
        sn_h1_request r = plain;

        r.method = sn_str_of(rows[i].method);
        r.body = sn_str_of(rows[i].body);
        check_text(&r, rows[i].want);
    }
    sn_h1_request r = plain;
    r.close = true;
    check_text(&r, "GET / HTTP/1.1\r\nHost: e.org\r\nConnection: close\r\n\r\n");
}

/* Nothing of a request that cannot be right is written. */
static void
check_refused(const sn_h1_request *r)
{
    sn_buf b;

    sn_buf_init(&b, 4096);
    sn_buf_str(&b, SN_STR("before"));
    CHECK_EQ(sn_h1_write(r, &b), SEINE_E_INVAL);
    CHECK_STR(b.ptr, "before");
    sn_buf_fini(&b);
}

TEST(h1_refuses_what_would_break_a_request_in_two)
{
    static const struct {
        sn_str name, value;
    } rows[] = {
#define ROW(n, v)            \
    {                        \
        {n, sizeof(n) - 1},  \
        {                    \
            v, sizeof(v) - 1 \
        }                    \
    }
        ROW("", "v"),
        ROW("a b", "v"),
        ROW("a:", "v"),
        ROW("a\r\nb", "v"),
        ROW("a\0", "v"),
        ROW("\xc3\xa4", "v"),
        ROW("a", "v\r\nb: c"),
        ROW("a", "v\n"),
        ROW("a", "v\r"),
        ROW("a", "\0"),
        ROW("a", "\x1b[31m"),
        ROW("a", "\x7f"),
        ROW("a", "\x0b"),
        ROW("Host", "x"),
        ROW("host", "x"),
        ROW("Content-Length", "1"),
        ROW("TRANSFER-ENCODING", "chunked"),
        ROW("Connection", "close"),
        ROW("Keep-Alive", "x"),
        ROW("Proxy-Connection", "x"),
        ROW("TE", "trailers"),
        ROW("Trailer", "x"),
        ROW("Upgrade", "h2c"),
        ROW("Expect", "100-continue"),
#undef ROW
    };

    EACH_ROW(i, rows) {
        sn_field f = {rows[i].name, rows[i].value};
        sn_h1_request r = plain;

        r.fields = &f;
        r.n_fields = 1;
        check_refused(&r);
    }
}

TEST(h1_refuses_targets_hosts_and_methods_that_are_none)
{
    static const struct {
        const char *method, *host, *target;
        sn_h1_form form;
    } rows[] = {
        {"", "e.org", "/", SN_H1_ORIGIN},
        {"GE T", "e.org", "/", SN_H1_ORIGIN},
        {"GET\r\n", "e.org", "/", SN_H1_ORIGIN},
        {"GET", "", "/", SN_H1_ORIGIN},
        {"GET", "e.org\r\nX: y", "/", SN_H1_ORIGIN},
        {"GET", "e .org", "/", SN_H1_ORIGIN},
        {"GET", "e.org/x", "/", SN_H1_ORIGIN},
        {"GET", "\xc3\xa4.org", "/", SN_H1_ORIGIN},
        {"GET", "e.org", "", SN_H1_ORIGIN},
        {"GET", "e.org", "p", SN_H1_ORIGIN},
        {"GET", "e.org", "*", SN_H1_ORIGIN},
        {"OPTIONS", "e.org", "*", SN_H1_ABSOLUTE},
        {"GET", "e.org", "/ HTTP/1.1\r\nX: y", SN_H1_ORIGIN},
        {"GET", "e.org", "/a b", SN_H1_ORIGIN},
        {"GET", "e.org", "/\xc3\xa4", SN_H1_ORIGIN},
        {"GET", "e.org", "/\x7f", SN_H1_ORIGIN},
        {"GET", "e.org", "", SN_H1_ABSOLUTE},
        {"CONNECT", "e.org:443", "/", SN_H1_AUTHORITY},
        {"CONNECT", "e.org:443", "/", SN_H1_ORIGIN}, /* one without the other */
        {"GET", "e.org:443", "", SN_H1_AUTHORITY},
        {"GET", "e.org", "/p#fragment", SN_H1_ORIGIN},
        {"GET", "user@e.org", "/", SN_H1_ABSOLUTE},
        {"GET", "e.org?", "/", SN_H1_ABSOLUTE},
        {"GET", "e.org#", "/", SN_H1_ABSOLUTE},
        {"GET", "e.org\\x", "/", SN_H1_ABSOLUTE},
    };

    EACH_ROW(i, rows) {
        sn_h1_request r = {.method = sn_str_of(rows[i].method),
                           .host = sn_str_of(rows[i].host),
                           .target = sn_str_of(rows[i].target),
                           .form = rows[i].form};

        check_refused(&r);
    }
}

TEST(h1_refuses_a_body_for_a_tunnel)
{
    sn_h1_request r = {.method = SN_STR("CONNECT"),
                       .form = SN_H1_AUTHORITY,
                       .host = SN_STR("e.org:443"),
                       .body = SN_STR("x")};

    check_refused(&r);
}

TEST(h1_says_what_may_be_configured)
{
    CHECK(sn_h1_is_name(SN_STR("X-Api-Key")));
    CHECK(!sn_h1_is_name(SN_STR("X Api")));
    CHECK(!sn_h1_is_name((sn_str){0}));
    CHECK(sn_h1_is_value(SN_STR("")));
    CHECK(sn_h1_is_value(SN_STR("a\tb \xff")));
    CHECK(!sn_h1_is_value(SN_STR("a\nb")));
    CHECK(sn_h1_is_own_field(SN_STR("HOST")));
    CHECK(!sn_h1_is_own_field(SN_STR("Cookie")));
    /* Every byte, against RFC 9110: tchar and field-vchar with tab and blank. */
    for (int c = 0; c < 256; c++) {
        char byte = (char)c;
        bool name = c != 0 && (strchr("!#$%&'*+-.^_`|~", c) || (c >= '0' && c <= '9') ||
                               (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'));

        CHECK_EQ(sn_h1_is_name((sn_str){&byte, 1}), name);
        CHECK_EQ(sn_h1_is_value((sn_str){&byte, 1}),
                 c == '\t' || (c >= 0x20 && c != 0x7f));
    }
}

TEST(h1_writes_all_or_nothing)
{
    sn_h1_request r = plain;
    sn_buf b;

    r.body = SN_STR("0123456789");
    sn_buf_init(&b, 60);
    sn_buf_str(&b, SN_STR("before"));
    CHECK_EQ(sn_h1_write(&r, &b), SEINE_E_FULL);
    CHECK(sn_str_eq(sn_buf_view(&b), SN_STR("before")));
    sn_buf_fini(&b);
    FAIL_EACH(round)
    {
        sn_buf_init(&b, 4096);
        seine_err e = sn_h1_write(&r, &b);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK_EQ(b.len > 0, e == SEINE_OK);
        sn_buf_fini(&b);
    }
}

/* What is written can be read: the head of a request and of a response have the same
 * fields, so a status line in front makes one of the other. */
TEST(h1_reads_the_fields_it_writes)
{
    sn_field fields[] = {{SN_STR("A"), SN_STR("b")}, {SN_STR("C-d"), SN_STR("e, f")}};
    sn_h1_request r = plain;
    sn_buf b, response;
    sn_head head;
    sn_h1 h;
    sn_str piece;

    r.fields = fields;
    r.n_fields = COUNT(fields);
    sn_buf_init(&b, 4096);
    sn_buf_init(&response, 4096);
    CHECK_EQ(sn_h1_write(&r, &b), SEINE_OK);
    sn_buf_str(&response, SN_STR("HTTP/1.1 200 OK\r\n"));
    sn_buf_text(&response, strchr(b.ptr, '\n') + 1);
    sn_head_init(&head, NULL);
    sn_h1_begin(&h, &head, &(sn_h1_ask){.head_only = true});
    sn_str in = sn_buf_view(&response);
    CHECK_EQ(sn_h1_next(&h, &in, &piece), SN_H1_HEAD);
    CHECK_EQ(h.notes, 0);
    CHECK_EQ(head.n_fields, 1 + COUNT(fields));
    for (uint32_t i = 0; i < COUNT(fields); i++) {
        sn_field f = sn_head_field_of(&head, i + 1);

        CHECK(sn_str_eq(f.name, fields[i].name) && sn_str_eq(f.value, fields[i].value));
    }
    sn_head_fini(&head);
    sn_buf_fini(&b);
    sn_buf_fini(&response);
}
