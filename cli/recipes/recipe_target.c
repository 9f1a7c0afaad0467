/* SPDX-License-Identifier: Apache-2.0 */
#include "recipes/recipe_target.h"

#include <stdlib.h>
#include <string.h>

#include "recipes/json_same.h"
#include "screen/xalloc.h"
#include "verbs/jsonl.h"

recipe_target *
recipe_target_new(const char *url, const char *kind, const char *carry, uint32_t number,
                  bool is_start)
{
    recipe_target *t = xalloc_zeroed(1, sizeof *t);

    t->url = xalloc_copy(url, strlen(url));
    t->kind = xalloc_copy(kind, strlen(kind));
    t->carry = carry ? xalloc_copy(carry, strlen(carry)) : xalloc_copy("{}", 2);
    t->number = number;
    t->is_start = is_start;
    return t;
}

void
recipe_target_free(recipe_target *t)
{
    if (!t)
        return;
    free(t->url);
    free(t->kind);
    free(t->carry);
    free(t);
}

static seine_json *
parsed(const char *text)
{
    seine_json *json = NULL;

    if (text && seine_json_parse(text, strlen(text), &json, NULL) == SEINE_E_NOMEM)
        xalloc_json(NULL);
    return json;
}

seine_json *
recipe_target_json(const recipe_target *t, bool with_url)
{
    seine_json *all = xalloc_json(seine_json_new_object());

    if (with_url)
        jsonl_set(all, "url", jsonl_string(t->url));
    if (t->kind[0])
        jsonl_set(all, "kind", jsonl_string(t->kind));
    if (strcmp(t->carry, "{}") != 0)
        jsonl_set(all, "carry", xalloc_json(parsed(t->carry)));
    jsonl_set(all, "number", xalloc_json(seine_json_new_int(t->number)));
    if (t->is_start)
        jsonl_set(all, "start", xalloc_json(seine_json_new_bool(true)));
    if (t->is_named)
        jsonl_set(all, "named", xalloc_json(seine_json_new_bool(true)));
    return all;
}

static const char *
text_of(const seine_json *json, const char *name)
{
    const char *text = "";
    size_t n;

    (void)seine_json_string(seine_json_get(json, name), &text, &n);
    return text;
}

recipe_target *
recipe_target_read(const seine_json *json, const char *url)
{
    const seine_json *carry = seine_json_get(json, "carry");
    int64_t number = 0;
    bool is_start = false;

    if (!seine_json_int(seine_json_get(json, "number"), &number) || number < 1 ||
        number > UINT32_MAX)
        return NULL;
    (void)seine_json_bool(seine_json_get(json, "start"), &is_start);
    char *text = carry ? recipe_print(seine_json_new_copy(carry)) : NULL;
    recipe_target *t =
        recipe_target_new(url ? url : text_of(json, "url"), text_of(json, "kind"), text,
                          (uint32_t)number, is_start);
    free(text);
    (void)seine_json_bool(seine_json_get(json, "named"), &t->is_named);
    return t;
}

char *
recipe_print(seine_json *give)
{
    seine_text text = {NULL, 0};

    if (!give || seine_json_print(give, &text) != SEINE_OK)
        xalloc_json(NULL);
    char *copy = xalloc_copy(text.bytes, text.len);
    seine_text_free(&text);
    seine_json_free(give);
    return copy;
}

typedef struct merging {
    seine_json *all;
    const seine_json *known; /* what is left out; NULL: nothing */
} merging;

static bool
put_member(const char *name, const seine_json *value, void *arg)
{
    merging *m = arg;
    const seine_json *there = m->known ? seine_json_get(m->known, name) : NULL;

    if (!there || !json_same(there, value))
        jsonl_set(m->all, name, seine_json_new_copy(value));
    return true;
}

static void
put_members(merging *m, const char *text)
{
    seine_json *json = parsed(text);

    (void)seine_json_each(json, put_member, m);
    seine_json_free(json);
}

char *
recipe_merge(const char *first, const char *more)
{
    merging m = {xalloc_json(seine_json_new_object()), NULL};

    put_members(&m, first);
    put_members(&m, more);
    return recipe_print(m.all);
}

char *
recipe_beyond(const char *all, const char *known)
{
    seine_json *there = parsed(known);
    merging m = {xalloc_json(seine_json_new_object()), there};

    put_members(&m, all);
    seine_json_free(there);
    return recipe_print(m.all);
}
