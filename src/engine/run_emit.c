/* SPDX-License-Identifier: Apache-2.0 */
/* Stage 6: a visit, or a link that never became one, ends in its record. */
#include "base/log.h"
#include "engine/capture.h"
#include "engine/run_parts.h"

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
log_record(const sn_run *r, const sn_visit *v)
{
    const seine_record *record = &r->emit.record;
    sn_str url = record->url;

    SN_LOG(r->shared->opts.log, DEBUG, "fetch", SN_URL("url", url),
           SN_U("status", record->status), SN_E("err", v->fault.code),
           SN_U("resend", v->retry.attempts > 0 ? v->retry.attempts - 1 : 0),
           SN_T("duration", record->total));
}

/* Counts the record that stands in r->emit, and hands it to the caller's function. */
static void
deliver_record(sn_run *r)
{
    const seine_fetch_opts *o = &r->shared->opts;

    sn_emit_redact(&r->emit, o->secrets);
    count_done(r, &r->emit.record);
    sn_fetch_metrics_emitted(r->metrics, &r->emit.record);
    if (o->on_record)
        o->on_record(&r->emit.record, r->index, o->arg);
}

void
sn_run_release(sn_run *r, sn_visit *v)
{
    sn_visit_step(v, SN_EMITTED);
    sn_response_drop(&r->requests, v);
    sn_capture_drop(v);
    sn_visits_give(r->shared->visits, v);
    sn_shared_state_end_work(r->shared, 1);
}

void
sn_run_emit(sn_run *r, sn_visit *v)
{
    sn_visit_step(v, SN_DONE);
    sn_emit_record(v, &r->shared->opts, r->wall, &r->emit);
    if (v->not_wanted && v->is_skip) { /* it was admitted */
        atomic_fetch_add(&r->shared->unwanted, 1);
        atomic_fetch_sub(&r->shared->admitted, 1);
        atomic_fetch_add(&r->shared->refused, 1);
        r->refused++;
    }
    log_record(r, v);
    deliver_record(r);
    if (v->is_stored)
        sn_frontier_finish(r->frontier, v->number);
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
    sn_fetch_metrics_given(r->metrics, 1, 1);
    deliver_record(r);
}
