/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ready.h - of the hosts that may be asked now, whose turn is it?
 *
 * Three lanes, each first in, first out: a host gives one URL and goes to the back, so
 * that two which are always ready differ by one start at most. High before normal; of
 * eight starts the low lane gets one while it waits. A lane is a list through `link` of
 * the hosts; one that meanwhile belongs elsewhere stays in it and is passed over by
 * whoever takes it.
 *
 *     sn_ready_put(&r, hosts, host, sn_host_lane(h), false);
 *     while ((host = sn_ready_take(&r, hosts)) != SN_NONE)
 *
 * Time    plays no part.
 * Memory  none of its own.
 * Threads one owner.
 */
#ifndef SN_READY_H
#define SN_READY_H

#include "engine/host.h"

typedef struct sn_turns {
    uint32_t first, last; /* hosts; SN_NONE: empty */
} sn_turns;

#define SN_TURNS_NONE ((sn_turns){SN_NONE, SN_NONE})

typedef struct sn_ready {
    sn_turns lanes[SN_LANES];
    uint32_t low_turns; /* starts since the low lane had its turn */
} sn_ready;

void sn_turns_put(sn_turns *l, sn_host *hosts, uint32_t host, bool first);
uint32_t sn_turns_take(sn_turns *l, sn_host *hosts); /* SN_NONE: it is empty */

void sn_ready_init(sn_ready *r);
void sn_ready_put(sn_ready *r, sn_host *hosts, uint32_t host, bool first);
uint32_t sn_ready_take(sn_ready *r, sn_host *hosts); /* SN_NONE: all are empty */
bool sn_ready_is_empty(const sn_ready *r);

#endif
