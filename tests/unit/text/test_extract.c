/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/extract.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "check.h"
#include "failing.h"
#include "seine/plumbing.h"

typedef struct asked {
    seine_extract_what what;
    const char *text;
} asked;

#define CSS(text)               \
    {                           \
        SEINE_EXTRACT_CSS, text \
    }
#define POINTER(text)               \
    {                               \
        SEINE_EXTRACT_POINTER, text \
    }
#define META(text)               \
    {                            \
        SEINE_EXTRACT_META, text \
    }
#define END                     \
    {                           \
        SEINE_EXTRACT_CSS, NULL \
    }
#define NONE    \
    {           \
        NULL, 0 \
    }

static seine_view
view(const char *text)
{
    return text ? (seine_view){text, strlen(text)} : (seine_view)NONE;
}

static seine_extract *
fields_of(const asked *list)
{
    seine_extract *x = NULL;
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(seine_extract_new(&x), SEINE_OK);
    for (; list->text || list->what != SEINE_EXTRACT_CSS; list++)
        if (seine_extract_add(x, list->what, list->text, &diag) != SEINE_OK)
            check_fail(__FILE__, __LINE__, "%s: %s", list->text ? list->text : "",
                       diag.text);
    return x;
}

/* The data of a page as text; "-": it has none. */
static seine_err
read_page(const asked *list, const seine_extract_page *page, char **out_data)
{
    seine_extract *x = fields_of(list);
    seine_extractor *r = NULL;
    seine_view data = NONE;

    CHECK_EQ(seine_extractor_new(x, &r), SEINE_OK);
    seine_err e = seine_extractor_read(r, page, &data);
    size_t n = data.ptr ? data.len : 1;
    *out_data = malloc(n + 1);
    memcpy(*out_data, data.ptr ? data.ptr : "-", n);
    (*out_data)[n] = '\0';
    seine_extractor_free(r);
    seine_extract_free(x);
    return e;
}

static void
check_data(const asked *list, const char *type, const char *body, const char *want)
{
    seine_extract_page page = SEINE_EXTRACT_PAGE;
    char *data;

    page.body = view(body);
    page.content_type = view(type);
    page.url = view("http://e.example/dir/page");
    CHECK_EQ(read_page(list, &page, &data), SEINE_OK);
    CHECK_STR(data, want);
    free(data);
}

TEST(extract_gives_every_match_in_the_order_of_the_fields)
{
    static const struct {
        asked fields[4];
        const char *html, *want;
    } rows[] = {
        {{CSS("p"), END}, "<p>a<p>b", "{\"p\":[\"a\",\"b\"]}"},
        {{CSS("two=i"), CSS("one=b"), END},
         "<b>1</b><i>2</i>",
         "{\"two\":[\"2\"],\"one\":[\"1\"]}"},
        {{CSS("none=q"), END}, "<p>a", "{\"none\":[]}"},
        /* the text is that of one line, blanks collapsed */
        {{CSS("div"), END}, "<div> a\n b<p>c</div>", "{\"div\":[\"a b c\"]}"},
        /* scripts are not seen */
        {{CSS("div@text"), END}, "<div>a<script>b</script></div>", "{\"div\":[\"a\"]}"},
        {{CSS("p@html"), END}, "<p>a<b>c</b>", "{\"p\":[\"<p>a<b>c</b></p>\"]}"},
        /* an element without the attribute is no match */
        {{CSS("a@title"), END}, "<a>1</a><a title=t>2</a>", "{\"a\":[\"t\"]}"},
        /* what ends in @ and a name is no selector, so an address in a value is one */
        {{CSS("a[title='x@y']"), END},
         "<a title=x@y>1</a>",
         "{\"a[title='x@y']\":[\"1\"]}"},
        /* an escaped @ belongs to the selector, one after an escaped backslash does not
         */
        {{CSS("x=a\\@b"), END}, "<a@b>1</a@b>", "{\"x\":[\"1\"]}"},
        {{CSS("x=a\\@b@c"), END}, "<a@b c=2>1</a@b>", "{\"x\":[\"2\"]}"},
        {{CSS("x=a\\\\@b"), END}, "<a\\ b=2>1</a\\>", "{\"x\":[\"2\"]}"},
        /* quotes, control characters and other scripts */
        {{CSS("p"), END},
         "<p>\"\\\x7f\xc3\xa4\xe2\x80\xa8"
         "b",
         "{\"p\":[\"\\\"\\\\\\u007f\xc3\xa4\\u2028b\"]}"},
    };

    EACH_ROW(i, rows)
        check_data(rows[i].fields, "text/html", rows[i].html, rows[i].want);
}

TEST(extract_resolves_attributes_that_are_urls)
{
    static const struct {
        const char *css, *html, *want;
    } rows[] = {
        {"a@href", "<a href=x>", "{\"a\":[\"http://e.example/dir/x\"]}"},
        {"img@src", "<img src=/x>", "{\"img\":[\"http://e.example/x\"]}"},
        /* the first base counts, wherever it stands */
        {"a@href", "<a href=x></a><base href=/b/><base href=/c/>",
         "{\"a\":[\"http://e.example/b/x\"]}"},
        /* one that no page may have does not count */
        {"a@href", "<base href='data:,'><a href=x>",
         "{\"a\":[\"http://e.example/dir/x\"]}"},
        /* what is no URL stays as it is */
        {"a@href", "<a href='http://[x'>", "{\"a\":[\"http://[x\"]}"},
        {"a@name", "<a name=x>", "{\"a\":[\"x\"]}"},
    };

    EACH_ROW(i, rows) {
        asked fields[] = {CSS(rows[i].css), END};

        check_data(fields, "text/html", rows[i].html, rows[i].want);
    }
}

TEST(extract_reads_metas_json_ld_and_text)
{
    static const struct {
        asked fields[3];
        const char *html, *want;
    } rows[] = {
        {{META("description"), END},
         "<meta name=Description content=d>",
         "{\"description\":[\"d\"]}"},
        {{META("og:title"), END},
         "<meta property=og:title content=1><meta property=og:title content=2>",
         "{\"og:title\":[\"1\",\"2\"]}"},
        {{META(NULL), END},
         "<meta name=a content=b>",
         "{\"meta\":[{\"name\":\"a\",\"content\":\"b\"}]}"},
        {{{SEINE_EXTRACT_JSONLD, NULL}, END},
         "<script type=application/ld+json>{\"a\": 1}</script>"
         "<script type=application/ld+json>{oops</script>",
         "{\"jsonld\":[{\"a\":1},\"{oops\"]}"},
        {{{SEINE_EXTRACT_TEXT, NULL}, END},
         "<title>t</title><p>a<p>b",
         "{\"text\":\"a\\nb\"}"},
        /* with a tree and without one they are the same */
        {{META("a"), CSS("p"), END},
         "<meta name=a content=b><p>x",
         "{\"a\":[\"b\"],\"p\":[\"x\"]}"},
    };

    EACH_ROW(i, rows)
        check_data(rows[i].fields, "text/html", rows[i].html, rows[i].want);
}

TEST(extract_reads_json_by_pointers)
{
    static const struct {
        asked fields[3];
        const char *json, *want;
    } rows[] = {
        {{POINTER("id=/a/b"), END}, "{\"a\":{\"b\":7}}", "{\"id\":[7]}"},
        {{POINTER("/a/-/b"), END},
         "{\"a\":[{\"b\":1},{},{\"b\":\"x\"}]}",
         "{\"/a/-/b\":[1,\"x\"]}"},
        {{POINTER("n=/no"), POINTER("all="), END}, "[1]", "{\"n\":[],\"all\":[[1]]}"},
        /* a byte order mark is no part of the text */
        {{POINTER("a=/a"), END}, "\xef\xbb\xbf{\"a\":null}", "{\"a\":[null]}"},
    };

    EACH_ROW(i, rows)
        check_data(rows[i].fields, "application/json", rows[i].json, rows[i].want);
}

TEST(extract_knows_pages_by_their_type_and_their_first_byte)
{
    static const struct {
        const char *type, *body, *want;
    } rows[] = {
        {"text/html", "{\"a\":1}", "{\"p\":[]}"},
        {"application/xhtml+xml", "<p>x</p>", "{\"p\":[\"x\"]}"},
        {"application/json", "{\"a\":1}", "{\"a\":[1]}"},
        {"application/vnd.api+json", "{\"a\":1}", "{\"a\":[1]}"},
        {"text/json", "{\"a\":1}", "{\"a\":[1]}"},
        /* as servers of raw files say */
        {"text/plain", " {\"a\":1}", "{\"a\":[1]}"},
        {"text/plain", "words", "-"},
        {"text/plain", "<p>x</p>", "-"},
        {NULL, "\n<p>x</p>", "{\"p\":[\"x\"]}"},
        {NULL, "{\"a\":1}", "{\"a\":[1]}"},
        {NULL, "", "-"},
        {"application/pdf", "<p>x</p>", "-"},
        {"text/css", "p{}", "-"},
    };
    static const asked fields[] = {CSS("p"), POINTER("a=/a"), END};

    EACH_ROW(i, rows)
        check_data(fields, rows[i].type, rows[i].body, rows[i].want);
}

TEST(extract_takes_only_types_that_its_fields_are_for)
{
    static const asked css[] = {CSS("p"), END}, pointer[] = {POINTER("/a"), END};
    static const struct {
        const char *type;
        bool css, pointer;
    } rows[] = {
        {"text/html", true, false},        {"application/xhtml+xml", true, false},
        {"application/json", false, true}, {"application/ld+json", false, true},
        {"text/plain", false, true},       {NULL, true, true},
        {"application/pdf", false, false}, {"image/png", false, false},
    };
    seine_extract *c = fields_of(css), *p = fields_of(pointer);

    EACH_ROW(i, rows) {
        size_t n = rows[i].type ? strlen(rows[i].type) : 0;

        CHECK_EQ(seine_extract_takes(c, rows[i].type, n), rows[i].css);
        CHECK_EQ(seine_extract_takes(p, rows[i].type, n), rows[i].pointer);
    }
    seine_extract_free(c);
    seine_extract_free(p);
}

TEST(extract_decodes_the_page_first)
{
    static const struct {
        const char *label, *type, *body;
    } rows[] = {
        {"iso-8859-1", "text/html", "<p>\xe4</p>"},
        {NULL, "text/html", "<meta charset=windows-1251><p>\xe4</p>"},
        {NULL, "text/html", "<p>\xe4</p>"},
        {NULL, "text/html", "<p>\xc3\xa4</p>"},
        {"utf-8", "text/html", "<p>\xe4</p>"},
        {NULL, "application/xhtml+xml", "<p>\xe4</p>"},
        {"shift_jis", "text/html", "<p>\x83\x65</p>"},
    };
    static const char *const want[] = {"\xc3\xa4",    "\xd0\xb4",     "\xc3\xa4",
                                       "\xc3\xa4",    "\xef\xbf\xbd", "\xef\xbf\xbd",
                                       "\xe3\x83\x86"};
    static const asked fields[] = {CSS("p"), END};

    EACH_ROW(i, rows) {
        seine_extract_page page = SEINE_EXTRACT_PAGE;
        char *data, text[64];

        page.body = view(rows[i].body);
        page.content_type = view(rows[i].type);
        page.charset = view(rows[i].label);
        CHECK_EQ(read_page(fields, &page, &data), SEINE_OK);
        snprintf(text, sizeof text, "{\"p\":[\"%s\"]}", want[i]);
        CHECK_STR(data, text);
        free(data);
    }
}

TEST(extract_decodes_json_of_another_charset)
{
    static const asked fields[] = {POINTER("a=/a"), END};
    static const char utf16[] = "\xff\xfe{\0\"\0a\0\"\0:\0\"\0\xe4\0\"\0}\0";
    seine_extract_page page = SEINE_EXTRACT_PAGE;
    char *data;

    page.content_type = view("application/json");
    page.body = (seine_view){utf16, sizeof utf16 - 1};
    CHECK_EQ(read_page(fields, &page, &data), SEINE_OK);
    CHECK_STR(data, "{\"a\":[\"\xc3\xa4\"]}");
    free(data);
    page.body = view("{\"a\":\"\xe4\"}");
    page.charset = view("latin1");
    CHECK_EQ(read_page(fields, &page, &data), SEINE_OK);
    CHECK_STR(data, "{\"a\":[\"\xc3\xa4\"]}");
    free(data);
}

TEST(extract_refuses_fields_and_says_why)
{
    static const struct {
        asked field;
        const char *why;
        uint64_t column;
    } rows[] = {
        {CSS("x=p["), "expected an attribute name after '['", 3},
        {POINTER("a/b"),
         "'a/b' is no JSON pointer: it begins with / and has ~ only in ~0 and ~1", 0},
        /* SQLite and people do not tell these names apart */
        {CSS("PRICE=b"), "a field of the name 'PRICE' is there already", 0},
        {META("price"), "a field of the name 'price' is there already", 0},
    };
    static const asked first[] = {CSS("price=i"), END};
    seine_extract *x = fields_of(first);

    EACH_ROW(i, rows) {
        seine_diag diag = SEINE_DIAG;

        CHECK_EQ(seine_extract_add(x, rows[i].field.what, rows[i].field.text, &diag),
                 SEINE_E_CONFIG);
        CHECK_STR(diag.text, rows[i].why);
        CHECK_EQ(diag.column, rows[i].column);
        CHECK_EQ(seine_extract_count(x), 1);
    }
    seine_extract_free(x);
}

TEST(extract_has_256_fields_at_most)
{
    static const asked none[] = {END};
    seine_extract *x = fields_of(none);
    seine_diag diag = SEINE_DIAG;
    char text[16];

    for (int i = 0; i <= SEINE_EXTRACT_FIELDS; i++) {
        snprintf(text, sizeof text, "f%d=p", i);
        CHECK_EQ(seine_extract_add(x, SEINE_EXTRACT_CSS, text, &diag),
                 i < SEINE_EXTRACT_FIELDS ? SEINE_OK : SEINE_E_CONFIG);
    }
    CHECK_STR(diag.text, "there are 256 fields already");
    CHECK_STR(seine_extract_name(x, 255), "f255");
    CHECK(!seine_extract_name(x, 256));
    seine_extract_free(x);
}

/* `n` times `open`, then `inside`. */
static char *
nested(const char *open, size_t n, const char *inside, size_t times, size_t *out_len)
{
    sn_buf b;

    sn_buf_init(&b, SIZE_MAX - 1);
    for (size_t i = 0; i < n; i++)
        sn_buf_text(&b, open);
    for (size_t i = 0; i < times; i++)
        sn_buf_text(&b, inside);
    *out_len = b.len;
    seine_text text;
    CHECK_EQ(sn_buf_take(&b, &text), SEINE_OK);
    return text.bytes;
}

TEST(extract_names_what_a_page_is_refused_for)
{
    static const struct {
        const char *open;
        size_t n;
        const char *inside;
        size_t times;
        const char *css;
        seine_err want;
    } rows[] = {
        {"<div>", 300, "x", 1, "p", SEINE_E_HTML_TOO_DEEP},
        {"", 0, "<b></b>", 160000, "b", SEINE_E_HTML_TOO_COMPLEX},
        /* every div holds all others: values of 240 times the page … */
        {"<div>", 240, "words and words ", 20000, "div", SEINE_E_BUDGET},
        /* … or none, and a walk through 240 times its nodes or its bytes */
        {"<div>", 240, "<b></b>", 60000, "div", SEINE_E_SELECTOR_TIMEOUT},
        {"<div>", 240, "\t", 2000000, "div", SEINE_E_SELECTOR_TIMEOUT},
        {"<div>", 240, "words and words ", 2000, "div@html", SEINE_E_BUDGET},
        {"<div title='words and words and words'>", 240, "", 0, "div@html",
         SEINE_E_BUDGET},
        /* each byte of the text takes six of JSON, of which there are 16 MiB at most */
        {"<p>", 1, "\x01\x02\x03", 1000000, "p", SEINE_E_BUDGET},
    };

    EACH_ROW(i, rows) {
        asked fields[] = {CSS(rows[i].css), META("m"), END};
        seine_extract_page page = SEINE_EXTRACT_PAGE;
        size_t len;
        char *html = nested(rows[i].open, rows[i].n, rows[i].inside, rows[i].times, &len),
             *data;
        seine_json *json = NULL;

        page.body = (seine_view){html, len};
        page.content_type = view("text/html");
        seine_err e = read_page(fields, &page, &data);
        CHECK_EQ(e, rows[i].want);
        CHECK(strlen(data) <= 6 * (6 * len + (256 << 10)) + 64);
        CHECK_EQ(seine_json_parse(data, strlen(data), &json, NULL), SEINE_OK);
        CHECK(seine_json_get(json, "m")); /* needs no tree */
        seine_json_free(json);
        free(data);
        seine_text_free(&(seine_text){html, len});
    }
}

TEST(extract_names_what_is_wrong_with_json)
{
    static const struct {
        const char *open;
        size_t n;
        seine_err want;
    } rows[] = {{"{", 1, SEINE_E_BAD_JSON},
                {"[", 1000, SEINE_E_JSON_TOO_DEEP},
                {"\xff[", 1, SEINE_E_BAD_JSON}};
    static const asked fields[] = {POINTER("a=/a"), END};

    EACH_ROW(i, rows) {
        seine_extract_page page = SEINE_EXTRACT_PAGE;
        size_t len;
        char *body = nested(rows[i].open, rows[i].n, "", 0, &len), *data;

        page.body = (seine_view){body, len};
        page.content_type = view("application/json");
        CHECK_EQ(read_page(fields, &page, &data), rows[i].want);
        CHECK_STR(data, "{}");
        free(data);
        seine_text_free(&(seine_text){body, len});
    }
}

typedef struct purse {
    uint64_t limit, most, now;
} purse;

static seine_err
take(uint64_t bytes, void *arg)
{
    purse *p = arg;

    if (p->now + bytes > p->limit)
        return SEINE_E_BUDGET;
    p->now += bytes;
    p->most = p->now > p->most ? p->now : p->most;
    return SEINE_OK;
}

static void
give(uint64_t bytes, void *arg)
{
    purse *p = arg;

    p->now -= bytes;
}

TEST(extract_asks_the_gate_for_memory_and_gives_it_back)
{
    static const asked fields[] = {CSS("p"), POINTER("a=/a"), END};
    static const struct {
        const char *type, *body, *charset;
        uint64_t limit;
        seine_err want;
    } rows[] = {
        {"text/html", "<p>x", NULL, UINT64_MAX, SEINE_OK},
        {"text/html", "<p>x", NULL, 100, SEINE_E_BUDGET},
        {"text/html", "<p>\xe4", "latin1", UINT64_MAX, SEINE_OK},
        {"application/json", "{\"a\":1}", NULL, UINT64_MAX, SEINE_OK},
        {"application/json", "{\"a\":1}", NULL, 80, SEINE_E_BUDGET},
        {"application/json", "{\"a\":1}", NULL, 60, SEINE_E_BUDGET},
    };

    EACH_ROW(i, rows) {
        purse p = {.limit = rows[i].limit};
        seine_tree_gate gate = {take, give, &p};
        seine_extract_page page = SEINE_EXTRACT_PAGE;
        char *data;

        page.body = view(rows[i].body);
        page.content_type = view(rows[i].type);
        page.charset = view(rows[i].charset);
        page.gate = &gate;
        CHECK_EQ(read_page(fields, &page, &data), rows[i].want);
        CHECK_EQ(p.now, 0);
        CHECK(rows[i].want != SEINE_OK || p.most >= strlen(rows[i].body));
        free(data);
    }
}

TEST(extract_keeps_nothing_of_a_large_page)
{
    static const asked fields[] = {CSS("p"), META("m"), END};
    seine_extract_page page = SEINE_EXTRACT_PAGE;
    seine_extract *x = fields_of(fields);
    seine_extractor *r = NULL;
    seine_view data;
    size_t len;
    char *html = nested("", 0, "<p>\xe4 words and words", 50000, &len);

    count_begin();
    CHECK_EQ(seine_extractor_new(x, &r), SEINE_OK);
    page.content_type = view("text/html");
    page.body = (seine_view){html, len};
    CHECK_EQ(seine_extractor_read(r, &page, &data), SEINE_OK);
    CHECK(data.len > len / 2);
    page.body = view("<p>x");
    CHECK_EQ(seine_extractor_read(r, &page, &data), SEINE_OK);
    CHECK_EQ(data.len, strlen("{\"p\":[\"x\"],\"m\":[]}"));
    CHECK(count_bytes() <= 1 << 20);
    seine_extractor_free(r);
    CHECK_EQ(count_out(), 0);
    count_end();
    seine_extract_free(x);
    seine_text_free(&(seine_text){html, len});
}

TEST(extract_survives_the_loss_of_memory)
{
    FAIL_EACH(n)
    {
        seine_extract *x = NULL;
        seine_extractor *r = NULL;
        seine_extract_page page = SEINE_EXTRACT_PAGE;
        seine_view data;
        seine_err e = seine_extract_new(&x);

        page.body = view("<base href=b/><p>\xe4<a href=x>y</a>");
        page.content_type = view("text/html");
        page.url = view("http://e.example/");
        if (e == SEINE_OK)
            e = seine_extract_add(x, SEINE_EXTRACT_CSS, "a=a@href", NULL);
        if (e == SEINE_OK)
            e = seine_extract_add(x, SEINE_EXTRACT_META, NULL, NULL);
        if (e == SEINE_OK)
            e = seine_extractor_new(x, &r);
        if (e == SEINE_OK)
            e = seine_extractor_read(r, &page, &data);
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        seine_extractor_free(r);
        seine_extract_free(x);
    }
}
