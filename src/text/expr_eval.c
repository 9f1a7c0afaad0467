/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates an expression, within its budget. */
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "text/expr_parts.h"

enum { FEW = 3, DEAR = 16 }; /* arguments without the arena; steps of PCRE2 for one */

static sn_expr_value eval(sn_expr_runner *r, uint16_t i);

static const sn_expr_value null_value;

seine_err
sn_expr_runner_new(sn_expr_runner **out_runner)
{
    sn_expr_runner *r = sn_zalloc(sizeof *r);

    if (!r)
        return SEINE_E_NOMEM;
    if (sn_matcher_init(&r->matcher) != SEINE_OK) {
        sn_free(r);
        return SEINE_E_NOMEM;
    }
    sn_arena_init(&r->arena, 4096, SN_EXPR_SCRATCH);
    *out_runner = r;
    return SEINE_OK;
}

void
sn_expr_runner_free(sn_expr_runner *r)
{
    if (!r)
        return;
    sn_matcher_fini(&r->matcher);
    sn_arena_fini(&r->arena);
    sn_free(r->url_room);
    sn_free(r);
}

uint64_t
sn_expr_steps(const sn_expr_runner *r)
{
    return r->steps;
}

static bool
spend_steps(sn_expr_runner *r, uint64_t steps)
{
    if (r->err != SEINE_OK)
        return false;
    if (steps > SN_EXPR_STEPS - r->steps) {
        r->err = SEINE_E_BUDGET;
        return false;
    }
    r->steps += steps;
    return true;
}

bool
sn_expr_spend(sn_expr_runner *r, size_t bytes)
{
    return spend_steps(r, bytes / SN_EXPR_STEP_BYTES + 1);
}

static void *
scratch(sn_expr_runner *r, size_t n, size_t align)
{
    if (!sn_expr_spend(r, n))
        return NULL;
    void *p = sn_arena_get(&r->arena, n > 0 ? n : 1, 1, align);
    if (!p)
        r->err = n > SN_EXPR_SCRATCH - r->arena.held ? SEINE_E_BUDGET : SEINE_E_NOMEM;
    return p;
}

char *
sn_expr_room(sn_expr_runner *r, size_t n)
{
    return scratch(r, n, 1);
}

sn_expr_value *
sn_expr_list_room(sn_expr_runner *r, size_t count)
{
    return scratch(r, count * sizeof(sn_expr_value), _Alignof(sn_expr_value));
}

sn_expr_value
sn_expr_text(sn_str text)
{
    return (sn_expr_value){SN_EXPR_TEXT, .text = text};
}

sn_expr_value
sn_expr_number(double n)
{
    if (!isfinite(n))
        return null_value;
    return (sn_expr_value){SN_EXPR_NUMBER, .number = n};
}

static sn_expr_value
truth_value(bool truth)
{
    return (sn_expr_value){SN_EXPR_BOOL, .truth = truth};
}

bool
sn_expr_find(sn_expr_runner *r, const sn_pattern *p, sn_str text, size_t from,
             bool is_utf8, sn_match *out_match)
{
    sn_pattern_how how = {from, SN_PATTERN_QUICK, is_utf8};
    size_t rest = text.len - from;
    bool found = false;

    if (!sn_expr_spend(r, is_utf8 ? 0 : rest))
        return false;
    seine_err e = sn_pattern_find(p, &r->matcher, text, how, out_match, &found);
    if (e == SEINE_E_PATTERN_BUDGET) {
        how.steps = sn_pattern_steps(rest);
        if (!spend_steps(r, how.steps / DEAR))
            return false;
        e = sn_pattern_find(p, &r->matcher, text, how, out_match, &found);
    }
    if (e != SEINE_OK)
        r->err = e;
    return e == SEINE_OK && sn_expr_spend(r, found ? out_match->end - from : rest) &&
           found;
}

bool
sn_expr_order(const sn_expr_value *a, const sn_expr_value *b, int *out_order)
{
    if (a->type != b->type)
        return false;
    if (a->type == SN_EXPR_NUMBER)
        *out_order = (a->number > b->number) - (a->number < b->number);
    else if (a->type == SN_EXPR_TEXT)
        *out_order = sn_str_cmp(a->text, b->text);
    else
        return false;
    return true;
}

/* What = says: a condition, or null for values of two types. Recurses into lists of
 * lists, which a source may nest as deep as it reads them. */
static sn_expr_value
equal(sn_expr_runner *r, const sn_expr_value *a, const sn_expr_value *b)
{
    if (a->type == SN_EXPR_NULL || b->type == SN_EXPR_NULL)
        return truth_value(a->type == b->type);
    if (a->type != b->type || !sn_expr_spend(r, 0))
        return null_value;
    switch (a->type) {
    case SN_EXPR_BOOL:
        return truth_value(a->truth == b->truth);
    case SN_EXPR_NUMBER:
        return truth_value(a->number == b->number);
    case SN_EXPR_TEXT:
        return truth_value(sn_str_eq(a->text, b->text) && sn_expr_spend(r, a->text.len));
    default:
        break;
    }
    if (a->list.count != b->list.count)
        return truth_value(false);
    for (size_t i = 0; i < a->list.count; i++) {
        sn_expr_value same = equal(r, &a->list.items[i], &b->list.items[i]);
        if (same.type != SN_EXPR_BOOL || !same.truth)
            return truth_value(false);
    }
    return truth_value(true);
}

static bool
is_true(const sn_expr_value *v)
{
    return v->type == SN_EXPR_BOOL && v->truth;
}

static sn_expr_value
compare(sn_expr_runner *r, const sn_expr_node *n)
{
    sn_expr_value a = eval(r, n->first), b = eval(r, r->x->nodes[n->first].next);
    int order;

    if (n->fn == SN_EXPR_EQ || n->fn == SN_EXPR_NE) {
        sn_expr_value same = equal(r, &a, &b);
        if (same.type == SN_EXPR_BOOL && n->fn == SN_EXPR_NE)
            same.truth = !same.truth;
        return same;
    }
    if (a.type == SN_EXPR_NULL || b.type == SN_EXPR_NULL)
        return truth_value(false);
    if (!sn_expr_order(&a, &b, &order))
        return null_value;
    if (a.type == SN_EXPR_TEXT && !sn_expr_spend(r, a.text.len))
        return null_value;
    switch (n->fn) {
    case SN_EXPR_LT:
        return truth_value(order < 0);
    case SN_EXPR_LE:
        return truth_value(order <= 0);
    case SN_EXPR_GT:
        return truth_value(order > 0);
    default:
        return truth_value(order >= 0);
    }
}

static sn_expr_value
matches(sn_expr_runner *r, const sn_expr_node *n)
{
    const sn_expr_node *pattern = &r->x->nodes[r->x->nodes[n->first].next];
    sn_expr_value a = eval(r, n->first);
    sn_match match;

    if (a.type == SN_EXPR_NULL)
        return truth_value(false);
    if (a.type != SN_EXPR_TEXT)
        return null_value;
    bool found = sn_expr_find(r, pattern->pattern, a.text, 0, false, &match);
    return truth_value(found == (n->fn == SN_EXPR_LIKE));
}

static sn_expr_value
is_in(sn_expr_runner *r, const sn_expr_node *n)
{
    sn_expr_value a = eval(r, n->first), b = eval(r, r->x->nodes[n->first].next);

    if (a.type == SN_EXPR_NULL || b.type == SN_EXPR_NULL)
        return truth_value(false);
    if (b.type != SN_EXPR_LIST)
        return null_value;
    for (size_t i = 0; i < b.list.count && sn_expr_spend(r, 0); i++) {
        sn_expr_value same = equal(r, &a, &b.list.items[i]);
        if (is_true(&same))
            return truth_value(true);
    }
    return truth_value(false);
}

/* or stops at the first true, and at the first that is not. */
static sn_expr_value
logic(sn_expr_runner *r, const sn_expr_node *n)
{
    bool stop_at = n->kind == SN_EXPR_OR;

    for (uint16_t i = n->first; i; i = r->x->nodes[i].next) {
        sn_expr_value v = eval(r, i);
        if (is_true(&v) == stop_at)
            return truth_value(stop_at);
    }
    return truth_value(!stop_at);
}

static sn_expr_value
arithmetic(sn_expr_runner *r, const sn_expr_node *n)
{
    double total = 0;

    for (uint16_t i = n->first; i; i = r->x->nodes[i].next) {
        sn_expr_value v = eval(r, i);
        if (v.type != SN_EXPR_NUMBER)
            return null_value;
        if (i == n->first)
            total = v.number;
        else if (r->x->nodes[i].op == SN_EXPR_ADD)
            total += v.number;
        else if (r->x->nodes[i].op == SN_EXPR_SUBTRACT)
            total -= v.number;
        else if (r->x->nodes[i].op == SN_EXPR_TIMES)
            total *= v.number;
        else if (v.number != 0)
            total /= v.number;
        else
            return null_value;
    }
    return sn_expr_number(total);
}

static sn_expr_value
member(sn_expr_runner *r, const sn_expr_node *n)
{
    sn_expr_value v = null_value;

    if (r->source && r->source->member)
        r->source->member(r->source->arg, n->name, n->value.text, &v);
    if (v.type == SN_EXPR_NUMBER && !isfinite(v.number))
        return null_value;
    return v.type < SN_EXPR_ANY ? v : null_value;
}

/* The values of all children; NULL: r->err. */
static sn_expr_value *
eval_children(sn_expr_runner *r, const sn_expr_node *n, sn_expr_value few[FEW])
{
    sn_expr_value *all = few;
    size_t k = 0;

    if (n->count > FEW)
        all = sn_expr_list_room(r, n->count);
    for (uint16_t i = all ? n->first : 0; i; i = r->x->nodes[i].next)
        all[k++] = eval(r, i);
    return r->err == SEINE_OK ? all : NULL;
}

static sn_expr_value
items(sn_expr_runner *r, const sn_expr_node *n)
{
    sn_expr_value few[FEW] = {0};
    sn_expr_value *all = eval_children(r, n, few);

    if (all == few) { /* a list outlives this call */
        all = sn_expr_list_room(r, n->count);
        if (all)
            memcpy(all, few, n->count * sizeof *all);
    }
    if (!all)
        return null_value;
    return (sn_expr_value){SN_EXPR_LIST, .list = {all, n->count}};
}

/* if and coalesce evaluate what they choose and nothing else. */
static sn_expr_value
choose(sn_expr_runner *r, const sn_expr_node *n)
{
    uint16_t i = n->first;

    if (n->fn == SN_EXPR_FN_IF) {
        sn_expr_value condition = eval(r, i);
        i = r->x->nodes[i].next;
        if (!is_true(&condition))
            i = r->x->nodes[i].next;
        return i ? eval(r, i) : null_value;
    }
    for (; i; i = r->x->nodes[i].next) {
        sn_expr_value v = eval(r, i);
        if (v.type != SN_EXPR_NULL)
            return v;
    }
    return null_value;
}

/* min and max, of the arguments or of the items of one list; nulls do not count. */
static sn_expr_value
extreme(sn_expr_runner *r, sn_expr_fn fn, const sn_expr_value *all, size_t count)
{
    sn_expr_value best = null_value;

    if (count == 1 && all[0].type == SN_EXPR_LIST) {
        count = all[0].list.count;
        all = all[0].list.items;
    }
    for (size_t i = 0; i < count && sn_expr_spend(r, 0); i++) {
        int order = 0;
        if (all[i].type == SN_EXPR_NULL)
            continue;
        if (best.type == SN_EXPR_NULL && sn_expr_order(&all[i], &all[i], &order)) {
            best = all[i];
            continue;
        }
        if (!sn_expr_order(&all[i], &best, &order))
            return null_value;
        if (fn == SN_EXPR_FN_MIN ? order < 0 : order > 0)
            best = all[i];
    }
    return best;
}

static double
round_to(double n, double digits)
{
    double scale = 1;

    for (int i = 0; i < 15 && i < digits; i++)
        scale *= 10;
    if (fabs(n) * scale >= 9007199254740992.0) /* 2^53: there is nothing to round */
        return n;
    return round(n * scale) / scale;
}

static bool
has_null(const sn_expr_value *all, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (all[i].type == SN_EXPR_NULL)
            return true;
    return false;
}

/* Are the arguments of the types that the function takes? */
static bool
fits(const sn_expr_function *f, const sn_expr_value *all, size_t count)
{
    const char *letter = f->takes;

    for (size_t i = 0; i < count; i++) {
        sn_expr_type type = all[i].type;
        if (strchr("tdp", *letter) ? type != SN_EXPR_TEXT
            : *letter == 'n'       ? type != SN_EXPR_NUMBER
            : *letter == 'l'       ? type != SN_EXPR_LIST
            : *letter == 'o'       ? type != SN_EXPR_TEXT && type != SN_EXPR_NUMBER
                                   : false)
            return false;
        letter += letter[1] != '\0';
    }
    return true;
}

static sn_expr_value
call(sn_expr_runner *r, const sn_expr_node *n)
{
    sn_expr_fn fn = n->fn;
    sn_expr_value few[FEW] = {0};

    if (fn == SN_EXPR_FN_IF || fn == SN_EXPR_FN_COALESCE)
        return choose(r, n);
    const sn_expr_value *all = eval_children(r, n, few);
    if (!all)
        return null_value;
    if (fn == SN_EXPR_FN_MIN || fn == SN_EXPR_FN_MAX)
        return extreme(r, fn, all, n->count);
    if (fn == SN_EXPR_FN_CONCAT)
        return sn_expr_call_text(r, fn, all, n->count);
    if (has_null(all, n->count) || !fits(&sn_expr_functions[fn], all, n->count))
        return null_value;
    switch (fn) {
    case SN_EXPR_FN_ROUND:
        return sn_expr_number(round_to(all[0].number, n->count > 1 ? all[1].number : 0));
    case SN_EXPR_FN_ABS:
        return sn_expr_number(fabs(all[0].number));
    case SN_EXPR_FN_REPLACE:
    case SN_EXPR_FN_MATCH:
    case SN_EXPR_FN_SPLIT:
        return sn_expr_call_pattern(r, fn, all,
                                    r->x->nodes[r->x->nodes[n->first].next].pattern);
    case SN_EXPR_FN_DATE:
    case SN_EXPR_FN_ADD:
    case SN_EXPR_FN_DAYS:
    case SN_EXPR_FN_HOURS:
    case SN_EXPR_FN_AT:
    case SN_EXPR_FN_FORMAT:
        return sn_expr_call_date(r, fn, all, n->count);
    case SN_EXPR_FN_HOST:
    case SN_EXPR_FN_PATH:
    case SN_EXPR_FN_PARAM:
    case SN_EXPR_FN_RESOLVE:
        return sn_expr_call_url(r, fn, all);
    default:
        return sn_expr_call_text(r, fn, all, n->count);
    }
}

/* Recurses as deep as the text is nested. */
static sn_expr_value
eval(sn_expr_runner *r, uint16_t i)
{
    const sn_expr_node *n = &r->x->nodes[i];
    sn_expr_value v;

    if (!sn_expr_spend(r, 0))
        return null_value;
    switch ((sn_expr_kind)n->kind) {
    case SN_EXPR_CONST:
        return n->value;
    case SN_EXPR_MEMBER:
        return member(r, n);
    case SN_EXPR_OR:
    case SN_EXPR_AND:
        return logic(r, n);
    case SN_EXPR_NOT:
        v = eval(r, n->first);
        return truth_value(!is_true(&v));
    case SN_EXPR_COMPARE:
        return compare(r, n);
    case SN_EXPR_MATCHES:
        return matches(r, n);
    case SN_EXPR_IN:
        return is_in(r, n);
    case SN_EXPR_SUM:
    case SN_EXPR_PRODUCT:
        return arithmetic(r, n);
    case SN_EXPR_MINUS:
        v = eval(r, n->first);
        return v.type == SN_EXPR_NUMBER ? sn_expr_number(-v.number) : null_value;
    case SN_EXPR_ITEMS:
        return items(r, n);
    case SN_EXPR_CALL:
        return call(r, n);
    }
    return null_value;
}

seine_err
sn_expr_eval(const sn_expr *x, sn_expr_runner *r, const sn_expr_source *source,
             sn_expr_value *out_value)
{
    sn_arena_reset(&r->arena);
    r->x = x;
    r->source = source;
    r->steps = 0;
    r->err = SEINE_OK;
    *out_value = eval(r, x->root);
    if (r->err != SEINE_OK)
        *out_value = null_value;
    return r->err;
}

seine_err
sn_expr_is(const sn_expr *x, sn_expr_runner *r, const sn_expr_source *source,
           bool *out_is)
{
    sn_expr_value v;
    seine_err e = sn_expr_eval(x, r, source, &v);

    *out_is = e == SEINE_OK && is_true(&v);
    return e;
}
