/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - numbered records wait until all before them are there.
 *
 *     if (r->number == o.due)
 *         write(r), sn_order_pass(&o);
 *     else
 *         e = sn_order_hold(&o, block);
 *     while ((b = sn_order_take(&o)))              what was waiting for it
 *         write(b->record);
 *
 * Time    plays no part.
 * Memory  eight bytes for each number between the one that is due and the highest.
 * Threads one owner.
 */
#ifndef SN_ORDER_H
#define SN_ORDER_H

#include "store/record_lane.h"

typedef struct sn_order {
    sn_record_block **slots;
    uint64_t size; /* a power of two, or 0 */
    uint64_t due;  /* the number that comes next */
    uint64_t waiting;
} sn_order;

void sn_order_fini(sn_order *o); /* and what waits */

/* The number of `give` is above the one that is due. NOMEM: it stays the caller's. */
SEINE_MUST_CHECK seine_err sn_order_hold(sn_order *o, sn_record_block *give);

void sn_order_pass(sn_order *o); /* the due one is written */

/* The one that is due, if it waits; it is passed, and the caller's. */
sn_record_block *sn_order_take(sn_order *o);

/* Nobody is coming any more: due is the lowest that waits. */
void sn_order_skip(sn_order *o);

#endif
