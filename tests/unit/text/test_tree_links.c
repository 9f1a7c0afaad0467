/* SPDX-License-Identifier: Apache-2.0 */
/* What the tokenizer finds alone and what stands in the tree: the same links. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "seine/plumbing.h"
#include "text/html.h"
#include "text/tree.h"

enum { MOST = 4096 };

typedef struct places {
    uint64_t at[MOST];
    size_t n;
} places;

static void
note(places *p, uint64_t at)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->at[i] == at)
            return;
    if (p->n < MOST)
        p->at[p->n++] = at;
}

static bool
see(void *user, const sn_html_event *e)
{
    if (e->tag == SN_TAG_A)
        note(user, e->offset);
    return true;
}

static void
links_of(sn_str page, places *out)
{
    sn_html t;

    out->n = 0;
    sn_html_init(&t, &(sn_html_options){.want = SN_HTML_LINK}, see, out);
    CHECK_EQ(sn_html_feed(&t, page.ptr, page.len), SEINE_OK);
    CHECK_EQ(sn_html_end(&t), SEINE_OK);
    sn_html_fini(&t);
}

static bool
in_template(const seine_tree *t, seine_node n)
{
    while ((n = seine_node_parent(t, n)) != 0)
        if (seine_node_is(t, n, "template"))
            return true;
    return false;
}

/* A link that is opened again in every block has one place in the page. */
static void
links_in(const seine_tree *t, places *out)
{
    out->n = 0;
    for (seine_node n = 1; n < seine_tree_size(t); n++)
        if (seine_node_is(t, n, "a") && seine_node_attr(t, n, "href").ptr &&
            !in_template(t, n))
            note(out, seine_node_offset(t, n));
}

static int
by_place(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static bool
agree(seine_tree *t, sn_str page)
{
    static places found, standing;

    links_of(page, &found);
    if (seine_tree_parse(t, page.ptr, page.len, NULL) != SEINE_OK)
        return true;
    links_in(t, &standing);
    qsort(found.at, found.n, sizeof *found.at, by_place);
    qsort(standing.at, standing.n, sizeof *standing.at, by_place);
    return found.n == standing.n &&
           memcmp(found.at, standing.at, found.n * sizeof *found.at) == 0;
}

TEST(tree_and_tokenizer_find_the_same_links)
{
    static const char *const pages[] = {
        "<a href=1>x<p><a href=2>y",
        "<a href=1><svg></a><title><a href=2></title><a href=3>",
        "<div><svg><g></div><style><a href=1></style><a href=2>",
        "<svg><style><a href=1></style></svg><style><a href=2></style>",
        "<svg><title><style><a href=1></style></title><a href=2>",
        "<svg><desc><title>x</title><textarea><a href=1></textarea></desc><a href=2>",
        "<math><mi><style><a href=1></style></mi><style><a href=2></style>",
        "<math><mi><mglyph><style><a href=1></style></mglyph></mi>",
        "<math><annotation-xml encoding=text/html><style><a href=1></style>",
        "<math><annotation-xml><style><a href=1></style>",
        "<svg><font><style><a href=1></style>",
        "<svg><font color=red><style><a href=1></style>",
        "<svg></p><style><a href=1></style>",
        "<svg></g><style><a href=1></style>",
        "<table><td><svg></td><td><style><a href=1></style>",
        "<svg/><style><a href=1></style>",
        "<svg><![CDATA[<a href=1>]]></svg><![CDATA[<a href=2>]]>",
        "<select><a href=1><option>x</select>",
        "<template><a href=1></template><a href=2>",
        "<noscript><a href=1></noscript>",
        "<title><a href=1></title><a href=2>",
        "<script><!--<script></script><a href=1>--></script><a href=2>",
        "<plaintext><a href=1>",
        "<table><a href=1><tr><a href=2></table><a href=3>",
    };
    seine_tree *t = NULL;

    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    EACH_ROW(i, pages)
        CHECK(agree(t, sn_str_of(pages[i])));
    seine_tree_free(t);
}

static sn_str
member(const seine_json *object, const char *name)
{
    const char *bytes = NULL;
    size_t len = 0;

    seine_json_string(seine_json_get(object, name), &bytes, &len);
    return (sn_str){bytes, len};
}

TEST(tree_and_tokenizer_find_the_same_links_in_html5libs_pages)
{
    size_t all = 0, good = 0, len;
    char *mem = check_vector("html-tree/tree-construction.json", &len);
    seine_json *rows = NULL;
    seine_tree *t = NULL;

    if (!mem)
        return;
    CHECK_EQ(seine_json_parse(mem, len, &rows, NULL), SEINE_OK);
    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    for (size_t i = 0; i < seine_json_size(rows) && check_row(i); i++) {
        sn_str data = member(seine_json_at(rows, i), "data");
        sn_buf page;

        sn_buf_init(&page, data.len + 32); /* a link shows in what state the page ends */
        sn_buf_str(&page, data);
        sn_buf_text(&page, "<a href=1>");
        all++;
        if (agree(t, sn_buf_view(&page)))
            good++;
        else
            printf("     differs: %.*s\n", (int)data.len, data.ptr);
        sn_buf_fini(&page);
    }
    printf("     the same links in %zu of %zu pages\n", good, all);
    CHECK_EQ(good, all);
    seine_tree_free(t);
    seine_json_free(rows);
    free(mem);
}
