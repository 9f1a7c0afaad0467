/* SPDX-License-Identifier: Apache-2.0 */
/* Selectors, patterns, pointers, templates and expressions of a recipe. */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "recipe/near_word.h"
#include "recipe/reading.h"
#include "seine/jsonptr.h"

static void
free_select(void *s)
{
    seine_select_free(s);
}

static void
free_pattern(void *p)
{
    sn_pattern_free(p);
}

static void
free_expr(void *x)
{
    sn_expr_free(x);
}

static void
free_json(void *json)
{
    seine_json_free(json);
}

bool
sn_recipe_own(seine_recipe *r, void (*drop)(void *thing), void *thing)
{
    sn_owned *o = thing ? SN_ARENA_NEW(&r->arena, sn_owned) : NULL;

    if (!o) {
        if (thing)
            drop(thing);
        return false;
    }
    *o = (sn_owned){drop, thing, r->owned};
    r->owned = o;
    return true;
}

bool
sn_recipe_own_json(seine_recipe *r, seine_json *json)
{
    return sn_recipe_own(r, free_json, json);
}

/* Keeps `thing`, or sets nomem. */
static void *
own(sn_reading *in, void (*drop)(void *thing), void *thing)
{
    if (sn_recipe_own(in->r, drop, thing))
        return thing;
    in->nomem = true;
    return NULL;
}

static bool
is_selector(const char *text, size_t len)
{
    seine_select *s = NULL;
    bool is = seine_select_new(text, len, &s, NULL) == SEINE_OK;

    seine_select_free(s);
    return is;
}

/* A selector without the byte at which it goes wrong, if that is one. An '@' has been
 * meant to name an attribute. */
static bool
without_byte(sn_str text, size_t at, char *out, size_t cap)
{
    if (text.len >= cap || at >= text.len || text.ptr[at] == ':' ||
        (text.ptr[at] == '@' && at + 1 < text.len))
        return false;
    memcpy(out, text.ptr, at);
    memcpy(out + at, text.ptr + at + 1, text.len - at - 1);
    out[text.len - 1] = '\0';
    return text.len > 1 && is_selector(out, text.len - 1);
}

seine_select *
sn_read_select(sn_reading *in, const sn_yaml *node, sn_str text)
{
    seine_diag diag = SEINE_DIAG;
    seine_select *s = NULL;
    seine_err e = seine_select_new(text.ptr, text.len, &s, &diag);
    char near[64];

    if (e == SEINE_OK)
        return own(in, free_select, s);
    in->nomem |= e == SEINE_E_NOMEM;
    if (e == SEINE_E_NOMEM)
        return NULL;
    size_t at = diag.column > 0 ? (size_t)diag.column - 1 : 0;
    bool has_hint = strstr(diag.text, "; try ") != NULL;
    int shown = text.len < 50 ? (int)text.len : 50;
    if (!has_hint && at < text.len && text.ptr[at] == '/' && at > 0)
        sn_mistake_in(in, node, at, "selector '%.*s' is not valid: %s; try /%.*s", shown,
                      text.ptr, diag.text, shown, text.ptr);
    else if (!has_hint && without_byte(text, at, near, sizeof near))
        sn_mistake_in(in, node, at, "selector '%.*s' is not valid: %s; try %s", shown,
                      text.ptr, diag.text, near);
    else
        sn_mistake_in(in, node, at, "selector '%.*s' is not valid: %s", shown, text.ptr,
                      diag.text);
    return NULL;
}

/* The reason ends with the byte: "missing parenthesis (at byte 4)". */
static void
tell_pattern(sn_reading *in, const sn_yaml *node, char *reason)
{
    char *at = strstr(reason, " (at byte ");
    uint64_t byte = 0;

    if (at && sn_str_u64((sn_str){at + 10, strcspn(at + 10, ")")}, &byte) == SEINE_OK)
        *at = '\0';
    sn_mistake_in(in, node, (size_t)byte, "not a regular expression: %s", reason);
}

sn_pattern *
sn_read_pattern(sn_reading *in, const sn_yaml *node)
{
    seine_diag diag = SEINE_DIAG;
    sn_pattern *p = NULL;
    sn_str text;

    if (!sn_read_scalar(in, node, "a regular expression", &text))
        return NULL;
    seine_err e = sn_pattern_new(text, &p, &diag);
    if (e == SEINE_OK)
        return own(in, free_pattern, p);
    in->nomem |= e == SEINE_E_NOMEM;
    if (e != SEINE_E_NOMEM)
        tell_pattern(in, node, diag.text);
    return NULL;
}

/* The pointer that a text is nearly: a '/' is put before it, and a '~' that is none of
 * ~0 and ~1 becomes ~0. */
static bool
near_pointer(sn_str text, char *out, size_t cap)
{
    size_t n = 0;

    if (text.len == 0 || text.ptr[0] != '/')
        out[n++] = '/';
    for (size_t i = 0; i < text.len; i++) {
        bool is_stray =
            text.ptr[i] == '~' && !(i + 1 < text.len && memchr("01", text.ptr[i + 1], 2));
        if (n + 3 > cap)
            return false;
        out[n++] = text.ptr[i];
        if (is_stray)
            out[n++] = '0';
    }
    out[n] = '\0';
    return seine_jsonptr_valid(out, n);
}

bool
sn_read_pointer(sn_reading *in, const sn_yaml *node, sn_str text)
{
    if (seine_jsonptr_valid(text.ptr, text.len))
        return true;
    int shown = text.len < 40 ? (int)text.len : 40;
    char near[100];
    if (near_pointer(text, near, sizeof near))
        sn_mistake(in, node, "'%.*s' is no JSON pointer; try %s", shown, text.ptr, near);
    else
        sn_mistake(in, node, "'%.*s' is no JSON pointer", shown, text.ptr);
    return false;
}

seine_json *
sn_read_json(sn_reading *in, const sn_yaml *node)
{
    seine_json *json = sn_yaml_json(node);

    return own(in, free_json, json);
}

static const sn_expr_name *
find_name(const sn_expr_name *names, size_t n, sn_str name)
{
    for (size_t i = n; i-- > 0;)
        if (sn_str_eq(sn_str_of(names[i].name), name))
            return &names[i];
    return NULL;
}

static const char *
near_name(sn_str name, const sn_expr_name *names, size_t n)
{
    const char *words[SN_READING_NAMES + 2 * SN_RECIPE_FIELDS + 16];
    size_t k = 0;

    for (; k < n && k + 1 < sizeof words / sizeof *words; k++)
        words[k] = names[k].name;
    words[k] = NULL;
    return sn_near_word(name, words);
}

static void
tell_name(sn_reading *in, const sn_yaml *node, size_t at, sn_str name,
          const sn_expr_name *names, size_t n)
{
    const char *near = near_name(name, names, n);
    int shown = name.len < 40 ? (int)name.len : 40;

    if (near)
        sn_mistake_in(in, node, at, "no name '%.*s' is known here; try {%s}", shown,
                      name.ptr, near);
    else
        sn_mistake_in(in, node, at, "no name '%.*s' is known here; try {{ for a brace",
                      shown, name.ptr);
}

/* Has it a letter of strftime that is none of numbers? */
static bool
is_of_dates(sn_str format)
{
    for (size_t i = 0; i + 1 < format.len; i++)
        if (format.ptr[i] == '%' && sn_is_alpha(format.ptr[i + 1]) &&
            format.ptr[i + 1] != 'd' && format.ptr[i + 1] != 'f')
            return true;
    return false;
}

/* Compiles format(name, 'FORMAT'). */
static sn_expr *
read_format(sn_reading *in, const sn_yaml *node, size_t at, const sn_expr_name *name,
            sn_str format)
{
    char quote = format.len > 0 && memchr(format.ptr, '\'', format.len) ? '"' : '\'';
    sn_expr_name one = {"x", name->type == SN_EXPR_NUMBER ? SN_EXPR_NUMBER : SN_EXPR_ANY};
    sn_expr_scope scope = {.names = &one, .count = 1};
    seine_diag diag = SEINE_DIAG;
    sn_expr *x = NULL;
    char text[320];

    if (format.len == 0 || format.len > 256 || memchr(format.ptr, quote, format.len)) {
        sn_mistake_in(in, node, at, "not a format of dates or numbers; try {%s:%%Y-%%m}",
                      name->name);
        return NULL;
    }
    if (name->type == SN_EXPR_NUMBER && is_of_dates(format)) {
        sn_mistake_in(in, node, at, "'%s' is a number, and this is for dates; try %%05d",
                      name->name);
        return NULL;
    }
    int n = snprintf(text, sizeof text, "format(x, %c%.*s%c)", quote, (int)format.len,
                     format.ptr, quote);
    seine_err e = sn_expr_compile((sn_str){text, (size_t)n}, &scope, &x, &diag);
    if (e == SEINE_OK)
        return own(in, free_expr, x);
    in->nomem |= e == SEINE_E_NOMEM;
    if (e != SEINE_E_NOMEM)
        sn_mistake_in(in, node, at,
                      "'%.*s' is no format of dates or numbers; try %%Y-%%m-%%d or %%05d",
                      format.len < 40 ? (int)format.len : 40, format.ptr);
    return NULL;
}

static bool
is_url_var(const sn_reading *in, sn_str name)
{
    for (size_t i = 0; i < in->r->n_vars; i++)
        if (in->r->vars[i].name && sn_str_eq(sn_str_of(in->r->vars[i].name), name))
            return in->r->vars[i].meaning.type == SN_TYPE_URL;
    return false;
}

/* Reads {name} or {name:FORMAT} behind its brace at `at`; returns the byte behind it, 0:
 * a mistake. */
static size_t
read_name(sn_reading *in, const sn_yaml *node, size_t at, const sn_expr_name *names,
          size_t n_names, sn_template_part *out)
{
    sn_str rest = sn_str_slice(node->text, at, node->text.len), name, format;
    size_t end = sn_str_find(rest, '}');

    if (end == rest.len) {
        sn_mistake_in(in, node, at - 1, "a '{' is not closed; try {{ for a brace");
        return 0;
    }
    bool has_format = sn_str_cut(sn_str_slice(rest, 0, end), ':', &name, &format);
    sn_str root;
    sn_str_cut(name, '.', &root, &(sn_str){NULL, 0});
    const sn_expr_name *known = find_name(names, n_names, root);
    if (!known) {
        tell_name(in, node, at, name, names, n_names);
        return 0;
    }
    out->name = sn_arena_text(in->arena, name);
    in->nomem |= !out->name;
    out->whole_url = at == 1 && !has_format && is_url_var(in, name);
    out->format_text = format;
    if (has_format &&
        !(out->format = read_format(in, node, at + name.len + 1, known, format)))
        return 0;
    return at + end + 1;
}

/* The text up to the next name; {{ and }} are one brace each. */
static size_t
read_literal(sn_reading *in, sn_str text, size_t at, sn_template_part *out)
{
    char *to = sn_read_room(in, text.len - at + 1, 1);
    size_t n = 0;

    while (to && at < text.len) {
        char c = text.ptr[at];
        bool twice = at + 1 < text.len && text.ptr[at + 1] == c;
        if (c == '{' && !twice)
            break;
        to[n++] = c;
        at += (c == '{' || c == '}') && twice ? 2 : 1;
    }
    out->text = (sn_str){to, n};
    return to ? at : text.len;
}

sn_template *
sn_read_template(sn_reading *in, const sn_yaml *node, const sn_expr_name *names,
                 size_t n_names)
{
    sn_template *t = SN_READ_ARRAY(in, sn_template, 1);
    sn_str text;

    if (!t || !sn_read_scalar(in, node, node->key ? node->key->text.ptr : "this", &text))
        return NULL;
    size_t most = 1;
    for (size_t i = 0; i < text.len; i++)
        most += text.ptr[i] == '{' ? 2 : 0;
    sn_template_part *parts = SN_READ_ARRAY(in, sn_template_part, most);
    for (size_t at = 0; parts && at < text.len && t->count < most;) {
        sn_template_part *p = &parts[t->count++];
        bool is_name =
            text.ptr[at] == '{' && !(at + 1 < text.len && text.ptr[at + 1] == '{');
        at = is_name ? read_name(in, node, at + 1, names, n_names, p)
                     : read_literal(in, text, at, p);
        if (at == 0)
            return NULL;
    }
    t->parts = parts;
    return t;
}

static bool
has_zone(void *arg, sn_str name)
{
    const sn_reading *in = arg;
    int64_t offset;

    return sn_recipe_zone(in->r, name, 0, &offset);
}

/* Is it the value itself that is derived, or one that is derived below it? */
static bool
is_derived_later(const sn_reading *in, sn_str name)
{
    for (const sn_yaml *v = in->derived; v; v = v->next)
        if (sn_str_eq(v->key->text, name))
            return true;
    return false;
}

/* "no member 'prise'" gets the name that is nearest, or hears that it comes too late. */
static void
tell_expr(sn_reading *in, const sn_yaml *node, const seine_diag *diag,
          const sn_expr_name *names, size_t n)
{
    const char *quoted = strstr(diag->text, "no member '"), *near = NULL;
    size_t at = diag->column > 0 ? (size_t)diag->column - 1 : 0;
    sn_str name = sn_str_of(quoted ? quoted + 11 : "");

    name = sn_str_slice(name, 0, sn_str_find(name, '\''));
    if (quoted && is_derived_later(in, name)) {
        sn_mistake_in(in, node, at,
                      sn_str_eq(in->derived->key->text, name)
                          ? "'%.*s' is derived from itself; try a field"
                          : "'%.*s' is derived below this; try moving it above",
                      name.len < 40 ? (int)name.len : 40, name.ptr);
        return;
    }
    if (quoted)
        near = near_name(name, names, n);
    sn_mistake_in(in, node, at, "%s%s%s", diag->text, near ? "; try " : "",
                  near ? near : "");
}

bool
sn_read_formula(sn_reading *in, const sn_yaml *node, const sn_expr_name *names,
                size_t n_names, bool open, sn_formula *out)
{
    sn_expr_scope scope = {.names = names,
                           .count = n_names,
                           .open = open,
                           .has_zone = in->r->zone ? has_zone : NULL,
                           .arg = in};
    seine_diag diag = SEINE_DIAG;
    sn_str text;

    if (!sn_read_scalar(in, node, "an expression", &text))
        return false;
    seine_err e = sn_expr_compile(text, &scope, &out->x, &diag);
    in->nomem |= e == SEINE_E_NOMEM;
    if (e != SEINE_OK) {
        if (e != SEINE_E_NOMEM)
            tell_expr(in, node, &diag, names, n_names);
        return false;
    }
    out->x = own(in, free_expr, out->x);
    sn_expr_name *copy = SN_READ_ARRAY(in, sn_expr_name, n_names);
    if (copy && n_names > 0)
        memcpy(copy, names, n_names * sizeof *copy);
    out->names = copy;
    return !in->nomem;
}
