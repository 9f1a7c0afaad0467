/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "store/csv.h"
#include "store/csv_columns.h"
#include "store/out_items.h"

typedef struct csv {
    sn_outtext text; /* first: the functions of outtext.h take it for their own */
    sn_csv_columns columns;
    sn_data_columns data;
} csv;

/* The fixed columns, what `fields` adds, and the values of pages: room for all names. */
enum { NAMES = 512 };

static void
render(const sn_out *o, sn_text_writer *p, const seine_record *r, uint64_t seq)
{
    const csv *self = o->self;

    if (o->opts.items)
        sn_out_items_head(o, p);
    else if (self->columns.n > 0)
        sn_csv_columns_row(p, &self->columns, r, seq, o->how);
    else
        sn_record_csv(p, r, seq, o->members, o->how);
}

/* The columns that are there if none are chosen, with those of values behind them. */
static void
write_columns(const sn_out *o, char out[NAMES])
{
    sn_text_writer p = sn_text_writer_on(out, NAMES - 1);

    sn_record_csv(&p, NULL, 0, o->members, 0);
    size_t n = sn_text_writer_len(&p) - 1; /* without its line end */
    snprintf(out + n, NAMES - n, ",data.*");
}

static seine_err
read_columns(sn_out *o, seine_diag *diag)
{
    csv *self = o->self;
    const char *list = o->opts.columns;
    char names[NAMES];
    sn_str bad;

    if (o->opts.items || (!list && self->data.n == 0))
        return SEINE_OK;
    if (!list) {
        write_columns(o, names);
        list = names;
    }
    if (sn_csv_columns_parse(list, &self->data, &self->columns, &bad) == SEINE_OK)
        return SEINE_OK;
    sn_diag_text(diag, "'%.64s' is no column of CSV, or is there twice", bad.ptr);
    return SEINE_E_INVAL;
}

static seine_err
open_csv(sn_out *o, seine_diag *diag)
{
    csv *self = o->self;
    seine_err e = SEINE_OK;

    self->text.render = render;
    self->text.row = sn_csv_row;
    if (o->members & SN_MEMBER(DATA))
        e = sn_data_columns_copy(&self->data, o->opts.data);
    if (e == SEINE_OK)
        e = read_columns(o, diag);
    return e == SEINE_OK ? sn_outtext_open(o, diag) : e;
}

static seine_err
close_csv(sn_out *o, seine_diag *diag)
{
    csv *self = o->self;

    sn_data_columns_fini(&self->data);
    return sn_outtext_close(o, diag);
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
    .items_only = true,
    .record = sn_outtext_record,
    .items = sn_out_items_csv,
    .flush = sn_outtext_flush,
    .length = sn_outtext_length,
    .close = close_csv,
};
