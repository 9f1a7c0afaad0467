/* SPDX-License-Identifier: Apache-2.0 */
/* A selector, a zero byte, a page: it compiles or says why, finds the same again with
 * another finder, and within its steps. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "seine/select.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

#define REQUIRE(c) ((c) ? (void)0 : abort())

static const char page[] =
    "<!DOCTYPE html><html lang=en><title>t</title><body class='a b'><div id=x class=a>"
    "<p>1<p class=b lang=de>2<span title='a b'>3</span></div><ul><li>a<li class=a>b<li>c"
    "<li id=y>d</ul><form><input type=checkbox checked><input disabled><select><option "
    "selected>e</select></form><svg viewBox=1><a xlink:href=z>f</a></svg><a href=u>g</a>"
    "<template><p>h</template><table><tr><td>i<td>j</table><p></p><p><!--k--></p>";

/* All that is found, as a hash; *out_err how it ended. */
static uint64_t
find_all(const seine_tree *t, const seine_select *s, bool ask, seine_err *out_err)
{
    seine_finder *f = NULL;
    seine_node n = 0, last = 0;
    uint64_t hash = 1;

    REQUIRE(seine_finder_new(t, &f) == SEINE_OK);
    while ((*out_err = seine_finder_next(f, s, 0, &n)) == SEINE_OK && n != 0) {
        bool is = false;

        REQUIRE(n > last && n < seine_tree_size(t));
        REQUIRE(seine_node_what(t, n) == SEINE_NODE_ELEMENT);
        if (ask)
            REQUIRE(seine_finder_matches(f, s, n, &is) == SEINE_OK && is);
        hash = hash * 31 + n;
        last = n;
    }
    REQUIRE(*out_err == SEINE_OK || *out_err == SEINE_E_SELECTOR_TIMEOUT);
    REQUIRE(seine_finder_steps(f) <= 60 * (uint64_t)seine_tree_size(t) + 100000);
    seine_finder_free(f);
    return hash;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static seine_tree *usual, *own;
    const char *text = (const char *)bytes, *zero = n > 0 ? memchr(text, 0, n) : NULL;
    size_t len = zero ? (size_t)(zero - text) : n;
    seine_select *s = NULL;
    seine_diag diag = SEINE_DIAG;
    seine_err e1, e2;

    if (!usual) {
        REQUIRE(seine_tree_new(&usual) == SEINE_OK && seine_tree_new(&own) == SEINE_OK);
        REQUIRE(seine_tree_parse(usual, page, sizeof page - 1, NULL) == SEINE_OK);
    }
    seine_err e = seine_select_new(text, len, &s, &diag);
    REQUIRE(e == SEINE_OK || e == SEINE_E_CONFIG);
    if (e != SEINE_OK) {
        REQUIRE(diag.column > 0 && diag.column <= len + 1 && diag.text[0] != '\0');
        return 0;
    }
    seine_tree *t = usual;
    if (zero && seine_tree_parse(own, zero + 1, n - len - 1, NULL) == SEINE_OK)
        t = own;
    uint64_t once = find_all(t, s, false, &e1), again = find_all(t, s, true, &e2);
    REQUIRE(once == again && e1 == e2);
    seine_select_free(s);
    return 0;
}
