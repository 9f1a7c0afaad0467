/* SPDX-License-Identifier: Apache-2.0 */
/*
 * csv.h - write any text as one CSV cell: RFC 4180, valid UTF-8, safe in a spreadsheet.
 *
 *     sn_csv_cell(&writer, SN_STR("a,b"), 0);            "a,b" in quotes
 *     sn_csv_cell(&writer, SN_STR("=1+1"), 0);           '=1+1
 *     sn_csv_cell(&writer, SN_STR("-5"), 0);             -5: exactly a JSON number
 *
 * CSV injection: a spreadsheet runs a cell as a formula if its first visible character
 * acts as = + - @, a tab or CR, in any width; such a cell gets a ' before it. A cell that
 * looks guarded already gets another ', so that removing one restores every text.
 *
 * Where the decimal sign is a comma, spreadsheets separate cells by semicolons, and some
 * read tabs: to them "a;=1+1" is two cells, quotes or not. So a semicolon or tab is
 * quoted, and a formula behind one, or behind a line end, is guarded too: "a;'=1+1".
 *
 * Time    plays no part.
 * Memory  the text writer's.
 * Threads any thread.
 */
#ifndef SN_CSV_H
#define SN_CSV_H

#include "base/buf.h"
#include "store/text_writer.h"

/* `how`: SEINE_CSV_RAW, SEINE_CSV_SHOWN of seine/record.h. */
void sn_csv_cell(sn_text_writer *p, sn_str s, unsigned how);

bool sn_csv_is_formula(sn_str s);

/* True if a ' must precede the text: a formula, or one after any number of '. */
bool sn_csv_is_guarded(sn_str s);

/* Returns the text that was written as this cell: a view of it or of `room`. If room->err
 * is set, memory ran out, and guards inside of the text stay. */
sn_str sn_csv_unguard(sn_str s, sn_buf *room);

/* Returns the bytes of the first row, its end included; 0: it is incomplete. */
size_t sn_csv_row(const char *bytes, size_t n);

#endif
