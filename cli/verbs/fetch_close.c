/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seine/calendar.h>
#include <seine/fetch_control.h>
#include <seine/format.h>
#include <seine/plumbing.h>
#include <seine/timeline.h>

#include "jobs/job_command.h"
#include "screen/closing.h"
#include "screen/say.h"
#include "verbs/fetch_state.h"
#include "verbs/mirror.h"
#include "verbs/verbs.h"

enum { FEW = 10 }; /* URLs whose rows say enough: no table follows */

stamp
stamp_of(int64_t wall)
{
    stamp out;
    seine_date d = seine_calendar_date(wall / SEINE_SECS(1));

    snprintf(out.text, sizeof out.text, "%04d-%02d-%02dT%02d:%02d:%02d.%06dZ",
             d.year % 10000, d.month % 100, d.day % 100, d.hour % 100, d.minute % 100,
             d.second % 100, (int)(wall % SEINE_SECS(1) / 1000));
    return out;
}

static seine_err
run_failure(const run *r)
{
    return (seine_err)atomic_load(&r->failed);
}

/* Why the URLs that a crawl has found could not be kept; OK: they could. */
static seine_err
store_failure(const run *r)
{
    return seine_fetch_err(r->fetch, NULL);
}

/* URLs that are worth another try when their host is back. */
static uint64_t
given_up(const seine_tally_sums *t)
{
    return t->errors[SEINE_E_RETRY_AFTER_TOO_LONG] + t->errors[SEINE_E_BREAKER];
}

static seine_fetch_left
left_of(const run *r)
{
    seine_fetch_left left = {0};

    seine_fetch_left_get(r->fetch, &left);
    return left;
}

/* Whether hosts are out of reach while URLs of theirs are left. */
static bool
is_parked(const run *r, const seine_tally_sums *t, const seine_fetch_stats *s)
{
    seine_fetch_left left = left_of(r);

    return left.parked > 0 || left.robots > 0 || (s->parked > 0 && given_up(t) > 0) ||
           t->skips[SEINE_SKIP_ROBOTS_UNREACHABLE] > 0 ||
           t->errors[SEINE_E_ROBOTS_UNREACHABLE] > 0;
}

static bool
has_work_left(const run *r, const seine_tally_sums *t)
{
    return t->fates[SEINE_FATE_CANCELED] > 0 || left_of(r).urls > 0 ||
           atomic_load(&r->feed.cut);
}

bool
run_is_finished(const run *r)
{
    seine_fetch_stats s;

    seine_fetch_stats_get(r->fetch, &s);
    if (r->job.fleet)
        return seine_fleet_state_get(r->job.fleet) == SEINE_FLEET_OVER;
    return left_of(r).urls == 0 && s.lost == 0 && !atomic_load(&r->feed.cut) &&
           run_failure(r) == SEINE_OK && store_failure(r) == SEINE_OK &&
           atomic_load(&r->feed.failed) == SEINE_OK;
}

/* Whether the run failed. A bad line of the input counts like a URL that failed. A worker
 * of a fleet may have had nothing but links that are not followed. */
static bool
is_failed(const run *r, const seine_tally_sums *t)
{
    uint64_t lines = r->limits.bad_lines;
    uint64_t results = t->total - t->skipped + lines,
             bad = t->failed + t->blocked + lines;

    if (!r->job.fleet && ((results == 0 && t->skips[SEINE_SKIP_BUDGET] < t->skipped) ||
                          strays_are_all(&r->strays)))
        return r->plan.fail_on.all || r->plan.fail_on.count > 0 ||
               r->plan.fail_on.percent > 0;
    return quota_is_reached(&r->plan.fail_on, bad, results);
}

/* Whether the reader of an output has gone, or did not read before the run had to end. */
static bool
has_no_reader(seine_err e)
{
    return e == SEINE_E_OUTPUT_CLOSED || e == SEINE_E_DEADLINE;
}

int
run_exit_code(const run *r, const closing *c)
{
    const seine_tally_sums *t = &c->sums;
    seine_err e = run_failure(r);
    seine_err input = (seine_err)atomic_load(&r->feed.failed);

    if ((e != SEINE_OK && !has_no_reader(e)) || input != SEINE_OK ||
        store_failure(r) != SEINE_OK)
        return SAY_MACHINE;
    if (r->signal)
        return SAY_SIGNAL + r->signal;
    if (e == SEINE_E_OUTPUT_CLOSED)
        return SAY_PIPE;
    if (e == SEINE_E_DEADLINE)
        return SAY_EARLY;
    if (is_parked(r, t, &c->stats))
        return SAY_PARKED;
    if ((r->is_late || atomic_load(&r->too_many)) && has_work_left(r, t))
        return SAY_EARLY;
    if (limits_surprise(&r->limits, r->args, c))
        return SAY_EARLY;
    return !r->source && is_failed(r, t) ? SAY_FAILED : SAY_DONE;
}

const char *
run_stopped_by(const run *r, const seine_tally_sums *t, const seine_fetch_stats *s)
{
    seine_err e = run_failure(r), store = store_failure(r);

    if (e == SEINE_E_NOMEM || store == SEINE_E_NOMEM ||
        atomic_load(&r->feed.failed) == SEINE_E_NOMEM)
        return "memory";
    if ((e != SEINE_OK && !has_no_reader(e)) || store != SEINE_OK)
        return "disk";
    if (e == SEINE_E_OUTPUT_CLOSED && !r->signal)
        return "pipe";
    if (r->signal)
        return "signal";
    if (e == SEINE_E_DEADLINE)
        return "max_time";
    if (is_parked(r, t, s))
        return "parked";
    if (r->is_late && has_work_left(r, t))
        return "max_time";
    if (atomic_load(&r->too_many) && has_work_left(r, t))
        return "max_errors";
    return "done";
}

/* The signal that ended the run; `seine jobs stop` is as good as TERM. */
static int
signal_of(run *r)
{
    int number = watchdog_number(&r->watchdog);

    return number == 0 && atomic_load(&r->is_told) ? SIGTERM : number;
}

/* How many of the records that the run made came after the failure of an output: nothing
 * counts them but the run. A job does their URLs again. */
static uint64_t
unwritten_of(const run *r, const closing *c)
{
    uint64_t made = c->stats.done + c->stats.refused;

    return r->job.job || run_failure(r) == SEINE_OK || made < c->sums.total
               ? 0
               : made - c->sums.total;
}

static void
collect_facts(run *r, closing *c)
{
    seine_clock *clock = seine_clock_system();

    *c = (closing){.bins = r->outputs.bins, .opts = &r->plan.opts};
    seine_tally_sums_get(r->outputs.tally, &c->sums);
    seine_fetch_stats_get(r->fetch, &c->stats);
    c->left = left_of(r);
    c->unwritten = unwritten_of(r, c);
    c->wall = clock->now(clock) - r->start;
    c->rate_wait = seine_fetch_rate_wait(r->fetch);
    r->signal = signal_of(r); /* it may have come since the last look */
    c->stopped_by = run_stopped_by(r, &c->sums, &c->stats);
    c->has_told_depth = !options_given(r->args, "depth");
    c->has_told_offsite = r->strays.n > 0;
    closing_hosts(c, r->fetch);
}

/* URLs without a record. After a failure of this machine records that were made may be
 * lost: then the job knows how many the next run has to do. */
static uint64_t
pending_of(const run *r, const closing *c)
{
    seine_job_figures f;

    if (r->job.job && (run_failure(r) != SEINE_OK || store_failure(r) != SEINE_OK ||
                       r->outputs.ordered)) { /* some records wait for others */
        seine_job_figures_get(r->job.job, &f);
        return f.found - f.ended + r->feed.unread.urls;
    }
    return c->stats.lost + c->left.urls + c->unwritten + r->feed.unread.urls;
}

static run_end
end_of(const run *r, const closing *c)
{
    return (run_end){.wall = c->wall,
                     .code = run_exit_code(r, c),
                     .is_stopped = strcmp(c->stopped_by, "done") != 0,
                     .stopped_by = c->stopped_by};
}

/* What the source has found counts, unless something worse has happened. */
static int
code_of(const run *r, const closing *c)
{
    int code = run_exit_code(r, c);
    bool is_mild = code == SAY_DONE || code == SAY_EARLY || code == SAY_FAILED;

    return r->source && is_mild ? r->judged : code;
}

/* What the run was like over time, for databases and pages; NULL: nobody asks for it, or
 * memory is short. */
static seine_timeline *
write_timeline(run *r)
{
    seine_timeline *t = NULL;

    if (!r->plan.opts.timeline || seine_timeline_new(&t) != SEINE_OK)
        return NULL;
    if (seine_fetch_timeline(r->fetch, t) != SEINE_OK ||
        seine_sinks_timeline(r->outputs.sinks, t) != SEINE_OK) {
        seine_timeline_free(t);
        return NULL;
    }
    return t;
}

/* The end of a round says which pages nothing names any more. False: memory is short. */
static bool
write_orphans(run *r)
{
    if (!r->set->events || !r->set->incremental || !r->job.job || r->job.fleet ||
        !run_is_finished(r))
        return true;
    return seine_sinks_orphans(r->outputs.sinks) == SEINE_OK;
}

/* Writes the summary record to every JSON lines output. */
static bool
write_summary(run *r, const closing *c, seine_text *members)
{
    limit_row rows[LIMITS_MOST];
    seine_tally_limit told[LIMITS_MOST];
    size_t n = limits_list(&r->limits, r->args, c, rows);
    const feed_unread *u = &r->feed.unread;
    seine_tally_run about = {
        .command = r->args->command->name,
        .stopped_by = c->stopped_by,
        .pending = pending_of(r, c),
        .resumable = r->job.job && !run_is_finished(r),
        .limits = told,
        .n_limits = n,
        .unread = u->input,
        .unread_line = u->line,
        .duplicates = c->stats.duplicates,
        .wall = c->wall,
        .exit_code = run_exit_code(r, c),
        .stats = &c->stats,
        .top = c->hosts,
        .n_top = c->n_hosts,
    };

    for (size_t i = 0; i < n; i++)
        told[i] = (seine_tally_limit){rows[i].name, rows[i].n};
    if (seine_tally_members(r->outputs.tally, &about, members) != SEINE_OK)
        return false;
    if (r->source) {
        run_end end = end_of(r, c);
        r->judged = r->source->judge(&end, members, r->source->arg);
    }
    if (r->set->summary && !r->set->summary[0]) {
        seine_text_free(members);
        return true;
    }
    seine_err e = about.resumable ? seine_sinks_last_line(r->outputs.sinks, "summary",
                                                          members->bytes, members->len)
                                  : seine_sinks_end_line(r->outputs.sinks, "summary",
                                                         members->bytes, members->len);
    return e == SEINE_OK;
}

/* Writes the summary to the file of --summary. */
static int
write_summary_file(run *r, const seine_text *members)
{
    seine_clock *clock = seine_clock_system();
    seine_sinks_stats stats;
    textbuf line = {NULL, 0, 0};

    if (!r->set->summary || !r->set->summary[0] || !members->bytes)
        return SAY_DONE;
    seine_sinks_stats_get(r->outputs.sinks, &stats);
    textbuf_put(&line, "{\"v\":1,\"type\":\"summary\",");
    if (r->job.job)
        textbuf_put(&line, "\"job\":\"%s\",", r->job.name);
    textbuf_put(&line, "\"seq\":%llu,\"ts\":\"%s\",", (unsigned long long)stats.seq,
                stamp_of(clock->wall(clock)).text);
    textbuf_add(&line, members->bytes, members->len);
    textbuf_put(&line, "}\n");
    bool fine = strcmp(r->set->summary, "-") == 0
                    ? terminal_text(&r->terminal, line.text, line.len) == 0
                    : seine_file_replace(r->set->summary, line.text, line.len);
    int why = errno;
    textbuf_free(&line);
    if (fine)
        return SAY_DONE;
    run_log_fail(&r->run_log, SEINE_E_IO, "another name",
                 "--summary: cannot write '%s': %s", show(r->set->summary).text,
                 show_errno(why).text);
    return SAY_MACHINE;
}

/* Who fetches one URL with -o page.html may have meant its page. */
static void
say_what_page(run *r)
{
    const char *name = r->set->output.count == 1 ? r->set->output.items[0] : "";

    if (r->args->command != &cmd_fetch || r->args->count != 1 ||
        r->set->input.count > 0 || report_sink_path(name) != name)
        return;
    run_log_note(&r->run_log, "output.report",
                 "seine: %s is a report of this run; the page itself: seine fetch --raw "
                 "URL > %s",
                 show(name).text, show(name).text);
}

/* Writes the pages of -o run.html. */
static int
write_pages(run *r, const closing *c, const seine_text *members,
            const seine_timeline *timeline)
{
    const char *path = NULL;
    char *words = job_command_make(r->args, false); /* secrets are wiped out of it */
    report_sink_about about = {
        .title = r->job.job   ? r->job.name
                 : r->name[0] ? r->name
                              : r->args->command->name,
        .job = r->job.job ? r->job.name : "",
        .state = r->set->state,
        .pending = pending_of(r, c),
        .is_finished = run_is_finished(r),
        .summary = members->bytes,
        .summary_len = members->len,
        .words = words,
        .timeline = timeline,
    };
    int why = report_sink_write(&r->outputs.report, &about, &path);
    free(words);

    if (why == 0) {
        say_what_page(r);
        return SAY_DONE;
    }
    run_log_fail(&r->run_log, SEINE_E_IO, say_write_advice(show_errno(why).text),
                 "--output: cannot write '%s': %s", show(path).text,
                 show_errno(why).text);
    return SAY_MACHINE;
}

/* Whether the same command would be refused, since an output is there. */
static bool
is_in_the_way(const run *r)
{
    const fetch_settings *set = r->set;
    struct stat st;

    for (size_t i = 0;
         !r->job.job && !set->append && !set->overwrite && i < set->output.count; i++) {
        seine_sink_format format = SEINE_SINK_AUTO;
        seine_sink_pack pack;
        const char *path = seine_format_split(set->output.items[i], &format, &pack);

        if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode))
            return true;
    }
    return false;
}

static void
say_failed_output(run *r)
{
    char again[128];
    seine_err e = run_failure(r);
    seine_diag diag = SEINE_DIAG;
    char why[SEINE_DIAG_ROOM] = "";
    seine_sinks_stats stats;

    if (e == SEINE_OK || e == SEINE_E_OUTPUT_CLOSED)
        return;
    seine_sinks_stats_get(r->outputs.sinks, &stats);
    if (seine_sinks_err(r->outputs.sinks, &diag) != SEINE_OK)
        seine_diag_print(&diag, NULL, why, sizeof why);
    if (terminal_failed(&r->terminal) == ETIMEDOUT)
        snprintf(why, sizeof why, "nobody reads standard output");
    else if (terminal_failed(&r->terminal))
        snprintf(why, sizeof why, "cannot write standard output: %s",
                 show_errno(terminal_failed(&r->terminal)).text);
    const char *advice = e == SEINE_E_NOMEM      ? "a lower --concurrency or --queue"
                         : e == SEINE_E_DEADLINE ? "a reader that reads, or -o FILE"
                                                 : say_write_advice(why);
    if (strstr(advice, "same command again") && is_in_the_way(r)) {
        snprintf(again, sizeof again, "%s with --overwrite, or --append", advice);
        advice = again;
    }
    /* the message of an output already says what is safe */
    if (strstr(why, " safe") || strstr(why, "may be lost"))
        run_log_fail(&r->run_log, e, advice, "%s", why);
    else
        run_log_fail(&r->run_log, e, advice, "%s; %s record%s safe",
                     why[0] ? why : seine_err_text(e), figure_count(stats.records).text,
                     stats.records == 1 ? " is" : "s are");
}

/* Says why the list of waiting URLs could not be kept, and what became of it. */
static void
say_failed_store(run *r, const closing *c)
{
    seine_diag diag = SEINE_DIAG;
    char why[SEINE_DIAG_ROOM], lost[96] = "";
    seine_sinks_stats stats;
    seine_err e = seine_fetch_err(r->fetch, &diag);

    if (e == SEINE_OK)
        return;
    seine_sinks_stats_get(r->outputs.sinks, &stats);
    if (seine_diag_print(&diag, NULL, why, sizeof why) == 0)
        snprintf(why, sizeof why, "%s", seine_err_text(e));
    if (c->stats.lost > 0)
        snprintf(lost, sizeof lost, ", %s URL%s cannot be read and ha%s none",
                 figure_count(c->stats.lost).text, c->stats.lost == 1 ? "" : "s",
                 c->stats.lost == 1 ? "s" : "ve");
    const char *advice = e == SEINE_E_NOMEM ? "a lower --concurrency or --queue"
                         : e == SEINE_E_NO_FILES
                             ? "ulimit -n 4096"
                             : "TMPDIR=DIR on another disk, or a larger "
                               "--max-memory";
    run_log_fail(&r->run_log, e, advice, "%s; %s record%s safe%s", why,
                 figure_count(stats.records).text, stats.records == 1 ? " is" : "s are",
                 lost);
}

static void
say_failed_input(run *r)
{
    seine_err e = (seine_err)atomic_load(&r->feed.failed);
    char line[SEINE_DIAG_ROOM];

    if (e == SEINE_OK)
        return;
    size_t n = seine_diag_print(&r->feed.diag, NULL, line, sizeof line);
    bool has_no_column = strcmp(r->feed.diag.member, "url_column") == 0;
    bool is_closed = n > 0 && strstr(line, show_errno(EBADF).text);
    run_log_fail(&r->run_log, e,
                 has_no_column ? "--url-column NAME"
                 : is_closed   ? "leave it open for reading: <&- closes it"
                               : "the rest of the list again",
                 "%s", n > 0 ? line : seine_err_text(e));
}

static void
say_parked(run *r, const closing *c)
{
    seine_clock *clock = seine_clock_system();
    const parked *p = &r->parked;
    char when[120], more[64] = "";

    uint64_t n = given_up(&c->sums) + c->left.parked;
    const char *left = r->job.job ? "stay pending" : "not tried";

    if (!p->is_set || n == 0)
        return;
    if (c->stats.parked > 1)
        snprintf(more, sizeof more, " (and %s more)",
                 figure_count(c->stats.parked - 1).text);
    if (p->cause == SEINE_E_RETRY_AFTER_TOO_LONG) {
        seine_span wait = p->until == SEINE_NEVER ? 0 : p->until - clock->now(clock);

        snprintf(when, sizeof when,
                 "the same command after %s, or a longer --max-retry-after",
                 figure_moment(clock->wall(clock), wait).text);
        run_log_fail(
            &r->run_log, p->cause, when,
            "%s%s asks to wait longer than --max-retry-after %s: host parked, %s URLs %s",
            p->host, more, figure_span(r->plan.opts.max_retry_after).text,
            figure_count(n).text, left);
        return;
    }
    run_log_fail(&r->run_log, p->cause == SEINE_OK ? SEINE_E_BREAKER : p->cause,
                 "the same command when it is back, or --breaker off",
                 "%s%s kept failing (%s): host parked, %s URLs %s", p->host, more,
                 seine_err_name(p->cause == SEINE_OK ? SEINE_E_BREAKER : p->cause),
                 figure_count(n).text, left);
}

/* Names the first host whose robots.txt did not come. */
static void
say_unreachable(run *r, const closing *c)
{
    uint64_t n = c->sums.skips[SEINE_SKIP_ROBOTS_UNREACHABLE] + c->left.robots;

    if (n == 0)
        return;
    run_log_fail(&r->run_log, SEINE_E_ROBOTS_UNREACHABLE,
                 "the same command later, or --robots off if the host is yours",
                 "robots.txt of %s could not be had: %s URL%s not asked for",
                 r->unreachable, figure_count(n).text, n == 1 ? "" : "s");
}

/* A command that reads the rest of a list, if lines are all there is to it. */
static bool
shows_rest(const run *r, char *out, size_t cap)
{
    static const char *const packed[] = {".gz", ".zst", ".csv", ".xml", ".html", ".warc"};
    const feed_unread *u = &r->feed.unread;
    size_t n = strlen(u->input);

    for (size_t i = 0; i < sizeof packed / sizeof *packed; i++)
        if (strlen(packed[i]) < n &&
            strcmp(u->input + n - strlen(packed[i]), packed[i]) == 0)
            return false;
    snprintf(out, cap, "tail -n +%llu %s | seine %s -", (unsigned long long)u->line + 1,
             show(u->input).text, r->args->command->name);
    return strcmp(u->input, "-") != 0;
}

/* Says where reading stopped, and how much of the input is left. The rest of the list is
 * all there is to do only if what was read has its records: a job knows better, and an
 * output that fails has lost some. */
static void
say_unread(run *r)
{
    const feed_unread *u = &r->feed.unread;
    bool has_failed = run_failure(r) != SEINE_OK || store_failure(r) != SEINE_OK;
    char where[200] = "", left[64], hint[200];

    if (u->urls == 0 && !u->is_more)
        return;
    if (u->input)
        snprintf(where, sizeof where, " at line %s of %s", figure_count(u->line).text,
                 strcmp(u->input, "-") == 0 ? "standard input" : show(u->input).text);
    snprintf(left, sizeof left, "%s%s URL%s", u->is_more ? "more than " : "",
             figure_count(u->urls).text, u->urls == 1 ? " was" : "s were");
    const char *what = u->input && shows_rest(r, hint, sizeof hint)
                           ? hint
                           : "the rest of the list again";
    run_log_fail(&r->run_log, SEINE_E_CANCELED,
                 r->job.job   ? "the same command again"
                 : has_failed ? NULL
                              : what,
                 "reading stopped%s: %s not read", where,
                 u->urls > 0 ? left : "the rest was");
}

/* Says what the job has left to do. After a failure more is left than was counted: what
 * was not committed is done again. */
static void
say_left(run *r, const closing *c)
{
    bool has_failed = run_failure(r) != SEINE_OK || store_failure(r) != SEINE_OK;

    if (!r->job.job || r->is_finished)
        return;
    if (has_failed || c->left.urls == 0)
        run_log_note(&r->run_log, "job.left",
                     "seine: job '%s' is not finished; try: the same command again",
                     r->job.name);
    else
        run_log_note(&r->run_log, "job.left",
                     "seine: job '%s' is not finished: %s URL%s to do; try: the same "
                     "command again",
                     r->job.name, figure_count(c->left.urls).text,
                     c->left.urls == 1 ? " is left" : "s are left");
}

/* Says which limits have bitten, and what to type. What the user has not set is said even
 * if he wants to hear nothing. */
static void
say_limits(run *r, const closing *c)
{
    limit_row rows[LIMITS_MOST];
    size_t n = limits_list(&r->limits, r->args, c, rows);

    for (size_t i = 0; i < n; i++)
        if (rows[i].is_loud)
            run_log_fail(&r->run_log, SEINE_E_BUDGET, rows[i].hint, "%s", rows[i].text);
        else
            run_log_note(&r->run_log, "limit", "seine: %s; try: %s", rows[i].text,
                         rows[i].hint);
}

/* What became of the pages of an incremental crawl. */
static void
say_changes(run *r)
{
    const uint64_t *n = r->outputs.changes;

    run_log_note(&r->run_log, "job.changes",
                 "seine: %s new, %s changed, %s gone, %s same; %s not due",
                 figure_count(n[SEINE_CHANGE_NEW]).text,
                 figure_count(n[SEINE_CHANGE_CHANGED]).text,
                 figure_count(n[SEINE_CHANGE_GONE]).text,
                 figure_count(n[SEINE_CHANGE_SAME]).text,
                 figure_count(seine_fetch_not_due(r->fetch)).text);
}

/* Says in one line that a URL failed: to those who want to hear nothing else, and to
 * machines. */
static void
say_failure(seine_err e, const char *hint, const char *line, void *arg)
{
    run *r = arg;
    textbuf text = {NULL, 0, 0};

    if (!r->run_log.text) {
        run_log_fail(&r->run_log, e, hint, "%s", line);
        return;
    }
    textbuf_put(&text, "seine: %s%s%s\n", line, hint ? "; try: " : "", hint ? hint : "");
    terminal_say(&r->terminal, text.text, text.len);
    textbuf_free(&text);
}

/* Lists what failed; rows on the terminal have shown a few URLs already. */
static void
say_failures(run *r, const closing *c, textbuf *text)
{
    bool few = r->outputs.form == FORM_ROWS && c->sums.total <= FEW && !c->opts->crawl;

    if (r->run_log.text && !r->run_log.quiet)
        failures_put(&r->failures, &r->screen, few, text);
    else
        failures_each(&r->failures, say_failure, r);
}

static void
say_closing(run *r, const closing *c)
{
    textbuf text = {NULL, 0, 0};
    bool table = r->run_log.text && !r->run_log.quiet && c->sums.total > FEW &&
                 (isatty(STDERR_FILENO) || r->set->verbose > 0);

    if (r->set->incremental)
        say_changes(r);
    if (r->source) {
        run_end end = end_of(r, c);
        r->source->say(&end, &r->run_log, r->source->arg);
    } else {
        closing_line(c, &text);
        run_log_note(&r->run_log, "job.end", "%s", text.text);
        text.len = 0;
    }
    say_failures(r, c, &text);
    if (table) {
        textbuf_put(&text, "\n");
        closing_table(c, &r->screen, &text);
    }
    if (r->run_log.text && !r->run_log.quiet)
        closing_advice(c, &text);
    if (text.len > 0)
        terminal_tell(&r->terminal, text.text, text.len);
    textbuf_free(&text);
}

int
run_close(run *r)
{
    closing c;
    seine_text members = {NULL, 0};
    int none = SEINE_OK;

    terminal_bar(&r->terminal, "");
    seine_err e = seine_sinks_drain(r->outputs.sinks);
    if (e != SEINE_OK)
        atomic_compare_exchange_strong(&r->failed, &none, (int)e);
    int written = terminal_flush(&r->terminal);
    none = SEINE_OK;
    if (written)
        atomic_compare_exchange_strong(&r->failed, &none, (int)outputs_err_of(written));
    collect_facts(r, &c);
    seine_timeline *timeline = write_timeline(r);
    none = SEINE_OK;
    bool is_told = write_orphans(r);
    if (!(write_summary(r, &c, &members) && is_told) && run_failure(r) == SEINE_OK)
        atomic_compare_exchange_strong(&r->failed, &none, SEINE_E_NOMEM);
    e = seine_sinks_close(r->outputs.sinks);
    none = SEINE_OK;
    if (e != SEINE_OK)
        atomic_compare_exchange_strong(&r->failed, &none, (int)e);
    r->signal = signal_of(r);
    int code = code_of(r, &c);
    if (r->set->mirror && run_failure(r) == SEINE_OK && !mirror_settle(r))
        code = SAY_MACHINE;
    c.stopped_by = run_stopped_by(r, &c.sums, &c.stats);
    int filed = write_summary_file(r, &members);
    if (filed == SAY_DONE)
        filed = write_pages(r, &c, &members, timeline);
    seine_timeline_free(timeline);
    if (filed != SAY_DONE && code != SAY_USAGE)
        code = filed;
    terminal_flush(&r->terminal);
    r->is_finished = run_is_finished(r);
    say_failed_output(r);
    say_failed_store(r, &c);
    say_failed_input(r);
    say_parked(r, &c);
    say_unreachable(r, &c);
    say_unread(r);
    strays_say(&r->strays, r->args->command->name, &r->run_log);
    say_limits(r, &c);
    say_left(r, &c);
    say_closing(r, &c);
    seine_text_free(&members);
    closing_free(&c);
    return code;
}
