/* SPDX-License-Identifier: Apache-2.0 */
#include "store/csv.h"
#include "store/outtext.h"

static void
render(const sn_out *o, sn_text_writer *p, const seine_record *r, uint64_t seq)
{
    sn_record_csv(p, r, seq, o->members, o->how);
}

static seine_err
open_csv(sn_out *o, seine_diag *diag)
{
    sn_outtext *t = o->self;

    t->render = render;
    t->row = sn_csv_row;
    return sn_outtext_open(o, diag);
}

static seine_err
start_csv(sn_out *o, seine_diag *diag)
{
    seine_err e = sn_outtext_start(o, diag);

    return e == SEINE_OK ? sn_outtext_head(o, diag) : e;
}

const sn_out_ops sn_out_csv = {
    .size = sizeof(sn_outtext),
    .patience = SN_OUTTEXT_PATIENCE,
    .open = open_csv,
    .start = start_csv,
    .record = sn_outtext_record,
    .flush = sn_outtext_flush,
    .length = sn_outtext_length,
    .close = sn_outtext_close,
};
