/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/time.h"
#include "engine/capture.h"
#include "engine/run_parts.h"
#include "engine/verdict.h"
#include "store/fleet_worker.h"

static seine_err admit_address(sn_visit *v, const sn_ip *peer, void *arg);
static seine_err may_send(sn_visit *v, void *arg);
static void note_sent(sn_visit *v, void *arg);
static void note_head(sn_visit *v, uint16_t status, void *arg);
static void finish_visit(sn_run *r, sn_visit *v);

seine_err
sn_run_new(sn_shared_state *shared, const sn_env *env, sn_run *const *all, uint32_t index,
           uint32_t n, sn_run **out_run)
{
    sn_run *r = sn_zalloc_line(sizeof *r);

    if (!r)
        return SEINE_E_NOMEM;
    r->shared = shared;
    r->env = env;
    r->all = all;
    r->index = index;
    r->n = n;
    r->now = env->clock->now(env->clock);
    r->wall = env->clock->wall(env->clock);
    r->drain_until = r->narrow_until = SEINE_NEVER;
    r->stats.parked_until = r->before.stats.parked_until = SEINE_NEVER;
    if (shared->opts.traces)
        sn_visit_tracer_init(&r->tracer, shared->opts.traces, shared->trace,
                             env->clock->dice(env->clock));
    sn_slowest_init(&r->slowest);
    sn_host_waits_init(&r->waits);
    seine_err e = sn_scheduler_new(shared, r->now, &r->scheduler);
    if (e == SEINE_OK)
        e = sn_requests_init(
            &r->requests, shared, env,
            &(sn_requests_ops){admit_address, may_send, note_sent, note_head, r});
    if (e == SEINE_OK)
        e = sn_run_make_frontier(r);
    if (e == SEINE_OK && (shared->job || shared->opts.timeline))
        e = sn_feed_init(&r->feed, r->now, r->wall);
    if (e != SEINE_OK) {
        sn_run_free(r);
        return e;
    }
    *out_run = r;
    return SEINE_OK;
}

void
sn_run_free(sn_run *r)
{
    if (r)
        sn_run_do_errands(r);
    if (!r)
        return;
    for (sn_post *p = sn_mail_take_all(&r->box), *next; p; p = next) {
        next = p->next;
        sn_mail_free(p);
    }
    sn_fetch_metrics_leave(r->metrics, &r->before, r->breakers);
    sn_frontier_free(r->frontier);
    sn_job_reader_free(r->pages);
    seine_extractor_free(r->extractor);
    sn_requests_fini(&r->requests);
    sn_scheduler_free(r->scheduler);
    sn_slowest_fini(&r->slowest);
    sn_host_waits_fini(&r->waits);
    sn_feed_fini(&r->feed);
    sn_free(atomic_load(&r->watch));
    sn_free_line(r);
}

void
sn_run_set_metrics(sn_run *r, sn_fetch_metrics *metrics)
{
    r->metrics = metrics;
}

/* Stage 1, admit: what came in waits at its host. */

void
sn_run_admit(sn_run *r, sn_visit *v)
{
    sn_admission admission = r->frontier && v->kind == SN_KIND_PAGE
                                 ? sn_frontier_admit(r->frontier, v, r->now)
                                 : SN_ADMISSION_OK;
    seine_err e;

    switch (admission) {
    case SN_ADMISSION_HELD:
        break;
    case SN_ADMISSION_REFUSED:
        atomic_fetch_sub(&r->shared->admitted, 1);
        sn_run_emit_refused(r, v);
        break;
    case SN_ADMISSION_NO_MEMORY:
        sn_run_give_up(r, v, SEINE_E_NOMEM);
        break;
    case SN_ADMISSION_OK:
    default:
        e = sn_scheduler_add(r->scheduler, v, r->now);
        if (e != SEINE_OK)
            sn_run_give_up(r, v, e);
    }
}

static void
take_visit(sn_run *r, sn_visit *v)
{
    if (v->admitted_at > r->now) /* it came after this turn had read its clock */
        v->admitted_at = r->now;
    if (v->is_skip) {
        sn_run_emit(r, v);
    } else if (v->state == SN_DONE) {
        sn_run_return_own(r, v);
    } else {
        r->came++;
        if (sn_run_stop_mode(r) == SN_GOING)
            sn_run_admit(r, v);
        else
            sn_run_give_up(r, v, sn_run_stop_reason(r));
    }
}

static void
take_in(sn_run *r)
{
    for (sn_visit *v = sn_inbox_take_all(&r->inbox), *next; v; v = next) {
        next = v->next;
        take_visit(r, v);
    }
    sn_run_do_errands(r);
    sn_run_take_links(r);
}

/* Stages 2 and 3, scheduler and request: whoever may be asked is asked. */

/* The next visit that may start. The frontier is asked for the next URL of a host that
 * has none at the scheduler. */
static sn_visit *
next_visit(sn_run *r)
{
    uint32_t host;
    sn_visit *v = sn_scheduler_next(r->scheduler, r->now, &host);

    while (!v && host != SN_NO_HOST) {
        sn_offer offer = sn_frontier_next(r->frontier, host, r->now);
        v = sn_scheduler_answer(r->scheduler, &offer, r->now);
        if (!v)
            v = sn_scheduler_next(r->scheduler, r->now, &host);
    }
    return v;
}

/* In one turn. Connections that opened meanwhile go on before there are more of them, and
 * what a connection needs while it opens is needed for so many at once. */
#define STARTS_AT_ONCE 512

static void
start_requests(sn_run *r)
{
    sn_visit *v;

    for (int n = 0; n < STARTS_AT_ONCE && !sn_run_hold(r) && (v = next_visit(r)); n++) {
        if (r->shared->fleet && sn_run_drop_lost(r, v))
            continue;
        if (r->shared->pace && !sn_run_take_token(r, v))
            continue;
        if (v->deadline == SEINE_NEVER) {
            v->deadline = sn_time_add(r->now, v->retry.opts->max_elapsed);
            v->retry.deadline = v->deadline;
        }
        sn_run_recall(r, v);
        if (r->shared->fleet)
            sn_fleet_started(r->shared->fleet);
        sn_requests_start(&r->requests, v, sn_scheduler_pin(r->scheduler, v), r->now,
                          r->wall);
    }
}

/* Called inside of the transport's turn, when `now` may be long ago. */
static seine_err
admit_address(sn_visit *v, const sn_ip *peer, void *arg)
{
    sn_run *r = arg;

    return sn_scheduler_admit(r->scheduler, v, peer, r->env->clock->now(r->env->clock));
}

static seine_err
may_send(sn_visit *v, void *arg)
{
    sn_run *r = arg;

    return sn_scheduler_may_send(r->scheduler, v, r->env->clock->now(r->env->clock));
}

static void
note_sent(sn_visit *v, void *arg)
{
    sn_run *r = arg;
    seine_clock *clock = r->env->clock;

    /* Where the moment decides nothing, that of the turn is close enough. */
    sn_scheduler_sent(r->scheduler, v, v->is_leaving ? clock->now(clock) : r->now);
}

static void
note_head(sn_visit *v, uint16_t status, void *arg)
{
    sn_run *r = arg;

    sn_scheduler_head(r->scheduler, v, status, r->env->clock->now(r->env->clock));
}

/* Stage 4, verdict: what ended is done, is tried again or moves to another URL. */

/* The next URL of a chain, whose host may live in another shard. */
static void
follow_redirect(sn_run *r, sn_visit *v)
{
    uint32_t to = sn_shared_state_shard(r->shared, &v->url, r->n);

    sn_response_drop(&r->requests, v);
    sn_capture_keep(v);
    v->host = SN_NO_HOST;
    sn_visit_step(v, SN_ADMITTED);
    if (to != r->index) {
        r->left++;
        sn_run_give(r->all[to], v);
    } else {
        sn_run_admit(r, v);
    }
}

static void
wait_again(sn_run *r, sn_visit *v, const sn_verdict *verdict)
{
    seine_err e;

    sn_capture_back(v); /* first: what it holds counts as memory of the visit */
    sn_response_drop(&r->requests, v);
    e = sn_scheduler_again(r->scheduler, v, verdict->at, verdict->why, r->now);
    if (e != SEINE_OK)
        sn_run_give_up(r, v, e);
}

static void
follow_verdict(sn_run *r, sn_visit *v, const sn_verdict *verdict)
{
    switch (verdict->then) {
    case SN_THEN_RETRY:
        sn_run_plan_retry(r, v, verdict->why, verdict->at);
        sn_run_keep_try(r, v);
        wait_again(r, v, verdict);
        break;
    case SN_THEN_REPLAY:
        r->stats.replays++;
        wait_again(r, v, verdict);
        break;
    case SN_THEN_LATER:
        if (verdict->why == SEINE_WAIT_CONCURRENCY)
            sn_run_narrow(r, v->end.fault.code);
        wait_again(r, v, verdict);
        break;
    case SN_THEN_DONE:
    default:
        if (verdict->stop == SEINE_STOP_ATTEMPTS)
            sn_fetch_metrics_exhausted(r->metrics);
        finish_visit(r, v);
    }
}

/* Says whether the attempt stays with its URL. One that a stop cuts off in a job does
 * not: the next run makes it anew, and neither record nor figures know of this one. */
static bool
keeps_attempt(const sn_run *r, const sn_visit *v, const sn_verdict *verdict)
{
    return verdict->then != SN_THEN_DONE || !sn_run_leaves(r, v, v->fault.code);
}

static sn_verdict
next_step(sn_run *r, sn_visit *v)
{
    seine_clock *clock = r->env->clock;
    uint32_t made = v->retry.attempts, n = v->n_tries;
    seine_err why =
        n > 0 ? v->tries[n - 1].err : SEINE_E_HTTP_BUSY; /* of an earlier run */
    uint64_t dice = v->end.fault.code == SEINE_OK ? 0 : clock->dice(clock);
    sn_verdict verdict = sn_verdict_next(r->shared, v, r->now, dice);

    if (made > 0 && v->retry.attempts > made && keeps_attempt(r, v, &verdict))
        sn_run_count_retry(r, v, why);
    return verdict;
}

static void
judge_attempt(sn_run *r, sn_visit *v)
{
    sn_verdict verdict = {0};
    bool hop = sn_verdict_judge(r->shared, v, r->now);

    sn_run_count_attempt(r, v);
    if (!hop)
        verdict = next_step(r, v);
    sn_scheduler_end(r->scheduler, v, r->now);
    v->retry.host = NULL; /* the host may have folded it away */
    if (hop)
        follow_redirect(r, v);
    else
        follow_verdict(r, v, &verdict);
}

/* Stage 5, links: where a page leads. */

/* The links of a page go to stage 1, after a stop as well: there they wait like those
 * found before it, and end in the same records. False: they are read on in the next
 * turn. */
static bool
follow_links(sn_run *r, sn_visit *v)
{
    if (!r->frontier)
        return true;
    if (v->end.fault.status > 0)
        sn_frontier_answered(r->frontier, v, r->now);
    return v->fault.code != SEINE_OK || v->not_wanted ||
           sn_frontier_page(r->frontier, v, r->now);
}

/* Stage 6, emit: exactly one record. */

/* Counts the record that stands in r->emit, and hands it to the caller's function. */
static void
deliver_record(sn_run *r)
{
    const seine_fetch_opts *o = &r->shared->opts;

    sn_emit_redact(&r->emit, o->secrets);
    sn_run_count_record(r);
    sn_fetch_metrics_emitted(r->metrics, &r->emit.record);
    if (o->on_record)
        o->on_record(&r->emit.record, r->index, o->arg);
}

void
sn_run_release(sn_run *r, sn_visit *v)
{
    sn_visit_step(v, SN_EMITTED);
    if (v->values)
        sn_run_drop_values(r, v);
    sn_capture_drop(v); /* first: what it holds counts as memory of the visit */
    sn_response_drop(&r->requests, v);
    sn_visits_give(r->shared->visits, v);
    sn_shared_state_end_work(r->shared, 1);
}

void
sn_run_emit(sn_run *r, sn_visit *v)
{
    sn_visit_step(v, SN_DONE);
    v->life = r->now - v->admitted_at;
    sn_emit_record(v, &r->shared->opts, r->wall, &r->emit);
    if (v->not_wanted && v->is_skip) { /* it was admitted */
        atomic_fetch_add(&r->shared->unwanted, 1);
        atomic_fetch_sub(&r->shared->admitted, 1);
        atomic_fetch_add(&r->shared->refused, 1);
        r->refused++;
    }
    r->extracted = (sn_visit_extract){.wall = 0};
    if (v->has_data)
        sn_run_read_data(r, v);
    sn_run_log_record(r, v);
    sn_run_note_change(r, v);
    if (r->shared->opts.keep & SEINE_KEEP_TARGETS &&
        !sn_emit_links(v, &r->shared->opts, &r->emit.record))
        r->emit.record.extract = SEINE_E_NOMEM;
    sn_emit_hold(v, r->shared->brake, &r->emit.record);
    sn_fetch_metrics_waits(r->metrics, v, r->shared->pace != NULL);
    sn_visit_tracer_tell(&r->tracer, v, &r->extracted, r->shared->opts.secrets, r->now,
                         r->wall);
    deliver_record(r);
    sn_emit_let_go(&r->emit.record);
    if (v->is_stored) {
        sn_frontier_finish(r->frontier, v->number);
        sn_depth_counts_end(&r->shared->depths, v->depth);
    }
    sn_run_release(r, v);
}

void
sn_run_emit_refused(sn_run *r, sn_visit *v)
{
    atomic_fetch_add(&r->shared->refused, 1);
    r->refused++;
    sn_run_emit(r, v);
}

void
sn_run_emit_skip(sn_run *r, const sn_refusal *refusal)
{
    sn_emit_skip(refusal->link, refusal->key, refusal->reason, refusal->rule, r->wall,
                 &r->emit);
    atomic_fetch_add(&r->shared->refused, 1);
    if (!refusal->is_late)
        sn_fetch_metrics_given(r->metrics, 1, 1);
    deliver_record(r);
}

/* The page was read: stages 5 and 6. */
static void
go_on(sn_run *r, sn_visit *v)
{
    if (follow_links(r, v))
        sn_run_emit(r, v);
}

/* Pages that others have read. One that comes back as it went was given up. */
static void
take_read(sn_run *r)
{
    for (sn_visit *v = sn_run_take_read(r), *next; v; v = next) {
        next = v->next;
        if (sn_run_is_read(r, v))
            go_on(r, v);
        else
            sn_run_give_up(r, v, sn_run_stop_reason(r));
    }
}

static void
finish_visit(sn_run *r, sn_visit *v)
{
    if (v->kind != SN_KIND_PAGE) {
        sn_run_return_own(r, v);
        return;
    }
    if (sn_run_leaves(r, v, v->fault.code))
        sn_run_leave_for(r, v, v->fault.code);
    else if (!sn_run_give_to_read(r, v))
        go_on(r, v);
}

/* The turn. */

static void
check_balance(const sn_run *r)
{
#ifndef NDEBUG
    uint32_t by[SEINE_WAIT_ROOM];
    uint64_t ended = 0;

    for (const sn_visit *v = r->requests.ended; v; v = v->next)
        ended++;
    assert(r->frontier || r->came == r->left + r->refused + r->kept + r->stats.done +
                                         r->requests.n + ended + r->away +
                                         sn_scheduler_waiting(r->scheduler, by));
    assert(r->n > 1 ||
           seine_throttle_in_flight(&r->shared->in_flight) == r->requests.n + ended);
#else
    (void)r;
#endif
}

seine_time
sn_run_turn(sn_run *r, seine_time until)
{
    sn_transport *t = r->env->transport;
    sn_visit *v;

    r->now = t->ops->turn(t, until);
    sn_run_note_lag(r);
    sn_run_judge_load(r);
    r->wall = r->env->clock->wall(r->env->clock);
    r->has_more = false;
    if (r->shared->fleet)
        sn_run_watch_leases(r);
    while ((v = sn_requests_ended(&r->requests)))
        judge_attempt(r, v);
    take_read(r);
    sn_requests_resume(&r->requests, r->now);
    take_in(r);
    sn_run_obey_tunes(r);
    sn_run_obey_stop(r);
    sn_run_end_over_bytes(r);
    sn_run_widen(r);
    start_requests(r);
    sn_run_tell_events(r);
    sn_run_end_waiting(r);
    sn_run_end_crawl(r);
    if (r->frontier) {
        sn_frontier_end_turn(r->frontier);
        sn_run_obey_store(r);
    }
    sn_run_wake_starved(r);
    sn_run_wake_at_end(r);
    sn_run_publish(r);
    sn_slowest_turn(&r->slowest, r->scheduler, r->now);
    r->has_more |= sn_host_waits_turn(&r->waits, r->scheduler, r->frontier, r->now);
    check_balance(r);
    return r->now;
}

static bool
has_mail(const sn_run *r)
{
    return atomic_load_explicit(&r->inbox.head, memory_order_relaxed) != NULL ||
           atomic_load_explicit(&r->box.head, memory_order_relaxed) != NULL ||
           atomic_load_explicit(&r->read.head, memory_order_relaxed) != NULL ||
           atomic_load_explicit(&r->errands, memory_order_relaxed) != NULL;
}

seine_time
sn_run_when(const sn_run *r)
{
    if (r->requests.ended || r->has_more || has_mail(r) ||
        sn_requests_may_resume(&r->requests))
        return r->now;
    int mode = sn_run_stop_mode(r);
    seine_time at = SEINE_NEVER;
    if (mode != SN_GOING)
        at = r->canceled ? SEINE_NEVER : mode == SN_STOPPING ? r->now : r->drain_until;
    else if (!r->held)
        at = sn_scheduler_when(r->scheduler, r->now);
    if (r->frontier && mode == SN_GOING)
        at = sn_time_min(at, sn_frontier_when(r->frontier));
    if (r->lag_at > 0)
        at = sn_time_min(at, r->lag_at);
    if (r->shared->fleet)
        at = sn_time_min(at, sn_run_leases_end(r));
    at = sn_time_min(at, sn_shard_watch_due((sn_shard_watch_place *)&r->watch));
    return sn_time_min(sn_time_min(at, r->requests.ask_at), r->narrow_until);
}

void
sn_run_give(sn_run *r, sn_visit *give)
{
    if (sn_inbox_put(&r->inbox, give))
        sn_run_wake(r);
}

void
sn_run_wake(sn_run *r)
{
    sn_transport *t = r->env->transport;

    t->ops->wake(t);
}

bool
sn_run_is_idle(const sn_run *r)
{
    uint32_t by[SEINE_WAIT_ROOM];

    return r->requests.n == 0 && !r->requests.ended && r->away == 0 &&
           sn_scheduler_waiting(r->scheduler, by) == 0 &&
           (!r->frontier || (sn_frontier_waiting(r->frontier) == 0 &&
                             !sn_frontier_is_reading(r->frontier))) &&
           !has_mail(r);
}
