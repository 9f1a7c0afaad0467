/* SPDX-License-Identifier: Apache-2.0 */
/*
 * breaker.h - the breaker's steps, with the change they made instead of a call.
 *
 * The functions of seine/breaker.h are these plus on_change. Whoever works under
 * a lock (breakers.c) takes the change, unlocks and tells it then:
 *
 *     sn_change change = {0};
 *     e = sn_breaker_acquire(b, now, false, &permit, &change);
 *     unlock();
 *     sn_change_tell(opts, &change);
 *
 * A step changes the state at most once.
 */
#ifndef SN_BREAKER_H
#define SN_BREAKER_H

#include <stdbool.h>

#include "seine/breaker.h"

typedef struct sn_change {
    seine_breaker_state from, to; /* equal: nothing to tell */
    uint64_t seq;
} sn_change;

void sn_change_tell(const seine_breaker_opts *opts, const sn_change *change);

/* `loose`: the slot of a probe is settled by record, not by its permit. */
SEINE_MUST_CHECK seine_err sn_breaker_acquire(seine_breaker *b, seine_time now,
                                              bool loose, seine_permit *out_permit,
                                              sn_change *change);
SEINE_MUST_CHECK seine_err sn_breaker_settle(seine_breaker *b, seine_permit *permit,
                                             seine_outcome how, seine_time now,
                                             sn_change *change);
seine_time sn_breaker_when(seine_breaker *b, seine_time now, sn_change *change);
void sn_breaker_reset(seine_breaker *b, sn_change *change);

/* CLOSED and no failure counted: as good as new. */
bool sn_breaker_is_idle(const seine_breaker *b);

/* OPEN: its open_until; else NEVER. */
seine_time sn_breaker_open_until(const seine_breaker *b);

uint64_t sn_breaker_generation(const seine_breaker *b);
void sn_breaker_set_generation(seine_breaker *b, uint64_t generation);

#endif
