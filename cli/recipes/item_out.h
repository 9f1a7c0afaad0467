/* SPDX-License-Identifier: Apache-2.0 */
/*
 * item_out.h - the rows of a run as items of its outputs.
 *
 * CSV has the fields of a kind in their order, then _url and _n; lists are joined by |,
 * money has a column for the currency. Rows of further kinds go to NAME.KIND.csv, bad
 * rows with their errors to NAME.bad.csv. SQLite has a table item_KIND for each kind.
 *
 *     code = item_out_open(&o, sinks, "shifts.csv", &base);      once for each output
 *     item_out_add(&o, &of, row, items);                         a row of a page
 *
 * Threads open, free: one owner; add: any thread after that.
 */
#ifndef CLI_ITEM_OUT_H
#define CLI_ITEM_OUT_H

#include <seine/record_items.h>

#include "recipes/item_record.h"
#include "recipes/recipe_file.h"

typedef struct item_out {
    const recipe_file *recipe;
    bool flat; /* data of good rows alone */
    bool has_lines, has_csv;
    seine_item_sink **sinks; /* of the outputs, as long as these */
    char **texts;            /* likewise */
    size_t n_sinks, cap_sinks, n_texts, cap_texts;
    seine_item_table *tables;
} item_out;

void item_out_init(item_out *o, const recipe_file *recipe, bool flat);
void item_out_free(item_out *o);

/* Checks the format of what -o names, before the job is begun. SAY_DONE, or the exit code
 * after an error message. */
int item_out_check(const char *name);

/* Is there nothing yet in the files that -o names? SAY_DONE, or the exit code after an
 * error message. */
int item_out_is_new(const item_out *o, const char *name);

/* Opens what -o names and item_out_check has passed; NULL: standard output. SAY_DONE, or
 * the exit code after an error message. */
int item_out_open(item_out *o, seine_sinks *sinks, const char *name,
                  const seine_sink_opts *base);

void item_out_add(const item_out *o, const item_of *of, const seine_row *row,
                  seine_record_items *items);

#endif
