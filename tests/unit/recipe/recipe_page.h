/* SPDX-License-Identifier: Apache-2.0 */
/* recipe_page.h - a recipe on a page, as lines of text that tests compare. */
#ifndef RECIPE_PAGE_H
#define RECIPE_PAGE_H

#include <stdio.h>
#include <string.h>

#include "check.h"
#include "seine/recipe.h"

typedef struct recipe_lines {
    char text[8192];
    size_t len;
    bool brief; /* data alone */
} recipe_lines;

static inline void
recipe_line(recipe_lines *l, const char *a, const char *b)
{
    int n = snprintf(l->text + l->len, sizeof l->text - l->len, "%s%s\n", a, b);

    l->len += n > 0 && l->len + (size_t)n < sizeof l->text ? (size_t)n : 0;
}

static inline bool
recipe_on_row(const seine_row *row, void *arg)
{
    recipe_line(arg, row->ok ? "" : "bad ", row->json);
    if (strcmp(row->errors, "[]") != 0)
        recipe_line(arg, "  ", row->errors);
    return true;
}

static inline void
recipe_on_lead(const seine_lead *lead, void *arg)
{
    char head[64];

    snprintf(head, sizeof head, "%s%s %u ", lead->is_next ? "next" : "to ",
             lead->is_next ? "" : lead->kind, lead->number);
    recipe_line(arg, head, lead->url);
    if (lead->carry)
        recipe_line(arg, "  carry ", lead->carry);
}

static inline seine_recipe *
recipe_of_with(const char *yaml, const seine_recipe_opts *opts)
{
    static seine_diag wrong[SEINE_DIAG_MAX];
    seine_recipe *r = NULL;
    seine_err e = seine_recipe_parse(yaml, strlen(yaml), opts, &r, wrong);

    if (e != SEINE_OK)
        check_fail(__FILE__, __LINE__, "%s: %llu:%llu: %s", seine_err_name(e),
                   (unsigned long long)wrong[0].line, (unsigned long long)wrong[0].column,
                   wrong[0].text);
    return r;
}

static inline seine_recipe *
recipe_of(const char *yaml)
{
    seine_recipe_opts o = SEINE_RECIPE_OPTS;

    return recipe_of_with(yaml, &o);
}

/* Applies it; the page may be changed by the caller before. */
static inline seine_applied
recipe_apply(const seine_recipe *r, seine_page *page, recipe_lines *out)
{
    seine_applied got = {0};

    page->on_lead = recipe_on_lead;
    CHECK_EQ(seine_recipe_apply(r, page, recipe_on_row, out, &got), SEINE_OK);
    return got;
}

/* The rows of one page of HTML, or of JSON if it begins with a bracket. */
static inline void
recipe_rows(const char *yaml, const char *body, recipe_lines *out)
{
    seine_recipe *r = recipe_of(yaml);
    seine_page page = SEINE_PAGE;

    out->len = 0;
    out->text[0] = '\0';
    if (!r)
        return;
    page.url = "https://e.example/dir/list?page=1";
    page.body = body;
    page.len = strlen(body);
    page.content_type =
        body[0] == '{' || body[0] == '[' ? "application/json" : "text/html";
    page.run_date = "2026-11-17";
    recipe_apply(r, &page, out);
    seine_recipe_free(r);
}

#endif
