/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/record_where.h"

#include <string.h>

#include "base/alloc.h"
#include "base/diag.h"
#include "seine/plumbing.h"
#include "text/expr.h"

/* Members of records of all types. Of objects any member may be asked for. */
static const sn_expr_name names[] = {
    {"type", SN_EXPR_TEXT},       {"job", SN_EXPR_TEXT},
    {"seq", SN_EXPR_NUMBER},      {"ts", SN_EXPR_TEXT},
    {"url", SN_EXPR_TEXT},        {"key", SN_EXPR_TEXT},
    {"final_url", SN_EXPR_TEXT},  {"input", SN_EXPR_TEXT},
    {"host", SN_EXPR_TEXT},       {"ip", SN_EXPR_TEXT},
    {"id", SN_EXPR_TEXT},         {"method", SN_EXPR_TEXT},
    {"parent", SN_EXPR_TEXT},     {"depth", SN_EXPR_NUMBER},
    {"line", SN_EXPR_NUMBER},     {"outcome", SN_EXPR_TEXT},
    {"ok", SN_EXPR_BOOL},         {"status", SN_EXPR_NUMBER},
    {"attempts", SN_EXPR_NUMBER}, {"error", SN_EXPR_ANY},
    {"time", SN_EXPR_ANY},        {"content_type", SN_EXPR_TEXT},
    {"charset", SN_EXPR_TEXT},    {"content_length", SN_EXPR_NUMBER},
    {"bytes_in", SN_EXPR_NUMBER}, {"bytes_body", SN_EXPR_NUMBER},
    {"partial", SN_EXPR_BOOL},    {"title", SN_EXPR_TEXT},
    {"lang", SN_EXPR_TEXT},       {"sha256", SN_EXPR_TEXT},
    {"change", SN_EXPR_TEXT},     {"data", SN_EXPR_ANY},
    {"reason", SN_EXPR_TEXT},     {"rule", SN_EXPR_TEXT},
    {"source", SN_EXPR_TEXT},     {"target", SN_EXPR_TEXT},
    {"verdict", SN_EXPR_TEXT},    {"kind", SN_EXPR_TEXT},
    {"recipe", SN_EXPR_TEXT},
};

struct seine_record_where {
    sn_expr *expr;
    sn_expr_runner *runner;
    const seine_json *record; /* that is looked at */
};

seine_err
seine_record_where_new(const char *text, seine_record_where **out_where, seine_diag *diag)
{
    const sn_expr_scope scope = {
        .names = names, .count = sizeof names / sizeof *names, .words = true};

    sn_diag_clear(diag);
    if (!text || !out_where)
        return SEINE_E_INVAL;
    seine_record_where *w = sn_zalloc(sizeof *w);
    if (!w)
        return SEINE_E_NOMEM;
    seine_err e = sn_expr_compile(sn_str_of(text), &scope, &w->expr, diag);
    if (e == SEINE_OK)
        e = sn_expr_runner_new(&w->runner);
    if (e != SEINE_OK) {
        seine_record_where_free(w);
        return e;
    }
    *out_where = w;
    return SEINE_OK;
}

void
seine_record_where_free(seine_record_where *w)
{
    if (!w)
        return;
    sn_expr_free(w->expr);
    sn_expr_runner_free(w->runner);
    sn_free(w);
}

/* A value that is no object or list; the expression gets null for others. */
static void
value_of(const seine_json *j, sn_expr_value *out)
{
    const char *text;
    double number;
    bool truth;
    size_t n;

    if (seine_json_string(j, &text, &n))
        *out = (sn_expr_value){SN_EXPR_TEXT, .text = {text, n}};
    else if (seine_json_number(j, &number))
        *out = (sn_expr_value){SN_EXPR_NUMBER, .number = number};
    else if (seine_json_bool(j, &truth))
        *out = (sn_expr_value){SN_EXPR_BOOL, .truth = truth};
}

/* "kind" of `error`, "a.b" of `data` */
static const seine_json *
inside(const seine_json *j, sn_str path)
{
    char name[256];

    while (j && path.len > 0) {
        const char *dot = memchr(path.ptr, '.', path.len);
        size_t n = dot ? (size_t)(dot - path.ptr) : path.len;

        if (n >= sizeof name)
            return NULL;
        memcpy(name, path.ptr, n);
        name[n] = '\0';
        j = seine_json_get(j, name);
        path = sn_str_slice(path, n < path.len ? n + 1 : n, path.len);
    }
    return j;
}

static void
member(void *arg, unsigned index, sn_str rest, sn_expr_value *out)
{
    const seine_record_where *w = arg;

    if (index < sizeof names / sizeof *names)
        value_of(inside(seine_json_get(w->record, names[index].name), rest), out);
}

bool
seine_record_where_has(seine_record_where *w, const char *line, size_t n)
{
    sn_expr_source source = {.member = member, .arg = w};
    seine_json *record = NULL;
    bool is_true = false;

    if (!w || !line || seine_json_parse(line, n, &record, NULL) != SEINE_OK)
        return false;
    w->record = record;
    if (sn_expr_is(w->expr, w->runner, &source, &is_true) != SEINE_OK)
        is_true = false;
    w->record = NULL;
    seine_json_free(record);
    return is_true;
}
