/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv_read.h - rows out of the bytes of a CSV file, in pieces of any size.
 *
 * RFC 4180: cells between commas, in quotes where they hold a comma, a quote (doubled) or
 * a line break; rows end in LF, CR LF or CR, the last one in nothing. A byte order mark
 * is passed over. Quotes inside a cell that does not begin with one are characters.
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
 * A row that is not as it should be has a flaw with its place, and what its cells hold is
 * not to be relied on; the next row is read as if nothing had happened. How many cells a
 * row should have is for the caller to say.
 *
 * Time    linear in the bytes.
 * Memory  one row, within the limits; a row over them is read to its end and not kept.
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

typedef enum sn_csv_flaw {
    SN_CSV_FINE,
    SN_CSV_BEHIND,      /* text between a closing quote and the end of its cell */
    SN_CSV_OPEN,        /* the input ends within quotes */
    SN_CSV_LONG_CELL,   /* over the limits … */
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
    uint64_t line; /* on which the row begins, from 1 */
    bool is_blank; /* nothing at all: one cell, without quotes */
    sn_csv_flaw flaw;
    uint64_t flaw_line, flaw_column; /* column: bytes of its line, from 1 */

    sn_csv_limits limits; /* below: private */
    enum { SN_CSV_AT_CELL, SN_CSV_IN_PLAIN, SN_CSV_IN_QUOTES, SN_CSV_AT_QUOTE } state;
    sn_buf text;
    size_t *ends; /* of the cells, in the text */
    sn_str *views;
    size_t count, room;
    size_t begun;                    /* where the cell begins in the text … */
    uint64_t cell_line, cell_column; /* … and in the input */
    uint64_t at, line_at, lines;     /* bytes taken; where the line begins; line breaks */
    unsigned mark; /* bytes of a byte order mark that were seen; 3: past it */
    bool was_cr, is_quoted, is_begun, is_new;
} sn_csv_reader;

/* NULL: the usual limits. Allocates nothing yet. */
void sn_csv_reader_init(sn_csv_reader *r, const sn_csv_limits *limits);
void sn_csv_reader_fini(sn_csv_reader *r);

/* Takes bytes from the front of *in. `last`: nothing comes behind them. END stays. */
sn_csv_event sn_csv_next(sn_csv_reader *r, sn_str *in, bool last);

/* "text behind a closing quote": for people. */
const char *sn_csv_flaw_text(sn_csv_flaw flaw);

#endif
