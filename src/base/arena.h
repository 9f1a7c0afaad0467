/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arena.h - many small allocations that are freed together.
 *
 * An arena cuts memory from the end of a chunk; when the chunk is full, the next one
 * comes from the heap. Pieces are not freed one by one: a reset frees all of them and
 * keeps the first chunk. Work that fits into one chunk never allocates again.
 *
 *     sn_arena a;
 *     sn_arena_init(&a, 4096, 1 << 20);
 *     visit *v = SN_ARENA_NEW(&a, visit);
 *     char *url = sn_arena_text(&a, link);
 *     if (!v || !url)
 *         return SEINE_E_NOMEM;
 *     …
 *     sn_arena_reset(&a);
 *
 * Time    plays no part.
 * Memory  NULL when the heap or the cap has no more. The cap counts whole chunks.
 *         A request larger than a quarter of a chunk gets a chunk of its own.
 * Threads one owner.
 */
#ifndef SN_ARENA_H
#define SN_ARENA_H

#include "base/str.h"

typedef struct sn_arena {
    struct sn_chunk *first, *chunks; /* kept by reset; the others */
    char *at, *end;                  /* the free part of the current chunk */
    size_t chunk;                    /* bytes of an ordinary chunk, its head included */
    size_t held, cap;                /* bytes taken from the heap, and their limit */
} sn_arena;

/* Allocates nothing yet. A chunk is at least 256 bytes. */
void sn_arena_init(sn_arena *a, size_t chunk_size, size_t cap);
void sn_arena_fini(sn_arena *a);
void sn_arena_reset(sn_arena *a);
void sn_arena_wipe(sn_arena *a); /* resets it and leaves no byte of what was in it */

/* `count` times `size` bytes, zeroed; `align` is a power of two. */
void *sn_arena_get(sn_arena *a, size_t count, size_t size, size_t align);

/* Zeroed objects, aligned for their type. */
#define SN_ARENA_NEW(a, type) SN_ARENA_ARRAY(a, type, 1)
#define SN_ARENA_ARRAY(a, type, n) \
    ((type *)sn_arena_get(a, n, sizeof(type), _Alignof(type)))

/* Copies the bytes and adds a terminator. */
char *sn_arena_text(sn_arena *a, sn_str s);

#endif
