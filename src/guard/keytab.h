/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keytab.h - a bounded table of entries by key, cut into shards with a lock each.
 *
 * A shard is a dense array of entries, which never move, and an index into it:
 * open addressing with linear probing over 32-bit words, a tag of 8 hash bits on
 * top of the entry's number plus one, at most half full. An entry begins with an
 * sn_keyhead, which holds keys up to 24 bytes itself; the rest is the owner's.
 *
 *     sn_quest q = sn_keytab_seek(&tab, key);
 *     lock(&q.shard->lock);
 *     thing *t = sn_keytab_find(&tab, &q);
 *     if (!t && sn_keytab_place(&tab, q.shard))
 *         t = sn_keytab_insert(&tab, &q);
 *     unlock; sn_quest_end(&q);
 *
 * Nothing is allocated or freed under a lock: a long key is copied before
 * (sn_quest_ready), what is removed is freed after (sn_quest_end).
 *
 * Time    plays no part.
 * Memory  one mapping of the final size, touched when needed, and long keys.
 * Threads a shard's content belongs to its lock; seek needs none.
 */
#ifndef SN_KEYTAB_H
#define SN_KEYTAB_H

#include <pthread.h>
#include <stdatomic.h>

#include "seine/err.h"
#include "seine/key.h"
#include "seine/time.h"

#define SN_KEY_INLINE 24

typedef struct sn_keyhead {
    union {
        char bytes[SN_KEY_INLINE];
        struct {
            char *bytes;
            size_t len;
        } heap;
    } key;
    uint32_t hash; /* low bits; on the free list: number of the next one */
    uint8_t len;   /* or one of the two marks in keytab.c */
} sn_keyhead;

typedef struct sn_keyshard {
    _Alignas(64) pthread_mutex_t lock;
    char *entries;
    uint32_t *index;
    uint32_t high, n, spare; /* entries ever used; in use; free list, number + 1 */
    uint32_t hand;           /* the owner's: where its next look around begins */
    uint64_t created, removed;
    seine_time floor, latest; /* the owner's */
} sn_keyshard;

typedef struct sn_keytab {
    uint64_t seed[2];
    sn_keyshard *shards;
    unsigned bits;     /* log2 of the number of shards */
    uint32_t max, cap; /* keys in all; entries per shard */
    uint32_t mask;     /* slots of an index - 1 */
    size_t stride;     /* bytes of an entry */
    size_t max_extra;
    char *entries; /* of all shards, and their indexes behind them */
    size_t bytes;  /* of both */
    atomic_uint count;
    atomic_size_t extra; /* bytes of long keys, and what else the owner adds */
} sn_keytab;

/* A key on its way into the table. */
typedef struct sn_quest {
    seine_view key;
    uint64_t hash;
    sn_keyshard *shard;
    uint32_t slot; /* of the index, after find */
    char *copy;    /* of a long key */
    char *trash;   /* removed long keys, linked through their first bytes */
} sn_quest;

/* Room for `max` keys of `stride` bytes each; a seed of zeros is drawn. */
SEINE_MUST_CHECK seine_err sn_keytab_init(sn_keytab *tab, uint32_t max, size_t max_extra,
                                          size_t stride, const uint64_t seed[2]);
void sn_keytab_fini(sn_keytab *tab);
unsigned sn_keytab_shards(const sn_keytab *tab);

sn_quest sn_keytab_seek(const sn_keytab *tab, seine_view key);

/* False: the key is long and has no copy yet. Without locks, sn_quest_ready makes
 * one; false when there is no memory. */
bool sn_quest_is_ready(const sn_quest *q);
SEINE_MUST_CHECK bool sn_quest_ready(sn_quest *q);

/* Without locks: frees the copy if it was not needed, and what was removed. */
void sn_quest_end(sn_quest *q);

/* Under the shard's lock, all of them. */
void *sn_keytab_find(const sn_keytab *tab, sn_quest *q);

/* Takes a place, and bytes for a long key, from the bounds; insert uses it. */
bool sn_keytab_place(sn_keytab *tab, const sn_quest *q);
bool sn_keytab_take_extra(sn_keytab *tab, size_t n);

/* A zeroed entry but for its head. The key is not in the table yet, the quest is
 * ready and has its place. */
void *sn_keytab_insert(sn_keytab *tab, sn_quest *q);
void sn_keytab_remove(sn_keytab *tab, sn_keyshard *s, void *entry, sn_quest *q);

/* The entry of that number, below s->high; NULL when it is not in use. */
void *sn_keytab_at(const sn_keytab *tab, const sn_keyshard *s, uint32_t number);
seine_view sn_keytab_key(const void *entry);

#endif
