/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/rng.h"

_Static_assert(sizeof(sn_map_entry) == 32, "map.h says so");

#define SMALLEST 8 /* slots */

/*
 * Open addressing with linear probing. No empty slot stands between an entry and its home
 * slot. `take` keeps this true: it moves later entries back into the hole, so there are
 * no tombstones. At most three quarters of the slots are used, so every search meets an
 * empty slot.
 */

void
sn_map_init(sn_map *m, size_t max)
{
    *m = (sn_map){.max = max};
    sn_rng_secret(m->secret, sizeof m->secret);
}

void
sn_map_fini(sn_map *m)
{
    sn_free(m->slots);
    *m = (sn_map){0};
}

void
sn_map_reset(sn_map *m)
{
    if (m->count > 0)
        memset(m->slots, 0, m->room * sizeof *m->slots);
    m->count = 0;
}

/* The slot of the key, or the empty slot where the key belongs. */
static size_t
find_slot(const sn_map *m, sn_str key, uint64_t hash)
{
    size_t at = hash & (m->room - 1);

    while (m->slots[at].value &&
           (m->slots[at].hash != hash || !sn_str_eq(m->slots[at].key, key)))
        at = (at + 1) & (m->room - 1);
    return at;
}

static seine_err
grow_map(sn_map *m)
{
    sn_map big = *m;

    big.room = m->room > 0 ? m->room * 2 : SMALLEST;
    big.slots = sn_calloc(big.room, sizeof *big.slots);
    if (!big.slots)
        return SEINE_E_NOMEM;
    SN_MAP_EACH(entry, m) {
        big.slots[find_slot(&big, entry->key, entry->hash)] = *entry;
    }
    sn_free(m->slots);
    *m = big;
    return SEINE_OK;
}

seine_err
sn_map_add(sn_map *m, sn_str key, void *value)
{
    uint64_t hash = sn_siphash(m->secret, key.ptr, key.len);

    if (!value)
        return SEINE_E_INVAL;
    if (m->room > 0 && m->slots[find_slot(m, key, hash)].value)
        return SEINE_E_ALREADY;
    if (m->count >= m->max)
        return SEINE_E_FULL;
    if (m->count >= m->room / 4 * 3) {
        seine_err e = grow_map(m);

        if (e != SEINE_OK)
            return e;
    }
    m->slots[find_slot(m, key, hash)] = (sn_map_entry){key, value, hash};
    m->count++;
    return SEINE_OK;
}

void *
sn_map_get(const sn_map *m, sn_str key)
{
    if (m->count == 0)
        return NULL;
    return m->slots[find_slot(m, key, sn_siphash(m->secret, key.ptr, key.len))].value;
}

/* Moves entries back into the hole, and empties the slot that is left. */
static void
close_up(sn_map *m, size_t hole)
{
    size_t mask = m->room - 1;

    for (size_t at = hole; m->slots[at = (at + 1) & mask].value;) {
        size_t from_home = (at - m->slots[at].hash) & mask;

        if (from_home >= ((at - hole) & mask)) {
            m->slots[hole] = m->slots[at];
            hole = at;
        }
    }
    m->slots[hole] = (sn_map_entry){0};
}

void *
sn_map_take(sn_map *m, sn_str key)
{
    if (m->count == 0)
        return NULL;

    size_t at = find_slot(m, key, sn_siphash(m->secret, key.ptr, key.len));
    void *value = m->slots[at].value;
    if (value) {
        close_up(m, at);
        m->count--;
    }
    return value;
}

const sn_map_entry *
sn_map_next(const sn_map *m, const sn_map_entry *after)
{
    size_t at = after ? (size_t)(after - m->slots) + 1 : 0;

    while (at < m->room && !m->slots[at].value)
        at++;
    return at < m->room ? &m->slots[at] : NULL;
}
