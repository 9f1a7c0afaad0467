/* SPDX-License-Identifier: Apache-2.0 */
#include "chaos/proxy.h"

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "failing.h"

#define T0 SEINE_SECS(1000)

/* A world, and its last response as a proxy. */
typedef struct stage {
    snc_world w;
    snc_visitor v;
    snc_response response;
    snc_passage to;
    snc_socks socks;
    char said[4096];
    size_t len;
} stage;

static stage s;

static void
begin(const char *script)
{
    snc_script_fault fault;

    s.v = (snc_visitor){.connection = 1,
                        .nth = 1,
                        .peer = SN_STR("127.0.0.1:5"),
                        .own = SN_STR("127.0.0.1")};
    s.socks = (snc_socks){.at = SNC_SOCKS_HELLO};
    CHECK_EQ(snc_world_init(&s.w, 1), SEINE_OK);
    s.w.port = 8080;
    s.w.tls_port = 8443;
    s.w.socks_port = 1080;
    s.w.dead_port = 9;
    s.w.hole_port = 10;
    CHECK_EQ(snc_script_add(&s.w.script, sn_str_of(script), &fault), SEINE_OK);
}

static void
hear(seine_err e)
{
    CHECK_EQ(e, SEINE_OK);
    s.len = snc_wire_read(&s.response.wire, &s.w.lines, s.said, sizeof s.said - 1);
    s.said[s.len] = '\0';
    snc_response_fini(&s.response);
}

static const char *
connect_to(const char *target, const char *fields)
{
    static snc_request req;
    char head[1024];

    snprintf(head, sizeof head, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n%s\r\n", target,
             target, fields);
    CHECK_EQ(snc_request_head(&req, sn_str_of(head)), SNC_PARSED_OK);
    hear(snc_proxy_connect(&s.w, &s.v, &req, T0, &s.response, &s.to));
    return s.said;
}

/* One message to the SOCKS proxy. */
static void
tell(sn_str bytes)
{
    size_t used;

    CHECK_EQ(snc_socks_read(&s.socks, bytes, &used), SNC_PARSED_OK);
    hear(snc_proxy_socks(&s.w, &s.v, &s.socks, T0, &s.response, &s.to));
}

/* Hello without login, then a request for a name and a port; returns the reply code. */
static int
ask_for(const char *name, unsigned port)
{
    char bytes[300];
    size_t n = strlen(name);

    s.socks = (snc_socks){.at = SNC_SOCKS_HELLO};
    tell(SN_STR("\5\1\0"));
    memcpy(bytes, "\5\1\0\3", 4);
    bytes[4] = (char)n;
    memcpy(bytes + 5, name, n);
    bytes[5 + n] = (char)(port >> 8);
    bytes[6 + n] = (char)port;
    tell((sn_str){bytes, n + 7});
    return s.len == 10 ? (unsigned char)s.said[1] : -1;
}

TEST(a_tunnel_leads_to_a_door_of_our_own_and_nowhere_else)
{
    static const struct {
        const char *target, *starts;
        snc_way way;
        bool mute;
    } rows[] = {
        {"a.test:8080", "HTTP/1.1 200 Connection established\r\n\r\n", SNC_WAY_HTTP,
         false},
        {"a.test:80", "HTTP/1.1 200 Connection established\r\n\r\n", SNC_WAY_HTTP, false},
        {"a.test:8443", "HTTP/1.1 200 Connection established\r\n\r\n", SNC_WAY_HTTPS,
         false},
        {"a.test:443", "HTTP/1.1 200 Connection established\r\n\r\n", SNC_WAY_HTTPS,
         false},
        {"a.test:9", "HTTP/1.1 502 Bad Gateway\r\n", SNC_WAY_NONE, false},
        {"a.test:10", "", SNC_WAY_NONE, true},
        {"a.test:22", "HTTP/1.1 403 Forbidden\r\n", SNC_WAY_NONE, false},
        {"a.test:1080", "HTTP/1.1 403 Forbidden\r\n", SNC_WAY_NONE, false},
        {"a.test:99999", "HTTP/1.1 403 Forbidden\r\n", SNC_WAY_NONE, false},
    };

    begin("");
    EACH_ROW(i, rows) {
        connect_to(rows[i].target, "");
        CHECK_EQ(s.response.mute, rows[i].mute);
        CHECK(rows[i].mute ||
              strncmp(s.said, rows[i].starts, strlen(rows[i].starts)) == 0);
        CHECK_EQ(s.to.way, rows[i].mute ? s.to.way : rows[i].way);
    }
    connect_to("127.1.0.3:443", "");
    CHECK_STR(s.to.address, "127.1.0.3");
    connect_to("a.test:443", "");
    CHECK_STR(s.to.address, "");
    s.v.tunnelled = true; /* no tunnel inside of a tunnel */
    connect_to("a.test:443", "");
    CHECK_EQ(s.to.way, SNC_WAY_NONE);
    s.w.tls_port = 0;
    s.v.tunnelled = false;
    connect_to("a.test:443", "");
    CHECK_EQ(s.to.way, SNC_WAY_NONE);
    CHECK_EQ(s.w.witness.connects, 13);
    snc_world_fini(&s.w);
}

TEST(a_proxy_lies_as_the_script_says)
{
    static const struct {
        const char *fault, *starts;
        snc_way way;
    } rows[] = {
        {"status:502", "HTTP/1.1 502 Bad Gateway\r\n", SNC_WAY_NONE},
        {"status:204", "HTTP/1.1 204 No Content\r\n", SNC_WAY_HTTPS},
        {"raw:AAEC", "", SNC_WAY_HTTPS}, /* three bytes, then FIN */
        {"badstatus", "HTTP/1.1 abc", SNC_WAY_HTTPS},
        {"head:X:y", "HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n",
         SNC_WAY_HTTPS},
        {"extra:3", "HTTP/1.1 200 Connection established\r\n\r\nxxx", SNC_WAY_HTTPS},
        {"proxyauth:u:p", "HTTP/1.1 407 Proxy Authentication Required\r\n", SNC_WAY_NONE},
    };

    EACH_ROW(i, rows) {
        char script[128];

        snprintf(script, sizeof script, "{\"proxy\":\"a.test\",\"fault\":\"%s\"}",
                 rows[i].fault);
        begin(script);
        connect_to("a.test:443", "");
        CHECK(strncmp(s.said, rows[i].starts, strlen(rows[i].starts)) == 0);
        CHECK_EQ(s.to.way, rows[i].way);
        CHECK(strncmp(connect_to("b.test:443", ""), "HTTP/1.1 200 ", 13) == 0);
        snc_world_fini(&s.w);
    }
    begin("{\"proxy\":\"*\",\"nth\":2,\"fault\":\"fin:5\"}");
    connect_to("a.test:443", "");
    CHECK_EQ(s.response.cut, SNC_CUT_NONE);
    connect_to("a.test:443", "");
    CHECK_EQ(s.response.cut, SNC_CUT_FIN);
    snc_world_fini(&s.w);
}

TEST(a_login_opens_the_proxy)
{
    begin("{\"proxy\":\"*\",\"fault\":\"proxyauth:u:p:q\"}");
    connect_to("a.test:443", "");
    CHECK(strstr(s.said, "Proxy-Authenticate: Basic realm=\"chaos\"\r\n"));
    connect_to("a.test:443", "Proxy-Authorization: Basic dTpwOnE=\r\n"); /* u:p:q */
    CHECK(s.to.way == SNC_WAY_HTTPS);
    connect_to("a.test:443", "Authorization: Basic dTpwOnE=\r\n");
    CHECK(s.to.way == SNC_WAY_NONE);
    connect_to("a.test:443", "Proxy-Authorization: Basic dTpw\r\n");
    CHECK(s.to.way == SNC_WAY_NONE);

    tell(SN_STR("\5\1\0")); /* offers none only */
    CHECK(s.len == 2 && s.said[1] == (char)255 && !s.response.keep);
    s.socks = (snc_socks){.at = SNC_SOCKS_HELLO};
    tell(SN_STR("\5\2\0\2"));
    CHECK(s.said[1] == 2 && s.response.keep && s.socks.at == SNC_SOCKS_LOGIN);
    tell(SN_STR("\1\1u\1x"));
    CHECK(s.said[0] == 1 && s.said[1] == 1 && !s.response.keep);
    s.socks = (snc_socks){.at = SNC_SOCKS_LOGIN};
    tell(SN_STR("\1\1u\3p:q"));
    CHECK(s.said[0] == 1 && s.said[1] == 0 && s.response.keep);
    tell(SN_STR("\5\1\0\3\6a.test\0\x50"));
    CHECK(s.len == 10 && s.said[1] == 0 && s.to.way == SNC_WAY_HTTP);
    snc_world_fini(&s.w);
}

TEST(socks_leads_to_the_same_places)
{
    begin("");
    CHECK_EQ(ask_for("a.test", 80), 0);
    CHECK(s.to.way == SNC_WAY_HTTP && s.response.keep);
    CHECK_EQ(ask_for("a.test", 8443), 0);
    CHECK_EQ(s.to.way, SNC_WAY_HTTPS);
    CHECK_EQ(ask_for("a.test", 9), 5);
    CHECK(s.to.way == SNC_WAY_NONE && !s.response.keep);
    CHECK_EQ(ask_for("a.test", 22), 2);
    ask_for("a.test", 10);
    CHECK(s.response.mute);
    s.socks = (snc_socks){.at = SNC_SOCKS_REQUEST};
    tell(SN_STR("\5\2\0\1\x7f\1\0\3\0\x50")); /* BIND */
    CHECK_EQ(s.said[1], 7);
    tell(SN_STR("\5\1\0\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\x50"));
    CHECK_EQ(s.said[1], 8);
    tell(SN_STR("\5\1\0\1\x7f\1\0\3\0\x50"));
    CHECK_EQ(s.said[1], 0);
    CHECK_STR(s.to.address, "127.1.0.3");
    CHECK_EQ(s.w.witness.socks, 8);
    CHECK_EQ(s.w.witness.socks_names, 5);
    CHECK_EQ(s.w.witness.tunnels, 3);
    snc_world_fini(&s.w);
}

TEST(socks_lies_in_every_message)
{
    begin("{\"proxy\":\"a.test\",\"fault\":\"reply:4\"}\n"
          "{\"proxy\":\"b.test\",\"fault\":\"status:503\"}\n"
          "{\"proxy\":\"c.test\",\"fault\":\"raw:SFRUUA\"}\n"
          "{\"proxy\":\"d.test\",\"fault\":\"stall:3\"}\n"
          "{\"proxy\":\"*\",\"nth\":6,\"fault\":\"method:3\"}\n");
    CHECK_EQ(ask_for("a.test", 80), 4);
    CHECK_EQ(s.to.way, SNC_WAY_NONE);
    CHECK_EQ(ask_for("b.test", 80), 1);
    CHECK_EQ(ask_for("c.test", 80), -1);
    CHECK_STR(s.said, "HTTP");
    CHECK(s.to.way == SNC_WAY_NONE && !s.response.keep);
    CHECK_EQ(ask_for("d.test", 80), 0);
    CHECK(s.response.cut == SNC_CUT_STALL && s.response.cut_at == 3);
    ask_for("e.test", 80);
    s.socks = (snc_socks){.at = SNC_SOCKS_HELLO};
    tell(SN_STR("\5\1\0")); /* the sixth */
    CHECK_EQ(s.said[1], 3);
    snc_world_fini(&s.w);
}

TEST(what_belongs_to_a_site_is_a_leak_at_the_proxy_and_the_other_way_round)
{
    sn_buf out;

    begin("");
    sn_buf_init(&out, 4096);
    CHECK_EQ(snc_secret_leaks_register(&s.w.leaks, SN_STR("cookie-of-a"),
                                       SN_STR("https://a.test")),
             SEINE_OK);
    CHECK_EQ(snc_secret_leaks_register(&s.w.leaks, SN_STR("proxy-pass"),
                                       SN_STR("http://127.0.0.1:8080")),
             SEINE_OK);
    connect_to("a.test:443",
               "Cookie: cookie-of-a\r\nProxy-Authorization: proxy-pass\r\n");
    snc_secret_leaks_report(&s.w.leaks, &out);
    CHECK_STR(out.ptr, "[{\"origin\":\"http://127.0.0.1:8080\","
                       "\"where\":\"connect header cookie\",\"path\":\"a.test:443\"}]");
    sn_buf_fini(&out);
    snc_world_fini(&s.w);
}

TEST(without_memory_a_proxy_has_no_response)
{
    static snc_request req;

    CHECK_EQ(snc_request_head(
                 &req, SN_STR("CONNECT a.test:80 HTTP/1.1\r\nHost: a.test:80\r\n\r\n")),
             SNC_PARSED_OK);
    FAIL_EACH(r)
    {
        if (snc_world_init(&s.w, 1) == SEINE_OK) {
            seine_err e = snc_proxy_connect(&s.w, &s.v, &req, T0, &s.response, &s.to);

            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            if (e == SEINE_OK)
                snc_response_fini(&s.response);
        }
        snc_world_fini(&s.w);
    }
}
