/* SPDX-License-Identifier: Apache-2.0 */
#include "store/csv.h"
#include "store/record.h"

static void
cell(sn_text_writer *p, seine_view v, unsigned how)
{
    SN_WRITE(p, ",");
    sn_csv_cell(p, v, how);
}

static void
words(sn_text_writer *p, const char *text)
{
    SN_WRITE(p, ",");
    sn_text_writer_text(p, text);
}

/* Writes an empty cell if the number is not known. */
static void
put_number(sn_text_writer *p, bool known, uint64_t n)
{
    SN_WRITE(p, ",");
    if (known)
        sn_text_writer_u64(p, n);
}

static void
head(sn_text_writer *p, uint64_t members)
{
    SN_WRITE(p, "seq,ts,input,url,final_url,outcome,status,attempts,content_type,"
                "content_length,bytes_body,time_ms,title,error_kind,error_message");
    if (members & SN_MEMBER(LANG))
        SN_WRITE(p, ",lang");
    if (members & SN_MEMBER(CANONICAL))
        SN_WRITE(p, ",canonical");
    if (members & SN_MEMBER(META_ROBOTS))
        SN_WRITE(p, ",meta_robots");
    if (members & SN_MEMBER(LINKS))
        SN_WRITE(p, ",links");
    if (members & SN_MEMBER(SHA256))
        SN_WRITE(p, ",sha256");
    if (members & SN_MEMBER(CHANGE))
        SN_WRITE(p, ",change");
}

static void
extras(sn_text_writer *p, const seine_record *r, uint64_t members, unsigned how)
{
    if (members & SN_MEMBER(LANG))
        cell(p, r->lang, how);
    if (members & SN_MEMBER(CANONICAL))
        cell(p, r->canonical, how);
    if (members & SN_MEMBER(META_ROBOTS))
        cell(p, r->meta_robots, how);
    if (members & SN_MEMBER(LINKS))
        put_number(p, r->has_links, r->n_links);
    if (members & SN_MEMBER(SHA256))
        SN_WRITE(p, ",");
    if (members & SN_MEMBER(SHA256) && r->sha256)
        sn_text_writer_hex(p, r->sha256, 32);
    if (members & SN_MEMBER(CHANGE))
        words(p, seine_record_change(r) ? seine_change_name(seine_record_change(r)) : "");
}

static void
result(sn_text_writer *p, const seine_record *r, unsigned how)
{
    bool failed = r->fate != SEINE_FATE_OK && r->fault && r->fault->code != SEINE_OK;

    cell(p, r->final_url, how);
    words(p, seine_fate_name(r->fate));
    put_number(p, r->status > 0, r->status);
    put_number(p, true, r->attempts);
    cell(p, r->content_type, how);
    put_number(p, r->content_length >= 0, (uint64_t)r->content_length);
    put_number(p, r->http > 0, r->bytes_body);
    SN_WRITE(p, ",");
    sn_text_writer_ms(p, r->total);
    cell(p, r->title, how);
    words(p, failed ? seine_err_name(r->fault->code) : "");
    if (failed && !r->message.ptr) {
        const char *text = seine_err_text(r->fault->code);

        cell(p, (seine_view){text, strlen(text)}, how);
    } else {
        cell(p, failed ? r->message : (seine_view){NULL, 0}, how);
    }
}

/* The outcome is "skip", its kind the reason, its message the rule. */
static void
skip(sn_text_writer *p, const seine_record *r, unsigned how)
{
    SN_WRITE(p, ",,skip,,,,,,,,");
    sn_text_writer_text(p, seine_skip_name(r->reason));
    cell(p, r->rule, how);
}

void
sn_record_csv(sn_text_writer *p, const seine_record *r, uint64_t seq, uint64_t members,
              unsigned how)
{
    if (!r) {
        head(p, members);
    } else {
        sn_text_writer_u64(p, seq);
        SN_WRITE(p, ",");
        sn_text_writer_stamp(p, r->wall);
        cell(p, r->input, how);
        cell(p, r->url, how);
        if (r->type == SEINE_RECORD_SKIP)
            skip(p, r, how);
        else
            result(p, r, how);
        extras(p, r, members, how);
    }
    if (how & SEINE_CSV_CRLF)
        SN_WRITE(p, "\r\n");
    else
        SN_WRITE(p, "\n");
}
