/* SPDX-License-Identifier: Apache-2.0 */
#include "verbs/run_job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <seine/calendar.h>
#include <seine/job_view.h>
#include <seine/plumbing.h>

#include "jobs/job_command.h"
#include "jobs/job_hint.h"
#include "options/crawl_opts.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "serve_run/run_host.h"
#include "verbs/fleet_run.h"
#include "verbs/jsonl.h"
#include "verbs/run_source.h"
#include "verbs/verbs.h"

/* Options that say which URLs are fetched and what is written of them. A job that goes
 * on has the same; how fast, how patient and how talkative it is may change. */
static const char *const shaping[] = {
    "input",          "input-format",
    "url-column",     "base",
    "depth",          "scope",
    "parent",         "domains",
    "include",        "glob",
    "follow",         "keep",
    "exclude",        "max-pages",
    "max-bytes",      "max-links",
    "max-sitemaps",   "max-pages-per-host",
    "max-subdomains", "sitemap",
    "pattern-budget", "max-sitemap-bytes",
    "robots",         "robots-agent",
    "nofollow",       "strip-params",
    "dedup",          "method",
    "head",           "data",
    "json-body",      "accept-type",
    "accept",         "max-redirects",
    "https-only",     "untrusted-urls",
    "output",         "failed",
    "fields",         "body",
    "save",           "raw",
    "ordered",        "skips",
    "csv-raw",        "csv-crlf",
    "warc-size",      "events",
    "mine",
};

/* Of an incremental crawl alone, so that the spec of others is what it was. */
static const char *const incremental[] = {"incremental", "change", "only-changes"};

/* Of a copy of a site: the job is that of its directory. */
static const char *const copying[] = {"mirror", "output-dir"};

/* What may change from one round of a job to the next: how records are written. */
static const char *const free_members[] = {
    "incremental", "change",    "only-changes", "output",    "fields",
    "body",        "save",      "raw",          "skips",     "csv-raw",
    "csv-crlf",    "warc-size", "events",       "referrers", NULL,
};

/* The spec */

static seine_json *
list_of(const texts *t)
{
    seine_json *list = xalloc_json(seine_json_new_array());

    for (size_t i = 0; i < t->count; i++)
        jsonl_add(list, jsonl_string(t->items[i]));
    return list;
}

/* A text may be a secret, and is long at times: its hash tells one from another. */
static seine_json *
value_of(const option *o, const void *settings)
{
    const void *at = (const char *)settings + o->at;
    uint64_t n;

    switch (o->kind) {
    case KIND_FLAG:
        return xalloc_json(seine_json_new_bool(*(const bool *)at));
    case KIND_CHOICE:
        return xalloc_json(seine_json_new_int(*(const int *)at));
    case KIND_COUNT:
    case KIND_SIZE:
        memcpy(&n, at, sizeof n);
        return xalloc_json(seine_json_new_int((int64_t)(n & INT64_MAX)));
    case KIND_TEXT:
    case KIND_FILE:
        return *(const char *const *)at ? jsonl_string(*(const char *const *)at) : NULL;
    case KIND_LIST:
    case KIND_FILES:
        return list_of(at);
    default:
        return NULL;
    }
}

static void
put_option(seine_json *to, const args *a, const char *name)
{
    bool no;
    const option *o = options_by_name(a->command, name, strlen(name), &no);
    seine_json *value = o ? value_of(o, a->settings) : NULL;

    if (value)
        jsonl_set(to, name, value);
}

static bool
put_member(const char *name, const seine_json *value, void *arg)
{
    jsonl_set(arg, name, seine_json_new_copy(value));
    return true;
}

static void
put_source(seine_json *to, const run_source *source)
{
    seine_json *own = NULL;

    if (seine_json_parse(source->spec, strlen(source->spec), &own, NULL) == SEINE_OK)
        (void)seine_json_each(own, put_member, to);
    seine_json_free(own);
}

/* All that shapes the results, as a JSON object by the names of the options. */
static char *
make_spec(const args *a, const run_source *source)
{
    seine_json *all = xalloc_json(seine_json_new_object());
    seine_json *words = xalloc_json(seine_json_new_array());
    seine_text text = {NULL, 0};
    const fetch_settings *set = a->settings;

    jsonl_set(all, "command", jsonl_string(a->command->name));
    for (size_t i = 0; i < a->count; i++)
        jsonl_add(words, jsonl_string(a->words[i]));
    jsonl_set(all, "url", words);
    for (size_t i = 0; i < sizeof shaping / sizeof *shaping; i++)
        put_option(all, a, shaping[i]);
    for (size_t i = 0; set->incremental && i < sizeof incremental / sizeof *incremental;
         i++)
        put_option(all, a, incremental[i]);
    if (set->referrers > 0)
        put_option(all, a, "referrers");
    for (size_t i = 0; set->mirror && i < sizeof copying / sizeof *copying; i++)
        put_option(all, a, copying[i]);
    if (source)
        put_source(all, source);
    char *spec = seine_json_print(all, &text) == SEINE_OK
                     ? xalloc_copy(text.bytes, text.len)
                     : xalloc_copy("{}", 2);
    seine_text_free(&text);
    seine_json_free(all);
    return spec;
}

/* The name */

static bool
is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '.' || c == '_' || c == '-';
}

/* "docs.example" of https://docs.example/a; "list" of lists/list.txt.gz. */
static void
name_after(const char *text, char *out, size_t cap)
{
    const char *at = strstr(text, "://"), *end;
    size_t n = 0;

    text = at ? at + 3 : text;
    end = text + strcspn(text, "/?#");
    if ((at = memchr(text, '@', (size_t)(end - text))))
        text = at + 1;
    for (; text < end && n + 1 < cap; text++)
        if (is_name_char(*text) && !(n == 0 && strchr(".-", *text)))
            out[n++] = *text;
        else if (n > 0 && text[0] == ':')
            out[n++] = '-';
    out[n] = '\0';
}

static void
default_name(const args *a, char *out, size_t cap)
{
    const fetch_settings *set = a->settings;
    const char *file = set->input.count > 0 ? set->input.items[0] : NULL;
    const char *slash = file ? strrchr(file, '/') : NULL;

    if (a->count > 0 && strcmp(a->words[0], "-") != 0)
        name_after(a->words[0], out, cap);
    else if (file && strcmp(file, "-") != 0)
        name_after(slash ? slash + 1 : file, out, cap);
    if (!out[0])
        snprintf(out, cap, "%s", a->command->name);
}

static void
name_job(const args *a, const run_source *source, char *out, size_t cap)
{
    const fetch_settings *set = a->settings;

    if (set->job && set->job[0])
        snprintf(out, cap, "%s", set->job);
    else if (source)
        name_after(source->name, out, cap < 129 ? cap : 129);
    else
        default_name(a, out, cap < 129 ? cap : 129);
}

void
run_job_name(const args *a, char *out, size_t cap)
{
    name_job(a, NULL, out, cap);
}

/* Crawls of a host that differ are jobs beside each other: "docs.example",
 * "docs.example-2" … */
enum { MOST_JOBS_OF_A_NAME = 99, NUMBER_ROOM = 4 };

typedef enum whose { NO_JOB, OURS, DONE_BY_OTHERS, LEFT_BY_OTHERS } whose;

/* A round of a crawl may write other outputs than the one before. */
static whose
whose_job(const args *a, const char *name, const char *spec)
{
    const fetch_settings *set = a->settings;
    seine_job_view *view = NULL;
    seine_diag diag = SEINE_DIAG;

    if (seine_job_view_open(set->state, name, &view, &diag) != SEINE_OK)
        return NO_JOB;
    const seine_job_about *about = seine_job_view_about(view);
    whose found = set->incremental && strcmp(about->verb, a->command->name) == 0 ? OURS
                  : strcmp(about->spec, spec) == 0                               ? OURS
                  : about->status == SEINE_JOB_IS_FINISHED ? DONE_BY_OTHERS
                                                           : LEFT_BY_OTHERS;
    seine_job_view_free(view);
    return found;
}

/* Looks for the job of this command among those of its name, or else, if all of them are
 * finished, for a name that is free. False: `name` is what it was. */
static bool
find_own_job(const args *a, const char *spec, char *name, size_t cap)
{
    const fetch_settings *set = a->settings;
    bool may_begin = !set->fresh && !set->resume;
    char one[132];

    for (unsigned i = 1; i <= MOST_JOBS_OF_A_NAME; i++) {
        snprintf(one, sizeof one, "%s", name);
        if (i > 1)
            snprintf(one, sizeof one, "%.*s-%u", 128 - NUMBER_ROOM, name, i);
        whose w = whose_job(a, one, spec);
        bool is_free = w == NO_JOB && i > 1;

        if (w == OURS || (is_free && may_begin)) {
            snprintf(name, cap, "%s", one);
            return true;
        }
        if (is_free)
            return false;
        may_begin &= w != LEFT_BY_OTHERS;
    }
    return false;
}

/* Its name is that of the host, and nobody has typed another. */
static bool
is_named_by_us(const args *a, const run_job *j)
{
    const fetch_settings *set = a->settings;

    return !(set->job && set->job[0]) && !j->source && a->command != &cmd_check;
}

/* Checks the options against each other. *out_wanted: there is a job. */
static int
check_options(const args *a, const run_source *source, bool *out_wanted)
{
    const fetch_settings *set = a->settings;
    bool is_named = set->job && set->job[0], is_off = set->job && !set->job[0];
    bool is_none = set->durability == DURABILITY_NONE;

    if (set->store.count > 0) { /* fleet_run.c has more to say */
        *out_wanted = true;
        return SAY_DONE;
    }
    if (set->fresh && set->resume)
        return say_fail(SAY_USAGE, "one of the two", "--fresh does not go with --resume");
    if (is_none && options_given(a, "job") && is_named && options_given(a, "durability"))
        return say_fail(SAY_USAGE, "--durability fast, or leave --job out",
                        "--durability none keeps no job");
    bool by_default = source || (crawl_is_asked(a) && a->command != &cmd_check);
    *out_wanted = !is_none && !is_off && (is_named || by_default);
    if (*out_wanted && set->ordered && crawl_is_asked(a)) {
        if (is_named)
            return say_fail(SAY_USAGE, "--no-job, or without --ordered",
                            "--ordered does not go with --job in a crawl");
        *out_wanted = false; /* records that wait for others would be lost */
    }
    if (!*out_wanted && (set->resume || set->fresh) && !is_none)
        return say_fail(SAY_USAGE, "--job NAME", "--%s needs a job",
                        set->resume ? "resume" : "fresh");
    return SAY_DONE;
}

/* Messages */

/* What to try when the state of the job stands in the way. */
static job_hint_text
hint_for(const run_job *j, const args *a, seine_err e)
{
    const fetch_settings *set = a->settings;
    job_hint_text out;
    const char *before = "", *behind = "", *verb = NULL;

    if (e == SEINE_E_STATE_CORRUPT) {
        verb = "jobs repair";
        behind = ", or --fresh to start over";
    } else if (e == SEINE_E_STATE_LOCKED) {
        verb = "jobs show";
    } else if (e == SEINE_E_ALREADY && a->command == &cmd_check) {
        before = "the same command without --resume";
    } else if (e == SEINE_E_ALREADY) {
        verb = "retry";
        before = crawl_is_asked(a) ? "--fresh to start over, --incremental to visit it "
                                     "again, or: "
                                   : "--fresh to start over, or: ";
    } else {
        before = e == SEINE_E_IO ? "--state DIR, or --no-job"
                                 : "--fresh to start over, --job NAME, or --state DIR";
    }
    snprintf(out.text, sizeof out.text, "%s%.480s%s", before,
             verb ? job_hint(verb, j->name, set->state).text : "", behind);
    return out;
}

static int
refuse(const run_job *j, const args *a, seine_err e, const seine_diag *diag)
{
    char line[SEINE_DIAG_ROOM] = "", other[SEINE_DIAG_ROOM];

    (void)seine_diag_print(diag, NULL, line, sizeof line);
    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    if (e == SEINE_E_DISK_FULL)
        return say_fail(SAY_MACHINE, "free some space, then the same command again", "%s",
                        line);
    if (e == SEINE_E_FSYNC_FAILED)
        return say_fail(SAY_MACHINE, say_write_advice(line), "%s", line);
    if (e == SEINE_E_CONFIG) {
        bool is_url = strcmp(diag->member, "url") == 0;
        bool is_recipe = strcmp(diag->member, "recipe") == 0;
        bool is_option =
            diag->member[0] && !is_recipe && strcmp(diag->member, "command") != 0;

        snprintf(other, sizeof other, "--%.100s", diag->member);
        for (char *c = other + 2; *c; c++)
            *c = *c == '_' ? '-' : *c;
        return say_fail(SAY_USAGE,
                        "the same command again, --fresh to start over, or --job NAME "
                        "for another job",
                        "job '%s' was started with another %s", j->name,
                        is_url      ? "list of URLs"
                        : is_recipe ? "recipe, or it was changed since"
                        : is_option ? other
                                    : "command");
    }
    return say_fail(SAY_USAGE, hint_for(j, a, e).text, "%s",
                    line[0] ? line : seine_err_text(e));
}

/* What the next run of a finished job must not do is refused while the job is as it was.
 */
static int
check_next_run(const run_job *j, const args *a)
{
    const fetch_settings *set = a->settings;
    seine_job_view *view = NULL;
    seine_diag diag = SEINE_DIAG;

    if (!j->source || set->fresh || set->store.count > 0 ||
        seine_job_view_open(set->state, j->name, &view, &diag) != SEINE_OK)
        return SAY_DONE;
    bool is_next = seine_job_view_about(view)->status == SEINE_JOB_IS_FINISHED;
    seine_job_view_free(view);
    return is_next ? j->source->next_run(j->source->arg) : SAY_DONE;
}

/* Opens the job, or another one of its name if it was started with another command. */
static seine_err
open_own(const args *a, seine_job_opts *o, run_job *out, seine_diag *diag)
{
    bool is_ours = is_named_by_us(a, out);
    char name[sizeof out->name];

    snprintf(name, sizeof name, "%s", out->name);
    if (is_ours && o->fresh && find_own_job(a, o->spec, name, sizeof name))
        snprintf(out->name, sizeof out->name, "%s", name);
    seine_err e = seine_job_open(o, &out->job, diag);
    if (e != SEINE_E_CONFIG || !is_ours || !find_own_job(a, o->spec, name, sizeof name) ||
        strcmp(name, out->name) == 0)
        return e;
    snprintf(out->name, sizeof out->name, "%s", name);
    return seine_job_open(o, &out->job, diag);
}

int
run_job_open(const args *a, run_job *out)
{
    static const seine_durability durabilities[] = {SEINE_DURABILITY_FULL,
                                                    SEINE_DURABILITY_FAST};
    const fetch_settings *set = a->settings;
    seine_job_opts o = SEINE_JOB_OPTS;
    seine_diag diag = SEINE_DIAG;
    bool is_wanted = false;
    int code = check_options(a, out->source, &is_wanted);

    if (code != SAY_DONE || !is_wanted)
        return code;
    name_job(a, out->source, out->name, sizeof out->name);
    code = check_next_run(out, a);
    if (code != SAY_DONE)
        return code;
    char *spec = make_spec(a, out->source);
    char *line = a->host && a->host->command
                     ? xalloc_copy(a->host->command, strlen(a->host->command))
                     : job_command_make(a, out->has_secret);
    if (set->store.count > 0) {
        code = fleet_run_open(a, spec, line, out);
        free(spec);
        free(line);
        return code;
    }
    o.state = set->state;
    o.name = out->name;
    o.verb = a->command->name;
    o.spec = spec;
    o.command = line;
    o.durability = durabilities[set->durability];
    o.fresh = set->fresh;
    o.must_exist = set->resume;
    o.next_round = set->incremental;
    o.round_members = free_members;
    o.next_run = out->source != NULL;
    o.keep_kept = out->source && out->source->keeps_known;
    seine_err e = open_own(a, &o, out, &diag);
    if (e == SEINE_E_ALREADY && a->command == &cmd_check && !set->resume) {
        o.fresh = true; /* to check again is why the command was typed again */
        e = seine_job_open(&o, &out->job, &diag);
    }
    free(spec);
    free(line);
    if (e != SEINE_OK && strcmp(diag.member, "name") == 0)
        return say_fail(SAY_USAGE, "letters, digits, '.', '_' and '-'",
                        "--job '%s': not a name", show(out->name).text);
    if (e != SEINE_OK)
        return refuse(out, a, e, &diag);
    seine_job_figures_get(out->job, &out->before);
    out->is_resumed = out->before.is_resumed;
    return SAY_DONE;
}

/* Whether somebody has written to the file, or put another in its place, since then. */
static bool
has_changed(const char *path, int64_t since)
{
    struct stat st;

    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode) &&
           st.st_ctim.tv_sec * SEINE_SECS(1) + st.st_ctim.tv_nsec > since;
}

static void
say_changed(const run_job *j, const texts *inputs, run_log *log)
{
    for (size_t i = 0; i < inputs->count; i++)
        if (has_changed(inputs->items[i], j->before.updated))
            run_log_note(log, "job.input",
                         "seine: %s was changed since the last run: URLs that are known "
                         "are passed over, others are fetched",
                         show(inputs->items[i]).text);
}

void
run_job_say(const run_job *j, const args *a, run_log *log)
{
    const fetch_settings *set = a->settings;

    if (j->is_resumed)
        say_changed(j, &set->input, log);
    if (j->is_resumed)
        run_log_note(log, "job.start", "seine: job '%s' goes on: %s of %s URLs are done",
                     j->name, figure_count(j->before.ended).text,
                     figure_count(j->before.found > j->before.ended ? j->before.found
                                                                    : j->before.ended)
                         .text);
}

void
run_job_say_round(const run_job *j, uint64_t not_due, run_log *log)
{
    if (!j->job || j->before.round < 2 || j->is_resumed)
        return;
    run_log_note(log, "job.round",
                 "seine: job '%s' visits its site again, round %s: %s URLs are known, %s "
                 "of them %s not due",
                 j->name, figure_count(j->before.round).text,
                 figure_count(j->before.found).text, figure_count(not_due).text,
                 not_due == 1 ? "is" : "are");
}

int
run_job_close(run_job *j, bool is_finished)
{
    seine_diag diag = SEINE_DIAG;
    char line[SEINE_DIAG_ROOM] = "";
    seine_err e = seine_job_end(j->job, is_finished, &diag);

    j->job = NULL;
    seine_fleet_free(j->fleet);
    j->fleet = NULL;
    if (e == SEINE_OK)
        return SAY_DONE;
    (void)seine_diag_print(&diag, NULL, line, sizeof line);
    return say_fail(SAY_MACHINE, "the same command again",
                    "job '%s' could not be closed: %s", j->name,
                    line[0] ? line : seine_err_text(e));
}

void
run_job_undo(const run_job *j, const args *a)
{
    const fetch_settings *set = a->settings;
    seine_diag diag = SEINE_DIAG;

    if (j->before.run == 1 && !j->is_resumed)
        (void)!seine_job_remove(set->state, j->name, &diag);
}
