/* SPDX-License-Identifier: Apache-2.0 */
/* The selectors of web-platform-tests, found through SEINE_VECTORS: they are no part of
 * the project. docs/user/select.md says which are not met. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "check.h"
#include "seine/plumbing.h"
#include "seine/select.h"

static sn_str
text_of(const seine_json *json)
{
    const char *bytes = "";
    size_t len = 0;

    seine_json_string(json, &bytes, &len);
    return (sn_str){bytes, len};
}

static bool
excludes(const seine_json *one, const char *word)
{
    const seine_json *all = seine_json_get(one, "exclude");

    for (size_t i = 0; i < seine_json_size(all); i++)
        if (sn_str_eq(text_of(seine_json_at(all, i)), sn_str_of(word)))
            return true;
    return false;
}

static bool
agrees(const seine_tree *t, sn_str selector, const seine_json *expect)
{
    seine_select *s = NULL;
    seine_finder *f = NULL;
    seine_node n = 0;
    size_t i = 0;
    bool same = true;
    seine_diag diag = SEINE_DIAG;

    /* Pseudo-elements are never nodes; here they are refused. */
    if (seine_select_new(selector.ptr, selector.len, &s, &diag) != SEINE_OK)
        return strstr(diag.text, "is never a node") && seine_json_size(expect) == 0;
    CHECK_EQ(seine_finder_new(t, &f), SEINE_OK);
    while (seine_finder_next(f, s, 0, &n) == SEINE_OK && n != 0) {
        seine_view id = seine_node_attr(t, n, "id");

        same = same && sn_str_eq(id, text_of(seine_json_at(expect, i++)));
    }
    same = same && i == seine_json_size(expect);
    seine_finder_free(f);
    seine_select_free(s);
    return same;
}

TEST(select_agrees_with_browsers)
{
    size_t page_len, len, good = 0, all = 0;
    char *page = check_vector("css-selectors/ParentNode-querySelector-All-content.html",
                              &page_len);
    char *text = check_vector("css-selectors/wpt-selectors.json", &len);
    seine_json *rows = NULL;
    seine_tree *t = NULL;

    if (!page || !text)
        return;
    CHECK_EQ(seine_json_parse(text, len, &rows, NULL), SEINE_OK);
    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    CHECK_EQ(seine_tree_parse(t, page, page_len, NULL), SEINE_OK);
    const seine_json *valid = seine_json_get(rows, "valid");
    const seine_json *invalid = seine_json_get(rows, "invalid");
    for (size_t i = 0; i < seine_json_size(valid); i++) {
        const seine_json *one = seine_json_at(valid, i);
        sn_str selector = text_of(seine_json_get(one, "selector"));

        if (excludes(one, "document") || excludes(one, "html"))
            continue;
        all++;
        if (agrees(t, selector, seine_json_get(one, "expect")))
            good++;
        else
            printf("     differs: %.*s\n", SN_FMT(selector));
    }
    for (size_t i = 0; i < seine_json_size(invalid) && check_row(i); i++) {
        sn_str selector = text_of(seine_json_get(seine_json_at(invalid, i), "selector"));
        seine_select *s = NULL;
        seine_diag diag = SEINE_DIAG;

        all++;
        seine_err e = seine_select_new(selector.ptr, selector.len, &s, &diag);
        CHECK_EQ(e, SEINE_E_CONFIG);
        CHECK(diag.column > 0 && diag.column <= selector.len + 1 && diag.text[0]);
        good += e == SEINE_E_CONFIG;
        seine_select_free(s);
    }
    printf("     %zu of %zu selectors agree\n", good, all);
    CHECK_EQ(all - good, 6);
    seine_tree_free(t);
    seine_json_free(rows);
    free(page);
    free(text);
}
