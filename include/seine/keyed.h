/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyed.h - one token bucket per key: per source, per customer, per client IP.
 *
 * A bucket appears when its key is first used and vanishes when it is full again, since
 * it then equals a fresh one. The table never grows past its bounds. When it is full of
 * keys that owe tokens, it forgets no debt: keys without a place share one bucket (or are
 * refused, or let through), and the table counts them.
 *
 *     seine_keyed *per_client;
 *     seine_keyed_opts opts = SEINE_KEYED_OPTS;              50/s, 100 at once
 *     if (seine_keyed_new(&opts, &per_client) != SEINE_OK)
 *         return usage();
 *     if (!seine_keyed_allow(per_client, seine_key_str("203.0.113.9"), now, 1))
 *         return too_many_requests();
 *
 * Keys are hashed with SipHash-1-3 under a secret, so nobody can prepare keys
 * that collide. A NULL table is switched off: it admits everything.
 *
 * Time    is passed in; seine_keyed_wait reads the clock of its ctx.
 * Memory  about 72 B per key, on pages that are touched when they are needed;
 *         keys over 24 B, pauses, own rates and waiters cost extra.
 * Threads any thread; the table is cut into shards with a lock each.
 */
#ifndef SEINE_KEYED_H
#define SEINE_KEYED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/ctx.h"
#include "seine/err.h"
#include "seine/key.h"
#include "seine/limiter.h"
#include "seine/shared.h"
#include "seine/time.h"

/* How the table treats a key that finds no place. */
typedef enum seine_overflow {
    SEINE_OVERFLOW_SHARED, /* all such keys share one bucket of rate `each` */
    SEINE_OVERFLOW_DENY,
    SEINE_OVERFLOW_ALLOW
} seine_overflow;

typedef struct seine_keyed seine_keyed;

typedef struct seine_keyed_opts {
    size_t size; /* of this struct: SEINE_KEYED_OPTS sets it */
    seine_rate each;
    uint32_t max_keys;
    size_t max_bytes; /* for long keys, waiters, pauses and own rates */
    seine_overflow overflow;
    uint32_t max_waiters; /* per key */
    uint64_t seed[2];     /* {0, 0}: a secret of its own */
} seine_keyed_opts;

#define SEINE_KEYED_OPTS                                                      \
    {                                                                         \
        sizeof(seine_keyed_opts), {50, SEINE_SECS(1), 100}, 65536, 16u << 20, \
            SEINE_OVERFLOW_SHARED, 65536,                                     \
        {                                                                     \
            0, 0                                                              \
        }                                                                     \
    }

typedef struct seine_keyed_totals {
    uint64_t keys, bytes; /* in use now, entries and extras */
    uint64_t created, expired, overflowed;
} seine_keyed_totals;

/* Called for each key on copies, without locks; false stops. */
typedef bool (*seine_keyed_fn)(seine_view key, const seine_limiter_stats *stats,
                               void *arg);

SEINE_BEGIN

/* INVAL: rates that seine_limiter_init_rate refuses; max_keys 0 or above 2^26. */
SEINE_MUST_CHECK seine_err seine_keyed_new(const seine_keyed_opts *opts,
                                           seine_keyed **out_keyed);
void seine_keyed_free(seine_keyed *k); /* after the last call has returned */

/* As seine_shared_allow, try, reserve, undo, wait and reset, on the bucket of `key`.
 * allow of 0 tokens, undo and reset add no key. undo takes the mark of a grant; it gives
 * nothing back when the key has been dropped or forgotten since. */
bool seine_keyed_allow(seine_keyed *k, seine_view key, seine_time now, uint32_t n);
SEINE_MUST_CHECK seine_err seine_keyed_try(seine_keyed *k, seine_view key, seine_time now,
                                           int64_t n, seine_grant *out_grant);
SEINE_MUST_CHECK seine_err seine_keyed_reserve(seine_keyed *k, seine_view key,
                                               seine_time now, int64_t n,
                                               seine_time latest, seine_grant *out_grant);
bool seine_keyed_undo(seine_keyed *k, seine_view key, seine_time mark, uint32_t n);
SEINE_MUST_CHECK seine_err seine_keyed_wait(seine_keyed *k, seine_ctx *ctx,
                                            seine_view key, int64_t n,
                                            seine_span max_wait);

void seine_keyed_reset(seine_keyed *k, seine_view key, seine_time now);

/* Gives a key a rate of its own and keeps it until it is forgotten. FULL: no room. */
SEINE_MUST_CHECK seine_err seine_keyed_set_rate(seine_keyed *k, seine_view key,
                                                seine_time now, const seine_rate *rate);

/* Grants this key nothing before `until`. FULL: no room. */
SEINE_MUST_CHECK seine_err seine_keyed_pause(seine_keyed *k, seine_view key,
                                             seine_time until);

/* As if the key had never been seen; its waiters go on waiting, for a fresh bucket. */
void seine_keyed_forget(seine_keyed *k, seine_view key);

/* UNKNOWN: the key has no bucket now. */
SEINE_MUST_CHECK seine_err seine_keyed_stats_get(const seine_keyed *k, seine_view key,
                                                 seine_time now,
                                                 seine_limiter_stats *out_stats);

/* Visits once every key that stays meanwhile; returns the number of visits. */
size_t seine_keyed_each(const seine_keyed *k, seine_time now, seine_keyed_fn fn,
                        void *arg);

/* Examines up to max_steps entries, drops those that equal a fresh one and returns how
 * many. Call it about every 60 s; insertions also sweep a little. */
size_t seine_keyed_sweep(seine_keyed *k, seine_time now, size_t max_steps);

void seine_keyed_totals_get(const seine_keyed *k, seine_keyed_totals *out_totals);

SEINE_END

#endif
