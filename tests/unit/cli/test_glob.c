/* SPDX-License-Identifier: Apache-2.0 */
#include "options/glob.h"

#include <stdlib.h>

#include "check.h"

TEST(glob_becomes_an_expression_for_urls)
{
    static const struct {
        const char *glob, *re;
    } rows[] = {
        {"*.pdf", "^[^?#]*/[^/?#]*\\.pdf([?#].*)?$"},        /* the last part of a path */
        {"/docs/**", "^[a-z]+://[^/?#]*/docs/.*([?#].*)?$"}, /* from the root of a host */
        {"http://a/b", "^http://a/b([?#].*)?$"},             /* the whole URL */
        {"a+b(1)?", "^[^?#]*/a\\+b\\(1\\)[^/?#]([?#].*)?$"}, /* signs of expressions */
        {"[!a-c]x", "^[^?#]*/[^a-c]x([?#].*)?$"},            /* none of a set */
        {"[x", "^[^?#]*/\\[x([?#].*)?$"},                    /* no set at all */
        {"[\\]]", "^[^?#]*/[\\\\]\\]([?#].*)?$"},            /* a backslash is a sign */
    };

    EACH_ROW(i, rows) {
        char *re = glob_to_re(rows[i].glob);

        CHECK_STR(re, rows[i].re);
        free(re);
    }
}

TEST(glob_is_recognised_where_an_expression_was_wanted)
{
    CHECK(glob_is_meant("*.pdf") && glob_is_meant("docs/*") && glob_is_meant("a**"));
    CHECK(!glob_is_meant("\\.pdf$") && !glob_is_meant("(a"));
}
