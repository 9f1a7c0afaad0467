/* SPDX-License-Identifier: Apache-2.0 */
/* Bounds, lists and patterns of values. */
#include <stdio.h>
#include <string.h>

#include "recipe/typed_parts.h"

/* The number that a bound compares: of money its amount. */
static bool
number_of(const seine_json *value, double *out)
{
    return seine_json_number(value, out) ||
           seine_json_number(seine_json_get(value, "amount"), out);
}

/* How a value compares with a bound; false: it cannot be compared. */
static bool
compare(const seine_json *value, sn_str bound, int *out_order)
{
    seine_json *json = NULL;
    const char *text;
    size_t len;
    double a, b;

    if (seine_json_string(value, &text, &len)) {
        *out_order = sn_str_cmp((sn_str){text, len}, bound);
        return true;
    }
    bool good = number_of(value, &a) &&
                seine_json_parse(bound.ptr, bound.len, &json, NULL) == SEINE_OK &&
                seine_json_number(json, &b);
    if (good)
        *out_order = (a > b) - (a < b);
    seine_json_free(json);
    return good;
}

static seine_err
out_of_bounds(sn_typed_error *out, const char *why, sn_str text, const char *what,
              sn_str bound)
{
    char words[100];

    snprintf(words, sizeof words, "%s%s%.*s", what, bound.ptr ? " " : "",
             bound.len < 40 ? (int)bound.len : 40, bound.ptr ? bound.ptr : "");
    sn_typed_wrong(out, why, text, words);
    return SEINE_E_INVAL;
}

static seine_err
check_pattern(const sn_pattern *p, sn_str text, sn_typed_error *why)
{
    sn_matcher m;
    bool found = false;
    seine_err e = sn_matcher_init(&m);

    if (e != SEINE_OK)
        return e;
    e = sn_pattern_match(p, &m, text, &found);
    sn_matcher_fini(&m);
    if (e == SEINE_E_NOMEM)
        return e;
    return e == SEINE_OK && found
               ? SEINE_OK
               : out_of_bounds(why, "pattern", text, "does not match the pattern",
                               (sn_str){0});
}

static bool
is_among(const sn_meaning *m, sn_str text)
{
    for (size_t i = 0; i < m->n_values; i++)
        if (sn_str_eq(m->values[i], text))
            return true;
    return m->n_values == 0;
}

static seine_err
check_text(const sn_meaning *m, const seine_json *value, sn_str text, sn_typed_error *why)
{
    int order;

    if (!is_among(m, text))
        return out_of_bounds(why, "enum", text, "is none of the values", (sn_str){0});
    if (m->min.ptr && compare(value, m->min, &order) && order < 0)
        return out_of_bounds(why, "range", text, "is below the minimum", m->min);
    if (m->max.ptr && compare(value, m->max, &order) && order > 0)
        return out_of_bounds(why, "range", text, "is above the maximum", m->max);
    return m->pattern ? check_pattern(m->pattern, text, why) : SEINE_OK;
}

seine_err
sn_typed_check(const sn_meaning *m, const seine_json *value, sn_typed_error *why)
{
    seine_text printed = {NULL, 0};
    sn_str text;

    if (m->n_values == 0 && !m->min.ptr && !m->max.ptr && !m->pattern)
        return SEINE_OK;
    if (seine_json_string(value, &text.ptr, &text.len))
        return check_text(m, value, text, why);
    seine_err e = seine_json_print(value, &printed);
    if (e == SEINE_OK)
        e = check_text(m, value, (sn_str){printed.bytes, printed.len}, why);
    seine_text_free(&printed);
    return e;
}
