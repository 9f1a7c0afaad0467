/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The durable job of a check. The crawl of the sites is a job like any other; its only
 * output is a file of whole pages beside the state, so that the links of a page are known
 * again after a kill. Answers for single links are lines of a second file. A run that
 * goes on reads both and asks for the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/convert.h>

#include "check/check.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"

#define PAGES   "pages.jsonl.zst"
#define ANSWERS "answers.jsonl"

bool
check_job_is_on(const check *c)
{
    return c->job.run.job != NULL;
}

/* The path of a file of the job; the caller frees it. */
static char *
path_of(const check *c, const char *name)
{
    textbuf out = {NULL, 0, 0};

    textbuf_put(&out, "%s/%s", seine_job_path(c->job.run.job), name);
    return out.text;
}

int
check_job_open(check *c)
{
    check_job *j = &c->job;

    j->answers = -1;
    j->run.has_secret = c->plan.request.is_typed;
    if (c->set->net.job && c->set->net.job[0] && (c->set->offline || c->set->dump))
        return say_fail(SAY_USAGE, "leave out --job",
                        "--%s asks for nothing that a job could keep",
                        c->set->offline ? "offline" : "dump");
    return run_job_open(c->args, &j->run);
}

static void
on_failed(seine_err e, void *arg)
{
    check *c = arg;
    int none = SEINE_OK;

    atomic_compare_exchange_strong(&c->job.failed, &none, (int)e);
}

static void
on_room(void *arg)
{
    check *c = arg;
    seine_fetch *fetch = atomic_load(&c->job.fetch);

    if (fetch)
        seine_fetch_wake(fetch);
}

static seine_err
on_page(const seine_record *r, uint64_t seq, void *arg)
{
    check *c = arg;

    (void)seq;
    c->job.take(r, c->job.arg);
    return SEINE_OK;
}

static bool
on_kept(const seine_record *r, uint64_t seq, void *arg)
{
    check *c = arg;

    (void)seq;
    c->job.take(r, c->job.arg);
    return true;
}

/* Says why a file of the job cannot be used. */
static int
fail_file(check *c, seine_err e, const seine_diag *diag)
{
    char why[SEINE_DIAG_ROOM] = "";

    if (seine_diag_print(diag, NULL, why, sizeof why) == 0)
        snprintf(why, sizeof why, "%s", seine_err_text(e));
    run_log_fail(&c->log, e,
                 e == SEINE_E_DISK_FULL ? "free some space, then the same command again"
                                        : "--fresh to start over",
                 "%s", why);
    return SAY_MACHINE;
}

static seine_err
open_sinks(check *c, const char *path, seine_diag *diag)
{
    seine_sinks_opts all = SEINE_SINKS_OPTS;
    seine_sink_opts file = SEINE_SINK_OPTS, call = SEINE_SINK_OPTS;

    all.job = c->job.run.job;
    all.room = on_room;
    all.failed = on_failed;
    all.arg = c;
    file.path = path;
    file.body = SEINE_BODY_B64;
    file.command = "check";
    call.format = SEINE_SINK_CALL;
    call.call = on_page;
    call.arg = c;
    seine_err e = seine_sinks_new(&all, &c->job.pages);
    if (e == SEINE_OK)
        e = seine_sinks_open(c->job.pages, &file, diag);
    return e == SEINE_OK ? seine_sinks_open(c->job.pages, &call, diag) : e;
}

int
check_job_begin_pages(check *c, unsigned threads, check_take_fn take, void *arg)
{
    char *path = path_of(c, PAGES);
    seine_diag diag = SEINE_DIAG;

    c->job.take = take;
    c->job.arg = arg;
    seine_err e = open_sinks(c, path, &diag);
    if (e == SEINE_OK) {
        e = seine_sinks_start(c->job.pages, threads); /* cuts what was not committed */
        if (e != SEINE_OK)
            (void)!seine_sinks_err(c->job.pages, &diag);
    }
    if (e == SEINE_OK && c->job.run.is_resumed)
        e = seine_records_each(path, on_kept, c, &diag);
    free(path);
    return e == SEINE_OK ? SAY_DONE : fail_file(c, e, &diag);
}

void
check_job_put(check *c, unsigned shard, const seine_record *r)
{
    if (seine_sinks_put(c->job.pages, shard, r) != SEINE_OK)
        on_failed(SEINE_E_NOMEM, c);
}

bool
check_job_has_room(const check *c, unsigned shard)
{
    return seine_sinks_poll(c->job.pages, shard);
}

int
check_job_end_pages(check *c)
{
    seine_diag diag = SEINE_DIAG;
    seine_err e = c->job.pages ? seine_sinks_close(c->job.pages) : SEINE_OK;

    if (e == SEINE_OK)
        e = (seine_err)atomic_load(&c->job.failed);
    if (e != SEINE_OK)
        (void)!seine_sinks_err(c->job.pages, &diag);
    seine_sinks_free(c->job.pages);
    c->job.pages = NULL;
    return e == SEINE_OK ? SAY_DONE : fail_file(c, e, &diag);
}

/* Answers of single links */

int
check_job_begin_answers(check *c, check_take_fn take, void *arg)
{
    char *path = path_of(c, ANSWERS);
    seine_diag diag = SEINE_DIAG;
    seine_err e = SEINE_OK;

    c->job.take = take;
    c->job.arg = arg;
    if (c->job.run.is_resumed && access(path, F_OK) == 0)
        e = seine_records_each(path, on_kept, c, &diag);
    if (e == SEINE_OK && (c->job.answers = seine_file_append(path)) < 0) {
        run_log_fail(&c->log, SEINE_E_IO, "--fresh to start over",
                     "cannot write '%s': %s", show(path).text, show_errno(errno).text);
        free(path);
        return SAY_MACHINE;
    }
    free(path);
    return e == SEINE_OK ? SAY_DONE : fail_file(c, e, &diag);
}

void
check_job_keep_answer(check *c, const seine_record *r, bool with_body)
{
    enum { ROOM = 4096 };
    seine_body_form form = with_body ? SEINE_BODY_B64 : SEINE_BODY_NONE;
    char small[ROOM], *line = small;

    if (c->job.answers < 0)
        return;
    small[0] = '\n'; /* ends a line that a kill has cut */
    size_t n = seine_record_json(r, 1, NULL, form, line + 1, ROOM - 1) + 1;
    if (n > ROOM) {
        line = xalloc_zeroed(1, n);
        line[0] = '\n';
        seine_record_json(r, 1, NULL, form, line + 1, n - 1);
    }
    if (write(c->job.answers, line, n) != (ssize_t)n)
        on_failed(errno == ENOSPC ? SEINE_E_DISK_FULL : SEINE_E_IO, c);
    if (line != small)
        free(line);
}

void
check_job_end_answers(check *c)
{
    if (c->job.answers >= 0)
        close(c->job.answers);
    c->job.answers = -1;
}

/* The socket */

static void
on_told_to_stop(void *arg)
{
    check *c = arg;

    atomic_store(&c->job.is_told, true);
}

static void
on_told(const char *line, void *arg)
{
    check *c = arg;

    if (terminal_is_free(&c->terminal))
        run_log_note(&c->log, "job.control", "seine: job '%s': %s", c->job.run.name,
                     line);
}

void
check_job_listen(check *c, seine_fetch *fetch)
{
    control_hooks hooks = {
        .fetch = fetch, .stop = on_told_to_stop, .say = on_told, .arg = c};

    if (!check_job_is_on(c))
        return;
    atomic_store(&c->job.fetch, fetch);
    c->job.control = control_open(seine_job_path(c->job.run.job), &hooks);
}

void
check_job_hang_up(check *c)
{
    control_close(c->job.control);
    c->job.control = NULL;
    atomic_store(&c->job.fetch, NULL);
}

int
check_job_close(check *c, bool is_finished)
{
    if (!check_job_is_on(c))
        return SAY_DONE;
    check_job_end_answers(c);
    char *pages = path_of(c, PAGES), *answers = path_of(c, ANSWERS);
    int code = run_job_close(&c->job.run, is_finished);

    if (is_finished && code == SAY_DONE) { /* the next run begins anew */
        unlink(pages);
        unlink(answers);
    }
    free(pages);
    free(answers);
    return code;
}
