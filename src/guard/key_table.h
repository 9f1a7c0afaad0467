/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_table.h - a bounded hash table of entries by key, in shards with a lock each.
 *
 * A shard is a dense array of entries, which never move, and an index into it: open
 * addressing with linear probing over 32-bit words, at most half full. A word is the
 * entry's number plus one, with 8 bits of the hash on top. An entry begins with an
 * sn_key_head, which holds keys up to 24 bytes itself; the rest is the owner's.
 *
 *     sn_key_lookup q = sn_key_table_seek(&tab, key);
 *     pthread_mutex_lock(&q.shard->lock);
 *     void *entry = sn_key_table_find(&tab, &q);
 *     if (!entry && sn_key_table_place(&tab, &q))
 *         entry = sn_key_table_insert(&tab, &q);
 *     pthread_mutex_unlock(&q.shard->lock);
 *     sn_key_lookup_end(&q);
 *
 * Nothing is allocated or freed under a lock: sn_key_lookup_prepare copies a long key
 * before, and sn_key_lookup_end frees removed keys after.
 *
 * Time    plays no part.
 * Memory  one mapping of the final size, touched when needed, and long keys.
 * Threads a shard's content belongs to its lock; seek needs none.
 */
#ifndef SN_KEY_TABLE_H
#define SN_KEY_TABLE_H

#include <pthread.h>
#include <stdatomic.h>

#include "seine/err.h"
#include "seine/key.h"
#include "seine/time.h"

#define SN_KEY_INLINE 24

typedef struct sn_key_head {
    union {
        char bytes[SN_KEY_INLINE];
        struct {
            char *bytes;
            size_t len;
        } heap;
    } key;
    uint32_t hash; /* low bits; on the free list: number of the next entry */
    uint8_t len;   /* or LONG or UNUSED (key_table.c) */
} sn_key_head;

typedef struct sn_key_shard {
    _Alignas(64) pthread_mutex_t lock;
    char *entries;
    uint32_t *index;
    uint32_t high, n, spare; /* entries ever used; in use; free list, number + 1 */
    uint32_t hand;           /* the owner's: where its next sweep begins */
    uint64_t created, removed;
    seine_time floor, latest; /* the owner's */
} sn_key_shard;

typedef struct sn_key_table {
    uint64_t seed[2];
    sn_key_shard *shards;
    unsigned bits;     /* log2 of the number of shards */
    uint32_t max, cap; /* keys in all; entries per shard */
    uint32_t mask;     /* slots of an index - 1 */
    size_t stride;     /* bytes of an entry */
    size_t fresh;      /* how many of them insert zeroes; at first all */
    size_t max_extra;
    char *entries; /* of all shards; the indexes follow */
    size_t bytes;  /* of entries and indexes */
    atomic_uint count;
    atomic_size_t extra; /* bytes of long keys, and what the owner adds */
} sn_key_table;

/* A lookup of a key, and what an insertion or removal of it needs. */
typedef struct sn_key_lookup {
    seine_view key;
    uint64_t hash;
    sn_key_shard *shard;
    uint32_t slot; /* in the index, after find */
    char *copy;    /* of a long key */
    char *trash;   /* removed long keys, linked through their first bytes */
} sn_key_lookup;

/* Room for `max` keys of `stride` bytes each. A seed of zeros is replaced by a random
 * one. */
SEINE_MUST_CHECK seine_err sn_key_table_init(sn_key_table *tab, uint32_t max,
                                             size_t max_extra, size_t stride,
                                             const uint64_t seed[2]);
void sn_key_table_fini(sn_key_table *tab);
unsigned sn_key_table_shards(const sn_key_table *tab);

sn_key_lookup sn_key_table_seek(const sn_key_table *tab, seine_view key);

/* is_ready: false when the key is long and has no copy yet. sn_key_lookup_prepare makes
 * the copy, without locks; false when there is no memory. */
bool sn_key_lookup_is_ready(const sn_key_lookup *q);
SEINE_MUST_CHECK bool sn_key_lookup_prepare(sn_key_lookup *q);

/* Without locks: frees an unused copy and removed keys. */
void sn_key_lookup_end(sn_key_lookup *q);

/* These are called under the shard's lock. */
void *sn_key_table_find(const sn_key_table *tab, sn_key_lookup *q);

/* Takes a place, and bytes for a long key, within the bounds; insert uses the place. */
bool sn_key_table_place(sn_key_table *tab, const sn_key_lookup *q);
bool sn_key_table_take_extra(sn_key_table *tab, size_t n);

/* Returns an entry whose `fresh` bytes are zero except for its head; the others are as
 * the last key left them, at first zero. The key must not be in the table,
 * and the lookup must be ready and have its place. */
void *sn_key_table_insert(sn_key_table *tab, sn_key_lookup *q);
void sn_key_table_remove(sn_key_table *tab, sn_key_shard *s, void *entry,
                         sn_key_lookup *q);

/* The entry with this number, below s->high; NULL when it is not in use. raw returns it
 * either way. */
void *sn_key_table_at(const sn_key_table *tab, const sn_key_shard *s, uint32_t number);
void *sn_key_table_raw(const sn_key_table *tab, const sn_key_shard *s, uint32_t number);
seine_view sn_key_table_key(const void *entry);

#endif
