/* SPDX-License-Identifier: Apache-2.0 */
#include "seine/document.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "check.h"
#include "failing.h"

/* "1:1 a b; !2:1 img c; #anchor" : the marked one is ignored. */
static const char *
dump(seine_document_kind kind, const char *text)
{
    static char got[2048];
    seine_document *d = NULL;
    seine_document_link l;
    seine_view name;
    size_t n = 0;

    got[0] = '\0';
    CHECK_EQ(seine_document_new(&d), SEINE_OK);
    CHECK_EQ(seine_document_read(d, kind, text, strlen(text)), SEINE_OK);
    for (size_t i = 0; seine_document_at(d, i, &l); i++)
        n += (size_t)snprintf(got + n, sizeof got - n, "%s%s%u:%u %s %.*s", n ? "; " : "",
                              l.is_ignored ? "!" : "", l.line, l.col, l.tag,
                              SN_FMT(l.value));
    for (size_t i = 0; seine_document_anchor(d, i, &name); i++)
        n += (size_t)snprintf(got + n, sizeof got - n, "%s#%.*s", n ? "; " : "",
                              SN_FMT(name));
    seine_document_free(d);
    return got;
}

TEST(document_reads_every_kind)
{
    static const struct {
        seine_document_kind kind;
        const char *text, *want;
    } rows[] = {
        {SEINE_DOCUMENT_HTML, "<a name=x id=y href=b>c</a><p id='z'><img src=d>",
         "1:1 a b; 1:38 img d; #y; #x; #z"},
        {SEINE_DOCUMENT_HTML, "<template><p id=x></template><svg><g id=s></g></svg>",
         "#s"},
        {SEINE_DOCUMENT_HTML, "<p id=''><input name=n><p ID=A&amp;B>", "#A&B"},
        {SEINE_DOCUMENT_MARKDOWN, "# A\n[![b](c)](d)", "2:1 a d; 2:2 img c; #a"},
        {SEINE_DOCUMENT_RST, "A\n=\n\n`b <c>`_", "4:1 a c; #a; #a"},
        {SEINE_DOCUMENT_TEXT, "x\nsee http://e.example/, www.e.example",
         "2:5 a http://e.example/"},
        {SEINE_DOCUMENT_HTML, "", ""},
    };

    EACH_ROW(i, rows)
        CHECK_STR(dump(rows[i].kind, rows[i].text), rows[i].want);
}

TEST(document_marks_links_that_comments_except)
{
    CHECK_STR(dump(SEINE_DOCUMENT_MARKDOWN, "[a](b) <!-- seine-ignore -->\n[c](d)"),
              "!1:1 a b; 2:1 a d");
    CHECK_STR(dump(SEINE_DOCUMENT_MARKDOWN, "[a](b) `<!-- seine-ignore -->`"), "1:1 a b");
    CHECK_STR(dump(SEINE_DOCUMENT_HTML, "<!-- seine-ignore -->\n<a href=b>x</a>\n\n"
                                        "<a href=c>y</a>"),
              "!2:1 a b; 4:1 a c");
    CHECK_STR(dump(SEINE_DOCUMENT_RST, ".. seine-ignore\n\n`a <b>`_\n\n`c <d>`_"),
              "!3:1 a b; 5:1 a d");
}

TEST(document_tells_the_base_of_html)
{
    seine_document *d = NULL;
    static const char page[] = "<base href='/x/'><a href=y>";

    CHECK_EQ(seine_document_new(&d), SEINE_OK);
    CHECK(seine_document_base(d).ptr == NULL);
    CHECK_EQ(seine_document_read(d, SEINE_DOCUMENT_HTML, page, sizeof page - 1),
             SEINE_OK);
    CHECK(sn_str_eq(seine_document_base(d), SN_STR("/x/")));
    CHECK_EQ(seine_document_read(d, SEINE_DOCUMENT_MARKDOWN, "x", 1), SEINE_OK);
    CHECK(seine_document_base(d).ptr == NULL);
    CHECK(!seine_document_is_cut(d));
    seine_document_free(d);
}

TEST(document_kinds_follow_from_names)
{
    static const struct {
        const char *path;
        int want; /* -1: none */
    } rows[] = {{"a.md", SEINE_DOCUMENT_MARKDOWN},
                {"A.HTML", SEINE_DOCUMENT_HTML},
                {"x/b.rst", SEINE_DOCUMENT_RST},
                {"c.txt", SEINE_DOCUMENT_TEXT},
                {"d.htm", SEINE_DOCUMENT_HTML},
                {"e.markdown", SEINE_DOCUMENT_MARKDOWN},
                {".md", -1},
                {"md", -1},
                {"f.c", -1},
                {"g.md.bak", -1}};

    EACH_ROW(i, rows) {
        seine_document_kind kind = SEINE_DOCUMENT_TEXT;
        bool known = seine_document_kind_of(rows[i].path, &kind);

        CHECK_EQ(known ? (int)kind : -1, rows[i].want);
    }
}

TEST(document_refuses_what_is_too_long)
{
    seine_document *d = NULL;

    CHECK_EQ(seine_document_new(&d), SEINE_OK);
    CHECK_EQ(seine_document_read(d, SEINE_DOCUMENT_TEXT, "x", ((size_t)64 << 20) + 1),
             SEINE_E_BUDGET);
    CHECK_EQ(seine_document_read(d, (seine_document_kind)9, "x", 1), SEINE_E_INVAL);
    CHECK_EQ(seine_document_read(NULL, SEINE_DOCUMENT_TEXT, "x", 1), SEINE_E_INVAL);
    seine_document_free(d);
    seine_document_free(NULL);
}

TEST(document_survives_failing_allocations)
{
    static const char page[] = "# x\n[a](b) <i id=c>d</i> <!-- seine-ignore -->\n";

    FAIL_EACH(r)
    {
        seine_document *d = NULL;
        seine_err e = seine_document_new(&d);

        if (e == SEINE_OK)
            e = seine_document_read(d, SEINE_DOCUMENT_MARKDOWN, page, sizeof page - 1);
        CHECK_EQ(e, fail_hit() ? SEINE_E_NOMEM : SEINE_OK);
        seine_document_free(d);
    }
}
