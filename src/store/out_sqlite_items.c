/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The items of pages as rows of item_KIND, and the bad ones as rows of item_error, on
 * request (seine_sink_opts.items). They are in the batch of the record of their page and,
 * in a job, in its group.
 *
 * SQLite takes the values out of the data itself: numbers stay numbers, conditions are 0
 * and 1, lists and objects are JSON.
 */
#include "base/alloc.h"
#include "store/out_sqlite.h"
#include "store/record_items.h"

static void
put_name(sn_buf *sql, const char *name)
{
    sn_buf_char(sql, '"');
    for (; *name; name++) {
        if (*name == '"')
            sn_buf_char(sql, '"');
        sn_buf_char(sql, *name);
    }
    sn_buf_char(sql, '"');
}

static void
put_table(sn_buf *sql, const seine_item_table *t)
{
    char name[256];
    sn_text_writer p = sn_text_writer_on(name, sizeof name - 1);

    SN_WRITE(&p, "item_");
    sn_text_writer_add(&p, t->kind, strlen(t->kind));
    name[sn_text_writer_len(&p) < sizeof name ? sn_text_writer_len(&p) : 0] = '\0';
    put_name(sql, name);
}

/* The words that a table is declared in. */
static void
put_declaration(sn_buf *sql, const seine_item_table *t)
{
    sn_buf_text(sql, "CREATE TABLE ");
    put_table(sql, t);
    sn_buf_text(sql, "(_seq INTEGER PRIMARY KEY, _url TEXT, _n INTEGER");
    for (const seine_item_column *c = t->columns; c->name; c++) {
        sn_buf_text(sql, ", ");
        put_name(sql, c->name);
        sn_buf_text(sql, *c->type ? " " : "");
        sn_buf_text(sql, c->type);
    }
    sn_buf_char(sql, ')');
}

/* A path of JSON inside of a text of SQL: '$."name"'. Names are letters, digits and _. */
static void
put_insert(sn_buf *sql, const seine_item_table *t)
{
    sn_buf_text(sql, "INSERT INTO ");
    put_table(sql, t);
    sn_buf_text(sql, " VALUES (?1, ?2, ?3");
    for (const seine_item_column *c = t->columns; c->name; c++)
        sn_buf_printf(sql, ", json_extract(?4, '$.\"%s\"')", c->name);
    sn_buf_char(sql, ')');
}

static seine_err
end_text(sn_buf *sql)
{
    sn_buf_char(sql, '\0');
    return sn_buf_done(sql);
}

/* What the file says of the table. *out_is: it is there, *out_same: in our very words. */
static seine_err
look(sn_base *b, const seine_item_table *t, sn_buf *sql, bool *out_is, bool *out_same)
{
    sn_sqlite_stmt *stmt;

    sn_buf_reset(sql);
    sn_buf_text(sql, "SELECT sql FROM sqlite_schema WHERE lower(name) = lower('item_");
    sn_buf_text(sql, t->kind);
    sn_buf_text(sql, "')");
    seine_err e = end_text(sql);
    if (e == SEINE_OK)
        e = sn_sqlite_prepare(b->db, sql->ptr, &stmt);
    if (e != SEINE_OK)
        return e;
    e = sn_sqlite_next(stmt, out_is);
    sn_buf_reset(sql);
    put_declaration(sql, t);
    *out_same =
        e == SEINE_OK && *out_is && sn_str_eq(sn_sqlite_text(stmt, 0), sn_buf_view(sql));
    sn_sqlite_finalize(stmt);
    return e == SEINE_OK ? sn_buf_done(sql) : e;
}

/* The tables that are asked for; ended by one without a kind. */
static const seine_item_table *
tables_of(const sn_out *o)
{
    static const seine_item_table none = {NULL, NULL};

    return o->opts.items && o->opts.items->tables ? o->opts.items->tables : &none;
}

seine_err
sn_base_check_items(const sn_out *o, seine_diag *diag)
{
    seine_err e = SEINE_OK;
    sn_buf sql;

    sn_buf_init(&sql, SIZE_MAX - 1);
    for (const seine_item_table *t = tables_of(o); e == SEINE_OK && t->kind; t++) {
        bool is = false, same = false;

        e = look(o->self, t, &sql, &is, &same);
        if (e == SEINE_OK && is && !same) {
            sn_diag_text(diag, "%s has a table item_%.64s with other columns", o->name,
                         t->kind);
            e = SEINE_E_OUTPUT_CHANGED;
        }
    }
    sn_buf_fini(&sql);
    return e;
}

/* Makes the table and its statement. */
static seine_err
start_table(sn_out *o, const seine_item_table *t, sn_buf *sql, sn_sqlite_stmt **out_stmt)
{
    sn_base *b = o->self;
    bool is = false, same = false;
    seine_err e = look(b, t, sql, &is, &same);

    if (e == SEINE_OK && is && !same)
        return SEINE_E_OUTPUT_CHANGED;
    if (e == SEINE_OK && !is) { /* `sql` has its declaration */
        e = end_text(sql);
        if (e == SEINE_OK)
            e = sn_sqlite_exec(b->db, sql->ptr);
    } else if (e == SEINE_OK && o->is_durable && o->opts.append) {
        sn_buf_reset(sql);
        sn_buf_text(sql, "DELETE FROM ");
        put_table(sql, t);
        sn_buf_printf(sql, " WHERE _seq > %llu", (unsigned long long)o->cut_seq);
        e = end_text(sql);
        if (e == SEINE_OK)
            e = sn_sqlite_exec(b->db, sql->ptr);
    }
    sn_buf_reset(sql);
    put_insert(sql, t);
    if (e == SEINE_OK)
        e = end_text(sql);
    return e == SEINE_OK ? sn_sqlite_prepare(b->db, sql->ptr, out_stmt) : e;
}

seine_err
sn_base_start_items(sn_out *o)
{
    sn_base *b = o->self;
    const seine_item_table *tables = tables_of(o);
    size_t n = 0;
    seine_err e = SEINE_OK;
    sn_buf sql;

    if (!o->opts.items)
        return SEINE_OK;
    while (tables[n].kind)
        n++;
    b->items = sn_calloc(n + 1, sizeof *b->items);
    if (!b->items)
        return SEINE_E_NOMEM;
    sn_buf_init(&sql, SIZE_MAX - 1);
    for (size_t i = 0; i < n && e == SEINE_OK; i++)
        e = start_table(o, &tables[i], &sql, &b->items[i]);
    sn_buf_fini(&sql);
    if (e == SEINE_OK)
        e = sn_sqlite_prepare(b->db, "INSERT INTO item_error VALUES (?, ?, ?, ?, ?, ?)",
                              &b->item_error);
    return e;
}

seine_err
sn_base_last_item(const sn_out *o, int64_t *io_last)
{
    sn_base *b = o->self;
    seine_err e = SEINE_OK;
    sn_buf sql;

    if (!o->opts.items)
        return SEINE_OK;
    int64_t bad = 0;
    e = sn_base_ask(b, "SELECT max(seq) FROM item_error", 0, &bad);
    *io_last = bad > *io_last ? bad : *io_last;
    sn_buf_init(&sql, SIZE_MAX - 1);
    for (const seine_item_table *t = tables_of(o); e == SEINE_OK && t->kind; t++) {
        bool is = false, same = false;
        int64_t last = 0;

        e = look(b, t, &sql, &is, &same);
        if (e != SEINE_OK || !same)
            continue;
        sn_buf_reset(&sql);
        sn_buf_text(&sql, "SELECT max(_seq) FROM ");
        put_table(&sql, t);
        e = end_text(&sql);
        if (e == SEINE_OK)
            e = sn_base_ask(b, sql.ptr, 0, &last);
        *io_last = last > *io_last ? last : *io_last;
    }
    sn_buf_fini(&sql);
    return e;
}

static seine_err
put_good(sn_sqlite_stmt *stmt, const seine_item *item, uint64_t seq)
{
    sn_sqlite_row row = sn_sqlite_bind(stmt);

    sn_sqlite_put_int(&row, (int64_t)seq);
    sn_sqlite_put_text(&row, item->url);
    sn_sqlite_put_int(&row, item->n);
    sn_sqlite_put_text(&row, item->data);
    return sn_sqlite_done(&row);
}

static seine_err
put_bad(sn_sqlite_stmt *stmt, const seine_item *item, uint64_t seq)
{
    sn_sqlite_row row = sn_sqlite_bind(stmt);

    sn_sqlite_put_int(&row, (int64_t)seq);
    sn_sqlite_put_text(&row, item->kind);
    sn_sqlite_put_text(&row, item->url);
    sn_sqlite_put_int(&row, item->n);
    sn_sqlite_put_text(&row, item->errors);
    sn_sqlite_put_text(&row, item->data);
    return sn_sqlite_done(&row);
}

static sn_sqlite_stmt *
statement_of(const sn_out *o, sn_str kind)
{
    const sn_base *b = o->self;
    const seine_item_table *tables = tables_of(o);

    for (size_t i = 0; tables[i].kind; i++)
        if (sn_str_eq(kind, sn_str_of(tables[i].kind)))
            return b->items[i];
    return NULL;
}

seine_err
sn_base_put_items(sn_out *o, const seine_record *r, uint64_t seq)
{
    const sn_base *b = o->self;
    sn_item_cursor c = sn_record_items_of(r);
    seine_err e = SEINE_OK;
    seine_item item;

    while (e == SEINE_OK && sn_record_items_next(&c, &item)) {
        sn_sqlite_stmt *good = item.ok ? statement_of(o, item.kind) : NULL;

        seq++;
        if (!item.ok)
            e = put_bad(b->item_error, &item, seq);
        else if (good)
            e = put_good(good, &item, seq);
    }
    return e;
}
