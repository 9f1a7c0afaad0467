/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/gate_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

/* Policies that time does not change while the test runs: one token a day. */
static const char *const post[] = {"POST", NULL};
static const seine_gate_policy policies[] = {
    {sizeof(seine_gate_policy), "login", "/login", post, NULL, {1, SEINE_SECS(86400), 1}},
    {sizeof(seine_gate_policy),
     "api",
     "/api/",
     NULL,
     "X-Api-Key",
     {1, SEINE_SECS(86400), 2}},
    {sizeof(seine_gate_policy), "default", NULL, NULL, NULL, {1, SEINE_SECS(86400), 3}},
};

typedef struct rig {
    seine_gate *gate;
    seine_gate_server *server;
    char admin[64];
} rig;

static rig
open_rig(bool trusts, bool demo, bool admin)
{
    static const char *const local[] = {"127.0.0.1", NULL};
    seine_gate_opts g = SEINE_GATE_OPTS;
    seine_gate_server_opts o = SEINE_GATE_SERVER_OPTS;
    rig r = {NULL, NULL, ""};
    seine_diag d;

    g.policies = policies;
    g.n_policies = 3;
    g.trust = trusts ? local : NULL;
    CHECK_EQ(seine_gate_new(&g, &r.gate, NULL), SEINE_OK);
    o.gate = r.gate;
    o.listen = "127.0.0.1:0";
    o.admin = admin ? "127.0.0.1:0" : NULL;
    o.demo = demo;
    CHECK_EQ(seine_gate_server_new(&o, &r.server, &d), SEINE_OK);
    return r;
}

static void
close_rig(rig *r)
{
    seine_gate_server_free(r->server);
    seine_gate_free(r->gate);
}

/* One request on a connection of its own, from 127.0.0.`from`; the whole response. */
static const char *
ask(const rig *r, const char *place, int from, const char *line, const char *fields)
{
    static char got[1 << 16];
    char text[1024];
    const char *where = seine_gate_server_where(r->server, place);
    struct sockaddr_in at = {.sin_family = AF_INET}, own = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    size_t n = 0;

    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)from - 1);
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons((uint16_t)strtoul(strchr(where, ':') + 1, NULL, 10));
    CHECK_EQ(bind(fd, (struct sockaddr *)&own, sizeof own), 0);
    CHECK_EQ(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    int len =
        snprintf(text, sizeof text,
                 "%s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n%s\r\n", line, fields);
    CHECK_EQ(send(fd, text, (size_t)len, MSG_NOSIGNAL), len);
    for (ssize_t more; (more = recv(fd, got + n, sizeof got - n - 1, 0)) > 0;)
        n += (size_t)more;
    got[n] = 0;
    close(fd);
    return got;
}

static bool
has(const char *got, const char *want)
{
    if (strstr(got, want))
        return true;
    fprintf(stderr, "no '%s' in: %s\n", want, got);
    return false;
}

TEST(gate_server_answers_200_and_429_at_check)
{
    rig r = open_rig(false, false, false);

    for (int i = 0; i < 3; i++) {
        const char *got = ask(&r, "http", 1, "GET /check", "");

        CHECK(has(got, "HTTP/1.1 200 OK\r\n"));
        CHECK(has(got, "RateLimit-Policy: \"default\";q=3;w=259200\r\n"));
        CHECK(has(got, i == 0   ? "RateLimit: \"default\";r=2;t=86"
                       : i == 1 ? "RateLimit: \"default\";r=1;t=172"
                                : "RateLimit: \"default\";r=0;t=86"));
        CHECK(has(got, "Content-Length: 0\r\n"));
        CHECK(!strstr(got, "Retry-After"));
    }
    const char *got = ask(&r, "http", 1, "GET /check", "");
    CHECK(has(got, "HTTP/1.1 429 Too Many Requests\r\n"));
    CHECK(has(got, "RateLimit: \"default\";r=0;t=86"));
    CHECK(has(got, "Retry-After: 86"));
    CHECK(has(got, "Content-Type: application/problem+json\r\n"));
    CHECK(has(got, "\"status\":429,\"violated-policies\":[\"default\"]}"));
    CHECK(has(ask(&r, "http", 2, "GET /check", ""), "HTTP/1.1 200")); /* another client */
    close_rig(&r);
}

TEST(gate_server_answers_204_and_403_to_nginx)
{
    rig r = open_rig(false, false, false);
    const char *got = "";

    for (int i = 0; i < 3; i++)
        got = ask(&r, "http", 1, "GET /nginx", "");
    CHECK(has(got, "HTTP/1.1 204 No Content\r\n"));
    CHECK(has(got, "RateLimit: \"default\";r=0;"));
    got = ask(&r, "http", 1, "GET /nginx", "");
    CHECK(has(got, "HTTP/1.1 403 Forbidden\r\n"));
    CHECK(has(got, "Retry-After: 86"));
    close_rig(&r);
}

/* Only a trusted peer may say whom and what it asks about. */
TEST(gate_server_believes_trusted_proxies_alone)
{
    static const struct {
        const char *line, *fields, *trusted, *stranger;
    } rows[] = {
        {"GET /nginx", "X-Original-URI: /login?a\r\nX-Original-Method: POST\r\n", "login",
         "default"},
        {"GET /nginx", "X-Original-URI: /login\r\n", "default", "default"},
        {"GET /nginx", "X-Forwarded-Uri: /login\r\nX-Forwarded-Method: POST\r\n",
         "default", "default"},
        {"GET /check", "X-Forwarded-Uri: /%6cogin\r\nX-Forwarded-Method: POST\r\n",
         "login", "default"},
        {"POST /check/login?b", "", "login", "default"},
        {"GET /check/api/7", "X-Api-Key: k\r\n", "api", "default"},
        {"GET /check/", "", "default", "default"},
        {"GET /checker", "", NULL, NULL}, /* another path */
    };

    EACH_ROW(i, rows)
        for (int trusts = 0; trusts < 2; trusts++) {
            rig r = open_rig(trusts, false, false);
            const char *got = ask(&r, "http", 1, rows[i].line, rows[i].fields);
            const char *name = trusts ? rows[i].trusted : rows[i].stranger;
            char want[64];

            snprintf(want, sizeof want, "RateLimit: \"%s\";", name ? name : "");
            CHECK(name ? has(got, want) : has(got, "HTTP/1.1 404 "));
            close_rig(&r);
        }
}

TEST(gate_server_counts_the_client_that_a_trusted_proxy_names)
{
    rig r = open_rig(true, false, false);

    for (int i = 0; i < 3; i++)
        CHECK(has(ask(&r, "http", 1, "GET /check", "X-Forwarded-For: 192.0.2.1\r\n"),
                  " 200 OK"));
    CHECK(has(ask(&r, "http", 1, "GET /check", "X-Forwarded-For: 9.9.9.9, 192.0.2.1\r\n"),
              " 429 "));
    CHECK(has(ask(&r, "http", 1, "GET /check", "X-Forwarded-For: 192.0.2.2\r\n"),
              " 200 OK"));
    CHECK(has(ask(&r, "http", 2, "GET /check", "X-Forwarded-For: 192.0.2.1\r\n"),
              "r=2;")); /* 127.0.0.2 is not trusted: it is the client */
    close_rig(&r);
}

TEST(gate_server_limits_every_path_in_a_demo)
{
    rig r = open_rig(false, true, false);
    const char *got = ask(&r, "http", 1, "GET /anything?x", "");

    CHECK(has(got, "Content-Type: application/json\r\n"));
    CHECK(has(got, "{\"ok\":true,\"client\":\"127.0.0.1\",\"remaining\":2}"));
    CHECK(has(ask(&r, "http", 1, "POST /login", ""), "\"login\";r=0;"));
    CHECK(has(ask(&r, "http", 1, "POST /login", ""), "HTTP/1.1 429 "));
    CHECK(has(ask(&r, "http", 1, "GET /livez", ""), "HTTP/1.1 200 OK"));
    CHECK(has(ask(&r, "http", 1, "HEAD /", ""), "\r\n\r\n"));
    close_rig(&r);

    r = open_rig(false, false, false);
    CHECK(has(ask(&r, "http", 1, "GET /anything", ""), "HTTP/1.1 404 Not Found\r\n"));
    close_rig(&r);
}

TEST(gate_server_shows_its_health_and_figures_on_the_admin_address)
{
    for (int admin = 0; admin < 2; admin++) {
        rig r = open_rig(false, false, admin);
        const char *place = admin ? "admin" : "http";

        for (int i = 0; i < 4; i++)
            ask(&r, "http", 1, "GET /check", "");
        CHECK(has(ask(&r, place, 1, "GET /livez", ""), "HTTP/1.1 200 OK"));
        CHECK(has(ask(&r, place, 1, "GET /readyz", ""), "HTTP/1.1 200 OK"));
        const char *got = ask(&r, place, 1, "GET /metrics", "");
        CHECK(has(got, "Content-Type: text/plain; version=0.0.4"));
        CHECK(has(got, "\nseine_gate_decisions_total{policy=\"default\",outcome="
                       "\"allowed\"} 3\n"));
        CHECK(has(got, "\nseine_gate_decisions_total{policy=\"default\",outcome="
                       "\"limited\"} 1\n"));
        CHECK(has(got, "\nseine_gate_clients{policy=\"default\"} 1\n"));
        CHECK(has(got, "server=\"gate\""));
        if (admin) {
            CHECK(has(ask(&r, "http", 1, "GET /metrics", ""), "HTTP/1.1 404 "));
            CHECK(has(ask(&r, place, 1, "GET /check", ""), "HTTP/1.1 404 "));
        }
        close_rig(&r);
    }
}

/* Everything that cannot be listened on says so before it serves. */
TEST(gate_server_names_the_address_that_is_taken)
{
    rig r = open_rig(false, false, false);
    seine_gate_server_opts o = SEINE_GATE_SERVER_OPTS;
    seine_gate_server *second = NULL;
    seine_diag d = SEINE_DIAG;

    o.gate = r.gate;
    o.listen = seine_gate_server_where(r.server, "http");
    CHECK_EQ(seine_gate_server_new(&o, &second, &d), SEINE_E_IO);
    CHECK_STR(d.member, "listen");
    o.admin = o.listen;
    o.listen = "127.0.0.1:0";
    CHECK_EQ(seine_gate_server_new(&o, &second, &d), SEINE_E_IO);
    CHECK_STR(d.member, "admin");
    CHECK(has(d.text, "already in use"));
    close_rig(&r);
}
