/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "store/queue_parts.h"

void *
sn_queue_alloc(sn_queue *q, size_t n)
{
    void *p = sn_alloc(n);

    if (p)
        q->bytes += sn_heap_cost(n);
    return p;
}

void *
sn_queue_realloc(sn_queue *q, void *p, size_t was, size_t n)
{
    void *moved = sn_realloc(p, n);

    if (moved)
        q->bytes += sn_heap_cost(n) - (p ? sn_heap_cost(was) : 0);
    return moved;
}

void
sn_queue_release(sn_queue *q, void *p, size_t n)
{
    if (p)
        q->bytes -= sn_heap_cost(n);
    sn_free(p);
}

static seine_err
add_page(sn_queue *q)
{
    if (q->n_pages == UINT32_MAX / SN_CHUNK_PAGE)
        return SEINE_E_NOMEM;
    if (q->n_pages == q->pages_room) {
        size_t was = q->pages_room * sizeof *q->pages;
        size_t n = sn_heap_room(was + was / 2 + 8 * sizeof *q->pages);
        sn_chunk **pages =
            sn_queue_realloc(q, q->pages, was, n / sizeof *q->pages * sizeof *q->pages);

        if (!pages)
            return SEINE_E_NOMEM;
        q->pages = pages;
        q->pages_room = (uint32_t)(n / sizeof *q->pages);
    }
    sn_chunk *page = sn_queue_alloc(q, SN_CHUNK_PAGE * sizeof *page);
    if (!page)
        return SEINE_E_NOMEM;
    q->pages[q->n_pages++] = page;
    for (uint32_t i = SN_CHUNK_PAGE; i-- > 0;) {
        uint32_t id = (q->n_pages - 1) * SN_CHUNK_PAGE + i;

        page[i] = (sn_chunk){.next = q->free};
        if (id > 0) /* 0 is none */
            q->free = id;
    }
    return SEINE_OK;
}

uint32_t
sn_chunk_new(sn_queue *q, size_t n)
{
    if (q->free == 0 && add_page(q) != SEINE_OK)
        return 0;
    uint8_t *bytes = sn_queue_alloc(q, n);
    if (!bytes)
        return 0;
    uint32_t id = q->free;
    sn_chunk *c = sn_chunk_at(q, id);
    q->free = c->next;
    *c = (sn_chunk){.bytes = bytes, .room = (uint16_t)n, .state = SN_CHUNK_OPEN};
    return id;
}

seine_err
sn_chunk_resize(sn_queue *q, sn_chunk *c, size_t n)
{
    uint8_t *bytes = sn_queue_realloc(q, c->bytes, c->room, n);

    if (!bytes)
        return SEINE_E_NOMEM;
    c->bytes = bytes;
    c->room = (uint16_t)n;
    return SEINE_OK;
}

void
sn_chunk_free(sn_queue *q, uint32_t id)
{
    sn_chunk *c = sn_chunk_at(q, id);

    if (c->state == SN_CHUNK_MIDDLE)
        sn_middle_remove(q, id);
    if (c->state == SN_CHUNK_SPILLED)
        sn_spill_forget(q, c);
    else
        sn_queue_release(q, c->bytes, c->room);
    if (q->shown == id)
        q->shown = 0;
    *c = (sn_chunk){.next = q->free};
    q->free = id;
}

void
sn_middle_add(sn_queue *q, uint32_t id)
{
    sn_chunk *c = sn_chunk_at(q, id);

    c->state = SN_CHUNK_MIDDLE;
    c->middle.older = q->newest;
    c->middle.newer = 0;
    if (q->newest)
        sn_chunk_at(q, q->newest)->middle.newer = id;
    q->newest = id;
    q->middle_bytes += sn_heap_cost(c->room);
}

void
sn_middle_remove(sn_queue *q, uint32_t id)
{
    sn_chunk *c = sn_chunk_at(q, id);
    uint32_t older = c->middle.older, newer = c->middle.newer;

    if (older)
        sn_chunk_at(q, older)->middle.newer = newer;
    if (newer)
        sn_chunk_at(q, newer)->middle.older = older;
    else
        q->newest = older;
    q->middle_bytes -= sn_heap_cost(c->room);
    c->state = SN_CHUNK_OPEN;
    memset(&c->open, 0, sizeof c->open);
}
