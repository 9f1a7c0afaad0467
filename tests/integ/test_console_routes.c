/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every row of the routes table × no token and each role × Host × Origin × content type:
 * the rows come from the table itself, so that a new route is tested on the day it is
 * added.
 */
#include "console/route.h"

#include <arpa/inet.h>
#include <ftw.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "console/monitor.h"
#include "seine/console.h"

enum { ANSWER = 1 << 20 };

typedef struct rig {
    seine_console *console;
    char dir[64], host[64];
    char token[SN_ROLE_ADMIN + 1][64]; /* by role; "": none */
    char *got;
    const sn_route *route; /* being tried, and how: for messages */
    const char *how;
} rig;

#define WANT(r, c)                                                                    \
    ((c) ? (void)0                                                                    \
         : check_fail(__FILE__, __LINE__, "%s %s (%s): %s; got %.200s",               \
                      sn_method_name((r)->route->method), (r)->route->path, (r)->how, \
                      #c, (r)->got))

typedef struct request {
    const char *method, *path, *host, *fields, *body;
    const char *token;
    bool is_json;
} request;

static int
open_socket(const rig *r)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    at.sin_port = htons((uint16_t)strtoul(strchr(r->host, ':') + 1, NULL, 10));
    CHECK_EQ(connect(fd, (struct sockaddr *)&at, sizeof at), 0);
    return fd;
}

/* The status; the whole response is in r->got. */
static int
ask(rig *r, const request *q)
{
    char text[4096];
    size_t n = 0;
    int fd = open_socket(r);
    int len = snprintf(
        text, sizeof text,
        "%s %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n%s%s%s%s%sContent-Length: "
        "%zu\r\n\r\n%s",
        q->method, q->path, q->host ? q->host : r->host,
        q->token ? "Authorization: Bearer " : "", q->token ? q->token : "",
        q->token ? "\r\n" : "", q->is_json ? "Content-Type: application/json\r\n" : "",
        q->fields ? q->fields : "", q->body ? strlen(q->body) : 0,
        q->body ? q->body : "");

    CHECK_EQ(send(fd, text, (size_t)len, MSG_NOSIGNAL), len);
    for (ssize_t more; (more = recv(fd, r->got + n, ANSWER - n - 1, 0)) > 0;)
        n += (size_t)more;
    r->got[n] = '\0';
    close(fd);
    return n > 12 ? (int)strtol(r->got + 9, NULL, 10) : 0;
}

static void
make_token(rig *r, sn_role role)
{
    char body[80];
    request q = {.method = "POST", .path = "/api/tokens", .body = body};

    q.token = r->token[SN_ROLE_ADMIN];
    q.is_json = true;
    snprintf(body, sizeof body, "{\"name\":\"t\",\"role\":\"%s\"}", sn_role_name(role));
    CHECK_EQ(ask(r, &q), 201);
    const char *at = strstr(r->got, "\"token\":\"");
    CHECK(at != NULL);
    if (at)
        snprintf(r->token[role], sizeof r->token[role], "%.46s", at + 9);
}

static void
open_rig(rig *r)
{
    seine_console_opts o = SEINE_CONSOLE_OPTS;
    seine_diag d = SEINE_DIAG;

    *r = (rig){.dir = "/tmp/console-XXXXXX"};
    r->got = malloc(ANSWER);
    CHECK(mkdtemp(r->dir) != NULL);
    o.listen = "127.0.0.1:0";
    o.state_dir = r->dir;
    o.rest_rate = o.rest_burst = 100000;
    o.max_per_ip = 0;
    CHECK_EQ(seine_console_new(&o, &r->console, &d), SEINE_OK);
    snprintf(r->host, sizeof r->host, "%s", seine_console_url(r->console) + 7);
    r->host[strcspn(r->host, "/")] = '\0';
    CHECK_EQ(seine_console_token(r->dir, r->token[SN_ROLE_ADMIN], 64), SEINE_OK);
    make_token(r, SN_ROLE_VIEWER);
    make_token(r, SN_ROLE_EDITOR);
}

static int
remove_one(const char *path, const struct stat *what, int kind, struct FTW *at)
{
    (void)what, (void)kind, (void)at;
    return remove(path);
}

static void
close_rig(rig *r)
{
    seine_console_free(r->console);
    free(r->got);
    CHECK_EQ(nftw(r->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

/* A path of the route that no document, run or token has. */
static void
fill_path(const sn_route *route, char out[256])
{
    size_t n = 0;

    for (const char *c = route->path; *c; c++) {
        const char *value = NULL;

        if (*c != '{') {
            out[n++] = *c;
            continue;
        }
        value = strncmp(c, "{id}", 4) == 0    ? "01JD2Z6W9N0000000000000000"
                : strncmp(c, "{seq}", 5) == 0 ? "1"
                                              : "nothing";
        memcpy(out + n, value, strlen(value));
        n += strlen(value);
        c = strchr(c, '}');
    }
    out[n] = '\0';
}

static void
try_roles(rig *r, const sn_route *route, request q)
{
    for (sn_role role = SN_ROLE_NONE; role <= SN_ROLE_ADMIN; role++) {
        q.token = r->token[role][0] ? r->token[role] : NULL;
        int status = ask(r, &q);

        r->how = sn_role_name(role);
        if (route->role > SN_ROLE_NONE && role == SN_ROLE_NONE)
            WANT(r, status == 401);
        else if (role < route->role) {
            WANT(r, status == 403);
            WANT(r, strstr(r->got, "the role of this token is too low") != NULL);
        } else {
            WANT(r, status != 401 && status != 421 && status != 405 && status != 415);
            WANT(r, !strstr(r->got, "the role of this token is too low"));
            WANT(r, status >= 200 && status < 600);
        }
    }
}

static void
try_places(rig *r, request q)
{
    static const char *const hosts[] = {"evil.example", "127.0.0.1", "localhost:1",
                                        "127.0.0.1.evil.example:80", ""};
    char fields[160];

    q.token = r->token[SN_ROLE_ADMIN];
    for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
        q.host = hosts[i];
        r->how = hosts[i];
        int status = ask(r, &q);
        WANT(r, status == 421 || (hosts[i][0] == '\0' && status == 400));
    }
    q.host = NULL;
    q.fields = fields;
    for (int i = 0; i < 5; i++) {
        static const char *const origins[] = {
            "Origin: http://evil.example\r\n", "Origin: null\r\n",
            "Origin: https://%s\r\n", "Origin: http://%s.evil.example\r\n",
            "Origin: http://%s\r\nOrigin: http://e\r\n"};
        char host[64];

        snprintf(host, sizeof host, "%s", r->host);
        char *at = strstr(origins[i], "%s");
        if (at)
            snprintf(fields, sizeof fields, "%.*s%s%s", (int)(at - origins[i]),
                     origins[i], host, at + 2);
        else
            snprintf(fields, sizeof fields, "%s", origins[i]);
        r->how = fields;
        WANT(r, ask(r, &q) == 403);
        WANT(r, strstr(r->got, "Origin is another site") != NULL);
    }
}

static void
try_types(rig *r, const sn_route *route, request q)
{
    static const char *const types[] = {
        "", "Content-Type: text/plain\r\n",
        "Content-Type: application/x-www-form-urlencoded\r\n",
        "Content-Type: multipart/form-data; boundary=x\r\n",
        "Content-Type: application/json; charset=utf-16\r\n"};

    if (route->method == SN_GET)
        return;
    q.token = r->token[SN_ROLE_ADMIN];
    q.is_json = false;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        q.fields = types[i];
        r->how = types[i];
        WANT(r, ask(r, &q) == 415);
    }
    q.is_json = true;
    q.fields = "Sec-Fetch-Site: cross-site\r\n";
    r->how = q.fields;
    WANT(r, ask(r, &q) == 403);
    q.fields = "Sec-Fetch-Site: same-site\r\n";
    WANT(r, ask(r, &q) == 403);
}

static void
try_methods(rig *r, request q)
{
    static const char *const methods[] = {"OPTIONS", "PUT", "TRACE", "get"};

    q.token = r->token[SN_ROLE_ADMIN];
    q.is_json = true;
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++) {
        q.method = methods[i];
        r->how = methods[i];
        WANT(r, ask(r, &q) == 405);
        WANT(r, strstr(r->got, "Allow: ") != NULL);
    }
}

static void
try_answers(rig *r)
{
    r->how = "fields of every answer";
    WANT(r, strstr(r->got, "X-Content-Type-Options: nosniff\r\n") != NULL);
    WANT(r, strstr(r->got, "default-src 'none'") != NULL);
    WANT(r, strstr(r->got, "frame-ancestors 'none'") != NULL);
    WANT(r, strstr(r->got, "Referrer-Policy: no-referrer\r\n") != NULL);
    WANT(r, strstr(r->got, "Cross-Origin-Resource-Policy: same-origin\r\n") != NULL);
    WANT(r, !strstr(r->got, "Access-Control-"));
    WANT(r, !strstr(r->got, "Set-Cookie"));
}

TEST(console_answers_every_route_as_its_row_says)
{
    rig r;
    size_t n;
    const sn_route *routes = sn_route_all(&n);

    open_rig(&r);
    for (size_t i = 0; i < n; i++) {
        char path[256];
        request q = {.method = sn_method_name(routes[i].method), .path = path};

        r.route = &routes[i];
        fill_path(&routes[i], path);
        q.is_json = routes[i].method != SN_GET;
        try_roles(&r, &routes[i], q);
        try_answers(&r);
        try_places(&r, q);
        try_types(&r, &routes[i], q);
        try_methods(&r, q);
    }
    close_rig(&r);
}

TEST(console_is_alive_while_the_shards_of_its_runs_turn)
{
    rig r;
    request q = {.method = "GET", .path = "/livez"};

    open_rig(&r);
    CHECK_EQ(ask(&r, &q), 200);
    sn_monitor_shards(r.console, seine_now() - SEINE_SECS(6)); /* one does not answer */
    CHECK_EQ(ask(&r, &q), 503);
    sn_monitor_shards(r.console, 0);
    CHECK_EQ(ask(&r, &q), 200);
    close_rig(&r);
}

TEST(console_has_no_other_path)
{
    static const char *const paths[] = {"/api",          "/api/",        "/assets/",
                                        "/assets/../",   "/api/%2e%2e",  "/x",
                                        "/api/session/", "//api/session"};
    rig r;

    open_rig(&r);
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        request q = {.method = "GET", .path = paths[i], .token = r.token[SN_ROLE_ADMIN]};

        CHECK_EQ(ask(&r, &q), 404);
    }
    close_rig(&r);
}
