/* SPDX-License-Identifier: Apache-2.0 */
/* The trees of html5lib's tests, found through SEINE_VECTORS: they are no part of the
 * project. docs/user/tree.md says which are not met. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "check.h"
#include "seine/plumbing.h"
#include "text/tree.h"

static sn_str
member(const seine_json *object, const char *name)
{
    const char *bytes = NULL;
    size_t len = 0;

    seine_json_string(seine_json_get(object, name), &bytes, &len);
    return (sn_str){bytes, len};
}

/* The tree of the page in pieces of `piece` bytes, printed. */
static bool
is_tree(seine_tree *t, sn_str page, const seine_tree_opts *opts, size_t piece,
        sn_str want)
{
    seine_text got = {0};

    sn_tree_forget(t);
    bool same = sn_tree_parse_pieces(t, page, opts, piece) == SEINE_OK &&
                seine_tree_print(t, &got) == SEINE_OK &&
                sn_str_eq((sn_str){got.bytes, got.len}, want);
    if (!same && getenv("SEINE_TREES"))
        printf("---- pieces of %zu\n%.*s\n---- want\n%.*s\n---- got\n%s\n", piece,
               (int)page.len, page.ptr, (int)want.len, want.ptr,
               got.bytes ? got.bytes : "(refused)");
    seine_text_free(&got);
    return same;
}

/* A few vectors leave out the element that they are the inside of. */
static const char *const contexts[] = {
    NULL,
    "div",
    "td",
    "tr",
    "select",
    "template",
    "textarea",
    "style",
    "html",
    "head",
    "title",
    "script",
    "plaintext",
    "svg desc",
    "svg title",
    "svg svg",
    "svg foreignObject",
    "svg path",
    "math math",
    "math mi",
    "math mo",
    "math mn",
    "math ms",
    "math mtext",
    "math annotation-xml",
};

/* True if the tree of the vector is the wanted one, in one piece and however it is cut.
 */
static bool
agrees(seine_tree *t, const seine_json *one, seine_tree_opts *opts)
{
    sn_str data = member(one, "data"), want = member(one, "document");

    if (!is_tree(t, data, opts, data.len + 1, want))
        return false;
    for (size_t piece = 1; piece < data.len; piece++)
        CHECK(is_tree(t, data, opts, piece, want));
    return true;
}

static bool
agrees_somewhere(seine_tree *t, const seine_json *one)
{
    seine_tree_opts opts = {.size = sizeof(seine_tree_opts),
                            .fragment = member(one, "fragment").ptr,
                            .scripting =
                                sn_str_eq(member(one, "script"), SN_STR("#script-on"))};

    if (agrees(t, one, &opts))
        return true;
    if (sn_str_eq(member(one, "file"), SN_STR("tests16.dat"))) {
        opts.scripting = true; /* two of them want it and do not say so */
        return agrees(t, one, &opts);
    }
    if (opts.fragment || sn_str_starts(member(one, "document"), SN_STR("| <html")))
        return false;
    for (size_t i = 0; i < sizeof contexts / sizeof *contexts; i++) {
        opts.fragment = contexts[i];
        if (agrees(t, one, &opts))
            return true;
    }
    return false;
}

TEST(tree_agrees_with_html5lib_however_the_page_is_cut)
{
    size_t all = 0, good = 0, scripted = 0, len;
    char *mem = check_vector("html-tree/tree-construction.json", &len);
    seine_json *rows = NULL;
    seine_tree *t = NULL;

    if (!mem)
        return;
    CHECK_EQ(seine_json_parse(mem, len, &rows, NULL), SEINE_OK);
    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    for (size_t i = 0; i < seine_json_size(rows) && check_row(i); i++) {
        const seine_json *one = seine_json_at(rows, i);

        all++;
        if (sn_str_starts(member(one, "file"), SN_STR("scripted_")))
            scripted++;
        else if (agrees_somewhere(t, one))
            good++;
        else
            printf("     %.*s: %.*s\n", (int)member(one, "file").len,
                   member(one, "file").ptr, (int)member(one, "data").len,
                   member(one, "data").ptr);
    }
    printf("     %zu of %zu trees agree, and %zu would have to run scripts\n", good, all,
           scripted);
    CHECK_EQ(scripted, 6);
    CHECK_EQ(good + scripted, all);
    seine_tree_free(t);
    seine_json_free(rows);
    free(mem);
}

/* Pieces of all these sizes together have an edge at every byte of a page. */
static void
check_cuts(seine_tree *t, sn_str page)
{
    seine_tree_opts opts = SEINE_TREE_OPTS;
    seine_text whole = {0};

    if (seine_tree_parse(t, page.ptr, page.len, NULL) != SEINE_OK)
        return;
    CHECK_EQ(seine_tree_print(t, &whole), SEINE_OK);
    for (size_t piece = 1; piece <= 64; piece += piece < 4 ? 1 : 15)
        CHECK(is_tree(t, page, &opts, piece, (sn_str){whole.bytes, whole.len}));
    for (size_t piece = 16384 - 8; piece <= 16384; piece++)
        CHECK(is_tree(t, page, &opts, piece, (sn_str){whole.bytes, whole.len}));
    seine_text_free(&whole);
}

TEST(tree_of_a_real_page_is_the_same_wherever_it_is_cut)
{
    size_t len, page_len, pages = 0;
    char *list = check_vector("html-links/pages.sample.jsonl", &len);
    sn_str rest = {list, len}, line;
    seine_tree *t = NULL;

    if (!list)
        return;
    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    while (sn_str_next(&rest, '\n', &line) && line.len > 0) {
        seine_json *one = NULL;

        CHECK_EQ(seine_json_parse(line.ptr, line.len, &one, NULL), SEINE_OK);
        sn_str file = member(one, "file");
        char *page = check_vector(file.ptr, &page_len);
        if (page) {
            check_cuts(t, (sn_str){page, page_len});
            pages++;
        }
        free(page);
        seine_json_free(one);
    }
    CHECK(pages > 0);
    seine_tree_free(t);
    free(list);
}
