/* SPDX-License-Identifier: Apache-2.0 */
#include "text/css_refs.h"

#include <string.h>

#include "check.h"

static bool
add_value(void *user, const sn_css_ref *r)
{
    sn_buf *out = user;

    if (out->len > 0)
        sn_buf_char(out, ' ');
    sn_buf_str(out, r->value);
    return true;
}

TEST(css_refs_are_what_a_browser_fetches)
{
    static const struct {
        const char *css, *want;
    } rows[] = {
        {"a{background:url(a.png)}", "a.png"},
        {"a{background:URL( 'a.png' )}", "a.png"},
        {"a{background:url(\"a b.png\")}", "a b.png"},
        {"a{background:url(  a.png\n)}", "a.png"},
        {"a{background:u\\72l(a.png)}", "a.png"},
        {"a{background:url(a\\)b.png)}", "a)b.png"},
        {"a{background:url(\\61 b.png)}", "ab.png"},
        {"a{background:url(\\0000e9.png)}", "\xc3\xa9.png"},
        {"a{background:url(\"a\\\nb.png\")}", "ab.png"},
        {"@import 'a.css';@import url(b.css);@import url(\"c.css\") screen;",
         "a.css b.css c.css"},
        {"@IMPORT/**/\"a.css\" layer(x);", "a.css"},
        {"@import url(a.css) supports(content: 'x');", "a.css"},
        {"a{b:image-set('a.png' 1x, url(b.png) 2x, 'c.png' type('image/png'))}",
         "a.png b.png c.png"},
        {"a{b:src('a.png')}", "a.png"},
        {"@font-face{src:url(a.woff2)format('woff2'),url(b.woff)}", "a.woff2 b.woff"},
        /* no URLs */
        {"/* url(a.png) */ a{content:'url(b.png)'}", ""},
        {"@charset 'utf-8'; a{content:'x'}", ""},
        {"@namespace svg url(http://www.w3.org/2000/svg); a{b:url(c)}", "c"},
        {"a{b:xurl(c);d:url (e)}", ""},
        {"a{b:url(c d)} e{f:url(g)}", "g"}, /* a broken URL */
        {"a{b:url(c'd)} e{f:url(g)}", "g"},
        {"a{b:url(\"c\nd)} e{f:url(g)}", "g"}, /* a broken string */
        {"@import url(a.css", "a.css"},        /* the sheet ends: still a URL */
        {"@import \"a.css", "a.css"},
        {"", ""},
        {"\\", ""},
        {"/*", ""},
        {"url(", ""},
        {"a{b:url()}", ""},
        {"<!-- a{b:url(c)} -->", "c"},
        {"a{b:url(#c);d:url(data:image/png;base64,AA==)}",
         "#c data:image/png;base64,AA=="},
    };

    EACH_ROW(i, rows) {
        sn_buf out;

        sn_buf_init(&out, 1000);
        sn_buf_text(&out, "");
        CHECK_EQ(sn_css_refs(sn_str_of(rows[i].css), add_value, &out), SEINE_OK);
        CHECK_STR(out.len > 0 ? out.ptr : "", rows[i].want);
        sn_buf_fini(&out);
    }
}

static bool
add_place(void *user, const sn_css_ref *r)
{
    size_t *place = user;

    place[0] = r->from;
    place[1] = r->to;
    return false;
}

TEST(css_refs_have_the_place_of_the_value_alone)
{
    static const struct {
        const char *css;
        size_t from, to;
    } rows[] = {
        {"url( ab )", 5, 7},
        {"url( 'ab' )", 6, 8},
        {"@import \"ab\";", 9, 11},
        {"url(a\\62)", 4, 8},
    };

    EACH_ROW(i, rows) {
        size_t place[2] = {0, 0};

        CHECK_EQ(sn_css_refs(sn_str_of(rows[i].css), add_place, place), SEINE_OK);
        CHECK_EQ(place[0], rows[i].from);
        CHECK_EQ(place[1], rows[i].to);
    }
}

TEST(css_refs_read_what_css_put_wrote)
{
    const char *value = "a b'\"(c)\\d\n\x01.png";
    sn_buf css, out;

    sn_buf_init(&css, 1000);
    sn_buf_init(&out, 1000);
    sn_buf_text(&css, "x{y:url(");
    sn_css_put(&css, sn_str_of(value));
    sn_buf_text(&css, ")}");
    CHECK_EQ(sn_css_refs(sn_buf_view(&css), add_value, &out), SEINE_OK);
    CHECK_STR(out.ptr, value);
    sn_buf_fini(&css);
    sn_buf_fini(&out);
}
