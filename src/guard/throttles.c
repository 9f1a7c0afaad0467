/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/throttles.h"

#include <stdatomic.h>
#include <stddef.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "guard/key_table.h"

/*
 * An entry holds a key and its throttle. A dropped entry keeps its throttle, with the
 * queue that the throttle may have: a thread that has just released the last slot may
 * still look into that queue, and finds nothing or a waiter of the next key, whom it
 * serves rightly. So a slot needs no lookup when it is released.
 */

typedef struct entry {
    sn_key_head head;
    uint32_t refs; /* threads that wait; under the shard's lock */
    seine_throttle throttle;
} entry;

_Static_assert(sizeof(entry) <= 80, "throttles.h says so");

struct seine_throttles {
    sn_key_table tab;
    uint32_t permits;
    seine_throttle overflow;
    atomic_ullong overflowed;
};

seine_err
seine_throttles_new(const seine_throttles_opts *opts, seine_throttles **out_throttles)
{
    static const uint64_t no_seed[2];

    if (!out_throttles || !sn_opts_fit(opts, sizeof *opts) || opts->permits == 0 ||
        opts->max_keys == 0 || opts->max_keys > 1u << 26)
        return SEINE_E_INVAL;
    seine_throttles *r SN_AUTOFREE = sn_zalloc(sizeof *r);
    if (!r)
        return SEINE_E_NOMEM;
    seine_err e = sn_key_table_init(&r->tab, opts->max_keys, opts->max_bytes,
                                    sizeof(entry), no_seed);
    if (e == SEINE_OK)
        e = seine_throttle_init_semaphore(&r->overflow, opts->permits);
    if (e != SEINE_OK)
        return e;
    r->tab.fresh = offsetof(entry, throttle);
    r->permits = opts->permits;
    *out_throttles = SN_STEAL(r);
    return SEINE_OK;
}

void
seine_throttles_free(seine_throttles *r)
{
    if (!r)
        return;
    for (unsigned i = 0; i < sn_key_table_shards(&r->tab); i++) {
        sn_key_shard *s = &r->tab.shards[i];

        for (uint32_t j = 0; j < s->high; j++)
            seine_throttle_fini(&((entry *)sn_key_table_raw(&r->tab, s, j))->throttle);
    }
    seine_throttle_fini(&r->overflow);
    sn_key_table_fini(&r->tab);
    sn_free(r);
}

/* Reads the slots before the waiters: who leaves the queue with a slot counts as one or
 * the other at any moment. */
static bool
is_idle(const entry *e)
{
    return __atomic_load_n(&e->throttle.in_flight, __ATOMIC_SEQ_CST) == 0 && e->refs == 0;
}

/* Under the lock: looks at up to `steps` entries and drops those that are idle. */
static bool
reap(seine_throttles *r, sn_key_shard *s, uint32_t steps, sn_key_lookup *q)
{
    bool dropped = false;

    if (steps > s->high)
        steps = s->high;
    while (steps-- > 0) {
        if (s->hand >= s->high)
            s->hand = 0;
        entry *e = sn_key_table_at(&r->tab, s, s->hand++);

        if (!e || !is_idle(e))
            continue;
        sn_key_table_remove(&r->tab, s, e, q);
        dropped = true;
    }
    return dropped;
}

/* Under the lock: an entry for the key, or NULL when there is no room. */
static entry *
admit(seine_throttles *r, sn_key_lookup *q)
{
    reap(r, q->shard, 2, q);
    if (!sn_key_table_place(&r->tab, q) &&
        (!reap(r, q->shard, 64, q) || !sn_key_table_place(&r->tab, q)))
        return NULL;
    entry *e = sn_key_table_insert(&r->tab, q);
    if (!e->throttle.ops)
        (void)!seine_throttle_init_semaphore(&e->throttle, r->permits);
    return e;
}

/* Without locks: makes room in another shard. */
static bool
reap_others(seine_throttles *r, sn_key_lookup *q)
{
    bool dropped = false;

    for (unsigned i = 0; !dropped && i < sn_key_table_shards(&r->tab); i++) {
        sn_key_shard *s = &r->tab.shards[i];

        pthread_mutex_lock(&s->lock);
        dropped = s != q->shard && reap(r, s, 64, q);
        pthread_mutex_unlock(&s->lock);
    }
    return dropped;
}

/* Locks the shard and returns the key's entry, made if need be. NULL: there is no room,
 * nothing is locked, and the call is counted. */
static entry *
enter(seine_throttles *r, sn_key_lookup *q)
{
    for (int tries = 0; tries < 3; tries++) {
        pthread_mutex_lock(&q->shard->lock);
        entry *e = sn_key_table_find(&r->tab, q);
        if (!e && sn_key_lookup_is_ready(q))
            e = admit(r, q);
        if (e)
            return e;
        pthread_mutex_unlock(&q->shard->lock);
        if (!(sn_key_lookup_is_ready(q) ? reap_others(r, q) : sn_key_lookup_prepare(q)))
            break;
    }
    r->overflowed++;
    return NULL;
}

bool
seine_throttles_try(seine_throttles *r, seine_view key, seine_time now,
                    seine_slot *out_slot)
{
    if (!r || !out_slot)
        return seine_throttle_try(NULL, now, out_slot);
    sn_key_lookup q = sn_key_table_seek(&r->tab, key);
    entry *e = enter(r, &q);
    bool ok = seine_throttle_try(e ? &e->throttle : &r->overflow, now, out_slot);

    if (e)
        pthread_mutex_unlock(&q.shard->lock);
    sn_key_lookup_end(&q);
    return ok;
}

seine_err
seine_throttles_wait(seine_throttles *r, seine_ctx *ctx, seine_view key,
                     seine_slot *out_slot)
{
    if (!r || !ctx || !out_slot)
        return seine_throttle_wait(NULL, ctx, out_slot);
    seine_clock *clock = seine_ctx_clock(ctx);
    seine_time now = clock->now(clock);
    seine_err err = seine_ctx_err(ctx, now);

    if (err != SEINE_OK)
        return err;
    sn_key_lookup q = sn_key_table_seek(&r->tab, key);
    entry *e = enter(r, &q);
    seine_throttle *t = e ? &e->throttle : &r->overflow;
    bool held = seine_throttle_try(t, now, out_slot);
    if (e) {
        e->refs += !held;
        pthread_mutex_unlock(&q.shard->lock);
    }
    sn_key_lookup_end(&q);
    if (held)
        return SEINE_OK;

    err = seine_throttle_wait(t, ctx, out_slot);
    if (e) {
        pthread_mutex_lock(&q.shard->lock);
        e->refs--;
        pthread_mutex_unlock(&q.shard->lock);
    }
    return err;
}

uint32_t
seine_throttles_in_flight(const seine_throttles *r, seine_view key)
{
    if (!r)
        return 0;
    sn_key_lookup q = sn_key_table_seek(&r->tab, key);

    pthread_mutex_lock(&q.shard->lock);
    const entry *e = sn_key_table_find(&r->tab, &q);
    uint32_t n = e ? seine_throttle_in_flight(&e->throttle) : 0;
    pthread_mutex_unlock(&q.shard->lock);
    return n;
}

uint32_t
seine_throttles_keys(const seine_throttles *r)
{
    return r ? r->tab.count : 0;
}

uint64_t
seine_throttles_overflowed(const seine_throttles *r)
{
    return r ? r->overflowed : 0;
}
