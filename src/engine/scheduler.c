/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/scheduler.h"

#include <assert.h>

#include "base/alloc.h"
#include "engine/scheduler_parts.h"
#include "engine/trace.h"
#include "guard/breaker.h"

#define LEAD    3             /* starts in which a host's guards come from memory */
#define DROUGHT SEINE_MS(100) /* for want of memory: nobody tells when it is back */
#define APART   SEINE_MS(20)  /* from here on it matters when a request leaves */

seine_err
sn_scheduler_new(sn_shared_state *shared, seine_time now, sn_scheduler **out_scheduler)
{
    sn_scheduler *s = sn_zalloc(sizeof *s);

    if (!s)
        return SEINE_E_NOMEM;
    seine_err e = sn_hosts_init(&s->hosts, shared, &s->wheel, now);
    if (e != SEINE_OK) {
        sn_free(s);
        return e;
    }
    s->shared = shared;
    s->rng = sn_rng_seed(shared->opts.clock->dice(shared->opts.clock));
    s->rate_at = s->dry_at = INT64_MIN;
    s->asked = SN_NO_HOST;
    s->parked_until = SEINE_NEVER;
    s->parked_hosts = SN_NONE;
    s->dry = SN_HOST_QUEUE_NONE;
    sn_ready_queue_init(&s->ready);
    sn_heap_init(&s->again, UINT32_MAX);
    *out_scheduler = s;
    return SEINE_OK;
}

void
sn_scheduler_free(sn_scheduler *s)
{
    if (!s)
        return;
    if (s->starved)
        atomic_fetch_sub(&s->shared->starving, 1);
    sn_heap_fini(&s->again);
    sn_hosts_fini(&s->hosts);
    sn_timer_wheel_fini(&s->wheel);
    sn_free(s->saved);
    sn_free(s);
}

/* Where a host stands. */

static void
let_go(sn_scheduler *s, uint32_t host, sn_guards *g, seine_time now)
{
    sn_host_stats *f = sn_hosts_stats(&s->hosts, host);

    g->held += now - g->held_since;
    if (f)
        f->held[g->held_why] += now - g->held_since;
    g->held_since = SEINE_NEVER;
}

void
sn_scheduler_hold(sn_scheduler *s, uint32_t host, bool held, seine_time now)
{
    const sn_host *h = &s->hosts.all[host];

    if (h->guards == SN_NONE)
        return;
    sn_guards *g = sn_hosts_guards(&s->hosts, host);
    if (held) {
        g->held_why = h->why;
        if (g->held_since == SEINE_NEVER)
            g->held_since = now;
    } else if (g->held_since != SEINE_NEVER) {
        let_go(s, host, g, now);
    }
}

seine_wait
sn_scheduler_wall(const sn_scheduler *s, uint32_t host)
{
    if (!s->hosts.all[host].is_delayed)
        return SEINE_WAIT_HOST_RATE;
    seine_span delay = SEINE_MS((seine_span)s->hosts.cards[host].delay_ms);
    return sn_hosts_every(&s->hosts, host) == delay ? SEINE_WAIT_CRAWL_DELAY
                                                    : SEINE_WAIT_HOST_RATE;
}

/* What a host waits for that has a moment. */
static seine_wait
why_of(const sn_scheduler *s, uint32_t host)
{
    const sn_host *h = &s->hosts.all[host];

    return h->why == SEINE_WAIT_QUEUE ? sn_scheduler_wall(s, host) : (seine_wait)h->why;
}

static void
to_lane(sn_scheduler *s, uint32_t host, bool first)
{
    s->hosts.all[host].place = SN_HOST_READY;
    sn_ready_queue_put(&s->ready, s->hosts.all, host, first);
}

static void
to_wheel(sn_scheduler *s, uint32_t host, seine_time at, seine_wait why, seine_time now)
{
    sn_host *h = &s->hosts.all[host];

    sn_scheduler_blame(s, h, why);
    h->place = SN_HOST_ON_WHEEL;
    sn_scheduler_hold(s, host, true, now);
    sn_timer_wheel_put(&s->wheel, host, at);
}

/* Nothing of it may go, whatever the brakes say. */
static void
to_side(sn_scheduler *s, uint32_t host, seine_time now)
{
    sn_host *h = &s->hosts.all[host];

    h->place = SN_HOST_ASIDE;
    sn_scheduler_hold(s, host, false, now);
    sn_scheduler_blame(s, h, SEINE_WAIT_QUEUE);
}

/* What it waits for ends with a request of its own. */
static void
to_busy(sn_scheduler *s, uint32_t host, seine_wait why, seine_time now)
{
    sn_host *h = &s->hosts.all[host];

    sn_scheduler_blame(s, h, why);
    if (why != SEINE_WAIT_CONCURRENCY)
        sn_scheduler_hold(s, host, true, now);
    h->place = SN_HOST_BUSY;
}

bool
sn_scheduler_moisten(sn_scheduler *s)
{
    uint32_t host = sn_host_queue_take(&s->dry, s->hosts.all);

    if (host != SN_NONE && s->hosts.all[host].place == SN_HOST_DRY)
        to_lane(s, host, false);
    return host != SN_NONE;
}

void
sn_scheduler_settle(sn_scheduler *s, uint32_t host, seine_time now)
{
    sn_host *h = &s->hosts.all[host];

    if (sn_host_work(h) == 0) {
        h->place = SN_HOST_IDLE;
        sn_scheduler_hold(s, host, false, now);
        sn_hosts_fold(&s->hosts, host, now);
    } else if (h->next > now) {
        to_wheel(s, host, h->next, why_of(s, host), now);
    } else {
        sn_scheduler_hold(s, host, false, now);
        sn_scheduler_blame(s, h, SEINE_WAIT_QUEUE);
        to_lane(s, host, false);
    }
}

/* Taking in. */

void
sn_scheduler_queue_visit(sn_scheduler *s, sn_visit *v, bool first, seine_time now)
{
    sn_host *h = &s->hosts.all[v->host];

    if (h->place == SN_HOST_PARKED) {
        sn_visit_push(&s->parked, v);
        return;
    }
    sn_guards *g = sn_hosts_guards(&s->hosts, v->host);
    v->held_mark = g->held;
    if (g->held_since != SEINE_NEVER)
        v->held_mark += now - g->held_since;
    sn_visit_wait(v, v->is_unpaid ? SEINE_WAIT_RETRY_BUDGET : SEINE_WAIT_QUEUE, now);
    if (v->is_unpaid)
        sn_host_push_unpaid(h, g, v);
    else
        sn_host_push(h, v, v->lane < SN_LANES ? v->lane : SN_LOW, first);
    s->waiting[v->is_unpaid ? SEINE_WAIT_RETRY_BUDGET : h->why]++;
    if (h->place == SN_HOST_IDLE || h->place == SN_HOST_ASIDE)
        sn_scheduler_settle(s, v->host, now);
    else if (h->place == SN_HOST_DRY) /* this one has a visit; the others look again */
        while (sn_scheduler_moisten(s))
            continue;
}

seine_err
sn_scheduler_add(sn_scheduler *s, sn_visit *v, seine_time now)
{
    uint32_t host;
    sn_guards *g;
    seine_err e = sn_hosts_find(&s->hosts, &v->url, now, &host);

    if (e == SEINE_OK)
        e = sn_hosts_guard(&s->hosts, host, now, &g);
    if (e != SEINE_OK)
        return e;
    v->host = host;
    sn_visit_step(v, SN_WAITING);
    s->n_waiting++;
    sn_scheduler_queue_visit(s, v, false, now);
    return SEINE_OK;
}

static void
set_delay(sn_scheduler *s, uint32_t host, seine_span delay, seine_time now)
{
    sn_host *h = &s->hosts.all[host];
    sn_host_card *card = &s->hosts.cards[host];
    seine_span ms =
        sn_time_min(delay / SEINE_MS(1) + (delay % SEINE_MS(1) > 0), UINT32_MAX);

    if (card->delay_ms == (uint32_t)ms)
        return;
    card->delay_ms = (uint32_t)ms;
    h->is_delayed = ms > 0;
    sn_hosts_retune(&s->hosts, host, now);
    if (s->lane)
        sn_scheduler_save(s, host, true, now);
    if (h->place == SN_HOST_ON_WHEEL &&
        (h->why == SEINE_WAIT_HOST_RATE || h->why == SEINE_WAIT_CRAWL_DELAY)) {
        sn_scheduler_blame(s, h, sn_scheduler_wall(s, host));
        sn_scheduler_hold(s, host, true, now);
    }
}

void
sn_scheduler_work(sn_scheduler *s, const sn_work *work, seine_time now)
{
    sn_host *h = &s->hosts.all[work->host];
    bool is_more = work->n > h->n_offered;

    if (work->delay >= 0)
        set_delay(s, work->host, work->delay, now);
    sn_scheduler_set_offered(s, h, work->n);
    if (h->place == SN_HOST_PARKED && is_more)
        sn_scheduler_tell_parked(s, work->host);
    else if (h->place == SN_HOST_IDLE || h->place == SN_HOST_ASIDE)
        sn_scheduler_settle(s, work->host, now);
}

/* The memory is asked beforehand for the records of the hosts that are due next, and for
 * the guards of the first; if many are due at once they wait in their lane, and one line
 * of them is enough. */
__attribute__((always_inline)) static inline void
expect_due(const sn_scheduler *s, bool is_crowd)
{
    uint32_t next = sn_timer_wheel_peek(&s->wheel, 0);

    if (next != SN_NONE && is_crowd)
        sn_hosts_prefetch_held(&s->hosts, next);
    else if (next != SN_NONE)
        sn_hosts_prefetch(&s->hosts, next);
    for (uint32_t i = 1; i < 5; i++)
        if ((next = sn_timer_wheel_peek(&s->wheel, i)) != SN_NONE)
            __builtin_prefetch(&s->hosts.all[next], 1);
}

/* Hosts whose moment has come are ready. */
static void
take_due(sn_scheduler *s, seine_time now)
{
    uint32_t host;

    for (bool is_crowd = false; (host = sn_timer_wheel_take(&s->wheel, now)) != SN_NONE;
         is_crowd = true) {
        expect_due(s, is_crowd);
        if (s->hosts.all[host].place == SN_HOST_ON_WHEEL)
            sn_scheduler_settle(s, host, now);
    }
}

/* The memory is asked for the guards of the host that starts LEAD starts later, and for
 * the record of the one behind it. */
__attribute__((always_inline)) static inline void
look_ahead(const sn_scheduler *s)
{
    const sn_host *all = s->hosts.all;
    uint32_t host = sn_ready_queue_first(&s->ready);

    for (int i = 1; host != SN_NONE && i < LEAD; i++)
        host = all[host].link;
    if (host == SN_NONE)
        return;
    sn_hosts_prefetch(&s->hosts, host);
    if (all[host].link != SN_NONE)
        __builtin_prefetch(&all[all[host].link], 1);
}

/* A start. */

/* HELD: this host waits. ALL_HELD: every host does. ASKED: its next URL is wanted. */
typedef enum tried { STARTED, HELD, ALL_HELD, ASKED } tried;

/* The pace, a pause, the address: brakes that attempt_begin does not know. */
static seine_time
latest_brake(sn_scheduler *s, uint32_t host, sn_guards *g, seine_time now,
             seine_wait *out_why)
{
    sn_host *h = &s->hosts.all[host];
    seine_time at = h->next;
    sn_shared_state *c = s->shared;

    if (g->pace.pause > at) {
        at = g->pace.pause;
        *out_why = g->retry_after ? SEINE_WAIT_RETRY_AFTER : SEINE_WAIT_RATE_LIMIT;
    } else if (at > now) {
        *out_why = why_of(s, host);
    }
    if (at <= now && c->has_address_limits && g->ip.v != 0 &&
        !sn_scheduler_is_free(s, host)) {
        seine_time when = sn_address_limits_when(&c->address_limits, &g->ip, now);
        if (when > now) {
            at = when;
            *out_why = SEINE_WAIT_ADDRESS;
            sn_pace_starve(&g->pace);
        }
    }
    return at;
}

/* There is work, and somebody else has what it needs. */
static void
note_starved(sn_scheduler *s)
{
    if (!s->starved)
        atomic_fetch_add(&s->shared->starving, 1);
    s->starved = true;
}

/* Puts the host on the wheel until its own limiter allows a start. False: the limiter
 * allows one now. */
static bool
wait_for_limiter(sn_scheduler *s, uint32_t host, sn_guards *g, seine_time now)
{
    seine_time when = seine_limiter_when(&g->limiter, now, 1);

    if (when <= now)
        return false;
    s->hosts.all[host].next = when;
    bool asked = g->limiter.shut > now && g->retry_after;
    to_wheel(s, host, when, asked ? SEINE_WAIT_RETRY_AFTER : sn_scheduler_wall(s, host),
             now);
    return true;
}

/* attempt_begin said no. HELD: to this host. ALL_HELD: to everybody. */
static tried
hold_refused(sn_scheduler *s, uint32_t host, sn_guards *g, seine_attempt_verdict answer,
             seine_time now)
{
    sn_host *h = &s->hosts.all[host];

    if (answer.err == SEINE_E_BREAKER) {
        s->rejected++;
        if (h->in_flight > 0 &&
            sn_breaker_state(&g->breaker) == SEINE_BREAKER_HALF_OPEN) {
            to_busy(s, host, SEINE_WAIT_BREAKER, now); /* the end of the probe decides */
            return HELD;
        }
        h->next = answer.when;
        to_wheel(s, host, answer.when, SEINE_WAIT_BREAKER, now);
        return HELD;
    }
    if (answer.err == SEINE_E_LIMITED && wait_for_limiter(s, host, g, now))
        return HELD;
    sn_pace_starve(&g->pace);
    if (answer.err == SEINE_E_BUSY && g->set.throttle &&
        seine_throttle_in_flight(&g->throttle) >= seine_throttle_limit(&g->throttle)) {
        to_busy(s, host, SEINE_WAIT_CONCURRENCY, now);
        return HELD;
    }
    if (answer.err == SEINE_E_LIMITED) {
        s->rate_at = answer.when;
        sn_scheduler_blame(s, h, SEINE_WAIT_RATE);
        sn_scheduler_hold(s, host, true, now); /* until it is tried again */
    } else {
        sn_scheduler_blame(s, h, SEINE_WAIT_CONCURRENCY);
        note_starved(s);
    }
    to_lane(s, host, true);
    return ALL_HELD;
}

/* A visit of the host leaves: its waits are known now. */
static sn_visit *
take_first(sn_scheduler *s, uint32_t host, const sn_guards *g, seine_time now)
{
    sn_visit *v = sn_host_pop(&s->hosts.all[host]);
    seine_span held = g->held - v->held_mark, all = now - v->since;

    if (held > all)
        held = all;
    if (held > 0) {
        v->waited[g->held_why] += held;
        v->since += held; /* the rest was the queue */
    }
    if (sn_trace_is_on(s->shared)) {
        sn_trace_wait(s->shared, v, g->held_why, held);
        sn_trace_wait(s->shared, v, s->hosts.all[host].why, all - held);
    }
    sn_visit_wait_over(v, now);
    return v;
}

bool
sn_scheduler_twin_is_leaving(const sn_scheduler *s, uint32_t host)
{
    if (!s->hosts.all[host].has_twin)
        return false;
    uint32_t twin = s->hosts.cards[host].twin;
    return s->hosts.all[twin].guards != SN_NONE &&
           sn_hosts_guards(&s->hosts, twin)->is_leaving &&
           sn_hosts_rate(&s->hosts, host) > 0;
}

void
sn_scheduler_wake_twin(sn_scheduler *s, uint32_t host, seine_time now)
{
    if (!s->hosts.all[host].has_twin)
        return;
    uint32_t twin = s->hosts.cards[host].twin;
    if (s->hosts.all[twin].place == SN_HOST_BUSY)
        sn_scheduler_settle(s, twin, now);
}

/* The URL that the frontier offers: it has waited since the start before it, as far as
 * anybody knows. */
static void
welcome_visit(const sn_guards *g, uint32_t host, sn_visit *v)
{
    v->host = host;
    v->since = SEINE_NEVER;
    sn_visit_step(v, SN_WAITING);
    if (g->held > g->held_mark) {
        v->waited[g->held_why] += g->held - g->held_mark;
        v->admitted_at -= g->held - g->held_mark; /* its life covers its waits */
    }
}

/* No visit can be made at this moment: the host waits until there is memory again. */
static tried
run_dry(sn_scheduler *s, uint32_t host, seine_time now)
{
    sn_scheduler_hold(s, host, false, now);
    sn_scheduler_blame(s, &s->hosts.all[host], SEINE_WAIT_CONCURRENCY);
    s->hosts.all[host].place = SN_HOST_DRY;
    sn_host_queue_put(&s->dry, s->hosts.all, host, false);
    s->dry_at = now;
    note_starved(s);
    return HELD;
}

/* The next start of the host, as far as its pace is concerned; true if it matters when
 * this one leaves. */
static bool
pace_on(sn_scheduler *s, uint32_t host, sn_guards *g, seine_time now)
{
    sn_host *h = &s->hosts.all[host];
    bool paced = g->pace.ivl_us > 0;

    if (paced && sn_host_work(h) == 0)
        sn_pace_starve(&g->pace);
    seine_time at = sn_pace_start(&g->pace, now, paced ? sn_rng_next(&s->rng) : 0);
    seine_time limit = seine_limiter_when(&g->limiter, now, 1);
    h->next = sn_time_max(h->next, sn_time_max(at, limit));
    bool slowed = at > limit && g->pace.ivl_us > g->pace.floor_us;
    sn_scheduler_blame(s, h, slowed ? SEINE_WAIT_PACE : sn_scheduler_wall(s, host));
    seine_span gap = h->next - now;
    g->gap_us = (uint32_t)sn_time_min((gap + 999) / 1000, UINT32_MAX);
    return gap >= APART;
}

/* All agree: the visit leaves, and what follows for the host. */
static void
start_visit(sn_scheduler *s, uint32_t host, sn_guards *g, const seine_attempt *attempt,
            sn_visit *v, seine_time now)
{
    sn_visit_step(v, SN_READY);
    v->attempt = *attempt;
    sn_hosts_settle_visit(&s->hosts, v);
    v->retry.host = g->retry_budget;
    v->ticket = sn_wave_start(&g->wave);
    sn_visit_note_wait(v, now);
    s->hosts.all[host].in_flight++;
    g->held_mark = g->held;
    v->is_leaving = g->is_leaving = pace_on(s, host, g, now);
    if (s->hosts.all[host].has_twin)
        sn_hosts_tell_twin(&s->hosts, host, false, now);
    sn_scheduler_settle(s, host, now);
}

/* The permits are held: one of the visits at the host leaves, or the frontier is asked
 * for the next URL. */
static tried
start_or_ask(sn_scheduler *s, uint32_t host, sn_guards *g, const seine_attempt *attempt,
             seine_time now, sn_visit **out_visit)
{
    sn_host *h = &s->hosts.all[host];
    bool is_free = h->n_waiting == 0 && h->n_offered == 0;

    *out_visit = sn_scheduler_take_unpaid(s, host, g, is_free, now);
    if (*out_visit) {
        start_visit(s, host, g, attempt, *out_visit, now);
        return STARTED;
    }
    if (!sn_host_has_visit(h)) {
        s->asked = host;
        s->asked_attempt = *attempt;
        return ASKED;
    }
    *out_visit = take_first(s, host, g, now);
    s->waiting[h->why]--;
    s->n_waiting--;
    start_visit(s, host, g, attempt, *out_visit, now);
    return STARTED;
}

/* Gives back what was taken of the first `n` groups of the host. */
static void
undo_groups(sn_scheduler *s, const sn_host_policy *p, uint32_t n, seine_time now)
{
    while (n-- > 0)
        sn_group_rule_undo(p->groups[n], s->marks[n], now);
}

/* All groups of the host have room, or none loses any, and the host waits. */
static bool
take_groups(sn_scheduler *s, uint32_t host, seine_attempt *attempt, seine_time now)
{
    const sn_host_policy *p = sn_hosts_policy(&s->hosts, host);
    seine_fault none = SEINE_FAULT;
    seine_time when = now;

    for (uint32_t i = 0; p && i < p->n_groups; i++) {
        if (sn_group_rule_take(p->groups[i], now, &s->marks[i], &when) == SEINE_OK)
            continue;
        undo_groups(s, p, i, now);
        none.code = SEINE_E_CANCELED;
        (void)!seine_attempt_end(attempt, &none, now);
        sn_pace_starve(&sn_hosts_guards(&s->hosts, host)->pace);
        to_wheel(s, host, when, SEINE_WAIT_HOST_RATE, now);
        return false;
    }
    return true;
}

static tried
try_host(sn_scheduler *s, uint32_t host, seine_time now, sn_visit **out_visit)
{
    sn_guards *g;
    seine_attempt attempt;
    seine_wait why = SEINE_WAIT_HOST_RATE;

    if (sn_hosts_guard(&s->hosts, host, now, &g) != SEINE_OK)
        return run_dry(s, host, now);
    if (g->held_since != SEINE_NEVER)
        sn_scheduler_hold(s, host, false, now);
    seine_time at = latest_brake(s, host, g, now, &why);
    if (at > now) {
        to_wheel(s, host, at, why, now);
        return HELD;
    }
    if (g->is_leaving || sn_scheduler_twin_is_leaving(s, host)) { /* until it has left */
        to_busy(s, host, sn_scheduler_wall(s, host), now);
        return HELD;
    }
    if (sn_wave_is_pending(&g->wave, sn_hosts_failures(&s->hosts, host))) {
        to_busy(s, host, SEINE_WAIT_BREAKER, now); /* the end of the wave decides */
        return HELD;
    }
    seine_breaker_state was = sn_breaker_state(&g->breaker);
    seine_attempt_verdict answer = seine_attempt_begin(&attempt, &g->set, NULL, now);
    if (answer.err != SEINE_OK)
        return hold_refused(s, host, g, answer, now);
    if (!take_groups(s, host, &attempt, now))
        return HELD;
    if (g->set.breaker && was == SEINE_BREAKER_OPEN)
        sn_scheduler_tell(s, host,
                          &(seine_event){.name = "breaker.half_open",
                                         .cause = SEINE_OK,
                                         .until = SEINE_NEVER,
                                         .from = was,
                                         .to = SEINE_BREAKER_HALF_OPEN});
    return start_or_ask(s, host, g, &attempt, now, out_visit);
}

static bool
may_start(const sn_scheduler *s, seine_time now)
{
    return s->rate_at <= now &&
           atomic_load_explicit(&s->shared->stop, memory_order_relaxed) == SN_GOING;
}

/* A ready host: its visit, or where it stands instead. */
static tried
visit_host(sn_scheduler *s, uint32_t host, seine_time now, sn_visit **out_visit)
{
    const sn_host *h = &s->hosts.all[host];

    if (h->place != SN_HOST_READY)
        return HELD;
    if (sn_host_work(h) == 0) {
        sn_scheduler_settle(s, host, now);
        return HELD;
    }
    if (s->dry_at == now && !sn_host_has_visit(h) && h->n_unpaid == 0)
        return run_dry(s, host, now);
    return try_host(s, host, now, out_visit);
}

/* It comes too late: what it took is given back. */
static void
expire_visit(sn_scheduler *s, sn_visit *v, seine_time now)
{
    v->end.fault.code = SEINE_E_DEADLINE;
    sn_scheduler_end(s, v, now);
    sn_visit_push(&s->expired, v);
}

sn_visit *
sn_scheduler_next(sn_scheduler *s, seine_time now, uint32_t *out_ask)
{
    uint32_t host;
    tried t = HELD;

    assert(s->asked == SN_NO_HOST); /* its offer comes first */
    *out_ask = SN_NO_HOST;
    if (s->starved) {
        s->starved = false;
        atomic_fetch_sub(&s->shared->starving, 1);
    }
    if (sn_heap_when(&s->again) <= now)
        sn_scheduler_take_again(s, now);
    take_due(s, now);
    /* Nothing signals that there is memory again, so each call retries one dry host; at a
     * moment without memory it is dry at once. */
    sn_scheduler_moisten(s);
    while (t != ALL_HELD && may_start(s, now) &&
           (host = sn_ready_queue_take(&s->ready, s->hosts.all)) != SN_NONE) {
        sn_visit *v = NULL;

        look_ahead(s);
        t = visit_host(s, host, now, &v);
        if (t == ASKED) {
            *out_ask = host;
            return NULL;
        }
        if (v && v->deadline > now)
            return v;
        if (v)
            expire_visit(s, v, now);
    }
    return NULL;
}

/* Nothing of the host may start: the attempt is given back as if it had never begun. */
static void
wait_for_work(sn_scheduler *s, uint32_t host, bool is_no_memory, seine_time now)
{
    seine_fault none = SEINE_FAULT;

    none.code = SEINE_E_CANCELED;
    (void)!seine_attempt_end(&s->asked_attempt, &none, now);
    const sn_host_policy *p = sn_hosts_policy(&s->hosts, host);
    if (p)
        undo_groups(s, p, p->n_groups, now);
    if (is_no_memory) {
        run_dry(s, host, now);
        return;
    }
    sn_pace_starve(&sn_hosts_guards(&s->hosts, host)->pace);
    if (sn_host_work(&s->hosts.all[host]) == 0)
        sn_scheduler_settle(s, host, now);
    else
        to_side(s, host, now);
}

sn_visit *
sn_scheduler_answer(sn_scheduler *s, const sn_offer *offer, seine_time now)
{
    uint32_t host = s->asked;
    sn_visit *v = offer->visit;

    assert(host != SN_NO_HOST);
    s->asked = SN_NO_HOST;
    sn_scheduler_set_offered(s, &s->hosts.all[host], offer->left);
    sn_guards *g = sn_hosts_guards(&s->hosts, host);
    if (!v && (v = sn_scheduler_take_unpaid(s, host, g, true, now))) {
        start_visit(s, host, g, &s->asked_attempt, v, now);
        return v;
    }
    if (!v) {
        wait_for_work(s, host, offer->is_no_memory, now);
        return NULL;
    }
    welcome_visit(g, host, v);
    start_visit(s, host, g, &s->asked_attempt, v, now);
    return v;
}

seine_time
sn_scheduler_when(sn_scheduler *s, seine_time now)
{
    if (s->parked || s->expired || s->parked_hosts != SN_NONE)
        return now;
    seine_time at = sn_time_min(sn_heap_when(&s->again), sn_timer_wheel_when(&s->wheel));
    if (s->dry.first != SN_NONE)
        at = sn_time_min(at, sn_time_add(now, DROUGHT));
    if (sn_ready_queue_is_empty(&s->ready))
        return at;
    if (s->rate_at > now)
        return sn_time_min(at, s->rate_at);
    bool going = atomic_load_explicit(&s->shared->stop, memory_order_relaxed) == SN_GOING;
    return going && !s->starved ? now : at;
}
