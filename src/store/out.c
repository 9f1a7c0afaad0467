/* SPDX-License-Identifier: Apache-2.0 */
#include "store/out.h"

#include <string.h>

#include "base/alloc.h"
#include "seine/format.h"
#include "store/record_filter.h"
#include "store/record_items.h"

/* The writer of each format; format.c has names and file endings. */
static const sn_out_ops *const writers[] = {
    [SEINE_SINK_JSONL] = &sn_out_jsonl,   [SEINE_SINK_CSV] = &sn_out_csv,
    [SEINE_SINK_RAW] = &sn_out_raw,       [SEINE_SINK_CALL] = &sn_out_call,
    [SEINE_SINK_SQLITE] = &sn_out_sqlite, [SEINE_SINK_WARC] = &sn_out_warc,
    [SEINE_SINK_SAVE] = &sn_out_save,     [SEINE_SINK_NAMED] = &sn_out_named,
    [SEINE_SINK_MIRROR] = &sn_out_mirror,
};

enum { WRITERS = sizeof writers / sizeof *writers };

static bool
is_standard_output(const char *path)
{
    return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
}

static void
name_it(sn_out *o)
{
    const char *path = o->opts.path;

    if (path && !is_standard_output(path))
        sn_diag_path(path, o->name);
    else
        sn_diag_path(path ? "standard output" : "the output", o->name);
}

/* Finds the writer by the requested format, or by the ending of the path. */
static seine_err
choose_writer(sn_out *o, seine_diag *diag)
{
    const char *path = o->opts.path;
    bool is_named = path && !is_standard_output(path);
    seine_sink_pack pack;
    seine_sink_format named = seine_format_of_output(path, &pack);
    seine_sink_format format = o->opts.format == SEINE_SINK_AUTO ? named : o->opts.format;

    if ((size_t)format >= WRITERS || !writers[format]) {
        if (!is_named)
            sn_diag_text(diag, "%s has no name that tells its format", o->name);
        else if (seine_format_of_input(path) == SEINE_INPUT_HTML)
            sn_diag_text(diag, "%s: the program makes reports as HTML: try .jsonl",
                         o->name);
        else
            sn_diag_text(
                diag,
                "%s: no format has that ending: try .jsonl, .csv, .sqlite or .warc.gz",
                o->name);
        return SEINE_E_INVAL;
    }
    o->ops = writers[format];
    o->opts.format = format;
    if (!seine_format_packs(format))
        o->opts.pack = SEINE_PACK_NONE;
    else if (o->opts.pack == SEINE_PACK_AUTO)
        o->opts.pack = pack;
    return SEINE_OK;
}

static seine_err
make_output(sn_out *o)
{
    const char *path = o->opts.path;

    if (path) {
        size_t n = strlen(path) + 1;
        char *own = sn_alloc(n);

        o->opts.path = own;
        if (!own)
            return SEINE_E_NOMEM;
        memcpy(own, path, n);
    }
    o->self = sn_zalloc(o->ops->size ? o->ops->size : 1);
    return o->self ? SEINE_OK : SEINE_E_NOMEM;
}

seine_err
sn_out_open(sn_out *o, const seine_sink_opts *opts, sn_hurry *hurry, seine_diag *diag)
{
    *o = (sn_out){.opts = *opts, .members = sn_members_of(&opts->fields), .hurry = hurry};
    o->how =
        (opts->csv_raw ? SEINE_CSV_RAW : 0u) | (opts->csv_crlf ? SEINE_CSV_CRLF : 0u);
    sn_diag_clear(diag);
    name_it(o);
    seine_err e = choose_writer(o, diag);
    if (e != SEINE_OK)
        return e;

    e = make_output(o);
    if (e == SEINE_OK && o->opts.keep)
        e = sn_record_filter_new(o->opts.keep, "keep", &o->filter, diag);
    o->opts.keep = NULL; /* the caller's; read by now */
    if (e == SEINE_OK)
        e = o->ops->open(o, diag);
    o->opts.columns = NULL; /* the caller's; read by now */
    o->opts.data = NULL;
    if (e == SEINE_OK)
        return SEINE_OK;
    if (diag && diag->text[0] == '\0')
        sn_diag_text(diag, "%s", seine_err_text(e));
    sn_out_drop(o);
    return e;
}

seine_err
sn_out_start(sn_out *o, seine_diag *diag)
{
    seine_err e = o->ops->start ? o->ops->start(o, diag) : SEINE_OK;

    o->is_started = e == SEINE_OK; /* else a new file is removed again */
    return e;
}

static bool
is_change(seine_change c)
{
    return c == SEINE_CHANGE_NEW || c == SEINE_CHANGE_CHANGED || c == SEINE_CHANGE_GONE;
}

seine_err
sn_out_record(sn_out *o, seine_record *r, uint64_t seq, seine_diag *diag)
{
    if (r->type == SEINE_RECORD_SKIP && o->opts.no_skips)
        return SEINE_OK;
    if (o->opts.only_changes && !is_change(seine_record_change(r)))
        return SEINE_OK;
    if (o->opts.only_failed &&
        (r->type != SEINE_RECORD_RESULT || r->fate == SEINE_FATE_OK))
        return SEINE_OK;
    if (o->filter && (r->type != SEINE_RECORD_RESULT ||
                      !sn_record_filter_has(o->filter, r->url, r->content_type)))
        return SEINE_OK;
    if (o->opts.items && o->ops->items_only && !o->opts.items->records)
        return SEINE_OK;
    return o->ops->record(o, r, seq, diag);
}

seine_err
sn_out_links(sn_out *o, const seine_record *r, uint64_t seq, seine_diag *diag)
{
    return o->opts.links && o->ops->links ? o->ops->links(o, r, seq, diag) : SEINE_OK;
}

seine_err
sn_out_items(sn_out *o, const seine_record *r, uint64_t seq, seine_diag *diag)
{
    if (!o->opts.items || !o->ops->items || sn_record_items_count(r) == 0)
        return SEINE_OK;
    return o->ops->items(o, r, seq, diag);
}

seine_err
sn_out_line(sn_out *o, const sn_said *said, seine_diag *diag)
{
    if (!o->ops->line || o->opts.only_failed || o->opts.no_lines)
        return SEINE_OK;
    return o->ops->line(o, said, diag);
}

seine_err
sn_out_slices(sn_out *o, sn_str lines, seine_diag *diag)
{
    if (!o->ops->slices || o->opts.only_failed || o->opts.no_lines)
        return SEINE_OK;
    return o->ops->slices(o, lines, diag);
}

seine_err
sn_out_flush(sn_out *o, bool all, seine_diag *diag)
{
    return o->ops->flush ? o->ops->flush(o, all, diag) : SEINE_OK;
}

seine_err
sn_out_close(sn_out *o, seine_diag *diag)
{
    seine_err e = SEINE_OK;

    if (o->self && o->ops->close)
        e = o->ops->close(o, diag);
    sn_free(o->self);
    sn_record_filter_free(o->filter);
    sn_free((char *)o->job_path);
    if (o->ops)
        sn_free((char *)o->opts.path);
    *o = (sn_out){.ops = NULL};
    return e;
}

void
sn_out_drop(sn_out *o)
{
    seine_err e = sn_out_close(o, NULL);

    (void)e;
}
