/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/metrics_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <seine/clock.h>

#include "screen/say.h"
#include "screen/xalloc.h"

enum { CLIENTS = 32, REQUEST = 4096, PATIENCE_MS = 5000 };

static const char *const paths[] = {"/metrics", "/livez", "/readyz", "/healthz"};
enum { PATH_METRICS, PATH_LIVEZ, PATH_READYZ, PATH_HEALTHZ, PATHS };

typedef struct client {
    int fd;
    seine_time began, deadline;
    char in[REQUEST];
    size_t in_len;
    char *out;
    size_t out_len, sent;
    unsigned method, route;
    int status;
} client;

struct metrics_http {
    metrics_http_opts opts;
    seine_http_metrics *http;
    int listener, wake;
    pthread_t thread;
    client clients[CLIENTS];
    size_t count;
    char where[64];
};

static seine_time
now_is(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

const char *
metrics_http_where(const metrics_http *m)
{
    return m->where;
}

static void
drop_client(metrics_http *m, client *c)
{
    if (c->status)
        seine_http_record(m->http, c->method, c->route, c->status, now_is() - c->began);
    seine_http_closed(m->http, SEINE_HTTP_PLAIN);
    close(c->fd);
    free(c->out);
    *c = m->clients[--m->count];
}

static const char *
status_reason(int status)
{
    return status == 200   ? "OK"
           : status == 404 ? "Not Found"
           : status == 405 ? "Method Not Allowed"
           : status == 503 ? "Service Unavailable"
           : status == 431 ? "Request Header Fields Too Large"
                           : "Bad Request";
}

/* Makes the response; HEAD gets no body. */
static void
make_answer(client *c, int status, const char *type, const char *body, size_t len)
{
    char head[256];
    int n = snprintf(head, sizeof head,
                     "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\n"
                     "Cache-Control: no-store\r\n%sConnection: close\r\n\r\n",
                     status, status_reason(status), type, len,
                     status == 405 ? "Allow: GET, HEAD\r\n" : "");
    size_t body_len = c->method == SEINE_HTTP_HEAD ? 0 : len;

    c->status = status;
    c->out = xalloc_zeroed((size_t)n + body_len, 1);
    memcpy(c->out, head, (size_t)n);
    memcpy(c->out + n, body, body_len);
    c->out_len = (size_t)n + body_len;
}

static void
answer_text(client *c, int status, const char *text)
{
    make_answer(c, status, "text/plain; charset=utf-8", text, strlen(text));
}

static void
answer_metrics(metrics_http *m, client *c)
{
    bool open = strcasestr(c->in, "application/openmetrics-text") != NULL;
    seine_text text = {NULL, 0};

    if (m->opts.refresh)
        m->opts.refresh(m->opts.arg);
    if (seine_metrics_text(m->opts.metrics,
                           open ? SEINE_METRICS_OPENMETRICS : SEINE_METRICS_PROMETHEUS,
                           &text) != SEINE_OK) {
        answer_text(c, 503, "out of memory\n");
        return;
    }
    make_answer(c, 200,
                open ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                     : "text/plain; version=0.0.4; charset=utf-8",
                text.bytes, text.len);
    seine_text_free(&text);
}

/* Reads method and route of "GET /livez?verbose HTTP/1.1". False: it is no request. */
static bool
read_request(client *c)
{
    char *space = memchr(c->in, ' ', c->in_len);
    char *end = memchr(c->in, '\r', c->in_len);

    if (!space || !end || space > end || space[1] != '/')
        return false;
    size_t n = (size_t)(space - c->in);
    c->method = n == 3 && memcmp(c->in, "GET", 3) == 0    ? SEINE_HTTP_GET
                : n == 4 && memcmp(c->in, "HEAD", 4) == 0 ? SEINE_HTTP_HEAD
                                                          : SEINE_HTTP_OTHER;
    size_t path = strcspn(space + 1, " ?\r\n");
    c->route = PATHS;
    for (unsigned i = 0; i < PATHS; i++)
        if (strlen(paths[i]) == path && strncmp(paths[i], space + 1, path) == 0)
            c->route = i;
    char *version = memrchr(c->in, ' ', (size_t)(end - c->in));
    return version && version > space && strncmp(version, " HTTP/1.", 8) == 0;
}

static void
respond_to(metrics_http *m, client *c)
{
    bool fine = c->route == PATH_LIVEZ ? m->opts.is_alive(m->opts.arg)
                                       : m->opts.is_ready(m->opts.arg);

    if (c->method == SEINE_HTTP_OTHER)
        answer_text(c, 405, "GET or HEAD\n");
    else if (c->route == PATHS)
        answer_text(c, 404, "/metrics /livez /readyz /healthz\n");
    else if (c->route == PATH_METRICS)
        answer_metrics(m, c);
    else
        answer_text(c, fine ? 200 : 503, fine ? "ok\n" : "engine\n");
}

/* Reads from a client. False: the client has gone. */
static bool
receive_request(metrics_http *m, client *c)
{
    ssize_t n =
        recv(c->fd, c->in + c->in_len, sizeof c->in - 1 - c->in_len, MSG_DONTWAIT);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0)
        return false;
    c->in_len += (size_t)n;
    c->in[c->in_len] = '\0';
    if (strstr(c->in, "\r\n\r\n")) {
        c->method = SEINE_HTTP_OTHER;
        c->route = PATHS;
        if (read_request(c))
            respond_to(m, c);
        else
            answer_text(c, 400, "not a request\n");
    } else if (c->in_len == sizeof c->in - 1) {
        answer_text(c, 431, "too long\n");
    }
    return true;
}

static bool
send_answer(client *c)
{
    ssize_t n =
        send(c->fd, c->out + c->sent, c->out_len - c->sent, MSG_DONTWAIT | MSG_NOSIGNAL);

    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    c->sent += (size_t)n;
    if (c->sent == c->out_len)
        shutdown(c->fd, SHUT_WR);
    return c->sent < c->out_len;
}

static void
accept_client(metrics_http *m)
{
    int fd = accept4(m->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    seine_time now = now_is();

    if (fd < 0)
        return;
    if (m->count == CLIENTS) {
        close(fd);
        return;
    }
    m->clients[m->count++] =
        (client){.fd = fd, .began = now, .deadline = now + SEINE_MS(PATIENCE_MS)};
    seine_http_opened(m->http, SEINE_HTTP_PLAIN);
}

/* Serves the clients that are ready and drops the late ones. Runs from the last client to
 * the first, because a dropped client is replaced by the last. */
static void
serve_clients(metrics_http *m, const struct pollfd *polled, size_t n)
{
    seine_time now = now_is();

    for (size_t i = n; i-- > 0;) {
        client *c = &m->clients[i];
        bool stays = now < c->deadline;

        if (stays && polled[i].revents)
            stays = c->out ? send_answer(c) : receive_request(m, c);
        if (!stays)
            drop_client(m, c);
    }
}

static void *
serve_metrics(void *arg)
{
    metrics_http *m = arg;

    pthread_setname_np(pthread_self(), "sn-metrics");
    for (;;) {
        struct pollfd polled[CLIENTS + 2];
        size_t n = m->count;

        for (size_t i = 0; i < n; i++)
            polled[i] = (struct pollfd){.fd = m->clients[i].fd,
                                        .events = m->clients[i].out ? POLLOUT : POLLIN};
        polled[n] = (struct pollfd){.fd = m->listener, .events = POLLIN};
        polled[n + 1] = (struct pollfd){.fd = m->wake, .events = POLLIN};
        if (poll(polled, n + 2, n ? 250 : -1) < 0 && errno != EINTR)
            return NULL;
        if (polled[n + 1].revents)
            return NULL;
        serve_clients(m, polled, n);
        if (polled[n].revents)
            accept_client(m);
    }
}

/* Splits "[::1]:9464"; without a host it listens on the loopback address. */
static bool
split_address(const char *address, char host[64], char port[16])
{
    const char *colon = strrchr(address, ':');
    size_t n = colon ? (size_t)(colon - address) : 0;
    const char *digits = colon ? colon + 1 : address;

    if (address[0] == '[' && n >= 2 && address[n - 1] == ']') {
        address++;
        n -= 2;
    } else if (memchr(address, ':', n)) {
        return false;
    }
    if (n >= 64 || !digits[0] || strlen(digits) > 5 ||
        strspn(digits, "0123456789") != strlen(digits))
        return false;
    if (strtoul(digits, NULL, 10) > 65535)
        return false;
    snprintf(host, 64, "%.*s", (int)n, address);
    if (n == 0)
        snprintf(host, 64, "127.0.0.1");
    snprintf(port, 16, "%s", digits);
    return true;
}

static void
note_where(metrics_http *m)
{
    struct sockaddr_storage own;
    socklen_t len = sizeof own;
    char host[48] = "", port[8] = "";

    if (getsockname(m->listener, (struct sockaddr *)&own, &len) == 0)
        getnameinfo((struct sockaddr *)&own, len, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV);
    snprintf(m->where, sizeof m->where, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host,
             port);
}

static int
listen_on(metrics_http *m, const char *address)
{
    static const char hint[] = "--metrics 127.0.0.1:9464";
    struct addrinfo wish = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST},
                    *found = NULL;
    char host[64], port[16];
    int yes = 1;

    if (!split_address(address, host, port))
        return say_fail(SAY_USAGE, hint, "--metrics '%s': not an address and a port",
                        show(address).text);
    if (strcmp(host, "localhost") == 0)
        snprintf(host, sizeof host, "127.0.0.1");
    if (getaddrinfo(host, port, &wish, &found) != 0)
        return say_fail(SAY_USAGE, hint, "--metrics '%s': not an address and a port",
                        show(address).text);
    m->listener = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool fine =
        m->listener >= 0 &&
        setsockopt(m->listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        bind(m->listener, found->ai_addr, found->ai_addrlen) == 0 &&
        listen(m->listener, CLIENTS) == 0;
    int why = errno;
    freeaddrinfo(found);
    if (!fine)
        return say_fail(SAY_USAGE, "another port; 0 lets the kernel choose",
                        "--metrics '%s': cannot listen: %s", show(address).text,
                        show_errno(why).text);
    note_where(m);
    return SAY_DONE;
}

static void
close_all(metrics_http *m)
{
    while (m->count > 0)
        drop_client(m, &m->clients[m->count - 1]);
    if (m->listener >= 0)
        close(m->listener);
    if (m->wake >= 0)
        close(m->wake);
    free(m);
}

int
metrics_http_new(const char *address, const metrics_http_opts *opts, metrics_http **out)
{
    enum { BOTH = 1 << SEINE_HTTP_GET | 1 << SEINE_HTTP_HEAD };
    metrics_http *m = xalloc_zeroed(1, sizeof *m);
    seine_http_route routes[PATHS];

    m->opts = *opts;
    m->listener = m->wake = -1;
    for (size_t i = 0; i < PATHS; i++)
        routes[i] = (seine_http_route){paths[i], BOTH};
    int code = listen_on(m, address);
    if (code == SAY_DONE && seine_http_metrics_new(opts->metrics, "metrics", routes,
                                                   PATHS, &m->http) != SEINE_OK)
        code = say_fail(SAY_MACHINE, NULL, "out of memory");
    if (code == SAY_DONE) {
        m->wake = eventfd(0, EFD_CLOEXEC);
        if (m->wake < 0 || pthread_create(&m->thread, NULL, serve_metrics, m) != 0)
            code = say_fail(SAY_MACHINE, NULL, "--metrics: no thread to serve them");
    }
    if (code == SAY_DONE)
        *out = m;
    else
        close_all(m);
    return code;
}

void
metrics_http_free(metrics_http *m)
{
    uint64_t one = 1;

    if (!m)
        return;
    if (write(m->wake, &one, sizeof one) == (ssize_t)sizeof one)
        pthread_join(m->thread, NULL);
    close_all(m);
}
