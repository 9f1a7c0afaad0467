/* SPDX-License-Identifier: Apache-2.0 */
/* items: which rows a page holds, and their fields. */
#include <string.h>

#include "recipe/near_word.h"
#include "recipe/reading.h"
#include "recipe/recipe_keys.h"

/* The names that expressions of these items may use: the global ones, then fields. */
typedef struct names {
    sn_expr_name *all;
    size_t count, cap;
} names;

static void
add_name(names *n, const char *name, sn_expr_type type)
{
    if (!name || n->count == n->cap)
        return;
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->all[i].name, name) == 0) {
            n->all[i].type = type;
            return;
        }
    n->all[n->count++] = (sn_expr_name){name, type};
}

static sn_expr_type
type_of_field(const sn_field *f)
{
    if (f->all || f->split)
        return SN_EXPR_LIST;
    return f->fallback ? SN_EXPR_ANY : sn_read_expr_type(f->meaning.type);
}

static void
read_table(sn_reading *in, const sn_yaml *map, sn_items *out)
{
    const sn_yaml *table = sn_yaml_get(map, "table");
    int64_t header = 1;

    if (!sn_read_keys(in, map, "each", SN_KEYS_EACH_TABLE))
        return;
    out->how = SN_EACH_TABLE;
    (void)sn_read_int(in, map, "header", 0, 1000, &header);
    out->header = (uint32_t)header;
    if (!table)
        sn_mistake(in, map, "each needs a selector; try table: SELECTOR");
    else if (sn_read_scalar(in, table, "table", &out->each))
        out->select = sn_read_select(in, table, out->each);
}

/* Things that the JSON-LD of a page describes. */
static void
read_things(sn_reading *in, const sn_yaml *map, sn_items *out)
{
    const sn_yaml *ptr = sn_yaml_get(map, "jsonld");

    if (!sn_read_keys(in, map, "each", SN_KEYS_EACH_JSONLD))
        return;
    out->how = SN_EACH_JSONLD;
    (void)sn_read_text(in, map, "type", &out->type);
    if (sn_read_scalar(in, ptr, "jsonld", &out->each))
        sn_read_pointer(in, ptr, out->each);
}

static void
read_each(sn_reading *in, const sn_yaml *node, sn_items *out)
{
    if (node->kind == SN_YAML_MAP && sn_yaml_get(node, "jsonld")) {
        read_things(in, node, out);
    } else if (node->kind == SN_YAML_MAP) {
        read_table(in, node, out);
    } else if (sn_read_scalar(in, node, "each", &out->each)) {
        bool is_pointer = out->each.len > 0 && out->each.ptr[0] == '/';
        out->how = is_pointer ? SN_EACH_JSON : SN_EACH_CSS;
        if (is_pointer)
            sn_read_pointer(in, node, out->each);
        else
            out->select = sn_read_select(in, node, out->each);
    }
}

/* A field of a table needs a table. */
static void
check_source(sn_reading *in, const sn_yaml *node, const sn_items *items,
             const sn_field *f)
{
    if (f->source == SN_FROM_COL && items->how != SN_EACH_TABLE)
        sn_mistake(in, node, "col needs rows of a table; try each: {table: SELECTOR}");
    if (f->source == SN_FROM_CSS &&
        (items->how == SN_EACH_JSON || items->how == SN_EACH_JSONLD) && f->from.len > 0)
        sn_mistake(in, node, "the rows are JSON, and this is a selector; try /%.*s",
                   f->from.len < 40 ? (int)f->from.len : 40, f->from.ptr);
    if (f->source == SN_FROM_JSON &&
        (items->how == SN_EACH_CSS || items->how == SN_EACH_TABLE))
        sn_mistake(in, node,
                   "the rows are HTML, and this is a JSON pointer; try a selector "
                   "or each: /POINTER");
}

static void
read_fields(sn_reading *in, const sn_yaml *map, sn_items *out, names *n)
{
    if (map->kind != SN_YAML_MAP || map->count == 0) {
        sn_mistake_map(in, map, "fields", "names and fields");
        return;
    }
    out->fields = SN_READ_ARRAY(in, sn_field, map->count);
    for (const sn_yaml *v = map->first; v && out->fields; v = v->next) {
        sn_field *f = &out->fields[out->n_fields++];
        f->name = sn_read_id(in, v->key, "field");
        if (++in->fields == SN_RECIPE_FIELDS + 1)
            sn_mistake(in, v->key, "more than 200 fields in all");
        sn_read_field(in, v, n->all, n->count, f);
        check_source(in, v, out, f);
        add_name(n, f->name, type_of_field(f));
    }
}

static void
read_derive_map(sn_reading *in, const sn_yaml *map, sn_derive *d, const names *n)
{
    const sn_yaml *x = sn_yaml_get(map, "expr");

    if (!sn_read_keys(in, map, "derive", SN_KEYS_DERIVE))
        return;
    d->has_type = sn_yaml_get(map, "type") != NULL;
    (void)sn_read_meaning(in, map, &d->meaning);
    if (x)
        (void)sn_read_formula(in, x, n->all, n->count, false, &d->formula);
    else
        sn_mistake(in, map, "a derived value needs expr");
}

static void
read_derive(sn_reading *in, const sn_yaml *map, sn_items *out, names *n)
{
    if (map->kind != SN_YAML_MAP) {
        sn_mistake(in, map, "derive must be a map of names and expressions");
        return;
    }
    out->derive = SN_READ_ARRAY(in, sn_derive, map->count);
    for (const sn_yaml *v = map->first; v && out->derive; v = v->next) {
        sn_derive *d = &out->derive[out->n_derive++];
        d->name = sn_read_id(in, v->key, "derived value");
        if (++in->fields == SN_RECIPE_FIELDS + 1)
            sn_mistake(in, v->key, "more than 200 fields in all");
        for (size_t i = 0; d->name && i < out->n_fields; i++)
            if (out->fields[i].name && strcmp(out->fields[i].name, d->name) == 0)
                sn_mistake(in, v->key, "'%s' is a field already", d->name);
        in->derived = v;
        if (v->kind == SN_YAML_MAP)
            read_derive_map(in, v, d, n);
        else
            (void)sn_read_formula(in, v, n->all, n->count, false, &d->formula);
        add_name(n, d->name,
                 d->has_type    ? sn_read_expr_type(d->meaning.type)
                 : d->formula.x ? sn_expr_type_of(d->formula.x)
                                : SN_EXPR_ANY);
    }
    in->derived = NULL;
}

static bool
has_field(const sn_items *items, const char *name)
{
    for (size_t i = 0; i < items->n_fields; i++)
        if (items->fields[i].name && strcmp(items->fields[i].name, name) == 0)
            return true;
    for (size_t i = 0; i < items->n_derive; i++)
        if (items->derive[i].name && strcmp(items->derive[i].name, name) == 0)
            return true;
    return false;
}

static void
check_field(sn_reading *in, const sn_yaml *at, const sn_items *items, const char *name,
            const char *what)
{
    const char *words[SN_RECIPE_FIELDS * 2 + 2];
    size_t k = 0;

    if (has_field(items, name))
        return;
    for (size_t i = 0; i < items->n_fields && k < SN_RECIPE_FIELDS; i++)
        if (items->fields[i].name)
            words[k++] = items->fields[i].name;
    for (size_t i = 0; i < items->n_derive && k < SN_RECIPE_FIELDS * 2; i++)
        if (items->derive[i].name)
            words[k++] = items->derive[i].name;
    words[k] = NULL;
    const char *near = sn_near_word(sn_str_of(name), words);
    sn_mistake(in, at, "%s names no field: '%.40s'%s%s", what, name, near ? "; try " : "",
               near ? near : "");
}

static void
read_unique(sn_reading *in, const sn_yaml *node, sn_items *out)
{
    const sn_yaml *one = node->kind == SN_YAML_LIST ? node->first : node;

    out->unique = sn_read_texts(in, node, "unique");
    for (; one; one = node->kind == SN_YAML_LIST ? one->next : NULL)
        if (one->kind == SN_YAML_SCALAR)
            check_field(in, one, out, one->text.ptr, "unique");
}

static void
read_one(sn_reading *in, const sn_yaml *map, sn_items *out)
{
    static const char *const errors[] = {SN_WORDS_ON_ERROR, NULL};
    const sn_yaml *v;
    names n = {NULL, 0, in->n_globals + 2 * SN_RECIPE_FIELDS + 8};
    unsigned on_error = 0;

    unsigned before = in->count;

    out->kind = "item";
    if (!sn_read_keys(in, map, "items", SN_KEYS_ITEMS))
        return;
    n.all = SN_READ_ARRAY(in, sn_expr_name, n.cap);
    if (!n.all)
        return;
    memcpy(n.all, in->globals, in->n_globals * sizeof *n.all);
    n.count = in->n_globals;
    if ((v = sn_yaml_get(map, "kind"))) {
        const char *kind = sn_read_id(in, v, "kind");
        out->kind = kind ? kind : "item";
    }
    if ((v = sn_yaml_get(map, "each")))
        read_each(in, v, out);
    if ((v = sn_yaml_get(map, "fields")))
        read_fields(in, v, out, &n);
    else if (in->count == before)
        sn_mistake(in, map->key ? map->key : map,
                   "items needs fields; try fields: {name: SELECTOR}");
    in->no_fields |= out->n_fields == 0;
    if (out->n_fields == 0)
        return;
    if ((v = sn_yaml_get(map, "derive")))
        read_derive(in, v, out, &n);
    if ((v = sn_yaml_get(map, "where")))
        (void)sn_read_formula(in, v, n.all, n.count, false, &out->where);
    if ((v = sn_yaml_get(map, "unique")))
        read_unique(in, v, out);
    if (sn_read_choice(in, map, "on-error", errors, &on_error))
        out->on_error = (sn_on_error)on_error;
}

void
sn_read_items(sn_reading *in, const sn_yaml *node, sn_kind_of_page *page)
{
    bool is_list = node->kind == SN_YAML_LIST;

    page->items = SN_READ_ARRAY(in, sn_items, is_list ? node->count : 1);
    for (const sn_yaml *v = is_list ? node->first : node; v && page->items;
         v = is_list ? v->next : NULL)
        read_one(in, v, &page->items[page->n_items++]);
}
