/* SPDX-License-Identifier: Apache-2.0 */
/* A shard of a worker of a fleet: what its keeper wants done here, and URLs whose
 * partition has gone to another worker. */
#include "base/alloc.h"
#include "base/time.h"
#include "engine/run_parts.h"
#include "store/fleet_worker.h"

void
sn_run_errand(sn_run *r, sn_errand *give)
{
    sn_errand *head = atomic_load_explicit(&r->errands, memory_order_relaxed);

    do
        give->next = head;
    while (!atomic_compare_exchange_weak(&r->errands, &head, give));
    sn_run_wake(r);
}

/* Puts the oldest first. */
static sn_errand *
take_errands(sn_run *r)
{
    sn_errand *all = NULL, *e = atomic_exchange(&r->errands, NULL);

    while (e) {
        sn_errand *next = e->next;

        e->next = all;
        all = e;
        e = next;
    }
    return all;
}

void
sn_run_do_errands(sn_run *r)
{
    for (sn_errand *e = take_errands(r), *next; e; e = next) {
        next = e->next;
        e->run(r, e, r->now);
    }
}

void
sn_run_post(sn_run *r, sn_post *give)
{
    atomic_fetch_add(&r->shared->mail_bytes, give->used);
    if (sn_mail_put(&r->box, give))
        sn_run_wake(r);
}

/* A robots.txt has no number of the fleet: its host says whose it is. */
bool
sn_run_is_lost(const sn_run *r, const sn_visit *v)
{
    const struct sn_fleet *fleet = r->shared->fleet;

    if (!fleet)
        return false;
    return v->kind == SN_KIND_ROBOTS ? !sn_fleet_holds(fleet, seine_url_href(&v->url))
                                     : sn_fleet_is_lost(fleet, v->number);
}

static bool
is_lost(const sn_visit *v, void *arg)
{
    return sn_run_is_lost(arg, v);
}

/* What the owner before has under way when the next one asks would be one request too
 * many. */
void
sn_run_watch_leases(sn_run *r)
{
    struct sn_fleet *fleet = r->shared->fleet;

    sn_fleet_fence(fleet);
    uint64_t lost = sn_fleet_n_lost(fleet);
    if (lost == r->lost)
        return;
    r->lost = lost;
    sn_requests_cancel_some(&r->requests, SEINE_E_CANCELED, is_lost, r);
    if (r->frontier)
        sn_frontier_watch_tenures(r->frontier);
}

seine_time
sn_run_leases_end(const sn_run *r)
{
    if (r->requests.n == 0)
        return SEINE_NEVER;
    return sn_time_add(r->now, sn_time_max(0, sn_fleet_left(r->shared->fleet)) + 1);
}

void
sn_run_host_kept(sn_run *r, sn_str host)
{
    if (r->frontier)
        sn_frontier_host_kept(r->frontier, host);
}

/* Without memory the pattern counts from now on. */
void
sn_run_restore_count(sn_run *r, sn_str host, uint64_t key, uint32_t pages, bool is_trap,
                     seine_time now)
{
    if (r->frontier && is_trap)
        (void)!sn_frontier_restore_trap(r->frontier, host, key, now);
    else if (r->frontier)
        (void)!sn_frontier_restore_count(r->frontier, host, key, pages, now);
}

bool
sn_run_drop_lost(sn_run *r, sn_visit *v)
{
    if (!sn_run_is_lost(r, v))
        return false;
    sn_run_step_back(r, v);
    if (v->kind == SN_KIND_PAGE)
        sn_run_leave(r, v);
    else
        sn_run_give_up(r, v, SEINE_E_CANCELED);
    return true;
}
