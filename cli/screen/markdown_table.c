/* SPDX-License-Identifier: Apache-2.0 */
#include "screen/markdown_table.h"

#include <string.h>

#include "screen/markdown.h"
#include "screen/markdown_line.h"

enum { COLUMNS = 8, GAP = 2, NARROW = 8 };

typedef struct table {
    size_t wide[COLUMNS]; /* the longest cell, then the width of the column */
    size_t n;             /* columns */
    size_t indent;
    size_t rows, wrapped, shown;
    bool is_loose; /* most rows are wrapped: a blank line stands between them */
    textbuf *out;
    const screen *screen;
} table;

/* The cells of one row, read. */
typedef struct row {
    textbuf cells[COLUMNS];
    size_t n;
} row;

static row
read_row(const char *line, size_t n)
{
    row r = {.n = 0};
    const char *cell;
    size_t at = 0, len;

    while (r.n < COLUMNS && markdown_cell(line, n, &at, &cell, &len)) {
        markdown_read(&r.cells[r.n], cell, len);
        textbuf_add(&r.cells[r.n++], "", 0); /* an empty one is terminated, too */
    }
    return r;
}

static void
free_row(row *r)
{
    for (size_t i = 0; i < r->n; i++)
        textbuf_free(&r->cells[i]);
}

/* The line between head and rows. */
static bool
is_rule(const char *line, size_t n)
{
    if (!memmem(line, n, "--", 2))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!strchr("|-: ", line[i]))
            return false;
    return true;
}

/* The length of the line at `text`, without its end. */
static size_t
line_length(const char *text, size_t n)
{
    const char *end = memchr(text, '\n', n);

    return end ? (size_t)(end - text) : n;
}

static void
measure_row(table *t, const row *r)
{
    t->n = r->n > t->n ? r->n : t->n;
    for (size_t i = 0; i < r->n; i++) {
        size_t wide = markdown_columns(r->cells[i].text, r->cells[i].len);

        t->wide[i] = wide > t->wide[i] ? wide : t->wide[i];
    }
}

/* Gives each column its width: those that are narrow enough what they want, the others
 * a part of the rest. */
static void
share_width(table *t, size_t width)
{
    bool fits[COLUMNS] = {false};
    size_t left = t->n, sum = 0, gaps = GAP * (t->n - 1) + t->indent;
    size_t room = width > gaps + NARROW * t->n ? width - gaps : NARROW * t->n;

    for (size_t i = 0; i < t->n;) {
        bool is_narrow = !fits[i] && t->wide[i] <= room / left;

        if (is_narrow) {
            fits[i] = true;
            room -= t->wide[i];
            left--;
        }
        i = is_narrow && left > 0 ? 0 : i + 1;
        if (left == 0)
            return;
    }
    for (size_t i = 0; i < t->n; i++)
        sum += fits[i] ? 0 : t->wide[i];
    for (size_t i = 0; i < t->n; i++)
        if (!fits[i]) {
            size_t part = room * t->wide[i] / sum, least = room / (2 * left);

            sum -= t->wide[i];
            part = part < least ? least : part;
            t->wide[i] = --left == 0 ? room : part;
            room -= t->wide[i];
        }
}

static void
count_row(table *t, const row *r)
{
    bool is_wrapped = false;

    for (size_t i = 0; i < r->n; i++)
        is_wrapped |= markdown_columns(r->cells[i].text, r->cells[i].len) > t->wide[i];
    t->wrapped += is_wrapped;
    t->rows++;
}

/* Adds one line of each cell. False: no cell has any left. */
static bool
put_line(const table *t, const char *rest[], bool bold[])
{
    const char *line = NULL;
    size_t lengths[COLUMNS], missing = t->indent;
    const char *lines[COLUMNS];
    bool any = false;

    for (size_t i = 0; i < t->n; i++) {
        lengths[i] = rest[i] ? markdown_cut(&rest[i], t->wide[i], &line) : 0;
        lines[i] = line;
        any |= lengths[i] > 0;
    }
    for (size_t i = 0; any && i < t->n; i++) {
        if (lengths[i] > 0) {
            textbuf_pad(t->out, missing);
            markdown_ink(t->out, t->screen, lines[i], lengths[i], &bold[i]);
            missing = 0;
        }
        missing += t->wide[i] + GAP;
        missing -= lengths[i] ? markdown_columns(lines[i], lengths[i]) : 0;
    }
    if (any)
        textbuf_put(t->out, "\n");
    return any;
}

static void
put_row(const table *t, const row *r)
{
    const char *rest[COLUMNS] = {NULL};
    bool bold[COLUMNS] = {false};

    for (size_t i = 0; i < r->n; i++)
        rest[i] = r->cells[i].text;
    while (put_line(t, rest, bold))
        continue;
}

static void
put_head(const table *t, const row *r)
{
    row bold = {.n = r->n};

    for (size_t i = 0; i < r->n; i++) {
        textbuf_put(&bold.cells[i], "\1%s\2", r->cells[i].text);
        if (r->cells[i].len == 0)
            bold.cells[i].text[0] = '\0';
    }
    put_row(t, &bold);
    free_row(&bold);
}

static void
add_row(table *t, const row *r)
{
    if (t->shown++ == 0) {
        put_head(t, r);
        return;
    }
    if (t->is_loose && t->shown > 2)
        textbuf_put(t->out, "\n");
    put_row(t, r);
}

static void
each_row(table *t, const char *text, size_t n, void (*call)(table *t, const row *r))
{
    for (size_t at = 0, len; at < n; at += len + 1) {
        len = line_length(text + at, n - at);
        if (is_rule(text + at, len))
            continue;
        row r = read_row(text + at, len);
        call(t, &r);
        free_row(&r);
    }
}

void
markdown_table(textbuf *out, const screen *s, size_t indent, const char *text, size_t n)
{
    table t = {.indent = indent, .out = out, .screen = s};

    each_row(&t, text, n, measure_row);
    if (t.n == 0)
        return;
    share_width(&t, s->width);
    each_row(&t, text, n, count_row);
    t.is_loose = 2 * t.wrapped > t.rows;
    each_row(&t, text, n, add_row);
}
