/* SPDX-License-Identifier: Apache-2.0 */
#include "console/http_daemon.h"

#include <errno.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/time.h"
#include "console/http_daemon_parts.h"

enum { POOL = 32768, LEAST = 16384 };
#define SWEEP SEINE_SECS(1)

static sn_http_daemon *
of_console(const seine_console *c)
{
    return c->http;
}

/* The library in the loop. */

static void
set_timer(sn_http_daemon *d)
{
    MHD_UNSIGNED_LONG_LONG ms;

    sn_timer_set(&d->console->loop, &d->timer,
                 MHD_get_timeout(d->mhd, &ms) == MHD_YES
                     ? sn_time_add(d->console->loop.now, SEINE_MS((int64_t)ms))
                     : SEINE_NEVER);
}

static void
run(sn_http_daemon *d)
{
    MHD_run(d->mhd);
    set_timer(d);
}

/* Whoever resumes may be inside the library: it runs in the next turn. */
void
sn_mhd_run_soon(sn_http_daemon *d)
{
    sn_timer_set(&d->console->loop, &d->timer, d->console->loop.now);
}

void
sn_http_daemon_poke(seine_console *c)
{
    if (c->http)
        sn_mhd_run_soon(c->http);
}

static void
on_ready(sn_watch *w, uint32_t events)
{
    (void)events;
    run((sn_http_daemon *)(void *)((char *)w - offsetof(sn_http_daemon, watch)));
}

static void
on_timer(sn_timer *t, seine_time now)
{
    (void)now;
    run((sn_http_daemon *)(void *)((char *)t - offsetof(sn_http_daemon, timer)));
}

/* Deadlines. The library's own starts again at every byte. */

static struct tcp_info
tcp_of(const sn_mhd_connection *n)
{
    struct tcp_info info = {.tcpi_state = 0};
    socklen_t len = sizeof info;

    if (n->daemon->is_unix ||
        getsockopt(n->fd, IPPROTO_TCP, TCP_INFO, &info, &len) != 0 ||
        len < offsetof(struct tcp_info, tcpi_bytes_received) + 8)
        memset(&info, 0, sizeof info);
    return info;
}

static uint64_t
bytes_read(const sn_mhd_connection *n)
{
    return tcp_of(n).tcpi_bytes_received;
}

void
sn_mhd_idle(sn_mhd_connection *n)
{
    n->idle = n->daemon->console->loop.now;
    n->began = SEINE_NEVER;
    n->read = bytes_read(n);
    n->is_whole = false;
}

void
sn_mhd_whole(sn_mhd_connection *n)
{
    n->began = n->daemon->console->loop.now;
    n->taken = tcp_of(n).tcpi_bytes_acked;
    n->is_whole = true;
}

/* A response may take as long as its client goes on reading it. A socket of this machine
 * does not tell; the library's own deadline is for those who stop. */
static bool
goes_on(sn_mhd_connection *n)
{
    uint64_t taken = tcp_of(n).tcpi_bytes_acked;

    if (!n->is_whole || (!n->daemon->is_unix && taken - n->taken < LEAST))
        return false;
    sn_mhd_whole(n);
    return true;
}

static void
look_at(sn_mhd_connection *n, seine_time now)
{
    const seine_console_opts *o = &n->daemon->console->opts;
    bool is_answering = false;

    if (n->is_upgraded)
        return;
    if (n->began == SEINE_NEVER && bytes_read(n) > n->read)
        n->began = now;
    for (sn_mhd_request *r = n->daemon->waiting; r; r = r->next)
        is_answering |= r->on == n;
    seine_time end = n->began == SEINE_NEVER ? sn_time_add(n->idle, o->idle_time)
                                             : sn_time_add(n->began, o->request_time);
    if (!is_answering && end <= now && !goes_on(n))
        shutdown(n->fd, SHUT_RDWR); /* the library sees it and lets go of it */
}

static void
on_sweep(sn_timer *t, seine_time now)
{
    sn_http_daemon *d =
        (sn_http_daemon *)(void *)((char *)t - offsetof(sn_http_daemon, sweep));

    for (sn_mhd_connection *n = d->connections, *next; n; n = next) {
        next = n->next;
        look_at(n, now);
    }
    sn_timer_set(&d->console->loop, &d->sweep,
                 d->connections ? sn_time_add(now, SWEEP) : SEINE_NEVER);
}

static void
link_connection(sn_http_daemon *d, sn_mhd_connection *n)
{
    n->next = d->connections;
    if (n->next)
        n->next->prev = n;
    else
        sn_timer_set(&d->console->loop, &d->sweep,
                     sn_time_add(d->console->loop.now, SWEEP));
    d->connections = n;
}

static void
unlink_connection(sn_http_daemon *d, sn_mhd_connection *n)
{
    if (n->prev)
        n->prev->next = n->next;
    else
        d->connections = n->next;
    if (n->next)
        n->next->prev = n->prev;
}

static int
descriptor_of(struct MHD_Connection *of)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(of, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info ? info->connect_fd : -1;
}

static void
on_connection(void *cls, struct MHD_Connection *of, void **context,
              enum MHD_ConnectionNotificationCode what)
{
    sn_http_daemon *d = cls;
    sn_mhd_connection *n = *context;

    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        n = sn_zalloc(sizeof *n);
        *context = n;
        if (!n) {
            shutdown(descriptor_of(of), SHUT_RDWR);
            return;
        }
        n->daemon = d;
        n->of = of;
        n->fd = descriptor_of(of);
        sn_mhd_idle(n);
        n->read = 0;
        link_connection(d, n);
        seine_http_opened(d->console->http_metrics, SEINE_HTTP_PLAIN);
    } else if (n) {
        unlink_connection(d, n);
        seine_http_closed(d->console->http_metrics, SEINE_HTTP_PLAIN);
        sn_free(n);
        *context = NULL;
    }
}

sn_mhd_connection *
sn_mhd_connection_of(struct MHD_Connection *of)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(of, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    return info ? info->socket_context : NULL;
}

/* Life. */

static size_t
keep_escapes(void *cls, struct MHD_Connection *of, char *text)
{
    (void)cls, (void)of;
    return strlen(text); /* route.c decodes */
}

static void on_log(void *cls, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void
on_log(void *cls, const char *format, va_list args)
{
    sn_http_daemon *d = cls;
    char text[256];

    vsnprintf(text, sizeof text, format, args);
    text[strcspn(text, "\n")] = '\0';
    SN_SAY(d->console->log, DEBUG, "http.library", text);
}

static struct MHD_Daemon *
start_library(sn_http_daemon *d)
{
    const seine_console_opts *o = &d->console->opts;
    unsigned flags =
        MHD_USE_EPOLL | MHD_ALLOW_UPGRADE | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
    unsigned per_ip = d->is_unix || o->behind_proxy ? 0 : o->max_per_ip;
    /* The library's own counts silence of any kind; on_sweep has the real ones. */
    seine_span most = o->idle_time > o->request_time ? o->idle_time : o->request_time;
    unsigned longest =
        most < SEINE_SECS(3600) ? (unsigned)(most / SEINE_SECS(1)) + 1 : 3600;

    return MHD_start_daemon(
        flags, 0, NULL, NULL, sn_mhd_on_request, d, MHD_OPTION_EXTERNAL_LOGGER, on_log, d,
        MHD_OPTION_LISTEN_SOCKET, d->listener, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)o->max_connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT, per_ip,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)POOL, MHD_OPTION_CONNECTION_TIMEOUT,
        longest, MHD_OPTION_UNESCAPE_CALLBACK, keep_escapes, NULL,
        MHD_OPTION_URI_LOG_CALLBACK, sn_mhd_on_target, d, MHD_OPTION_NOTIFY_COMPLETED,
        sn_mhd_on_completed, d, MHD_OPTION_NOTIFY_CONNECTION, on_connection, d,
        MHD_OPTION_END);
}

static seine_err
watch_library(sn_http_daemon *d)
{
    const union MHD_DaemonInfo *info =
        MHD_get_daemon_info(d->mhd, MHD_DAEMON_INFO_EPOLL_FD);

    if (!info || info->epoll_fd < 0)
        return SEINE_E_IO;
    seine_err e = sn_timer_reserve(&d->console->loop);
    if (e == SEINE_OK)
        e = sn_timer_reserve(&d->console->loop);
    if (e == SEINE_OK)
        e = sn_loop_add_level(&d->console->loop, info->epoll_fd, &d->watch, EPOLLIN);
    if (e == SEINE_OK)
        d->epoll = info->epoll_fd;
    return e;
}

seine_err
sn_http_daemon_new(seine_console *c, int listener, const sn_request_rules *rules,
                   seine_diag *diag)
{
    sn_http_daemon *d = sn_zalloc(sizeof *d);
    static const char *const loopback[] = {"127.0.0.1/32", "::1/128", NULL};
    struct sockaddr_storage at = {.ss_family = AF_UNSPEC};
    socklen_t len = sizeof at;

    if (!d) {
        close(listener);
        return SEINE_E_NOMEM;
    }
    *d = (sn_http_daemon){.console = c, .watch = {on_ready}, .rules = *rules};
    d->timer.fire = on_timer;
    d->sweep.fire = on_sweep;
    d->epoll = -1;
    d->listener = listener;
    getsockname(listener, (struct sockaddr *)&at, &len);
    d->is_unix = at.ss_family == AF_UNIX;
    seine_err e = sn_net_set_read(
        &d->trusted, "trusted_proxies",
        c->opts.trusted_proxies ? c->opts.trusted_proxies : loopback, diag);
    if (e == SEINE_OK && !(d->mhd = start_library(d)))
        e = SEINE_E_IO;
    if (e != SEINE_OK) {
        close(listener);
        sn_net_set_fini(&d->trusted);
        sn_free(d);
        return e;
    }
    c->http = d;
    return watch_library(d);
}

void
sn_http_daemon_stop(seine_console *c)
{
    sn_http_daemon *d = of_console(c);

    if (!d || d->is_stopped)
        return;
    d->is_stopped = true;
    MHD_socket fd = MHD_quiesce_daemon(d->mhd);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
    d->listener = -1;
}

bool
sn_http_daemon_is_busy(const seine_console *c)
{
    const sn_http_daemon *d = of_console(c);

    return d && d->waiting;
}

void
sn_http_daemon_free(seine_console *c)
{
    sn_http_daemon *d = of_console(c);

    if (!d)
        return;
    while (d->waiting) { /* nobody is left who would answer */
        sn_mhd_request *r = d->waiting;

        if (r->stream) {
            shutdown(r->on->fd, SHUT_RDWR);
            sn_mhd_resume(&r->call);
        } else
            sn_call_fail(&r->call, SN_API_UNAVAILABLE, "the server is stopping", NULL);
    }
    MHD_run(d->mhd);
    if (d->epoll >= 0)
        sn_loop_del(&c->loop, d->epoll, &d->watch);
    sn_timer_forget(&c->loop, &d->timer);
    sn_timer_forget(&c->loop, &d->sweep);
    MHD_stop_daemon(d->mhd); /* closes the listener, too */
    sn_net_set_fini(&d->trusted);
    sn_free(d);
    c->http = NULL;
}
