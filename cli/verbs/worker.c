/* SPDX-License-Identifier: Apache-2.0 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <seine/fleet_view.h>
#include <seine/plumbing.h>

#include "gate_run/redis_url.h"
#include "jobs/job_command.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "verbs/fleet_run.h"
#include "verbs/verbs.h"

typedef struct settings {
    texts store, jobs;
    const char *out, *metrics, *metrics_file;
    uint64_t concurrency;
    seine_span lease, store_wait;
    bool accept_store_loss;
} settings;

static int run_worker(const args *a);

#define AT(member) .at = offsetof(settings, member)

/* clang-format off */
static const option options[] = {
    {"store", NULL, KIND_LIST, "URL", AT(store), .env = true,
     .help = "where the job is: redis://HOST:PORT/DB, env:NAME or file:PATH"},
    {"job", NULL, KIND_LIST, "NAME", AT(jobs), .env = true,
     .help = "the name of a job; several: all of them at once; none: all there are, and those to come"},
    {"concurrency", "c", KIND_COUNT, "N", AT(concurrency), .min = 1, .max = 65536, .env = true,
     .help = "requests in flight here; as the job was started if not given"},
    {"out", NULL, KIND_FILE, "DIR", "segments", AT(out), .env = true,
     .help = "where segments are written"},
    {"lease", NULL, KIND_SPAN, "D", "15s", AT(lease), .env = true, .rare = true,
     .help = "how long a partition waits for a worker that is gone"},
    {"store-wait", NULL, KIND_SPAN, "D", "10m", AT(store_wait), .env = true, .rare = true,
     .help = "how long to wait for a --store that is away or full"},
    {"accept-store-loss", NULL, KIND_FLAG, AT(accept_store_loss), .env = true, .rare = true,
     .help = "also use a --store that may lose its last second (appendfsync everysec)"},
    {"metrics", NULL, KIND_TEXT, "[HOST:]PORT", AT(metrics), .env = true, .rare = true,
     .help = "serve metrics of this worker for Prometheus"},
    {"metrics-file", NULL, KIND_FILE, "FILE", AT(metrics_file), .env = true, .rare = true,
     .help = "write metrics of this worker for Prometheus to FILE"},
    {.name = NULL},
};

static const example examples[] = {
    {"seine worker --store redis://127.0.0.1:6379 --job news --out /srv/segments",
     "Joins a job that `seine crawl … --store … --job news`, or `seine run`, has made:"},
    {"seine worker --store redis://127.0.0.1:6379", "Works on whatever comes, until it is stopped:"},
    {NULL, NULL},
};

const command cmd_worker = {
    .name = "worker",
    .arguments = "",
    .about = "work on a crawl or recipe that is shared through Redis",
    .text = "Takes its share of the partitions of a job, fetches what waits there, and ends when all workers together have nothing left to do. The job is run with the options of "
            "the command that made it. Any number of workers may join and leave at any time; when one dies, others take over what it had within --lease. "
            "A job that is not there yet is waited for. With several jobs, or none named, each job has a process of its own, and the worker starts and ends them.\n\n"
            "Records are written to files in --out, one for each partition and tenure. `seine jobs export` joins those of all workers; each URL has one record.\n\n"
            "INT and TERM stop it in order: what is in flight may end, partitions are given back at once. Exit codes: 0 the job is done, 2 usage, 3 this machine or Redis, 130 143 signals.",
    .options = options,
    .examples = examples,
    .settings_size = sizeof(settings),
    .max_args = 0,
    .run = run_worker,
};
/* clang-format on */

static void
add_span(job_command *c, const args *a, const char *name, seine_span value)
{
    char text[40];

    if (!options_given(a, name))
        return;
    snprintf(text, sizeof text, "%lldms", (long long)(value / SEINE_MS(1)));
    job_command_add_value(c, name, text);
}

/* The options of this worker take the place of those that the job was made with. */
static void
replace_options(job_command *c, const args *a, const char *job)
{
    static const char *const values[] = {"--store", "--out", "--job", "--lease",
                                         "--store-wait"};
    static const char *const flags[] = {"--submit", "--join", "--accept-store-loss"};
    const settings *set = a->settings;
    char n[24];

    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        job_command_drop_value(c, values[i], "\x01\x01");
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        job_command_drop(c, flags[i]);
    if (options_given(a, "concurrency")) {
        snprintf(n, sizeof n, "%llu", (unsigned long long)set->concurrency);
        job_command_drop_value(c, "--concurrency", "-c");
        job_command_add_value(c, "concurrency", n);
    }
    const char *const own[][2] = {{"metrics", set->metrics},
                                  {"metrics-file", set->metrics_file}};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (own[i][1]) {
            char name[24];

            snprintf(name, sizeof name, "--%s", own[i][0]);
            job_command_drop_value(c, name, "\x01\x01");
            job_command_add_value(c, own[i][0], own[i][1]);
        }
    job_command_add(c, "--join");
    job_command_add_value(c, "job", job);
    job_command_add_value(c, "out", set->out);
    add_span(c, a, "lease", set->lease);
    add_span(c, a, "store-wait", set->store_wait);
    if (set->accept_store_loss)
        job_command_add(c, "--accept-store-loss");
    if (a->quiet)
        job_command_add(c, "--quiet");
}

/* A job is made by `seine crawl` or `seine run`. Another command in Redis was put there
 * by somebody else: `seine limit --exec` would start any program here. */
static int
check_command(job_command *c, const char *job)
{
    bool is_fine = c->count > 2 &&
                   (strcmp(c->words[1], "crawl") == 0 || strcmp(c->words[1], "run") == 0);

    c->options = 2; /* whatever stands in Redis as its verb */
    return is_fine ? SAY_DONE
                   : say_fail(SAY_USAGE, "see who else may write to this Redis",
                              "job '%s': its command in Redis is neither seine crawl nor "
                              "seine run",
                              show(job).text);
}

/* Through the environment: what stands there is not in the list of processes. */
static void
pass_stores(const char *urls, size_t n)
{
    textbuf all = {NULL, 0, 0};

    for (size_t i = 0; i < n; i++)
        textbuf_put(&all, "%s%s", i > 0 ? "," : "", urls + i * REDIS_URL_ROOM);
    setenv("SEINE_STORE", all.text, 1);
    textbuf_free(&all);
}

static int
refuse(seine_err e, const seine_diag *diag)
{
    return say_fail(e == SEINE_E_STORE_UNAVAILABLE || e == SEINE_E_NOMEM ? SAY_MACHINE
                                                                         : SAY_USAGE,
                    NULL, "--store: %s", diag->text[0] ? diag->text : seine_err_text(e));
}

/* Opens Redis, and lets the commands of jobs know where it is. */
static int
open_view(const args *a, seine_fleet_view **out_view)
{
    const settings *set = a->settings;
    const char *stores[16];
    seine_diag diag = SEINE_DIAG;
    char *urls = NULL;

    if (set->store.count > 16)
        return say_fail(SAY_USAGE, "16 of them", "--store: too many servers");
    int code = fleet_run_urls(&set->store, &urls);
    if (code != SAY_DONE)
        return code;
    for (size_t i = 0; i < set->store.count; i++)
        stores[i] = urls + i * REDIS_URL_ROOM;
    pass_stores(urls, set->store.count);
    seine_err e = seine_fleet_view_open(stores, set->store.count, out_view, &diag);
    seine_wipe(urls, set->store.count * REDIS_URL_ROOM);
    free(urls);
    return e == SEINE_OK ? SAY_DONE : refuse(e, &diag);
}

/* Waiting. */

enum { LOOK_AGAIN_S = 1 };

/* What there is to do. */
typedef struct found_names {
    char **items;
    size_t n, cap;
} found_names;

static void
keep_name(seine_view name, void *arg)
{
    found_names *all = arg;

    all->items = xalloc_room(all->items, all->n + 1, &all->cap, sizeof *all->items);
    all->items[all->n++] = xalloc_copy(name.ptr, name.len);
}

static void
free_names(found_names *all)
{
    for (size_t i = 0; i < all->n; i++)
        free(all->items[i]);
    free(all->items);
    *all = (found_names){NULL, 0, 0};
}

/* The jobs that are in Redis. */
static int
read_names(seine_fleet_view *view, found_names *out)
{
    seine_diag diag = SEINE_DIAG;
    seine_err e = seine_fleet_view_names(view, keep_name, out, &diag);

    return e == SEINE_OK ? SAY_DONE : refuse(e, &diag);
}

static bool
has_name(const found_names *all, const char *name)
{
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->items[i], name) == 0)
            return true;
    return false;
}

static void
nap(void)
{
    const struct timespec t = {.tv_sec = LOOK_AGAIN_S};

    (void)nanosleep(&t, NULL);
}

/* Until somebody has made the job. */
static int
wait_for_job(const args *a, seine_fleet_view *view, const char *job)
{
    bool is_told = false;

    for (;;) {
        found_names all = {NULL, 0, 0};
        int code = read_names(view, &all);
        bool is_there = has_name(&all, job);

        free_names(&all);
        if (code != SAY_DONE || is_there)
            return code;
        if (!is_told && !a->quiet)
            say_note("there is no job '%s' yet: waiting for it", show(job).text);
        is_told = true;
        nap();
    }
}

/* Reads how the job was started. */
static int
load_command(seine_fleet_view *view, const char *job, job_command *out)
{
    seine_fleet_about about;
    seine_diag diag = SEINE_DIAG;
    seine_err e = seine_fleet_view_job(view, job, &about, &diag);

    if (e != SEINE_OK)
        return refuse(e, &diag);
    return job_command_load(&(seine_job_about){.name = about.name,
                                               .verb = about.verb,
                                               .command = about.command},
                            out);
}

/* The command of the job takes the place of this process. */
static int
work_on(const args *a, seine_fleet_view **view, const char *job)
{
    job_command c = {.words = NULL};
    int code = wait_for_job(a, *view, job);

    if (code == SAY_DONE)
        code = load_command(*view, job, &c);
    if (code == SAY_DONE)
        code = check_command(&c, job);
    if (code == SAY_DONE) {
        replace_options(&c, a, job);
        free(c.cwd);
        c.cwd = NULL; /* of another machine, perhaps */
        seine_fleet_view_free(*view);
        *view = NULL;
        code = job_command_run(&c);
    }
    job_command_free(&c);
    return code;
}

/* Several jobs: a process for each. */

typedef struct job_child {
    char *job;
    pid_t pid; /* 0: it has ended */
    int code;
} job_child;

typedef struct job_children {
    job_child *items;
    size_t n, cap;
    int signal; /* that ends them */
    int code;   /* the worst */
} job_children;

static const int watched[] = {SIGINT, SIGTERM, SIGCHLD};

static sigset_t
watched_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < sizeof watched / sizeof *watched; i++)
        sigaddset(&set, watched[i]);
    return set;
}

static void
start_child(const args *a, const char *job, job_children *all)
{
    sigset_t set = watched_signals();
    pid_t parent = getpid(), pid = fork();

    if (pid == 0) {
        seine_fleet_view *view = NULL;

        (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
        (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
        if (getppid() != parent)
            _exit(SAY_MACHINE);
        int code = open_view(a, &view);
        _exit(code == SAY_DONE ? work_on(a, &view, job) : code);
    }
    all->items = xalloc_room(all->items, all->n + 1, &all->cap, sizeof *all->items);
    all->items[all->n++] = (job_child){.job = xalloc_copy(job, strlen(job)),
                                       .pid = pid > 0 ? pid : 0,
                                       .code = pid > 0 ? 0 : SAY_MACHINE};
}

static const job_child *
child_of(const job_children *all, const char *job)
{
    for (size_t i = all->n; i > 0; i--)
        if (strcmp(all->items[i - 1].job, job) == 0)
            return &all->items[i - 1];
    return NULL;
}

static size_t
reap(job_children *all)
{
    size_t running = 0;
    int status;

    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        for (size_t i = 0; i < all->n; i++) {
            job_child *c = &all->items[i];

            if (c->pid != pid)
                continue;
            c->pid = 0;
            c->code = WIFEXITED(status) ? WEXITSTATUS(status) : SAY_MACHINE;
            if (c->code > all->code && c->code < SAY_SIGNAL)
                all->code = c->code;
        }
    for (size_t i = 0; i < all->n; i++)
        running += all->items[i].pid > 0;
    return running;
}

/* Is it unfinished, and not under way here? One that was stopped is left alone. */
static bool
is_wanted(seine_fleet_view *view, const job_children *all, const char *job)
{
    const job_child *c = child_of(all, job);
    seine_diag diag = SEINE_DIAG;
    seine_fleet_about about;

    if (c && (c->pid > 0 || c->code == SAY_USAGE))
        return false;
    return seine_fleet_view_job(view, job, &about, &diag) == SEINE_OK &&
           (strcmp(about.state, "running") == 0 || strcmp(about.state, "paused") == 0);
}

/* Starts what is to be started; *out_waits: a job that is named is not finished. A Redis
 * that is away is asked again. */
static void
look(const args *a, job_children *all, bool *out_waits)
{
    const settings *set = a->settings;
    seine_fleet_view *view = NULL;
    seine_diag diag = SEINE_DIAG;
    found_names names = {NULL, 0, 0};

    *out_waits = set->jobs.count == 0;
    if (open_view(a, &view) != SAY_DONE ||
        seine_fleet_view_names(view, keep_name, &names, &diag) != SEINE_OK) {
        *out_waits = true;
    } else {
        for (size_t i = 0; i < names.n && set->jobs.count == 0; i++)
            if (is_wanted(view, all, names.items[i]))
                start_child(a, names.items[i], all);
        for (size_t i = 0; i < set->jobs.count; i++) {
            if (!has_name(&names, set->jobs.items[i]))
                *out_waits = true;
            else if (!child_of(all, set->jobs.items[i]))
                start_child(a, set->jobs.items[i], all);
        }
    }
    free_names(&names);
    seine_fleet_view_free(view);
}

static int
work_on_all(const args *a)
{
    const struct timespec patience = {.tv_sec = LOOK_AGAIN_S};
    sigset_t set = watched_signals();
    job_children all = {NULL, 0, 0, 0, SAY_DONE};
    bool waits = true;

    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    for (;;) {
        if (!all.signal)
            look(a, &all, &waits);
        size_t running = reap(&all);
        if (running == 0 && (all.signal || !waits))
            break;
        int got = sigtimedwait(&set, NULL, &patience);
        if (got != SIGINT && got != SIGTERM)
            continue;
        all.signal = got;
        for (size_t i = 0; i < all.n; i++)
            if (all.items[i].pid > 0)
                (void)kill(all.items[i].pid, got);
    }
    for (size_t i = 0; i < all.n; i++)
        free(all.items[i].job);
    free(all.items);
    return all.signal ? SAY_SIGNAL + all.signal : all.code;
}

static int
run_worker(const args *a)
{
    const settings *set = a->settings;
    seine_fleet_view *view = NULL;

    if (set->store.count == 0)
        return say_fail(SAY_USAGE, "seine worker --store redis://HOST --job NAME",
                        "--store is needed");
    int code = open_view(a, &view);
    if (code != SAY_DONE)
        return code;
    if (set->jobs.count == 1)
        code = work_on(a, &view, set->jobs.items[0]);
    seine_fleet_view_free(view);
    return set->jobs.count == 1 ? code : work_on_all(a);
}
