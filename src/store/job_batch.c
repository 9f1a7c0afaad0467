/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { BATCH = 256, PACKED = 1024, BYTES = 1 << 20 };

void
sn_job_batch_fini(sn_job_batch *b)
{
    sn_free(b->ints);
    sn_free(b->texts);
    sn_free(b->packed);
    sn_buf_fini(&b->bytes);
    sn_buf_fini(&b->sorted);
    sn_buf_fini(&b->tail);
    *b = (sn_job_batch){.ints = NULL};
}

static void
clear(sn_job_batch *b)
{
    b->rows.n = 0;
    b->n_packed = 0;
    b->is_mixed = false;
    sn_buf_reset(&b->bytes);
}

void
sn_job_batch_reset(sn_job_batch *b)
{
    clear(b);
    sn_buf_reset(&b->tail); /* it may not be in the table */
}

static seine_err
find_last(sn_sqlite *db, const char *name, int64_t *out)
{
    sn_sqlite_stmt *stmt;
    bool there = false;
    char sql[64];

    snprintf(sql, sizeof sql, "SELECT max(pack) FROM %s", name);
    seine_err e = sn_sqlite_prepare(db, sql, &stmt);
    if (e != SEINE_OK)
        return e;
    e = sn_sqlite_next(stmt, &there);
    *out = e == SEINE_OK && there && !sn_sqlite_is_null(stmt, 0) ? sn_sqlite_int(stmt, 0)
                                                                 : -1;
    sn_sqlite_finalize(stmt);
    return e;
}

static seine_err
open_packed(sn_job_batch *b, sn_sqlite *db, sn_job_table *t)
{
    b->packed = sn_calloc(PACKED, sizeof *b->packed);
    if (!b->packed)
        return SEINE_E_NOMEM;
    sn_buf_init(&b->bytes, SIZE_MAX - 1);
    sn_buf_init(&b->sorted, SIZE_MAX - 1);
    sn_buf_init(&b->tail, SIZE_MAX - 1);
    b->table = t;
    return find_last(db, sn_job_table_name(t->id), &b->last);
}

/* The CRC is one integer more. */
static seine_err
open_batch(sn_job_batch *b, sn_sqlite *db, sn_job_table *t)
{
    sn_job_pack_shape stored = sn_job_table_stored(t);
    char name[32], sql[128];

    b->rows = (sn_sqlite_rows){.n_ints = stored.n_ints + 1,
                               .n_texts = stored.n_texts,
                               .n_blobs = sn_job_table_blobs(t->id)};
    b->ints = sn_calloc((size_t)BATCH * b->rows.n_ints, sizeof *b->ints);
    b->texts = sn_calloc((size_t)BATCH * b->rows.n_texts + 1, sizeof *b->texts);
    if (!b->ints || !b->texts)
        return SEINE_E_NOMEM;
    b->rows.ints = b->ints;
    b->rows.texts = b->texts;
    snprintf(name, sizeof name, "new_%s", sn_job_table_name(t->id));
    snprintf(sql, sizeof sql, "INSERT OR REPLACE INTO %s SELECT * FROM %s",
             sn_job_table_name(t->id), name);
    seine_err e = t->is_packed ? open_packed(b, db, t) : SEINE_OK;
    if (e == SEINE_OK)
        e = sn_sqlite_rows_open(db, name, &b->rows);
    return e == SEINE_OK ? sn_sqlite_prepare(db, sql, &b->put) : e;
}

static seine_err
flush_stored(sn_job_batch *b)
{
    if (b->rows.n == 0)
        return SEINE_OK;
    sn_sqlite_row none = sn_sqlite_bind(b->put);
    seine_err e = sn_sqlite_done(&none);
    b->rows.n = 0;
    return e;
}

static seine_err
add_stored(sn_job_batch *b, const sn_job_table *t, const sn_job_row *stored)
{
    unsigned n_ints = b->rows.n_ints - 1, n_texts = b->rows.n_texts;
    seine_err e = b->rows.n == BATCH ? flush_stored(b) : SEINE_OK;

    if (e != SEINE_OK)
        return e;
    int64_t *ints = b->ints + b->rows.n * b->rows.n_ints;
    memcpy(ints, stored->ints, n_ints * sizeof *ints);
    ints[n_ints] = sn_job_table_crc(t, stored);
    for (unsigned i = 0; i < n_texts; i++)
        b->texts[b->rows.n * n_texts + i] = stored->texts[i];
    b->rows.n++;
    return SEINE_OK;
}

/* Of two rows with one key the later one is behind. */
static int
by_key(const void *a, const void *b)
{
    const sn_job_batch_row *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Brings the rows and their bytes into the order of their keys; of two with one key the
 * later one stays. */
static seine_err
sort(sn_job_batch *b)
{
    size_t n = 0;

    qsort(b->packed, b->n_packed, sizeof *b->packed, by_key);
    sn_buf_reset(&b->sorted);
    for (size_t i = 0; i < b->n_packed; i++) {
        sn_job_batch_row row = b->packed[i];

        if (i + 1 < b->n_packed && b->packed[i + 1].key == row.key)
            continue;
        b->packed[n] = (sn_job_batch_row){row.key, b->sorted.len, row.len};
        sn_buf_add(&b->sorted, b->bytes.ptr + row.at, row.len);
        n++;
    }
    sn_buf swap = b->bytes;
    b->bytes = b->sorted;
    b->sorted = swap;
    b->n_packed = n;
    return sn_buf_done(&b->bytes);
}

/* Rows of one pack stand beside each other. */
static sn_str
rows_of(const sn_job_batch *b, const sn_job_batch_row *first,
        const sn_job_batch_row *last)
{
    return (sn_str){b->bytes.ptr + first->at, last->at + last->len - first->at};
}

/* The last pack that was put, with more rows; the statement may still have to read it. */
static seine_err
add_to_tail(sn_job_batch *b, int64_t pack, sn_str rows, int64_t last_key)
{
    seine_err e = flush_stored(b);

    sn_buf_str(&b->tail, rows);
    if (e == SEINE_OK)
        e = sn_buf_done(&b->tail);
    b->tail_key = last_key;
    return e == SEINE_OK ? add_stored(b, b->table,
                                      &(sn_job_row){.ints = {pack},
                                                    .texts = {sn_buf_view(&b->tail)}})
                         : e;
}

static seine_err
add_pack(sn_job_batch *b, const sn_job_batch_row *first, const sn_job_batch_row *last)
{
    int64_t pack = sn_job_pack_of(first->key);
    sn_str rows = rows_of(b, first, last);

    if (pack == b->last && b->tail.len > 0 && first->key > b->tail_key)
        return add_to_tail(b, pack, rows, last->key);
    if (pack == b->last)
        sn_buf_reset(&b->tail);
    if (pack <= b->last)
        return sn_job_table_put_pack(b->table, pack, rows);
    b->last = pack;
    b->tail_key = INT64_MAX; /* until keep_tail */
    return add_stored(b, b->table, &(sn_job_row){.ints = {pack}, .texts = {rows}});
}

/* Remembers the last pack, if it is new. */
static seine_err
keep_tail(sn_job_batch *b, const sn_job_batch_row *first, const sn_job_batch_row *last)
{
    if (sn_job_pack_of(first->key) != b->last || b->tail_key != INT64_MAX)
        return SEINE_OK;
    sn_buf_reset(&b->tail);
    sn_buf_str(&b->tail, rows_of(b, first, last));
    b->tail_key = last->key;
    return sn_buf_done(&b->tail);
}

static seine_err
flush_packed(sn_job_batch *b)
{
    seine_err e = b->is_mixed ? sort(b) : SEINE_OK;
    size_t i = 0, next = 0;

    for (; next < b->n_packed && e == SEINE_OK;) {
        const sn_job_batch_row *all = b->packed;

        for (i = next++; next < b->n_packed; next++)
            if (sn_job_pack_of(all[next].key) != sn_job_pack_of(all[i].key))
                break;
        e = add_pack(b, &all[i], &all[next - 1]);
    }
    if (e == SEINE_OK)
        e = flush_stored(b);
    if (e == SEINE_OK && next > 0)
        e = keep_tail(b, &b->packed[i], &b->packed[next - 1]);
    clear(b);
    return e;
}

static seine_err
add_packed(sn_job_batch *b, const sn_job_row *row)
{
    sn_job_pack_shape shape = {b->table->n_ints, b->table->n_texts};
    seine_err e = SEINE_OK;

    if (b->n_packed == PACKED || b->bytes.len > BYTES)
        e = flush_packed(b);
    if (e != SEINE_OK)
        return e;
    size_t at = b->bytes.len, n = b->n_packed;
    e = sn_job_pack_add(&b->bytes, &shape, row);
    if (e != SEINE_OK)
        return e;
    b->is_mixed |= n > 0 && b->packed[n - 1].key >= row->ints[0];
    b->packed[b->n_packed++] = (sn_job_batch_row){row->ints[0], at, b->bytes.len - at};
    return SEINE_OK;
}

seine_err
sn_job_batch_add(sn_job_batch *b, sn_sqlite *db, sn_job_table *t, const sn_job_row *row)
{
    seine_err e = SEINE_OK;

    if (!b->put) {
        sn_job_batch_fini(b);
        e = open_batch(b, db, t);
    }
    if (e != SEINE_OK)
        return e;
    return b->table ? add_packed(b, row) : add_stored(b, t, row);
}

seine_err
sn_job_batch_flush(sn_job_batch *b)
{
    return b->table ? flush_packed(b) : flush_stored(b);
}
