/* SPDX-License-Identifier: Apache-2.0 */
#include "console/run_table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "console/monitor.h"
#include "console/run_live.h"
#include "console/run_success.h"
#include "console/topic.h"
#include "seine/job_view.h"

enum { READS = 64 };
#define LOOK SEINE_MS(250)

static void start_waiting(sn_runs *t);

sn_runs *
sn_runs_of(const seine_console *c)
{
    return c->part[SN_PART_RUN_TABLE];
}

sn_console_run *
sn_runs_find(const seine_console *c, sn_str id)
{
    sn_runs *t = sn_runs_of(c);
    sn_console_run *r = t ? t->first : NULL;

    while (r && !sn_str_eq(sn_str_of(r->meta.id), id))
        r = r->next;
    return r;
}

/* Runs */

static void
free_run(sn_console_run *r)
{
    if (!r)
        return;
    sn_run_live_free(r->live);
    for (size_t i = 0; i < r->n_urls; i++)
        sn_free(r->urls[i]);
    sn_free(r->urls);
    sn_free(r->dir);
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->is_free);
    sn_free(r);
}

sn_console_run *
sn_runs_new_run(seine_console *c, const char *id)
{
    sn_console_run *r = sn_zalloc(sizeof *r);
    char path[1200];

    if (!r)
        return NULL;
    r->console = c;
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->is_free, NULL);
    snprintf(r->meta.id, sizeof r->meta.id, "%s", id);
    int n = snprintf(path, sizeof path, "%s/runs/%s", c->state_dir, id);
    r->dir = n > 0 && (size_t)n < sizeof path ? sn_run_copy(path, (size_t)n) : NULL;
    if (r->dir)
        return r;
    free_run(r);
    return NULL;
}

/* By id, the newest first. */
static void
insert(sn_runs *t, sn_console_run *r)
{
    sn_console_run **at = &t->first;

    while (*at && strcmp((*at)->meta.id, r->meta.id) > 0)
        at = &(*at)->next;
    r->next = *at;
    *at = r;
    t->n++;
}

static void
unlink_run(sn_runs *t, sn_console_run *r)
{
    for (sn_console_run **at = &t->first; *at; at = &(*at)->next)
        if (*at == r) {
            *at = r->next;
            t->n--;
            return;
        }
}

seine_fetch *
sn_run_pin(sn_console_run *r)
{
    pthread_mutex_lock(&r->lock);
    seine_fetch *f = r->fetch;
    if (f)
        r->users++;
    pthread_mutex_unlock(&r->lock);
    return f;
}

void
sn_run_unpin(sn_console_run *r)
{
    pthread_mutex_lock(&r->lock);
    if (--r->users == 0)
        pthread_cond_broadcast(&r->is_free);
    pthread_mutex_unlock(&r->lock);
}

void
sn_run_tell_stop(sn_console_run *r)
{
    pthread_mutex_lock(&r->lock);
    void (*stop)(void *) = r->fetch ? r->stop : NULL;
    void *arg = r->stop_arg;
    r->is_told = true;
    if (stop)
        r->users++; /* `arg` lives as long as the fetch */
    pthread_mutex_unlock(&r->lock);
    if (stop) {
        stop(arg);
        sn_run_unpin(r);
    }
}

/* The thread of a run. */

static const char *
said(const char *text)
{
    return text[0] ? text : NULL;
}

static void *
run_thread(void *arg)
{
    sn_console_run *r = arg;
    const seine_console_opts *o = &r->console->opts;
    char recipe[1200], records[1200];
    seine_run_spec spec = {.size = sizeof spec,
                           .id = r->meta.id,
                           .dir = r->dir,
                           .verb = r->meta.verb,
                           .urls = (const char *const *)r->urls,
                           .n_urls = r->n_urls,
                           .records = records,
                           .concurrency = said(r->meta.concurrency),
                           .rate = said(r->meta.rate),
                           .host_rate = said(r->meta.host_rate),
                           .max_pages = said(r->meta.max_pages),
                           .depth = said(r->meta.depth),
                           .allow_net = o->allow_net,
                           .deny_net = r->console->deny_net,
                           .env = o->recipe_env,
                           .threads = o->workers,
                           .is_resumed = r->is_resumed};

    pthread_setname_np(pthread_self(), "sn-run");
    int code = 3;
    if (sn_run_path(r, "recipe.yaml", recipe, sizeof recipe) &&
        sn_run_path(r, "records.sqlite", records, sizeof records)) {
        if (strcmp(r->meta.verb, "run") == 0)
            spec.recipe = recipe;
        code = o->runner->run(&spec, r, o->runner->arg);
    }
    seine_console_run_done(r, code);
    return NULL;
}

/* The console's thread. */

static bool
start_thread(sn_console_run *r)
{
    sigset_t all, old;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &old);
    r->has_thread = pthread_create(&r->thread, NULL, run_thread, r) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return r->has_thread;
}

static void
save(sn_console_run *r)
{
    seine_err e = sn_run_meta_save(r);

    if (e != SEINE_OK)
        SN_SAY(r->console->log, ERROR, "run.save", "the state of a run cannot be written",
               SN_S("run", sn_str_of(r->meta.id)), SN_E("err", e));
}

static void
look_again(sn_timer *timer, seine_time now)
{
    sn_runs *t = (sn_runs *)(void *)((char *)timer - offsetof(sn_runs, look));

    seine_time asked = 0;

    t->looks = false;
    for (sn_console_run *r = t->first; r; r = r->next)
        if (r->live && sn_run_is_live(r)) {
            sn_run_live_look(r->live, now);
            seine_time since = sn_run_live_asked(r->live);
            asked = since > 0 && (asked == 0 || since < asked) ? since : asked;
            t->looks = true;
        }
    sn_monitor_shards(t->console, asked);
    t->looks |= sn_stories_look(t, now);
    if (t->looks)
        sn_timer_set(&t->console->loop, &t->look, now + LOOK);
}

void
sn_runs_begin_look(sn_runs *t)
{
    if (t->looks)
        return;
    t->looks = true;
    sn_timer_set(&t->console->loop, &t->look, t->console->loop.now);
}

void
sn_runs_on_begun(sn_mail *m, seine_console *c)
{
    sn_console_run *r =
        (sn_console_run *)(void *)((char *)m - offsetof(sn_console_run, begun_mail));
    sn_runs *t = sn_runs_of(c);

    if (!t || t->is_stopped)
        return;
    if (!r->live && sn_run_live_new(r, &r->live) != SEINE_OK)
        return; /* it runs, and nobody sees how */
    sn_run_live_begin(r->live);
    if (r->meta.state == SN_RUN_RUNNING && r->wants_pause) {
        r->wants_pause = false;
        (void)!sn_run_pause(r, true);
    }
    sn_run_live_log(r->live, "info", "run.start", "the run has begun", NULL);
    sn_runs_begin_look(t);
}

/* What an exit code says of a run. */
static sn_run_state
state_of(const sn_console_run *r)
{
    switch (r->code) {
    case 0:
    case 1:
    case 6:
        return SN_RUN_FINISHED;
    case 2:
    case 3:
        return SN_RUN_FAILED;
    default:
        return SN_RUN_STOPPED;
    }
}

static void
note_success(const sn_console_run *r)
{
    const sn_runs *t = sn_runs_of(r->console);

    if (r->meta.state == SN_RUN_FINISHED && r->meta.code == 0 && r->meta.ended_ms > 0)
        sn_run_success_note(t->success, r->meta.title, r->meta.ended_ms * 1000000);
}

static void
settle(sn_console_run *r)
{
    sn_run_meta *m = &r->meta;
    seine_console *c = r->console;

    m->lived = sn_run_elapsed(r);
    m->code = r->code;
    m->ended_ms = sn_console_wall_ms(c);
    if (r->at_end.given > 0 || r->at_end.done > 0) {
        m->last = r->at_end;
        m->rows = atomic_load(&r->rows);
    }
    if (r->said[0])
        snprintf(m->message, sizeof m->message, "%s", r->said);
    /* Whom the end of the console has stopped goes on when it is back. */
    bool was_stopped_by_us = sn_runs_of(c)->is_stopped && !r->is_canceled;
    sn_run_state end = state_of(r);
    if (was_stopped_by_us && end == SN_RUN_STOPPED)
        m->state = m->state == SN_RUN_PAUSED ? SN_RUN_PAUSED : SN_RUN_RUNNING;
    else
        m->state = end;
    note_success(r);
    if (r->live) {
        sn_run_live_log(r->live, m->state == SN_RUN_FAILED ? "error" : "info", "run.end",
                        sn_run_state_name(m->state), m->message);
        sn_run_live_end(r->live);
        (void)!sn_run_live_save(r->live);
    }
    save(r);
    if (was_stopped_by_us && end == SN_RUN_STOPPED)
        m->state = SN_RUN_STOPPED;
}

void
sn_runs_on_done(sn_mail *m, seine_console *c)
{
    sn_console_run *r =
        (sn_console_run *)(void *)((char *)m - offsetof(sn_console_run, done_mail));
    sn_runs *t = sn_runs_of(c);

    if (r->has_thread)
        pthread_join(r->thread, NULL);
    r->has_thread = false;
    if (!t)
        return;
    t->running--;
    settle(r);
    SN_SAY(c->log, INFO, "run.end", "a run has ended", SN_S("run", sn_str_of(r->meta.id)),
           SN_S("state", sn_str_of(sn_run_state_name(r->meta.state))),
           SN_U("code", (uint64_t)r->code));
    start_waiting(t);
}

static void
begin_run(sn_runs *t, sn_console_run *r)
{
    r->meta.state = SN_RUN_RUNNING;
    r->meta.ended_ms = 0;
    r->meta.message[0] = r->said[0] = '\0';
    r->is_told = r->is_canceled = false;
    r->begun = t->console->loop.now;
    r->at_end = (seine_fetch_stats){0};
    atomic_store(&r->rows, 0);
    save(r);
    if (start_thread(r)) {
        t->running++;
        return;
    }
    r->meta.state = SN_RUN_FAILED;
    snprintf(r->meta.message, sizeof r->meta.message, "no thread for it");
    save(r);
}

/* The oldest first. */
static void
start_waiting(sn_runs *t)
{
    while (!t->is_stopped && t->running < SN_RUNS_AT_ONCE) {
        sn_console_run *oldest = NULL;

        for (sn_console_run *r = t->first; r; r = r->next)
            if (r->meta.state == SN_RUN_WAITING && !r->is_guest)
                oldest = r;
        if (!oldest)
            return;
        begin_run(t, oldest);
    }
}

static seine_err
write_file(const sn_console_run *r, const char *name, sn_str text)
{
    char path[1200];

    if (!sn_run_path(r, name, path, sizeof path))
        return SEINE_E_RANGE;
    return seine_file_replace(path, text.ptr, text.len) ? SEINE_OK
           : errno == ENOSPC                            ? SEINE_E_DISK_FULL
                                                        : SEINE_E_IO;
}

static seine_err
make_dir(const seine_console *c, const sn_console_run *r)
{
    char all[1200];

    if (!sn_console_path(c, "runs", all, sizeof all))
        return SEINE_E_RANGE;
    (void)mkdir(all, 0700);
    return mkdir(r->dir, 0700) == 0 ? SEINE_OK
           : errno == ENOSPC        ? SEINE_E_DISK_FULL
                                    : SEINE_E_IO;
}

static void
copy_text(char *to, size_t cap, const char *text)
{
    snprintf(to, cap, "%s", text ? text : "");
}

static seine_err
fill_run(sn_console_run *r, const sn_run_wish *w)
{
    sn_run_meta *m = &r->meta;

    copy_text(m->doc, sizeof m->doc, w->doc);
    copy_text(m->sha256, sizeof m->sha256, w->sha256);
    copy_text(m->title, sizeof m->title, w->title);
    copy_text(m->by, sizeof m->by, w->by);
    copy_text(m->verb, sizeof m->verb, w->verb);
    copy_text(m->concurrency, sizeof m->concurrency, w->concurrency);
    copy_text(m->rate, sizeof m->rate, w->rate);
    copy_text(m->host_rate, sizeof m->host_rate, w->host_rate);
    copy_text(m->max_pages, sizeof m->max_pages, w->max_pages);
    copy_text(m->depth, sizeof m->depth, w->depth);
    m->version = w->version;
    m->started_ms = sn_console_wall_ms(r->console);
    m->state = SN_RUN_WAITING;
    r->urls = sn_calloc(w->n_urls + 1, sizeof *r->urls);
    if (!r->urls)
        return SEINE_E_NOMEM;
    for (; r->n_urls < w->n_urls; r->n_urls++)
        if (!(r->urls[r->n_urls] =
                  sn_run_copy(w->urls[r->n_urls].ptr, w->urls[r->n_urls].len)))
            return SEINE_E_NOMEM;
    return SEINE_OK;
}

/* Forgets the oldest run that has ended; its files stay. */
static bool
make_room(sn_runs *t)
{
    sn_console_run *oldest = NULL;

    if (t->n < SN_RUNS_MOST)
        return true;
    for (sn_console_run *r = t->first; r; r = r->next)
        if (!sn_run_is_live(r))
            oldest = r;
    if (!oldest)
        return false;
    unlink_run(t, oldest);
    free_run(oldest);
    return true;
}

seine_err
sn_runs_launch(seine_console *c, const sn_run_wish *w, sn_console_run **out_run)
{
    sn_runs *t = sn_runs_of(c);
    char id[SN_ULID];

    if (!t || t->is_stopped || !c->opts.runner)
        return SEINE_E_CLOSED;
    if (!make_room(t))
        return SEINE_E_FULL;
    sn_ulid_new(sn_console_wall(c), id);
    sn_console_run *r = sn_runs_new_run(c, id);
    seine_err e = r ? fill_run(r, w) : SEINE_E_NOMEM;
    if (e == SEINE_OK)
        e = make_dir(c, r);
    if (e == SEINE_OK && w->recipe.len > 0)
        e = write_file(r, "recipe.yaml", w->recipe);
    if (e == SEINE_OK)
        e = sn_run_meta_save(r);
    if (e != SEINE_OK) {
        free_run(r);
        return e;
    }
    insert(t, r);
    start_waiting(t);
    *out_run = r;
    return SEINE_OK;
}

void
sn_runs_on_added(sn_mail *m, seine_console *c)
{
    sn_console_run *r =
        (sn_console_run *)(void *)((char *)m - offsetof(sn_console_run, added_mail));
    sn_runs *t = sn_runs_of(c);

    insert(t, r);
    t->running++;
}

/* What people ask of a run. */

seine_err
sn_run_pause(sn_console_run *r, bool is_paused)
{
    if (r->meta.state != (is_paused ? SN_RUN_RUNNING : SN_RUN_PAUSED))
        return SEINE_E_CLOSED;
    seine_fetch *f = sn_run_pin(r);
    if (!f) { /* it is about to begin */
        r->wants_pause = is_paused;
        return SEINE_OK;
    }
    seine_fetch_pause(f, is_paused);
    sn_run_unpin(r);
    r->meta.state = is_paused ? SN_RUN_PAUSED : SN_RUN_RUNNING;
    save(r);
    if (r->live)
        sn_run_live_log(r->live, "info", is_paused ? "run.pause" : "run.resume",
                        is_paused ? "paused" : "goes on", NULL);
    return SEINE_OK;
}

seine_err
sn_run_cancel(sn_console_run *r)
{
    if (!sn_run_is_live(r) || r->meta.state == SN_RUN_STOPPING)
        return SEINE_E_CLOSED;
    r->is_canceled = true;
    if (r->meta.state == SN_RUN_WAITING) {
        r->meta.state = SN_RUN_STOPPED;
        r->meta.ended_ms = sn_console_wall_ms(r->console);
        save(r);
        return SEINE_OK;
    }
    seine_fetch *f = sn_run_pin(r);
    if (f) {
        seine_fetch_pause(f, false); /* what is paused would not drain */
        sn_run_unpin(r);
    }
    r->meta.state = SN_RUN_STOPPING;
    save(r);
    sn_run_tell_stop(r);
    return SEINE_OK;
}

seine_err
sn_run_again(sn_console_run *r)
{
    sn_runs *t = sn_runs_of(r->console);

    if (sn_run_is_live(r) || r->is_guest || t->is_stopped || !r->console->opts.runner)
        return SEINE_E_CLOSED;
    r->is_resumed = true;
    r->meta.state = SN_RUN_WAITING;
    start_waiting(t);
    return SEINE_OK;
}

/* A directory of a run has files, and one directory with files: its job. */
static bool
remove_files(int at, const char *name, int depth)
{
    int fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *dir = fd >= 0 ? fdopendir(fd) : NULL;
    bool fine = dir != NULL;
    struct dirent *e;

    if (fd >= 0 && !dir)
        close(fd);
    while (fine && (e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, e->d_name, 0) != 0)
            fine = depth > 0 && remove_files(fd, e->d_name, depth - 1);
    }
    if (dir)
        closedir(dir);
    return fine && unlinkat(at, name, AT_REMOVEDIR) == 0;
}

seine_err
sn_run_remove(sn_console_run *r)
{
    sn_runs *t = sn_runs_of(r->console);

    if (sn_run_is_live(r) || r->has_thread)
        return SEINE_E_CLOSED;
    if (!r->is_guest && !remove_files(AT_FDCWD, r->dir, 2))
        return SEINE_E_IO;
    sn_topics_forget(r);
    unlink_run(t, r);
    free_run(r);
    return SEINE_OK;
}

/* Readers */

static seine_err
read_on(seine_ctx *ctx, void *arg)
{
    sn_run_job *j = arg;

    (void)ctx;
    setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10); /* best effort */
    j->run(j);
    sn_console_post(j->console, &j->mail);
    return SEINE_OK;
}

static void
drop_job(void *arg)
{
    sn_run_job *j = arg;

    sn_console_post(j->console, &j->mail);
}

static void
deliver_job(sn_mail *m, seine_console *c)
{
    sn_run_job *j = (sn_run_job *)m;

    (void)c;
    j->done(j);
}

seine_err
sn_runs_read(seine_console *c, sn_run_job *j)
{
    sn_runs *t = sn_runs_of(c);

    j->console = c;
    j->mail.deliver = deliver_job;
    return t && t->pool ? seine_pool_try_submit(t->pool, read_on, j, drop_job)
                        : SEINE_E_FULL;
}

/* The part. */

/* A run that this process did not end: it goes on. */
static void
take_up(sn_console_run *r)
{
    switch (r->meta.state) {
    case SN_RUN_PAUSED:
        r->wants_pause = true;
        r->meta.state = SN_RUN_WAITING;
        r->is_resumed = true;
        break;
    case SN_RUN_RUNNING:
        r->meta.state = SN_RUN_WAITING;
        r->is_resumed = true;
        break;
    case SN_RUN_STOPPING:
        r->meta.state = SN_RUN_STOPPED; /* somebody has canceled it */
        break;
    default:
        break;
    }
}

static seine_err
load_runs(sn_runs *t)
{
    char path[1200];
    struct dirent *e;

    if (!sn_console_path(t->console, "runs", path, sizeof path))
        return SEINE_E_RANGE;
    DIR *dir = opendir(path);
    while (dir && (e = readdir(dir)) && t->n < SN_RUNS_MOST) {
        if (!sn_ulid_is(sn_str_of(e->d_name)))
            continue;
        sn_console_run *r = sn_runs_new_run(t->console, e->d_name);
        if (!r || sn_run_meta_load(r) != SEINE_OK || strcmp(r->meta.id, e->d_name) != 0) {
            SN_SAY(t->console->log, WARN, "run.unread", "a run cannot be read",
                   SN_S("run", sn_str_of(e->d_name)));
            free_run(r);
            continue;
        }
        take_up(r);
        insert(t, r);
        note_success(r);
    }
    if (dir)
        closedir(dir);
    return SEINE_OK;
}

/* The table is made before the runs and goes after the last mail of theirs. */
seine_err
sn_run_table_start(seine_console *c, seine_diag *d)
{
    (void)d;
    c->part[SN_PART_RUN_TABLE] = sn_zalloc(sizeof(sn_runs));
    return c->part[SN_PART_RUN_TABLE] ? SEINE_OK : SEINE_E_NOMEM;
}

void
sn_run_table_stop(seine_console *c)
{
    (void)c;
}

bool
sn_run_table_is_busy(seine_console *c)
{
    (void)c;
    return false;
}

seine_err
sn_runs_start(seine_console *c, seine_diag *d)
{
    seine_pool_opts pool = SEINE_POOL_OPTS;
    sn_runs *t = sn_runs_of(c);

    (void)d;
    t->console = c;
    t->look.fire = look_again;
    pool.workers = c->opts.readers_max;
    pool.queue_cap = READS;
    seine_err e = seine_ctx_root(c->loop.clock, &t->ctx);
    if (e == SEINE_OK)
        e = seine_pool_new(&pool, t->ctx, &t->pool);
    if (e == SEINE_OK)
        e = sn_timer_reserve(&c->loop);
    if (e == SEINE_OK)
        e = sn_topics_new(c, &t->topics);
    if (e == SEINE_OK)
        e = sn_run_success_new(c->metrics, &t->success);
    if (e == SEINE_OK)
        e = seine_metrics_counter(c->metrics, "seine_feed_events_lost_total",
                                  "Events of runs that were overwritten before the "
                                  "console has read them.",
                                  NULL, 0, &t->events_lost);
    if (e == SEINE_OK && c->opts.runner)
        e = load_runs(t);
    if (e == SEINE_OK && c->opts.runner)
        start_waiting(t);
    return e;
}

void
sn_runs_stop(seine_console *c)
{
    sn_runs *t = sn_runs_of(c);

    if (!t)
        return;
    t->is_stopped = true;
    for (sn_console_run *r = t->first; r; r = r->next)
        if (r->has_thread || r->is_guest)
            sn_run_tell_stop(r);
}

bool
sn_runs_is_busy(seine_console *c)
{
    sn_runs *t = sn_runs_of(c);

    for (sn_console_run *r = t ? t->first : NULL; r; r = r->next)
        if (r->has_thread)
            return true;
    return false;
}

/* Runs that did not end within the grace period are waited for: their job is theirs. */
static void
join_runs(sn_runs *t)
{
    for (sn_console_run *r = t->first; r; r = r->next) {
        if (!r->has_thread)
            continue;
        sn_run_tell_stop(r); /* at once */
        pthread_join(r->thread, NULL);
        r->has_thread = false;
    }
}

void
sn_runs_fini(seine_console *c)
{
    sn_runs *t = sn_runs_of(c);

    if (!t)
        return;
    t->is_stopped = true;
    sn_stories_end(t);
    join_runs(t);
    seine_pool_free(t->pool);
    seine_ctx_unref(t->ctx);
}

void
sn_run_table_fini(seine_console *c)
{
    sn_runs *t = sn_runs_of(c);

    if (!t)
        return;
    for (sn_console_run *r = t->first, *next; r; r = next) {
        next = r->next;
        free_run(r);
    }
    sn_topics_free(t->topics);
    sn_run_success_free(t->success);
    sn_free(t);
    c->part[SN_PART_RUN_TABLE] = NULL;
}
