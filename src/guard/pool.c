/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/pool.h"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "base/time.h"
#include "guard/waiter.h"

/*
 * One lock protects everything. An idle worker stands in the idle list and sleeps on a
 * futex word of its own. A thread that has a job for it removes it from the list, writes
 * the job into its record and wakes it. So an accepted job is either with a worker or in
 * the ring, and the number of accepted jobs does not depend on thread scheduling.
 *
 * Wake-ups happen without the lock. Where one change concerns many threads (close,
 * resume, resize, the last job done), `settle` takes one step per thread to wake.
 *
 * Workers' records live on their own stacks. A thread that ends joins the thread that
 * ended before it, so at most one is left to join and no table of threads is needed.
 */

/* Polls this many times before it sleeps: work often arrives within microseconds, and a
 * wake-up costs both threads more. */
#define LOOKS 100

typedef struct task {
    seine_job fn;
    void *arg;
    seine_drop drop;
    seine_time at; /* when it was accepted */
} task;

enum { UNTOLD, TOLD, ASLEEP };

typedef struct worker {
    task task;
    uint32_t word;
    bool go; /* told to end */
    struct worker *next;
} worker;

struct seine_pool {
    pthread_mutex_t lock;
    seine_clock *clock;
    seine_ctx *ctx;
    worker *idle;

    task *ring;
    uint32_t cap, head, queued;

    uint32_t size;    /* wanted number of workers */
    uint32_t hiring;  /* workers being started */
    uint32_t live;    /* workers that were not told to end */
    uint32_t threads; /* workers that have not ended; a futex word */
    uint32_t active, peak, dropping;
    bool paused, closed, aborted, has_last;
    pthread_t last; /* the last thread that ended */

    sn_waitq submitters; /* `data`: the task, NULL once it was taken */
    sn_waitq waiters;    /* `data`: not NULL while linked */

    uint64_t submitted, completed, failed, rejected, dropped;
    seine_err first_error;
    seine_span queue_wait_max;
};

/* The pool that the calling thread works for. Only the thread itself can know this. */
static _Thread_local const seine_pool *mine;

static void
lock(const seine_pool *p)
{
    pthread_mutex_lock((pthread_mutex_t *)&p->lock);
}

static void
unlock(const seine_pool *p)
{
    pthread_mutex_unlock((pthread_mutex_t *)&p->lock);
}

static seine_time
now_of(const seine_pool *p)
{
    return p->clock->now(p->clock);
}

/* Under the lock, for a worker that was removed from the idle list. */
static sn_wake
tell_worker(const seine_pool *p, worker *w)
{
    bool sleeps = __atomic_exchange_n(&w->word, TOLD, __ATOMIC_SEQ_CST) == ASLEEP;

    return sleeps ? (sn_wake){p->clock, &w->word} : (sn_wake){0};
}

static void
stand_by(seine_clock *clock, worker *w)
{
    uint32_t word = UNTOLD;

    for (int i = 0; i < LOOKS; i++) {
        if (__atomic_load_n(&w->word, __ATOMIC_ACQUIRE) == TOLD)
            return;
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
    }
    if (__atomic_compare_exchange_n(&w->word, &word, ASLEEP, false, __ATOMIC_SEQ_CST,
                                    __ATOMIC_SEQ_CST))
        while (__atomic_load_n(&w->word, __ATOMIC_SEQ_CST) == ASLEEP)
            clock->wait(clock, &w->word, ASLEEP, SEINE_NEVER);
}

static worker *
take_idle(seine_pool *p)
{
    worker *w = p->idle;

    if (w)
        p->idle = w->next;
    return w;
}

static void
activate(seine_pool *p, worker *w, const task *t)
{
    w->task = *t;
    if (++p->active > p->peak)
        p->peak = p->active;
}

static void
push_task(seine_pool *p, const task *t)
{
    uint64_t at = ((uint64_t)p->head + p->queued++) % p->cap;

    p->ring[at] = *t;
}

static task
shift(seine_pool *p)
{
    task t = p->ring[p->head];

    p->head = (p->head + 1) % p->cap;
    p->queued--;
    return t;
}

/* Accepts the job of the first thread that waits to submit. */
static task
admit(seine_pool *p, seine_time now, sn_wake *out_wake)
{
    sn_waiter *w = p->submitters.head;
    task t = *(const task *)w->data;

    t.at = now;
    sn_waitq_remove(&p->submitters, w);
    w->data = NULL;
    w->granted = true;
    *out_wake = sn_waiter_mark(w);
    p->submitted++;
    return t;
}

/* The next job, if one may start. Fills the freed place in the queue in the same step, so
 * that no new job overtakes those that wait to submit. */
static bool
pop(seine_pool *p, seine_time now, task *out_task, sn_wake *out_wake)
{
    if (p->paused)
        return false;
    if (p->queued == 0) { /* a queue of capacity 0 has submitters only */
        if (!p->submitters.head)
            return false;
        *out_task = admit(p, now, out_wake);
        return true;
    }
    *out_task = shift(p);
    p->queue_wait_max = sn_time_max(p->queue_wait_max, sn_time_sub(now, out_task->at));
    if (p->submitters.head) {
        task t = admit(p, now, out_wake);

        push_task(p, &t);
    }
    return true;
}

static bool
is_drained(const seine_pool *p)
{
    return p->queued == 0 && p->active == 0 && p->dropping == 0;
}

/* Grants the wait to all who wait now, whatever is submitted before they run. Returns
 * whether there are any to wake. */
static bool
grant_drained(seine_pool *p)
{
    if (!is_drained(p))
        return false;
    for (sn_waiter *w = p->waiters.head; w; w = w->next)
        w->granted = true;
    return p->waiters.head;
}

static bool
is_one_too_many(const seine_pool *p)
{
    return p->live > p->size || (p->closed && (p->aborted || p->queued == 0));
}

static sn_wake
take_off(sn_waitq *q, sn_waiter *w)
{
    sn_waitq_remove(q, w);
    w->data = NULL;
    return sn_waiter_mark(w);
}

/* Under the lock: does one thing that concerns a sleeping thread. */
static bool
settle_one(seine_pool *p, seine_time now, sn_wake wakes[2])
{
    sn_waiter *waiter = p->waiters.head;
    task t;

    if (waiter && waiter->granted) {
        wakes[0] = take_off(&p->waiters, waiter);
    } else if (p->submitters.head && p->closed) {
        p->rejected++;
        wakes[0] = take_off(&p->submitters, p->submitters.head);
    } else if (p->idle && is_one_too_many(p)) {
        worker *w = take_idle(p);

        w->go = true;
        p->live--;
        wakes[0] = tell_worker(p, w);
    } else if (p->idle && pop(p, now, &t, &wakes[1])) {
        worker *w = take_idle(p);

        activate(p, w, &t);
        wakes[0] = tell_worker(p, w);
    } else {
        return false;
    }
    return true;
}

static void
settle_sleepers(seine_pool *p)
{
    seine_time now = now_of(p);
    bool more;

    do {
        sn_wake wakes[2] = {{0}, {0}};

        lock(p);
        more = settle_one(p, now, wakes);
        unlock(p);
        sn_wake_up(wakes[0]);
        sn_wake_up(wakes[1]);
    } while (more);
}

typedef enum fate { RUN, IDLE, GO } fate;

/* Under the lock: decides what a worker without a job does next. */
static fate
next_fate(seine_pool *p, worker *w, seine_time now, sn_wake *out_wake)
{
    task t;

    if (is_one_too_many(p)) {
        p->live--;
        return GO;
    }
    if (pop(p, now, &t, out_wake)) {
        activate(p, w, &t);
        return RUN;
    }
    w->word = UNTOLD;
    w->next = p->idle;
    p->idle = w;
    return IDLE;
}

static void
finish_job(seine_pool *p, seine_err e)
{
    p->active--;
    p->completed++;
    if (e == SEINE_OK)
        return;
    p->failed++;
    if (p->first_error == SEINE_OK)
        p->first_error = e;
}

static fate
run_job(seine_pool *p, worker *w)
{
    seine_err e = w->task.fn(p->ctx, w->task.arg);
    seine_time now = now_of(p);
    sn_wake wake = {0};

    lock(p);
    finish_job(p, e);
    fate f = next_fate(p, w, now, &wake);
    bool last = grant_drained(p);
    unlock(p);

    sn_wake_up(wake);
    if (last)
        settle_sleepers(p);
    return f;
}

/* The pool lives until this thread is joined. The thread leaves the clock before it
 * blocks on another thread. */
static void
depart(seine_pool *p)
{
    seine_clock *clock = p->clock;

    lock(p);
    pthread_t before = p->last;
    bool joins = p->has_last;
    p->last = pthread_self();
    p->has_last = true;
    __atomic_sub_fetch(&p->threads, 1, __ATOMIC_SEQ_CST);
    unlock(p);

    clock->wake(clock, &p->threads, 1);
    if (clock->leave)
        clock->leave(clock);
    if (joins)
        pthread_join(before, NULL);
}

typedef struct crew {
    seine_pool *pool;
    sem_t ready;
} crew;

static void *
work(void *arg)
{
    crew *c = arg;
    seine_pool *p = c->pool;
    seine_clock *clock = p->clock;
    worker me = {0};
    sn_wake wake = {0};

    mine = p;
    if (clock->enter)
        clock->enter(clock);
    seine_time now = clock->now(clock);
    lock(p);
    p->hiring--;
    p->live++;
    fate f = next_fate(p, &me, now, &wake);
    unlock(p);
    sem_post(&c->ready); /* the crew may be freed from here on */
    sn_wake_up(wake);

    while (f != GO) {
        if (f == IDLE)
            stand_by(clock, &me);
        f = me.go ? GO : run_job(p, &me);
    }
    depart(p);
    return NULL;
}

/* Starts `n` workers, counted as `hiring`, and returns how many are ready. A caller on a
 * fake clock stays busy meanwhile, so that time cannot pass the new threads. */
static uint32_t
hire(seine_pool *p, uint32_t n)
{
    crew c = {.pool = p};
    sigset_t all, old;
    uint32_t made = 0;
    pthread_t t;

    sem_init(&c.ready, 0, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    while (made < n && pthread_create(&t, NULL, work, &c) == 0)
        made++;
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    for (uint32_t i = 0; i < made;)
        i += sem_wait(&c.ready) == 0; /* a signal interrupts the wait */
    sem_destroy(&c.ready);
    return made;
}

/* Brings the number of workers to `size`. On SEINE_E_NOMEM the old number is restored. */
static seine_err
staff(seine_pool *p, uint32_t size)
{
    lock(p);
    if (p->closed) {
        unlock(p);
        return SEINE_E_CLOSED;
    }
    uint32_t before = p->size, have = p->live + p->hiring;
    uint32_t more = size > have ? size - have : 0;
    p->size = size;
    p->hiring += more;
    __atomic_add_fetch(&p->threads, more, __ATOMIC_SEQ_CST);
    unlock(p);

    uint32_t missing = more > 0 ? more - hire(p, more) : 0;
    if (missing > 0) {
        lock(p);
        p->hiring -= missing;
        __atomic_sub_fetch(&p->threads, missing, __ATOMIC_SEQ_CST);
        if (p->size > before)
            p->size = before;
        unlock(p);
    }
    settle_sleepers(p);
    return missing > 0 ? SEINE_E_NOMEM : SEINE_OK;
}

seine_err
seine_pool_new(const seine_pool_opts *opts, seine_ctx *parent, seine_pool **out_pool)
{
    if (!out_pool)
        return SEINE_E_INVAL;
    if (!opts || !sn_opts_fit(opts, sizeof *opts) || opts->workers == 0 || !parent)
        return SEINE_E_INVAL;
    seine_pool *p = sn_zalloc(sizeof *p);
    if (!p)
        return SEINE_E_NOMEM;

    pthread_mutex_init(&p->lock, NULL);
    p->clock = seine_ctx_clock(parent);
    p->cap = opts->queue_cap;
    p->paused = opts->paused;
    p->ring = sn_calloc(p->cap, sizeof *p->ring);
    seine_err e = p->ring ? seine_ctx_new(parent, SEINE_NEVER, &p->ctx) : SEINE_E_NOMEM;
    if (e == SEINE_OK)
        e = staff(p, opts->workers);
    if (e != SEINE_OK) {
        seine_pool_free(p);
        return e;
    }
    *out_pool = p;
    return SEINE_OK;
}

static void
drop_queue(seine_pool *p)
{
    lock(p);
    while (p->queued > 0) {
        task t = shift(p);

        p->dropping++;
        p->dropped++;
        unlock(p);
        if (t.drop)
            t.drop(t.arg);
        lock(p);
        p->dropping--;
    }
    grant_drained(p);
    unlock(p);
}

static void
shut(seine_pool *p, seine_close how)
{
    lock(p);
    p->closed = true;
    p->paused = false;
    p->aborted |= how == SEINE_CLOSE_ABORT;
    unlock(p);

    if (how == SEINE_CLOSE_ABORT) {
        if (p->ctx)
            seine_ctx_cancel(p->ctx, SEINE_OK);
        drop_queue(p);
    }
    settle_sleepers(p);
}

void
seine_pool_free(seine_pool *p)
{
    uint32_t left;

    if (!p || mine == p)
        return;
    lock(p);
    bool open = !p->closed;
    unlock(p);
    if (open)
        shut(p, SEINE_CLOSE_ABORT);

    while ((left = __atomic_load_n(&p->threads, __ATOMIC_SEQ_CST)) > 0)
        p->clock->wait(p->clock, &p->threads, left, SEINE_NEVER);
    lock(p); /* the last thread may still hold the lock */
    bool joins = p->has_last;
    unlock(p);
    if (joins)
        pthread_join(p->last, NULL);

    seine_ctx_unref(p->ctx);
    pthread_mutex_destroy(&p->lock);
    sn_free(p->ring);
    sn_free(p);
}

/* Under the lock: accepts the job if a worker or a place is free. */
static seine_err
offer(seine_pool *p, const task *t, sn_wake *out_wake)
{
    bool waited = p->queued > 0 || p->submitters.head;

    if (p->closed)
        return SEINE_E_CLOSED;
    if (p->idle && !p->paused && !waited) {
        worker *w = take_idle(p);

        activate(p, w, t);
        *out_wake = tell_worker(p, w);
    } else if (p->queued < p->cap && !p->submitters.head) {
        push_task(p, t);
    } else {
        return SEINE_E_FULL;
    }
    p->submitted++;
    return SEINE_OK;
}

seine_err
seine_pool_try_submit(seine_pool *p, seine_job job, void *arg, seine_drop drop)
{
    sn_wake wake = {0};

    if (!job)
        return SEINE_E_INVAL;
    task t = {job, arg, drop, now_of(p)};
    lock(p);
    seine_err e = offer(p, &t, &wake);
    p->rejected += e != SEINE_OK;
    unlock(p);
    sn_wake_up(wake);
    return e;
}

/* Waits for a place for a job in the queue of submitters. */
static seine_err
stand_in(seine_pool *p, seine_ctx *ctx, sn_waiter *w)
{
    seine_clock *clock = seine_ctx_clock(ctx);
    seine_err e = SEINE_OK;

    for (;;) {
        lock(p);
        bool granted = w->granted, waits = w->data;
        if (waits && e != SEINE_OK) {
            sn_waitq_remove(&p->submitters, w);
            p->rejected++;
        }
        unlock(p);

        if (granted)
            return SEINE_OK;
        if (!waits)
            return SEINE_E_CLOSED;
        if (e != SEINE_OK)
            return e;
        sn_waiter_park(w, seine_ctx_deadline(ctx));
        e = seine_ctx_err(ctx, clock->now(clock));
    }
}

seine_err
seine_pool_submit(seine_pool *p, seine_ctx *ctx, seine_job job, void *arg,
                  seine_drop drop)
{
    if (!ctx)
        return SEINE_E_INVAL;
    seine_clock *clock = seine_ctx_clock(ctx);
    sn_wake wake = {0};
    sn_waiter w;

    if (!job)
        return SEINE_E_INVAL;
    if (mine == p)
        return SEINE_E_DEADLOCK;
    seine_err e = seine_ctx_err(ctx, clock->now(clock));
    if (e != SEINE_OK)
        return e;

    task t = {job, arg, drop, now_of(p)};
    sn_waiter_arm(&w, ctx);
    lock(p);
    e = offer(p, &t, &wake);
    if (e == SEINE_E_FULL) {
        w.data = &t;
        sn_waitq_push(&p->submitters, &w);
    }
    p->rejected += e == SEINE_E_CLOSED;
    unlock(p);
    sn_wake_up(wake);
    if (e == SEINE_E_FULL)
        e = stand_in(p, ctx, &w);
    sn_waiter_disarm(&w, ctx);
    return e;
}

/* Waits until every accepted job is finished, or the ctx is done. */
static seine_err
await_drained(seine_pool *p, seine_ctx *ctx)
{
    seine_clock *clock = seine_ctx_clock(ctx);
    seine_err e = seine_ctx_err(ctx, clock->now(clock));
    sn_waiter w;

    sn_waiter_arm(&w, ctx);
    lock(p);
    w.granted = is_drained(p);
    if (!w.granted) {
        w.data = p;
        sn_waitq_push(&p->waiters, &w);
    }
    for (;;) {
        bool granted = w.granted;
        bool leaves = granted || e != SEINE_OK;

        if (leaves && w.data)
            sn_waitq_remove(&p->waiters, &w);
        unlock(p);
        if (leaves) {
            sn_waiter_disarm(&w, ctx);
            return granted ? SEINE_OK : e;
        }
        sn_waiter_park(&w, seine_ctx_deadline(ctx));
        e = seine_ctx_err(ctx, clock->now(clock));
        lock(p);
    }
}

seine_err
seine_pool_wait(seine_pool *p, seine_ctx *ctx)
{
    if (!ctx)
        return SEINE_E_INVAL;
    seine_clock *clock = seine_ctx_clock(ctx);

    if (mine == p)
        return SEINE_E_DEADLOCK;
    seine_err e = seine_ctx_err(ctx, clock->now(clock));
    return e == SEINE_OK ? await_drained(p, ctx) : e;
}

seine_err
seine_pool_close(seine_pool *p, seine_close how, seine_ctx *ctx)
{
    if (!p || !ctx || (how != SEINE_CLOSE_DRAIN && how != SEINE_CLOSE_ABORT))
        return SEINE_E_INVAL;
    if (mine == p)
        return SEINE_E_DEADLOCK;
    shut(p, how);
    return await_drained(p, ctx);
}

void
seine_pool_pause(seine_pool *p)
{
    if (!p)
        return;
    lock(p);
    p->paused = !p->closed;
    unlock(p);
}

void
seine_pool_resume(seine_pool *p)
{
    if (!p)
        return;
    lock(p);
    p->paused = false;
    unlock(p);
    settle_sleepers(p);
}

seine_err
seine_pool_resize(seine_pool *p, uint32_t workers)
{
    return workers == 0 ? SEINE_E_INVAL : staff(p, workers);
}

void
seine_pool_stats_get(const seine_pool *p, seine_pool_stats *out_stats)
{
    if (!p || !out_stats)
        return;
    lock(p);
    *out_stats = (seine_pool_stats){
        .workers = p->size,
        .active = p->active,
        .queued = p->queued,
        .peak = p->peak,
        .submitted = p->submitted,
        .completed = p->completed,
        .failed = p->failed,
        .rejected = p->rejected,
        .dropped = p->dropped,
        .first_error = p->first_error,
        .queue_wait_max = p->queue_wait_max,
    };
    unlock(p);
}
