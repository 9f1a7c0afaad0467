/* SPDX-License-Identifier: Apache-2.0 */
#include "text/html_count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static bool
ignore(void *user, const sn_html_event *e)
{
    (void)user;
    (void)e;
    return true;
}

static seine_err
count(sn_html_count *c, const char *page, size_t len, uint64_t max)
{
    sn_html t;

    sn_html_count_init(c, max);
    sn_html_init(&t, &(sn_html_options){.count = c}, ignore, NULL);
    for (size_t at = 0; at < len; at += 1000)
        CHECK_EQ(sn_html_feed(&t, page + at, len - at < 1000 ? len - at : 1000),
                 SEINE_OK);
    CHECK_EQ(sn_html_end(&t), SEINE_OK);
    CHECK(t.steps <= 16 * len + 4096);
    sn_html_fini(&t);
    return sn_html_count_verdict(c, len);
}

/* `head`, then `body` so many times. */
static seine_err
count_times(sn_html_count *c, const char *head, const char *body, size_t times)
{
    size_t h = strlen(head), b = strlen(body), len = h + b * times;
    char *page = malloc(len + 1);

    memcpy(page, head, h);
    for (size_t i = 0; i < times; i++)
        memcpy(page + h + i * b, body, b);
    seine_err e = count(c, page, len, 0);
    free(page);
    return e;
}

TEST(html_count_knows_how_deep_a_tree_gets)
{
    static const struct {
        const char *page;
        uint32_t depth, open; /* at the end */
    } rows[] = {
        {"<div><p><em>", 3, 1},
        {"<div><p><em></div>", 0, 1}, /* <em> is opened again by what follows */
        {"<p>a<p>b<p>c", 1, 0},       /* each ends the one before */
        {"<ul><li>a<li>b<ul><li>c<li>d", 4, 0},
        {"<dl><dt>a<dd>b<dt>c", 2, 0},
        {"<table><tr><td>a<td>b<tr><td>c", 4, 0}, /* and a tbody */
        {"<table><td>a", 4, 0},
        {"<td>a<tr>b<tbody>", 0, 0}, /* nothing without a table */
        {"<select><option>a<option>b<div>c<optgroup>d", 2, 0},
        {"<select><div></select><div>", 1, 0},
        {"<div><br><img><input><hr>", 1, 0},
        {"<div><x></div>", 0, 0},
        {"<x><div></x>", 2, 0}, /* nothing reaches through a block */
        {"<x><y></x>", 0, 0},
        {"<x></y>", 1, 0},
        {"<b><div></b>", 1, 0}, /* but formatting is taken out from under it */
        {"<b><div></b></div><i>", 1, 1},
        {"<a href=x>a<a href=y>b", 1, 1}, /* an <a> ends the one before */
        {"<b><b><b><b><b>", 5, 3},        /* three that are alike are remembered */
        {"<b id=1><b id=2><b id=3><b id=4>", 4, 4},
        {"<table><td><b></table>", 0, 0}, /* a cell forgets */
        {"<form><div></form>", 1, 0},
        {"<button><div><button>", 1, 0},
        {"<h1><h2>", 1, 0},
        {"<svg><g/><g><path></svg>", 0, 0},
        {"<svg><g><p>", 1, 0}, /* a <p> ends an svg */
        {"<svg><desc><p><x/>", 4, 0},
        {"<math><mi/><mi>", 2, 0},
        {"<html><head><body><div>", 1, 0},
        {"<div></body></html><div>", 2, 0},
        {"<style><div><div></style><div>", 1, 0},
        {"<select><style></style></select><div>", 1, 0},
        {"<x-very-long-name-of-an-element><x-very-long-name-of-another>", 2, 0},
        {"<x-very-long-name-of-an-element></x-very-long-name-of-another>", 1, 0},
        {"<x-very-long-name-of-an-element></x-very-long-name-of-an-element>", 0, 0},
        {"<ruby><rb>a<rt>b<rp>c", 2, 0},
        {"<template><tr><td></template>", 0, 0},
        {"<p><button><p></p></p>", 2, 0},
        {"<ul><li><ul></li>", 3, 0},
        {"<object><div></object>", 0, 0},
    };
    static sn_html_count c;

    EACH_ROW(i, rows) {
        CHECK_EQ(count(&c, rows[i].page, strlen(rows[i].page), 0), SEINE_OK);
        CHECK_EQ(c.depth, rows[i].depth);
        CHECK_EQ(c.open, rows[i].open);
    }
}

TEST(html_count_refuses_more_than_256_levels)
{
    static sn_html_count c;

    CHECK_EQ(count_times(&c, "", "<div>", 256), SEINE_OK);
    CHECK_EQ(c.deepest, 256);
    CHECK_EQ(count_times(&c, "", "<div>", 257), SEINE_E_HTML_TOO_DEEP);
    CHECK_EQ(count_times(&c, "", "<x>", 100000), SEINE_E_HTML_TOO_DEEP);
    CHECK_EQ(count_times(&c, "", "<svg><a>", 200), SEINE_E_HTML_TOO_DEEP);
    /* an end tag that a parser ignores must not close anything here */
    CHECK_EQ(count_times(&c, "", "<div></x>", 300), SEINE_E_HTML_TOO_DEEP);
    CHECK_EQ(count_times(&c, "", "<b><div></b>", 300), SEINE_E_HTML_TOO_DEEP);
    CHECK_EQ(count_times(&c, "", "<form><div></form>", 300), SEINE_E_HTML_TOO_DEEP);
    CHECK_EQ(count_times(&c, "", "<div><select></div></select>", 300),
             SEINE_E_HTML_TOO_DEEP);
    CHECK_EQ(count_times(&c, "<select><svg></select>", "<x/>", 300),
             SEINE_E_HTML_TOO_DEEP);
    CHECK_EQ(count_times(&c, "", "<div><table><td></div>", 300), SEINE_E_HTML_TOO_DEEP);
}

TEST(html_count_lets_honest_pages_pass)
{
    static sn_html_count c;

    CHECK_EQ(count_times(&c, "", "<p>text <b>bold</b>", 10000), SEINE_OK);
    CHECK_EQ(count_times(&c, "<ul>", "<li><a href=x>y</a>", 10000), SEINE_OK);
    CHECK_EQ(count_times(&c, "<table>", "<tr><td>a<td>b", 10000), SEINE_OK);
    CHECK_EQ(count_times(&c, "", "<font><b>x</b></font><br>", 10000), SEINE_OK);
    CHECK_EQ(count_times(&c, "", "<my-own-long-element-name>x</my-own-long-element-name>",
                         10000),
             SEINE_OK);
}

TEST(html_count_refuses_more_than_its_tags)
{
    static sn_html_count c;

    CHECK_EQ(count(&c, "<p></p><!---->", 14, 3), SEINE_OK);
    CHECK_EQ(c.tags, 3);
    CHECK_EQ(count(&c, "<p></p><!----><?x>", 18, 3), SEINE_E_HTML_TOO_COMPLEX);
    CHECK_EQ(count_times(&c, "", "<br>", SN_HTML_MAX_TAGS), SEINE_OK);
    CHECK_EQ(count_times(&c, "", "<br>", SN_HTML_MAX_TAGS + 1), SEINE_E_HTML_TOO_COMPLEX);
    CHECK_EQ(count_times(&c, "", "<!>", SN_HTML_MAX_TAGS + 1), SEINE_E_HTML_TOO_COMPLEX);
    CHECK_EQ(count_times(&c, "", "</2", SN_HTML_MAX_TAGS + 1), SEINE_OK); /* one */
    CHECK_EQ(count_times(&c, "", "</2>", SN_HTML_MAX_TAGS + 1), SEINE_E_HTML_TOO_COMPLEX);
}

TEST(html_count_refuses_more_than_256_attributes_of_a_tag)
{
    static sn_html_count c;
    char page[4096];

    for (int n = 256; n <= 257; n++) {
        size_t len = (size_t)snprintf(page, sizeof page, "<p");

        for (int i = 0; i < n; i++)
            len += (size_t)snprintf(page + len, sizeof page - len, " a%d", i);
        page[len++] = '>';
        CHECK_EQ(count(&c, page, len, 0), n > 256 ? SEINE_E_HTML_TOO_COMPLEX : SEINE_OK);
        if (n == 256)
            CHECK_EQ(c.most_attrs, 256);
    }
}

TEST(html_count_refuses_formatting_left_open)
{
    static sn_html_count c;
    char head[1024];

    for (int n = 32; n <= 33; n++) {
        size_t len = 0;

        for (int i = 0; i < n; i++)
            len += (size_t)snprintf(head + len, sizeof head - len, "<b id=%d>", i);
        CHECK_EQ(count(&c, head, len, 0), n > 32 ? SEINE_E_HTML_TOO_COMPLEX : SEINE_OK);
    }
    /* Two of them at each tag, in short tags: bytes / 3 and 1,000 are passed. */
    CHECK_EQ(count_times(&c, "<b><i>", "<p>x", 100), SEINE_OK);
    CHECK_EQ(c.reopened, 1 + 2 + 100 * 2);
    CHECK_EQ(count_times(&c, "<b><i>", "<p>", 1010), SEINE_E_HTML_TOO_COMPLEX);
    CHECK_EQ(count_times(&c, "<b id=1>", "<p>xxx", SN_HTML_MAX_REOPENED - 1), SEINE_OK);
    CHECK_EQ(count_times(&c, "<b>", "<p>xxx", SN_HTML_MAX_REOPENED),
             SEINE_E_HTML_TOO_COMPLEX);
}
