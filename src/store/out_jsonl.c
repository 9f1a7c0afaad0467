/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "store/out_items.h"

static void
render(const sn_out *o, sn_text_writer *p, const seine_record *r, uint64_t seq)
{
    sn_record_json(p, r, seq, &(sn_record_form){o->members, o->opts.body, o->job});
}

static size_t
row(const char *bytes, size_t n)
{
    const char *end = memchr(bytes, '\n', n);

    return end ? (size_t)(end - bytes) + 1 : 0;
}

static seine_err
open_jsonl(sn_out *o, seine_diag *diag)
{
    sn_outtext *t = o->self;

    t->render = render;
    t->row = row;
    return sn_outtext_open(o, diag);
}

const sn_out_ops sn_out_jsonl = {
    .size = sizeof(sn_outtext),
    .patience = SN_OUTTEXT_PATIENCE,
    .open = open_jsonl,
    .start = sn_outtext_start,
    .items_only = true,
    .record = sn_outtext_record,
    .items = sn_out_items_jsonl,
    .line = sn_outtext_line,
    .flush = sn_outtext_flush,
    .length = sn_outtext_length,
    .close = sn_outtext_close,
};
