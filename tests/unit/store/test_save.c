/* SPDX-License-Identifier: Apache-2.0 */
#include "store/save.h"

#include "check.h"

TEST(save_ending_is_by_the_type_and_never_from_it)
{
    static const struct {
        const char *type, *ending;
    } rows[] = {
        {"text/html", "html"},
        {"TEXT/HTML; charset=utf-8", "html"},
        {" image/jpeg ;x", "jpg"},
        {"application/activity+json", "json"},
        {"application/problem+XML", "xml"},
        {"image/svg+xml", "svg"},
        {"application/octet-stream", "bin"},
        {"", "bin"},
        {"+json", "bin"}, /* no type at all */
        {"+xml", "bin"},
        {"text/../../etc/passwd", "bin"},
        {"text/html/..", "bin"},
        {"x/x+sh", "bin"},
    };

    EACH_ROW(i, rows)
        CHECK_STR(sn_save_ending(sn_str_of(rows[i].type)), rows[i].ending);
    CHECK_STR(sn_save_ending((sn_str){NULL, 0}), "bin");
}
