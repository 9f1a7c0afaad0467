/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/lastmod_table.h"

#include "base/alloc.h"

enum { FIRST = 256 };

void
sn_lastmod_table_init(sn_lastmod_table *t)
{
    *t = (sn_lastmod_table){.rows = NULL};
    pthread_mutex_init(&t->lock, NULL);
}

void
sn_lastmod_table_fini(sn_lastmod_table *t)
{
    sn_free(t->rows);
    pthread_mutex_destroy(&t->lock);
    *t = (sn_lastmod_table){.rows = NULL};
}

/* The row of the print, or the free one where it belongs. Prints are hashes. */
static sn_lastmod_row *
find(sn_lastmod_row *rows, size_t room, uint64_t print)
{
    size_t i = (size_t)print & (room - 1);

    while (rows[i].wall_ms != 0 && rows[i].print != print)
        i = (i + 1) & (room - 1);
    return &rows[i];
}

/* Three quarters of the rows are filled at most. */
static bool
grow(sn_lastmod_table *t)
{
    size_t room = t->room > 0 ? 2 * t->room : FIRST;

    if (4 * t->n < 3 * t->room)
        return true;
    sn_lastmod_row *rows = sn_calloc(room, sizeof *rows);
    if (!rows)
        return false;
    for (size_t i = 0; i < t->room; i++)
        if (t->rows[i].wall_ms != 0)
            *find(rows, room, t->rows[i].print) = t->rows[i];
    sn_free(t->rows);
    t->rows = rows;
    t->room = room;
    return true;
}

seine_err
sn_lastmod_table_put(sn_lastmod_table *t, uint64_t print, int64_t wall_ms)
{
    seine_err e = SEINE_OK;

    if (wall_ms <= 0)
        return SEINE_OK;
    pthread_mutex_lock(&t->lock);
    if (grow(t)) {
        sn_lastmod_row *row = find(t->rows, t->room, print);

        t->n += row->wall_ms == 0;
        row->print = print;
        row->wall_ms = wall_ms > row->wall_ms ? wall_ms : row->wall_ms;
    } else {
        e = SEINE_E_NOMEM;
    }
    pthread_mutex_unlock(&t->lock);
    return e;
}

int64_t
sn_lastmod_table_get(sn_lastmod_table *t, uint64_t print)
{
    pthread_mutex_lock(&t->lock);
    int64_t wall_ms = t->room > 0 ? find(t->rows, t->room, print)->wall_ms : 0;
    pthread_mutex_unlock(&t->lock);
    return wall_ms;
}
