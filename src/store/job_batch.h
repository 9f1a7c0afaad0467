/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_batch.h - rows of one table of job.db, put by one statement for many of them.
 *
 *     e = sn_job_batch_add(&b, db, table, &row);     the texts stay valid until the flush
 *     e = sn_job_batch_flush(&b);                    inside the transaction
 *
 * A transaction that fails is followed by a reset.
 *
 * Time    plays no part; blocks.
 * Memory  256 rows, from the first one on.
 * Threads one owner.
 */
#ifndef SN_JOB_BATCH_H
#define SN_JOB_BATCH_H

#include "store/job_table.h"
#include "store/sqlite_rows.h"

typedef struct sn_job_batch {
    sn_sqlite_rows rows;
    int64_t *ints;
    sn_str *texts;
    sn_sqlite_stmt *put; /* the connection frees it */
} sn_job_batch;          /* a zeroed one is empty */

void sn_job_batch_fini(sn_job_batch *b); /* after the connection was closed */
void sn_job_batch_reset(sn_job_batch *b);

/* As sn_job_table_put: inserts or replaces, now or at the flush. */
SEINE_MUST_CHECK seine_err sn_job_batch_add(sn_job_batch *b, sn_sqlite *db,
                                            const sn_job_table *t, const sn_job_row *row);
SEINE_MUST_CHECK seine_err sn_job_batch_flush(sn_job_batch *b);

#endif
