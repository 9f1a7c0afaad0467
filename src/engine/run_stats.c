/* SPDX-License-Identifier: Apache-2.0 */
/* What a shard counts, and how others see it: metrics, events, and a snapshot that any
 * thread may read. */
#include <stddef.h>
#include <string.h>

#include "base/log.h"
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
    if (v->is_asked)
        sn_fetch_metrics_attempt(r->metrics, v);
}

void
sn_run_count_start(sn_run *r, sn_visit *v)
{
    if (!v->is_retry)
        return;
    v->is_retry = false;
    r->stats.retries++;
    sn_fetch_metrics_retry(r->metrics, v->n_tries > 0 ? v->tries[v->n_tries - 1].err
                                                      : SEINE_E_HTTP_BUSY);
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

void
sn_run_tell_events(sn_run *r)
{
    seine_event e;

    while (sn_scheduler_event(r->scheduler, &e)) {
        r->stats.breaker_opens += strcmp(e.name, "breaker.open") == 0;
        sn_fetch_metrics_breaker(r->metrics, &e);
        log_event(r, &e);
        sn_run_tell_event(r, &e);
    }
}

/* Statistics. */

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
        s->waiting += sn_frontier_waiting(r->frontier);
        s->waiting_for[SEINE_WAIT_QUEUE] += sn_frontier_waiting(r->frontier);
    }
    s->in_flight = r->requests.n;
    s->hosts = sn_scheduler_n_hosts(r->scheduler, &parked, &s->parked_until);
    s->parked = parked;
    sn_fetch_metrics_turn(r->metrics, &r->before, s);
    sn_run_keep_counts(r, false);
    if (r->metrics)
        r->before = *s;
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
