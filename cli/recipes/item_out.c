/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/item_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include <seine/format.h>

#include "recipes/item_csv.h"
#include "screen/record_table.h"
#include "screen/say.h"
#include "screen/xalloc.h"
#include "verbs/outputs.h"

enum { COLUMNS = 512 }; /* of a table; a recipe has fewer fields */

void
item_out_init(item_out *o, const recipe_file *recipe, bool flat)
{
    *o = (item_out){.recipe = recipe, .flat = flat};
}

void
item_out_free(item_out *o)
{
    for (size_t i = 0; i < o->n_sinks; i++)
        free(o->sinks[i]);
    for (size_t i = 0; i < o->n_texts; i++)
        free(o->texts[i]);
    for (size_t k = 0; o->tables && o->tables[k].kind; k++)
        free((void *)o->tables[k].columns);
    free(o->tables);
    free(o->sinks);
    free(o->texts);
    *o = (item_out){0};
}

/* Keeps a text as long as the outputs. */
static const char *
keep(item_out *o, char *give)
{
    o->texts = xalloc_room(o->texts, o->n_texts, &o->cap_texts, sizeof *o->texts);
    o->texts[o->n_texts++] = give;
    return give;
}

static seine_item_sink *
new_sink(item_out *o)
{
    static const seine_item_sink none = SEINE_ITEM_SINK;
    seine_item_sink *s = xalloc_zeroed(1, sizeof *s);

    *s = none;
    o->sinks = xalloc_room(o->sinks, o->n_sinks, &o->cap_sinks, sizeof *o->sinks);
    o->sinks[o->n_sinks++] = s;
    return s;
}

/* Is the k-th kind the first of its name? */
static bool
is_first(const item_out *o, size_t k)
{
    const char *of_kind = seine_recipe_kind(o->recipe->recipe, k);

    for (size_t i = 0; i < k; i++)
        if (strcmp(seine_recipe_kind(o->recipe->recipe, i), of_kind) == 0)
            return false;
    return true;
}

/* JSON lines. */

static int
open_lines(item_out *o, seine_sinks *sinks, const char *name, seine_sink_opts *opts)
{
    seine_item_sink *s = new_sink(o);

    s->flat = o->flat;
    s->records = !o->flat && opts->path && strcmp(opts->path, "-") != 0;
    opts->items = s;
    opts->no_lines = o->flat;
    o->has_lines |= !o->flat;
    return outputs_open_sink(sinks, opts, name);
}

/* CSV. */

/* "shifts.csv" becomes "shifts.bad.csv", "shifts.csv.gz" "shifts.bad.csv.gz". */
static char *
beside(const char *path, const char *word)
{
    const char *end = NULL, *at = path;
    size_t n = strlen(path) + strlen(word) + 6;
    char *made = xalloc_zeroed(n, 1);

    while ((at = strstr(at, ".csv")))
        end = at++;
    if (end)
        snprintf(made, n, "%.*s.%s%s", (int)(end - path), path, word, end);
    else
        snprintf(made, n, "%s.%s", path, word);
    return made;
}

/* The file of one kind; NULL: of bad rows. */
static int
open_table(item_out *o, seine_sinks *sinks, char *give_path, const char *of_kind,
           seine_sink_opts opts)
{
    seine_item_sink *s = new_sink(o);
    size_t n;

    s->kind = of_kind;
    s->head = keep(o, item_csv_head(o->recipe, of_kind, &n));
    opts.path = keep(o, give_path);
    opts.items = s;
    opts.columns = NULL;
    return outputs_open_sink(sinks, &opts, give_path);
}

static int
open_csv(item_out *o, seine_sinks *sinks, const seine_sink_opts *opts)
{
    const char *of_kind, *path = opts->path;
    int code = SAY_DONE;

    o->has_csv = true;
    for (size_t k = 0;
         code == SAY_DONE && (of_kind = seine_recipe_kind(o->recipe->recipe, k)); k++)
        if (is_first(o, k))
            code = open_table(o, sinks,
                              k == 0 ? xalloc_copy(path, strlen(path))
                                     : beside(path, of_kind),
                              of_kind, *opts);
    if (code == SAY_DONE && !o->flat && strcmp(path, "-") != 0)
        code = open_table(o, sinks, beside(path, "bad"), NULL, *opts);
    return code;
}

/* SQLite. */

/* int and bool are INTEGER, numbers REAL; a derived value without a type is as it is. */
static const char *
sql_type(const char *type)
{
    static const struct {
        const char *type, *sql;
    } rows[] = {{"int", "INTEGER"}, {"bool", "INTEGER"},
                {"number", "REAL"}, {"duration", "REAL"},
                {"", ""},           {NULL, "TEXT"}};
    size_t i = 0;

    while (rows[i].type && strcmp(rows[i].type, type) != 0)
        i++;
    return rows[i].sql;
}

/* SQLite takes names that differ in case alone for the same. */
static int
check_columns(const char *of_kind, const seine_item_column *c, size_t n)
{
    static const char *const own[] = {"_seq", "_url", "_n"};

    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcasecmp(own[i], c[n].name) == 0)
            return say_fail(SAY_USAGE, "another name",
                            "field '%s' of %s: %s is a column "
                            "of every table",
                            c[n].name, of_kind, own[i]);
    for (size_t i = 0; i < n; i++)
        if (strcasecmp(c[i].name, c[n].name) == 0)
            return say_fail(SAY_USAGE, "another name, or -o rows.jsonl",
                            "fields '%s' and '%s' of %s are one column of a database",
                            c[i].name, c[n].name, of_kind);
    return SAY_DONE;
}

static int
make_columns(const item_out *o, const char *of_kind, seine_item_column *out)
{
    const char *type;
    int code = SAY_DONE;

    for (size_t i = 0;
         code == SAY_DONE && i + 1 < COLUMNS &&
         (out[i].name = seine_recipe_field(o->recipe->recipe, of_kind, i, &type));
         i++) {
        out[i].type = sql_type(type);
        code = check_columns(of_kind, out, i);
    }
    return code;
}

/* One table for each kind. item_error is that of bad rows. */
static int
make_tables(item_out *o)
{
    const char *of_kind;
    size_t kinds = 0, n = 0;
    int code = SAY_DONE;

    if (o->tables)
        return SAY_DONE;
    while (seine_recipe_kind(o->recipe->recipe, kinds))
        kinds++;
    o->tables = xalloc_zeroed(kinds + 1, sizeof *o->tables);
    for (size_t k = 0; k < kinds && code == SAY_DONE; k++) {
        if (!is_first(o, k))
            continue;
        of_kind = seine_recipe_kind(o->recipe->recipe, k);
        seine_item_column *columns = xalloc_zeroed(COLUMNS, sizeof *columns);
        o->tables[n++] = (seine_item_table){of_kind, columns};
        if (strcasecmp(of_kind, "error") == 0)
            code = say_fail(SAY_USAGE, "another name for the kind",
                            "kind '%s': item_error is the table of bad rows", of_kind);
        for (size_t i = 0; i + 1 < n && code == SAY_DONE; i++)
            if (strcasecmp(o->tables[i].kind, of_kind) == 0)
                code = say_fail(SAY_USAGE, "another name for one of them",
                                "kinds '%s' and '%s' are one table of a database",
                                o->tables[i].kind, of_kind);
        if (code == SAY_DONE)
            code = make_columns(o, of_kind, columns);
    }
    return code;
}

static int
open_database(item_out *o, seine_sinks *sinks, const char *name, seine_sink_opts *opts)
{
    int code = make_tables(o);
    seine_item_sink *s = new_sink(o);

    s->tables = o->tables;
    opts->items = s;
    return code == SAY_DONE ? outputs_open_sink(sinks, opts, name) : code;
}

/* The format and the packing of an output; NULL is standard output. */
static const char *
split(const char *name, seine_sink_format *out_format, seine_sink_pack *io_pack)
{
    seine_sink_pack pack = SEINE_PACK_AUTO;
    const char *path = name ? seine_format_split(name, out_format, io_pack) : "-";

    if (*out_format == SEINE_SINK_AUTO)
        *out_format = strcmp(path, "-") == 0 ? SEINE_SINK_JSONL
                                             : seine_format_of_output(path, &pack);
    if (*io_pack == SEINE_PACK_AUTO)
        *io_pack = pack;
    return path;
}

int
item_out_check(const char *name)
{
    seine_sink_format format = SEINE_SINK_AUTO;
    seine_sink_pack pack = SEINE_PACK_AUTO;

    (void)split(name, &format, &pack);
    if (format == SEINE_SINK_JSONL || format == SEINE_SINK_CSV ||
        format == SEINE_SINK_SQLITE || format == SEINE_SINK_WARC)
        return SAY_DONE;
    return say_fail(SAY_USAGE, "-o rows.jsonl, -o rows.csv or -o rows.sqlite",
                    "-o %s: run writes .jsonl, .csv, .sqlite, .warc.gz and .html",
                    show(name).text);
}

static int
check_new(const char *path)
{
    struct stat st;

    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size == 0)
        return SAY_DONE;
    return say_fail(SAY_USAGE,
                    report_sink_path(path) ? "--overwrite, or another name"
                                           : "--append, --overwrite, or another name",
                    "%s exists (%s) and belongs to no unfinished job", show(path).text,
                    figure_bytes((uint64_t)st.st_size).text);
}

static int
check_new_beside(const char *path, const char *word)
{
    char *other = beside(path, word);
    int code = check_new(other);

    free(other);
    return code;
}

int
item_out_is_new(const item_out *o, const char *name)
{
    seine_sink_format format = SEINE_SINK_AUTO;
    seine_sink_pack pack = SEINE_PACK_AUTO;
    const char *path = split(name, &format, &pack), *of_kind;

    if (strcmp(path, "-") == 0)
        return SAY_DONE;
    int code = check_new(path);
    if (format != SEINE_SINK_CSV)
        return code;
    for (size_t k = 1;
         code == SAY_DONE && (of_kind = seine_recipe_kind(o->recipe->recipe, k)); k++)
        if (is_first(o, k))
            code = check_new_beside(path, of_kind);
    return code == SAY_DONE && !o->flat ? check_new_beside(path, "bad") : code;
}

int
item_out_open(item_out *o, seine_sinks *sinks, const char *name,
              const seine_sink_opts *base)
{
    seine_sink_opts opts = *base;

    opts.path = split(name, &opts.format, &opts.pack);
    switch (opts.format) {
    case SEINE_SINK_JSONL:
        return open_lines(o, sinks, name ? name : "-", &opts);
    case SEINE_SINK_CSV:
        return open_csv(o, sinks, &opts);
    case SEINE_SINK_SQLITE:
        return open_database(o, sinks, name, &opts);
    default: /* an archive: item_out_check has refused the rest */
        return outputs_open_sink(sinks, &opts, name);
    }
}

static seine_view
view_of(const char *text)
{
    return (seine_view){text, strlen(text)};
}

void
item_out_add(const item_out *o, const item_of *of, const seine_row *row,
             seine_record_items *items)
{
    seine_item item = SEINE_ITEM;
    char *members = NULL, *cells = NULL;
    size_t n = 0;

    item.kind = view_of(row->kind);
    item.data = view_of(row->json);
    item.errors = view_of(row->errors);
    item.url = view_of(of->url);
    item.n = row->n;
    item.ok = row->ok;
    if (o->has_lines) {
        members = item_members(of, row, &n);
        item.members = (seine_view){members, n};
    }
    if (o->has_csv) {
        cells = item_csv_row(o->recipe, row->ok ? row->kind : NULL, of, row, &n);
        item.row = (seine_view){cells, n};
    }
    if (seine_record_items_add(items, &item) != SEINE_OK)
        xalloc_json(NULL);
    free(members);
    free(cells);
}
