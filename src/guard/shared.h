/* SPDX-License-Identifier: Apache-2.0 */
/* shared.h - a shared bucket as keyed.c uses it, beyond the contract. */
#ifndef SN_SHARED_H
#define SN_SHARED_H

#include "seine/shared.h"

/* Fills limit, left and reset_after of a grant from a bucket. */
void sn_grant_fill(seine_grant *g, const seine_limiter *bucket, seine_time now);

/* Continues a bucket that was kept elsewhere; `lim` is still private to the caller. */
void sn_shared_restore(seine_shared *lim, seine_time full);

/* Is the bucket the same as a fresh one: full, not paused, without waiters? */
bool sn_shared_idle(const seine_shared *lim, seine_time now);

#endif
