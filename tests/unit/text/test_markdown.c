/* SPDX-License-Identifier: Apache-2.0 */
#include "text/markdown.h"

#include <stdlib.h>

#include "check.h"
#include "doc_dump.h"
#include "failing.h"

static doc_dump
read_markdown(const char *text)
{
    sn_markdown *m = malloc(sizeof *m);
    doc_dump d = {"", ""};

    sn_markdown_init(m);
    CHECK_EQ(sn_markdown_read(m, sn_str_of(text), (sn_doc_fn){doc_dump_event, &d}),
             SEINE_OK);
    sn_markdown_fini(m);
    free(m);
    return d;
}

typedef struct row {
    const char *text, *want;
} row;

static void
check_links(const row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        doc_dump d = read_markdown(rows[i].text);

        if (strcmp(d.links, rows[i].want) != 0)
            printf("in: %s\n", rows[i].text);
        CHECK_STR(d.links, rows[i].want);
    }
}

static void
check_anchors(const row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        doc_dump d = read_markdown(rows[i].text);

        if (strcmp(d.anchors, rows[i].want) != 0)
            printf("in: %s\n", rows[i].text);
        CHECK_STR(d.anchors, rows[i].want);
    }
}

#define CHECK_LINKS(rows)   check_links(rows, sizeof(rows) / sizeof *(rows))
#define CHECK_ANCHORS(rows) check_anchors(rows, sizeof(rows) / sizeof *(rows))

TEST(markdown_finds_inline_links)
{
    static const row rows[] = {
        {"[a](b)", "1:1 a b (a)"},
        {"x [a b](c.md \"t\") y", "1:3 a c.md (a b)"},
        {"[a](<b c>)", "1:1 a b c (a)"},
        {"[a](<>)", "1:1 a  (a)"},
        {"[a]()", "1:1 a  (a)"},
        {"[a](b(c)d)", "1:1 a b(c)d (a)"},
        {"[a](b\\)c)", "1:1 a b)c (a)"},
        {"[a](b&amp;c=%20d)", "1:1 a b&c=%20d (a)"},
        {"[a](b (t))", "1:1 a b (a)"},
        {"[a](b 't' )", "1:1 a b (a)"},
        {"[a](\nb\n't')", "1:1 a b (a)"}, /* over line ends */
        {"[a\nb](c)", "1:1 a c (a b)"},
        {"[a] (b)", ""},  /* a blank between is text */
        {"[a](b c)", ""}, /* a blank inside is none */
        {"\\[a](b)", ""},
        {"[a\\](b)", ""},
        {"[a](b", ""},
        {"![a](b.png)", "1:1 img b.png (a)"},
        {"[![a](b)](c)", "1:2 img b (a) | 1:1 a c (![a](b))"},
        {"[a [b](c) d](e)", "1:4 a c (b)"}, /* no link inside a link */
        {"![a [b](c)](d)", "1:5 a c (b) | 1:1 img d (a [b](c))"},
        {"[[a]](b)", "1:1 a b ([a])"},
        {"*[a](b)*, **[c](d)**", "1:2 a b (a) | 1:13 a d (c)"},
        {"> q\n> [a](b)", "2:3 a b (a)"},
        {"- i\n\n  [a](b)", "3:3 a b (a)"},
        {"1. i\n   - [a](b)", "2:6 a b (a)"},
        {"| x | [a](b) |\n|---|---|\n| `|` | [c](d) |", "1:7 a b (a) | 3:9 a d (c)"},
        {"[a](b#c?d)", "1:1 a b#c?d (a)"},
        {"\xef\xbb\xbf[a](b)", "1:1 a b (a)"},
        {"x\r\n[a](b)\r\n", "2:1 a b (a)"},
        {"---\nurl: '[x](y)'\n---\n[a](b)", "4:1 a b (a)"},
        {"+++\nx = '[x](y)'\n+++\n[a](b)", "4:1 a b (a)"},
        {"---\n[a](b)", "2:1 a b (a)"}, /* no front matter without its end */
    };

    CHECK_LINKS(rows);
}

TEST(markdown_finds_reference_links)
{
    static const row rows[] = {
        {"[a][B]\n\n[b]: c", "1:1 a c (a)"},
        {"[a]\n\n[a]: c 'title'", "1:1 a c (a)"},
        {"[a][]\n\n[A]: <c d>", "1:1 a c d (a)"},
        {"[a][nobody]", ""},
        {"[a]", ""},
        {"![a][b]\n\n[b]: c", "1:1 img c (a)"},
        {"[b]: c\n[d]: e\n[b] [d]", "3:1 a c (b) | 3:5 a e (d)"},
        {"[b]:\n  c\n  'title'\n\n[b]", "5:1 a c (b)"},
        {"[b]: c\n\n[b]: d\n\n[b]", "5:1 a c (b)"}, /* the first one counts */
        {"[x  y]\n\n[X\nY]: c", "1:1 a c (x y)"},
        {"[\xc3\x84]\n\n[\xc3\xa4]: c", "1:1 a c (\xc3\x84)"},
        {"x\n[b]: c\n\n[b]", ""}, /* a definition does not end a paragraph */
        {"> [b]: c\n\n[b]", "3:1 a c (b)"},
        {"- [ ] todo\n- [x] done", ""},
        {"a[^1]\n\n[^1]: https://e.example/f",
         "3:7 a https://e.example/f (https://e.example/f)"},
        {"`[a]`\n\n[a]: b", ""},
    };

    CHECK_LINKS(rows);
}

TEST(markdown_finds_autolinks)
{
    static const row rows[] = {
        {"<https://e.example/a>", "1:1 a https://e.example/a (https://e.example/a)"},
        {"<a@e.example>", "1:1 a mailto:a@e.example (a@e.example)"},
        {"see https://e.example/a.", "1:5 a https://e.example/a (https://e.example/a)"},
        {"(https://e.example/a_(b))",
         "1:2 a https://e.example/a_(b) (https://e.example/a_(b))"},
        {"www.e.example/x", "1:1 a http://www.e.example/x (www.e.example/x)"},
        {"xhttps://e.example", ""},
        {"https://", ""},
        {"http://<host>/", ""},
        {"[https://e.example/a](b)", "1:1 a b (https://e.example/a)"},
        {"[https://e.example/a]", "1:2 a https://e.example/a (https://e.example/a)"},
        {"https://e.example/&quot;", "1:1 a https://e.example/ (https://e.example/)"},
        {"**https://e.example/**", "1:3 a https://e.example/ (https://e.example/)"},
    };

    CHECK_LINKS(rows);
}

TEST(markdown_finds_no_links_in_code)
{
    static const row rows[] = {
        {"`[a](b)`", ""},
        {"`` ` [a](b) ``", ""},
        {"` [a](b)", "1:3 a b (a)"}, /* never closed */
        {"```\n[a](b)\n```\n[c](d)", "4:1 a d (c)"},
        {"~~~ md\n[a](b)\n```\n~~~\n[c](d)", "5:1 a d (c)"},
        {"    [a](b)\n\n[c](d)", "3:1 a d (c)"},
        {"\t[a](b)", ""},
        {"x\n    [a](b)", "2:5 a b (a)"}, /* goes on with a paragraph */
        {"- x\n\n      [a](b)", ""},      /* code in an item */
        {"- x\n\n    [a](b)", "3:5 a b (a)"},
        {"> ```\n> [a](b)\n\n[c](d)", "4:1 a d (c)"}, /* the quote ends the code */
        {"```\n[a](b)", ""},
        {"`a\n\n[b](c)`", "3:1 a c (b)"}, /* code ends with its paragraph */
    };

    CHECK_LINKS(rows);
}

TEST(markdown_finds_links_of_html_inside)
{
    static const row rows[] = {
        {"x <a href=\"b\">c</a>", "1:3 a b (c)"},
        {"<p>\n<img src='b'>\n</p>", "2:1 img b ()"},
        {"<!-- [a](b) <a href=c> -->", ""},
        {"a <!-- [a](b) --> [c](d)", "1:19 a d (c)"},
        {"`<a href=b>`", ""},
        {"---\na: b\n---\n<a href=c>d</a>", "4:1 a c (d)"},
        {"```\n<a href=b>\n```", ""},
        {"\\<a href=b>", ""},
        {"1 < 2 [a](b) > 3", "1:7 a b (a)"},
        {"a <b [c](d)", "1:6 a d (c)"},
        {"<div>\n[a](b)\n\n[c](d)", "4:1 a d (c)"}, /* up to the blank line */
        {"use <title> and <script> [a](b) <a href=c>x</a>",
         "1:26 a b (a) | 1:33 a c (x)"}, /* such tags are shown */
        {"> <a\n> href=b>x</a>", "1:3 a b (x)"},
    };

    CHECK_LINKS(rows);
}

TEST(markdown_footnotes_are_anchors)
{
    static const row rows[] = {
        {"x[^1]\n\n[^1]: note", "fn-1 | fn:1"},
        {"[^a]: b\n[^c-d]: e", "fn-a | fn:a | fn-c-d | fn:c-d"},
        {"[^a b]: c", ""}, /* a label is one word */
        {"[^1] is no note", ""},
        {"[^]: x", ""},
    };

    CHECK_ANCHORS(rows);
}

TEST(markdown_makes_the_anchors_of_github)
{
    static const row rows[] = {
        {"# Hello World", "hello-world"},
        {"## What's *new* in 2.0?", "whats-new-in-20"},
        {"# a\n# a\n# a", "a | a-1 | a-2"},
        {"# a\n# a\n# a-1", "a | a-1 | a-1-1"},
        {"# C++ & C#", "c--c"},
        {"# snake_case and _emph_ __x__", "snake_case-and-emph-x"},
        {"# `code_span` x", "code_span-x"},
        {"# [link](url) text", "link-text"},
        {"# ![img](u) text", "-text"},
        {"# <a name=\"n\"></a>Text", "text | n"},
        {"# \xc3\x9c"
         "ber \xc3\x84pfel",
         "\xc3\xbc"
         "ber-\xc3\xa4pfel"},
        {"# \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e",
         "\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e"},
        {"# \xf0\x9f\x9a\x80 Go", "-go"}, /* an emoji goes, its blank stays */
        {"# :rocket: Go", "rocket-go"},
        {"# a - b", "a---b"},
        {"# a &amp; b", "a--b"},
        {"# closed ##", "closed"},
        {"# C#", "c"},
        {"Title\n=====", "title"},
        {"Two\nlines\n---", "two-lines"},
        {"# x {#given}", "given | x"},
        {"#no", ""},
        {"    # code", ""},
        {"```\n# code\n```", ""},
        {"> # quoted", "quoted"},
        {"- # item", "item"},
        {"<h2 id=\"x\">y</h2>", "x"},
        {"# \\_a\\_", "_a_"},
        {"#", ""},
        {"# 1. Install", "1-install"},
    };

    CHECK_ANCHORS(rows);
}

TEST(markdown_places_are_those_of_the_document)
{
    static const row rows[] = {
        {"a\n\n  b\n  c [d](e)", "4:5 a e (d)"},
        {"- a\n  > b [c](d)", "2:7 a d (c)"},
        {"\t- x", ""},
        {"-\t[a](b)", "1:3 a b (a)"},
    };

    CHECK_LINKS(rows);
}

TEST(markdown_looks_into_100_containers)
{
    char text[1024] = "";

    for (int i = 0; i < 99; i++)
        memcpy(text + 2 * i, "> ", 2);
    memcpy(text + 198, "# a", 4);
    CHECK_STR(read_markdown(text).anchors, "a");
    memset(text, 0, sizeof text);
    for (int i = 0; i < 200; i++)
        memcpy(text + 2 * i, i % 2 ? "- " : "> ", 2);
    memcpy(text + 400, "# a", 4);
    CHECK_STR(read_markdown(text).anchors, ""); /* deeper ones are text */
}

TEST(markdown_work_is_linear)
{
    static const char *const pieces[] = {
        "[",        "](",       "[a](b \"", "`",    "``` `", "<a b='", "<!--",
        "<!a ",     "![",       "[a](<",    "> ",   "- ",    "_a ",    "# a\n",
        "[a]: b\n", "http://a", "<?",       "[a][", "&a",    "|-|\n"};

    EACH_ROW(i, pieces) {
        sn_markdown *m = malloc(sizeof *m);
        doc_dump d = {"", ""};
        size_t len = strlen(pieces[i]), n = 200000 / len * len;
        char *text = malloc(n);

        for (size_t at = 0; at < n; at += len)
            memcpy(text + at, pieces[i], len);
        sn_markdown_init(m);
        CHECK_EQ(sn_markdown_read(m, (sn_str){text, n}, (sn_doc_fn){doc_dump_event, &d}),
                 SEINE_OK);
        sn_markdown_fini(m);
        free(text);
        free(m);
    }
}

static void
ignore_event(void *user, const sn_doc_event *e)
{
    (void)user, (void)e;
}

TEST(markdown_survives_failing_allocations)
{
    static const char text[] =
        "# A\n# A\n[a][b] <a href=c id=d>x</a> `c` https://e.example/\n\n[b]: c\n";

    FAIL_EACH(r)
    {
        sn_markdown *m = malloc(sizeof *m);

        sn_markdown_init(m);
        seine_err e =
            sn_markdown_read(m, sn_str_of(text), (sn_doc_fn){ignore_event, NULL});
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        sn_markdown_fini(m);
        free(m);
    }
}
