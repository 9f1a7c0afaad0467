/* SPDX-License-Identifier: Apache-2.0 */
#include "base/arena.h"

#include <string.h>

#include "base/alloc.h"

/*
 * AddressSanitizer cannot see the pieces of a chunk. So the arena poisons free memory, a
 * gap behind each piece, and everything after a reset. Without AddressSanitizer these
 * macros do nothing.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define POISON(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#define UNPOISON(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
#define GAP            16
#else
#define POISON(p, n)   ((void)(p), (void)(n))
#define UNPOISON(p, n) ((void)(p), (void)(n))
#define GAP            0
#endif

#define SMALLEST 256

typedef struct sn_chunk {
    struct sn_chunk *next;
    size_t size; /* of the whole chunk, this head included */
} chunk;

void
sn_arena_init(sn_arena *a, size_t chunk_size, size_t cap)
{
    *a = (sn_arena){.chunk = chunk_size > SMALLEST ? chunk_size : SMALLEST, .cap = cap};
}

static void
drop_chunk(sn_arena *a, chunk *c)
{
    a->held -= c->size;
    UNPOISON(c + 1, c->size - sizeof *c);
    sn_free(c);
}

/* Marks the whole chunk as free. */
static void
open(sn_arena *a, chunk *c)
{
    a->at = (char *)(c + 1);
    a->end = (char *)c + c->size;
    POISON(a->at, c->size - sizeof *c);
}

void
sn_arena_reset(sn_arena *a)
{
    for (chunk *c; (c = a->chunks);) {
        a->chunks = c->next;
        drop_chunk(a, c);
    }
    a->at = a->end = NULL;
    if (a->first)
        open(a, a->first);
}

static void
wipe_chunk(chunk *c)
{
    UNPOISON(c + 1, c->size - sizeof *c);
    explicit_bzero(c + 1, c->size - sizeof *c);
}

void
sn_arena_wipe(sn_arena *a)
{
    for (chunk *c = a->chunks; c; c = c->next)
        wipe_chunk(c);
    if (a->first)
        wipe_chunk(a->first);
    sn_arena_reset(a);
}

void
sn_arena_fini(sn_arena *a)
{
    sn_arena_reset(a);
    if (a->first)
        drop_chunk(a, a->first);
    *a = (sn_arena){0};
}

static chunk *
grow_arena(sn_arena *a, size_t size)
{
    chunk *c = size > a->cap - a->held ? NULL : sn_alloc(size);

    if (!c)
        return NULL;
    *c = (chunk){NULL, size};
    a->held += size;
    if (!a->first && size == a->chunk) {
        a->first = c;
    } else {
        c->next = a->chunks;
        a->chunks = c;
    }
    return c;
}

/* Cuts `n` bytes off [at, end); NULL when they do not fit. */
static char *
cut(char **at, const char *end, size_t n, size_t align)
{
    size_t skip = -(uintptr_t)*at & (align - 1), left = *at ? (size_t)(end - *at) : 0;

    if (left < skip + GAP || n > left - skip - GAP)
        return NULL;
    char *p = *at + skip;
    *at = p + n + GAP;
    UNPOISON(p, n);
    return p;
}

/* A large piece gets a chunk of its own, so that the current chunk keeps its free rest.
 */
static char *
get(sn_arena *a, size_t n, size_t align)
{
    size_t whole;
    char *p = cut(&a->at, a->end, n, align);

    if (p)
        return p;
    if (__builtin_add_overflow(n, sizeof(chunk) + align + GAP, &whole))
        return NULL;

    bool is_large = whole > a->chunk / 4;
    chunk *c = grow_arena(a, is_large ? whole : a->chunk);
    if (!c)
        return NULL;
    if (!is_large) {
        open(a, c);
        return cut(&a->at, a->end, n, align);
    }
    char *at = (char *)(c + 1), *end = (char *)c + whole;
    POISON(at, (size_t)(end - at));
    return cut(&at, end, n, align);
}

void *
sn_arena_get(sn_arena *a, size_t count, size_t size, size_t align)
{
    size_t n;
    char *p = __builtin_mul_overflow(count, size, &n) ? NULL : get(a, n, align);

    return p ? memset(p, 0, n) : NULL;
}

char *
sn_arena_text(sn_arena *a, sn_str s)
{
    char *p = s.len < SIZE_MAX ? get(a, s.len + 1, 1) : NULL;

    if (!p)
        return NULL;
    if (s.len > 0)
        memcpy(p, s.ptr, s.len);
    p[s.len] = '\0';
    return p;
}
