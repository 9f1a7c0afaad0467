/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_table.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "store/job_page.h"

#define STRING(x) #x
#define TEXT(x)   STRING(x)

#define COLUMN(c) #c " INTEGER NOT NULL, "
#define ONE(c)    +1

typedef struct shape {
    const char *name, *declared;
    unsigned n_ints, n_texts;
    unsigned n_blobs; /* of the texts, the last ones */
} shape;

/* The order of the columns is part of the CRC. */
/* clang-format off */
static const shape shapes[SN_TABLES] = {
    [SN_TABLE_JOB] = {"job", "CREATE TABLE job(id INTEGER PRIMARY KEY, created_ms INTEGER NOT NULL, run INTEGER NOT NULL, state INTEGER NOT NULL, clean INTEGER NOT NULL, durability INTEGER NOT NULL, secret0 INTEGER NOT NULL, secret1 INTEGER NOT NULL, name TEXT NOT NULL, verb TEXT NOT NULL, spec TEXT NOT NULL, command TEXT NOT NULL, boot_id TEXT NOT NULL, crc INTEGER NOT NULL) STRICT", 8, 5, 0},
    [SN_TABLE_HEAD] = {"head", "CREATE TABLE head(id INTEGER PRIMARY KEY, grp INTEGER NOT NULL, updated_ms INTEGER NOT NULL, next_number INTEGER NOT NULL, next_seq INTEGER NOT NULL, urls INTEGER NOT NULL, requests INTEGER NOT NULL, results INTEGER NOT NULL, ended INTEGER NOT NULL, hosts INTEGER NOT NULL, robots INTEGER NOT NULL, notes INTEGER NOT NULL, outputs INTEGER NOT NULL, synced_seq INTEGER NOT NULL, " SN_JOB_SUMS(COLUMN) "crc INTEGER NOT NULL) STRICT", 14 SN_JOB_SUMS(ONE), 0, 0},
    [SN_TABLE_HOST] = {"host", "CREATE TABLE host(id INTEGER PRIMARY KEY, " SN_JOB_HOST(COLUMN) "name TEXT NOT NULL, crc INTEGER NOT NULL) STRICT", 1 SN_JOB_HOST(ONE), 1, 0},
    [SN_TABLE_ROBOTS] = {"robots", "CREATE TABLE robots(host INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, state INTEGER NOT NULL, body BLOB NOT NULL, crc INTEGER NOT NULL) STRICT", 3, 1, 1},
    [SN_TABLE_URL] = {"url", "CREATE TABLE url(number INTEGER PRIMARY KEY, host INTEGER NOT NULL, print INTEGER NOT NULL, parent INTEGER NOT NULL, line INTEGER NOT NULL, depth INTEGER NOT NULL, meta INTEGER NOT NULL, path TEXT NOT NULL, crc INTEGER NOT NULL) STRICT", 7, 1, 0},
    [SN_TABLE_REQUEST] = {"request", "CREATE TABLE request(url INTEGER PRIMARY KEY, parent TEXT NOT NULL, spec TEXT NOT NULL, crc INTEGER NOT NULL) STRICT", 1, 2, 0},
    [SN_TABLE_RESULT] = {"result", "CREATE TABLE result(seq INTEGER PRIMARY KEY, url INTEGER NOT NULL, kind INTEGER NOT NULL, status INTEGER NOT NULL, attempts INTEGER NOT NULL, at_ms INTEGER NOT NULL, bytes_in INTEGER NOT NULL, bytes_body INTEGER NOT NULL, total_us INTEGER NOT NULL, latency_us INTEGER NOT NULL, print INTEGER NOT NULL, crc INTEGER NOT NULL) STRICT", 11, 0, 0},
    [SN_TABLE_ENDED] = {"ended", "CREATE TABLE ended(url INTEGER PRIMARY KEY, crc INTEGER NOT NULL) STRICT", 1, 0, 0},
    [SN_TABLE_NOTE] = {"note", "CREATE TABLE note(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, crc INTEGER NOT NULL) STRICT", 2, 2, 1},
    [SN_TABLE_OUTPUT] = {"output", "CREATE TABLE output(id INTEGER PRIMARY KEY, dev INTEGER NOT NULL, ino INTEGER NOT NULL, committed INTEGER NOT NULL, tail_crc INTEGER NOT NULL, synced INTEGER NOT NULL, synced_crc INTEGER NOT NULL, path TEXT NOT NULL, detail TEXT NOT NULL, crc INTEGER NOT NULL) STRICT", 7, 2, 0},
    [SN_TABLE_PAGE] = {"page", "CREATE TABLE page(url INTEGER PRIMARY KEY, " SN_JOB_PAGE(COLUMN) "etag TEXT NOT NULL, modified TEXT NOT NULL, body BLOB NOT NULL, links BLOB NOT NULL, crc INTEGER NOT NULL) STRICT", 1 SN_JOB_PAGE(ONE), 4, 2},
    [SN_TABLE_ROUND] = {"round", "CREATE TABLE round(id INTEGER PRIMARY KEY, " SN_JOB_ROUND(COLUMN) "crc INTEGER NOT NULL) STRICT", 1 SN_JOB_ROUND(ONE), 0, 0},
};
/* clang-format on */

_Static_assert(14 SN_JOB_SUMS(ONE) <= SN_JOB_INTS, "head");
_Static_assert(1 SN_JOB_HOST(ONE) <= SN_JOB_INTS, "host");

const char *
sn_job_table_name(sn_job_table_id id)
{
    return shapes[id].name;
}

unsigned
sn_job_table_blobs(sn_job_table_id id)
{
    return shapes[id].n_blobs;
}

seine_err
sn_job_tables_make(sn_sqlite *db)
{
    seine_err e = SEINE_OK;

    for (unsigned i = 0; i < SN_TABLES && e == SEINE_OK; i++)
        e = sn_sqlite_exec(db, shapes[i].declared);
    if (e == SEINE_OK)
        e = sn_sqlite_exec(
            db, "PRAGMA application_id = " TEXT(
                    SN_JOB_APPLICATION) "; PRAGMA user_version = " TEXT(SN_JOB_FORMAT));
    return e;
}

/* Exactly the declarations of the first `tables`, and no others. */
static seine_err
check_declarations(sn_sqlite *db, unsigned tables, sn_job_table *out_tables)
{
    sn_sqlite_stmt *stmt;
    bool there = true;
    unsigned n = 0;
    seine_err e = sn_sqlite_prepare(
        db, "SELECT type, name, sql, rootpage FROM sqlite_schema ORDER BY rowid", &stmt);

    if (e != SEINE_OK)
        return e;
    while (e == SEINE_OK && (e = sn_sqlite_next(stmt, &there)) == SEINE_OK && there) {
        if (n == tables || !sn_str_eq(sn_sqlite_text(stmt, 0), SN_STR("table")) ||
            !sn_str_eq(sn_sqlite_text(stmt, 1), sn_str_of(shapes[n].name)) ||
            !sn_str_eq(sn_sqlite_text(stmt, 2), sn_str_of(shapes[n].declared)))
            e = SEINE_E_STATE_CORRUPT;
        else if (out_tables)
            out_tables[n].root = (uint32_t)sn_sqlite_int(stmt, 3);
        n++;
    }
    sn_sqlite_finalize(stmt);
    return e == SEINE_OK && n != tables ? SEINE_E_STATE_CORRUPT : e;
}

seine_err
sn_job_tables_upgrade(sn_sqlite *db)
{
    seine_err e = check_declarations(db, SN_TABLE_PAGE, NULL);

    for (unsigned i = SN_TABLE_PAGE; i < SN_TABLES && e == SEINE_OK; i++)
        e = sn_sqlite_exec(db, shapes[i].declared);
    return e == SEINE_OK
               ? sn_sqlite_exec(db, "PRAGMA user_version = " TEXT(SN_JOB_FORMAT))
               : e;
}

/* Statements are prepared when they are first needed: most tables are never read row by
 * row. */
static seine_err
prepare_put(sn_job_table *t)
{
    const shape *s = &shapes[t->id];
    char sql[256];

    if (t->put)
        return SEINE_OK;
    int n = snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO %s VALUES (?", s->name);
    for (unsigned i = 0; i < s->n_ints + s->n_texts; i++)
        n += snprintf(sql + n, sizeof sql - (size_t)n, ",?");
    snprintf(sql + n, sizeof sql - (size_t)n, ")");
    return sn_sqlite_prepare(t->db, sql, &t->put);
}

static seine_err
prepare_select(const sn_job_table *t, const char *how, sn_sqlite_stmt **stmt)
{
    char sql[128];

    if (*stmt)
        return SEINE_OK;
    snprintf(sql, sizeof sql, "SELECT * FROM %s %s", shapes[t->id].name, how);
    return sn_sqlite_prepare(t->db, sql, stmt);
}

seine_err
sn_job_tables_open(sn_sqlite *db, sn_job_table out_tables[SN_TABLES])
{
    for (unsigned i = 0; i < SN_TABLES; i++)
        out_tables[i] = (sn_job_table){.id = (sn_job_table_id)i,
                                       .db = db,
                                       .n_ints = shapes[i].n_ints,
                                       .n_texts = shapes[i].n_texts};
    return check_declarations(db, SN_TABLES, out_tables);
}

int32_t
sn_job_table_crc(const sn_job_table *t, const sn_job_row *row)
{
    uint64_t head[SN_JOB_INTS + SN_JOB_TEXTS + 5];
    unsigned n = 0;

    head[n++] = t->id;
    for (unsigned i = 0; i < t->n_ints; i++)
        head[n++] = (uint64_t)row->ints[i];
    for (unsigned i = 0; i < t->n_texts; i++)
        head[n++] = row->texts[i].len;
    uint32_t crc = sn_crc32(0, head, n * sizeof *head);
    for (unsigned i = 0; i < t->n_texts; i++)
        if (row->texts[i].len > 0)
            crc = sn_crc32(crc, row->texts[i].ptr, row->texts[i].len);
    return (int32_t)crc;
}

/* Texts that are not UTF-8 would be changed by nobody, since SQLite stores bytes; a blob
 * keeps them apart from what people read. */
static void
put_values(const sn_job_table *t, const sn_job_row *row, sn_sqlite_row *to)
{
    for (unsigned i = 0; i < t->n_ints; i++)
        sn_sqlite_put_int(to, row->ints[i]);
    for (unsigned i = 0; i < t->n_texts; i++) {
        sn_str text = row->texts[i].ptr ? row->texts[i] : SN_STR("");

        if (i + shapes[t->id].n_blobs >= t->n_texts)
            sn_sqlite_put_blob(to, text);
        else
            sn_sqlite_put_text(to, text);
    }
    sn_sqlite_put_int(to, sn_job_table_crc(t, row));
}

seine_err
sn_job_table_put(sn_job_table *t, const sn_job_row *row)
{
    seine_err e = prepare_put(t);

    if (e != SEINE_OK)
        return e;
    sn_sqlite_row to = sn_sqlite_bind(t->put);
    put_values(t, row, &to);
    return sn_sqlite_done(&to);
}

static seine_err
read_row(const sn_job_table *t, sn_sqlite_stmt *stmt, sn_job_row *row)
{
    for (unsigned i = 0; i < t->n_ints; i++)
        row->ints[i] = sn_sqlite_int(stmt, (int)i);
    for (unsigned i = 0; i < t->n_texts; i++)
        row->texts[i] = sn_sqlite_blob(stmt, (int)(t->n_ints + i));
    int64_t crc = sn_sqlite_int(stmt, (int)(t->n_ints + t->n_texts));
    return crc == sn_job_table_crc(t, row) ? SEINE_OK : SEINE_E_STATE_CORRUPT;
}

seine_err
sn_job_table_direct(sn_job_table *t, const sn_sqlite_pages *p)
{
    sn_sqlite_cursor_fini(&t->direct);
    return sn_sqlite_cursor_init(&t->direct, p, t->root);
}

static seine_err
read_record(const sn_job_table *t, sn_str record, sn_job_row *row)
{
    int64_t crc;
    seine_err e = sn_sqlite_record_read(record, row->ints + 1, t->n_ints - 1, row->texts,
                                        t->n_texts, &crc);

    return e == SEINE_OK && crc != sn_job_table_crc(t, row) ? SEINE_E_STATE_CORRUPT : e;
}

static seine_err
next_direct(sn_job_table *t, sn_job_row *row, bool *out_there)
{
    sn_str record;
    seine_err e = sn_sqlite_cursor_next(&t->direct, &row->ints[0], &record, out_there);

    return e == SEINE_OK && *out_there ? read_record(t, record, row) : e;
}

seine_err
sn_job_table_find(const sn_job_table *t, sn_sqlite_cursor *c, int64_t key,
                  sn_job_row *row, bool *out_there)
{
    sn_str record;
    seine_err e = sn_sqlite_cursor_find(c, key, &record, out_there);

    row->ints[0] = key;
    return e == SEINE_OK && *out_there ? read_record(t, record, row) : e;
}

seine_err
sn_job_table_next(sn_job_table *t, sn_job_row *row, bool *out_there)
{
    if (t->direct.pages)
        return next_direct(t, row, out_there);
    seine_err e = prepare_select(t, "ORDER BY 1", &t->all);
    if (e == SEINE_OK)
        e = sn_sqlite_next(t->all, out_there);
    return e == SEINE_OK && *out_there ? read_row(t, t->all, row) : e;
}

seine_err
sn_job_table_get(sn_job_table *t, int64_t key, sn_job_row *row, bool *out_there)
{
    seine_err e = prepare_select(t, "WHERE rowid = ?", &t->get);

    if (e != SEINE_OK)
        return e;
    sn_sqlite_row at = sn_sqlite_bind(t->get);
    sn_sqlite_reset(t->get);
    sn_sqlite_put_int(&at, key);
    e = at.code == 0 ? sn_sqlite_next(t->get, out_there) : SEINE_E_NOMEM;
    return e == SEINE_OK && *out_there ? read_row(t, t->get, row) : e;
}

void
sn_job_table_reset(sn_job_table *t)
{
    if (t->all)
        sn_sqlite_reset(t->all);
    if (t->get)
        sn_sqlite_reset(t->get);
    sn_sqlite_cursor_fini(&t->direct);
}

seine_err
sn_job_table_after(sn_sqlite *db, const sn_job_table *t, sn_sqlite_stmt **stmt,
                   int64_t key, sn_job_row *row, bool *out_there)
{
    char sql[128];
    seine_err e = SEINE_OK;

    *out_there = false;
    if (!*stmt) {
        snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE rowid > ? ORDER BY 1 LIMIT 1",
                 shapes[t->id].name);
        e = sn_sqlite_prepare(db, sql, stmt);
    }
    if (e != SEINE_OK)
        return e;
    sn_sqlite_row at = sn_sqlite_bind(*stmt);
    sn_sqlite_reset(*stmt);
    sn_sqlite_put_int(&at, key);
    e = at.code == 0 ? sn_sqlite_next(*stmt, out_there) : SEINE_E_NOMEM;
    if (e != SEINE_OK)
        *out_there = false;
    return e == SEINE_OK && *out_there ? read_row(t, *stmt, row) : e;
}
