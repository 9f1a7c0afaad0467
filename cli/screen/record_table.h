/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_table.h - records as a table for people, a row at a time.
 *
 *     200  https://e.example/          1.2 KB    43 ms  Example page
 *     404  https://e.example/gone      0.6 KB    38 ms
 *     –    https://slow.example/            –    5.0 s  header_timeout: no answer …
 *
 * The column of the URL is as wide as the widest so far, within what the screen has;
 * what does not fit there loses its middle. Control characters of others are shown as
 * \x1b.
 */
#ifndef CLI_RECORD_TABLE_H
#define CLI_RECORD_TABLE_H

#include <seine/record.h>

#include "screen/screen.h"
#include "screen/textbuf.h"

typedef struct record_table {
    screen screen;
    size_t url; /* width of the column */
    size_t most;
    bool cut;     /* to the width of the screen */
    textbuf line; /* the last row */
} record_table;

/* `widest`: the longest URL that is known to come. `terminal`: rows are cut to its
 * width. */
void record_table_init(record_table *r, const screen *s, bool on_terminal, size_t widest);
void record_table_fini(record_table *r);

/* r->line is the row with its line feed. */
void record_table_make(record_table *r, const seine_record *record);

figure figure_bytes(uint64_t n); /* 1.2 KB */

/* Grows a text by at most `columns` columns of foreign bytes, made harmless. Answers
 * the columns used. */
size_t record_table_foreign(record_table *r, const char *bytes, size_t n, size_t columns);

#endif
