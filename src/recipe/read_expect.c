/* SPDX-License-Identifier: Apache-2.0 */
/* expect and tests: what must be true of a run, and of pages that are kept. The program
 * reads both as JSON; here their form is checked. */
#include <string.h>

#include "recipe/near_word.h"
#include "recipe/reading.h"
#include "recipe/recipe_keys.h"

/* The names of the fields of all items, ended by NULL. */
typedef struct all_fields {
    const char *names[2 * SN_RECIPE_FIELDS + 2];
    size_t count;
} all_fields;

static void
add_field(all_fields *all, const char *name)
{
    if (name && all->count < 2 * SN_RECIPE_FIELDS)
        all->names[all->count++] = name;
}

static void
list_fields(const sn_reading *in, all_fields *all)
{
    for (size_t p = 0; p < in->r->n_pages; p++)
        for (size_t i = 0; i < in->r->pages[p].n_items; i++) {
            const sn_items *it = &in->r->pages[p].items[i];
            for (size_t k = 0; k < it->n_fields; k++)
                add_field(all, it->fields[k].name);
            for (size_t k = 0; k < it->n_derive; k++)
                add_field(all, it->derive[k].name);
        }
}

/* Tells that a key is no field of any items. */
static void
check_field(sn_reading *in, const sn_yaml *key, const char *what)
{
    all_fields all = {{NULL}, 0};

    if (in->no_fields)
        return;
    list_fields(in, &all);
    for (size_t i = 0; i < all.count; i++)
        if (sn_str_eq(sn_str_of(all.names[i]), key->text))
            return;
    const char *near = sn_near_word(key->text, all.names);
    sn_mistake(in, key, "%s names no field: '%.40s'%s%s", what, key->text.ptr,
               near ? "; try " : "", near ? near : "");
}

/* "95%" or 95. */
static bool
is_share(sn_str s)
{
    uint64_t n;

    if (sn_str_ends(s, SN_STR("%")))
        s.len--;
    return sn_str_u64(s, &n) == SEINE_OK && n <= 100;
}

/* ">= 20", "<= 2%", "31". */
static bool
is_comparison(sn_str s)
{
    static const char *const signs[] = {">=", "<=", "!=", ">", "<", "="};
    int64_t n;

    for (size_t i = 0; i < 6; i++)
        if (sn_str_starts(s, sn_str_of(signs[i]))) {
            s = sn_str_slice(s, strlen(signs[i]), s.len);
            break;
        }
    s = sn_str_trim(s);
    if (sn_str_ends(s, SN_STR("%")))
        s.len--;
    return sn_str_i64(s, &n) == SEINE_OK && n >= 0;
}

static void
check_comparison(sn_reading *in, const sn_yaml *map, const char *key)
{
    sn_str text;

    if (sn_read_text(in, map, key, &text) && !is_comparison(text))
        sn_mistake(in, sn_yaml_get(map, key), "%s '%.*s' is no comparison; try \">= 20\"",
                   key, text.len < 40 ? (int)text.len : 40, text.ptr);
}

static void
check_coverage(sn_reading *in, const sn_yaml *map)
{
    if (map->kind != SN_YAML_MAP) {
        sn_mistake(in, map, "coverage must be a map; try coverage: {name: 95%%}");
        return;
    }
    for (const sn_yaml *v = map->first; v; v = v->next) {
        check_field(in, v->key, "coverage");
        if (v->kind != SN_YAML_SCALAR || !is_share(v->text))
            sn_mistake(in, v, "a coverage is a share; try 95%%");
    }
}

/* What a condition on every row names must be a field. */
typedef struct named_fields {
    const all_fields *all;
    sn_str unknown; /* ptr NULL: none */
} named_fields;

static void
on_name(void *arg, unsigned index, sn_str rest)
{
    named_fields *n = arg;
    sn_str root, tail;

    if (index != SN_EXPR_OPEN)
        return;
    sn_str_cut(rest, '.', &root, &tail);
    for (size_t i = 0; i < n->all->count; i++)
        if (sn_str_eq(sn_str_of(n->all->names[i]), root))
            return;
    n->unknown = root;
}

static void
check_names(sn_reading *in, const sn_yaml *node, const sn_formula *f)
{
    all_fields all = {{NULL}, 0};
    named_fields n = {&all, {NULL, 0}};

    list_fields(in, &all);
    sn_expr_uses(f->x, on_name, &n);
    if (!n.unknown.ptr || in->no_fields)
        return;
    const char *near = sn_near_word(n.unknown, all.names);
    sn_mistake(in, node, "where names no field: '%.*s'%s%s",
               n.unknown.len < 40 ? (int)n.unknown.len : 40, n.unknown.ptr,
               near ? "; try " : "", near ? near : "");
}

static void
read_where(sn_reading *in, const sn_yaml *node)
{
    bool is_list = node->kind == SN_YAML_LIST;
    seine_recipe *r = in->r;

    r->expected = SN_READ_ARRAY(in, sn_formula, is_list ? node->count : 1);
    for (const sn_yaml *v = is_list ? node->first : node; v && r->expected;
         v = is_list ? v->next : NULL)
        if (sn_read_formula(in, v, in->globals, in->n_globals, true,
                            &r->expected[r->n_expected]))
            check_names(in, v, &r->expected[r->n_expected++]);
}

void
sn_read_expect(sn_reading *in, const sn_yaml *map)
{
    const sn_yaml *coverage = sn_yaml_get(map, "coverage"),
                  *where = sn_yaml_get(map, "where");
    bool unique;
    sn_str drift;

    if (!sn_read_keys(in, map, "expect", SN_KEYS_EXPECT))
        return;
    check_comparison(in, map, "items");
    check_comparison(in, map, "per-page");
    check_comparison(in, map, "bad-rows");
    if (coverage)
        check_coverage(in, coverage);
    if (sn_read_text(in, map, "drift", &drift) && !is_share(drift))
        sn_mistake(in, sn_yaml_get(map, "drift"), "drift is a share; try 10%%");
    (void)sn_read_bool(in, map, "unique", &unique);
    if (where)
        read_where(in, where);
}

/* A part of a row that a test expects. */
static void
check_row(sn_reading *in, const sn_yaml *row, const char *what, const char *key)
{
    if (row->kind != SN_YAML_MAP)
        sn_mistake(in, row, "%s must be a map of fields and values", what);
    for (const sn_yaml *v = row->kind == SN_YAML_MAP ? row->first : NULL; v; v = v->next)
        check_field(in, v->key, key);
}

static void
check_test_expect(sn_reading *in, const sn_yaml *map)
{
    int64_t n;

    if (!sn_read_keys(in, map, "expect of a test", SN_KEYS_TEST_EXPECT))
        return;
    (void)sn_read_int(in, map, "items", 0, 1000000, &n);
    (void)sn_read_int(in, map, "bad", 0, 1000000, &n);
    (void)sn_read_int(in, map, "links", 0, 1000000, &n);
    const sn_yaml *contains = sn_yaml_get(map, "contains");
    if (contains && contains->kind != SN_YAML_LIST)
        sn_mistake(in, contains, "contains must be a list of rows; try [{name: a}]");
    else
        for (const sn_yaml *row = contains ? contains->first : NULL; row; row = row->next)
            check_row(in, row, "a row of contains", "contains");
    static const char *const rows[] = {"first", "last"};
    for (unsigned i = 0; i < 2; i++) {
        const sn_yaml *row = sn_yaml_get(map, rows[i]);
        if (row)
            check_row(in, row, rows[i], rows[i]);
    }
}

static void
check_test(sn_reading *in, const sn_yaml *map)
{
    const sn_yaml *expect = sn_yaml_get(map, "expect"), *vars = sn_yaml_get(map, "vars");
    const sn_yaml *kind = sn_yaml_get(map, "kind");
    sn_str text;

    if (!sn_read_keys(in, map, "a test", SN_KEYS_TEST))
        return;
    if (!sn_yaml_get(map, "page"))
        sn_mistake(in, map, "a test needs page: the path of a saved page");
    (void)sn_read_text(in, map, "page", &text);
    (void)sn_read_text(in, map, "url", &text);
    (void)sn_read_text(in, map, "golden", &text);
    if (kind && sn_read_scalar(in, kind, "kind", &text) && text.len > 0)
        sn_read_kind(in, kind, text.ptr);
    if (vars && vars->kind != SN_YAML_MAP)
        sn_mistake(in, vars, "vars of a test must be a map; try {month: 2024-11}");
    if (expect)
        check_test_expect(in, expect);
    else if (!sn_yaml_get(map, "golden"))
        sn_mistake(in, map, "a test needs expect or golden");
}

void
sn_read_tests(sn_reading *in, const sn_yaml *tests)
{
    if (tests->kind != SN_YAML_LIST) {
        sn_mistake(in, tests,
                   "tests must be a list; try - {page: pages/1.html, expect: …}");
        return;
    }
    for (const sn_yaml *v = tests->first; v; v = v->next)
        check_test(in, v);
}
