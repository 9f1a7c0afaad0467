/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/draft.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/opts.h"
#include "recipe/draft_try.h"

enum { YAML_BYTES = 1 << 18, ROUNDS = 8 };

void *
sn_draft_no_memory(sn_draft *d)
{
    if (d->err == SEINE_OK)
        d->err = d->arena.held > SN_DRAFT_BYTES / 2 ? SEINE_E_BUDGET : SEINE_E_NOMEM;
    return NULL;
}

char *
sn_draft_text(sn_draft *d, sn_str s)
{
    char *copy = sn_arena_text(&d->arena, s);

    return copy ? copy : sn_draft_no_memory(d);
}

char *
sn_draft_printf(sn_draft *d, const char *fmt, ...)
{
    char text[SN_DRAFT_TEXT + 64];
    va_list args;

    va_start(args, fmt);
    int n = vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    if (n < 0 || (size_t)n >= sizeof text)
        return NULL;
    return sn_draft_text(d, (sn_str){text, (size_t)n});
}

const char *
sn_draft_take(sn_draft *d, sn_buf *b)
{
    seine_err e = sn_buf_done(b);
    const char *text = e == SEINE_OK ? sn_draft_text(d, sn_buf_view(b)) : NULL;

    if (e == SEINE_E_NOMEM)
        sn_draft_no_memory(d);
    sn_buf_fini(b);
    return text;
}

/* Applies a recipe to the page that is open, and puts the first recipe back. */
static seine_err
apply(sn_draft *d, const seine_recipe *r, sn_draft_row_fn fn, void *arg,
      void (*on_lead)(const seine_lead *lead, void *arg))
{
    sn_apply *a = d->page;
    const seine_recipe *first = a->r;
    const seine_page *page = a->page;
    seine_page heard = *page;
    seine_applied got = {0};

    heard.on_lead = on_lead;
    a->page = &heard;
    a->fn = fn;
    a->arg = arg;
    a->out = &got;
    seine_err e = sn_apply_again(a, r);
    if (e == SEINE_OK)
        e = a->err;
    a->page = page;
    a->out = NULL;
    seine_err back = sn_apply_bind(a, first);
    return e != SEINE_OK ? e : back;
}

bool
sn_draft_try(sn_draft *d, const sn_draft_test *test, sn_draft_row_fn fn, void *arg,
             void (*on_lead)(const seine_lead *lead, void *arg))
{
    static const sn_draft_test plain = {.name = "draft", .url = "https://a.example/"};
    seine_recipe *r = NULL;
    seine_recipe_opts o = SEINE_RECIPE_OPTS;
    seine_diag wrong[SEINE_DIAG_MAX];
    sn_buf b;

    sn_buf_init(&b, YAML_BYTES);
    sn_draft_print(d, test ? test : &plain, &b);
    seine_err e = sn_buf_done(&b);
    if (e == SEINE_OK)
        e = seine_recipe_parse(b.ptr, b.len, &o, &r, wrong);
    if (e == SEINE_OK)
        e = apply(d, r, fn, arg, on_lead);
    seine_recipe_free(r);
    sn_buf_fini(&b);
    if (d->err == SEINE_OK)
        d->err = e;
    return d->err == SEINE_OK;
}

/* The last look: rows, errors and where the page leads. */
typedef struct proof {
    sn_draft *d;
    size_t good, bad, errors;
    char *next;
} proof;

static bool
put_string_back(const seine_json *error, sn_draft_list *list)
{
    const char *name;
    size_t n;

    if (!seine_json_string(seine_json_get(error, "field"), &name, &n))
        return false;
    for (size_t i = 0; i < list->n_fields; i++)
        if (strcmp(list->fields[i].name, name) == 0 && !list->fields[i].dropped) {
            list->fields[i].type = SN_TYPE_STRING;
            list->fields[i].required = false;
        }
    list->unique = NULL;
    return true;
}

static void
mend(proof *p, const seine_row *row)
{
    seine_json *errors = NULL;
    const seine_json *one;

    p->errors++;
    if (seine_json_parse(row->errors, strlen(row->errors), &errors, NULL) != SEINE_OK)
        return;
    for (size_t i = 0; i < p->d->n_lists; i++)
        for (size_t k = 0; strcmp(p->d->lists[i]->kind, row->kind) == 0 &&
                           (one = seine_json_at(errors, k));
             k++)
            (void)put_string_back(one, p->d->lists[i]);
    seine_json_free(errors);
}

static bool
on_proof(const seine_row *row, void *arg)
{
    proof *p = arg;

    p->good += row->ok;
    p->bad += !row->ok;
    if (!row->ok || strcmp(row->errors, "[]") != 0)
        mend(p, row);
    return true;
}

static void
on_proof_lead(const seine_lead *lead, void *arg)
{
    proof *p = arg;

    if (lead->is_next && !p->next)
        p->next = sn_draft_text(p->d, sn_str_of(lead->url));
}

/* Reads the page with the whole recipe until no row has an error. */
static bool
prove(sn_draft *d, sn_draft_test *test)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        proof p = {.d = d};
        if (!sn_draft_try(d, test, on_proof, &p, on_proof_lead))
            return false;
        test->items = p.good;
        test->next = p.next;
        if (d->next && !p.next)
            d->next = NULL; /* the link does not lead on */
        else if (p.errors == 0)
            return p.good > 0;
    }
    return false;
}

static void
find(sn_draft *d)
{
    sn_path *groups[SN_DRAFT_LISTS];

    if (d->page->json) {
        sn_draft_json(d);
        return;
    }
    d->tree = d->page->tree;
    sn_draft_jsonld(d);
    bool has_things = d->n_lists > 0;
    sn_draft_page(d);
    size_t n = d->err == SEINE_OK ? sn_draft_groups(d, groups, SN_DRAFT_LISTS) : 0;
    for (size_t i = 0; i < n && d->err == SEINE_OK && !has_things; i++)
        sn_draft_rows(d, groups[i]);
    if (d->err == SEINE_OK)
        sn_draft_next(d);
}

static void
draft(sn_draft *d, const seine_draft_opts *opts, sn_buf *out)
{
    sn_draft_test test = {.name = opts->name,
                          .url = d->page->page->url,
                          .page = opts->page,
                          .golden = opts->golden};

    find(d);
    if (d->err != SEINE_OK)
        return;
    if (d->n_lists == 0 || !sn_draft_values(d) || !prove(d, &test)) {
        d->err = d->err == SEINE_OK ? SEINE_E_UNKNOWN : d->err;
        return;
    }
    sn_draft_print(d, &test, out);
    d->err = sn_buf_done(out);
}

/* A recipe that opens the page; what it would find does not matter. */
static seine_err
open_page(sn_draft *d, const seine_page *page, seine_recipe **out_recipe)
{
    static const char yaml[] =
        "seine: 1\nname: draft\nitems: {fields: {title: {page: title}}}\n";
    seine_recipe_opts o = SEINE_RECIPE_OPTS;
    seine_diag wrong[SEINE_DIAG_MAX];
    seine_err e = seine_recipe_parse(yaml, sizeof yaml - 1, &o, out_recipe, wrong);

    if (e != SEINE_OK)
        return e;
    d->page = sn_zalloc(sizeof *d->page);
    if (!d->page)
        return SEINE_E_NOMEM;
    return sn_apply_open(d->page, *out_recipe, page) ? SEINE_OK : d->page->err;
}

static bool
is_id(const char *name)
{
    char id[64];

    return name && strlen(name) < sizeof id - 2 && strlen(name) > 0 &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                        "0123456789_-") == strlen(name) &&
           (sn_is_alpha(name[0]) || name[0] == '_');
}

seine_err
seine_recipe_draft(const seine_page *page, const seine_draft_opts *opts,
                   seine_text *out_yaml)
{
    sn_draft d = {0};
    seine_recipe *first = NULL;
    sn_buf out;

    if (!out_yaml || !sn_opts_fit(page, sizeof *page) ||
        !sn_opts_fit(opts, sizeof *opts) || !is_id(opts->name) || !opts->page ||
        !opts->golden || !page->url || (!page->body && page->len > 0))
        return SEINE_E_INVAL;
    sn_arena_init(&d.arena, 65536, SN_DRAFT_BYTES);
    sn_buf_init(&out, YAML_BYTES);
    d.err = open_page(&d, page, &first);
    if (d.err == SEINE_OK)
        draft(&d, opts, &out);
    seine_err e = d.err == SEINE_OK ? sn_buf_take(&out, out_yaml) : d.err;
    sn_buf_fini(&out);
    sn_map_fini(&d.tokens);
    sn_map_fini(&d.paths);
    sn_arena_fini(&d.arena);
    if (d.page)
        sn_apply_close(d.page);
    sn_free(d.page);
    seine_recipe_free(first);
    return e;
}
