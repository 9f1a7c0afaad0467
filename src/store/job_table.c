/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_table.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

/* Statements are prepared when they are first needed: most tables are never read row by
 * row. */
static seine_err
prepare_put(sn_job_table *t)
{
    char sql[256];

    if (t->put)
        return SEINE_OK;
    sn_job_pack_shape stored = sn_job_table_stored(t);
    int n = snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO %s VALUES (?",
                     sn_job_table_name(t->id));
    for (unsigned i = 0; i < stored.n_ints + stored.n_texts; i++)
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
    snprintf(sql, sizeof sql, "SELECT * FROM %s %s", sn_job_table_name(t->id), how);
    return sn_sqlite_prepare(t->db, sql, stmt);
}

sn_job_pack_shape
sn_job_table_stored(const sn_job_table *t)
{
    return t->is_packed ? (sn_job_pack_shape){1, 1}
                        : (sn_job_pack_shape){t->n_ints, t->n_texts};
}

int32_t
sn_job_table_crc(const sn_job_table *t, const sn_job_row *stored)
{
    sn_job_pack_shape shape = sn_job_table_stored(t);
    uint64_t head[SN_JOB_INTS + SN_JOB_TEXTS + 5];
    unsigned n = 0;

    head[n++] = t->id;
    for (unsigned i = 0; i < shape.n_ints; i++)
        head[n++] = (uint64_t)stored->ints[i];
    for (unsigned i = 0; i < shape.n_texts; i++)
        head[n++] = stored->texts[i].len;
    uint32_t crc = sn_crc32(0, head, n * sizeof *head);
    for (unsigned i = 0; i < shape.n_texts; i++)
        if (stored->texts[i].len > 0)
            crc = sn_crc32(crc, stored->texts[i].ptr, stored->texts[i].len);
    return (int32_t)crc;
}

/* Rows of SQLite */

/* Texts that are not UTF-8 would be changed by nobody, since SQLite stores bytes; a blob
 * keeps them apart from what people read. */
static void
put_values(const sn_job_table *t, const sn_job_row *row, sn_sqlite_row *to)
{
    sn_job_pack_shape shape = sn_job_table_stored(t);

    for (unsigned i = 0; i < shape.n_ints; i++)
        sn_sqlite_put_int(to, row->ints[i]);
    for (unsigned i = 0; i < shape.n_texts; i++) {
        sn_str text = row->texts[i].ptr ? row->texts[i] : SN_STR("");

        if (i + sn_job_table_blobs(t->id) >= shape.n_texts)
            sn_sqlite_put_blob(to, text);
        else
            sn_sqlite_put_text(to, text);
    }
    sn_sqlite_put_int(to, sn_job_table_crc(t, row));
}

static seine_err
put_stored(sn_job_table *t, const sn_job_row *row)
{
    seine_err e = prepare_put(t);

    if (e != SEINE_OK)
        return e;
    sn_sqlite_row to = sn_sqlite_bind(t->put);
    put_values(t, row, &to);
    return sn_sqlite_done(&to);
}

static seine_err
read_stored(const sn_job_table *t, sn_sqlite_stmt *stmt, sn_job_row *row)
{
    sn_job_pack_shape shape = sn_job_table_stored(t);

    for (unsigned i = 0; i < shape.n_ints; i++)
        row->ints[i] = sn_sqlite_int(stmt, (int)i);
    for (unsigned i = 0; i < shape.n_texts; i++)
        row->texts[i] = sn_sqlite_blob(stmt, (int)(shape.n_ints + i));
    int64_t crc = sn_sqlite_int(stmt, (int)(shape.n_ints + shape.n_texts));
    return crc == sn_job_table_crc(t, row) ? SEINE_OK : SEINE_E_STATE_CORRUPT;
}

static seine_err
read_record(const sn_job_table *t, sn_str record, sn_job_row *row)
{
    sn_job_pack_shape shape = sn_job_table_stored(t);
    int64_t crc;
    seine_err e = sn_sqlite_record_read(record, row->ints + 1, shape.n_ints - 1,
                                        row->texts, shape.n_texts, &crc);

    return e == SEINE_OK && crc != sn_job_table_crc(t, row) ? SEINE_E_STATE_CORRUPT : e;
}

static seine_err
next_stored(sn_job_table *t, sn_job_row *row, bool *out_there)
{
    sn_str record;
    seine_err e;

    if (t->direct.pages) {
        e = sn_sqlite_cursor_next(&t->direct, &row->ints[0], &record, out_there);
        return e == SEINE_OK && *out_there ? read_record(t, record, row) : e;
    }
    e = prepare_select(t, "ORDER BY 1", &t->all);
    if (e == SEINE_OK)
        e = sn_sqlite_next(t->all, out_there);
    return e == SEINE_OK && *out_there ? read_stored(t, t->all, row) : e;
}

static seine_err
get_stored(sn_job_table *t, int64_t key, sn_job_row *row, bool *out_there)
{
    seine_err e = prepare_select(t, "WHERE rowid = ?", &t->get);

    if (e != SEINE_OK)
        return e;
    sn_sqlite_row at = sn_sqlite_bind(t->get);
    sn_sqlite_reset(t->get);
    sn_sqlite_put_int(&at, key);
    e = at.code == 0 ? sn_sqlite_next(t->get, out_there) : SEINE_E_NOMEM;
    return e == SEINE_OK && *out_there ? read_stored(t, t->get, row) : e;
}

static void
reset_get(sn_job_table *t)
{
    if (t->get)
        sn_sqlite_reset(t->get);
}

static seine_err
find_stored(const sn_job_table *t, sn_sqlite_cursor *c, int64_t key, sn_job_row *row,
            bool *out_there)
{
    sn_str record;
    seine_err e = sn_sqlite_cursor_find(c, key, &record, out_there);

    row->ints[0] = key;
    return e == SEINE_OK && *out_there ? read_record(t, record, row) : e;
}

static seine_err
stored_after(sn_sqlite *db, const sn_job_table *t, sn_sqlite_stmt **stmt, int64_t key,
             sn_job_row *row, bool *out_there)
{
    char sql[128];
    seine_err e = SEINE_OK;

    *out_there = false;
    if (!*stmt) {
        snprintf(sql, sizeof sql, "SELECT * FROM %s WHERE rowid > ? ORDER BY 1 LIMIT 1",
                 sn_job_table_name(t->id));
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
    return e == SEINE_OK && *out_there ? read_stored(t, *stmt, row) : e;
}

/* Rows of packs */

static seine_err
next_of_pack(const sn_job_table *t, sn_str *rest, int64_t pack, sn_job_row *row)
{
    sn_job_pack_shape shape = {t->n_ints, t->n_texts};

    return sn_job_pack_next(rest, &shape, pack, row);
}

/* The first row of the pack whose key is at least that. *out_there: there is one. */
static seine_err
seek_in_pack(const sn_job_table *t, sn_str rows, int64_t key, sn_job_row *row,
             bool *out_there)
{
    int64_t pack = row->ints[0];
    seine_err e = SEINE_OK;

    *out_there = false;
    while (e == SEINE_OK && rows.len > 0 && !*out_there) {
        e = next_of_pack(t, &rows, pack, row);
        *out_there = e == SEINE_OK && row->ints[0] >= key;
    }
    return e;
}

/* `row` has the pack that is stored. */
static seine_err
look_in_pack(const sn_job_table *t, int64_t key, sn_job_row *row, bool *out_there)
{
    seine_err e = seek_in_pack(t, row->texts[0], key, row, out_there);

    *out_there &= row->ints[0] == key;
    return e;
}

static seine_err
next_packed(sn_job_table *t, sn_job_row *row, bool *out_there)
{
    seine_err e = SEINE_OK;

    *out_there = true;
    if (t->rest.len == 0) {
        e = next_stored(t, row, out_there);
        t->pack = row->ints[0];
        row->ints[0] = t->pack * SN_JOB_PACK;
        if (e != SEINE_OK || !*out_there)
            return e;
        t->rest = row->texts[0];
    }
    return next_of_pack(t, &t->rest, t->pack, row);
}

static seine_err
packed_after(sn_sqlite *db, const sn_job_table *t, sn_sqlite_stmt **stmt, int64_t key,
             sn_job_row *row, bool *out_there)
{
    *out_there = false;
    if (key == INT64_MAX)
        return SEINE_OK;
    int64_t pack = sn_job_pack_of(key + 1) - 1;
    bool has_pack;
    seine_err e;

    do {
        e = stored_after(db, t, stmt, pack, row, &has_pack);
        if (!has_pack)
            return e;
        pack = row->ints[0];
        if (e == SEINE_OK)
            e = seek_in_pack(t, row->texts[0], key + 1, row, out_there);
    } while (e == SEINE_OK && !*out_there);
    if (e != SEINE_OK && pack >= 0 && pack < INT64_MAX / SN_JOB_PACK) {
        row->ints[0] = pack * SN_JOB_PACK + SN_JOB_PACK - 1; /* the rest of it is lost */
        *out_there = true;
    }
    return e;
}

seine_err
sn_job_table_put_pack(sn_job_table *t, int64_t pack, sn_str rows)
{
    sn_job_pack_shape shape = {t->n_ints, t->n_texts};
    sn_job_row stored = {.ints = {pack}};
    bool there = false;
    sn_buf all;
    seine_err e = get_stored(t, pack, &stored, &there);

    sn_buf_init(&all, SIZE_MAX - 1);
    if (e == SEINE_OK && there) {
        e = sn_job_pack_merge(&all, &shape, stored.texts[0], rows);
        rows = sn_buf_view(&all);
    }
    reset_get(t);
    if (e == SEINE_OK)
        e = put_stored(t, &(sn_job_row){.ints = {pack}, .texts = {rows}});
    sn_buf_fini(&all);
    return e;
}

static seine_err
put_packed(sn_job_table *t, const sn_job_row *row)
{
    sn_job_pack_shape shape = {t->n_ints, t->n_texts};
    sn_buf bytes;

    sn_buf_init(&bytes, SIZE_MAX - 1);
    seine_err e = sn_job_pack_add(&bytes, &shape, row);
    if (e == SEINE_OK)
        e = sn_job_table_put_pack(t, sn_job_pack_of(row->ints[0]), sn_buf_view(&bytes));
    sn_buf_fini(&bytes);
    return e;
}

static seine_err
drop_pack(const sn_job_table *t, int64_t pack)
{
    sn_sqlite_stmt *stmt;
    char sql[64];

    snprintf(sql, sizeof sql, "DELETE FROM %s WHERE pack = ?", sn_job_table_name(t->id));
    seine_err e = sn_sqlite_prepare(t->db, sql, &stmt);
    if (e != SEINE_OK)
        return e;
    sn_sqlite_row at = sn_sqlite_bind(stmt);
    sn_sqlite_put_int(&at, pack);
    e = sn_sqlite_done(&at);
    sn_sqlite_finalize(stmt);
    return e;
}

/* Removes rows of one pack. `left` is empty memory. */
static seine_err
drop_of_pack(sn_job_table *t, const int64_t *keys, size_t n, sn_buf *left)
{
    sn_job_pack_shape shape = {t->n_ints, t->n_texts};
    int64_t pack = sn_job_pack_of(keys[0]);
    sn_job_row row = {.ints = {0}};
    bool there = false;
    size_t at = 0;
    seine_err e = get_stored(t, pack, &row, &there);
    sn_str rest = e == SEINE_OK && there ? row.texts[0] : (sn_str){0};

    while (e == SEINE_OK && rest.len > 0) {
        e = next_of_pack(t, &rest, pack, &row);
        while (e == SEINE_OK && at < n && keys[at] < row.ints[0])
            at++;
        if (e == SEINE_OK && (at == n || keys[at] != row.ints[0]))
            e = sn_job_pack_add(left, &shape, &row);
    }
    reset_get(t);
    if (e != SEINE_OK || !there)
        return e;
    return left->len == 0 ? drop_pack(t, pack)
                          : put_stored(t, &(sn_job_row){.ints = {pack},
                                                        .texts = {sn_buf_view(left)}});
}

seine_err
sn_job_table_drop(sn_job_table *t, const int64_t *keys, size_t n)
{
    seine_err e = SEINE_OK;
    sn_buf left;

    sn_buf_init(&left, SIZE_MAX - 1);
    for (size_t i = 0, next; i < n && e == SEINE_OK; i = next) {
        for (next = i + 1; next < n; next++)
            if (sn_job_pack_of(keys[next]) != sn_job_pack_of(keys[i]))
                break;
        sn_buf_reset(&left);
        e = drop_of_pack(t, keys + i, next - i, &left);
    }
    sn_buf_fini(&left);
    return e;
}

/* Both */

seine_err
sn_job_table_put(sn_job_table *t, const sn_job_row *row)
{
    return t->is_packed ? put_packed(t, row) : put_stored(t, row);
}

seine_err
sn_job_table_direct(sn_job_table *t, const sn_sqlite_pages *p)
{
    sn_sqlite_cursor_fini(&t->direct);
    t->rest = (sn_str){0};
    return sn_sqlite_cursor_init(&t->direct, p, t->root);
}

seine_err
sn_job_table_next(sn_job_table *t, sn_job_row *row, bool *out_there)
{
    return t->is_packed ? next_packed(t, row, out_there) : next_stored(t, row, out_there);
}

seine_err
sn_job_table_find(const sn_job_table *t, sn_sqlite_cursor *c, int64_t key,
                  sn_job_row *row, bool *out_there)
{
    if (!t->is_packed)
        return find_stored(t, c, key, row, out_there);
    seine_err e = find_stored(t, c, sn_job_pack_of(key), row, out_there);
    return e == SEINE_OK && *out_there ? look_in_pack(t, key, row, out_there) : e;
}

seine_err
sn_job_table_get(sn_job_table *t, int64_t key, sn_job_row *row, bool *out_there)
{
    if (!t->is_packed)
        return get_stored(t, key, row, out_there);
    seine_err e = get_stored(t, sn_job_pack_of(key), row, out_there);
    return e == SEINE_OK && *out_there ? look_in_pack(t, key, row, out_there) : e;
}

seine_err
sn_job_table_after(sn_sqlite *db, const sn_job_table *t, sn_sqlite_stmt **stmt,
                   int64_t key, sn_job_row *row, bool *out_there)
{
    return t->is_packed ? packed_after(db, t, stmt, key, row, out_there)
                        : stored_after(db, t, stmt, key, row, out_there);
}

void
sn_job_table_reset(sn_job_table *t)
{
    if (t->all)
        sn_sqlite_reset(t->all);
    reset_get(t);
    t->rest = (sn_str){0};
    sn_sqlite_cursor_fini(&t->direct);
}
