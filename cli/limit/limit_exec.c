/* SPDX-License-Identifier: Apache-2.0 */
/* The commands of `seine limit --exec`: each line becomes a process on a worker of the
 * library's pool. Its output is passed on in whole lines, and its end becomes a record.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seine/pool.h>
#include <seine/retry.h>

#include "limit/exec_record.h"
#include "limit/limit.h"
#include "screen/say.h"
#include "screen/textbuf.h"
#include "screen/xalloc.h"
#include "sim/traffic.h"
#include "verbs/child_process.h"

enum { LONGEST_LINE = 1 << 20 }; /* a longer one is passed on in pieces */

typedef struct limit_exec {
    command_line command;
    seine_pool *pool;
    seine_ctx *pool_ctx;
    pthread_cond_t slot_free;
    uint64_t running;
    atomic_int *groups; /* of the commands that run, by slot */
    bool *is_taken;
    exec_records records;
} limit_exec;

/* A line on its way through a worker. */
typedef struct work {
    limit_run *run;
    char *text; /* the line; `line` points into it */
    paced_line line;
    char **argv;
    size_t slot;
    seine_time ready;
    textbuf half[2]; /* of standard output and error: a line whose end is missing */
} work;

/* Can the command be started at all? Better said before the first line than for each. */
static bool
is_program(const char *name)
{
    const char *path = getenv("PATH");
    struct stat st;

    if (strchr(name, '/'))
        return stat(name, &st) == 0 && S_ISREG(st.st_mode) && access(name, X_OK) == 0;
    for (const char *p = path ? path : "/bin:/usr/bin"; *p;) {
        size_t n = strcspn(p, ":");
        char file[4096];

        snprintf(file, sizeof file, "%.*s/%s", (int)n, n ? p : ".", name);
        if (stat(file, &st) == 0 && S_ISREG(st.st_mode) && access(file, X_OK) == 0)
            return true;
        p += n + (p[n] == ':');
    }
    return false;
}

static int
read_command(limit_exec *x, const limit_settings *set)
{
    const char *why = command_line_read(&x->command, set->exec);

    if (why)
        return say_fail(SAY_USAGE, "--exec './sync.sh --id {}'", "--exec '%s': %s",
                        show(set->exec).text, why);
    if (!strchr(x->command.words[0], '{') && !is_program(x->command.words[0]))
        return say_fail(SAY_USAGE, "its path, like --exec './sync.sh {}'; no shell runs",
                        "--exec: there is no program '%s'",
                        show(x->command.words[0]).text);
    return SAY_DONE;
}

static int
start_pool(limit_exec *x, const limit_settings *set)
{
    seine_pool_opts opts = SEINE_POOL_OPTS;

    opts.workers = (uint32_t)set->concurrency;
    opts.queue_cap = 0;
    if (seine_ctx_root(seine_clock_system(), &x->pool_ctx) != SEINE_OK ||
        seine_pool_new(&opts, x->pool_ctx, &x->pool) != SEINE_OK)
        return say_fail(SAY_MACHINE, "a smaller --concurrency", "no threads to be had");
    return SAY_DONE;
}

int
limit_exec_open(limit_run *r)
{
    limit_exec *x = r->exec = xalloc_zeroed(1, sizeof *x);

    x->groups = xalloc_zeroed(r->set->concurrency, sizeof *x->groups);
    x->is_taken = xalloc_zeroed(r->set->concurrency, sizeof *x->is_taken);
    pthread_cond_init(&x->slot_free, NULL);
    x->records.fd = -1;
    int code = read_command(x, r->set);
    if (code == SAY_DONE && r->set->output)
        code = exec_records_open(&x->records, r->set->output, r->set->overwrite);
    return code == SAY_DONE ? start_pool(x, r->set) : code;
}

/* What commands write can be passed on no longer: nothing more starts. */
static void
note_failure(limit_run *r, int why)
{
    if (why == 0 || atomic_exchange(&r->failed, why) != 0)
        return;
    seine_ctx_cancel(r->ctx, SEINE_E_CANCELED);
}

/* Passes on the whole lines that are there, and keeps the rest. */
static void
pass_lines(work *w, bool is_err, bool is_last)
{
    textbuf *half = &w->half[is_err];
    const char *end = half->len > 0 ? memrchr(half->text, '\n', half->len) : NULL;
    size_t n = end ? (size_t)(end - half->text) + 1 : 0;

    if (half->len > LONGEST_LINE || (is_last && n < half->len)) {
        if (is_last)
            textbuf_add(half, "\n", 1);
        n = half->len;
    }
    if (n == 0)
        return;
    if (is_err) {
        terminal_err(&w->run->term, half->text, n);
    } else {
        terminal_text(&w->run->term, half->text, n);
        note_failure(w->run, terminal_flush(&w->run->term));
    }
    memmove(half->text, half->text + n, half->len - n);
    half->len -= n;
}

static void
on_bytes(bool is_err, const char *bytes, size_t n, void *arg)
{
    work *w = arg;

    textbuf_add(&w->half[is_err], bytes, n);
    pass_lines(w, is_err, false);
}

static void
free_work(work *w)
{
    paced_line_clear(&w->line);
    textbuf_free(&w->half[0]);
    textbuf_free(&w->half[1]);
    free(w->argv);
    free(w->text);
    free(w);
}

static void
give_slot_back(limit_run *r, size_t slot)
{
    pthread_mutex_lock(&r->lock);
    r->exec->is_taken[slot] = false;
    r->exec->running--;
    pthread_cond_signal(&r->exec->slot_free);
    pthread_mutex_unlock(&r->lock);
}

/* Waits before the next attempt: the backoff, then a token. False: there is none. */
static bool
wait_to_retry(work *w, uint32_t attempts)
{
    seine_retry_opts opts = SEINE_RETRY_OPTS;
    uint64_t state = w->line.number + attempts;
    seine_span pause = seine_retry_delay(&opts, attempts - 1, 0, traffic_dice(&state));
    seine_time at;
    char why[128];

    if (seine_ctx_sleep(w->run->ctx, seine_now() + pause) != SEINE_OK)
        return false;
    seine_time now = seine_now();
    return pacer_reserve(&w->run->pacer, &w->line, now, now, &at, why) == PACER_DUE &&
           seine_ctx_sleep(w->run->ctx, at) == SEINE_OK;
}

static bool
is_good(const child_end *end)
{
    return !end->late && end->code == 0;
}

/* Runs the command of a line, again while it fails and may. */
static seine_err
run_work(seine_ctx *ctx, void *arg)
{
    work *w = arg;
    limit_run *r = w->run;
    exec_result result = {.line = &w->line, .argv = w->argv, .ready = w->ready};
    child_spec spec = {.argv = w->argv,
                       .limit = r->set->timeout,
                       .on_bytes = on_bytes,
                       .arg = w,
                       .group = &r->exec->groups[w->slot]};

    (void)ctx;
    result.started = seine_now();
    do {
        if (!child_run(&spec, &result.end))
            result.end = (child_end){.code = 127};
        pass_lines(w, false, true);
        pass_lines(w, true, true);
        result.attempts++;
    } while (!is_good(&result.end) && result.attempts <= r->set->retries &&
             wait_to_retry(w, result.attempts));
    limit_count(r, is_good(&result.end) ? &r->counts.ok : &r->counts.failed);
    exec_records_put(&r->exec->records, &result);
    give_slot_back(r, w->slot);
    free_work(w);
    return SEINE_OK;
}

void
limit_exec_wait_for_slot(limit_run *r)
{
    limit_exec *x = r->exec;

    pthread_mutex_lock(&r->lock);
    if (x->running == r->set->concurrency) {
        while (x->running == r->set->concurrency)
            pthread_cond_wait(&x->slot_free, &r->lock);
        r->ready = seine_now();
    }
    pthread_mutex_unlock(&r->lock);
}

static size_t
take_slot(limit_run *r)
{
    size_t slot = 0;

    pthread_mutex_lock(&r->lock);
    while (r->exec->is_taken[slot])
        slot++;
    r->exec->is_taken[slot] = true;
    r->exec->running++;
    pthread_mutex_unlock(&r->lock);
    return slot;
}

void
limit_exec_refuse(limit_run *r, const paced_line *line, bool is_limited, const char *why)
{
    exec_result result = {
        .line = line, .is_limited = is_limited, .why = why, .ready = r->ready};

    exec_records_put(&r->exec->records, &result);
}

void
limit_exec_start(limit_run *r, const paced_line *line)
{
    char bad[128] = "", ignored[128];
    char **argv = command_line_fill(&r->exec->command, line, bad);

    if (!argv) {
        limit_count(r, &r->counts.bad);
        say_note("line %llu: %s", (unsigned long long)line->number, bad);
        limit_exec_refuse(r, line, false, bad);
        return;
    }
    work *w = xalloc_zeroed(1, sizeof *w);
    *w = (work){.run = r, .argv = argv, .ready = r->ready, .slot = take_slot(r)};
    w->text = xalloc_copy(line->text, line->len);
    (void)paced_line_read(&w->line, w->text, line->len, ignored);
    w->line.number = line->number;
    limit_count(r, &r->counts.started);
    if (seine_pool_submit(r->exec->pool, r->exec->pool_ctx, run_work, w, NULL) !=
        SEINE_OK)
        run_work(r->exec->pool_ctx, w); /* a pool takes it while a slot is free */
}

void
limit_exec_kill(limit_run *r)
{
    for (size_t i = 0; r->exec && i < r->set->concurrency; i++) {
        int group = atomic_load(&r->exec->groups[i]);

        if (group > 0)
            kill(-group, SIGKILL);
    }
}

bool
limit_exec_is_idle(limit_run *r)
{
    pthread_mutex_lock(&r->lock);
    bool is_idle = r->exec->running == 0;
    pthread_mutex_unlock(&r->lock);
    return is_idle;
}

void
limit_exec_drain(limit_run *r)
{
    (void)!seine_pool_close(r->exec->pool, SEINE_CLOSE_DRAIN, r->exec->pool_ctx);
}

bool
limit_exec_close(limit_run *r)
{
    limit_exec *x = r->exec;

    seine_pool_free(x->pool);
    seine_ctx_unref(x->pool_ctx);
    bool written = exec_records_close(&x->records, r);
    if (r->set->output)
        pthread_mutex_destroy(&x->records.lock);
    command_line_free(&x->command);
    pthread_cond_destroy(&x->slot_free);
    free(x->groups);
    free(x->is_taken);
    free(x);
    r->exec = NULL;
    return written;
}
