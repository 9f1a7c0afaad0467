/* SPDX-License-Identifier: Apache-2.0 */
#include "text/xml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/rng.h"
#include "check.h"

static sn_buf told;
static sn_xml xml;

/* Logs all events; wants everything except inside <skip>. */
static sn_xml_answer
note(const sn_xml_event *e, void *arg)
{
    bool *stop = arg;
    uint8_t role = sn_str_eq(e->name, SN_STR("skip")) ? 2 : 1;

    switch (e->what) {
    case SN_XML_OPEN:
        sn_buf_printf(&told, "<%u:", e->depth);
        if (e->prefix.len > 0)
            sn_buf_printf(&told, "{%.*s}", SN_FMT(e->prefix));
        sn_buf_str(&told, e->name);
        break;
    case SN_XML_ATTR:
        sn_buf_printf(&told, " %.*s=[%.*s]", SN_FMT(e->name), SN_FMT(e->value));
        break;
    case SN_XML_CLOSE:
        sn_buf_str(&told, SN_STR(">"));
        sn_buf_str(&told, e->value);
        break;
    }
    bool is_leaf = sn_str_eq(e->name, SN_STR("t"));
    return (sn_xml_answer){.role = role,
                           .text = is_leaf,
                           .attrs = role == 1,
                           .stop = stop && sn_str_eq(e->name, SN_STR("stop"))};
}

/* Returns the events of a text that is fed in pieces, followed by the error. */
static const char *
read_in(sn_str text, size_t piece)
{
    static bool yes = true;
    seine_err e = SEINE_OK;

    if (!told.cap)
        sn_buf_init(&told, 1 << 20);
    sn_buf_reset(&told);
    sn_xml_init(&xml, note, &yes);
    while (text.len > 0 && e == SEINE_OK) {
        size_t n = piece < text.len ? piece : text.len;

        e = sn_xml_feed(&xml, (sn_str){text.ptr, n});
        text = sn_str_slice(text, n, text.len);
    }
    if (e == SEINE_OK)
        e = sn_xml_end(&xml);
    if (e != SEINE_OK)
        sn_buf_printf(&told, " %s: %s", seine_err_name(e), xml.flaw);
    return told.ptr ? told.ptr : "";
}

static const char *
read_all(const char *text)
{
    return read_in(sn_str_of(text), SIZE_MAX);
}

TEST(xml_tells_elements_their_attributes_and_their_text)
{
    CHECK_STR(read_all("<?xml version='1.0'?>\n<a x='1' y=\"2\"><t>hello</t><b/></a>"),
              "<1:a x=[1] y=[2]<2:t>hello<2:b>>");
}

TEST(xml_reads_what_the_recommendation_allows)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"<t>&amp;&lt;&gt;&quot;&apos;</t>", "<1:t>&<>\"'"},
        {"<t>&#65;&#x42;&#xe9;&#x20AC;&#x1F600;</t>",
         "<1:t>AB\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"<a v='&lt;&#38;'/>", "<1:a v=[<&]>"},
        {"<t>a<![CDATA[<b>&amp;]]]]><![CDATA[>]]>c</t>", "<1:t>a<b>&amp;]]>c"},
        {"<t>a<!-- - -- > <b> -->c</t>", "<1:t>ac"},
        {"<t>a<?php echo '?'; ?"
         "?>c</t>",
         "<1:t>ac"},
        {"<!DOCTYPE a SYSTEM \"[>]\"><t/>", "<1:t>"},
        {"<x:a xmlns:x='u'><x:t>1</x:t></x:a>", "<1:{x}a x=[u]<2:{x}t>1>"},
        {"<a\n b\t=\r'1'\n>\n</a\n>", "<1:a b=[1]>"},
        {"<t>out<b>in</b>side</t>", "<1:t<2:b>>outside"},
        {"<t><t>x</t>y</t>", "<1:t<2:t>>y"}, /* one text at a time, the outer one */
        {"<a><skip q='1'>w</skip></a>", "<1:a<2:skip>>"},
        {"<\xc3\xa9/>", "<1:\xc3\xa9>"},
        {"<t>a\r\nb</t><!-- behind --> ", "<1:t>a\r\nb"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(read_all(rows[i].text), rows[i].want);
}

TEST(xml_reads_sloppy_files_as_they_were_meant)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"<t>?a=1&b=2&</t>", "<1:t>?a=1&b=2&"},
        {"<t>&nbsp;&#x;&#;&;&#xzz;</t>", "<1:t>&nbsp;&#x;&#;&;&#xzz;"},
        {"<t>&abcdefghijklmno;</t>", "<1:t>&abcdefghijklmno;"}, /* longer than any */
        {"<t>&&amp;&amp</t>", "<1:t>&&&amp"},
        {"<t>&#0;&#xD800;&#x110000;</t>", "<1:t>\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},
        {"<a b=c d e='f'/>", "<1:a b=[c] e=[f]>"},
        {"<a b=x&amp;y>\n</a>", "<1:a b=[x&y]>"},
        {"<a></a> junk <b>", "<1:a>"},
        {"<a / b='1'></a>", "<1:a b=[1]>"},
        {"<stop>< & nothing of this counts", "<1:stop"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(read_all(rows[i].text), rows[i].want);
}

TEST(xml_goes_on_behind_tags_that_do_not_fit_and_says_so_at_the_end)
{
    CHECK_STR(read_all("<a>\n<b>\n<t>x</b><t>y</t></a>"),
              "<1:a<2:b<3:t>x><2:t>y> bad_xml: an element is not closed");
    CHECK_EQ(xml.flaw_line, 3);
    CHECK_STR(read_all("<a></b><t>y</t></a>"),
              "<1:a<2:t>y> bad_xml: an end tag without its start");
}

TEST(xml_names_what_breaks_a_file)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"", " bad_xml: there is no element"},
        {"<!-- x -->", " bad_xml: there is no element"},
        {"x<a/>", " bad_xml: text before the first element"},
        {"<![CDATA[x]]><a/>", " bad_xml: text before the first element"},
        {"<!DOCTYPE a [<!ENTITY x 'y'>]><a/>",
         " bad_xml: a DOCTYPE with a subset of its own"},
        {"<!ENTITY x 'y'><a/>", " bad_xml: <! that begins nothing"},
        {"<a>1 < 2</a>", "<1:a bad_xml: a < that begins nothing"},
        {"<a></>", "<1:a bad_xml: </ that ends nothing"},
        {"<a></a b>", "<1:a bad_xml: an end tag that does not end"},
        {"<a <b/>", "<1:a bad_xml: a tag that does not end"},
        {"<a b=<c/>", "<1:a bad_xml: a tag that does not end"},
        {"<a", " bad_xml: it ends too early"},
        {"<a><t>x", "<1:a<2:t bad_xml: it ends too early"},
        {"<a><!-- ", "<1:a bad_xml: it ends too early"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(read_all(rows[i].text), rows[i].want);
}

TEST(xml_is_the_same_in_pieces_of_any_size)
{
    static const char text[] =
        "<?xml version=\"1.0\"?><!DOCTYPE a SYSTEM 'b'><!-- c - -- d --><n:a "
        "x='&amp;&#65;' "
        "y = z><t>1&amp;2&#x20ac;&nope;&</t><![CDATA[ ]] ]]>\n<b/><t><![CDATA[]]]>&lt;]]>"
        "</t></q></n:a>behind";
    sn_str all = {text, sizeof text - 1};
    char whole[512];

    snprintf(whole, sizeof whole, "%s", read_in(all, SIZE_MAX));
    CHECK(strstr(whole, "<2:t>1&2\xe2\x82\xac&nope;&<2:b><2:t>]<]]>") != NULL);
    for (size_t piece = 1; piece < sizeof text; piece++)
        CHECK_STR(read_in(all, piece), whole);
}

/* `n` times `what`. */
static char *
many(const char *what, size_t n)
{
    size_t len = strlen(what);
    char *all = malloc(n * len + 1);

    for (size_t i = 0; i < n; i++)
        memcpy(all + i * len, what, len);
    all[n * len] = '\0';
    return all;
}

TEST(xml_opens_64_elements_and_no_more)
{
    char *open = many("<a>", 64), *shut = many("</a>", 64), text[600];

    snprintf(text, sizeof text, "%s%s", open, shut);
    CHECK(strstr(read_all(text), "bad_xml") == NULL);
    snprintf(text, sizeof text, "%s<b/>%s", open, shut);
    CHECK(strstr(read_all(text), "bad_xml: more than 64 elements are open") != NULL);
    free(open);
    free(shut);
}

TEST(xml_keeps_8_KiB_of_a_text_that_is_wanted_and_no_more)
{
    char *most = many("x", 8192), *text = malloc(9000);

    snprintf(text, 9000, "<t>%s</t>", most);
    CHECK_EQ(strlen(read_all(text)), 5 + 8192);
    snprintf(text, 9000, "<t>%sy</t>", most);
    CHECK_STR(read_all(text), "<1:t bad_xml: a text of more than 8 KiB");
    snprintf(text, 9000, "<t>%s&amp;</t>", most);
    CHECK_STR(read_all(text), "<1:t bad_xml: a text of more than 8 KiB");
    snprintf(text, 9000, "<skip>%sy</skip>", most); /* nobody asked for it */
    CHECK_STR(read_all(text), "<1:skip>");
    snprintf(text, 9000, "<a v='%sy'/>", most);
    CHECK_STR(read_all(text), "<1:a bad_xml: a value of more than 8 KiB");
    snprintf(text, 9000, "<skip v='%sy'/>", most);
    CHECK_STR(read_all(text), "<1:skip>");
    free(most);
    free(text);
}

TEST(xml_knows_names_of_256_bytes_and_no_more)
{
    char *most = many("n", 256), text[600];

    snprintf(text, sizeof text, "<%s/>", most);
    CHECK_EQ(strlen(read_all(text)), 3 + 256 + 1);
    snprintf(text, sizeof text, "<%sn/>", most);
    CHECK_STR(read_all(text), " bad_xml: a name of more than 256 bytes");
    free(most);
}

/* The worst that each state can be made to do. */
TEST(xml_takes_at_most_16_steps_a_byte)
{
    static const char *const rows[] = {
        "<a>",     "<a/>",  "</a>",          "<a></b>", "&",
        "&;",      "&a",    "&aaaaaaaaaaaa", "<!-",     "<!---->",
        "-",       "]",     "<![CDATA[]",    "<?",      "?",
        "<a b=c ", "<a b",  "<a b='&'",      "<a b=&",  "<!",
        "\n",      "<t>&l", "<a></",         ">",
    };

    EACH_ROW(i, rows) {
        char *body = many(rows[i], 3000), *all = malloc(strlen(body) + 400);
        char *deep = many("<z>", 60);

        snprintf(all, strlen(body) + 400, "<r>%s<t q=%s", i % 2 ? deep : "", body);
        read_all(all);
        CHECK(xml.steps <= 16 * strlen(all) + 4096);
        snprintf(all, strlen(body) + 400, "%s<t>%s", deep, body);
        read_all(all);
        CHECK(xml.steps <= 16 * strlen(all) + 4096);
        free(deep);
        free(all);
        free(body);
    }
}

TEST(xml_of_random_marks_is_the_same_in_pieces_and_within_its_steps)
{
    static const char *const words[] = {
        "<a>", "</a>",      "<t>", "</t>", "<b x='",    "'",   "\"", ">",
        "/>",  "<!--",      "-->", "-",    "<![CDATA[", "]]>", "]",  "<?",
        "?>",  "&amp;",     "&#",  "38;",  "&",         "x",   " ",  "\n",
        "=",   "<!DOCTYPE", "<",   "skip", ":",         "\xff"};
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 3000; round++) {
        char text[256] = "<a>", whole[2048];
        size_t len = 3, n = 1 + sn_rng_below(&rng, 25);

        while (n-- > 0) {
            const char *w = words[sn_rng_below(&rng, sizeof words / sizeof *words)];

            memcpy(text + len, w, strlen(w) + 1);
            len += strlen(w);
        }
        snprintf(whole, sizeof whole, "%s", read_all(text));
        CHECK(xml.steps <= 16 * len + 4096);
        CHECK_STR(read_in(sn_str_of(text), 1 + sn_rng_below(&rng, 7)), whole);
    }
}
