/* SPDX-License-Identifier: Apache-2.0 */
/* grow.h - a text that grows; always terminated, {0} is empty. */
#ifndef CLI_GROW_H
#define CLI_GROW_H

#include <stddef.h>

#include "screen.h"

typedef struct grow {
    char *text; /* NULL while it is empty */
    size_t len, cap;
} grow;

void grow_add(grow *g, const char *bytes, size_t n);
void grow_put(grow *g, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* In a colour, where the screen has them. */
void grow_ink(grow *g, const screen *s, ink colour, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
void grow_pad(grow *g, size_t blanks);
void grow_free(grow *g);

#endif
