/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ready_queue.h - of the hosts that may be asked now, whose turn is it?
 *
 * There are three lanes, each first in, first out. A host gives one URL and goes to the
 * back, so that two hosts that are always ready differ by one start at most. The high
 * lane goes before the normal one, and the low lane gets one of eight starts while it
 * waits. A lane is a list through `link` of the hosts. A host that belongs elsewhere
 * meanwhile stays in its lane, and the caller passes over it.
 *
 *     sn_ready_queue_put(&r, hosts, host, false);
 *     while ((host = sn_ready_queue_take(&r, hosts)) != SN_NONE)
 *         …
 *
 * Time    plays no part.
 * Memory  none of its own.
 * Threads one owner.
 */
#ifndef SN_READY_QUEUE_H
#define SN_READY_QUEUE_H

#include "engine/host.h"

typedef struct sn_host_queue {
    uint32_t first, last; /* hosts; SN_NONE: empty */
} sn_host_queue;

#define SN_HOST_QUEUE_NONE ((sn_host_queue){SN_NONE, SN_NONE})

typedef struct sn_ready_queue {
    sn_host_queue lanes[SN_LANES];
    uint32_t low_turns; /* starts since the low lane had its turn */
} sn_ready_queue;

void sn_host_queue_put(sn_host_queue *l, sn_host *hosts, uint32_t host, bool first);
uint32_t sn_host_queue_take(sn_host_queue *l, sn_host *hosts); /* SN_NONE: it is empty */

void sn_ready_queue_init(sn_ready_queue *r);
void sn_ready_queue_put(sn_ready_queue *r, sn_host *hosts, uint32_t host, bool first);
uint32_t sn_ready_queue_take(sn_ready_queue *r,
                             sn_host *hosts); /* SN_NONE: all are empty */
bool sn_ready_queue_is_empty(const sn_ready_queue *r);

/* A hint for prefetching: whose turn it likely is; those behind it follow by `link`. */
static inline uint32_t
sn_ready_queue_first(const sn_ready_queue *r)
{
    uint32_t high = r->lanes[SN_HIGH].first;

    return high != SN_NONE ? high : r->lanes[SN_NORMAL].first;
}

#endif
