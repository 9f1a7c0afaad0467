/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_table.h - prints records as a table for people, one row at a time.
 *
 *     200  https://e.example/          1.2 KB    43 ms  Example page
 *     404  https://e.example/gone      0.6 KB    38 ms
 *     –    https://slow.example/            –    5.0 s  header_timeout: no answer …
 *
 * On a terminal the columns do not move; a URL that is too long loses its scheme, then
 * the end of its host, then the front of its path. Redirects that were followed are shown
 * by where they led. Control characters in titles and messages are shown as \x1b.
 *
 *     record_table t;
 *     record_table_init(&t, &s, true, 0);
 *     record_table_make(&t, record);
 *     fwrite(t.line.text, 1, t.line.len, stdout);
 */
#ifndef CLI_RECORD_TABLE_H
#define CLI_RECORD_TABLE_H

#include <seine/record.h>

#include "screen/screen.h"
#include "screen/textbuf.h"

typedef struct record_table {
    screen screen;
    size_t url;   /* width of the URL column now … */
    size_t most;  /* … and at most */
    bool cut;     /* rows end at the edge of the screen */
    textbuf line; /* the last row */
} record_table;

/* `widest`: the length of the longest URL that will come; 0: unknown. `on_terminal`: rows
 * are cut to the width of the screen. */
void record_table_init(record_table *r, const screen *s, bool on_terminal, size_t widest);
void record_table_fini(record_table *r);

/* Makes r->line the row of the record, with its line feed. */
void record_table_make(record_table *r, const seine_record *record);

figure figure_bytes(uint64_t n); /* 1.2 KB */

/* Adds at most `columns` columns of foreign bytes to the row and makes control characters
 * harmless. Returns the columns used. */
size_t record_table_foreign(record_table *r, const char *bytes, size_t n, size_t columns);

#endif
