/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_map.h - numbers by name.
 *
 *     name_map m = {0};
 *     uint32_t n = name_map_get(&m, "README.md");      NAME_MAP_NONE
 *     name_map_set(&m, name, 7);                       the name outlives the map
 *     name_map_free(&m);
 *
 * Names come from pages of strangers, so their places depend on a secret of the map: no
 * list of names is slower than others.
 */
#ifndef CLI_NAME_MAP_H
#define CLI_NAME_MAP_H

#include <stddef.h>
#include <stdint.h>

#define NAME_MAP_NONE UINT32_MAX

typedef struct name_map {
    const char **names;
    uint32_t *values;
    size_t count, room; /* room: a power of two, or 0 */
    uint64_t key[2];
} name_map;

uint32_t name_map_get(const name_map *m, const char *name);
void name_map_set(name_map *m, const char *name, uint32_t value);
void name_map_free(name_map *m);

/* FNV-1a, for the names of anchors. */
uint64_t name_hash(const char *bytes, size_t n);

#endif
