/* SPDX-License-Identifier: Apache-2.0 */
/* Clients that take their time, on real sockets: the deadlines are short ones. */
#include <arpa/inet.h>
#include <ftw.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "seine/clock.h"
#include "seine/console.h"

typedef struct rig {
    seine_console *console;
    char dir[64], host[64];
} rig;

static void
open_rig(rig *r)
{
    seine_console_opts o = SEINE_CONSOLE_OPTS;
    seine_diag d = SEINE_DIAG;

    *r = (rig){.dir = "/tmp/console-XXXXXX"};
    CHECK(mkdtemp(r->dir) != NULL);
    o.listen = "127.0.0.1:0";
    o.state_dir = r->dir;
    o.request_time = SEINE_SECS(1);
    CHECK_EQ(seine_console_new(&o, &r->console, &d), SEINE_OK);
    snprintf(r->host, sizeof r->host, "%s", seine_console_url(r->console) + 7);
    r->host[strcspn(r->host, "/")] = '\0';
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
    CHECK_EQ(nftw(r->dir, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

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

/* Sends the text a byte every 100 ms; true: the server closed without an answer. */
static bool
is_cut_off(int fd, const char *text)
{
    seine_time end = seine_now() + CHECK_PATIENCE;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char byte;

    for (size_t at = 0; seine_now() < end; at++) {
        if (text[at % strlen(text)] &&
            send(fd, text + at % strlen(text), 1, MSG_NOSIGNAL) < 0)
            return true;
        if (poll(&p, 1, 100) > 0)
            return recv(fd, &byte, 1, 0) <= 0;
    }
    return false;
}

TEST(console_cuts_off_a_head_that_trickles)
{
    rig r;
    char text[400];

    open_rig(&r);
    int fd = open_socket(&r);
    seine_time begun = seine_now();
    snprintf(text, sizeof text, "GET /livez HTTP/1.1\r\nHost: %s\r\nX: %0200d", r.host,
             1);
    CHECK(is_cut_off(fd, text));
    CHECK(seine_now() - begun >= SEINE_SECS(1));
    close(fd);
    close_rig(&r);
}

TEST(console_cuts_off_a_body_that_trickles)
{
    rig r;
    char text[400], token[64];

    open_rig(&r);
    CHECK_EQ(seine_console_token(r.dir, token, sizeof token), SEINE_OK);
    int fd = open_socket(&r);
    int n =
        snprintf(text, sizeof text,
                 "POST /api/tokens HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer "
                 "%s\r\nContent-Type: application/json\r\nContent-Length: 60000\r\n\r\n",
                 r.host, token);
    CHECK_EQ(send(fd, text, (size_t)n, MSG_NOSIGNAL), n);
    CHECK(is_cut_off(fd, "{"));
    close(fd);
    close_rig(&r);
}

TEST(console_closes_a_connection_on_which_nobody_asks)
{
    rig r;
    char byte;

    open_rig(&r);
    int fd = open_socket(&r);
    struct pollfd p = {.fd = fd, .events = POLLIN};
    CHECK(poll(&p, 1, (int)(CHECK_PATIENCE / 1000000)) == 1);
    CHECK(recv(fd, &byte, 1, 0) <= 0);
    close(fd);
    close_rig(&r);
}

/* The time counts from the first byte of a request, not from the connection. */
TEST(console_serves_a_connection_as_long_as_requests_come)
{
    rig r;
    char text[200], got[4096];

    open_rig(&r);
    int fd = open_socket(&r);
    int n =
        snprintf(text, sizeof text, "GET /livez HTTP/1.1\r\nHost: %s\r\n\r\n", r.host);
    seine_time begun = seine_now();
    while (seine_now() - begun < SEINE_SECS(3)) {
        struct pollfd p = {.fd = fd, .events = POLLIN};

        CHECK_EQ(send(fd, text, (size_t)n, MSG_NOSIGNAL), n);
        CHECK(recv(fd, got, sizeof got, 0) > 0);
        poll(&p, 0, 300);
    }
    close(fd);
    close_rig(&r);
}

TESTS_AT_ONCE(4)
