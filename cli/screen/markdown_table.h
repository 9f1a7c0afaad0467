/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markdown_table.h - a table of Markdown, aligned and as wide as the screen.
 *
 * A column that fits has the width of its longest cell; the others share what is left, by
 * their longest cells, and their cells are wrapped. A head without words is left out.
 */
#ifndef CLI_MARKDOWN_TABLE_H
#define CLI_MARKDOWN_TABLE_H

#include <stddef.h>

#include "screen/textbuf.h"

/* `text` is the lines of the table, and no others. */
void markdown_table(textbuf *out, const screen *s, size_t indent, const char *text,
                    size_t n);

#endif
