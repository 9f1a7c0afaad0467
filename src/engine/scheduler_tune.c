/* SPDX-License-Identifier: Apache-2.0 */
/* Limits that change while hosts wait, and what a host waits for. */
#include <stdio.h>

#include "engine/scheduler_parts.h"

/* Is it a rate that holds the host, or the pace behind it? */
static bool
is_rate(seine_wait why)
{
    return why == SEINE_WAIT_HOST_RATE || why == SEINE_WAIT_CRAWL_DELAY ||
           why == SEINE_WAIT_PACE || why == SEINE_WAIT_QUEUE || why == SEINE_WAIT_ADDRESS;
}

static void
retune(sn_scheduler *s, uint32_t host, const sn_tune *tune, seine_time now)
{
    sn_host *h = &s->hosts.all[host];

    sn_hosts_retune(&s->hosts, host, now);
    if (!tune->has_host_rate && !tune->policies)
        return;
    if (h->guards != SN_NONE)
        sn_pace_tune(&sn_hosts_guards(&s->hosts, host)->pace,
                     sn_hosts_floor_us(&s->hosts, host));
    if (is_rate((seine_wait)h->why))
        h->next = sn_hosts_next_by_rate(&s->hosts, host, now);
}

/* Closes the breakers of the hosts of that name. A host that waits for its breaker may be
 * asked as soon as its rate allows. */
static void
reset_breakers(sn_scheduler *s, const char *name, seine_time now)
{
    for (uint32_t i = 0; i < s->hosts.n; i++) {
        sn_host *h = &s->hosts.all[i];

        if (h->guards == SN_NONE || !sn_tune_fits(name, sn_hosts_name(&s->hosts, i)))
            continue;
        sn_guards *g = sn_hosts_guards(&s->hosts, i);
        seine_breaker_state was =
            g->set.breaker ? seine_breaker_state_get(&g->breaker) : SEINE_BREAKER_CLOSED;
        if (was == SEINE_BREAKER_CLOSED)
            continue;
        seine_breaker_reset(&g->breaker);
        sn_scheduler_tell(s, i,
                          &(seine_event){.name = "breaker.closed",
                                         .cause = SEINE_OK,
                                         .until = SEINE_NEVER,
                                         .from = was,
                                         .to = SEINE_BREAKER_CLOSED});
        if (h->why == SEINE_WAIT_BREAKER)
            h->next = sn_hosts_next_by_rate(&s->hosts, i, now);
    }
}

/* Each host is looked at: the wheel is filled anew, since a host may have to leave it
 * earlier. */
seine_err
sn_scheduler_tune(sn_scheduler *s, const sn_tune *tune, seine_time now)
{
    seine_err e = tune->resets_breaker ? SEINE_OK : sn_hosts_tune(&s->hosts, tune);

    if (e != SEINE_OK)
        return e;
    if (tune->resets_breaker)
        reset_breakers(s, tune->host, now);
    s->rate_at = INT64_MIN;
    sn_timer_wheel_reset(&s->wheel, now);
    for (uint32_t i = 0; i < s->hosts.n; i++) {
        const sn_host *h = &s->hosts.all[i];

        if (!tune->resets_breaker &&
            (!tune->host[0] || sn_tune_fits(tune->host, sn_hosts_name(&s->hosts, i))))
            retune(s, i, tune, now);
        if (h->place == SN_HOST_ON_WHEEL ||
            (h->place == SN_HOST_BUSY && h->why == SEINE_WAIT_CONCURRENCY))
            sn_scheduler_settle(s, i, now);
    }
    return SEINE_OK;
}

/* The first moment at which one of its retries may go; 0: none waits. */
static seine_time
again_at(const sn_scheduler *s, uint32_t host)
{
    seine_time first = SEINE_NEVER;

    for (size_t i = 0; i < s->again.n; i++) {
        const sn_visit *v = (const sn_visit *)(uintptr_t)s->again.entries[i].item;

        if (v->host == host)
            first = sn_time_min(first, s->again.entries[i].at);
    }
    return first == SEINE_NEVER ? 0 : first;
}

/* What a breaker that is open knows. */
static void
describe_breaker(const sn_guards *g, seine_fetch_wait *out)
{
    seine_breaker_stats b;

    if (!g->set.breaker)
        return;
    seine_breaker_stats_get(&g->breaker, &b);
    out->breaker = b.state;
    if (b.state == SEINE_BREAKER_CLOSED)
        return;
    out->cause = b.why;
    out->failures = (uint32_t)(b.failed < UINT32_MAX ? b.failed : UINT32_MAX);
}

static bool
is_held(const sn_scheduler *s, const sn_host *h, seine_time now)
{
    if (sn_host_work(h) == 0)
        return false;
    return h->place == SN_HOST_ON_WHEEL || h->place == SN_HOST_BUSY ||
           h->place == SN_HOST_DRY || h->place == SN_HOST_PARKED ||
           (h->place == SN_HOST_READY && (s->starved || s->rate_at > now));
}

bool
sn_scheduler_wait_at(const sn_scheduler *s, uint32_t host, seine_time now,
                     seine_fetch_wait *out)
{
    if (host >= s->hosts.n)
        return false;
    const sn_host *h = &s->hosts.all[host];
    const sn_host_card *card = &s->hosts.cards[host];
    seine_view name = sn_scheduler_label(s, host);

    *out = (seine_fetch_wait){
        .waiting = (uint64_t)sn_host_work(h) + card->n_again,
        .in_flight = h->in_flight,
        .is_held = is_held(s, h, now),
        .why = (seine_wait)h->why,
        .is_parked = h->place == SN_HOST_PARKED,
        .cause = h->place == SN_HOST_PARKED ? (seine_err)card->parked_by : SEINE_OK,
        .every = sn_scheduler_every(s, host, now)};
    snprintf(out->host, sizeof out->host, "%.*s",
             (int)(name.len < sizeof out->host ? name.len : sizeof out->host), name.ptr);
    if (h->place == SN_HOST_ON_WHEEL)
        out->until = h->next;
    else if (h->place == SN_HOST_READY && s->rate_at > now)
        out->until = s->rate_at;
    else if (!out->is_held && card->n_again > 0 && sn_host_work(h) == 0) {
        out->is_held = true;
        out->why = SEINE_WAIT_BACKOFF;
        out->until = again_at(s, host);
    }
    if (out->until <= now)
        out->until = 0;
    if (h->guards != SN_NONE)
        describe_breaker(sn_hosts_guards(&s->hosts, host), out);
    if (h->stats != SN_NONE) {
        const sn_host_stats *f = sn_hosts_stats((sn_hosts *)&s->hosts, host);

        out->requests = f->requests;
        out->ok = f->ok;
        out->failed = f->failed;
    }
    out->delay = SEINE_MS(card->delay_ms);
    return true;
}

void
sn_scheduler_wait_p95(const sn_scheduler *s, uint32_t host, seine_fetch_wait *io_wait)
{
    if (s->hosts.all[host].stats != SN_NONE)
        io_wait->p95 =
            sn_host_stats_quantile(sn_hosts_stats((sn_hosts *)&s->hosts, host), 95);
}

/* Guards are folded away where the bucket is full, but for a debt that `next` keeps. */
void
sn_scheduler_tokens(const sn_scheduler *s, uint32_t host, seine_time now,
                    uint32_t *out_tokens, uint32_t *out_burst)
{
    const sn_host *h = &s->hosts.all[host];
    seine_span every = sn_hosts_every(&s->hosts, host);

    *out_tokens = *out_burst = 0;
    if (h->guards != SN_NONE) {
        const seine_limiter *l = &sn_hosts_guards(&s->hosts, host)->limiter;

        if (l->every == 0)
            return;
        *out_burst = (uint32_t)(l->depth / l->every);
        *out_tokens = seine_limiter_left(l, now);
    } else if (every > 0) {
        bool is_single = h->is_delayed || sn_hosts_is_mine(&s->hosts, h);

        *out_burst = is_single ? 1 : sn_hosts_rate_in_force(&s->hosts, host).burst;
        *out_burst = *out_burst > 0 ? *out_burst : 1;
        *out_tokens = h->next > now ? 0 : *out_burst;
    }
}

bool
sn_scheduler_find(const sn_scheduler *s, sn_str name, uint32_t *out_host)
{
    return sn_hosts_known(&s->hosts, name, out_host);
}
