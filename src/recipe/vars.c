/* SPDX-License-Identifier: Apache-2.0 */
/* Values of variables: those given, checked by their types, and the defaults. */
#include <string.h>

#include "base/diag.h"
#include "recipe/near_word.h"
#include "recipe/typed.h"

static const sn_var *
find_var(const seine_recipe *r, const char *name)
{
    for (size_t i = 0; i < r->n_vars; i++)
        if (strcmp(r->vars[i].name, name) == 0)
            return &r->vars[i];
    return NULL;
}

/* What is being filled. */
typedef struct filling {
    const seine_recipe *r;
    seine_json *all;
    seine_diag *diag;
    seine_err err;
} filling;

static bool
put(filling *f, const char *name, seine_json *give)
{
    f->err = seine_json_set(f->all, name, give);
    return f->err == SEINE_OK;
}

/* A name that is no variable may be one of `over`, or a carried field. */
static bool
put_given(const char *name, const seine_json *value, void *arg)
{
    filling *f = arg;
    const sn_var *v = find_var(f->r, name);
    seine_json *typed = NULL;
    sn_typed_error why;
    seine_text printed = {NULL, 0};
    sn_str text;

    if (!v || seine_json_type_of(value) == SEINE_JSON_NULL)
        return put(f, name, seine_json_new_copy(value));
    if (!seine_json_string(value, &text.ptr, &text.len)) {
        f->err = seine_json_print(value, &printed);
        text = (sn_str){printed.bytes, printed.len};
    }
    if (f->err == SEINE_OK)
        f->err = sn_typed(f->r, &v->meaning, text, NULL, &typed, &why);
    seine_text_free(&printed);
    if (f->err == SEINE_E_INVAL)
        f->err =
            sn_diag_option(f->diag, name, "%s", v->secret ? "not of its type" : why.text);
    return f->err == SEINE_OK && put(f, name, typed);
}

/* A default that the program has to read (env:NAME) is none here. */
static bool
is_elsewhere(const seine_json *value)
{
    sn_str s;

    return seine_json_string(value, &s.ptr, &s.len) &&
           (sn_str_starts(s, SN_STR("env:")) || sn_str_starts(s, SN_STR("file:")));
}

static void
put_defaults(filling *f)
{
    for (size_t i = 0; i < f->r->n_vars && f->err == SEINE_OK; i++) {
        const sn_var *v = &f->r->vars[i];
        if (!seine_json_get(f->all, v->name) && v->fallback && !is_elsewhere(v->fallback))
            (void)put(f, v->name, seine_json_new_copy(v->fallback));
    }
}

static seine_err
fill(filling *f, const char *given)
{
    seine_json *json = NULL;

    if (given)
        f->err = seine_json_parse(given, strlen(given), &json, NULL);
    if (f->err == SEINE_OK && json && seine_json_type_of(json) != SEINE_JSON_OBJECT)
        f->err = SEINE_E_INVAL;
    if (f->err == SEINE_OK && json)
        (void)seine_json_each(json, put_given, f);
    seine_json_free(json);
    put_defaults(f);
    return f->err;
}

seine_err
seine_recipe_vars(const seine_recipe *r, const char *given, seine_text *out_vars,
                  seine_diag *diag)
{
    if (!r || !out_vars)
        return SEINE_E_INVAL;
    sn_diag_clear(diag);
    filling f = {r, seine_json_new_object(), diag, SEINE_OK};
    seine_err e = f.all ? fill(&f, given) : SEINE_E_NOMEM;
    if (e == SEINE_OK)
        e = seine_json_print(f.all, out_vars);
    seine_json_free(f.all);
    return e;
}
