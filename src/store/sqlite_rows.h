/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqlite_rows.h - rows in memory that a statement reads as a table.
 *
 * A statement for each row spends most of its time on binding values, on beginning and on
 * ending. One statement for many rows does this once:
 *
 *     sn_sqlite_rows rows = {.n_ints = 3, .n_texts = 1};
 *     e = sn_sqlite_rows_open(db, "new_t", &rows);
 *     e = sn_sqlite_prepare(db, "INSERT INTO t SELECT * FROM new_t", &put);
 *     rows.ints = ints, rows.texts = texts, rows.n = 100;
 *     sn_sqlite_row none = sn_sqlite_bind(put);
 *     e = sn_sqlite_done(&none);
 *
 * Columns are the integers but the last, then the texts, then the last integer: the shape
 * of job_table.h.
 *
 * Time    plays no part.
 * Memory  of the caller: `rows` outlives the connection, the values the statement.
 * Threads one owner.
 */
#ifndef SN_SQLITE_ROWS_H
#define SN_SQLITE_ROWS_H

#include "store/sqlite.h"

typedef struct sn_sqlite_rows {
    unsigned n_ints, n_texts; /* of a row */
    unsigned n_blobs;         /* of the texts, the last ones */
    size_t n;                 /* rows */
    const int64_t *ints;      /* n_ints each */
    const sn_str *texts;      /* n_texts each; ptr NULL: empty */
} sn_sqlite_rows;

/* Statements of this connection may read `rows` as a table of that name. NOMEM. */
SEINE_MUST_CHECK seine_err sn_sqlite_rows_open(sn_sqlite *db, const char *name,
                                               sn_sqlite_rows *rows);

#endif
