/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reorder.h - a reorder buffer: numbered records wait for all records before them.
 *
 *     if (number == o.due) {
 *         write_out(record);
 *         sn_reorder_pass(&o);
 *     } else {
 *         e = sn_reorder_hold(&o, block);
 *     }
 *     while ((b = sn_reorder_take(&o)))            the records that waited for it
 *         write_out(b->record);
 *
 * Time    plays no part.
 * Memory  eight bytes per number between the due one and the highest.
 * Threads one owner.
 */
#ifndef SN_REORDER_H
#define SN_REORDER_H

#include "store/record_lane.h"

typedef struct sn_reorder {
    sn_record_block **slots;
    uint64_t size; /* a power of two, or 0 */
    uint64_t due;  /* the next number to write */
    uint64_t waiting;
} sn_reorder;

void sn_reorder_fini(sn_reorder *o); /* frees waiting records too */

/* Holds `give`, whose number is above the due one. NOMEM: the caller keeps it. */
SEINE_MUST_CHECK seine_err sn_reorder_hold(sn_reorder *o, sn_record_block *give);

void sn_reorder_pass(sn_reorder *o); /* the due record is written */

/* Takes the due record if it waits here, and moves on; the caller owns it. */
sn_record_block *sn_reorder_take(sn_reorder *o);

/* No more records come: moves to the lowest number that waits. */
void sn_reorder_skip(sn_reorder *o);

#endif
