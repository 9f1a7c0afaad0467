/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/run.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/time.h"
#include "engine/admit.h"
#include "engine/capture.h"
#include "engine/emit.h"
#include "engine/frontier.h"
#include "engine/meters.h"
#include "engine/request.h"
#include "engine/slowest.h"
#include "engine/verdict.h"

#define NARROW      SEINE_SECS(10) /* for so long fewer are started */
#define NARROW_STEP SEINE_SECS(1)  /* once in so long fewer still */
#define AT_ONCE     4096           /* records of what was never asked, in a turn */
#define MAIL_MOST   (8u << 20)     /* bytes between shards; above, nothing starts */

/* Every member of the stats is a number of eight bytes. */
#define FIGURES (sizeof(seine_fetch_stats) / sizeof(uint64_t))
_Static_assert(sizeof(seine_fetch_stats) % sizeof(uint64_t) == 0, "nothing but numbers");

struct sn_run {
    sn_shared_state *shared;
    const sn_env *env;
    sn_run *const *all;
    uint32_t index, n;
    sn_scheduler *scheduler;
    sn_frontier *frontier; /* NULL: nothing is found, and no robots.txt counts */
    sn_requests requests;
    sn_meters *meters;
    seine_time now;
    int64_t wall;
    bool held;               /* nothing may start: outputs are full, or narrowed */
    bool freed_slots;        /* of --concurrency, in this turn */
    bool canceled;           /* what flew was told to end */
    bool was_over;           /* nothing was left, after the last turn */
    bool has_more;           /* records to tell of that a turn had no room for */
    seine_time drain_until;  /* NEVER: no stop yet */
    seine_time narrow_until; /* NEVER: not narrowed by this shard */
    seine_time narrowed_at;
    uint64_t came, left;      /* visits from the inbox; to other shards */
    uint64_t refused;         /* by what their head said */
    seine_fetch_stats stats;  /* the owner's */
    seine_fetch_stats before; /* what the meters know */
    sn_emit emit;
    _Alignas(64) sn_inbox inbox;
    sn_box box; /* links that other shards found */
    sn_slowest slowest;
    _Alignas(64) _Atomic uint64_t shown[FIGURES]; /* written by the owner alone */
};

static seine_err may_use(sn_visit *v, const sn_ip *peer, void *arg);
static void is_sent(sn_visit *v, void *arg);
static void is_asked(sn_visit *v, uint16_t status, void *arg);
static seine_err make_frontier(sn_run *r);
static void refuse_visit(sn_visit *v, void *arg);

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
    r->stats.parked_until = r->before.parked_until = SEINE_NEVER;
    sn_slowest_init(&r->slowest);
    seine_err e = sn_scheduler_new(shared, r->now, &r->scheduler);
    if (e == SEINE_OK)
        e = sn_requests_init(&r->requests, shared, env,
                             &(sn_requests_ops){may_use, is_sent, is_asked, r});
    if (e == SEINE_OK)
        e = make_frontier(r);
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
    if (!r)
        return;
    for (sn_post *p = sn_mail_take_all(&r->box), *next; p; p = next) {
        next = p->next;
        sn_mail_free(p);
    }
    sn_frontier_free(r->frontier);
    sn_requests_fini(&r->requests);
    sn_scheduler_free(r->scheduler);
    sn_slowest_fini(&r->slowest);
    sn_free_line(r);
}

void
sn_run_set_meters(sn_run *r, sn_meters *meters)
{
    r->meters = meters;
}

static int
stop_of(const sn_run *r)
{
    return atomic_load_explicit(&r->shared->stop, memory_order_acquire);
}

static seine_err
stop_why(const sn_run *r)
{
    int why = atomic_load_explicit(&r->shared->stop_why, memory_order_relaxed);

    return why == SEINE_OK ? SEINE_E_CANCELED : (seine_err)why;
}

/* The end of a visit. */

static void
count_done(sn_run *r, const seine_record *record)
{
    seine_fetch_stats *s = &r->stats;

    if (record->type == SEINE_RECORD_SKIP)
        return;
    s->done++;
    if (record->fate == SEINE_FATE_OK)
        s->ok++;
    else if (record->fate == SEINE_FATE_BLOCKED)
        s->blocked++;
    else
        s->failed++;
}

static void
tell_end(const sn_run *r, const sn_visit *v)
{
    const seine_record *record = &r->emit.record;
    sn_str url = record->url;

    SN_LOG(r->shared->opts.log, DEBUG, "fetch", SN_URL("url", url),
           SN_U("status", record->status), SN_E("err", v->fault.code),
           SN_U("resend", v->retry.attempts > 0 ? v->retry.attempts - 1 : 0),
           SN_T("duration", record->total));
}

/* The visit is over: what it held goes back. */
static void
let_go(sn_run *r, sn_visit *v)
{
    sn_visit_step(v, SN_EMITTED);
    sn_requests_drop(&r->requests, v);
    sn_capture_drop(v);
    sn_visits_give(r->shared->visits, v);
    sn_shared_state_end_work(r->shared, 1);
}

static void
tell(sn_run *r)
{
    const seine_fetch_opts *o = &r->shared->opts;

    sn_emit_redact(&r->emit, o->secrets);
    count_done(r, &r->emit.record);
    sn_meters_emitted(r->meters, &r->emit.record);
    if (o->on_record)
        o->on_record(&r->emit.record, r->index, o->arg);
}

static void
emit(sn_run *r, sn_visit *v)
{
    sn_visit_step(v, SN_DONE);
    sn_emit_record(v, &r->shared->opts, r->wall, &r->emit);
    if (v->not_wanted && v->is_skip) { /* it was admitted */
        atomic_fetch_add(&r->shared->unwanted, 1);
        atomic_fetch_sub(&r->shared->admitted, 1);
        atomic_fetch_add(&r->shared->refused, 1);
        r->refused++;
    }
    tell_end(r, v);
    tell(r);
    let_go(r, v);
}

/* A robots.txt or a sitemap has no record: the frontier that wanted it hears the end. */
static void
come_home(sn_run *r, sn_visit *v)
{
    if (v->state != SN_DONE) /* it may have ended at another shard */
        sn_visit_step(v, SN_DONE);
    if (v->home != r->index) {
        sn_run_give(r->all[v->home], v);
        return;
    }
    sn_frontier_back(r->frontier, v, r->now);
    let_go(r, v);
}

/* It ends for a reason of ours, wherever it stood. */
static void
give_up(sn_run *r, sn_visit *v, seine_err why)
{
    seine_err cause = SEINE_OK;

    if (why == SEINE_E_BREAKER)
        cause = sn_scheduler_cause(r->scheduler, v);
    if (!v->is_skip)
        sn_verdict_give_up(v, why, cause);
    if (v->kind == SN_KIND_PAGE)
        emit(r, v);
    else
        come_home(r, v);
}

/* Stage 1: to its host, if the rules of that host allow it. */
static void
admit(sn_run *r, sn_visit *v)
{
    seine_err e = r->frontier && v->kind == SN_KIND_PAGE
                      ? sn_frontier_visit(r->frontier, v, r->now)
                      : sn_scheduler_add(r->scheduler, v, r->now);

    if (e == SEINE_E_ROBOTS) {
        atomic_fetch_sub(&r->shared->admitted, 1);
        atomic_fetch_add(&r->shared->refused, 1);
        r->refused++;
        emit(r, v);
    } else if (e != SEINE_OK) {
        give_up(r, v, e);
    }
}

/* Verdict. */

static void
count_attempt(sn_run *r, const sn_visit *v)
{
    seine_fetch_stats *s = &r->stats;
    const sn_end *end = &v->end;

    r->freed_slots = true;
    s->requests += end->fault.sent;
    s->bytes_in += end->wire_bytes;
    s->bytes_body += end->body_bytes;
    if (r->shared->opts.max_bytes > 0)
        atomic_fetch_add(&r->shared->bytes_body, end->body_bytes);
    if (end->reused)
        s->reused++;
    else if ((end->peer.v != 0 || end->via != SN_PROXY_NONE) &&
             (end->fault.status > 0 || end->fault.sent))
        s->connections++;
    sn_meters_attempt(r->meters, v);
}

/* Descriptors or ports ran out: a quarter fewer for a while. */
static void
narrow(sn_run *r, seine_err why)
{
    sn_shared_state *c = r->shared;

    if (r->narrow_until == SEINE_NEVER || r->now - r->narrowed_at >= NARROW_STEP) {
        uint32_t percent = atomic_load_explicit(&c->narrowed, memory_order_relaxed);

        atomic_store_explicit(&c->narrowed, percent > 4 ? percent * 3 / 4 : 3,
                              memory_order_relaxed);
        r->narrowed_at = r->now;
        SN_SAY(c->opts.log, WARN, "concurrency.narrowed",
               "this machine has no more: fewer requests at once for 10 s",
               SN_E("err", why));
    }
    r->narrow_until = sn_time_add(r->now, NARROW);
}

static void
widen(sn_run *r)
{
    if (r->narrow_until > r->now)
        return;
    r->narrow_until = SEINE_NEVER;
    atomic_store_explicit(&r->shared->narrowed, 100, memory_order_relaxed);
}

/* To the next URL of a chain, whose host may live in another shard. */
static void
move_on(sn_run *r, sn_visit *v)
{
    uint32_t to = sn_shared_state_shard(r->shared, &v->url, r->n);

    sn_requests_drop(&r->requests, v);
    sn_capture_keep(v);
    v->host = SN_NO_HOST;
    sn_visit_step(v, SN_ADMITTED);
    if (to != r->index) {
        r->left++;
        sn_run_give(r->all[to], v);
    } else {
        admit(r, v);
    }
}

static void
come_back(sn_run *r, sn_visit *v, const sn_verdict *verdict)
{
    seine_err e;

    sn_requests_drop(&r->requests, v);
    sn_capture_back(v);
    e = sn_scheduler_again(r->scheduler, v, verdict->at, verdict->why, r->now);
    if (e != SEINE_OK)
        give_up(r, v, e);
}

static void
tell_retry(sn_run *r, const sn_visit *v, const sn_verdict *verdict)
{
    seine_view part = seine_url_host_port(&v->url);
    sn_str host = part;

    r->stats.retries++;
    sn_meters_retry(r->meters, v->end.fault.code, verdict->at - r->now);
    SN_LOG(r->shared->opts.log, DEBUG, "retry", SN_S("host", host),
           SN_E("err", v->end.fault.code), SN_U("resend", v->retry.attempts),
           SN_S("wait", seine_wait_name(verdict->why)),
           SN_T("delay", verdict->at - r->now));
}

/* Stages 5 and 6: where it leads, and its record. */
static void
finish(sn_run *r, sn_visit *v)
{
    if (v->kind != SN_KIND_PAGE) {
        come_home(r, v);
        return;
    }
    if (r->frontier && v->end.fault.status > 0 && stop_of(r) == SN_GOING)
        sn_frontier_answered(r->frontier, v, r->now);
    if (r->frontier && v->fault.code == SEINE_OK && !v->not_wanted &&
        stop_of(r) == SN_GOING)
        sn_frontier_page(r->frontier, v, r->now);
    emit(r, v);
}

static void
follow(sn_run *r, sn_visit *v, const sn_verdict *verdict)
{
    switch (verdict->then) {
    case SN_THEN_RETRY:
        tell_retry(r, v, verdict);
        come_back(r, v, verdict);
        break;
    case SN_THEN_REPLAY:
        r->stats.replays++;
        come_back(r, v, verdict);
        break;
    case SN_THEN_LATER:
        if (verdict->why == SEINE_WAIT_CONCURRENCY)
            narrow(r, v->end.fault.code);
        come_back(r, v, verdict);
        break;
    case SN_THEN_DONE:
    default:
        if (verdict->stop == SEINE_STOP_ATTEMPTS || verdict->stop == SEINE_STOP_BUDGET)
            sn_meters_exhausted(r->meters);
        finish(r, v);
    }
}

static void
judge(sn_run *r, sn_visit *v)
{
    seine_clock *clock = r->env->clock;
    sn_verdict verdict = {0};
    bool hop = sn_verdict_judge(r->shared, v, r->now);

    count_attempt(r, v);
    if (!hop) {
        uint64_t dice = v->end.fault.code == SEINE_OK ? 0 : clock->dice(clock);
        verdict = sn_verdict_next(r->shared, v, r->now, dice);
    }
    sn_scheduler_end(r->scheduler, v, r->now);
    v->retry.host = NULL; /* the host may have folded it away */
    if (hop)
        move_on(r, v);
    else
        follow(r, v, &verdict);
}

/* Scheduler and wire. */

/* Asked inside of the transport's turn, when `now` may be long ago. */
static seine_err
may_use(sn_visit *v, const sn_ip *peer, void *arg)
{
    sn_run *r = arg;

    return sn_scheduler_admit(r->scheduler, v, peer, r->env->clock->now(r->env->clock));
}

static void
is_sent(sn_visit *v, void *arg)
{
    sn_run *r = arg;

    sn_scheduler_sent(r->scheduler, v, r->env->clock->now(r->env->clock));
}

static void
is_asked(sn_visit *v, uint16_t status, void *arg)
{
    sn_run *r = arg;

    sn_scheduler_head(r->scheduler, v, status, r->env->clock->now(r->env->clock));
}

static void
take_visit(sn_run *r, sn_visit *v)
{
    if (v->is_skip) {
        emit(r, v);
    } else if (v->state == SN_DONE) {
        come_home(r, v);
    } else {
        r->came++;
        if (stop_of(r) == SN_GOING)
            admit(r, v);
        else
            give_up(r, v, stop_why(r));
    }
}

static void
take_in(sn_run *r)
{
    for (sn_visit *v = sn_inbox_take_all(&r->inbox), *next; v; v = next) {
        next = v->next;
        take_visit(r, v);
    }
    for (sn_post *p = sn_mail_take_all(&r->box), *next; p; p = next) {
        next = p->next;
        sn_frontier_post(r->frontier, p, r->now);
    }
    if (r->frontier && stop_of(r) == SN_GOING)
        sn_frontier_due(r->frontier, r->now);
}

/* The next one that waits, wherever that is. */
static sn_visit *
next_waiting(sn_run *r)
{
    sn_visit *v = sn_scheduler_drain(r->scheduler);

    if (!v && r->frontier)
        v = sn_frontier_drain(r->frontier, SN_NO_HOST, r->now);
    return v;
}

/* Ends what waits, so many in a turn as there is room for. */
static void
end_all(sn_run *r, seine_err why)
{
    sn_visit *v;

    for (uint32_t n = 0; n < AT_ONCE; n++) {
        if (!(v = next_waiting(r)))
            return;
        give_up(r, v, why);
    }
    r->has_more = true;
}

/* No new request; what waits ends now, what flies has `grace` or no time at all. */
static void
stop(sn_run *r)
{
    int how = stop_of(r);

    if (how == SN_GOING)
        return;
    if (r->drain_until == SEINE_NEVER)
        r->drain_until = sn_time_add(r->now, r->shared->opts.grace);
    end_all(r, stop_why(r));
    if (!r->canceled && (how == SN_STOPPING || r->now >= r->drain_until)) {
        r->canceled = true;
        sn_requests_cancel(&r->requests, stop_why(r));
    }
}

/* The bytes of the whole run are used up: what was not asked for yet is skipped. */
static void
end_over_bytes(sn_run *r)
{
    sn_shared_state *c = r->shared;
    uint64_t max = c->opts.max_bytes;
    sn_visit *v;

    if (max == 0 || atomic_load_explicit(&c->bytes_body, memory_order_relaxed) < max)
        return;
    for (uint32_t n = 0; n < AT_ONCE && (v = next_waiting(r)); n++) {
        if (v->kind != SN_KIND_PAGE || v->requests > 0) {
            give_up(r, v, SEINE_E_BUDGET);
            continue;
        }
        sn_admit_refuse(v, SEINE_SKIP_BUDGET, SN_STR("max_bytes"));
        atomic_fetch_sub(&c->admitted, 1);
        refuse_visit(v, r);
    }
}

static bool
may_start(sn_run *r)
{
    const seine_fetch_opts *o = &r->shared->opts;
    uint32_t percent = atomic_load_explicit(&r->shared->narrowed, memory_order_relaxed);

    if (o->ready && !o->ready(r->index, o->arg))
        return false;
    if (atomic_load_explicit(&r->shared->mail_bytes, memory_order_relaxed) > MAIL_MOST)
        return false;
    return percent >= 100 ||
           (uint64_t)seine_throttle_in_flight(&r->shared->in_flight) * 100 <
               (uint64_t)o->concurrency * percent;
}

static void
start(sn_run *r)
{
    sn_visit *v;

    while (!(r->held = !may_start(r)) && (v = sn_scheduler_next(r->scheduler, r->now))) {
        if (v->deadline == SEINE_NEVER) {
            v->deadline = sn_time_add(r->now, v->retry.opts->max_elapsed);
            v->retry.deadline = v->deadline;
        }
        sn_requests_start(&r->requests, v, sn_scheduler_pin(r->scheduler, v), r->now,
                          r->wall);
    }
}

/* A host was given up: so is what waits for it here. */
static void
end_host(sn_run *r, uint32_t host, seine_err why)
{
    sn_visit *v;

    sn_frontier_park(r->frontier, host);
    while ((v = sn_frontier_drain(r->frontier, host, r->now))) {
        v->host = host;
        give_up(r, v, why);
    }
}

/* Hosts that were given up, and visits whose time has passed. */
static void
end_waiting(sn_run *r)
{
    seine_err why;
    uint32_t host;
    sn_visit *v;

    while ((v = sn_scheduler_parked(r->scheduler, &why)))
        give_up(r, v, why);
    while (r->frontier && sn_scheduler_parked_host(r->scheduler, &host, &why))
        end_host(r, host, why);
    while ((v = sn_scheduler_expired(r->scheduler, r->now)))
        give_up(r, v, SEINE_E_DEADLINE);
}

/* The last things: what waits for a robots.txt in vain, and what is told at the end. */
static void
end_crawl(sn_run *r)
{
    sn_shared_state *c = r->shared;

    if (!r->frontier || !sn_shared_state_is_closed(c))
        return;
    if (sn_shared_state_is_stuck(c))
        atomic_store(&c->gives_up, true);
    if (atomic_load(&c->gives_up))
        r->has_more |= sn_frontier_stuck(r->frontier, AT_ONCE, r->now);
    if (sn_shared_state_is_quiet(c))
        r->has_more |= sn_frontier_late(r->frontier, AT_ONCE, r->now);
}

/* For the frontier. */

static void
refuse(const sn_refusal *refusal, void *arg)
{
    sn_run *r = arg;

    sn_emit_skip(refusal->link, refusal->key, refusal->reason, refusal->rule, r->wall,
                 &r->emit);
    atomic_fetch_add(&r->shared->refused, 1);
    sn_meters_given(r->meters, 1, 1);
    tell(r);
}

/* It was admitted, and has left whatever list it stood in. */
static void
refuse_visit(sn_visit *v, void *arg)
{
    sn_run *r = arg;

    atomic_fetch_add(&r->shared->refused, 1);
    r->refused++;
    emit(r, v);
}

static void
send(uint32_t shard, sn_post *give, void *arg)
{
    const sn_run *r = arg;

    if (sn_mail_put(&r->all[shard]->box, give))
        sn_run_wake(r->all[shard]);
}

static void
tell_event(const seine_event *e, void *arg)
{
    const sn_run *r = arg;
    const seine_fetch_opts *o = &r->shared->opts;

    if (o->on_event)
        o->on_event(e, r->index, o->arg);
}

static seine_err
make_frontier(sn_run *r)
{
    const seine_fetch_opts *o = &r->shared->opts;
    sn_frontier_ops ops = {refuse, refuse_visit, send, tell_event, r};

    if (!o->crawl && o->robots == SEINE_OBEY_OFF)
        return SEINE_OK;
    return sn_frontier_new(r->shared, r->scheduler, &ops, r->index, r->n, &r->frontier);
}

/* The world. */

static void
log_event(const sn_run *r, const seine_event *e)
{
    seine_log *log = r->shared->opts.log;
    sn_str host = e->host;

    if (strcmp(e->name, "breaker.open") == 0)
        SN_SAY(log, WARN, "breaker.open", "breaker opened", SN_S("host", host),
               SN_E("err", e->cause));
    else if (strcmp(e->name, "host.parked") == 0)
        SN_SAY(log, WARN, "host.parked", "host given up for this run", SN_S("host", host),
               SN_E("err", e->cause));
    else
        SN_LOG(log, DEBUG, e->name, SN_S("host", host));
}

static void
tell_events(sn_run *r)
{
    const seine_fetch_opts *o = &r->shared->opts;
    seine_event e;

    while (sn_scheduler_event(r->scheduler, &e)) {
        r->stats.breaker_opens += strcmp(e.name, "breaker.open") == 0;
        sn_meters_breaker(r->meters, &e);
        log_event(r, &e);
        if (o->on_event)
            o->on_event(&e, r->index, o->arg);
    }
}

/* Another shard may have work and found no slot free. */
static void
wake_starved(sn_run *r)
{
    if (r->freed_slots && r->n > 1 &&
        atomic_load_explicit(&r->shared->starving, memory_order_seq_cst) > 0)
        for (uint32_t i = 0; i < r->n; i++)
            if (i != r->index)
                sn_run_wake(r->all[i]);
    r->freed_slots = false;
}

/* The last unit of work was ours: others may have something to tell. */
static void
wake_all_at_the_end(sn_run *r)
{
    bool is_over = r->frontier && (sn_shared_state_is_quiet(r->shared) ||
                                   atomic_load(&r->shared->gives_up));

    if (is_over && !r->was_over && r->n > 1)
        for (uint32_t i = 0; i < r->n; i++)
            if (i != r->index)
                sn_run_wake(r->all[i]);
    r->was_over = is_over;
}

static void
publish(sn_run *r)
{
    uint32_t by[SEINE_WAIT_COUNT], parked;
    uint64_t figures[FIGURES];
    seine_fetch_stats *s = &r->stats;

    s->waiting = sn_scheduler_waiting(r->scheduler, by);
    for (int i = 0; i < SEINE_WAIT_COUNT; i++)
        s->waiting_for[i] = by[i];
    s->in_flight = r->requests.n;
    s->hosts = sn_scheduler_n_hosts(r->scheduler, &parked, &s->parked_until);
    s->parked = parked;
    sn_meters_turn(r->meters, &r->before, s);
    if (r->meters)
        r->before = *s;
    memcpy(figures, s, sizeof figures);
    for (size_t i = 0; i < FIGURES; i++)
        atomic_store_explicit(&r->shown[i], figures[i], memory_order_relaxed);
}

static void
check_balance(const sn_run *r)
{
#ifndef NDEBUG
    uint32_t by[SEINE_WAIT_COUNT];
    uint64_t ended = 0;

    for (const sn_visit *v = r->requests.ended; v; v = v->next)
        ended++;
    assert(r->frontier || r->came == r->left + r->refused + r->stats.done +
                                         r->requests.n + ended +
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
    r->wall = r->env->clock->wall(r->env->clock);
    r->has_more = false;
    while ((v = sn_requests_ended(&r->requests)))
        judge(r, v);
    take_in(r);
    stop(r);
    end_over_bytes(r);
    widen(r);
    start(r);
    tell_events(r);
    end_waiting(r);
    end_crawl(r);
    wake_starved(r);
    wake_all_at_the_end(r);
    publish(r);
    sn_slowest_turn(&r->slowest, r->scheduler, r->now);
    check_balance(r);
    return r->now;
}

seine_time
sn_run_when(const sn_run *r)
{
    if (r->requests.ended || r->has_more ||
        atomic_load_explicit(&r->inbox.head, memory_order_relaxed) != NULL ||
        atomic_load_explicit(&r->box.head, memory_order_relaxed) != NULL)
        return r->now;
    seine_time at = SEINE_NEVER;
    if (stop_of(r) != SN_GOING)
        at = r->canceled                 ? SEINE_NEVER
             : stop_of(r) == SN_STOPPING ? r->now
                                         : sn_time_min(r->drain_until, SEINE_NEVER);
    else if (!r->held)
        at = sn_scheduler_when(r->scheduler, r->now);
    if (r->frontier && stop_of(r) == SN_GOING)
        at = sn_time_min(at, sn_frontier_when(r->frontier));
    return sn_time_min(at, r->narrow_until);
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
    uint32_t by[SEINE_WAIT_COUNT];

    return r->requests.n == 0 && !r->requests.ended &&
           sn_scheduler_waiting(r->scheduler, by) == 0 &&
           (!r->frontier || sn_frontier_waiting(r->frontier) == 0) &&
           atomic_load_explicit(&r->inbox.head, memory_order_relaxed) == NULL &&
           atomic_load_explicit(&r->box.head, memory_order_relaxed) == NULL;
}

void
sn_run_stats(const sn_run *r, seine_fetch_stats *out_stats)
{
    uint64_t sum[FIGURES];
    seine_time until = out_stats->parked_until;

    memcpy(sum, out_stats, sizeof sum);
    for (size_t i = 0; i < FIGURES; i++)
        sum[i] += atomic_load_explicit(&r->shown[i], memory_order_relaxed);
    memcpy(out_stats, sum, sizeof sum);
    /* The earliest, not a sum; 0 is what a blank snapshot has. */
    seine_time own = (seine_time)(sum[FIGURES - 1] - (uint64_t)until);
    out_stats->parked_until = until == 0 || (own != 0 && own < until) ? own : until;
}

void
sn_run_slowest(sn_run *r, seine_fetch_slowest *io_slowest)
{
    sn_slowest_get(&r->slowest, io_slowest);
}

void
sn_run_hosts(const sn_run *r, sn_host_fn fn, void *arg)
{
    sn_scheduler_hosts(r->scheduler, r->now, fn, arg);
}
