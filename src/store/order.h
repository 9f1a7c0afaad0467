/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - a reorder buffer: numbered records wait for all records before them.
 *
 *     if (r->number == o.due)
 *         write(r), sn_order_pass(&o);
 *     else
 *         e = sn_order_hold(&o, block);
 *     while ((b = sn_order_take(&o)))              records that follow it
 *         write(b->record);
 *
 * Time    plays no part.
 * Memory  eight bytes per number between the due one and the highest.
 * Threads one owner.
 */
#ifndef SN_ORDER_H
#define SN_ORDER_H

#include "store/record_lane.h"

typedef struct sn_order {
    sn_record_block **slots;
    uint64_t size; /* a power of two, or 0 */
    uint64_t due;  /* the next number to write */
    uint64_t waiting;
} sn_order;

void sn_order_fini(sn_order *o); /* frees waiting records too */

/* Holds `give`, whose number is above the due one. NOMEM: the caller keeps it. */
SEINE_MUST_CHECK seine_err sn_order_hold(sn_order *o, sn_record_block *give);

void sn_order_pass(sn_order *o); /* the due record is written */

/* Takes the due record if it waits here, and moves on; the caller owns it. */
sn_record_block *sn_order_take(sn_order *o);

/* No more records come: moves to the lowest number that waits. */
void sn_order_skip(sn_order *o);

#endif
