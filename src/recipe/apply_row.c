/* SPDX-License-Identifier: Apache-2.0 */
/* One row: its fields, derived values, conditions, errors, and whether it is new. */
#include <stdio.h>
#include <string.h>

#include "recipe/apply.h"

/* The row that is being made. */
typedef struct row {
    sn_apply *a;
    const sn_items *items;
    const sn_row_place *at;
    uint32_t n;
    seine_json *data, *errors;
    const char *key; /* NULL: the items have none */
    bool is_bad;
} row;

static void
set(row *r, const char *name, seine_json *give)
{
    if (seine_json_set(r->data, name, give) != SEINE_OK)
        r->a->err = SEINE_E_NOMEM;
}

/* One error of a row; `text` is what stands on the page, ptr NULL: nothing does. */
static void
add_error(row *r, const char *field, const char *why, sn_str text, const char *message)
{
    seine_json *one = seine_json_new_object();
    seine_err e =
        seine_json_set(one, "field", seine_json_new_string(field, strlen(field)));

    if (e == SEINE_OK)
        e = seine_json_set(one, "why", seine_json_new_string(why, strlen(why)));
    if (e == SEINE_OK && text.ptr && sn_utf8_valid(text))
        e = seine_json_set(one, "text", seine_json_new_string(text.ptr, text.len));
    if (e == SEINE_OK)
        e = seine_json_set(one, "message",
                           seine_json_new_string(message, strlen(message)));
    if (e == SEINE_OK)
        e = seine_json_append(r->errors, one);
    else
        seine_json_free(one);
    if (e != SEINE_OK)
        r->a->err = SEINE_E_NOMEM;
}

static const sn_str no_text;

static sn_str
map_text(const sn_field *f, sn_str text)
{
    for (size_t i = 0; i < f->n_map; i++)
        if (sn_str_eq(f->map[i].from, text))
            return f->map[i].to;
    return text;
}

/* Letters of ASCII. */
static sn_str
change_case(sn_apply *a, const sn_field *f, sn_str text)
{
    char *copy;

    if (!f->lower && !f->upper)
        return text;
    copy = sn_arena_text(&a->arena, text);
    if (!copy)
        sn_apply_no_room(a);
    for (size_t i = 0; copy && i < text.len; i++)
        if (f->lower)
            copy[i] = sn_lower(copy[i]);
        else if (sn_is_alpha(copy[i]))
            copy[i] = (char)(copy[i] & ~0x20);
    return copy ? (sn_str){copy, text.len} : text;
}

/* `as`; false: a name in it has no value. */
static bool
put_into(sn_apply *a, const sn_field *f, sn_str *text, sn_typed_error *why)
{
    sn_buf b;

    if (!f->as)
        return true;
    sn_buf_init(&b, 1 << 20);
    a->names.value = text->ptr ? *text : SN_STR("");
    const char *missing = sn_names_expand(&a->names, f->as, false, &b);
    a->names.value = (sn_str){NULL, 0};
    char *copy = missing ? NULL : sn_arena_text(&a->arena, sn_buf_view(&b));
    if (missing)
        *why = (sn_typed_error){.why = "expr"};
    if (missing)
        snprintf(why->text, sizeof why->text, "'%.60s' has no value here", missing);
    else if (!copy || sn_buf_done(&b) != SEINE_OK)
        sn_apply_no_room(a);
    else
        *text = (sn_str){copy, b.len};
    sn_buf_fini(&b);
    return !missing && a->err == SEINE_OK;
}

/* map, as, case, type and its bounds. */
static seine_json *
type_one(sn_apply *a, const sn_field *f, sn_str text, sn_typed_error *why)
{
    seine_json *value = NULL;

    text = map_text(f, text);
    if (!put_into(a, f, &text, why))
        return NULL;
    text = change_case(a, f, text);
    seine_err e = sn_typed(a->r, &f->meaning, text, &a->base, &value, why);
    if (e == SEINE_E_NOMEM)
        a->err = e;
    return e == SEINE_OK ? value : NULL;
}

static seine_json *
type_list(sn_apply *a, const sn_field *f, const sn_texts *texts, sn_typed_error *why)
{
    seine_json *all = seine_json_new_array();

    if (!all)
        a->err = SEINE_E_NOMEM;
    for (size_t i = 0; i < texts->count && all; i++) {
        seine_json *one = type_one(a, f, texts->items[i], why);
        if (one && seine_json_append(all, one) == SEINE_OK)
            continue;
        if (one)
            a->err = SEINE_E_NOMEM;
        seine_json_free(all);
        return NULL;
    }
    return all;
}

static void
put_missing(row *r, const sn_field *f, size_t i)
{
    sn_apply *a = r->a;

    if (f->fill && a->last[i]) {
        set(r, f->name, seine_json_new_copy(a->last[i]));
    } else if (f->fallback) {
        set(r, f->name, seine_json_new_copy(f->fallback));
    } else {
        if (f->required)
            add_error(r, f->name, "missing", no_text, "is missing");
        r->is_bad |= f->required;
        set(r, f->name, seine_json_new_null());
    }
}

static void
put_field(row *r, const sn_field *f, size_t i)
{
    sn_apply *a = r->a;
    sn_texts found = {NULL, 0, 0}, texts = {NULL, 0, 0};
    sn_typed_error why = {"type", ""};

    sn_apply_source(a, f, r->at, &found);
    if (a->err == SEINE_OK)
        sn_apply_shape(a, f, &found, &texts);
    if (a->err != SEINE_OK)
        return;
    if (texts.count == 0) {
        put_missing(r, f, i);
        return;
    }
    seine_json *value = f->all || f->split ? type_list(a, f, &texts, &why)
                                           : type_one(a, f, texts.items[0], &why);
    if (a->err != SEINE_OK) {
        seine_json_free(value);
        return;
    }
    if (!value) {
        add_error(r, f->name, why.why, texts.items[0], why.text);
        r->is_bad |= f->required;
        set(r, f->name, seine_json_new_null());
        return;
    }
    if (f->fill) {
        seine_json_free(a->last[i]);
        a->last[i] = seine_json_new_copy(value);
    }
    set(r, f->name, value);
}

/* A derived value with a type is read again as a text of that type. */
static seine_json *
type_derived(row *r, const sn_derive *d, seine_json *value)
{
    seine_text printed = {NULL, 0};
    sn_typed_error why = {"type", ""};
    seine_json *typed = NULL;
    seine_err e = SEINE_OK;
    sn_str text;

    if (!d->has_type || !value || seine_json_type_of(value) == SEINE_JSON_NULL)
        return value;
    if (!seine_json_string(value, &text.ptr, &text.len)) {
        e = seine_json_print(value, &printed);
        text = (sn_str){printed.bytes, printed.len};
    }
    if (e == SEINE_OK)
        e = sn_typed(r->a->r, &d->meaning, text, &r->a->base, &typed, &why);
    seine_text_free(&printed);
    seine_json_free(value);
    if (e == SEINE_E_INVAL)
        add_error(r, d->name, why.why, no_text, why.text);
    return e == SEINE_OK ? typed : e == SEINE_E_INVAL ? seine_json_new_null() : NULL;
}

static void
put_derived(row *r, const sn_derive *d)
{
    sn_expr_value v;
    seine_err e = sn_names_eval(&r->a->names, &d->formula, &v);

    if (e == SEINE_E_NOMEM) {
        r->a->err = e;
        return;
    }
    if (e != SEINE_OK)
        add_error(r, d->name, "expr", no_text, seine_err_text(e));
    set(r, d->name, type_derived(r, d, sn_names_value_json(&v)));
}

/* Is there an error in a field that `where` asks for? */
typedef struct used_names {
    const row *r;
    bool has_error;
} used_names;

static bool
has_error(const row *r, const char *name)
{
    const seine_json *one;
    const char *field;
    size_t len;

    for (size_t i = 0; (one = seine_json_at(r->errors, i)); i++)
        if (seine_json_string(seine_json_get(one, "field"), &field, &len) &&
            strcmp(field, name) == 0)
            return true;
    return false;
}

static void
on_use(void *arg, unsigned index, sn_str rest)
{
    used_names *u = arg;

    (void)rest;
    if (index != SN_EXPR_OPEN)
        u->has_error |= has_error(u->r, u->r->items->where.names[index].name);
}

/* A row of which `where` says no is no item; one that cannot be judged is reported. */
static bool
is_wanted(row *r)
{
    used_names u = {r, false};
    bool is = true;

    if (!r->items->where.x)
        return true;
    sn_expr_uses(r->items->where.x, on_use, &u);
    if (u.has_error)
        return true;
    seine_err e = sn_names_is(&r->a->names, &r->items->where, &is);
    if (e == SEINE_E_NOMEM)
        r->a->err = e;
    else if (e != SEINE_OK) {
        add_error(r, "where", "expr", no_text, seine_err_text(e));
        r->is_bad = true;
        return true;
    }
    return is;
}

/* The kind and the values of the unique fields, as JSON in the arena of keys. */
static char *
key_of(row *r)
{
    seine_json *all = seine_json_new_array();
    seine_text text = {NULL, 0};
    seine_err e = all ? SEINE_OK : SEINE_E_NOMEM;

    for (size_t i = 0; r->items->unique[i] && e == SEINE_OK; i++) {
        const seine_json *v = seine_json_get(r->data, r->items->unique[i]);
        e = seine_json_append(all, v ? seine_json_new_copy(v) : seine_json_new_null());
    }
    if (e == SEINE_OK)
        e = seine_json_print(all, &text);
    char *key =
        e == SEINE_OK ? sn_arena_text(&r->a->keys, (sn_str){text.bytes, text.len}) : NULL;
    seine_text_free(&text);
    seine_json_free(all);
    if (!key)
        r->a->err = SEINE_E_NOMEM;
    return key;
}

/* The values of the unique fields as people read them, with | between them. */
static void
show_key(row *r)
{
    sn_buf b;

    sn_buf_init(&b, 4096);
    for (size_t i = 0; r->items->unique[i]; i++) {
        const seine_json *v = seine_json_get(r->data, r->items->unique[i]);
        seine_text text = {NULL, 0};
        sn_str s;
        if (i > 0)
            sn_buf_char(&b, '|');
        if (seine_json_string(v, &s.ptr, &s.len))
            sn_buf_str(&b, s);
        else if (v && seine_json_type_of(v) != SEINE_JSON_NULL &&
                 seine_json_print(v, &text) == SEINE_OK)
            sn_buf_add(&b, text.bytes, text.len);
        seine_text_free(&text);
    }
    if (b.err == SEINE_E_NOMEM)
        r->a->err = SEINE_E_NOMEM;
    r->key = sn_arena_text(&r->a->arena, sn_buf_view(&b));
    if (!r->key)
        sn_apply_no_room(r->a);
    sn_buf_fini(&b);
}

static bool
is_new_here(row *r, char *key)
{
    size_t n = strlen(key) + strlen(r->items->kind) + 2;
    char *both = sn_arena_get(&r->a->keys, n, 1, 1);

    if (!both) {
        r->a->err = SEINE_E_NOMEM;
        return false;
    }
    snprintf(both, n, "%s %s", r->items->kind, key);
    seine_err e = sn_map_add(&r->a->seen, sn_str_of(both), both);
    if (e == SEINE_E_NOMEM)
        r->a->err = e;
    return e == SEINE_OK;
}

static void
check_unique(row *r)
{
    sn_apply *a = r->a;
    char *key = r->items->unique && !r->is_bad ? key_of(r) : NULL;

    if (!key)
        return;
    show_key(r);
    bool is_new = is_new_here(r, key);
    if (is_new && a->page->is_new)
        is_new = a->page->is_new(r->items->kind, key, a->arg);
    if (is_new || a->err != SEINE_OK)
        return;
    add_error(r, r->items->unique[0], "duplicate", no_text, "duplicate");
    r->is_bad = true;
}

/* The line and column of a byte behind the last one that was asked for. */
static void
place(sn_apply *a, seine_node node, uint32_t *out_line, uint32_t *out_col)
{
    size_t to = seine_node_offset(a->tree, node);

    if (to < a->offset) {
        a->offset = a->scanned = 0;
        a->line = 1;
    }
    for (; a->scanned < to && a->scanned < a->html.len; a->scanned++)
        if (a->html.bytes[a->scanned] == '\n') {
            a->line++;
            a->offset = a->scanned + 1;
        }
    *out_line = a->line;
    *out_col = (uint32_t)(to - a->offset) + 1;
}

/* The selector that found the row; of JSON the pointer of the row. */
static const char *
selector_of(row *r)
{
    const char *each = r->items->each.ptr ? r->items->each.ptr : "";
    size_t n = strlen(each) + 24;
    char *text;

    if (r->items->how == SN_EACH_JSONLD && !each[0])
        return "jsonld";
    if (r->items->how != SN_EACH_JSON || r->at->index == 0 || strstr(each, "/-"))
        return each;
    text = sn_arena_get(&r->a->arena, n, 1, 1);
    if (!text)
        return each;
    snprintf(text, n, "%s/%zu", each, r->at->index - 1);
    return text;
}

static bool
has_field(const sn_items *items, sn_str name)
{
    for (size_t i = 0; i < items->n_fields; i++)
        if (sn_str_eq(sn_str_of(items->fields[i].name), name))
            return true;
    for (size_t i = 0; i < items->n_derive; i++)
        if (sn_str_eq(sn_str_of(items->derive[i].name), name))
            return true;
    return false;
}

/* Do the rows have all fields that a condition asks for? */
typedef struct asked_fields {
    const sn_items *items;
    bool has_all;
} asked_fields;

static void
on_asked(void *arg, unsigned index, sn_str rest)
{
    asked_fields *f = arg;
    sn_str root, tail;

    if (index != SN_EXPR_OPEN)
        return;
    sn_str_cut(rest, '.', &root, &tail);
    f->has_all = f->has_all && has_field(f->items, root);
}

static bool
applies(const row *r, const sn_formula *condition)
{
    asked_fields f = {r->items, true};

    sn_expr_uses(condition->x, on_asked, &f);
    return f.has_all;
}

/* The first condition of expect.where that is not true, from 1; 0: none. A condition is
 * one on the kinds of rows that have its fields. */
static uint16_t
first_unmet(row *r)
{
    const seine_recipe *recipe = r->a->r;

    for (size_t i = 0; i < recipe->n_expected && !r->is_bad; i++) {
        bool is = false;
        if (!applies(r, &recipe->expected[i]))
            continue;
        if (sn_names_is(&r->a->names, &recipe->expected[i], &is) == SEINE_E_NOMEM)
            r->a->err = SEINE_E_NOMEM;
        if (!is)
            return (uint16_t)(i + 1);
    }
    return 0;
}

static void
hand_over(row *r)
{
    sn_apply *a = r->a;
    seine_text json = {NULL, 0}, errors = {NULL, 0};
    seine_row out = {.kind = r->items->kind, .n = r->n, .ok = !r->is_bad};

    if (a->tree && r->at->node != 0)
        place(a, r->at->node, &out.line, &out.col);
    out.unmet = first_unmet(r);
    if (a->err == SEINE_OK)
        a->err = seine_json_print(r->data, &json);
    if (a->err == SEINE_OK)
        a->err = seine_json_print(r->errors, &errors);
    out.json = json.bytes;
    out.errors = errors.bytes;
    out.key = r->key;
    out.selector = selector_of(r);
    if (a->err == SEINE_OK)
        a->stopped = !a->fn(&out, a->arg);
    seine_text_free(&json);
    seine_text_free(&errors);
}

static void
finish(row *r)
{
    sn_apply *a = r->a;

    check_unique(r);
    if (a->err != SEINE_OK)
        return;
    a->fresh += !r->is_bad;
    a->out->good += !r->is_bad;
    a->out->bad += r->is_bad;
    if (!r->is_bad || r->items->on_error != SN_ERROR_DROP)
        hand_over(r);
    if (r->is_bad && r->items->on_error == SN_ERROR_STOP && a->err == SEINE_OK)
        a->err = SEINE_E_PARSE;
    if (!r->is_bad && a->err == SEINE_OK && !a->stopped)
        sn_apply_follow_row(a, r->at, r->data);
}

static void
fill(row *r)
{
    sn_apply *a = r->a;

    for (size_t i = 0; i < r->items->n_fields && a->err == SEINE_OK; i++)
        put_field(r, &r->items->fields[i], i);
    for (size_t i = 0; i < r->items->n_derive && a->err == SEINE_OK; i++)
        put_derived(r, &r->items->derive[i]);
    if (a->err == SEINE_OK && is_wanted(r) && a->err == SEINE_OK) {
        a->rows++;
        finish(r);
    }
}

void
sn_apply_row(sn_apply *a, const sn_items *items, const sn_row_place *at, uint32_t n)
{
    row r = {a,    items, at, n, seine_json_new_object(), seine_json_new_array(),
             NULL, false};

    sn_arena_reset(&a->arena);
    a->names.row = r.data;
    a->names.n = n;
    if (!r.data || !r.errors)
        a->err = SEINE_E_NOMEM;
    else if (a->rows >= SN_RECIPE_ROWS)
        a->err = SEINE_E_BUDGET;
    else
        fill(&r);
    a->names.row = NULL;
    a->names.n = 0;
    seine_json_free(r.data);
    seine_json_free(r.errors);
}
