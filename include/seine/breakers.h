/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breakers.h - one breaker per key, for any number of threads.
 *
 * A registry makes a breaker for each new key and evicts breakers that hold no
 * information. The caller chooses the key: for a host it is the canonical authority, so
 * that one dead host leaves the others alone.
 *
 *     seine_view host = seine_key_str("https://example.org:443");
 *     seine_permit p;
 *     seine_err e = seine_breakers_acquire(hosts, host, now, &p);
 *     if (e == SEINE_E_BREAKER)
 *         return come_back_at(seine_breakers_when(hosts, host, now));
 *     if (e != SEINE_OK)
 *         return e;
 *     bool ok = ask();
 *     e = seine_breakers_settle(hosts, host, &p, ok ? SEINE_SUCCESS : SEINE_FAILURE,
 *                               later);
 *
 * The registry holds at most max_keys. For a new key beyond that it evicts the least
 * recently used breaker without failures and without permits out, or else one that is
 * open past its time. If it finds neither, the key shares one overflow breaker with all
 * other keys that found no room; the registry counts these calls.
 *
 * Time    is an argument, as in breaker.h; seine_breakers_wait reads the clock of its
 *         ctx.
 * Memory  about 200 bytes and the key per entry, made when a key is first seen;
 *         acquire of a known key allocates nothing.
 * Threads any thread; on_change is called without a lock held, may call back in
 *         and may be called from several threads at once: `seq`, one sequence
 *         for all keys, gives the order. Its key is empty for the overflow breaker. A
 *         NULL registry is off: it admits.
 */
#ifndef SEINE_BREAKERS_H
#define SEINE_BREAKERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/breaker.h"
#include "seine/ctx.h"
#include "seine/err.h"
#include "seine/key.h"
#include "seine/time.h"

typedef struct seine_breakers seine_breakers;

/* `key` and `stats` are valid during the call; false stops. */
typedef bool (*seine_breakers_fn)(seine_view key, const seine_breaker_stats *stats,
                                  void *arg);

SEINE_BEGIN

/* Copies the options. INVAL as seine_breaker_init and for max_keys 0 (usual:
 * 65536), NOMEM. */
SEINE_MUST_CHECK seine_err seine_breakers_new(const seine_breaker_opts *opts,
                                              uint32_t max_keys,
                                              seine_breakers **out_breakers);

/* Call when no other call is running; permits that are out may then be dropped. */
void seine_breakers_free(seine_breakers *r);

/* OK, BREAKER, or NOMEM for a new key: nothing is taken. */
SEINE_MUST_CHECK seine_err seine_breakers_acquire(seine_breakers *r, seine_view key,
                                                  seine_time now,
                                                  seine_permit *out_permit);

/* With the key of the permit. OK also when its breaker was evicted. */
SEINE_MUST_CHECK seine_err seine_breakers_settle(seine_breakers *r, seine_view key,
                                                 seine_permit *permit, seine_outcome how,
                                                 seine_time now);

/* As seine_breaker_when; adds no key. */
seine_time seine_breakers_when(seine_breakers *r, seine_view key, seine_time now);

/* Waits until acquire would be granted: wakes when a probe is settled, at the end of the
 * open time, and at a reset. It takes nothing, so another call may be faster: acquire,
 * and when that is refused wait again. The ctx's cause, or DEADLINE, at once when the
 * breaker stays open until the deadline or longer. */
SEINE_MUST_CHECK seine_err seine_breakers_wait(seine_breakers *r, seine_ctx *ctx,
                                               seine_view key);

/* Unknown keys are CLOSED. */
seine_breaker_state seine_breakers_state_get(const seine_breakers *r, seine_view key);

/* UNKNOWN for a key that has no breaker of its own. */
SEINE_MUST_CHECK seine_err seine_breakers_stats_get(const seine_breakers *r,
                                                    seine_view key,
                                                    seine_breaker_stats *out_stats);

/* Calls fn once for each key that is there throughout, without a lock held;
 * returns the number of calls. */
size_t seine_breakers_each(const seine_breakers *r, seine_breakers_fn fn, void *arg);

/* Closes one breaker, known or not; closes all, the overflow breaker too. */
void seine_breakers_reset(seine_breakers *r, seine_view key);
void seine_breakers_reset_all(seine_breakers *r);

/* How many acquires the overflow breaker has decided. */
uint64_t seine_breakers_overflowed(const seine_breakers *r);

SEINE_END

#endif
