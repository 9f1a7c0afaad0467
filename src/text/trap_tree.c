/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the patterns of one host. A node is one segment below its parent; the query is a
 * child of the last segment. Names without a variable part are literal: at 64 literal
 * children a node merges them into one, `*`, and joins their subtrees. */
#include <string.h>

#include "base/alloc.h"
#include "text/trap.h"

enum { NODES = 512, CHILDREN = 64, ROOT = 0, NOBODY = 0 };

typedef struct node {
    char *name;
    uint32_t len;
    uint32_t count;
    uint16_t child, next; /* NOBODY: none; the root is never a child */
    uint16_t star;        /* the child that stands for all literal names */
    uint8_t n_literal;
    bool is_literal;
} node;

struct sn_trap_tree {
    uint16_t n, used; /* allocated nodes; nodes in the tree */
    uint16_t spare;   /* free list */
    uint16_t room;
    node *nodes;
};

sn_trap_tree *
sn_trap_tree_new(void)
{
    sn_trap_tree *t = sn_zalloc(sizeof *t);

    if (!t)
        return NULL;
    t->room = 8;
    t->nodes = sn_calloc(t->room, sizeof *t->nodes);
    if (!t->nodes) {
        sn_free(t);
        return NULL;
    }
    t->n = t->used = 1;
    return t;
}

void
sn_trap_tree_free(sn_trap_tree *t)
{
    if (!t)
        return;
    for (uint16_t i = 0; i < t->n; i++)
        sn_free(t->nodes[i].name);
    sn_free(t->nodes);
    sn_free(t);
}

/* Takes the next name of a pattern: "/x", or "?a&b" at the end. */
static bool
next_name(sn_str *pattern, sn_str *out_name)
{
    size_t end = 1;

    if (pattern->len == 0)
        return false;
    if (pattern->ptr[0] == '?')
        end = pattern->len;
    while (end < pattern->len && pattern->ptr[end] != '/' && pattern->ptr[end] != '?')
        end++;
    *out_name = sn_str_slice(*pattern, 0, end);
    *pattern = sn_str_slice(*pattern, end, pattern->len);
    return true;
}

static bool
is_literal(sn_str name)
{
    return name.ptr[0] != '?' && sn_str_find(name, '#') == name.len &&
           !sn_str_eq(name, SN_STR("/%x")) && !sn_str_eq(name, SN_STR("/%t")) &&
           !sn_str_ends(name, SN_STR("**"));
}

/* Returns the child of that name, or NOBODY. */
static uint16_t
find_child(const sn_trap_tree *t, uint16_t of, sn_str name)
{
    const node *nodes = t->nodes;

    if (nodes[of].star != NOBODY && is_literal(name))
        return nodes[of].star;
    for (uint16_t i = nodes[of].child; i != NOBODY; i = nodes[i].next)
        if (nodes[i].len == name.len && memcmp(nodes[i].name, name.ptr, name.len) == 0)
            return i;
    return NOBODY;
}

static void
drop_node(sn_trap_tree *t, uint16_t i)
{
    sn_free(t->nodes[i].name);
    t->nodes[i] = (node){.next = t->spare};
    t->spare = i;
    t->used--;
}

static void
hang(sn_trap_tree *t, uint16_t below, uint16_t i)
{
    node *parent = &t->nodes[below];

    t->nodes[i].next = parent->child;
    parent->child = i;
    parent->n_literal = (uint8_t)(parent->n_literal + t->nodes[i].is_literal);
}

static void fold(sn_trap_tree *t, uint16_t of);

/* Adds the counts of `from` and its subtree to `to` and frees `from`. Recurses no deeper
 * than a pattern has segments. */
static void
join(sn_trap_tree *t, uint16_t to, uint16_t from)
{
    node *nodes = t->nodes;

    if (nodes[from].star != NOBODY && nodes[to].star == NOBODY)
        fold(t, to);
    nodes[to].count += nodes[from].count;
    for (uint16_t i = nodes[from].child, next; i != NOBODY; i = next) {
        next = nodes[i].next;
        bool is_star = i == nodes[from].star;
        uint16_t same = is_star
                            ? nodes[to].star
                            : find_child(t, to, (sn_str){nodes[i].name, nodes[i].len});

        if (same != NOBODY)
            join(t, same, i);
        else
            hang(t, to, i);
        if (is_star && same == NOBODY)
            nodes[to].star = i;
    }
    nodes[from].child = NOBODY;
    drop_node(t, from);
    if (nodes[to].n_literal > CHILDREN)
        fold(t, to);
}

/* Merges the literal children into one; there may be none. */
static void
fold(sn_trap_tree *t, uint16_t of)
{
    node *nodes = t->nodes;
    uint16_t star = nodes[of].star, rest = nodes[of].child;

    nodes[of].child = NOBODY;
    nodes[of].n_literal = 0;
    for (uint16_t i = rest, next; i != NOBODY; i = next) {
        next = nodes[i].next;
        if (i == star || !nodes[i].is_literal) {
            hang(t, of, i);
        } else if (star == NOBODY) {
            star = i;
            nodes[i].is_literal = false;
            nodes[i].len = 2;
            memcpy(nodes[i].name, "/*", 2); /* every name has at least two bytes */
            hang(t, of, i);
        } else {
            join(t, star, i);
        }
    }
    nodes[of].star = star;
}

static bool
make_room(sn_trap_tree *t)
{
    if (t->spare != NOBODY || t->n < t->room)
        return true;
    uint16_t room = (uint16_t)(t->room * 2);
    node *more = sn_realloc(t->nodes, room * sizeof *more);
    if (!more)
        return false;
    memset(more + t->room, 0, (size_t)(room - t->room) * sizeof *more);
    t->nodes = more;
    t->room = room;
    return true;
}

static uint16_t
make_node(sn_trap_tree *t, sn_str name)
{
    char *copy = sn_alloc(name.len < 2 ? 2 : name.len);
    uint16_t i = t->spare;

    if (!copy || !make_room(t)) {
        sn_free(copy);
        return NOBODY;
    }
    if (i != NOBODY)
        t->spare = t->nodes[i].next;
    else
        i = t->n++;
    memcpy(copy, name.ptr, name.len);
    t->nodes[i] =
        (node){.name = copy, .len = (uint32_t)name.len, .is_literal = is_literal(name)};
    t->used++;
    return i;
}

/* Finds or makes the child of that name; it may be the `*` child. Returns `of` itself if
 * the tree is full: that node then counts its whole subtree. NOMEM. */
static seine_err
child_of(sn_trap_tree *t, uint16_t of, sn_str name, uint16_t *out_child)
{
    *out_child = find_child(t, of, name);
    if (*out_child != NOBODY)
        return SEINE_OK;
    bool full = t->used == NODES;
    if (is_literal(name) && t->nodes[of].n_literal > 0 &&
        (full || t->nodes[of].n_literal == CHILDREN)) {
        fold(t, of);
        *out_child = t->nodes[of].star;
        return SEINE_OK;
    }
    *out_child = of;
    if (full)
        return SEINE_OK;
    uint16_t i = make_node(t, name);
    if (i == NOBODY)
        return SEINE_E_NOMEM;
    hang(t, of, i);
    *out_child = i;
    return SEINE_OK;
}

uint32_t
sn_trap_counted(const sn_trap_tree *t, sn_str pattern)
{
    uint16_t at = ROOT, below;
    sn_str name;

    while (next_name(&pattern, &name)) {
        below = find_child(t, at, name);
        if (below == NOBODY)
            return t->used == NODES ? t->nodes[at].count : 0;
        at = below;
    }
    return t->nodes[at].count;
}

seine_err
sn_trap_count(sn_trap_tree *t, sn_str pattern, uint32_t *out_count)
{
    uint16_t at = ROOT, below;
    sn_str name;

    while (next_name(&pattern, &name)) {
        seine_err e = child_of(t, at, name, &below);
        if (e != SEINE_OK)
            return e;
        if (below == at)
            break;
        at = below;
    }
    if (t->nodes[at].count < UINT32_MAX)
        t->nodes[at].count++;
    *out_count = t->nodes[at].count;
    return SEINE_OK;
}
