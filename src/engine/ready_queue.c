/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/ready_queue.h"

#define LOW_SHARE 8 /* of so many starts the low lane gets one */

void
sn_host_queue_put(sn_host_queue *l, sn_host *hosts, uint32_t host, bool first)
{
    if (l->first == SN_NONE) {
        hosts[host].link = SN_NONE;
        l->first = l->last = host;
    } else if (first) {
        hosts[host].link = l->first;
        l->first = host;
    } else {
        hosts[host].link = SN_NONE;
        hosts[l->last].link = host;
        l->last = host;
    }
}

uint32_t
sn_host_queue_take(sn_host_queue *l, sn_host *hosts)
{
    uint32_t host = l->first;

    if (host == SN_NONE)
        return SN_NONE;
    l->first = hosts[host].link;
    if (l->first == SN_NONE)
        l->last = SN_NONE;
    return host;
}

void
sn_ready_queue_init(sn_ready_queue *r)
{
    *r = (sn_ready_queue){0};
    for (unsigned i = 0; i < SN_LANES; i++)
        r->lanes[i] = SN_HOST_QUEUE_NONE;
}

void
sn_ready_queue_put(sn_ready_queue *r, sn_host *hosts, uint32_t host, bool first)
{
    sn_host_queue_put(&r->lanes[sn_host_lane(&hosts[host])], hosts, host, first);
}

uint32_t
sn_ready_queue_take(sn_ready_queue *r, sn_host *hosts)
{
    uint32_t host = SN_NONE;

    if (r->low_turns >= LOW_SHARE - 1 &&
        (host = sn_host_queue_take(&r->lanes[SN_LOW], hosts)) != SN_NONE) {
        r->low_turns = 0;
        return host;
    }
    for (unsigned i = 0; i < SN_LANES && host == SN_NONE; i++)
        host = sn_host_queue_take(&r->lanes[i], hosts);
    if (r->lanes[SN_LOW].first != SN_NONE)
        r->low_turns++;
    return host;
}

bool
sn_ready_queue_is_empty(const sn_ready_queue *r)
{
    for (unsigned i = 0; i < SN_LANES; i++)
        if (r->lanes[i].first != SN_NONE)
            return false;
    return true;
}
