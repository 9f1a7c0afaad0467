/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - the page as a browser's tree of it.
 *
 * A page becomes a list of nodes in the order of the page, so that everything inside
 * of a node stands right behind it: the inside of node n is n + 1 up to its end.
 * Node 0 is the document, and means "none" where a node is asked for.
 *
 *     seine_tree *t;
 *     e = seine_tree_new(&t);
 *     e = seine_tree_parse(t, html, len, NULL);
 *     for (seine_node n = 1; n < seine_tree_size(t); n++)
 *         if (seine_node_is(t, n, "h1"))
 *             e = seine_node_text(t, n, &text);
 *     seine_tree_free(t);
 *
 * First the page is read once without a tree, and refused if one would cost too much
 * (150,000 tags, depth 256, 256 attributes of a tag, 32 open formatting elements, and
 * these added up tag by tag): some pages of 80 KB take a browser's algorithm 20 s.
 *
 * Bytes are UTF-8. At most 16 MiB.
 *
 * Time    plays no part; below 100 ms for each MB, on any bytes.
 * Memory  about 100 bytes a node while it is kept. While it is made 400 bytes for each
 *         of 2 x tags + what formatting opens again, asked of the gate first.
 * Threads one owner; any number may look at a tree that does not change.
 */
#ifndef SEINE_TREE_H
#define SEINE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "seine/abi.h"
#include "seine/alloc.h"
#include "seine/err.h"
#include "seine/view.h"

#define SEINE_TREE_BYTES ((size_t)16 << 20) /* of a page */

typedef uint32_t seine_node;
typedef struct seine_tree seine_tree;

typedef enum seine_node_kind {
    SEINE_NODE_DOCUMENT,
    SEINE_NODE_ELEMENT,
    SEINE_NODE_TEXT,
    SEINE_NODE_COMMENT,
    SEINE_NODE_DOCTYPE,
    SEINE_NODE_INSTRUCTION /* <?target data> */
} seine_node_kind;

/* Asked before memory is taken for making the tree, told when it was given back. */
typedef struct seine_tree_gate {
    seine_err (*take)(uint64_t bytes, void *arg); /* not OK: the page is not parsed */
    void (*give)(uint64_t bytes, void *arg);
    void *arg;
} seine_tree_gate;

typedef struct seine_tree_opts {
    size_t size;          /* of this struct: SEINE_TREE_OPTS sets it */
    bool scripting;       /* <noscript> is text, as for a browser that runs scripts */
    const char *fragment; /* the element whose inside this is: "td", "svg path" */
    uint32_t max_tags;    /* 0: 150,000 */
    const seine_tree_gate *gate;
} seine_tree_opts;

/* clang-format off */
#define SEINE_TREE_OPTS {sizeof(seine_tree_opts), false, NULL, 0, NULL}
/* clang-format on */

typedef struct seine_attr {
    seine_view name, value;
} seine_attr;

SEINE_BEGIN

SEINE_MUST_CHECK seine_err seine_tree_new(seine_tree **out_tree);
void seine_tree_free(seine_tree *t); /* NULL is fine */

/* Makes the tree of another page; `opts` may be NULL. HTML_TOO_DEEP, HTML_TOO_COMPLEX:
 * refused; BUDGET: longer than 16 MiB; NOMEM; INVAL: no such fragment; what the gate
 * said. On failure the tree is empty. */
SEINE_MUST_CHECK seine_err seine_tree_parse(seine_tree *t, const char *html, size_t len,
                                            const seine_tree_opts *opts);

/* Nodes, the document included; the root element, or 0. */
seine_node seine_tree_size(const seine_tree *t);
seine_node seine_tree_root(const seine_tree *t);

seine_node_kind seine_node_what(const seine_tree *t, seine_node n);
seine_node seine_node_parent(const seine_tree *t, seine_node n);
seine_node seine_node_first(const seine_tree *t, seine_node n);
seine_node seine_node_next(const seine_tree *t, seine_node n); /* sibling */
seine_node seine_node_end(const seine_tree *t, seine_node n);  /* behind its inside */

/* Of an element or doctype, "" of others. HTML's are in lower case. */
seine_view seine_node_name(const seine_tree *t, seine_node n);
bool seine_node_is(const seine_tree *t, seine_node n, const char *name);

/* Where its tag stands in the page. */
size_t seine_node_offset(const seine_tree *t, seine_node n);

/* False: there are fewer; ptr NULL: it has no such attribute. */
bool seine_node_attr_at(const seine_tree *t, seine_node n, size_t i, seine_attr *out);
seine_view seine_node_attr(const seine_tree *t, seine_node n, const char *name);

/* Of a text, comment or instruction, as it stands. */
seine_view seine_node_value(const seine_tree *t, seine_node n);

/* All text inside of it, as it stands. The same as people see it: without scripts and
 * styles, blanks collapsed, a line feed between blocks. NOMEM. */
SEINE_MUST_CHECK seine_err seine_node_text(const seine_tree *t, seine_node n,
                                           seine_text *out_text);
SEINE_MUST_CHECK seine_err seine_node_words(const seine_tree *t, seine_node n,
                                            seine_text *out_text);

/* The node and what is in it as HTML. NOMEM. */
SEINE_MUST_CHECK seine_err seine_node_html(const seine_tree *t, seine_node n,
                                           seine_text *out_text);

/* The whole tree in the form of html5lib's tests: a line a node, "|   <p>". NOMEM. */
SEINE_MUST_CHECK seine_err seine_tree_print(const seine_tree *t, seine_text *out_text);

SEINE_END

#endif
