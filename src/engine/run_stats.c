/* SPDX-License-Identifier: Apache-2.0 */
/* What a shard counts, and how others see it: metrics, events, and a snapshot that any
 * thread may read. */
#include <stddef.h>
#include <string.h>

#include "base/log.h"
#include "base/time.h"
#include "engine/key_pace.h"
#include "engine/run_parts.h"
#include "engine/trace.h"

void
sn_run_count_attempt(sn_run *r, const sn_visit *v)
{
    seine_fetch_stats *s = &r->stats;
    const sn_end *end = &v->end;

    r->freed_slots = true;
    s->requests += v->is_asked;
    s->bytes_in += end->wire_bytes;
    s->bytes_body += end->body_bytes;
    if (r->shared->opts.max_bytes > 0)
        atomic_fetch_add(&r->shared->bytes_body, end->body_bytes);
    if (end->reused)
        s->reused++;
    else if ((end->peer.v != 0 || end->via != SN_PROXY_NONE) &&
             (end->fault.status > 0 || end->fault.sent))
        s->connections++;
    if (!v->is_asked)
        return;
    sn_fetch_metrics_attempt(r->metrics, v);
    if (!r->env->transport->ops->counts)
        sn_fetch_metrics_lookup(r->metrics, end);
    sn_feed_request(&r->feed, end);
    sn_shard_watch *w = sn_shard_watch_of(&r->watch);
    if (w)
        sn_shard_watch_request(w, end);
}

void
sn_run_count_retry(sn_run *r, const sn_visit *v, seine_err why)
{
    r->stats.retries++;
    sn_feed_retry(&r->feed);
    sn_fetch_metrics_retry(r->metrics, why);
    sn_scheduler_count_retry(r->scheduler, v);
}

void
sn_run_plan_retry(sn_run *r, const sn_visit *v, seine_wait why, seine_time at)
{
    sn_str host = seine_url_host_port(&v->url);

    sn_fetch_metrics_backoff(r->metrics, at - r->now);
    if (sn_trace_is_on(r->shared))
        sn_trace_retry(r->shared, v, why, at - r->now);
    SN_LOG(r->shared->opts.log, DEBUG, "retry", SN_S("host", host),
           SN_E("err", v->end.fault.code), SN_U("resend", v->retry.attempts),
           SN_S("wait", seine_wait_name(why)), SN_T("delay", at - r->now));
}

void
sn_run_count_record(sn_run *r)
{
    const seine_record *record = &r->emit.record;
    seine_fetch_stats *s = &r->stats;

    sn_shard_watch *w = sn_shard_watch_of(&r->watch);

    sn_feed_record(&r->feed, record);
    if (w)
        sn_shard_watch_record(w, record);
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

void
sn_run_log_record(const sn_run *r, const sn_visit *v)
{
    const seine_record *record = &r->emit.record;
    sn_str url = record->url;

    SN_LOG(r->shared->opts.log, DEBUG, "fetch", SN_URL("url", url),
           SN_U("status", record->status), SN_E("err", v->fault.code),
           SN_U("resend", v->retry.attempts > 0 ? v->retry.attempts - 1 : 0),
           SN_T("duration", record->total));
}

/* Events. */

void
sn_run_tell_event(sn_run *r, const seine_event *e)
{
    const seine_fetch_opts *o = &r->shared->opts;

    if (o->on_event)
        o->on_event(e, r->index, o->arg);
}

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
count_breaker(sn_run *r, const seine_event *e)
{
    if (strncmp(e->name, "breaker.", 8) != 0)
        return;
    if (e->from > 0 && e->from < 3 && r->breakers[e->from] > 0)
        r->breakers[e->from]--;
    if (e->to > 0 && e->to < 3)
        r->breakers[e->to]++;
}

void
sn_run_tell_events(sn_run *r)
{
    seine_event e;
    sn_shard_watch *w = sn_shard_watch_of(&r->watch);

    while (sn_scheduler_event(r->scheduler, &e)) {
        r->stats.breaker_opens += strcmp(e.name, "breaker.open") == 0;
        count_breaker(r, &e);
        if (w)
            sn_shard_watch_event(w, &e, r->wall);
        sn_fetch_metrics_breaker(r->metrics, &e);
        log_event(r, &e);
        sn_run_tell_event(r, &e);
    }
}

/* Statistics. */

static void
publish_feed(sn_run *r)
{
    const sn_transport *t = r->env->transport;
    sn_feed_gauges g = {.in_flight = r->stats.in_flight,
                        .slots = seine_throttle_limit(&r->shared->in_flight),
                        .hold = sn_run_hold_reason(r)};

    if (t->ops->cpu && sn_feed_wants_cpu(&r->feed, r->now))
        g.cpu = t->ops->cpu(r->env->transport);
    for (int i = 0; i < SEINE_WAIT_ROOM; i++)
        g.waiting[i] = r->stats.waiting_for[i];
    if (sn_feed_turn(&r->feed, r->now, &g))
        sn_run_keep_feed(r, false);
}

static seine_span
cpu_of(void *arg)
{
    sn_transport *t = arg;

    return t->ops->cpu(t);
}

static void
show_watch(sn_run *r, sn_shard_watch *w)
{
    const sn_memory_brake *b = r->shared->brake;
    sn_transport *t = r->env->transport;
    sn_shard_watch_facts facts = {
        .stats = &r->stats,
        .slots = seine_throttle_limit(&r->shared->in_flight),
        .memory_used = b ? atomic_load_explicit(&b->charged, memory_order_relaxed) : 0,
        .memory_cap = b && b->budget ? b->limit : 0,
        .breakers_open = r->breakers[SEINE_BREAKER_OPEN],
        .breakers_probed = r->breakers[SEINE_BREAKER_HALF_OPEN],
        .hold = sn_run_hold_reason(r),
        .cpu = t->ops->cpu ? cpu_of : NULL,
        .arg = t};

    sn_shard_watch_turn(w, r->now, &facts);
}

#define LAG_EVERY SEINE_MS(100)

void
sn_run_note_lag(sn_run *r)
{
    if (!r->metrics || r->now < r->lag_at)
        return;
    if (r->lag_at > 0)
        sn_fetch_metrics_lag(r->metrics, r->now - r->lag_at);
    r->lag_at = sn_time_add(r->now, LAG_EVERY);
}

static void
tell_metrics(sn_run *r)
{
    const sn_transport *t = r->env->transport;
    const sn_memory_brake *b = r->shared->brake;
    sn_fetch_counts now = {.stats = r->stats,
                           .has_wire = t->ops->counts != NULL,
                           .rejected = sn_scheduler_rejected(r->scheduler)};

    if (t->ops->counts)
        t->ops->counts(t, &now.wire);
    if (r->frontier) {
        now.found = sn_frontier_admitted(r->frontier);
        now.allowed = sn_frontier_allowed(r->frontier);
    }
    if (r->frontier && r->index == 0) /* one number for all shards */
        now.duplicates =
            atomic_load_explicit(&r->shared->duplicates, memory_order_relaxed);
    if (r->index == 0) {
        now.ips =
            atomic_load_explicit(&r->shared->address_limits.n_used, memory_order_relaxed);
        now.sources = r->stats.done == r->before.stats.done
                          ? r->before.sources
                          : sn_key_pace_keys(r->shared->pace);
    }
    sn_fetch_metrics_turn(r->metrics, &r->before, &now);
    if (b && r->index == 0)
        sn_fetch_metrics_memory(r->metrics,
                                atomic_load_explicit(&b->charged, memory_order_relaxed),
                                b->budget ? b->limit : 0);
    r->before = now;
}

void
sn_run_publish(sn_run *r)
{
    uint32_t by[SEINE_WAIT_ROOM], parked;
    uint64_t numbers[SN_RUN_STATS];
    seine_fetch_stats *s = &r->stats;

    s->waiting = sn_scheduler_waiting(r->scheduler, by);
    for (int i = 0; i < SEINE_WAIT_ROOM; i++)
        s->waiting_for[i] = by[i];
    if (r->frontier) {
        uint64_t admitted = sn_frontier_admitted(r->frontier);

        sn_fetch_metrics_given(r->metrics, admitted - r->links_told, 0);
        r->links_told = admitted;
        /* What the scheduler knows of is among those of its hosts already. */
        uint64_t waiting = sn_frontier_waiting(r->frontier),
                 offered = sn_scheduler_offered(r->scheduler);
        uint64_t unknown = waiting > offered ? waiting - offered : 0;
        s->waiting += unknown;
        s->waiting_for[SEINE_WAIT_QUEUE] += unknown;
    }
    s->in_flight = r->requests.n;
    s->hosts = sn_scheduler_n_hosts(r->scheduler, &parked, &s->parked_until);
    s->parked = parked;
    if (r->metrics)
        tell_metrics(r);
    sn_run_keep_counts(r, false);
    if (sn_feed_is_on(&r->feed))
        publish_feed(r);
    sn_shard_watch *w = sn_shard_watch_of(&r->watch);
    if (w)
        show_watch(r, w);
    memcpy(numbers, s, sizeof numbers);
    for (size_t i = 0; i < SN_RUN_STATS; i++)
        atomic_store_explicit(&r->shown[i], numbers[i], memory_order_relaxed);
}

void
sn_run_stats(const sn_run *r, seine_fetch_stats *out_stats)
{
    static const size_t at = offsetof(seine_fetch_stats, parked_until) / sizeof(uint64_t);
    uint64_t sum[SN_RUN_STATS];
    seine_time until = out_stats->parked_until;

    memcpy(sum, out_stats, sizeof sum);
    for (size_t i = 0; i < SN_RUN_STATS; i++)
        sum[i] += atomic_load_explicit(&r->shown[i], memory_order_relaxed);
    memcpy(out_stats, sum, sizeof sum);
    /* The earliest, not a sum; 0 is what a blank snapshot has. */
    seine_time own = (seine_time)(sum[at] - (uint64_t)until);
    out_stats->parked_until = until == 0 || (own != 0 && own < until) ? own : until;
}

struct sn_host_waits *
sn_run_waits(sn_run *r)
{
    return &r->waits;
}

sn_shard_watch_place *
sn_run_watch(sn_run *r)
{
    return &r->watch;
}

seine_err
sn_run_timeline(const sn_run *r, seine_timeline *into)
{
    return sn_feed_copy(&r->feed, into);
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
