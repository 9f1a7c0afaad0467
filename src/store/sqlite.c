/* SPDX-License-Identifier: Apache-2.0 */
#include "store/sqlite.h"

#include <errno.h>
#include <limits.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file_write.h"

enum {
    WAIT_MS = 10000,
    STEPS = 10 * 1000 * 1000, /* of SQLite's machine per row; ours need some hundred */
    LONGEST = 64 << 20,       /* bytes of a value that is read */
    SCHEMA = 1 << 20          /* bytes of a declaration */
};

#define URI_MAX (3 * PATH_MAX + 32)

/* SQLite forgets the errno of some failed writes. Where files may not grow that is the
 * cause. */
static int
errno_of(sqlite3 *db)
{
    struct rlimit most;
    int error = sqlite3_system_errno(db);

    if (error == 0 && sqlite3_extended_errcode(db) == SQLITE_IOERR_WRITE &&
        getrlimit(RLIMIT_FSIZE, &most) == 0 && most.rlim_cur != RLIM_INFINITY)
        return EFBIG;
    return error;
}

static seine_err
err_of(sqlite3 *db, int code)
{
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE:
        return SEINE_OK;
    case SQLITE_NOMEM:
        return SEINE_E_NOMEM;
    case SQLITE_FULL:
        return SEINE_E_DISK_FULL;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return SEINE_E_STATE_LOCKED;
    case SQLITE_CORRUPT:
    case SQLITE_INTERRUPT: /* by give_up */
    case SQLITE_TOOBIG:
        return SEINE_E_STATE_CORRUPT;
    case SQLITE_NOTADB:
        return SEINE_E_STATE_FOREIGN;
    default:
        break;
    }
    int error = db ? errno_of(db) : 0;
    return error == ENOSPC || error == EDQUOT || error == EFBIG ? SEINE_E_DISK_FULL
                                                                : SEINE_E_IO;
}

int
sn_sqlite_errno(sqlite3 *db)
{
    int error = errno_of(db);

    switch (sqlite3_errcode(db) & 0xff) {
    case SQLITE_FULL:
        return error == EDQUOT || error == EFBIG ? error : ENOSPC;
    case SQLITE_NOMEM:
        return ENOMEM;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return EBUSY;
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return EACCES;
    default:
        return error ? error : EIO;
    }
}

/* Writes "file:PATH", with what a URI takes for its own escaped. */
static void
make_uri(const char *path, bool is_still, char out[URI_MAX])
{
    size_t n = (size_t)snprintf(out, URI_MAX, "file:");

    for (; *path; path++)
        n +=
            (size_t)snprintf(out + n, URI_MAX - n, strchr("%?#", *path) ? "%%%02x" : "%c",
                             (unsigned char)*path);
    if (is_still)
        snprintf(out + n, URI_MAX - n, "?immutable=1");
}

/* Ends a statement that took STEPS since its last row. */
static int
give_up(void *arg)
{
    (void)arg;
    return 1;
}

/* A hostile file runs no SQL in our process: no triggers, no views, no virtual tables, no
 * statement without end. */
static seine_err
confine(sqlite3 *db, sn_sqlite_how how)
{
    static const int switches[][2] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                                      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                      {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                      {SQLITE_DBCONFIG_ENABLE_VIEW, 0}};
    seine_err e = err_of(db, sqlite3_drop_modules(db, NULL));

    for (size_t i = 0; i < sizeof switches / sizeof *switches && e == SEINE_OK; i++)
        e = err_of(db, sqlite3_db_config(db, switches[i][0], switches[i][1], NULL));
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, SCHEMA);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    if (how != SN_SQLITE_WRITE)
        sqlite3_limit(db, SQLITE_LIMIT_LENGTH, LONGEST);
    sqlite3_progress_handler(db, STEPS, give_up, NULL);
    return e;
}

seine_err
sn_sqlite_open(const char *path, sn_sqlite_how how, sqlite3 **out_db)
{
    int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_PRIVATECACHE |
                SQLITE_OPEN_URI |
                (how == SN_SQLITE_WRITE ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
    char real[PATH_MAX], uri[URI_MAX];
    sqlite3 *db = NULL;

    if (!sn_file_real_path(path, real)) /* SQLite refuses links anywhere */
        return SEINE_E_IO;
    make_uri(real, how == SN_SQLITE_STILL, uri);
    seine_err e = err_of(NULL, sqlite3_open_v2(uri, &db, flags, NULL));
    if (e == SEINE_OK)
        e = err_of(db, sqlite3_busy_timeout(db, WAIT_MS));
    if (e == SEINE_OK)
        e = confine(db, how);
    if (e == SEINE_OK)
        e = sn_sqlite_exec(db, "PRAGMA cache_size = -4096");
    if (e != SEINE_OK) {
        int why = db ? sn_sqlite_errno(db) : ENOMEM;

        sn_sqlite_close(db);
        errno = why;
        return e;
    }
    *out_db = db;
    return SEINE_OK;
}

void
sn_sqlite_trust(sqlite3 *db)
{
    sqlite3_progress_handler(db, 0, NULL, NULL);
}

void
sn_sqlite_close(sqlite3 *db)
{
    sqlite3_stmt *stmt;

    if (!db)
        return;
    while ((stmt = sqlite3_next_stmt(db, NULL)))
        sqlite3_finalize(stmt);
    sqlite3_close(db);
}

seine_err
sn_sqlite_exec(sqlite3 *db, const char *sql)
{
    return err_of(db, sqlite3_exec(db, sql, NULL, NULL, NULL));
}

seine_err
sn_sqlite_prepare(sqlite3 *db, const char *sql, sqlite3_stmt **out_stmt)
{
    return err_of(
        db, sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, out_stmt, NULL));
}

void
sn_sqlite_finalize(sqlite3_stmt *stmt)
{
    sqlite3_finalize(stmt);
}

sn_sqlite_row
sn_sqlite_bind(sqlite3_stmt *stmt)
{
    return (sn_sqlite_row){.stmt = stmt};
}

/* The first failure stays. */
static void
note_code(sn_sqlite_row *row, int code)
{
    if (row->code == SQLITE_OK)
        row->code = code;
}

void
sn_sqlite_put_int(sn_sqlite_row *row, int64_t n)
{
    note_code(row, sqlite3_bind_int64(row->stmt, ++row->at, n));
}

void
sn_sqlite_put_real(sn_sqlite_row *row, double n)
{
    note_code(row, sqlite3_bind_double(row->stmt, ++row->at, n));
}

void
sn_sqlite_put_text(sn_sqlite_row *row, sn_str text)
{
    note_code(row, sqlite3_bind_text64(row->stmt, ++row->at, text.ptr, text.len,
                                       SQLITE_STATIC, SQLITE_UTF8));
}

void
sn_sqlite_put_blob(sn_sqlite_row *row, sn_str bytes)
{
    note_code(row, sqlite3_bind_blob64(row->stmt, ++row->at, bytes.ptr, bytes.len,
                                       SQLITE_STATIC));
}

void
sn_sqlite_put_null(sn_sqlite_row *row)
{
    note_code(row, sqlite3_bind_null(row->stmt, ++row->at));
}

seine_err
sn_sqlite_done(sn_sqlite_row *row)
{
    sqlite3 *db = sqlite3_db_handle(row->stmt);
    int code = row->code;

    sqlite3_stmt_status(row->stmt, SQLITE_STMTSTATUS_VM_STEP, true); /* of this row */
    while (code == SQLITE_OK || code == SQLITE_ROW)
        code = sqlite3_step(row->stmt);
    seine_err e = err_of(db, code);
    sqlite3_reset(row->stmt);
    sqlite3_clear_bindings(row->stmt);
    return e;
}

seine_err
sn_sqlite_next(sqlite3_stmt *stmt, bool *out_there)
{
    sqlite3_stmt_status(stmt, SQLITE_STMTSTATUS_VM_STEP, true); /* counts from here */
    int code = sqlite3_step(stmt);
    seine_err e = err_of(sqlite3_db_handle(stmt), code);

    *out_there = code == SQLITE_ROW;
    if (!*out_there)
        sqlite3_reset(stmt);
    return e;
}

void
sn_sqlite_reset(sqlite3_stmt *stmt)
{
    sqlite3_reset(stmt);
}

bool
sn_sqlite_is_null(sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_type(stmt, column) == SQLITE_NULL;
}

int64_t
sn_sqlite_int(sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_int64(stmt, column);
}

double
sn_sqlite_real(sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_double(stmt, column);
}

sn_str
sn_sqlite_text(sqlite3_stmt *stmt, int column)
{
    const void *text = sqlite3_column_text(stmt, column);

    return (sn_str){text, (size_t)sqlite3_column_bytes(stmt, column)};
}

sn_str
sn_sqlite_blob(sqlite3_stmt *stmt, int column)
{
    const void *bytes = sqlite3_column_blob(stmt, column);

    return (sn_str){bytes, (size_t)sqlite3_column_bytes(stmt, column)};
}

seine_err
sn_sqlite_settle(sqlite3 *db, bool *out_is)
{
    int frames = -1, moved = -1;

    *out_is = false;
    if (sqlite3_db_readonly(db, "main") != 0)
        return SEINE_OK; /* it cannot move them: that is no fault of the file */
    int code =
        sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_PASSIVE, &frames, &moved);
    *out_is = code == SQLITE_OK && frames >= 0 && frames == moved;
    return code == SQLITE_BUSY ? SEINE_OK : err_of(db, code);
}

static sqlite3_file *
file_of(sqlite3 *db)
{
    sqlite3_file *file = NULL;
    int code = sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file);

    return code == SQLITE_OK && file && file->pMethods ? file : NULL;
}

seine_err
sn_sqlite_read(sqlite3 *db, uint64_t at, void *out, uint32_t n)
{
    sqlite3_file *file = file_of(db);
    int code =
        file ? file->pMethods->xRead(file, out, (int)n, (sqlite3_int64)at) : SQLITE_IOERR;

    return code == SQLITE_OK                 ? SEINE_OK
           : code == SQLITE_IOERR_SHORT_READ ? SEINE_E_STATE_CORRUPT
                                             : SEINE_E_IO;
}

seine_err
sn_sqlite_size(sqlite3 *db, uint64_t *out_size)
{
    sqlite3_file *file = file_of(db);
    sqlite3_int64 size = 0;
    int code = file ? file->pMethods->xFileSize(file, &size) : SQLITE_IOERR;

    *out_size = (uint64_t)size;
    return code == SQLITE_OK ? SEINE_OK : SEINE_E_IO;
}
