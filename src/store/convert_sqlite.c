/* SPDX-License-Identifier: Apache-2.0 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/convert.h"
#include "store/sqlite_beside.h"
#include "store/sqlite_schema.h"

/*
 * Reads rows of all tables in order of their numbers, each by its primary key, so that
 * nothing must be sorted. Summaries come last.
 *
 * The file may be hostile. A tree of pages can name one page many times, and so have rows
 * without number; so the numbers of a table must rise.
 */

#define ROWS(body)                                                                       \
    "SELECT seq, json, " body ", length(body), 0, NULL, NULL, NULL, NULL, NULL FROM "    \
    "result UNION ALL SELECT seq, NULL, NULL, NULL, 1, url, reason, rule, ts, parent "   \
    "FROM skip UNION ALL SELECT seq, json, NULL, NULL, 2, NULL, NULL, NULL, NULL, NULL " \
    "FROM link ORDER BY seq"
#define WITHOUT_BODIES ROWS("NULL") /* a body that nobody asked for is not read */
#define WITH_BODIES    ROWS("CASE WHEN length(body) <= 67108864 THEN body END")
#define SUMMARIES      "SELECT run, json, NULL, NULL, 3 FROM summary ORDER BY run"

enum { SEQ, JSON, BODY, LENGTH, TABLE, URL, REASON, RULE, TS, PARENT };
enum { N_TABLES = 4, MARK_AT = 68 /* where application_id stands in a file */ };

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

static seine_body_form
form_of(const sn_convert *c)
{
    return c->to == SEINE_SINK_SQLITE ? SEINE_BODY_B64 : c->opts->body;
}

static bool
wants_bodies(const sn_convert *c)
{
    return form_of(c) == SEINE_BODY_TEXT || form_of(c) == SEINE_BODY_B64;
}

/* Makes the line, with the body as its last member if it was asked for. */
static void
make_line(sn_convert *c, sn_sqlite_stmt *row)
{
    sn_str json = sn_sqlite_text(row, JSON), body = sn_sqlite_blob(row, BODY);
    sn_buf *b = &c->made;

    sn_buf_str(b, json);
    if (sn_sqlite_is_null(row, LENGTH))
        return;
    if (!wants_bodies(c)) {
        c->bodies_left++;
        return;
    }
    if (json.len == 0 || json.ptr[json.len - 1] != '}')
        return; /* the line is bad, and will be reported */
    sn_buf_truncate(b, json.len - 1);
    if (form_of(c) == SEINE_BODY_TEXT) {
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
    else if (!sn_sqlite_is_null(row, LENGTH) && wants_bodies(c) &&
             sn_sqlite_is_null(row, BODY))
        return sn_convert_bad(c, "larger than 64 MiB");
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

/* False: a number of this table that has been there. */
static bool
has_risen(sn_sqlite_stmt *row, int64_t last[N_TABLES])
{
    int64_t seq = sn_sqlite_int(row, SEQ), *before = &last[sn_sqlite_int(row, TABLE)];
    bool ok = seq > *before;

    *before = seq;
    return ok;
}

static seine_err
each_row(sn_convert *c, sn_sqlite *db, const char *sql,
         seine_err (*take)(sn_convert *c, sn_sqlite_stmt *row))
{
    int64_t last[N_TABLES] = {INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN};
    sn_sqlite_stmt *stmt;
    bool there = true;
    seine_err e = sn_sqlite_prepare(db, sql, &stmt);

    if (e != SEINE_OK)
        return fail_database(c, e);
    while (e == SEINE_OK && there) {
        e = sn_sqlite_next(stmt, &there);
        if (e == SEINE_OK && there && !has_risen(stmt, last))
            e = SEINE_E_STATE_CORRUPT;
        if (e != SEINE_OK)
            e = fail_database(c, e);
        else if (there)
            e = take(c, stmt);
    }
    sn_sqlite_finalize(stmt);
    return e;
}

/* Whether the file says that it is ours; anybody can write that. */
static bool
is_marked(const char *path)
{
    uint8_t mark[4] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return false;
    ssize_t got = pread(fd, mark, sizeof mark, MARK_AT);
    close(fd);
    return got == (ssize_t)sizeof mark && memcmp(mark, "SEIN", sizeof mark) == 0;
}

/* Chooses how to open the file: an input is never written. Only the WAL of a file of ours
 * is read with it. */
static seine_err
choose_how(sn_convert *c, const char *path, sn_sqlite_how *out_how)
{
    sn_beside side;

    sn_beside_look(path, &side);
    if (!side.foreign && side.is_filled && !is_marked(path))
        side.foreign = "-wal";
    if (side.foreign) {
        seine_err e = sn_beside_refuse(c->source.name, side.foreign, c->diag);

        return e == SEINE_E_STATE_FOREIGN ? SEINE_E_INVAL : e;
    }
    *out_how = side.has_wal && is_marked(path) ? SN_SQLITE_READ : SN_SQLITE_STILL;
    return SEINE_OK;
}

static bool
is_same(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static seine_err
read_tables(sn_convert *c, sn_sqlite *db)
{
    bool is_unique;
    seine_err e = sn_schema_check(db, &is_unique);

    if (e == SEINE_E_OUTPUT_CHANGED) {
        sn_diag_text(c->diag, "%s holds no records of seine", c->source.name);
        return SEINE_E_INVAL;
    }
    if (e != SEINE_OK)
        return fail_database(c, e);
    e = each_row(c, db, wants_bodies(c) ? WITH_BODIES : WITHOUT_BODIES, take_row);
    return e == SEINE_OK ? each_row(c, db, SUMMARIES, take_summary) : e;
}

static seine_err
read_file(sn_convert *c, const char *path)
{
    sn_sqlite *db = NULL;
    sn_sqlite_how how = SN_SQLITE_STILL;
    struct stat before, after;
    seine_err e = choose_how(c, path, &how);

    if (e != SEINE_OK)
        return e;
    if (stat(path, &before) != 0)
        return fail_database(c, SEINE_E_IO);
    e = sn_sqlite_open(path, how, &db);
    e = e == SEINE_OK ? read_tables(c, db) : fail_database(c, e);
    sn_sqlite_close(db);
    if (how == SN_SQLITE_STILL &&
        (stat(path, &after) != 0 || !is_same(&before, &after))) {
        sn_diag_text(c->diag, "%s was written while it was read: try again",
                     c->source.name);
        return SEINE_E_STATE_LOCKED;
    }
    return e;
}

seine_err
sn_convert_from_sqlite(sn_convert *c)
{
    char path[PATH_MAX]; /* without links, as SQLite would find files beside it */

    if (!c->opts->in || strcmp(c->opts->in, "-") == 0) {
        sn_diag_text(c->diag, "SQLite is a file: it cannot be read from standard input");
        return SEINE_E_INVAL;
    }
    if (!realpath(c->opts->in, path))
        return fail_database(c, SEINE_E_IO);
    return read_file(c, path);
}
