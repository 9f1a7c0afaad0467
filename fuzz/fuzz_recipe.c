/* SPDX-License-Identifier: Apache-2.0 */
/* A recipe, a zero byte and a page: the recipe is compiled or its mistakes are told in
 * order of position; a compiled one is applied to the page as HTML and as JSON, its start
 * is expanded, and the counts are those of the rows that came. */
#include <stdlib.h>
#include <string.h>

#include <seine/plumbing.h>
#include <seine/recipe.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static bool
on_row(const seine_row *row, void *arg)
{
    uint32_t *rows = arg;

    REQUIRE(row->kind && row->json && row->errors && row->selector && row->n > 0);
    REQUIRE(seine_json_check(row->json, strlen(row->json), NULL, NULL) == SEINE_OK);
    REQUIRE(seine_json_check(row->errors, strlen(row->errors), NULL, NULL) == SEINE_OK);
    return ++*rows < 1000;
}

static void
on_lead(const seine_lead *lead, void *arg)
{
    (void)arg;
    REQUIRE(strncmp(lead->url, "http", 4) == 0 && lead->number > 0);
}

static bool
on_start(const seine_lead *lead, void *arg)
{
    unsigned *n = arg;

    REQUIRE(lead->url && lead->kind && lead->carry);
    return ++*n < 100;
}

static void
on_dead(const seine_dead_selector *dead, void *arg)
{
    (void)arg;
    REQUIRE(dead->field && dead->selector && (!dead->nearest || dead->count > 0));
}

static void
apply(const seine_recipe *r, const char *body, size_t len, const char *type)
{
    seine_page page = SEINE_PAGE;
    seine_applied got;
    uint32_t rows = 0;

    page.url = "https://e.example/a/b?page=2";
    page.content_type = type;
    page.body = body;
    page.len = len;
    page.run_date = "2026-11-17";
    page.on_lead = on_lead;
    seine_err e = seine_recipe_apply(r, &page, on_row, &rows, &got);
    REQUIRE(e == SEINE_OK || e == SEINE_E_NOMEM);
    REQUIRE(rows <= got.good + got.bad);
    e = seine_recipe_dead(r, &page, on_dead, NULL);
    REQUIRE(e == SEINE_OK || e == SEINE_E_NOMEM);
}

static void
check_mistakes(const seine_diag *wrong)
{
    REQUIRE(wrong[0].text[0]);
    for (size_t i = 1; i < SEINE_DIAG_MAX && wrong[i].text[0]; i++)
        REQUIRE(wrong[i - 1].line < wrong[i].line ||
                (wrong[i - 1].line == wrong[i].line &&
                 wrong[i - 1].column <= wrong[i].column));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const char *text = (const char *)bytes, *zero = n > 0 ? memchr(text, '\0', n) : NULL;
    size_t len = zero ? (size_t)(zero - text) : n;
    seine_recipe_opts o = SEINE_RECIPE_OPTS;
    seine_diag wrong[SEINE_DIAG_MAX];
    seine_recipe *r = NULL;
    seine_err e = seine_recipe_parse(text, len, &o, &r, wrong);

    if (e == SEINE_E_CONFIG)
        check_mistakes(wrong);
    if (e == SEINE_OK) {
        const char *body = zero ? zero + 1 : "";
        size_t rest = zero ? n - len - 1 : 0;
        unsigned starts = 0;

        apply(r, body, rest, "text/html");
        apply(r, body, rest, "application/json");
        e = seine_recipe_start(r, NULL, NULL, on_start, &starts, NULL);
        REQUIRE(e == SEINE_OK || e == SEINE_E_CONFIG || e == SEINE_E_NOMEM ||
                e == SEINE_E_FULL);
    }
    seine_recipe_free(r);
    return 0;
}
