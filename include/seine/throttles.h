/* SPDX-License-Identifier: Apache-2.0 */
/*
 * throttles.h - a concurrency limit per key: how many calls to each host at the same
 * time?
 *
 * One throttle for the whole process lets a slow host take all slots. Here every key has
 * a semaphore of its own, made when the key is first used and dropped when it is idle:
 * six at once per host, whatever the other hosts do.
 *
 *     seine_throttles *per_host;
 *     seine_throttles_opts opts = SEINE_THROTTLES_OPTS;
 *     if (seine_throttles_new(&opts, &per_host) != SEINE_OK)
 *         return usage();
 *     seine_view host = seine_key_str("https://h.example:443");
 *     seine_slot slot;
 *     if (seine_throttles_wait(per_host, ctx, host, &slot) != SEINE_OK)
 *         return too_late();
 *     work();
 *     seine_err e = seine_throttle_release(&slot, SEINE_SUCCESS, now);
 *
 * The slots are those of throttle.h and are released as they are. Calls of one key that
 * wait are served first come, first served. The table holds at most max_keys; an idle key
 * holds no information and makes room. When all keys have calls in flight, new keys share
 * one overflow throttle of the same size; the table counts these calls. A NULL table is
 * off: it admits.
 *
 * Time    is passed in; seine_throttles_wait reads the clock of its ctx.
 * Memory  80 bytes per key, on pages that are touched when they are needed; keys over
 *         24 bytes and the first wait on a key cost extra.
 * Threads any thread; the table is cut into shards with a lock each.
 */
#ifndef SEINE_THROTTLES_H
#define SEINE_THROTTLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/ctx.h"
#include "seine/err.h"
#include "seine/key.h"
#include "seine/throttle.h"
#include "seine/time.h"

typedef struct seine_throttles seine_throttles;

typedef struct seine_throttles_opts {
    size_t size;       /* of this struct: SEINE_THROTTLES_OPTS sets it */
    uint32_t permits;  /* 6; slots per key */
    uint32_t max_keys; /* 65536 */
    size_t max_bytes;  /* 16 MiB; for keys over 24 bytes */
} seine_throttles_opts;

/* clang-format off */
#define SEINE_THROTTLES_OPTS {sizeof(seine_throttles_opts), 6, 65536, 16u << 20}
/* clang-format on */

SEINE_BEGIN

/* INVAL: permits 0, max_keys 0 or above 2^26. NOMEM. */
SEINE_MUST_CHECK seine_err seine_throttles_new(const seine_throttles_opts *opts,
                                               seine_throttles **out_throttles);
void seine_throttles_free(seine_throttles *r); /* after the last slot is released */

/* As seine_throttle_try and wait, on the throttle of `key`. */
bool seine_throttles_try(seine_throttles *r, seine_view key, seine_time now,
                         seine_slot *out_slot);
SEINE_MUST_CHECK seine_err seine_throttles_wait(seine_throttles *r, seine_ctx *ctx,
                                                seine_view key, seine_slot *out_slot);

/* Slots of this key that are out; adds no key. */
uint32_t seine_throttles_in_flight(const seine_throttles *r, seine_view key);

/* Keys in the table now; calls that the overflow throttle has served or refused. */
uint32_t seine_throttles_keys(const seine_throttles *r);
uint64_t seine_throttles_overflowed(const seine_throttles *r);

SEINE_END

#endif
