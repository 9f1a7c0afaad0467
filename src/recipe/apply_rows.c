/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the rows of a page: elements, JSON values, rows of tables, or the page itself. */
#include <string.h>

#include "base/alloc.h"
#include "recipe/apply.h"
#include "seine/jsonptr.h"

static bool
goes_on(const sn_apply *a)
{
    return a->err == SEINE_OK && !a->stopped;
}

static void
each_element(sn_apply *a, const sn_items *items)
{
    seine_node node = 0;
    uint32_t n = 0;

    while (goes_on(a) &&
           (a->err = seine_finder_next(a->finder, items->select, 0, &node)) == SEINE_OK &&
           node != 0) {
        if (items->how == SN_EACH_TABLE) {
            sn_apply_table(a, items, node, &n);
            continue;
        }
        sn_row_place at = {.node = node};
        sn_apply_row(a, items, &at, ++n);
    }
}

typedef struct json_rows {
    sn_apply *a;
    const sn_items *items;
    uint32_t n;
} json_rows;

static bool
one_json(json_rows *rows, const seine_json *value, size_t index)
{
    sn_row_place at = {.json = value, .index = index};

    sn_apply_row(rows->a, rows->items, &at, ++rows->n);
    return goes_on(rows->a);
}

/* An array is its elements, anything else is one row. */
static bool
on_json(const seine_json *value, void *arg)
{
    json_rows *rows = arg;

    if (seine_json_type_of(value) != SEINE_JSON_ARRAY)
        return seine_json_type_of(value) == SEINE_JSON_NULL || one_json(rows, value, 0);
    for (size_t i = 0; i < seine_json_size(value); i++)
        if (!one_json(rows, seine_json_at(value, i), i + 1))
            return false;
    return true;
}

/* Is this a thing of the type that the items ask for? */
static bool
is_of_type(const seine_json *thing, sn_str type)
{
    const seine_json *own = seine_json_get(thing, "@type"), *one;
    sn_str text;

    if (seine_json_string(own, &text.ptr, &text.len))
        return sn_str_eq(text, type);
    for (size_t i = 0; (one = seine_json_at(own, i)); i++)
        if (seine_json_string(one, &text.ptr, &text.len) && sn_str_eq(text, type))
            return true;
    return false;
}

static bool
one_thing(json_rows *rows, const seine_json *value)
{
    bool is_row = seine_json_type_of(value) == SEINE_JSON_OBJECT &&
                  (rows->items->type.len == 0 || is_of_type(value, rows->items->type));

    return !is_row || one_json(rows, value, 0);
}

/* An array is its elements; what is no object is no thing. */
static bool
on_thing(const seine_json *value, void *arg)
{
    json_rows *rows = arg;

    if (seine_json_type_of(value) != SEINE_JSON_ARRAY)
        return one_thing(rows, value);
    for (size_t i = 0; i < seine_json_size(value); i++)
        if (!one_thing(rows, seine_json_at(value, i)))
            return false;
    return true;
}

static void
each_thing(json_rows *rows)
{
    sn_apply *a = rows->a;
    const seine_json *script;

    sn_apply_read_jsonld(a);
    for (size_t i = 0; goes_on(a) && (script = seine_json_at(a->jsonld, i)); i++)
        if (seine_jsonptr_each(script, rows->items->each.ptr, rows->items->each.len,
                               on_thing, rows) != SEINE_OK)
            a->err = SEINE_E_INVAL;
}

static void
free_last(sn_apply *a, size_t n)
{
    for (size_t i = 0; a->last && i < n; i++)
        seine_json_free(a->last[i]);
    sn_free(a->last);
    a->last = NULL;
}

void
sn_apply_items(sn_apply *a, const sn_items *items)
{
    json_rows rows = {a, items, 0};
    sn_row_place whole = {.json = a->json};
    bool is_json = items->how == SN_EACH_JSON;

    if (items->how != SN_EACH_PAGE && is_json != (a->json != NULL))
        return; /* the items of a page of the other format */
    a->last = sn_calloc(items->n_fields + 1, sizeof *a->last);
    if (!a->last) {
        a->err = SEINE_E_NOMEM;
        return;
    }
    a->offset = a->scanned = 0;
    a->line = 1;
    if (items->how == SN_EACH_PAGE)
        sn_apply_row(a, items, &whole, 1);
    else if (items->how == SN_EACH_JSONLD)
        each_thing(&rows);
    else if (is_json && seine_jsonptr_each(a->json, items->each.ptr, items->each.len,
                                           on_json, &rows) != SEINE_OK)
        a->err = SEINE_E_INVAL;
    else if (!is_json)
        each_element(a, items);
    free_last(a, items->n_fields);
}

/* A table: its rows, and the cells that reach into them from above. */

enum { MOST_COLUMNS = 1000, MOST_SPAN = 65534 };

typedef struct deep {
    seine_node cell;
    uint32_t rows; /* that it still reaches into */
} deep;

typedef struct table {
    sn_apply *a;
    seine_node cells[MOST_COLUMNS];
    sn_str header[MOST_COLUMNS];
    deep above[MOST_COLUMNS];
    size_t count, n_header;
    seine_node group; /* cells do not leave their group */
    uint32_t row;
    size_t total;
} table;

uint32_t
sn_apply_span(const sn_apply *a, seine_node n, const char *name, uint32_t most)
{
    sn_str s = sn_str_trim(seine_node_attr(a->tree, n, name));
    uint64_t value;
    size_t digits = 0;

    while (digits < s.len && sn_is_digit(s.ptr[digits]))
        digits++;
    if (digits == 0 || sn_str_u64(sn_str_slice(s, 0, digits), &value) != SEINE_OK)
        return digits > 0 ? most : 1;
    if (value == 0)
        return strcmp(name, "rowspan") == 0 ? most : 1;
    return value < most ? (uint32_t)value : most;
}

/* Puts the cells from above that stand before the next free column. */
static void
put_above(table *t)
{
    while (t->count < MOST_COLUMNS && t->above[t->count].rows > 0) {
        t->above[t->count].rows--;
        t->cells[t->count] = t->above[t->count].cell;
        t->count++;
    }
}

static void
put_cell(table *t, seine_node n)
{
    uint32_t wide = sn_apply_span(t->a, n, "colspan", MOST_COLUMNS);
    uint32_t deep_rows = sn_apply_span(t->a, n, "rowspan", MOST_SPAN);

    put_above(t);
    for (uint32_t i = 0; i < wide && t->count < MOST_COLUMNS; i++) {
        t->above[t->count] = (deep){n, deep_rows - 1};
        t->cells[t->count++] = n;
    }
}

static void
put_row(table *t, seine_node row)
{
    const seine_tree *tree = t->a->tree;

    if (seine_node_parent(tree, row) != t->group) {
        t->group = seine_node_parent(tree, row);
        memset(t->above, 0, sizeof t->above);
    }
    t->count = 0;
    for (seine_node c = seine_node_first(tree, row); c != 0; c = seine_node_next(tree, c))
        if (seine_node_is(tree, c, "td") || seine_node_is(tree, c, "th"))
            put_cell(t, c);
    put_above(t);
    t->row++;
    t->total += t->count;
    if (t->total > SN_RECIPE_CELLS)
        t->a->err = SEINE_E_BUDGET;
}

/* Keeps the names of the columns; `keys` outlives the rows. */
static void
keep_header(table *t)
{
    sn_apply *a = t->a;

    t->n_header = t->count;
    for (size_t i = 0; i < t->count && a->err == SEINE_OK; i++) {
        sn_texts text = {NULL, 0, 0};
        if (t->cells[i] == 0 || !sn_apply_node_text(a, t->cells[i], SN_STR(""), &text))
            continue;
        sn_str name = sn_apply_collapse(a, text.items[0]);
        char *copy = sn_arena_text(&a->keys, name);
        if (!copy)
            a->err = SEINE_E_NOMEM;
        t->header[i] = (sn_str){copy, copy ? name.len : 0};
    }
}

void
sn_apply_table(sn_apply *a, const sn_items *items, seine_node node, uint32_t *n)
{
    seine_node end = seine_node_end(a->tree, node);
    table *t = sn_zalloc(sizeof *t);

    if (!t) {
        a->err = SEINE_E_NOMEM;
        return;
    }
    t->a = a;
    for (seine_node i = node + 1; i < end && goes_on(a);) {
        bool is_row = seine_node_is(a->tree, i, "tr");
        if (is_row)
            put_row(t, i);
        if (is_row && t->row == items->header) {
            keep_header(t);
        } else if (is_row && t->row > items->header && goes_on(a)) {
            sn_row_place at = {.node = i,
                               .cells = t->cells,
                               .n_cells = t->count,
                               .header = t->header,
                               .n_header = t->n_header};
            sn_apply_row(a, items, &at, ++*n);
        }
        bool skip = is_row || seine_node_is(a->tree, i, "table");
        i = skip ? seine_node_end(a->tree, i) : i + 1;
    }
    sn_free(t);
}
