/* SPDX-License-Identifier: Apache-2.0 */
#include "store/job_batch.h"

#include <stdio.h>
#include <string.h>

#include "base/alloc.h"

enum { BATCH = 256 };

void
sn_job_batch_fini(sn_job_batch *b)
{
    sn_free(b->ints);
    sn_free(b->texts);
    *b = (sn_job_batch){.ints = NULL};
}

void
sn_job_batch_reset(sn_job_batch *b)
{
    b->rows.n = 0;
}

/* The CRC is one integer more. */
static seine_err
open_batch(sn_job_batch *b, sn_sqlite *db, const sn_job_table *t)
{
    char name[32], sql[128];

    b->rows = (sn_sqlite_rows){.n_ints = t->n_ints + 1,
                               .n_texts = t->n_texts,
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
    seine_err e = sn_sqlite_rows_open(db, name, &b->rows);
    return e == SEINE_OK ? sn_sqlite_prepare(db, sql, &b->put) : e;
}

seine_err
sn_job_batch_add(sn_job_batch *b, sn_sqlite *db, const sn_job_table *t,
                 const sn_job_row *row)
{
    seine_err e = SEINE_OK;

    if (!b->put) {
        sn_job_batch_fini(b);
        e = open_batch(b, db, t);
    }
    if (e == SEINE_OK && b->rows.n == BATCH)
        e = sn_job_batch_flush(b);
    if (e != SEINE_OK)
        return e;
    int64_t *ints = b->ints + b->rows.n * b->rows.n_ints;
    memcpy(ints, row->ints, t->n_ints * sizeof *ints);
    ints[t->n_ints] = sn_job_table_crc(t, row);
    for (unsigned i = 0; i < t->n_texts; i++)
        b->texts[b->rows.n * t->n_texts + i] = row->texts[i];
    b->rows.n++;
    return SEINE_OK;
}

seine_err
sn_job_batch_flush(sn_job_batch *b)
{
    if (b->rows.n == 0)
        return SEINE_OK;
    sn_sqlite_row none = sn_sqlite_bind(b->put);
    seine_err e = sn_sqlite_done(&none);
    b->rows.n = 0;
    return e;
}
