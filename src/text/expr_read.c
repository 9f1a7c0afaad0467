/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the text of an expression into its tree: a function for each rule of the
 * grammar. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/diag.h"
#include "text/expr_parts.h"

typedef enum token_kind {
    T_END,
    T_NUMBER,
    T_TEXT,
    T_PATH,
    T_OP,   /* `op` */
    T_SIGN, /* one of ( ) [ ] , */
    T_WRONG /* the diag says why */
} token_kind;

typedef struct token {
    token_kind kind;
    sn_str text; /* of a text: without its quotes */
    size_t at, end;
    sn_expr_op op;
} token;

typedef struct reader {
    sn_expr *x;
    sn_str text;
    const sn_expr_scope *scope;
    seine_diag *diag;
    size_t at; /* behind `next` */
    token next;
    unsigned depth;
} reader;

/* Each function of the grammar returns the node it has read; 0: the diag says why not. */
static uint16_t read_or(reader *in);

void
sn_expr_wrong(seine_diag *diag, size_t at, const char *fmt, ...)
{
    va_list args;

    if (!diag || diag->text[0] != '\0')
        return;
    va_start(args, fmt);
    vsnprintf(diag->text, sizeof diag->text, fmt, args);
    va_end(args);
    diag->column = at + 1;
}

static bool
is_name_start(char c)
{
    return sn_is_alpha(c) || c == '_';
}

static size_t
name_end(sn_str text, size_t at)
{
    while (at < text.len && (is_name_start(text.ptr[at]) || sn_is_digit(text.ptr[at])))
        at++;
    return at;
}

/* name {"." name}: a dot belongs to the path if a name follows. */
static size_t
path_end(sn_str text, size_t at)
{
    at = name_end(text, at);
    while (at + 1 < text.len && text.ptr[at] == '.' && is_name_start(text.ptr[at + 1]))
        at = name_end(text, at + 1);
    return at;
}

static size_t
digits_end(sn_str text, size_t at)
{
    while (at < text.len && sn_is_digit(text.ptr[at]))
        at++;
    return at;
}

static size_t
number_end(sn_str text, size_t at)
{
    at = digits_end(text, at);
    if (at + 1 < text.len && text.ptr[at] == '.' && sn_is_digit(text.ptr[at + 1]))
        at = digits_end(text, at + 1);
    return at;
}

static const struct {
    char text[3];
    sn_expr_op op;
} ops[] = {
    {"!=", SN_EXPR_NE},        {"!~", SN_EXPR_UNLIKE}, {"<=", SN_EXPR_LE},
    {">=", SN_EXPR_GE},        {"=", SN_EXPR_EQ},      {"<", SN_EXPR_LT},
    {">", SN_EXPR_GT},         {"~", SN_EXPR_LIKE},    {"+", SN_EXPR_ADD},
    {"-", SN_EXPR_SUBTRACT},   {"*", SN_EXPR_TIMES},   {"/", SN_EXPR_DIVIDE},
    {"in", SN_EXPR_MEMBER_OF}, /* read as a word */
};

const char *
sn_expr_op_text(sn_expr_op op)
{
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (ops[i].op == op)
            return ops[i].text;
    return "";
}

/* What other languages write, and what it is here. */
static const char *
foreign_op(sn_str rest, const char **out_ours)
{
    static const char *const pairs[][2] = {
        {"==", "="},           {"<>", "!="},          {"&&", "and"},
        {"||", "or"},          {"!", "not"},          {"\xe2\x80\x9c", "'"},
        {"\xe2\x80\x9d", "'"}, {"\xe2\x80\x98", "'"}, {"\xe2\x80\x99", "'"}};

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (sn_str_starts(rest, sn_str_of(pairs[i][0]))) {
            *out_ours = pairs[i][1];
            return pairs[i][0];
        }
    return NULL;
}

static token
read_op(reader *in, size_t at)
{
    sn_str rest = sn_str_slice(in->text, at, in->text.len);
    const char *ours, *theirs = foreign_op(rest, &ours);
    bool is_own = sn_str_starts(rest, SN_STR("!=")) || sn_str_starts(rest, SN_STR("!~"));

    if (theirs && !is_own) {
        sn_expr_wrong(in->diag, at, "'%s' cannot stand here; try %s", theirs, ours);
        return (token){.kind = T_WRONG, .at = at, .end = at};
    }
    for (size_t i = 0; ops[i].op != SN_EXPR_MEMBER_OF; i++)
        if (sn_str_starts(rest, sn_str_of(ops[i].text))) {
            size_t end = at + strlen(ops[i].text);
            return (token){T_OP, sn_str_slice(in->text, at, end), at, end, ops[i].op};
        }
    if ((unsigned char)rest.ptr[0] < 0x20 || (unsigned char)rest.ptr[0] >= 0x7f)
        sn_expr_wrong(in->diag, at, "byte 0x%02x cannot stand here",
                      (unsigned)(unsigned char)rest.ptr[0]);
    else
        sn_expr_wrong(in->diag, at, "'%c' cannot stand here", rest.ptr[0]);
    return (token){.kind = T_WRONG, .at = at, .end = at};
}

static token
read_text(reader *in, size_t at)
{
    size_t len =
        sn_str_find(sn_str_slice(in->text, at + 1, in->text.len), in->text.ptr[at]);
    size_t end = at + 1 + len;

    if (end == in->text.len) {
        sn_expr_wrong(in->diag, at, "a text without its closing quote");
        return (token){.kind = T_WRONG, .at = at, .end = at};
    }
    return (token){T_TEXT, sn_str_slice(in->text, at + 1, end), at, end + 1,
                   SN_EXPR_NONE};
}

static token
span_token(const reader *in, token_kind kind, size_t at, size_t end)
{
    return (token){kind, sn_str_slice(in->text, at, end), at, end, SN_EXPR_NONE};
}

/* Moves to the next token. */
static void
step(reader *in)
{
    size_t at = in->at;

    while (at < in->text.len && sn_is_space(in->text.ptr[at]))
        at++;
    char c = at < in->text.len ? in->text.ptr[at] : '\0';
    if (at == in->text.len)
        in->next = span_token(in, T_END, at, at);
    else if (sn_is_digit(c))
        in->next = span_token(in, T_NUMBER, at, number_end(in->text, at));
    else if (is_name_start(c))
        in->next = span_token(in, T_PATH, at, path_end(in->text, at));
    else if (c == '\'' || c == '"')
        in->next = read_text(in, at);
    else if (c != '\0' && strchr("()[],", c))
        in->next = span_token(in, T_SIGN, at, at + 1);
    else
        in->next = read_op(in, at);
    in->at = in->next.end;
}

static bool
at_sign(const reader *in, char sign)
{
    return in->next.kind == T_SIGN && in->next.text.ptr[0] == sign;
}

static bool
at_word(const reader *in, const char *word)
{
    return in->next.kind == T_PATH && sn_str_eq(in->next.text, sn_str_of(word));
}

static bool
is_op(const reader *in, sn_expr_op from, sn_expr_op to)
{
    return in->next.kind == T_OP && in->next.op >= from && in->next.op <= to;
}

/* Says that `what` was expected where the next token stands. */
static uint16_t
expected(reader *in, const char *what)
{
    if (in->next.kind == T_END)
        sn_expr_wrong(in->diag, in->next.at, "expected %s at the end", what);
    else if (in->next.kind != T_WRONG)
        sn_expr_wrong(in->diag, in->next.at, "expected %s, not '%.*s'", what,
                      (int)(in->next.text.len < 40 ? in->next.text.len : 40),
                      in->next.text.ptr);
    return 0;
}

static uint16_t
new_node(reader *in, sn_expr_kind kind, size_t at)
{
    uint16_t i = ++in->x->count; /* every node stands for a byte of the text or more */

    in->x->nodes[i] = (sn_expr_node){.kind = (uint8_t)kind, .at = (uint16_t)at};
    return i;
}

static sn_expr_node *
node(const reader *in, uint16_t i)
{
    return &in->x->nodes[i];
}

/* Appends a child behind `last`; 0: it is the first. */
static void
add_child(reader *in, uint16_t parent, uint16_t last, uint16_t child)
{
    if (last)
        node(in, last)->next = child;
    else
        node(in, parent)->first = child;
    node(in, parent)->count++;
    node(in, parent)->end = node(in, child)->end;
}

static uint16_t
new_const(reader *in, const token *t, sn_expr_value value)
{
    uint16_t i = new_node(in, SN_EXPR_CONST, t->at);

    node(in, i)->value = value;
    node(in, i)->end = (uint16_t)t->end;
    return i;
}

/* At most 15 digits, so that the quotient of two exact doubles is the nearest one. */
static uint16_t
read_number(reader *in)
{
    token t = in->next;
    double n = 0, scale = 1;
    unsigned digits = 0;
    bool behind = false;

    for (size_t i = 0; i < t.text.len; i++) {
        behind |= t.text.ptr[i] == '.';
        if (t.text.ptr[i] == '.')
            continue;
        n = n * 10 + (t.text.ptr[i] - '0');
        scale *= behind ? 10 : 1;
        digits++;
    }
    if (digits > 15) {
        sn_expr_wrong(in->diag, t.at, "a number has at most 15 digits");
        return 0;
    }
    step(in);
    return new_const(in, &t, (sn_expr_value){SN_EXPR_NUMBER, .number = n / scale});
}

/* {or {"," or}} up to the closing sign, as children of `parent`. */
static uint16_t
read_children(reader *in, uint16_t parent, char close)
{
    char what[] = "',' or '?'";
    uint16_t last = 0;

    what[8] = close;
    step(in);
    if (!at_sign(in, close))
        for (;;) {
            uint16_t child = read_or(in);
            if (!child)
                return 0;
            add_child(in, parent, last, child);
            last = child;
            if (!at_sign(in, ','))
                break;
            step(in);
        }
    if (!at_sign(in, close))
        return expected(in, what);
    node(in, parent)->end = (uint16_t)in->next.end;
    step(in);
    return parent;
}

/* One level down; 0 below the last one. */
static uint16_t
read_nested(reader *in, uint16_t parent, char close)
{
    if (in->depth == SN_EXPR_DEPTH) {
        sn_expr_wrong(in->diag, in->next.at, "nested deeper than %d levels",
                      SN_EXPR_DEPTH);
        return 0;
    }
    in->depth++;
    uint16_t i = read_children(in, parent, close);
    in->depth--;
    return i;
}

const sn_expr_function sn_expr_functions[SN_EXPR_FN_COUNT] = {
#define X(id, name, least, most, takes, gives) {name, least, most, takes, gives},
    SN_EXPR_FUNCTIONS(X)
#undef X
};

static uint16_t
read_call(reader *in, const token *name)
{
    uint8_t fn = 0;

    while (fn < SN_EXPR_FN_COUNT &&
           !sn_str_eq(name->text, sn_str_of(sn_expr_functions[fn].name)))
        fn++;
    if (fn == SN_EXPR_FN_COUNT) {
        sn_expr_wrong(in->diag, name->at, "no function '%.*s'",
                      (int)(name->text.len < 80 ? name->text.len : 80), name->text.ptr);
        return 0;
    }
    uint16_t i = new_node(in, SN_EXPR_CALL, name->at);
    node(in, i)->fn = fn;
    if (!read_nested(in, i, ')'))
        return 0;
    const sn_expr_function *f = &sn_expr_functions[fn];
    if (node(in, i)->count >= f->least && node(in, i)->count <= f->most)
        return i;
    if (f->least == f->most)
        sn_expr_wrong(in->diag, name->at, "%s takes %u argument%s, not %u", f->name,
                      f->least, f->least == 1 ? "" : "s", node(in, i)->count);
    else
        sn_expr_wrong(in->diag, name->at, "%s takes %u to %u arguments, not %u", f->name,
                      f->least, f->most, node(in, i)->count);
    return 0;
}

/* The index of the name that is this path or begins it; SN_EXPR_OPEN: none. */
static unsigned
find_name(const reader *in, sn_str path, size_t *out_len)
{
    for (size_t len = path.len; len > 0; len--) {
        if (len < path.len && path.ptr[len] != '.')
            continue;
        for (size_t i = 0; i < in->scope->count; i++)
            if (sn_str_eq(sn_str_slice(path, 0, len),
                          sn_str_of(in->scope->names[i].name))) {
                *out_len = len;
                return (unsigned)i;
            }
    }
    return SN_EXPR_OPEN;
}

static uint16_t
read_member(reader *in, const token *path, unsigned name, size_t len)
{
    bool is_open = name == SN_EXPR_OPEN;
    sn_expr_type type = is_open ? SN_EXPR_ANY : in->scope->names[name].type;
    sn_str rest = sn_str_slice(path->text, len + (len > 0), path->text.len);

    if (rest.len > 0 && type != SN_EXPR_ANY) {
        sn_expr_wrong(in->diag, path->at, "'%.*s' has no members (text stands in quotes)",
                      (int)(len < 80 ? len : 80), path->text.ptr);
        return 0;
    }
    uint16_t i = new_node(in, SN_EXPR_MEMBER, path->at);
    node(in, i)->name = (uint16_t)name;
    node(in, i)->type = (uint8_t)type;
    node(in, i)->value.text = rest;
    node(in, i)->end = (uint16_t)path->end;
    return i;
}

static uint16_t
read_path(reader *in)
{
    token path = in->next;
    size_t len = 0;

    step(in);
    if (at_sign(in, '('))
        return read_call(in, &path);
    unsigned name = find_name(in, path.text, &len);
    if (name != SN_EXPR_OPEN || in->scope->open)
        return read_member(in, &path, name, len);
    if (in->scope->words) {
        uint16_t i =
            new_const(in, &path, (sn_expr_value){SN_EXPR_TEXT, .text = path.text});
        node(in, i)->is_word = true;
        return i;
    }
    sn_expr_wrong(in->diag, path.at, "no member '%.*s'",
                  (int)(path.text.len < 80 ? path.text.len : 80), path.text.ptr);
    return 0;
}

static const struct {
    const char *word;
    sn_expr_value value;
} constants[] = {
    {"true", {SN_EXPR_BOOL, .truth = true}},
    {"false", {SN_EXPR_BOOL, .truth = false}},
    {"null", {SN_EXPR_NULL, .truth = false}},
};

static uint16_t
read_word(reader *in)
{
    token t = in->next;

    for (size_t i = 0; i < sizeof constants / sizeof *constants; i++)
        if (at_word(in, constants[i].word)) {
            step(in);
            return new_const(in, &t, constants[i].value);
        }
    if (at_word(in, "and") || at_word(in, "or") || at_word(in, "not") ||
        at_word(in, "in"))
        return expected(in, "a value");
    return read_path(in);
}

/* "(" or ")": the parentheses leave no node behind. */
static uint16_t
read_parenthesis(reader *in)
{
    if (in->depth == SN_EXPR_DEPTH) {
        sn_expr_wrong(in->diag, in->next.at, "nested deeper than %d levels",
                      SN_EXPR_DEPTH);
        return 0;
    }
    in->depth++;
    step(in);
    uint16_t i = read_or(in);
    in->depth--;
    if (!i)
        return 0;
    if (!at_sign(in, ')'))
        return expected(in, "')'");
    step(in);
    return i;
}

static uint16_t
read_prim(reader *in)
{
    token t = in->next;

    switch (t.kind) {
    case T_NUMBER:
        return read_number(in);
    case T_TEXT:
        step(in);
        return new_const(in, &t, (sn_expr_value){SN_EXPR_TEXT, .text = t.text});
    case T_PATH:
        return read_word(in);
    default:
        if (at_sign(in, '('))
            return read_parenthesis(in);
        if (at_sign(in, '['))
            return read_nested(in, new_node(in, SN_EXPR_ITEMS, t.at), ']');
        return expected(in, "a value");
    }
}

static uint16_t
read_unary(reader *in)
{
    if (!is_op(in, SN_EXPR_SUBTRACT, SN_EXPR_SUBTRACT))
        return read_prim(in);
    uint16_t i = new_node(in, SN_EXPR_MINUS, in->next.at);
    step(in);
    uint16_t child = read_prim(in);
    if (!child)
        return 0;
    add_child(in, i, 0, child);
    return i;
}

/* a {op a}: a chain with two children or more becomes one node. */
static uint16_t
read_chain(reader *in, sn_expr_kind kind, sn_expr_op from, sn_expr_op to,
           uint16_t (*part)(reader *in))
{
    uint16_t last = part(in), chain = 0;

    while (last && is_op(in, from, to)) {
        if (!chain) {
            chain = new_node(in, kind, node(in, last)->at);
            add_child(in, chain, 0, last);
        }
        sn_expr_op op = in->next.op;
        step(in);
        uint16_t child = part(in);
        if (!child)
            return 0;
        node(in, child)->op = (uint8_t)op;
        add_child(in, chain, last, child);
        last = child;
    }
    return chain ? chain : last;
}

static uint16_t
read_product(reader *in)
{
    return read_chain(in, SN_EXPR_PRODUCT, SN_EXPR_TIMES, SN_EXPR_DIVIDE, read_unary);
}

static uint16_t
read_sum(reader *in)
{
    return read_chain(in, SN_EXPR_SUM, SN_EXPR_ADD, SN_EXPR_SUBTRACT, read_product);
}

static bool
at_comparison(reader *in)
{
    if (at_word(in, "in")) {
        in->next.kind = T_OP;
        in->next.op = SN_EXPR_MEMBER_OF;
    }
    return is_op(in, SN_EXPR_EQ, SN_EXPR_MEMBER_OF);
}

static uint16_t
read_comparison(reader *in)
{
    uint16_t left = read_sum(in);

    if (!left || !at_comparison(in))
        return left;
    sn_expr_op op = in->next.op;
    sn_expr_kind kind = op == SN_EXPR_MEMBER_OF                      ? SN_EXPR_IN
                        : op == SN_EXPR_LIKE || op == SN_EXPR_UNLIKE ? SN_EXPR_MATCHES
                                                                     : SN_EXPR_COMPARE;
    uint16_t i = new_node(in, kind, node(in, left)->at);
    node(in, i)->fn = (uint8_t)op; /* `op` is what stands before the node */
    step(in);
    uint16_t right = read_sum(in);
    if (!right)
        return 0;
    add_child(in, i, 0, left);
    add_child(in, i, left, right);
    if (at_comparison(in)) {
        sn_expr_wrong(in->diag, in->next.at, "comparisons do not chain: use and");
        return 0;
    }
    return i;
}

static uint16_t
read_not(reader *in)
{
    if (!at_word(in, "not"))
        return read_comparison(in);
    uint16_t i = new_node(in, SN_EXPR_NOT, in->next.at);
    step(in);
    uint16_t child = read_comparison(in);
    if (!child)
        return 0;
    add_child(in, i, 0, child);
    return i;
}

/* a {word a}, as read_chain. */
static uint16_t
read_words(reader *in, sn_expr_kind kind, const char *word, uint16_t (*part)(reader *in))
{
    uint16_t last = part(in), chain = 0;

    while (last && at_word(in, word)) {
        if (!chain) {
            chain = new_node(in, kind, node(in, last)->at);
            add_child(in, chain, 0, last);
        }
        step(in);
        uint16_t child = part(in);
        if (!child)
            return 0;
        add_child(in, chain, last, child);
        last = child;
    }
    return chain ? chain : last;
}

static uint16_t
read_and(reader *in)
{
    return read_words(in, SN_EXPR_AND, "and", read_not);
}

static uint16_t
read_or(reader *in)
{
    return read_words(in, SN_EXPR_OR, "or", read_and);
}

bool
sn_expr_read(sn_expr *x, sn_str text, const sn_expr_scope *scope, seine_diag *diag)
{
    reader in = {.x = x, .text = text, .scope = scope, .diag = diag};

    step(&in);
    if (in.next.kind == T_END)
        sn_expr_wrong(diag, 0, "an empty expression");
    else
        x->root = read_or(&in);
    if (x->root && in.next.kind != T_END)
        x->root = expected(&in, "an operator or the end");
    return x->root != 0;
}
