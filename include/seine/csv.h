/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h - write any text as one CSV cell that no spreadsheet runs.
 *
 *     char cell[64];
 *     size_t n = seine_csv_cell("a,b", 3, 0, cell, sizeof cell);     5, with its quotes
 *     n = seine_csv_cell("=1+1", 4, 0, cell, sizeof cell);           5: '=1+1
 *
 * RFC 4180 in valid UTF-8. A text that a spreadsheet would run as a formula gets a '
 * before it, unless it is exactly a JSON number. Commas and line ends between cells are
 * the caller's.
 *
 * Time    plays no part.
 * Memory  nothing is allocated.
 * Threads any thread.
 */
#ifndef SEINE_CSV_H
#define SEINE_CSV_H

#include "seine/record.h"

SEINE_BEGIN

/* Writes the cell and returns its length, also where `cap` is less: then nothing behind
 * `cap` is written, and no zero ends it anywhere. `how`: SEINE_CSV_RAW, SEINE_CSV_SHOWN.
 * A text of NULL is empty. */
size_t seine_csv_cell(const char *text, size_t len, unsigned how, char *buf, size_t cap);

SEINE_END

#endif
