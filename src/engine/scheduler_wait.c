/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "engine/scheduler_parts.h"

seine_err
sn_scheduler_again(sn_scheduler *s, sn_visit *v, seine_time at, seine_wait why,
                   seine_time now)
{
    sn_guards *g;
    seine_err e = sn_hosts_guard(&s->hosts, v->host, now, &g);

    if (e == SEINE_OK && at > now)
        e = sn_heap_put(&s->again, at, (uint64_t)(uintptr_t)v);
    if (e != SEINE_OK)
        return e;
    sn_visit_step(v, SN_WAITING);
    s->n_waiting++;
    v->lane = SN_HIGH;
    v->not_before = at;
    if (at > now) {
        sn_visit_wait(v, why, now);
        s->hosts.all[v->host].n_again++;
        s->waiting[why]++;
    } else {
        sn_scheduler_queue_visit(s, v, true, now);
    }
    return SEINE_OK;
}

void
sn_scheduler_take_again(sn_scheduler *s, seine_time now)
{
    while (sn_heap_when(&s->again) <= now) {
        sn_visit *v = (sn_visit *)(uintptr_t)sn_heap_take(&s->again).item;

        s->hosts.all[v->host].n_again--;
        s->waiting[v->waits_for]--;
        sn_scheduler_queue_visit(s, v, false, now);
    }
}

sn_visit *
sn_scheduler_parked(sn_scheduler *s, seine_err *out_why)
{
    sn_visit *v = sn_visit_pop(&s->parked);

    if (v) {
        s->n_waiting--;
        *out_why = (seine_err)s->hosts.cards[v->host].parked_by;
    }
    return v;
}

bool
sn_scheduler_parked_host(sn_scheduler *s, uint32_t *out_host, seine_err *out_why)
{
    uint32_t host = s->parked_hosts;

    if (host == SN_NONE)
        return false;
    s->parked_hosts = s->hosts.cards[host].parked_next;
    s->hosts.all[host].is_told = false;
    *out_host = host;
    *out_why = (seine_err)s->hosts.cards[host].parked_by;
    return true;
}

sn_visit *
sn_scheduler_expired(sn_scheduler *s, seine_time now)
{
    (void)now;
    return sn_visit_pop(&s->expired);
}

sn_visit *
sn_scheduler_drain(sn_scheduler *s)
{
    sn_visit *v = sn_visit_pop(&s->parked);

    for (; !v && s->drain_at < s->hosts.n; s->drain_at += v ? 0 : 1) {
        sn_host *h = &s->hosts.all[s->drain_at];
        if ((v = sn_host_pop(h)))
            s->waiting[h->why]--;
    }
    if (!v && s->again.n > 0) {
        v = (sn_visit *)(uintptr_t)sn_heap_take(&s->again).item;
        s->hosts.all[v->host].n_again--;
        s->waiting[v->waits_for]--;
    }
    if (v)
        s->n_waiting--;
    else
        s->drain_at = 0;
    return v;
}
