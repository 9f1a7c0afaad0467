/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of single hosts, by their names. */
#include "base/alloc.h"
#include "engine/host.h"

enum { POLICIES_MOST = UINT16_MAX };

/* The place of a policy in the list of this shard. */
static seine_err
place_policy(sn_hosts *hs, const sn_host_policy *p, uint16_t *out)
{
    for (uint32_t i = 1; i < hs->n_policies; i++)
        if (hs->policies[i] == p) {
            *out = (uint16_t)i;
            return SEINE_OK;
        }
    if (hs->n_policies == POLICIES_MOST)
        return SEINE_E_NOMEM;
    if (hs->n_policies + 1 >= hs->policies_room) {
        uint32_t room = hs->policies_room ? hs->policies_room * 2 : 16;
        const sn_host_policy **list = sn_realloc(hs->policies, room * sizeof *list);

        if (!list)
            return SEINE_E_NOMEM;
        hs->policies = list;
        hs->policies_room = room;
    }
    if (hs->n_policies == 0)
        hs->policies[hs->n_policies++] = NULL;
    *out = (uint16_t)hs->n_policies;
    hs->policies[hs->n_policies++] = p;
    return SEINE_OK;
}

seine_err
sn_hosts_look_up(sn_hosts *hs, uint32_t host)
{
    const sn_host_policy *p = NULL;
    uint16_t place = 0;
    seine_err e = SEINE_OK;

    if (hs->said)
        e = sn_host_policies_find(hs->said, sn_hosts_name(hs, host), &p);
    if (e == SEINE_OK && p)
        e = place_policy(hs, p, &place);
    if (e == SEINE_OK)
        hs->cards[host].policy = place;
    return e;
}

seine_err
sn_hosts_set_table(sn_hosts *hs, sn_host_policies *table)
{
    seine_err first = SEINE_OK;

    hs->said = table;
    for (uint32_t i = 0; i < hs->n; i++) {
        seine_err e = sn_hosts_look_up(hs, i);

        first = first != SEINE_OK ? first : e; /* the others follow the new table */
    }
    return first;
}

void
sn_hosts_settle_visit(const sn_hosts *hs, sn_visit *v)
{
    const sn_host_policy *p = sn_hosts_policy(hs, v->host);
    const seine_fetch_opts *o = &hs->shared->opts;

    if (!p && !v->policy)
        return;
    v->policy = p;
    if (!v->has_timeout)
        v->timeout = p ? p->limits.time.attempt : o->timeout;
    if (!v->has_retries)
        v->retry.opts = p ? &p->retry : &o->retry;
}

uint32_t
sn_hosts_failures(const sn_hosts *hs, uint32_t host)
{
    const sn_host_policy *p = sn_hosts_policy(hs, host);

    return p ? p->failures : hs->shared->opts.breaker.failure_threshold;
}

seine_span
sn_hosts_max_retry_after(const sn_hosts *hs, uint32_t host)
{
    const sn_host_policy *p = sn_hosts_policy(hs, host);

    return p ? p->max_retry_after : hs->shared->opts.max_retry_after;
}

bool
sn_hosts_is_adaptive(const sn_hosts *hs, uint32_t host)
{
    const sn_host_policy *p = sn_hosts_policy(hs, host);

    return p ? p->adaptive : hs->shared->opts.adaptive;
}
