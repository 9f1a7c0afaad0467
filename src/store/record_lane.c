/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record_lane.h"

#include "base/alloc.h"
#include "store/record.h"
#include "store/record_items.h"
#include "store/record_links.h"

enum { ALIGN = 16 };

/* Bytes before the record of a block. */
#define HEAD ((sizeof(sn_record_block) + ALIGN - 1) / ALIGN * ALIGN)

sn_record_block *
sn_record_block_new(const seine_record *r)
{
    size_t size = HEAD + sn_record_room(r);
    sn_record_block *b = sn_alloc(size);

    if (!b)
        return NULL;
    const sn_record_hold *hold = r->hold;
    if (hold)
        size += hold->bytes + hold->page.len + hold->data.len +
                sn_record_links_bytes(hold->links) + sn_record_items_bytes(r);
    *b = (sn_record_block){.size = size, .record = sn_record_copy(r, (char *)b + HEAD)};
    return b;
}

sn_record_block *
sn_record_block_of(seine_record *r)
{
    return (sn_record_block *)(void *)((char *)r - HEAD);
}

void
sn_record_block_free(sn_record_block *b)
{
    if (b)
        sn_record_hold_unref(b->record->hold);
    sn_free(b);
}

seine_err
sn_record_lane_init(sn_record_lane *l, size_t size)
{
    *l = (sn_record_lane){.taken = 0};
    return sn_ring_init(&l->ring, size);
}

static void
free_list(sn_record_block *b)
{
    while (b) {
        sn_record_block *next = b->next;

        sn_record_block_free(b);
        b = next;
    }
}

void
sn_record_lane_fini(sn_record_lane *l)
{
    free_list(l->turn);
    free_list(atomic_load(&l->blocks));
    sn_ring_fini(&l->ring);
}

/* A sixteenth of the ring: a larger record would displace too many. */
static size_t
large(const sn_record_lane *l)
{
    return sn_ring_longest(&l->ring) / 8;
}

static seine_err
put_block(sn_record_lane *l, const seine_record *r)
{
    sn_record_block *b = sn_record_block_new(r);

    if (!b)
        return SEINE_E_NOMEM;
    b->after = sn_ring_put_at(&l->ring);
    b->next = atomic_load_explicit(&l->blocks, memory_order_relaxed);
    atomic_fetch_add_explicit(&l->held, b->size, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(
        &l->blocks, &b->next, b, memory_order_release, memory_order_relaxed))
        continue;
    return SEINE_OK;
}

/* The count is raised last, sequentially consistent with the consumer's sleep: either the
 * consumer sees the record, or the producer sees it asleep. */
seine_err
sn_record_lane_put(sn_record_lane *l, const seine_record *r)
{
    size_t n = sn_record_room(r);
    bool is_small = n <= large(l) && !r->hold;
    void *place = is_small ? sn_ring_reserve(&l->ring, n) : NULL;
    seine_err e = SEINE_OK;

    if (place) {
        sn_record_copy(r, place);
        sn_ring_put(&l->ring);
        sn_ring_publish(&l->ring);
    } else {
        e = put_block(l, r);
    }
    if (e == SEINE_OK)
        atomic_fetch_add(&l->puts, 1);
    return e;
}

uint64_t
sn_record_lane_waiting(const sn_record_lane *l)
{
    return atomic_load(&l->puts) - l->taken;
}

/* Appends all blocks of the list, in reverse order. */
static void
fetch_blocks(sn_record_lane *l)
{
    sn_record_block *b = atomic_exchange_explicit(&l->blocks, NULL, memory_order_acquire);
    sn_record_block *oldest = NULL, **tail = &l->turn;

    while (b) {
        sn_record_block *next = b->next;

        b->next = oldest;
        oldest = b;
        b = next;
    }
    while (*tail)
        tail = &(*tail)->next;
    *tail = oldest;
}

seine_record *
sn_record_lane_next(sn_record_lane *l, sn_record_block **out_block)
{
    size_t n;

    if (!l->turn && atomic_load_explicit(&l->blocks, memory_order_relaxed))
        fetch_blocks(l);
    *out_block = NULL;
    if (l->turn && sn_ring_taken_at(&l->ring) >= l->turn->after) {
        *out_block = l->turn;
        l->turn = l->turn->next;
        return (*out_block)->record;
    }
    return sn_ring_peek(&l->ring, &n);
}

void
sn_record_lane_done(sn_record_lane *l, const sn_record_block *block)
{
    l->taken++;
    if (!block)
        sn_ring_pop(&l->ring);
}

void
sn_record_lane_release(sn_record_lane *l)
{
    sn_ring_release(&l->ring);
}

bool
sn_record_lane_is_ready(const sn_record_lane *l)
{
    size_t half = sn_ring_longest(&l->ring);

    return sn_ring_used(&l->ring) < half &&
           atomic_load_explicit(&l->held, memory_order_acquire) < 2 * half;
}

bool
sn_record_lane_is_quarter(const sn_record_lane *l)
{
    return sn_ring_used(&l->ring) >= sn_ring_longest(&l->ring) / 2;
}
