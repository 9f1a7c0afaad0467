/* SPDX-License-Identifier: Apache-2.0 */
/* The list of active formatting elements (13.2.4.3) and the adoption agency (13.2.6.4.7).
 */
#include <string.h>

#include "base/hash.h"
#include "text/tree_build.h"

enum { OUTER = 8, INNER = 3, SAME = 3, WEIGHT = 512 };

static void
step(sn_build *b)
{
    if (++b->steps > b->max_steps)
        sn_build_fail(b, SEINE_E_HTML_TOO_COMPLEX);
}

static void
put_format(sn_build *b, uint32_t at, const sn_format *f)
{
    if (f->node != 0 && b->format_open == SN_TREE_MAX_FORMATS) {
        sn_build_fail(b, SEINE_E_HTML_TOO_COMPLEX);
        return;
    }
    memmove(b->formats + at + 1, b->formats + at, (b->format_count - at) * sizeof *f);
    b->formats[at] = *f;
    b->format_count++;
    b->format_open += f->node != 0;
}

static void
remove_at(sn_build *b, uint32_t at)
{
    b->format_open -= b->formats[at].node != 0;
    b->format_count--;
    memmove(b->formats + at, b->formats + at + 1,
            (b->format_count - at) * sizeof *b->formats);
}

void
sn_build_marker(sn_build *b)
{
    if (b->format_count < sizeof b->formats / sizeof *b->formats - 1)
        put_format(b, b->format_count, &(sn_format){.node = 0});
}

void
sn_build_clear_formats(sn_build *b)
{
    bool marker = false;

    while (b->format_count > 0 && !marker) {
        marker = b->formats[b->format_count - 1].node == 0;
        remove_at(b, b->format_count - 1);
    }
}

/* Returns a hash of the attributes that does not depend on their order. */
static uint64_t
attrs_hash(const sn_build *b, const sn_node *node)
{
    const seine_tree *t = b->tree;
    uint64_t sum = 1;

    for (uint32_t i = 0; i < node->len; i++) {
        const sn_tree_attr *a = sn_tree_attr_at(t, node->at + i);
        uint64_t value = sn_siphash(t->secret, t->text.ptr + a->at, a->len);
        uint64_t pair[2] = {value, a->name};

        sum += sn_siphash(t->secret, pair, sizeof pair);
    }
    return sum;
}

static bool
is_same(sn_build *b, sn_format *f, sn_format *g)
{
    const sn_node *x = sn_build_node(b, f->node), *y = sn_build_node(b, g->node);

    if (f->el != g->el || x->len != y->len)
        return false;
    if (x->len == 0 || x->at == y->at)
        return true;
    f->hash = f->hash ? f->hash : attrs_hash(b, x);
    g->hash = g->hash ? g->hash : attrs_hash(b, y);
    return f->hash == g->hash;
}

/* Removes the first of three like the new one since the last marker. */
static void
drop_third(sn_build *b, sn_format *f)
{
    uint32_t like = 0, first = 0, named = 0;

    for (uint32_t i = b->format_count; i-- > 0 && b->formats[i].node != 0;)
        named += b->formats[i].el == f->el;
    for (uint32_t i = b->format_count;
         named >= SAME && i-- > 0 && b->formats[i].node != 0;)
        if (is_same(b, &b->formats[i], f)) {
            like++;
            first = i;
        }
    if (like >= SAME)
        remove_at(b, first);
}

void
sn_build_format(sn_build *b, seine_node n)
{
    sn_format f = {.node = n, .el = b->tok.el, .weight = 1 + b->tok.size / WEIGHT};

    drop_third(b, &f);
    put_format(b, b->format_count, &f);
}

static uint32_t
index_of(const sn_build *b, seine_node n)
{
    uint32_t i = b->format_count;

    while (i-- > 0)
        if (b->formats[i].node == n)
            return i;
    return UINT32_MAX;
}

void
sn_build_drop_format(sn_build *b, seine_node n)
{
    uint32_t at = index_of(b, n);

    if (at != UINT32_MAX)
        remove_at(b, at);
}

sn_format *
sn_build_find_format(sn_build *b, sn_tree_el el)
{
    for (uint32_t i = b->format_count; i-- > 0 && b->formats[i].node != 0;)
        if (b->formats[i].el == el)
            return &b->formats[i];
    return NULL;
}

static uint32_t
stack_index(const sn_build *b, seine_node n)
{
    uint32_t i = b->depth;

    while (i-- > 0)
        if (b->stack[i].node == n)
            return i;
    return UINT32_MAX;
}

/* Clones the element of an entry, which then stands for the clone. */
static seine_node
clone_format(sn_build *b, sn_format *f)
{
    b->clones += f->weight;
    if (b->clones > b->max_clones)
        sn_build_fail(b, SEINE_E_HTML_TOO_COMPLEX);
    f->node = sn_build_clone(b, f->node);
    return f->node;
}

static sn_open
opened(const sn_build *b, const sn_format *f)
{
    return (sn_open){.node = f->node,
                     .name = sn_build_node(b, f->node)->name,
                     .el = f->el,
                     .ns = SN_NS_HTML,
                     .sorts = (uint16_t)sn_tree_el_sorts((sn_tree_el)f->el, SN_NS_HTML)};
}

/* Opens again the formatting elements that a block has closed. */
void
sn_build_reopen(sn_build *b)
{
    uint32_t i = b->format_count;

    if (i == 0 || b->formats[i - 1].node == 0 ||
        stack_index(b, b->formats[i - 1].node) != UINT32_MAX)
        return;
    while (i > 0 && b->formats[i - 1].node != 0 &&
           stack_index(b, b->formats[i - 1].node) == UINT32_MAX)
        i--;
    for (; i < b->format_count && b->err == SEINE_OK; i++) {
        sn_open top = *sn_build_top(b);
        seine_node n = clone_format(b, &b->formats[i]);
        sn_open o = opened(b, &b->formats[i]);

        sn_build_place(b, n, &top);
        sn_build_push(b, &o);
    }
}

/* Returns where the furthest block stands in the stack: the special element next above
 * the formatting element; 0: there is none. */
static uint32_t
furthest_block(const sn_build *b, uint32_t formatting)
{
    for (uint32_t i = formatting + 1; i < b->depth; i++)
        if (b->stack[i].sorts & SN_EL_SPECIAL)
            return i;
    return 0;
}

/* The loop of steps 4.13: clones the elements between the two and nests them. Returns
 * the outermost; *bookmark is where the clone of the formatting element will be listed.
 */
static seine_node
nest_clones(sn_build *b, uint32_t formatting, uint32_t block, uint32_t *bookmark)
{
    seine_node last = b->stack[block].node, furthest = last;

    for (uint32_t i = block, count = 1; --i > formatting && b->err == SEINE_OK; count++) {
        uint32_t at = index_of(b, b->stack[i].node);

        step(b);
        if (at != UINT32_MAX && count > INNER) {
            remove_at(b, at);
            *bookmark -= at < *bookmark;
            at = UINT32_MAX;
        }
        if (at == UINT32_MAX) {
            sn_build_drop(b, i);
            continue;
        }
        b->stack[i].node = clone_format(b, &b->formats[at]);
        if (last == furthest)
            *bookmark = at + 1;
        sn_build_detach(b, last);
        sn_build_append(b, b->stack[i].node, last);
        last = b->stack[i].node;
    }
    return last;
}

/* Replaces the formatting element's entry by its clone's, at the bookmark. */
static void
relist(sn_build *b, seine_node old, sn_format clone, uint32_t bookmark)
{
    uint32_t at = index_of(b, old);

    if (at != UINT32_MAX) {
        remove_at(b, at);
        bookmark -= at < bookmark;
    }
    put_format(b, bookmark, &clone);
}

static void
adopt_block(sn_build *b, uint32_t formatting, uint32_t block)
{
    seine_node old = b->stack[formatting].node, furthest = b->stack[block].node;
    sn_open ancestor = b->stack[formatting - 1];
    uint32_t bookmark = index_of(b, old);
    sn_format clone = b->formats[bookmark];
    seine_node last = nest_clones(b, formatting, block, &bookmark);

    sn_build_detach(b, last);
    sn_build_place(b, last, &ancestor);
    seine_node n = clone_format(b, &clone);
    if (b->err != SEINE_OK)
        return;
    sn_build_children(b, furthest, n);
    sn_build_append(b, furthest, n);
    relist(b, old, clone, bookmark);
    sn_open o = opened(b, &clone);
    sn_build_drop(b, stack_index(b, old));
    sn_build_put(b, stack_index(b, furthest) + 1, &o);
}

/* One round; false: the adoption agency is done. *out_other: it is an ordinary end tag.
 */
static bool
adopt_once(sn_build *b, sn_tree_el el, bool *out_other)
{
    sn_format *f = sn_build_find_format(b, el);

    if (!f) {
        *out_other = true;
        return false;
    }
    uint32_t at = stack_index(b, f->node);
    if (at == UINT32_MAX) {
        sn_build_drop_format(b, f->node);
        return false;
    }
    if (!sn_build_node_in_scope(b, f->node))
        return false;
    uint32_t block = furthest_block(b, at);
    if (block == 0) {
        sn_build_drop_format(b, f->node);
        sn_build_pop_to(b, at);
        return false;
    }
    adopt_block(b, at, block);
    return true;
}

void
sn_build_adopt(sn_build *b, sn_tree_el el)
{
    bool other = false;

    if (sn_build_at(b, el) && index_of(b, sn_build_top(b)->node) == UINT32_MAX) {
        sn_build_pop(b);
        return;
    }
    for (int i = 0; i < OUTER && b->err == SEINE_OK; i++) {
        step(b);
        if (!adopt_once(b, el, &other))
            break;
    }
    if (other)
        sn_body_other_end(b);
}
