/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/recipe.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "base/opts.h"
#include "recipe/reading.h"
#include "recipe/recipe_keys.h"
#include "text/time_zone.h"

/* The language is of version 1, and its first key says so. */
static void
read_version(sn_reading *in, const sn_yaml *root)
{
    const sn_yaml *v = sn_yaml_get(root, "seine");

    if (!v || root->first != v)
        sn_mistake(in, root->first ? root->first->key : root,
                   "a recipe begins with its version; try seine: 1");
    else if (v->kind != SN_YAML_SCALAR || !sn_str_eq(v->text, SN_STR("1")))
        sn_mistake(in, v, "the version of the language is 1; try seine: 1");
}

static void
read_name(sn_reading *in, const sn_yaml *root)
{
    const sn_yaml *v = sn_yaml_get(root, "name");
    sn_str name, about;

    in->r->name = "recipe";
    (void)sn_read_text(in, root, "about", &about);
    if (!v) {
        sn_mistake(in, root->first ? root->first->key : root,
                   "a recipe needs a name; try name: shop");
        return;
    }
    if (!sn_read_scalar(in, v, "name", &name))
        return;
    for (size_t i = 0; i < name.len; i++)
        if (!sn_is_alpha(name.ptr[i]) && !sn_is_digit(name.ptr[i]) &&
            !memchr("-_", name.ptr[i], 2)) {
            sn_mistake_in(in, v, i, "a name has letters, digits, - and _ only");
            return;
        }
    in->r->name = name.ptr;
}

/* Fields that are carried from one page are names on every other. */
static void
add_carried(sn_reading *in, const sn_yaml *page)
{
    const sn_yaml *follow = sn_yaml_get(page, "follow");
    const sn_yaml *v = follow && follow->kind == SN_YAML_LIST ? follow->first : follow;

    for (; v; v = follow->kind == SN_YAML_LIST ? v->next : NULL) {
        const char **names = sn_read_texts(in, sn_yaml_get(v, "carry"), "carry");
        for (size_t i = 0; names && names[i]; i++)
            sn_read_global(in, names[i], SN_EXPR_ANY);
    }
}

static void
add_names(sn_reading *in, const sn_yaml *root)
{
    const sn_yaml *pages = sn_yaml_get(root, "pages");
    unsigned wrong = in->count;

    sn_read_global(in, "url", SN_EXPR_TEXT);
    sn_read_global(in, "run_date", SN_EXPR_TEXT);
    sn_read_global(in, "n", SN_EXPR_NUMBER);
    sn_read_global(in, "page", SN_EXPR_NUMBER);
    add_carried(in, root);
    for (const sn_yaml *v = pages && pages->kind == SN_YAML_MAP ? pages->first : NULL; v;
         v = v->next)
        add_carried(in, v);
    if (in->count > wrong) { /* told again where it is read */
        in->count = wrong;
        in->wrong[wrong < SEINE_DIAG_MAX ? wrong : SEINE_DIAG_MAX - 1].text[0] = '\0';
    }
}

static void
read_pages(sn_reading *in, const sn_yaml *root)
{
    const sn_yaml *pages = sn_yaml_get(root, "pages");
    size_t n = 1;

    if (pages && pages->kind != SN_YAML_MAP) {
        sn_mistake(in, pages, "pages must be a map of names and pages");
        pages = NULL;
    }
    in->r->pages = SN_READ_ARRAY(in, sn_kind_of_page, pages ? pages->count + 1 : 1);
    if (!in->r->pages)
        return;
    in->r->pages[0].id = "";
    for (const sn_yaml *v = pages ? pages->first : NULL; v && n < SN_READING_NAMES;
         v = v->next) {
        const char *id = sn_read_id(in, v->key, "page");
        in->r->pages[n].id = id ? id : "?";
        in->kinds[n - 1] = in->r->pages[n].id;
        n++;
    }
    in->r->n_pages = n;
    sn_read_page(in, root, &in->r->pages[0]);
    n = 1;
    for (const sn_yaml *v = pages ? pages->first : NULL; v && n < in->r->n_pages;
         v = v->next, n++)
        if (sn_read_keys(in, v, "a page", SN_KEYS_PAGE))
            sn_read_page(in, v, &in->r->pages[n]);
}

static void
check_starts(sn_reading *in, const sn_yaml *start)
{
    bool is_list = start->kind == SN_YAML_LIST;

    for (const sn_yaml *v = is_list ? start->first : start; v;
         v = is_list ? v->next : NULL) {
        const sn_yaml *to = sn_yaml_get(v, "to");
        if (to && to->kind == SN_YAML_SCALAR && to->text.len > 0)
            sn_read_kind(in, to, to->text.ptr);
    }
}

static bool
has_items(const seine_recipe *r)
{
    for (size_t i = 0; i < r->n_pages; i++)
        if (r->pages[i].n_items > 0)
            return true;
    return false;
}

static void
read_all(sn_reading *in, const sn_yaml *root)
{
    static const struct {
        const char *key;
        void (*read)(sn_reading *in, const sn_yaml *node);
    } before[] = {{"vars", sn_read_vars},
                  {"start", sn_read_start},
                  {"request", sn_read_request},
                  {"options", sn_read_options}};
    const sn_yaml *expect = sn_yaml_get(root, "expect"),
                  *tests = sn_yaml_get(root, "tests");
    const sn_yaml *start = sn_yaml_get(root, "start");

    read_version(in, root);
    read_name(in, root);
    add_names(in, root);
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        if (sn_yaml_get(root, before[i].key))
            before[i].read(in, sn_yaml_get(root, before[i].key));
    read_pages(in, root);
    if (!in->r->pages)
        return;
    if (start)
        check_starts(in, start);
    if (!has_items(in->r) && in->count == 0)
        sn_mistake(in, root,
                   "a recipe needs items; try items: {each: SELECTOR, fields: {…}}");
    if (expect)
        sn_read_expect(in, expect);
    if (tests)
        sn_read_tests(in, tests);
}

/* Keeps the keys of the top level as JSON. */
static void
keep_parts(sn_reading *in, const sn_yaml *root)
{
    seine_recipe *r = in->r;

    r->parts = SN_READ_ARRAY(in, sn_part_text, root->count);
    for (const sn_yaml *v = root->first; v && !in->nomem; v = v->next) {
        seine_json *json = sn_yaml_json(v);
        seine_text text = {NULL, 0};
        char *copy = NULL;
        if (json && seine_json_print(json, &text) == SEINE_OK)
            copy = sn_arena_text(in->arena, (sn_str){text.bytes, text.len});
        in->nomem |= !copy;
        r->parts[r->n_parts++] = (sn_part_text){v->key->text.ptr, copy};
        seine_text_free(&text);
        seine_json_free(json);
    }
}

static seine_err
read_recipe(sn_reading *in, sn_str yaml)
{
    seine_diag fault = SEINE_DIAG;
    sn_yaml *root = NULL;

    if (!sn_yaml_read(yaml, in->arena, &root, &fault)) {
        if (fault.text[0] == '\0')
            return SEINE_E_NOMEM;
        in->wrong[0] = fault;
        sn_diag_place(&in->wrong[0], in->file, fault.line, fault.column);
        return SEINE_E_CONFIG;
    }
    sn_read_repeats(in, root);
    if (sn_read_keys(in, root, "the recipe", SN_KEYS_TOP)) {
        read_all(in, root);
        keep_parts(in, root);
    }
    return in->nomem ? SEINE_E_NOMEM : in->count > 0 ? SEINE_E_CONFIG : SEINE_OK;
}

seine_err
seine_recipe_parse(const char *yaml, size_t len, const seine_recipe_opts *opts,
                   seine_recipe **out_recipe, seine_diag *wrong)
{
    if (!out_recipe || !wrong || (!yaml && len > 0) || !sn_opts_fit(opts, sizeof *opts))
        return SEINE_E_INVAL;
    *out_recipe = NULL;
    for (size_t i = 0; i < SEINE_DIAG_MAX; i++)
        sn_diag_clear(&wrong[i]);
    seine_recipe *r = sn_zalloc(sizeof *r);
    sn_reading *in = sn_zalloc(sizeof *in);
    seine_err e = SEINE_E_NOMEM;
    if (r && in) {
        sn_arena_init(&r->arena, 16384, (size_t)64 << 20);
        r->zone = opts->zone;
        r->zone_arg = opts->arg;
        in->r = r;
        in->arena = &r->arena;
        in->file = opts->name;
        in->wrong = wrong;
        e = read_recipe(in, (sn_str){yaml ? yaml : "", len});
    }
    sn_free(in);
    if (e == SEINE_OK)
        *out_recipe = r;
    else if (r)
        seine_recipe_free(r);
    if (e == SEINE_E_NOMEM)
        sn_diag_clear(&wrong[0]);
    return e;
}

void
seine_recipe_free(seine_recipe *r)
{
    if (!r)
        return;
    for (sn_owned *o = r->owned; o; o = o->next)
        o->drop(o->thing);
    sn_arena_fini(&r->arena);
    sn_free(r);
}

const char *
seine_recipe_name(const seine_recipe *r)
{
    return r ? r->name : "";
}

const char *
seine_recipe_part(const seine_recipe *r, const char *key)
{
    for (size_t i = 0; r && key && i < r->n_parts; i++)
        if (strcmp(r->parts[i].key, key) == 0)
            return r->parts[i].json;
    return NULL;
}

const sn_kind_of_page *
sn_recipe_page(const seine_recipe *r, const char *kind)
{
    for (size_t i = 0; i < r->n_pages; i++)
        if (strcmp(r->pages[i].id, kind ? kind : "") == 0)
            return &r->pages[i];
    return NULL;
}

/* UTC, Z, +01:00. */
static bool
read_offset(sn_str zone, int64_t *out_offset)
{
    uint64_t hours, minutes;

    *out_offset = 0;
    if (sn_str_eq(zone, SN_STR("UTC")) || sn_str_eq(zone, SN_STR("Z")))
        return true;
    if (zone.len != 6 || !strchr("+-", zone.ptr[0]) || zone.ptr[3] != ':' ||
        sn_str_u64(sn_str_slice(zone, 1, 3), &hours) != SEINE_OK || hours > 23 ||
        sn_str_u64(sn_str_slice(zone, 4, 6), &minutes) != SEINE_OK || minutes > 59)
        return false;
    *out_offset = (int64_t)(hours * 3600 + minutes * 60) * (zone.ptr[0] == '-' ? -1 : 1);
    return true;
}

bool
sn_recipe_zone(const seine_recipe *r, sn_str name, int64_t local, int64_t *out_offset)
{
    char copy[64];
    seine_view bytes;
    sn_time_zone z;

    if (read_offset(name, out_offset))
        return true;
    if (!r->zone || name.len == 0 || name.len >= sizeof copy)
        return false;
    memcpy(copy, name.ptr, name.len);
    copy[name.len] = '\0';
    if (!r->zone(copy, &bytes, r->zone_arg) || !sn_time_zone_read(&z, bytes))
        return false;
    *out_offset = sn_time_zone_offset(&z, local);
    return true;
}

/* The i-th kind of items, over all kinds of pages; each is counted once. */
static const sn_items *
items_at(const seine_recipe *r, size_t i)
{
    for (size_t p = 0; p < r->n_pages; p++)
        for (size_t k = 0; k < r->pages[p].n_items; k++)
            if (i-- == 0)
                return &r->pages[p].items[k];
    return NULL;
}

const char *
seine_recipe_kind(const seine_recipe *r, size_t i)
{
    const sn_items *it = r ? items_at(r, i) : NULL;

    return it ? it->kind : NULL;
}

const char *
seine_recipe_field(const seine_recipe *r, const char *kind, size_t i,
                   const char **out_type)
{
    const sn_items *it = NULL;

    for (size_t k = 0; r && kind && (it = items_at(r, k)); k++)
        if (strcmp(it->kind, kind) == 0)
            break;
    if (!it || i >= it->n_fields + it->n_derive)
        return NULL;
    bool is_field = i < it->n_fields;
    const sn_derive *d = is_field ? NULL : &it->derive[i - it->n_fields];
    if (out_type)
        *out_type = is_field      ? sn_type_names[it->fields[i].meaning.type]
                    : d->has_type ? sn_type_names[d->meaning.type]
                                  : "";
    return is_field ? it->fields[i].name : d->name;
}
