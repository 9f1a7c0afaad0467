/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Brings the nodes into page order. Most pages are built in that order; where a node was
 * moved or put in front of a table, every node gets its place by one walk, and the nodes
 * are exchanged in place.
 */
#include "base/alloc.h"
#include "text/tree_build.h"

enum { MOST_DEPTH = 2 * SN_TREE_MAX_DEPTH };

_Static_assert(sizeof(sn_node) + sizeof(uint32_t) == 36, "tree_build.h says so");

static bool
is_ordered(const sn_build *b)
{
    uint32_t size = sn_tree_size(b->tree);

    for (seine_node n = 1; n < size; n++) {
        const sn_node *node = sn_build_node(b, n);
        seine_node up = n - 1;

        while (up > node->parent)
            up = sn_build_node(b, up)->parent;
        if (up != node->parent || node->prev >= n)
            return false;
    }
    return true;
}

static seine_node
deepest(const sn_build *b, seine_node n)
{
    while (sn_build_node(b, n)->kind <= SEINE_NODE_ELEMENT &&
           sn_build_node(b, n)->end != 0)
        n = sn_build_node(b, n)->end;
    return n;
}

/* Counts the nodes that hang on the document. */
static uint32_t
count_live(const sn_build *b)
{
    uint32_t count = 1;

    for (seine_node n = deepest(b, 0); n != 0; count++) {
        const sn_node *node = sn_build_node(b, n);

        n = node->prev ? deepest(b, node->prev) : node->parent;
    }
    return count;
}

/* Numbers the nodes from the last to the first; those that hang nowhere come last. */
static uint32_t
number_nodes(const sn_build *b, uint32_t *to)
{
    uint32_t size = sn_tree_size(b->tree), live = count_live(b), next = live, dead = live;

    for (seine_node n = deepest(b, 0); n != 0;) {
        const sn_node *node = sn_build_node(b, n);

        to[n] = --next;
        n = node->prev ? deepest(b, node->prev) : node->parent;
    }
    for (seine_node n = 1; n < size; n++)
        if (to[n] == 0)
            to[n] = dead++;
    return live;
}

/* Puts every node into its place; each exchange settles one. */
static void
exchange(sn_build *b, uint32_t *to)
{
    uint32_t size = sn_tree_size(b->tree);

    for (seine_node n = 1; n < size; n++) {
        sn_node *node = sn_build_node(b, n);

        node->parent = to[node->parent];
        node->prev = to[node->prev];
        if (node->kind == SEINE_NODE_ELEMENT)
            node->end = to[node->end];
    }
    sn_build_node(b, 0)->end = to[sn_build_node(b, 0)->end];
    for (seine_node n = 1; n < size; n++)
        while (to[n] != n) {
            seine_node place = to[n];
            sn_node moved = *sn_build_node(b, n);

            *sn_build_node(b, n) = *sn_build_node(b, place);
            *sn_build_node(b, place) = moved;
            to[n] = to[place];
            to[place] = place;
        }
}

static seine_err
reorder(sn_build *b)
{
    uint32_t *to SN_AUTOFREE = sn_calloc(sn_tree_size(b->tree), sizeof *to);

    if (!to)
        return SEINE_E_NOMEM;
    uint32_t live = number_nodes(b, to);
    exchange(b, to);
    sn_buf_truncate(&b->tree->node_mem, live * sizeof(sn_node));
    return SEINE_OK;
}

/* Turns last children into ends, from the last node to the first. */
static void
set_ends(sn_build *b)
{
    for (uint32_t n = sn_tree_size(b->tree); n-- > 0;) {
        sn_node *node = sn_build_node(b, n);
        bool has_child = node->kind <= SEINE_NODE_ELEMENT && node->end != 0;

        node->end = has_child ? sn_build_node(b, node->end)->end : n + 1;
    }
}

static bool
is_too_deep(const sn_build *b)
{
    uint32_t depth = 0;

    for (seine_node n = 1; n < sn_tree_size(b->tree); n++) {
        seine_node up = n - 1, parent = sn_build_node(b, n)->parent;

        for (; up != parent; up = sn_build_node(b, up)->parent)
            depth--;
        if (++depth > MOST_DEPTH)
            return true;
    }
    return false;
}

seine_err
sn_build_order(sn_build *b)
{
    if (!is_ordered(b)) {
        seine_err e = reorder(b);

        if (e != SEINE_OK)
            return e;
    }
    set_ends(b);
    return is_too_deep(b) ? SEINE_E_HTML_TOO_DEEP : SEINE_OK;
}
