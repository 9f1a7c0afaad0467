/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr.h - is a condition true of a record, and what does a formula make of it?
 *
 * One small language for filters (`outcome = timeout and attempts >= 3`) and formulas
 * (`round(price.amount / 1.19, 2)`); docs/user/expr.md has its words and functions. An
 * expression is compiled once, and its mistakes are found then, with their column. It is
 * evaluated on records, which are objects of JSON:
 *
 *     static const char *const names[] = {"price", "sku", NULL};
 *     seine_expr *x;
 *     seine_diag diag = SEINE_DIAG;
 *     seine_text value;
 *     e = seine_expr_compile("round(price.amount / 2, 1)", names, &x, &diag);
 *     e = seine_expr_eval(x, "{\"price\":{\"amount\":9}}", 22, &value);
 *     seine_text_free(&value);
 *     seine_expr_free(x);
 *
 * `value` is then the text 4.5. A member that is missing is null. Expressions have no
 * loops and no state, at most 4 KiB of text, and 1,000,000 steps for one evaluation.
 *
 * Time    no clock is read; dates are texts (RFC 3339), zones UTC or offsets (+01:00).
 * Memory  an expression below 256 KiB; while it is evaluated, the record as values.
 * Threads an expression: any thread, once it is compiled.
 */
#ifndef SEINE_EXPR_H
#define SEINE_EXPR_H

#include <stdbool.h>
#include <stddef.h>

#include "seine/abi.h"
#include "seine/alloc.h"
#include "seine/diag.h"
#include "seine/err.h"

typedef struct seine_expr seine_expr;

SEINE_BEGIN

/* `names` are the members that the expression may use, ended by NULL; of each of them
 * members may be asked for with a dot. NULL: any name is a member. CONFIG: the diag says
 * why, and in `column` at which byte, from 1. INVAL, NOMEM. */
SEINE_MUST_CHECK seine_err seine_expr_compile(const char *text, const char *const *names,
                                              seine_expr **out_expr, seine_diag *diag);
void seine_expr_free(seine_expr *x); /* NULL is fine */

/* The value as JSON; the caller frees it. BAD_JSON: the record is no object. BUDGET,
 * PATTERN_BUDGET: it would take too long; INVAL, NOMEM. */
SEINE_MUST_CHECK seine_err seine_expr_eval(const seine_expr *x, const char *record,
                                           size_t len, seine_text *out_json);

/* The same as a condition: true only if the value is true. */
SEINE_MUST_CHECK seine_err seine_expr_is(const seine_expr *x, const char *record,
                                         size_t len, bool *out_is);

SEINE_END

#endif
