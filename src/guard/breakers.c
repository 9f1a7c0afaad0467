/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/breakers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/rng.h"
#include "base/time.h"
#include "guard/breaker.h"
#include "guard/waiter.h"

/*
 * The hash of a key, under a secret seed, picks a shard and a bucket in it. The shard's
 * mutex protects everything in the shard. No thread holds two of these mutexes, and none
 * allocates, frees or calls back under one. `slots` counts the rights to an entry: a
 * thread that wants to insert takes a free slot, or evicts an entry and takes over its
 * slot, before it locks the shard of its own key. So there are never more than max_keys.
 *
 * Each shard publishes two times: when its least recently used idle entry was last used,
 * and the earliest end of an open time. A thread that needs room reads both of all
 * shards and locks only the best shard.
 */

#define MAX_SHARDS     64
#define KEYS_PER_SHARD 1024
#define MAX_BUCKETS    ((size_t)1 << 18) /* per shard; beyond it chains grow */
#define BATCH          32
#define OVERFLOWED     0x80000000u /* in permit.id: granted by the overflow breaker */

typedef struct link {
    struct link *prev, *next;
} link;

typedef struct entry {
    link link; /* first member: in `idle`, in `open`, or in neither (next is NULL) */
    struct entry *chain;
    uint64_t hash;
    uint64_t born;   /* its first generation */
    seine_time used; /* time of the last use, by the callers' clock */
    uint32_t out;    /* permits that are not settled */
    uint32_t pins;   /* walks that look at it */
    bool is_gone;    /* evicted; the last walk frees it */
    seine_breaker breaker;
    size_t len;
    char key[];
} entry;

typedef struct bucket {
    entry *chain; /* newest first */
} bucket;

typedef struct shard {
    _Alignas(64) pthread_mutex_t lock;
    bucket *buckets;
    size_t mask;
    uint64_t top;     /* highest generation ever used here */
    link idle, open;  /* least recently used first */
    sn_waitq waiters; /* of seine_breakers_wait; `want` is the hash, `granted`: told */
    _Atomic seine_time idle_since, open_until; /* earliest of each list, or NEVER */
} shard;

struct seine_breakers {
    seine_breaker_opts opts;
    uint64_t seed[2];
    uint32_t max_keys, shard_count;
    shard *shards;
    bucket *buckets;
    size_t bucket_bytes;
    atomic_uint slots;   /* entries, and rights that insertions hold */
    atomic_uint waiting; /* threads in seine_breakers_wait */
    _Atomic uint64_t seq;
    _Atomic uint64_t overflowed;
    pthread_mutex_t overflow_lock;
    seine_breaker overflow;
};

static const seine_view no_key; /* of the overflow breaker */

static void
push_link(link *list, link *l)
{
    l->prev = list->prev;
    l->next = list;
    list->prev->next = l;
    list->prev = l;
}

static void
pull(link *l)
{
    if (!l->next)
        return;
    l->prev->next = l->next;
    l->next->prev = l->prev;
    l->next = NULL;
}

static entry *
first(const link *list)
{
    return list->next == list ? NULL : (entry *)(void *)list->next;
}

static size_t
power_above(size_t n)
{
    size_t p = 1;

    while (p < n)
        p *= 2;
    return p;
}

static void
shard_init(shard *s, bucket *buckets, size_t n)
{
    s->lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    s->buckets = buckets;
    s->mask = n - 1;
    s->idle = (link){&s->idle, &s->idle};
    s->open = (link){&s->open, &s->open};
    atomic_init(&s->idle_since, SEINE_NEVER);
    atomic_init(&s->open_until, SEINE_NEVER);
}

seine_err
seine_breakers_new(const seine_breaker_opts *opts, uint32_t max_keys,
                   seine_breakers **out_breakers)
{
    if (max_keys == 0 || !out_breakers)
        return SEINE_E_INVAL;
    seine_breakers *r SN_AUTOFREE = sn_zalloc(sizeof *r);
    if (!r)
        return SEINE_E_NOMEM;
    seine_err e = seine_breaker_init(&r->overflow, opts);
    if (e != SEINE_OK)
        return e;

    size_t shards = power_above(max_keys / KEYS_PER_SHARD);
    if (shards > MAX_SHARDS)
        shards = MAX_SHARDS;
    size_t buckets = power_above(max_keys / shards);
    if (buckets > MAX_BUCKETS)
        buckets = MAX_BUCKETS;

    r->opts = *opts;
    r->overflow.opts = &r->opts;
    r->overflow_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    sn_rng_secret(r->seed, sizeof r->seed);
    r->max_keys = max_keys;
    r->shard_count = (uint32_t)shards;
    r->bucket_bytes = shards * buckets * sizeof *r->buckets;
    r->buckets = sn_pages(r->bucket_bytes);
    r->shards = sn_zalloc_line(shards * sizeof *r->shards);
    if (!r->buckets || !r->shards) {
        sn_pages_free(r->buckets, r->bucket_bytes);
        sn_free_line(r->shards);
        seine_breaker_fini(&r->overflow);
        return SEINE_E_NOMEM;
    }
    for (size_t i = 0; i < shards; i++)
        shard_init(&r->shards[i], r->buckets + i * buckets, buckets);
    *out_breakers = SN_STEAL(r);
    return SEINE_OK;
}

static void
entry_free(entry *e)
{
    seine_breaker_fini(&e->breaker);
    sn_free(e);
}

void
seine_breakers_free(seine_breakers *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->shard_count; i++) {
        shard *s = &r->shards[i];

        for (size_t b = 0; b <= s->mask; b++) {
            for (entry *e = s->buckets[b].chain, *next; e; e = next) {
                next = e->chain;
                entry_free(e);
            }
        }
        pthread_mutex_destroy(&s->lock);
    }
    pthread_mutex_destroy(&r->overflow_lock);
    seine_breaker_fini(&r->overflow);
    sn_pages_free(r->buckets, r->bucket_bytes);
    sn_free_line(r->shards);
    sn_free(r);
}

static entry *
entry_new(const seine_breakers *r, uint64_t hash, seine_view key)
{
    size_t room;

    if (__builtin_add_overflow(sizeof(entry), key.len, &room))
        return NULL;
    entry *e = sn_zalloc(room);
    if (!e)
        return NULL;
    if (seine_breaker_init(&e->breaker, &r->opts) != SEINE_OK) {
        sn_free(e);
        return NULL;
    }
    e->hash = hash;
    e->len = key.len;
    if (key.len > 0)
        memcpy(e->key, key.ptr, key.len);
    return e;
}

static seine_view
key_of(const entry *e)
{
    return (seine_view){e->key, e->len};
}

/* An absent key is the empty one. */
static inline seine_view
sound(seine_view key)
{
    return key.ptr ? key : no_key;
}

static inline uint64_t
hash_of(const seine_breakers *r, seine_view key)
{
    return sn_siphash(r->seed, key.ptr, key.len);
}

/* The high bits pick the shard, the low bits the bucket. */
static inline shard *
shard_of(const seine_breakers *r, uint64_t hash)
{
    return &r->shards[(hash >> 58) & (r->shard_count - 1)];
}

static entry *
find_entry(const shard *s, uint64_t hash, seine_view key)
{
    entry *e = s->buckets[hash & s->mask].chain;

    while (e && !(e->hash == hash && e->len == key.len &&
                  (key.len == 0 || memcmp(e->key, key.ptr, key.len) == 0)))
        e = e->chain;
    return e;
}

static void
publish(shard *s)
{
    const entry *oldest = first(&s->idle);

    atomic_store_explicit(&s->idle_since, oldest ? oldest->used : SEINE_NEVER,
                          memory_order_relaxed);
}

static void
raise_top(shard *s, const entry *e)
{
    uint64_t generation = sn_breaker_generation(&e->breaker);

    if (generation > s->top)
        s->top = generation;
}

/* Moves a used entry to the list it belongs to now. */
static void
place_entry(shard *s, entry *e, seine_time now)
{
    seine_time until = sn_breaker_open_until(&e->breaker);

    raise_top(s, e);
    pull(&e->link);
    e->used = sn_time_min(now, SEINE_NEVER - 1); /* NEVER would mean "none" */
    if (e->out == 0 && sn_breaker_is_idle(&e->breaker)) {
        push_link(&s->idle, &e->link);
    } else if (until != SEINE_NEVER) {
        push_link(&s->open, &e->link);
        if (until < atomic_load_explicit(&s->open_until, memory_order_relaxed))
            atomic_store_explicit(&s->open_until, until, memory_order_relaxed);
    }
    publish(s);
}

static void
insert(shard *s, entry *e)
{
    bucket *b = &s->buckets[e->hash & s->mask];

    e->born = s->top + 1;
    sn_breaker_set_generation(&e->breaker, e->born);
    e->chain = b->chain;
    b->chain = e;
}

/* Removes an entry; returns it when it can be freed now. */
static entry *
evict(shard *s, entry *e)
{
    entry **at = &s->buckets[e->hash & s->mask].chain;

    while (*at != e)
        at = &(*at)->chain;
    *at = e->chain;
    pull(&e->link);
    publish(s);
    e->is_gone = true;
    return e->pins == 0 ? e : NULL;
}

/* The least recently used open entry whose open time has ended. Entries leave the list
 * without a search for the next earliest, so the published time may be too early; a
 * search that finds nothing corrects it here. */
static entry *
first_overdue(shard *s, seine_time now)
{
    seine_time earliest = SEINE_NEVER;

    for (link *l = s->open.next; l != &s->open; l = l->next) {
        entry *e = (entry *)(void *)l;
        seine_time until = sn_breaker_open_until(&e->breaker);

        if (until <= now)
            return e;
        earliest = sn_time_min(earliest, until);
    }
    atomic_store_explicit(&s->open_until, earliest, memory_order_relaxed);
    return NULL;
}

/* The shard that publishes the earliest time; NULL if all publish NEVER. */
static shard *
earliest_shard(const seine_breakers *r, bool open, seine_time *out_when)
{
    shard *best = NULL;

    *out_when = SEINE_NEVER;
    for (uint32_t i = 0; i < r->shard_count; i++) {
        shard *s = &r->shards[i];
        seine_time when = atomic_load_explicit(open ? &s->open_until : &s->idle_since,
                                               memory_order_relaxed);

        if (when < *out_when) {
            *out_when = when;
            best = s;
        }
    }
    return best;
}

/* Is there an entry that may be evicted? With `take` it is evicted and the caller gets
 * its slot. The entry of the caller's own key, which another thread may have made
 * meanwhile, is never evicted: then the result is no. Idle entries go first, then open
 * ones whose time has ended. The loops end, because a shard whose published time was too
 * early has corrected it before it is unlocked. */
static bool
find_room(const seine_breakers *r, uint64_t hash, seine_time now, bool take)
{
    seine_time when;
    shard *s;

    for (int open = 0; open <= 1; open++) {
        while ((s = earliest_shard(r, open, &when)) != NULL && (!open || when <= now)) {
            pthread_mutex_lock(&s->lock);
            entry *e = open ? first_overdue(s, now) : first(&s->idle);
            bool own = e && take && e->hash == hash;
            entry *garbage = e && take && !own ? evict(s, e) : NULL;
            pthread_mutex_unlock(&s->lock);
            if (garbage)
                entry_free(garbage);
            if (e)
                return !own;
        }
    }
    return false;
}

static bool
has_room(const seine_breakers *r, seine_time now)
{
    return atomic_load_explicit(&r->slots, memory_order_relaxed) < r->max_keys ||
           find_room(r, 0, now, false);
}

static bool
take_slot(seine_breakers *r, uint64_t hash, seine_time now)
{
    unsigned n = atomic_load_explicit(&r->slots, memory_order_relaxed);

    while (n < r->max_keys) {
        if (atomic_compare_exchange_weak_explicit(
                &r->slots, &n, n + 1, memory_order_relaxed, memory_order_relaxed))
            return true;
    }
    return find_room(r, hash, now, true);
}

static bool
is_there(shard *s, uint64_t hash, seine_view key)
{
    pthread_mutex_lock(&s->lock);
    bool there = find_entry(s, hash, key) != NULL;
    pthread_mutex_unlock(&s->lock);
    return there;
}

/* Finds or makes the key's entry. With an entry the shard is locked. OK without an entry:
 * there is no room. */
static seine_err
lock_entry(seine_breakers *r, uint64_t hash, seine_view key, seine_time now,
           entry **out_entry)
{
    shard *s = shard_of(r, hash);

    for (;;) {
        pthread_mutex_lock(&s->lock);
        *out_entry = find_entry(s, hash, key);
        if (*out_entry)
            return SEINE_OK;
        pthread_mutex_unlock(&s->lock);

        if (!has_room(r, now))
            return SEINE_OK;
        entry *fresh = entry_new(r, hash, key);
        if (!fresh)
            return SEINE_E_NOMEM;
        if (!take_slot(r, hash, now)) {
            entry_free(fresh);
            if (is_there(s, hash, key))
                continue;
            return SEINE_OK;
        }
        pthread_mutex_lock(&s->lock);
        if (!find_entry(s, hash, key)) {
            insert(s, fresh);
            *out_entry = fresh;
            return SEINE_OK;
        }
        /* Another thread inserted the key first. */
        pthread_mutex_unlock(&s->lock);
        atomic_fetch_sub_explicit(&r->slots, 1, memory_order_relaxed);
        entry_free(fresh);
    }
}

/* Runs under the lock of the breaker that changed, so that its changes are numbered in
 * order. */
static void
number_change(seine_breakers *r, sn_change *change)
{
    if (change->from != change->to)
        change->seq = atomic_fetch_add_explicit(&r->seq, 1, memory_order_relaxed) + 1;
}

static seine_err
acquire_overflow(seine_breakers *r, seine_time now, seine_permit *out_permit)
{
    sn_change change = {0};

    atomic_fetch_add_explicit(&r->overflowed, 1, memory_order_relaxed);
    pthread_mutex_lock(&r->overflow_lock);
    seine_err err = sn_breaker_acquire(&r->overflow, now, false, out_permit, &change);
    number_change(r, &change);
    pthread_mutex_unlock(&r->overflow_lock);
    if (err == SEINE_OK)
        out_permit->id |= OVERFLOWED;
    sn_change_tell(&r->opts, no_key, &change);
    return err;
}

seine_err
seine_breakers_acquire(seine_breakers *r, seine_view key, seine_time now,
                       seine_permit *out_permit)
{
    sn_change change = {0};
    entry *e;

    if (!out_permit)
        return SEINE_E_INVAL;
    if (!r)
        return seine_breaker_acquire(NULL, now, out_permit);
    key = sound(key);
    uint64_t hash = hash_of(r, key);
    shard *s = shard_of(r, hash);
    seine_err err = lock_entry(r, hash, key, now, &e);
    if (err != SEINE_OK)
        return err;
    if (!e)
        return acquire_overflow(r, now, out_permit);

    err = sn_breaker_acquire(&e->breaker, now, false, out_permit, &change);
    e->out += err == SEINE_OK;
    number_change(r, &change);
    place_entry(s, e, now);
    pthread_mutex_unlock(&s->lock);
    sn_change_tell(&r->opts, key, &change);
    return err;
}

/* Waiters of this key look again; with hash 0 those of every key of the shard. Marks a
 * few at a time, since nobody is woken under the lock. */
static void
wake_waiters(shard *s, uint64_t hash)
{
    sn_wake wakes[BATCH];
    size_t n;

    do {
        n = 0;
        pthread_mutex_lock(&s->lock);
        for (sn_waiter *w = s->waiters.head; w && n < BATCH; w = w->next) {
            if (w->granted || (hash != 0 && w->want != hash))
                continue;
            w->granted = true;
            wakes[n++] = sn_waiter_mark(w);
        }
        pthread_mutex_unlock(&s->lock);
        for (size_t i = 0; i < n; i++)
            sn_wake_up(wakes[i]);
    } while (n == BATCH);
}

/* The overflow breaker has changed: its waiters stand in all shards. */
static void
wake_all(seine_breakers *r)
{
    for (uint32_t i = 0; atomic_load(&r->waiting) > 0 && i < r->shard_count; i++)
        wake_waiters(&r->shards[i], 0);
}

static seine_err
settle_overflow(seine_breakers *r, seine_permit *permit, seine_outcome how,
                seine_time now)
{
    sn_change change = {0};

    permit->id &= ~OVERFLOWED;
    pthread_mutex_lock(&r->overflow_lock);
    seine_err err = sn_breaker_settle(&r->overflow, permit, how, now, &change);
    number_change(r, &change);
    pthread_mutex_unlock(&r->overflow_lock);
    permit->id |= OVERFLOWED;
    wake_all(r);
    sn_change_tell(&r->opts, no_key, &change);
    return err;
}

seine_err
seine_breakers_settle(seine_breakers *r, seine_view key, seine_permit *permit,
                      seine_outcome how, seine_time now)
{
    sn_change change = {0};

    if (!permit)
        return SEINE_E_INVAL;
    if (!r)
        return seine_breaker_settle(NULL, permit, how, now);
    if (permit->id & OVERFLOWED)
        return settle_overflow(r, permit, how, now);

    key = sound(key);
    uint64_t hash = hash_of(r, key);
    shard *s = shard_of(r, hash);
    seine_err err;
    pthread_mutex_lock(&s->lock);
    entry *e = find_entry(s, hash, key);
    if (e) {
        bool is_ours = permit->generation >= e->born;

        err = sn_breaker_settle(&e->breaker, permit, how, now, &change);
        e->out -= err == SEINE_OK && is_ours && e->out > 0;
        number_change(r, &change);
        place_entry(s, e, now);
    }
    bool has_waiters = s->waiters.head != NULL;
    pthread_mutex_unlock(&s->lock);
    if (!e)
        return seine_breaker_settle(NULL, permit, how, now);
    if (has_waiters)
        wake_waiters(s, hash);
    sn_change_tell(&r->opts, key, &change);
    return err;
}

/* When a key without an entry would be admitted, and by the overflow breaker's state. */
static seine_time
when_new(seine_breakers *r, seine_time now, seine_breaker_state *out_state)
{
    sn_change change = {0};

    if (has_room(r, now))
        return now;
    pthread_mutex_lock(&r->overflow_lock);
    seine_time at = sn_breaker_when(&r->overflow, now, &change);
    *out_state = sn_breaker_state(&r->overflow);
    number_change(r, &change);
    pthread_mutex_unlock(&r->overflow_lock);
    sn_change_tell(&r->opts, no_key, &change);
    return at;
}

/* When a call with this key would be admitted, and the state that says so. */
static seine_time
look(seine_breakers *r, uint64_t hash, seine_view key, seine_time now,
     seine_breaker_state *out_state)
{
    sn_change change = {0};
    seine_time at = now;
    shard *s = shard_of(r, hash);

    pthread_mutex_lock(&s->lock);
    entry *e = find_entry(s, hash, key);
    if (e) {
        at = sn_breaker_when(&e->breaker, now, &change);
        *out_state = sn_breaker_state(&e->breaker);
        number_change(r, &change);
        if (change.from != change.to)
            place_entry(s, e, now);
    }
    pthread_mutex_unlock(&s->lock);
    if (!e)
        return when_new(r, now, out_state);
    sn_change_tell(&r->opts, key, &change);
    return at;
}

seine_time
seine_breakers_when(seine_breakers *r, seine_view key, seine_time now)
{
    seine_breaker_state state;

    key = sound(key);
    return r ? look(r, hash_of(r, key), key, now, &state) : now;
}

/* An OPEN breaker lets a probe through at a known moment; the other states that refuse
 * wait for a probe to be settled or for a reset. */
static seine_err
decide_wait(seine_ctx *ctx, seine_breaker_state state, seine_time now, seine_time when)
{
    seine_err e = seine_ctx_err(ctx, now);

    if (e == SEINE_OK && when > now && state == SEINE_BREAKER_OPEN &&
        when >= seine_ctx_deadline(ctx))
        return SEINE_E_DEADLINE;
    return e;
}

seine_err
seine_breakers_wait(seine_breakers *r, seine_ctx *ctx, seine_view key)
{
    if (!ctx)
        return SEINE_E_INVAL;
    seine_clock *clock = seine_ctx_clock(ctx);
    seine_time now = clock->now(clock);
    seine_err err = seine_ctx_err(ctx, now);
    sn_waiter w;

    if (!r || err != SEINE_OK || seine_breakers_when(r, key, now) <= now)
        return err;
    key = sound(key);
    uint64_t hash = hash_of(r, key);
    shard *s = shard_of(r, hash);
    sn_waiter_arm(&w, ctx);
    w.want = hash;
    pthread_mutex_lock(&s->lock);
    sn_waitq_push(&s->waiters, &w);
    pthread_mutex_unlock(&s->lock);
    atomic_fetch_add(&r->waiting, 1);

    for (;;) {
        seine_breaker_state state = SEINE_BREAKER_CLOSED;

        pthread_mutex_lock(&s->lock);
        w.granted = false; /* a change from here on is told again */
        pthread_mutex_unlock(&s->lock);
        now = clock->now(clock);
        seine_time when = look(r, hash, key, now, &state);
        err = decide_wait(ctx, state, now, when);
        if (err != SEINE_OK || when <= now)
            break;
        sn_waiter_park(&w, sn_time_min(when, seine_ctx_deadline(ctx)));
    }
    atomic_fetch_sub(&r->waiting, 1);
    pthread_mutex_lock(&s->lock);
    sn_waitq_remove(&s->waiters, &w);
    pthread_mutex_unlock(&s->lock);
    sn_waiter_disarm(&w, ctx);
    return err;
}

seine_err
seine_breakers_stats_get(const seine_breakers *r, seine_view key,
                         seine_breaker_stats *out_stats)
{
    if (!out_stats)
        return SEINE_E_INVAL;
    if (!r)
        return SEINE_E_UNKNOWN;
    key = sound(key);
    uint64_t hash = hash_of(r, key);
    shard *s = shard_of(r, hash);
    pthread_mutex_lock(&s->lock);
    const entry *e = find_entry(s, hash, key);
    if (e)
        seine_breaker_stats_get(&e->breaker, out_stats);
    pthread_mutex_unlock(&s->lock);
    return e ? SEINE_OK : SEINE_E_UNKNOWN;
}

seine_breaker_state
seine_breakers_state_get(const seine_breakers *r, seine_view key)
{
    seine_breaker_stats stats;

    return seine_breakers_stats_get(r, key, &stats) == SEINE_OK ? stats.state
                                                                : SEINE_BREAKER_CLOSED;
}

/* The position of a walk through a shard. Entries come and go between two locked steps,
 * but a chain keeps its order, newest first. */
typedef struct walk {
    size_t bucket;
    uint64_t born; /* of the last entry seen in this bucket */
} walk;

static entry *
next_entry(const shard *s, walk *at)
{
    for (; at->bucket <= s->mask; at->bucket++, at->born = UINT64_MAX) {
        for (entry *e = s->buckets[at->bucket].chain; e; e = e->chain) {
            if (e->born < at->born) {
                at->born = e->born;
                return e;
            }
        }
    }
    return NULL;
}

/* Some entries that stay in memory while the lock is free. Their keys never change; their
 * stats are copies. */
typedef struct handful {
    size_t n;
    entry *entries[BATCH];
    seine_breaker_stats stats[BATCH];
} handful;

static void
pin(shard *s, walk *at, handful *h)
{
    entry *e;

    h->n = 0;
    pthread_mutex_lock(&s->lock);
    while (h->n < BATCH && (e = next_entry(s, at)) != NULL) {
        e->pins++;
        seine_breaker_stats_get(&e->breaker, &h->stats[h->n]);
        h->entries[h->n++] = e;
    }
    pthread_mutex_unlock(&s->lock);
}

static void
unpin(shard *s, handful *h)
{
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < h->n; i++) {
        entry *e = h->entries[i];

        e->pins--;
        if (!(e->is_gone && e->pins == 0))
            h->entries[i] = NULL;
    }
    pthread_mutex_unlock(&s->lock);
    for (size_t i = 0; i < h->n; i++) {
        if (h->entries[i])
            entry_free(h->entries[i]);
    }
}

size_t
seine_breakers_each(const seine_breakers *r, seine_breakers_fn fn, void *arg)
{
    size_t calls = 0;
    bool more = r && fn;
    handful h;

    for (uint32_t i = 0; more && i < r->shard_count; i++) {
        walk at = {0, UINT64_MAX};

        do {
            pin(&r->shards[i], &at, &h);
            for (size_t k = 0; more && k < h.n; k++) {
                const entry *e = h.entries[k];

                calls++;
                more = fn(key_of(e), &h.stats[k], arg);
            }
            unpin(&r->shards[i], &h);
        } while (more && h.n > 0);
    }
    return calls;
}

/* A reset, unlike other uses, does not make an entry more recently used. */
static void
reset_entry(seine_breakers *r, shard *s, entry *e, sn_change *change)
{
    bool was_idle = e->out == 0 && sn_breaker_is_idle(&e->breaker);

    sn_breaker_reset(&e->breaker, change);
    number_change(r, change);
    raise_top(s, e);
    if (!was_idle)
        place_entry(s, e, e->used);
}

void
seine_breakers_reset(seine_breakers *r, seine_view key)
{
    sn_change change = {0};

    if (!r)
        return;
    key = sound(key);
    uint64_t hash = hash_of(r, key);
    shard *s = shard_of(r, hash);
    pthread_mutex_lock(&s->lock);
    entry *e = find_entry(s, hash, key);
    if (e)
        reset_entry(r, s, e, &change);
    pthread_mutex_unlock(&s->lock);
    wake_waiters(s, hash);
    sn_change_tell(&r->opts, key, &change);
}

static void
reset_shard(seine_breakers *r, shard *s)
{
    sn_change changes[BATCH];
    walk at = {0, UINT64_MAX};
    handful h;
    entry *e;

    do {
        h.n = 0;
        pthread_mutex_lock(&s->lock);
        while (h.n < BATCH && (e = next_entry(s, &at)) != NULL) {
            sn_change *change = &changes[h.n];

            reset_entry(r, s, e, change);
            if (change->from == change->to)
                continue;
            e->pins++;
            h.entries[h.n++] = e;
        }
        pthread_mutex_unlock(&s->lock);
        for (size_t i = 0; i < h.n; i++)
            sn_change_tell(&r->opts, key_of(h.entries[i]), &changes[i]);
        unpin(s, &h);
    } while (e);
}

void
seine_breakers_reset_all(seine_breakers *r)
{
    sn_change change = {0};

    if (!r)
        return;
    for (uint32_t i = 0; i < r->shard_count; i++)
        reset_shard(r, &r->shards[i]);
    pthread_mutex_lock(&r->overflow_lock);
    sn_breaker_reset(&r->overflow, &change);
    number_change(r, &change);
    pthread_mutex_unlock(&r->overflow_lock);
    wake_all(r);
    sn_change_tell(&r->opts, no_key, &change);
}

uint64_t
seine_breakers_overflowed(const seine_breakers *r)
{
    return r ? atomic_load_explicit(&r->overflowed, memory_order_relaxed) : 0;
}
