/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/pool.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"
#include "seine/limiter.h"

#define T0 SEINE_SECS(1000) /* any moment will do */

/* A pool on a fake clock, and a gate where jobs block. */
typedef struct scene {
    seine_clock *clock;
    seine_ctx *root, *gate;
    seine_pool *p;
    sem_t entered;
    atomic_int turn, inside, most;
} scene;

/* A job, and how it ended. */
typedef struct cell {
    scene *scene;
    seine_span work; /* how long it takes */
    seine_err result;
    atomic_int ran, dropped;
    int turn;
    seine_err slept; /* what its ctx said */
    seine_time start, end;
} cell;

static void
open_scene(scene *s, uint32_t workers, uint32_t queue_cap, bool paused)
{
    seine_pool_opts opts = {sizeof(seine_pool_opts), workers, queue_cap, paused};

    *s = (scene){0};
    sem_init(&s->entered, 0, 0);
    CHECK_EQ(seine_clock_fake_new(T0, 0, 1, &s->clock), SEINE_OK);
    CHECK_EQ(seine_ctx_root(s->clock, &s->root), SEINE_OK);
    CHECK_EQ(seine_ctx_new(s->root, SEINE_NEVER, &s->gate), SEINE_OK);
    CHECK_EQ(seine_pool_new(&opts, s->root, &s->p), SEINE_OK);
}

static void
open_gate(scene *s)
{
    seine_ctx_cancel(s->gate, SEINE_OK);
}

static void
close_scene(scene *s)
{
    open_gate(s);
    seine_pool_free(s->p);
    seine_ctx_unref(s->gate);
    seine_ctx_unref(s->root);
    seine_clock_fake_free(s->clock);
    sem_destroy(&s->entered);
}

static seine_time
now_in(const scene *s)
{
    return s->clock->now(s->clock);
}

static seine_pool_stats
stats(const scene *s)
{
    seine_pool_stats now;

    seine_pool_stats_get(s->p, &now);
    CHECK_EQ(now.submitted, now.completed + now.dropped + now.active + now.queued);
    return now;
}

static seine_err
work(seine_ctx *ctx, void *arg)
{
    cell *c = arg;
    scene *s = c->scene;
    int inside = ++s->inside, most = s->most;

    while (most < inside && !atomic_compare_exchange_weak(&s->most, &most, inside))
        ;
    c->turn = ++s->turn;
    c->start = now_in(s);
    c->slept = seine_ctx_sleep(ctx, c->start + c->work);
    c->end = now_in(s);
    s->inside--;
    c->ran++;
    return c->result;
}

static seine_err
block(seine_ctx *ctx, void *arg)
{
    cell *c = arg;

    (void)ctx;
    c->start = now_in(c->scene);
    seine_err e = seine_ctx_sleep(c->scene->gate, SEINE_NEVER - 1);
    c->ran++;
    return e == SEINE_E_CANCELED ? SEINE_OK : e;
}

static void
drop(void *arg)
{
    cell *c = arg;

    c->turn = ++c->scene->turn;
    c->dropped++;
}

static seine_err
submit(scene *s, seine_job job, cell *c)
{
    c->scene = s;
    return seine_pool_try_submit(s->p, job, c, drop);
}

static void
fill(scene *s, seine_job job, cell *cells, int n)
{
    for (int i = 0; i < n; i++)
        CHECK_EQ(submit(s, job, &cells[i]), SEINE_OK);
}

/* A thread that calls a function of the pool that may wait. */
typedef enum op { WAIT, DRAIN, ABORT, SUBMIT, FREE } op;

typedef struct actor {
    scene *scene;
    op op;
    seine_ctx *ctx;
    cell *cell;
    pthread_t thread;
    seine_err err;
    seine_time end;
} actor;

static void *
act(void *arg)
{
    actor *a = arg;
    scene *s = a->scene;

    seine_clock_fake_enter(s->clock);
    sem_post(&s->entered);
    if (a->op == WAIT)
        a->err = seine_pool_wait(s->p, a->ctx);
    if (a->op == DRAIN)
        a->err = seine_pool_close(s->p, SEINE_CLOSE_DRAIN, a->ctx);
    if (a->op == ABORT)
        a->err = seine_pool_close(s->p, SEINE_CLOSE_ABORT, a->ctx);
    if (a->op == SUBMIT)
        a->err = seine_pool_submit(s->p, a->ctx, work, a->cell, drop);
    if (a->op == FREE)
        seine_pool_free(s->p);
    a->end = now_in(s);
    seine_clock_fake_leave(s->clock);
    return NULL;
}

/* Returns when the thread waits, or is done. */
static void
enter_actor(scene *s, actor *a, op what, seine_time deadline, cell *c)
{
    *a = (actor){.scene = s, .op = what, .cell = c};
    if (c)
        c->scene = s;
    CHECK_EQ(seine_ctx_new(s->root, deadline, &a->ctx), SEINE_OK);
    CHECK_EQ(pthread_create(&a->thread, NULL, act, a), 0);
    CHECK_EQ(sem_wait(&s->entered), 0);
    seine_clock_fake_advance(s->clock, 0);
}

static void
leave_actor(actor *a, seine_err err)
{
    pthread_join(a->thread, NULL);
    seine_ctx_unref(a->ctx);
    CHECK_EQ(a->err, err);
}

TEST(s1_07_a_pool_is_small_and_so_is_a_full_queue)
{
    cell cells[105] = {0};
    scene s;

    count_begin();
    open_scene(&s, 5, 0, false);
    int64_t before = count_bytes();
    seine_pool_free(s.p);
    CHECK(before - count_bytes() <= 500); /* with the jobs' ctx */
    seine_pool_opts opts = SEINE_POOL_OPTS;
    before = count_bytes();
    CHECK_EQ(seine_pool_new(&opts, s.root, &s.p), SEINE_OK);
    long calls = count_calls();
    fill(&s, block, cells, 105);
    CHECK_EQ(count_calls(), calls); /* submitting allocates nothing */
    CHECK(count_bytes() - before <= 500 + 100 * 32 + 100);
    close_scene(&s);
    count_end();
}

TEST(s1_08_default_is_5_workers_and_a_queue_of_100)
{
    seine_pool_opts opts = SEINE_POOL_OPTS;

    CHECK_EQ(opts.workers, 5);
    CHECK_EQ(opts.queue_cap, 100);
    CHECK(!opts.paused);
}

TEST_THREADS(s1_09_submit_is_ok_full_or_closed_and_jobs_run_in_order)
{
    cell cells[8] = {0};
    scene s;

    open_scene(&s, 1, 5, false);
    fill(&s, work, cells, 1); /* runs at once */
    seine_clock_fake_advance(s.clock, 0);
    CHECK_EQ(cells[0].ran, 1);
    CHECK_EQ(submit(&s, block, &cells[7]), SEINE_OK);
    fill(&s, work, cells + 1, 5);
    CHECK_EQ(submit(&s, work, &cells[6]), SEINE_E_FULL);
    CHECK_EQ(now_in(&s), T0); /* it waited for nothing */
    open_gate(&s);
    CHECK_EQ(seine_pool_wait(s.p, s.root), SEINE_OK);
    for (int i = 0; i < 6; i++)
        CHECK_EQ(cells[i].turn, i + 1);
    CHECK_EQ(seine_pool_close(s.p, SEINE_CLOSE_DRAIN, s.root), SEINE_OK);
    CHECK_EQ(submit(&s, work, &cells[6]), SEINE_E_CLOSED);
    CHECK_EQ(seine_pool_try_submit(s.p, NULL, NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(cells[6].ran + cells[6].dropped, 0);
    CHECK_EQ(stats(&s).rejected, 2);
    close_scene(&s);
}

TEST_THREADS(s1_10_wait_ends_at_its_deadline_and_cancels_nothing)
{
    cell cells[30] = {0};
    actor early, late;
    scene s;

    open_scene(&s, 5, 100, false);
    for (int i = 0; i < 30; i++)
        cells[i].work = SEINE_MS(100);
    fill(&s, work, cells, 30);
    enter_actor(&s, &early, WAIT, T0 + SEINE_MS(200), NULL);
    enter_actor(&s, &late, WAIT, SEINE_NEVER, NULL);
    seine_clock_fake_advance(s.clock, SEINE_SECS(2));
    leave_actor(&early, SEINE_E_DEADLINE);
    CHECK_EQ(early.end, T0 + SEINE_MS(200));
    leave_actor(&late, SEINE_OK);
    CHECK_EQ(late.end, T0 + SEINE_MS(600)); /* six rounds of five */
    for (int i = 0; i < 30; i++) {
        CHECK_EQ(cells[i].ran, 1);
        CHECK_EQ(cells[i].slept, SEINE_OK);
    }
    CHECK_EQ(stats(&s).queue_wait_max, SEINE_MS(500));
    close_scene(&s);
}

TEST_THREADS(s1_11_s1_12_close_returns_when_the_last_job_is_done)
{
    cell cells[3] = {
        {.work = SEINE_MS(10)}, {.work = SEINE_MS(20)}, {.work = SEINE_MS(5)}};
    actor closer;
    cell more = {0};
    scene s;

    open_scene(&s, 2, 10, false);
    fill(&s, work, cells, 3);
    CHECK_EQ(stats(&s).active, 2);
    CHECK_EQ(stats(&s).queued, 1);
    CHECK_EQ(stats(&s).workers, 2);
    enter_actor(&s, &closer, DRAIN, SEINE_NEVER, NULL);
    CHECK_EQ(submit(&s, work, &more), SEINE_E_CLOSED);
    seine_pool_pause(s.p); /* too late to mean anything */
    CHECK_EQ(stats(&s).completed, 0);
    seine_clock_fake_advance(s.clock, SEINE_SECS(1));
    leave_actor(&closer, SEINE_OK);
    CHECK_EQ(closer.end, T0 + SEINE_MS(20));
    CHECK_EQ(stats(&s).completed, 3);
    CHECK_EQ(stats(&s).active, 0);
    CHECK_EQ(stats(&s).queued, 0);
    close_scene(&s);
}

TEST_THREADS(s1_13_never_more_at_once_than_there_are_workers)
{
    cell cells[20] = {0};
    scene s;

    open_scene(&s, 5, 100, false);
    for (int i = 0; i < 20; i++)
        cells[i].work = SEINE_MS(10);
    fill(&s, work, cells, 20);
    seine_clock_fake_advance(s.clock, SEINE_SECS(1));
    CHECK_EQ(s.most, 5);
    CHECK_EQ(stats(&s).peak, 5);
    CHECK_EQ(stats(&s).completed, 20);
    close_scene(&s);
}

/* It makes no difference whether the workers have run meanwhile. */
static void
overfill(uint32_t workers, uint32_t cap, bool paused, int submits, int accepted)
{
    cell cells[150] = {0};
    int yes = 0, full = 0;
    scene s;

    open_scene(&s, workers, cap, paused);
    for (int i = 0; i < submits; i++) {
        seine_err e = submit(&s, block, &cells[i]);

        CHECK_EQ(e, i < accepted ? SEINE_OK : SEINE_E_FULL);
        yes += e == SEINE_OK;
        full += e == SEINE_E_FULL;
    }
    CHECK_EQ(now_in(&s), T0); /* no refusal took any time */
    CHECK_EQ(yes, accepted);
    CHECK_EQ(full, submits - accepted);
    CHECK_EQ(stats(&s).queued, cap);
    CHECK_EQ(stats(&s).rejected, (uint32_t)full);
    open_gate(&s);
    seine_pool_resume(s.p);
    CHECK_EQ(seine_pool_wait(s.p, s.root), SEINE_OK);
    for (int i = 0; i < submits; i++)
        CHECK_EQ(cells[i].ran, i < accepted);
    close_scene(&s);
}

TEST_THREADS(s1_14_s1_15_2_blocked_workers_accept_102_of_150_and_refuse_48)
{
    overfill(2, 100, false, 150, 102);
}

TEST_THREADS(t20_x_12_5_blocked_workers_and_a_queue_of_100_accept_105)
{
    overfill(5, 100, false, 106, 105);
}

TEST_THREADS(t20_x_12_a_paused_pool_accepts_what_its_queue_holds)
{
    overfill(5, 100, true, 101, 100);
}

TEST_THREADS(s1_16_jobs_that_fail_stop_nobody)
{
    cell cells[10] = {0};
    scene s;

    open_scene(&s, 1, 10, true);
    for (int i = 0; i < 10; i++)
        cells[i].result = i % 2 == 0 ? SEINE_OK : i == 1 ? SEINE_E_RESET : SEINE_E_HTTP;
    fill(&s, work, cells, 10);
    seine_pool_resume(s.p);
    CHECK_EQ(seine_pool_wait(s.p, s.root), SEINE_OK);
    for (int i = 0; i < 10; i++)
        CHECK_EQ(cells[i].ran, 1);
    CHECK_EQ(stats(&s).completed, 10);
    CHECK_EQ(stats(&s).failed, 5);
    CHECK_EQ(stats(&s).first_error, SEINE_E_RESET);
    close_scene(&s);
}

TEST_THREADS(s1_16_s1_17_a_hundred_jobs_on_five_workers)
{
    cell cells[100] = {0};
    scene s;

    open_scene(&s, 5, 100, false);
    fill(&s, work, cells, 100);
    CHECK_EQ(seine_pool_wait(s.p, s.root), SEINE_OK);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(cells[i].ran, 1);
    CHECK_EQ(stats(&s).completed, 100);
    CHECK_EQ(stats(&s).submitted, 100);
    close_scene(&s);
}

typedef struct paced {
    scene *scene;
    pthread_mutex_t lock;
    seine_limiter lim;
    seine_time at[10];
    int n;
} paced;

static seine_err
paced_job(seine_ctx *ctx, void *arg)
{
    paced *p = arg;
    seine_time at = 0;

    pthread_mutex_lock(&p->lock);
    CHECK(seine_limiter_reserve(&p->lim, now_in(p->scene), 1, SEINE_NEVER, &at));
    p->at[p->n++] = at;
    pthread_mutex_unlock(&p->lock);
    seine_err e = seine_ctx_sleep(ctx, at);
    CHECK_EQ(now_in(p->scene), at);
    return e;
}

TEST_THREADS(s1_17_jobs_with_a_limiter_keep_its_interval)
{
    paced p = {.lock = PTHREAD_MUTEX_INITIALIZER};
    actor waiter;
    scene s;

    open_scene(&s, 5, 100, false);
    p.scene = &s;
    CHECK_EQ(seine_limiter_init(&p.lim, SEINE_MS(50), 1), SEINE_OK);
    for (int i = 0; i < 10; i++)
        CHECK_EQ(seine_pool_try_submit(s.p, paced_job, &p, NULL), SEINE_OK);
    enter_actor(&s, &waiter, WAIT, SEINE_NEVER, NULL);
    seine_clock_fake_advance(s.clock, SEINE_SECS(5));
    leave_actor(&waiter, SEINE_OK);
    CHECK_EQ(waiter.end, T0 + SEINE_MS(450));
    for (int i = 0; i < 10; i++)
        CHECK_EQ(p.at[i], T0 + i * SEINE_MS(50));
    close_scene(&s);
}

TEST_THREADS(s1_19_x_18_drain_abandons_nothing_and_abort_cancels_at_once)
{
    cell cells[6] = {0}, queued = {0};
    actor drainer, aborter;
    scene s;

    open_scene(&s, 2, 10, false);
    for (int i = 0; i < 6; i++)
        cells[i].work = SEINE_SECS(30);
    fill(&s, work, cells, 6);
    enter_actor(&s, &drainer, DRAIN, SEINE_NEVER, NULL);
    seine_clock_fake_advance(s.clock, SEINE_SECS(31)); /* two are done, two run */
    CHECK_EQ(stats(&s).completed, 2);
    CHECK_EQ(cells[0].slept, SEINE_OK);
    CHECK_EQ(submit(&s, work, &queued), SEINE_E_CLOSED);

    enter_actor(&s, &aborter, ABORT, SEINE_NEVER, NULL); /* while it drains */
    leave_actor(&aborter, SEINE_OK);
    leave_actor(&drainer, SEINE_OK);
    CHECK_EQ(aborter.end, T0 + SEINE_SECS(31)); /* canceled in no time */
    CHECK_EQ(drainer.end, T0 + SEINE_SECS(31));
    for (int i = 2; i < 4; i++) {
        CHECK_EQ(cells[i].ran, 1);
        CHECK_EQ(cells[i].slept, SEINE_E_CANCELED);
    }
    for (int i = 4; i < 6; i++) {
        CHECK_EQ(cells[i].ran, 0);
        CHECK_EQ(cells[i].dropped, 1);
    }
    CHECK_EQ(stats(&s).dropped, 2);
    CHECK_EQ(seine_pool_close(s.p, SEINE_CLOSE_ABORT, s.root), SEINE_OK); /* again */
    CHECK_EQ(seine_pool_close(s.p, SEINE_CLOSE_DRAIN, s.root), SEINE_OK);
    close_scene(&s);
}

TEST_THREADS(x_16_submit_waits_for_a_place_with_a_ctx)
{
    cell blocked = {0}, queued = {0}, first = {0}, second = {0}, late = {0};
    actor one, two, three;
    scene s;

    open_scene(&s, 1, 1, false);
    CHECK_EQ(submit(&s, block, &blocked), SEINE_OK);
    CHECK_EQ(submit(&s, work, &queued), SEINE_OK);
    enter_actor(&s, &one, SUBMIT, SEINE_NEVER, &first);
    enter_actor(&s, &two, SUBMIT, T0 + SEINE_MS(30), &late);
    enter_actor(&s, &three, SUBMIT, SEINE_NEVER, &second);
    CHECK_EQ(stats(&s).submitted, 2);

    seine_clock_fake_advance(s.clock, SEINE_MS(30) - 1);
    CHECK_EQ(seine_clock_fake_parked(s.clock), 4);
    seine_clock_fake_advance(s.clock, 1);
    leave_actor(&two, SEINE_E_DEADLINE);
    CHECK_EQ(two.end, T0 + SEINE_MS(30));
    CHECK_EQ(late.ran + late.dropped, 0); /* the caller's again */

    open_gate(&s);
    leave_actor(&one, SEINE_OK);
    leave_actor(&three, SEINE_OK);
    CHECK_EQ(seine_pool_wait(s.p, s.root), SEINE_OK);
    CHECK_EQ(queued.turn, 1);
    CHECK_EQ(first.turn, 2);
    CHECK_EQ(second.turn, 3);
    CHECK_EQ(stats(&s).rejected, 1);
    close_scene(&s);
}

TEST_THREADS(pool_measures_the_time_in_the_queue_and_not_before_it)
{
    cell first = {.work = SEINE_MS(100)}, second = {.work = SEINE_MS(70)}, third = {0};
    actor submitter;
    scene s;

    open_scene(&s, 1, 1, false);
    CHECK_EQ(submit(&s, work, &first), SEINE_OK);
    CHECK_EQ(submit(&s, work, &second), SEINE_OK); /* queued for 100 ms */
    enter_actor(&s, &submitter, SUBMIT, SEINE_NEVER, &third);
    seine_clock_fake_advance(s.clock, SEINE_SECS(1));
    leave_actor(&submitter, SEINE_OK);
    CHECK_EQ(submitter.end, T0 + SEINE_MS(100));
    CHECK_EQ(third.start, T0 + SEINE_MS(170)); /* accepted at 100: 70 ms */
    CHECK_EQ(stats(&s).queue_wait_max, SEINE_MS(100));
    close_scene(&s);
}

TEST_THREADS(x_17_nothing_is_locked_while_somebody_waits)
{
    cell blocked = {0}, queued = {0}, more = {0}, last = {0};
    actor submitter, waiter, drainer;
    scene s;

    open_scene(&s, 1, 1, false);
    CHECK_EQ(submit(&s, block, &blocked), SEINE_OK);
    CHECK_EQ(submit(&s, work, &queued), SEINE_OK);
    enter_actor(&s, &submitter, SUBMIT, SEINE_NEVER, &more);
    enter_actor(&s, &waiter, WAIT, SEINE_NEVER, NULL);
    CHECK_EQ(submit(&s, work, &last), SEINE_E_FULL);
    CHECK_EQ(stats(&s).queued, 1);
    seine_pool_pause(s.p);
    seine_pool_resume(s.p);
    CHECK_EQ(seine_pool_resize(s.p, 1), SEINE_OK);

    seine_ctx_cancel(waiter.ctx, SEINE_E_TIMEOUT); /* every wait takes a ctx */
    leave_actor(&waiter, SEINE_E_TIMEOUT);
    enter_actor(&s, &drainer, DRAIN, SEINE_NEVER, NULL);
    leave_actor(&submitter, SEINE_E_CLOSED); /* closing sends it away */
    CHECK_EQ(more.ran + more.dropped, 0);
    seine_ctx_cancel(drainer.ctx, SEINE_OK);
    leave_actor(&drainer, SEINE_E_CANCELED);
    CHECK_EQ(blocked.ran, 0); /* no job was canceled by that */
    open_gate(&s);
    CHECK_EQ(seine_pool_close(s.p, SEINE_CLOSE_DRAIN, s.root), SEINE_OK);
    CHECK_EQ(blocked.ran, 1);
    CHECK_EQ(queued.ran, 1);
    close_scene(&s);
}

TEST(pool_refuses_settings_that_make_no_sense)
{
    seine_pool_opts opts = {sizeof(seine_pool_opts), 0, 100, false};
    seine_pool *p = NULL;
    scene s;

    open_scene(&s, 1, 0, false);
    CHECK_EQ(seine_pool_new(&opts, s.root, &p), SEINE_E_INVAL);
    opts.workers = 1;
    CHECK_EQ(seine_pool_new(&opts, NULL, &p), SEINE_E_INVAL);
    CHECK_EQ(seine_pool_new(NULL, s.root, &p), SEINE_E_INVAL);
    CHECK(!p);
    seine_pool_free(NULL);
    CHECK_EQ(seine_pool_resize(s.p, 0), SEINE_E_INVAL);
    CHECK_EQ(seine_pool_close(s.p, (seine_close)2, s.root), SEINE_E_INVAL);
    CHECK_EQ(seine_pool_submit(s.p, s.root, NULL, NULL, NULL), SEINE_E_INVAL);
    CHECK_EQ(seine_pool_wait(s.p, s.root), SEINE_OK); /* still open, nothing to do */
    close_scene(&s);
}

TEST(pool_asks_the_ctx_before_it_takes_a_job)
{
    cell c = {0};
    scene s;

    open_scene(&s, 1, 1, false);
    c.scene = &s;
    open_gate(&s);
    CHECK_EQ(seine_pool_submit(s.p, s.gate, work, &c, drop), SEINE_E_CANCELED);
    CHECK_EQ(seine_pool_wait(s.p, s.gate), SEINE_E_CANCELED);
    CHECK_EQ(stats(&s).submitted, 0);
    CHECK_EQ(c.ran + c.dropped, 0);
    /* The ctx bounds the waiting, and nothing is left to wait for. */
    CHECK_EQ(seine_pool_close(s.p, SEINE_CLOSE_DRAIN, s.gate), SEINE_OK);
    CHECK_EQ(submit(&s, work, &c), SEINE_E_CLOSED);
    CHECK_EQ(seine_pool_submit(s.p, s.root, work, &c, drop), SEINE_E_CLOSED);
    CHECK_EQ(seine_pool_resize(s.p, 2), SEINE_E_CLOSED);
    close_scene(&s);
}

TEST_THREADS(pool_closes_even_when_its_ctx_is_already_done)
{
    cell c = {0}, more = {0};
    seine_ctx *done;
    scene s;

    open_scene(&s, 1, 1, false);
    CHECK_EQ(seine_ctx_new(s.root, T0, &done), SEINE_OK);
    CHECK_EQ(submit(&s, block, &c), SEINE_OK);
    CHECK_EQ(seine_pool_close(s.p, SEINE_CLOSE_DRAIN, done), SEINE_E_DEADLINE);
    CHECK_EQ(submit(&s, work, &more), SEINE_E_CLOSED);
    seine_ctx_unref(done);
    close_scene(&s);
}

static seine_err
selfish(seine_ctx *ctx, void *arg)
{
    cell *c = arg, *more = c + 1;
    scene *s = c->scene;

    CHECK_EQ(seine_pool_wait(s->p, ctx), SEINE_E_DEADLOCK);
    CHECK_EQ(seine_pool_close(s->p, SEINE_CLOSE_DRAIN, ctx), SEINE_E_DEADLOCK);
    CHECK_EQ(seine_pool_close(s->p, SEINE_CLOSE_ABORT, ctx), SEINE_E_DEADLOCK);
    CHECK_EQ(seine_pool_submit(s->p, ctx, work, more, drop), SEINE_E_DEADLOCK);
    seine_pool_free(s->p); /* cannot be: does nothing */
    CHECK_EQ(stats(s).active, 1);
    CHECK_EQ(submit(s, work, more), SEINE_OK); /* never waits: fine */
    CHECK_EQ(seine_pool_resize(s->p, 2), SEINE_OK);
    seine_pool_pause(s->p);
    seine_pool_resume(s->p);
    c->ran++;
    return SEINE_OK;
}

TEST_THREADS(pool_worker_that_would_wait_for_itself_is_told_so)
{
    cell cells[2] = {0};
    scene s;

    open_scene(&s, 1, 1, false);
    CHECK_EQ(submit(&s, selfish, cells), SEINE_OK);
    CHECK_EQ(seine_pool_wait(s.p, s.root), SEINE_OK);
    CHECK_EQ(cells[0].ran, 1);
    CHECK_EQ(cells[1].ran, 1);
    close_scene(&s);
}

static seine_err
nested(seine_ctx *ctx, void *arg)
{
    seine_pool_opts opts = {sizeof(seine_pool_opts), 1, 1, false};
    seine_pool *inner;
    cell *c = arg, *more = c + 1;

    more->scene = c->scene;
    CHECK_EQ(seine_pool_new(&opts, ctx, &inner), SEINE_OK);
    CHECK_EQ(seine_pool_submit(inner, ctx, work, more, drop), SEINE_OK);
    CHECK_EQ(seine_pool_wait(inner, ctx), SEINE_OK); /* somebody else's pool */
    CHECK_EQ(seine_pool_close(inner, SEINE_CLOSE_DRAIN, ctx), SEINE_OK);
    seine_pool_free(inner);
    c->ran++;
    return SEINE_OK;
}

TEST_THREADS(pool_worker_may_wait_for_another_pool)
{
    cell cells[2] = {0};
    scene s;

    open_scene(&s, 1, 1, false);
    CHECK_EQ(submit(&s, nested, cells), SEINE_OK);
    CHECK_EQ(seine_pool_wait(s.p, s.root), SEINE_OK);
    CHECK_EQ(cells[0].ran, 1);
    CHECK_EQ(cells[1].ran, 1);
    close_scene(&s);
}

TEST_THREADS(pool_without_a_queue_hands_jobs_to_workers_only)
{
    cell blocked = {0}, refused = {0}, waited = {0};
    actor submitter;
    scene s;

    open_scene(&s, 1, 0, false);
    CHECK_EQ(submit(&s, block, &blocked), SEINE_OK);
    CHECK_EQ(submit(&s, work, &refused), SEINE_E_FULL);
    enter_actor(&s, &submitter, SUBMIT, SEINE_NEVER, &waited);
    open_gate(&s);
    leave_actor(&submitter, SEINE_OK);
    CHECK_EQ(seine_pool_wait(s.p, s.root), SEINE_OK);
    CHECK_EQ(waited.ran, 1);
    CHECK_EQ(stats(&s).queue_wait_max, 0);
    close_scene(&s);
}

TEST_THREADS(pool_without_a_queue_serves_submitters_when_resumed)
{
    cell first = {0}, second = {0};
    actor one, two;
    scene s;

    open_scene(&s, 2, 0, true);
    enter_actor(&s, &one, SUBMIT, SEINE_NEVER, &first);
    enter_actor(&s, &two, SUBMIT, SEINE_NEVER, &second);
    CHECK_EQ(stats(&s).submitted, 0);
    seine_pool_resume(s.p);
    leave_actor(&one, SEINE_OK);
    leave_actor(&two, SEINE_OK);
    CHECK_EQ(seine_pool_wait(s.p, s.root), SEINE_OK);
    CHECK_EQ(first.ran + second.ran, 2);
    close_scene(&s);
}

TEST_THREADS(pool_pause_lets_run_what_runs_and_starts_nothing)
{
    cell running = {.work = SEINE_MS(10)}, queued = {0};
    scene s;

    open_scene(&s, 2, 4, false);
    CHECK_EQ(submit(&s, work, &running), SEINE_OK);
    seine_pool_pause(s.p);
    CHECK_EQ(submit(&s, work, &queued), SEINE_OK);
    CHECK_EQ(stats(&s).queued, 1); /* though a worker is idle */
    seine_clock_fake_advance(s.clock, SEINE_MS(70));
    CHECK_EQ(running.ran, 1);
    CHECK_EQ(queued.ran, 0);
    seine_pool_resume(s.p);
    CHECK_EQ(stats(&s).queued, 0);
    CHECK_EQ(seine_pool_wait(s.p, s.root), SEINE_OK);
    CHECK_EQ(queued.start, T0 + SEINE_MS(70));
    CHECK_EQ(stats(&s).queue_wait_max, SEINE_MS(70));
    close_scene(&s);
}

TEST_THREADS(pool_closed_while_paused_drains_or_drops_what_it_has)
{
    for (int how = SEINE_CLOSE_DRAIN; how <= SEINE_CLOSE_ABORT; how++) {
        cell cells[3] = {0};
        bool drained = how == SEINE_CLOSE_DRAIN;
        scene s;

        open_scene(&s, 1, 3, true);
        fill(&s, work, cells, 3);
        CHECK_EQ(seine_pool_close(s.p, (seine_close)how, s.root), SEINE_OK);
        for (int i = 0; i < 3; i++) {
            CHECK_EQ(cells[i].ran, drained);
            CHECK_EQ(cells[i].dropped, !drained);
            CHECK_EQ(cells[i].turn, i + 1); /* in order either way */
        }
        close_scene(&s);
    }
}

TEST_THREADS(pool_grows_while_it_runs)
{
    cell cells[8] = {0};
    actor submitter;
    scene s;

    open_scene(&s, 1, 2, false);
    fill(&s, block, cells, 3);
    enter_actor(&s, &submitter, SUBMIT, SEINE_NEVER, &cells[3]);
    CHECK_EQ(seine_pool_resize(s.p, 3), SEINE_OK); /* two more take the two queued */
    leave_actor(&submitter, SEINE_OK);
    CHECK_EQ(stats(&s).workers, 3);
    CHECK_EQ(stats(&s).active, 3);
    CHECK_EQ(stats(&s).queued, 1);
    CHECK_EQ(submit(&s, work, &cells[4]), SEINE_OK); /* 3 + 2 in all */
    CHECK_EQ(submit(&s, work, &cells[5]), SEINE_E_FULL);
    open_gate(&s);
    CHECK_EQ(seine_pool_wait(s.p, s.root), SEINE_OK);
    CHECK_EQ(stats(&s).completed, 5);
    close_scene(&s);
}

TEST_THREADS(pool_shrinks_as_its_workers_finish)
{
    cell cells[10] = {0};
    actor waiter;
    scene s;

    open_scene(&s, 4, 10, false);
    for (int i = 0; i < 10; i++)
        cells[i].work = SEINE_MS(10);
    fill(&s, work, cells, 8);
    CHECK_EQ(seine_pool_resize(s.p, 1), SEINE_OK);
    CHECK_EQ(stats(&s).workers, 1);
    CHECK_EQ(stats(&s).active, 4); /* nothing is abandoned */
    enter_actor(&s, &waiter, WAIT, SEINE_NEVER, NULL);
    seine_clock_fake_advance(s.clock, SEINE_SECS(1));
    leave_actor(&waiter, SEINE_OK);
    CHECK_EQ(waiter.end, T0 + SEINE_MS(50)); /* four at once, then one by one */
    CHECK_EQ(seine_clock_fake_parked(s.clock), 1);

    CHECK_EQ(seine_pool_resize(s.p, 3), SEINE_OK);
    CHECK_EQ(seine_pool_resize(s.p, 1), SEINE_OK); /* idle ones go at once */
    seine_clock_fake_advance(s.clock, 0);
    CHECK_EQ(seine_clock_fake_parked(s.clock), 1);
    fill(&s, work, cells + 8, 2);
    CHECK_EQ(stats(&s).active, 1);
    CHECK_EQ(stats(&s).queued, 1);
    seine_clock_fake_advance(s.clock, SEINE_SECS(1));
    close_scene(&s);
}

TEST_THREADS(pool_resized_down_and_up_again_keeps_its_workers)
{
    cell cells[7] = {0};
    scene s;

    open_scene(&s, 3, 3, false);
    fill(&s, block, cells, 3);
    CHECK_EQ(seine_pool_resize(s.p, 1), SEINE_OK);
    CHECK_EQ(seine_pool_resize(s.p, 3), SEINE_OK); /* nobody had to go yet */
    fill(&s, work, cells + 3, 3);
    CHECK_EQ(submit(&s, work, &cells[6]), SEINE_E_FULL);
    open_gate(&s);
    CHECK_EQ(seine_pool_wait(s.p, s.root), SEINE_OK);
    seine_clock_fake_advance(s.clock, 0);
    CHECK_EQ(seine_clock_fake_parked(s.clock), 3);
    close_scene(&s);
}

/* Jobs see the end of the parent; each still gets its arg exactly once. */
TEST_THREADS(pool_runs_queued_jobs_although_the_parent_is_canceled)
{
    cell cells[4] = {0};
    scene s;

    open_scene(&s, 1, 4, true);
    for (int i = 0; i < 4; i++)
        cells[i].work = SEINE_SECS(1);
    fill(&s, work, cells, 4);
    seine_ctx *other;
    CHECK_EQ(seine_ctx_root(s.clock, &other), SEINE_OK);
    seine_ctx_cancel(s.root, SEINE_E_TIMEOUT);
    seine_pool_resume(s.p);
    CHECK_EQ(seine_pool_wait(s.p, other), SEINE_OK);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(cells[i].ran, 1);
        CHECK_EQ(cells[i].slept, SEINE_E_TIMEOUT);
    }
    CHECK_EQ(now_in(&s), T0);
    CHECK_EQ(stats(&s).dropped, 0);
    seine_ctx_unref(other);
    close_scene(&s);
}

TEST_THREADS(pool_free_aborts_an_open_pool_and_finishes_a_closed_one)
{
    for (int closed = 0; closed < 2; closed++) {
        cell cells[3] = {0};
        actor freer, drainer;
        scene s;

        open_scene(&s, 1, 3, false);
        for (int i = 0; i < 3; i++)
            cells[i].work = SEINE_MS(10);
        fill(&s, work, cells, 3);
        if (closed) {
            enter_actor(&s, &drainer, DRAIN, T0 + 1, NULL);
            seine_clock_fake_advance(s.clock, 1);
            leave_actor(&drainer, SEINE_E_DEADLINE);
        }
        enter_actor(&s, &freer, FREE, SEINE_NEVER, NULL);
        seine_clock_fake_advance(s.clock, SEINE_SECS(1));
        leave_actor(&freer, SEINE_OK);
        s.p = NULL;
        CHECK_EQ(freer.end, closed ? T0 + SEINE_MS(30) : T0);
        CHECK_EQ(cells[0].slept, closed ? SEINE_OK : SEINE_E_CANCELED);
        CHECK_EQ(cells[0].ran, 1);
        for (int i = 1; i < 3; i++) {
            CHECK_EQ(cells[i].ran, closed);
            CHECK_EQ(cells[i].dropped, !closed);
        }
        close_scene(&s);
    }
}

TEST_THREADS(pool_wakes_all_who_wait_for_the_last_job)
{
    cell c = {.work = SEINE_MS(10)}, next = {0};
    actor waiters[4];
    scene s;

    open_scene(&s, 1, 1, false);
    CHECK_EQ(submit(&s, work, &c), SEINE_OK);
    for (int i = 0; i < 4; i++)
        enter_actor(&s, &waiters[i], WAIT, SEINE_NEVER, NULL);
    seine_clock_fake_advance(s.clock, SEINE_MS(10));
    CHECK_EQ(submit(&s, block, &next), SEINE_OK); /* concerns them no more */
    for (int i = 0; i < 4; i++) {
        leave_actor(&waiters[i], SEINE_OK);
        CHECK_EQ(waiters[i].end, T0 + SEINE_MS(10));
    }
    close_scene(&s);
}

TEST_THREADS(pool_abort_drops_without_a_drop_function_too)
{
    cell cells[2] = {0};
    scene s;

    open_scene(&s, 1, 2, true);
    cells[0].scene = &s;
    CHECK_EQ(seine_pool_try_submit(s.p, work, &cells[0], NULL), SEINE_OK);
    CHECK_EQ(submit(&s, work, &cells[1]), SEINE_OK);
    CHECK_EQ(seine_pool_close(s.p, SEINE_CLOSE_ABORT, s.root), SEINE_OK);
    CHECK_EQ(stats(&s).dropped, 2);
    CHECK_EQ(cells[0].ran + cells[1].ran, 0);
    CHECK_EQ(cells[1].dropped, 1);
    close_scene(&s);
}

static void
drop_watched(void *arg)
{
    cell *c = arg;
    actor *waiter = (actor *)(void *)(c + 1);

    enter_actor(c->scene, waiter, WAIT, SEINE_NEVER, NULL);
    CHECK_EQ(seine_clock_fake_parked(c->scene->clock), 2); /* beside the worker */
    c->dropped++;
}

TEST_THREADS(pool_job_is_finished_when_its_drop_has_returned)
{
    struct {
        cell cell;
        actor waiter;
    } it = {0};
    scene s;

    open_scene(&s, 1, 1, true);
    it.cell.scene = &s;
    CHECK_EQ(seine_pool_try_submit(s.p, work, &it.cell, drop_watched), SEINE_OK);
    CHECK_EQ(seine_pool_close(s.p, SEINE_CLOSE_ABORT, s.root), SEINE_OK);
    CHECK_EQ(it.cell.dropped, 1);
    leave_actor(&it.waiter, SEINE_OK);
    close_scene(&s);
}

/* The system's clock, which runs a callback at the first wake-up after so many jobs are
 * done. */
typedef struct trick_clock {
    seine_clock base;
    scene *scene;
    atomic_int asleep;
    atomic_bool armed;
    uint64_t after;
    void (*trick)(void *arg);
    void *arg;
} trick_clock;

static bool
trick_wait(seine_clock *c, const uint32_t *word, uint32_t seen, seine_time until)
{
    ((trick_clock *)(void *)c)->asleep++;
    return seine_clock_system()->wait(c, word, seen, until);
}

static void
trick_wake(seine_clock *c, const uint32_t *word, int n)
{
    trick_clock *t = (trick_clock *)(void *)c;

    if (t->armed && stats(t->scene).completed == t->after &&
        atomic_exchange(&t->armed, false))
        t->trick(t->arg);
    seine_clock_system()->wake(c, word, n);
}

static void
open_trick(trick_clock *t, scene *s, uint32_t workers, bool paused)
{
    seine_pool_opts opts = {sizeof(seine_pool_opts), workers, 4, paused};

    *s = (scene){0};
    *t = (trick_clock){.base = *seine_clock_system(), .scene = s};
    t->base.wait = trick_wait;
    t->base.wake = trick_wake;
    s->clock = &t->base;
    CHECK_EQ(seine_ctx_root(s->clock, &s->root), SEINE_OK);
    CHECK_EQ(seine_ctx_new(s->root, SEINE_NEVER, &s->gate), SEINE_OK);
    CHECK_EQ(seine_pool_new(&opts, s->root, &s->p), SEINE_OK);
}

static void
close_trick(scene *s)
{
    open_gate(s);
    seine_pool_free(s->p);
    seine_ctx_unref(s->gate);
    seine_ctx_unref(s->root);
}

static void
arm(trick_clock *t, uint64_t after, void (*trick)(void *arg), void *arg)
{
    t->after = after;
    t->trick = trick;
    t->arg = arg;
    t->armed = true;
}

static void
await_asleep(trick_clock *t, int n)
{
    while (t->asleep < n)
        sched_yield();
}

static void
submit_third(void *arg)
{
    cell *third = arg;

    CHECK_EQ(submit(third->scene, block, third), SEINE_OK);
    CHECK_EQ(stats(third->scene).queued, 2); /* behind the second */
}

/* Resume hands the jobs to the workers one by one. A job submitted meanwhile finds an
 * idle worker, and still goes behind the queued ones. */
TEST_THREADS(pool_resume_lets_no_newcomer_pass)
{
    cell cells[3] = {0};
    trick_clock t;
    scene s;

    open_trick(&t, &s, 2, true);
    fill(&s, block, cells, 2);
    await_asleep(&t, 2);
    cells[2].scene = &s;
    arm(&t, 0, submit_third, &cells[2]);
    seine_pool_resume(s.p);
    CHECK_EQ(stats(&s).active, 2);
    CHECK_EQ(stats(&s).queued, 1);
    open_gate(&s);
    CHECK_EQ(seine_pool_wait(s.p, s.root), SEINE_OK);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(cells[i].ran, 1);
    close_trick(&s);
}

typedef struct pair {
    scene *scene;
    seine_ctx *ctx[2];
    pthread_t thread[2];
    seine_err err[2];
    atomic_bool gone; /* the second */
} pair;

static void *
wait_first(void *arg)
{
    pair *p = arg;

    p->err[0] = seine_pool_wait(p->scene->p, p->ctx[0]);
    return NULL;
}

/* Overwrites the stack of the calls before. */
static __attribute__((noinline)) void
scribble(void)
{
    volatile unsigned char used[4096];

    for (size_t i = 0; i < sizeof used; i++)
        used[i] = 0xff;
}

static void *
wait_second(void *arg)
{
    pair *p = arg;

    p->err[1] = seine_pool_wait(p->scene->p, p->ctx[1]);
    scribble();
    return NULL;
}

static void
cancel_second(void *arg)
{
    pair *p = arg;

    seine_ctx_cancel(p->ctx[1], SEINE_OK);
    pthread_join(p->thread[1], NULL);
    p->gone = true;
}

/* The last job is done and the first of two waiters is about to be woken. The second
 * wakes for another reason, finds the wait over, and leaves. */
TEST_THREADS(pool_waiter_may_leave_before_it_is_woken)
{
    cell c = {0};
    trick_clock t;
    pair p = {0};
    scene s;

    open_trick(&t, &s, 1, false);
    p.scene = &s;
    await_asleep(&t, 1);
    CHECK_EQ(submit(&s, block, &c), SEINE_OK);
    await_asleep(&t, 2); /* the job at the gate */
    for (int i = 0; i < 2; i++) {
        CHECK_EQ(seine_ctx_new(s.root, SEINE_NEVER, &p.ctx[i]), SEINE_OK);
        CHECK_EQ(
            pthread_create(&p.thread[i], NULL, i == 0 ? wait_first : wait_second, &p), 0);
        await_asleep(&t, 3 + i);
    }
    arm(&t, 1, cancel_second, &p);
    open_gate(&s);
    pthread_join(p.thread[0], NULL);
    while (!p.gone)
        sched_yield();
    CHECK_EQ(p.err[0], SEINE_OK);
    CHECK_EQ(p.err[1], SEINE_OK);
    close_trick(&s);
    seine_ctx_unref(p.ctx[0]);
    seine_ctx_unref(p.ctx[1]);
}

static seine_err
signals_blocked(seine_ctx *ctx, void *arg)
{
    sigset_t now;

    (void)ctx;
    (void)arg;
    pthread_sigmask(SIG_BLOCK, NULL, &now);
    CHECK(sigismember(&now, SIGINT) && sigismember(&now, SIGUSR1));
    return SEINE_OK;
}

TEST(pool_workers_leave_signals_to_the_program)
{
    sigset_t before, after;
    scene s;

    pthread_sigmask(SIG_BLOCK, NULL, &before);
    open_scene(&s, 1, 1, false);
    pthread_sigmask(SIG_BLOCK, NULL, &after);
    CHECK_EQ(sigismember(&before, SIGINT), sigismember(&after, SIGINT));
    CHECK_EQ(seine_pool_try_submit(s.p, signals_blocked, NULL, NULL), SEINE_OK);
    CHECK_EQ(seine_pool_wait(s.p, s.root), SEINE_OK);
    close_scene(&s);
}

TEST(pool_out_of_memory_makes_none)
{
    FAIL_EACH(round)
    {
        seine_pool_opts opts = {sizeof(seine_pool_opts), 2, 10, false};
        seine_clock *clock = NULL;
        seine_ctx *root = NULL;
        seine_pool *p = NULL;
        seine_err e = seine_clock_fake_new(T0, 0, 1, &clock);

        if (e == SEINE_OK)
            e = seine_ctx_root(clock, &root);
        if (e == SEINE_OK)
            e = seine_pool_new(&opts, root, &p);
        CHECK(e == (p ? SEINE_OK : SEINE_E_NOMEM));
        seine_pool_free(p);
        seine_ctx_unref(root);
        seine_clock_fake_free(clock);
    }
}

/* No thread can start from here on: the stacks are too large. */
static void
starve(bool on)
{
    static size_t usual;
    pthread_attr_t attr;

    pthread_getattr_default_np(&attr);
    if (!usual)
        pthread_attr_getstacksize(&attr, &usual);
    pthread_attr_setstacksize(&attr, on ? (size_t)1 << 46 : usual);
    CHECK_EQ(pthread_setattr_default_np(&attr), 0);
    pthread_attr_destroy(&attr);
}

TEST(pool_out_of_threads_is_out_of_memory_and_changes_nothing)
{
    seine_pool_opts opts = {sizeof(seine_pool_opts), 3, 10, false};
    cell cells[3] = {0};
    seine_pool *p = NULL;
    scene s;

    open_scene(&s, 1, 1, false);
    starve(true);
    CHECK_EQ(seine_pool_new(&opts, s.root, &p), SEINE_E_NOMEM);
    CHECK(!p);
    CHECK_EQ(seine_pool_resize(s.p, 4), SEINE_E_NOMEM);
    starve(false);

    CHECK_EQ(stats(&s).workers, 1);
    fill(&s, block, cells, 2);
    CHECK_EQ(submit(&s, work, &cells[2]), SEINE_E_FULL);
    close_scene(&s);
}

static void
starving_enter(seine_clock *c)
{
    (void)c;
    starve(true);
}

/* The first worker uses up the limit on threads, so some of the others cannot start: then
 * none stays. */
TEST_THREADS(pool_out_of_threads_half_way_sends_the_others_home)
{
    seine_pool_opts opts = {sizeof(seine_pool_opts), 8, 1, false};
    seine_clock clock = *seine_clock_system();
    seine_ctx *root;
    seine_pool *p = NULL;

    starve(false);
    clock.enter = starving_enter;
    CHECK_EQ(seine_ctx_root(&clock, &root), SEINE_OK);
    seine_err e = seine_pool_new(&opts, root, &p);
    CHECK(e == (p ? SEINE_OK : SEINE_E_NOMEM));
    seine_pool_free(p);
    seine_ctx_unref(root);
    starve(false);
}

static seine_err
count_run(seine_ctx *ctx, void *arg)
{
    cell *c = arg;

    (void)ctx;
    c->ran++;
    return SEINE_OK;
}

typedef struct fickle_clock {
    seine_clock base;
    seine_pool *p; /* NULL: nothing happens yet */
    atomic_int entered;
} fickle_clock;

static void
fickle_enter(seine_clock *c)
{
    fickle_clock *f = (fickle_clock *)(void *)c;

    if (f->p && f->entered++ == 0) {
        starve(true);
        CHECK_EQ(seine_pool_resize(f->p, 1), SEINE_OK);
    }
}

/* The first of many new workers shrinks the pool and makes the last ones fail to start:
 * the old workers must stay. */
TEST_THREADS(pool_shrunk_while_it_grows_keeps_the_workers_it_has)
{
    seine_pool_opts opts = {sizeof(seine_pool_opts), 1, 1, false};
    fickle_clock clock = {.base = *seine_clock_system()};
    seine_pool_stats now;
    seine_ctx *root;
    cell c = {0};

    starve(false);
    clock.base.enter = fickle_enter;
    CHECK_EQ(seine_ctx_root(&clock.base, &root), SEINE_OK);
    CHECK_EQ(seine_pool_new(&opts, root, &clock.p), SEINE_OK);
    seine_err e = seine_pool_resize(clock.p, 12);
    starve(false);
    CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
    seine_pool_stats_get(clock.p, &now);
    CHECK_EQ(now.workers, 1);
    CHECK_EQ(seine_pool_submit(clock.p, root, count_run, &c, NULL), SEINE_OK);
    CHECK_EQ(seine_pool_wait(clock.p, root), SEINE_OK);
    CHECK_EQ(c.ran, 1);
    seine_pool_free(clock.p);
    seine_ctx_unref(root);
}

/* Random operations of several threads. Each accepted job runs or is dropped exactly
 * once, each refused one never. */
typedef struct crowd {
    scene *scene;
    seine_ctx *shared; /* canceled by one of them */
    uint64_t seed;
    cell cells[24];
    bool accepted[24];
} crowd;

static void
count_drop(void *arg)
{
    ((cell *)arg)->dropped++;
}

static void *
jostle(void *arg)
{
    crowd *c = arg;
    seine_pool *p = c->scene->p;
    sn_rng rng = sn_rng_seed(c->seed);
    seine_pool_stats now;

    for (int i = 0; i < 24; i++) {
        cell *job = &c->cells[i];
        seine_err e = SEINE_OK;

        switch (sn_rng_below(&rng, 10)) {
        case 0:
            seine_pool_pause(p);
            break;
        case 1:
            e = seine_pool_resize(p, 1 + (uint32_t)sn_rng_below(&rng, 4));
            CHECK(e == SEINE_OK || e == SEINE_E_CLOSED);
            break;
        case 2:
            e = seine_pool_wait(p, c->shared);
            CHECK(e == SEINE_OK || e == SEINE_E_CANCELED);
            break;
        case 3:
            if (i > 20)
                seine_ctx_cancel(c->shared, SEINE_OK);
            if (i > 20 && sn_rng_below(&rng, 2))
                e = seine_pool_close(p, (seine_close)sn_rng_below(&rng, 2), c->shared);
            CHECK(e == SEINE_OK || e == SEINE_E_CANCELED);
            break;
        default:
            break;
        }
        seine_pool_resume(p);
        if (sn_rng_below(&rng, 2))
            e = seine_pool_try_submit(p, count_run, job, count_drop);
        else
            e = seine_pool_submit(p, c->shared, count_run, job, count_drop);
        c->accepted[i] = e == SEINE_OK;
        seine_pool_stats_get(p, &now);
        CHECK_EQ(now.submitted, now.completed + now.dropped + now.active + now.queued);
        CHECK(now.queued <= 3);
    }
    return NULL;
}

TEST_THREADS(pool_under_a_crowd_runs_or_drops_each_job_exactly_once)
{
    enum { THREADS = 3 };
    uint64_t seed = check_seed(), accepted = 0, ran = 0;
    pthread_t threads[THREADS];
    crowd *crowds = calloc(THREADS, sizeof *crowds);
    seine_ctx *shared;
    scene s;

    open_scene(&s, 2, 3, false);
    CHECK_EQ(seine_ctx_new(s.root, SEINE_NEVER, &shared), SEINE_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        crowds[i].scene = &s;
        crowds[i].shared = shared;
        crowds[i].seed = seed + i;
        CHECK_EQ(pthread_create(&threads[i], NULL, jostle, &crowds[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    seine_pool_resume(s.p); /* one may have paused last */
    CHECK_EQ(seine_pool_close(s.p, SEINE_CLOSE_DRAIN, s.root), SEINE_OK);
    for (int i = 0; i < THREADS; i++)
        for (int k = 0; k < 24; k++) {
            const cell *c = &crowds[i].cells[k];

            CHECK_EQ(c->ran + c->dropped, crowds[i].accepted[k]);
            accepted += crowds[i].accepted[k];
            ran += (uint64_t)c->ran;
        }
    CHECK_EQ(stats(&s).submitted, accepted);
    CHECK_EQ(stats(&s).completed, ran);
    CHECK_EQ(stats(&s).dropped, accepted - ran);
    seine_ctx_unref(shared);
    close_scene(&s);
    free(crowds);
}
