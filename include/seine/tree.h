/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree.h - an HTML page as the tree that a browser builds.
 *
 * A page becomes an array of nodes in page order, so that the descendants of a node
 * follow it directly: those of node n are n + 1 up to its end. Node 0 is the document; as
 * a result it means "none".
 *
 *     seine_tree *t;
 *     e = seine_tree_new(&t);
 *     e = seine_tree_parse(t, html, len, NULL);
 *     for (seine_node n = 1; n < seine_tree_size(t); n++)
 *         if (seine_node_is(t, n, "h1"))
 *             e = seine_node_text(t, n, &text);
 *     seine_tree_free(t);
 *
 * The tree is built by the rules of the WHATWG standard, in one pass. Some pages of 80 KB
 * take these rules 20 s, so all that may repeat is counted, and the page is refused above
 * 150,000 tags, 256 open elements, 256 attributes per element, 32 open formatting
 * elements, or a limit on the nodes that are cloned and moved.
 *
 * Input is UTF-8, at most 16 MiB.
 *
 * Time    plays no part; parsing takes below 100 ms per MB on any input.
 * Memory  about 50 bytes per node, at most 32 x the page + 1 MB. Parsing asks the gate
 *         first, for the page and 80 bytes for each of 2 x tags + 16.
 * Threads one owner; any number of threads may read a tree that does not change.
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

/* `take` is called before memory for parsing is allocated, `give` when it is freed. */
typedef struct seine_tree_gate {
    seine_err (*take)(uint64_t bytes, void *arg); /* not OK: the page is not parsed */
    void (*give)(uint64_t bytes, void *arg);
    void *arg;
} seine_tree_gate;

typedef struct seine_tree_opts {
    size_t size;          /* of this struct: SEINE_TREE_OPTS sets it */
    bool scripting;       /* <noscript> is text, as for a browser that runs scripts */
    const char *fragment; /* context element of a fragment: "td", "svg path" */
    uint32_t max_tags;    /* 0: 150,000 */
    const seine_tree_gate *gate;
    struct seine_links *links; /* gets the links, title and metas of the page as well */
} seine_tree_opts;

/* clang-format off */
#define SEINE_TREE_OPTS {sizeof(seine_tree_opts), false, NULL, 0, NULL, NULL}
/* clang-format on */

typedef struct seine_attr {
    seine_view name, value;
} seine_attr;

SEINE_BEGIN

SEINE_MUST_CHECK seine_err seine_tree_new(seine_tree **out_tree);
void seine_tree_free(seine_tree *t); /* NULL is fine */

/* Parses another page; `opts` may be NULL. With `links`, which are new or reset, every
 * link is that of an element of the tree; they are those of a part of the page if it is
 * refused. HTML_TOO_DEEP, HTML_TOO_COMPLEX: refused.
 * BUDGET: longer than 16 MiB. INVAL: no such fragment. NOMEM, or the error of the gate.
 * On failure the tree is empty. */
SEINE_MUST_CHECK seine_err seine_tree_parse(seine_tree *t, const char *html, size_t len,
                                            const seine_tree_opts *opts);

/* The number of nodes, the document included; the root element, or 0. */
seine_node seine_tree_size(const seine_tree *t);
seine_node seine_tree_root(const seine_tree *t);

seine_node_kind seine_node_what(const seine_tree *t, seine_node n);
seine_node seine_node_parent(const seine_tree *t, seine_node n);
seine_node seine_node_first(const seine_tree *t, seine_node n);
seine_node seine_node_next(const seine_tree *t, seine_node n); /* sibling */
seine_node seine_node_end(const seine_tree *t, seine_node n);  /* after its descendants */

/* The name of an element or doctype, else "". HTML names are in lower case. */
seine_view seine_node_name(const seine_tree *t, seine_node n);
bool seine_node_is(const seine_tree *t, seine_node n, const char *name);

/* Returns the byte where its tag begins in the page. */
size_t seine_node_offset(const seine_tree *t, seine_node n);

/* False if there are fewer; ptr is NULL if there is no such attribute. */
bool seine_node_attr_at(const seine_tree *t, seine_node n, size_t i, seine_attr *out);
seine_view seine_node_attr(const seine_tree *t, seine_node n, const char *name);

/* Returns the content of a text, comment or instruction. */
seine_view seine_node_value(const seine_tree *t, seine_node n);

/* seine_node_text returns all text inside the node, unchanged. seine_node_words returns
 * the text that people see: no scripts or styles, blanks collapsed, a line feed between
 * blocks. NOMEM. */
SEINE_MUST_CHECK seine_err seine_node_text(const seine_tree *t, seine_node n,
                                           seine_text *out_text);
SEINE_MUST_CHECK seine_err seine_node_words(const seine_tree *t, seine_node n,
                                            seine_text *out_text);

/* Prints the node and its descendants as HTML. NOMEM. */
SEINE_MUST_CHECK seine_err seine_node_html(const seine_tree *t, seine_node n,
                                           seine_text *out_text);

/* Prints the tree in the format of html5lib's tests: a line per node, "|   <p>".
 * NOMEM. */
SEINE_MUST_CHECK seine_err seine_tree_print(const seine_tree *t, seine_text *out_text);

/* Prints it for a terminal: the same, but control characters and line ends of the page
 * are escaped, so that a node is a line. NOMEM. */
SEINE_MUST_CHECK seine_err seine_tree_show(const seine_tree *t, seine_text *out_text);

SEINE_END

#endif
