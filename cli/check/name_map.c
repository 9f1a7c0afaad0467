/* SPDX-License-Identifier: Apache-2.0 */
#include "check/name_map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "screen/xalloc.h"

uint64_t
name_hash(const char *bytes, size_t n)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (size_t i = 0; i < n; i++)
        h = (h ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return h ^ h >> 29;
}

__extension__ typedef unsigned __int128 wide;

static uint64_t
fold(uint64_t a, uint64_t b)
{
    wide product = (wide)a * b;

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* A hash that nobody can foresee who does not know the key. */
static uint64_t
keyed_hash(const name_map *m, const char *name)
{
    size_t n = strlen(name);
    uint64_t h = m->key[0] ^ n;

    for (size_t i = 0; i < n; i += 8) {
        uint64_t word = 0;

        memcpy(&word, name + i, n - i < 8 ? n - i : 8);
        h = fold(h ^ word, m->key[1]) + m->key[0];
    }
    return fold(h, m->key[1]);
}

/* The slot of the name, or the empty slot for it. */
static size_t
slot_of(const name_map *m, const char *name)
{
    size_t i = keyed_hash(m, name) & (m->room - 1);

    while (m->names[i] && strcmp(m->names[i], name) != 0)
        i = (i + 1) & (m->room - 1);
    return i;
}

uint32_t
name_map_get(const name_map *m, const char *name)
{
    if (m->room == 0)
        return NAME_MAP_NONE;
    size_t i = slot_of(m, name);
    return m->names[i] ? m->values[i] : NAME_MAP_NONE;
}

static void
grow(name_map *m)
{
    name_map old = *m;

    if (old.room == 0 && getrandom(m->key, sizeof m->key, 0) != sizeof m->key)
        abort(); /* the kernel always has 16 bytes */
    m->key[1] |= 1;
    m->room = old.room ? old.room * 2 : 1024;
    m->names = xalloc_zeroed(m->room, sizeof *m->names);
    m->values = xalloc_zeroed(m->room, sizeof *m->values);
    for (size_t i = 0; i < old.room; i++)
        if (old.names[i]) {
            size_t to = slot_of(m, old.names[i]);

            m->names[to] = old.names[i];
            m->values[to] = old.values[i];
        }
    free(old.names);
    free(old.values);
}

void
name_map_set(name_map *m, const char *name, uint32_t value)
{
    if (m->count * 2 >= m->room)
        grow(m);
    size_t i = slot_of(m, name);
    m->count += m->names[i] == NULL;
    m->names[i] = name;
    m->values[i] = value;
}

void
name_map_free(name_map *m)
{
    free(m->names);
    free(m->values);
    *m = (name_map){.room = 0};
}
