/* SPDX-License-Identifier: Apache-2.0 */
#include "text/tree.h"

#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/rng.h"

_Static_assert(sizeof(sn_node) == 32, "docs/user/tree.md says so");

enum { TABLE = 256, MOST_NAMES = 1 << 20 };

/* A name within the text. */
typedef struct span {
    uint32_t at, len;
} span;

seine_err
seine_tree_new(seine_tree **out_tree)
{
    if (!out_tree)
        return SEINE_E_INVAL;
    seine_tree *t = sn_zalloc(sizeof *t);

    if (!t)
        return SEINE_E_NOMEM;
    sn_rng_secret(t->secret, sizeof t->secret);
    sn_buf_init(&t->node_mem, (size_t)1 << 30);
    sn_buf_init(&t->attr_mem, (size_t)1 << 30);
    sn_buf_init(&t->name_mem, MOST_NAMES * sizeof(span));
    sn_buf_init(&t->text, (size_t)1 << 30);
    *out_tree = t;
    return SEINE_OK;
}

void
seine_tree_free(seine_tree *t)
{
    if (!t)
        return;
    sn_maker_free(t->maker);
    sn_buf_fini(&t->node_mem);
    sn_buf_fini(&t->attr_mem);
    sn_buf_fini(&t->name_mem);
    sn_buf_fini(&t->text);
    sn_free(t->table);
    sn_free(t);
}

static sn_str
name_at(const seine_tree *t, uint32_t i)
{
    const span *s = (const span *)(const void *)t->name_mem.ptr + i;

    return (sn_str){t->text.ptr + s->at, s->len};
}

/* Returns the hash slot of the name, or the free slot for it. */
static uint32_t *
slot(const seine_tree *t, sn_str name)
{
    uint32_t mask = t->table_size - 1;
    uint32_t i = (uint32_t)sn_siphash(t->secret, name.ptr, name.len) & mask;

    while (t->table[i] != 0 && !sn_str_eq(name_at(t, t->table[i] - 1), name))
        i = (i + 1) & mask;
    return &t->table[i];
}

uint32_t
sn_tree_name(const seine_tree *t, sn_str name)
{
    uint32_t at = t->table ? *slot(t, name) : 0;

    return at > 0 ? at - 1 : UINT32_MAX;
}

sn_str
sn_tree_name_text(const seine_tree *t, uint32_t name)
{
    return name < t->names ? name_at(t, name) : SN_STR("");
}

static bool
grow_table(seine_tree *t)
{
    uint32_t size = t->table ? 2 * t->table_size : TABLE, *table;

    if (t->table && 2 * t->names < t->table_size)
        return true;
    table = sn_calloc(size, sizeof *table);
    if (!table)
        return false;
    sn_free(t->table);
    t->table = table;
    t->table_size = size;
    for (uint32_t i = 0; i < t->names; i++)
        *slot(t, name_at(t, i)) = i + 1;
    return true;
}

uint32_t
sn_tree_intern(seine_tree *t, sn_str name)
{
    span s = {0, (uint32_t)name.len};

    if (!grow_table(t) || sn_buf_done(&t->text) != SEINE_OK ||
        sn_buf_done(&t->name_mem) != SEINE_OK) {
        t->name_mem.err = SEINE_E_NOMEM; /* a half-filled table is never read */
        return 0;
    }
    uint32_t *at = slot(t, name);
    if (*at > 0)
        return *at - 1;
    s.at = (uint32_t)t->text.len;
    sn_buf_str(&t->text, name);
    sn_buf_add(&t->name_mem, &s, sizeof s);
    if (sn_buf_done(&t->text) != SEINE_OK || sn_buf_done(&t->name_mem) != SEINE_OK)
        return 0;
    *at = ++t->names;
    return t->names - 1;
}

bool
sn_tree_value(const seine_tree *t, seine_node n, uint32_t name, sn_str *out_value)
{
    const sn_node *node = sn_tree_node(t, n);

    for (uint32_t i = 0; node->kind == SEINE_NODE_ELEMENT && i < node->len; i++) {
        const sn_tree_attr *a = sn_tree_attr_at(t, node->at + i);

        if (a->name == name && a->ns == SN_ATTR_PLAIN) {
            *out_value = (sn_str){t->text.ptr + a->at, a->len};
            return true;
        }
    }
    return false;
}

seine_node
seine_tree_size(const seine_tree *t)
{
    if (!t)
        return 0;
    return sn_tree_size(t);
}

seine_node
seine_tree_root(const seine_tree *t)
{
    if (!t)
        return 0;
    return t->root;
}

/* Returns the document of an empty tree for a node that does not exist. */
static const sn_node *
at(const seine_tree *t, seine_node n)
{
    static const sn_node nothing = {.kind = SEINE_NODE_DOCUMENT};

    return n < sn_tree_size(t) ? sn_tree_node(t, n) : &nothing;
}

seine_node_kind
seine_node_what(const seine_tree *t, seine_node n)
{
    if (!t)
        return (seine_node_kind)0;
    return (seine_node_kind)at(t, n)->kind;
}

seine_node
seine_node_parent(const seine_tree *t, seine_node n)
{
    if (!t)
        return 0;
    return at(t, n)->parent;
}

seine_node
seine_node_first(const seine_tree *t, seine_node n)
{
    if (!t)
        return 0;
    return at(t, n)->end > n + 1 ? n + 1 : 0;
}

seine_node
seine_node_next(const seine_tree *t, seine_node n)
{
    if (!t)
        return 0;
    const sn_node *node = at(t, n);

    return node->end < at(t, node->parent)->end ? node->end : 0;
}

seine_node
seine_node_end(const seine_tree *t, seine_node n)
{
    if (!t)
        return 0;
    return at(t, n)->end;
}

static seine_view
never_null(sn_str s)
{
    return (seine_view){s.ptr ? s.ptr : "", s.len};
}

seine_view
seine_node_name(const seine_tree *t, seine_node n)
{
    if (!t)
        return (seine_view){0};
    const sn_node *node = at(t, n);

    if (node->kind == SEINE_NODE_ELEMENT)
        return never_null(sn_tree_name_text(t, node->name));
    if (node->kind == SEINE_NODE_DOCTYPE)
        return never_null((sn_str){t->text.ptr + node->at, node->len});
    return never_null(SN_STR(""));
}

bool
seine_node_is(const seine_tree *t, seine_node n, const char *name)
{
    if (!t || !name)
        return false;
    seine_view v = seine_node_name(t, n);

    return at(t, n)->kind == SEINE_NODE_ELEMENT && sn_str_eq(v, sn_str_of(name));
}

size_t
seine_node_offset(const seine_tree *t, seine_node n)
{
    if (!t)
        return 0;
    return at(t, n)->offset;
}

bool
seine_node_attr_at(const seine_tree *t, seine_node n, size_t i, seine_attr *out)
{
    if (!t || !out)
        return false;
    const sn_node *node = at(t, n);

    if (node->kind != SEINE_NODE_ELEMENT || i >= node->len)
        return false;
    const sn_tree_attr *a = sn_tree_attr_at(t, node->at + (uint32_t)i);
    out->name = never_null(sn_tree_name_text(t, a->name));
    out->value = never_null((sn_str){t->text.ptr + a->at, a->len});
    return true;
}

seine_view
seine_node_attr(const seine_tree *t, seine_node n, const char *name)
{
    if (!t || !name)
        return (seine_view){0};
    sn_str value;

    if (n < sn_tree_size(t) &&
        sn_tree_value(t, n, sn_tree_name(t, sn_str_of(name)), &value))
        return never_null(value);
    return (seine_view){NULL, 0};
}

seine_view
seine_node_value(const seine_tree *t, seine_node n)
{
    if (!t)
        return (seine_view){0};
    const sn_node *node = at(t, n);

    if (node->kind != SEINE_NODE_TEXT && node->kind != SEINE_NODE_COMMENT &&
        node->kind != SEINE_NODE_INSTRUCTION)
        return never_null(SN_STR(""));
    return never_null((sn_str){t->text.ptr + node->at, node->len});
}
