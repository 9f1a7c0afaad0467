/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "engine/scheduler_parts.h"

/* "e.example", or "e.example:8080" where the port is not the scheme's own. */
seine_view
sn_scheduler_label(const sn_scheduler *s, uint32_t host)
{
    sn_str name = sn_hosts_name(&s->hosts, host);
    bool tls = sn_str_starts(name, SN_STR("https:"));
    sn_str own = tls ? SN_STR(":443") : SN_STR(":80");

    name = sn_str_slice(name, tls ? 8 : 7, name.len);
    if (sn_str_ends(name, own))
        name.len -= own.len;
    return name;
}

void
sn_scheduler_tell(sn_scheduler *s, uint32_t host, const seine_event *e)
{
    seine_event *to = &s->events[(s->event_at + s->n_events) % SN_SCHEDULER_EVENTS];

    *to = *e;
    to->host = sn_scheduler_label(s, host);
    if (s->n_events < SN_SCHEDULER_EVENTS)
        s->n_events++;
    else
        s->event_at = (s->event_at + 1) % SN_SCHEDULER_EVENTS; /* the oldest is lost */
}

bool
sn_scheduler_event(sn_scheduler *s, seine_event *out_event)
{
    if (s->n_events == 0)
        return false;
    *out_event = s->events[s->event_at];
    s->event_at = (s->event_at + 1) % SN_SCHEDULER_EVENTS;
    s->n_events--;
    return true;
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

uint64_t
sn_scheduler_rejected(const sn_scheduler *s)
{
    return s->rejected;
}

uint32_t
sn_scheduler_waiting(const sn_scheduler *s, uint32_t out_by[SEINE_WAIT_ROOM])
{
    for (unsigned i = 0; i < SEINE_WAIT_ROOM; i++)
        out_by[i] = s->waiting[i];
    return s->n_waiting;
}

uint32_t
sn_scheduler_offered(const sn_scheduler *s)
{
    return s->n_offered;
}

sn_hosts *
sn_scheduler_host_table(sn_scheduler *s)
{
    return &s->hosts;
}

sn_address_zone
sn_scheduler_pin(const sn_scheduler *s, const sn_visit *v)
{
    return (sn_address_zone)s->hosts.all[v->host].pin;
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

static void
describe_host(const sn_scheduler *s, uint32_t host, seine_time now, seine_fetch_host *out)
{
    static const sn_host_stats none = {.min_gap = SEINE_NEVER};
    const sn_host *h = &s->hosts.all[host];
    const sn_guards *g = h->guards == SN_NONE ? NULL : sn_hosts_guards(&s->hosts, host);
    const sn_host_stats *f =
        h->stats == SN_NONE ? &none : sn_hosts_stats((sn_hosts *)&s->hosts, host);

    *out = (seine_fetch_host){.host = sn_scheduler_label(s, host),
                              .requests = f->requests,
                              .ok = f->ok,
                              .failed = f->failed,
                              .retries = f->retries,
                              .waiting = sn_host_work(h) + s->hosts.cards[host].n_again,
                              .in_flight = h->in_flight,
                              .max_in_1s = f->second.most,
                              .min_gap = f->min_gap,
                              .p50 = sn_host_stats_quantile(f, 50),
                              .p95 = sn_host_stats_quantile(f, 95),
                              .breaker_opens = f->opens,
                              .parked = h->place == SN_HOST_PARKED,
                              .every = g ? sn_pace_every(&g->pace, now) : 0};
    if (g && g->set.breaker)
        out->breaker = seine_breaker_state_get(&g->breaker);
    for (unsigned w = 0; w < SEINE_WAIT_ROOM; w++)
        if (f->held[w] > f->held[out->limited_by])
            out->limited_by = (seine_wait)w;
}

void
sn_scheduler_hosts(const sn_scheduler *s, seine_time now, sn_host_fn fn, void *arg)
{
    for (uint32_t i = 0; i < s->hosts.n; i++) {
        seine_fetch_host out;

        describe_host(s, i, now, &out);
        fn(&out, arg);
    }
}

/* How far apart its starts are, by all that is known of it now. */
seine_span
sn_scheduler_every(const sn_scheduler *s, uint32_t host, seine_time now)
{
    seine_span every = sn_hosts_every(&s->hosts, host);

    if (s->hosts.all[host].guards == SN_NONE)
        return every;
    return sn_time_max(every,
                       sn_pace_every(&sn_hosts_guards(&s->hosts, host)->pace, now));
}

bool
sn_scheduler_slowest(const sn_scheduler *s, seine_time now, uint32_t *at, uint32_t n,
                     seine_fetch_slowest *io_slowest)
{
    uint32_t end = n < s->hosts.n - *at ? *at + n : s->hosts.n;

    for (; *at < end; ++*at) {
        const sn_host *h = &s->hosts.all[*at];
        uint64_t waiting = (uint64_t)sn_host_work(h) + s->hosts.cards[*at].n_again;

        if (waiting == 0 || h->place == SN_HOST_PARKED)
            continue;
        seine_span every = sn_scheduler_every(s, *at, now);
        seine_span left = sn_time_add(sn_time_mul(every, waiting - 1),
                                      h->next > now ? h->next - now : 0);
        if (left <= io_slowest->left)
            continue;
        seine_view name = sn_scheduler_label(s, *at);
        *io_slowest =
            (seine_fetch_slowest){.waiting = waiting, .every = every, .left = left};
        snprintf(io_slowest->host, sizeof io_slowest->host, "%.*s",
                 (int)(name.len < sizeof io_slowest->host ? name.len
                                                          : sizeof io_slowest->host),
                 name.ptr);
    }
    return *at < s->hosts.n;
}
