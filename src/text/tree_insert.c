/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes: where they are inserted (13.2.6.1), moved and joined. */
#include <string.h>

#include "text/tree_build.h"

/* Behind the last child of `parent`, or in front of its child `before`. */
typedef struct place {
    seine_node parent, before;
} place;

static void
step(sn_build *b)
{
    if (++b->steps > b->max_steps)
        sn_build_fail(b, SEINE_E_HTML_TOO_COMPLEX);
}

seine_node
sn_build_add(sn_build *b, const sn_node *node)
{
    seine_node n = sn_tree_size(b->tree);
    sn_buf *nodes = &b->tree->node_mem;

    if (nodes->room - nodes->len <= sizeof *node)
        sn_buf_reserve_exactly(nodes, nodes->len / 4 + 64 * sizeof *node);
    sn_buf_add(nodes, node, sizeof *node);
    if (sn_buf_done(nodes) != SEINE_OK) {
        sn_build_fail(b, SEINE_E_NOMEM);
        return 0;
    }
    return n;
}

static void
link_node(sn_build *b, place at, seine_node n)
{
    sn_node *node = sn_build_node(b, n);
    uint32_t *next = at.before ? &sn_build_node(b, at.before)->prev
                               : &sn_build_node(b, at.parent)->end;

    if (n == 0)
        return;
    node->parent = at.parent;
    node->prev = *next;
    *next = n;
}

void
sn_build_append(sn_build *b, seine_node parent, seine_node n)
{
    link_node(b, (place){parent, 0}, n);
}

void
sn_build_detach(sn_build *b, seine_node n)
{
    sn_node *node = sn_build_node(b, n);
    uint32_t *next = &sn_build_node(b, node->parent)->end;

    if (node->parent == 0) /* a clone that is not yet inserted */
        return;
    while (*next != n && *next != 0) {
        step(b);
        next = &sn_build_node(b, *next)->prev;
    }
    if (*next == n)
        *next = node->prev;
    node->prev = 0;
    node->parent = n; /* hangs nowhere */
}

static bool
fosters(const sn_open *o)
{
    return o->ns == SN_NS_HTML &&
           (o->el == EL_TABLE || o->el == EL_TBODY || o->el == EL_TFOOT ||
            o->el == EL_THEAD || o->el == EL_TR);
}

/* In front of the last table, unless a template or the root comes first. */
static place
foster_place(const sn_build *b)
{
    for (uint32_t i = b->depth; i-- > 0;) {
        const sn_open *o = &b->stack[i];

        if (o->ns != SN_NS_HTML)
            continue;
        if (o->el == EL_TEMPLATE)
            return (place){o->node, 0};
        if (o->el == EL_TABLE)
            return (place){sn_build_node(b, o->node)->parent, o->node};
    }
    return (place){b->stack[0].node, 0};
}

static place
place_for(const sn_build *b, const sn_open *target)
{
    if (b->foster && fosters(target))
        return foster_place(b);
    return (place){target->node, 0};
}

/* Inserts a node at the appropriate place, over `over` instead of the current node. */
void
sn_build_place(sn_build *b, seine_node n, const sn_open *over)
{
    link_node(b, place_for(b, over), n);
}

/* Moves all children. */
void
sn_build_children(sn_build *b, seine_node from, seine_node to)
{
    sn_node *parent = sn_build_node(b, from);

    for (seine_node n = parent->end; n != 0; n = sn_build_node(b, n)->prev) {
        step(b);
        sn_build_node(b, n)->parent = to;
    }
    sn_build_node(b, to)->end = parent->end;
    parent->end = 0;
}

static seine_node
insert_element(sn_build *b, const sn_node *node, sn_tree_el el)
{
    place at = b->depth > 0 ? place_for(b, sn_build_top(b)) : (place){0, 0};
    sn_node with_look = *node;

    with_look.look = (uint8_t)sn_tree_el_look(el);
    seine_node n = sn_build_add(b, &with_look);
    sn_open o = {.node = n,
                 .name = node->name,
                 .el = (uint8_t)el,
                 .ns = node->ns,
                 .sorts = (uint16_t)sn_tree_el_sorts(el, (sn_ns)node->ns)};

    link_node(b, at, n);
    sn_build_push(b, &o);
    return n;
}

seine_node
sn_build_element(sn_build *b, sn_ns ns)
{
    const sn_tree_token *tok = &b->tok;
    sn_node node = {.kind = SEINE_NODE_ELEMENT,
                    .ns = (uint8_t)ns,
                    .name = tok->name,
                    .at = tok->attrs,
                    .len = tok->attr_count,
                    .offset = tok->offset};

    b->tok.used = true;
    b->tok.ns = (uint8_t)ns;
    return insert_element(b, &node, (sn_tree_el)tok->el);
}

seine_node
sn_build_implied(sn_build *b, sn_tree_el el)
{
    sn_node node = {.kind = SEINE_NODE_ELEMENT, .name = sn_build_el_id(b, el)};

    return insert_element(b, &node, el);
}

void
sn_build_void(sn_build *b)
{
    sn_build_element(b, SN_NS_HTML);
    sn_build_pop(b);
}

/* Copies an element without its children; the attributes are shared. */
seine_node
sn_build_clone(sn_build *b, seine_node n)
{
    sn_node node = *sn_build_node(b, n);

    node.parent = node.prev = node.end = 0;
    return sn_build_add(b, &node);
}

/* Moves a text to the end of the buffer, with room to grow. */
static bool
move_text(sn_build *b, sn_node *node, uint32_t more)
{
    sn_buf *text = &b->tree->text;
    uint32_t room = 2 * (node->len + more);
    char *to = sn_buf_reserve(text, room);

    if (!to) {
        sn_build_fail(b, SEINE_E_NOMEM);
        return false;
    }
    memcpy(to, text->ptr + node->at, node->len);
    memset(to + node->len, 0, room - node->len);
    node->at = (uint32_t)text->len;
    node->end = room;
    sn_buf_commit(text, room);
    return true;
}

/* Appends bytes of the buffer to a text. */
static void
grow_text(sn_build *b, sn_node *node, uint32_t at, uint32_t len)
{
    if (node->at + node->len == at && node->end <= node->len) {
        node->len += len;
        return;
    }
    if (node->len + len > node->end && !move_text(b, node, len))
        return;
    memmove(b->tree->text.ptr + node->at + node->len, b->tree->text.ptr + at, len);
    node->len += len;
}

void
sn_build_put_text(sn_build *b, uint32_t at, uint32_t len)
{
    place here = place_for(b, sn_build_top(b));
    seine_node before = here.before ? sn_build_node(b, here.before)->prev
                                    : sn_build_node(b, here.parent)->end;

    if (here.parent == 0 || len == 0)
        return;
    if (before != 0 && sn_build_node(b, before)->kind == SEINE_NODE_TEXT) {
        grow_text(b, sn_build_node(b, before), at, len);
        return;
    }
    sn_node node = {
        .kind = SEINE_NODE_TEXT, .at = at, .len = len, .offset = b->text_offset};
    link_node(b, here, sn_build_add(b, &node));
}

void
sn_build_put_note(sn_build *b, seine_node_kind kind, seine_node parent, uint32_t at,
                  uint32_t offset)
{
    sn_node node = {.kind = (uint8_t)kind,
                    .at = at,
                    .len = (uint32_t)b->tree->text.len - at,
                    .offset = offset};

    link_node(b, (place){parent, 0}, sn_build_add(b, &node));
}
