/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/shared.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "base/time.h"
#include "guard/gcra.h"
#include "guard/shared.h"
#include "guard/waiter.h"

/*
 * The content of the bucket is one atomic moment, `full`. The rate and the pause change
 * seldom and stand behind a sequence count. A decision reads both, asks the pure limiter,
 * and swaps `full`.
 *
 * A thread that changes the rate first puts HELD into `full`, so that no swap based on
 * the old rate can succeed. If the rate is another now, it leaves another value than it
 * found. Readers that meet a change wait for the lock.
 */

#define HELD     INT64_MAX
#define SHUTTING 0x80000000u /* in `gate`: closed */

struct seine_shared {
    _Atomic seine_time full;
    atomic_uint seq;  /* odd while the three below change */
    atomic_uint gate; /* 0: decide without the lock; waiters; SHUTTING */
    _Atomic seine_span every, depth;
    _Atomic seine_time shut;
    atomic_ullong allowed, denied;

    /* Protects all that follows, and every change of the rate above. */
    _Alignas(64) pthread_mutex_t lock;
    sn_waitq queue;
    uint64_t queued; /* tokens that the waiters want */
    uint32_t max_waiters;
    bool closed;
    seine_rate rate;
    uint64_t waited, canceled;
    seine_span waited_total;
};

seine_err
seine_shared_new(const seine_shared_opts *opts, seine_time now, seine_shared **out_lim)
{
    seine_limiter first;

    if (!out_lim || !sn_opts_fit(opts, sizeof *opts) ||
        seine_limiter_init_rate(&first, &opts->rate, opts->initial, now) != SEINE_OK)
        return SEINE_E_INVAL;
    seine_shared *lim = sn_zalloc_line(sizeof *lim);
    if (!lim)
        return SEINE_E_NOMEM;

    atomic_init(&lim->full, first.full);
    atomic_init(&lim->every, first.every);
    atomic_init(&lim->depth, first.depth);
    atomic_init(&lim->shut, first.shut);
    pthread_mutex_init(&lim->lock, NULL);
    lim->max_waiters = opts->max_waiters;
    lim->rate = opts->rate;
    *out_lim = lim;
    return SEINE_OK;
}

void
seine_shared_free(seine_shared *lim)
{
    if (!lim)
        return;
    pthread_mutex_destroy(&lim->lock);
    sn_free_line(lim);
}

void
sn_shared_restore(seine_shared *lim, seine_time full)
{
    atomic_store(&lim->full, full);
}

/* Reads one consistent state of the bucket; false during a change. */
static inline bool
look(const seine_shared *lim, seine_limiter *out)
{
    unsigned seq = atomic_load_explicit(&lim->seq, memory_order_acquire);

    out->every = atomic_load_explicit(&lim->every, memory_order_relaxed);
    out->depth = atomic_load_explicit(&lim->depth, memory_order_relaxed);
    out->shut = atomic_load_explicit(&lim->shut, memory_order_relaxed);
    out->full = atomic_load_explicit(&lim->full, memory_order_acquire);
    return !(seq & 1) && out->full != HELD &&
           atomic_load_explicit(&lim->seq, memory_order_relaxed) == seq;
}

/* The same, but waits for a change to end. */
static seine_limiter
bucket_of(const seine_shared *lim)
{
    seine_limiter now;

    while (!look(lim, &now)) {
        pthread_mutex_lock((pthread_mutex_t *)&lim->lock);
        pthread_mutex_unlock((pthread_mutex_t *)&lim->lock);
    }
    return now;
}

seine_time
sn_shared_full(const seine_shared *lim)
{
    return bucket_of(lim).full;
}

static inline bool
swap(seine_shared *lim, seine_time was, seine_time full)
{
    full = full == HELD ? HELD - 1 : full;
    return atomic_compare_exchange_strong(&lim->full, &was, full);
}

/* Tries to take `n` now, whatever the gate says; *out is the bucket afterwards. */
static bool
take_tokens(seine_shared *lim, seine_time now, uint32_t n, seine_limiter *out)
{
    for (;;) {
        *out = bucket_of(lim);
        seine_time was = out->full;

        if (!sn_gcra_allow(out, now, n))
            return false;
        if (swap(lim, was, out->full))
            return true;
    }
}

/* Under the lock: no thread decides while `full` is HELD. */
static seine_limiter
begin_change(seine_shared *lim)
{
    seine_limiter now = {lim->every, lim->depth, 0, lim->shut};

    atomic_fetch_add(&lim->seq, 1);
    now.full = atomic_exchange(&lim->full, HELD);
    return now;
}

static void
end_change(seine_shared *lim, const seine_limiter *next)
{
    lim->every = next->every;
    lim->depth = next->depth;
    lim->shut = next->shut;
    atomic_store(&lim->full, sn_time_min(next->full, HELD - 1));
    atomic_fetch_add(&lim->seq, 1);
}

/* Another `full` that is worth the same, so that no swap by the old rate succeeds. A
 * bucket that is full is full a nanosecond longer; others lose that nanosecond. */
static seine_time
other_than(seine_time full, seine_time now)
{
    if (full <= now && full > SN_LONG_AGO)
        return full - 1;
    return full < HELD - 1 ? full + 1 : full - 1;
}

static uint32_t
burst_of(const seine_limiter *bucket)
{
    return (uint32_t)(bucket->depth / bucket->every);
}

void
sn_grant_fill(seine_grant *g, const seine_limiter *bucket, seine_time now)
{
    g->limit = burst_of(bucket);
    g->left = seine_limiter_left(bucket, now);
    g->reset_after = bucket->full > now ? sn_time_sub(bucket->full, now) : 0;
    g->mark = bucket->full;
}

static void
refused(seine_shared *lim)
{
    atomic_fetch_add_explicit(&lim->denied, 1, memory_order_relaxed);
}

static void
granted(seine_shared *lim)
{
    atomic_fetch_add_explicit(&lim->allowed, 1, memory_order_relaxed);
}

/* Waits for the end of a change, then decides. */
static __attribute__((noinline)) bool
allow_slowly(seine_shared *lim, seine_time now, uint32_t n)
{
    seine_limiter bucket;
    bool ok = take_tokens(lim, now, n, &bucket);

    if (n > 0)
        ok ? granted(lim) : refused(lim);
    return ok;
}

/* The usual case, in registers and without a stack frame. Reads `full` before the rate
 * and the pause: a change begins with another `full`, so the swap succeeds only if the
 * values still belong together. The branches are cheaper than conditional moves, which
 * would delay the swap. */
static inline bool
allow_now(seine_shared *lim, seine_time now, uint32_t n)
{
    seine_time full = atomic_load_explicit(&lim->full, memory_order_acquire), next;
    seine_span cost, depth;

    do {
        if (__builtin_expect(full == HELD, 0))
            return allow_slowly(lim, now, n);
        cost = atomic_load_explicit(&lim->every, memory_order_relaxed);
        depth = atomic_load_explicit(&lim->depth, memory_order_relaxed);
        if (n != 1) {
            if (n == 0) /* takes nothing, counts nothing */
                return atomic_load_explicit(&lim->shut, memory_order_relaxed) <= now;
            if (__builtin_mul_overflow(cost, n, &cost))
                goto no;
        }
        if (cost > depth || atomic_load_explicit(&lim->shut, memory_order_relaxed) > now)
            goto no;
        next = full;
        if (__builtin_expect(full < now, 0))
            next = now; /* the bucket is full */
        else if ((uint64_t)full - (uint64_t)now > (uint64_t)(depth - cost))
            goto no;
        if (__builtin_expect(next > HELD - 1 - cost, 0))
            next = HELD - 1 - cost;
    } while (!atomic_compare_exchange_strong(&lim->full, &full, next + cost));
    granted(lim);
    return true;
no:
    refused(lim);
    return false;
}

bool
seine_shared_allow(seine_shared *lim, seine_time now, uint32_t n)
{
    if (!lim)
        return true;
    if (atomic_load_explicit(&lim->gate, memory_order_relaxed) == 0)
        return allow_now(lim, now, n);
    if (n > 0)
        refused(lim);
    return false;
}

/* When a newcomer that wants `n` would be served, after all waiters before it. */
static seine_time
projected(const seine_shared *lim, const seine_limiter *bucket, seine_time now,
          uint64_t n)
{
    seine_span cost = sn_time_mul(bucket->every, n + lim->queued);
    seine_time end = sn_time_add(sn_time_max(bucket->full, now), cost);

    if (end != SEINE_NEVER)
        end -= bucket->depth;
    return sn_time_max(sn_time_max(now, end), bucket->shut);
}

/* Fills a refusal: with waiters in front, its moment is after they are served. */
static seine_err
refuse_now(seine_shared *lim, seine_time now, int64_t n, seine_grant *out_grant)
{
    refused(lim);
    if (!out_grant)
        return SEINE_E_LIMITED;

    pthread_mutex_lock(&lim->lock);
    seine_limiter bucket = bucket_of(lim);
    seine_time at = projected(lim, &bucket, now, (uint64_t)n);
    pthread_mutex_unlock(&lim->lock);

    sn_grant_fill(out_grant, &bucket, now);
    out_grant->retry_after = sn_time_sub(at, now);
    return SEINE_E_LIMITED;
}

/* Checks everything that does not depend on the tokens. */
static seine_err
admissible(seine_shared *lim, seine_time now, int64_t n, seine_grant *out_grant)
{
    if (n < 1)
        return SEINE_E_INVAL;
    seine_limiter bucket = bucket_of(lim);
    if (n <= burst_of(&bucket))
        return atomic_load(&lim->gate) & SHUTTING ? SEINE_E_CLOSED : SEINE_OK;
    if (out_grant) {
        sn_grant_fill(out_grant, &bucket, now);
        out_grant->retry_after = SEINE_NEVER;
    }
    return SEINE_E_RANGE;
}

static seine_err
off(seine_grant *out_grant)
{
    if (out_grant)
        *out_grant = (seine_grant){UINT32_MAX, UINT32_MAX, 0, 0, 0};
    return SEINE_OK;
}

seine_err
seine_shared_try(seine_shared *lim, seine_time now, int64_t n, seine_grant *out_grant)
{
    return seine_shared_reserve(lim, now, n, now, out_grant);
}

seine_err
seine_shared_reserve(seine_shared *lim, seine_time now, int64_t n, seine_time latest,
                     seine_grant *out_grant)
{
    if (!lim)
        return n < 1 ? SEINE_E_INVAL : off(out_grant);
    seine_err e = admissible(lim, now, n, out_grant);
    if (e != SEINE_OK)
        return e;
    if (atomic_load(&lim->gate) != 0)
        return refuse_now(lim, now, n, out_grant);

    for (;;) {
        seine_limiter bucket = bucket_of(lim);
        seine_time was = bucket.full, at;

        if (!seine_limiter_reserve(&bucket, now, (uint32_t)n, latest, &at))
            return refuse_now(lim, now, n, out_grant);
        if (!swap(lim, was, bucket.full))
            continue;
        granted(lim);
        if (out_grant) {
            sn_grant_fill(out_grant, &bucket, now);
            out_grant->retry_after = at - now;
        }
        return SEINE_OK;
    }
}

/* The head of the queue looks again. */
static void
wake_head(seine_shared *lim)
{
    pthread_mutex_lock(&lim->lock);
    sn_wake wake = sn_waiter_mark(lim->queue.head);
    pthread_mutex_unlock(&lim->lock);
    sn_wake_up(wake);
}

bool
seine_shared_undo(seine_shared *lim, seine_time mark, uint32_t n)
{
    if (!lim)
        return true;
    seine_limiter bucket = bucket_of(lim);
    if (!seine_limiter_undo(&bucket, mark, n) || !swap(lim, mark, bucket.full))
        return false;
    wake_head(lim);
    return true;
}

void
sn_shared_give_back(seine_shared *lim, seine_time now, seine_time mark, uint32_t n)
{
    seine_limiter bucket;
    seine_time full;

    if (!lim)
        return;
    do {
        bucket = bucket_of(lim);
        full = bucket.shut > now ? bucket.full /* keeps a pause as strict as it is */
                                 : sn_gcra_returned(bucket.full, mark,
                                                    sn_time_mul(bucket.every, n), now);
    } while (full != bucket.full && !swap(lim, bucket.full, full));
    wake_head(lim);
}

/* What a waiter wants, and until when waiting makes sense. */
typedef struct terms {
    uint32_t n;
    seine_time start, latest, deadline; /* latest: start + max_wait */
    seine_time *mark;                   /* of the grant; for sn_shared_give_back */
} terms;

static void
enqueue(seine_shared *lim, sn_waiter *w)
{
    sn_waitq_push(&lim->queue, w);
    lim->queued += w->want;
    atomic_fetch_add(&lim->gate, 1);
}

static sn_wake
dequeue(seine_shared *lim, sn_waiter *w)
{
    bool was_head = lim->queue.head == w;

    sn_waitq_remove(&lim->queue, w);
    lim->queued -= w->want;
    atomic_fetch_sub(&lim->gate, 1);
    return sn_waiter_mark(was_head ? lim->queue.head : NULL);
}

/* Under the lock, for the head of the queue: OK when served; LIMITED when it is too
 * early, with the moment to look again; else why waiting makes no sense any more. */
static seine_err
serve(seine_shared *lim, const terms *t, seine_time now, seine_time *out_until)
{
    seine_limiter bucket;

    if (take_tokens(lim, now, t->n, &bucket)) {
        *t->mark = bucket.full;
        return SEINE_OK;
    }
    seine_time at = seine_limiter_when(&bucket, now, t->n);
    if (t->n > burst_of(&bucket))
        return SEINE_E_RANGE;
    if (at >= t->deadline)
        return SEINE_E_DEADLINE;
    if (at > t->latest)
        return SEINE_E_BUSY; /* differs from "not yet"; the caller gets LIMITED */
    *out_until = at;
    return SEINE_E_LIMITED;
}

static void
account(seine_shared *lim, seine_err e, seine_span waited)
{
    if (e == SEINE_OK) {
        granted(lim);
        lim->waited++;
        lim->waited_total = sn_time_add(lim->waited_total, waited);
    } else {
        lim->canceled++;
    }
}

static seine_err
stand_in_line(seine_shared *lim, seine_ctx *ctx, sn_waiter *w, const terms *t)
{
    seine_clock *clock = seine_ctx_clock(ctx);

    for (;;) {
        seine_time now = clock->now(clock);
        seine_time until = sn_time_min(t->deadline, sn_time_add(t->latest, 1));

        pthread_mutex_lock(&lim->lock);
        seine_err e = lim->closed ? SEINE_E_CLOSED : seine_ctx_err(ctx, now);

        if (e == SEINE_OK && lim->queue.head == w)
            e = serve(lim, t, now, &until);
        else if (e == SEINE_OK)
            e = now > t->latest ? SEINE_E_BUSY : SEINE_E_LIMITED;

        if (e != SEINE_E_LIMITED) {
            sn_wake next = dequeue(lim, w);

            account(lim, e, now - t->start);
            pthread_mutex_unlock(&lim->lock);
            sn_wake_up(next);
            return e == SEINE_E_BUSY ? SEINE_E_LIMITED : e;
        }
        pthread_mutex_unlock(&lim->lock);
        sn_waiter_park(w, until);
    }
}

/* Under the lock: serves at once, or refuses, or returns LIMITED with a place in the
 * queue. */
static seine_err
enter(seine_shared *lim, sn_waiter *w, const terms *t)
{
    seine_limiter bucket = bucket_of(lim);

    if (lim->closed)
        return SEINE_E_CLOSED;
    if (lim->queue.n == 0 && take_tokens(lim, t->start, t->n, &bucket)) {
        *t->mark = bucket.full;
        granted(lim);
        return SEINE_OK;
    }
    seine_time end = projected(lim, &bucket, t->start, t->n);
    if (end >= t->deadline)
        return SEINE_E_DEADLINE;
    if (end > t->latest)
        return SEINE_E_BUSY;
    if (lim->queue.n >= lim->max_waiters)
        return SEINE_E_FULL;
    enqueue(lim, w);
    return SEINE_E_LIMITED;
}

seine_err
seine_shared_wait(seine_shared *lim, seine_ctx *ctx, int64_t n, seine_span max_wait)
{
    seine_time mark;

    return sn_shared_wait(lim, ctx, n, max_wait, &mark);
}

seine_err
sn_shared_wait(seine_shared *lim, seine_ctx *ctx, int64_t n, seine_span max_wait,
               seine_time *out_mark)
{
    if (!ctx || n < 1 || max_wait < 0)
        return SEINE_E_INVAL;
    seine_clock *clock = seine_ctx_clock(ctx);
    seine_time now = clock->now(clock);
    sn_waiter w;

    if (!lim)
        return seine_ctx_err(ctx, now);
    seine_err e = admissible(lim, now, n, NULL);
    if (e == SEINE_OK || e == SEINE_E_CLOSED)
        e = seine_ctx_err(ctx, now) != SEINE_OK ? seine_ctx_err(ctx, now) : e;
    if (e != SEINE_OK)
        return e;

    terms t = {(uint32_t)n, now, sn_time_add(now, max_wait), seine_ctx_deadline(ctx),
               out_mark};
    sn_waiter_arm(&w, ctx);
    w.want = t.n;
    pthread_mutex_lock(&lim->lock);
    e = enter(lim, &w, &t);
    pthread_mutex_unlock(&lim->lock);

    if (e == SEINE_E_LIMITED)
        e = stand_in_line(lim, ctx, &w, &t);
    else if (e != SEINE_OK)
        refused(lim);
    sn_waiter_disarm(&w, ctx);
    return e == SEINE_E_BUSY ? SEINE_E_LIMITED : e;
}

/* Unlocks after a change; the head of the queue looks again. */
static void
publish(seine_shared *lim)
{
    sn_wake wake = sn_waiter_mark(lim->queue.head);

    pthread_mutex_unlock(&lim->lock);
    sn_wake_up(wake);
}

seine_err
seine_shared_set_rate(seine_shared *lim, seine_time now, const seine_rate *rate)
{
    seine_limiter next;

    if (seine_limiter_init_rate(&next, rate, SEINE_FULL, now) != SEINE_OK)
        return SEINE_E_INVAL;
    if (!lim)
        return SEINE_OK;

    pthread_mutex_lock(&lim->lock);
    seine_limiter bucket = begin_change(lim);
    seine_time was = bucket.full;
    seine_limiter_set_rate(&bucket, now, next.every, rate->burst);
    if (bucket.full == was && (bucket.every != lim->every || bucket.depth != lim->depth))
        bucket.full = other_than(was, now);
    end_change(lim, &bucket);
    lim->rate = *rate;
    publish(lim);
    return SEINE_OK;
}

void
seine_shared_pause(seine_shared *lim, seine_time until)
{
    if (!lim)
        return;
    pthread_mutex_lock(&lim->lock);
    seine_limiter bucket = begin_change(lim);
    seine_limiter_pause(&bucket, until);
    end_change(lim, &bucket);
    publish(lim);
}

void
sn_shared_renew(seine_shared *lim, const seine_rate *rate)
{
    seine_limiter fresh;

    if (seine_limiter_init_rate(&fresh, rate, SEINE_FULL, SN_LONG_AGO) != SEINE_OK)
        return;
    pthread_mutex_lock(&lim->lock);
    seine_time was = begin_change(lim).full;
    if (fresh.full == was)
        fresh.full = other_than(was, SN_LONG_AGO);
    end_change(lim, &fresh);
    lim->rate = *rate;
    publish(lim);
}

void
seine_shared_reset(seine_shared *lim, seine_time now)
{
    if (!lim)
        return;
    pthread_mutex_lock(&lim->lock);
    seine_limiter bucket = begin_change(lim);
    seine_limiter_fill(&bucket, now, UINT32_MAX);
    end_change(lim, &bucket);
    publish(lim);
}

void
seine_shared_close(seine_shared *lim)
{
    if (!lim)
        return;
    pthread_mutex_lock(&lim->lock);
    lim->closed = true;
    atomic_fetch_or(&lim->gate, SHUTTING);
    publish(lim);
}

bool
sn_shared_idle(const seine_shared *lim, seine_time now)
{
    seine_limiter bucket;

    return look(lim, &bucket) && bucket.full <= now && bucket.shut <= now &&
           atomic_load(&lim->gate) == 0;
}

void
seine_shared_stats_get(const seine_shared *lim, seine_time now,
                       seine_limiter_stats *out_stats)
{
    if (!out_stats)
        return;
    if (!lim) {
        *out_stats = (seine_limiter_stats){0};
        return;
    }
    pthread_mutex_lock((pthread_mutex_t *)&lim->lock);
    seine_limiter bucket = bucket_of(lim);
    seine_limiter_stats s = {
        .capacity = burst_of(&bucket),
        .waiters = lim->queue.n,
        .refill_rate = (double)lim->rate.count * 1e9 / (double)lim->rate.per,
        .allowed = lim->allowed,
        .denied = lim->denied,
        .waited = lim->waited,
        .canceled = lim->canceled,
        .waited_total = lim->waited_total,
    };
    pthread_mutex_unlock((pthread_mutex_t *)&lim->lock);

    seine_span missing = bucket.full > now ? sn_time_sub(bucket.full, now) : 0;
    if (missing < bucket.depth && bucket.shut <= now)
        s.tokens = (double)(bucket.depth - missing) / (double)bucket.every;
    *out_stats = s;
}
