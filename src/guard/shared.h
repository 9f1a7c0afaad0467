/* SPDX-License-Identifier: Apache-2.0 */
/* shared.h - what keyed needs of a shared bucket beyond its contract. */
#ifndef SN_SHARED_H
#define SN_SHARED_H

#include "seine/shared.h"

/* Fills the books of a grant from a bucket: limit, left and reset_after. */
void sn_grant_fill(seine_grant *g, const seine_limiter *bucket, seine_time now);

/* Continues a bucket kept elsewhere: before anybody else knows `lim`. */
void sn_shared_restore(seine_shared *lim, seine_time full);

/* True if nobody could tell it from a fresh one: full, not shut, nobody waits. */
bool sn_shared_idle(const seine_shared *lim, seine_time now);

#endif
