/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/textbuf.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "screen/xalloc.h"

static void
make_room(textbuf *g, size_t n)
{
    if (g->cap - g->len > n)
        return;
    g->cap = 2 * (g->cap + n) + 256;
    g->text = xalloc_resize(g->text, g->cap, 1);
}

void
textbuf_add(textbuf *g, const char *bytes, size_t n)
{
    make_room(g, n);
    if (n > 0)
        memcpy(g->text + g->len, bytes, n);
    g->len += n;
    g->text[g->len] = '\0';
}

static void __attribute__((format(printf, 2, 0)))
put_list(textbuf *g, const char *fmt, va_list list)
{
    va_list again;

    va_copy(again, list);
    int n = vsnprintf(NULL, 0, fmt, again);
    va_end(again);
    make_room(g, n > 0 ? (size_t)n : 0);
    vsnprintf(g->text + g->len, g->cap - g->len, fmt, list);
    g->len += n > 0 ? (size_t)n : 0;
}

void
textbuf_put(textbuf *g, const char *fmt, ...)
{
    va_list list;

    va_start(list, fmt);
    put_list(g, fmt, list);
    va_end(list);
}

void
textbuf_ink(textbuf *g, const screen *s, ink colour, const char *fmt, ...)
{
    bool plain = !s->colour || colour == INK_NONE;
    va_list list;

    if (!plain)
        textbuf_put(g, "%s", screen_code(colour));
    va_start(list, fmt);
    put_list(g, fmt, list);
    va_end(list);
    if (!plain)
        textbuf_put(g, "%s", screen_code(INK_NONE));
}

void
textbuf_pad(textbuf *g, size_t blanks)
{
    while (blanks-- > 0)
        textbuf_add(g, " ", 1);
}

void
textbuf_free(textbuf *g)
{
    free(g->text);
    *g = (textbuf){NULL, 0, 0};
}
