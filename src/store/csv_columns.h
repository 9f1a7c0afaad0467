/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_columns.h - rows of CSV with the columns that the user has chosen, in his order.
 *
 * A column is a member of records (docs/user/record.md), one of CSV's own: time_ms,
 * error_kind, error_message, or a value of a page: data.NAME, and data.* for all of them
 * (data_columns.h). A member that is an object or a list is JSON in its cell.
 *
 *     sn_data_columns data;
 *     sn_csv_columns c;
 *     sn_str bad;
 *     e = sn_csv_columns_parse("status,url,data.price", &data, &c, &bad);
 *     sn_csv_columns_row(&writer, &c, record, seq, 0);     no record: the header line
 *
 * Time    plays no part.
 * Memory  the columns are the caller's, 324 of them at most; a cell of JSON has 64 KiB.
 * Threads any thread.
 */
#ifndef SN_CSV_COLUMNS_H
#define SN_CSV_COLUMNS_H

#include "seine/extract.h"
#include "seine/record.h"
#include "store/data_columns.h"
#include "store/text_writer.h"

enum { SN_CSV_COLUMNS_MEMBERS = 68, SN_CSV_COLUMNS_MOST = 68 + SEINE_EXTRACT_FIELDS };

typedef struct sn_csv_columns {
    uint16_t at[SN_CSV_COLUMNS_MOST];
    size_t n;
    const sn_data_columns *data; /* outlives them */
    bool has_data;               /* a column is a value of the page */
} sn_csv_columns;

/* INVAL: *out_bad is the first word that is no column, is there twice, or is one too
 * many. */
SEINE_MUST_CHECK seine_err sn_csv_columns_parse(const char *list,
                                                const sn_data_columns *data,
                                                sn_csv_columns *out_columns,
                                                sn_str *out_bad);

/* Writes a row with its line end. `how`: SEINE_CSV_*. */
void sn_csv_columns_row(sn_text_writer *p, const sn_csv_columns *c, const seine_record *r,
                        uint64_t seq, unsigned how);

#endif
