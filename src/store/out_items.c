/* SPDX-License-Identifier: Apache-2.0 */
#include "store/out_items.h"

#include "store/record_items.h"

static void
end_line(const sn_out *o, sn_buf *line)
{
    sn_buf_text(line, o->how & SEINE_CSV_CRLF ? "\r\n" : "\n");
}

void
sn_out_items_head(const sn_out *o, sn_text_writer *p)
{
    sn_str head = sn_str_of(o->opts.items->head ? o->opts.items->head : "");

    sn_text_writer_add(p, head.ptr, head.len);
    if (o->how & SEINE_CSV_CRLF)
        SN_WRITE(p, "\r\n");
    else
        SN_WRITE(p, "\n");
}

/* v, type, job, seq and ts, then what the caller has made. */
void
sn_out_item_line(sn_str job, const seine_record *r, const seine_item *item, uint64_t seq,
                 sn_buf *line)
{
    char head[512];
    sn_text_writer p = sn_text_writer_on(head, sizeof head);

    SN_WRITE(&p, "{\"v\":1,\"type\":\"item\"");
    if (job.ptr) {
        SN_WRITE(&p, ",\"job\":");
        sn_text_writer_quoted(&p, job); /* 128 plain characters at most */
    }
    SN_WRITE(&p, ",\"seq\":");
    sn_text_writer_u64(&p, seq);
    SN_WRITE(&p, ",\"ts\":\"");
    sn_text_writer_stamp(&p, r->wall);
    SN_WRITE(&p, "\",");
    sn_buf_add(line, head, sn_text_writer_len(&p));
    sn_buf_str(line, item->members);
    sn_buf_text(line, "}\n");
}

static seine_err
put_line(sn_out *o, sn_buf *line, seine_diag *diag)
{
    sn_said said = {.text = sn_buf_view(line)};
    seine_err e = sn_buf_done(line);

    if (e == SEINE_OK)
        e = sn_outtext_line(o, &said, diag);
    else
        sn_diag_text(diag, "%s", seine_err_text(e));
    sn_buf_reset(line);
    return e;
}

seine_err
sn_out_items_jsonl(sn_out *o, const seine_record *r, uint64_t seq, seine_diag *diag)
{
    sn_item_cursor c = sn_record_items_of(r);
    seine_err e = SEINE_OK;
    seine_item item;
    sn_buf line;

    sn_buf_init(&line, SIZE_MAX - 1);
    while (e == SEINE_OK && sn_record_items_next(&c, &item)) {
        seq++;
        if (!o->opts.items->flat) {
            sn_out_item_line(o->job, r, &item, seq, &line);
        } else if (item.ok) {
            sn_buf_str(&line, item.data);
            sn_buf_char(&line, '\n');
        }
        if (line.len > 0)
            e = put_line(o, &line, diag);
    }
    sn_buf_fini(&line);
    return e;
}

/* Good items of one kind, or bad ones of all. */
static bool
is_wanted(const seine_item_sink *s, const seine_item *item)
{
    return s->kind ? item->ok && sn_str_eq(item->kind, sn_str_of(s->kind)) : !item->ok;
}

seine_err
sn_out_items_csv(sn_out *o, const seine_record *r, uint64_t seq, seine_diag *diag)
{
    sn_item_cursor c = sn_record_items_of(r);
    seine_err e = SEINE_OK;
    seine_item item;
    sn_buf line;

    (void)seq;
    sn_buf_init(&line, SIZE_MAX - 1);
    while (e == SEINE_OK && sn_record_items_next(&c, &item)) {
        if (!is_wanted(o->opts.items, &item))
            continue;
        sn_buf_str(&line, item.row);
        end_line(o, &line);
        e = put_line(o, &line, diag);
    }
    sn_buf_fini(&line);
    return e;
}
