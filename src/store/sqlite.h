/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite.h - a SQLite database: prepared statements and bound values.
 *
 *     e = sn_sqlite_open("x.sqlite", SN_SQLITE_WRITE, &db);
 *     e = sn_sqlite_prepare(db, "INSERT INTO t VALUES (?, ?)", &put);
 *     sn_sqlite_row row = sn_sqlite_bind(put);
 *     sn_sqlite_put_int(&row, 1);
 *     sn_sqlite_put_text(&row, text);         valid until done, and UTF-8
 *     e = sn_sqlite_done(&row);
 *
 *     e = sn_sqlite_prepare(db, "SELECT a, b FROM t", &get);
 *     while ((e = sn_sqlite_next(get, &there)) == SEINE_OK && there)
 *         print(sn_sqlite_int(get, 0), sn_sqlite_text(get, 1));
 *
 * All SQL is constant; outside values are bound, so there is no SQL injection. A file may
 * be hostile: its triggers and views never run, virtual tables are no tables, a statement
 * ends 10 million steps after its last row, and a value that is read has at most 64 MiB
 * (STATE_CORRUPT). What SQLite does with files beside the database: sqlite_beside.h. A
 * symbolic link as the last part of the path is not followed. The last error stays in
 * the connection until the next call: sn_sqlite_errno.
 *
 * Time    a writer waits up to 10 s for another writer, never for readers.
 * Memory  SQLite's own: a cache of at most 8 MiB per connection.
 * Threads one owner.
 */
#ifndef SN_SQLITE_H
#define SN_SQLITE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

typedef struct sqlite3 sn_sqlite;
typedef struct sqlite3_stmt sn_sqlite_stmt;

typedef enum sn_sqlite_how {
    SN_SQLITE_STILL, /* reads a file that nobody writes; opens and makes no other file */
    SN_SQLITE_READ,  /* reads what is in its WAL, too */
    SN_SQLITE_WRITE
} sn_sqlite_how;

/* Opens an existing file. STATE_FOREIGN: not a database; IO, NOMEM; errno says more. */
SEINE_MUST_CHECK seine_err sn_sqlite_open(const char *path, sn_sqlite_how how,
                                          sn_sqlite **out_db);
/* For a file of our own: a statement may take as long as it likes. */
void sn_sqlite_trust(sn_sqlite *db);
void sn_sqlite_close(sn_sqlite *db); /* frees its statements; NULL is fine */

/* DISK_FULL, STATE_LOCKED, STATE_CORRUPT, STATE_FOREIGN, NOMEM, IO. */
SEINE_MUST_CHECK seine_err sn_sqlite_exec(sn_sqlite *db, const char *sql);
SEINE_MUST_CHECK seine_err sn_sqlite_prepare(sn_sqlite *db, const char *sql,
                                             sn_sqlite_stmt **out_stmt);
void sn_sqlite_finalize(sn_sqlite_stmt *stmt); /* before close; or close does it */

/* Moves all of the WAL into the file, without waiting for readers. *out_is false: one of
 * them is in the way, or the connection only reads. */
SEINE_MUST_CHECK seine_err sn_sqlite_settle(sn_sqlite *db, bool *out_is);
/* Bytes of the file itself, for sqlite_pages.h. STATE_CORRUPT: it ends before; IO. */
SEINE_MUST_CHECK seine_err sn_sqlite_read(sn_sqlite *db, uint64_t at, void *out,
                                          uint32_t n);
SEINE_MUST_CHECK seine_err sn_sqlite_size(sn_sqlite *db, uint64_t *out_size);

/* Returns the errno of the last failure, or the closest one. */
int sn_sqlite_errno(sn_sqlite *db);

/* Binds values from left to right; the rest is NULL. */
typedef struct sn_sqlite_row {
    sn_sqlite_stmt *stmt;
    int at, code;
} sn_sqlite_row;

sn_sqlite_row sn_sqlite_bind(sn_sqlite_stmt *stmt);
void sn_sqlite_put_int(sn_sqlite_row *row, int64_t n);
void sn_sqlite_put_real(sn_sqlite_row *row, double n);
void sn_sqlite_put_text(sn_sqlite_row *row, sn_str text); /* ptr NULL: NULL */
void sn_sqlite_put_blob(sn_sqlite_row *row, sn_str bytes);
void sn_sqlite_put_null(sn_sqlite_row *row);
SEINE_MUST_CHECK seine_err sn_sqlite_done(sn_sqlite_row *row); /* runs it to completion */

/* Steps to the next row; after the last one *out_there is false, and the statement is
 * reset. */
SEINE_MUST_CHECK seine_err sn_sqlite_next(sn_sqlite_stmt *stmt, bool *out_there);
void
sn_sqlite_reset(sn_sqlite_stmt *stmt); /* begins anew; not needed after the last row */
bool sn_sqlite_is_null(sn_sqlite_stmt *stmt, int column);
int64_t sn_sqlite_int(sn_sqlite_stmt *stmt, int column);
double sn_sqlite_real(sn_sqlite_stmt *stmt, int column);
sn_str sn_sqlite_text(sn_sqlite_stmt *stmt, int column); /* until the next row */
sn_str sn_sqlite_blob(sn_sqlite_stmt *stmt, int column);

#endif
