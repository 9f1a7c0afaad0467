/* SPDX-License-Identifier: Apache-2.0 */
/* A page, read as HTML and as JSON: where a recipe is drafted from it, the recipe
 * compiles, finds as many good rows as its test says, no bad one, and no row has an
 * error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <seine/plumbing.h>
#include <seine/recipe.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static bool
on_row(const seine_row *row, void *arg)
{
    (void)arg;
    REQUIRE(row->ok && strcmp(row->errors, "[]") == 0);
    return true;
}

/* The number of rows that the recipe's own test asks for. */
static int64_t
wanted(const seine_recipe *r)
{
    const char *text = seine_recipe_part(r, "tests");
    seine_json *tests = NULL;
    int64_t items = -1;

    REQUIRE(text);
    if (seine_json_parse(text, strlen(text), &tests, NULL) == SEINE_OK)
        REQUIRE(seine_json_int(
            seine_json_get(seine_json_get(seine_json_at(tests, 0), "expect"), "items"),
            &items));
    seine_json_free(tests);
    return items;
}

static void
draft(const char *body, size_t len, const char *type)
{
    seine_page page = SEINE_PAGE;
    seine_draft_opts o = SEINE_DRAFT_OPTS;
    seine_recipe_opts ro = SEINE_RECIPE_OPTS;
    seine_diag wrong[SEINE_DIAG_MAX];
    seine_text yaml = {NULL, 0};
    seine_recipe *r = NULL;
    seine_applied got;

    page.url = "https://e.example/a/b?page=2";
    page.content_type = type;
    page.body = body;
    page.len = len;
    o.name = "fuzz";
    o.page = "pages/fuzz.html";
    o.golden = "pages/fuzz.jsonl";
    seine_err e = seine_recipe_draft(&page, &o, &yaml);
    REQUIRE(e != SEINE_E_CONFIG && e != SEINE_E_INVAL && e != SEINE_E_FULL);
    if (e != SEINE_OK)
        return;
    e = seine_recipe_parse(yaml.bytes, yaml.len, &ro, &r, wrong);
    REQUIRE(e == SEINE_OK);
    REQUIRE(seine_recipe_apply(r, &page, on_row, NULL, &got) == SEINE_OK);
    REQUIRE(got.err == SEINE_OK && got.bad == 0 && got.good == (uint64_t)wanted(r));
    seine_recipe_free(r);
    seine_text_free(&yaml);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    draft((const char *)bytes, n, "text/html");
    draft((const char *)bytes, n, "application/json");
    return 0;
}
