/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/scope_set.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/rng.h"

enum { FIRST_ROOM = 16 };

typedef struct entry {
    uint64_t hash;
    sn_scope_place place; /* views into what follows */
    char text[];
} entry;

_Static_assert(sizeof(entry) == 48, "scope_set.h says so");

typedef struct sn_scope_table {
    struct sn_scope_table *before; /* outgrown: somebody may still look at it */
    size_t room, count;            /* room: a power of two; count: under the lock */
    _Atomic(entry *) slots[];
} table;

void
sn_scope_set_init(sn_scope_set *p)
{
    atomic_init(&p->table, NULL);
    atomic_init(&p->depths, 0);
    sn_rng_secret(p->secret, sizeof p->secret);
    pthread_mutex_init(&p->lock, NULL);
}

void
sn_scope_set_fini(sn_scope_set *p)
{
    table *t = atomic_load(&p->table);

    for (size_t i = 0; t && i < t->room; i++)
        sn_free(atomic_load(&t->slots[i]));
    while (t) {
        table *before = t->before;

        sn_free(t);
        t = before;
    }
    atomic_store(&p->table, NULL);
    pthread_mutex_destroy(&p->lock);
}

static uint64_t
hash_name(const sn_scope_set *p, sn_str name, int32_t port)
{
    uint64_t key[2] = {p->secret[0] ^ (uint32_t)port, p->secret[1]};

    return sn_siphash(key, name.ptr, name.len);
}

/* No secret is needed here: only seeds come into the table, whoever asks. */
static uint64_t
hash_below(uint64_t hash, sn_str segment)
{
    uint64_t word;
    size_t i = 0;

    for (; i + sizeof word <= segment.len; i += sizeof word) {
        memcpy(&word, segment.ptr + i, sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    for (; i < segment.len; i++)
        hash = (hash ^ (unsigned char)segment.ptr[i]) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

/* Cuts off the next segment with its slash. False: no slash is left. */
static bool
next_segment(sn_str *rest, sn_str *out_part)
{
    size_t at = sn_str_find(*rest, '/');

    if (at == rest->len)
        return false;
    *out_part = sn_str_slice(*rest, 0, at + 1);
    *rest = sn_str_slice(*rest, at + 1, rest->len);
    return true;
}

static uint64_t
depth_bit(unsigned depth)
{
    return (uint64_t)1 << (depth < 63 ? depth : 63);
}

static bool
is_same(const entry *e, uint64_t hash, const sn_scope_place *place)
{
    return e->hash == hash && e->place.port == place->port &&
           sn_str_eq(e->place.name, place->name) && sn_str_eq(e->place.dir, place->dir);
}

/* Returns the slot of the place, or the free slot for it; the table has a free one. */
static size_t
find_slot(const table *t, uint64_t hash, const sn_scope_place *place)
{
    size_t i = hash & (t->room - 1);

    for (;; i = (i + 1) & (t->room - 1)) {
        const entry *e = atomic_load_explicit(&t->slots[i], memory_order_acquire);

        if (!e || is_same(e, hash, place))
            return i;
    }
}

static bool
has_entry(const sn_scope_set *p, uint64_t hash, const sn_scope_place *place)
{
    const table *t = atomic_load_explicit(&p->table, memory_order_acquire);

    if (!t)
        return false;
    return atomic_load_explicit(&t->slots[find_slot(t, hash, place)],
                                memory_order_acquire) != NULL;
}

bool
sn_scope_set_has(const sn_scope_set *p, const sn_scope_place *place)
{
    uint64_t hash = hash_name(p, place->name, place->port);
    sn_str rest = place->dir, part;

    while (next_segment(&rest, &part))
        hash = hash_below(hash, part);
    return has_entry(p, hash, place);
}

bool
sn_scope_set_has_above(const sn_scope_set *p, const sn_scope_place *place)
{
    uint64_t depths = atomic_load_explicit(&p->depths, memory_order_relaxed);
    uint64_t hash = hash_name(p, place->name, place->port);
    sn_str rest = place->dir, part;
    sn_scope_place above = {place->name, {place->dir.ptr, 0}, place->port};

    if (!has_entry(p, hash, &above)) /* most links lead to other hosts */
        return false;
    for (unsigned depth = 1; next_segment(&rest, &part); depth++) {
        if ((depths >> (depth < 63 ? depth : 63)) == 0)
            return false; /* all that are there are shallower */
        hash = hash_below(hash, part);
        above.dir.len = (size_t)(part.ptr + part.len - place->dir.ptr);
        if ((depths & depth_bit(depth)) && has_entry(p, hash, &above))
            return true;
    }
    return false;
}

static entry *
make_entry(const sn_scope_set *p, const sn_scope_place *place, uint64_t *out_depth)
{
    size_t name = place->name.len, dir = place->dir.len;
    entry *e = sn_alloc(sizeof *e + name + dir);
    sn_str rest, part;
    unsigned depth = 0;

    if (!e)
        return NULL;
    memcpy(e->text, place->name.ptr, name);
    if (dir > 0)
        memcpy(e->text + name, place->dir.ptr, dir);
    e->place = (sn_scope_place){{e->text, name}, {e->text + name, dir}, place->port};
    e->hash = hash_name(p, e->place.name, e->place.port);
    for (rest = e->place.dir; next_segment(&rest, &part); depth++)
        e->hash = hash_below(e->hash, part);
    *out_depth = depth_bit(depth);
    return e;
}

/* Under the lock: puts the entry in, if there is room. ALREADY: not needed. */
static seine_err
put_entry(sn_scope_set *p, entry *e)
{
    table *t = atomic_load_explicit(&p->table, memory_order_relaxed);

    if (!t)
        return SEINE_E_FULL;
    size_t i = find_slot(t, e->hash, &e->place);
    if (atomic_load_explicit(&t->slots[i], memory_order_relaxed))
        return SEINE_E_ALREADY;
    if (t->count >= t->room / 4 * 3)
        return SEINE_E_FULL;
    t->count++;
    atomic_store_explicit(&t->slots[i], e, memory_order_release);
    return SEINE_OK;
}

/* Under the lock: moves all entries into a larger table. */
static void
move_entries(sn_scope_set *p, table *to)
{
    table *from = atomic_load_explicit(&p->table, memory_order_relaxed);

    for (size_t i = 0; from && i < from->room; i++) {
        entry *e = atomic_load_explicit(&from->slots[i], memory_order_relaxed);

        if (e)
            atomic_store_explicit(&to->slots[find_slot(to, e->hash, &e->place)], e,
                                  memory_order_relaxed);
    }
    to->count = from ? from->count : 0;
    to->before = from;
    atomic_store_explicit(&p->table, to, memory_order_release);
}

/* Makes a table of twice the room outside the lock; another thread may be faster. */
static seine_err
grow_table(sn_scope_set *p)
{
    const table *old = atomic_load_explicit(&p->table, memory_order_acquire);
    size_t room = old ? old->room * 2 : FIRST_ROOM;
    table *t = sn_zalloc(sizeof *t + room * sizeof *t->slots);

    if (!t)
        return SEINE_E_NOMEM;
    t->room = room;
    pthread_mutex_lock(&p->lock);
    bool is_needed = atomic_load_explicit(&p->table, memory_order_relaxed) == old;
    if (is_needed)
        move_entries(p, t);
    pthread_mutex_unlock(&p->lock);
    if (!is_needed)
        sn_free(t);
    return SEINE_OK;
}

static seine_err
add_place(sn_scope_set *p, const sn_scope_place *place)
{
    uint64_t depth;
    entry *made = make_entry(p, place, &depth);
    seine_err e = made ? SEINE_E_FULL : SEINE_E_NOMEM;

    if (made) /* first, for those who find that it is there already */
        atomic_fetch_or_explicit(&p->depths, depth, memory_order_release);
    while (e == SEINE_E_FULL) {
        pthread_mutex_lock(&p->lock);
        e = put_entry(p, made);
        pthread_mutex_unlock(&p->lock);
        if (e == SEINE_E_FULL && (e = grow_table(p)) == SEINE_OK)
            e = SEINE_E_FULL;
    }
    if (e != SEINE_OK)
        sn_free(made);
    return e == SEINE_E_ALREADY ? SEINE_OK : e;
}

seine_err
sn_scope_set_add(sn_scope_set *p, const sn_scope_place *place)
{
    seine_err e = SEINE_OK;

    if (place->dir.len > 0)
        e = add_place(p, &(sn_scope_place){place->name, {0}, place->port});
    return e == SEINE_OK ? add_place(p, place) : e;
}
