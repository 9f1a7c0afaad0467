/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "store/convert.h"
#include "store/sqlite.h"

/*
 * Reads rows of both tables in order of their numbers, each by its primary key, so that
 * nothing must be sorted. Summaries come last.
 */

static const char rows_sql[] =
    "SELECT seq, json, body, NULL, NULL, NULL, NULL, NULL FROM result "
    "UNION ALL SELECT seq, NULL, NULL, url, reason, rule, ts, parent FROM skip "
    "UNION ALL SELECT seq, json, NULL, NULL, NULL, NULL, NULL, NULL FROM link "
    "ORDER BY seq";
static const char summaries_sql[] = "SELECT run, json FROM summary ORDER BY run";

enum { SEQ, JSON, BODY, URL, REASON, RULE, TS, PARENT };

static void
add_member(sn_buf *b, const char *name, sn_str text)
{
    if (!text.ptr)
        return;
    sn_buf_printf(b, ",\"%s\":", name);
    sn_convert_quote(b, text);
}

static void
make_skip(sn_convert *c, sn_sqlite_stmt *row)
{
    sn_buf *b = &c->made;

    sn_buf_text(b, "{\"v\":1,\"type\":\"skip\",\"seq\":");
    sn_buf_i64(b, sn_sqlite_int(row, SEQ));
    add_member(b, "ts", sn_sqlite_text(row, TS));
    add_member(b, "url", sn_sqlite_text(row, URL));
    add_member(b, "parent", sn_sqlite_text(row, PARENT));
    add_member(b, "reason", sn_sqlite_text(row, REASON));
    add_member(b, "rule", sn_sqlite_text(row, RULE));
    sn_buf_char(b, '}');
}

/* Makes the line, with the body as its last member if it was asked for. */
static void
make_line(sn_convert *c, sn_sqlite_stmt *row)
{
    sn_str json = sn_sqlite_text(row, JSON), body = sn_sqlite_blob(row, BODY);
    bool has_body = !sn_sqlite_is_null(row, BODY);
    seine_body_form form = c->to == SEINE_SINK_SQLITE ? SEINE_BODY_B64 : c->opts->body;
    sn_buf *b = &c->made;

    sn_buf_str(b, json);
    if (!has_body)
        return;
    if (form != SEINE_BODY_TEXT && form != SEINE_BODY_B64) {
        c->bodies_left++;
        return;
    }
    if (json.len == 0 || json.ptr[json.len - 1] != '}')
        return; /* the line is bad, and will be reported */
    sn_buf_truncate(b, json.len - 1);
    if (form == SEINE_BODY_TEXT) {
        sn_buf_text(b, ",\"body\":");
        sn_convert_quote(b, body);
    } else {
        sn_buf_text(b, ",\"body_b64\":");
        sn_convert_base64(b, body);
    }
    sn_buf_char(b, '}');
}

static seine_err
take_row(sn_convert *c, sn_sqlite_stmt *row)
{
    sn_buf_reset(&c->made);
    c->line = (uint64_t)sn_sqlite_int(row, SEQ);
    if (sn_sqlite_is_null(row, JSON))
        make_skip(c, row);
    else
        make_line(c, row);
    if (c->made.err != SEINE_OK)
        return c->made.err == SEINE_E_NOMEM ? SEINE_E_NOMEM
                                            : sn_convert_bad(c, "larger than 64 MiB");
    return sn_convert_line(c, sn_buf_view(&c->made));
}

static seine_err
take_summary(sn_convert *c, sn_sqlite_stmt *row)
{
    c->line = 0;
    return sn_convert_line(c, sn_sqlite_text(row, 1));
}

static seine_err
fail_database(sn_convert *c, seine_err e)
{
    if (e == SEINE_E_NOMEM)
        return e;
    sn_diag_text(c->diag, "%s %s", c->source.name,
                 e == SEINE_E_STATE_FOREIGN   ? "is no SQLite database"
                 : e == SEINE_E_STATE_CORRUPT ? "is damaged"
                                              : "cannot be read");
    return e == SEINE_E_STATE_CORRUPT || e == SEINE_E_STATE_FOREIGN ? SEINE_E_PARSE : e;
}

static seine_err
each_row(sn_convert *c, sn_sqlite *db, const char *sql,
         seine_err (*take)(sn_convert *c, sn_sqlite_stmt *row))
{
    sn_sqlite_stmt *stmt;
    bool there = true;
    seine_err e = sn_sqlite_prepare(db, sql, &stmt);

    if (e != SEINE_OK) {
        sn_diag_text(c->diag, "%s holds no records of seine", c->source.name);
        return e == SEINE_E_NOMEM ? e : SEINE_E_INVAL;
    }
    while (e == SEINE_OK && there) {
        e = sn_sqlite_next(stmt, &there);
        if (e != SEINE_OK)
            e = fail_database(c, e);
        else if (there)
            e = take(c, stmt);
    }
    sn_sqlite_finalize(stmt);
    return e;
}

/* A read-only reader of a database in WAL mode leaves files behind. So the database is
 * opened for writing if that is allowed, but not written. */
static seine_err
open_it(const char *path, sn_sqlite **out_db)
{
    seine_err e = sn_sqlite_open(path, SN_SQLITE_WRITE, out_db);

    if (e == SEINE_OK)
        return sn_sqlite_exec(*out_db, "PRAGMA query_only = ON");
    return e == SEINE_E_NOMEM ? e : sn_sqlite_open(path, SN_SQLITE_READ, out_db);
}

seine_err
sn_convert_from_sqlite(sn_convert *c)
{
    sn_sqlite *db = NULL;

    if (!c->opts->in || strcmp(c->opts->in, "-") == 0) {
        sn_diag_text(c->diag, "SQLite is a file: it cannot be read from standard input");
        return SEINE_E_INVAL;
    }
    seine_err e = open_it(c->opts->in, &db);
    e = e == SEINE_OK ? each_row(c, db, rows_sql, take_row) : fail_database(c, e);
    if (e == SEINE_OK)
        e = each_row(c, db, summaries_sql, take_summary);
    sn_sqlite_close(db);
    return e;
}
