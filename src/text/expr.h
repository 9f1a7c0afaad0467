/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr.h - is this condition true of a record, and what does this formula make of it?
 *
 * One small language for filters (`outcome = timeout and attempts >= 3`) and formulas
 * (`round(price / 1.19, 2)`). An expression is compiled once, against the names that it
 * may use and their types; mistakes are found there, with their column. It is then
 * evaluated any number of times, and asks a callback for the members that it needs.
 *
 *     static const sn_expr_name names[] = {{"outcome", SN_EXPR_TEXT},
 *                                          {"attempts", SN_EXPR_NUMBER}};
 *     sn_expr_scope scope = {.names = names, .count = 2, .words = true};
 *     e = sn_expr_compile(SN_STR("outcome = timeout and attempts >= 3"), &scope, &x,
 *                         &diag);
 *     e = sn_expr_runner_new(&runner);                  one for each thread
 *     e = sn_expr_is(x, runner, &source, &keep);
 *
 *     or    a or b, a and b, not a      null counts as false
 *     cmp   = != < <= > >= in ~ !~      comparisons do not chain
 *     sum   + - * / and -a              numbers only; a division by zero is null
 *     prim  12.5  'text'  "text"  true  false  null  a.b.c  f(a, b)  [a, b]  (a)
 *
 * A member that is missing is null. Comparing null with = and != is exact; every other
 * comparison with null is false. Types do not mix: comparing a text with a number is an
 * error of the compiler where it knows the types, and null where only the record shows
 * them. Patterns (of ~, match, replace, split) are texts that stand in the expression.
 * In a scope with `words` a path that is no member is text, if it stands beside a member:
 * `outcome = timeout`. Texts have no escapes: a text with one kind of quote stands in the
 * other.
 *
 * Expressions have no loops and no state. Text has at most 4 KiB, nesting 64 levels; an
 * evaluation takes at most 1,000,000 steps (a node, or 16 bytes of text) and 1 MiB;
 * beyond either it is BUDGET, never a wrong value.
 *
 * Time    no clock is read; dates are texts (RFC 3339).
 * Memory  an expression below 256 KiB. Conditions on members allocate nothing when they
 *         are evaluated; what makes new text keeps it in the runner until the next call.
 * Threads an expression: any, once compiled. A runner: one owner.
 */
#ifndef SN_EXPR_H
#define SN_EXPR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "seine/diag.h"
#include "seine/err.h"

enum {
    SN_EXPR_BYTES = 4096,    /* of the text */
    SN_EXPR_DEPTH = 64,      /* parentheses, lists and calls inside each other */
    SN_EXPR_STEPS = 1000000, /* of one evaluation */
    SN_EXPR_STEP_BYTES = 16, /* bytes of text that are one step */
    SN_EXPR_SCRATCH = 1 << 20
};

typedef enum sn_expr_type {
    SN_EXPR_NULL,
    SN_EXPR_BOOL,
    SN_EXPR_NUMBER, /* a double, always finite */
    SN_EXPR_TEXT,
    SN_EXPR_LIST,
    SN_EXPR_ANY /* of a name: the record shows it. No value has this type */
} sn_expr_type;

typedef struct sn_expr_value {
    sn_expr_type type;
    union {
        bool truth;
        double number;
        sn_str text; /* borrowed, as are the items */
        struct {
            const struct sn_expr_value *items;
            size_t count;
        } list;
    };
} sn_expr_value;

/* A name may have dots ("error.kind"). Of a name with type ANY every member may be asked
 * for: with {"price", SN_EXPR_ANY}, `price.amount` is valid. */
typedef struct sn_expr_name {
    const char *name;
    sn_expr_type type;
} sn_expr_name;

typedef struct sn_expr_scope {
    const sn_expr_name *names; /* borrowed until compile returns */
    size_t count;              /* below SN_EXPR_OPEN */
    bool words;                /* a path that is no member is text */
    bool open;                 /* a path that is no name is a member all the same */
    /* Is there such a time zone? NULL: nobody asks, and an unknown one gives null. */
    bool (*has_zone)(void *arg, sn_str name);
    void *arg;
} sn_expr_scope;

#define SN_EXPR_OPEN 0xffffu /* the index of a path that is no name */

/* Where the values of an evaluation come from. */
typedef struct sn_expr_source {
    /* Writes the value of a member; leaves *out alone (null) if there is none. `index` is
     * its place in the names, `rest` what follows the name in the path ("amount"), or the
     * whole path with SN_EXPR_OPEN. The bytes stay valid until the evaluation's value has
     * been used. */
    void (*member)(void *arg, unsigned index, sn_str rest, sn_expr_value *out);
    /* Seconds east of UTC in an IANA time zone at this local time, counted as if it were
     * UTC; false: no such zone. NULL: only UTC and offsets like +01:00 are known. See
     * time_zone.h for hours that come twice or not at all. */
    bool (*zone)(void *arg, sn_str name, int64_t local, int64_t *out_offset);
    void *arg;
} sn_expr_source;

typedef struct sn_expr sn_expr;
typedef struct sn_expr_runner sn_expr_runner;

/* CONFIG: not an expression; the diag says why and in `column` at which byte, from 1.
 * NOMEM. */
SEINE_MUST_CHECK seine_err sn_expr_compile(sn_str text, const sn_expr_scope *scope,
                                           sn_expr **out_expr, seine_diag *diag);
void sn_expr_free(sn_expr *x); /* NULL is fine */

/* The type of every value that is not null; ANY: known only at run time. */
sn_expr_type sn_expr_type_of(const sn_expr *x);

/* Calls `fn` with the index of each name that the expression uses, once for each use. */
void sn_expr_uses(const sn_expr *x, void (*fn)(void *arg, unsigned index, sn_str rest),
                  void *arg);

/* Appends the expression in one form for all spellings: single blanks, no parentheses
 * that are not needed, words in quotes. Compiled again in the same scope, it is the same
 * expression. */
void sn_expr_print(const sn_expr *x, sn_buf *out);

/* NOMEM. */
SEINE_MUST_CHECK seine_err sn_expr_runner_new(sn_expr_runner **out_runner);
void sn_expr_runner_free(sn_expr_runner *r); /* NULL is fine */

/* The value; what it borrows from the runner is valid until the next call. BUDGET,
 * PATTERN_BUDGET, NOMEM: *out_value is null. */
SEINE_MUST_CHECK seine_err sn_expr_eval(const sn_expr *x, sn_expr_runner *r,
                                        const sn_expr_source *source,
                                        sn_expr_value *out_value);

/* The same as a condition: true only if the value is true. */
SEINE_MUST_CHECK seine_err sn_expr_is(const sn_expr *x, sn_expr_runner *r,
                                      const sn_expr_source *source, bool *out_is);

/* Steps of the last evaluation. */
uint64_t sn_expr_steps(const sn_expr_runner *r);

#endif
