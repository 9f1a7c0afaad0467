/* SPDX-License-Identifier: Apache-2.0 */
/* The declarations of all tables, in this format and in older ones, which are brought to
 * it. */
#include <stdio.h>
#include <string.h>

#include "store/job_page.h"
#include "store/job_table.h"

#define STRING(x) #x
#define TEXT(x)   STRING(x)

#define COLUMN(c) #c " INTEGER NOT NULL, "
#define ONE(c)    +1

typedef struct shape {
    const char *name, *declared;
    unsigned n_ints, n_texts;
    unsigned n_blobs; /* of the texts, the last ones */
    bool
        is_packed; /* its row is (pack, rows, crc), and n_ints, n_texts of those inside */
} shape;

#define PACKED(name)     \
    "CREATE TABLE " name \
    "(pack INTEGER PRIMARY KEY, rows BLOB NOT NULL, crc INTEGER NOT NULL) STRICT"

/* The order of the columns is part of the CRC. */
/* clang-format off */
static const shape shapes[SN_TABLES] = {
    [SN_TABLE_JOB] = {"job", "CREATE TABLE job(id INTEGER PRIMARY KEY, created_ms INTEGER NOT NULL, run INTEGER NOT NULL, state INTEGER NOT NULL, clean INTEGER NOT NULL, durability INTEGER NOT NULL, secret0 INTEGER NOT NULL, secret1 INTEGER NOT NULL, name TEXT NOT NULL, verb TEXT NOT NULL, spec TEXT NOT NULL, command TEXT NOT NULL, boot_id TEXT NOT NULL, crc INTEGER NOT NULL) STRICT", 8, 5, 0, false},
    [SN_TABLE_HEAD] = {"head", "CREATE TABLE head(id INTEGER PRIMARY KEY, grp INTEGER NOT NULL, updated_ms INTEGER NOT NULL, next_number INTEGER NOT NULL, next_seq INTEGER NOT NULL, urls INTEGER NOT NULL, requests INTEGER NOT NULL, results INTEGER NOT NULL, ended INTEGER NOT NULL, hosts INTEGER NOT NULL, robots INTEGER NOT NULL, notes INTEGER NOT NULL, outputs INTEGER NOT NULL, synced_seq INTEGER NOT NULL, " SN_JOB_SUMS(COLUMN) "crc INTEGER NOT NULL) STRICT", 14 SN_JOB_SUMS(ONE), 0, 0, false},
    [SN_TABLE_HOST] = {"host", "CREATE TABLE host(id INTEGER PRIMARY KEY, " SN_JOB_HOST(COLUMN) "name TEXT NOT NULL, crc INTEGER NOT NULL) STRICT", 1 SN_JOB_HOST(ONE), 1, 0, false},
    [SN_TABLE_ROBOTS] = {"robots", "CREATE TABLE robots(host INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, state INTEGER NOT NULL, body BLOB NOT NULL, crc INTEGER NOT NULL) STRICT", 3, 1, 1, false},
    [SN_TABLE_URL] = {"urls", PACKED("urls"), 7, 1, 1, true}, /* number, host, print, parent, line, depth, meta; path */
    [SN_TABLE_REQUEST] = {"request", "CREATE TABLE request(url INTEGER PRIMARY KEY, parent TEXT NOT NULL, spec TEXT NOT NULL, crc INTEGER NOT NULL) STRICT", 1, 2, 0, false},
    [SN_TABLE_RESULT] = {"results", PACKED("results"), 11, 0, 1, true}, /* seq, url, kind, status, attempts, at_ms, bytes_in, bytes_body, total_us, latency_us, print */
    [SN_TABLE_ENDED] = {"ended", "CREATE TABLE ended(url INTEGER PRIMARY KEY, crc INTEGER NOT NULL) STRICT", 1, 0, 0, false},
    [SN_TABLE_NOTE] = {"note", "CREATE TABLE note(id INTEGER PRIMARY KEY, kind INTEGER NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL, crc INTEGER NOT NULL) STRICT", 2, 2, 1, false},
    [SN_TABLE_OUTPUT] = {"output", "CREATE TABLE output(id INTEGER PRIMARY KEY, dev INTEGER NOT NULL, ino INTEGER NOT NULL, committed INTEGER NOT NULL, tail_crc INTEGER NOT NULL, synced INTEGER NOT NULL, synced_crc INTEGER NOT NULL, path TEXT NOT NULL, detail TEXT NOT NULL, crc INTEGER NOT NULL) STRICT", 7, 2, 0, false},
    [SN_TABLE_PAGE] = {"page", "CREATE TABLE page(url INTEGER PRIMARY KEY, " SN_JOB_PAGE(COLUMN) "etag TEXT NOT NULL, modified TEXT NOT NULL, body BLOB NOT NULL, links BLOB NOT NULL, crc INTEGER NOT NULL) STRICT", 1 SN_JOB_PAGE(ONE), 4, 2, false},
    [SN_TABLE_ROUND] = {"round", "CREATE TABLE round(id INTEGER PRIMARY KEY, " SN_JOB_ROUND(COLUMN) "crc INTEGER NOT NULL) STRICT", 1 SN_JOB_ROUND(ONE), 0, 0, false},
};

/* What other formats have instead. */
static const shape old_url = {"url", "CREATE TABLE url(number INTEGER PRIMARY KEY, host INTEGER NOT NULL, print INTEGER NOT NULL, parent INTEGER NOT NULL, line INTEGER NOT NULL, depth INTEGER NOT NULL, meta INTEGER NOT NULL, path TEXT NOT NULL, crc INTEGER NOT NULL) STRICT", 7, 1, 0, false};
static const shape old_result = {"result", "CREATE TABLE result(seq INTEGER PRIMARY KEY, url INTEGER NOT NULL, kind INTEGER NOT NULL, status INTEGER NOT NULL, attempts INTEGER NOT NULL, at_ms INTEGER NOT NULL, bytes_in INTEGER NOT NULL, bytes_body INTEGER NOT NULL, total_us INTEGER NOT NULL, latency_us INTEGER NOT NULL, print INTEGER NOT NULL, crc INTEGER NOT NULL) STRICT", 11, 0, 0, false};
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

/* The table as that format has it; NULL: it has none. */
static const shape *
shape_in(int64_t format, unsigned i)
{
    if (format < 2 && (i == SN_TABLE_PAGE || i == SN_TABLE_ROUND))
        return NULL;
    if (format < 3 && i == SN_TABLE_URL)
        return &old_url;
    return format < 3 && i == SN_TABLE_RESULT ? &old_result : &shapes[i];
}

/* The number of the table that has this declaration. SN_TABLES: none. */
static unsigned
find_shape(int64_t format, sn_str name, sn_str declared)
{
    for (unsigned i = 0; i < SN_TABLES; i++) {
        const shape *s = shape_in(format, i);

        if (s && sn_str_eq(name, sn_str_of(s->name)) &&
            sn_str_eq(declared, sn_str_of(s->declared)))
            return i;
    }
    return SN_TABLES;
}

/* Exactly the declarations of that format, and no others. */
static seine_err
check_declarations(sn_sqlite *db, int64_t format, sn_job_table *out_tables)
{
    sn_sqlite_stmt *stmt;
    bool there = true, has[SN_TABLES] = {false};
    seine_err e = sn_sqlite_prepare(
        db, "SELECT type, name, sql, rootpage FROM sqlite_schema", &stmt);

    if (e != SEINE_OK)
        return e;
    while (e == SEINE_OK && (e = sn_sqlite_next(stmt, &there)) == SEINE_OK && there) {
        unsigned i = find_shape(format, sn_sqlite_text(stmt, 1), sn_sqlite_text(stmt, 2));

        if (i == SN_TABLES || has[i] ||
            !sn_str_eq(sn_sqlite_text(stmt, 0), SN_STR("table"))) {
            e = SEINE_E_STATE_CORRUPT;
            break;
        }
        has[i] = true;
        if (out_tables)
            out_tables[i].root = (uint32_t)sn_sqlite_int(stmt, 3);
    }
    sn_sqlite_finalize(stmt);
    for (unsigned i = 0; i < SN_TABLES && e == SEINE_OK; i++)
        if (shape_in(format, i) && !has[i])
            e = SEINE_E_STATE_CORRUPT;
    return e;
}

/* Moves all rows of a table into one of packs. */
static seine_err
pack_rows(sn_sqlite *db, sn_job_table_id id, const shape *from)
{
    sn_job_table old = {
        .id = id, .db = db, .n_ints = from->n_ints, .n_texts = from->n_texts};
    sn_job_table to = old;
    sn_job_row row = {.ints = {0}};
    bool there = true;
    sn_buf rows;
    int64_t pack = -1;
    char sql[64];
    seine_err e;

    to.is_packed = true;
    sn_buf_init(&rows, SIZE_MAX - 1);
    snprintf(sql, sizeof sql, "SELECT * FROM %s ORDER BY 1", from->name);
    e = sn_sqlite_prepare(db, sql, &old.all);
    while (e == SEINE_OK && (e = sn_job_table_next(&old, &row, &there)) == SEINE_OK &&
           there) {
        if (sn_job_pack_of(row.ints[0]) != pack && rows.len > 0) {
            e = sn_job_table_put_pack(&to, pack, sn_buf_view(&rows));
            sn_buf_reset(&rows);
        }
        pack = sn_job_pack_of(row.ints[0]);
        sn_job_pack_shape inside = {to.n_ints, to.n_texts};
        if (e == SEINE_OK)
            e = pack < 0 ? SEINE_E_STATE_CORRUPT : sn_job_pack_add(&rows, &inside, &row);
    }
    if (e == SEINE_OK && rows.len > 0)
        e = sn_job_table_put_pack(&to, pack, sn_buf_view(&rows));
    sn_buf_fini(&rows);
    sn_sqlite_finalize(old.all); /* NULL is fine */
    sn_sqlite_finalize(to.put);
    sn_sqlite_finalize(to.get);
    snprintf(sql, sizeof sql, "DROP TABLE %s", from->name);
    return e == SEINE_OK ? sn_sqlite_exec(db, sql) : e;
}

seine_err
sn_job_tables_upgrade(sn_sqlite *db, int64_t format)
{
    seine_err e = check_declarations(db, format, NULL);

    for (unsigned i = 0; i < SN_TABLES && e == SEINE_OK; i++)
        if (shape_in(format, i) != &shapes[i])
            e = sn_sqlite_exec(db, shapes[i].declared);
    if (e == SEINE_OK)
        e = pack_rows(db, SN_TABLE_URL, &old_url);
    if (e == SEINE_OK)
        e = pack_rows(db, SN_TABLE_RESULT, &old_result);
    return e == SEINE_OK
               ? sn_sqlite_exec(db, "PRAGMA user_version = " TEXT(SN_JOB_FORMAT))
               : e;
}

seine_err
sn_job_tables_open(sn_sqlite *db, sn_job_table out_tables[SN_TABLES])
{
    for (unsigned i = 0; i < SN_TABLES; i++)
        out_tables[i] = (sn_job_table){.id = (sn_job_table_id)i,
                                       .db = db,
                                       .n_ints = shapes[i].n_ints,
                                       .n_texts = shapes[i].n_texts,
                                       .is_packed = shapes[i].is_packed};
    return check_declarations(db, SN_JOB_FORMAT, out_tables);
}
