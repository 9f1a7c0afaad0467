/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "base/str.h"
#include "check.h"
#include "failing.h"
#include "text/tree.h"

static seine_tree *
parse_with(const char *html, const seine_tree_opts *opts)
{
    seine_tree *t = NULL;

    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    CHECK_EQ(seine_tree_parse(t, html, strlen(html), opts), SEINE_OK);
    return t;
}

static seine_tree *
parse(const char *html)
{
    return parse_with(html, NULL);
}

static seine_node
find(const seine_tree *t, const char *name)
{
    for (seine_node n = 1; n < seine_tree_size(t); n++)
        if (seine_node_is(t, n, name))
            return n;
    return 0;
}

static void
expect_tree(const char *html, const seine_tree_opts *opts, const char *want)
{
    seine_tree *t = parse_with(html, opts);
    seine_text got = {0};

    CHECK_EQ(seine_tree_print(t, &got), SEINE_OK);
    CHECK_STR(got.bytes, want);
    seine_text_free(&got);
    seine_tree_free(t);
}

TEST(tree_is_that_of_a_browser)
{
    static const struct {
        const char *html, *want;
    } rows[] = {
        {"<p>a<p b='1' a=2>c",
         "| <html>\n|   <head>\n|   <body>\n|     <p>\n|       \"a\"\n"
         "|     <p>\n|       a=\"2\"\n|       b=\"1\"\n|       \"c\""},
        {"", "| <html>\n|   <head>\n|   <body>"},
        {"<!DOCTYPE html SYSTEM \"x\"><!--c-->",
         "| <!DOCTYPE html \"\" \"x\">\n| <!-- c -->\n| <html>\n|   <head>\n|   <body>"},
        {"<template>x</template>", "| <html>\n|   <head>\n|     <template>\n|       "
                                   "content\n|         \"x\"\n|   <body>"},
        {"<svg viewbox=1 xlink:href=2><foreignobject>",
         "| <html>\n|   <head>\n|   <body>\n|     <svg svg>\n|       viewBox=\"1\"\n"
         "|       xlink href=\"2\"\n|       <svg foreignObject>"},
        {"<b>1<p>2</b>3", "| <html>\n|   <head>\n|   <body>\n|     <b>\n|       \"1\"\n"
                          "|     <p>\n|       <b>\n|         \"2\"\n|       \"3\""},
        {"<math><mi>",
         "| <html>\n|   <head>\n|   <body>\n|     <math math>\n|       <math mi>"},
        {"<p><?php echo 1 ?>x<?", "| <html>\n|   <head>\n|   <body>\n|     <p>\n"
                                  "|       <?php echo 1 ?>\n|       \"x\""},
        {"<?xml version=1?>",
         "| <!-- ?xml version=1? -->\n| <html>\n|   <head>\n|   <body>"},
        {"<p a=1 a=2>", "| <html>\n|   <head>\n|   <body>\n|     <p>\n|       a=\"1\""},
    };

    EACH_ROW(i, rows)
        expect_tree(rows[i].html, NULL, rows[i].want);
}

/* A second one inside of the first goes with what the copy replaces. */
TEST(tree_shows_the_chosen_option)
{
    expect_tree("<select><selectedcontent>a<selectedcontent></selectedcontent><b>c</b>"
                "</selectedcontent><option>x<i>y</i>",
                NULL,
                "| <html>\n|   <head>\n|   <body>\n|     <select>\n"
                "|       <selectedcontent>\n|         \"x\"\n|         <i>\n"
                "|           \"y\"\n|       <option>\n|         \"x\"\n"
                "|         <i>\n|           \"y\"");
    expect_tree("<select><selectedcontent><option>x", NULL,
                "| <html>\n|   <head>\n|   <body>\n|     <select>\n"
                "|       <selectedcontent>\n|         <option>\n|           \"x\"");
}

TEST(tree_can_be_the_inside_of_an_element)
{
    expect_tree("<td>a",
                &(seine_tree_opts){.size = sizeof(seine_tree_opts), .fragment = "tr"},
                "| <td>\n|   \"a\"");
    expect_tree("<td>a",
                &(seine_tree_opts){.size = sizeof(seine_tree_opts), .fragment = "div"},
                "| \"a\"");
    expect_tree(
        "<g>", &(seine_tree_opts){.size = sizeof(seine_tree_opts), .fragment = "svg svg"},
        "| <svg g>");
    seine_tree *t = NULL;
    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    CHECK_EQ(seine_tree_parse(t, "x", 1,
                              &(seine_tree_opts){.size = sizeof(seine_tree_opts),
                                                 .fragment = "nosuch"}),
             SEINE_E_INVAL);
    CHECK_EQ(seine_tree_size(t), 0);
    CHECK_EQ(seine_tree_parse(t, "x", 1, NULL), SEINE_OK);
    seine_tree_free(t);
}

TEST(tree_nodes_know_their_places)
{
    seine_tree *t = parse("<ul id=u><li>a<li class='x y'>b</ul>c<!--d-->");
    seine_node ul = find(t, "ul"), a = seine_node_first(t, ul), b = seine_node_next(t, a);
    seine_attr attr;

    CHECK(seine_node_is(t, seine_tree_root(t), "html"));
    CHECK(seine_node_is(t, seine_node_parent(t, ul), "body"));
    CHECK(seine_node_is(t, a, "li") && seine_node_is(t, b, "li"));
    CHECK_EQ(seine_node_next(t, b), 0);
    CHECK_EQ(seine_node_end(t, ul), b + 2);
    CHECK_EQ(seine_node_what(t, a + 1), SEINE_NODE_TEXT);
    CHECK_EQ(seine_node_first(t, a + 1), 0);
    CHECK_EQ(seine_node_offset(t, ul), 0);
    CHECK_EQ(seine_node_offset(t, b), 14);
    CHECK(seine_node_attr_at(t, b, 0, &attr) && !seine_node_attr_at(t, b, 1, &attr));
    CHECK(sn_str_eq(attr.name, SN_STR("class")));
    CHECK(sn_str_eq(attr.value, SN_STR("x y")));
    CHECK_EQ(seine_node_attr(t, ul, "id").len, 1);
    CHECK(!seine_node_attr(t, ul, "class").ptr && !seine_node_attr(t, ul, "none").ptr);
    CHECK_EQ(seine_node_what(t, seine_node_end(t, ul) + 1), SEINE_NODE_COMMENT);
    CHECK_EQ(*seine_node_value(t, seine_node_end(t, ul) + 1).ptr, 'd');
    CHECK_EQ(seine_node_value(t, ul).len, 0);
    CHECK_EQ(seine_node_name(t, a + 1).len, 0);
    CHECK_EQ(seine_node_what(t, 0), SEINE_NODE_DOCUMENT);
    CHECK_EQ(seine_node_parent(t, 0), 0);
    CHECK_EQ(seine_node_next(t, 0), 0);
    CHECK_EQ(seine_node_end(t, 9999), 0);
    CHECK(!seine_node_attr(t, 9999, "id").ptr);
    seine_tree_free(t);
    seine_tree_free(NULL);
}

/* What walking by first and next finds, against the order of the list. */
static seine_node
walk(const seine_tree *t, seine_node n, seine_node parent, seine_node expected)
{
    CHECK_EQ(n, expected);
    CHECK_EQ(seine_node_parent(t, n), parent);
    seine_node at = n + 1, prev = 0;
    for (seine_node c = seine_node_first(t, n); c != 0; c = seine_node_next(t, c)) {
        CHECK_EQ(sn_tree_node(t, c)->prev, prev);
        prev = c;
        at = walk(t, c, n, at);
    }
    CHECK_EQ(seine_node_end(t, n), at);
    return at;
}

TEST(tree_of_any_soup_holds_together)
{
    static const char *const tags[] = {
        "<div>",    "</div>",   "<b>",        "</b>",        "<p>",   "text ", "<table>",
        "<td>",     "</table>", "<a href=x>", "</a>",        "<li>",  "<svg>", "<!--c-->",
        "<select>", "<option>", "<template>", "</template>", "<?x y>"};
    seine_tree *t = NULL;
    sn_rng rng = sn_rng_seed(check_seed());

    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    for (int round = 0; round < 300; round++) {
        char html[512] = "";
        size_t len = 0;

        for (int i = 0; i < 25; i++)
            len +=
                (size_t)snprintf(html + len, sizeof html - len, "%s",
                                 tags[sn_rng_next(&rng) % (sizeof tags / sizeof *tags)]);
        CHECK_EQ(seine_tree_parse(t, html, len, NULL), SEINE_OK);
        CHECK_EQ(walk(t, 0, 0, 0), seine_tree_size(t));
    }
    seine_tree_free(t);
}

TEST(tree_gives_text_as_it_stands_and_as_people_see_it)
{
    static const struct {
        const char *html, *text, *words;
    } rows[] = {
        {"a <b> b</b>", "a  b", "a b"},
        {"<p>a</p>\n<p>b<br>c", "a\nbc", "a\nb\nc"},
        {"x<script>y</script><style>z</style>w", "xyzw", "xw"},
        {"<table><tr><td>1<td>2<tr><td>3</table>4", "1234", "1 2\n3\n4"},
        {"<title>t</title>&amp;&nbsp;", "t&\xc2\xa0", "&\xc2\xa0"},
        {"<ul><li>a</li><li><b>b</b>c</li></ul>d", "abcd", "a\nbc\nd"},
        {"", "", ""},
        {"<div> <div> </div></div>", "  ", ""},
    };

    EACH_ROW(i, rows) {
        seine_tree *t = parse(rows[i].html);
        seine_text text = {0};

        CHECK_EQ(seine_node_text(t, 0, &text), SEINE_OK);
        CHECK_STR(text.bytes, rows[i].text);
        seine_text_free(&text);
        CHECK_EQ(seine_node_words(t, 0, &text), SEINE_OK);
        CHECK_STR(text.bytes, rows[i].words);
        seine_text_free(&text);
        seine_tree_free(t);
    }
}

TEST(tree_gives_the_words_of_one_node)
{
    seine_tree *t = parse("<p>a <i>b</i></p><p>c</p>");
    seine_text text = {0};

    CHECK_EQ(seine_node_words(t, find(t, "p"), &text), SEINE_OK);
    CHECK_STR(text.bytes, "a b");
    seine_text_free(&text);
    CHECK_EQ(seine_node_words(t, find(t, "i"), &text), SEINE_OK);
    CHECK_STR(text.bytes, "b");
    seine_text_free(&text);
    seine_tree_free(t);
}

TEST(tree_becomes_html_again)
{
    static const struct {
        const char *html, *name, *want;
    } rows[] = {
        {"<p a='\"&'>x &lt; y<br><b>z</b>", "p",
         "<p a=\"&quot;&amp;\">x &lt; y<br><b>z</b></p>"},
        {"<div><script>a < b</script><!--c--></div>", "div",
         "<div><script>a < b</script><!--c--></div>"},
        {"<ul><li><b></b><li>", "ul", "<ul><li><b></b></li><li></li></ul>"},
        {"<p><br>", "br", "<br>"},
        {"<p></p>", "p", "<p></p>"},
        {"<div><?a b></div>", "div", "<div><?a b?></div>"},
    };

    EACH_ROW(i, rows) {
        seine_tree *t = parse(rows[i].html);
        seine_text text = {0};

        CHECK_EQ(seine_node_html(t, find(t, rows[i].name), &text), SEINE_OK);
        CHECK_STR(text.bytes, rows[i].want);
        seine_text_free(&text);
        seine_tree_free(t);
    }
    seine_tree *t = parse("<!DOCTYPE html><p>a");
    seine_text text = {0};
    CHECK_EQ(seine_node_html(t, 0, &text), SEINE_OK);
    CHECK_STR(text.bytes,
              "<!DOCTYPE html><html><head></head><body><p>a</p></body></html>");
    seine_text_free(&text);
    seine_tree_free(t);
}

/* `body` so many times behind `head`. */
static seine_err
try_page(const char *head, const char *body, size_t times)
{
    size_t h = strlen(head), b = strlen(body), len = h + b * times;
    char *page = malloc(len + 1);
    seine_tree *t = NULL;

    memcpy(page, head, h);
    for (size_t i = 0; i < times; i++)
        memcpy(page + h + i * b, body, b);
    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    seine_err e = seine_tree_parse(t, page, len, NULL);
    CHECK_EQ(seine_tree_size(t) > 0, e == SEINE_OK);
    seine_tree_free(t);
    free(page);
    return e;
}

TEST(tree_refuses_what_would_cost_too_much)
{
    CHECK_EQ(try_page("", "<div>", 250), SEINE_OK);
    CHECK_EQ(try_page("", "<div>", 257), SEINE_E_HTML_TOO_DEEP);
    CHECK_EQ(try_page("", "<x>", 100000), SEINE_E_HTML_TOO_DEEP);
    CHECK_EQ(try_page("", "<b a=1><i>", 1000), SEINE_E_HTML_TOO_DEEP);
    CHECK_EQ(try_page("<p><b><i><u><s>", "</p><p>x", 62500), SEINE_E_HTML_TOO_COMPLEX);
    CHECK_EQ(try_page("", "<br>", 150000), SEINE_OK);
    CHECK_EQ(try_page("", "<br>", 150001), SEINE_E_HTML_TOO_COMPLEX);
    CHECK_EQ(try_page("", "<!>", 150001), SEINE_E_HTML_TOO_COMPLEX);
    CHECK_EQ(try_page("", "x", SEINE_TREE_BYTES + 1), SEINE_E_BUDGET);
}

typedef struct purse {
    uint64_t has, taken;
} purse;

static seine_err
take(uint64_t bytes, void *arg)
{
    purse *p = arg;

    if (bytes > p->has)
        return SEINE_E_BUDGET;
    p->taken += bytes;
    return SEINE_OK;
}

static void
give(uint64_t bytes, void *arg)
{
    ((purse *)arg)->taken -= bytes;
}

TEST(tree_asks_for_its_memory_first)
{
    purse p = {.has = 80 * (2 * 2 + 16) + 7};
    seine_tree_gate gate = {take, give, &p};
    seine_tree_opts opts = {.size = sizeof(seine_tree_opts), .gate = &gate};
    seine_tree *t = NULL;

    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    CHECK_EQ(seine_tree_parse(t, "<p></p>", 7, &opts), SEINE_OK);
    CHECK_EQ(p.taken, 0);
    CHECK_EQ(seine_tree_parse(t, "<p></p><p>", 10, &opts), SEINE_E_BUDGET);
    CHECK_EQ(seine_tree_size(t), 0);
    CHECK_EQ(p.taken, 0);
    seine_tree_free(t);
}

/* Reopened elements copy their attributes: 900 times 10,000 bytes. */
TEST(tree_refuses_long_tags_opened_again)
{
    enum { BIG = 10000 };
    char head[BIG + 16];

    memset(head, 'v', sizeof head);
    memcpy(head, "<p><b a=", 8);
    memcpy(head + BIG, ">", 2);
    CHECK_EQ(try_page(head, "</p><p>x", 50), SEINE_OK);
    CHECK_EQ(try_page(head, "</p><p>x", 900), SEINE_E_HTML_TOO_COMPLEX);
}

/* FNV-1a, which anybody can compute: these names would stand side by side in a table of
 * 131,072 slots. */
static bool
is_chosen(const char *name)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325);

    for (const char *c = name; *c; c++)
        h = (h ^ (unsigned char)*c) * UINT64_C(0x100000001b3);
    return ((h ^ h >> 32) & 0x1ffff) < 0x800;
}

static uint32_t
longest_run(const seine_tree *t)
{
    uint32_t most = 0, run = 0;

    for (uint32_t i = 0; i < 2 * t->table_size; i++) {
        run = t->table[i % t->table_size] ? run + 1 : 0;
        most = run > most ? run : most;
    }
    return most;
}

TEST(tree_names_of_a_page_cannot_be_chosen_to_collide)
{
    seine_tree *t = NULL;
    char name[16];
    uint32_t n = 0;

    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    for (unsigned i = 0; n < 40000; i++) {
        int len = snprintf(name, sizeof name, "x%x", i);

        if (is_chosen(name))
            CHECK_EQ(sn_tree_intern(t, (sn_str){name, (size_t)len}), n++);
    }
    CHECK_EQ(t->table_size, 131072);
    CHECK(longest_run(t) < 500);
    seine_tree_free(t);
}

TEST(tree_without_memory_says_so)
{
    FAIL_EACH(n)
    {
        seine_tree *t = NULL;
        seine_err e = seine_tree_new(&t);
        seine_text text = {0};

        if (e == SEINE_OK)
            e = seine_tree_parse(t, "<p a=1 b=2>x<i>y</i><b c=3>", 27, NULL);
        if (e == SEINE_OK)
            e = seine_tree_print(t, &text);
        seine_text_free(&text);
        if (e == SEINE_OK)
            e = seine_node_words(t, 0, &text);
        seine_text_free(&text);
        if (e == SEINE_OK)
            e = seine_node_html(t, 0, &text);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        seine_text_free(&text);
        seine_tree_free(t);
    }
}
