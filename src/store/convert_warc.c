/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "base/codec.h"
#include "seine/warc.h"
#include "store/convert.h"
#include "store/warc_http.h"

/*
 * An HTTP response, or a revisit of one, becomes a result. An archive knows only its
 * time, address, status, type and body.
 */

enum {
    HEAD = 64 << 10, /* bytes of a head that are read */
    BODY = 32 << 20  /* bytes of a body that are kept */
};

/* The members that an archive knows; others would be invented. */
#define KNOWN                                                                         \
    (SN_MEMBER_CHOSEN | SN_MEMBER(V) | SN_MEMBER(TYPE) | SN_MEMBER(SEQ) |             \
     SN_MEMBER(TS) | SN_MEMBER(URL) | SN_MEMBER(IP) | SN_MEMBER(OUTCOME) |            \
     SN_MEMBER(OK) | SN_MEMBER(STATUS) | SN_MEMBER(ERROR) | SN_MEMBER(CONTENT_TYPE) | \
     SN_MEMBER(PARTIAL) | SN_MEMBER(NOTES) | SN_MEMBER(BODY) | SN_MEMBER(BODY_B64) |  \
     SN_MEMBER(WARC))

typedef struct archive {
    sn_convert *c;
    seine_warc *warc;
    bool is_wanted, is_revisit;
    sn_warc_http http;
    sn_buf head, body, plain; /* plain: the body without its coding */
    sn_codec codec;
    uint64_t seq, payload;
    char file[SEINE_DIAG_FILE];
} archive;

static sn_str
field(const archive *a, const char *name)
{
    return seine_warc_field(a->warc, name);
}

static void
begin_entry(archive *a)
{
    const seine_warc_entry *entry = seine_warc_at(a->warc);
    sn_str type = entry->type;

    a->is_revisit = sn_str_eq_nocase(type, SN_STR("revisit"));
    a->is_wanted = entry->target.ptr &&
                   (a->is_revisit || sn_str_eq_nocase(type, SN_STR("response")));
    a->payload = 0;
    sn_buf_reset(&a->head);
    sn_buf_reset(&a->body);
    sn_warc_http_begin(&a->http, false);
}

static bool
wants_body(const archive *a)
{
    return a->c->opts->body == SEINE_BODY_TEXT || a->c->opts->body == SEINE_BODY_B64;
}

static void
take_bytes(archive *a, sn_str block)
{
    sn_str piece;

    if (!a->is_wanted)
        return;
    if (!a->http.has_head && a->head.len < HEAD)
        sn_buf_str(&a->head, sn_str_slice(block, 0, HEAD - a->head.len));
    while (block.len > 0 && sn_warc_http_next(&a->http, &block, &piece)) {
        a->payload += piece.len;
        if (wants_body(a))
            sn_buf_str(&a->body, piece);
    }
}

/* Returns the last value of a field; interim heads come before the final one. */
static sn_str
header(const archive *a, sn_str name)
{
    sn_str rest = sn_buf_view(&a->head), line, found = {NULL, 0};

    rest = sn_str_slice(rest, 0, a->http.head_len);
    while (sn_str_next(&rest, '\n', &line)) {
        sn_str left, value;

        if (sn_str_cut(line, ':', &left, &value) && sn_str_eq_nocase(left, name))
            found = sn_str_trim(value);
    }
    return found;
}

/* False: an unknown coding, or more than one. */
static bool
kind_of(sn_str coding, sn_str body, sn_codec_kind *out)
{
    if (sn_str_eq_nocase(coding, SN_STR("gzip")) ||
        sn_str_eq_nocase(coding, SN_STR("x-gzip")))
        *out = SN_CODEC_GZIP;
    else if (sn_str_eq_nocase(coding, SN_STR("br")))
        *out = SN_CODEC_BR;
    else if (sn_str_eq_nocase(coding, SN_STR("zstd")))
        *out = SN_CODEC_ZSTD;
    else if (sn_str_eq_nocase(coding, SN_STR("deflate")))
        *out = sn_codec_match_of(SN_CODEC_ZLIB, body) == SN_CODEC_YES ? SN_CODEC_ZLIB
                                                                      : SN_CODEC_DEFLATE;
    else
        return false;
    return true;
}

/* Decodes the body, up to the limit. */
static bool
decode(archive *a, sn_codec_kind kind)
{
    sn_str in = sn_buf_view(&a->body);
    sn_codec_event event = SN_CODEC_ROOM;

    sn_buf_reset(&a->plain);
    if (sn_codec_begin(&a->codec, kind) != SEINE_OK)
        return false;
    while (event == SN_CODEC_ROOM) {
        char *to = sn_buf_reserve(&a->plain, HEAD);
        sn_codec_room room = {to, HEAD};

        if (!to)
            return false;
        event = sn_codec_step(&a->codec, &in, &room, false);
        sn_buf_commit(&a->plain, HEAD - room.len);
    }
    return event == SN_CODEC_END;
}

/* A body that stays coded gets a note, so that nobody takes it for the page. */
static void
set_body(archive *a, seine_record *r)
{
    static const char *const notes[] = {"coded_body", "body_left_out"};
    sn_str coding = header(a, SN_STR("content-encoding"));
    sn_buf *from = &a->body;
    sn_codec_kind kind;

    if (a->is_revisit || a->payload == 0)
        return;
    if (!wants_body(a)) {
        a->c->bodies_left++;
        return;
    }
    if (a->body.err != SEINE_OK) {
        r->notes = notes + 1;
        r->n_notes = 1;
        return;
    }
    if (coding.len > 0 && !sn_str_eq_nocase(coding, SN_STR("identity"))) {
        if (kind_of(coding, sn_buf_view(&a->body), &kind) && decode(a, kind)) {
            from = &a->plain;
        } else {
            r->notes = notes;
            r->n_notes = 1;
        }
    }
    r->body = (seine_view){from->ptr ? from->ptr : "", from->len};
}

static seine_err
fault_of(const archive *a, const seine_record *r)
{
    if (r->partial)
        return SEINE_E_BODY_TRUNCATED;
    if (a->http.status >= 200 && a->http.status < 300)
        return SEINE_OK;
    return a->http.status == 408 || a->http.status == 425 || a->http.status == 429 ||
                   (a->http.status >= 500 && a->http.status != 501 &&
                    a->http.status != 505)
               ? SEINE_E_HTTP_BUSY
               : SEINE_E_HTTP;
}

static void
set_place(const archive *a, seine_record *r)
{
    const seine_warc_entry *entry = seine_warc_at(a->warc);

    if (!a->file[0])
        return;
    r->warc = (seine_warc_place){
        {a->file, strlen(a->file)}, entry->offset, entry->length, entry->id};
}

static seine_err
give(archive *a, const seine_record *r)
{
    sn_convert *c = a->c;
    size_t room = 4096 + 2 * r->body.len;

    for (;;) {
        sn_buf_reset(&c->made);
        char *to = sn_buf_reserve(&c->made, room);
        if (!to)
            return c->made.err == SEINE_E_NOMEM ? SEINE_E_NOMEM
                                                : sn_convert_bad(c, "larger than 64 MiB");
        sn_text_writer p = sn_text_writer_on(to, room);
        sn_record_json(&p, r, a->seq,
                       &(sn_record_form){.members = KNOWN, .body = c->opts->body});
        if (p.lost == 0)
            return sn_convert_line(c, (sn_str){to, sn_text_writer_len(&p) - 1});
        room = sn_text_writer_len(&p);
    }
}

static seine_err
end_entry(archive *a)
{
    const seine_warc_entry *entry = seine_warc_at(a->warc);
    sn_str date = entry->date, ip = field(a, "WARC-IP-Address");
    seine_fault fault = SEINE_FAULT;
    char name[SN_LOST_NAME] = "the record ";
    seine_record r = {.type = SEINE_RECORD_RESULT, .content_length = -1, .fault = &fault};

    if (!a->is_wanted || a->http.status == 0) {
        sn_str type = sn_str_slice(entry->type, 0, 24);

        memcpy(name + 11, type.ptr ? type.ptr : "", type.len);
        sn_convert_lost(a->c, (sn_str){name, 11 + type.len});
        return SEINE_OK;
    }
    a->c->line = ++a->seq;
    if (sn_stamp_read(date, &r.wall) != SEINE_OK)
        return sn_convert_bad(a->c, "a record whose WARC-Date is no time");
    r.url = entry->target;
    r.ip = ip;
    r.status = a->http.status;
    r.partial = field(a, "WARC-Truncated").ptr ||
                (!a->is_revisit && !sn_warc_http_is_whole(&a->http));
    fault.code = fault_of(a, &r);
    fault.phase = r.partial ? SEINE_PHASE_BODY : SEINE_PHASE_HEAD;
    r.fate = seine_fate_of(fault.code);
    r.retryable = seine_err_class(fault.code) == SEINE_TRANSIENT;
    if (a->http.type[0])
        r.content_type = (seine_view){a->http.type, strlen(a->http.type)};
    set_body(a, &r);
    set_place(a, &r);
    return give(a, &r);
}

static seine_err
fail_archive(archive *a)
{
    uint64_t at;
    const char *why = seine_warc_why(a->warc, &at);

    sn_diag_text(a->c->diag, "%s: record at byte %llu: %s", a->c->source.name,
                 (unsigned long long)at, why);
    return SEINE_E_PARSE;
}

static seine_err
take_block(archive *a, seine_view in, bool is_last, bool *out_done)
{
    seine_err e = SEINE_OK;
    seine_view piece;

    while (e == SEINE_OK)
        switch (seine_warc_next(a->warc, &in, is_last, &piece)) {
        case SEINE_WARC_MORE:
            return SEINE_OK;
        case SEINE_WARC_RECORD:
            begin_entry(a);
            break;
        case SEINE_WARC_BLOCK:
            take_bytes(a, piece);
            break;
        case SEINE_WARC_END:
            e = end_entry(a);
            break;
        case SEINE_WARC_FLAW:
            break;
        case SEINE_WARC_DONE:
            *out_done = true;
            return SEINE_OK;
        case SEINE_WARC_FAIL:
            return fail_archive(a);
        }
    return e;
}

/* Writes the file name without directories; a decompressed stream has no offsets. */
static void
name_file(archive *a)
{
    const char *path = a->c->opts->in, *slash = path ? strrchr(path, '/') : NULL;

    if (path && strcmp(path, "-") != 0 && a->c->source.is_raw)
        sn_diag_path(slash ? slash + 1 : path, a->file);
}

seine_err
sn_convert_from_warc(sn_convert *c)
{
    archive a = {.c = c};
    sn_str block = {NULL, 0};
    bool done = false;
    seine_err e = seine_warc_new(NULL, &a.warc);

    sn_buf_init(&a.head, HEAD);
    sn_buf_init(&a.body, BODY);
    sn_buf_init(&a.plain, BODY);
    sn_codec_init(&a.codec, &(sn_codec_opts){.way = SN_CODEC_DECODE});
    name_file(&a);
    while (e == SEINE_OK && !done) {
        e = sn_source_next(&c->source, &block, c->diag);
        if (e == SEINE_OK)
            e = take_block(&a, block, block.len == 0, &done);
    }
    seine_warc_free(a.warc);
    sn_codec_fini(&a.codec);
    sn_buf_fini(&a.head);
    sn_buf_fini(&a.body);
    sn_buf_fini(&a.plain);
    return e;
}
