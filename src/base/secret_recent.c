/* SPDX-License-Identifier: Apache-2.0 */
#include "base/secret_recent.h"

#include <stdatomic.h>
#include <string.h>

#include "base/alloc.h"
#include "base/rng.h"
#include "seine/secret.h"

typedef sn_recent_pattern pattern;

void
sn_recent_init(sn_recent *r)
{
    *r = (sn_recent){.oldest = NULL};
    pthread_mutex_init(&r->lock, NULL);
    sn_rng_secret(&r->secret, sizeof r->secret);
}

void
sn_recent_drop(pattern *list)
{
    for (pattern *newer; list; list = newer) {
        newer = list->newer;
        seine_wipe(list->bytes, list->len);
        sn_free(list);
    }
}

void
sn_recent_fini(sn_recent *r)
{
    sn_recent_drop(r->oldest);
    sn_free(r->slots);
    pthread_mutex_destroy(&r->lock);
}

static uint64_t
tail_of(sn_str bytes)
{
    uint64_t tail = 0;

    for (size_t i = bytes.len - SN_RECENT_TAIL; i < bytes.len; i++)
        tail = tail << 8 | (uint8_t)bytes.ptr[i];
    return tail;
}

pattern *
sn_recent_pattern_new(sn_str bytes, uint8_t flags, bool is_coded)
{
    pattern *p = sn_zalloc(sizeof *p + bytes.len);

    if (!p)
        return NULL;
    p->len = (uint32_t)bytes.len;
    p->flags = flags;
    p->is_coded = is_coded;
    memcpy(p->bytes, bytes.ptr, bytes.len);
    p->tail = tail_of(bytes);
    return p;
}

/* Servers choose the tails: they must not know which ones share a slot. */
static pattern **
slot_of(const sn_recent *r, uint64_t tail)
{
    uint64_t h = (tail ^ r->secret) * UINT64_C(0x9e3779b97f4a7c15);

    h = (h ^ h >> 29 ^ r->secret) * UINT64_C(0xbf58476d1ce4e5b9);
    return &r->slots[h >> 32 & (SN_RECENT_SLOTS - 1)];
}

static bool
is_known(const sn_recent *r, sn_str bytes)
{
    const pattern *p = sn_recent_first(r, tail_of(bytes));

    while (p && (p->is_coded || !sn_str_eq((sn_str){p->bytes, p->len}, bytes)))
        p = sn_recent_next(p);
    return p != NULL;
}

static size_t
size_of(const pattern *p)
{
    return sizeof *p + p->len;
}

static void
add(sn_recent *r, pattern *p)
{
    pattern **slot = slot_of(r, p->tail);

    p->next = *slot;
    *slot = p;
    *(r->newest ? &r->newest->newer : &r->oldest) = p;
    r->newest = p;
    r->bytes += size_of(p);
}

/* Takes the oldest out, onto the list of the dead. */
static void
take_oldest(sn_recent *r, pattern **dead)
{
    pattern *p = r->oldest, **at = slot_of(r, p->tail);

    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
    r->oldest = p->newer;
    if (!r->oldest)
        r->newest = NULL;
    r->bytes -= size_of(p);
    p->newer = *dead;
    *dead = p;
}

/* Memory is allocated before the lock is taken, and freed after. */
seine_err
sn_recent_give(sn_recent *r, pattern *give)
{
    pattern *dead = NULL;
    pattern **slots =
        sn_recent_is_empty(r) ? sn_calloc(SN_RECENT_SLOTS, sizeof *slots) : NULL;

    pthread_mutex_lock(&r->lock);
    if (!r->slots) {
        r->slots = slots;
        slots = NULL;
    }
    bool has_table = r->slots != NULL;
    if (!has_table || is_known(r, (sn_str){give->bytes, give->len})) {
        dead = give;
    } else {
        for (pattern *p = give, *newer; p; p = newer) {
            newer = p->newer;
            p->newer = NULL;
            add(r, p);
        }
        while (r->bytes > SN_RECENT_BYTES)
            take_oldest(r, &dead);
        atomic_store(&r->has_any, true);
    }
    pthread_mutex_unlock(&r->lock);
    sn_free(slots);
    sn_recent_drop(dead);
    return has_table ? SEINE_OK : SEINE_E_NOMEM;
}

bool
sn_recent_has(sn_recent *r, sn_str bytes)
{
    pthread_mutex_lock(&r->lock);
    bool has = is_known(r, bytes);
    pthread_mutex_unlock(&r->lock);
    return has;
}

bool
sn_recent_is_empty(const sn_recent *r)
{
    return !atomic_load_explicit(&((sn_recent *)r)->has_any, memory_order_acquire);
}

void
sn_recent_begin(sn_recent *r)
{
    pthread_mutex_lock(&r->lock);
}

void
sn_recent_end(sn_recent *r)
{
    pthread_mutex_unlock(&r->lock);
}

const pattern *
sn_recent_next(const pattern *p)
{
    const pattern *next = p->next;

    while (next && next->tail != p->tail)
        next = next->next;
    return next;
}

const pattern *
sn_recent_first(const sn_recent *r, uint64_t tail)
{
    const pattern *p = r->slots ? *slot_of(r, tail) : NULL;

    while (p && p->tail != tail)
        p = p->next;
    return p;
}
