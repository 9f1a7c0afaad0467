/* SPDX-License-Identifier: Apache-2.0 */
#include <assert.h>

#include "engine/scheduler_parts.h"

/* The retry is due: the budget pays for it, or it waits for the budget. */
static void
queue_retry(sn_scheduler *s, sn_visit *v, bool first, seine_time now)
{
    const sn_guards *g = sn_hosts_guards(&s->hosts, v->host);

    if (v->is_unpaid && seine_retry_budget_withdraw(g->retry_budget, now))
        v->is_unpaid = false;
    if (v->is_unpaid && v->n_tries > 0)
        v->tries[v->n_tries - 1].wait_reason = SEINE_WAIT_RETRY_BUDGET;
    sn_scheduler_queue_visit(s, v, first, now);
}

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
        s->hosts.cards[v->host].n_again++;
        s->waiting[why]++;
    } else {
        queue_retry(s, v, true, now);
    }
    return SEINE_OK;
}

void
sn_scheduler_take_again(sn_scheduler *s, seine_time now)
{
    while (sn_heap_when(&s->again) <= now) {
        sn_visit *v = (sn_visit *)(uintptr_t)sn_heap_take(&s->again).item;

        s->hosts.cards[v->host].n_again--;
        s->waiting[v->waits_for]--;
        queue_retry(s, v, false, now);
    }
}

/* The longest wait for the budget stands for the host: its other visits went on. */
static void
note_unpaid(sn_scheduler *s, uint32_t host, const sn_visit *v)
{
    sn_host_stats *f = sn_hosts_stats(&s->hosts, host);
    seine_span waited = v->waited[SEINE_WAIT_RETRY_BUDGET];

    if (f && waited > f->held[SEINE_WAIT_RETRY_BUDGET])
        f->held[SEINE_WAIT_RETRY_BUDGET] = waited;
}

sn_visit *
sn_scheduler_take_unpaid(sn_scheduler *s, uint32_t host, sn_guards *g, bool is_free,
                         seine_time now)
{
    sn_host *h = &s->hosts.all[host];

    if (h->n_unpaid == 0 ||
        (!seine_retry_budget_withdraw(g->retry_budget, now) && !is_free))
        return NULL;
    sn_visit *v = sn_host_pop_unpaid(h, g);
    s->waiting[SEINE_WAIT_RETRY_BUDGET]--;
    s->n_waiting--;
    sn_visit_wait_over(v, now);
    note_unpaid(s, host, v);
    return v;
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
        else if (h->n_unpaid > 0 &&
                 (v = sn_host_pop_unpaid(h, sn_hosts_guards(&s->hosts, s->drain_at))))
            s->waiting[SEINE_WAIT_RETRY_BUDGET]--;
    }
    if (!v && s->again.n > 0) {
        v = (sn_visit *)(uintptr_t)sn_heap_take(&s->again).item;
        s->hosts.cards[v->host].n_again--;
        s->waiting[v->waits_for]--;
    }
    if (v)
        s->n_waiting--;
    else
        s->drain_at = 0;
    return v;
}
