/* SPDX-License-Identifier: Apache-2.0 */
/* Finds keys that stand twice in a map, in time linear in the number of keys. */
#include <string.h>

#include "base/alloc.h"
#include "recipe/yaml.h"

bool
sn_yaml_same_key(sn_str a, sn_str b)
{
    if (a.len != b.len)
        return false;
    for (size_t i = 0; i < a.len; i++)
        if (a.ptr[i] != b.ptr[i] && (!strchr("-_", a.ptr[i]) || !strchr("-_", b.ptr[i])))
            return false;
    return true;
}

/* Keys that differ in - and _ alone share their hash. */
static uint32_t
hash_of(sn_str key)
{
    uint32_t h = 2166136261u;

    for (size_t i = 0; i < key.len; i++)
        h = (h ^ (uint8_t)(key.ptr[i] == '_' ? '-' : key.ptr[i])) * 16777619u;
    return h;
}

/* Each key of the map is looked up among those before it. False: no memory. */
static bool
check_map(const sn_yaml *map, const sn_yaml_repeats *r)
{
    uint32_t room = 16;

    while (room < map->count * 2)
        room *= 2;
    const sn_yaml **table = sn_calloc(room, sizeof *table);
    if (!table)
        return false;
    for (const sn_yaml *v = map->first; v; v = v->next) {
        uint32_t at = hash_of(v->key->text) & (room - 1);

        while (table[at] && !r->is_same(table[at]->text, v->key->text))
            at = (at + 1) & (room - 1);
        if (table[at])
            r->tell(v->key, table[at], r->arg);
        else
            table[at] = v->key;
    }
    sn_free(table);
    return true;
}

/* Recurses as deep as the reader allows. */
bool
sn_yaml_repeats_find(const sn_yaml *root, const sn_yaml_repeats *r)
{
    bool fine = root->kind != SN_YAML_MAP || check_map(root, r);

    for (const sn_yaml *v = root->first; v && fine; v = v->next)
        fine = sn_yaml_repeats_find(v, r);
    return fine;
}
