/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h - any text as one cell of CSV: RFC 4180, valid UTF-8, inert in a spreadsheet.
 *
 *     sn_csv_cell(&pen, SN_STR("a,b"), 0);            "a,b" in quotes
 *     sn_csv_cell(&pen, SN_STR("=1+1"), 0);           '=1+1
 *     sn_csv_cell(&pen, SN_STR("-5"), 0);             -5: exactly a JSON number
 *
 * A cell is taken for a formula when its first character that is seen acts as = + - @,
 * a tab or CR, in any width; it gets a ' before it. A cell that looks guarded already
 * gets one more, so that taking one away gives back every text.
 *
 * Time    plays no part.
 * Memory  the text writer's.
 * Threads any thread.
 */
#ifndef SN_CSV_H
#define SN_CSV_H

#include "store/text_writer.h"

/* `how`: SEINE_CSV_RAW, SEINE_CSV_SHOWN of seine/record.h. */
void sn_csv_cell(sn_text_writer *p, sn_str s, unsigned how);

bool sn_csv_is_formula(sn_str s);

/* Whether a ' goes before it: a formula, or one behind any number of '. */
bool sn_csv_is_guarded(sn_str s);

/* The text that was written as this cell. */
sn_str sn_csv_unguard(sn_str cell);

/* Bytes of the row that the text begins with, its end included; 0: it is not whole. */
size_t sn_csv_row(const char *bytes, size_t n);

#endif
