/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/fetch.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/time.h"
#include "engine/admit.h"
#include "engine/fetch_job.h"
#include "engine/fetch_metrics.h"
#include "engine/fetch_opts.h"
#include "engine/page_readers.h"
#include "engine/run.h"
#include "engine/visit_spans.h"
#include "net/h1.h"
#include "net/loop.h"
#include "seine/version.h"

typedef struct shard {
    seine_fetch *of;
    sn_env env;
    sn_run *run;
    pthread_t thread;
    bool runs; /* its thread was started and not joined */
} shard;

enum { OPEN, JOINING, JOINED };
enum { MOST_FILLED = 256 }; /* visits that are free before a feeder is woken */

struct seine_fetch {
    sn_shared_state shared;
    const sn_net *net;
    seine_clock *clock;
    uint32_t n; /* shards */
    shard *shards;
    sn_run **runs; /* the table the shards know each other by */
    sn_fetch_metrics *metrics;
    _Atomic int job_told; /* fetch_metrics.h */
    int64_t began;        /* wall time; 0: nobody traces, or its span is told */
    sn_fetch_job before;  /* what earlier runs of the job have left */
    _Atomic bool quit;
    _Atomic int threads; /* OPEN … */
    _Atomic uint32_t waiters;
    uint32_t
        word; /* what they are parked on; changes when there is room, or all is done */
    void (*on_done)(void *arg); /* read once the fetch is closed; NULL */
    void *done_arg;

    /* threads = 0: the transport's descriptor and the moment of the next turn in one */
    sn_loop loop;
    sn_watch watch;
    sn_timer timer;
    bool has_loop, has_timer;
    int fd; /* the transport's, -1 */
};

/* Making and taking apart. */

static seine_err
wrong(seine_diag *diag, const char *member, seine_view value)
{
    return sn_diag_value(diag, member, value, "cannot be sent");
}

/* What goes on the wire as it was given must be fit for it. */
static seine_err
check(const seine_fetch_opts *o, seine_diag *diag)
{
    seine_view agent = {o->user_agent, o->user_agent ? strlen(o->user_agent) : 0};
    seine_view from = {o->from, o->from ? strlen(o->from) : 0};
    seine_view method = {o->method, o->method ? strlen(o->method) : 0};

    if (!sn_h1_is_value(agent))
        return wrong(diag, "user_agent", agent);
    if (!sn_h1_is_value(from))
        return wrong(diag, "from", from);
    if (method.len > 0 && (!sn_h1_is_name(method) || strcmp(o->method, "CONNECT") == 0))
        return wrong(diag, "method", method);
    for (size_t i = 0; i < o->n_fields; i++) {
        const seine_field *f = &o->fields[i];
        if (!sn_admit_is_field(f->name, f->value))
            return wrong(diag, "fields", f->name);
    }
    return SEINE_OK;
}

/* `closed` is read first: nobody sets on_done any more. */
static void
tell_done(seine_fetch *f)
{
    if (atomic_load(&f->shared.closed) && f->on_done &&
        sn_shared_state_is_done(&f->shared))
        f->on_done(f->done_arg);
}

/* Somebody may wait for room, or for the end. */
static void
tell_waiters(seine_fetch *f)
{
    tell_done(f);
    atomic_thread_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&f->waiters, memory_order_relaxed) == 0)
        return;
    uint32_t out = sn_visits_out(f->shared.visits), queue = f->shared.opts.queue;
    uint32_t some = queue / 16 < MOST_FILLED ? queue / 16 : MOST_FILLED;
    /* Not for each one that comes back: a feeder fills a sixteenth at a time. */
    if (out > queue - some && !atomic_load(&f->shared.closed))
        return;
    /* Who waits for room while a shard closes the fetch waits in vain. */
    if (atomic_load(&f->shared.closed) && atomic_load(&f->shared.adding) == 0 &&
        !sn_shared_state_is_done(&f->shared))
        return;
    __atomic_add_fetch(&f->word, 1, __ATOMIC_SEQ_CST);
    f->clock->wake(f->clock, &f->word, INT32_MAX);
}

static void
wake_waiters(seine_fetch *f)
{
    __atomic_add_fetch(&f->word, 1, __ATOMIC_SEQ_CST);
    f->clock->wake(f->clock, &f->word, INT32_MAX);
}

static void
wake_shards(seine_fetch *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        sn_run_wake(f->runs[i]);
}

static void
wake_all(void *arg)
{
    wake_shards(arg);
}

static void *
shard_main(void *arg)
{
    shard *s = arg;
    seine_fetch *f = s->of;

    prctl(PR_SET_TIMERSLACK, 1UL); /* wait to the nanosecond, not to 50 us */
    if (f->clock->enter)
        f->clock->enter(f->clock);
    while (!atomic_load_explicit(&f->quit, memory_order_acquire)) {
        sn_run_turn(s->run, sn_run_when(s->run));
        tell_waiters(f);
    }
    if (f->clock->leave)
        f->clock->leave(f->clock);
    return NULL;
}

static seine_err
start_threads(seine_fetch *f)
{
    for (uint32_t i = 0; i < f->shared.opts.threads; i++) {
        shard *s = &f->shards[i];
        char name[24]; /* 256 shards at most: the kernel takes 15 bytes */

        if (pthread_create(&s->thread, NULL, shard_main, s) != 0)
            return SEINE_E_NOMEM;
        s->runs = true;
        snprintf(name, sizeof name, "sn-shard-%u", i);
        pthread_setname_np(s->thread, name);
    }
    return SEINE_OK;
}

static void
join_threads(seine_fetch *f)
{
    atomic_store_explicit(&f->quit, true, memory_order_release);
    wake_shards(f);
    for (uint32_t i = 0; i < f->n; i++)
        if (f->shards[i].runs) {
            pthread_join(f->shards[i].thread, NULL);
            f->shards[i].runs = false;
        }
}

static void
on_moment(sn_timer *t, seine_time now)
{
    (void)t;
    (void)now;
}

static void
on_ready(sn_watch *w, uint32_t events)
{
    (void)w;
    (void)events;
}

/* What a caller's own loop watches: the transport and our next moment. */
static seine_err
make_loop(seine_fetch *f)
{
    sn_transport *t = f->shards[0].env.transport;
    seine_err e = sn_loop_init(&f->loop, f->clock);

    if (e != SEINE_OK)
        return e;
    f->has_loop = true;
    f->timer.fire = on_moment;
    f->watch.ready = on_ready;
    e = sn_timer_reserve(&f->loop);
    if (e != SEINE_OK)
        return e;
    f->has_timer = true;
    f->fd = t->ops->fd(t);
    return f->fd < 0 ? SEINE_OK : sn_loop_add_level(&f->loop, f->fd, &f->watch, EPOLLIN);
}

static seine_err
make_shards(seine_fetch *f, seine_diag *diag)
{
    f->shards = sn_calloc(f->n, sizeof *f->shards);
    f->runs = sn_calloc(f->n, sizeof(sn_run *));
    if (!f->shards || !f->runs)
        return SEINE_E_NOMEM;
    for (uint32_t i = 0; i < f->n; i++) {
        shard *s = &f->shards[i];
        s->of = f;
        s->env.clock = f->clock;
        s->env.store = f->net->store;
        seine_err e =
            f->net->open(f->net->self, &f->shared, i, f->n, &s->env.transport, diag);
        if (e == SEINE_OK)
            e = sn_run_new(&f->shared, &s->env, f->runs, i, f->n, &s->run);
        if (e != SEINE_OK)
            return e;
        f->runs[i] = s->run;
        sn_run_set_metrics(s->run, f->metrics);
    }
    return SEINE_OK;
}

/* Everybody has left. */
static void
take_apart(seine_fetch *f)
{
    sn_memory_brake_on_wake(f->shared.brake, NULL, NULL);
    sn_page_readers_free(f->shared.readers); /* they wake shards */
    if (f->has_loop) {
        if (f->has_timer)
            sn_timer_forget(&f->loop, &f->timer);
        if (f->fd >= 0)
            sn_loop_del(&f->loop, f->fd, &f->watch);
        sn_loop_fini(&f->loop);
    }
    for (uint32_t i = 0; f->shards && i < f->n; i++) {
        sn_run_free(f->shards[i].run);
        if (f->shards[i].env.transport)
            f->net->close(f->net->self, f->shards[i].env.transport);
    }
    sn_free(f->shards);
    sn_free(f->runs);
    sn_fetch_job_fini(&f->before);
    sn_shared_state_fini(&f->shared);
    sn_free(f);
}

seine_err
sn_fetch_open(const seine_fetch_opts *opts, const sn_net *net, seine_fetch **out_fetch,
              seine_diag *diag)
{
    sn_diag_clear(diag);
    seine_err e = check(opts, diag);
    if (e != SEINE_OK)
        return e;
    seine_fetch *f = sn_zalloc(sizeof *f);
    if (!f)
        return SEINE_E_NOMEM;
    e = sn_shared_state_init(&f->shared, opts, diag);
    if (e != SEINE_OK) {
        sn_free(f);
        return e;
    }
    f->net = net;
    sn_fetch_job_init(&f->before);
    f->fd = -1;
    f->clock = f->shared.opts.clock;
    f->n = opts->threads > 0 ? opts->threads : 1;
    if (opts->traces) {
        sn_visit_tracer_ids(f->clock->dice(f->clock), f->shared.trace,
                            sizeof f->shared.trace);
        f->began = f->clock->wall(f->clock);
    }
    if (opts->metrics)
        e = sn_fetch_metrics_new(opts->metrics, &f->metrics);
    if (e == SEINE_OK)
        e = make_shards(f, diag);
    if (e == SEINE_OK && f->shared.job)
        e = sn_fetch_job_scan(&f->before, &f->shared, f->runs, f->n,
                              f->clock->now(f->clock), diag);
    if (e == SEINE_OK)
        sn_memory_brake_on_wake(f->shared.brake, wake_all, f);
    if (e == SEINE_OK && opts->threads == 0)
        e = make_loop(f);
    if (e == SEINE_OK && opts->threads > 0)
        e = sn_run_make_readers(&f->shared, f->n);
    if (e == SEINE_OK)
        e = start_threads(f);
    if (e != SEINE_OK) {
        if (f->runs && f->runs[f->n - 1])
            join_threads(f);
        take_apart(f);
        return e;
    }
    sn_fetch_metrics_job(f->metrics, &f->job_told, SN_JOB_RUNNING);
    *out_fetch = f;
    return SEINE_OK;
}

seine_err
seine_fetch_new(const seine_fetch_opts *opts, seine_fetch **out_fetch, seine_diag *diag)
{
    seine_fetch_opts own;

    if (!opts || !out_fetch)
        return SEINE_E_INVAL;
    seine_err e = sn_fetch_opts_read(&own, opts, diag);
    return e == SEINE_OK ? sn_fetch_open(&own, &sn_net_sockets, out_fetch, diag) : e;
}

/* Waiting. */

static void
on_ctx_done(void *arg)
{
    wake_waiters(arg);
}

/* Parks until the word changes from `seen` or the ctx is done. */
static void
park_until(seine_fetch *f, seine_ctx *ctx, uint32_t seen)
{
    seine_time until = ctx ? seine_ctx_deadline(ctx) : SEINE_NEVER;

    f->clock->wait(f->clock, &f->word, seen, until);
}

static seine_err
ctx_err(const seine_fetch *f, const seine_ctx *ctx)
{
    return ctx ? seine_ctx_err(ctx, f->clock->now(f->clock)) : SEINE_OK;
}

typedef bool (*question)(seine_fetch *f, void *arg);

/* Until the answer is yes: OK, or the ctx's cause. */
static seine_err
wait_for(seine_fetch *f, seine_ctx *ctx, question is, void *arg)
{
    seine_ctx_hook hook = {.fn = on_ctx_done, .arg = f};
    seine_err e = SEINE_OK;

    if (ctx)
        seine_ctx_on_done(ctx, &hook);
    atomic_fetch_add(&f->waiters, 1);
    for (;;) {
        uint32_t seen = __atomic_load_n(&f->word, __ATOMIC_SEQ_CST);
        atomic_thread_fence(memory_order_seq_cst);
        if (is(f, arg) || (e = ctx_err(f, ctx)) != SEINE_OK)
            break;
        park_until(f, ctx, seen);
    }
    atomic_fetch_sub(&f->waiters, 1);
    if (ctx)
        seine_ctx_off_done(ctx, &hook);
    return e;
}

/* Giving. */

typedef struct giving {
    const seine_ask *ask;
    sn_visit *visit;
    seine_err err;
    bool is_again;    /* an earlier run of the job was given it … */
    uint64_t number;  /* … and knows it by this number */
    bool *out_is_new; /* set if it is; NULL */
} giving;

static bool
try_admit(seine_fetch *f, void *arg)
{
    giving *g = arg;

    if (atomic_load(&f->shared.closed)) {
        g->err = SEINE_E_CLOSED;
        return true;
    }
    if (f->shared.job)
        pthread_mutex_lock(&f->shared.giver); /* its lane has one producer */
    g->err = g->is_again
                 ? sn_admit_again(&f->shared, g->ask, g->number, f->clock->now(f->clock),
                                  &g->visit)
                 : sn_admit(&f->shared, g->ask, f->clock->now(f->clock), &g->visit);
    if (f->shared.job)
        pthread_mutex_unlock(&f->shared.giver);
    return g->err != SEINE_E_FULL;
}

/* Counted before it is given, so that nobody sees more done than admitted. */
static void
count_given(seine_fetch *f, sn_visit *v)
{
    if (!v->is_skip && !sn_shared_state_admit(&f->shared))
        sn_admit_refuse(v, SEINE_SKIP_BUDGET, sn_str_of(f->shared.max_pages_rule));
    if (v->is_skip)
        atomic_fetch_add(&f->shared.refused, 1);
    sn_fetch_metrics_given(f->metrics, 1, v->is_skip);
}

/* It was counted as admitted when the job was read. */
static void
count_again(seine_fetch *f, const sn_visit *v)
{
    if (v->is_skip) {
        atomic_fetch_sub(&f->shared.admitted, 1);
        atomic_fetch_add(&f->shared.refused, 1);
    }
    sn_fetch_metrics_given(f->metrics, 1, v->is_skip);
}

/* One of the URLs that earlier runs of the job were given comes again. */
static bool
is_known(seine_fetch *f)
{
    uint64_t left = atomic_load(&f->shared.known);

    while (left > 0)
        if (atomic_compare_exchange_weak(&f->shared.known, &left, left - 1))
            return true;
    return false;
}

static seine_err
add_url(seine_fetch *f, giving g, seine_ctx *ctx)
{
    if (!f->shared.seen && !g.is_again && is_known(f))
        return SEINE_OK; /* without keys as many are passed over as were given before */
    if (!try_admit(f, &g)) {
        if (!ctx || f->shared.opts.threads == 0)
            return SEINE_E_FULL;
        seine_err e = wait_for(f, ctx, try_admit, &g);
        if (e != SEINE_OK)
            return e;
    }
    if (g.err == SEINE_E_ALREADY) {
        if (!is_known(f))
            atomic_fetch_add(&f->shared.duplicates, 1);
        return SEINE_OK;
    }
    if (g.err != SEINE_OK)
        return g.err;
    if (g.out_is_new)
        *g.out_is_new = true;
    if (g.is_again)
        count_again(f, g.visit);
    else
        count_given(f, g.visit);
    sn_run_give(f->runs[sn_shared_state_shard(&f->shared, &g.visit->url, f->n)], g.visit);
    return SEINE_OK;
}

static seine_err
give_url(seine_fetch *f, giving g, seine_ctx *ctx)
{
    atomic_fetch_add(&f->shared.adding, 1);
    seine_err e = add_url(f, g, ctx);
    atomic_fetch_sub(&f->shared.adding, 1);
    if (atomic_load(&f->shared.closed)) { /* finish may have waited for this call */
        wake_waiters(f);
        tell_done(f);
    }
    return e;
}

seine_err
seine_fetch_add(seine_fetch *f, const seine_ask *ask, seine_ctx *ctx)
{
    if (!f || !ask)
        return SEINE_E_INVAL;
    return give_url(f, (giving){.ask = ask}, ctx);
}

seine_err
seine_fetch_add_new(seine_fetch *f, const seine_ask *ask, seine_ctx *ctx,
                    bool *out_is_new)
{
    if (!f || !ask || !out_is_new)
        return SEINE_E_INVAL;
    *out_is_new = false;
    return give_url(f, (giving){.ask = ask, .out_is_new = out_is_new}, ctx);
}

seine_err
seine_fetch_resume(seine_fetch *f, seine_ctx *ctx)
{
    seine_ask ask;
    seine_err e = SEINE_OK, bad;
    giving g = {.ask = &ask, .is_again = true};

    if (!f)
        return SEINE_E_INVAL;
    while (e == SEINE_OK && sn_fetch_job_next(&f->before, &ask, &g.number, &bad)) {
        if (bad == SEINE_OK && f->shared.opts.on_again)
            f->shared.opts.on_again(&ask, f->shared.opts.arg);
        e = bad == SEINE_OK ? give_url(f, g, ctx) : bad;
    }
    return e;
}

seine_err
sn_fetch_give_again(seine_fetch *f, const seine_ask *ask, uint64_t number)
{
    atomic_fetch_add(&f->shared.admitted, 1);
    seine_err e =
        give_url(f, (giving){.ask = ask, .is_again = true, .number = number}, NULL);
    if (e != SEINE_OK)
        atomic_fetch_sub(&f->shared.admitted, 1);
    return e;
}

seine_span
sn_fetch_first_interval(const seine_fetch *f)
{
    return sn_fetch_job_first_interval(&f->shared.opts);
}

/* Ending. */

void
seine_fetch_close(seine_fetch *f)
{
    if (!f)
        return;
    atomic_store(&f->shared.closed, true);
    wake_waiters(f); /* who waits for room waits in vain */
    if (sn_shared_state_has_frontier(&f->shared))
        wake_shards(f); /* this may have been all there was to wait for */
    tell_done(f);
}

void
seine_fetch_stop(seine_fetch *f, seine_err why)
{
    if (!f)
        return;
    int going = SN_GOING, none = SEINE_OK;

    atomic_compare_exchange_strong(&f->shared.stop_why, &none, (int)why);
    if (!atomic_compare_exchange_strong(&f->shared.stop, &going, SN_DRAINING))
        atomic_store(&f->shared.stop, SN_STOPPING);
    if (!seine_fetch_is_done(f))
        sn_fetch_metrics_job(f->metrics, &f->job_told, SN_JOB_STOPPING);
    seine_fetch_close(f);
    wake_shards(f);
}

void
seine_fetch_wake(seine_fetch *f)
{
    if (!f)
        return;
    wake_shards(f);
}

bool
seine_fetch_is_done(const seine_fetch *f)
{
    if (!f)
        return false;
    return sn_shared_state_is_done(&f->shared);
}

static bool
is_done(seine_fetch *f, void *arg)
{
    (void)arg;
    return seine_fetch_is_done(f);
}

void
sn_fetch_turn(seine_fetch *f, seine_time until)
{
    sn_run *r = f->runs[0];

    sn_run_turn(r, sn_time_min(until, sn_run_when(r)));
    tell_waiters(f);
}

static void
on_ctx_done_wake(void *arg)
{
    wake_shards(arg);
}

/* threads = 0: whoever waits does the work. */
static seine_err
work_until_done(seine_fetch *f, seine_ctx *ctx)
{
    seine_ctx_hook hook = {.fn = on_ctx_done_wake, .arg = f};
    seine_err e = SEINE_OK;

    if (ctx)
        seine_ctx_on_done(ctx, &hook);
    while (!seine_fetch_is_done(f) && (e = ctx_err(f, ctx)) == SEINE_OK)
        sn_fetch_turn(f, ctx ? seine_ctx_deadline(ctx) : SEINE_NEVER);
    if (ctx)
        seine_ctx_off_done(ctx, &hook);
    return e;
}

static seine_err
wait_done(seine_fetch *f, seine_ctx *ctx)
{
    return f->shared.opts.threads == 0 ? work_until_done(f, ctx)
                                       : wait_for(f, ctx, is_done, NULL);
}

/* All is done and nobody gives any more: the shards have nothing left to do. */
static void
retire_shards(seine_fetch *f)
{
    int open = OPEN;

    if (atomic_compare_exchange_strong(&f->threads, &open, JOINING)) {
        join_threads(f);
        for (uint32_t i = 0; i < f->n; i++) {
            sn_run_keep_counts(f->runs[i], true);
            sn_run_keep_feed(f->runs[i], true);
        }
        atomic_store(&f->threads, JOINED);
        wake_waiters(f);
    }
}

static bool
is_joined(seine_fetch *f, void *arg)
{
    (void)arg;
    return atomic_load(&f->threads) == JOINED;
}

/* The span of the whole fetch, once. */
static void
tell_span(seine_fetch *f)
{
    seine_durable_job *job = f->shared.opts.job;
    seine_fetch_stats stats;

    if (f->began == 0)
        return;
    seine_fetch_stats_get(f, &stats);
    sn_visit_tracer_job(f->shared.opts.traces, f->shared.trace, f->began,
                        f->clock->wall(f->clock), &stats,
                        job ? sn_job_name_of(job) : (sn_str){NULL, 0});
    f->began = 0;
}

seine_err
seine_fetch_finish(seine_fetch *f, seine_ctx *ctx)
{
    if (!f)
        return SEINE_E_INVAL;
    seine_fetch_close(f);
    seine_err e = wait_done(f, ctx);
    if (e != SEINE_OK) {
        seine_fetch_stop(f, e);
        (void)!wait_done(f, NULL); /* ends within the grace */
    }
    retire_shards(f);
    (void)!wait_for(f, NULL, is_joined, NULL);
    tell_span(f);
    sn_fetch_metrics_job(f->metrics, &f->job_told, SN_JOB_DONE);
    return e != SEINE_OK ? e : seine_fetch_err(f, NULL);
}

seine_err
seine_fetch_err(const seine_fetch *f, seine_diag *diag)
{
    if (!f)
        return SEINE_E_INVAL;
    seine_err e = (seine_err)atomic_load(&f->shared.err);

    sn_diag_clear(diag);
    if (diag && e != SEINE_OK)
        *diag = f->shared.why;
    return e;
}

void
seine_fetch_free(seine_fetch *f)
{
    if (!f)
        return;
    if (!seine_fetch_is_done(f)) {
        seine_fetch_stop(f, SEINE_E_CANCELED);
        seine_fetch_stop(f, SEINE_E_CANCELED);
        (void)!wait_done(f, NULL);
    }
    retire_shards(f);
    tell_span(f);
    sn_fetch_metrics_job(f->metrics, &f->job_told, SN_JOB_DONE);
    take_apart(f);
}

/* Looking. */

void
seine_fetch_stats_get(const seine_fetch *f, seine_fetch_stats *out_stats)
{
    if (!f || !out_stats)
        return;
    seine_fetch_stats s = f->before.before;

    for (uint32_t i = 0; i < f->n; i++)
        sn_run_stats(f->runs[i], &s);
    /* Shards are read one after the other: what was under way between two looks, or
     * lies in an inbox, waits. */
    s.done = s.ok + s.failed + s.blocked;
    s.admitted = atomic_load(&f->shared.admitted);
    s.refused = atomic_load(&f->shared.refused);
    s.duplicates = atomic_load(&f->shared.duplicates);
    s.lost = atomic_load(&f->shared.lost);
    s.links_cut = atomic_load(&f->shared.links_cut);
    s.sitemaps_cut = atomic_load(&f->shared.sitemaps_cut);
    s.sitemaps_over = atomic_load(&f->shared.sitemaps_over);
    s.sitemap_bytes_over = atomic_load(&f->shared.sitemap_bytes_over);
    s.unread = sn_depth_counts_unread(&f->shared.depths);
    if (s.admitted < s.done)
        s.admitted = s.done;
    if (s.in_flight > s.admitted - s.done)
        s.in_flight = s.admitted - s.done;
    s.waiting = s.admitted - s.done - s.in_flight;
    s.given = s.admitted + s.refused + s.lost;
    uint64_t left = s.waiting;
    for (unsigned w = 1; w < SEINE_WAIT_ROOM; w++) {
        if (s.waiting_for[w] > left)
            s.waiting_for[w] = left;
        left -= s.waiting_for[w];
    }
    s.waiting_for[SEINE_WAIT_QUEUE] = left;
    *out_stats = s;
}

void
seine_fetch_left_get(const seine_fetch *f, seine_fetch_left *out_left)
{
    if (!f || !out_left)
        return;
    *out_left = (seine_fetch_left){.urls = atomic_load(&f->shared.left),
                                   .parked = atomic_load(&f->shared.left_parked),
                                   .robots = atomic_load(&f->shared.left_robots)};
}

typedef struct teller {
    seine_fetch_host_fn fn;
    void *arg;
} teller;

static void
tell_host(const seine_fetch_host *host, void *arg)
{
    const teller *t = arg;

    t->fn(host, t->arg);
}

/* How one is shown, and what it takes out of our hands. */
static void
put_proxy(sn_buf *b, const sn_proxy *p, const char *what)
{
    if (!p)
        return;
    sn_buf_text(b, b->len > 0 ? ", " : "");
    sn_buf_text(b, what);
    sn_buf_str(b, p->shown);
    if (sn_proxy_resolves(p))
        sn_buf_text(b, " (resolves names)");
}

size_t
seine_fetch_proxies(const seine_fetch *f, char *buf, size_t cap)
{
    if (!f)
        return 0;
    const sn_proxies *p = &f->shared.proxies;
    bool same = p->http == p->https;
    sn_buf b;

    sn_buf_init(&b, 4096);
    if (!p->none) {
        put_proxy(&b, p->http, same ? "" : "for http ");
        put_proxy(&b, same ? NULL : p->https, "for https ");
    }
    sn_str text = sn_buf_view(&b);
    size_t n = text.len < cap ? text.len : cap > 0 ? cap - 1 : 0;
    if (n > 0)
        memcpy(buf, text.ptr, n);
    if (cap > 0)
        buf[n] = '\0';
    sn_buf_fini(&b);
    return text.len;
}

uint64_t
seine_fetch_not_due(const seine_fetch *f)
{
    return f ? atomic_load(&f->shared.not_due) : 0;
}

seine_span
seine_fetch_rate_wait(const seine_fetch *f)
{
    return f && f->shared.read_rate ? sn_read_rate_waited(f->shared.read_rate) : 0;
}

bool
seine_fetch_slowest_get(const seine_fetch *f, seine_fetch_slowest *out_slowest)
{
    if (!f || !out_slowest)
        return false;
    seine_fetch_slowest s = {.left = 0};

    for (uint32_t i = 0; i < f->n; i++)
        sn_run_slowest(f->runs[i], &s);
    if (s.left <= 0)
        return false;
    *out_slowest = s;
    return true;
}

void
seine_fetch_hosts_each(const seine_fetch *f, seine_fetch_host_fn fn, void *arg)
{
    if (!f || !fn)
        return;
    teller t = {fn, arg};

    for (uint32_t i = 0; i < f->n; i++)
        sn_run_hosts(f->runs[i], tell_host, &t);
}

void
sn_fetch_on_done(seine_fetch *f, void (*fn)(void *arg), void *arg)
{
    f->on_done = fn;
    f->done_arg = arg;
}

sn_shared_state *
sn_fetch_shared(seine_fetch *f)
{
    return &f->shared;
}

sn_run *const *
sn_fetch_runs(const seine_fetch *f, uint32_t *out_n)
{
    *out_n = f->n;
    return f->runs;
}

int
seine_fetch_fd(const seine_fetch *f)
{
    if (!f)
        return -1;
    /* The first call makes the timer's descriptor: the caller's, who has the loop. */
    return f->has_loop ? sn_loop_fd((sn_loop *)&f->loop) : -1;
}

void
seine_fetch_step(seine_fetch *f, seine_time *out_again)
{
    if (!f)
        return;
    sn_run *r = f->runs[0];

    if (f->has_loop) {
        sn_loop_turn(&f->loop, INT64_MIN);
        sn_run_turn(r, INT64_MIN);
        tell_waiters(f);
        sn_timer_set(&f->loop, &f->timer, sn_run_when(r));
        sn_loop_turn(&f->loop, INT64_MIN); /* arms it */
    }
    if (out_again)
        *out_again = f->has_loop ? sn_run_when(r) : SEINE_NEVER;
}
