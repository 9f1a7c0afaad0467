/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Matching, right to left. The result of each compound on each node is memoized, and so
 * are the results for its ancestors and preceding siblings. Each pair is computed once,
 * so the work is linear, whatever the combinators are.
 */
#include <string.h>

#include "base/alloc.h"
#include "text/select_match.h"

enum {
    SELF_YES = 1, /* the compound and those on its left match at this node */
    SELF_NO = 2,
    UP_YES = 4, /* it matches at this node or an ancestor */
    UP_NO = 8,
    BACK_YES = 16, /* it matches at this node or a preceding sibling */
    BACK_NO = 32,

    PER_NODE = 50, /* steps per selector */
    FLOOR = 50000, /* but at least this many: a path of 256 compounds */
    PER_PAGE = 1000000
};

seine_err
seine_finder_new(const seine_tree *tree, seine_finder **out_finder)
{
    if (!tree || !out_finder)
        return SEINE_E_INVAL;
    seine_finder *f = sn_zalloc(sizeof *f);

    if (!f)
        return SEINE_E_NOMEM;
    f->tree = tree;
    f->nodes = sn_tree_size(tree);
    f->attr_id = sn_tree_name(tree, SN_STR("id"));
    f->attr_class = sn_tree_name(tree, SN_STR("class"));
    f->tag_template = sn_tree_name(tree, SN_STR("template"));
    *out_finder = f;
    return SEINE_OK;
}

static void
known_free(sn_known *k)
{
    for (uint16_t i = 0; k->of && i < k->simples; i++)
        sn_free(k->of[i].places);
    sn_free(k->of);
    sn_free(k->memo);
    sn_free(k);
}

void
seine_finder_free(seine_finder *f)
{
    if (!f)
        return;
    while (f->known) {
        sn_known *k = f->known;

        f->known = k->next;
        known_free(k);
    }
    for (size_t i = 0; i < sizeof f->places / sizeof *f->places; i++)
        sn_free(f->places[i]);
    sn_free(f);
}

uint64_t
seine_finder_steps(const seine_finder *f)
{
    if (!f)
        return 0;
    return f->steps;
}

static void
number_names(const seine_finder *f, sn_known *k)
{
    const seine_select *s = k->select;

    for (uint16_t i = 0; i < s->simples; i++) {
        const sn_simple *x = sn_select_simple(s, i);

        if (x->kind != SN_SIMPLE_TAG && x->kind != SN_SIMPLE_ATTR)
            continue;
        k->of[i].name = sn_tree_name(f->tree, sn_select_text(s, x->name));
        k->of[i].exact = sn_tree_name(f->tree, sn_select_text(s, x->exact));
    }
}

static sn_known *
known_new(const seine_finder *f, const seine_select *s)
{
    sn_known *k = sn_zalloc(sizeof *k);

    if (!k)
        return NULL;
    k->hash = s->hash;
    k->simples = s->simples;
    k->compounds = s->compounds;
    k->of = sn_calloc(s->simples + 1U, sizeof *k->of);
    k->memo = sn_calloc((size_t)s->compounds * f->nodes + 1, 1);
    if (!k->of || !k->memo) {
        known_free(k);
        return NULL;
    }
    k->select = s;
    number_names(f, k);
    return k;
}

/* Returns the memo of this selector and moves it to the front. NULL: no memory. */
static sn_known *
known(seine_finder *f, const seine_select *s)
{
    sn_known **at = &f->known, *k;

    while (*at && ((*at)->hash != s->hash || (*at)->simples != s->simples ||
                   (*at)->compounds != s->compounds))
        at = &(*at)->next;
    if ((k = *at))
        *at = k->next;
    else if (!(k = known_new(f, s)))
        return NULL;
    k->select = s;
    k->next = f->known;
    f->known = k;
    return k;
}

bool
sn_match_step(sn_match *m, uint64_t n)
{
    m->known->steps += n;
    m->f->steps += n;
    if (m->known->steps > (uint64_t)PER_NODE * m->f->nodes + FLOOR ||
        m->f->steps > PER_PAGE)
        m->err = SEINE_E_SELECTOR_TIMEOUT;
    return m->err == SEINE_OK;
}

static uint8_t *
memo(const sn_match *m, seine_node n, uint16_t c)
{
    return &m->known->memo[(size_t)c * m->f->nodes + n];
}

seine_node
sn_match_parent(const sn_match *m, seine_node n)
{
    return sn_tree_node(m->f->tree, n)->parent;
}

seine_node
sn_match_before(const sn_match *m, seine_node n)
{
    do
        n = sn_tree_node(m->f->tree, n)->prev;
    while (n != 0 && sn_tree_node(m->f->tree, n)->kind != SEINE_NODE_ELEMENT);
    return n;
}

/* True if compound `c` matches at this node or at one that `before` leads to. */
static bool
reached(sn_match *m, seine_node from, uint16_t c, uint8_t yes, uint8_t no,
        seine_node (*before)(const sn_match *m, seine_node n))
{
    seine_node n = from;
    bool found = false;

    for (; n != 0 && m->err == SEINE_OK; n = before(m, n)) {
        uint8_t is = *memo(m, n, c);

        found = (is & yes) || (!(is & no) && sn_match_compound(m, n, c));
        if (found || (is & no))
            break;
    }
    if (m->err != SEINE_OK)
        return false;
    for (seine_node i = from; i != n; i = before(m, i))
        *memo(m, i, c) |= found ? yes : no;
    if (n != 0)
        *memo(m, n, c) |= found ? yes : no;
    return found;
}

static bool
related(sn_match *m, seine_node n, const sn_compound *c)
{
    switch ((sn_combinator)c->comb) {
    case SN_COMB_DESCENDANT:
        return reached(m, sn_match_parent(m, n), c->left, UP_YES, UP_NO, sn_match_parent);
    case SN_COMB_CHILD:
        n = sn_match_parent(m, n);
        return n != 0 && sn_match_compound(m, n, c->left);
    case SN_COMB_AFTER:
        return reached(m, sn_match_before(m, n), c->left, BACK_YES, BACK_NO,
                       sn_match_before);
    case SN_COMB_NEXT:
        n = sn_match_before(m, n);
        return n != 0 && sn_match_compound(m, n, c->left);
    case SN_COMB_NONE:
        break;
    }
    return true;
}

bool
sn_match_simples(sn_match *m, seine_node n, const sn_compound *c)
{
    for (uint16_t i = c->first; i != SN_SELECT_NONE;
         i = sn_select_simple(m->known->select, i)->next)
        if (!sn_match_simple(m, n, i))
            return false;
    return true;
}

bool
sn_match_compound(sn_match *m, seine_node n, uint16_t at)
{
    const sn_compound *c = sn_select_compound(m->known->select, at);
    uint8_t is = *memo(m, n, at);

    if (is & (SELF_YES | SELF_NO))
        return is & SELF_YES;
    if (!sn_match_step(m, 1))
        return false;
    bool yes = sn_match_simples(m, n, c) && related(m, n, c);
    if (m->err != SEINE_OK)
        return false;
    *memo(m, n, at) |= yes ? SELF_YES : SELF_NO;
    return yes;
}

bool
sn_match_list(sn_match *m, seine_node n, uint16_t first)
{
    for (uint16_t c = first; c != SN_SELECT_NONE;
         c = sn_select_compound(m->known->select, c)->next)
        if (sn_match_compound(m, n, c))
            return true;
    return false;
}

/* The memo of a selector with :scope holds for one scope only. */
static void
enter_scope(sn_match *m, seine_node scope)
{
    sn_known *k = m->known;
    size_t bytes = (size_t)k->select->compounds * m->f->nodes;

    if (!k->select->has_scope || (k->used && k->scope == scope)) {
        k->used = true;
        return;
    }
    if (k->used) {
        memset(k->memo, 0, bytes);
        for (uint16_t i = 0; i < k->select->simples; i++) {
            sn_free(k->of[i].places);
            k->of[i].places = NULL;
        }
        sn_match_step(m, bytes / 64);
    }
    k->used = true;
    k->scope = scope;
}

static seine_err
begin_match(sn_match *m, seine_finder *f, const seine_select *s, seine_node scope)
{
    *m = (sn_match){.f = f, .known = known(f, s)};
    if (!m->known)
        return SEINE_E_NOMEM;
    enter_scope(m, scope);
    return m->err;
}

/* The next node in page order; the content of a template is no part of the page. */
static seine_node
after(const seine_finder *f, seine_node n)
{
    const sn_node *at = sn_tree_node(f->tree, n);

    return n > 0 && at->kind == SEINE_NODE_ELEMENT && at->name == f->tag_template &&
                   at->ns == SN_NS_HTML
               ? at->end
               : n + 1;
}

seine_err
seine_finder_next(seine_finder *f, const seine_select *s, seine_node scope,
                  seine_node *node)
{
    if (!f || !s || !node)
        return SEINE_E_INVAL;
    sn_match m;
    seine_node end = seine_node_end(f->tree, scope), found = 0;
    seine_err e = begin_match(&m, f, s, scope);

    if (*node >= seine_tree_size(f->tree)) {
        *node = e == SEINE_OK ? 0 : *node;
        return e;
    }
    for (seine_node n = after(f, *node); e == SEINE_OK && n < end && found == 0;
         n = after(f, n)) {
        if (sn_tree_node(f->tree, n)->kind == SEINE_NODE_ELEMENT &&
            sn_match_list(&m, n, s->list))
            found = n;
        e = m.err;
    }
    if (e == SEINE_OK)
        *node = found;
    return e;
}

seine_err
seine_finder_matches(seine_finder *f, const seine_select *s, seine_node node,
                     bool *out_matches)
{
    if (!f || !s || !out_matches)
        return SEINE_E_INVAL;
    sn_match m;
    seine_err e = begin_match(&m, f, s, 0);

    if (e != SEINE_OK)
        return e;
    bool yes = node > 0 && node < f->nodes &&
               sn_tree_node(f->tree, node)->kind == SEINE_NODE_ELEMENT &&
               sn_match_list(&m, node, s->list);
    if (m.err == SEINE_OK)
        *out_matches = yes;
    return m.err;
}
