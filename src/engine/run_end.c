/* SPDX-License-Identifier: Apache-2.0 */
/* Visits that end for a reason of ours: the run stops, the bytes are used up, a host is
 * given up, a deadline passes. */
#include "base/time.h"
#include "engine/admit.h"
#include "engine/page_readers.h"
#include "engine/run_parts.h"
#include "engine/verdict.h"

bool
sn_run_leaves(const sn_run *r, const sn_visit *v, seine_err why)
{
    bool is_stopped = sn_run_stop_mode(r) != SN_GOING;

    bool is_host = (why == SEINE_E_BREAKER || why == SEINE_E_RETRY_AFTER_TOO_LONG) &&
                   (is_stopped || sn_shared_state_leaves_hosts(r->shared));

    return r->shared->job && v->kind == SN_KIND_PAGE && !v->is_skip &&
           (is_host || (is_stopped && seine_fate_of(why) == SEINE_FATE_CANCELED) ||
            sn_run_is_lost(r, v));
}

void
sn_run_leave(sn_run *r, sn_visit *v)
{
    sn_visit_step(v, SN_DONE);
    r->kept++;
    atomic_fetch_add(&r->shared->left, 1);
    if (v->is_stored)
        sn_frontier_left(r->frontier, v);
    sn_run_release(r, v);
}

void
sn_run_leave_for(sn_run *r, sn_visit *v, seine_err why)
{
    bool is_parked = seine_fate_of(why) != SEINE_FATE_CANCELED && !sn_run_is_lost(r, v);

    atomic_fetch_add(&r->shared->left_parked, is_parked);
    sn_run_leave(r, v);
}

void
sn_run_give_up(sn_run *r, sn_visit *v, seine_err why)
{
    seine_err cause = SEINE_OK;

    if (sn_run_leaves(r, v, why)) {
        sn_run_leave_for(r, v, why);
        return;
    }
    if (why == SEINE_E_BREAKER)
        cause = sn_scheduler_cause(r->scheduler, v);
    if (!v->is_skip)
        sn_verdict_give_up(v, why, cause);
    if (v->kind == SN_KIND_PAGE)
        sn_run_emit(r, v);
    else
        sn_run_return_own(r, v);
}

seine_err
sn_run_stop_reason(const sn_run *r)
{
    int why = atomic_load_explicit(&r->shared->stop_why, memory_order_relaxed);

    return why == SEINE_OK ? SEINE_E_CANCELED : (seine_err)why;
}

/* Ends the visits that wait, as many as a turn has room for. */
static void
end_all(sn_run *r, seine_err why)
{
    sn_visit *v;

    sn_run_leave_all(r);
    for (uint32_t n = 0; n < SN_RUN_AT_ONCE; n++) {
        if (!(v = sn_run_drain_next(r)))
            return;
        sn_run_give_up(r, v, why);
    }
    r->has_more = true;
}

void
sn_run_obey_stop(sn_run *r)
{
    int mode = sn_run_stop_mode(r);

    if (mode == SN_GOING)
        return;
    if (r->drain_until == SEINE_NEVER)
        r->drain_until = sn_time_add(r->now, r->shared->opts.grace);
    end_all(r, sn_run_stop_reason(r));
    if (!r->canceled && (mode == SN_STOPPING || r->now >= r->drain_until)) {
        r->canceled = true;
        if (r->shared->readers)
            sn_page_readers_hurry(r->shared->readers);
        sn_requests_cancel(&r->requests, sn_run_stop_reason(r));
    }
    if (r->canceled)
        sn_run_end_links(r);
}

void
sn_run_end_over_bytes(sn_run *r)
{
    sn_shared_state *c = r->shared;
    uint64_t max = c->opts.max_bytes;
    sn_visit *v;

    if (max == 0 || atomic_load_explicit(&c->bytes_body, memory_order_relaxed) < max)
        return;
    for (uint32_t n = 0; n < SN_RUN_AT_ONCE && (v = sn_run_drain_next(r)); n++) {
        if (v->kind != SN_KIND_PAGE || v->requests > 0) {
            sn_run_give_up(r, v, SEINE_E_BUDGET);
            continue;
        }
        sn_admit_refuse(v, SEINE_SKIP_BUDGET, sn_str_of(c->max_bytes_rule));
        atomic_fetch_sub(&c->admitted, 1);
        sn_run_emit_refused(r, v);
    }
}

void
sn_run_end_waiting(sn_run *r)
{
    seine_err why;
    sn_visit *v;

    while ((v = sn_scheduler_parked(r->scheduler, &why)))
        sn_run_give_up(r, v, why);
    sn_run_end_hosts(r);
    while ((v = sn_scheduler_expired(r->scheduler, r->now)))
        sn_run_give_up(r, v, SEINE_E_DEADLINE);
}
