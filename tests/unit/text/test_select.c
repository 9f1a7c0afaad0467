/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/select.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/rng.h"
#include "check.h"
#include "failing.h"
#include "text/tree.h"

static seine_tree *
tree_of(const char *html)
{
    seine_tree *t = NULL;

    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    CHECK_EQ(seine_tree_parse(t, html, strlen(html), NULL), SEINE_OK);
    return t;
}

static seine_select *
selector(const char *text)
{
    seine_select *s = NULL;
    seine_diag diag = SEINE_DIAG;

    if (seine_select_new(text, strlen(text), &s, &diag) != SEINE_OK)
        check_fail(__FILE__, __LINE__, "'%s' at %llu: %s", text,
                   (unsigned long long)diag.column, diag.text);
    return s;
}

/* The ids of what is found below `scope`, with blanks between them; the name of what
 * has none. */
static void
found(const seine_tree *t, const char *text, seine_node scope, char *out, size_t cap)
{
    seine_select *s = selector(text);
    seine_finder *f = NULL;
    seine_node n = scope;
    size_t len = 0;

    out[0] = '\0';
    if (!s)
        return;
    CHECK_EQ(seine_finder_new(t, &f), SEINE_OK);
    while (seine_finder_next(f, s, scope, &n) == SEINE_OK && n != 0) {
        seine_view id = seine_node_attr(t, n, "id");
        bool yes = false;

        id = id.ptr ? id : seine_node_name(t, n);
        len += (size_t)snprintf(out + len, cap - len, "%s%.*s", len > 0 ? " " : "",
                                (int)id.len, id.ptr);
        if (scope == 0)
            CHECK(seine_finder_matches(f, s, n, &yes) == SEINE_OK && yes);
    }
    seine_finder_free(f);
    seine_select_free(s);
}

typedef struct row {
    const char *selector, *want;
} row;

static void
expect(const char *html, const row *rows, size_t count)
{
    seine_tree *t = tree_of(html);
    char got[1024];

    for (size_t i = 0; i < count && check_row(i); i++) {
        found(t, rows[i].selector, 0, got, sizeof got);
        CHECK_STR(got, rows[i].want);
    }
    seine_tree_free(t);
}

#define EXPECT(html, rows) expect(html, rows, sizeof(rows) / sizeof *(rows))

TEST(select_finds_tags_ids_and_classes)
{
    static const row rows[] = {
        {"p", "a b"},
        {"P", "a b"},
        {"#a", "a"},
        {".x", "a c"},
        {".x.y", "a"},
        {"p.x#a", "a"},
        {"span, #a", "a c"},
        {"*", "html head body a b c"},
        {"p.none, nosuch", ""},
        {".X", ""}, /* case counts */
        {"#\\61", "a"},
        {".\\78 ", "a c"},
        {"/* c */ p /* d */", "a b"},
        {"*|p", "a b"},
        {"|p", ""},
        {"\tp\n", "a b"},
    };

    EXPECT("<!DOCTYPE html><p id=a class='x y'><p id=b class=xy><span id=c class='\nx'>",
           rows);
}

TEST(select_ignores_case_of_names_in_quirks)
{
    static const row rows[] = {{".X", "a"}, {"#A", "a"}};

    EXPECT("<p id=a class=x>", rows);
}

TEST(select_knows_all_attribute_operators)
{
    static const row rows[] = {
        {"[t]", "a b c"},       {"[T]", "a b c"},         {"[t=one]", "a"},
        {"[t='one']", "a"},     {"[t=\"one\"", "a"}, /* the end of the text ends it */
        {"[t=One]", ""},        {"[t=One i]", "a"},       {"[t=One s]", ""},
        {"[t~=two]", "b"},      {"[t~='two three']", ""}, {"[t~='']", ""},
        {"[t|=en]", "c"},       {"[t|=en-US]", "c"},      {"[t^=tw]", "b"},
        {"[t^='']", ""},        {"[t$=ne]", "a"},         {"[t$='']", ""},
        {"[t*=o]", "a b"},      {"[t*=O i]", "a b"},      {"[t*='']", ""},
        {"[ t = 'one' ]", "a"}, {"[type=TEXT]", "d"}, /* of HTML's own attributes some
                                                         ignore case */
        {"[type=TEXT s]", ""},  {"[*|t]", "a b c"},       {"[|t]", "a b c"},
        {"[t][id=b]", "b"},
    };

    EXPECT("<p id=a t=one><p id=b t='two three'><p id=c t=en-US><input id=d type=text>",
           rows);
}

TEST(select_knows_all_combinators)
{
    static const row rows[] = {
        {"div p", "b d e"},
        {"div > p", "b d"},
        {"div>p", "b d"},
        {"#b + p", "d"},
        {"#b + section", ""},
        {"#b ~ *", "d s"},
        {"div section p", "e"},
        {"body > div > section > p", "e"},
        {"body div p", "b d e"},
        {"p ~ section p", "e"},
        {"p + p + section > p", "e"},
        {"p p", ""},
        {"html > p", ""},
        {"div  \n  p", "b d e"},
        {"body p:first-child", "b e"},
        {"section p, #b", "b e"},
    };

    EXPECT("<div id=a><p id=b></p>text<!--c--><p id=d></p><section id=s><p "
           "id=e></p></section>"
           "</div>",
           rows);
}

TEST(select_counts_positions)
{
    static const row rows[] = {
        {"li:first-child", "1"},
        {"li:last-child", "6"},
        {"li:nth-child(2)", "2"},
        {"li:nth-child(odd)", "1 3 5"},
        {"li:nth-child(EVEN)", "2 4 6"},
        {"li:nth-child(3n)", "3 6"},
        {"li:nth-child( 3n + 1 )", "1 4"},
        {"li:nth-child(3n-1)", "2 5"},
        {"li:nth-child(-n+2)", "1 2"},
        {"li:nth-child(n+5)", "5 6"},
        {"li:nth-child(-2n+5)", "1 3 5"},
        {"li:nth-child(0)", ""},
        {"li:nth-child(-3)", ""},
        {"li:nth-child(+3)", "3"},
        {"li:nth-child(n)", "1 2 3 4 5 6"},
        {"li:nth-last-child(2)", "5"},
        {"li:nth-last-child(-n+2)", "5 6"},
        {"li:nth-child(2 of .x)", "4"},
        {"li:nth-child(odd of .x, [id='6'])", "2 6"},
        {"li:nth-last-child(1 of .x)", "4"},
        {"li:nth-child(99999999999)", ""},
        {"#o :nth-of-type(2)", "b2 s2"},
        {"#o :first-of-type", "s1 b1 i1"},
        {"#o :last-of-type", "i1 b2 s2"},
        {"#o :nth-last-of-type(2)", "s1 b1"},
        {"#o :only-of-type", "i1"},
        {"#o :only-child", ""},
        {"ul:only-child, b:only-child", ""},
        {"html:only-child", "html"},
    };

    EXPECT("<ul id=u>a<li id=1><!--c--><li id=2 class=x><li id=3><li id=4 class=x><li "
           "id=5><li "
           "id=6></ul><div id=o><s id=s1></s><b id=b1></b><i id=i1></i><b id=b2></b><s "
           "id=s2></s></div>",
           rows);
}

TEST(select_knows_lists_in_lists)
{
    static const row rows[] = {
        {":not(p):not(html):not(head):not(body)", "a c e"},
        {"p:not(.x)", "d"},
        {"p:not(.x, .y)", "d"},
        {"p:not(div p)", ""},
        {":is(p, span)", "b c d"},
        {":where(div) > :is(p.x, span)", "b c"},
        {":is()", ""},
        {"p:is(:not(.x))", "d"},
        {":not(:is(html, head, body, div, p))", "c"},
        {":not(*)", ""},
        {":is(div > p)", "b d"},
        {"div:not(:not(div))", "a e"},
    };

    EXPECT("<div id=a><p id=b class=x></p><span id=c></span><p id=d></p></div><div "
           "id=e></div>",
           rows);
}

TEST(select_knows_what_a_node_has)
{
    static const row rows[] = {
        {"div:has(p)", "a e"},
        {"div:has(> p)", "a"},
        {"div:has(> section > p)", "e"},
        {"div:has(section p)", "e"},
        {"p:has(+ span)", "b"},
        {"p:has(~ i)", "b d"},
        {"p:has(~ i, + span)", "b d"},
        {"p:has(~ span ~ i)", "b"},
        {"div:not(:has(p))", "h"},
        {"body:has(#g)", "body"},
        {"div:has(body p)", ""}, /* what is outside does not count */
        {"div:has(p):has(span)", "a"},
        {":has(#h)", "html body"},
        {"div:has(:is(section, span))", "a e"},
    };

    EXPECT("<div id=a><p id=b></p><span id=c></span><p id=d></p><i id=i></i></div><div "
           "id=e><section id=f><p id=g></p></section></div><div id=h></div>",
           rows);
}

TEST(select_knows_states_a_page_has)
{
    static const row rows[] = {
        {":root", "html"},
        {":link", "a"},
        {":any-link", "a"},
        {"a:visited, :hover, :focus, a:active, :target", ""},
        {"option:checked", "o"},
        {"input:checked", "r"},
        {":disabled", "d d2 g o2 fs d4"},
        {"input:enabled", "r t d3"},
        {":required", "t"},
        {"input:optional", "r d d3 d4"},
        {"p:lang(en)", "l"},
        {"p:lang(EN-us)", "l"},
        {"p:lang(e)", ""},
        {"p:empty", "e f"}, /* a blank is something */
    };

    EXPECT("<a id=a href=x>1</a><a></a><div lang=en-US><p id=l>2</div><input id=r "
           "type=RADIO checked><input id=t required><input id=d disabled>"
           "<select id=s><option id=o selected>a<option id=d2 disabled>b<optgroup id=g "
           "disabled><option id=o2>c</optgroup></select><fieldset id=fs "
           "disabled><legend id=le><input id=d3></legend><input id=d4></fieldset>"
           "<p id=e></p><p id=f><!--c--></p><p id=h> </p>",
           rows);
}

TEST(select_looks_inside_of_a_scope)
{
    seine_tree *t =
        tree_of("<div id=a><p id=b><i id=c></i></p></div><div id=d><p id=e></p></div>");
    static const struct {
        const char *selector, *scope, *want;
    } rows[] = {
        {"p", "a", "b"},          {"div p", "a", "b"}, /* what is above counts */
        {":scope > p", "a", "b"}, {":scope i", "a", "c"},
        {":scope > i", "a", ""},  {":scope", "a", ""}, /* it is not inside of itself */
        {"p", "d", "e"},          {":scope:has(> p) p", "d", "e"},
    };
    char got[256];

    EACH_ROW(i, rows) {
        seine_node scope = 0;

        for (seine_node n = 1; n < seine_tree_size(t); n++)
            if (seine_node_attr(t, n, "id").ptr &&
                *seine_node_attr(t, n, "id").ptr == *rows[i].scope)
                scope = n;
        found(t, rows[i].selector, scope, got, sizeof got);
        CHECK_STR(got, rows[i].want);
    }
    found(t, ":scope > body", 0, got, sizeof got);
    CHECK_STR(got, "body");
    seine_tree_free(t);
}

TEST(select_with_scope_forgets_when_the_scope_changes)
{
    seine_tree *t = tree_of("<ul id=a><li id=1></ul><ul id=b><li id=2></ul>");
    seine_select *s = selector(":scope > li:has(~ li), :scope > li");
    seine_finder *f = NULL;

    CHECK_EQ(seine_finder_new(t, &f), SEINE_OK);
    for (int turn = 0; turn < 4; turn++)
        for (seine_node n = 1; n < seine_tree_size(t); n++) {
            seine_node at = n;

            if (!seine_node_is(t, n, "ul"))
                continue;
            CHECK_EQ(seine_finder_next(f, s, n, &at), SEINE_OK);
            CHECK_EQ(at, n + 1);
        }
    seine_finder_free(f);
    seine_select_free(s);
    seine_tree_free(t);
}

TEST(select_may_be_freed_while_its_finder_lives)
{
    static const char *const texts[] = {"p", "b", "p", "#x", "p", "i"};
    seine_tree *t = tree_of("<p id=x><b>");
    seine_finder *f = NULL;

    CHECK_EQ(seine_finder_new(t, &f), SEINE_OK);
    EACH_ROW(i, texts) {
        seine_select *s = selector(texts[i]);
        seine_node n = 0;

        CHECK_EQ(seine_finder_next(f, s, 0, &n), SEINE_OK);
        CHECK(*texts[i] == 'i' ? n == 0
                               : seine_node_is(t, n, *texts[i] == 'b' ? "b" : "p"));
        seine_select_free(s);
    }
    seine_finder_free(f);
    seine_tree_free(t);
}

TEST(select_does_not_look_into_templates)
{
    static const row rows[] = {{"p", "b"},
                               {"template", "t"},
                               {"body:has(i)", ""},
                               {"[id]", "t b"},
                               {"template, i", "t"}};
    static const row in_svg[] = {{"a", "a"}, {"[id]", "t a"}, {"svg:has(a) a", "a"}};

    EXPECT("<template id=t><p id=a><i></i></template><p id=b>", rows);
    EXPECT("<svg><template id=t><a id=a></a></template></svg>", in_svg); /* is none */
}

TEST(select_says_what_it_expected_and_where)
{
    static const struct {
        const char *selector;
        size_t at;
        const char *why;
    } rows[] = {
        {"article..product", 7, "expected a class name after '.'"},
        {"a.", 1, "expected a class name after '.'"},
        {".5cm", 0, "expected a class name after '.'"},
        {"a#", 1, "expected a name after '#'"},
        {"", 0, "expected a selector"},
        {"a,", 2, "expected a selector after ','"},
        {"a, , b", 3, "expected a selector after ','"},
        {"a >", 3, "expected a selector after '>'"},
        {"a > > b", 4, "expected a selector, not '>'"},
        {"> a", 0, "expected a selector, not '>'"},
        {"a:nosuch", 1, "unknown pseudo-class ':nosuch'"},
        {"a:first", 1, "unknown pseudo-class ':first'; try ':first-of-type'"},
        {"a:last", 1, "unknown pseudo-class ':last'; try ':last-of-type'"},
        {"a::before", 1, "pseudo-element '::before' is never a node"},
        {"a:after", 1, "pseudo-element ':after' is never a node"},
        {"b, :is(a::part(x))", 8, "pseudo-element '::part' is never a node"},
        {"a:nosuch(x)", 1, "unknown pseudo-class ':nosuch()'"},
        {"a::nosuch", 1, "unknown pseudo-element '::nosuch'"},
        {"a::nosuch(b)", 1, "unknown pseudo-element '::nosuch'"},
        {"a:", 2, "expected a name after ':'"},
        {"a::", 3, "expected a name after '::'"},
        {"[", 1, "expected an attribute name after '['"},
        {"[a=]", 3, "expected a value in quotes, or a name"},
        {"[a='b\nc']", 5, "expected a value in quotes, or a name"},
        {"[a b]", 3, "expected ']' or one of = ~= |= ^= $= *="},
        {"[a=b c]", 5, "expected ']'"},
        {":not(a", 99, ""},
        {":not()", 5, "expected a selector"},
        {":not(a b", 99, ""},
        {":is(a}", 5, "expected ')'"},
        {":nth-child(x)", 11, "expected a position: 3, odd, even, 2n+1"},
        {":nth-child(2n+)", 14, "expected a position: 3, odd, even, 2n+1"},
        {":nth-child(2 x)", 0, "expected a position: 3, odd, even, 2n+1"},
        {":nth-of-type(2 of p)", 0, "expected a position: 3, odd, even, 2n+1"},
        {":lang(5)", 6, "expected a language after ':lang('"},
        {":has(:has(a))", 5, ":has() cannot stand inside of :has()"},
        {"ns|a", 0, "there are no namespaces here, only '*|'"},
        {"[ns|a]", 1, "there are no namespaces here, only '*|'"},
        {"*|", 2, "expected a tag name after '|'"},
        {"a}", 1, "expected the end, not '}'"},
        {":is(:is(:is(:is(:is(:is(:is(:is(:is(a)))))))))", 36,
         "more than 8 lists in lists"},
    };

    EACH_ROW(i, rows) {
        seine_select *s = NULL;
        seine_diag diag = {.column = 99};
        seine_err e =
            seine_select_new(rows[i].selector, strlen(rows[i].selector), &s, &diag);

        CHECK_EQ(e, *rows[i].why ? SEINE_E_CONFIG : SEINE_OK);
        CHECK_EQ(diag.column, *rows[i].why ? rows[i].at + 1 : 0);
        CHECK_STR(diag.text, rows[i].why);
        seine_select_free(s);
    }
}

TEST(select_has_limits)
{
    char text[SEINE_SELECT_BYTES + 2];
    seine_select *s = NULL;
    seine_diag diag = SEINE_DIAG;

    memset(text, 'a', sizeof text);
    CHECK_EQ(seine_select_new(text, SEINE_SELECT_BYTES, &s, NULL), SEINE_OK);
    seine_select_free(s);
    CHECK_EQ(seine_select_new(text, SEINE_SELECT_BYTES + 1, &s, &diag), SEINE_E_CONFIG);
    CHECK_STR(diag.text, "longer than 4096 bytes");
    for (int n = 256; n <= 257; n++) {
        size_t len = 0;

        for (int i = 0; i < n; i++)
            len +=
                (size_t)snprintf(text + len, sizeof text - len, "%sa", i > 0 ? "," : "");
        seine_err e = seine_select_new(text, len, &s, NULL);
        CHECK_EQ(e, n > 256 ? SEINE_E_CONFIG : SEINE_OK);
        if (e == SEINE_OK)
            seine_select_free(s);
    }
    s = selector("a b c d e f g h i");
    seine_select_free(s);
    seine_select_free(NULL);
}

static void
repeat(sn_buf *out, const char *text, int times)
{
    while (times-- > 0)
        sn_buf_text(out, text);
}

/* The forms that developer tools copy, for an element so deep. */
static void
follow_path(int depth, const char *step, const char *tag)
{
    char path[SEINE_SELECT_BYTES + 64], page[16 * 256];
    int path_len = snprintf(path, sizeof path, "body"), page_len = 0;
    seine_select *s = NULL;
    seine_finder *f = NULL;
    seine_node n = 0;

    for (int i = 0; i < depth; i++) {
        path_len += snprintf(path + path_len, sizeof path - (size_t)path_len, "%s", step);
        page_len += snprintf(page + page_len, sizeof page - (size_t)page_len, "%s", tag);
    }
    seine_tree *t = tree_of(page);
    CHECK_EQ(seine_select_new(path, strlen(path), &s, NULL), SEINE_OK);
    CHECK_EQ(seine_finder_new(t, &f), SEINE_OK);
    CHECK_EQ(seine_finder_next(f, s, 0, &n), SEINE_OK);
    CHECK_EQ(n, seine_tree_size(t) - 1);
    CHECK_EQ(seine_finder_next(f, s, 0, &n), SEINE_OK);
    CHECK_EQ(n, 0);
    seine_finder_free(f);
    seine_select_free(s);
    seine_tree_free(t);
}

TEST(select_follows_paths_as_deep_as_a_tree)
{
    char path[2048];
    int len = snprintf(path, sizeof path, "body");
    seine_select *s = NULL;

    follow_path(40, " > div", "<div>");
    follow_path(40, " > div.item-list__row.is-open.has-border:nth-child(2) > q",
                "<p></p><div class='has-border is-open item-list__row'><q>");
    follow_path(200, " > div:nth-child(1)", "<div>");
    follow_path(254, " > div", "<div>");
    for (int i = 0; i < 256; i++)
        len += snprintf(path + len, sizeof path - (size_t)len, " > p");
    CHECK_EQ(seine_select_new(path, strlen(path), &s, NULL), SEINE_E_CONFIG);
}

/* 2,000 siblings and four ~: a finder that tries them all would take 10^13 steps. */
TEST(select_knows_the_option_that_is_chosen)
{
    static const row rows[] = {{"option:checked", "a e f h"}};

    EXPECT("<select><option disabled>x<option id=a>y<option>z</select>"
           "<select><option selected>x<option id=e selected>y</select>"
           "<select multiple><option id=f selected>x<option id=h selected>y<option>z"
           "</select><select size=2><option>x</select>",
           rows);
}

TEST(select_is_linear_whatever_the_combinators)
{
    static const char *const hard[] = {
        "s ~ s ~ s ~ s ~ q",         "s + s + s + s ~ q",  ":not(s ~ s ~ q) ~ s ~ q",
        "div div div div div div q", "s:has(~ s ~ s ~ q)", "s:nth-child(odd) ~ s ~ q",
        "* * * * * * * q",           "* ~ * ~ * ~ * ~ q",  ":is(s ~ s) ~ :is(s ~ s) ~ q",
    };
    seine_tree *t = NULL;
    sn_buf html;

    sn_buf_init(&html, 1 << 20);
    repeat(&html, "<div>", 200);
    repeat(&html, "<s></s>", 2000);
    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    CHECK_EQ(seine_tree_parse(t, html.ptr, html.len, NULL), SEINE_OK);
    EACH_ROW(i, hard) {
        seine_select *s = selector(hard[i]);
        seine_finder *f = NULL;
        seine_node n = 0;

        CHECK_EQ(seine_finder_new(t, &f), SEINE_OK);
        CHECK_EQ(seine_finder_next(f, s, 0, &n), SEINE_OK);
        CHECK_EQ(n, 0);
        CHECK(seine_finder_steps(f) <= 10 * (uint64_t)seine_tree_size(t));
        seine_finder_free(f);
        seine_select_free(s);
    }
    seine_tree_free(t);
    sn_buf_fini(&html);
}

TEST(select_gives_up_after_a_million_steps_of_a_page)
{
    seine_select *all[32];
    sn_buf html;
    seine_tree *t = NULL;
    seine_finder *f = NULL;
    seine_err e = SEINE_OK;
    seine_node n = 0;

    sn_buf_init(&html, 1 << 20);
    repeat(&html, "<br>", 60000);
    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    CHECK_EQ(seine_tree_parse(t, html.ptr, html.len, NULL), SEINE_OK);
    CHECK_EQ(seine_finder_new(t, &f), SEINE_OK);
    for (size_t i = 0; i < 32; i++) {
        char text[32];

        snprintf(text, sizeof text, "x ~ .y%zu", i);
        all[i] = selector(text);
    }
    for (size_t i = 0; i < 32 && e == SEINE_OK; i++) {
        CHECK(seine_finder_steps(f) <= 1000000);
        e = seine_finder_next(f, all[i], 0, &n);
    }
    CHECK_EQ(e, SEINE_E_SELECTOR_TIMEOUT);
    bool is = true;
    CHECK_EQ(seine_finder_matches(f, all[31], 5, &is), SEINE_E_SELECTOR_TIMEOUT);
    CHECK_EQ(n, 0);
    seine_finder_free(f);
    for (size_t i = 0; i < 32; i++)
        seine_select_free(all[i]);
    seine_tree_free(t);
    sn_buf_fini(&html);
}

/* The reference: tries everything, for small trees. */
static bool slow_is(const seine_tree *t, seine_node n, const char *const *parts,
                    int count);

static bool
slow_before(const seine_tree *t, seine_node n, const char *const *parts, int count)
{
    char how = parts[count - 2][0];
    seine_node up = seine_node_parent(t, n), before = 0;
    bool hit = false;

    for (seine_node i = seine_node_first(t, up); i != 0 && i != n;
         i = seine_node_next(t, i))
        if (seine_node_what(t, i) == SEINE_NODE_ELEMENT) {
            before = i;
            hit = hit || (how == '~' && slow_is(t, i, parts, count - 2));
        }
    if (how == '~')
        return hit;
    if (how == '+')
        return before != 0 && slow_is(t, before, parts, count - 2);
    for (; up != 0; up = seine_node_parent(t, up)) {
        if (slow_is(t, up, parts, count - 2))
            return true;
        if (how == '>')
            return false;
    }
    return false;
}

static bool
slow_is(const seine_tree *t, seine_node n, const char *const *parts, int count)
{
    return seine_node_is(t, n, parts[count - 1]) &&
           (count == 1 || slow_before(t, n, parts, count));
}

TEST(select_finds_what_the_obvious_way_finds)
{
    static const char *const names[] = {"b", "i", "s"}, *const combs[] = {" ", ">", "+",
                                                                          "~"};
    sn_rng rng = sn_rng_seed(check_seed());

    for (int round = 0; round < 200; round++) {
        const char *parts[7];
        char html[1024] = "<x>", text[64] = "";
        size_t len = 3, n_text = 0;
        int count = 1 + 2 * (int)sn_rng_below(&rng, 4);

        for (int i = 0; i < 40; i++)
            len += (size_t)snprintf(html + len, sizeof html - len,
                                    sn_rng_below(&rng, 2) ? "<%s>" : "<%s></b></i>",
                                    sn_rng_below(&rng, 2) ? "x"
                                                          : names[sn_rng_below(&rng, 3)]);
        for (int i = 0; i < count; i++) {
            parts[i] =
                i % 2 ? combs[sn_rng_below(&rng, 4)] : names[sn_rng_below(&rng, 3)];
            n_text +=
                (size_t)snprintf(text + n_text, sizeof text - n_text, "%s", parts[i]);
        }
        seine_tree *t = tree_of(html);
        seine_select *s = selector(text);
        seine_finder *f = NULL;
        seine_node at = 0;
        CHECK_EQ(seine_finder_new(t, &f), SEINE_OK);
        CHECK_EQ(seine_finder_next(f, s, 0, &at), SEINE_OK);
        for (seine_node n = 1; n < seine_tree_size(t); n++)
            if (seine_node_what(t, n) == SEINE_NODE_ELEMENT &&
                slow_is(t, n, parts, count)) {
                if (at != n)
                    check_fail(__FILE__, __LINE__, "%s in %s: %u, want %u", text, html,
                               at, n);
                CHECK_EQ(seine_finder_next(f, s, 0, &at), SEINE_OK);
            }
        CHECK_EQ(at, 0);
        seine_finder_free(f);
        seine_select_free(s);
        seine_tree_free(t);
    }
}

TEST(select_without_memory_says_so)
{
    static const char text[] = "a:not(b > .c, [d=e]):has(> f g):nth-child(2n+1 of h), i";
    seine_tree *t = tree_of("<a></a><i id=x></i>");

    FAIL_EACH(n)
    {
        seine_select *s = NULL;
        seine_finder *f = NULL;
        seine_node node = 0;
        seine_err e = seine_select_new(text, sizeof text - 1, &s, NULL);

        if (e == SEINE_OK)
            e = seine_finder_new(t, &f);
        if (e == SEINE_OK)
            e = seine_finder_next(f, s, 0, &node);
        CHECK(e == SEINE_OK || e == SEINE_E_NOMEM);
        CHECK_EQ(node != 0, e == SEINE_OK);
        seine_finder_free(f);
        seine_select_free(s);
    }
    seine_tree_free(t);
}
