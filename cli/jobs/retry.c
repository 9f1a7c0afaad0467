/* SPDX-License-Identifier: Apache-2.0 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/job_retry.h>
#include <seine/plumbing.h>

#include "jobs/job_command.h"
#include "jobs/job_hint.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"
#include "verbs/verbs.h"

typedef struct settings {
    const char *state, *where;
    texts output;
    bool append, dry_run;
} settings;

static int run_retry(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"where", NULL, KIND_TEXT, "EXPR", AT(where),
     .help = "which of the finished URLs; not ok and outcome != blocked",
     .more = "A condition on the members of a result: url, host, outcome, ok, status, error.kind, attempts, depth, ts, bytes_in, bytes_body, time.total (in ms), seq. "
             "`outcome=timeout and host ~ '\\.example$'`"},
    {"output", "o", KIND_FILES, "FILE", AT(output),
     .help = "write the records there; may be repeated"},
    {"append", NULL, KIND_FLAG, AT(append),
     .help = "write the records behind those of the job",
     .more = "A URL then has more than one record in a file, and the last one counts; in a database its row is replaced."},
    {"dry-run", NULL, KIND_FLAG, AT(dry_run),
     .help = "say how many URLs there are, and do nothing"},
    {"state", NULL, KIND_FILE, "DIR", ".seine", AT(state), .env = true,
     .help = "where jobs are kept"},
    {.name = NULL},
};

static const example examples[] = {
    {"seine retry docs.example -o again.jsonl", "What has failed, once more:"},
    {"seine retry docs.example --where 'status in [500, 502, 503]' --append", "Only these, behind the records that are there:"},
    {"seine retry docs.example --where 'outcome=timeout' --dry-run", "How many are there?"},
    {NULL, NULL},
};

const command cmd_retry = {
    .name = "retry",
    .arguments = "JOB",
    .about = "fetch finished URLs of a job again, by a condition",
    .is_small = true,
    .text = "The results for which the condition holds are opened again, and the command of the job goes on with them, in the directory in which it was typed. "
            "Nothing is emptied: other results, URLs that are known and outputs stay, and links that are new are followed. A job with outputs needs --append or -o.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .min_args = 1,
    .max_args = 1,
    .run = run_retry,
};
/* clang-format on */

/* The outputs of the job, as it was started. */
static size_t
count_outputs(const seine_json *spec)
{
    const seine_json *list = seine_json_get(spec, "output");
    size_t n = 0, len;
    const char *name;

    for (size_t i = 0; i < seine_json_size(list); i++)
        n += seine_json_string(seine_json_at(list, i), &name, &len) &&
             strcmp(name, "-") != 0;
    return n;
}

/* The command runs in another directory. */
static char *
absolute(const char *path)
{
    char cwd[PATH_MAX];
    textbuf text = {NULL, 0, 0};

    if (path[0] == '/' || strcmp(path, "-") == 0 || !getcwd(cwd, sizeof cwd))
        return xalloc_copy(path, strlen(path));
    textbuf_put(&text, "%s/%s", cwd, path);
    return text.text;
}

/* Other outputs: in the command, and in what the job takes for the same command. */
static char *
redirect(const settings *set, job_command *c, seine_json *spec)
{
    seine_json *list = xalloc_json(seine_json_new_array());
    seine_text text = {NULL, 0};

    job_command_drop_value(c, "--output", "-o");
    for (size_t i = 0; i < set->output.count; i++) {
        char *path = absolute(set->output.items[i]);

        job_command_add(c, "-o");
        job_command_add(c, path);
        jsonl_add(list, jsonl_string(path));
        free(path);
    }
    jsonl_set(spec, "output", list);
    char *out = seine_json_print(spec, &text) == SEINE_OK
                    ? xalloc_copy(text.bytes, text.len)
                    : NULL;
    seine_text_free(&text);
    return out;
}

static int
refuse(const char *name, seine_err e, const seine_diag *diag)
{
    char line[SEINE_DIAG_ROOM], hint[160];

    if (e == SEINE_E_NOMEM)
        return say_fail(SAY_MACHINE, NULL, "out of memory");
    if (e == SEINE_E_CONFIG)
        return say_fail(SAY_USAGE, "--where 'outcome=timeout'", "--where, column %u: %s",
                        (unsigned)diag->column, diag->text);
    if (seine_diag_print(diag, NULL, line, sizeof line) == 0)
        snprintf(line, sizeof line, "%s", seine_err_text(e));
    snprintf(hint, sizeof hint,
             e == SEINE_E_STATE_LOCKED ? "seine jobs stop %.132s" : "seine jobs ls",
             name);
    return say_fail(e == SEINE_E_DISK_FULL ? SAY_MACHINE : SAY_USAGE, hint, "%s", line);
}

static int
retry_job(const settings *set, const seine_job_about *a, job_command *c, seine_json *spec)
{
    seine_job_retry_opts o = SEINE_JOB_RETRY_OPTS;
    seine_diag diag = SEINE_DIAG;
    uint64_t n = 0;
    char *new_spec = set->output.count > 0 ? redirect(set, c, spec) : NULL;
    char *line = new_spec ? job_command_print(c) : NULL;

    o.state = set->state;
    o.name = a->name;
    o.where = set->where;
    o.spec = new_spec;
    o.command = line;
    o.is_trial = set->dry_run;
    seine_err e = seine_job_retry(&o, &n, &diag);
    free(new_spec);
    free(line);
    if (e != SEINE_OK)
        return refuse(a->name, e, &diag);
    if (set->dry_run)
        out_print("%llu\n", (unsigned long long)n);
    else if (n == 0)
        say_note("nothing of job '%s' is to be fetched again", a->name);
    return set->dry_run || n == 0 ? SAY_DONE : job_command_resume(c, a);
}

/* Without a word about outputs a file would have two records of a URL unasked. */
static int
check_outputs(const settings *set, const seine_job_about *a, const seine_json *spec)
{
    if (set->append && set->output.count > 0)
        return say_fail(SAY_USAGE, "one of the two", "--append and --output");
    if (set->dry_run || set->append || set->output.count > 0 || count_outputs(spec) == 0)
        return SAY_DONE;
    return say_fail(
        SAY_USAGE, "--append, or -o FILE",
        "job '%s' has outputs: the records of a retry come behind them, or go "
        "elsewhere",
        a->name);
}

static int
run_view(const settings *set, seine_job_view *v)
{
    const seine_job_about *a = seine_job_view_about(v);
    seine_json *spec = NULL;
    seine_json_fault fault;
    job_command c;

    if (a->err != SEINE_OK)
        return say_fail(SAY_USAGE, job_hint_about("jobs repair", a).text, "%s", a->why);
    if (strcmp(a->verb, "check") == 0)
        return say_fail(SAY_USAGE,
                        "the command of the check again: it asks for all links",
                        "job '%s' is a link check", a->name);
    if (strcmp(a->verb, "run") == 0)
        return say_fail(SAY_USAGE, "the command of the run again: it is the next run",
                        "job '%s' is a run of a recipe", a->name);
    if (seine_json_parse(a->spec, strlen(a->spec), &spec, &fault) != SEINE_OK)
        return say_fail(SAY_USAGE, NULL, "job '%s': %s", a->name, fault.text);
    int code = check_outputs(set, a, spec);
    if (code == SAY_DONE)
        code = job_command_load(a, &c);
    if (code == SAY_DONE) {
        code = retry_job(set, a, &c, spec);
        job_command_free(&c);
    }
    seine_json_free(spec);
    return code;
}

static int
run_retry(const args *a)
{
    const settings *set = a->settings;
    seine_diag diag = SEINE_DIAG;
    seine_job_view *v;
    seine_err e = seine_job_view_open(set->state, a->words[0], &v, &diag);

    if (e != SEINE_OK)
        return refuse(a->words[0], e, &diag);
    int code = run_view(set, v);
    seine_job_view_free(v);
    return code;
}
