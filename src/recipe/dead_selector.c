/* SPDX-License-Identifier: Apache-2.0 */
/* Which selectors of a recipe find nothing on a page? */
#include <string.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "recipe/apply.h"
#include "recipe/near_select.h"

typedef struct telling {
    sn_apply *a;
    void (*fn)(const seine_dead_selector *dead, void *arg);
    void *arg;
} telling;

static bool
finds(sn_apply *a, const seine_select *s, seine_node scope)
{
    seine_node n = scope;

    return seine_finder_next(a->finder, s, scope, &n) == SEINE_OK && n != 0;
}

static void
tell(telling *t, const char *field, sn_str selector, seine_node scope)
{
    char near[SN_NEAR_SELECT_ROOM];
    seine_dead_selector dead = {.field = field};

    char *copy = sn_arena_text(&t->a->keys, selector);
    dead.selector = copy ? copy : "";
    if (sn_near_select(t->a->tree, t->a->finder, selector, scope, near, &dead.count))
        dead.nearest = near;
    t->fn(&dead, t->arg);
}

/* A selector of a field is dead if no row has what it finds; the first row shows the
 * nearest. */
static void
tell_field(telling *t, const sn_items *items, const sn_field *f)
{
    seine_node row = 0, first = 0;

    if (!f->select || items->how == SN_EACH_JSON || items->how == SN_EACH_JSONLD)
        return;
    if (items->how == SN_EACH_PAGE || items->how == SN_EACH_TABLE) {
        if (!finds(t->a, f->select, 0))
            tell(t, f->name, f->from, 0);
        return;
    }
    while (seine_finder_next(t->a->finder, items->select, 0, &row) == SEINE_OK &&
           row != 0) {
        if (finds(t->a, f->select, row))
            return;
        first = first ? first : row;
    }
    if (first)
        tell(t, f->name, f->from, first);
}

static void
tell_items(telling *t, const sn_items *items)
{
    if (items->select && !finds(t->a, items->select, 0)) {
        tell(t, "", items->each, 0);
        return;
    }
    for (size_t i = 0; i < items->n_fields; i++)
        tell_field(t, items, &items->fields[i]);
}

seine_err
seine_recipe_dead(const seine_recipe *r, const seine_page *page,
                  void (*fn)(const seine_dead_selector *dead, void *arg), void *arg)
{
    if (!r || !fn || !sn_opts_fit(page, sizeof *page) || (!page->body && page->len > 0))
        return SEINE_E_INVAL;
    sn_apply *a = sn_zalloc(sizeof *a);
    if (!a)
        return SEINE_E_NOMEM;
    telling t = {a, fn, arg};
    if (sn_apply_open(a, r, page) && a->tree)
        for (size_t i = 0; i < a->kind->n_items; i++)
            tell_items(&t, &a->kind->items[i]);
    seine_err e = a->err == SEINE_E_NOMEM ? SEINE_E_NOMEM : SEINE_OK;
    sn_apply_close(a);
    sn_free(a);
    return e;
}
