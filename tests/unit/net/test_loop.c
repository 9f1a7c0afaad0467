/* SPDX-License-Identifier: Apache-2.0 */
#include "net/loop.h"

#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/time.h"
#include "check.h"
#include "failing.h"

#define T0   SEINE_SECS(1000)
#define PAST INT64_MIN /* a turn until then does not wait */

/* A clock that stands where the test puts it. */
typedef struct hands {
    seine_clock clock; /* first */
    seine_time now;
    int reads;
} hands;

static seine_time
read_hands(seine_clock *c)
{
    hands *h = (hands *)(void *)c;

    h->reads++;
    return h->now;
}

typedef struct fixture {
    hands clock;
    sn_loop loop;
} fixture;

static void
set_up(fixture *f)
{
    *f = (fixture){.clock = {.clock.now = read_hands, .now = T0}};
    CHECK_EQ(sn_loop_init(&f->loop, &f->clock.clock), SEINE_OK);
    CHECK_EQ(f->loop.now, T0);
}

/* A turn at `now`. */
static void
turn(fixture *f, seine_time now)
{
    f->clock.now = now;
    CHECK_EQ(sn_loop_turn(&f->loop, PAST), now);
}

typedef struct bell {
    sn_timer timer; /* first */
    fixture *f;
    int fired;
    seine_time at;      /* the last time */
    seine_time again;   /* NEVER: not */
    struct bell *other; /* forgotten by this one */
} bell;

static seine_time last; /* moment that fired, to see the order */

static void
on_bell(sn_timer *t, seine_time now)
{
    bell *a = (bell *)(void *)t;

    CHECK_EQ(now, a->f->loop.now);
    CHECK_EQ(t->at, SEINE_NEVER);
    a->fired++;
    a->at = now;
    if (a->again != SEINE_NEVER)
        sn_timer_set(&a->f->loop, t, a->again);
    if (a->other)
        sn_timer_forget(&a->f->loop, &a->other->timer);
}

static bell
make(fixture *f)
{
    CHECK_EQ(sn_timer_reserve(&f->loop), SEINE_OK);
    return (bell){.timer.fire = on_bell, .f = f, .again = SEINE_NEVER};
}

TEST(loop_timers_are_never_early_not_by_a_nanosecond)
{
    static const seine_span spans[] = {
        1,
        999,
        SEINE_MS(1) - 1,
        SEINE_MS(1),
        SEINE_MS(1) + 1,
        SEINE_SECS(1),
        SEINE_SECS(65) + 535999999, /* about where the wheel's levels meet */
        SEINE_SECS(3600),
        SEINE_SECS(86400) * 365,
    };

    EACH_ROW(i, spans) {
        fixture f;

        set_up(&f);
        bell a = make(&f);
        sn_timer_set(&f.loop, &a.timer, T0 + spans[i]);
        CHECK(sn_loop_when(&f.loop) <= T0 + spans[i]);
        turn(&f, T0 + spans[i] - 1);
        CHECK_EQ(a.fired, 0);
        CHECK_EQ(sn_loop_when(&f.loop), T0 + spans[i]);
        turn(&f, T0 + spans[i]);
        CHECK_EQ(a.fired, 1);
        CHECK_EQ(a.at, T0 + spans[i]);
        CHECK_EQ(sn_loop_when(&f.loop), SEINE_NEVER);
        turn(&f, T0 + spans[i] + 1);
        CHECK_EQ(a.fired, 1);
        sn_timer_forget(&f.loop, &a.timer);
        sn_loop_fini(&f.loop);
    }
}

TEST(loop_a_timer_in_the_past_fires_in_the_next_turn)
{
    fixture f;

    set_up(&f);
    bell a = make(&f), b = make(&f);
    sn_timer_set(&f.loop, &a.timer, T0);
    sn_timer_set(&f.loop, &b.timer, -5);
    CHECK_EQ(sn_loop_when(&f.loop), -5);
    turn(&f, T0);
    CHECK_EQ(a.fired + b.fired, 2);
    sn_loop_fini(&f.loop);
}

TEST(loop_a_later_moment_is_one_store_and_counts)
{
    fixture f;

    set_up(&f);
    bell a = make(&f);
    sn_timer_set(&f.loop, &a.timer, T0 + 100);
    uint32_t slot = a.timer.slot;
    for (int i = 1; i <= 1000; i++) {
        sn_timer_set(&f.loop, &a.timer, T0 + 100 + i);
        CHECK_EQ(a.timer.slot, slot);
    }
    CHECK_EQ(f.loop.wheel.n, 1);
    turn(&f, T0 + 1099); /* past its first moment */
    CHECK_EQ(a.fired, 0);
    turn(&f, T0 + 1100);
    CHECK_EQ(a.fired, 1);
    sn_loop_fini(&f.loop);
}

TEST(loop_an_earlier_moment_counts_and_the_old_one_is_dead)
{
    fixture f;

    set_up(&f);
    bell a = make(&f);
    sn_timer_set(&f.loop, &a.timer, T0 + SEINE_SECS(30));
    sn_timer_set(&f.loop, &a.timer, T0 + SEINE_MS(5));
    CHECK_EQ(f.loop.wheel.n, 2);
    turn(&f, T0 + SEINE_MS(5) - 1);
    CHECK_EQ(a.fired, 0);
    turn(&f, T0 + SEINE_MS(5));
    CHECK_EQ(a.fired, 1);
    turn(&f, T0 + SEINE_SECS(30));
    CHECK_EQ(a.fired, 1);
    CHECK_EQ(f.loop.wheel.n, 0);
    CHECK_EQ(sn_loop_when(&f.loop), SEINE_NEVER);
    sn_loop_fini(&f.loop);
}

TEST(loop_a_nanosecond_earlier_is_earlier)
{
    fixture f;

    set_up(&f);
    bell a = make(&f);
    sn_timer_set(&f.loop, &a.timer, T0 + 100);
    sn_timer_set(&f.loop, &a.timer, T0 + 99);
    sn_timer_set(&f.loop, &a.timer, T0 + 99);
    CHECK_EQ(f.loop.wheel.n, 2);
    turn(&f, T0 + 98);
    CHECK_EQ(a.fired, 0);
    turn(&f, T0 + 99);
    CHECK_EQ(a.fired, 1);
    sn_loop_fini(&f.loop);
}

TEST(loop_a_cleared_timer_is_silent_and_may_be_set_again)
{
    fixture f;

    set_up(&f);
    bell a = make(&f), b = make(&f), c = make(&f);
    sn_timer_clear(&a.timer); /* not set: fine */
    sn_timer_set(&f.loop, &a.timer, T0 + 10);
    sn_timer_clear(&a.timer);
    sn_timer_set(&f.loop, &b.timer, T0 + 10);
    sn_timer_set(&f.loop, &b.timer, SEINE_NEVER); /* the same */
    sn_timer_set(&f.loop, &b.timer, T0 + 20);     /* later than its slot */
    sn_timer_set(&f.loop, &c.timer, T0 + 30);
    sn_timer_clear(&c.timer);
    sn_timer_set(&f.loop, &c.timer, T0 + 5); /* earlier than its slot */
    turn(&f, T0 + 4);
    CHECK_EQ(a.fired + b.fired + c.fired, 0);
    turn(&f, T0 + 5);
    CHECK_EQ(c.fired, 1);
    turn(&f, T0 + 19);
    CHECK_EQ(a.fired + b.fired, 0);
    turn(&f, T0 + 20);
    CHECK_EQ(b.fired, 1);
    turn(&f, T0 + 1000);
    CHECK_EQ(a.fired + b.fired + c.fired, 2);
    CHECK_EQ(a.timer.slot, 0);
    sn_timer_set(&f.loop, &a.timer, T0 + 1001);
    turn(&f, T0 + 1001);
    CHECK_EQ(a.fired, 1);
    sn_loop_fini(&f.loop);
}

TEST(loop_a_forgotten_timer_may_be_freed)
{
    fixture f;

    set_up(&f);
    bell *a = malloc(sizeof *a);
    *a = make(&f);
    sn_timer_set(&f.loop, &a->timer, T0 + 10);
    sn_timer_forget(&f.loop, &a->timer);
    CHECK_EQ(f.loop.reserved, 0);
    memset(a, 0xff, sizeof *a);
    free(a);
    turn(&f, T0 + 10); /* the sanitizer would tell */
    CHECK_EQ(f.loop.wheel.n, 0);
    sn_loop_fini(&f.loop);
}

TEST(loop_a_timer_that_is_due_may_be_forgotten_by_another)
{
    fixture f;

    set_up(&f);
    bell a = make(&f), b = make(&f);
    a.other = &b;
    sn_timer_set(&f.loop, &a.timer, T0 + 10);
    sn_timer_set(&f.loop, &b.timer, T0 + 11);
    turn(&f, T0 + 20);
    CHECK_EQ(a.fired, 1);
    CHECK_EQ(b.fired, 0);
    sn_loop_fini(&f.loop);
}

TEST(loop_a_timer_that_sets_itself_to_the_past_fires_once_a_turn)
{
    fixture f;

    set_up(&f);
    bell a = make(&f);
    a.again = T0 - 1;
    sn_timer_set(&f.loop, &a.timer, T0);
    for (int i = 1; i <= 5; i++) {
        turn(&f, T0);
        CHECK_EQ(a.fired, i);
        CHECK(sn_loop_when(&f.loop) <= T0);
    }
    a.again = T0 + 1;
    turn(&f, T0);
    CHECK_EQ(a.fired, 6);
    turn(&f, T0);
    CHECK_EQ(a.fired, 6);
    a.again = SEINE_NEVER;
    turn(&f, T0 + 1);
    CHECK_EQ(a.fired, 7);
    sn_loop_fini(&f.loop);
}

/* One of many, against a list of moments. */
typedef struct model {
    sn_timer timer; /* first */
    seine_time at;  /* NEVER: not set */
    bool reserved;
} model;

static void
on_model(sn_timer *t, seine_time now)
{
    model *m = (model *)(void *)t;

    CHECK(m->at <= now);
    CHECK(m->at >= last); /* in order */
    last = m->at;
    m->at = SEINE_NEVER;
}

/* Near, far and in between. */
static seine_span
any_span(sn_rng *r)
{
    static const seine_span scales[] = {100,           SEINE_MS(1),    SEINE_MS(50),
                                        SEINE_SECS(5), SEINE_SECS(90), SEINE_SECS(6000)};

    return (seine_span)sn_rng_below(r, (uint64_t)scales[sn_rng_below(r, 6)]);
}

TEST(loop_timers_agree_with_a_list_of_moments)
{
    enum { N = 700 }; /* so that slots have to grow, and dead ones be buried */
    static model m[N];
    sn_rng r = sn_rng_seed(check_seed());
    fixture f;

    memset(m, 0, sizeof m);
    set_up(&f);
    for (int i = 0; i < N; i++)
        m[i] = (model){.timer.fire = on_model, .at = SEINE_NEVER};
    for (int step = 0; step < 60000; step++) {
        model *x = &m[sn_rng_below(&r, N)];
        uint64_t what = sn_rng_below(&r, 100);

        if (!x->reserved) {
            CHECK_EQ(sn_timer_reserve(&f.loop), SEINE_OK);
            x->reserved = true;
        }
        if (what < 80) {
            x->at = f.loop.now + any_span(&r);
            sn_timer_set(&f.loop, &x->timer, x->at);
        } else if (what < 85) {
            sn_timer_clear(&x->timer);
            x->at = SEINE_NEVER;
        } else if (what < 90) {
            sn_timer_forget(&f.loop, &x->timer);
            x->reserved = false;
            x->at = SEINE_NEVER;
        } else {
            seine_time next = SEINE_NEVER, now = f.loop.now + any_span(&r);
            int due = 0;

            for (int i = 0; i < N; i++)
                next = sn_time_min(next, m[i].at);
            CHECK(sn_loop_when(&f.loop) <= next);
            last = INT64_MIN;
            turn(&f, now);
            for (int i = 0; i < N; i++)
                due += m[i].at <= now;
            CHECK_EQ(due, 0); /* all of them have spoken */
        }
    }
    CHECK(f.loop.n_slots <= 2048);
    sn_loop_fini(&f.loop);
}

TEST(loop_setting_timers_takes_no_memory_however_often)
{
    enum { N = 512 };
    static bell a[N];
    fixture f;

    set_up(&f);
    for (int i = 0; i < N; i++)
        a[i] = make(&f);
    CHECK_EQ(f.loop.n_slots, 2 * N);
    count_begin();
    for (int round = 1000; round > 0; round--) /* each earlier than the last */
        for (int i = 0; i < N; i++)
            sn_timer_set(&f.loop, &a[i].timer, T0 + SEINE_SECS(round) + i);
    CHECK_EQ(count_calls(), 0);
    count_end();
    turn(&f, T0 + SEINE_SECS(1) - 1);
    for (int i = 0; i < N; i++)
        CHECK_EQ(a[i].fired, 0);
    for (int i = 0; i < N; i++) {
        turn(&f, T0 + SEINE_SECS(1) + i);
        CHECK_EQ(a[i].fired, 1);
    }
    sn_loop_fini(&f.loop);
}

/* Sets so many timers to earlier times that dead slots are freed meanwhile. */
static void
on_flood(sn_timer *t, seine_time now)
{
    bell *a = (bell *)(void *)t;

    a->fired++;
    for (int i = 0; i < 3000; i++)
        sn_timer_set(&a->f->loop, &a->other->timer, now + SEINE_SECS(10) - i);
    sn_timer_set(&a->f->loop, &a->other->timer, now); /* next turn's */
}

TEST(loop_buries_its_dead_also_while_timers_fire)
{
    fixture f;

    set_up(&f);
    bell a = make(&f), b = make(&f), c = make(&f);
    a.timer.fire = on_flood;
    a.other = &b;
    sn_timer_set(&f.loop, &a.timer, T0 + 1);
    sn_timer_set(&f.loop, &c.timer, T0 + 2); /* due, behind the flood */
    turn(&f, T0 + 2);
    CHECK_EQ(a.fired, 1);
    CHECK_EQ(b.fired, 0);
    turn(&f, T0 + 2);
    CHECK_EQ(b.fired, 1);
    CHECK_EQ(c.fired, 1);
    sn_loop_fini(&f.loop);
}

/* -- descriptors; an eventfd is no socket -- */

typedef struct ear {
    sn_watch watch; /* first */
    fixture *f;
    int heard;
    uint32_t events;
    struct ear *kills;
    int fd;
} ear;

static void
on_ear(sn_watch *w, uint32_t events)
{
    ear *e = (ear *)(void *)w;

    e->heard++;
    e->events = events;
    if (e->kills) {
        sn_loop_del(&e->f->loop, e->kills->fd, &e->kills->watch);
        memset(&e->kills->watch, 0, sizeof e->kills->watch); /* as if freed */
    }
}

static ear
listen_to(fixture *f, unsigned value)
{
    return (ear){
        .watch.ready = on_ear, .f = f, .fd = eventfd(value, EFD_CLOEXEC | EFD_NONBLOCK)};
}

static void
ring(const ear *e)
{
    uint64_t one = 1;

    CHECK_EQ(write(e->fd, &one, sizeof one), sizeof one);
}

TEST(loop_a_descriptor_speaks_once_per_edge)
{
    fixture f;

    set_up(&f);
    ear e = listen_to(&f, 1);
    CHECK_EQ(sn_loop_add(&f.loop, e.fd, &e.watch), SEINE_OK);
    turn(&f, T0);
    CHECK_EQ(e.heard, 1);
    CHECK_EQ(e.events, EPOLLIN | EPOLLOUT);
    turn(&f, T0);
    CHECK_EQ(e.heard, 1); /* still readable, but that is known */
    ring(&e);
    turn(&f, T0);
    CHECK_EQ(e.heard, 2);
    sn_loop_del(&f.loop, e.fd, &e.watch);
    ring(&e);
    turn(&f, T0);
    CHECK_EQ(e.heard, 2);
    close(e.fd);
    sn_loop_fini(&f.loop);
}

TEST(loop_level_triggered_speaks_as_long_as_it_holds)
{
    fixture f;

    set_up(&f);
    ear e = listen_to(&f, 1);
    CHECK_EQ(sn_loop_add_level(&f.loop, e.fd, &e.watch, EPOLLIN), SEINE_OK);
    turn(&f, T0);
    turn(&f, T0);
    CHECK_EQ(e.heard, 2);
    CHECK_EQ(e.events, EPOLLIN);
    CHECK_EQ(sn_loop_set_level(&f.loop, e.fd, &e.watch, EPOLLOUT), SEINE_OK);
    turn(&f, T0);
    CHECK_EQ(e.events, EPOLLOUT);
    CHECK_EQ(sn_loop_set_level(&f.loop, e.fd, &e.watch, 0), SEINE_OK);
    turn(&f, T0);
    CHECK_EQ(e.heard, 3);
    sn_loop_del(&f.loop, e.fd, &e.watch);
    close(e.fd);
    sn_loop_fini(&f.loop);
}

TEST(loop_what_was_removed_in_this_turn_is_not_called)
{
    fixture f;
    ear e[8];

    set_up(&f);
    for (int i = 0; i < 8; i++) {
        e[i] = listen_to(&f, 1);
        CHECK_EQ(sn_loop_add(&f.loop, e[i].fd, &e[i].watch), SEINE_OK);
    }
    for (int i = 0; i < 8; i++)
        e[i].kills = &e[i ^ 1]; /* of each pair one is left, and speaks once */
    turn(&f, T0);
    for (int i = 0; i < 8; i += 2)
        CHECK_EQ(e[i].heard + e[i + 1].heard, 1);
    turn(&f, T0);
    for (int i = 0; i < 8; i++)
        close(e[i].fd);
    sn_loop_fini(&f.loop);
}

TEST(loop_refuses_what_cannot_be_watched)
{
    fixture f;

    set_up(&f);
    ear e = listen_to(&f, 0);
    CHECK_EQ(sn_loop_add(&f.loop, -1, &e.watch), SEINE_E_INVAL);
    CHECK_EQ(sn_loop_add(&f.loop, e.fd, &e.watch), SEINE_OK);
    CHECK_EQ(sn_loop_add(&f.loop, e.fd, &e.watch), SEINE_E_INVAL); /* twice */
    sn_loop_del(&f.loop, e.fd, &e.watch);
    CHECK_EQ(sn_loop_set_level(&f.loop, e.fd, &e.watch, EPOLLIN), SEINE_E_INVAL);
    close(e.fd);
    sn_loop_fini(&f.loop);
}

TEST(loop_many_wakes_are_one)
{
    fixture f;
    uint64_t writes = 0;

    set_up(&f);
    for (int i = 0; i < 1000; i++)
        sn_loop_wake(&f.loop);
    CHECK_EQ(sn_loop_turn(&f.loop, SEINE_NEVER), T0); /* does not wait */
    CHECK_EQ(read(f.loop.event, &writes, sizeof writes), sizeof writes);
    CHECK_EQ(writes, 1);
    sn_loop_wake(&f.loop); /* and the next is one again */
    CHECK_EQ(sn_loop_turn(&f.loop, SEINE_NEVER), T0);
    CHECK_EQ(read(f.loop.event, &writes, sizeof writes), sizeof writes);
    CHECK_EQ(writes, 1);
    sn_loop_fini(&f.loop);
}

TEST(loop_sees_one_moment_per_turn)
{
    fixture f;

    set_up(&f);
    for (int i = 0; i < 10; i++) {
        f.clock.reads = 0;
        turn(&f, T0 + i);
        CHECK_EQ(f.clock.reads, 2); /* before the wait, and the moment */
    }
    CHECK_EQ(f.loop.turns, 10);
    sn_loop_fini(&f.loop);
}

static void
on_work(sn_watch *w, uint32_t events)
{
    ear *e = (ear *)(void *)w;

    (void)events;
    e->f->clock.now += SEINE_MS(7);
}

TEST(loop_tells_its_longest_turn)
{
    fixture f;

    set_up(&f);
    turn(&f, T0 + SEINE_SECS(5)); /* nobody worked before the first */
    CHECK_EQ(f.loop.longest, 0);
    ear e = listen_to(&f, 1);
    e.watch.ready = on_work;
    CHECK_EQ(sn_loop_add(&f.loop, e.fd, &e.watch), SEINE_OK);
    turn(&f, T0 + SEINE_SECS(5));
    sn_loop_turn(&f.loop, PAST);
    CHECK_EQ(f.loop.longest, SEINE_MS(7));
    close(e.fd);
    sn_loop_fini(&f.loop);
}

TEST(loop_without_memory_is_not_made_and_reserves_nothing)
{
    FAIL_EACH(round)
    {
        hands clock = {.clock.now = read_hands, .now = T0};
        sn_loop l;
        seine_err e = sn_loop_init(&l, &clock.clock);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e != SEINE_OK)
            continue;
        for (int i = 0; i < 513 && e == SEINE_OK; i++) {
            uint32_t before = l.reserved;

            e = sn_timer_reserve(&l);
            CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
            CHECK_EQ(l.reserved, before + (e == SEINE_OK));
        }
        CHECK_EQ(l.n_slots, e == SEINE_OK ? 2048 : 1024);
        sn_timer t = {.fire = on_model};
        sn_timer_set(&l, &t, T0 + 1); /* in a slot that has moved, perhaps */
        sn_loop_fini(&l);
    }
}
