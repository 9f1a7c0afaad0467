/* SPDX-License-Identifier: Apache-2.0 */
#include "store/convert.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/base64.h"
#include "base/opts.h"
#include "seine/format.h"
#include "store/csv.h"
#include "store/outtext.h"

static bool
is_stream(const char *path)
{
    return !path || strcmp(path, "-") == 0;
}

/* One byte suffices to recognise JSON lines, which may arrive slowly. */
static seine_err
by_bytes(sn_convert *c, seine_sink_format *out)
{
    sn_str first;
    seine_err e = sn_source_peek(&c->source, 1, &first, c->diag);

    *out = SEINE_SINK_CSV;
    if (e == SEINE_OK && first.len > 0 && (*first.ptr == 'S' || *first.ptr == 'W'))
        e = sn_source_peek(&c->source, 5, &first, c->diag);
    if (e != SEINE_OK)
        return e;
    if (sn_str_starts(first, SN_STR("SQLit")))
        *out = SEINE_SINK_SQLITE;
    else if (sn_str_starts(first, SN_STR("WARC/"))) {
        *out = SEINE_SINK_WARC;
        (void)sn_source_rewind(&c->source); /* offsets are those of the compressed file */
    } else if (sn_str_starts(sn_str_trim(first), SN_STR("{")))
        *out = SEINE_SINK_JSONL;
    return SEINE_OK;
}

void
sn_convert_lost(sn_convert *c, sn_str name)
{
    sn_lost *lost = &c->lost;
    size_t n = name.len < SN_LOST_NAME - 1 ? name.len : SN_LOST_NAME - 1;

    while (n < name.len && n > 0 && (name.ptr[n] & 0xc0) == 0x80) /* whole characters */
        n--;
    for (size_t i = 0; i < lost->n; i++)
        if (strlen(lost->names[i].name) == n &&
            memcmp(lost->names[i].name, name.ptr, n) == 0) {
            lost->names[i].times++;
            return;
        }
    if (lost->n == SN_LOST_NAMES) {
        lost->others++;
        return;
    }
    memcpy(lost->names[lost->n].name, name.ptr, n);
    lost->names[lost->n].name[n] = '\0';
    lost->names[lost->n++].times = 1;
}

/* The first try mostly has enough room. */
void
sn_convert_quote(sn_buf *to, sn_str text)
{
    size_t room = text.len + 2, n = 0;

    do {
        room = n > room ? n : room;
        char *at = sn_buf_reserve(to, room);
        if (!at)
            return;
        sn_text_writer p = sn_text_writer_on(at, room);
        sn_text_writer_quoted(&p, text);
        n = sn_text_writer_len(&p);
    } while (n > room);
    sn_buf_commit(to, n);
}

void
sn_convert_base64(sn_buf *to, sn_str bytes)
{
    size_t room = SN_BASE64_ROOM(bytes.len) + 2;
    char *at = sn_buf_reserve(to, room);

    if (!at)
        return;
    sn_text_writer p = sn_text_writer_on(at, room);
    SN_WRITE(&p, "\"");
    sn_text_writer_base64(&p, bytes);
    SN_WRITE(&p, "\"");
    sn_buf_commit(to, sn_text_writer_len(&p));
}

static void
note(const sn_convert *c, const char *line, const char *member)
{
    if (c->opts->note)
        c->opts->note(line, member, c->opts->arg);
}

/* Reports everything that was lost, in one line. */
static void
tell_lost(sn_convert *c)
{
    const sn_lost *lost = &c->lost;
    sn_buf b;

    sn_buf_init(&b, 1 << 14);
    if (c->bodies_left > 0) {
        sn_buf_printf(&b, "%llu bodies were left out",
                      (unsigned long long)c->bodies_left);
        note(c, b.ptr ? b.ptr : "bodies were left out", "body");
        sn_buf_reset(&b);
    }
    if (lost->n == 0) {
        sn_buf_fini(&b);
        return;
    }
    sn_buf_printf(&b, "no place in %s for",
                  c->to == SEINE_SINK_CSV      ? "CSV"
                  : c->to == SEINE_SINK_SQLITE ? "SQLite"
                                               : "JSON lines");
    for (size_t i = 0; i < lost->n; i++)
        sn_buf_printf(&b, "%s %s (%llu)", i > 0 ? "," : "", lost->names[i].name,
                      (unsigned long long)lost->names[i].times);
    if (lost->others > 0)
        sn_buf_printf(&b, ", and others (%llu)", (unsigned long long)lost->others);
    note(c, b.ptr ? b.ptr : "something was lost", NULL);
    sn_buf_fini(&b);
}

/* Writes "pages.jsonl:7:3: what is wrong". */
static void
say_place(const sn_convert *c, const char *what, seine_diag *diag)
{
    sn_diag_text(diag, "%s", what);
    sn_diag_place(diag, c->source.name, c->line, c->line > 0 ? c->column : 0);
}

seine_err
sn_convert_bad(sn_convert *c, const char *what)
{
    seine_diag left_out;
    char line[SEINE_DIAG_ROOM];

    c->stats.bad++;
    if (!c->opts->skip_bad || c->is_strict) {
        say_place(c, what, c->diag);
        return SEINE_E_PARSE;
    }
    say_place(c, what, &left_out);
    seine_diag_print(&left_out, NULL, line, sizeof line);
    note(c, line, NULL);
    return SEINE_OK;
}

static seine_err
fail_nomem(sn_convert *c)
{
    sn_diag_text(c->diag, "%s", seine_err_text(SEINE_E_NOMEM));
    return SEINE_E_NOMEM;
}

static seine_err
open_out(sn_convert *c, seine_sink_format format)
{
    const seine_convert_opts *o = c->opts;
    seine_sink_opts sink = {
        .size = sizeof(seine_sink_opts),
        .format = format,
        .path = is_stream(o->out) ? "-" : o->out,
        .append = o->append,
        .overwrite = o->overwrite,
        .csv_raw = o->csv_raw,
        .csv_crlf = o->csv_crlf,
        .repeats = true,
        .body = c->to == SEINE_SINK_SQLITE ? SEINE_BODY_B64 : SEINE_BODY_NONE,
        .command = "convert",
    };
    struct stat st;

    uint64_t extras = sn_record_extras(&c->rr.record);
    if (extras) /* later records may have what the first one has */
        sink.fields.bits = SN_MEMBERS_STANDARD | extras;
    seine_err e = sn_out_open(&c->out, &sink, NULL, c->diag);
    c->is_open = e == SEINE_OK;
    if (!c->is_open || c->out.ino == 0 || fstat(c->source.fd, &st) != 0 ||
        st.st_ino != c->out.ino || st.st_dev != c->out.dev)
        return e;
    sn_diag_text(c->diag, "%s is the input itself", c->out.name);
    return SEINE_E_INVAL;
}

/* The output was never started, so nothing of it stays. */
static seine_err
reopen(sn_convert *c, seine_sink_format format)
{
    sn_out_drop(&c->out);
    c->is_open = false;
    return open_out(c, format);
}

/* Rows of unknown columns are lines; a cell may hold line breaks. */
static seine_err
begin_rows(sn_convert *c)
{
    if (c->opts->append && c->out.ops == &sn_out_csv) {
        sn_diag_text(c->diag, "%s: only records are appended to CSV: try another name",
                     c->out.name);
        return SEINE_E_INVAL;
    }
    seine_err e = reopen(c, SEINE_SINK_JSONL);
    if (e == SEINE_OK)
        ((sn_outtext *)c->out.self)->row = sn_csv_row;
    return e;
}

/* Starts the output when the first line has shown the shape. */
static seine_err
begin_output(sn_convert *c, sn_shape shape)
{
    seine_err e = SEINE_OK;

    c->shape = shape;
    if (c->to == SEINE_SINK_SQLITE && shape == SN_SHAPE_OBJECTS) {
        (void)sn_diag_option(c->diag, "in",
                             "no records of seine, and SQLite holds nothing else");
        sn_diag_place(c->diag, c->source.name, 0, 0);
        return SEINE_E_INVAL;
    }
    if (c->to == SEINE_SINK_CSV && shape >= SN_SHAPE_LINKS)
        e = begin_rows(c);
    else if (c->to == SEINE_SINK_CSV && sn_record_extras(&c->rr.record))
        e = reopen(c, SEINE_SINK_CSV);
    c->last_seq = c->out.last_seq;
    return e == SEINE_OK ? sn_out_start(&c->out, c->diag) : e;
}

seine_err
sn_convert_put(sn_convert *c, const sn_buf *text, sn_str type, uint64_t seq)
{
    sn_said said = {type, seq, sn_buf_view(text)};

    if (sn_buf_done(text) != SEINE_OK)
        return text->err == SEINE_E_NOMEM ? fail_nomem(c)
                                          : sn_convert_bad(c, "larger than 64 MiB");
    c->stats.records++;
    return sn_out_line(&c->out, &said, c->diag);
}

/* Makes the line JSON on one line without control characters. Most lines are so already,
 * and fit. False: a bad line, or no memory. */
static bool
make_inert(sn_convert *c, sn_str line)
{
    size_t room = line.len + 1;

    for (;;) {
        sn_buf_reset(&c->text);
        char *to = sn_buf_reserve(&c->text, room);
        if (!to)
            return false;
        sn_text_writer p = sn_text_writer_on(to, room);
        if (!sn_text_writer_object(&p, line))
            return false;
        SN_WRITE(&p, "\n");
        if (p.lost == 0) {
            sn_buf_commit(&c->text, sn_text_writer_len(&p));
            return true;
        }
        room = sn_text_writer_len(&p);
    }
}

static seine_err
fail_inert(sn_convert *c)
{
    if (c->text.err == SEINE_E_NOMEM)
        return fail_nomem(c);
    return sn_convert_bad(c, c->text.err ? "larger than 64 MiB" : "nested too deep");
}

static seine_err
put_json(sn_convert *c, sn_str line)
{
    if (!make_inert(c, line))
        return fail_inert(c);
    return sn_convert_put(c, &c->text, c->rr.type, c->rr.seq);
}

/* True for columns that exist only on request. */
static bool
has_column(const sn_convert *c, sn_str name)
{
    static const struct {
        const char *name;
        uint64_t bit;
    } extras[] = {{"lang", SN_MEMBER(LANG)},
                  {"canonical", SN_MEMBER(CANONICAL)},
                  {"meta_robots", SN_MEMBER(META_ROBOTS)},
                  {"links", SN_MEMBER(LINKS)},
                  {"sha256", SN_MEMBER(SHA256)},
                  {"change", SN_MEMBER(CHANGE)}};

    for (size_t i = 0; i < sizeof extras / sizeof *extras; i++)
        if (sn_str_eq(name, sn_str_of(extras[i].name)))
            return c->out.members & extras[i].bit;
    return false;
}

/* Checks each member of a record: it has a column, or repeats what others say. */
static bool
each_member(const char *name, const seine_json *value, void *arg)
{
    static const char *const columns[] = {"v",
                                          "type",
                                          "seq",
                                          "ts",
                                          "input",
                                          "url",
                                          "final_url",
                                          "outcome",
                                          "ok",
                                          "status",
                                          "attempts",
                                          "content_type",
                                          "content_length",
                                          "bytes_body",
                                          "title",
                                          "reason",
                                          "rule"};
    sn_convert *c = arg;
    sn_str word = sn_str_of(name);

    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        if (strcmp(name, columns[i]) == 0 &&
            !(c->to == SEINE_SINK_SQLITE && strcmp(name, "input") == 0))
            return true; /* the table of skips has no column for it */
    if (c->to == SEINE_SINK_SQLITE ? strcmp(name, "parent") == 0 : has_column(c, word))
        return true;
    if (strcmp(name, "time") == 0) {
        if (seine_json_size(value) == 1 && seine_json_get(value, "total"))
            return true;
        word = SN_STR("time but its total");
    }
    if (strcmp(name, "error") == 0) {
        size_t known = seine_json_get(value, "kind") != NULL;

        known += seine_json_get(value, "message") != NULL;
        if (seine_json_size(value) == known)
            return true;
        word = SN_STR("error but kind and message");
    }
    sn_convert_lost(c, word);
    return true;
}

/* The number of the next row: that of the line, or the next if those do not rise. False:
 * an earlier line has taken the last one. */
static bool
take_number(sn_convert *c)
{
    if (c->rr.seq <= c->last_seq && c->last_seq >= INT64_MAX)
        return false;
    c->last_seq = c->rr.seq > c->last_seq ? c->rr.seq : c->last_seq + 1;
    return true;
}

/* A row keeps the JSON line it came from, without the body, which has a column. Rows get
 * new numbers if those of the lines do not rise. */
static seine_err
put_sqlite(sn_convert *c, sn_str line)
{
    seine_record *r = &c->rr.record;
    bool text = c->rr.form == SEINE_BODY_TEXT;

    if (r->type == SEINE_RECORD_SKIP)
        seine_json_each(c->rr.json, each_member, c);
    if (!make_inert(c, line))
        return fail_inert(c);
    sn_str json = sn_str_slice(sn_buf_view(&c->text), 0, c->text.len - 1);
    if (text || c->rr.form == SEINE_BODY_B64) {
        sn_buf_reset(&c->cut);
        sn_line_without(&c->cut, json, text ? SN_STR("body") : SN_STR("body_b64"));
        if (c->cut.err != SEINE_OK)
            return fail_nomem(c);
        json = sn_buf_view(&c->cut);
    }
    r->json = json;
    if (!take_number(c))
        return sn_convert_bad(c, "\"seq\" leaves no numbers for what follows");
    c->stats.records++;
    return sn_out_record(&c->out, r, c->last_seq, c->diag);
}

static seine_err
put_record(sn_convert *c, sn_str line)
{
    if (c->to == SEINE_SINK_SQLITE)
        return put_sqlite(c, line);
    if (c->to != SEINE_SINK_CSV)
        return put_json(c, line);
    seine_json_each(c->rr.json, each_member, c);
    c->stats.records++;
    return sn_out_record(&c->out, &c->rr.record, c->rr.seq, c->diag);
}

/* A link of `seine check`, as a row. */
static seine_err
put_link(sn_convert *c, sn_str line)
{
    if (!make_inert(c, line))
        return fail_inert(c);
    if (!take_number(c))
        return sn_convert_bad(c, "\"seq\" leaves no numbers for what follows");
    return sn_convert_put(c, &c->text, c->rr.type, c->last_seq);
}

/* A link, a summary or an event: JSON lines take any, SQLite takes links and one
 * summary. */
static seine_err
put_other(sn_convert *c, sn_str line)
{
    char name[SN_LOST_NAME];
    bool summary = sn_str_eq(c->rr.type, SN_STR("summary"));

    if (c->to == SEINE_SINK_SQLITE && sn_str_eq(c->rr.type, SN_STR("link")))
        return put_link(c, line);
    if (c->to == SEINE_SINK_JSONL ||
        (c->to == SEINE_SINK_SQLITE && summary && c->summaries++ == 0))
        return put_json(c, line);
    snprintf(name, sizeof name, "the record %.*s", SN_FMT(c->rr.type));
    sn_convert_lost(c, sn_str_of(name));
    return SEINE_OK;
}

static seine_err
put_object(sn_convert *c, sn_str line)
{
    return c->to == SEINE_SINK_CSV ? sn_convert_row(c, c->rr.json) : put_json(c, line);
}

static bool
is_link(const sn_convert *c)
{
    return c->rr.kind == SN_READ_OTHER && sn_str_eq(c->rr.type, SN_STR("link"));
}

/* The shape that the first line gives the output. */
static sn_shape
shape_of(const sn_convert *c)
{
    if (c->rr.kind == SN_READ_FOREIGN)
        return SN_SHAPE_OBJECTS;
    return c->to == SEINE_SINK_CSV && is_link(c) ? SN_SHAPE_LINKS : SN_SHAPE_RECORDS;
}

/* A line among links: others are lost, if they are seine's. */
static seine_err
put_among_links(sn_convert *c, sn_str line)
{
    if (is_link(c))
        return sn_convert_link(c, c->rr.json);
    return c->rr.kind == SN_READ_OTHER ? put_other(c, line)
                                       : sn_convert_bad(c, "no link, among links");
}

/* Gives the line to the caller of a reading. CANCELED: the caller has enough. */
static seine_err
give_line(sn_convert *c, sn_str line)
{
    seine_diag diag = SEINE_DIAG;

    if (c->on_line) {
        c->is_enough = !c->on_line(line.ptr, line.len, c->arg);
        return c->is_enough ? SEINE_E_CANCELED : SEINE_OK;
    }
    seine_err e = sn_record_read(&c->rr, line, &diag);
    if (e == SEINE_E_NOMEM)
        return fail_nomem(c);
    if (e != SEINE_OK)
        return sn_convert_bad(c, diag.text);
    if (c->rr.kind == SN_READ_RECORD)
        c->is_enough = !c->on_record(&c->rr.record, c->rr.seq, c->arg);
    return c->is_enough ? SEINE_E_CANCELED : SEINE_OK;
}

seine_err
sn_convert_line(sn_convert *c, sn_str line)
{
    if (c->on_line || c->on_record)
        return give_line(c, line);
    seine_diag diag = SEINE_DIAG;
    seine_err e = sn_record_read(&c->rr, line, &diag);

    if (e == SEINE_E_NOMEM)
        return fail_nomem(c);
    if (e != SEINE_OK)
        return sn_convert_bad(c, diag.text);
    if (c->shape == SN_SHAPE_NONE) {
        e = begin_output(c, shape_of(c));
        if (e == SEINE_OK && c->shape == SN_SHAPE_OBJECTS && c->to == SEINE_SINK_CSV)
            e = sn_convert_head(c, c->rr.json);
        if (e != SEINE_OK)
            return e;
    }
    if (c->shape == SN_SHAPE_OBJECTS)
        return put_object(c, line);
    if (c->shape == SN_SHAPE_LINKS)
        return put_among_links(c, line);
    if (c->rr.kind == SN_READ_RECORD)
        return put_record(c, line);
    if (c->rr.kind == SN_READ_OTHER)
        return put_other(c, line);
    return c->to == SEINE_SINK_JSONL ? put_json(c, line)
                                     : sn_convert_bad(c, "no record, among records");
}

static seine_err
flush_idle(void *arg)
{
    sn_convert *c = arg;

    return c->is_open && c->out.is_started ? sn_out_flush(&c->out, true, c->diag)
                                           : SEINE_OK;
}

static seine_err
choose(sn_convert *c)
{
    const seine_convert_opts *o = c->opts;
    seine_err e = SEINE_OK;

    c->from = o->from != SEINE_SINK_AUTO ? o->from
              : is_stream(o->in)         ? SEINE_SINK_AUTO
                                         : seine_format_of_output(o->in, NULL);
    c->to = o->to != SEINE_SINK_AUTO ? o->to
            : is_stream(o->out)      ? SEINE_SINK_JSONL
                                     : seine_format_of_output(o->out, NULL);
    if (c->to == SEINE_SINK_AUTO) {
        (void)sn_diag_option(c->diag, "out", "no format has that ending");
        sn_diag_place(c->diag, o->out, 0, 0);
        return SEINE_E_INVAL;
    }
    if (c->to == SEINE_SINK_SQLITE && is_stream(o->out)) {
        sn_diag_text(c->diag,
                     "SQLite is a file: it cannot be written to standard output");
        return SEINE_E_INVAL;
    }
    if (c->to == SEINE_SINK_WARC) {
        (void)sn_diag_option(c->diag, "to",
                             "a WARC is made of what was on the wire, which no other "
                             "format keeps");
        sn_diag_place(c->diag, is_stream(o->out) ? "standard output" : o->out, 0, 0);
        return SEINE_E_INVAL;
    }
    c->source.is_raw = c->from == SEINE_SINK_WARC;
    if (c->from == SEINE_SINK_AUTO)
        e = by_bytes(c, &c->from);
    return e;
}

static seine_err
run_source(sn_convert *c)
{
    switch (c->from) {
    case SEINE_SINK_JSONL:
        return sn_convert_from_jsonl(c);
    case SEINE_SINK_CSV:
        return sn_convert_from_csv(c);
    case SEINE_SINK_SQLITE:
        return sn_convert_from_sqlite(c);
    default:
        return sn_convert_from_warc(c);
    }
}

/* An input without lines makes an output without lines. */
static seine_err
begin_empty(sn_convert *c)
{
    seine_err e = SEINE_OK;

    if (c->to == SEINE_SINK_CSV && c->from != SEINE_SINK_SQLITE)
        e = begin_rows(c);
    return e == SEINE_OK ? sn_out_start(&c->out, c->diag) : e;
}

/* Writes what there is, whatever happened; the first error counts. */
static seine_err
finish_output(sn_convert *c, seine_err e)
{
    seine_diag diag = SEINE_DIAG;

    if (e == SEINE_OK && c->shape == SN_SHAPE_NONE)
        e = begin_empty(c);
    if (c->is_open && c->out.is_started && e != SEINE_E_OUTPUT_CLOSED) {
        seine_err last = sn_out_flush(&c->out, true, &diag);

        if (e == SEINE_OK && last != SEINE_OK) {
            *c->diag = diag;
            e = last;
        }
    }
    if (c->is_open) {
        seine_err last = sn_out_close(&c->out, &diag);

        if (e == SEINE_OK && last != SEINE_OK) {
            *c->diag = diag;
            e = last;
        }
    }
    return e;
}

static void
init(sn_convert *c, const seine_convert_opts *opts, seine_diag *diag)
{
    *c = (sn_convert){.opts = opts, .diag = diag};
    sn_record_reader_init(&c->rr);
    sn_buf_init(&c->text, 6 * SEINE_JSON_BYTES);
    sn_buf_init(&c->made, SEINE_JSON_BYTES);
    sn_buf_init(&c->cut, SEINE_JSON_BYTES);
    sn_arena_init(&c->keep, 4096, 64 << 20);
    sn_map_init(&c->column_of, SN_CONVERT_COLUMNS);
}

static void
fini(sn_convert *c)
{
    sn_source_close(&c->source);
    sn_record_reader_fini(&c->rr);
    sn_buf_fini(&c->text);
    sn_buf_fini(&c->made);
    sn_buf_fini(&c->cut);
    sn_map_fini(&c->column_of);
    sn_arena_fini(&c->keep);
}

seine_err
seine_convert(const seine_convert_opts *opts, seine_converted *out_stats,
              seine_diag *diag)
{
    if (!out_stats)
        return SEINE_E_INVAL;
    seine_diag own = SEINE_DIAG; /* for a caller without one */
    sn_convert c;

    sn_diag_clear(diag);
    if (!sn_opts_fit(opts, sizeof *opts))
        return SEINE_E_INVAL;
    init(&c, opts, diag ? diag : &own);
    seine_err e = sn_source_open(&c.source, opts->in, c.diag);
    c.source.idle = flush_idle;
    c.source.arg = &c;
    if (e == SEINE_OK)
        e = choose(&c);
    if (e == SEINE_OK)
        e = open_out(&c, c.to);
    if (e == SEINE_OK)
        e = run_source(&c);
    e = finish_output(&c, e);
    tell_lost(&c);
    *out_stats = c.stats;
    if (e != SEINE_OK && c.diag->text[0] == '\0')
        sn_diag_text(c.diag, "%s", seine_err_text(e));
    fini(&c);
    return e;
}

/* Reads the whole input for on_line or on_record. */
static seine_err
read_all(sn_convert *c)
{
    seine_err e = sn_source_open(&c->source, c->opts->in, c->diag);

    if (e == SEINE_OK)
        e = choose(c);
    if (e == SEINE_OK)
        e = run_source(c);
    if (c->is_enough)
        e = SEINE_OK;
    if (e != SEINE_OK && c->diag->text[0] == '\0')
        sn_diag_text(c->diag, "%s", seine_err_text(e));
    fini(c);
    return e;
}

seine_err
seine_lines_each(const char *path, seine_line_fn fn, void *arg, seine_diag *diag)
{
    seine_convert_opts o = SEINE_CONVERT_OPTS;
    seine_diag own = SEINE_DIAG;
    sn_convert c;

    sn_diag_clear(diag);
    if (!path || !fn)
        return SEINE_E_INVAL;
    o.in = path;
    o.skip_bad = true;
    init(&c, &o, diag ? diag : &own);
    c.on_line = fn;
    c.arg = arg;
    return read_all(&c);
}

seine_err
seine_records_each(const char *path, seine_record_each_fn fn, void *arg, seine_diag *diag)
{
    seine_convert_opts o = SEINE_CONVERT_OPTS;
    seine_diag own = SEINE_DIAG;
    sn_convert c;

    sn_diag_clear(diag);
    if (!path || !fn)
        return SEINE_E_INVAL;
    o.in = path;
    o.skip_bad = true;
    o.body = SEINE_BODY_B64;
    init(&c, &o, diag ? diag : &own);
    c.on_record = fn;
    c.arg = arg;
    return read_all(&c);
}
