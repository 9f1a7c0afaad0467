/* SPDX-License-Identifier: Apache-2.0 */
/*
 * <selectedcontent>: the first one inside of a <select> shows a copy of the option that
 * is chosen (4.10.17). A browser copies each time an option is closed; the last copy is
 * the only one that stays, so one copy is made when the page has ended.
 */
#include "text/tree_build.h"

/* What a select holds. */
typedef struct held {
    seine_node content, option;
    bool selected; /* the option has the attribute */
} held;

static void
step(sn_build *b)
{
    if (++b->steps > b->max_steps)
        sn_build_fail(b, SEINE_E_HTML_TOO_COMPLEX);
}

static bool
is_el(const sn_build *b, seine_node n, sn_tree_el el)
{
    const sn_node *node = sn_build_node(b, n);

    return node->kind == SEINE_NODE_ELEMENT && node->ns == SN_NS_HTML &&
           b->ids[el] == node->name + 1;
}

static bool
has(const sn_build *b, seine_node n, const char *attr)
{
    sn_str value;

    return sn_tree_value(b->tree, n, sn_tree_name(b->tree, sn_str_of(attr)), &value);
}

static seine_node
last_child(const sn_build *b, seine_node n)
{
    const sn_node *node = sn_build_node(b, n);

    return node->kind == SEINE_NODE_ELEMENT ? node->end : 0;
}

/* Returns the parent; 0 for a node that hangs nowhere, which is its own parent. */
static seine_node
parent_of(sn_build *b, seine_node n)
{
    seine_node up = sn_build_node(b, n)->parent;

    step(b);
    return up == n || b->err != SEINE_OK ? 0 : up;
}

/* Returns the select that shows its option in `n`; 0: there is none. */
static seine_node
select_of(sn_build *b, seine_node n)
{
    while ((n = parent_of(b, n)) != 0) {
        if (is_el(b, n, EL_SELECT))
            return has(b, n, "multiple") ? 0 : n;
        if (is_el(b, n, EL_OPTION) || is_el(b, n, EL_SELECTEDCONTENT))
            return 0;
    }
    return 0;
}

static void
look_at(sn_build *b, seine_node n, held *h)
{
    step(b);
    if (is_el(b, n, EL_SELECTEDCONTENT))
        h->content = n;
    if (!is_el(b, n, EL_OPTION) || h->selected)
        return;
    h->selected = has(b, n, "selected");
    if (h->selected || !has(b, n, "disabled"))
        h->option = n;
}

/* Looks at all of a select, from its last node to its first. */
static held
look(sn_build *b, seine_node select)
{
    held h = {0};
    seine_node n = last_child(b, select);

    while (n != 0 && n != select && b->err == SEINE_OK) {
        while (last_child(b, n) != 0)
            n = last_child(b, n);
        look_at(b, n, &h);
        while (n != select && sn_build_node(b, n)->prev == 0) {
            n = sn_build_node(b, n)->parent;
            if (n != select)
                look_at(b, n, &h);
        }
        n = n == select ? select : sn_build_node(b, n)->prev;
    }
    return h;
}

static void
put_copy(sn_build *b, seine_node up, seine_node next, seine_node n)
{
    sn_build_node(b, n)->parent = up;
    if (next != 0)
        sn_build_node(b, next)->prev = n;
    else
        sn_build_node(b, up)->end = n;
}

/* Copies what is inside of `from`, each time the last child first. */
static void
copy_inside(sn_build *b, seine_node from, seine_node to)
{
    seine_node source = last_child(b, from), up = to, next = 0;

    while (b->err == SEINE_OK) {
        if (source == 0 && up == to)
            return;
        if (source == 0) { /* all children are copied */
            next = up;
            up = sn_build_node(b, up)->parent;
            source = sn_build_node(b, from)->prev;
            from = sn_build_node(b, from)->parent;
            continue;
        }
        if (++b->clones > b->max_clones)
            sn_build_fail(b, SEINE_E_HTML_TOO_COMPLEX);
        seine_node n = sn_build_clone(b, source);
        put_copy(b, up, next, n);
        if (last_child(b, source) != 0) {
            up = n;
            next = 0;
            from = source;
            source = last_child(b, source);
        } else {
            next = n;
            source = sn_build_node(b, source)->prev;
        }
    }
}

static bool
is_inside(sn_build *b, seine_node n, seine_node of)
{
    while (n != 0 && n != of)
        n = parent_of(b, n);
    return n == of;
}

/* Takes the children out; they hang nowhere then. */
static void
empty(sn_build *b, seine_node n)
{
    for (seine_node c = last_child(b, n); c != 0; c = sn_build_node(b, c)->prev) {
        step(b);
        sn_build_node(b, c)->parent = c;
    }
    sn_build_node(b, n)->end = 0;
}

void
sn_build_selected(sn_build *b)
{
    uint32_t size = sn_tree_size(b->tree);

    if (b->ids[EL_SELECTEDCONTENT] == 0 || b->ids[EL_OPTION] == 0)
        return;
    for (seine_node n = 1; n < size && b->err == SEINE_OK; n++) {
        seine_node select = is_el(b, n, EL_SELECTEDCONTENT) ? select_of(b, n) : 0;
        held h = select != 0 ? look(b, select) : (held){0};

        if (h.content != n || h.option == 0 || is_inside(b, h.option, n))
            continue;
        empty(b, n);
        copy_inside(b, h.option, n);
    }
}
