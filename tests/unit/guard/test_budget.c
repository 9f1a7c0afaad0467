/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/budget.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

#define T0  SEINE_SECS(1000) /* any moment will do */
#define ALL UINT64_MAX       /* no limit */

static seine_budget *
budget(uint64_t memory, uint64_t fds, uint64_t requests, uint64_t download)
{
    seine_want limits = {{memory, fds, requests, download}};
    seine_budget *b = NULL;

    CHECK_EQ(seine_budget_new(&limits, &b), SEINE_OK);
    return b;
}

static seine_want
memory(uint64_t n)
{
    return (seine_want){{n, 0, 0, 0}};
}

static uint64_t
used(const seine_budget *b, seine_res res)
{
    seine_want now;

    seine_budget_used_get(b, &now);
    return now.n[res];
}

TEST(t22_memory_of_1000_takes_500_refuses_600_until_a_release)
{
    seine_budget *b = budget(1000, ALL, ALL, ALL);
    seine_want first = memory(500), second = memory(600);
    seine_held one, two = {0};

    CHECK_EQ(seine_budget_try(b, &first, &one), SEINE_OK);
    CHECK_EQ(seine_budget_try(b, &second, &two), SEINE_E_BUDGET);
    CHECK(!two.of);
    seine_budget_release(&one);
    CHECK_EQ(seine_budget_try(b, &second, &two), SEINE_OK);
    CHECK_EQ(used(b, SEINE_RES_MEMORY), 600);
    seine_budget_release(&two);
    seine_budget_free(b);
}

TEST(s0_26_starts_and_ends_are_counted_and_the_total_may_reach_the_limit)
{
    seine_budget *b = budget(ALL, ALL, ALL, 10000);

    seine_budget_start(b);
    seine_budget_start(b);
    CHECK_EQ(used(b, SEINE_RES_REQUESTS), 2);
    seine_budget_end(b, 1000);
    CHECK_EQ(used(b, SEINE_RES_REQUESTS), 1);
    CHECK_EQ(used(b, SEINE_RES_DOWNLOAD), 1000);
    seine_budget_end(b, 2000);
    CHECK_EQ(used(b, SEINE_RES_REQUESTS), 0);
    CHECK_EQ(used(b, SEINE_RES_DOWNLOAD), 3000);
    seine_budget_end(b, 0); /* one too many */
    CHECK_EQ(used(b, SEINE_RES_REQUESTS), 0);
    seine_budget_free(b);

    b = budget(ALL, ALL, ALL, 1000);
    seine_budget_end(b, 500);
    CHECK(seine_budget_can_proceed(b));
    seine_budget_end(b, 600);
    CHECK(!seine_budget_can_proceed(b));
    seine_budget_free(b);

    b = budget(ALL, ALL, ALL, 1000);
    seine_budget_end(b, 1000);
    CHECK(seine_budget_can_proceed(b));
    seine_budget_end(b, 1);
    CHECK(!seine_budget_can_proceed(b));
    seine_budget_free(b);
}

TEST(s0_26_more_starts_than_allowed_stop_new_work_until_one_ends)
{
    seine_budget *b = budget(ALL, ALL, 2, ALL);
    seine_want nothing = {0};
    seine_held held;

    for (int i = 0; i < 3; i++) {
        CHECK(seine_budget_can_proceed(b));
        seine_budget_start(b);
    }
    CHECK(!seine_budget_can_proceed(b));
    CHECK_EQ(seine_budget_try(b, &nothing, &held), SEINE_E_BUDGET);
    seine_budget_end(b, 10);
    CHECK(seine_budget_can_proceed(b));
    CHECK_EQ(seine_budget_try(b, &nothing, &held), SEINE_OK);
    seine_budget_free(b);
}

TEST(x_33_memory_comes_back_and_the_download_quota_does_not)
{
    seine_budget *b = budget(1000, ALL, ALL, 1000);
    seine_want want = {{600, 0, 0, 600}};
    seine_held held;

    CHECK_EQ(seine_budget_try(b, &want, &held), SEINE_OK);
    seine_budget_release(&held);
    CHECK_EQ(used(b, SEINE_RES_MEMORY), 0);
    CHECK_EQ(used(b, SEINE_RES_DOWNLOAD), 600);

    CHECK_EQ(seine_budget_try(b, &want, &held), SEINE_OK); /* crosses: is kept */
    seine_budget_release(&held);
    CHECK_EQ(used(b, SEINE_RES_DOWNLOAD), 1200);
    CHECK_EQ(seine_budget_try(b, &want, &held), SEINE_E_BUDGET);
    CHECK_EQ(seine_budget_short(b), SEINE_RES_DOWNLOAD);
    CHECK(!seine_budget_can_proceed(b));
    seine_budget_free(b);
}

TEST(budget_says_whether_now_or_never)
{
    static const struct {
        seine_want want;
        seine_err err;
        seine_res lacks;
    } rows[] = {
        {{{500, 5, 5, 0}}, SEINE_OK, SEINE_RES_NONE},               /* just fits */
        {{{0, 0, 0, 0}}, SEINE_OK, SEINE_RES_NONE},                 /* nothing */
        {{{501, 0, 0, 0}}, SEINE_E_BUDGET, SEINE_RES_MEMORY},       /* one too many */
        {{{0, 6, 0, 0}}, SEINE_E_BUDGET, SEINE_RES_FDS},            /* one too many */
        {{{0, 0, 6, 0}}, SEINE_E_BUDGET, SEINE_RES_REQUESTS},       /* one too many */
        {{{500, 6, 5, 0}}, SEINE_E_BUDGET, SEINE_RES_FDS},          /* all or nothing */
        {{{1000, 0, 0, 0}}, SEINE_E_BUDGET, SEINE_RES_MEMORY},      /* after a release */
        {{{1001, 0, 0, 0}}, SEINE_E_RANGE, SEINE_RES_MEMORY},       /* never */
        {{{501, 11, 0, 0}}, SEINE_E_RANGE, SEINE_RES_FDS},          /* never wins */
        {{{UINT64_MAX, 0, 0, 0}}, SEINE_E_RANGE, SEINE_RES_MEMORY}, /* no overflow */
        {{{0, 0, 0, UINT64_MAX}}, SEINE_OK, SEINE_RES_NONE},        /* crosses: is kept */
        {{{501, 0, 0, UINT64_MAX}},
         SEINE_E_BUDGET,
         SEINE_RES_MEMORY}, /* all or nothing */
    };

    EACH_ROW(i, rows) {
        seine_budget *b = budget(1000, 10, 10, 1000);
        seine_want half = {{500, 5, 5, 500}}, before, after;
        seine_held held, more = {0};

        CHECK_EQ(seine_budget_try(b, &half, &held), SEINE_OK);
        CHECK_EQ(seine_budget_short(b), SEINE_RES_NONE);
        seine_budget_used_get(b, &before);
        CHECK_EQ(seine_budget_try(b, &rows[i].want, &more), rows[i].err);
        CHECK_EQ(seine_budget_short(b), rows[i].lacks);
        seine_budget_used_get(b, &after);
        if (rows[i].err != SEINE_OK) {
            CHECK(!more.of);
            CHECK(memcmp(&before, &after, sizeof before) == 0);
        }
        seine_budget_release(&more);
        seine_budget_release(&held);
        for (seine_res r = SEINE_RES_MEMORY; r < SEINE_RES_DOWNLOAD; r++)
            CHECK_EQ(used(b, r), 0);
        seine_budget_free(b);
    }
}

TEST(budget_without_limits_takes_all_there_is)
{
    seine_budget *b = budget(ALL, ALL, ALL, ALL);
    seine_want want = {{UINT64_MAX - 1, 1, 1, UINT64_MAX}};
    seine_held held, more;

    CHECK_EQ(seine_budget_try(b, &want, &held), SEINE_OK);
    CHECK_EQ(seine_budget_grow(&held, SEINE_RES_MEMORY, 1), SEINE_OK);
    CHECK_EQ(seine_budget_grow(&held, SEINE_RES_MEMORY, 1), SEINE_E_BUDGET);
    seine_budget_end(b, UINT64_MAX); /* saturates */
    CHECK_EQ(used(b, SEINE_RES_DOWNLOAD), UINT64_MAX);
    CHECK(seine_budget_can_proceed(b));
    CHECK_EQ(seine_budget_grow(&held, SEINE_RES_DOWNLOAD, 5), SEINE_OK);
    want = memory(0);
    CHECK_EQ(seine_budget_try(b, &want, &more), SEINE_OK);
    seine_budget_release(&held);
    CHECK_EQ(used(b, SEINE_RES_MEMORY), 0);
    seine_budget_free(b);
}

TEST(budget_of_nothing_refuses_for_ever)
{
    seine_budget *b = budget(0, 0, 0, 0);
    seine_want nothing = {0}, one = memory(1);
    seine_held held;

    CHECK_EQ(seine_budget_try(b, &one, &held), SEINE_E_RANGE);
    CHECK_EQ(seine_budget_try(b, &nothing, &held), SEINE_OK);
    CHECK(seine_budget_can_proceed(b));
    seine_budget_free(b);
    CHECK_EQ(seine_budget_new(NULL, &b), SEINE_E_INVAL);
}

TEST(budget_grows_and_shrinks_what_is_held)
{
    seine_budget *b = budget(1000, 10, ALL, 100);
    seine_want want = memory(400);
    seine_held held;

    CHECK_EQ(seine_budget_try(b, &want, &held), SEINE_OK);
    CHECK_EQ(seine_budget_grow(&held, SEINE_RES_MEMORY, 600), SEINE_OK);
    CHECK_EQ(seine_budget_grow(&held, SEINE_RES_MEMORY, 1), SEINE_E_BUDGET);
    CHECK_EQ(seine_budget_short(b), SEINE_RES_MEMORY);
    CHECK_EQ(held.has.n[SEINE_RES_MEMORY], 1000);
    CHECK_EQ(seine_budget_grow(&held, SEINE_RES_FDS, 10), SEINE_OK); /* its own limit */
    CHECK_EQ(seine_budget_grow(&held, SEINE_RES_ROOM, 1), SEINE_E_INVAL);

    seine_budget_shrink(&held, SEINE_RES_MEMORY, 300);
    CHECK_EQ(used(b, SEINE_RES_MEMORY), 700);
    seine_budget_shrink(&held, SEINE_RES_MEMORY, 9999); /* not more than is held */
    CHECK_EQ(used(b, SEINE_RES_MEMORY), 0);
    CHECK_EQ(held.has.n[SEINE_RES_MEMORY], 0);
    seine_budget_shrink(&held, SEINE_RES_ROOM, 1); /* no such thing */

    CHECK_EQ(seine_budget_grow(&held, SEINE_RES_DOWNLOAD, 100), SEINE_OK);
    CHECK_EQ(seine_budget_grow(&held, SEINE_RES_DOWNLOAD, 900), SEINE_OK); /* crosses */
    CHECK_EQ(seine_budget_grow(&held, SEINE_RES_DOWNLOAD, 1), SEINE_E_BUDGET);
    CHECK_EQ(seine_budget_short(b), SEINE_RES_DOWNLOAD);
    CHECK_EQ(seine_budget_grow(&held, SEINE_RES_MEMORY, 1), SEINE_OK); /* can finish */
    seine_budget_shrink(&held, SEINE_RES_DOWNLOAD, 1000);
    CHECK_EQ(used(b, SEINE_RES_DOWNLOAD), 1000);

    seine_budget_release(&held);
    seine_budget_release(&held); /* idempotent */
    CHECK(!held.of);
    CHECK_EQ(used(b, SEINE_RES_FDS), 0);
    CHECK_EQ(used(b, SEINE_RES_MEMORY), 0);
    CHECK_EQ(used(b, SEINE_RES_DOWNLOAD), 1000);
    seine_budget_free(b);
}

TEST(budget_counts_what_is_there_already_beyond_its_limit)
{
    seine_budget *b = budget(1000, 10, ALL, ALL);
    seine_want want = memory(400), one = memory(1);
    seine_held held, other;

    CHECK_EQ(seine_budget_try(b, &want, &held), SEINE_OK);
    seine_budget_force(&held, SEINE_RES_ROOM, 1); /* no such thing */
    seine_budget_force(&held, SEINE_RES_MEMORY, 5000);
    CHECK_EQ(used(b, SEINE_RES_MEMORY), 5400);
    CHECK_EQ(held.has.n[SEINE_RES_MEMORY], 5400);
    CHECK_EQ(seine_budget_try(b, &one, &other), SEINE_E_BUDGET);
    CHECK_EQ(seine_budget_grow(&held, SEINE_RES_MEMORY, 1), SEINE_E_BUDGET);
    seine_budget_shrink(&held, SEINE_RES_MEMORY, 4401);
    CHECK_EQ(seine_budget_try(b, &one, &other), SEINE_OK);
    CHECK_EQ(used(b, SEINE_RES_MEMORY), 1000);
    seine_budget_release(&other);
    seine_budget_force(&held, SEINE_RES_MEMORY, UINT64_MAX); /* saturates */
    CHECK_EQ(held.has.n[SEINE_RES_MEMORY], UINT64_MAX);
    seine_budget_release(&held);
    CHECK_EQ(used(b, SEINE_RES_MEMORY), 0);
    seine_budget_free(b);
}

/* A fake clock, a tree of contexts and threads that wait for their share. */
typedef struct scene {
    seine_clock *clock;
    seine_ctx *root;
    seine_budget *b;
    sem_t entered;
    atomic_int turn;
} scene;

typedef struct actor {
    scene *scene;
    seine_ctx *ctx;
    pthread_t thread;
    seine_want want;
    seine_held held;
    seine_err err;
    int turn;
    seine_time end;
} actor;

static void
open_scene(scene *s, seine_budget *b)
{
    *s = (scene){.b = b};
    sem_init(&s->entered, 0, 0);
    CHECK_EQ(seine_clock_fake_new(T0, 0, 1, &s->clock), SEINE_OK);
    CHECK_EQ(seine_ctx_root(s->clock, &s->root), SEINE_OK);
}

static void
close_scene(scene *s)
{
    seine_budget_free(s->b);
    seine_ctx_unref(s->root);
    seine_clock_fake_free(s->clock);
    sem_destroy(&s->entered);
}

static void *
act(void *arg)
{
    actor *a = arg;
    scene *s = a->scene;

    seine_clock_fake_enter(s->clock);
    sem_post(&s->entered);
    a->err = seine_budget_wait(s->b, a->ctx, &a->want, &a->held);
    a->turn = ++s->turn;
    a->end = s->clock->now(s->clock);
    seine_clock_fake_leave(s->clock);
    return NULL;
}

/* Returns when the thread waits in the queue, behind those before it, or is done. */
static void
enter_actor(scene *s, actor *a, seine_want want, seine_time deadline)
{
    *a = (actor){.scene = s, .want = want};
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
    if (err != SEINE_OK)
        CHECK(!a->held.of);
}

TEST_THREADS(budget_serves_the_head_with_its_whole_want_first)
{
    seine_want most = memory(900), big = memory(800), small = memory(50);
    seine_held held, other = {0};
    actor first, second;
    scene s;

    open_scene(&s, budget(1000, 10, ALL, ALL));
    CHECK_EQ(seine_budget_try(s.b, &most, &held), SEINE_OK);
    enter_actor(&s, &first, big, SEINE_NEVER);
    enter_actor(&s, &second, small, SEINE_NEVER); /* would fit, but came later */
    CHECK_EQ(seine_clock_fake_parked(s.clock), 2);
    CHECK_EQ(seine_budget_grow(&held, SEINE_RES_FDS, 11), SEINE_E_BUDGET);
    CHECK_EQ(seine_budget_short(s.b), SEINE_RES_FDS);
    CHECK_EQ(seine_budget_try(s.b, &small, &other), SEINE_E_BUDGET); /* no overtaking */
    CHECK_EQ(seine_budget_short(s.b), SEINE_RES_MEMORY);
    CHECK(!other.of);

    seine_budget_shrink(&held, SEINE_RES_MEMORY, 699); /* one byte less than needed */
    seine_clock_fake_advance(s.clock, 0);
    CHECK_EQ(seine_clock_fake_parked(s.clock), 2);
    seine_budget_shrink(&held, SEINE_RES_MEMORY, 1);
    leave_actor(&first, SEINE_OK);
    CHECK_EQ(seine_clock_fake_parked(s.clock), 1);
    CHECK_EQ(used(s.b, SEINE_RES_MEMORY), 1000);

    seine_budget_release(&first.held);
    leave_actor(&second, SEINE_OK);
    CHECK(first.turn < second.turn);
    seine_budget_release(&second.held);
    seine_budget_release(&held);
    CHECK_EQ(used(s.b, SEINE_RES_MEMORY), 0);
    close_scene(&s);
}

TEST_THREADS(budget_waiter_who_gives_up_lets_the_next_move_up)
{
    seine_want most = memory(900), big = memory(800), small = memory(50);
    seine_held held;
    actor first, second;
    scene s;

    open_scene(&s, budget(1000, ALL, ALL, ALL));
    CHECK_EQ(seine_budget_try(s.b, &most, &held), SEINE_OK);
    enter_actor(&s, &first, big, SEINE_NEVER);
    enter_actor(&s, &second, small, SEINE_NEVER);
    seine_ctx_cancel(first.ctx, SEINE_OK);
    leave_actor(&first, SEINE_E_CANCELED);
    leave_actor(&second, SEINE_OK);
    CHECK_EQ(used(s.b, SEINE_RES_MEMORY), 950);
    close_scene(&s);
}

TEST_THREADS(budget_release_serves_as_many_as_fit)
{
    seine_want all = memory(1000), third = memory(300);
    seine_held held;
    actor actors[4];
    scene s;

    open_scene(&s, budget(1000, ALL, ALL, ALL));
    CHECK_EQ(seine_budget_try(s.b, &all, &held), SEINE_OK);
    for (int i = 0; i < 4; i++)
        enter_actor(&s, &actors[i], third, SEINE_NEVER);
    seine_budget_release(&held);
    for (int i = 0; i < 3; i++)
        leave_actor(&actors[i], SEINE_OK);
    CHECK_EQ(seine_clock_fake_parked(s.clock), 1);
    seine_budget_release(&actors[1].held);
    leave_actor(&actors[3], SEINE_OK);
    close_scene(&s);
}

TEST_THREADS(budget_wait_ends_at_the_deadline_and_not_before)
{
    seine_want all = memory(1000), one = memory(1);
    seine_held held;
    actor a;
    scene s;

    open_scene(&s, budget(1000, ALL, ALL, ALL));
    CHECK_EQ(seine_budget_try(s.b, &all, &held), SEINE_OK);
    enter_actor(&s, &a, one, T0 + SEINE_MS(10));
    seine_clock_fake_advance(s.clock, SEINE_MS(10) - 1);
    CHECK_EQ(seine_clock_fake_parked(s.clock), 1);
    seine_clock_fake_advance(s.clock, 1);
    leave_actor(&a, SEINE_E_DEADLINE);
    CHECK_EQ(a.end, T0 + SEINE_MS(10));
    CHECK_EQ(used(s.b, SEINE_RES_MEMORY), 1000);
    close_scene(&s);
}

/* A spent quota does not come back: waiters are refused. */
TEST_THREADS(budget_sends_waiters_away_once_the_quota_is_spent)
{
    enum { END, GROW, FORCE, GRANT };
    static const struct {
        int how;
        int served; /* of two waiters, each for all of the memory */
    } rows[] = {
        {END, 0},   /* a response ends */
        {GROW, 0},  /* one grows */
        {FORCE, 0}, /* … by what is there already */
        {GRANT, 1}, /* the first waiter spends it itself */
    };

    EACH_ROW(i, rows) {
        seine_want want = {{1000, 0, 0, rows[i].how == GRANT ? 101 : 0}};
        seine_held held;
        actor first, second;
        scene s;

        open_scene(&s, budget(1000, ALL, ALL, 100));
        seine_want all = memory(1000);
        CHECK_EQ(seine_budget_try(s.b, &all, &held), SEINE_OK);
        enter_actor(&s, &first, want, SEINE_NEVER);
        enter_actor(&s, &second, want, SEINE_NEVER);
        if (rows[i].how == END)
            seine_budget_end(s.b, 101);
        if (rows[i].how == GROW)
            CHECK_EQ(seine_budget_grow(&held, SEINE_RES_DOWNLOAD, 101), SEINE_OK);
        if (rows[i].how == FORCE)
            seine_budget_force(&held, SEINE_RES_DOWNLOAD, 101);
        if (rows[i].how == GRANT)
            seine_budget_release(&held);
        leave_actor(&first, rows[i].served > 0 ? SEINE_OK : SEINE_E_BUDGET);
        leave_actor(&second, SEINE_E_BUDGET);
        close_scene(&s);
    }
}

TEST(budget_wait_takes_at_once_what_is_there_and_refuses_at_once_what_never_is)
{
    static const struct {
        seine_want want;
        seine_err err;
    } rows[] = {
        {{{1000, 0, 0, 0}}, SEINE_OK},      /* there */
        {{{1001, 0, 0, 0}}, SEINE_E_RANGE}, /* never */
        {{{0, 0, 1, 0}}, SEINE_E_RANGE},    /* never */
    };
    scene s;

    open_scene(&s, budget(1000, ALL, 0, 100));
    EACH_ROW(i, rows) {
        seine_held held = {0};

        CHECK_EQ(seine_budget_wait(s.b, s.root, &rows[i].want, &held), rows[i].err);
        CHECK_EQ(held.of == s.b, rows[i].err == SEINE_OK);
        seine_budget_release(&held);
    }
    seine_held held = {0};
    seine_budget_end(s.b, 101);
    CHECK_EQ(seine_budget_wait(s.b, s.root, &rows[0].want, &held), SEINE_E_BUDGET);
    seine_ctx_cancel(s.root, SEINE_OK); /* the ctx is asked first */
    CHECK_EQ(seine_budget_wait(s.b, s.root, &rows[1].want, &held), SEINE_E_CANCELED);
    CHECK(!held.of);
    close_scene(&s);
}

TEST(budget_that_is_off_admits_everything)
{
    seine_want want = {{UINT64_MAX, 1, 1, 1}};
    seine_held held = {.of = (seine_budget *)&want};
    scene s;

    open_scene(&s, NULL);
    CHECK_EQ(seine_budget_try(NULL, &want, &held), SEINE_OK);
    CHECK(!held.of);
    CHECK_EQ(seine_budget_grow(&held, SEINE_RES_MEMORY, UINT64_MAX), SEINE_OK);
    seine_budget_shrink(&held, SEINE_RES_MEMORY, 1);
    seine_budget_release(&held);
    CHECK_EQ(seine_budget_wait(NULL, s.root, &want, &held), SEINE_OK);
    seine_budget_start(NULL);
    seine_budget_end(NULL, 5);
    CHECK(seine_budget_can_proceed(NULL));
    CHECK_EQ(seine_budget_short(NULL), SEINE_RES_NONE);
    for (seine_res r = SEINE_RES_MEMORY; r < SEINE_RES_ROOM; r++)
        CHECK_EQ(used(NULL, r), 0);
    held.of = NULL;
    seine_budget_force(&held, SEINE_RES_MEMORY, 1);
    seine_ctx_cancel(s.root, SEINE_OK);
    CHECK_EQ(seine_budget_wait(NULL, s.root, &want, &held), SEINE_E_CANCELED);
    close_scene(&s);
}

TEST(budget_out_of_memory_makes_none)
{
    FAIL_EACH(round)
    {
        seine_want limits = {{1, 1, 1, 1}};
        seine_budget *b = NULL;
        seine_err e = seine_budget_new(&limits, &b);

        CHECK(e == (b ? SEINE_OK : SEINE_E_NOMEM));
        seine_budget_free(b);
    }
}

/* Compares random operations of one thread with plain sums. */
TEST(budget_agrees_with_its_sums_on_random_traces)
{
    sn_rng rng = sn_rng_seed(check_seed());

    for (int trace = 0; trace < 30; trace++) {
        seine_want limits = {{sn_rng_below(&rng, 100), sn_rng_below(&rng, 20),
                              sn_rng_below(&rng, 10), sn_rng_below(&rng, 3000)}};
        seine_want sums = {0};
        seine_held held[8] = {0};
        seine_budget *b = NULL;

        CHECK_EQ(seine_budget_new(&limits, &b), SEINE_OK);
        for (int i = 0; i < 300; i++) {
            seine_held *h = &held[sn_rng_below(&rng, 8)];
            seine_res res = (seine_res)sn_rng_below(&rng, SEINE_RES_DOWNLOAD + 1);
            uint64_t n = sn_rng_below(&rng, 12);
            bool quota = res == SEINE_RES_DOWNLOAD;

            if (!h->of) {
                seine_want want = {{n, n / 2, n / 4, n * 2}};
                seine_err err = SEINE_OK;

                for (int r = 0; r <= SEINE_RES_DOWNLOAD; r++)
                    if (sums.n[r] + (r < 3 ? want.n[r] : 0) > limits.n[r])
                        err = SEINE_E_BUDGET;
                for (int r = 0; r < 3; r++)
                    if (want.n[r] > limits.n[r])
                        err = SEINE_E_RANGE;
                CHECK_EQ(seine_budget_try(b, &want, h), err);
                for (int r = 0; r <= SEINE_RES_DOWNLOAD; r++)
                    sums.n[r] += err == SEINE_OK ? want.n[r] : 0;
            } else if (sn_rng_below(&rng, 3) == 0) {
                for (int r = 0; r < 3; r++)
                    sums.n[r] -= h->has.n[r];
                seine_budget_release(h);
            } else if (sn_rng_below(&rng, 2)) {
                bool fits = sums.n[res] + (quota ? 0 : n) <= limits.n[res];

                CHECK_EQ(seine_budget_grow(h, res, n), fits ? SEINE_OK : SEINE_E_BUDGET);
                sums.n[res] += fits ? n : 0;
            } else {
                uint64_t least = n < h->has.n[res] ? n : h->has.n[res];

                seine_budget_shrink(h, res, n);
                sums.n[res] -= quota ? 0 : least;
            }
            seine_want now;
            seine_budget_used_get(b, &now);
            CHECK(memcmp(&now, &sums, sizeof now) == 0);
        }
        for (int i = 0; i < 8; i++)
            seine_budget_release(&held[i]);
        seine_budget_free(b);
    }
}

typedef struct crowd {
    scene *scene;
    seine_ctx *shared; /* canceled by one of them */
    atomic_int *inside;
    uint64_t seed;
} crowd;

static void *
jostle(void *arg)
{
    crowd *c = arg;
    sn_rng rng = sn_rng_seed(c->seed);

    for (int i = 0; i < 50; i++) {
        uint64_t dice = sn_rng_below(&rng, 12);
        seine_want want = memory(1 + sn_rng_below(&rng, 10));
        seine_held held = {0};
        seine_err e;

        if (dice == 0 && i > 30)
            seine_ctx_cancel(c->shared, SEINE_OK);
        if (dice < 4)
            e = seine_budget_try(c->scene->b, &want, &held);
        else
            e = seine_budget_wait(c->scene->b, dice < 8 ? c->shared : c->scene->root,
                                  &want, &held);
        if (e != SEINE_OK)
            continue;
        int n = (int)want.n[SEINE_RES_MEMORY];
        CHECK(atomic_fetch_add(c->inside, n) + n <= 10);
        atomic_fetch_sub(c->inside, n);
        seine_budget_release(&held);
    }
    return NULL;
}

TEST_THREADS(budget_under_a_crowd_never_exceeds_its_limit_and_loses_nothing)
{
    enum { THREADS = 4 };
    uint64_t seed = check_seed();
    atomic_int inside = 0;
    pthread_t threads[THREADS];
    crowd crowds[THREADS];
    seine_ctx *shared;
    scene s;

    open_scene(&s, budget(10, ALL, ALL, ALL));
    CHECK_EQ(seine_ctx_new(s.root, SEINE_NEVER, &shared), SEINE_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        crowds[i] = (crowd){&s, shared, &inside, seed + i};
        CHECK_EQ(pthread_create(&threads[i], NULL, jostle, &crowds[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(used(s.b, SEINE_RES_MEMORY), 0);
    seine_want all = memory(10);
    seine_held held;
    CHECK_EQ(seine_budget_try(s.b, &all, &held), SEINE_OK);
    seine_ctx_unref(shared);
    close_scene(&s);
}
