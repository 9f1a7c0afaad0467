/* SPDX-License-Identifier: Apache-2.0 */
#include "console/console.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/log.h"
#include "base/opts.h"
#include "base/time.h"
#include "console/access.h"
#include "console/doc_hub.h"
#include "console/http_daemon.h"
#include "console/listener.h"
#include "engine/fetch_metrics.h"
#include "store/sink_metrics.h"

enum { NICE = 10 };
#define STOP_STEP SEINE_MS(50)

typedef struct part_row {
    seine_err (*start)(seine_console *c, seine_diag *d);
    void (*stop)(seine_console *c);
    bool (*is_busy)(seine_console *c);
    void (*fini)(seine_console *c);
} part_row;

static const part_row parts[] = {
#define ROW(upper, lower) \
    {sn_##lower##_start, sn_##lower##_stop, sn_##lower##_is_busy, sn_##lower##_fini},
    SN_CONSOLE_PARTS(ROW)
#undef ROW
};

/* Mail. */

void
sn_console_post(seine_console *c, sn_mail *m)
{
    sn_mail *newest = atomic_load_explicit(&c->mails, memory_order_relaxed);

    do
        m->next = newest;
    while (!atomic_compare_exchange_weak_explicit(
        &c->mails, &newest, m, memory_order_release, memory_order_relaxed));
    if (!newest)
        sn_loop_wake(&c->loop);
}

/* Oldest first. */
void
sn_console_deliver(seine_console *c)
{
    sn_mail *m = atomic_exchange_explicit(&c->mails, NULL, memory_order_acquire);
    sn_mail *first = NULL;

    while (m) {
        sn_mail *next = m->next;

        m->next = first;
        first = m;
        m = next;
    }
    while (first) {
        sn_mail *next = first->next; /* deliver may free it */

        first->deliver(first, c);
        first = next;
    }
}

int64_t
sn_console_wall(const seine_console *c)
{
    return c->loop.clock->wall(c->loop.clock);
}

int64_t
sn_console_wall_ms(const seine_console *c)
{
    return sn_console_wall(c) / 1000000;
}

bool
sn_console_path(const seine_console *c, const char *name, char *out, size_t cap)
{
    int n = snprintf(out, cap, "%s/%s", c->state_dir, name);

    return n > 0 && (size_t)n < cap;
}

bool
sn_console_database(const seine_console *c, char out[SN_CONSOLE_PATH])
{
    const char *name = c->opts.database ? c->opts.database : "console.db";

    if (name[0] != '/')
        return sn_console_path(c, name, out, SN_CONSOLE_PATH);
    return snprintf(out, SN_CONSOLE_PATH, "%s", name) < SN_CONSOLE_PATH;
}

/* The thread. */

static void
begin_stop(seine_console *c)
{
    c->is_stopping = true;
    c->stop_at = sn_time_add(c->loop.now, c->opts.grace);
    SN_SAY(c->log, INFO, "console.stop", "the console is stopping");
    sn_http_daemon_stop(c);
    for (size_t i = SN_PARTS; i-- > 0;)
        parts[i].stop(c);
}

static bool
is_busy(seine_console *c)
{
    bool is = sn_http_daemon_is_busy(c);

    for (size_t i = 0; i < SN_PARTS; i++)
        is |= parts[i].is_busy(c);
    return is;
}

static void
run_turns(seine_console *c)
{
    while (!atomic_load(&c->is_asked)) {
        sn_loop_turn(&c->loop, SEINE_NEVER);
        sn_console_deliver(c);
    }
    begin_stop(c);
    sn_console_deliver(c);
    while (is_busy(c) && c->loop.now < c->stop_at) {
        sn_loop_turn(&c->loop, sn_time_add(c->loop.now, STOP_STEP));
        sn_console_deliver(c);
    }
    sn_loop_turn(&c->loop, c->loop.now); /* the last answers leave */
}

static void *
run_thread(void *arg)
{
    seine_console *c = arg;

    pthread_setname_np(pthread_self(), "sn-console");
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), NICE); /* best effort */
    run_turns(c);
    return NULL;
}

/* Signals are for the program's own threads. */
static seine_err
start_thread(seine_console *c)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    c->is_running = pthread_create(&c->thread, NULL, run_thread, c) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return c->is_running ? SEINE_OK : SEINE_E_NOMEM;
}

/* Life. */

static seine_err
make_dir(seine_console *c, seine_diag *diag)
{
    const char *dir = c->opts.state_dir;
    char why[SN_DIAG_ERRNO];
    struct stat what;

    if (!dir || dir[0] == '\0' || strlen(dir) >= sizeof c->state_dir)
        return sn_diag_option(diag, "state_dir",
                              "not a directory of at most 1,023 bytes");
    snprintf(c->state_dir, sizeof c->state_dir, "%s", dir);
    for (char *at = strchr(c->state_dir + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(c->state_dir, 0700); /* the last one shows whether they are there */
        *at = '/';
    }
    if ((mkdir(c->state_dir, 0700) == 0 || errno == EEXIST) &&
        stat(c->state_dir, &what) == 0 && S_ISDIR(what.st_mode))
        return SEINE_OK;
    sn_diag_errno(errno, why);
    sn_diag_value(diag, "state_dir", sn_str_of(dir), why);
    return SEINE_E_IO;
}

/* Runs come later and count here. Their series are there at 0 before the first of them:
 * an alert or rate() never sees the first step of a counter that appears with it. */
static seine_err
make_run_metrics(seine_console *c)
{
    sn_fetch_metrics *fetch;
    sn_sink_metrics *sinks;
    seine_err e = sn_fetch_metrics_new(c->metrics, &fetch);

    return e == SEINE_OK ? sn_sink_metrics_new(c->metrics, &sinks) : e;
}

static seine_err
make_metrics(seine_console *c)
{
    static const unsigned methods[] = {SEINE_HTTP_GET, SEINE_HTTP_POST, SEINE_HTTP_PATCH,
                                       SEINE_HTTP_DELETE};
    seine_http_route rows[SN_ROUTES_MOST];
    size_t n, used = 0;
    const sn_route *routes = sn_route_all(&n);

    if (n > SN_ROUTES_MOST)
        return SEINE_E_RANGE;
    for (size_t i = 0; i < n; i++) {
        size_t at = 0;

        while (at < used && strcmp(rows[at].route, routes[i].path) != 0)
            at++;
        if (at == used)
            rows[used++] = (seine_http_route){routes[i].path, 0};
        rows[at].methods |= 1u << methods[routes[i].method];
        c->route_number[i] = (uint8_t)at;
    }
    return seine_http_metrics_new(c->metrics, "console", rows, used, &c->http_metrics);
}

/* What runs and pages never ask: our own port answers whoever comes from this machine.
 * The port is known before the first run goes on. */
static seine_err
deny_ourselves(seine_console *c)
{
    const char *const *given = c->opts.deny_net;
    const char *port = strrchr(c->where, ':');
    size_t n = 0;

    while (given && given[n])
        n++;
    c->deny_net = sn_calloc(n + 2, sizeof *c->deny_net);
    if (!c->deny_net)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        c->deny_net[i] = given[i];
    if (strncmp(c->where, "unix:", 5) == 0 || !port)
        return SEINE_OK;
    snprintf(c->own_port, sizeof c->own_port, "local:%.5s", port + 1);
    c->deny_net[n] = c->own_port;
    return SEINE_OK;
}

static seine_err
open_listener(seine_console *c, seine_diag *diag)
{
    seine_err e = sn_listener_open(&c->opts, &c->listener, c->where, diag);

    return e == SEINE_OK ? deny_ourselves(c) : e;
}

static seine_err
open_door(seine_console *c, seine_diag *diag)
{
    sn_request_rules rules;
    seine_err e = sn_request_rules_init(&rules, c->where, c->opts.origin);

    if (e != SEINE_OK) {
        return e == SEINE_E_UNKNOWN
                   ? sn_diag_option(diag, "origin",
                                    "an address that stands for all needs one, such as "
                                    "https://seine.example")
                   : sn_diag_value(diag, "origin", sn_str_of(c->opts.origin),
                                   "not an origin such as https://seine.example");
    }
    int fd = c->listener;
    c->listener = -1;
    return sn_http_daemon_new(c, fd, &rules, diag);
}

static seine_err
start_parts(seine_console *c, seine_diag *diag)
{
    seine_err e = SEINE_OK;

    while (e == SEINE_OK && c->started < SN_PARTS)
        e = parts[c->started++].start(c, diag);
    return e;
}

static seine_err
start(seine_console *c, seine_diag *diag)
{
    seine_err e = make_dir(c, diag);

    if (e == SEINE_OK && !c->opts.metrics)
        e = seine_metrics_new(&c->metrics);
    if (e == SEINE_OK)
        e = make_metrics(c);
    if (e == SEINE_OK)
        e = make_run_metrics(c);
    if (e == SEINE_OK)
        e = open_listener(c, diag);
    if (e == SEINE_OK)
        e = start_parts(c, diag);
    if (e == SEINE_OK)
        e = open_door(c, diag);
    if (e == SEINE_OK) {
        sn_access_name(c);
        e = start_thread(c);
    }
    return e;
}

/* One bound after the other, by the names of the configuration. */
static seine_err
check_limits(const seine_console_limits *l, seine_diag *diag)
{
    const struct {
        const char *name;
        uint64_t value, least, most;
    } rows[] = {
        {"exports_per_user", l->exports_per_user, 1, 64},
        {"exports", l->exports, 1, 64},
        {"doc_units", l->doc_units, 1024, SN_HUB_UNITS},
        {"frame", l->frame, 4096, 262144},
        {"send_queue", l->send_queue, 65536, 16777216},
        {"updates", l->updates, 1, SN_PUSH_MOST},
        {"sections", l->sections, 1, SN_HUB_SECTIONS},
        {"sessions", l->sessions, 1, SN_HUB_SESSIONS},
        {"docs", l->docs, 1, SN_HUB_DOCS},
        {"subscriptions", l->subscriptions, 1, 64},
        {"push_burst", l->push_burst, 1, 100000},
        {"message_burst", l->message_burst, 1, 100000},
        {"push_rate", l->push_rate.count, 1, UINT32_MAX},
        {"cursor_rate", l->cursor_rate.count, 1, UINT32_MAX},
        {"message_rate", l->message_rate.count, 1, UINT32_MAX},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].value < rows[i].least || rows[i].value > rows[i].most)
            return sn_diag_option(diag, rows[i].name, "from %" PRIu64 " to %" PRIu64,
                                  rows[i].least, rows[i].most);
    return SEINE_OK;
}

static seine_err
check(const seine_console_opts *o, seine_diag *diag)
{
    if (!o->listen)
        return sn_diag_option(diag, "listen", "missing");
    if (o->behind_proxy && !o->origin)
        return sn_diag_option(diag, "origin",
                              "behind a proxy the console must know its own address, "
                              "such as https://seine.example");
    if (o->max_connections < 2 || o->max_connections > 65535)
        return sn_diag_option(diag, "max_connections", "from 2 to 65535");
    if (o->rest_rate == 0 || o->rest_burst == 0)
        return sn_diag_option(diag, "rest_rate", "at least 1");
    if (o->readers_min < 1 || o->readers_min > o->readers_max || o->readers_max > 64)
        return sn_diag_option(diag, "readers_max",
                              "1 <= readers_min <= readers_max <= 64");
    if (o->idle_time <= 0)
        return sn_diag_option(diag, "idle_time", "above 0");
    if (o->grace < 0 || o->request_time <= 0 || o->hello_time <= 0)
        return sn_diag_option(diag, "grace", "no time below 0");
    return check_limits(&o->limits, diag);
}

seine_err
seine_console_new(const seine_console_opts *opts, seine_console **out_console,
                  seine_diag *diag)
{
    seine_console_opts own;

    sn_diag_clear(diag);
    if (!out_console || !sn_opts_read(&own, sizeof own, sizeof own, opts))
        return SEINE_E_INVAL;
    seine_err e = check(&own, diag);
    if (e != SEINE_OK)
        return e;
    seine_console *c = sn_zalloc(sizeof *c);
    if (!c)
        return SEINE_E_NOMEM;
    c->opts = own;
    c->listener = -1;
    c->log = own.log;
    c->metrics = own.metrics;
    e = sn_loop_init(&c->loop, seine_clock_system());
    if (e != SEINE_OK) {
        sn_free(c);
        return e;
    }
    c->since = c->loop.now;
    c->since_wall = sn_console_wall(c);
    e = start(c, diag);
    if (e != SEINE_OK) {
        seine_console_free(c);
        return e;
    }
    *out_console = c;
    return SEINE_OK;
}

void
seine_console_stop(seine_console *c)
{
    if (!c)
        return;
    atomic_store(&c->is_asked, true);
    sn_loop_wake(&c->loop);
}

static void
remove_socket_file(const seine_console *c)
{
    if (strncmp(c->where, "unix:", 5) == 0)
        unlink(c->where + 5);
}

void
seine_console_free(seine_console *c)
{
    if (!c)
        return;
    if (c->is_running) {
        seine_console_stop(c);
        pthread_join(c->thread, NULL);
    }
    while (c->started > 0) {
        sn_console_deliver(c); /* answers of threads that end now */
        parts[--c->started].fini(c);
    }
    sn_console_deliver(c);
    sn_http_daemon_free(c);
    if (c->listener >= 0)
        close(c->listener);
    remove_socket_file(c);
    sn_free((void *)c->deny_net);
    sn_loop_fini(&c->loop);
    if (!c->opts.metrics)
        seine_metrics_free(c->metrics);
    sn_free(c);
}
