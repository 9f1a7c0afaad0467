/* SPDX-License-Identifier: Apache-2.0 */
#include "guard/key_table.h"

#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/rng.h"

#define LONG   255 /* head.len: the key is on the heap */
#define UNUSED 254 /* head.len: the entry is on the free list */
#define NUMBER 0xffffffu

static unsigned
shard_bits(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    unsigned bits = 2;

    while (bits < 8 && (1 << bits) < 4 * cores)
        bits++;
    return bits;
}

static uint32_t
root_of(uint32_t n)
{
    uint32_t r = 0;

    while ((uint64_t)(r + 1) * (r + 1) <= n)
        r++;
    return r;
}

/* Hashing spreads keys unevenly; eight standard deviations above the mean do not happen.
 */
static uint32_t
shard_cap(uint32_t max, unsigned bits)
{
    uint32_t mean = max >> bits, cap = mean + 8 * root_of(mean) + 16;

    return cap < max ? cap : max;
}

seine_err
sn_key_table_init(sn_key_table *tab, uint32_t max, size_t max_extra, size_t stride,
                  const uint64_t seed[2])
{
    unsigned bits = shard_bits(), n = 1u << bits;
    uint32_t cap = shard_cap(max, bits), slots = 16;

    if (max == 0 || cap >= NUMBER)
        return SEINE_E_INVAL;
    while (slots < 2 * cap)
        slots *= 2;
    size_t entry_bytes = (size_t)n * cap * stride;
    *tab = (sn_key_table){.bits = bits,
                          .max = max,
                          .cap = cap,
                          .mask = slots - 1,
                          .stride = stride,
                          .fresh = stride,
                          .max_extra = max_extra,
                          .bytes = entry_bytes + (size_t)n * slots * sizeof(uint32_t)};
    tab->shards = sn_zalloc_line(n * sizeof *tab->shards);
    tab->entries = tab->shards ? sn_pages(tab->bytes) : NULL;
    if (!tab->entries) {
        sn_key_table_fini(tab);
        return SEINE_E_NOMEM;
    }
    uint32_t *index = (uint32_t *)(void *)(tab->entries + entry_bytes);
    for (unsigned i = 0; i < n; i++) {
        sn_key_shard *s = &tab->shards[i];

        pthread_mutex_init(&s->lock, NULL);
        s->entries = tab->entries + (size_t)i * cap * stride;
        s->index = index + (size_t)i * slots;
        s->floor = s->latest = INT64_MIN;
    }
    if (seed[0] || seed[1])
        memcpy(tab->seed, seed, sizeof tab->seed);
    else
        sn_rng_secret(tab->seed, sizeof tab->seed);
    return SEINE_OK;
}

static sn_key_head *
head_at(const sn_key_table *tab, const sn_key_shard *s, uint32_t number)
{
    return (sn_key_head *)(void *)(s->entries + (size_t)number * tab->stride);
}

void
sn_key_table_fini(sn_key_table *tab)
{
    for (unsigned i = 0; tab->entries && i < 1u << tab->bits; i++) {
        sn_key_shard *s = &tab->shards[i];

        for (uint32_t j = 0; j < s->high; j++)
            if (head_at(tab, s, j)->len == LONG)
                sn_free(head_at(tab, s, j)->key.heap.bytes);
        pthread_mutex_destroy(&s->lock);
    }
    sn_pages_free(tab->entries, tab->bytes);
    sn_free_line(tab->shards);
    *tab = (sn_key_table){0};
}

unsigned
sn_key_table_shards(const sn_key_table *tab)
{
    return 1u << tab->bits;
}

static uint32_t
tag_of(uint64_t hash)
{
    return (uint32_t)(hash >> 32) & 0xff;
}

/* A word of the index. Only seek reads it without the lock. */
static uint32_t
word_at(const sn_key_shard *s, uint32_t slot)
{
    return __atomic_load_n(&s->index[slot], __ATOMIC_RELAXED);
}

static void
set_word(sn_key_shard *s, uint32_t slot, uint32_t word)
{
    __atomic_store_n(&s->index[slot], word, __ATOMIC_RELAXED);
}

/* Fetches the cache line of the entry that find will probably look at, while the caller
 * takes the lock. The index may change meanwhile, so this is a guess and nothing more. */
static void
fetch_early(const sn_key_table *tab, const sn_key_shard *s, uint64_t hash)
{
    uint32_t slot = (uint32_t)hash & tab->mask, word;

    for (int i = 0; i < 8 && (word = word_at(s, slot)); i++) {
        if (word >> 24 == tag_of(hash)) {
            __builtin_prefetch(head_at(tab, s, (word & NUMBER) - 1), 1);
            return;
        }
        slot = (slot + 1) & tab->mask;
    }
}

sn_key_lookup
sn_key_table_seek(const sn_key_table *tab, seine_view key)
{
    if (!key.ptr)
        key.len = 0; /* absent: the empty key */
    uint64_t hash = sn_siphash(tab->seed, key.ptr, key.len);
    sn_key_shard *s = &tab->shards[hash >> (64 - tab->bits)];

    fetch_early(tab, s, hash);
    return (sn_key_lookup){key, hash, s, 0, NULL, NULL};
}

bool
sn_key_lookup_is_ready(const sn_key_lookup *q)
{
    return q->key.len <= SN_KEY_INLINE || q->copy;
}

bool
sn_key_lookup_prepare(sn_key_lookup *q)
{
    if (sn_key_lookup_is_ready(q))
        return true;
    q->copy = sn_alloc(q->key.len);
    if (q->copy)
        memcpy(q->copy, q->key.ptr, q->key.len);
    return q->copy;
}

void
sn_key_lookup_end(sn_key_lookup *q)
{
    sn_free(SN_STEAL(q->copy));
    while (q->trash) {
        char *key = q->trash;

        memcpy(&q->trash, key, sizeof q->trash);
        sn_free(key);
    }
}

static bool
is_key(const sn_key_head *h, const sn_key_lookup *q)
{
    if (h->hash != (uint32_t)q->hash)
        return false;
    if (h->len == LONG)
        return h->key.heap.len == q->key.len &&
               memcmp(h->key.heap.bytes, q->key.ptr, q->key.len) == 0;
    return h->len == q->key.len &&
           (h->len == 0 || memcmp(h->key.bytes, q->key.ptr, h->len) == 0);
}

/* Leaves the slot in the lookup: the key's own, or the empty slot for it. */
void *
sn_key_table_find(const sn_key_table *tab, sn_key_lookup *q)
{
    uint32_t slot = (uint32_t)q->hash & tab->mask, tag = tag_of(q->hash), word;
    sn_key_head *found = NULL;

    for (; (word = word_at(q->shard, slot)); slot = (slot + 1) & tab->mask) {
        sn_key_head *h = head_at(tab, q->shard, (word & NUMBER) - 1);

        if (word >> 24 == tag && is_key(h, q)) {
            found = h;
            break;
        }
    }
    q->slot = slot;
    return found;
}

bool
sn_key_table_take_extra(sn_key_table *tab, size_t n)
{
    if (atomic_fetch_add(&tab->extra, n) + n <= tab->max_extra)
        return true;
    tab->extra -= n;
    return false;
}

bool
sn_key_table_place(sn_key_table *tab, const sn_key_lookup *q)
{
    if (q->shard->n >= tab->cap)
        return false;
    if (atomic_fetch_add(&tab->count, 1) < tab->max &&
        (!q->copy || sn_key_table_take_extra(tab, q->key.len)))
        return true;
    tab->count--;
    return false;
}

void *
sn_key_table_insert(sn_key_table *tab, sn_key_lookup *q)
{
    sn_key_shard *s = q->shard;

    sn_key_table_find(tab, q); /* removals since then may have moved the empty slot */
    uint32_t number = s->spare ? s->spare - 1 : s->high++;
    sn_key_head *h = head_at(tab, s, number);
    if (s->spare)
        s->spare = h->hash;

    memset(h, 0, tab->fresh);
    h->hash = (uint32_t)q->hash;
    if (q->copy) {
        h->len = LONG;
        h->key.heap.bytes = SN_STEAL(q->copy);
        h->key.heap.len = q->key.len;
    } else {
        h->len = (uint8_t)q->key.len;
        if (h->len)
            memcpy(h->key.bytes, q->key.ptr, h->len);
    }
    set_word(s, q->slot, tag_of(q->hash) << 24 | (number + 1));
    s->n++;
    s->created++;
    return h;
}

/* Closes the gap, so that every probe still reaches its entry. */
static void
unindex(const sn_key_table *tab, sn_key_shard *s, uint32_t gap)
{
    uint32_t slot = gap, word;

    while ((word = word_at(s, slot = (slot + 1) & tab->mask))) {
        uint32_t home = head_at(tab, s, (word & NUMBER) - 1)->hash & tab->mask;

        if (((slot - home) & tab->mask) >= ((slot - gap) & tab->mask)) {
            set_word(s, gap, word);
            gap = slot;
        }
    }
    set_word(s, gap, 0);
}

void
sn_key_table_remove(sn_key_table *tab, sn_key_shard *s, void *entry, sn_key_lookup *q)
{
    sn_key_head *h = entry;
    uint32_t number = (uint32_t)((size_t)((char *)entry - s->entries) / tab->stride);
    uint32_t slot = h->hash & tab->mask;

    while ((word_at(s, slot) & NUMBER) != number + 1)
        slot = (slot + 1) & tab->mask;
    unindex(tab, s, slot);

    if (h->len == LONG) {
        char *key = h->key.heap.bytes;

        tab->extra -= h->key.heap.len;
        memcpy(key, &q->trash, sizeof q->trash);
        q->trash = key;
    }
    h->len = UNUSED;
    h->hash = s->spare;
    s->spare = number + 1;
    s->n--;
    s->removed++;
    tab->count--;
}

void *
sn_key_table_at(const sn_key_table *tab, const sn_key_shard *s, uint32_t number)
{
    sn_key_head *h = head_at(tab, s, number);

    return h->len == UNUSED ? NULL : h;
}

void *
sn_key_table_raw(const sn_key_table *tab, const sn_key_shard *s, uint32_t number)
{
    return head_at(tab, s, number);
}

seine_view
sn_key_table_key(const void *entry)
{
    const sn_key_head *h = entry;

    if (h->len == LONG)
        return (seine_view){h->key.heap.bytes, h->key.heap.len};
    return (seine_view){h->key.bytes, h->len};
}
