/* SPDX-License-Identifier: Apache-2.0 */
#include "console/docstore.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "console/docstore_parts.h"
#include "store/sqlite_beside.h"
#include "store/sqlite_schema.h"

enum { SCHEMA = 1 };

/* clang-format off */
static const char *const tables[][2] = {
    {"doc",
     "CREATE TABLE doc(id TEXT PRIMARY KEY CHECK(length(id)=26), kind TEXT NOT NULL CHECK(kind IN ('recipe','note')),\n"
     "  title TEXT NOT NULL CHECK(length(title) BETWEEN 1 AND 200), version INTEGER NOT NULL CHECK(version>=0), epoch TEXT NOT NULL,\n"
     "  created_ms INTEGER NOT NULL, modified_ms INTEGER NOT NULL, deleted_ms INTEGER) STRICT"},
    {"doc_snapshot",
     "CREATE TABLE doc_snapshot(doc_id TEXT NOT NULL REFERENCES doc(id) ON DELETE CASCADE, version INTEGER NOT NULL, units INTEGER NOT NULL,\n"
     "  text TEXT NOT NULL, sha256 BLOB NOT NULL CHECK(length(sha256)=32), created_ms INTEGER NOT NULL, label TEXT CHECK(length(label)<=80),\n"
     "  author TEXT, PRIMARY KEY(doc_id,version)) STRICT, WITHOUT ROWID"},
    {"doc_update",
     "CREATE TABLE doc_update(doc_id TEXT NOT NULL REFERENCES doc(id) ON DELETE CASCADE, version INTEGER NOT NULL CHECK(version>0),\n"
     "  client TEXT NOT NULL, seq INTEGER NOT NULL CHECK(seq>0), user TEXT NOT NULL, changes TEXT NOT NULL CHECK(changes LIKE '[%]'),\n"
     "  created_ms INTEGER NOT NULL, PRIMARY KEY(doc_id,version), UNIQUE(doc_id,client,seq)) STRICT, WITHOUT ROWID"},
    {"doc_client",
     "CREATE TABLE doc_client(doc_id TEXT NOT NULL REFERENCES doc(id) ON DELETE CASCADE, client TEXT NOT NULL, seq INTEGER NOT NULL,\n"
     "  user TEXT NOT NULL, seen_ms INTEGER NOT NULL, PRIMARY KEY(doc_id,client)) STRICT, WITHOUT ROWID"},
    {"page",
     "CREATE TABLE page(id TEXT PRIMARY KEY CHECK(length(id)=26), url TEXT NOT NULL, final_url TEXT NOT NULL, status INTEGER NOT NULL,\n"
     "  content_type TEXT, charset TEXT, body BLOB NOT NULL CHECK(length(body)<=4194304), sha256 BLOB NOT NULL, fetched_ms INTEGER NOT NULL,\n"
     "  used_ms INTEGER NOT NULL) STRICT"},
    {"token",
     "CREATE TABLE token(id TEXT PRIMARY KEY CHECK(length(id)=26), hash BLOB NOT NULL UNIQUE CHECK(length(hash)=32),\n"
     "  role TEXT NOT NULL CHECK(role IN ('viewer','editor','admin')), name TEXT NOT NULL, created_ms INTEGER NOT NULL,\n"
     "  expires_ms INTEGER, revoked_ms INTEGER) STRICT"},
    {"audit",
     "CREATE TABLE audit(seq INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, user TEXT NOT NULL, peer TEXT NOT NULL, action TEXT NOT NULL,\n"
     "  target TEXT, code INTEGER NOT NULL, detail TEXT) STRICT"},
};
#define X(id, sql) [SN_Q_##id] = sql,
static const char *const queries[SN_Q_COUNT] = {SN_DOC_STATEMENTS(X)};
#undef X
/* clang-format on */

enum { TABLES = sizeof tables / sizeof *tables };

/* Statements. */

sn_sqlite_row
sn_docstore_bind(sn_docstore *s, sn_doc_query q)
{
    return sn_sqlite_bind(s->stmts[q]);
}

seine_err
sn_docstore_run(sn_docstore *s, sn_doc_query q)
{
    sn_sqlite_row none = sn_docstore_bind(s, q);

    return sn_sqlite_done(&none);
}

seine_err
sn_docstore_changed(sn_docstore *s, int64_t *out_n)
{
    bool there;
    seine_err e = sn_sqlite_next(s->stmts[SN_Q_CHANGED], &there);

    if (e != SEINE_OK)
        return e;
    *out_n = there ? sn_sqlite_int(s->stmts[SN_Q_CHANGED], 0) : 0;
    sn_sqlite_reset(s->stmts[SN_Q_CHANGED]);
    return SEINE_OK;
}

void
sn_docstore_copy(sn_str text, char *out, size_t room)
{
    snprintf(out, room, "%.*s", SN_FMT(text));
}

seine_err
sn_docstore_begin(sn_docstore *s)
{
    return sn_docstore_run(s, SN_Q_BEGIN);
}

seine_err
sn_docstore_commit(sn_docstore *s)
{
    return sn_docstore_run(s, SN_Q_COMMIT);
}

void
sn_docstore_rollback(sn_docstore *s)
{
    seine_err done = sn_docstore_run(s, SN_Q_ROLLBACK);

    (void)done; /* SQLite may have done it already */
}

seine_err
sn_docstore_mark(sn_docstore *s)
{
    return sn_docstore_run(s, SN_Q_MARK);
}

seine_err
sn_docstore_unmark(sn_docstore *s, bool keeps)
{
    seine_err e = keeps ? SEINE_OK : sn_docstore_run(s, SN_Q_DROP_MARK);

    return e == SEINE_OK ? sn_docstore_run(s, SN_Q_KEEP_MARK) : e;
}

/* Opening. */

/* The number that a query of one value answers. */
static seine_err
ask(sn_sqlite *db, const char *sql, int64_t *out_n)
{
    sn_sqlite_stmt *stmt;
    bool there = false;
    seine_err e = sn_sqlite_prepare(db, sql, &stmt);

    if (e != SEINE_OK)
        return e;
    e = sn_sqlite_next(stmt, &there);
    *out_n = e == SEINE_OK && there ? sn_sqlite_int(stmt, 0) : 0;
    sn_sqlite_finalize(stmt);
    return e;
}

/* Is each table declared in our own words? */
static seine_err
check_tables(sn_sqlite *db)
{
    sn_sqlite_stmt *stmt;
    seine_err e = sn_sqlite_prepare(
        db, "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", &stmt);

    for (size_t i = 0; i < TABLES && e == SEINE_OK; i++) {
        bool there = false;
        sn_sqlite_row row = sn_sqlite_bind(stmt);

        sn_sqlite_put_text(&row, sn_str_of(tables[i][0]));
        e = sn_sqlite_next(stmt, &there);
        if (e == SEINE_OK &&
            (!there || !sn_str_eq(sn_sqlite_text(stmt, 0), sn_str_of(tables[i][1]))))
            e = SEINE_E_STATE_FOREIGN;
        sn_sqlite_reset(stmt);
    }
    sn_sqlite_finalize(stmt);
    return e;
}

static seine_err
make_tables(sn_sqlite *db)
{
    char mark[96];
    seine_err e = sn_sqlite_exec(db, "BEGIN IMMEDIATE");

    for (size_t i = 0; i < TABLES && e == SEINE_OK; i++)
        e = sn_sqlite_exec(db, tables[i][1]);
    snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %d",
             SN_APPLICATION_ID, SCHEMA);
    if (e == SEINE_OK)
        e = sn_sqlite_exec(db, mark);
    return e == SEINE_OK ? sn_sqlite_exec(db, "COMMIT") : e; /* closing rolls back */
}

static seine_err
check_file(sn_sqlite *db, bool may_make)
{
    int64_t application = 0, version = 0, objects = 0;
    seine_err e = ask(db, "PRAGMA application_id", &application);

    if (e == SEINE_OK)
        e = ask(db, "PRAGMA user_version", &version);
    if (e == SEINE_OK)
        e = ask(db, "SELECT count(*) FROM sqlite_schema", &objects);
    if (e != SEINE_OK)
        return e;
    if (objects == 0 && application == 0 && may_make)
        return make_tables(db);
    if (application != SN_APPLICATION_ID)
        return SEINE_E_STATE_FOREIGN;
    if (version > SCHEMA)
        return SEINE_E_STATE_NEWER;
    return check_tables(db);
}

static seine_err
set_up(sn_docstore *s, bool writes)
{
    seine_err e = check_file(s->db, writes);

    if (e == SEINE_OK && writes)
        e = sn_sqlite_exec(s->db, "PRAGMA journal_mode = WAL");
    if (e == SEINE_OK)
        e = sn_sqlite_exec(s->db, "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON");
    for (size_t i = 0; i < SN_Q_COUNT && e == SEINE_OK; i++)
        e = sn_sqlite_prepare(s->db, queries[i], &s->stmts[i]);
    sn_sqlite_trust(s->db);
    return e;
}

static void
explain(seine_err e, const char *path, int error, seine_diag *diag)
{
    char name[SEINE_DIAG_FILE], text[SN_DIAG_ERRNO];

    sn_diag_path(path, name);
    sn_diag_errno(error, text);
    if (e == SEINE_E_STATE_FOREIGN)
        sn_diag_text(diag, "%s is not the database of a console: nothing was changed",
                     name);
    else if (e == SEINE_E_STATE_NEWER)
        sn_diag_text(diag, "%s was written by a newer seine: nothing was changed", name);
    else if (e == SEINE_E_STATE_CORRUPT)
        sn_diag_text(diag, "%s is damaged: nothing was changed", name);
    else
        sn_diag_text(diag, "cannot open %s: %s", name, text);
}

/* Makes an empty file that only its owner reads. */
static bool
make_file(const char *path)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);

    return fd >= 0 ? close(fd) == 0 : errno == EEXIST;
}

seine_err
sn_docstore_open(const char *path, sn_sqlite_how how, sn_docstore **out_store,
                 seine_diag *diag)
{
    sn_docstore *s = sn_zalloc(sizeof *s);
    sn_beside side;
    int error = 0;
    seine_err e = s ? SEINE_OK : SEINE_E_NOMEM;

    sn_diag_clear(diag);
    sn_beside_look(path, &side);
    if (e == SEINE_OK && side.foreign) {
        sn_free(s);
        return sn_beside_refuse(path, side.foreign, diag);
    }
    if (e == SEINE_OK && how == SN_SQLITE_WRITE && !make_file(path))
        e = SEINE_E_IO;
    if (e == SEINE_OK)
        e = sn_sqlite_open(path, how, &s->db);
    error = errno;
    if (e == SEINE_OK) {
        e = set_up(s, how == SN_SQLITE_WRITE);
        error = sn_sqlite_errno(s->db);
    }
    if (e != SEINE_OK) {
        explain(e, path, error, diag);
        sn_docstore_close(s);
        return e;
    }
    *out_store = s;
    return SEINE_OK;
}

void
sn_docstore_close(sn_docstore *s)
{
    if (!s)
        return;
    sn_sqlite_close(s->db);
    sn_free(s);
}
