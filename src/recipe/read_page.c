/* SPDX-License-Identifier: Apache-2.0 */
/* PAGE: which URLs are of this kind, how it goes on, where it leads. */
#include <string.h>

#include "recipe/near_word.h"
#include "recipe/reading.h"
#include "recipe/recipe_keys.h"

/* The way to the next page; a key of the map names it. */
static const struct {
    const char *key;
    sn_next_how how;
    const char *keys;
} ways[] = {
#define X(id, key, keys) {key, SN_NEXT_##id, keys},
    SN_KEYS_NEXT(X)
#undef X
};

enum { WAYS = sizeof ways / sizeof *ways };

static int
find_way(sn_reading *in, const sn_yaml *map)
{
    int found = -1;

    for (int i = 0; i < WAYS; i++) {
        const sn_yaml *v = sn_yaml_get(map, ways[i].key);
        if (v && found >= 0) {
            sn_mistake(in, v->key, "next goes one way, and this is a second beside %s",
                       ways[found].key);
            return -1;
        }
        if (v)
            found = i;
    }
    if (found < 0)
        sn_mistake(in, map,
                   "next needs a way; try one of: css json header page offset cursor");
    return found;
}

/* A page of HTML for certain: its format, its next page or all of its rows say so. */
static bool
is_html(const sn_kind_of_page *page)
{
    size_t rows = 0;

    if (page->format)
        return page->format == 'h';
    for (size_t i = 0; i < page->n_items; i++)
        rows += page->items[i].how == SN_EACH_CSS || page->items[i].how == SN_EACH_TABLE;
    return page->next.how == SN_NEXT_CSS || (rows > 0 && rows == page->n_items);
}

static bool
is_global(const sn_reading *in, sn_str name)
{
    for (size_t i = 0; i < in->n_globals; i++)
        if (sn_str_eq(sn_str_of(in->globals[i].name), name))
            return true;
    return false;
}

static const char *const ends[] = {SN_WORDS_UNTIL, NULL};

/* `empty` and `no-new`; a word that is nearly one of them is a slip and no member of the
 * page. False: it is an expression. */
static bool
read_until_word(sn_reading *in, const sn_yaml *node, sn_next *next)
{
    if (node->kind != SN_YAML_SCALAR)
        return false;
    if (sn_str_eq(node->text, SN_STR("empty"))) {
        next->until = SN_UNTIL_EMPTY;
        return true;
    }
    if (sn_yaml_is_key(node->text, "no-new")) {
        next->until = SN_UNTIL_NO_NEW;
        return true;
    }
    if (is_global(in, node->text) || !sn_near_word(node->text, ends))
        return false;
    sn_mistake_word(in, node, "until", ends);
    return true;
}

/* Names in `until`: the global ones and what is known of the page. Pages of JSON have
 * members, which nobody knows yet. */
static void
read_until(sn_reading *in, const sn_yaml *node, const sn_kind_of_page *page,
           sn_next *next)
{
    sn_expr_name names[SN_READING_NAMES + 4];
    size_t n = in->n_globals;

    if (read_until_word(in, node, next))
        return;
    memcpy(names, in->globals, n * sizeof *names);
    names[n++] = (sn_expr_name){"items", SN_EXPR_NUMBER};
    names[n++] = (sn_expr_name){"new", SN_EXPR_NUMBER};
    names[n++] = (sn_expr_name){"status", SN_EXPR_NUMBER};
    if (sn_read_formula(in, node, names, n, !is_html(page), &next->condition))
        next->until = SN_UNTIL_EXPR;
}

static void
read_way(sn_reading *in, const sn_yaml *map, sn_next *next)
{
    const char *key = ways[next->how - SN_NEXT_CSS].key;
    const sn_yaml *v = sn_yaml_get(map, key);

    if (!sn_read_scalar(in, v, key, &next->from))
        return;
    switch (next->how) {
    case SN_NEXT_CSS:
        next->attr = SN_STR("href");
        (void)sn_read_text(in, map, "attr", &next->attr);
        next->select = sn_read_select(in, v, next->from);
        break;
    case SN_NEXT_JSON:
    case SN_NEXT_CURSOR:
        sn_read_pointer(in, v, next->from);
        break;
    case SN_NEXT_HEADER:
        if (!sn_str_eq_nocase(next->from, SN_STR("link")))
            sn_mistake(in, v,
                       "the header with the next page is called link; try header: link");
        break;
    default:
        break;
    }
    if (next->how == SN_NEXT_CURSOR && !sn_read_text(in, map, "param", &next->param))
        sn_mistake(in, map,
                   "cursor needs the parameter that it goes into; try param: cursor");
}

static void
read_next(sn_reading *in, const sn_yaml *map, sn_kind_of_page *page)
{
    sn_next *next = &page->next;
    const sn_yaml *until = sn_yaml_get(map, "until");
    int64_t max = 10000;

    if (map->kind != SN_YAML_MAP) {
        sn_mistake(in, map, "next must be a map; try next: {css: a.next}");
        return;
    }
    int way = find_way(in, map);
    if (way < 0 || !sn_read_keys(in, map, "next", ways[way].keys))
        return;
    next->how = ways[way].how;
    next->first = 1;
    next->step = 1;
    next->until = next->how == SN_NEXT_PAGE || next->how == SN_NEXT_OFFSET
                      ? SN_UNTIL_EMPTY
                      : SN_UNTIL_NEVER;
    read_way(in, map, next);
    (void)sn_read_int(in, map, "first", INT32_MIN, INT32_MAX, &next->first);
    if (next->how == SN_NEXT_OFFSET && !sn_yaml_get(map, "step"))
        sn_mistake(in, map, "offset needs the rows of a page; try step: 100");
    if (sn_read_int(in, map, "step", INT32_MIN, INT32_MAX, &next->step) &&
        next->step == 0)
        sn_mistake(in, sn_yaml_get(map, "step"), "a step of 0 goes nowhere");
    (void)sn_read_int(in, map, "max", 1, 10000000, &max);
    next->max = (uint32_t)max;
    if (until)
        read_until(in, until, page, next);
}

void
sn_read_kind(sn_reading *in, const sn_yaml *at, const char *id)
{
    for (size_t i = 0; in->kinds[i]; i++)
        if (strcmp(in->kinds[i], id) == 0)
            return;
    const char *near = sn_near_word(sn_str_of(id), in->kinds);
    sn_mistake(in, at, "there is no page '%.40s' under pages%s%s", id,
               near ? "; try " : "", near ? near : "");
}

/* Fields that any of the items has. */
static bool
has_field(const sn_kind_of_page *page, const char *name)
{
    for (size_t i = 0; i < page->n_items; i++) {
        const sn_items *it = &page->items[i];
        for (size_t k = 0; k < it->n_fields; k++)
            if (it->fields[k].name && strcmp(it->fields[k].name, name) == 0)
                return true;
        for (size_t k = 0; k < it->n_derive; k++)
            if (it->derive[k].name && strcmp(it->derive[k].name, name) == 0)
                return true;
    }
    return false;
}

static void
read_carry(sn_reading *in, const sn_yaml *node, const sn_kind_of_page *page, sn_follow *f)
{
    f->carry = sn_read_texts(in, node, "carry");
    const sn_yaml *v = node->kind == SN_YAML_LIST ? node->first : node;
    for (; v; v = node->kind == SN_YAML_LIST ? v->next : NULL)
        if (v->kind == SN_YAML_SCALAR && !in->no_fields && !has_field(page, v->text.ptr))
            sn_mistake(in, v, "carry names no field of this page: '%.40s'", v->text.ptr);
    if (!f->carry)
        sn_mistake(in, node, "carry must be a list of fields");
}

static void
read_follow_one(sn_reading *in, const sn_yaml *map, const sn_kind_of_page *page,
                sn_follow *f)
{
    const sn_yaml *css = sn_yaml_get(map, "css"), *json = sn_yaml_get(map, "json");
    const sn_yaml *to = sn_yaml_get(map, "to"), *carry = sn_yaml_get(map, "carry");
    int64_t limit = 0;
    sn_str text;

    if (!sn_read_keys(in, map, "follow", SN_KEYS_FOLLOW))
        return;
    f->attr = SN_STR("href");
    (void)sn_read_text(in, map, "attr", &f->attr);
    if ((css != NULL) == (json != NULL))
        sn_mistake(in, map, "follow needs css or json, one of them");
    else if (css && sn_read_scalar(in, css, "css", &f->from))
        f->select = sn_read_select(in, css, f->from);
    else if (json && sn_read_scalar(in, json, "json", &f->from))
        sn_read_pointer(in, json, f->from);
    if (to && sn_read_scalar(in, to, "to", &text)) {
        f->to = text.ptr;
        sn_read_kind(in, to, text.ptr);
    }
    if (carry)
        read_carry(in, carry, page, f);
    (void)sn_read_int(in, map, "limit", 1, 1000000, &limit);
    f->limit = (uint32_t)limit;
}

static void
read_follow(sn_reading *in, const sn_yaml *node, sn_kind_of_page *page)
{
    bool is_list = node->kind == SN_YAML_LIST;

    page->follow = SN_READ_ARRAY(in, sn_follow, is_list ? node->count : 1);
    for (const sn_yaml *v = is_list ? node->first : node; v && page->follow;
         v = is_list ? v->next : NULL)
        read_follow_one(in, v, page, &page->follow[page->n_follow++]);
}

void
sn_read_page(sn_reading *in, const sn_yaml *map, sn_kind_of_page *page)
{
    static const char *const formats[] = {SN_WORDS_FORMAT, NULL};
    const sn_yaml *match = sn_yaml_get(map, "match"), *items = sn_yaml_get(map, "items");
    const sn_yaml *next = sn_yaml_get(map, "next"), *follow = sn_yaml_get(map, "follow");
    unsigned format = 0;

    if (match)
        page->match = sn_read_pattern(in, match);
    if (sn_read_choice(in, map, "format", formats, &format))
        page->format = format == 0 ? 'h' : 'j';
    if (items)
        sn_read_items(in, items, page);
    if (next)
        read_next(in, next, page);
    if (follow)
        read_follow(in, follow, page);
    bool is_unique = false;
    for (size_t i = 0; i < page->n_items; i++)
        is_unique |= page->items[i].unique != NULL;
    if (page->next.until == SN_UNTIL_NO_NEW && !is_unique)
        sn_mistake(in, sn_yaml_get(next, "until"),
                   "no-new needs to know when two rows are the "
                   "same; try unique in items");
}
