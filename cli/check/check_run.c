/* SPDX-License-Identifier: Apache-2.0 */
/* What a run shows and hears while it works: log, metrics, progress, signals. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/clock.h>

#include "check/check.h"
#include "options/cookies.h"
#include "screen/say.h"

static seine_time
now_is(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

/* Hooks of the watchdog, on its thread */

static void
on_hurry(void *arg)
{
    check *c = arg;
    seine_sinks *sinks = atomic_load(&c->sinks);

    terminal_hurry(&c->terminal);
    if (sinks)
        seine_sinks_hurry(sinks);
}

static uint64_t
on_progress(void *arg)
{
    check *c = arg;

    return atomic_load(&c->steps);
}

static void
on_halt(void *arg)
{
    check *c = arg;
    seine_sinks *sinks = atomic_load(&c->sinks);

    if (sinks)
        seine_sinks_halt(sinks, SEINE_MS(15));
}

/* When --max-time and --grace are over. */
static seine_time
limit_of(const check *c)
{
    seine_span most = c->set->net.max_time, grace = c->set->net.grace;

    if (most <= 0 || most >= SEINE_NEVER - grace - c->start)
        return SEINE_NEVER;
    return c->start + most + grace;
}

static progress_kind
choose_progress(const check *c)
{
    const char *term = getenv("TERM");
    bool on_terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    progress_kind wish = (progress_kind)c->set->net.progress;

    if (c->args->quiet || wish == PROGRESS_OFF)
        return PROGRESS_OFF;
    return wish == PROGRESS_LINE || !on_terminal || !c->log.text ? PROGRESS_LINE
                                                                 : PROGRESS_BAR;
}

int
check_run_open(check *c)
{
    watchdog_hooks hooks = {
        .hurry = on_hurry, .progress = on_progress, .halt = on_halt, .arg = c};

    c->screen = screen_look_at(STDERR_FILENO, c->args->color);
    terminal_init(&c->terminal, isatty(STDOUT_FILENO));
    c->log.fd = -1;
    c->next_line = c->start + SEINE_SECS(10);
    if (!watchdog_start(&c->watchdog, &hooks, limit_of(c)))
        return say_fail(SAY_MACHINE, "ulimit -n 1024", "no file descriptor left");
    int code = run_log_open(&c->log, c->args, &c->terminal);
    if (code == SAY_DONE)
        code = run_metrics_open(&c->metrics, c->args, NULL);
    c->progress = choose_progress(c);
    return code;
}

/* Writes the files that are no outputs. SAY_DONE, or SAY_MACHINE after a message. */
static int
save_files(check *c)
{
    const fetch_settings *set = &c->set->net;
    int code = cookies_save(set, c->plan.opts.jar, &c->log);

    if (!run_metrics_write(&c->metrics)) {
        run_log_fail(&c->log, SEINE_E_IO, "another name",
                     "--metrics-file: cannot write '%s': %s",
                     show(set->metrics_file).text, show_errno(errno).text);
        code = SAY_MACHINE;
    }
    uint64_t lines = run_log_flush(&c->log);
    if (lines > 0)
        code = say_fail(
            SAY_MACHINE, "another name", "--log-file: '%s' did not take %s line%s",
            show(set->log_file).text, figure_count(lines).text, lines == 1 ? "" : "s");
    return code;
}

int
check_run_close(check *c, int code)
{
    if (code != SAY_USAGE && save_files(c) != SAY_DONE)
        code = SAY_MACHINE;
    run_metrics_close(&c->metrics);
    run_log_close(&c->log);
    if (watchdog_number(&c->watchdog) && code != SAY_USAGE && code != SAY_MACHINE)
        code = SAY_SIGNAL + watchdog_number(&c->watchdog);
    watchdog_stop(&c->watchdog);
    terminal_fini(&c->terminal);
    return code;
}

int
check_run_begin(check *c)
{
    c->signal = watchdog_begin(&c->watchdog, limit_of(c));
    return c->signal ? SAY_SIGNAL + c->signal : SAY_DONE;
}

/* Progress */

static void
collect(const check *c, const check_phase *p, progress_facts *f)
{
    seine_clock *clock = seine_clock_system();

    *f = (progress_facts){.now = now_is(),
                          .wall = clock->wall(clock),
                          .concurrency = c->plan.opts.concurrency,
                          .is_stopping = p->is_stopping,
                          .is_crawl = p->is_crawl,
                          .ok = p->ok,
                          .errors = p->bad,
                          .name = p->is_crawl ? p->name : NULL,
                          .eta = p->eta};
    seine_fetch_stats_get(p->fetch, &f->stats);
    f->skipped = f->stats.refused;
    f->total = p->is_crawl ? f->stats.admitted : p->total;
    seine_eta_add(p->eta, f->now, f->stats.done, f->stats.admitted);
}

void
check_run_show(check *c, const check_phase *p)
{
    progress_facts f;

    run_metrics_tick(&c->metrics, NULL, now_is());
    if (c->progress == PROGRESS_OFF)
        return;
    collect(c, p, &f);
    if (c->progress == PROGRESS_BAR && f.now - c->start > SEINE_MS(300))
        terminal_bar(&c->terminal, progress_bar(&c->screen, &f).bytes);
    if (c->progress == PROGRESS_LINE && f.now >= c->next_line) {
        if (terminal_is_free(&c->terminal))
            run_log_note(&c->log, "progress", "%s%s", c->log.text ? "seine: " : "",
                         progress_line(&f).bytes);
        c->next_line = f.now + SEINE_SECS(10);
    }
}

/* Signals */

/* HUP: the limits are those that the configuration files have now. */
static void
reload_limits(check *c, seine_fetch *f)
{
    char line[CONFIG_WHY];

    if (!c->reload.args)
        c->reload = config_reload_begin(c->args, f, &c->plan.single);
    c->reload.fetch = f;
    bool is_fine = config_reload_now(&c->reload, line);
    if (!terminal_is_free(&c->terminal))
        return;
    if (is_fine)
        run_log_note(&c->log, "config.loaded", "seine: %s", line);
    else
        run_log_fail(&c->log, SEINE_E_CONFIG, NULL, "%s", line);
}

void
check_run_keep_limits(check *c, seine_fetch *f)
{
    char line[CONFIG_WHY];

    if (!c->reload.args)
        return;
    c->reload = config_reload_begin(c->args, f, &c->plan.single);
    (void)config_reload_now(&c->reload, line);
}

bool
check_run_hear(check *c, const check_phase *p)
{
    bool stops = false;
    progress_facts f;
    int number;

    while ((number = watchdog_next(&c->watchdog)) != 0) {
        if (number == SIGWINCH || number == SIGCONT) {
            c->screen.width = screen_look_at(STDERR_FILENO, c->args->color).width;
        } else if (number == SIGUSR1) {
            collect(c, p, &f);
            if (terminal_is_free(&c->terminal))
                run_log_note(&c->log, "progress", "%s%s", c->log.text ? "seine: " : "",
                             progress_line(&f).bytes);
        } else if (number == SIGHUP && !c->watchdog.on_terminal) {
            reload_limits(c, p->fetch);
        } else {
            c->signal = c->signal ? c->signal : number;
            stops = true;
        }
    }
    return stops;
}
