/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/alloc.h"
#include "store/store_mem_parts.h"

void *
sn_mem_store_alloc(sn_mem_store *mem, size_t n)
{
    void *p = sn_alloc(n);

    if (p)
        mem->base.figures.bytes += sn_heap_cost(n);
    return p;
}

void *
sn_mem_store_realloc(sn_mem_store *mem, void *p, size_t was, size_t n)
{
    void *moved = sn_realloc(p, n);

    if (moved)
        mem->base.figures.bytes += sn_heap_cost(n) - (p ? sn_heap_cost(was) : 0);
    return moved;
}

void
sn_mem_store_release(sn_mem_store *mem, void *p, size_t n)
{
    if (p)
        mem->base.figures.bytes -= sn_heap_cost(n);
    sn_free(p);
}

static seine_err
add_page(sn_mem_store *mem)
{
    if (mem->n_pages == UINT32_MAX / SN_CHUNK_PAGE)
        return SEINE_E_NOMEM;
    if (mem->n_pages == mem->pages_room) {
        size_t was = mem->pages_room * sizeof *mem->pages;
        size_t n = sn_heap_room(was + was / 2 + 8 * sizeof *mem->pages);
        sn_chunk **pages = sn_mem_store_realloc(
            mem, mem->pages, was, n / sizeof *mem->pages * sizeof *mem->pages);

        if (!pages)
            return SEINE_E_NOMEM;
        mem->pages = pages;
        mem->pages_room = (uint32_t)(n / sizeof *mem->pages);
    }
    sn_chunk *page = sn_mem_store_alloc(mem, SN_CHUNK_PAGE * sizeof *page);
    if (!page)
        return SEINE_E_NOMEM;
    mem->pages[mem->n_pages++] = page;
    for (uint32_t i = SN_CHUNK_PAGE; i-- > 0;) {
        uint32_t id = (mem->n_pages - 1) * SN_CHUNK_PAGE + i;

        page[i] = (sn_chunk){.next = mem->free};
        if (id > 0) /* 0 is none */
            mem->free = id;
    }
    return SEINE_OK;
}

uint32_t
sn_chunk_new(sn_mem_store *mem, size_t n)
{
    if (mem->free == 0 && add_page(mem) != SEINE_OK)
        return 0;
    uint8_t *bytes = sn_mem_store_alloc(mem, n);
    if (!bytes)
        return 0;
    uint32_t id = mem->free;
    sn_chunk *c = sn_chunk_at(mem, id);
    mem->free = c->next;
    *c = (sn_chunk){.bytes = bytes, .room = (uint16_t)n, .state = SN_CHUNK_OPEN};
    return id;
}

seine_err
sn_chunk_resize(sn_mem_store *mem, sn_chunk *c, size_t n)
{
    uint8_t *bytes = sn_mem_store_realloc(mem, c->bytes, c->room, n);

    if (!bytes)
        return SEINE_E_NOMEM;
    c->bytes = bytes;
    c->room = (uint16_t)n;
    return SEINE_OK;
}

void
sn_chunk_free(sn_mem_store *mem, uint32_t id)
{
    sn_chunk *c = sn_chunk_at(mem, id);

    if (c->state == SN_CHUNK_MIDDLE)
        sn_middle_remove(mem, id);
    if (c->state == SN_CHUNK_SPILLED)
        sn_spill_forget(mem, c);
    else
        sn_mem_store_release(mem, c->bytes, c->room);
    *c = (sn_chunk){.next = mem->free};
    mem->free = id;
}

void
sn_middle_add(sn_mem_store *mem, uint32_t id)
{
    sn_chunk *c = sn_chunk_at(mem, id);

    c->state = SN_CHUNK_MIDDLE;
    c->middle.older = mem->newest;
    c->middle.newer = 0;
    if (mem->newest)
        sn_chunk_at(mem, mem->newest)->middle.newer = id;
    mem->newest = id;
    mem->middle_bytes += sn_heap_cost(c->room);
}

void
sn_middle_remove(sn_mem_store *mem, uint32_t id)
{
    sn_chunk *c = sn_chunk_at(mem, id);
    uint32_t older = c->middle.older, newer = c->middle.newer;

    if (older)
        sn_chunk_at(mem, older)->middle.newer = newer;
    if (newer)
        sn_chunk_at(mem, newer)->middle.older = older;
    else
        mem->newest = older;
    mem->middle_bytes -= sn_heap_cost(c->room);
    c->state = SN_CHUNK_OPEN;
    memset(&c->open, 0, sizeof c->open);
}
