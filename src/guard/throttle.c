/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/throttle.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/time.h"
#include "guard/adaptive_limit.h"
#include "guard/waiter.h"

_Static_assert(sizeof(seine_throttle) == 32, "throttle.h says so");

/*
 * `in_flight` holds the number of slots that are out and, in its top bit, whether any
 * thread waits. Every grant and every release is one exchange of that word, so a release
 * cannot miss a waiter, and a try cannot overtake one. The bit changes only under the
 * lock of the queue.
 *
 * A strategy is asked for its limit without the lock. A thread that frees a slot or
 * raises a limit hands out slots afterwards with a limit that it reads then, so an old
 * limit read by another thread loses nothing.
 */

#define WAITED UINT32_C(0x80000000)
#define MOST   (WAITED - 1)

typedef struct queue {
    pthread_mutex_t lock;
    sn_waitq waiters;
} queue;

/* The owner of slots of a throttle that is off. Never written. */
static const seine_throttle off;

static uint32_t
no_limit(void *self)
{
    (void)self;
    return UINT32_MAX;
}

/* The `self` of a semaphore is its state, not a pointer to it. */
typedef union state {
    void *self;
    uintptr_t permits;
} state;

static uint32_t
permits_of(void *self)
{
    state now = {.self = self};

    return (uint32_t)now.permits;
}

static const seine_throttle_ops null_ops = {no_limit, NULL, NULL};
static const seine_throttle_ops semaphore_ops = {permits_of, NULL, NULL};

void
seine_throttle_init_null(seine_throttle *t)
{
    if (t)
        *t = (seine_throttle){.ops = &null_ops};
}

seine_err
seine_throttle_init_semaphore(seine_throttle *t, uint32_t permits)
{
    if (!t || permits == 0)
        return SEINE_E_INVAL;
    state start = {.permits = permits};
    *t = (seine_throttle){.ops = &semaphore_ops, .self = start.self};
    return SEINE_OK;
}

seine_err
seine_throttle_init_adaptive(seine_throttle *t, const seine_adapt_opts *opts)
{
    void *self;
    seine_err e = t ? sn_adaptive_limit_new(opts, &self) : SEINE_E_INVAL;

    if (e == SEINE_OK)
        *t = (seine_throttle){.ops = &sn_adaptive_limit_ops, .self = self};
    return e;
}

void
seine_throttle_init_custom(seine_throttle *t, const seine_throttle_ops *ops, void *self)
{
    if (t && ops)
        *t = (seine_throttle){.ops = ops, .self = self};
}

void
seine_throttle_fini(seine_throttle *t)
{
    if (!t)
        return;
    queue *q = t->queue;

    if (t->ops && t->ops->fini)
        t->ops->fini(t->self);
    if (q) {
        pthread_mutex_destroy(&q->lock);
        sn_free(q);
    }
    *t = (seine_throttle){0};
}

uint32_t
seine_throttle_limit(const seine_throttle *t)
{
    return t ? t->ops->limit(__atomic_load_n(&t->self, __ATOMIC_SEQ_CST)) : UINT32_MAX;
}

uint32_t
seine_throttle_in_flight(const seine_throttle *t)
{
    return t ? __atomic_load_n(&t->in_flight, __ATOMIC_SEQ_CST) & MOST : 0;
}

/* Takes a slot if no flags but `flags` are set and the limit allows. */
static bool
take_slot(seine_throttle *t, uint32_t limit, uint32_t flags)
{
    uint32_t word = __atomic_load_n(&t->in_flight, __ATOMIC_RELAXED);

    if (limit > MOST)
        limit = MOST;
    do
        if ((word & WAITED) != flags || (word & MOST) >= limit)
            return false;
    while (!__atomic_compare_exchange_n(&t->in_flight, &word, word + 1, true,
                                        __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));

    uint32_t n = (word & MOST) + 1, peak = __atomic_load_n(&t->peak, __ATOMIC_RELAXED);
    while (peak < n && !__atomic_compare_exchange_n(&t->peak, &peak, n, true,
                                                    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return true;
}

/* One owner who never waits: no atomic exchange is needed. */
static inline bool
is_owned(const seine_throttle *t)
{
    return t && t->ops == &sn_aimd_ops;
}

static bool
take_owned(seine_throttle *t)
{
    const sn_aimd *a = t->self;

    if (t->in_flight >= a->limit)
        return false;
    if (++t->in_flight > t->peak)
        t->peak = t->in_flight;
    return true;
}

static seine_err
release_owned(seine_throttle *t, seine_slot *slot, seine_outcome how, seine_time now)
{
    slot->of = NULL;
    if (t->in_flight == 0)
        return SEINE_E_ALREADY;
    sn_aimd_sample(t->self, how, slot->start, now, t->in_flight);
    t->in_flight--;
    return SEINE_OK;
}

bool
seine_throttle_try(seine_throttle *t, seine_time now, seine_slot *out_slot)
{
    if (!out_slot ||
        (is_owned(t) ? !take_owned(t) : t && !take_slot(t, seine_throttle_limit(t), 0)))
        return false;
    *out_slot = (seine_slot){t ? t : (seine_throttle *)&off, now};
    return true;
}

/* Under the lock. The last waiter clears the bit. */
static void
leave(seine_throttle *t, queue *q, sn_waiter *w)
{
    sn_waitq_remove(&q->waiters, w);
    if (!q->waiters.head)
        __atomic_fetch_and(&t->in_flight, MOST, __ATOMIC_SEQ_CST);
}

/* Gives free slots to the heads of the queue. */
static void
hand_out(seine_throttle *t)
{
    queue *q = __atomic_load_n(&t->queue, __ATOMIC_ACQUIRE);
    uint32_t limit = seine_throttle_limit(t);

    for (;;) {
        sn_wake wake = {0};

        pthread_mutex_lock(&q->lock);
        sn_waiter *w = q->waiters.head;
        if (w && take_slot(t, limit, WAITED)) {
            leave(t, q, w);
            w->granted = true;
            wake = sn_waiter_mark(w);
        }
        pthread_mutex_unlock(&q->lock);

        if (!wake.clock)
            return;
        sn_wake_up(wake);
    }
}

/* The queue; the first thread that waits makes it. */
static queue *
queue_of(seine_throttle *t)
{
    void *have = __atomic_load_n(&t->queue, __ATOMIC_ACQUIRE);

    if (have)
        return have;
    queue *q = sn_zalloc(sizeof *q);
    if (!q)
        return NULL;
    pthread_mutex_init(&q->lock, NULL);
    if (__atomic_compare_exchange_n(&t->queue, &have, q, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return q;
    pthread_mutex_destroy(&q->lock);
    sn_free(q);
    return have;
}

/* Waits in the queue. A waiter that is granted a slot and canceled at the same moment
 * keeps the slot; its caller checks its ctx later. */
static seine_err
stand_in(seine_throttle *t, queue *q, seine_ctx *ctx)
{
    seine_clock *clock = seine_ctx_clock(ctx);
    seine_err e = SEINE_OK;
    sn_waiter w;

    sn_waiter_arm(&w, ctx);
    pthread_mutex_lock(&q->lock);
    sn_waitq_push(&q->waiters, &w);
    __atomic_fetch_or(&t->in_flight, WAITED, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&q->lock);

    hand_out(t); /* slots that came free before the bit was set */
    for (;;) {
        pthread_mutex_lock(&q->lock);
        bool granted = w.granted;
        if (!granted && e != SEINE_OK)
            leave(t, q, &w);
        pthread_mutex_unlock(&q->lock);

        if (granted || e != SEINE_OK) {
            sn_waiter_disarm(&w, ctx);
            return granted ? SEINE_OK : e;
        }
        sn_waiter_park(&w, seine_ctx_deadline(ctx));
        e = seine_ctx_err(ctx, clock->now(clock));
    }
}

seine_err
seine_throttle_wait(seine_throttle *t, seine_ctx *ctx, seine_slot *out_slot)
{
    if (!ctx || !out_slot)
        return SEINE_E_INVAL;
    seine_clock *clock = seine_ctx_clock(ctx);
    seine_time now = clock->now(clock);
    seine_err e = seine_ctx_err(ctx, now);

    if (e != SEINE_OK || seine_throttle_try(t, now, out_slot))
        return e;
    queue *q = queue_of(t);
    if (!q)
        return SEINE_E_NOMEM;
    e = stand_in(t, q, ctx);
    if (e == SEINE_OK)
        *out_slot = (seine_slot){t, clock->now(clock)};
    return e;
}

seine_err
seine_throttle_release(seine_slot *slot, seine_outcome how, seine_time now)
{
    seine_throttle *t = slot ? slot->of : NULL;

    if (!t)
        return slot ? SEINE_E_ALREADY : SEINE_E_INVAL;
    if ((unsigned)how > SEINE_IGNORED)
        return SEINE_E_INVAL;
    if (is_owned(t))
        return release_owned(t, slot, how, now);
    slot->of = NULL;
    if (t == &off)
        return SEINE_OK;

    uint32_t in_flight = seine_throttle_in_flight(t);
    if (in_flight == 0) /* a copy of a slot that was released before */
        return SEINE_E_ALREADY;
    if (t->ops->sample)
        t->ops->sample(t->self, how, slot->start, now, in_flight);
    if (__atomic_fetch_sub(&t->in_flight, 1, __ATOMIC_SEQ_CST) & WAITED)
        hand_out(t);
    return SEINE_OK;
}

seine_err
seine_throttle_set(seine_throttle *t, uint32_t permits)
{
    if (!t || permits == 0)
        return SEINE_E_INVAL;
    if (t->ops == &semaphore_ops) {
        state next = {.permits = permits};

        __atomic_store_n(&t->self, next.self, __ATOMIC_SEQ_CST);
    } else if (t->ops == &sn_adaptive_limit_ops) {
        seine_err e = sn_adaptive_limit_ceiling(t->self, permits);

        if (e != SEINE_OK)
            return e;
    } else {
        return SEINE_E_INVAL;
    }
    if (__atomic_load_n(&t->in_flight, __ATOMIC_SEQ_CST) & WAITED)
        hand_out(t);
    return SEINE_OK;
}

seine_span
seine_pace(const seine_pace_opts *opts, seine_span delay, seine_span latency, bool ok)
{
    if (!opts)
        return delay;
    seine_span next = sn_time_max(delay, 0);

    if (opts->target > 0) {
        seine_span wish = sn_time_max(latency, 0) / opts->target;

        /* Both are at most 2^63 - 1, so the sum of unsigned numbers does not overflow. */
        next = (seine_span)(((uint64_t)next + (uint64_t)wish) / 2);
        next = sn_time_max(next, wish);
    }
    next = sn_time_min(sn_time_max(next, opts->min), opts->max);
    return ok ? next : sn_time_max(next, delay);
}
