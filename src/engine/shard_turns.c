/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/shard_turns.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/alloc.h"

enum { SLOTS = 2 * SN_SHARD_TURNS, SHARD = SLOTS - 1 };

_Static_assert((SLOTS & SHARD) == 0 && SHARD > 256,
               "a shard and one fit into these bits");

/* The bits of a hash that say where it stands are those of its shard and one: a slot that
 * is free is 0. Two hosts whose other bits are the same share a shard, which is no harm.
 */
struct sn_shard_turns {
    atomic_bool is_full;  /* set under the lock, with all slots behind it */
    pthread_mutex_t lock; /* of who fills a slot */
    uint32_t n;           /* hosts */
    _Atomic uint64_t slots[SLOTS];
};

seine_err
sn_shard_turns_new(sn_shard_turns **out_turns)
{
    sn_shard_turns *t = sn_zalloc(sizeof *t);

    if (!t)
        return SEINE_E_NOMEM;
    if (pthread_mutex_init(&t->lock, NULL) != 0) {
        sn_free(t);
        return SEINE_E_NOMEM;
    }
    *out_turns = t;
    return SEINE_OK;
}

void
sn_shard_turns_free(sn_shard_turns *t)
{
    if (!t)
        return;
    pthread_mutex_destroy(&t->lock);
    sn_free(t);
}

/* The slot of the hash, or the free one where it would stand. */
static uint32_t
find_slot(const sn_shard_turns *t, uint64_t hash, uint64_t *out_has)
{
    uint32_t i = hash & SHARD;

    while ((*out_has = atomic_load_explicit(&t->slots[i], memory_order_acquire)) != 0 &&
           (*out_has ^ hash) > SHARD)
        i = (i + 1) & SHARD;
    return i;
}

/* A host that was not there before: it takes its turn, if there is one. */
static uint32_t
take_turn(sn_shard_turns *t, uint64_t hash, uint32_t n)
{
    uint64_t has;

    pthread_mutex_lock(&t->lock);
    uint32_t i = find_slot(t, hash, &has); /* somebody may have been faster */
    if (has == 0 && t->n < SN_SHARD_TURNS) {
        has = (hash & ~(uint64_t)SHARD) | (t->n++ % n + 1);
        atomic_store_explicit(&t->slots[i], has, memory_order_release);
        if (t->n == SN_SHARD_TURNS)
            atomic_store_explicit(&t->is_full, true, memory_order_release);
    }
    pthread_mutex_unlock(&t->lock);
    return has != 0 ? (uint32_t)(has & SHARD) - 1 : (uint32_t)(hash % n);
}

/* Where it was full before the look, the look has seen all. */
uint32_t
sn_shard_turns_of(sn_shard_turns *t, uint64_t hash, uint32_t n)
{
    bool is_full = atomic_load_explicit(&t->is_full, memory_order_acquire);
    uint64_t has;

    find_slot(t, hash, &has);
    if (has != 0)
        return (uint32_t)(has & SHARD) - 1;
    return is_full ? (uint32_t)(hash % n) : take_turn(t, hash, n);
}
