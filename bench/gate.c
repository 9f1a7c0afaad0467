/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gate: what a decision costs, and what a client takes of memory.
 *
 *     bench-gate                            both, as JSON lines
 *     bench-gate load PORT RATE SECONDS     asks the gate at 127.0.0.1:PORT
 *
 * load is an open loop: requests are due at fixed moments, whatever became of those
 * before, and a latency counts from the moment at which its request was due. So a server
 * that stops for a while is seen in all requests that were due meanwhile.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <seine/clock.h>
#include <seine/gate.h>

#include "bench.h"

enum { CLIENTS = 1000000, CONNECTIONS = 64, DECISIONS = 2000000 };

static void
ask(seine_gate *g, uint32_t client, seine_time now, seine_gate_answer *out)
{
    struct sockaddr_in in = {.sin_family = AF_INET};
    seine_gate_request req = SEINE_GATE_REQUEST;

    in.sin_addr.s_addr = htonl(0x0a000000 + client);
    req.peer = (struct sockaddr *)&in;
    req.method = (seine_view){"GET", 3};
    req.target = (seine_view){"/", 1};
    seine_gate_check(g, &req, now, out);
}

static void
show(const char *name, double value, const char *unit)
{
    printf("{\"name\":\"%s\",\"value\":%.1f,\"unit\":\"%s\"}\n", name, value, unit);
}

static int
measure(void)
{
    seine_gate_policy p = SEINE_GATE_POLICY;
    seine_gate_opts o = SEINE_GATE_OPTS;
    seine_gate_answer a = {0};
    seine_gate_fields f;
    seine_gate *g;
    uint64_t sum = 0;
    const uint32_t clients = BENCH_ROUNDS(CLIENTS), decisions = BENCH_ROUNDS(DECISIONS);

    p.rate = (seine_rate){1, SEINE_SECS(3600), 100};
    o.policies = &p;
    o.n_policies = 1;
    o.max_keys = clients;
    bench_ok(seine_gate_new(&o, &g, NULL));
    double before = bench_resident();
    seine_time start = seine_now();
    for (uint32_t i = 0; i < clients; i++)
        ask(g, i, SEINE_SECS(1), &a);
    double new_ns = (double)(seine_now() - start) / clients;
    double bytes = (bench_resident() - before) / clients;

    start = seine_now();
    for (uint32_t i = 0; i < decisions; i++) {
        ask(g, i % 1000, SEINE_SECS(1), &a);
        seine_gate_write(&a, &f);
        sum += a.left + (unsigned char)f.limit[1];
    }
    double hot_ns = (double)(seine_now() - start) / decisions;
    show("gate bytes per client", bytes, "B");
    show("gate decision on a new client", new_ns, "ns");
    show("gate decision and its fields", hot_ns, sum > 0 ? "ns" : "");
    seine_gate_free(g);
    return clients == CLIENTS && bytes > 96;
}

typedef struct connection {
    int fd;
    seine_time due; /* of the request in flight */
} connection;

typedef struct loader {
    connection all[CONNECTIONS];
    int idle[CONNECTIONS], n_idle, epoll;
    int64_t *latency;
    size_t sent, done, count, refused;
    seine_time start;
    double step; /* ns between two requests */
} loader;

static int
open_all(loader *l, uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    int yes = 1;

    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    l->epoll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 0; i < CONNECTIONS; i++) {
        struct epoll_event e = {.events = EPOLLIN, .data.u32 = (uint32_t)i};
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

        if (connect(fd, (struct sockaddr *)&at, sizeof at) != 0)
            return -1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        epoll_ctl(l->epoll, EPOLL_CTL_ADD, fd, &e);
        l->all[i].fd = fd;
        l->idle[l->n_idle++] = i;
    }
    return 0;
}

static int
send_due(loader *l, seine_time now)
{
    static const char text[] = "GET /check HTTP/1.1\r\nHost: a\r\n\r\n";

    while (l->sent < l->count && l->n_idle > 0) {
        seine_time due = l->start + (seine_time)(l->step * (double)l->sent);

        if (due > now)
            break;
        connection *c = &l->all[l->idle[--l->n_idle]];
        c->due = due;
        if (send(c->fd, text, sizeof text - 1, MSG_NOSIGNAL) != sizeof text - 1)
            return -1;
        l->sent++;
    }
    return 0;
}

/* Until the next request is due. Waiting leaves the core to others: a process of real
 * time that never rests is stopped by the kernel for a twentieth of the time. */
static struct timespec
rest(const loader *l)
{
    seine_time due = l->start + (seine_time)(l->step * (double)l->sent);
    seine_span left = l->sent < l->count ? due - seine_now() : SEINE_MS(1);

    return (struct timespec){0, left > 0 ? (long)left : 0};
}

static int
receive(loader *l)
{
    struct epoll_event events[CONNECTIONS];
    struct timespec until = rest(l);
    int n = epoll_pwait2(l->epoll, events, CONNECTIONS, &until, NULL);

    for (int i = 0; i < n; i++) {
        int at = (int)events[i].data.u32;
        char text[2048];
        ssize_t got = recv(l->all[at].fd, text, sizeof text, 0);

        if (got <= 12 || memcmp(text, "HTTP/1.1 ", 9) != 0)
            return -1;
        l->refused += text[9] != '2';
        l->latency[l->done++] = seine_now() - l->all[at].due;
        l->idle[l->n_idle++] = at;
    }
    return 0;
}

static int
order(const void *a, const void *b)
{
    int64_t x, y;

    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return x < y ? -1 : x > y;
}

static double
percentile(const loader *l, double p)
{
    return (double)l->latency[(size_t)(p * (double)(l->done - 1))] / 1e3;
}

static int
load(uint16_t port, double rate, double seconds)
{
    static loader l;

    l.count = (size_t)(rate * seconds);
    l.step = 1e9 / rate;
    l.latency = calloc(l.count + CONNECTIONS, sizeof *l.latency);
    if (!l.latency || l.count == 0 || open_all(&l, port) != 0) {
        perror("bench-gate");
        return 1;
    }
    l.start = seine_now() + SEINE_MS(10);
    while (l.done < l.count)
        if (send_due(&l, seine_now()) != 0 || receive(&l) != 0) {
            fprintf(stderr, "bench-gate: a connection ended\n");
            return 1;
        }
    double took = (double)(seine_now() - l.start) / 1e9;
    qsort(l.latency, l.done, sizeof *l.latency, order);
    printf("{\"name\":\"gate at %.0f/s\",\"requests\":%zu,\"per_second\":%.0f,"
           "\"refused\":%zu,\"p50_us\":%.0f,\"p99_us\":%.0f,\"p999_us\":%.0f,"
           "\"worst_us\":%.0f}\n",
           rate, l.done, (double)l.done / took, l.refused, percentile(&l, 0.5),
           percentile(&l, 0.99), percentile(&l, 0.999), percentile(&l, 1));
    free(l.latency);
    return 0;
}

int
main(int argc, char **argv)
{
    if (argc == 5 && strcmp(argv[1], "load") == 0)
        return load((uint16_t)strtoul(argv[2], NULL, 10), strtod(argv[3], NULL),
                    strtod(argv[4], NULL));
    return measure();
}
