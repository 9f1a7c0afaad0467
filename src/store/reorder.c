/* SPDX-License-Identifier: Apache-2.0 */
#include "store/reorder.h"

#include <assert.h>

#include "base/alloc.h"

enum { SMALLEST = 64 };

void
sn_reorder_fini(sn_reorder *o)
{
    for (uint64_t i = 0; i < o->size; i++)
        while (o->slots[i]) {
            sn_record_block *b = o->slots[i];

            o->slots[i] = b->next;
            sn_record_block_free(b);
        }
    sn_free(o->slots);
    *o = (sn_reorder){.size = 0};
}

static sn_record_block **
slot(sn_record_block **slots, uint64_t size, uint64_t number)
{
    return &slots[number & (size - 1)];
}

/* Grows the ring so that the number `ahead` of the due one has a place. */
static seine_err
grow_ring(sn_reorder *o, uint64_t ahead)
{
    uint64_t size = o->size ? o->size : SMALLEST;

    while (size <= ahead && size <= SIZE_MAX / 16)
        size *= 2;
    if (size <= ahead)
        return SEINE_E_NOMEM;

    sn_record_block **slots = sn_calloc((size_t)size, sizeof(void *));
    if (!slots)
        return SEINE_E_NOMEM;
    for (uint64_t i = 0; i < o->size; i++)
        if (o->slots[i])
            *slot(slots, size, o->slots[i]->record->number) = o->slots[i];
    sn_free(o->slots);
    o->slots = slots;
    o->size = size;
    return SEINE_OK;
}

seine_err
sn_reorder_hold(sn_reorder *o, sn_record_block *give)
{
    uint64_t number = give->record->number;
    seine_err e = SEINE_OK;

    assert(number > o->due);
    if (number - o->due >= o->size)
        e = grow_ring(o, number - o->due);
    if (e != SEINE_OK)
        return e;

    sn_record_block **place = slot(o->slots, o->size, number);
    if (*place) { /* a duplicate number */
        give->next = (*place)->next;
        (*place)->next = give;
    } else {
        give->next = NULL;
        *place = give;
    }
    o->waiting++;
    return SEINE_OK;
}

void
sn_reorder_pass(sn_reorder *o)
{
    o->due++;
}

sn_record_block *
sn_reorder_take(sn_reorder *o)
{
    sn_record_block **place = o->size ? slot(o->slots, o->size, o->due) : NULL;
    sn_record_block *b = place ? *place : NULL;

    if (!b)
        return NULL;
    *place = b->next;
    o->waiting--;
    if (!*place)
        o->due++;
    return b;
}

void
sn_reorder_skip(sn_reorder *o)
{
    while (o->waiting > 0 && !*slot(o->slots, o->size, o->due))
        o->due++;
}
