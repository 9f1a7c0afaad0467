/* SPDX-License-Identifier: Apache-2.0 */
/* What the runs of a job were like over time, for who looks at it from outside. */
#include "seine/job_view.h"
#include "store/job_parts.h"
#include "store/timeline.h"

/* A slice that a later version has written in its own way is passed over. */
static seine_err
take_row(const sn_job_row *row, seine_timeline *into)
{
    seine_slice slice;

    if (row->ints[1] != SN_JOB_NOTE_SLICE || !sn_slice_read(row->texts[1], &slice))
        return SEINE_OK;
    seine_err e = seine_timeline_add(into, &slice);
    return e == SEINE_E_FULL ? SEINE_OK : e;
}

seine_err
seine_job_view_timeline(seine_job_view *v, seine_timeline *into)
{
    sn_job_row row = {.ints = {0}};
    bool there = true;
    seine_err e = SEINE_OK;

    if (!v || !into)
        return SEINE_E_INVAL;
    seine_durable_job *j = sn_job_of_view(v);
    if (!j->db)
        return SEINE_E_STATE_CORRUPT;
    sn_job_table *t = &j->tables[SN_TABLE_NOTE];
    while (e == SEINE_OK && (e = sn_job_table_next(t, &row, &there)) == SEINE_OK && there)
        e = take_row(&row, into);
    sn_job_table_reset(t);
    return e;
}
