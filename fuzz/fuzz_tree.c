/* SPDX-License-Identifier: Apache-2.0 */
/* A byte of options, then a page: its tree holds together, whatever it is, and says
 * the same when it is made again. */
#include <stdlib.h>
#include <string.h>

#include "text/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static const char *const fragments[] = {
    NULL,     NULL,    NULL,      NULL,       "div",   "td",       "svg svg", "select",
    "script", "tbody", "math mi", "template", "title", "frameset", "html",    "colgroup"};

static void
check_nodes(const seine_tree *t)
{
    for (seine_node n = 1; n < seine_tree_size(t); n++) {
        const sn_node *node = sn_tree_node(t, n), *up = sn_tree_node(t, node->parent);
        seine_attr a;

        REQUIRE(node->parent < n && node->end > n && node->end <= up->end);
        REQUIRE(node->prev == 0 ? node->parent + 1 == n
                                : sn_tree_node(t, node->prev)->end == n);
        REQUIRE(up->kind == SEINE_NODE_ELEMENT || up->kind == SEINE_NODE_DOCUMENT);
        for (size_t i = 0; seine_node_attr_at(t, n, i, &a); i++)
            REQUIRE(a.name.ptr && a.value.ptr);
        if (node->kind == SEINE_NODE_ELEMENT)
            REQUIRE(node->name < t->names && seine_node_name(t, n).len > 0);
    }
}

static void
check_texts(const seine_tree *t, size_t len)
{
    seine_text text = {0};

    REQUIRE(seine_node_text(t, 0, &text) == SEINE_OK);
    REQUIRE(text.len <= 4 * len);
    seine_text_free(&text);
    REQUIRE(seine_node_words(t, 0, &text) == SEINE_OK);
    seine_text_free(&text);
    REQUIRE(seine_node_html(t, 0, &text) == SEINE_OK);
    seine_text_free(&text);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static seine_tree *t;
    seine_text once = {0}, again = {0};

    if (!t)
        REQUIRE(seine_tree_new(&t) == SEINE_OK);
    if (n == 0)
        return 0;
    seine_tree_opts opts = {.size = sizeof(seine_tree_opts),
                            .fragment = fragments[bytes[0] & 15],
                            .scripting = bytes[0] & 0x80};
    const char *page = (const char *)bytes + 1;
    seine_err e = seine_tree_parse(t, page, n - 1, &opts);
    REQUIRE(e == SEINE_OK || e == SEINE_E_HTML_TOO_DEEP || e == SEINE_E_HTML_TOO_COMPLEX);
    if (e != SEINE_OK)
        return 0;
    check_nodes(t);
    check_texts(t, n);
    REQUIRE(seine_tree_print(t, &once) == SEINE_OK);
    REQUIRE(seine_tree_parse(t, page, n - 1, &opts) == SEINE_OK);
    REQUIRE(seine_tree_print(t, &again) == SEINE_OK);
    REQUIRE(sn_str_eq((sn_str){once.bytes, once.len}, (sn_str){again.bytes, again.len}));
    seine_text_free(&once);
    seine_text_free(&again);
    return 0;
}
