/* SPDX-License-Identifier: Apache-2.0 */
/* Values of pages, for their records. */
#include "base/alloc.h"
#include "engine/run_parts.h"

/* The reader of the shard, made by the first page. NULL: no memory. */
static seine_extractor *
reader_of(sn_run *r)
{
    if (!r->extractor &&
        seine_extractor_new(r->shared->opts.extract, &r->extractor) != SEINE_OK)
        return NULL;
    return r->extractor;
}

/* Does somebody ask how long it takes? */
static bool
is_timed(const sn_run *r)
{
    return r->metrics || r->tracer.otlp;
}

static void
read_values(sn_run *r, const sn_visit *v, sn_values *values)
{
    sn_values_reading how = {.visit = v,
                             .reader = reader_of(r),
                             .brake = r->shared->brake,
                             .clock = is_timed(r) ? r->env->clock : NULL};

    if (how.reader)
        sn_values_read(values, &how);
    else
        values->err = SEINE_E_NOMEM;
}

void
sn_run_read_data(sn_run *r, const sn_visit *v)
{
    seine_record *record = &r->emit.record;
    sn_values own = {0}, *values = v->values ? v->values : &own;

    if (record->type != SEINE_RECORD_RESULT || record->fate != SEINE_FATE_OK ||
        v->end.partial)
        return;
    if (!v->values)
        read_values(r, v, &own);
    if (!sn_emit_values(values, r->shared->brake, record))
        record->extract = SEINE_E_NOMEM;
    if (is_timed(r)) {
        r->extracted =
            (sn_visit_extract){.wall = r->wall + (values->began - r->now),
                               .took = values->took,
                               .records = seine_record_data(record).len > 0,
                               .fields = seine_extract_count(r->shared->opts.extract),
                               .err = record->extract};
        sn_fetch_metrics_extract(r->metrics, r->extracted.records, r->extracted.took,
                                 r->extracted.err);
    }
    sn_values_fini(values, r->shared->brake);
}
