/* SPDX-License-Identifier: Apache-2.0 */
#include "engine/page.h"
#include "text/html.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "failing.h"
#include "seine/links.h"

static const sn_page_wants of_links = {.kind = SN_KIND_PAGE, .links = true};
static const sn_page_wants of_title = {.kind = SN_KIND_PAGE};

static void
read_cut(sn_page *p, const sn_page_wants *wants, sn_str page, size_t cut)
{
    sn_page_begin(p, wants);
    sn_page_feed(p, sn_str_slice(page, 0, cut));
    sn_page_feed(p, sn_str_slice(page, cut, page.len));
    sn_page_end(p);
}

static sn_page_facts
facts_of(sn_page *p, const sn_page_wants *wants, const char *page)
{
    sn_page_facts f = {0};

    read_cut(p, wants, sn_str_of(page), strlen(page) / 2);
    sn_page_facts_get(p, &f);
    return f;
}

static bool
is(sn_str s, const char *text)
{
    return s.ptr && sn_str_eq(s, sn_str_of(text));
}

TEST(page_title_alone_is_the_same_wherever_it_is_cut)
{
    sn_str page = SN_STR(
        "<html><head><title> A &amp;\n B </title><title>C</title></head><a href=x>");
    sn_page *p = sn_page_new();
    sn_page_facts f;

    for (size_t cut = 0; cut <= page.len; cut++) {
        read_cut(p, &of_title, page, cut);
        sn_page_facts_get(p, &f);
        CHECK(is(f.title, "A & B"));
        CHECK_EQ(sn_page_n_links(p), 0);
    }
    CHECK(facts_of(p, &of_title, "<p>no title").title.ptr == NULL);
    CHECK(is(facts_of(p, &of_title, "<title>open").title, "open"));
    sn_page_free(p);
}

/* What the page says, as text that can be compared. */
static void
tell_page(sn_page *p, char *out, size_t cap)
{
    sn_page_facts f;
    sn_page_link l;
    size_t len;

    sn_page_facts_get(p, &f);
    len = (size_t)snprintf(out, cap, "%.*s|%.*s|%d", (int)f.title.len,
                           f.title.ptr ? f.title.ptr : "-", (int)f.charset.len,
                           f.charset.ptr ? f.charset.ptr : "-", (int)f.err);
    for (size_t i = 0; sn_page_link_at(p, i, &l) && len < cap; i++)
        len += (size_t)snprintf(out + len, cap - len, "|%.*s@%u:%u", (int)l.value.len,
                                l.value.ptr, l.line, l.col);
}

TEST(page_that_is_read_later_tells_the_same_and_nothing_before)
{
    static const char *const pages[] = {
        "<title>A</title>\n<a href=x>1</a>\n <a href='/y?\xc3\xa9'>2</a>",
        "<meta charset=windows-1252><title>\xe9</title><base href=/b/><a href=z>3",
        "\xff\xfe<\0a\0 \0h\0r\0e\0f\0=\0x\0>\0", "<a href=x", ""};
    sn_page_wants later = of_links;
    sn_page *p = sn_page_new();
    char want[512], got[512];

    later.later = true;
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        sn_str page = i == 2 ? (sn_str){pages[i], 20} : sn_str_of(pages[i]);

        for (size_t cut = 0; cut <= page.len; cut++) {
            read_cut(p, &of_links, page, cut);
            CHECK(!sn_page_is_unread(p));
            tell_page(p, want, sizeof want);
            read_cut(p, &later, page, cut);
            CHECK_EQ(sn_page_n_links(p), 0);
            sn_page_read(p);
            CHECK(!sn_page_is_unread(p));
            tell_page(p, got, sizeof got);
            CHECK_STR(got, want);
        }
    }
    sn_page_free(p);
}

/* 256 KiB wait at most; a byte more and the page is read as it arrives. */
TEST(page_that_is_large_is_not_read_later)
{
    enum { MOST = 256 << 10 };
    sn_page_wants later = of_links;
    sn_page *p = sn_page_new();
    char *bytes = malloc(MOST + 1);

    later.later = true;
    memset(bytes, ' ', MOST + 1);
    memcpy(bytes, "<a href=x>", 10);
    for (size_t more = 0; more < 2; more++) {
        read_cut(p, &later, (sn_str){bytes, MOST + more}, 1000);
        CHECK_EQ(sn_page_is_unread(p), more == 0);
        sn_page_read(p);
        CHECK_EQ(sn_page_n_links(p), 1);
    }
    sn_page_free(p);
    free(bytes);
}

TEST(page_that_has_no_memory_to_wait_is_read_as_it_arrives)
{
    sn_page_wants later = of_links;

    later.later = true;
    FAIL_EACH(n)
    {
        sn_page *p = sn_page_new();
        sn_page_facts f;

        if (!p)
            continue;
        read_cut(p, &later, SN_STR("<title>T</title><a href=x>"), 5);
        sn_page_read(p);
        sn_page_facts_get(p, &f);
        CHECK(f.err == SEINE_E_NOMEM ? fail_hit() : sn_page_n_links(p) == 1);
        sn_page_free(p);
    }
}

TEST(page_that_reads_titles_and_links_by_turns_holds_one_tokenizer)
{
    count_begin();
    sn_page *p = sn_page_new();

    for (int i = 0; i < 3; i++) {
        CHECK(is(facts_of(p, &of_title, "<title>T</title>").title, "T"));
        read_cut(p, &of_links, SN_STR("<title>T</title><a href=x>"), 3);
        CHECK_EQ(sn_page_n_links(p), 1);
    }
    sn_page_free(p);
    CHECK_EQ(count_out(), 0);
    count_end();
}

TEST(page_of_frames_leads_to_its_frames)
{
    sn_page *p = sn_page_new();
    sn_page_link l = {0};

    read_cut(p, &of_links, SN_STR("<frameset><frame src=a><frame src=b></frameset>"), 0);
    CHECK_EQ(sn_page_n_links(p), 2);
    CHECK(sn_page_link_at(p, 1, &l));
    CHECK_STR(sn_html_tag_name((sn_html_tag)l.tag), "frame");
    CHECK(is(l.value, "b"));
    sn_page_free(p);
}

TEST(page_leads_where_a_reader_may_go_and_to_no_part_of_itself)
{
    static const char page[] =
        "<!doctype html><html lang=de><head><base href=/b/><title>T</title>\n"
        "<link rel=stylesheet href=0.css><link rel='shortcut icon' href=0.ico>\n"
        "<link rel='alternate stylesheet' href=0b.css><link href=0norel>\n"
        "<link rel=canonical href=c><link rel=next href=n>\n"
        "<link rel=preload href=0p><link rel=dns-prefetch href=//0.example/>\n"
        "<meta http-equiv=refresh content='5; url=r'></head>\n"
        "<a href='a1' rel='noopener NoFollow'>One <b>more</b><iframe "
        "src=i></iframe></a>\n"
        "<map><area href=m></map><frameset><frame src=0f></frameset>\n" /* is none */
        "<img src=0.png><script src=0.js></script><video src=0.mp4></video>\n"
        "<form action=0form></form><embed src=0e><object data=0o></object><a>none</a>";
    static const struct {
        const char *value, *tag, *attr;
        uint32_t line;
        bool nofollow;
    } want[] = {
        {"c", "link", "href", 4, false},    {"n", "link", "href", 4, false},
        {"r", "meta", "content", 6, false}, {"a1", "a", "href", 7, true},
        {"i", "iframe", "src", 7, false}, /* inside of it */
        {"m", "area", "href", 8, false},
    };
    sn_page *p = sn_page_new();
    sn_page_facts f;
    sn_page_link l = {0};

    for (size_t cut = 0; cut < sizeof page; cut++) {
        read_cut(p, &of_links, sn_str_of(page), cut);
        CHECK_EQ(sn_page_n_links(p), sizeof want / sizeof *want);
        for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
            CHECK(sn_page_link_at(p, i, &l));
            CHECK(is(l.value, want[i].value));
            CHECK_STR(sn_html_tag_name((sn_html_tag)l.tag), want[i].tag);
            CHECK_STR(sn_html_attr_name((sn_html_attr)l.attr), want[i].attr);
            CHECK_EQ(l.line, want[i].line);
            CHECK_EQ(l.nofollow, want[i].nofollow);
            CHECK(!l.is_map);
        }
        CHECK(!sn_page_link_at(p, sizeof want / sizeof *want, &l));
    }
    sn_page_facts_get(p, &f);
    CHECK(is(f.title, "T") && is(f.lang, "de") && is(f.canonical, "c"));
    CHECK(is(f.base, "/b/") && f.meta_robots.ptr == NULL);
    CHECK(f.robots == 0 && f.notes == 0 && f.err == SEINE_OK);
    sn_page_free(p);
}

TEST(page_says_what_metas_and_the_header_ask_of_robots)
{
    sn_page *p = sn_page_new();
    sn_page_wants wants = of_links;
    sn_page_facts f = facts_of(p, &wants,
                               "<meta name=ROBOTS content=' NoIndex,follow '>"
                               "<meta name=other content=noarchive>"
                               "<meta name=Seine content=nofollow>");

    CHECK_EQ(f.robots, SEINE_NOINDEX | SEINE_NOFOLLOW);
    CHECK(is(f.meta_robots, "NoIndex,follow, nofollow"));
    f = facts_of(p, &wants, "<meta name=robots content=none>");
    CHECK_EQ(f.robots, SEINE_NOINDEX | SEINE_NOFOLLOW);
    wants.robots = SEINE_NOARCHIVE;
    f = facts_of(p, &wants, "<p>");
    CHECK(f.robots == SEINE_NOARCHIVE && f.meta_robots.ptr == NULL);
    sn_page_free(p);
}

TEST(page_reads_a_robots_tag_that_is_for_all_or_for_us)
{
    static const struct {
        const char *value;
        unsigned asks;
    } rows[] = {
        {"nofollow", SEINE_NOFOLLOW},
        {"noindex, NOFOLLOW", SEINE_NOINDEX | SEINE_NOFOLLOW},
        {"none", SEINE_NOINDEX | SEINE_NOFOLLOW},
        {"googlebot: nofollow", 0}, /* for another */
        {"Seine: nofollow, noarchive", SEINE_NOFOLLOW | SEINE_NOARCHIVE},
        {"unavailable_after: 25 Jun 2030 15:00:00 PST, nofollow", SEINE_NOFOLLOW},
        {"max-snippet:20, nofollow", SEINE_NOFOLLOW},
        {"noindex, unavailable_after: 25 Jun 2030", SEINE_NOINDEX},
        {"", 0},
    };

    EACH_ROW(i, rows) {
        CHECK_EQ(sn_page_robots_tag(sn_str_of(rows[i].value)), rows[i].asks);
    }
}

/* Each element by itself: it says one thing, and of all others nothing. */
TEST(page_says_one_thing_at_a_time)
{
    static const struct {
        const char *page, *title, *lang, *canonical, *base, *robots;
        size_t links;
    } rows[] = {
        {"<title>T</title>", "T", NULL, NULL, NULL, NULL, 0},
        {"<html lang=de>", NULL, "de", NULL, NULL, NULL, 0},
        {"<base href=/b/>", NULL, NULL, NULL, "/b/", NULL, 0},
        {"<link rel=canonical href=c>", NULL, NULL, "c", NULL, NULL, 1},
        {"<meta name=robots content=noindex>", NULL, NULL, NULL, NULL, "noindex", 0},
        {"<a href=x name=robots>y</a>", NULL, NULL, NULL, NULL, NULL, 1},
        {"<meta name=robots content=noindex><title>T</title>", "T", NULL, NULL, NULL,
         "noindex", 0},
        {"<p>text", NULL, NULL, NULL, NULL, NULL, 0},
    };
    sn_page *p = sn_page_new();

    EACH_ROW(i, rows) {
        sn_page_facts f = facts_of(p, &of_links, rows[i].page);
        const sn_str got[] = {f.title, f.lang, f.canonical, f.base, f.meta_robots};
        const char *want[] = {rows[i].title, rows[i].lang, rows[i].canonical,
                              rows[i].base, rows[i].robots};

        for (size_t k = 0; k < sizeof got / sizeof *got; k++)
            CHECK(want[k] ? is(got[k], want[k]) : !got[k].ptr);
        CHECK_EQ(sn_page_n_links(p), rows[i].links);
    }
    sn_page_free(p);
}

TEST(page_tells_nothing_before_its_end)
{
    sn_page *p = sn_page_new();
    sn_page_facts f;
    sn_page_link l = {0};

    sn_page_begin(p, &of_links);
    sn_page_feed(p, SN_STR("<title>T</title><a href=x>y</a><p>"));
    sn_page_facts_get(p, &f);
    CHECK(f.title.ptr == NULL && sn_page_n_links(p) == 0 && !sn_page_link_at(p, 0, &l));
    sn_page_end(p);
    CHECK_EQ(sn_page_n_links(p), 1);
    sn_page_begin(p, &of_links);
    CHECK_EQ(sn_page_n_links(p), 0);
    sn_page_end(p);
    sn_page_facts_get(p, &f);
    CHECK(f.title.ptr == NULL && sn_page_n_links(p) == 0);
    sn_page_free(p);
}

TEST(page_values_are_resolved_against_a_good_base_alone)
{
    static const struct {
        const char *page, *base;
    } rows[] = {
        {"<p>", "http://a.test/x/y"},
        {"<base href=/z/>", "http://a.test/z/"},
        {"<base href='http://b.test/'><base href=/z/>", "http://b.test/"},
        {"<base href='javascript:1'>", "http://a.test/x/y"},
        {"<base href='data:,1'>", "http://a.test/x/y"},
        {"<base href='http://[::'>", "http://a.test/x/y"},
    };
    sn_page *p = sn_page_new();
    char mem[256], base_mem[256];
    seine_url url, base;

    seine_url_init(&url, mem, sizeof mem);
    seine_url_init(&base, base_mem, sizeof base_mem);
    CHECK_EQ(seine_url_parse(&url, "http://a.test/x/y", 17, NULL), SEINE_OK);
    EACH_ROW(i, rows) {
        read_cut(p, &of_links, sn_str_of(rows[i].page), 0);
        CHECK_EQ(sn_page_base(p, &url, &base), SEINE_OK);
        seine_view href = seine_url_href(&base);
        CHECK(is(href, rows[i].base));
    }
    sn_page_free(p);
}

TEST(page_of_a_million_links_has_fifty_thousand_and_a_note)
{
    enum { MANY = 60000 };
    sn_page *p = sn_page_new();
    sn_page_facts f;
    char link[64];

    sn_page_begin(p, &of_links);
    for (int i = 0; i < MANY; i++) {
        int n = snprintf(link, sizeof link, "<a href='/%d'>%d</a>\n", i, i);
        sn_page_feed(p, (sn_str){link, (size_t)n});
    }
    sn_page_end(p);
    sn_page_facts_get(p, &f);
    CHECK_EQ(sn_page_n_links(p), SEINE_LINKS_MOST);
    CHECK_EQ(f.notes, SEINE_LINKS_CAPPED);
    CHECK_EQ(f.left_out, MANY - SEINE_LINKS_MOST);
    sn_page_free(p);
}

TEST(page_has_as_many_links_as_are_wanted_and_counts_the_others)
{
    static const struct {
        uint32_t max_links, n, left_out;
    } rows[] = {{1, 1, 3}, {3, 3, 1}, {4, 4, 0}, {5, 4, 0}, {0, 4, 0}};
    sn_page *p = sn_page_new();

    EACH_ROW(i, rows) {
        sn_page_wants wants = of_links;
        wants.max_links = rows[i].max_links;
        sn_page_facts f =
            facts_of(p, &wants, "<a href=a><img src=b><a href=c><a href=d><a href=e>");
        CHECK_EQ(sn_page_n_links(p), rows[i].n);
        CHECK_EQ(f.left_out, rows[i].left_out);
        CHECK_EQ(f.notes, rows[i].left_out > 0 ? SEINE_LINKS_CAPPED : 0);
    }
    sn_page_free(p);
}

TEST(page_has_its_links_behind_any_number_of_pictures)
{
    sn_page *p = sn_page_new();
    sn_page_facts f;

    sn_page_begin(p, &of_links);
    for (int i = 0; i < 60000; i++)
        sn_page_feed(p, SN_STR("<img src=x>"));
    sn_page_feed(p, SN_STR("<a href=last>"));
    sn_page_end(p);
    sn_page_facts_get(p, &f);
    CHECK_EQ(sn_page_n_links(p), 1);
    CHECK_EQ(f.notes, 0);
    CHECK_EQ(f.left_out, 0);
    sn_page_free(p);
}

TEST(page_of_a_sitemap_says_whether_it_was_read_to_its_end)
{
    static const char map[] = "<urlset><url><loc>/1</loc></url><url><loc>/2</loc></url>"
                              "<url><loc>/3</loc></url></urlset>";
    static const struct {
        uint32_t max_links, n;
        bool is_cut;
    } rows[] = {{1, 1, true}, {2, 2, true}, {3, 3, false}, {0, 3, false}};

    EACH_ROW(i, rows) {
        sn_page *p = sn_page_new(); /* the reader of a page keeps its limit */
        sn_page_wants wants = {.kind = SN_KIND_SITEMAP, .max_links = rows[i].max_links};
        sn_page_facts f = facts_of(p, &wants, map);
        CHECK_EQ(sn_page_n_links(p), rows[i].n);
        CHECK_EQ(f.is_cut, rows[i].is_cut);
        sn_page_free(p);
    }
}

/* The format allows 50,000 pages; a user may want more. */
TEST(page_of_a_sitemap_has_as_many_pages_as_are_wanted)
{
    enum { ALL = 50001 };
    static const char one[] = "<url><loc>/1</loc></url>";
    static char map[8 + ALL * sizeof one + 16];
    sn_page *p = sn_page_new();
    sn_page_wants wants = {.kind = SN_KIND_SITEMAP, .max_links = ALL};
    size_t n = (size_t)snprintf(map, sizeof map, "<urlset>");

    for (int i = 0; i < ALL; i++)
        n += (size_t)snprintf(map + n, sizeof map - n, "%s", one);
    snprintf(map + n, sizeof map - n, "</urlset>");
    sn_page_facts f = facts_of(p, &wants, map);
    CHECK_EQ(sn_page_n_links(p), ALL);
    CHECK(!f.is_cut);
    sn_page_free(p);
}

TEST(page_that_was_big_gives_its_memory_back)
{
    static char page[200000];
    sn_page_pool pool = {0};
    sn_page *p = sn_page_take(&pool);
    size_t small = sn_page_memory(p);

    memset(page, 'x', sizeof page - 1);
    memcpy(page, "<a href='", 9);
    read_cut(p, &of_links, (sn_str){page, sizeof page - 1}, 100000);
    CHECK(sn_page_memory(p) > 65536);
    sn_page_give(&pool, p);
    CHECK(sn_page_take(&pool) == p);
    CHECK(sn_page_memory(p) < small + 2048);
    CHECK(is(facts_of(p, &of_title, "<title>b</title>").title, "b"));
    sn_page_give(&pool, p);
    sn_page_give(&pool, NULL);
    sn_page_pool_fini(&pool);
    sn_page_free(NULL);
}

TEST(page_of_a_sitemap_leads_to_its_pages_and_further_maps)
{
    static const sn_page_wants wants = {.kind = SN_KIND_SITEMAP};
    static const struct {
        const char *text;
        size_t n;
        bool maps;
    } rows[] = {
        {"<urlset><url><loc>http://a.example/1?a&amp;b</loc></url>"
         "<url><loc> /2 </loc></url></urlset>",
         2, false},
        {"<sitemapindex><sitemap><loc>http://a.example/1?a&amp;b</loc></sitemap>"
         "</sitemapindex>",
         1, true},
        /* cut off: what stood before counts */
        {"<urlset><url><loc>http://a.example/1?a&amp;b</loc></url><url><loc>http", 1,
         false},
        /* lines of URLs, the last of them without a line feed */
        {"http://a.example/1?a&b\nhttp://a.example/2", 2, false},
        {"http://a.example/1?a&b", 1, false},
        {"<html><a href=x>", 0, false},
        {"", 0, false},
    };
    sn_page *p = sn_page_new();

    EACH_ROW(i, rows) {
        sn_str text = sn_str_of(rows[i].text);
        sn_page_link l = {0};
        for (size_t cut = 0; cut <= text.len; cut++) {
            read_cut(p, &wants, text, cut);
            CHECK_EQ(sn_page_n_links(p), rows[i].n);
            if (sn_page_link_at(p, 0, &l)) {
                CHECK(is(l.value, "http://a.example/1?a&b"));
                CHECK_EQ(l.is_map, rows[i].maps);
                CHECK(!l.nofollow);
            }
        }
    }
    CHECK_EQ(facts_of(p, &of_links, "<a href=x>").err, SEINE_OK); /* a page, after all */
    CHECK_EQ(sn_page_n_links(p), 1);
    sn_page_free(p);
}

/* What pages of other encodings say, in UTF-8. */
TEST(page_is_read_in_the_encoding_that_is_named)
{
    static const struct {
        const char *label, *page, *title, *link, *charset, *from;
        size_t len; /* 0: it has no zeros */
        uint64_t errors;
    } rows[] = {
        {"utf-8", "<title>\xc3\xa9</title><a href=/\xc3\xa9?\xc3\xa9>", "\xc3\xa9",
         "/\xc3\xa9?\xc3\xa9", "utf-8", "header", 0, 0},
        {"utf-8", "<title>\xe9</title><a href=/\xe9> \xff", "\xef\xbf\xbd",
         "/\xef\xbf\xbd", "utf-8", "header", 0, 3},
        /* the query is the page's own bytes, references in it too */
        {"latin1",
         "<title>\xe9&eacute;\x80</title><a "
         "href='/\xe9?\xe9&eacute;&#8364;&#22806;#\xe9'>",
         "\xc3\xa9\xc3\xa9\xe2\x82\xac", "/\xc3\xa9?%E9%E9%80%26%2322806%3B#\xc3\xa9",
         "windows-1252", "header", 0, 0},
        {NULL, "<meta charset=sjis><title>\x8a\x4f</title><a href=/\x8a\x4f?q=\x8a\x4f>",
         "\xe5\xa4\x96", "/\xe5\xa4\x96?q=%8AO", "shift_jis", "meta", 0, 0},
        {"no such", "<title>\xc3\xa9</title><a href=\xc3\xa9>", "\xc3\xa9", "\xc3\xa9",
         "utf-8", "guess", 0, 0},
        {NULL, "<title>\xc3\xa9</title><a href=\xe9?\xe9>", "\xc3\xa9", "\xc3\xa9?%E9",
         "windows-1252", "default", 0, 0},
        {NULL, "<title>T</title><a href=x>", "T", "x", "windows-1252", "default", 0, 0},
        {"big5", "\xef\xbb\xbf<title>\xc3\xa9</title><a href=x>", "\xc3\xa9", "x",
         "utf-8", "bom", 0, 0},
        {NULL,
         "\xff\xfe<\0t\0i\0t\0l\0e\0>\0\x16\x59<\0/\0t\0i\0t\0l\0e\0>\0<\0a\0 "
         "\0h\0r\0e\0f\0=\0?\0\x16\x59>\0\0",
         "\xe5\xa4\x96", "?\xe5\xa4\x96", "utf-16le", "bom", 57, 1},
        {"iso-2022-jp", "<title>\x1b$B30\x1b(B</title><a href=/\x1b$B30\x1b(B>",
         "\xe5\xa4\x96", "/\xe5\xa4\x96", "iso-2022-jp", "header", 0, 0},
    };
    sn_page *p = sn_page_new();
    sn_page_facts f;
    sn_page_link l = {0};

    EACH_ROW(i, rows) {
        sn_page_wants wants = of_links;
        size_t n = rows[i].len ? rows[i].len : strlen(rows[i].page);

        wants.charset = sn_str_of(rows[i].label);
        for (size_t cut = 0; cut <= n; cut++) {
            read_cut(p, &wants, (sn_str){rows[i].page, n}, cut);
            sn_page_facts_get(p, &f);
            CHECK(is(f.title, rows[i].title));
            CHECK(sn_page_link_at(p, 0, &l) && is(l.value, rows[i].link));
            CHECK(is(f.charset, rows[i].charset));
            CHECK_STR(f.charset_from, rows[i].from);
            CHECK_EQ(f.charset_errors, rows[i].errors);
        }
    }
    sn_page_free(p);
}

/* The decision needs 1,024 bytes, wherever they end. */
TEST(page_waits_for_a_meta_as_long_as_there_may_be_one)
{
    static char page[3000];
    sn_page *p = sn_page_new();
    sn_page_facts f;

    memset(page, ' ', sizeof page);
    memcpy(page, "<title>\xe9</title>", 16);
    memcpy(page + 1024 - 21, "<meta charset=koi8-r>", 21);
    for (size_t cut = 0; cut <= sizeof page; cut += 7) {
        read_cut(p, &of_links, (sn_str){page, sizeof page}, cut);
        sn_page_facts_get(p, &f);
        CHECK(is(f.title, "\xd0\x98") && is(f.charset, "koi8-r"));
    }
    memcpy(page + 1024 - 21, " <meta charset=koi8-r>", 22);
    read_cut(p, &of_links, (sn_str){page, sizeof page}, 500);
    sn_page_facts_get(p, &f);
    CHECK(is(f.title, "\xc3\xa9") && is(f.charset, "windows-1252"));
    sn_page_free(p);
}

/* Who reads the title alone does not look for the encoding before a byte needs it. The
 * title is that of a reader of links: of every encoding, wherever the title stands and
 * whatever stands between it and the name, in one piece or cut. */
TEST(page_title_is_the_same_for_those_who_want_no_links)
{
    static const struct {
        const char *before, *title; /* at the beginning of the page; somewhere in it */
        size_t n_before;            /* 0: it has no zeros */
    } rows[] = {
        {"", "\xe9", 0},
        {"", "\xc3\xa9", 0},
        {"<meta charset=sjis>", "\x8a\x4f", 0},
        {"<meta charset=koi8-r>", "T ~ \xe9", 0},
        {"<meta charset=iso-2022-jp>", "\x1b$B30\x1b(B", 0},
        {"<meta charset=iso-2022-jp>", "\x1b$B<!>30\x1b(B", 0},
        {"<meta charset=hz-gb-2312>", "~{<:Ky2;QS~}", 0},
        {"<?xml encoding='euc-jp'?>", "\xb0\xa1", 0},
        {"\xef\xbb\xbf<meta charset=koi8-r>", "\xc3\xa9", 0},
        {"\xff\xfe<\0t\0i\0t\0l\0e\0>\0\x16\x59<\0/\0t\0i\0t\0l\0e\0>\0", "T", 34},
        {"\0<\0?\0x\0m\0l", "T", 10},
        {"<meta charset=big5>", "plain", 0},
    };
    static char page[2600];
    sn_page *links = sn_page_new(), *title = sn_page_new();
    sn_page_facts a, b;

    EACH_ROW(i, rows)
        for (size_t at = 60; at < 2400; at += 97)
            for (size_t cut = 0; cut <= sizeof page; cut += cut < 50 ? 1 : 211) {
                size_t n = rows[i].n_before ? rows[i].n_before : strlen(rows[i].before);

                memset(page, ' ', sizeof page);
                memcpy(page, rows[i].before, n);
                int len = snprintf(page + at, 60, "<title>%s</title>", rows[i].title);
                page[at + (size_t)len] = ' ';
                read_cut(links, &of_links, (sn_str){page, sizeof page}, cut);
                read_cut(title, &of_title, (sn_str){page, sizeof page}, cut);
                sn_page_facts_get(links, &a);
                sn_page_facts_get(title, &b);
                CHECK_EQ(b.title.ptr != NULL, a.title.ptr != NULL);
                CHECK(sn_str_eq(b.title, a.title));
            }
    sn_page_free(links);
    sn_page_free(title);
}

TEST(page_that_nobody_can_read_says_so)
{
    sn_page *p = sn_page_new();
    sn_page_wants wants = of_links;
    sn_page_facts f;

    wants.charset = SN_STR("hz-gb-2312");
    f = facts_of(p, &wants, "<title>T</title><a href=x>y</a>");
    CHECK_EQ(f.err, SEINE_E_BAD_CHARSET);
    CHECK(sn_page_n_links(p) == 0 && f.title.ptr == NULL);
    CHECK(is(f.charset, "replacement"));
    /* XML that names nothing is UTF-8. */
    wants.charset = (sn_str){0};
    wants.content_type = SN_STR("application/xhtml+xml");
    f = facts_of(p, &wants, "<title>T\xe9</title>");
    CHECK(is(f.charset, "utf-8") && is(f.title, "T\xef\xbf\xbd"));
    CHECK_EQ(f.charset_errors, 1);
    CHECK_STR(f.charset_from, "default");
    sn_page_free(p);
}

TEST(page_reads_html_alone)
{
    CHECK(sn_page_is_html(SN_STR("text/html")));
    CHECK(sn_page_is_html(SN_STR("application/xhtml+xml")));
    CHECK(!sn_page_is_html(SN_STR("text/plain")));
    CHECK(!sn_page_is_html((sn_str){0}));
}

TEST(page_without_memory_says_so)
{
    sn_page_facts f;

    FAIL_EACH(round)
    {
        sn_page *p = sn_page_new();

        if (p) {
            f = facts_of(p, &of_links, "<title>abc</title><a href=x>y</a>");
            CHECK(f.err == SEINE_E_NOMEM || (is(f.title, "abc") && sn_page_n_links(p)));
            CHECK(f.err == SEINE_OK || (!f.title.ptr && sn_page_n_links(p) == 0));
        }
        sn_page_free(p);
    }
}

TEST(page_allocates_nothing_once_it_is_warm)
{
    static const char page[] = "<title>T</title><a href=/a>b</a><a href=/c>d</a>";
    sn_page *p = sn_page_new();
    sn_page_facts f;

    facts_of(p, &of_links, page);
    count_begin();
    f = facts_of(p, &of_links, page);
    CHECK_EQ(count_calls(), 0);
    count_end();
    CHECK(f.err == SEINE_OK && sn_page_n_links(p) == 2);
    sn_page_free(p);
}

TEST(page_parts_are_links_when_they_are_asked_for)
{
    const char *text =
        "<link rel=stylesheet href=a.css>\n<img src=b.png><a href=c>c</a>\n"
        "<style>@import 'd.css'</style><img src='data:,x'><svg><image href=e>";
    sn_page_link l = {0};
    sn_page *p = sn_page_new();

    read_cut(p, &of_links, sn_str_of(text), 10);
    CHECK_EQ(sn_page_n_links(p), 1u);
    sn_page_add_parts(p, sn_str_of(text), SN_STR("text/html"));
    CHECK_EQ(sn_page_n_links(p), 5u);
    CHECK(sn_page_link_at(p, 0, &l) && is(l.value, "c") && !l.is_part);
    CHECK(sn_page_link_at(p, 1, &l) && is(l.value, "a.css") && l.is_part && l.line == 1);
    CHECK(sn_page_link_at(p, 2, &l) && is(l.value, "b.png") && l.tag == SN_TAG_IMG);
    CHECK(sn_page_link_at(p, 3, &l) && is(l.value, "d.css") && l.line == 3);
    CHECK(sn_page_link_at(p, 4, &l) && is(l.value, "e") && l.tag == SN_TAG_SVG);
    sn_page_free(p);
}

TEST(page_parts_of_a_style_sheet)
{
    static const sn_page_wants sheet = {
        .kind = SN_KIND_PAGE, .links = true, .is_sheet = true};
    sn_str css = SN_STR("<a href=x>\n a{b:url(c.png)}");
    sn_page_link l = {0};
    sn_page *p = sn_page_new();

    read_cut(p, &sheet, css, 5);
    CHECK_EQ(sn_page_n_links(p), 0u);
    sn_page_add_parts(p, css, SN_STR("text/css"));
    CHECK(sn_page_n_links(p) == 1 && sn_page_link_at(p, 0, &l));
    CHECK(is(l.value, "c.png") && l.is_part && l.line == 2 && l.tag == SN_TAG_STYLE);
    sn_page_free(p);
}

TEST(page_parts_count_among_the_links_of_a_page)
{
    static const sn_page_wants few = {
        .kind = SN_KIND_PAGE, .links = true, .max_links = 2};
    sn_str text = SN_STR("<img src=a><img src=b><img src=c>");
    sn_page *p = sn_page_new();
    sn_page_facts f;

    read_cut(p, &few, text, 5);
    sn_page_add_parts(p, text, SN_STR("text/html"));
    sn_page_facts_get(p, &f);
    CHECK_EQ(sn_page_n_links(p), 2u);
    CHECK(f.left_out == 1 && f.notes & SEINE_LINKS_CAPPED);
    sn_page_free(p);
}
