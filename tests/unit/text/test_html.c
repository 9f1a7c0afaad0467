/* SPDX-License-Identifier: Apache-2.0 */
#include "text/html.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "check.h"
#include "failing.h"
#include "text/word_triples.h"

enum {
    ALL = SN_HTML_TITLE | SN_HTML_BASE | SN_HTML_LINK,
    FACTS = SN_HTML_META | SN_HTML_LANG | SN_HTML_JSONLD
};

/* The events, as text: "title=Nets base=/x a.href=/y(text)[rel] img.src=z". */
typedef struct heard {
    sn_buf log;
    size_t count;
    size_t most; /* events wanted; 0: all */
    bool offsets;
    sn_html_event last;
} heard;

static bool
hear(void *user, const sn_html_event *e)
{
    heard *h = user;

    if (h->log.len > 0)
        sn_buf_char(&h->log, ' ');
    if (h->offsets)
        sn_buf_printf(&h->log, "%llu:", (unsigned long long)e->offset);
    if (e->line > 0)
        sn_buf_printf(&h->log, "%u:%u:", e->line, e->col);
    sn_buf_text(&h->log, e->what == SN_HTML_TITLE    ? "title"
                         : e->what == SN_HTML_BASE   ? "base"
                         : e->what == SN_HTML_LANG   ? "lang"
                         : e->what == SN_HTML_JSONLD ? "jsonld"
                                                     : sn_html_tag_name(e->tag));
    if (e->what == SN_HTML_META)
        sn_buf_printf(&h->log, ".%s.%.*s", sn_html_attr_name(e->attr), SN_FMT(e->name));
    if (e->what == SN_HTML_LINK)
        sn_buf_printf(&h->log, ".%s", sn_html_attr_name(e->attr));
    sn_buf_char(&h->log, '=');
    sn_buf_str(&h->log, e->value);
    if (e->text.len > 0)
        sn_buf_printf(&h->log, "(%.*s)", SN_FMT(e->text));
    if (e->rel.len > 0)
        sn_buf_printf(&h->log, "[%.*s]", SN_FMT(e->rel));
    if (e->hreflang.len > 0)
        sn_buf_printf(&h->log, "{%.*s}", SN_FMT(e->hreflang));
    h->last = *e;
    return ++h->count != h->most;
}

static void
hear_nothing(heard *h)
{
    sn_buf_reset(&h->log);
    h->count = 0;
}

static void
heard_init(heard *h)
{
    *h = (heard){.most = 0};
    sn_buf_init(&h->log, 8 << 20);
}

/* Feeds all of it in pieces of `piece` bytes, the first of `first`. */
static void
feed(sn_html *t, const char *page, size_t len, size_t first, size_t piece)
{
    seine_err e = SEINE_OK;
    size_t n = first < len ? first : len;

    for (size_t at = 0; at < len && e == SEINE_OK; at += n, n = piece) {
        n = n < len - at ? n : len - at;
        char *copy = malloc(n ? n : 1); /* so that a sanitizer sees its end */

        memcpy(copy, page + at, n);
        e = sn_html_feed(t, copy, n);
        free(copy);
    }
    CHECK_EQ(e, SEINE_OK);
    CHECK_EQ(sn_html_end(t), SEINE_OK);
    CHECK(t->steps <= 16 * len + 4096);
}

/* Reads the page whole, byte by byte and cut in two at every place: the same. */
static void
expect_with(const sn_html_options *opts, const char *page, size_t len, const char *want)
{
    heard h;
    sn_html t;

    heard_init(&h);
    sn_html_init(&t, opts, hear, &h);
    feed(&t, page, len, len, len);
    CHECK_STR(h.log.ptr ? h.log.ptr : "", want);
    for (size_t first = 1; first <= len; first++) {
        hear_nothing(&h);
        sn_html_reset(&t);
        feed(&t, page, len, first, len);
        CHECK_STR(h.log.ptr ? h.log.ptr : "", want);
    }
    hear_nothing(&h);
    sn_html_reset(&t);
    feed(&t, page, len, 1, 1);
    CHECK_STR(h.log.ptr ? h.log.ptr : "", want);
    sn_html_fini(&t);
    sn_buf_fini(&h.log);
}

static void
expect(const char *page, const char *want)
{
    expect_with(&(sn_html_options){.want = ALL}, page, strlen(page), want);
}

typedef struct row {
    const char *page, *want;
} row;

#define EXPECT(rows)    \
    EACH_ROW(i, (rows)) \
    expect((rows)[i].page, (rows)[i].want)

TEST(html_finds_title_base_and_links)
{
    static const row rows[] = {
        {"", ""},
        {"no tags at all", ""},
        {"<!DOCTYPE html><html><head><title>Nets</title><base href=\"/b/\"></head>"
         "<body><a href=\"x\">there</a></body></html>",
         "title=Nets base=/b/ a.href=x(there)"},
        {"<A HREF=x>", "a.href=x"}, /* names in any case */
        {"<area href=x rel=nofollow>", "area.href=x[nofollow]"},
        {"<link rel='icon' href=/i.png>", "link.href=/i.png[icon]"},
        {"<img src=i><script src=s></script><iframe src=f></iframe>",
         "img.src=i script.src=s iframe.src=f"},
        {"<embed src=2><source src=3><video src=4><audio src=5><track src=6>",
         "embed.src=2 source.src=3 video.src=4 audio.src=5 track.src=6"},
        {"<input type=image src=x><input type=IMAGE src=y><input src=z>",
         "input.src=x input.src=y"}, /* another type loads nothing */
        {"<object data=o></object><form action=f method=get>",
         "object.data=o form.action=f"},
        {"<a href=\"\">", "a.href="},
        {"<a href>", "a.href="},
        {"<a name=x>", ""}, /* no href, no link */
        {"<img href=x><a src=y><p href=z>", ""},
        {"<ahref=x><aa href=x><imgs src=x>", ""}, /* other names */
        {"<averyveryverylongname href=x><a averyveryverylongname=y href=z>", "a.href=z"},
        {"<template1 ><foreignobjects><a href=1>", "a.href=1"},
        /* each tag has its own type */
        {"<input type=image src=a><input src=b>", "input.src=a"},
    };

    EXPECT(rows);
}

/* A browser drops these tags, so that no link of theirs exists. */
TEST(html_drops_forms_in_forms_and_frames_without_a_frameset)
{
    static const row rows[] = {
        {"<form action=1><form action=2></form><form action=3>",
         "form.action=1 form.action=3"},
        {"<form action=1><div></form><form action=2>", "form.action=1 form.action=2"},
        {"<table><form action=1><tr><form action=2>", "form.action=1"},
        {"<form action=1><svg><form></form></svg><form action=2>", "form.action=1"},
        {"<form action=1><template></form></template><form action=2>", "form.action=1"},
        {"<frame src=1><p><frame src=2>", ""},
        {"<frameset><frame src=1><frameset><frame src=2></frameset><frame src=3>"
         "</frameset><frame src=4><frameset><frame src=5>",
         "frame.src=1 frame.src=2 frame.src=3"},
    };

    EXPECT(rows);
}

TEST(html_reads_attributes_in_all_their_forms)
{
    static const row rows[] = {
        {"<a href='1'><a href=\"2\"><a href=3>", "a.href=1 a.href=2 a.href=3"},
        {"<a\thref\n=\r\"x\"\f>", "a.href=x"},
        {"<a href = 'x' >", "a.href=x"},
        {"<a/href=x>", "a.href=x"},
        {"<a / href=x>", "a.href=x"},
        {"<a b='1'href='x'c>", "a.href=x"}, /* no blank between */
        {"<a href=x/>", "a.href=x/"},       /* the slash is part of it */
        {"<a href='x'/>", "a.href=x"},
        {"<a href=\"it's\">", "a.href=it's"},
        {"<a href='a\"b'>", "a.href=a\"b"},
        {"<a href=\"a>b\">", "a.href=a>b"},
        {"<a href='a<b'>", "a.href=a<b"},
        {"<a href=a\"b'c<d=e`f>", "a.href=a\"b'c<d=e`f"},
        {"<a href=1 href=2 HREF=3>", "a.href=1"}, /* the first counts */
        {"<a href href=2>", "a.href="},
        {"<a href=>", "a.href="},
        {"<a =href=x>", ""},  /* its name is "=href" */
        {"<a \"href=x>", ""}, /* and here "\"href" */
        {"<a href= 'x'>", "a.href=x"},
        {"<a title='<a href=no>' href=x>", "a.href=x"},
        {"<a href='x", ""}, /* the end of the page inside of a tag */
        {"<a href=x", ""},
        {"<a href", ""},
        {"<a", ""},
        {"<a href=x /", ""},
        {"<a href='x'><b", "a.href=x"},
        {"</a href=x>", ""},                      /* an end tag has no attributes */
        {"<a href='\r\n x\r'>", "a.href=\n x\n"}, /* new lines are LF */
    };

    EXPECT(rows);
}

TEST(html_skips_what_is_no_markup)
{
    static const row rows[] = {
        {"<!-- <a href=1> --><a href=2>", "a.href=2"},
        {"<!--><a href=1>-->", "a.href=1(-->)"}, /* ends at once */
        {"<!---><a href=1>-->", "a.href=1(-->)"},
        {"<!----><a href=1>", "a.href=1"},
        {"<!-----><a href=1>", "a.href=1"},
        {"<!--a--!><a href=1>", "a.href=1"},
        {"<!--!><a href=1>--><a href=2>", "a.href=2"}, /* a bang needs its dashes */
        {"<!---!><a href=1>--><a href=2>", "a.href=2"},
        {"<!----!><a href=1>", "a.href=1"},
        {"<!--a--!-><a href=1>--><a href=2>", "a.href=2"},
        {"<!--a--!--><a href=1>", "a.href=1"},
        {"<!--a-><a href=1>--><a href=2>", "a.href=2"},
        {"<!--a- -><a href=1>--><a href=2>", "a.href=2"},
        {"<!--a-- ><a href=1>--><a href=2>", "a.href=2"},
        {"<!--a<!--b--><a href=1>", "a.href=1"}, /* they do not nest */
        {"<!-- <a href=1>", ""},
        {"<!-<a href=1><a href=2>", "a.href=2"}, /* bogus ones end at > */
        {"<!><a href=1>", "a.href=1"},
        {"<!-><a href=1>", "a.href=1"},
        {"<!x <a href=1><a href=2>", "a.href=2"},
        {"<?xml version='1.0'?><a href=1>", "a.href=1"},
        {"<?><a href=1>", "a.href=1"},
        {"</ <a href=1><a href=2>", "a.href=2"},
        {"</><a href=1>", "a.href=1"},
        {"</3><a href=1>", "a.href=1"},
        {"<!DOCTYPE html PUBLIC \"-//x>y\"><a href=1>", "a.href=1"},
        {"< a href=1>", ""},
        {"<<a href=1>", "a.href=1"},
        {"<1<a href=1>", "a.href=1"},
        {"<![CDATA[<a href=1>]]><a href=2>", "a.href=2"}, /* ends at > */
    };

    EXPECT(rows);
    expect("<![CDATA[ > <a href=1>", "a.href=1");
}

TEST(html_knows_elements_whose_content_is_text)
{
    static const row rows[] = {
        {"<script><a href=1></script><a href=2>", "a.href=2"},
        {"<style><a href=1></style><a href=2>", "a.href=2"},
        {"<textarea><a href=1></textarea><a href=2>", "a.href=2"},
        {"<xmp><a href=1></xmp><a href=2>", "a.href=2"},
        {"<iframe><a href=1></iframe><a href=2>", "a.href=2"},
        {"<noembed><a href=1></noembed><a href=2>", "a.href=2"},
        {"<noframes><a href=1></noframes><a href=2>", "a.href=2"},
        {"<plaintext><a href=1></plaintext><a href=2>", ""},
        {"<noscript><a href=1></noscript><a href=2>", "a.href=1 a.href=2"},
        {"<SCRIPT><a href=1></ScRiPt ><a href=2>", "a.href=2"},
        {"<script><a href=1></script/><a href=2>", "a.href=2"},
        {"<script></scrip><a href=1></script><a href=2>", "a.href=2"},
        {"<script></scriptx><a href=1></script><a href=2>", "a.href=2"},
        {"<script></style><a href=1></script><a href=2>", "a.href=2"},
        {"<script></script x='>'><a href=2>", "a.href=2"},
        {"<script></ script><a href=1></script><a href=2>", "a.href=2"},
        {"<script><</script><a href=2>", "a.href=2"},
        {"<script></</script><a href=2>", "a.href=2"},
        {"<script></averyveryverylongname></script><a href=2>", "a.href=2"},
        {"<script/><a href=1></script><a href=2>", "a.href=2"}, /* no such thing */
        {"<script src=s></script", "script.src=s"},
    };

    EXPECT(rows);
    expect_with(&(sn_html_options){.want = ALL, .scripting = true},
                "<noscript><a href=1></noscript><a href=2>", 41, "a.href=2");
}

TEST(html_knows_scripts_that_hide_their_end)
{
    static const row rows[] = {
        {"<script><!--<a href=1></script><a href=2>", "a.href=2"},
        {"<script><!--<script></script><a href=1></script><a href=2>", "a.href=2"},
        {"<script><!--<script></script>--></script><a href=2>", "a.href=2"},
        {"<script><!--<script>--></script><a href=2>", "a.href=2"},
        {"<script><!--<SCRIPT x></Script/></script><a href=2>", "a.href=2"},
        {"<script><!--<scripty></script><a href=2>", "a.href=2"},
        {"<script><!--<script<</script><a href=2>", "a.href=2"},
        {"<script><!--><script></script><a href=2>", "a.href=2"}, /* ends at once */
        {"<script><!---><script></script><a href=2>", "a.href=2"},
        {"<script><!-- --><script></script><a href=2>", "a.href=2"},
        {"<script><!-<script></script><a href=2>", "a.href=2"},
        {"<script><!<script></script><a href=2>", "a.href=2"},
        {"<script><!-- - -><script></script><a href=1></script><a href=2>", "a.href=2"},
        {"<script><!--<script></scriptx></script><a href=1></script><a href=2>",
         "a.href=2"},
        {"<script><!--<script></ script></script><a href=1></script><a href=2>",
         "a.href=2"},
        {"<script><!--<script>", ""},
        {"<style><!--<style></style><a href=2>", "a.href=2"}, /* scripts alone */
    };

    EXPECT(rows);
}

TEST(html_gives_the_text_of_a_link)
{
    static const row rows[] = {
        {"<a href=x>  two\n\t words </a>", "a.href=x(two words)"},
        {"<a href=x>a<b>b</b> c<img src=i></a> d", "img.src=i a.href=x(ab c)"},
        {"<a href=x>A &amp; B&#32;&nbsp;C&lt</a>", "a.href=x(A & B \302\240C<)"},
        {"<a href=x>1 < 2 </3> </a>", "a.href=x(1 < 2)"},
        {"<a href=x>a<!-- b -->c<script>d</script></a>", "a.href=x(ac)"},
        {"<a href=x>one<a href=y>two</a>", "a.href=x(one) a.href=y(two)"},
        {"<a href=x>one<a name=y>two</a>", "a.href=x(one)"},
        {"<a href=x>one", "a.href=x(one)"}, /* the page ends first */
        {"<a href=x>one<", "a.href=x(one<)"},
        {"<a href=x>one</", "a.href=x(one</)"},
        {"<a href=x>one</b", "a.href=x(one)"},
        {"<a href=x rel='next nofollow'>n</a>", "a.href=x(n)[next nofollow]"},
        {"<a href=x></a></a><area href=y>n", "a.href=x area.href=y"},
    };

    EXPECT(rows);
}

TEST(html_cuts_the_text_of_a_link_at_256_bytes_between_characters)
{
    char page[2000] = "<a href=x>", want[400] = "a.href=x(";

    for (int i = 0; i < 200; i++)
        memcpy(page + 10 + 3 * (size_t)i, "\342\202\254", 4); /* the euro sign */
    for (int i = 0; i < 85; i++)
        memcpy(want + 9 + 3 * (size_t)i, "\342\202\254", 4); /* 255 bytes */
    memcpy(want + 9 + 255, ")", 2);
    expect(page, want);
}

TEST(html_gives_the_first_title_with_blanks_collapsed)
{
    static const row rows[] = {
        {"<title>\n Nets  and\tboats \n</title>", "title=Nets and boats"},
        {"<title>a</title><title>b</title>", "title=a"},
        {"<title></title><title>b</title>", "title="},
        {"<title>A &amp; B &copy &copycat &#x20AC;</title>",
         "title=A & B \302\251 \302\251cat \342\202\254"},
        {"<title>a&#32;&#32;b&#10;</title>", "title=a b"},
        {"<title>&lt;b&gt;<b>x</b></title>", "title=<b><b>x</b>"},
        {"<title>a<!-- b --></title>", "title=a<!-- b -->"},
        {"<title>a</titl></title >", "title=a</titl>"},
        {"<title>a</TITLE>", "title=a"},
        {"<title>a", "title=a"}, /* the page ends first */
        {"<title>a<", "title=a<"},
        {"<title>a</ti", "title=a</ti"},
        {"<title>a</title", "title=a</title"},
        {"<title>a</title x", "title=a"},
        {"<title><a href=x></title>", "title=<a href=x>"},
        {"<title/>a</title>", "title=a"},
        {"<body><p><title>late</title>", "title=late"},
        {"<textarea><title>a</title></textarea>", ""},
    };

    EXPECT(rows);
}

TEST(html_gives_the_first_base_with_an_href)
{
    static const row rows[] = {
        {"<base target=_top><base href=1><base href=2>", "base=1"},
        {"<base href=''><base href=2>", "base="},
        {"<a href=x></a><base href=1>", "a.href=x base=1"},
        {"<base href='/?a=1&amp;b=2'>", "base=/?a=1&b=2"},
    };

    EXPECT(rows);
}

TEST(html_leaves_templates_alone)
{
    static const row rows[] = {
        {"<template><a href=1><base href=2><title>t</title></template><a href=3>",
         "a.href=3"},
        {"<template><template></template><a href=1></template><img src=3>", "img.src=3"},
        {"</template><a href=1>", "a.href=1"},
        {"<template><a href=1>", ""},
    };

    EXPECT(rows);
}

TEST(html_knows_svg_and_math_as_far_as_it_must)
{
    static const row rows[] = {
        {"<svg><title>icon</title></svg><title>page</title>", "title=page"},
        {"<svg><title/></svg><title>page</title>", "title=page"},
        {"<svg><style/><script/></svg><a href=1>", "a.href=1"},
        {"<svg><a href=1>x</a></svg>", "a.href=1(x)"},
        {"<svg><img src=1><title>t</title>", "img.src=1 title=t"}, /* ends the svg */
        {"<svg><link href=1><form action=2></svg>", ""}, /* mean nothing there */
        {"<svg><foreignObject><link href=1><style><a href=2></style>"
         "</foreignObject><link href=3></svg>",
         "link.href=1"},
        {"<svg><desc><title>t</title></desc></svg>", "title=t"},
        {"<svg><svg></svg><title>t</title></svg><title>u</title>", "title=u"},
        {"<svg><foreignobject></svg><title>t</title>", "title=t"},
        {"<svg/><title>t</title>", "title=t"},
        {"</svg></desc><title>t</title>", "title=t"},
        {"<math><title>t</title></math><title>u</title>", "title=u"},
        {"<svg><![CDATA[<a href=1>]]></svg><a href=2>", "a.href=2"},
        {"<svg><![CDATA[ ]] > ] ]]]><a href=2>", "a.href=2"},
        {"<svg><![CDAT[<a href=1>]]></svg><a href=2>", "a.href=2"},
        {"<svg><![CDATA[<a href=1>", ""},
        {"<svg><p><title>t</title>", "title=t"},
        {"<svg><g><path d='M0 0'/></g><rect/></svg><title>t</title>", "title=t"},
    };

    EXPECT(rows);
}

TEST(html_looks_into_64_levels_of_svg_and_html)
{
    char page[64 * 32], want[] = "title=t";
    size_t len = 0;

    for (int i = 0; i < 33; i++)
        len += (size_t)snprintf(page + len, sizeof page - len, "<svg><desc>");
    for (int i = 0; i < 33; i++)
        len += (size_t)snprintf(page + len, sizeof page - len, "</desc></svg>");
    snprintf(page + len, sizeof page - len, "<title>t</title>");
    expect(page, want);
}

TEST(html_makes_nul_a_replacement_character)
{
    static const char page[] = "<a href='a\0b'>c\0d</a><a\0 href=x><a h\0ref=x>";

    expect_with(&(sn_html_options){.want = ALL}, page, sizeof page - 1,
                "a.href=a\357\277\275b(c\357\277\275d)");
}

TEST(html_gives_only_what_is_wanted)
{
    static const char page[] = "<title>t</title><base href=b><a href=x>y</a>";
    static const struct {
        unsigned want;
        const char *what;
    } rows[] = {
        {0, ""},
        {SN_HTML_TITLE, "title=t"},
        {SN_HTML_BASE, "base=b"},
        {SN_HTML_LINK, "a.href=x(y)"},
        {SN_HTML_BASE | SN_HTML_LINK, "base=b a.href=x(y)"},
    };

    EACH_ROW(i, rows)
        expect_with(&(sn_html_options){.want = rows[i].want}, page, sizeof page - 1,
                    rows[i].what);
}

TEST(html_has_enough_at_the_end_of_the_title)
{
    static const char page[] = "<link href=1><title>t</title><a href=2>";
    heard h;
    sn_html t;

    expect_with(&(sn_html_options){.want = ALL, .until_title = true}, page,
                sizeof page - 1, "link.href=1 title=t");
    expect_with(&(sn_html_options){.want = SN_HTML_LINK, .until_title = true}, page,
                sizeof page - 1, "link.href=1");
    heard_init(&h);
    sn_html_init(&t, &(sn_html_options){.want = SN_HTML_TITLE, .until_title = true}, hear,
                 &h);
    CHECK_EQ(sn_html_feed(&t, page, 28), SEINE_OK); /* up to "</title" */
    CHECK(!sn_html_enough(&t));
    CHECK_EQ(sn_html_feed(&t, page + 28, 1), SEINE_OK);
    CHECK(sn_html_enough(&t));
    CHECK_EQ(h.count, 1);
    sn_html_fini(&t);
    sn_buf_fini(&h.log);
}

TEST(html_finds_the_title_alone_as_among_all_else)
{
    static const row rows[] = {
        {"<!doctype html>\n<html lang=en><head><meta charset=utf-8><title>a &amp; b"
         "</title><title>c</title>",
         "title=a & b"},
        {"<HTML><Head/><META name=x content='<title>no</title>'><LINK\nhref=\"a>b\" x>"
         "<TITLE> a\n b </TITLE>",
         "title=a b"},
        {"<!--<title>no</title>--><html><title >yes</title>", "title=yes"},
        {"<!-><title>yes</title>", "title=yes"},
        {"<!d<title>no</title>", ""},
        {"<!doctype x[<title>]>no</title><title>yes</title>", "title=yes"},
        {"<html2><headx><metal><links><titles>no</titles><title>yes</title>",
         "title=yes"},
        {"<title>a<b>c</title >d", "title=a<b>c"},
        {"<title>a</titles></title/>", "title=a</titles>"},
        {"<title/>a</title>", "title=a"},
        {"<script><title>no</title></script><style><title>no</title></style>"
         "<title>yes</title>",
         "title=yes"},
        {"<template><html><title>no</title></template><title>yes</title>", "title=yes"},
        {"<svg><html><title>no</title>", ""},
        {"<svg><title>no</title></svg><title>yes</title>", "title=yes"},
        {"<html><frameset><title>no</title></frameset>", ""},
        {"text<frameset><title>yes</title>", "title=yes"},
        {"<html>\n\t<frameset><title>no</title>", ""},
        {"<head></head>x<meta><title>yes</title>", "title=yes"},
        {"<title></title><title>no</title>", "title="},
        {"<html><head><title>never ended", "title=never ended"},
        {"<html <title>no</title><title>yes</title>", "title=yes"},
    };

    EACH_ROW(i, rows) {
        expect_with(&(sn_html_options){.want = SN_HTML_TITLE, .until_title = true},
                    rows[i].page, strlen(rows[i].page), rows[i].want);
    }
}

TEST(html_stops_when_the_handler_has_enough)
{
    static const char page[] = "<a href=1>x</a><a href=2>y</a><a href=3>";
    heard h;
    sn_html t;

    heard_init(&h);
    h.most = 2;
    sn_html_init(&t, &(sn_html_options){.want = ALL}, hear, &h);
    CHECK_EQ(sn_html_feed(&t, page, sizeof page - 1), SEINE_OK);
    CHECK(sn_html_enough(&t));
    CHECK_EQ(sn_html_feed(&t, page, sizeof page - 1), SEINE_OK);
    CHECK_EQ(sn_html_end(&t), SEINE_OK);
    CHECK_EQ(h.count, 2);
    sn_html_fini(&t);
    sn_buf_fini(&h.log);
}

TEST(html_tells_where_a_tag_stands)
{
    static const char page[] =
        "ab<a href=1>x<img src=2></a><title>t</title>\n<base href=3>";
    heard h;
    sn_html t;

    for (size_t piece = 1; piece < sizeof page; piece++) {
        heard_init(&h);
        h.offsets = true;
        sn_html_init(&t, &(sn_html_options){.want = ALL}, hear, &h);
        feed(&t, page, sizeof page - 1, piece, piece);
        CHECK_STR(h.log.ptr, "13:img.src=2 2:a.href=1(x) 28:title=t 45:base=3");
        sn_html_fini(&t);
        sn_buf_fini(&h.log);
    }
}

/* A page of one part again and again, with a start and an end. */
static void
grow(sn_buf *page, const char *start, const char *part, size_t times, const char *end)
{
    sn_buf_init(page, 64 << 20);
    sn_buf_text(page, start);
    for (size_t i = 0; i < times; i++)
        sn_buf_text(page, part);
    sn_buf_text(page, end);
    CHECK_EQ(sn_buf_done(page), SEINE_OK);
}

/* Reads a grown page and frees it; *out_h without its log. */
static unsigned
notes_of(sn_buf *page, heard *out_h)
{
    sn_html t;

    heard_init(out_h);
    sn_html_init(&t, &(sn_html_options){.want = ALL}, hear, out_h);
    feed(&t, page->ptr, page->len, 1000, 1460);
    unsigned notes = sn_html_notes(&t);
    sn_html_fini(&t);
    sn_buf_fini(page);
    return notes;
}

TEST(html_keeps_50000_links)
{
    sn_buf page;
    heard h;

    grow(&page, "", "<img src=x>", 50000, "");
    CHECK_EQ(notes_of(&page, &h), 0);
    CHECK_EQ(h.count, 50000);
    sn_buf_fini(&h.log);
    grow(&page, "", "<img src=x>", 50000, "<a href=y>");
    CHECK_EQ(notes_of(&page, &h), SN_HTML_NOTE_LINKS);
    CHECK_EQ(h.count, 50000);
    sn_buf_fini(&h.log);
}

TEST(html_keeps_256_attributes_of_a_tag)
{
    sn_buf page;
    heard h;

    grow(&page, "<a", " b=c", 255, " href=x>");
    CHECK_EQ(notes_of(&page, &h), 0);
    CHECK_EQ(h.count, 1);
    sn_buf_fini(&h.log);
    grow(&page, "<a", " b=c", 256, " href=x><a href=y>");
    CHECK_EQ(notes_of(&page, &h), SN_HTML_NOTE_ATTRS);
    CHECK_STR(h.log.ptr, "a.href=y"); /* the next tag starts anew */
    sn_buf_fini(&h.log);
}

TEST(html_keeps_64_kib_of_a_value)
{
    sn_buf page;
    heard h;

    grow(&page, "<img src='", "x", 65536, "'>");
    CHECK_EQ(notes_of(&page, &h), 0);
    CHECK_EQ(h.log.len, 8 + 65536);
    CHECK(!h.last.cut);
    sn_buf_fini(&h.log);
    grow(&page, "<a rel=r href='", "x", 65537, "'>");
    CHECK_EQ(notes_of(&page, &h), SN_HTML_NOTE_VALUE);
    CHECK_EQ(h.log.len, 7 + 65536 + 3);
    CHECK(h.last.cut);
    sn_buf_fini(&h.log);
    /* An attribute that is not kept costs nothing and makes no note. */
    grow(&page, "<a title='", "x", 70000, "' href=y>");
    CHECK_EQ(notes_of(&page, &h), 0);
    CHECK_STR(h.log.ptr, "a.href=y");
    sn_buf_fini(&h.log);
}

TEST(html_cuts_a_value_that_decoding_makes_longer)
{
    sn_buf page;
    heard h;

    /* 5 bytes become 6, and 65,536 / 6 = 10,922.67 */
    grow(&page, "<img src='", "&nGt;", 10923, "'>");
    CHECK_EQ(notes_of(&page, &h), SN_HTML_NOTE_VALUE);
    CHECK_EQ(h.log.len, 8 + 10922 * 6);
    CHECK(h.last.cut);
    sn_buf_fini(&h.log);
}

TEST(html_keeps_4_kib_of_title)
{
    sn_buf page;
    heard h;

    grow(&page, "<title> ", "x", 4096, " </title>");
    CHECK_EQ(notes_of(&page, &h), 0);
    CHECK_EQ(h.log.len, 6 + 4096);
    sn_buf_fini(&h.log);
    grow(&page, "<title>", "x", 4097, "</title>");
    CHECK_EQ(notes_of(&page, &h), SN_HTML_NOTE_TITLE);
    CHECK_EQ(h.log.len, 6 + 4096);
    CHECK(h.last.cut);
    sn_buf_fini(&h.log);
    grow(&page, "<title>", "x \r\n", 100000, "</title>");
    CHECK_EQ(notes_of(&page, &h), SN_HTML_NOTE_TITLE);
    CHECK_EQ(h.log.len, 6 + 4095); /* no blank at the end of a cut one */
    sn_buf_fini(&h.log);
}

TEST(html_of_a_reader_without_wishes_is_read_to_its_end)
{
    sn_buf page;
    heard h;

    grow(&page, "", "<p class=c>word</p> ", 1000, "<a href=x>y</a>");
    CHECK_EQ(notes_of(&page, &h), 0);
    CHECK_STR(h.log.ptr, "a.href=x(y)");
    sn_buf_fini(&h.log);
}

TEST(html_allocates_nothing_once_it_is_warm)
{
    static const char page[] = "<title>A title of a page</title><base href=/b>"
                               "<link rel=icon href=/favicon.ico>"
                               "<a href='/x?a=1&amp;b=2' rel=next>the &lt;text&gt;</a>";
    heard h;
    sn_html t;

    count_begin();
    heard_init(&h);
    sn_html_init(&t, &(sn_html_options){.want = ALL}, hear, &h);
    CHECK_EQ(count_calls(), 0);
    feed(&t, page, sizeof page - 1, 7, 7);
    long warm = count_calls();
    for (int i = 0; i < 10; i++) {
        hear_nothing(&h);
        sn_html_reset(&t);
        feed(&t, page, sizeof page - 1, 7, 7);
    }
    CHECK_EQ(count_calls(), warm);
    sn_html_fini(&t);
    sn_buf_fini(&h.log);
    CHECK_EQ(count_out(), 0);
    count_end();
}

TEST(html_stays_under_its_memory)
{
    sn_buf page;
    heard h;
    sn_html t;

    grow(&page, "<a rel='", "x", 70000, "' href='");
    for (int i = 0; i < 70000; i++)
        sn_buf_char(&page, 'y');
    sn_buf_text(&page, "'><link href='");
    for (int i = 0; i < 70000; i++)
        sn_buf_char(&page, 'z');
    sn_buf_text(&page, "'><title>");
    for (int i = 0; i < 70000; i++)
        sn_buf_char(&page, 't');
    count_begin();
    heard_init(&h);
    h.most = 1;
    sn_html_init(&t, &(sn_html_options){.want = SN_HTML_LINK}, hear, &h);
    CHECK_EQ(sn_html_feed(&t, page.ptr, page.len), SEINE_OK);
    CHECK(count_bytes() - (int64_t)h.log.room < 600 * 1024);
    sn_html_fini(&t);
    sn_buf_fini(&h.log);
    CHECK_EQ(count_out(), 0);
    count_end();
    sn_buf_fini(&page);
}

static bool
ignore(void *user, const sn_html_event *e)
{
    (void)e;
    ++*(size_t *)user;
    return true;
}

TEST(html_without_memory_says_so_and_stops)
{
    static const char page[] = "<title>a title</title><base href=/b><img src=i>"
                               "<a href=x rel=y>text</a><a href=z>";

    FAIL_EACH(round)
    {
        size_t count = 0;
        sn_html t;

        sn_html_init(&t, &(sn_html_options){.want = ALL}, ignore, &count);
        seine_err e = sn_html_feed(&t, page, sizeof page - 1);
        seine_err end = sn_html_end(&t);

        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK(end == SEINE_OK || end == SEINE_E_NOMEM);
        CHECK(e == SEINE_OK || end == e);
        CHECK(end != SEINE_OK || count == 5);
        CHECK(sn_html_enough(&t));
        sn_html_fini(&t);
    }
}

/* Feeds the page to `t` and returns what was heard, and the words of the text. */
static const char *
hear_page(sn_html *t, heard *h, const char *page, size_t first, size_t piece)
{
    sn_word_triples *words = t->opts.words;

    hear_nothing(h);
    sn_html_reset(t);
    if (words)
        sn_word_triples_begin(words, SN_STR("/a"));
    feed(t, page, strlen(page), first, piece);
    if (words)
        sn_word_triples_end(words);
    sn_buf_printf(&h->log, " notes %x", sn_html_notes(t));
    for (uint32_t i = 0; words && i < words->n; i++)
        sn_buf_printf(&h->log, " %llx", (unsigned long long)words->hash[i]);
    return h->log.ptr;
}

/* Random pages of known parts: whole, in pieces and byte by byte, which the states read
 * alone, give the same events. */
static void
cut_pages(sn_html_options opts, sn_rng *rng)
{
    static const char *const parts[] = {
        "<",        ">",         "/",          "!",           "-",     "--",
        "=",        "'",         "\"",         " ",           "\n",    "a",
        "A",        "href",      "src",        "<a href=",    "</a>",  "<title>",
        "</title>", "<script>",  "</script>",  "<!--",        "-->",   "<svg>",
        "</svg>",   "<![CDATA[", "]]>",        "]",           "&",     "&amp;",
        "&#x41",    ";",         "<base ",     "<img ",       "x",     "\r",
        "<desc>",   "</desc>",   "<template>", "</template>", "?",     "title",
        "script",   "<style>",   "</style>",   "rel=",        "<!",    "</",
        "--!>",     "<p>",       "<div a=\"",  "<li class='", "/>",    "<A HREF='x'>",
        "<input ",  "<a ",       "hreflang=",  "<noscript>",  "</p ",  "<frameset>",
        "<frame ",  "\xc3\xa4",  "two words",  "</",          "<svg>", "id=",
        "<p id='",
    };
    static sn_word_triples words[2];
    heard whole, cut;
    sn_html a, b;

    heard_init(&whole);
    heard_init(&cut);
    sn_html_init(&a, &opts, hear, &whole);
    sn_html_init(&b, &opts, hear, &cut);
    if (opts.words) {
        a.opts.words = &words[0];
        b.opts.words = &words[1];
    }
    whole.offsets = cut.offsets = true;
    for (int round = 0; round < 1500; round++) {
        char page[1024] = "";
        size_t len = 0, piece = round % 2 ? 1 : 1 + (size_t)sn_rng_below(rng, 40);

        for (int i = 0; i < 30; i++)
            len +=
                (size_t)snprintf(page + len, sizeof page - len, "%s",
                                 parts[sn_rng_below(rng, sizeof parts / sizeof *parts)]);
        const char *want = hear_page(&b, &cut, page, piece, piece);
        const char *got = hear_page(&a, &whole, page, len, len);
        if (strcmp(got, want) != 0)
            check_fail(__FILE__, __LINE__, "cut by %zu: %s\n  %s\n  %s", piece, page, got,
                       want);
    }
    sn_html_fini(&a);
    sn_html_fini(&b);
    sn_buf_fini(&whole.log);
    sn_buf_fini(&cut.log);
}

TEST(html_does_not_care_how_a_page_is_cut)
{
    static sn_word_triples words;
    const sn_html_options rows[] = {
        {.want = ALL},
        {.want = ALL | FACTS, .lines = true},
        {.want = ALL, .no_text = true, .lines = true},
        {.want = ALL, .no_text = true, .no_parts = true}, /* as a crawl does */
        {.want = ALL, .no_text = true, .words = &words},  /* and where it looks */
        {.want = ALL | SN_HTML_ANCHOR, .no_text = true},
        {.want = ALL, .scripting = true, .no_text = true},
    };
    sn_rng rng = sn_rng_seed(check_seed());

    EACH_ROW(i, rows)
        cut_pages(rows[i], &rng);
}

TEST(html_tells_a_link_at_its_tag_if_its_text_is_not_asked_for)
{
    static const row rows[] = {
        {"x<p><a href=1>b<a href='2'>c<img src=3>", "a.href=1 a.href=2 img.src=3"},
        {"x<p><a href=\"1&amp;\" REL=n hrefLang=de rel=m>b</a>", "a.href=1&[n]{de}"},
        {"x<p><a href=1 href=2>", "a.href=1"},
        {"x<p><a href>", "a.href="},
        {"x<p><a =href href=1>", "a.href=1"},
        {"x<p><a href = 1 /href=2 >", "a.href=1"},
        {"x<p><a href=/1/>", "a.href=/1/"},
        {"x<p><a title='<a href=0>'href=1>", "a.href=1"},
        {"x<p><a b=c=\"d>e\" href=0>f<a href=1>", "a.href=1"}, /* the value is c="d */
        {"x<p><template><a href=0></template><a href=1>", "a.href=1"},
        {"x<p><p id='<a href=0>'><b class=\"</b><a href=0>\">y</b><a href=1>",
         "a.href=1"},
        {"x<p><script><a href=0></script><p <a href=0><a href=1>", "a.href=1"},
        {"x<p><a =\"b>c\" href=0>", ""}, /* the tag ends behind b */
        {"x<p><a hreflang='d&amp;' href=1>", "a.href=1{d&}"},
        {"x<p><a rel='d&amp;' href=1>", "a.href=1[d&]"},
        {"x<p><a href=0", ""},
        {"x<p><a hrefs=0 rel=y xhref=0>", ""},
    };

    EACH_ROW(i, rows)
        expect_with(&(sn_html_options){.want = ALL, .no_text = true}, rows[i].page,
                    strlen(rows[i].page), rows[i].want);
}

TEST(html_does_not_tell_parts_of_a_page_that_are_not_asked_for)
{
    static const char page[] =
        "<img src=0>x<p><a href=1></a><img src=0><form action=0><input type=image src=0>"
        "<video src=0 poster=0><source srcset='0, 0'><object data=0><embed src=0>"
        "<script src=2></script><link rel=x href=3><iframe src=4></iframe><area href=5>";

    expect_with(&(sn_html_options){.want = ALL, .no_parts = true}, page, strlen(page),
                "a.href=1 script.src=2 link.href=3[x] iframe.src=4 area.href=5");
}

/* A value, or attributes, beyond a limit are noted, wherever the tag is read. */
TEST(html_notes_what_is_cut_in_tags_without_meaning_for_the_caller)
{
    sn_html_options o = {.want = ALL, .no_text = true, .no_parts = true};
    char *page = malloc(2 * SN_HTML_VALUE);
    heard h;
    sn_html t;

    heard_init(&h);
    sn_html_init(&t, &o, hear, &h);
    int n = snprintf(page, 32, "x<p><img src='");
    memset(page + n, 'y', SN_HTML_VALUE + 1);
    memcpy(page + n + SN_HTML_VALUE + 1, "'>", 3);
    feed(&t, page, strlen(page), strlen(page), 1);
    CHECK_EQ(sn_html_notes(&t), SN_HTML_NOTE_VALUE);

    sn_html_reset(&t);
    n = snprintf(page, 32, "x<p><p");
    for (int i = 0; i < SN_HTML_ATTRS; i++)
        n += snprintf(page + n, 32, " a");
    snprintf(page + n, 32, "><p>");
    feed(&t, page, strlen(page), strlen(page), 1);
    CHECK_EQ(sn_html_notes(&t), 0);

    sn_html_reset(&t);
    snprintf(page + n, 32, " a>");
    feed(&t, page, strlen(page), strlen(page), 1);
    CHECK_EQ(sn_html_notes(&t), SN_HTML_NOTE_ATTRS);
    sn_html_fini(&t);
    sn_buf_fini(&h.log);
    free(page);
}

static void
expect_facts(const char *page, const char *want)
{
    expect_with(&(sn_html_options){.want = FACTS}, page, strlen(page), want);
}

TEST(html_finds_every_url_of_a_srcset)
{
    static const row rows[] = {
        {"<img srcset='a.jpg 1x, b.jpg 2x'>", "img.srcset=a.jpg img.srcset=b.jpg"},
        {"<img src=s srcset=a,b>", "img.src=s img.srcset=a,b"}, /* one URL */
        {"<source srcset=' ,, a, b  100w,c'>",
         "source.srcset=a source.srcset=b source.srcset=c"},
        {"<img srcset='a (x, y), b'>", "img.srcset=a img.srcset=b"}, /* in parentheses */
        {"<img srcset='data:,a ( , b'>", "img.srcset=data:,a"},
        {"<img srcset='a&amp;b 1x'>", "img.srcset=a&b"},
        {"<img srcset=''><img srcset=' , '>", ""},
        {"<link rel=preload imagesrcset='a 1x, b 2x'>",
         "link.imagesrcset=a link.imagesrcset=b"},
        {"<video src=v poster=p>", "video.src=v video.poster=p"},
        {"<template><img srcset='a, b'></template>", ""},
    };

    EXPECT(rows);
}

TEST(html_takes_a_refresh_that_leads_somewhere_for_a_link)
{
    static const row rows[] = {
        {"<meta http-equiv=refresh content='5; url=/a?b&amp;c'>", "meta.content=/a?b&c"},
        {"<META HTTP-EQUIV=' Refresh ' CONTENT=0;/x>", "meta.content=/x"},
        {"<meta http-equiv=refresh content=5>", ""}, /* the page itself */
        {"<meta http-equiv=refresh content='x; url=/a'>", ""},
        {"<meta name=refresh content='5; url=/a'>", ""},
        {"<template><meta http-equiv=refresh content='5; url=/a'></template>", ""},
    };

    EXPECT(rows);
}

TEST(html_tells_the_language_of_a_link)
{
    expect("<link rel=alternate hreflang=de href=/de><a href=/f hreflang=fr>f</a>",
           "link.href=/de[alternate]{de} a.href=/f(f){fr}");
}

TEST(html_finds_metas_language_and_json_ld)
{
    static const row rows[] = {
        {"<meta name=robots content='noindex, nofollow'>",
         "meta.name.robots=noindex, nofollow"},
        {"<meta property=og:title content='a &amp; b'>", "meta.property.og:title=a & b"},
        {"<meta name=a property=b content=c>", "meta.name.a=c meta.property.b=c"},
        {"<meta http-equiv=refresh content='1;u'>", "meta.http-equiv.refresh=1;u"},
        {"<meta name=a><meta content=c><meta charset=utf-8>", ""},
        {"<html lang=' de '><html lang=en>", "lang=de"},
        {"<html><p lang=fr>", ""},
        {"<script type=application/ld+json>{\"a\":1}</script>", "jsonld={\"a\":1}"},
        {"<script type='Application/LD+JSON; charset=utf-8'>&lt;</script>",
         "jsonld=&lt;"},
        {"<script type=application/ld+json><!-- a </b> </script>", "jsonld=<!-- a </b> "},
        {"<script type=application/ld+json>1</script><script>2</script>", "jsonld=1"},
        {"<script type=application/ld+json>1</scrip", "jsonld=1</scrip"},
        {"<script type=application/json>1</script>", ""},
        {"<template><script type=application/ld+json>1</script></template>", ""},
        {"<script type=application/ld+json></script>", "jsonld="},
    };

    EACH_ROW(i, rows)
        expect_facts(rows[i].page, rows[i].want);
}

TEST(html_keeps_1_mib_of_json_ld)
{
    static const char head[] = "<script type=application/ld+json>";
    enum { LEN = SN_HTML_SCRIPT_LEN + 1 };
    char *page = malloc(sizeof head + LEN);
    heard h;
    sn_html t;

    for (size_t more = 0; more <= 1; more++) {
        size_t len = sizeof head - 1 + SN_HTML_SCRIPT_LEN + more;

        memcpy(page, head, sizeof head);
        memset(page + sizeof head - 1, 'x', LEN);
        heard_init(&h);
        sn_html_init(&t, &(sn_html_options){.want = FACTS}, hear, &h);
        feed(&t, page, len, 4096, 65536);
        CHECK_EQ(h.count, 1);
        CHECK_EQ(h.last.value.len, SN_HTML_SCRIPT_LEN);
        CHECK_EQ(h.last.cut, more == 1);
        CHECK_EQ(sn_html_notes(&t), more == 1 ? SN_HTML_NOTE_SCRIPT : 0);
        sn_html_fini(&t);
        sn_buf_fini(&h.log);
    }
    free(page);
}

TEST(html_tells_line_and_column)
{
    static const row rows[] = {
        {"<a href=1></a>\n <a href=2></a><a\nhref=3>\n</a>\r\n\n<img src=4>",
         "1:1:a.href=1 2:2:a.href=2 2:16:a.href=3 6:1:img.src=4"},
        /* a link comes after what is in it, from where it began */
        {"\n<a href=1>\n<img src=2></a>", "3:1:img.src=2 2:1:a.href=1"},
        {"\n\n<title>a\nb</title><base\n\nhref=x><link href=y>",
         "3:1:title=a b 4:10:base=x 6:8:link.href=y"},
    };

    EACH_ROW(i, rows)
        expect_with(&(sn_html_options){.want = ALL, .lines = true}, rows[i].page,
                    strlen(rows[i].page), rows[i].want);
}

static bool
add_anchor(void *user, const sn_html_event *e)
{
    char *got = user;
    size_t n = strlen(got);

    snprintf(got + n, 256 - n, "%u:%u %s=%.*s ", e->line, e->col,
             sn_html_attr_name(e->attr), SN_FMT(e->value));
    return true;
}

TEST(html_tells_ids_and_names_of_links)
{
    static const struct {
        const char *page, *want;
    } rows[] = {
        {"<p id=a><b ID='b&amp;c'>", "1:1 id=a 1:9 id=b&c "},
        {"<a name=x id=y href=z>", "1:1 id=y 1:1 name=x "},
        {"<input name=n><meta name=m content=c><img id=i src=s>", "1:38 id=i "},
        {"<p id=''><p id><template><p id=t></template></p id=e>", ""},
        {"<svg><g id=g><a name=n></svg>\n<script id=s>'<p id=no>'</script>",
         "1:6 id=g 1:14 name=n 2:1 id=s "},
    };

    EACH_ROW(i, rows) {
        sn_html t;
        char got[256] = "";

        sn_html_init(&t, &(sn_html_options){.want = SN_HTML_ANCHOR, .lines = true},
                     add_anchor, got);
        CHECK_EQ(sn_html_feed(&t, rows[i].page, strlen(rows[i].page)), SEINE_OK);
        CHECK_EQ(sn_html_end(&t), SEINE_OK);
        sn_html_fini(&t);
        CHECK_STR(got, rows[i].want);
    }
}

TEST(html_knows_its_names)
{
    for (int i = SN_TAG_OTHER + 1; i < SN_TAG_COUNT; i++) {
        char name[SN_HTML_NAME] = "";

        snprintf(name, sizeof name, "%s", sn_html_tag_name((sn_html_tag)i));
        CHECK_EQ(sn_html_find_tag(name, strlen(name)), i);
    }
    for (int i = SN_ATTR_OTHER + 1; i < SN_ATTR_COUNT; i++) {
        char name[SN_HTML_NAME] = "";

        snprintf(name, sizeof name, "%s", sn_html_attr_name((sn_html_attr)i));
        CHECK_EQ(sn_html_find_attr(name, strlen(name)), i);
    }
    CHECK_STR(sn_html_tag_name(SN_TAG_OTHER), "");
    CHECK_STR(sn_html_attr_name(SN_ATTR_OTHER), "");
}
