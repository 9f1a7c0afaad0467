/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sample_table.h - the first rows of a recipe on standard output, a line for each field:
 *
 *     product: 12 rows by .product
 *       field  type    row 1    row 2    row 3
 *       sku    string  A-1001   A-1002   A-1003
 */
#ifndef CLI_SAMPLE_TABLE_H
#define CLI_SAMPLE_TABLE_H

#include "recipes/recipe_file.h"

/* `page` is what the rows come from. */
void sample_table(const recipe_file *f, const seine_page *page);

#endif
