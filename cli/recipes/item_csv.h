/* SPDX-License-Identifier: Apache-2.0 */
/*
 * item_csv.h - a row of a recipe as a row of CSV, and the names of its columns.
 *
 * A NULL kind means bad rows: they have the columns of the first kind, and behind them
 * their kind and their errors.
 */
#ifndef CLI_ITEM_CSV_H
#define CLI_ITEM_CSV_H

#include "recipes/item_record.h"
#include "recipes/recipe_file.h"

/* Both without the end of the line; the caller frees them. */
char *item_csv_head(const recipe_file *recipe, const char *of_kind, size_t *out_len);
char *item_csv_row(const recipe_file *recipe, const char *of_kind, const item_of *of,
                   const seine_row *row, size_t *out_len);

#endif
