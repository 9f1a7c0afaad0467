/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_rows.h"

#include <sqlite3.h>
#include <stdio.h>

#include "base/alloc.h"

typedef struct table {
    sqlite3_vtab base;
    const sn_sqlite_rows *rows;
} table;

typedef struct cursor {
    sqlite3_vtab_cursor base;
    const sn_sqlite_rows *rows;
    size_t at;
} cursor;

static unsigned
columns_of(const sn_sqlite_rows *r)
{
    return r->n_ints + r->n_texts;
}

static int
connect(sqlite3 *db, void *rows, int n, const char *const *words, sqlite3_vtab **out,
        char **error)
{
    char sql[1024];
    int len = snprintf(sql, sizeof sql, "CREATE TABLE x(c0");

    (void)n, (void)words, (void)error;
    for (unsigned i = 1; i < columns_of(rows) && (size_t)len < sizeof sql; i++)
        len += snprintf(sql + len, sizeof sql - (size_t)len, ",c%u", i);
    if ((size_t)len + 2 > sizeof sql)
        return SQLITE_ERROR;
    snprintf(sql + len, sizeof sql - (size_t)len, ")");
    int code = sqlite3_declare_vtab(db, sql);
    if (code != SQLITE_OK)
        return code;
    table *t = sn_zalloc(sizeof *t);
    if (!t)
        return SQLITE_NOMEM;
    t->rows = rows;
    *out = &t->base;
    return SQLITE_OK;
}

static int
disconnect(sqlite3_vtab *t)
{
    sn_free(t);
    return SQLITE_OK;
}

/* There is one way to read them: all, in order. */
static int
plan(sqlite3_vtab *t, sqlite3_index_info *info)
{
    (void)t;
    info->estimatedCost = 1000;
    info->estimatedRows = 1000;
    return SQLITE_OK;
}

static int
open_cursor(sqlite3_vtab *t, sqlite3_vtab_cursor **out)
{
    cursor *c = sn_zalloc(sizeof *c);

    if (!c)
        return SQLITE_NOMEM;
    c->rows = ((table *)t)->rows;
    *out = &c->base;
    return SQLITE_OK;
}

static int
close_cursor(sqlite3_vtab_cursor *c)
{
    sn_free(c);
    return SQLITE_OK;
}

static int
begin(sqlite3_vtab_cursor *c, int plan_number, const char *plan_text, int n,
      sqlite3_value **values)
{
    (void)plan_number, (void)plan_text, (void)n, (void)values;
    ((cursor *)c)->at = 0;
    return SQLITE_OK;
}

static int
next(sqlite3_vtab_cursor *c)
{
    ((cursor *)c)->at++;
    return SQLITE_OK;
}

static int
is_end(sqlite3_vtab_cursor *c)
{
    return ((cursor *)c)->at >= ((cursor *)c)->rows->n;
}

static void
tell_text(sqlite3_context *to, sn_str text, bool is_blob)
{
    const char *ptr = text.ptr ? text.ptr : "";

    if (is_blob)
        sqlite3_result_blob64(to, ptr, text.len, SQLITE_STATIC);
    else
        sqlite3_result_text64(to, ptr, text.len, SQLITE_STATIC, SQLITE_UTF8);
}

static int
column(sqlite3_vtab_cursor *base, sqlite3_context *to, int i)
{
    const cursor *c = (const cursor *)base;
    const sn_sqlite_rows *r = c->rows;
    unsigned n = (unsigned)i, text = n - (r->n_ints - 1);

    if (n < r->n_ints - 1)
        sqlite3_result_int64(to, r->ints[c->at * r->n_ints + n]);
    else if (text < r->n_texts)
        tell_text(to, r->texts[c->at * r->n_texts + text],
                  text + r->n_blobs >= r->n_texts);
    else
        sqlite3_result_int64(to, r->ints[c->at * r->n_ints + r->n_ints - 1]);
    return SQLITE_OK;
}

static int
rowid(sqlite3_vtab_cursor *c, sqlite3_int64 *out)
{
    *out = (sqlite3_int64)((cursor *)c)->at;
    return SQLITE_OK;
}

/* Without xCreate no file can have such a table of its own. */
static const sqlite3_module module = {.xConnect = connect,
                                      .xBestIndex = plan,
                                      .xDisconnect = disconnect,
                                      .xOpen = open_cursor,
                                      .xClose = close_cursor,
                                      .xFilter = begin,
                                      .xNext = next,
                                      .xEof = is_end,
                                      .xColumn = column,
                                      .xRowid = rowid};

seine_err
sn_sqlite_rows_open(sn_sqlite *db, const char *name, sn_sqlite_rows *rows)
{
    return sqlite3_create_module(db, name, &module, rows) == SQLITE_OK ? SEINE_OK
                                                                       : SEINE_E_NOMEM;
}
