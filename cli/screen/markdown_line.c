/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/markdown_line.h"

#include <string.h>

#include "screen/say.h"

enum { BOLD = 1, PLAIN = 2 }; /* the bytes that marks become */

static void
add_mark(textbuf *out, char mark)
{
    textbuf_add(out, &mark, 1);
}

static void
add_bold(textbuf *out, const char *text, size_t n)
{
    add_mark(out, BOLD);
    for (size_t i = 0; i < n; i++)
        if (text[i] != '\\' || i + 1 == n || text[i + 1] != '|') /* as tables have it */
            add_mark(out, text[i] == '\n' ? ' ' : text[i]);
    add_mark(out, PLAIN);
}

/* Reads what stands between two equal marks. Returns the bytes of it all; 0: the mark has
 * no end and is text. */
static size_t
read_pair(textbuf *out, const char *text, size_t n, const char *mark)
{
    size_t len = strlen(mark);
    const char *end = n > len ? memmem(text + len, n - len, mark, len) : NULL;

    if (n < len || memcmp(text, mark, len) != 0 || !end)
        return 0;
    add_bold(out, text + len, (size_t)(end - text) - len);
    return (size_t)(end - text) + len;
}

/* Reads [text](target), likewise. */
static size_t
read_link(textbuf *out, const char *text, size_t n)
{
    const char *middle = memmem(text, n, "](", 2);
    const char *end = middle ? memchr(middle, ')', n - (size_t)(middle - text)) : NULL;

    if (text[0] != '[' || !end)
        return 0;
    markdown_read(out, text + 1, (size_t)(middle - text) - 1);
    if (strncmp(middle + 2, "http", 4) == 0)
        textbuf_put(out, " (%.*s)", (int)(end - middle) - 2, middle + 2);
    return (size_t)(end - text) + 1;
}

void
markdown_read(textbuf *out, const char *text, size_t n)
{
    for (size_t i = 0, used; i < n; i += used) {
        used = read_pair(out, text + i, n - i, "`");
        if (used == 0)
            used = read_pair(out, text + i, n - i, "**");
        if (used == 0)
            used = read_link(out, text + i, n - i);
        if (used > 0)
            continue;
        used = 1;
        if (text[i] == '\\' && i + 1 < n && strchr("\\`*[]|<>#-", text[i + 1]))
            i++;
        add_mark(out, text[i] == '\n' ? ' ' : text[i]);
    }
}

/* The bytes of the character at `text`, and its columns. */
static size_t
next_char(const char *text, size_t n, size_t *columns)
{
    size_t len = show_char(text, n, columns);

    if (text[0] == BOLD || text[0] == PLAIN)
        *columns = 0;
    return len ? len : 1;
}

size_t
markdown_columns(const char *text, size_t n)
{
    size_t sum = 0, columns;

    for (size_t i = 0; i < n; sum += columns)
        i += next_char(text + i, n - i, &columns);
    return sum;
}

size_t
markdown_longest(const char *text)
{
    size_t longest = 0;

    while (*text) {
        size_t n = strcspn(text, " "), columns = markdown_columns(text, n);

        longest = columns > longest ? columns : longest;
        text += n + (text[n] == ' ');
    }
    return longest;
}

/* As many bytes of a word that is too long as fit. */
static size_t
break_word(const char *word, size_t n, size_t width)
{
    size_t at = 0, sum = 0, columns;

    while (at < n) {
        size_t len = next_char(word + at, n - at, &columns);

        if (at > 0 && sum + columns > width)
            return at;
        at += len;
        sum += columns;
    }
    return n;
}

size_t
markdown_cut(const char **rest, size_t width, const char **out_line)
{
    const char *line = *rest + strspn(*rest, " ");
    size_t used = 0, columns = 0;

    *out_line = line;
    while (line[used]) {
        size_t gap = strspn(line + used, " "), n = strcspn(line + used + gap, " ");
        size_t wide = markdown_columns(line + used + gap, n);

        if (used > 0 && columns + gap + wide > width)
            break;
        if (used == 0 && wide > width)
            n = break_word(line, n, width);
        used += gap + n;
        columns += gap + wide;
        if (columns > width)
            break;
    }
    *rest = line + used;
    return used - (used > 0 && line[used - 1] == ' ');
}

void
markdown_ink(textbuf *out, const screen *s, const char *text, size_t n, bool *bold)
{
    if (*bold && s->colour)
        textbuf_put(out, "%s", screen_code(INK_BOLD));
    for (size_t i = 0; i < n; i++) {
        if (text[i] != BOLD && text[i] != PLAIN) {
            textbuf_add(out, text + i, 1);
            continue;
        }
        *bold = text[i] == BOLD;
        if (s->colour)
            textbuf_put(out, "%s", screen_code(*bold ? INK_BOLD : INK_NONE));
    }
    if (*bold && s->colour)
        textbuf_put(out, "%s", screen_code(INK_NONE));
}
