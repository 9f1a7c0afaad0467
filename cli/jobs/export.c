/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <seine/fleet_view.h>
#include <seine/plumbing.h>

#include "gate_run/redis_url.h"
#include "recipes/fleet_recipe.h"
#include "recipes/fleet_rows.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/fleet_run.h"
#include "verbs/verbs.h"

typedef struct settings {
    texts store;
    const char *output;
    bool flat;
} settings;

static int run_export(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"store", NULL, KIND_LIST, "URL", AT(store), .env = true,
     .help = "where the job is: redis://HOST:PORT/DB, env:NAME or file:PATH"},
    {"output", "o", KIND_FILE, "FILE", "-", AT(output),
     .help = "the file of all records, JSON lines; -: standard output"},
    {"flat", NULL, KIND_FLAG, AT(flat), .help = "of a recipe: write the data of good rows alone"},
    {.name = NULL},
};

static const example examples[] = {
    {"seine jobs export news --store redis://127.0.0.1:6379 segments -o news.jsonl",
     "All records of a job, one for each URL:"},
    {NULL, NULL},
};

const command cmd_jobs_export = {
    .name = "jobs export",
    .arguments = "JOB DIR…",
    .about = "join the segments of a job that is in Redis",
    .text = "The workers of a job write what they fetch to segments, files in their --out. Redis knows which segments there are and how much of each counts. The directories are those of "
            "all workers, copied or mounted here. Records are numbered anew. A segment that is missing, or shorter than it should be, is exit code 3 and nothing is written behind it.\n\n"
            "Of a recipe the rows are written, and to a file the records of their pages as well. A row whose `unique` fields came before, on a page of any worker, is a bad one. What "
            "the recipe expects of a whole run is judged once the job is finished: exit code 6.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .max_args = SIZE_MAX,
    .run = run_export,
};
/* clang-format on */

typedef struct export
{
    const args *args;
    FILE *to;
    uint64_t seq;
    int code;
    char *line;
    size_t room;
    fleet_rows *rows; /* of a recipe; NULL: of a crawl */
    bool is_finished; /* the job */
}
export;

/* DIR/JOB/NAME, or DIR/NAME. */
static FILE *
find_segment(const export *x, const seine_fleet_segment *s)
{
    for (size_t i = 1; i < x->args->count; i++)
        for (int deep = 1; deep >= 0; deep--) {
            char path[4096];
            int n = snprintf(path, sizeof path, "%s/%s%s%.*s", x->args->words[i],
                             deep ? x->args->words[0] : "", deep ? "/" : "",
                             (int)s->name.len, s->name.ptr);
            FILE *f = n > 0 && (size_t)n < sizeof path ? fopen(path, "re") : NULL;

            if (f)
                return f;
        }
    return NULL;
}

/* Writes the line with its number in this file. */
static bool
write_line(export *x, const char *line, size_t n)
{
    static const char name[] = "\"seq\":";
    const char *at = memmem(line, n, name, sizeof name - 1);

    x->seq++;
    if (!at)
        return fwrite(line, 1, n, x->to) == n;
    at += sizeof name - 1;
    size_t head = (size_t)(at - line), digits = strspn(at, "0123456789");
    return fwrite(line, 1, head, x->to) == head &&
           fprintf(x->to, "%llu", (unsigned long long)x->seq) > 0 &&
           fwrite(at + digits, 1, n - head - digits, x->to) == n - head - digits;
}

/* A line of a segment: of a crawl as it is, of a recipe as all of its rows want it. */
static bool
take_line(export *x, const char *line, size_t n)
{
    size_t len = 0;

    if (!x->rows)
        return write_line(x, line, n);
    char *text = fleet_rows_line(x->rows, line, n, &len);
    bool fine = !text || (x->rows->flat ? fwrite(text, 1, len, x->to) == len
                                        : write_line(x, text, len));
    free(text);
    return fine;
}

static int
copy_segment(export *x, const seine_fleet_segment *s, FILE *from)
{
    uint64_t taken = 0, records = 0;
    ssize_t n;

    while (taken < s->bytes && (n = getline(&x->line, &x->room, from)) > 0) {
        taken += (uint64_t)n;
        records++;
        if (taken <= s->bytes && !take_line(x, x->line, (size_t)n))
            return say_fail(SAY_MACHINE, "free some space, or another --output",
                            "cannot write '%s': %s",
                            show(((const settings *)x->args->settings)->output).text,
                            show_errno(errno).text);
    }
    if (taken == s->bytes && records == s->records)
        return SAY_DONE;
    return say_fail(
        SAY_MACHINE, "the whole file of that worker",
        "segment '%s' of %s is not what Redis knows of it: %llu of %llu bytes, "
        "%llu of %llu records",
        show_bytes(s->name.ptr, s->name.len).text,
        show_bytes(s->host.ptr, s->host.len).text, (unsigned long long)taken,
        (unsigned long long)s->bytes, (unsigned long long)records,
        (unsigned long long)s->records);
}

static void
take_segment(const seine_fleet_segment *s, void *arg)
{
    export *x = arg;

    if (x->code != SAY_DONE || s->bytes == 0)
        return;
    FILE *from = find_segment(x, s);
    if (!from) {
        x->code =
            say_fail(SAY_MACHINE, "its directory, too", "segment '%s' of %s is missing",
                     show_bytes(s->name.ptr, s->name.len).text,
                     show_bytes(s->host.ptr, s->host.len).text);
        return;
    }
    x->code = copy_segment(x, s, from);
    fclose(from);
}

static int
refuse(seine_err e, const seine_diag *diag)
{
    return say_fail(e == SEINE_E_STORE_UNAVAILABLE ? SAY_MACHINE : SAY_USAGE, NULL,
                    "--store: %s", diag->text[0] ? diag->text : seine_err_text(e));
}

static int
copy_all(export *x, seine_fleet_view *v)
{
    seine_diag diag = SEINE_DIAG;
    seine_err e = seine_fleet_view_segments(v, x->args->words[0], take_segment, x, &diag);

    return e == SEINE_OK ? x->code : refuse(e, &diag);
}

static int
export_recipe(export *x, seine_fleet_view *v, const recipe_file *recipe)
{
    const settings *set = x->args->settings;
    fleet_rows rows;

    fleet_rows_init(&rows, recipe);
    rows.flat = set->flat;
    rows.has_records = strcmp(set->output, "-") != 0;
    x->rows = &rows;
    int code = copy_all(x, v);
    if (code == SAY_DONE)
        code = fleet_rows_end(&rows, x->is_finished, x->args->quiet);
    fleet_rows_fini(&rows);
    x->rows = NULL;
    return code;
}

/* Is it finished, and what is its recipe? */
static int
export_job(export *x, seine_fleet_view *v)
{
    const settings *set = x->args->settings;
    const char *job = x->args->words[0];
    seine_diag diag = SEINE_DIAG;
    fleet_recipe made;
    seine_fleet_about about;
    seine_err e = seine_fleet_view_job(v, job, &about, &diag);

    if (e != SEINE_OK)
        return refuse(e, &diag);
    x->is_finished = strcmp(about.state, "finished") == 0;
    int code = fleet_recipe_load(v, job, &made);
    if (code == SAY_DONE && set->flat && !made.has_recipe)
        code = say_fail(SAY_USAGE, "leave --flat out", "job '%s' is no recipe",
                        show(job).text);
    if (code == SAY_DONE)
        code = made.has_recipe ? export_recipe(x, v, &made.recipe) : copy_all(x, v);
    fleet_recipe_free(&made);
    return code;
}

static int
export_all(export *x, const char *urls)
{
    const settings *set = x->args->settings;
    const char *stores[16];
    seine_diag diag = SEINE_DIAG;
    seine_fleet_view *v = NULL;

    for (size_t i = 0; i < set->store.count; i++)
        stores[i] = urls + i * REDIS_URL_ROOM;
    seine_err e = seine_fleet_view_open(stores, set->store.count, &v, &diag);
    int code = e == SEINE_OK ? export_job(x, v) : refuse(e, &diag);
    seine_fleet_view_free(v);
    return code;
}

/* Opens the file of all records anew; never what a link leads to, but for /dev/stdout and
 * its like. */
static FILE *
open_output(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY,
                  0666);

    if (fd < 0 && errno == ELOOP)
        fd = seine_file_append(path);
    FILE *to = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (!to && fd >= 0)
        close(fd);
    return to;
}

static int
run_export(const args *a)
{
    const settings *set = a->settings;
    export x = {.args = a, .to = stdout, .code = SAY_DONE};
    bool is_file = strcmp(set->output, "-") != 0;
    char *urls = NULL;

    if (a->count < 2 || set->store.count == 0 || set->store.count > 16)
        return say_fail(SAY_USAGE, "seine jobs export JOB --store URL DIR -o FILE",
                        "a job, --store and directories of segments are needed");
    int code = fleet_run_urls(&set->store, &urls);
    if (code != SAY_DONE)
        return code;
    if (is_file && !(x.to = open_output(set->output)))
        code = say_fail(SAY_USAGE, "another name", "cannot write '%s': %s",
                        show(set->output).text, show_errno(errno).text);
    if (code == SAY_DONE)
        code = export_all(&x, urls);
    if (x.to && (is_file ? fclose(x.to) : fflush(x.to)) != 0 && code == SAY_DONE)
        code = say_fail(SAY_MACHINE, "free some space", "cannot write '%s': %s",
                        show(set->output).text, show_errno(errno).text);
    free(x.line);
    seine_wipe(urls, set->store.count * REDIS_URL_ROOM);
    free(urls);
    return code;
}
