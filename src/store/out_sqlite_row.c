/* SPDX-License-Identifier: Apache-2.0 */
#include "store/out_sqlite.h"

#include <assert.h>
#include <string.h>

#include "base/alloc.h"
#include "seine/link_verdict.h"
#include "seine/plumbing.h"

seine_err
sn_base_make_json(sn_base *b, size_t n)
{
    char *json = sn_realloc(b->json, n + 4096);

    if (!json)
        return SEINE_E_NOMEM;
    b->json = json;
    b->room = n + 4096;
    return SEINE_OK;
}

static seine_err
render(sn_out *o, const seine_record *r, uint64_t seq, sn_str *out_json)
{
    sn_base *b = o->self;
    seine_body_form form =
        o->opts.body == SEINE_BODY_FILE ? SEINE_BODY_FILE : SEINE_BODY_NONE;

    for (;;) {
        sn_text_writer p = sn_text_writer_on(b->json, b->room);

        sn_record_json(&p, r, seq, &(sn_record_form){o->members, form, o->job});
        size_t n = sn_text_writer_len(&p);
        if (n <= b->room) {
            *out_json = (sn_str){b->json, n - 1}; /* without its newline */
            return SEINE_OK;
        }
        seine_err e = sn_base_make_json(b, n);
        if (e != SEINE_OK)
            return e;
    }
}

/* Returns how many bytes are valid UTF-8 without NUL. */
static size_t
valid(sn_str s)
{
    size_t n = 0;

    while (n < s.len) {
        n += sn_text_writer_plain(s.ptr + n, s.len - n);
        if (n == s.len)
            break;
        uint32_t c;
        size_t size = sn_utf8_decode(sn_str_slice(s, n, s.len), &c);

        if (size == 0 || c == 0)
            break;
        n += size;
    }
    return n;
}

/* Text must be UTF-8: invalid bytes become U+FFFD, and so does NUL, which would end the
 * text. *at moves on in the memory for such texts, which is large enough. */
static void
put_text(sn_base *b, sn_sqlite_row *row, seine_view s, size_t *at)
{
    size_t good = s.ptr ? valid(s) : 0;
    char *to = b->clean + *at;
    size_t n = 0;

    if (!s.ptr || good == s.len) {
        sn_sqlite_put_text(row, s);
        return;
    }
    while (s.len > 0) {
        memcpy(to + n, s.ptr, good);
        n += good;
        s = sn_str_slice(s, good, s.len);
        if (s.len == 0)
            break;
        memcpy(to + n, "\xef\xbf\xbd", 3);
        n += 3;
        s = sn_str_slice(s, 1, s.len);
        good = valid(s);
    }
    *at += n;
    assert(*at <= b->clean_room);
    sn_sqlite_put_text(row, (sn_str){to, n});
}

seine_view
sn_base_url_of(const seine_record *r)
{
    return r->url.ptr ? r->url : r->input.ptr ? r->input : (seine_view){"", 0};
}

static seine_view
key_of(const seine_record *r)
{
    return r->key.ptr ? r->key : sn_base_url_of(r);
}

/* The bytes of all texts of a row. */
static size_t
texts_of(const seine_record *r)
{
    return r->input.len + sn_base_url_of(r).len + key_of(r).len + r->final_url.len +
           r->host.len + r->ip.len + r->message.len + r->content_type.len +
           r->charset.len + r->title.len + r->rule.len + r->parent.len +
           seine_record_data(r).len;
}

/* Makes room for texts of `n` bytes; one byte may become three. */
static seine_err
make_clean(sn_base *b, size_t n)
{
    size_t room = 3 * n + 1;

    if (room <= b->clean_room)
        return SEINE_OK;
    char *clean = sn_realloc(b->clean, room);
    if (!clean)
        return SEINE_E_NOMEM;
    b->clean = clean;
    b->clean_room = room;
    return SEINE_OK;
}

static double
ms(seine_span span)
{
    uint64_t us = span > 0 ? ((uint64_t)span + 500) / 1000 : 0;

    return (double)us / 1000;
}

static void
put_known(sn_sqlite_row *row, bool known, uint64_t n)
{
    if (known)
        sn_sqlite_put_int(row, n < INT64_MAX ? (int64_t)n : INT64_MAX);
    else
        sn_sqlite_put_null(row);
}

static void
put_error(sn_base *b, sn_sqlite_row *row, const seine_record *r, size_t *at)
{
    bool failed = r->fate != SEINE_FATE_OK && r->fault && r->fault->code != SEINE_OK;

    if (!failed) {
        sn_sqlite_put_null(row);
        sn_sqlite_put_null(row);
        return;
    }
    sn_sqlite_put_text(row, sn_str_of(seine_err_name(r->fault->code)));
    if (r->message.ptr)
        put_text(b, row, r->message, at);
    else
        sn_sqlite_put_text(row, sn_str_of(seine_err_text(r->fault->code)));
}

static void
put_cell(sn_base *b, sn_sqlite_row *row, const sn_data_cell *cell, size_t *at)
{
    switch (cell->kind) {
    case SN_DATA_INT:
        sn_sqlite_put_int(row, cell->number);
        return;
    case SN_DATA_REAL:
        sn_sqlite_put_real(row, cell->real);
        return;
    case SN_DATA_TEXT:
        put_text(b, row, cell->text, at);
        return;
    case SN_DATA_NONE:
    default:
        sn_sqlite_put_null(row);
        return;
    }
}

/* Binds the values of the page and runs the statement, while they are there. */
static seine_err
put_data(sn_base *b, sn_sqlite_row *row, const seine_record *r, size_t *at)
{
    sn_data_row data;

    if (b->data.n == 0)
        return sn_sqlite_done(row);
    seine_err e = sn_data_row_read(&data, r);
    for (size_t i = 0; e == SEINE_OK && i < b->data.n; i++) {
        sn_data_cell cell = sn_data_row_cell(&data, b->data.names[i]);

        put_cell(b, row, &cell, at);
    }
    seine_err done = sn_sqlite_done(row);
    sn_data_row_fini(&data);
    return e == SEINE_OK ? done : e;
}

static seine_err
put_result(sn_out *o, const seine_record *r, uint64_t seq, sn_str json)
{
    sn_base *b = o->self;
    char stamp[SN_STAMP], hex[64];
    sn_text_writer p = sn_text_writer_on(stamp, sizeof stamp),
                   h = sn_text_writer_on(hex, sizeof hex);
    sn_sqlite_row row = sn_sqlite_bind(b->result);
    bool has_body = o->opts.body == SEINE_BODY_TEXT || o->opts.body == SEINE_BODY_B64;
    const char *change = seine_change_name(seine_record_change(r));
    size_t at = 0;

    sn_text_writer_stamp(&p, r->wall);
    sn_sqlite_put_int(&row, (int64_t)seq);
    put_text(b, &row, key_of(r), &at);
    sn_sqlite_put_text(&row, (sn_str){stamp, sizeof stamp});
    put_text(b, &row, r->input, &at);
    put_text(b, &row, sn_base_url_of(r), &at);
    put_text(b, &row, r->final_url, &at);
    put_text(b, &row, r->host, &at);
    put_text(b, &row, r->ip, &at);
    put_known(&row, r->is_crawled, r->depth);
    put_text(b, &row, r->parent, &at);
    sn_sqlite_put_text(&row, sn_str_of(seine_fate_name(r->fate)));
    put_known(&row, r->status > 0, r->status);
    put_error(b, &row, r, &at);
    sn_sqlite_put_int(&row, r->attempts);
    put_text(b, &row, r->content_type, &at);
    put_text(b, &row, r->charset, &at);
    put_known(&row, r->http > 0, r->bytes_in);
    put_known(&row, r->http > 0, r->bytes_body);
    sn_sqlite_put_real(&row, ms(r->total));
    sn_sqlite_put_real(&row, ms(seine_record_waited(r)));
    if (r->sha256)
        sn_text_writer_hex(&h, r->sha256, 32);
    sn_sqlite_put_text(&row, r->sha256 ? (sn_str){hex, 64} : (sn_str){NULL, 0});
    put_text(b, &row, r->title, &at);
    sn_sqlite_put_text(&row, change ? sn_str_of(change) : (sn_str){NULL, 0});
    sn_sqlite_put_blob(&row, has_body ? r->body : (sn_str){NULL, 0});
    sn_sqlite_put_text(&row, json);
    b->held_bytes += json.len + (has_body ? r->body.len : 0);
    return put_data(b, &row, r, &at);
}

static seine_err
put_skip(sn_out *o, const seine_record *r, uint64_t seq)
{
    sn_base *b = o->self;
    char stamp[SN_STAMP];
    sn_text_writer p = sn_text_writer_on(stamp, sizeof stamp);
    sn_sqlite_row row = sn_sqlite_bind(b->skip);
    size_t at = 0;

    sn_text_writer_stamp(&p, r->wall);
    sn_sqlite_put_int(&row, (int64_t)seq);
    put_text(b, &row, sn_base_url_of(r), &at);
    sn_sqlite_put_text(&row, sn_str_of(seine_skip_name(r->reason)));
    put_text(b, &row, r->rule, &at);
    put_text(b, &row, r->parent, &at);
    sn_sqlite_put_text(&row, (sn_str){stamp, sizeof stamp});
    b->held_bytes += r->url.len + r->rule.len + r->parent.len;
    return sn_sqlite_done(&row);
}

seine_err
sn_base_put(sn_out *o, const seine_record *r, uint64_t seq)
{
    sn_str json = r->json; /* the line it was read from is more complete */
    seine_err e = make_clean(o->self, texts_of(r));

    if (e == SEINE_OK && r->type == SEINE_RECORD_SKIP)
        return put_skip(o, r, seq);
    if (e == SEINE_OK && !json.ptr)
        e = render(o, r, seq, &json);
    return e == SEINE_OK ? put_result(o, r, seq, json) : e;
}

/* A text of the link; "": it has none of this name. */
static sn_str
member_of(const seine_json *link, const char *name)
{
    sn_str text = {NULL, 0};

    return seine_json_string(seine_json_get(link, name), &text.ptr, &text.len)
               ? text
               : (sn_str){"", 0};
}

static void
put_number(sn_sqlite_row *row, const seine_json *link, const char *name)
{
    int64_t n;

    if (seine_json_int(seine_json_get(link, name), &n))
        sn_sqlite_put_int(row, n);
    else
        sn_sqlite_put_null(row);
}

seine_err
sn_base_put_link_row(sn_base *b, const sn_base_link *l)
{
    size_t at = 0;
    seine_err e = make_clean(b, l->source.len + l->target.len + l->verdict.len);

    if (e != SEINE_OK)
        return e;
    sn_sqlite_row row = sn_sqlite_bind(b->link);
    sn_sqlite_put_int(&row, (int64_t)l->seq);
    put_text(b, &row, l->source, &at);
    put_known(&row, l->line > 0, l->line);
    put_text(b, &row, l->target, &at);
    put_text(b, &row, l->verdict, &at);
    sn_sqlite_put_null(&row);
    sn_sqlite_put_text(&row, l->json);
    b->held_bytes += l->json.len;
    return sn_sqlite_done(&row);
}

seine_err
sn_base_forget_links(sn_base *b, sn_str source)
{
    size_t at = 0;
    seine_err e = make_clean(b, source.len);

    if (e != SEINE_OK)
        return e;
    sn_sqlite_row row = sn_sqlite_bind(b->unlink);
    put_text(b, &row, source, &at);
    return sn_sqlite_done(&row);
}

seine_err
sn_base_put_target(sn_base *b, const seine_record *r, uint64_t seq, sn_str next)
{
    const char *verdict = seine_link_verdict_name(seine_link_verdict_of(r));
    size_t at = 0;
    seine_err e = make_clean(b, key_of(r).len + next.len);

    if (e != SEINE_OK)
        return e;
    sn_sqlite_row row = sn_sqlite_bind(b->target);
    put_text(b, &row, key_of(r), &at);
    sn_sqlite_put_int(&row, (int64_t)seq);
    sn_sqlite_put_text(&row, next.ptr ? SN_STR("unknown") : sn_str_of(verdict));
    put_known(&row, r->status > 0, r->status);
    put_known(&row, r->status > 0, r->status);
    put_text(b, &row, next, &at);
    return sn_sqlite_done(&row);
}

seine_err
sn_base_put_link(sn_base *b, sn_str json, uint64_t seq)
{
    seine_json *link = NULL;
    size_t at = 0;
    seine_err e = seine_json_parse(json.ptr, json.len, &link, NULL);

    if (e == SEINE_OK)
        e = make_clean(b, member_of(link, "source").len + member_of(link, "target").len +
                              member_of(link, "verdict").len);
    if (e != SEINE_OK) {
        seine_json_free(link);
        return e;
    }
    sn_sqlite_row row = sn_sqlite_bind(b->link);
    sn_sqlite_put_int(&row, (int64_t)seq);
    put_text(b, &row, member_of(link, "source"), &at);
    put_number(&row, link, "line");
    put_text(b, &row, member_of(link, "target"), &at);
    put_text(b, &row, member_of(link, "verdict"), &at);
    put_number(&row, link, "status");
    sn_sqlite_put_text(&row, json);
    e = sn_sqlite_done(&row);
    if (e == SEINE_OK)
        b->held_bytes += json.len;
    seine_json_free(link);
    return e;
}
