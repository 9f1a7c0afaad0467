/* SPDX-License-Identifier: Apache-2.0 */
/* The timeline of a run in a database: written at its end, read back by reports. */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/diag.h"
#include "store/out_sqlite.h"
#include "store/sqlite_beside.h"
#include "store/sqlite_schema.h"
#include "store/timeline.h"

static seine_err
put_slice(sn_sqlite_stmt *stmt, sn_str json)
{
    seine_slice s;

    if (!sn_slice_read(json, &s))
        return SEINE_OK;
    sn_sqlite_row row = sn_sqlite_bind(stmt);
    sn_sqlite_put_int(&row, s.wall / SEINE_SECS(1));
    sn_sqlite_put_int(&row, s.width / SEINE_SECS(1));
    sn_sqlite_put_text(&row, json);
    return sn_sqlite_done(&row);
}

seine_err
sn_base_put_slices(sn_base *b, sn_str lines)
{
    sn_sqlite_stmt *stmt;
    seine_err e = sn_schema_make_timeline(b->db);

    if (e != SEINE_OK)
        return e == SEINE_E_OUTPUT_CHANGED ? SEINE_OK : e;
    e = sn_sqlite_prepare(b->db, "INSERT OR REPLACE INTO timeline VALUES (?, ?, ?)",
                          &stmt);
    if (e != SEINE_OK)
        return e;
    while (e == SEINE_OK && lines.len > 0) {
        const char *end = memchr(lines.ptr, '\n', lines.len);
        size_t n = end ? (size_t)(end - lines.ptr) : lines.len;

        e = put_slice(stmt, sn_str_slice(lines, 0, n));
        lines = sn_str_slice(lines, n < lines.len ? n + 1 : n, lines.len);
    }
    sn_sqlite_finalize(stmt);
    return e;
}

/* Reading. */

/* Is it a database of ours? Anybody can write that; nothing else is opened. */
static bool
is_ours(const char *path)
{
    uint8_t head[72] = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return false;
    ssize_t got = pread(fd, head, sizeof head, 0);
    close(fd);
    return got == (ssize_t)sizeof head && memcmp(head, "SQLite format 3", 16) == 0 &&
           memcmp(head + 68, "SEIN", 4) == 0;
}

static seine_err
read_rows(sn_sqlite *db, seine_timeline *t)
{
    sn_sqlite_stmt *stmt;
    bool there = false;
    seine_slice s;
    seine_err e = sn_schema_find_timeline(db, &there);

    if (e != SEINE_OK || !there)
        return e;
    e = sn_sqlite_prepare(db, "SELECT json FROM timeline LIMIT 20000", &stmt);
    if (e != SEINE_OK)
        return e;
    while (e == SEINE_OK && (e = sn_sqlite_next(stmt, &there)) == SEINE_OK && there) {
        sn_str json = sn_sqlite_text(stmt, 0);

        if (json.len <= SN_SLICE_TEXT && sn_slice_read(json, &s))
            e = seine_timeline_add(t, &s);
    }
    sn_sqlite_finalize(stmt);
    return e == SEINE_E_FULL ? SEINE_OK : e;
}

seine_err
seine_timeline_read(seine_timeline *t, const char *path, seine_diag *diag)
{
    char real[PATH_MAX], name[SEINE_DIAG_FILE];
    sn_sqlite *db = NULL;
    sn_beside side;

    sn_diag_clear(diag);
    if (!t || !path)
        return SEINE_E_INVAL;
    if (!realpath(path, real) || !is_ours(real))
        return SEINE_OK;
    sn_beside_look(real, &side);
    if (side.foreign)
        return SEINE_OK;
    seine_err e =
        sn_sqlite_open(real, side.has_wal ? SN_SQLITE_READ : SN_SQLITE_STILL, &db);
    if (e == SEINE_OK)
        e = read_rows(db, t);
    sn_sqlite_close(db);
    if (e == SEINE_OK || e == SEINE_E_NOMEM)
        return e;
    sn_diag_path(path, name);
    sn_diag_text(diag, "%s: its timeline cannot be read: %s", name, seine_err_text(e));
    return e == SEINE_E_STATE_CORRUPT || e == SEINE_E_STATE_FOREIGN ? SEINE_E_PARSE : e;
}
