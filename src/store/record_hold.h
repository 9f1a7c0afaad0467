/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_hold.h - large bytes that a record points to, kept without a copy.
 *
 * A record is copied on its way to the outputs. Its body and its captures may be large:
 * then seine_record.hold keeps their bytes, and a copy of the record takes a reference.
 * Whoever drops the last one frees them.
 *
 *     sn_record_hold_ref(h);       a copy of the record
 *     sn_record_hold_unref(h);     the copy is written
 *
 * Time    plays no part.
 * Memory  the maker's.
 * Threads any thread.
 */
#ifndef SN_RECORD_HOLD_H
#define SN_RECORD_HOLD_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sn_record_hold {
    _Atomic uint32_t refs;
    size_t bytes; /* that it keeps */
    void (*free)(struct sn_record_hold *h);
} sn_record_hold;

void sn_record_hold_ref(sn_record_hold *h); /* NULL is fine, as below */
void sn_record_hold_unref(sn_record_hold *h);

#endif
