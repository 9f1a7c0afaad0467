/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/fold.h"

#include <string.h>

#include "screen/say.h"

static const char hint[] = "; try: ";

/* The bytes of the escape sequence for a colour at the front, or 0. */
static size_t
colour_at(const char *bytes, size_t n)
{
    const char *end =
        n > 2 && memcmp(bytes, "\x1b[", 2) == 0 ? memchr(bytes, 'm', n) : NULL;

    return end ? (size_t)(end - bytes) + 1 : 0;
}

/* How many bytes of the line fit into so many columns. */
static size_t
bytes_in(const char *line, size_t n, size_t width)
{
    size_t used = 0, at = 0;

    while (at < n) {
        size_t wide = 0, len = colour_at(line + at, n - at);

        if (len == 0) {
            len = show_char(line + at, n - at, &wide);
            wide = len ? wide : 1;
        }
        if (used + wide > width)
            break;
        used += wide;
        at += len ? len : 1;
    }
    return at;
}

static bool
is_table(const char *line, size_t n)
{
    while (n > 0 && *line == ' ') {
        line++;
        n--;
    }
    return memmem(line, n, "  ", 2) != NULL;
}

/* Where a line that is too wide is broken; `out_skip` bytes behind are left out. */
static size_t
break_of(const char *line, size_t n, size_t fits, size_t *out_skip)
{
    const char *try = memmem(line, n, hint, sizeof hint - 1);
    size_t at = fits;

    *out_skip = 1;
    if (try && (size_t)(try - line) <= fits) {
        *out_skip = 2;
        return (size_t)(try - line);
    }
    while (at > 0 && line[at] != ' ')
        at--;
    for (size_t i = 0; i <= at; i++)
        if (line[i] != ' ')
            return at > i ? at : n;
    return n;
}

static void
fold_line(const char *line, size_t n, size_t width, textbuf *out)
{
    size_t fits;

    while (!is_table(line, n) && (fits = bytes_in(line, n, width)) < n) {
        size_t skip, at = break_of(line, n, fits, &skip);

        if (at == n)
            break;
        textbuf_add(out, line, at);
        textbuf_add(out, "\n", 1);
        line += at + skip;
        n -= at + skip;
    }
    textbuf_add(out, line, n);
}

void
fold_lines(const char *bytes, size_t n, size_t width, textbuf *out)
{
    while (n > 0) {
        const char *feed = memchr(bytes, '\n', n);
        size_t len = feed ? (size_t)(feed - bytes) : n;

        fold_line(bytes, len, width, out);
        if (feed)
            textbuf_add(out, "\n", 1);
        bytes += len + (feed != NULL);
        n -= len + (feed != NULL);
    }
}
