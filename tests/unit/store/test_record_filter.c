/* SPDX-License-Identifier: Apache-2.0 */
#include "store/record_filter.h"

#include <string.h>

#include "check.h"
#include "diag_line.h"

static bool
keeps(const char *word, const char *url, const char *type)
{
    const char *const list[] = {word, NULL};
    sn_record_filter *f = NULL;
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(sn_record_filter_new(list, "keep", &f, &diag), SEINE_OK);
    bool has = f && sn_record_filter_has(f, sn_str_of(url), sn_str_of(type));
    sn_record_filter_free(f);
    return has;
}

TEST(record_filter_takes_media_types_and_expressions_for_urls)
{
    static const struct {
        const char *word, *url, *type;
        bool has;
    } rows[] = {
        {"application/pdf", "http://a/x", "application/pdf", true},
        {"Application/PDF", "http://a/x", "application/pdf",
         true}, /* types have no case */
        {"application/pdf", "http://a/application/pdf", "text/html", false}, /* no path */
        {"image/*", "http://a/x", "image/png", true},
        {"image/*", "http://a/x", "text/html", false},
        {"\\.pdf$", "http://a/x.pdf", "text/html", true},
        {"\\.pdf$", "http://a/x.pdf?y", "application/pdf", false},
        {"/docs/", "http://a/docs/x", "text/html", true}, /* a slash first: no type */
        {"docs/a/b", "http://a/docs/a/b", "", true},      /* two slashes: no type */
        {"image/png|x", "http://a/x", "", true},          /* a bar: no type */
    };

    EACH_ROW(i, rows)
        CHECK_EQ(keeps(rows[i].word, rows[i].url, rows[i].type), rows[i].has);
}

TEST(record_filter_says_which_expression_is_none)
{
    const char *const list[] = {"ok", "(", NULL};
    sn_record_filter *f = NULL;
    seine_diag diag = SEINE_DIAG;

    CHECK_EQ(sn_record_filter_new(list, "keep", &f, &diag), SEINE_E_CONFIG);
    CHECK(f == NULL);
    CHECK_STR(diag.member, "keep");
}
