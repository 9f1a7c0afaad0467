/* SPDX-License-Identifier: Apache-2.0 */
/* What the options say of nets reaches the sockets. */
#include "engine/fetch.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"

/* A port of this machine that is taken, and at which nobody listens. */
static int
take_port(unsigned *out_port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t len = sizeof a;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    CHECK_EQ(bind(fd, (struct sockaddr *)&a, len), 0);
    CHECK_EQ(getsockname(fd, (struct sockaddr *)&a, &len), 0);
    *out_port = ntohs(a.sin_port);
    return fd;
}

typedef struct row {
    const char *host, *allow, *deny, *zone;
    bool is_name, is_untrusted;
    seine_err want;
} row;

static seine_err
fetch_one(const row *r, unsigned port)
{
    char url[64], place[64];
    const char *allow[] = {r->allow, NULL}, *deny[] = {r->deny, NULL};
    const char *zones[] = {r->zone, NULL}, *resolve[] = {place, NULL};
    seine_fetch_opts o = SEINE_FETCH_OPTS;
    seine_fetched got;
    const char *at = url;

    snprintf(url, sizeof url, "http://%s:%u/", r->host, port);
    snprintf(place, sizeof place, "%s:%u:127.0.0.1", r->host, port);
    o.retry.max_attempts = 1;
    o.proxy = "off";
    o.allow_net = r->allow ? allow : NULL;
    o.deny_net = r->deny ? deny : NULL;
    o.zones = r->zone ? zones : NULL;
    o.resolve = r->is_name ? resolve : NULL;
    o.untrusted = r->is_untrusted;
    CHECK_EQ(seine_fetch_all(&o, NULL, &at, 1, &got, NULL), SEINE_OK);
    seine_err e = got.fault.code;
    seine_fetched_free(&got, 1);
    return e;
}

#define LOCAL   "127.0.0.1"
#define REFUSED SEINE_E_CONNECT_REFUSED
#define BLOCKED SEINE_E_BLOCKED_ADDRESS

TEST(fetch_sockets_obey_what_is_allowed_and_denied)
{
    static const row rows[] = {
        {LOCAL, NULL, NULL, NULL, false, false, REFUSED},
        {LOCAL, NULL, "127.0.0.0/8", NULL, false, false, BLOCKED},
        {LOCAL, NULL, "127.0.0.2/32", NULL, false, false, REFUSED},
        {LOCAL, NULL, NULL, NULL, false, true, BLOCKED},
        {LOCAL, "127.0.0.0/8", NULL, NULL, false, true, REFUSED},
        {LOCAL, "127.0.0.0/8", "127.0.0.1/32", NULL, false, true, BLOCKED},
        {LOCAL, NULL, NULL, "127.0.0.0/8=public", false, true, REFUSED},
        {"e.test", NULL, NULL, NULL, true, false, REFUSED},
        {"e.test", NULL, NULL, NULL, true, true, BLOCKED},
    };

    unsigned port;
    int fd = take_port(&port);

    EACH_ROW(i, rows)
        CHECK_EQ(fetch_one(&rows[i], port), rows[i].want);
    close(fd);
}

TEST(fetch_sockets_name_an_option_that_is_not_understood)
{
    static const char *const bad[] = {"300.0.0.0/8", NULL};
    static const size_t places[] = {offsetof(seine_fetch_opts, allow_net),
                                    offsetof(seine_fetch_opts, deny_net),
                                    offsetof(seine_fetch_opts, zones)};
    static const char *const names[] = {"allow_net", "deny_net", "zones"};

    EACH_ROW(i, places) {
        seine_fetch_opts o = SEINE_FETCH_OPTS;
        seine_diag diag = SEINE_DIAG;
        seine_fetch *f;

        *(const char *const **)(void *)((char *)&o + places[i]) = bad;
        CHECK_EQ(seine_fetch_new(&o, &f, &diag), SEINE_E_CONFIG);
        CHECK_STR(diag.member, names[i]);
        CHECK(strstr(diag.text, bad[0]));
    }
}
