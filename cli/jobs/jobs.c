/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <seine/job_repair.h>
#include <seine/job_view.h>

#include "jobs/control.h"
#include "jobs/fleet_jobs.h"
#include "jobs/job_command.h"
#include "jobs/job_facts.h"
#include "jobs/job_hint.h"
#include "screen/out.h"
#include "screen/record_table.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

typedef struct settings {
    const char *state;
    texts store;
    bool json, yes;
    seine_span older_than;
} settings;

static int run_ls(const args *a);
static int run_show(const args *a);
static int run_pause(const args *a);
static int run_repair(const args *a);
static int run_resume(const args *a);
static int run_set(const args *a);
static int run_stop(const args *a);
static int run_rm(const args *a);

enum { PATIENCE_MS = 5000 };

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
#define STATE \
    {"state", NULL, KIND_FILE, "DIR", ".seine", AT(state), .env = true, \
     .help = "where jobs are kept"}
#define STORE \
    {"store", NULL, KIND_LIST, "URL", AT(store), .env = true, .rare = true, \
     .help = "of jobs that are in Redis: redis://HOST:PORT/DB, env:NAME or file:PATH"}
#define JSON \
    {"json", "j", KIND_FLAG, AT(json), .env = true, \
     .help = "JSON, for programs"}

static const option list_options[] = {
    STATE,
    STORE,
    JSON,
    {.name = NULL},
};
static const option state_options[] = {
    STATE,
    STORE,
    {.name = NULL},
};
static const option rm_options[] = {
    STATE,
    STORE,
    {"older-than", NULL, KIND_SPAN, "D", AT(older_than),
     .help = "jobs whose last change is longer ago; alone: all such jobs"},
    {"yes", "y", KIND_FLAG, AT(yes),
     .help = "do not ask"},
    {.name = NULL},
};

static const example ls_examples[] = {
    {"seine jobs ls", "What is there:"},
    {"seine jobs ls -j", "The same for a program:"},
    {NULL, NULL},
};
static const example show_examples[] = {
    {"seine jobs show docs.example", "How far it is, and what its hosts wait for:"},
    {NULL, NULL},
};
static const example resume_examples[] = {
    {"seine jobs resume docs.example", "Goes on where it was:"},
    {NULL, NULL},
};
static const example pause_examples[] = {
    {"seine jobs pause docs.example", "Nothing new is asked until `seine jobs resume docs.example`:"},
    {NULL, NULL},
};
static const example stop_examples[] = {
    {"seine jobs stop docs.example", "As by TERM:"},
    {NULL, NULL},
};
static const example set_examples[] = {
    {"seine jobs set docs.example host-rate=1/s hosts.cdn.example.host-rate=10/s", "Slower, but for one host:"},
    {NULL, NULL},
};
static const example repair_examples[] = {
    {"seine jobs repair docs.example", "Saves what can be read, then: seine jobs resume docs.example"},
    {NULL, NULL},
};
static const example rm_examples[] = {
    {"seine jobs rm --older-than 30d --yes", "Prunes; the outputs stay:"},
    {NULL, NULL},
};

const command cmd_jobs_ls = {
    .name = "jobs ls",
    .arguments = "",
    .about = "list jobs: how far they are, how old, how large",
    .text = "A job is `running` while a process works on it, `paused` after `jobs pause`, `waiting` while every host has to be left alone, `finished` when nothing is left to do, `stopped` when its last run ended in order with work left, "
            "and `failed` when the last run was killed or its state is damaged. DONE counts pages that have a record, and FAILED those of them without a good answer.",
    .options = list_options,
    .examples = ls_examples,
    .settings_size = sizeof(settings),
    .max_args = 0,
    .run = run_ls,
};
const command cmd_jobs_show = {
    .name = "jobs show",
    .arguments = "JOB",
    .about = "show a job: counts, outputs, what each host waits for",
    .text = "A job that runs is asked through its socket; what is shown of one that does not run is its state on disk. Sizes of outputs are those of the last commit: "
            "after a kill they are cut to them.",
    .options = list_options,
    .examples = show_examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = 1,
    .run = run_show,
};
const command cmd_jobs_resume = {
    .name = "jobs resume",
    .arguments = "JOB",
    .about = "let a job go on that was paused, stopped or killed",
    .text = "A paused job goes on. For others it runs the command that the job was started with, in the directory in which it was typed. There is never a fresh start: a job that does not exist, or is "
            "finished, is exit code 2. A list that came from standard input has to be fed again.",
    .options = state_options,
    .examples = resume_examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = 1,
    .run = run_resume,
};
const command cmd_jobs_pause = {
    .name = "jobs pause",
    .arguments = "JOB",
    .about = "hold a running job: it asks for nothing new",
    .text = "What is in flight comes home. --max-time goes on counting. `seine jobs resume` lets it go on.",
    .options = state_options,
    .examples = pause_examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = 1,
    .run = run_pause,
};
const command cmd_jobs_stop = {
    .name = "jobs stop",
    .arguments = "JOB",
    .about = "end a running job in order; it can be resumed",
    .text = "As the signal TERM does: nothing new is asked, what is in flight may end within --grace. Waits until the process has let go of the job.",
    .options = state_options,
    .examples = stop_examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = 1,
    .run = run_stop,
};
const command cmd_jobs_set = {
    .name = "jobs set",
    .arguments = "JOB KEY=VALUE…",
    .about = "change limits of a running job",
    .text = "Keys: `rate`, `host-rate`, `concurrency`, `per-host`; of one host `hosts.NAME.host-rate` and `hosts.NAME.per-host`, where NAME is e.example for all its "
            "ports or e.example:8080. They hold at once, for URLs that wait already as well, and until the process ends: a resumed job has those of its command line. With --store all workers "
            "hear of it within a third of their lease, and so do those that join later. "
            "Crawl-delay, Retry-After and breakers hold whatever is set.",
    .options = state_options,
    .examples = set_examples,
    .settings_size = sizeof(settings),
    .min_args = 2,
    .max_args = SIZE_MAX,
    .run = run_set,
};
const command cmd_jobs_repair = {
    .name = "jobs repair",
    .arguments = "JOB",
    .about = "save what can be read of a damaged job",
    .text = "Every row has a checksum: those that are as they were written go into a new state, and the old one stays beside it as job.db.damaged. A URL whose result is lost is "
            "fetched again and has a second record; a URL that is lost itself is found again only by a link that is still to be read. A job that is sound is left alone.",
    .options = state_options,
    .examples = repair_examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = 1,
    .run = run_repair,
};
const command cmd_jobs_rm = {
    .name = "jobs rm",
    .arguments = "[JOB]…",
    .about = "remove the state of jobs; their outputs stay",
    .text = "Asks on a terminal, and needs --yes elsewhere. A job that runs is not removed.",
    .options = rm_options,
    .examples = rm_examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_rm,
};
/* clang-format on */

static int
no_job(seine_err e, const seine_diag *diag)
{
    char line[SEINE_DIAG_ROOM];

    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    if (seine_diag_print(diag, NULL, line, sizeof line) == 0)
        snprintf(line, sizeof line, "%s", seine_err_text(e));
    return say_fail(SAY_USAGE,
                    e == SEINE_E_STATE_LOCKED ? "seine jobs stop JOB" : "seine jobs ls",
                    "%s", line);
}

static int
open_view(const char *state, const char *name, seine_job_view **out)
{
    seine_diag diag = SEINE_DIAG;
    seine_err e = seine_job_view_open(state, name, out, &diag);

    return e == SEINE_OK ? SAY_DONE : no_job(e, &diag);
}

/* ls */

typedef struct listing {
    const settings *set;
    seine_json *all;
    int code;
} listing;

static void
list_job(const char *name, void *arg)
{
    listing *l = arg;
    seine_job_view *v;
    seine_diag diag = SEINE_DIAG;

    if (seine_job_view_open(l->set->state, name, &v, &diag) != SEINE_OK)
        return; /* it was removed meanwhile */
    const seine_job_about *about = seine_job_view_about(v);
    seine_json *facts = job_facts_of(about);
    if (about->status == SEINE_JOB_IS_RUNNING)
        (void)job_facts_add_live(facts, about->path, "status");
    jsonl_add(l->all, facts);
    seine_job_view_free(v);
}

static void
print_row(const seine_json *f, int wide)
{
    bool is_damaged = seine_json_get(f, "error") != NULL;

    out_print("%-*s  %-8s", wide, show(job_facts_text(f, "name")).text,
              job_facts_text(f, "state"));
    if (is_damaged)
        out_print("  %9s  %9s  %9s", "-", "-", "-");
    else
        out_print("  %9s  %9s  %9s", figure_count(job_facts_count(f, "done")).text,
                  figure_count(job_facts_count(f, "pending")).text,
                  figure_count(job_facts_count(f, "failed")).text);
    int64_t now = job_facts_wall();
    out_print(
        "  %6s  %9s  %s\n",
        figure_age(now - (int64_t)job_facts_count(f, "age_s") * SEINE_SECS(1), now).text,
        figure_bytes(job_facts_count(f, "bytes")).text,
        is_damaged ? job_facts_text(f, "error")
                   : show(job_facts_text(f, "command")).text);
}

static void
print_list(const seine_json *all)
{
    size_t wide = 4;

    for (size_t i = 0; i < seine_json_size(all); i++) {
        size_t n = strlen(job_facts_text(seine_json_at(all, i), "name"));

        wide = n > wide ? n : wide;
    }
    out_print("%-*s  %-8s  %9s  %9s  %9s  %6s  %9s  %s\n", (int)wide, "JOB", "STATE",
              "DONE", "PENDING", "FAILED", "AGE", "DISK", "COMMAND");
    for (size_t i = 0; i < seine_json_size(all); i++)
        print_row(seine_json_at(all, i), (int)wide);
}

static int
run_ls(const args *a)
{
    const settings *set = a->settings;

    if (set->store.count > 0)
        return fleet_jobs_ls(&set->store, set->json);
    listing l = {a->settings, xalloc_json(seine_json_new_array()), SAY_DONE};
    seine_diag diag = SEINE_DIAG;
    seine_err e = seine_jobs_each(l.set->state, list_job, &l, &diag);

    if (e != SEINE_OK)
        l.code = no_job(e, &diag);
    else if (l.set->json)
        for (size_t i = 0; i < seine_json_size(l.all); i++)
            out_json(xalloc_json(seine_json_new_copy(seine_json_at(l.all, i))));
    else if (seine_json_size(l.all) > 0)
        print_list(l.all);
    else if (!a->quiet)
        say_note("no jobs in %s", show(l.set->state).text);
    seine_json_free(l.all);
    return l.code;
}

/* show */

static int
run_show(const args *a)
{
    const settings *set = a->settings;
    seine_job_view *v;

    if (set->store.count > 0)
        return fleet_jobs_show(&set->store, a->words[0], set->json);
    int code = open_view(set->state, a->words[0], &v);
    if (code != SAY_DONE)
        return code;
    const seine_job_about *about = seine_job_view_about(v);
    seine_json *facts = job_facts_of(about);
    bool is_live = about->status == SEINE_JOB_IS_RUNNING &&
                   job_facts_add_live(facts, about->path, "show");
    if (about->err == SEINE_OK) {
        job_facts_add_outputs(facts, v);
        code = is_live ? SAY_DONE : job_facts_add_hosts(facts, v);
    } else if (!set->json)
        code = say_fail(SAY_USAGE, job_hint_about("jobs repair", about).text, "%s",
                        about->why);
    if (code == SAY_DONE && set->json)
        out_json(xalloc_json(seine_json_new_copy(facts)));
    else if (code == SAY_DONE)
        job_facts_print(facts);
    if (code == SAY_DONE && about->err != SEINE_OK)
        code = SAY_USAGE;
    seine_json_free(facts);
    seine_job_view_free(v);
    return code;
}

/* pause, stop, set */

/* Sends a command to the job; `give` is the line, or NULL for one without more. */
static int
tell_job(const seine_job_about *a, const char *cmd, seine_json *give)
{
    seine_json *line = give ? give : control_line(cmd), *answer = NULL;
    char why[320];
    control_end end = control_ask(a->path, line, PATIENCE_MS, &answer, why);

    seine_json_free(line);
    seine_json_free(answer);
    if (end == CONTROL_NOBODY)
        return say_fail(SAY_MACHINE, "a moment later again",
                        "job '%s' does not listen: process %lld", a->name,
                        (long long)a->pid);
    if (end == CONTROL_ERROR)
        return say_fail(SAY_USAGE, NULL, "job '%s': %s", a->name, show(why).text);
    return SAY_DONE;
}

/* The view of a job that runs. SAY_DONE, or the exit code after an error message. */
static int
open_running(const args *a, seine_job_view **out)
{
    const settings *set = a->settings;
    int code = open_view(set->state, a->words[0], out);

    if (code != SAY_DONE || seine_job_view_about(*out)->status == SEINE_JOB_IS_RUNNING)
        return code;
    seine_job_view_free(*out);
    return say_fail(SAY_USAGE, job_hint("jobs resume", a->words[0], set->state).text,
                    "job '%s' is not running", show(a->words[0]).text);
}

static int
run_pause(const args *a)
{
    const settings *set = a->settings;

    if (set->store.count > 0)
        return fleet_jobs_steer(&set->store, a->words[0], "paused");
    seine_job_view *v;
    int code = open_running(a, &v);

    if (code != SAY_DONE)
        return code;
    code = tell_job(seine_job_view_about(v), "pause", NULL);
    seine_job_view_free(v);
    return code;
}

/* Until its process has let go of it: then it can be started again, or removed. */
static void
wait_for_end(const settings *set, const char *name)
{
    struct timespec a_little = {0, 20000000};
    seine_job_status status = SEINE_JOB_IS_RUNNING;
    seine_diag diag = SEINE_DIAG;
    seine_job_view *v;

    while (status == SEINE_JOB_IS_RUNNING &&
           seine_job_view_open(set->state, name, &v, &diag) == SEINE_OK) {
        status = seine_job_view_about(v)->status;
        seine_job_view_free(v);
        nanosleep(&a_little, NULL);
    }
}

static int
run_stop(const args *a)
{
    const settings *set = a->settings;

    if (set->store.count > 0)
        return fleet_jobs_steer(&set->store, a->words[0], "stopped");
    seine_job_view *v;
    int code = open_running(a, &v);

    if (code != SAY_DONE)
        return code;
    code = tell_job(seine_job_view_about(v), "stop", NULL);
    seine_job_view_free(v);
    if (code == SAY_DONE)
        wait_for_end(a->settings, a->words[0]);
    return code;
}

static int
run_set(const args *a)
{
    seine_json *line = control_line("set");
    seine_job_view *v;
    int code = SAY_DONE;

    for (size_t i = 1; i < a->count && code == SAY_DONE; i++) {
        char *equals = strchr(a->words[i], '=');

        if (!equals || equals == a->words[i]) {
            code = say_fail(SAY_USAGE, "host-rate=1/s", "'%s' is not KEY=VALUE",
                            show(a->words[i]).text);
            continue;
        }
        char *key = xalloc_copy(a->words[i], (size_t)(equals - a->words[i]));
        jsonl_set(line, key, jsonl_string(equals + 1));
        free(key);
    }
    const settings *set = a->settings;
    if (code == SAY_DONE && set->store.count > 0) {
        code = fleet_jobs_set(&set->store, a->words[0], line);
        seine_json_free(line);
        return code;
    }
    if (code == SAY_DONE)
        code = open_running(a, &v);
    if (code != SAY_DONE) {
        seine_json_free(line);
        return code;
    }
    code = tell_job(seine_job_view_about(v), "set", line);
    seine_job_view_free(v);
    return code;
}

/* resume */

static int
refuse_resume(const seine_job_about *a)
{
    char hint[sizeof(job_hint_text) + 40];

    snprintf(hint, sizeof hint, "%s, or its command with --fresh",
             job_hint_about("retry", a).text);
    if (a->err != SEINE_OK)
        return say_fail(SAY_USAGE, job_hint_about("jobs repair", a).text, "%s", a->why);
    if (a->status == SEINE_JOB_IS_FINISHED)
        return say_fail(SAY_USAGE, hint, "job '%s' is finished: %s page%s", a->name,
                        figure_count(a->ok + a->failed).text,
                        a->ok + a->failed == 1 ? "" : "s");
    return SAY_DONE;
}

static int
start_again(const seine_job_about *a)
{
    job_command c;
    int code = job_command_load(a, &c);

    if (code != SAY_DONE)
        return code;
    code = job_command_resume(&c, a);
    job_command_free(&c);
    return code;
}

static int
run_resume(const args *a)
{
    const settings *set = a->settings;
    seine_job_view *v;

    if (set->store.count > 0)
        return fleet_jobs_steer(&set->store, a->words[0], "running");
    int code = open_view(set->state, a->words[0], &v);
    if (code != SAY_DONE)
        return code;
    const seine_job_about *about = seine_job_view_about(v);
    code = refuse_resume(about);
    if (code == SAY_DONE && about->status == SEINE_JOB_IS_RUNNING)
        code = tell_job(about, "resume", NULL);
    else if (code == SAY_DONE)
        code = start_again(about);
    seine_job_view_free(v);
    return code;
}

/* repair */

/* "1,204 of 1,210 URLs" */
static void
print_part(uint64_t kept, uint64_t lost, const char *what)
{
    if (lost == 0)
        out_print("all %s %s", figure_count(kept).text, what);
    else
        out_print("%s of %s %s", figure_count(kept).text, figure_count(kept + lost).text,
                  what);
}

static int
run_repair(const args *a)
{
    const settings *set = a->settings;
    seine_job_repaired got;
    seine_diag diag = SEINE_DIAG;
    char line[SEINE_DIAG_ROOM];
    seine_err e = seine_job_repair(set->state, a->words[0], &got, &diag);

    if (e == SEINE_E_STATE_CORRUPT || e == SEINE_E_STATE_FOREIGN) {
        (void)seine_diag_print(&diag, NULL, line, sizeof line);
        return say_fail(SAY_USAGE, "its command with --fresh", "%s", line);
    }
    if (e != SEINE_OK)
        return no_job(e, &diag);
    if (got.is_sound) {
        out_print("job '%s' is not damaged\n", show(a->words[0]).text);
        return SAY_DONE;
    }
    out_text("saved ");
    print_part(got.urls, got.urls_lost, "URLs");
    out_text(", ");
    print_part(got.results, got.results_lost, "results");
    out_text(", ");
    print_part(got.others, got.others_lost, "other rows");
    out_print("%s\nthe damaged state is %s/%s/job.db.damaged\n",
              got.has_guessed ? ", and perhaps more is lost" : "", show(set->state).text,
              show(a->words[0]).text);
    if (!a->quiet)
        say_note("it goes on by: %s",
                 job_hint("jobs resume", a->words[0], set->state).text);
    return SAY_DONE;
}

/* rm */

typedef struct removal {
    const settings *set;
    const char **names;
    size_t n, cap;
    uint64_t bytes;
    bool is_named; /* the user has named them */
    int code;
} removal;

static bool
is_old(const settings *set, const seine_job_about *a)
{
    return set->older_than == 0 || job_facts_wall() - a->updated > set->older_than;
}

static void
pick_job(const char *name, void *arg)
{
    removal *r = arg;
    seine_job_view *v;
    seine_diag diag = SEINE_DIAG;
    seine_err e = seine_job_view_open(r->set->state, name, &v, &diag);

    if (e != SEINE_OK) {
        if (r->is_named && r->code == SAY_DONE)
            r->code = no_job(e, &diag);
        return;
    }
    const seine_job_about *a = seine_job_view_about(v);
    bool is_running = a->status == SEINE_JOB_IS_RUNNING;
    if (is_running && r->is_named && r->code == SAY_DONE)
        r->code = say_fail(SAY_USAGE, "seine jobs stop JOB, first", "job '%s' is running",
                           show(name).text);
    if (!is_running && is_old(r->set, a)) {
        r->names = xalloc_room(r->names, r->n, &r->cap, sizeof *r->names);
        r->names[r->n++] = xalloc_copy(name, strlen(name));
        r->bytes += a->bytes;
    }
    seine_job_view_free(v);
}

/* Whether the user says yes on the terminal. */
static bool
is_agreed(const removal *r)
{
    char line[16] = "";

    fprintf(stderr, "seine: remove %s%s%s, %s? [y/N] ", r->n == 1 ? "job " : "",
            r->n == 1 ? r->names[0] : figure_count(r->n).text, r->n == 1 ? "" : " jobs",
            figure_bytes(r->bytes).text);
    fflush(stderr);
    return fgets(line, sizeof line, stdin) && (line[0] == 'y' || line[0] == 'Y');
}

static int
remove_picked(removal *r)
{
    for (size_t i = 0; i < r->n; i++) {
        seine_diag diag = SEINE_DIAG;
        seine_err e = seine_job_remove(r->set->state, r->names[i], &diag);

        if (e != SEINE_OK)
            return no_job(e, &diag);
        out_print("%s\n", r->names[i]);
    }
    return SAY_DONE;
}

static int
run_rm(const args *a)
{
    const settings *set = a->settings;

    if (set->store.count > 0)
        return fleet_jobs_rm(&set->store, (const char *const *)a->words, a->count);
    removal r = {.set = a->settings, .is_named = a->count > 0};
    seine_diag diag = SEINE_DIAG;

    if (a->count == 0 && !options_given(a, "older-than"))
        return say_fail(SAY_USAGE, "seine jobs rm JOB, or --older-than 30d",
                        "no job is named");
    for (size_t i = 0; i < a->count && r.code == SAY_DONE; i++)
        pick_job(a->words[i], &r);
    if (a->count == 0) {
        seine_err e = seine_jobs_each(r.set->state, pick_job, &r, &diag);

        if (e != SEINE_OK)
            r.code = no_job(e, &diag);
    }
    bool has_yes = r.set->yes || r.n == 0;
    if (r.code == SAY_DONE && !has_yes) {
        if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
            r.code = say_fail(SAY_USAGE, "--yes", "no terminal to ask on");
        else
            has_yes = is_agreed(&r);
    }
    if (r.code == SAY_DONE && has_yes)
        r.code = remove_picked(&r);
    for (size_t i = 0; i < r.n; i++)
        free((char *)r.names[i]);
    free(r.names);
    return r.code;
}
