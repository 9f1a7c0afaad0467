/* SPDX-License-Identifier: Apache-2.0 */
#include "base/ring.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"

/*
 * A message never wraps around the end of the memory: a SKIP mark covers the bytes that
 * are too few for it. So the longest message is less than half of the ring, and an empty
 * ring has room for it at any position.
 */

#define HEAD 16 /* bytes before a message: its length, or SKIP */
#define SKIP UINT64_MAX

static uint64_t
whole(uint64_t n)
{
    return (n + HEAD + 15) & ~UINT64_C(15);
}

seine_err
sn_ring_init(sn_ring *r, size_t size)
{
    if (size < 64 || (size & (size - 1)) != 0)
        return SEINE_E_INVAL;

    char *bytes = sn_zalloc_line(size);
    if (!bytes)
        return SEINE_E_NOMEM;
    memset(r, 0, sizeof *r);
    r->bytes = bytes;
    r->mask = size - 1;
    return SEINE_OK;
}

void
sn_ring_fini(sn_ring *r)
{
    sn_free_line(r->bytes);
    memset(r, 0, sizeof *r);
}

size_t
sn_ring_longest(const sn_ring *r)
{
    return (size_t)(r->mask + 1) / 2 - HEAD;
}

static uint64_t *
head(const sn_ring *r, uint64_t at)
{
    return (uint64_t *)(void *)(r->bytes + (at & r->mask));
}

/* Loads the other side's index only when the copy seen last is not enough. */
static int
look_for_room(sn_ring *r, uint64_t n)
{
    uint64_t size = r->mask + 1;

    if (r->put + n - r->room_from <= size)
        return 1;
    r->room_from = atomic_load_explicit(&r->released, memory_order_acquire);
    return r->put + n - r->room_from <= size;
}

void *
sn_ring_reserve(sn_ring *r, size_t n)
{
    if (n > sn_ring_longest(r))
        return NULL;

    uint64_t need = whole(n), left = r->mask + 1 - (r->put & r->mask);
    uint64_t skip = left < need ? left : 0;
    if (!look_for_room(r, need + skip))
        return NULL;
    if (skip > 0) {
        *head(r, r->put) = SKIP;
        r->put += skip;
    }
    *head(r, r->put) = n;
    r->reserved = need;
    return r->bytes + (r->put & r->mask) + HEAD;
}

void
sn_ring_put(sn_ring *r)
{
    assert(r->reserved > 0);
    r->put += r->reserved;
    r->reserved = 0;
}

void
sn_ring_publish(sn_ring *r)
{
    atomic_store_explicit(&r->published, r->put, memory_order_release);
}

void *
sn_ring_peek(sn_ring *r, size_t *out_n)
{
    for (;;) {
        if (r->taken == r->seen) {
            r->seen = atomic_load_explicit(&r->published, memory_order_acquire);
            if (r->taken == r->seen)
                return NULL;
        }
        uint64_t n = *head(r, r->taken);
        if (n != SKIP) {
            *out_n = (size_t)n;
            r->next = r->taken + whole(n);
            return r->bytes + (r->taken & r->mask) + HEAD;
        }
        r->taken += r->mask + 1 - (r->taken & r->mask);
    }
}

void
sn_ring_pop(sn_ring *r)
{
    assert(r->next > r->taken);
    r->taken = r->next;
}

void
sn_ring_release(sn_ring *r)
{
    atomic_store_explicit(&r->released, r->taken, memory_order_release);
}

uint64_t
sn_ring_put_at(const sn_ring *r)
{
    return r->put;
}

uint64_t
sn_ring_taken_at(const sn_ring *r)
{
    return r->taken;
}

size_t
sn_ring_used(const sn_ring *r)
{
    uint64_t released = atomic_load_explicit(&r->released, memory_order_acquire);

    return (size_t)(atomic_load_explicit(&r->published, memory_order_acquire) - released);
}
