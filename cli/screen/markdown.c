/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/markdown.h"

#include <string.h>

#include "screen/markdown_line.h"
#include "screen/markdown_table.h"

enum { INDENT = 2, CODE_INDENT = 6, WIDEST = 100 };

typedef enum block { NOTHING, HEADING, ITEM, OTHER } block;

typedef struct reader {
    const char *rest, *end;
    textbuf *out;
    const screen *screen;
    block last; /* what was shown before */
} reader;

static size_t
line_length(const reader *r)
{
    const char *end = memchr(r->rest, '\n', (size_t)(r->end - r->rest));

    return (size_t)((end ? end : r->end) - r->rest);
}

static void
skip_line(reader *r)
{
    r->rest += line_length(r);
    r->rest += r->rest < r->end;
}

static bool
starts(const reader *r, const char *with)
{
    size_t n = strlen(with);

    return (size_t)(r->end - r->rest) >= n && memcmp(r->rest, with, n) == 0;
}

/* The length of the mark of an item: "- " or "12. "; 0: the line is none. */
static size_t
item_mark(const reader *r)
{
    size_t left = (size_t)(r->end - r->rest), n = 0;

    if (starts(r, "- "))
        return 2;
    while (n < left && r->rest[n] >= '0' && r->rest[n] <= '9')
        n++;
    return n > 0 && n + 1 < left && memcmp(r->rest + n, ". ", 2) == 0 ? n + 2 : 0;
}

static bool
begins_block(const reader *r)
{
    return line_length(r) == 0 || starts(r, "#") || starts(r, "|") || starts(r, "```") ||
           item_mark(r) > 0;
}

void
markdown_put(textbuf *out, const screen *s, size_t indent, const char *label,
             const char *text, size_t n)
{
    size_t width = s->width < WIDEST ? s->width : WIDEST, deep = indent + strlen(label);
    textbuf read = {NULL, 0, 0};
    bool bold = false;
    const char *line;

    markdown_read(&read, text, n);
    textbuf_add(&read, "", 0);
    textbuf_pad(out, indent);
    textbuf_put(out, "%s", label);
    for (const char *rest = read.text; (n = markdown_cut(&rest, width - deep, &line));) {
        if (line != read.text)
            textbuf_pad(out, deep);
        markdown_ink(out, s, line, n, &bold);
        textbuf_put(out, "\n");
    }
    textbuf_free(&read);
}

/* Adds a blank line before a block, but not below a heading or between items. */
static void
put_gap(reader *r, block next)
{
    bool is_close = r->last == NOTHING || (r->last == HEADING && next != HEADING) ||
                    (r->last == ITEM && next == ITEM);

    if (!is_close)
        textbuf_put(r->out, "\n");
    r->last = next;
}

static void
show_heading(reader *r)
{
    size_t n = line_length(r), at = 0;
    textbuf text = {NULL, 0, 0};

    while (at < n && (r->rest[at] == '#' || r->rest[at] == ' '))
        at++;
    textbuf_put(&text, "**");
    for (; at < n; at++)
        if (r->rest[at] != '`')
            textbuf_add(&text, r->rest + at, 1);
    textbuf_put(&text, "**");
    put_gap(r, HEADING);
    markdown_put(r->out, r->screen, 0, "", text.text, text.len);
    textbuf_free(&text);
    skip_line(r);
}

static void
show_code(reader *r)
{
    bool is_shell = starts(r, "```sh"); /* bold, unlike what the commands print */

    put_gap(r, OTHER);
    for (skip_line(r); r->rest < r->end && !starts(r, "```"); skip_line(r)) {
        textbuf_pad(r->out, line_length(r) ? CODE_INDENT : 0);
        textbuf_ink(r->out, r->screen, is_shell ? INK_BOLD : INK_NONE, "%.*s",
                    (int)line_length(r), r->rest);
        textbuf_put(r->out, "\n");
    }
    skip_line(r);
}

static void
show_table(reader *r)
{
    const char *start = r->rest;

    while (r->rest < r->end && starts(r, "|"))
        skip_line(r);
    put_gap(r, OTHER);
    markdown_table(r->out, r->screen, INDENT, start, (size_t)(r->rest - start));
}

static void
show_paragraph(reader *r)
{
    size_t mark = item_mark(r);
    char label[16] = "";

    put_gap(r, mark > 0 ? ITEM : OTHER);
    if (mark < sizeof label)
        memcpy(label, r->rest, mark);
    const char *start = r->rest + mark;
    do
        skip_line(r);
    while (r->rest < r->end && !begins_block(r));
    markdown_put(r->out, r->screen, INDENT, label, start, (size_t)(r->rest - start));
}

void
markdown_show(textbuf *out, const screen *s, const char *text, size_t n)
{
    reader r = {.rest = text, .end = text + n, .out = out, .screen = s};

    while (r.rest < r.end) {
        if (line_length(&r) == 0)
            skip_line(&r);
        else if (starts(&r, "#"))
            show_heading(&r);
        else if (starts(&r, "```"))
            show_code(&r);
        else if (starts(&r, "|"))
            show_table(&r);
        else
            show_paragraph(&r);
    }
}

bool
markdown_cell(const char *row, size_t n, size_t *at, const char **out_cell,
              size_t *out_len)
{
    size_t start = *at, end;

    start += start < n && row[start] == '|';
    for (end = start; end < n && row[end] != '|'; end++)
        end += row[end] == '\\' && end + 1 < n;
    if (end >= n)
        return false;
    *at = end;
    while (start < end && row[start] == ' ')
        start++;
    while (end > start && row[end - 1] == ' ')
        end--;
    *out_cell = row + start;
    *out_len = end - start;
    return true;
}
