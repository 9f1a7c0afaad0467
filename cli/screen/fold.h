/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fold.h - breaks messages that are wider than the terminal between words.
 *
 *     seine: job 'docs.example' is not finished: 5 URLs are left to do
 *     try: the same command again
 *
 * A hint behind "; try: " gets a line of its own. Else a line goes on in the next one
 * behind its last word that fits. Lines of a table, which have two blanks between words,
 * and words that are wider than the screen, such as URLs, stay as they are.
 *
 *     textbuf out = {0};
 *     fold_lines(text, strlen(text), 80, &out);
 *     textbuf_free(&out);
 */
#ifndef CLI_FOLD_H
#define CLI_FOLD_H

#include "screen/textbuf.h"

/* Adds the text to `out`, in lines of at most `width` columns where they can be broken.
 */
void fold_lines(const char *bytes, size_t n, size_t width, textbuf *out);

#endif
