/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_lane.h - a queue of records from one shard to the thread that writes them.
 *
 * A record is copied into a ring buffer and read there in place. A large record, or one
 * that finds the ring full, becomes a block on a list, with the position in the ring that
 * it follows. So put never fails while there is memory.
 *
 *     e = sn_record_lane_put(&l, record);                 the shard
 *
 *     for (n = sn_record_lane_waiting(&l); n > 0; n--) {  the thread
 *         r = sn_record_lane_next(&l, &block);
 *         …                                        keeps or frees a block it was given
 *         sn_record_lane_done(&l, block);
 *     }
 *     sn_record_lane_release(&l);
 *
 * Time    plays no part.
 * Memory  the ring, and blocks; `held` counts their bytes.
 * Threads one producer, one consumer; is_ready: any thread.
 */
#ifndef SN_RECORD_LANE_H
#define SN_RECORD_LANE_H

#include <stdatomic.h>

#include "base/ring.h"
#include "seine/record.h"

/* A record with everything it points to, on the heap. */
typedef struct sn_record_block {
    struct sn_record_block *next;
    uint64_t after; /* position in the ring */
    size_t size;    /* with what its hold keeps */
    seine_record *record;
} sn_record_block;

sn_record_block *sn_record_block_new(const seine_record *r); /* NULL: no memory */
void sn_record_block_free(sn_record_block *b);
sn_record_block *sn_record_block_of(seine_record *r); /* whose record it is */

typedef struct sn_record_lane {
    sn_ring ring;
    _Alignas(64) _Atomic uint64_t puts; /* records put */
    sn_record_block *_Atomic blocks;    /* newest first */
    _Alignas(64) _Atomic size_t held;
    _Atomic uint32_t starved; /* somebody was told "not ready" */
    uint64_t taken;           /* records done */
    sn_record_block *turn;    /* oldest first */
} sn_record_lane;

/* `size` bytes of ring, a power of two. INVAL, NOMEM. */
SEINE_MUST_CHECK seine_err sn_record_lane_init(sn_record_lane *l, size_t size);
void sn_record_lane_fini(sn_record_lane *l);

/* NOMEM. */
SEINE_MUST_CHECK seine_err sn_record_lane_put(sn_record_lane *l, const seine_record *r);

uint64_t sn_record_lane_waiting(const sn_record_lane *l); /* records put and not done */

/* Returns the next waiting record. *out_block: the block that holds it, which the caller
 * then owns; NULL: the record is valid until done. */
seine_record *sn_record_lane_next(sn_record_lane *l, sn_record_block **out_block);
void sn_record_lane_done(sn_record_lane *l, const sn_record_block *block);
void sn_record_lane_release(sn_record_lane *l);

/* True if less than half of it is used. */
bool sn_record_lane_is_ready(const sn_record_lane *l);
bool sn_record_lane_is_quarter(const sn_record_lane *l); /* at least a quarter */

#endif
