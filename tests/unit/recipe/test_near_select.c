/* SPDX-License-Identifier: Apache-2.0 */
#include "recipe/near_select.h"

#include <stdio.h>
#include <string.h>

#include "check.h"

static const char page[] =
    "<table class='sched wide' id=main><tr class=shift><td class=name>a"
    "<tr class=shift><td class=name>b</table><div class=x><p>c</div>";

static const struct {
    const char *selector, *want;
} rows[] = {
    {"table.schedule tr.shift", "table.sched tr.shift (2)"},
    {"tr.shft", "tr.shift (2)"},
    {"#mian td", "#main td (2)"},
    {"tabel td.name", "table td.name (2)"},
    {"tr.shift.active", "tr.shift (2)"},
    {"table > tr", "table tr (2)"}, /* a browser puts a tbody between them */
    {"article.product", ""},
};

TEST(near_select_finds_what_was_probably_meant)
{
    seine_tree *t = NULL;
    seine_finder *f = NULL;

    CHECK_EQ(seine_tree_new(&t), SEINE_OK);
    CHECK_EQ(seine_tree_parse(t, page, strlen(page), NULL), SEINE_OK);
    CHECK_EQ(seine_finder_new(t, &f), SEINE_OK);
    EACH_ROW(i, rows) {
        char near[SN_NEAR_SELECT_ROOM], got[SN_NEAR_SELECT_ROOM + 32] = "";
        uint32_t count = 0;

        if (sn_near_select(t, f, (seine_view){rows[i].selector, strlen(rows[i].selector)},
                           0, near, &count))
            snprintf(got, sizeof got, "%s (%u)", near, count);
        CHECK_STR(got, rows[i].want);
    }
    seine_finder_free(f);
    seine_tree_free(t);
}
