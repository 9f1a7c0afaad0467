/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a page and applies a recipe to it. */
#include "recipe/apply.h"

#include <string.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "seine/charset.h"
#include "seine/mime.h"

enum { ROW_CHUNK = 16384 };

static bool
is_json_type(const char *content_type, seine_mime *m)
{
    seine_view essence;

    if (!content_type ||
        seine_mime_parse(m, content_type, strlen(content_type)) != SEINE_OK)
        return false;
    essence = seine_mime_essence(m);
    return sn_str_ends(essence, SN_STR("/json")) || sn_str_ends(essence, SN_STR("+json"));
}

static seine_err
open_html(sn_apply *a, const seine_mime *m)
{
    seine_tree_opts opts = SEINE_TREE_OPTS;
    seine_view label = seine_mime_charset(m);
    seine_charset_choice c;

    seine_charset_decide(a->page->body, a->page->len, label.ptr, label.len, &c);
    seine_err e = seine_charset_decode(c.charset, a->page->body + c.bom,
                                       a->page->len - c.bom, &a->html, NULL);
    if (e == SEINE_OK)
        e = seine_links_new(NULL, &a->links);
    if (e == SEINE_OK)
        e = seine_tree_new(&a->tree);
    opts.links = a->links;
    if (e == SEINE_OK)
        e = seine_tree_parse(a->tree, a->html.bytes, a->html.len, &opts);
    if (e == SEINE_OK)
        e = seine_finder_new(a->tree, &a->finder);
    return e;
}

static seine_err
open_body(sn_apply *a)
{
    char mem[SEINE_MIME_ROOM];
    seine_mime m;

    seine_mime_init(&m, mem, sizeof mem);
    bool is_json = is_json_type(a->page->content_type, &m);
    if (a->kind->format ? a->kind->format == 'j' : is_json)
        return seine_json_parse(a->page->body, a->page->len, &a->json, NULL);
    return open_html(a, &m);
}

/* Links start at the page, or at its <base>. */
static seine_err
open_url(sn_apply *a)
{
    seine_url_init(&a->url, a->url_mem, sizeof a->url_mem);
    seine_url_init(&a->base, a->base_mem, sizeof a->base_mem);
    if (a->page->url && seine_url_parse(&a->url, a->page->url, strlen(a->page->url),
                                        NULL) == SEINE_E_NOMEM)
        return SEINE_E_NOMEM;
    if (!a->links)
        return seine_url_href(&a->url).len > 0 ? seine_url_copy(&a->base, &a->url)
                                               : SEINE_OK;
    return seine_links_base_url(a->links, &a->url, &a->base);
}

static seine_err
open_names(sn_apply *a)
{
    const seine_page *p = a->page;
    seine_text vars = {NULL, 0};
    seine_err e = seine_recipe_vars(a->r, p->vars, &vars, NULL);

    if (e == SEINE_OK)
        e = seine_json_parse(vars.bytes, vars.len, &a->vars, NULL);
    seine_text_free(&vars);
    if (e == SEINE_OK)
        e = sn_expr_runner_new(&a->names.runner);
    a->names.recipe = a->r;
    a->names.arena = &a->arena;
    a->names.vars = a->vars;
    a->names.url = sn_str_of(p->url);
    a->names.run_date = p->run_date ? sn_str_of(p->run_date) : (sn_str){NULL, 0};
    a->names.page = p->number > 0 ? p->number : 1;
    a->names.status = p->status;
    return e;
}

bool
sn_apply_open(sn_apply *a, const seine_recipe *r, const seine_page *page)
{
    a->r = r;
    a->page = page;
    a->kind = sn_recipe_page(r, page->kind);
    a->line = 1;
    sn_arena_init(&a->arena, ROW_CHUNK, SN_RECIPE_ROW_BYTES);
    sn_arena_init(&a->keys, ROW_CHUNK, (size_t)64 << 20);
    sn_map_init(&a->seen, SN_RECIPE_ROWS + 1);
    if (!a->kind) {
        a->err = SEINE_E_UNKNOWN;
        return false;
    }
    a->err = sn_matcher_init(&a->matcher);
    if (a->err == SEINE_OK)
        a->err = open_names(a);
    if (a->err == SEINE_OK)
        a->err = open_body(a);
    if (a->err == SEINE_OK)
        a->err = open_url(a);
    if (a->err == SEINE_OK && a->kind->n_follow > 0) {
        a->followed = sn_calloc(a->kind->n_follow, sizeof *a->followed);
        a->err = a->followed ? SEINE_OK : SEINE_E_NOMEM;
    }
    return a->err == SEINE_OK;
}

void
sn_apply_close(sn_apply *a)
{
    sn_free(a->followed);
    sn_map_fini(&a->seen);
    sn_arena_fini(&a->keys);
    sn_arena_fini(&a->arena);
    if (a->matcher.block || a->matcher.context)
        sn_matcher_fini(&a->matcher);
    sn_expr_runner_free(a->names.runner);
    seine_json_free(a->vars);
    seine_json_free(a->jsonld);
    seine_json_free(a->json);
    seine_finder_free(a->finder);
    seine_tree_free(a->tree);
    seine_links_free(a->links);
    seine_text_free(&a->html);
}

seine_err
sn_apply_bind(sn_apply *a, const seine_recipe *r)
{
    seine_finder *finder = NULL;
    seine_err e = a->tree ? seine_finder_new(a->tree, &finder) : SEINE_OK;

    if (e != SEINE_OK)
        return e;
    seine_finder_free(a->finder);
    a->finder = finder;
    a->r = r;
    a->kind = sn_recipe_page(r, NULL);
    a->names.recipe = r;
    return SEINE_OK;
}

static void
apply_page(sn_apply *a)
{
    for (size_t i = 0; i < a->kind->n_items && a->err == SEINE_OK && !a->stopped; i++)
        sn_apply_items(a, &a->kind->items[i]);
    if (a->err == SEINE_OK && !a->stopped)
        sn_apply_follow_page(a);
    if (a->err == SEINE_OK && !a->stopped)
        sn_apply_next(a);
}

seine_err
sn_apply_again(sn_apply *a, const seine_recipe *r)
{
    seine_err e = sn_apply_bind(a, r);

    sn_map_reset(&a->seen);
    a->rows = a->fresh = 0;
    a->stopped = false;
    a->err = SEINE_OK;
    if (e == SEINE_OK)
        apply_page(a);
    return a->names.nomem ? SEINE_E_NOMEM : e;
}

seine_err
seine_recipe_apply(const seine_recipe *r, const seine_page *page,
                   bool (*fn)(const seine_row *row, void *arg), void *arg,
                   seine_applied *out_applied)
{
    if (!r || !fn || !out_applied || !sn_opts_fit(page, sizeof *page) ||
        (!page->body && page->len > 0))
        return SEINE_E_INVAL;
    *out_applied = (seine_applied){0};
    sn_apply *a = sn_zalloc(sizeof *a);
    if (!a)
        return SEINE_E_NOMEM;
    a->fn = fn;
    a->arg = arg;
    a->out = out_applied;
    if (sn_apply_open(a, r, page))
        apply_page(a);
    seine_err e = a->names.nomem ? SEINE_E_NOMEM : a->err;
    sn_apply_close(a);
    sn_free(a);
    out_applied->err = e;
    return e == SEINE_E_NOMEM ? e : SEINE_OK;
}
