/* SPDX-License-Identifier: Apache-2.0 */
/* Limits of hosts that were changed while the run goes on. */
#include <string.h>

#include "base/alloc.h"
#include "base/time.h"
#include "engine/host.h"

const sn_host_tune *
sn_hosts_tuned(const sn_hosts *hs, uint32_t host)
{
    sn_str name = sn_hosts_name(hs, host);

    for (size_t i = hs->n_tunes; i-- > 0;)
        if (sn_tune_fits(hs->tunes[i].host, name))
            return &hs->tunes[i];
    return NULL;
}

/* The entry of that name; made, with nothing said, if there is none. */
static sn_host_tune *
entry_of(sn_hosts *hs, const char *host)
{
    for (size_t i = 0; i < hs->n_tunes; i++)
        if (strcmp(hs->tunes[i].host, host) == 0)
            return &hs->tunes[i];
    sn_host_tune *all = sn_realloc(hs->tunes, (hs->n_tunes + 1) * sizeof *all);
    if (!all)
        return NULL;
    hs->tunes = all;
    sn_host_tune *t = &all[hs->n_tunes++];
    *t = (sn_host_tune){.per_host = 0};
    memcpy(t->host, host, strlen(host) + 1);
    return t;
}

seine_err
sn_hosts_tune(sn_hosts *hs, const sn_tune *tune)
{
    seine_rate *rate = &hs->host_rate;
    uint32_t *per_host = &hs->per_host;

    if (tune->policies)
        return sn_hosts_set_table(hs, tune->policies);
    if (tune->host[0]) {
        sn_host_tune *t = entry_of(hs, tune->host);

        if (!t)
            return SEINE_E_NOMEM;
        t->has_rate |= tune->has_host_rate;
        rate = &t->rate;
        per_host = &t->per_host;
    }
    if (tune->has_host_rate)
        *rate = tune->host_rate;
    if (tune->per_host > 0)
        *per_host = tune->per_host;
    if (tune->has_rate)
        hs->rate = tune->rate;
    for (uint32_t i = 0; i < hs->n && tune->host[0]; i++)
        hs->all[i].is_tuned |= sn_tune_fits(tune->host, sn_hosts_name(hs, i));
    return SEINE_OK;
}

seine_rate
sn_hosts_rate_in_force(const sn_hosts *hs, uint32_t host)
{
    const sn_host_tune *t = hs->all[host].is_tuned ? sn_hosts_tuned(hs, host) : NULL;
    const sn_host_policy *p = sn_hosts_policy(hs, host);

    if (t && t->has_rate)
        return t->rate;
    if (p && p->set & SEINE_HOST_RATE)
        return p->rate;
    seine_rate rate = hs->host_rate;
    if (p && p->set & SEINE_HOST_BURST)
        rate.burst = p->rate.burst;
    return rate;
}

uint32_t
sn_hosts_cap_in_force(const sn_hosts *hs, uint32_t host)
{
    const sn_host_tune *t = hs->all[host].is_tuned ? sn_hosts_tuned(hs, host) : NULL;
    const sn_host_policy *p = sn_hosts_policy(hs, host);

    if (t && t->per_host > 0)
        return t->per_host;
    return p && p->set & SEINE_HOST_PER_HOST ? p->per_host : hs->per_host;
}

/* The distance that the newest start of either twin asks for. */
static seine_time
after_last(const sn_hosts *hs, uint32_t host, seine_span every)
{
    const sn_host *h = &hs->all[host];
    seine_time last = INT64_MIN;

    if (h->guards != SN_NONE)
        last = sn_hosts_guards(hs, host)->pace.last;
    if (h->has_twin && hs->all[hs->cards[host].twin].guards != SN_NONE)
        last = sn_time_max(last, sn_hosts_guards(hs, hs->cards[host].twin)->pace.last);
    return last == INT64_MIN ? last : sn_time_add(last, every);
}

seine_time
sn_hosts_next_by_rate(const sn_hosts *hs, uint32_t host, seine_time now)
{
    seine_span every = sn_hosts_every(hs, host);
    const sn_host *h = &hs->all[host];

    if (h->guards == SN_NONE) /* its debt stands in `next` alone */
        return sn_time_min(h->next, sn_time_add(now, every));
    const sn_guards *g = sn_hosts_guards(hs, host);
    seine_span pace = sn_time_max(every, sn_pace_every(&g->pace, now));
    return sn_time_max(after_last(hs, host, pace),
                       seine_limiter_when(&g->limiter, now, 1));
}
