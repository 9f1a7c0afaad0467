/* SPDX-License-Identifier: Apache-2.0 */
/* shared.h - a shared bucket as keyed.c and call.c use it, beyond the contract. */
#ifndef SN_SHARED_H
#define SN_SHARED_H

#include "seine/shared.h"

/* Fills limit, left and reset_after of a grant from a bucket. */
void sn_grant_fill(seine_grant *g, const seine_limiter *bucket, seine_time now);

/* Continues a bucket that was kept elsewhere; `lim` is still private to the caller. */
void sn_shared_restore(seine_shared *lim, seine_time full);

/* The moment at which the bucket is full, for who continues it elsewhere. */
seine_time sn_shared_full(const seine_shared *lim);

/* As seine_shared_wait; *out_mark is written when it returns OK. */
SEINE_MUST_CHECK seine_err sn_shared_wait(seine_shared *lim, seine_ctx *ctx, int64_t n,
                                          seine_span max_wait, seine_time *out_mark);

/* Gives the tokens of a grant back that was not used, also when it is not the newest any
 * more: all of it, except for the time that has passed since. Never admits more than the
 * rate. */
void sn_shared_give_back(seine_shared *lim, seine_time now, seine_time mark, uint32_t n);

/* Sets a valid rate and fills the bucket, in one step: a waiter sees both or none. */
void sn_shared_renew(seine_shared *lim, const seine_rate *rate);

/* Is the bucket the same as a fresh one: full, not paused, without waiters? */
bool sn_shared_idle(const seine_shared *lim, seine_time now);

#endif
