/* SPDX-License-Identifier: Apache-2.0 */
/* FIELD: where a value comes from, its shape, its meaning, and what if it is missing. */
#include <stdio.h>
#include <string.h>

#include "recipe/date_format.h"
#include "recipe/near_word.h"
#include "recipe/reading.h"
#include "recipe/recipe_keys.h"

const char *const sn_type_names[SN_TYPE_COUNT + 1] = {
#define X(id, name) name,
    SN_TYPES(X)
#undef X
        NULL};

sn_expr_type
sn_read_expr_type(sn_type type)
{
    switch (type) {
    case SN_TYPE_INT:
    case SN_TYPE_NUMBER:
    case SN_TYPE_DURATION:
        return SN_EXPR_NUMBER;
    case SN_TYPE_BOOL:
        return SN_EXPR_BOOL;
    case SN_TYPE_MONEY:
    case SN_TYPE_JSON:
        return SN_EXPR_ANY;
    default:
        return SN_EXPR_TEXT;
    }
}

static bool
is_number(sn_type type)
{
    return type == SN_TYPE_INT || type == SN_TYPE_NUMBER || type == SN_TYPE_MONEY;
}

static bool
is_date(sn_type type)
{
    return type == SN_TYPE_DATE || type == SN_TYPE_TIME || type == SN_TYPE_MONTH ||
           type == SN_TYPE_DATETIME;
}

/* Tells that a key is of no use for the type. */
static void
tell_useless(sn_reading *in, const sn_yaml *map, const char *key, const char *types)
{
    const sn_yaml *v = sn_yaml_get(map, key);

    if (v)
        sn_mistake(in, v->key, "%s means something for %s only; try type: %.*s", key,
                   types, (int)strcspn(types, " ,"), types);
}

static void
read_format(sn_reading *in, const sn_yaml *map, sn_meaning *m)
{
    if (!is_date(m->type)) {
        tell_useless(in, map, "format", "date, time, month, datetime");
        tell_useless(in, map, "zone", "datetime");
        return;
    }
    if (sn_read_text(in, map, "format", &m->format)) {
        const char *why = sn_date_format_check(m->format, m->type);
        if (why)
            sn_mistake(in, sn_yaml_get(map, "format"), "format '%.*s': %s",
                       m->format.len < 40 ? (int)m->format.len : 40, m->format.ptr, why);
    }
    if (m->type != SN_TYPE_DATETIME)
        tell_useless(in, map, "zone", "datetime");
    else if (sn_read_text(in, map, "zone", &m->zone)) {
        int64_t offset;
        if (!sn_recipe_zone(in->r, m->zone, 0, &offset))
            sn_mistake(in, sn_yaml_get(map, "zone"),
                       "there is no time zone '%.*s'; try Europe/Paris or +01:00",
                       m->zone.len < 40 ? (int)m->zone.len : 40, m->zone.ptr);
    }
}

static void
read_decimal(sn_reading *in, const sn_yaml *map, sn_meaning *m)
{
    static const char *const marks[] = {SN_WORDS_DECIMAL, NULL};
    unsigned i = 0;

    if (!is_number(m->type))
        tell_useless(in, map, "decimal", "number, int, money");
    else if (sn_read_choice(in, map, "decimal", marks, &i))
        m->decimal = marks[i][0];
}

static void
read_values(sn_reading *in, const sn_yaml *map, sn_meaning *m)
{
    const sn_yaml *v = sn_yaml_get(map, "values");

    if (!v && m->type == SN_TYPE_ENUM)
        sn_mistake(in, sn_yaml_get(map, "type"), "enum needs values; try values: [a, b]");
    if (!v)
        return;
    if (v->kind != SN_YAML_LIST || v->count == 0) {
        sn_mistake(in, v, "values must be a list; try [a, b]");
        return;
    }
    sn_str *all = SN_READ_ARRAY(in, sn_str, v->count);
    for (const sn_yaml *one = v->first; one && all; one = one->next)
        if (sn_read_scalar(in, one, "a value", &all[m->n_values]))
            m->n_values++;
    m->values = all;
}

/* min and max have the form of the values that they bound. */
static void
read_bound(sn_reading *in, const sn_yaml *map, sn_meaning *m, const char *key,
           sn_str *out)
{
    const sn_yaml *v = sn_yaml_get(map, key);
    seine_json *json = NULL;
    sn_moment moment;

    if (!v || !sn_read_text(in, map, key, out))
        return;
    if (is_number(m->type) || m->type == SN_TYPE_DURATION) {
        if (seine_json_parse(out->ptr, out->len, &json, NULL) != SEINE_OK ||
            !seine_json_number(json, &(double){0}))
            sn_mistake(in, v, "%s must be a number", key);
        seine_json_free(json);
    } else if (!is_date(m->type)) {
        tell_useless(in, map, key, "int, number, money, duration and dates");
    } else if (!sn_date_iso_read(m->type, *out, &moment)) {
        sn_mistake(in, v, "%s must be a %s as ISO 8601 writes it", key,
                   sn_type_names[m->type]);
    }
}

/* Types as other languages call them. */
static bool
tell_synonym(sn_reading *in, const sn_yaml *type)
{
    static const struct {
        const char *word, *type;
    } words[] = {{"integer", "int"},        {"float", "number"}, {"double", "number"},
                 {"decimal", "number"},     {"boolean", "bool"}, {"text", "string"},
                 {"str", "string"},         {"price", "money"},  {"currency", "money"},
                 {"timestamp", "datetime"}, {"link", "url"},     {"uri", "url"},
                 {"mail", "email"},         {"choice", "enum"},  {"object", "json"}};

    for (size_t i = 0; type && i < sizeof words / sizeof *words; i++)
        if (type->kind == SN_YAML_SCALAR &&
            sn_str_eq(type->text, sn_str_of(words[i].word))) {
            sn_mistake(in, type, "type '%s' is unknown; try %s", words[i].word,
                       words[i].type);
            return true;
        }
    return false;
}

bool
sn_read_meaning(sn_reading *in, const sn_yaml *map, sn_meaning *m)
{
    const sn_yaml *pattern = sn_yaml_get(map, "pattern");
    unsigned type = m->type;

    m->decimal = '.';
    if (tell_synonym(in, sn_yaml_get(map, "type")) ||
        (sn_yaml_get(map, "type") &&
         !sn_read_choice(in, map, "type", sn_type_names, &type)))
        return false;
    m->type = type;
    read_format(in, map, m);
    read_decimal(in, map, m);
    read_values(in, map, m);
    read_bound(in, map, m, "min", &m->min);
    read_bound(in, map, m, "max", &m->max);
    if (pattern)
        m->pattern = sn_read_pattern(in, pattern);
    return true;
}

/* Is the sign at this place escaped, by an odd number of backslashes? */
static bool
is_escaped(sn_str text, size_t at)
{
    size_t n = 0;

    while (n < at && text.ptr[at - n - 1] == '\\')
        n++;
    return n % 2 == 1;
}

/* Cuts @ATTR off a selector, if what follows the last @ is a name. An escaped @ belongs
 * to the selector. */
static sn_str
cut_attr(sn_str text, sn_str *out_attr)
{
    size_t at = text.len;

    while (at > 0 && (sn_is_alpha(text.ptr[at - 1]) || sn_is_digit(text.ptr[at - 1]) ||
                      memchr("-:._", text.ptr[at - 1], 4)))
        at--;
    if (at == 0 || at == text.len || text.ptr[at - 1] != '@' || is_escaped(text, at - 1))
        return text;
    *out_attr = sn_str_slice(text, at, text.len);
    return sn_str_slice(text, 0, at - 1);
}

/* The text of a selector with its attribute: "h2 a@href". */
static void
read_css(sn_reading *in, const sn_yaml *node, sn_field *f)
{
    sn_str text;

    if (!sn_read_scalar(in, node, "a selector", &text))
        return;
    f->source = SN_FROM_CSS;
    f->from = cut_attr(text, &f->attr);
    if (f->from.len > 0)
        f->select = sn_read_select(in, node, f->from);
}

static void
read_pointer(sn_reading *in, const sn_yaml *node, sn_source source, sn_field *f)
{
    f->source = source;
    if (sn_read_scalar(in, node, "a JSON pointer", &f->from))
        sn_read_pointer(in, node, f->from);
}

/* const: a number or a condition has its own type. */
static void
read_const(sn_reading *in, const sn_yaml *node, const sn_expr_name *names, size_t n,
           sn_field *f)
{
    seine_json *json = node->kind == SN_YAML_SCALAR ? sn_yaml_json(node) : NULL;

    f->source = SN_FROM_CONST;
    f->constant = sn_read_template(in, node, names, n);
    switch (seine_json_type_of(json)) {
    case SEINE_JSON_INT:
        f->meaning.type = SN_TYPE_INT;
        break;
    case SEINE_JSON_REAL:
        f->meaning.type = SN_TYPE_NUMBER;
        break;
    case SEINE_JSON_BOOL:
        f->meaning.type = SN_TYPE_BOOL;
        break;
    default:
        break;
    }
    seine_json_free(json);
}

static void
read_page_name(sn_reading *in, const sn_yaml *node, const sn_expr_name *names, size_t n,
               sn_field *f)
{
    const char *words[SN_READING_NAMES + 4] = {"url", "title", "n"};
    size_t k = 3;

    f->source = SN_FROM_PAGE;
    if (!sn_read_scalar(in, node, "page", &f->from))
        return;
    for (size_t i = 0; i < n && k < SN_READING_NAMES + 3; i++)
        words[k++] = names[i].name;
    for (size_t i = 0; i < k; i++)
        if (sn_str_eq(sn_str_of(words[i]), f->from))
            return;
    const char *near = sn_near_word(f->from, words);
    sn_mistake(in, node, "page has no '%.*s'; try %s",
               f->from.len < 40 ? (int)f->from.len : 40, f->from.ptr,
               near ? near : "url, title, n or a variable");
}

static void
read_source(sn_reading *in, const sn_yaml *map, const sn_expr_name *names, size_t n,
            sn_field *f)
{
    static const char *const keys[] = {"css",  "json",  "col",  "jsonld", "header",
                                       "meta", "const", "page", NULL};
    const sn_yaml *found = NULL;

    for (unsigned i = 0; keys[i]; i++) {
        const sn_yaml *v = sn_yaml_get(map, keys[i]);
        if (!v)
            continue;
        if (found) {
            sn_mistake(in, v->key,
                       "a field has one source, and this is a second beside %s",
                       found->key->text.ptr);
            continue;
        }
        found = v;
        f->source = (sn_source)i;
        if (i == SN_FROM_CSS)
            read_css(in, v, f);
        else if (i == SN_FROM_JSON || i == SN_FROM_JSONLD)
            read_pointer(in, v, (sn_source)i, f);
        else if (i == SN_FROM_CONST)
            read_const(in, v, names, n, f);
        else if (i == SN_FROM_PAGE)
            read_page_name(in, v, names, n, f);
        else
            (void)sn_read_scalar(in, v, keys[i], &f->from);
    }
}

static void
read_replace(sn_reading *in, const sn_yaml *list, sn_field *f)
{
    if (list->kind != SN_YAML_LIST) {
        sn_mistake(in, list, "replace must be a list of pairs; try [['a', 'b']]");
        return;
    }
    sn_replacement *all = SN_READ_ARRAY(in, sn_replacement, list->count);
    for (const sn_yaml *p = list->first; p && all; p = p->next) {
        if (p->kind != SN_YAML_LIST || p->count != 2 ||
            p->first->next->kind != SN_YAML_SCALAR) {
            sn_mistake(in, p,
                       "a pair of a regular expression and a text; try ['a', 'b']");
            continue;
        }
        all[f->n_replace].pattern = sn_read_pattern(in, p->first);
        all[f->n_replace].with = p->first->next->text;
        f->n_replace += all[f->n_replace].pattern != NULL;
    }
    f->replace = all;
}

static void
read_map(sn_reading *in, const sn_yaml *map, sn_field *f)
{
    if (map->kind != SN_YAML_MAP) {
        sn_mistake(in, map, "map must be a map of texts; try {\"In stock\": true}");
        return;
    }
    sn_pair *all = SN_READ_ARRAY(in, sn_pair, map->count);
    for (const sn_yaml *v = map->first; v && all; v = v->next) {
        all[f->n_map].from = v->key->text;
        if (v->kind == SN_YAML_SCALAR)
            all[f->n_map++].to = v->text;
        else
            sn_mistake(in, v, "a value of map must be a text");
    }
    f->map = all;
}

static void
read_shape(sn_reading *in, const sn_yaml *map, const sn_expr_name *names, size_t n,
           sn_field *f)
{
    static const char *const cases[] = {SN_WORDS_CASE, NULL};
    static const char *const fills[] = {SN_WORDS_FILL, NULL};
    const sn_yaml *v;
    unsigned i = 0;
    int64_t nth = 0;

    (void)sn_read_text(in, map, "attr", &f->attr);
    (void)sn_read_bool(in, map, "all", &f->all);
    if (sn_read_int(in, map, "nth", -100000, 100000, &nth) && nth == 0)
        sn_mistake(in, sn_yaml_get(map, "nth"),
                   "nth counts from 1, or from -1 at the end");
    f->nth = (int32_t)nth;
    if (f->all && nth != 0)
        sn_mistake(in, sn_yaml_get(map, "nth")->key,
                   "nth takes one value and all takes all");
    if ((v = sn_yaml_get(map, "regex")))
        f->regex = sn_read_pattern(in, v);
    if ((v = sn_yaml_get(map, "replace")))
        read_replace(in, v, f);
    if ((v = sn_yaml_get(map, "split")))
        f->split = sn_read_pattern(in, v);
    if ((v = sn_yaml_get(map, "map")))
        read_map(in, v, f);
    if ((v = sn_yaml_get(map, "as"))) {
        sn_expr_name *with = SN_READ_ARRAY(in, sn_expr_name, n + 1);
        if (with && n > 0)
            memcpy(with, names, n * sizeof *with);
        if (with) {
            with[n] = (sn_expr_name){"value", SN_EXPR_TEXT};
            f->as = sn_read_template(in, v, with, n + 1);
        }
    }
    if (sn_read_choice(in, map, "case", cases, &i)) {
        f->lower = i == 0;
        f->upper = i == 1;
    }
    f->fill = sn_read_choice(in, map, "fill", fills, &i);
}

static void
read_absence(sn_reading *in, const sn_yaml *map, sn_field *f)
{
    static const char *const empties[] = {SN_WORDS_EMPTY, NULL};
    const sn_yaml *fallback = sn_yaml_get(map, "default");
    unsigned i = 1;

    (void)sn_read_bool(in, map, "required", &f->required);
    if (fallback)
        f->fallback = sn_read_json(in, fallback);
    if (fallback && f->required)
        sn_mistake(in, fallback->key,
                   "a field with a default is never missing; try leaving "
                   "required out");
    if (sn_read_choice(in, map, "empty", empties, &i))
        f->keep_empty = i == 0;
}

void
sn_read_field(sn_reading *in, const sn_yaml *node, const sn_expr_name *names,
              size_t n_names, sn_field *f)
{
    f->meaning.decimal = '.';
    if (node->kind == SN_YAML_SCALAR) {
        if (node->text.len > 0 && node->text.ptr[0] == '/')
            read_pointer(in, node, SN_FROM_JSON, f);
        else
            read_css(in, node, f);
        return;
    }
    char where[64];
    snprintf(where, sizeof where, "field %.40s", f->name ? f->name : "");
    if (!sn_read_keys(in, node, where, SN_KEYS_FIELD))
        return;
    read_source(in, node, names, n_names, f);
    read_shape(in, node, names, n_names, f);
    (void)sn_read_meaning(in, node, &f->meaning);
    read_absence(in, node, f);
}
