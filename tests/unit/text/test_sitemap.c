/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/sitemap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/codec.h"
#include "check.h"
#include "failing.h"

static sn_buf told;
static uint64_t enough = UINT64_MAX; /* entries after which it is */

static void
field(seine_view v)
{
    sn_buf_printf(&told, "|%.*s", v.ptr ? (int)v.len : 1, v.ptr ? v.ptr : "-");
}

static bool
on_entry(const seine_sitemap_entry *e, void *arg)
{
    seine_sitemap **s = arg;

    sn_buf_printf(&told, "%.*s", (int)e->loc.len, e->loc.ptr);
    if (e->lastmod.ptr || e->changefreq.ptr || e->priority >= 0) {
        field(e->lastmod);
        field(e->changefreq);
        sn_buf_printf(&told, "|%g", e->priority);
    }
    sn_buf_text(&told, e->is_map ? " map\n" : "\n");
    return seine_sitemap_count(*s) < enough;
}

static seine_sitemap *
make(const seine_sitemap_opts *opts)
{
    static seine_sitemap *s;

    s = NULL;
    if (!told.cap)
        sn_buf_init(&told, 8 << 20);
    CHECK_EQ(seine_sitemap_new(opts, on_entry, &s, &s), SEINE_OK);
    return s;
}

static seine_err
read_with(seine_sitemap *s, sn_str bytes, size_t piece)
{
    seine_err e = SEINE_OK;

    sn_buf_reset(&told);
    while (bytes.len > 0 && e == SEINE_OK) {
        size_t n = piece < bytes.len ? piece : bytes.len;

        e = seine_sitemap_feed(s, bytes.ptr, n);
        bytes = sn_str_slice(bytes, n, bytes.len);
    }
    return e == SEINE_OK ? seine_sitemap_end(s) : e;
}

/* What it tells: the kind, its entries, and the error if there is one. */
static const char *
read_in(sn_str bytes, size_t piece)
{
    static char out[4096];
    seine_sitemap *s = make(NULL);
    seine_err e = read_with(s, bytes, piece);
    seine_diag diag;

    snprintf(out, sizeof out, "%s\n%s%s", seine_sitemap_kind_name(seine_sitemap_what(s)),
             told.ptr && told.len > 0 ? told.ptr : "",
             e != SEINE_OK ? seine_err_name(e) : "");
    seine_sitemap_diag(s, &diag);
    CHECK((diag.text[0] != '\0') == (e != SEINE_OK));
    seine_sitemap_free(s);
    return out;
}

static const char *
read_all(const char *text)
{
    return read_in(sn_str_of(text), SIZE_MAX);
}

/* The example of sitemaps.org's protocol page, in its members. */
TEST(sitemap_gives_the_members_of_a_urlset)
{
    CHECK_STR(read_all("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                       "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n"
                       "<url><loc>http://e.example/</loc><lastmod>2005-01-01</lastmod>"
                       "<changefreq>monthly</changefreq><priority>0.8</priority></url>\n"
                       "<url>\n <loc>\n http://e.example/?a=1&amp;b=2 </loc>\n</url>"
                       "</urlset>\n"),
              "urlset\nhttp://e.example/|2005-01-01|monthly|0.8\n"
              "http://e.example/?a=1&b=2\n");
}

TEST(sitemap_tells_what_it_is)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"<sitemapindex><sitemap><loc>http://e/1.gz</loc><lastmod>2004</lastmod></"
         "sitemap>"
         "<sitemap><loc>http://e/2</loc></sitemap></sitemapindex>",
         "index\nhttp://e/1.gz|2004|-|-1 map\nhttp://e/2 map\n"},
        {"<rss version='2.0'><channel><link>http://e/</link><item><title>t</title>"
         "<link>http://e/a</link><guid>http://e/g</guid><pubDate>Mon, 06 Sep 2010 "
         "00:01:00 "
         "+0000</pubDate></item></channel></rss>",
         "rss\nhttp://e/a|Mon, 06 Sep 2010 00:01:00 +0000|-|-1\n"},
        {"<rdf:RDF xmlns='http://purl.org/rss/1.0/'><channel rdf:about='x'><link>http://e"
         "</link></channel><item><link>http://e/b</link></item></rdf:RDF>",
         "rss\nhttp://e/b\n"},
        {"<feed xmlns='http://www.w3.org/2005/Atom'><link href='http://e/'/><entry>"
         "<link href='http://e/edit' rel='edit'/><link rel='alternate' "
         "href='http://e/c'/>"
         "<link href='http://e/later'/><published>2003</published><updated>2005</updated>"
         "</entry><entry><updated>2006</updated><published>2004</published>"
         "<link href='d?x&amp;y'/></entry></feed>",
         "atom\nhttp://e/c|2005|-|-1\nd?x&y|2006|-|-1\n"},
        {"http://e/1\r\n\n  https://e/2  \n# no\nftp://e/3\nHTTP://e/4", /* no last end */
         "text\nhttp://e/1\nhttps://e/2\nHTTP://e/4\n"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(read_all(rows[i].text), rows[i].want);
}

TEST(sitemap_takes_elements_of_its_own_alone)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        /* the prefix of the root is that of the others */
        {"<s:urlset><s:url><s:loc>http://e/1</s:loc></s:url></s:urlset>",
         "urlset\nhttp://e/1\n"},
        {"<urlset><url><image:image><image:loc>http://e/i</image:loc></image:image>"
         "<image:loc>http://e/i</image:loc><loc>http://e/1</loc>"
         "<xhtml:link rel='alternate' href='http://e/de'/></url></urlset>",
         "urlset\nhttp://e/1\n"},
        {"<urlset><news><url><loc>http://e/1</loc></url></news></urlset>", "urlset\n"},
        {"<urlset><loc>http://e/1</loc></urlset>", "urlset\n"},
        {"<rss><channel><item><atom:link "
         "href='http://e/f'/><link>http://e/1</link></item>"
         "</channel></rss>",
         "rss\nhttp://e/1\n"},
        {"<feed><entry><source><link href='http://e/s'/></source></entry></feed>",
         "atom\n"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(read_all(rows[i].text), rows[i].want);
}

TEST(sitemap_lives_with_what_sites_write)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"\n\n <?xml version='1.0'?><urlset><url><loc>http://e/1</loc></url></urlset>",
         "urlset\nhttp://e/1\n"},
        {"\xef\xbb\xbf<urlset><url><loc>http://e/1</loc></url></urlset>",
         "urlset\nhttp://e/1\n"},
        {"\xef\xbb\xbfhttp://e/1\n", "text\nhttp://e/1\n"},
        {"<urlset "
         "xmlns='http://wrong/'><url><loc>http://e/?a&b</loc></url></urlset>junk<",
         "urlset\nhttp://e/?a&b\n"},
        {"<urlset><url><loc><![CDATA[http://e/?a&b]]></loc></url></urlset>",
         "urlset\nhttp://e/?a&b\n"},
        {"<URLSET><URL><LOC>http://e/1</LOC></URL></URLSET>", "urlset\nhttp://e/1\n"},
        {"<urlset><url><loc/><loc>http://e/1</loc><loc>http://e/2</loc></url>"
         "<url><lastmod>2005</lastmod></url></urlset>",
         "urlset\nhttp://e/1\n"}, /* the first that says something; none: no entry */
        {"<urlset><sitemap><loc>http://e/m</loc></sitemap></urlset>",
         "urlset\nhttp://e/m map\n"},
        {"<rss><channel><item><guid>http://e/g</guid></item><item>"
         "<guid isPermaLink='false'>7</guid></item></channel></rss>",
         "rss\nhttp://e/g\n"},
        {"<urlset/>", "urlset\n"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(read_all(rows[i].text), rows[i].want);
}

TEST(sitemap_reads_a_priority_between_0_and_1)
{
    static const struct {
        const char *text;
        double want;
    } rows[] = {{"0.0", 0},  {"1", 1},        {" 0.5\n", 0.5}, {"0.123456789", 0.123456},
                {"1.1", -1}, {"-0.1", -1},    {"high", -1},    {"", -1},
                {"0,5", -1}, {"1.00000", 1.0}};

    EACH_ROW(i, rows) {
        char text[200], want[200];

        snprintf(text, sizeof text,
                 "<urlset><url><loc>u</loc><changefreq>x</changefreq>"
                 "<priority>%s</priority></url></urlset>",
                 rows[i].text);
        snprintf(want, sizeof want, "urlset\nu|-|x|%g\n", rows[i].want);
        CHECK_STR(read_all(text), want);
    }
}

TEST(sitemap_that_breaks_gives_the_entries_before_and_the_error)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"<urlset><url><loc>http://e/1</loc></url><url><loc>http://e/2</loc>",
         "urlset\nhttp://e/1\nbad_xml"},
        {"<urlset><url><loc>http://e/1</loc></url><url><loc>1 < 2</loc></url></urlset>",
         "urlset\nhttp://e/1\nbad_xml"},
        {"<urlset><url><loc>http://e/1</url><url><loc>http://e/2</loc></url></urlset>",
         "urlset\nhttp://e/1\nhttp://e/2\nbad_xml"}, /* it can be seen what was meant */
        {"<!DOCTYPE x [<!ENTITY a 'b'>]><urlset/>", "none\nbad_xml"},
        {"<!doctype html><html><body>Not found", "none\nbad_xml"},
        {"<opml/>", "none\nbad_xml"},
        {"", "none\nbad_xml"},
        {"Not found\n", "none\nbad_xml"},
        {"<?xml version='1.0' encoding='x-unheard-of'?><urlset/>", "none\nbad_charset"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(read_all(rows[i].text), rows[i].want);
}

TEST(sitemap_says_in_which_line_it_breaks)
{
    seine_sitemap *s = make(NULL);
    seine_diag diag;

    CHECK_EQ(read_with(s, SN_STR("\n<urlset>\n\n<url></b></url>\n</urlset>"), 1),
             SEINE_E_BAD_XML);
    seine_sitemap_diag(s, &diag);
    CHECK_STR(diag.text, "an end tag without its start");
    CHECK_EQ(diag.line, 4);
    seine_sitemap_free(s);
}

TEST(sitemap_reads_the_encoding_that_the_file_declares)
{
    static const struct {
        const char *name, *bytes, *want;
    } rows[] = {
        {"ISO-8859-1", "\xe9\xff", "\xc3\xa9\xc3\xbf"},
        {"windows-1251", "\xff", "\xd1\x8f"},
        {"Shift_JIS", "\x82\xa0", "\xe3\x81\x82"},
        {"UTF-8", "\xc3\xa9", "\xc3\xa9"},
        {"UTF-16", "\xc3\xa9", "\xc3\xa9"}, /* it could not be read if it were */
    };

    EACH_ROW(i, rows) {
        char text[256], want[64];

        snprintf(text, sizeof text,
                 "<?xml version=\"1.0\" encoding='%s' ?>"
                 "<urlset><url><loc>http://e/%s</loc></url></urlset>",
                 rows[i].name, rows[i].bytes);
        snprintf(want, sizeof want, "urlset\nhttp://e/%s\n", rows[i].want);
        for (size_t piece = 1; piece < 120; piece += 7)
            CHECK_STR(read_in(sn_str_of(text), piece), want);
    }
}

TEST(sitemap_reads_utf_16_with_its_mark_or_without)
{
    static const char text[] = "<?xml version='1.0' encoding='UTF-16'?>\n<urlset><url>"
                               "<loc>http://e/1</loc></url></urlset>";
    char wide[2 + 2 * sizeof text];

    for (int row = 0; row < 4; row++) {
        bool is_big = row & 1, has_mark = row & 2;
        size_t n = 0;

        if (has_mark) {
            wide[n++] = is_big ? '\xfe' : '\xff';
            wide[n++] = is_big ? '\xff' : '\xfe';
        }
        for (size_t i = 0; i < sizeof text - 1; i++) {
            wide[n++] = is_big ? '\0' : text[i];
            wide[n++] = is_big ? text[i] : '\0';
        }
        for (size_t piece = 1; piece < 300; piece += 13)
            CHECK_STR(read_in((sn_str){wide, n}, piece), "urlset\nhttp://e/1\n");
    }
}

/* Packs the text; the caller frees it. */
static sn_str
packed(sn_str text, size_t room)
{
    sn_codec c;
    char *out = malloc(room);
    sn_codec_room to = {out, room};

    sn_codec_init(&c, &(sn_codec_opts){.way = SN_CODEC_ENCODE});
    CHECK_EQ(sn_codec_begin(&c, SN_CODEC_GZIP), SEINE_OK);
    CHECK_EQ(sn_codec_step(&c, &text, &to, true), SN_CODEC_END);
    sn_codec_fini(&c);
    return (sn_str){out, room - to.len};
}

static const char short_text[] =
    "<?xml version='1.0'?><urlset><url><loc>http://e/1&amp;2</loc><lastmod>2005</lastmod>"
    "</url><url><loc><![CDATA[http://e/3]]></loc></url></urlset>\n";

TEST(sitemap_reads_a_gzip_by_its_magic_in_pieces_of_any_size)
{
    static const char want[] = "urlset\nhttp://e/1&2|2005|-|-1\nhttp://e/3\n";
    sn_str text = {short_text, sizeof short_text - 1}, gz = packed(text, 4096);

    for (size_t piece = 1; piece < 200; piece++) {
        CHECK_STR(read_in(text, piece), want);
        CHECK_STR(read_in(gz, piece), want);
    }
    free((char *)(uintptr_t)gz.ptr);
}

TEST(sitemap_reads_members_of_gzip_as_one_and_ignores_what_is_behind)
{
    sn_str a = packed(SN_STR("http://e/1\nhttp://e"), 256),
           b = packed(SN_STR("/2\n"), 256);
    char all[600];

    memcpy(all, a.ptr, a.len);
    memcpy(all + a.len, b.ptr, b.len);
    memcpy(all + a.len + b.len, "junk", 4);
    CHECK_STR(read_in((sn_str){all, a.len + b.len + 4}, 7),
              "text\nhttp://e/1\nhttp://e/2\n");
    free((char *)(uintptr_t)a.ptr);
    free((char *)(uintptr_t)b.ptr);
}

TEST(sitemap_names_a_gzip_that_is_damaged_or_cut)
{
    sn_str gz = packed(SN_STR("http://e/1\nhttp://e/2\n"), 256);
    char all[256];

    memcpy(all, gz.ptr, gz.len);
    CHECK_STR(read_in((sn_str){all, gz.len - 1}, 5),
              "text\nhttp://e/1\nhttp://e/2\nbody_truncated");
    all[gz.len - 6] ^= 1; /* its checksum */
    CHECK_STR(read_in((sn_str){all, gz.len}, 5),
              "text\nhttp://e/1\nhttp://e/2\nbad_encoding");
    CHECK_STR(read_in((sn_str){"\x1f\x8b", 2}, 1), "none\nbody_truncated");
    CHECK_STR(read_in((sn_str){"\x1f", 1}, 1), "none\nbad_xml");
    free((char *)(uintptr_t)gz.ptr);
}

/* A gzip bomb ends at 1 MiB with a ratio above 200 : 1. */
TEST(sitemap_ends_a_gzip_bomb)
{
    size_t n = (size_t)8 << 20;
    char *text = malloc(n);

    memset(text, ' ', n);
    memcpy(text, "<urlset>", 8);
    sn_str gz = packed((sn_str){text, n}, 1 << 20);
    seine_sitemap *s = make(NULL);
    CHECK(gz.len * 200 < n);
    CHECK_EQ(read_with(s, gz, 512), SEINE_E_BODY_TOO_LARGE);
    seine_sitemap_free(s);
    free(text);
    free((char *)(uintptr_t)gz.ptr);
}

TEST(sitemap_reads_so_many_urls_and_notes_that_there_are_more)
{
    seine_sitemap *s =
        make(&(seine_sitemap_opts){.size = sizeof(seine_sitemap_opts), .max_urls = 2});

    CHECK_EQ(read_with(s, SN_STR("http://e/1\nhttp://e/2\n"), 3), SEINE_OK);
    CHECK_EQ(seine_sitemap_notes(s), 0);
    seine_sitemap_reset(s);
    CHECK_EQ(read_with(s, SN_STR("http://e/1\nhttp://e/2\nhttp://e/3\n"), 3), SEINE_OK);
    CHECK_EQ(seine_sitemap_notes(s), SEINE_SITEMAP_CAPPED);
    CHECK_EQ(seine_sitemap_count(s), 2);
    CHECK_STR(seine_sitemap_note_name(0), "sitemap_capped");
    CHECK(!seine_sitemap_note_name(1));
    seine_sitemap_reset(s);
    CHECK_EQ(seine_sitemap_notes(s), 0);
    seine_sitemap_free(s);
}

TEST(sitemap_reads_50_000_urls_unless_told_otherwise)
{
    seine_sitemap *s = make(NULL);
    seine_err e = SEINE_OK;

    sn_buf_reset(&told);
    for (int i = 0; i < 50001 && e == SEINE_OK; i++)
        e = seine_sitemap_feed(s, "http://e/\n", 10);
    CHECK_EQ(e, SEINE_OK);
    CHECK_EQ(seine_sitemap_end(s), SEINE_OK);
    CHECK_EQ(seine_sitemap_count(s), 50000);
    CHECK_EQ(seine_sitemap_notes(s), SEINE_SITEMAP_CAPPED);
    seine_sitemap_free(s);
}

/* 40 bytes hold the first entry; elements left open at the cap are no error. */
TEST(sitemap_reads_so_many_bytes_and_notes_that_there_are_more)
{
    static const char text[] = "<urlset><url><loc>http://e/1</loc></url>"
                               "<url><loc>http://e/2</loc></url></urlset>";

    for (size_t piece = 1; piece < sizeof text; piece++) {
        seine_sitemap *s = make(
            &(seine_sitemap_opts){.size = sizeof(seine_sitemap_opts), .max_bytes = 40});

        CHECK_EQ(read_with(s, (sn_str){text, sizeof text - 1}, piece), SEINE_OK);
        CHECK_STR(told.ptr, "http://e/1\n");
        CHECK_EQ(seine_sitemap_notes(s), SEINE_SITEMAP_CAPPED);
        seine_sitemap_free(s);
    }
}

TEST(sitemap_stops_when_it_is_enough)
{
    seine_sitemap *s = make(NULL);

    enough = 1;
    CHECK_EQ(read_with(s,
                       SN_STR("<urlset><url><loc>1</loc></url><url><loc>2</loc></url>"
                              "< broken"),
                       SIZE_MAX),
             SEINE_OK);
    CHECK_STR(told.ptr, "1\n");
    CHECK_EQ(seine_sitemap_notes(s), 0);
    enough = UINT64_MAX;
    seine_sitemap_free(s);
}

TEST(sitemap_passes_over_a_line_that_is_too_long_for_a_url)
{
    char *text = malloc(9000);
    seine_sitemap *s = make(NULL);

    memset(text, 'x', 8999);
    memcpy(text, "http://e/", 9);
    text[8193] = '\n';
    memcpy(text + 8194, "http://e/2\n", 11);
    CHECK_EQ(read_with(s, (sn_str){text, 8205}, 100), SEINE_OK);
    CHECK_STR(told.ptr, "http://e/2\n");
    seine_sitemap_free(s);
    free(text);
}

TEST(sitemap_does_not_look_for_urls_for_ever)
{
    seine_sitemap *s = make(NULL);
    char junk[1024];
    int n = 0;

    memset(junk, '\x01', sizeof junk);
    while (n < 1000 && seine_sitemap_feed(s, junk, sizeof junk) == SEINE_OK)
        n++;
    CHECK_EQ(n, 64);
    seine_sitemap_free(s);
}

TEST(sitemap_lives_with_any_lack_of_memory)
{
    sn_str gz = packed(SN_STR("http://e/1\n"), 256);

    FAIL_EACH(n)
    {
        seine_sitemap *s = NULL;
        seine_err e = seine_sitemap_new(NULL, on_entry, &s, &s);

        if (e == SEINE_OK)
            e = seine_sitemap_feed(s, gz.ptr, gz.len);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        seine_sitemap_free(s);
    }
    free((char *)(uintptr_t)gz.ptr);
}

TEST(sitemap_says_in_one_line_what_is_wrong_and_where)
{
    static const struct {
        const char *text, *flaw;
    } rows[] = {
        {"<urlset>\n<url>", "bad_xml: line 2: it ends too early"},
        {"nothing", "bad_xml: neither XML nor a list of URLs"},
    };

    EACH_ROW(i, rows) {
        seine_sitemap *s = NULL;
        char flaw[80], little[8];

        CHECK_EQ(seine_sitemap_new(NULL, NULL, NULL, &s), SEINE_OK);
        seine_err e = seine_sitemap_feed(s, rows[i].text, strlen(rows[i].text));
        if (e == SEINE_OK)
            e = seine_sitemap_end(s);
        CHECK_EQ(e, SEINE_E_BAD_XML);
        CHECK_EQ(seine_sitemap_flaw(s, e, flaw, sizeof flaw), strlen(rows[i].flaw));
        CHECK_STR(flaw, rows[i].flaw);
        CHECK_EQ(seine_sitemap_flaw(s, e, little, sizeof little), strlen(rows[i].flaw));
        CHECK_STR(little, "bad_xml");
        seine_sitemap_free(s);
    }
}
