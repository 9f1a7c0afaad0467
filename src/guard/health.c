/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/health.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/log.h"
#include "base/time.h"
#include "guard/health_schedule.h"

/*
 * One lock protects everything. Workers take checks that are due and call them; a
 * watcher, which calls no check and so cannot hang, ends what is late, starts workers in
 * place of those that hang, and logs changes. All of them park on one word, which every
 * change moves on. A thread that ends joins the thread that ended before it. Nobody waits
 * for one that hangs: when the owner has gone, the last thread frees.
 */

enum { WORKERS = 2, REPLACED_MOST = 4, TEXT_CAP = 16 << 10 };

struct seine_health {
    pthread_mutex_t lock;
    seine_clock *clock;
    seine_ctx *root;
    sn_health_schedule schedule;
    seine_ctx *ctx[SEINE_HEALTH_MAX]; /* of the checks that run */
    uint32_t word;                    /* moved on by every change; a futex */
    uint32_t threads;                 /* that have not ended … */
    uint32_t hung;                    /* … of which wait for a check that is late */
    bool is_started, is_closed, is_stopping, is_watched;
    bool is_freed; /* the owner has gone */
    bool has_last; /* a thread that ended and that nobody has joined: */
    pthread_t last;
    seine_log *log;
    seine_gauge *up;
    seine_histogram *took;
};

static void
lock(const seine_health *h)
{
    pthread_mutex_lock(&((seine_health *)(uintptr_t)h)->lock);
}

static void
unlock(const seine_health *h)
{
    pthread_mutex_unlock(&((seine_health *)(uintptr_t)h)->lock);
}

static seine_time
now_of(const seine_health *h)
{
    return h->clock->now(h->clock);
}

/* Under the lock; the caller wakes when it has let go of it. */
static void
mark_change(seine_health *h)
{
    __atomic_add_fetch(&h->word, 1, __ATOMIC_SEQ_CST);
}

static void
wake_all(seine_health *h)
{
    h->clock->wake(h->clock, &h->word, WORKERS + REPLACED_MOST + 2);
}

seine_err
seine_health_new(seine_clock *clock, seine_health **out_h)
{
    seine_health *h = out_h ? sn_zalloc(sizeof *h) : NULL;

    if (!out_h)
        return SEINE_E_INVAL;
    if (!h)
        return SEINE_E_NOMEM;
    h->clock = clock ? clock : seine_clock_system();
    if (seine_ctx_root(h->clock, &h->root) != SEINE_OK) {
        sn_free(h);
        return SEINE_E_NOMEM;
    }
    pthread_mutex_init(&h->lock, NULL);
    *out_h = h;
    return SEINE_OK;
}

seine_err
seine_health_add(seine_health *h, const seine_health_check *c)
{
    if (!h || !c)
        return SEINE_E_INVAL;
    return h->is_started ? SEINE_E_CLOSED : sn_health_schedule_add(&h->schedule, c);
}

static void
destroy(seine_health *h)
{
    seine_ctx_unref(h->root);
    pthread_mutex_destroy(&h->lock);
    sn_free(h);
}

/* Workers. */

/* Calls a check and keeps what it says. The lock is held before and after. False: it was
 * late, and another worker has this one's place. */
static bool
run_check(seine_health *h, size_t i)
{
    sn_health_entry *e = &h->schedule.all[i];
    seine_health_result r = {.status = SEINE_HEALTH_UNKNOWN};
    seine_ctx *ctx = NULL;
    seine_time late = sn_time_add(e->began, e->timeout);

    unlock(h);
    wake_all(h);
    if (seine_ctx_new(h->root, late, &ctx) == SEINE_OK) {
        lock(h);
        h->ctx[i] = seine_ctx_ref(ctx);
        unlock(h);
        r.status = e->fn(e->arg, ctx, r.reason);
    } else {
        snprintf(r.reason, sizeof r.reason, "out of memory");
    }
    seine_time now = now_of(h);
    lock(h);
    bool was_hung = e->hung;
    bool in_time = sn_health_finish(&h->schedule, i, &r, now);
    seine_ctx *mine = h->ctx[i];
    h->ctx[i] = NULL;
    h->hung -= was_hung;
    h->schedule.no_worker = h->schedule.no_worker && !was_hung;
    if (in_time) /* under the lock: the owner frees the metrics when it has closed */
        seine_histogram_observe(h->took, (unsigned)i, now - e->began);
    mark_change(h);
    unlock(h);
    wake_all(h);
    seine_ctx_unref(mine);
    seine_ctx_unref(ctx);
    lock(h);
    return !was_hung;
}

/* The lock is held before and after. */
static void
park(seine_health *h, seine_time until)
{
    uint32_t seen = __atomic_load_n(&h->word, __ATOMIC_SEQ_CST);

    unlock(h);
    if (now_of(h) < until)
        h->clock->wait(h->clock, &h->word, seen, until);
    lock(h);
}

/* A thread ends. The lock is held before. */
static void
leave(seine_health *h)
{
    seine_clock *clock = h->clock;
    bool joins = h->has_last && !h->is_freed;
    bool is_last = --h->threads == 0 && h->is_freed;
    pthread_t before = h->last;

    if (h->is_freed)
        pthread_detach(pthread_self());
    h->last = pthread_self();
    h->has_last = true;
    mark_change(h);
    unlock(h);
    if (!is_last) /* others may free it from here on: the address alone is used */
        clock->wake(clock, &h->word, WORKERS + REPLACED_MOST + 2);
    if (clock->leave)
        clock->leave(clock);
    if (is_last)
        destroy(h);
    if (joins)
        pthread_join(before, NULL);
}

typedef struct newcomer {
    seine_health *health;
    sem_t ready;
} newcomer;

/* A fake clock waits for the thread from here on; whoever started it goes on. */
static void
begin_thread(newcomer *n, const char *name)
{
    seine_clock *clock = n->health->clock;

    pthread_setname_np(pthread_self(), name);
    if (clock->enter)
        clock->enter(clock);
    sem_post(&n->ready);
}

static void *
work(void *arg)
{
    seine_health *h = ((newcomer *)arg)->health;
    bool stays = true;
    uint64_t dice = h->clock->dice(h->clock);

    begin_thread(arg, "sn-health");
    lock(h);
    while (stays && !h->is_closed) {
        size_t i;

        dice = dice * 6364136223846793005u + 1442695040888963407u;
        if (sn_health_take(&h->schedule, now_of(h), dice >> 8, &i)) {
            mark_change(h); /* the watcher looks when this one is late */
            stays = run_check(h, i);
        } else {
            park(h, sn_health_next_due(&h->schedule));
        }
    }
    leave(h);
    return NULL;
}

/* Starts a thread, which holds a reference. The lock is not held. */
static bool
start_thread(seine_health *h, void *(*fn)(void *))
{
    newcomer n = {.health = h};
    sigset_t all, old;
    pthread_t thread;

    lock(h);
    h->threads++;
    unlock(h);
    sem_init(&n.ready, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    bool fine = pthread_create(&thread, NULL, fn, &n) == 0;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    while (fine && sem_wait(&n.ready) != 0) {
        /* a signal interrupts the wait */
    }
    sem_destroy(&n.ready);
    lock(h);
    h->threads -= !fine;
    unlock(h);
    return fine;
}

/* The watcher. */

/* The lock is held before and after; contexts are cancelled without it. */
static void
end_late_checks(seine_health *h)
{
    seine_time now = now_of(h);
    size_t i;

    while (sn_health_expire(&h->schedule, now, &i)) {
        seine_ctx *ctx = h->ctx[i] ? seine_ctx_ref(h->ctx[i]) : NULL;

        bool may_replace = ++h->hung <= REPLACED_MOST;
        unlock(h);
        if (ctx)
            seine_ctx_cancel(ctx, SEINE_E_DEADLINE);
        seine_ctx_unref(ctx);
        if (may_replace)
            (void)start_thread(h, work);
        lock(h);
        h->schedule.no_worker = h->threads - 1 == h->hung; /* all but the watcher */
    }
}

static void
log_state(seine_log *log, const char *name, const seine_health_result *r)
{
    char text[64 + SEINE_HEALTH_REASON];
    const char *reason = r->reason[0] ? r->reason : "";
    seine_log_level level = r->status == SEINE_HEALTH_HEALTHY     ? SEINE_LOG_INFO
                            : r->status == SEINE_HEALTH_UNHEALTHY ? SEINE_LOG_ERROR
                                                                  : SEINE_LOG_WARN;

    snprintf(text, sizeof text, "health check '%s' is %s%s%s", name,
             seine_health_status_name(r->status), *reason ? ": " : "", reason);
    seine_log_field fields[] = {
        seine_log_str("check", name),
        seine_log_str("health", seine_health_status_name(r->status))};
    seine_log_write(log, level, "health", text, fields, 2);
}

/* The lock is held before and after; logging happens without it. */
static void
tell_changes(seine_health *h)
{
    for (size_t i = 0; i < h->schedule.n; i++) {
        seine_health_result r;
        seine_time now = now_of(h);

        sn_health_see(&h->schedule, i, now, &r);
        seine_gauge_set(h->up, (unsigned)i, r.status == SEINE_HEALTH_HEALTHY);
        if (!sn_health_must_tell(&h->schedule, i, now, &r))
            continue;
        unlock(h); /* the log stays while the watcher does */
        log_state(h->log, h->schedule.all[i].name, &r);
        lock(h);
    }
}

static void *
watch(void *arg)
{
    seine_health *h = ((newcomer *)arg)->health;

    begin_thread(arg, "sn-health-watch");
    lock(h);
    while (!h->is_closed) {
        uint32_t seen = h->word;

        end_late_checks(h);
        tell_changes(h);
        if (h->word == seen && !h->is_closed) /* else something changed meanwhile */
            park(h, sn_health_next_late(&h->schedule));
    }
    h->is_watched = false;
    leave(h);
    return NULL;
}

/* Start and end. */

static seine_err
make_families(seine_health *h, seine_metrics *metrics)
{
    const char *names[SEINE_HEALTH_MAX];
    seine_label label = {"check", names, h->schedule.n};
    seine_buckets fine = seine_buckets_fine();

    for (size_t i = 0; i < h->schedule.n; i++)
        names[i] = h->schedule.all[i].name;
    seine_err e = seine_metrics_gauge(metrics, "seine_health_check_up",
                                      "Is the check healthy?", &label, 1, &h->up);
    if (e == SEINE_OK)
        e = seine_metrics_histogram(metrics, "seine_health_check_duration_seconds",
                                    "Calls of health checks that ended in time.", &label,
                                    1, &fine, &h->took);
    return e;
}

seine_err
seine_health_start(seine_health *h, seine_log *log, seine_metrics *metrics)
{
    if (!h)
        return SEINE_E_INVAL;
    if (h->is_started)
        return SEINE_E_ALREADY;
    seine_err e = metrics && h->schedule.n > 0 ? make_families(h, metrics) : SEINE_OK;
    if (e != SEINE_OK)
        return e;
    h->log = log;
    h->is_started = true;
    seine_time now = now_of(h);
    for (size_t i = 0; i < h->schedule.n; i++)
        h->schedule.all[i].next = now;
    h->is_watched = true;
    bool fine = start_thread(h, watch);
    if (!fine)
        h->is_watched = false;
    for (int i = 0; i < WORKERS && fine; i++)
        fine = start_thread(h, work);
    return fine ? SEINE_OK : SEINE_E_NOMEM;
}

void
seine_health_free(seine_health *h)
{
    if (!h)
        return;
    lock(h);
    h->is_closed = true;
    h->threads++; /* this one */
    mark_change(h);
    unlock(h);
    wake_all(h);
    seine_ctx_cancel(h->root, SEINE_E_CANCELED);
    lock(h);
    seine_time until = sn_time_add(now_of(h), SEINE_SECS(1));
    while (h->is_watched ||
           (h->threads > h->hung + 1 && now_of(h) < until)) /* 1: this one */
        park(h, h->is_watched ? SEINE_NEVER : until);
    h->log = NULL;
    h->up = NULL;
    h->took = NULL;
    bool is_last = --h->threads == 0, joins = h->has_last;
    pthread_t last = h->last;
    h->is_freed = true;
    unlock(h);
    if (joins)
        pthread_join(last, NULL);
    if (is_last)
        destroy(h);
}

/* What is known. */

seine_err
seine_health_get(const seine_health *h, const char *name, seine_health_result *out_r)
{
    size_t i;

    if (!h || !name || !out_r)
        return SEINE_E_INVAL;
    lock(h);
    bool found = sn_health_find(&h->schedule, name, &i);
    if (found)
        sn_health_see(&h->schedule, i, now_of(h), out_r);
    unlock(h);
    return found ? SEINE_OK : SEINE_E_UNKNOWN;
}

const char *
seine_health_name(const seine_health *h, size_t i)
{
    return h && i < h->schedule.n ? h->schedule.all[i].name : NULL;
}

void
seine_health_stopping(seine_health *h)
{
    if (h)
        __atomic_store_n(&h->is_stopping, true, __ATOMIC_RELAXED);
}

static bool
is_left_out(const seine_health_view *view, const char *name)
{
    if (view->only)
        return strcmp(view->only, name) != 0;
    for (size_t i = 0; view->exclude && view->exclude[i]; i++)
        if (strcmp(view->exclude[i], name) == 0)
            return true;
    return false;
}

static void
put_line(sn_buf *b, const char *name, const seine_health_result *r, seine_time now)
{
    bool fine = r->status == SEINE_HEALTH_HEALTHY;

    sn_buf_printf(b, "[%c]%s ", fine ? '+' : '-', name);
    if (fine)
        sn_buf_printf(b, "ok (%.1f ms, %lld s ago)\n", (double)r->took / 1e6,
                      (long long)((now - r->at) / SEINE_SECS(1)));
    else
        sn_buf_printf(b, "%s%s%s\n", seine_health_status_name(r->status),
                      r->reason[0] ? ": " : "", r->reason);
}

seine_err
seine_health_text(const seine_health *h, const seine_health_view *view, bool *out_ready,
                  seine_text *out_text)
{
    static const seine_health_view all = {false, NULL, NULL};
    sn_buf b;
    size_t at;

    if (!h || !out_ready || !out_text)
        return SEINE_E_INVAL;
    view = view ? view : &all;
    if (view->only && !sn_health_find(&h->schedule, view->only, &at))
        return SEINE_E_UNKNOWN;
    sn_buf_init(&b, TEXT_CAP);
    bool ready = !__atomic_load_n(&h->is_stopping, __ATOMIC_RELAXED) || view->only;
    if (!ready)
        sn_buf_text(&b, view->verbose ? "[-]stopping\n" : "stopping\n");
    seine_time now = now_of(h);
    lock(h);
    for (size_t i = 0; i < h->schedule.n; i++) {
        const sn_health_entry *e = &h->schedule.all[i];
        seine_health_result r;

        if (is_left_out(view, e->name))
            continue;
        sn_health_see(&h->schedule, i, now, &r);
        bool fails = r.status != SEINE_HEALTH_HEALTHY && (e->critical || view->only);
        ready = ready && !fails;
        if (view->verbose)
            put_line(&b, e->name, &r, now);
        else if (fails)
            sn_buf_printf(&b, "%s\n", e->name);
    }
    unlock(h);
    if (ready && !view->verbose)
        sn_buf_text(&b, "ok\n");
    else if (view->verbose)
        sn_buf_text(&b, ready ? "ok\n" : "not ready\n");
    seine_err err = sn_buf_take(&b, out_text);
    sn_buf_fini(&b);
    if (err == SEINE_OK)
        *out_ready = ready;
    return err;
}

bool
seine_health_is_ready(const seine_health *h)
{
    if (!h || __atomic_load_n(&h->is_stopping, __ATOMIC_RELAXED))
        return false;
    bool ready = true;
    seine_time now = now_of(h);
    lock(h);
    for (size_t i = 0; i < h->schedule.n && ready; i++) {
        seine_health_result r;

        sn_health_see(&h->schedule, i, now, &r);
        ready = r.status == SEINE_HEALTH_HEALTHY || !h->schedule.all[i].critical;
    }
    unlock(h);
    return ready;
}

const char *
seine_health_status_name(seine_health_status s)
{
    static const char *const names[] = {"unknown", "healthy", "unhealthy"};

    return (unsigned)s < 3 ? names[s] : "unknown";
}
