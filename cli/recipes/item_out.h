/* SPDX-License-Identifier: Apache-2.0 */
/*
 * item_out.h - where the rows of a run go: standard output, JSON lines, CSV.
 *
 * CSV has the fields of a kind in their order, then _url and _n; lists are joined by |,
 * money has a column for the currency. Rows of further kinds go to NAME.KIND.csv, bad
 * rows with their errors to NAME.bad.csv.
 *
 * Threads one owner.
 */
#ifndef CLI_ITEM_OUT_H
#define CLI_ITEM_OUT_H

#include <stdio.h>

#include "options/options.h"
#include "recipes/item_record.h"
#include "recipes/recipe_file.h"

typedef struct item_file {
    char *path;
    const char *kind; /* of CSV; NULL: bad rows */
    FILE *out;
    bool csv;
} item_file;

typedef struct item_out {
    const recipe_file *recipe;
    item_file *files;
    size_t count, cap;
    bool flat;   /* data of good rows alone */
    bool failed; /* a file could not be written; told */
} item_out;

/* Opens the files of -o; without any, rows go to standard output. SAY_DONE, or the exit
 * code after an error message, with nothing created but empty files. */
int item_out_open(item_out *o, const recipe_file *recipe, const texts *paths, bool flat,
                  bool overwrite);

void item_out_row(item_out *o, const item_of *of, const seine_row *row);

/* A line of JSON that is no row, for JSON lines alone; not if flat. */
void item_out_line(item_out *o, const char *line);

/* False: something could not be written, and the message is told. */
bool item_out_close(item_out *o);

#endif
