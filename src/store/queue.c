/* SPDX-License-Identifier: Apache-2.0 */
#include "store/queue.h"

#include "base/alloc.h"
#include "store/queue_parts.h"

seine_err
sn_queue_new(const sn_queue_opts *o, sn_queue **out)
{
    sn_queue *q = sn_zalloc(sizeof *q);

    if (!q)
        return SEINE_E_NOMEM;
    q->bytes = sn_heap_cost(sizeof *q);
    q->max_bytes = o->max_bytes > 0 ? o->max_bytes : UINT64_MAX;
    seine_err e = sn_spill_init(q, o->spill ? o->spill : "/tmp");
    if (e != SEINE_OK) {
        sn_free(q);
        return e;
    }
    *out = q;
    return SEINE_OK;
}

void
sn_queue_free(sn_queue *q)
{
    if (!q)
        return;
    for (uint32_t i = 0; i < q->n_pages; i++) {
        for (uint32_t k = 0; k < SN_CHUNK_PAGE; k++)
            if (q->pages[i][k].state != SN_CHUNK_SPILLED)
                sn_free(q->pages[i][k].bytes);
        sn_free(q->pages[i]);
    }
    sn_free(q->pages);
    sn_spill_fini(q);
    sn_free(q);
}

/* Room for a chunk that has to hold n bytes: half as much again, but no more than a
 * chunk may have unless a single entry needs it. */
static size_t
room_for(size_t n, bool grows)
{
    size_t more = grows ? n + n / 2 : n;

    if (more > SN_CHUNK_MOST)
        more = n < SN_CHUNK_MOST ? SN_CHUNK_MOST : n;
    return sn_heap_room(more);
}

/* The chunk whose last entry was taken holds its texts until the next call. */
static void
free_spent(sn_queue *q)
{
    if (q->spent != 0)
        sn_chunk_free(q, q->spent);
    q->spent = 0;
}

static seine_err
append(sn_queue *q, sn_chunk *c, const sn_entry *e)
{
    size_t need = c->end + e->len;

    if (need > c->room) {
        size_t room = room_for(need, true);
        seine_err err = sn_spill_make_room(q, room - c->room);

        if (err == SEINE_OK)
            err = sn_chunk_resize(q, c, room);
        if (err != SEINE_OK)
            return err;
    }
    sn_entry_write(c, e);
    return SEINE_OK;
}

/* What is not the last one any more gives back what it does not use, and may go to the
 * file if it is not the first one either. */
static void
close_last(sn_queue *q, const sn_chain *l)
{
    sn_chunk *c = sn_chunk_at(q, l->last);

    if (sn_heap_cost(c->end) < sn_heap_cost(c->room))
        (void)!sn_chunk_resize(q, c, sn_heap_room(c->end));
    if (l->last != l->first)
        sn_middle_add(q, l->last);
}

static seine_err
append_chunk(sn_queue *q, sn_chain *l, const sn_queued *u)
{
    sn_entry e;
    sn_entry_plan(NULL, u, &e);
    size_t room = room_for(e.len, l->last != 0);
    seine_err err = sn_spill_make_room(q, room);
    if (err != SEINE_OK)
        return err;
    uint32_t id = sn_chunk_new(q, room);
    if (id == 0)
        return SEINE_E_NOMEM;
    sn_entry_write(sn_chunk_at(q, id), &e);
    if (l->last) {
        close_last(q, l);
        sn_chunk_at(q, l->last)->next = id;
    } else {
        l->first = id;
    }
    l->last = id;
    return SEINE_OK;
}

seine_err
sn_queue_put(sn_queue *q, sn_chain *l, const sn_queued *u)
{
    seine_err e = SEINE_E_FULL;

    if (u->target.len > SN_QUEUED_MOST || u->parent.len > SN_QUEUED_MOST)
        return SEINE_E_RANGE;
    if (u->kind >= 8 || u->ceiling >= 4 || u->tag >= 64 || u->attr >= 16 ||
        l->n == UINT32_MAX)
        return SEINE_E_INVAL;
    free_spent(q);
    if (l->last) {
        sn_chunk *c = sn_chunk_at(q, l->last);
        sn_entry entry;

        sn_chunk_fetch(c, c->end, c->open.context, c->open.anchor);
        sn_entry_plan(c, u, &entry);
        if (c->end + entry.len <= SN_CHUNK_MOST)
            e = append(q, c, &entry);
    }
    if (e == SEINE_E_FULL)
        e = append_chunk(q, l, u);
    if (e == SEINE_OK) {
        l->n++;
        q->urls++;
    }
    return e;
}

seine_err
sn_queue_head(sn_queue *q, const sn_chain *l, sn_queued *out)
{
    seine_err e = SEINE_OK;

    free_spent(q);
    if (l->n == 0)
        return SEINE_E_CLOSED;
    sn_chunk *c = sn_chunk_at(q, l->first);
    if (c->state == SN_CHUNK_SPILLED)
        e = sn_spill_load(q, c);
    sn_chunk_fetch(c, c->open.read.at, c->open.read.context, c->open.read.anchor);
    if (e == SEINE_OK)
        e = sn_entry_read(q, c, c->open.read, out, &q->shown_next);
    q->shown = e == SEINE_OK ? l->first : 0;
    q->shown_at = c->open.read;
    return e;
}

/* The next chunk is the first of the list from now on. */
static void
pass_chunk(sn_queue *q, sn_chain *l)
{
    uint32_t next = sn_chunk_at(q, l->first)->next;

    q->spent = l->first;
    l->first = next;
    if (next == 0)
        l->last = 0;
    else if (sn_chunk_at(q, next)->state == SN_CHUNK_MIDDLE)
        sn_middle_remove(q, next);
}

/* Removes the entry that sn_queue_head has shown. */
static void
pass(sn_queue *q, sn_chain *l)
{
    sn_chunk *c = sn_chunk_at(q, l->first);

    c->open.read = q->shown_next;
    q->shown = 0;
    l->n--;
    q->urls--;
    if (c->open.read.at == c->end)
        pass_chunk(q, l);
}

void
sn_queue_pop(sn_queue *q, sn_chain *l)
{
    sn_queued u;

    if (l->n == 0)
        return;
    const sn_chunk *c = sn_chunk_at(q, l->first);
    if ((q->shown != l->first || q->shown_at.at != c->open.read.at) &&
        sn_queue_head(q, l, &u) != SEINE_OK)
        return;
    pass(q, l);
    free_spent(q);
}

seine_err
sn_queue_take(sn_queue *q, sn_chain *l, uint32_t deepest, sn_queued *out)
{
    seine_err e = sn_queue_head(q, l, out);

    if (e == SEINE_OK && out->depth > deepest)
        return SEINE_E_BUSY;
    if (e == SEINE_OK)
        pass(q, l);
    return e;
}

void
sn_queue_drop(sn_queue *q, sn_chain *l)
{
    free_spent(q);
    q->urls -= l->n;
    for (uint32_t id = l->first, next; id != 0; id = next) {
        next = sn_chunk_at(q, id)->next;
        sn_chunk_free(q, id);
    }
    *l = SN_CHAIN;
}

void
sn_queue_stats(const sn_queue *q, sn_queue_figures *out)
{
    *out = (sn_queue_figures){q->urls, q->bytes, q->spilled};
}
