/* SPDX-License-Identifier: Apache-2.0 */
#include "store/pack.h"

#include <string.h>

#include "base/alloc.h"
#include "seine/plumbing.h"

enum {
    ROOM = 64 << 10, /* buffer of compressed bytes at first … */
    MOST = 1 << 20,  /* … and the most that is kept */
    LEVEL = 4        /* JSON lines shrink to a tenth; higher levels gain little */
};

static sn_codec_kind
codec_of(seine_sink_pack kind)
{
    return kind == SEINE_PACK_GZIP ? SN_CODEC_GZIP : SN_CODEC_ZSTD;
}

void
sn_pack_init(sn_pack *p, seine_sink_pack kind)
{
    *p = (sn_pack){.kind = codec_of(kind)};
    sn_codec_init(&p->codec, &(sn_codec_opts){
                                 .way = SN_CODEC_ENCODE,
                                 .level = p->kind == SN_CODEC_GZIP ? LEVEL : 0,
                             });
}

void
sn_pack_fini(sn_pack *p)
{
    sn_codec_fini(&p->codec);
    sn_free(p->buf);
    *p = (sn_pack){.buf = NULL};
}

static seine_err
resize(sn_pack *p, size_t room)
{
    char *buf = sn_realloc(p->buf, room);

    if (!buf)
        return SEINE_E_NOMEM;
    p->buf = buf;
    p->room = room;
    return SEINE_OK;
}

seine_err
sn_pack_begin(sn_pack *p)
{
    seine_err e = sn_codec_begin(&p->codec, p->kind);

    return e == SEINE_OK && (!p->buf || p->room > MOST) ? resize(p, ROOM) : e;
}

seine_err
sn_pack_step(sn_pack *p, sn_str *text, bool is_last, sn_str *out_packed,
             sn_codec_event *out_event)
{
    sn_codec_room room = {p->buf, p->room};

    *out_event = sn_codec_step(&p->codec, text, &room, is_last);
    *out_packed = (sn_str){p->buf, p->room - room.len};
    return *out_event == SN_CODEC_FAIL ? p->codec.err : SEINE_OK;
}

seine_err
sn_pack_text(sn_pack *p, sn_str text, sn_str *out_member)
{
    seine_err e = sn_pack_begin(p);
    size_t n = 0;

    while (e == SEINE_OK) {
        sn_codec_room room = {p->buf + n, p->room - n};
        sn_codec_event event = sn_codec_step(&p->codec, &text, &room, true);

        n = p->room - room.len;
        if (event == SN_CODEC_END)
            break;
        e = event == SN_CODEC_FAIL ? p->codec.err : resize(p, p->room * 2);
    }
    *out_member = (sn_str){p->buf, n};
    return e;
}

seine_err
seine_text_pack(const char *bytes, size_t n, bool zstd, seine_text *out_packed)
{
    sn_pack p;
    sn_str member;

    if ((!bytes && n > 0) || !out_packed)
        return SEINE_E_INVAL;
    sn_pack_init(&p, zstd ? SEINE_PACK_ZSTD : SEINE_PACK_GZIP);
    seine_err e = sn_pack_text(&p, (sn_str){bytes ? bytes : "", n}, &member);
    char *copy = e == SEINE_OK ? sn_alloc(member.len + 1) : NULL;
    if (copy) {
        memcpy(copy, member.ptr, member.len);
        copy[member.len] = '\0';
        *out_packed = (seine_text){copy, member.len};
    }
    sn_pack_fini(&p);
    return e == SEINE_OK && !copy ? SEINE_E_NOMEM : e;
}

/* Notes decompressed text of the current member, whose end is not seen yet. */
static void
note(sn_packed *s, sn_str text, char *last)
{
    size_t room = sizeof s->head - s->n_head;
    size_t n = text.len < room ? text.len : room;

    if (text.len == 0)
        return;
    memcpy(s->head + s->n_head, text.ptr, n);
    s->n_head += n;
    s->torn_lines |=
        (s->torn > 0 && *last == '\n') || memchr(text.ptr, '\n', text.len - 1) != NULL;
    s->torn += text.len;
    *last = text.ptr[text.len - 1];
}

typedef struct scan {
    const sn_outfile *file;
    sn_codec codec;
    sn_codec_kind kind;
    char packed[ROOM], text[ROOM];
    sn_str in;       /* the rest of packed */
    uint64_t at;     /* file offset of the next read */
    char last;       /* last byte of text */
    size_t head_was; /* n_head when the member began */
} scan;

/* Scans one member. *out_whole: it is complete. */
static seine_err
scan_member(scan *s, sn_packed *out, bool *out_whole)
{
    seine_err e = sn_codec_begin(&s->codec, s->kind);

    *out_whole = false;
    while (e == SEINE_OK) {
        uint64_t left = s->file->size - s->at;
        sn_codec_room room = {s->text, sizeof s->text};

        if (s->in.len == 0 && left > 0) {
            size_t n = left < sizeof s->packed ? (size_t)left : sizeof s->packed;

            if (!sn_outfile_read(s->file, s->packed, n, s->at))
                return SEINE_E_IO;
            s->in = (sn_str){s->packed, n};
            s->at += n;
        }
        sn_codec_event event = sn_codec_step(&s->codec, &s->in, &room, false);
        note(out, (sn_str){s->text, sizeof s->text - room.len}, &s->last);
        if (event == SN_CODEC_END) {
            *out_whole = true;
            return SEINE_OK;
        }
        if (event == SN_CODEC_FAIL)
            return s->codec.err;
        if (event == SN_CODEC_MORE && s->in.len == 0 && s->at == s->file->size)
            return SEINE_OK;
    }
    return e;
}

seine_err
sn_pack_scan(const sn_outfile *f, seine_sink_pack kind, sn_packed *out_packed)
{
    scan *s SN_AUTOFREE = sn_zalloc(sizeof *s);
    seine_err e = SEINE_OK;
    bool is_whole = true;

    *out_packed = (sn_packed){.whole = 0};
    if (!s)
        return SEINE_E_NOMEM;
    s->file = f;
    s->kind = codec_of(kind);
    sn_codec_init(&s->codec, &(sn_codec_opts){.way = SN_CODEC_DECODE});
    while (e == SEINE_OK && is_whole && (s->in.len > 0 || s->at < f->size)) {
        s->head_was = out_packed->n_head;
        e = scan_member(s, out_packed, &is_whole);
        if (e != SEINE_OK || !is_whole)
            break;
        out_packed->whole = s->at - s->in.len;
        out_packed->text += out_packed->torn;
        out_packed->last = s->last;
        out_packed->torn = 0;
        out_packed->torn_lines = false;
    }
    if (!is_whole)
        out_packed->n_head = s->head_was;
    sn_codec_fini(&s->codec);
    return e;
}
