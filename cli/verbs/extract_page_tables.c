/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes tables as JSON: rows of texts. A cell that spans several places is in each.
 *
 * A cell is written once; its copies are copies of those bytes, so that nothing is kept
 * beside the output but what reaches into the rows below. The output of a page has a
 * limit, because 34 bytes can ask for 65 million cells, and the text of a table inside of
 * a table is text of both.
 */
#include <stdlib.h>
#include <string.h>

#include "screen/xalloc.h"
#include "verbs/extract_page.h"

enum {
    MOST_COLUMNS = 1000, /* that a cell may span, as in the HTML standard */
    MOST_ROWS = 65534,
    PAGE_BYTES = 4,       /* of output for each byte of the page */
    FREE_BYTES = 1 << 18, /* and for any page */
};

/* A column whose cell reaches into the rows below. */
typedef struct deep {
    size_t at, len; /* of its JSON */
    size_t rows;    /* that it still reaches into */
} deep;

typedef struct table {
    page *page;
    tables *out;
    size_t most;  /* bytes of output */
    size_t cells; /* of the row */
    deep *columns;
    size_t count, cap; /* of `columns`: up to the last that was deep */
    size_t live;       /* columns with rows > 0 */
    size_t ahead;      /* of those, the ones that the row has not reached yet */
    seine_node group;  /* that `columns` belong to */
} table;

/* Room for n bytes, and the two that end the output; NULL: it would be too long. */
static char *
room_for(table *t, size_t n)
{
    tables *out = t->out;

    if (out->capped || n > t->most - out->len) {
        out->capped = true;
        return NULL;
    }
    if (out->cap - out->len < n + 2) {
        out->cap += out->cap / 4 + n + 2;
        out->json = xalloc_resize(out->json, out->cap, 1);
    }
    return out->json + out->len;
}

static void
put(table *t, const char *text, size_t n)
{
    char *to = room_for(t, n);

    if (to) {
        memcpy(to, text, n);
        t->out->len += n;
    }
}

/* Separates this value from the one before it. */
static void
put_comma(table *t)
{
    if (t->out->len > 0 && t->out->json[t->out->len - 1] != '[')
        put(t, ",", 1);
}

/* By the rules of the standard for parsing non-negative integers; -1: no such number. */
static long
read_number(seine_view v)
{
    size_t i = 0;
    long n = -1;

    while (i < v.len && strchr(" \t\n\f\r", v.ptr[i]) && v.ptr[i])
        i++;
    i += i < v.len && v.ptr[i] == '+';
    for (; i < v.len && v.ptr[i] >= '0' && v.ptr[i] <= '9'; i++)
        if (n < MOST_ROWS)
            n = (n < 0 ? 0 : n * 10) + (v.ptr[i] - '0');
    return n;
}

static size_t
columns_of(const table *t, seine_node n)
{
    long wide = read_number(seine_node_attr(t->page->tree, n, "colspan"));

    return wide < 1 ? 1 : wide < MOST_COLUMNS ? (size_t)wide : MOST_COLUMNS;
}

/* 0 means all rows of the group. */
static size_t
rows_of(const table *t, seine_node n)
{
    long rows = read_number(seine_node_attr(t->page->tree, n, "rowspan"));

    return rows < 0 ? 1 : rows > 0 && rows < MOST_ROWS ? (size_t)rows : MOST_ROWS;
}

/* Copies JSON that is already written. */
static void
put_copy(table *t, size_t at, size_t len)
{
    put_comma(t);
    char *to = room_for(t, len);

    if (to) {
        memcpy(to, t->out->json + at, len);
        t->out->len += len;
        t->cells++;
    }
}

/* Writes the text of a cell as a JSON string, and returns where that is. */
static deep
put_text(table *t, seine_node n)
{
    seine_text text = {0};
    deep d = {0};

    put_comma(t);
    if (seine_node_words(t->page->tree, n, &text) != SEINE_OK)
        xalloc_json(NULL);
    for (size_t i = 0; i < text.len; i++)
        if (text.bytes[i] == '\n')
            text.bytes[i] = ' ';
    d.len = seine_json_quote(text.bytes, text.len, NULL, 0);
    char *to = room_for(t, d.len + 1);
    if (to) {
        seine_json_quote(text.bytes, text.len, to, d.len + 1);
        d.at = t->out->len;
        t->out->len += d.len;
        t->cells++;
    }
    seine_text_free(&text);
    return d;
}

static bool
is_deep(const table *t, size_t column)
{
    return column < t->count && t->columns[column].rows > 0;
}

/* Notes what the column that was just written holds in the rows below. */
static void
set_column(table *t, size_t column, deep d)
{
    bool was = is_deep(t, column);

    t->ahead -= was;
    t->live -= was;
    t->live += d.rows > 0;
    while (d.rows > 0 && t->count <= column) {
        t->columns = xalloc_room(t->columns, t->count, &t->cap, sizeof *t->columns);
        t->columns[t->count++] = (deep){0};
    }
    if (column < t->count)
        t->columns[column] = d;
}

/* Copies the cell that reaches into this row from above. */
static void
put_deep(table *t)
{
    deep d = t->columns[t->cells];

    put_copy(t, d.at, d.len);
    d.rows--;
    set_column(t, t->cells - 1, d);
}

static void
add_cell(table *t, seine_node n)
{
    size_t wide = columns_of(t, n);

    while (is_deep(t, t->cells) && !t->out->capped)
        put_deep(t);
    deep d = put_text(t, n);
    d.rows = rows_of(t, n) - 1;
    for (size_t i = 0; i < wide && !t->out->capped; i++) {
        if (i > 0)
            put_copy(t, d.at, d.len);
        set_column(t, t->cells - 1, d);
    }
}

/* Cells from above behind the last cell of the row; "" where there is none. */
static void
put_rest(table *t)
{
    while (t->ahead > 0 && !t->out->capped) {
        if (is_deep(t, t->cells)) {
            put_deep(t);
            continue;
        }
        put_comma(t);
        put(t, "\"\"", 2);
        t->cells++;
    }
}

static void
put_row(table *t, seine_node n)
{
    const seine_tree *tree = t->page->tree;
    size_t start = t->out->len;

    if (seine_node_parent(tree, n) != t->group) { /* no cell leaves its group */
        t->group = seine_node_parent(tree, n);
        t->count = t->live = 0;
    }
    t->ahead = t->live;
    t->cells = 0;
    put_comma(t);
    put(t, "[", 1);
    for (seine_node c = seine_node_first(tree, n); c != 0 && !t->out->capped;
         c = seine_node_next(tree, c))
        if (seine_node_is(tree, c, "td") || seine_node_is(tree, c, "th"))
            add_cell(t, c);
    put_rest(t);
    put(t, "]", 1);
    if (t->out->capped)
        t->out->len = start;
}

/* The rows of this table, without the rows of tables inside of it. */
static void
put_table(page *p, seine_node n, tables *out, size_t most)
{
    table t = {.page = p, .out = out, .most = most};
    seine_node end = seine_node_end(p->tree, n);
    size_t start = out->len;

    put_comma(&t);
    put(&t, "[", 1);
    if (out->capped)
        out->len = start;
    for (seine_node i = n + 1; i < end && !out->capped;) {
        bool is_row = seine_node_is(p->tree, i, "tr");

        if (is_row)
            put_row(&t, i);
        bool skip = is_row || seine_node_is(p->tree, i, "table") ||
                    seine_node_is(p->tree, i, "template");
        i = skip ? seine_node_end(p->tree, i) : i + 1;
    }
    if (out->len > start)
        out->json[out->len++] = ']';
    free(t.columns);
}

bool
page_tables(page *p, tables *out, reason *why)
{
    size_t most = PAGE_BYTES * p->html.len + FREE_BYTES;

    *out = (tables){0};
    if (!page_tree(p, why))
        return false;
    out->cap = 256;
    out->json = xalloc_resize(NULL, out->cap, 1);
    out->json[out->len++] = '[';
    for (seine_node n = 1; n < seine_tree_size(p->tree) && !out->capped;) {
        bool skip = seine_node_is(p->tree, n, "template");

        if (seine_node_is(p->tree, n, "table"))
            put_table(p, n, out, most);
        n = skip ? seine_node_end(p->tree, n) : n + 1;
    }
    out->json[out->len++] = ']';
    return true;
}
