/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markdown.h - a page of Markdown as text for a terminal.
 *
 * Headings are bold and stand at the margin, all else is indented. Paragraphs, lists and
 * the cells of tables are wrapped at the screen's width, columns are aligned, and fenced
 * blocks stay as they are. Of the marks inside of a line `code`, **bold**, [links](x) and
 * a backslash are known; of a link its text is shown, and its address if it leads out of
 * the page's folder. Lines of HTML are text like any other.
 *
 *     textbuf out = {NULL, 0, 0};
 *     markdown_show(&out, &s, page, strlen(page));
 */
#ifndef CLI_MARKDOWN_H
#define CLI_MARKDOWN_H

#include <stdbool.h>
#include <stddef.h>

#include "screen/textbuf.h"

void markdown_show(textbuf *out, const screen *s, const char *text, size_t n);

/* Adds a paragraph, `indent` columns in and behind `label`. */
void markdown_put(textbuf *out, const screen *s, size_t indent, const char *label,
                  const char *text, size_t n);

/* The next cell of a row of a table, without blanks around it; *at begins as 0. False:
 * there are no more. */
bool markdown_cell(const char *row, size_t n, size_t *at, const char **out_cell,
                   size_t *out_len);

#endif
