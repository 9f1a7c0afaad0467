/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_batch.h - rows of one table of job.db, put by one statement for many of them.
 *
 *     e = sn_job_batch_add(&b, db, table, &row);     the texts stay valid until the flush
 *     e = sn_job_batch_flush(&b);                    inside the transaction
 *
 * Rows of a table of packs (job_pack.h) are written into their packs at once. Packs that
 * begin behind all that the table has are put by one statement; the last one of the group
 * before, which is remembered, with more rows; any other that may be there is read and
 * put again.
 *
 * A transaction that fails is followed by a reset.
 *
 * Time    plays no part; blocks.
 * Memory  256 rows, from the first one on; 1,024 of packs, with their texts.
 * Threads one owner.
 */
#ifndef SN_JOB_BATCH_H
#define SN_JOB_BATCH_H

#include "store/job_table.h"
#include "store/sqlite_rows.h"

typedef struct sn_job_batch_row { /* of a pack */
    int64_t key;
    size_t at, len; /* in the bytes */
} sn_job_batch_row;

typedef struct sn_job_batch {
    sn_sqlite_rows rows; /* of SQLite */
    int64_t *ints;
    sn_str *texts;
    sn_sqlite_stmt *put; /* the connection frees it */

    sn_job_table *table;      /* of packs; NULL: it has none */
    sn_job_batch_row *packed; /* rows that go into packs */
    size_t n_packed;
    bool is_mixed;        /* their keys do not rise */
    sn_buf bytes, sorted; /* of these rows, as they came and in order */
    int64_t last;         /* no pack behind it is in the table */
    sn_buf tail;          /* the rows of the last pack; empty: they are not known */
    int64_t tail_key;     /* of its last row */
} sn_job_batch;           /* a zeroed one is empty */

void sn_job_batch_fini(sn_job_batch *b); /* after the connection was closed */
void sn_job_batch_reset(sn_job_batch *b);

/* As sn_job_table_put: inserts or replaces, now or at the flush. */
SEINE_MUST_CHECK seine_err sn_job_batch_add(sn_job_batch *b, sn_sqlite *db,
                                            sn_job_table *t, const sn_job_row *row);
SEINE_MUST_CHECK seine_err sn_job_batch_flush(sn_job_batch *b);

#endif
