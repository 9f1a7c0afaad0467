/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/budget.h"

#include <pthread.h>

#include "base/alloc.h"
#include "guard/waiter.h"

struct seine_budget {
    pthread_mutex_t lock;
    seine_want limits, used;
    sn_waitq waiters; /* `data` is the seine_want, NULL once refused */
    seine_res shortage;
};

static void
lock(const seine_budget *b)
{
    pthread_mutex_lock((pthread_mutex_t *)&b->lock);
}

static void
unlock(const seine_budget *b)
{
    pthread_mutex_unlock((pthread_mutex_t *)&b->lock);
}

static uint64_t
sum(uint64_t a, uint64_t b)
{
    uint64_t both;

    return __builtin_add_overflow(a, b, &both) ? UINT64_MAX : both;
}

static bool
is_over(const seine_budget *b, int res)
{
    return b->used.n[res] > b->limits.n[res];
}

static bool
is_spent(const seine_budget *b)
{
    return is_over(b, SEINE_RES_DOWNLOAD);
}

/* The resource that refuses this want now; SEINE_RES_NONE: none. */
static seine_res
lacking(const seine_budget *b, const seine_want *want)
{
    for (int i = 0; i < SEINE_RES_ROOM; i++) {
        uint64_t more = i == SEINE_RES_DOWNLOAD ? 0 : want->n[i];

        if (is_over(b, i) || more > b->limits.n[i] - b->used.n[i])
            return (seine_res)i;
    }
    return SEINE_RES_NONE;
}

/* The resource that refuses this want for ever. */
static seine_res
impossible(const seine_budget *b, const seine_want *want)
{
    for (int i = 0; i < SEINE_RES_DOWNLOAD; i++)
        if (want->n[i] > b->limits.n[i])
            return (seine_res)i;
    return SEINE_RES_NONE;
}

static void
take_amounts(seine_budget *b, const seine_want *want)
{
    for (int i = 0; i < SEINE_RES_ROOM; i++)
        b->used.n[i] = sum(b->used.n[i], want->n[i]);
}

/* A copied grant can return more than is out: the count then stops at 0. */
static void
put_back(seine_budget *b, int res, uint64_t less)
{
    b->used.n[res] -= less < b->used.n[res] ? less : b->used.n[res];
}

/* Takes the want, or refuses and remembers which resource was short. */
static seine_err
admit(seine_budget *b, const seine_want *want)
{
    const sn_waiter *head = b->waiters.head;
    seine_res res = impossible(b, want);

    if (res != SEINE_RES_NONE) {
        b->shortage = res;
        return SEINE_E_RANGE;
    }
    res = lacking(b, head ? head->data : want);
    if (res != SEINE_RES_NONE)
        b->shortage = res;
    if (res != SEINE_RES_NONE || head)
        return SEINE_E_BUDGET;
    take_amounts(b, want);
    return SEINE_OK;
}

/* Serves the head of the queue while its whole want is available. Once the quota is
 * spent, refuses all waiters. */
static void
serve(seine_budget *b)
{
    for (;;) {
        sn_wake wake = {0};

        lock(b);
        sn_waiter *w = b->waiters.head;
        bool fits = w && lacking(b, w->data) == SEINE_RES_NONE;
        if (w && (fits || is_spent(b))) {
            if (fits)
                take_amounts(b, w->data);
            w->granted = fits;
            w->data = NULL;
            sn_waitq_remove(&b->waiters, w);
            wake = sn_waiter_mark(w);
        }
        unlock(b);

        if (!wake.clock)
            return;
        sn_wake_up(wake);
    }
}

seine_err
seine_budget_new(const seine_want *limits, seine_budget **out_budget)
{
    if (!out_budget)
        return SEINE_E_INVAL;
    if (!limits)
        return SEINE_E_INVAL;
    seine_budget *b = sn_zalloc(sizeof *b);
    if (!b)
        return SEINE_E_NOMEM;

    pthread_mutex_init(&b->lock, NULL);
    b->limits = *limits;
    b->shortage = SEINE_RES_NONE;
    *out_budget = b;
    return SEINE_OK;
}

void
seine_budget_free(seine_budget *b)
{
    if (!b)
        return;
    pthread_mutex_destroy(&b->lock);
    sn_free(b);
}

seine_err
seine_budget_try(seine_budget *b, const seine_want *want, seine_held *out_held)
{
    if (!want || !out_held)
        return SEINE_E_INVAL;
    seine_err e = SEINE_OK;

    if (b) {
        lock(b);
        e = admit(b, want);
        unlock(b);
    }
    if (e == SEINE_OK)
        *out_held = b ? (seine_held){b, *want} : (seine_held){0};
    return e;
}

/* Waits in the queue until served, refused, or the ctx is done; w is linked while it
 * keeps its want. A grant at the same moment as the end of the ctx is kept. */
static seine_err
stand_in(seine_budget *b, seine_ctx *ctx, sn_waiter *w)
{
    seine_clock *clock = seine_ctx_clock(ctx);
    seine_err e = SEINE_OK;

    for (;;) {
        lock(b);
        bool granted = w->granted, waits = w->data;
        if (waits && e != SEINE_OK)
            sn_waitq_remove(&b->waiters, w);
        unlock(b);

        if (granted)
            return SEINE_OK;
        if (!waits)
            return SEINE_E_BUDGET;
        if (e != SEINE_OK) {
            serve(b); /* the next waiter may want less */
            return e;
        }
        sn_waiter_park(w, seine_ctx_deadline(ctx));
        e = seine_ctx_err(ctx, clock->now(clock));
    }
}

seine_err
seine_budget_wait(seine_budget *b, seine_ctx *ctx, const seine_want *want,
                  seine_held *out_held)
{
    if (!ctx || !want || !out_held)
        return SEINE_E_INVAL;
    seine_clock *clock = seine_ctx_clock(ctx);
    seine_err e = seine_ctx_err(ctx, clock->now(clock));
    sn_waiter w;

    if (e != SEINE_OK)
        return e;
    if (!b)
        return seine_budget_try(b, want, out_held);

    sn_waiter_arm(&w, ctx);
    lock(b);
    e = admit(b, want);
    bool waits = e == SEINE_E_BUDGET && !is_spent(b);
    if (waits) {
        w.data = want;
        sn_waitq_push(&b->waiters, &w);
    }
    unlock(b);
    if (waits)
        e = stand_in(b, ctx, &w);
    sn_waiter_disarm(&w, ctx);

    if (e == SEINE_OK)
        *out_held = (seine_held){b, *want};
    return e;
}

seine_err
seine_budget_grow(seine_held *held, seine_res res, uint64_t more)
{
    if (!held)
        return SEINE_E_INVAL;
    seine_budget *b = held->of;
    seine_want want = {0};

    if ((unsigned)res >= SEINE_RES_ROOM)
        return SEINE_E_INVAL;
    if (!b)
        return SEINE_OK;

    want.n[res] = more;
    lock(b);
    bool fits = res == SEINE_RES_DOWNLOAD
                    ? !is_spent(b)
                    : !is_over(b, (int)res) && more <= b->limits.n[res] - b->used.n[res];
    if (fits)
        take_amounts(b, &want);
    else
        b->shortage = res;
    bool hopeless = b->waiters.head && is_spent(b);
    unlock(b);

    if (hopeless)
        serve(b);
    if (!fits)
        return SEINE_E_BUDGET;
    held->has.n[res] = sum(held->has.n[res], more);
    return SEINE_OK;
}

void
seine_budget_force(seine_held *held, seine_res res, uint64_t more)
{
    if (!held)
        return;
    seine_budget *b = held->of;
    seine_want want = {0};

    if (!b || (unsigned)res >= SEINE_RES_ROOM)
        return;
    want.n[res] = more;
    lock(b);
    take_amounts(b, &want);
    bool hopeless = b->waiters.head && is_spent(b);
    unlock(b);
    held->has.n[res] = sum(held->has.n[res], more);
    if (hopeless)
        serve(b);
}

void
seine_budget_shrink(seine_held *held, seine_res res, uint64_t less)
{
    if (!held)
        return;
    seine_budget *b = held->of;

    if (!b || (unsigned)res >= SEINE_RES_DOWNLOAD)
        return;
    if (less > held->has.n[res])
        less = held->has.n[res];
    held->has.n[res] -= less;

    lock(b);
    put_back(b, (int)res, less);
    bool waited = b->waiters.head;
    unlock(b);
    if (waited)
        serve(b);
}

void
seine_budget_release(seine_held *held)
{
    if (!held)
        return;
    seine_budget *b = held->of;

    if (!b)
        return;
    lock(b);
    for (int i = 0; i < SEINE_RES_DOWNLOAD; i++)
        put_back(b, i, held->has.n[i]);
    bool waited = b->waiters.head;
    unlock(b);
    *held = (seine_held){0};
    if (waited)
        serve(b);
}

seine_res
seine_budget_short(const seine_budget *b)
{
    if (!b)
        return SEINE_RES_NONE;
    lock(b);
    seine_res res = b->shortage;
    unlock(b);
    return res;
}

void
seine_budget_used_get(const seine_budget *b, seine_want *out_used)
{
    if (!out_used)
        return;
    *out_used = (seine_want){0};
    if (!b)
        return;
    lock(b);
    *out_used = b->used;
    unlock(b);
}

bool
seine_budget_can_proceed(const seine_budget *b)
{
    static const seine_want nothing;

    if (!b)
        return true;
    lock(b);
    bool yes = lacking(b, &nothing) == SEINE_RES_NONE;
    unlock(b);
    return yes;
}

void
seine_budget_start(seine_budget *b)
{
    if (!b)
        return;
    lock(b);
    b->used.n[SEINE_RES_REQUESTS] = sum(b->used.n[SEINE_RES_REQUESTS], 1);
    unlock(b);
}

void
seine_budget_end(seine_budget *b, uint64_t bytes)
{
    if (!b)
        return;
    lock(b);
    put_back(b, SEINE_RES_REQUESTS, 1);
    b->used.n[SEINE_RES_DOWNLOAD] = sum(b->used.n[SEINE_RES_DOWNLOAD], bytes);
    bool waited = b->waiters.head;
    unlock(b);
    if (waited)
        serve(b);
}
