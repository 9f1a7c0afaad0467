/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_read.h - read CSV rows from bytes, in pieces of any size.
 *
 * The format is RFC 4180: commas separate cells; a cell with a comma, a quote (doubled)
 * or a line break is quoted; rows end in LF, CR LF or CR, which the last one may lack.
 * The reader skips a byte order mark. A quote inside an unquoted cell is text.
 *
 *     sn_csv_reader r;
 *     sn_csv_reader_init(&r, NULL);
 *     for (;;)
 *         switch (sn_csv_next(&r, &in, is_last)) {
 *         case SN_CSV_ROW: …               r.cells[0 … r.n - 1], until the next call
 *         case SN_CSV_MORE: …              all of `in` was taken
 *         case SN_CSV_END: return done();
 *         case SN_CSV_NOMEM: return SEINE_E_NOMEM;
 *         }
 *     sn_csv_reader_fini(&r);
 *
 * A malformed row has a flaw with its place, and its cells are undefined; the next row is
 * read normally. The caller checks the number of cells.
 *
 * Time    linear in the bytes.
 * Memory  one row within the limits; a longer row is read to its end but not kept.
 * Threads one owner.
 */
#ifndef SN_CSV_READ_H
#define SN_CSV_READ_H

#include "base/buf.h"

typedef struct sn_csv_limits {
    size_t cell, row; /* bytes */
    size_t columns;
} sn_csv_limits;

/* clang-format off */
#define SN_CSV_LIMITS {(size_t)16 << 20, (size_t)64 << 20, 10000}
/* clang-format on */

/* Longest name of a column that is repeated with every row: two bytes of input must not
 * become a megabyte of output. */
#define SN_CSV_NAME 1024

typedef enum sn_csv_flaw {
    SN_CSV_FINE,
    SN_CSV_BEHIND,      /* text between a closing quote and the end of its cell */
    SN_CSV_OPEN,        /* the input ends within quotes */
    SN_CSV_LONG_CELL,   /* over a limit … */
    SN_CSV_LONG_ROW,    /* … */
    SN_CSV_MANY_COLUMNS /* … */
} sn_csv_flaw;

typedef enum sn_csv_event {
    SN_CSV_MORE,
    SN_CSV_ROW,
    SN_CSV_END,
    SN_CSV_NOMEM
} sn_csv_event;

typedef struct sn_csv_reader {
    const sn_str *cells;
    size_t n;
    uint64_t line; /* where the row begins, from 1 */
    bool is_blank; /* an empty line: one cell, without quotes */
    sn_csv_flaw flaw;
    uint64_t flaw_line, flaw_column; /* column: byte of the line, from 1 */

    sn_csv_limits limits; /* below: private */
    enum { SN_CSV_AT_CELL, SN_CSV_IN_PLAIN, SN_CSV_IN_QUOTES, SN_CSV_AT_QUOTE } state;
    sn_buf text;
    size_t *ends; /* ends of the cells in the text */
    sn_str *views;
    size_t count, room;
    size_t begun;                    /* start of the cell in the text … */
    uint64_t cell_line, cell_column; /* … and in the input */
    uint64_t at, line_at, lines;     /* bytes taken; start of the line; line breaks */
    unsigned mark; /* matched bytes of a byte order mark; 3: behind it */
    bool was_cr, is_quoted, is_begun, is_new;
} sn_csv_reader;

/* NULL: the default limits. Allocates nothing. */
void sn_csv_reader_init(sn_csv_reader *r, const sn_csv_limits *limits);
void sn_csv_reader_fini(sn_csv_reader *r);

/* Takes bytes from the front of *in. `last`: no bytes follow. END is returned again. */
sn_csv_event sn_csv_next(sn_csv_reader *r, sn_str *in, bool last);

/* "text behind a closing quote": for people. */
const char *sn_csv_flaw_text(sn_csv_flaw flaw);

#endif
