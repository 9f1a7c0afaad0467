/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ring.h - messages of any length from one thread to another, without a lock.
 *
 * A message is contiguous in the ring: the producer writes it in place, the consumer
 * reads it in place. The consumer sees messages when they are published, and the producer
 * gets room back when it is released. One call can publish or release many messages.
 *
 *     void *m = sn_ring_reserve(&r, n);               NULL: no room now
 *     memcpy(m, bytes, n);
 *     sn_ring_put(&r);
 *     sn_ring_publish(&r);
 *
 *     while ((m = sn_ring_peek(&r, &n))) {            the other thread
 *         use(m, n);
 *         sn_ring_pop(&r);
 *     }
 *     sn_ring_release(&r);
 *
 * Positions count bytes since the beginning and never wrap.
 *
 * Time    plays no part.
 * Memory  `size` bytes; a message takes 16 more than its length, rounded up to 16.
 * Threads one puts, one takes; sn_ring_used: any.
 */
#ifndef SN_RING_H
#define SN_RING_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/err.h"

typedef struct sn_ring {
    char *bytes;
    uint64_t mask;

    _Alignas(64) _Atomic uint64_t published; /* written by the producer */
    uint64_t put, reserved, room_from;

    _Alignas(64) _Atomic uint64_t released; /* written by the consumer */
    uint64_t taken, next, seen;
} sn_ring;

/* `size` is a power of two, at least 64. INVAL, NOMEM. */
SEINE_MUST_CHECK seine_err sn_ring_init(sn_ring *r, size_t size);
void sn_ring_fini(sn_ring *r);

/* The longest message: it fits whenever the ring is empty. */
size_t sn_ring_longest(const sn_ring *r);

/* Memory for a message of n bytes, aligned to 16; NULL: no room. */
void *sn_ring_reserve(sn_ring *r, size_t n);
void sn_ring_put(sn_ring *r);
void sn_ring_publish(sn_ring *r);

/* The next message, the same one until it is popped; NULL: none is published. */
void *sn_ring_peek(sn_ring *r, size_t *out_n);
void sn_ring_pop(sn_ring *r);
void sn_ring_release(sn_ring *r);

/* Where the next put begins, and where the next take begins. A message put at a position
 * is taken once sn_ring_taken_at is beyond it. */
uint64_t sn_ring_put_at(const sn_ring *r);
uint64_t sn_ring_taken_at(const sn_ring *r);

size_t sn_ring_used(const sn_ring *r); /* bytes that are not free */

#endif
