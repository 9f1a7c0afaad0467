/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/ctx.h"

#include <stdatomic.h>

#include "check.h"
#include "crew.h"
#include "failing.h"

#define T0 SEINE_SECS(10)

static seine_ctx *
child(seine_ctx *parent, seine_time deadline)
{
    seine_ctx *c = NULL;

    CHECK_EQ(seine_ctx_new(parent, deadline, &c), SEINE_OK);
    return c;
}

TEST(ctx_cancel_reaches_all_below_and_nobody_else)
{
    crew c = crew_new(T0);
    seine_ctx *a = child(c.ctx, SEINE_NEVER), *b = child(c.ctx, SEINE_NEVER);
    seine_ctx *aa = child(a, SEINE_NEVER), *ab = child(a, SEINE_NEVER);
    seine_ctx *aaa = child(aa, SEINE_NEVER);

    seine_ctx_cancel(a, SEINE_E_BUDGET);
    CHECK_EQ(seine_ctx_err(a, T0), SEINE_E_BUDGET);
    CHECK_EQ(seine_ctx_err(aa, T0), SEINE_E_BUDGET);
    CHECK_EQ(seine_ctx_err(ab, T0), SEINE_E_BUDGET);
    CHECK_EQ(seine_ctx_err(aaa, T0), SEINE_E_BUDGET);
    CHECK_EQ(seine_ctx_err(b, T0), SEINE_OK);
    CHECK_EQ(seine_ctx_err(c.ctx, T0), SEINE_OK);

    seine_ctx *late = child(aaa, SEINE_NEVER);
    CHECK_EQ(seine_ctx_err(late, T0), SEINE_E_BUDGET);

    seine_ctx *all[] = {late, aaa, ab, aa, b, a};
    EACH_ROW(i, all)
        seine_ctx_unref(all[i]);
    crew_end(&c);
}

TEST(ctx_keeps_the_first_cause)
{
    crew c = crew_new(T0);
    seine_ctx *a = child(c.ctx, SEINE_NEVER);

    seine_ctx_cancel(a, SEINE_OK); /* means canceled */
    seine_ctx_cancel(a, SEINE_E_BUDGET);
    seine_ctx_cancel(c.ctx, SEINE_E_CLOSED);
    CHECK_EQ(seine_ctx_err(a, T0), SEINE_E_CANCELED);
    CHECK_EQ(seine_ctx_err(c.ctx, T0), SEINE_E_CLOSED);
    seine_ctx_unref(a);
    crew_end(&c);
}

TEST(ctx_deadline_is_the_earliest_from_here_up)
{
    crew c = crew_new(T0);
    seine_ctx *a = child(c.ctx, T0 + 100);
    seine_ctx *later = child(a, T0 + 200), *sooner = child(a, T0 + 50);

    CHECK_EQ(seine_ctx_deadline(c.ctx), SEINE_NEVER);
    CHECK_EQ(seine_ctx_deadline(later), T0 + 100);
    CHECK_EQ(seine_ctx_deadline(sooner), T0 + 50);
    CHECK_EQ(seine_ctx_err(sooner, T0 + 49), SEINE_OK);
    CHECK_EQ(seine_ctx_err(sooner, T0 + 50), SEINE_E_DEADLINE);
    CHECK_EQ(seine_ctx_err(sooner, T0 + 49), SEINE_OK); /* compared, not fired */

    seine_ctx_expire(later, T0 + 99);
    CHECK_EQ(seine_ctx_err(later, T0), SEINE_OK);
    seine_ctx_expire(later, T0 + 100);
    CHECK_EQ(seine_ctx_err(later, T0), SEINE_E_DEADLINE);
    CHECK_EQ(seine_ctx_err(a, T0), SEINE_OK);
    seine_ctx_unref(later);
    seine_ctx_unref(sooner);
    seine_ctx_unref(a);
    crew_end(&c);
}

TEST(ctx_child_keeps_its_parent_alive)
{
    count_begin();
    crew c = crew_new(T0);
    seine_ctx *a = child(c.ctx, SEINE_NEVER), *aa = child(a, T0 + 9);

    seine_ctx_unref(a);
    CHECK_EQ(seine_ctx_err(aa, T0), SEINE_OK); /* unref cancels nothing */
    CHECK(seine_ctx_ref(aa) == aa);
    seine_ctx_unref(aa);
    CHECK_EQ(seine_ctx_deadline(aa), T0 + 9);
    seine_ctx_cancel(c.ctx, SEINE_OK);
    CHECK_EQ(seine_ctx_err(aa, T0), SEINE_E_CANCELED);
    seine_ctx_unref(aa);
    seine_ctx_unref(NULL);
    crew_end(&c);
    count_end();
}

TEST(ctx_refuses_to_be_without_clock_or_parent)
{
    seine_ctx *c = NULL;

    CHECK_EQ(seine_ctx_root(NULL, &c), SEINE_E_INVAL);
    CHECK_EQ(seine_ctx_new(NULL, SEINE_NEVER, &c), SEINE_E_INVAL);
    CHECK(!c);
}

TEST(ctx_survives_failing_memory)
{
    FAIL_EACH(r)
    {
        seine_ctx *root = NULL, *c = NULL;

        if (seine_ctx_root(seine_clock_system(), &root) == SEINE_OK)
            CHECK(seine_ctx_new(root, SEINE_NEVER, &c) == (c ? SEINE_OK : SEINE_E_NOMEM));
        seine_ctx_unref(c);
        seine_ctx_unref(root);
    }
}

typedef struct probe {
    seine_ctx_hook hook;
    seine_ctx *ctx;
    int runs;
    bool took_off; /* what off_done said inside the callback */
} probe;

static void
count_run(void *arg)
{
    ((probe *)arg)->runs++;
}

TEST(ctx_hook_runs_once_or_never_after_it_was_taken_off)
{
    crew c = crew_new(T0);
    probe a = {.hook = {count_run, &a, NULL, NULL}};
    probe b = {.hook = {count_run, &b, NULL, NULL}};
    seine_ctx_hook *stale; /* a hook that was used before need not be blank */
    probe late = {.hook = {count_run, &late, NULL, &stale}};

    seine_ctx_on_done(c.ctx, &a.hook);
    seine_ctx_on_done(c.ctx, &b.hook);
    CHECK(seine_ctx_off_done(c.ctx, &a.hook));
    seine_ctx_cancel(c.ctx, SEINE_OK);
    seine_ctx_cancel(c.ctx, SEINE_OK);
    CHECK_EQ(a.runs, 0);
    CHECK_EQ(b.runs, 1);
    CHECK(!seine_ctx_off_done(c.ctx, &b.hook));

    seine_ctx_on_done(c.ctx, &late.hook); /* already done: at once */
    CHECK_EQ(late.runs, 1);
    CHECK(!seine_ctx_off_done(c.ctx, &late.hook));
    crew_end(&c);
}

static void
take_off_itself(void *arg)
{
    probe *p = arg;

    p->runs++;
    p->took_off = seine_ctx_off_done(p->ctx, &p->hook);
    seine_ctx_cancel(p->ctx, SEINE_E_BUDGET); /* calling back in is fine */
}

TEST(ctx_hook_may_call_back_in)
{
    crew c = crew_new(T0);
    probe p = {.hook = {take_off_itself, &p, NULL, NULL}, .ctx = c.ctx, .took_off = true};

    seine_ctx_on_done(c.ctx, &p.hook);
    seine_ctx_cancel(c.ctx, SEINE_OK);
    CHECK_EQ(p.runs, 1);
    CHECK(!p.took_off);
    CHECK_EQ(seine_ctx_err(c.ctx, T0), SEINE_E_CANCELED);
    crew_end(&c);
}

/* A hook of one context takes another's off while the runner holds both. */
static void
take_off_other(void *arg)
{
    probe *p = arg;

    p->runs++;
    p->took_off = seine_ctx_off_done(p->ctx, p->hook.next);
}

TEST(ctx_hook_that_has_not_run_yet_can_be_taken_off_by_one_that_runs)
{
    crew c = crew_new(T0);
    probe second = {.hook = {count_run, &second, NULL, NULL}};
    probe first = {.ctx = c.ctx};
    seine_ctx_hook outer = {take_off_other, &first, NULL, NULL};

    first.hook.next = &second.hook;
    seine_ctx_on_done(c.ctx, &second.hook);
    seine_ctx_on_done(c.ctx, &outer); /* registered last, runs first */
    seine_ctx_cancel(c.ctx, SEINE_OK);
    CHECK_EQ(first.runs, 1);
    CHECK(first.took_off);
    CHECK_EQ(second.runs, 0);
    crew_end(&c);
}

typedef struct slow {
    crew *crew;
    seine_ctx_hook hook;
    atomic_int stage; /* 1: the hook is running, 2: it has ended */
    uint32_t word;
    bool off;
    int stage_after;
} slow;

static void
slow_hook(void *arg)
{
    slow *s = arg;
    seine_clock *clock = s->crew->clock;

    s->stage = 1;
    clock->wait(clock, &s->word, 0, SEINE_NEVER);
    s->stage = 2;
}

static void
cancel_root(void *arg)
{
    seine_ctx_cancel(((slow *)arg)->crew->ctx, SEINE_OK);
}

static void
take_slow_off(void *arg)
{
    slow *s = arg;

    s->off = seine_ctx_off_done(s->crew->ctx, &s->hook);
    s->stage_after = s->stage;
}

TEST_THREADS(ctx_off_done_waits_for_a_hook_that_runs_elsewhere)
{
    crew c = crew_new(T0);
    slow s = {.crew = &c, .hook = {slow_hook, &s, NULL, NULL}, .off = true};

    seine_ctx_on_done(c.ctx, &s.hook);
    crew_add(&c, cancel_root, &s);
    CHECK_EQ(s.stage, 1);
    crew_add(&c, take_slow_off, &s); /* parks until the hook has returned */
    CHECK_EQ(s.stage_after, 0);
    __atomic_store_n(&s.word, 1, __ATOMIC_SEQ_CST);
    c.clock->wake(c.clock, &s.word, 1);
    crew_join(&c);
    CHECK(!s.off);
    CHECK_EQ(s.stage_after, 2);
    crew_end(&c);
}

typedef struct sleep {
    seine_ctx *ctx;
    seine_time until, woke;
    seine_err result;
} sleep_job;

static void
sleep_run(void *arg)
{
    sleep_job *s = arg;
    seine_clock *clock = seine_ctx_clock(s->ctx);

    s->result = seine_ctx_sleep(s->ctx, s->until);
    s->woke = clock->now(clock);
}

TEST_THREADS(ctx_sleep_ends_on_time_or_with_the_cause)
{
    crew c = crew_new(T0);
    seine_ctx *doomed = child(c.ctx, SEINE_NEVER);
    sleep_job a = {.ctx = c.ctx, .until = T0 + 100};
    sleep_job b = {.ctx = doomed, .until = T0 + 100};

    crew_add(&c, sleep_run, &a);
    crew_add(&c, sleep_run, &b);
    crew_advance(&c, 40);
    seine_ctx_cancel(doomed, SEINE_E_BUDGET);
    crew_advance(&c, 1000);
    crew_join(&c);
    CHECK_EQ(a.result, SEINE_OK);
    CHECK_EQ(a.woke, T0 + 100);
    CHECK_EQ(b.result, SEINE_E_BUDGET);
    CHECK_EQ(b.woke, T0 + 40);
    seine_ctx_unref(doomed);
    crew_end(&c);
}

TEST(ctx_sleep_that_would_end_at_the_deadline_fails_at_once)
{
    static const struct {
        seine_span until;
        seine_err want;
    } rows[] = {
        {100, SEINE_E_DEADLINE}, /* at the deadline */
        {101, SEINE_E_DEADLINE}, {SEINE_NEVER - T0, SEINE_E_DEADLINE},
        {0, SEINE_OK}, /* now */
        {-1, SEINE_OK},
    };

    EACH_ROW(i, rows) {
        crew c = crew_new(T0);
        seine_ctx *ctx = child(c.ctx, T0 + 100);

        CHECK_EQ(seine_ctx_sleep(ctx, T0 + rows[i].until), rows[i].want);
        CHECK_EQ(crew_now(&c), T0);
        seine_ctx_unref(ctx);
        crew_end(&c);
    }
}

static void *
churn(void *arg)
{
    seine_ctx *parent = arg;

    for (int i = 0; i < 50; i++) {
        seine_ctx *c;
        probe p = {.hook = {count_run, &p, NULL, NULL}};

        if (seine_ctx_new(parent, SEINE_NEVER, &c) != SEINE_OK)
            break;
        seine_ctx_on_done(c, &p.hook);
        if (i % 7 == 0)
            seine_ctx_cancel(c, SEINE_OK);
        bool never = seine_ctx_off_done(c, &p.hook);
        CHECK_EQ(p.runs, !never);
        seine_ctx_unref(c);
    }
    return NULL;
}

TEST_THREADS(ctx_tree_stands_threads_that_come_go_and_cancel)
{
    crew c = crew_new(T0);
    seine_ctx *middle = child(c.ctx, SEINE_NEVER);

    for (int i = 0; i < 4; i++)
        CHECK_EQ(pthread_create(&c.threads[c.n++], NULL, churn, middle), 0);
    seine_ctx_cancel(middle, SEINE_OK);
    crew_join(&c);
    seine_ctx_unref(middle);
    crew_end(&c);
}

TEST(ctx_after_has_a_deadline_so_far_from_now_by_the_clock_of_its_tree)
{
    crew c = crew_new(T0);
    seine_ctx *soon = NULL, *sooner = NULL, *never = NULL, *none = NULL;

    crew_advance(&c, SEINE_SECS(5));
    CHECK_EQ(seine_ctx_now(c.ctx), T0 + SEINE_SECS(5));
    CHECK_EQ(seine_ctx_after(c.ctx, SEINE_SECS(30), &soon), SEINE_OK);
    CHECK_EQ(seine_ctx_deadline(soon), T0 + SEINE_SECS(35));
    CHECK_EQ(seine_ctx_after(soon, SEINE_SECS(60), &sooner), SEINE_OK);
    CHECK_EQ(seine_ctx_deadline(sooner), T0 + SEINE_SECS(35)); /* its parent's */
    CHECK_EQ(seine_ctx_after(c.ctx, SEINE_NEVER, &never), SEINE_OK);
    CHECK_EQ(seine_ctx_deadline(never), SEINE_NEVER);
    CHECK_EQ(seine_ctx_after(c.ctx, -1, &none), SEINE_E_INVAL);
    CHECK_EQ(seine_ctx_after(NULL, 1, &none), SEINE_E_INVAL);
    CHECK(!none);
    seine_ctx_unref(soon);
    seine_ctx_unref(sooner);
    seine_ctx_unref(never);
    crew_end(&c);
}

TEST(ctx_background_is_a_root_on_the_clock_of_the_system)
{
    seine_ctx *ctx = NULL;
    seine_time before = seine_now();

    CHECK_EQ(seine_ctx_background(&ctx), SEINE_OK);
    CHECK(seine_ctx_clock(ctx) == seine_clock_system());
    CHECK_EQ(seine_ctx_deadline(ctx), SEINE_NEVER);
    CHECK_EQ(seine_ctx_err(ctx, SEINE_NEVER - 1), SEINE_OK);
    CHECK(before > 0 && seine_ctx_now(ctx) >= before && seine_ctx_now(NULL) >= before);
    seine_ctx_unref(ctx);
    CHECK_EQ(seine_ctx_background(NULL), SEINE_E_INVAL);
}
