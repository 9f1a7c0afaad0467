/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a path become a list: elements by a selector, or a table by its headings.
 */
#include <string.h>

#include "recipe/draft.h"

sn_draft_list *
sn_draft_list_new(sn_draft *d)
{
    if (d->n_lists == SN_DRAFT_LISTS)
        return NULL;
    sn_draft_list *list = SN_ARENA_NEW(&d->arena, sn_draft_list);
    return list ? list : sn_draft_no_memory(d);
}

sn_draft_field *
sn_draft_field_new(sn_draft_list *list)
{
    return list->n_fields < SN_DRAFT_FIELDS ? &list->fields[list->n_fields++] : NULL;
}

/* The first good token that the first rows share. */
static const sn_token *
shared_token(const sn_draft *d, const seine_node *rows, size_t n)
{
    const sn_element *e = &d->elements[rows[0]];

    for (uint32_t k = 0; k < e->count; k++) {
        const sn_token *t = d->owned[e->at + k];
        bool is_shared = t->worth == SN_TOKEN_GOOD;
        for (size_t i = 1; i < n && i < 50 && is_shared; i++)
            is_shared = sn_draft_has(d, rows[i], t);
        if (is_shared)
            return t;
    }
    return NULL;
}

/* A kind is named after the rows, or the list that they stand in. */
static void
name_kind(sn_draft *d, sn_draft_list *list, const seine_node *rows, size_t n)
{
    seine_node row = rows[0];
    const sn_path *p = d->elements[row].path;
    const char *fallback = sn_draft_is(d, row, "tr") ? "row" : "item";

    if (sn_draft_is(d, row, "item entry article"))
        fallback = sn_draft_is(d, row, "item")    ? "item"
                   : sn_draft_is(d, row, "entry") ? "entry"
                                                  : "article";
    for (unsigned i = 0; p && p->up && i < 4; i++, p = p->up) {
        const sn_token *t =
            i == 0 ? shared_token(d, rows, n) : shared_token(d, &p->node, 1);
        if (t && sn_draft_id(t->text, list->kind, sizeof list->kind) &&
            strlen(list->kind) <= 24) {
            sn_draft_singular(list->kind);
            return;
        }
    }
    memcpy(list->kind, fallback, strlen(fallback) + 1);
}

/* The elements that a selector finds; NULL: none, or d->err. */
static seine_node *
find_all(sn_draft *d, const char *text, size_t *out_n)
{
    seine_select *select = NULL;
    seine_finder *finder = NULL;
    seine_node n = 0, *all = NULL;
    size_t count = 0, cap = seine_tree_size(d->tree);
    seine_err e = seine_select_new(text, strlen(text), &select, NULL);

    if (e == SEINE_OK)
        e = seine_finder_new(d->tree, &finder);
    if (e == SEINE_OK)
        all = SN_ARENA_ARRAY(&d->arena, seine_node, cap);
    while (e == SEINE_OK && all && count < cap &&
           (e = seine_finder_next(finder, select, 0, &n)) == SEINE_OK && n != 0)
        all[count++] = n;
    if (e == SEINE_E_NOMEM || !all)
        sn_draft_no_memory(d);
    seine_finder_free(finder);
    seine_select_free(select);
    *out_n = count;
    return e == SEINE_OK && count > 0 ? all : NULL;
}

static seine_node *
rows_of(sn_draft *d, const sn_path *path, size_t *out_n)
{
    seine_node *rows = SN_ARENA_ARRAY(&d->arena, seine_node, path->count + 1);
    seine_node size = seine_tree_size(d->tree);
    size_t n = 0;

    for (seine_node i = 1; rows && i < size; i++)
        if (d->elements[i].path == path)
            rows[n++] = i;
    *out_n = n;
    return rows ? rows : sn_draft_no_memory(d);
}

/* Tables. */

static size_t
cells_of(const sn_draft *d, seine_node row, bool *out_all_th)
{
    size_t n = 0;

    *out_all_th = true;
    for (seine_node c = seine_node_first(d->tree, row); c != 0;
         c = seine_node_next(d->tree, c))
        if (sn_draft_is(d, c, "td th")) {
            n++;
            *out_all_th &= sn_draft_is(d, c, "th");
        }
    return n;
}

static seine_node
table_of(const sn_draft *d, seine_node n)
{
    while (n != 0 && !sn_draft_is(d, n, "table"))
        n = seine_node_parent(d->tree, n);
    return n;
}

/* Columns of a table that a draft can have; names of more are not compared. */
enum { MOST_COLUMNS = 60 };

/* A table as its rows are seen by the recipe, which puts a cell into each place that it
 * spans. */
typedef struct grid {
    seine_node table, header, group;
    uint32_t header_at; /* from 1; 0: none */
    size_t columns;
    bool wide_header, wide, deep; /* cells of the header; cells below that span places */
    size_t rows, fitting;         /* below the header; those with its columns */
    seine_node cells[MOST_COLUMNS + 1];
    seine_node names[MOST_COLUMNS + 1]; /* the cells of the header */
    struct {
        seine_node cell;
        uint32_t rows; /* that it still reaches into */
    } above[MOST_COLUMNS + 1];
    size_t count; /* of `cells` */
} grid;

static void
put_above(grid *g)
{
    for (; g->count <= MOST_COLUMNS && g->above[g->count].rows > 0; g->count++) {
        g->above[g->count].rows--;
        g->cells[g->count] = g->above[g->count].cell;
    }
}

/* Fills in the places of a row. Whether a cell spans several of them is told. */
static void
put_cells(const sn_draft *d, grid *g, seine_node row, bool *out_wide, bool *out_deep)
{
    if (seine_node_parent(d->tree, row) != g->group)
        memset(g->above, 0, sizeof g->above);
    g->group = seine_node_parent(d->tree, row);
    g->count = 0;
    for (seine_node c = seine_node_first(d->tree, row); c != 0;
         c = seine_node_next(d->tree, c)) {
        if (!sn_draft_is(d, c, "td th"))
            continue;
        uint32_t wide = sn_apply_span(d->page, c, "colspan", 1000);
        uint32_t deep = sn_apply_span(d->page, c, "rowspan", 65534);
        *out_wide |= wide > 1;
        *out_deep |= deep > 1;
        put_above(g);
        for (; wide > 0 && g->count <= MOST_COLUMNS; wide--) {
            g->above[g->count].cell = c;
            g->above[g->count].rows = deep - 1;
            g->cells[g->count++] = c;
        }
    }
    put_above(g);
}

/* Headings may stand in two rows, some of them in both. */
static bool
is_header(const sn_draft *d, const grid *g, seine_node row, uint32_t at)
{
    bool all_th;
    size_t n = cells_of(d, row, &all_th);
    bool in_head = sn_draft_is(d, seine_node_parent(d->tree, row), "thead");

    return n > 1 && (all_th || in_head) &&
           (g->header == 0 || in_head ||
            (all_th && g->wide_header && at == g->header_at + 1));
}

static void
look_at(const sn_draft *d, grid *g, seine_node row, uint32_t at)
{
    bool wide = false, deep = false;

    put_cells(d, g, row, &wide, &deep);
    if (is_header(d, g, row, at)) {
        g->header = row;
        g->header_at = at;
        g->columns = g->count;
        g->wide_header = wide;
        g->wide = g->deep = false;
        g->rows = g->fitting = 0;
        memcpy(g->names, g->cells, sizeof g->names);
        return;
    }
    if (g->header == 0 && g->count > g->columns) {
        g->columns = g->count;
        g->fitting = 0;
    }
    g->wide |= wide;
    g->deep |= deep;
    g->rows++;
    g->fitting += g->count == g->columns;
}

static void
look_at_rows(const sn_draft *d, grid *g, seine_node table)
{
    uint32_t at = 0;
    seine_node end = seine_node_end(d->tree, table);

    g->table = table;
    for (seine_node n = table + 1; n < end;) {
        bool is_row = sn_draft_is(d, n, "tr");
        if (is_row)
            look_at(d, g, n, ++at);
        n = is_row || sn_draft_is(d, n, "table") ? seine_node_end(d->tree, n) : n + 1;
    }
}

/* Are its rows those of a table? Without deep cells all of them must fit, as a selector
 * can leave out those that do not; with deep cells a selector has the wrong columns. */
static bool
is_regular(const grid *g)
{
    if (g->columns < 2 || g->columns > MOST_COLUMNS)
        return false;
    return g->deep ? g->fitting * 10 >= g->rows * 8
                   : g->header != 0 && g->fitting == g->rows && !g->wide;
}

static void
read_headings(sn_draft *d, const grid *g, sn_headings *out)
{
    out->names = SN_ARENA_ARRAY(&d->arena, sn_str, g->columns + 1);
    if (!out->names)
        sn_draft_no_memory(d);
    for (; out->names && out->count < g->columns && out->count <= MOST_COLUMNS;
         out->count++) {
        seine_node c = g->names[out->count];
        seine_text text = {NULL, 0};
        if (c != 0 && seine_node_words(d->tree, c, &text) != SEINE_OK) {
            sn_draft_no_memory(d);
            return;
        }
        sn_str name = sn_apply_collapse(d->page, (sn_str){text.bytes, text.len});
        char *copy = sn_draft_text(d, name);
        bool is_good = copy && name.len > 0 && name.len < 60;
        const char *number = is_good ? NULL : sn_draft_printf(d, "%zu", out->count + 1);
        out->names[out->count] = is_good ? (sn_str){copy, name.len} : sn_str_of(number);
        seine_text_free(&text);
    }
}

/* Column names that come twice would both mean the first. */
static bool
are_distinct(const sn_headings *h)
{
    for (size_t i = 0; i < h->count; i++)
        for (size_t k = 0; k < i; k++)
            if (sn_str_eq_nocase(h->names[i], h->names[k]))
                return false;
    return true;
}

/* The rows of a regular table below its headings. */
static size_t
rows_below(const sn_draft *d, const grid *g, seine_node *out, size_t cap)
{
    seine_node end = seine_node_end(d->tree, g->table);
    seine_node from = g->header != 0 ? g->header : g->table;
    size_t n = 0;

    for (seine_node r = from + 1; r < end && n < cap;) {
        bool is_row = sn_draft_is(d, r, "tr");
        if (is_row)
            out[n++] = r;
        r = is_row || sn_draft_is(d, r, "table") ? seine_node_end(d->tree, r) : r + 1;
    }
    return n;
}

/* Rows with fewer cells than most are headings or notes between the others. */
static const char *
only_full(sn_draft *d, const char *each, const seine_node *rows, size_t n)
{
    size_t with[16] = {0}, want = 0;
    bool th;

    for (size_t i = 0; i < n; i++)
        with[cells_of(d, rows[i], &th) & 15]++;
    for (size_t k = 2; k < 16; k++)
        if (with[k] * 10 >= n * 4)
            want = k;
    if (want == 0 || with[want] == n)
        return each;
    return sn_draft_printf(d, "%s:has(> td:nth-child(%zu))", each, want);
}

/* Moves the rows that have each of their cells to the front; both parts stay in order.
 * Returns how many there are. */
static size_t
full_first(sn_draft *d, const grid *g, seine_node *rows, size_t n)
{
    seine_node *others = SN_ARENA_ARRAY(&d->arena, seine_node, n + 1);
    size_t n_full = 0, n_others = 0;
    bool th;

    if (!others) {
        sn_draft_no_memory(d);
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        if (cells_of(d, rows[i], &th) == g->columns)
            rows[n_full++] = rows[i];
        else
            others[n_others++] = rows[i];
    memcpy(rows + n_full, others, n_others * sizeof *rows);
    return n_full;
}

/* Where cells are missing in rows, the place of an element says nothing; its class does.
 */
static void
drop_places(sn_draft_list *list)
{
    size_t n = 0;

    for (size_t i = 0; i < list->n_fields; i++) {
        const sn_draft_field *f = &list->fields[i];
        bool is_place = f->source == SN_FROM_CSS && f->from && f->from[0] != '\0' &&
                        (!strchr(f->from, '.') || strstr(f->from, ":nth-"));
        if (!is_place && n++ != i)
            list->fields[n - 1] = *f;
    }
    list->n_fields = n;
}

/* The fields are found in the first rows, `n_full` of them. */
static void
add_list(sn_draft *d, sn_draft_list *list, const seine_node *rows, size_t n,
         size_t n_full, const sn_headings *headings)
{
    name_kind(d, list, rows, n);
    for (size_t i = 0; i < n && d->n_lists > 0; i++)
        if (d->elements[rows[i]].path && d->elements[rows[i]].path->is_taken)
            return; /* rows of another list */
    for (size_t i = 0; i < n; i++)
        if (d->elements[rows[i]].path)
            d->elements[rows[i]].path->is_taken = true;
    sn_draft_fields(d, list, rows, n_full, headings);
    if (n_full < n)
        drop_places(list);
    if (list->n_fields > 0 && d->err == SEINE_OK)
        d->lists[d->n_lists++] = list;
}

static bool
draft_table(sn_draft *d, sn_draft_list *list, const grid *g, sn_headings *headings)
{
    size_t cap = seine_node_end(d->tree, g->table) - g->table;
    seine_node *rows = SN_ARENA_ARRAY(&d->arena, seine_node, cap + 1);

    if (!rows)
        return sn_draft_no_memory(d);
    size_t n = rows_below(d, g, rows, cap);
    size_t n_full = g->deep ? full_first(d, g, rows, n) : n;
    const char *each = sn_draft_select_rows(d, &g->table, 1);
    if (n_full == 0 || !each)
        return false;
    headings->is_table = true;
    list->how = SN_EACH_TABLE;
    list->each = each;
    list->header = g->header_at;
    add_list(d, list, rows, n, n_full, headings);
    return true;
}

/* Has every row of the path the same table? */
static bool
is_one_table(const sn_draft *d, const seine_node *rows, size_t n, seine_node table)
{
    return table != 0 && rows[0] > table && rows[n - 1] < seine_node_end(d->tree, table);
}

/* A selector that finds more than the rows also finds headings between them: most rows
 * have a link, and these have none. */
static bool
is_linked(const sn_draft *d, const seine_node *rows, size_t n)
{
    size_t linked = 0;

    for (size_t i = 0; i < n; i++) {
        seine_node end = seine_node_end(d->tree, rows[i]), c = rows[i] + 1;
        while (c < end && !sn_draft_is(d, c, "a"))
            c++;
        linked += c < end;
    }
    return linked < n && linked * 10 >= n * 6;
}

void
sn_draft_rows(sn_draft *d, sn_path *path)
{
    size_t n = 0;
    seine_node *rows = rows_of(d, path, &n);
    sn_draft_list *list = sn_draft_list_new(d);
    sn_headings headings = {NULL, 0, false};
    grid g;

    memset(&g, 0, sizeof g);
    if (!rows || !list || n == 0 || path->is_taken)
        return;
    if (sn_draft_is(d, rows[0], "tr"))
        look_at_rows(d, &g, table_of(d, rows[0]));
    if (g.header != 0 || g.deep)
        read_headings(d, &g, &headings);
    if (is_regular(&g) && are_distinct(&headings) && is_one_table(d, rows, n, g.table) &&
        draft_table(d, list, &g, &headings))
        return;
    headings.is_table = false;
    list->how = SN_EACH_CSS;
    list->each = sn_draft_select_rows(d, rows, n);
    if (list->each && sn_draft_is(d, rows[0], "tr"))
        list->each = only_full(d, list->each, rows, n);
    size_t meant = n;
    rows = list->each && d->err == SEINE_OK ? find_all(d, list->each, &n) : NULL;
    if (rows && n > meant && is_linked(d, rows, n)) {
        list->each = sn_draft_printf(d, "%s:has(a)", list->each);
        rows = list->each ? find_all(d, list->each, &n) : NULL;
    }
    if (rows)
        add_list(d, list, rows, n, n, g.header != 0 ? &headings : NULL);
}
