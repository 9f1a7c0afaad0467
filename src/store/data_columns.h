/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_columns.h - values that were taken out of pages, as columns of CSV and SQLite.
 *
 * A record has them as JSON (seine_record_data). A column has the name of its field, or
 * data.NAME where outputs have a column of that name themselves: title, status. A cell
 * is the value; several are joined by "|"; none is an empty cell, or NULL.
 *
 *     sn_data_columns c;
 *     e = sn_data_columns_copy(&c, names);
 *     e = sn_data_row_read(&row, record);
 *     for (i = 0; i < c.n; i++)
 *         put(sn_data_row_cell(&row, c.names[i]));
 *     sn_data_row_fini(&row);
 *
 * Time    plays no part.
 * Memory  the names; of a row its JSON as a tree, and as text.
 * Threads one owner.
 */
#ifndef SN_DATA_COLUMNS_H
#define SN_DATA_COLUMNS_H

#include "base/buf.h"
#include "seine/plumbing.h"
#include "seine/record.h"

typedef struct sn_data_columns {
    char **names; /* of the fields */
    size_t n;
} sn_data_columns;

/* `names` ends with NULL; NULL: there are none. NOMEM. */
SEINE_MUST_CHECK seine_err sn_data_columns_copy(sn_data_columns *c,
                                                const char *const *names);
void sn_data_columns_fini(sn_data_columns *c);

/* Appends what the column of a field is called. */
void sn_data_column_name(const char *field, sn_buf *to);

typedef enum sn_data_kind {
    SN_DATA_NONE,
    SN_DATA_TEXT,
    SN_DATA_INT,
    SN_DATA_REAL
} sn_data_kind;

typedef struct sn_data_cell {
    sn_data_kind kind;
    int64_t number; /* of INT */
    double real;    /* of REAL */
    sn_str text;    /* of all but NONE; valid as long as the row */
} sn_data_cell;

typedef struct sn_data_row {
    seine_json *json; /* NULL: the record has no data */
    sn_buf text;
} sn_data_row;

/* Reads the data of a record. NOMEM. */
SEINE_MUST_CHECK seine_err sn_data_row_read(sn_data_row *row, const seine_record *r);
void sn_data_row_fini(sn_data_row *row);

sn_data_cell sn_data_row_cell(sn_data_row *row, const char *field);

#endif
