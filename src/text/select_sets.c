/* SPDX-License-Identifier: Apache-2.0 */
/* Results computed for all nodes in one pass: positions among siblings, and :has. */
#include <string.h>

#include "base/alloc.h"
#include "text/select_match.h"

static bool
is_element(const sn_match *m, seine_node n)
{
    return sn_tree_node(m->f->tree, n)->kind == SEINE_NODE_ELEMENT;
}

/* Allocates a zeroed number per node and charges the steps. NULL: no memory, or too many
 * steps. */
static uint32_t *
numbers(sn_match *m, uint32_t count, uint64_t steps)
{
    uint32_t *all = sn_match_step(m, steps) ? sn_calloc(count + 1U, sizeof *all) : NULL;

    if (!all && m->err == SEINE_OK)
        m->err = SEINE_E_NOMEM;
    return all;
}

/* Counts positions forwards, or backwards if `last`. The siblings of one parent come in
 * order, nodes of other parents between them. With `list` NONE all siblings count. */
static uint32_t *
child_places(sn_match *m, bool last, uint16_t list)
{
    uint32_t nodes = m->f->nodes;
    uint32_t *places = numbers(m, nodes, nodes / 8);
    uint32_t *seen SN_AUTOFREE = places ? numbers(m, nodes, 0) : NULL;

    for (uint32_t i = 1; seen && i < nodes && m->err == SEINE_OK; i++) {
        seine_node n = last ? nodes - i : i;

        if (is_element(m, n) && (list == SN_SELECT_NONE || sn_match_list(m, n, list)))
            places[n] = ++seen[sn_match_parent(m, n)];
    }
    if (m->err != SEINE_OK) {
        sn_free(places);
        return NULL;
    }
    return places;
}

/* Counts positions among siblings of one name, parent by parent; each name has a counter
 * with the parent it belongs to. */
static void
count_types(sn_match *m, seine_node parent, bool last, uint32_t *seen, uint32_t *places)
{
    const seine_tree *t = m->f->tree;
    uint32_t *whose = seen + t->names;
    seine_node n = seine_node_first(t, parent);

    while (last && n != 0 && seine_node_next(t, n) != 0)
        n = seine_node_next(t, n);
    for (; n != 0; n = last ? sn_tree_node(t, n)->prev : seine_node_next(t, n)) {
        uint32_t name = sn_tree_node(t, n)->name;

        if (!is_element(m, n))
            continue;
        if (whose[name] != parent + 1)
            seen[name] = 0;
        whose[name] = parent + 1;
        places[n] = ++seen[name];
    }
}

static uint32_t *
type_places(sn_match *m, bool last)
{
    uint32_t nodes = m->f->nodes;
    uint32_t *places = numbers(m, nodes, nodes / 8);
    uint32_t *seen SN_AUTOFREE = places ? numbers(m, 2 * m->f->tree->names, 0) : NULL;

    if (!seen) {
        sn_free(places);
        return NULL;
    }
    for (seine_node n = 0; n < nodes; n++)
        if (seine_node_first(m->f->tree, n) != 0)
            count_types(m, n, last, seen, places);
    return places;
}

/* True if `at` is a*n + b for some n >= 0. */
static bool
is_place(int64_t at, int64_t a, int64_t b)
{
    return a == 0 ? at == b : (at - b) / a >= 0 && (at - b) % a == 0;
}

bool
sn_match_nth(sn_match *m, seine_node n, uint16_t i)
{
    const sn_simple *s = sn_select_simple(m->known->select, i);
    uint32_t **places = s->list == SN_SELECT_NONE
                            ? &m->f->places[2 * s->of_type + s->last]
                            : &m->known->of[i].places;

    if (!*places)
        *places =
            s->of_type ? type_places(m, s->last) : child_places(m, s->last, s->list);
    return *places && (*places)[n] > 0 && is_place((*places)[n], s->a, s->b);
}

/* :has is computed with sets of nodes, from the last compound to the first. */

/* Replaces a set by the nodes that relate to it: those that have a member as child, and
 * so on. Works in place from the end of the page, where descendants and following
 * siblings come first. */
static void
step_back(sn_match *m, uint32_t *set, sn_combinator comb)
{
    enum { IN = 1, OUT = 2 };

    for (seine_node n = m->f->nodes; n-- > 1;) {
        bool hit = set[n] & IN, passes = set[n] & OUT;
        seine_node to = 0;

        if (!is_element(m, n))
            continue;
        if ((comb == SN_COMB_CHILD && hit) ||
            (comb == SN_COMB_DESCENDANT && (hit || passes)))
            to = sn_match_parent(m, n);
        else if ((comb == SN_COMB_NEXT && hit) ||
                 (comb == SN_COMB_AFTER && (hit || passes)))
            to = sn_match_before(m, n);
        set[to] |= OUT;
    }
    for (seine_node n = 0; n < m->f->nodes; n++)
        set[n] = set[n] & OUT ? IN : 0;
}

static void
intersect(sn_match *m, uint32_t *set, const sn_compound *c, bool all)
{
    const seine_tree *t = m->f->tree;

    for (seine_node n = 1; n < m->f->nodes && m->err == SEINE_OK; n++) {
        const sn_node *node = sn_tree_node(t, n);

        if (!all && set[n] == 0)
            continue;
        set[n] = node->kind == SEINE_NODE_ELEMENT && sn_match_step(m, 1) &&
                 sn_match_simples(m, n, c);
        if (node->kind == SEINE_NODE_ELEMENT && node->name == m->f->tag_template &&
            node->ns == SN_NS_HTML)
            n = node->end - 1; /* skips the content */
    }
}

static void
add_relative(sn_match *m, uint32_t *places, uint32_t *set, uint16_t last)
{
    const sn_compound *c = sn_select_compound(m->known->select, last);

    memset(set, 0, m->f->nodes * sizeof *set);
    intersect(m, set, c, true);
    while (m->err == SEINE_OK && c->left != SN_SELECT_NONE) {
        step_back(m, set, (sn_combinator)c->comb);
        c = sn_select_compound(m->known->select, c->left);
        intersect(m, set, c, false);
    }
    if (m->err != SEINE_OK)
        return;
    step_back(m, set, (sn_combinator)c->lead);
    for (seine_node n = 1; n < m->f->nodes; n++)
        places[n] |= set[n];
}

bool
sn_match_has(sn_match *m, seine_node n, uint16_t i)
{
    const sn_simple *s = sn_select_simple(m->known->select, i);
    uint32_t **places = &m->known->of[i].places;

    if (*places)
        return (*places)[n] > 0;
    uint32_t *all = numbers(m, m->f->nodes, m->f->nodes / 8);
    uint32_t *set SN_AUTOFREE = all ? numbers(m, m->f->nodes, 0) : NULL;
    for (uint16_t c = s->list; set && c != SN_SELECT_NONE && m->err == SEINE_OK;
         c = sn_select_compound(m->known->select, c)->next)
        add_relative(m, all, set, c);
    if (m->err != SEINE_OK) {
        sn_free(all);
        return false;
    }
    *places = all;
    return all[n] > 0;
}
