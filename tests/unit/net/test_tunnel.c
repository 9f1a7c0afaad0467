/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tunnel.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

#define BYTES(s)            \
    {                       \
        "" s, sizeof(s) - 1 \
    }
#define NAME                                      \
    {                                             \
        .name = {"site.example", 12}, .port = 443 \
    }

/* Messages of the proxy, each sent when the tunnel has nothing more to send. */
typedef struct talk {
    const char *proxy;
    sn_tunnel_to to;
    sn_str answers[3];
    size_t n;
} talk;

typedef struct result {
    sn_tunnel_event event;
    seine_err err;
    bool answered;
    uint16_t status;
    char text[SN_PROXY_TELL];
    char said[2048]; /* to the proxy */
    size_t n_said;
    size_t heard; /* bytes of the proxy */
} result;

static void
say(sn_tunnel *t, result *r)
{
    for (sn_str s; (s = sn_tunnel_output(t)).len > 0;) {
        size_t n = s.len > 7 ? 7 : s.len; /* in pieces, too */

        CHECK(r->n_said + n <= sizeof r->said);
        memcpy(r->said + r->n_said, s.ptr, n);
        r->n_said += n;
        sn_tunnel_sent(t, n);
    }
}

/* The first `most` bytes of all answers, in pieces of `step`; then the end. */
static result
run(const talk *k, size_t step, size_t most)
{
    sn_arena memory;
    sn_proxy proxy;
    sn_tunnel t;
    result r = {.event = SN_TUNNEL_MORE};

    sn_arena_init(&memory, 1024, SIZE_MAX);
    CHECK_EQ(sn_proxy_parse("proxy", sn_str_of(k->proxy), &memory, &proxy, NULL),
             SEINE_OK);
    CHECK_EQ(sn_tunnel_init(&t, &proxy, &k->to, NULL), SEINE_OK);
    say(&t, &r);
    for (size_t i = 0; i < k->n && r.event == SN_TUNNEL_MORE; i++) {
        sn_str left = k->answers[i];

        while (left.len > 0 && most > 0 && r.event == SN_TUNNEL_MORE) {
            size_t n = left.len < step ? left.len : step;

            n = n < most ? n : most;
            r.event = sn_tunnel_receive(&t, (sn_str){left.ptr, n});
            left = sn_str_slice(left, n, left.len);
            most -= n;
            r.heard += n;
        }
        if (r.event == SN_TUNNEL_MORE)
            say(&t, &r);
    }
    if (r.event == SN_TUNNEL_MORE)
        r.event = sn_tunnel_lost(&t);
    CHECK_EQ(sn_tunnel_receive(&t, SN_STR("x")), r.event); /* and it stays so */
    CHECK_EQ(sn_tunnel_output(&t).len, 0);
    r.err = t.err;
    r.answered = t.answered;
    r.status = t.status;
    memcpy(r.text, t.text, sizeof r.text);
    sn_tunnel_fini(&t);
    sn_arena_fini(&memory);
    return r;
}

static bool
said(const result *r, sn_str what)
{
    return sn_str_eq((sn_str){r->said, r->n_said}, what);
}

/* Whatever the pieces, and byte by byte: the same. */
static result
run_all(const talk *k)
{
    result whole = run(k, SIZE_MAX, SIZE_MAX);

    for (size_t step = 1; step < 20; step++) {
        result r = run(k, step, SIZE_MAX);

        CHECK_EQ(r.event, whole.event);
        CHECK_EQ(r.err, whole.err);
        CHECK_EQ(r.answered, whole.answered);
        CHECK_EQ(r.status, whole.status);
        CHECK_STR(r.text, whole.text);
        CHECK(said(&r, (sn_str){whole.said, whole.n_said}));
    }
    return whole;
}

/* A reply that opens the tunnel does not open it when cut before its end. */
static void
cut_everywhere(const talk *k)
{
    result whole = run_all(k);

    CHECK_EQ(whole.event, SN_TUNNEL_OPEN);
    CHECK_EQ(whole.err, SEINE_OK);
    CHECK(whole.answered);
    for (size_t n = 0; n < whole.heard; n++) {
        result r = run(k, SIZE_MAX, n);

        CHECK_EQ(r.event, SN_TUNNEL_FAIL);
        CHECK_EQ(r.err, SEINE_E_PROXY_ERROR);
        CHECK(strstr(r.text, "closed the connection"));
        CHECK(!r.answered);
    }
}

/* CONNECT. */

TEST(tunnel_connect_asks_for_host_and_port)
{
    static const struct {
        talk k;
        const char *want;
    } rows[] = {
        {{"p:1", NAME, {BYTES("HTTP/1.1 200 OK\r\n\r\n")}, 1},
         "CONNECT site.example:443 HTTP/1.1\r\nHost: site.example:443\r\n\r\n"},
        {{"http://joe:pw@p:1", NAME, {BYTES("HTTP/1.0 200 OK\r\n\r\n")}, 1},
         "CONNECT site.example:443 HTTP/1.1\r\nHost: site.example:443\r\n"
         "Proxy-Authorization: Basic am9lOnB3\r\n\r\n"},
        {{"p:1",
          {.name = BYTES("::1"), .port = 8443},
          {BYTES("HTTP/1.1 299 Fine\r\nVia: x\r\n\r\n")},
          1},
         "CONNECT [::1]:8443 HTTP/1.1\r\nHost: [::1]:8443\r\n\r\n"},
    };

    EACH_ROW(i, rows) {
        result r = run_all(&rows[i].k);

        CHECK_EQ(r.event, SN_TUNNEL_OPEN);
        CHECK(said(&r, sn_str_of(rows[i].want)));
        cut_everywhere(&rows[i].k);
    }
}

TEST(tunnel_connect_opens_with_any_2xx_and_no_body)
{
    static const sn_str rows[] = {
        BYTES("HTTP/1.1 200 Connection established\r\n\r\n"),
        BYTES("HTTP/1.1 100 Go on\r\n\r\nHTTP/1.1 200 OK\r\n\r\n"), /* interim */
        BYTES("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"), /* RFC 9110: ignored */
        BYTES("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
        BYTES("HTTP/1.1 200 OK\nConnection: close\n\n"),
        BYTES("HTTP/1.1 206 Part\r\n\r\n"),
    };

    EACH_ROW(i, rows) {
        talk k = {"p:1", NAME, {rows[i]}, 1};

        cut_everywhere(&k);
    }
}

TEST(tunnel_connect_refused_has_the_status)
{
    static const struct {
        sn_str answer;
        seine_err err;
        bool answered;
        const char *text;
    } rows[] = {
        {BYTES("HTTP/1.1 403 No\r\nContent-Length: 900\r\n\r\n<html>"),
         SEINE_E_PROXY_REFUSED, true, "proxy http://p:1: answered 403"},
        /* what may pass is tried again */
        {BYTES("HTTP/1.1 502 Bad Gateway\r\n\r\n"), SEINE_E_PROXY_ERROR, true,
         "proxy http://p:1: answered 502"},
        {BYTES("HTTP/1.1 503 Busy\r\n\r\n"), SEINE_E_PROXY_ERROR, true,
         "proxy http://p:1: answered 503"},
        {BYTES("HTTP/1.1 504 Late\r\n\r\n"), SEINE_E_PROXY_ERROR, true,
         "proxy http://p:1: answered 504"},
        {BYTES("HTTP/1.1 500 Oh\r\n\r\n"), SEINE_E_PROXY_ERROR, true,
         "proxy http://p:1: answered 500"},
        {BYTES("HTTP/1.1 429 Slow\r\n\r\n"), SEINE_E_PROXY_ERROR, true,
         "proxy http://p:1: answered 429"},
        {BYTES("HTTP/1.1 501 Never\r\n\r\n"), SEINE_E_PROXY_REFUSED, true,
         "proxy http://p:1: answered 501"},
        {BYTES("HTTP/1.1 301 Moved\r\nLocation: http://evil/\r\n\r\n"),
         SEINE_E_PROXY_REFUSED, true, "proxy http://p:1: answered 301"},
        {BYTES("HTTP/1.1 304 Same\r\n\r\n"), SEINE_E_PROXY_REFUSED, true,
         "proxy http://p:1: answered 304"},
        {BYTES("HTTP/1.1 999 What\r\n\r\n"), SEINE_E_PROXY_REFUSED, true,
         "proxy http://p:1: answered 999"},
        {BYTES("HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic\r\n\r\n"),
         SEINE_E_PROXY_AUTH, false, "proxy http://p:1: wants a login (407)"},
    };

    EACH_ROW(i, rows) {
        talk k = {"p:1", NAME, {rows[i].answer}, 1};
        result r = run_all(&k);

        CHECK_EQ(r.event, SN_TUNNEL_FAIL);
        CHECK_EQ(r.err, rows[i].err);
        CHECK_EQ(r.answered, rows[i].answered);
        CHECK_STR(r.text, rows[i].text);
        CHECK(strstr(rows[i].answer.ptr, "HTTP/1.1 ") &&
              r.status == (rows[i].answer.ptr[9] - '0') * 100 +
                              (rows[i].answer.ptr[10] - '0') * 10 +
                              (rows[i].answer.ptr[11] - '0'));
    }
}

TEST(tunnel_connect_login_that_is_wrong)
{
    talk k = {"joe:pw@p:1", NAME, {BYTES("HTTP/1.1 407 No\r\n\r\n")}, 1};
    result r = run_all(&k);

    CHECK_EQ(r.err, SEINE_E_PROXY_AUTH);
    CHECK_STR(r.text, "proxy http://p:1: refuses the login (407)");
}

TEST(tunnel_connect_garbage_is_a_proxy_error)
{
    static const sn_str rows[] = {
        BYTES("\0"),
        BYTES("\x05\x00 hello, this is no HTTP"),
        BYTES("HTTP/2 200\r\n\r\n"),
        BYTES("HTTP/1.1 20 OK\r\n\r\n"),
        BYTES("HTTP/1.1 200 OK\r\nA: \0\r\n\r\n"),
        BYTES("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"),
        BYTES("HTTP/1.1 101 Switch\r\n\r\n"),
        BYTES("HTTP/1.1 099 OK\r\n\r\n"),
        BYTES(" HTTP/1.1 200 OK\r\n\r\n"),
    };

    EACH_ROW(i, rows) {
        talk k = {"p:1", NAME, {rows[i]}, 1};
        result r = run_all(&k);

        CHECK_EQ(r.event, SN_TUNNEL_FAIL);
        CHECK_EQ(r.err, SEINE_E_PROXY_ERROR);
        CHECK(strlen(r.text) > strlen("proxy http://p:1: "));
        CHECK(!r.answered);
    }
}

TEST(tunnel_bytes_behind_the_last_word_are_an_error)
{
    static const talk rows[] = {
        {"p:1", NAME, {BYTES("HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\npage")}, 1},
        {"p:1", NAME, {BYTES("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage")}, 1},
        {"socks5://p:1", NAME, {BYTES("\5\0"), BYTES("\5\0\0\1\0\0\0\0\0\0H")}, 2},
        {"socks5h://p:1",
         NAME,
         {BYTES("\5\0"), BYTES("\5\0\0\3\1a\0\0HTTP/1.1 200 OK\r\n\r\n")},
         2},
    };

    EACH_ROW(i, rows) {
        result r = run(&rows[i], SIZE_MAX, SIZE_MAX);

        CHECK_EQ(r.event, SN_TUNNEL_FAIL);
        CHECK_EQ(r.err, SEINE_E_PROXY_ERROR);
        CHECK(strstr(r.text, "bytes behind its answer"));
    }
}

TEST(tunnel_connect_head_is_limited)
{
    static char answer[300 << 10];
    size_t n = 0;
    sn_str parts[] = {BYTES("HTTP/1.1 200 OK\r\n"), BYTES("HTTP/1.1 100 Go\r\n\r\n")};

    memcpy(answer, parts[0].ptr, parts[0].len);
    memset(answer + parts[0].len, 'a', sizeof answer - parts[0].len);
    talk k = {"p:1", NAME, {{answer, sizeof answer}}, 1};
    result r = run(&k, 4096, SIZE_MAX);
    CHECK_EQ(r.err, SEINE_E_PROXY_ERROR);
    CHECK(r.heard < 80 << 10); /* a line of 64 KiB */
    for (int i = 0; i < 40; i++) {
        memcpy(answer + n, parts[1].ptr, parts[1].len);
        n += parts[1].len;
    }
    k.answers[0].len = n;
    r = run(&k, SIZE_MAX, SIZE_MAX);
    CHECK_EQ(r.err, SEINE_E_PROXY_ERROR);
}

/* SOCKS. */

static const sn_str four = BYTES("\5\0\0\1\x7f\0\0\1\x1f\x90");
static const sn_str six = BYTES("\5\0\0\4aaaaaaaaaaaaaaaa\x1f\x90");
static const sn_str name = BYTES("\5\0\0\3\7p.local\x1f\x90");
static const sn_str empty = BYTES("\5\0\0\3\0\x1f\x90");

TEST(tunnel_socks_asks_by_name_by_ipv4_and_by_ipv6)
{
    static const struct {
        sn_tunnel_to to;
        sn_str want;
    } rows[] = {
        {NAME, BYTES("\5\1\0\5\1\0\3\14site.example\1\xbb")},
        {{.name = BYTES("a"), .ip = {4, {127, 0, 0, 1}}, .port = 80},
         BYTES("\5\1\0\5\1\0\1\x7f\0\0\1\0\x50")},
        {{.ip = {6, {0x20, 1, [15] = 9}}, .port = 0xfffe},
         BYTES("\5\1\0\5\1\0\4\x20\1\0\0\0\0\0\0\0\0\0\0\0\0\0\x09\xff\xfe")},
    };
    const sn_str *replies[] = {&four, &six, &name, &empty};

    EACH_ROW(i, rows)
        for (size_t j = 0; j < 4; j++) {
            talk k = {"socks5h://p:1", rows[i].to, {BYTES("\5\0"), *replies[j]}, 2};
            result r = run_all(&k);

            CHECK_EQ(r.event, SN_TUNNEL_OPEN);
            CHECK(said(&r, rows[i].want));
            cut_everywhere(&k);
        }
}

TEST(tunnel_socks_logs_in_when_asked)
{
    static const struct {
        talk k;
        sn_str want;
    } rows[] = {
        {{"socks5://joe:secret@p:1",
          {.ip = {4, {1, 2, 3, 4}}, .port = 1},
          {BYTES("\5\2"), BYTES("\1\0"), BYTES("\5\0\0\1\0\0\0\0\0\0")},
          3},
         BYTES("\5\2\0\2\1\3joe\6secret\5\1\0\1\1\2\3\4\0\1")},
        /* it may do without */
        {{"socks5://joe:secret@p:1",
          {.ip = {4, {1, 2, 3, 4}}, .port = 1},
          {BYTES("\5\0"), BYTES("\5\0\0\1\0\0\0\0\0\0")},
          2},
         BYTES("\5\2\0\2\5\1\0\1\1\2\3\4\0\1")},
    };

    EACH_ROW(i, rows) {
        result r = run_all(&rows[i].k);

        CHECK_EQ(r.event, SN_TUNNEL_OPEN);
        CHECK(said(&r, rows[i].want));
        cut_everywhere(&rows[i].k);
    }
}

TEST(tunnel_socks_every_reply_has_its_kind_and_text)
{
    static const struct {
        seine_err err;
        const char *text;
    } rows[] = {
        {SEINE_OK, ""},
        {SEINE_E_PROXY_ERROR, "general failure"},
        {SEINE_E_PROXY_REFUSED, "not allowed by its rules"},
        {SEINE_E_PROXY_ERROR, "network unreachable"},
        {SEINE_E_PROXY_ERROR, "host unreachable"},
        {SEINE_E_PROXY_ERROR, "connection refused"},
        {SEINE_E_PROXY_ERROR, "time to live expired"},
        {SEINE_E_PROXY_REFUSED, "command not supported"},
        {SEINE_E_PROXY_REFUSED, "address type not supported"},
    };

    for (unsigned code = 1; code < 256; code++) {
        char reply[10] = {5, (char)code, 0, 1}, want[96];
        talk k = {"socks5://p:1", NAME, {BYTES("\5\0"), {reply, 10}}, 2};
        result r = run(&k, code % 2 ? SIZE_MAX : 1, SIZE_MAX);

        snprintf(want, sizeof want, "proxy socks5://p:1: %s (reply %u)",
                 code < 9 ? rows[code].text : "unknown failure", code);
        CHECK_EQ(r.event, SN_TUNNEL_FAIL);
        CHECK_EQ(r.err, code < 9 ? rows[code].err : SEINE_E_PROXY_ERROR);
        CHECK_STR(r.text, want);
        CHECK_EQ(r.status, code);
        CHECK_EQ(r.answered, code < 9);
        k.answers[1].len = 2; /* no need for the rest of it */
        CHECK_EQ(run(&k, SIZE_MAX, SIZE_MAX).err, r.err);
    }
}

TEST(tunnel_socks_login_is_not_taken)
{
    static const struct {
        talk k;
        seine_err err;
        const char *text;
    } rows[] = {
        {{"socks5://p:1", NAME, {BYTES("\5\xff")}, 1},
         SEINE_E_PROXY_AUTH,
         "wants a login (method 255)"},
        {{"socks5://a:b@p:1", NAME, {BYTES("\5\xff")}, 1},
         SEINE_E_PROXY_AUTH,
         "takes no login (method 255)"},
        {{"socks5://a:b@p:1", NAME, {BYTES("\5\2"), BYTES("\1\1")}, 2},
         SEINE_E_PROXY_AUTH,
         "refuses the login"},
        {{"socks5://a:b@p:1", NAME, {BYTES("\5\2"), BYTES("\1\xff")}, 2},
         SEINE_E_PROXY_AUTH,
         "refuses the login"},
        /* the login is for those who were offered it */
        {{"socks5://p:1", NAME, {BYTES("\5\2")}, 1},
         SEINE_E_PROXY_ERROR,
         "chose a method that was not offered"},
        {{"socks5://p:1", NAME, {BYTES("\5\1")}, 1},
         SEINE_E_PROXY_ERROR,
         "chose a method that was not offered"},
        {{"socks5://a:b@p:1", NAME, {BYTES("\5\3")}, 1},
         SEINE_E_PROXY_ERROR,
         "chose a method that was not offered"},
    };

    EACH_ROW(i, rows) {
        result r = run_all(&rows[i].k);

        CHECK_EQ(r.event, SN_TUNNEL_FAIL);
        CHECK_EQ(r.err, rows[i].err);
        CHECK(strstr(r.text, rows[i].text));
        CHECK(!r.answered);
    }
}

TEST(tunnel_socks_garbage_is_a_proxy_error)
{
    static const talk rows[] = {
        {"socks5://p:1", NAME, {BYTES("\4\0")}, 1}, /* SOCKS4 */
        {"socks5://p:1", NAME, {BYTES("HTTP/1.1 400 Bad Request\r\n\r\n")}, 1},
        {"socks5://p:1", NAME, {BYTES("\0\0")}, 1},
        {"socks5://a:b@p:1", NAME, {BYTES("\5\2"), BYTES("\5\0")}, 2}, /* not version 1 */
        {"socks5://p:1", NAME, {BYTES("\5\0"), BYTES("\1\0\0\1\0\0\0\0\0\0")}, 2},
        {"socks5://p:1", NAME, {BYTES("\5\0"), BYTES("\5\0\1\1\0\0\0\0\0\0")}, 2},
        {"socks5://p:1", NAME, {BYTES("\5\0"), BYTES("\5\0\0\2\0\0\0\0\0\0")}, 2},
        {"socks5://p:1", NAME, {BYTES("\5\0"), BYTES("\5\0\0\0\0\0\0\0\0\0")}, 2},
    };

    EACH_ROW(i, rows) {
        result r = run_all(&rows[i]);

        CHECK_EQ(r.event, SN_TUNNEL_FAIL);
        CHECK_EQ(r.err, SEINE_E_PROXY_ERROR);
        CHECK(strstr(r.text, "does not speak SOCKS5"));
        CHECK(!r.answered);
    }
}

TEST(tunnel_answers_to_what_was_not_asked_yet_are_an_error)
{
    static const talk rows[] = {
        {"socks5://p:1", NAME, {BYTES("\5\0\5\0\0\1\0\0\0\0\0\0")}, 1},
        {"socks5://a:b@p:1", NAME, {BYTES("\5\2\1\0")}, 1},
        {"socks5://a:b@p:1", NAME, {BYTES("\5\2"), BYTES("\1\0\5")}, 2},
    };

    EACH_ROW(i, rows) {
        result r = run(&rows[i], SIZE_MAX, SIZE_MAX);

        CHECK_EQ(r.err, SEINE_E_PROXY_ERROR);
        CHECK(strstr(r.text, "answered before it was asked"));
    }
    /* The proxy sends before the tunnel has sent anything. */
    static const struct {
        const char *proxy;
        sn_str answer;
    } early[] = {
        {"p:1", BYTES("HTTP/1.1 200 OK\r\n\r\n")},
        {"socks5://p:1", BYTES("\5\0")},
    };
    EACH_ROW(i, early) {
        sn_arena memory;
        sn_proxy proxy;
        sn_tunnel t;

        sn_arena_init(&memory, 1024, SIZE_MAX);
        CHECK_EQ(
            sn_proxy_parse("proxy", sn_str_of(early[i].proxy), &memory, &proxy, NULL),
            SEINE_OK);
        CHECK_EQ(sn_tunnel_init(&t, &proxy, &(sn_tunnel_to)NAME, NULL), SEINE_OK);
        sn_tunnel_sent(&t, sn_tunnel_output(&t).len - 1);
        CHECK_EQ(sn_tunnel_receive(&t, early[i].answer), SN_TUNNEL_FAIL);
        CHECK_EQ(t.err, SEINE_E_PROXY_ERROR);
        sn_tunnel_fini(&t);
        sn_arena_fini(&memory);
    }
}

TEST(tunnel_names_have_1_to_255_bytes)
{
    char long_name[256];
    static const struct {
        size_t len;
        seine_err err;
    } rows[] = {{0, SEINE_E_INVAL}, {1, SEINE_OK}, {255, SEINE_OK}, {256, SEINE_E_INVAL}};
    static const char *const proxies[] = {"p:1", "socks5h://p:1"};

    memset(long_name, 'a', sizeof long_name);
    EACH_ROW(i, rows)
        for (size_t j = 0; j < 2; j++) {
            sn_arena memory;
            sn_proxy proxy;
            sn_tunnel t;

            sn_arena_init(&memory, 1024, SIZE_MAX);
            CHECK_EQ(
                sn_proxy_parse("proxy", sn_str_of(proxies[j]), &memory, &proxy, NULL),
                SEINE_OK);
            seine_err e = sn_tunnel_init(
                &t, &proxy, &(sn_tunnel_to){.name = {long_name, rows[i].len}, .port = 1},
                NULL);
            CHECK_EQ(e, rows[i].err);
            if (e == SEINE_OK)
                sn_tunnel_fini(&t);
            sn_arena_fini(&memory);
        }
}

TEST(tunnel_never_opens_on_random_bytes)
{
    sn_rng rng = sn_rng_seed(check_seed());

    for (int i = 0; i < 2000; i++) {
        char bytes[40];
        size_t n = sn_rng_below(&rng, sizeof bytes);
        talk k = {i % 2 ? "p:1" : "socks5h://p:1", NAME, {{bytes, n}}, 1};

        for (size_t j = 0; j < n; j++)
            bytes[j] = (char)sn_rng_next(&rng);
        result r = run(&k, 1 + sn_rng_below(&rng, 9), SIZE_MAX);
        CHECK_EQ(r.event, SN_TUNNEL_FAIL);
        CHECK(r.err == SEINE_E_PROXY_ERROR || r.err == SEINE_E_PROXY_AUTH ||
              r.err == SEINE_E_PROXY_REFUSED);
    }
}

TEST(tunnel_without_memory)
{
    static const char *const proxies[] = {"joe:pw@p:1", "socks5h://joe:pw@p:1"};

    for (size_t j = 0; j < 2; j++)
        FAIL_EACH(n)
        {
            sn_arena memory;
            sn_proxy proxy;
            sn_tunnel t;

            sn_arena_init(&memory, 1024, SIZE_MAX);
            seine_err e =
                sn_proxy_parse("proxy", sn_str_of(proxies[j]), &memory, &proxy, NULL);
            if (e == SEINE_OK &&
                (e = sn_tunnel_init(&t, &proxy, &(sn_tunnel_to)NAME, NULL)) == SEINE_OK) {
                sn_tunnel_sent(&t, sn_tunnel_output(&t).len);
                sn_tunnel_event event = sn_tunnel_receive(
                    &t, j == 0 ? SN_STR("HTTP/1.1 403 No\r\n\r\n") : SN_STR("\5\1"));
                CHECK_EQ(event, SN_TUNNEL_FAIL);
                CHECK(t.err == SEINE_E_NOMEM || t.err == SEINE_E_PROXY_REFUSED ||
                      t.err == SEINE_E_PROXY_ERROR);
                sn_tunnel_fini(&t);
            }
            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            sn_arena_fini(&memory);
        }
}
