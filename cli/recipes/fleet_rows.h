/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_rows.h - the lines of a recipe's segments, on their way into one file.
 *
 * A worker compares the rows of one page with each other; here the rows of all pages are
 * compared. A row that came before is a bad one, as in a run on one machine. What the
 * recipe expects is judged at the end.
 *
 *     const recipe_file *recipe;                              fleet_recipe.h
 *     fleet_rows rows;
 *     fleet_rows_init(&rows, recipe);
 *     char *text = fleet_rows_line(&rows, line, n, &len);     of each line
 *     code = fleet_rows_end(&rows, is_finished, is_quiet);
 *     fleet_rows_fini(&rows);
 */
#ifndef CLI_FLEET_ROWS_H
#define CLI_FLEET_ROWS_H

#include <seine/seen.h>

#include "recipes/expectations.h"

typedef struct fleet_rows {
    const recipe_file *recipe;
    bool flat;        /* the data of good rows alone */
    bool has_records; /* of pages, beside the rows */
    expectations *all, *page;
    bool has_page;
    seine_json *keys; /* of the rows of the page, in order; "": it has none */
    size_t row;
    seine_seen *seen;
    uint64_t ok, failed, skipped; /* pages */
    uint64_t unread;              /* lines that are none of a recipe */
} fleet_rows;

void fleet_rows_init(fleet_rows *r, const recipe_file *recipe);
void fleet_rows_fini(fleet_rows *r);

/* What is to be written for the line, with its end; NULL: nothing. The caller frees it.
 */
char *fleet_rows_line(fleet_rows *r, const char *line, size_t len, size_t *out_len);

/* The exit code, as of `seine run`. An unfinished job is not judged. */
int fleet_rows_end(fleet_rows *r, bool is_finished, bool is_quiet);

#endif
