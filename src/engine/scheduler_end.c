/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/scheduler_parts.h"
#include "guard/breaker.h"
#include "seine/outcome.h"

enum {
    SILENT_PROBES = 1,
    CRAWL_PROBES = 3,
    WELL_PROBES = 5,    /* of a host that has answered well */
    ALIVE_FAILURES = 10 /* in all, of one that has responded, but never well */
};

/* The group of the network that the address is in, if there is one. */
static seine_err
join_net(sn_scheduler *s, sn_visit *v, const sn_ip *peer, seine_time now,
         seine_time *out_when)
{
    const sn_group_rule *rule =
        s->hosts.said ? sn_host_policies_net(s->hosts.said, peer) : NULL;
    seine_time mark;

    if (!rule || v->net_group)
        return SEINE_OK;
    for (uint32_t i = 0; v->policy && i < v->policy->n_groups; i++)
        if (v->policy->groups[i] == rule) /* by its name already */
            return SEINE_OK;
    seine_err e = sn_group_rule_take(rule, now, &mark, out_when);
    if (e == SEINE_OK)
        v->net_group = rule;
    return e;
}

/* Its request is over: the groups have one less in flight. */
static void
leave_groups(sn_visit *v)
{
    for (uint32_t i = 0; v->policy && i < v->policy->n_groups; i++)
        sn_group_rule_end(v->policy->groups[i]);
    if (v->net_group)
        sn_group_rule_end(v->net_group);
    v->net_group = NULL;
}

seine_err
sn_scheduler_admit(sn_scheduler *s, sn_visit *v, const sn_ip *peer, seine_time now)
{
    sn_shared_state *c = s->shared;
    sn_guards *g = sn_hosts_guards(&s->hosts, v->host);
    seine_time when;

    g->ip = *peer;
    seine_err e = join_net(s, v, peer, now, &when);
    if (e == SEINE_OK && c->has_address_limits && !sn_scheduler_is_free(s, v->host)) {
        e = sn_address_limits_start(&c->address_limits, peer, now, &v->ip_slot, &when);
        if (e != SEINE_OK)
            v->ip_slot = UINT32_MAX;
    }
    if (e != SEINE_OK) {
        sn_host *h = &s->hosts.all[v->host];
        h->next = sn_time_max(h->next, when);
    }
    return e;
}

seine_err
sn_scheduler_may_send(const sn_scheduler *s, const sn_visit *v, seine_time now)
{
    const sn_guards *g = sn_hosts_guards(&s->hosts, v->host);
    bool is_open = g->set.breaker &&
                   (sn_breaker_state(&g->breaker) == SEINE_BREAKER_OPEN ||
                    sn_wave_is_pending(&g->wave, sn_hosts_failures(&s->hosts, v->host)));

    if (s->hosts.all[v->host].place == SN_HOST_PARKED || g->pace.pause > now || is_open)
        return SEINE_E_LIMITED;
    return SEINE_OK;
}

void
sn_scheduler_sent(sn_scheduler *s, sn_visit *v, seine_time now)
{
    uint32_t host = v->host;
    sn_host_stats *f = sn_hosts_stats(&s->hosts, host);

    if (f)
        sn_host_stats_sent(f, now);
    if (!v->is_leaving)
        return;
    sn_host *h = &s->hosts.all[host];
    sn_guards *g = sn_hosts_guards(&s->hosts, host);
    v->is_leaving = g->is_leaving = false;
    if (now > v->attempt.start) {
        g->pace.last = sn_time_max(g->pace.last, now);
        h->next = sn_time_max(h->next, sn_time_add(now, SEINE_US((seine_span)g->gap_us)));
        if (h->has_twin)
            sn_hosts_tell_twin(&s->hosts, host, true, now);
    }
    if (h->place == SN_HOST_BUSY)
        sn_scheduler_settle(s, host, now);
    sn_scheduler_wake_twin(s, host, now);
}

/* The host has asked to wait; nothing held it before. */
static void
begin_pause(sn_guards *g)
{
    g->was_vain = g->is_vain;
    g->is_vain = true;
}

void
sn_scheduler_head(sn_scheduler *s, sn_visit *v, uint16_t status, seine_time now)
{
    seine_fault said = SEINE_FAULT;
    sn_guards *g = sn_hosts_guards(&s->hosts, v->host);
    bool is_held = g->pace.pause > now;

    said.status = status;
    said.retry_after = sn_visit_wish(v);
    seine_span wish = seine_outcome_pause(&said);
    /* A host that says so to everything is not excused for ever. */
    v->is_excused = is_held && !g->was_vain && (status == 429 || wish > 0);
    if (wish <= 0)
        return;
    if (!is_held)
        begin_pause(g);
    g->retry_after = 1;
    sn_pace_pause(&g->pace, sn_time_add(now, wish));
    if (s->lane)
        sn_scheduler_save(s, v->host, true, now);
}

/* What a parked host has at the frontier is to be ended. */
void
sn_scheduler_tell_parked(sn_scheduler *s, uint32_t host)
{
    sn_host *h = &s->hosts.all[host];

    if (h->n_offered == 0 || h->is_told)
        return;
    h->is_told = true;
    s->hosts.cards[host].parked_next = s->parked_hosts;
    s->parked_hosts = host;
}

/* The host is given up in this run: what waits at it is handed out to be ended. */
void
sn_scheduler_park(sn_scheduler *s, uint32_t host, seine_err why, seine_time until)
{
    sn_host *h = &s->hosts.all[host];
    sn_visit *v;

    if (h->place == SN_HOST_PARKED)
        return;
    s->waiting[h->why] -= h->n_waiting;
    while ((v = sn_host_pop(h)))
        sn_visit_push(&s->parked, v);
    s->waiting[SEINE_WAIT_RETRY_BUDGET] -= h->n_unpaid;
    while (h->n_unpaid > 0)
        sn_visit_push(&s->parked,
                      sn_host_pop_unpaid(h, sn_hosts_guards(&s->hosts, host)));
    h->place = SN_HOST_PARKED; /* a lane or the wheel that still has it passes it over */
    s->hosts.cards[host].parked_by = (uint16_t)why;
    sn_scheduler_tell_parked(s, host);
    s->n_parked++;
    s->parked_until = sn_time_min(s->parked_until, until);
    sn_scheduler_tell(
        s, host,
        &(seine_event){
            .name = "host.parked", .cause = why, .until = until, .from = 0, .to = 0});
}

/* Are these failed probes enough? A host that has responded may be about to recover, and
 * a crawl has little else to do. */
static bool
is_given_up(const sn_hosts *hs, uint32_t host, const sn_guards *g,
            const seine_breaker_stats *b)
{
    const seine_fetch_opts *o = &hs->shared->opts;
    const sn_host_policy *p = sn_hosts_policy(hs, host);
    uint32_t park = p ? p->park : o->park;

    if (park != SEINE_PARK_AUTO)
        return park > 0 && b->streak >= park;
    if (g->wave.has_answered)
        return b->streak >= WELL_PROBES;
    if (g->is_alive)
        return b->streak > 0 && b->failed >= ALIVE_FAILURES;
    return b->streak >= (o->crawl ? CRAWL_PROBES : SILENT_PROBES);
}

/* A host that has come back is asked once a second at first, the next time included. */
static void
begin_slowly(sn_host *h, sn_guards *g, seine_time now)
{
    if (g->pace.ivl_us == 0)
        return;
    sn_pace_slow(&g->pace, 1000000);
    h->next = sn_time_max(h->next, sn_pace_next(&g->pace, now, 0));
}

/* What the breaker did when the attempt was settled. */
static void
watch_breaker(sn_scheduler *s, uint32_t host, sn_guards *g, seine_breaker_state was,
              seine_time now)
{
    seine_breaker_stats b;

    sn_wave_clear(&g->wave);
    seine_breaker_stats_get(&g->breaker, &b);
    if (b.state == SEINE_BREAKER_OPEN) {
        sn_host_stats *f = sn_hosts_stats(&s->hosts, host);
        if (f)
            f->opens++;
        sn_scheduler_tell(s, host,
                          &(seine_event){.name = "breaker.open",
                                         .cause = b.why,
                                         .until = b.open_until,
                                         .from = was,
                                         .to = b.state});
        if (is_given_up(&s->hosts, host, g, &b))
            sn_scheduler_park(s, host, SEINE_E_BREAKER, b.open_until);
    } else if (b.state == SEINE_BREAKER_CLOSED) {
        sn_scheduler_tell(s, host,
                          &(seine_event){.name = "breaker.closed",
                                         .cause = SEINE_OK,
                                         .until = SEINE_NEVER,
                                         .from = was,
                                         .to = b.state});
        begin_slowly(&s->hosts.all[host], g, now);
    }
}

/* A lone URL has a backoff of its own: there is nobody else to hold back. It is alone
 * when its host has no other, and the row is made of its own attempts. */
static bool
is_alone(const sn_scheduler *s, const sn_visit *v, const sn_guards *g)
{
    const sn_host *h = &s->hosts.all[v->host];

    return h->in_flight == 0 && sn_host_work(h) == 0 &&
           s->hosts.cards[v->host].n_again == 0 && g->wave.row <= v->retry.attempts;
}

/* A row of failures opens the breaker when its wave has ended. */
static void
judge_wave(const sn_scheduler *s, const sn_visit *v, const seine_fault *fault,
           sn_guards *g, seine_time now)
{
    const sn_host *h = &s->hosts.all[v->host];
    uint32_t threshold = sn_hosts_failures(&s->hosts, v->host);

    sn_wave_end(&g->wave, v->ticket, seine_outcome_breaker(fault), h->in_flight,
                threshold);
    if (!sn_wave_is_over(&g->wave, threshold) || is_alone(s, v, g))
        return;
    seine_breaker_force(&g->breaker, SEINE_BREAKER_OPEN, now);
    seine_span wish = seine_outcome_pause(fault);
    if (fault->status == 503 && wish >= 0)
        seine_breaker_hold(&g->breaker, sn_time_add(now, wish), now);
}

/* The server wants to be left alone for a while. */
static void
obey_pause(sn_scheduler *s, uint32_t host, sn_guards *g, seine_span wish, seine_time now)
{
    if (wish > sn_hosts_max_retry_after(&s->hosts, host)) {
        sn_scheduler_park(s, host, SEINE_E_RETRY_AFTER_TOO_LONG, sn_time_add(now, wish));
    } else if (wish > 0) {
        g->retry_after = 1;
        uint64_t more = sn_rng_next(&s->rng) % (uint64_t)(wish / 10 + 1);
        sn_pace_pause(&g->pace, sn_time_add(now, wish + (seine_span)more));
    }
}

/* A quota it states, of requests that are left. */
static void
share_quota(sn_visit *v, sn_guards *g, seine_time now)
{
    seine_quota quota;

    if (!seine_retry_hint_quota(v->hint, &quota) || quota.r < 0 || quota.t < 0)
        return;
    if (quota.r == 0)
        g->retry_after = 0;
    sn_pace_quota(&g->pace, (uint64_t)quota.r, quota.t, now);
}

/* A whole answer with nothing special about it. */
static bool
is_fine(const seine_fault *f)
{
    return f->code == SEINE_OK && f->status >= 200 && f->status < 300;
}

/* What the server said about its strength: how it answered, its quota, its wish. */
static void
learn_pace(sn_scheduler *s, sn_visit *v, const seine_fault *fault, sn_guards *g,
           seine_time now)
{
    bool fine = is_fine(fault);
    uint32_t from = g->pace.ivl_us;
    bool was_held = g->pace.pause > now;

    if (from > 0)
        (void)sn_pace_settle(&g->pace, fine ? SN_PACE_OK : sn_pace_judge(fault), v->ttfb,
                             now);
    if (from > 0 && v->has_hint)
        share_quota(v, g, now);
    if (g->pace.ivl_us != from && sn_pace_is_news(from, g->pace.ivl_us))
        sn_scheduler_tell(s, v->host,
                          &(seine_event){.name = "rate.changed",
                                         .cause = SEINE_OK,
                                         .until = SEINE_NEVER,
                                         .from = from,
                                         .to = g->pace.ivl_us});
    if (!fine)
        obey_pause(s, v->host, g, seine_outcome_pause(fault), now);
    g->is_vain = g->is_vain && !fine;
    if (!was_held && g->pace.pause > now)
        begin_pause(g);
    if (from > 0) {
        sn_host *h = &s->hosts.all[v->host];
        h->next = sn_time_max(h->next, sn_pace_next(&g->pace, now, 0));
    }
}

/* Was a connection made? Then the name is pinned to the zone of its peer. */
static bool
was_connected(const sn_end *end)
{
    return end->peer.v != 0 && (end->reused || end->fault.code == SEINE_OK ||
                                end->fault.phase > SEINE_PHASE_CONNECT);
}

/* A request that never left says nothing about how long the host takes. */
static void
count_end(sn_scheduler *s, const sn_visit *v, seine_time now)
{
    sn_host_stats *f = sn_hosts_stats(&s->hosts, v->host);

    if (!f)
        return;
    f->requests++;
    if (v->end.fault.sent)
        sn_host_stats_end(f, v->end.fault.code == SEINE_OK, now - v->attempt.start);
    else
        f->failed++;
}

void
sn_scheduler_count_retry(sn_scheduler *s, const sn_visit *v)
{
    sn_host_stats *f = sn_hosts_stats(&s->hosts, v->host);

    if (f)
        f->retries++;
}

void
sn_scheduler_end(sn_scheduler *s, sn_visit *v, seine_time now)
{
    uint32_t host = v->host;
    sn_host *h = &s->hosts.all[host];
    sn_guards *g = sn_hosts_guards(&s->hosts, host);
    seine_breaker_state was = sn_breaker_state(&g->breaker);
    uint32_t from = g->pace.ivl_us;

    seine_fault fault;

    sn_fault_open(&v->end.fault, &fault);
    if (seine_attempt_end(&v->attempt, &fault, now) != SEINE_OK)
        return;
    h->in_flight--;
    leave_groups(v);
    if (v->is_leaving) {
        v->is_leaving = g->is_leaving = false;
        sn_scheduler_wake_twin(s, host, now);
    }
    if (v->ip_slot != UINT32_MAX) {
        sn_address_limits_end(&s->shared->address_limits, v->ip_slot);
        v->ip_slot = UINT32_MAX;
    }
    g->is_alive |= v->end.fault.status > 0;
    if (was_connected(&v->end)) {
        g->ip = v->end.peer;
        h->pin = (uint8_t)sn_address_zone_pin((sn_address_zone)h->pin, v->end.zone);
    }
    learn_pace(s, v, &fault, g, now);
    if (g->set.breaker && was == SEINE_BREAKER_CLOSED &&
        sn_breaker_state(&g->breaker) == SEINE_BREAKER_CLOSED)
        judge_wave(s, v, &fault, g, now);
    if (g->set.breaker && sn_breaker_state(&g->breaker) != was)
        watch_breaker(s, host, g, was, now);
    if (v->is_asked)
        count_end(s, v, now);
    if (s->lane)
        sn_scheduler_save(s, host,
                          (v->is_typed && s->shared->opts.crawl) || g->pace.pause > now ||
                              g->pace.ivl_us > from ||
                              (g->set.breaker && sn_breaker_state(&g->breaker) != was),
                          now);
    if (h->place == SN_HOST_BUSY || h->place == SN_HOST_ASIDE)
        sn_scheduler_settle(s, host, now);
    else if (h->place == SN_HOST_IDLE)
        sn_hosts_fold(&s->hosts, host, now);
}
