/* SPDX-License-Identifier: Apache-2.0 */
#include "store/outtext.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "seine/plumbing.h"

enum {
    HEAD = 512,       /* bytes of column names */
    TAIL = 1 << 20,   /* bytes of a last line that are checked */
    ROOM = 256 << 10, /* size of the buffer … */
    BLOCK = 128 << 10 /* … and how much is written at a time */
};

static seine_err
fail_nomem(seine_diag *diag)
{
    sn_diag_text(diag, "%s", seine_err_text(SEINE_E_NOMEM));
    return SEINE_E_NOMEM;
}

/* The last line lacks its newline: complete JSON gets one, an incomplete line is an error
 * for the user to decide. */
static seine_err
check_tail(sn_out *o, seine_diag *diag)
{
    sn_outtext *t = o->self;
    size_t n = t->file.size < TAIL ? (size_t)t->file.size : TAIL, from = n;
    char *tail SN_AUTOFREE = sn_alloc(n);
    seine_json *json = NULL;

    if (!tail)
        return SEINE_E_NOMEM;
    if (!sn_outfile_read(&t->file, tail, n, t->file.size - n))
        return sn_outfile_fail(o, EIO, diag);
    if (tail[n - 1] == '\n')
        return SEINE_OK;
    while (from > 0 && tail[from - 1] != '\n')
        from--;
    if (o->opts.format == SEINE_SINK_JSONL &&
        seine_json_parse(tail + from, n - from, &json, NULL) == SEINE_OK) {
        seine_json_free(json);
        t->needs_newline = true;
        return SEINE_OK;
    }
    sn_diag_text(diag, "%s ends within a line", o->name);
    return SEINE_E_OUTPUT_CHANGED;
}

/* Appended rows need the same columns as the file. */
static seine_err
check_head(sn_out *o, sn_str there, seine_diag *diag)
{
    sn_outtext *t = o->self;
    char head[HEAD];
    sn_text_writer p = sn_text_writer_on(head, sizeof head);

    t->render(o, &p, NULL, 0);
    size_t n = sn_text_writer_len(&p) - 1 - (o->how & SEINE_CSV_CRLF ? 1 : 0);
    if (n >= sizeof head && there.len == sizeof head &&
        memcmp(head, there.ptr, sizeof head) == 0)
        return SEINE_OK; /* so many columns are the same ones if they begin alike */
    if (n < there.len && memcmp(head, there.ptr, n) == 0 &&
        (there.ptr[n] == '\n' || there.ptr[n] == '\r'))
        return SEINE_OK;
    sn_diag_text(diag, "%s has other columns", o->name);
    return SEINE_E_OUTPUT_CHANGED;
}

static seine_err
check_plain(sn_out *o, seine_diag *diag)
{
    sn_outtext *t = o->self;
    char there[HEAD];
    size_t n = t->file.size < HEAD ? (size_t)t->file.size : HEAD;
    seine_err e = SEINE_OK;

    if (!sn_outfile_read(&t->file, there, n, 0))
        return sn_outfile_fail(o, EIO, diag);
    if (o->opts.format == SEINE_SINK_CSV)
        e = check_head(o, (sn_str){there, n}, diag);
    return e == SEINE_OK ? check_tail(o, diag) : e;
}

/* A member of ours holds one buffer of lines, or one longer line. A torn member that
 * holds more was written by another program, so we do not cut it. */
static bool
is_ours(const sn_packed *there)
{
    return there->torn <= ROOM || !there->torn_lines;
}

static seine_err
check_packed(sn_out *o, seine_diag *diag)
{
    sn_outtext *t = o->self;
    sn_packed there;
    seine_err e = sn_pack_scan(&t->file, o->opts.pack, &there);

    if (e == SEINE_E_IO)
        return sn_outfile_fail(o, EIO, diag);
    if (e == SEINE_E_BAD_ENCODING) {
        sn_diag_text(diag, "%s is damaged at byte %llu", o->name,
                     (unsigned long long)there.whole);
        return SEINE_E_OUTPUT_CHANGED;
    }
    bool is_cut = e == SEINE_OK && !is_ours(&there);
    if (is_cut || (e == SEINE_OK && there.text > 0 && there.last != '\n')) {
        sn_diag_text(diag, is_cut ? "%s is cut off at its end" : "%s ends within a line",
                     o->name);
        return SEINE_E_OUTPUT_CHANGED;
    }
    t->torn = t->file.size - there.whole;
    t->is_empty = there.text == 0;
    if (e == SEINE_OK && !t->is_empty && o->opts.format == SEINE_SINK_CSV)
        e = check_head(o, (sn_str){there.head, there.n_head}, diag);
    return e;
}

seine_err
sn_outtext_open(sn_out *o, seine_diag *diag)
{
    sn_outtext *t = o->self;
    seine_err e = sn_outfile_open(&t->file, o, diag);

    t->is_empty = t->file.size == 0;
    t->is_packed = o->opts.pack == SEINE_PACK_GZIP || o->opts.pack == SEINE_PACK_ZSTD;
    if (t->is_packed)
        sn_pack_init(&t->pack, o->opts.pack);
    if (e != SEINE_OK || t->is_empty)
        return e;
    return t->is_packed ? check_packed(o, diag) : check_plain(o, diag);
}

size_t
sn_outtext_whole(const sn_outtext *t, sn_str bytes, uint64_t *out_lines)
{
    size_t whole = 0, more;

    for (*out_lines = 0; whole < bytes.len; whole += more, ++*out_lines) {
        more = t->row(bytes.ptr + whole, bytes.len - whole);
        if (more == 0)
            break;
    }
    return whole;
}

/* Writes the buffer and empties it; it holds complete lines. */
static seine_err
write_buffer(sn_out *o, seine_diag *diag)
{
    sn_outtext *t = o->self;
    sn_str bytes = {t->buf, t->len};
    uint64_t lines = t->lines;
    size_t done;

    t->len = 0;
    t->lines = 0;
    if (!sn_outfile_write(&t->file, bytes, &done)) {
        int error = errno;
        size_t whole = sn_outtext_whole(t, (sn_str){bytes.ptr, done}, &lines);

        sn_outfile_take_back(&t->file, done - whole);
        o->bytes += whole;
        o->records += lines - (lines > 0 && t->has_head);
        return sn_outfile_fail(o, error, diag);
    }
    o->bytes += bytes.len;
    o->records += lines - t->has_head;
    t->has_head = false;
    return SEINE_OK;
}

/* Writes the buffer as one compressed member, completely or not at all. */
static seine_err
write_packed(sn_out *o, seine_diag *diag)
{
    sn_outtext *t = o->self;
    uint64_t lines = t->lines;
    size_t done;
    sn_str member;
    seine_err e = sn_pack_text(&t->pack, (sn_str){t->buf, t->len}, &member);

    t->len = 0;
    t->lines = 0;
    if (e != SEINE_OK)
        return fail_nomem(diag);
    if (!sn_outfile_write(&t->file, member, &done)) {
        int error = errno;

        sn_outfile_take_back(&t->file, done);
        return sn_outfile_fail(o, error, diag);
    }
    o->bytes += member.len;
    o->records += lines - t->has_head;
    t->has_head = false;
    return SEINE_OK;
}

seine_err
sn_outtext_flush(sn_out *o, bool all, seine_diag *diag)
{
    sn_outtext *t = o->self;

    if (t->len == 0 || (t->is_packed && !all))
        return SEINE_OK;

    seine_err e = t->is_packed ? write_packed(o, diag) : write_buffer(o, diag);
    if (t->room > ROOM) { /* a long line was in it */
        char *small = sn_realloc(t->buf, ROOM);

        t->buf = small ? small : t->buf;
        t->room = small ? ROOM : t->room;
    }
    return e;
}

/* Makes room for `n` more bytes. */
static seine_err
grow_buffer(sn_outtext *t, size_t n, seine_diag *diag)
{
    size_t room = n > ROOM ? n : ROOM;
    char *buf = sn_realloc(t->buf, room);

    if (!buf)
        return fail_nomem(diag);
    t->buf = buf;
    t->room = room;
    return SEINE_OK;
}

static size_t
render(const sn_out *o, const seine_record *r, uint64_t seq)
{
    const sn_outtext *t = o->self;
    sn_text_writer p = sn_text_writer_on(t->buf + t->len, t->room - t->len);

    t->render(o, &p, r, seq);
    return sn_text_writer_len(&p);
}

/* A line that does not fit is rendered again into the empty buffer. */
static seine_err
add_record(sn_out *o, const seine_record *r, uint64_t seq, seine_diag *diag)
{
    sn_outtext *t = o->self;
    seine_err e = SEINE_OK;
    bool is_long = r && r->body.len >= t->room && o->opts.body != SEINE_BODY_NONE &&
                   o->opts.body != SEINE_BODY_FILE;
    size_t n = is_long ? SIZE_MAX : render(o, r, seq);

    if (n > t->room - t->len) {
        if (t->len > 0)
            e = sn_outtext_flush(o, true, diag);
        if (e == SEINE_OK && n > t->room)
            return sn_outtext_stream(o, r, seq, diag);
        n = render(o, r, seq);
    }
    if (e != SEINE_OK)
        return e;
    t->len += n;
    t->lines++;
    return t->len >= (t->is_packed ? ROOM : BLOCK) ? sn_outtext_flush(o, true, diag)
                                                   : SEINE_OK;
}

seine_err
sn_outtext_record(sn_out *o, seine_record *r, uint64_t seq, seine_diag *diag)
{
    return add_record(o, r, seq, diag);
}

seine_err
sn_outtext_head(sn_out *o, seine_diag *diag)
{
    sn_outtext *t = o->self;

    if (!t->is_empty)
        return SEINE_OK;
    t->has_head = true;
    return add_record(o, NULL, 0, diag);
}

seine_err
sn_outtext_line(sn_out *o, const sn_said *said, seine_diag *diag)
{
    sn_outtext *t = o->self;
    sn_str line = said->text;
    seine_err e = SEINE_OK;

    if (line.len > t->room - t->len)
        e = sn_outtext_flush(o, true, diag);
    if (e == SEINE_OK && line.len > t->room - t->len)
        e = grow_buffer(t, line.len, diag);
    if (e != SEINE_OK)
        return e;
    memcpy(t->buf + t->len, line.ptr, line.len);
    t->len += line.len;
    t->lines++;
    return SEINE_OK;
}

seine_err
sn_outtext_start(sn_out *o, seine_diag *diag)
{
    sn_outtext *t = o->self;
    seine_err e = sn_outfile_start(&t->file, o, diag);
    size_t done;

    if (e == SEINE_OK)
        e = grow_buffer(t, ROOM, diag);
    if (e == SEINE_OK && t->torn > 0)
        sn_outfile_take_back(&t->file, (size_t)t->torn);
    if (e == SEINE_OK && t->needs_newline &&
        !sn_outfile_write(&t->file, SN_STR("\n"), &done))
        return sn_outfile_fail(o, errno, diag);
    return e;
}

bool
sn_outtext_length(sn_out *o, sn_out_length *out)
{
    const sn_outtext *t = o->self;

    return sn_outfile_length(&t->file, out);
}

seine_err
sn_outtext_close(sn_out *o, seine_diag *diag)
{
    sn_outtext *t = o->self;
    seine_err e = sn_outfile_close(&t->file, o, diag);

    sn_pack_fini(&t->pack);
    sn_free(t->buf);
    return e;
}
