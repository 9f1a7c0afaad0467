/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - from a name to the thing it names.
 *
 * A hash table of pointers, keyed by any bytes. It borrows both: the key usually
 * stands inside the value, and whoever removes an entry frees it. The hash runs
 * under a secret drawn at init, so that hosts and links cannot choose to collide.
 *
 *     sn_map hosts;
 *     sn_map_init(&hosts, 100000);
 *     seine_err e = sn_map_add(&hosts, h->name, h);    OK, ALREADY, FULL or NOMEM
 *     host *same = sn_map_get(&hosts, SN_STR("e.org"));
 *     SN_MAP_EACH(entry, &hosts)
 *         host_free(entry->value);
 *     sn_map_fini(&hosts);
 *
 * Time    plays no part; a lookup touches one or two cache lines.
 * Memory  32 bytes a slot, between 3/8 and 3/4 of them used once it has grown;
 *         doubles up to the size that holds `max` entries and never shrinks.
 * Threads one owner.
 */
#ifndef SN_MAP_H
#define SN_MAP_H

#include "base/str.h"

typedef struct sn_map_entry {
    sn_str key;
    void *value; /* NULL: the slot is empty */
    uint64_t hash;
} sn_map_entry;

typedef struct sn_map {
    sn_map_entry *slots; /* NULL until the first entry */
    size_t room;         /* slots, a power of two */
    size_t count, max;   /* entries, and how many at most */
    uint64_t secret[2];
} sn_map;

void sn_map_init(sn_map *m, size_t max);
void sn_map_fini(sn_map *m); /* leaves the values alone */

/* Forgets all entries, keeps the slots. */
void sn_map_reset(sn_map *m);

/* ALREADY: the key is there, and what it names stays. FULL: `max` are there.
 * INVAL: a NULL value. NOMEM. */
SEINE_MUST_CHECK seine_err sn_map_add(sn_map *m, sn_str key, void *value);

/* What the key names, or NULL. */
void *sn_map_get(const sn_map *m, sn_str key);

/* The same, and the entry is gone: the value is the caller's. */
void *sn_map_take(sn_map *m, sn_str key);

/* The next used slot, from the start for NULL; NULL at the end. */
const sn_map_entry *sn_map_next(const sn_map *m, const sn_map_entry *after);

/* Every entry once, in no order. The body changes nothing in the map. */
#define SN_MAP_EACH(entry, m) \
    for (const sn_map_entry *(entry) = NULL; ((entry) = sn_map_next(m, entry));)

#endif
