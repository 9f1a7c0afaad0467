/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/links.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "check.h"
#include "failing.h"

/* Reads a page in pieces. */
static seine_links *
read_page(const char *page, size_t piece)
{
    seine_links *l = NULL;
    size_t len = strlen(page);

    CHECK_EQ(seine_links_new(NULL, &l), SEINE_OK);
    for (size_t at = 0; at < len; at += piece)
        CHECK_EQ(seine_links_feed(l, page + at, piece < len - at ? piece : len - at),
                 SEINE_OK);
    CHECK_EQ(seine_links_end(l), SEINE_OK);
    return l;
}

static const char *
text_of(seine_view v)
{
    static char text[4][256];
    static unsigned turn;
    char *out = text[turn++ % 4];

    snprintf(out, sizeof text[0], "%.*s", (int)v.len, v.ptr ? v.ptr : "(none)");
    return v.ptr ? out : "(none)";
}

TEST(links_stand_in_the_order_of_the_page)
{
    static const char page[] = "<link href=1><a href=2>\n<img src=3 srcset='4 1x, 5 2x'>t"
                               "</a><form action=6><a href=7><iframe src=8></iframe>";
    static const char *const want[] = {
        "link href 1 1:1",  "a href 2 1:14",      "img src 3 2:1", "img srcset 4 2:1",
        "img srcset 5 2:1", "form action 6 2:37", "a href 7 2:52", "iframe src 8 2:62"};

    for (size_t piece = 1; piece <= sizeof page; piece += 7) {
        seine_links *l = read_page(page, piece);
        seine_link k;

        CHECK_EQ(seine_links_count(l), 8);
        EACH_ROW(i, want) {
            char got[128];

            CHECK(seine_links_at(l, i, &k));
            snprintf(got, sizeof got, "%s %s %s %u:%u", k.tag, k.attr, text_of(k.value),
                     k.line, k.col);
            CHECK_STR(got, want[i]);
        }
        CHECK(!seine_links_at(l, 8, &k));
        CHECK(seine_links_at(l, 1, &k));
        CHECK_STR(text_of(k.text), "t");
        seine_links_free(l);
    }
}

TEST(links_know_what_the_page_says_about_itself)
{
    seine_links *l = read_page("<html lang=de><title> A\n&amp; B </title><base href=/b/>"
                               "<link rel='x Canonical' href=/c><meta name=a content=1>"
                               "<script type=application/ld+json>{}</script>",
                               5);
    seine_view v;
    seine_meta m;

    CHECK_STR(text_of(seine_links_lang(l)), "de");
    CHECK_STR(text_of(seine_links_title(l)), "A & B");
    CHECK_STR(text_of(seine_links_base(l)), "/b/");
    CHECK_STR(text_of(seine_links_canonical(l)), "/c");
    CHECK(seine_links_jsonld(l, 0, &v) && !seine_links_jsonld(l, 1, &(seine_view){0}));
    CHECK_STR(text_of(v), "{}");
    CHECK(seine_links_meta(l, 0, &m) && !seine_links_meta(l, 1, &(seine_meta){0}));
    CHECK_STR(m.attr, "name");
    CHECK_STR(text_of(m.name), "a");
    CHECK_STR(text_of(m.content), "1");
    CHECK_EQ(seine_links_notes(l), 0);
    seine_links_reset(l);
    CHECK_EQ(seine_links_end(l), SEINE_OK);
    CHECK_EQ(seine_links_count(l), 0);
    CHECK_STR(text_of(seine_links_title(l)), "(none)");
    CHECK_STR(text_of(seine_links_base(l)), "(none)");
    CHECK_STR(text_of(seine_links_lang(l)), "(none)");
    CHECK_STR(text_of(seine_links_canonical(l)), "(none)");
    seine_links_free(l);
    seine_links_free(NULL);
}

TEST(links_know_an_empty_title_from_none)
{
    seine_links *l = read_page("<title></title><html lang=''>", 99);

    CHECK_STR(text_of(seine_links_title(l)), "");
    CHECK_STR(text_of(seine_links_lang(l)), "");
    seine_links_free(l);
}

TEST(links_are_resolved_against_a_base_that_counts)
{
    static const struct {
        const char *page, *want;
    } rows[] = {
        {"<a href=x>", "http://e.example/d/p"},
        {"<base href=../q/>", "http://e.example/q/"},
        {"<base href=//o.example><base href=/no>", "http://o.example/"},
        {"<base href='http://['>", "http://e.example/d/p"}, /* no URL */
        {"<base href='data:,x'>", "http://e.example/d/p"},
        {"<base href='javascript:x'>", "http://e.example/d/p"},
    };
    char page_mem[SEINE_URL_ROOM], mem[SEINE_URL_ROOM];
    seine_url page, base;

    seine_url_init(&page, page_mem, sizeof page_mem);
    seine_url_init(&base, mem, sizeof mem);
    CHECK_EQ(seine_url_parse(&page, "http://e.example/d/p", 20, NULL), SEINE_OK);
    EACH_ROW(i, rows) {
        seine_links *l = read_page(rows[i].page, 99);

        CHECK_EQ(seine_links_base_url(l, &page, &base), SEINE_OK);
        CHECK_STR(seine_url_href(&base).ptr, rows[i].want);
        seine_links_free(l);
    }
}

TEST(links_tell_what_a_page_asks_of_robots)
{
    static const struct {
        const char *page;
        unsigned want;
    } rows[] = {
        {"<meta name=robots content='noindex, nofollow'>",
         SEINE_NOINDEX | SEINE_NOFOLLOW},
        {"<meta name=ROBOTS content='NoFollow,max-snippet:3'>", SEINE_NOFOLLOW},
        {"<meta name=robots content=none>", SEINE_NOINDEX | SEINE_NOFOLLOW},
        {"<meta name=seine content=noarchive><meta name=other content=noindex>",
         SEINE_NOARCHIVE},
        {"<meta name=robots content=all>", 0},
        {"<meta property=robots content=noindex>", 0},
        {"<meta name=robots content='nofollows xnoindex'>", 0},
    };

    EACH_ROW(i, rows) {
        seine_links *l = read_page(rows[i].page, 99);

        CHECK_EQ(seine_links_robots(l, "seine"), rows[i].want);
        seine_links_free(l);
    }
}

TEST(links_have_words_in_their_rel)
{
    seine_links *l = read_page("<a rel=' Next\tnofollow' href=x>", 99);
    seine_link k;

    CHECK(seine_links_at(l, 0, &k));
    CHECK(seine_link_has_rel(&k, "nofollow") && seine_link_has_rel(&k, "next"));
    CHECK(!seine_link_has_rel(&k, "no") && !seine_link_has_rel(&k, "follow"));
    seine_links_free(l);
}

TEST(links_know_the_refresh_of_a_page)
{
    seine_links *l = read_page("<meta http-equiv=refresh content=x><meta "
                               "http-equiv=Refresh content='7, URL = \"/a\"b'>",
                               99);
    uint32_t seconds;
    seine_view url;

    CHECK(seine_links_refresh(l, &seconds, &url));
    CHECK_EQ(seconds, 7);
    CHECK_STR(text_of(url), "/a");
    seine_links_reset(l);
    CHECK(!seine_links_refresh(l, &seconds, &url));
    CHECK(seine_refresh_parse("99999999999999999999;x", 22, &seconds, &url));
    CHECK_EQ(seconds, UINT32_MAX);
    seine_links_free(l);
}

TEST(links_are_capped_and_say_so)
{
    seine_links *l = NULL;

    CHECK_EQ(
        seine_links_new(
            &(seine_links_opts){.size = sizeof(seine_links_opts), .max_bytes = 10}, &l),
        SEINE_OK);
    CHECK_EQ(seine_links_feed(l, "<a href=12345>6</a><a href=1234567>", 35), SEINE_OK);
    CHECK_EQ(seine_links_feed(l, "<meta name=abc content=def>", 27), SEINE_OK);
    CHECK_EQ(seine_links_feed(l, "<title>abcdefgh</title><a href=1>", 33), SEINE_OK);
    CHECK_EQ(seine_links_end(l), SEINE_OK);
    CHECK_EQ(seine_links_count(l), 2);
    CHECK_EQ(seine_links_notes(l), SEINE_LINKS_CAPPED | SEINE_JSONLD_CUT);
    CHECK_STR(seine_links_note_name(0), "links_capped");
    CHECK(!seine_links_note_name(SEINE_LINKS_NOTES));
    seine_links_free(l);
}

TEST(links_of_a_page_of_50001_are_capped)
{
    seine_links *l = NULL;

    CHECK_EQ(seine_links_new(NULL, &l), SEINE_OK);
    for (int i = 0; i < SEINE_LINKS_MOST + 1; i++) {
        CHECK_EQ(seine_links_notes(l), 0);
        CHECK_EQ(seine_links_feed(l, "<img src=x>", 11), SEINE_OK);
    }
    CHECK_EQ(seine_links_end(l), SEINE_OK);
    CHECK_EQ(seine_links_count(l), SEINE_LINKS_MOST);
    CHECK_EQ(seine_links_notes(l), SEINE_LINKS_CAPPED);
    seine_links_free(l);
}

TEST(links_without_memory_say_so)
{
    static const char page[] = "<html lang=de><title>t</title><base href=b><meta name=n "
                               "content=c><script type=application/ld+json>1</script>"
                               "<a href=x rel=y>z</a><img srcset='a, b'>";

    FAIL_EACH(n)
    {
        seine_links *l = NULL;
        seine_err e = seine_links_new(NULL, &l);

        if (e == SEINE_OK)
            e = seine_links_feed(l, page, sizeof page - 1);
        if (e == SEINE_OK)
            e = seine_links_end(l);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        if (e == SEINE_OK)
            CHECK_EQ(seine_links_count(l), 3);
        seine_links_free(l);
    }
}
