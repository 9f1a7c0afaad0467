/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/names.h"

#include <string.h>

#include "base/json.h"
#include "text/url.h"

enum { NAME_MOST = 256 };

static const sn_expr_value null_value;

static sn_expr_value
number_value(double n)
{
    return (sn_expr_value){SN_EXPR_NUMBER, .number = n};
}

static sn_expr_value
text_value(sn_str s)
{
    if (!s.ptr)
        return null_value;
    return (sn_expr_value){SN_EXPR_TEXT, .text = s};
}

static sn_expr_value value_of(sn_names *names, const seine_json *json);

static sn_expr_value
list_value(sn_names *names, const seine_json *json)
{
    size_t n = seine_json_size(json);
    sn_expr_value *all = SN_ARENA_ARRAY(names->arena, sn_expr_value, n > 0 ? n : 1);

    names->nomem |= !all;
    for (size_t i = 0; i < n && all; i++)
        all[i] = value_of(names, seine_json_at(json, i));
    if (!all)
        return null_value;
    return (sn_expr_value){SN_EXPR_LIST, .list = {all, n}};
}

/* Objects have members and no value of their own. Recurses into lists, which are as deep
 * as the JSON parser allows. */
static sn_expr_value
value_of(sn_names *names, const seine_json *json)
{
    sn_str text;
    bool truth;
    double n;

    if (seine_json_string(json, &text.ptr, &text.len))
        return text_value(text);
    if (seine_json_number(json, &n))
        return number_value(n);
    if (seine_json_bool(json, &truth))
        return (sn_expr_value){SN_EXPR_BOOL, .truth = truth};
    if (seine_json_type_of(json) == SEINE_JSON_ARRAY)
        return list_value(names, json);
    return null_value;
}

static const seine_json *
member(const seine_json *object, sn_str name)
{
    char copy[NAME_MOST];

    if (!object || name.len == 0 || name.len >= sizeof copy)
        return NULL;
    memcpy(copy, name.ptr, name.len);
    copy[name.len] = '\0';
    return seine_json_get(object, copy);
}

const seine_json *
sn_names_json(const sn_names *names, sn_str name)
{
    const seine_json *found = member(names->row, name);

    return found ? found : member(names->vars, name);
}

/* What is known of the page itself. */
static sn_expr_value
known(const sn_names *names, sn_str name)
{
    if (sn_str_eq(name, SN_STR("url")))
        return text_value(names->url);
    if (sn_str_eq(name, SN_STR("run_date")))
        return text_value(names->run_date);
    if (sn_str_eq(name, SN_STR("n")) && names->n > 0)
        return number_value(names->n);
    if (sn_str_eq(name, SN_STR("page")))
        return number_value(names->page);
    if (names->has_counts && sn_str_eq(name, SN_STR("items")))
        return number_value(names->items);
    if (names->has_counts && sn_str_eq(name, SN_STR("new")))
        return number_value(names->fresh);
    if (names->has_counts && sn_str_eq(name, SN_STR("status")))
        return number_value(names->status);
    return null_value;
}

sn_expr_value
sn_names_get(sn_names *names, sn_str path)
{
    sn_str name, rest;
    bool has_rest = sn_str_cut(path, '.', &name, &rest);

    if (names->value.ptr && sn_str_eq(path, SN_STR("value")))
        return text_value(names->value);
    const seine_json *found = sn_names_json(names, name);
    if (!found && !has_rest) {
        sn_expr_value v = known(names, name);
        if (v.type != SN_EXPR_NULL)
            return v;
    }
    if (!found)
        found = member(names->json, name);
    while (has_rest) {
        has_rest = sn_str_cut(rest, '.', &name, &rest);
        found = member(found, name);
    }
    return value_of(names, found);
}

/* What a formula is evaluated with. */
typedef struct asked {
    sn_names *names;
    const sn_expr_name *list;
} asked;

static void
get_member(void *arg, unsigned index, sn_str rest, sn_expr_value *out)
{
    asked *a = arg;
    char path[NAME_MOST];

    if (index == SN_EXPR_OPEN) {
        *out = sn_names_get(a->names, rest);
        return;
    }
    sn_str name = sn_str_of(a->list[index].name);
    if (rest.len == 0) {
        *out = sn_names_get(a->names, name);
        return;
    }
    if (name.len + 1 + rest.len >= sizeof path)
        return;
    memcpy(path, name.ptr, name.len);
    path[name.len] = '.';
    memcpy(path + name.len + 1, rest.ptr, rest.len);
    *out = sn_names_get(a->names, (sn_str){path, name.len + 1 + rest.len});
}

static bool
get_zone(void *arg, sn_str name, int64_t local, int64_t *out_offset)
{
    asked *a = arg;

    return sn_recipe_zone(a->names->recipe, name, local, out_offset);
}

seine_err
sn_names_eval(sn_names *names, const sn_formula *f, sn_expr_value *out)
{
    asked a = {names, f->names};
    sn_expr_source source = {get_member, get_zone, &a};

    return sn_expr_eval(f->x, names->runner, &source, out);
}

seine_err
sn_names_is(sn_names *names, const sn_formula *f, bool *out_is)
{
    sn_expr_value v;
    seine_err e = sn_names_eval(names, f, &v);

    *out_is = e == SEINE_OK && v.type == SN_EXPR_BOOL && v.truth;
    return e;
}

static bool
is_in(char c, sn_str s)
{
    return s.len > 0 && memchr(s.ptr, c, s.len) != NULL;
}

/* Escapes all but unreserved characters and those that the recipe itself has written. */
static void
add_escaped(sn_buf *out, sn_str s, sn_str kept)
{
    for (size_t i = 0; i < s.len; i++)
        if (sn_url_is(s.ptr[i], SN_URL_PLAIN) ||
            (s.ptr[i] != '%' && is_in(s.ptr[i], kept)))
            sn_buf_char(out, s.ptr[i]);
        else
            sn_buf_printf(out, "%%%02X", (unsigned char)s.ptr[i]);
}

static void
add_value(sn_buf *out, const sn_expr_value *v, bool escape, sn_str kept)
{
    char number[32];
    sn_str text = SN_STR("");

    switch (v->type) {
    case SN_EXPR_TEXT:
        text = v->text;
        break;
    case SN_EXPR_NUMBER:
        text = (sn_str){number, sn_json_decimal(v->number, number)};
        if (sn_str_ends(text, SN_STR(".0")))
            text.len -= 2;
        break;
    case SN_EXPR_BOOL:
        text = v->truth ? SN_STR("true") : SN_STR("false");
        break;
    default:
        for (size_t i = 0; v->type == SN_EXPR_LIST && i < v->list.count; i++) {
            if (i > 0)
                sn_buf_char(out, ',');
            add_value(out, &v->list.items[i], escape, kept);
        }
    }
    if (escape)
        add_escaped(out, text, kept);
    else
        sn_buf_str(out, text);
}

/* The value of a name in its format. */
static sn_expr_value
part_value(sn_names *names, const sn_template_part *p)
{
    sn_expr_name one = {p->name, SN_EXPR_ANY};
    sn_formula f = {p->format, &one};
    sn_expr_value v;

    if (!p->format)
        return sn_names_get(names, sn_str_of(p->name));
    if (sn_names_eval(names, &f, &v) == SEINE_E_NOMEM)
        names->nomem = true;
    return v;
}

/* The URL of a host ends with a slash; "{base}/list" means one slash, not two. */
static sn_str
without_slash(sn_str url, sn_str behind)
{
    bool both = sn_str_ends(url, SN_STR("/")) && sn_str_starts(behind, SN_STR("/"));

    return sn_str_slice(url, 0, url.len - both);
}

const char *
sn_names_expand(sn_names *names, const sn_template *t, bool in_url, sn_buf *out)
{
    for (size_t i = 0; i < t->count; i++) {
        const sn_template_part *p = &t->parts[i];
        if (!p->name) {
            sn_buf_str(out, p->text);
            continue;
        }
        sn_expr_value v = part_value(names, p);
        if (v.type == SN_EXPR_NULL)
            return p->name;
        if (p->whole_url && i + 1 < t->count && v.type == SN_EXPR_TEXT)
            v.text = without_slash(v.text, t->parts[i + 1].text);
        add_value(out, &v, in_url && !p->whole_url, p->format_text);
    }
    return NULL;
}

static seine_json *
list_json(const sn_expr_value *v)
{
    seine_json *all = seine_json_new_array();

    for (size_t i = 0; i < v->list.count && all; i++)
        if (seine_json_append(all, sn_names_value_json(&v->list.items[i])) != SEINE_OK) {
            seine_json_free(all);
            return NULL;
        }
    return all;
}

/* A whole number is an integer, so that it prints without a point. */
seine_json *
sn_names_value_json(const sn_expr_value *v)
{
    switch (v->type) {
    case SN_EXPR_TEXT:
        return seine_json_new_string(v->text.ptr, v->text.len);
    case SN_EXPR_BOOL:
        return seine_json_new_bool(v->truth);
    case SN_EXPR_NUMBER:
        if (v->number > -1e15 && v->number < 1e15 &&
            v->number == (double)(int64_t)v->number)
            return seine_json_new_int((int64_t)v->number);
        return seine_json_new_real(v->number);
    case SN_EXPR_LIST:
        return list_json(v);
    default:
        return seine_json_new_null();
    }
}
