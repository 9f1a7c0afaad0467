/* SPDX-License-Identifier: Apache-2.0 */
/*
 * expr_parts.h - the tree of an expression, and what its functions share.
 *
 * A node knows its first child and its next sibling, by index. Chains (a or b or c,
 * a + b - c) are one node with many children, so the tree is no deeper than the text is
 * nested.
 */
#ifndef SN_EXPR_PARTS_H
#define SN_EXPR_PARTS_H

#include "base/arena.h"
#include "text/expr.h"
#include "text/pattern.h"

typedef enum sn_expr_kind {
    SN_EXPR_CONST, /* `value` */
    SN_EXPR_MEMBER,
    SN_EXPR_OR,
    SN_EXPR_AND,
    SN_EXPR_NOT,
    SN_EXPR_COMPARE,
    SN_EXPR_MATCHES, /* text ~ pattern */
    SN_EXPR_IN,
    SN_EXPR_SUM, /* each child with its own sign: + - */
    SN_EXPR_PRODUCT,
    SN_EXPR_MINUS,
    SN_EXPR_ITEMS, /* a list of children */
    SN_EXPR_CALL
} sn_expr_kind;

typedef enum sn_expr_op {
    SN_EXPR_NONE,
    SN_EXPR_EQ,
    SN_EXPR_NE,
    SN_EXPR_LT,
    SN_EXPR_LE,
    SN_EXPR_GT,
    SN_EXPR_GE,
    SN_EXPR_LIKE,
    SN_EXPR_UNLIKE,
    SN_EXPR_MEMBER_OF,
    SN_EXPR_ADD,
    SN_EXPR_SUBTRACT,
    SN_EXPR_TIMES,
    SN_EXPR_DIVIDE
} sn_expr_op;

/* name, least and most arguments, what they are, and what comes out. Of the arguments the
 * last letter repeats: t text, n number, d date, l list, c condition, a anything, p
 * pattern, o a number or a text. Of the result: * is the type of what goes in. */
/* clang-format off */
#define SN_EXPR_FUNCTIONS(X) \
    X(LEN,      "len",      1, 1,   "a",   'n') \
    X(LOWER,    "lower",    1, 1,   "t",   't') \
    X(UPPER,    "upper",    1, 1,   "t",   't') \
    X(TRIM,     "trim",     1, 1,   "t",   't') \
    X(SLUG,     "slug",     1, 1,   "t",   't') \
    X(SHA256,   "sha256",   1, 1,   "t",   't') \
    X(CONCAT,   "concat",   1, 255, "a",   't') \
    X(REPLACE,  "replace",  3, 3,   "tpt", 't') \
    X(MATCH,    "match",    2, 2,   "tp",  't') \
    X(SPLIT,    "split",    2, 2,   "tp",  'l') \
    X(JOIN,     "join",     2, 2,   "lt",  't') \
    X(COALESCE, "coalesce", 1, 255, "a",   '*') \
    X(IF,       "if",       2, 3,   "caa", '*') \
    X(ROUND,    "round",    1, 2,   "n",   'n') \
    X(ABS,      "abs",      1, 1,   "n",   'n') \
    X(MIN,      "min",      1, 255, "a",   '*') \
    X(MAX,      "max",      1, 255, "a",   '*') \
    X(DATE,     "date",     1, 1,   "d",   't') \
    X(ADD,      "add",      2, 2,   "dt",  't') \
    X(DAYS,     "days",     2, 2,   "d",   'n') \
    X(HOURS,    "hours",    2, 2,   "d",   'n') \
    X(AT,       "at",       2, 3,   "dtt", 't') \
    X(FORMAT,   "format",   2, 2,   "ot",  't') \
    X(HOST,     "host",     1, 1,   "t",   't') \
    X(PATH,     "path",     1, 1,   "t",   't') \
    X(PARAM,    "param",    2, 2,   "t",   't') \
    X(RESOLVE,  "resolve",  2, 2,   "t",   't')
/* clang-format on */

typedef enum sn_expr_fn {
#define X(id, name, least, most, takes, gives) SN_EXPR_FN_##id,
    SN_EXPR_FUNCTIONS(X)
#undef X
        SN_EXPR_FN_COUNT
} sn_expr_fn;

typedef struct sn_expr_function {
    const char *name;
    unsigned least, most;
    const char *takes;
    char gives;
} sn_expr_function;

extern const sn_expr_function sn_expr_functions[SN_EXPR_FN_COUNT];

typedef struct sn_expr_node {
    uint8_t kind, type;   /* sn_expr_kind; sn_expr_type of all values but null */
    uint8_t op;           /* of a child of SUM or PRODUCT: what stands before it */
    uint8_t fn;           /* of CALL: sn_expr_fn; of comparisons: sn_expr_op */
    bool is_word;         /* a text without quotes */
    uint16_t at, end;     /* bytes of the text from which it was read */
    uint16_t first, next; /* child, sibling; 0: none */
    uint16_t count;       /* children */
    uint16_t name;        /* of MEMBER: its index */
    sn_expr_value value;  /* of CONST; text: the path behind the name of a MEMBER */
    sn_pattern *pattern;  /* of a CONST that is one */
} sn_expr_node;

struct sn_expr {
    sn_arena arena;
    char *text;
    sn_expr_node *nodes; /* 0 is not used */
    uint16_t count, root;
};

/* Why the text is no expression; only the first reason counts. */
void sn_expr_wrong(seine_diag *diag, size_t at, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Reads the text into nodes. False: the diag says why, or is empty for NOMEM. */
bool sn_expr_read(sn_expr *x, sn_str text, const sn_expr_scope *scope, seine_diag *diag);

/* Is this a format of dates or numbers that `format` knows? */
bool sn_expr_is_format(sn_str format);

/* Is this a zone of `at` that needs no table: UTC, Z, +01:00? */
bool sn_expr_is_offset(sn_str zone);

/* Gives each node its type and compiles patterns. False as above. */
bool sn_expr_check(sn_expr *x, const sn_expr_scope *scope, seine_diag *diag);

const char *sn_expr_op_text(sn_expr_op op);

struct sn_expr_runner {
    sn_arena arena; /* texts and lists that the evaluation makes */
    sn_matcher matcher;
    uint64_t steps;
    const sn_expr *x;
    const sn_expr_source *source;
    char *url_room; /* two URLs; NULL before the first */
    seine_err err;
};

/* Finds the pattern from byte `from` on; false: not found, or r->err. A match that takes
 * many steps is charged for them. is_utf8: the text is known to be, which saves a look at
 * all of it. */
bool sn_expr_find(sn_expr_runner *r, const sn_pattern *p, sn_str text, size_t from,
                  bool is_utf8, sn_match *out_match);

/* Counts the work on `bytes`; false: the budget is spent, and r->err says so. */
bool sn_expr_spend(sn_expr_runner *r, size_t bytes);

/* Room for a text, or for a list; NULL: the budget or the memory is spent. */
char *sn_expr_room(sn_expr_runner *r, size_t n);
sn_expr_value *sn_expr_list_room(sn_expr_runner *r, size_t count);

/* The order of two values of one type; false: there is none. */
bool sn_expr_order(const sn_expr_value *a, const sn_expr_value *b, int *out_order);

sn_expr_value sn_expr_text(sn_str text);
sn_expr_value sn_expr_number(double n); /* null unless finite */

/* Functions on evaluated arguments, none of which is null unless the function says so;
 * null: no value, or r->err. */
sn_expr_value sn_expr_call_text(sn_expr_runner *r, sn_expr_fn fn,
                                const sn_expr_value *arg, size_t count);
sn_expr_value sn_expr_call_pattern(sn_expr_runner *r, sn_expr_fn fn,
                                   const sn_expr_value *arg, const sn_pattern *p);
sn_expr_value sn_expr_call_date(sn_expr_runner *r, sn_expr_fn fn,
                                const sn_expr_value *arg, size_t count);
sn_expr_value sn_expr_call_url(sn_expr_runner *r, sn_expr_fn fn,
                               const sn_expr_value *arg);

#endif
