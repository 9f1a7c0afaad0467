/* SPDX-License-Identifier: Apache-2.0 */
/* Expressions on records that are JSON: the contract of <seine/expr.h>. */
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/diag.h"
#include "seine/expr.h"
#include "seine/plumbing.h"
#include "text/expr.h"

enum { NAMES = 1000 };

struct seine_expr {
    sn_expr *x;
    char **names; /* ended by NULL; NULL: all members are open */
};

/* A record while an expression is evaluated on it. */
typedef struct reading {
    const seine_expr *of;
    seine_json *json;
    sn_arena memory; /* of lists, and of names on the way */
    seine_err err;
} reading;

static seine_err
copy_names(seine_expr *x, const char *const *names, size_t n)
{
    x->names = sn_calloc(n + 1, sizeof *x->names);
    if (!x->names)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < n; i++) {
        size_t len = strlen(names[i]) + 1;

        x->names[i] = sn_alloc(len);
        if (!x->names[i])
            return SEINE_E_NOMEM;
        memcpy(x->names[i], names[i], len);
    }
    return SEINE_OK;
}

static seine_err
compile(seine_expr *x, const char *text, size_t n, seine_diag *diag)
{
    sn_expr_name *all SN_AUTOFREE = sn_calloc(n + 1, sizeof *all);
    sn_expr_scope scope = {.count = n, .open = !x->names};

    if (!all)
        return SEINE_E_NOMEM;
    for (size_t i = 0; i < n; i++)
        all[i] = (sn_expr_name){x->names[i], SN_EXPR_ANY};
    scope.names = all;
    return sn_expr_compile(sn_str_of(text), &scope, &x->x, diag);
}

seine_err
seine_expr_compile(const char *text, const char *const *names, seine_expr **out_expr,
                   seine_diag *diag)
{
    size_t n = 0;

    if (!text || !out_expr)
        return SEINE_E_INVAL;
    while (names && names[n])
        if (++n > NAMES)
            return SEINE_E_INVAL;
    seine_expr *x = sn_zalloc(sizeof *x);
    if (!x)
        return SEINE_E_NOMEM;
    seine_err e = names ? copy_names(x, names, n) : SEINE_OK;
    if (e == SEINE_OK)
        e = compile(x, text, n, diag);
    if (e == SEINE_OK)
        *out_expr = x;
    else
        seine_expr_free(x);
    return e;
}

void
seine_expr_free(seine_expr *x)
{
    if (!x)
        return;
    for (size_t i = 0; x->names && x->names[i]; i++)
        sn_free(x->names[i]);
    sn_free(x->names);
    sn_expr_free(x->x);
    sn_free(x);
}

/* Members. */

static sn_expr_value value_of(reading *r, const seine_json *json);

static sn_expr_value
list_of(reading *r, const seine_json *json)
{
    size_t n = seine_json_size(json);
    sn_expr_value *all = SN_ARENA_ARRAY(&r->memory, sn_expr_value, n > 0 ? n : 1);
    sn_expr_value v = {.type = SN_EXPR_LIST};

    if (!all) {
        r->err = SEINE_E_NOMEM;
        return (sn_expr_value){.type = SN_EXPR_NULL};
    }
    for (size_t i = 0; i < n; i++)
        all[i] = value_of(r, seine_json_at(json, i));
    v.list.items = all;
    v.list.count = n;
    return v;
}

/* An object is no value: only its members are. */
static sn_expr_value
value_of(reading *r, const seine_json *json)
{
    sn_expr_value v = {.type = SN_EXPR_NULL};
    const char *text;
    size_t len;

    if (seine_json_string(json, &text, &len)) {
        v.type = SN_EXPR_TEXT;
        v.text = (sn_str){text, len};
    } else if (seine_json_bool(json, &v.truth)) {
        v.type = SN_EXPR_BOOL;
    } else if (seine_json_number(json, &v.number)) {
        v.type = SN_EXPR_NUMBER;
    } else if (seine_json_type_of(json) == SEINE_JSON_ARRAY) {
        return list_of(r, json);
    }
    return v;
}

/* Walks "price.amount". */
static const seine_json *
follow(reading *r, const seine_json *json, sn_str path)
{
    sn_str part;

    while (json && sn_str_next(&path, '.', &part)) {
        char *name = sn_arena_text(&r->memory, part);

        if (!name) {
            r->err = SEINE_E_NOMEM;
            return NULL;
        }
        json = seine_json_get(json, name);
    }
    return json;
}

static void
member(void *arg, unsigned index, sn_str rest, sn_expr_value *out)
{
    reading *r = arg;
    const seine_json *json = r->json;

    if (index != SN_EXPR_OPEN)
        json = follow(r, json, sn_str_of(r->of->names[index]));
    json = follow(r, json, rest);
    if (json)
        *out = value_of(r, json);
}

/* Values as JSON. */

static seine_json *
json_of(const sn_expr_value *v)
{
    seine_json *all;

    switch (v->type) {
    case SN_EXPR_BOOL:
        return seine_json_new_bool(v->truth);
    case SN_EXPR_TEXT:
        return seine_json_new_string(v->text.ptr, v->text.len);
    case SN_EXPR_NUMBER:
        if (v->number >= -1e15 && v->number <= 1e15 &&
            v->number == (double)(int64_t)v->number)
            return seine_json_new_int((int64_t)v->number);
        return seine_json_new_real(v->number);
    case SN_EXPR_LIST:
        all = seine_json_new_array();
        for (size_t i = 0; all && i < v->list.count; i++)
            if (seine_json_append(all, json_of(&v->list.items[i])) != SEINE_OK) {
                seine_json_free(all);
                return NULL;
            }
        return all;
    case SN_EXPR_NULL:
    case SN_EXPR_ANY:
    default:
        return seine_json_new_null();
    }
}

static seine_err
print_value(const sn_expr_value *v, seine_text *out_json)
{
    seine_json *json = json_of(v);
    seine_err e = json ? seine_json_print(json, out_json) : SEINE_E_NOMEM;

    seine_json_free(json);
    return e;
}

/* Evaluates on a record that was read; the value is gone when it returns. */
static seine_err
evaluate(reading *r, seine_text *out_json, bool *out_is)
{
    sn_expr_source source = {.member = member, .arg = r};
    sn_expr_runner *runner = NULL;
    sn_expr_value v;
    seine_err e = sn_expr_runner_new(&runner);

    if (e == SEINE_OK)
        e = sn_expr_eval(r->of->x, runner, &source, &v);
    if (e == SEINE_OK)
        e = r->err;
    if (e == SEINE_OK && out_json)
        e = print_value(&v, out_json);
    if (e == SEINE_OK && out_is)
        *out_is = v.type == SN_EXPR_BOOL && v.truth;
    sn_expr_runner_free(runner);
    return e;
}

static seine_err
eval_text(const seine_expr *x, const char *text, size_t len, seine_text *out_json,
          bool *out_is)
{
    reading r = {.of = x};
    seine_err e = seine_json_parse(text, len, &r.json, NULL);

    if (e != SEINE_OK)
        return e == SEINE_E_NOMEM ? e : SEINE_E_BAD_JSON;
    sn_arena_init(&r.memory, 1024, SN_EXPR_SCRATCH);
    e = seine_json_type_of(r.json) == SEINE_JSON_OBJECT ? evaluate(&r, out_json, out_is)
                                                        : SEINE_E_BAD_JSON;
    sn_arena_fini(&r.memory);
    seine_json_free(r.json);
    return e;
}

seine_err
seine_expr_eval(const seine_expr *x, const char *record, size_t len, seine_text *out_json)
{
    if (!x || !record || !out_json)
        return SEINE_E_INVAL;
    return eval_text(x, record, len, out_json, NULL);
}

seine_err
seine_expr_is(const seine_expr *x, const char *record, size_t len, bool *out_is)
{
    if (!x || !record || !out_is)
        return SEINE_E_INVAL;
    return eval_text(x, record, len, NULL, out_is);
}
