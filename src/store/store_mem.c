/* SPDX-License-Identifier: Apache-2.0 */
#include "store/store_mem.h"

#include "base/alloc.h"
#include "store/store_mem_parts.h"

_Static_assert(sizeof(sn_url_list) == 12, "store.h says so");
_Static_assert(sizeof(sn_chunk) == 32, "store_mem_parts.h says so");

static sn_mem_store *
mem_of(sn_store *s)
{
    return (sn_mem_store *)s;
}

static seine_err
open_store(const sn_store_opts *o, sn_store **out_store)
{
    sn_mem_store *mem = sn_zalloc(sizeof *mem);

    if (!mem)
        return SEINE_E_NOMEM;
    mem->base.ops = &sn_store_mem;
    mem->base.figures.bytes = sn_heap_cost(sizeof *mem);
    mem->max_bytes = o->max_bytes > 0 ? o->max_bytes : UINT64_MAX;
    mem->chunk_most = o->together > 0 ? o->together : SN_CHUNK_MOST;
    seine_err e = sn_spill_init(mem, o);
    if (e != SEINE_OK) {
        sn_free(mem);
        return e;
    }
    *out_store = &mem->base;
    return SEINE_OK;
}

static seine_err
close_store(sn_store *s, bool clean)
{
    sn_mem_store *mem = mem_of(s);

    (void)clean;
    for (uint32_t i = 0; i < mem->n_pages; i++) {
        for (uint32_t k = 0; k < SN_CHUNK_PAGE; k++)
            if (mem->pages[i][k].state != SN_CHUNK_SPILLED)
                sn_free(mem->pages[i][k].bytes);
        sn_free(mem->pages[i]);
    }
    sn_free(mem->pages);
    sn_spill_fini(mem);
    sn_free(mem);
    return SEINE_OK;
}

/* There is no earlier run. */
static seine_err
scan_nothing(sn_store *s, const sn_scan *into)
{
    (void)s;
    (void)into;
    return SEINE_OK;
}

/* Returns the size of a chunk for n bytes: half as much again, but no more than a chunk
 * may have unless a single entry needs it. */
static size_t
room_for(const sn_mem_store *mem, size_t n, bool grows)
{
    size_t more = grows ? n + n / 2 : n;

    if (more > mem->chunk_most)
        more = n < mem->chunk_most ? mem->chunk_most : n;
    return sn_heap_room(more);
}

/* A chunk whose last entry was taken keeps its texts until the next call. */
static void
free_spent(sn_mem_store *mem)
{
    if (mem->spent != 0)
        sn_chunk_free(mem, mem->spent);
    mem->spent = 0;
}

static seine_err
append_entry(sn_mem_store *mem, sn_chunk *c, const sn_entry *e)
{
    size_t need = c->end + e->len;

    if (need > c->room) {
        size_t room = room_for(mem, need, true);

        sn_spill_make_room(mem, room - c->room);
        if (sn_chunk_resize(mem, c, room) != SEINE_OK)
            return SEINE_E_NOMEM;
    }
    sn_entry_write(c, e);
    return SEINE_OK;
}

/* A chunk that is no longer the last frees its unused bytes, and may be spilled if it is
 * not the first either. */
static void
close_last(sn_mem_store *mem, const sn_url_list *l)
{
    sn_chunk *c = sn_chunk_at(mem, l->last);

    if (sn_heap_cost(c->end) < sn_heap_cost(c->room))
        (void)!sn_chunk_resize(mem, c, sn_heap_room(c->end));
    if (l->last != l->first)
        sn_middle_add(mem, l->last);
}

static seine_err
append_chunk(sn_mem_store *mem, sn_url_list *l, const sn_waiting_url *u)
{
    sn_entry e;
    sn_entry_plan(NULL, u, &e);
    size_t room = room_for(mem, e.len, l->last != 0);
    sn_spill_make_room(mem, room);
    uint32_t id = sn_chunk_new(mem, room);
    if (id == 0)
        return SEINE_E_NOMEM;
    sn_entry_write(sn_chunk_at(mem, id), &e);
    if (l->last) {
        close_last(mem, l);
        sn_chunk_at(mem, l->last)->next = id;
    } else {
        l->first = id;
    }
    l->last = id;
    return SEINE_OK;
}

static seine_err
enqueue_url(sn_store *s, sn_url_list *l, const sn_waiting_url *u)
{
    sn_mem_store *mem = mem_of(s);
    seine_err e = SEINE_E_FULL;

    if (u->target.len > SN_STORE_TEXT || u->parent.len > SN_STORE_TEXT)
        return SEINE_E_RANGE;
    if (u->kind >= 8 || u->ceiling >= 4 || u->tag >= 64 || u->attr >= 16 ||
        l->n == UINT32_MAX)
        return SEINE_E_INVAL;
    free_spent(mem);
    if (l->last) {
        sn_chunk *c = sn_chunk_at(mem, l->last);
        sn_entry entry;

        sn_chunk_fetch(c, c->end, c->open.context, c->open.anchor);
        sn_entry_plan(c, u, &entry);
        if (c->end + entry.len <= mem->chunk_most)
            e = append_entry(mem, c, &entry);
    }
    if (e == SEINE_E_FULL)
        e = append_chunk(mem, l, u);
    if (e == SEINE_OK) {
        l->n++;
        s->figures.urls++;
    }
    return e;
}

/* The next chunk becomes the first of the list. */
static void
pass_chunk(sn_mem_store *mem, sn_url_list *l)
{
    uint32_t next = sn_chunk_at(mem, l->first)->next;

    mem->spent = l->first;
    l->first = next;
    if (next == 0)
        l->last = 0;
    else if (sn_chunk_at(mem, next)->state == SN_CHUNK_MIDDLE)
        sn_middle_remove(mem, next);
}

static seine_err
take_url(sn_store *s, sn_url_list *l, uint32_t deepest, sn_waiting_url *out)
{
    sn_mem_store *mem = mem_of(s);
    seine_err e = SEINE_OK;
    sn_chunk_mark behind;

    free_spent(mem);
    if (l->n == 0)
        return SEINE_E_CLOSED;
    sn_chunk *c = sn_chunk_at(mem, l->first);
    if (c->state == SN_CHUNK_SPILLED)
        e = sn_spill_load(mem, c);
    if (e != SEINE_OK)
        return e;
    sn_chunk_fetch(c, c->open.read.at, c->open.read.context, c->open.read.anchor);
    e = sn_entry_read(mem, c, c->open.read, out, &behind);
    if (e != SEINE_OK)
        return e;
    if (out->depth > deepest)
        return SEINE_E_BUSY;
    c->open.read = behind;
    l->n--;
    s->figures.urls--;
    if (c->open.read.at == c->end)
        pass_chunk(mem, l);
    return SEINE_OK;
}

/* The first chunk and all that cannot be read in it. A chunk in memory that cannot be
 * read takes the whole list along, since nobody knows how much it holds. */
static seine_err
skip_chunk(sn_store *s, sn_url_list *l, sn_lost *out)
{
    sn_mem_store *mem = mem_of(s);

    free_spent(mem);
    if (l->n == 0)
        return SEINE_E_CLOSED;
    const sn_chunk *c = sn_chunk_at(mem, l->first);
    bool is_known = true;
    if (c->state == SN_CHUNK_SPILLED)
        *out = c->held;
    else
        is_known = sn_entries_count(mem, c, c->open.read, out) == SEINE_OK;
    if (!is_known)
        *out = (sn_lost){.urls = l->n, .pages = l->n};
    do {
        pass_chunk(mem, l);
        free_spent(mem);
    } while (!is_known && l->first != 0);
    l->n -= out->urls;
    s->figures.urls -= out->urls;
    return SEINE_OK;
}

static seine_err
commit_group(sn_store *s, const sn_group *group)
{
    free_spent(mem_of(s));
    s->figures.done += group->n_done;
    s->figures.groups++;
    return s->err;
}

const sn_store_ops sn_store_mem = {.open = open_store,
                                   .scan = scan_nothing,
                                   .enqueue = enqueue_url,
                                   .take = take_url,
                                   .skip = skip_chunk,
                                   .commit = commit_group,
                                   .close = close_store};
