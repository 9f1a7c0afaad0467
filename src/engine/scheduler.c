/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/scheduler.h"

#include <assert.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/time.h"
#include "engine/host.h"
#include "seine/outcome.h"

#define EVENTS 64

#define APART SEINE_MS(20) /* from here on it matters when a request leaves */

typedef struct lane {
    uint32_t first, last; /* hosts; SN_NONE: empty */
} lane;

struct sn_scheduler {
    sn_commons *commons;
    sn_wheel wheel;
    sn_hosts hosts;
    lane lanes[SN_LANES];
    sn_heap again;                      /* visits with a moment of their own */
    sn_source source;                   /* more NULL: none */
    lane dry;                           /* hosts for whose next URL no visit was free */
    sn_visit *parked, *expired;         /* lists; to be ended by the caller */
    uint32_t parked_hosts;              /* a list; their URLs at the source likewise */
    uint32_t waiting[SEINE_WAIT_COUNT]; /* by what holds their host */
    uint32_t n_waiting;
    uint32_t n_parked;
    seine_time parked_until;
    seine_time rate_at; /* --rate gives nothing before */
    bool starved;       /* --concurrency is used up */
    uint32_t low_turns; /* starts since the low lane had its turn */
    uint32_t drain_at;  /* hosts before it are drained */
    seine_event events[EVENTS];
    uint32_t event_at, n_events;
};

seine_err
sn_scheduler_new(sn_commons *commons, seine_time now, sn_scheduler **out_scheduler)
{
    sn_scheduler *s = sn_zalloc(sizeof *s);

    if (!s)
        return SEINE_E_NOMEM;
    seine_err e = sn_hosts_init(&s->hosts, commons, &s->wheel, now);
    if (e != SEINE_OK) {
        sn_free(s);
        return e;
    }
    s->commons = commons;
    s->rate_at = INT64_MIN;
    s->parked_until = SEINE_NEVER;
    s->parked_hosts = SN_NONE;
    s->dry = (lane){SN_NONE, SN_NONE};
    for (unsigned i = 0; i < SN_LANES; i++)
        s->lanes[i] = (lane){SN_NONE, SN_NONE};
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
        atomic_fetch_sub(&s->commons->starving, 1);
    sn_heap_fini(&s->again);
    sn_hosts_fini(&s->hosts);
    sn_wheel_fini(&s->wheel);
    sn_free(s);
}

/* Events. */

static void
tell(sn_scheduler *s, const seine_event *e)
{
    uint32_t at = (s->event_at + s->n_events) % EVENTS;

    s->events[at] = *e;
    if (s->n_events < EVENTS)
        s->n_events++;
    else
        s->event_at = (s->event_at + 1) % EVENTS; /* the oldest is lost */
}

bool
sn_scheduler_event(sn_scheduler *s, seine_event *out_event)
{
    if (s->n_events == 0)
        return false;
    *out_event = s->events[s->event_at];
    s->event_at = (s->event_at + 1) % EVENTS;
    s->n_events--;
    return true;
}

/* "e.example", or "e.example:8080" where the port is not the scheme's own. */
static seine_view
name_of(const sn_host *h)
{
    sn_str name = sn_str_of(h->name);
    bool tls = sn_str_starts(name, SN_STR("https:"));
    sn_str own = tls ? SN_STR(":443") : SN_STR(":80");

    name = sn_str_slice(name, tls ? 8 : 7, name.len);
    if (sn_str_ends(name, own))
        name.len -= own.len;
    return (seine_view){name.ptr, name.len};
}

/* Where a host stands. */

static uint32_t
work_of(const sn_host *h)
{
    return h->n_waiting + h->n_source;
}

/* What the waiting visits of a host wait for, from here on. */
static void
blame(sn_scheduler *s, sn_host *h, seine_wait why)
{
    if (h->why == why)
        return;
    s->waiting[h->why] -= work_of(h);
    s->waiting[why] += work_of(h);
    h->why = (uint8_t)why;
}

/* Which of the two walls is the higher one? */
static seine_wait
rate_why(const sn_scheduler *s, const sn_host *h)
{
    return h->delay_ms > 0 &&
                   sn_hosts_every(&s->hosts, h) == SEINE_MS((seine_span)h->delay_ms)
               ? SEINE_WAIT_CRAWL_DELAY
               : SEINE_WAIT_HOST_RATE;
}

/* Brakes hold the host, or do no longer: kept for the records of its visits. */
static void
hold(sn_scheduler *s, uint32_t host, bool held, seine_time now)
{
    sn_host *h = &s->hosts.all[host];

    if (h->guards == SN_NONE)
        return;
    sn_guards *g = sn_hosts_guards(&s->hosts, host);
    if (held)
        g->held_why = h->why;
    if (held && g->held_since == SEINE_NEVER) {
        g->held_since = now;
    } else if (!held && g->held_since != SEINE_NEVER) {
        g->held += now - g->held_since;
        sn_figures *f = sn_hosts_figures(&s->hosts, host);
        if (f)
            f->held[g->held_why] += now - g->held_since;
        g->held_since = SEINE_NEVER;
    }
}

static void
push_host(sn_scheduler *s, lane *l, uint32_t host, bool first)
{
    sn_host *h = &s->hosts.all[host];

    h->link = SN_NONE;
    if (l->first == SN_NONE) {
        l->first = l->last = host;
    } else if (first) {
        h->link = l->first;
        l->first = host;
    } else {
        s->hosts.all[l->last].link = host;
        l->last = host;
    }
}

static uint32_t
pop_host(sn_scheduler *s, lane *l)
{
    uint32_t host = l->first;

    if (host == SN_NONE)
        return SN_NONE;
    l->first = s->hosts.all[host].link;
    if (l->first == SN_NONE)
        l->last = SN_NONE;
    return host;
}

static void
to_lane(sn_scheduler *s, uint32_t host, bool first)
{
    sn_host *h = &s->hosts.all[host];

    h->place = SN_LANE;
    push_host(s, &s->lanes[sn_host_lane(h)], host, first);
}

/* Nothing of it may go, whatever the brakes say. */
static void
to_side(sn_scheduler *s, uint32_t host, seine_time now)
{
    sn_host *h = &s->hosts.all[host];

    h->place = SN_ASIDE;
    hold(s, host, false, now);
    blame(s, h, SEINE_WAIT_QUEUE);
}

static void
to_wheel(sn_scheduler *s, uint32_t host, seine_time at, seine_wait why, seine_time now)
{
    sn_host *h = &s->hosts.all[host];

    blame(s, h, why);
    h->place = SN_WHEEL;
    hold(s, host, true, now);
    sn_wheel_put(&s->wheel, host, at);
}

/* A host that was left without a visit is ready again. False: there is none. */
static bool
take_dry(sn_scheduler *s)
{
    uint32_t host = pop_host(s, &s->dry);

    if (host != SN_NONE && s->hosts.all[host].place == SN_DRY)
        to_lane(s, host, false);
    return host != SN_NONE;
}

/* To wherever a host with work belongs that stands nowhere now. */
static void
settle_in(sn_scheduler *s, uint32_t host, seine_time now)
{
    sn_host *h = &s->hosts.all[host];

    if (work_of(h) == 0) {
        h->place = SN_IDLE;
        hold(s, host, false, now);
        sn_hosts_fold(&s->hosts, host, now);
    } else if (h->shut && !sn_host_has_visit(h)) {
        to_side(s, host, now);
    } else if (h->next > now) {
        to_wheel(s, host, h->next, h->why == SEINE_WAIT_QUEUE ? rate_why(s, h) : h->why,
                 now);
    } else {
        hold(s, host, false, now);
        blame(s, h, SEINE_WAIT_QUEUE);
        to_lane(s, host, false);
    }
}

/* Visits. */

static void tell_parked(sn_scheduler *s, uint32_t host);

static void
push_list(sn_visit **list, sn_visit *v)
{
    v->next = *list;
    *list = v;
}

static sn_visit *
pop_list(sn_visit **list)
{
    sn_visit *v = *list;

    if (v)
        *list = v->next;
    return v;
}

/* The visit stands at its host. */
static void
stand(sn_scheduler *s, sn_visit *v, bool first, seine_time now)
{
    sn_host *h = &s->hosts.all[v->host];

    if (h->place == SN_PARKED) {
        push_list(&s->parked, v);
        return;
    }
    const sn_guards *g = sn_hosts_guards(&s->hosts, v->host);
    v->held_mark = g->held;
    if (g->held_since != SEINE_NEVER)
        v->held_mark += now - g->held_since;
    sn_visit_wait(v, SEINE_WAIT_QUEUE, now);
    sn_host_push(h, v, v->lane < SN_LANES ? v->lane : SN_LOW, first);
    s->waiting[h->why]++;
    if (h->place == SN_IDLE || (h->place == SN_ASIDE && sn_host_has_visit(h)))
        settle_in(s, v->host, now);
    else if (h->place ==
             SN_DRY) /* it has one of its own now; the others may look again */
        while (take_dry(s))
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
    stand(s, v, false, now);
    return SEINE_OK;
}

seine_err
sn_scheduler_again(sn_scheduler *s, sn_visit *v, seine_time at, seine_wait why,
                   seine_time now)
{
    if (at > now) {
        seine_err e = sn_heap_put(&s->again, at, (uint64_t)(uintptr_t)v);
        if (e != SEINE_OK)
            return e;
    }
    sn_visit_step(v, SN_WAITING);
    s->n_waiting++;
    v->lane = SN_HIGH;
    v->not_before = at;
    if (at > now) {
        sn_visit_wait(v, why, now);
        s->hosts.all[v->host].n_again++;
        s->waiting[why]++;
    } else {
        stand(s, v, true, now);
    }
    return SEINE_OK;
}

void
sn_scheduler_set_source(sn_scheduler *s, const sn_source *source)
{
    s->source = *source;
}

seine_err
sn_scheduler_host(sn_scheduler *s, const seine_url *url, bool is_given, seine_time now,
                  uint32_t *out_host)
{
    uint32_t host;
    seine_err e = sn_hosts_find(&s->hosts, url, now, &host);

    if (e != SEINE_OK)
        return e;
    sn_host *h = &s->hosts.all[host];
    if (is_given && !h->is_given) {
        h->is_given = true;
        if (sn_hosts_is_mine(&s->hosts, h))
            sn_hosts_retune(&s->hosts, host, now);
    }
    *out_host = host;
    return SEINE_OK;
}

void
sn_scheduler_put(sn_scheduler *s, uint32_t host, uint32_t n, seine_time now)
{
    sn_host *h = &s->hosts.all[host];

    h->n_source += n;
    s->n_waiting += n;
    s->waiting[h->why] += n;
    if (h->place == SN_PARKED)
        tell_parked(s, host);
    else if (h->place == SN_IDLE || (h->place == SN_ASIDE && !h->shut))
        settle_in(s, host, now);
}

void
sn_scheduler_less(sn_scheduler *s, uint32_t host, uint32_t n)
{
    sn_host *h = &s->hosts.all[host];

    assert(n <= h->n_source);
    h->n_source -= n;
    s->n_waiting -= n;
    s->waiting[h->why] -= n;
}

void
sn_scheduler_gate(sn_scheduler *s, uint32_t host, bool shut, seine_time now)
{
    sn_host *h = &s->hosts.all[host];

    h->shut = shut;
    if (!shut && h->place == SN_ASIDE)
        settle_in(s, host, now);
}

void
sn_scheduler_delay(sn_scheduler *s, uint32_t host, seine_span delay, seine_time now)
{
    sn_host *h = &s->hosts.all[host];
    seine_span ms =
        sn_time_min(delay / SEINE_MS(1) + (delay % SEINE_MS(1) > 0), UINT32_MAX);

    if (h->delay_ms == (uint32_t)ms)
        return;
    h->delay_ms = (uint32_t)ms;
    sn_hosts_retune(&s->hosts, host, now);
    if (h->place == SN_WHEEL &&
        (h->why == SEINE_WAIT_HOST_RATE || h->why == SEINE_WAIT_CRAWL_DELAY)) {
        blame(s, h, rate_why(s, h));
        hold(s, host, true, now);
    }
}

uint32_t
sn_scheduler_busy(const sn_scheduler *s, uint32_t host)
{
    return s->hosts.all[host].in_flight + s->hosts.all[host].n_again;
}

/* Those whose moment has come stand at their hosts again. */
static void
take_again(sn_scheduler *s, seine_time now)
{
    while (sn_heap_when(&s->again) <= now) {
        sn_visit *v = (sn_visit *)(uintptr_t)sn_heap_take(&s->again).item;

        s->hosts.all[v->host].n_again--;
        s->waiting[v->waits_for]--;
        stand(s, v, false, now);
    }
}

/* Hosts whose moment has come are ready. */
static void
take_due(sn_scheduler *s, seine_time now)
{
    uint32_t host;

    while ((host = sn_wheel_take(&s->wheel, now)) != SN_NONE) {
        sn_host *h = &s->hosts.all[host];
        if (h->place == SN_WHEEL)
            settle_in(s, host, now);
    }
}

/* High before normal; of eight starts the low lane gets one if it waits. */
static uint32_t
pop_ready(sn_scheduler *s)
{
    uint32_t host = SN_NONE;

    if (s->low_turns >= 7 && (host = pop_host(s, &s->lanes[SN_LOW])) != SN_NONE) {
        s->low_turns = 0;
        return host;
    }
    for (unsigned i = 0; i < SN_LANES && host == SN_NONE; i++)
        host = pop_host(s, &s->lanes[i]);
    if (s->lanes[SN_LOW].first != SN_NONE)
        s->low_turns++;
    return host;
}

/* The pace, a pause, the address: brakes that attempt_begin does not know. */
static seine_time
brakes(sn_scheduler *s, uint32_t host, sn_guards *g, seine_time now, seine_wait *out_why)
{
    sn_host *h = &s->hosts.all[host];
    seine_time at = h->next;
    sn_commons *c = s->commons;

    *out_why = h->why == SEINE_WAIT_QUEUE ? rate_why(s, h) : h->why;
    if (g->pace.pause > at) {
        at = g->pace.pause;
        *out_why = g->retry_after ? SEINE_WAIT_RETRY_AFTER : SEINE_WAIT_RATE_LIMIT;
    }
    if (at <= now && c->has_ipcap && g->ip.v != 0 && !sn_hosts_is_mine(&s->hosts, h)) {
        seine_time when = sn_ipcap_when(&c->ipcap, &g->ip, now);
        if (when > now) {
            at = when;
            *out_why = SEINE_WAIT_ADDRESS;
            sn_pace_starve(&g->pace);
        }
    }
    return at;
}

/* DRY: a visit is wanting, for this host and for all others with a source. */
typedef enum tried { STARTED, HELD, ALL_HELD, DRY } tried;

/* There is work, and somebody else has what it needs. */
static void
starve(sn_scheduler *s)
{
    if (!s->starved)
        atomic_fetch_add(&s->commons->starving, 1);
    s->starved = true;
}

/* attempt_begin said no. HELD: to this host. ALL_HELD: to everybody. */
static tried
refused(sn_scheduler *s, uint32_t host, sn_guards *g, seine_answer answer, seine_time now)
{
    sn_host *h = &s->hosts.all[host];
    seine_time when;

    if (answer.err == SEINE_E_BREAKER && h->in_flight > 0 &&
        seine_breaker_get(&g->breaker) == SEINE_BREAKER_HALF_OPEN) {
        blame(s, h, SEINE_WAIT_BREAKER);
        hold(s, host, true, now);
        h->place = SN_BUSY; /* the end of the probe decides */
        return HELD;
    }
    if (answer.err == SEINE_E_BREAKER) {
        h->next = answer.when;
        to_wheel(s, host, answer.when, SEINE_WAIT_BREAKER, now);
        return HELD;
    }
    if (answer.err == SEINE_E_LIMITED &&
        (when = seine_limiter_when(&g->limiter, now, 1)) > now) {
        h->next = when;
        to_wheel(s, host, when,
                 g->limiter.shut > now && g->retry_after ? SEINE_WAIT_RETRY_AFTER
                                                         : rate_why(s, h),
                 now);
        return HELD;
    }
    sn_pace_starve(&g->pace);
    if (answer.err == SEINE_E_BUSY && g->set.throttle &&
        seine_throttle_in_flight(&g->throttle) >= seine_throttle_limit(&g->throttle)) {
        blame(s, h, SEINE_WAIT_CONCURRENCY);
        h->place = SN_BUSY;
        return HELD;
    }
    if (answer.err == SEINE_E_LIMITED) {
        s->rate_at = answer.when;
        blame(s, h, SEINE_WAIT_RATE);
    } else {
        blame(s, h, SEINE_WAIT_CONCURRENCY);
        starve(s);
    }
    to_lane(s, host, true);
    return ALL_HELD;
}

/* A visit of the host leaves: its waits are known now. */
static sn_visit *
leave(sn_scheduler *s, uint32_t host, const sn_guards *g, seine_time now)
{
    sn_visit *v = sn_host_pop(&s->hosts.all[host]);
    seine_span held = g->held - v->held_mark, all = now - v->since;

    if (held > all)
        held = all;
    if (held > 0) {
        v->waited[g->held_why] += held;
        v->since += held; /* the rest was the queue */
    }
    sn_visit_wait_over(v, now);
    return v;
}

/* A URL of the source becomes a visit: it has waited since the start before it, as far as
 * anybody knows. */
static sn_visit *
draw(sn_scheduler *s, uint32_t host, const sn_guards *g, seine_time now)
{
    sn_visit *v = s->source.take(host, now, s->source.arg);

    if (!v)
        return NULL;
    assert(s->hosts.all[host].n_source > 0);
    s->hosts.all[host].n_source--;
    v->host = host;
    v->since = SEINE_NEVER;
    sn_visit_step(v, SN_WAITING);
    if (g->held > g->held_mark)
        v->waited[g->held_why] += g->held - g->held_mark;
    return v;
}

/* The attempt is given back as if it had never begun, and the host waits for a visit. */
static tried
run_dry(sn_scheduler *s, uint32_t host, seine_attempt *attempt, seine_time now)
{
    seine_fault none = SEINE_FAULT;

    none.code = SEINE_E_CANCELED;
    if (attempt)
        (void)!seine_attempt_end(attempt, &none, now);
    hold(s, host, false, now);
    blame(s, &s->hosts.all[host], SEINE_WAIT_CONCURRENCY);
    s->hosts.all[host].place = SN_DRY;
    push_host(s, &s->dry, host, false);
    starve(s);
    return DRY;
}

/* The next start of the host, as far as its pace is concerned. */
static void
pace_on(sn_scheduler *s, uint32_t host, sn_guards *g, seine_time now)
{
    sn_host *h = &s->hosts.all[host];
    seine_clock *clock = s->commons->opts.clock;

    if (g->pace.ivl_us > 0 && work_of(h) == 0)
        sn_pace_starve(&g->pace);
    seine_time at =
        sn_pace_start(&g->pace, now, g->pace.ivl_us > 0 ? clock->dice(clock) : 0);
    seine_time limit = seine_limiter_when(&g->limiter, now, 1);
    h->next = sn_time_max(h->next, sn_time_max(at, limit));
    g->gap = h->next - now;
    blame(s, h,
          at > limit && g->pace.ivl_us > g->pace.floor_us ? SEINE_WAIT_PACE
                                                          : rate_why(s, h));
}

static void
count_start(sn_scheduler *s, const sn_visit *v, seine_time now)
{
    sn_figures *f = sn_hosts_figures(&s->hosts, v->host);

    if (!f)
        return;
    sn_figures_start(f);
    if (!v->is_leaving)
        sn_figures_sent(f, now);
    if (v->n_tries > 0)
        f->retries++;
}

/* Is there one for a host whose brakes agree? The call may add visits, hosts and gates:
 * what is known of the host is known anew afterwards. */
static sn_more
ask(sn_scheduler *s, uint32_t host, seine_time now)
{
    const sn_host *h = &s->hosts.all[host];

    if (sn_host_has_visit(h))
        return SN_MORE_NOW;
    if (h->shut || h->n_source == 0)
        return SN_MORE_NONE;
    sn_more more = s->source.more(host, now, s->source.arg);
    h = &s->hosts.all[host];
    if (more == SN_MORE_NOW && !h->shut && h->n_source > 0)
        return SN_MORE_NOW;
    return sn_host_has_visit(h) ? SN_MORE_NOW : SN_MORE_LATER;
}

/* Nothing of it may start now. */
static tried
wait_for_more(sn_scheduler *s, uint32_t host, sn_guards *g, seine_time now)
{
    sn_pace_starve(&g->pace);
    if (work_of(&s->hosts.all[host]) == 0)
        settle_in(s, host, now);
    else
        to_side(s, host, now);
    return HELD;
}

static tried
start(sn_scheduler *s, uint32_t host, sn_guards *g, seine_attempt *attempt,
      seine_time now, sn_visit **out_visit)
{
    bool own = sn_host_has_visit(&s->hosts.all[host]);
    seine_wait why = (seine_wait)s->hosts.all[host].why;
    sn_visit *v = own ? leave(s, host, g, now) : draw(s, host, g, now);

    if (!v)
        return run_dry(s, host, attempt, now);
    s->waiting[why]--;
    s->n_waiting--;
    sn_visit_step(v, SN_READY);
    v->attempt = *attempt;
    v->retry.host = g->retry_budget;
    s->hosts.all[host].in_flight++;
    g->held_mark = g->held;
    *out_visit = v;
    return STARTED;
}

static tried
try_host(sn_scheduler *s, uint32_t host, seine_time now, sn_visit **out_visit)
{
    sn_guards *g;
    seine_attempt attempt;
    seine_wait why;

    if (sn_hosts_guard(&s->hosts, host, now, &g) != SEINE_OK)
        return run_dry(s, host, NULL, now);
    seine_time at = brakes(s, host, g, now, &why);
    if (at > now) {
        to_wheel(s, host, at, why, now);
        return HELD;
    }
    if (g->is_leaving) {
        blame(s, &s->hosts.all[host], rate_why(s, &s->hosts.all[host]));
        hold(s, host, true, now);
        s->hosts.all[host].place = SN_BUSY; /* until it has left */
        return HELD;
    }
    if (ask(s, host, now) != SN_MORE_NOW)
        return wait_for_more(s, host, g, now);
    seine_breaker_state was = seine_breaker_get(&g->breaker);
    seine_answer answer = seine_attempt_begin(&attempt, &g->set, NULL, now);
    if (answer.err != SEINE_OK)
        return refused(s, host, g, answer, now);
    if (g->set.breaker && was == SEINE_BREAKER_OPEN)
        tell(s, &(seine_event){"breaker.half_open",
                               name_of(&s->hosts.all[host]),
                               SEINE_OK,
                               SEINE_NEVER,
                               was,
                               SEINE_BREAKER_HALF_OPEN,
                               {0}});
    tried t = start(s, host, g, &attempt, now, out_visit);
    if (t != STARTED)
        return t;
    pace_on(s, host, g, now);
    (*out_visit)->is_leaving = g->is_leaving = g->gap >= APART;
    count_start(s, *out_visit, now);
    settle_in(s, host, now);
    return STARTED;
}

static bool
may_start(const sn_scheduler *s, seine_time now)
{
    return s->rate_at <= now &&
           atomic_load_explicit(&s->commons->stop, memory_order_relaxed) == SN_GOING;
}

sn_visit *
sn_scheduler_next(sn_scheduler *s, seine_time now)
{
    uint32_t host;
    sn_visit *v = NULL;
    bool dry = false;

    if (s->starved) {
        s->starved = false;
        atomic_fetch_sub(&s->commons->starving, 1);
    }
    take_again(s, now);
    take_due(s, now);
    /* Visits come free in many ways and nobody says so: with every question one host is
     * tried again, and the next one when it was given one. */
    take_dry(s);
    while (may_start(s, now) && (host = pop_ready(s)) != SN_NONE) {
        sn_host *h = &s->hosts.all[host];
        if (h->place != SN_LANE)
            continue;
        if (work_of(h) == 0 || (h->shut && !sn_host_has_visit(h))) {
            settle_in(s, host, now);
            continue;
        }
        if (dry && !sn_host_has_visit(h)) {
            run_dry(s, host, NULL, now);
            continue;
        }
        tried t = try_host(s, host, now, &v);
        dry = dry || t == DRY;
        if (t == ALL_HELD)
            break;
        if (v && v->deadline <= now) { /* too late: what it took is given back */
            v->end.fault.code = SEINE_E_DEADLINE;
            sn_scheduler_end(s, v, now);
            push_list(&s->expired, v);
            v = NULL;
            continue;
        }
        if (v)
            return v;
    }
    return NULL;
}

seine_err
sn_scheduler_admit(sn_scheduler *s, sn_visit *v, const sn_ip *peer, seine_time now)
{
    sn_commons *c = s->commons;
    sn_guards *g = sn_hosts_guards(&s->hosts, v->host);
    seine_time when;

    g->ip = *peer;
    if (!c->has_ipcap || sn_hosts_is_mine(&s->hosts, &s->hosts.all[v->host]))
        return SEINE_OK;
    seine_err e = sn_ipcap_start(&c->ipcap, peer, now, &v->ip_slot, &when);
    if (e != SEINE_OK) {
        v->ip_slot = UINT32_MAX;
        sn_host *h = &s->hosts.all[v->host];
        h->next = sn_time_max(h->next, when);
    }
    return e;
}

/* What a parked host has at the source is to be ended. */
static void
tell_parked(sn_scheduler *s, uint32_t host)
{
    sn_host *h = &s->hosts.all[host];

    if (h->n_source == 0 || h->is_told)
        return;
    h->is_told = true;
    h->parked_next = s->parked_hosts;
    s->parked_hosts = host;
}

void
sn_scheduler_sent(sn_scheduler *s, sn_visit *v, seine_time now)
{
    uint32_t host = v->host;
    sn_host *h = &s->hosts.all[host];
    sn_guards *g = sn_hosts_guards(&s->hosts, host);
    sn_figures *f = sn_hosts_figures(&s->hosts, host);

    if (!v->is_leaving)
        return;
    v->is_leaving = g->is_leaving = false;
    if (f)
        sn_figures_sent(f, now);
    g->pace.last = sn_time_max(g->pace.last, now);
    h->next = sn_time_max(h->next, sn_time_add(now, g->gap));
    if (h->place == SN_BUSY)
        settle_in(s, host, now);
}

/* The host is given up in this run: what waits at it is handed out to be ended. */
static void
park(sn_scheduler *s, uint32_t host, seine_err why, seine_time until)
{
    sn_host *h = &s->hosts.all[host];
    sn_visit *v;

    if (h->place == SN_PARKED)
        return;
    s->waiting[h->why] -= h->n_waiting;
    while ((v = sn_host_pop(h)))
        push_list(&s->parked, v);
    h->place = SN_PARKED; /* a lane or the wheel that still has it passes it over */
    h->parked_by = (uint16_t)why;
    tell_parked(s, host);
    s->n_parked++;
    s->parked_until = sn_time_min(s->parked_until, until);
    tell(s, &(seine_event){"host.parked", name_of(h), why, until, 0, 0, {0}});
}

/* What the breaker did when the attempt was settled. */
static void
watch_breaker(sn_scheduler *s, uint32_t host, sn_guards *g, seine_breaker_state was)
{
    const seine_fetch_opts *o = &s->commons->opts;
    sn_host *h = &s->hosts.all[host];
    seine_breaker_stats b;

    if (!g->set.breaker || seine_breaker_get(&g->breaker) == was)
        return;
    seine_breaker_stats_get(&g->breaker, &b);
    if (b.state == SEINE_BREAKER_OPEN) {
        sn_figures *f = sn_hosts_figures(&s->hosts, host);
        if (f)
            f->opens++;
        tell(s, &(seine_event){
                    "breaker.open", name_of(h), b.why, b.open_until, was, b.state, {0}});
        if (o->park > 0 && b.streak >= o->park)
            park(s, host, SEINE_E_BREAKER, b.open_until);
    } else if (b.state == SEINE_BREAKER_CLOSED) {
        tell(s,
             &(seine_event){
                 "breaker.closed", name_of(h), SEINE_OK, SEINE_NEVER, was, b.state, {0}});
        if (g->pace.ivl_us > 0)
            sn_pace_slow(&g->pace, 1000000);
    }
}

/* What the server said about its strength: how it answered, its quota, its wish. */
static void
learn(sn_scheduler *s, sn_visit *v, sn_guards *g, seine_time now)
{
    const seine_fault *fault = &v->end.fault;
    sn_host *h = &s->hosts.all[v->host];
    seine_clock *clock = s->commons->opts.clock;
    uint32_t from = g->pace.ivl_us;
    seine_quota quota;

    if (from > 0)
        (void)sn_pace_settle(&g->pace, sn_pace_judge(fault), v->ttfb, now);
    if (from > 0 && v->has_hint && seine_hint_quota(&v->hint, &quota) && quota.r >= 0 &&
        quota.t >= 0) {
        if (quota.r == 0)
            g->retry_after = 0;
        sn_pace_quota(&g->pace, (uint64_t)quota.r, quota.t, now);
    }
    if (sn_pace_is_news(from, g->pace.ivl_us))
        tell(s, &(seine_event){"rate.changed",
                               name_of(h),
                               SEINE_OK,
                               SEINE_NEVER,
                               from,
                               g->pace.ivl_us,
                               {0}});
    seine_span wish = seine_outcome_pause(fault);
    if (wish > s->commons->opts.max_retry_after) {
        park(s, v->host, SEINE_E_RETRY_AFTER_TOO_LONG, sn_time_add(now, wish));
    } else if (wish > 0) {
        g->retry_after = 1;
        seine_span more = (seine_span)(clock->dice(clock) % (uint64_t)(wish / 10 + 1));
        sn_pace_pause(&g->pace, sn_time_add(now, wish + more));
    }
    if (from > 0)
        h->next = sn_time_max(h->next, sn_pace_next(&g->pace, now, 0));
}

/* Was a connection made? Then the name is pinned to the zone of its peer. */
static bool
was_connected(const sn_end *end)
{
    return end->peer.v != 0 && (end->reused || end->fault.code == SEINE_OK ||
                                end->fault.phase > SEINE_PHASE_CONNECT);
}

void
sn_scheduler_end(sn_scheduler *s, sn_visit *v, seine_time now)
{
    uint32_t host = v->host;
    sn_host *h = &s->hosts.all[host];
    sn_guards *g = sn_hosts_guards(&s->hosts, host);
    seine_breaker_state was = seine_breaker_get(&g->breaker);

    if (seine_attempt_end(&v->attempt, &v->end.fault, now) != SEINE_OK)
        return;
    h->in_flight--;
    if (v->is_leaving)
        v->is_leaving = g->is_leaving = false;
    if (v->ip_slot != UINT32_MAX) {
        sn_ipcap_end(&s->commons->ipcap, v->ip_slot);
        v->ip_slot = UINT32_MAX;
    }
    if (was_connected(&v->end)) {
        g->ip = v->end.peer;
        h->pin = (uint8_t)sn_zone_pin((sn_zone)h->pin, v->end.zone);
    }
    learn(s, v, g, now);
    watch_breaker(s, host, g, was);
    sn_figures *f = sn_hosts_figures(&s->hosts, host);
    if (f && v->end.fault.sent)
        sn_figures_end(f, v->end.fault.code == SEINE_OK, now - v->attempt.start);
    if (h->place == SN_BUSY || h->place == SN_ASIDE)
        settle_in(s, host, now);
    else if (h->place == SN_IDLE)
        sn_hosts_fold(&s->hosts, host, now);
}

sn_visit *
sn_scheduler_parked(sn_scheduler *s, seine_err *out_why)
{
    sn_visit *v = pop_list(&s->parked);

    if (v) {
        s->n_waiting--;
        *out_why = (seine_err)s->hosts.all[v->host].parked_by;
    }
    return v;
}

bool
sn_scheduler_parked_host(sn_scheduler *s, uint32_t *out_host, seine_err *out_why)
{
    uint32_t host = s->parked_hosts;

    if (host == SN_NONE)
        return false;
    sn_host *h = &s->hosts.all[host];
    s->parked_hosts = h->parked_next;
    h->is_told = false;
    *out_host = host;
    *out_why = (seine_err)h->parked_by;
    return true;
}

sn_visit *
sn_scheduler_expired(sn_scheduler *s, seine_time now)
{
    (void)now;
    return pop_list(&s->expired);
}

sn_visit *
sn_scheduler_drain(sn_scheduler *s)
{
    sn_visit *v = pop_list(&s->parked);

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

seine_time
sn_scheduler_when(sn_scheduler *s, seine_time now)
{
    if (s->parked || s->expired || s->parked_hosts != SN_NONE)
        return now;
    seine_time at = sn_time_min(sn_heap_when(&s->again), sn_wheel_when(&s->wheel));
    bool ready = false;
    for (unsigned i = 0; i < SN_LANES; i++)
        ready = ready || s->lanes[i].first != SN_NONE;
    if (s->dry.first != SN_NONE) /* for want of memory, perhaps: nobody tells when it is
                                    back */
        at = sn_time_min(at, sn_time_add(now, SEINE_MS(100)));
    if (ready && s->rate_at > now)
        at = sn_time_min(at, s->rate_at);
    else if (ready && !s->starved &&
             atomic_load_explicit(&s->commons->stop, memory_order_relaxed) == SN_GOING)
        at = now;
    return at;
}

bool
sn_scheduler_is_starved(const sn_scheduler *s)
{
    return s->starved;
}

uint32_t
sn_scheduler_n_hosts(const sn_scheduler *s, uint32_t *out_parked, seine_time *out_until)
{
    *out_parked = s->n_parked;
    *out_until = s->parked_until;
    return s->hosts.n;
}

uint32_t
sn_scheduler_waiting(const sn_scheduler *s, uint32_t out_by[SEINE_WAIT_COUNT])
{
    for (unsigned i = 0; i < SEINE_WAIT_COUNT; i++)
        out_by[i] = s->waiting[i];
    return s->n_waiting;
}

sn_zone
sn_scheduler_pin(const sn_scheduler *s, const sn_visit *v)
{
    return (sn_zone)s->hosts.all[v->host].pin;
}

void
sn_scheduler_hosts(const sn_scheduler *s, seine_time now, sn_host_fn fn, void *arg)
{
    static const sn_figures none = {.min_gap = SEINE_NEVER};

    for (uint32_t i = 0; i < s->hosts.n; i++) {
        const sn_host *h = &s->hosts.all[i];
        const sn_guards *g = h->guards == SN_NONE ? NULL : sn_hosts_guards(&s->hosts, i);
        const sn_figures *f =
            h->figures == SN_NONE ? &none : sn_hosts_figures((sn_hosts *)&s->hosts, i);
        seine_fetch_host out = {.host = name_of(h),
                                .requests = f->requests,
                                .ok = f->ok,
                                .failed = f->failed,
                                .retries = f->retries,
                                .waiting = work_of(h) + h->n_again,
                                .in_flight = h->in_flight,
                                .max_in_1s = f->max_in_1s,
                                .min_gap = f->min_gap,
                                .p50 = sn_figures_quantile(f, 50),
                                .p95 = sn_figures_quantile(f, 95),
                                .breaker_opens = f->opens,
                                .parked = h->place == SN_PARKED,
                                .every = g ? sn_pace_every(&g->pace, now) : 0};
        if (g && g->set.breaker)
            out.breaker = seine_breaker_get(&g->breaker);
        for (unsigned w = 0; w < SEINE_WAIT_COUNT; w++)
            if (f->held[w] > f->held[out.limited_by])
                out.limited_by = (seine_wait)w;
        fn(&out, arg);
    }
}

/* How far apart its starts are, by all that is known of it now. */
static seine_span
every_of(const sn_scheduler *s, uint32_t host, seine_time now)
{
    const sn_host *h = &s->hosts.all[host];
    const seine_fetch_opts *o = &s->commons->opts;
    seine_span every = SEINE_MS((seine_span)h->delay_ms);

    if (o->host_rate.count > 0 && !o->mine)
        every = sn_time_max(every, o->host_rate.per / (seine_span)o->host_rate.count);
    if (h->guards != SN_NONE)
        every = sn_time_max(every,
                            sn_pace_every(&sn_hosts_guards(&s->hosts, host)->pace, now));
    return every;
}

bool
sn_scheduler_slowest(const sn_scheduler *s, seine_time now, uint32_t *at, uint32_t n,
                     seine_fetch_slowest *io_slowest)
{
    uint32_t end = n < s->hosts.n - *at ? *at + n : s->hosts.n;

    for (; *at < end; ++*at) {
        const sn_host *h = &s->hosts.all[*at];
        uint64_t waiting = (uint64_t)work_of(h) + h->n_again;

        if (waiting == 0 || h->place == SN_PARKED)
            continue;
        seine_span every = every_of(s, *at, now);
        seine_span left = sn_time_add(sn_time_mul(every, waiting - 1),
                                      h->next > now ? h->next - now : 0);
        if (left <= io_slowest->left)
            continue;
        seine_view name = name_of(h);
        *io_slowest =
            (seine_fetch_slowest){.waiting = waiting, .every = every, .left = left};
        snprintf(io_slowest->host, sizeof io_slowest->host, "%.*s",
                 (int)(name.len < sizeof io_slowest->host ? name.len
                                                          : sizeof io_slowest->host),
                 name.ptr);
    }
    return *at < s->hosts.n;
}

void
sn_scheduler_head(sn_scheduler *s, sn_visit *v, uint16_t status, seine_time now)
{
    seine_fault said = SEINE_FAULT;
    sn_guards *g = sn_hosts_guards(&s->hosts, v->host);

    said.status = status;
    said.retry_after = sn_visit_wish(v);
    seine_span wish = seine_outcome_pause(&said);
    if (wish <= 0)
        return;
    g->retry_after = 1;
    sn_pace_pause(&g->pace, sn_time_add(now, wish));
}

seine_err
sn_scheduler_cause(const sn_scheduler *s, const sn_visit *v)
{
    const sn_guards *g;
    seine_breaker_stats b;

    if (s->hosts.all[v->host].guards == SN_NONE)
        return SEINE_OK;
    g = sn_hosts_guards(&s->hosts, v->host);
    if (!g->set.breaker)
        return SEINE_OK;
    seine_breaker_stats_get(&g->breaker, &b);
    return b.why;
}

sn_str
sn_scheduler_name(const sn_scheduler *s, uint32_t host)
{
    return sn_str_of(s->hosts.all[host].name);
}
