/* SPDX-License-Identifier: Apache-2.0 */
/*
 * map.h - a hash table from names to pointers.
 *
 * The map borrows keys and values: a key usually stands inside its value, and the caller
 * who removes an entry frees it. The hash uses a secret drawn at init, so that hosts and
 * links from outside cannot be chosen to collide.
 *
 *     sn_map hosts;
 *     sn_map_init(&hosts, 100000);
 *     seine_err e = sn_map_add(&hosts, name, host);    OK, ALREADY, FULL or NOMEM
 *     void *same = sn_map_get(&hosts, SN_STR("e.org"));
 *     SN_MAP_EACH(entry, &hosts)
 *         free_host(entry->value);
 *     sn_map_fini(&hosts);
 *
 * Time    plays no part; a lookup touches one or two cache lines.
 * Memory  32 bytes a slot, between 3/8 and 3/4 of the slots used once the map has grown;
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

/* ALREADY: the key exists and keeps its value. FULL: the map holds `max` entries. INVAL:
 * a NULL value. NOMEM. */
SEINE_MUST_CHECK seine_err sn_map_add(sn_map *m, sn_str key, void *value);

/* The value of the key, or NULL. */
void *sn_map_get(const sn_map *m, sn_str key);

/* Removes the entry and returns its value, which is then the caller's; or NULL. */
void *sn_map_take(sn_map *m, sn_str key);

/* The used slot after `after`, or the first one for NULL; NULL at the end. */
const sn_map_entry *sn_map_next(const sn_map *m, const sn_map_entry *after);

/* Visits every entry once, in no order. The body must not change the map. */
#define SN_MAP_EACH(entry, m) \
    for (const sn_map_entry *(entry) = NULL; ((entry) = sn_map_next(m, entry));)

#endif
