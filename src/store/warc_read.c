/* SPDX-License-Identifier: Apache-2.0 */
#include "store/warc_read.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/opts.h"

seine_err
seine_warc_new(const seine_warc_opts *opts, seine_warc **out_warc)
{
    if (!out_warc)
        return SEINE_E_INVAL;
    if (opts && !sn_opts_fit(opts, sizeof *opts))
        return SEINE_E_INVAL;
    seine_warc *w = sn_zalloc(sizeof *w);

    if (!w)
        return SEINE_E_NOMEM;
    if (opts)
        w->opts = *opts;
    sn_buf_init(&w->head, SN_WARC_HEAD);
    sn_codec_init(&w->codec, &(sn_codec_opts){.way = SN_CODEC_DECODE});
    w->out = sn_alloc(SN_WARC_UNPACKED);
    w->fields = sn_calloc(SN_WARC_FIELDS, sizeof *w->fields);
    if (!w->out || !w->fields) {
        seine_warc_free(w);
        return SEINE_E_NOMEM;
    }
    *out_warc = w;
    return SEINE_OK;
}

void
seine_warc_free(seine_warc *w)
{
    if (!w)
        return;
    sn_buf_fini(&w->head);
    sn_codec_fini(&w->codec);
    sn_warc_check_fini(w);
    sn_free(w->out);
    sn_free(w->fields);
    sn_free(w);
}

const seine_warc_entry *
seine_warc_at(const seine_warc *w)
{
    return w ? &w->entry : NULL;
}

uint64_t
seine_warc_sound(const seine_warc *w)
{
    if (!w)
        return 0;
    return w->sound;
}

const char *
seine_warc_why(const seine_warc *w, uint64_t *out_offset)
{
    if (!w || !out_offset)
        return NULL;
    *out_offset = w->why.offset;
    return w->why.text;
}

const char *
sn_warc_stream(const seine_warc *w)
{
    return w->kind == SN_WARC_MEMBERS ? "gzip member" : "zstd frame";
}

sn_str
sn_warc_get(const seine_warc *w, const char *name)
{
    for (uint32_t i = 0; i < w->n_fields; i++)
        if (sn_str_eq_nocase(w->fields[i].name, sn_str_of(name)))
            return w->fields[i].value;
    return (sn_str){0};
}

seine_view
seine_warc_field(const seine_warc *w, const char *name)
{
    if (!w || !name)
        return (seine_view){0};
    return sn_warc_get(w, name);
}

__attribute__((format(printf, 3, 0))) static void
say(sn_warc_flaw *f, uint64_t offset, const char *fmt, va_list args)
{
    f->offset = offset;
    vsnprintf(f->text, sizeof f->text, fmt, args);
}

void
sn_warc_flaw_add(seine_warc *w, const char *fmt, ...)
{
    va_list args;

    if (!w->opts.check || w->n_flaws == SN_WARC_FLAWS)
        return;
    va_start(args, fmt);
    say(&w->flaws[w->n_flaws++], w->entry.offset, fmt, args);
    va_end(args);
}

void
sn_warc_fail(seine_warc *w, const char *fmt, ...)
{
    va_list args;
    bool between = w->state == SN_WARC_BETWEEN || w->state == SN_WARC_ENDED;

    if (w->failed)
        return;
    w->failed = true;
    va_start(args, fmt);
    say(&w->damage,
        between && w->kind > SN_WARC_AS_IT_IS ? w->member_at : w->entry.offset, fmt,
        args);
    va_end(args);
}

/* The head. */

static bool
is_token(sn_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] <= ' ' || s.ptr[i] >= 0x7f ||
            strchr("()<>@,;:\\\"/[]?={}", s.ptr[i]))
            return false;
    return s.len > 0;
}

static sn_str
chomp(sn_str line)
{
    if (line.len > 0 && line.ptr[line.len - 1] == '\r')
        line.len--;
    return line;
}

/* A line that begins with a blank continues the one before: it is joined in place, the
 * line end becomes blanks. Looks at this line alone, so that many of them are linear. */
static bool
unfold(seine_warc *w, sn_str line)
{
    if (w->n_fields == 0)
        return false;
    sn_str *value = &w->fields[w->n_fields - 1].value;
    char *at = w->head.ptr + (line.ptr - w->head.ptr), *end = at + line.len;
    const char *least = value->ptr + value->len;

    while (at > least && (at[-1] == '\r' || at[-1] == '\n' || at[-1] == '\t'))
        *--at = ' ';
    for (; at < end; at++)
        if (*at == '\r' || *at == '\t')
            *at = ' ';
    line = sn_str_trim(line);
    if (line.len > 0 && value->len > 0)
        value->len = (size_t)(line.ptr + line.len - value->ptr);
    else if (line.len > 0)
        *value = line;
    return true;
}

static bool
read_field(seine_warc *w, sn_str line)
{
    sn_str name, value;

    if (line.ptr[0] == ' ' || line.ptr[0] == '\t')
        return unfold(w, line);
    if (w->n_fields == SN_WARC_FIELDS) {
        sn_warc_fail(w, "more than %d fields", SN_WARC_FIELDS);
        return false;
    }
    if (!sn_str_cut(line, ':', &name, &value) || !is_token(name))
        return false;
    value = sn_str_trim(value);
    if (value.len == 0) /* a continuation line needs its position */
        value = (sn_str){line.ptr + line.len, 0};
    w->fields[w->n_fields++] = (seine_field){name, value};
    return true;
}

static bool
read_version(seine_warc *w, sn_str line)
{
    if (sn_str_eq(line, SN_STR("WARC/1.0")) || sn_str_eq(line, SN_STR("WARC/1.1"))) {
        w->entry.version = line.ptr[7] == '1' ? 11 : 10;
        return true;
    }
    sn_warc_fail(w, "not WARC/1.0 or WARC/1.1");
    return false;
}

static bool
read_length(seine_warc *w)
{
    sn_str value = sn_warc_get(w, "Content-Length");

    if (!value.ptr)
        sn_warc_fail(w, "no Content-Length");
    else if (sn_str_u64(value, &w->entry.block) != SEINE_OK)
        sn_warc_fail(w, "its Content-Length is no number");
    for (uint32_t i = 0; i < w->n_fields && !w->failed; i++)
        if (sn_str_eq_nocase(w->fields[i].name, SN_STR("Content-Length")) &&
            !sn_str_eq(w->fields[i].value, value))
            sn_warc_fail(w, "two different Content-Length");
    w->left = w->entry.block;
    return !w->failed;
}

static void
begin_block(seine_warc *w)
{
    sn_str media = sn_warc_get(w, "Content-Type");

    w->state = SN_WARC_IN_BLOCK;
    w->is_http = sn_str_starts_nocase(media, SN_STR("application/http"));
    sn_warc_http_begin(&w->http, false);
    w->entry.type = sn_warc_get(w, "WARC-Type");
    w->entry.id = sn_warc_get(w, "WARC-Record-ID");
    w->entry.date = sn_warc_get(w, "WARC-Date");
    w->entry.media = media;
    sn_str target = sn_warc_get(w, "WARC-Target-URI");
    if (target.len > 2 && target.ptr[0] == '<' && target.ptr[target.len - 1] == '>')
        target = sn_str_slice(target, 1, target.len - 1); /* <URL> of WARC/1.0 */
    w->entry.target = target;
    if (w->opts.check && sn_warc_check_head(w) != SEINE_OK)
        sn_warc_fail(w, "%s", seine_err_text(SEINE_E_NOMEM));
}

/* Reads the complete head. */
static void
read_head(seine_warc *w)
{
    sn_str rest = sn_buf_view(&w->head), line;
    bool is_first = true, is_bare = false;

    while (!w->failed && sn_str_next(&rest, '\n', &line)) {
        is_bare = is_bare || line.len == 0 || line.ptr[line.len - 1] != '\r';
        line = chomp(line);
        if (line.len == 0)
            break;
        if (is_first ? !read_version(w, line) : !read_field(w, line))
            sn_warc_fail(w, "a line of its head is no field");
        is_first = false;
    }
    if (w->failed || !read_length(w))
        return;
    if (is_bare)
        sn_warc_flaw_add(w, "lines of its head end without CR");
    if (w->is_spread)
        sn_warc_flaw_add(w, "it does not begin a %s of its own", sn_warc_stream(w));
    begin_block(w);
}

/* Takes bytes up to the blank line; true if it is there. */
static bool
take_head(seine_warc *w)
{
    static const char mark[] = "WARC/";

    while (w->ready.len > 0 && !w->failed) {
        const char *newline = memchr(w->ready.ptr, '\n', w->ready.len);
        size_t n = newline ? (size_t)(newline - w->ready.ptr) + 1 : w->ready.len;

        sn_buf_add(&w->head, w->ready.ptr, n);
        w->ready = (sn_str){w->ready.ptr + n, w->ready.len - n};
        size_t seen = w->head.len < 5 ? w->head.len : 5;
        if (sn_buf_done(&w->head) == SEINE_E_NOMEM)
            sn_warc_fail(w, "%s", seine_err_text(SEINE_E_NOMEM));
        else if (sn_buf_done(&w->head) != SEINE_OK)
            sn_warc_fail(w, "its head is longer than %d KiB", SN_WARC_HEAD >> 10);
        else if (memcmp(w->head.ptr, mark, seen) != 0)
            sn_warc_fail(w, "no WARC record begins here");
        if (!newline || w->failed)
            continue;
        sn_str line = {w->head.ptr + w->scanned, w->head.len - w->scanned - 1};
        w->scanned = w->head.len;
        if (chomp(line).len == 0)
            return true;
    }
    return false;
}

/* Starts the next record with the bytes that are ready; nothing may stand between
 * records. */
static void
begin_record(seine_warc *w)
{
    bool is_packed = w->kind > SN_WARC_AS_IT_IS;
    size_t blank = 0;

    w->entry =
        (seine_warc_entry){.offset = is_packed ? w->member_at : w->at - w->ready.len};
    w->is_spread = is_packed && !w->at_start;
    while (blank < w->ready.len &&
           (w->ready.ptr[blank] == '\r' || w->ready.ptr[blank] == '\n'))
        blank++;
    if (blank > 0) {
        if (!w->is_blank)
            sn_warc_flaw_add(w, "blank lines before a record");
        w->is_blank = true;
        w->ready = (sn_str){w->ready.ptr + blank, w->ready.len - blank};
        return;
    }
    w->at_start = w->is_blank = false;
    sn_buf_reset(&w->head);
    w->scanned = 0;
    w->n_fields = 0;
    w->state = SN_WARC_IN_HEAD;
}

/* The block and what follows it. */

static void
look_into(seine_warc *w, sn_str piece)
{
    if (w->opts.check)
        sn_warc_check_piece(w, piece);
    else if (w->is_http && !w->http.has_head)
        for (sn_str in = piece, part;
             in.len > 0 && sn_warc_http_next(&w->http, &in, &part);)
            continue;
}

static sn_str
take_block(seine_warc *w)
{
    size_t n = w->left < w->ready.len ? (size_t)w->left : w->ready.len;
    sn_str piece = {w->ready.ptr, n};

    w->ready = (sn_str){w->ready.ptr + n, w->ready.len - n};
    w->left -= n;
    look_into(w, piece);
    return piece;
}

static void
take_tail(seine_warc *w)
{
    static const char end[] = "\r\n\r\n";

    for (; w->tail < 4 && w->ready.len > 0 && !w->failed; w->tail++) {
        if (*w->ready.ptr != end[w->tail])
            sn_warc_fail(w, "it does not end where its Content-Length says");
        w->ready = (sn_str){w->ready.ptr + 1, w->ready.len - 1};
    }
    if (w->tail == 4)
        w->state = SN_WARC_IN_REST;
}

static void
tell_media(seine_warc *w)
{
    seine_warc_entry *e = &w->entry;
    sn_str type, rest;

    if (w->is_http && !w->http.is_request) {
        e->status = w->http.has_head ? w->http.status : 0;
        memcpy(e->media_type, w->http.type, sizeof e->media_type);
        return;
    }
    sn_str_cut(e->media, ';', &type, &rest);
    type = sn_str_trim(type);
    if (type.len < sizeof e->media_type)
        memcpy(e->media_type, type.ptr ? type.ptr : "", type.len);
}

/* Ends the record, and its gzip member or zstd frame. */
static void
end_record(seine_warc *w)
{
    bool is_packed = w->kind > SN_WARC_AS_IT_IS;
    uint64_t at = w->at - (is_packed ? 0 : w->ready.len);

    w->entry.length = at - w->entry.offset;
    tell_media(w);
    if (w->opts.check && sn_warc_check_end(w) != SEINE_OK) {
        sn_warc_fail(w, "%s", seine_err_text(SEINE_E_NOMEM));
        return;
    }
    if (!is_packed || !w->in_member)
        w->sound = at;
    w->state = SN_WARC_ENDED;
}

/* Ends the file; a record may be incomplete. */
static void
end_file(seine_warc *w)
{
    unsigned long long got = w->entry.block - w->left, all = w->entry.block;

    w->is_cut = w->state != SN_WARC_BETWEEN || w->in_member;
    switch (w->state) {
    case SN_WARC_BETWEEN:
        if (!w->in_member)
            break;
        /* fall through */
    case SN_WARC_IN_REST:
        sn_warc_fail(w, "cut off: the end of its %s is missing", sn_warc_stream(w));
        return;
    case SN_WARC_IN_BLOCK:
        sn_warc_fail(w, "cut off: %llu of the %llu bytes of its block are there", got,
                     all);
        return;
    case SN_WARC_IN_TAIL:
        sn_warc_fail(w, "cut off: its last line ends are missing");
        return;
    default:
        sn_warc_fail(w, "cut off: the end of its head is missing");
        return;
    }
    if (w->opts.check)
        sn_warc_check_refs(w);
}

static bool
tell_flaw(seine_warc *w)
{
    if (w->told == w->n_flaws) {
        w->told = w->n_flaws = 0;
        return false;
    }
    w->why = w->flaws[w->told++];
    return true;
}

/* Does one step with the bytes that are ready. True: `out_event` is set. */
static bool
advance(seine_warc *w, seine_warc_event *out_event, seine_view *out_piece)
{
    switch (w->state) {
    case SN_WARC_BETWEEN:
        begin_record(w);
        return false;
    case SN_WARC_IN_HEAD:
        if (!take_head(w))
            return false;
        read_head(w);
        *out_event = SEINE_WARC_RECORD;
        return !w->failed;
    case SN_WARC_IN_BLOCK:
        if (w->left > 0) {
            sn_str piece = take_block(w);

            *out_piece = piece;
            *out_event = SEINE_WARC_BLOCK;
            return true;
        }
        w->state = SN_WARC_IN_TAIL;
        w->tail = 0;
        return false;
    default:
        take_tail(w);
        return false;
    }
}

static seine_warc_event
finish_file(seine_warc *w, bool is_last)
{
    if (!is_last)
        return SEINE_WARC_MORE;
    end_file(w);
    w->is_over = !w->failed;
    w->why = w->damage;
    return tell_flaw(w) ? SEINE_WARC_FLAW : w->failed ? SEINE_WARC_FAIL : SEINE_WARC_DONE;
}

/* True: `out_event` is set. */
static bool
step_reader(seine_warc *w, sn_str *in, bool is_last, seine_warc_event *out_event,
            seine_view *out_piece)
{
    if (w->failed || w->is_over || w->told < w->n_flaws) {
        *out_event = tell_flaw(w) ? SEINE_WARC_FLAW
                     : w->failed  ? SEINE_WARC_FAIL
                                  : SEINE_WARC_DONE;
        if (*out_event == SEINE_WARC_FAIL)
            w->why = w->damage;
        return true;
    }
    if (w->state == SN_WARC_ENDED) {
        w->state = SN_WARC_BETWEEN;
        *out_event = SEINE_WARC_END;
        return true;
    }
    w->told = w->n_flaws = 0;
    if (w->state == SN_WARC_IN_REST && sn_warc_unpack_rest(w, in))
        end_record(w);
    else if (w->state != SN_WARC_IN_REST &&
             (w->ready.len > 0 || (w->state == SN_WARC_IN_BLOCK && w->left == 0)))
        return advance(w, out_event, out_piece);
    else if (!w->failed && (w->state == SN_WARC_IN_REST || !sn_warc_unpack(w, in)) &&
             !w->failed) {
        *out_event = finish_file(w, is_last);
        return true;
    }
    return false;
}

seine_warc_event
seine_warc_next(seine_warc *w, seine_view *in, bool is_last, seine_view *out_piece)
{
    if (!w || !in || !out_piece)
        return SEINE_WARC_FAIL;
    sn_str bytes = *in;
    seine_warc_event event = SEINE_WARC_FAIL;

    while (!step_reader(w, &bytes, is_last, &event, out_piece))
        continue;
    *in = bytes;
    return event;
}
