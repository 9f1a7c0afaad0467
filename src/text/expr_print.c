/* SPDX-License-Identifier: Apache-2.0 */
/* Writes an expression in one form for all spellings. */
#include "text/expr_parts.h"

static void print(const sn_expr *x, uint16_t i, sn_buf *out);

/* How strongly a node holds together; what binds less than its surroundings needs
 * parentheses. */
static int
strength(const sn_expr_node *n)
{
    switch ((sn_expr_kind)n->kind) {
    case SN_EXPR_OR:
        return 1;
    case SN_EXPR_AND:
        return 2;
    case SN_EXPR_NOT:
        return 3;
    case SN_EXPR_COMPARE:
    case SN_EXPR_MATCHES:
    case SN_EXPR_IN:
        return 4;
    case SN_EXPR_SUM:
        return 5;
    case SN_EXPR_PRODUCT:
        return 6;
    case SN_EXPR_MINUS:
        return 7;
    default:
        return 8;
    }
}

static void
print_inside(const sn_expr *x, uint16_t i, int least, sn_buf *out)
{
    bool needs = strength(&x->nodes[i]) < least;

    if (needs)
        sn_buf_char(out, '(');
    print(x, i, out);
    if (needs)
        sn_buf_char(out, ')');
}

static void
print_chain(const sn_expr *x, const sn_expr_node *n, const char *word, sn_buf *out)
{
    for (uint16_t i = n->first; i; i = x->nodes[i].next) {
        if (i != n->first) {
            sn_buf_char(out, ' ');
            sn_buf_text(out, word ? word : sn_expr_op_text(x->nodes[i].op));
            sn_buf_char(out, ' ');
        }
        print_inside(x, i, strength(n) + 1, out);
    }
}

static void
print_list(const sn_expr *x, const sn_expr_node *n, sn_buf *out)
{
    for (uint16_t i = n->first; i; i = x->nodes[i].next) {
        if (i != n->first)
            sn_buf_text(out, ", ");
        print(x, i, out);
    }
}

static void
print_const(const sn_expr *x, const sn_expr_node *n, sn_buf *out)
{
    sn_str spelt = {x->text + n->at, (size_t)(n->end - n->at)};

    if (n->value.type == SN_EXPR_LIST) {
        sn_buf_char(out, '[');
        print_list(x, n, out);
        sn_buf_char(out, ']');
    } else if (n->value.type == SN_EXPR_TEXT) {
        sn_str text = n->value.text;
        char quote = sn_str_find(text, '\'') < text.len ? '"' : '\'';
        sn_buf_char(out, quote);
        sn_buf_str(out, text);
        sn_buf_char(out, quote);
    } else {
        sn_buf_str(out, spelt);
    }
}

static void
print_binary(const sn_expr *x, const sn_expr_node *n, sn_buf *out)
{
    print_inside(x, n->first, 5, out);
    sn_buf_char(out, ' ');
    sn_buf_text(out, sn_expr_op_text(n->fn));
    sn_buf_char(out, ' ');
    print_inside(x, x->nodes[n->first].next, 5, out);
}

static void
print(const sn_expr *x, uint16_t i, sn_buf *out)
{
    const sn_expr_node *n = &x->nodes[i];

    switch ((sn_expr_kind)n->kind) {
    case SN_EXPR_CONST:
        print_const(x, n, out);
        break;
    case SN_EXPR_MEMBER:
        sn_buf_add(out, x->text + n->at, (size_t)(n->end - n->at));
        break;
    case SN_EXPR_OR:
        print_chain(x, n, "or", out);
        break;
    case SN_EXPR_AND:
        print_chain(x, n, "and", out);
        break;
    case SN_EXPR_NOT:
        sn_buf_text(out, "not ");
        print_inside(x, n->first, 4, out);
        break;
    case SN_EXPR_COMPARE:
    case SN_EXPR_MATCHES:
    case SN_EXPR_IN:
        print_binary(x, n, out);
        break;
    case SN_EXPR_SUM:
    case SN_EXPR_PRODUCT:
        print_chain(x, n, NULL, out);
        break;
    case SN_EXPR_MINUS:
        sn_buf_char(out, '-');
        print_inside(x, n->first, 8, out);
        break;
    case SN_EXPR_ITEMS:
        sn_buf_char(out, '[');
        print_list(x, n, out);
        sn_buf_char(out, ']');
        break;
    case SN_EXPR_CALL:
        sn_buf_text(out, sn_expr_functions[n->fn].name);
        sn_buf_char(out, '(');
        print_list(x, n, out);
        sn_buf_char(out, ')');
        break;
    }
}

void
sn_expr_print(const sn_expr *x, sn_buf *out)
{
    print(x, x->root, out);
}
