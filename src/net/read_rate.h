/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_rate.h - how many bytes may be read now? One bucket of bytes for all transports of
 * a run.
 *
 * A transport buys a piece of bytes, a hundredth of a second's worth, and reads until it
 * has read what it paid for. What it had to read beyond that, a whole record of TLS or a
 * handshake, it pays before it reads on. So in any time t a run reads at most rate * t,
 * the burst of a tenth of a second, and what is left over of a piece or a record per
 * transport. At 200,000 bytes a second the burst is 20,000, and a piece 2,000.
 *
 *     e = sn_read_rate_new(200000, now, &r);
 *     size_t room = sn_read_rate_room(r, &paid, bytes_in, now, &at);
 *     if (room == 0)
 *         wait_until(at);
 *     sn_read_rate_tell(r, SEINE_MS(10));
 *
 * Time    is passed in.
 * Memory  one bucket.
 * Threads any thread; `paid` belongs to one transport.
 */
#ifndef SN_READ_RATE_H
#define SN_READ_RATE_H

#include <stddef.h>
#include <stdint.h>

#include "seine/err.h"
#include "seine/time.h"

typedef struct sn_read_rate sn_read_rate;

/* INVAL: a rate of 0. NOMEM. */
SEINE_MUST_CHECK seine_err sn_read_rate_new(uint64_t bytes_per_second, seine_time now,
                                            sn_read_rate **out_rate);
void sn_read_rate_free(sn_read_rate *r); /* NULL is fine */

/* How many bytes the transport may read, which has read `in` and paid for `*paid` in all.
 * 0: none before `*out_at`. */
size_t sn_read_rate_room(sn_read_rate *r, uint64_t *paid, uint64_t in, seine_time now,
                         seine_time *out_at);

/* A transport had something to read for that long in all, and did not. */
void sn_read_rate_tell(sn_read_rate *r, seine_span waited);
seine_span
sn_read_rate_waited(const sn_read_rate *r); /* the transport that waited most */

#endif
