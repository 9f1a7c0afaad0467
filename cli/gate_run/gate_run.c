/* SPDX-License-Identifier: Apache-2.0 */
#include "gate_run/gate_run.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <seine/clock.h>
#include <seine/gate_server.h>
#include <seine/gate_state.h>
#include <seine/log.h>
#include <seine/plumbing.h>
#include <seine/secret.h>
#include <seine/version.h>

#include "config/config.h"
#include "gate_run/redis_url.h"
#include "options/option_names.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"

/* The server has a thread of its own. This one waits for signals and for the next
 * snapshot, and may block: it writes the state and reads the configuration. */
typedef struct running {
    const args *a;
    const gate_settings *set;
    seine_gate *gate;
    seine_gate_server *server;
    seine_log *log;
    bool ends_on_hangup; /* started on a terminal, which has gone then */
} running;

static int
no_gate(const running *r, seine_err e, const seine_diag *d)
{
    seine_diag_name *names = option_names_new(r->a->command);
    bool is_taken = e == SEINE_E_IO;
    int code = option_names_fail(
        names, is_taken || !d->text[0] ? SAY_MACHINE : SAY_USAGE,
        is_taken ? "another address; port 0 lets the kernel choose" : "seine gate --help",
        d, e);

    option_names_free(names);
    return code;
}

static int64_t
wall_now(void)
{
    seine_clock *c = seine_clock_system();

    return c->wall(c);
}

static int
bad_state(const char *path, seine_err e, const seine_diag *d)
{
    if (e == SEINE_E_IO || e == SEINE_E_NOMEM)
        return say_fail(SAY_USAGE, "another name", "--state '%s': %s", show(path).text,
                        d->text[0] ? d->text : seine_err_text(e));
    return say_fail(SAY_USAGE, "another name, or remove it: every client starts afresh",
                    "--state '%s': %s", show(path).text, d->text);
}

/* SAY_DONE, or the exit code after a message. */
static int
load_state(const running *r)
{
    seine_gate_loaded was;
    seine_diag d = SEINE_DIAG;
    const char *path = r->set->state;

    if (!path)
        return SAY_DONE;
    seine_err e = seine_gate_load(r->gate, path, seine_now(), wall_now(), &was, &d);
    if (e != SEINE_OK && e != SEINE_E_UNKNOWN)
        return bad_state(path, e, &d);
    if (e == SEINE_OK && !r->a->quiet)
        say_note("%" PRIu64 " clients owe tokens, as of %.1f s ago%s", was.clients,
                 (double)was.age / 1e9,
                 was.left_out ? "; others are left out, since their policy is gone, "
                                "or for want of room"
                              : "");
    /* What cannot be written is found out now. */
    e = seine_gate_save(r->gate, path, seine_now(), wall_now(), &d);
    return e == SEINE_OK ? SAY_DONE : bad_state(path, e, &d);
}

static bool
save_state(const running *r)
{
    seine_diag d = SEINE_DIAG;

    if (!r->set->state ||
        seine_gate_save(r->gate, r->set->state, seine_now(), wall_now(), &d) == SEINE_OK)
        return true;
    seine_log_field f[] = {seine_log_str("file", r->set->state),
                           seine_log_str("why", d.text)};
    seine_log_write(r->log, SEINE_LOG_ERROR, "gate.state", "the state was not written", f,
                    2);
    return false;
}

/* SAY_DONE, or the gate is as before and `why` says what is wrong. */
static int
set_rules(const running *r, const gate_settings *set, const config *c, char *why)
{
    seine_gate_config *rules = NULL;
    seine_gate_opts opts;
    seine_diag d = SEINE_DIAG;
    int code = gate_rules_read(set, c, &rules, &opts, why);

    if (code == SAY_DONE && seine_gate_set(r->gate, &opts, seine_now(), &d) != SEINE_OK) {
        code = SAY_USAGE;
        snprintf(why, CONFIG_WHY, "%s%s%s",
                 strcmp(d.member, "trust") == 0 ? "trust-proxy" : d.member,
                 d.member[0] ? ": " : "", d.text);
    }
    seine_gate_config_free(rules);
    return code;
}

/* Policies, lists and proxies of the configuration as it is now. On an error the old ones
 * stay. */
static void
reload(const running *r)
{
    config *c = NULL;
    char why[CONFIG_WHY] = "";
    const char *later = NULL;
    int code = config_load(r->a->config_path, &c, why);

    if (code == SAY_DONE) {
        gate_settings now = gate_rules_again(r->a, c, &later);

        code = set_rules(r, &now, c, why);
        gate_rules_again_free(r->a, &now);
    }
    seine_log_field f[] = {seine_log_str("why", why), seine_log_str("option", later)};
    if (code == SAY_DONE)
        seine_log_write(r->log, SEINE_LOG_INFO, "gate.reload", "policies were reloaded",
                        NULL, 0);
    else
        seine_log_write(r->log, SEINE_LOG_ERROR, "gate.reload",
                        "policies were not reloaded, the old ones stay", f, 1);
    if (later)
        seine_log_write(r->log, SEINE_LOG_WARN, "gate.restart",
                        "this option has changed and needs a restart of the gate", f + 1,
                        1);
    config_free(c);
}

static void
show_status(const running *r)
{
    seine_gate_stats t;

    seine_gate_stats_get(r->gate, &t);
    say_note("%" PRIu64 " allowed, %" PRIu64 " limited, %" PRIu64 " denied, %" PRIu64
             " uncounted; %" PRIu64 " clients have a bucket, %" PRIu64
             " decisions found no place",
             t.allowed, t.limited, t.denied, t.passed, t.keys, t.overflowed);
}

/* Waits for one of the signals until then; 0: the time has come. */
static int
await_signal(const sigset_t *set, seine_time until)
{
    seine_span left = until - seine_now();
    struct timespec t = {0, 0};

    if (left > 0)
        t = (struct timespec){(time_t)(left / SEINE_SECS(1)),
                              (long)(left % SEINE_SECS(1))};
    int got = sigtimedwait(set, NULL, &t);
    return got > 0 ? got : 0;
}

/* Returns the signal that ends it. */
static int
wait_for_end(const running *r, const sigset_t *set)
{
    seine_time next = seine_now() + r->set->state_every;

    for (;;) {
        int got = await_signal(set, next);

        if (got == SIGINT || got == SIGTERM || (got == SIGHUP && r->ends_on_hangup))
            return got;
        if (got == SIGHUP)
            reload(r);
        if (got == SIGUSR1)
            show_status(r);
        if (got == SIGHUP || seine_now() >= next) {
            seine_gate_sweep(r->gate, seine_now());
            save_state(r);
            next = seine_now() + r->set->state_every;
        }
    }
}

static void
add_place(seine_json *line, const char *name, const char *where)
{
    char url[80];

    if (!where)
        return;
    snprintf(url, sizeof url, "http://%s", where);
    jsonl_set(line, name, jsonl_string(url));
}

static void
print_places(const running *r)
{
    seine_json *line = xalloc_json(seine_json_new_object());

    add_place(line, "http", seine_gate_server_where(r->server, "http"));
    add_place(line, "admin", seine_gate_server_where(r->server, "admin"));
    out_json(line);
    out_flush();
}

static seine_err
open_log(running *r)
{
    seine_log_opts opts = SEINE_LOG_OPTS;

    opts.format = r->set->log == 1 ? SEINE_LOG_JSON : SEINE_LOG_TEXT;
    opts.level = r->a->quiet ? SEINE_LOG_ERROR : SEINE_LOG_INFO;
    opts.version = seine_version();
    return r->set->log == 2 ? SEINE_OK : seine_log_new(&opts, &r->log);
}

static int
start_server(running *r)
{
    seine_gate_server_opts opts = SEINE_GATE_SERVER_OPTS;
    seine_diag d = SEINE_DIAG;
    char redis[REDIS_URL_ROOM] = "";

    opts.gate = r->gate;
    opts.listen = r->set->listen;
    opts.admin = r->set->admin;
    opts.demo = r->set->demo;
    opts.log = r->log;
    if (r->set->redis) {
        int code = redis_url_read("redis", r->set->redis, redis);

        if (code != SAY_DONE)
            return code;
        opts.redis = redis;
        opts.redis_timeout = r->set->redis_timeout;
    }
    seine_err e = seine_gate_server_new(&opts, &r->server, &d);
    seine_wipe(redis, sizeof redis);
    return e == SEINE_OK ? SAY_DONE : no_gate(r, e, &d);
}

static int
make_gate(running *r)
{
    seine_gate_config *rules = NULL;
    seine_gate_opts opts;
    seine_diag d = SEINE_DIAG;
    int code = gate_rules_read(r->set, r->a->config, &rules, &opts, NULL);

    if (code != SAY_DONE)
        return code;
    seine_err e = seine_gate_new(&opts, &r->gate, &d);
    seine_gate_config_free(rules);
    return e == SEINE_OK ? SAY_DONE : no_gate(r, e, &d);
}

static int
serve(running *r, const sigset_t *set)
{
    int code = load_state(r);

    if (code == SAY_DONE)
        code = start_server(r);
    if (code != SAY_DONE)
        return code;
    print_places(r);
    int ended = wait_for_end(r, set);
    seine_gate_server_free(r->server);
    r->server = NULL;
    return save_state(r) ? SAY_SIGNAL + ended : SAY_MACHINE;
}

int
gate_run(const args *a)
{
    running r = {.a = a, .set = a->settings};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    r.ends_on_hangup = isatty(STDIN_FILENO) || isatty(STDERR_FILENO);
    int code = make_gate(&r);
    if (code == SAY_DONE && open_log(&r) != SEINE_OK)
        code = say_fail(SAY_MACHINE, NULL, "out of memory");
    if (code == SAY_DONE)
        code = serve(&r, &set);
    seine_gate_server_free(r.server);
    seine_gate_free(r.gate);
    seine_log_free(r.log);
    return code;
}
