/* SPDX-License-Identifier: Apache-2.0 */
/* Reads tables as rows of texts. A cell that spans several places is copied to each. */
#include <stdlib.h>
#include <string.h>

#include "screen/xalloc.h"
#include "verbs/extract_page.h"

enum {
    MOST_SPAN = 1000,     /* as in the HTML standard */
    MOST_CELLS = 1000000, /* of all tables of a page */
};

/* A cell that reaches into the rows below. */
typedef struct deep {
    seine_json *text;
    size_t rows; /* that it still reaches into */
} deep;

typedef struct table {
    page *page;
    seine_json *rows, *row;
    deep *columns;
    size_t count, cap; /* of `columns` */
    size_t at;         /* the column that comes next */
    size_t *cells;     /* counts the cells made so far */
} table;

static size_t
read_span(const page *p, seine_node n, const char *name)
{
    seine_view v = seine_node_attr(p->tree, n, name);
    size_t n_rows = 0;

    for (size_t i = 0; i < v.len && v.ptr[i] >= '0' && v.ptr[i] <= '9'; i++)
        if (n_rows < MOST_SPAN)
            n_rows = n_rows * 10 + (size_t)(v.ptr[i] - '0');
    return n_rows == 0 ? 1 : n_rows < MOST_SPAN ? n_rows : MOST_SPAN;
}

static void
put_text(table *t, const seine_json *text)
{
    if (++*t->cells <= MOST_CELLS)
        jsonl_add(t->row, xalloc_json(seine_json_new_copy(text)));
    t->at++;
}

static deep *
current_column(table *t)
{
    while (t->count <= t->at) {
        t->columns = xalloc_room(t->columns, t->count, &t->cap, sizeof *t->columns);
        t->columns[t->count++] = (deep){NULL, 0};
    }
    return &t->columns[t->at];
}

/* Copies the cells that reach into this row from above, up to the next free column. */
static void
put_from_above(table *t)
{
    while (t->at < t->count && t->columns[t->at].rows > 0) {
        deep *d = &t->columns[t->at];

        d->rows--;
        put_text(t, d->text);
    }
}

static void
add_cell(table *t, seine_node n)
{
    seine_json *text = page_value(t->page, n, NULL);
    size_t wide = read_span(t->page, n, "colspan"),
           rows = read_span(t->page, n, "rowspan");

    put_from_above(t);
    for (size_t i = 0; i < wide && *t->cells <= MOST_CELLS; i++) {
        deep *d = current_column(t);

        seine_json_free(d->text);
        *d = (deep){xalloc_json(seine_json_new_copy(text)), rows - 1};
        put_text(t, text);
    }
    seine_json_free(text);
}

static void
add_row(table *t, seine_node n)
{
    t->row = xalloc_json(seine_json_new_array());
    t->at = 0;
    for (seine_node c = seine_node_first(t->page->tree, n); c != 0;
         c = seine_node_next(t->page->tree, c))
        if (seine_node_is(t->page->tree, c, "td") ||
            seine_node_is(t->page->tree, c, "th"))
            add_cell(t, c);
    put_from_above(t);
    jsonl_add(t->rows, t->row);
}

/* The rows of this table, without the rows of tables inside of it. */
static seine_json *
rows_of(page *p, seine_node n, size_t *cells)
{
    table t = {.page = p, .rows = xalloc_json(seine_json_new_array()), .cells = cells};
    seine_node end = seine_node_end(p->tree, n);

    for (seine_node i = n + 1; i < end;) {
        if (seine_node_is(p->tree, i, "tr"))
            add_row(&t, i);
        bool inner =
            seine_node_is(p->tree, i, "table") || seine_node_is(p->tree, i, "tr");
        i = inner ? seine_node_end(p->tree, i) : i + 1;
    }
    for (size_t i = 0; i < t.count; i++)
        seine_json_free(t.columns[i].text);
    free(t.columns);
    return t.rows;
}

bool
page_tables(page *p, seine_json **out, reason *why)
{
    size_t cells = 0;

    if (!page_tree(p, why))
        return false;
    *out = xalloc_json(seine_json_new_array());
    for (seine_node n = 1; n < seine_tree_size(p->tree); n++)
        if (seine_node_is(p->tree, n, "table"))
            jsonl_add(*out, rows_of(p, n, &cells));
    return true;
}
