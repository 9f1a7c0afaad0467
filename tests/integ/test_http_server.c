/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The server on real sockets and a fake clock: the test is client and loop in one
 * thread, so that a turn is a turn, and time passes when the test says so.
 */
#include "serve/http_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "seine/clock.h"

enum { TURNS = 2000, LATER = 8 };

typedef struct rig {
    seine_clock *clock;
    sn_loop loop;
    sn_http_server *server;
    struct sockaddr_in at;
    sn_http_call *later[LATER]; /* calls that the handler left for the test */
    int n_later;
    unsigned handled;
    size_t body; /* of the answers to /big */
    char *big;
} rig;

/* /late is answered by the test, /big with many bytes, /close closes, the rest with
 * method, target and body. */
static void
handle(sn_http_call *call, void *arg)
{
    rig *r = arg;
    const sn_http_request *q = &call->request;
    sn_http_reply reply = {.status = 200, .type = "text/plain"};
    char text[256];

    r->handled++;
    if (sn_str_eq(q->target, SN_STR("/late"))) {
        call->own = r;
        r->later[r->n_later++] = call;
        return;
    }
    snprintf(text, sizeof text, "%.*s %.*s %.*s", SN_FMT(q->method), SN_FMT(q->target),
             SN_FMT(q->body));
    reply.body = sn_str_of(text);
    reply.close = sn_str_eq(q->target, SN_STR("/close"));
    if (sn_str_eq(q->target, SN_STR("/big")))
        reply.body = (sn_str){r->big, r->body};
    if (sn_str_eq(q->target, SN_STR("/none")))
        reply.status = 204;
    sn_http_answer(call, &reply);
}

static rig *
open_rig(uint32_t max_connections)
{
    rig *r = calloc(1, sizeof *r);
    sn_http_opts opts = SN_HTTP_OPTS;
    uint16_t port;

    opts.handle = handle;
    opts.arg = r;
    opts.max_connections = max_connections;
    CHECK_EQ(seine_clock_fake_new(SEINE_SECS(100), SEINE_SECS(784111777), 1, &r->clock),
             SEINE_OK);
    CHECK_EQ(sn_loop_init(&r->loop, r->clock), SEINE_OK);
    CHECK_EQ(sn_http_server_new(&r->loop, &opts, &r->server), SEINE_OK);
    CHECK_EQ(sn_http_server_listen(r->server, "127.0.0.1:0", 7, NULL), SEINE_OK);
    port =
        (uint16_t)strtoul(strchr(sn_http_server_where(r->server, 7), ':') + 1, NULL, 10);
    r->at = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
    r->at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return r;
}

static void
close_rig(rig *r)
{
    sn_http_server_free(r->server);
    sn_loop_fini(&r->loop);
    seine_clock_fake_free(r->clock);
    free(r->big);
    free(r);
}

static void
turn(rig *r)
{
    sn_loop_turn(&r->loop, r->loop.now);
    usleep(100); /* the kernel hands packets on */
}

static sn_http_stats
stats(const rig *r)
{
    sn_http_stats t;

    sn_http_server_stats(r->server, &t);
    return t;
}

static int
dial(rig *r)
{
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    uint64_t before = stats(r).accepted + stats(r).turned_away;

    CHECK_EQ(connect(fd, (struct sockaddr *)&r->at, sizeof r->at), 0);
    for (int i = 0; i < TURNS && stats(r).accepted + stats(r).turned_away == before; i++)
        turn(r);
    return fd;
}

static void
put(int fd, const char *text)
{
    CHECK_EQ(send(fd, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

/* Turns until the server closes, or until `want` occurs in what came; returns all of
 * it. "" after `turns`: neither happened. */
static const char *
get(rig *r, int fd, const char *want)
{
    static char got[1 << 20];
    size_t n = 0;

    got[0] = 0;
    for (int i = 0; i < TURNS; i++) {
        turn(r);
        ssize_t more = recv(fd, got + n, sizeof got - n - 1, MSG_DONTWAIT);
        if (more == 0 || (more < 0 && errno != EAGAIN))
            return got;
        if (more > 0) {
            got[n += (size_t)more] = 0;
            if (want && strstr(got, want))
                return got;
        }
    }
    check_fail(__FILE__, __LINE__, "neither '%s' nor the end came: %s", want ? want : "",
               got);
    return got;
}

static bool
is_open(rig *r, int fd)
{
    char c;

    for (int i = 0; i < 20; i++)
        turn(r);
    return recv(fd, &c, 1, MSG_DONTWAIT | MSG_PEEK) < 0 && errno == EAGAIN;
}

TEST(http_server_answers_requests_that_were_sent_ahead_in_order)
{
    rig *r = open_rig(0);
    int fd = dial(r);

    put(fd, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: "
            "a\r\nContent-Length: 2\r\n\r\nhi"
            "HEAD /3 HTTP/1.1\r\nHost: a\r\n\r\nGET /none HTTP/1.1\r\nHost: a\r\n\r\n"
            "GET /close HTTP/1.1\r\nHost: a\r\n\r\nGET /never HTTP/1.1\r\nHost: "
            "a\r\n\r\n");
    CHECK_STR(get(r, fd, NULL),
              "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 "
              "GMT\r\nContent-Type: text/plain\r\nContent-Length: 7\r\n\r\nGET /1 "
              "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 "
              "GMT\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\nPOST /2 hi"
              "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 "
              "GMT\r\nContent-Type: text/plain\r\nContent-Length: 8\r\n\r\n"
              "HTTP/1.1 204 No Content\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n\r\n"
              "HTTP/1.1 200 OK\r\nDate: Sun, 06 Nov 1994 08:49:37 "
              "GMT\r\nContent-Type: text/plain\r\nContent-Length: 11\r\nConnection: "
              "close\r\n\r\nGET /close ");
    CHECK_EQ(r->handled, 5);
    close(fd);
    close_rig(r);
}

TEST(http_server_takes_a_request_byte_by_byte)
{
    const char *text = "GET /slow HTTP/1.0\r\n\r\n";
    rig *r = open_rig(0);
    int fd = dial(r);

    for (size_t i = 0; text[i]; i++) {
        CHECK_EQ(send(fd, text + i, 1, MSG_NOSIGNAL), 1);
        turn(r);
    }
    CHECK(strstr(get(r, fd, NULL), "Connection: close\r\n\r\nGET /slow "));
    close(fd);
    close_rig(r);
}

TEST(http_server_lets_a_handler_answer_in_a_later_turn)
{
    sn_http_reply reply = {.status = 200, .body = SN_STR("late")};
    rig *r = open_rig(0);
    int a = dial(r), b = dial(r);

    put(a, "GET /late HTTP/1.1\r\nHost: a\r\n\r\nGET /next HTTP/1.1\r\nHost: a\r\n\r\n");
    put(b, "GET /late HTTP/1.1\r\nHost: a\r\n\r\n");
    for (int i = 0; i < TURNS && r->n_later < 2; i++)
        turn(r);
    CHECK_EQ(r->n_later, 2);
    CHECK_EQ(r->handled, 2);                              /* /next waits */
    seine_clock_fake_advance(r->clock, SEINE_SECS(3600)); /* a call has no deadline */
    CHECK(is_open(r, a));
    sn_http_answer(r->later[1], &reply); /* the other one first */
    sn_http_answer(r->later[0], &reply);
    CHECK(strstr(get(r, a, "/next"), "\r\n\r\nlateHTTP/1.1 200"));
    CHECK(strstr(get(r, b, "late"), "\r\n\r\nlate"));
    close(a);
    close(b);
    close_rig(r);
}

/* The client is gone when the answer comes: it goes nowhere, and nothing leaks. */
TEST(http_server_drops_an_answer_that_nobody_waits_for)
{
    sn_http_reply reply = {.status = 200, .body = SN_STR("late")};
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    rig *r = open_rig(0);
    int fd = dial(r);

    put(fd, "GET /late HTTP/1.1\r\nHost: a\r\n\r\n");
    for (int i = 0; i < TURNS && r->n_later < 1; i++)
        turn(r);
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(fd); /* RST */
    for (int i = 0; i < TURNS && stats(r).open > 0; i++)
        turn(r);
    CHECK_EQ(stats(r).open, 0);
    CHECK(sn_http_server_is_busy(r->server));
    sn_http_answer(r->later[0], &reply);
    CHECK(!sn_http_server_is_busy(r->server));
    close_rig(r);
}

/* Calls that wait when the server ends are freed with it. */
TEST(http_server_frees_calls_that_were_never_answered)
{
    rig *r = open_rig(0);
    int fd = dial(r);

    put(fd, "GET /late HTTP/1.1\r\nHost: a\r\n\r\n");
    for (int i = 0; i < TURNS && r->n_later < 1; i++)
        turn(r);
    CHECK_EQ(r->n_later, 1);
    CHECK(sn_http_server_is_busy(r->server));
    close_rig(r);
    close(fd);
}

TEST(http_server_answers_a_client_that_sends_no_more)
{
    rig *r = open_rig(0);
    int fd = dial(r);

    put(fd,
        "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.1\r\nHost: a\r\n\r\nGET /ha");
    shutdown(fd, SHUT_WR);
    const char *got = get(r, fd, NULL);
    CHECK(strstr(got, "GET /1 ") && strstr(got, "GET /2 ") && !strstr(got, "/ha"));
    close(fd);
    close_rig(r);
}

TEST(http_server_closes_after_what_is_no_request_and_the_client_reads_why)
{
    rig *r = open_rig(0);
    int fd = dial(r);
    char flood[20000];

    memset(flood, 'x', sizeof flood);
    put(fd, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET / HTTP/1.1\nHost: a\r\n\r\n");
    CHECK(send(fd, flood, sizeof flood, MSG_NOSIGNAL) > 0); /* must not become an RST */
    const char *got = get(r, fd, NULL);
    CHECK(strstr(got, "GET /1 "));
    CHECK(strstr(got, "HTTP/1.1 400 Bad Request\r\n"));
    CHECK(strstr(got, "Connection: close\r\n"));
    CHECK_EQ(r->handled, 1);
    CHECK_EQ(stats(r).bad, 1);
    close(fd);
    close_rig(r);
}

TEST(http_server_asks_for_the_body_of_a_client_that_waits)
{
    rig *r = open_rig(0);
    int fd = dial(r);

    put(fd, "PUT /p HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: "
            "2\r\n\r\n");
    CHECK_STR(get(r, fd, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    put(fd, "ok");
    CHECK(strstr(get(r, fd, "PUT /p ok"), "HTTP/1.1 200"));
    close(fd);
    close_rig(r);
}

TEST(http_server_ends_slow_requests_and_idle_connections)
{
    rig *r = open_rig(0);
    int slow = dial(r), idle = dial(r), drip = dial(r);

    put(slow, "GET / HT");
    put(drip, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nab");
    CHECK(is_open(r, slow));
    for (int i = 0; i < 9; i++) { /* a byte a second makes no new deadline */
        seine_clock_fake_advance(r->clock, SEINE_SECS(1));
        put(drip, "x");
        CHECK(is_open(r, drip) || i == 6);
        if (i == 6)
            break;
    }
    CHECK(strstr(get(r, drip, "abxxxxxxx"), "200 OK"));
    seine_clock_fake_advance(r->clock, SEINE_SECS(3) - 1);
    CHECK(is_open(r, slow));
    seine_clock_fake_advance(r->clock, 1);
    CHECK(strstr(get(r, slow, NULL), "HTTP/1.1 408 Request Timeout\r\n"));
    CHECK_EQ(stats(r).timed_out, 1);
    seine_clock_fake_advance(r->clock, SEINE_SECS(65) - 1);
    CHECK(is_open(r, idle));
    seine_clock_fake_advance(r->clock, 1);
    CHECK_STR(get(r, idle, NULL), "");
    close(slow);
    close(idle);
    close(drip);
    close_rig(r);
}

TEST(http_server_makes_room_for_new_connections_with_the_longest_idle)
{
    rig *r = open_rig(3);
    int a = dial(r), b = dial(r), c = dial(r);

    put(a, "GET /1 HTTP/1.1\r\nHost: a\r\n\r\n"); /* now b is idle longest */
    CHECK(strstr(get(r, a, "/1"), "200"));
    int d = dial(r);
    CHECK(!is_open(r, b));
    CHECK(is_open(r, a) && is_open(r, c) && is_open(r, d));
    CHECK_EQ(stats(r).evicted, 1);

    /* Nobody is idle: requests that have begun are not given up. */
    put(a, "GET /");
    put(c, "GET /");
    put(d, "GET /");
    CHECK(is_open(r, a));
    int e = dial(r);
    CHECK(!is_open(r, e));
    CHECK(is_open(r, a) && is_open(r, c) && is_open(r, d));
    CHECK_EQ(stats(r).turned_away, 1);
    close(a);
    close(b);
    close(c);
    close(d);
    close(e);
    close_rig(r);
}

/* A client that asks and never reads: no more is handled than its buffers take. */
TEST(http_server_stops_for_a_client_that_does_not_read)
{
    rig *r = open_rig(0);
    int fd = dial(r);
    int small = 4096;

    r->body = 60000;
    r->big = malloc(r->body);
    memset(r->big, 'b', r->body);
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof small);
    for (int i = 0; i < 2000; i++) {
        const char *text = "GET /big HTTP/1.1\r\nHost: a\r\n\r\n";

        if (send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
            break;
        if (i % 50 == 0)
            turn(r);
    }
    for (int i = 0; i < 200; i++)
        turn(r);
    unsigned handled = r->handled;
    CHECK(handled < 1000);
    for (int i = 0; i < 50; i++)
        turn(r);
    CHECK_EQ(r->handled, handled);
    seine_clock_fake_advance(r->clock, SEINE_SECS(75)); /* at last it is given up */
    for (int i = 0; i < TURNS && stats(r).open > 0; i++)
        turn(r);
    CHECK_EQ(stats(r).open, 0);
    close(fd);
    close_rig(r);
}

TEST(http_server_stops_when_everybody_has_an_answer)
{
    sn_http_reply reply = {.status = 200, .body = SN_STR("late")};
    rig *r = open_rig(0);
    int idle = dial(r), busy = dial(r);

    put(busy, "GET /late HTTP/1.1\r\nHost: a\r\n\r\n");
    for (int i = 0; i < TURNS && r->n_later < 1; i++)
        turn(r);
    sn_http_server_stop(r->server);
    CHECK_STR(get(r, idle, NULL), "");
    CHECK(sn_http_server_is_busy(r->server));
    sn_http_answer(r->later[0], &reply);
    CHECK(strstr(get(r, busy, NULL), "Connection: close\r\n\r\nlate"));
    close(busy);
    for (int i = 0; i < TURNS && sn_http_server_is_busy(r->server); i++)
        turn(r);
    CHECK(!sn_http_server_is_busy(r->server));
    close(idle);
    close_rig(r);
}

TEST(http_server_says_what_is_wrong_with_an_address)
{
    static const struct {
        const char *where;
        seine_err err;
    } rows[] = {
        {"127.0.0.1", SEINE_E_CONFIG},   {"127.0.0.1:70000", SEINE_E_CONFIG},
        {"127.0.0.1:x", SEINE_E_CONFIG}, {"example.org:80", SEINE_E_CONFIG},
        {"::1:80", SEINE_E_CONFIG},      {"", SEINE_E_CONFIG},
        {"192.0.2.1:0", SEINE_E_IO},     {"[::1]:0", SEINE_OK},
        {"localhost:0", SEINE_OK},       {"0", SEINE_OK},
    };

    EACH_ROW(i, rows) {
        rig *r = open_rig(0);
        seine_diag diag = SEINE_DIAG;

        CHECK_EQ(sn_http_server_listen(r->server, rows[i].where, 8, &diag), rows[i].err);
        if (rows[i].err != SEINE_OK)
            CHECK(diag.text[0] && strcmp(diag.member, "listen") == 0);
        else
            CHECK(sn_http_server_where(r->server, 8) != NULL);
        close_rig(r);
    }
}
