/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite_schema.h"

#include <string.h>

#define STRING(x) #x
#define TEXT(x)   STRING(x)

/* clang-format off */
#define META    "CREATE TABLE seine_meta(key TEXT PRIMARY KEY, value TEXT) STRICT, WITHOUT ROWID"
#define RESULT_HEAD(unique) \
    "CREATE TABLE result(seq INTEGER PRIMARY KEY, key TEXT NOT NULL" unique ", ts TEXT NOT NULL, input TEXT, url TEXT NOT NULL, final_url TEXT, host TEXT, ip TEXT, depth INTEGER, parent TEXT,\n" \
    "  outcome TEXT NOT NULL, status INTEGER, error_kind TEXT, error_message TEXT, attempts INTEGER NOT NULL, content_type TEXT, charset TEXT, bytes_in INTEGER, bytes_body INTEGER,\n" \
    "  time_total REAL, time_wait REAL, sha256 TEXT, title TEXT, change TEXT, body BLOB, json TEXT NOT NULL"
#define RESULT_TAIL ") STRICT"
#define RESULT(unique) RESULT_HEAD(unique) RESULT_TAIL
#define SKIP    "CREATE TABLE skip(seq INTEGER PRIMARY KEY, url TEXT NOT NULL, reason TEXT NOT NULL, rule TEXT, parent TEXT, ts TEXT NOT NULL) STRICT"
#define LINK    "CREATE TABLE link(seq INTEGER PRIMARY KEY, source TEXT, line INTEGER, target TEXT NOT NULL, verdict TEXT NOT NULL, status INTEGER, json TEXT NOT NULL) STRICT"
#define ERRORS  "CREATE TABLE item_error(seq INTEGER PRIMARY KEY, kind TEXT, url TEXT, n INTEGER, errors TEXT NOT NULL, data TEXT NOT NULL) STRICT"
#define SUMMARY "CREATE TABLE summary(run INTEGER PRIMARY KEY, json TEXT NOT NULL) STRICT"

/* What became of the URLs that links lead to; made on request. */
#define TARGET  "CREATE TABLE target(key TEXT PRIMARY KEY, seq INTEGER NOT NULL, verdict TEXT NOT NULL, status INTEGER, own INTEGER, next TEXT) STRICT, WITHOUT ROWID"

/* What the run was like over time; made when there is something to write. `at` is Unix time. */
#define TIMELINE "CREATE TABLE timeline(at INTEGER NOT NULL, seconds INTEGER NOT NULL, json TEXT NOT NULL, PRIMARY KEY (at, seconds)) STRICT, WITHOUT ROWID"

#define TABLES(unique) \
    META ";" RESULT(unique) ";" SKIP ";" LINK ";" ERRORS ";" SUMMARY ";" \
    "CREATE INDEX result_outcome ON result(outcome, error_kind); CREATE INDEX result_host ON result(host); CREATE INDEX skip_reason ON skip(reason);\n" \
    "CREATE VIEW failed AS SELECT url, outcome, status, error_kind, error_message FROM result WHERE outcome <> 'ok';\n" \
    "INSERT INTO seine_meta VALUES ('schema', '" TEXT(SN_SCHEMA) "'); PRAGMA application_id = " TEXT(SN_APPLICATION_ID) "; " \
    "PRAGMA user_version = " TEXT(SN_SCHEMA)
/* clang-format on */

static const char *const names[] = {"seine_meta", "result",     "skip",
                                    "link",       "item_error", "summary"};
static const char *const words[] = {META, RESULT(" UNIQUE"), SKIP, LINK, ERRORS, SUMMARY};
enum { COUNT = sizeof names / sizeof *names };

seine_err
sn_schema_make(sn_sqlite *db, bool repeats)
{
    return sn_sqlite_exec(db, repeats ? TABLES("") : TABLES(" UNIQUE"));
}

/* Whether there is a table of that name, and whether it was declared in those words. */
static seine_err
find_table(sn_sqlite *db, const char *name, sn_str words_of, bool *out_there,
           bool *out_ours)
{
    sn_sqlite_stmt *stmt;
    seine_err e = sn_sqlite_prepare(
        db, "SELECT sql FROM sqlite_schema WHERE lower(name) = ?", &stmt);

    if (e != SEINE_OK)
        return e;
    sn_sqlite_row row = sn_sqlite_bind(stmt);
    sn_sqlite_put_text(&row, sn_str_of(name));
    *out_there = *out_ours = false;
    e = sn_sqlite_next(stmt, out_there);
    if (e == SEINE_OK && *out_there)
        *out_ours = sn_str_eq(sn_sqlite_text(stmt, 0), words_of);
    sn_sqlite_finalize(stmt);
    return e;
}

seine_err
sn_schema_make_target(sn_sqlite *db)
{
    bool there, ours;
    seine_err e = find_table(db, "target", SN_STR(TARGET), &there, &ours);

    if (e == SEINE_OK && !there)
        return sn_sqlite_exec(db,
                              TARGET "; CREATE INDEX target_next ON target(next) WHERE "
                                     "next IS NOT NULL");
    return e == SEINE_OK && !ours ? SEINE_E_OUTPUT_CHANGED : e;
}

seine_err
sn_schema_make_timeline(sn_sqlite *db)
{
    bool there, ours;
    seine_err e = find_table(db, "timeline", SN_STR(TIMELINE), &there, &ours);

    if (e == SEINE_OK && !there)
        return sn_sqlite_exec(db, TIMELINE);
    return e == SEINE_OK && !ours ? SEINE_E_OUTPUT_CHANGED : e;
}

seine_err
sn_schema_find_timeline(sn_sqlite *db, bool *out_is_there)
{
    bool there;

    return find_table(db, "timeline", SN_STR(TIMELINE), &there, out_is_there);
}

/* Skips the columns of values: , "NAME" ANY. */
static sn_str
skip_columns(sn_str sql)
{
    while (sn_str_starts(sql, SN_STR(", \""))) {
        size_t i = 3;

        while (i < sql.len &&
               (sql.ptr[i] != '"' || (i + 1 < sql.len && sql.ptr[i + 1] == '"')))
            i += sql.ptr[i] == '"' ? 2 : 1;
        sn_str rest = sn_str_slice(sql, i, sql.len);
        if (!sn_str_starts(rest, SN_STR("\" ANY")))
            break;
        sql = sn_str_slice(rest, 5, rest.len);
    }
    return sql;
}

/* Is it the table of results, with any columns of values behind the others? */
static bool
is_result(sn_str sql, sn_str head)
{
    if (!sn_str_starts(sql, head))
        return false;
    return sn_str_eq(skip_columns(sn_str_slice(sql, head.len, sql.len)),
                     SN_STR(RESULT_TAIL));
}

static bool
is_ours(const char *name, const char *declared, sn_sqlite_stmt *row, bool *is_unique)
{
    sn_str sql = sn_sqlite_text(row, 2);

    if (!sn_str_eq(sn_sqlite_text(row, 0), SN_STR("table")) ||
        !sn_str_eq(sn_sqlite_text(row, 1), sn_str_of(name)))
        return false;
    if (strcmp(name, "result") != 0)
        return sn_str_eq(sql, sn_str_of(declared));
    if (is_result(sql, SN_STR(RESULT_HEAD(""))))
        *is_unique = false;
    else if (!is_result(sql, SN_STR(RESULT_HEAD(" UNIQUE"))))
        return false;
    return true;
}

static int
index_of(sn_str name)
{
    for (int i = 0; i < COUNT; i++)
        if (sn_str_eq_nocase(name, sn_str_of(names[i]))) /* as SQLite compares names */
            return i;
    return -1;
}

/* SQLite itself checks that type and name of a row are those of its declaration. */
seine_err
sn_schema_check(sn_sqlite *db, bool *out_is_unique)
{
    sn_sqlite_stmt *stmt;
    bool there = true, is_unique = true, ok = true;
    int found = 0;
    seine_err e =
        sn_sqlite_prepare(db, "SELECT type, name, sql FROM sqlite_schema", &stmt);

    if (e != SEINE_OK)
        return e;
    while ((e = sn_sqlite_next(stmt, &there)) == SEINE_OK && there) {
        int at = index_of(sn_sqlite_text(stmt, 1));

        found += at >= 0;
        ok = ok && (at < 0 || is_ours(names[at], words[at], stmt, &is_unique));
    }
    sn_sqlite_finalize(stmt);
    if (e == SEINE_OK && (!ok || found != COUNT))
        e = SEINE_E_OUTPUT_CHANGED;
    if (e == SEINE_OK)
        *out_is_unique = is_unique;
    return e;
}
