/* SPDX-License-Identifier: Apache-2.0 */
#include "base/alloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LINE      64
#define HUGE_PAGE ((size_t)2 << 20)
#define LARGE     (3 * HUGE_PAGE) /* from this size on, start on a huge page */

static void *
libc_get(size_t n, void *arg)
{
    (void)arg;
    return malloc(n);
}

static void *
libc_resize(void *p, size_t n, void *arg)
{
    (void)arg;
    return realloc(p, n);
}

static void
libc_put(void *p, void *arg)
{
    (void)arg;
    free(p);
}

/* Random access to a large table costs a page walk each time, and huge pages make that
 * cheap. Maps a huge page more than `n`, aligns the start, and unmaps what is left over
 * on both sides. */
static void *
page_map(size_t n, void *arg)
{
    size_t slack = n >= LARGE ? HUGE_PAGE : 0, room;

    (void)arg;
    if (__builtin_add_overflow(n, slack, &room))
        return NULL;
    char *raw = mmap(NULL, room, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED)
        return NULL;
    if (slack == 0)
        return raw;

    size_t page = 4095, before = -(uintptr_t)raw & (HUGE_PAGE - 1);
    size_t used = (n + page) & ~page;
    if (before > 0)
        munmap(raw, before);
    if (before + used < room)
        munmap(raw + before + used, room - before - used);
    madvise(raw + before, n, MADV_HUGEPAGE);
    return raw + before;
}

static void
page_unmap(void *p, size_t n, void *arg)
{
    (void)arg;
    munmap(p, n);
}

/* The only variable of the library. It is written before a second thread exists. */
static seine_alloc table = {libc_get, libc_resize, libc_put, page_map, page_unmap, NULL};

seine_err
seine_set_alloc(const seine_alloc *alloc)
{
    static const seine_alloc libc = {libc_get, libc_resize, libc_put,
                                     page_map, page_unmap,  NULL};

    if (!alloc)
        alloc = &libc;
    if (!alloc->get || !alloc->resize || !alloc->put || !alloc->map != !alloc->unmap)
        return SEINE_E_INVAL;
    table = *alloc;
    if (!table.map) {
        table.map = page_map;
        table.unmap = page_unmap;
    }
    return SEINE_OK;
}

void
seine_text_free(seine_text *text)
{
    if (!text)
        return;
    sn_free(text->bytes);
    *text = (seine_text){0};
}

void *
sn_alloc(size_t n)
{
    return table.get(n ? n : 1, table.arg);
}

void *
sn_zalloc(size_t n)
{
    if (table.get == libc_get)
        return calloc(1, n ? n : 1); /* knows which pages are new, and touches none */
    void *p = sn_alloc(n);
    return p ? memset(p, 0, n) : NULL;
}

void *
sn_calloc(size_t count, size_t size)
{
    size_t n;

    return __builtin_mul_overflow(count, size, &n) ? NULL : sn_zalloc(n);
}

void *
sn_realloc(void *p, size_t n)
{
    return table.resize(p, n ? n : 1, table.arg);
}

void
sn_free(void *p)
{
    if (p)
        table.put(p, table.arg);
}

/* The word before the cache line holds the address that the heap returned. */
void *
sn_zalloc_line(size_t n)
{
    size_t room;

    if (__builtin_add_overflow(n, (size_t)LINE + sizeof(void *), &room))
        return NULL;
    char *raw = sn_zalloc(room);
    if (!raw)
        return NULL;

    uintptr_t at = (uintptr_t)(raw + sizeof(void *) + LINE - 1) & ~(uintptr_t)(LINE - 1);
    char *line = raw + (at - (uintptr_t)raw);
    memcpy(line - sizeof(void *), &raw, sizeof raw);
    return line;
}

void
sn_free_line(void *p)
{
    void *raw;

    if (!p)
        return;
    memcpy(&raw, (char *)p - sizeof(void *), sizeof raw);
    sn_free(raw);
}

void *
sn_pages(size_t n)
{
    return table.map(n, table.arg);
}

void
sn_pages_free(void *p, size_t n)
{
    if (p)
        table.unmap(p, n, table.arg);
}

void
sn_autofree(void *pointer_to_pointer)
{
    void *p;

    memcpy(&p, pointer_to_pointer, sizeof p);
    sn_free(p);
}
