/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_transport - what a request costs the transport alone: no scheduler, no records.
 *
 *     bench-socket_transport [-j] [-n REQUESTS] [-c CONNECTIONS] [-a AUTHORITIES] [-f]
 * [URL]
 *
 * GET after GET of one URL, 64 in flight on kept connections, by one thread; the URL is
 * 2 KB of a server in a child process unless one is given; with https its authority is
 * trusted by -a, and -f makes a new connection for each request. CPU is that of the
 * thread alone, user and system apart, per request; five runs, median and best. Prints a
 * table for people, and one JSON object per line with -j.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "bench.h"
#include "net/socket_transport.h"

enum { RUNS = BENCH_RUNS(5) };

static bool as_json;
static int missed;
static char mem[SEINE_URL_ROOM];
static seine_url url;
static sn_transport *t;
static uint64_t wanted = 10000, started, ended, failed;
static uint32_t width = 64;
static bool fresh;
static sn_limits limits = {.max_wire = 16 << 20, .max_body = 16 << 20};
static const sn_field fields[] = {{{"User-Agent", 10}, {"seine-bench", 11}},
                                  {{"Accept", 6}, {"*/*", 3}}};

typedef struct client {
    sn_request q;
    sn_exchange *x;
    uint64_t bytes;
} client;

/* `more` is better, or less is; 0: no bar. */
static void
report(const char *name, const char *unit, double runs[RUNS], bool more, double bar)
{
    qsort(runs, RUNS, sizeof *runs, bench_by_value);
    double value = runs[RUNS / 2], best = runs[more ? RUNS - 1 : 0];
    bool ok = bar == 0 || value <= bar;

    missed += !ok;
    if (!as_json) {
        printf("%-34s %11.2f %11.2f  %-5s ", name, value, best, unit);
        if (bar > 0)
            printf("<= %g %s", bar, ok ? "met" : "MISSED");
        printf("\n");
    } else {
        printf("{\"name\":\"%s\",\"value\":%.3f,\"best\":%.3f,\"unit\":\"%s\"", name,
               value, best, unit);
        if (bar > 0)
            printf(",\"bar\":%g,\"ratio\":%.3f,\"ok\":%s", bar, value / bar,
                   ok ? "true" : "false");
        printf("}\n");
    }
    if (fflush(stdout) != 0) /* the reader has left */
        exit(1);
}

static seine_time
now(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

static double
us_of(struct timeval v)
{
    return (double)v.tv_sec * 1e6 + (double)v.tv_usec;
}

static void start(client *g);

static void
head(const sn_head *h, void *arg)
{
    (void)arg;
    failed += h->status != 200;
}

static bool
body(sn_str piece, void *arg)
{
    client *g = arg;

    g->bytes += piece.len;
    return true;
}

static void
end(const sn_end *e, void *arg)
{
    failed += e->fault.code != SEINE_OK;
    ended++;
    if (started < wanted)
        start(arg);
}

static void
start(client *g)
{
    g->q = (sn_request){.method = SN_STR("GET"),
                        .url = &url,
                        .fields = fields,
                        .n_fields = sizeof fields / sizeof *fields,
                        .deadline = now() + SEINE_SECS(30),
                        .limits = &limits,
                        .fresh = fresh,
                        .ceiling = SN_ADDRESS_LOCAL,
                        .pin = SN_ADDRESS_NO_PIN};
    static const sn_handler_ops ops = {.head = head, .body = body, .end = end};

    started++;
    bench_ok(t->ops->start(t, &g->q, &(sn_handler){&ops, g}, &g->x));
}

static void
run(client *clients)
{
    started = ended = 0;
    for (uint32_t i = 0; i < width && started < wanted; i++)
        start(&clients[i]);
    while (ended < wanted)
        t->ops->turn(t, SEINE_NEVER);
}

static void
measure(void)
{
    double rate[RUNS], user[RUNS], system_[RUNS], all[RUNS];
    client *clients = calloc(width, sizeof *clients);
    struct rusage from, to;

    if (!clients)
        bench_ok(SEINE_E_NOMEM);
    run(clients);
    for (int i = 0; i < RUNS; i++) {
        seine_time begun = now();

        getrusage(RUSAGE_THREAD, &from);
        run(clients);
        getrusage(RUSAGE_THREAD, &to);
        double n = (double)wanted;
        rate[i] = n / ((double)(now() - begun) / 1e9);
        user[i] = (us_of(to.ru_utime) - us_of(from.ru_utime)) / n;
        system_[i] = (us_of(to.ru_stime) - us_of(from.ru_stime)) / n;
        all[i] = user[i] + system_[i];
    }
    free(clients);
    report("requests a second", "1/s", rate, true, 0);
    report("user CPU a request", "us", user, false, 1.5);
    report("system CPU a request", "us", system_, false, 0);
    report("CPU a request", "us", all, false, 0);
}

/* Whatever is asked, the same 2 KB; a request is taken to arrive in one piece. */
static void
answer(int fd)
{
    static char response[4096], request[65536];
    static int len;

    if (len == 0) {
        len = snprintf(response, sizeof response,
                       "HTTP/1.1 200 OK\r\nServer: bench\r\nContent-Type: text/html\r\n"
                       "Content-Length: 2048\r\nConnection: keep-alive\r\n\r\n");
        memset(response + len, 'x', 2048);
        len += 2048;
    }
    if (recv(fd, request, sizeof request, 0) <= 0 ||
        send(fd, response, (size_t)len, MSG_NOSIGNAL) != len)
        close(fd);
}

static void
serve(int listener)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = listener}, events[64];
    int poll = epoll_create1(0);

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    epoll_ctl(poll, EPOLL_CTL_ADD, listener, &e);
    for (;;) {
        int n = epoll_wait(poll, events, 64, -1);

        for (int i = 0; i < n; i++) {
            if (events[i].data.fd != listener) {
                answer(events[i].data.fd);
                continue;
            }
            e.data.fd = accept(listener, NULL, NULL);
            epoll_ctl(poll, EPOLL_CTL_ADD, e.data.fd, &e);
        }
    }
}

/* A server in a child process; its URL. */
static pid_t
start_server(char *out_url, size_t cap)
{
    struct sockaddr_in at = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof at;
    int fd = socket(AF_INET, SOCK_STREAM, 0);

    if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof at) != 0 ||
        listen(fd, 4096) != 0 || getsockname(fd, (struct sockaddr *)&at, &n) != 0)
        bench_ok(SEINE_E_IO);
    snprintf(out_url, cap, "http://127.0.0.1:%d/", ntohs(at.sin_port));
    pid_t child = fork();
    if (child == 0)
        serve(fd);
    close(fd);
    return child;
}

int
main(int argc, char **argv)
{
    char text[64];
    seine_diag diag = SEINE_DIAG;
    pid_t server = 0;
    sn_tls_opts trust = {.min = 12};
    sn_tls_ctx *ctx = NULL;

    for (int o; (o = getopt(argc, argv, "jfn:c:a:")) != -1;)
        if (o == 'j')
            as_json = true;
        else if (o == 'f')
            fresh = true;
        else if (o == 'a')
            trust.cacert = optarg;
        else if (o == 'n')
            wanted = strtoull(optarg, NULL, 10);
        else if (o == 'c')
            width = (uint32_t)strtoul(optarg, NULL, 10);
        else
            return 2;
    limits.time = SN_TIMEOUTS;
    if (optind == argc)
        server = start_server(text, sizeof text);
    const char *what = server ? text : argv[optind];
    seine_url_init(&url, mem, sizeof mem);
    bench_ok(seine_url_parse(&url, what, strlen(what), NULL));
    bench_ok(sn_tls_ctx_new(&trust, &ctx, &diag));
    sn_socket_transport_opts opts = {.clock = seine_clock_system(),
                                     .tls = ctx,
                                     .dns = {.timeout = SEINE_SECS(5), .max_names = 1000},
                                     .max_connections = fresh ? 2 * width : width,
                                     .max_idle = width,
                                     .max_idle_origin = width,
                                     .idle_time = SEINE_SECS(15),
                                     .max_age = SEINE_SECS(600),
                                     .max_requests = UINT32_MAX};
    bench_ok(sn_socket_transport_new(&opts, &t, &diag));
    measure();
    sn_socket_transport_stats stats;
    sn_socket_transport_stats_get(t, &stats);
    if (!as_json)
        printf("%llu connections opened, %llu handshakes resumed, %llu requests failed\n",
               (unsigned long long)stats.opened, (unsigned long long)stats.resumed,
               (unsigned long long)failed);
    sn_socket_transport_free(t);
    sn_tls_ctx_free(ctx);
    if (server) {
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
    }
    return failed > 0;
}
