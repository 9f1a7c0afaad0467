/* SPDX-License-Identifier: Apache-2.0 */
/* Gives the nodes of an expression their types, and finds what can never be right. */
#include <string.h>

#include "base/diag.h"
#include "text/expr_parts.h"

typedef struct checker {
    sn_expr *x;
    const sn_expr_scope *scope;
    seine_diag *diag;
} checker;

/* Is a word without quotes text here? Only beside a member, so that a misspelt member is
 * no text by accident. */
typedef enum words { WORDS_NONE, WORDS_TEXT } words;

static bool check(const checker *c, uint16_t i, words w);

static sn_expr_node *
node(const checker *c, uint16_t i)
{
    return &c->x->nodes[i];
}

static const char *
type_name(sn_expr_type type)
{
    static const char *const names[] = {"null", "a condition", "a number", "a text",
                                        "a list"};

    return type < SN_EXPR_ANY ? names[type] : "a value";
}

static bool
is_known(const sn_expr_node *n)
{
    return n->type != SN_EXPR_ANY && n->type != SN_EXPR_NULL;
}

/* Can the node have a value of this type? */
static bool
can_be(const sn_expr_node *n, sn_expr_type type)
{
    return !is_known(n) || n->type == type;
}

static bool
wants(const checker *c, const sn_expr_node *n, sn_expr_type type, const char *who)
{
    if (can_be(n, type))
        return true;
    sn_expr_wrong(c->diag, n->at, "%s takes %s, and this is %s%s", who, type_name(type),
                  type_name(n->type),
                  type == SN_EXPR_NUMBER && n->type == SN_EXPR_TEXT && who[0] == '+'
                      ? " (concat joins texts)"
                      : "");
    return false;
}

static bool
wants_all(const checker *c, const sn_expr_node *parent, sn_expr_type type,
          const char *who)
{
    for (uint16_t i = parent->first; i; i = node(c, i)->next)
        if (!check(c, i, WORDS_NONE) || !wants(c, node(c, i), type, who))
            return false;
    return true;
}

static bool
has_member(const checker *c, uint16_t i)
{
    if (node(c, i)->kind == SN_EXPR_MEMBER)
        return true;
    for (uint16_t child = node(c, i)->first; child; child = node(c, child)->next)
        if (has_member(c, child))
            return true;
    return false;
}

/* Checks both sides of a comparison. */
static bool
check_sides(const checker *c, const sn_expr_node *n)
{
    uint16_t left = n->first, right = node(c, left)->next;

    return check(c, left, has_member(c, right) ? WORDS_TEXT : WORDS_NONE) &&
           check(c, right, has_member(c, left) ? WORDS_TEXT : WORDS_NONE);
}

static bool
check_mix(const checker *c, const sn_expr_node *a, const sn_expr_node *b)
{
    if (!is_known(a) || !is_known(b) || a->type == b->type)
        return true;
    sn_expr_wrong(c->diag, b->at, "%s is compared with %s", type_name(a->type),
                  type_name(b->type));
    return false;
}

static bool
check_compare(const checker *c, sn_expr_node *n)
{
    const sn_expr_node *a = node(c, n->first), *b = node(c, a->next);
    const sn_expr_node *sides[] = {a, b};

    if (!check_sides(c, n) || !check_mix(c, a, b))
        return false;
    for (int i = 0; i < 2 && n->fn != SN_EXPR_EQ && n->fn != SN_EXPR_NE; i++)
        if (sides[i]->type == SN_EXPR_BOOL || sides[i]->type == SN_EXPR_LIST) {
            sn_expr_wrong(c->diag, sides[i]->at, "'%s' has no order for %s",
                          sn_expr_op_text(n->fn), type_name(sides[i]->type));
            return false;
        }
    return true;
}

/* A pattern is compiled here and kept with its text. */
static bool
check_pattern(const checker *c, sn_expr_node *n)
{
    seine_diag why = SEINE_DIAG;

    if (n->kind != SN_EXPR_CONST || n->type != SN_EXPR_TEXT) {
        sn_expr_wrong(c->diag, n->at, "a pattern is a text in quotes");
        return false;
    }
    seine_err e = sn_pattern_new(n->value.text, &n->pattern, &why);
    if (e == SEINE_E_CONFIG)
        sn_expr_wrong(c->diag, n->at, "pattern: %s", why.text);
    return e == SEINE_OK;
}

static bool
check_matches(const checker *c, sn_expr_node *n)
{
    sn_expr_node *a = node(c, n->first), *b = node(c, a->next);

    return check_sides(c, n) && wants(c, a, SN_EXPR_TEXT, sn_expr_op_text(n->fn)) &&
           check_pattern(c, b);
}

static bool
check_in(const checker *c, sn_expr_node *n)
{
    const sn_expr_node *a = node(c, n->first), *b = node(c, a->next);

    if (!check_sides(c, n) || !wants(c, b, SN_EXPR_LIST, "in"))
        return false;
    for (uint16_t i = b->kind == SN_EXPR_CALL ? 0 : b->first; i; i = node(c, i)->next)
        if (!check_mix(c, a, node(c, i)))
            return false;
    return true;
}

/* A list of constants is itself one, made once. */
static bool
check_items(const checker *c, sn_expr_node *n, words w)
{
    bool is_const = true;
    size_t k = 0;

    n->type = SN_EXPR_LIST;
    for (uint16_t i = n->first; i; i = node(c, i)->next) {
        if (!check(c, i, w))
            return false;
        is_const = is_const && node(c, i)->kind == SN_EXPR_CONST;
    }
    if (!is_const)
        return true;
    sn_expr_value *items =
        SN_ARENA_ARRAY(&c->x->arena, sn_expr_value, n->count ? n->count : 1u);
    if (!items)
        return false;
    for (uint16_t i = n->first; i; i = node(c, i)->next)
        items[k++] = node(c, i)->value;
    n->kind = SN_EXPR_CONST;
    n->value = (sn_expr_value){SN_EXPR_LIST, .list = {items, n->count}};
    return true;
}

static bool
check_argument(const checker *c, sn_expr_node *n, char letter, const char *who)
{
    switch (letter) {
    case 't':
    case 'd':
        return wants(c, n, SN_EXPR_TEXT, who);
    case 'n':
        return wants(c, n, SN_EXPR_NUMBER, who);
    case 'l':
        return wants(c, n, SN_EXPR_LIST, who);
    case 'c':
        return wants(c, n, SN_EXPR_BOOL, who);
    case 'p':
        return check_pattern(c, n);
    case 'o':
        return n->type == SN_EXPR_TEXT || wants(c, n, SN_EXPR_NUMBER, who);
    default:
        return true;
    }
}

/* The one type of all of these; ANY: there are several. */
static sn_expr_type
join_types(const checker *c, uint16_t i)
{
    sn_expr_type type = SN_EXPR_NULL;

    for (; i; i = node(c, i)->next) {
        sn_expr_type its = node(c, i)->type;
        if (its == SN_EXPR_NULL)
            continue;
        if (type != SN_EXPR_NULL && type != its)
            return SN_EXPR_ANY;
        type = its;
    }
    return type;
}

/* min and max take numbers, or texts, or one list. */
static bool
check_extreme(const checker *c, sn_expr_node *n)
{
    const char *who = sn_expr_functions[n->fn].name;
    const sn_expr_node *known = NULL;

    if (n->count == 1 && can_be(node(c, n->first), SN_EXPR_LIST)) {
        n->type = SN_EXPR_ANY;
        return true;
    }
    n->type = (uint8_t)join_types(c, n->first);
    for (uint16_t i = n->first; i; i = node(c, i)->next) {
        const sn_expr_node *a = node(c, i);
        if (!is_known(a))
            continue;
        if (a->type != SN_EXPR_TEXT && !wants(c, a, SN_EXPR_NUMBER, who))
            return false;
        if (known && !check_mix(c, known, a))
            return false;
        known = a;
    }
    return true;
}

static bool
check_format(const checker *c, const sn_expr_node *n)
{
    const sn_expr_node *format = node(c, node(c, n->first)->next);

    if (format->kind != SN_EXPR_CONST || format->type != SN_EXPR_TEXT ||
        sn_expr_is_format(format->value.text))
        return true;
    sn_expr_wrong(c->diag, format->at,
                  "not a format: %%Y-%%m-%%d … for dates, %%05d or %%.2f for numbers");
    return false;
}

/* A zone that stands in the text and that nobody knows is a mistake. */
static bool
check_zone(const checker *c, const sn_expr_node *n)
{
    uint16_t time = node(c, n->first)->next, third = node(c, time)->next;
    const sn_expr_node *zone = node(c, third);

    if (third == 0 || !c->scope->has_zone || zone->kind != SN_EXPR_CONST ||
        zone->type != SN_EXPR_TEXT || sn_expr_is_offset(zone->value.text) ||
        c->scope->has_zone(c->scope->arg, zone->value.text))
        return true;
    sn_expr_wrong(c->diag, zone->at,
                  "no time zone has that name: 'Europe/Berlin', 'UTC' "
                  "and '+01:00' are some");
    return false;
}

static sn_expr_type
result_type(const checker *c, const sn_expr_node *n)
{
    switch (sn_expr_functions[n->fn].gives) {
    case 't':
        return SN_EXPR_TEXT;
    case 'n':
        return SN_EXPR_NUMBER;
    case 'l':
        return SN_EXPR_LIST;
    default: /* of `if` the condition does not count */
        return join_types(c, n->fn == SN_EXPR_FN_IF ? node(c, n->first)->next : n->first);
    }
}

static bool
check_call(const checker *c, sn_expr_node *n)
{
    const sn_expr_function *f = &sn_expr_functions[n->fn];
    const char *letter = f->takes;

    for (uint16_t i = n->first; i; i = node(c, i)->next) {
        if (!check(c, i, WORDS_NONE) || !check_argument(c, node(c, i), *letter, f->name))
            return false;
        letter += letter[1] != '\0';
    }
    n->type = (uint8_t)result_type(c, n);
    if (n->fn == SN_EXPR_FN_MIN || n->fn == SN_EXPR_FN_MAX)
        return check_extreme(c, n);
    if (n->fn == SN_EXPR_FN_AT)
        return check_zone(c, n);
    return n->fn != SN_EXPR_FN_FORMAT || check_format(c, n);
}

static bool
check_const(const checker *c, sn_expr_node *n, words w)
{
    n->type = (uint8_t)n->value.type;
    if (!n->is_word || w == WORDS_TEXT)
        return true;
    sn_expr_wrong(c->diag, n->at, "no member '%.*s' (text stands in quotes)",
                  (int)(n->value.text.len < 80 ? n->value.text.len : 80),
                  n->value.text.ptr);
    return false;
}

static bool
check_chain(const checker *c, sn_expr_node *n, sn_expr_type type, const char *who)
{
    n->type = (uint8_t)type;
    return wants_all(c, n, type, who);
}

/* Recurses as deep as the text is nested. */
static bool
check(const checker *c, uint16_t i, words w)
{
    sn_expr_node *n = node(c, i);

    switch ((sn_expr_kind)n->kind) {
    case SN_EXPR_CONST:
        return check_const(c, n, w);
    case SN_EXPR_MEMBER:
        return true;
    case SN_EXPR_OR:
        return check_chain(c, n, SN_EXPR_BOOL, "or");
    case SN_EXPR_AND:
        return check_chain(c, n, SN_EXPR_BOOL, "and");
    case SN_EXPR_NOT:
        return check_chain(c, n, SN_EXPR_BOOL, "not");
    case SN_EXPR_COMPARE:
        n->type = SN_EXPR_BOOL;
        return check_compare(c, n);
    case SN_EXPR_MATCHES:
        n->type = SN_EXPR_BOOL;
        return check_matches(c, n);
    case SN_EXPR_IN:
        n->type = SN_EXPR_BOOL;
        return check_in(c, n);
    case SN_EXPR_SUM:
        return check_chain(c, n, SN_EXPR_NUMBER, "+ and -");
    case SN_EXPR_PRODUCT:
        return check_chain(c, n, SN_EXPR_NUMBER, "* and /");
    case SN_EXPR_MINUS:
        return check_chain(c, n, SN_EXPR_NUMBER, "-");
    case SN_EXPR_ITEMS:
        return check_items(c, n, w);
    case SN_EXPR_CALL:
        return check_call(c, n);
    }
    return false;
}

bool
sn_expr_check(sn_expr *x, const sn_expr_scope *scope, seine_diag *diag)
{
    return check(&(checker){x, scope, diag}, x->root, WORDS_NONE);
}
