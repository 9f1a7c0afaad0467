/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_extract.h"

#include <stdlib.h>
#include <string.h>

#include "recipes/item_record.h"
#include "recipes/recipe_vars.h"
#include "screen/out.h"
#include "screen/say.h"
#include "screen/xalloc.h"

typedef struct extracting {
    const recipe_extract_opts *o;
    recipe_file f;
    seine_text vars;
    const char *name; /* of the file, or the base URL */
    bool failed;
} extracting;

static bool
on_row(const seine_row *row, void *arg)
{
    extracting *x = arg;
    item_of of = {seine_recipe_name(x->f.recipe), x->o->base ? x->o->base : x->name};
    size_t len = 0;

    if (x->o->flat && row->ok)
        out_line(row->json, strlen(row->json));
    if (x->o->flat)
        return true;
    char *line = item_record(&of, row, &len);
    out_line(line, len);
    free(line);
    return true;
}

static void
extract(extracting *x, const char *path, const bytes *body)
{
    seine_page page = SEINE_PAGE;
    seine_applied got;

    x->name = path;
    page.url = x->o->base;
    page.kind = x->o->kind;
    page.content_type = recipe_type_of(path);
    page.body = body->ptr;
    page.len = body->len;
    page.vars = x->vars.bytes;
    if (seine_recipe_apply(x->f.recipe, &page, on_row, x, &got) != SEINE_OK)
        xalloc_json(NULL);
    if (got.err == SEINE_OK)
        return;
    x->failed = true;
    say_note("%s: %s", strcmp(path, "-") == 0 ? "standard input" : show(path).text,
             got.err == SEINE_E_UNKNOWN ? "the recipe has no such kind of page"
                                        : seine_err_text(got.err));
}

int
recipe_extract(const recipe_extract_opts *o, char *const *files, size_t count)
{
    extracting x = {.o = o};
    int code = recipe_open(&x.f, o->recipe);

    if (code == SAY_DONE)
        code = recipe_vars(&x.f, o->vars, false, NULL, &x.vars, NULL);
    for (size_t i = 0; i < (count > 0 ? count : 1) && code == SAY_DONE; i++) {
        const char *path = count > 0 ? files[i] : "-";
        bytes body;
        code = bytes_file(path, &body);
        if (code == SAY_DONE)
            extract(&x, path, &body);
        bytes_free(&body);
    }
    seine_text_free(&x.vars);
    recipe_close(&x.f);
    return code == SAY_DONE && x.failed ? SAY_FAILED : code;
}
