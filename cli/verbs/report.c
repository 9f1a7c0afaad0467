/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/plumbing.h>
#include <seine/record_where.h>

#include "report/report.h"
#include "report/report_input.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/verbs.h"

typedef enum form { FORM_TEXT, FORM_HTML, FORM_JSON, FORM_JUNIT, FORM_MARKDOWN } form;

typedef struct settings {
    const char *state, *output, *where;
    int format;
    bool json;
} settings;

static int run_report(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"format", "f", KIND_CHOICE, "auto|text|html|json|junit|md", "auto", AT(format),
     .help = "form of the report; by the name of -o, else text"},
    {"json", "j", KIND_FLAG, AT(json), .help = "the same as --format json"},
    {"output", "o", KIND_FILE, "FILE", AT(output),
     .help = "write it there: .html, .json, .xml (JUnit), .md",
     .more = "The file appears when it is complete, and replaces one that is there."},
    {"where", NULL, KIND_TEXT, "EXPR", AT(where),
     .help = "only the records for which this is true",
     .more = "Members of records, such as `outcome`, `status`, `host`, `url`, `attempts`, `time.total` (ms), `error.kind`, `type`; docs/user/expr.md has the language."},
    {"state", NULL, KIND_FILE, "DIR", ".seine", AT(state), .env = true,
     .help = "where jobs are kept"},
    {.name = NULL},
};

static const example examples[] = {
    {"seine report pages.jsonl", "At a glance:"},
    {"seine report pages.jsonl -o report.html", "A page with charts:"},
    {"seine report pages.jsonl -f md", "For a pull request:"},
    {"seine report pages.jsonl --where 'status >= 500'", "Of some records alone:"},
    {NULL, NULL},
};

const command cmd_report = {
    .name = "report",
    .arguments = "JOB|FILE…",
    .about = "sum up a run: failures, latency, hosts, where the time went",
    .text = "Reads the records of a job or of files (JSON lines, CSV, SQLite, WARC) and says how the run went: what failed and where it was found, statuses and latency over time, "
            "the hosts, what the time went to and the one setting that would help most. The HTML form is one file with charts that needs no network and no script.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = SIZE_MAX,
    .run = run_report,
};
/* clang-format on */

/* Who counts, and which records. */
typedef struct counter {
    report *to;
    seine_record_where *where; /* NULL: all */
    seine_timeline *timeline;
    char *room; /* for a record as a line */
    size_t cap;
} counter;

/* The summary says how the run went, whatever is chosen. */
static bool
is_summary(seine_view line)
{
    static const char mark[] = "{\"v\":1,\"type\":\"summary\"";

    return line.len >= sizeof mark - 1 && memcmp(line.ptr, mark, sizeof mark - 1) == 0;
}

static bool
take_line(const char *text, size_t n, void *arg)
{
    counter *c = arg;
    seine_view line = {text, n};

    if (!c->where || is_summary(line) || seine_record_where_has(c->where, text, n))
        report_line(c->to, line);
    return true;
}

/* A record of a job that has no output. */
static void
take_record(const seine_record *r, void *arg)
{
    counter *c = arg;
    entry e;

    if (c->where) {
        size_t n = seine_record_json(r, 0, NULL, SEINE_BODY_NONE, c->room, c->cap);

        if (n > c->cap) {
            free(c->room);
            c->cap = n + 4096;
            c->room = xalloc_zeroed(1, c->cap);
            n = seine_record_json(r, 0, NULL, SEINE_BODY_NONE, c->room, c->cap);
        }
        if (!seine_record_where_has(c->where, c->room, n))
            return;
    }
    entry_of_kept(r, &e);
    report_add(c->to, &e);
}

static bool
ends_with(const char *name, const char *ending)
{
    size_t n = strlen(name), k = strlen(ending);

    return n > k && strcmp(name + n - k, ending) == 0;
}

static form
form_of(const settings *set)
{
    static const struct {
        const char *ending;
        form which;
    } rows[] = {{".html", FORM_HTML},
                {".htm", FORM_HTML},
                {".json", FORM_JSON},
                {".xml", FORM_JUNIT},
                {".md", FORM_MARKDOWN}};

    if (set->json)
        return FORM_JSON;
    if (set->format > 0)
        return (form)(set->format - 1);
    for (size_t i = 0; set->output && i < sizeof rows / sizeof *rows; i++)
        if (ends_with(set->output, rows[i].ending))
            return rows[i].which;
    return FORM_TEXT;
}

static void
make(report *r, form which, const screen *s, textbuf *out)
{
    report_rank(r);
    switch (which) {
    case FORM_HTML:
        report_html(r, out);
        break;
    case FORM_JSON:
        report_json(r, out);
        break;
    case FORM_JUNIT:
        report_junit(r, out);
        break;
    case FORM_MARKDOWN:
        report_markdown(r, out);
        break;
    default:
        report_text(r, s, out);
    }
}

static int
write_out(const settings *set, const textbuf *text)
{
    if (!set->output || strcmp(set->output, "-") == 0) {
        out_bytes(text->text, text->len);
        return SAY_DONE;
    }
    if (seine_file_replace(set->output, text->text, text->len))
        return SAY_DONE;
    int why = errno;
    return say_fail(SAY_MACHINE, say_write_advice(show_errno(why).text),
                    "cannot write '%s': %s", show(set->output).text,
                    show_errno(why).text);
}

static void
take_job(report *r, report_job *job)
{
    static const char *const states[] = {[SEINE_JOB_IS_RUNNING] = "running",
                                         [SEINE_JOB_IS_FINISHED] = "finished",
                                         [SEINE_JOB_IS_STOPPED] = "stopped",
                                         [SEINE_JOB_IS_FAILED] = "failed"};

    if (!job->name[0])
        return;
    snprintf(r->job, sizeof r->job, "%s", job->name);
    r->job_state = states[job->status];
    r->pending += job->pending;
    r->is_unfinished = r->is_unfinished || !job->is_finished;
    r->is_bare = r->is_bare || job->is_bare;
    free(r->command);
    r->command = job->command;
    job->command = NULL;
    report_settings_free(&r->settings);
    report_settings_read(job->words, &r->settings);
}

static int
read_all(const args *a, counter *c)
{
    const settings *set = a->settings;
    report_taker to = {take_line, take_record, set->where ? NULL : c->timeline, c};
    report *r = c->to;
    int code = SAY_DONE;

    r->state = set->state;
    r->where = set->where;
    for (size_t i = 0; i < a->count && code == SAY_DONE; i++) {
        report_job job;

        code = report_input_read(set->state, a->words[i], &to, &job);
        take_job(r, &job);
        report_job_free(&job);
        if (i == 0)
            snprintf(r->title, sizeof r->title, "%.100s%s", show(a->words[0]).text,
                     a->count > 1 ? " and others" : "");
    }
    report_load_make(c->timeline, &r->load);
    if (code == SAY_DONE && r->total + r->links + r->items_good + r->items_bad == 0 &&
        r->bad_lines > 0)
        code =
            say_fail(SAY_USAGE, "records of seine: fetch, crawl or check -o FILE.jsonl",
                     "%s has no records", show(a->words[0]).text);
    return code;
}

/* SAY_DONE, or the exit code after an error message. */
static int
begin(const settings *set, counter *c)
{
    seine_diag diag = SEINE_DIAG;
    seine_err e = seine_timeline_new(&c->timeline);

    if (e == SEINE_OK && set->where)
        e = seine_record_where_new(set->where, &c->where, &diag);
    if (e == SEINE_E_CONFIG)
        return say_fail(SAY_USAGE, "--where 'outcome=timeout'", "--where, column %u: %s",
                        (unsigned)diag.column, diag.text);
    return e == SEINE_OK ? SAY_DONE : say_fail(SAY_MACHINE, NULL, "out of memory");
}

static int
run_report(const args *a)
{
    const settings *set = a->settings;
    screen plain = a->screen;
    textbuf text = {NULL, 0, 0};
    report *r = report_new();
    counter c = {.to = r};
    int code = begin(set, &c);

    if (code == SAY_DONE)
        code = read_all(a, &c);
    if (set->output)
        plain = (screen){.blocks = true, .width = 80};
    if (code == SAY_DONE) {
        make(r, form_of(set), &plain, &text);
        code = write_out(set, &text);
    }
    if (code == SAY_DONE && r->bad_lines > 0 && !a->quiet)
        say_note("%s line%s no record", figure_count(r->bad_lines).text,
                 r->bad_lines == 1 ? " is" : "s are");
    textbuf_free(&text);
    report_free(r);
    seine_record_where_free(c.where);
    seine_timeline_free(c.timeline);
    free(c.room);
    return code;
}
