/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names.h - the values that names have in templates and expressions.
 *
 * A name is looked for among the fields of the row, then the variables and carried fields
 * of the page, then what is known of the page itself: url, n, page, run_date.
 */
#ifndef SN_NAMES_H
#define SN_NAMES_H

#include "recipe/parts.h"

typedef struct sn_names {
    const seine_recipe *recipe;
    sn_arena *arena; /* for lists and texts; valid until the next row */
    sn_expr_runner *runner;
    const seine_json *row;  /* NULL: none */
    const seine_json *vars; /* an object, or NULL */
    const seine_json *json; /* of `until`: the page; NULL: none */
    sn_str value;           /* of `as`; ptr NULL: none */
    sn_str url, run_date;
    uint32_t n, page;
    uint32_t items, fresh, status; /* of `until` */
    bool has_counts;
    bool nomem;
} sn_names;

/* The value of a name, with dots for members; null if there is none. */
sn_expr_value sn_names_get(sn_names *names, sn_str path);

/* The JSON value of a variable or field; NULL: none. */
const seine_json *sn_names_json(const sn_names *names, sn_str name);

SEINE_MUST_CHECK seine_err sn_names_eval(sn_names *names, const sn_formula *f,
                                         sn_expr_value *out);
SEINE_MUST_CHECK seine_err sn_names_is(sn_names *names, const sn_formula *f,
                                       bool *out_is);

/* Appends the template. In a URL values are escaped. Returns the name that has no value,
 * or NULL. */
const char *sn_names_expand(sn_names *names, const sn_template *t, bool in_url,
                            sn_buf *out);

/* A value of an expression as JSON. NULL: NOMEM. */
seine_json *sn_names_value_json(const sn_expr_value *v);

#endif
