/* SPDX-License-Identifier: Apache-2.0 */
/* Two gates and one redis-server, seen from outside: what they let in together. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "redis.h"
#include "seine/clock.h"
#include "seine/gate_server.h"

enum { GATES = 2, RATE = 50, BURST = 10, MOST = 4000 };

typedef struct admitted {
    seine_time asked, done; /* the decision fell between the two */
} admitted;

typedef struct party {
    test_redis *redis;
    seine_gate *gates[GATES];
    seine_gate_server *servers[GATES];
    int fds[GATES];
    admitted all[MOST];
    int count, refused;
    int turn;
} party;

static int
connect_to(const char *where)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    struct timeval patience = {CHECK_PATIENCE / 1000000000, 0};
    char address[32];
    int yes = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    snprintf(address, sizeof address, "%s", where);
    char *colon = strchr(address, ':');
    *colon = '\0';
    to.sin_port = htons((uint16_t)strtoul(colon + 1, NULL, 10));
    inet_pton(AF_INET, address, &to.sin_addr);
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    CHECK(connect(fd, (struct sockaddr *)&to, sizeof to) == 0);
    return fd;
}

/* Sends a request and reads an answer, whose body has a length. */
static int
ask(int fd, const char *path, char *out, size_t cap)
{
    char text[128];
    size_t n = 0, whole = SIZE_MAX;
    int len = snprintf(text, sizeof text, "GET %s HTTP/1.1\r\nHost: g\r\n\r\n", path);

    CHECK(send(fd, text, (size_t)len, MSG_NOSIGNAL) == len);
    while (n < whole && n + 1 < cap) {
        ssize_t got = recv(fd, out + n, cap - 1 - n, 0);

        if (got <= 0)
            break;
        n += (size_t)got;
        out[n] = '\0';
        const char *end = strstr(out, "\r\n\r\n"),
                   *field = strstr(out, "Content-Length: ");
        if (end)
            whole = (size_t)(end + 4 - out) + (field ? strtoul(field + 16, NULL, 10) : 0);
    }
    return n > 12 ? (int)strtol(out + 9, NULL, 10) : 0;
}

static bool
start(party *p)
{
    seine_gate_policy policy = SEINE_GATE_POLICY;
    seine_gate_opts opts = SEINE_GATE_OPTS;

    *p = (party){.redis = test_redis_start(NULL)};
    if (!p->redis)
        return false;
    policy.rate = (seine_rate){RATE, SEINE_SECS(1), BURST};
    opts.policies = &policy;
    opts.n_policies = 1;
    for (int i = 0; i < GATES; i++) {
        seine_gate_server_opts server = SEINE_GATE_SERVER_OPTS;

        CHECK_EQ(seine_gate_new(&opts, &p->gates[i], NULL), SEINE_OK);
        server.gate = p->gates[i];
        server.listen = "127.0.0.1:0";
        server.redis = test_redis_url(p->redis);
        server.redis_timeout = CHECK_PATIENCE;
        CHECK_EQ(seine_gate_server_new(&server, &p->servers[i], NULL), SEINE_OK);
        p->fds[i] = connect_to(seine_gate_server_where(p->servers[i], "http"));
    }
    return true;
}

static void
end(party *p)
{
    for (int i = 0; i < GATES && p->servers[i]; i++) {
        close(p->fds[i]);
        seine_gate_server_free(p->servers[i]);
        seine_gate_free(p->gates[i]);
    }
    test_redis_free(p->redis);
}

/* Asks the gates in turn, until so many more were let in. */
static void
hammer(party *p, int more)
{
    char out[2048];
    seine_time last = seine_now() + CHECK_PATIENCE;
    int until = p->count + more;

    while (p->count < until && p->count < MOST && seine_now() < last) {
        seine_time asked = seine_now();
        int status = ask(p->fds[p->turn++ % GATES], "/check", out, sizeof out);

        CHECK(status == 200 || status == 429);
        if (status == 200)
            p->all[p->count++] = (admitted){asked, seine_now()};
        else
            p->refused++;
        if (status == 429)
            nanosleep(&(struct timespec){0, 1000000}, NULL);
        if (status == 0)
            return;
    }
    CHECK(p->count >= until);
}

/* In no window more than one budget: burst + rate · t. */
static void
judge(const party *p)
{
    for (int i = 0; i < p->count; i++)
        for (int j = i; j < p->count; j++) {
            seine_span window = p->all[j].done - p->all[i].asked + SEINE_MS(1);

            if (j - i + 1 > BURST + window * RATE / SEINE_SECS(1)) {
                check_fail(__FILE__, __LINE__, "%d let in within %lld ms", j - i + 1,
                           (long long)(window / SEINE_MS(1)));
                return;
            }
        }
}

static bool
is_together(const party *p)
{
    static char out[65536];

    for (int i = 0; i < GATES; i++) {
        CHECK_EQ(ask(p->fds[i], "/metrics", out, sizeof out), 200);
        if (!strstr(out, "\nseine_gate_redis_up 1\n") ||
            !strstr(out, "\nseine_gate_redis_gates 2\n"))
            return false;
    }
    return true;
}

static void
hammer_until_together(party *p)
{
    seine_time last = seine_now() + CHECK_PATIENCE;

    while (!is_together(p) && seine_now() < last)
        hammer(p, 1);
    CHECK(is_together(p));
}

TEST(gates_with_one_redis_let_in_one_budget_together)
{
    party p;

    if (!start(&p))
        return;
    hammer(&p, 40);
    judge(&p);
    CHECK(is_together(&p));
    CHECK(p.refused > 0);
    end(&p);
}

TEST(gates_let_in_one_budget_though_redis_is_killed_and_comes_back)
{
    static const struct {
        bool forgets; /* the server comes back without its keys */
    } rows[] = {{false}, {true}};

    EACH_ROW(i, rows) {
        party p;

        if (!start(&p))
            return;
        hammer(&p, 20);
        test_redis_kill9(p.redis);
        hammer(&p, 15); /* each from its own share */
        CHECK(!is_together(&p));
        if (rows[i].forgets)
            test_redis_forget(p.redis);
        if (test_redis_again(p.redis)) {
            hammer_until_together(&p);
            hammer(&p, 25);
        }
        judge(&p);
        end(&p);
    }
}

TEST(gate_that_never_finds_its_redis_is_still_limited)
{
    seine_gate_policy policy = SEINE_GATE_POLICY;
    seine_gate_opts opts = SEINE_GATE_OPTS;
    seine_gate_server_opts server = SEINE_GATE_SERVER_OPTS;
    char out[2048];
    int let_in = 0;

    opts.policies = &policy;
    opts.n_policies = 1;
    policy.rate = (seine_rate){1, SEINE_SECS(3600), 3};
    CHECK_EQ(seine_gate_new(&opts, &server.gate, NULL), SEINE_OK);
    server.listen = "127.0.0.1:0";
    server.redis = "unix:///nonexistent/redis";
    seine_gate_server *s;
    CHECK_EQ(seine_gate_server_new(&server, &s, NULL), SEINE_OK);
    int fd = connect_to(seine_gate_server_where(s, "http"));
    for (int i = 0; i < 20; i++)
        let_in += ask(fd, "/check", out, sizeof out) == 200;
    CHECK(let_in <= 3);
    close(fd);
    seine_gate_server_free(s);
    seine_gate_free(server.gate);
}

TEST(gate_with_a_wrong_url_of_redis_does_not_start)
{
    seine_gate_policy policy = SEINE_GATE_POLICY;
    seine_gate_opts opts = SEINE_GATE_OPTS;
    seine_gate_server_opts server = SEINE_GATE_SERVER_OPTS;
    seine_gate_server *s;
    seine_diag diag = SEINE_DIAG;

    opts.policies = &policy;
    opts.n_policies = 1;
    CHECK_EQ(seine_gate_new(&opts, &server.gate, NULL), SEINE_OK);
    server.listen = "127.0.0.1:0";
    server.redis = "rediss://:s3cret@h";
    CHECK_EQ(seine_gate_server_new(&server, &s, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.member, "redis");
    CHECK(strstr(diag.text, "TLS") && !strstr(diag.text, "s3cret"));
    seine_gate_free(server.gate);
}
