/* SPDX-License-Identifier: Apache-2.0 */
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

void
sn_run_read_data(sn_run *r, const sn_visit *v)
{
    seine_record *record = &r->emit.record;

    if (record->type != SEINE_RECORD_RESULT || record->fate != SEINE_FATE_OK ||
        v->end.partial)
        return;
    seine_extractor *reader = reader_of(r);
    if (!reader || !sn_emit_data(v, reader, r->shared->brake, record))
        record->extract = SEINE_E_NOMEM;
}
