/* SPDX-License-Identifier: Apache-2.0 */
#include "store/csv.h"
#include "store/csv_columns.h"
#include "store/outtext.h"

typedef struct csv {
    sn_outtext text; /* first: the functions of outtext.h take it for their own */
    sn_csv_columns columns;
} csv;

static void
render(const sn_out *o, sn_text_writer *p, const seine_record *r, uint64_t seq)
{
    const csv *self = o->self;

    if (self->columns.n > 0)
        sn_csv_columns_row(p, &self->columns, r, seq, o->how);
    else
        sn_record_csv(p, r, seq, o->members, o->how);
}

static seine_err
open_csv(sn_out *o, seine_diag *diag)
{
    csv *self = o->self;
    sn_str bad;

    self->text.render = render;
    self->text.row = sn_csv_row;
    if (o->opts.columns &&
        sn_csv_columns_parse(o->opts.columns, &self->columns, &bad) != SEINE_OK) {
        sn_diag_text(diag, "'%.64s' is no column of CSV, or is there twice", bad.ptr);
        return SEINE_E_INVAL;
    }
    return sn_outtext_open(o, diag);
}

static seine_err
start_csv(sn_out *o, seine_diag *diag)
{
    seine_err e = sn_outtext_start(o, diag);

    return e == SEINE_OK ? sn_outtext_head(o, diag) : e;
}

const sn_out_ops sn_out_csv = {
    .size = sizeof(csv),
    .patience = SN_OUTTEXT_PATIENCE,
    .open = open_csv,
    .start = start_csv,
    .record = sn_outtext_record,
    .flush = sn_outtext_flush,
    .length = sn_outtext_length,
    .close = sn_outtext_close,
};
