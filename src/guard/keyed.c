/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/keyed.h"

#include <string.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "base/time.h"
#include "guard/gcra.h"
#include "guard/key_table.h"
#include "guard/keyed.h"
#include "guard/shared.h"

/*
 * An entry is a bucket of the common rate in one word. The few keys with a pause, a rate
 * of their own or waiters also have a whole seine_shared, a `big`. Its users hold a
 * reference and call it without the shard's lock.
 *
 * When an entry is dropped, the shard's `floor` keeps the moment at which the entry was
 * full. New buckets are full from that moment on and not earlier, so that a clock that
 * steps back grants no second burst.
 */

#define BIG_BYTES 320 /* about what a `big` and its seine_shared take */

typedef struct big {
    seine_shared *lim;
    uint32_t refs; /* calls that use it now; under the shard's lock */
    bool pinned;   /* the key has a rate of its own */
    struct big *next;
} big;

typedef struct entry {
    sn_key_head head;
    seine_time full;
    uint64_t allowed, denied;
    big *big;
} entry;

_Static_assert(sizeof(entry) == 64, "an entry is one cache line");

struct seine_keyed {
    sn_key_table tab;
    seine_keyed_opts opts;
    seine_span every, depth;
    seine_shared *overflow;
    atomic_ullong overflowed;
    atomic_uint turn; /* the shard with which the next sweep begins */
};

/* A use of the table: the key, and what to free after the lock. */
typedef struct visit {
    sn_key_lookup q;
    big *dropped;
} visit;

static void
big_free(big *b)
{
    if (b)
        seine_shared_free(b->lim);
    sn_free(b);
}

static void
end_visit(visit *v)
{
    sn_key_lookup_end(&v->q);
    while (v->dropped) {
        big *b = v->dropped;

        v->dropped = b->next;
        big_free(b);
    }
}

static void
leave(visit *v)
{
    pthread_mutex_unlock(&v->q.shard->lock);
    end_visit(v);
}

seine_err
seine_keyed_new(const seine_keyed_opts *opts, seine_keyed **out_keyed)
{
    seine_limiter one;

    if (!out_keyed || !sn_opts_fit(opts, sizeof *opts) ||
        seine_limiter_init_rate(&one, &opts->each, SEINE_FULL, 0) != SEINE_OK ||
        opts->max_keys == 0 || opts->max_keys > 1u << 26 ||
        (unsigned)opts->overflow > SEINE_OVERFLOW_ALLOW)
        return SEINE_E_INVAL;
    seine_keyed *k = sn_zalloc(sizeof *k);
    if (!k)
        return SEINE_E_NOMEM;

    seine_shared_opts common = {sizeof(seine_shared_opts), opts->each, SEINE_FULL,
                                opts->max_waiters};
    k->opts = *opts;
    k->every = one.every;
    k->depth = one.depth;
    if (sn_key_table_init(&k->tab, opts->max_keys, opts->max_bytes, sizeof(entry),
                          opts->seed) != SEINE_OK ||
        seine_shared_new(&common, 0, &k->overflow) != SEINE_OK) {
        seine_keyed_free(k);
        return SEINE_E_NOMEM;
    }
    *out_keyed = k;
    return SEINE_OK;
}

void
seine_keyed_free(seine_keyed *k)
{
    if (!k)
        return;
    for (unsigned i = 0; k->tab.entries && i < sn_key_table_shards(&k->tab); i++) {
        sn_key_shard *s = &k->tab.shards[i];

        for (uint32_t j = 0; j < s->high; j++) {
            entry *e = sn_key_table_at(&k->tab, s, j);

            if (e)
                big_free(e->big);
        }
    }
    seine_shared_free(k->overflow);
    sn_key_table_fini(&k->tab);
    sn_free(k);
}

void
sn_keyed_start_empty(seine_keyed *k, seine_time now)
{
    seine_time full = sn_time_add(now, k->depth);

    for (unsigned i = 0; i < sn_key_table_shards(&k->tab); i++)
        k->tab.shards[i].floor = sn_time_max(k->tab.shards[i].floor, full);
    sn_shared_restore(k->overflow, full);
}

static void
drop_entry(seine_keyed *k, sn_key_shard *s, entry *e, visit *v)
{
    if (e->big) {
        k->tab.extra -= BIG_BYTES;
        e->big->next = v->dropped;
        v->dropped = e->big;
    }
    sn_key_table_remove(&k->tab, s, e, &v->q);
}

/* Is the entry the same as a fresh one? */
static bool
is_idle(const entry *e, seine_time now)
{
    if (e->big)
        return !e->big->pinned && e->big->refs == 0 && sn_shared_idle(e->big->lim, now);
    return e->full <= now;
}

/* Examines up to `steps` entries from the hand on; stops after `enough` drops. */
static size_t
reap(seine_keyed *k, sn_key_shard *s, seine_time now, size_t steps, size_t enough,
     visit *v)
{
    size_t dropped = 0;

    if (steps > s->high)
        steps = s->high;
    for (size_t i = 0; i < steps && dropped < enough; i++) {
        if (s->hand >= s->high)
            s->hand = 0;
        entry *e = sn_key_table_at(&k->tab, s, s->hand++);
        if (!e || !is_idle(e, now))
            continue;
        s->floor = sn_time_max(s->floor, e->big ? now : e->full);
        drop_entry(k, s, e, v);
        dropped++;
    }
    return dropped;
}

/* Under the lock: a new entry for the key, or NULL when there is no room. Always examines
 * two old entries, so that the table shrinks by itself. */
static entry *
admit(seine_keyed *k, visit *v, seine_time now)
{
    sn_key_shard *s = v->q.shard;

    reap(k, s, now, 2, 2, v);
    if (!sn_key_table_place(&k->tab, &v->q) &&
        (reap(k, s, now, 64, 1, v) == 0 || !sn_key_table_place(&k->tab, &v->q)))
        return NULL;
    entry *e = sn_key_table_insert(&k->tab, &v->q);
    e->full = s->floor;
    return e;
}

/* Without locks: makes room in another shard. */
static bool
reap_others(seine_keyed *k, visit *v, seine_time now)
{
    for (unsigned i = 0; i < sn_key_table_shards(&k->tab); i++) {
        sn_key_shard *s = &k->tab.shards[i];

        if (s == v->q.shard)
            continue;
        pthread_mutex_lock(&s->lock);
        size_t dropped = reap(k, s, now, 16, 1, v);
        pthread_mutex_unlock(&s->lock);
        if (dropped)
            return true;
    }
    return false;
}

/* Locks the shard and returns the key's entry, made if need be. NULL: there is no room,
 * nothing is locked, the visit has ended, the overflow is counted. */
static entry *
enter(seine_keyed *k, seine_view key, seine_time now, visit *out_visit)
{
    visit *v = out_visit;
    sn_key_shard *s;

    *v = (visit){.q = sn_key_table_seek(&k->tab, key)};
    s = v->q.shard;
    for (int tries = 0; tries < 3; tries++) {
        pthread_mutex_lock(&s->lock);
        s->latest = sn_time_max(s->latest, now);
        entry *e = sn_key_table_find(&k->tab, &v->q);
        seine_time latest = s->latest;
        if (!e && sn_key_lookup_is_ready(&v->q))
            e = admit(k, v, latest);
        if (e)
            return e;
        pthread_mutex_unlock(&s->lock);

        if (!(sn_key_lookup_is_ready(&v->q) ? reap_others(k, v, latest)
                                            : sn_key_lookup_prepare(&v->q)))
            break;
    }
    k->overflowed++;
    end_visit(v);
    return NULL;
}

/* Under the lock: takes a reference, with which the caller uses `big` without the lock.
 */
static seine_shared *
borrow(entry *e)
{
    e->big->refs++;
    return e->big->lim;
}

static void
give_back(sn_key_shard *s, entry *e)
{
    pthread_mutex_lock(&s->lock);
    e->big->refs--;
    pthread_mutex_unlock(&s->lock);
}

static seine_limiter
bucket_of(const seine_keyed *k, const entry *e)
{
    return (seine_limiter){k->every, k->depth, e->full, SN_LONG_AGO};
}

/* Decides for a key that has no place in the table. */
static bool
allow_overflow(seine_keyed *k, seine_time now, uint32_t n)
{
    if (k->opts.overflow != SEINE_OVERFLOW_SHARED)
        return k->opts.overflow == SEINE_OVERFLOW_ALLOW;
    return seine_shared_allow(k->overflow, now, n);
}

/* With the shard locked, which it unlocks. */
static bool
allow_big(sn_key_shard *s, entry *e, seine_time now, uint32_t n)
{
    seine_shared *lim = borrow(e);

    pthread_mutex_unlock(&s->lock);
    bool ok = seine_shared_allow(lim, now, n);
    give_back(s, e);
    return ok;
}

/* No token: true unless the key is paused. Changes nothing and adds no key. */
static bool
allow_none(seine_keyed *k, seine_view key, seine_time now)
{
    sn_key_lookup q = sn_key_table_seek(&k->tab, key);

    pthread_mutex_lock(&q.shard->lock);
    entry *e = sn_key_table_find(&k->tab, &q);
    if (e && e->big)
        return allow_big(q.shard, e, now, 0);
    pthread_mutex_unlock(&q.shard->lock);
    return true;
}

/* Under the lock, on an entry of the common rate. */
static bool
take_tokens(const seine_keyed *k, entry *e, seine_time now, uint32_t n)
{
    seine_limiter bucket = bucket_of(k, e);
    bool ok = sn_gcra_allow(&bucket, now, n);

    e->full = bucket.full;
    ok ? e->allowed++ : e->denied++;
    return ok;
}

static bool
allow_new(seine_keyed *k, seine_view key, seine_time now, uint32_t n)
{
    visit v;
    entry *e = enter(k, key, now, &v);

    if (!e)
        return allow_overflow(k, now, n);
    bool ok;
    if (e->big) {
        ok = allow_big(v.q.shard, e, now, n);
    } else {
        ok = take_tokens(k, e, now, n);
        pthread_mutex_unlock(&v.q.shard->lock);
    }
    end_visit(&v);
    return ok;
}

bool
seine_keyed_allow(seine_keyed *k, seine_view key, seine_time now, uint32_t n)
{
    if (!k)
        return true;
    if (n == 0)
        return allow_none(k, key, now);

    /* A key that is there needs nothing but its entry. */
    sn_key_lookup q = sn_key_table_seek(&k->tab, key);
    sn_key_shard *s = q.shard;
    pthread_mutex_lock(&s->lock);
    entry *e = sn_key_table_find(&k->tab, &q);
    if (!e) {
        pthread_mutex_unlock(&s->lock);
        return allow_new(k, key, now, n);
    }
    s->latest = sn_time_max(s->latest, now);
    if (e->big)
        return allow_big(s, e, now, n);
    bool ok = take_tokens(k, e, now, n);
    pthread_mutex_unlock(&s->lock);
    return ok;
}

/* Decides for a key that has no place in the table. */
static seine_err
reserve_overflow(seine_keyed *k, seine_time now, int64_t n, seine_time latest,
                 seine_grant *out_grant)
{
    if (k->opts.overflow == SEINE_OVERFLOW_SHARED)
        return seine_shared_reserve(k->overflow, now, n, latest, out_grant);
    if (k->opts.overflow == SEINE_OVERFLOW_ALLOW)
        return seine_shared_reserve(NULL, now, n, latest, out_grant);
    if (out_grant)
        *out_grant = (seine_grant){k->opts.each.burst, 0, k->every, k->depth, 0};
    return SEINE_E_LIMITED;
}

/* Under the lock, on an entry of the common rate; also says why. */
static seine_err
reserve_entry(const seine_keyed *k, entry *e, seine_time now, int64_t n,
              seine_time latest, seine_grant *out_grant)
{
    seine_limiter bucket = bucket_of(k, e);
    seine_time at = SEINE_NEVER;
    seine_err r = SEINE_E_RANGE;

    if (n <= k->opts.each.burst) {
        bool ok = seine_limiter_reserve(&bucket, now, (uint32_t)n, latest, &at);

        ok ? e->allowed++ : e->denied++;
        e->full = bucket.full;
        r = ok ? SEINE_OK : SEINE_E_LIMITED;
        if (!ok)
            at = seine_limiter_when(&bucket, now, (uint32_t)n);
    }
    if (out_grant) {
        sn_grant_fill(out_grant, &bucket, now);
        out_grant->retry_after = at == SEINE_NEVER ? SEINE_NEVER : sn_time_sub(at, now);
    }
    return r;
}

seine_err
seine_keyed_try(seine_keyed *k, seine_view key, seine_time now, int64_t n,
                seine_grant *out_grant)
{
    return seine_keyed_reserve(k, key, now, n, now, out_grant);
}

seine_err
seine_keyed_reserve(seine_keyed *k, seine_view key, seine_time now, int64_t n,
                    seine_time latest, seine_grant *out_grant)
{
    visit v;
    seine_err r;

    if (!k || n < 1)
        return seine_shared_reserve(NULL, now, n, latest, out_grant);
    entry *e = enter(k, key, now, &v);
    if (!e)
        return reserve_overflow(k, now, n, latest, out_grant);
    if (!e->big) {
        r = reserve_entry(k, e, now, n, latest, out_grant);
        leave(&v);
        return r;
    }
    seine_shared *lim = borrow(e);
    leave(&v);
    r = seine_shared_reserve(lim, now, n, latest, out_grant);
    give_back(v.q.shard, e);
    return r;
}

/* The key's entry with its shard locked; NULL, and nothing locked: it has none. */
static entry *
lock_known(const seine_keyed *k, seine_view key, sn_key_shard **out_shard)
{
    sn_key_lookup q = sn_key_table_seek(&k->tab, key);

    *out_shard = q.shard;
    pthread_mutex_lock(&q.shard->lock);
    entry *e = sn_key_table_find(&k->tab, &q);
    if (!e)
        pthread_mutex_unlock(&q.shard->lock);
    return e;
}

/* A key without an entry may have been served by the overflow bucket. */
static seine_shared *
overflow_of(const seine_keyed *k)
{
    return k->opts.overflow == SEINE_OVERFLOW_SHARED ? k->overflow : NULL;
}

bool
seine_keyed_undo(seine_keyed *k, seine_view key, seine_time mark, uint32_t n)
{
    sn_key_shard *s;
    bool ok;

    if (!k)
        return true;
    entry *e = lock_known(k, key, &s);
    if (!e)
        return overflow_of(k) && seine_shared_undo(k->overflow, mark, n);
    if (e->big) {
        seine_shared *lim = borrow(e);

        pthread_mutex_unlock(&s->lock);
        ok = seine_shared_undo(lim, mark, n);
        give_back(s, e);
        return ok;
    }
    seine_limiter bucket = bucket_of(k, e);
    ok = seine_limiter_undo(&bucket, mark, n);
    e->full = bucket.full;
    pthread_mutex_unlock(&s->lock);
    return ok;
}

void
sn_keyed_give_back(seine_keyed *k, seine_view key, seine_time now, seine_time mark,
                   uint32_t n)
{
    sn_key_shard *s;

    if (!k)
        return;
    entry *e = lock_known(k, key, &s);
    if (!e) {
        sn_shared_give_back(overflow_of(k), now, mark, n);
    } else if (e->big) {
        seine_shared *lim = borrow(e);

        pthread_mutex_unlock(&s->lock);
        sn_shared_give_back(lim, now, mark, n);
        give_back(s, e);
    } else {
        e->full = sn_gcra_returned(e->full, mark, sn_time_mul(k->every, n), now);
        pthread_mutex_unlock(&s->lock);
    }
}

void
seine_keyed_reset(seine_keyed *k, seine_view key, seine_time now)
{
    sn_key_shard *s;

    if (!k)
        return;
    entry *e = lock_known(k, key, &s);
    if (!e)
        return;
    if (e->big) {
        seine_shared *lim = borrow(e);

        pthread_mutex_unlock(&s->lock);
        seine_shared_reset(lim, now);
        give_back(s, e);
    } else {
        e->full = sn_time_min(e->full, now);
        pthread_mutex_unlock(&s->lock);
    }
}

/* Makes a full `big` of the common rate, private to the caller. */
static seine_err
big_new(const seine_keyed *k, big **out_big)
{
    seine_shared_opts opts = {sizeof(seine_shared_opts), k->opts.each, SEINE_FULL,
                              k->opts.max_waiters};
    big *b = sn_zalloc(sizeof *b);

    if (!b || seine_shared_new(&opts, 0, &b->lim) != SEINE_OK) {
        sn_free(b);
        return SEINE_E_NOMEM;
    }
    *out_big = b;
    return SEINE_OK;
}

/* Under the lock: gives the entry the spare `big` unless it has one. */
static bool
upgrade(seine_keyed *k, entry *e, big **spare)
{
    if (e->big)
        return true;
    if (!sn_key_table_take_extra(&k->tab, BIG_BYTES))
        return false;
    sn_shared_restore((*spare)->lim, e->full);
    e->big = SN_STEAL(*spare);
    return true;
}

/* Finds or makes the key's entry and its `big`, and borrows the `big`. FULL, NOMEM. */
static seine_err
borrow_big(seine_keyed *k, seine_view key, seine_time now, bool pin, visit *out_visit,
           entry **out_entry)
{
    big *spare = NULL;
    seine_err r = big_new(k, &spare);

    if (r != SEINE_OK)
        return r;
    entry *e = enter(k, key, now, out_visit);
    r = SEINE_E_FULL;
    if (e) {
        if (upgrade(k, e, &spare)) {
            borrow(e);
            e->big->pinned |= pin;
            *out_entry = e;
            r = SEINE_OK;
        }
        leave(out_visit);
    }
    big_free(spare);
    return r;
}

static seine_err
wait_overflow(seine_keyed *k, seine_ctx *ctx, int64_t n, seine_span max_wait,
              seine_time *out_mark)
{
    if (k->opts.overflow == SEINE_OVERFLOW_DENY)
        return SEINE_E_LIMITED;
    return sn_shared_wait(overflow_of(k), ctx, n, max_wait, out_mark);
}

/* Waits in the queue of the key's `big`. */
static seine_err
wait_big(seine_keyed *k, seine_ctx *ctx, seine_view key, int64_t n, seine_span max_wait,
         seine_time *out_mark)
{
    seine_clock *clock = seine_ctx_clock(ctx);
    entry *e;
    visit v;

    seine_err r = borrow_big(k, key, clock->now(clock), false, &v, &e);
    if (r == SEINE_E_FULL)
        return wait_overflow(k, ctx, n, max_wait, out_mark);
    if (r != SEINE_OK)
        return r;
    r = sn_shared_wait(e->big->lim, ctx, n, max_wait, out_mark);
    give_back(v.q.shard, e);
    return r;
}

seine_err
seine_keyed_wait(seine_keyed *k, seine_ctx *ctx, seine_view key, int64_t n,
                 seine_span max_wait)
{
    seine_time mark;

    return sn_keyed_wait(k, ctx, key, n, max_wait, &mark);
}

seine_err
sn_keyed_wait(seine_keyed *k, seine_ctx *ctx, seine_view key, int64_t n,
              seine_span max_wait, seine_time *out_mark)
{
    if (!ctx || n < 1 || max_wait < 0)
        return SEINE_E_INVAL;
    seine_clock *clock = seine_ctx_clock(ctx);
    seine_time now = clock->now(clock);
    seine_err r = seine_ctx_err(ctx, now);
    visit v;

    if (!k || r != SEINE_OK)
        return r;

    /* Most waits end at once, without a queue and without the heap. */
    entry *e = enter(k, key, now, &v);
    if (!e)
        return wait_overflow(k, ctx, n, max_wait, out_mark);
    r = SEINE_E_LIMITED;
    if (!e->big) {
        seine_limiter bucket = bucket_of(k, e);

        if (n > k->opts.each.burst) {
            r = SEINE_E_RANGE;
        } else if (sn_gcra_allow(&bucket, now, (uint32_t)n)) {
            e->full = *out_mark = bucket.full;
            e->allowed++;
            r = SEINE_OK;
        }
    }
    leave(&v);
    return r == SEINE_E_LIMITED ? wait_big(k, ctx, key, n, max_wait, out_mark) : r;
}

seine_err
seine_keyed_set_rate(seine_keyed *k, seine_view key, seine_time now,
                     const seine_rate *rate)
{
    seine_err r = seine_shared_set_rate(NULL, now, rate);
    entry *e;
    visit v;

    if (!k || r != SEINE_OK)
        return r;
    r = borrow_big(k, key, now, true, &v, &e);
    if (r != SEINE_OK)
        return r;
    seine_err set = seine_shared_set_rate(e->big->lim, now, rate);
    give_back(v.q.shard, e);
    return set;
}

seine_err
seine_keyed_pause(seine_keyed *k, seine_view key, seine_time until)
{
    entry *e;
    visit v;

    if (!k)
        return SEINE_OK;
    seine_err r = borrow_big(k, key, SN_LONG_AGO, false, &v, &e);
    if (r != SEINE_OK)
        return r;
    seine_shared_pause(e->big->lim, until);
    give_back(v.q.shard, e);
    return SEINE_OK;
}

void
seine_keyed_forget(seine_keyed *k, seine_view key)
{
    if (!k)
        return;
    visit v = {.q = sn_key_table_seek(&k->tab, key)};

    pthread_mutex_lock(&v.q.shard->lock);
    entry *e = sn_key_table_find(&k->tab, &v.q);
    bool used = e && e->big && e->big->refs > 0;
    if (used) {
        borrow(e);
        e->big->pinned = false;
        e->allowed = e->denied = 0;
    } else if (e) {
        drop_entry(k, v.q.shard, e, &v);
    }
    leave(&v);

    if (used) {
        sn_shared_renew(e->big->lim, &k->opts.each);
        give_back(v.q.shard, e);
    }
}

/* Enters with the shard locked; unlocks it. */
static void
unlock_stats(const seine_keyed *k, sn_key_shard *s, entry *e, seine_time now,
             seine_limiter_stats *out)
{
    uint64_t allowed = e->allowed, denied = e->denied;

    if (e->big) {
        seine_shared *lim = borrow(e);

        pthread_mutex_unlock(&s->lock);
        seine_shared_stats_get(lim, now, out);
        out->allowed += allowed;
        out->denied += denied;
        give_back(s, e);
        return;
    }
    seine_span missing = e->full > now ? sn_time_sub(e->full, now) : 0;
    pthread_mutex_unlock(&s->lock);

    *out = (seine_limiter_stats){
        .capacity = k->opts.each.burst,
        .refill_rate = (double)k->opts.each.count * 1e9 / (double)k->opts.each.per,
        .allowed = allowed,
        .denied = denied,
    };
    if (missing < k->depth)
        out->tokens = (double)(k->depth - missing) / (double)k->every;
}

seine_err
seine_keyed_stats_get(const seine_keyed *k, seine_view key, seine_time now,
                      seine_limiter_stats *out_stats)
{
    sn_key_shard *s;

    if (!out_stats)
        return SEINE_E_INVAL;
    entry *e = k ? lock_known(k, key, &s) : NULL;
    if (!e)
        return SEINE_E_UNKNOWN;
    unlock_stats(k, s, e, now, out_stats);
    return SEINE_OK;
}

/* The key that `each` passes on, in memory that grows with the longest key. */
typedef struct shown {
    char *bytes;
    size_t cap, len;
} shown;

static bool
show(const seine_keyed *k, sn_key_shard *s, uint32_t number, seine_time now, shown *key,
     seine_limiter_stats *out_stats)
{
    for (;;) {
        pthread_mutex_lock(&s->lock);
        entry *e = sn_key_table_at(&k->tab, s, number);
        if (!e) {
            pthread_mutex_unlock(&s->lock);
            return false;
        }
        seine_view full = sn_key_table_key(e);
        key->len = full.len;
        if (full.len <= key->cap) {
            if (full.len)
                memcpy(key->bytes, full.ptr, full.len);
            unlock_stats(k, s, e, now, out_stats);
            return true;
        }
        pthread_mutex_unlock(&s->lock);

        char *more = sn_realloc(key->bytes, full.len);
        if (!more)
            return false;
        key->bytes = more;
        key->cap = full.len;
    }
}

size_t
seine_keyed_each(const seine_keyed *k, seine_time now, seine_keyed_fn fn, void *arg)
{
    shown key = {0};
    size_t visited = 0;
    bool on = true;

    for (unsigned i = 0; k && fn && on && i < sn_key_table_shards(&k->tab); i++) {
        sn_key_shard *s = &k->tab.shards[i];

        pthread_mutex_lock(&s->lock);
        uint32_t high = s->high;
        pthread_mutex_unlock(&s->lock);
        for (uint32_t j = 0; on && j < high; j++) {
            seine_limiter_stats stats;

            if (show(k, s, j, now, &key, &stats)) {
                visited++;
                on = fn((seine_view){key.bytes, key.len}, &stats, arg);
            }
        }
    }
    sn_free(key.bytes);
    return visited;
}

/* Copies the debts of up to `DEBTS` entries from number *at on, under one lock. */
enum { DEBTS = 64 };

typedef struct debt {
    seine_time full;
    uint8_t len;
    char key[SN_KEYED_DEBT_KEY];
} debt;

static size_t
copy_debts(const seine_keyed *k, sn_key_shard *s, seine_time now, uint32_t *at,
           debt out[DEBTS])
{
    size_t n = 0;

    pthread_mutex_lock(&s->lock);
    for (uint32_t end = *at + DEBTS; *at < s->high && *at < end; ++*at) {
        const entry *e = sn_key_table_at(&k->tab, s, *at);

        if (!e || e->big || e->full <= now)
            continue;
        seine_view key = sn_key_table_key(e);
        if (key.len > SN_KEYED_DEBT_KEY)
            continue;
        out[n].full = e->full;
        out[n].len = (uint8_t)key.len;
        memcpy(out[n++].key, key.ptr, key.len);
    }
    bool more = *at < s->high;
    pthread_mutex_unlock(&s->lock);
    if (!more)
        *at = UINT32_MAX;
    return n;
}

bool
sn_keyed_debts(const seine_keyed *k, seine_time now, sn_keyed_debt_fn fn, void *arg)
{
    debt some[DEBTS];

    for (unsigned i = 0; k && i < sn_key_table_shards(&k->tab); i++)
        for (uint32_t at = 0; at != UINT32_MAX;) {
            size_t n = copy_debts(k, &k->tab.shards[i], now, &at, some);

            for (size_t j = 0; j < n; j++)
                if (!fn((seine_view){some[j].key, some[j].len}, some[j].full, arg))
                    return false;
        }
    return true;
}

seine_err
sn_keyed_owe(seine_keyed *k, seine_view key, seine_time now, seine_time full)
{
    visit v;

    if (!k || full <= now)
        return SEINE_OK;
    entry *e = enter(k, key, now, &v);
    if (!e)
        return SEINE_E_FULL;
    if (!e->big)
        e->full = sn_time_max(e->full, full);
    leave(&v);
    return SEINE_OK;
}

seine_time
sn_keyed_overflow_full(const seine_keyed *k)
{
    return sn_shared_full(k->overflow);
}

void
sn_keyed_overflow_owe(seine_keyed *k, seine_time full)
{
    if (full > sn_shared_full(k->overflow))
        sn_shared_restore(k->overflow, full);
}

size_t
seine_keyed_sweep(seine_keyed *k, seine_time now, size_t max_steps)
{
    size_t dropped = 0;

    for (unsigned i = 0; k && i < sn_key_table_shards(&k->tab) && max_steps > 0; i++) {
        unsigned turn = k->turn++ % sn_key_table_shards(&k->tab);
        sn_key_shard *s = &k->tab.shards[turn];
        visit v = {.q = {.shard = s}};

        pthread_mutex_lock(&s->lock);
        size_t steps = s->high < max_steps ? s->high : max_steps;
        dropped += reap(k, s, now, steps, SIZE_MAX, &v);
        leave(&v);
        max_steps -= steps;
    }
    return dropped;
}

void
seine_keyed_totals_get(const seine_keyed *k, seine_keyed_totals *out_totals)
{
    seine_keyed_totals sum = {0};

    if (!out_totals)
        return;
    for (unsigned i = 0; k && i < sn_key_table_shards(&k->tab); i++) {
        sn_key_shard *s = &k->tab.shards[i];

        pthread_mutex_lock(&s->lock);
        sum.keys += s->n;
        sum.created += s->created;
        sum.expired += s->removed;
        pthread_mutex_unlock(&s->lock);
    }
    if (k) {
        sum.bytes = sum.keys * sizeof(entry) + k->tab.extra;
        sum.overflowed = k->overflowed;
    }
    *out_totals = sum;
}
