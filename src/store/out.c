/* SPDX-License-Identifier: Apache-2.0 */
#include "store/out.h"

#include <string.h>

#include "base/alloc.h"

/* One row a format. `ops` NULL: it has a name and no writer yet. */
static const struct format {
    seine_sink_format format;
    const char *endings[3];
    bool packs; /* .gz and .zst may follow */
    const sn_out_ops *ops;
    const char *lack;
} formats[] = {
    {SEINE_SINK_JSONL, {".jsonl", ".ndjson"}, true, &sn_out_jsonl, NULL},
    {SEINE_SINK_CSV, {".csv"}, true, &sn_out_csv, NULL},
    {SEINE_SINK_RAW, {NULL}, false, &sn_out_raw, NULL},
    {SEINE_SINK_CALL, {NULL}, false, &sn_out_call, NULL},
    {SEINE_SINK_SQLITE, {".sqlite", ".sqlite3"}, false, &sn_out_sqlite, NULL},
    {SEINE_SINK_WARC, {".warc"}, true, &sn_out_warc, NULL},
    {SEINE_SINK_SAVE, {NULL}, false, &sn_out_save, NULL},
};

enum { FORMATS = sizeof formats / sizeof *formats };

/* The ending of a packed file, taken off. */
static seine_sink_pack
unpacked(sn_str *path)
{
    static const struct {
        const char *ending;
        seine_sink_pack pack;
    } packs[] = {{".gz", SEINE_PACK_GZIP}, {".zst", SEINE_PACK_ZSTD}};

    for (size_t i = 0; i < sizeof packs / sizeof *packs; i++)
        if (sn_str_ends(*path, sn_str_of(packs[i].ending))) {
            path->len -= strlen(packs[i].ending);
            return packs[i].pack;
        }
    return SEINE_PACK_NONE;
}

static const struct format *
by_ending(sn_str path, bool is_packed)
{
    for (size_t i = 0; i < FORMATS; i++)
        for (size_t k = 0; k < 3 && formats[i].endings[k]; k++)
            if (sn_str_ends(path, sn_str_of(formats[i].endings[k])) &&
                (formats[i].packs || !is_packed))
                return &formats[i];
    return NULL;
}

static const struct format *
by_format(seine_sink_format format)
{
    for (size_t i = 0; i < FORMATS; i++)
        if (formats[i].format == format)
            return &formats[i];
    return NULL;
}

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
        sn_why_name(path, o->name);
    else
        sn_why_name(path ? "standard output" : "the output", o->name);
}

/* What it is, by what was asked for or the end of its name. */
static seine_err
choose(sn_out *o, char *why)
{
    const char *path = o->opts.path;
    bool is_named = path && !is_standard_output(path);
    sn_str rest = sn_str_of(is_named ? path : "");
    seine_sink_pack pack = unpacked(&rest);
    const struct format *f = o->opts.format == SEINE_SINK_AUTO
                                 ? by_ending(rest, pack != SEINE_PACK_NONE)
                                 : by_format(o->opts.format);

    if (!f && !is_named)
        sn_why(why, "%s has no name that tells its format", o->name);
    else if (!f && sn_str_ends(rest, SN_STR(".html")))
        sn_why(why, "%s: reports as HTML are not written yet: try .jsonl", o->name);
    else if (!f)
        sn_why(why,
               "%s: no format has that ending: try .jsonl, .csv, .sqlite, .warc.gz, or "
               "FORMAT:NAME",
               o->name);
    else if (!f->ops)
        sn_why(why, "%s: %s is not written yet: try .jsonl", o->name, f->lack);
    if (!f || !f->ops)
        return SEINE_E_INVAL;
    o->ops = f->ops;
    o->opts.format = f->format;
    if (!f->packs)
        o->opts.pack = SEINE_PACK_NONE;
    else if (o->opts.pack == SEINE_PACK_AUTO)
        o->opts.pack = pack;
    return SEINE_OK;
}

static seine_err
make(sn_out *o)
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
sn_out_open(sn_out *o, const seine_sink_opts *opts, char *why)
{
    *o = (sn_out){.opts = *opts, .members = sn_members_of(&opts->fields)};
    o->how =
        (opts->csv_raw ? SEINE_CSV_RAW : 0u) | (opts->csv_crlf ? SEINE_CSV_CRLF : 0u);
    why[0] = '\0';
    name_it(o);
    seine_err e = choose(o, why);
    if (e != SEINE_OK)
        return e;

    e = make(o);
    if (e == SEINE_OK)
        e = o->ops->open(o, why);
    if (e == SEINE_OK)
        return SEINE_OK;
    if (why[0] == '\0')
        sn_why(why, "%s", seine_err_text(e));
    sn_out_drop(o);
    return e;
}

seine_err
sn_out_start(sn_out *o, char *why)
{
    o->is_started = true;
    return o->ops->start ? o->ops->start(o, why) : SEINE_OK;
}

seine_err
sn_out_record(sn_out *o, seine_record *r, uint64_t seq, char *why)
{
    if (r->type == SEINE_RECORD_SKIP && o->opts.no_skips)
        return SEINE_OK;
    return o->ops->record(o, r, seq, why);
}

seine_err
sn_out_line(sn_out *o, const sn_said *said, char *why)
{
    return o->ops->line ? o->ops->line(o, said, why) : SEINE_OK;
}

seine_err
sn_out_flush(sn_out *o, bool all, char *why)
{
    return o->ops->flush ? o->ops->flush(o, all, why) : SEINE_OK;
}

seine_err
sn_out_close(sn_out *o, char *why)
{
    seine_err e = SEINE_OK;

    if (o->self && o->ops->close)
        e = o->ops->close(o, why);
    sn_free(o->self);
    if (o->ops)
        sn_free((char *)o->opts.path);
    *o = (sn_out){.ops = NULL};
    return e;
}

void
sn_out_drop(sn_out *o)
{
    char unheard[SEINE_WHY];
    seine_err e = sn_out_close(o, unheard);

    (void)e;
}
