/* SPDX-License-Identifier: Apache-2.0 */
/* A byte of options, then a page: its tree holds together, whatever it is, says the same
 * when it is made again from pieces of any size, and where no rule moves or closes
 * elements, its HTML is a page with the same tree. Its links are those of its elements.
 */
#include <stdlib.h>
#include <string.h>

#include "seine/links.h"
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

/* Elements that no rule of the standard treats apart: their HTML stands for them. */
static bool
is_plain(const seine_tree *t, seine_node n)
{
    static const char names[] =
        " html head body div span section article nav q abbr cite "
        "label time x-a ";
    const sn_node *node = sn_tree_node(t, n);
    seine_view name = seine_node_name(t, n), value = seine_node_value(t, n);

    if (node->kind == SEINE_NODE_COMMENT)
        return !value.len || (!memchr(value.ptr, '-', value.len) && *value.ptr != '>');
    if (node->kind != SEINE_NODE_ELEMENT)
        return node->kind == SEINE_NODE_TEXT;
    for (const char *at = names; (at = strchr(at, ' ')) && at[1]; at++)
        if (strlen(at + 1) > name.len && at[1 + name.len] == ' ' &&
            strncmp(at + 1, name.ptr, name.len) == 0)
            return node->ns == SN_NS_HTML;
    return false;
}

static void
print_of(seine_tree *t, const char *page, size_t len, const seine_tree_opts *opts,
         size_t piece, seine_text *out)
{
    sn_tree_forget(t);
    REQUIRE(sn_tree_parse_pieces(t, (sn_str){page, len}, opts, piece) == SEINE_OK);
    REQUIRE(seine_tree_print(t, out) == SEINE_OK);
}

/* A CR that a reference made is LF when it is read again. */
static bool
has_cr(const seine_text *text)
{
    return memchr(text->bytes, '\r', text->len);
}

/* The tree of the page's HTML is the tree of the page. */
static void
check_again(seine_tree *t, const seine_text *once)
{
    seine_text html = {0}, again = {0};
    seine_tree_opts opts = SEINE_TREE_OPTS;

    for (seine_node n = 1; n < seine_tree_size(t); n++)
        if (!is_plain(t, n) || has_cr(once))
            return;
    REQUIRE(seine_node_html(t, 0, &html) == SEINE_OK);
    print_of(t, html.bytes, html.len, &opts, html.len + 1, &again);
    REQUIRE(
        sn_str_eq((sn_str){once->bytes, once->len}, (sn_str){again.bytes, again.len}));
    seine_text_free(&html);
    seine_text_free(&again);
}

static bool
in_template(const seine_tree *t, seine_node n)
{
    while ((n = seine_node_parent(t, n)) != 0)
        if (seine_node_is(t, n, "template") && sn_tree_node(t, n)->ns == SN_NS_HTML)
            return true;
    return false;
}

static bool
has_link_at(const seine_links *l, size_t offset)
{
    size_t low = 0, high = seine_links_count(l);
    seine_link k = {0};

    while (low < high) { /* they are in order */
        size_t middle = (low + high) / 2;

        REQUIRE(seine_links_at(l, middle, &k));
        if (k.offset < offset)
            low = middle + 1;
        else
            high = middle;
    }
    return seine_links_at(l, low, &k) && k.offset == offset && strcmp(k.tag, "a") == 0;
}

/* An <a> of a template that is not closed in it is opened again behind it. */
static bool
is_opened_again(const seine_tree *t, seine_node a)
{
    for (seine_node n = a + 1; n < seine_tree_size(t); n++)
        if (seine_node_offset(t, n) == seine_node_offset(t, a) &&
            seine_node_is(t, n, "a") && !in_template(t, n))
            return true;
    return false;
}

/* Every <a href> of the tree is a link, every link is an element of the tree, and where
 * the page has nothing that takes a stack to be right, the tokenizer finds them alone. */
static void
check_links(seine_tree *t, const char *page, size_t len)
{
    static seine_links *l;
    seine_tree_opts opts = SEINE_TREE_OPTS;
    seine_link k;

    if (!l)
        REQUIRE(seine_links_new(NULL, &l) == SEINE_OK);
    seine_links_reset(l);
    opts.links = l;
    REQUIRE(seine_tree_parse(t, page, len, &opts) == SEINE_OK);
    if (seine_links_notes(l))
        return;
    for (seine_node n = 1; n < seine_tree_size(t); n++)
        if (seine_node_is(t, n, "a") && seine_node_attr(t, n, "href").ptr)
            REQUIRE(has_link_at(l, seine_node_offset(t, n)) ==
                    (!in_template(t, n) || is_opened_again(t, n)));
    for (size_t i = 0; seine_links_at(l, i, &k); i++) {
        seine_node n = 1;

        while (n < seine_tree_size(t) &&
               (seine_node_offset(t, n) != k.offset || !seine_node_is(t, n, k.tag)))
            n++;
        REQUIRE(n < seine_tree_size(t) || i > 1000);
        if (i > 1000)
            break;
    }
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
    print_of(t, page, n - 1, &opts, 1 + (bytes[0] >> 4 & 7) * (size_t)(n / 7), &again);
    REQUIRE(sn_str_eq((sn_str){once.bytes, once.len}, (sn_str){again.bytes, again.len}));
    if (!opts.fragment && !opts.scripting) {
        check_links(t, page, n - 1);
        check_again(t, &once);
    }
    seine_text_free(&once);
    seine_text_free(&again);
    return 0;
}
