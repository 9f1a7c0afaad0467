/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_build.h - tree construction of the HTML standard (13.2.6), for the tree_*.c files.
 *
 * The tokenizer (text/html.h) reads the page and reports where each token stands. A token
 * goes to the rules of the current insertion mode; each group of modes has its own file
 * tree_modes_*.c. The rules work on the stack of open elements (tree_stack.c), the list
 * of formatting elements (tree_format.c) and the nodes (tree_insert.c).
 *
 * While a page is read, `end` of an element holds its last child, and `end` of a text the
 * bytes it may grow to; `prev` links the children. So a node is inserted and moved at
 * constant cost. tree_order.c brings the nodes into page order at the end.
 *
 * Every step that may repeat is counted against a limit that is linear in the page.
 *
 * Time    plays no part.
 * Memory  the struct, and 36 bytes per node.
 * Threads one owner.
 */
#ifndef SN_TREE_BUILD_H
#define SN_TREE_BUILD_H

#include "text/html.h"
#include "text/tree.h"
#include "text/tree_names.h"

enum {
    SN_TREE_MAX_TAGS = 150000,   /* and comments */
    SN_TREE_MAX_DEPTH = 256,     /* open elements */
    SN_TREE_MAX_ATTRS = 256,     /* of an element */
    SN_TREE_MAX_FORMATS = 32,    /* open formatting elements */
    SN_TREE_MAX_CLONES = 150000, /* formatting elements opened again */

    SN_TREE_CACHE = 128
};

typedef enum sn_tree_mode {
    MODE_INITIAL,
    MODE_BEFORE_HTML,
    MODE_BEFORE_HEAD,
    MODE_IN_HEAD,
    MODE_IN_NOSCRIPT,
    MODE_AFTER_HEAD,
    MODE_IN_BODY,
    MODE_TEXT,
    MODE_IN_TABLE,
    MODE_IN_CAPTION,
    MODE_IN_COLGROUP,
    MODE_IN_TBODY,
    MODE_IN_ROW,
    MODE_IN_CELL,
    MODE_IN_TEMPLATE,
    MODE_AFTER_BODY,
    MODE_IN_FRAMESET,
    MODE_AFTER_FRAMESET,
    MODE_AFTER_AFTER_BODY,
    MODE_AFTER_AFTER_FRAMESET,
    MODE_COUNT
} sn_tree_mode;

/* An open element. */
typedef struct sn_open {
    seine_node node;
    uint32_t name;
    uint16_t sorts; /* SN_EL_… */
    uint8_t el, ns;
} sn_open;

/* An entry of the list of formatting elements. */
typedef struct sn_format {
    seine_node node; /* 0: a marker */
    uint8_t el;
    uint32_t weight; /* what it costs to open it again */
    uint64_t hash;   /* of its attributes; 0: not yet computed */
} sn_format;

/* The tag that is being read. */
typedef struct sn_tree_token {
    uint8_t el;
    bool end, self_closing;
    bool used;     /* its attributes belong to an element */
    uint8_t ns;    /* of that element */
    uint32_t name; /* UINT32_MAX: an end tag whose name the tree does not have */
    uint32_t offset, size;
    uint32_t attrs, attr_count; /* in the tree's list */
} sn_tree_token;

/* Where an attribute of the tag stands in the page. */
typedef struct sn_tree_span {
    uint32_t name, name_len, value, value_len;
    char start[SN_HTML_NAME]; /* its first bytes, in lower case */
} sn_tree_span;

typedef struct sn_tree_cached {
    char name[SN_HTML_NAME];
    uint32_t id; /* + 1; 0: free */
} sn_tree_cached;

typedef struct sn_build {
    seine_tree *tree;
    sn_html html;
    const char *page;
    size_t len;
    seine_err err;

    uint8_t mode, original; /* original: to return to from MODE_TEXT */
    bool scripting, in_fragment, frameset_ok, foster, skip_lf, has_nul, done;
    sn_html_content content; /* how the bytes after this tag are read */
    sn_html_tag raw;

    sn_tree_token tok;
    sn_tree_span spans[SN_TREE_MAX_ATTRS];
    uint32_t span_count;
    uint32_t pending, pending_len; /* text that is not yet inserted */
    uint32_t text_offset;          /* where it stands in the page */
    bool has_text, has_nul_alone;  /* nothing but NUL and blanks */

    seine_node head, form;
    sn_open context; /* of a fragment */
    uint32_t depth;
    sn_open stack[SN_TREE_MAX_DEPTH + 1];
    uint16_t open[EL_COUNT]; /* HTML elements on the stack, by name */
    uint32_t templates;
    uint8_t template_mode[SN_TREE_MAX_DEPTH + 1];
    uint32_t format_count, format_open;
    sn_format formats[SN_TREE_MAX_FORMATS + SN_TREE_MAX_DEPTH + 2];

    uint64_t tags, max_tags;
    uint64_t clones, max_clones;
    uint64_t steps, max_steps; /* of the adoption agency and of searches among siblings */

    sn_tree_names names;
    uint32_t ids[EL_COUNT]; /* number of a known name + 1; 0: not yet */
    sn_tree_cached cache[SN_TREE_CACHE];
    sn_buf stamp; /* indexed by name: the last tag that had this attribute */
    uint32_t stamps;
} sn_build;

static inline sn_node *
sn_build_node(const sn_build *b, seine_node n)
{
    return (sn_node *)(void *)b->tree->node_mem.ptr + n;
}

static inline sn_open *
sn_build_top(sn_build *b)
{
    return &b->stack[b->depth - 1];
}

/* True if the innermost open element is the HTML element `el`. */
static inline bool
sn_build_at(sn_build *b, sn_tree_el el)
{
    return b->depth > 0 && sn_build_top(b)->el == el && sn_build_top(b)->ns == SN_NS_HTML;
}

/* tree_tokens.c: the tokenizer reports. Positions are bytes of the page. */
void sn_build_tag_name(sn_build *b, const sn_html *t, uint64_t to);
void sn_build_raw_end(sn_build *b, sn_html_tag tag);
void sn_build_attr_name(sn_build *b, const sn_html *t, uint64_t from, uint64_t to);
void sn_build_attr_value(sn_build *b, uint64_t from, uint64_t to);
sn_html_content sn_build_tag(sn_build *b, const sn_html *t, uint64_t to,
                             sn_html_tag *out_raw);
void sn_build_text(sn_build *b, uint64_t from, uint64_t to, bool decode);
void sn_build_comment(sn_build *b, uint64_t at, uint64_t from, uint64_t to);
void sn_build_instruction(sn_build *b, uint64_t at, uint64_t from, uint64_t to);
void sn_build_declaration(sn_build *b, uint64_t at, uint64_t from, uint64_t to);
bool sn_build_html_rules(sn_build *b); /* those of the current mode */
bool sn_build_is_foreign_text(const sn_build *b);
bool sn_build_is_foreign(const sn_build *b); /* CDATA is allowed here */
void sn_build_end(sn_build *b);

void sn_build_fail(sn_build *b, seine_err e); /* the first error counts */

/* tree_attrs.c */
uint32_t sn_build_el_id(sn_build *b, sn_tree_el el);
void sn_build_attrs(sn_build *b);
void sn_build_merge_attrs(sn_build *b, seine_node n);
void sn_build_foreign_attrs(sn_build *b, sn_ns ns);
bool sn_build_has_attr(const sn_build *b, const char *name, sn_str *out_value);

/* tree_insert.c */
seine_node sn_build_element(sn_build *b, sn_ns ns); /* of the tag; pushed */
seine_node sn_build_implied(sn_build *b, sn_tree_el el);
void sn_build_void(sn_build *b); /* inserts the tag's element and closes it */
seine_node sn_build_clone(sn_build *b, seine_node n);
seine_node sn_build_add(sn_build *b, const sn_node *node);
void sn_build_append(sn_build *b, seine_node parent, seine_node n);
void sn_build_detach(sn_build *b, seine_node n);
void sn_build_place(sn_build *b, seine_node n, const sn_open *over);
void sn_build_children(sn_build *b, seine_node from, seine_node to);
void sn_build_put_text(sn_build *b, uint32_t at, uint32_t len);
void sn_build_put_note(sn_build *b, seine_node_kind kind, seine_node parent, uint32_t at,
                       uint32_t offset);

/* tree_stack.c */
void sn_build_push(sn_build *b, const sn_open *o);
void sn_build_pop(sn_build *b);
void sn_build_pop_to(sn_build *b, uint32_t depth);
void sn_build_pop_el(sn_build *b, sn_tree_el el); /* until one was popped */
void sn_build_drop(sn_build *b, uint32_t at);     /* removes it from the middle */
void sn_build_put(sn_build *b, uint32_t at, const sn_open *o);
bool sn_build_in_scope(const sn_build *b, sn_tree_el el);
bool sn_build_in_list_scope(const sn_build *b, sn_tree_el el);
bool sn_build_in_button_scope(const sn_build *b, sn_tree_el el);
bool sn_build_in_table_scope(const sn_build *b, sn_tree_el el);
bool sn_build_heading_in_scope(const sn_build *b);
bool sn_build_node_in_scope(const sn_build *b, seine_node n);
void sn_build_implied_ends(sn_build *b, sn_tree_el except); /* OTHER: none */
void sn_build_thorough_ends(sn_build *b);
void sn_build_close_p(sn_build *b);      /* pops up to a p */
void sn_build_close_open_p(sn_build *b); /* the same, if a p is in button scope */
void sn_build_reset_mode(sn_build *b);

/* tree_format.c */
void sn_build_format(sn_build *b, seine_node n);
void sn_build_marker(sn_build *b);
void sn_build_clear_formats(sn_build *b); /* up to the last marker */
void sn_build_reopen(sn_build *b);
void sn_build_adopt(sn_build *b, sn_tree_el el);
sn_format *sn_build_find_format(sn_build *b, sn_tree_el el);
void sn_build_drop_format(sn_build *b, seine_node n);

/* The rules of the modes, for a start tag and an end tag: true if the tag must be
 * processed again, by the rules of the mode that is then current. */
bool sn_mode_initial(sn_build *b);
bool sn_mode_before_html(sn_build *b);
bool sn_mode_before_head(sn_build *b);
bool sn_mode_in_head(sn_build *b);
bool sn_mode_in_noscript(sn_build *b);
bool sn_mode_after_head(sn_build *b);
bool sn_mode_in_body(sn_build *b);
bool sn_mode_text(sn_build *b);
bool sn_mode_in_table(sn_build *b);
bool sn_mode_in_caption(sn_build *b);
bool sn_mode_in_colgroup(sn_build *b);
bool sn_mode_in_tbody(sn_build *b);
bool sn_mode_in_row(sn_build *b);
bool sn_mode_in_cell(sn_build *b);
bool sn_mode_in_template(sn_build *b);
bool sn_mode_after_body(sn_build *b);
bool sn_mode_in_frameset(sn_build *b);
bool sn_mode_after_frameset(sn_build *b);
bool sn_mode_after_after_body(sn_build *b);
bool sn_mode_after_after_frameset(sn_build *b);
bool sn_mode_foreign(sn_build *b);

bool sn_body_start(sn_build *b); /* tree_modes_body.c */
bool sn_body_end(sn_build *b);   /* tree_modes_body_end.c */
bool sn_body_other_end(sn_build *b);
void sn_template_end(sn_build *b); /* tree_modes_head.c */
void sn_raw_element(sn_build *b, sn_html_tag raw);
void sn_build_html(sn_build *b); /* the root, without a tag */

/* tree_text.c: inserts the text that is pending by the rules of the mode. */
void sn_build_flush(sn_build *b);
void sn_build_flush_end(sn_build *b); /* what the end of the page means to the mode */

/* tree_doctype.c: is_cut: the page ends in it. */
void sn_build_doctype(sn_build *b, sn_str raw, uint32_t offset, bool is_cut);

void sn_build_selected(sn_build *b); /* tree_selected.c */

/* tree_order.c: nodes in page order; HTML_TOO_DEEP, NOMEM. */
SEINE_MUST_CHECK seine_err sn_build_order(sn_build *b);

#endif
