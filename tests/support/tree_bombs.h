/* SPDX-License-Identifier: Apache-2.0 */
/* tree_bombs.h - pages made to be expensive for a builder of trees: `head` once, then
 * `body` again and again. A '#' becomes the number of the repetition, in hexadecimal. */
#ifndef TREE_BOMBS_H
#define TREE_BOMBS_H

typedef struct tree_bomb {
    const char *head, *body;
} tree_bomb;

#define FORMATS                                                                        \
    "<b id=1><b id=2><b id=3><b id=4><b id=5><b id=6><b id=7><b id=8><i id=1><i id=2>" \
    "<i id=3><i id=4><i id=5><i id=6><i id=7><i id=8><u id=1><u id=2><u id=3><u id=4>" \
    "<u id=5><u id=6><u id=7><u id=8><s id=1><s id=2><s id=3><s id=4><s id=5><s id=6>"
#define DIVS                                                                           \
    "<div><div><div><div><div><div><div><div><div><div><div><div><div><div><div><div>" \
    "<div><div><div><div><div><div><div><div><div><div><div><div><div><div><div><div>"
#define SPANS                                                                           \
    "<q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q>" \
    "<q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q>" \
    "<q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q><q>"

static const tree_bomb tree_bombs[] = {
    /* The four that broke MyHTML: text after an end tag that closes nothing, rows without
     * a table, attributes of ever more <html>, and raw text that ends at any byte. */
    {"", "xxxx</q>"},
    {"", "<tr><td>x"},
    {"", "<html a#>"},
    {"", "<style></style>"},

    /* Text that is joined, with something stored in between. */
    {"<table>", "x<tr a=b>"},
    {"<table>", "x<!-- -->"},
    {"<table><tr>", "x<td a=b></td>"},
    {"<table>", "<tr>x</>"},
    {"<p>", "x</q y=z>"},
    {"<p>", "x<frame src=#>"},
    {"<p>", "&amp;</q>"},
    {"", "x</#>"},
    {"<textarea>", "\r\n\r\n</texta>"},
    {"", "&#0;</q>"},

    /* Foster parents. */
    {"<table>", "<b>x"},
    {"<table>", "<a>x"},
    {"<table>", "<div>x</div>"},
    {"<table>", "<tr>x"},
    {"<table>", "<b></b><i></i>"},
    {"<table><table>", "<p>x<tr>"},
    {"<table>", "<table>x"},
    {"<table>", "<table></table>x"},
    {"<table>", "<svg></svg>x"},
    {"<table><b>", "<tr>x</b><b>"},
    {"<table><a>", "<tr><td></table><a><table>"},
    {"<table>", "<select>x</select>"},
    {"<p><table>", "<td></p>"},
    {"<table>", "<caption>x</caption>"},

    /* The adoption agency and formatting elements. */
    {FORMATS, "<p>x</p>"},
    {FORMATS, "</p>x"},
    {FORMATS "<p>", "</b><b>"},
    {"<p><b><i><u>", "</p><p>x"},
    {"", "<b><p>x</b>"},
    {"", "<a><p>"},
    {"", "<a><div></a>"},
    {"<a>", "<div><a>x</div>"},
    {DIVS, "<a><br></a>"},
    {"<b><div>", "<br></b><b>"},
    {"<b><div>", "<br><br><br><br></b><b><div></div>"},
    {"<a><b><i><u><p>", "x</a></b></i></u>"},
    {"<a><ul>", "<li></a><a>x"},
    {"", "<font size=#>x</font>"},
    {"", "<font size=#><p>"},
    {"", "<nobr>x"},
    {"<code><em><tt>", "<h1>x</code></h1>"},
    {"<b a=1 b=2 c=3>", "<b c=3 b=2 a=1></b>"},
    {"<object>", "<b><object></object>"},
    {"<small>", "<table><td></small></table>"},

    /* Attributes. */
    {"", "<body a#=1>"},
    {"<p ", " a"},
    {"<p ", " a#"},
    {"", "<p a a a a a a a a b b b b b b b b c c c c>"},
    {"", "<p a# b# c#>"},
    {"", "</p a# b# c#>"},
    {"<svg>", "<g xlink:href=# viewbox=1/>"},
    {"", "<x# y>"},
    {"", "<p title='&lt;&gt;&amp;'>"},
    {"<p a='", "&nLt;"},
    {"<p><b a=", "vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv></p><p>x"},

    /* Templates, tables, selects. */
    {"", "<template>"},
    {"", "<template><td></template>"},
    {"", "<template><tr><b></template>"},
    {"<template><table>", "<col>x"},
    {"<table>", "<template>x</template>x"},
    {"", "<table><td>"},
    {"", "<table></table>"},
    {"<table>", "<td>"},
    {"<table><td>", "<td><p>"},
    {"<table>", "<colgroup><col>"},
    {"<table><tr>", "</tr><tr>"},
    {"<table>", "<tbody></tbody>"},
    {"<select>", "<option><optgroup>"},
    {"<select>", "<selectedcontent></selectedcontent><option>"},
    {"",
     "<select><selectedcontent></selectedcontent><option>x<option selected>y</select>"},
    {"<select><selectedcontent></selectedcontent><option>", "<i>"},
    {"", "<select><select>"},
    {"", "<form></form>"},

    /* svg, math, and long searches. */
    {"<svg>", "<g/>"},
    {"<svg>", "<desc><svg></svg></desc>"},
    {"<svg><desc>", "<b><svg>x</b>"},
    {"<math>", "<mi><b></mi>"},
    {"<math>", "<annotation-xml encoding=text/html><p></annotation-xml>"},
    {"<svg>", "<![CDATA[x]]><g/>"},
    {"<div><svg>", "</div><svg>"},
    {"<svg>", "<font size=1>"},
    {DIVS DIVS DIVS, "</li>"},
    {DIVS DIVS DIVS "<li>", "<li>"},
    {DIVS DIVS DIVS "<dd>", "<dt></dt>"},
    {"<p>" SPANS, "</x>"},
    {"<h1>" SPANS, "</h2><h1>"},
    {"<button>" SPANS, "<p></p>"},
    {SPANS "<ruby>", "<rb><rt><rtc>"},
    {"", "<li><p><b>"},
    {"<frameset>", "<frame><noframes></noframes>"},
    {"", "<!x>"},
    {"", "<?a b>"},
    {"", "<!DOCTYPE a>"},

    /* Whatever else is dense. */
    {"", "<div>"},
    {"", "<b>"},
    {"<b>", "<p>x</p>"},
    {"<b><i><u>", "<p>"},
    {"", "<b><div></b></div>"},
    {"<table>", "x<b>"},
    {"<select>", "<option>"},
    {"", "<svg>"},
    {"<math>", "<mi>"},
    {"", "<nobr>"},
    {"", "<button><p>"},
    {"", "</p>"},
    {"", "</br>"},
    {"", "<br>"},
    {"", "<!>"},
    {"", "<?a>"},
    {"<p a=\"", "x"},
    {"", "&amp;"},
    {"", "&nosuchname"},
    {"", "&CounterClockwiseContourIntegra"},
    {"", "<"},
    {"", "<a"},
    {"", "x"},
    {"", "\r\n"},
    {"<script>", "<!--<script>"},
    {"", "<script></script>"},
    {"<title>", "</titl"},
    {"<svg>", "<![CDATA[]]"},
    {"", "<li>"},
    {"", "<form><div></form>"},
    {"<x><div>", "<q></x>"},
    {"", "<xabcdefgh></xabcdefgh>"},
    {"<ruby>", "<rb><rt>"},
    {"<select><style>", "<b a=1><i>"},
    {"<frameset>", "<noframes><div>"},
    {"", "<body a=1>"},
    {"<table>", "<caption>"},
    {"", "<font size=1>x"},
    {"<a><b><i><u>", "</a><p>"},
    {"", "<marquee>"},
    {"", "<object><b>"},
    {"", "<ul><li>"},
    {"<table>", "<input type=hidden>"},
    {"", "<iframe></iframe>"},
    {"<head>", " <meta>"},
    {"</body></html>", "<!--x-->"},
    {"<p>", "</div>"},
    {"", "<a href=x>"},
    {"", "<img srcset='a,b,c'>"},
    {"<img srcset='", "a 1x,"},
    {"", "<img src=x>"},
};

#undef FORMATS
#undef DIVS
#undef SPANS

enum { TREE_BOMBS = sizeof tree_bombs / sizeof *tree_bombs };

/* Fills `page` with at least `want` bytes, and no more than 512 on top. */
static inline size_t
tree_bomb_fill(const tree_bomb *b, char *page, size_t want)
{
    static const char digits[] = "0123456789abcdef";
    size_t len = 0;
    unsigned round = 0;

    for (const char *p = b->head; *p; p++)
        page[len++] = *p;
    for (; len < want; round++)
        for (const char *p = b->body; *p; p++) {
            if (*p != '#') {
                page[len++] = *p;
                continue;
            }
            for (int shift = 16; shift >= 0; shift -= 4)
                page[len++] = digits[round >> shift & 15];
        }
    return len;
}

#endif
