/* SPDX-License-Identifier: Apache-2.0 */
#include "serve_run/serve_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/console.h>
#include <seine/log.h>
#include <seine/plumbing.h>
#include <seine/version.h>

#include "config/config.h"
#include "config/service_config.h"
#include "options/option_names.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "serve_run/browser.h"
#include "serve_run/serve_monitor.h"
#include "serve_run/serve_runs.h"
#include "verbs/run_traces.h"

int
serve_state_dir(const char *given, char out[SERVE_PATH])
{
    const char *home = getenv("HOME"), *xdg = getenv("XDG_STATE_HOME");
    const char *unit = getenv("STATE_DIRECTORY");
    int n;

    if (given)
        n = snprintf(out, SERVE_PATH, "%s", given);
    else if (unit && unit[0]) /* systemd's; the first of several */
        n = snprintf(out, SERVE_PATH, "%.*s", (int)strcspn(unit, ":"), unit);
    else if (xdg && xdg[0] == '/')
        n = snprintf(out, SERVE_PATH, "%s/seine", xdg);
    else if (home && home[0] == '/')
        n = snprintf(out, SERVE_PATH, "%s/.local/state/seine", home);
    else
        return say_fail(SAY_USAGE, "--state DIR",
                        "there is no home directory for the state");
    if (n > 0 && n < SERVE_PATH)
        return SAY_DONE;
    return say_fail(SAY_USAGE, "--state DIR", "the state directory's name is too long");
}

#ifdef SEINE_HAS_CONSOLE

typedef struct serving {
    const args *a;
    const serve_settings *set;
    seine_console *console;
    seine_log *log;
    seine_log_tail *tail;
    config *files;
    service_config config;
    serve_monitor monitor;
    serve_shared shared;
    seine_console_runner runner;
    int log_fd;            /* of log_output; -1: none is open */
    const char **deny_net; /* of the configuration, and the port of the metrics */
    char metrics_port[16];
    char state[SERVE_PATH];
    char listen[160];
} serving;

static int
no_console(const serving *s, seine_err e, const seine_diag *d)
{
    seine_diag_name *names = option_names_new(s->a->command);
    bool is_machine = e == SEINE_E_IO || !d->text[0];
    int code = option_names_fail(names, is_machine ? SAY_MACHINE : SAY_USAGE,
                                 "seine serve --help", d, e);

    option_names_free(names);
    return code;
}

/* Opens a file of logs; never what a link leads to, but for /dev/stderr and its like. */
static int
open_log_file(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
                  0640);

    return fd < 0 && errno == ELOOP ? seine_file_append(name) : fd;
}

/* Where the log goes: monitoring.log_output. */
static int
open_output(serving *s)
{
    const char *name = s->config.monitoring.log_output;

    if (strcmp(name, "stdout") == 0)
        s->log_fd = STDOUT_FILENO;
    else if (strcmp(name, "stderr") == 0)
        s->log_fd = STDERR_FILENO;
    else
        s->log_fd = open_log_file(name);
    if (s->log_fd >= 0)
        return SAY_DONE;
    return say_fail(SAY_USAGE, "monitoring.log_output: stdout",
                    "monitoring.log_output '%s': %s", show(name).text,
                    show_errno(errno).text);
}

/* HUP: the file was moved away, and another one is begun. */
static void
reopen_output(serving *s)
{
    const char *name = s->config.monitoring.log_output;

    if (s->log_fd <= STDERR_FILENO)
        return;
    int fd = open_log_file(name);
    if (fd >= 0) {
        dup3(fd, s->log_fd, O_CLOEXEC);
        close(fd);
    }
}

enum { LOG_JSON, LOG_TEXT, LOG_OFF }; /* of --log */

static seine_err
open_log(serving *s)
{
    static const int forms[] = {LOG_TEXT, LOG_JSON, LOG_OFF}; /* text|json|off */
    seine_log_opts opts = SEINE_LOG_OPTS;
    bool typed = options_given(s->a, "log");
    int form = typed ? s->set->log : forms[s->config.monitoring.log_format];

    opts.format = form == LOG_JSON ? SEINE_LOG_JSON : SEINE_LOG_TEXT;
    opts.level =
        s->a->quiet ? SEINE_LOG_ERROR : (seine_log_level)s->config.monitoring.log_level;
    opts.sink = seine_log_tail_sink;
    opts.version = seine_version();
    seine_err e = seine_log_tail_new(form == LOG_OFF ? -1 : s->log_fd, &s->tail);
    opts.arg = s->tail;
    return e == SEINE_OK ? seine_log_new(&opts, &s->log) : e;
}

/* Threads of a crawl: the console has a processor for itself, if there are two. */
static uint32_t
workers_of(const service_config *c)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    if (c->server.workers > 0)
        return (uint32_t)c->server.workers;
    return n > 1 && n < 256 ? (uint32_t)n - 1 : 1;
}

static void
take_limits(const service_config *c, seine_console_limits *l)
{
    *l = (seine_console_limits){.exports_per_user = (uint32_t)c->console.exports_per_user,
                                .exports = (uint32_t)c->console.exports,
                                .doc_units = (uint32_t)c->console.doc_units,
                                .frame = (uint32_t)c->console.frame,
                                .send_queue = (uint32_t)c->console.send_queue,
                                .updates = (uint32_t)c->console.updates,
                                .sections = (uint32_t)c->console.sections,
                                .sessions = (uint32_t)c->console.sessions,
                                .docs = (uint32_t)c->console.docs,
                                .subscriptions = (uint32_t)c->console.subscriptions,
                                .push_burst = (uint32_t)c->console.push_burst,
                                .message_burst = (uint32_t)c->console.message_burst,
                                .push_rate = c->console.push_rate,
                                .cursor_rate = c->console.cursor_rate,
                                .message_rate = c->console.message_rate};
}

/* What the configuration says; options of the command line come later. */
static void
take_config(serving *s, seine_console_opts *o)
{
    const service_config *c = &s->config;
    const char *host = c->server.host;

    if (strncmp(host, "unix:", 5) == 0)
        snprintf(s->listen, sizeof s->listen, "%s", host);
    else
        snprintf(s->listen, sizeof s->listen,
                 strchr(host, ':') ? "[%s]:%" PRIu64 : "%s:%" PRIu64,
                 strcmp(host, "localhost") == 0 ? "127.0.0.1" : host, c->server.port);
    o->listen = s->listen;
    o->origin = c->server.origin;
    o->behind_proxy = c->server.behind_proxy;
    o->trusted_proxies = c->server.trusted_proxies.items;
    o->max_connections = (uint32_t)c->console.max_connections;
    o->max_per_ip = (uint32_t)c->console.max_connections_per_ip;
    o->max_sockets = (uint32_t)c->console.max_websockets;
    o->max_strangers = (uint32_t)c->console.max_websockets_waiting;
    if (c->console.rest_rate.per > 0)
        o->rest_rate = (uint32_t)(c->console.rest_rate.count * SEINE_SECS(1) /
                                  (uint64_t)c->console.rest_rate.per);
    o->rest_burst = (uint32_t)c->console.rest_burst;
    o->bad_tokens = (uint32_t)c->console.failed_tokens;
    o->request_time = c->console.request_timeout;
    o->hello_time = c->console.hello_timeout;
    o->idle_time = c->console.idle_timeout;
    o->workers = workers_of(c);
    o->database = c->database.url ? c->database.url + strlen("sqlite:") : NULL;
    o->readers_min = (uint32_t)c->database.min_connections;
    o->readers_max = (uint32_t)c->database.max_connections;
    o->redis = c->redis.url;
    take_limits(c, &o->limits);
}

/* Runs and pages of the console ask no server of ours; it adds its own port itself. */
static const char *const *
denied(serving *s)
{
    const texts *given = &s->config.egress.deny_net;

    s->deny_net = xalloc_zeroed(given->count + 2, sizeof *s->deny_net);
    for (size_t i = 0; i < given->count; i++)
        s->deny_net[i] = given->items[i];
    if (s->config.monitoring.prometheus_port > 0) {
        snprintf(s->metrics_port, sizeof s->metrics_port, "local:%u",
                 (unsigned)s->config.monitoring.prometheus_port);
        s->deny_net[given->count] = s->metrics_port;
    }
    return s->deny_net;
}

static int
start(serving *s)
{
    seine_console_opts opts = SEINE_CONSOLE_OPTS;
    seine_diag d = SEINE_DIAG;

    take_config(s, &opts);
    if (options_given(s->a, "listen"))
        opts.listen = s->set->listen;
    if (options_given(s->a, "port")) {
        snprintf(s->listen, sizeof s->listen, "127.0.0.1:%" PRIu64, s->set->port);
        opts.listen = s->listen;
    }
    opts.state_dir = s->state;
    if (s->set->origin)
        opts.origin = s->set->origin;
    if (options_given(s->a, "behind-proxy"))
        opts.behind_proxy = s->set->behind_proxy;
    opts.metrics = s->monitor.metrics;
    opts.refresh = serve_monitor_refresh;
    opts.refresh_arg = &s->monitor;
    if (s->set->trusted.items)
        opts.trusted_proxies = s->set->trusted.items;
    opts.insecure_listen = s->set->insecure_listen;
    opts.no_auth = s->set->no_auth;
    opts.ws_echo = s->set->ws_echo;
    opts.grace = s->set->grace;
    opts.one_time_link = s->set->open;
    opts.traces = s->shared.traces;
    opts.log = s->log;
    opts.log_tail = s->tail;
    s->shared.metrics = s->monitor.metrics;
    s->runner = serve_runner;
    s->runner.arg = &s->shared;
    opts.runner = &s->runner;
    opts.allow_net = s->config.egress.allow_net.items;
    opts.deny_net = denied(s);
    opts.recipe_env = s->config.console.recipe_env.items;
    seine_err e = seine_console_new(&opts, &s->console, &d);
    return e == SEINE_OK ? serve_monitor_listen(&s->monitor, &s->config, s->console)
                         : no_console(s, e, &d);
}

static void
tell_where(const serving *s)
{
    const char *link = seine_console_link(s->console);
    seine_log_field f[] = {seine_log_url("url", seine_console_url(s->console))};

    if (s->set->insecure_listen)
        say_note("whoever can listen on the network reads tokens and pages: "
                 "--insecure-listen is for tests");
    seine_log_write(s->log, SEINE_LOG_INFO, "console.start", "the console listens", f, 1);
    fprintf(stderr, "%s\n", link ? link : seine_console_url(s->console));
}

/* Without a token the plain address will do. A socket of a file has no browser. */
static void
open_browser(const serving *s)
{
    const char *url = seine_console_url(s->console);
    const char *once = seine_console_link_once(s->console);
    const char *why = strncmp(url, "unix:", 5) == 0 ? "a Unix socket has no address"
                                                    : browser_open(once ? once : url);

    if (why)
        say_note("--open: %s; the line above is the link", why);
}

static int
wait_for_end(serving *s, const sigset_t *set)
{
    int got = 0;

    while (got != SIGINT && got != SIGTERM) {
        if (sigwait(set, &got) != 0)
            return SIGTERM;
        if (got == SIGHUP)
            reopen_output(s);
    }
    return got;
}

static int
read_config(serving *s)
{
    int code = config_load(s->a->config_path, &s->files, NULL);

    if (code == SAY_DONE)
        code = service_config_read(s->files, environ, &s->config);
    if (code == SAY_DONE && s->config.monitoring.metrics_per_host > 0)
        code = say_fail(SAY_USAGE, "SEINE_MONITORING_METRICS_PER_HOST=0",
                        "monitoring.metrics_per_host: `seine serve` has no metrics of "
                        "single hosts; its pages show them");
    return code == SAY_DONE ? open_output(s) : code;
}

static void
free_config(serving *s)
{
    service_config_free(&s->config);
    config_free(s->files);
    free((void *)s->deny_net);
    if (s->log_fd > STDERR_FILENO)
        close(s->log_fd);
}

int
serve_run(const args *a)
{
    serving s = {.a = a, .set = a->settings, .log_fd = -1};
    sigset_t set;
    int code = serve_state_dir(s.set->state, s.state);

    if (code == SAY_DONE)
        code = read_config(&s);
    if (code != SAY_DONE) {
        free_config(&s);
        return code;
    }
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    if (open_log(&s) != SEINE_OK)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    code = serve_monitor_open(&s.monitor, s.log);
    if (code == SAY_DONE)
        code = run_traces_open_service(&s.config, s.log, s.monitor.metrics,
                                       &s.shared.traces);
    if (code == SAY_DONE)
        code = start(&s);
    if (code == SAY_DONE) {
        tell_where(&s);
        if (s.set->open)
            open_browser(&s);
        code = SAY_SIGNAL + wait_for_end(&s, &set);
    }
    serve_monitor_shut(&s.monitor);
    seine_console_free(s.console);
    seine_otlp_free(s.shared.traces);
    serve_monitor_close(&s.monitor);
    seine_log_free(s.log);
    seine_log_tail_free(s.tail);
    free_config(&s);
    return code;
}

int
serve_token(const char *given_state)
{
    char state[SERVE_PATH], token[64];
    int code = serve_state_dir(given_state, state);

    if (code != SAY_DONE)
        return code;
    seine_err e = seine_console_token(state, token, sizeof token);
    if (e != SEINE_OK)
        return say_fail(SAY_USAGE, "seine serve makes one when it starts",
                        "there is no token in '%s'", show(state).text);
    out_print("%s\n", token);
    return SAY_DONE;
}

#else

static int
nothing(void)
{
    return say_fail(SAY_USAGE, "a build that is not static",
                    "this program was built without the console");
}

int
serve_run(const args *a)
{
    (void)a;
    return nothing();
}

int
serve_token(const char *given_state)
{
    (void)given_state;
    return nothing();
}

#endif
