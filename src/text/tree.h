/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - the nodes of a seine_tree, for code that walks all of them.
 *
 * tree_build.h tells how a tree is built. Names are interned as
 * numbers; two nodes with the same number have the same name.
 *
 * Threads any number of threads may read a tree that does not change.
 */
#ifndef SN_TREE_H
#define SN_TREE_H

#include "base/buf.h"
#include "seine/tree.h"

typedef enum sn_ns { SN_NS_HTML, SN_NS_SVG, SN_NS_MATH } sn_ns;
typedef enum sn_attr_ns {
    SN_ATTR_PLAIN,
    SN_ATTR_XLINK,
    SN_ATTR_XML,
    SN_ATTR_XMLNS
} sn_attr_ns;

/* How an element shows in the text that people see. */
typedef enum sn_tree_look {
    SN_LOOK_INLINE,
    SN_LOOK_UNSEEN,
    SN_LOOK_BLOCK,
    SN_LOOK_CELL
} sn_tree_look;

typedef struct sn_tree_attr {
    uint32_t name;
    uint32_t at, len; /* the value, in `text` */
    sn_attr_ns ns;
} sn_tree_attr;

typedef struct sn_node {
    seine_node parent, prev; /* prev: the preceding sibling of any kind; 0: none */
    seine_node end;          /* the first node after its descendants */
    uint32_t name;           /* of an element */
    uint32_t at, len;        /* elements: first attribute and count; others: the text */
    uint32_t offset;
    uint8_t kind, ns;
    uint8_t look; /* sn_tree_look, of an element */
} sn_node;

struct seine_tree {
    sn_buf node_mem, attr_mem, name_mem; /* of sn_node, sn_tree_attr, sn_str's span */
    sn_buf text;                         /* of texts, values and names */
    uint32_t *table;                     /* names by hash; 0: free, else number + 1 */
    uint32_t table_size, names;
    uint64_t secret[2]; /* of the table: names of a page cannot be chosen to collide */
    bool quirks;
    seine_node root;
    struct sn_build *maker; /* tree_build.h; kept for the next page */
};

static inline uint32_t
sn_tree_size(const seine_tree *t)
{
    return (uint32_t)(t->node_mem.len / sizeof(sn_node));
}

static inline const sn_node *
sn_tree_node(const seine_tree *t, seine_node n)
{
    return (const sn_node *)(const void *)t->node_mem.ptr + n;
}

static inline const sn_tree_attr *
sn_tree_attr_at(const seine_tree *t, uint32_t i)
{
    return (const sn_tree_attr *)(const void *)t->attr_mem.ptr + i;
}

/* Returns the number of a name, or UINT32_MAX if the tree has no such name. */
uint32_t sn_tree_name(const seine_tree *t, sn_str name);
sn_str sn_tree_name_text(const seine_tree *t, uint32_t name);

/* Finds the value of an attribute without prefix; false if there is none. */
bool sn_tree_value(const seine_tree *t, seine_node n, uint32_t name, sn_str *out_value);

/* Hands a printed text over to the caller; NOMEM. */
SEINE_MUST_CHECK seine_err sn_tree_finish_text(sn_buf *b, seine_text *out_text);

/* For the files that build trees. */
uint32_t sn_tree_intern(seine_tree *t, sn_str name);
void sn_maker_free(struct sn_build *b);

/* Parses a page in pieces of `piece` bytes; the tree is the same for every size. The
 * caller emptied the tree with sn_tree_forget. */
void sn_tree_forget(seine_tree *t);
SEINE_MUST_CHECK seine_err sn_tree_parse_pieces(seine_tree *t, sn_str page,
                                                const seine_tree_opts *opts,
                                                size_t piece);

#endif
