/* SPDX-License-Identifier: Apache-2.0 */
/* Where the texts of a field come from. */
#include <string.h>

#include "recipe/apply.h"
#include "seine/jsonptr.h"

void
sn_apply_no_room(sn_apply *a)
{
    a->err = a->arena.held > SN_RECIPE_ROW_BYTES / 2 ? SEINE_E_BUDGET : SEINE_E_NOMEM;
}

bool
sn_texts_add(sn_apply *a, sn_texts *t, sn_str text)
{
    if (t->count == t->cap) {
        size_t cap = t->cap > 0 ? t->cap * 2 : 4;
        sn_str *items = SN_ARENA_ARRAY(&a->arena, sn_str, cap);
        if (items && t->count > 0)
            memcpy(items, t->items, t->count * sizeof *items);
        t->items = items;
        t->cap = cap;
    }
    char *copy = t->items ? sn_arena_text(&a->arena, text) : NULL;
    if (!copy) {
        sn_apply_no_room(a);
        return false;
    }
    t->items[t->count++] = (sn_str){copy, text.len};
    return true;
}

static bool
take_text(sn_apply *a, seine_err e, seine_text *text, sn_texts *out)
{
    if (e != SEINE_OK)
        a->err = e;
    bool good = e == SEINE_OK && sn_texts_add(a, out, (sn_str){text->bytes, text->len});
    seine_text_free(text);
    return good;
}

bool
sn_apply_node_text(sn_apply *a, seine_node n, sn_str attr, sn_texts *out)
{
    seine_text text = {NULL, 0};
    char name[128];

    if (attr.len == 0 || sn_str_eq(attr, SN_STR("text")))
        return take_text(a, seine_node_words(a->tree, n, &text), &text, out);
    if (sn_str_eq(attr, SN_STR("html")))
        return take_text(a, seine_node_html(a->tree, n, &text), &text, out);
    if (attr.len >= sizeof name)
        return false;
    memcpy(name, attr.ptr, attr.len);
    name[attr.len] = '\0';
    seine_view v = seine_node_attr(a->tree, n, name);
    return v.ptr && sn_texts_add(a, out, v);
}

/* How many texts are wanted: all, those up to the nth, or one. */
static size_t
wanted(const sn_field *f)
{
    return f->all || f->nth < 0 ? SIZE_MAX : f->nth > 0 ? (size_t)f->nth : 1;
}

static void
from_css(sn_apply *a, const sn_field *f, const sn_row_place *at, sn_texts *out)
{
    seine_node n = at->node;
    size_t most = wanted(f);

    if (!f->select) {
        (void)sn_apply_node_text(a, at->node, f->attr, out);
        return;
    }
    while (out->count < most && a->err == SEINE_OK &&
           (a->err = seine_finder_next(a->finder, f->select, at->node, &n)) == SEINE_OK &&
           n != 0)
        (void)sn_apply_node_text(a, n, f->attr, out);
}

typedef struct json_texts {
    sn_apply *a;
    sn_texts *out;
    bool all;
} json_texts;

static void
add_json(json_texts *j, const seine_json *value)
{
    seine_text printed = {NULL, 0};
    sn_str text;

    if (seine_json_type_of(value) == SEINE_JSON_NULL)
        return;
    if (seine_json_string(value, &text.ptr, &text.len))
        (void)sn_texts_add(j->a, j->out, text);
    else
        (void)take_text(j->a, seine_json_print(value, &printed), &printed, j->out);
}

/* A list is its elements, if all are asked for. */
static bool
on_value(const seine_json *value, void *arg)
{
    json_texts *j = arg;

    if (!j->all || seine_json_type_of(value) != SEINE_JSON_ARRAY)
        add_json(j, value);
    else
        for (size_t i = 0; i < seine_json_size(value); i++)
            add_json(j, seine_json_at(value, i));
    return j->a->err == SEINE_OK;
}

static void
from_json(sn_apply *a, const sn_field *f, const seine_json *json, sn_texts *out)
{
    json_texts j = {a, out, f->all};

    if (json &&
        seine_jsonptr_each(json, f->from.ptr, f->from.len, on_value, &j) != SEINE_OK)
        a->err = SEINE_E_INVAL;
}

/* Parses the scripts of JSON-LD once; one that is no JSON is left out. */
void
sn_apply_read_jsonld(sn_apply *a)
{
    seine_view v;

    if (a->jsonld || !a->links)
        return;
    a->jsonld = seine_json_new_array();
    for (size_t i = 0; a->jsonld && seine_links_jsonld(a->links, i, &v); i++) {
        seine_json *one = NULL;
        if (seine_json_parse(v.ptr, v.len, &one, NULL) == SEINE_OK &&
            seine_json_append(a->jsonld, one) != SEINE_OK)
            a->err = SEINE_E_NOMEM;
    }
}

static void
from_jsonld(sn_apply *a, const sn_field *f, sn_texts *out)
{
    const seine_json *script;

    sn_apply_read_jsonld(a);
    for (size_t i = 0; (script = seine_json_at(a->jsonld, i)); i++) {
        from_json(a, f, script, out);
        if (out->count > 0 && !f->all)
            return;
    }
}

sn_str
sn_apply_collapse(sn_apply *a, sn_str s)
{
    char *to = sn_arena_get(&a->arena, s.len + 1, 1, 1);
    size_t n = 0;

    if (!to) {
        sn_apply_no_room(a);
        return SN_STR("");
    }
    for (size_t i = 0; i < s.len; i++) {
        bool hard = i + 1 < s.len && s.ptr[i] == '\xc2' && s.ptr[i + 1] == '\xa0';
        if (!hard && !sn_is_space(s.ptr[i]) && s.ptr[i] != '\v') {
            to[n++] = s.ptr[i];
            continue;
        }
        if (n > 0 && to[n - 1] != ' ')
            to[n++] = ' ';
        i += hard;
    }
    while (n > 0 && to[n - 1] == ' ')
        n--;
    to[n] = '\0';
    return (sn_str){to, n};
}

/* The column of a name, or of a number from 1; SIZE_MAX: none. */
static size_t
column_of(const sn_field *f, const sn_row_place *at)
{
    uint64_t n;

    for (size_t i = 0; i < at->n_header; i++)
        if (sn_str_eq_nocase(at->header[i], sn_str_trim(f->from)))
            return i;
    return sn_str_u64(f->from, &n) == SEINE_OK && n > 0 ? (size_t)n - 1 : SIZE_MAX;
}

static void
from_col(sn_apply *a, const sn_field *f, const sn_row_place *at, sn_texts *out)
{
    size_t i = column_of(f, at);

    if (i < at->n_cells && at->cells[i] != 0)
        (void)sn_apply_node_text(a, at->cells[i], f->attr, out);
}

static void
from_header(sn_apply *a, const sn_field *f, sn_texts *out)
{
    for (size_t i = 0; i < a->page->n_fields; i++)
        if (sn_str_eq_nocase(a->page->fields[i].name, f->from))
            (void)sn_texts_add(a, out, a->page->fields[i].value);
}

static void
from_meta(sn_apply *a, const sn_field *f, sn_texts *out)
{
    seine_meta m;

    for (size_t i = 0; a->links && seine_links_meta(a->links, i, &m); i++)
        if (sn_str_eq_nocase(m.name, f->from))
            (void)sn_texts_add(a, out, m.content);
}

static void
add_value(sn_apply *a, const sn_expr_value *v, sn_texts *out)
{
    seine_json *json = sn_names_value_json(v);
    json_texts j = {a, out, true};

    if (!json)
        a->err = SEINE_E_NOMEM;
    else
        (void)on_value(json, &j);
    seine_json_free(json);
}

static void
from_page(sn_apply *a, const sn_field *f, sn_texts *out)
{
    if (sn_str_eq(f->from, SN_STR("title"))) {
        seine_view title = a->links ? seine_links_title(a->links) : (seine_view){NULL, 0};
        if (title.ptr)
            (void)sn_texts_add(a, out, title);
        return;
    }
    sn_expr_value v = sn_names_get(&a->names, f->from);
    add_value(a, &v, out);
}

static void
from_const(sn_apply *a, const sn_field *f, sn_texts *out)
{
    sn_buf b;

    sn_buf_init(&b, 1 << 16);
    if (f->constant && !sn_names_expand(&a->names, f->constant, false, &b) &&
        sn_buf_done(&b) == SEINE_OK)
        (void)sn_texts_add(a, out, sn_buf_view(&b));
    else if (b.err == SEINE_E_NOMEM)
        a->err = SEINE_E_NOMEM;
    sn_buf_fini(&b);
}

void
sn_apply_source(sn_apply *a, const sn_field *f, const sn_row_place *at, sn_texts *out)
{
    switch (f->source) {
    case SN_FROM_CSS:
        if (a->tree && !at->json)
            from_css(a, f, at, out);
        else if (f->from.len == 0)
            from_json(a, f, at->json, out);
        break;
    case SN_FROM_JSON:
        from_json(a, f, at->json, out);
        break;
    case SN_FROM_COL:
        from_col(a, f, at, out);
        break;
    case SN_FROM_JSONLD:
        from_jsonld(a, f, out);
        break;
    case SN_FROM_HEADER:
        from_header(a, f, out);
        break;
    case SN_FROM_META:
        from_meta(a, f, out);
        break;
    case SN_FROM_CONST:
        from_const(a, f, out);
        break;
    default:
        from_page(a, f, out);
    }
}
