/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/fetch.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <seine/plumbing.h>

#include "jobs/control_answer.h"
#include "jobs/job_hint.h"
#include "options/cookies.h"
#include "options/fetch_settings.h"
#include "options/glob.h"
#include "options/mirror_opts.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "serve_run/run_host.h"
#include "serve_run/watch.h"
#include "verbs/fetch_state.h"
#include "verbs/fleet_run.h"
#include "verbs/jsonl.h"
#include "verbs/plan.h"
#include "verbs/run_start.h"
#include "verbs/run_traces.h"
#include "verbs/verbs.h"

#define IN_CRAWL 0

/* clang-format off */
static const option options[] = {
#include "options/fetch_rows.h"
    {.name = NULL},
};

static const example examples[] = {
    {"seine fetch http://127.0.0.1:8080/ http://127.0.0.1:8080/gone",
     "Two pages, as a table for people:"},
    {"seine fetch -i urls.txt -c 20 -r 50/s -t 5s -m 10s --retries 3 -o pages.jsonl -o pages.csv",
     "A list, with limits, to two files:"},
    {"cut -f2 list.tsv | seine fetch - | jq -r 'select(.ok|not)|.url'",
     "What could not be fetched, while the list is still being made:"},
    {"seine fetch --raw http://127.0.0.1:8080/a.pdf > a.pdf",
     "The body of a page and nothing else:"},
    {NULL, NULL},
};

const command cmd_fetch = {
    .name = "fetch",
    .arguments = "[URL|-]…",
    .about = "fetch exactly these URLs; each ends in one record",
    .text = "Follows nothing but redirects. Without a URL the list is read from standard input. A URL without scheme is https://; localhost and "
            "addresses are http://. Records leave in the order of completion, on a terminal as a table and elsewhere as JSON lines; the last "
            "one is the summary.\n\n"
            "Every host gets at most --host-rate requests a second, --per-host at a time. Failures that may pass are tried again, a host that "
            "keeps failing is left alone. `seine URL…` is `seine fetch URL…`.\n\n"
            "INT and TERM stop it in order: nothing new is asked, what is in flight may end within --grace; a second one ends it at once. USR1 "
            "prints where it stands. Exit codes: 0 fine, 1 more failures than --fail-on allows, 2 usage and nothing was sent, 3 this machine, "
            "4 --max-time, --max-errors or a limit that was not set, with work left, 5 hosts parked, 130 143 129 141 signals and a closed pipe.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(fetch_settings),
    .max_args = SIZE_MAX,
    .run = fetch_run,
};
/* clang-format on */

#define TICK SEINE_MS(100)

static seine_time
now_is(void)
{
    seine_clock *c = seine_clock_system();

    return c->now(c);
}

static int64_t
wall_is(void)
{
    seine_clock *c = seine_clock_system();

    return c->wall(c);
}

static void
wake_main(run *r)
{
    uint64_t one = 1;

    /* The main thread polls again soon. */
    if (write(r->wake, &one, sizeof one) < 0)
        return;
}

/* Callbacks, which run on threads of the library */

static void
on_room(void *arg)
{
    run *r = arg;

    if (r->fetch)
        seine_fetch_wake(r->fetch);
}

static void
on_failed(seine_err e, void *arg)
{
    run *r = arg;
    int none = SEINE_OK;

    atomic_compare_exchange_strong(&r->failed, &none, (int)e);
    wake_main(r);
}

/* Hooks of the watchdog, on its thread */

static void
set_sinks(seine_sinks *sinks, void *arg)
{
    run *r = arg;

    pthread_mutex_lock(&r->lock);
    r->sinks = sinks;
    pthread_mutex_unlock(&r->lock);
}

static void
on_hurry(void *arg)
{
    run *r = arg;

    terminal_hurry(&r->terminal);
    pthread_mutex_lock(&r->lock);
    if (r->sinks)
        seine_sinks_hurry(r->sinks);
    pthread_mutex_unlock(&r->lock);
}

static uint64_t
on_progress(void *arg)
{
    run *r = arg;
    seine_sinks_stats s = {0};

    pthread_mutex_lock(&r->lock);
    if (r->sinks)
        seine_sinks_stats_get(r->sinks, &s);
    pthread_mutex_unlock(&r->lock);
    return s.records + s.bytes;
}

/* Keeps the lock: the sinks may not be freed any more while they are halted. */
static void
on_halt(void *arg)
{
    run *r = arg;

    pthread_mutex_lock(&r->lock);
    if (r->sinks)
        seine_sinks_halt(r->sinks, SEINE_MS(15));
}

/* The host of a URL, "e.example:8080"; the scheme may be missing, a login is left out. */
static shown
host_of(const char *url, size_t n)
{
    const char *at = memmem(url, n, "://", 3), *end = url + n;

    url = at ? at + 3 : url;
    for (const char *c = url; c < end; c++) {
        if (strchr("/?#", *c))
            end = c;
        else if (*c == '@')
            url = c + 1;
    }
    return show_host(url, (size_t)(end - url));
}

/* Remembers the first host whose robots.txt did not come. */
static void
note_unreachable(run *r, const seine_record *record)
{
    if (record->reason == SEINE_SKIP_ROBOTS_UNREACHABLE && !r->unreachable[0] &&
        record->url.len > 0)
        snprintf(r->unreachable, sizeof r->unreachable, "%s",
                 host_of(record->url.ptr, record->url.len).text);
}

static void
on_watch(const seine_record *record, void *arg)
{
    enum { ENOUGH = 100 };
    run *r = arg;
    const quota *q = &r->plan.max_errors;

    if (run_host_is_inner(r->args))
        say_hide_here(r->plan.request.secrets); /* this thread is one of the run */
    strays_see(&r->strays, record);
    if (record->type != SEINE_RECORD_RESULT) {
        limits_see(&r->limits, record);
        note_unreachable(r, record);
        return;
    }
    wire_trace_end(&r->wire_trace, record);
    r->results++;
    r->bad += record->fate != SEINE_FATE_OK;
    if (record->fate != SEINE_FATE_OK && r->set->referrers == 0)
        failures_add(&r->failures, record, NULL);
    if ((q->percent && r->results < ENOUGH) || !quota_is_reached(q, r->bad, r->results))
        return;
    if (!atomic_exchange(&r->too_many, true))
        wake_main(r);
}

/* A URL that failed, with the pages that link to it. */
static void
on_failure(const seine_record *record, void *arg)
{
    run *r = arg;
    seine_referrer pages[FAILURES_PAGES];
    failure_pages p = {.pages = pages};

    p.n = seine_record_referrers(record, pages, FAILURES_PAGES, &p.count);
    failures_add(&r->failures, record, &p);
}

/* The library knows of headers alone; the program has an option for logins. */
static void
advise_login(seine_record *r)
{
    static const char hint[] = "--user NAME, or -H 'Authorization: …'";

    r->hint = (seine_view){hint, sizeof hint - 1};
}

static void
on_record(const seine_record *record, unsigned shard, void *arg)
{
    run *r = arg;
    seine_record told;

    if (record->fault->status == 401 && record->fault->code == SEINE_E_HTTP) {
        told = *record;
        advise_login(&told);
        record = &told;
    }
    seine_err e = r->source
                      ? r->source->record(r->outputs.sinks, shard, record, r->source->arg)
                      : seine_sinks_put(r->outputs.sinks, shard, record);
    if (e != SEINE_OK)
        on_failed(SEINE_E_NOMEM, r);
}

static void
on_kept(seine_view key, seine_view bytes, void *arg)
{
    run *r = arg;

    r->source->kept(key, bytes, r->source->arg);
}

static void
on_again(seine_ask *io_ask, void *arg)
{
    run *r = arg;

    r->source->again(io_ask, r->source->arg);
}

/* A record of an earlier run of the job: this run goes on counting. */
static void
on_earlier(const seine_record *record, void *arg)
{
    run *r = arg;

    outputs_count(&r->outputs, record);
    on_watch(record, r);
    if (r->source)
        r->source->earlier(record, r->source->arg);
    if (record->fate != SEINE_FATE_OK && r->set->referrers > 0)
        failures_add(&r->failures, record, NULL);
}

static bool
is_room(unsigned shard, void *arg)
{
    run *r = arg;

    return seine_sinks_poll(r->outputs.sinks, shard);
}

static uint64_t
on_due(void *arg)
{
    run *r = arg;

    return seine_sinks_due(r->outputs.sinks);
}

/* Writes the members "event", "host" and "data" as a line of the outputs. */
static void
write_event(run *r, const seine_event *e)
{
    seine_clock *clock = seine_clock_system();
    seine_json *all = xalloc_json(seine_json_new_object());
    seine_json *data = xalloc_json(seine_json_new_object());
    seine_text text = {NULL, 0};

    if (e->cause != SEINE_OK)
        jsonl_set(data, "cause", jsonl_string(seine_err_name(e->cause)));
    if (e->until != SEINE_NEVER && e->until > 0)
        jsonl_set(
            data, "until",
            jsonl_string(
                stamp_of(clock->wall(clock) + (e->until - clock->now(clock))).text));
    if (strcmp(e->name, "rate.changed") == 0) {
        jsonl_set(data, "from_us", xalloc_json(seine_json_new_int(e->from)));
        jsonl_set(data, "to_us", xalloc_json(seine_json_new_int(e->to)));
    }
    if (strcmp(e->name, "crawl_delay.clamped") == 0)
        jsonl_set(data, "to_us", xalloc_json(seine_json_new_int(e->to)));
    if (e->detail.len > 0)
        jsonl_set(data, "pattern",
                  jsonl_string(show_bytes(e->detail.ptr, e->detail.len).text));
    jsonl_set(all, "event", jsonl_string(e->name));
    if (e->host.len)
        jsonl_set(all, "host", jsonl_string(show_host(e->host.ptr, e->host.len).text));
    jsonl_set(all, "data", data);
    if (seine_json_print(all, &text) == SEINE_OK && text.len > 2 &&
        seine_sinks_line(r->outputs.sinks, "event", text.bytes + 1, text.len - 2) ==
            SEINE_E_NOMEM)
        on_failed(SEINE_E_NOMEM, r);
    seine_text_free(&text);
    seine_json_free(all);
}

/* Remembers the first host that was given up, and why its breaker opened. */
static void
note_event(run *r, const seine_event *e)
{
    parked *p = &r->parked;
    shown host = show_host(e->host.ptr, e->host.len);

    pthread_mutex_lock(&r->lock);
    if (strcmp(e->name, "breaker.open") == 0 && !p->is_set) {
        *p = (parked){.cause = e->cause};
        snprintf(p->host, sizeof p->host, "%s", host.text);
    } else if (strcmp(e->name, "host.parked") == 0 && !p->is_set) {
        bool known = e->cause == SEINE_E_BREAKER && strcmp(p->host, host.text) == 0;

        *p = (parked){
            .cause = known ? p->cause : e->cause, .until = e->until, .is_set = true};
        snprintf(p->host, sizeof p->host, "%s", host.text);
    } else if (strcmp(e->name, "robots.unreachable") == 0 && r->job.job &&
               !r->unreachable[0]) { /* no record says so */
        snprintf(r->unreachable, sizeof r->unreachable, "%s", host.text);
    }
    pthread_mutex_unlock(&r->lock);
}

static void
on_trace(const seine_trace *t, void *arg)
{
    run *r = arg;

    wire_trace_tell(t, &r->wire_trace);
}

static void
on_event(const seine_event *e, unsigned shard, void *arg)
{
    run *r = arg;

    (void)shard;
    note_event(r, e);
    if (r->set->events)
        write_event(r, e);
}

/* Progress */

/* Whether reading has waited for --limit-rate for most of the time since the last look.
 */
static bool
is_slowed(run *r, seine_time now)
{
    seine_span waited = seine_fetch_rate_wait(r->fetch);
    bool is = 2 * (waited - r->rate_wait) > now - r->looked_at;

    r->rate_wait = waited;
    r->looked_at = now;
    return is;
}

static void
collect_facts(run *r, progress_facts *f, seine_tally_sums *t, char host[128])
{
    bool at_end = atomic_load(&r->feed.at_end);

    *f = (progress_facts){.now = now_is(),
                          .wall = wall_is(),
                          .concurrency = r->plan.opts.concurrency,
                          .is_reading = !at_end && !r->source,
                          .is_stopping = r->stops > 0,
                          .eta = &r->eta};
    seine_fetch_stats_get(r->fetch, &f->stats);
    seine_tally_sums_get(r->outputs.tally, t);
    f->ok = t->ok;
    f->errors = t->failed + t->blocked;
    f->skipped = f->stats.refused;
    f->is_crawl = crawl_is_asked(r->args) || r->source; /* pages lead to pages */
    f->name = r->name[0] ? r->name : NULL;
    f->total = f->is_crawl ? f->stats.admitted
               : at_end    ? f->stats.admitted + f->stats.refused
                           : feed_estimate(&r->feed);
    f->is_estimate = !at_end && !f->is_crawl;
    f->is_slowed = is_slowed(r, f->now);
    if (!at_end && r->set->input.count == 0 && r->feed.n_inputs == 0)
        f->is_estimate = false;
    pthread_mutex_lock(&r->outputs.lock);
    snprintf(host, 128, "%s", r->outputs.host);
    pthread_mutex_unlock(&r->outputs.lock);
    f->host = f->stats.hosts == 1 && host[0] ? host : NULL;
    if (f->is_crawl && seine_fetch_slowest_get(r->fetch, &r->slowest)) {
        f->slow = r->slowest.host;
        f->slowest = r->slowest.left;
    }
    seine_eta_add(&r->eta, f->now, f->stats.done, f->stats.admitted);
}

static void
show_progress(run *r)
{
    seine_tally_sums *t = xalloc_zeroed(1, sizeof *t);
    progress_facts f;
    char host[128];

    collect_facts(r, &f, t, host);
    if (r->progress == PROGRESS_BAR && f.now - r->start > SEINE_MS(300))
        terminal_bar(&r->terminal, progress_bar(&r->screen, &f).bytes);
    if (r->progress == PROGRESS_LINE && f.now >= r->next_line) {
        if (terminal_is_free(&r->terminal))
            run_log_note(&r->run_log, "progress", "%s%s",
                         r->run_log.text ? "seine: " : "", progress_line(&f).bytes);
        r->next_line += SEINE_SECS(10);
    }
    free(t);
}

/* Prints the status that SIGUSR1 asks for. */
static void
show_status(run *r)
{
    seine_tally_sums *t = xalloc_zeroed(1, sizeof *t);
    progress_facts f;
    char host[128];
    textbuf text = {NULL, 0, 0};

    collect_facts(r, &f, t, host);
    textbuf_put(&text, "seine: %s\n", progress_line(&f).bytes);
    for (int w = 0; w < SEINE_WAIT_ROOM; w++)
        if (f.stats.waiting_for[w])
            textbuf_put(&text, "seine: %s wait for %s\n",
                        figure_count(f.stats.waiting_for[w]).text,
                        progress_wait_name((seine_wait)w));
    textbuf_put(&text, "seine: %s hosts, %s given up, %s connections, p50 %s, p95 %s\n",
                figure_count(f.stats.hosts).text, figure_count(f.stats.parked).text,
                figure_count(f.stats.connections).text, figure_span(t->p50).text,
                figure_span(t->p95).text);
    if (terminal_is_free(&r->terminal))
        terminal_say(&r->terminal, text.text, text.len);
    textbuf_free(&text);
    free(t);
}

/* Chooses the bar for a terminal to which no records are written. */
static progress_kind
choose_progress(const run *r)
{
    const char *term = getenv("TERM");
    bool on_terminal = isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
    bool crowded = isatty(STDOUT_FILENO) && r->outputs.form == FORM_SINK;
    progress_kind wish = (progress_kind)r->set->progress;

    if (r->args->quiet || wish == PROGRESS_OFF)
        return PROGRESS_OFF;
    if (wish == PROGRESS_LINE || !on_terminal || !r->run_log.text)
        return PROGRESS_LINE;
    return crowded && wish == PROGRESS_AUTO ? PROGRESS_OFF : PROGRESS_BAR;
}

/* The loop */

/* The fetch has begun to stop: nothing more is read. */
static void
follow_stop(run *r)
{
    r->stops++;
    run_metrics_set_ready(&r->run_metrics, false);
    feed_stop(&r->feed);
}

static void
stop_run(run *r, seine_err why)
{
    seine_fetch_stop(r->fetch, why);
    follow_stop(r);
}

/* An event that is about no host. */
static void
write_reload(run *r, bool is_fine, const char *line)
{
    seine_json *all = xalloc_json(seine_json_new_object());
    seine_json *data = xalloc_json(seine_json_new_object());
    seine_text text = {NULL, 0};

    jsonl_set(all, "event", jsonl_string(is_fine ? "config.loaded" : "config.kept"));
    jsonl_set(data, "message", jsonl_string(line));
    jsonl_set(all, "data", data);
    if (seine_json_print(all, &text) == SEINE_OK && text.len > 2 &&
        seine_sinks_line(r->outputs.sinks, "event", text.bytes + 1, text.len - 2) ==
            SEINE_E_NOMEM)
        on_failed(SEINE_E_NOMEM, r);
    seine_text_free(&text);
    seine_json_free(all);
}

/* HUP: the limits are those that the configuration files have now. */
static void
reload_limits(run *r)
{
    char line[CONFIG_WHY];
    bool is_fine = config_reload_now(&r->reload, line);

    if (r->set->events)
        write_reload(r, is_fine, line);
    if (!terminal_is_free(&r->terminal))
        return;
    if (is_fine)
        run_log_note(&r->run_log, "config.loaded", "seine: %s", line);
    else
        run_log_fail(&r->run_log, SEINE_E_CONFIG, NULL, "%s", line);
}

static void
take_signal(run *r, int number)
{
    switch (number) {
    case SIGUSR1:
        show_status(r);
        return;
    case SIGWINCH:
    case SIGCONT:
        r->screen.width = screen_look_at(STDERR_FILENO, r->args->color).width;
        return;
    case SIGHUP:
        if (!r->watchdog.on_terminal) {
            reload_limits(r);
            return;
        }
        break;
    default:
        break;
    }
    if (!r->signal)
        r->signal = number;
    stop_run(r, SEINE_E_CANCELED);
}

static void
check_stops(run *r)
{
    uint64_t count;
    int why = terminal_failed(&r->terminal);

    if (read(r->wake, &count, sizeof count) < 0 && errno != EAGAIN)
        return;
    if (why)
        on_failed(outputs_err_of(why), r);
    if (r->stops > 0)
        return;
    if (seine_fetch_err(r->fetch, NULL) != SEINE_OK)
        follow_stop(r);
    else if (atomic_load(&r->is_told))
        take_signal(r, SIGTERM);
    else if (atomic_load(&r->failed) != SEINE_OK || atomic_load(&r->too_many))
        stop_run(r, SEINE_E_CANCELED);
    else if (now_is() >= r->deadline) {
        r->is_late = true;
        stop_run(r, SEINE_E_DEADLINE);
    }
}

static int
poll_timeout(const run *r)
{
    seine_time now = now_is(), next = now + SEINE_MS(500);

    if (r->progress == PROGRESS_BAR || r->outputs.form == FORM_ROWS ||
        r->outputs.form == FORM_PATTERN)
        next = now + TICK;
    if (r->stops == 0 && r->deadline < next)
        next = r->deadline;
    return next <= now ? 0 : (int)((next - now + SEINE_MS(1) - 1) / SEINE_MS(1));
}

static void
run_loop(run *r)
{
    while (!atomic_load(&r->feed.is_done)) {
        struct pollfd polled[] = {{.fd = r->watchdog.fd, .events = POLLIN},
                                  {.fd = r->wake, .events = POLLIN}};
        int number;

        poll(polled, 2, poll_timeout(r));
        while ((number = watchdog_next(&r->watchdog)) != 0)
            take_signal(r, number);
        check_stops(r);
        terminal_try(&r->terminal);
        fleet_metrics_tick(&r->fleet_metrics);
        run_metrics_tick(&r->run_metrics, r->fetch, now_is());
        if (r->progress != PROGRESS_OFF && !atomic_load(&r->feed.is_done))
            show_progress(r);
    }
}

/* Hooks of the socket of the job, on its thread */

static void
on_told_to_stop(void *arg)
{
    run *r = arg;

    atomic_store(&r->is_told, true);
    wake_main(r);
}

static void
on_told(const char *line, void *arg)
{
    run *r = arg;

    if (terminal_is_free(&r->terminal))
        run_log_note(&r->run_log, "job.control", "seine: job '%s': %s", r->job.name,
                     line);
}

/* What `seine jobs set` has said to all workers of a fleet. */
static void
on_said(const char *json, void *arg)
{
    run *r = arg;
    control_hooks hooks = {.fetch = r->fetch, .say = on_told, .arg = r};
    seine_json *line = NULL;
    seine_json_fault fault;
    char why[320];

    if (seine_json_parse(json, strlen(json), &line, &fault) == SEINE_OK &&
        !control_set(&hooks, line, why))
        run_log_note(&r->run_log, "job.control", "seine: job '%s': %s", r->job.name, why);
    seine_json_free(line);
}

/* A job without a socket runs all the same. */
static void
open_control(run *r)
{
    control_hooks hooks = {
        .fetch = r->fetch, .stop = on_told_to_stop, .say = on_told, .arg = r};

    if (!r->job.job || r->job.fleet)
        return;
    r->control = control_open(seine_job_path(r->job.job), &hooks);
    if (!r->control)
        run_log_note(&r->run_log, "job.control",
                     "seine: job '%s' has no control.sock, so that `seine jobs` cannot "
                     "steer it: %s",
                     r->job.name, show_errno(errno).text);
}

/* Writes the hint for a pattern of the shell where an expression is wanted. */
static bool
hints_at_glob(const run *r, const seine_diag *diag, char *out, size_t cap)
{
    const struct {
        const char *member, *option;
        const texts *list;
    } rows[] = {{"include", "include", &r->set->include},
                {"exclude", "exclude", &r->set->exclude},
                {"accept_urls", "keep", &r->set->keep}};

    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        for (size_t i = 0;
             strcmp(diag->member, rows[k].member) == 0 && i < rows[k].list->count; i++) {
            const char *given = rows[k].list->items[i];
            char *re = glob_is_meant(given) ? glob_to_re(given) : NULL;

            if (!re)
                continue;
            if (k == 0)
                snprintf(out, cap, "a regular expression, or --glob '%s'",
                         show(given).text);
            else
                snprintf(out, cap, "a regular expression: --%s '%s'", rows[k].option, re);
            free(re);
            return true;
        }
    return false;
}

static int
no_fetch(const run *r, seine_err e, const seine_diag *diag)
{
    char hint[sizeof(job_hint_text) + 40];

    if (hints_at_glob(r, diag, hint, sizeof hint))
        return option_names_fail(r->plan.names, SAY_USAGE, hint, diag, e);
    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, "a lower --concurrency or --queue", "out of memory");
    if (e == SEINE_E_STATE_CORRUPT)
        snprintf(hint, sizeof hint, "%s, or --fresh to start over",
                 job_hint("jobs repair", r->job.name, r->set->state).text);
    else
        snprintf(hint, sizeof hint, "seine %s --help", r->args->command->name);
    return option_names_fail(r->plan.names, SAY_USAGE, hint, diag, e);
}

/* An output could not be begun. */
static int
no_output(const run *r, seine_err e)
{
    seine_diag diag = SEINE_DIAG;
    char why[SEINE_DIAG_ROOM];

    (void)!seine_sinks_err(r->outputs.sinks, &diag);
    if (e == SEINE_E_NOMEM || seine_diag_print(&diag, NULL, why, sizeof why) == 0)
        return no_fetch(r, e, &diag);
    if (e == SEINE_E_OUTPUT_CHANGED)
        return say_fail(SAY_USAGE, "--fresh to start over", "%s", why);
    return say_fail(SAY_MACHINE, say_write_advice(why), "%s", why);
}

/* When --max-time is over that begins at `start`. */
static seine_time
deadline_of(const run *r, seine_time start)
{
    bool limited = r->set->max_time > 0 && r->set->max_time != SEINE_NEVER;

    return limited ? start + r->set->max_time : SEINE_NEVER;
}

/* When the run must have ended. */
static seine_time
limit_of(const run *r, seine_time deadline)
{
    seine_span grace = r->set->grace;

    return deadline >= SEINE_NEVER - grace ? SEINE_NEVER : deadline + grace;
}

/* A source reads the pages itself. */
static void
begin_source(run *r)
{
    seine_fetch_opts *o = &r->plan.opts;
    seine_job_figures figures = {0};

    if (!r->source)
        return;
    seine_job_figures_get(r->job.job, &figures);
    o->on_kept = on_kept;
    o->on_again = on_again;
    r->source->begin(o, &figures, r->source->arg);
    snprintf(r->name, sizeof r->name, "%s", r->source->name);
}

/* Starts the run, with everything open and checked, and waits for its end. */
static int
start_and_wait(run *r)
{
    seine_diag diag = SEINE_DIAG;
    seine_fetch_opts *o = &r->plan.opts;
    seine_err e;

    o->on_record = on_record;
    o->ready = is_room;
    if (r->outputs.ordered)
        o->due = on_due;
    o->on_event = on_event;
    o->on_trace = wire_trace_is_on(&r->wire_trace) ? on_trace : NULL;
    o->arg = r;
    o->log = r->run_log.log;
    o->metrics = r->run_metrics.metrics;
    o->traces = r->traces;
    o->job = r->job.job;
    o->on_earlier = on_earlier;
    o->timeline = outputs_has_database(r->set) || r->outputs.report.report;
    if (r->set->incremental && r->job.job)
        o->revisit = &r->plan.revisit;
    begin_source(r);
    r->start = now_is();
    r->next_line = r->start + SEINE_SECS(10);
    r->deadline = deadline_of(r, r->start);
    r->signal = r->watchdog.is_started
                    ? watchdog_begin(&r->watchdog, limit_of(r, r->deadline))
                    : 0;
    if (r->signal)
        return SAY_SIGNAL + r->signal;
    seine_eta_init(&r->eta, r->start);
    e = seine_sinks_start(r->outputs.sinks, o->threads);
    if (e != SEINE_OK)
        return no_output(r, e);
    e = seine_fetch_new(o, &r->fetch, &diag);
    if (e != SEINE_OK)
        return no_fetch(r, e, &diag);
    r->reload = config_reload_begin(r->args, r->fetch, &r->plan.single);
    run_start_say(&r->run_log, r->set, &r->plan, &r->run_metrics, r->fetch);
    run_job_say(&r->job, r->args, &r->run_log);
    if (r->set->incremental)
        run_job_say_round(&r->job, seine_fetch_not_due(r->fetch), &r->run_log);
    run_metrics_set_ready(&r->run_metrics, true);
    fleet_metrics_open(&r->fleet_metrics, r->run_metrics.metrics, r->job.fleet);
    if (r->outputs.ordered) {
        r->feed.ordered = r->outputs.sinks;
        r->feed.window = r->outputs.window;
    }
    r->feed.on_said = on_said;
    r->feed.said_arg = r;
    if (!feed_start(&r->feed, r->fetch, r->wake))
        return no_fetch(r, SEINE_E_NOMEM, &diag);
    if (r->job.fleet && seine_fleet_start(r->job.fleet, r->fetch) != SEINE_OK)
        return no_fetch(r, SEINE_E_NOMEM, &diag);
    open_control(r);
    if (r->args->host)
        r->args->host->begin(r->args->host->run, r->fetch, on_told_to_stop, r);
    run_loop(r);
    control_close(r->control);
    feed_join(&r->feed);
    if (r->args->host)
        r->args->host->end(r->args->host->run);
    int code = fleet_run_say(&r->job);
    return code == SAY_DONE ? run_close(r) : code;
}

static void
ignore_record(const seine_record *record, unsigned shard, void *arg)
{
    (void)record, (void)shard, (void)arg;
}

/* Lets the library check the options before any file is created, by a fetch that is freed
 * before it starts. */
static int
try_options(const run *r)
{
    seine_fetch_opts o = r->plan.opts;
    seine_fetch *f = NULL;
    seine_diag diag = SEINE_DIAG;

    o.threads = 0;
    o.on_record = ignore_record;
    seine_err e = seine_fetch_new(&o, &f, &diag);
    seine_fetch_free(f);
    return e == SEINE_OK ? SAY_DONE : no_fetch(r, e, &diag);
}

/* Opens everything, the parts with the cheapest mistakes first. */
static int
prepare_run(run *r)
{
    outputs_hooks hooks = {.room = on_room,
                           .failed = on_failed,
                           .watch = on_watch,
                           .failure = on_failure,
                           .made = set_sinks,
                           .arg = r};
    int code = fetch_plan_make(r->args, &r->plan);

    if (code != SAY_DONE)
        return code;
    if (r->source)
        code = r->source->plan(&r->plan, r->source->arg);
    if (code != SAY_DONE)
        return code;
    hooks.user_agent = r->plan.request.user_agent;
    hooks.obeys = r->plan.opts.robots == SEINE_OBEY_ON;
    code = try_options(r);
    if (code == SAY_DONE)
        code = cookies_open(r->args, &r->plan.opts.jar);
    if (code == SAY_DONE && (r->source || r->set->join))
        r->feed = (feed){.args = r->args,
                         .wake = -1,
                         .give = r->source ? r->source->give : NULL,
                         .give_arg = r->source ? r->source->arg : NULL};
    else if (code == SAY_DONE)
        code = feed_open(&r->feed, r->args);
    if (code == SAY_DONE)
        code = outputs_check(r->args, r->source != NULL);
    if (code == SAY_DONE)
        code = run_log_open(&r->run_log, r->args, &r->terminal);
    if (code == SAY_DONE)
        code = run_metrics_open(&r->run_metrics, r->args, r->run_log.log);
    if (code == SAY_DONE)
        code = wire_trace_open(&r->wire_trace, r->args, &r->terminal);
    if (code == SAY_DONE)
        code =
            run_traces_open(r->args, r->run_log.log, r->run_metrics.metrics, &r->traces);
    r->job.has_secret = r->plan.request.is_typed || (r->source && r->source->has_secret);
    r->job.source = r->source;
    if (code == SAY_DONE) /* behind all that can be refused: it may remove an old job */
        code = run_job_open(r->args, &r->job);
    if (code == SAY_DONE && r->job.fleet && r->source)
        r->source->join(r->job.fleet, r->source->arg);
    if (code == SAY_DONE && r->job.fleet)
        code = fleet_run_give(r->args, &r->job, &r->feed);
    hooks.job = r->job.job;
    hooks.data = (const char *const *)r->plan.data;
    hooks.open = r->source ? r->source->open : NULL;
    hooks.open_arg = r->source ? r->source->arg : NULL;
    hooks.metrics = r->run_metrics.metrics;
    if (code == SAY_DONE)
        code = outputs_open(r->args, &r->plan.fields, &r->terminal, &hooks, &r->outputs);
    if (code == SAY_DONE)
        r->progress = choose_progress(r);
    return code;
}

/* Writes the files that are no outputs. False: one of them cannot be written, which was
 * said. */
static bool
save_files(run *r)
{
    bool fine = cookies_save(r->set, r->plan.opts.jar, &r->run_log) == SAY_DONE;

    if (!run_metrics_write(&r->run_metrics)) {
        run_log_fail(&r->run_log, SEINE_E_IO, "another name",
                     "--metrics-file: cannot write '%s': %s",
                     show(r->set->metrics_file).text, show_errno(errno).text);
        fine = false;
    }
    uint64_t lines = run_log_flush(&r->run_log);
    if (lines > 0) {
        say_fail(SAY_MACHINE, "another name", "--log-file: '%s' did not take %s line%s",
                 show(r->set->log_file).text, figure_count(lines).text,
                 lines == 1 ? "" : "s");
        fine = false;
    }
    return fine;
}

/* Nothing is traced behind it. A fetch that could not begin is stopped at once. */
static void
end_fetch(seine_fetch *f)
{
    if (f && !seine_fetch_is_done(f)) {
        seine_fetch_stop(f, SEINE_E_CANCELED);
        seine_fetch_stop(f, SEINE_E_CANCELED);
    }
    (void)!seine_fetch_finish(f, NULL); /* of NULL, too: seine_fetch_err has told it */
}

static int
run_all(const args *a, const run_source *source)
{
    run *r = xalloc_zeroed(1, sizeof *r);

    r->args = a;
    r->source = source;
    r->set = a->settings;
    r->run_log.fd = r->wire_trace.fd = -1;
    if (crawl_is_asked(a) && a->count > 0 && strcmp(a->words[0], "-") != 0)
        snprintf(r->name, sizeof r->name, "%s",
                 host_of(a->words[0], strlen(a->words[0])).text);
    r->screen = screen_look_at(STDERR_FILENO, a->color);
    pthread_mutex_init(&r->lock, NULL);
    terminal_init(&r->terminal, isatty(STDOUT_FILENO));
    watchdog_hooks hooks = {
        .hurry = on_hurry, .progress = on_progress, .halt = on_halt, .arg = r};
    bool guarded = true;
    if (run_host_is_inner(a)) /* signals are for the process */
        r->watchdog = (watchdog){.fd = -1, .to_main = -1, .signals = -1, .wake = -1};
    else
        guarded =
            watchdog_start(&r->watchdog, &hooks, limit_of(r, deadline_of(r, now_is())));
    r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int code = !guarded || r->wake < 0
                   ? say_fail(SAY_MACHINE, "ulimit -n 1024", "no file descriptor left")
                   : prepare_run(r);
    bool ready = code == SAY_DONE;
    if (code == FLEET_RUN_SUBMITTED)
        code = SAY_DONE;
    watch watched = {.console = NULL};
    args with_watch = *a;
    if (ready && r->set->watch && !a->host) {
        code = watch_open(&watched, r->name[0] ? r->name : a->command->name);
        with_watch.host = &watched.host;
        r->args = &with_watch;
    }
    if (ready && code == SAY_DONE)
        code = start_and_wait(r);
    watch_close(&watched, code);
    seine_fleet_stop(r->job.fleet);
    if (ready)
        host_metrics_end(&r->run_metrics.hosts, r->fetch);
    end_fetch(r->fetch);
    run_traces_close(a, r->traces); /* before the metrics are written for the last time */
    if (ready && code != SAY_USAGE && !save_files(r))
        code = SAY_MACHINE;
    seine_fetch_free(r->fetch); /* after it, since gauges of limiters fall with it */
    seine_cookie_jar_free(r->plan.opts.jar);
    set_sinks(NULL, r);
    outputs_free(&r->outputs);
    if (r->job.job && !r->job.fleet && r->source && r->is_finished)
        r->source->finish(r->job.job, r->source->arg);
    if (r->job.job && run_job_close(&r->job, r->is_finished) != SAY_DONE)
        code = SAY_MACHINE;
    if (!ready && code == SAY_USAGE)
        run_job_undo(&r->job, r->args);
    run_metrics_close(&r->run_metrics);
    run_log_close(&r->run_log);
    wire_trace_close(&r->wire_trace);
    feed_free(&r->feed);
    failures_free(&r->failures);
    strays_free(&r->strays);
    fetch_plan_free(&r->plan);
    if (watchdog_number(&r->watchdog) && code != SAY_USAGE && code != SAY_MACHINE)
        code = SAY_SIGNAL + watchdog_number(&r->watchdog);
    watchdog_stop(&r->watchdog);
    terminal_fini(&r->terminal);
    pthread_mutex_destroy(&r->lock);
    if (r->wake >= 0)
        close(r->wake);
    free(r);
    return code;
}

int
fetch_run(const args *a)
{
    const fetch_settings *set = a->settings;
    char *state = NULL;
    int code = mirror_opts_apply(a, &state);

    if (code == SAY_DONE)
        code = set->plan ? crawl_plan_show(a) : run_all(a, NULL);
    free(state);
    return code;
}

int
fetch_run_from(const args *a, const run_source *source)
{
    return run_all(a, source);
}
