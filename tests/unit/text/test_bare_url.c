/* SPDX-License-Identifier: Apache-2.0 */
#include "text/bare_url.h"

#include <stdio.h>

#include "check.h"

TEST(bare_url_ends_where_the_sentence_goes_on)
{
    static const struct {
        const char *text;
        size_t at;
        const char *want; /* NULL: no URL */
    } rows[] = {
        {"http://e.example", 0, "http://e.example"},
        {"HTTPS://E.example/a b", 0, "HTTPS://E.example/a"},
        {"https://e.example/a.", 0, "https://e.example/a"},
        {"https://e.example/a?b=c!", 0, "https://e.example/a?b=c"},
        {"(https://e.example/a)", 1, "https://e.example/a"},
        {"https://e.example/a_(b)", 0, "https://e.example/a_(b)"},
        {"https://e.example/a_(b))", 0, "https://e.example/a_(b)"},
        {"https://e.example/a]", 0, "https://e.example/a"},
        {"http://[::1]/a", 0, "http://[::1]/a"},
        {"https://e.example/?a[]=1", 0, "https://e.example/?a[]=1"},
        {"https://e.example/&lt;", 0, "https://e.example/"},
        {"https://e.example/a;b", 0, "https://e.example/a;b"},
        {"\"https://e.example/\"", 1, "https://e.example/"},
        {"www.e.example", 0, "www.e.example"},
        {"xhttp://e.example", 1, NULL},
        {"http://", 0, NULL},
        {"http:// x", 0, NULL},
        {"http://$host", 0, NULL},
        {"http://.", 0, NULL},
        {"ftp://e.example", 0, NULL},
        {"https://e.example/**", 0, "https://e.example/"},
    };

    EACH_ROW(i, rows) {
        sn_str url = {"", 0};
        char got[64];
        bool is_url = sn_bare_url(sn_str_of(rows[i].text), rows[i].at, &url);

        snprintf(got, sizeof got, "%.*s", SN_FMT(url));
        CHECK_EQ(is_url, rows[i].want != NULL);
        if (is_url && rows[i].want)
            CHECK_STR(got, rows[i].want);
    }
}

TEST(bare_url_without_scheme_is_short)
{
    CHECK(sn_bare_url_is_short(SN_STR("WWW.e.example")));
    CHECK(!sn_bare_url_is_short(SN_STR("http://www.e.example")));
}
