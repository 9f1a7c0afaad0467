/* SPDX-License-Identifier: Apache-2.0 */
#include "text/ignore_marks.h"

#include <stdio.h>

#include "check.h"

/* The lines from 1 to 8 that are ignored. */
static const char *
ignored(const char *text, bool is_rst)
{
    static char got[16];
    size_t n = 0;
    sn_buf ranges;

    sn_buf_init(&ranges, 1000);
    sn_ignore_marks(sn_str_of(text), is_rst, &ranges);
    for (uint32_t line = 1; line <= 8; line++)
        if (sn_is_ignored(&ranges, line))
            got[n++] = (char)('0' + line);
    got[n] = '\0';
    sn_buf_fini(&ranges);
    return got;
}

TEST(ignore_marks_except_their_line_the_next_paragraph_or_a_range)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"a\nb <!-- seine-ignore -->\nc", "2"},
        {"<!-- seine-ignore -->\na\nb\n\nc", "23"},
        {"<!--seine-ignore-->\n\na\n\nb", "3"},
        {"a\n<!-- seine-ignore-begin -->\nb\n\nc\n<!-- seine-ignore-end -->\nd", "23456"},
        {"a\n<!-- seine-ignore-start -->\nb\n\nc", "2345678"},
        {"a <!-- x --> b <!-- seine-ignore -->", "1"},
        {"<!-- seine-ignore me -->\na", ""},
        {"seine-ignore\na", ""},
        {"<!-- seine-ignore-begin -->\na <!-- seine-ignore -->\n<!-- seine-ignore-end "
         "-->\nb\nc <!-- seine-ignore -->",
         "1235"},
        {"", ""},
    };

    EACH_ROW(i, rows)
        CHECK_STR(ignored(rows[i].text, false), rows[i].want);
}

TEST(ignore_marks_of_rst_are_comments)
{
    CHECK_STR(ignored(".. seine-ignore\n\na\nb\n\nc", true), "34");
    CHECK_STR(
        ignored("a\n\n.. seine-ignore-begin\n\nb\n\n.. seine-ignore-end\n\nc", true),
        "34567");
    CHECK_STR(ignored("<!-- seine-ignore -->\na", true), "");
}
