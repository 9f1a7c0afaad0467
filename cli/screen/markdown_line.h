/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markdown_line.h - the marks inside of a line of Markdown, and lines of a given width.
 *
 * A text is read once: its marks become bytes for "bold from here" and "plain from here",
 * which take no column. Then lines are cut off it.
 *
 *     textbuf text = {NULL, 0, 0};
 *     markdown_read(&text, "a `b` c", 7);
 *     for (const char *rest = text.text; (n = markdown_cut(&rest, 72, &line)) > 0;)
 *         markdown_ink(&out, &s, line, n, &bold);
 */
#ifndef CLI_MARKDOWN_LINE_H
#define CLI_MARKDOWN_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "screen/textbuf.h"

/* Reads the marks of a text; line ends become blanks. */
void markdown_read(textbuf *out, const char *text, size_t n);

/* The columns that a text which was read takes, and those of its longest word. */
size_t markdown_columns(const char *text, size_t n);
size_t markdown_longest(const char *text);

/* Cuts the next line of at most `width` columns off *rest, between words if it can.
 * Returns its bytes; 0: nothing is left. */
size_t markdown_cut(const char **rest, size_t width, const char **out_line);

/* Writes a text that was read; bold goes on from line to line. */
void markdown_ink(textbuf *out, const screen *s, const char *text, size_t n, bool *bold);

#endif
