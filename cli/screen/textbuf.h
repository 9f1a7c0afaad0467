/* SPDX-License-Identifier: Apache-2.0 */
/*
 * textbuf.h - a text that grows and is always terminated.
 *
 *     textbuf t = {0};
 *     textbuf_put(&t, "%d URLs", 12);
 *     textbuf_free(&t);
 */
#ifndef CLI_TEXTBUF_H
#define CLI_TEXTBUF_H

#include <stddef.h>

#include "screen/screen.h"

typedef struct textbuf {
    char *text; /* NULL while it is empty */
    size_t len, cap;
} textbuf;

void textbuf_add(textbuf *g, const char *bytes, size_t n);
void textbuf_put(textbuf *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds a text, in colour where the screen has colours. */
void textbuf_ink(textbuf *g, const screen *s, ink colour, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void textbuf_pad(textbuf *g, size_t blanks);
void textbuf_free(textbuf *g);

#endif
