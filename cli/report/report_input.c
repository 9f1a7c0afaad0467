/* SPDX-License-Identifier: Apache-2.0 */
#include "report/report_input.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seine/format.h>

#include "jobs/job_command.h"
#include "jobs/job_hint.h"
#include "screen/say.h"
#include "screen/xalloc.h"

/* The output of the job that says most: JSON lines before a database before CSV. */
typedef struct choice {
    char *path;
    int worth;
} choice;

static void
weigh_output(const seine_job_output *o, void *arg)
{
    choice *c = arg;
    seine_sink_format format = seine_format_of_output(o->path, NULL);
    int worth = format == SEINE_SINK_JSONL    ? 4
                : format == SEINE_SINK_SQLITE ? 3
                : format == SEINE_SINK_CSV    ? 2
                : format == SEINE_SINK_WARC   ? 1
                                              : 0;

    if (worth <= c->worth || access(o->path, R_OK) != 0)
        return;
    free(c->path);
    *c = (choice){xalloc_copy(o->path, strlen(o->path)), worth};
}

static int
read_file(const char *path, seine_line_fn fn, void *arg)
{
    seine_diag diag = SEINE_DIAG;
    char line[SEINE_DIAG_ROOM];
    seine_err e = seine_lines_each(path, fn, arg, &diag);

    if (e == SEINE_OK)
        return SAY_DONE;
    if (seine_diag_print(&diag, NULL, line, sizeof line) == 0)
        snprintf(line, sizeof line, "%s: %s", show(path).text, seine_err_text(e));
    return say_fail(e == SEINE_E_NOMEM || e == SEINE_E_IO ? SAY_MACHINE : SAY_USAGE,
                    "a job, or records as JSON lines, CSV, SQLite or WARC", "%s", line);
}

/* A timeline that cannot be read is no reason to show nothing. */
static void
read_timeline(seine_job_view *view, const char *path, const report_taker *to)
{
    seine_diag diag = SEINE_DIAG;
    seine_err e = SEINE_OK;

    if (to->timeline && view)
        e = seine_job_view_timeline(view, to->timeline);
    else if (to->timeline && path && strcmp(path, "-") != 0)
        e = seine_timeline_read(to->timeline, path, &diag);
    if (e != SEINE_OK)
        say_note("the timeline cannot be read: %s", seine_err_text(e));
}

static char *
copy_text(const char *text)
{
    return text && text[0] ? xalloc_copy(text, strlen(text)) : NULL;
}

static int
read_state(seine_job_view *view, const char *name, const report_taker *to)
{
    seine_err e = seine_job_view_records(view, to->record, to->arg);

    return e == SEINE_OK
               ? SAY_DONE
               : say_fail(e == SEINE_E_NOMEM || e == SEINE_E_IO ? SAY_MACHINE : SAY_USAGE,
                          "seine jobs repair", "job '%s' cannot be read: %s",
                          show(name).text, seine_err_text(e));
}

static int
read_job(seine_job_view *view, const report_taker *to, report_job *out_job)
{
    const seine_job_about *about = seine_job_view_about(view);
    choice c = {NULL, 0};

    if (about->err != SEINE_OK)
        return say_fail(SAY_USAGE, job_hint_about("jobs repair", about).text, "%s",
                        about->why);
    snprintf(out_job->name, sizeof out_job->name, "%s", about->name);
    out_job->command = job_command_text(about);
    out_job->words = copy_text(about->command);
    out_job->spec = copy_text(about->spec);
    out_job->pending = about->pending;
    out_job->status = about->status;
    out_job->is_finished = about->status == SEINE_JOB_IS_FINISHED;
    seine_job_view_outputs(view, weigh_output, &c);
    out_job->is_bare = !c.path;
    read_timeline(view, NULL, to);
    if (!c.path && to->record)
        return read_state(view, about->name, to);
    if (!c.path)
        return say_fail(SAY_USAGE,
                        "-o FILE.jsonl with the command of the job, or seine jobs show",
                        "job '%s' has no output to read records from", about->name);
    int code = read_file(c.path, to->line, to->arg);
    free(c.path);
    return code;
}

int
report_input_read(const char *state, const char *name, const report_taker *to,
                  report_job *out_job)
{
    seine_job_view *view = NULL;
    seine_diag diag = SEINE_DIAG;
    struct stat st;

    *out_job = (report_job){.is_finished = true};
    bool is_file =
        strcmp(name, "-") == 0 || (stat(name, &st) == 0 && !S_ISDIR(st.st_mode));
    if (is_file) {
        int code = read_file(name, to->line, to->arg);

        if (code == SAY_DONE)
            read_timeline(NULL, name, to);
        return code;
    }
    if (seine_job_view_open(state, name, &view, &diag) != SEINE_OK)
        return say_fail(SAY_USAGE, "a file of records, or a job of seine jobs ls",
                        "there is no file and no job '%s'", show(name).text);
    int code = read_job(view, to, out_job);
    seine_job_view_free(view);
    return code;
}

void
report_job_free(report_job *j)
{
    free(j->command);
    free(j->words);
    free(j->spec);
    *j = (report_job){.name = ""};
}
