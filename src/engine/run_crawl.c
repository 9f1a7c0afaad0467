/* SPDX-License-Identifier: Apache-2.0 */
/* The crawl's part of a shard: where the frontier meets the other stages. Without a
 * frontier (no crawl, no robots.txt) visits go straight to the scheduler. */
#include "base/log.h"
#include "engine/run_parts.h"

/* What the frontier tells. */

static void
pass_work(const sn_work *work, void *arg)
{
    sn_run *r = arg;

    sn_scheduler_work(r->scheduler, work, r->now);
}

static void
emit_refusal(const sn_refusal *refusal, void *arg)
{
    sn_run_emit_skip(arg, refusal);
}

static void
send_links(uint32_t shard, sn_post *give, void *arg)
{
    const sn_run *r = arg;

    if (sn_mail_put(&r->all[shard]->box, give))
        sn_run_wake(r->all[shard]);
}

static void
tell_event(const seine_event *e, void *arg)
{
    sn_run_tell_event(arg, e);
}

static void
keep_host(uint32_t host, void *arg)
{
    sn_run *r = arg;

    sn_scheduler_keep(r->scheduler, host, r->now);
}

seine_err
sn_run_make_frontier(sn_run *r)
{
    sn_frontier_ops ops = {pass_work, emit_refusal, send_links, tell_event, keep_host, r};

    if (!sn_shared_state_has_frontier(r->shared))
        return SEINE_OK;
    sn_frontier_opts opts = {.index = r->index,
                             .n = r->n,
                             .hosts = sn_scheduler_host_table(r->scheduler),
                             .clock = r->env->clock,
                             .store = r->env->store};
    seine_err e = sn_frontier_new(r->shared, &opts, &ops, &r->frontier);
    return e == SEINE_OK ? sn_frontier_resume(r->frontier, r->now) : e;
}

/* What comes in. */

/* Visits that waited for robots.txt. */
static void
admit_released(sn_run *r)
{
    for (sn_visit *v; r->frontier && (v = sn_frontier_released(r->frontier));)
        if (sn_run_stop_mode(r) == SN_GOING)
            sn_run_admit(r, v);
        else
            sn_run_give_up(r, v, sn_run_stop_reason(r));
}

/* A robots.txt or sitemap that is done with. */
static void
release_own(sn_run *r, sn_visit *v)
{
    admit_released(r);
    sn_run_release(r, v);
}

/* Reads on in pages that had more links than a turn has time for. */
static void
read_links(sn_run *r)
{
    for (sn_visit *v; (v = sn_frontier_read(r->frontier, r->now));)
        if (v->kind == SN_KIND_PAGE)
            sn_run_emit(r, v);
        else
            release_own(r, v);
}

void
sn_run_end_links(sn_run *r)
{
    for (sn_visit *v; r->frontier && (v = sn_frontier_unread(r->frontier));)
        if (v->kind == SN_KIND_PAGE)
            sn_run_give_up(r, v, sn_run_stop_reason(r));
        else
            release_own(r, v);
}

void
sn_run_take_links(sn_run *r)
{
    sn_post *all = sn_mail_take_all(&r->box);

    for (sn_post *p = all, *next; p; p = next) {
        next = p->next;
        sn_frontier_post(r->frontier, p, r->now);
    }
    if (all) /* there may be room for more */
        sn_run_wake_held(r);
    if (r->frontier && sn_run_stop_mode(r) == SN_GOING)
        sn_frontier_due(r->frontier, r->now);
    if (r->frontier)
        read_links(r);
    admit_released(r);
    r->has_more |= r->frontier && (sn_frontier_has_released(r->frontier) ||
                                   sn_frontier_is_reading(r->frontier));
}

void
sn_run_return_own(sn_run *r, sn_visit *v)
{
    if (v->state != SN_DONE) /* it may have ended at another shard */
        sn_visit_step(v, SN_DONE);
    if (v->home != r->index) {
        sn_run_give(r->all[v->home], v);
        return;
    }
    if (sn_frontier_back(r->frontier, v, r->now))
        release_own(r, v);
}

/* The end of hosts and of the crawl. */

sn_visit *
sn_run_drain_next(sn_run *r)
{
    sn_visit *v = sn_scheduler_drain(r->scheduler);

    if (!v && r->frontier)
        v = sn_frontier_drain(r->frontier, SN_NO_HOST, r->now);
    return v;
}

void
sn_run_leave_all(sn_run *r)
{
    if (!r->shared->job || !r->frontier)
        return;
    for (uint32_t host = 0; host < sn_frontier_n_hosts(r->frontier); host++)
        (void)sn_frontier_leave(r->frontier, host);
}

static void
end_host(sn_run *r, uint32_t host, seine_err why)
{
    sn_visit *v;

    sn_frontier_park(r->frontier, host);
    if (sn_shared_state_leaves_hosts(r->shared)) /* its URLs stay with the job */
        atomic_fetch_add(&r->shared->left_parked, sn_frontier_leave(r->frontier, host));
    while ((v = sn_frontier_drain(r->frontier, host, r->now))) {
        v->host = host;
        sn_run_give_up(r, v, why);
    }
}

void
sn_run_end_hosts(sn_run *r)
{
    seine_err why;
    uint32_t host;

    while (r->frontier && sn_scheduler_parked_host(r->scheduler, &host, &why))
        end_host(r, host, why);
}

static void
end_stuck(sn_run *r)
{
    uint32_t n = 0;

    for (sn_visit *v; n < SN_RUN_AT_ONCE && (v = sn_frontier_stuck(r->frontier, r->now));
         n++) {
        if (sn_shared_state_leaves_hosts(r->shared)) {
            atomic_fetch_add(&r->shared->left_robots, 1);
            sn_run_leave(r, v);
            continue;
        }
        atomic_fetch_sub(&r->shared->admitted, 1);
        sn_run_emit_refused(r, v);
    }
    r->has_more |= n == SN_RUN_AT_ONCE;
}

void
sn_run_end_crawl(sn_run *r)
{
    sn_shared_state *c = r->shared;

    if (r->frontier && c->fleet && atomic_load(&c->gives_up))
        end_stuck(r);
    if (!r->frontier || !sn_shared_state_is_closed(c))
        return;
    if (sn_shared_state_is_stuck(c))
        atomic_store(&c->gives_up, true);
    if (atomic_load(&c->gives_up))
        end_stuck(r);
    if (sn_shared_state_is_quiet(c) && sn_shared_state_leaves(c))
        sn_frontier_leave_late(r->frontier);
    else if (sn_shared_state_is_quiet(c))
        r->has_more |= sn_frontier_late(r->frontier, SN_RUN_AT_ONCE, r->now);
}

void
sn_run_obey_store(sn_run *r)
{
    seine_err e = sn_frontier_err(r->frontier);

    if (e == SEINE_OK || r->has_failed)
        return;
    r->has_failed = r->has_more = true;
    if (!sn_shared_state_fail(r->shared, e, sn_frontier_why(r->frontier)))
        return;
    SN_SAY(r->shared->opts.log, INFO, "store.failed",
           "found URLs cannot be kept: the crawl ends", SN_E("err", e),
           SN_S("why", sn_str_of(r->shared->why.text)));
    sn_run_wake_others(r);
}

void
sn_run_wake_at_end(sn_run *r)
{
    bool is_over = r->frontier && (sn_shared_state_is_quiet(r->shared) ||
                                   atomic_load(&r->shared->gives_up));

    if (is_over && !r->was_over)
        sn_run_wake_others(r);
    r->was_over = is_over;
}
