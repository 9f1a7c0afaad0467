/* SPDX-License-Identifier: Apache-2.0 */
/* The trees of html5lib's tests, found through SEINE_VECTORS: they are no part of the
 * project. docs/user/tree.md says which are not met. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "check.h"
#include "seine/plumbing.h"
#include "seine/tree.h"

static sn_str
member(const seine_json *object, const char *name)
{
    const char *bytes = NULL;
    size_t len = 0;

    seine_json_string(seine_json_get(object, name), &bytes, &len);
    return (sn_str){bytes, len};
}

static bool
agrees(seine_tree *t, const seine_json *one)
{
    sn_str data = member(one, "data"), want = member(one, "document");
    sn_str script = member(one, "script");
    seine_tree_opts opts = {.size = sizeof(seine_tree_opts),
                            .fragment = member(one, "fragment").ptr,
                            .scripting = sn_str_eq(script, SN_STR("#script-on"))};
    seine_text got = {0};
    bool same = false;

    if (seine_tree_parse(t, data.ptr, data.len, &opts) == SEINE_OK &&
        seine_tree_print(t, &got) == SEINE_OK)
        same = sn_str_eq((sn_str){got.bytes, got.len}, want);
    if (!same && getenv("SEINE_TREES"))
        printf("---- %s\n%s\n---- want\n%s\n---- got\n%s\n", member(one, "file").ptr,
               data.ptr, want.ptr, got.bytes ? got.bytes : "(refused)");
    seine_text_free(&got);
    return same;
}

TEST(tree_agrees_with_html5lib_where_its_maker_does)
{
    size_t good = 0, all = 0, later = 0, len;
    char *mem = check_vector("html-tree/tree-construction.json", &len);
    seine_json *rows = NULL;
    seine_tree *t = NULL;

    if (!mem)
        return;
    CHECK_EQ(seine_json_parse(mem, len, &rows, NULL), SEINE_OK);
    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    for (size_t i = 0; i < seine_json_size(rows) && check_row(i); i++) {
        const seine_json *one = seine_json_at(rows, i);
        bool is_new =
            sn_str_eq(member(one, "file"), SN_STR("processing-instructions.dat"));

        all++;
        if (agrees(t, one))
            good++;
        else
            later += is_new;
    }
    printf(
        "     %zu of %zu trees agree (of the others %zu are processing instructions)\n",
        good, all, later);
    CHECK(good * 1000 >= all * 850);
    seine_tree_free(t);
    seine_json_free(rows);
    free(mem);
}
