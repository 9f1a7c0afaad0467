/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_lane.h"

#include <sched.h>
#include <string.h>

#include "base/alloc.h"
#include "store/job.h"

enum { BLOCK = (64 << 10) - sizeof(sn_job_block) };

void
sn_job_lane_fini(sn_job_lane *l)
{
    for (sn_job_block *b = l->head; b;) {
        sn_job_block *next = atomic_load(&b->next);

        sn_free(b);
        b = next;
    }
    *l = (sn_job_lane){.head = NULL};
}

/* Memory for n bytes: in the last block, or in a new one behind it. The consumer may be
 * in the last block and goes on to the next one when it has read all before `put`. */
static char *
reserve(sn_job_lane *l, size_t n)
{
    if (l->tail && l->tail->room - l->at >= n)
        return l->tail->bytes + l->at;
    size_t room = n > BLOCK ? n : BLOCK;
    sn_job_block *b = sn_alloc(sizeof *b + room);

    if (!b)
        return NULL;
    atomic_init(&b->next, NULL);
    b->room = room;
    if (l->tail) {
        if (l->tail->room - l->at >= sizeof(uint32_t))
            memset(l->tail->bytes + l->at, 0, sizeof(uint32_t)); /* ends the block */
        atomic_store_explicit(&l->tail->next, b, memory_order_release);
    } else {
        l->head = b;
    }
    l->tail = b;
    l->at = 0;
    return b->bytes;
}

seine_err
sn_job_lane_put(sn_job_lane *l, sn_job_kind kind, const int64_t *ints, unsigned n_ints,
                const sn_str *texts, unsigned n_texts)
{
    size_t size = sizeof(sn_job_op) + n_ints * sizeof *ints;

    for (unsigned i = 0; i < n_texts; i++)
        size += texts[i].len;
    if (size > UINT32_MAX - 8)
        return SEINE_E_RANGE;
    size = (size + 7) / 8 * 8;
    char *place = reserve(l, size);
    if (!place) {
        atomic_store(&l->has_failed, true);
        return SEINE_E_NOMEM;
    }
    sn_job_op op = {
        .size = (uint32_t)size, .kind = (uint16_t)kind, .n_ints = (uint16_t)n_ints};
    for (unsigned i = 0; i < n_texts; i++)
        op.lens[i] = (uint32_t)texts[i].len;
    memcpy(place, &op, sizeof op);
    if (n_ints > 0)
        memcpy(place + sizeof op, ints, n_ints * sizeof *ints);
    char *to = place + sizeof op + n_ints * sizeof *ints;
    for (unsigned i = 0; i < n_texts; i++) {
        if (texts[i].len > 0)
            memcpy(to, texts[i].ptr, texts[i].len);
        to += texts[i].len;
    }
    l->at += size;
    atomic_store_explicit(&l->put,
                          atomic_load_explicit(&l->put, memory_order_relaxed) + size,
                          memory_order_release);
    return SEINE_OK;
}

uint64_t
sn_job_lane_held(const sn_job_lane *l)
{
    uint64_t taken = atomic_load_explicit(&l->taken, memory_order_acquire);

    return atomic_load_explicit(&l->put, memory_order_acquire) - taken;
}

sn_job_cursor
sn_job_lane_read(const sn_job_lane *l)
{
    uint64_t end = atomic_load_explicit(&l->put, memory_order_acquire);
    uint64_t taken = atomic_load_explicit(&l->taken, memory_order_relaxed);

    if (end == taken) /* the producer may be making the first block */
        return (sn_job_cursor){NULL, 0, taken, end};
    return (sn_job_cursor){l->head, l->from, taken, end};
}

/* Is the block read to its end? It ends where a size of 0 stands, or where no size
 * fits. */
static bool
is_read(const sn_job_cursor *c)
{
    uint32_t size;

    if (c->block->room - c->from < sizeof size)
        return true;
    memcpy(&size, c->block->bytes + c->from, sizeof size);
    return size == 0;
}

const sn_job_op *
sn_job_lane_next(sn_job_cursor *c)
{
    if (c->at >= c->end)
        return NULL;
    if (is_read(c)) {
        c->block = atomic_load_explicit(&c->block->next, memory_order_acquire);
        c->from = 0;
    }
    const sn_job_op *op = (const void *)(c->block->bytes + c->from);
    c->from += op->size;
    c->at += op->size;
    return op;
}

void
sn_job_lane_release(sn_job_lane *l, const sn_job_cursor *c)
{
    if (!c->block)
        return;
    while (l->head != c->block) {
        sn_job_block *next = atomic_load_explicit(&l->head->next, memory_order_acquire);

        sn_free(l->head);
        l->head = next;
    }
    l->from = c->from;
    atomic_store_explicit(&l->taken, c->at, memory_order_release);
}

sn_str
sn_job_op_text(const sn_job_op *op, unsigned i)
{
    const char *at = (const char *)(op->ints + op->n_ints);

    for (unsigned k = 0; k < i; k++)
        at += op->lens[k];
    return (sn_str){op->lens[i] > 0 ? at : "", op->lens[i]};
}

void
sn_job_lane_enter(sn_job_lane *l)
{
    atomic_fetch_add_explicit(&l->entered, 1, memory_order_acq_rel);
}

void
sn_job_lane_leave(sn_job_lane *l)
{
    atomic_fetch_add_explicit(&l->entered, 1, memory_order_release);
}

void
sn_job_lane_wait(const sn_job_lane *l)
{
    uint32_t was = atomic_load(&l->entered);

    while ((was & 1) && atomic_load(&l->entered) == was)
        sched_yield(); /* it is on its way through a few links */
}
