/* SPDX-License-Identifier: Apache-2.0 */
/* What the tokenizer finds alone and what stands in the tree: the same links. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "seine/links.h"
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
        if (seine_node_is(t, n, "template") && sn_tree_node(t, n)->ns == SN_NS_HTML)
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
        "<math><annotation-xml><svg><desc><style><a href=1></style></desc><a href=2>",
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

/* Every link of an element of the tree, by tokens or by the tree that they are read for.
 */
static const char *const linked[][2] = {
    {"a", "href"},      {"area", "href"},   {"link", "href"}, {"img", "src"},
    {"script", "src"},  {"iframe", "src"},  {"frame", "src"}, {"embed", "src"},
    {"source", "src"},  {"audio", "src"},   {"track", "src"}, {"video", "src"},
    {"object", "data"}, {"form", "action"},
};

static bool
is_linked(const seine_tree *t, seine_node n)
{
    for (size_t i = 0; i < sizeof linked / sizeof *linked; i++)
        if (seine_node_is(t, n, linked[i][0]) &&
            (sn_tree_node(t, n)->ns == SN_NS_HTML || i == 0))
            return seine_node_attr(t, n, linked[i][1]).ptr && !in_template(t, n);
    return false;
}

static void
elements_with_links(const seine_tree *t, places *out)
{
    out->n = 0;
    for (seine_node n = 1; n < seine_tree_size(t); n++)
        if (is_linked(t, n))
            note(out, seine_node_offset(t, n));
    qsort(out->at, out->n, sizeof *out->at, by_place);
}

static void
links_given(const seine_links *l, places *out)
{
    seine_link k;

    out->n = 0;
    for (size_t i = 0; seine_links_at(l, i, &k); i++)
        note(out, k.offset);
    qsort(out->at, out->n, sizeof *out->at, by_place);
}

static bool
same_places(const places *a, const places *b)
{
    return a->n == b->n && memcmp(a->at, b->at, a->n * sizeof *a->at) == 0;
}

/* Makes a page of some of the parts, and says whether the tree's links are those of its
 * elements, and whether the tokenizer finds them alone. */
typedef struct trial {
    seine_tree *tree;
    seine_links *both, *alone;
    char page[1024];
    size_t len;
    bool is_whole, is_found_alone;
} trial;

static void
trial_run(trial *r)
{
    static places standing, found, alone;
    seine_tree_opts opts = SEINE_TREE_OPTS;

    opts.links = r->both;
    seine_links_reset(r->both);
    seine_links_reset(r->alone);
    CHECK_EQ(seine_tree_parse(r->tree, r->page, r->len, &opts), SEINE_OK);
    CHECK_EQ(seine_links_feed(r->alone, r->page, r->len), SEINE_OK);
    CHECK_EQ(seine_links_end(r->alone), SEINE_OK);
    elements_with_links(r->tree, &standing);
    links_given(r->both, &found);
    links_given(r->alone, &alone);
    r->is_whole = same_places(&standing, &found);
    r->is_found_alone = same_places(&standing, &alone);
    if (getenv("SEINE_TREES") && (!r->is_whole || !r->is_found_alone))
        printf("%s: %.*s\n", r->is_whole ? "alone" : "TREE", (int)r->len, r->page);
}

static void
trial_fill(trial *r, const char *const *parts, size_t count, uint64_t seed)
{
    sn_rng rng = sn_rng_seed(seed);
    size_t n;

    r->len = 0;
    for (uint64_t i = 2 + sn_rng_below(&rng, 14); i > 0; i--) {
        const char *part = parts[sn_rng_below(&rng, count)];

        n = strlen(part);
        memcpy(r->page + r->len, part, n);
        r->len += n;
    }
}

/* What html.md says that the tokenizer follows to the letter. */
#define PLAIN_PARTS                                                                      \
    "<a href=1>", "</a>", "<p>", "</p>", "<div>", "</div>", "<b>", "</b>", "x", " ",     \
        "<table>", "<tr>", "<td>", "</td>", "</table>", "<caption>", "<col>",            \
        "<colgroup>", "<form action=1>", "</form>", "<form>", "<frame src=1>",           \
        "<select>", "<option>", "</select>", "<textarea>", "</textarea>", "<title>",     \
        "</title>", "<style>", "</style>", "<script src=1>", "</script>", "<xmp>",       \
        "</xmp>", "<noscript>", "</noscript>", "<iframe src=1>", "</iframe>",            \
        "<img src=1>", "<link href=1>", "<base href=1>", "<object data=1>", "</object>", \
        "<head>", "</head>", "<body>", "</body>", "<html>", "</html>", "<!--", "-->",    \
        "<plaintext>", "<button>", "</button>", "<li>", "<ul>", "</ul>", "<br>",         \
        "<input type=hidden>", "<noframes>", "</noframes>", "<area href=1>", "<h1>",     \
        "</h1>", "<nobr>", "<hr>", "<video src=1>", "<![CDATA[", "]]>", "<?x>", "</br>"

/* And what needs the elements that are open. */
#define OTHER_PARTS                                                                   \
    "<svg>", "</svg>", "<math>", "</math>", "<g>", "</g>", "<desc>", "</desc>",       \
        "<foreignObject>", "</foreignObject>", "<mi>", "</mi>", "<mglyph>",           \
        "<template>", "</template>", "<frameset>", "</frameset>", "<annotation-xml>", \
        "<annotation-xml encoding=text/html>", "</annotation-xml>", "<font color=1>", \
        "<font>", "</font>", "<svg/>", "<title/>", "<a/>"

static trial
trial_new(void)
{
    trial r = {.len = 0};

    CHECK_EQ(seine_tree_new(&r.tree), SEINE_OK);
    CHECK_EQ(seine_links_new(NULL, &r.both), SEINE_OK);
    CHECK_EQ(seine_links_new(NULL, &r.alone), SEINE_OK);
    return r;
}

static void
trial_free(trial *r)
{
    seine_tree_free(r->tree);
    seine_links_free(r->both);
    seine_links_free(r->alone);
}

enum { TRIALS = 20000 };

TEST(tree_and_tokenizer_find_the_same_links_in_any_plain_soup)
{
    static const char *const parts[] = {PLAIN_PARTS};
    trial r = trial_new();
    uint64_t seed = check_seed();
    size_t bad = 0;

    for (uint64_t i = 0; i < TRIALS; i++) {
        trial_fill(&r, parts, sizeof parts / sizeof *parts, seed + i);
        trial_run(&r);
        bad += !r.is_whole || !r.is_found_alone;
    }
    CHECK_EQ(bad, 0);
    trial_free(&r);
}

TEST(tree_gives_the_links_of_its_elements_in_any_soup)
{
    static const char *const parts[] = {PLAIN_PARTS, OTHER_PARTS};
    trial r = trial_new();
    uint64_t seed = check_seed();
    size_t bad = 0, apart = 0;

    for (uint64_t i = 0; i < TRIALS; i++) {
        trial_fill(&r, parts, sizeof parts / sizeof *parts, seed + i);
        trial_run(&r);
        bad += !r.is_whole;
        apart += !r.is_found_alone;
    }
    printf("     the tokenizer alone finds others in %zu of %d\n", apart, (int)TRIALS);
    CHECK_EQ(bad, 0);
    CHECK(apart < TRIALS / 20);
    trial_free(&r);
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
