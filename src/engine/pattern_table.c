/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/pattern_table.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { FIRST_ROOM = 16 };

_Static_assert(sizeof(sn_pattern) == 32, "as pattern_table.h says");

void
sn_pattern_table_fini(sn_pattern_table *t)
{
    for (uint32_t i = 0; i < t->room; i++)
        sn_novelty_free(t->rows[i].novelty);
    sn_free(t->rows);
    *t = (sn_pattern_table){.rows = NULL};
}

/* The slot of the key, or the empty one where it belongs. */
static sn_pattern *
slot_of(sn_pattern *rows, uint32_t room, uint64_t key)
{
    uint32_t i = (uint32_t)key & (room - 1);

    while (rows[i].key && rows[i].key != key)
        i = (i + 1) & (room - 1);
    return &rows[i];
}

sn_pattern *
sn_pattern_table_find(const sn_pattern_table *t, uint64_t key)
{
    sn_pattern *row = t->room > 0 ? slot_of(t->rows, t->room, key) : NULL;

    return row && row->key ? row : NULL;
}

static bool
grow(sn_pattern_table *t)
{
    uint32_t room = t->room > 0 ? t->room * 2 : FIRST_ROOM;
    sn_pattern *rows = sn_calloc(room, sizeof *rows);

    if (!rows)
        return false;
    for (uint32_t i = 0; i < t->room; i++)
        if (t->rows[i].key)
            *slot_of(rows, room, t->rows[i].key) = t->rows[i];
    sn_free(t->rows);
    t->rows = rows;
    t->room = room;
    return true;
}

/* What is worth more comes first: a novelty, a higher count, a later use. */
static int
by_worth(const void *a, const void *b)
{
    const sn_pattern *x = a, *y = b;

    if (!x->novelty != !y->novelty)
        return x->novelty ? -1 : 1;
    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    return x->used > y->used ? -1 : x->used < y->used;
}

/* Forgets the half of the rows that is worth less. */
static bool
forget_half(sn_pattern_table *t)
{
    sn_pattern *all = sn_calloc(t->n, sizeof *all);
    uint32_t n = 0;

    if (!all)
        return false;
    for (uint32_t i = 0; i < t->room; i++)
        if (t->rows[i].key)
            all[n++] = t->rows[i];
    qsort(all, n, sizeof *all, by_worth);
    memset(t->rows, 0, t->room * sizeof *t->rows);
    for (uint32_t i = 0; i < n; i++) {
        if (i < SN_PATTERN_ROWS / 2) {
            *slot_of(t->rows, t->room, all[i].key) = all[i];
            continue;
        }
        t->n_looked -= all[i].novelty != NULL;
        sn_novelty_free(all[i].novelty);
    }
    t->n = n < SN_PATTERN_ROWS / 2 ? n : SN_PATTERN_ROWS / 2;
    sn_free(all);
    return true;
}

sn_pattern *
sn_pattern_table_get(sn_pattern_table *t, uint64_t key)
{
    sn_pattern *row = sn_pattern_table_find(t, key);

    if (!row) {
        bool has_room = t->n < SN_PATTERN_ROWS || forget_half(t);
        if (has_room && t->n * 2 >= t->room)
            has_room = grow(t);
        if (!has_room)
            return NULL;
        row = slot_of(t->rows, t->room, key);
        row->key = key;
        t->n++;
    }
    row->used = ++t->now;
    return row;
}

size_t
sn_pattern_table_memory(const sn_pattern_table *t)
{
    size_t bytes = t->room * sizeof *t->rows;

    for (uint32_t i = 0; t->n_looked > 0 && i < t->room; i++)
        if (t->rows[i].novelty)
            bytes += sn_novelty_memory(t->rows[i].novelty);
    return bytes;
}
