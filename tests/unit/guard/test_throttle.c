/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/throttle.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"

#define T0   SEINE_SECS(1000) /* any moment will do */
#define MANY 16

static seine_throttle
semaphore(uint32_t permits)
{
    seine_throttle t = {0};

    CHECK_EQ(seine_throttle_init_semaphore(&t, permits), SEINE_OK);
    return t;
}

static seine_throttle
adaptive(seine_adapt_opts opts)
{
    seine_throttle t = {0};

    CHECK_EQ(seine_throttle_init_adaptive(&t, &opts), SEINE_OK);
    return t;
}

static void
give(seine_slot *slot, seine_outcome how, seine_time now)
{
    CHECK_EQ(seine_throttle_release(slot, how, now), SEINE_OK);
}

/* Takes all slots at one moment; returns how many there were. */
static uint32_t
grab(seine_throttle *t, seine_slot *slots, uint32_t n)
{
    uint32_t got = 0;

    for (uint32_t i = 0; i < n; i++)
        got += seine_throttle_try(t, T0, &slots[got]);
    return got;
}

/* A fake clock, a tree of contexts and threads that wait for slots. */
typedef struct scene {
    seine_clock *clock;
    seine_ctx *root;
    seine_throttle *t;
    sem_t entered;
    atomic_int turn, inside, most;
} scene;

typedef struct actor {
    scene *scene;
    seine_ctx *ctx;
    pthread_t thread;
    seine_span work; /* time the slot is held; -1: keeps it */
    seine_slot slot;
    seine_err err;
    int turn; /* its place in the order of service */
    seine_time end;
} actor;

static void
open_scene(scene *s, seine_throttle *t)
{
    *s = (scene){.t = t};
    sem_init(&s->entered, 0, 0);
    CHECK_EQ(seine_clock_fake_new(T0, 0, 1, &s->clock), SEINE_OK);
    CHECK_EQ(seine_ctx_root(s->clock, &s->root), SEINE_OK);
}

static void
close_scene(scene *s)
{
    seine_ctx_unref(s->root);
    seine_clock_fake_free(s->clock);
    seine_throttle_fini(s->t);
    sem_destroy(&s->entered);
}

static void *
act(void *arg)
{
    actor *a = arg;
    scene *s = a->scene;

    seine_clock_fake_enter(s->clock);
    sem_post(&s->entered);
    a->err = seine_throttle_wait(s->t, a->ctx, &a->slot);
    a->turn = ++s->turn;
    if (a->err == SEINE_OK && a->work >= 0) {
        int now_inside = ++s->inside, most = s->most;

        while (most < now_inside &&
               !atomic_compare_exchange_weak(&s->most, &most, now_inside))
            ;
        CHECK_EQ(seine_ctx_sleep(s->root, a->slot.start + a->work), SEINE_OK);
        s->inside--;
        give(&a->slot, SEINE_SUCCESS, s->clock->now(s->clock));
    }
    a->end = s->clock->now(s->clock);
    seine_clock_fake_leave(s->clock);
    return NULL;
}

/* Returns when the thread waits in the queue, behind those before it, or is done. */
static void
enter_actor(scene *s, actor *a, seine_span work, seine_time deadline)
{
    *a = (actor){.scene = s, .work = work};
    CHECK_EQ(seine_ctx_new(s->root, deadline, &a->ctx), SEINE_OK);
    CHECK_EQ(pthread_create(&a->thread, NULL, act, a), 0);
    CHECK_EQ(sem_wait(&s->entered), 0);
    seine_clock_fake_advance(s->clock, 0);
}

static void
leave_actor(actor *a)
{
    pthread_join(a->thread, NULL);
    seine_ctx_unref(a->ctx);
}

/* Time that `n` jobs of 100 ms need. */
static seine_span
race(uint32_t permits, int n)
{
    seine_throttle t = semaphore(permits);
    seine_time end = 0;
    actor actors[MANY];
    scene s;

    open_scene(&s, &t);
    for (int i = 0; i < n; i++)
        enter_actor(&s, &actors[i], SEINE_MS(100), SEINE_NEVER);
    seine_clock_fake_advance(s.clock, SEINE_SECS(10));
    for (int i = 0; i < n; i++) {
        leave_actor(&actors[i]);
        CHECK_EQ(actors[i].err, SEINE_OK);
        end = actors[i].end > end ? actors[i].end : end;
    }
    CHECK_EQ(s.most, permits);
    CHECK_EQ(t.peak, permits);
    CHECK_EQ(seine_throttle_in_flight(&t), 0);
    close_scene(&s);
    return end - T0;
}

TEST_THREADS(t23_s0_24_semaphore_3_runs_10_jobs_of_100_ms_in_400_ms)
{
    CHECK_EQ(race(3, 10), SEINE_MS(400));
}

TEST_THREADS(s0_24_six_jobs_two_at_a_time_take_300_ms)
{
    CHECK_EQ(race(2, 6), SEINE_MS(300));
}

TEST_THREADS(s0_25_the_third_of_two_waits_for_a_release)
{
    seine_throttle t = semaphore(2);
    seine_slot slots[2];
    actor third;
    scene s;

    open_scene(&s, &t);
    CHECK_EQ(grab(&t, slots, 2), 2);
    enter_actor(&s, &third, -1, SEINE_NEVER);
    seine_clock_fake_advance(s.clock, SEINE_SECS(3600));
    CHECK_EQ(seine_clock_fake_parked(s.clock), 1);
    CHECK_EQ(seine_throttle_in_flight(&t), 2);

    give(&slots[0], SEINE_SUCCESS, T0);
    leave_actor(&third);
    CHECK_EQ(third.err, SEINE_OK);
    CHECK_EQ(third.slot.start, T0 + SEINE_SECS(3600));
    CHECK_EQ(seine_throttle_in_flight(&t), 2);
    close_scene(&s);
}

TEST(s1_21_too_many_requests_lowers_the_limit_and_success_raises_it_slowly)
{
    seine_throttle t = adaptive(
        (seine_adapt_opts){sizeof(seine_adapt_opts), 10, 1, 16, false, SEINE_NEVER});
    seine_slot slots[10];

    CHECK_EQ(grab(&t, slots, 10), 10);
    give(&slots[0], SEINE_FAILURE, T0 + 1); /* 429 */
    CHECK_EQ(seine_throttle_limit(&t), 9);
    for (int i = 1; i < 10; i++) /* sent before the server complained */
        give(&slots[i], SEINE_FAILURE, T0 + 2);
    CHECK_EQ(seine_throttle_limit(&t), 9);

    /* Nine successes with all slots in use: one more. */
    CHECK_EQ(grab(&t, slots, 10), 9);
    for (int i = 0; i < 9; i++) {
        CHECK_EQ(seine_throttle_limit(&t), 9);
        give(&slots[i], SEINE_SUCCESS, T0 + 3);
        CHECK(seine_throttle_try(&t, T0 + 3, &slots[i]));
    }
    CHECK_EQ(seine_throttle_limit(&t), 10);
    for (int i = 0; i < 9; i++)
        give(&slots[i], SEINE_IGNORED, T0 + 3);
    seine_throttle_fini(&t);
}

static uint32_t
fixed(void *self)
{
    return *(uint32_t *)self;
}

TEST(s4_21_a_throttle_is_an_interface_with_many_kinds)
{
    enum { OFF, NONE, SEMAPHORE, ADAPTIVE, CUSTOM };
    static const seine_throttle_ops ops = {fixed, NULL, NULL};
    static const struct {
        int kind;
        uint32_t limit, admitted, counted;
    } rows[] = {
        {OFF, UINT32_MAX, MANY, 0},     /* NULL: admits, counts nothing */
        {NONE, UINT32_MAX, MANY, MANY}, /* null: admits, counts */
        {SEMAPHORE, 3, 3, 3},           /* the default */
        {ADAPTIVE, 2, 2, 2},            /* finds its own limit */
        {CUSTOM, 5, 5, 5},              /* the program's own */
    };

    EACH_ROW(i, rows) {
        seine_throttle t, *p = rows[i].kind == OFF ? NULL : &t;
        seine_adapt_opts adapt = SEINE_ADAPT_OPTS;
        uint32_t five = 5;
        seine_slot slots[MANY];

        if (rows[i].kind == NONE)
            seine_throttle_init_null(&t);
        if (rows[i].kind == SEMAPHORE)
            t = semaphore(3);
        if (rows[i].kind == ADAPTIVE)
            t = adaptive(adapt);
        if (rows[i].kind == CUSTOM)
            seine_throttle_init_custom(&t, &ops, &five);

        CHECK_EQ(seine_throttle_limit(p), rows[i].limit);
        uint32_t got = grab(p, slots, MANY);
        CHECK_EQ(got, rows[i].admitted);
        CHECK_EQ(seine_throttle_in_flight(p), rows[i].counted);
        for (uint32_t k = 0; k < got; k++) {
            give(&slots[k], SEINE_SUCCESS, T0);
            CHECK_EQ(seine_throttle_release(&slots[k], SEINE_SUCCESS, T0),
                     SEINE_E_ALREADY);
        }
        CHECK_EQ(seine_throttle_in_flight(p), 0);
        if (p)
            CHECK_EQ(p->peak, rows[i].counted);
        seine_throttle_fini(p);
    }
}

TEST(s4_21_a_throttle_that_is_off_waits_for_nobody_but_asks_the_ctx)
{
    seine_slot slot = {0};
    scene s;

    open_scene(&s, NULL);
    CHECK_EQ(seine_throttle_wait(NULL, s.root, &slot), SEINE_OK);
    CHECK_EQ(slot.start, T0);
    give(&slot, SEINE_FAILURE, T0);
    seine_ctx_cancel(s.root, SEINE_OK);
    CHECK_EQ(seine_throttle_wait(NULL, s.root, &slot), SEINE_E_CANCELED);
    CHECK(!slot.of);
    CHECK_EQ(seine_throttle_set(NULL, 1), SEINE_E_INVAL);
    close_scene(&s);
}

TEST_THREADS(x_17_x_19_nothing_is_locked_while_somebody_waits)
{
    seine_throttle t = semaphore(1);
    seine_slot slot, other;
    actor a;
    scene s;

    open_scene(&s, &t);
    CHECK(seine_throttle_try(&t, T0, &slot));
    enter_actor(&s, &a, -1, SEINE_NEVER);

    CHECK(!seine_throttle_try(&t, T0, &other));
    CHECK_EQ(seine_throttle_in_flight(&t), 1);
    CHECK_EQ(seine_throttle_limit(&t), 1);
    CHECK_EQ(seine_throttle_set(&t, 1), SEINE_OK);
    CHECK_EQ(seine_clock_fake_parked(s.clock), 1);
    seine_ctx_cancel(a.ctx, SEINE_OK); /* a wait takes a ctx and listens to it */
    leave_actor(&a);
    CHECK_EQ(a.err, SEINE_E_CANCELED);
    CHECK(!a.slot.of);
    give(&slot, SEINE_SUCCESS, T0);
    CHECK(seine_throttle_try(&t, T0, &other)); /* nobody waits any more */
    give(&other, SEINE_SUCCESS, T0);
    close_scene(&s);
}

TEST(x_34_never_more_than_the_cap_are_on_the_wire)
{
    seine_throttle t = semaphore(5);
    seine_slot slots[5];
    uint32_t refused = 0;

    CHECK_EQ(grab(&t, slots, 5), 5);
    for (int i = 5; i < 1000; i++)
        refused += !seine_throttle_try(&t, T0, &slots[0]);
    CHECK_EQ(refused, 995);
    for (int i = 0; i < 5; i++)
        give(&slots[i], SEINE_FAILURE, T0);
    CHECK_EQ(t.peak, 5);
    seine_throttle_fini(&t);
}

TEST(throttle_is_32_bytes_and_without_waiters_allocates_nothing)
{
    seine_throttle t;
    seine_slot slot;

    CHECK_EQ(sizeof t, 32);
    count_begin();
    t = semaphore(1);
    CHECK(seine_throttle_try(&t, T0, &slot));
    CHECK(!seine_throttle_try(&t, T0, &slot));
    give(&slot, SEINE_SUCCESS, T0);
    seine_throttle_fini(&t);
    seine_throttle_init_null(&t);
    CHECK(seine_throttle_try(&t, T0, &slot));
    give(&slot, SEINE_SUCCESS, T0);
    seine_throttle_fini(&t);
    CHECK_EQ(count_calls(), 0);
    count_end();
}

TEST(throttle_refuses_settings_that_make_no_sense_and_leaves_the_struct_alone)
{
    static const seine_adapt_opts rows[] = {
        {sizeof(seine_adapt_opts), 2, 0, 16, false,
         SEINE_NEVER}, /* nothing could ever pass */
        {sizeof(seine_adapt_opts), 1, 2, 16, false,
         SEINE_NEVER}, /* starts below the minimum */
        {sizeof(seine_adapt_opts), 17, 1, 16, false,
         SEINE_NEVER}, /* starts above the maximum */
        {sizeof(seine_adapt_opts), 2, 2, 1, false, SEINE_NEVER}, /* no room in between */
        {sizeof(seine_adapt_opts), 2, 1, 16, false, 0}, /* every call would be slow */
        {sizeof(seine_adapt_opts), 2, 1, 16, true, -1}, /* a negative interval */
    };
    seine_throttle t = semaphore(7);

    CHECK_EQ(seine_throttle_init_semaphore(&t, 0), SEINE_E_INVAL);
    EACH_ROW(i, rows)
        CHECK_EQ(seine_throttle_init_adaptive(&t, &rows[i]), SEINE_E_INVAL);
    CHECK_EQ(seine_throttle_set(&t, 0), SEINE_E_INVAL);
    CHECK_EQ(seine_throttle_limit(&t), 7);

    seine_throttle_init_null(&t);
    CHECK_EQ(seine_throttle_set(&t, 3), SEINE_E_INVAL);
    t = adaptive(
        (seine_adapt_opts){sizeof(seine_adapt_opts), 3, 2, 8, false, SEINE_NEVER});
    CHECK_EQ(seine_throttle_set(&t, 1), SEINE_E_INVAL); /* below its minimum */
    CHECK_EQ(seine_throttle_limit(&t), 3);
    seine_throttle_fini(&t);
    seine_throttle_fini(&t); /* zeroed now */
}

TEST(throttle_slot_has_one_owner_and_comes_back_once)
{
    seine_throttle t = semaphore(1);
    seine_slot none = {0}, slot, copy;

    CHECK_EQ(seine_throttle_release(&none, SEINE_SUCCESS, T0), SEINE_E_ALREADY);
    CHECK(seine_throttle_try(&t, T0, &slot));
    CHECK_EQ(slot.start, T0);
    copy = slot;
    CHECK_EQ(seine_throttle_release(&slot, (seine_outcome)3, T0), SEINE_E_INVAL);
    CHECK_EQ(seine_throttle_in_flight(&t), 1);
    give(&slot, SEINE_IGNORED, T0);
    CHECK_EQ(seine_throttle_release(&slot, SEINE_SUCCESS, T0), SEINE_E_ALREADY);
    CHECK_EQ(seine_throttle_release(&copy, SEINE_SUCCESS, T0), SEINE_E_ALREADY);
    CHECK_EQ(seine_throttle_in_flight(&t), 0);
    seine_throttle_fini(&t);
}

TEST(throttle_refusal_leaves_the_slot_alone)
{
    seine_throttle t = semaphore(1);
    seine_slot slot, other = {NULL, 77};

    CHECK(seine_throttle_try(&t, T0, &slot));
    CHECK(!seine_throttle_try(&t, T0 + 1, &other));
    CHECK(!other.of);
    CHECK_EQ(other.start, 77);
    give(&slot, SEINE_SUCCESS, T0);
    seine_throttle_fini(&t);
}

TEST(throttle_limits_above_two_thousand_million_still_count)
{
    seine_throttle t = semaphore(UINT32_MAX);
    seine_slot slots[3];

    CHECK_EQ(seine_throttle_limit(&t), UINT32_MAX);
    CHECK_EQ(grab(&t, slots, 3), 3);
    CHECK_EQ(seine_throttle_in_flight(&t), 3);
    for (int i = 0; i < 3; i++)
        give(&slots[i], SEINE_SUCCESS, T0);
    seine_throttle_fini(&t);
}

TEST(throttle_shrunk_below_what_is_out_revokes_nothing)
{
    seine_throttle t = semaphore(5);
    seine_slot slots[5], more;

    CHECK_EQ(grab(&t, slots, 5), 5);
    CHECK_EQ(seine_throttle_set(&t, 2), SEINE_OK);
    CHECK_EQ(seine_throttle_in_flight(&t), 5);
    for (int i = 0; i < 4; i++) {
        CHECK(!seine_throttle_try(&t, T0, &more)); /* 5, 4, 3 and 2 are out */
        give(&slots[i], SEINE_SUCCESS, T0);
    }
    CHECK(seine_throttle_try(&t, T0, &more));
    CHECK(!seine_throttle_try(&t, T0, &slots[0]));
    give(&more, SEINE_SUCCESS, T0);
    give(&slots[4], SEINE_SUCCESS, T0);
    seine_throttle_fini(&t);
}

TEST(throttle_asks_the_ctx_before_it_takes)
{
    seine_throttle t = semaphore(1);
    seine_ctx *late;
    seine_slot slot = {0};
    scene s;

    open_scene(&s, &t);
    CHECK_EQ(seine_ctx_new(s.root, T0, &late), SEINE_OK);
    CHECK_EQ(seine_throttle_wait(&t, late, &slot), SEINE_E_DEADLINE);
    seine_ctx_cancel(s.root, SEINE_OK);
    CHECK_EQ(seine_throttle_wait(&t, s.root, &slot), SEINE_E_CANCELED);
    CHECK(!slot.of);
    CHECK_EQ(seine_throttle_in_flight(&t), 0);
    seine_ctx_unref(late);
    close_scene(&s);
}

TEST_THREADS(throttle_wait_ends_at_the_deadline_and_not_before)
{
    seine_throttle t = semaphore(1);
    seine_slot slot;
    actor late, lucky;
    scene s;

    open_scene(&s, &t);
    CHECK(seine_throttle_try(&t, T0, &slot));
    enter_actor(&s, &late, -1, T0 + SEINE_MS(50));
    enter_actor(&s, &lucky, -1, T0 + SEINE_MS(60));

    seine_clock_fake_advance(s.clock, SEINE_MS(50) - 1);
    CHECK_EQ(seine_clock_fake_parked(s.clock), 2);
    seine_clock_fake_advance(s.clock, 1);
    leave_actor(&late);
    CHECK_EQ(late.err, SEINE_E_DEADLINE);
    CHECK_EQ(late.end, T0 + SEINE_MS(50));

    seine_clock_fake_advance(s.clock, SEINE_MS(10) - 1);
    give(&slot, SEINE_SUCCESS, T0); /* one nanosecond before its deadline */
    leave_actor(&lucky);
    CHECK_EQ(lucky.err, SEINE_OK);
    close_scene(&s);
}

TEST_THREADS(throttle_serves_those_who_wait_in_their_order_and_one_at_a_time)
{
    seine_throttle t = semaphore(1);
    seine_slot slot;
    actor actors[4];
    scene s;

    open_scene(&s, &t);
    CHECK(seine_throttle_try(&t, T0, &slot));
    for (int i = 0; i < 4; i++)
        enter_actor(&s, &actors[i], -1, SEINE_NEVER);
    for (int i = 0; i < 4; i++) {
        CHECK_EQ(seine_clock_fake_parked(s.clock), (uint32_t)(4 - i));
        give(i == 0 ? &slot : &actors[i - 1].slot, SEINE_SUCCESS, T0);
        leave_actor(&actors[i]);
        CHECK_EQ(actors[i].err, SEINE_OK);
        CHECK_EQ(actors[i].turn, i + 1);
        CHECK_EQ(seine_throttle_in_flight(&t), 1);
    }
    give(&actors[3].slot, SEINE_SUCCESS, T0);
    CHECK(seine_throttle_try(&t, T0, &slot)); /* the queue is empty again */
    give(&slot, SEINE_SUCCESS, T0);
    close_scene(&s);
}

TEST_THREADS(throttle_waiter_who_gives_up_gives_up_only_its_own_place)
{
    seine_throttle t = semaphore(1);
    seine_slot slot;
    actor a, b, c;
    scene s;

    open_scene(&s, &t);
    CHECK(seine_throttle_try(&t, T0, &slot));
    enter_actor(&s, &a, -1, SEINE_NEVER);
    enter_actor(&s, &b, -1, SEINE_NEVER);
    enter_actor(&s, &c, -1, SEINE_NEVER);
    seine_ctx_cancel(b.ctx, SEINE_E_TIMEOUT);
    leave_actor(&b);
    CHECK_EQ(b.err, SEINE_E_TIMEOUT);
    CHECK_EQ(seine_clock_fake_parked(s.clock), 2);

    give(&slot, SEINE_SUCCESS, T0);
    leave_actor(&a);
    give(&a.slot, SEINE_SUCCESS, T0);
    leave_actor(&c);
    CHECK(a.turn < c.turn);
    give(&c.slot, SEINE_SUCCESS, T0);
    CHECK_EQ(seine_throttle_in_flight(&t), 0);
    close_scene(&s);
}

TEST_THREADS(throttle_larger_wakes_as_many_as_now_fit)
{
    seine_throttle t = semaphore(1);
    seine_slot slot;
    actor actors[5];
    scene s;

    open_scene(&s, &t);
    CHECK(seine_throttle_try(&t, T0, &slot));
    for (int i = 0; i < 5; i++)
        enter_actor(&s, &actors[i], -1, SEINE_NEVER);
    CHECK_EQ(seine_throttle_set(&t, 4), SEINE_OK);
    seine_clock_fake_advance(s.clock, 0);
    CHECK_EQ(seine_clock_fake_parked(s.clock), 2);
    CHECK_EQ(seine_throttle_in_flight(&t), 4);

    for (int i = 0; i < 3; i++)
        leave_actor(&actors[i]);
    give(&actors[0].slot, SEINE_SUCCESS, T0);
    give(&actors[1].slot, SEINE_SUCCESS, T0);
    for (int i = 3; i < 5; i++)
        leave_actor(&actors[i]);
    for (int i = 0; i < 5; i++)
        CHECK_EQ(actors[i].err, SEINE_OK);
    close_scene(&s);
}

TEST_THREADS(throttle_lets_nobody_pass_those_who_wait)
{
    static const seine_throttle_ops ops = {fixed, NULL, NULL};
    uint32_t limit = 1;
    seine_throttle t;
    seine_slot slot, other;
    actor a, b;
    scene s;

    seine_throttle_init_custom(&t, &ops, &limit);
    open_scene(&s, &t);
    CHECK(seine_throttle_try(&t, T0, &slot));
    enter_actor(&s, &a, -1, SEINE_NEVER);
    limit = 2; /* there is room, but A came first and was not woken yet */
    CHECK(!seine_throttle_try(&t, T0, &other));
    CHECK_EQ(seine_clock_fake_parked(s.clock), 1);

    enter_actor(&s, &b, -1, SEINE_NEVER); /* joins the queue and finds room for A */
    leave_actor(&a);
    CHECK_EQ(a.err, SEINE_OK);
    CHECK_EQ(seine_clock_fake_parked(s.clock), 1);
    give(&slot, SEINE_SUCCESS, T0);
    leave_actor(&b);
    CHECK_EQ(b.err, SEINE_OK);
    close_scene(&s);
}

static void *
cancel_ctx(void *ctx)
{
    seine_ctx_cancel(ctx, SEINE_OK);
    return NULL;
}

/* The slot comes back while its next owner is canceled. It goes to exactly one thread,
 * and the waiter behind gets its turn. */
TEST_THREADS(throttle_grant_that_meets_a_cancellation_is_not_lost)
{
    seine_throttle t = semaphore(1);
    pthread_t canceler;
    seine_slot slot;
    actor a, b;
    scene s;

    open_scene(&s, &t);
    CHECK(seine_throttle_try(&t, T0, &slot));
    enter_actor(&s, &a, -1, SEINE_NEVER);
    enter_actor(&s, &b, -1, SEINE_NEVER);
    CHECK_EQ(pthread_create(&canceler, NULL, cancel_ctx, a.ctx), 0);
    give(&slot, SEINE_SUCCESS, T0);
    pthread_join(canceler, NULL);
    leave_actor(&a);
    CHECK(a.err == SEINE_OK || a.err == SEINE_E_CANCELED);
    if (a.err == SEINE_OK)
        give(&a.slot, SEINE_SUCCESS, T0);
    leave_actor(&b);
    CHECK_EQ(b.err, SEINE_OK);
    give(&b.slot, SEINE_SUCCESS, T0);
    CHECK_EQ(seine_throttle_in_flight(&t), 0);
    close_scene(&s);
}

typedef struct crowd {
    scene *scene;
    seine_ctx *shared; /* canceled by one of them */
    uint64_t seed;
    uint32_t served;
} crowd;

/* Tries, waits, cancels and resizes at random; holds at most one slot. */
static void *
jostle(void *arg)
{
    crowd *c = arg;
    scene *s = c->scene;
    sn_rng rng = sn_rng_seed(c->seed);

    for (int i = 0; i < 60; i++) {
        uint64_t dice = sn_rng_below(&rng, 16);
        seine_slot slot = {0};
        bool got;

        if (dice == 0 && i > 40)
            seine_ctx_cancel(c->shared, SEINE_OK);
        if (dice == 1)
            CHECK_EQ(seine_throttle_set(s->t, 1 + (uint32_t)sn_rng_below(&rng, 3)),
                     SEINE_OK);
        if (dice < 8)
            got = seine_throttle_try(s->t, T0, &slot);
        else
            got = seine_throttle_wait(s->t, dice < 12 ? c->shared : s->root, &slot) ==
                  SEINE_OK;
        if (!got)
            continue;
        int inside = ++s->inside;
        CHECK(inside <= 3);
        c->served++;
        s->inside--;
        give(&slot, SEINE_SUCCESS, T0);
    }
    return NULL;
}

TEST_THREADS(throttle_under_a_crowd_never_exceeds_its_limit_and_loses_nothing)
{
    enum { THREADS = 4 };
    seine_throttle t = semaphore(3);
    uint64_t seed = check_seed();
    pthread_t threads[THREADS];
    crowd crowds[THREADS];
    seine_slot slots[4];
    seine_ctx *shared;
    scene s;

    open_scene(&s, &t);
    CHECK_EQ(seine_ctx_new(s.root, SEINE_NEVER, &shared), SEINE_OK);
    for (unsigned i = 0; i < THREADS; i++) {
        crowds[i] = (crowd){&s, shared, seed + i, 0};
        CHECK_EQ(pthread_create(&threads[i], NULL, jostle, &crowds[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK_EQ(seine_throttle_in_flight(&t), 0);
    CHECK_EQ(seine_throttle_set(&t, 3), SEINE_OK);
    CHECK_EQ(grab(&t, slots, 4), 3);
    for (int i = 0; i < 3; i++)
        give(&slots[i], SEINE_SUCCESS, T0);
    seine_ctx_unref(shared);
    close_scene(&s);
}

/* A strategy that does everything a strategy may do. */
typedef struct strategy {
    seine_throttle *t;
    seine_ctx *cancel; /* canceled when asked for the limit */
    uint32_t limit, samples, in_flight, finis;
    seine_outcome how;
    seine_time start, now;
} strategy;

static uint32_t
strategy_limit(void *self)
{
    strategy *s = self;

    if (s->cancel)
        seine_ctx_cancel(s->cancel, SEINE_OK);
    return s->limit;
}

static void
strategy_sample(void *self, seine_outcome how, seine_time start, seine_time now,
                uint32_t in_flight)
{
    strategy *s = self;
    seine_slot slot;

    s->samples++;
    s->in_flight = in_flight;
    s->how = how;
    s->start = start;
    s->now = now;
    CHECK(!seine_throttle_try(s->t, now, &slot)); /* calls back in: no lock is held */
}

static void
strategy_fini(void *self)
{
    ((strategy *)self)->finis++;
}

static const seine_throttle_ops strategy_ops = {strategy_limit, strategy_sample,
                                                strategy_fini};

TEST(throttle_strategy_hears_each_release_once_and_may_call_back_in)
{
    strategy own = {.limit = 2};
    seine_throttle t;
    seine_slot slots[2];

    seine_throttle_init_custom(&t, &strategy_ops, &own);
    own.t = &t;
    CHECK_EQ(grab(&t, slots, 2), 2);
    give(&slots[0], SEINE_FAILURE, T0 + 5);
    CHECK_EQ(own.samples, 1);
    CHECK_EQ(own.in_flight, 2); /* the slot that comes back still counts */
    CHECK_EQ(own.how, SEINE_FAILURE);
    CHECK_EQ(own.start, T0);
    CHECK_EQ(own.now, T0 + 5);
    CHECK_EQ(seine_throttle_release(&slots[0], SEINE_FAILURE, T0 + 6), SEINE_E_ALREADY);
    CHECK_EQ(own.samples, 1);
    CHECK_EQ(seine_throttle_set(&t, 9), SEINE_E_INVAL);
    own.limit = 1;
    give(&slots[1], SEINE_IGNORED, T0 + 7);
    seine_throttle_fini(&t);
    CHECK_EQ(own.finis, 1);
}

TEST(throttle_out_of_memory_takes_nothing)
{
    FAIL_EACH(round)
    {
        seine_adapt_opts opts = SEINE_ADAPT_OPTS;
        strategy own = {.limit = 0};
        seine_throttle t = {0};
        seine_clock *clock = NULL;
        seine_slot slot = {0};
        seine_err e;

        e = seine_throttle_init_adaptive(&t, &opts);
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        seine_throttle_fini(&t);

        /* The ctx ends between the first look at it and the wait. */
        seine_throttle_init_custom(&t, &strategy_ops, &own);
        e = seine_clock_fake_new(T0, 0, 1, &clock);
        if (e == SEINE_OK)
            e = seine_ctx_root(clock, &own.cancel);
        if (e == SEINE_OK)
            e = seine_throttle_wait(&t, own.cancel, &slot);
        CHECK(e == SEINE_E_CANCELED || e == SEINE_E_NOMEM);
        CHECK(!slot.of);
        CHECK_EQ(seine_throttle_in_flight(&t), 0);
        seine_ctx_unref(own.cancel);
        seine_throttle_fini(&t);
        seine_clock_fake_free(clock);
    }
}

TEST(throttle_pace_follows_the_latency_and_errors_never_speed_it_up)
{
    static const struct {
        seine_span delay, latency;
        bool ok;
        seine_span next;
    } rows[] = {
        {1000, 400, true, 600},                 /* half-way to 400 / 2 */
        {1000, 6000, true, 3000},               /* slower: at once */
        {1000, 2000, true, 1000},               /* just right */
        {1000, 400, false, 1000},               /* an error may not lower it */
        {1000, 6000, false, 3000},              /* but may raise it */
        {120, 20, true, 100},                   /* not below min */
        {1000, 1000000, true, 5000},            /* not above max */
        {9000, 0, true, 4500},                  /* (9000 + 0) / 2 */
        {9000, 4000, true, 5000},               /* 5500, capped */
        {9000, 4000, false, 9000},              /* capped, yet not lowered */
        {0, 0, true, 100},                      /* min */
        {-5, -5, true, 100},                    /* nonsense is nothing */
        {SEINE_NEVER, SEINE_NEVER, true, 5000}, /* no overflow */
        {SEINE_NEVER, 0, false, SEINE_NEVER},   /* nor here */
    };
    seine_pace_opts opts = {sizeof(seine_pace_opts), 100, 5000, 2};

    EACH_ROW(i, rows)
        CHECK_EQ(seine_pace(&opts, rows[i].delay, rows[i].latency, rows[i].ok),
                 rows[i].next);
    opts.target = 0; /* follows nothing */
    CHECK_EQ(seine_pace(&opts, 1000, 6000, true), 1000);
    opts.min = 0;
    CHECK_EQ(seine_pace(&opts, 0, 0, true), 0);
}
